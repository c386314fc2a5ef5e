# SPDX-License-Identifier: Apache-2.0
"""Data pipelines: order, shards and positions over random pipelines; failures; what is left behind."""
import gc
import os
import random
import sys
import threading
import time

import numpy as np
import pytest

import spore
from spore import dataset as ds
from spore.dataset import transforms, vision


@pytest.fixture(autouse=True)
def fixed_seed():
    before = dict(ds.config._values)
    ds.config.set_seed(7)
    yield
    ds.config._values.update(before)


def threads():
    return len(os.listdir('/proc/self/task'))


def plain(row):
    return [value.tolist() for value in row]


def epochs(data, n=1):
    iterator = data.create_tuple_iterator(num_epochs=n, output_numpy=True)
    return [[plain(row) for row in iterator] for _ in range(n)]


def numbers(n=10, **kwargs):
    kwargs.setdefault('shuffle', False)
    return ds.NumpySlicesDataset((np.arange(n), np.arange(n * 3, dtype=np.float32).reshape(n, 3)), ['n', 'v'], **kwargs)


# --- random pipelines ------------------------------------------------------------------------------------------------

def noise():
    return transforms.RandomApply([transforms.Fill(7)], prob=0.5)


def random_source(draw, n, **shards):
    kind = draw.choice(['arrays', 'source', 'stream'] if not shards else ['arrays', 'source'])
    shuffle = draw.random() < 0.6
    if kind == 'arrays':
        return numbers(n, shuffle=shuffle, **shards)
    rows = [(np.int64(i), np.arange(i * 3, i * 3 + 3, dtype=np.float32)) for i in range(n)]
    if kind == 'source':
        return ds.GeneratorDataset(rows, ['n', 'v'], shuffle=shuffle, **shards)
    return ds.GeneratorDataset(lambda: iter(rows), ['n', 'v'])


def not_four(n):
    if n % 4 == 0:
        raise ValueError(f'{n} can be divided by four')
    return n


def random_pipeline(seed, n, workers, **shards):
    """A pipeline that depends on the seed alone; the second value tells whether all rows come through."""
    draw = random.Random(seed)
    data, whole = random_source(draw, n, **shards), True
    for _ in range(draw.randint(1, 5)):
        kinds = ['map', 'python', 'shuffle', 'filter', 'take', 'skip', 'repeat', 'mixed', 'concat']
        if ds.config.get_error_samples_mode() != ds.config.ErrorSamplesMode.RETURN:
            kinds += ['fails', 'fails']
        kind = draw.choice(kinds)
        if kind == 'fails':
            data, whole = data.map(not_four, 'n', num_parallel_workers=workers), False
        elif kind == 'map':
            data = data.map([noise()], 'v', num_parallel_workers=workers)
        elif kind == 'python':
            data = data.map(lambda v: v + 1, 'v', num_parallel_workers=workers)
        elif kind == 'mixed':
            data = data.map([transforms.TypeCast(np.float32), lambda v: v * 2], ['v'], num_parallel_workers=workers)
        elif kind == 'shuffle':
            data = data.shuffle(draw.randint(2, n + 2))
        elif kind == 'filter':
            data, whole = data.filter(lambda k: bool(k % 3), 'n'), False
        elif kind == 'take':
            data, whole = data.take(draw.randint(1, n)), False
        elif kind == 'skip':
            data, whole = data.skip(draw.randint(0, 3)), False
        elif kind == 'repeat':
            data, whole = data.repeat(2), False
        else:
            data, whole = data.concat(data), False
    if draw.random() < 0.7:
        data = data.map(transforms.TypeCast(np.float64), 'v').batch(draw.randint(1, 4), draw.random() < 0.3)
        whole = False
    return data, whole


@pytest.mark.parametrize('seed', range(40))
def test_order_does_not_depend_on_workers(seed):
    n, rounds = 5 + seed % 17, 1 + seed % 3
    first = epochs(random_pipeline(seed, n, 1)[0], rounds)
    for workers in (2, 5, 8):
        again, whole = random_pipeline(seed, n, workers)
        assert epochs(again, rounds) == first
        if whole:
            assert all(sorted(row[0] for row in epoch) == list(range(n)) for epoch in first)
    ds.config.set_debug_mode(True, [])     # with hooks operations run one by one in Python, and draw their numbers there
    assert epochs(random_pipeline(seed, n, 1)[0], rounds) == first
    ds.config.set_debug_mode(False)


@pytest.mark.parametrize('seed', range(40))
def test_resumed_rows_equal_uninterrupted_ones(seed):
    n, draw = 6 + seed % 11, random.Random(1000 + seed)
    data = random_pipeline(seed, n, 2)[0]
    rows = sum(epochs(data, 2), [])
    if not rows:
        return
    stop = draw.randint(0, len(rows))
    first = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    got = []
    while len(got) < stop:
        row = next(first, None)
        if row is not None:
            got.append(plain(row))
    state = first.get_state()
    first.release()
    second = random_pipeline(seed, n, 4)[0].create_tuple_iterator(num_epochs=2, output_numpy=True)
    second.set_state(state)
    for _ in range(state['left']):
        got += [plain(row) for row in second]
    assert got == rows


@pytest.mark.parametrize('shards', [1, 2, 3, 4])
@pytest.mark.parametrize('shuffle', [False, True])
def test_shards_cover_everything_in_every_epoch(shards, shuffle):
    for n in (1, 7, 12):
        for make in (numbers, lambda count, **kw: ds.GeneratorDataset([(i, i) for i in range(count)], ['n', 'v'], **kw)):
            parts = [epochs(make(n, shuffle=shuffle, num_shards=shards, shard_id=i), 3) for i in range(shards)]
            for epoch in zip(*parts):
                ids = [[row[0] for row in part] for part in epoch]
                assert {len(part) for part in ids} == {-(-n // shards)} and set(sum(ids, [])) == set(range(n))


def test_random_transforms_follow_from_the_row():
    images = np.random.default_rng(0).integers(0, 255, (8, 16, 16, 3), dtype=np.uint8)

    def rows(workers):
        data = ds.NumpySlicesDataset(images, ['image'], shuffle=False)
        return epochs(data.map([vision.RandomCrop(8), vision.RandomHorizontalFlip()], 'image',
                               num_parallel_workers=workers), 2)
    one = rows(1)
    assert rows(8) == one and one[0] != one[1]


# --- operations ------------------------------------------------------------------------------------------------------

def test_columns_of_map_and_batch():
    data = numbers(4)
    assert data.map(lambda n: (n, n), 'n', ['a', 'b']).get_col_names() == ['a', 'b', 'v']
    assert data.map(lambda v: (v, v), 'v', ['a', 'b']).get_col_names() == ['a', 'b', 'n']
    assert data.map(lambda n, v: n, ['n', 'v'], ['a']).get_col_names() == ['a']
    assert data.rename('n', 'k').project(['v', 'k']).get_col_names() == ['v', 'k']
    batches = data.batch(lambda info: info.get_batch_num() + 1)
    assert [len(row[0]) for row in epochs(batches)[0]] == [1, 2, 1] and batches.get_dataset_size() == 3
    made = data.batch(2, per_batch_map=lambda n, info: ([x + info.get_epoch_num() for x in n], [x * 2 for x in n]),
                      input_columns=['n'], output_columns=['n', 'twice'])
    assert made.get_col_names() == ['n', 'twice', 'v'] and epochs(made, 2)[1][0][:2] == [[1, 2], [0, 2]]


def test_padded_batches():
    rows = [(np.arange(k, dtype=np.int32),) for k in (1, 3, 2)]
    data = ds.GeneratorDataset(rows, ['a'], shuffle=False)
    assert epochs(data.padded_batch(2, pad_info={}))[0] == [[[[0, 0, 0], [0, 1, 2]]], [[[0, 1]]]]
    assert epochs(data.padded_batch(3, pad_info={'a': ([2], -1)}))[0] == [[[[0, -1], [0, 1], [0, 1]]]]


def test_zip_concat_split():
    a, b = numbers(3), numbers(5).rename(['n', 'v'], ['m', 'w'])
    both = ds.zip((a, b))
    assert both.get_dataset_size() == 3 and both.get_col_names() == ['n', 'v', 'm', 'w']
    assert [row[0] for row in epochs(a + a)[0]] == [0, 1, 2, 0, 1, 2]
    for data in (numbers(10, shuffle=True), numbers(10).map(lambda n: n, 'n')):
        parts = data.split([0.7, 0.3])
        ids = [[row[0] for row in sum(epochs(part, 2), [])] for part in parts]
        assert [part.get_dataset_size() for part in parts] == [7, 3] and not set(ids[0]) & set(ids[1])
        assert set(ids[0]) | set(ids[1]) == set(range(10))
    first, second = numbers(5).split([2, 3], randomize=False)
    assert [row[0] for row in epochs(first)[0]] == [0, 1] and [row[0] for row in epochs(second)[0]] == [2, 3, 4]


def test_records_are_sampled_less_strictly(tmp_path):
    """As MindSpore does it: numbers modulo the number of rows, a start behind the last row, more draws than rows."""
    path = str(tmp_path / 'a.mindrecord')
    numbers(6).project(['n']).save(path)

    def ids(sampler):
        return [row[0] for row in epochs(ds.MindDataset(path, sampler=sampler))[0]]
    assert ids(ds.SubsetSampler([1, 7, 13, 0])) == [1, 1, 1, 0] and len(ids(ds.SubsetRandomSampler([1, -1]))) == 2
    assert ids(ds.SequentialSampler(4, 9)) == [4, 5] and ids(ds.SequentialSampler(9)) == [] and len(ids(ds.RandomSampler(True, 9))) == 9
    assert ids(ds.IterSampler([5, 4, 3], 2)) == [5, 4]
    with pytest.raises(ValueError, match='sampler is not supported'):
        ds.MindDataset(path, sampler=3)
    with pytest.raises(RuntimeError, match="can not be divisible by the value of 'num_shards': 4"):
        ds.MindDataset(path, ['n'], padded_sample={'n': 1}, num_padded=1, num_shards=4, shard_id=0).get_dataset_size()


def test_what_records_cannot_hold_is_not_saved(tmp_path):
    with pytest.raises(RuntimeError, match="multi-dimensional string.*'s'"):
        ds.NumpySlicesDataset({'s': np.array([['a', 'b']])}).save(str(tmp_path / 'a'))
    with pytest.raises(RuntimeError, match="'u' holds 18446744073709551615"):
        ds.NumpySlicesDataset({'u': np.array([2**64 - 1], np.uint64)}).save(str(tmp_path / 'a'))
    ds.GeneratorDataset([(b'ab', np.uint64(7))], ['b', 'u']).save(str(tmp_path / 'a'))
    row = next(iter(ds.MindDataset(str(tmp_path / 'a')).create_dict_iterator(num_epochs=1, output_numpy=True)))
    assert row['b'].tobytes() == b'ab' and row['u'] == 7


def test_buckets_are_filled_up():
    """Without pad_info all columns to the largest of a batch; the boundary counts for open sizes alone."""
    rows = [(np.arange(i + 1), 'x' * i) for i in range(4)]

    def shapes(**padding):
        data = ds.GeneratorDataset(rows, ['a', 'b'], shuffle=False).bucket_batch_by_length(['a'], [3, 8], [2, 2, 1], **padding)
        return [row[0].shape for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert shapes() == shapes(pad_to_bucket_boundary=True) == [(2, 2), (2, 4)]
    assert shapes(pad_info={'a': ([None], 0)}, pad_to_bucket_boundary=True) == [(2, 2), (2, 7)]
    with pytest.raises(RuntimeError, match='bucket_batch_by_length, row 0.*different shapes in column 0'):
        shapes(pad_info={'b': None})
    with pytest.raises(RuntimeError, match='column name: c does not exist'):
        shapes(pad_info={'c': None})
    with pytest.raises(RuntimeError, match='can not pad numeric and string'):
        epochs(ds.GeneratorDataset([(np.array(['a'] * n),) for n in (1, 2)], ['a'], shuffle=False).padded_batch(2, pad_info={'a': ([3], 1)}))


def test_a_value_takes_the_place_of_a_column():
    data = numbers(2).map(lambda n: n + 5, 'n', ['v'])
    assert data.get_col_names() == ['v'] and epochs(data)[0] == [[5], [6]]
    assert numbers(2).map(transforms.TypeCast(np.float32), 'v', ['n']).get_col_names() == ['n']
    with pytest.raises(RuntimeError, match='columns that are not in input_columns'):
        epochs(numbers(2).batch(2, per_batch_map=lambda n, i: (n,), input_columns=['n'], output_columns=['v']))


def test_samplers():
    def ids(sampler, n=6, **kwargs):
        return [row[0] for row in epochs(numbers(n, shuffle=None, sampler=sampler, **kwargs))[0]]
    assert ids(ds.SequentialSampler(2, 3)) == [2, 3, 4]
    assert sorted(ids(ds.RandomSampler())) == list(range(6)) and len(ids(ds.RandomSampler(True, 9))) == 6
    assert ids(ds.SubsetSampler([5, 1])) == [5, 1] and sorted(ids(ds.SubsetRandomSampler([5, 1]))) == [1, 5]
    assert set(ids(ds.WeightedRandomSampler([0, 1, 0, 1, 0, 0], 8))) <= {1, 3}
    assert ids(ds.DistributedSampler(4, 1, shuffle=False)) == [1, 5]
    chained = ds.SequentialSampler(num_samples=2)
    chained.add_child(ds.SubsetSampler([4, 3, 2]))
    assert ids(chained) == [4, 3]

    class Even(ds.Sampler):
        def __iter__(self):
            yield from range(0, self.dataset_size, 2)
    assert ids(Even()) == [0, 2, 4]
    with pytest.raises(RuntimeError, match="Sample ID \\(9\\) is out of bound, expected range \\[0, 5\\]"):
        ids(ds.SubsetSampler([9]))


def test_texts_go_through():
    data = ds.NumpySlicesDataset((['ab', 'c', 'ünï'], [1, 2, 3]), ['s', 'n'], shuffle=False)
    assert [row[0] for row in epochs(data)[0]] == ['ab', 'c', 'ünï']
    assert epochs(data.map(lambda s: np.char.upper(s), 's').batch(3))[0] == [[['AB', 'C', 'ÜNÏ'], [1, 2, 3]]]
    row = next(data.create_dict_iterator(num_epochs=1))
    assert isinstance(row['s'], np.ndarray) and str(row['s']) == 'ab'     # as MindSpore 2.10, texts are no Tensors


def test_image_folder(tmp_path):
    for label, name in enumerate(['cat', 'dog']):
        (tmp_path / name).mkdir()
        for i in range(2):
            image = np.full((4, 5, 3), 100 * label + i, np.uint8)
            vision.write_png(str(tmp_path / name / f'{i}.png'), image)
    data = ds.ImageFolderDataset(str(tmp_path), shuffle=False, decode=True)
    images, labels = next(data.batch(4).create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert labels.tolist() == [0, 0, 1, 1] and labels.dtype == np.int32 and images[:, 0, 0, 0].tolist() == [0, 1, 100, 101]
    assert data.num_classes() == 2 and data.get_class_indexing() == {'cat': 0, 'dog': 1}
    assert [row[1] for row in epochs(ds.ImageFolderDataset(str(tmp_path), sampler=ds.PKSampler(1), decode=True))[0]] == [0, 1]
    (tmp_path / 'cat' / '1.png').write_bytes(b'no picture')
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(rows)
    with pytest.raises(RuntimeError, match="row 1 of the source"):
        next(rows)
    assert next(rows)[1] == 1       # the rows behind a failure still come
    again = ds.ImageFolderDataset(str(tmp_path), shuffle=False).skip(2)
    (tmp_path / 'dog' / '0.png').unlink()
    with pytest.raises(RuntimeError, match=r"dog/0\.png: it cannot be opened"):
        epochs(again)


def test_text_and_csv_files(tmp_path):
    (tmp_path / 'a.txt').write_text('one\n\ntwo\n')
    (tmp_path / 'b.txt').write_text('three')
    data = ds.TextFileDataset([str(tmp_path / 'a.txt'), str(tmp_path / 'b.txt')], shuffle=False)
    assert [row[0] for row in epochs(data)[0]] == ['one', 'two', 'three']
    (tmp_path / 'c.csv').write_text('x,y\n1,a\n2,b\n')
    data = ds.CSVDataset(str(tmp_path / 'c.csv'), column_defaults=[0, ''], shuffle=False)
    assert data.get_col_names() == ['x', 'y'] and epochs(data)[0] == [[1, 'a'], [2, 'b']]


def test_mindrecord(tmp_path):
    from spore.mindrecord import FileWriter
    path = str(tmp_path / 'rows.mindrecord')
    writer = FileWriter(path)
    writer.add_schema({'label': {'type': 'int32'}, 'name': {'type': 'string'}, 'data': {'type': 'bytes'},
                       'v': {'type': 'float32', 'shape': [2]}})
    writer.write_raw_data([{'label': i, 'name': f'n{i}', 'data': bytes([i]), 'v': np.float32([i, i])} for i in range(5)])
    writer.commit()
    data = ds.MindDataset(path, ['label', 'name', 'data', 'v'], shuffle=False)
    assert epochs(data)[0] == [[i, f'n{i}', [bytes([i]).rstrip(b'\0')], [i, i]] for i in range(5)]
    assert [row[0].dtype.name for row in zip(next(data.create_tuple_iterator(num_epochs=1, output_numpy=True)))] == [
        'int32', 'str64', 'bytes8', 'float32']
    mixed = epochs(ds.MindDataset(path, ['label']), 2)
    assert mixed[0] != mixed[1] and sorted(mixed[0]) == sorted(mixed[1]) == [[i] for i in range(5)]
    padded = ds.MindDataset(path, ['label'], num_shards=2, shard_id=1, shuffle=False, padded_sample={'label': -1},
                            num_padded=1)
    assert epochs(padded)[0] == [[1], [3], [-1]]
    with pytest.raises(RuntimeError, match="column name: other can not found"):
        ds.MindDataset(path, ['other']).get_col_names()


# --- failures --------------------------------------------------------------------------------------------------------

def test_exceptions_arrive_with_row_and_traceback():
    def fail(n):
        if n == 3:
            raise KeyError('three')
        return n
    rows = numbers(5).map(fail, 'n').create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [int(next(rows)[0]) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(RuntimeError, match=r"map, row 3 \(row 3 of the source\): KeyError: 'three'") as caught:
        next(rows)
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError) and cause.__traceback__.tb_frame.f_code.co_name == 'fail'
    assert int(next(rows)[0]) == 4

    def generator():
        yield 1
        raise ValueError('broken')
    with pytest.raises(RuntimeError, match="ValueError: broken"):
        epochs(ds.GeneratorDataset(generator, ['a']))


@pytest.mark.parametrize('data, text', [
    (lambda: numbers(3).map(lambda n: (n, n), 'n'), "in 'map' operations: 2, the number of 'output_columns': 1"),
    (lambda: numbers(3).map(lambda n: object(), 'n'), "must be an array of numbers or texts"),
    (lambda: numbers(3).batch(2, per_batch_map=lambda n, info: (n, n), input_columns=['n']),
     "'per_batch_map' function should be 1 , but got: 2"),
    (lambda: numbers(3).map(vision.Resize(4), 'n'), "row 0 of the source"),
    (lambda: numbers(3).concat(numbers(3).project('n')),
     "'column name' or 'column order' of concat datasets should be the same: there are \\['n', 'v'\\] and \\['n'\\]"),
    (lambda: ds.zip((numbers(3), numbers(3))), "duplicate column n already exists when zipping datasets"),
])
def test_what_cannot_be_is_named(data, text):
    with pytest.raises((RuntimeError, ValueError), match=text):
        epochs(data())


def test_exit_in_a_function_is_a_failure_of_its_row():
    def stop(*_):
        sys.exit(3)

    class Stopping:
        def __getitem__(self, i):
            return stop() if i == 1 else np.int32(i)

        def __len__(self):
            return 3
    for data in (numbers(2).map(stop, 'n'), numbers(2).filter(stop, 'n'), numbers(2).batch(2, per_batch_map=stop, input_columns=['n']),
                 ds.GeneratorDataset(Stopping(), 'n', shuffle=False)):
        with pytest.raises(RuntimeError, match='SystemExit: 3') as caught:
            epochs(data)
        assert isinstance(caught.value.__cause__, SystemExit) and 'row ' in str(caught.value)


def test_an_interrupt_passes():
    def stop(n):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        epochs(numbers(2).map(stop, 'n'))


# --- what is left behind ---------------------------------------------------------------------------------------------

def test_no_thread_stays():
    gc.collect()        # what failed before this holds iterators in its traceback
    before = threads()
    data = numbers(1000).map(transforms.TypeCast(np.float64), 'v', num_parallel_workers=2).batch(4)
    for way in ('end', 'release', 'forget', 'fail'):
        rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        next(rows)
        assert threads() > before
        if way == 'end':
            assert len(list(rows)) == 249
        elif way == 'release':
            rows.release()
        elif way == 'fail':
            bad = data.map(lambda n: 1 / 0, 'n').create_tuple_iterator(num_epochs=1)
            with pytest.raises(RuntimeError):
                next(bad)
            del bad
        del rows
        gc.collect()
        assert threads() == before, way


@pytest.mark.skipif('libtsan' in os.environ.get('LD_PRELOAD', ''), reason="the thread sanitizer knows no threads in a fork of threads")
def test_a_fork_can_read_anew():
    data = numbers(50).map(transforms.TypeCast(np.float64), 'v', num_parallel_workers=2).batch(4)
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(rows)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            next(rows)
        except RuntimeError as error:
            code = 0 if 'forked' in str(error) and len(epochs(data)[0]) == 13 else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(list(rows)) == 12


def test_reading_from_inside_is_refused():
    holder = {}

    def function(n):
        next(holder['rows'])
        return n
    holder['rows'] = numbers(3).map(function, 'n').create_tuple_iterator(num_epochs=1)
    with pytest.raises(RuntimeError, match="function of its own"):
        next(holder['rows'])


def test_sources_are_not_written_into():
    array = np.zeros((3, 200), np.float32)
    data = ds.NumpySlicesDataset(array, ['a'], shuffle=False)

    def write(a):
        a += 1
        return a
    assert epochs(data.map(write, 'a'), 2)[1][0][0][0] == 1.0
    for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
        row[0] += 5
    for row in data.create_tuple_iterator(num_epochs=1):
        row[0] += 5
    assert epochs(data)[0][0][0][0] == 0.0 and array.max() == 0


def test_stats_name_the_stages():
    data = numbers(8).map(lambda n: n, 'n').shuffle(3).batch(2)
    assert data.stats() == "no iterator is being read"
    list(rows := data.create_tuple_iterator(num_epochs=1))
    text = rows.stats()
    del rows
    assert data.stats() != "no iterator is being read"      # an iterator leaves its figures when it ends
    assert [line.split()[0] for line in text.splitlines()[1:5]] == ['batch', 'shuffle', 'map', 'arrays'] and 'ahead' in text


def test_slow_consumers_find_rows_ready():
    done, threads = [], threading.active_count()
    data = numbers(20).map(transforms.TypeCast(np.float64), 'v', num_parallel_workers=1)
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(rows)
    time.sleep(0.05)
    assert threading.active_count() == threads        # the engine's threads never touch the interpreter
    assert len(list(rows)) == 19 and not done


# --- further operations and files ------------------------------------------------------------------------------------

def test_save_and_read_back(tmp_path):
    rows = [(np.int32(i), f'text{i}', np.arange(i + 1, dtype=np.float32), np.frombuffer(b'abc', np.uint8)) for i in range(4)]
    data = ds.GeneratorDataset(rows, ['n', 's', 'v', 'b'], shuffle=False)
    path = str(tmp_path / 'saved.mindrecord')
    data.save(path)
    again = ds.MindDataset(path, ['n', 's', 'v', 'b'], shuffle=False)
    assert epochs(again) == epochs(data)
    with pytest.raises(ValueError, match="not supported"):
        data.save(path, file_type='tfrecord')


def test_buckets_by_length():
    rows = [(np.full(n, n),) for n in (1, 4, 2, 5, 3, 1)]
    data = ds.GeneratorDataset(rows, ['a'], shuffle=False)
    made = data.bucket_batch_by_length(['a'], [3], [2, 2], pad_info={'a': ([None], 0)})
    assert [row[0] for row in epochs(made)[0]] == [[[1, 0], [2, 2]], [[4, 4, 4, 4, 0], [5] * 5], [[1]], [[3, 3, 3]]]
    with pytest.raises(ValueError, match="one element more"):
        data.bucket_batch_by_length(['a'], [3], [2])


def test_texts_are_shared_in_consecutive_parts(tmp_path):
    (tmp_path / 'a.txt').write_text('a\nb\n \nc\n')
    (tmp_path / 'b.txt').write_text('d\ne')
    files = [str(tmp_path / 'a.txt'), str(tmp_path / 'b.txt')]

    def lines(**kwargs):
        return [row[0] for row in epochs(ds.TextFileDataset(files, **kwargs))[0]]
    assert lines(shuffle=False, num_shards=2, shard_id=0) == ['a', 'b', ' ']
    assert lines(shuffle=False, num_shards=2, shard_id=1) == ['c', 'd', 'e']
    assert sorted(lines(num_shards=2, shard_id=0) + lines(num_shards=2, shard_id=1)) == [' ', 'a', 'b', 'c', 'd', 'e']
    assert lines(shuffle=ds.Shuffle.FILES) in ([*'ab ', *'cde'], [*'deab c'])


def test_schemas(tmp_path):
    schema = ds.Schema()
    schema.add_column('image', 'uint8', [2, 2])
    schema.add_column('label', spore.int32)
    (tmp_path / 'schema.json').write_text(schema.to_json())
    assert ds.Schema(str(tmp_path / 'schema.json')).columns == schema.columns
    with pytest.raises(TypeError, match="Unknown column type"):
        schema.add_column('x', 'complex')


def test_a_waiting_callback_never_waits_for_itself():
    class Wait(ds.WaitedDSCallback):
        def sync_step_begin(self, train_run_context, ds_run_context):
            heard.append(ds_run_context.cur_step_num)
    for _ in range(60):
        heard, wait = [], Wait()
        data = numbers(4).map(lambda n: n, 'n', callbacks=wait).batch(1)
        for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
            wait.step_end(None)
            assert heard[-1:] in ([], [int(row[0][0]) + 1])
        assert heard == [2, 3, 4]


def test_callbacks_of_map():
    heard = []

    class Note(ds.DSCallback):
        def ds_begin(self, context):
            heard.append('begin')

        def ds_epoch_begin(self, context):
            heard.append(('epoch', context.cur_epoch_num))

        def ds_step_end(self, context):
            heard.append((context.cur_step_num_in_epoch, context.cur_step_num))

        def ds_epoch_end(self, context):
            heard.append('end')
    data = numbers(3).map(lambda n: (n, n), 'n', ['n', 'm'], callbacks=[Note(2)])
    assert data.output_shapes(estimate=True) == [[], [], [3]] and len(data.output_types()) == 3 and not heard
    assert data.get_col_names() == ['n', 'm', 'v'] and [row[:2] for row in epochs(data, 2)[1]] == [[0, 0], [1, 1], [2, 2]]
    assert heard == ['begin', ('epoch', 1), (1, 1), (3, 3), 'end', ('epoch', 2), (1, 4), (3, 6), 'end']
    with pytest.raises(TypeError):
        numbers(3).map(lambda n: n, callbacks=[3]).get_col_names()
    with pytest.raises(AttributeError, match='without overriding any methods'):
        epochs(numbers(3).map(lambda n: n, callbacks=ds.DSCallback()))


def test_memory_stays_within_the_budget():
    """Rows of 4 MiB: without a budget sixteen of them would wait."""
    ds.config.set_memory_budget(10)
    rows = np.zeros((12, 1 << 18), np.float32)
    data = ds.NumpySlicesDataset(rows, ['v'], shuffle=False).map(transforms.PadEnd([1 << 20], 1.0), 'v', num_parallel_workers=2)
    iterator = data.create_tuple_iterator(num_epochs=10, output_numpy=True)
    most, sizes = 0, []
    for _ in range(10):
        for _ in iterator:
            time.sleep(0.002)
            most = max(most, iterator._source.stats()[2])
        with open('/proc/self/statm', encoding='ascii') as file:
            sizes.append(int(file.read().split()[1]) * 4096)
        if iterator._closed:
            break
    assert most <= 14 << 20
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which keeps freed blocks back
        assert max(sizes[2:]) - sizes[1] < 24 << 20


def test_repeats_without_end():
    data = numbers(3).repeat(-1)
    assert data.get_dataset_size() == 3 and data.batch(2).get_dataset_size() == 2 and data.get_repeat_count() == -1
    iterator = data.create_dict_iterator(num_epochs=1, output_numpy=True)
    assert [int(next(iterator)['n']) for _ in range(8)] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert len(epochs(numbers(3).repeat().take(7))[0]) == 7
    assert epochs(numbers(3).filter(lambda n: False, 'n').repeat(-1)) == [[]]


def test_rows_put_themselves_into_their_batch():
    """Whoever makes a row writes it where the batch wants it: by transforms directly, by functions as a copy."""
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 255, (24, 30, 3)).astype(np.uint8) for _ in range(23)]
    steps = [vision.Resize((20, 26)), vision.CenterCrop(16), vision.Normalize([120.0] * 3, [60.0] * 3), vision.HWC2CHW()]
    for operations in (steps, steps[:2], steps[:3], [*steps, lambda image: image * 2], [vision.HWC2CHW()], [vision.ToTensor()]):
        rows = ds.GeneratorDataset([(picture, np.int32(i)) for i, picture in enumerate(pictures)], ['image', 'label'], shuffle=False)
        rows = rows.map(operations, 'image', num_parallel_workers=2)
        one_by_one = list(rows.create_tuple_iterator(num_epochs=1, output_numpy=True))
        for workers in (1, 4):
            ds.config.set_num_parallel_workers(workers)
            batches = list(rows.batch(5).create_tuple_iterator(num_epochs=1, output_numpy=True))
            assert [len(batch[1]) for batch in batches] == [5, 5, 5, 5, 3]
            for column in (0, 1):
                together = np.concatenate([batch[column] for batch in batches])
                np.testing.assert_array_equal(together, np.stack([row[column] for row in one_by_one]))


def test_rows_that_do_not_fit_are_told_by_the_first_pair():
    """Also when a later row was finished first, and lies in the batch already."""
    def slow_first(n):
        time.sleep(0.01 if n == 0 else 0)
        return np.zeros((2 if n < 3 else 4, 4, 3), np.uint8)
    for workers in (1, 2):
        data = numbers(8).map(slow_first, 'n', num_parallel_workers=2, python_multiprocessing=workers == 2)
        data = data.map(vision.HWC2CHW(), 'n').batch(8)
        with pytest.raises(RuntimeError, match=r"different shapes in column 0 \('n'\): one is uint8 of shape \(3, 2, 4\) and another "
                                               r"uint8 of shape \(3, 4, 4\)"):
            list(data.create_tuple_iterator(num_epochs=1))


# --- rows that fail ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('seed', [seed for seed in range(13) if seed != 6])     # of 6 no row is good
def test_order_with_rows_that_fail(seed):
    """Left out or replaced, the order is still one of seed and epoch alone, and can be resumed."""
    modes = ds.config.ErrorSamplesMode
    ds.config.set_error_samples_mode(modes.SKIP if seed % 2 else modes.REPLACE)
    n = 6 + seed
    first = epochs(random_pipeline(seed, n, 1)[0], 2)
    for workers in (2, 6):
        assert epochs(random_pipeline(seed, n, workers)[0], 2) == first
    data = random_pipeline(seed, n, 2)[0]
    stop = random.Random(seed).randint(0, len(first[0]))
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    for _ in range(stop):
        next(iterator)
    state = iterator.get_state()
    again = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    again.set_state(state)
    assert [plain(row) for row in again] == first[0][stop:] and [plain(row) for row in again] == first[1]


def test_what_is_no_fault_of_a_row_is_told_in_all_modes():
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)

    def leaves(n):
        if n == 3:
            os._exit(7)
        return n
    for data in (numbers(6).map(leaves, 'n', python_multiprocessing=True, num_parallel_workers=2),
                 numbers(6).map(lambda n: (n, n), 'n'),
                 ds.GeneratorDataset(lambda: map(not_four, [1, 2, 4]), ['n']).map(lambda n: n, 'n')):
        with pytest.raises(RuntimeError):
            epochs(data)


def test_begins_behind_the_steps_that_were_done():
    whole = epochs(numbers(7, shuffle=True).batch(2), 3)
    data = numbers(7, shuffle=True).batch(2)
    data.set_init_step(6)       # of four an epoch
    iterator = data.create_tuple_iterator(num_epochs=3, output_numpy=True)
    assert [[plain(row) for row in iterator] for _ in range(2)] == [whole[1][2:], whole[2]]


def test_files_that_a_function_decrypts(tmp_path):
    (tmp_path / 'a').mkdir()
    for i in range(3):
        (tmp_path / 'a' / f'{i}.jpg').write_bytes(bytes([i, 7, 9]))
    data = ds.ImageFolderDataset(str(tmp_path), shuffle=False, decrypt=lambda path: open(path, 'rb').read()[::-1])
    assert [row[0] for row in epochs(data)[0]] == [[9, 7, 0], [9, 7, 1], [9, 7, 2]]
    with pytest.raises(RuntimeError, match="must give bytes, but gives <class 'str'> for .*0.jpg"):
        epochs(ds.ImageFolderDataset(str(tmp_path), shuffle=False, decrypt=lambda path: path))


def test_padded_records_keep_the_types_of_their_columns(tmp_path):
    from spore.mindrecord import FileWriter
    writer = FileWriter(str(tmp_path / 'a.mindrecord'))
    writer.add_schema({'i': {'type': 'int32'}, 'f': {'type': 'float32'}, 's': {'type': 'string'}})
    writer.write_raw_data([{'i': 1, 'f': 0.5, 's': 'x'}] * 3)
    writer.commit()
    data = ds.MindDataset(str(tmp_path / 'a.mindrecord'), ['i', 'f', 's'], padded_sample={'i': 9, 'f': 2.0, 's': 'padded'}, num_padded=2,
                          shuffle=False)
    rows = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert [row[0].dtype for row in rows] == [np.int32] * 5 and [row[1].dtype for row in rows] == [np.float32] * 5
    assert [row[0].item() for row in rows] == [1, 1, 1, 9, 9] and rows[4][2] == 'padded'


def test_dicts_in_a_row_keep_their_lists():
    rows = ds.GeneratorDataset([{'a': np.ones(2), 'b': {'c': 3, 'd': [1, 2], 'e': ('x', None)}}], ['x'], shuffle=False)
    (row,), = rows.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert isinstance(row['b']['d'], list) and row['b']['d'] == [1, 2] and row['b']['e'] == ('x', None)
    (row,), = rows.create_tuple_iterator(num_epochs=1)
    assert isinstance(row['a'], spore.Tensor) and isinstance(row['b']['d'][1], spore.Tensor) and row['b']['e'][0] == 'x'


@pytest.mark.parametrize('size', [17, (20, 31), (48, 60), (24, 30), 60])
def test_a_crop_of_a_resized_picture_is_computed_alone(size):
    """What comes out is the same as of one after the other, whether or not they can be put together."""
    image = np.random.default_rng(1).integers(0, 255, (48, 60, 3)).astype(np.uint8)
    for inter in (vision.Inter.LINEAR, vision.Inter.CUBIC, vision.Inter.AREA, vision.Inter.NEAREST):
        for kind in (np.uint8, np.float32):
            resize, crop = vision.Resize(size, inter), vision.CenterCrop((16, 15))
            rows = ds.GeneratorDataset([image.astype(kind)], ['image'], shuffle=False).map([resize, crop], 'image')
            (together,), = rows.create_tuple_iterator(num_epochs=1, output_numpy=True)
            np.testing.assert_array_equal(together, crop(resize(image.astype(kind))))
    with pytest.raises(RuntimeError, match='1000 times'):
        epochs(ds.GeneratorDataset([image], ['image'], shuffle=False).map([vision.Resize((90000, 5)), vision.CenterCrop(3)], 'image'))


def test_shards_of_datasets_one_after_another():
    """Also of functions: the first row is looked at, and must not be made twice."""
    calls = []

    def read(i):
        calls.append(int(i))
        return np.array(i)
    for shards in (1, 2, 4):
        shown = []
        for shard in range(shards):
            rows = ds.GeneratorDataset([np.array(k) for k in range(5)], ['x'], shuffle=False).map(read, 'x')
            data = rows + ds.PaddedDataset([{'x': np.array(-1)}] * 3)
            data.use_sampler(ds.DistributedSampler(shards, shard, shuffle=False))
            shown += [row[0] for row in epochs(data)[0]]
        assert sorted(shown) == [-1, -1, -1, 0, 1, 2, 3, 4]
    calls.clear()
    both = ds.GeneratorDataset([np.array(k) for k in range(5)], ['x'], shuffle=False).map(read, 'x')
    both = both + ds.GeneratorDataset(lambda: iter([np.array(7), np.array(8)]), ['x']).map(read, 'x')
    assert [row[0] for row in epochs(both.batch(3))[0]] == [[0, 1, 2], [3, 4, 7], [8]] and calls == [0, 1, 2, 3, 4, 7, 8]
    assert sorted(row[0] for row in epochs((both + both).shuffle(9))[0]) == sorted([0, 1, 2, 3, 4, 7, 8] * 2)


def test_sending_without_an_end_makes_one_epoch():
    """Nobody takes the rows away: a thread that went on for ever would only take the processor."""
    seen = []
    data = ds.NumpySlicesDataset(list(range(5)), shuffle=False).map(lambda x: seen.append(int(x)) or x, num_parallel_workers=1)
    data.device_que().send()
    deadline = time.monotonic() + 60
    while len(seen) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)
    assert seen == list(range(5))

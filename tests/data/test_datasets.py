# SPDX-License-Identifier: Apache-2.0
"""What datasets have beside rows: conditions, JSON, debug hooks, callbacks that wait; and sources of spore's own."""
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
import zlib

import numpy as np
import pytest
from test_record_convert import example, record

from spore import dataset as ds
from spore.dataset import debug, transforms, vision


@pytest.fixture(autouse=True)
def settings():
    before = dict(ds.config._values)
    ds.config.set_seed(3)
    yield
    ds.config._values.update(before)


def numbers(n=4):
    return ds.NumpySlicesDataset((np.arange(n), np.arange(n * 2, dtype=np.float32).reshape(n, 2)), ['a', 'b'], shuffle=False)


def rows(data):
    return [[value.tolist() for value in row] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


# --- conditions -------------------------------------------------------------------------------------------------------

class Policy:
    def __init__(self):
        self.loss = 0

    def add(self, a):
        return a + self.loss * 100

    def update(self, data):
        self.loss = data['loss']


@pytest.mark.parametrize('num_batch', [1, 2])
def test_rows_wait_for_updates(num_batch):
    policy = Policy()
    data = numbers(8).project('a').sync_wait('policy', num_batch, policy.update).map(policy.add, 'a').batch(2)
    found = []
    for step, row in enumerate(data.create_dict_iterator(num_epochs=1, output_numpy=True)):
        found.append(row['a'].tolist())
        data.sync_update('policy', data={'loss': step + 1})
    assert found == [[0, 1], [102, 103], [204, 205], [306, 307]]


def test_rows_are_not_held_back_for_ever(caplog):
    ds.config.set_callback_timeout(1)
    data = numbers(3).sync_wait('policy')
    assert len(rows(data)) == 3
    assert any("no sync_update('policy') came" in record.getMessage() for record in caplog.records)


def test_conditions_have_names():
    data = numbers().sync_wait('p')
    assert data.is_sync() and not numbers().is_sync()
    with pytest.raises(RuntimeError, match='already in use'):
        data.sync_wait('p')
    with pytest.raises(RuntimeError, match='not found'):
        data.sync_update('q')
    with pytest.raises(ValueError, match='greater than 0'):
        numbers().sync_wait('q', 0)


# --- JSON -------------------------------------------------------------------------------------------------------------

def written(tmp_path):
    (tmp_path / 'a.txt').write_text('one\ntwo\nthree\n')
    (tmp_path / 'b.csv').write_text('x,y\n1,2\n3,4\n')
    return [
        ds.TextFileDataset(str(tmp_path / 'a.txt'), shuffle=False).skip(1).repeat(2),
        ds.CSVDataset(str(tmp_path / 'b.csv'), column_defaults=[1, 1.5], shuffle=False).rename('x', 'z').batch(2, True),
        ds.CSVDataset(str(tmp_path / 'b.csv'), column_defaults=[1, 1.5], shuffle=ds.Shuffle.FILES).map(
            transforms.TypeCast('float64'), 'x').project(['x']).take(1),
        ds.FakeImageDataset(6, (9, 8, 3), 3, sampler=ds.DistributedSampler(2, 1, False)).map(
            [vision.Resize((4, 5), vision.Inter.NEAREST), vision.CenterCrop(3), vision.Rescale(0.5, 1.0), vision.HWC2CHW()], 'image'),
        ds.zip((ds.TextFileDataset(str(tmp_path / 'a.txt'), shuffle=False),
                ds.FakeImageDataset(3, (2, 2, 3), 2, shuffle=False))).padded_batch(2, pad_info={'image': ([3, 3, 3], 7)}),
    ]


@pytest.mark.parametrize('number', range(5))
def test_pipelines_come_back_from_json(tmp_path, number):
    data, path = written(tmp_path)[number], str(tmp_path / 'pipeline.json')
    made = ds.serialize(data, path)
    with open(path, encoding='utf-8') as file:
        assert json.load(file) == made == json.loads(json.dumps(made))
    assert rows(ds.deserialize(input_dict=made)) == rows(ds.deserialize(json_filepath=path)) == rows(data)
    assert ds.compare(ds.deserialize(made), data) and not ds.compare(data, data.take(1))
    ds.show(data)


@pytest.mark.parametrize('make', [
    lambda root: ds.MnistDataset(root, num_samples=5, shuffle=False).map(transforms.OneHot(10), 'label', num_parallel_workers=3).batch(2, True),
    lambda root: ds.MnistDataset(root, 'train', num_shards=2, shard_id=1).map(transforms.TypeCast('float32'), 'image').repeat(2).skip(1),
    lambda root: ds.MnistDataset(root, sampler=ds.RandomSampler(True, 3)).zip(ds.MnistDataset(root).rename(['image', 'label'], ['a', 'b'])),
    lambda root: ds.MnistDataset(root, sampler=ds.DistributedSampler(2, 0)) + ds.MnistDataset(root, sampler=ds.PKSampler(1))])
def test_what_is_read_back_is_written_alike(tmp_path, make):
    root = os.path.join(os.path.dirname(__file__), '..', '..', 'data', 'mnist')
    paths = [str(tmp_path / name) for name in 'ab']
    ds.serialize(make(root), paths[0])
    ds.serialize(ds.deserialize(json_filepath=paths[0]), paths[1])
    texts = [open(path, encoding='utf-8').read() for path in paths]
    assert texts[0] == texts[1] and list(json.loads(texts[0])) == sorted(json.loads(texts[0]))


def test_json_of_mindspore_is_read():
    """As MindSpore 2.10 writes it."""
    text = '''{"batch_size": 2, "children": [{"buffer_size": 4, "children": [{"callback": [], "children": [{"children": [],
        "connector_queue_size": 16, "dataset_dir": "data/mnist", "num_parallel_workers": 2, "op_type": "MnistDataset", "sampler":
        {"num_samples": 5, "sampler_name": "SequentialSampler", "start_index": 0}, "usage": "test"}],
        "connector_queue_size": 16, "input_columns": ["image"], "num_parallel_workers": 2, "op_type": "Map", "operations":
        [{"tensor_op_name": "Resize", "tensor_op_params": {"device_target": "CPU", "interpolation": 0, "size": [4, 5]}},
        {"tensor_op_name": "Rescale", "tensor_op_params": {"rescale": 0.003921568859368563, "shift": 0.0}},
        {"tensor_op_name": "HwcToChw", "tensor_op_params": null}], "output_columns": ["image"]}], "op_type": "Shuffle",
        "reset_each_epoch": true}], "connector_queue_size": 16, "drop_remainder": true, "input_columns": [],
        "num_parallel_workers": 2, "op_type": "Batch", "output_columns": []}'''
    root = os.path.join(os.path.dirname(__file__), '..', '..', 'data', 'mnist')
    data = ds.deserialize(json.loads(text.replace('data/mnist', os.path.abspath(root))))
    found = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert [row['image'].shape for row in found] == [(2, 1, 4, 5)] * 2


def test_functions_cannot_come_back():
    made = ds.serialize(ds.FakeImageDataset(2).map(lambda image: image, 'image'))
    with pytest.raises(RuntimeError, match='only its name'):
        ds.deserialize(made)


# --- debug mode and callbacks -----------------------------------------------------------------------------------------

class Seen(debug.DebugHook):
    def __init__(self, seen):
        super().__init__()
        self.seen = seen

    def __deepcopy__(self, memo):
        return Seen(self.seen)

    def compute(self, *args):
        self.seen.append((self.prev_op_name, self.is_first_op, args[0][0].tolist()))


def test_hooks_see_what_goes_through_maps(capsys):
    seen, rescale = [], transforms.TypeCast('int32')

    def double(a):
        return a * 2
    with pytest.raises(ValueError, match='non-debug mode'):
        rows(numbers(1).map([double, Seen(seen)], 'a'))
    ds.config.set_debug_mode(True, [Seen(seen), debug.PrintMetaDataHook()])
    assert rows(numbers(2).map([double, rescale], 'a').project('a')) == [[0], [2]]
    assert seen == [('double', True, 0), ('double', False, 0), ('TypeCast', False, 0),
                    ('double', True, 1), ('double', False, 2), ('TypeCast', False, 2)]
    assert ("[Dataset debugger] Print the [INPUT] of the operation [double].\nColumn 0. The dtype is [int64]. The shape is [()].\n"
            "[Dataset debugger] Print the [OUTPUT] of the operation [double].\n") in capsys.readouterr().out
    ds.config.set_debug_mode(True)      # without a list, one that prints types
    assert rows(numbers(1).map([double, Seen(seen)], 'a').project('a')) == [[0]] and seen[-1] == (None, None, 0)
    assert "[OUTPUT] of the operation [Seen].\nColumn 0. " in capsys.readouterr().out
    with pytest.raises(TypeError, match='DebugHook'):
        ds.config.set_debug_mode(True, [print])


def test_waiting_callbacks_keep_step():
    log = []

    class Together(ds.WaitedDSCallback):
        def sync_step_begin(self, train_run_context, ds_run_context):
            log.append(('map', ds_run_context.cur_step_num))

    callback = Together()
    done = threading.Event()

    def train():
        for step in range(3):
            log.append(('train', step + 1))
            callback.step_end(None)
        callback.end(None)
        done.set()
    threading.Timer(0.05, train).start()
    rows(numbers(3).map(lambda a: a, 'a', callbacks=callback))
    done.wait(5)
    assert log[0] == ('train', 1) and ('map', 2) in log and ('map', 3) in log
    ds.config.set_callback_timeout(1)
    with pytest.raises(RuntimeError, match='ds_step_begin timed out after 1 second'):
        rows(numbers(3).map(lambda a: a, 'a', callbacks=Together()))


def test_values_may_be_dicts():
    data = ds.GeneratorDataset([({'x': 1, 'y': {'z': np.arange(i)}},) for i in (2, 2)], ['d'], shuffle=False)
    first = next(data.create_tuple_iterator(num_epochs=1, output_numpy=True))[0]
    assert first['x'] == 1 and first['y']['z'].tolist() == [0, 1]
    flat = data.map(lambda d: {'x': d['x'], 'z': d['y']['z']}, 'd').batch(2)
    batch = next(flat.create_tuple_iterator(num_epochs=1, output_numpy=True))[0]
    assert batch['x'].tolist() == [1, 1] and batch['z'].tolist() == [[0, 1], [0, 1]]
    with pytest.raises(RuntimeError, match="dictionary objects.*key: 'y'.*per_batch_map"):
        next(data.batch(2).create_tuple_iterator(num_epochs=1))


def test_texts_stay_texts_for_whoever_holds_them():
    """concat compares the type of a row with that of the first one, which a reader has had by then."""
    data = ds.GeneratorDataset(['a', 'bb'], ['t'], shuffle=False) + ds.GeneratorDataset(['c'] * 5, ['t'], shuffle=False)
    assert rows(data) == [['a'], ['bb']] + [['c']] * 5


def test_deserialize_takes_a_path_first(tmp_path):
    path = tmp_path / 'data.json'
    (tmp_path / 'lines.txt').write_text('a\nb\nc\n')
    ds.serialize(ds.TextFileDataset(str(tmp_path / 'lines.txt'), shuffle=False).batch(2), str(path))
    for given in (str(path), path):
        assert ds.deserialize(given).get_dataset_size() == ds.deserialize(json_filepath=str(path)).get_dataset_size() == 2


# --- sources of spore's own -------------------------------------------------------------------------------------------

def test_json_lines(tmp_path):
    path = tmp_path / 'a.jsonl'
    path.write_text('{"n": 1, "t": "ü", "v": [1.5, 2]}\n\n{"n": 2, "t": "", "v": [3, 4], "more": 0}\n', encoding='utf-8')
    assert rows(ds.JsonLinesDataset(str(path), shuffle=False)) == [[1, 'ü', [1.5, 2.0]], [2, '', [3, 4]]]
    assert rows(ds.JsonLinesDataset(str(path), ['t'], shuffle=False).batch(2)) == [[['ü', '']]]
    with pytest.raises(RuntimeError, match="row 0.*there is no key 'more'"):
        rows(ds.JsonLinesDataset(str(path), ['more'], shuffle=False))
    path.write_text('{"n": 1}\n{"n"\n')
    with pytest.raises(RuntimeError, match='row 1'):
        rows(ds.JsonLinesDataset(str(path), shuffle=False))


def archive(path, samples):
    with tarfile.open(path, 'w') as file:
        for name, data in samples:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))


def test_archives_of_samples(tmp_path):
    archive(tmp_path / 'a.tar', [('x/1.jpg', b'abc'), ('x/1.cls', b'7'), ('x/1.txt', 'ä'.encode()), ('x/2.jpg', b'd'), ('x/2.cls', b'8'),
                                 ('x/2.txt', b'b')])
    archive(tmp_path / 'b.tar', [('3.jpg', b''), ('3.cls', b'9')])
    data = ds.WebDataset(str(tmp_path / '*.tar'), ['jpg', 'cls'], shuffle=False)
    assert rows(data) == [[[97, 98, 99], 7], [[100], 8], [[], 9]] and data.get_dataset_size() == 3
    assert rows(ds.WebDataset(str(tmp_path / 'a.tar'), shuffle=False))[0] == [[97, 98, 99], 7, 'ä']
    shards = [rows(ds.WebDataset(str(tmp_path / '*.tar'), ['cls'], shuffle=False, num_shards=2, shard_id=i)) for i in (0, 1)]
    assert shards == [[[7], [8]], [[9], [7]]]
    with pytest.raises(RuntimeError, match="b.tar: sample 3 has no part 'txt'"):
        rows(ds.WebDataset(str(tmp_path / 'b.tar'), ['txt'], shuffle=False))
    (tmp_path / 'c.tar').write_bytes(b'nothing like it' * 100)
    with pytest.raises(RuntimeError, match='c.tar is no tar archive'):
        rows(ds.WebDataset(str(tmp_path / 'c.tar')))


def test_columns_of_files(tmp_path):
    arrays = {'a': np.arange(3), 'b': np.arange(6, dtype=np.float32).reshape(3, 2)}
    np.savez(tmp_path / 'a.npz', **arrays)
    data = ds.ColumnsDataset(str(tmp_path / 'a.npz'), shuffle=False)
    assert rows(data) == [[0, [0, 1]], [1, [2, 3]], [2, [4, 5]]] and data.get_col_names() == ['a', 'b']
    import spore
    spore.save_checkpoint([{'name': name, 'data': spore.Tensor(value)} for name, value in arrays.items()],
                          str(tmp_path / 'a.safetensors'), format='safetensors')
    assert rows(ds.ColumnsDataset(str(tmp_path / 'a.safetensors'), ['b', 'a'], shuffle=False))[2] == [[4, 5], 2]
    np.savez(tmp_path / 'b.npz', a=np.arange(3), b=np.arange(2))
    with pytest.raises(ValueError, match='one length'):
        ds.ColumnsDataset(str(tmp_path / 'b.npz'))
    with pytest.raises(ValueError, match="no array 'c'"):
        ds.ColumnsDataset(str(tmp_path / 'a.npz'), ['c'])


def test_random_rows():
    schema = ds.Schema()
    schema.add_column('i', 'int16', [2, 3])
    schema.add_column('f', 'float32', [])
    schema.add_column('s', 'string', [2])
    data = ds.RandomDataset(5, schema, shuffle=False)
    found = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert len(found) == data.get_dataset_size() == 5
    assert found[0]['i'].shape == (2, 3) and found[0]['i'].dtype == np.int16 and found[0]['f'].dtype == np.float32
    assert found[0]['s'].shape == (2,) and len({str(row['i']) for row in found}) == 5
    assert rows(ds.RandomDataset(5, schema, ['f'], shuffle=False)) == [[row['f'].tolist()] for row in found]
    pictures = ds.FakeImageDataset(4, (3, 2, 1), 2, shuffle=False)
    assert rows(pictures) == rows(ds.FakeImageDataset(4, (3, 2, 1), 2, shuffle=False)) and pictures.num_classes() == 2


@pytest.mark.parametrize('packed', [None, 'GZIP', 'ZLIB'])
def test_packed_tfrecords_are_read_as_rows_are_wanted(tmp_path, packed):
    content = b''.join(record(example(n=[i, -i], x=[i / 2], b=[bytes([i, 255])])) for i in range(5))
    path = tmp_path / 'packed'
    path.write_bytes({None: lambda c: c, 'GZIP': gzip.compress, 'ZLIB': zlib.compress}[packed](content))
    data = ds.TFRecordDataset(str(path), shuffle=False, compression_type=packed)
    assert data.get_col_names() == ['b', 'n', 'x'] and rows(data) == [[[i, 255], [i, -i], [i / 2]] for i in range(5)]
    assert sorted(rows(ds.TFRecordDataset(str(path), None, ['n'], compression_type=packed))) == [[[i, -i]] for i in range(5)]
    if packed:
        path.write_bytes(b'no packed file at all')
        with pytest.raises(RuntimeError, match=f'not packed by {packed}'):
            rows(ds.TFRecordDataset(str(path), shuffle=False, compression_type=packed))


def test_text_files_are_not_held_in_memory(tmp_path):
    path = tmp_path / 'long.txt'
    with open(path, 'w', encoding='ascii') as file:
        for i in range(20000):
            file.write(f'{i} ' + 'x' * 1000 + '\n')
    import tracemalloc
    tracemalloc.start()
    data = ds.TextFileDataset(str(path), shuffle=True)
    count = sum(1 for _ in data.batch(100).create_tuple_iterator(num_epochs=1, output_numpy=True))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 200 and peak < 10e6      # of 20 MB


def test_lines_by_number(tmp_path):
    from spore.dataset.utils import LineReader, imshow_det_bbox
    path = tmp_path / 'a.txt'
    path.write_text('one\n\nthree')
    with LineReader(str(path)) as lines:
        assert len(lines) == 3 and [lines.readline(i) for i in range(3)] == ['one\n', '\n', 'three']
        with pytest.raises(ValueError, match='out of range'):
            lines.readline(3)
    picture = imshow_det_bbox(np.zeros((8, 8, 3), np.uint8), np.asarray([[2, 2, 3, 3, 0.9], [0, 0, 1, 1, 0.1]]), np.asarray([1, 2]),
                              score_threshold=0.5, thickness=1, show=False)
    assert (picture[..., 1] == 255).sum() == 12


def test_what_is_no_cache_is_refused():
    with pytest.raises(TypeError, match='cache'):
        numbers().map(lambda a: a, 'a', cache=1)
    with pytest.raises(ValueError, match='session_id'):
        ds.DatasetCache(0)


# --- sound ------------------------------------------------------------------------------------------------------------

def test_speech_is_found():
    from spore.dataset import audio
    rate, draws = 8000, np.random.RandomState(0)
    t = np.arange(2 * rate) / rate
    voice = sum(a * np.sin(2 * np.pi * f * t) for f, a in ((120, .5), (240, .4), (360, .3), (480, .3), (720, .2)))
    sound = np.concatenate([np.zeros(rate), voice * 0.5]) + draws.randn(3 * rate) * 0.003
    found = audio.Vad(rate)(np.stack([sound, sound]).astype(np.float32))
    assert found.shape[0] == 2 and 1.9 * rate < found.shape[1] < 2.3 * rate and found.dtype == np.float32
    noise = draws.randn(1, 2 * rate).astype(np.float32) * 0.01
    assert audio.Vad(rate)(noise).shape == (1, 8800)        # as MindSpore 2.10 gives it
    with pytest.raises(ValueError, match='noise_up_time should be greater'):
        audio.Vad(rate, noise_up_time=0.1, noise_down_time=0.2)


def test_mel_spectrograms_are_inverted():
    from spore.dataset import audio
    spectrum = np.abs(np.random.RandomState(1).randn(2, 20, 6)).astype(np.float32)
    mel = audio.MelScale(8, 8000, n_stft=20)(spectrum)
    found = audio.InverseMelScale(20, 8, 8000, max_iter=20000)(mel)
    assert found.shape == spectrum.shape and found.min() >= 0
    np.testing.assert_allclose(audio.MelScale(8, 8000, n_stft=20)(found), mel, atol=0.05)


def test_all_parts_come_by_the_names_of_their_files(tmp_path):
    """As MindSpore reads them: the tests of CIFAR-100 before its training set."""
    for name, value in (('train', 3), ('test', 9)):
        np.full((2, 3074), value, np.uint8).tofile(tmp_path / f'{name}.bin')
    labels = [int(row['fine_label']) for row in ds.Cifar100Dataset(str(tmp_path), shuffle=False).create_dict_iterator(num_epochs=1)]
    assert labels == [9, 9, 3, 3]


def test_files_of_matlab(tmp_path):
    """What is damaged is told with the file; nothing is taken on trust."""
    from spore.dataset._matlab import load_mat
    from pathlib import Path
    import importlib.util
    spec = importlib.util.spec_from_file_location('sources_make', Path(__file__).parents[1] / 'oracle_sources' / 'make.py')
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    whole = make.mat(a=np.arange(6, dtype=np.uint8).reshape(2, 3), b=np.arange(3, dtype=np.float64).reshape(1, 3))
    path = tmp_path / 'x.mat'
    path.write_bytes(whole)
    found = load_mat(str(path))
    assert found['a'].tolist() == [[0, 1, 2], [3, 4, 5]] and found['b'].tolist() == [[0, 1, 2]]
    draw = np.random.default_rng(0)
    for _ in range(300):
        bad = bytearray(whole[:draw.integers(100, len(whole) + 1)])
        for at in draw.integers(0, len(bad), 3):
            bad[at] = draw.integers(0, 256)
        path.write_bytes(bytes(bad))
        try:
            load_mat(str(path))
        except RuntimeError as error:
            assert 'x.mat' in str(error)


@pytest.mark.parametrize('call, error, text', [
    (lambda v: v.type_check(1, (str,), 'x'), TypeError, r"Argument x with value 1 is not of type \[<class 'str'>\], but got <class 'int'>."),
    (lambda v: v.type_check_list([1, 'a'], (int,), 'x'), TypeError, r'Argument x\[1\] with value a is not'),
    (lambda v: v.type_check_list([1, 'a'], (int,), ['p', 'q']), TypeError, 'Argument q with value a is not'),
    (lambda v: v.check_value(0, [0, 3], 'x', True), ValueError, r'Input x is not within the required interval of \(0, 3\].'),
    (lambda v: v.check_range([3, 1], [0, 9], 'x'), ValueError, r'Input x is not within the required interval of \[0, 9\].'),
    (lambda v: v.check_uint8(256, 'x'), ValueError, r'Input x is not within the required interval of \[0, 255\].'),
    (lambda v: v.check_valid_str('q', ['a', 'b'], 'x'), ValueError, r"Input x is not within the valid set of \['a', 'b'\]."),
    (lambda v: v.check_dir('/nothing/there'), ValueError, 'The folder /nothing/there does not exist'),
    (lambda v: v.check_num_samples(-1), ValueError, 'num_samples exceeds the boundary')])
def test_checks_for_transforms_of_users(call, error, text):
    """With MindSpore's words."""
    from spore.dataset.core import validator_helpers
    with pytest.raises(error, match=text):
        call(validator_helpers)
    assert validator_helpers.parse_user_args(lambda a, b=2: None, 1)[0] == [1, 2] and validator_helpers.replace_none(None, 3) == 3


def test_one_value_has_no_end():
    assert transforms.PadEnd([4], 7)(np.array(3)).tolist() == 3 and transforms.PadEnd([4])(np.array('a')).tolist() == 'a'


def test_autotune_writes_its_configuration(tmp_path):
    (tmp_path / 'lines.txt').write_text('a\nb\nc\n')
    data = ds.TextFileDataset(str(tmp_path / 'lines.txt'), shuffle=False, num_parallel_workers=1).batch(2, num_parallel_workers=1)
    ds.config.set_enable_autotune(True, str(tmp_path / 'tune'))
    try:
        iterator = data.create_tuple_iterator(num_epochs=1)
        next(iterator)
    finally:
        ds.config.set_enable_autotune(False)
    del iterator
    path = tmp_path / 'tune_0.json'
    made = json.loads(path.read_text())
    assert made['summary'] == ["TextFileOp(ID:2)    (num_parallel_workers: 1, prefetch_size:16)",
                               "BatchOp(ID:1)       (num_parallel_workers: 1, prefetch_size:16)"]
    assert rows(ds.deserialize(json_filepath=str(path))) == rows(data)


def test_a_seed_that_is_kept_and_put_back_is_none():
    script = ("import spore.dataset as ds\n"
              "def order(): return [int(x) for x, in ds.NumpySlicesDataset(list(range(20))).create_tuple_iterator(num_epochs=1, output_numpy=True)]\n"
              "before = ds.config.get_seed()\n"
              "ds.config.set_seed(3)\n"
              "assert order() == order()\n"
              "ds.config.set_seed(before)\n"
              "assert before == ds.config.get_seed() == 5489 and order() != order()\n")
    assert subprocess.run([sys.executable, '-c', script]).returncode == 0


def picture(path, number):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes([255, 216, 255, number]))


def test_usage_in_manifests_is_compared_without_case(tmp_path):
    lines = []
    for i, usage in enumerate(['TRAIN', 'train', 'Train', 'EVAL', 'eval', 'INFERENCE']):
        picture(tmp_path / 'p' / f'{i}.jpg', i)
        lines.append(json.dumps({'source': str(tmp_path / 'p' / f'{i}.jpg'), 'usage': usage, 'annotation': [
            {'name': 'cat' if i % 2 else 'dog', 'type': 'modelarts/image_classification'}]}))
    (tmp_path / 'm.manifest').write_text('\n'.join(lines))
    found = {usage: [(row[0][3], row[1]) for row in rows(ds.ManifestDataset(str(tmp_path / 'm.manifest'), usage, shuffle=False))]
             for usage in ('train', 'eval', 'inference')}
    assert found == {'train': [(0, 1), (1, 0), (2, 1)], 'eval': [(3, 0), (4, 1)], 'inference': [(5, 0)]}


def test_pictures_come_by_folder_whatever_the_order_of_the_classes(tmp_path):
    for i, name in enumerate('abc'):
        picture(tmp_path / name / '0.jpg', i)
    data = ds.ImageFolderDataset(str(tmp_path), shuffle=False, class_indexing={'c': 0, 'a': 1})
    assert [(row[0][3], row[1]) for row in rows(data)] == [(0, 1), (2, 0)] and data.num_classes() == 2
    with pytest.raises(RuntimeError, match="class: x doesn't exist"):
        ds.ImageFolderDataset(str(tmp_path), class_indexing={'a': 3, 'x': 1}).num_classes()


def test_names_of_captioned_pictures(tmp_path):
    """What follows the host of the published addresses, however long the host of others is."""
    urls = ['http://static.flickr.com/2723/4385_b0.jpg', 'http://farm3.static.flickr.com/2361/abc_1.jpg', 'http://static.flickr.com/ab/cd.jpg']
    for i, name in enumerate(['m_2723_4385_b0.jpg', 'm_2361_abc_1.jpg', 'm_ab_cd.jpg']):
        picture(tmp_path / 'sbu_images' / name, i)
    (tmp_path / 'SBU_captioned_photo_dataset_urls.txt').write_text('\n'.join(urls) + '\n')
    (tmp_path / 'SBU_captioned_photo_dataset_captions.txt').write_text('one\ntwo\nthree\n')
    assert [(row[0][3], row[1]) for row in rows(ds.SBUDataset(str(tmp_path), shuffle=False))] == [(0, 'one'), (2, 'three')]

# SPDX-License-Identifier: Apache-2.0
"""Rows through a cache are those of the pipeline without it: values, order, shuffles, shards, what is random behind it."""
import os
import subprocess
import sys
import time

import numpy as np
import pytest
import spore.dataset as ds
from spore.dataset import transforms, vision
from spore.mindrecord import FileWriter

from conftest import BUILD, rows

MNIST = os.path.join(os.path.dirname(__file__), '..', '..', 'data', 'mnist')


@pytest.fixture(scope='module')
def files(tmp_path_factory, pictures):
    folder = tmp_path_factory.mktemp('files')
    for i in range(3):
        (folder / f'{i}.txt').write_text('\n'.join(f'Zeile {i} {k} äß' * (k % 4 + 1) for k in range(7 + i)), encoding='utf-8')
        (folder / f'{i}.csv').write_text('\n'.join(f'{k},{k * .5},word{k}' for k in range(9)), encoding='utf-8')
    writer = FileWriter(str(folder / 'r.mindrecord'), 1)
    writer.add_schema({'n': {'type': 'int32'}, 'x': {'type': 'float32', 'shape': [-1]}, 'b': {'type': 'bytes'}, 's': {'type': 'string'}}, 'rows')
    writer.write_raw_data([{'n': i, 'x': np.arange(i + 1, dtype=np.float32), 'b': bytes([i, 0]), 's': f'ü{i}'} for i in range(20)])
    writer.commit()
    return folder


def decode(**k):
    return lambda files, pictures, cache: ds.ImageFolderDataset(pictures, **k).map([vision.Decode(), vision.Resize((8, 9))], 'image', cache=cache)


PIPELINES = {
    'pictures': lambda f, p, c: ds.ImageFolderDataset(p, shuffle=False, cache=c),
    'pictures, decoded by the source': lambda f, p, c: ds.ImageFolderDataset(p, shuffle=True, decode=True, cache=c),
    'map': decode(shuffle=False), 'map, shuffled': decode(shuffle=True), 'map, first ones': decode(num_samples=7, shuffle=False),
    'map, a shard': decode(num_shards=5, shard_id=3, shuffle=True), 'map, a sampler': decode(sampler=ds.WeightedRandomSampler(np.arange(24.), 30)),
    'map, chosen': decode(sampler=[3, 3, 1, 20]), 'map, classes': decode(sampler=ds.PKSampler(4)),
    'function': lambda f, p, c: ds.ImageFolderDataset(p, decode=True, shuffle=True).map(lambda x: x[::2] // 2, 'image', cache=c),
    'two functions': lambda f, p, c: ds.ImageFolderDataset(p, decode=True, shuffle=True).map(lambda x: x + 1, 'image').map(lambda n: (n, n * 2), 'label', ['a', 'b'], cache=c),
    'augmented behind': lambda f, p, c: decode(shuffle=True)(f, p, c).map([vision.RandomCrop(6), vision.RandomHorizontalFlip(), vision.RandomColorAdjust(.5)], 'image').batch(5),
    'shuffled behind': lambda f, p, c: decode(shuffle=False)(f, p, c).shuffle(10).repeat(2).batch(4, drop_remainder=True),
    'shuffled below': lambda f, p, c: ds.ImageFolderDataset(p, shuffle=False).shuffle(9).map(vision.Decode(), 'image', cache=c),
    'zipped behind': lambda f, p, c: ds.zip((decode(shuffle=False)(f, p, c), ds.NumpySlicesDataset(list(range(30)), ['k'], shuffle=False))).skip(2).take(11),
    'filtered behind': lambda f, p, c: decode(shuffle=True)(f, p, c).filter(lambda n: n == 1, 'label'),
    'lines': lambda f, p, c: ds.TextFileDataset(sorted(map(str, f.glob('*.txt'))), shuffle=False, cache=c),
    'lines, shuffled': lambda f, p, c: ds.TextFileDataset(sorted(map(str, f.glob('*.txt'))), shuffle=True, cache=c),
    'lines, files shuffled, a shard': lambda f, p, c: ds.TextFileDataset(sorted(map(str, f.glob('*.txt'))), shuffle=ds.Shuffle.FILES, num_shards=3, shard_id=1, cache=c),
    'csv': lambda f, p, c: ds.CSVDataset(sorted(map(str, f.glob('*.csv'))), column_defaults=[1, .5, ''], column_names=['a', 'b', 'c'], shuffle=True, cache=c),
    'records': lambda f, p, c: ds.MindDataset(str(f / 'r.mindrecord'), shuffle=True, cache=c),
    'records, a shard, mapped': lambda f, p, c: ds.MindDataset(str(f / 'r.mindrecord'), shuffle=True, num_shards=3, shard_id=2).map(transforms.TypeCast('float64'), 'x', cache=c),
    'digits': lambda f, p, c: ds.MnistDataset(MNIST, 'test', num_samples=50, shuffle=True, cache=c),
    'made pictures': lambda f, p, c: ds.FakeImageDataset(6, (4, 4, 3), 3, shuffle=True, cache=c),
}


@pytest.mark.parametrize('name', PIPELINES)
def test_rows_are_those_without_a_cache(shared, files, pictures, name):
    before = ds.config.get_num_parallel_workers(), ds.config.get_seed()
    try:
        ds.config.set_seed(11)
        ds.config.set_num_parallel_workers(1)
        plain = rows(PIPELINES[name](files, pictures, None), 3)
        assert any(plain)
        session = shared.session()
        for workers in (4, 1):       # the second job finds all rows there
            ds.config.set_num_parallel_workers(workers)
            cache = ds.DatasetCache(session, port=shared.port)
            assert rows(PIPELINES[name](files, pictures, cache), 3) == plain
            stat = cache.get_stat()
            assert stat.num_mem_cached > 0 and stat.avg_cache_sz > 0 and stat.num_disk_cached == 0
    finally:
        ds.config.set_num_parallel_workers(before[0])
        ds.config.set_seed(before[1])


def test_a_row_is_made_once(shared, pictures):
    calls = []

    def see(image):
        calls.append(1)
        return image
    cache = ds.DatasetCache(shared.session(), port=shared.port)
    data = ds.ImageFolderDataset(pictures, decode=True, shuffle=True).map(see, 'image', cache=cache)
    rows(data, 4)
    assert len(calls) == 24 and cache.get_stat().num_mem_cached == 24


def test_what_is_given_out_can_be_written_to(shared, pictures):
    cache = ds.DatasetCache(shared.session(), port=shared.port)
    data = ds.ImageFolderDataset(pictures, decode=True, shuffle=False, cache=cache)
    plain = rows(data)
    for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
        row[0][:] = 7
    for row in data.map(lambda x: x.fill(3) or x, 'image').create_tuple_iterator(num_epochs=1):
        row[0][:] = 5
    assert rows(data) == plain


def test_a_position_is_found_again(shared, pictures):
    cache = ds.DatasetCache(shared.session(), port=shared.port)
    data = ds.ImageFolderDataset(pictures, decode=True, shuffle=False, cache=cache)
    plain = rows(data)[0]
    data.set_init_step(5)
    assert rows(data)[0] == plain[5:]


# --- what a cache is of ------------------------------------------------------------------------------------------------

def listed(server, session):
    import json
    return [entry for entry in json.loads(server.ask('list', '--json').stdout) if entry['session'] == session and entry['cache']]


def test_shards_and_orders_share_a_cache(shared, pictures):
    session = shared.session()
    rows(decode(num_samples=3, shuffle=True)(None, pictures, ds.DatasetCache(session, port=shared.port)))
    for shard in range(3):
        rows(decode(num_shards=3, shard_id=shard, shuffle=False)(None, pictures, ds.DatasetCache(session, port=shared.port)))
    assert [entry['rows_in_memory'] for entry in listed(shared, session)] == [24]


def offset_by(n):
    return lambda x: x + n


@pytest.mark.parametrize('one, other', [
    (lambda p, c: ds.ImageFolderDataset(p).map([vision.Decode(), vision.Resize(8)], 'image', cache=c),
     lambda p, c: ds.ImageFolderDataset(p).map([vision.Decode(), vision.Resize(9)], 'image', cache=c)),
    (lambda p, c: ds.ImageFolderDataset(p, decode=True).map(offset_by(1), 'image', cache=c), lambda p, c: ds.ImageFolderDataset(p, decode=True).map(offset_by(2), 'image', cache=c)),
    (lambda p, c: ds.ImageFolderDataset(p, decode=True).map(lambda x: x + 1, 'image', cache=c), lambda p, c: ds.ImageFolderDataset(p, decode=True).map(lambda x: x + 2, 'image', cache=c)),
    (lambda p, c: ds.ImageFolderDataset(p, decode=True, cache=c), lambda p, c: ds.ImageFolderDataset(p, cache=c)),
    (lambda p, c: ds.ImageFolderDataset(p, cache=c), lambda p, c: ds.ImageFolderDataset(p, class_indexing={'a': 3, 'b': 4}, cache=c)),
    (lambda p, c: ds.ImageFolderDataset(p).map(vision.Decode(), 'image', ['x'], cache=c), lambda p, c: ds.ImageFolderDataset(p).map(vision.Decode(), 'image', ['y'], cache=c)),
])
def test_another_pipeline_is_another_cache(shared, pictures, one, other):
    session = shared.session()
    for make in (one, other, one):
        rows(make(pictures, ds.DatasetCache(session, port=shared.port)))
    assert len(listed(shared, session)) == 2


def test_a_changed_file_is_another_cache(shared, tmp_path):
    path = tmp_path / 'a.txt'
    session = shared.session()
    for text in ('one\ntwo', 'owe\ntwo', 'one\ntwo\nthree'):
        path.write_text(text)
        os.utime(path, ns=(time.time_ns(), time.time_ns()))
        data = ds.TextFileDataset(str(path), shuffle=False, cache=ds.DatasetCache(session, port=shared.port))
        assert [str(row[0]) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)] == text.split('\n')
    assert len(listed(shared, session)) == 3


def test_a_picture_changed_between_two_iterators(shared, tmp_path):
    (tmp_path / 'a').mkdir()
    path = str(tmp_path / 'a' / '0.png')
    vision.write_png(path, np.zeros((4, 4, 3), np.uint8))
    data = ds.ImageFolderDataset(str(tmp_path), decode=True, cache=ds.DatasetCache(shared.session(), port=shared.port))
    assert next(iter(data.create_tuple_iterator(output_numpy=True)))[0].max() == 0
    vision.write_png(path, np.full((4, 4, 3), 9, np.uint8))
    assert next(iter(data.create_tuple_iterator(output_numpy=True)))[0].min() == 9


JOB = '''
import sys, hashlib
import spore.dataset as ds
from spore.dataset import vision
folder, port, session, shard = sys.argv[1], *map(int, sys.argv[2:])
ds.config.set_seed(3)
cache = ds.DatasetCache(session, port=port) if port else None
order = dict(num_shards=2, shard_id=shard) if shard >= 0 else {}
data = ds.ImageFolderDataset(folder, shuffle=True, **order).map([vision.Decode(), vision.Resize((30, 30))], 'image', cache=cache)
digest = hashlib.sha256()
for epoch in range(5):
    for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
        digest.update(row[0].tobytes() + row[1].tobytes())
print(digest.hexdigest())
'''


@pytest.mark.parametrize('shards', [(-1, -1), (0, 1)])
def test_jobs_side_by_side(shared, pictures, shards):
    session = shared.session()

    def start(port, shard):
        return subprocess.Popen([sys.executable, '-c', JOB, pictures, str(port), str(session), str(shard)], stdout=subprocess.PIPE, text=True)
    wanted = [start(0, shard).communicate(timeout=120)[0] for shard in shards]
    jobs = [start(shared.port, shard) for shard in shards]
    assert [job.communicate(timeout=120)[0] for job in jobs] == wanted
    assert [entry['rows_in_memory'] for entry in listed(shared, session)] == [24]


# --- rules -----------------------------------------------------------------------------------------------------------------

def two(p):
    return ds.ImageFolderDataset(p)


@pytest.mark.parametrize('make, words', [
    (lambda p, c: two(p).map([vision.Decode(), vision.RandomHorizontalFlip()], 'image', cache=c), 'MapNode containing random operation is not supported as a descendant of cache'),
    (lambda p, c: two(p).map([vision.Decode(), vision.RandomHorizontalFlip()], 'image').map(vision.HWC2CHW(), 'image', cache=c), 'MapNode containing random operation'),
    (lambda p, c: two(p).map(transforms.Compose([vision.Decode(), vision.RandomCrop(3)]), 'image', cache=c), 'MapNode containing random operation'),
    (lambda p, c: two(p).batch(2).map(vision.HWC2CHW(), 'image', cache=c), 'BatchNode is not supported as a descendant operator under a cache'),
    (lambda p, c: two(p).take(3).map(vision.Decode(), 'image', cache=c), r'TakeNode \(possibly from Split\) is not supported as a descendant operator under a cache'),
    (lambda p, c: two(p).skip(3).map(vision.Decode(), 'image', cache=c), 'SkipNode is not supported as a descendant operator under a cache'),
    (lambda p, c: two(p).filter(lambda n: n > 0, 'label').map(vision.Decode(), 'image', cache=c), 'FilterNode is not supported as a descendant operator under a cache'),
    (lambda p, c: (two(p) + two(p)).map(vision.Decode(), 'image', cache=c), 'ConcatNode is not supported as a descendant operator under a cache'),
    (lambda p, c: ds.zip((two(p), two(p).rename(['image', 'label'], ['i', 'l']))).map(vision.Decode(), 'image', cache=c), 'ZipNode is not supported as a descendant operator under a cache'),
    (lambda p, c: two(p).repeat(2).map(vision.Decode(), 'image', cache=c), 'A cache over a RepeatNode of a mappable dataset is not supported'),
    (lambda p, c: ds.GeneratorDataset([(1,), (2,)], ['n']).map(transforms.Fill(1), 'n', cache=c), 'no support for GeneratorOp under cache'),
    (lambda p, c: ds.NumpySlicesDataset([1, 2], ['n']).map(transforms.Fill(1), 'n', cache=c), 'no support for GeneratorOp under cache'),
    (lambda p, c: ds.ImageFolderDataset(p, cache=c).map(vision.Decode(), 'image', cache=c), 'Nested cache operations over ImageFolderDataset is not supported'),
])
def test_what_may_not_stand_below_a_cache(shared, pictures, make, words):
    cache = ds.DatasetCache(shared.session(), port=shared.port)
    with pytest.raises(RuntimeError, match=words):
        make(pictures, cache).create_tuple_iterator()


def test_one_object_one_tree(shared, pictures):
    cache = ds.DatasetCache(shared.session(), port=shared.port)
    assert rows(two(pictures).map(vision.Decode(), 'image', cache=cache))
    assert rows(two(pictures).map(vision.Decode(), 'image', cache=cache))
    with pytest.raises(RuntimeError, match='Cannot re-use a cache for a different tree!'):
        rows(ds.ImageFolderDataset(pictures, cache=cache))


def test_split_parts_share_a_cache(shared, pictures):
    session = shared.session()
    for part in two(pictures).split([10, 14]):
        rows(part.map(vision.Decode(), 'image', cache=ds.DatasetCache(session, port=shared.port)))
    assert [entry['rows_in_memory'] for entry in listed(shared, session)] == [24]


@pytest.mark.parametrize('given, kind, words', [
    (dict(hostname=5), TypeError, 'hostname'), (dict(port='1'), TypeError, 'port'), (dict(port=80), ValueError, r'Input port is not within the required interval of \[1025, 65535\]'),
    (dict(num_connections=0), ValueError, 'num_connections'), (dict(prefetch_size=0), ValueError, 'prefetch_size'), (dict(spilling=1), TypeError, 'spilling'),
    (dict(size='a'), TypeError, 'size'), (dict(size=-1), ValueError, 'size'), (dict(size=1 << 65), ValueError, 'size'), (dict(session_id=0), ValueError, 'session_id'),
    (dict(session_id=1 << 32), ValueError, 'session_id'), (dict(session_id=None), TypeError, 'session_id'), (dict(hostname='localhost'), RuntimeError, 'cache client has to be on the same host'),
    (dict(on_lost='x'), ValueError, 'on_lost'), (dict(auto=True, port=50052), ValueError, 'private'),
])
def test_wrong_settings(given, kind, words):
    with pytest.raises(kind, match=words):
        ds.DatasetCache(**{'session_id': 1, **given})


def test_no_server_no_session_no_spill(shared, pictures):
    with pytest.raises(RuntimeError, match='is unreachable. Make sure the server is running: start one with .spore cache start --port 1234.'):
        rows(ds.ImageFolderDataset(pictures, cache=ds.DatasetCache(1, port=1234)))
    with pytest.raises(RuntimeError, match='Session id 7 not found'):
        rows(ds.ImageFolderDataset(pictures, cache=ds.DatasetCache(7, port=shared.port)))
    with pytest.raises(RuntimeError, match='not set up with spill support'):
        rows(ds.ImageFolderDataset(pictures, cache=ds.DatasetCache(shared.session(), spilling=True, port=shared.port)))
    with pytest.raises(RuntimeError, match='Out of memory'):
        rows(ds.ImageFolderDataset(pictures, cache=ds.DatasetCache(shared.session(), size=1 << 40, port=shared.port)))
    with pytest.raises(RuntimeError, match='GetStat called but the cache is not in use yet'):
        ds.DatasetCache(shared.session(), port=shared.port).get_stat()


def test_a_private_server_ends_with_its_last_user(pictures):
    script = ("import sys, json, subprocess\nimport spore.dataset as ds\nfrom spore.dataset import vision\n"
              "cache = ds.DatasetCache(auto=True, spilling=True)\n"
              "data = ds.ImageFolderDataset(sys.argv[1]).map(vision.Decode(), 'image', cache=cache)\n"
              "for _ in range(2): list(data.create_tuple_iterator(num_epochs=1))\n"
              "assert cache.get_stat().num_mem_cached == 24\n"
              "print(cache.cache_address)\n")
    done = subprocess.run([sys.executable, '-c', script, pictures], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    address = done.stdout.strip()
    for _ in range(600):
        gone = subprocess.run([os.path.join(BUILD, 'spore'), 'cache', 'info', '--port', address], capture_output=True, text=True, check=False)
        if gone.returncode:
            break
        time.sleep(0.05)
    assert 'unreachable' in gone.stderr

# SPDX-License-Identifier: Apache-2.0
"""In which order rows come for a seed. With MindSpore 2.10, in an empty folder, `python orders.py` writes orders.json beside itself:

    cd $(mktemp -d) && python .../tests/oracle_pipeline/orders.py

`orders(ms)` is shared by the recording and the test; files are made in the working folder."""
import json
import pathlib
import zlib

import numpy as np

DATA = pathlib.Path(__file__).with_name("orders.json")


def rows(data, epochs=3, column=0):
    iterator = data.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [[int(np.asarray(row[column]).ravel()[0]) for row in iterator] for _ in range(epochs)]


def short(epochs):
    """Long epochs as their beginning and a checksum."""
    return [e if len(e) <= 60 else e[:10] + [zlib.crc32(np.asarray(e, np.int64).tobytes())] for e in epochs]


def numbers(ds, count, **options):
    return ds.NumpySlicesDataset(np.arange(count), ["n"], **options)


def samplers(ds):
    yield "random", numbers(ds, 20, shuffle=True)
    yield "random of 1000", numbers(ds, 1000, shuffle=True)
    yield "random of 70001", numbers(ds, 70001, shuffle=True)
    yield "random of 1", numbers(ds, 1, shuffle=True)
    yield "random of 2", numbers(ds, 2, shuffle=True)
    yield "random of 7", numbers(ds, 7, sampler=ds.RandomSampler())
    yield "random, some", numbers(ds, 20, sampler=ds.RandomSampler(num_samples=5))
    yield "replacement", numbers(ds, 1000, sampler=ds.RandomSampler(replacement=True, num_samples=50))
    yield "list", ds.GeneratorDataset(list(range(20)), ["n"], shuffle=True)
    yield "shards", numbers(ds, 21, shuffle=True, num_shards=2, shard_id=0)
    yield "shards, other", numbers(ds, 21, shuffle=True, num_shards=2, shard_id=1)
    yield "distributed", numbers(ds, 21, sampler=ds.DistributedSampler(4, 3))
    yield "subset", numbers(ds, 20, sampler=ds.SubsetRandomSampler([3, 5, 7, 9, 11, 13]))
    yield "weighted", numbers(ds, 20, sampler=ds.WeightedRandomSampler([1.0] * 10 + [3.0] * 10, 10))
    yield "weighted, once", numbers(ds, 20, sampler=ds.WeightedRandomSampler([1.0] * 10 + [3.0] * 10, 10, False))
    child = ds.RandomSampler()
    child.add_child(ds.SubsetSampler([1, 3, 5, 7, 9, 11]))
    yield "random of a subset", numbers(ds, 20, sampler=child)
    child = ds.DistributedSampler(2, 0)
    child.add_child(ds.RandomSampler())
    yield "shards of random", numbers(ds, 20, sampler=child)


def operations(ds):
    yield "buffer", numbers(ds, 50, shuffle=False).shuffle(7)
    yield "buffer for all", numbers(ds, 50, shuffle=False).shuffle(50)
    yield "buffer for more", numbers(ds, 50, shuffle=False).shuffle(100)
    yield "buffer, repeated", numbers(ds, 10, shuffle=False).shuffle(7).repeat(2)
    yield "buffer, some taken", numbers(ds, 50, shuffle=False).shuffle(7).take(5)
    yield "buffer after random", numbers(ds, 30, shuffle=True).shuffle(4)
    yield "buffer, batched", numbers(ds, 30, shuffle=False).shuffle(9).batch(4)
    yield "random, repeated", numbers(ds, 6, shuffle=True).repeat(3)
    yield "pairs", ds.zip((numbers(ds, 10, shuffle=True), ds.NumpySlicesDataset(np.arange(10), ["m"], shuffle=True)))
    for name, part in zip("ab", numbers(ds, 20, shuffle=False).split([0.7, 0.3])):
        yield f"split {name}", part
    for name, part in zip("ab", numbers(ds, 20, shuffle=False).split([0.7, 0.3], randomize=False)):
        yield f"split as it is {name}", part
    for name, part in zip("ab", ds.GeneratorDataset(lambda: iter([(np.int64(i),) for i in range(20)]), ["n"]).split([0.7, 0.3])):
        yield f"split of a generator {name}", part


def records(ms, ds):
    for name, shards in (("one.mindrecord", 1), ("three.mindrecord", 3)):
        writer = ms.mindrecord.FileWriter(name, shards, True)
        writer.add_schema({"n": {"type": "int64"}}, "numbers")
        writer.write_raw_data([{"n": i} for i in range(20)])
        writer.commit()
    yield "record", ds.MindDataset("one.mindrecord")
    yield "record of three files", ds.MindDataset("three.mindrecord0", shuffle=True)
    yield "record in shards", ds.MindDataset("one.mindrecord", shuffle=True, num_shards=2, shard_id=0)
    yield "record in shards, other", ds.MindDataset("one.mindrecord", shuffle=True, num_shards=2, shard_id=1)


def orders(ms):
    """Pairs of a name and the rows of three epochs."""
    ds = ms.dataset
    for seed in (1, 123456789):
        ms.set_seed(seed)
        for data in (samplers(ds), operations(ds), records(ms, ds)):
            for name, made in data:
                yield f"{name}, seed {seed}", short(rows(made))
    made = numbers(ds, 21, shuffle=True, num_shards=3, shard_id=2)
    made.get_dataset_size()
    yield "shards after their size was asked for", rows(made, 1)
    yield "shards a second time", rows(made, 1)


if __name__ == "__main__":
    import mindspore
    import mindspore.dataset
    import mindspore.mindrecord
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in orders(mindspore)]
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

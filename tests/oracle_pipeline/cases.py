# SPDX-License-Identifier: Apache-2.0
"""Small pipelines whose rows are in a fixed order: what is asked of MindSpore and of spore alike.

A case is a function of the framework's dataset and transforms modules; `ask` gives what it makes as plain values, or the
name of the exception.
"""
import numpy as np


def pairs(ds, n=6, **kwargs):
    return ds.NumpySlicesDataset((np.arange(n), np.arange(n * 2, dtype=np.float32).reshape(n, 2)), ['a', 'b'],
                                 **{'shuffle': False, **kwargs})


def ragged(ds):
    return ds.GeneratorDataset([(np.arange(k, dtype=np.int32), np.int64(k)) for k in (1, 3, 2, 5, 4)], ['v', 'k'],
                               shuffle=False)


def iterable(ds):
    def rows():
        for i in range(5):
            yield np.int32(i), np.float32(i / 2)
    return ds.GeneratorDataset(rows, ['i', 'f'])


class Even:
    """A sampler in the way of users: only iterable."""

    def __iter__(self):
        return iter([0, 2, 4])


CASES = {
    'rows': lambda ds, tr: pairs(ds),
    'dict': lambda ds, tr: ds.NumpySlicesDataset({'x': [1, 2, 3], 'y': ['p', 'qq', 'r']}, shuffle=False),
    'dict_batch': lambda ds, tr: ds.NumpySlicesDataset({'x': [1, 2, 3], 'y': ['p', 'qq', 'r']}, shuffle=False).batch(2),
    'batch': lambda ds, tr: pairs(ds).batch(4),
    'batch_drop': lambda ds, tr: pairs(ds).batch(4, drop_remainder=True),
    'batch_callable': lambda ds, tr: pairs(ds).batch(lambda info: info.get_batch_num() + 1),
    'batch_map': lambda ds, tr: pairs(ds).batch(2, per_batch_map=lambda a, info: ([x * 10 + info.get_batch_num() for x in a],),
                                                input_columns=['a']),
    'batch_map_new': lambda ds, tr: pairs(ds).batch(3, per_batch_map=lambda b, info: (b, [x.sum() for x in b]),
                                                    input_columns=['b'], output_columns=['b', 's']),
    'batch_ragged': lambda ds, tr: ragged(ds).batch(2),
    'padded': lambda ds, tr: ragged(ds).padded_batch(2, pad_info={'v': ([6], -1)}),
    'padded_largest': lambda ds, tr: ragged(ds).padded_batch(3, pad_info={'v': ([None], 7)}),
    'padded_all': lambda ds, tr: ragged(ds).project(['v']).padded_batch(2, drop_remainder=True),
    'padded_small': lambda ds, tr: ragged(ds).padded_batch(5, pad_info={'v': ([2], 0)}),
    'buckets': lambda ds, tr: ragged(ds).bucket_batch_by_length(['v'], [2, 4], [2, 2, 2], pad_info={'v': ([None], 0)}),
    'buckets_bound': lambda ds, tr: ragged(ds).bucket_batch_by_length(['v'], [3, 6], [2, 2, 2], None, {'v': ([None], -1)}, True),
    'map': lambda ds, tr: pairs(ds).map(lambda b: b * 2, 'b'),
    'map_list': lambda ds, tr: pairs(ds).map([lambda a: a + 1, lambda a: (a, a * a)], 'a', ['a', 'square']),
    'map_join': lambda ds, tr: pairs(ds).map(lambda a, b: a + b.sum(), ['a', 'b'], ['c']),
    'map_swap': lambda ds, tr: pairs(ds).map(lambda b, a: (a, b), ['b', 'a'], ['x', 'y']),
    'map_first': lambda ds, tr: pairs(ds).map(lambda a: a - 1),
    'map_scalar': lambda ds, tr: pairs(ds).map(lambda a: int(a) + 1, 'a'),
    'map_cast': lambda ds, tr: pairs(ds).map(tr.TypeCast(np.float16), 'b'),
    'map_mixed': lambda ds, tr: pairs(ds).map([tr.TypeCast(np.int32), lambda b: b + 1, tr.TypeCast(np.float64)], 'b'),
    'map_onehot': lambda ds, tr: pairs(ds).map(tr.OneHot(8), 'a'),
    'map_duplicate': lambda ds, tr: pairs(ds).map(tr.Duplicate(), 'a', ['a', 'a2']),
    'map_wrong_count': lambda ds, tr: pairs(ds).map(lambda a: (a, a), 'a'),
    'map_raises': lambda ds, tr: pairs(ds).map(lambda a: 1 // 0, 'a'),
    'map_no_column': lambda ds, tr: pairs(ds).map(lambda a: a, 'zz'),
    'filter': lambda ds, tr: pairs(ds).filter(lambda a: a % 2 == 1, 'a'),
    'filter_batch': lambda ds, tr: pairs(ds, 9).filter(lambda a: bool(a % 3), 'a').batch(4),
    'repeat': lambda ds, tr: pairs(ds, 2).repeat(3),
    'repeat_batch': lambda ds, tr: pairs(ds, 3).repeat(2).batch(4),
    'batch_repeat': lambda ds, tr: pairs(ds, 3).batch(2).repeat(2),
    'skip_take': lambda ds, tr: pairs(ds).skip(1).take(3),
    'take_more': lambda ds, tr: pairs(ds).take(99),
    'skip_all': lambda ds, tr: pairs(ds).skip(99),
    'zip': lambda ds, tr: ds.zip((pairs(ds), ragged(ds))),
    'zip_same': lambda ds, tr: ds.zip((pairs(ds), pairs(ds))),
    'concat': lambda ds, tr: pairs(ds, 2) + pairs(ds, 3),
    'concat_other': lambda ds, tr: pairs(ds, 2).concat(ragged(ds)),
    'project': lambda ds, tr: pairs(ds).project(['b']),
    'project_order': lambda ds, tr: pairs(ds).project(['b', 'a']),
    'project_missing': lambda ds, tr: pairs(ds).project(['q']),
    'rename': lambda ds, tr: pairs(ds).rename(['b', 'a'], ['x', 'y']),
    'rename_missing': lambda ds, tr: pairs(ds).rename(['q'], ['x']),
    'iterable': lambda ds, tr: iterable(ds).batch(2),
    'iterable_samples': lambda ds, tr: iterable(ds).take(3),
    'shard': lambda ds, tr: pairs(ds, 7, num_shards=3, shard_id=2),
    'samples': lambda ds, tr: pairs(ds, num_samples=4),
    'sequential': lambda ds, tr: pairs(ds, shuffle=None, sampler=ds.SequentialSampler(2, 3)),
    'subset': lambda ds, tr: pairs(ds, shuffle=None, sampler=ds.SubsetSampler([4, 0, 4])),
    'distributed': lambda ds, tr: pairs(ds, shuffle=None, sampler=ds.DistributedSampler(4, 3, shuffle=False)),
    'user_sampler': lambda ds, tr: ds.GeneratorDataset(list(range(6)), ['n'], sampler=Even()),
    'index_list': lambda ds, tr: ds.GeneratorDataset(list(range(6)), ['n'], sampler=[5, 3]),
    'split': lambda ds, tr: pairs(ds).split([4, 2], randomize=False)[1],
    'texts': lambda ds, tr: ds.NumpySlicesDataset(['a', 'bcd', 'ef'], ['s'], shuffle=False).batch(3),
    'bytes': lambda ds, tr: ds.GeneratorDataset([(np.array([b'ab', b'c']),)], ['s'], shuffle=False),
    'python_numbers': lambda ds, tr: ds.GeneratorDataset([(1, 2.5, True)], ['i', 'f', 'b'], shuffle=False),
    'wrong_columns': lambda ds, tr: ds.GeneratorDataset([(1, 2)], ['a'], shuffle=False),
    'batch_zero': lambda ds, tr: pairs(ds).batch(0),
    'batch_text': lambda ds, tr: pairs(ds).batch('2'),
    'shuffle_one': lambda ds, tr: pairs(ds).shuffle(1),
    'take_zero': lambda ds, tr: pairs(ds).take(0),
    'shard_alone': lambda ds, tr: pairs(ds, num_shards=2),
    'sampler_and_shuffle': lambda ds, tr: pairs(ds, shuffle=True, sampler=ds.SequentialSampler()),
    'no_names': lambda ds, tr: ds.GeneratorDataset([1]),
    'generator_object': lambda ds, tr: ds.GeneratorDataset(((np.array([i]),) for i in range(4)), ['a']),
    'zip_object': lambda ds, tr: ds.GeneratorDataset(zip([1, 2], [3, 4]), ['a', 'b'], shuffle=False),
    'rows_as_lists': lambda ds, tr: ds.GeneratorDataset([[1, 2.5], [3, 4.5]], ['a', 'b'], shuffle=False),
    'no_rows': lambda ds, tr: ds.GeneratorDataset([], ['a']),
    'no_len': lambda ds, tr: ds.GeneratorDataset(type('Source', (), {'__getitem__': lambda self, i: i})(), ['a']),
    'a_set': lambda ds, tr: ds.GeneratorDataset([({1},)], ['a']),
    'batch_map_all': lambda ds, tr: pairs(ds, 4).batch(2, per_batch_map=lambda a, b, info: ([x + 1 for x in a], b)),
    'batch_map_array': lambda ds, tr: pairs(ds, 4).batch(2, per_batch_map=lambda a, info: np.ones((2, 2)), input_columns=['a']),
    'batch_map_wrong': lambda ds, tr: pairs(ds, 4).batch(2, per_batch_map=lambda a, info: (a, a), input_columns=['a']),
    'batch_map_arguments': lambda ds, tr: pairs(ds, 4).batch(2, per_batch_map=lambda a, b, info: (a,), input_columns=['a']),
    'batch_arguments': lambda ds, tr: pairs(ds).batch(lambda: 2),
    'batch_none': lambda ds, tr: pairs(ds).batch(lambda info: 0),
    'padded_texts': lambda ds, tr: ds.GeneratorDataset([np.array(['a']), np.array(['b', 'c'])], ['t'], shuffle=False).padded_batch(
        2, pad_info={'t': ([3], 'pp')}),
    'padded_unknown': lambda ds, tr: ragged(ds).padded_batch(2, pad_info={'z': ([6], -1)}),
    'padded_rank': lambda ds, tr: ragged(ds).padded_batch(2, pad_info={'v': ([6, 6], -1)}),
    'bucket_too_long': lambda ds, tr: ragged(ds).bucket_batch_by_length(['v'], [2, 4], [1, 1, 1], None, {'v': ([None], 0)}, True),
    'map_none': lambda ds, tr: pairs(ds).map(lambda a: None, 'a'),
    'map_list_value': lambda ds, tr: pairs(ds).map(lambda a: [1, 2], 'a'),
    'map_class': lambda ds, tr: pairs(ds).map(tr.OneHot, 'a'),
    'map_unknown_column': lambda ds, tr: pairs(ds).map(lambda a: a, 'z'),
    'filter_numbers': lambda ds, tr: pairs(ds).filter(lambda a, b: int(a) % 3),
    'project_unknown': lambda ds, tr: pairs(ds).project(['z']),
    'rename_swap': lambda ds, tr: pairs(ds).rename(['a', 'b'], ['b', 'a']),
    'rename_taken': lambda ds, tr: pairs(ds).rename(['a'], ['b']),
    'zip_same_names': lambda ds, tr: ds.zip((pairs(ds), pairs(ds))),
    'take_more_pairs': lambda ds, tr: pairs(ds, 3).take(9),
    'skip_more': lambda ds, tr: pairs(ds, 3).skip(9),
    'split_floats': lambda ds, tr: pairs(ds, 7).split([0.33, 0.67], randomize=False)[1],
    'split_small': lambda ds, tr: pairs(ds, 2).split([0.001, 0.999])[0],
    'sampler_list': lambda ds, tr: ds.GeneratorDataset([5, 6, 7], ['a'], sampler=[2, 0, 1], num_samples=2),
    'sampler_outside': lambda ds, tr: pairs(ds, shuffle=None, sampler=ds.SubsetSampler([9])),
    'sampler_offset': lambda ds, tr: pairs(ds, 7, shuffle=None, sampler=ds.DistributedSampler(3, 2, False, offset=1)),
    'slices_uneven': lambda ds, tr: ds.NumpySlicesDataset(([1, 2], [3]), ['a', 'b'], shuffle=False),
    'byte_strings': lambda ds, tr: ds.GeneratorDataset([b'ab', b'c'], ['a'], shuffle=False),
    'empty_texts': lambda ds, tr: ds.GeneratorDataset(['', 'xyz'], ['a'], shuffle=False).batch(2),
}


def plain(value):
    values = value.tolist()
    if value.dtype.kind == 'S':
        values = [v.decode() for v in values] if isinstance(values, list) else values.decode()
    return [value.dtype.str, list(value.shape), values]


def ask(case, ds, tr):
    """What a framework makes of a case: columns, size, rows of two epochs; or its exception."""
    try:
        data = case(ds, tr)
        rows = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
        epochs = [[[plain(value) for value in row] for row in rows] for _ in range(2)]
        return {'columns': data.get_col_names(), 'size': data.get_dataset_size(), 'epochs': epochs}
    except Exception as error:      # the name is the answer
        return {'raises': type(error).__name__}

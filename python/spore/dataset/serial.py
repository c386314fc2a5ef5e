# SPDX-License-Identifier: Apache-2.0
"""Datasets as JSON and back, in MindSpore's form: a dict for each dataset, with its children inside."""
import enum
import inspect
import json
import os

import numpy as np

from spore._core import type_name as _type_name
from spore import log
from spore.dataset import config, samplers
from spore.dataset import operations as kinds
from spore.dataset.pipeline import Dataset
from spore.dataset.samplers import Shuffle
from spore.dataset.transforms import transforms as common

__all__ = ['serialize', 'deserialize', 'show', 'compare']

QUEUE = 16
ORDER = ('num_samples', 'shuffle', 'sampler', 'num_shards', 'shard_id')
# Transforms that have another name in the files.
NAMES = {'HWC2CHW': 'HwcToChw'}
# Numbers that choices have in the files.
NUMBERS = {'Inter.BILINEAR': 0, 'Inter.LINEAR': 0, 'Inter.NEAREST': 1, 'Inter.BICUBIC': 2, 'Inter.CUBIC': 2, 'Inter.AREA': 3,
           'Inter.PILCUBIC': 4, 'Inter.ANTIALIAS': 5, 'Border.CONSTANT': 0, 'Border.EDGE': 1, 'Border.REFLECT': 2,
           'Border.SYMMETRIC': 3, 'Shuffle.FALSE': 0, 'Shuffle.FILES': 1, 'Shuffle.GLOBAL': 2, 'Shuffle.INFILE': 3}


def plain(value):
    """A value as JSON can hold it."""
    if isinstance(value, (bool, str, int, float, type(None))) and not isinstance(value, enum.Enum):
        return value
    if isinstance(value, enum.Enum):
        return NUMBERS.get(f'{type(value).__name__}.{value.name}', value.value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value)


# --- writing ----------------------------------------------------------------------------------------------------------

def _operation(operation):
    if isinstance(operation, common.Compose):
        return [made for inner in operation.transforms for made in _operation(inner)]
    name = type(operation).__name__
    if not hasattr(operation, 'parse') and not hasattr(operation, '_execute_py'):
        name = getattr(operation, '__name__', name)
        log.warning("serialize: the Python function %s is written by name only; the pipeline cannot be read back", name)
        return [{'tensor_op_name': name, 'python_module': getattr(operation, '__module__', '')}]
    params = {}
    if hasattr(operation, '_given'):
        args, kwargs = operation._given
        bound = inspect.signature(type(operation)).bind(*args, **kwargs)
        bound.apply_defaults()
        params = {key: str(value).lower() if key == 'data_type' else plain(value) for key, value in bound.arguments.items()}
    return [{'tensor_op_name': NAMES.get(name, name), 'tensor_op_params': params or None}]


def _sampler(sampler):
    fields = {key: plain(value) for key, value in vars(sampler).items()
              if key not in ('child_sampler', 'class_column') and not key.startswith('_')}
    if isinstance(sampler, samplers.DistributedSampler):
        fields.update(shuffle_mode=2 if sampler._mixes() else 0, even_dist=sampler.offset == -1)
        del fields['shuffle']
    elif isinstance(sampler, samplers.RandomSampler):
        fields.update(reshuffle_each_epoch=True, shuffle_mode=2)
    fields['num_samples'] = fields.get('num_samples') or 0
    made = {'sampler_name': type(sampler).__name__, **fields}
    if sampler.child_sampler is not None:
        made['child_sampler'] = [_sampler(sampler.child_sampler)]
    return made


def _order(given):
    """The sampler that the arguments of a source stand for."""
    sampler = given.get('sampler')
    if isinstance(sampler, samplers.BuiltinSampler):
        return _sampler(sampler)
    if sampler is not None:
        return {'sampler_name': type(sampler).__name__, 'num_samples': 0}
    count, shuffle = given.get('num_samples') or 0, given.get('shuffle') not in (False, Shuffle.FALSE)
    if given.get('num_shards') is not None:
        return {'sampler_name': 'DistributedSampler', 'num_shards': given['num_shards'], 'shard_id': given['shard_id'],
                'shuffle_mode': 2 if shuffle else 0, 'num_samples': count, 'offset': -1, 'even_dist': True}
    if shuffle:
        return {'sampler_name': 'RandomSampler', 'replacement': False, 'num_samples': count, 'reshuffle_each_epoch': True,
                'shuffle_mode': 2}
    return {'sampler_name': 'SequentialSampler', 'start_index': 0, 'num_samples': count}


def arguments(data):
    """What a source was made with, by name."""
    args, kwargs = data._given
    bound = inspect.signature(type(data)).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _source(data):
    given = arguments(data)
    made = {}
    if 'sampler' in given:
        made['sampler'] = _order(given)
    elif 'shuffle' in given:
        shuffle = given['shuffle']
        made.update(num_samples=given['num_samples'] or 0, num_shards=given.get('num_shards') or 1, shard_id=given.get('shard_id') or 0,
                    shuffle=plain(shuffle) if isinstance(shuffle, Shuffle) else 2 if shuffle in (True, None) else 0)
    for name, value in given.items():
        if name in ORDER or name in ('cache', 'num_parallel_workers'):
            continue
        if name in ('source', 'data', 'schema', 'decrypt', 'batch_sampler', 'collate_fn') and not isinstance(value, (str, type(None))):
            continue        # objects of Python
        if name == 'dataset_files':
            value = getattr(data, 'dataset_files', value)
        if name == 'decrypt':
            continue
        if name == 'usage' and value is None:
            value = data.USAGE[-1] if getattr(data, 'USAGE', None) else 'all'
        made[name] = plain(value)
    return made


FIELDS = {
    kinds.BatchDataset: lambda d: {'batch_size': d._n if isinstance(d._n, int) else 0, 'drop_remainder': d._drop,
                                   'input_columns': d._inputs or [], 'output_columns': d._outputs or []},
    kinds.PaddedBatchDataset: lambda d: {'batch_size': d._n, 'drop_remainder': d._drop, 'pad_info': plain(d._pads),
                                         'input_columns': [], 'output_columns': []},
    kinds.BucketBatchByLengthDataset: lambda d: {'column_names': d._inputs, 'bucket_boundaries': d._bounds, 'bucket_batch_sizes':
                                                 d._sizes, 'pad_to_bucket_boundary': d._to_bound, 'drop_remainder': d._drop},
    kinds.MapDataset: lambda d: {'operations': [made for op in d._operations for made in _operation(op)], 'input_columns':
                                 d._inputs or [], 'output_columns': d._outputs or d._inputs or [], 'callback': []},
    kinds.FilterDataset: lambda d: {'input_columns': d._inputs or [], 'predicate': 'pyfunc'},
    kinds.ShuffleDataset: lambda d: {'buffer_size': d._n, 'reset_each_epoch': True},
    kinds.RepeatDataset: lambda d: {'count': d.count},
    kinds.SkipDataset: lambda d: {'count': d._n},
    kinds.TakeDataset: lambda d: {'count': d._n},
    kinds.ProjectDataset: lambda d: {'columns': d._chosen},
    kinds.RenameDataset: lambda d: {'input_columns': d._old, 'output_columns': d._new},
    kinds.ZipDataset: lambda d: {},
    kinds.ConcatDataset: lambda d: {'sampler': {'sampler_name': 'SequentialSampler', 'num_samples': 0, 'start_index': 0}},
}
BARE = (kinds.ShuffleDataset, kinds.RepeatDataset, kinds.SkipDataset, kinds.TakeDataset, kinds.ProjectDataset, kinds.RenameDataset,
        kinds.ConcatDataset)


def to_dict(data):
    """A dataset and what it stands on."""
    if type(data) in FIELDS:
        made = {'op_type': type(data).__name__.removesuffix('Dataset'), **FIELDS[type(data)](data)}
        made['op_type'] = 'Batch' if made['op_type'] == 'PaddedBatch' else made['op_type']
    elif not data.children:
        made = {'op_type': type(data).__name__, **_source(data)}
    else:
        raise RuntimeError(f"serialize: {_type_name(data)} cannot be written")
    if not isinstance(data, BARE):
        made.update(num_parallel_workers=data.num_parallel_workers or config.get_num_parallel_workers(), connector_queue_size=QUEUE)
    made['children'] = [to_dict(child) for child in data.children]
    return dict(sorted(made.items()))


def serialize(dataset, json_filepath=''):
    """A dataset as a dict, also written to a JSON file if one is named.

    Examples:
        >>> from spore import dataset
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3], ['n']).batch(2)
        >>> dataset.serialize(rows)['op_type']
        'Batch'
    """
    made = to_dict(dataset)
    if json_filepath:
        with open(json_filepath, 'w', encoding='utf-8') as file:
            json.dump(made, file, sort_keys=True, separators=(',', ':'))
    return made


def _summary(data, number=1):
    """A line for every dataset that has threads, sources first; numbers count from the last one."""
    lines = [line for child in data.children for line in _summary(child, number + 1)]
    if not isinstance(data, BARE):
        name = type(data).__name__.removesuffix('Dataset')
        lines.append(f"{f'{name}Op(ID:{number})':<20}(num_parallel_workers: {data.num_parallel_workers or config.get_num_parallel_workers()}, "
                     f"prefetch_size:{config.get_prefetch_size()})")
    return lines


def write_tuned(data, path):
    """What autotune leaves: the pipeline with its settings, as a file for `deserialize`."""
    made = {'remark': "The following file has been auto-generated by the Dataset AutoTune. Dataset Pipeline is not the bottleneck. No "
                      "configuration changes were made by Dataset AutoTune.",
            'summary': _summary(data), 'tree': to_dict(data)}
    try:
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(made, file, indent=4, sort_keys=True)
            file.write('\n')
    except OSError as error:
        log.warning("autotune: the settings of the pipeline cannot be written to %s: %s", path, error)


# --- reading ----------------------------------------------------------------------------------------------------------

def _made_operation(entry):
    from spore.dataset import audio, text, transforms, vision
    name = entry.get('tensor_op_name')
    if 'python_module' in entry:
        raise RuntimeError(f"deserialize: the Python function {name} is not in the file, only its name")
    name = {other: own for own, other in NAMES.items()}.get(name, name)
    for module in (vision, transforms, text, audio):
        if hasattr(module, name):
            kind = getattr(module, name)
            known = inspect.signature(kind.__init__).parameters
            params = {key: value for key, value in (entry.get('tensor_op_params') or {}).items() if key in known}
            return kind(**{key: _argument(key, value) for key, value in params.items()})
    raise RuntimeError(f"deserialize: there is no transform {name!r}")


def _argument(name, value):
    from spore.dataset.vision.utils import Border, Inter
    choices = {'interpolation': Inter, 'resample': Inter, 'padding_mode': Border}.get(name)
    if choices is not None and isinstance(value, int):
        return next(choice for choice in choices if plain(choice) == value)
    return tuple(value) if name in ('degrees', 'scale', 'ratio', 'padding', 'fill_value', 'brightness', 'contrast', 'saturation',
                                    'hue') and isinstance(value, list) else value



def _made_sampler(entry):
    name = entry['sampler_name']
    kind = getattr(samplers, name, None)
    if kind is None:
        raise RuntimeError(f"deserialize: there is no sampler {name!r}")
    known = inspect.signature(kind.__init__).parameters
    fields = {key: value for key, value in entry.items() if key in known}
    if 'shuffle_mode' in entry and name != 'RandomSampler' and 'shuffle' in known:
        fields['shuffle'] = entry['shuffle_mode'] != 0
    if fields.get('num_samples') == 0:
        fields.pop('num_samples')
    made = kind(**fields)
    for child in entry.get('child_sampler', []):
        made.add_child(_made_sampler(child))
    return made


def _made_source(entry):
    from spore import dataset
    name = entry['op_type']
    kind = getattr(dataset, name, None)
    if kind is None:
        raise RuntimeError(f"deserialize: there is no dataset {name!r}")
    if name in ('GeneratorDataset', 'NumpySlicesDataset', 'PaddedDataset'):
        raise RuntimeError(f"deserialize: the rows of {name} are objects of Python, which the file does not have")
    known = inspect.signature(kind).parameters
    fields = {key: value for key, value in entry.items() if key in known and value not in (None, [], {})}
    if 'sampler' in fields:
        fields['sampler'] = _made_sampler(fields['sampler'])
    elif 'shuffle' in fields:
        fields['shuffle'] = {0: False, 1: Shuffle.FILES}.get(fields['shuffle'], Shuffle.GLOBAL)
        if fields.get('num_shards') == 1:
            fields.pop('num_shards')
            fields.pop('shard_id', None)
    if fields.get('num_samples') == 0:
        fields.pop('num_samples')
    return kind(**fields)


MAKERS = {
    'Batch': lambda e, d: d.padded_batch(e['batch_size'], e['drop_remainder'], e.get('num_parallel_workers'), _pads(e['pad_info']))
    if 'pad_info' in e else d.batch(e['batch_size'], e['drop_remainder'], e.get('num_parallel_workers')),
    'BucketBatchByLength': lambda e, d: d.bucket_batch_by_length(e['column_names'], e['bucket_boundaries'], e['bucket_batch_sizes'],
                                                                 None, None, e['pad_to_bucket_boundary'], e['drop_remainder']),
    'Map': lambda e, d: d.map([_made_operation(op) for op in e['operations']], e['input_columns'] or None, e['output_columns'] or None,
                              num_parallel_workers=e.get('num_parallel_workers')),
    'Shuffle': lambda e, d: d.shuffle(e['buffer_size']),
    'Repeat': lambda e, d: d.repeat(e['count']),
    'Skip': lambda e, d: d.skip(e['count']),
    'Take': lambda e, d: d.take(e['count']),
    'Project': lambda e, d: d.project(e['columns']),
    'Rename': lambda e, d: d.rename(e['input_columns'], e['output_columns']),
}


def _pads(info):
    return None if info is None else {name: (pair[0], pair[1]) for name, pair in info.items()}


def from_dict(entry):
    """The dataset that a dict describes; also one of autotune's files, which have it inside."""
    entry = entry.get('tree', entry)
    children = [from_dict(child) for child in entry.get('children', [])]
    kind = entry.get('op_type')
    if not children:
        return _made_source(entry)
    if kind == 'Zip':
        return kinds.ZipDataset(tuple(children))
    if kind == 'Concat':
        return kinds.ConcatDataset(children)
    if kind not in MAKERS:
        raise RuntimeError(f"deserialize: {kind!r} cannot be read back")
    return MAKERS[kind](entry, children[0])


def deserialize(input_dict=None, json_filepath=None):
    """The dataset that a dict or a JSON file of serialize describes; None without either. A path may also be given first."""
    if isinstance(input_dict, (str, os.PathLike)):
        input_dict, json_filepath = None, input_dict
    if input_dict:
        return from_dict(input_dict)
    if not json_filepath:
        return None
    with open(json_filepath, encoding='utf-8') as file:
        text = file.read()
    try:
        return from_dict(json.loads(text))
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(f"{os.fspath(json_filepath)} is no JSON: {error.msg}", error.doc, error.pos) from None
    except KeyError as error:
        raise ValueError(f"{os.fspath(json_filepath)} is no data set that serialize has written: {error} is missing") from None


def show(dataset, indentation=2):
    """Log the dataset as JSON."""
    log.info(json.dumps(to_dict(dataset), indent=indentation))


def compare(pipeline1, pipeline2):
    """Whether two datasets are described alike."""
    for data in (pipeline1, pipeline2):
        if not isinstance(data, Dataset):
            raise TypeError(f"compare: datasets are wanted, but got {type(data)}")
    return to_dict(pipeline1) == to_dict(pipeline2)

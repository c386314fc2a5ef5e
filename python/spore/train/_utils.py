# SPDX-License-Identifier: Apache-2.0
"""Small helpers of training code under MindSpore's address."""
import os
from collections.abc import Iterable

import numpy as np

from spore._core import type_name as _type_name
from spore.common import dtype as mstype

__all__ = []


def check_value_type(arg_name, arg_value, valid_types):
    """Raise TypeError unless the value is of one of the types; a bool is no int."""
    kinds = tuple(valid_types) if isinstance(valid_types, Iterable) else (valid_types,)
    if not isinstance(arg_value, kinds) or isinstance(arg_value, bool) and bool not in kinds:
        raise TypeError(f'For `{arg_name}` the type should be a valid type of {[k.__name__ for k in kinds]}, but got '
                        f'{_type_name(arg_value)}.')


def _to_tensor(elem, scaling_sens=None):
    """numpy arrays, in lists too, as Tensors; a scale of the loss comes last."""
    from spore._core import Tensor
    made = tuple(Tensor(part) if isinstance(part, np.ndarray) else part
                 for part in (elem if isinstance(elem, (list, tuple)) else (elem,)))
    if scaling_sens is not None:
        made += (Tensor(scaling_sens, mstype.float32),)
    return made[0] if len(made) == 1 else made


def _make_directory(path, arg_name='path'):
    """The absolute path of a folder, which is made if need be."""
    if not isinstance(path, str):
        raise TypeError(f"The {arg_name} is invalid, the type should be string, but got {_type_name(path)}.")
    if not path.strip():
        raise ValueError(f"The {arg_name} is invalid, it should be non-blank.")
    path = os.path.realpath(path)
    os.makedirs(path, exist_ok=True)
    return path


# --- which processes hold the same part of a Parameter ---------------------------------------------------------------

def parse_strategy_ckpt(file_name):
    """{name of a Parameter: [device matrix, tensor map, step and size of the optimizer's split]} of a strategy file."""
    from spore.train.node_strategy_pb2 import ParallelStrategyMap
    message = ParallelStrategyMap()
    with open(file_name, "rb") as f:
        message.ParseFromString(f.read())
    layouts = {item.param_name: item.parallel_layouts for item in message.parallel_layout_item}
    return {name: [list(part.dev_matrix[0].dim), list(part.tensor_map[0].dim), part.opt_weight_shard_step, part.opt_weight_shard_size]
            for name, part in layouts.items()}


def _same_parts(matrix, tensor_map, first):
    """Groups of processes, numbered from `first` through the device matrix, that agree in their places on the axes that split a Parameter.
    Axes are counted from the last, -1 splits nothing."""
    groups = {}
    for rank, place in enumerate(np.ndindex(*matrix)):
        key = tuple(place[-1 - axis] if axis in tensor_map else 0 for axis in range(len(matrix)))
        groups.setdefault(key, []).append(rank + first)
    return tuple(tuple(ranks) for _, ranks in sorted(groups.items()))


def _split_again(groups, count):
    """Groups of which the optimizer splits each part `count` times."""
    return tuple(ranks[i::count] for ranks in groups if len(ranks) % count == 0 for i in range(count))


def get_parameter_redundancy(layout_obj, initial_rank=None):
    """For every Parameter the groups of processes that hold the same part of it.

    Args:
        layout_obj: a Cell, whose Parameters all processes hold; a dict of layouts by name; or the name of a strategy file.
        initial_rank: the first process of a stage.
    """
    from spore.communication import get_group_size, get_rank
    from spore.nn import Cell
    if isinstance(layout_obj, Cell):
        ranks = tuple(range(get_group_size()))
        return dict(sorted((p.name, (ranks,)) for _, p in layout_obj.parameters_and_names()))
    layouts = parse_strategy_ckpt(layout_obj) if isinstance(layout_obj, str) else layout_obj
    if initial_rank is None:
        count = int(np.prod(next(iter(layouts.values()))[0])) if layouts else 1
        initial_rank = get_rank() // count * count
    found = {}
    for name, layout in layouts.items():
        groups = _same_parts(layout[0], layout[1], initial_rank)
        if isinstance(layout_obj, str):
            step, size = layout[2:4]
            count = size if size != -1 else sum(map(len, groups)) // step
        else:
            count = get_group_size(layout[5]) if layout[5] else 0
        found[name] = _split_again(groups, count) if count else groups
    return dict(sorted(found.items()))


def remove_param_redundancy(param_redundancy_dict, keep_redundancy=1):
    """Share the saving of Parameters among the processes that hold them: {process: set of names}.

    Args:
        param_redundancy_dict: what `get_parameter_redundancy` gives.
        keep_redundancy: how many processes save each.
    """
    names = {}
    for name, groups in param_redundancy_dict.items():
        for ranks in groups:
            names.setdefault(tuple(ranks), []).append(name)
    shares = {}
    for turn in range(keep_redundancy):
        for ranks, group in names.items():
            for i, name in enumerate(group):
                shares.setdefault(ranks[(i + turn) % len(ranks)], set()).add(name)
    return shares

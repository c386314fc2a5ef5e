# SPDX-License-Identifier: Apache-2.0
"""How Tensors are split over devices. With one device they stay whole."""
from spore._core import type_name as _type_name
from spore import context
from spore._not_done import shard_not_done

__all__ = ['shard', 'Layout']


class Layout:
    """Names for the dimensions of a grid of devices; called with a name or "None" per dimension of a Tensor, it tells
    how that is split.

    Args:
        device_matrix: the grid's shape.
        alias_name: a name for each of its dimensions.
        rank_list: the devices.

    Examples:
        >>> from spore.parallel import Layout
        >>> Layout((2, 2), ('dp', 'mp'))('dp', 'None').to_dict()['tensor_map']
        (1, -1)
    """

    def __init__(self, device_matrix, alias_name, rank_list=None):
        if not isinstance(device_matrix, tuple) or not all(isinstance(n, int) and n > 0 for n in device_matrix):
            raise TypeError(f"Layout: device_matrix must be a tuple of ints above 0, but got {device_matrix!r}")
        if not isinstance(alias_name, tuple) or not all(isinstance(n, str) and n and n != 'None' for n in alias_name):
            raise TypeError(f"Layout: alias_name must be a tuple of names, but got {alias_name!r}")
        if len(device_matrix) != len(alias_name) or len(set(alias_name)) != len(alias_name):
            raise ValueError(f"Layout: there must be a different name for each of {len(device_matrix)} dimensions, but "
                             f"got {alias_name}")
        count = 1
        for n in device_matrix:
            count *= n
        self._matrix, self._names = device_matrix, alias_name
        self._ranks = list(range(count)) if rank_list is None else list(rank_list)
        if len(self._ranks) != count:
            raise ValueError(f"Layout: the grid {device_matrix} needs {count} devices, but rank_list holds "
                             f"{len(self._ranks)}")
        self._map = None

    def __call__(self, *tensor_map):
        made = Layout(self._matrix, self._names, self._ranks)
        made._map = tuple(self._number(name) for name in tensor_map)
        made._alias = tensor_map
        return made

    def _number(self, name):
        if isinstance(name, tuple):
            return tuple(self._number(n) for n in name)
        if name == 'None':
            return -1
        if name not in self._names:
            raise ValueError(f"Layout: there is no dimension {name!r}, only {self._names}")
        return len(self._names) - 1 - self._names.index(name)

    def _splits(self):
        """Whether a dimension is divided at all."""
        used = [i for part in self._map or () for i in (part if isinstance(part, tuple) else (part,)) if i >= 0]
        return any(self._matrix[len(self._matrix) - 1 - i] > 1 for i in used)

    def to_dict(self):
        """The layout as a dict."""
        if self._map is None:
            raise ValueError("Layout: call it with the names of a Tensor's dimensions first")
        return {'device_matrix': self._matrix, 'tensor_map': self._map, 'interleaved_parallel': False,
                'alias_name': self._names,
                'rank_list': self._ranks}


def shard(fn, in_strategy, out_strategy=None, parameter_plan=None):
    """A Cell or function whose Tensors are split over processes where it is compiled; unchanged with one process.

    Args:
        fn: Cell or function.
        in_strategy, out_strategy, parameter_plan: how inputs, outputs and Parameters are split.
    """
    from spore.nn.cell import Cell
    from spore.parallel import _sharding
    if not callable(fn):
        raise TypeError(f"shard: fn must be a Cell or a function, but got {_type_name(fn)}")
    name = type(fn).__name__ if isinstance(fn, Cell) else getattr(fn, "__name__", "function")
    _sharding.check_strategy(name, in_strategy, out_strategy)
    shard_not_done('parallel', in_strategy, out_strategy, parameter_plan)
    if context._ranks() == 1:
        return fn
    if parameter_plan and not isinstance(fn, Cell):
        raise ValueError("shard: parameter_plan names Parameters of a Cell, but fn is a function")

    def split(*args, **kwargs):
        if not _sharding.recording():
            return fn(*args, **kwargs)
        if parameter_plan:
            _sharding.plan(name, fn.get_parameters(), parameter_plan)
        made = fn(*_sharding.constrain(name, args, in_strategy), **kwargs)
        return made if out_strategy is None else _sharding.constrain(name, made, out_strategy)
    return split


def split_cell(cell, in_strategy, out_strategy, parameter_plan):
    """What Cell.shard asks for, asked whenever the Cell is called in a function that is split."""
    from spore.parallel import _sharding
    name = type(cell).__name__
    _sharding.check_strategy(name, in_strategy, out_strategy)

    def before(_, inputs):
        if not _sharding.recording():
            return None
        if parameter_plan:
            _sharding.plan(name, cell.get_parameters(), parameter_plan)
        return _sharding.constrain(name, tuple(inputs), in_strategy)

    def after(_, inputs, output):
        return _sharding.constrain(name, output, out_strategy) if _sharding.recording() else None

    for handle in cell.__dict__.get("_split_hooks", ()):
        handle.remove()
    handles = [cell.register_forward_pre_hook(before)] if in_strategy is not None else []
    if out_strategy is not None:
        handles.append(cell.register_forward_hook(after))
    cell.__dict__["_split_hooks"] = handles


class _DistributedTensorInfo:
    """How a Tensor is split over processes, by a Layout.

    Examples:
        >>> from spore import Layout
        >>> from spore.parallel.shard import _DistributedTensorInfo
        >>> _DistributedTensorInfo(Layout((2, 4), ("dp", "mp"))("dp", ("mp",))).sharding_strategy
        [2, 4]
    """

    def __init__(self, distributed_info):
        if not isinstance(distributed_info, Layout):
            raise TypeError(f"DistributedTensorInfo only supports Layout or DeviceMesh as input, but got {type(distributed_info)}")
        self.layout = self.distributed_info = distributed_info

    @property
    def sharding_strategy(self):
        """Into how many parts each dimension is split."""
        kept = self.layout.to_dict()
        matrix, parts = kept['device_matrix'], []
        for axes in kept['tensor_map']:
            count = 1
            for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
                count *= matrix[len(matrix) - 1 - axis] if axis != -1 else 1
            parts.append(count)
        return parts

# SPDX-License-Identifier: Apache-2.0
"""How Tensors are split over devices. With one device they stay whole."""
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
    """A Cell or function to be split over devices: unchanged on one.

    Args:
        fn: Cell or function.
        in_strategy, out_strategy, parameter_plan: how inputs, outputs and Parameters are split.
    """
    if not callable(fn):
        raise TypeError(f"shard: fn must be a Cell or a function, but got {type(fn).__name__}")
    shard_not_done('parallel', in_strategy, out_strategy, parameter_plan)
    return fn


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

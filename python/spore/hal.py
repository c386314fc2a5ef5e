# SPDX-License-Identifier: Apache-2.0
"""Devices and their memory by the older names; spore.runtime has the same under the newer ones."""
from spore import _core, runtime
from spore.runtime import (Event, Stream, StreamCtx, communication_stream, current_stream, default_stream, empty_cache,
                           set_cur_stream, synchronize)

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ['Event', 'Stream', 'StreamCtx', 'communication_stream', 'current_stream', 'default_stream', 'set_cur_stream',
           'empty_cache',
           'synchronize', 'device_count', 'get_arch_list', 'get_device_capability', 'get_device_name',
           'get_device_properties',
           'is_available', 'is_initialized', 'max_memory_allocated', 'max_memory_reserved', 'memory_allocated',
           'memory_reserved',
           'memory_stats', 'memory_summary', 'reset_max_memory_allocated', 'reset_max_memory_reserved',
           'reset_peak_memory_stats']


def _known(device_target):
    if device_target is not None and device_target not in ('CPU', 'GPU', 'Ascend'):
        from spore.common.tensor import device_kinds
        if device_target in device_kinds():
            return True
        raise ValueError(f"device_target must be 'CPU', 'GPU' or 'Ascend', but got {device_target!r}")
    return device_target in (None, 'CPU')


def is_available(device_target):
    """Can this device be used?"""
    return _known(device_target)


def is_initialized(device_target):
    """Is this device in use?"""
    return _known(device_target)


def device_count(device_target=None):
    """Number of devices of this kind."""
    if not _known(device_target) or device_target in (None, 'CPU'):
        return 1 if _known(device_target) else 0
    count = 0
    while _describe(count, device_target):
        count += 1
    return count


def _describe(device_id, device_target):
    try:
        return _core.device_describe(f'{device_target}:{device_id}' if device_id else device_target)
    except ValueError:
        return None


def get_device_name(device_id, device_target=None):
    """Name of a device."""
    if _known(device_target) and device_target not in (None, 'CPU'):
        found = _describe(device_id, device_target)
        if found is None:
            raise ValueError(f"get_device_name: there is no device {device_target}:{device_id}")
        return found['title']
    return (device_target or 'CPU') if _known(device_target) else None


def get_device_capability(device_id, device_target=None):
    """Version of a GPU's instruction set; a CPU has none."""
    _known(device_target)


def get_device_properties(device_id, device_target=None):
    """Properties of a GPU; a CPU has none."""
    _known(device_target)


def get_arch_list(device_target=None):
    """GPU architectures this was built for; none."""
    _known(device_target)


def _forward(name):
    function = getattr(runtime, name)

    def call(device_target=None):
        _known(device_target)
        return function()
    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    return call


for _name in ('max_memory_allocated', 'max_memory_reserved', 'memory_allocated', 'memory_reserved', 'memory_stats',
              'memory_summary',
              'reset_max_memory_allocated', 'reset_max_memory_reserved', 'reset_peak_memory_stats'):
    globals()[_name] = _forward(_name)
del _name


# --- Tensors in one piece of memory ----------------------------------------------------------------------------------

class ContiguousTensorsHandle:
    """Tensors of one dtype one behind the other in one piece of memory, of which indices and slices are Tensors of one dimension. The
    Tensors that were given lie in it from then on: writing to one writes to the piece.

    Args:
        tensor_list: the Tensors.
        enable_mem_align: whether every Tensor may begin where hardware likes it; nothing is put between them here.

    Examples:
        >>> from spore import Tensor
        >>> from spore.hal import combine_tensor_list_contiguous
        >>> x, y = Tensor([1.0, 2.0, 3.0]), Tensor([4.0, 5.0])
        >>> handle = combine_tensor_list_contiguous([x, y])
        >>> print(handle[1:4], handle.slice_by_tensor_index(1, 2))
        [2. 3. 4.] [4. 5.]
    """

    def __init__(self, tensor_list, enable_mem_align=True):
        from spore import Tensor, ops
        from spore.common.tensor import swap_tensors
        if not isinstance(tensor_list, (list, tuple)) or not tensor_list or not all(isinstance(t, Tensor) for t in tensor_list):
            raise TypeError(f"combine_tensor_list_contiguous: tensor_list must be a list of Tensors, but got {tensor_list!r}")
        if not isinstance(enable_mem_align, bool):
            raise TypeError(f"combine_tensor_list_contiguous: enable_mem_align must be a bool, but got {enable_mem_align!r}")
        kinds = sorted({str(t.dtype) for t in tensor_list})
        if len(kinds) != 1:
            raise TypeError(f"combine_tensor_list_contiguous: the Tensors must be of one dtype, but are of {kinds}")
        self.tensor_list, self.enable_mem_align = tuple(tensor_list), enable_mem_align
        self._memory = ops.cat([t.reshape((-1,)) for t in tensor_list])
        self._ends = [0]
        for tensor in tensor_list:
            begin = self._ends[-1]
            self._ends.append(begin + tensor.size)
            swap_tensors(tensor, self._memory.narrow(0, begin, tensor.size).view(*tensor.shape))
        self.before_padding_sizes = self.after_padding_sizes = [t.size * t.itemsize for t in tensor_list]
        self.total_padding_size, self.handle_shape = sum(self.after_padding_sizes), self._ends[-1]

    def _part(self, begin, end, limit, name):
        if not isinstance(begin, int) or not isinstance(end, int):
            raise TypeError(f"ContiguousTensorsHandle: {name} must be whole numbers, but are {begin!r} and {end!r}")
        if not 0 <= begin < end <= limit:
            raise ValueError(f"ContiguousTensorsHandle: {name} must lie in 0 to {limit} and enclose something, but are {begin} and {end}")
        return begin, end

    def __getitem__(self, item):
        if isinstance(item, slice):
            begin, end = 0 if item.start is None else item.start, self.handle_shape if item.stop is None else item.stop
        else:
            begin, end = item, item + 1 if isinstance(item, int) else item
        begin, end = self._part(begin, end, self.handle_shape, "places")
        return self._memory.narrow(0, begin, end - begin)

    def slice_by_tensor_index(self, start=None, end=None):
        """The elements of the Tensors from `start` to before `end`; of one, without `end`; of all, without both."""
        if end is None:
            end = len(self.tensor_list) if start is None else start + 1
        start, end = self._part(0 if start is None else start, end, len(self.tensor_list), "numbers of Tensors")
        return self._memory.narrow(0, self._ends[start], self._ends[end] - self._ends[start])

    def __str__(self):
        return f"Handle total size: {self.total_padding_size}\n" + "".join(
            f"Tensor[{i}]: {t.asnumpy()}\n" for i, t in enumerate(self.tensor_list))


def combine_tensor_list_contiguous(tensor_list, enable_mem_align=True):
    """Put Tensors into one piece of memory; see ContiguousTensorsHandle."""
    return ContiguousTensorsHandle(tensor_list, enable_mem_align)

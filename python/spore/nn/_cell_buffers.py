# SPDX-License-Identifier: Apache-2.0
"""Buffers of a Cell: Tensors that are no Parameters but belong to its state. A base of Cell."""
from collections import OrderedDict

from spore._core import type_name as _type_name
from spore._core import Tensor
from spore.nn._cell_state import _Removal

_registration_hooks = OrderedDict()


def is_buffer(value):
    """Whether a value was marked as a buffer (`common.parameter._Buffer`)."""
    return isinstance(value, Tensor) and value.__dict__.get("_is_buffer", False)


def register_cell_buffer_registration_hook(hook):
    """Call ``hook(cell, name, buffer)`` whenever a buffer is registered; what it returns, unless None, takes the buffer's place.

    Examples:
        >>> from spore import Tensor, nn
        >>> from spore.nn.cell import register_cell_buffer_registration_hook
        >>> handle = register_cell_buffer_registration_hook(lambda cell, name, buffer: buffer * 2)
        >>> net = nn.Cell()
        >>> net.register_buffer("offset", Tensor([1.0]))
        >>> handle.remove()
        >>> print(net.offset)
        [2.]
    """
    key = object()
    _registration_hooks[key] = hook
    return _Removal(_registration_hooks, key)


class CellBuffers:
    """The methods of a Cell that deal with buffers."""

    def register_buffer(self, name, tensor, persistent=True):
        """Hold a Tensor that is no Parameter but belongs to the state."""
        if not isinstance(name, str):
            raise TypeError(f"buffer name should be a string, but got {_type_name(name)}")
        if not name or "." in name:
            raise KeyError(f'buffer name can not be empty or contain ".", but got {name!r}')
        if not isinstance(tensor, Tensor) and tensor is not None:
            raise TypeError(f"register_buffer: {name} must be a Tensor or None, but got {_type_name(tensor)}")
        for hook in list(_registration_hooks.values()):
            answer = hook(self, name, tensor)
            tensor = tensor if answer is None else answer
        self._buffers[name] = tensor
        if not persistent:
            self._non_persistent.add(name)

    def buffers(self, recurse=True):
        """The registered buffers."""
        for _, tensor in self.named_buffers(recurse=recurse):
            yield tensor

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """The registered buffers with their paths."""
        seen = set()
        for path, cell in (self.cells_and_names(name_prefix=prefix) if recurse else [(prefix, self)]):
            for name, tensor in cell._buffers.items():
                if tensor is None or (remove_duplicate and id(tensor) in seen):
                    continue
                seen.add(id(tensor))
                yield (f"{path}.{name}" if path else name), tensor

    def get_buffer(self, target):
        """The buffer at a path."""
        path, _, name = target.rpartition(".")
        cell = self.get_sub_cell(path)
        if name not in cell._buffers:
            raise AttributeError(f"'{_type_name(cell)}' has no attribute '{name}' that is a buffer")
        return cell._buffers[name]

# SPDX-License-Identifier: Apache-2.0
"""The memory below Tensors: bytes that several Tensors may show."""
from spore._core import Tensor, type_name as _type_name

__all__ = ["UntypedStorage"]


class UntypedStorage:
    """The bytes of a Tensor's memory, which the Tensor goes on showing.

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> x.untyped_storage().copy_(Tensor([5.0, 6.0, 7.0, 8.0]).untyped_storage()).nbytes()
        16
        >>> print(x)
        [[5. 6.]
         [7. 8.]]
    """

    def __init__(self, tensor=None):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"UntypedStorage: it is the memory of a Tensor, Tensor.untyped_storage() gives it; got {_type_name(tensor)}")
        self._tensor = tensor

    def size(self):
        """How many bytes there are."""
        return self._tensor.nbytes

    nbytes = __len__ = size

    def element_size(self):
        """An element is a byte."""
        return 1

    def data_ptr(self):
        """The address of the first."""
        return self._tensor.data_ptr()

    def is_shared(self):
        """Whether other processes see the memory: they do not."""
        return False

    @property
    def device(self):
        """Where the memory is."""
        return "CPU"

    @property
    def dtype(self):
        """Of the Tensor that it came from."""
        return self._tensor.dtype

    def copy_(self, src, non_blocking=False):
        """Copy the bytes of another storage of the same size, which all Tensors on this memory show then."""
        if not isinstance(src, UntypedStorage):
            raise TypeError(f"UntypedStorage.copy_: src must be an UntypedStorage, but got {_type_name(src)}")
        if src.size() != self.size():
            raise ValueError(f"UntypedStorage.copy_: both must be of one size, but src has {src.size()} bytes and this one {self.size()}")
        flat = Tensor(src._tensor.asnumpy().reshape(-1).view(self._tensor.asnumpy().dtype))
        self._tensor.data.view(-1).copy_(flat)
        return self


def _untyped_storage(self):
    """The memory of the Tensor as bytes; see UntypedStorage.

    Examples:
        >>> from spore import Tensor
        >>> Tensor([1.0, 2.0]).untyped_storage().nbytes()
        8
    """
    return UntypedStorage(self)


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Show the memory of another Tensor, or storage, from an element on and with a shape and steps of one's own; without a source
    nothing. Answers the Tensor.

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([0.0])
        >>> print(x.set_(Tensor([1.0, 2.0, 3.0, 4.0]), 1, (2,), (1,)))
        [2. 3.]
    """
    from spore import ops
    if source is None:
        source = Tensor([], dtype=self.dtype)
    if isinstance(source, UntypedStorage):
        source = source._tensor.data.view(-1)
        size = (source.size - storage_offset,) if size is None else size
    if not isinstance(source, Tensor):
        raise TypeError(f"Tensor.set_: source must be a Tensor or an UntypedStorage, but got {_type_name(source)}")
    if size is not None:
        if stride is None:
            stride, step = [], 1
            for length in reversed(size):
                stride.insert(0, step)
                step *= length
        source = ops.as_strided(source, tuple(size), tuple(stride), storage_offset)
    self._rebind(source)
    return self


Tensor.untyped_storage = Tensor.storage = _untyped_storage
Tensor.set_ = set_

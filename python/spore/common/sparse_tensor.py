# SPDX-License-Identifier: Apache-2.0
"""Tensors most of whose elements are zero: what is not zero, and where it stands.

They hold ordinary Tensors and compute with ordinary operators, so gradients reach their values. `spore.ops.sparse` has the
functions on them.
"""
from spore._core import type_name as _type_name
from spore.common import dtype as mstype
from spore.common.tensor import Tensor

__all__ = ['RowTensor', 'SparseTensor', 'COOTensor', 'CSRTensor']


def _text(name, tensor):
    """A part as repr shows it: like the Tensor itself, without commas between elements."""
    elements = repr(tensor).split('value=', 1)[1].lstrip(' ')[:-1].replace(',', '')
    return f"{name}=Tensor(shape={list(tensor.shape)}, dtype={tensor.dtype}, value={elements})"


def _shape_of(shape, dims):
    if not isinstance(shape, tuple):
        raise TypeError(f"For SparseTensors, 'shape' must be tuple, but got {type(shape)}.")
    for size in shape:
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"For SparseTensors, the element of 'shape' must be an int, but got {type(size)}.")
        if size <= 0:
            raise ValueError(f"For SparseTensors, the element of 'shape' must be positive, but got {shape}.")
    if dims is not None and len(shape) != dims:
        raise ValueError(f"For SparseTensors, 'shape' must have {dims} dimensions, but it is {shape}.")
    return shape


def _tensor_of(value, what, kind):
    if not isinstance(value, Tensor):
        raise TypeError(f"For {kind}, '{what}' must be a Tensor, but got {_type_name(value)}.")
    return value


def _indices_of(value, what, kind):
    _tensor_of(value, what, kind)
    if value.dtype not in (mstype.int16, mstype.int32, mstype.int64):
        raise TypeError(f"For {kind}, the dtype of '{what}' must be int16, int32 or int64, but it is {value.dtype}.")
    return value


class _Sparse:
    """What all of them share: values, a shape, and what follows from these."""

    @property
    def indices(self):
        """Where the values stand."""
        return self._indices

    @property
    def values(self):
        """What is not zero."""
        return self._values

    @property
    def shape(self):
        """The shape of the dense Tensor."""
        return self._shape

    @property
    def dtype(self):
        """The dtype of the values."""
        return self._values.dtype

    @property
    def size(self):
        """The number of values that are kept."""
        return self._values.size

    @property
    def itemsize(self):
        """The bytes of a value."""
        return self._values.itemsize

    @property
    def ndim(self):
        """The number of dimensions of the dense Tensor."""
        return len(self._shape)

    def astype(self, dtype):
        """The same places, with values of another dtype."""
        return self._with(self._values.astype(dtype))

    def abs(self):
        """The same places, with absolute values."""
        return self._with(self._values.abs())

    def __neg__(self):
        return self._with(-self._values)

    def __repr__(self):
        parts = ', '.join(_text(name, getattr(self, name)) for name in self._parts)
        return f"{type(self).__name__}(shape={list(self._shape)}, dtype={self.dtype}, {parts})"

    __str__ = __repr__


class RowTensor(_Sparse):
    """Some rows of a Tensor; the others are zero. Gradients of lookups have this form in older scripts.

    Examples:
        >>> import spore as ms
        >>> rows = ms.RowTensor(ms.Tensor([1], ms.int32), ms.Tensor([[1.0, 2.0]]), (3, 2))
        >>> rows.dense_shape
        (3, 2)
    """
    _parts = ('indices', 'values')

    def __init__(self, indices=None, values=None, shape=None, row_tensor=None):
        if row_tensor is not None:
            if not isinstance(row_tensor, RowTensor):
                raise TypeError(f"For RowTensor, 'row_tensor' must be a RowTensor, but got {_type_name(row_tensor)}.")
            indices, values, shape = row_tensor.indices, row_tensor.values, row_tensor.dense_shape
        self._indices = _indices_of(indices, 'indices', 'RowTensor')
        self._values = _tensor_of(values, 'values', 'RowTensor')
        self._shape = _shape_of(shape, values.ndim)
        if indices.ndim != 1 or indices.shape[0] != values.shape[0]:
            raise ValueError(f"For RowTensor, 'indices' must hold one number a row of 'values', but their shapes are "
                             f"{indices.shape} and {values.shape}.")

    @property
    def dense_shape(self):
        """The shape of the dense Tensor."""
        return self._shape

    def _with(self, values):
        return RowTensor(self._indices, values, self._shape)


RowTensorInner = RowTensor


class COOTensor(_Sparse):
    """Values and, for each, its index in every dimension.

    Examples:
        >>> import spore as ms
        >>> x = ms.COOTensor(ms.Tensor([[0, 1], [1, 2]], ms.int32), ms.Tensor([1.0, 2.0]), (3, 4))
        >>> print(x.to_dense())
        [[0. 1. 0. 0.]
         [0. 0. 2. 0.]
         [0. 0. 0. 0.]]
    """
    _parts = ('indices', 'values')

    def __init__(self, indices=None, values=None, shape=None, coo_tensor=None):
        if coo_tensor is not None:
            if not (indices is None and values is None and shape is None):
                raise TypeError("For COOTensor, give either 'coo_tensor' or 'indices', 'values' and 'shape'.")
            if not isinstance(coo_tensor, COOTensor):
                raise TypeError(f"For COOTensor, 'coo_tensor' must be a COOTensor, but got {_type_name(coo_tensor)}.")
            indices, values, shape = coo_tensor.to_tuple()
        _shape_of(shape, None)
        _tensor_of(indices, 'indices', 'COOTensor')
        _tensor_of(values, 'values', 'COOTensor')
        empty = indices.shape == values.shape == (0,)
        if indices.ndim != 2 and not empty:
            raise ValueError(f"For COOTensor, 'indices' must be a 2-dimensional tensor, but got a {indices.ndim}-dimensional tensor.")
        if values.ndim != 1:
            raise ValueError(f"For COOTensor, 'values' must be a 1-dimensional tensor, but got a {values.ndim}-dimensional tensor.")
        if indices.shape[0] != values.shape[0]:
            raise ValueError(f"For COOTensor, 'indices.shape[0]' must be equal to 'values.shape[0]', but got "
                             f"'indices.shape[0]' = {indices.shape[0]} and 'values.shape[0]' = {values.shape[0]}.")
        if not empty and indices.shape[1] != len(shape):
            raise ValueError(f"For COOTensor, 'indices.shape[1]' must be the length of 'shape', but got {indices.shape[1]} and "
                             f"{len(shape)}.")
        self._indices = _indices_of(indices, 'indices', 'COOTensor')
        self._values, self._shape = values, shape

    def _with(self, values):
        return COOTensor(self._indices, values, self._shape)

    def to_tuple(self):
        """Indices, values and shape."""
        return self._indices, self._values, self._shape

    def to_dense(self):
        """The Tensor; values of one place are added."""
        from spore import ops
        if self._indices.ndim == 1:                  # nothing is kept
            return ops.zeros(self._shape, self.dtype)
        return ops.scatter_nd(self._indices, self._values, self._shape)

    def to_csr(self):
        """The same as a CSRTensor, of two dimensions."""
        from spore.ops import sparse
        return sparse.coo_to_csr(self)

    def coalesce(self):
        """Indices in order, each place once: values of one place are added."""
        from spore.ops import sparse
        return sparse.ordered(self)

    def add(self, other, thresh):
        """The sum of two; values whose magnitude is not above thresh are left out."""
        from spore.ops import sparse
        return sparse.coo_add(self, other, thresh)

    def _added(self, other, sign):
        if isinstance(other, COOTensor):
            return self.add(other if sign > 0 else -other, Tensor(0, self.dtype))
        if isinstance(other, Tensor):
            return self.to_dense() + (other if sign > 0 else -other)
        return NotImplemented

    def __add__(self, other):
        return self._added(other, 1)

    def __sub__(self, other):
        return self._added(other, -1)

    def __radd__(self, other):
        return self._added(other, 1)

    def __rsub__(self, other):
        return (-self)._added(other, 1)

    def _at(self, other):
        """Elements of a Tensor, spread to our shape, at our places."""
        from spore import ops
        return ops.gather_nd(ops.broadcast_to(other, self._shape), self._indices)

    def __mul__(self, other):
        return self._with(self._values * (self._at(other) if isinstance(other, Tensor) and other.ndim else other))

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._with(self._values / (self._at(other) if isinstance(other, Tensor) and other.ndim else other))


class SparseTensor(COOTensor):
    """The old name of COOTensor.

    Examples:
        >>> import spore as ms
        >>> ms.SparseTensor(ms.Tensor([[0, 1]], ms.int32), ms.Tensor([1.0]), (3, 4)).shape
        (3, 4)
    """

    def __init__(self, indices, values, shape):
        super().__init__(indices, values, shape)

    def __repr__(self):
        return super().__repr__().replace('SparseTensor(', 'COOTensor(', 1)

    __str__ = __repr__


class CSRTensor(_Sparse):
    """Values row by row: their columns, and where each row begins. More dimensions than two are kept in the values.

    Examples:
        >>> import spore as ms
        >>> row, column = ms.Tensor([0, 1, 2, 2], ms.int32), ms.Tensor([1, 2], ms.int32)
        >>> x = ms.CSRTensor(row, column, ms.Tensor([1.0, 2.0]), (3, 4))
        >>> print(x.mv(ms.Tensor([[1.0], [1.0], [1.0], [1.0]])))
        [[1.]
         [2.]
         [0.]]
    """
    _parts = ('indptr', 'indices', 'values')

    def __init__(self, indptr=None, indices=None, values=None, shape=None, csr_tensor=None):
        if csr_tensor is not None:
            if not (indptr is None and indices is None and values is None and shape is None):
                raise TypeError("For CSRTensor, give either 'csr_tensor' or 'indptr', 'indices', 'values' and 'shape'.")
            if not isinstance(csr_tensor, CSRTensor):
                raise TypeError(f"For CSRTensor, 'csr_tensor' must be a CSRTensor, but got {_type_name(csr_tensor)}.")
            indptr, indices, values, shape = csr_tensor.to_tuple()
        _shape_of(shape, None)
        self._indptr = _indices_of(indptr, 'indptr', 'CSRTensor')
        self._indices = _indices_of(indices, 'indices', 'CSRTensor')
        self._values = _tensor_of(values, 'values', 'CSRTensor')
        self._shape = shape
        if indptr.ndim != 1 or indices.ndim != 1:
            raise ValueError(f"For CSRTensor, 'indptr' and 'indices' must have one dimension, but their shapes are "
                             f"{indptr.shape} and {indices.shape}.")
        if values.ndim < 1 or indices.shape[0] != values.shape[0]:
            raise ValueError(f"For CSRTensor, indices and values must equal in their shape, but got indices shape: "
                             f"{indices.shape}, values shape: {values.shape}.")
        if len(shape) != values.ndim + 1:
            raise ValueError(f"For CSRTensor, 'shape' must have one dimension more than 'values', but they are {shape} and "
                             f"{values.shape}.")
        if indptr.shape[0] != shape[0] + 1:
            raise ValueError(f"For CSRTensor, 'indptr' must hold a number a row and one more, {shape[0] + 1}, but it holds "
                             f"{indptr.shape[0]}.")

    @property
    def indptr(self):
        """Where the values of each row begin, and where the last one ends."""
        return self._indptr

    def _with(self, values):
        return CSRTensor(self._indptr, self._indices, values, self._shape)

    def to_tuple(self):
        """indptr, indices, values and shape."""
        return self._indptr, self._indices, self._values, self._shape

    def to_coo(self):
        """The same as a COOTensor."""
        from spore.ops import sparse
        return sparse.csr_to_coo(self)

    def to_dense(self):
        """The Tensor; values of one place are added."""
        from spore.ops import sparse
        return sparse.csr_to_dense(self)

    def mv(self, dense_vector):
        """Times a column."""
        from spore.ops import sparse
        return sparse.csr_mv(self, dense_vector)

    def mm(self, matrix):
        """Times a matrix: a Tensor by a Tensor, a CSRTensor by a CSRTensor."""
        from spore.ops import sparse
        return sparse.product(self, matrix)

    def sum(self, axis):
        """The sum of each row: axis must be 1."""
        from spore.ops import sparse
        return sparse.csr_reduce_sum(self, axis)

    def add(self, b, alpha, beta):
        """alpha times this one plus beta times b."""
        from spore.ops import sparse
        return sparse.csr_add(self, b, alpha, beta)

    def __add__(self, other):
        return self._added(other, 1)

    def __sub__(self, other):
        return self._added(other, -1)

    def _added(self, other, sign):
        if not isinstance(other, CSRTensor):
            raise TypeError(f"For CSRTensor + and -, the other operand must be a CSRTensor, but got {_type_name(other)}.")
        return self.add(other, Tensor(1, self.dtype), Tensor(sign, self.dtype))

    def __mul__(self, other):
        from spore.ops import sparse
        return sparse.csr_mul(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        from spore.ops import sparse
        return sparse.csr_div(self, other)

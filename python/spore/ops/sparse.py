# SPDX-License-Identifier: Apache-2.0
"""Functions of sparse Tensors (`spore.common.sparse_tensor`): conversions, products, and every function of one operand
under the names coo_... and csr_... . Compositions of ordinary operators."""
from .. import _core
from .._core import Tensor
from ..common import dtype as mstype
from spore._core import type_name as _type_name

_apply = _core.apply

__all__ = ["csr_to_coo", "csr_to_dense", "csr_mv", "csr_mm", "csr_mul", "csr_div", "csr_add", "csr_reduce_sum", "csr_softmax",
           "csr_gather", "coo2csr", "csr2coo", "coo_add", "coo_concat", "dense_to_sparse_coo", "dense_to_sparse_csr",
           "make_row_tensor", "make_row_tensor_inner", "make_sparse_tensor", "make_coo_tensor", "make_csr_tensor",
           "row_tensor_get_values", "row_tensor_get_indices", "row_tensor_get_dense_shape", "coo_tensor_get_values",
           "coo_tensor_get_indices", "coo_tensor_get_dense_shape", "csr_tensor_get_values", "csr_tensor_get_indices",
           "csr_tensor_get_indptr", "csr_tensor_get_dense_shape"]


def _kinds():
    from ..common import sparse_tensor
    return sparse_tensor


def _wanted(x, kind, name):
    if not isinstance(x, getattr(_kinds(), kind)):
        raise TypeError(f"For functional operator {name}, the input must be a {kind}, but got {_type_name(x)}.")
    return x


def _ops():
    from .. import ops
    return ops


# --- places ----------------------------------------------------------------------------------------------------------

def csr2coo(indptr, n) -> Tensor:
    """The row of each of n values, from where rows begin."""
    ops = _ops()
    places = ops.arange(int(n)).astype(indptr.dtype)
    return ops.searchsorted(indptr[1:], places, right=True).astype(indptr.dtype)


def coo2csr(row_indices, height) -> Tensor:
    """Where rows begin among values whose rows are given in order."""
    ops = _ops()
    rows = ops.arange(int(height) + 1).astype(row_indices.dtype)
    return ops.searchsorted(row_indices, rows).astype(row_indices.dtype)


def _flat(indices, shape):
    """Indices of several dimensions as one number each."""
    flat = 0
    for axis, size in enumerate(shape):
        flat = flat * size + indices[:, axis].astype(mstype.int64)
    return flat


def ordered(x):
    """A COOTensor with its indices in order and each place once."""
    ops, (indices, values, shape) = _ops(), x.to_tuple()
    places, which = ops.unique(_flat(indices, shape))
    order = ops.argsort(places.astype(mstype.int64))
    rank = _apply("cast", (ops.argsort(order.astype(mstype.int64)),), {"dtype": mstype.int64})
    total = ops.unsorted_segment_sum(values, rank[which.astype(mstype.int64)], places.shape[0])
    places, columns = places[order.astype(mstype.int64)], []
    for size in reversed(shape):
        columns.append(places % size)
        places = places // size
    return _kinds().COOTensor(ops.stack(columns[::-1], 1).astype(indices.dtype), total, shape)


def coo_to_csr(x):
    """A COOTensor of two dimensions as a CSRTensor."""
    if x.ndim != 2:
        raise ValueError(f"For COOTensor.to_csr, the COOTensor must have 2 dimensions, but its shape is {x.shape}.")
    ops, (indices, values, shape) = _ops(), x.to_tuple()
    order = ops.argsort(_flat(indices, shape)).astype(mstype.int64)
    rows, columns = indices[:, 0][order], indices[:, 1][order]
    return _kinds().CSRTensor(coo2csr(rows, shape[0]), columns, values[order], shape)


def csr_to_coo(tensor):
    """A CSRTensor of two dimensions as a COOTensor."""
    _wanted(tensor, "CSRTensor", "csr_to_coo")
    if tensor.ndim != 2:
        raise ValueError(f"For csr_to_coo, the CSRTensor must have 2 dimensions, but its shape is {tensor.shape}.")
    indptr, indices, values, shape = tensor.to_tuple()
    rows = csr2coo(indptr, values.shape[0])
    return _kinds().COOTensor(_ops().stack((rows, indices), 1), values, shape)


def csr_to_dense(csr_tensor) -> Tensor:
    """The Tensor of a CSRTensor."""
    ops, (indptr, indices, values, shape) = _ops(), _wanted(csr_tensor, "CSRTensor", "csr_to_dense").to_tuple()
    places = ops.stack((csr2coo(indptr, values.shape[0]), indices), 1)
    return ops.scatter_nd(places, values, shape)


def dense_to_sparse_coo(tensor):
    """What is not zero in a Tensor.

    Examples:
        >>> import spore as ms
        >>> ms.ops.dense_to_sparse_coo(ms.Tensor([[1.0, 0.0], [0.0, 2.0]])).size
        2
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For functional operator dense_to_sparse_coo, the input must be a Tensor, but got {_type_name(tensor)}.")
    ops = _ops()
    indices = ops.nonzero(tensor).astype(mstype.int32)
    return _kinds().COOTensor(indices, ops.gather_nd(tensor, indices), tensor.shape)


def dense_to_sparse_csr(tensor):
    """What is not zero in a matrix, row by row.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.dense_to_sparse_csr(ms.Tensor([[1.0, 0.0], [0.0, 2.0]])).indptr)
        [0 1 2]
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For functional operator dense_to_sparse_csr, the input must be a Tensor, but got {_type_name(tensor)}.")
    return coo_to_csr(dense_to_sparse_coo(tensor))


# --- arithmetic ------------------------------------------------------------------------------------------------------

def csr_gather(indptr, indices, dense, sparse_shape) -> Tensor:
    """The elements of a dense Tensor at the places of a CSRTensor."""
    ops = _ops()
    places = ops.stack((csr2coo(indptr, indices.shape[0]), indices), 1)
    return ops.gather_nd(ops.broadcast_to(dense, tuple(sparse_shape)[:2] + tuple(dense.shape[2:])), places)


def _spread(x, y, name):
    """The second operand of a product or quotient, element by element of the values."""
    if not isinstance(y, Tensor) or y.ndim == 0:
        return y
    if y.ndim > x.ndim:
        raise ValueError(f"{name}: a dense operand of shape {y.shape} does not fit a CSRTensor of shape {x.shape}")
    return csr_gather(x.indptr, x.indices, y, x.shape)


def csr_mul(x, y):
    """The values times those of a dense Tensor at the same places."""
    _wanted(x, "CSRTensor", "csr_mul")
    return x._with(x.values * _spread(x, y, "csr_mul"))


def csr_div(x, y):
    """The values divided by those of a dense Tensor at the same places."""
    _wanted(x, "CSRTensor", "csr_div")
    return x._with(x.values / _spread(x, y, "csr_div"))


def _rows_added(x, rows):
    return _ops().unsorted_segment_sum(rows, csr2coo(x.indptr, x.values.shape[0]), x.shape[0])


def _times(x, matrix, name):
    if x.ndim != 2 or matrix.ndim != 2 or matrix.shape[0] != x.shape[1]:
        raise ValueError(f"{name}: shapes {x.shape} and {matrix.shape} do not fit: the columns of the first must be as many as "
                         "the rows of the second")
    return _rows_added(x, _ops().expand_dims(x.values, 1) * matrix[x.indices.astype(mstype.int64)])


def csr_mv(csr_tensor, dense) -> Tensor:
    """A CSRTensor times a column.

    Examples:
        >>> import spore as ms
        >>> x = ms.ops.dense_to_sparse_csr(ms.Tensor([[1.0, 0.0], [0.0, 2.0]]))
        >>> print(ms.ops.csr_mv(x, ms.Tensor([[3.0], [4.0]])))
        [[3.]
         [8.]]
    """
    _wanted(csr_tensor, "CSRTensor", "csr_mv")
    return _times(csr_tensor, dense, "csr_mv")


def product(x, matrix):
    """x.mm(matrix)."""
    if isinstance(matrix, _kinds().CSRTensor):
        return csr_mm(x, matrix)
    if not isinstance(matrix, Tensor):
        raise TypeError(f"For CSRTensor.mm, the matrix must be a Tensor or a CSRTensor, but got {_type_name(matrix)}.")
    return _times(x, matrix, "CSRTensor.mm")


def csr_mm(a, b, trans_a=False, trans_b=False, adjoint_a=False, adjoint_b=False):
    """The product of two CSRTensors; trans and adjoint turn an operand around first."""
    for x in (a, b):
        if not isinstance(x, _kinds().CSRTensor):
            raise TypeError("For functional operator csr_mm, inputs a and b must be type of CSRTensor currently.")
    left, right = csr_to_dense(a), csr_to_dense(b)
    turned = [(left, trans_a or adjoint_a, adjoint_a), (right, trans_b or adjoint_b, adjoint_b)]
    left, right = ((_ops().conj(x) if adjoint and x.is_complex() else x).T if flip else x for x, flip, adjoint in turned)
    return dense_to_sparse_csr(_apply("matmul", (left, right)))


def csr_add(a, b, alpha, beta):
    """alpha a + beta b, of two CSRTensors."""
    _wanted(a, "CSRTensor", "csr_add")
    _wanted(b, "CSRTensor", "csr_add")
    if a.shape != b.shape:
        raise ValueError(f"csr_add: the shapes differ: {a.shape} and {b.shape}")
    return coo_to_csr(ordered(_both(csr_to_coo(a), csr_to_coo(b), alpha, beta)))


def _both(a, b, alpha=1, beta=1):
    ops = _ops()
    return _kinds().COOTensor(ops.concat((a.indices, b.indices.astype(a.indices.dtype))),
                              ops.concat((a.values * alpha, b.values * beta)), a.shape)


def csr_reduce_sum(csr_tensor, axis) -> Tensor:
    """The sum of each row; axis must be 1 (or, counted from the end, the same)."""
    _wanted(csr_tensor, "CSRTensor", "csr_reduce_sum")
    if axis not in (1, 1 - csr_tensor.ndim):
        raise ValueError(f"For CSRReduceSum, `axis` should be 1 or {1 - csr_tensor.ndim}, but got {axis}.")
    return _ops().expand_dims(_rows_added(csr_tensor, csr_tensor.values), 1)


def csr_softmax(logits, dtype):
    """softmax over the kept values of each row."""
    _wanted(logits, "CSRTensor", "csr_softmax")
    ops, rows = _ops(), csr2coo(logits.indptr, logits.values.shape[0]).astype(mstype.int64)
    values = logits.values.astype(dtype)
    top = ops.unsorted_segment_max(values, rows, logits.shape[0])
    powers = ops.exp(values - ops.stop_gradient(top)[rows])
    return logits._with(powers / ops.unsorted_segment_sum(powers, rows, logits.shape[0])[rows])


def coo_add(x1, x2, thresh):
    """The sum of two COOTensors; values whose magnitude is not above thresh are left out."""
    _wanted(x1, "COOTensor", "coo_add")
    _wanted(x2, "COOTensor", "coo_add")
    if not isinstance(thresh, Tensor):
        raise TypeError(f"For functional operator coo_add, thresh must be a Tensor, but got {_type_name(thresh)}.")
    if x1.shape != x2.shape:
        raise ValueError(f"For functional operator coo_add, the shapes of the operands must be equal, but they are {x1.shape} and "
                         f"{x2.shape}.")
    total = ordered(_both(x1, x2))
    kept = total.values.abs() >= thresh
    if kept.all():
        return total
    places = _ops().nonzero(kept)[:, 0]
    return _kinds().COOTensor(total.indices[places], total.values[places], total.shape)


def coo_concat(sp_input, concat_dim=0):
    """COOTensors joined along a dimension."""
    ops, first = _ops(), sp_input[0]
    axis = concat_dim + first.ndim if concat_dim < 0 else concat_dim
    shape, indices, offset = list(first.shape), [], 0
    for x in sp_input:
        _wanted(x, "COOTensor", "coo_concat")
        step = [0] * first.ndim
        step[axis] = offset
        indices.append(x.indices + Tensor([step], x.indices.dtype))
        offset += x.shape[axis]
    shape[axis] = offset
    return ordered(_kinds().COOTensor(ops.concat(indices), ops.concat([x.values for x in sp_input]), tuple(shape)))


# --- made, and taken apart -------------------------------------------------------------------------------------------

def _maker(kind):
    def make(*parts):
        return getattr(_kinds(), kind)(*parts)
    make.__doc__ = f"A {kind} of its parts."
    return make


def make_row_tensor(indices, values, dense_shape):
    """A RowTensor of its parts."""
    return _kinds().RowTensor(indices, values, dense_shape)


def make_sparse_tensor(indices, values, dense_shape):
    """A COOTensor of its parts."""
    return _kinds().COOTensor(indices, values, dense_shape)


make_row_tensor_inner, make_coo_tensor, make_csr_tensor = _maker("RowTensor"), _maker("COOTensor"), _maker("CSRTensor")


def _part(attribute):
    def get(x):
        return getattr(x, attribute)
    get.__doc__ = f"The {attribute} of a sparse Tensor."
    return get


row_tensor_get_values = coo_tensor_get_values = csr_tensor_get_values = _part("values")
row_tensor_get_indices = coo_tensor_get_indices = csr_tensor_get_indices = _part("indices")
row_tensor_get_dense_shape = coo_tensor_get_dense_shape = csr_tensor_get_dense_shape = _part("shape")
csr_tensor_get_indptr = _part("indptr")


# --- functions of one operand ----------------------------------------------------------------------------------------

def _elementwise(prefix, kind, name):
    def function(x):
        return _wanted(x, kind, function.__name__)._with(getattr(_ops(), name)(x.values))
    function.__name__ = function.__qualname__ = f"{prefix}_{name}"
    function.__doc__ = f"The same places of a {kind}, with ops.{name} of the values."
    return function


for _name in ("abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor inv isfinite isinf isnan log log1p neg relu relu6 "
              "round sigmoid sin sinh softsign sqrt square tan tanh").split():
    for _prefix, _kind in (("coo", "COOTensor"), ("csr", "CSRTensor")):
        globals()[f"{_prefix}_{_name}"] = _elementwise(_prefix, _kind, _name)
        __all__.append(f"{_prefix}_{_name}")

TENSOR_METHODS = {"to_coo": lambda self: dense_to_sparse_coo(self), "to_csr": lambda self: dense_to_sparse_csr(self)}
for _name, _method in TENSOR_METHODS.items():
    _method.__name__ = _method.__qualname__ = _name
    _method.__doc__ = {"to_coo": dense_to_sparse_coo, "to_csr": dense_to_sparse_csr}[_name].__doc__

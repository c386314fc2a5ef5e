# SPDX-License-Identifier: Apache-2.0
"""Sparse Tensors given by indices, values and shape, and sparse matrices given by row pointers, as primitives
(`ops.operations.sparse_ops`). What only moves values around, or sums them, keeps their gradients."""
import numpy as np

from ..._core import Tensor
from .._make import plain, primitive
from ..array import ints_of


def _op(name):
    from ... import ops
    return getattr(ops, name)


def _add(name, call, init="", doc=None):
    globals()[name] = primitive(name, call, init, doc)


def _plain(name, function, doc=None):
    globals()[name] = plain(name, function, doc)


def _shape(value):
    return ints_of(value, "shape")


def _like(array, tensor):
    """An array of numpy with the dtype of a Tensor."""
    return Tensor(np.ascontiguousarray(array)).astype(tensor.dtype)


# --- a sparse and a dense Tensor -------------------------------------------------------------------------------------

def _cwise(combine):
    def call(x1_indices, x1_values, x1_shape, x2):
        """Values combined with the elements of a dense Tensor at their places."""
        dense = x2.broadcast_to(_shape(x1_shape))
        return combine(x1_values, _op("gather_nd")(dense, x1_indices))
    return call


_plain("SparseDenseCwiseAdd", _cwise(lambda a, b: a + b))
_plain("SparseDenseCwiseMul", _cwise(lambda a, b: a * b))
_plain("SparseDenseCwiseDiv", _cwise(lambda a, b: a / b))


def _to_dense(indices, values, shape):
    return _op("scatter_nd")(indices, values, _shape(shape))


_plain("SparseTensorDenseAdd", lambda x1_indices, x1_values, x1_shape, x2: x2 + _to_dense(x1_indices, x1_values, x1_shape),
       "The sum of a sparse and a dense Tensor.")


def _turned(x, adjoint):
    x = _op("swapaxes")(x, -1, -2) if adjoint else x
    return _op("conj")(x) if adjoint and x.is_complex() else x


_add("SparseTensorDenseMatmul", lambda self, indices, values, sparse_shape, dense: _op("matmul")(
    _turned(_to_dense(indices, values, sparse_shape), self.adjoint_st), _turned(dense, self.adjoint_dt)),
    "adjoint_st=False, adjoint_dt=False", "The product of a sparse and a dense matrix.")
_plain("SparseAddmm", lambda indices, values, sparse_shape, x2_dense, x3_dense, alpha, beta: alpha * _op("matmul")(
    _to_dense(indices, values, sparse_shape), x2_dense) + beta * x3_dense,
        "alpha times a product with a sparse matrix, plus beta times a matrix.")


def _dense_v2(self, indices, output_shape, values, default_value):
    """A Tensor with values at places and a default elsewhere."""
    shape = _shape(output_shape)
    indices = indices.reshape((-1, len(shape))) if indices.ndim < 2 else indices
    values = values.reshape((-1,)).broadcast_to((indices.shape[0],))
    full = _op("full")(shape, 0, dtype=values.dtype) + default_value.astype(values.dtype)
    return _op("tensor_scatter_update")(full, indices, values)


_add("SparseToDenseV2", _dense_v2, "validate_indices=True")


# --- sparse Tensors --------------------------------------------------------------------------------------------------

def _order(indices):
    return np.lexsort(indices.T[::-1])


def _slice(indices, values, shape, start, size):
    """The part of a sparse Tensor from start on, of some size at most."""
    places, full = indices.asnumpy(), np.array(_shape(shape))
    begin, length = np.array(_shape(start)), np.array(_shape(size))
    end = np.minimum(begin + length, full)
    kept = np.nonzero(((places >= begin) & (places < end)).all(-1))[0]
    return (_like(places[kept] - begin, indices), _op("gather")(values, Tensor(kept), 0) if len(kept) else _like(np.zeros(0), values),
            _like(np.maximum(end - begin, 0), indices))


def _reorder(indices, values, shape):
    """Indices and values with the indices in order."""
    order = _order(indices.asnumpy())
    return _like(indices.asnumpy()[order], indices), _op("gather")(values, Tensor(order), 0)


def _reshape(indices, shape, new_shape):
    """Indices for another shape, and that shape; one size may be -1."""
    old, new = np.array(_shape(shape)), list(_shape(new_shape))
    if -1 in new:
        rest = int(np.prod([n for n in new if n != -1]))
        new[new.index(-1)] = int(np.prod(old)) // rest
    flat = np.ravel_multi_index(indices.asnumpy().T, old) if len(indices.shape) == 2 and indices.shape[0] else np.zeros(0, np.int64)
    return _like(np.stack(np.unravel_index(flat, new), -1).reshape(-1, len(new)), indices), _like(np.array(new), indices)


def _softmax(indices, values, shape):
    """Softmax over the values of each row."""
    rows = indices.asnumpy()[:, :-1]
    _, place = np.unique(rows, axis=0, return_inverse=True)
    place = Tensor(place.reshape(-1).astype(np.int32))
    count = int(place.asnumpy().max()) + 1 if place.size else 0
    top = _op("unsorted_segment_max")(values, place, count)
    share = _op("exp")(values - _op("gather")(top, place, 0))
    return share / _op("gather")(_op("unsorted_segment_sum")(share, place, count), place, 0)


def _merged(pick):
    def call(x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape):
        """The larger (or smaller) of two sparse Tensors, what is missing counting as zero."""
        tables = [{tuple(p): v for p, v in zip(i.asnumpy().tolist(), x.asnumpy())} for i, x in
                  ((x1_indices, x1_values), (x2_indices, x2_values))]
        places = sorted(set(tables[0]) | set(tables[1]))
        zero = x1_values.asnumpy().dtype.type(0)
        values = np.array([pick(tables[0].get(p, zero), tables[1].get(p, zero)) for p in places])
        return _like(np.array(places).reshape(len(places), -1), x1_indices), _like(values, x1_values)
    return call


def _added(x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape, thresh):
    """The sum of two sparse Tensors, without values smaller than a threshold."""
    table = {}
    for i, x in ((x1_indices, x1_values), (x2_indices, x2_values)):
        for p, v in zip(i.asnumpy().tolist(), x.asnumpy()):
            table[tuple(p)] = table.get(tuple(p), 0) + v
    limit = thresh.item()
    places = [p for p in sorted(table) if abs(table[p]) >= limit]
    return (_like(np.array(places).reshape(len(places), x1_indices.shape[1]), x1_indices),
            _like(np.array([table[p] for p in places]), x1_values), x1_shape)


def _concat(self, sp_input_indices, sp_input_values, sp_input_shapes):
    """Sparse Tensors one behind the other."""
    axis, at, places, rows = self.concat_dim, 0, [], []
    shapes = [list(_shape(s)) for s in sp_input_shapes]
    axis = axis % len(shapes[0])
    for indices, values, shape in zip(sp_input_indices, sp_input_values, shapes):
        moved = indices.asnumpy().copy()
        moved[:, axis] += at
        at += shape[axis]
        places.append(moved)
        rows.append(values)
    places, values = np.concatenate(places), _op("concat")(tuple(rows), 0)
    order = _order(places)
    total = list(shapes[0])
    total[axis] = at
    return _like(places[order], sp_input_indices[0]), _op("gather")(values, Tensor(order), 0), Tensor(np.array(total, np.int64))


def _split(self, split_dim, indices, values, shape):
    """A sparse Tensor in parts along a dimension: indices, values and shapes of each."""
    axis, size = int(_shape(split_dim)[0] if isinstance(split_dim, Tensor) else split_dim), list(_shape(shape))
    share, more = divmod(size[axis], self.num_split)
    places, at = indices.asnumpy(), 0
    parts = []
    for k in range(self.num_split):
        n = share + (1 if k < more else 0)
        kept = np.nonzero((places[:, axis] >= at) & (places[:, axis] < at + n))[0]
        moved = places[kept].copy()
        moved[:, axis] -= at
        part = list(size)
        part[axis] = n
        parts.append((_like(moved, indices), _like(values.asnumpy()[kept], values), _like(np.array(part), shape)))
        at += n
    return tuple(zip(*parts))


def _filled(indices, values, dense_shape, default_value):
    """A sparse Tensor in which every row has a value; which rows got the default, and where the old values went."""
    rows, places, items = int(_shape(dense_shape)[0]), indices.asnumpy(), values.asnumpy()
    entries = [(tuple(p), v, k) for k, (p, v) in enumerate(zip(places.tolist(), items))]
    empty = [r not in {p[0][0] for p in entries} for r in range(rows)]
    default = default_value.asnumpy().reshape(-1)[0]
    width = places.shape[1] if places.ndim == 2 else len(_shape(dense_shape))
    entries += [((r,) + (0,) * (width - 1), default, None) for r in range(rows) if empty[r]]
    entries.sort(key=lambda e: e[0][0])
    back = np.zeros(len(items), np.int64)
    for at, (_, _, k) in enumerate(entries):
        if k is not None:
            back[k] = at
    return (_like(np.array([e[0] for e in entries]), indices), _like(np.array([e[1] for e in entries]), values),
            Tensor(np.array(empty)), _like(back, indices))


def _coalesced(x_indices, x_values, x_shape):
    """Indices (a column a place) in order, each once, with the sums of their values."""
    places = x_indices.asnumpy()
    unique, where = np.unique(places, axis=1, return_inverse=True)
    values = _op("unsorted_segment_sum")(x_values, Tensor(where.reshape(-1).astype(np.int32)), unique.shape[1])
    return _like(unique, x_indices), values, x_shape


def _sspaddmm(x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape, x3_dense, alpha, beta):
    """beta times a sparse matrix plus alpha times the product of a sparse and a dense one; indices in two rows."""
    shape = _shape(x1_shape)
    left = _to_dense(_op("swapaxes")(x2_indices, 0, 1), x2_values, x2_shape)
    product = _op("matmul")(left, x3_dense) * alpha
    rows = np.unique(x2_indices.asnumpy()[0])
    cells = np.array([(r, c) for r in rows for c in range(shape[1])]).reshape(-1, 2)
    found = _op("gather_nd")(product, Tensor(cells)) if len(cells) else _like(np.zeros(0), x1_values)
    places = np.concatenate([x1_indices.asnumpy(), cells.T], 1).astype(np.int64)
    return Tensor(places), _op("concat")((x1_values * beta, found), 0), Tensor(np.array(shape, np.int64))


_plain("SparseSlice", _slice)
_plain("SparseReorder", _reorder)
_plain("SparseReshape", _reshape)
_plain("SparseSoftmax", _softmax)
_plain("SparseSparseMaximum", _merged(max))
_plain("SparseSparseMinimum", _merged(min))
_plain("SparseAdd", _added)
_add("SparseConcat", _concat, "concat_dim=0")
_add("SparseSplit", _split, "num_split=1")
_plain("SparseFillEmptyRows", _filled)
_plain("Coalesce", _coalesced)
_plain("Sspaddmm", _sspaddmm)


def coalesce(x_indices, x_values, x_shape):
    """See Coalesce."""
    return _coalesced(x_indices, x_values, x_shape)


# --- segments of rows ------------------------------------------------------------------------------------------------

def _segment(how, fixed):
    def call(x, indices, segment_ids, num_segments=None):
        """Rows of x named by indices, summed by segment; divided by how many they are, or by the root of that."""
        count = int(num_segments.item()) if fixed else int(segment_ids.asnumpy()[-1]) + 1
        rows = _op("gather")(x, indices, 0)
        total = _op("unsorted_segment_sum")(rows, segment_ids, count)
        if how == "sum":
            return total
        n = _op("unsorted_segment_sum")(_op("ones_like")(segment_ids).astype(x.dtype), segment_ids, count)
        n = _op("clamp")(n, 1).reshape((-1,) + (1,) * (x.ndim - 1))
        return total / (n if how == "mean" else _op("sqrt")(n))
    return call


for _name, _how in (("Sum", "sum"), ("Mean", "mean"), ("SqrtN", "root")):
    _plain("SparseSegment" + _name, _segment(_how, False))
    _plain(f"SparseSegment{_name}WithNumSegments", _segment(_how, True))


# --- sparse matrices by row pointers (CSR), perhaps several ----------------------------------------------------------

def _csr(shape, batches, rows, cols, values):
    """(row, column) of every value with the number of its matrix in front if there are several."""
    size = _shape(shape)
    starts = batches.asnumpy() if batches.ndim else np.array([0, batches.item()])  # of one matrix the end is enough
    pointers, columns = rows.asnumpy(), cols.asnumpy()
    height = size[-2]
    places = []
    for b in range(len(starts) - 1):
        own = pointers[b * (height + 1):(b + 1) * (height + 1)]
        line = np.repeat(np.arange(height), np.diff(own))
        part = np.stack([line, columns[starts[b]:starts[b + 1]]], -1)
        places.append(np.concatenate([np.full((len(part), 1), b), part], -1) if len(size) == 3 else part)
    return np.concatenate(places).astype(np.int64).reshape(-1, len(size))


def _from_dense(values, places, size, like):
    """(shape, batch pointers, row pointers, columns, values) of values at ordered places."""
    batches = size[0] if len(size) == 3 else 1
    number = places[:, 0] if len(size) == 3 else np.zeros(len(places), np.int64)
    counts = np.bincount(number, minlength=batches)
    pointers = []
    for b in range(batches):
        lines = places[number == b][:, -2]
        pointers.append(np.concatenate([[0], np.cumsum(np.bincount(lines, minlength=size[-2]))]))
    return (_like(np.array(size), like), _like(np.concatenate([[0], np.cumsum(counts)]), like), _like(np.concatenate(pointers), like),
            _like(places[:, -1], like), values)


def _csr_dense(shape, batches, rows, cols, values):
    return _op("scatter_nd")(Tensor(_csr(shape, batches, rows, cols, values)), values, _shape(shape))


def _dense_to_csr(dense_input, indices):
    """A dense matrix as a sparse one with elements at the given places."""
    return _from_dense(_op("gather_nd")(dense_input, indices), indices.asnumpy(), dense_input.shape, indices)


def _csr_of(matrix, like):
    """A dense matrix as a sparse one with the elements that are not zero."""
    places = np.argwhere(matrix.asnumpy())
    values = _op("gather_nd")(matrix, Tensor(places)) if len(places) else _like(np.zeros(0), matrix)
    return _from_dense(values, places, matrix.shape, like)


_plain("CSRSparseMatrixToDense", lambda *x: _csr_dense(*x), "A sparse matrix as a dense one.")
_plain("CSRSparseMatrixToSparseTensor", lambda shape, batches, rows, cols, values: (
    _like(_csr(shape, batches, rows, cols, values), cols), values, shape), "A sparse matrix as a sparse Tensor.")
_plain("DenseToCSRSparseMatrix", _dense_to_csr)
_plain("SparseTensorToCSRSparseMatrix", lambda x_indices, x_values, x_dense_shape: _from_dense(
    x_values, x_indices.asnumpy(), _shape(x_dense_shape), x_indices), "A sparse Tensor as a sparse matrix.")
_plain("SparseMatrixNNZ", lambda shape, batches, rows, cols, values: Tensor(np.diff(batches.asnumpy()).astype(np.int32)),
       "How many values each sparse matrix has.")
_add("SparseMatrixTranspose", lambda self, *x: _csr_of(_conj(_op("swapaxes")(_csr_dense(*x), -1, -2), self.conjugate), x[0]),
     "conjugate=False", "A sparse matrix turned.")


def _conj(x, wanted):
    return _op("conj")(x) if wanted and x.is_complex() else x


def _either(x, transpose, adjoint):
    x = _op("swapaxes")(x, -1, -2) if transpose or adjoint else x
    return _conj(x, adjoint)


def _csr_softmax(self, shape, batches, rows, cols, values):
    """Softmax over the values of each row of a sparse matrix."""
    places = _csr(shape, batches, rows, cols, values)
    return shape, batches, rows, cols, _softmax(Tensor(places), values, shape)


_add("SparseMatrixSoftmax", _csr_softmax, "dtype")
_plain("CSRGather", lambda indptr, indices, dense, sparse_shape: _op("csr_gather")(indptr, indices, dense, sparse_shape),
       "The elements of a dense Tensor at the places of a sparse matrix.")
_add("SparseMatrixSparseMatMul", lambda self, *x: _csr_of(_op("matmul")(
    _either(_csr_dense(*x[:5]), self.transpose_a, self.adjoint_a), _either(_csr_dense(*x[5:]), self.transpose_b, self.adjoint_b)), x[0]),
    "transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False", "The product of two sparse matrices.")
_plain("SparseMatrixAdd", lambda *x: _csr_of(_csr_dense(*x[:5]) * x[10] + _csr_dense(*x[5:10]) * x[11], x[0]),
       "alpha times a sparse matrix plus beta times another.")


def _matrix_product(self, *x):
    """The product of a sparse and a dense matrix."""
    found = _op("matmul")(_either(_csr_dense(*x[:5]), self.transpose_x1, self.adjoint_x1), _either(x[5], self.transpose_x2,
        self.adjoint_x2))
    found = _op("swapaxes")(found, -1, -2) if self.transpose_output else found
    return _conj(found, self.conjugate_output)


_add("SparseMatrixMatMul", _matrix_product, "transpose_x1=False, transpose_x2=False, adjoint_x1=False, adjoint_x2=False, "
     "transpose_output=False, conjugate_output=False")


# --- sets ------------------------------------------------------------------------------------------------------------

_SETS = {"a-b": lambda a, b: a - b, "b-a": lambda a, b: b - a, "intersection": lambda a, b: a & b, "union": lambda a, b: a | b}


def _combine_sets(name, operation, lead, left, right, dtype):
    if operation not in _SETS:
        raise ValueError(f"For '{name}', set_operation must be one of {list(_SETS)}, but got {operation!r}")
    places, values, longest = [], [], 0
    for at in np.ndindex(*lead):
        found = sorted(_SETS[operation](left(at), right(at)))
        longest = max(longest, len(found))
        places += [list(at) + [k] for k in range(len(found))]
        values += found
    return (Tensor(np.array(places, np.int64).reshape(-1, len(lead) + 1)), Tensor(np.array(values)).astype(dtype),
            Tensor(np.array(list(lead) + [longest], np.int64)))


def _sparse_sets(indices, values):
    table = {}
    for place, value in zip(indices.asnumpy().tolist(), values.asnumpy().tolist()):
        table.setdefault(tuple(place[:-1]), set()).add(value)
    return lambda at: table.get(at, set())


_add("DenseToDenseSetOperation", lambda self, x1, x2: _combine_sets(
    self.name, self.set_operation, x1.shape[:-1], lambda at: set(x1.asnumpy()[at].tolist()), lambda at: set(x2.asnumpy()[at].tolist()),
        x1.dtype),
    "set_operation='a-b', validate_indices=True", "Rows of two Tensors combined as sets.")
_add("DenseToSparseSetOperation", lambda self, x1, x2_indices, x2_values, x2_shape: _combine_sets(
    self.name, self.set_operation, x1.shape[:-1], lambda at: set(x1.asnumpy()[at].tolist()), _sparse_sets(x2_indices, x2_values), x1.dtype),
    "set_operation='a-b', validate_indices=True", "Rows of a Tensor and of a sparse one combined as sets.")
_add("SetSize", lambda self, set_indices, set_values, set_shape: Tensor(np.array(
    [len(_sparse_sets(set_indices, set_values)(at)) for at in np.ndindex(*_shape(set_shape)[:-1])],
        np.int32).reshape(_shape(set_shape)[:-1])),
    "validate_indices=True", "How many different values each row of a sparse Tensor has.")


def _counted(self, indices, values, dense_shape, weights):
    """How often each number occurs in each row of a sparse Tensor, or with which weight, as a sparse Tensor."""
    table, counts = {}, weights.asnumpy()
    for k, (place, value) in enumerate(zip(indices.asnumpy().tolist(), values.asnumpy().tolist())):
        if self.maxlength >= 0 and value >= self.maxlength:
            continue
        key = (*place[:-1], value)
        table[key] = 1 if self.binary_output else table.get(key, 0) + (counts[k] if counts.size else 1)
    places = sorted(table)
    widest = max([p[-1] for p in places], default=-1) + 1
    widest = self.maxlength if self.maxlength > 0 else max(widest, self.minlength)
    size = list(_shape(dense_shape))[:-1] + [widest]
    return (Tensor(np.array(places, np.int64).reshape(-1, len(size))), _like(np.array([table[p] for p in places]), weights),
            Tensor(np.array(size, np.int64)))


_add("SparseCountSparseOutput", _counted, "binary_output=False, minlength=-1, maxlength=-1")


def _ragged_sparse(self, rt_nested_splits, rt_dense_values):
    """Rows of different lengths as a sparse Tensor."""
    places = [[]]
    for splits in rt_nested_splits:
        lengths = np.diff(splits.asnumpy())
        if len(places) == 1 and not places[0]:
            places = [[r] for r in range(len(lengths))]
        places = [p + [k] for p, n in zip(places, lengths) for k in range(int(n))]
    values = rt_dense_values.asnumpy()
    inner = values.shape[1:]
    places = [p + list(more) for p in places for more in np.ndindex(*inner)]
    array = np.array(places, np.int64)
    size = array.max(0) + 1 if len(array) else np.zeros(2)
    size[0] = len(rt_nested_splits[0].asnumpy()) - 1
    return Tensor(array), rt_dense_values.reshape((-1,)), Tensor(size.astype(np.int64))


def _ragged_dense(self, shape, values, default_value, row_partition_tensors):
    """Rows of different lengths as a dense Tensor with a default behind them."""
    kinds = [k for k in self.row_partition_types]
    parts = [t.asnumpy() for t in row_partition_tensors]
    wanted = list(_shape(shape)) if not isinstance(shape, Tensor) or shape.ndim else [-1]
    first = int(parts[0]) if kinds[0] == "FIRST_DIM_SIZE" else None
    levels = list(zip(kinds, parts))[1:] if first is not None else list(zip(kinds, parts))
    places = [[r] for r in range(first if first is not None else len(parts[0]) - 1)]
    for kind, part in levels:
        if kind == "ROW_SPLITS":
            lengths = np.diff(part)
        else:
            lengths = np.bincount(part, minlength=len(places))
        places = [p + [k] for p, n in zip(places, lengths) for k in range(int(n))]
    rows = np.array(places, np.int64)
    size = [int(n) for n in rows.max(0) + 1]
    size[0] = first if first is not None else len(parts[0]) - 1
    size = [w if w >= 0 else n for w, n in zip((wanted + [-1] * len(size))[:len(size)], size)]
    array = values.asnumpy()
    out = np.full(tuple(size) + array.shape[1:], default_value.asnumpy().reshape(-1)[0] if default_value.size == 1 else 0, array.dtype)
    for place, value in zip(places, array):
        if all(p < n for p, n in zip(place, size)):
            out[tuple(place)] = value
    return Tensor(out)


_add("RaggedTensorToSparse", _ragged_sparse, "Tsplits")
_add("RaggedTensorToTensor", _ragged_dense, "row_partition_types")

# SPDX-License-Identifier: Apache-2.0
"""Primitives that count, sort and search, and those of matrices."""
from ... import _core
from ..._core import Tensor
from ...common import dtype as mstype
from .. import array, creation, linalg, math, scattering
from .._make import plain, primitive
from ..array import ints_of

__all__ = []

_apply = _core.apply


def _add(cls):
    globals()[cls.__name__] = cls
    __all__.append(cls.__name__)


def _op(name):
    from ... import ops
    return getattr(ops, name)


# --- matrices --------------------------------------------------------------------------------------------------------

_add(primitive("Cholesky", lambda self, input_x: linalg.cholesky(input_x, self.upper), "upper=False", "See ops.cholesky."))
_add(primitive("CholeskyInverse", lambda self, input_x: linalg.cholesky_inverse(input_x, self.upper), "upper=False",
               "See ops.cholesky_inverse."))
_add(primitive("CholeskySolve", lambda self, x1, x2: linalg.cholesky_solve(x1, x2, self.upper), "upper=False",
               "See ops.cholesky_solve."))
_add(primitive("Qr", lambda self, x: linalg.qr(x, "complete" if self.full_matrices else "reduced"), "full_matrices=False", "See ops.qr."))
_add(primitive("MatrixSolve", lambda self, matrix, rhs: linalg.matrix_solve(matrix, rhs, self.adjoint), "adjoint=False",
               "See ops.matrix_solve."))
_add(primitive("Lstsq", lambda self, x, a: linalg.lstsq(x, a), "fast=True, l2_regularizer=0.0", "See ops.lstsq."))


def _svd(self, x):
    """Singular values and vectors; without compute_uv the vectors are empty."""
    found = linalg.svd(x, self.full_matrices, self.compute_uv)
    return found if self.compute_uv else (found, Tensor([], x.dtype), Tensor([], x.dtype))


def _nuclear_norm(self, x):
    """The sum of the singular values of matrices in two dimensions."""
    dim = (0, 1) if self.dim is None else tuple(self.dim)
    dim = tuple(d + x.ndim if d < 0 else d for d in dim)
    total = linalg.svd(array.moveaxis(x, dim, (-2, -1)), compute_uv=False).sum(-1)
    return total.expand_dims(min(dim)).expand_dims(max(dim)) if self.keepdim else total


_add(primitive("Svd", _svd, "full_matrices=False, compute_uv=True"))
_add(primitive("NuclearNorm", _nuclear_norm, "dim=None, keepdim=False"))
_add(plain("ConjugateTranspose", lambda x, perm: _op("conj")(_op("transpose")(x, ints_of(perm, "perm"))) if x.is_complex()
           else _op("transpose")(x, ints_of(perm, "perm")), "Dimensions in another order, of the conjugate numbers."))


def _tridiagonal(superdiag, maindiag, subdiag, rhs):
    """The matrix with three diagonals times another one."""
    up = array.concat((rhs[..., 1:, :], creation.zeros_like(rhs[..., :1, :])), -2)
    down = array.concat((creation.zeros_like(rhs[..., :1, :]), rhs[..., :-1, :]), -2)
    above, main, below = (d.swapaxes(-1, -2) for d in (superdiag, maindiag, subdiag))
    return above * up + main * rhs + below * down


_add(plain("TridiagonalMatMul", _tridiagonal))


# --- counting, sorting, searching ------------------------------------------------------------------------------------

def _bincount(arr, size, weights):
    """How often, or with which weight, each number from 0 to size - 1 occurs."""
    n = int(size.item())
    inside = _apply("less", (arr, n))
    places = _apply("select", (inside, arr, 0)).astype(mstype.int64).reshape((-1,))
    weights = (_op("ones_like")(arr).astype(weights.dtype) if weights.size == 0 else weights)
    values = _apply("select", (inside, weights, 0)).reshape((-1,)).astype(weights.dtype)
    return scattering.unsorted_segment_sum(values, places, n)


_add(plain("Bincount", _bincount))
_add(primitive("Bucketize", lambda self, input: scattering.bucketize(input, self.boundaries, right=True).astype(mstype.int32),
               "boundaries", "The number of the interval between boundaries that each element falls into."))
_add(primitive("CountNonZero", lambda self, x: _op("count_nonzero")(
    x, axis=() if self.dims is None else self.dims).astype(mstype.int64), "dims=None", "How many elements are not zero."))
_add(primitive("ConfusionMatrix", lambda self, labels, predictions, weights=None: _confusion(
    labels, predictions, weights, self.num_classes, getattr(mstype, self.dtype) if isinstance(self.dtype, str) else self.dtype),
    "num_classes, dtype='int32'", "How often each label (row) was predicted as each class (column)."))


def _confusion(labels, predictions, weights, n, dtype):
    places = labels.astype(mstype.int64) * n + predictions.astype(mstype.int64)
    values = creation.ones_like(labels).astype(dtype) if weights is None else weights.astype(dtype)
    return scattering.unsorted_segment_sum(values, places, n * n).reshape((n, n))


def _bound(name, right, doc):
    def call(self, sorted_x, values):
        return scattering.searchsorted(sorted_x, values, right=right).astype(self.out_type)
    call.__doc__ = doc
    return primitive(name, call, "out_type=mstype.int32")


_add(_bound("LowerBound", False, "Where, in each sorted row, the first element not below a value stands."))
_add(_bound("UpperBound", True, "Where, in each sorted row, the first element above a value stands."))


def _histogram(self, x, range):
    """How many elements fall into each of nbins intervals of equal width; those outside count for the outer ones."""
    low, high = range[0], range[1]
    place = _op("floor")((x.astype(mstype.float32) - low) / (high - low) * self.nbins)
    place = _op("clamp")(place, 0, self.nbins - 1).astype(mstype.int64).reshape((-1,))
    return scattering.unsorted_segment_sum(creation.ones_like(place).astype(mstype.int32), place, self.nbins)


def _nth(self, input, n):
    """The n-th smallest (reverse: largest) element of each row."""
    n = n.item() if isinstance(n, Tensor) else n
    return _op("sort")(input, -1, self.reverse)[0][..., n]


def _quantile(self, input, q):
    """Values that a share q of the elements is not above."""
    q = q if isinstance(q, Tensor) else Tensor(q, input.dtype)
    return (math.nanquantile if self.ignore_nan else math.quantile)(input, q, self.dim, self.keep_dims)


_add(primitive("HistogramFixedWidth", _histogram, "nbins, dtype='int32'"))
_add(primitive("NthElement", _nth, "reverse=False"))
_add(primitive("Quantile", _quantile, "dim=None, keep_dims=False, ignore_nan=False"))


def _unique_consecutive(self, x):
    """Neighbours that are equal, once; of what is not asked for, the number 0."""
    found = _op("unique_consecutive")(x, self.return_inverse, self.return_counts, self.dim)
    rest = iter(found[1:] if isinstance(found, tuple) else ())
    return (found[0] if isinstance(found, tuple) else found, *(next(rest) if asked else Tensor(0, mstype.int64) for asked in (self.return_inverse, self.return_counts)))


_add(primitive("UniqueConsecutive", _unique_consecutive,
               "return_inverse=False, return_counts=False, dim=None"))
_add(primitive("TrilIndices", lambda self: creation.tril_indices(self.row, self.col, self.offset, dtype=self.dtype),
               "row, col, offset=0, dtype=mstype.int32", "See ops.tril_indices."))
_add(primitive("TriuIndices", lambda self: creation.triu_indices(self.row, self.col, self.offset, dtype=self.dtype),
               "row, col, offset=0, dtype=mstype.int32", "See ops.triu_indices."))


def _no_repeat(self, state_seq, log_probs):
    """Log probabilities with those words ruled out that would repeat a group of ngram_size words."""
    words, n = state_seq.tolist(), self.ngram_size
    barred = log_probs.asnumpy().copy()
    low = -3.4028235e38 if log_probs.dtype != mstype.float16 else -65504.0
    for b, beams in enumerate(words):
        for k, row in enumerate(beams):
            tail = row[len(row) - n + 1:]
            for i in range(len(row) - n + 1):
                if row[i:i + n - 1] == tail:
                    barred[b, k, row[i + n - 1]] = low
    return Tensor(barred, log_probs.dtype)


_add(primitive("NoRepeatNGram", _no_repeat, "ngram_size=1"))


def _edit_distance(self, hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape):
    """How many words must be put in, left out or replaced to make each hypothesis the truth; normalize: divided by its length."""
    shape = [max(a, b) for a, b in zip(hypothesis_shape.tolist()[:-1], truth_shape.tolist()[:-1])]

    def rows(indices, values):
        table = {}
        for place, value in zip(indices.tolist(), values.tolist()):
            table.setdefault(tuple(place[:-1]), []).append(value)
        return table
    said, meant = rows(hypothesis_indices, hypothesis_values), rows(truth_indices, truth_values)
    flat, count = [], 1
    for n in shape:
        count *= n
    for k in range(count):
        place, rest = [], k
        for n in reversed(shape):
            place.insert(0, rest % n)
            rest //= n
        a, b = said.get(tuple(place), []), meant.get(tuple(place), [])
        distance = float(_steps(a, b))
        if self.normalize:
            distance = distance / len(b) if b else (float("inf") if a else 0.0)
        flat.append(distance)
    return Tensor(flat, mstype.float32).reshape(tuple(shape))


def _steps(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


_add(primitive("EditDistance", _edit_distance, "normalize=True"))

# SPDX-License-Identifier: Apache-2.0
"""Mathematics whose arguments the operator table cannot express: several forms under one name, nested inputs, results that
are Python values; and products of tensors along chosen axes."""
import builtins

from .. import _core
from .._core import Tensor
from ..common import dtype as mstype
from ..graph import state as _state
from .array import of_rank, overwritten as _overwritten, own as _own
from .primitive import Primitive
from spore._core import type_name as _type_name

__all__ = [
    "clamp", "clip", "max", "min", "amax", "amin", "aminmax", "norm", "vector_norm", "matrix_norm", "cummin",
    "dot", "inner", "vecdot", "mv", "tensor_dot", "batch_dot", "kron", "cross", "einsum", "diff", "trapz", "renorm", "logit",
    "positive", "isreal", "sgn", "is_complex", "is_floating_point", "is_nonzero", "dist", "cov", "vander",
    "mvlgamma", "ptp", "logdet", "matrix_power", "quantile", "nanquantile", "pows", "tensor_muls", "adjoint", "Cummin", "Cross", "Einsum", "LpNorm", "ReduceStd", "SquareSumAll", "EuclideanNorm", "Renorm", "Logit",
    "LerpScalar", "Mvlgamma", "Median", "MatrixInverse", "MatrixPower", "IdentityN", "Rint"]

_apply = _core.apply


def _ops():
    from .. import ops
    return ops


def _tensor(value, name, what="input"):
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: {what} must be a Tensor, but got {_type_name(value)}")
    return value


def _axis(axis, rank, name):
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"{name}: axis must be an int, but got {_type_name(axis)}")
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: axis {axis} is out of range for rank {rank}")
    return axis % rank


# --- bounds ----------------------------------------------------------------------------------------------------------

def clamp(input, min=None, max=None) -> Tensor:
    """Each element kept between min and max; of a tuple or list, each Tensor."""
    if isinstance(input, (tuple, list)):
        return type(input)(clamp(x, min, max) for x in input)
    return _apply("clamp", (_tensor(input, "clamp"), min, max))


def clip(input, min=None, max=None) -> Tensor:
    """The same as clamp."""
    return clamp(input, min, max)


# --- extrema ---------------------------------------------------------------------------------------------------------

def _limited(x, initial, where, largest, name):
    """x with each element no worse than `initial`, and `initial` put where `where` is false."""
    if initial is not None:
        x = _apply("maximum" if largest else "minimum", (x, initial))
    if where is None or where is True:
        return x
    if initial is None:
        raise ValueError(f"{name}: initial must be given when where is")
    return _apply("select", (where, x, initial))


def _extreme_values(x, axis, keepdims, initial, where, largest, name):
    x = _limited(_tensor(x, name), initial, where, largest, name)
    return _apply("reduce_max" if largest else "reduce_min", (x,), {"axis": axis, "keepdims": keepdims})


def _extreme(x, axis, keepdims, initial, where, largest, name):
    """(values, indices), as MindSpore's max and min answer; without an axis the index is zero."""
    if axis is None:
        return (_extreme_values(x, None, False, initial, where, largest, name), Tensor(0, _core_int64()))
    x = _limited(_tensor(x, name), initial, where, largest, name)
    op = "max_with_index" if largest else "min_with_index"
    index, value = _apply(op, (x,), {"axis": axis, "keepdims": keepdims})
    return value, index


def _core_int64():
    from ..common import dtype
    return dtype.int64


def max(input, axis=None, keepdims=False, *, initial=None, where=None):
    """The maximum along an axis and where it is."""
    return _extreme(input, axis, keepdims, initial, where, True, "max")


def min(input, axis=None, keepdims=False, *, initial=None, where=None):
    """The minimum along an axis and where it is."""
    return _extreme(input, axis, keepdims, initial, where, False, "min")


def amax(input, axis=None, keepdims=False, *, initial=None, where=None) -> Tensor:
    """The maximum over axes."""
    return _extreme_values(input, axis, keepdims, initial, where, True, "amax")


def amin(input, axis=None, keepdims=False, *, initial=None, where=None) -> Tensor:
    """The minimum over axes."""
    return _extreme_values(input, axis, keepdims, initial, where, False, "amin")


def aminmax(input, *, axis=0, keepdims=False):
    """The minimum and the maximum along an axis. Over all elements (axis=None), those that are not numbers do not count."""
    if axis is None and input.is_floating_point():
        number = _apply("logical_not", (_apply("isnan", (input,)),))
        if number.any():
            low, high = (_apply("select", (number, input, end)) for end in (float("inf"), -float("inf")))
            return amin(low, None, keepdims), amax(high, None, keepdims)
    return amin(input, axis, keepdims), amax(input, axis, keepdims)


def ptp(x, axis=None, keepdims=False) -> Tensor:
    """The distance from the minimum to the maximum over axes."""
    return amax(x, axis, keepdims) - amin(x, axis, keepdims)


def _extreme_method(largest, name, compiled_method=False):
    def method(self, *args, **kwargs):
        # () and keywords of the numpy form answer values; a position, or dim, answers values and indices.
        if args and not kwargs.keys() & {"axis", "keepdims", "initial", "where", "return_indices"} or "dim" in kwargs:
            if len(args) == 1 and isinstance(args[0], (Tensor, float, builtins.bool)):
                return _apply("maximum" if largest else "minimum", (self, args[0]))
            found = form_dim(self, *args, **kwargs)
            # Of a position MindSpore's compiler makes the older method, which answers values alone; programs rely on it.
            return found[0] if args and isinstance(found, tuple) and compiled_method and _state.capture() is not None else found
        return form_axis(self, *args, **kwargs)

    def form_dim(x, dim, keepdim=False):
        if dim is None or isinstance(dim, (tuple, list)):  # several dimensions have no one position
            return _extreme_values(x, dim or None, False if dim is None else keepdim, None, None, largest, name)
        return _extreme(x, dim, keepdim, None, None, largest, name)

    def form_axis(x, axis=None, keepdims=False, *, initial=None, where=True, return_indices=False):
        if return_indices:
            return _extreme(x, axis, keepdims, initial, where, largest, name)
        return _extreme_values(x, axis, keepdims, initial, where, largest, name)
    for form in (method, form_dim, form_axis):  # by which errors call it
        form.__name__ = form.__qualname__ = name
    method.__doc__ = f"The {'maximum' if largest else 'minimum'}, of all elements or along a dimension."
    return method


_tensor_max, _tensor_min = _extreme_method(True, "max", True), _extreme_method(False, "min", True)


def _mint_extreme(largest, name):
    def function(input, *args, **kwargs):
        other = kwargs.get("other", args[0] if args and not isinstance(input, Tensor) else None)
        if other is not None:
            return _apply("maximum" if largest else "minimum", (input, other))
        return method(_tensor(input, name), *args, **kwargs)
    method = _extreme_method(largest, name)
    function.__name__ = name
    function.__doc__ = method.__doc__
    return function


def cummin(input, axis):
    """Running minimum along an axis and where it is."""
    values, index = _apply("cummin", (_tensor(input, "cummin"),), {"axis": axis})
    return values, _apply("cast", (index,), {"dtype": "int32"})


def _mint_median(input, dim=None, keepdim=False):
    """The median: of all elements, or along a dimension with its position."""
    if dim is None:
        return _apply("median", (_tensor(input, "median").reshape((-1,)),), {"axis": 0})[0]
    return _apply("median", (_tensor(input, "median"),), {"axis": dim, "keepdims": keepdim})


# --- norms -----------------------------------------------------------------------------------------------------------

def _vector_norm(x, **how):
    """Norms go by the sizes of complex numbers, and are real."""
    return _apply("vector_norm", (_ops().abs(x) if x.dtype.is_complex else x,), how)


def vector_norm(x, ord=2, axis=None, keepdims=False, *, dtype=None) -> Tensor:
    """The norm of vectors over axes."""
    x = _tensor(x, "vector_norm", "x")
    if dtype is not None:
        x = _apply("cast", (x,), {"dtype": dtype})
    if isinstance(ord, bool) or not isinstance(ord, (int, float)):
        raise TypeError(f"vector_norm: ord must be a number, but got {_type_name(ord)}")
    return _vector_norm(x, ord=ord, axis=axis, keepdims=keepdims)


def matrix_norm(A, ord="fro", axis=(-2, -1), keepdims=False, *, dtype=None) -> Tensor:
    """The norm of matrices that two axes span."""
    A = _tensor(A, "matrix_norm", "A")
    if dtype is not None:
        A = _apply("cast", (A,), {"dtype": dtype})
    if not isinstance(axis, (tuple, list)) or len(axis) != 2:
        raise ValueError(f"matrix_norm: axis must hold two axes, but got {axis!r}")
    rows, columns = (_axis(a, A.ndim, "matrix_norm") for a in axis)
    if rows == columns:
        raise ValueError(f"matrix_norm: the two axes must differ, but both are {rows}")
    if ord == "fro":
        return _vector_norm(A, axis=(rows, columns), keepdims=keepdims)
    infinite = float("inf")
    if ord in (1, -1, infinite, -infinite):
        first, second = (rows, columns) if ord in (1, -1) else (columns, rows)
        sums = _apply("reduce_sum", (_ops().abs(A),), {"axis": first, "keepdims": True})
        if not A.dtype.is_complex and sums.dtype != A.dtype:
            sums = _apply("cast", (sums,), {"dtype": A.dtype})
        result = _apply("reduce_max" if ord > 0 else "reduce_min", (sums,), {"axis": second, "keepdims": True})
    elif ord in (2, -2, "nuc"):
        rest = [i for i in builtins.range(A.ndim) if i not in (rows, columns)]
        values = _ops().svd(A.transpose(rest + [rows, columns]), compute_uv=False)
        values = _apply("real", (values,)) if values.dtype.is_complex else values
        how = "reduce_sum" if ord == "nuc" else "reduce_max" if ord == 2 else "reduce_min"
        result = _apply(how, (values,), {"axis": -1})
        shape = [1 if i in (rows, columns) else n for i, n in enumerate(A.shape)]
        result = result.reshape(tuple(shape))
    else:
        raise ValueError(f"matrix_norm: ord must be one of 'fro', 'nuc', 1, -1, 2, -2, inf, -inf, but got {ord!r}")
    if keepdims:
        return result
    return result.reshape(tuple(n for i, n in enumerate(A.shape) if i not in (rows, columns)))


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None) -> Tensor:
    """The norm of a tensor: of all its elements, of vectors (one dim) or of matrices (two dims, or rank 2 with an ord)."""
    A = _tensor(A, "norm", "A")
    if dtype is not None:
        A = _apply("cast", (A,), {"dtype": dtype})
    if dim is not None and not isinstance(dim, (int, tuple, list)):
        raise TypeError(f"norm: dim must be an int or a tuple of ints, but got {_type_name(dim)}")
    if ord is not None and not isinstance(ord, (int, float, str)):
        raise TypeError(f"norm: ord must be a number or a str, but got {_type_name(ord)}")
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if ord is None:
        return _vector_norm(A, axis=dims, keepdims=keepdim)
    if dims is None:
        if A.ndim not in (1, 2) and ord != "fro":
            raise ValueError(f"norm: with an ord and no dim the tensor must have 1 or 2 dimensions, but it has {A.ndim}")
        dims = tuple(builtins.range(A.ndim))
    if len(dims) == 1:
        if isinstance(ord, str):
            if ord == "fro":
                return _vector_norm(A, axis=dims, keepdims=keepdim)
            raise ValueError(f"norm: ord {ord!r} is for matrices, but dim is {dim!r}")
        return _vector_norm(A, ord=ord, axis=dims, keepdims=keepdim)
    if len(dims) != 2:
        if ord == "fro":
            return _vector_norm(A, axis=dims, keepdims=keepdim)
        raise ValueError(f"norm: dim must hold one or two dimensions, but got {dim!r}")
    return matrix_norm(A, ord, dims, keepdim)


def _mint_norm(input, p="fro", dim=None, keepdim=False, *, dtype=None):
    """The norm of vectors over dimensions; 'fro' and None are the Euclidean one."""
    if p == "nuc":
        return matrix_norm(input, "nuc", dim or (-2, -1), keepdim, dtype=dtype)
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


def _linalg_vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The norm of vectors over dimensions."""
    return vector_norm(x, ord, dim, keepdim, dtype=dtype)


def _linalg_matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """The norm of matrices that two dimensions span."""
    return matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def dist(input, other, p=2) -> Tensor:
    """The norm of the difference of two tensors."""
    return vector_norm(_tensor(input, "dist") - _tensor(other, "dist", "other"), p)


def renorm(input, p, axis, maxnorm) -> Tensor:
    """Slices along an axis whose norm exceeds maxnorm, scaled down to it."""
    x = _tensor(input, "renorm")
    axis = _axis(axis, x.ndim, "renorm")
    others = tuple(i for i in builtins.range(x.ndim) if i != axis)
    length = _vector_norm(x, ord=p, axis=others, keepdims=True)
    return x * _apply("select", (length > maxnorm, maxnorm / length, 1.0))


# --- products --------------------------------------------------------------------------------------------------------

def dot(input, other) -> Tensor:
    """The product over the last axis of the first and the one before the last of the second."""
    x, y = _tensor(input, "dot"), _tensor(other, "dot", "other")
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError(f"dot: both inputs must have at least 2 dimensions, but have {x.ndim} and {y.ndim}")
    if x.dtype != y.dtype:
        raise TypeError(f"dot: both inputs must have one dtype, but have {x.dtype} and {y.dtype}")
    return tensor_dot(x, y, ((x.ndim - 1,), (y.ndim - 2,)))


def _vector_dot(input, other):
    """The product of two vectors."""
    x, y = _tensor(input, "dot"), _tensor(other, "dot", "other")
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"dot: both inputs must have 1 dimension, but have {x.ndim} and {y.ndim}")
    return _apply("matmul", (x, y))


def _tensor_dot(self, tensor2):
    """The product of two vectors; of more dimensions, as ops.dot."""
    return (dot if isinstance(tensor2, Tensor) and self.ndim > 1 and tensor2.ndim > 1 else _vector_dot)(self, tensor2)


def _vdot(input, other):
    """The product of two vectors, the first conjugated."""
    return _vector_dot(_apply("conj", (input,)), other)


def inner(input, other) -> Tensor:
    """Sums of products over the last axes."""
    x, y = _tensor(input, "inner"), _tensor(other, "inner", "other")
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    return tensor_dot(x, y, ((x.ndim - 1,), (y.ndim - 1,)))


def vecdot(x, y, *, axis=-1) -> Tensor:
    """Sums of products along an axis, of complex numbers with x conjugated."""
    x = _tensor(x, "vecdot", "x")
    product = _apply("mul", (_apply("conj", (x,)) if x.dtype.is_complex else x, _tensor(y, "vecdot", "y")))
    return _ops().sum(product, axis)


def mv(mat, vec) -> Tensor:
    """A matrix times a vector."""
    if _tensor(mat, "mv", "mat").ndim != 2 or _tensor(vec, "mv", "vec").ndim != 1:
        raise ValueError(f"mv: a matrix and a vector are wanted, but the ranks are {mat.ndim} and {vec.ndim}")
    return _apply("matmul", (mat, vec))


def _product(numbers):
    result = 1
    for n in numbers:
        result *= n
    return result


def tensor_dot(x1, x2, axes) -> Tensor:
    """Sums of products over axes: the last `axes` of x1 with the first of x2, or the pairs of two lists."""
    x, y = _tensor(x1, "tensor_dot", "x1"), _tensor(x2, "tensor_dot", "x2")
    if isinstance(axes, int) and not isinstance(axes, bool):
        if not 0 <= axes <= builtins.min(x.ndim, y.ndim):
            raise ValueError(f"tensor_dot: axes is {axes}, but the ranks are {x.ndim} and {y.ndim}")
        first, second = tuple(builtins.range(x.ndim - axes, x.ndim)), tuple(builtins.range(axes))
    elif isinstance(axes, (tuple, list)) and len(axes) == 2:
        first, second = ((a,) if isinstance(a, int) else tuple(a) for a in axes)
        first = tuple(_axis(a, x.ndim, "tensor_dot") for a in first)
        second = tuple(_axis(a, y.ndim, "tensor_dot") for a in second)
    else:
        raise TypeError(f"tensor_dot: axes must be an int or a pair of axes or lists of them, but got {axes!r}")
    if [x.shape[a] for a in first] != [y.shape[a] for a in second]:
        raise ValueError(f"tensor_dot: axes {first} of shape {x.shape} do not match axes {second} of shape {y.shape}")
    free_x = tuple(i for i in builtins.range(x.ndim) if i not in first)
    free_y = tuple(i for i in builtins.range(y.ndim) if i not in second)
    shape = tuple(x.shape[i] for i in free_x) + tuple(y.shape[i] for i in free_y)
    inside = _product(x.shape[i] for i in first)
    a = x.transpose(free_x + first) if x.ndim else x
    b = y.transpose(second + free_y) if y.ndim else y
    a = a.reshape((_product(x.shape[i] for i in free_x), inside))
    b = b.reshape((inside, _product(y.shape[i] for i in free_y)))
    return _apply("matmul", (a, b)).reshape(shape)


def batch_dot(x1, x2, axes=None) -> Tensor:
    """Products of the items of two batches, over one axis of each."""
    x, y = _tensor(x1, "batch_dot", "x1"), _tensor(x2, "batch_dot", "x2")
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError(f"batch_dot: both inputs must have at least 2 dimensions, but have {x.ndim} and {y.ndim}")
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"batch_dot: the batches must have one size, but have {x.shape[0]} and {y.shape[0]}")
    if axes is None:
        first, second = x.ndim - 1, y.ndim - 1 if y.ndim == 2 else y.ndim - 2
    else:
        first, second = (axes, axes) if isinstance(axes, int) else axes
        first, second = _axis(first, x.ndim, "batch_dot"), _axis(second, y.ndim, "batch_dot")
    if first == 0 or second == 0:
        raise ValueError("batch_dot: axis 0 is the batch and cannot be summed over")
    if x.shape[first] != y.shape[second]:
        raise ValueError(f"batch_dot: axis {first} of shape {x.shape} does not match axis {second} of shape {y.shape}")
    free_x = [i for i in builtins.range(1, x.ndim) if i != first]
    free_y = [i for i in builtins.range(1, y.ndim) if i != second]
    a = x.transpose([0] + free_x + [first]).reshape((x.shape[0], _product(x.shape[i] for i in free_x), x.shape[first]))
    b = y.transpose([0, second] + free_y).reshape((y.shape[0], y.shape[second], _product(y.shape[i] for i in free_y)))
    shape = [x.shape[0]] + [x.shape[i] for i in free_x] + [y.shape[i] for i in free_y]
    return _apply("matmul", (a, b)).reshape(tuple(shape + [1] * (len(shape) == 1)))


def kron(input, other) -> Tensor:
    """The Kronecker product."""
    x, y = _tensor(input, "kron"), _tensor(other, "kron", "other")
    rank = builtins.max(x.ndim, y.ndim)
    left, right = (1,) * (rank - x.ndim) + x.shape, (1,) * (rank - y.ndim) + y.shape
    a = x.reshape(tuple(n for d in left for n in (d, 1)))
    b = y.reshape(tuple(n for d in right for n in (1, d)))
    return _apply("mul", (a, b)).reshape(tuple(m * n for m, n in zip(left, right)))


def cross(input, other, dim=None) -> Tensor:
    """The cross product of vectors of three elements along a dimension (the first of that size)."""
    x, y = _tensor(input, "cross"), _tensor(other, "cross", "other")
    if dim is None or dim == -65530:
        found = [i for i, n in enumerate(x.shape) if n == 3]
        if not found:
            raise ValueError(f"cross: no dimension of shape {x.shape} has size 3")
        dim = found[0]
    axis = _axis(dim, x.ndim, "cross")
    if x.shape[axis] != 3 or y.ndim != x.ndim or y.shape[axis] != 3:
        raise ValueError(f"cross: dimension {dim} of both inputs must have size 3, but the shapes are {x.shape} and {y.shape}")

    def turned(t, by):
        return _apply("roll", (t,), {"shifts": (by,), "dims": (axis,)})
    return turned(x, -1) * turned(y, -2) - turned(x, -2) * turned(y, -1)


# --- einsum ----------------------------------------------------------------------------------------------------------

class _Term:
    """A tensor whose axes carry labels, in order."""

    def __init__(self, value, labels):
        self.value, self.labels = value, labels

    def diagonal(self):
        """Axes of one label made one."""
        while len(set(self.labels)) < len(self.labels):
            label = next(k for k in self.labels if self.labels.count(k) > 1)
            i = self.labels.index(label)
            j = self.labels.index(label, i + 1)
            rest = [k for k in builtins.range(len(self.labels)) if k not in (i, j)]
            n = self.value.shape[i]
            moved = self.value.transpose(rest + [i, j])
            flat = moved.reshape(tuple(moved.shape[:-2]) + (n * n,))
            self.value = flat[..., ::n + 1]
            self.labels = [self.labels[k] for k in rest] + [label]
        return self

    def keep(self, wanted):
        """Axes that nobody wants, summed."""
        gone = tuple(i for i, k in enumerate(self.labels) if k not in wanted)
        if gone:
            self.value = _apply("reduce_sum", (self.value,), {"axis": gone})
            self.labels = [k for k in self.labels if k in wanted]
        return self

    def arranged(self, labels):
        """Transposed to this order of labels; missing ones get size 1."""
        have = [k for k in labels if k in self.labels]
        value = self.value.transpose([self.labels.index(k) for k in have]) if have else self.value
        sizes = dict(zip(have, value.shape))
        return value.reshape(tuple(sizes.get(k, 1) for k in labels))


def _contract(a, b, wanted):
    """The product of two terms, summed over the labels that only they share."""
    both = [k for k in a.labels if k in b.labels]
    sizes = {}
    for term in (a, b):
        for k, n in zip(term.labels, term.value.shape):
            sizes[k] = builtins.max(n, sizes.get(k, 1))
    stretched = [k for k in both if a.value.shape[a.labels.index(k)] != b.value.shape[b.labels.index(k)]]
    inside = [k for k in both if k not in wanted]
    if stretched or not inside:
        order = a.labels + [k for k in b.labels if k not in both]
        return _Term(_apply("mul", (a.arranged(order), b.arranged(order))), order).keep(wanted)
    batch = [k for k in both if k in wanted]
    left, right = [k for k in a.labels if k not in both], [k for k in b.labels if k not in both]

    def folded(term, *groups):
        value = term.arranged([k for g in groups for k in g])
        return value.reshape(tuple(_product(sizes[k] for k in g) for g in groups))
    product = _apply("matmul", (folded(a, batch, left, inside), folded(b, batch, inside, right)))
    labels = batch + left + right
    return _Term(product.reshape(tuple(sizes[k] for k in labels)), labels)


def _parse_einsum(equation, operands):
    if not isinstance(equation, str):
        raise TypeError(f"einsum: equation must be a str, but got {_type_name(equation)}")
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(operands):
        raise ValueError(f"einsum: {equation!r} names {len(parts)} operands, but got {len(operands)}")
    terms, dots = [], 0
    for part, x in zip(parts, operands):
        before, more, after = part.partition("...")
        letters = before + after
        if not (letters.isalpha() or not letters) or "." in letters:
            raise ValueError(f"einsum: {part!r} in {equation!r} must be letters and at most one ellipsis")
        extra = x.ndim - len(letters)
        if extra < 0 or (extra and not more):
            raise ValueError(f"einsum: {part!r} in {equation!r} names {len(letters)} axes, but the operand has rank {x.ndim}")
        dots = builtins.max(dots, extra)
        terms.append((list(before), extra, list(after), x))
    made = []
    for before, extra, after, x in terms:
        made.append(_Term(x, before + [f"...{i}" for i in builtins.range(dots - extra, dots)] + after))
    spread = [f"...{i}" for i in builtins.range(dots)]
    if arrow:
        before, more, after = right.partition("...")
        result = list(before) + (spread if more else []) + list(after)
        known = {k for t in made for k in t.labels}
        unknown = [k for k in result if k not in known]
        if unknown or len(set(result)) != len(result):
            raise ValueError(f"einsum: the result {right!r} of {equation!r} must name axes of the operands, each once")
    else:
        letters = [k for t in made for k in t.labels if not k.startswith("...")]
        result = spread + sorted(k for k in set(letters) if letters.count(k) == 1)
    return made, result


def _lettered(given):
    """(equation, operands) of Tensors, each with a list of numbers for its axes, and maybe one for those of the result."""
    def letters(axes):
        for k in axes:
            if k is not Ellipsis and (isinstance(k, bool) or not isinstance(k, int) or not 0 <= k < 52):
                raise ValueError(f"einsum: axes are numbered from 0 to 51, but got {k!r}")
        return "".join("..." if k is Ellipsis else chr((65 if k < 26 else 71) + k) for k in axes)
    n = len(given) // 2 * 2
    if n != len(given) and len(given) < 3 or not all(isinstance(axes, (tuple, list)) for axes in given[1:n:2]):
        raise ValueError("einsum: each operand needs a list of the numbers of its axes after it")
    equation = ",".join(letters(axes) for axes in given[1:n:2])
    return equation if n == len(given) else f"{equation}->{letters(given[-1])}", given[:n:2]


def einsum(equation, *operands) -> Tensor:
    """Sums of products over labelled axes: einsum('ij,jk->ik', a, b) is the matrix product; einsum(a, [0, 1], b, [1, 2], [0, 2]) the
    same with numbers for the axes."""
    if isinstance(equation, Tensor):
        equation, operands = _lettered((equation, *operands))
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    if not operands:
        raise ValueError("einsum: at least one operand is needed")
    for x in operands:
        _tensor(x, "einsum", "every operand")
    terms, result = _parse_einsum(equation, operands)
    sizes = {}
    for term in terms:
        for k, n in zip(term.labels, term.value.shape):
            if n != 1 and sizes.setdefault(k, n) != n:
                raise ValueError(f"einsum: axis '{k}' in {equation!r} has size {sizes[k]} in one operand and {n} in another")
        term.diagonal()
    current = terms[0]
    for i, term in enumerate(terms[1:], 1):
        later = set(result).union(*(t.labels for t in terms[i + 1:])) if i + 1 < len(terms) else set(result)
        current.keep(later | set(term.labels))
        term.keep(later | set(current.labels))
        current = _contract(current, term, later)
    return current.keep(set(result)).arranged(result)


# --- matrices --------------------------------------------------------------------------------------------------------

def logdet(input) -> Tensor:
    """The logarithm of the determinant; NaN where that is negative, of complex matrices the principal value."""
    if _tensor(input, "logdet").dtype.is_complex:
        return _apply("log", (_apply("det", (input,)),))
    sign, size = _apply("slogdet", (input,))
    return _apply("select", (sign >= 0, size, float("nan")))


def matrix_power(input, n) -> Tensor:
    """A square matrix times itself n times; of a negative n, the inverse."""
    x = _tensor(input, "matrix_power")
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"matrix_power: n must be an int, but got {_type_name(n)}")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"matrix_power: the last two dimensions must be equal, but the shape is {x.shape}")
    if n < 0:
        x, n = _apply("matrix_inverse", (x,)), -n
    result = None
    while n:
        if n & 1:
            result = x if result is None else _apply("matmul", (result, x))
        n >>= 1
        if n:
            x = _apply("matmul", (x, x))
    if result is not None:
        return result
    size = x.shape[-1]
    one = Tensor([[float(i == j) for j in builtins.range(size)] for i in builtins.range(size)], x.dtype)
    return _apply("broadcast_to", (one,), {"shape": x.shape})


def adjoint(x) -> Tensor:
    """The conjugate of the transpose of the last two axes."""
    x = _tensor(x, "adjoint", "x")
    if x.ndim < 2:
        raise ValueError(f"adjoint: the input must have at least 2 dimensions, but has {x.ndim}")
    order = list(builtins.range(x.ndim))
    order[-1], order[-2] = order[-2], order[-1]
    return _apply("conj", (x.transpose(order),))


# --- quantiles -------------------------------------------------------------------------------------------------------

def _quantile(input, q, axis, keepdims, ignore_nan, name):
    x = _tensor(input, name)
    points = q.asnumpy() if isinstance(q, Tensor) else q
    single = getattr(points, "ndim", 0) == 0 and not isinstance(points, (tuple, list))
    points = [float(points)] if single else [float(p) for p in points]
    if not all(0 <= p <= 1 for p in points):
        raise ValueError(f"{name}: q must be between 0 and 1, but got {points}")
    shape = tuple(x.shape)
    if axis is None:
        x, axis = x.reshape((-1,)), 0
        reduced = (1,) * len(shape) if keepdims else ()
    else:
        axis = _axis(axis, x.ndim, name)
        reduced = tuple(1 if i == axis else d for i, d in enumerate(shape) if keepdims or i != axis)
    bad = _apply("isnan", (x,))
    ordered = _ops().sort(_apply("select", (bad, float("inf"), x)), axis)[0]
    missing = _apply("reduce_sum", (_apply("cast", (bad,), {"dtype": x.dtype}),), {"axis": axis, "keepdims": True})
    last = (x.shape[axis] - missing if ignore_nan else x.shape[axis]) - 1
    place = Tensor(list(builtins.range(x.shape[axis])), x.dtype).reshape((-1,) + (1,) * (x.ndim - 1 - axis))
    results = []
    for p in points:
        # Weights that interpolate between the two neighbours of the position, zero elsewhere.
        weight = _apply("clamp", (1 - _apply("abs", (place - p * last,)), 0, None))
        value = _apply("reduce_sum", (_apply("mul_no_nan", (ordered, weight)),), {"axis": axis, "keepdims": True})
        if not ignore_nan:
            value = _apply("select", (missing > 0, float("nan"), value))
        results.append(value.reshape(reduced))
    return results[0] if single else _ops().stack(results, 0)


def quantile(input, q, axis=None, keepdims=False) -> Tensor:
    """Values below which a share q of the elements along an axis lies, interpolated."""
    return _quantile(input, q, axis, keepdims, False, "quantile")


def nanquantile(input, q, axis=None, keepdims=False) -> Tensor:
    """The same, of what is not NaN."""
    return _quantile(input, q, axis, keepdims, True, "nanquantile")


def _kthvalue(input, k, dim=-1, keepdim=False):
    """The k-th smallest element along a dimension and where it is."""
    x = _tensor(input, "kthvalue")
    axis = _axis(dim, x.ndim, "kthvalue")
    if not 1 <= k <= x.shape[axis]:
        raise ValueError(f"kthvalue: k is {k}, it must be between 1 and {x.shape[axis]}")
    picked = [_slice(t, axis, k - 1, k) for t in _ops().sort(x, axis)]
    if not keepdim:
        picked = [t.reshape(tuple(d for i, d in enumerate(t.shape) if i != axis)) for t in picked]
    return picked[0], _apply("cast", (picked[1],), {"dtype": _core_int64()})


def pows(input, exponent) -> Tensor:
    """The power with a number for exponent."""
    return _apply("pow", (input, exponent))


def tensor_muls(input, other) -> Tensor:
    """The product with a number."""
    return _apply("mul", (input, other))


# --- differences and areas -------------------------------------------------------------------------------------------

def _slice(x, axis, begin, end):
    return x[(slice(None),) * axis + (slice(begin, end),)]


def diff(x, n=1, axis=-1, prepend=None, append=None) -> Tensor:
    """The n-th difference of neighbours along an axis."""
    x = _tensor(x, "diff", "x")
    axis = _axis(axis, x.ndim, "diff")
    if n < 0:
        raise ValueError(f"diff: n must not be negative, but got {n}")
    parts = [p for p in (prepend, x, append) if p is not None]
    if len(parts) > 1:
        x = _ops().concat(parts, axis)
    for _ in builtins.range(n):
        high, low = _slice(x, axis, 1, None), _slice(x, axis, 0, x.shape[axis] - 1)
        x = _apply("not_equal" if x.dtype == _bool() else "sub", (high, low))
    return x


def _bool():
    from ..common import dtype
    return dtype.bool_


def _mint_diff(input, n=1, dim=-1, prepend=None, append=None):
    """The n-th difference of neighbours along a dimension."""
    return diff(input, n, dim, prepend, append)


def trapz(y, x=None, *, dx=1.0, dim=-1) -> Tensor:
    """The area under y by the trapezoidal rule, over points x or steps of dx."""
    y = _tensor(y, "trapz", "y")
    axis = _axis(dim, y.ndim, "trapz")
    width = dx
    if x is not None:
        width = diff(x, axis=-1 if x.ndim == 1 else dim)
        if x.ndim == 1:
            width = width.reshape((-1,) + (1,) * (y.ndim - 1 - axis))
    pair = _slice(y, axis, 1, None) + _slice(y, axis, 0, y.shape[axis] - 1)
    return _apply("reduce_sum", (pair * width / 2,), {"axis": axis})


def cov(input, *, correction=1, fweights=None, aweights=None) -> Tensor:
    """Covariances of the rows of a matrix."""
    x = _tensor(input, "cov")
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        x = _apply("cast", (x,), {"dtype": "float32"})
    if x.ndim > 2:
        raise ValueError(f"cov: the input must have at most 2 dimensions, but has {x.ndim}")
    x = x.reshape((1, -1)) if x.ndim < 2 else x
    weights = None
    for given in (fweights, aweights):
        if given is not None:
            weights = given if weights is None else weights * given
    if weights is None:
        count, middle = float(x.shape[1]), _apply("reduce_mean", (x,), {"axis": 1, "keepdims": True})
        centred = weighted = x - middle
        denominator = count - correction
    else:
        total = _apply("reduce_sum", (weights,))
        middle = _apply("reduce_sum", (x * weights,), {"axis": 1, "keepdims": True}) / total
        centred = x - middle
        weighted = centred * weights
        share = total if aweights is None else _apply("reduce_sum", (weights * aweights,)) / total
        denominator = total - correction * (share if aweights is not None else 1)
    result = _apply("matmul", (weighted, centred), {"transpose_b": True}) / denominator
    return result.reshape(()) if input.ndim < 2 else result


def vander(x, N=None) -> Tensor:
    """Powers of a vector's elements, the highest first."""
    x = _tensor(x, "vander", "x")
    x = of_rank(x.astype(mstype.int64) if x.dtype == mstype.bool_ else x, 1, 1, "vander", "x")
    n = x.shape[0] if N is None else N
    powers = Tensor(list(builtins.range(n - 1, -1, -1)), x.dtype)
    return _apply("pow", (x.reshape((-1, 1)), powers))


# --- smaller ones ----------------------------------------------------------------------------------------------------

def logit(input, eps=None) -> Tensor:
    """log(x / (1 - x)), with x kept away from 0 and 1 by eps."""
    x = _tensor(input, "logit")
    if eps is not None and eps >= 0:
        x = clamp(x, eps, 1 - eps)
    return _apply("log", (x / (1 - x),))


def mvlgamma(input, p) -> Tensor:
    """The multivariate log-gamma function of dimension p."""
    x = _tensor(input, "mvlgamma")
    if not isinstance(p, int) or not 1 <= p <= 1 << 16:
        raise ValueError(f"mvlgamma: p must be an int from 1 to 65536, but got {p!r}")
    result = 0.28618247146235004 * p * (p - 1)
    for j in builtins.range(p):
        result = _apply("lgamma", (x - j / 2,)) + result
    return result


def positive(input) -> Tensor:
    """The input itself."""
    return _tensor(input, "positive")


def isreal(input) -> Tensor:
    """Whether each element is a real number."""
    x = _tensor(input, "isreal")
    if "omplex" in str(x.dtype):
        return _apply("equal", (x, _apply("conj", (x,))))
    return _apply("logical_or", (x, True))


def sgn(input) -> Tensor:
    """The sign; of complex numbers, the number divided by its size."""
    x = _tensor(input, "sgn")
    if "omplex" not in str(x.dtype):
        return _apply("sign", (x,))
    ops = _ops()
    size = ops.abs(x)
    return _apply("select", (size == 0, 0, x / _apply("select", (size == 0, 1, size))))


def is_complex(input):
    """Whether the dtype is complex."""
    return "omplex" in str(_tensor(input, "is_complex").dtype)


def is_floating_point(input):
    """Whether the dtype is a floating-point one."""
    return "loat" in str(_tensor(input, "is_floating_point").dtype)


def is_nonzero(input):
    """Whether the one element is not zero."""
    x = _tensor(input, "is_nonzero")
    if x.size != 1:
        raise ValueError(f"is_nonzero: the input must have one element, but has {x.size}")
    return bool(x.reshape(()) != 0)


def _allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close."""
    return bool(_apply("reduce_all", (_apply("isclose", (input, other), {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}),)))


def _all_equal(input, other):
    """Whether shapes and all elements are equal."""
    return input.shape == other.shape and bool(_apply("reduce_all", (_apply("equal", (input, other)),)))


def _mint_cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The distance of every row of x1 to every row of x2."""
    return _apply("cdist", (x1, x2), {"p": p})


def _tensor_trace(self, offset=0, axis1=0, axis2=1, dtype=None):
    """Sums along diagonals."""
    if (offset, axis1, axis2) == (0, 0, 1) and self.ndim == 2:
        result = _apply("trace", (self,))
    else:
        result = _apply("reduce_sum", (_ops().diagonal(self, offset, axis1, axis2),), {"axis": -1})
    if dtype is None and not (self.dtype.is_floating_point or self.dtype.is_complex):
        dtype = _core_int64()
    return result if dtype is None else _apply("cast", (result,), {"dtype": dtype})


# --- primitives ------------------------------------------------------------------------------------------------------

def _keep(primitive, **values):
    Primitive.__init__(primitive, type(primitive).__name__)
    for name, value in values.items():
        primitive.add_prim_attr(name, value)


class Cummin(Primitive):
    """Running minimum along an axis and where it is."""
    def __init__(self, axis):
        _keep(self, axis=axis)

    def __call__(self, x):
        return cummin(x, self.axis)


class Cross(Primitive):
    """The cross product along a dimension."""
    def __init__(self, dim=-65530):
        _keep(self, dim=dim)

    def __call__(self, x1, x2) -> Tensor:
        return cross(x1, x2, self.dim)


class Einsum(Primitive):
    """Sums of products over labelled axes."""
    def __init__(self, equation):
        _keep(self, equation=equation)

    def __call__(self, x) -> Tensor:
        return einsum(self.equation, *x)


class LpNorm(Primitive):
    """The norm of order p over axes."""
    def __init__(self, axis, p=2, keep_dims=False, epsilon=1e-12):
        _keep(self, axis=axis, p=p, keep_dims=keep_dims, epsilon=epsilon)

    def __call__(self, x) -> Tensor:
        return _apply("vector_norm", (_tensor(x, "LpNorm"),), {"ord": self.p, "axis": self.axis, "keepdims": self.keep_dims})


class EuclideanNorm(Primitive):
    """The Euclidean norm over axes."""
    def __init__(self, keep_dims=False):
        _keep(self, keep_dims=keep_dims)

    def __call__(self, x, axes) -> Tensor:
        return _apply("vector_norm", (x,), {"axis": axes, "keepdims": self.keep_dims})


class ReduceStd(Primitive):
    """Standard deviation and mean over axes."""
    def __init__(self, axis=(), unbiased=True, keep_dims=False):
        _keep(self, axis=axis, unbiased=unbiased, keep_dims=keep_dims)

    def __call__(self, x):
        return _apply("std_mean", (x,), {"axis": self.axis, "correction": int(self.unbiased), "keepdims": self.keep_dims})


class SquareSumAll(Primitive):
    """The sums of squares of two tensors."""
    def __init__(self):
        _keep(self)

    def __call__(self, x, y):
        return tuple(_apply("reduce_sum", (_apply("square", (t,)),)) for t in (x, y))


class Renorm(Primitive):
    """Slices along a dimension scaled down to a norm."""
    def __init__(self, p, dim, maxnorm):
        _keep(self, p=p, dim=dim, maxnorm=maxnorm)

    def __call__(self, x) -> Tensor:
        return renorm(x, self.p, self.dim, self.maxnorm)


class Logit(Primitive):
    """log(x / (1 - x))."""
    def __init__(self, eps=-1.0):
        _keep(self, eps=eps)

    def __call__(self, x) -> Tensor:
        return logit(x, self.eps)


class LerpScalar(Primitive):
    """Interpolation with a number for weight."""
    def __init__(self):
        _keep(self)

    def __call__(self, input, end, weight) -> Tensor:
        return _apply("lerp", (input, end, weight))


class Mvlgamma(Primitive):
    """The multivariate log-gamma function."""
    def __init__(self, p):
        _keep(self, p=p)

    def __call__(self, x) -> Tensor:
        return mvlgamma(x, self.p)


class Median(Primitive):
    """The median of all elements, or along an axis with its position."""
    def __init__(self, global_median=False, axis=0, keep_dims=False, ignore_nan=False):
        _keep(self, global_median=global_median, axis=axis, keep_dims=keep_dims, ignore_nan=ignore_nan)

    def __call__(self, x):
        if self.global_median:
            values, index = _apply("median", (x.reshape((-1,)),), {"axis": 0, "ignore_nan": self.ignore_nan})
            return values, index
        return _apply("median", (x,), {"axis": self.axis, "keepdims": self.keep_dims, "ignore_nan": self.ignore_nan})


class MatrixInverse(Primitive):
    """The inverse of square matrices, or of their adjoints."""
    def __init__(self, adjoint=False):
        _keep(self, adjoint=adjoint)

    def __call__(self, x) -> Tensor:
        return _apply("matrix_inverse", (adjoint(x) if self.adjoint else x,))


class MatrixPower(Primitive):
    """A square matrix times itself n times."""
    def __init__(self, n):
        _keep(self, n=n)

    def __call__(self, x) -> Tensor:
        return matrix_power(x, self.n)


class IdentityN(Primitive):
    """The same tensors."""
    def __init__(self):
        _keep(self)

    def __call__(self, x):
        return tuple(_apply("identity", (_own(t),)) for t in x)


class Rint(Primitive):
    """The nearest integer."""
    def __init__(self):
        _keep(self)

    def __call__(self, x) -> Tensor:
        return _apply("round", (x,))


# --- in place --------------------------------------------------------------------------------------------------------

def _in_place(name, op):
    def method(self, other, **kwargs):
        return _overwritten(self, lambda x: _apply(op, (x, other), kwargs or None))
    method.__name__ = name
    method.__doc__ = f"{op.split('_')[0]}, written into the tensor itself."
    return method


def _in_place_unary(name, op):
    def method(self):
        return _overwritten(self, lambda x: _apply(op, (x,)))
    method.__name__ = name
    method.__doc__ = f"{op}, written into the tensor itself."
    return method


def _clamp_in_place(self, min=None, max=None):
    """clamp, written into the tensor itself."""
    return _overwritten(self, lambda x: clamp(x, min, max))


def _with_value(largest, name):
    def method(self, axis=0, keep_dims=False):
        return _extreme(self, axis, keep_dims, None, None, largest, name)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The {'maximum' if largest else 'minimum'} along an axis and where it is; without an axis that of all, and zero."
    return method


TENSOR_METHODS = {
    "argmax_with_value": _with_value(True, "argmax_with_value"), "argmin_with_value": _with_value(False, "argmin_with_value"),
    "max": _tensor_max, "min": _tensor_min, "amax": amax, "amin": amin, "aminmax": aminmax, "ptp": ptp, "norm": norm,
    "cummin": cummin, "dot": _tensor_dot, "inner": inner, "mv": mv, "cross": cross, "diff": diff, "renorm": renorm, "logit": logit,
    "positive": positive, "isreal": isreal, "sgn": sgn, "is_complex": is_complex, "is_floating_point": is_floating_point,
    "logdet": logdet, "matrix_power": matrix_power, "quantile": quantile, "nanquantile": nanquantile, "kthvalue": _kthvalue,
    "adjoint": adjoint, "allclose": _allclose, "trace": _tensor_trace, "cov": cov, "mvlgamma": mvlgamma, "kron": kron,
    "add_": _in_place("add_", "add_scaled"), "sub_": _in_place("sub_", "sub_scaled"), "mul_": _in_place("mul_", "mul"),
    "div_": _in_place("div_", "div_mode"), "floor_divide_": _in_place("floor_divide_", "floor_div"),
    "remainder_": _in_place("remainder_", "floor_mod"), "pow_": _in_place("pow_", "pow"),
    "exp_": _in_place_unary("exp_", "exp"), "log_": _in_place_unary("log_", "log"), "floor_": _in_place_unary("floor_", "floor"),
    "sigmoid_": _in_place_unary("sigmoid_", "sigmoid"), "tanh_": _in_place_unary("tanh_", "tanh"),
    "sign_": _in_place_unary("sign_", "sign"), "erfinv_": _in_place_unary("erfinv_", "erfinv"), "clamp_": _clamp_in_place,
}

MINT = {
    "max": _mint_extreme(True, "max"), "min": _mint_extreme(False, "min"), "median": _mint_median, "norm": _mint_norm,
    "dot": _vector_dot, "vdot": _vdot, "einsum": einsum, "cross": cross, "mv": mv, "diff": _mint_diff, "allclose": _allclose,
    "equal": _all_equal, "cdist": _mint_cdist, "kthvalue": _kthvalue,
    "linalg.norm": norm, "linalg.vector_norm": _linalg_vector_norm, "linalg.matrix_norm": _linalg_matrix_norm,
}

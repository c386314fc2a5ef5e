# SPDX-License-Identifier: Apache-2.0
"""New Tensors: from values, grids, matrices of a pattern, windows, random numbers; and padding."""
import builtins
import math
import operator

from spore import ops
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.numpy import _convert
from spore.numpy._convert import cast, dtype_of, made, shape_of, tensor, tensor_only
from spore.ops.array import own

__all__ = ['arange', 'array', 'asarray', 'asfarray', 'bartlett', 'blackman', 'copy', 'diag', 'diag_indices', 'diagflat',
           'diagonal', 'empty', 'empty_like', 'eye', 'full', 'full_like', 'geomspace', 'hamming', 'hanning',
           'histogram_bin_edges', 'identity', 'indices', 'ix_', 'linspace', 'logspace', 'meshgrid', 'mgrid', 'ogrid',
           'ones', 'ones_like', 'pad', 'rand', 'randint', 'randn', 'trace', 'tri', 'tril', 'tril_indices',
           'tril_indices_from', 'triu', 'triu_indices', 'triu_indices_from', 'vander', 'zeros', 'zeros_like']


# --- from values -----------------------------------------------------------------------------------------------------

def array(obj, dtype=None, copy=True, ndmin=0) -> Tensor:
    """A Tensor of a number, a Tensor, or nested lists or tuples; at least ndmin dimensions."""
    out = asarray(obj, dtype)
    if copy and out is obj:
        out = out.copy()
    return out.reshape((1,) * (ndmin - out.ndim) + out.shape) if ndmin > out.ndim else out


def asarray(a, dtype=None) -> Tensor:
    """A Tensor of a number or of nested lists or tuples; a Tensor itself if its dtype is right."""
    return cast(a, dtype) if isinstance(a, Tensor) else made(a, dtype_of(dtype))


def asfarray(a, dtype=mstype.float32) -> Tensor:
    """A Tensor of a float type."""
    dtype = dtype_of(dtype)
    if dtype is None or not dtype.is_floating_point:
        dtype = mstype.float32
    return asarray(a, dtype)


def copy(a) -> Tensor:
    """The same numbers in memory of their own."""
    return tensor(a).copy()


def zeros(shape, dtype=mstype.float32) -> Tensor:
    """Zeros."""
    return ops.zeros(shape_of(shape), dtype_of(dtype))


def ones(shape, dtype=mstype.float32) -> Tensor:
    """Ones."""
    return ops.ones(shape_of(shape), dtype_of(dtype))


def empty(shape, dtype=mstype.float32) -> Tensor:
    """A Tensor whose contents do not matter: zeros."""
    return zeros(shape, dtype)


def full(shape, fill_value, dtype=None) -> Tensor:
    """A Tensor filled with a value, or with a Tensor broadcast to the shape."""
    return ops.broadcast_to(asarray(fill_value, dtype), shape_of(shape)).copy()


def full_like(a, fill_value, dtype=None, shape=None) -> Tensor:
    """A Tensor filled with a value, shape and dtype as those of a unless given."""
    a = tensor(a)
    return full(a.shape if shape is None else shape, fill_value, a.dtype if dtype is None else dtype)


def zeros_like(a, dtype=None, shape=None) -> Tensor:
    """Zeros, shape and dtype as those of a unless given."""
    return full_like(a, 0, dtype, shape)


def ones_like(a, dtype=None, shape=None) -> Tensor:
    """Ones, shape and dtype as those of a unless given."""
    return full_like(a, 1, dtype, shape)


def empty_like(prototype, dtype=None, shape=None) -> Tensor:
    """A Tensor whose contents do not matter, shape and dtype as those of prototype unless given."""
    return zeros_like(prototype, dtype, shape)


# --- along a line, and grids -----------------------------------------------------------------------------------------

def arange(start, stop=None, step=None, dtype=None) -> Tensor:
    """Numbers from start (0 if it stands alone) to stop, without it, in steps."""
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if dtype is None:
        dtype = mstype.float32 if any(isinstance(v, float) for v in (start, stop, step)) else mstype.int32
    return cast(ops.arange(start, stop, step), dtype)


def _ends(start, stop, axis):
    """Both ends as float Tensors of one shape, and where the new dimension goes."""
    start, stop = (_convert.floating(tensor(v)) for v in (start, stop))
    shape = ops.broadcast_to(start, (start + stop).shape).shape
    return ops.broadcast_to(start, shape), ops.broadcast_to(stop, shape), _convert.axis_of(axis, len(shape) + 1, 'axis')


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """num numbers from start to stop, with it or (endpoint=False) without; the step too if retstep."""
    first, last, axis = _ends(start, stop, axis)
    parts = num - 1 if endpoint else num
    step = (last - first) / parts if parts > 0 else ops.full_like(first, float('nan'))
    shape = [1] * (first.ndim + 1)
    shape[axis] = num
    places = ops.arange(num).astype(mstype.float32).reshape(tuple(shape))
    out = first.expand_dims(axis) + places * step.expand_dims(axis) if parts > 0 else first.expand_dims(axis) + 0 * places
    if endpoint and num > 1:  # the last one is exact, whatever the steps were rounded to
        out = ops.where(ops.equal(places, num - 1), last.expand_dims(axis), out)
    out = cast(out, mstype.float32 if dtype is None else dtype)
    return (out, step) if retstep else out


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0) -> Tensor:
    """Powers of base whose exponents lie evenly between start and stop."""
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    return cast(ops.pow(ops.full_like(exponents, float(base)), exponents), mstype.float32 if dtype is None else dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0) -> Tensor:
    """num numbers from start to stop, each the same multiple of the one before."""
    first, last, axis = _ends(start, stop, axis)
    parts = max(num - 1 if endpoint else num, 1)
    shape = [1] * (first.ndim + 1)
    shape[axis] = num
    places = ops.arange(num).astype(mstype.float32).reshape(tuple(shape))
    out = first.expand_dims(axis) * ops.pow(last / first, 1.0 / parts).expand_dims(axis) ** places
    return cast(out, mstype.float32 if dtype is None else dtype)


def meshgrid(*xi, sparse=False, indexing='xy'):
    """Coordinates of the points of a grid, one Tensor for each of the given rows."""
    if indexing not in ('xy', 'ij'):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', but got {indexing!r}")
    rows = [tensor_only(x, 'meshgrid').reshape((-1,)) for x in xi]
    n = len(rows)
    place = list(range(n))
    if indexing == 'xy' and n > 1:
        place[:2] = 1, 0
    out = []
    for i, row in enumerate(rows):
        shape = [1] * n
        shape[place[i]] = row.shape[0]
        out.append(row.reshape(tuple(shape)))
    if sparse or not out:
        return out
    shape = [0] * n
    for i, row in enumerate(rows):
        shape[place[i]] = row.shape[0]
    return [own(ops.broadcast_to(x, tuple(shape))) for x in out]


class _Grid:
    """Grids from slices: ``mgrid[0:2, 0:3]``; a step like 5j is a number of points, with the end."""

    def __init__(self, sparse):
        self.sparse = sparse

    @staticmethod
    def _row(part):
        start = 0 if part.start is None else part.start
        step = 1 if part.step is None else part.step
        if isinstance(step, complex):
            return linspace(start, part.stop, int(abs(step)))
        return arange(start, part.stop, step)

    def __getitem__(self, parts):
        if isinstance(parts, slice):
            return self._row(parts)
        rows = meshgrid(*[self._row(part) for part in parts], sparse=self.sparse, indexing='ij')
        return rows if self.sparse else ops.stack(rows)


mgrid, ogrid = _Grid(False), _Grid(True)


def indices(dimensions, dtype=mstype.int32, sparse=False):
    """The indices of a Tensor of the given shape, one Tensor for each dimension."""
    rows = [arange(n, dtype=dtype) for n in shape_of(dimensions)]
    out = meshgrid(*rows, sparse=sparse, indexing='ij')
    return tuple(out) if sparse else out


def ix_(*args):
    """Rows shaped so that they index every combination of their elements."""
    return tuple(meshgrid(*args, sparse=True, indexing='ij'))


# --- matrices of a pattern -------------------------------------------------------------------------------------------

def tri(N, M=None, k=0, dtype=mstype.float32):  # noqa: N803  numpy's names
    """Ones at and below a diagonal."""
    return cast(_below(N, N if M is None else M, k), dtype)


def _below(n, m, k):
    """Which elements of an n times m matrix are at or below the k-th diagonal?"""
    return ops.ge(ops.arange(n).expand_dims(1) + k, ops.arange(m))


def eye(N, M=None, k=0, dtype=mstype.float32):  # noqa: N803
    """Ones on a diagonal."""
    m = N if M is None else M
    return cast(ops.equal(ops.arange(N).expand_dims(1) + k, ops.arange(m)), dtype)


def identity(n, dtype=mstype.float32) -> Tensor:
    """The square matrix with ones on its diagonal."""
    return eye(n, dtype=dtype)


def tril(m, k=0) -> Tensor:
    """The elements at and below a diagonal; zeros elsewhere."""
    m = tensor(m)
    return ops.where(_below(*_matrix(m), k), m, ops.zeros_like(m))


def triu(m, k=0) -> Tensor:
    """The elements at and above a diagonal; zeros elsewhere."""
    m = tensor(m)
    return ops.where(_below(*_matrix(m), k - 1), ops.zeros_like(m), m)


def _matrix(m):
    return (m.shape[-1], m.shape[-1]) if m.ndim == 1 else m.shape[-2:]


def _places(mask):
    found = ops.nonzero(mask)
    return tuple(found[:, i].astype(mstype.int32) for i in range(2))


def tril_indices(n, k=0, m=None):
    """Rows and columns of the elements at and below a diagonal."""
    return _places(_below(n, n if m is None else m, k))


def triu_indices(n, k=0, m=None):
    """Rows and columns of the elements at and above a diagonal."""
    return _places(ops.logical_not(_below(n, n if m is None else m, k - 1)))


def _sizes_of_matrix(arr, who, k):
    if tensor(arr).ndim != 2:
        raise ValueError(f"{who}: arr must be a matrix, but its shape is {arr.shape}")
    return arr.shape[0], k, arr.shape[1]


def tril_indices_from(arr, k=0):
    """Rows and columns of the elements of a matrix at and below a diagonal."""
    return tril_indices(*_sizes_of_matrix(arr, 'tril_indices_from', k))


def triu_indices_from(arr, k=0):
    """Rows and columns of the elements of a matrix at and above a diagonal."""
    return triu_indices(*_sizes_of_matrix(arr, 'triu_indices_from', k))


def diag_indices(n, ndim=2):
    """Indices of the main diagonal of a Tensor with ndim dimensions of n elements."""
    return (arange(n),) * ndim


def diagonal(a, offset=0, axis1=0, axis2=1) -> Tensor:
    """A diagonal of the matrices along two dimensions; it becomes the last dimension."""
    return ops.diagonal(tensor(a), offset, axis1, axis2)


def diagflat(v, k=0) -> Tensor:
    """A matrix with the elements of v on a diagonal."""
    v = tensor(v).reshape((-1,))
    n = v.shape[0] + abs(k)
    rows = ops.broadcast_to(v.expand_dims(1), (v.shape[0], v.shape[0]))
    square = ops.where(eye(v.shape[0], dtype=mstype.bool_), rows, ops.zeros_like(rows))
    before = (max(k, 0), max(-k, 0))
    return pad(square, ((before[1], n - v.shape[0] - before[1]), (before[0], n - v.shape[0] - before[0]))) if k else square


def diag(v, k=0) -> Tensor:
    """The diagonal of a matrix, or a matrix with a row on its diagonal."""
    v = tensor(v)
    if v.ndim not in (1, 2):
        raise ValueError(f"diag: 1 or 2 dimensions are wanted, but got {v.ndim}")
    return diagflat(v, k) if v.ndim == 1 else own(diagonal(v, k))


def trace(a, offset=0, axis1=0, axis2=1, dtype=None) -> Tensor:
    """The sum along a diagonal."""
    return cast(ops.sum(diagonal(a, offset, axis1, axis2), -1), dtype)


def vander(x, N=None, increasing=False):  # noqa: N803
    """The matrix of powers of x: column by column from high to low, or increasing."""
    x = tensor(x)
    if x.ndim != 1:
        raise ValueError(f"vander: x must have 1 dimension, but its shape is {x.shape}")
    n = x.shape[0] if N is None else N
    powers = ops.arange(n) if increasing else ops.arange(n - 1, -1, -1)
    return ops.pow(x.expand_dims(1), powers.astype(x.dtype))


# --- windows ---------------------------------------------------------------------------------------------------------

def _window(m, function):
    if m < 1:
        return zeros((0,))
    if m == 1:
        return ones((1,))
    n = ops.arange(m).astype(mstype.float32)
    return function(n, m - 1)


def bartlett(M):  # noqa: N803
    """A triangle with zeros at both ends."""
    return _window(M, lambda n, last: 1 - ops.abs(2 * n - last) / last)


def blackman(M):  # noqa: N803
    """A sum of three cosines, close to zero at both ends."""
    return _window(M, lambda n, last: 0.42 - 0.5 * ops.cos(2 * math.pi / last * n) + 0.08 * ops.cos(4 * math.pi / last * n))


def hamming(M):  # noqa: N803
    """A raised cosine on a step."""
    return _window(M, lambda n, last: 0.54 - 0.46 * ops.cos(2 * math.pi / last * n))


def hanning(M):  # noqa: N803
    """A raised cosine with zeros at both ends."""
    return _window(M, lambda n, last: 0.5 - 0.5 * ops.cos(2 * math.pi / last * n))


# --- random numbers --------------------------------------------------------------------------------------------------

def _sizes(shape):
    return shape_of(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else tuple(shape)


def rand(*shape, dtype=mstype.float32) -> Tensor:
    """Numbers in [0, 1)."""
    return ops.rand(*(_sizes(shape) or (1,)), dtype=dtype_of(dtype))


def randn(*shape, dtype=mstype.float32) -> Tensor:
    """Numbers of the standard normal distribution."""
    return ops.randn(*(_sizes(shape) or (1,)), dtype=dtype_of(dtype))


def randint(minval, maxval=None, shape=None, dtype=mstype.int32) -> Tensor:
    """Whole numbers from minval (0 if it stands alone) to maxval, without it."""
    if maxval is None:
        minval, maxval = 0, minval
    return ops.randint(minval, maxval, shape_of(1 if shape is None else shape), dtype=dtype_of(dtype))


# --- bins and padding ------------------------------------------------------------------------------------------------

def histogram_bin_edges(a, bins=10, range=None, weights=None):  # noqa: A002
    """The edges of bins over the numbers of a: a number of bins, or the edges themselves."""
    if not isinstance(bins, int):
        return tensor(bins)
    a = _convert.floating(tensor(a))
    low, high = (float(v) for v in range) if range is not None else (float(a.min()), float(a.max())) if a.size else (0., 1.)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return linspace(low, high, bins + 1)


def _widths(width, ndim):
    """Pairs (before, after) for every dimension from an int, a pair, or pairs."""
    if isinstance(width, int):
        return [(width, width)] * ndim
    width = [(w, w) if isinstance(w, int) else tuple(w) for w in width] if not all(isinstance(w, int) for w in width) \
        else [tuple(width) * (2 if len(width) == 1 else 1)]
    width = [w * 2 if len(w) == 1 else w for w in width]
    return width * ndim if len(width) == 1 else width


def _edge_values(values, ndim):
    if isinstance(values, (int, float)):
        return [(values, values)] * ndim
    return _widths(values, ndim)


def _part(x, axis, start, stop, step=1):
    return x[(slice(None),) * axis + (slice(start, stop, step),)]


def _mirror(n, before, after, with_edge):
    """Indices that go back and forth over n elements."""
    if n == 1:
        return [0] * (before + 1 + after)
    period = 2 * n if with_edge else 2 * n - 2
    out = []
    for i in builtins.range(-before, n + after):
        j = i % period
        out.append(j if j < n else (2 * n - 1 - j if with_edge else period - j))
    return out


def _odd(x, axis, places, with_edge):
    """What odd reflections put at places outside: each way back is mirrored around the value at the edge, too, so that
    all rises by twice the difference of the edges from one period to the next."""
    n = x.shape[axis]
    first, last = _part(x, axis, 0, 1), _part(x, axis, n - 1, n)
    period = (2 * n if with_edge else 2 * n - 2) or 1
    back = [p % period >= n for p in places]
    index = [(period - with_edge - p % period) if b else p % period for p, b in zip(places, back)]
    along = (1,) * axis + (len(places),) + (1,) * (x.ndim - axis - 1)
    plain = ops.gather(x, Tensor(index, mstype.int32), axis)
    turned = ops.select(Tensor(back).reshape(along).broadcast_to(plain.shape), 2 * last - plain, plain)
    return turned + 2 * (last - first) * Tensor([p // period for p in places]).astype(x.dtype).reshape(along)


def _padded(x, axis, before, after, mode, values, ends, length, reflect_type):
    """x with elements added before and after along one dimension."""
    n = x.shape[axis]
    if mode in ('edge', 'wrap', 'symmetric', 'reflect') and reflect_type == 'even':
        index = {'edge': [min(max(i, 0), n - 1) for i in builtins.range(-before, n + after)],
                 'wrap': [i % n for i in builtins.range(-before, n + after)]}.get(mode)
        if index is None:
            index = _mirror(n, before, after, mode == 'symmetric')
        return ops.gather(x, Tensor(index, mstype.int32), axis)
    pieces = []
    for count, side in ((before, 0), (after, 1)):
        shape = x.shape[:axis] + (count,) + x.shape[axis + 1:]
        edge = _part(x, axis, 0, 1) if side == 0 else _part(x, axis, n - 1, n)
        if mode in ('constant', 'empty'):
            piece = full(shape, values[side] if mode == 'constant' else 0, x.dtype)
        elif mode == 'linear_ramp':
            far = ops.full_like(edge, ends[side])
            places = [(i / count if side == 0 else 1 - (i + 1) / count) for i in builtins.range(count)]
            weight = Tensor(places, mstype.float32).reshape((1,) * axis + (count,) + (1,) * (x.ndim - axis - 1))
            piece = (_convert.floating(far) * (1 - weight) + _convert.floating(edge) * weight).astype(x.dtype)
        elif mode in ('maximum', 'minimum', 'mean', 'median'):
            many = n if length is None else min(length[side], n)
            part = _part(x, axis, 0, many) if side == 0 else _part(x, axis, n - many, n)
            piece = {'maximum': ops.amax, 'minimum': ops.amin}.get(mode, ops.mean)(part, axis, True)
            piece = ops.broadcast_to(piece.astype(x.dtype), shape)
        else:  # reflect_type 'odd'
            piece = _odd(x, axis, builtins.range(-before, 0) if side == 0 else builtins.range(n, n + after),
                         mode == 'symmetric') if count else None
        pieces.append(piece if count else None)
    return ops.concat([p for p in (pieces[0], x, pieces[1]) if p is not None], axis)


def pad(arr, pad_width, mode='constant', stat_length=None, constant_values=0, end_values=0, reflect_type='even', **kwargs) -> Tensor:
    """Elements added around a Tensor.

    Args:
        pad_width: how many before and after: an int, a pair, or a pair for every dimension.
        mode: 'constant', 'edge', 'linear_ramp', 'maximum', 'minimum', 'mean', 'reflect', 'symmetric', 'wrap', 'empty',
            or a function of (row, pad_width, axis, kwargs) that answers the changed row.
        stat_length: elements that 'maximum', 'minimum' and 'mean' look at; None for all.
        constant_values: for 'constant'.
        end_values: where 'linear_ramp' ends.
        reflect_type: 'even', or 'odd' for elements mirrored around the edge's value too.
    """
    x = tensor(arr)
    widths = _widths(pad_width.tolist() if isinstance(pad_width, Tensor) else pad_width, x.ndim)
    if callable(mode):
        from spore.numpy.array_ops import apply_along_axis
        for axis, (before, after) in enumerate(widths):
            x = _padded(x, axis, before, after, 'constant', (0, 0), None, None, 'even')
        for axis, width in enumerate(widths):
            x = apply_along_axis(lambda row, width=width, axis=axis: mode(row, width, axis, kwargs), axis, x)
        return x
    if mode not in ('constant', 'edge', 'linear_ramp', 'maximum', 'minimum', 'mean', 'median', 'reflect', 'symmetric',
                    'wrap', 'empty'):
        raise ValueError(f"pad: there is no mode {mode!r}")
    values, ends = _edge_values(constant_values, x.ndim), _edge_values(end_values, x.ndim)
    lengths = [None] * x.ndim if stat_length is None else _widths(stat_length, x.ndim)
    for axis, (before, after) in enumerate(widths):
        if before or after:
            x = _padded(x, axis, operator.index(before), operator.index(after), mode, values[axis], ends[axis],
                        lengths[axis], reflect_type)
    return x

# SPDX-License-Identifier: Apache-2.0
"""Shapes, joining and splitting, choosing elements, sets."""
import builtins

from spore import ops
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.numpy import _convert
from spore.numpy._convert import axes_of, axis_of, floating, made, shape_of, tensor, tensor_only
from spore.ops.array import own

__all__ = ['append', 'apply_along_axis', 'apply_over_axes', 'argwhere', 'array_split', 'array_str', 'atleast_1d', 'atleast_2d',
           'atleast_3d', 'broadcast_arrays', 'broadcast_to', 'choose', 'column_stack', 'concatenate', 'dsplit', 'dstack',
           'expand_dims', 'flip', 'fliplr', 'flipud', 'hsplit', 'hstack', 'intersect1d', 'moveaxis', 'piecewise', 'ravel',
           'repeat', 'reshape', 'roll', 'rollaxis', 'rot90', 'select', 'setdiff1d', 'size', 'split', 'squeeze', 'stack',
           'swapaxes', 'take', 'take_along_axis', 'tile', 'transpose', 'unique', 'unravel_index', 'vsplit', 'vstack', 'where']


# --- shape -----------------------------------------------------------------------------------------------------------

def transpose(a, axes=None) -> Tensor:
    """The dimensions in another order; reversed without axes."""
    a = tensor_only(a, 'transpose')
    return ops.transpose(a, tuple(range(a.ndim))[::-1] if axes is None else axes_of(axes, a.ndim, 'transpose'))


def expand_dims(a, axis) -> Tensor:
    """A dimension of one element added."""
    a = tensor(a)
    for place in sorted(axes_of(axis, a.ndim + (1 if isinstance(axis, int) else len(axis)), 'expand_dims')):
        a = a.expand_dims(place)
    return a


def squeeze(a, axis=None) -> Tensor:
    """Dimensions of one element left out: all, or the given ones."""
    a = tensor(a)
    return ops.squeeze(a) if axis is None else ops.squeeze(a, axes_of(axis, a.ndim, 'squeeze'))


def swapaxes(x, axis1, axis2) -> Tensor:
    """Two dimensions exchanged."""
    return ops.swapaxes(tensor_only(x, 'swapaxes'), axis1, axis2)


def moveaxis(a, source, destination) -> Tensor:
    """Dimensions moved to other places."""
    a = tensor_only(a, 'moveaxis')
    source, destination = axes_of(source, a.ndim, 'moveaxis'), axes_of(destination, a.ndim, 'moveaxis')
    if len(source) != len(destination):
        raise ValueError(f"moveaxis: {len(source)} sources and {len(destination)} destinations do not match")
    order = [i for i in range(a.ndim) if i not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return ops.transpose(a, tuple(order))


def rollaxis(x, axis, start=0) -> Tensor:
    """A dimension moved backwards until it lies before another."""
    x = tensor_only(x, 'rollaxis')
    axis = axis_of(axis, x.ndim, 'rollaxis')
    start = start + x.ndim if start < 0 else start
    return moveaxis(x, axis, start - 1 if start > axis else start)


def reshape(x, new_shape) -> Tensor:
    """The same elements in another shape."""
    return ops.reshape(tensor(x), shape_of(new_shape))


def ravel(x) -> Tensor:
    """The elements in one row."""
    return tensor_only(x, 'ravel').reshape((-1,))


def _at_least(x, n):
    x = tensor(x)
    if x.ndim >= n:
        return x
    if n == 3:
        return x.reshape({0: (1, 1, 1), 1: (1, -1, 1), 2: (*x.shape, 1)}[x.ndim])
    return x.reshape((1,) * (n - x.ndim) + x.shape)


def _each(arys, n):
    out = [_at_least(x, n) for x in arys]
    return out[0] if len(out) == 1 else out


def atleast_1d(*arys) -> Tensor:
    """Tensors with one dimension or more."""
    return _each(arys, 1)


def atleast_2d(*arys) -> Tensor:
    """Tensors with two dimensions or more."""
    return _each(arys, 2)


def atleast_3d(*arys) -> Tensor:
    """Tensors with three dimensions or more."""
    return _each(arys, 3)


def broadcast_to(array, shape) -> Tensor:
    """A Tensor repeated along dimensions of one element up to a shape."""
    return own(ops.broadcast_to(tensor(array), shape_of(shape)))


def broadcast_arrays(*args):
    """Tensors repeated up to their common shape."""
    args = [tensor(x) for x in args]
    shape = ()
    for x in args:
        shape = (ops.zeros(shape, mstype.bool_) & ops.zeros(x.shape, mstype.bool_)).shape
    return [own(ops.broadcast_to(x, shape)) for x in args]


def size(a, axis=None):
    """Number of elements, of all or along axis."""
    a = tensor(a)
    out = 1
    for axis_ in axes_of(axis, a.ndim, 'size'):
        out *= a.shape[axis_]
    return out


def array_str(a):
    """The numbers as text."""
    return str(tensor_only(a, 'array_str'))


# --- joining ---------------------------------------------------------------------------------------------------------

def _one_type(arrays):
    arrays = [tensor(x) for x in arrays]
    wide = arrays[0].dtype
    for x in arrays[1:]:
        if x.dtype != wide:
            from spore.numpy.dtypes import promote_types
            wide = promote_types(wide, x.dtype)
    return [x if x.dtype == wide else x.astype(wide) for x in arrays]


def concatenate(arrays, axis=0) -> Tensor:
    """Tensors joined along a dimension; without one (None) their elements in a row."""
    if isinstance(arrays, Tensor):
        if axis is None or arrays.ndim < 2:
            return arrays.reshape((-1,))
        arrays = list(arrays)
    arrays = _one_type(arrays)
    if axis is None:
        return ops.concat([x.reshape((-1,)) for x in arrays], 0)
    return own(arrays[0]) if len(arrays) == 1 else ops.concat(arrays, axis_of(axis, arrays[0].ndim, 'concatenate'))


def append(arr, values, axis=None) -> Tensor:
    """Values joined behind a Tensor."""
    return concatenate((tensor(arr), tensor(values)), axis)


def stack(arrays, axis=0) -> Tensor:
    """Tensors joined along a new dimension."""
    if isinstance(arrays, Tensor):
        return moveaxis(arrays, 0, axis if axis >= 0 else axis + arrays.ndim)
    return ops.stack(_one_type(arrays), axis)


def _joined(tup, n, axis):
    return concatenate([_at_least(x, n) for x in tup], axis)


def vstack(tup) -> Tensor:
    """Tensors joined along the first dimension; rows below each other."""
    return _joined(tup, 2, 0)


def hstack(tup) -> Tensor:
    """Tensors joined along the second dimension; rows behind each other."""
    parts = [_at_least(x, 1) for x in tup]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


def dstack(tup) -> Tensor:
    """Tensors joined along the third dimension."""
    return _joined(tup, 3, 2)


def column_stack(tup) -> Tensor:
    """Rows as columns beside each other."""
    return concatenate([x.reshape((-1, 1)) if x.ndim < 2 else x for x in map(tensor, tup)], 1)


# --- splitting -------------------------------------------------------------------------------------------------------

def _split(x, where_, axis, even, who):
    x = tensor_only(x, who)
    axis = axis_of(axis, x.ndim, who)
    n = x.shape[axis]
    if isinstance(where_, int):
        if even and n % where_:
            raise ValueError(f"{who}: {n} elements cannot be split into {where_} equal parts")
        large = n % where_
        ends = [0]
        for i in range(where_):
            ends.append(ends[-1] + n // where_ + (i < large))
    else:
        ends = [0, *[min(max(i + n if i < 0 else i, 0), n) for i in where_], n]
    whole = (slice(None),) * axis
    parts = [x[whole + (slice(a, builtins.max(a, b)),)] for a, b in zip(ends, ends[1:])]
    return tuple(parts) if isinstance(where_, int) else parts


def split(x, indices_or_sections, axis=0):
    """Parts along a dimension: a number of equal ones, or cut before the given indices."""
    return _split(x, indices_or_sections, axis, True, 'split')


def array_split(x, indices_or_sections, axis=0):
    """Parts along a dimension that are as equal as can be."""
    return _split(x, indices_or_sections, axis, False, 'array_split')


def vsplit(x, indices_or_sections):
    """Parts along the first dimension."""
    return _split(x, indices_or_sections, 0, True, 'vsplit')


def hsplit(x, indices_or_sections):
    """Parts along the second dimension."""
    return _split(x, indices_or_sections, 1, True, 'hsplit')


def dsplit(x, indices_or_sections):
    """Parts along the third dimension."""
    return _split(x, indices_or_sections, 2, True, 'dsplit')


# --- order and repetition --------------------------------------------------------------------------------------------

def flip(m, axis=None) -> Tensor:
    """The elements in reverse order along dimensions."""
    m = tensor_only(m, 'flip')
    return ops.flip(m, axes_of(axis, m.ndim, 'flip'))


def flipud(m) -> Tensor:
    """The elements in reverse order along the first dimension."""
    return flip(m, 0)


def fliplr(m) -> Tensor:
    """The elements in reverse order along the second dimension."""
    return flip(m, 1)


def roll(a, shift, axis=None) -> Tensor:
    """The elements moved along dimensions; what falls off the end comes back at the front."""
    a = tensor_only(a, 'roll')
    if axis is None:
        return ops.roll(a.reshape((-1,)), sum(shift) if isinstance(shift, (tuple, list)) else shift, 0).reshape(a.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    n = builtins.max(len(axes), len(shifts))
    axes, shifts = (tuple(v) * (n if len(v) == 1 else 1) for v in (axes, shifts))
    for step, place in zip(shifts, axes):
        a = ops.roll(a, step, axis_of(place, a.ndim, 'roll'))
    return a


def rot90(a, k=1, axes=(0, 1)) -> Tensor:
    """The plane of two dimensions turned by quarters, from the first towards the second."""
    a = tensor_only(a, 'rot90')
    first, second = axes_of(axes, a.ndim, 'rot90')
    for _ in range(k % 4):
        a = ops.swapaxes(ops.flip(a, (second,)), first, second)
    return a


def tile(a, reps) -> Tensor:
    """A Tensor repeated as a whole along dimensions."""
    a, reps = tensor_only(a, 'tile'), shape_of(reps)
    reps = (1,) * (a.ndim - len(reps)) + reps
    return ops.tile(a.reshape((1,) * (len(reps) - a.ndim) + a.shape), reps)


def repeat(a, repeats, axis=None) -> Tensor:
    """Every element repeated along a dimension, all as often or each its own number of times."""
    a = tensor(a)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = axis_of(axis, a.ndim, 'repeat')
    n = a.shape[axis]
    times = [repeats] if isinstance(repeats, int) else repeats.tolist() if isinstance(repeats, Tensor) else list(repeats)
    times = times * n if len(times) == 1 else times
    if len(times) != n:
        raise ValueError(f"repeat: {len(times)} counts do not suit a dimension of {n} elements")
    return ops.gather(a, Tensor([i for i in range(n) for _ in range(times[i])], mstype.int32), axis)


# --- choosing --------------------------------------------------------------------------------------------------------

def where(condition, x=None, y=None) -> Tensor:
    """x where a condition holds, else y."""
    if x is None or y is None:
        raise TypeError("where: x and y must be given; argwhere answers the places")
    x, y = _convert.pair(x, y) if not (_number(x) and _number(y)) else _one_type((x, y))
    condition = tensor(condition).astype(mstype.bool_)
    return ops.where(condition, *_one_type((x, y)))


def _number(x):
    return isinstance(x, (int, float, bool))


def argwhere(a) -> Tensor:
    """The indices of elements that are not zero, one row each."""
    return ops.nonzero(tensor(a)).astype(mstype.int64)


def _bounded(index, n, mode):
    """Indices brought into range: wrapped around, or clipped; 'raise' clips too, as a kernel cannot raise."""
    if mode == 'wrap':
        return index % n
    if mode not in ('raise', 'clip'):
        raise ValueError(f"mode must be 'raise', 'wrap' or 'clip', but got {mode!r}")
    return ops.clamp(index, 0, n - 1)


def take(a, indices, axis=None, mode='clip') -> Tensor:
    """Elements along a dimension; of the elements in a row without axis."""
    a, indices = tensor_only(a, 'take'), tensor_only(indices, 'take')
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = axis_of(axis, a.ndim, 'take')
    return ops.gather(a, _bounded(indices, a.shape[axis], mode), axis)


def take_along_axis(arr, indices, axis) -> Tensor:
    """Elements along a dimension, for every row its own indices."""
    if axis is None:
        arr, axis = tensor(arr).reshape((-1,)), 0
    arr, indices = tensor(arr), tensor_only(indices, 'take_along_axis')
    axis = axis_of(axis, arr.ndim, 'take_along_axis')
    if arr.ndim != indices.ndim:
        raise ValueError(f"take_along_axis: {arr.ndim} and {indices.ndim} dimensions do not match")
    shape = [builtins.max(m, n) for m, n in zip(arr.shape, indices.shape)]
    shape[axis] = arr.shape[axis]
    arr = ops.broadcast_to(arr, tuple(shape))
    shape[axis] = indices.shape[axis]
    indices = ops.broadcast_to(indices, tuple(shape)).astype(mstype.int64)
    return ops.gather_elements(arr, axis, ops.where(ops.less(indices, 0), indices + arr.shape[axis], indices))


def choose(a, choices, mode='clip') -> Tensor:
    """For every element of a the one at its place of the Tensor that it numbers."""
    choices = list(choices) if isinstance(choices, Tensor) else _one_type(choices)
    index, *choices = broadcast_arrays(tensor(a), *choices)
    index = _bounded(index, len(choices), mode).astype(mstype.int64)
    return ops.gather_elements(ops.stack(choices), 0, index.expand_dims(0)).squeeze(0)


def select(condlist, choicelist, default=0) -> Tensor:
    """The elements of the first Tensor whose condition holds, else default."""
    if len(condlist) != len(choicelist):
        raise ValueError(f"select: {len(condlist)} conditions and {len(choicelist)} choices do not match")
    choices = _one_type([*choicelist, default])
    parts = broadcast_arrays(*[tensor(c).astype(mstype.bool_) for c in condlist], *choices)
    n = len(condlist)
    out = parts[-1]
    for condition, choice in reversed(list(zip(parts[:n], parts[n:-1]))):
        out = ops.where(condition, choice, out)
    return out


def piecewise(x, condlist, funclist, *args, **kw) -> Tensor:
    """Functions of x (or numbers), each where its condition holds; the last one elsewhere if there is one more."""
    x = tensor(x)
    conditions = [tensor(c).astype(mstype.bool_) for c in
                  (condlist if isinstance(condlist, (list, tuple)) and not _number(condlist[0]) else [condlist])]
    values = [f(x, *args, **kw) if callable(f) else f for f in funclist]
    if len(values) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"piecewise: {len(conditions)} conditions and {len(values)} functions do not match")
    last = values.pop() if len(values) > len(conditions) else 0
    # Of conditions that overlap the last one holds.
    return select(conditions[::-1], values[::-1], last)


def unravel_index(indices, shape, order='C'):
    """Places in a row as indices of every dimension of a shape."""
    if order not in ('C', 'F'):
        raise ValueError(f"unravel_index: order must be 'C' or 'F', but got {order!r}")
    rest, out = tensor(indices), []
    shape = shape_of(shape)
    n = 1
    for d in shape:
        n *= d
    rest = ops.clamp(ops.where(ops.less(rest, 0), rest + n, rest), 0, n - 1)
    for d in shape if order == 'F' else shape[::-1]:
        out.append(rest % d)
        rest = ops.floor_div(rest, d)
    return tuple(out if order == 'F' else out[::-1])


# --- functions along dimensions --------------------------------------------------------------------------------------

def apply_along_axis(func1d, axis, arr, *args, **kwargs) -> Tensor:
    """The results of a function for every row along a dimension, in its place."""
    arr = tensor_only(arr, 'apply_along_axis')
    axis = axis_of(axis, arr.ndim, 'apply_along_axis')
    last = moveaxis(arr, axis, -1)
    rows = last.reshape((-1, last.shape[-1]))
    out = ops.stack([tensor(func1d(rows[i], *args, **kwargs)) for i in range(rows.shape[0])])
    shape = last.shape[:-1]
    out = out.reshape(shape + out.shape[1:])
    # The dimensions of a result stand where the row stood.
    n = out.ndim - len(shape)
    return moveaxis(out, tuple(range(len(shape), out.ndim)), tuple(range(axis, axis + n))) if n else out


def apply_over_axes(func, a, axes) -> Tensor:
    """A function of (Tensor, axis) called for one dimension after the other."""
    a = tensor_only(a, 'apply_over_axes')
    for axis in (axes,) if isinstance(axes, int) else axes:
        axis = axis_of(axis, a.ndim, 'apply_over_axes')
        result = func(a, axis)
        a = result if result.ndim == a.ndim else result.expand_dims(axis)
    return a


# --- sets ------------------------------------------------------------------------------------------------------------

def unique(x, return_inverse=False) -> Tensor:
    """The different elements in order. With return_inverse they come in the order of their first places, followed by
    which of them stands where in the row of x."""
    x = tensor_only(x, 'unique').reshape((-1,))
    if return_inverse:
        return ops.unique(x)
    ordered = ops.sort(x)[0]
    if ordered.shape[0] < 2:
        return ordered
    return ops.masked_select(ordered, ops.concat((ops.ones((1,), mstype.bool_), ops.ne(ordered[1:], ordered[:-1]))))


def setdiff1d(ar1, ar2, assume_unique=False) -> Tensor:
    """The elements of ar1 that are not in ar2."""
    from spore.numpy.logic_ops import in1d
    first = tensor(ar1).reshape((-1,))
    first = first if assume_unique else unique(first)
    return ops.masked_select(first, in1d(first, ar2, invert=True))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The elements that both have, in order; with return_indices where each has them first."""
    from spore.numpy.logic_ops import in1d
    first, second = (tensor(x).reshape((-1,)) for x in (ar1, ar2))
    values = unique(first) if not assume_unique else ops.sort(first)[0]
    values = ops.masked_select(values, in1d(values, second))
    if not return_indices:
        return values
    places = [ops.argmax(ops.equal(values.expand_dims(1), x).astype(mstype.int32), 1).astype(mstype.int32)
              for x in (first, second)]
    return (values, *places)

# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, functions of elements, sums and statistics, products, polynomials."""
import builtins
import math

from spore import ops
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.numpy import _convert
from spore.numpy import array_creations as creations
from spore.numpy import array_ops as arrays
from spore.numpy._convert import axes_of, axis_of, cast, floating, made, pair, shape_of, tensor, tensor_only
from spore.numpy.dtypes import promote_types
from spore.ops.array import own

__all__ = ['amax', 'amin', 'argmax', 'argmin', 'around', 'average', 'bincount', 'clip', 'convolve', 'corrcoef', 'correlate',
           'count_nonzero', 'cov', 'cross', 'cumprod', 'cumsum', 'diff', 'digitize', 'divmod', 'dot', 'ediff1d', 'exp2', 'fix',
           'float_power', 'gradient', 'heaviside', 'histogram', 'histogram2d', 'histogramdd', 'inner', 'interp', 'kron', 'matmul',
           'matrix_power', 'max', 'mean', 'min', 'multi_dot', 'nancumsum', 'nanmax', 'nanmean', 'nanmin', 'nanstd', 'nansum',
           'nanvar', 'norm', 'outer', 'polyadd', 'polyder', 'polyint', 'polymul', 'polysub', 'polyval', 'ptp',
           'ravel_multi_index', 'result_type', 'round', 'searchsorted', 'std', 'sum', 'tensordot', 'trapz', 'unwrap', 'var']


# --- of one element --------------------------------------------------------------------------------------------------

def _unary(function, text, real=False, name='x', lists=False, angle=False):
    """A function of every element; real ones turn whole numbers into float32 first, `angle` ones those of one byte into float16. Those of
    `lists` take numbers and lists, too."""
    def apply(value, dtype):
        value = tensor(value) if lists else tensor_only(value, call.__name__)
        if angle:
            value = floating(value, mstype.float16 if value.itemsize == 1 else mstype.float32)
        return cast(function(floating(value) if real else value), dtype)
    if name == 'a':
        def call(a, dtype=None):
            return apply(a, dtype)
    elif name == 'input':
        def call(input, dtype=None):
            return apply(input, dtype)
    else:
        def call(x, dtype=None):
            return apply(x, dtype)
    call.__doc__ = f"{text} of every element."
    return call


def _signed_power(x, power):
    return ops.sign(x) * ops.pow(ops.abs(x), power)


_convert.export({
    'abs': _unary(ops.abs, 'The absolute value'), 'absolute': _unary(ops.abs, 'The absolute value'),
    'arccos': _unary(ops.acos, 'The angle with this cosine', name='input', angle=True),
    'arccosh': _unary(ops.acosh, 'The area hyperbolic cosine', angle=True),
    'arcsin': _unary(ops.asin, 'The angle with this sine', angle=True), 'arcsinh': _unary(ops.asinh, 'The area hyperbolic sine', angle=True),
    'arctan': _unary(ops.atan, 'The angle with this tangent', angle=True),
    'arctanh': _unary(ops.atanh, 'The area hyperbolic tangent', angle=True),
    'bitwise_not': _unary(ops.bitwise_not, 'The inverted bits', lists=True),
    'invert': _unary(ops.bitwise_not, 'The inverted bits', lists=True),
    'cbrt': _unary(lambda x: _signed_power(x, 1 / 3), 'The cube root', True, lists=True),
    'ceil': _unary(ops.ceil, 'The next whole number above', True, lists=True), 'cos': _unary(ops.cos, 'The cosine', angle=True),
    'cosh': _unary(ops.cosh, 'The hyperbolic cosine', angle=True),
    'deg2rad': _unary(lambda x: x * (math.pi / 180), 'The angle in radians', True),
    'exp': _unary(ops.exp, 'e to the power', True), 'expm1': _unary(ops.expm1, 'e to the power, less one,', True, lists=True),
    'fabs': _unary(ops.abs, 'The absolute value'), 'floor': _unary(ops.floor, 'The next whole number below', True, lists=True),
    'log': _unary(ops.log, 'The natural logarithm', True, lists=True), 'log10': _unary(ops.log10, 'The logarithm to base 10', True),
    'log1p': _unary(ops.log1p, 'The natural logarithm of one plus this,', True, lists=True),
    'log2': _unary(ops.log2, 'The logarithm to base 2', True),
    'negative': _unary(ops.neg, 'The negative', name='a', lists=True), 'positive': _unary(lambda x: x.copy(), 'A copy', name='a'),
    'rad2deg': _unary(lambda x: x * (180 / math.pi), 'The angle in degrees', True),
    'radians': _unary(lambda x: x * (math.pi / 180), 'The angle in radians', True),
    'reciprocal': _unary(lambda x: ops.reciprocal(x) if x.dtype.is_floating_point or x.dtype.is_complex
                         else ops.div(1, x, rounding_mode='trunc').astype(x.dtype), 'One divided by it,', lists=True),
    'rint': _unary(ops.round, 'The nearest whole number', True, lists=True), 'sign': _unary(ops.sign, 'The sign', True, lists=True),
    'sin': _unary(ops.sin, 'The sine', angle=True), 'sinh': _unary(ops.sinh, 'The hyperbolic sine', angle=True),
    'sqrt': _unary(ops.sqrt, 'The square root', True, lists=True), 'square': _unary(ops.square, 'The square', lists=True),
    'tan': _unary(ops.tan, 'The tangent', angle=True), 'tanh': _unary(ops.tanh, 'The hyperbolic tangent', angle=True),
    'trunc': _unary(ops.trunc, 'The whole part', True, lists=True)}, globals())


def exp2(x, dtype=None) -> Tensor:
    """2 to the power of every element."""
    x = tensor(x)
    x = x.astype(mstype.int64) if x.dtype == mstype.bool_ else x
    return cast(ops.pow(ops.full_like(x, 2), x), dtype)


def fix(x) -> Tensor:
    """The whole part of every element."""
    return ops.trunc(floating(tensor_only(x, 'fix')))


def around(a, decimals=0) -> Tensor:
    """Every element rounded to a number of decimals; halves go to the even neighbour."""
    a = tensor_only(a, 'around')
    if not a.dtype.is_floating_point:
        return own(a)
    return ops.round(a) if decimals == 0 else ops.round(a * 10.0 ** decimals) / 10.0 ** decimals


round = around  # noqa: A001


def clip(x, xmin, xmax, dtype=None) -> Tensor:
    """Elements below xmin raised to it, elements above xmax lowered to it; one of them may be None."""
    if xmin is None and xmax is None:
        raise ValueError("clip: one of xmin and xmax must be given, but both are None")
    x = tensor_only(x, 'clip')
    if all(bound is None or isinstance(bound, int) for bound in (xmin, xmax)) and not (x.dtype.is_floating_point or x.dtype.is_complex) and x.dtype != mstype.bool_:
        return cast(ops.clamp(x, xmin, xmax), dtype)   # a bound may lie outside of what the dtype holds
    if xmin is not None:
        x = ops.maximum(*pair(x, xmin))
    if xmax is not None:
        x = ops.minimum(*pair(x, xmax))
    return cast(x, dtype)


# --- of two elements -------------------------------------------------------------------------------------------------

def _same_type(x1, x2):
    """Operands of which a number takes the dtype of the Tensor beside it, as MindSpore has it here."""
    if isinstance(x2, (int, float)) and isinstance(x1, Tensor):
        return x1, Tensor(x2, dtype=x1.dtype)
    if isinstance(x1, (int, float)) and isinstance(x2, Tensor):
        return Tensor(x1, dtype=x2.dtype), x2
    return tensor(x1), tensor(x2)


def _binary(function, text, real=False, pairing=pair):
    def call(x1, x2, dtype=None):
        x1, x2 = pairing(x1, x2)
        if real:
            wide = result_type(x1, x2)
            wide = wide if wide.is_floating_point or wide.is_complex else mstype.float32
            x1, x2 = cast(x1, wide), cast(x2, wide)
        return cast(function(x1, x2), dtype)
    call.__doc__ = f"{text}, element by element, broadcast."
    return call


def _add(x1, x2):
    return ops.logical_or(x1, x2) if x1.dtype == x2.dtype == mstype.bool_ else x1 + x2


def _fmod(x1, x2):
    return x1 - ops.div(x1, x2, rounding_mode='trunc').astype(ops.add(x1, x2).dtype) * x2


def _gcd(x1, x2):
    """Of floats by Euclid's way: what is left of the division, until nothing is."""
    if not (x1.dtype.is_floating_point or x2.dtype.is_floating_point):
        return ops.gcd(x1, x2)
    x1, x2 = ops.abs(x1), ops.abs(x2)
    unknown = ops.sub(x1, x1) + ops.sub(x2, x2)        # NaN where one of them is NaN or infinite: they have no divisor, and no division ends
    x1, x2 = (ops.where(unknown == 0, x, 0) for x in (x1, x2))
    while (x2 != 0).any():
        x1, x2 = ops.where(x2 != 0, x2, x1), ops.where(x2 != 0, ops.floor_mod(x1, ops.where(x2 != 0, x2, 1)), 0)
    return x1 + unknown


def _lcm(x1, x2):
    if not (x1.dtype.is_floating_point or x2.dtype.is_floating_point):
        return ops.lcm(x1, x2)
    divisor = _gcd(x1, x2)
    return ops.where(divisor != 0, ops.abs(x1) // ops.where(divisor != 0, divisor, 1) * ops.abs(x2), 0)


def _copysign(x1, x2):
    return ops.where(ops.less(x2, 0), -ops.abs(x1), ops.abs(x1))


_convert.export({
    'add': _binary(_add, 'The sum'), 'subtract': _binary(ops.sub, 'The difference'), 'multiply': _binary(ops.mul, 'The product'),
    'divide': _binary(ops.div, 'The quotient', True), 'true_divide': _binary(ops.div, 'The quotient', True),
    'floor_divide': _binary(ops.floor_div, 'The quotient rounded down'),
    'power': _binary(ops.pow, 'x1 to the power x2'), 'mod': _binary(ops.floor_mod, 'The remainder, with the sign of x2'),
    'remainder': _binary(ops.floor_mod, 'The remainder, with the sign of x2'),
    'fmod': _binary(_fmod, 'The remainder, with the sign of x1'),
    'maximum': _binary(ops.maximum, 'The larger one', pairing=_same_type),
    'minimum': _binary(ops.minimum, 'The smaller one', pairing=_same_type),
    'arctan2': _binary(ops.atan2, 'The angle of the point (x2, x1)', True),
    'hypot': _binary(lambda a, b: ops.sqrt(a * a + b * b), 'The length of the hypotenuse', True),
    'copysign': _binary(_copysign, 'x1 with the sign of x2', True),
    'logaddexp': _binary(ops.logaddexp, 'The logarithm of the sum of the exponentials', True),
    'logaddexp2': _binary(ops.logaddexp2, 'The same to base 2', True),
    'bitwise_and': _binary(ops.bitwise_and, 'The bits that both have'),
    'bitwise_or': _binary(ops.bitwise_or, 'The bits that one has'),
    'bitwise_xor': _binary(ops.bitwise_xor, 'The bits that differ'),
    'gcd': _binary(_gcd, 'The greatest common divisor'), 'lcm': _binary(_lcm, 'The least common multiple')}, globals())


def float_power(x1, x2, dtype=None) -> Tensor:
    """x1 to the power x2 as a float, element by element."""
    x1, x2 = pair(x1, x2)
    return cast(ops.pow(floating(x1), floating(x2)), dtype)


def heaviside(x1, x2, dtype=None) -> Tensor:
    """0 where x1 is below zero, 1 where it is above, x2 where it is zero."""
    x1, x2 = pair(x1, x2)
    step = ops.greater(x1, 0).astype(promote_types(x1.dtype, x2.dtype))
    return cast(ops.where(ops.equal(x1, 0), x2.astype(step.dtype), step), dtype)


def divmod(x1, x2, dtype=None):  # noqa: A001
    """The quotient rounded down, and the remainder."""
    return floor_divide(x1, x2, dtype), mod(x1, x2, dtype)  # noqa: F821  made by the table


def _coded(name):
    """The dtype of a name, numpy's codes ('i2', 'f4') included."""
    import numpy as np
    return _convert.dtype_of(name if name in ("int", "float", "bool") else np.dtype(name).name)


def result_type(*arrays_and_dtypes):
    """The dtype that an operation of these would have."""
    if not arrays_and_dtypes:
        raise TypeError("result_type: at least one argument is wanted")
    found = None
    for item in arrays_and_dtypes:
        kind = item.dtype if isinstance(item, Tensor) else made(item).dtype if isinstance(item, (int, float, bool, list, tuple)) \
            else _coded(item) if isinstance(item, str) else item
        found = kind if found is None else promote_types(found, kind)
    return found


# --- sums and statistics ---------------------------------------------------------------------------------------------

def sum(a, axis=None, dtype=None, keepdims=False, initial=None):  # noqa: A001
    """The sum along dimensions, plus initial."""
    a = cast(tensor(a), dtype)
    axes = axes_of(axis, a.ndim, 'sum')
    if dtype is None and not (a.dtype.is_floating_point or a.dtype.is_complex):
        a = a if a.dtype in (mstype.uint16, mstype.uint32, mstype.uint64) else a.astype(mstype.int64)
    out = ops.sum(a, axes, keepdims) if a.ndim else a
    out = out if initial is None else out + initial
    return cast(out, dtype)


def mean(a, axis=None, keepdims=False, dtype=None) -> Tensor:
    """The average along dimensions."""
    a = tensor(a)
    axes = axes_of(axis, a.ndim, 'mean')
    if not a.ndim:
        return cast(a, dtype)
    if a.dtype.is_floating_point or a.dtype.is_complex:
        return cast(ops.mean(a, axes, keepdims), dtype)
    out = ops.mean(a.astype(mstype.float64), axes, keepdims)
    return out.astype(a.dtype) if dtype is None else cast(out, dtype)


def var(x, axis=None, ddof=0, keepdims=False) -> Tensor:
    """The variance along dimensions, the sum of squares divided by their number less ddof."""
    x = floating(tensor(x))
    axes = axes_of(axis, x.ndim, 'var')
    n = arrays.size(x, axes)
    deviation = x - ops.mean(x, axes, True)
    return ops.sum(deviation * deviation, axes, keepdims) / (n - ddof)


def std(x, axis=None, ddof=0, keepdims=False) -> Tensor:
    """The standard deviation along dimensions."""
    return ops.sqrt(var(x, axis, ddof, keepdims))


def _extreme(a, axis, keepdims, initial, where, reduce, combine, who):
    a = tensor(a)
    if where is not True:
        if initial is None:
            raise ValueError(f"{who}: with where, initial must be given")
        a = ops.where(tensor(where), a, ops.full_like(a, initial))
    axes = axes_of(axis, a.ndim, who)
    out = a
    for place in sorted(axes, reverse=True):
        out = reduce(out, place, True)
    if not keepdims:
        out = out.reshape(tuple(n for i, n in enumerate(a.shape) if i not in axes))
    return out if initial is None else combine(out, ops.full_like(out, initial))


def amax(a, axis=None, keepdims=False, initial=None, where=True) -> Tensor:
    """The largest element along dimensions, or initial if that is larger."""
    return _extreme(a, axis, keepdims, initial, where, ops.amax, ops.maximum, 'max')


def amin(a, axis=None, keepdims=False, initial=None, where=True) -> Tensor:
    """The smallest element along dimensions, or initial if that is smaller."""
    return _extreme(a, axis, keepdims, initial, where, ops.amin, ops.minimum, 'min')


max, min = amax, amin  # noqa: A001


def _place(a, axis, function, who, dtype):
    a = tensor(a)
    if a.dtype == mstype.bool_:
        a = a.astype(mstype.int32)
    if axis is None or a.ndim == 0 and axis in (0, -1):
        a, axis = a.reshape((-1,)), 0
    return function(a, axis_of(axis, a.ndim, who)).astype(dtype)


def argmax(a, axis=None) -> Tensor:
    """Where the largest element is, along a dimension or in the row of all."""
    return _place(a, axis, ops.argmax, 'argmax', mstype.int64)


def argmin(a, axis=None) -> Tensor:
    """Where the smallest element is, along a dimension or in the row of all."""
    return _place(a, axis, ops.argmin, 'argmin', mstype.int32)


def ptp(x, axis=None, keepdims=False) -> Tensor:
    """The largest element less the smallest, along dimensions."""
    return amax(x, axis, keepdims) - amin(x, axis, keepdims)


def average(x, axis=None, weights=None, returned=False):
    """The weighted average along a dimension; with returned the sum of the weights too."""
    x = floating(tensor(x))
    if weights is None:
        out = mean(x, axis)
        total = ops.full_like(out, arrays.size(x, axis))
        return (out, total) if returned else out
    weights = tensor(weights)
    if weights.ndim == 1 and x.ndim > 1 and axis is not None:
        shape = [1] * x.ndim
        shape[axis_of(axis, x.ndim, 'average')] = -1
        weights = weights.reshape(tuple(shape))
    weights = ops.broadcast_to(weights.astype(x.dtype), x.shape)
    total = sum(weights, axis)
    out = sum(x * weights, axis) / total
    return (out, total) if returned else out


def count_nonzero(x, axis=None, keepdims=False) -> Tensor:
    """How many elements are not zero, along dimensions."""
    x = tensor(x)
    return sum(ops.ne(x, 0).astype(mstype.int32), axis, None, keepdims).astype(mstype.int32)


def _cumulative(a, axis, dtype, function, who):
    a = tensor_only(a, who)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    if dtype is None and a.dtype in (mstype.bool_, mstype.int8, mstype.int16):
        dtype = mstype.int32
    elif dtype is None and a.dtype in (mstype.uint8, mstype.uint16):
        dtype = mstype.uint32
    a = cast(a, dtype)
    return cast(function(a, axis_of(axis, a.ndim, who)), a.dtype)


def cumsum(a, axis=None, dtype=None) -> Tensor:
    """The sums of all elements up to each, along a dimension or in the row of all."""
    return _cumulative(a, axis, dtype, ops.cumsum, 'cumsum')


def cumprod(a, axis=None, dtype=None) -> Tensor:
    """The products of all elements up to each, along a dimension or in the row of all."""
    return _cumulative(tensor(a), axis, dtype, ops.cumprod, 'cumprod')


# --- without what is not a number ------------------------------------------------------------------------------------

def _filled(a, value):
    a = tensor(a)
    return ops.where(ops.isnan(a), ops.full_like(a, value), a) if a.dtype.is_floating_point else a


def _counted(a, axis, keepdims):
    a = floating(tensor(a))
    return sum(ops.logical_not(ops.isnan(a)).astype(a.dtype), axis, None, keepdims)


def nansum(a, axis=None, dtype=None, keepdims=False) -> Tensor:
    """The sum along dimensions; what is not a number counts as zero."""
    a = _filled(a, 0)
    whole = not (a.dtype.is_floating_point or a.dtype.is_complex or a.dtype == mstype.bool_)
    return sum(a, axis, a.dtype if whole and dtype is None else dtype, keepdims)


def nancumsum(a, axis=None, dtype=None) -> Tensor:
    """The sums up to each element; what is not a number counts as zero."""
    return cumsum(_filled(a, 0), axis, dtype)


def nanmax(a, axis=None, dtype=None, keepdims=False) -> Tensor:
    """The largest element along dimensions, without what is not a number."""
    return cast(amax(_filled(a, -math.inf), axis, keepdims), dtype)


def nanmin(a, axis=None, dtype=None, keepdims=False) -> Tensor:
    """The smallest element along dimensions, without what is not a number."""
    return cast(amin(_filled(a, math.inf), axis, keepdims), dtype)


def nanmean(a, axis=None, dtype=None, keepdims=False) -> Tensor:
    """The average along dimensions, without what is not a number."""
    a = floating(tensor(a))
    return cast(nansum(a, axis, None, keepdims) / _counted(a, axis, keepdims), dtype)


def nanvar(a, axis=None, dtype=None, ddof=0, keepdims=False) -> Tensor:
    """The variance along dimensions, without what is not a number."""
    a = floating(tensor(a))
    deviation = a - nanmean(a, axis, keepdims=True)
    return cast(nansum(deviation * deviation, axis, None, keepdims) / (_counted(a, axis, keepdims) - ddof), dtype)


def nanstd(a, axis=None, dtype=None, ddof=0, keepdims=False) -> Tensor:
    """The standard deviation along dimensions, without what is not a number."""
    return cast(ops.sqrt(nanvar(a, axis, None, ddof, keepdims)), dtype)


# --- products --------------------------------------------------------------------------------------------------------

def _factors(a, b):
    return arrays._one_type((a, b))


def matmul(x1, x2, dtype=None) -> Tensor:
    """The matrix product."""
    return cast(ops.matmul(*_factors(x1, x2)), dtype)


def tensordot(a, b, axes=2) -> Tensor:
    """The sum of products over dimensions: the last of a and first of b, or pairs of them."""
    a, b = _factors(a, b)
    if isinstance(axes, int):
        if axes > builtins.min(a.ndim, b.ndim):
            raise ValueError(f"tensordot: axes is {axes}, but the ranks are {a.ndim} and {b.ndim}")
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        left, right = (axes_of(v, x.ndim, 'tensordot') for v, x in zip(axes, (a, b)))
    if tuple(a.shape[i] for i in left) != tuple(b.shape[i] for i in right):
        raise ValueError(f"tensordot: dimensions {left} of {a.shape} and {right} of {b.shape} do not match")
    rest_a = [i for i in range(a.ndim) if i not in left]
    rest_b = [i for i in range(b.ndim) if i not in right]
    n, rows, columns = (math.prod(x.shape[i] for i in which) for x, which in ((a, left), (a, rest_a), (b, rest_b)))
    first = ops.transpose(a, (*rest_a, *left)).reshape((rows, n)) if a.ndim else a.reshape((1, 1))
    second = ops.transpose(b, (*right, *rest_b)).reshape((n, columns)) if b.ndim else b.reshape((1, 1))
    return ops.matmul(first, second).reshape((*[a.shape[i] for i in rest_a], *[b.shape[i] for i in rest_b]))


def dot(a, b) -> Tensor:
    """Numbers multiplied, rows as a sum of products, matrices as matrices; else over the last of a and second last of b."""
    a, b = _factors(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return tensordot(a, b, ((a.ndim - 1,), (builtins.max(b.ndim - 2, 0),)))


def inner(a, b) -> Tensor:
    """The sum of products over the last dimensions."""
    a, b = _factors(a, b)
    return a * b if a.ndim == 0 or b.ndim == 0 else tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


def outer(a, b) -> Tensor:
    """Every element of a times every element of b."""
    a, b = _factors(a, b)
    return a.reshape((-1, 1)) * b.reshape((1, -1))


def kron(a, b) -> Tensor:
    """Every element of a replaced by its product with all of b."""
    a, b = _factors(a, b)
    n = builtins.max(a.ndim, b.ndim)
    a, b = (x.reshape((1,) * (n - x.ndim) + x.shape) for x in (a, b))
    first = a.reshape(tuple(v for d in a.shape for v in (d, 1)))
    second = b.reshape(tuple(v for d in b.shape for v in (1, d)))
    return (first * second).reshape(tuple(p * q for p, q in zip(a.shape, b.shape)))


def multi_dot(arrays):  # noqa: F811  numpy's name of the argument
    """The product of several matrices; the first and last may be rows."""
    out = arrays[0]
    for x in arrays[1:]:
        out = dot(out, x)
    return out


def matrix_power(a, n) -> Tensor:
    """A square matrix multiplied n times with itself."""
    a = tensor_only(a, 'matrix_power')
    if a.ndim < 2:
        raise ValueError(f"matrix_power: a must have at least 2 dimensions, but its shape is {a.shape}")
    out = ops.broadcast_to(creations.eye(a.shape[-1], dtype=a.dtype), a.shape)
    for _ in range(n):
        out = ops.matmul(out, a)
    return out


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None) -> Tensor:
    """The vector product; vectors of two elements lie in a plane."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _factors(a, b)
    axis_of(axisa, a.ndim, 'cross'), axis_of(axisb, b.ndim, 'cross')
    a, b = arrays.moveaxis(a, axisa, -1), arrays.moveaxis(b, axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError(f"cross: vectors have 2 or 3 elements, but got {a.shape[-1]} and {b.shape[-1]}")
    flat = a.shape[-1] == b.shape[-1] == 2
    x = [a[..., i] if i < a.shape[-1] else ops.zeros_like(a[..., 0]) for i in range(3)]
    y = [b[..., i] if i < b.shape[-1] else ops.zeros_like(b[..., 0]) for i in range(3)]
    last = x[0] * y[1] - x[1] * y[0]
    if flat:
        return last
    return ops.stack([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], last], axisc)


def norm(x, ord=None, axis=None, keepdims=False):  # noqa: A002
    """The norm of vectors along a dimension, or of matrices along two; of all elements without both."""
    x = floating(tensor(x))
    x = ops.abs(x) if x.dtype.is_complex else x
    if ord is None and axis is None:
        out = ops.sqrt(sum(x * x))
        return out.reshape((1,) * x.ndim) if keepdims else out
    axes = axes_of(axis, x.ndim, 'norm')
    if len(axes) == 2 and ord not in (None, 'fro'):
        if ord == 'nuc' or ord in (2, -2):
            raise ValueError(f"norm: singular values are needed for ord {ord!r}, which is not supported")
        row, column = axes
        rows = builtins.abs(ord) == 1
        inside = sum(ops.abs(x), row if rows else column, None, True)
        return (amax if ord > 0 else amin)(inside, axes, keepdims)
    if len(axes) == 1 and ord in (math.inf, -math.inf):
        return (amax if ord > 0 else amin)(ops.abs(x), axes, keepdims)
    if len(axes) == 1 and ord == 0:
        return sum(ops.ne(x, 0).astype(x.dtype), axes, None, keepdims)
    if len(axes) == 1 and isinstance(ord, (int, float)) and ord != 2:
        return ops.pow(sum(ops.pow(ops.abs(x), ord), axes, None, keepdims), 1.0 / ord)
    return ops.sqrt(sum(x * x, axes, None, keepdims))


# --- rows: differences, sliding sums, sums under curves --------------------------------------------------------------

def diff(a, n=1, axis=-1, prepend=None, append=None) -> Tensor:
    """Each element less the one before, n times."""
    a = tensor_only(a, 'diff')
    axis = axis_of(axis, a.ndim, 'diff')
    ends = []
    for value in (prepend, append):
        if value is not None:
            value = tensor(value)
            value = ops.broadcast_to(value, (*a.shape[:axis], 1, *a.shape[axis + 1:])) if value.ndim == 0 else value
        ends.append(value)
    if prepend is not None or append is not None:
        a = arrays.concatenate([x for x in (ends[0], a, ends[1]) if x is not None], axis)
    whole = (slice(None),) * axis
    for _ in range(a.shape[axis] if 0 <= a.shape[axis] < n else n):         # nothing is left after as many as there are
        a = a[whole + (slice(1, None),)] - a[whole + (slice(None, -1),)]
    return a


def ediff1d(ary, to_end=None, to_begin=None) -> Tensor:
    """Each element of the row less the one before, with given ends."""
    out = diff(tensor(ary).reshape((-1,)))
    parts = [tensor(x).reshape((-1,)).astype(out.dtype) for x in (to_begin,) if x is not None] + [out]
    parts += [tensor(x).reshape((-1,)).astype(out.dtype) for x in (to_end,) if x is not None]
    return arrays.concatenate(parts)


def _slid(a, v, mode, who):
    """The sums of products of v, as it is, with all parts of a."""
    a, v = _factors(a, v)
    if a.ndim != 1 or v.ndim != 1 or not a.size or not v.size:
        raise ValueError(f"{who}: two rows with elements are wanted, but got {a.shape} and {v.shape}")
    kind = a.dtype
    m, n = a.shape[0], v.shape[0]
    full = ops.pad(a, (n - 1, n - 1))
    index = ops.arange(m + n - 1).expand_dims(1) + ops.arange(n)
    out = ops.sum(ops.gather(full, index, 0) * v, (1,)).astype(kind)
    if mode == 'full':
        return out
    if mode == 'same':
        start, count = (builtins.min(m, n) - 1) // 2, builtins.max(m, n)
    elif mode == 'valid':
        start, count = builtins.min(m, n) - 1, builtins.max(m, n) - builtins.min(m, n) + 1
    else:
        raise ValueError(f"{who}: mode must be 'full', 'same' or 'valid', but got {mode!r}")
    return out[start:start + count]


def convolve(a, v, mode='full') -> Tensor:
    """The convolution of two rows."""
    a, v = arrays.atleast_1d(tensor(a)), arrays.atleast_1d(tensor(v))
    if v.size > a.size:
        a, v = v, a
    return _slid(a, arrays.flip(v), mode, 'convolve')


def correlate(a, v, mode='valid') -> Tensor:
    """The sums of products of one row with the conjugates of the other, shifted."""
    a, v = tensor(a), tensor(v)
    v = ops.conj(v) if v.dtype.is_complex else v
    if v.size > a.size:
        return arrays.flip(_slid(v, a, mode, 'correlate'))
    return _slid(a, v, mode, 'correlate')


def trapz(y, x=None, dx=1.0, axis=-1) -> Tensor:
    """The area under a curve, by trapezoids."""
    y = floating(tensor(y))
    axis = axis_of(axis, y.ndim, 'trapz')
    whole = (slice(None),) * axis
    middle = (y[whole + (slice(1, None),)] + y[whole + (slice(None, -1),)]) / 2
    if x is None:
        return sum(middle * dx, axis)
    x = floating(tensor(x))
    width = diff(x) if x.ndim == 1 else diff(x, axis=axis)
    if x.ndim == 1:
        width = width.reshape((-1,) + (1,) * (y.ndim - axis - 1))
    return sum(middle * width, axis)


def gradient(f, *varargs, axis=None, edge_order=1) -> Tensor:
    """Slopes along dimensions: central differences inside, one-sided ones at the ends."""
    if edge_order != 1:
        raise ValueError(f"gradient: edge_order must be 1, but got {edge_order}")
    f = floating(tensor(f))
    axes = axes_of(axis, f.ndim, 'gradient')
    steps = [1.0] * len(axes) if not varargs else list(varargs) * (len(axes) if len(varargs) == 1 else 1)
    out = []
    for place, step in zip(axes, steps):
        if isinstance(step, (list, tuple, Tensor)) and tensor(step).ndim:
            raise ValueError("gradient: steps must be numbers; coordinates are not supported")
        whole = (slice(None),) * place
        first = f[whole + (slice(1, 2),)] - f[whole + (slice(0, 1),)]
        last = f[whole + (slice(-1, None),)] - f[whole + (slice(-2, -1),)]
        inside = (f[whole + (slice(2, None),)] - f[whole + (slice(None, -2),)]) / 2
        out.append(ops.concat((first, inside, last), place) / step)
    return out[0] if len(out) == 1 else out


def unwrap(p, discont=3.141592653589793, axis=-1) -> Tensor:
    """Angles without jumps: differences above discont become their complement."""
    p = floating(tensor_only(p, 'unwrap'))
    axis = axis_of(axis, p.ndim, 'unwrap')
    steps = diff(p, axis=axis)
    short = ops.floor_mod(steps + math.pi, 2 * math.pi) - math.pi
    short = ops.where(ops.logical_and(ops.equal(short, -math.pi), ops.greater(steps, 0)), ops.full_like(short, math.pi), short)
    fix_ = ops.where(ops.less(ops.abs(steps), discont), ops.zeros_like(steps), short - steps)
    whole = (slice(None),) * axis
    return ops.concat((p[whole + (slice(0, 1),)], p[whole + (slice(1, None),)] + ops.cumsum(fix_, axis)), axis)


# --- tables, bins ----------------------------------------------------------------------------------------------------

def searchsorted(a, v, side='left', sorter=None) -> Tensor:
    """Where elements of v belong in the ordered row a: before equal ones (left) or behind them (right)."""
    if side not in ('left', 'right'):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', but got {side!r}")
    a, v = tensor(a), tensor(v)
    if sorter is not None:
        a = ops.gather(a, tensor(sorter), 0)
    a, v = arrays._one_type((a, v))
    below = ops.less(a, v.expand_dims(-1)) if side == 'left' else ops.le(a, v.expand_dims(-1))
    return ops.sum(below.astype(mstype.int32), (below.ndim - 1,)).astype(mstype.int32)


def digitize(x, bins, right=False) -> Tensor:
    """The number of the bin that each element lies in; bins rise or fall."""
    x, bins = tensor(x), tensor(bins)
    if bins.size > 1 and bool(ops.greater(bins[0], bins[-1])):
        return (bins.size - searchsorted(arrays.flip(bins), x, 'right' if right else 'left')).astype(mstype.int32)
    return searchsorted(bins, x, 'left' if right else 'right')


def bincount(x, weights=None, minlength=0, length=None) -> Tensor:
    """How often each number from 0 up occurs, or the sum of the weights where it does."""
    x = tensor(x).astype(mstype.int64)
    if x.ndim != 1:
        raise ValueError(f"bincount: a row is wanted, but got {x.ndim} dimensions")
    n = builtins.max(int(x.max()) + 1 if x.size else 0, minlength) if length is None else length
    weights = ops.ones(x.shape, mstype.float32) if weights is None else floating(tensor(weights))
    hot = ops.equal(x.expand_dims(1), ops.arange(n)).astype(weights.dtype)
    return ops.sum(hot * weights.expand_dims(1), (0,))


def histogramdd(sample, bins=10, range=None, weights=None, density=False):  # noqa: A002
    """Counts of points in boxes, and the edges of the boxes along every dimension."""
    if isinstance(sample, (list, tuple)):
        sample = ops.stack([floating(tensor(s)) for s in sample], 1)
    sample = floating(tensor(sample))
    n, dims = sample.shape
    bins = [bins] * dims if isinstance(bins, int) else list(bins)
    edges = [creations.histogram_bin_edges(sample[:, i], b if isinstance(b, int) else tensor(b),
                                           None if range is None else range[i]) for i, b in enumerate(bins)]
    place, inside, shape = ops.zeros((n,), mstype.int64), ops.ones((n,), mstype.bool_), []
    for i, edge in enumerate(edges):
        column, many = sample[:, i], edge.shape[0] - 1
        at = searchsorted(edge, column, 'right').astype(mstype.int64) - 1
        at = ops.where(ops.equal(column, edge[-1]), ops.full_like(at, many - 1), at)
        inside = ops.logical_and(inside, ops.logical_and(ops.ge(at, 0), ops.less(at, many)))
        place = place * many + ops.clamp(at, 0, many - 1)
        shape.append(many)
    weights = ops.ones((n,), mstype.float32) if weights is None else floating(tensor(weights))
    size = 1
    for many in shape:
        size *= many
    counts = bincount(place, weights * inside.astype(weights.dtype), length=size).reshape(tuple(shape))
    if density:
        total = sum(counts)
        for i, edge in enumerate(edges):
            counts = counts / diff(edge).reshape((-1,) + (1,) * (dims - i - 1))
        counts = counts / total
    return counts, edges


def histogram(a, bins=10, range=None, weights=None, density=False):  # noqa: A002
    """Counts of elements in bins, and the edges of the bins."""
    a = floating(tensor(a)).reshape((-1, 1))
    weights = None if weights is None else tensor(weights).reshape((-1,))
    counts, (edges,) = histogramdd(a, [bins], None if range is None else [range], weights, density)
    return counts, edges


def histogram2d(x, y, bins=10, range=None, weights=None, density=False):  # noqa: A002
    """Counts of points in rectangles, and the edges along both dimensions."""
    bins = [bins, bins] if isinstance(bins, int) or isinstance(bins, Tensor) or len(bins) not in (1, 2) else bins
    counts, edges = histogramdd((x, y), bins, range, weights, density)
    return counts, edges[0], edges[1]


def interp(x, xp, fp, left=None, right=None) -> Tensor:
    """The value at x of the line through the points (xp, fp); beyond them left and right."""
    xp, fp, x = floating(tensor(xp)), floating(tensor(fp)), floating(tensor(x))
    n = xp.shape[0]
    high = ops.clamp(searchsorted(xp, x, 'right'), 1, n - 1)
    low = high - 1
    x0, x1, y0, y1 = ops.gather(xp, low, 0), ops.gather(xp, high, 0), ops.gather(fp, low, 0), ops.gather(fp, high, 0)
    out = y0 + (x - x0) / (x1 - x0) * (y1 - y0)
    out = ops.where(ops.less(x, xp[0]), ops.full_like(out, float(fp[0]) if left is None else left), out)
    return ops.where(ops.greater(x, xp[-1]), ops.full_like(out, float(fp[-1]) if right is None else right), out)


def ravel_multi_index(multi_index, dims, mode='clip', order='C') -> Tensor:
    """Indices of every dimension of a shape as places in a row."""
    dims = shape_of(dims)
    if order not in ('C', 'F'):
        raise ValueError(f"ravel_multi_index: order must be 'C' or 'F', but got {order!r}")
    rows = list(multi_index) if isinstance(multi_index, (list, tuple)) else [multi_index[i] for i in builtins.range(len(dims))]
    pairs = list(zip((tensor(r) for r in rows), dims))
    out = None
    for row, d in pairs if order == 'C' else pairs[::-1]:
        row = arrays._bounded(row, d, mode)
        out = row if out is None else out * d + row
    return out


# --- covariance ------------------------------------------------------------------------------------------------------

def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None) -> Tensor:
    """The covariance of variables, one in each row (or, rowvar=False, column)."""
    m = floating(tensor(m))
    m = arrays.atleast_2d(m)
    if not rowvar and m.shape[0] != 1:
        m = m.T
    if y is not None:
        y = arrays.atleast_2d(floating(tensor(y)))
        m = arrays.concatenate((m, y.T if not rowvar and y.shape[0] != 1 else y))
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = None
    if fweights is not None:
        weights = tensor(fweights).astype(m.dtype)
    if aweights is not None:
        aweights = tensor(aweights).astype(m.dtype)
        weights = aweights if weights is None else weights * aweights
    if weights is None:
        centred, factor = m - ops.mean(m, 1, True), m.shape[1] - ddof
        product = centred
    else:
        total = sum(weights)
        centred = m - (ops.sum(m * weights, (1,), True) / total)
        factor = total - ddof if aweights is None or ddof == 0 else total - ddof * sum(weights * aweights) / total
        product = centred * weights
    product = ops.conj(product.T) if product.dtype.is_complex else product.T
    return cast(ops.squeeze(ops.matmul(centred, product) / factor), dtype)


def corrcoef(x, y=None, rowvar=True, dtype=None) -> Tensor:
    """The correlation of variables: their covariance divided by both standard deviations."""
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return cast(c / c, dtype)
    deviation = creations.diagonal(c)
    deviation = ops.sqrt(ops.real(deviation) if c.dtype.is_complex else deviation)
    c = c / deviation.expand_dims(1) / deviation
    return cast(c if c.dtype.is_complex else ops.clamp(c, -1.0, 1.0), dtype)


# --- polynomials: coefficients from the highest power down -----------------------------------------------------------

def _terms(a):
    return arrays.atleast_1d(tensor(a))


def _aligned(a1, a2):
    a1, a2 = arrays._one_type((_terms(a1), _terms(a2)))
    n = builtins.max(a1.shape[0], a2.shape[0])
    return [creations.pad(x, ((n - x.shape[0], 0),)) for x in (a1, a2)]


def polyadd(a1, a2) -> Tensor:
    """The sum of two polynomials."""
    a1, a2 = _aligned(a1, a2)
    return a1 + a2


def polysub(a1, a2) -> Tensor:
    """The difference of two polynomials."""
    a1, a2 = _aligned(a1, a2)
    return a1 - a2


def polymul(a1, a2) -> Tensor:
    """The product of two polynomials."""
    return convolve(_terms(a1), _terms(a2))


def polyval(p, x) -> Tensor:
    """The value of a polynomial at every element of x."""
    p, x = floating(_terms(p)), floating(tensor(x))
    out = ops.zeros_like(x)
    for i in range(p.shape[0]):
        out = out * x + p[i]
    return out


def polyder(p, m=1) -> Tensor:
    """The m-th derivative of a polynomial."""
    p = _terms(p)
    for _ in range(m):
        n = p.shape[0] - 1
        p = p[:-1] * ops.arange(n, 0, -1).astype(p.dtype) if n > 0 else p[:0]
    return p


def polyint(p, m=1, k=None) -> Tensor:
    """The m-th integral of a polynomial; k are the constants."""
    p = floating(_terms(p))
    k = [0] * m if k is None else [k] * m if isinstance(k, (int, float)) else list(k) * (m if len(k) == 1 else 1)
    for i in range(m):
        n = p.shape[0]
        p = ops.concat((p / ops.arange(n, 0, -1).astype(p.dtype), ops.full((1,), float(k[i]), dtype=p.dtype)))
    return p

# SPDX-License-Identifier: Apache-2.0
"""Comparisons and tests."""
from spore import ops
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.numpy import _convert
from spore.numpy._convert import cast, pair, tensor, tensor_only

__all__ = ['array_equal', 'array_equiv', 'in1d', 'isclose', 'isin', 'isneginf', 'isposinf', 'isscalar', 'logical_not',
           'signbit', 'sometrue']


def _comparison(function, text):
    def compare(x1, x2, dtype=None):
        return cast(function(*pair(x1, x2)), dtype)
    compare.__doc__ = f"Is {text}? Element by element, broadcast."
    return compare


def _logical(function, text):
    def combine(x1, x2, dtype=None):
        first, second = pair(x1, x2)
        return cast(function(first.astype(mstype.bool_), second.astype(mstype.bool_)), dtype)
    combine.__doc__ = f"{text}, element by element; what is not zero is true."
    return combine


def _test(function, text):
    def test(x, dtype=None):
        return cast(function(tensor(x)), dtype)
    test.__doc__ = f"Which elements are {text}?"
    return test


_convert.export({
    'equal': _comparison(ops.equal, 'x1 equal to x2'), 'not_equal': _comparison(ops.ne, 'x1 different from x2'),
    'less': _comparison(ops.less, 'x1 less than x2'), 'less_equal': _comparison(ops.le, 'x1 at most x2'),
    'greater': _comparison(ops.gt, 'x1 greater than x2'), 'greater_equal': _comparison(ops.ge, 'x1 at least x2'),
    'logical_and': _logical(ops.logical_and, 'Both'), 'logical_or': _logical(ops.logical_or, 'One or both'),
    'logical_xor': _logical(ops.logical_xor, 'One of the two'),
    'isfinite': _test(ops.isfinite, 'finite'), 'isinf': _test(ops.isinf, 'infinite'),
    'isnan': _test(ops.isnan, 'not a number')}, globals())


def logical_not(a, dtype=None) -> Tensor:
    """Which elements are zero?"""
    return cast(ops.logical_not(tensor(a).astype(mstype.bool_)), dtype)


def isneginf(x) -> Tensor:
    """Which elements are minus infinity?"""
    return ops.equal(tensor_only(x, 'isneginf'), float('-inf'))


def isposinf(x) -> Tensor:
    """Which elements are plus infinity?"""
    return ops.equal(tensor_only(x, 'isposinf'), float('inf'))


def isscalar(element):
    """Is it a number or a text, and not a Tensor?"""
    return isinstance(element, (int, float, bool, complex, str))


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) -> Tensor:
    """Which elements differ by at most atol + rtol * abs(b)?"""
    a, b = tensor(a), tensor(b)
    rtol, atol = abs(float(rtol)), abs(float(atol))
    both = _convert.floating(a), _convert.floating(b)
    close = ops.le(ops.abs(both[0] - both[1]), atol + rtol * ops.abs(both[1]))
    close = ops.logical_or(ops.logical_and(close, ops.isfinite(both[1])), ops.equal(both[0], both[1]))
    if equal_nan:
        close = ops.logical_or(close, ops.logical_and(ops.isnan(both[0]), ops.isnan(both[1])))
    return close


def in1d(ar1, ar2, invert=False) -> Tensor:
    """Which elements of ar1, as one row, are also in ar2?"""
    return isin(tensor(ar1).reshape((-1,)), ar2, invert)


def isin(element, test_elements, invert=False) -> Tensor:
    """Which elements are also in test_elements?"""
    element, others = tensor(element), tensor(test_elements).reshape((-1,))
    found = ops.any(ops.equal(element.expand_dims(-1), others), axis=-1)
    return ops.logical_not(found) if invert else found


def array_equal(a1, a2, equal_nan=False) -> Tensor:
    """Have two Tensors one shape and equal elements?"""
    a1, a2 = tensor(a1), tensor(a2)
    if not isinstance(equal_nan, bool):
        raise TypeError(f"array_equal: equal_nan must be a bool, but got {_type_name(equal_nan)}")
    if a1.shape != a2.shape:
        return _convert.made(False)
    same = ops.equal(a1, a2)
    if equal_nan:
        same = ops.logical_or(same, ops.logical_and(ops.isnan(a1), ops.isnan(a2)))
    return ops.all(same)


def array_equiv(a1, a2) -> Tensor:
    """Are two Tensors equal after broadcasting?"""
    a1, a2 = tensor(a1), tensor(a2)
    if any(m != n and 1 not in (m, n) for m, n in zip(a1.shape[::-1], a2.shape[::-1])):
        return _convert.made(False)
    return ops.all(ops.equal(a1, a2))


def signbit(x, dtype=None) -> Tensor:
    """Which elements have a minus sign?"""
    return cast(ops.less(tensor(x), 0), dtype)


def sometrue(a, axis=None, keepdims=False) -> Tensor:
    """Is any element not zero, along axis?"""
    a = tensor(a).astype(mstype.bool_)
    return ops.any(a, axis=_convert.axes_of(axis, a.ndim, 'sometrue'), keep_dims=keepdims) if a.ndim else a

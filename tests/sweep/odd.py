# SPDX-License-Identifier: Apache-2.0
"""Odd values of every kind of argument. A replacement is never equal to what it replaces."""
import numpy as np

INTS = [0, -1, 7, 2 ** 31, 2 ** 32, 2 ** 62 + 1, 2 ** 63 - 1, -2 ** 63]
FLOATS = [0.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324]
WORDS = ["", "no such word", "mean", "none", "sum", "same", "valid", "pad", "reflect", "bilinear", "x" * 300]
DTYPES = ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float64", "complex64"]


def same(a, b):
    return type(a) is type(b) and (a == b or a != a and b != b)


def numbers(value):
    """Instead of one number, integers first; among them the value itself 2^32 further, which must not be taken for the value."""
    shifted = [value + 2 ** 32] if isinstance(value, int) and not isinstance(value, bool) else []
    return [v for v in INTS + shifted if not same(v, value)]


def lists(value, odd):
    """Instead of a tuple: odd members in each place, in all, and other lengths."""
    value = tuple(value)
    for i in range(len(value)):
        for v in odd:
            if not same(v, value[i]):
                yield value[:i] + (v,) + value[i + 1:]
    if len(value) > 1:      # together they may go round where one alone does not
        yield from ((v,) * len(value) for v in odd)
    yield from (t for t in [(), value + (1,), value[:-1], (1,) * 9, value + value, (odd[0],), (odd[1],)] if t != value)


def replacements(kind, value):
    """Values of an attribute of the table. `value` is what the sample has, None where it has none."""
    if kind == "int":
        yield from numbers(1 if value is None else value)
    elif kind == "float":
        yield from (v for v in FLOATS if not same(v, value))
    elif kind == "number":
        yield from (v for v in INTS + FLOATS + [True] if not same(v, value))
    elif kind == "bool":
        yield not value
    elif kind in ("ints", "floats"):
        odd = INTS if kind == "ints" else FLOATS
        value = (value,) if isinstance(value, (int, float)) else value
        if value is None or not isinstance(value, (tuple, list)):
            value = (1,) if kind == "ints" else (1.0,)
            yield value
            for n in (2, 3, 4):
                for v in odd:
                    yield value * (n - 1) + (v,)
        yield from lists(value, odd)
    elif kind == "text":
        yield from (w for w in WORDS if w != value)
    elif kind == "dtype":
        yield from (d for d in DTYPES if d != value)


def contents(array):
    """The same shape and dtype with odd numbers in it: everywhere, and in the first place only."""
    if array.dtype.kind in "iu":
        low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
        odd = sorted({int(min(max(v, low), high)) for v in INTS})
    elif array.dtype.kind in "fc":
        odd = FLOATS
    else:
        return
    with np.errstate(all="ignore"):
        for v in odd:
            yield f"all {v}", np.full_like(array, v)
            if array.size > 1:
                first = array.copy()
                first.flat[0] = v
                yield f"first {v}", first


def shapes(array):
    """The same dtype in other shapes."""
    yield "rank 0", np.zeros((), array.dtype)
    yield "empty", np.zeros((0,), array.dtype)
    for axis in range(array.ndim):
        yield f"nothing along {axis}", np.zeros(array.shape[:axis] + (0,) + array.shape[axis + 1:], array.dtype)
        yield f"one more along {axis}", np.concatenate([array, array.take([0], axis)], axis) if array.shape[axis] else array
        if array.shape[axis] > 1:
            yield f"one along {axis}", array.take([0], axis)
    yield "one dimension more", array[None]
    if array.ndim:
        yield "one dimension less", array[0] if array.shape[0] else np.zeros(array.shape[1:], array.dtype)
        yield "flat", array.reshape(-1)
    yield "rank 8", array.reshape((1,) * (8 - array.ndim) + array.shape)

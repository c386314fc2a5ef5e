# SPDX-License-Identifier: Apache-2.0
"""Sweep over the operator table as a C program meets it: attribute structs filled through the table's offsets, handed to sp_apply.

Python's checks are not in the way here: lists of any length, no list at all, texts that are not there. SPORE_SWEEP_WHOLE=1 takes every
sample, else one of each operator.
"""
import ctypes as c
import os
from pathlib import Path

import numpy as np

from odd import WORDS, replacements
from odd_table import TABLE, inputs_of, initial_value, samples_of

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = c.CDLL(str(Path(os.environ.get("SPORE_BUILD", ROOT / "build")) / "libspore.so"))
RESULTS = 64


class Ints(c.Structure):
    _fields_ = [("n", c.c_int), ("v", c.POINTER(c.c_int64))]


class Floats(c.Structure):
    _fields_ = [("n", c.c_int), ("v", c.POINTER(c.c_double))]


class Number(c.Structure):
    _fields_ = [("kind", c.c_char), ("i", c.c_int64), ("f", c.c_double)]


class Attr(c.Structure):
    _fields_ = [("name", c.c_char_p), ("type", c.c_int), ("offset", c.c_size_t), ("initial", c.c_char_p)]


def declare(name, result, *arguments):
    function = getattr(LIBRARY, name)
    function.restype, function.argtypes = result, arguments
    return function


find = declare("sp_op_find", c.c_void_p, c.c_char_p)
attrs_of = declare("sp_op_attrs", c.c_int, c.c_void_p, c.POINTER(c.POINTER(Attr)), c.POINTER(c.c_size_t))
apply = declare("sp_apply", c.c_int, c.c_void_p, c.c_void_p, c.c_int, c.POINTER(c.c_void_p), c.c_int, c.POINTER(c.c_void_p), c.POINTER(c.c_int))
create = declare("sp_tensor_create_from", c.c_int, c.c_int, c.c_int, c.POINTER(c.c_int64), c.c_void_p, c.POINTER(c.c_void_p))
release = declare("sp_tensor_release", None, c.c_void_p)
message = declare("sp_error_message", c.c_char_p)
parse_dtype = declare("sp_dtype_parse", c.c_int, c.c_char_p)
declare("sp_memory_set_limit", c.c_int, c.c_size_t)(300 << 20)


def units():
    return sorted(TABLE)


def tensor(array):
    out = c.c_void_p()
    array = np.ascontiguousarray(array)
    dims = (c.c_int64 * max(array.ndim, 1))(*array.shape)
    status = create(parse_dtype(str(array.dtype).encode()), array.ndim, dims, array.ctypes.data, c.byref(out))
    if status:
        raise RuntimeError(message().decode())
    return out.value


class Attributes:
    """The attribute struct of one call. What it points to lives as long as it does."""

    def __init__(self, op):
        self.table, size = c.POINTER(Attr)(), c.c_size_t()
        self.n = attrs_of(op, c.byref(self.table), c.byref(size))
        self.struct = c.create_string_buffer(max(size.value, 1))
        self.keep = []

    def set(self, name, kind, value):
        at = next(self.table[i].offset for i in range(self.n) if self.table[i].name == name.encode())
        field = self.field(kind, value)
        self.keep.append(field)
        c.memmove(c.addressof(self.struct) + at, c.addressof(field), c.sizeof(field))

    def field(self, kind, value):
        if kind == "int":
            return c.c_int64(-2 ** 63 if value is None else value)
        if kind == "float":
            return c.c_double(0.0 if value is None else value)
        if kind == "bool":
            return c.c_bool(bool(value))
        if kind == "dtype":
            return c.c_int(-1 if value is None else parse_dtype(str(value).encode()))
        if kind == "text":
            return c.c_char_p(None if value is None else value.encode())
        if kind == "number":
            if value is None:
                return Number(b"n", 0, 0.0)
            letter = b"b" if isinstance(value, bool) else b"i" if isinstance(value, int) else b"f"
            return Number(letter, 0 if letter == b"f" else int(value), float(value))
        form, item = (Ints, c.c_int64) if kind == "ints" else (Floats, c.c_double)
        if value is None:
            return form(-1, None)
        value = list(value) if isinstance(value, (tuple, list)) else [value]
        block = (item * max(len(value), 1))(*value)
        self.keep.append(block)
        return form(len(value), c.cast(block, c.POINTER(item)))


def run(entry, arrays, attrs):
    op = find(entry["name"].encode())
    struct = Attributes(op)
    for name, kind, initial in entry["attrs"]:
        struct.set(name, kind, attrs.get(name, initial_value(kind, initial)))
    inputs = [None if a is None else tensor(a[0]) for a in arrays]
    out, n_out = (c.c_void_p * RESULTS)(), c.c_int()
    given = (c.c_void_p * max(len(inputs), 1))(*inputs)
    status = apply(op, struct.struct, len(inputs), given, RESULTS, out, c.byref(n_out))
    text = message().decode(errors="replace")
    for i in range(n_out.value if status == 0 else 0):
        release(out[i])
    for t in inputs:
        release(t)
    if status:
        raise RuntimeError(text)


def cases(unit):
    entry = TABLE[unit]
    dtype = next((d for d in ("float32", "int32", "int64", "bool", "complex64") if d in entry["dtypes"]), None)
    if dtype is None:
        return
    for sample in samples_of(entry):
        arrays = inputs_of(sample, dtype)
        for name, kind, initial in entry["attrs"]:
            odd = list(replacements(kind, sample.attrs.get(name, initial_value(kind, initial))))
            for value in odd + [None] + (WORDS if kind == "text" else []):
                yield f"{sample.text}: {name}={value!r}", lambda: run(entry, arrays, {**sample.attrs, name: value})
        for i in range(len(arrays)):
            yield f"{sample.text}: input {i} left out", lambda: run(entry, arrays[:i] + [None] + arrays[i + 1:], sample.attrs)
        yield f"{sample.text}: more inputs", lambda: run(entry, arrays + arrays[-1:] * 20, sample.attrs)
        yield f"{sample.text}: no inputs", lambda: run(entry, [], sample.attrs)
        yield f"{sample.text}: no attributes", lambda: run(entry, arrays, {})

# SPDX-License-Identifier: Apache-2.0
"""Sample inputs of operators, read from the `.samples` text of their table entries.

    [2,3] [3] axis=1; [2,3]>0 [3]_ keepdims=True

Samples are separated by ';'. An operand is a shape, followed by what its values are: nothing: uniform in (-2, 2);
`>0`: in (0.5, 2); `(lo,hi)`: in that range; `b`: bool; `u`: bytes; `f`: small float32; `i<N`: int64 indices in [0, N); `d`: distinct values well apart.
`_` alone stands for an optional input that is left out. Attributes follow as name=value in Python's notation.
"""
import ast
import re

import numpy as np

_OPERAND = re.compile(r"\[([0-9, ]*)\](>0|b|d|u|f|i<\d+|\([^)]*\))?$")

NUMPY = {"bfloat16": "float32"}


class Operand:
    """One input: shape and kind of values."""

    def __init__(self, text):
        match = _OPERAND.match(text)
        if not match:
            raise ValueError(f"operand {text!r} is not understood")
        self.shape = tuple(int(d) for d in match.group(1).split(",") if d.strip())
        self.kind = match.group(2) or ""

    @property
    def follows_dtype(self):
        """Whether the values have the dtype under test (indices and conditions have their own)."""
        return self.kind not in ("b", "u", "f") and not self.kind.startswith("i<")

    def values(self, rng, dtype):
        """Deterministic values as a numpy array."""
        unit = rng.random(self.shape)
        if self.kind == "b":
            return unit < 0.5
        if self.kind == "u":
            return (unit * 256).astype(np.uint8)
        if self.kind == "f":
            return (0.01 + unit * 0.05).astype(np.float32)
        if self.kind.startswith("i<"):
            return (unit * int(self.kind[2:])).astype(np.int64)
        if dtype == "bool":
            return unit < 0.5
        if self.kind == ">0":
            low, high = 0.5, 2.0
        elif self.kind.startswith("("):
            low, high = (float(v) for v in self.kind[1:-1].split(","))
        else:
            low, high = -2.0, 2.0
        if self.kind == "d":
            n = int(np.prod(self.shape))
            order = np.argsort(rng.random(n), kind="stable")
            values = (order - n / 2 + 0.25).reshape(self.shape) * (4.0 / max(n, 1))
        else:
            values = low + unit * (high - low)
        numpy_dtype = np.dtype(NUMPY.get(dtype, dtype))
        if numpy_dtype.kind in "iu":
            low, high = (1, 5) if low > 0 else (0 if numpy_dtype.kind == "u" else -4, 5)
            if self.kind == "d":
                n = int(np.prod(self.shape))
                return np.argsort(rng.random(n), kind="stable").reshape(self.shape).astype(numpy_dtype)
            return (low + np.floor(unit * (high - low))).astype(numpy_dtype)
        if numpy_dtype.kind == "c":
            return (values + 1j * rng.random(self.shape)).astype(numpy_dtype)
        return values.astype(numpy_dtype)


class Sample:
    """Operands and attributes of one application."""

    def __init__(self, text):
        self.text = text
        self.operands = []
        self.attrs = {}
        for word in _words(text):
            if word == "_":
                self.operands.append(None)
            elif word.startswith("["):
                self.operands.append(Operand(word))
            else:
                name, _, value = word.partition("=")
                self.attrs[name] = _value(value)


def _words(text):
    """Split at blanks and commas outside of brackets."""
    words, depth, word = [], 0, ""
    for char in text:
        depth += char in "([" and 1 or char in ")]" and -1 or 0
        if (char.isspace() or char == ",") and depth == 0:
            if word:
                words.append(word)
            word = ""
        else:
            word += char
    return words + [word] if word else words


def _value(text):
    if text.lstrip("-") in ("inf", "nan"):
        return float(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def parse(text):
    """All samples of an entry."""
    return [Sample(part.strip()) for part in text.split(";") if part.strip()]

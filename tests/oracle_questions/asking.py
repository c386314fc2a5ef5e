# SPDX-License-Identifier: Apache-2.0
"""Small questions, asked of MindSpore 2.10 and of spore alike, and what counts as the same answer.

The .txt files of questions/ hold them: a line each, or, in files with lines of `---`, what stands between those. A question is an
expression, or statements that set `out`; lines that begin with `#` are comments. A first piece that begins with `#pre` stands before every
question of its file. The answers stand in the .json of the same name.
"""
import ast
import fnmatch
import importlib
import json
import math
import os
import re
import sys
import types
import warnings
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
FILES = sorted((HERE / "questions").glob("*.txt"))


def read_questions(path):
    """The questions of a file."""
    text = path.read_text(encoding="utf-8")
    pieces = text.split("\n---\n") if "\n---\n" in text else text.splitlines()
    pieces = pieces[text.startswith("#pre"):]
    return [p.strip("\n") for p in pieces if p.strip() and not (p.startswith("#") and "\n" not in p)]


def prelude(path):
    """What stands before every question of a file."""
    text = path.read_text(encoding="utf-8")
    return text.split("\n---\n")[0] + "\n" if text.startswith("#pre") else ""


def numbers(kind, *shape, within=None):
    """Fixed numbers of a dtype by its short name: "f32", "c64", "u8", "bool", ... Integers are small, floats in (-2, 2), or `within` two
    numbers."""
    dtype = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool"}[kind[0]] + kind[1:] if kind != "bool" else "bool"
    draw = np.random.RandomState(zlib.crc32(repr((kind, shape)).encode()) % 2**31)
    if kind == "bool":
        return np.array(draw.rand(*shape) > 0.5)
    if within is not None:
        low, high = within
        values = low + np.array(draw.rand(*shape)) * (high - low)
        return (np.floor(values) if kind[0] in "iu" else values * (1 + 0.5j) if kind[0] == "c" else values).astype(dtype)
    if kind[0] in "iu":
        return np.array(draw.randint(-5 if kind[0] == "i" else 0, 6, shape)).astype(dtype)
    values = np.array(draw.rand(*shape)) * 4 - 2
    return (values + 1j * (np.array(draw.rand(*shape)) * 4 - 2) if kind[0] == "c" else values).astype(dtype)


def plain(value):
    """Values as JSON: a Tensor or array is [its dtype, shape, numbers], other things by what they are."""
    if type(value).__name__ in ("CSRTensor", "COOTensor"):
        return [type(value).__name__, *map(plain, value.to_tuple())]
    if hasattr(value, "asnumpy"):
        dtype = str(value.dtype)
        if dtype == "BFloat16":
            value = value.astype(importlib.import_module(type(value).__module__.split(".")[0]).float32)
        array = np.asarray(value.asnumpy())
        return ["Parameter" if type(value).__name__ == "Parameter" else "Tensor", dtype, list(array.shape), flat(array)]
    if isinstance(value, np.ndarray):
        return ["array", str(value.dtype), list(value.shape), flat(value)]
    if isinstance(value, np.generic):
        return ["number", str(value.dtype), flat(np.asarray(value))[0]]
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value if not isinstance(value, int) or abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, complex):
        return ["complex", value.real, value.imag]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__ if type(value) in (list, tuple) else "tuple", *map(plain, value)]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, type):
        return "class " + value.__name__
    if type(value).__module__.split(".")[0] in ("mindspore", "spore") and re.fullmatch(r"[A-Z]\w*[a-z]?\d*", str(value)):
        return str(value)
    return "a " + type(value).__name__


def flat(array):
    """Numbers of an array, at most 40 of them."""
    parts = array.reshape(-1)[:40]
    if array.dtype.kind == "c":
        parts = np.stack([parts.real, parts.imag], -1).reshape(-1)
    if array.dtype.kind in "fc":
        return [float(f"{x:.7g}") if math.isfinite(x) else str(x) for x in parts.astype(np.float64)]
    return [x if isinstance(x, (bool, str)) or abs(x) < 2**53 else str(x) for x in parts.tolist()]


def scope(framework, folder):
    """The names that questions use."""
    ms = importlib.import_module(framework)

    def part(name):
        return importlib.import_module(f"{framework}.{name}")

    def t(kind, *shape, within=None):
        return ms.Tensor(numbers(kind, *shape, within=within))
    names = {"np": np, "ms": ms, "ops": ms.ops, "nn": ms.nn, "mint": part("mint"), "Tensor": ms.Tensor, "Parameter": ms.Parameter,
             "P": part("ops.operations"), "mnp": part("numpy"), "sl": part("scipy.linalg"), "so": part("scipy.optimize"),
             "sf": part("scipy.fft"), "sss": None, "train": part("train"), "amp": part("amp"), "ds": part("dataset"), "rewrite": part("rewrite"),
             "mstype": part("common.dtype"), "t": t, "a": numbers, "D": str(folder), "os": os, "json": json, "F": part("ops.functional"),
             "ser": part("train.serialization"), "cb": part("train.callback"), "C": part("ops.composite")}
    return names


def answer(question, names, before=""):
    """What a framework says to it; `before`: the prelude of its file."""
    module, ms = types.ModuleType("question"), names["ms"]
    question = before + question
    if before:
        question = question.replace("from mindspore", f"from {ms.__name__}").replace("import mindspore", f"import {ms.__name__}")
    module.__dict__.update(names)
    names, sys.modules["question"] = module.__dict__, module         # MindSpore's compiler looks names up in the module
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(1)
    np.random.seed(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(question)
            code = compile(question, "<question>", "eval" if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) else "exec")
            if question.count("jit") or "SymbolTree" in question or before:  # these are read from their file
                path = Path(names["D"]) / f"q{zlib.crc32(question.encode())}.py"
                path.write_text(question, encoding="utf-8")
                module.__file__ = str(path)
                code = compile(question, str(path), "exec")
            result = eval(code, names)
            return plain(names.get("out") if code.co_filename != "<question>" or result is None and "out" in names else result)
    except Exception as error:
        return {"raises": type(error).__name__, "words": str(error).split("\n")[0][:80]}


def same(found, wanted, rtol=2e-4, atol=2e-5):
    """Whether two answers are the same: numbers up to rounding, of exceptions the type."""
    if isinstance(wanted, dict) and "raises" in wanted:
        return isinstance(found, dict) and found.get("raises") == wanted["raises"]
    if isinstance(wanted, bool) or isinstance(found, bool) or wanted is None or isinstance(wanted, str):
        return found == wanted and type(found) is type(wanted)
    if isinstance(wanted, (int, float)):
        return isinstance(found, (int, float)) and type(found) is type(wanted) and abs(found - wanted) <= atol + rtol * abs(wanted)
    if isinstance(wanted, dict):
        return isinstance(found, dict) and list(found) == list(wanted) and all(same(found[k], wanted[k], rtol, atol) for k in wanted)
    if wanted[:1] and wanted[0] in ("Tensor", "array") and isinstance(wanted[1], str) and "16" in wanted[1]:
        rtol = atol = 1e-2
    return isinstance(found, list) and len(found) == len(wanted) and all(same(x, y, rtol, atol) for x, y in zip(found, wanted))


def read_different():
    """[(file, pattern, reason)] of different.txt."""
    lines = (HERE / "different.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.rsplit("  # ", 1) for line in lines if line.strip() and not line.startswith("#")]
    return [(*left.split(": ", 1), reason) for left, reason in rows]


def reason_for(name, question, rows, found, wanted):
    """Why spore may answer otherwise, or None. Patterns are those of the shell, over the question in one line; behind `refused`
    they count only where MindSpore raises an exception and spore has an answer, behind `both refuse` where the types differ, behind
    `nothing` where an input has no elements."""
    line = question.replace("\n", "; ")
    here, there = ("raises" in answer if isinstance(answer, dict) else False for answer in (found, wanted))
    for file, pattern, reason in rows:
        for word, holds in (("refused ", there and not here), ("both refuse ", there and here), ("nothing ", re.search(r"\bt\('\w+'(, \d+)*, 0[,)]", line))):
            if pattern.startswith(word):
                pattern = pattern.removeprefix(word) if holds else ""
        if file == name and pattern and (line == pattern or fnmatch.fnmatchcase(line, pattern)):
            return reason
    return None

# SPDX-License-Identifier: Apache-2.0
"""Questions are short programs that leave their answer in ``answer``. Each runs as a file of its own, as compilers read source, in eager
and in graph mode; ``ms ops nn np Tensor Parameter`` are there, and ``t(...)``, a float32 Tensor."""
import fnmatch
import importlib.util
import itertools
import json
import os
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ("eager", "graph")
_HEAD = """import numpy as np
import {package} as ms
from {package} import Tensor, Parameter, ops, nn
def t(*numbers, dtype=np.float32):
    return Tensor(np.array(numbers, dtype))
"""
_numbers = itertools.count()


def plain(value):
    """A value as JSON has it: Tensors as nested lists, numbers with seven digits."""
    if hasattr(value, "asnumpy"):
        value = value.asnumpy()
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, complex):
        return {"complex": [plain(value.real), plain(value.imag)]}
    if isinstance(value, float):
        return float(f"{value:.6g}") + 0.0 if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def ask(package, text, mode):
    """The answer of ``package`` to a question in one mode; an exception is {"error": its class}."""
    module = importlib.import_module(package)
    module.set_context(mode=module.PYNATIVE_MODE if mode == "eager" else module.GRAPH_MODE)
    path = os.path.join(_folder(), f"question_{next(_numbers)}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(_HEAD.format(package=package) + text)
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    asked = sys.modules[spec.name] = importlib.util.module_from_spec(spec)       # MindSpore's compiler imports it by name
    try:
        spec.loader.exec_module(asked)
        return plain(asked.answer)
    except Exception as error:
        return {"error": type(error).__name__, "said": str(error).strip().partition("\n")[0][:120]}
    finally:
        del sys.modules[spec.name]
        module.set_context(mode=module.PYNATIVE_MODE)


_made = []


def _folder():
    if not _made:
        _made.append(tempfile.TemporaryDirectory(prefix="questions"))
    return _made[0].name


def close(a, b, tolerance=2e-5):
    """Whether two answers are the same but for rounding; errors are the same when both are errors."""
    if isinstance(a, dict) and "error" in a or isinstance(b, dict) and "error" in b:
        return isinstance(a, dict) and isinstance(b, dict) and "error" in a and "error" in b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k], tolerance) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(close(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and bool not in (type(a), type(b)):
        return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
    return a == b


def answers(survey):
    """{question: {mode: answer}} as recorded; nothing for a survey that was not asked yet."""
    path = os.path.join(HERE, "answers", survey + ".json")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def pinned():
    """{survey: {question: {mode: answer}}}: what is answered here where that is not MindSpore's answer."""
    with open(os.path.join(HERE, "pinned.json"), encoding="utf-8") as file:
        return json.load(file)


def different():
    """[(survey, pattern of questions, mode or "both", reason)]"""
    known = []
    with open(os.path.join(HERE, "different.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                place, _, reason = line.strip().partition(": ")
                survey, *pattern, mode = place.split(" ")
                known.append((survey, " ".join(pattern), mode, reason))
    return known


def reason_of(known, survey, question, mode):
    """Why an answer differs, or None."""
    return next((reason for s, pattern, m, reason in known
                 if s == survey and m in (mode, "both") and fnmatch.fnmatchcase(question, pattern)), None)

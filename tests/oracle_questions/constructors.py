# SPDX-License-Identifier: Apache-2.0
"""Constructors of primitives with one argument of another kind: `python constructors.py`, with an interpreter that has MindSpore 2.10, writes
constructors.json: for every argument of a class that needs none, one letter a value (VALUES): "." it is taken, "T" TypeError, "V" ValueError, "?" something else."""
import importlib
import inspect
import json
import sys
import warnings
from pathlib import Path

VALUES = (1, -1, 1.5, "a", None, True, (1, 2))
ANSWERS = Path(__file__).with_name("constructors.json")


def classes(ops, operations):
    """{name: class} of the primitives whose arguments all have defaults."""
    found = {}
    for name in sorted(set(dir(operations)) | set(dir(ops))):
        cls = getattr(operations, name, None) or getattr(ops, name, None)
        if inspect.isclass(cls) and issubclass(cls, ops.Primitive) and not name.startswith("_"):
            found[name] = cls
    return found


def arguments(cls):
    """Names of its arguments, or none if one of them has no default."""
    init = getattr(cls.__init__, "decorated_func", cls.__init__)
    given = list(inspect.signature(init).parameters.values())[1:]
    if any(p.default is p.empty for p in given):
        return []
    return [p.name for p in given if p.kind == p.POSITIONAL_OR_KEYWORD]


def answer(cls, argument):
    """A letter a value."""
    letters = ""
    for value in VALUES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                cls(**{argument: value})
            letters += "."
        except Exception as error:
            letters += {TypeError: "T", ValueError: "V"}.get(type(error), "?")
    return letters


def main():
    ops, operations = (importlib.import_module("mindspore." + place) for place in ("ops", "ops.operations"))
    rows = {f"{name}.{argument}": answer(cls, argument) for name, cls in classes(ops, operations).items() for argument in arguments(cls)}
    ANSWERS.write_text("{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in rows.items()) + "}\n", encoding="utf-8")
    print(len(rows), "arguments,", len(rows) * len(VALUES), "questions")


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Every sample of every operator as a MindIR file. ``python mindir_table.py FOLDER [DTYPE ...]`` writes them with their inputs and results
(of several dtypes all samples in float32, the first one in others); check_table.py runs them with MindSpore. Operators that are not written, and results that cannot be equal, are in different.txt."""
import importlib.util
import pathlib
import sys

import numpy as np

import spore as ms

HERE = pathlib.Path(__file__).resolve().parent
_spec = importlib.util.spec_from_file_location("onnx_table", HERE.parent / "oracle_onnx" / "export_table.py")
table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(table)
cases, compute = table.cases, table.compute


def reasons():
    """operator: why it is not written, or why its results are others"""
    lines = (HERE / "different.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def array(tensor):
    return (tensor.astype(ms.float32) if tensor.dtype == ms.bfloat16 else tensor).asnumpy()


def export(path, op, inputs, attrs):
    table.export(path, op, inputs, attrs, 0)


def main(folder, *dtypes):
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    written, operators, refused, known = 0, set(), set(), reasons()
    for name, op, inputs, attrs in cases(dtypes or ("float32",)):
        if ".float32." not in name and not name.endswith(".0") and len(dtypes) > 1:
            continue
        try:
            export(folder / f"{name}.mindir", op, inputs, attrs)
        except (NotImplementedError, ValueError) as error:
            refused.add(op["name"])
            if op["name"] not in known:
                print(f"{name}: {error}")
            continue
        written += 1
        operators.add(op["name"])
        given = [t for t in inputs if t is not None]
        arrays = {f"in{k}": array(t) for k, t in enumerate(given)}
        arrays["bfloat16"] = np.array([str(t.dtype) == "BFloat16" for t in given])
        arrays.update((f"out{k}", array(t)) for k, t in enumerate(compute(op, inputs, attrs)))
        np.savez(folder / f"{name}.npz", **arrays)
    print(f"{written} models of {len(operators - refused)} operators, {len(refused)} operators are not written")


if __name__ == "__main__":
    main(*sys.argv[1:])

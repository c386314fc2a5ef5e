# SPDX-License-Identifier: Apache-2.0
"""Every sample of every operator as an ONNX model. ``python export_table.py FOLDER OPSET [DTYPE ...]`` writes them with their inputs and
results; check_with_onnxruntime.py runs them. Operators that are not written, and results that cannot be equal, are in different.txt."""
import pathlib
import sys

import numpy as np

import spore as ms
from spore import _core

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "ops"))
import samples  # noqa: E402


def reasons():
    """operator: why it is not written, or why its results are others"""
    lines = (HERE / "different.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def _inputs(op, sample, dtype, number):
    rng = np.random.default_rng(number)
    values = [None if o is None else o.values(rng, dtype) for o in sample.operands]
    if op["name"] == "searchsorted":
        values[0] = np.sort(values[0], -1)
    return [None if v is None else ms.Tensor(v, ms.bfloat16) if dtype == "bfloat16" and o.follows_dtype else ms.Tensor(v)
            for v, o in zip(values, sample.operands)]


def _listed(results, op):
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    return results[:3] if op["name"] == "rnn_scan" else results    # the fourth is for gradients alone


def cases(dtypes):
    """(name, operator, inputs as Tensors or None, function to record, results)"""
    for op in _core.op_table():
        for dtype in dtypes:
            if dtype == "float32" and dtype not in op["dtypes"]:
                dtype = next((d for d in ("int32", "int64", "bool") if d in op["dtypes"]), op["dtypes"][0])
            if dtype not in op["dtypes"]:
                continue
            for number, sample in enumerate(samples.parse(op["samples"])):
                yield f"{op['name']}.{dtype}.{number}", op, _inputs(op, sample, dtype, number), sample.attrs


def export(path, op, inputs, attrs, opset):
    """Write one application; gives the number of its results."""
    graph = _core.graph_create()
    function, symbols = _core.function_begin(graph, op["name"], [(t.dtype, t.shape) for t in inputs if t is not None])
    given = iter(symbols)
    try:
        results = _listed(_core.apply(op["name"], [None if t is None else next(given) for t in inputs], attrs), op)
    except BaseException:
        _core.function_abandon(function)
        raise
    _core.function_end(function, results)
    _core.model_save(str(path), function, [f"x{k}" for k in range(len(symbols))], [], [], opset=opset)


def compute(op, inputs, attrs):
    """The results in eager mode."""
    return _listed(_core.apply(op["name"], [None if t is None else t.copy() for t in inputs], attrs), op)


def array(tensor):
    """As it is in a file: bfloat16 as float32, complex numbers as pairs."""
    values = (tensor.astype(ms.float32) if tensor.dtype == ms.bfloat16 else tensor).asnumpy()
    return np.stack([values.real, values.imag], -1) if values.dtype.kind == "c" else values


def main(folder, opset, *dtypes):
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    written, operators, refused, known = 0, set(), set(), reasons()
    for name, op, inputs, attrs in cases(dtypes or ("float32",)):
        try:
            export(folder / f"{name}.onnx", op, inputs, attrs, int(opset))
        except NotImplementedError as error:
            refused.add(op["name"])
            if op["name"] not in known:
                print(f"{name}: {error}")
            continue
        written += 1
        operators.add(op["name"])
        arrays = {f"in{k}": array(t) for k, t in enumerate(t for t in inputs if t is not None)}
        arrays.update((f"out{k}", array(t)) for k, t in enumerate(compute(op, inputs, attrs)))
        np.savez(folder / f"{name}.npz", **arrays)
    print(f"opset {opset}: {written} models of {len(operators - refused)} operators, {len(refused)} operators are not written")


if __name__ == "__main__":
    main(*sys.argv[1:])

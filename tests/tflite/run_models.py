#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run real TensorFlow Lite models in spore and in the interpreter and compare outputs.

    run_models.py FOLDER [--match TEXT] [--time] [--again]

Every .tflite file below FOLDER is run three times in a row on noise, so states are seen; the same numbers go to both. Floats must agree
within 1e-3 of their largest element, integers within one quantum. --time measures both, with as many threads as there are cores. --again
writes models of floats as ONNX, too, and compares what ONNX Runtime computes with that. Needs the packages spore and ai-edge-litert, for
--again onnxruntime. models.md tells where the models come from and what was found.
"""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from spore import Tensor, _core

# Sizes of free dimensions, for files whose path contains the text; 1 where none is given.
SIZES = {"melspectrogram": (1, 16000)}
RTOL, QUANTA, RUNS = 1e-3, 1, 3


def make_input(detail, sizes, random):
    free = iter(sizes)
    shape = [next(free, 1) if d < 0 else int(d) for d in detail["shape_signature"]]
    dtype = np.dtype(detail["dtype"])
    if dtype.kind in "iu" and dtype.itemsize <= 2:
        return random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
    if dtype.kind in "iu":
        return random.integers(0, 20, shape).astype(dtype)
    return random.random(shape).astype(dtype)


def seconds(call):
    """The best of several calls, for about a second."""
    call()
    best, end = float("inf"), time.perf_counter() + 1
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def difference(found, wanted):
    """(within the limit, how large: parts of the largest element, or quanta)"""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False, float("inf")
    if wanted.size == 0:
        return True, 0
    error = float(np.abs(found.astype("f8") - wanted.astype("f8")).max())
    if wanted.dtype.kind in "iub":
        return error <= QUANTA, error
    error /= max(float(np.abs(wanted).max()), 1e-2)
    return bool(error <= RTOL), error


def run_again(path, inputs, wanted):
    """The model as ONNX, in ONNX Runtime."""
    import onnxruntime
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "net.onnx"
        command = os.environ.get("SPORE", "spore")
        done = subprocess.run([command, "convert", path, out], capture_output=True, text=True)
        if done.returncode:
            return "not written: " + done.stderr.strip()[-160:]
        session = onnxruntime.InferenceSession(str(out), providers=["CPUExecutionProvider"])
        found = session.run(None, {f.name: x for f, x in zip(session.get_inputs(), inputs)})
    pairs = [difference(f, w) for f, w in zip(found, wanted, strict=True)]
    return f"ONNX {'equal' if all(p[0] for p in pairs) else 'differs'} {max(p[1] for p in pairs):.1e}"


def run_model(path, timed, again):
    """(outcome, largest difference, notes)"""
    sizes = next((v for k, v in SIZES.items() if k in path.as_posix()), ())
    interpreter = Interpreter(str(path), num_threads=os.cpu_count())
    random = np.random.default_rng(0)
    inputs = [[make_input(d, sizes, random) for d in interpreter.get_input_details()] for _ in range(RUNS)]
    for detail, x in zip(interpreter.get_input_details(), inputs[0]):
        if tuple(detail["shape"]) != x.shape:
            interpreter.resize_tensor_input(detail["index"], x.shape)
    interpreter.allocate_tensors()
    start = time.perf_counter()
    model = _core.model_load(str(path), "tflite")
    notes, worst, equal, kind, first = [f"load {(time.perf_counter() - start) * 1e3:.1f} ms"], 0.0, True, "float", None
    tensors = [[Tensor(x) for x in values] for values in inputs]
    for values, given in zip(inputs, tensors):
        for detail, x in zip(interpreter.get_input_details(), values):
            interpreter.set_tensor(detail["index"], x)
        interpreter.invoke()
        wanted = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
        first = first or wanted
        for f, w in zip(model.run(*given), wanted, strict=True):
            good, error = difference(f.asnumpy(), w)
            kind = "quanta" if w.dtype.kind in "iu" else "float"
            equal, worst = equal and good, max(worst, error)
    if timed:
        ours, theirs = seconds(lambda: model.run(*tensors[0])), seconds(interpreter.invoke)
        notes.append(f"spore {ours * 1e3:.2f} ms, interpreter {theirs * 1e3:.2f} ms, x{theirs / ours:.2f}")
    if again and kind == "float":
        notes.append(run_again(path, inputs[0], first))
    return ("equal" if equal else "differs"), f"{worst:.0f} quanta" if kind == "quanta" else f"{worst:.1e}", notes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--match", default="", help="only files whose path contains this")
    parser.add_argument("--time", action="store_true", help="measure both")
    parser.add_argument("--again", action="store_true", help="write as ONNX and compare that")
    arguments = parser.parse_args()
    seen, bad, count = set(), 0, 0
    for path in sorted(arguments.folder.rglob("*.tflite")):
        digest = hashlib.sha256(path.read_bytes()).digest()
        if arguments.match not in path.as_posix() or digest in seen:
            continue
        seen.add(digest)
        count += 1
        try:
            outcome, worst, notes = run_model(path, arguments.time, arguments.again)
        except Exception as e:  # every failure is a result of this program
            outcome, worst, notes = f"{type(e).__name__}: {e}".splitlines()[0][:300], "", []
        bad += outcome != "equal"
        print(f"{outcome:8} {worst:9} {path.relative_to(arguments.folder)}  {'; '.join(notes)}", flush=True)
    print(f"{count - bad} of {count} give the interpreter's outputs")
    return 0 if bad == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

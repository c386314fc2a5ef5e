#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run real ONNX models in spore and in ONNX Runtime and compare outputs; with --time, both speeds.

    run_models.py FOLDER [--match TEXT] [--time] [--mindir FOLDER]

Every .onnx file below FOLDER is run. Outputs must agree within
1e-3 of their largest element (1e-2 where weights are float16), or 1e-5. Inputs are random numbers, small images or noise, with free dimensions set by the table
SIZES of sizes_of_models.py; the same go to both. Needs the packages spore and onnxruntime. models.md tells where the models come from and what
was found. --mindir writes every model as MindIR too, with inputs and ONNX Runtime's outputs beside it, and runs what it wrote; these files are
for `tests/oracle_mindir/real_nets.py read`, which runs them with MindSpore.
"""
import argparse
import hashlib
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime

import spore
from spore import Tensor

sys.path.insert(0, str(Path(__file__).parent))
from sizes_of_models import NUMPY, SIZES, VALUES  # noqa: E402

RTOL, RTOL_HALF, ATOL = 1e-3, 1e-2, 1e-5


def sizes_of(path):
    """The entry of SIZES whose text is the longest that the path contains."""
    found = [k for k in SIZES if k in path.as_posix()]
    return SIZES[max(found, key=len)] if found else {}


def make_input(face, sizes, random):
    free = iter(sizes.get(face.name, ()))
    shape = [d if isinstance(d, int) else next(free, 1) for d in face.shape]
    dtype = NUMPY[face.type[len("tensor("):-1]]
    value = VALUES.get(face.name)
    if isinstance(value, tuple):
        return random.integers(*value, shape).astype(dtype)
    if value is not None:
        return np.resize(np.array(value, dtype), shape)
    if np.issubdtype(dtype, np.integer):
        return random.integers(0, 20, shape).astype(dtype)
    noise = random.standard_normal(shape).astype(np.float32)
    return (noise * (0.1 if len(shape) <= 2 else 1)).astype(dtype)


def seconds(call):
    """The best of several calls, for about a second."""
    call()
    best, end = float("inf"), time.perf_counter() + 1
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def session_of(path, optimised):
    """ONNX Runtime, with its graph optimisations or without: they change what quantised models compute."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def close(found, wanted, rtol):
    """(are they equal, largest difference)"""
    error = float(np.abs(found.astype(np.float64) - wanted.astype(np.float64)).max()) if wanted.size else 0.0
    return error <= max(ATOL, rtol * float(np.abs(wanted.astype(np.float64)).max(initial=0))), error


def by_mindir(net, name, tensors, wanted, rtol, folder):
    """What the model is as MindIR: "MindIR equal", or why not. The file is kept with inputs and wanted outputs."""
    path = folder / f"{name}.mindir"
    try:
        spore.export(net, *tensors, file_name=str(path), file_format="MINDIR")
        found = spore.nn.GraphCell(spore.load(str(path)))(*tensors)
    except Exception as e:  # every failure is a result of this program
        return f"MindIR {type(e).__name__}: {' '.join(str(e).split())[:200]}"
    np.savez(path.with_suffix(".npz"), **{f"in{k}": t.asnumpy() for k, t in enumerate(tensors)}, **{f"out{k}": w for k, w in enumerate(wanted)})
    found = [one.asnumpy() for one in (found if isinstance(found, tuple) else (found,))]
    if [f.shape for f in found] != [w.shape for w in wanted]:
        return "MindIR shapes differ"
    return "MindIR equal" if all(close(f, w, rtol)[0] for f, w in zip(found, wanted)) else "MindIR differs"


def run_model(path, timed, mindir=None):
    """(outcome, largest difference, figures)."""
    plain = session_of(path, False)
    random = np.random.default_rng(0)
    inputs = {f.name: make_input(f, sizes_of(path), random) for f in plain.get_inputs()}
    wanted = plain.run(None, inputs)
    start = time.perf_counter()
    net = spore.onnx.load(str(path))
    figures = {"load": time.perf_counter() - start}
    tensors = [Tensor(inputs[name]) for name in net.input_names]
    worst, equal = 0.0, True
    rtol = RTOL_HALF if any(p.dtype == spore.float16 for p in net.get_parameters()) else RTOL
    for turn in range(2):
        start = time.perf_counter()
        found = net(*tensors)
        figures["first" if turn == 0 else "second"] = time.perf_counter() - start
        found = found if isinstance(found, tuple) else (found,)
        for f, w in zip(found, wanted, strict=True):
            f = f.asnumpy()
            if f.shape != w.shape or f.dtype != w.dtype:
                return f"{f.dtype} {f.shape}, wanted {w.dtype} {w.shape}", 0, figures
            if w.size:
                error = float(np.abs(f.astype(np.float64) - w.astype(np.float64)).max())
                worst = max(worst, error if np.isfinite(error) else np.inf)
                equal = equal and error <= max(ATOL, rtol * float(np.abs(w.astype(np.float64)).max()))
    if timed:
        session = session_of(path, True)
        figures["spore"] = seconds(lambda: net(*tensors))
        figures["runtime"] = seconds(lambda: session.run(None, inputs))
    outcome = "equal" if equal else "differs"
    if mindir is not None:
        name = "".join(c if c.isalnum() or c in "_-." else "_" for c in f"{path.parent.name}_{path.stem}")
        outcome += ", " + by_mindir(net, name, tensors, wanted, rtol, mindir)
    return outcome, worst, figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--match", default="", help="only files whose path contains this")
    parser.add_argument("--time", action="store_true", help="measure both")
    parser.add_argument("--mindir", type=Path, help="write and run the models as MindIR, into this folder")
    arguments = parser.parse_args()
    seen, bad, count = set(), 0, 0
    for path in sorted(arguments.folder.rglob("*.onnx")):
        if arguments.match not in path.as_posix():
            continue
        digest = hashlib.sha256(path.read_bytes()).digest()
        if digest in seen:
            continue
        seen.add(digest)
        count += 1
        try:
            outcome, worst, figures = run_model(path, arguments.time, arguments.mindir)
        except Exception as e:  # every failure is a result of this program
            outcome, worst, figures = f"{type(e).__name__}: {e}".splitlines()[0][:300], 0, {}
        bad += not outcome.startswith("equal") or "MindIR " in outcome and not outcome.endswith("MindIR equal")
        times = "  ".join(f"{k} {v * 1e3:.2f} ms" for k, v in figures.items())
        ratio = f"  x{figures['runtime'] / figures['spore']:.2f}" if "spore" in figures else ""
        print(f"{outcome:8} {worst:.1e}  {path.relative_to(arguments.folder)}  {times}{ratio}", flush=True)
    print(f"{count - bad} of {count} give ONNX Runtime's outputs")
    return 0 if bad == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

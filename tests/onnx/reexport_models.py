#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write real ONNX models anew, and compare what ONNX Runtime and spore compute with the new files with the original's outputs.

    reexport_models.py FOLDER [--match TEXT] [--part K/N] [--log FILE]

Every .onnx file below FOLDER (see models.md, run_models.py) is loaded as a Cell and written three times: by `spore.export` and by
`spore convert --shape` for the shapes of the inputs it is tried with, and by `spore convert` with the free dimensions that the file
has. Each file must pass onnx.checker with shape inference and give the original's outputs in ONNX Runtime and in spore, within the bounds of run_models.py.
Needs the packages spore, onnx and onnxruntime, and the command spore.
"""
import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from run_models import ATOL, RTOL, RTOL_HALF, make_input, session_of, sizes_of

import spore
from spore import Tensor

SPORE = Path(os.environ.get("SPORE_BUILD", "build")) / "spore"


def short(text):
    """A message in one line, without names of folders."""
    return re.sub(r"/[\w/.-]*/", "", " ".join(text.split()))[:300]


def compare(found, wanted, rtol):
    """"equal", or what is not."""
    worst = 0.0
    for f, w in zip(found, wanted, strict=True):
        if f.shape != w.shape or f.dtype != w.dtype:
            return f"{f.dtype} {f.shape}, wanted {w.dtype} {w.shape}"
        if w.size == 0:
            continue
        scale = max(ATOL, rtol * float(np.abs(w.astype(np.float64)).max()))
        error = float(np.abs(f.astype(np.float64) - w.astype(np.float64)).max()) / scale
        worst = max(worst, error if np.isfinite(error) else np.inf)
    return "equal" if worst <= 1 else f"differs by {worst:.1f} times the bound"


def run_spore(path, inputs):
    net = spore.onnx.load(str(path))
    found = net(*[Tensor(inputs[name]) for name in net.input_names])
    return [f.asnumpy() for f in (found if isinstance(found, tuple) else (found,))]


def check(path, inputs, wanted, rtol):
    """A file that was written: {what is asked: "equal" or what is found}."""
    found = {}
    try:
        onnx.checker.check_model(str(path), full_check=True)
        found["checker"] = "equal"
    except Exception as e:
        found["checker"] = f"{type(e).__name__}: {e}"
    for name, run in (("runtime", lambda: session_of(path, False).run(None, inputs)), ("spore", lambda: run_spore(path, inputs))):
        try:
            found[name] = compare(run(), wanted, rtol)
        except Exception as e:
            found[name] = f"{type(e).__name__}: {e}"
    return found


def by_export(path, target, inputs):
    net = spore.onnx.load(str(path))
    spore.export(net, *[Tensor(inputs[name]) for name in net.input_names], file_name=str(target), file_format="ONNX",
                 input_names=net.input_names, output_names=net.output_names)


def by_convert(path, target, inputs, fixed=True):
    shapes = [word for name, x in inputs.items() for word in ("--shape", f"{name}={','.join(map(str, x.shape))}")]
    done = subprocess.run([SPORE, "convert", path, target, *(shapes if fixed else [])], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())


def by_free(path, target, inputs):
    by_convert(path, target, inputs, False)


def reexport(path, folder):
    """{way: {question: answer}} of one model."""
    plain = session_of(path, False)
    random = np.random.default_rng(0)
    inputs = {f.name: make_input(f, sizes_of(path), random) for f in plain.get_inputs()}
    wanted = plain.run(None, inputs)
    half = any(p.dtype == spore.float16 for p in spore.onnx.load(str(path)).get_parameters())
    rtol = RTOL_HALF if half else RTOL
    outcome = {}
    for name, way in (("export", by_export), ("convert", by_convert), ("free", by_free)):
        target = Path(folder) / f"{name}.onnx"
        try:
            way(path, target, inputs)
            outcome[name] = check(target, inputs, wanted, rtol)
        except Exception as e:
            outcome[name] = {"written": f"{type(e).__name__}: {e}"}
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--match", default="", help="only files whose path contains this")
    parser.add_argument("--log", type=Path, help="write the outcome here, too")
    parser.add_argument("--part", default="1/1", help="only every Nth file, from the Kth on")
    arguments = parser.parse_args()
    part, parts = map(int, arguments.part.split("/"))
    seen, count, lines, good = set(), 0, [], {"export": 0, "convert": 0, "free": 0}
    for path in sorted(arguments.folder.rglob("*.onnx")):
        if arguments.match not in path.as_posix():
            continue
        digest = hashlib.sha256(path.read_bytes()).digest()
        if digest in seen:
            continue
        seen.add(digest)
        if (len(seen) - part) % parts:
            continue
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcome = reexport(path, folder)
            except Exception as e:
                outcome = {way: {"original": f"{type(e).__name__}: {e}"} for way in good}
        for way, answers in outcome.items():
            bad = {q: a for q, a in answers.items() if a != "equal"}
            good[way] += not bad
            said = "; ".join(f"{q}: {short(a)}" for q, a in bad.items()) or "equal"
            lines.append(f"{path.relative_to(arguments.folder)} {way}: {said}")
            print(lines[-1], flush=True)
    counts = ", ".join(f"{n} by {way}" for way, n in good.items())
    lines.append(f"onnx {onnx.__version__}, ONNX Runtime {onnxruntime.__version__}: of {count} files {counts} pass onnx.checker and give "
                 "the original's outputs in ONNX Runtime and in spore")
    print(lines[-1])
    if arguments.log:
        with open(arguments.log, "a") as log:
            log.write("\n".join(lines) + "\n")
    return 0 if good["export"] == count else 1


if __name__ == "__main__":
    sys.exit(main())

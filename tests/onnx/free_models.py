# SPDX-License-Identifier: Apache-2.0
"""Real models converted with the sizes left open that their files leave open: `python free_models.py FOLDER SPORE [--log FILE]`, with an interpreter that has ONNX
Runtime. FOLDER holds the .onnx files of models.md, SPORE is the command.

`spore convert MODEL TARGET` either writes a file or refuses. A file that it writes must give what the model gives in ONNX Runtime, at the sizes that models.md tries
and at others: every open dimension larger, and each of them by itself. Sizes that the model itself does not take are not asked.

What differs by more than the tolerance is compared with what the model itself makes of inputs that differ by a hundredth of the tolerance: where a model rounds to integers
while it runs, or takes the logarithm of what is nearly 0, that is as much. The number of such elements and how much they differ must be at most three times that."""
import argparse
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

sys.path.insert(0, str(Path(__file__).parent))
from sizes_of_models import NUMPY, SIZES, VALUES  # noqa: E402

RTOL, RTOL_HALF, ATOL = 1e-3, 1e-2, 1e-5
SECONDS = 300


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def sizes_of(path):
    """The entry of SIZES whose text is the longest that the path contains."""
    found = [k for k in SIZES if k in path.as_posix()]
    return SIZES[max(found, key=len)] if found else {}


def make(face, sizes, random):
    """An input: noise, or numbers in the range that the model expects."""
    free = iter(sizes)
    shape = [d if isinstance(d, int) else next(free) for d in face.shape]
    dtype, value = NUMPY[face.type[len("tensor("):-1]], VALUES.get(face.name)
    if isinstance(value, tuple):
        return random.integers(*value, shape).astype(dtype)
    if value is not None:
        return np.resize(np.array(value, dtype), shape)
    if np.issubdtype(dtype, np.integer):
        return random.integers(0, 20, shape).astype(dtype)
    noise = random.standard_normal(shape).astype(np.float32)
    return (noise * (0.1 if len(shape) <= 2 else 1)).astype(dtype)


def trials(faces, given):
    """Sizes of the open dimensions, by input: those that are given, all of them changed, each by itself."""
    names = [(f.name, k) for f in faces for k, d in enumerate(d for d in f.shape if not isinstance(d, int))]
    labels = {(f.name, k): d or f"{f.name}.{k}" for f in faces for k, d in enumerate(d for d in f.shape if not isinstance(d, int))}
    base = {(n, k): (list(given.get(n, ())) + [1] * 8)[k] for n, k in names}
    yield base
    for change in (lambda s: 2 * s, lambda s: s + 1, lambda s: s + 32, lambda s: 3 * s):
        yield {key: change(size) for key, size in base.items()}
        for label in sorted(set(map(str, labels.values()))):
            yield {key: change(size) if str(labels[key]) == label else size for key, size in base.items()}


def same(found, wanted, rtol):
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if found.dtype.kind not in "fc":
        return np.array_equal(found, wanted)
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=0)
    return np.allclose(found, wanted, rtol=0, atol=max(ATOL, rtol * largest), equal_nan=True)


def odd(found, wanted, rtol):
    """How many elements differ by more than the tolerance, and by how much at most."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype or not np.array_equal(np.isfinite(found), np.isfinite(wanted)):
        return np.inf, np.inf
    there = np.isfinite(wanted)
    found, wanted = found[there].astype(np.float64), wanted[there].astype(np.float64)
    difference = np.abs(found - wanted)
    return int((difference > max(ATOL, rtol * np.abs(wanted).max(initial=0))).sum()), float(difference.max(initial=0))


def as_close_as_rounding(model, inputs, found, wanted, rtol):
    """Do the answers differ as those of the model do when its inputs change a little?"""
    random, most = np.random.default_rng(1), [(0, 0.0)] * len(wanted)
    for _ in range(8):
        near = {k: (v * (1 + rtol / 100 * random.standard_normal(v.shape))).astype(v.dtype) if v.dtype.kind == "f" else v for k, v in inputs.items()}
        most = [tuple(map(max, m, odd(np.asarray(n), np.asarray(w), rtol))) for m, n, w in zip(most, model.run(None, near), wanted)]
    pairs = [(odd(np.asarray(f), np.asarray(w), rtol), m) for f, w, m in zip(found, wanted, most)]
    return all(n == 0 or (n <= 3 * max(at_most, 1) and by <= 3 * far) for (n, by), (at_most, far) in pairs)


def ask(path, spore, folder):
    """What became of one model: "verified at N sizes", "refused: ...", "WRONG: ..."."""
    model, target = session(path), Path(folder) / "free.onnx"
    try:
        done = subprocess.run([spore, "convert", path, target], capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"refused: no answer in {SECONDS} s"
    if done.returncode != 0:
        return "refused: " + " ".join(done.stderr.split())[-160:]
    written, rtol = session(target), RTOL_HALF if "half" in path.name or "medium" in path.name else RTOL
    verified, rounded, faces = 0, 0, model.get_inputs()
    for sizes in trials(faces, sizes_of(path)):
        random = np.random.default_rng(0)
        inputs = {f.name: make(f, [size for (name, _), size in sizes.items() if name == f.name], random) for f in faces}
        try:
            wanted = model.run(None, inputs)
        except Exception:                # sizes that the model itself does not take
            continue
        shapes = " ".join(f"{n}{tuple(x.shape)}" for n, x in inputs.items())
        try:
            found = written.run(None, {k: v for k, v in inputs.items() if k in {i.name for i in written.get_inputs()}})
        except Exception as error:
            return f"WRONG: fails for {shapes}: {' '.join(str(error).split())[:160]}"
        if not all(same(np.asarray(f), np.asarray(w), rtol) for f, w in zip(found, wanted)):
            if not as_close_as_rounding(model, inputs, found, wanted, rtol):
                return f"WRONG: other numbers for {shapes}"
            rounded += 1
        verified += 1
    return f"verified at {verified} sizes" + (f", {rounded} of them as closely as the model follows its inputs" if rounded else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("spore")
    parser.add_argument("--match", default="", help="only files whose path contains this")
    parser.add_argument("--log", type=Path, help="write the outcome here, too")
    arguments = parser.parse_args()
    seen, count = set(), {"verified": 0, "refused": 0, "WRONG": 0, "fixed": 0, "unread": 0}
    lines = []
    for path in sorted(arguments.folder.rglob("*.onnx")):
        digest = hashlib.sha256(path.read_bytes()).digest()
        if arguments.match not in path.as_posix() or digest in seen:
            continue
        seen.add(digest)
        with tempfile.TemporaryDirectory() as folder:
            try:
                free = any(not isinstance(d, int) for f in session(path).get_inputs() for d in f.shape)
                said = ask(path, arguments.spore, folder) if free else "fixed: no size is open"
            except Exception as error:
                said = f"unread: {type(error).__name__}: {' '.join(str(error).split())[:120]}"
        count[said.split(":")[0].split()[0]] += 1
        lines.append(f"{path.relative_to(arguments.folder).as_posix()}: {said}")
        print(lines[-1], flush=True)
    lines.append(", ".join(f"{n} {what}" for what, n in count.items()))
    print(lines[-1])
    if arguments.log:
        arguments.log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return count["WRONG"] > 0


if __name__ == "__main__":
    sys.exit(main())

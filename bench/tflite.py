# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite models in spore and in LiteRT (its default delegate, XNNPACK), in turns, in one process.

    PYTHONPATH=build/py PEER/python bench/tflite.py FILE.tflite ...     an interpreter with ai-edge-litert, which can import spore
    SPORE_BENCH_THREADS=2 SPORE_BENCH_SECONDS=1                         threads of both sides; seconds a model

With one thread (the default) its processor time counts, which hardly depends on what else the machine does. Prints a line for each model: both times and their ratio, the worst at the end,
and ends with 1 if one is above 1.03. SPORE_BENCH_KEEP="conditions" appends the rows to bench/results/tflite.csv.
"""
import csv
import datetime
import os
import subprocess
import sys
import time

import numpy as np

THREADS, SECONDS = int(os.environ.get("SPORE_BENCH_THREADS", "1")), float(os.environ.get("SPORE_BENCH_SECONDS", "1"))
os.environ["OMP_NUM_THREADS"] = os.environ["SPORE_NUM_THREADS"] = str(THREADS)
from ai_edge_litert.interpreter import Interpreter

import spore

NOISE = 1.03
clock = time.thread_time if THREADS == 1 else time.perf_counter


def least(calls, seconds):
    """The least time of each of the calls, which take turns of some milliseconds."""
    best = [float("inf")] * len(calls)
    for call in calls:
        call()
        call()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, call in enumerate(calls):
            turn = time.perf_counter() + 0.01
            while time.perf_counter() < turn:
                start = clock()
                call()
                best[i] = min(best[i], clock() - start)
    return best


def both(path):
    """A call of spore, and one of LiteRT, on the same numbers."""
    peer, rng = Interpreter(path, num_threads=THREADS), np.random.default_rng(0)
    details, inputs = peer.get_input_details(), []
    for d in details:
        shape = [1 if n < 0 else int(n) for n in d["shape_signature"]]
        if tuple(shape) != tuple(d["shape"]):
            peer.resize_tensor_input(d["index"], shape)
        kind = np.dtype(d["dtype"])
        inputs.append(rng.random(shape).astype(kind) if kind.kind == "f" else rng.integers(0, 20, shape).astype(kind))
    peer.allocate_tensors()
    for d, x in zip(details, inputs, strict=True):
        peer.set_tensor(d["index"], x)
    net, args = spore.tflite.load(path), [spore.Tensor(x) for x in inputs]
    return lambda: net(*args), peer.invoke


def keep(rows, conditions):
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(here, "results", "tflite.csv")
    commit = subprocess.run(["git", "-C", here, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        machine = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "unknown")
    new = not os.path.exists(path)
    with open(path, "a", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        if new:
            out.writerow(["date", "machine", "isa", "threads", "commit", "model", "spore ms", "LiteRT ms", "conditions"])
        for _, name, ours, theirs in rows:
            out.writerow([datetime.date.today().isoformat(), machine, os.environ.get("SPORE_ISA", "all"), THREADS, commit, name, f"{ours * 1e3:.4g}",
                          f"{theirs * 1e3:.4g}", conditions])


def main(paths):
    if not paths:
        raise SystemExit("tflite.py: TensorFlow Lite files are wanted, found none")
    rows = []
    for path in paths:
        try:
            ours, theirs = least(both(path), SECONDS)
        except (RuntimeError, ValueError) as problem:
            print(f"{os.path.basename(path)}: not measured, {str(problem).splitlines()[0][:120]}", flush=True)
            continue
        rows.append((ours / theirs, os.path.basename(path), ours, theirs))
    for ratio, name, ours, theirs in sorted(rows):
        print(f"{name:48} spore {ours * 1e3:9.3f} ms  LiteRT {theirs * 1e3:9.3f} ms  {ratio:5.2f}{'  slower' if ratio > NOISE else ''}")
    if os.environ.get("SPORE_BENCH_KEEP"):
        keep(sorted(rows), os.environ["SPORE_BENCH_KEEP"])
    return 1 if any(row[0] > NOISE for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
"""Eager against compiled, in turns, in one process: a compiled model must not be slower.

    python bench/modes.py                      training steps and networks of bench/
    python bench/modes.py train.gpt infer.ocr  some of them
    SPORE_BENCH_THREADS=2 SPORE_BENCH_SECONDS=3

With one thread (the default) its processor time counts, which hardly depends on what else the machine does. Prints a line for each model: both times, their ratio, and whether it is above
1.03. Ends with 1 if any is.
"""
import os
import sys
import time

THREADS, SECONDS = os.environ.get("SPORE_BENCH_THREADS", "1"), float(os.environ.get("SPORE_BENCH_SECONDS", "3"))
os.environ["OMP_NUM_THREADS"] = os.environ["SPORE_NUM_THREADS"] = THREADS
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import spore

spore.as_mindspore()
import inference
import models

clock = time.process_time if THREADS == "1" else time.perf_counter
NOISE = 1.03


def least(calls, seconds):
    """The least time of each of the calls, which take turns; a turn of a short one is several calls."""
    runs, best = [], [float("inf")] * len(calls)
    for call in calls:
        call()
        start = clock()
        call()
        runs.append(max(1, int(2e-3 / max(clock() - start, 1e-9))))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or best[-1] == float("inf"):
        for i, call in enumerate(calls):
            start = clock()
            for _ in range(runs[i]):
                call()
            best[i] = min(best[i], (clock() - start) / runs[i])
    return best


def training(name):
    calls = []
    for graph in (False, True):
        spore.set_seed(1)
        step, data, _ = models.make_step(name, graph)
        calls.append(lambda step=step, data=data: step(*data).asnumpy())
    return calls


def network(name):
    (net, x), (other, _) = inference.make(name, 1), inference.make(name, 1)
    compiled = spore.jit(other)  # makes the Cell itself a compiled one
    return [lambda: net(x).asnumpy(), lambda: compiled(x).asnumpy()]


ROWS = {f"train.{name}": (training, name) for name in models.MODELS} | {f"infer.{name}": (network, name) for name in inference.NETS}


def main(wanted):
    slower = 0
    for name in wanted or ROWS:
        if name not in ROWS:
            raise SystemExit(f"modes.py: {name} is none of the models; these are known: {' '.join(ROWS)}")
        make, argument = ROWS[name]
        eager, compiled = least(make(argument), SECONDS)
        lost = compiled > NOISE * eager
        slower += lost
        print(f"{name:20} eager {eager * 1e3:9.3f} ms  compiled {compiled * 1e3:9.3f} ms  {compiled / eager:5.2f}{'  slower' if lost else ''}", flush=True)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

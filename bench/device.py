# SPDX-License-Identifier: Apache-2.0
"""What devices make of time: copies of batches beside kernels, and the launch of a small operator.

    python bench/device.py                  on `far`, the device for tests: a copy takes 10 ms, a kernel 10 ms, and a step of both less than their sum
    python bench/device.py opencl           on OpenCL too: launches of operators, eager and compiled

One line a case; the last column is what it is compared with. Needs a build with tests (build/tests/far.so)."""
import os
import sys
import time
from pathlib import Path

MS = 10
os.environ.setdefault("SPORE_FAR_DELAY_US", "0")
os.environ.setdefault("SPORE_FAR_COPY_US", str(MS * 1000))
os.environ.setdefault("SPORE_FAR_KERNEL_US", str(MS * 1000))
BUILD = Path(os.environ.get("SPORE_BUILD", Path(__file__).resolve().parent.parent / "build")).resolve()

import numpy as np  # noqa: E402

import spore as ms  # noqa: E402
from spore import _core, ops  # noqa: E402
from spore import dataset as ds  # noqa: E402


def say(case, value, unit, beside):
    print(f"{case:<52}{value:>10.3f} {unit:<8} {beside}", flush=True)


def steps(n, compiled):
    """Milliseconds a step of a pipeline whose batches are one copy each and whose step is one kernel."""
    rows = np.random.default_rng(0).standard_normal((n + 8, 4, 16)).astype(np.float32)
    weight = ms.Tensor(rows[0])
    step = ms.jit(lambda x, w: ops.mul(x, w)) if compiled else ops.mul
    iterator = ds.NumpySlicesDataset(rows, shuffle=False).create_tuple_iterator(num_epochs=1)
    for _ in range(4):
        step(next(iterator)[0], weight)
    ms.runtime.synchronize()
    start = time.perf_counter()
    for _ in range(n):
        result = step(next(iterator)[0], weight)
    ms.runtime.synchronize()
    assert result.device == "far"
    return (time.perf_counter() - start) / n * 1e3


def overlap(n=40):
    _core.device_load(str(BUILD / "tests" / "far.so"))
    ms.set_device("far")
    for compiled in (False, True):
        say(f"far: {MS} ms copy, {MS} ms kernel, {'compiled' if compiled else 'eager'}", steps(n, compiled), "ms/step", f"{2 * MS} ms one after the other")
    ms.set_device("CPU")


def launches(n=300):
    """A small operator until its result is there, and many of them until the last one is."""
    ms.set_device("opencl")
    x = ms.Tensor(np.ones(16, np.float32))
    chain = ms.jit(lambda t: ops.tanh(ops.exp(ops.neg(ops.abs(ops.sqrt(ops.square(ops.sin(t * 2))))))))
    for f, calls, name in ((lambda: x + x, 1, "eager add"), (lambda: chain(x), 8, "compiled chain of 8")):
        f().asnumpy()
        best = 1e9
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(n):
                f()
            ms.runtime.synchronize()
            best = min(best, time.perf_counter() - start)
        say(f"opencl: {name}", best / n / calls * 1e6, "us", "a call")
    ms.set_device("CPU")


if __name__ == "__main__":
    overlap()
    if "opencl" in sys.argv[1:]:
        launches()

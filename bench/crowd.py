# SPDX-License-Identifier: Apache-2.0
"""Several processes at once on the same processors: how much of one process's throughput is lost in total.

    make bench BENCH=crowd          one process with all threads, then four at once, in turns

Every process works in a loop: products, a convolution and small operators, some of which wake the pool and some of which do not. The figure is
1 - (steps a second of all four together) / (steps a second of one alone); the aim is at most 0.10."""
import os
import subprocess
import sys
import time

PROCESSES = 4
ROUNDS = 3


def work(seconds):
    import numpy as np
    import spore as ms
    from spore import ops
    rng = np.random.RandomState(0)
    a = ms.Tensor(rng.rand(256, 256).astype(np.float32))
    x, w = ms.Tensor(rng.rand(4, 64, 28, 28).astype(np.float32)), ms.Tensor(rng.rand(64, 64, 3, 3).astype(np.float32))
    v = ms.Tensor(rng.rand(1 << 18).astype(np.float32))

    def step():
        b = ops.matmul(a, a)
        for _ in range(4):
            b = ops.tanh(b)
        ops.conv2d(x, w, pad_mode="pad", padding=1)
        return ops.exp(v * 0.5) + v
    step()
    print("ready", flush=True)
    sys.stdin.readline()
    steps, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        step()
        steps += 1
    print(steps / seconds, flush=True)


def rate(count, seconds):
    sides = [subprocess.Popen([sys.executable, os.path.abspath(__file__), "work", str(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) for _ in range(count)]
    for side in sides:
        side.stdout.readline()
    for side in sides:
        side.stdin.write("go\n")
        side.stdin.flush()
    rates = [float(side.stdout.readline()) for side in sides]
    for side in sides:
        side.stdin.close()
        side.wait()
    return sum(rates)


def main():
    alone, crowd = 0.0, 0.0
    for _ in range(ROUNDS):
        alone = max(alone, rate(1, 3))
        crowd = max(crowd, rate(PROCESSES, 3))
    print(f"one process {alone:.0f} steps/s, {PROCESSES} at once {crowd:.0f} steps/s together: {1 - crowd / alone:.1%} lost (aim 10 %)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(float(sys.argv[2]))
    else:
        main()

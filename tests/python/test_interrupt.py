# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a long operator soon and leaves a usable process; threads compute at once and right."""
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops

PROGRAM = """
import sys, time
import numpy as np
import spore as ms
from spore import Tensor, ops
{setup}
print('ready', flush=True)
started = time.monotonic()
try:
    while time.monotonic() - started < 30:
        {work}
    print('never interrupted')
except KeyboardInterrupt:
    print('interrupted', flush=True)
    assert float((Tensor(np.ones(100000, np.float32)) * 2).sum()) == 200000
    assert float(ms.grad(lambda x: x * x)(Tensor(3.0))) == 6
    m = np.arange(10000, dtype=np.float32).reshape(100, 100) / 10000
    assert np.allclose(ops.matmul(Tensor(m), Tensor(m)).asnumpy(), m @ m, rtol=1e-4)
    print('usable', flush=True)
"""

LONG = {
    "matmul": ("x = Tensor(np.ones((6000, 6000), np.float32))", "ops.matmul(x, x)"),
    "exp": ("x = Tensor(np.zeros(200_000_000, np.float16))", "ops.exp(x)"),
    "chain": ("x = Tensor(np.zeros(10, np.float32))", "x = x + 1"),
    "gradient": ("x = Tensor(np.ones((1500, 1500), np.float32))", "ms.grad(lambda x: ops.matmul(ops.matmul(x, x), x))(x)"),
    "conv": ("x = Tensor(np.ones((16, 64, 112, 112), np.float32)); w = Tensor(np.ones((64, 64, 3, 3), np.float32))", "ops.conv2d(x, w)"),
    "sum": ("x = Tensor(np.ones((40_000_000,), np.float32))", "x.sum()"),
    "sort": ("x = Tensor(np.random.RandomState(0).rand(20_000_000))", "ops.sort(x)"),
    "topk": ("x = Tensor(np.random.RandomState(0).rand(20_000_000))", "ops.topk(x, 5_000_000)"),
    "unique": ("x = Tensor(np.random.RandomState(0).randint(0, 10 ** 9, 20_000_000))", "ops.unique(x)"),
}


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c(name):
    setup, work = LONG[name]
    process = subprocess.Popen([sys.executable, "-c", PROGRAM.format(setup=setup, work=work)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.4)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - started < 2
        output, errors = process.stdout.read(), process.stderr.read()  # communicate() would miss what readline has buffered
        process.wait(timeout=60)
    finally:
        process.kill()
    assert output == "usable\n" and process.returncode == 0, errors


def in_threads(work, n=2):
    failures = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures, failures
    assert not any(thread.is_alive() for thread in threads)


def test_threads_compute_at_once():
    def work(number):
        rng = np.random.RandomState(number)
        for _ in range(10):
            a, b = (rng.rand(120, 130).astype(np.float32) for _ in range(2))
            np.testing.assert_allclose(ops.matmul(Tensor(a), Tensor(b.T)).asnumpy(), a @ b.T, rtol=1e-4)
            np.testing.assert_allclose(Tensor(a).sum(0).asnumpy(), a.sum(0), rtol=1e-4)
            big = rng.rand(300000).astype(np.float32)
            np.testing.assert_allclose(ops.exp(Tensor(big)).asnumpy(), np.exp(big), rtol=1e-5)
    in_threads(work, 3)


def test_threads_differentiate_at_once():
    def work(number):
        net = nn.SequentialCell(nn.Dense(8, 16, weight_init="ones"), nn.Tanh(), nn.Dense(16, 1, weight_init="ones"))
        for _ in range(50):
            x = np.full((4, 8), number + 1, np.float32)
            g = ms.grad(lambda v: (v * v * v).sum())(Tensor(x))
            np.testing.assert_allclose(g.asnumpy(), 3 * x * x, rtol=1e-5)
            _, grads = ms.value_and_grad(lambda v: net(v).sum(), None, net.trainable_params())(Tensor(x))
            assert grads[-1].asnumpy().tolist() == [4.0]
    in_threads(work, 3)


def test_recording_in_one_thread_does_not_reach_another():
    inside, done = threading.Event(), threading.Event()

    def recording():
        def f(x):
            inside.set()
            assert done.wait(60)
            return x * x
        assert float(ms.grad(f)(Tensor(3.0))) == 6

    def other():
        assert inside.wait(60)
        try:
            assert not (Tensor(1.0) * 2)._tracked
            assert float(ms.grad(lambda x: x * x * x)(Tensor(2.0))) == 12
        finally:
            done.set()
    in_threads(lambda number: (recording, other)[number]())


def test_one_network_in_two_threads():
    net = nn.Dense(4, 4, weight_init="ones", bias_init="zeros")

    def work(number):
        for _ in range(200):
            x = Tensor(np.full((2, 4), number, np.float32))
            assert (net(x).asnumpy() == 4 * number).all()
            gw, _ = ms.grad(lambda v: net(v), None, net.trainable_params())(x)
            assert (gw.asnumpy() == 2 * number).all()
    in_threads(work)

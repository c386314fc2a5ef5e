# SPDX-License-Identifier: Apache-2.0
"""spore inside other ways to run Python: forked and spawned children, pdb, pytest, `spore run -m`."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(os.environ["SPORE_BUILD"]) / "spore" if "SPORE_BUILD" in os.environ else None


def spore_run(*arguments, **options):
    start = [str(COMMAND), "run"] if COMMAND and COMMAND.exists() else [sys.executable, "-m", "spore.run"]
    return subprocess.run(start + list(arguments), capture_output=True, text=True, timeout=40, **options)


@pytest.fixture
def script(tmp_path):
    def write(text, name="script.py"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)
    return write


def test_module_with_arguments(script, tmp_path):
    os.mkdir(tmp_path / "package")
    script("", "package/__init__.py")
    script("import sys, mindspore as ms\nfrom . import part\nprint(sys.argv[1:], __name__, part.f(ms.Tensor([1.0])))\nsys.exit(5)", "package/__main__.py")
    script("import mindspore.ops as ops\ndef f(x):\n    return ops.exp(x * 0)", "package/part.py")
    done = spore_run("-m", "package", "--epochs", "3", cwd=tmp_path)
    assert done.stdout == "['--epochs', '3'] __main__ [1.]\n" and done.returncode == 5, done.stderr


def test_traceback_shows_the_users_lines(script):
    done = spore_run(script("""
import mindspore as ms
from mindspore import nn, ops, Tensor
class Net(nn.Cell):
    def construct(self, x):
        return ops.matmul(x, x)  # here
def train():
    ms.grad(Net())(Tensor([[1.0, 2.0]]))
train()
"""))
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert any("ops.matmul(x, x)  # here" in line for line in lines) and any("in train" in line for line in lines)
    assert "lines inside spore are left out" in lines[0] and lines[1].startswith("Traceback")
    assert lines[2].endswith("in <module>") and "script.py" in lines[2], lines[2]
    assert lines[-1].startswith("ValueError: matmul:")


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children(script, method):
    done = spore_run(script("""
import multiprocessing, sys
import numpy as np
import mindspore as ms
from mindspore import Tensor, ops, nn

def work(number):
    x = Tensor(np.full((200, 200), number, np.float32))
    y = ops.matmul(x, x)
    g = ms.grad(lambda v: (v * v).sum())(x)
    return float(y[0, 0].asnumpy()), float(g[0, 0].asnumpy()), type(x).__module__

def echo(tensor):
    return tensor * 2

if __name__ == '__main__':
    big = ops.exp(Tensor(np.zeros((600, 600), np.float32)))  # threads and memory are in use before the children start
    work(1)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print([r[:2] for r in pool.map(work, [1, 2, 3])])
        print(pool.apply(echo, (Tensor([1.0, 2.0]),)))
    print(work(2)[:2], float(big.sum()))
"""), method)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[(200.0, 2.0), (800.0, 4.0), (1800.0, 6.0)]\n[2. 4.]\n(800.0, 4.0) 360000.0\n"


def test_debugger_in_construct(script):
    done = spore_run(script("""
import mindspore as ms
from mindspore import nn, Tensor
class Net(nn.Cell):
    def construct(self, x):
        y = x * 3
        breakpoint()
        return y
print(ms.grad(Net())(Tensor([1.0, 2.0])))
"""), input="p y\np y.shape, type(self).__name__\nnext\ncontinue\n")
    assert done.returncode == 0, done.stderr
    assert "value= [ 3.00000000e+00,  6.00000000e+00]" in done.stdout and "((2,), 'Net')" in done.stdout
    assert done.stdout.rstrip().endswith("[3. 3.]")


def test_under_pytest(script, tmp_path):
    script("""
import spore
spore.as_mindspore()
import mindspore.nn as nn
from mindspore import Tensor
import numpy as np
import pytest

@pytest.mark.parametrize('n', [1, 2])
def test_dense(n):
    net = nn.Dense(n, 1, weight_init='ones', bias_init='zeros')
    assert float(net(Tensor(np.ones((1, n), np.float32))).sum()) == n
""", "test_mine.py")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"], capture_output=True, text=True,
                          cwd=tmp_path, timeout=120)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def test_exit_while_a_thread_computes(script, monkeypatch):
    # Python ends such a thread with pthread_exit, which the address sanitizer's stacks for late uses do not survive.
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0")
    done = spore_run(script("""
import threading, time
import numpy as np
from mindspore import Tensor, ops
x = Tensor(np.ones((500, 500), np.float32))
def work():
    while True:
        ops.matmul(x, x)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print('end')
"""))
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr


def test_import_is_quick_and_quiet():
    done = subprocess.run([sys.executable, "-c", "import spore; spore.as_mindspore(); import mindspore.nn, mindspore.dataset, mindspore.train; "
                           "import mindspore; print(mindspore.nn.Dense.__name__)"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "Dense\n" and done.stderr == ""


def test_forks_under_working_threads(script):
    """Two threads capture, compile and run; a child that finds a lock of theirs waits for ever and is ended by its alarm."""
    done = spore_run(script("""
import os, signal, threading
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor

net = nn.SequentialCell(nn.Dense(16, 16, weight_init='ones', has_bias=False), nn.ReLU(), nn.Dense(16, 4, weight_init='ones', has_bias=False))
shared = ms.jit(lambda x: net(x) * 2)
stop = False

def work(i):
    fresh = ms.jit(lambda x: ops.exp(x) * 0 + i)     # captured anew each time
    x = Tensor(np.ones((1 + i % 5, 16), np.float32))
    big = ops.exp(Tensor(np.zeros(100000, np.float32))).sum()
    return (shared(x).asnumpy() == 512).all() and (fresh(x).asnumpy() == i).all() and float(big) == 100000

def keep_working(i):
    while not stop:
        assert work(i)
        i += 1

threads = [threading.Thread(target=keep_working, args=(1000 * i,)) for i in range(2)]
for t in threads:
    t.start()
endings = set()
for i in range(100):
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        code = 1
        try:
            code = 0 if work(i) else 2
        finally:
            os._exit(code)
    endings.add(os.waitpid(pid, 0)[1])
stop = True
for t in threads:
    t.join()
print(endings)
"""))
    assert done.returncode == 0 and done.stdout == "{0}\n", done.stdout + done.stderr


def test_locks_of_the_package_are_free_in_a_child():
    import threading
    import time

    from spore._fork import Lock
    lock, taken, state = Lock(), threading.Event(), []

    def hold():
        with lock, lock:     # it may be taken again
            state.append("half")
            taken.set()
            time.sleep(0.3)
            state.append("whole")
    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    pid = os.fork()
    if pid == 0:
        import signal
        signal.alarm(10)
        with lock:
            os._exit(0 if state == ["half", "whole"] else 1)     # fork waited for what the lock guards
    assert os.waitpid(pid, 0)[1] == 0
    thread.join()

# SPDX-License-Identifier: Apache-2.0
"""Memory of the engine runs out at any allocation: Python gets a MemoryError, and what it does next works.

tests/memory has the same for C, and for the libraries that the engine uses."""
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, _core, nn, ops

ROOT = Path(__file__).resolve().parents[2]


def starve(work, every=False, most=100000):
    """Run work() with allocations failing from the n-th on, for growing n until it does not notice. It gives its result as numpy arrays."""
    right = work()
    n, attempts = 1, 0
    while n < most:
        _core.memory_fail_from(n)
        try:
            found = work()
        except MemoryError as error:
            found = None
            said = str(error)
        finally:
            failed = _core.memory_fail_from(0)
        attempts += 1
        if found is None:
            assert "out of memory" in said, f"n = {n}: {said}"
        else:
            np.testing.assert_equal(found, right, err_msg=f"n = {n}: memory failed, and so is the result")
        np.testing.assert_equal(work(), right, err_msg=f"n = {n}: wrong after memory came back")
        if not failed:
            return attempts
        n += 1 if every or n < 12 else n // 4
    raise AssertionError("never without a failure")


def net():
    layers = nn.SequentialCell(nn.Conv2d(2, 3, 3, weight_init="ones"), nn.ReLU(), nn.Flatten(), nn.Dense(3 * 6 * 6, 4, weight_init="ones"))
    for p in layers.get_parameters():
        p.set_data(Tensor(np.linspace(-1, 1, p.size).reshape(p.shape).astype(np.float32)))
    return layers


X = np.linspace(-1, 1, 2 * 2 * 6 * 6).reshape(2, 2, 6, 6).astype(np.float32)


def eager():
    x = Tensor(X)
    y = ops.softmax(ops.matmul(x.reshape(2, 72), x.reshape(2, 72).T) * 0.1, -1)
    return ((y + x.sum())[0, 1:] - y.max(axis=1)).asnumpy()


def gradient():
    layers = net()
    step = ms.value_and_grad(lambda x: layers(x).sum(), None, layers.trainable_params())
    loss, grads = step(Tensor(X))
    return [loss.asnumpy()] + [g.asnumpy() for g in grads]


def train():
    layers = net()
    optimizer = nn.Adam(layers.trainable_params(), 0.1)
    step = nn.TrainOneStepCell(nn.WithLossCell(layers, nn.MSELoss()), optimizer)
    loss = step(Tensor(X), Tensor(np.ones((2, 4), np.float32)))
    return [loss.asnumpy()] + [p.asnumpy() for p in layers.get_parameters()]


def jit():
    weight = Parameter(Tensor(X[0, 0]), name="w")

    @ms.jit
    def f(x):
        for _ in range(3):
            x = ops.relu(ops.matmul(x, weight)) + 1
        return x.sum(axis=0)

    return f(Tensor(X[0, 1])).asnumpy()


def vmap():
    return ms.vmap(lambda row, w: ops.softmax(ops.matmul(row, w), -1), in_axes=(0, None))(Tensor(X[0, 0]), Tensor(X[0, 1])).asnumpy()


def indexing():
    x = Tensor(X.copy())
    x[0, 1, ::2] = 7.0
    return [x[:, 1, Tensor([0, 2])].asnumpy(), x.asnumpy()]


@pytest.mark.parametrize("work", [eager, gradient, train, jit, vmap, indexing])
def test_memory_error_and_back(work):
    assert starve(work) > 5


@pytest.mark.long
@pytest.mark.parametrize("work", [eager, gradient, train, jit, vmap, indexing])
def test_memory_error_at_every_allocation(work):
    starve(work, every=True)


def test_checkpoints(tmp_path):
    path = str(tmp_path / "a.ckpt")
    layers = net()

    def save_and_load():
        ms.save_checkpoint(layers, path)
        return {k: v.asnumpy() for k, v in ms.load_checkpoint(path).items()}

    starve(save_and_load)


@pytest.mark.parametrize("kind", ["MINDIR", "ONNX"])
def test_export(tmp_path, kind):
    path = tmp_path / ("a." + kind.lower())
    layers = net()

    def export():
        ms.export(layers, Tensor(X), file_name=str(path), file_format=kind)
        return path.read_bytes()

    starve(export)


def test_data_set():
    from spore import dataset as ds

    def rows():
        data = ds.NumpySlicesDataset(np.arange(10, dtype=np.float32), column_names="x", shuffle=False).map(lambda x: x + 1, "x").batch(3)
        return [row["x"].asnumpy() for row in data.create_dict_iterator()]

    starve(rows)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 60, 200])
def test_import(n):
    """In a process where memory fails from the start."""
    program = f"""
import importlib.machinery, importlib.util, sys
path = {str(_core.__file__)!r}
loader = importlib.machinery.ExtensionFileLoader("spore._core", path)
core = importlib.util.module_from_spec(importlib.util.spec_from_loader("spore._core", loader))
loader.exec_module(core)
sys.modules["spore._core"] = core
core.memory_fail_from({n})
try:
    import spore
    spore.ops.relu(spore.Tensor([1.0, -1.0]))
except MemoryError as error:
    assert "out of memory" in str(error), error
core.memory_fail_from(0)
for name in [m for m in sys.modules if m.startswith("spore") and m != "spore._core"]:
    del sys.modules[name]
import spore
assert spore.ops.relu(spore.Tensor([1.0, -1.0])).asnumpy().tolist() == [1.0, 0.0]
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]

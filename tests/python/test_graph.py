# SPDX-License-Identifier: Apache-2.0
"""Compiled functions: signatures, state, fallbacks, errors with their places, explain. What single statements and expressions do
is in tests/graph, recorded from MindSpore."""
import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, _core, jit, nn, ops
from spore.graph import explain
from spore.graph.compiler import compiled_of


@pytest.fixture
def graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def n_programs(function):
    return sum(len(entries) for entries in function._compiled.entries.values())


# --- signatures ------------------------------------------------------------------------------------------------------

def test_one_program_per_dtype_shape_and_constant():
    @jit
    def f(x, k):
        return x * k
    for _ in range(3):
        f(Tensor([1.0, 2.0]), 2)
    assert n_programs(f) == 1
    f(Tensor([1.0]), 2)
    f(Tensor([1]), 2)
    f(Tensor([1.0]), 3)
    f(Tensor([1.0]), 3.0)
    assert n_programs(f) == 5


def test_tensors_in_a_tuple_may_change_without_a_new_program():
    @jit
    def f(pair):
        return pair[0] + pair[1]
    for value in (1.0, 2.0, 3.0):
        assert f((Tensor(value), Tensor(1.0))) == value + 1
    assert n_programs(f) == 1


def test_mutable_numbers_share_a_program():
    @jit
    def f(n):
        return n * 2
    assert [f(ms.mutable(n)) for n in (1, 5)] == [2, 10]
    assert n_programs(f) == 1


def test_training_mode_selects_the_program():
    net = nn.Dropout(p=0.5)

    @jit
    def f(x):
        return net(x)
    x = ops.ones((100,))
    net.set_train(False)
    assert (f(x) == x).all()
    net.set_train(True)
    assert not (f(x) == x).all()
    net.set_train(False)
    assert (f(x) == x).all()
    assert n_programs(f) == 2


def test_parameters_are_read_in_every_run():
    weight = Parameter(Tensor([1.0]), name="w")

    @jit
    def f(x):
        return x * weight, x * weight.value(), x * weight.data, x * weight.copy()
    f(Tensor([1.0]))
    weight.set_data(Tensor([5.0]))
    assert [t.item() for t in f(Tensor([1.0]))] == [5.0] * 4


def test_declared_shape_serves_all_sizes():
    @jit(input_signature=Tensor(shape=[None, 2], dtype=ms.float32))
    def f(x):
        return x * 2
    for n in (1, 2, 5):
        assert f(ops.ones((n, 2))).shape == (n, 2)
    assert n_programs(f) == 1


# --- state -----------------------------------------------------------------------------------------------------------

def test_attributes_and_lists_change_in_every_run():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n, self.total, self.log = 0, Tensor([0.0]), []

        @jit
        def construct(self, x):
            self.n += 1
            self.total = self.total + x
            self.log.append(x.shape)
            return x * self.n
    net = Net()
    assert [net(Tensor([2.0])).item() for _ in range(3)] == [2.0, 4.0, 6.0]
    assert net.n == 3 and net.total.item() == 6.0 and net.log == [(1,)] * 3


def test_failed_capture_leaves_nothing_behind():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n = 0
            self.w = Parameter(Tensor([1.0]), name="w")

        @jit
        def construct(self, x, bad):
            self.n = 5
            self.w = self.w + 1
            if bad:
                return x + undefined_name  # noqa: F821
            return x * self.w
    net = Net()
    with pytest.raises(NameError, match="undefined_name"):
        net(Tensor([1.0]), True)
    assert net.n == 0 and net.w.asnumpy() == [1.0]
    assert net(Tensor([1.0]), False).item() == 2.0
    assert ms.Tensor([1.0]).item() + 1 == 2.0            # nothing is recorded any more


def test_in_place_on_an_argument_reaches_the_caller():
    @jit
    def f(x):
        x.add_(1)
        return x * 2
    x = Tensor([1.0])
    assert f(x).item() == 4.0 and x.item() == 2.0
    assert f(x).item() == 6.0 and x.item() == 3.0


# --- what cannot be captured -----------------------------------------------------------------------------------------

def test_numpy_in_the_middle_runs_as_python():
    @jit
    def f(x):
        return Tensor(np.sort(x.asnumpy())) * 2
    np.testing.assert_array_equal(f(Tensor([3.0, 1.0])).asnumpy(), [2.0, 6.0])

    @jit(jit_level="O0", jit_syntax_level="STRICT")
    def g(x):
        return x.asnumpy()
    with pytest.raises((RuntimeError, AttributeError)):
        g(Tensor([1.0]))


def test_function_without_source_is_traced():
    names = {"jit": jit}
    exec("def f(x):\n    return x * 2 + 1\ng = jit(f)", names)
    assert names["g"](Tensor([1.0])).item() == 3.0
    assert n_programs(names["g"]) == 1


# --- errors ----------------------------------------------------------------------------------------------------------

def inner(x):
    return x + missing_thing  # noqa: F821


def test_error_names_file_line_text_and_chain():
    @jit
    def f(x):
        y = x * 2
        return inner(y)
    with pytest.raises(NameError) as caught:
        f(Tensor([1.0]))
    text = str(caught.value)
    assert "test_graph.py" in text and "return inner(y)" in text and "return x + missing_thing" in text


def test_raise_under_a_condition_of_the_run():
    @jit
    def f(x):
        if x.sum() < 0:
            raise ValueError("negative", 3)
        return x
    assert f(Tensor([1.0])).item() == 1.0
    with pytest.raises(ValueError, match="negative"):
        f(Tensor([-1.0]))
    assert f(Tensor([2.0])).item() == 2.0


# --- training --------------------------------------------------------------------------------------------------------

def losses(mode_jit):
    ms.set_seed(3)
    rng = np.random.default_rng(3)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.BatchNorm1d(8), nn.Dense(8, 2)).set_train()
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    loss = nn.CrossEntropyLoss()
    x, y = Tensor(rng.normal(size=(16, 4)).astype(np.float32)), Tensor(rng.integers(0, 2, 16).astype(np.int32))
    value_and_grad = ms.value_and_grad(lambda a, b: loss(net(a), b), None, optimizer.parameters)

    def step(a, b):
        value, grads = value_and_grad(a, b)
        optimizer(grads)
        return value
    step = jit(step) if mode_jit else step
    return [step(x, y).item() for _ in range(10)]


def test_training_step_is_one_program_with_equal_losses():
    assert losses(True) == losses(False)


def test_gradient_through_a_run_time_loop():
    def f(x, n):
        y = x
        while n > 0:
            y = y * x
            n = n - 1
        return y

    @jit
    def g(x, n):
        return ms.grad(f)(x, n)
    for n in range(4):
        assert g(Tensor(2.0), Tensor(n)).item() == (n + 1) * 2.0 ** n


def test_cells_compile_in_graph_mode(graph_mode):
    explain.start()

    class Net(nn.Cell):
        def construct(self, x):
            if x.sum() > 0:
                return x * 2
            return x - 1
    net = Net()
    assert net(Tensor([1.0])).item() == 2.0 and net(Tensor([-1.0])).item() == -2.0
    assert "Net" in explain.report()


def test_one_program_from_several_threads():
    @jit
    def f(x):
        for _ in range(10):
            x = x * 1.5 + 1
        return x
    want = f(Tensor([1.0])).item()
    got = []
    threads = [threading.Thread(target=lambda: got.extend(f(Tensor([1.0])).item() for _ in range(50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [want] * 200


def test_one_program_runs_in_several_threads_at_once():
    """Products with tails, a chain closed by a reduction, branches and loops of the run, Parameters: nothing of a run is shared."""
    net = nn.SequentialCell(nn.Dense(64, 96), nn.ReLU(), nn.Dense(96, 64))
    net.set_train(False)

    @ms.jit
    def f(x, n):
        while n > 0:
            x = net(x) + x * 0.5
            n = n - 1
        if x.sum() > 0:
            x = ops.tanh(x)
        return x, ((x - 1) * (x - 1)).mean(), (x * 2 + 1).sum(0)
    random = np.random.RandomState(3)
    inputs = [(Tensor(random.randn(200 + 40 * (i % 3), 64).astype(np.float32)), Tensor(1 + i % 4)) for i in range(8)]
    want = [[t.asnumpy().tobytes() for t in f(*one)] for one in inputs]
    wrong, errors = [], []

    def run(which):
        try:
            for i in range(12):
                k = (which + i) % len(inputs)
                if [t.asnumpy().tobytes() for t in f(*inputs[k])] != want[k]:
                    wrong.append(k)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and not errors


# --- explain ---------------------------------------------------------------------------------------------------------

def test_explain_tells_what_happened(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import mindspore as ms\n@ms.jit\ndef f(x, k):\n    return x.asnumpy() if k else x * 2\n"
                      "f(ms.Tensor([1.]), 0)\nf(ms.Tensor([1., 2.]), 0)\nf(ms.Tensor([1., 2.]), 1)\n")
    done = subprocess.run([sys.executable, "-m", "spore.run", str(script)], capture_output=True, text=True,
                          env=dict(os.environ, SPORE_EXPLAIN="1"), check=True)
    assert "captured and compiled" in done.stderr
    assert "argument 0 is a Tensor Float32[2], it was a Tensor Float32[1]" in done.stderr
    assert "runs as plain Python: Tensor.asnumpy()" in done.stderr and "script.py:4" in done.stderr


def test_explain_tells_where_the_time_goes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import mindspore as ms\nfrom mindspore import ops\n@ms.jit\ndef f(x):\n    y = ops.matmul(x, x)\n"
                      "    return ops.softmax(y, -1)\nx = ops.ones((64, 64))\nfor _ in range(3):\n    f(x)\n")
    done = subprocess.run([sys.executable, "-m", "spore.run", str(script)], capture_output=True, text=True,
                          env=dict(os.environ, SPORE_EXPLAIN="1", SPORE_PROFILE="1"), check=True)
    lines = done.stderr[done.stderr.index("dearest steps"):].splitlines()[1:]
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times, reverse=True) and min(times) > 0
    assert any("matmul -> float32 (64, 64)" in line and "script.py:5: y = ops.matmul(x, x)" in line for line in lines)


def test_explain_speaks_of_models_from_files(tmp_path):
    from spore import nn, onnx
    onnx.export(nn.SequentialCell(nn.Dense(64, 64), nn.ReLU()), ops.ones((8, 64)), file_name=str(tmp_path / "net.onnx"))
    script = tmp_path / "script.py"
    script.write_text("import spore, time\nfrom spore import onnx, ops\nnet, other = onnx.load('net.onnx'), onnx.load('net.onnx')\n"
                      "for _ in range(3):\n    net(ops.ones((8, 64)))\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path,
                          env=dict(os.environ, SPORE_EXPLAIN="1", SPORE_PROFILE="1"), check=True)
    assert "OnnxCell, a model from a file" in done.stderr and "run 3 times" in done.stderr and "not run yet" in done.stderr
    assert "dearest steps" in done.stderr and "-> float32 (8, 64)" in done.stderr


# --- what a capture must not leave behind ----------------------------------------------------------------------------

def test_nothing_is_recorded_after_a_capture_that_failed_in_a_gradient(graph_mode):
    def masked(x):
        y = x * 3
        y[y > 5] = 0                     # how many elements, only a run tells
        return y

    def wrong(x):
        y = ops.matmul(x, ops.ones((7, 7)))
        return y.sum()
    x = Tensor([1.0, 2.0, 3.0])
    assert ms.grad(masked)(x).asnumpy().tolist() == [3.0, 0.0, 0.0]
    with pytest.raises(ValueError):
        ms.grad(wrong)(x)
    assert not _core.grad_recording() and not _core.recording()


def test_labels_of_ctc_are_values_of_the_run(graph_mode):
    """The second gradient of CTC depends on what the labels are: it is taken outside of the graph."""
    log_probabilities = ops.log_softmax(Tensor(np.linspace(-1, 1, 12).reshape(4, 1, 3).astype(np.float32)), 2)
    labels, steps, lengths = Tensor([[1, 2]], ms.int32), Tensor([4], ms.int32), Tensor([2], ms.int32)

    def loss(x, labels, steps, lengths):
        return ops.ctc_loss(x, labels, steps, lengths, reduction="sum")
    first = ms.grad(loss)
    want = ms.grad(lambda *a: first(*a).sum())
    ms.set_context(mode=ms.PYNATIVE_MODE)
    eager = want(log_probabilities, labels, steps, lengths).asnumpy()
    ms.set_context(mode=ms.GRAPH_MODE)
    assert (want(log_probabilities, labels, steps, lengths).asnumpy() == eager).all()

def test_a_gradient_that_cannot_be_captured_does_not_harm_others(graph_mode):
    """The library's own functions are interpreted where they ask for a value; those of gradients must not be from then on."""
    test_labels_of_ctc_are_values_of_the_run(graph_mode)
    x = Tensor([1.0, 2.0, 3.0])
    gradient = jit(ms.value_and_grad(lambda v: (v * v).sum()))
    value, found = gradient(x)
    assert value == 14 and found.asnumpy().tolist() == [2.0, 4.0, 6.0]
    assert [entry.program is not None for entries in compiled_of(gradient).entries.values() for entry in entries] == [True]


def test_forward_mode_through_a_loop_is_captured():
    def turns(v, n):
        i = Tensor(0)
        while i < n:
            v = ops.sin(v) * 2
            i = i + 1
        return v

    @jit(fullgraph=True)
    def f(x, n):
        value, direction = ms.jvp(lambda v: turns(v, n), x, ops.ones_like(x))
        _, back = ms.vjp(lambda v: turns(v, n), x)
        return value, direction, back(direction), ms.jacfwd(lambda v: turns(v, n))(x), ms.jacrev(lambda v: turns(v, n))(x)
    x = Tensor([0.5, 0.7])
    value, direction, back, forward, reverse = f(x, Tensor(3))

    def plain(v):
        for _ in range(3):
            v = ops.sin(v) * 2
        return v
    want = ms.jvp(plain, x, ops.ones_like(x))
    assert (value == want[0]).all() and np.allclose(direction.asnumpy(), want[1].asnumpy(), rtol=1e-6)
    assert np.allclose(forward.asnumpy(), ms.jacfwd(plain)(x).asnumpy(), rtol=1e-6)
    assert np.allclose(reverse.asnumpy(), forward.asnumpy(), rtol=1e-6) and back[0].shape == (2,)


def test_what_compiling_came_to():
    from spore._c_expression import get_code_extra

    def whole(x):
        return x * 2

    def broken(x):
        y = x * 2
        return y + float(y.asnumpy().sum())
    for function in (whole, broken):
        jit(function, capture_mode="bytecode")(Tensor([1.0]))
    assert get_code_extra(whole)["break_count_"] == 0 and get_code_extra(whole)["stat"] == "GRAPH_CALLABLE"
    assert get_code_extra(broken)["break_count_"] == 1
    assert get_code_extra(lambda x: x) is None


class _Keeps(nn.Cell):
    """Whatever a program may hold on to: attributes, texts, exceptions, pieces, methods."""

    def __init__(self):
        super().__init__()
        self.dense, self.n, self.total = nn.Dense(3, 3), 0, Tensor([0.0, 0.0, 0.0])

    def helper(self, y):
        return y * float(y.asnumpy().sum())

    def construct(self, x):
        y = self.dense(x)
        if y.sum() > 1e9:
            print(f"large: {y}")
            raise ValueError(f"too large: {y}")
        self.n, self.total = self.n + 1, self.total + y.sum()
        z = self.helper(y) + self.n
        return ops.relu(z) + self.total


def test_programs_do_not_keep_what_they_are_for(graph_mode):
    net = _Keeps()
    for _ in range(3):
        net(ops.ones((2, 3)))
    gone = weakref.ref(net)
    del net
    gc.collect()
    assert gone() is None

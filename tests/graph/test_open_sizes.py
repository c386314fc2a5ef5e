# SPDX-License-Identifier: Apache-2.0
"""Sizes that are left open: one capture serves all of them, with the results of eager mode to the last bit."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops
from spore.graph import compiler

DENSE, CONV, POOL, NORM = nn.Dense(4, 2), nn.Conv2d(3, 4, 3), nn.MaxPool2d(2, 2), nn.LayerNorm((4,))
BATCH_NORM, LOSS, EMBEDDING = nn.BatchNorm2d(3), nn.CrossEntropyLoss(), nn.Embedding(10, 4)
LSTM, ATTENTION = nn.LSTM(4, 5, batch_first=True), nn.MultiheadAttention(8, 2, batch_first=True)


def loop_over_rows(x):
    total = x.sum(axis=1)
    i = 0
    while i < x.shape[0]:
        total = total + i
        i = i + 1
    return total


def rows_written(x):
    y = x * 2
    y[0] = 1.0
    for i in range(x.shape[0]):
        y[i] = y[i] + i
    return y


def if_on_size(x):
    if x.shape[0] > 2:
        return x * 2
    return x - 1


CASES = {
    "sum": (lambda x: x.sum(axis=0) + x.sum(), [None, 4]),
    "mean": (lambda x: x.mean(1), [None, 4]),
    "extremum": (lambda x: (x.max(axis=1), x.argmax(1)), [None, 4]),
    "softmax": (lambda x: ops.softmax(x), [None, 4]),
    "reshape": (lambda x: x.reshape(x.shape[0], -1), [None, 4, 2]),
    "reshape_doubled": (lambda x: ops.reshape(x, (x.shape[0] * 2, 2)), [None, 4]),
    "view": (lambda x: x.view(x.shape[0], 2, 2), [None, 4]),
    "view_of_last": (lambda x: x.view(-1, x.shape[-1]), [None, 3, 4]),
    "flatten": (lambda x: nn.Flatten()(x), [None, 4, 2]),
    "matmul": (lambda x: ops.matmul(x, x.T), [None, 4]),
    "bmm": (lambda x: ops.bmm(x, x.swapaxes(1, 2)), [None, 4, 2]),
    "slice": (lambda x: x[1:] + x[:-1], [None, 4]),
    "slice_by_size": (lambda x: x[:x.shape[0] // 2], [None, 4]),
    "columns": (lambda x: (x[:, 1:], x[..., 0], x[::2]), [None, 4]),
    "last": (lambda x: (x[-1], x[:, -1]), [None, None]),
    "concat": (lambda x: ops.cat([x, x], 0), [None, 4]),
    "stack": (lambda x: ops.stack([x, x]), [None, 4]),
    "split": (lambda x: ops.split(x, 2, axis=1), [None, 4]),
    "expand": (lambda x: x.unsqueeze(1).broadcast_to((x.shape[0], 3, 4)), [None, 4]),
    "zeros": (lambda x: ops.zeros((x.shape[0], 3)) + x[:, :3], [None, 4]),
    "full": (lambda x: ops.full((x.shape[0], 2), 1.5), [None, 4]),
    "arange": (lambda x: ops.arange(x.shape[1]) + x.shape[0], [2, None]),
    "triangle": (lambda x: ops.tril(ops.ones((x.shape[1], x.shape[1]))), [2, None]),
    "mean_by_size": (lambda x: x.sum() / x.size, [None, 4]),
    "len": (lambda x: x * len(x), [None, 4]),
    "where": (lambda x: ops.where(x > 0, x, ops.zeros_like(x)), [None, 4]),
    "masked": (lambda x: x.masked_fill(x > 1, 1.0), [None, 4]),
    "einsum": (lambda x: ops.einsum("bi,bj->bij", x, x), [None, 4]),
    "topk": (lambda x: ops.topk(x, 2), [None, 4]),
    "one_hot": (lambda x: ops.one_hot(x.argmax(1), 4), [None, 4]),
    "rows_that_are_positive": (lambda x: x[x > 1], [None, 4]),
    "dense": (lambda x: DENSE(x), [None, 4]),
    "convolution": (lambda x: POOL(CONV(x)), [None, 3, 8, 8]),
    "normalisation": (lambda x: (BATCH_NORM(x), x.var(axis=0)), [None, 3, 8, 8]),
    "layer_norm": (lambda x: NORM(x), [None, 4]),
    "loss": (lambda x: LOSS(x, ops.zeros((x.shape[0],), ms.int32)), [None, 4]),
    "embedding": (lambda x: EMBEDDING(x.astype(ms.int32)), [2, None]),
    "lstm": (lambda x: LSTM(x)[0], [None, 3, 4]),
    "attention": (lambda x: ATTENTION(x, x, x)[0], [None, 3, 8]),
    "gradient": (lambda x: ms.grad(lambda v: (v * v).sum())(x), [None, 4]),
    "loop": (loop_over_rows, [None, 4]),
    "rows_written": (rows_written, [None, 4]),
    "condition": (if_on_size, [None, 4]),
}


def plain(value):
    if isinstance(value, Tensor):
        return str(value.dtype), value.shape, value.asnumpy().tobytes()
    return [plain(v) for v in value] if isinstance(value, (tuple, list)) else value


def inputs(shape, sizes=(2, 3, 5, 4)):
    rng = np.random.default_rng(0)
    return [Tensor((rng.random([n if d is None else d for d in shape]) * 3).astype(np.float32)) for n in sizes]


@pytest.mark.parametrize("name", list(CASES))
def test_one_capture_for_all_sizes(name):
    function, shape = CASES[name]
    compiled = ms.enable_dynamic(**{function.__code__.co_varnames[0]: Tensor(shape=shape, dtype=ms.float32)})(ms.jit(function))
    for x in inputs(shape):
        assert plain(compiled(x)) == plain(function(x))
    assert compiled._compiled.options.open_sizes and len(compiled._compiled.entries) == 1


def test_training_step_with_any_batch_size():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv, self.dense = nn.Conv2d(1, 4, 3, pad_mode="valid"), nn.Dense(4 * 36, 10)

        def construct(self, x):
            return self.dense(ops.relu(self.conv(x)).reshape(x.shape[0], -1))

    def train(mode):
        ms.set_seed(1)
        ms.set_context(mode=mode)
        try:
            net = Net()
            step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
            step.set_inputs(Tensor(shape=[None, 1, 8, 8], dtype=ms.float32), Tensor(shape=[None], dtype=ms.int32))
            rng = np.random.default_rng(0)
            losses = [plain(step(Tensor(rng.normal(size=(n, 1, 8, 8)).astype(np.float32)), Tensor(rng.integers(0, 10, n), ms.int32)))
                      for n in (4, 3, 7, 5, 4, 4, 4, 4)]
            programs = len(compiler.compiled_cell(step).entries) if mode == ms.GRAPH_MODE else 0
            return losses, [plain(p.value()) for p in net.get_parameters()], programs
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
    want, got = train(ms.PYNATIVE_MODE), train(ms.GRAPH_MODE)
    assert got[:2] == want[:2]
    assert got[2] == 2               # one for all sizes, and one for the size that keeps returning


def test_dynamic_leaves_open_what_changes():
    captured = []

    @ops.constexpr(reuse_result=False)
    def note():
        captured.append(1)
        return 0

    @ms.jit(dynamic=1)
    def f(x, k):
        return ops.softmax(x).sum(axis=0) * k + note(), x.shape
    for shape in [(2, 3), (3, 3), (4, 3), (5, 3), (4, 4), (7, 9)]:
        assert f(Tensor(np.ones(shape, np.float32)), 2)[1] == shape
    assert len(captured) == 3        # as it is; any number of rows; any shape


class Doubled(nn.Cell):
    def construct(self, x):
        return x * 2


def test_sizes_that_must_fit_each_other_are_compiled_by_size():
    """n - 1 rows are written to n - 1 rows: with either unknown nothing can be told, so each n gets its program."""
    def f(x):
        y = x * 2
        y[1:] = y[1:] - x[:-1]
        return y
    compiled = ms.enable_dynamic(x=Tensor(shape=[None, 4], dtype=ms.float32))(ms.jit(f))
    for x in inputs([None, 4]):
        assert plain(compiled(x)) == plain(f(x))
    assert not compiled._compiled.options.open_sizes


class Parted(nn.Cell):
    def construct(self, x):
        y = x * 2
        for row in x:                        # how many rows, the capture has to know: compiled by size
            y = y + row
        return y


@pytest.mark.parametrize("kind", [Doubled, Parted])
def test_calls_that_disagree_with_what_was_declared(kind):
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net = kind()
        net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
        for n in (2, 4):
            assert net(ops.ones((n, 3))).shape == (n, 3)
        for _ in range(2):
            with pytest.raises(ValueError, match="shape of 1th input must be the same as expected"):
                net(ops.ones((2, 4)))
            with pytest.raises(ValueError, match="dims of 1th input"):
                net(ops.ones((2,)))
            with pytest.raises(TypeError, match="the 1th type should be Tensor"):
                net(ops.ones((2, 3), ms.int32))
            with pytest.raises(TypeError, match="must be a Tensor"):
                net(3)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


class Scattered(nn.Cell):
    """Writes to its Parameter, and reads it afterwards."""

    def __init__(self, kind):
        super().__init__()
        self.table, self.kind = ms.Parameter(ops.zeros((4, 3)), name="table"), kind

    def construct(self, i, u):
        self.kind(self.table, i, u)
        return self.table * 2


@pytest.mark.parametrize("name, rank", [("ScatterNdUpdate", 2), ("ScatterNdAdd", 2), ("ScatterNdMax", 2), ("ScatterUpdate", 1), ("ScatterAdd", 1)])
def test_parameters_written_with_open_sizes(name, rank, tmp_path):
    """The write is neither lost nor done after what reads it; a file that cannot hold it is refused."""
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net = Scattered(getattr(ops, name)())
        indices, updates = Tensor(shape=[None, 1][:rank], dtype=ms.int32), Tensor(shape=[None, 3], dtype=ms.float32)
        net.set_inputs(indices, updates)
        for n in (2, 3):
            net.table.set_data(ops.zeros((4, 3)))
            i = Tensor(np.arange(n), ms.int32)
            found = net(i.reshape(-1, 1) if rank == 2 else i, ops.ones((n, 3)))
            assert found.asnumpy().sum() == 6 * n and net.table.asnumpy().sum() == 3 * n
        with pytest.raises((RuntimeError, NotImplementedError), match="writes to a Tensor|index_put|index_combine"):
            ms.export(net, indices, updates, file_name=str(tmp_path / "net"), file_format="MINDIR")
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)

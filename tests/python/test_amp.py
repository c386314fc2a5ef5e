# SPDX-License-Identifier: Apache-2.0
"""Mixed precision and loss scales."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, amp, dataset, nn, ops, train


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc, self.bn, self.out = nn.Dense(4, 4), nn.BatchNorm1d(4), nn.Dense(4, 1)
        self.seen = {}

    def construct(self, x):
        x = self.note("fc", self.fc(x))
        x = self.note("bn", self.bn(x))
        return self.note("out", self.out(x))

    def note(self, name, x):
        self.seen[name] = x.dtype
        return x


X = Tensor(np.random.default_rng(0).standard_normal((8, 4)).astype("f4"))


@pytest.mark.parametrize("level, dtypes", [
    ("O0", (ms.float32,) * 3), ("O1", (ms.float32,) * 3), ("O2", (ms.float16,) * 3), ("O3", (ms.float16,) * 3)])
def test_levels(level, dtypes):
    net, plain = Net(), Net()
    for a, b in zip(net.get_parameters(), plain.get_parameters()):
        b.set_data(a)
    made = amp.auto_mixed_precision(net, level)
    out = made(X)
    assert out.dtype == ms.float32 and tuple(net.seen[k] for k in ("fc", "bn", "out")) == dtypes
    assert all(p.dtype == ms.float32 for p in net.get_parameters())
    difference = np.abs(out.asnumpy() - plain(X).asnumpy()).max()
    assert difference < 0.02 and (level == "O0") == (difference == 0)


def test_norms_stay_in_float32_at_o2():
    net = Net()
    names = [p.name for p in net.get_parameters()]
    wrapped = amp.auto_mixed_precision(net, "O2")
    assert type(wrapped).__name__ == "_OutputTo32" and wrapped(X).dtype == ms.float32 and [p.name for p in wrapped.get_parameters()] == names
    assert type(net.bn).__name__ == "_OutputTo16" and net.bn._backbone._to_float == ms.float32 and net.fc._to_float == ms.float16
    net = Net()
    amp.auto_mixed_precision(net, "O3")
    assert net.bn._to_float == ms.float16 and net(X).dtype == ms.float16


def test_auto_adds_biases_in_their_own_precision():
    x = Tensor(np.ones((1, 1, 4, 4)), ms.float32)
    for net, dtype in ((nn.Dense(4, 2), ms.float32), (nn.Dense(4, 2, has_bias=False), ms.float16), (nn.Conv2d(1, 2, 3), ms.float16),
                       (nn.Conv2d(1, 2, 3, has_bias=True), ms.float32)):
        assert amp.auto_mixed_precision(net, "auto")(x).dtype == dtype, net
    for layer in (nn.LSTM, nn.GRU, nn.RNN):
        assert amp.auto_mixed_precision(layer(4, 3), "auto")(x[0])[0].dtype == ms.float32


def test_bfloat16_and_lists():
    net = Net()
    assert amp.custom_mixed_precision(net, black_list=[nn.Dense], dtype=ms.bfloat16)(X).dtype == ms.float32
    assert net.fc._backbone._to_float == ms.float32 and net.bn._to_float == ms.bfloat16
    net = amp.custom_mixed_precision(Net(), white_list=[nn.BatchNorm1d])
    assert net.fc._to_float is None and net.bn._to_float == ms.float16 and net(X).dtype == ms.float32
    assert nn.Dense in amp.get_white_list() and nn.BatchNorm2d in amp.get_black_list()


def test_gradients_come_back_in_float32():
    net = amp.auto_mixed_precision(Net(), "O3")
    gradients = ms.grad(lambda x: net(x).sum(), None, net.trainable_params())(X)
    assert all(g.dtype == ms.float32 for g in gradients)


def test_all_finite():
    good = (Tensor([1.0]), (Tensor([[2.0]]),))
    assert bool(amp.all_finite(good)) is True
    for bad in (np.inf, -np.inf, np.nan):
        assert bool(amp.all_finite((*good, Tensor([1.0, bad])))) is False
    with pytest.raises(TypeError):
        amp.all_finite(())


def test_static_scaler():
    scaler = amp.StaticLossScaler(8)
    assert float(scaler.scale(Tensor(2.0))) == 16
    assert [float(t) for t in scaler.unscale((Tensor(8.0), Tensor(4.0)))] == [1.0, 0.5]
    assert scaler.adjust(Tensor(False)) is False and float(scaler.scale_value) == 8


def test_dynamic_scaler_follows_overflows():
    scaler = amp.DynamicLossScaler(4, 2, 2)
    for finite, scale, counter in ((True, 4, 1), (True, 8, 0), (True, 8, 1), (False, 4, 0), (False, 2, 0),
                                   (False, 1, 0), (False, 1, 0)):
        scaler.adjust(Tensor(finite))
        assert (float(scaler.scale_value), int(scaler.counter)) == (scale, counter)


def test_dynamic_manager():
    manager = amp.DynamicLossScaleManager(16, 2, 3)
    for overflow, scale in ((False, 16), (True, 8), (False, 8), (False, 8), (False, 16)):
        manager.update_loss_scale(overflow)
        assert manager.get_loss_scale() == scale
    assert manager.get_drop_overflow_update() is True and amp.FixedLossScaleManager(8, False).get_update_cell() is None


def _data():
    x = X.asnumpy()
    return dataset.NumpySlicesDataset((x, x.sum(1, keepdims=True)), ["x", "y"], shuffle=False).batch(4)


@pytest.mark.parametrize("level, manager, scale", [
    ("O2", amp.FixedLossScaleManager(1024.0, drop_overflow_update=False), 1024.0), ("O3", None, 1.0),
    ("O2", amp.FixedLossScaleManager(1024.0), 1.0), ("O1", amp.DynamicLossScaleManager(1024, 2, 4), 1.0)])
def test_model_trains_in_mixed_precision(level, manager, scale):
    net = Net()
    kwargs = {"loss_scale_manager": manager} if manager is not None else {}
    model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.05, loss_scale=scale), amp_level=level,
                        metrics={"mse"}, **kwargs)
    losses = []

    def keep(run):
        out = run.original_args().net_outputs
        losses.append(float(out[0] if isinstance(out, tuple) else out))
    model.train(30, _data(), callbacks=train.LambdaCallback(on_train_step_end=keep))
    assert losses[-1] < losses[0] / 3 and all(p.dtype == ms.float32 for p in net.get_parameters())


def test_a_step_that_overflows_is_left_out():
    net = nn.Dense(4, 1)
    step = amp.build_train_network(net, nn.SGD(net.trainable_params(), 0.1), nn.MSELoss(),
                                   loss_scale_manager=amp.DynamicLossScaleManager(16))
    before = net.weight.asnumpy().copy()
    out = step(Tensor(np.full((2, 4), 1e30, "f4")), Tensor(np.ones((2, 1), "f4")))
    assert bool(out[1]) is True
    np.testing.assert_array_equal(net.weight.asnumpy(), before)
    assert bool(step(Tensor(np.ones((2, 4), "f4")), Tensor(np.ones((2, 1), "f4")))[1]) is False
    assert (net.weight.asnumpy() != before).any()


@pytest.mark.parametrize("make, error", [
    (lambda: amp.auto_mixed_precision(1), TypeError), (lambda: amp.auto_mixed_precision(Net(), "O9"), ValueError),
    (lambda: amp.auto_mixed_precision(Net(), "O2", ms.float64), ValueError), (lambda: amp.custom_mixed_precision(Net()),
                                                                              ValueError),
    (lambda: amp.custom_mixed_precision(Net(), white_list=[1]), TypeError), (lambda: amp.StaticLossScaler(0.5),
                                                                             ValueError),
    (lambda: amp.DynamicLossScaler(2, 2.0, 2), TypeError), (lambda: amp.FixedLossScaleManager(0.5), ValueError),
    (lambda: amp.DynamicLossScaleManager(2, 2, 0), ValueError), (lambda: amp.build_train_network(Net(), 1), TypeError),
    (lambda: amp.build_train_network(Net(), nn.SGD(Net().trainable_params()), level="O7"), ValueError)])
def test_refuses(make, error):
    with pytest.raises(error):
        make()


class Products(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor(np.ones((4, 4), np.float32)), name="weight")
        self.matmul, self.tan, self.relu = ops.MatMul(), ops.Tan(), ops.ReLU()

    def construct(self, x):
        product = self.matmul(x, self.weight)
        return product, self.tan(product), product + 1, product + x


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_auto_goes_by_operators(mode, dtype):
    ms.set_context(mode=mode)
    try:
        net = amp.auto_mixed_precision(Products(), "auto", dtype)
        x = ms.Tensor(np.full((2, 4), 0.1, np.float32))
        assert [t.dtype for t in net(x)] == [dtype, ms.float32, dtype, ms.float32]
        grads = ms.grad(lambda x: net(x)[1].sum(), None, net.trainable_params())(x)
        assert grads[0].dtype == ms.float32 and net.weight.dtype == ms.float32
        assert ops.matmul(x, x.T).dtype == ms.float32        # nothing is left of it outside
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_auto_of_a_function():
    run = amp.auto_mixed_precision(lambda x: ops.matmul(x, x), "auto")
    assert run(ms.ops.ones((2, 2))).dtype == ms.float16
    with pytest.raises(TypeError, match="must be a Cell"):
        amp.auto_mixed_precision(lambda x: x, "O1")


def test_lists_hold_primitives():
    assert len(amp.get_white_list()) == 20 and ops.MatMul in amp.get_white_list()
    x = ms.Tensor(np.full((2, 4), 1 / 3, np.float32))
    exact = Products()(x)[0].asnumpy()
    half = amp.auto_mixed_precision(Products(), "O1")(x)[0]
    assert half.dtype == ms.float32 and not np.array_equal(half.asnumpy(), exact)
    kept = amp.custom_mixed_precision(Products(), black_list=[ops.Tan])
    assert isinstance(kept(x), tuple)


def test_strategies_nest():
    from spore.train import _amp_strategy as strategies
    x = ms.Tensor(np.ones((2, 2), np.float32))
    strategies.push_amp_strategy(strategies.AmpLevel.AmpAuto, ms.float16, [("MatMul", [])], [("Exp", [])])
    half = ops.matmul(x, x)
    assert (half.dtype, ops.exp(half).dtype, ops.sin(half).dtype) == (ms.float16, ms.float32, ms.float16)
    strategies.push_amp_strategy(strategies.AmpLevel.AmpAuto, ms.bfloat16, [("Sin", [])], [])
    assert (ops.matmul(x, x).dtype, ops.sin(x).dtype) == (ms.float32, ms.bfloat16)
    strategies.pop_amp_strategy()
    assert ops.matmul(x, x).dtype == ms.float16
    info = strategies.get_prim_cast_strategy_info(strategies.get_curr_amp_strategy(), "Exp")
    assert info.strategy == strategies.PrimCastStrategy.AmpDoCast and info.dtype == ms.float32
    strategies.pop_amp_strategy()
    strategies.pop_amp_strategy()
    assert strategies.get_curr_amp_strategy() is None and ops.matmul(x, x).dtype == ms.float32


def test_biases_meet_weights_in_half_precision():
    class Biased(nn.Cell):
        def __init__(self):
            super().__init__()
            self.bias = ms.Parameter(ms.Tensor([1.0, 2.0]), name="bias")
            self.add = ops.BiasAdd()

        def construct(self, x):
            return self.add(x, self.bias)
    assert Biased().to_float(ms.float16)(ms.Tensor(np.ones((2, 2), np.float32))).dtype == ms.float16

# SPDX-License-Identifier: Apache-2.0
"""Optimizers: training resumed from checkpoints of MindSpore, groups, decay, what is refused, and the cost of a step.

The formulas of all optimizers are held against MindSpore in tests/oracle.
"""
import pathlib
import time

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, _core, nn

DATA = pathlib.Path(__file__).parent / "data" / "resume"


class Small(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1, self.bn, self.relu, self.fc2 = nn.Dense(7, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dense(8, 4)

    def construct(self, x):
        return self.fc2(self.relu(self.bn(self.fc1(x))))


class Convolution(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 5, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm, self.relu, self.emb = nn.GroupNorm(1, 5), nn.ReLU(), nn.Embedding(11, 6)
        self.flatten, self.head = nn.Flatten(), nn.Dense(80, 3)

    def construct(self, x):
        return self.head(self.flatten(self.relu(self.norm(self.conv(x)))))


# The run called nesterov used plain momentum: MindSpore does not use the argument on a CPU.
RESUMED = {
    "adam": (Small, lambda p: nn.Adam(p, 0.01)),
    "momentum": (Small, lambda p: nn.Momentum(p, 0.05, 0.9)),
    "adamw_dynlr": (Small, lambda p: nn.AdamWeightDecay(p, nn.ExponentialDecayLR(0.01, 0.9, 2), weight_decay=0.01)),
    "momentum_nesterov_wd": (Convolution, lambda p: nn.Momentum(p, 0.05, 0.8, weight_decay=1e-3, use_nesterov=True)),
}


@pytest.mark.parametrize("case", sorted(RESUMED))
def test_training_resumed_from_mindspore_ends_where_mindspore_ended(case):
    make_net, make_optimizer = RESUMED[case]
    data = np.load(DATA / f"{case}.npz")
    net = make_net()
    optimizer = make_optimizer(net.trainable_params())
    values = ms.load_checkpoint(str(DATA / f"{case}_step3.ckpt"))
    assert ms.load_param_into_net(net, values)[0] == []
    assert ms.load_param_into_net(optimizer, values)[0] == []
    net.set_train()
    loss_fn = nn.CrossEntropyLoss()
    step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    for x, y, wanted in zip(data["in/x"], data["in/y"], data["in/losses"]):
        loss, gradients = step(Tensor(x), Tensor(y))
        optimizer(gradients)
        assert float(loss) == pytest.approx(wanted, rel=1e-5)
    have = {p.name: p.asnumpy() for p in [*net.get_parameters(), *optimizer.get_parameters()]}
    # A bias before batch norm has gradient zero but for rounding, which Adam blows up; the running mean follows it.
    noise = {"fc1.bias", "bn.moving_mean"} if case.startswith("adam") else set()
    for key in data.files:
        name = key[4:]
        if key.startswith("out/") and not any(name.endswith(n) for n in noise):
            np.testing.assert_allclose(have[name], data[key], rtol=1e-5, atol=1e-6, err_msg=name)


def _params():
    weight, bias = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 1.0])
    return [Parameter(weight, name="fc.weight"), Parameter(bias, name="fc.bias")]


def _grads():
    return Tensor(np.ones((2, 2), "f4")), Tensor(np.ones(2, "f4"))


@pytest.mark.parametrize("make, names", [
    (lambda p: nn.Momentum(p, 0.1, 0.9), "global_step learning_rate fc.weight fc.bias momentum moments.fc.weight "
                                         "moments.fc.bias"),
    (lambda p: nn.Adam(p), "global_step learning_rate fc.weight fc.bias beta1_power beta2_power moment1.fc.weight "
                           "moment1.fc.bias "
                           "moment2.fc.weight moment2.fc.bias"),
    (lambda p: nn.SGD(p), "global_step learning_rate fc.weight fc.bias momentum accum.fc.weight accum.fc.bias "
                          "stat.fc.weight stat.fc.bias")])
def test_parameters_have_mindspores_names_and_order(make, names):
    assert [p.name for p in make(_params()).get_parameters()] == names.split()


def test_groups_have_rates_and_decay_of_their_own():
    weight, bias = _params()
    step = nn.SGD([{"params": [weight], "lr": 0.5, "weight_decay": 0.1}, {"params": [bias]},
                   {"order_params": [bias, weight]}], 0.25)
    assert [p.name for p in step.parameters] == ["fc.bias", "fc.weight"]
    step((_grads()[1], _grads()[0]))
    np.testing.assert_allclose(bias.asnumpy(), [0.75, 0.75])
    np.testing.assert_allclose(weight.asnumpy(), np.array([[1., 2], [3, 4]]) * 0.95 - 0.5, rtol=1e-6)
    assert float(step.get_lr_parameter(weight)) == 0.5 and float(step.get_lr_parameter(bias)) == 0.25


def test_names_with_beta_and_gamma_do_not_decay():
    gamma, weight = Parameter(Tensor([2.0]), name="bn.gamma"), Parameter(Tensor([2.0]), name="fc.weight")
    nn.SGD([gamma, weight], 1.0, weight_decay=0.5)((Tensor([0.0]), Tensor([0.0])))
    assert gamma.asnumpy() == 2 and weight.asnumpy() == 1


def test_decay_can_follow_the_step():
    class Decay(nn.Cell):
        def construct(self, step):
            return (step + 1).astype(ms.float32) * 0.1
    weight = Parameter(Tensor([1.0]), name="w")
    step = nn.Momentum([weight], 1.0, 0.0, weight_decay=Decay())
    step((Tensor([0.0]),))
    np.testing.assert_allclose(weight.asnumpy(), [0.9], rtol=1e-6)
    step((Tensor([0.0]),))
    np.testing.assert_allclose(weight.asnumpy(), [0.9 * 0.8], rtol=1e-6)


def test_rates_per_step_come_in_order():
    weight = Parameter(Tensor([0.0]), name="w")
    step = nn.SGD([weight], [1.0, 0.5])
    seen = []
    for _ in range(2):
        step((Tensor([1.0]),))
        seen.append(float(weight.asnumpy()[0]))
    assert seen == [-1.0, -1.5] and step.global_step.asnumpy() == 2


def test_loss_scale_divides_gradients_but_not_decay():
    for scale in (1.0, 64.0):
        weight = Parameter(Tensor([1.0]), name="w")
        nn.SGD([weight], 0.5, weight_decay=0.5, loss_scale=scale)((Tensor([scale]),))
        assert float(weight.asnumpy()[0]) == 0.25


def test_gradients_are_centred_over_all_but_the_first_dimension():
    weight = Parameter(Tensor(np.zeros((2, 16), "f4")), name="w")
    gradient = np.arange(32, dtype="f4").reshape(2, 16)
    nn.SGD([{"params": [weight], "grad_centralization": True}], 1.0)((Tensor(gradient),))
    np.testing.assert_allclose(weight.asnumpy(), gradient.mean(1, keepdims=True) - gradient, rtol=1e-6)


def test_nesterov_looks_ahead():
    weight = Parameter(Tensor([0.0]), name="w")
    nn.SGD([weight], 0.1, 0.9, nesterov=True)((Tensor([1.0]),))
    np.testing.assert_allclose(weight.asnumpy(), [-0.19], rtol=1e-6)


def test_momentum_takes_nesterov_without_effect_as_mindspore_on_a_cpu():
    weight = Parameter(Tensor([0.0]), name="w")
    nn.Momentum([weight], 0.1, 0.9, use_nesterov=True)((Tensor([1.0]),))
    np.testing.assert_allclose(weight.asnumpy(), [-0.1], rtol=1e-6)


def test_half_precision_parameters_keep_their_dtype():
    for dtype in (ms.float16, ms.bfloat16):
        weight = Parameter(Tensor([1.0, 2.0], dtype), name="w")
        step = nn.Adam([weight], 0.5)
        step((Tensor([1.0, -1.0]),))
        assert weight.dtype == dtype and step.moment1[0].dtype == dtype
        np.testing.assert_allclose(weight.astype(ms.float32).asnumpy(), [0.5, 2.5], rtol=1e-2)


def test_lars_scales_by_the_share_of_lengths():
    weight, bias = _params()
    step = nn.LARS(nn.Momentum([weight, bias], 1.0, 0.0, weight_decay=0.5), epsilon=0.0, coefficient=0.1)
    before = weight.asnumpy().copy()
    step(_grads())
    length, size = np.linalg.norm(before), 2.0
    np.testing.assert_allclose(weight.asnumpy(), before - 0.1 * length / (size + 0.5 * length) * (1 + 0.5 * before),
                               rtol=1e-5)
    np.testing.assert_allclose(bias.asnumpy(), [0, 0])     # filtered out: neither scaled nor decayed
    assert step.global_step.asnumpy() == 1


@pytest.mark.parametrize("make, error, text", [
    (lambda p: nn.SGD([], 0.1), ValueError, "empty"), (lambda p: nn.SGD(None, 0.1), ValueError, "None"),
    (lambda p: nn.SGD([Tensor([1.0])], 0.1), TypeError, "Parameters"), (lambda p: nn.SGD(p, -1.0), ValueError, "-1.0"),
    (lambda p: nn.SGD(p, 0.1, nesterov=True), ValueError, "momentum"), (lambda p: nn.Momentum(p, 0.1, 1), TypeError,
                                                                        "float"),
    (lambda p: nn.Adam(p, beta1=1.0), ValueError, "beta1"), (lambda p: nn.Adam(p, use_lazi=True), KeyError, "use_lazi"),
    (lambda p: nn.Adam(p, use_lazy=True, use_amsgrad=True), ValueError, "only one"),
    (lambda p: nn.SGD([{"params": p, "no": 1}]), KeyError, "no"), (lambda p: nn.SGD([{"params": p}, {"params": p}]),
                                                                   RuntimeError, "twice"),
    (lambda p: nn.SGD(p, loss_scale=0.0), ValueError, "loss_scale"), (lambda p: nn.SGD(p, weight_decay="a"), TypeError,
                                                                      "weight_decay"),
    (lambda p: nn.FTRL(p, learning_rate=[0.1, 0.2]), ValueError, "fixed"), (lambda p: nn.Rprop(p, etas=(0.5, 0.9)),
                                                                            ValueError, "etas"),
    (lambda p: nn.SGD(p)((Tensor([1.0]),)), RuntimeError, "one gradient per parameter"),
                                               (lambda p: nn.SGD(p)(1), TypeError, "tuple"),
    (lambda p: nn.SGD(p)((Tensor([1.0]), Tensor([1.0]))), ValueError, "shape")])
def test_refuses_with_a_reason(make, error, text):
    with pytest.raises(error, match=text):
        make(_params())


def test_target_is_the_cpu():
    step = nn.Adam(_params())
    step.target = "CPU"
    with pytest.raises(ValueError, match="GPU"):
        step.target = "GPU"


def test_schedules_over_tensors_of_steps():
    steps = Tensor(np.arange(4), ms.int32)
    np.testing.assert_allclose(nn.WarmUpLR(0.4, 2)(steps).asnumpy(), [0, 0.2, 0.4, 0.4], rtol=1e-6)
    with pytest.raises(ValueError, match="max_lr"):
        nn.CosineDecayLR(0.2, 0.1, 4)


# --- many rows in one call -------------------------------------------------------------------------------------------

def test_apply_each_takes_columns_and_single_operands():
    columns = ([Tensor([1.0]), Tensor([2.0])], 3.0)
    assert [float(t) for t in _core.apply_each("mul", columns)] == [3.0, 6.0]
    assert _core.apply_each("assign_add", ((Tensor([1.0]),), (Tensor([1.0]),))) is None


@pytest.mark.parametrize("columns, error, text", [
    (((Tensor([1.0]),), (Tensor([1.0]), Tensor([1.0]))), ValueError, "2 entries"),
    ((Tensor([1.0]), 2.0), TypeError, "tuple or a list"),
    (((Tensor([1.0]),),), TypeError, "2 inputs"), ((("a",), 1.0), TypeError, "Tensor or a number")])
def test_apply_each_refuses(columns, error, text):
    with pytest.raises(error, match=text):
        _core.apply_each("mul", columns)


def test_apply_each_names_the_operator_and_attribute():
    with pytest.raises(NotImplementedError, match="no_such"):
        _core.apply_each("no_such", ((Tensor([1.0]),),))
    with pytest.raises(TypeError, match="speed"):
        _core.apply_each("mul", ((Tensor([1.0]),), 2.0), {"speed": 1})


def test_a_step_over_many_parameters_costs_little():
    params = [Parameter(Tensor(np.ones(4, "f4")), name=f"w{i}") for i in range(400)]
    gradients = tuple(Tensor(np.ones(4, "f4")) for _ in params)
    step = nn.Momentum(params, 0.1, 0.9)
    step(gradients)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        step(gradients)
        times.append(time.perf_counter() - start)
    assert min(times) < 400 * 20e-6, f"{min(times) * 1e6 / 400:.1f} us a parameter"


def test_a_list_of_learning_rates_answers_in_the_shape_of_the_step():
    step = nn.Momentum([ms.Parameter(ms.Tensor([1.0]), name="w")], [0.1, 0.2, 0.3], 0.9)
    assert step.learning_rate(step.global_step).shape == (1,)
    assert step.learning_rate(ms.Tensor((1,), ms.int32))[0] == ms.Tensor(0.2)
    assert step.get_lr().shape == ()

# SPDX-License-Identifier: Apache-2.0
"""experimental.optim: six steps with the results MindSpore 2.10 has, and schedulers with its learning rates."""
import json

import numpy as np
import pytest

import record_optim_rules
import spore as ms
from spore import Parameter, Tensor
from spore.experimental import optim
from spore.experimental.optim import lr_scheduler as rates


def make_params():
    return [Parameter(Tensor([1.0, -2.0, 3.0]), name="w"), Parameter(Tensor([0.5]), name="b")]


def run(make, scheduler=None):
    """Both parameters after six steps, and the first group's learning rate after each."""
    params = make_params()
    step = make(params)
    schedule = scheduler(step) if scheduler else None
    seen = []
    for k in range(6):
        step((Tensor(np.array([.5, -1, .2], "f4") * (k + 1)), Tensor(np.array([.3], "f4") * (1 - k))))
        if schedule:
            schedule.step()
        seen.append(float(step.param_groups[0]["lr"]))
    return [*params[0].asnumpy(), *params[1].asnumpy()], seen


@pytest.mark.parametrize("make, wanted", [
    (lambda p: optim.SGD(p, 0.1, momentum=.9, weight_decay=.01), [-1.4889, 2.97781, 1.95824, 0.90759]),
    (lambda p: optim.SGD(p, 0.1, momentum=.9, nesterov=True, maximize=True), [4.27898, -8.55795, 4.31159, -0.14458]),
    (lambda p: optim.Adam(p, 0.1, weight_decay=.1), [0.413, -1.4132, 2.40103, 0.50055]),
    (lambda p: optim.AdamW(p, 0.1, weight_decay=.1), [0.37318, -1.31466, 2.25614, 0.51856]),
    (lambda p: optim.AdamW(p, 0.1, amsgrad=True, eps=1e-2), [0.41855, -1.40968, 2.41501, 0.54191]),
    (lambda p: optim.Adam([{"params": p[:1], "lr": 0.01}, {"params": p[1:]}], 0.1), [0.94173, -1.94173, 2.94173,
                                                                                     0.54225])])
def test_six_steps(make, wanted):
    np.testing.assert_allclose(run(make)[0], wanted, atol=2e-5)


@pytest.mark.parametrize("make, wanted", [
    (lambda o: rates.StepLR(o, 2, .5), [0.1, 0.05, 0.05, 0.025, 0.025, 0.0125]),
    (lambda o: rates.MultiStepLR(o, [1, 3, 3], .5), [0.05, 0.05, 0.0125, 0.0125, 0.0125, 0.0125]),
    (lambda o: rates.ExponentialLR(o, .5), [0.05, 0.025, 0.0125, 0.00625, 0.003125, 0.0015625]),
    (lambda o: rates.LinearLR(o, .25, 1., 4), [0.04375, 0.0625, 0.08125, 0.1, 0.1, 0.1]),
    (lambda o: rates.ConstantLR(o, .5, 3), [0.05, 0.05, 0.1, 0.1, 0.1, 0.1]),
    (lambda o: rates.PolynomialLR(o, 4, 2.), [0.05625, 0.025, 0.00625, 0, 0, 0]),
    (lambda o: rates.LambdaLR(o, lambda epoch: .9 ** epoch), [0.09, 0.081, 0.0729, 0.06561, 0.059049, 0.0531441]),
    (lambda o: rates.MultiplicativeLR(o, lambda epoch: .9), [0.09, 0.081, 0.0729, 0.06561, 0.059049, 0.0531441]),
    (lambda o: rates.CosineAnnealingLR(o, 4, .01), [0.08682, 0.055, 0.02318, 0.01, 0.02318, 0.055]),
    (lambda o: rates.SequentialLR(o, [rates.ConstantLR(o, .1, 2), rates.ExponentialLR(o, .9)], [3]),
     [0.01, 0.1, 0.1, 0.09, 0.081, 0.0729])])
def test_schedulers(make, wanted):
    np.testing.assert_allclose(run(lambda p: optim.SGD(p, 0.1), make)[1], wanted, atol=1e-6)


def test_reduce_on_plateau_waits_and_cools_down():
    step = optim.SGD(make_params(), 1.0)
    plateau = rates.ReduceLROnPlateau(step, factor=0.5, patience=1, cooldown=1)
    seen = []
    for value in (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5):
        plateau.step(value)
        seen.append(plateau.get_last_lr()[0])
    assert seen == [1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25]


def test_rates_can_be_changed_by_hand_and_are_shown():
    params = make_params()
    step = optim.SGD(params, 1.0)
    ms.ops.assign(step.param_groups[0]["lr"], Tensor(0.5))
    step((Tensor([1.0, 1.0, 1.0]), Tensor([1.0])))
    assert params[1].asnumpy() == 0.0
    assert "lr: 0.5" in repr(step) and repr(step).startswith("SGD (\nParameter Group 0\n")


@pytest.mark.parametrize("make, error, text", [
    (lambda p: optim.SGD([], 0.1), ValueError, "empty"), (lambda p: optim.SGD(p, -0.1), ValueError, "lr"),
    (lambda p: optim.SGD(p, 0.1, nesterov=True), ValueError, "nesterov"), (lambda p: optim.Adam(p, betas=(1.0, 0.9)),
                                                                           ValueError, "betas"),
    (lambda p: optim.Adam([{"params": p}, {"params": p}]), ValueError, "more than one group"),
    (lambda p: optim.SGD([Tensor([1.0])], 0.1), TypeError, "Parameters"), (lambda p: optim.SGD(p, 0.1)((1,)),
                                                                           RuntimeError, "one gradient"),
    (lambda p: rates.StepLR(1, 2), TypeError, "optimizer"), (lambda p: rates.LinearLR(optim.SGD(p, 1.0), 0.0),
                                                             ValueError, "start_factor"),
    (lambda p: rates.ReduceLROnPlateau(optim.SGD(p, 1.0), mode="up"), ValueError, "mode")])
def test_refuses_with_a_reason(make, error, text):
    with pytest.raises(error, match=text):
        make(make_params())


@pytest.mark.parametrize("call", record_optim_rules.CALLS)
def test_rules_equal_mindspore(call):
    wanted = json.loads(record_optim_rules.DATA.read_text(encoding="utf-8"))[call]
    np.testing.assert_allclose(record_optim_rules.run("spore", call), wanted, rtol=2e-5, atol=1e-6)


def test_rules_refuse_bad_settings():
    w = Parameter(Tensor([1.0]), name="w")
    for make, name in ((lambda: optim.RMSprop([w], alpha=-1.0), "alpha"), (lambda: optim.Adamax([w], betas=(0.9, 1.0)), "betas"),
                       (lambda: optim.Adagrad([w], lr=-0.1), "lr")):
        with pytest.raises(ValueError, match=name):
            make()

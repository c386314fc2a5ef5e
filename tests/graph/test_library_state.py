# SPDX-License-Identifier: Apache-2.0
"""Objects of the library with plain Python state (counters, sums, scales), changed inside compiled functions: every run changes them, as every
call does in eager mode."""
import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn
from spore.experimental import optim
from spore.train import DynamicLossScaleManager

RATES = optim.lr_scheduler
SCHEDULERS = {
    "StepLR": lambda o: RATES.StepLR(o, 2, 0.5),
    "MultiStepLR": lambda o: RATES.MultiStepLR(o, [1, 3], 0.5),
    "ExponentialLR": lambda o: RATES.ExponentialLR(o, 0.5),
    "LinearLR": lambda o: RATES.LinearLR(o, 0.5, 1.0, 3),
    "ConstantLR": lambda o: RATES.ConstantLR(o, 0.5, 3),
    "PolynomialLR": lambda o: RATES.PolynomialLR(o, 4, 2.0),
    "LambdaLR": lambda o: RATES.LambdaLR(o, lambda epoch: 0.5 ** epoch),
    "MultiplicativeLR": lambda o: RATES.MultiplicativeLR(o, lambda epoch: 0.5),
    "CosineAnnealingLR": lambda o: RATES.CosineAnnealingLR(o, 4),
    "CosineAnnealingWarmRestarts": lambda o: RATES.CosineAnnealingWarmRestarts(o, 2),
    "CyclicLR": lambda o: RATES.CyclicLR(o, 0.1, 1.0, 2),
    "SequentialLR": lambda o: RATES.SequentialLR(o, [RATES.ConstantLR(o, 0.1, 2), RATES.ExponentialLR(o, 0.5)], [2]),
    "ReduceLROnPlateau": lambda o: RATES.ReduceLROnPlateau(o, "min", 0.5, 0),
}


def made(name):
    optimizer = optim.SGD([Parameter(Tensor([1.0]), name="w")], lr=1.0)
    return optimizer, SCHEDULERS[name](optimizer), (Tensor(3.0),) if name == "ReduceLROnPlateau" else ()


def run(name, wrap):
    """What five calls see of the rate, and the rate after each."""
    optimizer, scheduler, given = made(name)

    def step(x):
        scheduler.step(*given)
        return x * optimizer.param_groups[0]["lr"]
    step, seen = wrap(step), []
    for _ in range(5):
        value = step(Tensor([1.0]))
        seen.append((round(float(value[0]), 6), round(float(optimizer.param_groups[0]["lr"]), 6), int(scheduler.last_epoch)))
    return seen


def as_cell(function):
    class Net(nn.Cell):
        def construct(self, x):
            return function(x)
    return Net()


def test_every_scheduler_is_asked():
    assert set(SCHEDULERS) == set(RATES.__all__) - {"LRScheduler"}


@pytest.mark.parametrize("name", sorted(SCHEDULERS))
def test_schedulers_step_once_a_run(name):
    eager = run(name, lambda f: f)
    assert run(name, ms.jit) == eager
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert run(name, as_cell) == eager
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_scheduler_alone():
    """Nothing of the program reads the rate."""
    optimizer, scheduler, _ = made("ExponentialLR")

    @ms.jit
    def step(x):
        scheduler.step()
        return x * 2
    for count in range(1, 5):
        step(Tensor([1.0]))
        assert float(optimizer.param_groups[0]["lr"]) == 0.5 ** count and scheduler.last_epoch == count


def test_loss_scales():
    def scales(wrap):
        manager, seen = DynamicLossScaleManager(1024, 2, 3), []

        def step(x):
            manager.update_loss_scale(False)
            return x * manager.get_loss_scale()
        step = wrap(step)
        for _ in range(7):
            seen.append((float(step(Tensor(1.0))), manager.get_loss_scale()))
        return seen
    assert scales(ms.jit) == scales(lambda f: f)


METRICS = {
    "Accuracy": (lambda: nn.Accuracy("classification"), (np.eye(3, dtype=np.float32), np.array([0, 1, 1], np.int32))),
    "Loss": (nn.Loss, (np.array([0.25], np.float32),)),
    "MAE": (nn.MAE, (np.array([1.0, 2.0], np.float32), np.array([1.5, 2.0], np.float32))),
    "Precision": (lambda: nn.Precision("classification"), (np.eye(3, dtype=np.float32), np.array([0, 1, 1], np.int32))),
    "Perplexity": (nn.Perplexity, (np.array([[0.25, 0.75]], np.float32), np.array([1], np.int32))),
}


@pytest.mark.parametrize("name", sorted(METRICS))
def test_metrics_count_every_run(name):
    def counted(wrap):
        make, arrays = METRICS[name]
        metric = make()
        metric.clear()

        def step(*given):
            metric.update(*given)
            return given[0] * 2
        step = wrap(step)
        for _ in range(3):
            step(*[Tensor(a) for a in arrays])
        return np.asarray(metric.eval()), {k: np.asarray(v) for k, v in vars(metric).items() if isinstance(v, (int, float, np.ndarray))}
    eager, compiled = counted(lambda f: f), counted(ms.jit)
    np.testing.assert_equal(compiled, eager)

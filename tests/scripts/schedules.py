# SPDX-License-Identifier: Apache-2.0
"""Learning rates: lists and schedules, groups with their own, the torch-like ones; gradients clipped and accumulated."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.experimental import optim

random = np.random.RandomState(0)
X, Y = Tensor(random.rand(8, 4).astype(np.float32)), Tensor(random.rand(8, 2).astype(np.float32))


def fresh():
    net, numbers = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 2)), np.random.RandomState(1)
    for parameter in net.get_parameters():
        parameter.set_data(Tensor(0.4 * numbers.randn(*parameter.shape).astype(np.float32)))
    return net


def train(name, make):
    net = fresh()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), make(net.trainable_params()))
    print(name, " ".join(f"{float(step(X, Y).asnumpy()):.5f}" for _ in range(5)))


def named(net, part):
    return [parameter for parameter in net if part in parameter.name]


class Harmonic(nn.learning_rate_schedule.LearningRateSchedule):
    def construct(self, step):
        return 0.1 / (step + 1)


SCHEDULES = {
    "exponential": nn.ExponentialDecayLR(0.1, 0.9, 2), "natural": nn.NaturalExpDecayLR(0.1, 0.9, 2, True),
    "inverse": nn.InverseDecayLR(0.1, 0.5, 2, True), "cosine": nn.CosineDecayLR(0.01, 0.1, 4),
    "polynomial": nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5), "warm-up": nn.WarmUpLR(0.1, 3), "own": Harmonic()}
for name, schedule in SCHEDULES.items():
    print(name, " ".join(f"{float(schedule(Tensor(i, ms.int32)).asnumpy()):.6f}" for i in range(6)))
    train(name, lambda parameters: nn.Momentum(parameters, schedule, 0.9))
for rates in (nn.piecewise_constant_lr([2, 5], [0.1, 0.05]), nn.exponential_decay_lr(0.1, 0.9, 6, 2, 1, True),
              nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 1), nn.inverse_decay_lr(0.1, 0.5, 6, 1, 1),
              nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2), nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5), nn.warmup_lr(0.1, 6, 2, 2)):
    print(" ".join(f"{rate:.6f}" for rate in rates))
    train("list", lambda parameters: nn.SGD(parameters, rates + [rates[-1]]))
train("groups", lambda parameters: nn.Adam([
    {"params": named(parameters, "weight"), "lr": 0.05, "weight_decay": 0.01}, {"params": named(parameters, "bias"), "lr": 0.01},
    {"order_params": parameters}], learning_rate=0.1))
train("centralised", lambda parameters: nn.SGD([{"params": named(parameters, "weight"), "grad_centralization": True},
                                               {"params": named(parameters, "bias")}], 0.1))

net = fresh()
optimizer = nn.Adam(net.trainable_params(), nn.cosine_decay_lr(0.0, 0.1, 4, 2, 2))
gradients = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, optimizer.parameters)
for _ in range(3):
    loss, grads = gradients(X, Y)
    optimizer(grads)
    print(f"{float(loss.asnumpy()):.5f} {float(optimizer.get_lr().asnumpy()):.6f}", optimizer.global_step.asnumpy().tolist())

net = fresh()
optimizer = optim.SGD(net.trainable_params(), lr=0.1, momentum=0.9)
scheduler = optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
gradients = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, net.trainable_params())
for _ in range(3):
    loss, grads = gradients(X, Y)
    optimizer(grads)
    scheduler.step()
    print(f"{float(loss.asnumpy()):.5f}", " ".join(f"{float(rate):.6f}" for rate in scheduler.get_last_lr()))

net = fresh()
optimizer = nn.SGD(net.trainable_params(), 0.1)
kept = optimizer.parameters.clone(prefix="kept", init="zeros")
gradients = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, optimizer.parameters)
each, add, clear = ops.HyperMap(), ops.MultitypeFuncGraph("add"), ops.MultitypeFuncGraph("clear")


@add.register("Tensor", "Tensor")
def _add(total, grad):
    return ops.assign_add(total, grad)


@clear.register("Tensor")
def _clear(total):
    return ops.assign(total, ops.zeros_like(total))


for i in range(4):
    loss, grads = gradients(X[2 * i:2 * i + 2], Y[2 * i:2 * i + 2])
    each(add, kept, ops.clip_by_global_norm(grads, 0.5))
    if i % 2 == 1:
        optimizer(tuple(kept))
        each(clear, kept)
    print(f"{float(loss.asnumpy()):.5f} {float(net[0].weight.asnumpy().sum()):.5f}", [parameter.name for parameter in kept])

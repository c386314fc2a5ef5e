# SPDX-License-Identifier: Apache-2.0
"""Optimizers written by users: subclasses of nn.Optimizer with HyperMap and MultitypeFuncGraph, lookahead, EMA, grouped rates."""
import numpy as np

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops import operations as P

_lion_opt = C.MultitypeFuncGraph("lion_opt")


@_lion_opt.register("Tensor", "Tensor", "Number", "Tensor", "Tensor", "Tensor", "Tensor")
def _update_run_op(beta1, beta2, weight_decay, lr, param, m, gradient):
    update = ops.sign(m * beta1 + gradient * (1 - beta1)) + weight_decay * param
    F.assign(m, m * beta2 + gradient * (1 - beta2))
    return F.depend(True, F.assign(param, param - lr * update))


class Lion(Optimizer):
    @opt_init_args_register
    def __init__(self, params, learning_rate=1e-2, beta1=0.9, beta2=0.99, weight_decay=0.0, loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1, self.beta2 = Tensor(beta1, ms.float32), Tensor(beta2, ms.float32)
        self.moments = self.parameters.clone(prefix="lion_m", init="zeros")
        self.hyper_map = C.HyperMap()
        self.decay = float(weight_decay)

    def construct(self, gradients):
        gradients = self.flatten_gradients(gradients)
        gradients = self.gradients_centralization(gradients)
        gradients = self.scale_grad(gradients)
        lr = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        if self.is_group_lr:
            return self.hyper_map(F.partial(_lion_opt, self.beta1, self.beta2, self.decay), lr, self.parameters, self.moments, gradients)
        return self.hyper_map(F.partial(_lion_opt, self.beta1, self.beta2, self.decay, lr), self.parameters, self.moments, gradients)


class PlainSGD(nn.Optimizer):
    def __init__(self, params, learning_rate, momentum=0.9):
        super().__init__(learning_rate, params)
        self.momentum = Parameter(Tensor(momentum, ms.float32), name="momentum")
        self.velocity = self.parameters.clone(prefix="v", init="zeros")

    def construct(self, gradients):
        lr = self.get_lr()
        params = self.parameters
        for i in range(len(params)):
            ops.assign(self.velocity[i], self.velocity[i] * self.momentum + gradients[i])
            update = params[i] - self.velocity[i] * lr
            ops.assign(params[i], update)
        return params


class EMA(nn.Cell):
    def __init__(self, network, decay=0.9):
        super().__init__(auto_prefix=False)
        self.net_weight = ParameterTuple(network.trainable_params())
        self.ema_weight = self.net_weight.clone("ema", init="same")
        self.decay = decay
        self.hyper_map = C.HyperMap()

    def construct(self):
        def average(ema, weight):
            return ops.assign(ema, ema * self.decay + weight * (1 - self.decay))
        return self.hyper_map(average, self.ema_weight, self.net_weight)


def fresh():
    random = np.random.RandomState(4)
    net = nn.SequentialCell(nn.Dense(3, 5, activation=nn.ReLU()), nn.Dense(5, 1))
    for p in net.get_parameters():
        p.set_data(Tensor(random.normal(0, 0.6, p.shape).astype(np.float32)))
    return net


random = np.random.RandomState(0)
x = Tensor(random.randn(16, 3).astype(np.float32))
y = Tensor((x.asnumpy() ** 2).sum(1, keepdims=True))


def optimise(make, steps=4):
    net = fresh()
    optimizer = make(net)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    losses = [float(train(x, y)) for _ in range(steps)]
    return [round(v, 5) for v in losses], optimizer


for make in (lambda n: Lion(n.trainable_params(), 0.05, weight_decay=0.01),
             lambda n: Lion([{"params": [n[0].weight], "lr": 0.1}, {"params": [p for p in n.trainable_params() if p is not n[0].weight]}], 0.01),
             lambda n: PlainSGD(n.trainable_params(), 0.01),
             lambda n: nn.Momentum([{"params": n[0].trainable_params(), "lr": nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)},
                                    {"params": n[1].trainable_params(), "lr": 0.01, "weight_decay": 0.1}], 0.02, 0.9),
             lambda n: nn.AdaMax(n.trainable_params(), 0.05),
             lambda n: nn.FTRL(n.trainable_params(), learning_rate=0.3, l1=0.001),
             lambda n: nn.ASGD(n.trainable_params(), 0.01),
             lambda n: nn.Rprop(n.trainable_params(), 0.01),
             lambda n: nn.ProximalAdagrad(n.trainable_params(), learning_rate=0.1),
             lambda n: nn.LazyAdam(n.trainable_params(), learning_rate=0.05),
             lambda n: nn.AdamOffload(n.trainable_params(), learning_rate=0.05),
             lambda n: nn.Adadelta(n.trainable_params(), 1.0)):
    losses, optimizer = optimise(make)
    print(type(optimizer).__name__, losses, int(optimizer.global_step.asnumpy().ravel()[0]) if hasattr(optimizer, "global_step") else "")
net = fresh()
ema = EMA(net)
net[0].weight.set_data(net[0].weight * 2)
ema()
print(ema.ema_weight[0].name, float(ema.ema_weight[0].sum()), float(net[0].weight.sum()))
lion = Lion(net.trainable_params(), nn.cosine_decay_lr(0.0, 0.1, 4, 2, 2))
print([p.name for p in lion.get_parameters()][:3], lion.get_lr_parameter(net[0].weight).shape, lion.init_learning_rate)

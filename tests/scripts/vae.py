# SPDX-License-Identifier: Apache-2.0
"""Variational auto-encoder: a loss cell with several terms, noise as an input, generation from the prior."""
import numpy as np

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Parameter, ParameterTuple, Tensor
from mindspore.ops import composite as C


class VAE(nn.Cell):
    def __init__(self, image=36, hidden=16, latent=3):
        super().__init__()
        self.encoder = nn.SequentialCell([nn.Dense(image, hidden), nn.ReLU()])
        self.mu, self.log_var = nn.Dense(hidden, latent), nn.Dense(hidden, latent)
        self.decoder = nn.SequentialCell([nn.Dense(latent, hidden), nn.ELU(), nn.Dense(hidden, image)])
        self.beta = Parameter(Tensor(0.5, ms.float32), name="beta", requires_grad=False)
        self.exp = ops.Exp()
        self.sigmoid = ops.Sigmoid()

    def reparameterise(self, mu, log_var, eps):
        return mu + self.exp(0.5 * log_var) * eps

    def construct(self, x, eps):
        h = self.encoder(x.reshape((x.shape[0], -1)))
        mu, log_var = self.mu(h), self.log_var(h)
        return self.decoder(self.reparameterise(mu, log_var, eps)), mu, log_var

    def sample(self, z):
        return self.sigmoid(self.decoder(z))


class Elbo(nn.Cell):
    def __init__(self, net):
        super().__init__(auto_prefix=False)
        self.net = net
        self.rec = nn.BCEWithLogitsLoss(reduction='sum')

    def construct(self, x, eps):
        logits, mu, log_var = self.net(x, eps)
        rec = self.rec(logits, x.reshape(logits.shape))
        kl = -0.5 * ops.ReduceSum()(1 + log_var - mu ** 2 - ops.exp(log_var))
        return (rec + self.net.beta * kl) / x.shape[0]


class TrainOneStep(nn.Cell):
    def __init__(self, network, optimizer):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.weights = ParameterTuple(network.trainable_params())
        self.optimizer = optimizer
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.sens = 1.0

    def construct(self, *inputs):
        loss = self.network(*inputs)
        sens = ops.Fill()(ops.DType()(loss), ops.Shape()(loss), self.sens)
        grads = self.grad(self.network, self.weights)(*inputs, sens)
        return ops.functional.depend(loss, self.optimizer(grads))


random = np.random.RandomState(6)
net = VAE()
for p in net.trainable_params():
    p.set_data(Tensor(random.normal(0, 0.2, p.shape).astype(np.float32)))
images = (random.rand(8, 1, 6, 6) > 0.6).astype(np.float32)
step = TrainOneStep(Elbo(net), nn.Adagrad(net.trainable_params(), learning_rate=0.1, weight_decay=1e-4))
step.set_train()
for epoch in range(6):
    loss = step(Tensor(images), Tensor(random.randn(8, 3).astype(np.float32)))
    print(epoch, loss)
picture = net.sample(Tensor(random.randn(2, 3).astype(np.float32)))
print(picture.shape, picture[0, :5])
print(len(step.weights), [p.name for p in net.untrainable_params()], net.mu.weight.name)

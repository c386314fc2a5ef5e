# SPDX-License-Identifier: Apache-2.0
"""A network solves the heat equation: u_t = u_xx / pi^2 on a rod whose ends are kept cold, u(x, 0) = sin(pi x).

    python examples/python/heat.py [steps]

Nobody tells the network the solution, exp(-t) sin(pi x). Its loss is how far it is from the equation at points drawn anew in every step: derivatives by
x and t are those of the network at one point (`grad` of `grad`), `vmap` takes them at all points at once, and the gradient by the weights goes through all
of it. The training step is one compiled program.
"""
import sys

import numpy as np

import spore as ms
from spore import nn, ops

PI = float(np.pi)


class Rod(nn.Cell):
    """Temperature at (x, t). The factor x (1 - x) keeps the ends cold, the factor t keeps the beginning as it is."""

    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(2, width), nn.Tanh(), nn.Dense(width, width), nn.Tanh(), nn.Dense(width, 1))

    def construct(self, x, t):
        inside = self.layers(ops.stack((x, t)).reshape(1, 2))[0, 0]
        return ops.sin(PI * x) + t * x * (1 - x) * inside


def main(steps=2000, n_points=128, seed=0):
    ms.set_seed(seed)
    rod, rng = Rod(), np.random.default_rng(seed)
    u_t, u_x = ms.grad(rod, 1), ms.grad(rod, 0)
    u_xx = ms.grad(lambda x, t: u_x(x, t), 0)

    def residual(x, t):
        return u_t(x, t) - u_xx(x, t) / PI ** 2

    everywhere = ms.vmap(residual)

    def loss_of(x, t):
        return (everywhere(x, t) ** 2).mean()

    optimizer = nn.Adam(rod.trainable_params(), nn.exponential_decay_lr(1e-2, 0.3, steps, 1, max(1, steps // 4)))
    with_gradients = ms.value_and_grad(loss_of, None, optimizer.parameters)

    @ms.jit
    def step(x, t):
        loss, gradients = with_gradients(x, t)
        optimizer(gradients)
        return loss

    for i in range(steps):
        x, t = rng.random((2, n_points), dtype=np.float32)
        loss = step(ms.Tensor(x), ms.Tensor(t))
        if i % 500 == 0 or i == steps - 1:
            print(f"step {i:4}  loss {float(loss):.2e}")
    x, t = (a.ravel().astype(np.float32) for a in np.meshgrid(np.linspace(0, 1, 21), np.linspace(0, 1, 21)))
    found = ms.vmap(rod)(ms.Tensor(x), ms.Tensor(t)).asnumpy()
    error = float(abs(found - np.exp(-t) * np.sin(PI * x)).max())
    print(f"largest error {error:.1e}, where temperatures go up to 1")
    return error


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))

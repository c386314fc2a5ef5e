# SPDX-License-Identifier: Apache-2.0
"""A generator and a discriminator with an optimizer each, trained in turn in one step."""
import mindspore as ms
from common import fill, wave
from mindspore import nn, ops


def make_nets():
    generator = nn.SequentialCell(nn.Dense(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dense(8, 6), nn.Tanh())
    discriminator = nn.SequentialCell(nn.Dense(6, 8), nn.LeakyReLU(0.2), nn.Dense(8, 1))
    for prefix, net in (("generator.", generator), ("discriminator.", discriminator)):
        fill(net).set_train()
        for p in net.get_parameters():
            p.name = prefix + p.name
    return generator, discriminator


def make_optimizer(net, prefix):
    """Adam whose own parameters have unique names: MindSpore refuses two optimizers in one graph otherwise."""
    optimizer = nn.Adam(net.trainable_params(), 0.01, beta1=0.5)
    for p in optimizer.get_parameters():
        if not any(p is q for q in optimizer.parameters):
            p.name = prefix + p.name
    return optimizer


def make_step():
    generator, discriminator = make_nets()
    generator_optimizer = make_optimizer(generator, "g.")
    discriminator_optimizer = make_optimizer(discriminator, "d.")
    bce = nn.BCEWithLogitsLoss()

    def generator_loss(noise):
        score = discriminator(generator(noise))
        return bce(score, ops.ones_like(score))

    def discriminator_loss(real, noise):
        true_score = discriminator(real)
        fake_score = discriminator(ops.stop_gradient(generator(noise)))
        return bce(true_score, ops.ones_like(true_score)) + bce(fake_score, ops.zeros_like(fake_score))
    generator_grad = ms.value_and_grad(generator_loss, None, generator_optimizer.parameters)
    discriminator_grad = ms.value_and_grad(discriminator_loss, None, discriminator_optimizer.parameters)

    def step(real, noise):
        d_loss, d_grads = discriminator_grad(real, noise)
        discriminator_optimizer(d_grads)
        g_loss, g_grads = generator_grad(noise)
        generator_optimizer(g_grads)
        return d_loss, g_loss
    return step


BATCHES = [(wave(4, 6, phase=i, scale=0.5), wave(4, 3, phase=i + 0.5)) for i in range(5)]

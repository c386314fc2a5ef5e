# SPDX-License-Identifier: Apache-2.0
"""Two networks that train against each other: transposed convolutions, two optimizers, frozen statistics, samples."""
import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal

ms.set_context(mode=ms.PYNATIVE_MODE)
latent_size, feature_size, channel_size = 6, 4, 1
weight_init = Normal(mean=0, sigma=0.02)
gamma_init = Normal(mean=1, sigma=0.02)


class Generator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.generator = nn.SequentialCell(
            nn.Conv2dTranspose(latent_size, feature_size * 2, 4, 1, pad_mode="valid", weight_init=weight_init),
            nn.BatchNorm2d(feature_size * 2, gamma_init=gamma_init),
            nn.ReLU(),
            nn.Conv2dTranspose(feature_size * 2, feature_size, 4, 2, 'pad', 1, weight_init=weight_init),
            nn.BatchNorm2d(feature_size, gamma_init=gamma_init),
            nn.ReLU(),
            nn.Conv2dTranspose(feature_size, channel_size, 4, 2, 'pad', 1, weight_init=weight_init),
            nn.Tanh())

    def construct(self, x):
        return self.generator(x)


class Discriminator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.discriminator = nn.SequentialCell(
            nn.Conv2d(channel_size, feature_size, 4, 2, 'pad', 1, weight_init=weight_init),
            nn.LeakyReLU(0.2),
            nn.Conv2d(feature_size, feature_size * 2, 4, 2, 'pad', 1, weight_init=weight_init),
            nn.BatchNorm2d(feature_size * 2, gamma_init=gamma_init),
            nn.LeakyReLU(0.2),
            nn.Conv2d(feature_size * 2, 1, 4, 1, 'valid', weight_init=weight_init))
        self.adv_layer = nn.Sigmoid()

    def construct(self, x):
        out = self.discriminator(x)
        out = out.reshape(out.shape[0], -1)
        return self.adv_layer(out)


random = np.random.RandomState(9)
generator, discriminator = Generator(), Discriminator()
for net in (generator, discriminator):
    for p in net.trainable_params():
        p.set_data(Tensor(random.normal(1 if "gamma" in p.name else 0, 0.1, p.shape).astype(np.float32)))
generator.update_parameters_name("generator")
discriminator.update_parameters_name("discriminator")
adversarial_loss = nn.BCELoss(reduction='mean')
optimizer_d = nn.Adam(discriminator.trainable_params(), learning_rate=0.002, beta1=0.5)
optimizer_g = nn.Adam(generator.trainable_params(), learning_rate=0.002, beta1=0.5)
optimizer_g.update_parameters_name("optim_g.")
optimizer_d.update_parameters_name("optim_d.")


def generator_forward(z, valid):
    gen_imgs = generator(z)
    return adversarial_loss(discriminator(gen_imgs), valid), gen_imgs


def discriminator_forward(real_imgs, gen_imgs, valid, fake):
    real_loss = adversarial_loss(discriminator(real_imgs), valid)
    fake_loss = adversarial_loss(discriminator(gen_imgs), fake)
    return (real_loss + fake_loss) / 2


grad_generator_fn = ms.value_and_grad(generator_forward, None, optimizer_g.parameters, has_aux=True)
grad_discriminator_fn = ms.value_and_grad(discriminator_forward, None, optimizer_d.parameters)


@ms.jit
def train_step(imgs, z):
    valid = ops.ones((imgs.shape[0], 1), ms.float32)
    fake = ops.zeros((imgs.shape[0], 1), ms.float32)
    (g_loss, gen_imgs), g_grads = grad_generator_fn(z, valid)
    optimizer_g(g_grads)
    d_loss, d_grads = grad_discriminator_fn(imgs, gen_imgs, valid, fake)
    optimizer_d(d_grads)
    return g_loss, d_loss, gen_imgs


generator.set_train()
discriminator.set_train()
G_losses, D_losses = [], []
for step in range(5):
    images = Tensor(random.rand(4, 1, 16, 16).astype(np.float32) * 2 - 1)
    z = Tensor(random.randn(4, latent_size, 1, 1).astype(np.float32))
    g_loss, d_loss, gen = train_step(images, z)
    D_losses.append(d_loss.asnumpy())
    G_losses.append(g_loss.asnumpy())
    print(f"{step}: D {D_losses[-1]:.5f}, G {G_losses[-1]:.5f}, sample {float(gen.std()):.5f}")
print(sorted(p.name for p in optimizer_g.get_parameters())[:4])
print(generator.generator[1].moving_mean)

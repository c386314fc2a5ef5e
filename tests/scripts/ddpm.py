# SPDX-License-Identifier: Apache-2.0
"""Denoising diffusion: schedules, sinusoidal time embedding, group norm, attention by einsum, an average of weights, sampling."""
import math
from functools import partial

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

random = np.random.RandomState(2)
timesteps = 6


def cosine_beta_schedule(timesteps, s=0.008):
    x = np.linspace(0, timesteps, timesteps + 1).astype(np.float32)
    alphas_cumprod = np.cos(((x / timesteps) + s) / (1 + s) * math.pi * 0.5) ** 2
    alphas_cumprod = alphas_cumprod / alphas_cumprod[0]
    betas = 1 - (alphas_cumprod[1:] / alphas_cumprod[:-1])
    return np.clip(betas, 0.0001, 0.9999)


betas = cosine_beta_schedule(timesteps)
alphas = 1. - betas
alphas_cumprod = np.cumprod(alphas, axis=0)
alphas_cumprod_prev = np.pad(alphas_cumprod[:-1], (1, 0), constant_values=1)
sqrt_recip_alphas = Tensor(np.sqrt(1. / alphas))
sqrt_alphas_cumprod = Tensor(np.sqrt(alphas_cumprod))
sqrt_one_minus_alphas_cumprod = Tensor(np.sqrt(1. - alphas_cumprod))
posterior_variance = betas * (1. - alphas_cumprod_prev) / (1. - alphas_cumprod)


def extract(a, t, x_shape):
    b = t.shape[0]
    out = Tensor(a).gather(t, -1)
    return out.reshape(b, *((1,) * (len(x_shape) - 1)))


class SinusoidalPositionEmbeddings(nn.Cell):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        half_dim = dim // 2
        emb = math.log(10000) / (half_dim - 1)
        self.emb = Tensor(np.exp(np.arange(half_dim) * -emb), ms.float32)

    def construct(self, x):
        emb = x[:, None] * self.emb[None, :]
        return ops.concat((ops.sin(emb), ops.cos(emb)), axis=-1)


class Block(nn.Cell):
    def __init__(self, dim, dim_out, groups=2):
        super().__init__()
        self.proj = nn.Conv2d(dim, dim_out, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.GroupNorm(groups, dim_out)
        self.act = nn.SiLU()

    def construct(self, x, scale_shift=None):
        x = self.norm(self.proj(x))
        if scale_shift is not None:
            scale, shift = scale_shift
            x = x * (scale + 1) + shift
        return self.act(x)


class ResnetBlock(nn.Cell):
    def __init__(self, dim, dim_out, time_emb_dim):
        super().__init__()
        self.mlp = nn.SequentialCell(nn.SiLU(), nn.Dense(time_emb_dim, dim_out * 2))
        self.block1, self.block2 = Block(dim, dim_out), Block(dim_out, dim_out)
        self.res_conv = nn.Conv2d(dim, dim_out, 1, has_bias=True) if dim != dim_out else nn.Identity()

    def construct(self, x, time_emb):
        time_emb = self.mlp(time_emb).expand_dims(-1).expand_dims(-1)
        h = self.block1(x, scale_shift=time_emb.split(time_emb.shape[1] // 2, axis=1))
        return self.block2(h) + self.res_conv(x)


class Attention(nn.Cell):
    def __init__(self, dim, heads=2, dim_head=4):
        super().__init__()
        self.scale, self.heads = dim_head ** -0.5, heads
        self.to_qkv = nn.Conv2d(dim, dim_head * heads * 3, 1, pad_mode='valid', has_bias=False)
        self.to_out = nn.Conv2d(dim_head * heads, dim, 1, pad_mode='valid', has_bias=True)

    def construct(self, x):
        b, _, h, w = x.shape
        qkv = self.to_qkv(x).chunk(3, 1)
        q, k, v = (t.view(b, self.heads, -1, h * w) for t in qkv)
        q = q * self.scale
        sim = ops.bmm(q.swapaxes(2, 3).reshape(b * self.heads, h * w, -1), k.reshape(b * self.heads, -1, h * w))
        attn = ops.softmax(sim - sim.max(axis=-1, keepdims=True), axis=-1).reshape(b, self.heads, h * w, h * w)
        out = ops.matmul(attn, v.swapaxes(2, 3))
        return self.to_out(out.swapaxes(-1, -2).reshape((b, -1, h, w)))


class Residual(nn.Cell):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def construct(self, x, *args, **kwargs):
        return self.fn(x, *args, **kwargs) + x


class Unet(nn.Cell):
    def __init__(self, dim=8, channels=1):
        super().__init__()
        conv = partial(nn.Conv2d, kernel_size=3, pad_mode="same", has_bias=True)
        self.init_conv = conv(channels, dim)
        self.time_mlp = nn.SequentialCell(SinusoidalPositionEmbeddings(dim), nn.Dense(dim, dim * 2), nn.GELU(), nn.Dense(dim * 2, dim * 2))
        self.down = ResnetBlock(dim, dim * 2, dim * 2)
        self.pool = nn.AvgPool2d(2, 2)
        self.mid = Residual(Attention(dim * 2))
        self.up = ResnetBlock(dim * 3, dim, dim * 2)
        self.final = conv(dim, channels)

    def construct(self, x, time):
        x = self.init_conv(x)
        t = self.time_mlp(time.astype(ms.float32))
        h = self.mid(self.pool(self.down(x, t)))
        h = ops.interpolate(h, scale_factor=2.0, mode="nearest", recompute_scale_factor=True)
        return self.final(self.up(ops.cat((h, x), axis=1), t))


def q_sample(x_start, t, noise):
    return extract(sqrt_alphas_cumprod, t, x_start.shape) * x_start + extract(sqrt_one_minus_alphas_cumprod, t, x_start.shape) * noise


model, average = Unet(), Unet()
for p in model.trainable_params():
    if "norm" not in p.name:
        p.set_data(Tensor(random.normal(0, 0.15, p.shape).astype(np.float32)))
ms.load_param_into_net(average, {p.name: Parameter(p.copy(), name=p.name) for p in model.get_parameters()})


def p_losses(x_start, t, noise):
    predicted = model(q_sample(x_start, t, noise), t)
    return ops.smooth_l1_loss(predicted, noise, reduction="none").reshape(x_start.shape[0], -1).mean(axis=1).mean()


optimizer = nn.AdamWeightDecay(model.trainable_params(), learning_rate=0.01)
grad_fn = ms.value_and_grad(p_losses, None, optimizer.parameters, has_aux=False)
model.set_train()
for step in range(4):
    images = Tensor(random.rand(4, 1, 8, 8).astype(np.float32) * 2 - 1)
    t = Tensor(random.randint(0, timesteps, 4), ms.int32)
    loss, grads = grad_fn(images, t, Tensor(random.randn(4, 1, 8, 8).astype(np.float32)))
    optimizer(grads)
    for a, b in zip(average.get_parameters(), model.get_parameters()):
        ops.assign(a, a * 0.9 + b * 0.1)
    print(step, loss, float(average.final.weight.sum()))
average.set_train(False)
img = Tensor(random.randn(1, 1, 8, 8).astype(np.float32))
for i in reversed(range(0, timesteps)):
    t = ms.numpy.full((1,), i, dtype=ms.int32)
    mean = extract(sqrt_recip_alphas, t, img.shape) * (
        img - extract(Tensor(betas), t, img.shape) * average(img, t) / extract(sqrt_one_minus_alphas_cumprod, t, img.shape))
    img = mean if i == 0 else mean + float(np.sqrt(posterior_variance[i])) * Tensor(random.randn(1, 1, 8, 8).astype(np.float32))
print(img.mean(), img.std(), img[0, 0, 0, :3])

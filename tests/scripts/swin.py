# SPDX-License-Identifier: Apache-2.0
"""Shifted windows: partition and reverse, roll, relative position bias as an index, patch merging; loaded from a renamed state."""
import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common import initializer as init
from mindspore.ops import operations as P

random = np.random.RandomState(4)


def to_2tuple(x):
    return x if isinstance(x, tuple) else (x, x)


def window_partition(x, window_size):
    b, h, w, c = x.shape
    x = np.reshape(x, (b, h // window_size, window_size, w // window_size, window_size, c))
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, window_size, window_size, c)


class WindowPartition(nn.Cell):
    def __init__(self, window_size):
        super().__init__()
        self.reshape, self.transpose, self.window_size = P.Reshape(), P.Transpose(), window_size

    def construct(self, x):
        b, h, w, c = x.shape
        s = self.window_size
        x = self.reshape(x, (b, h // s, s, w // s, s, c))
        x = self.transpose(x, (0, 1, 3, 2, 4, 5))
        return self.reshape(x, (b * h * w // (s ** 2), s, s, c))


class WindowReverse(nn.Cell):
    def construct(self, windows, window_size, h, w):
        b = windows.shape[0] // (h * w // window_size // window_size)
        x = ops.reshape(windows, (b, h // window_size, w // window_size, window_size, window_size, -1))
        return ops.reshape(ops.transpose(x, (0, 1, 3, 2, 4, 5)), (b, h, w, -1))


class RelativeBias(nn.Cell):
    def __init__(self, window_size, num_heads):
        super().__init__()
        self.window_size = window_size
        coords = np.stack(np.meshgrid(np.arange(window_size[0]), np.arange(window_size[1]), indexing='ij'))
        flat = coords.reshape(2, -1)
        relative = (flat[:, :, None] - flat[:, None, :]).transpose(1, 2, 0)
        relative[:, :, 0] += window_size[0] - 1
        relative[:, :, 1] += window_size[1] - 1
        relative[:, :, 0] *= 2 * window_size[1] - 1
        self.relative_position_index = Tensor(relative.sum(-1).reshape(-1))
        self.relative_position_bias_table = Parameter(Tensor(
            random.randn((2 * window_size[0] - 1) * (2 * window_size[1] - 1), num_heads), dtype=ms.float32))
        self.one_hot = nn.OneHot(axis=-1, depth=(2 * window_size[0] - 1) * (2 * window_size[1] - 1), dtype=ms.float32)
        self.index = Parameter(self.one_hot(self.relative_position_index), requires_grad=False)

    def construct(self):
        out = ops.matmul(self.index, self.relative_position_bias_table)
        n = self.window_size[0] * self.window_size[1]
        out = P.Reshape()(out, (n, n, -1))
        return ops.expand_dims(P.Transpose()(out, (2, 0, 1)), 0)


class WindowAttention(nn.Cell):
    def __init__(self, dim, window_size, num_heads, qkv_bias=True):
        super().__init__()
        self.num_heads, head_dim = num_heads, dim // num_heads
        self.scale = Tensor(head_dim ** -0.5, ms.float32)
        self.relative_bias = RelativeBias(window_size, num_heads)
        self.q, self.k, self.v = (nn.Dense(dim, dim, has_bias=qkv_bias) for _ in range(3))
        self.proj = nn.Dense(dim, dim)
        self.softmax = nn.Softmax(axis=-1)

    def construct(self, x, mask=None):
        b, n, c = x.shape
        split = lambda t: ops.transpose(ops.reshape(t, (b, n, self.num_heads, c // self.num_heads)), (0, 2, 1, 3))
        q, k, v = split(self.q(x)) * self.scale, split(self.k(x)), split(self.v(x))
        attn = P.BatchMatMul(transpose_b=True)(q, k) + self.relative_bias()
        if mask is not None:
            nw = mask.shape[1]
            attn = P.Reshape()(attn, (b // nw, nw, self.num_heads, n, n)) + mask
            attn = P.Reshape()(attn, (-1, self.num_heads, n, n))
        out = ops.transpose(ops.BatchMatMul()(self.softmax(attn), v), (0, 2, 1, 3))
        return self.proj(ops.reshape(out, (b, n, c)))


class Roll(nn.Cell):
    def __init__(self, shift_size, shift_axis=(1, 2)):
        super().__init__()
        self.shift_size, self.shift_axis = to_2tuple(shift_size), shift_axis

    def construct(self, x):
        return ms.numpy.roll(x, self.shift_size, self.shift_axis)


class SwinBlock(nn.Cell):
    def __init__(self, dim, resolution, num_heads, window_size=4, shift_size=0):
        super().__init__()
        self.resolution, self.window_size, self.shift_size = resolution, window_size, shift_size
        self.norm1 = nn.LayerNorm([dim], epsilon=1e-5)
        self.attn = WindowAttention(dim, to_2tuple(window_size), num_heads)
        self.norm2 = nn.LayerNorm([dim], epsilon=1e-5)
        self.mlp = nn.SequentialCell(nn.Dense(dim, dim * 2), nn.GELU(approximate=False), nn.Dense(dim * 2, dim))
        if shift_size > 0:
            h, w = resolution
            mask = np.zeros((1, h, w, 1))
            count = 0
            for hs in (slice(0, -window_size), slice(-window_size, -shift_size), slice(-shift_size, None)):
                for ws in (slice(0, -window_size), slice(-window_size, -shift_size), slice(-shift_size, None)):
                    mask[:, hs, ws, :] = count
                    count += 1
            windows = window_partition(mask, window_size).reshape(-1, window_size * window_size)
            attn_mask = windows[:, np.newaxis] - windows[:, :, np.newaxis]
            attn_mask = np.expand_dims(np.where(attn_mask == 0, 0.0, -100.0), axis=1)
            self.attn_mask = Parameter(Tensor(np.expand_dims(attn_mask, 0), dtype=ms.float32), requires_grad=False)
            self.roll_pos, self.roll_neg = Roll(shift_size), Roll(-shift_size)
        else:
            self.attn_mask = None
        self.partition, self.reverse = WindowPartition(window_size), WindowReverse()

    def construct(self, x):
        h, w = self.resolution
        b, _, c = x.shape
        shortcut = x
        x = ops.reshape(self.norm1(x), (b, h, w, c))
        if self.shift_size > 0:
            x = self.roll_neg(x)
        windows = ops.reshape(self.partition(x), (-1, self.window_size ** 2, c))
        windows = ops.reshape(self.attn(windows, mask=self.attn_mask), (-1, self.window_size, self.window_size, c))
        x = self.reverse(windows, self.window_size, h, w)
        if self.shift_size > 0:
            x = self.roll_pos(x)
        x = shortcut + ops.reshape(x, (b, h * w, c))
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Cell):
    def __init__(self, resolution, dim):
        super().__init__()
        self.resolution, self.dim = resolution, dim
        self.reduction = nn.Dense(4 * dim, 2 * dim, has_bias=False)
        self.norm = nn.LayerNorm([4 * dim])

    def construct(self, x):
        b = x.shape[0]
        h2, w2 = self.resolution[0] // 2, self.resolution[1] // 2
        x = P.Reshape()(x, (b, h2, 2, w2, 2, self.dim))
        x = P.Transpose()(x, (0, 1, 3, 4, 2, 5))
        return self.reduction(self.norm(P.Reshape()(x, (b, h2 * w2, 4 * self.dim))))


net = nn.SequentialCell(SwinBlock(8, (8, 8), 2), SwinBlock(8, (8, 8), 2, shift_size=2), PatchMerging((8, 8), 8))
for p in net.trainable_params():
    if p.ndim > 1:
        p.set_data(Tensor(random.normal(0, 0.3, p.shape).astype(np.float32)))
    elif p.name.endswith("bias"):
        p.set_data(init.initializer("zeros", p.shape, p.dtype))
x = Tensor(random.randn(2, 64, 8).astype(np.float32))
out = net(x)
print(out.shape, out.mean(), out.std())
grads = ms.grad(lambda x: net(x).pow(2).mean(), 0, net.trainable_params())(x)
print(grads[0].abs().sum(), [round(float(g.abs().mean()), 5) for g in grads[1]][:6])
other = nn.SequentialCell(SwinBlock(8, (8, 8), 2), SwinBlock(8, (8, 8), 2, shift_size=2), PatchMerging((8, 8), 8))
state = {("backbone." + k): v for k, v in net.parameters_dict().items()}
renamed = {k.replace("backbone.", ""): v for k, v in state.items() if "attn_mask" not in k}
missing, unexpected = ms.load_param_into_net(other, renamed)
print(missing, unexpected, np.abs((other(x) - out).asnumpy()).max() < 1e-6)

# SPDX-License-Identifier: Apache-2.0
"""Compiled programs keep images in blocks of channels between convolutions (pass `layout`): bit for bit what eager mode gives."""
import os
import platform
import re

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops
from spore.graph import compiler

HAS_BLOCKS = platform.machine() == "x86_64" and os.environ.get("SPORE_ISA") in (None, "avx2", "avx512")


def conv(inputs, outputs, size=1, stride=1, group=1, dilation=1, bias=False):
    return nn.Conv2d(inputs, outputs, size, stride=stride, pad_mode="pad", padding=dilation * (size // 2), group=group, dilation=dilation,
                     has_bias=bias)


class Norm(nn.BatchNorm2d):
    """With statistics that change something."""

    def __init__(self, channels, rng):
        super().__init__(channels)
        for p in (self.gamma, self.beta, self.moving_mean):
            p.set_data(Tensor(rng.randn(channels).astype(np.float32)))
        self.moving_variance.set_data(Tensor((rng.rand(channels) + 0.5).astype(np.float32)))


class Inverted(nn.Cell):
    def __init__(self, rng, inputs, outputs, stride, factor=4, size=3, bias=False):
        super().__init__()
        width = inputs * factor
        self.body = nn.SequentialCell(conv(inputs, width, bias=bias), Norm(width, rng), nn.ReLU6(), conv(width, width, size, stride, width, bias=bias),
                                      Norm(width, rng), nn.ReLU6(), conv(width, outputs, bias=bias), Norm(outputs, rng))
        self.adds = stride == 1 and inputs == outputs

    def construct(self, x):
        y = self.body(x)
        return x + y if self.adds else y


class Bottleneck(nn.Cell):
    def __init__(self, rng, inputs, width, outputs, stride, bias=False):
        super().__init__()
        self.body = nn.SequentialCell(conv(inputs, width, bias=bias), Norm(width, rng), nn.ReLU(), conv(width, width, 3, stride, bias=bias),
                                      Norm(width, rng), nn.ReLU(), conv(width, outputs), Norm(outputs, rng))
        self.other = nn.SequentialCell(conv(inputs, outputs, 1, stride), Norm(outputs, rng)) if stride > 1 or inputs != outputs else None
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.body(x) + (x if self.other is None else self.other(x)))


class Odd(nn.Cell):
    """What the pass has to leave alone, or to go around: concatenation, values that are used twice, other activations, views."""

    def __init__(self, rng):
        super().__init__()
        self.first, self.second, self.third = conv(3, 24, 3), conv(24, 40, 3, bias=True), conv(64, 17, 1)
        self.norm, self.last = Norm(24, rng), conv(17, 20, 5)
        self.wide = conv(20, 20, 3, dilation=2)

    def construct(self, x):
        a = self.first(x)
        b = ops.gelu(self.norm(a))
        c = self.second(ops.relu(b))
        d = self.third(ops.concat((b, c), 1))
        e = self.last(d * 0.5 + ops.sigmoid(d))
        f = self.wide(e) + e.transpose(0, 1, 3, 2).sum((0, 2, 3)).reshape(1, -1, 1, 1)
        return f, a, e.reshape(e.shape[0], -1).sum(1), ops.relu(e)


class Squeezed(nn.Cell):
    """Widened, filtered, channels weighted by what their means say, narrowed; activations that are no ReLU."""

    def __init__(self, inputs, width, outputs, size, stride, activation, axes=(2, 3)):
        super().__init__()
        self.widen, self.filter, self.narrow = conv(inputs, width, bias=True), conv(width, width, size, stride, width, bias=True), conv(width, outputs, bias=True)
        self.less, self.more, self.activation, self.axes = conv(width, 8, bias=True), conv(8, width, bias=True), activation, axes
        self.adds = stride == 1 and inputs == outputs

    def construct(self, x):
        y = self.activation(self.filter(self.activation(self.widen(x))))
        share = ops.sigmoid(self.more(ops.relu(self.less(y.mean(self.axes, True)))))
        y = self.narrow(share * y if self.adds else y * share)
        return x + y if self.adds else y


def efficient(rng):
    def swish(x):
        return x * ops.sigmoid(x)
    return nn.SequentialCell(conv(3, 16, 3, 2, bias=True), nn.HSwish(), Squeezed(16, 64, 24, 5, 2, swish), Squeezed(24, 72, 24, 5, 1, nn.HSwish(), (-1, -2)),
                             Squeezed(24, 96, 40, 3, 2, swish), Squeezed(40, 40, 40, 3, 1, ops.tanh, (3, 2)), conv(40, 64, 3, bias=True), nn.HSwish(),
                             conv(64, 64, 3), nn.SiLU(), conv(64, 20))


def mobile(rng):
    return nn.SequentialCell(conv(3, 16, 3, 2), Norm(16, rng), nn.ReLU6(), Inverted(rng, 16, 24, 2), Inverted(rng, 24, 24, 1, bias=True),
                             Inverted(rng, 24, 40, 1, size=5), Inverted(rng, 40, 40, 1), Inverted(rng, 40, 64, 2, 3), conv(64, 100), nn.ReLU())


def residual(rng):
    return nn.SequentialCell(conv(3, 32, 7, 2), Norm(32, rng), nn.ReLU(), nn.MaxPool2d(3, 2, "same"), Bottleneck(rng, 32, 32, 96, 1),
                             Bottleneck(rng, 96, 32, 96, 1, bias=True), Bottleneck(rng, 96, 48, 100, 2), Bottleneck(rng, 100, 48, 100, 1))


class Sloped(nn.Cell):
    """A slope for each channel below zero, in all the ways there are; the sum with what was before."""

    def __init__(self, rng, channels, how, size=3):
        super().__init__()
        self.first, self.second, self.how = conv(channels, channels, size, bias=True), conv(channels, channels, size, group=channels), how
        self.slope = ms.Parameter(Tensor((rng.randn(channels) * 0.5).astype(np.float32)), name="slope")

    def bend(self, x):
        if self.how == "prelu":
            return ops.prelu(x, self.slope)
        slope = self.slope.reshape(-1, 1, 1) if self.how == "below" else self.slope.reshape(1, -1, 1, 1)
        scaled = x * slope if self.how == "below" else slope * x
        return ops.select(x < 0, scaled, x) if self.how == "below" else ops.select(x > 0, x, scaled)

    def construct(self, x):
        y = self.bend(self.first(x))
        return self.bend(self.second(y) + x)


class Kept(Sloped):
    """What stands between belongs to others, too."""

    def construct(self, x):
        y = self.first(x)
        scaled = y * self.slope.reshape(-1, 1, 1)
        return ops.select(y < 0, scaled, y) + scaled + ops.select(y < 1, y * self.slope.reshape(-1, 1, 1), y)


def sloped(rng):
    return nn.SequentialCell(conv(3, 32, 3), Sloped(rng, 32, "prelu"), Sloped(rng, 32, "below"), nn.MaxPool2d(2, 2), conv(32, 24), Sloped(rng, 24, "above", 1),
                             Kept(rng, 24, "below"), conv(24, 8))


class Sized(nn.Cell):
    """Larger and smaller, by all kinds of sums, and means over windows."""

    def __init__(self, rng):
        super().__init__()
        self.first, self.second, self.third = conv(3, 24, 3), conv(24, 40, 3, 2, bias=True), conv(40, 24)
        self.last, self.pool, self.padded = conv(24, 20, 3), nn.AvgPool2d(2, 2), nn.AvgPool2d(3, 2, pad_mode="pad", padding=1, ceil_mode=True)

    def construct(self, x):
        a = self.first(x)
        b = self.third(ops.relu(self.second(a)))
        c = ops.interpolate(b, size=a.shape[2:], mode="bilinear", align_corners=False) + a
        d = self.last(c) + ops.interpolate(self.last(self.pool(c)), size=a.shape[2:], mode="bilinear", align_corners=True)
        e = self.last(ops.interpolate(self.padded(c), scale_factor=3.0, recompute_scale_factor=True, mode="nearest"))
        return d, ops.interpolate(e, size=(7, 9), mode="bicubic")


class Padded(nn.Cell):
    """More channels, in whole blocks and not, more rows and columns, images behind each other; a convolution that no blocked kernel takes."""

    def __init__(self, rng):
        super().__init__()
        self.first, self.second, self.wide = conv(3, 32, 3), conv(32, 32, 3, bias=True), conv(64, 64, 3)
        self.valid, self.grouped = nn.Conv2d(64, 64, 3, 2, pad_mode="valid"), nn.Conv2d(64, 64, 3, pad_mode="pad", padding=1, group=4)
        self.joined, self.odd = conv(128, 40), conv(40, 64, 3)
        self.body = nn.CellList([conv(64, 64, 3) for _ in range(3)])

    def chain(self, x):
        for layer in self.body:
            x = ops.relu(layer(x)) + x
        return x

    def construct(self, x):
        a = self.second(ops.relu(self.first(x)))
        b = ops.pad(a, (0, 0, 0, 0, 0, 32)) + self.wide(ops.pad(a, (0, 0, 0, 0, 32, 0), value=-0.5))  # whole blocks
        c = self.chain(self.valid(ops.pad(self.chain(b), (0, 1, 0, 1))))
        d = self.chain(self.grouped(c))
        e = self.odd(self.joined(ops.concat((c, d), 1)))
        return self.chain(e + ops.pad(self.joined(ops.concat((e, d), 1)), (0, 0, 0, 0, 9, 15)))


def bits(tensors):
    return [t.asnumpy().tobytes() for t in (tensors if isinstance(tensors, (tuple, list)) else (tensors,))]


def convolutions_in_blocks(program):
    reports = [entry.program.report() for entries in compiler.compiled_of(program).entries.values() for entry in entries]
    return max(int(n) for report in reports for n in re.findall(r"(\d+) convolutions in blocks", report))


@pytest.mark.parametrize("make, least", [(mobile, 16), (residual, 12), (efficient, 16), (Odd, 2), (sloped, 8), (Sized, 5), (Padded, 18)])
@pytest.mark.parametrize("shape", [(1, 3, 64, 64), (2, 3, 45, 51), (1, 3, 112, 112)])
def test_same_bits(make, least, shape):
    rng = np.random.RandomState(3)
    net = make(rng)
    net.set_train(False)

    @ms.jit
    def program(x):
        return net(x)
    for turn in range(3):  # the third time with packed weights
        x = Tensor(rng.randn(*shape).astype(np.float32))
        assert bits(program(x)) == bits(net(x)), turn
    if HAS_BLOCKS:
        assert convolutions_in_blocks(program) >= least


def test_means_of_large_images():
    """Sums of more elements than are added in float."""
    rng = np.random.RandomState(4)
    net = nn.SequentialCell(conv(3, 16, 3), Squeezed(16, 40, 24, 3, 1, nn.HSwish()), conv(24, 16))

    @ms.jit
    def program(x):
        return net(x)
    x = Tensor(rng.randn(2, 3, 70, 71).astype(np.float32))
    for turn in range(3):
        assert bits(program(x)) == bits(net(x)), turn
    if HAS_BLOCKS:
        assert convolutions_in_blocks(program) == 5


@pytest.mark.parametrize("bad", [np.inf, np.nan, 3e30])
def test_numbers_out_of_range(bad):
    """Winograd's transforms are not for these: the whole layer goes another way, in both modes the same."""
    rng = np.random.RandomState(5)
    net = nn.SequentialCell(conv(3, 64, 1), nn.MaxPool2d(3, 1, "same"), conv(64, 64, 3), nn.ReLU(),
                             conv(64, 64, 3, bias=True), nn.ReLU6(), conv(64, 8))
    program, x = ms.jit(net), rng.randn(1, 3, 40, 40).astype(np.float32)
    x[0, 1, 7, 9] = bad
    for _ in range(3):
        found, want = program(Tensor(x)).asnumpy(), net(Tensor(x)).asnumpy()
        np.testing.assert_array_equal(found, want)


def test_weights_may_change():
    rng = np.random.RandomState(7)
    net = residual(rng)
    net.set_train(False)
    program, x = ms.jit(net), Tensor(rng.randn(1, 3, 64, 64).astype(np.float32))
    for turn in range(8):
        assert bits(program(x)) == bits(net(x)), turn
        if turn % 3 == 2:
            for p in net.get_parameters():
                p.set_data(p * 0.5 + 0.25)

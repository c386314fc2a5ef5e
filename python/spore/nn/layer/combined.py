# SPDX-License-Identifier: Apache-2.0
"""Layers together with batch normalisation and activation."""
from spore._core import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer.activation import LeakyReLU
from spore.nn.layer.basic import Dense, _activation_of
from spore.nn.layer.conv import Conv2d
from spore.nn.layer.normalization import BatchNorm1d, BatchNorm2d

__all__ = ["Conv2dBnAct", "DenseBnAct"]


class _BnAct(Cell):
    """What follows the layer."""

    def _follow(self, norm, has_bn, activation, alpha, after_fake):
        self.has_bn = check.boolean(self.cls_name, "has_bn", has_bn)
        self.has_act = activation is not None
        self.after_fake = check.boolean(self.cls_name, "after_fake", after_fake)
        if has_bn:
            self.batchnorm = norm()
        self.activation = LeakyReLU(alpha) if activation == "leakyrelu" else _activation_of(self.cls_name, activation)

    def _finish(self, x):
        if self.has_bn:
            x = self.batchnorm(x)
        return self.activation(x) if self.has_act else x


class Conv2dBnAct(_BnAct):
    """Conv2d, then, where asked for, BatchNorm2d and an activation.

    Args:
        in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init:
            as for Conv2d.
        has_bn: whether to normalise. Default False.
        momentum, eps: of the normalisation. Default 0.997 and 1e-5.
        activation: name, Cell or primitive. Default None.
        alpha: slope of 'leakyrelu'. Default 0.2.
        after_fake: without effect. Default True.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.Conv2dBnAct(3, 8, 3, has_bn=True, activation="relu")
        >>> print(net(ms.ops.ones((1, 3, 4, 4))).shape)
        (1, 8, 4, 4)
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_init="normal", bias_init="zeros", has_bn=False, momentum=0.997, eps=1e-5,
                 activation=None, alpha=0.2, after_fake=True):
        super().__init__()
        self.conv = Conv2d(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                           weight_init, bias_init)
        self._follow(lambda: BatchNorm2d(out_channels, eps, momentum), has_bn, activation, alpha, after_fake)

    def construct(self, x) -> Tensor:
        return self._finish(self.conv(x))


class DenseBnAct(_BnAct):
    """Dense, then, where asked for, BatchNorm1d and an activation.

    Args:
        in_channels, out_channels, weight_init, bias_init, has_bias: as for Dense.
        has_bn: whether to normalise. Default False.
        momentum, eps: of the normalisation. Default 0.9 and 1e-5.
        activation: name, Cell or primitive. Default None.
        alpha: slope of 'leakyrelu'. Default 0.2.
        after_fake: without effect. Default True.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.DenseBnAct(3, 8, has_bn=True, activation="relu")(ms.ops.ones((2, 3))).shape)
        (2, 8)
    """

    def __init__(self, in_channels, out_channels, weight_init="normal", bias_init="zeros", has_bias=True, has_bn=False,
                 momentum=0.9, eps=1e-5, activation=None, alpha=0.2, after_fake=True):
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self._follow(lambda: BatchNorm1d(out_channels, eps, momentum), has_bn, activation, alpha, after_fake)

    def construct(self, x) -> Tensor:
        return self._finish(self.dense(x))

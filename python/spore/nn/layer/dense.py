# SPDX-License-Identifier: Apache-2.0
"""A dense layer of two inputs."""
from spore import ops
from spore.common import dtype as mstype
from spore.common.initializer import Uniform
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check

__all__ = ["BiDense"]


class BiDense(Cell):
    """A bilinear layer: every output is a form of both inputs, plus bias.

    Args:
        in1_channels, in2_channels: sizes of the last dimension of the inputs.
        out_channels: size of the last dimension of the output.
        weight_init, bias_init: initial values. Default None: uniform, bounded by 1 / sqrt(in1_channels).
        has_bias: whether a bias is added. Default True.
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.BiDense(3, 4, 5)(ms.ops.ones((2, 3)), ms.ops.ones((2, 4))).shape)
        (2, 5)
    """

    def __init__(self, in1_channels, in2_channels, out_channels, weight_init=None, bias_init=None, has_bias=True,
                 dtype=mstype.float32):
        super().__init__()
        cls = self.cls_name
        self.in1_channels = check.positive_int(cls, "in1_channels", in1_channels)
        self.in2_channels = check.positive_int(cls, "in2_channels", in2_channels)
        self.out_channels = check.positive_int(cls, "out_channels", out_channels)
        self.has_bias = check.boolean(cls, "has_bias", has_bias)
        bound = Uniform(in1_channels ** -0.5)
        self.weight, self.bias = check.affine_parameters(
            cls, bound if weight_init is None else weight_init, bound if bias_init is None else bias_init,
            [out_channels, in1_channels, in2_channels], in1_channels, has_bias, dtype)

    def construct(self, input1, input2) -> Tensor:
        cls = self.cls_name
        for name, value, size in (("input1", input1, self.in1_channels), ("input2", input2, self.in2_channels)):
            if not isinstance(value, Tensor):
                check.fail_type(cls, name, value, "a Tensor")
            if value.shape[-1] != size:
                raise ValueError(f"For '{cls}', the last dimension of '{name}' must be {size}, but got shape {value.shape}.")
        if tuple(input1.shape[:-1]) != tuple(input2.shape[:-1]):
            raise ValueError(f"For '{cls}', the inputs must have one shape except for the last dimension, but got "
                             f"{input1.shape} and {input2.shape}.")
        flat = ops.reshape(self.weight, (-1, self.in2_channels))
        forms = ops.reshape(ops.dense(input2, flat), tuple(input2.shape[:-1]) + (self.out_channels, self.in1_channels))
        out = ops.sum(forms * ops.expand_dims(input1, -2), -1)
        return out if self.bias is None else out + self.bias

    def extend_repr(self):
        text = (f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, output_channels={self.out_channels}")
        return text + (f", has_bias={self.has_bias}" if self.has_bias else "")

# SPDX-License-Identifier: Apache-2.0
"""Convolutions over one, two and three dimensions, and their transposes. Each call is one operator, bias included.

The Parameters keep MindSpore's shapes: weights of the one-dimensional layers have four dimensions, the third of size 1.
"""
from spore import _core
from spore import ops
from spore.common import dtype as mstype
from spore.common.initializer import Initializer
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check

__all__ = ["Conv2d", "Conv2dTranspose", "Conv1d", "Conv1dTranspose", "Conv3d", "Conv3dTranspose"]

_PAD_MODES = ("same", "valid", "pad")
_COMMON = """
    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: size of the kernel{each}.
        stride: step of the kernel{each}. Default 1.
        pad_mode: 'same' (output of size input / stride), 'valid' (no padding) or 'pad' (as `padding` says). Default 'same'.
        padding: padding for pad_mode 'pad'{pads}. Default 0.{extra}
        dilation: distance between taps of the kernel{each}. Default 1.
        group: number of groups that channels are divided into. Default 1.
        has_bias: whether a bias is added. Default False.
        weight_init, bias_init: initial values. Default None: uniform, bounded by 1 / sqrt(taps times channels of a group).
        {format}dtype: of the Parameters. Default float32.
"""


def _document(cls, first, each, pads, example, extra="", data_format=""):
    shown = data_format and f"data_format: '{data_format}'.\n        "
    cls.__doc__ = (first + "\n" + _COMMON.format(each=each, pads=pads, extra=extra, format=shown)
                   + "\n    Examples:\n        >>> import spore as ms\n        >>> from spore import nn\n" + example)


def _shown(init):
    """An initial value as MindSpore prints it: of an initializer, only which one it is."""
    return object.__repr__(init) if isinstance(init, Initializer) else init


class _Conv(Cell):
    """What all have in common: checks, Parameters, text."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                 weight_init, bias_init, data_format="NCHW", transposed=False, dtype=mstype.float32):
        super().__init__()
        cls = self.cls_name
        check.groups(cls, in_channels, out_channels, group)
        check.boolean(cls, "has_bias", has_bias)
        check.one_of(cls, "data_format", data_format, ("NCHW", "NHWC", "NCDHW"))
        if data_format == "NHWC":
            raise ValueError(f"For '{cls}', data_format 'NHWC' is not available on the CPU; use 'NCHW'.")
        n = len(kernel_size)
        check.instance(cls, "pad_mode", pad_mode, str)
        check.one_of(cls, "pad_mode", pad_mode.lower(), _PAD_MODES)
        check.instance(cls, "padding", padding, int, tuple)
        pads = padding if isinstance(padding, tuple) else (padding,) * (2 * n)
        if not all(check.is_int(p) for p in pads):
            check.fail_type(cls, "padding", padding, f"an int or a tuple of {2 * n} ints")
        if len(pads) != 2 * n or not all(p >= 0 for p in pads):
            check.fail_value(cls, "padding", padding, f"an int or a tuple of {2 * n} ints, none below 0")
        if pad_mode.lower() != "pad" and any(pads):
            raise ValueError(f"For '{cls}', 'padding' must be 0 when 'pad_mode' is '{pad_mode}', but got {padding}.")
        self.in_channels, self.out_channels, self.group = in_channels, out_channels, group
        self.kernel_size, self.stride, self.dilation = kernel_size, stride, dilation
        self.pad_mode = pad_mode = pad_mode.lower()
        self.padding, self.data_format, self.has_bias = padding, data_format, has_bias
        taps = check.product(kernel_size)
        if transposed:
            shape, fan_in = [in_channels, out_channels // group, *kernel_size], out_channels // group * taps
        else:
            shape, fan_in = [out_channels, in_channels // group, *kernel_size], in_channels // group * taps
        self.weight, self.bias = check.affine_parameters(cls, weight_init, bias_init, shape, fan_in, has_bias, dtype,
                                                         out_channels)
        self.weight_init = check.HeUniform(5 ** 0.5) if weight_init is None else weight_init
        self.bias_init = check.Uniform(fan_in ** -0.5) if bias_init is None and has_bias else bias_init
        self._pads = pads
        self._attrs = {"stride": stride, "pad_mode": pad_mode, "pad": pads, "dilation": dilation, "group": group}

    def extend_repr(self):
        return (f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
                f"group={self.group}, has_bias={self.has_bias}, weight_init={_shown(self.weight_init)}, "
                f"bias_init={_shown(self.bias_init)}, format={self.data_format}")

    def _transposed(self, x, op, extra=None):
        """Run the transposed operator; the size of the result follows from pad_mode."""
        size = []
        for i, length in enumerate(x.shape[2:]):
            kernel = (self.kernel_size[i] - 1) * self.dilation[i] + 1
            full = length * self.stride[i] + max(kernel - self.stride[i], 0)
            if self.pad_mode == "same":
                full = length * self.stride[i]
            elif self.pad_mode == "pad":
                full = (length - 1) * self.stride[i] + kernel - self._pads[2 * i] - self._pads[2 * i + 1]
                full += extra[i] if extra else 0
            size.append(full)
        out = _core.apply(op, (x, self.weight), dict(self._attrs, input_size=tuple(size)))
        return out if self.bias is None else out + self.bias.reshape((1, -1) + (1,) * len(size))


class Conv2d(_Conv):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_init=None, bias_init=None, data_format="NCHW", dtype=mstype.float32):
        cls = type(self).__name__
        super().__init__(in_channels, out_channels, check.tuple_of(cls, "kernel_size", kernel_size, 2),
                         check.tuple_of(cls, "stride", stride, 2), pad_mode, padding,
                         check.tuple_of(cls, "dilation", dilation, 2), group, has_bias, weight_init, bias_init, data_format,
                         dtype=dtype)
        # For subclasses that change the weight and compute with these.
        self.conv2d = ops.Conv2D(out_channels, self.kernel_size, 1, self.pad_mode, self._pads, self.stride, self.dilation,
                                 group)
        self.bias_add = ops.BiasAdd()

    def construct(self, x) -> Tensor:
        held = self._params  # read directly: attributes of a Cell cost more
        return _core.apply("conv2d", (x, held["weight"], held.get("bias")), self._attrs)


def _lone_dimension(cls, kernel_size, stride, padding, dilation, weight_init):
    """Arguments of the one-dimensional layers as those of a plane of height 1."""
    check.positive_int(cls, "kernel_size", kernel_size)
    check.positive_int(cls, "stride", stride)
    check.positive_int(cls, "dilation", dilation)
    check.int_at_least(cls, "padding", padding, 0)
    if isinstance(weight_init, Tensor):
        if len(weight_init.shape) != 3:
            check.fail_value(cls, "weight_init", tuple(weight_init.shape), "a Tensor of 3 dimensions")
        weight_init = ops.expand_dims(weight_init, 2)
    return (1, kernel_size), (1, stride), (0, 0, padding, padding), (1, dilation), weight_init


class Conv1d(_Conv):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_init=None, bias_init=None, dtype=mstype.float32):
        kernel_size, stride, padding, dilation, weight_init = _lone_dimension(type(self).__name__, kernel_size, stride, padding,
                                                                              dilation, weight_init)
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                         weight_init, bias_init, dtype=dtype)

    def construct(self, x) -> Tensor:
        out = _core.apply("conv2d", (ops.expand_dims(x, 2), self.weight, self.bias), self._attrs)
        return ops.squeeze(out, 2)


class Conv3d(_Conv):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_init=None, bias_init=None, data_format="NCDHW", dtype=mstype.float32):
        cls = type(self).__name__
        super().__init__(in_channels, out_channels, check.tuple_of(cls, "kernel_size", kernel_size, 3),
                         check.tuple_of(cls, "stride", stride, 3), pad_mode, padding,
                         check.tuple_of(cls, "dilation", dilation, 3), group, has_bias, weight_init, bias_init, data_format,
                         dtype=dtype)

    def construct(self, x) -> Tensor:
        return _core.apply("conv3d", (x, self.weight, self.bias), self._attrs)


class Conv2dTranspose(_Conv):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, output_padding=0,
                 dilation=1, group=1, has_bias=False, weight_init=None, bias_init=None, dtype=mstype.float32):
        cls = type(self).__name__
        check.instance(cls, "output_padding", output_padding, int, tuple)
        super().__init__(in_channels, out_channels, check.tuple_of(cls, "kernel_size", kernel_size, 2),
                         check.tuple_of(cls, "stride", stride, 2), pad_mode, padding,
                         check.tuple_of(cls, "dilation", dilation, 2), group, has_bias, weight_init, bias_init,
                         transposed=True, dtype=dtype)
        self.output_padding = output_padding
        self._extra = check.tuple_of(cls, "output_padding", output_padding, 2, least=0)

    def construct(self, x) -> Tensor:
        out = self._transposed(x, "conv2d_input_grad")
        if not any(self._extra):
            return out
        # The rows and columns that output_padding adds are zeros in MindSpore, whatever the kernel would put there.
        for i, more in enumerate(self._extra):
            if more >= max(self.stride[i], self.dilation[i]):
                check.fail_value(self.cls_name, "output_padding", self.output_padding, "below the stride or the dilation")
        if self.pad_mode != "pad":
            raise ValueError(f"For '{self.cls_name}', 'output_padding' needs pad_mode 'pad', but got '{self.pad_mode}'.")
        return ops.pad(out, (0, self._extra[1], 0, self._extra[0]))


class Conv1dTranspose(_Conv):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_init=None, bias_init=None, dtype=mstype.float32):
        kernel_size, stride, padding, dilation, weight_init = _lone_dimension(type(self).__name__, kernel_size, stride, padding,
                                                                              dilation, weight_init)
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
                         weight_init, bias_init, transposed=True, dtype=dtype)

    def construct(self, x) -> Tensor:
        check.rank_of(self.cls_name, x, 3)
        return ops.squeeze(self._transposed(ops.expand_dims(x, 2), "conv2d_input_grad"), 2)


class Conv3dTranspose(_Conv):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 output_padding=0, has_bias=False, weight_init=None, bias_init=None, data_format="NCDHW",
                 dtype=mstype.float32):
        cls = type(self).__name__
        super().__init__(in_channels, out_channels, check.tuple_of(cls, "kernel_size", kernel_size, 3),
                         check.tuple_of(cls, "stride", stride, 3), pad_mode, padding,
                         check.tuple_of(cls, "dilation", dilation, 3), group, has_bias, weight_init, bias_init, data_format,
                         transposed=True, dtype=dtype)
        self.output_padding = check.tuple_of(cls, "output_padding", output_padding, 3, least=0)
        if any(self.output_padding) and pad_mode != "pad":
            raise ValueError(f"For '{cls}', 'output_padding' needs pad_mode 'pad', but got '{pad_mode}'.")

    def construct(self, x) -> Tensor:
        return self._transposed(x, "conv3d_input_grad", self.output_padding)


def _deconv_output_length(is_valid, is_same, is_pad, input_length, filter_size, stride_size, dilation_size, padding):
    """How many elements a transposed convolution makes of input_length along one axis."""
    filter_size += (filter_size - 1) * (dilation_size - 1)
    length, beyond = input_length * stride_size, filter_size - stride_size
    if is_valid:
        return length + max(beyond, 0)
    return length if is_same else length + beyond - padding if is_pad else 0


_document(Conv2d, "Convolution of an image, (N, C, H, W).", ", an int or (height, width)",
          ", an int or (top, bottom, left, right)",
          "        >>> print(nn.Conv2d(3, 8, 3, stride=2)(ms.ops.ones((1, 3, 16, 16))).shape)\n        (1, 8, 8, 8)\n    ",
          data_format="NCHW")
_document(Conv1d, "Convolution of a signal, (N, C, L).", "", " at both ends",
          "        >>> print(nn.Conv1d(3, 8, 5, pad_mode='valid')(ms.ops.ones((1, 3, 16))).shape)\n        (1, 8, 12)\n    ")
_document(Conv3d, "Convolution of a volume, (N, C, D, H, W).", ", an int or (depth, height, width)",
          ", an int or (head, tail, top, bottom, left, right)",
          "        >>> print(nn.Conv3d(1, 2, 3)(ms.ops.ones((1, 1, 4, 4, 4))).shape)\n        (1, 2, 4, 4, 4)\n    ",
          data_format="NCDHW")
_EXTRA = "\n        output_padding: rows and columns added to the end of the result, for pad_mode 'pad'. Default 0."
_document(Conv2dTranspose, "Transposed convolution of an image, (N, C, H, W): the gradient of Conv2d as a layer.",
          ", an int or (height, width)", ", an int or (top, bottom, left, right)",
          "        >>> net = nn.Conv2dTranspose(3, 8, 4, stride=2, pad_mode='pad', padding=1)\n"
          "        >>> print(net(ms.ops.ones((1, 3, 5, 5))).shape)\n        (1, 8, 10, 10)\n    ", _EXTRA)
_document(Conv1dTranspose, "Transposed convolution of a signal, (N, C, L).", "", " at both ends",
          "        >>> print(nn.Conv1dTranspose(3, 8, 4, stride=2)(ms.ops.ones((1, 3, 5))).shape)\n        (1, 8, 10)\n    ")
_document(Conv3dTranspose, "Transposed convolution of a volume, (N, C, D, H, W).", ", an int or (depth, height, width)",
          ", an int or (head, tail, top, bottom, left, right)",
          "        >>> print(nn.Conv3dTranspose(1, 2, 2, stride=2)(ms.ops.ones((1, 1, 2, 2, 2))).shape)\n"
          "        (1, 2, 4, 4, 4)\n    ", _EXTRA, "NCDHW")

# SPDX-License-Identifier: Apache-2.0
"""Pooling: the largest or the mean element of windows. Layers over one dimension run as planes of height 1."""
from spore import ops
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.nn.cell import Cell
from spore.nn.layer import _check as check

__all__ = ["AvgPool3d", "MaxPool3d", "AvgPool2d", "MaxPool2d", "AvgPool1d", "MaxPool1d", "FractionalMaxPool2d",
           "FractionalMaxPool3d", "AdaptiveAvgPool1d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d",
           "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "LPPool1d", "LPPool2d",
           "AvgPool2dExt", "AvgPool3dExt", "MaxPool2dExt", "AvgPool1dExt"]


class _Pool(Cell):
    """Kernel, stride and pad_mode, checked."""

    _dims = 2

    def __init__(self, kernel_size, stride, pad_mode, data_format="NCHW"):
        super().__init__()
        cls = self.cls_name
        check.instance(cls, "pad_mode", pad_mode, str)
        self.pad_mode = check.one_of(cls, "pad_mode", pad_mode.upper(), ("VALID", "SAME", "PAD"))
        self.format = check.one_of(cls, "data_format", data_format, ("NCHW", "NHWC"))
        if data_format == "NHWC":
            raise ValueError(f"For '{cls}', data_format 'NHWC' is not available on the CPU; use 'NCHW'.")
        self.kernel_size, self.stride = self._sizes("kernel_size", kernel_size), self._sizes("stride", stride)

    def _sizes(self, name, value):
        check.instance(self.cls_name, name, value, int, tuple)
        if not all(check.is_int(v) and v > 0 for v in (value if isinstance(value, tuple) else (value,))):
            check.fail_value(self.cls_name, name, value, "a positive int or a tuple of positive ints")
        return value[0] if isinstance(value, tuple) and len(value) == 1 else value

    def _each(self, name, value, least=1):
        """A value for every dimension."""
        value = tuple(value) if isinstance(value, list) else value
        if isinstance(value, tuple) and len(value) == 1:
            value = value[0]
        return check.tuple_of(self.cls_name, name, value, self._dims, least)

    def _need_pad_mode(self, **given):
        """Arguments that only pad_mode 'pad' knows."""
        for name, value in given.items():
            if value != (1 if name == "dilation" else 0):
                raise ValueError(f"For '{self.cls_name}', '{name}' can be given for pad_mode 'pad' only, but got pad_mode "
                                 f"'{self.pad_mode.lower()}'.")

    def extend_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"

    def construct(self, x):
        """Adds the batch dimension, and the height of a line, where they are missing."""
        single = x.ndim == self._dims + 1
        if single:
            x = ops.expand_dims(x, 0)
        check.rank_of(self.cls_name, x, self._dims + 2)
        out = self._flat(x) if self._dims == 1 else self._pool(x)
        if not single:
            return out
        return tuple(ops.squeeze(o, 0) for o in out) if isinstance(out, tuple) else ops.squeeze(out, 0)

    def _flat(self, x):
        out = self._pool(ops.expand_dims(x, 2))
        return tuple(ops.squeeze(o, 2) for o in out) if isinstance(out, tuple) else ops.squeeze(out, 2)


class _MaxPool(_Pool):
    """The largest element of each window."""

    def __init__(self, kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode, data_format="NCHW"):
        super().__init__(kernel_size, stride, pad_mode, data_format)
        check.instance(self.cls_name, "padding", padding, int, tuple, list)
        self.return_indices, self.ceil_mode = return_indices, ceil_mode
        lone = (1,) if self._dims == 1 else ()
        kernel, step = lone + self._each("kernel_size", self.kernel_size), lone + self._each("stride", self.stride)
        if self._dims == 1:
            more = (1,) if self.pad_mode == "PAD" else ()  # what MindSpore shows
            self.kernel_size, self.stride = more + kernel, more + step
        if self.pad_mode == "PAD":
            self.padding = (0,) * len(lone) + self._each("padding", padding, 0)
            self.dilation = lone + self._each("dilation", dilation)
            self._op = None
            self._kernel, self._step = kernel, step
            return
        if self._dims == 3 and not return_indices and dilation == 1:
            self._op = ops.MaxPool3D(kernel, step, pad_mode, 0, bool(ceil_mode))
            return
        self._need_pad_mode(padding=padding, dilation=dilation, return_indices=return_indices, ceil_mode=ceil_mode)
        self._op = ops.MaxPool(kernel, step, pad_mode)

    def _pool(self, x):
        if self._op is not None:
            return self._op(x)
        pool = ops.max_pool3d if self._dims == 3 else ops.max_pool2d
        return pool(x, self._kernel, self._step, self.padding, self.dilation, return_indices=self.return_indices,
                    ceil_mode=self.ceil_mode)


class MaxPool1d(_MaxPool):
    """The largest element of each window of a signal, (N, C, L) or (C, L).

    Args:
        kernel_size: size of the window. Default 1.
        stride: step of the window. Default 1.
        pad_mode: 'same', 'valid' or 'pad'. Default 'valid'.
        padding: elements added at both ends, never the largest, for pad_mode 'pad'. Default 0.
        dilation: distance between elements of a window, for pad_mode 'pad'. Default 1.
        return_indices: whether to give positions too, for pad_mode 'pad'. Default False.
        ceil_mode: whether a window may reach over the end, for pad_mode 'pad'. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MaxPool1d(2, 2)(ms.Tensor([[[1.0, 3.0, 2.0, 0.0]]])))
        [[[3. 2.]]]
    """

    _dims = 1

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, dilation=1, return_indices=False,
                 ceil_mode=False):
        check.positive_int(type(self).__name__, "kernel_size", kernel_size)
        check.positive_int(type(self).__name__, "stride", stride)
        super().__init__(kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode)


class MaxPool2d(_MaxPool):
    """The largest element of each window of an image, (N, C, H, W) or (C, H, W).

    Args:
        kernel_size: size of the window, an int or (height, width). Default 1.
        stride: step of the window, an int or (row, column). Default 1.
        pad_mode: 'same', 'valid' or 'pad'. Default 'valid'.
        padding: elements added at both sides, never the largest, for pad_mode 'pad'. Default 0.
        dilation: distance between elements of a window, for pad_mode 'pad'. Default 1.
        return_indices: whether to give positions too, for pad_mode 'pad'. Default False.
        ceil_mode: whether a window may reach over the edge, for pad_mode 'pad'. Default False.
        data_format: 'NCHW'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MaxPool2d(2, 2)(ms.ops.ones((1, 3, 8, 8))).shape)
        (1, 3, 4, 4)
    """

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, dilation=1, return_indices=False,
                 ceil_mode=False, data_format="NCHW"):
        super().__init__(kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode, data_format)

    def construct(self, x):
        if self._op is not None and x.ndim == 4:
            return self._op(x)
        return super().construct(x)


class MaxPool3d(_MaxPool):
    """The largest element of each window of a volume, (N, C, D, H, W) or (C, D, H, W).

    Args:
        kernel_size: size of the window, an int or (depth, height, width). Default 1.
        stride: step of the window. Default 1.
        pad_mode: 'same', 'valid' or 'pad'. Default 'valid'.
        padding: elements added at both sides, for pad_mode 'pad'. Default 0.
        dilation: distance between elements of a window, for pad_mode 'pad'. Default 1.
        return_indices: whether to give positions too, for pad_mode 'pad'. Default False.
        ceil_mode: whether a window may reach over the edge. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MaxPool3d(2, 2)(ms.ops.ones((1, 1, 4, 4, 4))).shape)
        (1, 1, 2, 2, 2)
    """

    _dims = 3

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, dilation=1, return_indices=False,
                 ceil_mode=False):
        super().__init__(kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode)


class _AvgPool(_Pool):
    """The mean of each window."""

    def __init__(self, kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override=None,
                 data_format="NCHW"):
        super().__init__(kernel_size, stride, pad_mode, data_format)
        check.instance(self.cls_name, "padding", padding, int, tuple, list)
        if divisor_override is not None and divisor_override <= 0:
            check.fail_value(self.cls_name, "divisor_override", divisor_override, "above 0")
        lone = (1,) if self._dims == 1 else ()
        kernel, step = lone + self._each("kernel_size", self.kernel_size), lone + self._each("stride", self.stride)
        if self.pad_mode == "PAD" or padding != 0 or ceil_mode or not count_include_pad or divisor_override is not None:
            pads = (0,) * len(lone) + self._each("padding", padding, 0)
            if self.pad_mode != "PAD" and any(pads):
                self._need_pad_mode(padding=padding)
            both = (0, 0) * (3 - len(pads)) + tuple(p for p in pads for _ in range(2))
            # One operator knows all of these: the one over volumes.
            self._op = ops.AvgPool3D((1,) * (3 - len(kernel)) + kernel, (1,) * (3 - len(step)) + step, pad_mode.lower(), both,
                                     ceil_mode, count_include_pad, divisor_override or 0)
            self._lift = self._dims < 3
            return
        if self._dims == 1:
            self.kernel_size, self.stride = kernel, step
        self._lift = False
        self._op = ops.AvgPool3D(kernel, step, pad_mode) if self._dims == 3 else ops.AvgPool(kernel, step, pad_mode)

    def _pool(self, x):
        return ops.squeeze(self._op(ops.expand_dims(x, 2)), 2) if self._lift else self._op(x)


class AvgPool1d(_AvgPool):
    """The mean of each window of a signal, (N, C, L) or (C, L).

    Args:
        kernel_size: size of the window. Default 1.
        stride: step of the window. Default 1.
        pad_mode: 'same', 'valid' or 'pad'. Default 'valid'.
        padding: zeros added at both ends, for pad_mode 'pad'. Default 0.
        ceil_mode: whether a window may reach over the end. Default False.
        count_include_pad: whether added zeros count in the mean. Default True.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.AvgPool1d(2, 2)(ms.Tensor([[[1.0, 3.0, 2.0, 0.0]]])))
        [[[2. 1.]]]
    """

    _dims = 1

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, ceil_mode=False, count_include_pad=True):
        check.positive_int(type(self).__name__, "kernel_size", kernel_size)
        check.positive_int(type(self).__name__, "stride", stride)
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad)


class AvgPool2d(_AvgPool):
    """The mean of each window of an image, (N, C, H, W) or (C, H, W).

    Args:
        kernel_size: size of the window, an int or (height, width). Default 1.
        stride: step of the window, an int or (row, column). Default 1.
        pad_mode: 'same', 'valid' or 'pad'. Default 'valid'.
        padding: zeros added at both sides, for pad_mode 'pad'. Default 0.
        ceil_mode: whether a window may reach over the edge. Default False.
        count_include_pad: whether added zeros count in the mean. Default True.
        divisor_override: what sums are divided by instead of the count. Default None.
        data_format: 'NCHW'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.AvgPool2d(2, 2)(ms.ops.ones((1, 3, 8, 8))).shape)
        (1, 3, 4, 4)
    """

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None, data_format="NCHW"):
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override, data_format)


class AvgPool3d(_AvgPool):
    """The mean of each window of a volume, (N, C, D, H, W) or (C, D, H, W).

    Args:
        kernel_size: size of the window, an int or (depth, height, width). Default 1.
        stride: step of the window. Default 1.
        pad_mode: 'same', 'valid' or 'pad'. Default 'valid'.
        padding: zeros added at both sides, for pad_mode 'pad'. Default 0.
        ceil_mode: whether a window may reach over the edge. Default False.
        count_include_pad: whether added zeros count in the mean. Default True.
        divisor_override: what sums are divided by instead of the count. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.AvgPool3d(2, 2)(ms.ops.ones((1, 1, 4, 4, 4))).shape)
        (1, 1, 2, 2, 2)
    """

    _dims = 3

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None):
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override)


class MaxPool2dExt(Cell):
    """MaxPool2d with the torch-like arguments: the stride is the kernel by default.

    Args:
        kernel_size: size of the window, an int or (height, width). Default 1.
        stride: step of the window. Default None, the kernel.
        padding: elements added at both sides, never the largest. Default 0.
        dilation: distance between elements of a window. Default 1.
        return_indices: whether to give positions too. Default False.
        ceil_mode: whether a window may reach over the edge. Default False.
    """

    def __init__(self, kernel_size=1, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def construct(self, input) -> Tensor:
        return ops.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.return_indices,
                              self.ceil_mode)


class _AvgPoolExt(Cell):
    """Mean pooling with the torch-like arguments."""

    _function = None

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override

    def construct(self, input) -> Tensor:
        return getattr(ops, self._function)(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                                            self.count_include_pad, self.divisor_override or 0)


class AvgPool1dExt(_AvgPoolExt):
    """AvgPool1d with the torch-like arguments: the stride is the kernel by default."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)

    def construct(self, input) -> Tensor:
        return ops.avg_pool1d(input, *(v[0] if isinstance(v, tuple) else v
                                       for v in (self.kernel_size, self.stride, self.padding)),
                              self.ceil_mode, self.count_include_pad)


class AvgPool2dExt(_AvgPoolExt):
    """AvgPool2d with the torch-like arguments: the stride is the kernel by default."""

    _function = "avg_pool2d"


class AvgPool3dExt(_AvgPoolExt):
    """AvgPool3d with the torch-like arguments: the stride is the kernel by default."""

    _function = "avg_pool3d"


class _AdaptiveLine(Cell):
    """Adaptive pooling of a signal whose length is a multiple of the output's."""

    def __init__(self, output_size):
        super().__init__()
        self.output_size = check.positive_int(self.cls_name, "output_size", output_size)

    def construct(self, input) -> Tensor:
        check.rank_of(self.cls_name, input, 3)
        check.float_types(self.cls_name, "input", input)
        length = input.shape[2]
        if length < self.output_size or length % self.output_size:
            raise ValueError(f"For '{self.cls_name}', the last dimension of the input must be a multiple of the output size "
                             f"{self.output_size}, but got {length}.")
        parts = ops.reshape(input, tuple(input.shape[:2]) + (self.output_size, length // self.output_size))
        return self._reduce(parts)


class AdaptiveAvgPool1d(_AdaptiveLine):
    """A signal, (N, C, L), divided into equal parts; the mean of each.

    Args:
        output_size: number of parts, a divisor of L.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.AdaptiveAvgPool1d(2)(ms.Tensor([[[1.0, 3.0, 2.0, 0.0]]])))
        [[[2. 1.]]]
    """

    def _reduce(self, parts):
        return ops.mean(parts, -1)


class AdaptiveMaxPool1d(_AdaptiveLine):
    """A signal, (N, C, L), divided into equal parts; the largest element of each.

    Args:
        output_size: number of parts, a divisor of L.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.AdaptiveMaxPool1d(2)(ms.Tensor([[[1.0, 3.0, 2.0, 0.0]]])))
        [[[3. 2.]]]
    """

    def _reduce(self, parts):
        return ops.amax(parts, -1)


def _whole(x, output_size):
    """The output size with the input's where it is None."""
    if not isinstance(output_size, (tuple, list)) or None not in output_size:
        return output_size
    kept = x.shape[-len(output_size):]
    return tuple(own if wanted is None else wanted for wanted, own in zip(output_size, kept))


class AdaptiveAvgPool2d(Cell):
    """An image, (N, C, H, W) or (C, H, W), brought to a size by means of windows that cover it.

    Args:
        output_size: an int or (height, width); None keeps a size.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.AdaptiveAvgPool2d(1)(ms.ops.ones((1, 3, 5, 4))).shape)
        (1, 3, 1, 1)
    """

    def __init__(self, output_size):
        super().__init__()
        sizes = check.instance(self.cls_name, "output_size", output_size, int, tuple)
        for size in sizes if isinstance(sizes, tuple) else (sizes,):
            check.instance(self.cls_name, "output_size", size, int, type(None))
            if size is not None and size < 0:
                check.fail_value(self.cls_name, "output_size", output_size, "not below 0")
        self.output_size = output_size

    def construct(self, input) -> Tensor:
        return ops.adaptive_avg_pool2d(input, _whole(input, self.output_size))


class AdaptiveAvgPool3d(Cell):
    """A volume, (N, C, D, H, W) or (C, D, H, W), brought to a size by means of windows that cover it.

    Args:
        output_size: an int or (depth, height, width); None keeps a size.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.AdaptiveAvgPool3d(1)(ms.ops.ones((1, 3, 2, 5, 4))).shape)
        (1, 3, 1, 1, 1)
    """

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def construct(self, input) -> Tensor:
        return ops.adaptive_avg_pool3d(input, _whole(input, self.output_size))


class AdaptiveMaxPool2d(Cell):
    """An image, (N, C, H, W) or (C, H, W), brought to a size by the largest elements of windows that cover it.

    Args:
        output_size: an int or (height, width); None keeps a size.
        return_indices: whether to give positions too. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.AdaptiveMaxPool2d((1, 2))(ms.ops.ones((1, 3, 5, 4))).shape)
        (1, 3, 1, 2)
    """

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def construct(self, input) -> Tensor:
        return ops.adaptive_max_pool2d(input, _whole(input, self.output_size), self.return_indices)


class AdaptiveMaxPool3d(Cell):
    """A volume, (N, C, D, H, W) or (C, D, H, W), brought to a size by the largest elements of windows that cover it.

    Args:
        output_size: an int or (depth, height, width).
        return_indices: whether to give positions too. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.AdaptiveMaxPool3d(1)(ms.ops.ones((1, 3, 2, 5, 4))).shape)
        (1, 3, 1, 1, 1)
    """

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size = (output_size,) * 3 if isinstance(output_size, int) else tuple(output_size)
        self.return_indices = return_indices

    def construct(self, input):
        out, indices = ops.adaptive_max_pool3d(input, self.output_size, True)
        return (out, indices.astype(mstype.int32)) if self.return_indices else out


class _FractionalMaxPool(Cell):
    """Largest elements of windows whose places are drawn at random."""

    _function = None

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        self.kernel_size, self.output_size, self.output_ratio = kernel_size, output_size, output_ratio
        self.return_indices, self._random_samples = return_indices, _random_samples

    def construct(self, input) -> Tensor:
        return getattr(ops, self._function)(input, self.kernel_size, self.output_size, self.output_ratio,
                                            self.return_indices, self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest element of windows of an image; their steps are drawn at random so that a size or ratio results.

    Args:
        kernel_size: size of the window, an int or (height, width).
        output_size: size of the result. Default None.
        output_ratio: or its ratio to the input. Default None.
        return_indices: whether to give positions too. Default False.
        _random_samples: the random numbers, (N, C, 2) in [0, 1). Default None, drawn.

    Examples:
        >>> from spore import nn, ops
        >>> pool = nn.FractionalMaxPool2d(kernel_size=2, output_ratio=(0.5, 0.5))
        >>> pool(ops.ones((1, 3, 8, 6))).shape
        (1, 3, 4, 3)
    """

    _function = "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest element of windows of a volume; their steps are drawn at random so that a size or ratio results.

    Args:
        kernel_size: size of the window, an int or (depth, height, width).
        output_size: size of the result. Default None.
        output_ratio: or its ratio to the input. Default None.
        return_indices: whether to give positions too. Default False.
        _random_samples: the random numbers, (N, C, 3) in [0, 1). Default None, drawn.

    Examples:
        >>> from spore import nn, ops
        >>> pool = nn.FractionalMaxPool3d(kernel_size=2, output_size=(2, 2, 3))
        >>> pool(ops.ones((1, 3, 4, 6, 8))).shape
        (1, 3, 2, 2, 3)
    """

    _function = "fractional_max_pool3d"


class _MaxUnpool(Cell):
    """Puts elements back where max pooling took them from."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding

    def construct(self, x, indices, output_size=None) -> Tensor:
        cls, n = self.cls_name, self._dims
        check.rank_of(cls, x, n + 1, n + 2)
        if tuple(x.shape) != tuple(indices.shape):
            raise ValueError(f"For '{cls}', input and indices must have one shape, but got {x.shape} and {indices.shape}.")
        k, s, p = (check.tuple_of(cls, name, getattr(self, name), n, least)
                   for name, least in (("kernel_size", 1), ("stride", 1), ("padding", 0)))
        usual = tuple((x.shape[i - n] - 1) * s[i] - 2 * p[i] + k[i] for i in range(n))
        size = usual
        if output_size is not None:
            if not isinstance(output_size, tuple) or not output_size:
                check.fail_value(cls, "output_size", output_size, "a tuple that is not empty")
            size = output_size[-n:]
            if len(size) != n or any(not a - b < c < a + b for a, b, c in zip(usual, s, size)):
                check.fail_value(cls, "output_size", output_size, f"less than a stride from {usual}")
        lead, total = tuple(x.shape[:-n]), check.product(size)
        flat = lead + (check.product(x.shape[-n:]),)
        empty = ops.zeros(lead + (total,), x.dtype)
        full = ops.tensor_scatter_elements(empty, ops.reshape(indices, flat), ops.reshape(x, flat), -1)
        return ops.reshape(full, lead + tuple(size))


class MaxUnpool1d(_MaxUnpool):
    """Puts the elements of a pooled signal back to their positions; the rest is zero.

    Args:
        kernel_size: of the pooling.
        stride: of the pooling. Default None, the kernel.
        padding: of the pooling. Default 0.
    """

    _dims = 1


class MaxUnpool2d(_MaxUnpool):
    """Puts the elements of a pooled image back to their positions; the rest is zero.

    Args:
        kernel_size: of the pooling.
        stride: of the pooling. Default None, the kernel.
        padding: of the pooling. Default 0.
    """

    _dims = 2


class MaxUnpool3d(_MaxUnpool):
    """Puts the elements of a pooled volume back to their positions; the rest is zero.

    Args:
        kernel_size: of the pooling.
        stride: of the pooling. Default None, the kernel.
        padding: of the pooling. Default 0.
    """

    _dims = 3


class _LPPool(Cell):
    """The p-norm of windows."""

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode


class LPPool1d(_LPPool):
    """The p-norm of each window of a signal, (N, C, L) or (C, L).

    Args:
        norm_type: p, not 0.
        kernel_size: size of the window.
        stride: step of the window. Default None, the kernel.
        ceil_mode: whether a window may reach over the end. Default False.
    """

    def construct(self, x) -> Tensor:
        return ops.lp_pool1d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPool):
    """The p-norm of each window of an image, (N, C, H, W).

    Args:
        norm_type: p, not 0.
        kernel_size: size of the window, an int or (height, width).
        stride: step of the window. Default None, the kernel.
        ceil_mode: whether a window may reach over the edge. Default False.
    """

    def construct(self, x) -> Tensor:
        return ops.lp_pool2d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)



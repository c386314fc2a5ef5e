# SPDX-License-Identifier: Apache-2.0
"""Pools, patches, dilation and resizing of images that few programs use. Where a result is chosen element by element (the place
of a maximum, say) the places are found with numpy and the values taken by differentiable operators."""
import numpy as np

from ... import _core
from ..._core import Tensor
from ...common import dtype as mstype
from .._make import plain, primitive
from ..array import ints_of

_apply = _core.apply


def _op(name):
    from ... import ops
    return getattr(ops, name)


def _add(name, call, init="", doc=None):
    globals()[name] = primitive(name, call, init, doc)


def _pair(value, n=2):
    """n numbers of an int, of n numbers, or of more with batch and channels in front."""
    if isinstance(value, (tuple, list)):
        return tuple(value)[-n:] if len(value) >= n else tuple(value) * n
    return (value,) * n


def _taken(x, places, n):
    """Elements of the flattened last n dimensions of x, by places of any shape behind the same leading dimensions."""
    lead = tuple(x.shape[:x.ndim - n])
    flat = x.reshape(lead + (-1,))
    return _op("gather_elements")(flat, len(lead), Tensor(places.reshape(lead + (-1,)).astype(np.int64))).reshape(places.shape)


# --- the largest of a window, and where it stands --------------------------------------------------------------------

def _windows(shape, kernel, stride, before, dilation, out):
    """For every window and element of it: its flat place in the input, and whether it is inside. Both (windows..., elements)."""
    n = len(shape)
    place = np.zeros(tuple(out) + tuple(kernel), np.int64)
    inside = np.ones_like(place, dtype=bool)
    for i in range(n):
        at = np.arange(out[i])[:, None] * stride[i] - before[i] + np.arange(kernel[i])[None, :] * dilation[i]
        dims = [1] * (2 * n)
        dims[i], dims[n + i] = out[i], kernel[i]
        at = at.reshape(dims)
        inside &= (at >= 0) & (at < shape[i])
        place = place * shape[i] + np.clip(at, 0, shape[i] - 1)
    return place.reshape(tuple(out) + (-1,)), inside.reshape(tuple(out) + (-1,))


def _largest(x, kernel, stride, before, dilation, out):
    n = len(kernel)
    place, inside = _windows(x.shape[-n:], kernel, stride, before, dilation, out)
    values = x.asnumpy().reshape(tuple(x.shape[:-n]) + (-1,))[..., place]
    values = np.where(inside, values.astype(np.float64), -np.inf)
    best = values.argmax(-1)
    return np.take_along_axis(np.broadcast_to(place, values.shape), best[..., None], -1)[..., 0]


def _pool_sizes(mode, size, kernel, stride):
    """(sizes of the result, padding in front) of MindSpore's modes."""
    if mode.lower() == "same":
        out = [-(-n // s) for n, s in zip(size, stride)]
        pad = [max(0, (o - 1) * s + k - n) for o, n, k, s in zip(out, size, kernel, stride)]
        return out, [p // 2 for p in pad]
    return [(n - k) // s + 1 for n, k, s in zip(size, kernel, stride)], [0] * len(size)


def _max_pool_with_argmax(self, x):
    """The largest element of each window, and its place in all channels of its image."""
    kernel, stride = _pair(self.kernel_size), _pair(self.strides)
    out, before = _pool_sizes(self.pad_mode, x.shape[-2:], kernel, stride)
    places = _largest(x, kernel, stride, before, (1, 1), out)
    first = np.arange(x.shape[1]).reshape((-1, 1, 1)) * (x.shape[2] * x.shape[3])
    return _taken(x, places, 2), Tensor((places + first).astype(np.int32))


def _max_pool3d_with_argmax(self, x):
    """The largest element of each window of a volume, and its place in the flattened volume."""
    kernel, stride, pad, dilation = (_pair(v, 3) for v in (self.ksize, self.strides, self.pads, self.dilation))
    out = []
    for n, k, s, p, d in zip(x.shape[-3:], kernel, stride, pad, dilation):
        span = n + 2 * p - d * (k - 1) - 1
        size = (-(-span // s) if self.ceil_mode else span // s) + 1
        out.append(size - 1 if self.ceil_mode and (size - 1) * s >= n + p else size)
    places = _largest(x, kernel, stride, pad, dilation, out)
    return _taken(x, places, 3), Tensor(places).astype(self.argmax_type)


_add("MaxPoolWithArgmax", _max_pool_with_argmax, "kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW'")
_add("MaxPool3DWithArgmax", _max_pool3d_with_argmax,
     "ksize, strides, pads, dilation=(1, 1, 1), ceil_mode=False, data_format='NCDHW', argmax_type=mstype.int64")


# --- windows of fractional size --------------------------------------------------------------------------------------

def _fixed_starts(sample, n, out, kernel):
    """Where the windows begin: steps of alpha, shifted by a random share, the last at the end."""
    if out == 1:
        return [n - kernel]
    alpha = (n - kernel) / (out - 1)
    return [int((i + sample) * alpha) - int(sample * alpha) for i in range(out - 1)] + [n - kernel]


def _fixed(rank, order):
    def call(self, x, random_samples):
        """The largest element of each window of fixed size; the windows lie at random."""
        kernel, out = _pair(self.ksize, rank), _pair(self.output_shape, rank)
        batched = x if x.ndim == rank + 2 else x.expand_dims(0)
        samples, values = random_samples.asnumpy(), batched.asnumpy()
        shape = batched.shape[-rank:]
        places = np.zeros(tuple(batched.shape[:2]) + tuple(out), np.int64)
        for b in range(places.shape[0]):
            for c in range(places.shape[1]):
                starts = [_fixed_starts(float(samples[b, c, order[i]]), shape[i], out[i], kernel[i]) for i in range(rank)]
                for cell in np.ndindex(*out):
                    box = tuple(slice(starts[i][cell[i]], starts[i][cell[i]] + kernel[i]) for i in range(rank))
                    part = values[(b, c, *box)]
                    at = np.unravel_index(int(part.argmax()), part.shape)
                    places[(b, c, *cell)] = np.ravel_multi_index([starts[i][cell[i]] + at[i] for i in range(rank)], shape)
        pooled, where = _taken(batched, places, rank), Tensor(places)
        return (pooled, where) if x.ndim == rank + 2 else (pooled[0], where[0])
    return call


_add("FractionalMaxPoolWithFixedKsize", _fixed(2, (1, 0)), "ksize, output_shape, data_format='NCHW'")
_add("FractionalMaxPool3DWithFixedKsize", _fixed(3, (0, 1, 2)), "ksize, output_shape, data_format='NCDHW'")


def _cuts(n, out, pseudo, generator):
    """The borders of `out` neighbouring windows over n elements: rows of one or two sizes, in random order."""
    if n == out:
        return list(range(n + 1))
    if pseudo:
        alpha, k = n / out, n // out
        u = generator.rand() * max(0.0, min((k + 2) / alpha - 1, (n + 1) / alpha - (out - 1)))
        return [0] + [int(alpha * (i + u)) - int(alpha * u) for i in range(1, out)] + [n]
    k = n // out
    sizes = [k + 1] * (n % out) + [k] * (out - n % out)
    generator.shuffle(sizes)
    return [0, *np.cumsum(sizes).tolist()]


def _fractional(largest):
    def call(self, x):
        """Pooling of (batch, height, width, channels) by windows of nearly equal size at random borders; the borders follow."""
        ratio = self.pooling_ratio
        generator = np.random.RandomState(self.seed or self.seed2 or int(np.random.randint(2 ** 31 - 1)) if not self.deterministic
                                          else (self.seed or 1))
        rows = _cuts(x.shape[1], int(x.shape[1] / ratio[1]), self.pseudo_random, generator)
        cols = _cuts(x.shape[2], int(x.shape[2] / ratio[2]), self.pseudo_random, generator)
        more = 1 if self.overlapping else 0
        lines = []
        for r in range(len(rows) - 1):
            line = []
            for c in range(len(cols) - 1):
                box = x[:, rows[r]:min(rows[r + 1] + more, x.shape[1]), cols[c]:min(cols[c + 1] + more, x.shape[2]), :]
                line.append(_op("amax")(box, (1, 2)) if largest else box.mean((1, 2)))
            lines.append(_op("stack")(line, 1))
        return _op("stack")(lines, 1), Tensor(rows, mstype.int64), Tensor(cols, mstype.int64)
    return call


_FRACTIONAL = "pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0"
_add("FractionalMaxPool", _fractional(True), _FRACTIONAL)
_add("FractionalAvgPool", _fractional(False), _FRACTIONAL)


# --- patches ---------------------------------------------------------------------------------------------------------

def _patches(x, kernel, stride, dilation, mode, n):
    """(batch, elements of a window x channels, windows...) of x in channels-first layout, the elements of one window first."""
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    out, before = _pool_sizes(mode, x.shape[-n:], span, stride)
    place, inside = _windows(x.shape[-n:], kernel, stride, before, dilation, out)
    lead = tuple(x.shape[:2])
    flat = x.reshape(lead + (-1,))
    places = Tensor(np.ascontiguousarray(place.reshape(-1, place.shape[-1]).T).reshape(-1))
    found = _op("gather")(flat, places, 2).reshape(lead + (place.shape[-1],) + tuple(out))
    mask = Tensor(np.ascontiguousarray(np.moveaxis(inside.reshape(tuple(out) + (-1,)), -1, 0)).astype(np.float32)).astype(x.dtype)
    found = found * mask
    return _op("swapaxes")(found, 1, 2).reshape((x.shape[0], -1) + tuple(out))


def _image_patches(self, input_x):
    """Patches of images, side by side in the channels."""
    return _patches(input_x, _pair(self.ksizes), _pair(self.strides), _pair(self.rates), self.padding, 2)


def _volume_patches(self, input_x):
    """Patches of volumes, side by side in the channels."""
    kernel, stride = _pair(self.kernel_size, 3), _pair(self.strides, 3)
    return _patches(input_x, kernel, stride, (1, 1, 1), self.padding, 3)


_add("ExtractImagePatches", _image_patches, "ksizes, strides, rates, padding='valid'")
_add("ExtractVolumePatches", _volume_patches, "kernel_size, strides, padding")


def _dilate(self, x, filter):
    """The largest sum of a window of the image and the filter, channel by channel."""
    kernel, stride, dilation = tuple(filter.shape[1:]), _pair(self.stride), _pair(self.dilation)
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    out, before = _pool_sizes(self.pad_mode, x.shape[-2:], span, stride)
    place, inside = _windows(x.shape[-2:], kernel, stride, before, dilation, out)
    lead = tuple(x.shape[:2])
    found = _op("gather")(x.reshape(lead + (-1,)), Tensor(place.reshape(-1)), 2).reshape(lead + place.shape)
    low = Tensor(np.where(inside, 0.0, -3e38).astype(np.float32)).astype(x.dtype)
    summed = found + filter.reshape((1, -1, 1, 1, kernel[0] * kernel[1])) + low
    return _op("amax")(summed, -1)


_add("Dilation2D", _dilate, "stride, dilation, pad_mode='SAME', data_format='NCHW'")


# --- convolution -----------------------------------------------------------------------------------------------------

def _depthwise(self, x, w):
    """A convolution of each channel with filters of its own: w is (multiplier, channels, height, width)."""
    multiplier, channels = w.shape[0], x.shape[1]
    weight = _op("swapaxes")(w, 0, 1).reshape((channels * multiplier, 1) + tuple(w.shape[2:]))
    conv = _op("Conv2D")(channels * multiplier, self.kernel_size, pad_mode=self.pad_mode, pad=self.pad, stride=_pair(self.stride),
                         dilation=_pair(self.dilation), group=channels)
    return conv(x, weight)


def _conv3d_transpose(self, dout, weight, bias=None):
    """The gradient of a convolution of volumes by its input, as an operator."""
    stride, dilation, more = _pair(self.stride, 3), _pair(self.dilation, 3), _pair(self.output_padding, 3)
    kernel = weight.shape[2:]
    pads = self.pad if isinstance(self.pad, (tuple, list)) else (self.pad,) * 6
    mode = self.pad_mode.lower()
    if mode == "pad":
        sizes = [(n - 1) * s - pads[2 * i] - pads[2 * i + 1] + d * (k - 1) + 1 + m
                 for i, (n, s, k, d, m) in enumerate(zip(dout.shape[2:], stride, kernel, dilation, more))]
    elif mode == "same":
        sizes = [n * s for n, s in zip(dout.shape[2:], stride)]
    else:
        sizes = [(n - 1) * s + d * (k - 1) + 1 for n, s, k, d in zip(dout.shape[2:], stride, kernel, dilation)]
    conv = _op("Conv3D")(weight.shape[0], tuple(kernel), pad_mode=self.pad_mode, pad=self.pad, stride=stride, dilation=dilation,
                         group=self.group)
    from .gradients import pull
    like = _op("zeros")((dout.shape[0], weight.shape[1] * self.group, *sizes), dout.dtype)
    found = pull(lambda x: conv(x, weight), (like,), dout)
    return found if bias is None else found + bias.reshape((1, -1, 1, 1, 1))


_add("DepthwiseConv2dNative", _depthwise, "channel_multiplier, kernel_size, mode=3, pad_mode='valid', pad=0, stride=1, dilation=1, group=1")
_add("Conv3DTranspose", _conv3d_transpose, "in_channel, out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=1, dilation=1, "
     "group=1, output_padding=0, data_format='NCDHW'")


def conv3d_transpose(inputs, weight, pad_mode="valid", padding=0, stride=1, dilation=1, group=1, output_padding=0):
    """See Conv3DTranspose."""
    kind = globals()["Conv3DTranspose"]
    return kind(weight.shape[0], weight.shape[1] * group, tuple(weight.shape[2:]), pad_mode=pad_mode, pad=padding, stride=stride,
                dilation=dilation, group=group, output_padding=output_padding)(inputs, weight)


def _deformed(self, x, offsets):
    """Elements of an image at the places of a convolution's windows, moved by offsets and weighted by the mask behind them."""
    channels_last = self.data_format == "NHWC"
    if channels_last:
        x, offsets = x.transpose(0, 3, 1, 2), offsets.transpose(0, 3, 1, 2)
    (kh, kw), (sh, sw), (dh, dw) = _pair(self.ksize), self._steps(self.strides), self._steps(self.dilations)
    batch, channels, height, width = x.shape
    groups = self.deformable_groups
    oh, ow = offsets.shape[2:]
    parts = offsets.reshape((batch, -1, groups, kh * kw, oh, ow))
    base_x = (np.arange(ow) * sw - self.pads[2])[None, None, :] + (np.tile(np.arange(kw), kh) * dw)[:, None, None]
    base_y = (np.arange(oh) * sh - self.pads[0])[None, :, None] + (np.repeat(np.arange(kh), kw) * dh)[:, None, None]
    px, py = parts[:, 0] + Tensor(base_x.astype(np.float32)), parts[:, 1] + Tensor(base_y.astype(np.float32))
    weight = parts[:, 2] if parts.shape[1] > 2 else _op("ones_like")(px)
    lines = x.reshape((batch, groups, channels // groups, height * width))
    total = None
    fx, fy = _op("floor")(px), _op("floor")(py)
    for step_y in (0, 1):
        for step_x in (0, 1):
            cx, cy = fx + step_x, fy + step_y
            near = (1 - _op("abs")(px - cx)) * (1 - _op("abs")(py - cy))
            inside = ((cx >= 0).astype(x.dtype) * (cx < width).astype(x.dtype) * (cy >= 0).astype(x.dtype) * (cy < height).astype(x.dtype))
            place = (_op("clamp")(cy, 0, height - 1) * width + _op("clamp")(cx, 0, width - 1)).astype(mstype.int64)
            flat = place.reshape((batch, groups, 1, -1)).broadcast_to((batch, groups, channels // groups, kh * kw * oh * ow))
            value = _op("gather_elements")(lines, 3, flat).reshape((batch, groups, channels // groups, kh * kw, oh, ow))
            term = value * (near * inside * weight).expand_dims(2)
            total = term if total is None else total + term
    found = total.reshape((batch, channels, kh, kw, oh, ow)).transpose(0, 1, 4, 2, 5, 3).reshape((batch, channels, oh * kh, ow * kw))
    return found.transpose(0, 2, 3, 1) if channels_last else found


_add("DeformableOffsets", _deformed,
    "strides, pads, ksize, dilations=(1, 1, 1, 1), data_format='NCHW', deformable_groups=1, modulated=True")
globals()["DeformableOffsets"]._steps = lambda self, v: (v[2], v[3]) if self.data_format == "NCHW" else (v[1], v[2])


# --- sizes of images -------------------------------------------------------------------------------------------------

def _area_weights(n, out, corners):
    """(out, n): how much of every element falls into each interval of the result."""
    scale = (n - 1) / (out - 1) if corners and out > 1 else n / out
    weights = np.zeros((out, n), np.float64)
    for i in range(out):
        low, high = i * scale, (i + 1) * scale
        for j in range(int(np.floor(low)), int(np.ceil(high))):
            share = min(j + 1, high) - max(j, low)
            weights[i, min(max(j, 0), n - 1)] += share
    return (weights / scale).astype(np.float32)


def _resize_area(self, images, size):
    """Images (batch, height, width, channels) in another size, every element the mean of the area it covers."""
    height, width = ints_of(size, "size")
    rows = Tensor(_area_weights(images.shape[1], height, self.align_corners))
    cols = Tensor(_area_weights(images.shape[2], width, self.align_corners))
    x = images.astype(mstype.float32).transpose(0, 3, 1, 2)
    return _op("matmul")(_op("matmul")(rows, x), cols.T).transpose(0, 2, 3, 1)


def _resize_line(self, x, size):
    """Rows in another length by linear interpolation."""
    if self.coordinate_transformation_mode not in ("align_corners", "half_pixel"):
        raise ValueError("For 'ResizeLinear1D', coordinate_transformation_mode must be 'align_corners' or 'half_pixel', but got "
                         f"{self.coordinate_transformation_mode!r}")
    corners = self.coordinate_transformation_mode == "align_corners"
    return _op("interpolate")(x, ints_of(size, "size")[0], mode="linear", align_corners=corners)


def _glimpse(self, x, size, offsets):
    """Parts of images (batch, height, width, channels) around places; noise, or zeros, where they leave the image."""
    height, width = ints_of(size, "size")
    rows, cols, places = x.shape[1], x.shape[2], offsets.asnumpy().astype(np.float64)
    pictures, out = x.asnumpy(), np.zeros((x.shape[0], height, width, x.shape[3]), np.float32)
    if self.noise == "uniform" and self.uniform_noise:
        out[:] = np.random.randint(0, 255, out.shape)
    elif self.noise == "gaussian":
        out[:] = np.clip(np.random.normal(pictures.mean(), pictures.std(), out.shape), 0, None)
    for b, (y, c) in enumerate(places):
        if self.normalized:
            y, c = y * rows, c * cols
            if self.centered:
                y, c = (y + rows) / 2, (c + cols) / 2
        elif self.centered:
            y, c = y + rows / 2, c + cols / 2
        top, left = int(y - height / 2.0), int(c - width / 2.0)
        r0, r1, c0, c1 = max(0, top), min(rows, top + height), max(0, left), min(cols, left + width)
        if r0 < r1 and c0 < c1:
            out[b, r0 - top:r1 - top, c0 - left:c1 - left] = pictures[b, r0:r1, c0:c1]
    return Tensor(out)


_KERNELS = {
    "lanczos1": (1.0, lambda x: _lanczos(x, 1.0)), "lanczos3": (3.0, lambda x: _lanczos(x, 3.0)),
    "lanczos5": (5.0, lambda x: _lanczos(x, 5.0)), "gaussian": (1.5, lambda x: np.exp(-x * x / (2 * 0.25)) * (np.abs(x) < 1.5)),
    "box": (0.5, lambda x: np.where(np.abs(x) < 0.5, 1.0, np.where(np.abs(x) == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.maximum(0, 1 - np.abs(x))),
    "keyscubic": (2.0, lambda x: _cubic(x, -0.5)), "mitchellcubic": (2.0, lambda x: _mitchell(x))}


def _lanczos(x, radius):
    x = np.abs(x)
    return np.where(x <= radius, np.sinc(x) * np.sinc(x / radius), 0.0)


def _cubic(x, a):
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x >= 2, 0.0, np.where(x >= 1, far, near))


def _mitchell(x):
    x = np.abs(x)
    near = (7 / 6 * x - 2) * x * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0.0, np.where(x >= 1, far, near))


def _spans(n, out, scale, shift, kernel, antialias):
    """(out, n) weights of a resampling with a kernel."""
    radius, function = _KERNELS[kernel]
    back, half = np.float32(1.0) / np.float32(scale), np.float32(0.5)  # float32 decides what lies on a border
    offset = -np.float32(shift) / np.float32(scale)
    stretch = max(back, np.float32(1.0)) if antialias else np.float32(1.0)
    weights = np.zeros((out, n))
    for i in range(out):
        at = (np.float32(i) + half) * back + offset
        if at < 0 or at > n:
            continue
        low = max(int(np.ceil(at - np.float32(radius) * stretch - half)), 0)
        high = min(int(np.floor(at + np.float32(radius) * stretch - half)), n - 1)
        values = function(((np.arange(low, high + 1, dtype=np.float32) + half - at) / stretch).astype(np.float64))
        total = values.sum()
        if abs(total) >= 1000 * np.finfo(np.float32).tiny:
            weights[i, low:high + 1] = values / total
    return weights.astype(np.float32)


def _scale_and_translate(self, images, size, scale, translation):
    """Images (batch, height, width, channels) scaled and moved, with a kernel."""
    if self.kernel_type not in _KERNELS:
        raise ValueError(f"For 'ScaleAndTranslate', kernel_type must be one of {sorted(_KERNELS)}, but got {self.kernel_type!r}")
    height, width = ints_of(size, "size")
    (sy, sx), (ty, tx) = (t.asnumpy().astype(np.float64).tolist() for t in (scale, translation))
    rows = Tensor(_spans(images.shape[1], height, sy, ty, self.kernel_type, self.antialias))
    cols = Tensor(_spans(images.shape[2], width, sx, tx, self.kernel_type, self.antialias))
    x = images.astype(mstype.float32).transpose(0, 3, 1, 2)
    return _op("matmul")(_op("matmul")(rows, x), cols.T).transpose(0, 2, 3, 1)


_add("ResizeArea", _resize_area, "align_corners=False")
_add("ResizeLinear1D", _resize_line, "coordinate_transformation_mode='align_corners'")
_add("ExtractGlimpse", _glimpse, "centered=True, normalized=True, uniform_noise=True, noise='uniform'")
_add("ScaleAndTranslate", _scale_and_translate, "kernel_type='lanczos3', antialias=True")


# --- normalisation of each picture -----------------------------------------------------------------------------------

def _contrast(images, contrast_factor):
    """Images with every channel's distance from its mean scaled."""
    mean = images.mean((-3, -2), keep_dims=True)
    return (images - mean) * contrast_factor + mean


AdjustContrastv2 = plain("AdjustContrastv2", _contrast)


def _instance_norm(self, x, gamma, beta, mean, variance):
    """Every channel of every image normalised; its mean and variance follow. The moving ones are updated."""
    axes = tuple(range(2, x.ndim))
    shape = (1, -1) + (1,) * (x.ndim - 2)
    found_mean = x.mean(axes, keep_dims=True)
    found_var = ((x - found_mean) ** 2).mean(axes, keep_dims=True)
    out = (x - found_mean) * _op("rsqrt")(found_var + self.epsilon) * gamma.reshape(shape) + beta.reshape(shape)
    return out, found_mean.reshape((-1,)), found_var.reshape((-1,))


_add("InstanceNorm", _instance_norm, "epsilon=1e-05, momentum=0.1")

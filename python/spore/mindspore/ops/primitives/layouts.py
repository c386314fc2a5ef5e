# SPDX-License-Identifier: Apache-2.0
"""Primitives of shapes, layouts and colours, and those that check."""
from ... import _core
from ..._core import Tensor
from ...common import dtype as mstype
from .. import array, creation, nn, scattering
from .._make import plain, primitive
from ..array import ints_of, of_rank

__all__ = []

_apply = _core.apply


def _add(cls):
    globals()[cls.__name__] = cls
    __all__.append(cls.__name__)


def _op(name):
    from ... import ops
    return getattr(ops, name)


# --- shapes and layouts ----------------------------------------------------------------------------------------------

_add(primitive("Pack", lambda self, *tensors: array.stack(tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list))
                                                          else tensors, self.axis), "axis=0", "The old name of Stack."))
_add(primitive("Unpack", lambda self, input_x: array.unstack(input_x, self.axis), "axis=0, num=None", "The old name of Unstack."))
_add(primitive("ChannelShuffle", lambda self, x: nn.channel_shuffle(x, self.group), "group", "See ops.channel_shuffle."))
_add(plain("Expand", lambda x, shape: array.expand(x, shape), "See ops.expand."))
_add(plain("Fills", creation.fills))


def _layout(self):
    src, dst = self.src_format, self.dst_format
    if sorted(src) != sorted(dst) or len(set(src)) != len(src):
        raise ValueError(f"{self.name}: src_format and dst_format must have the same letters, but are {src!r} and {dst!r}")
    return src, dst


def _dim_map(self, input_x):
    """Numbers of dimensions in one layout as those in another."""
    src, dst = _layout(self)
    table = Tensor([src.index(letter) for letter in dst], input_x.dtype)  # so does MindSpore, other than TensorFlow
    return scattering.gather(table, _apply("select", (input_x < 0, input_x + len(src), input_x)), 0)


def _vec_permute(self, input_x):
    """Values of dimensions from one layout in the order of another."""
    src, dst = _layout(self)
    spatial = [c for c in src if c in "DHW"] if input_x.shape[0] < len(src) else src
    order = [spatial.index(c) for c in dst if c in spatial]
    return scattering.gather(input_x, Tensor(order, mstype.int64), 0)


_add(primitive("DataFormatDimMap", _dim_map, "src_format='NHWC', dst_format='NCHW'"))
_add(primitive("DataFormatVecPermute", _vec_permute, "src_format='NHWC', dst_format='NCHW'"))


def _to_dense(indices, values, sparse_shape):
    """A Tensor with values at places and zeros elsewhere."""
    return _op("scatter_nd")(indices, values, ints_of(sparse_shape, "sparse_shape"))


def _index_put(self, x1, x2, indices):
    """x1 with elements at the places of index tensors replaced by x2, or x2 added there (accumulate)."""
    return _apply("index_put", (_apply("copy", (x1,)), x2, *indices), {"axes": tuple(range(len(indices))),
                                                                      "accumulate": bool(self.accumulate)})


def _sub_and_filter(input_x, max_num, offset):
    """Elements minus offset, those outside of [0, max_num) left out, and where the others stood."""
    shifted = input_x - offset
    kept = _op("nonzero")(_apply("logical_and", (shifted >= 0, shifted < max_num)))[:, 0]
    return shifted[kept], kept.astype(input_x.dtype)


_add(plain("SparseToDense", _to_dense))
_add(primitive("IndexPut", _index_put, "accumulate=0"))
_add(plain("SubAndFilter", _sub_and_filter))
_add(plain("TensorToTuple", lambda input_tensor: tuple(input_tensor.tolist()), "The numbers of a Tensor of one dimension."))
_add(plain("MaskedScatter", lambda x, mask, updates: scattering.masked_scatter(x, mask, updates), "See Tensor.masked_scatter."))


def _ragged(self, starts, limits, deltas):
    """Ranges one after another, and where each begins."""
    rows = [t.tolist() if t.ndim else [t.item()] for t in (starts, limits, deltas)]
    n = max(len(row) for row in rows)
    splits, values = [0], []
    for start, limit, delta in zip(*(row * n if len(row) == 1 else row for row in rows)):
        count = max(0, -int(-(limit - start) // delta))
        values.extend(start + i * delta for i in range(count))
        splits.append(len(values))
    return Tensor(splits, self.Tsplits), Tensor(values, starts.dtype)


_add(primitive("RaggedRange", _ragged, "Tsplits"))


# --- checks ----------------------------------------------------------------------------------------------------------

def _check_numerics(x):
    """The input, whose elements must all be finite."""
    if not _op("isfinite")(x).all():
        raise RuntimeError("CheckNumerics: the Tensor has elements that are infinite or no numbers")
    return x


def _assert(self, condition, input_data):
    """Stop with an error that shows the data, unless the condition holds."""
    if not bool(condition.all() if isinstance(condition, Tensor) else condition):
        raise RuntimeError(f"Assert: the condition does not hold; the data: {[str(x) for x in input_data]}")


_add(plain("CheckNumerics", _check_numerics))
_add(primitive("Assert", _assert, "summarize=3"))


# --- colours ---------------------------------------------------------------------------------------------------------

def _colours(images, who):
    if of_rank(images, 1, None, who, "the image").shape[-1] != 3:
        raise ValueError(f"For '{who}', the last dimension of the image must be 3, but its shape is {images.shape}")


def _to_hsv(images):
    """Hue, saturation and value, in [0, 1], of red, green and blue in the last dimension."""
    _colours(images, "RGBToHSV")
    red, green, blue = (images[..., i] for i in range(3))
    high, low = images.max(axis=-1), images.min(axis=-1)
    gap = high - low
    safe = _apply("select", (gap == 0, 1.0, gap)).astype(images.dtype)
    hue = _apply("select", (high == red, (green - blue) / safe, _apply("select", (
        high == green, (blue - red) / safe + 2, (red - green) / safe + 4)))) / 6
    hue = _apply("select", (gap == 0, 0.0, hue - _op("floor")(hue)))
    saturation = _apply("select", (high == 0, 0.0, gap / _apply("select", (high == 0, 1.0, high))))
    return array.stack((hue, saturation, high), -1).astype(images.dtype)


def _to_rgb(x):
    """Red, green and blue of hue, saturation and value in the last dimension."""
    _colours(x, "HSVToRGB")
    hue, saturation, value = x[..., 0] * 6, x[..., 1], x[..., 2]

    def channel(offset):
        k = hue + offset
        k = k - 6 * _op("floor")(k / 6)
        share = _op("clamp")(_op("minimum")(k, 4 - k), 0, 1)
        return value - value * saturation * share
    return array.stack(tuple(channel(offset) for offset in (5, 3, 1)), -1).astype(x.dtype)


def _adjusted(channel, combine, doc):
    def function(image, delta):
        parts = [_to_hsv(image)[..., i] for i in range(3)]
        parts[channel] = combine(parts[channel], delta)
        return _to_rgb(array.stack(tuple(parts), -1)).astype(image.dtype)
    function.__doc__ = doc
    return function


_add(plain("RGBToHSV", _to_hsv))
_add(plain("HSVToRGB", _to_rgb))
_add(plain("AdjustHue", _adjusted(0, lambda hue, delta: hue + delta - _op("floor")(hue + delta), "Colours with their hue turned.")))
_add(plain("AdjustSaturation", _adjusted(1, lambda s, scale: _op("clamp")(s * scale, 0, 1), "Colours with their saturation scaled.")))

# SPDX-License-Identifier: Apache-2.0
"""Rows combined by the segment they belong to; pooling undone; rows replaced by number; bits counted."""
from .. import _core
from .._core import Tensor
from ..common import dtype as mstype
from . import array, creation, scattering
from ._make import plain, primitive
from .array import axis_of, ints_of, of_rank, tensor_of

__all__ = ["SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd", "sparse_segment_mean", "max_unpool1d",
           "max_unpool2d", "max_unpool3d", "MaxUnpool2D", "MaxUnpool3D", "inplace_add", "inplace_sub", "inplace_update",
           "inplace_index_add", "InplaceAdd", "InplaceSub", "InplaceUpdate", "InplaceUpdateV2", "InplaceIndexAdd",
           "population_count", "PopulationCount", "pdist", "Pdist", "msort", "UnravelIndex", "InvertPermutation", "ListDiff",
           "mirror_pad", "eps", "Eps", "bidense"]

_apply = _core.apply


# --- segments --------------------------------------------------------------------------------------------------------

def _segments(ids):
    return int(ids[-1].item()) + 1 if ids.size else 0


def _segment(combine, nothing, doc):
    def call(self, input_x, segment_ids):
        n = _segments(segment_ids)
        combined = combine(input_x, segment_ids, n)
        filled = scattering.unsorted_segment_sum(creation.ones_like(segment_ids), segment_ids, n)
        filled = filled.reshape((n,) + (1,) * (input_x.ndim - 1))
        return _apply("cast", (_apply("select", (_apply("greater", (filled, 0)), combined, nothing)),), {"dtype": input_x.dtype})
    call.__doc__ = doc
    return call


def _mean_of(x, ids, n):
    total = scattering.unsorted_segment_sum(x, ids, n)
    count = scattering.unsorted_segment_sum(creation.ones_like(ids), ids, n).astype(x.dtype)
    return _apply("div", (total, _apply("select", (_apply("equal", (count, 0)), 1, count)).reshape((n,) + (1,) * (x.ndim - 1))))


_DOC = "{} of the rows of each segment; segment_ids are in order. A segment without rows is {}."
SegmentSum = primitive("SegmentSum", _segment(scattering.unsorted_segment_sum, 0, _DOC.format("The sum", "zero")))
SegmentMean = primitive("SegmentMean", _segment(_mean_of, 0, _DOC.format("The mean", "zero")))
SegmentMax = primitive("SegmentMax", _segment(scattering.unsorted_segment_max, 0, _DOC.format("The maximum", "zero")))
SegmentMin = primitive("SegmentMin", _segment(scattering.unsorted_segment_min, 0, _DOC.format("The minimum", "zero")))
SegmentProd = primitive("SegmentProd", _segment(scattering.unsorted_segment_prod, 1, _DOC.format("The product", "one")))


def sparse_segment_mean(x, indices, segment_ids) -> Tensor:
    """The mean of those rows that the indices name, by segment."""
    return SegmentMean()(scattering.gather(x, indices, 0), segment_ids)


# --- pooling undone --------------------------------------------------------------------------------------------------

def _sizes(value, n, name):
    value = (value,) * n if isinstance(value, int) else ints_of(value, name)
    return (value[0],) * n if len(value) == 1 else value


def _unpool(x, indices, n, kernel_size, stride, padding, output_size, name):
    """Elements back at the places pooling took them from; zeros elsewhere."""
    if x.shape != indices.shape:
        raise ValueError(f"{name}: x has shape {x.shape} and indices have {indices.shape}; they must be equal")
    if x.ndim not in (n + 1, n + 2):
        raise ValueError(f"{name}: x must have {n + 1} or {n + 2} dimensions, but its shape is {x.shape}")
    kernel = _sizes(kernel_size, n, "kernel_size")
    step = kernel if stride in (None, 0, ()) else _sizes(stride, n, "stride")
    pads = _sizes(padding, n, "padding")
    size = tuple((x.shape[i - n] - 1) * step[i] - 2 * pads[i] + kernel[i] for i in range(n))
    if output_size not in (None, ()):
        given = ints_of(output_size, "output_size")[-n:]
        for want, got, s in zip(size, given, step):
            if not want - s < got < want + s:
                raise ValueError(f"{name}: output_size {given} is more than a stride away from {size}")
        size = given
    elements = 1
    for k in size:
        elements *= k
    lead = x.shape[:-n]
    places = indices.reshape(lead + (-1,)).astype(mstype.int64)
    if places.size and not 0 <= int(places.min().item()) <= int(places.max().item()) < elements:
        raise ValueError(f"{name}: indices must be in [0, {elements}), the places of {size}")
    flat = scattering.tensor_scatter_elements(creation.zeros(lead + (elements,), x.dtype), places, x.reshape(lead + (-1,)), len(lead))
    return flat.reshape(lead + size)


def max_unpool1d(x, indices, kernel_size, stride=None, padding=0, output_size=None) -> Tensor:
    """max_pool1d undone: maxima back at their places, zeros elsewhere."""
    tensor_of(x, "x", "max_unpool1d")
    return _unpool(x, indices, 1, kernel_size, stride, padding, output_size, "max_unpool1d")


def max_unpool2d(x, indices, kernel_size, stride=None, padding=0, output_size=None) -> Tensor:
    """max_pool2d undone: maxima back at their places, zeros elsewhere."""
    tensor_of(x, "x", "max_unpool2d")
    return _unpool(x, indices, 2, kernel_size, stride, padding, output_size, "max_unpool2d")


def max_unpool3d(x, indices, kernel_size, stride=None, padding=0, output_size=None) -> Tensor:
    """max_pool3d undone: maxima back at their places, zeros elsewhere."""
    tensor_of(x, "x", "max_unpool3d")
    return _unpool(x, indices, 3, kernel_size, stride, padding, output_size, "max_unpool3d")


def _unpool_class(name, n, layout):
    def call(self, x, argmax):
        channels_last = self.data_format != layout
        if channels_last:
            x, argmax = (array.moveaxis(t, -1, 1) for t in (x, argmax))
        ksize, strides, pads = (v[2:] if isinstance(v, (tuple, list)) and len(v) == n + 2 else v
                                for v in (self.ksize, self.strides, self.pads))
        out = _unpool(x, argmax, n, ksize, strides, pads, self.output_shape, name)
        return array.moveaxis(out, 1, -1) if channels_last else out
    call.__doc__ = "Pooling undone: maxima back at their places, zeros elsewhere."
    return primitive(name, call, f"ksize, strides=0, pads=0, output_shape=(), data_format='{layout}'")


MaxUnpool2D, MaxUnpool3D = _unpool_class("MaxUnpool2D", 2, "NCHW"), _unpool_class("MaxUnpool3D", 3, "NCDHW")


# --- rows by number --------------------------------------------------------------------------------------------------

def _rows_of(indices):
    indices = (indices,) if isinstance(indices, int) else indices
    return indices if isinstance(indices, Tensor) else Tensor(list(indices), mstype.int64)


def _rows_combined(reduce, doc):
    def function(x, v, indices):
        return _apply("index_combine" if reduce != "none" else "index_put",
                      (_apply("copy", (x,)), v, _rows_of(indices)),
                      {"axes": (0,), "reduce": reduce} if reduce != "none" else {"axes": (0,), "accumulate": False})
    function.__doc__ = doc
    return function


inplace_add = _rows_combined("add", "v added to the rows of x that the indices name.")
inplace_update = _rows_combined("none", "The rows of x that the indices name replaced by v.")


def inplace_sub(x, v, indices) -> Tensor:
    """v taken from the rows of x that the indices name."""
    return inplace_add(x, _apply("neg", (v,)), indices)


for _function, _name in ((inplace_add, "inplace_add"), (inplace_update, "inplace_update")):
    _function.__name__ = _function.__qualname__ = _name


def inplace_index_add(var, indices, updates, axis) -> Tensor:
    """Updates added to slices of a Parameter along an axis, in place."""
    return scattering.index_add(var, indices, updates, axis_of(axis, var.ndim))


InplaceAdd = primitive("InplaceAdd", lambda self, x, input_v: inplace_add(x, input_v, self.indices), "indices", inplace_add.__doc__)
InplaceSub = primitive("InplaceSub", lambda self, x, input_v: inplace_sub(x, input_v, self.indices), "indices", inplace_sub.__doc__)
InplaceUpdate = primitive("InplaceUpdate", lambda self, x, v: inplace_update(x, v, self.indices), "indices", inplace_update.__doc__)
InplaceUpdateV2 = primitive("InplaceUpdateV2", lambda self, x, indices, v: inplace_update(x, v, indices), doc=inplace_update.__doc__)
InplaceIndexAdd = primitive("InplaceIndexAdd", lambda self, var, indices, updates: inplace_index_add(
    var, indices, updates, self.axis), "axis", inplace_index_add.__doc__)


# --- numbers, orders -------------------------------------------------------------------------------------------------

def population_count(input_x) -> Tensor:
    """How many bits of each integer are one, as uint8."""
    tensor_of(input_x, "input_x", "population_count")
    if input_x.dtype not in (mstype.int8, mstype.int16, mstype.int32, mstype.int64, mstype.uint8, mstype.uint16, mstype.uint32,
                             mstype.uint64):
        raise TypeError(f"population_count: the input must be integers, but its dtype is {input_x.dtype}")
    from .. import ops
    count = 0
    for bit in range(8 * input_x.itemsize):
        shifted = ops.bitwise_right_shift(input_x, Tensor(bit, input_x.dtype))
        count = count + ops.bitwise_and(shifted, Tensor(1, input_x.dtype))
    return count.astype(mstype.uint8)


def pdist(input, p=2.0) -> Tensor:
    """The distances between all pairs of rows, (0, 1), (0, 2), ... (1, 2), ..."""
    from .. import ops
    n = of_rank(input, 2, None, "pdist").shape[-2]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    first, second = (Tensor([pair[k] for pair in pairs], mstype.int64) for k in (0, 1))
    gap = scattering.gather(input, first, input.ndim - 2) - scattering.gather(input, second, input.ndim - 2)
    if p == 0:
        return (gap != 0).astype(input.dtype).sum(-1)
    return ops.norm(gap, float(p), -1)


def msort(input) -> Tensor:
    """Sorted along the first dimension."""
    from .. import ops
    return ops.sort(input, 0)[0]


def mirror_pad(input_x, paddings, mode) -> Tensor:
    """Mirrored elements before and after each dimension; mode 'SYMMETRIC' repeats those at the edge, 'REFLECT' does not."""
    from .. import ops
    return ops.MirrorPad(mode)(input_x, paddings)


def eps(x) -> Tensor:
    """The step from one to the next number of the dtype, everywhere."""
    tensor_of(x, "x", "eps")
    step = {mstype.float16: 2.0 ** -10, mstype.float32: 2.0 ** -23, mstype.float64: 2.0 ** -52, mstype.bfloat16: 2.0 ** -7}.get(x.dtype)
    if step is None:
        raise TypeError(f"eps: the input must be a float, but its dtype is {x.dtype}")
    return _apply("add", (creation.zeros_like(x), step))


def bidense(input1, input2, weight, bias=None) -> Tensor:
    """A product of both inputs with a matrix for each output: input1 W input2."""
    from .. import ops
    out = ops.einsum("...i,oij,...j->...o", input1, weight, input2)
    return out if bias is None else out + bias


def _unravel(indices, dims):
    """The coordinates, one row a dimension, of elements counted in order."""
    sizes, rest, rows = dims.tolist(), indices, []
    for n in reversed(sizes):
        rows.append(rest % n)
        rest = rest // n
    return array.stack(rows[::-1], 0)


def _inverted(input_x):
    """The permutation that undoes one."""
    order = tuple(input_x)
    if sorted(order) != list(range(len(order))):
        raise ValueError(f"InvertPermutation: a permutation of the numbers from 0 on is wanted, but got {order}")
    back = [0] * len(order)
    for place, n in enumerate(order):
        back[n] = place
    return tuple(back)


def _only_in_first(self, x, y):
    """The elements of x that are not in y, and where they stand."""
    from .. import ops
    kept = ops.nonzero(ops.logical_not((x.expand_dims(1) == y.expand_dims(0)).any(1)))[:, 0]
    return x[kept], kept.astype(self.out_idx)


PopulationCount, Eps = plain("PopulationCount", population_count), plain("Eps", eps)
Pdist = primitive("Pdist", lambda self, x: pdist(x, self.p), "p=2.0", pdist.__doc__)
UnravelIndex, InvertPermutation = plain("UnravelIndex", _unravel), plain("InvertPermutation", _inverted)
ListDiff = primitive("ListDiff", _only_in_first, "out_idx=mstype.int32")

TENSOR_METHODS = {"msort": msort, "inplace_update": inplace_update}

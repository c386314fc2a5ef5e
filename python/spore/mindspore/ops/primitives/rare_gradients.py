# SPDX-License-Identifier: Apache-2.0
"""Gradients of the operators in windows.py and sparse_tensors.py as primitives of their own, and small primitives that MindSpore's
modules keep beside them."""
import numpy as np

from ..._core import Tensor
from ...common import dtype as mstype
from .._make import primitive
from ..array import ints_of
from .gradients import _by_places, _op, _size, pull


def _add(name, call, init="", doc="The gradient of an operator."):
    globals()[name] = primitive(name, call, init, doc)


def _values(t):
    """The numbers of a Tensor or a sequence that decide about shapes."""
    return np.asarray(t.asnumpy() if isinstance(t, Tensor) else t)


# --- of windows ------------------------------------------------------------------------------------------------------

_add("DeformableOffsetsGrad", lambda self, out_backprop, input, offsets: pull(_op("DeformableOffsets")(
    self.strides, self.pads, self.kernel_size, self.dilations, self.data_format, self.deformable_groups, self.modulated),
    (input, offsets), out_backprop), "strides, pads, kernel_size, dilations=(1, 1, 1, 1), data_format='NCHW', deformable_groups=1, "
    "modulated=True")

_DILATION = "stride, dilation, pad_mode='SAME', data_format='NCHW'"


def _dilated(self):
    return _op("Dilation2D")(self.stride, self.dilation, self.pad_mode, self.data_format)


_add("Dilation2DBackpropInput", lambda self, x, filter, out_backprop: pull(lambda t: _dilated(self)(t, filter), (x,), out_backprop),
     _DILATION)
_add("Dilation2DBackpropFilter", lambda self, x, filter, out_backprop: pull(lambda t: _dilated(self)(x, t), (filter,), out_backprop),
     _DILATION)


def _bounds(sequence, size, overlapping):
    """[(begin, end)] of the windows between the numbers of a pooling sequence."""
    marks = [int(n) for n in _values(sequence)]
    return [(a, min(b + 1, size) if overlapping else b) for a, b in zip(marks, marks[1:])]


def _average_fraction(self, orig_input_tensor_shape, out_backprop, row_pooling_sequence, col_pooling_sequence):
    """Each gradient shared by the elements of its window; images with channels last."""
    n, height, width, channels = (int(s) for s in _values(orig_input_tensor_shape))
    found = _op("zeros")((n, height, width, channels), out_backprop.dtype)
    for i, (top, bottom) in enumerate(_bounds(row_pooling_sequence, height, self.overlapping)):
        for j, (left, right) in enumerate(_bounds(col_pooling_sequence, width, self.overlapping)):
            share = out_backprop[:, i:i + 1, j:j + 1] / ((bottom - top) * (right - left))
            found[:, top:bottom, left:right] = found[:, top:bottom, left:right] + share
    return found


def _largest_fraction(self, orig_input, orig_output, out_backprop, row_pooling_sequence, col_pooling_sequence):
    """Each gradient to the first element of its window that is the largest; images with channels last."""
    found = _op("zeros_like")(orig_input)
    rows = _bounds(row_pooling_sequence, orig_input.shape[1], self.overlapping)
    columns = _bounds(col_pooling_sequence, orig_input.shape[2], self.overlapping)
    for i, (top, bottom) in enumerate(rows):
        for j, (left, right) in enumerate(columns):
            window = orig_input[:, top:bottom, left:right]
            flat = window.reshape((window.shape[0], -1, window.shape[3]))
            place = _op("argmax")(flat, 1).expand_dims(1)
            mine = _op("tensor_scatter_elements")(_op("zeros_like")(flat), place.astype(mstype.int64),
                                                  out_backprop[:, i:i + 1, j:j + 1].reshape(place.shape), 1)
            found[:, top:bottom, left:right] = found[:, top:bottom, left:right] + mine.reshape(window.shape)
    return found


_add("FractionalAvgPoolGrad", _average_fraction, "overlapping=False")
_add("FractionalMaxPoolGrad", _largest_fraction, "overlapping=False")


def _placed(rank):
    """Gradients added where the largest elements were; with channels last, they are first for the time of it."""
    def call(self, x, grads, argmax):
        if not getattr(self, "data_format", "NC").startswith("NC"):
            first = (0, rank + 1) + tuple(range(1, rank + 1))
            last = (0,) + tuple(range(2, rank + 2)) + (1,)
            return _by_places(grads.transpose(first), x.transpose(first), argmax.transpose(first), rank).transpose(last)
        return _by_places(grads, x, argmax, rank)
    return call


_add("FractionalMaxPoolGradWithFixedKsize", _placed(2), "data_format='NCHW'")
_add("FractionalMaxPool3DGradWithFixedKsize", _placed(3), "data_format='NCDHW'")
_add("MaxPoolGradWithArgmaxV2", _placed(2), "kernel_size, strides=None, pads=0, dilation=(1, 1), ceil_mode=False, argmax_type=mstype.int64")
_add("MaxPool3DGradWithArgmax", _placed(3), "ksize, strides, pads, dilation=(1, 1, 1), ceil_mode=False, data_format='NCDHW'")


def _taken(x, grad, argmax, rank):
    """The gradient of a gradient: what was handed to the largest elements, taken from there."""
    lead = tuple(x.shape[:x.ndim - rank])
    places = argmax.reshape(lead + (-1,)).astype(mstype.int64) % _size(x.shape[x.ndim - rank:])
    return _op("gather_elements")(grad.reshape(lead + (-1,)), len(lead), places).reshape(argmax.shape)


_add("MaxPoolGradGradWithArgmax", lambda self, x, grad, argmax: _taken(x, grad, argmax, 2), "kernel_size=1, strides=1, pad_mode='VALID'")


def _second_max3d(self, orig_input, orig_output, grads):
    kernel, strides = (tuple(v[-3:]) if isinstance(v, (tuple, list)) else v for v in (self.kernel_size, self.strides))
    pool = _op("MaxPool3D")(kernel, strides, self.pad_mode)
    _, back = _vjp(pool, orig_input)
    return _transposed(lambda dout: back(dout)[0], orig_output, grads)


def _vjp(function, x):
    from ...common.differentiate import vjp
    return vjp(function, x)


def _transposed(linear, like, dout):
    """The transpose of a linear function, applied to dout."""
    return pull(linear, (_op("zeros_like")(like),), dout)


_add("MaxPool3DGradGrad", _second_max3d, "kernel_size=(1, 1, 1, 1, 1), strides=(1, 1, 1, 1, 1), pad_mode='VALID', data_format='NCDHW'")


def _scaled(self, grads, original_image, scale, translation):
    size = Tensor(np.array(grads.shape[1:3], np.int32))
    return pull(lambda t: _op("ScaleAndTranslate")(self.kernel_type, self.antialias)(t, size, scale, translation), (original_image,), grads)


_add("ScaleAndTranslateGrad", _scaled, "kernel_type='lanczos3', antialias=True")


def _crop_image(self, grads, boxes, box_index, image_size):
    image = _op("zeros")(tuple(int(n) for n in _values(image_size)), self.T)
    crop = tuple(grads.shape[1:3])
    return pull(lambda t: _op("CropAndResize")(self.method)(t, boxes, box_index, crop), (image,), grads)


def _crop_boxes(self, grads, images, boxes, box_index):
    """Sizes of boxes count through where their pixels lie: differences of the four neighbours."""
    n, height, width = grads.shape[0], images.shape[1], images.shape[2]
    image = _op("gather")(images.astype(mstype.float32), box_index, 0)

    def steps(low, high, size, count):
        """(position of each row, its derivatives by the box's low and high side)"""
        if count == 1:
            return 0.5 * (low + high).expand_dims(1) * (size - 1), np.full((1,), 0.5 * (size - 1)), np.full((1,), 0.5 * (size - 1))
        at = np.arange(count, dtype=np.float32) / (count - 1)
        positions = (low.expand_dims(1) + (high - low).expand_dims(1) * Tensor(at)) * (size - 1)
        return positions, (1 - at) * (size - 1), at * (size - 1)
    y, by_top, by_bottom = steps(boxes[:, 0], boxes[:, 2], height, grads.shape[1])
    x, by_left, by_right = steps(boxes[:, 1], boxes[:, 3], width, grads.shape[2])
    inside = (_op("logical_and")(y >= 0, y <= height - 1).expand_dims(2)
              & _op("logical_and")(x >= 0, x <= width - 1).expand_dims(1)).astype(mstype.float32)
    y0, x0 = _op("floor")(y), _op("floor")(x)
    fy, fx = (y - y0).expand_dims(2).expand_dims(3), (x - x0).expand_dims(1).expand_dims(3)

    def pixels(rows, columns):
        rows = _op("clamp")(rows, 0, height - 1).astype(mstype.int64).expand_dims(2)
        columns = _op("clamp")(columns, 0, width - 1).astype(mstype.int64).expand_dims(1)
        flat = (rows * width + columns).reshape((n, -1, 1)).broadcast_to((n, grads.shape[1] * grads.shape[2], image.shape[3]))
        return _op("gather_elements")(image.reshape((n, -1, image.shape[3])), 1, flat).reshape(grads.shape)
    y1, x1 = _op("ceil")(y), _op("ceil")(x)
    tl, tr, bl, br = pixels(y0, x0), pixels(y0, x1), pixels(y1, x0), pixels(y1, x1)
    dy = (((1 - fx) * (bl - tl) + fx * (br - tr)) * grads).sum(3) * inside
    dx = (((1 - fy) * (tr - tl) + fy * (br - bl)) * grads).sum(3) * inside
    parts = [(dy.sum(2) * Tensor(np.asarray(w, np.float32))).sum(1) for w in (by_top, by_bottom)]
    sides = [(dx.sum(1) * Tensor(np.asarray(w, np.float32))).sum(1) for w in (by_left, by_right)]
    return _op("stack")((parts[0], sides[0], parts[1], sides[1]), 1)


_add("CropAndResizeGradImage", _crop_image, "T, method='bilinear'")
_add("CropAndResizeGradBoxes", _crop_boxes, "method='bilinear'")


# --- of sparse Tensors -----------------------------------------------------------------------------------------------

def _fill_empty(self, reverse_index_map, grad_values):
    """Of the values, and of the value that empty rows got."""
    values = _op("gather")(grad_values, reverse_index_map, 0)
    return values, (grad_values.sum() - values.sum()).astype(grad_values.dtype)


_add("SparseFillEmptyRowsGrad", _fill_empty)


def _segments(power):
    """Rows of the gradient added where they were taken from, divided by their segment's number of rows to a power."""
    def call(self, grad, indices, segment_ids, output_dim0):
        rows = _op("gather")(grad, segment_ids, 0)
        if power:
            counts = _op("zeros")((grad.shape[0],), grad.dtype).index_add(
                0, segment_ids.astype(mstype.int32), _op("ones")(segment_ids.shape, grad.dtype))
            weight = _op("pow")(_op("gather")(counts, segment_ids, 0), power)
            rows = rows / weight.reshape((-1,) + (1,) * (rows.ndim - 1))
        found = _op("zeros")((int(_values(output_dim0)),) + tuple(grad.shape[1:]), grad.dtype)
        return found.index_add(0, indices.astype(mstype.int32), rows)
    return call


_add("SparseSegmentSumGrad", _segments(0))
_add("SparseSegmentMeanGrad", _segments(1))
_add("SparseSegmentSqrtNGrad", _segments(0.5))


def _sparse_slice(self, backprop_val_grad, indices, start, new_indices):
    """Gradients of the values that the slice took, zeros for the others."""
    moved = (indices - start).expand_dims(1)
    same = (moved == new_indices.expand_dims(0)).all(2).astype(backprop_val_grad.dtype)
    return (same * backprop_val_grad.expand_dims(0)).sum(1)


_add("SparseSliceGrad", _sparse_slice)


# --- others ----------------------------------------------------------------------------------------------------------

_add("CTCLossV2Grad", lambda self, grad_out, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha: pull(
    lambda t: _op("CTCLossV2")(self.blank, self.reduction, self.zero_infinity)(t, targets, input_lengths, target_lengths)[0],
    (log_probs,), grad_out), "blank, reduction='none', zero_infinity=False")


def _offsets(self, axis, x):
    """Where each of several shapes, given as Tensors, begins when they are laid one after the other along an axis."""
    lengths = _op("stack")(tuple(x)).astype(mstype.int32)
    place = int(_values(axis)) % lengths.shape[1]
    before = _op("cumsum")(lengths, 0) - lengths
    return tuple(before * Tensor((np.arange(lengths.shape[1]) == place).astype(np.int32)))


_add("ConcatOffsetV1", _offsets, doc="Where each of several shapes begins in their concatenation.")


def _update_cache(self, input_x, indices, update, max_num):
    """Write rows to a table, those whose index lies in it; answers a zero."""
    places = indices.reshape((-1,)).astype(mstype.int64)
    last = min(int(_values(max_num)), input_x.shape[0])
    rows = update.reshape((places.shape[0],) + tuple(input_x.shape[1:])).astype(input_x.dtype)
    inside = _op("logical_and")(places >= 0, places < last)
    kept = _op("gather")(input_x, _op("clamp")(places, 0, last - 1), 0)
    shape = (-1,) + (1,) * (rows.ndim - 1)
    _op("assign")(input_x, _op("tensor_scatter_update")(input_x, _op("clamp")(places, 0, last - 1).expand_dims(1),
                                                        _op("where")(inside.reshape(shape), rows, kept)))
    return _op("zeros")((1,), input_x.dtype)


_add("UpdateCache", _update_cache, doc="Write rows to a table.")


def _sparse_softmax(self, features, labels):
    """The cross entropy of each row, and its gradient."""
    logs = _op("log_softmax")(features, -1)
    hot = _op("one_hot")(labels.astype(mstype.int64), features.shape[-1], Tensor(1, features.dtype), Tensor(0, features.dtype))
    return -(logs * hot).sum(-1), _op("exp")(logs) - hot


_add("SparseSoftmaxCrossEntropyWithLogitsV2", _sparse_softmax, doc="The cross entropy of each row, and its gradient.")
_add("TraceV2Grad", lambda self, dout, shape, offset=0, axis1=1, axis2=0: pull(lambda t: _op("diagonal")(t, offset, axis1, axis2).sum(-1),
     (_op("zeros")(ints_of(shape, "shape"), dout.dtype),), dout))


# --- of sequences ----------------------------------------------------------------------------------------------------

def _sequence_slice(self, dy, x, start, stop, step):
    found = [_op("zeros_like")(v) if isinstance(v, Tensor) else type(v)(0) for v in x]
    for place, gradient in zip(range(len(x))[start:stop:step], dy):
        found[place] = gradient
    return tuple(found)


_add("SequenceSliceGrad", _sequence_slice)
_add("SequenceAddOffset", lambda self, shape_0, shape_1: (0, len(shape_0)), doc="Where two sequences begin in their sum.")
_add("ShapeMulGrad", lambda self, input_data, dout: tuple(
    dout * _size(input_data[:i] + input_data[i + 1:]) for i in range(len(input_data))))
_add("ListAppendAndInsertGrad", lambda self, input_data, index: [v for i, v in enumerate(input_data) if i != index % len(input_data)])

# SPDX-License-Identifier: Apache-2.0
"""Gradients of operators as primitives of their own (`ops.operations._grad_ops`): each pulls the gradient of an output back through
the operator, with the arguments in MindSpore's order."""
from ... import _core
from ..._core import Tensor
from ...common import dtype as mstype
from .._make import primitive
from ..array import ints_of

_apply = _core.apply


def _op(name):
    from ... import ops
    return getattr(ops, name)


def pull(function, inputs, dout):
    """The gradients of `inputs` when that of function(*inputs) is dout; one input: its gradient alone."""
    from ...common.differentiate import vjp
    found = vjp(function, *inputs)[1](dout)
    return found[0] if len(inputs) == 1 else found


def _add(name, call, init="", doc="The gradient of an operator."):
    globals()[name] = primitive(name, call, init, doc)


# --- of one operand: by the operand, or by the result ----------------------------------------------------------------

def gradient_of(name, of, order):
    """The primitive of a row `gradient OF(order)`: it pulls back through the function OF; order: "x, dout" or "dout, x"."""
    def call(self, a, b):
        x, dout = (a, b) if order.startswith("x") else (b, a)
        return pull(_op(of), (x,), dout)
    return primitive(name, call, doc="The gradient of an operator.")


_LAMBDA = 1.0507009873554805
_ALPHA = 1.6732632423543772
# gradients written by the result y of the operator
_add("TanhGrad", lambda self, y, dy: dy * (1 - y * y))
_add("SigmoidGrad", lambda self, y, dy: dy * y * (1 - y))
_add("ReciprocalGrad", lambda self, y, dy: -dy * y * y)
_add("InvGrad", lambda self, x, grad: -grad * x * x)
_add("SqrtGrad", lambda self, y, dy: dy / (y * 2) if not y.is_complex() else dy / (_op("conj")(y) * 2))
_add("RsqrtGrad", lambda self, y_backprop, x: x * y_backprop * y_backprop * y_backprop * -0.5)
_add("AsinhGrad", lambda self, out, dout: dout / _op("cosh")(out))
_add("AcoshGrad", lambda self, out, dout: dout / _op("sinh")(out))
_add("EluGrad", lambda self, dout, out: _apply("select", (out > 0, dout, dout * (out + 1))))
_add("SeluGrad", lambda self, gradient, result: _apply("select", (
    result > 0, gradient * _LAMBDA, gradient * (result + _LAMBDA * _ALPHA))))
_add("ReluGrad", lambda self, y_backprop, x: _apply("select", (x > 0, y_backprop, _op("zeros_like")(y_backprop))))
_add("ThresholdGrad", lambda self, grad_output, input, threshold: _apply("select", (
    input > threshold, grad_output, _op("zeros_like")(grad_output))))
_add("HardtanhGrad", lambda self, dout, input, min_val=-1, max_val=1: _apply("select", (
    _op("logical_and")(input > min_val, input < max_val), dout, _op("zeros_like")(dout))))
_add("LeakyReLUGradExt", lambda self, dy, input, negative_slope=0.01, is_result=False: _apply("select", (
    input > 0, dy, dy * negative_slope)))
_add("EluGradExt", lambda self, dout, x_or_out, alpha=1.0, is_result=False: _apply("select", (
    x_or_out > 0, dout, dout * ((x_or_out + alpha) if is_result else alpha * _op("exp")(x_or_out)))))
_add("GeLUGrad", lambda self, dy, x, y: pull(lambda t: _op("gelu")(t, "tanh"), (x,), dy))
_add("GeluGradExt", lambda self, grad, input, approximate="none": pull(lambda t: _op("gelu")(t, approximate), (input,), grad))
_add("SoftplusGradExt", lambda self, dout, x, beta=1, threshold=20: _apply("select", (
    x * beta > threshold, dout, dout * _op("sigmoid")(x * beta))))
_add("HShrinkGrad", lambda self, gradients, features: pull(lambda t: _op("hardshrink")(t, self.lambd), (features,), gradients), "lambd=0.5")
_add("SoftShrinkGrad", lambda self, input_grad, input_x: pull(lambda t: _op("softshrink")(t, self.lambd), (input_x,), input_grad),
    "lambd=0.5")
_add("LogitGrad", lambda self, grad, input: pull(lambda t: _op("Logit")(self.eps)(t), (input,), grad), "eps=-1.0")
_add("GluGrad", lambda self, grads, x: pull(lambda t: _op("glu")(t, self.axis), (x,), grads), "axis")
_add("MvlgammaGrad", lambda self, y_grad, x: pull(lambda t: _op("mvlgamma")(t, self.p), (x,), y_grad), "p")
_add("L2NormalizeGrad", lambda self, x, y, dy: pull(_op("L2Normalize")(self.axis, self.epsilon), (x,), dy), "axis=0, epsilon=0.0001")
_add("LRNGrad", lambda self, grads, x, y: pull(_op("LRN")(self.depth_radius, self.bias, self.alpha, self.beta), (x,), grads),
     "depth_radius=5, bias=1.0, alpha=1.0, beta=0.5")
_add("PReLUGrad", lambda self, dy, x, weight: pull(_op("prelu"), (x, weight), dy))
_add("CholeskyGrad", lambda self, x, grad: _cholesky(x, grad))


def _cholesky(factor, grad):
    """By the factor: the lower triangle of the product, halved on the diagonal, between inverses of the factor, made symmetric."""
    inner = _op("tril")(_op("matmul")(factor.swapaxes(-1, -2), grad))
    half = inner - 0.5 * _op("diag_embed")(_op("diagonal")(inner, 0, -2, -1))
    inverse = _op("inverse")(factor)
    found = _op("matmul")(_op("matmul")(inverse.swapaxes(-1, -2), half), inverse)
    return (found + found.swapaxes(-1, -2)) * 0.5


def _softmax(y, dy, axis):
    return y * (dy - (y * dy).sum(axis, keepdims=True))


_add("SoftmaxGrad", lambda self, y, dy: _softmax(y, dy, -1))
_add("SoftmaxBackward", lambda self, dout, out, dim=-1: _softmax(out, dout, dim))
_add("LogSoftmaxGrad", lambda self, logits, grad: grad - _op("exp")(logits) * grad.sum(self.axis, keepdims=True), "axis=-1")


# --- of two operands -------------------------------------------------------------------------------------------------

def _extremum(above):
    """The gradient goes to the larger (or smaller) operand, the first if they are equal."""
    def call(self, x, y, grads):
        mine = x >= y if above else x <= y
        none = _op("zeros_like")(grads)
        parts = (_apply("select", (mine, grads, none)), _apply("select", (mine, none, grads)))
        return tuple(_sum_to(part, t.shape) for part, t in zip(parts, (x, y)))
    return call


def _sum_to(x, shape):
    lead = x.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1 and x.shape[i + lead] != 1)
    return (x.sum(axes, keepdims=True) if axes else x).reshape(tuple(shape))


_add("MaximumGrad", _extremum(True), "grad_x=True, grad_y=True")
_add("MinimumGrad", _extremum(False), "grad_x=True, grad_y=True")
_add("CdistGrad", lambda self, grad, input_x, input_y, cdist: pull(lambda t: _op("cdist")(t, input_y, self.p), (input_x,), grad), "p=2.0")
_add("PdistGrad", lambda self, y_grad, x, y: pull(lambda t: _op("pdist")(t, self.p), (x,), y_grad), "p=2.0")


# --- losses ----------------------------------------------------------------------------------------------------------

_add("SigmoidCrossEntropyWithLogitsGrad", lambda self, x, y, dout: (_op("sigmoid")(x) - y) * dout)
_add("SmoothL1LossGrad", lambda self, prediction, target, dout: pull(
    lambda t: _op("SmoothL1Loss")(self.beta, self.reduction)(t, target), (prediction,), dout), "beta=1.0, reduction='none'")
_add("SoftMarginLossGrad", lambda self, predict, label, dout: pull(
    lambda t: _op("SoftMarginLoss")(self.reduction)(t, label), (predict,), dout), "reduction='mean'")
_add("BinaryCrossEntropyGrad", lambda self, input, target, grad_output, weight=None: pull(
    lambda t: _op("BinaryCrossEntropy")(self.reduction)(t, target, weight), (input,), grad_output), "reduction='mean'")
_add("KLDivLossGrad", lambda self, grad, x, target: pull(lambda t: _op("KLDivLoss")(self.reduction)(t, target), (x,), grad),
    "reduction='mean'")
_add("NLLLossGrad", lambda self, logits, loss_grad, labels, weight, total_weight: pull(
    lambda t: _op("NLLLoss")(self.reduction, self.ignore_index)(t, labels, weight)[0], (logits,), loss_grad),
    "reduction='mean', ignore_index=-100")
_add("MultiMarginLossGrad", lambda self, y_grad, x, target, weight=None: pull(
    lambda t: _op("MultiMarginLoss")(self.p, self.margin, self.reduction)(t, target, weight), (x,), y_grad),
    "p=1, margin=1.0, reduction='mean'")
_add("MultilabelMarginLossGrad", lambda self, y_grad, x, target, is_target: pull(
    lambda t: _op("MultilabelMarginLoss")(self.reduction)(t, target)[0], (x,), y_grad), "reduction='mean'")


# --- products and convolution ----------------------------------------------------------------------------------------

def _bias(self, dout):
    """The sum over everything but the channels."""
    if self.data_format == "NHWC" or dout.ndim == 2:
        return dout.sum(tuple(range(dout.ndim - 1)))
    return dout.sum((0,) + tuple(range(2, dout.ndim)))


_add("BiasAddGrad", _bias, "data_format='NCHW'")


def _spatial(value, rank):
    """Strides and the like with one number per spatial dimension; longer ones have batch and channels in front."""
    return tuple(value)[-rank:] if isinstance(value, (tuple, list)) else value


def _by_filter(rank):
    def run(self, dout, x, sizes):
        kind = _op("Conv2D" if rank == 2 else "Conv3D")
        conv = kind(self.out_channel, self.kernel_size, mode=self.mode, pad_mode=self.pad_mode, pad=self.pad,
                    stride=_spatial(self.stride, rank), dilation=_spatial(self.dilation, rank), group=self.group,
                    data_format=self.data_format)
        return pull(lambda w: conv(x, w), (_op("zeros")(ints_of(sizes, "filter_size"), x.dtype),), dout)
    return run


def _conv3d_by_input(self, filter, out_backprop, input_size):
    conv = _op("Conv3D")(self.out_channel, self.kernel_size, mode=self.mode, pad_mode=self.pad_mode, pad=self.pad,
                         stride=_spatial(self.stride, 3), dilation=_spatial(self.dilation, 3), group=self.group)
    return pull(lambda x: conv(x, filter), (_op("zeros")(ints_of(input_size, "input_size"), filter.dtype),), out_backprop)


_filter2d, _filter3d = _by_filter(2), _by_filter(3)
_add("Conv2DBackpropFilter", _filter2d, "out_channel, kernel_size, pad_mode='valid', pad=0, pad_list=(0, 0, 0, 0), mode=1, stride=(1, 1), "
     "dilation=(1, 1, 1, 1), group=1, data_format='NCHW'")
_add("Conv3DBackpropFilter", lambda self, x, out_backprop, filter_size: _filter3d(self, out_backprop, x, filter_size),
     "out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=(1, 1, 1, 1, 1), dilation=(1, 1, 1, 1, 1), group=1, data_format='NCDHW'")
_add("Conv3DBackpropInput", _conv3d_by_input, "out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=1, dilation=1, group=1, "
     "data_format='NCDHW'")


# --- pools -----------------------------------------------------------------------------------------------------------

_POOL = "kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW'"


def _pool2d(name):
    def call(self, x, out, dout):
        pool = _op(name)(self.kernel_size, self.strides, self.pad_mode, self.data_format)
        return pull(pool, (x,), dout)
    return call


_add("AvgPoolGrad", _pool2d("AvgPool"), _POOL)
_add("MaxPoolGrad", _pool2d("MaxPool"), _POOL)
_add("MaxPoolGradV1", _pool2d("MaxPool"), _POOL)
_add("AvgPoolGradV1", lambda self, orig_input_shape, input_grad: pull(
    _op("AvgPool")(self.kernel_size, self.strides, self.pad_mode, self.data_format), (_like_shape(orig_input_shape, input_grad),),
        input_grad),
    _POOL)


def _like_shape(shape, dout):
    return _op("zeros")(ints_of(shape, "shape"), dout.dtype)


def _max3d(self, x_origin, out_origin, grad):
    def per_axis(value):
        return _spatial(value, 3)
    return pull(_op("MaxPool3D")(per_axis(self.kernel_size), per_axis(self.strides), self.pad_mode, self.pad_list), (x_origin,), grad)


def _average3d(self, origin_input_shape, grads):
    mode = "pad" if self.pad_mode.lower() == "pad" else self.pad_mode
    pads = self.pads if mode == "pad" else 0
    pool = _op("AvgPool3D")(_spatial(self.kernel_size, 3), _spatial(self.strides, 3), mode, pads, self.ceil_mode,
                            self.count_include_pad, self.divisor_override)
    return pull(pool, (_like_shape(origin_input_shape, grads),), grads)


_add("MaxPool3DGrad", _max3d, "kernel_size=(1, 1, 1, 1, 1), strides=(1, 1, 1, 1, 1), pad_mode='VALID', pad_list=0, data_format='NCDHW'")
_add("AvgPool3DGrad", _average3d, "kernel_size=1, strides=1, pads=0, ceil_mode=False, count_include_pad=True, divisor_override=0, "
     "data_format='NCDHW', pad_mode='pad'")


def _average_to(name):
    """An average over windows that divide the input: the sizes of the result are those of its gradient."""
    def call(self, dout, shape):
        shape = ints_of(shape, "orig_input_shape")
        size = tuple(dout.shape[-2:] if name.endswith("2d") else dout.shape[-3:])
        return pull(lambda t: _op(name)(t, size), (_op("zeros")(shape, dout.dtype),), dout)
    return call


_add("AdaptiveAvgPool2DGrad", _average_to("adaptive_avg_pool2d"))
_add("AdaptiveAvgPool3DGrad", _average_to("adaptive_avg_pool3d"))


def _by_places(dout, x, places, rank):
    """Each element of dout added at its place in the flattened last `rank` dimensions of x."""
    lead = tuple(x.shape[:x.ndim - rank])
    flat = _op("zeros")(lead + (_size(x.shape[x.ndim - rank:]),), dout.dtype)
    places = places.reshape(lead + (-1,)).astype(mstype.int64)
    return _op("tensor_scatter_elements")(flat, places, dout.reshape(lead + (-1,)), axis=len(lead), reduction="add").reshape(x.shape)


def _size(dims):
    total = 1
    for n in dims:
        total *= n
    return total


_add("AdaptiveMaxPool2DGrad", lambda self, y_grad, x, argmax: _by_places(y_grad, x, argmax, 2))
_add("AdaptiveMaxPool3DGrad", lambda self, input_grad, x, argmax: _by_places(input_grad, x, argmax, 3))
_add("MaxPoolGradWithArgmax", lambda self, x_origin, grad, argmax: _by_places(
    grad, x_origin, argmax % (x_origin.shape[2] * x_origin.shape[3]), 2), _POOL)


def _unpool(rank):
    def call(self, x, grads, argmax):
        lead = tuple(x.shape[:x.ndim - rank])
        return _op("gather_elements")(grads.reshape(lead + (-1,)), len(lead), argmax.reshape(lead + (-1,
            )).astype(mstype.int64)).reshape(x.shape)
    return call


_add("MaxUnpool2DGrad", _unpool(2), "ksize, strides=0, pads=0, output_shape=(), data_format='NCHW'")
_add("MaxUnpool3DGrad", _unpool(3), "ksize, strides=0, pads=0, output_shape=(), data_format='NCDHW'")


# --- normalisation ---------------------------------------------------------------------------------------------------

def _batch_norm(self, dout, x, scale, saved_mean, saved_variance, reserve):
    """Gradients of x, scale and bias. Training: the mean and, as MindSpore's CPU kernels keep it, the variance of the batch."""
    axes = (0,) + tuple(range(2, x.ndim)) if self.data_format == "NCHW" else tuple(range(x.ndim - 1))
    shape = [1] * x.ndim
    shape[1 if self.data_format == "NCHW" else x.ndim - 1] = -1
    shape = tuple(shape)
    mean, variance, gamma = (t.reshape(shape) for t in (saved_mean, saved_variance, scale))
    rstd = _op("rsqrt")(variance + self.epsilon)
    normal = (x - mean) * rstd
    by_bias, by_scale = dout.sum(axes), (dout * normal).sum(axes)
    if not self.is_training:
        return dout * gamma * rstd, by_scale, by_bias
    count = x.size // scale.size
    by_x = gamma * rstd * (dout - by_bias.reshape(shape) / count - normal * by_scale.reshape(shape) / count)
    return by_x, by_scale, by_bias


def _layer_norm(self, x, dy, variance, mean, gamma):
    """Gradients of x, gamma and beta of ops.LayerNorm."""
    begin = self.begin_norm_axis % x.ndim
    axes = tuple(range(begin, x.ndim))
    lead = tuple(range(self.begin_params_axis % x.ndim))
    rstd = _op("rsqrt")(variance + 1e-12)
    normal = (x - mean) * rstd
    inner = dy * gamma
    by_x = rstd * (inner - inner.mean(axes, keep_dims=True) - normal * (inner * normal).mean(axes, keep_dims=True))
    return by_x, (dy * normal).sum(lead), dy.sum(lead)


def _rms_norm(self, dy, x, rstd, gamma):
    """Gradients of x and gamma of ops.rms_norm."""
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    inner = dy * gamma
    by_x = rstd * (inner - x * rstd * rstd * (inner * x).mean(axes, keep_dims=True))
    return by_x, (dy * x * rstd).sum(tuple(range(x.ndim - gamma.ndim)))


_add("BatchNormGrad", _batch_norm, "is_training=False, epsilon=1e-05, data_format='NCHW'")
_add("LayerNormGrad", _layer_norm, "begin_norm_axis=1, begin_params_axis=1")
_add("LayerNormGradV3", _layer_norm, "begin_norm_axis=1, begin_params_axis=1")
_add("RmsNormGrad", _rms_norm)
_add("DropoutGrad", lambda self, dy, mask: dy * mask.astype(dy.dtype) * (1.0 / self.keep_prob), "keep_prob=0.5")


# --- shapes and places -----------------------------------------------------------------------------------------------

_add("FlattenGrad", lambda self, x, shape: x.reshape(ints_of(shape, "shape")))
_add("GatherDGradV2", lambda self, x, dim, index, dout: pull(lambda t: _op("gather_elements")(t, dim, index), (x,), dout))
_add("MaskedSelectGrad", lambda self, input, mask, grad: pull(lambda t: _op("masked_select")(t, mask), (input,), grad))
_add("SliceGrad", lambda self, dy, x, begin, size: pull(
    lambda t: _op("slice")(t, ints_of(begin, "begin"), ints_of(size, "size")), (x,), dy))
_add("TraceGrad", lambda self, y_grad, x_shape: _op("eye")(*ints_of(x_shape, "x_shape"), y_grad.dtype) * y_grad)
_add("UniqueGrad", lambda self, dy, y: _op("gather")(dy[0], y, 0) if isinstance(dy, (tuple, list)) else _op("gather")(dy, y, 0))


def _strided(self, dy, shapex, begin, end, strides):
    cut = _op("StridedSlice")(self.begin_mask, self.end_mask, self.ellipsis_mask, self.new_axis_mask, self.shrink_axis_mask)
    places = [ints_of(p, n) for p, n in ((begin, "begin"), (end, "end"), (strides, "strides"))]
    return pull(lambda t: cut(t, *places), (_like_shape(shapex, dy),), dy)


_add("StridedSliceGrad", _strided, "begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0")


def _mirror(self, dy, paddings):
    pads = paddings.tolist() if isinstance(paddings, Tensor) else paddings
    shape = tuple(n - before - after for n, (before, after) in zip(dy.shape, pads))
    return pull(lambda t: _op("MirrorPad")(self.mode)(t, paddings), (_op("zeros")(shape, dy.dtype),), dy)


def _pad_v3(self, x, paddings):
    pads = ints_of(paddings, "paddings")
    if not self.paddings_contiguous:
        half = len(pads) // 2
        pads = tuple(v for pair in zip(pads[:half], pads[half:]) for v in pair)
    shape = list(x.shape)
    for i in range(len(pads) // 2):
        shape[-1 - i] -= pads[2 * i] + pads[2 * i + 1]
    return pull(lambda t: _op("PadV3")(self.mode)(t, pads), (_op("zeros")(tuple(shape), x.dtype),), x)


def _concat_offset(self, xs):
    """Where each part begins in the whole, a row a part."""
    axis, rows, at = self.axis % xs[0].ndim, [], 0
    for x in xs:
        rows.append([at if i == axis else 0 for i in range(x.ndim)])
        at += x.shape[axis]
    return Tensor(rows, mstype.int64)


_add("MirrorPadGrad", _mirror, "mode='REFLECT'")
_add("PadV3Grad", _pad_v3, "mode='reflect', paddings_contiguous=True")
_add("ConcatOffset", _concat_offset, "N=2, axis=0", "Where each part begins in a concatenation.")


def _lu_unpack(self, L_grad, U_grad, LU_data):
    """The gradients of the two triangles in the matrix that holds both."""
    rows, cols = LU_data.shape[-2:]
    k = min(rows, cols)

    def spread(grad, lower):
        kept = _op("tril")(grad, -1) if lower else _op("triu")(grad)
        full = _op("zeros_like")(LU_data)
        full[..., :kept.shape[-2], :kept.shape[-1]] = kept[..., :rows, :k] if lower else kept[..., :k, :cols]
        return full
    return spread(L_grad, True), spread(U_grad, False)


_add("LuUnpackGrad", _lu_unpack, "L_grad_flag, U_grad_flag")


# --- images ----------------------------------------------------------------------------------------------------------

_RESIZE = "align_corners=False, half_pixel_centers=False"


def _resized(name, size_first):
    """Through a resize of images; the sizes of the result are those of its gradient."""
    def call(self, grads, image):
        kind = _op(name)(align_corners=self.align_corners, half_pixel_centers=self.half_pixel_centers)
        size = tuple(grads.shape[-2:])
        if size_first:   # the second argument is the size of the image, not the image
            image = _op("zeros")(tuple(grads.shape[:2]) + ints_of(image, "size"), grads.dtype)
        return pull(lambda t: kind(t, size), (image,), grads)
    return call


_add("ResizeBilinearGrad", _resized("ResizeBilinearV2", False), _RESIZE)
_add("ResizeBicubicGrad", _resized("ResizeBicubic", False), _RESIZE)
_add("ResizeNearestNeighborGrad", _resized("ResizeNearestNeighborV2", True), _RESIZE)
_add("ResizeNearestNeighborV2Grad", _resized("ResizeNearestNeighborV2", True), _RESIZE)


def _resized_row(self, grads, x):
    corners = self.coordinate_transformation_mode == "align_corners"
    return pull(lambda t: _op("interpolate")(t, grads.shape[-1], mode="linear", align_corners=corners), (x,), grads)


def _sampler(name):
    def call(self, grad, input_x, grid):
        sample = _op(name)(self.interpolation_mode, self.padding_mode, self.align_corners)
        return pull(sample, (input_x, grid), grad)
    return call


_SAMPLER = "interpolation_mode='bilinear', padding_mode='zeros', align_corners=False, output_mask=(1, 1)"
_add("ResizeLinear1DGrad", _resized_row, "coordinate_transformation_mode='align_corners'")
_add("GridSampler2DGrad", _sampler("GridSampler2D"), _SAMPLER)
_add("GridSampler3DGrad", _sampler("GridSampler3D"), _SAMPLER)
_add("AffineGridGrad", lambda self, y_grad, x_size: pull(
    lambda t: _op("affine_grid")(t, ints_of(x_size, "x_size"), self.align_corners),
    (_op("zeros")((y_grad.shape[0], y_grad.ndim - 2, y_grad.ndim - 1), y_grad.dtype),), y_grad), "align_corners=False")
_add("ROIAlignGrad", lambda self, dy, rois, xdiff_shape: pull(
    lambda t: _op("ROIAlign")(self.pooled_height, self.pooled_width, self.spatial_scale, self.sample_num)(t, rois),
    (_op("zeros")(ints_of(xdiff_shape, "xdiff_shape"), dy.dtype),), dy), "pooled_height, pooled_width, spatial_scale, sample_num=2")

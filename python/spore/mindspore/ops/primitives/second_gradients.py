# SPDX-License-Identifier: Apache-2.0
"""Gradients that MindSpore's own modules and tests use as primitives: of sizes of images and of norms in groups, by the first argument
of igamma, and gradients of gradients."""
from ...common import dtype as mstype
from .._make import primitive
from ..array import ints_of
from .gradients import _op, pull


def _add(name, call, init="", doc="The gradient of an operator."):
    globals()[name] = primitive(name, call, init, doc)


def _resized(name):
    """Through a primitive that resizes: what the input was does not matter, its sizes do."""
    def call(self, dy, input_size, output_size=None, scales=None, *align_corners):
        x = _op("zeros")(ints_of(input_size, "input_size"), dy.dtype)
        kind = _op(name)(self.align_corners) if hasattr(self, "align_corners") else _op(name)()
        return pull(lambda t: kind(t, output_size, scales, *align_corners), (x,), dy)
    return call


for _name in ("UpsampleNearest1D", "UpsampleNearest2D", "UpsampleNearest3D", "UpsampleLinear1D", "UpsampleBilinear2D"):
    _add(_name + "Grad", _resized(_name))
_add("UpsampleTrilinear3DGrad", _resized("UpsampleTrilinear3D"), "align_corners=False")


def _second_extremum(above):
    """Of x and y there is no second derivative; the gradient's gradient comes from the operand that was taken."""
    def call(self, x, y, dx, dy):
        mine = x >= y if above else x <= y
        return _op("zeros_like")(x), _op("zeros_like")(y), _op("where")(mine, dx, dy)
    return call


_add("MaximumGradGrad", _second_extremum(True), "grad_x=True, grad_y=True")
_add("MinimumGradGrad", _second_extremum(False), "grad_x=True, grad_y=True")


_add("IgammaGradA", lambda self, a, x: pull(lambda t: _op("igamma")(t, x).sum(), (a + _op("zeros_like")(x),), _op("ones")((), x.dtype)),
     doc="The derivative of igamma(a, x) by a.")


# --- norms -----------------------------------------------------------------------------------------------------------

def _held(value, given):
    """`given`, with the derivative of value."""
    return given + (value - _op("stop_gradient")(value))


def _second_norm(x, dy, gamma, axes, sums, statistics, epsilon, outer):
    """Gradients of x, dy and gamma, through the gradients (dx, dgamma, dbeta) of a norm over `axes` with parameters summed over
    `sums`; outer: the gradients of those. statistics: mean, variance, and whether they are functions of x, as in training."""
    mean, variance, trained = statistics

    def weighed(x, dy, gamma):
        m = _held(x.mean(axes, keep_dims=True), mean) if trained else mean
        centred = x - m
        v = _held(_op("square")(x - _op("stop_gradient")(m)).mean(axes, keep_dims=True), variance) if trained else variance
        scale = _op("rsqrt")(v + epsilon)
        normed, part = centred * scale, dy * gamma
        dx = scale * part
        if trained:
            dx = dx - scale * (part.mean(axes, keep_dims=True) + normed * (part * normed).mean(axes, keep_dims=True))
        ddx, ddgamma, ddbeta = outer
        return ((dx * ddx).sum() + ((dy * normed).sum(sums, keepdims=True) * ddgamma).sum()
                + (dy.sum(sums, keepdims=True) * ddbeta).sum())
    return pull(weighed, (x, dy, gamma), _op("ones")((), x.dtype))


def _layer(self, x, dy, variance, mean, gamma, d_dx, d_dg, d_db):
    first, params = (axis % x.ndim for axis in (self.begin_norm_axis, self.begin_params_axis))
    whole = tuple(range(first, x.ndim))
    shape = (1,) * params + tuple(x.shape[params:])
    dx, ddy, dgamma = _second_norm(x, dy, gamma.reshape(shape), whole, tuple(range(params)), (mean, variance, True), 1e-12,
                                   (d_dx, d_dg.reshape(shape), d_db.reshape(shape)))
    return dx, ddy, dgamma.reshape(gamma.shape)


def _batch(self, x, dy, scale, mean, variance, dout_dx, dout_dscale, dout_dbias):
    axis = 1 if self.format == "NCHW" else x.ndim - 1
    axes = tuple(i for i in range(x.ndim) if i != axis)
    shape = tuple(n if i == axis else 1 for i, n in enumerate(x.shape))
    scale_, mean, variance, ddscale, ddbias = (t.reshape(shape) for t in (scale, mean, variance, dout_dscale, dout_dbias))
    dx, ddy, dscale = _second_norm(x, dy, scale_, axes, axes, (mean, variance, self.is_training), self.epsilon, (dout_dx, ddscale, ddbias))
    return dx, ddy, dscale.reshape(scale.shape)


_add("LayerNormGradGrad", _layer, "begin_norm_axis=1, begin_params_axis=1", "Gradients of the gradients of a layer norm.")
_add("BatchNormGradGrad", _batch, "is_training=False, epsilon=1e-05, format='NCHW'", "Gradients of the gradients of a batch norm.")


def _group(self, dy, x, mean, rstd, gamma_opt, num_groups, dx_is_require=True, dgamma_is_require=True, dbeta_is_require=True):
    """Gradients of x, gamma and beta by the mean and the inverse deviation of each group."""
    n, c = x.shape[:2]
    grouped = (n, num_groups, c // num_groups, -1)
    normed = (x.reshape(grouped) - mean.reshape(n, num_groups, 1, 1)) * rstd.reshape(n, num_groups, 1, 1)
    part = dy.reshape(grouped) * gamma_opt.reshape(1, num_groups, c // num_groups, 1)
    dx = rstd.reshape(n, num_groups, 1, 1) * (part - part.mean((2, 3), keep_dims=True)
                                              - normed * (part * normed).mean((2, 3), keep_dims=True))
    dgamma = (dy.reshape(grouped) * normed).sum((0, 3)).reshape(gamma_opt.shape)
    return dx.reshape(x.shape), dgamma, dy.reshape(grouped).sum((0, 3)).reshape(gamma_opt.shape)


def _group_norm(self, input, num_groups, weight=None, bias=None, eps=1e-5):
    """The norm in groups, and the mean and the inverse deviation of each group."""
    n = input.shape[0]
    groups = input.reshape(n, num_groups, -1)
    mean = groups.mean(2)
    rstd = _op("rsqrt")(_op("square")(groups - mean.expand_dims(2)).mean(2) + eps)
    return _op("group_norm")(input, num_groups, weight, bias, eps), mean, rstd


_add("GroupNorm", _group_norm, doc="The norm in groups, and the mean and the inverse deviation of each group.")
_add("GroupNormGrad", _group)


# --- places ----------------------------------------------------------------------------------------------------------

def _pool(self, orig_in, orig_out, grad):
    """The gradient's gradient of a maximum over windows is read where the maxima were."""
    n, c, h, w = orig_in.shape
    places = _op("MaxPoolWithArgmax")(self.kernel_size, self.strides, self.pad_mode)(orig_in)[1] % (h * w)
    found = _op("gather_elements")(grad.reshape(n, c, h * w), 2, places.reshape(n, c, -1).astype(mstype.int64))
    return found.reshape(orig_out.shape)


_add("MaxPoolGradGrad", _pool, "kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW'")


def _median(self, y_grad, x, y, indices):
    if self.global_median:
        mine = (x == y).astype(x.dtype)
        return mine * (y_grad / mine.sum().clamp(1))
    if not self.keep_dims:
        y_grad, indices = y_grad.expand_dims(self.axis), indices.expand_dims(self.axis)
    return _op("tensor_scatter_elements")(_op("zeros_like")(x), indices.astype(mstype.int64), y_grad.astype(x.dtype), self.axis)


_add("MedianGrad", _median, "global_median=False, axis=0, keep_dims=False")

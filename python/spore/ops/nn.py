# SPDX-License-Identifier: Apache-2.0
"""Neural network operators whose arguments need Python: activations, dropout, normalisation, windows, resizing, attention.

What the operator table can express is not here. Losses are in loss.py, steps of optimizers in optimizer.py.
"""
import builtins
import numbers

from .. import _core
from .._core import Tensor, apply
from ..common import dtype as mstype
from ..common.generator import default_generator
from .primitive import Primitive, prim_attr_register
from .random import _stream, own_source
from spore._core import type_name as _type_name

__all__ = [
    "gelu", "softmax", "softmin", "softplus", "glu", "swiglu", "rrelu", "relu", "gumbel_softmax", "dropout", "dropout1d",
    "dropout2d", "dropout3d", "Softmax", "Dropout", "Dropout2D", "Dropout3D", "batch_norm", "layer_norm", "group_norm", "BatchNorm",
    "instance_norm", "bias_add", "BiasAdd", "embedding", "clip_by_value", "clip_by_norm", "clip_by_global_norm", "interpolate", "upsample",
    "ResizeBilinearV2", "ResizeBilinear", "ResizeNearestNeighbor", "ResizeNearestNeighborV2", "ResizeBicubic",
    "UpsampleNearest3D", "UpsampleTrilinear3D", "max_pool2d", "max_pool3d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
    "AdaptiveAvgPool2D", "AdaptiveAvgPool3D", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "lp_pool1d", "lp_pool2d", "MaxPool", "AvgPool", "conv_transpose2d", "Conv2D", "Conv3D",
    "Conv2DTranspose", "Conv2DBackpropInput", "multi_head_attention_forward", "flash_attention_score", "channel_shuffle", "normalize"]


def _one(op, x, **attrs):
    return apply(op, [x], attrs)


def _tuple(value, n, what):
    """n ints from one, or from a sequence of n."""
    if isinstance(value, (tuple, list)):
        if len(value) != n:
            raise ValueError(f"{what} must have {n} elements, but got {tuple(value)}")
        return tuple(int(v) for v in value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be an int or a tuple of {n} ints, but got {_type_name(value)}")
    return (value,) * n


def _need_tensor(x, what, where):
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{where}', {what} must be a Tensor, but got {_type_name(x)}")
    return x


def _into(x, result, inplace):
    """The result, or x overwritten by it."""
    return apply("assign", [x, result], {}) if inplace else result


# --- activations ------------------------------------------------------------------------------------------------------

def gelu(input, approximate="none") -> Tensor:
    """x times the probability that a normal variable is below x; 'tanh' approximates it."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"For 'gelu', approximate must be 'none' or 'tanh', but got {approximate!r}")
    return _one("gelu_tanh" if approximate == "tanh" else "gelu", input)


def _mint_gelu(input, *, approximate="none"):
    return gelu(input, approximate)


def softmax(input, axis=-1, *, dtype=None) -> Tensor:
    """exp(x) divided by its sum along an axis."""
    if isinstance(axis, bool) or not isinstance(axis, (int, tuple, list)):
        raise TypeError(f"For 'softmax', axis must be an int, but got {_type_name(axis)}")
    if dtype is not None:
        input = input.astype(dtype)
    return _one("softmax", input, axis=axis)


def _mint_softmax(input, dim=None, dtype=None):
    """softmax along dim; without one along axis 0 for rank 0, 1 and 3, else 1."""
    return softmax(input, _dim_of(input, dim), dtype=dtype)


def _mint_softmax_dim(input, dim, *, dtype=None):
    return softmax(input, dim, dtype=dtype)


def _dim_of(x, dim):
    return (0 if x.ndim in (0, 1, 3) else 1) if dim is None else dim


def _mint_log_softmax(input, dim=None, *, dtype=None):
    if dtype is not None:
        input = input.astype(dtype)
    return _one("log_softmax", input, axis=_dim_of(input, dim))


def _tensor_softmax(self, axis, dtype=None):
    return softmax(self, axis, dtype=dtype)


def softmin(x, axis=-1, *, dtype=None) -> Tensor:
    """softmax of -x."""
    return softmax(-x, axis, dtype=dtype)


def softplus(input, beta=1, threshold=20) -> Tensor:
    """log(1 + exp(beta x)) / beta, linear where beta x is above threshold."""
    return _one("softplus", input, beta=float(beta), threshold=float(threshold))


def _halves(x, axis):
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis {axis} is out of range for rank {x.ndim}")
    if x.shape[axis] % 2:
        raise ValueError(f"axis {axis} has {x.shape[axis]} elements, it must have an even number of them")
    return apply("split", [x], {"axis": axis, "sizes": (x.shape[axis] // 2,) * 2})


def glu(x, axis=-1) -> Tensor:
    """The first half times sigmoid of the second half."""
    first, second = _halves(_need_tensor(x, "x", "glu"), axis)
    return first * _one("sigmoid", second)


def _mint_glu(input, dim=-1):
    return glu(input, dim)


def swiglu(input, dim=-1) -> Tensor:
    """silu of the first half, times the second half."""
    first, second = _halves(_need_tensor(input, "input", "swiglu"), dim)
    return _one("silu", first) * second


def relu(input, inplace=False) -> Tensor:
    """The larger of zero and each element."""
    return _into(input, _one("relu", input), inplace)


def _inplace(op, *names, **fixed):
    """A function of mint: the operator, with its attributes by name, then `inplace`."""
    def function(input, *args, inplace=False, **kwargs):
        attrs = dict(fixed)
        if len(args) > len(names):
            args, inplace = args[:len(names)], args[len(names)]
        attrs.update(zip(names, map(float, args)))
        attrs.update({k: float(v) for k, v in kwargs.items()})
        return _into(input, _one(op, input, **attrs), inplace)
    function.__name__ = op
    function.__doc__ = f"{op}, on request in place."
    return function


def _only_inplace(op, *names, **fixed):
    plain = _inplace(op, *names, **fixed)

    def function(input, *args, **kwargs):
        return plain(input, *args, inplace=True, **kwargs)
    function.__name__ = op + "_"
    function.__doc__ = f"{op}, in place."
    return function


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3) -> Tensor:
    """x above zero, x times a random slope between lower and upper below."""
    if not 0 <= lower <= upper <= 1:
        raise ValueError(f"For 'rrelu', 0 <= lower <= upper <= 1 must hold, but got {lower} and {upper}")
    slope = _uniform(input.shape, lower, upper, input.dtype)
    return apply("select", [input >= 0, input, input * slope], {})


# --- random ones ------------------------------------------------------------------------------------------------------

def _state(count, generator=None):
    """A random state for `count` numbers: from the default generator, or from another one."""
    return (default_generator if generator is None else generator)._state(count)


def _count(shape):
    total = 1
    for d in shape:
        total *= d
    return total


def _uniform(shape, low, high, dtype):
    return apply("random_uniform", [_state(_count(shape))],
                 {"shape": shape, "low": float(low), "high": float(high), "dtype": dtype})


def gumbel_softmax(logits, tau=1.0, hard=False, dim=-1) -> Tensor:
    """A sample of the Gumbel-softmax distribution; hard gives one-hot vectors with the gradient of the soft ones."""
    if logits.dtype not in (mstype.float16, mstype.float32):
        raise TypeError(f"For 'gumbel_softmax', logits must be float16 or float32, but got {logits.dtype}")
    if tau <= 0:
        raise ValueError(f"For 'gumbel_softmax', tau must be positive, but got {tau}")
    noise = -_one("log", -_one("log", _uniform(logits.shape, 1e-7, 1.0, logits.dtype)))
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    top = apply("reduce_max", [soft], {"axis": (dim,), "keepdims": True})
    firm = (soft >= top).astype(soft.dtype)
    return firm - _one("stop_gradient", soft) + soft


def _drop(x, p, shared, where, generator=None):
    if isinstance(p, bool) or not isinstance(p, numbers.Real):
        raise TypeError(f"For '{where}', p must be a float, but got {_type_name(p)}")
    if not 0 <= p <= 1:
        raise ValueError(f"For '{where}', p must be between 0 and 1, but got {p}")
    shape = x.shape[:x.ndim - shared] if shared else x.shape
    return apply("dropout", [x, _state(_count(shape), generator)], {"keep_prob": 1.0 - float(p), "shared": shared})


def _check_training(training, where):
    if not isinstance(training, bool):
        raise TypeError(f"For '{where}', training must be a bool, but got {_type_name(training)}")


def dropout(input, p=0.5, training=True, seed=None) -> Tensor:
    """Zero elements with probability p and scale the others, while training."""
    _check_training(training, "dropout")
    if not training:
        return input
    return _drop(_need_tensor(input, "input", "dropout"), p, 0, "dropout", None if seed is None else _stream("dropout", seed))[0]


def _mint_dropout(input, p=0.5, training=True, inplace=False):
    return _into(input, dropout(input, p, training), inplace)


def _drop_channels(x, p, training, ranks, where):
    """Whole channels; the lowest rank stands for one sample."""
    _check_training(training, where)
    if _need_tensor(x, "input", where).ndim not in ranks:
        raise ValueError(f"For '{where}', the input must have {' or '.join(map(str, ranks))} dimensions, but got {x.ndim}")
    if training and x.dtype.is_signed and not x.dtype.is_floating_point and not x.dtype.is_complex:  # integers: scaled, cut off
        return _drop(x.astype(mstype.float32), p, builtins.max(ranks) - 2, where)[0].astype(x.dtype)
    return _drop(x, p, builtins.max(ranks) - 2, where)[0] if training else x


def dropout1d(input, p=0.5, training=True) -> Tensor:
    """Zero whole channels of [N, C, L] or [C, L]."""
    return _drop_channels(input, p, training, (2, 3), "dropout1d")


def dropout2d(input, p=0.5, training=True) -> Tensor:
    """Zero whole channels of [N, C, H, W]."""
    return _drop_channels(input, p, training, (4,), "dropout2d")


def _mint_dropout2d(input, p=0.5, training=True, inplace=False):
    return _into(input, dropout2d(input, p, training), inplace)


def dropout3d(input, p=0.5, training=True) -> Tensor:
    """Zero whole channels of [N, C, D, H, W]."""
    return _drop_channels(input, p, training, (5,), "dropout3d")


class Softmax(Primitive):
    """exp(x) divided by its sum over an axis (or neighbouring axes)."""

    @prim_attr_register
    def __init__(self, axis=-1):
        axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
        for one in axes:
            if isinstance(one, bool) or not isinstance(one, int):
                raise TypeError(f"For 'Softmax', axis must be an int or a tuple of ints, but got {axis!r}")
        self.add_prim_attr("axis", axes)
        self._attrs = {"axis": axes}

    def __call__(self, input) -> Tensor:
        return apply("softmax", [input], self._attrs)


class Dropout(Primitive):
    """Drop elements, keeping each with keep_prob. Gives the result and the mask of what was kept."""

    @prim_attr_register
    def __init__(self, keep_prob=0.5, Seed0=0, Seed1=0):
        if not 0 < keep_prob <= 1:
            raise ValueError(f"For 'Dropout', keep_prob must be in (0, 1], but got {keep_prob}")

    def __call__(self, x):
        return _drop(x, 1 - self.keep_prob, 0, "Dropout", **own_source(self, self.Seed0, self.Seed1))


class Dropout2D(Primitive):
    """Drop whole channels of [N, C, H, W]; gives the result and the mask."""
    _shared = 2

    @prim_attr_register
    def __init__(self, keep_prob=0.5):
        if not 0 <= keep_prob <= 1:
            raise ValueError(f"For '{self.name}', keep_prob must be in [0, 1], but got {keep_prob}")

    def __call__(self, x):
        out, mask = _drop(x, 1 - self.keep_prob, self._shared, self.name)
        return out, mask.astype(mstype.bool_)


class Dropout3D(Dropout2D):
    """Drop whole channels of [N, C, D, H, W]; gives the result and the mask."""
    _shared = 3


# --- normalisation ----------------------------------------------------------------------------------------------------

def batch_norm(input_x, running_mean, running_var, weight, bias, training=False, momentum=0.1, eps=1e-5) -> Tensor:
    """Normalise channels by the statistics of the batch (training) or by the kept ones."""
    return apply("batch_norm", [input_x, weight, bias, running_mean, running_var],
                 {"is_training": training, "epsilon": eps, "momentum": momentum})[0]


def _mint_batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    return batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


class BatchNorm(Primitive):
    """Normalise channels. Gives y, and the statistics used, twice: as results and for the gradient."""

    @prim_attr_register
    def __init__(self, is_training=False, epsilon=1e-5, momentum=0.1, data_format="NCHW"):
        if not isinstance(is_training, bool):
            raise TypeError(f"For 'BatchNorm', is_training must be a bool, but got {_type_name(is_training)}")
        for name, value, low in (("epsilon", epsilon, epsilon > 0), ("momentum", momentum, momentum >= 0)):
            if not (low and value <= 1):
                raise ValueError(f"For 'BatchNorm', {name} must be between 0 and 1, but got {value}")
        self._attrs = {"is_training": is_training, "epsilon": float(epsilon), "momentum": float(momentum),
                       "data_format": data_format}

    def __call__(self, input_x, scale, bias, mean, variance):
        y, used_mean, used_variance = apply("batch_norm", [input_x, scale, bias, mean, variance], self._attrs)
        return y, used_mean, used_variance, used_mean, used_variance


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5) -> Tensor:
    """Normalise over the last axes, whose shape is normalized_shape."""
    if not isinstance(normalized_shape, (tuple, list)):
        raise TypeError(f"For 'layer_norm', normalized_shape must be a tuple or list, but got {_type_name(normalized_shape)}")
    shape = tuple(normalized_shape)
    first = input.ndim - len(shape)
    if not shape or first < 0 or tuple(input.shape[first:]) != shape:
        raise ValueError(f"For 'layer_norm', normalized_shape {shape} must be the shape of the last axes of the input, "
                         f"which has shape {tuple(input.shape)}")
    return apply("layer_norm", [input, weight, bias],
                 {"begin_norm_axis": first, "begin_params_axis": first, "epsilon": float(eps)})[0]


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5) -> Tensor:
    """Normalise every group of channels of every sample."""
    return apply("group_norm", [input, weight, bias], {"num_groups": num_groups, "epsilon": float(eps)})[0]


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1,
                  eps=1e-5) -> Tensor:
    """Normalise every channel of every sample; the kept statistics move along, or are used instead."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    channels = input.shape[1]
    y, mean, variance = apply("group_norm", [input, weight, bias], {"num_groups": channels, "epsilon": float(eps)})
    count = _count(input.shape[2:])
    unbiased = count / (count - 1) if count > 1 else 1.0
    for kept, now, factor in ((running_mean, mean, 1.0), (running_var, variance, unbiased)):
        if kept is not None:
            now = apply("reduce_mean", [_one("stop_gradient", now)], {"axis": (0,)}).astype(kept.dtype)
            apply("moving_average_update", [kept, now], {"momentum": momentum, "factor": factor})
    return y


def normalize(input, p=2.0, dim=1, eps=1e-12) -> Tensor:
    """Divide by the p-norm over dim, which is at least eps."""
    length = apply("vector_norm", [input], {"ord": float(p), "axis": dim if isinstance(dim, (tuple, list)) else (dim,),
                                            "keepdims": True})
    return input / apply("maximum", [length, eps], {})


def bias_add(input_x, bias) -> Tensor:
    """Add one number per channel (axis 1)."""
    _need_tensor(bias, "bias", "bias_add")
    return BiasAdd()(input_x, bias)


class BiasAdd(Primitive):
    """Add one number per channel."""

    @prim_attr_register
    def __init__(self, data_format="NCHW"):
        if data_format not in ("NCHW", "NHWC", "NCDHW"):
            raise ValueError(f"For 'BiasAdd', data_format must be 'NCHW', 'NHWC' or 'NCDHW', but got {data_format!r}")

    def __call__(self, input_x, bias) -> Tensor:
        axis = input_x.ndim - 1 if self.data_format == "NHWC" else 1
        if input_x.ndim < 2 or bias.ndim != 1 or bias.shape[0] != input_x.shape[axis]:
            raise ValueError(f"For 'BiasAdd', bias of shape {tuple(bias.shape)} does not fit axis {axis} of an input of shape "
                             f"{tuple(input_x.shape)}")
        if bias.dtype != input_x.dtype and not _core.precision_is_mixed():
            raise TypeError(f"For 'BiasAdd', both inputs must have one dtype, but got {input_x.dtype} and {bias.dtype}")
        return input_x + bias.reshape((1,) * axis + (-1,) + (1,) * (input_x.ndim - 1 - axis))


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False) -> Tensor:
    """Rows of weight by index. The row padding_idx gets no gradient; with max_norm long rows are shortened in place."""
    if scale_grad_by_freq:
        raise ValueError("For 'embedding', scale_grad_by_freq is not supported")
    if max_norm is not None:
        depth = _core.grad_pause()
        try:
            length = apply("vector_norm", [weight], {"ord": float(norm_type), "axis": (1,), "keepdims": True})
            used = apply("one_hot", [input.reshape((-1,)), 1.0, 0.0], {"depth": weight.shape[0], "axis": -1})
            used = apply("reduce_max", [used], {"axis": (0,)}).reshape((-1, 1)) > 0
            scale = apply("select", [(length > max_norm).logical_and(used), max_norm / (length + 1e-7), length * 0 + 1], {})
            apply("assign", [weight, weight * scale], {})
        finally:
            _core.grad_resume(depth)
    if padding_idx is not None:
        rows = weight.shape[0]
        padding_idx = padding_idx + rows if padding_idx < 0 else padding_idx
        keep = Tensor([0.0 if i == padding_idx else 1.0 for i in range(rows)], weight.dtype).reshape((-1, 1))
        weight = weight * keep + _one("stop_gradient", weight) * (1 - keep)
    return apply("gather", [weight, input], {"axis": 0})


# --- clipping ---------------------------------------------------------------------------------------------------------

def _each(x, function, where):
    if isinstance(x, Tensor):
        return function(x)
    if not isinstance(x, (tuple, list)):
        raise TypeError(f"For '{where}', x must be a Tensor or a tuple or list of Tensors, but got {_type_name(x)}")
    return type(x)(_each(one, function, where) for one in x)


def clip_by_value(x, clip_value_min=None, clip_value_max=None):
    """Keep elements between two bounds, either of which may be left out."""
    if clip_value_min is None and clip_value_max is None:
        raise ValueError("For 'clip_by_value', at least one of clip_value_min and clip_value_max must be given")

    def clip(one):
        if not (one.dtype.is_floating_point or one.dtype.is_complex or one.dtype == mstype.bool_) and all(bound is None or isinstance(bound, (int, float)) for bound in (clip_value_min, clip_value_max)):
            low, high = (None if bound is None else int(bound) for bound in (clip_value_min, clip_value_max))
            return apply("clamp", [one, low, high], {})        # a bound may lie outside of what the dtype holds
        if clip_value_max is not None:
            one = apply("minimum", [one, clip_value_max], {})
        return one if clip_value_min is None else apply("maximum", [one, clip_value_min], {})
    return _each(x, clip, "clip_by_value")


def _norm_of(parts):
    squares = [apply("reduce_sum", [_one("square", p.astype(mstype.float32) if p.dtype == mstype.bool_ else p)], {}).astype(mstype.float32) for p in parts]
    return apply("sqrt", [squares[0] if len(squares) == 1 else apply("addn", squares, {})], {})


def clip_by_norm(x, max_norm, norm_type=2.0, error_if_nonfinite=False) -> Tensor:
    """Scale all Tensors together so that their common norm is at most max_norm."""
    parts = [x] if isinstance(x, Tensor) else list(x)
    if norm_type == float("inf"):
        tops = [apply("reduce_max", [_one("abs", p.astype(mstype.float32))], {}) for p in parts]
        total = tops[0]
        for top in tops[1:]:
            total = apply("maximum", [total, top], {})
    elif norm_type == 2:
        total = _norm_of(parts)
    else:
        powers = [apply("reduce_sum", [apply("pow", [_one("abs", p.astype(mstype.float32)), norm_type], {})], {}) for p in parts]
        total = apply("pow", [powers[0] if len(powers) == 1 else apply("addn", powers, {}), 1.0 / norm_type], {})
    if error_if_nonfinite and not bool(_one("isfinite", total)):
        raise RuntimeError(f"For 'clip_by_norm', the norm is {total.item()}, which is not finite")
    scale = apply("minimum", [max_norm / (total + 1e-6), 1.0], {})
    return _each(x, lambda one: (one * scale).astype(one.dtype), "clip_by_norm")


def clip_by_global_norm(x, clip_norm=1.0, use_norm=None):
    """Scale Tensors together so that the root of the sum of all their squares is at most clip_norm."""
    if use_norm is not None:
        raise ValueError(f"For 'clip_by_global_norm', use_norm must be None, but got {use_norm}")
    if isinstance(x, Tensor):
        return clip_by_global_norm((x,), clip_norm)[0]
    if not isinstance(x, (tuple, list)):
        raise TypeError(f"For 'clip_by_global_norm', x must be a tuple or list of Tensors, but got {_type_name(x)}")
    if clip_norm <= 0:
        raise ValueError(f"For 'clip_by_global_norm', clip_norm must be positive, but got {clip_norm}")
    total = _norm_of(x)
    scale = clip_norm / apply("maximum", [total, float(clip_norm)], {})
    return tuple((one * scale).astype(one.dtype) for one in x)


# --- resizing ---------------------------------------------------------------------------------------------------------

_KERNELS = {"nearest": "nearest", "nearest-exact": "nearest", "linear": "linear", "bilinear": "linear",
            "trilinear": "linear", "bicubic": "cubic", "area": "area"}
_RANKS = {"nearest": (3, 4, 5), "nearest-exact": (3, 4), "linear": (3,), "bilinear": (4,), "trilinear": (5,), "bicubic": (4,),
          "area": (3, 4, 5)}


def _resize_target(x, size, scale_factor, where):
    """Sizes and scales of the spatial axes."""
    n = x.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ValueError(f"For '{where}', exactly one of size and scale_factor must be given")
    if size is not None:
        size = _tuple(size, n, "size")
        if builtins.min(size) <= 0:
            raise ValueError(f"For '{where}', size must be positive, but got {size}")
        return size, None
    if isinstance(scale_factor, (tuple, list)):
        if len(scale_factor) != n:
            raise ValueError(f"For '{where}', scale_factor must have {n} elements, but got {tuple(scale_factor)}")
    else:
        scale_factor = (scale_factor,) * n
    if builtins.min(scale_factor) <= 0:
        raise ValueError(f"For '{where}', scale_factor must be positive, but got {tuple(scale_factor)}")
    return tuple(int(d * f) for d, f in zip(x.shape[2:], scale_factor)), tuple(scale_factor)


def _interpolate(x, size, scale_factor, mode, align_corners, recompute_scale_factor, where, strict):
    _need_tensor(x, "input", where)
    if mode not in _KERNELS:
        raise ValueError(f"For '{where}', mode must be one of {', '.join(_KERNELS)}, but got {mode!r}")
    if x.ndim not in _RANKS[mode]:
        raise ValueError(f"For '{where}', mode {mode} takes {' or '.join(map(str, _RANKS[mode]))} dimensions, but got {x.ndim}")
    corners = mode in ("linear", "bilinear", "trilinear", "bicubic")
    if align_corners is not None and not corners:
        raise ValueError(f"For '{where}', align_corners cannot be given for mode {mode}")
    if size is not None and recompute_scale_factor:
        raise ValueError(f"For '{where}', recompute_scale_factor needs scale_factor, not size")
    size, scales = _resize_target(x, size, scale_factor, where)
    if recompute_scale_factor or mode == "area":
        scales = None
    elif strict and scales is not None and not (mode == "nearest" and x.ndim == 5 or mode == "trilinear"):
        raise ValueError(f"For '{where}', scale_factor needs recompute_scale_factor=True for mode {mode} and "
                         f"{x.ndim} dimensions")
    coordinates = "align_corners" if align_corners else "asymmetric" if mode == "nearest" else "half_pixel"
    attrs = {"size": size, "mode": _KERNELS[mode], "coordinates": coordinates,
             "scales": None if scales is None else tuple(1.0 / s for s in scales)}
    return apply("resize", [x], {**attrs, **_cubic(mode == "bicubic", not align_corners)})


def _cubic(wanted, half_pixel):
    """The kernel of bicubic resizing: weights come from a table of 1024 steps."""
    if not wanted:
        return {}
    return {"cubic": -0.5, "inside": True, "steps": 1024} if half_pixel else {"cubic": -0.75, "steps": 1024}


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None) -> Tensor:
    """Resize the spatial axes to a size, or by a factor."""
    return _interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, "interpolate", True)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None) -> Tensor:
    """Another name of interpolate."""
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


def _mint_interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
    if mode == "area":
        raise ValueError("For 'interpolate', mint has no mode 'area'")
    return _interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, "interpolate", False)


def _mint_upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return _interpolate(input, size, scale_factor, mode, align_corners, None, "upsample", False)


class _Resize(Primitive):
    """Resizing of [N, C, H, W] with the size given when called."""
    _mode = "linear"

    @prim_attr_register
    def __init__(self, align_corners=False, half_pixel_centers=False):
        for what, value in (("align_corners", align_corners), ("half_pixel_centers", half_pixel_centers)):
            if not isinstance(value, bool):
                raise TypeError(f"For '{self.name}', {what} must be a bool, but got {_type_name(value)}")
        if align_corners and half_pixel_centers:
            raise ValueError(f"For '{self.name}', align_corners and half_pixel_centers cannot both be True")

    def __call__(self, x, size) -> Tensor:
        size = tuple(size.tolist()) if isinstance(size, Tensor) else size
        half = self.half_pixel_centers
        place = "align_corners" if self.align_corners else "half_pixel" if half else "asymmetric"
        attrs = {"size": _tuple(size, 2, "size"), "mode": self._mode, "coordinates": place}
        attrs.update(_cubic(self._mode == "cubic", half))
        return apply("resize", [_need_tensor(x, "the input", self.name)], attrs)


class ResizeBilinearV2(_Resize):
    """Resize [N, C, H, W] by weights of the four nearest pixels."""


class ResizeNearestNeighborV2(_Resize):
    """Resize [N, C, H, W] by the nearest pixel."""
    _mode = "nearest"


class ResizeBicubic(_Resize):
    """Resize [N, C, H, W] by a cubic kernel over sixteen pixels."""
    _mode = "cubic"


class ResizeNearestNeighbor(Primitive):
    """Resize [N, C, H, W] to a fixed size by the nearest pixel."""
    _of = ResizeNearestNeighborV2

    @prim_attr_register
    def __init__(self, size, align_corners=False, half_pixel_centers=False):
        if not isinstance(size, (tuple, list)):
            raise TypeError(f"For '{self.name}', size must be a tuple of 2 ints, but got {_type_name(size)}")
        if len(size) != 2:
            raise ValueError(f"For '{self.name}', size must be a tuple of 2 ints, but got {size!r}")
        # The nearest pixel is found without half_pixel_centers here, as MindSpore does on the CPU; V2 heeds it.
        self._run = self._of(align_corners, half_pixel_centers and self._of is not ResizeNearestNeighborV2)

    def __call__(self, x) -> Tensor:
        return self._run(x, self.size)


class ResizeBilinear(ResizeNearestNeighbor):
    """Resize [N, C, H, W] to a fixed size by weights of the four nearest pixels."""
    _of = ResizeBilinearV2


class UpsampleNearest3D(Primitive):
    """Resize [N, C, D, H, W] by the nearest element."""

    @prim_attr_register
    def __init__(self):
        pass

    def __call__(self, x, output_size=None, scales=None) -> Tensor:
        return _interpolate(x, output_size, scales, "nearest", None, None, self.name, False)


class UpsampleTrilinear3D(Primitive):
    """Resize [N, C, D, H, W] by weights of the eight nearest elements."""

    @prim_attr_register
    def __init__(self, align_corners=False):
        pass

    def __call__(self, x, output_size=None, scales=None) -> Tensor:
        return _interpolate(x, output_size, scales, "trilinear", self.align_corners, None, self.name, False)


def channel_shuffle(x, groups) -> Tensor:
    """Deal the channels of `groups` groups out in turn."""
    _need_tensor(x, "x", "channel_shuffle")
    n, c, *rest = x.shape
    if groups <= 0 or c % groups:
        raise ValueError(f"For 'channel_shuffle', groups must divide the {c} channels, but got {groups}")
    return x.reshape((n, groups, c // groups, *rest)).swapaxes(1, 2).reshape(x.shape)


# --- windows ----------------------------------------------------------------------------------------------------------

def _batched(x, n):
    """x with a batch axis, and whether one was added."""
    if not isinstance(x, Tensor):
        raise TypeError(f"the input of a convolution or a pooling must be a Tensor, but got {_type_name(x)}")
    return (x.reshape((1,) + tuple(x.shape)), True) if x.ndim == n + 1 else (x, False)


def _max_pool(x, n, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    x, single = _batched(x, n)
    attrs = {"kernel_size": _tuple(kernel_size, n, "kernel_size"), "pad": _tuple(padding, n, "padding"),
             "stride": _tuple(kernel_size if stride is None else stride, n, "stride"),
             "dilation": _tuple(dilation, n, "dilation"), "ceil_mode": ceil_mode, "pad_mode": "pad"}
    out = apply(f"max_pool{n}d" + ("_indices" if return_indices else ""), [x], attrs)
    if not single:
        return out
    return tuple(o.squeeze(0) for o in out) if isinstance(out, tuple) else out.squeeze(0)


def max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
    """The largest element of each window of [N, C, H, W]."""
    return _max_pool(x, 2, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _mint_max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return _max_pool(input, 2, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) -> Tensor:
    """The largest element of each window of [N, C, D, H, W]."""
    return _max_pool(x, 3, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _adaptive_max(x, n, output_size, return_indices):
    size = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * n
    size = tuple(d if s is None else s for s, d in zip(size, x.shape[-n:]))
    x, single = _batched(x, n)
    out = apply(f"adaptive_max_pool{n}d", [x], {"output_size": size})
    out = tuple(o.squeeze(0) for o in out) if single else out
    return out if return_indices else out[0]


def _adaptive_avg(x, n, output_size):
    size = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * n
    if len(size) != n:
        raise ValueError(f"output_size must have {n} elements, but got {tuple(size)}")
    x, single = _batched(x, n)
    if x.ndim != n + 2:
        raise ValueError(f"the input must have {n + 1} or {n + 2} dimensions, but got {x.ndim}")
    out = apply(f"adaptive_avg_pool{n}d", [x], {"output_size": tuple(d if s is None else s for s, d in zip(size, x.shape[2:]))})
    return out.squeeze(0) if single else out


def adaptive_avg_pool2d(input, output_size) -> Tensor:
    """The mean of each part of the last two axes; None keeps an axis."""
    return _adaptive_avg(_need_tensor(input, "input", "adaptive_avg_pool2d"), 2, output_size)


def adaptive_avg_pool3d(input, output_size) -> Tensor:
    """The mean of each part of the last three axes; None keeps an axis."""
    return _adaptive_avg(_need_tensor(input, "input", "adaptive_avg_pool3d"), 3, output_size)


class AdaptiveAvgPool2D(Primitive):
    """adaptive_avg_pool2d with its size given once."""

    @prim_attr_register
    def __init__(self, output_size):
        if not isinstance(output_size, (int, tuple)) or isinstance(output_size, bool):
            raise TypeError(f"For 'AdaptiveAvgPool2D', output_size must be an int or a tuple, but got {_type_name(output_size)}")

    def __call__(self, x) -> Tensor:
        return adaptive_avg_pool2d(x, self.output_size)


class AdaptiveAvgPool3D(AdaptiveAvgPool2D):
    """adaptive_avg_pool3d with its size given once."""

    def __call__(self, x) -> Tensor:
        return adaptive_avg_pool3d(x, self.output_size)


def adaptive_max_pool1d(input, output_size) -> Tensor:
    """The largest element of each of output_size parts of the last axis."""
    return _adaptive_max(input, 1, output_size, False)


def adaptive_max_pool2d(input, output_size, return_indices=False) -> Tensor:
    """The largest element of each part of the last two axes."""
    return _adaptive_max(input, 2, output_size, return_indices)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """The largest element of each part of the last three axes."""
    return _adaptive_max(input, 3, output_size, return_indices)


def _mint_adaptive_max_pool1d(input, output_size, return_indices=False):
    return _adaptive_max(input, 1, output_size, return_indices)


def _lp_pool(x, n, norm_type, kernel_size, stride, ceil_mode):
    x, single = _batched(x, n)
    if isinstance(norm_type, bool) or not isinstance(norm_type, (int, float)):
        raise TypeError(f"For 'lp_pool{n}d', norm_type must be an int or a float, but got {_type_name(norm_type)}")
    if norm_type == 0:
        raise ValueError(f"For 'lp_pool{n}d', norm_type must not be 0")
    kernel = _tuple(kernel_size, n, "kernel_size")
    powers = apply("pow", [x, float(norm_type)], {})
    mean = apply(f"avg_pool{n}d", [powers], {"kernel_size": kernel, "ceil_mode": ceil_mode, "count_include_pad": True,
                                             "stride": kernel if stride is None else _tuple(stride, n, "stride")})
    out = apply("pow", [mean * float(_count(kernel)), 1.0 / norm_type], {})
    return out.squeeze(0) if single else out


def lp_pool1d(x, norm_type, kernel_size, stride=None, ceil_mode=False) -> Tensor:
    """The p-norm of each window of the last axis."""
    return _lp_pool(x, 1, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(x, norm_type, kernel_size, stride=None, ceil_mode=False) -> Tensor:
    """The p-norm of each window of the last two axes."""
    return _lp_pool(x, 2, norm_type, kernel_size, stride, ceil_mode)


def _mint_max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The maxima of windows back at their places, zeros elsewhere.

    Examples:
        >>> from spore import Tensor, mint
        >>> x = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> pooled, places = mint.nn.functional.max_pool2d(x, 2, return_indices=True)
        >>> print(mint.nn.functional.max_unpool2d(pooled, places, 2))
        [[[[0. 0.]
           [0. 4.]]]]
    """
    from .. import ops
    return ops.max_unpool2d(input, indices, kernel_size, stride, padding, output_size)


def _conv_tbc(input, weight, bias, pad=0):
    """A convolution of sequences (time, batch, channels) with weights (width, channels in, channels out).

    Examples:
        >>> from spore import mint
        >>> print(mint.conv_tbc(mint.ones((4, 1, 2)), mint.ones((2, 2, 3)), mint.ones(3), pad=1).shape)
        (5, 1, 3)
    """
    x, kernel = (_need_tensor(t, name, "conv_tbc") for t, name in ((input, "input"), (weight, "weight")))
    if x.ndim != 3 or kernel.ndim != 3:
        raise ValueError(f"For 'conv_tbc', input and weight must have 3 dimensions, but got {x.ndim} and {kernel.ndim}")
    return _mint_conv(1)(x.transpose((1, 2, 0)), kernel.transpose((2, 1, 0)), bias, 1, pad).transpose((2, 0, 1))


def _mint_conv(n):
    def conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        x, single = _batched(input, n)
        mode = padding if isinstance(padding, str) else "pad"
        out = apply(f"conv{n}d", [x, weight, bias],
                    {"stride": _tuple(stride, n, "stride"), "pad_mode": mode, "group": groups,
                     "pad": (0,) if mode != "pad" else _tuple(padding, n, "padding"), "dilation": _tuple(dilation, n, "dilation")})
        return out.squeeze(0) if single else out
    conv.__name__ = f"conv{n}d"
    conv.__doc__ = f"Convolution over {n} dimensions."
    return conv


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) -> Tensor:
    """The adjoint of conv2d: weight is [in channels, out channels / groups, height, width]."""
    x, single = _batched(input, 2)
    stride, pad = _tuple(stride, 2, "stride"), _tuple(padding, 2, "padding")
    extra, dilation = _tuple(output_padding, 2, "output_padding"), _tuple(dilation, 2, "dilation")
    size = tuple((x.shape[2 + i] - 1) * stride[i] - 2 * pad[i] + dilation[i] * (weight.shape[2 + i] - 1) + extra[i] + 1
                 for i in range(2))
    out = apply("conv2d_input_grad", [x, weight], {"stride": stride, "pad_mode": "pad", "pad": pad, "dilation": dilation,
                                                   "group": groups, "input_size": size})
    if bias is not None:
        out = out + bias.reshape((1, -1, 1, 1))
    return out.squeeze(0) if single else out


class _Conv(Primitive):
    """Convolution with attributes given once."""
    _n = 2

    def _setup(self, out_channel, kernel_size, pad_mode, pad, stride, dilation, group, data_format, formats):
        n = self._n
        if data_format not in formats:
            raise ValueError(f"For '{self.name}', data_format must be one of {', '.join(formats)}, but got {data_format!r}")
        if isinstance(out_channel, bool) or not isinstance(out_channel, int):
            raise TypeError(f"For '{self.name}', out_channel must be an int, but got {_type_name(out_channel)}")
        if out_channel <= 0 or group <= 0:
            raise ValueError(f"For '{self.name}', out_channel and group must be positive, but got {out_channel} and {group}")
        mode = str(pad_mode).lower()
        if mode not in ("same", "valid", "pad"):
            raise ValueError(f"For '{self.name}', pad_mode must be 'same', 'valid' or 'pad', but got {pad_mode!r}")
        pads = tuple(pad) if isinstance(pad, (tuple, list)) else (pad,) * (2 * n)
        if mode != "pad" and any(pads):
            raise ValueError(f"For '{self.name}', pad must be 0 when pad_mode is {mode!r}, but got {pad}")
        self._kernel = _last(kernel_size, n, "kernel_size")
        self._attrs = {"stride": _last(stride, n, "stride"), "pad_mode": mode, "pad": pads,
                       "dilation": _last(dilation, n, "dilation"), "group": group}

    def _check_weight(self, weight, axis):
        if tuple(weight.shape[2:]) != self._kernel or weight.shape[axis] != self.out_channel // (self.group if axis else 1):
            raise ValueError(f"For '{self.name}', weight has shape {tuple(weight.shape)}, but out_channel is "
                             f"{self.out_channel} and kernel_size {self._kernel}")


def _last(value, n, what):
    """One int, n of them, or n + 2 of which the last n count."""
    if isinstance(value, (tuple, list)) and len(value) == n + 2:
        value = tuple(value)[2:]
    value = _tuple(value, n, what)
    if builtins.min(value) < 1:
        raise ValueError(f"{what} must be at least 1, but got {value}")
    return value


class MaxPool(Primitive):
    """The largest element of each window of [N, C, H, W] (or [N, H, W, C])."""
    _operator = "max_pool2d"

    @prim_attr_register
    def __init__(self, kernel_size=1, strides=1, pad_mode="valid", data_format="NCHW"):
        self._setup(kernel_size, strides, pad_mode, data_format)

    def _setup(self, kernel_size, strides, pad_mode, data_format):
        if not isinstance(pad_mode, str) or pad_mode.lower() not in ("same", "valid"):
            raise ValueError(f"For '{self.name}', pad_mode must be 'same' or 'valid', but got {pad_mode!r}")
        if data_format not in ("NCHW", "NHWC"):
            raise ValueError(f"For '{self.name}', data_format must be 'NCHW' or 'NHWC', but got {data_format!r}")
        self._attrs = {"kernel_size": _last(kernel_size, 2, "kernel_size"), "stride": _last(strides, 2, "strides"),
                       "pad_mode": pad_mode}

    def __call__(self, x) -> Tensor:
        if self.data_format == "NCHW":
            return apply(self._operator, [x], self._attrs)
        return apply("transpose", [apply(self._operator, [_to_nchw(x)], self._attrs)], {"perm": (0, 2, 3, 1)})


class AvgPool(MaxPool):
    """The mean of each window of [N, C, H, W] (or [N, H, W, C])."""
    _operator = "avg_pool2d"

    @prim_attr_register
    def __init__(self, kernel_size=1, strides=1, pad_mode="VALID", data_format="NCHW"):
        self._setup(kernel_size, strides, pad_mode, data_format)


def _to_nchw(x):
    return apply("transpose", [x], {"perm": (0, 3, 1, 2)})


class Conv2D(_Conv):
    """Convolution of [N, C, H, W] (or [N, H, W, C]) with weight [out, in / group, height, width]."""

    @prim_attr_register
    def __init__(self, out_channel, kernel_size, mode=1, pad_mode="valid", pad=0, stride=1, dilation=1, group=1,
                 data_format="NCHW"):
        if mode != 1:
            raise ValueError(f"For 'Conv2D', mode must be 1, but got {mode!r}")
        self._setup(out_channel, kernel_size, pad_mode, pad, stride, dilation, group, data_format, ("NCHW", "NHWC"))

    def __call__(self, x, weight) -> Tensor:
        last = self.data_format == "NHWC"
        if last:
            x, weight = _to_nchw(x), _to_nchw(weight)
        self._check_weight(weight, 0)
        out = apply("conv2d", [x, weight, None], self._attrs)
        return apply("transpose", [out], {"perm": (0, 2, 3, 1)}) if last else out


class Conv3D(_Conv):
    """Convolution of [N, C, D, H, W]."""
    _n = 3

    @prim_attr_register
    def __init__(self, out_channel, kernel_size, mode=1, pad_mode="valid", pad=0, stride=1, dilation=1, group=1,
                 data_format="NCDHW"):
        if mode != 1:
            raise ValueError(f"For 'Conv3D', mode must be 1, but got {mode!r}")
        self._setup(out_channel, kernel_size, pad_mode, pad, stride, dilation, group, data_format, ("NCDHW",))

    def __call__(self, x, weight) -> Tensor:
        self._check_weight(weight, 0)
        return apply("conv3d", [x, weight, None], self._attrs)


class Conv2DTranspose(_Conv):
    """The adjoint of Conv2D: dout, the weight, and the size of the result."""

    @prim_attr_register
    def __init__(self, out_channel, kernel_size, pad_mode="valid", pad=0, pad_list=None, mode=1, stride=1, dilation=1,
                 group=1, data_format="NCHW"):
        if mode != 1:
            raise ValueError(f"For 'Conv2DTranspose', mode must be 1, but got {mode!r}")
        self._setup(out_channel, kernel_size, pad_mode, pad, stride, dilation, group, data_format, ("NCHW",))

    def __call__(self, dout, weight, input_size) -> Tensor:
        size = tuple(input_size.tolist()) if isinstance(input_size, Tensor) else tuple(input_size)
        return apply("conv2d_input_grad", [dout, weight], {**self._attrs, "input_size": size[-2:]})


class Conv2DBackpropInput(Conv2DTranspose):
    """Another name of Conv2DTranspose."""


# --- attention --------------------------------------------------------------------------------------------------------

def attention(query, key, value, mask, scale, causal=False) -> Tensor:
    """softmax(scale query key' + mask) value of [..., length, size], without keeping the scores."""
    return apply("attention", [query, key, value, mask], {"scale": scale, "causal": causal})


_HEADS_FIRST = {"BNSD": None, "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "SBH": (1, 2, 0, 3)}


def flash_attention_score(query, key, value, head_num, real_shift=None, drop_mask=None, padding_mask=None, attn_mask=None,
                          prefix=None, actual_seq_qlen=None, actual_seq_kvlen=None, keep_prob=1.0, scalar_value=1.0,
                          pre_tokens=2147483647, next_tokens=2147483647, inner_precise=0, input_layout="BSH", sparse_mode=0) -> Tensor:
    """Attention in `head_num` heads: softmax(scalar_value query key' + real_shift, without what attn_mask hides) value.

    The scores are never held as a whole, neither here nor for the gradient. Layouts BSH, SBH, BSND and BNSD; attn_mask hides
    where it is true; sparse_mode 2 hides what comes later. Fewer heads of key and value are shared by those of query.

    Examples:
        >>> from spore import Tensor, ops
        >>> x = ops.ones((1, 2, 3, 4))
        >>> print(ops.flash_attention_score(x, x, x, 2, scalar_value=0.5, input_layout="BNSD").shape)
        (1, 2, 3, 4)
    """
    if input_layout not in _HEADS_FIRST:
        raise ValueError(f"For 'flash_attention_score', input_layout must be one of {', '.join(_HEADS_FIRST)}, but got {input_layout!r}")
    for name, given in (("drop_mask", drop_mask), ("padding_mask", padding_mask), ("prefix", prefix), ("actual_seq_qlen", actual_seq_qlen),
                        ("actual_seq_kvlen", actual_seq_kvlen)):
        if given is not None:
            raise ValueError(f"For 'flash_attention_score', {name} is not supported on the CPU: it must be None")
    if keep_prob != 1.0:
        raise ValueError(f"For 'flash_attention_score', keep_prob must be 1.0 on the CPU, but got {keep_prob}: drop before or after it")
    if sparse_mode not in (0, 1, 2) or min(pre_tokens, next_tokens) < max(query.shape) + max(key.shape) and sparse_mode == 0:
        raise ValueError("For 'flash_attention_score', bands are not supported on the CPU: give attn_mask, or sparse_mode 2 for what comes later")
    order, flat = _HEADS_FIRST[input_layout], query.ndim == 3

    def heads_first(x):
        if flat:
            x = x.reshape((*x.shape[:2], -1, query.shape[-1] // head_num))
        return x if order is None else x.transpose(order)

    q, k, v = (heads_first(x) for x in (query, key, value))
    if k.shape[1] != q.shape[1]:
        batch, groups, source, _ = k.shape
        k, v = (apply("broadcast_to", [x.expand_dims(2)], {"shape": (batch, groups, q.shape[1] // groups, source, x.shape[-1])})
                .reshape((batch, q.shape[1], source, x.shape[-1])) for x in (k, v))
    mask = real_shift
    if attn_mask is not None and sparse_mode != 2:
        hidden = _as_added(attn_mask.astype(mstype.bool_), q.dtype)
        mask = hidden if mask is None else mask + hidden
    out = attention(q, k, v, mask, float(scalar_value), sparse_mode == 2)
    if order is not None:
        out = out.transpose({"SBH": (2, 0, 1, 3)}.get(input_layout, (0, 2, 1, 3)))
    return out.reshape(query.shape[:2] + (-1,)) if flat else out


def _as_added(mask, dtype):
    """A bool mask (True: hidden) as numbers to add to the scores."""
    if mask is None or mask.dtype != mstype.bool_:
        return mask
    return apply("select", [mask, Tensor(float("-inf"), dtype), Tensor(0.0, dtype)], {})


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k,
                                 bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True,
                                 key_padding_mask=None, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None,
                                 k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
                                 average_attn_weights=True, is_causal=False, k_is_v=False, q_is_k=False, dtype=mstype.float32):
    """Attention of [length, batch, features] (or without batch) in several heads. Gives the result and the weights.

    Examples:
        >>> from spore import Tensor, ops
        >>> x = ops.ones((3, 2, 4))
        >>> out, weights = ops.multi_head_attention_forward(
        ...     x, x, x, 4, 2, ops.ones((12, 4)), ops.zeros((12,)), None, None, False, 0.0,
        ...     ops.ones((4, 4)), ops.zeros((4,)))
        >>> out.shape, weights.shape
        ((3, 2, 4), (2, 3, 3))
    """
    single = query.ndim == 2
    if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
        raise ValueError(f"query, key and value must all have 2 or all 3 dimensions, but got {query.ndim}, {key.ndim} and {value.ndim}")
    if single:
        query, key, value = (t.expand_dims(1) for t in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.expand_dims(0)
    length, batch, width = query.shape
    if width != embed_dim_to_check:
        raise ValueError(f"query has {width} features, they must be {embed_dim_to_check}")
    if width % num_heads:
        raise ValueError(f"num_heads must divide the {width} features, but got {num_heads}")
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    else:
        weights = apply("split", [in_proj_weight], {"axis": 0, "sizes": (width,) * 3})
    biases = (None,) * 3 if in_proj_bias is None else apply("split", [in_proj_bias], {"axis": 0, "sizes": (width,) * 3})
    q, k, v = (apply("dense", [t, w, b], {}) for t, w, b in zip((query, key, value), weights, biases))
    extra = 0
    if bias_k is not None and bias_v is not None:
        k, v = (apply("concat", [t, apply("tile", [b, ], {"multiples": (1, batch, 1)})], {"axis": 0})
                for t, b in ((k, bias_k), (v, bias_v)))
        extra += 1
    head = width // num_heads
    q = q.reshape((length, batch * num_heads, head)).swapaxes(0, 1)
    k = k.reshape((-1, batch * num_heads, head)).swapaxes(0, 1) if static_k is None else static_k
    v = v.reshape((-1, batch * num_heads, head)).swapaxes(0, 1) if static_v is None else static_v
    if add_zero_attn:
        zero = Tensor([0.0] * (k.shape[0] * head), k.dtype).reshape((k.shape[0], 1, head))
        k, v = (apply("concat", [t, zero], {"axis": 1}) for t in (k, v))
        extra += 1
    source = k.shape[1]
    if is_causal and attn_mask is None:
        attn_mask = Tensor([[j > i for j in range(source - extra)] for i in range(length)], mstype.bool_)
    mask = _as_added(attn_mask, q.dtype)
    if mask is not None:
        mask = mask.astype(q.dtype)
        if mask.ndim == 2:
            mask = mask.expand_dims(0)
        if extra:
            mask = apply("pad", [mask], {"paddings": (0, 0, 0, 0, 0, extra), "mode": "constant", "value": 0.0})
    if key_padding_mask is not None:
        hidden = _as_added(key_padding_mask, q.dtype).astype(q.dtype)
        if extra:
            hidden = apply("pad", [hidden], {"paddings": (0, 0, 0, extra), "mode": "constant", "value": 0.0})
        hidden = apply("broadcast_to", [hidden.reshape((batch, 1, 1, source))], {"shape": (batch, num_heads, 1, source)})
        hidden = hidden.reshape((batch * num_heads, 1, source))
        mask = hidden if mask is None else mask + hidden
    scores = apply("matmul", [q * (head ** -0.5), k], {"transpose_b": True})
    if mask is not None:
        scores = scores + mask
    attention = softmax(scores, -1)
    if training and dropout_p > 0:
        attention = dropout(attention, float(dropout_p))
    out = apply("matmul", [attention, v], {}).swapaxes(0, 1).reshape((length * batch, width))
    out = apply("dense", [out, out_proj_weight, out_proj_bias], {}).reshape((length, batch, -1))
    attention = attention.reshape((batch, num_heads, length, source))
    if average_attn_weights:
        attention = apply("reduce_mean", [attention], {"axis": (1,)})
    if single:
        out, attention = out.squeeze(1), attention.squeeze(0)
    return out, attention


TENSOR_METHODS = {"softmax": _tensor_softmax}

MINT = {
    "softmax": _mint_softmax_dim, "nn.functional.softmax": _mint_softmax, "nn.functional.log_softmax": _mint_log_softmax,
    "nn.functional.gelu": _mint_gelu, "nn.functional.glu": _mint_glu, "nn.functional.relu": relu,
    "nn.functional.relu_": _only_inplace("relu"), "nn.functional.sigmoid_": _only_inplace("sigmoid"),
    "nn.functional.silu": _inplace("silu"), "nn.functional.relu6": _inplace("relu6"),
    "nn.functional.elu": _inplace("elu", "alpha"), "nn.functional.elu_": _only_inplace("elu", "alpha"),
    "nn.functional.hardtanh": _inplace("hardtanh", "min_val", "max_val"),
    "nn.functional.hardtanh_": _only_inplace("hardtanh", "min_val", "max_val"),
    "nn.functional.threshold": _inplace("threshold", "threshold", "value"),
    "nn.functional.threshold_": _only_inplace("threshold", "threshold", "value"),
    "nn.functional.softplus": softplus, "nn.functional.mish": _inplace("mish"), "nn.functional.selu": _inplace("selu"),
    "nn.functional.hardswish": _inplace("hardswish"), "nn.functional.hardsigmoid": _inplace("hardsigmoid"),
    "nn.functional.dropout": _mint_dropout, "nn.functional.dropout2d": _mint_dropout2d,
    "nn.functional.batch_norm": _mint_batch_norm, "nn.functional.layer_norm": layer_norm,
    "nn.functional.group_norm": group_norm, "nn.functional.embedding": embedding, "nn.functional.normalize": normalize,
    "nn.functional.interpolate": _mint_interpolate, "nn.functional.upsample": _mint_upsample,
    "nn.functional.max_unpool2d": _mint_max_unpool2d, "conv_tbc": _conv_tbc,
    "nn.functional.max_pool2d": _mint_max_pool2d, "nn.functional.adaptive_max_pool1d": _mint_adaptive_max_pool1d,
    "nn.functional.adaptive_max_pool2d": adaptive_max_pool2d, "nn.functional.conv_transpose2d": conv_transpose2d,
    "nn.functional.conv1d": _mint_conv(1), "nn.functional.conv2d": _mint_conv(2), "nn.functional.conv3d": _mint_conv(3),
    "conv2d": _mint_conv(2), "special.log_softmax": _mint_log_softmax,
    "nn.functional.adaptive_avg_pool2d": adaptive_avg_pool2d, "nn.functional.adaptive_avg_pool3d": adaptive_avg_pool3d}

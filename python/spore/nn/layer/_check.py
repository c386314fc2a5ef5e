# SPDX-License-Identifier: Apache-2.0
"""Checks of layer arguments: wrong type gives TypeError, wrong value ValueError; the message names the layer, the argument,
what was found and what is wanted. Each check returns the value."""
import math

import numpy as np

from spore._core import type_name as _type_name
from spore.common import dtype as mstype
from spore.common.initializer import HeUniform, Uniform, initializer
from spore.common.parameter import Parameter
from spore.common.tensor import Tensor


def fail_type(cls, name, value, wanted):
    """Raise the TypeError for an argument of the wrong type."""
    raise TypeError(f"For '{cls}', the argument '{name}' must be {wanted}, but got {value!r} of type "
                    f"{_type_name(value)}.")


def fail_value(cls, name, value, wanted):
    """Raise the ValueError for an argument of the wrong value."""
    raise ValueError(f"For '{cls}', the argument '{name}' must be {wanted}, but got {value!r}.")


def is_int(value):
    """An int, and no bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def int_at_least(cls, name, value, least):
    """An int not below `least`."""
    if not is_int(value):
        fail_type(cls, name, value, "an int")
    if value < least:
        fail_value(cls, name, value, f"an int not below {least}")
    return value


def positive_int(cls, name, value):
    """An int above 0."""
    return int_at_least(cls, name, value, 1)


LAYERS_MAX = 1 << 15    # each is a Cell of its own: making many more would take hours before memory ends


def layer_count(cls, name, value, least=1):
    """How many layers are made: no more than anything could hold."""
    if int_at_least(cls, name, value, least) > LAYERS_MAX:
        fail_value(cls, name, value, f"at most {LAYERS_MAX}")
    return value


def boolean(cls, name, value):
    """True or False."""
    if not isinstance(value, bool):
        fail_type(cls, name, value, "a bool")
    return value


def instance(cls, name, value, *types):
    """An object of one of the types; a bool is no int here."""
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        fail_type(cls, name, value, " or ".join(t.__name__ for t in types))
    return value


def one_of(cls, name, value, allowed):
    """One of a few texts."""
    if value not in allowed:
        fail_value(cls, name, value, "one of " + ", ".join(repr(a) for a in allowed))
    return value


def number_in(cls, name, value, low, high, kinds=(int, float), open_low=False, open_high=False):
    """A number within limits."""
    instance(cls, name, value, *kinds)
    if not (low < value if open_low else low <= value) or not (value < high if open_high else value <= high):
        fail_value(cls, name, value, f"in {'(' if open_low else '['}{low}, {high}{')' if open_high else ']'}")
    return value


def tuple_of(cls, name, value, count, least=1):
    """An int for all dimensions, or one for each, as a tuple of `count` ints."""
    if is_int(value):
        value = (value,) * count
    elif not isinstance(value, tuple):
        fail_type(cls, name, value, f"an int or a tuple of {count} ints")
    if not all(is_int(v) for v in value):
        fail_type(cls, name, value, f"an int or a tuple of {count} ints")
    if len(value) != count or not all(v >= least for v in value):
        fail_value(cls, name, value, f"an int or a tuple of {count} ints, each not below {least}")
    return value


def groups(cls, in_channels, out_channels, group):
    """Channels that can be divided into groups."""
    positive_int(cls, "in_channels", in_channels)
    positive_int(cls, "out_channels", out_channels)
    positive_int(cls, "group", group)
    if in_channels % group or out_channels % group:
        raise ValueError(f"For '{cls}', 'group' must divide 'in_channels' and 'out_channels', but got group {group}, "
                         f"in_channels {in_channels} and out_channels {out_channels}.")


def tensor(cls, x):
    """A Tensor, as the input of a layer."""
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{cls}', the input must be a Tensor, but got {_type_name(x)}.")
    return x


def rank_of(cls, x, *ranks):
    """A Tensor with one of these numbers of dimensions."""
    tensor(cls, x)
    if len(x.shape) not in ranks:
        raise ValueError(f"For '{cls}', the input must have {' or '.join(map(str, ranks))} dimensions, but got "
                         f"{len(x.shape)}: shape {x.shape}.")


def parameter(init, shape, dtype, name, requires_grad=True):
    """A Parameter with initial values."""
    return Parameter(initializer(init, shape, dtype), name=name, requires_grad=requires_grad)


def affine_parameters(cls, weight_init, bias_init, shape, fan_in, has_bias, dtype, n_out=None):
    """Weight and bias with the customary distributions: both uniform, the bound is 1 / sqrt(fan_in)."""
    n_out = shape[0] if n_out is None else n_out
    for name, value, wanted in (("weight_init", weight_init, tuple(shape)), ("bias_init", bias_init, (n_out,))):
        if isinstance(value, Tensor) and tuple(value.shape) != wanted and (has_bias or name == "weight_init"):
            raise ValueError(f"For '{cls}', the shape of '{name}' must be {wanted}, but got {tuple(value.shape)}.")
    weight = parameter(HeUniform(math.sqrt(5)) if weight_init is None else weight_init, shape, dtype, "weight")
    if not has_bias:
        return weight, None
    if bias_init is None:
        bias_init = Uniform(1 / math.sqrt(fan_in)) if fan_in else "zeros"
    return weight, parameter(bias_init, [n_out], dtype, "bias")


def float_types(cls, name, x):
    """A Tensor of float16 or float32."""
    if x.dtype not in (mstype.float16, mstype.float32):
        raise TypeError(f"For '{cls}', the dtype of '{name}' must be float16 or float32, but got {x.dtype}.")


def product(values):
    """Of ints."""
    return int(np.prod(values, dtype=np.int64)) if len(values) else 1

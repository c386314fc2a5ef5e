# SPDX-License-Identifier: Apache-2.0
"""Small functions inside MindSpore's modules of functions that programs take from there."""
import itertools

from ..._core import Tensor
from ...common import dtype as mstype
from spore._core import type_name as _type_name


def _op(name):
    from ... import ops
    return getattr(ops, name)


# --- random numbers --------------------------------------------------------------------------------------------------

def _get_seed(op_seed, kernel_name):
    """Two seeds of an operator: of the global seed and its own, or nothing."""
    from ...common.seed import get_seed
    return (get_seed() or 0, op_seed or 0)


def _set_prim_op_user_data(prim, key, value):
    """Keep a value at a primitive."""
    prim.add_prim_attr(key, value)
    return prim


# --- norms of gradients ----------------------------------------------------------------------------------------------

def get_square_sum(x):
    """The sum of squares, as float32."""
    return (x.astype(mstype.float32) ** 2).sum().expand_dims(0)


def apply_global_norm(clip_norm, global_norm, x):
    """x, scaled by clip_norm over the norm."""
    return (x.astype(mstype.float32) * clip_norm / global_norm).astype(x.dtype)


# --- shapes and dtypes -----------------------------------------------------------------------------------------------

def _expand(x, ndim):
    """x with dimensions of 1 in front until there are ndim."""
    while x.ndim < ndim:
        x = x.expand_dims(0)
    return x


def _check_same_type(dtype1, dtype2):
    return dtype1 == dtype2


def _interploate_ext_make_tuple(input, value):
    """One value for each spatial dimension."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * (input.ndim - 2)


def _interpolate_ext_scale_factor_convert_size(input, scale_factor):
    """The sizes that factors lead to."""
    factors = _interploate_ext_make_tuple(input, scale_factor)
    return tuple(int(n * f) for n, f in zip(input.shape[2:], factors))


# --- attention -------------------------------------------------------------------------------------------------------

def linear(x, w, b=None):
    """x w^T + b."""
    out = _op("matmul")(x, w.swapaxes(-1, -2))
    return out if b is None else out + b


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """Query, key and value, each by a matrix of its own."""
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _in_projection_packed(q, k, v, w, b, k_is_v, q_is_k):
    """Query, key and value by one matrix of three parts."""
    weights = _op("chunk")(w, 3, 0)
    biases = (None,) * 3 if b is None else _op("chunk")(b, 3, 0)
    return tuple(linear(x, part, bias) for x, part, bias in zip((q, k, v), weights, biases))


def _inner_dropout(x, p, training):
    """Dropout, while training."""
    return _op("dropout")(x, p, training) if 0.0 < p < 1.0 and training else x


def _inner_pad(x, padding, value=None):
    """Padding with a value."""
    return _op("pad")(x, padding, value=value)


def _check_qkv_shape(query_ndim, key_ndim, value_ndim):
    """Whether there are batches."""
    if query_ndim not in (2, 3) or not query_ndim == key_ndim == value_ndim:
        raise ValueError(f"query, key and value must all have 2 or all have 3 dimensions, but have {query_ndim}, {key_ndim} and {value_ndim}")
    return query_ndim == 3


def _check_kpm_shape(query_ndim, kmp_ndim):
    """The mask of keys goes with the query."""
    if kmp_ndim != query_ndim - 1:
        raise ValueError(f"key_padding_mask must have {query_ndim - 1} dimensions, but has {kmp_ndim}")


def _check_attn_mask_shape(query_ndim, query_shape, key_shape, attn_mask_ndim, attn_mask_shape, num_heads):
    """The mask of scores goes with query and key."""
    if attn_mask_ndim not in (2, 3):
        raise ValueError(f"attn_mask must have 2 or 3 dimensions, but has {attn_mask_ndim}")
    if attn_mask_ndim == 3 and query_ndim == 2:
        wanted = (num_heads, query_shape[0], key_shape[0])
        if tuple(attn_mask_shape) != wanted:
            raise ValueError(f"attn_mask must have the shape {wanted}, but has {tuple(attn_mask_shape)}")


# --- functions of Python's operators, as MindSpore's graphs have them ------------------------------------------------

def add(x, y):
    """x + y"""
    return x + y


def sub(x, y):
    """x - y"""
    return x - y


def getitem(data, index):
    """data[index]"""
    return data[index]


def setitem(data, index, value):
    """data with data[index] = value"""
    data[index] = value
    return data


def in_(x, y):
    """x in y"""
    return x in y


def not_in_(x, y):
    """x not in y"""
    return x not in y


def pow_(x, y):
    """x ** y"""
    return x ** y


def mod(x, y):
    """x % y"""
    return x % y


def logical_and_(x, y):
    """x and y"""
    return x and y


def hyper_add(x, y):
    """Sums of the Tensors in two structures."""
    if isinstance(x, (tuple, list)):
        return type(x)(hyper_add(a, b) for a, b in zip(x, y))
    return x + y


def tail(values):
    """All but the first."""
    return values[1:]


def zip_operation(*args):
    """Python's zip, as a tuple."""
    return tuple(zip(*args))


def ms_next(iterator):
    """(the first, the rest) of a sequence."""
    return iterator[0], iterator[1:]


def ms_hasnext(iterator):
    """Whether a sequence has elements."""
    return len(iterator) > 0


def augassign_add(x, y):
    """x += y"""
    return x + y


def augassign_sub(x, y):
    """x -= y"""
    return x - y


def augassign_mul(x, y):
    """x *= y"""
    return x * y


def augassign_div(x, y):
    """x /= y"""
    return x / y


def augassign_floordiv(x, y):
    """x //= y"""
    return x // y


def augassign_mod(x, y):
    """x %= y"""
    return x % y


def _ones_like_for_grad(x):
    """What a gradient begins with."""
    return _op("ones_like")(x) if isinstance(x, Tensor) else 1


def linearize(fn, inputs):
    """fn(*inputs), and the function that gives its derivative in a direction.

    Examples:
        >>> from spore import Tensor, ops
        >>> value, forward = ops.linearize(lambda x: x * x, Tensor([1.0, 2.0]))
        >>> print(forward(Tensor([1.0, 1.0])))
        [2. 4.]
    """
    from ...common.differentiate import call, jvp
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    value = call(fn, given)
    return value, lambda *direction: jvp(fn, given, direction if len(direction) > 1 else direction[0])[1]


def derivative(fn, primals, order):
    """fn and its derivative of some order, in the direction of ones; see jet.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.derivative(lambda x: x ** 3, Tensor([2.0]), 2)[1])
        [12.]
    """
    if isinstance(order, bool) or not isinstance(order, int):
        raise TypeError(f"For `F.derivative`, the type of order must be int, but got {_type_name(order)}.")
    if order < 1:
        raise ValueError(f"For `F.derivative`, value of order should not be less than 1, but got {order}.")
    _check_curve("F.derivative", fn, primals)
    given = _as_floats("F.derivative", primals)
    ones = tuple(_op("ones_like")(p) for p in given)
    value, parts = _taylor(fn, given, [ones] + [tuple(_op("zeros_like")(p) for p in given)] * (order - 1))
    return value, parts[-1]


def jet(fn, primals, series):
    """fn along a curve: its value, and the derivatives of the output by the parameter of the curve, from those of the inputs
    (`series` has them along its first dimension).

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.jet(lambda x: x ** 2, Tensor([3.0]), Tensor([[1.0], [0.0]]))[1])
        [[6.]
         [2.]]
    """
    if type(primals) is not type(series) and not (isinstance(primals, Tensor) and isinstance(series, Tensor)):
        raise TypeError("For 'F.jet', the 'primals' and `series` must be both Tensor or tuple, but got "
                        f"{_type_name(primals)} and {_type_name(series)}.")
    _check_curve("F.jet", fn, primals)
    given, rows = _as_floats("F.jet", primals), _as_floats("F.jet", series)
    rows = tuple(row if row.ndim > primal.ndim else row.expand_dims(0) for row, primal in zip(rows, given))      # of order 1
    order = rows[0].shape[0]
    value, parts = _taylor(fn, given, [tuple(row[k] for row in rows) for k in range(order)])
    if isinstance(value, tuple):
        return value, tuple(_op("stack")([part[i] for part in parts], 0) for i in range(len(value)))
    return value, _op("stack")(parts, 0)


def _check_curve(name, fn, primals):
    from ..primitive import Primitive
    if not callable(fn) or isinstance(fn, Primitive):
        raise RuntimeError(f"For `{name}`, the first argument must be a function or a Cell, but got {_type_name(fn)}.")
    if not isinstance(primals, (tuple, Tensor)):
        raise TypeError(f"For `{name}`, the 'primals' must be a Tensor or a tuple of Tensors, but got {_type_name(primals)}.")


def _as_floats(name, values):
    """A tuple of Tensors in which integers are float32."""
    made = []
    for value in values if isinstance(values, tuple) else (values,):
        if not isinstance(value, Tensor) or value.dtype not in (mstype.int32, mstype.int64, mstype.float32, mstype.float64):
            shown = value.dtype if isinstance(value, Tensor) else type(value).__name__
            raise TypeError(f"For `{name}`, the elements of primals must belong to `mstype.int32, mstype.int64, mstype.float32, "
                            f"mstype.float64`, but got {shown}.")
        made.append(value.astype(mstype.float32) if value.dtype in (mstype.int32, mstype.int64) else value)
    return tuple(made)


def _taylor(fn, primals, steps):
    """(fn(*primals), its derivatives along the curve whose derivatives at 0 are `steps`), by repeated directional derivatives in the
    one parameter of the curve."""
    from ...common.differentiate import call, jvp
    factorials = list(itertools.accumulate(range(1, len(steps) + 1), lambda a, b: a * b))

    def along(t):
        moved = []
        for i, primal in enumerate(primals):
            point = primal
            for k, step in enumerate(steps):
                point = point + step[i] * (t ** (k + 1)) / factorials[k]
            moved.append(point)
        return call(fn, tuple(moved))
    at = Tensor(0.0, primals[0].dtype)
    one = Tensor(1.0, primals[0].dtype)
    functions = [along]
    for _ in steps:
        functions.append(lambda t, f=functions[-1]: jvp(f, t, one)[1])
    return call(fn, primals), [f(at) for f in functions[1:]]

# SPDX-License-Identifier: Apache-2.0
"""Questions about tensors, Python numbers and tuples as operators."""
import builtins
import functools
import math
import operator

from .. import _core
from .._core import Tensor
from ..common.differentiate import call
from ..common.own_gradient import through_hook
from .effects import identity, _instance_of
from .primitive import Primitive
from spore._core import type_name as _type_name

__all__ = [
    "scalar_cast", "scalar_to_tensor", "scalar_to_array", "array_to_scalar", "make_range", "range", "tensor_range", "dyn_shape",
    "shape_", "tuple_len", "list_len", "tuple_getitem", "list_getitem",
    "tuple_setitem", "list_setitem", "dict_getitem", "dict_setitem", "make_tuple", "make_list", "make_dict", "make_slice",
    "tuple_reversed", "tuple_equal", "list_equal", "tuple_div", "reduced_shape", "in_dict", "not_in_dict", "string_eq",
    "string_concat", "bool_and", "bool_or", "bool_not", "bool_eq", "is_", "is_not", "typeof", "hastype", "shape_mul", "isconstant",
    "scalar_add", "scalar_sub", "scalar_mul", "scalar_div", "scalar_mod", "scalar_floordiv", "scalar_pow", "scalar_log",
    "scalar_eq", "scalar_ne", "scalar_lt", "scalar_gt", "scalar_le", "scalar_ge", "scalar_uadd", "scalar_usub", "scalar_max",
    "scalar_min", "Shape", "DynamicShape", "TensorShape", "DType", "Rank", "Size", "Partial", "ScalarCast",
    "ScalarToTensor", "ScalarToArray", "TupleToArray", "Range", "MakeTuple", "FloatStatus", "NPUAllocFloatStatus",
    "NPUGetFloatStatus", "NPUClearFloatStatus", "NPUGetFloatStatusV2", "NPUClearFloatStatusV2", "InsertGradientOf", "HookBackward", "UpdateState", "Load", "PyFunc"]

_apply = _core.apply


def _types():
    from ..common import dtype
    return dtype


def _ops():
    from .. import ops
    return ops


# --- numbers ---------------------------------------------------------------------------------------------------------

def scalar_cast(input_x, input_y):
    """A Python number converted to the kind of a dtype."""
    if isinstance(input_x, bool) or not isinstance(input_x, (int, float)):
        raise TypeError(f"scalar_cast: input_x must be an int or a float, but got {_type_name(input_x)}")
    kind = str(input_y)
    if kind.startswith("Bool"):
        return bool(input_x)
    if kind.startswith(("Int", "UInt")):
        return int(input_x)
    if "loat" in kind:
        return float(input_x)
    raise TypeError(f"scalar_cast: input_y must be a dtype of numbers, but got {input_y!r}")


def scalar_to_tensor(input_x, dtype=None) -> Tensor:
    """A Tensor of rank 0 from a Python number; float32 unless told."""
    if not isinstance(input_x, (bool, int, float)):
        raise TypeError(f"scalar_to_tensor: input_x must be a number, but got {_type_name(input_x)}")
    return Tensor(input_x, _types().float32 if dtype is None else dtype)


def scalar_to_array(input_x) -> Tensor:
    """A Tensor of rank 0 from a Python number, in its own dtype."""
    return Tensor(input_x)


def array_to_scalar(x):
    """The one element of a Tensor as a Python number."""
    return x.item()


def _number_like(name, function):
    def apply(*args):
        return function(*args)
    apply.__name__ = name
    apply.__doc__ = f"{name.split('_', 1)[1]} of Python numbers."
    apply.__spore_inner__ = function     # in programs numbers of the run stay numbers
    return apply


scalar_add = _number_like("scalar_add", operator.add)
scalar_sub = _number_like("scalar_sub", operator.sub)
scalar_mul = _number_like("scalar_mul", operator.mul)
scalar_div = _number_like("scalar_div", operator.truediv)
scalar_mod = _number_like("scalar_mod", operator.mod)
scalar_floordiv = _number_like("scalar_floordiv", operator.floordiv)
scalar_pow = _number_like("scalar_pow", operator.pow)
scalar_log = _number_like("scalar_log", math.log)
scalar_eq = _number_like("scalar_eq", operator.eq)
scalar_ne = _number_like("scalar_ne", operator.ne)
scalar_lt = _number_like("scalar_lt", operator.lt)
scalar_gt = _number_like("scalar_gt", operator.gt)
scalar_le = _number_like("scalar_le", operator.le)
scalar_ge = _number_like("scalar_ge", operator.ge)
scalar_uadd = _number_like("scalar_uadd", operator.pos)
scalar_usub = _number_like("scalar_usub", operator.neg)
scalar_max = _number_like("scalar_max", builtins.max)
scalar_min = _number_like("scalar_min", builtins.min)
bool_and = _number_like("bool_and", lambda a, b: a and b)
bool_or = _number_like("bool_or", lambda a, b: a or b)
bool_not = _number_like("bool_not", operator.not_)
bool_eq = _number_like("bool_eq", operator.eq)
string_eq = _number_like("string_eq", operator.eq)
string_concat = _number_like("string_concat", operator.add)


def is_(x, y):
    """Whether both are one object."""
    return x is y


def is_not(x, y):
    """Whether they are different objects."""
    return x is not y


def isconstant(x):
    """Whether the value is known: it always is when operators run at once."""
    return True


# --- tuples, lists, dicts ----------------------------------------------------------------------------------------------

def tuple_len(x):
    """The number of items."""
    return len(x)


def tuple_getitem(x, index):
    """The item at an index."""
    return x[index]


def tuple_setitem(x, index, value):
    """A copy with another item at an index."""
    items = list(x)
    items[index] = value
    return type(x)(items)


def dict_setitem(x, key, value):
    """A copy with another value at a key."""
    return {**x, key: value}


def make_tuple(*items):
    """The arguments as a tuple."""
    return items


def make_list(*items):
    """The arguments as a list."""
    return list(items)


def make_dict(keys, values):
    """A dict of keys and values."""
    return dict(zip(keys, values))


def make_slice(start, stop, step):
    """A slice."""
    return slice(start, stop, step)


def tuple_reversed(x):
    """The items in the other order."""
    return x[::-1]


def tuple_equal(x, y):
    """Whether two sequences are equal."""
    return x == y


def tuple_div(x, y):
    """Whole quotients of the items of two tuples."""
    return tuple(a // b for a, b in zip(x, y))


def reduced_shape(shape, axis):
    """A shape with the reduced axes made 1."""
    gone = {a % len(shape) for a in ((axis,) if isinstance(axis, int) else axis or builtins.range(len(shape)))}
    return tuple(1 if i in gone else n for i, n in enumerate(shape))


def in_dict(key, x):
    """Whether a key is in a dict."""
    return key in x


def not_in_dict(key, x):
    """Whether a key is not in a dict."""
    return key not in x


list_len, list_getitem, list_setitem, dict_getitem, list_equal = tuple_len, tuple_getitem, tuple_setitem, tuple_getitem, tuple_equal


def typeof(x):
    """The type of a value."""
    return type(x)


def hastype(x, kind):
    """Whether a value is of a type."""
    return isinstance(x, kind)


def shape_mul(input_data):
    """The product of the items of a shape."""
    result = 1
    for n in input_data:
        result *= n
    return result


# --- ranges ----------------------------------------------------------------------------------------------------------

def make_range(*args):
    """The numbers of a Python range as a tuple."""
    return tuple(builtins.range(*args))


def range(start, end, step, maxlen=1000000) -> Tensor:
    """Numbers from start up to end, without it, in steps."""
    values = [v.item() if isinstance(v, Tensor) else v for v in (start, end, step)]
    given = [v.dtype for v in (start, end, step) if isinstance(v, Tensor)]
    if values[2] == 0:
        raise ValueError("range: step must not be 0")
    count = builtins.max(0, math.ceil((values[1] - values[0]) / values[2]))
    if count > maxlen:
        raise ValueError(f"range: {count} numbers are more than maxlen, {maxlen}")
    if (values[1] - values[0]) * values[2] < 0:
        raise ValueError(f"range: steps of {values[2]} do not lead from {values[0]} to {values[1]}")
    if given and "Int" in str(given[0]):
        given = [_types().int64]
    dtype = given[0] if given else _types().float32 if any(isinstance(v, float) for v in values) else _types().int64
    return Tensor([values[0] + i * values[2] for i in builtins.range(count)], dtype)


def tensor_range(start, end, step) -> Tensor:
    """The same as range."""
    return range(start, end, step)


@_instance_of
class UpdateState(Primitive):
    """The state after an effect."""
    def __call__(self, state, *args):
        return state


@_instance_of
class Load(Primitive):
    """The value of a parameter."""
    def __call__(self, variable, state=None) -> Tensor:
        return identity(variable)


@_instance_of
class Partial(Primitive):
    """A function with its first arguments given."""
    def __call__(self, *args, **kwargs):
        function, *rest = args
        return functools.partial(function, *rest, **kwargs)


@_instance_of
class MakeTuple(Primitive):
    """The arguments as a tuple."""
    def __call__(self, *args):
        return args


# --- questions as primitives -------------------------------------------------------------------------------------------

@_instance_of
class Shape(Primitive):
    """The shape as a tuple of ints."""
    def __call__(self, x):
        return _asked(x, "Shape").shape


def dyn_shape(input_x) -> Tensor:
    """The shape as a Tensor."""
    return Tensor(list(_asked(input_x, "dyn_shape").shape), _types().int64)


def shape_(x):
    """The shape as a tuple of ints."""
    return _asked(x, "shape_").shape


@_instance_of
class TensorShape(Primitive):
    """The shape as a Tensor."""
    def __call__(self, x) -> Tensor:
        return dyn_shape(x)


class DynamicShape(Primitive):
    """The shape as a Tensor."""
    def __init__(self, dtype=9):
        Primitive.__init__(self, "DynamicShape")
        self.add_prim_attr("is_dynamic_shape", True)

    def __call__(self, x) -> Tensor:
        return dyn_shape(x)


@_instance_of
class DType(Primitive):
    """The dtype."""
    def __call__(self, x):
        return _asked(x, "DType").dtype


@_instance_of
class Rank(Primitive):
    """The number of dimensions."""
    def __call__(self, x):
        return _asked(x, "Rank").ndim


@_instance_of
class Size(Primitive):
    """The number of elements."""
    def __call__(self, x):
        return _asked(x, "Size").size


def _asked(x, name):
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: a Tensor is wanted, but got {_type_name(x)}")
    return x


@_instance_of
class ScalarCast(Primitive):
    """A Python number converted to the kind of a dtype."""
    def __call__(self, x, dtype):
        return scalar_cast(x, dtype)


@_instance_of
class ScalarToTensor(Primitive):
    """A Tensor of rank 0 from a Python number."""
    def __call__(self, x, dtype=None) -> Tensor:
        return scalar_to_tensor(x, dtype)


@_instance_of
class ScalarToArray(Primitive):
    """A Tensor of rank 0 from a Python number, in its own dtype."""
    def __call__(self, x) -> Tensor:
        return scalar_to_array(x)


@_instance_of
class TupleToArray(Primitive):
    """A Tensor from a tuple of numbers."""
    def __call__(self, x) -> Tensor:
        if x == ():
            raise ValueError("TupleToArray: the tuple must not be empty")
        kinds = {type(v) for v in x} if isinstance(x, tuple) else set()
        if kinds != {int} and kinds != {float}:
            raise TypeError(f"TupleToArray: a tuple of ints or a tuple of floats is wanted, but got {x!r}")
        return _ops().tuple_to_array(x)


class Range(Primitive):
    """Numbers from start up to end, without it, in steps."""
    def __init__(self, maxlen=1000000):
        Primitive.__init__(self, "Range")
        self.add_prim_attr("maxlen", maxlen)

    def __call__(self, start, end, step) -> Tensor:
        return range(start, end, step, self.maxlen)


# --- overflow ----------------------------------------------------------------------------------------------------------

@_instance_of
class FloatStatus(Primitive):
    """[1.] if an element is infinite or NaN, else [0.]."""
    def __call__(self, x) -> Tensor:
        bad = _apply("logical_not", (_apply("reduce_all", (_apply("isfinite", (x,)),)),))
        return _apply("cast", (bad,), {"dtype": _types().float32}).reshape((1,))


# Flags of a device that keeps an overflow register. This one has none: they stay zero, and FloatStatus tells instead.

@_instance_of
class NPUAllocFloatStatus(Primitive):
    """Eight flags, zero."""
    def __call__(self) -> Tensor:
        return Tensor([0.0] * 8, _types().float32)


@_instance_of
class NPUGetFloatStatus(Primitive):
    """The flags, as they are."""
    def __call__(self, x) -> Tensor:
        return x


@_instance_of
class NPUClearFloatStatus(Primitive):
    """The flags, zero."""
    def __call__(self, x) -> Tensor:
        return _apply("mul", (x, 0))


@_instance_of
class NPUGetFloatStatusV2(Primitive):
    """The flags, as they are."""
    def __call__(self, x) -> Tensor:
        return x


@_instance_of
class NPUClearFloatStatusV2(Primitive):
    """The flags, zero."""
    def __call__(self, x) -> Tensor:
        return _apply("mul", (x, 0))


# --- gradients in passing ----------------------------------------------------------------------------------------------

class InsertGradientOf(Primitive):
    """The same value; f is given its gradient and answers the one to go on with."""
    def __init__(self, f):
        Primitive.__init__(self, "InsertGradientOf")
        self.add_prim_attr("f", f)

    def __call__(self, x) -> Tensor:
        return through_hook(lambda gradients: call(self.f, gradients), (x,))


class HookBackward(Primitive):
    """The same value; hook_fn is given its gradient as a tuple and may answer another one."""
    def __init__(self, hook_fn, cell_id=""):
        if not callable(hook_fn):
            raise TypeError(f"HookBackward: hook_fn must be a function, but got {_type_name(hook_fn)}")
        Primitive.__init__(self, "HookBackward")
        self.add_prim_attr("hook_fn", hook_fn)
        self.add_prim_attr("cell_id", cell_id)

    def __call__(self, *inputs) -> Tensor:
        return through_hook(self.hook_fn, inputs)


class PyFunc(Primitive):
    """A Python function of arrays as an operator; nothing flows back through it."""
    def __init__(self, fn, in_types, in_shapes, out_types, out_shapes, stateful=True):
        Primitive.__init__(self, "PyFunc")
        self.fn = fn
        self.out_types, self.out_shapes = out_types, out_shapes

    def __call__(self, *args):
        results = self.fn(*(a.asnumpy() if isinstance(a, Tensor) else a for a in args))
        if not isinstance(results, (tuple, list)):
            results = (results,)
        return tuple(Tensor(r, t) for r, t in zip(results, self.out_types))

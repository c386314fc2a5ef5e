# SPDX-License-Identifier: Apache-2.0
"""Python's built-in functions on values of a capture, and the methods of lists, dicts and texts.

Where MindSpore gives another type than Python (range, enumerate and zip are tuples, filter a list), so does this. A handler
gets the executor and the arguments; built-ins without one are called as they are when nothing of the run takes part.
"""
import ast
import builtins
import functools
import operator

from spore._core import type_name as _type_name
from spore import _core
from spore._core import Tensor
from spore.common.tensor import tensor as library_tensor
from spore.graph.errors import Unsupported
from spore.graph.joins import varies
from spore.graph.values import Choice, Joined, LateText, Scalar, Walk, hinted, is_symbol, number_kind, scalar_of, shape_of, symbol_of

NAMES = dict(vars(builtins))
HANDLERS = {}


def handles(function, least=0, most=None):
    """Register a handler; it gets from ``least`` to ``most`` positional arguments."""
    def decorate(handler):
        def checked(ex, args, kwargs):
            if len(args) < least or most is not None and len(args) > most:
                raise TypeError(f"The parameters number of the function is {least if len(args) < least else most}, but the "
                                f"number of provided arguments is {len(args)}.")
            return handler(ex, args, kwargs)
        HANDLERS[function] = checked
        return checked
    return decorate


def _one_element(value, what):
    size = 1
    for n in shape_of(value):
        size *= n
    if size != 1 and size >= 0:
        raise ValueError(f"Can not convert Tensor to {what}: only one element tensors can be converted to Python scalars, "
                         f"but the shape is {tuple(value.shape)}")


def _to_number(kind):
    def handler(ex, args, kwargs):
        if not args:
            return kind()
        value = args[0]
        if kind is int and len(args) + len(kwargs) > 1:
            if varies(value) or not isinstance(value, (str, bytes)):
                raise TypeError("int() can't convert non-string with explicit base")
            return int(*args, **kwargs)
        if isinstance(value, Scalar):
            return _convert(value, kind)
        if isinstance(value, Tensor):
            _one_element(value, kind.__name__)
            if is_symbol(value) or ex.is_variable(value):
                if kind is bool:
                    return Scalar(ex.truth(value), bool)
                return _convert(scalar_of(value, float if _core.is_floating(value) else int), kind)
            return kind(value)
        if kind is bool:
            truth = ex.truth(value)
            return truth if isinstance(truth, bool) else Scalar(truth, bool)
        return kind(*args, **kwargs)
    return handler


def _convert(value, kind):
    if value.kind is kind:
        return value
    if kind is bool:
        return Scalar(value.symbol != 0, bool)
    if kind is int and value.kind is float:
        return hinted(Scalar(value.symbol.trunc().astype(symbol_of(0, int).dtype), int), int, value)
    return hinted(Scalar(symbol_of(value, kind), kind), kind, value)


for _kind in (int, float, bool):
    HANDLERS[_kind] = _to_number(_kind)


@handles(len, 1, 1)
def _len(ex, args, kwargs):
    value, = args
    if isinstance(value, Tensor):
        if not value.ndim:
            raise TypeError("len() of a 0-d tensor")
        return ex.attribute(value, "shape")[0]
    method = getattr(type(value), "__len__", None)
    if method is not None and ex.is_user(method):
        return ex.call(method, (value,), {})
    return len(value)


@handles(range, 1, 3)
def _range(ex, args, kwargs):
    args = [int(a) if isinstance(a, Tensor) and not is_symbol(a) and not ex.is_variable(a) else a for a in args]
    if any(is_symbol(a) or isinstance(a, Tensor) for a in args):
        from spore.graph.flow import RunRange
        args = [scalar_of(a, int) if isinstance(a, Tensor) else a for a in args]
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
        if is_symbol(step):
            raise Unsupported("range() with a step known at run time only")
        return RunRange(start, stop, step)
    for a in args:
        if isinstance(a, bool) or not isinstance(a, int):
            raise TypeError(f"For 'range', the inputs must be int, but got {_type_name(a)}.")
    if len(args) == 3 and args[2] == 0:
        raise ValueError("For 'range', the argument 'step' could not be 0.")
    return range(*args) if ex.capture.faithful else tuple(range(*args))


@handles(enumerate, 1, 2)
def _enumerate(ex, args, kwargs):
    start = args[1] if len(args) > 1 else kwargs.get("start", 0)
    if isinstance(start, bool) or not isinstance(start, int):
        raise TypeError(f"For 'enumerate', the 'start' should be a number, but got {_type_name(start)}.")
    return ex.walk(tuple((start + i, item) for i, item in enumerate(ex.iterate(args[0]))))


def _side_by_side(ex, sequences):
    """What zip() gives. Iterators are asked item by item, since one may stand there twice."""
    if not any(isinstance(s, Walk) for s in sequences):
        return list(zip(*[ex.iterate(s) for s in sequences]))
    sources, made = [s if isinstance(s, Walk) else Walk(ex.iterate(s)) for s in sequences], []
    while True:
        row = []
        for source in sources:
            rest = source.rest()
            if not rest:
                return made
            ex.advance(source, 1)
            row.append(rest[0])
        made.append(tuple(row))


@handles(zip)
def _zip(ex, args, kwargs):
    if not args:
        raise RuntimeError("The zip operator must have at least 1 argument, but the size of arguments is 0.")
    for i, arg in enumerate(args):
        if not isinstance(arg, (tuple, list, dict, Tensor, str, Walk)) and not hasattr(type(arg), "__iter__"):
            raise TypeError(f"For 'zip', the all inputs must be Tuple or List, but the argument[{i}] is a "
                            f"{_type_name(arg)}.")
    return ex.walk(tuple(_side_by_side(ex, args)))


@handles(map, 2)
def _map(ex, args, kwargs):
    function, sequences = args[0], args[1:]
    made = [ex.call(function, items, {}) for items in _side_by_side(ex, sequences)]
    return ex.walk(made if isinstance(sequences[0], list) else tuple(made))


@handles(filter, 2, 2)
def _filter(ex, args, kwargs):
    function, sequence = args
    made = []
    for item in ex.iterate(sequence):
        condition = ex.truth(item if function is None else ex.call(function, (item,), {}))
        if not isinstance(condition, bool):
            raise Unsupported("filter() by a condition of the run")
        if condition:
            made.append(item)
    return ex.walk(made)


def _to_sequence(kind):
    def handler(ex, args, kwargs):
        if not args:
            return kind()
        if isinstance(args[0], Tensor) and not args[0].ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        made = kind(ex.iterate(args[0]))
        return ex.capture.heap.made(made) if kind is list else made
    return handler


for _kind in (tuple, list):
    HANDLERS[_kind] = _to_sequence(_kind)


@handles(dict, 0, 1)
def _dict(ex, args, kwargs):
    made = ex.capture.heap.made({})
    if args:
        source = args[0]
        pairs = source.items() if isinstance(source, dict) else [ex.iterate(pair) for pair in ex.iterate(source)]
        made.update((ex.constant_key(k), v) for k, v in pairs)
    made.update(kwargs)
    return made


def _extreme(name):
    def handler(ex, args, kwargs):
        if kwargs:
            if any(varies(a) for a in args):
                raise Unsupported(f"{name}() with {', '.join(kwargs)} on values of the run")
            return getattr(builtins, name)(*args, **kwargs)
        single = len(args) == 1
        if single and isinstance(args[0], Tensor):
            if args[0].ndim == 0:
                raise TypeError("Cannot iterate over a scalar tensor.")
            if args[0].ndim == 1:
                return getattr(args[0], name)()
        items = ex.iterate(args[0]) if single else list(args)
        if not items:
            raise ValueError(f"{name}() arg is an empty sequence")
        if not any(varies(item) or isinstance(item, Tensor) for item in items):
            return getattr(builtins, name)(items)
        from spore import ops
        best = items[0]
        for item in items[1:]:
            if isinstance(best, Tensor) or isinstance(item, Tensor):
                if not isinstance(best, Tensor) or not isinstance(item, Tensor):
                    raise Unsupported(f"{name}() of a Tensor and a number")
                ex.truth(best), ex.truth(item)       # more than one element: ValueError
                best = getattr(ops, name + "imum")(ex.plain(best, item), ex.plain(item, best))
            else:
                kind = float if float in (number_kind(best), number_kind(item)) else int
                pair = [symbol_of(value, kind) for value in (best, item)]
                best = hinted(Scalar(getattr(ops, name + "imum")(*pair), kind), {"max": max, "min": min}[name], best, item)
        return best
    return handler


HANDLERS[max], HANDLERS[min] = _extreme("max"), _extreme("min")


@handles(sum, 1, 2)
def _sum(ex, args, kwargs):
    total = args[1] if len(args) > 1 else kwargs.get("start", 0)
    if isinstance(args[0], Tensor) and args[0].ndim == 0:
        raise TypeError("Cannot iterate over a scalar tensor.")
    if isinstance(total, str):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    for item in ex.iterate(args[0]):
        total = ex.binary(ast.Add, total, item)
    return total


@handles(abs, 1, 1)
def _abs(ex, args, kwargs):
    value, = args
    if isinstance(value, Scalar):
        kind = int if value.kind is bool else value.kind
        return hinted(Scalar(abs(symbol_of(value, kind)), kind), abs, value)
    return abs(value)


@handles(round, 1, 2)
def _round(ex, args, kwargs):
    value = args[0]
    if isinstance(value, Tensor):
        if len(args) > 1 and args[1] is not None:
            raise TypeError("When applying round() to tensor, only one tensor is supported as input.")
        return value.round()
    if isinstance(value, Scalar):
        if len(args) > 1 and args[1] is not None:
            raise Unsupported("round() to digits of a number known at run time only")
        return value if value.kind is int else hinted(Scalar(value.symbol.round().astype(symbol_of(0, int).dtype), int), round, value)
    return round(*args, **kwargs)


@handles(pow, 2, 3)
def _pow(ex, args, kwargs):
    if len(args) == 2:
        return ex.binary(ast.Pow, *args)
    return pow(*args)


def _quantifier(name, stop):
    def handler(ex, args, kwargs):
        value = args[0]
        if isinstance(value, Tensor):
            if value.ndim == 0:
                raise TypeError("Cannot iterate over a scalar tensor.")
        result = None
        for item in ex.iterate(value):
            condition = ex.truth(item)
            if condition is stop:
                return stop
            if isinstance(condition, bool):
                continue
            if result is None:
                result = condition
            else:
                result = result.logical_or(condition) if stop else result.logical_and(condition)
        return (not stop) if result is None else Scalar(result, bool)
    return handler


HANDLERS[all], HANDLERS[any] = _quantifier("all", False), _quantifier("any", True)


@handles(isinstance, 2, 2)
def _isinstance(ex, args, kwargs):
    value, kinds = args
    if isinstance(value, Walk):
        raise Unsupported("the type of an iterator is asked for")
    if isinstance(value, Scalar):
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        return any(isinstance(kind, type) and issubclass(value.kind, kind) for kind in kinds)
    if isinstance(value, Choice):
        return isinstance(value.options[0], kinds)
    return isinstance(value, kinds)


@handles(type, 0)
def _type(ex, args, kwargs):
    if any(isinstance(arg, Walk) for arg in args):
        raise Unsupported("the type of an iterator is asked for")
    if len(args) != 1 or kwargs:
        made = type(*args, **kwargs)
        made.__module__ = ex.capture.frames[-1].globals.get("__name__", made.__module__)
        return made
    return args[0].kind if isinstance(args[0], Scalar) else type(args[0])


@handles(hasattr, 2, 2)
def _hasattr(ex, args, kwargs):
    owner, name = args
    if not isinstance(name, str):
        raise TypeError("hasattr(): attribute name must be string")
    try:
        ex.attribute(owner, name)
    except AttributeError:
        return False
    return True


@handles(getattr, 2, 3)
def _getattr(ex, args, kwargs):
    owner, name = args[:2]
    if not isinstance(name, str):
        raise TypeError(f"getattr(): attribute name must be string but got: {_type_name(name)}")
    if len(args) == 2:
        return ex.attribute(owner, name)
    try:
        return ex.attribute(owner, name)
    except AttributeError:
        return args[2]


@handles(setattr, 3, 3)
def _setattr(ex, args, kwargs):
    ex.set_attribute(args[0], args[1], args[2], None, None)


@handles(str)
def _str(ex, args, kwargs):
    if len(args) == 1 and varies(args[0]):
        return LateText(Joined((115, "")), [args[0]])
    return str(*args, **kwargs)


@handles(print)
def _print(ex, args, kwargs):
    ex.print_at_run(args, kwargs)


@handles(functools.partial, 1)
def _partial(ex, args, kwargs):
    if not callable(args[0]) and not isinstance(args[0], Choice):
        raise TypeError("the first argument of partial must be a function")
    return functools.partial(*args, **kwargs)


@handles(functools.reduce, 2, 3)
def _reduce(ex, args, kwargs):
    items = list(ex.iterate(args[1]))
    if len(args) > 2:
        items.insert(0, args[2])
    if not items:
        raise TypeError("reduce() of empty iterable with no initial value")
    result = items[0]
    for item in items[1:]:
        result = ex.call(args[0], (result, item), {})
    return result


@handles(super)
def _super(ex, args, kwargs):
    frame = ex.capture.frames[-1]
    if len(args) == 0:
        owner = frame.owner
        if owner is None:
            raise RuntimeError("super(): no class is around this function")
        names = frame.code.positional
        return super(owner, frame.locals[names[0]])
    if len(args) != 2:
        raise RuntimeError(f"Arguments number of 'super()' should be 0 or 2, but got {len(args)}.")
    return super(*args)


@handles(divmod, 2, 2)
def _divmod(ex, args, kwargs):
    return ex.binary(ast.FloorDiv, *args), ex.binary(ast.Mod, *args)


@handles(reversed, 1, 1)
def _reversed(ex, args, kwargs):
    return ex.walk(tuple(reversed(ex.iterate(args[0]))))


@handles(iter, 1, 2)
def _iter(ex, args, kwargs):
    if not ex.capture.faithful or len(args) > 1 or not isinstance(args[0], (tuple, list, dict, range, Tensor, Walk)):
        return ex.native(iter, args, kwargs)
    value, = args
    return value if isinstance(value, Walk) else ex.walk(value if isinstance(value, list) else ex.iterate(value))


@handles(next, 1, 2)
def _next(ex, args, kwargs):
    walk = args[0]
    if not isinstance(walk, Walk):
        return ex.native(next, args, kwargs)
    rest = walk.rest()
    if not rest and len(args) < 2:
        raise Unsupported("an iterator is at its end")
    if not rest:
        return args[1]
    ex.advance(walk, 1)
    return rest[0]


def _operator(node, method):
    """A function of the module operator as what stands in the syntax tree for it."""
    return lambda ex, args, kwargs: getattr(ex, method)(node, *args)


HANDLERS.update({getattr(operator, name): _operator(getattr(ast, node), "binary") for name, node in (
    ("add", "Add"), ("sub", "Sub"), ("mul", "Mult"), ("truediv", "Div"), ("floordiv", "FloorDiv"), ("mod", "Mod"), ("pow", "Pow"),
    ("matmul", "MatMult"), ("and_", "BitAnd"), ("or_", "BitOr"), ("xor", "BitXor"))})
HANDLERS.update({getattr(operator, name): _operator(getattr(ast, node), "compare") for name, node in (
    ("eq", "Eq"), ("ne", "NotEq"), ("lt", "Lt"), ("le", "LtE"), ("gt", "Gt"), ("ge", "GtE"), ("is_", "Is"), ("is_not", "IsNot"))})
HANDLERS.update({getattr(operator, name): _operator(getattr(ast, node), "unary") for name, node in (
    ("neg", "USub"), ("pos", "UAdd"), ("not_", "Not"), ("invert", "Invert"))})


def _tensor(ex, args, kwargs):
    return ex.make_tensor(library_tensor, args, kwargs)


HANDLERS[library_tensor] = _tensor


# --- methods of lists and dicts --------------------------------------------------------------------------------------

def _constant_index(index, what):
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(f"The {what} must be a constant int, but got {_type_name(index)}.")
    return index


def list_method(ex, owner, name, args, kwargs):
    """Call a method of a list; those that change it are noted."""
    if name in ("append", "clear", "extend", "pop", "reverse", "insert", "remove", "sort"):
        ex.touch_items(owner)
    if name == "extend":
        owner.extend(ex.iterate(args[0]))
        return None
    if name == "pop":
        index = _constant_index(args[0], "index of pop") if args else -1
        if not -len(owner) <= index < len(owner):
            raise IndexError(f"The pop index {index} is out of range [{-len(owner)}, {len(owner)}).")
        return owner.pop(index)
    if name == "insert":
        owner.insert(_constant_index(args[0], "index of insert"), args[1])
        return None
    if name in ("sort", "remove", "index", "count") and (varies(owner) or any(varies(a) for a in args)):
        raise Unsupported(f"list.{name}() on values of the run")
    return getattr(owner, name)(*args, **kwargs)


def dict_method(ex, owner, name, args, kwargs):
    """Call a method of a dict."""
    if name in ("clear", "update", "pop", "popitem", "setdefault"):
        ex.touch_items(owner)
    if name in ("keys", "values"):
        return tuple(getattr(owner, name)())
    if name == "items":
        return list(owner.items())
    if name == "update" and args and not isinstance(args[0], dict):
        owner.update([tuple(ex.iterate(pair)) for pair in ex.iterate(args[0])])
        return None
    return getattr(owner, name)(*args, **kwargs)

# SPDX-License-Identifier: Apache-2.0
"""Expressions: computed at once where everything is known, recorded where a symbol takes part."""
import ast
import operator

from spore import _core
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.graph import builtin, run_sizes
from spore.graph.errors import Unsupported
from spore.graph.flow import _Half
from spore.graph.heap import Attribute, Global
from spore.graph.joins import varies
from spore.graph.values import (DTYPES, Array, Choice, Filled, Joined, LateText, Scalar, Unbound, Walk, arithmetic, as_tensor,
                                dtype_of, hinted, is_symbol, negative, number_kind, scalar_of, shape_of, symbol_of)

__all__ = ["Expressions"]

_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
           ast.Pow: "pow", ast.MatMult: "matmul", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and_",
           ast.BitOr: "or_", ast.BitXor: "xor", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq",
           ast.NotEq: "ne"}
_FUNCTIONS = {node: getattr(operator, name) for node, name in _BINARY.items()}
_SIMPLE = (ast.Compare, ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Subscript, ast.cmpop,
           ast.operator, ast.unaryop, ast.boolop, ast.expr_context)
_MISSING = object()
_WITHOUT_STATE = (Tensor, type, str, tuple, list, dict, int, float, super)


def _check_choice(index):
    """Whether a Tensor may choose one of several functions."""
    if index.ndim and shape_of(index) != (1,):
        raise ValueError(f"switch_layer index must be a 0 dimension tensor, but got a {index.ndim} dimension tensor")
    if index.dtype not in (mstype.int32, mstype.int64, mstype.int16, mstype.int8, mstype.uint8):
        raise ValueError(f"switch_layer index must be an int32, but got {index.dtype}")


def _check_bounds(index):
    for name in ("start", "stop", "step"):
        bound = getattr(index, name)
        if bound is not None and not isinstance(bound, (int, Tensor, Scalar)) and not hasattr(bound, "__index__"):
            raise RuntimeError(f"Attribute '{name}' of {index} should be int or Tensor with Int type but got {bound}")


def _bounds(index):
    """The numbers in an index."""
    for part in index if isinstance(index, tuple) else (index,):
        yield from (abs(bound) for bound in ((part.start, part.stop) if isinstance(part, slice) else (part,)) if type(bound) is int)


class Expressions:
    """Mixin of the executor."""

    def eval(self, node, frame):
        """The value of an expression."""
        handler = self.expression_table.get(type(node))
        if handler is None:
            raise RuntimeError(f"Unsupported expression '{type(node).__name__}'.\n"
                               "Compiled functions cannot contain it; write it outside, or use capture_mode=\"bytecode\".")
        return handler(self, node, frame)

    # --- names and constants -----------------------------------------------------------------------------------------

    def eval_constant(self, node, frame):
        value = node.value
        if type(value) is float:
            self.capture.literals.add(value)
        return value

    def eval_name(self, node, frame):
        name = node.id
        value = frame.locals.get(name, _MISSING)
        if value is not _MISSING:
            if isinstance(value, (Unbound, _Half)):
                raise UnboundLocalError(value.message)
            return value
        if name in getattr(frame.code, "own_names", ()):
            raise UnboundLocalError(f"The local variable '{name}' has no value here.")
        value = self.lookup(name, frame)
        if value is _MISSING:
            raise NameError(f"The name '{name}' is not defined, or not supported in graph mode.")
        return value

    def lookup(self, name, frame):
        """A name that is not a local one: of the functions around, of the module, of Python."""
        if name in frame.captured:
            return self.from_outside(frame.captured[name])
        outer = frame.outer
        while outer is not None:
            if name in outer.locals and not isinstance(outer.locals[name], (Unbound, _Half)):
                return outer.locals[name]
            if name in outer.captured:
                return outer.captured[name]
            outer = outer.outer
        if name in frame.globals:
            value = frame.globals[name]
            self.capture.watch(Global(frame.globals, name), value)
            return self.from_outside(value)
        return builtin.NAMES.get(name, _MISSING)

    def from_outside(self, value):
        """Note lists, dicts and Tensors that others hold too, also those inside of others."""
        if isinstance(value, (list, dict, tuple, Tensor)):
            stack = [value]
            while stack:
                one = stack.pop()
                if isinstance(one, Tensor):
                    self.capture.note_outside(one)
                    continue
                if isinstance(one, (list, dict)):
                    if id(one) in self.capture.outer or self.capture.heap.is_fresh(one):
                        continue
                    self.capture.outer[id(one)] = one
                stack.extend(v for v in (one.values() if isinstance(one, dict) else one) if isinstance(v, (list, dict, tuple, Tensor)))
        return value

    # --- operators ---------------------------------------------------------------------------------------------------

    def eval_binary(self, node, frame):
        return self.binary(type(node.op), self.eval(node.left, frame), self.eval(node.right, frame))

    def binary(self, op, left, right):
        """``left op right``; op is the class of the syntax tree."""
        if isinstance(left, (LateText, Array)) or isinstance(right, (LateText, Array)):
            return self._late_binary(op, left, right)
        if isinstance(left, str) and op is ast.Mod and varies(right):
            right = right if isinstance(right, tuple) else (right,)
            return LateText(Filled("__mod__", left, ()), [right])
        if isinstance(left, Scalar) or isinstance(right, Scalar):
            return arithmetic(_BINARY[op], left, right)
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            if isinstance(left, (tuple, list)) or isinstance(right, (tuple, list)):
                left, right = self._listed(left, right), self._listed(right, left)
            return self.native(_FUNCTIONS[op], (left, right), {})
        return self._known_binary(op, left, right)

    @staticmethod
    def _late_binary(op, left, right):
        """Texts known at run time only can be put together."""
        if op is not ast.Add or not all(isinstance(v, (LateText, str)) for v in (left, right)):
            raise Unsupported(f"{_SIGNS.get(op, op.__name__)} of a {_type_name(left)} and a {_type_name(right)} known at run "
                              "time only")
        return LateText(Joined((-1, ""), (-1, "")), [left, right])

    def _listed(self, value, other):
        """A list beside a Tensor counts as a Tensor."""
        if isinstance(value, (tuple, list)) and not any(varies(item) for item in value):
            return Tensor(value)
        if isinstance(value, (tuple, list)):
            from spore import ops
            if all(isinstance(item, (Scalar, int, bool)) for item in value):
                kind = float if any(number_kind(item) is float for item in value) else int
                return ops.stack([symbol_of(item, kind) for item in value])
            items = [as_tensor(item, other) if isinstance(item, Scalar) else self._listed(item, other) for item in value]
            return ops.stack([item if isinstance(item, Tensor) else Tensor(item, dtype=other.dtype) for item in items])
        return value

    @classmethod
    def _holds_floats(cls, value):
        """Whether a list, or a list in it, has a number or Tensor that is not whole."""
        if isinstance(value, (tuple, list)):
            return any(cls._holds_floats(item) for item in value)
        return _core.is_floating(value) or value.dtype.is_complex if isinstance(value, Tensor) else number_kind(value) not in (int, bool)

    def _known_binary(self, op, left, right):
        try:
            return _FUNCTIONS[op](left, right)
        except ZeroDivisionError:
            raise ValueError("The divisor could not be zero. But the divisor is zero now.") from None
        except TypeError as error:
            method = getattr(type(left), f"__{_BINARY[op].rstrip('_')}__", None)
            if method is not None and self.is_user(method):
                return self.call(method, (left, right), {})
            raise TypeError(f"For operation '{_SIGNS.get(op, op.__name__)}', current input arguments types are "
                            f"<{_type_name(left)}, {_type_name(right)}>, which are not supported. {error}") from None

    def eval_unary(self, node, frame):
        return self.unary(type(node.op), self.eval(node.operand, frame))

    def unary(self, kind, value):
        """An operator on one value; kind is the class of the syntax tree."""
        if kind is ast.Not:
            return self.negated(value)
        if isinstance(value, Scalar):
            if kind is ast.USub:
                return negative(value)
            if kind is ast.UAdd:
                return value
            return hinted(Scalar(-symbol_of(value, int) - 1, int), operator.invert, value)
        if kind is ast.USub:
            if isinstance(value, float):
                made = -value
                if value in self.capture.literals:
                    self.capture.literals.add(made)
                return made
            return self.native(operator.neg, (value,), {}) if isinstance(value, Tensor) else -value
        if kind is ast.UAdd:
            return +value if not isinstance(value, Tensor) else value
        if isinstance(value, Tensor) and value.dtype == mstype.bool_:
            return value.logical_not()
        return ~value

    def negated(self, value):
        """``not value``"""
        condition = self.truth(value)
        if isinstance(condition, bool):
            return not condition
        opposite = condition.logical_not()
        if self.capture.faithful:
            return Scalar(opposite, bool)
        if isinstance(value, Tensor) and value.ndim:
            opposite = opposite.reshape(shape_of(value))         # of one element, in as many dimensions as before
        return Scalar(opposite, bool) if isinstance(value, Scalar) else opposite

    def truth(self, value):
        """A condition: True, False, or a bool Tensor without dimensions that the run decides."""
        if isinstance(value, bool):
            return value
        if isinstance(value, Tensor):
            size = 1
            for n in shape_of(value):
                size *= n
            if size > 1 or size == 0:
                raise ValueError("The truth value of an array with more than one element is ambiguous.")
            if not _core.is_symbol(value):
                return self._known_truth(value)
            if value.ndim:
                value = value.reshape(())
            return value if value.dtype == mstype.bool_ else value != 0
        if isinstance(value, Scalar):
            return symbol_of(value, bool) if value.kind is bool else value.symbol != 0
        if isinstance(value, Choice):
            return True
        if not isinstance(value, (int, float, str, tuple, list, dict, type(None))):
            method = getattr(type(value), "__bool__", None) or getattr(type(value), "__len__", None)
            if method is not None and self.is_user(method):
                return self.truth(self.call(method, (value,), {}))
        return bool(value)

    def _known_truth(self, value):
        """Of a Tensor with contents; a Parameter is read when the program runs."""
        if self.is_variable(value):
            made = value.reshape(())
            return made if made.dtype == mstype.bool_ else made != 0
        return bool(value)

    def is_variable(self, value):
        """A Parameter: what it holds is known at run time only."""
        return isinstance(value, Tensor) and getattr(value, "__parameter__", False)

    def eval_bool(self, node, frame):
        is_and = isinstance(node.op, ast.And)
        value = self.eval(node.values[0], frame)
        for right in node.values[1:]:
            condition = self.truth(value)
            if condition is True or condition is False:
                if condition is not is_and:
                    return value
                value = self.eval(right, frame)
                continue
            value = self._run_time_bool(is_and, value, condition, right, frame)
        return value

    def _run_time_bool(self, is_and, left, condition, node, frame):
        if all(isinstance(n, _SIMPLE) or self._is_method_call(n) for n in ast.walk(node)):
            right = self.eval(node, frame)
            if _is_flag(left) and _is_flag(right):
                a = left.symbol if isinstance(left, Scalar) else left
                b = self.truth(right)
                b = b if isinstance(b, Tensor) else Tensor(b)
                made = a.logical_and(b) if is_and else a.logical_or(b)
                both = isinstance(left, Scalar) and isinstance(right, (Scalar, bool))
                return Scalar(made, bool) if both else made
            later = (lambda: right)
        else:
            later = (lambda: self.eval(node, frame))
        if is_and:
            return self.choose(frame, condition, later, lambda: left)
        return self.choose(frame, condition, lambda: left, later)

    @staticmethod
    def _is_method_call(node):
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords and (
            node.func.attr in ("sum", "mean", "max", "min", "all", "any", "abs"))

    def eval_conditional(self, node, frame):
        condition = self.truth(self.eval(node.test, frame))
        if condition is True:
            return self.eval(node.body, frame)
        if condition is False:
            return self.eval(node.orelse, frame)
        return self.choose(frame, condition, lambda: self.eval(node.body, frame), lambda: self.eval(node.orelse, frame))

    def eval_compare(self, node, frame):
        left = self.eval(node.left, frame)
        result = _MISSING
        for op, right_node in zip(node.ops, node.comparators):
            right = self.eval(right_node, frame)
            one = self.compare(type(op), left, right)
            if result is _MISSING:
                result = one
            else:
                result = self._both(result, one)
            if result is False:
                return False
            left = right
        return result

    def _both(self, a, b):
        first, second = self.truth(a), self.truth(b)
        if first is True:
            return b
        if second is True or second is False:
            return second and a
        made = first.logical_and(second)
        return Scalar(made, bool) if isinstance(a, Scalar) or isinstance(b, Scalar) else made

    def compare(self, op, left, right):
        if op is ast.Is or op is ast.IsNot:
            if left is not right and self._same_whole(left, right):
                return self.binary(ast.Eq if op is ast.Is else ast.NotEq, left, right)
            return self._is(left, right) is (op is ast.Is)
        if op is ast.In or op is ast.NotIn:
            found = self.contains(right, left)
            return found if op is ast.In else self.negated(found)
        if op in (ast.Eq, ast.NotEq) and not isinstance(left, (Tensor, Scalar)) and not isinstance(right, (Tensor, Scalar)):
            return self._equal(left, right, op is ast.Eq)
        if (left is None or right is None) and op in (ast.Eq, ast.NotEq):
            return op is ast.NotEq
        return self.binary(op, left, right)

    @staticmethod
    def _same_whole(left, right):
        """Whether two are both int or both bool, one of them of the run: those are the same object if they are equal."""
        kind = number_kind(left)
        return kind in (int, bool) and kind is number_kind(right) and (isinstance(left, Scalar) or isinstance(right, Scalar))

    @staticmethod
    def _is(left, right):
        if left is right or type(left) is str and type(right) is str and left == right:
            return True
        return isinstance(left, type(mstype.float32)) and isinstance(right, type(mstype.float32)) and left == right

    def _equal(self, left, right, wanted):
        if isinstance(left, (tuple, list)) and type(left) is type(right) and (varies(left) or varies(right)):
            if len(left) != len(right):
                return not wanted
            result = True
            for a, b in zip(left, right):
                result = self._both(result, self.compare(ast.Eq, a, b))
                if result is False:
                    break
            return result if wanted else self.negated(result)
        return self._known_binary(ast.Eq if wanted else ast.NotEq, left, right)

    def contains(self, container, item):
        """``item in container``"""
        if isinstance(container, Tensor):
            return self.native(operator.contains, (container, item), {}) if not is_symbol(container) else scalar_of(
                (container == self.plain(item, container)).any(), bool)
        if isinstance(container, dict):
            return self.constant_key(item) in container
        if isinstance(container, (tuple, list)) and (varies(container) or varies(item)):
            result = False
            for other in container:
                if isinstance(other, Tensor) != isinstance(item, Tensor) and not isinstance(other, (Tensor, Scalar)) \
                        and not isinstance(item, Scalar):
                    continue
                if isinstance(other, Tensor) and isinstance(item, Tensor):       # one Tensor is the other: all of it
                    if (other.dtype, shape_of(other)) != (item.dtype, shape_of(item)):
                        continue
                    equal = (other == item).all()
                else:
                    equal = self.truth(self.compare(ast.Eq, other, item))
                if equal is True:
                    return True
                if equal is not False:
                    result = equal if result is False else result.logical_or(equal)
            as_tensor_ = isinstance(item, Tensor) and not self.capture.faithful
            if result is False:
                return Tensor(False) if as_tensor_ else False
            return result if as_tensor_ else Scalar(result, bool)
        return item in container

    # --- structures --------------------------------------------------------------------------------------------------

    def eval_elements(self, nodes, frame):
        made = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                made.extend(self.iterate(self.eval(node.value, frame)))
            else:
                made.append(self.eval(node, frame))
        return made

    def eval_tuple(self, node, frame):
        return tuple(self.eval_elements(node.elts, frame))

    def eval_list(self, node, frame):
        return self.capture.heap.made(self.eval_elements(node.elts, frame))

    def eval_dict(self, node, frame):
        made = self.capture.heap.made({})
        for key, value in zip(node.keys, node.values):
            if key is None:
                made.update(self.eval(value, frame))
            else:
                made[self.constant_key(self.eval(key, frame))] = self.eval(value, frame)
        return made

    @staticmethod
    def constant_key(key):
        if is_symbol(key):
            raise Unsupported("the key of a dict is known at run time only")
        return key

    def eval_slice(self, node, frame):
        bounds = [None if part is None else self.eval(part, frame) for part in (node.lower, node.upper, node.step)]
        return slice(*bounds)

    def eval_subscript(self, node, frame):
        return self.item(self.eval(node.value, frame), self.eval(node.slice, frame))

    def item(self, owner, index):
        """``owner[index]``"""
        if isinstance(owner, Tensor):
            if self.capture.sizes is not None:
                self.capture.sizes.compared(*_bounds(index))
            if -1 in shape_of(owner) or self.has_late_slice(index):
                return run_sizes.call(self, operator.getitem, (owner, self.late_index(index)), {})
            return self.native(operator.getitem, (owner, self.plain(index)), {})
        if isinstance(index, Tensor) and not isinstance(owner, dict):
            if not _core.is_symbol(index) and not self.is_variable(index):
                index = int(index)
            else:
                if isinstance(owner, (tuple, list)) and owner and all(callable(item) for item in owner):
                    _check_choice(index)
                index = scalar_of(index, int)
        if isinstance(index, Scalar) and not isinstance(owner, dict):
            return self.run_time_item(owner, index)
        if isinstance(owner, dict):
            key = self.constant_key(index)
            if key not in owner:
                raise ValueError(f"The key {key} does not exist in the dict:{owner}")
            return owner[key]
        if isinstance(index, slice) and isinstance(owner, (tuple, list, str)):
            _check_bounds(index)
        if isinstance(owner, (tuple, list)):
            return self._sequence_item(owner, index)
        method = getattr(type(owner), "__getitem__", None)
        if method is None:
            if isinstance(owner, type):
                return owner[index]
            raise TypeError(f"'{type(owner).__name__}' object is not subscriptable")
        if self.is_user(method):
            return self.call(method, (owner, index), {})
        return owner[index]

    def late_index(self, index):
        """An index in which positions known at run time only are Tensors; bounds of slices stay numbers."""
        if isinstance(index, tuple):
            return tuple(self.late_index(part) for part in index)
        return index if isinstance(index, slice) else self.plain(index)

    @staticmethod
    def has_late_slice(index):
        """Whether a slice in an index has bounds known at run time only."""
        return any(isinstance(bound, Scalar) for part in (index if isinstance(index, tuple) else (index,)) if isinstance(part, slice)
                   for bound in (part.start, part.stop, part.step))

    @staticmethod
    def _sequence_item(owner, index):
        if isinstance(index, slice):
            bounds = [int(b) if isinstance(b, Tensor) else b for b in (index.start, index.stop, index.step)]
            return owner[slice(*bounds)]
        if not isinstance(index, int):
            raise TypeError(f"{type(owner).__name__} indices must be integers or slices, not {_type_name(index)}")
        if not -len(owner) <= index < len(owner):
            word = "TupleGetItem" if isinstance(owner, tuple) else "ListGetItem"
            raise IndexError(f"{word} evaluator index should be in range[-{len(owner)}, {len(owner)}), but got {index}.")
        return owner[index]

    def run_time_item(self, owner, index):
        """An element at a position that the run decides: Tensors of one kind, numbers, or functions."""
        items = list(owner)
        if not items:
            raise IndexError("the sequence is empty")
        position = symbol_of(index, int)
        position = (position < 0).astype(mstype.int64) * len(items) + position
        if all(isinstance(item, Tensor) for item in items):
            if len({(item.dtype, shape_of(item)) for item in items}) > 1:
                raise Unsupported("a sequence of Tensors of different kinds is indexed at run time")
            from spore import ops
            return ops.stack(items)[position]
        kinds = {type(item) for item in items}
        if len(kinds) == 1 and kinds <= set(DTYPES):
            kind = kinds.pop()
            return Scalar(Tensor(items, dtype=dtype_of(kind))[position], kind)
        if all(callable(item) for item in items):
            self.need((position >= 0).logical_and(position < len(items)), IndexError, LateText(Joined(
                "Given index ", (-1, ""), f" out of range. Please make sure the value of index in [{-len(items)}, {len(items)})."), [index]))
            return Choice(position.astype(mstype.int32), items)
        if all(isinstance(item, (Scalar, int, float)) for item in items):
            from spore import ops
            kind = next(item.kind for item in items if isinstance(item, Scalar))
            return Scalar(ops.stack([symbol_of(item, kind) for item in items])[position], kind)
        raise Unsupported("a sequence is indexed at a position known at run time only")

    # --- comprehensions, lambdas, texts ------------------------------------------------------------------------------

    def eval_comprehension(self, node, frame):
        made = self.capture.heap.made([])
        self._comprehend(node, frame, lambda: made.append(self.eval(node.elt, frame)))
        return made

    def eval_dict_comprehension(self, node, frame):
        made = self.capture.heap.made({})

        def add():
            key = self.constant_key(self.eval(node.key, frame))
            made[key] = self.eval(node.value, frame)
        self._comprehend(node, frame, add)
        return made

    def eval_generator(self, node, frame):
        return self.walk(self.eval_comprehension(node, frame))

    def _comprehend(self, node, frame, add, inner=0):
        if inner and inner == len(node.generators):
            return add()
        if len(node.generators) != 1 and not self.capture.faithful:
            what = "DictComp" if isinstance(node, ast.DictComp) else "ListComp"
            raise TypeError(f"The 'generators' supports 1 'comprehension' in {what}/GeneratorExp, but got "
                            f"{len(node.generators)} comprehensions.")
        generator = node.generators[inner]
        items = self.iterate(self.eval(generator.iter, frame))
        names = {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
        before = {name: frame.locals.get(name, _MISSING) for name in names}
        for item in items:
            self.assign(generator.target, item, frame)
            wanted = True
            for test in generator.ifs:
                condition = self.truth(self.eval(test, frame))
                if not isinstance(condition, bool):
                    raise Unsupported("a comprehension filters by a condition of the run")
                wanted = wanted and condition
                if not wanted:
                    break
            if wanted:
                self._comprehend(node, frame, add, inner + 1)
        for name, value in before.items():
            if value is _MISSING:
                frame.locals.pop(name, None)
            else:
                frame.locals[name] = value

    def eval_lambda(self, node, frame):
        return self.make_closure(node, frame)

    def eval_joined(self, node, frame):
        template, values = [], []
        for part in node.values:
            if not isinstance(part, ast.FormattedValue):
                template.append(part.value)
                continue
            values.append(self.eval(part.value, frame))
            template.append((part.conversion, "" if part.format_spec is None else self.eval(part.format_spec, frame)))
        made = LateText(Joined(*template), values)
        if not any(varies(v) for v in values) and not any(self.is_variable(v) for v in values):
            return made.make(values)
        if any(isinstance(part, tuple) and not isinstance(part[1], str) for part in template):
            raise Unsupported("the format of a text is known at run time only")
        return made

    def eval_attribute(self, node, frame):
        return self.attribute(self.eval(node.value, frame), node.attr)

    def attribute(self, owner, name):
        """``owner.name``"""
        if isinstance(owner, Tensor) and name in ("shape", "size") and self.has_free(owner):
            return self.run_time_shape(owner, name)
        if isinstance(owner, Scalar):
            if name in ("dtype", "shape", "ndim", "astype", "asnumpy", "item"):
                return getattr(owner.symbol, name)
            raise AttributeError(f"'{owner.kind.__name__}' object has no attribute '{name}'")
        if isinstance(owner, Walk):
            raise Unsupported(f"'{name}' of an iterator is asked for")
        if isinstance(owner, (Array, LateText)):
            if isinstance(owner, Array) and name in ("shape", "ndim", "dtype"):
                return getattr(owner, name)
            raise Unsupported(f"'{name}' of {'an array' if isinstance(owner, Array) else 'a text'} known at run time only")
        if isinstance(owner, dict) and name == "has_key":
            return lambda key: key in owner
        getter = getattr(type(owner), name, None)
        if isinstance(getter, property) and self.is_user(getter.fget):
            return self.call(getter.fget, (owner,), {})
        if name.startswith("__") and getattr(type(owner), "__ms_class__", False) and name != "__class__":
            raise AttributeError(f"{name} is a private variable or magic method, which is not supported.")
        try:
            value = getattr(owner, name)
            if not isinstance(owner, _WITHOUT_STATE):
                self.capture.watch(Attribute(owner, name), value)
                self.capture.note_read((id(owner), name))
            return self.from_outside(value)
        except AttributeError as error:
            if isinstance(owner, type(ast)):
                raise AttributeError(f"module '{owner.__name__}' has no attribute '{name}'") from None
            raise AttributeError(str(error) or f"'{type(owner).__name__}' object has no attribute '{name}'") from None

    def has_free(self, tensor):
        """Whether a Tensor has dimensions known at run time only; ``capture.free`` says which, where sizes are symbols."""
        if self.capture.sizes is None or not _core.is_symbol(tensor):
            return -1 in shape_of(tensor)
        self.capture.free = self.capture.sizes.shape(self.capture, tensor)
        return any(self.capture.free)

    def run_time_shape(self, owner, name):
        """shape or size of a Tensor with dimensions known at run time only."""
        if self.capture.sizes is not None:
            free = self.capture.free
            shape = tuple(Scalar(_core.function_size(owner, i), int, (n, n)) if free[i] else n for i, n in enumerate(shape_of(owner)))
        else:
            shape = tuple(Scalar(_core.function_size(owner, i), int, run_sizes.GUESSES) if n < 0 else n for i, n in enumerate(shape_of(owner)))
        if name == "shape":
            return shape
        size = 1
        for n in shape:
            size = self.binary(ast.Mult, size, n)
        return size

    expression_table = {
        ast.Constant: eval_constant, ast.Name: eval_name, ast.BinOp: eval_binary, ast.UnaryOp: eval_unary,
        ast.BoolOp: eval_bool, ast.IfExp: eval_conditional, ast.Compare: eval_compare, ast.Tuple: eval_tuple,
        ast.List: eval_list, ast.Dict: eval_dict, ast.Slice: eval_slice, ast.Subscript: eval_subscript,
        ast.ListComp: eval_comprehension, ast.GeneratorExp: eval_generator, ast.DictComp: eval_dict_comprehension,
        ast.Lambda: eval_lambda, ast.JoinedStr: eval_joined,
        ast.Attribute: eval_attribute,
    }


_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
          ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
          ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def _type_name(value):
    return {str: "String", int: "Number", float: "Number", bool: "Number", type(None): "None", tuple: "Tuple", list: "List",
            dict: "Dictionary"}.get(type(value), type(value).__name__)


def _is_flag(value):
    if isinstance(value, Scalar):
        return value.kind is bool
    if isinstance(value, Tensor):
        return value.dtype == mstype.bool_
    return isinstance(value, bool)

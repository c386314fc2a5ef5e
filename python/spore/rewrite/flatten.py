# SPDX-License-Identifier: Apache-2.0
"""The source of a function as nodes: nested expressions become statements of their own, one call or operation each. What has no such
form (comprehensions, lambdas, conditional expressions) stays as text."""
import ast

from spore.nn.cell import Cell
from spore.nn.layer.container import SequentialCell
from spore.ops.primitive import Primitive
from spore.rewrite.common.namespace import is_subtree
from spore.rewrite.node import Node, NodeType
from spore.rewrite.scoped_value import ScopedValue, ValueType

__all__ = ['Flattener']

_OPERATORS = {ast.Add: ("add", "+"), ast.Sub: ("sub", "-"), ast.Mult: ("mult", "*"), ast.Div: ("div", "/"), ast.Mod: ("mod", "%"),
              ast.Pow: ("pow", "**"), ast.FloorDiv: ("floordiv", "//"), ast.MatMult: ("matmult", "@"), ast.BitAnd: ("bitand", "&"),
              ast.BitOr: ("bitor", "|"), ast.BitXor: ("bitxor", "^"), ast.LShift: ("lshift", "<<"), ast.RShift: ("rshift", ">>"),
              ast.Eq: ("eq", "=="), ast.NotEq: ("noteq", "!="), ast.Lt: ("lt", "<"), ast.LtE: ("lte", "<="), ast.Gt: ("gt", ">"),
              ast.GtE: ("gte", ">="), ast.Is: ("is", "is"), ast.IsNot: ("isnot", "is not"), ast.In: ("in", "in"),
              ast.NotIn: ("notin", "not in"), ast.Not: ("not", "not "), ast.USub: ("usub", "-"), ast.UAdd: ("uadd", "+"),
              ast.Invert: ("invert", "~"), ast.And: ("and", "and"), ast.Or: ("or", "or")}


def _braces(text):
    """A text for str.format that stays as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def _dotted(expression):
    """The parts of a.b.c, or None."""
    parts = []
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    return [expression.id, *reversed(parts)] if isinstance(expression, ast.Name) else None


class Flattener:
    """Makes nodes for one tree."""

    def __init__(self, tree, network, names):
        self._tree, self._network, self._globals = tree, network, names

    def function(self, definition):
        """The nodes of a function: inputs, then statements."""
        body, args = [], definition.args
        for arg in [*args.posonlyargs, *args.args[1:], *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]:
            self._put(body, Node(NodeType.Input, "input_" + arg.arg, [ScopedValue.create_naming_value(arg.arg)]))
        self._statements(definition.body, body)
        return body

    def _put(self, body, node):
        node._name = self._tree._unique_node(node._name)
        node._body, node._owner = body, self._tree
        body.append(node)
        return node

    def _statements(self, statements, body):
        for i, statement in enumerate(statements):
            if i == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue  # a docstring
            handle = getattr(self, "_" + type(statement).__name__.lower(), self._text)
            handle(statement, body)

    def _text(self, statement, body):
        node = Node(NodeType.Python, type(statement).__name__, form=_braces(ast.unparse(statement)))
        node._reads = [ScopedValue.create_naming_value(each.id) for each in ast.walk(statement) if isinstance(each, ast.Name)]
        self._put(body, node)

    # --- statements ---

    def _assign(self, statement, body):
        targets = self._targets(statement.targets[0]) if len(statement.targets) == 1 else None
        if targets is None:
            return self._text(statement, body)
        self._compute(statement.value, targets, body)

    def _annassign(self, statement, body):
        if statement.value is not None:
            self._assign(ast.Assign([statement.target], statement.value), body)

    def _augassign(self, statement, body):
        targets = self._targets(statement.target)
        if targets is None:
            return self._text(statement, body)
        left = ast.parse(targets[0].code, mode="eval").body
        self._compute(ast.BinOp(left, statement.op, statement.value), targets, body)

    def _expr(self, statement, body):
        if isinstance(statement.value, ast.Call):
            self._compute(statement.value, [], body)
        else:
            self._text(statement, body)

    def _return(self, statement, body):
        args = [] if statement.value is None else [self._simple(statement.value, body)]
        self._put(body, Node(NodeType.Output, "return", args=args, form="return {}" if args else "return"))

    def _if(self, statement, body):
        node = Node(NodeType.ControlFlow, "if_node", args=[self._simple(statement.test, body)])
        self._put(body, node)
        node._bodies.append(("if {}", self._inner(statement.body)))
        if statement.orelse:
            node._bodies.append(("else", self._inner(statement.orelse)))

    def _for(self, statement, body):
        node = Node(NodeType.ControlFlow, "for_node", args=[self._simple(statement.iter, body)])
        self._put(body, node)
        node._bodies.append((f"for {_braces(ast.unparse(statement.target))} in {{}}", self._inner(statement.body)))
        if statement.orelse:
            node._bodies.append(("else", self._inner(statement.orelse)))

    def _while(self, statement, body):
        # the condition is computed in every turn: it stays as it is
        node = self._put(body, Node(NodeType.ControlFlow, "while_node"))
        node._bodies.append(("while " + _braces(ast.unparse(statement.test)), self._inner(statement.body)))
        if statement.orelse:
            node._bodies.append(("else", self._inner(statement.orelse)))

    def _with(self, statement, body):
        node = self._put(body, Node(NodeType.ControlFlow, "with_node"))
        items = ", ".join(ast.unparse(item) for item in statement.items)
        node._bodies.append(("with " + _braces(items), self._inner(statement.body)))

    def _inner(self, statements):
        body = []
        self._statements(statements, body)
        return body

    # --- expressions ---

    @staticmethod
    def _targets(target):
        """Names that are given values, or None where a part of something is."""
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        found = []
        for part in parts:
            names = _dotted(part)
            if names is None:
                return None
            found.append(ScopedValue.create_naming_value(names[-1], ".".join(names[:-1])))
        return found

    def _simple(self, expression, body):
        """An expression as a name or a constant; anything else is computed by nodes before."""
        names = _dotted(expression)
        if names is not None:
            return ScopedValue.create_naming_value(names[-1], ".".join(names[:-1]))
        if isinstance(expression, ast.Constant):
            return ScopedValue.create_variable_value(expression.value)
        if isinstance(expression, (ast.Call, ast.BinOp, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.Tuple, ast.List, ast.Subscript,
                                   ast.Attribute)):
            if isinstance(expression, ast.UnaryOp) and isinstance(expression.operand, ast.Constant):
                return ScopedValue(ValueType.UnsupportedValue, "", ast.unparse(expression))
            name = self._tree.unique_name(self._result_name(expression) + "_var")
            target = ScopedValue.create_naming_value(name)
            self._compute(expression, [target], body)
            return target
        return ScopedValue(ValueType.UnsupportedValue, "", ast.unparse(expression))

    @staticmethod
    def _result_name(expression):
        if isinstance(expression, ast.Call):
            names = _dotted(expression.func)
            return names[-1] if names else expression.func.attr if isinstance(expression.func, ast.Attribute) else "function"
        if isinstance(expression, (ast.BinOp, ast.BoolOp, ast.UnaryOp)):
            return _OPERATORS[type(expression.op)][0]
        return type(expression).__name__.lower()

    def _compute(self, expression, targets, body):
        """Nodes that give an expression's value to targets."""
        kind = type(expression).__name__.lower()
        handle = getattr(self, "_value_" + kind, None)
        if handle is None:
            node = Node(NodeType.Python, kind, targets, form=_braces(ast.unparse(expression)))
            node._reads = [ScopedValue.create_naming_value(each.id) for each in ast.walk(expression) if isinstance(each, ast.Name)]
            self._put(body, node)
        else:
            handle(expression, targets, body)

    def _operation(self, name, form, operands, targets, body, kind=NodeType.MathOps):
        args = [self._simple(operand, body) for operand in reversed(operands)][::-1]  # the last first, as MindSpore does
        self._put(body, Node(kind, name, targets, args, form=form))

    def _value_name(self, expression, targets, body):
        self._put(body, Node(NodeType.CallMethod, "name_assign", targets, [self._simple(expression, body)], form="{}"))

    def _value_constant(self, expression, targets, body):
        self._put(body, Node(NodeType.CallMethod, "constant_assign", targets, [self._simple(expression, body)], form="{}"))

    def _value_attribute(self, expression, targets, body):
        if _dotted(expression) is not None:
            self._put(body, Node(NodeType.CallMethod, "attribute_assign", targets, [self._simple(expression, body)], form="{}"))
        else:
            self._operation("attribute_assign", "{}." + expression.attr, [expression.value], targets, body, NodeType.CallMethod)

    def _value_binop(self, expression, targets, body):
        name, text = _OPERATORS[type(expression.op)]
        self._operation("binop_" + name, f"{{}} {text} {{}}", [expression.left, expression.right], targets, body)

    def _value_compare(self, expression, targets, body):
        name, text = _OPERATORS[type(expression.ops[0])]
        if len(expression.ops) > 1:  # a < b < c computes b once: as it is
            return self._operation("compare_" + name, _braces(ast.unparse(expression)), [], targets, body)
        self._operation("compare_" + name, f"{{}} {text} {{}}", [expression.left, expression.comparators[0]], targets, body)

    def _value_unaryop(self, expression, targets, body):
        name, text = _OPERATORS[type(expression.op)]
        self._operation("unaryop_" + name, text + "{}", [expression.operand], targets, body)

    def _value_boolop(self, expression, targets, body):
        # only the first operand is computed in any case
        name, text = _OPERATORS[type(expression.op)]
        rest = "".join(f" {text} ({_braces(ast.unparse(operand))})" for operand in expression.values[1:])
        self._operation("boolop_" + name, "{}" + rest, expression.values[:1], targets, body)

    def _value_tuple(self, expression, targets, body):
        self._sequence("tuple", "(", ",)" if len(expression.elts) == 1 else ")", expression, targets, body)

    def _value_list(self, expression, targets, body):
        self._sequence("list", "[", "]", expression, targets, body)

    def _sequence(self, name, begin, end, expression, targets, body):
        form = begin + ", ".join(["{}"] * len(expression.elts)) + end
        self._operation(name, form, expression.elts, targets, body, NodeType.CallMethod)

    def _value_subscript(self, expression, targets, body):
        form = "{}[" + _braces(ast.unparse(expression.slice)) + "]"
        self._operation("subscript_var", form, [expression.value], targets, body, NodeType.CallMethod)

    def _value_call(self, expression, targets, body):
        kwargs = {}
        for keyword in reversed(expression.keywords):
            if keyword.arg is None:  # **more: as it is
                form = _braces(ast.unparse(expression))
                return self._put(body, Node(NodeType.Python, self._result_name(expression), targets, form=form))
            kwargs[keyword.arg] = self._simple(keyword.value, body)
        args = [self._simple(arg, body) for arg in reversed(expression.args)][::-1]
        names, instance, callee = _dotted(expression.func), None, None
        if names is not None:
            instance, callee = self._resolve(names), ".".join(names)
        elif isinstance(expression.func, ast.Attribute):
            callee = f"{self._simple(expression.func.value, body).code}.{expression.func.attr}"
        elif isinstance(expression.func, ast.Subscript) and (_dotted(expression.func.value) or [""])[0] == "self":
            callee = ast.unparse(expression.func)
            instance = self._element(callee)
        else:
            callee = self._simple(expression.func, body).code
        self._call(expression, callee, instance, names, targets, args, dict(reversed(kwargs.items())), body)

    def _call(self, expression, callee, instance, names, targets, args, kwargs, body):
        kind = NodeType.CallFunction
        if isinstance(instance, Primitive):
            kind = NodeType.CallPrimitive
        elif isinstance(instance, SequentialCell):
            kind = NodeType.CellContainer
        elif isinstance(instance, Cell):
            kind = NodeType.Tree if is_subtree(instance) else NodeType.CallCell
        node = Node(kind, self._result_name(expression), targets, args, kwargs, callee=callee, instance=instance)
        if names and len(names) > 1 and names[0] != "self" and instance is None:
            node._reads = [ScopedValue.create_naming_value(names[0])]  # a method of a value
        self._put(body, node)
        if kind == NodeType.Tree:
            node._tree = type(self._tree)(instance)
        elif kind == NodeType.CellContainer:
            self._tree._fill_container(node)

    def _resolve(self, names):
        """What a dotted name stands for before the network runs, or None."""
        if names[0] == "self":
            found = self._network
        elif names[0] in self._globals:
            found = self._globals[names[0]]
        else:
            return None
        for name in names[1:]:
            found = getattr(found, name, None)
        return found

    def _element(self, text):
        try:
            return eval(text, dict(self._globals), {"self": self._network})
        except Exception:  # an index of the running program
            return None

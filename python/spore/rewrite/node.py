# SPDX-License-Identifier: Apache-2.0
"""Node: one statement of a network's code."""
import enum

from spore._core import type_name as _type_name
from spore.nn.cell import Cell
from spore.rewrite.scoped_value import ScopedValue, ValueType

__all__ = ['Node', 'NodeType']


class NodeType(enum.Enum):
    """Kinds of Node."""

    Unknown = 0
    CallCell = 1
    CallPrimitive = 2
    CallModule = 3
    CallFunction = 4
    CallMethod = 5
    Python = 6
    Input = 7
    Output = 8
    Tree = 9
    CellContainer = 10
    MathOps = 11
    ControlFlow = 12


def as_value(value, what):
    """A ScopedValue; a text is a name, other things are constants."""
    if isinstance(value, ScopedValue):
        return value
    if isinstance(value, str):
        scope, _, name = value.rpartition(".")
        return ScopedValue.create_naming_value(name, scope)
    if isinstance(value, Node):
        return value.get_targets()[0]
    if value is None or isinstance(value, (int, float, bool, tuple, list, dict)):
        return ScopedValue.create_variable_value(value)
    raise TypeError(f"{what} must be a ScopedValue, a name or a constant, but got {_type_name(value)}")


class Node:
    """A statement: `targets = callee(args, **kwargs)`, or an operation, an input, the return, a branch or loop. Nodes come of
    :meth:`SymbolTree.create` and of the functions `create_...` here.

    Examples:
        >>> from spore import nn
        >>> from spore.rewrite import Node
        >>> node = Node.create_call_cell(nn.ReLU(), ["y"], ["x"], name="relu")
        >>> node.get_name(), node.get_node_type(), node.get_args(), node.get_targets()
        ('relu', <NodeType.CallCell: 1>, [x], [y])
    """

    def __init__(self, kind, name, targets=(), args=(), kwargs=None, *, form=None, callee=None, instance=None):
        self._kind, self._name, self._instance = kind, name, instance
        self._targets, self._args, self._kwargs = list(targets), list(args), dict(kwargs or {})
        self._form = form          # text of the right side with {} for the arguments; None: a call of callee
        self._callee = callee      # text, as self.conv or ops.relu
        self._reads = []           # names that the text uses besides the arguments
        self._bodies = []          # of branches and loops: (text in front, list of nodes)
        self._attributes = {}      # what the user notes about it
        self._children = []        # of containers: a node a cell
        self._tree = None          # of Cells of the user's own: their SymbolTree
        self._body = self._owner = None  # where it stands: a list of nodes, a SymbolTree

    # --- made by the user ---

    @staticmethod
    def create_call_cell(cell, targets, args=None, kwargs=None, name="", is_sub_net=False):
        """A call of a new Cell.

        Examples:
            >>> from spore import nn
            >>> from spore.rewrite import Node, ScopedValue
            >>> Node.create_call_cell(nn.ReLU(), ["x"], [ScopedValue.create_naming_value("x")], name="act").get_name()
            'act'
        """
        from spore.ops.primitive import Primitive
        if not isinstance(cell, (Cell, Primitive)):
            raise TypeError(f"For 'Node.create_call_cell', 'cell' must be a Cell or a Primitive, but got {type(cell).__name__}.")
        kind = NodeType.CallCell if isinstance(cell, Cell) else NodeType.CallPrimitive
        node = Node._made(kind, name or type(cell).__name__, "create_call_cell", targets, args, kwargs, cell)
        if is_sub_net and isinstance(cell, Cell):
            from spore.rewrite.symbol_tree import SymbolTree
            node._kind, node._tree = NodeType.Tree, SymbolTree.create(cell)
        return node

    @staticmethod
    def create_call_function(function, targets, args=None, kwargs=None):
        """A call of a function.

        Examples:
            >>> from spore import ops
            >>> from spore.rewrite import Node
            >>> Node.create_call_function(ops.abs, ["x"], ["x"]).get_node_type()
            <NodeType.CallFunction: 4>
        """
        if not callable(function):
            raise TypeError(f"For 'Node.create_call_function', 'function' must be callable, but got {_type_name(function)}.")
        name = getattr(function, "__name__", type(function).__name__)
        return Node._made(NodeType.CallFunction, name, "create_call_function", targets, args, kwargs, function)

    @staticmethod
    def _made(kind, name, maker, targets, args, kwargs, instance):
        if not isinstance(targets, (list, tuple)) or not targets:
            raise TypeError(f"For 'Node.{maker}', 'targets' must be a list of names, but got {targets!r}.")
        return Node(kind, name, [as_value(target, f"{maker}: a target") for target in targets],
                    [as_value(arg, f"{maker}: an argument") for arg in args or ()],
                    {key: as_value(arg, f"{maker}: an argument") for key, arg in (kwargs or {}).items()}, instance=instance)

    @staticmethod
    def create_input(param_name, default=None):
        """One more input of the network.

        Examples:
            >>> from spore.rewrite import Node
            >>> Node.create_input("y").get_name()
            'input_y'
        """
        if not isinstance(param_name, str):
            raise TypeError(f"For 'Node.create_input', 'param_name' must be a str, but got {_type_name(param_name)}.")
        node = Node(NodeType.Input, "input_" + param_name, [ScopedValue.create_naming_value(param_name)])
        if default is not None:
            node._args = [as_value(default, "create_input: the default")]
        return node

    # --- what it is ---

    def get_handler(self):
        """The node itself."""
        return self

    def get_name(self):
        """Its name, which no other node of the tree has."""
        return self._name

    def get_node_type(self):
        """Its kind, a NodeType."""
        return self._kind

    def get_instance(self):
        """The Cell, Primitive or function that is called, or None."""
        return self._instance

    def get_instance_type(self):
        """The class of what is called; of functions, the function."""
        function = self._kind == NodeType.CallFunction and self._instance is not None and not hasattr(self._instance, "__self__")
        return self._instance if function else type(self._instance)

    def get_targets(self):
        """The names it gives values to."""
        return list(self._targets)

    def get_args(self):
        """Its arguments."""
        return list(self._args)

    def get_kwargs(self):
        """Its arguments by name."""
        return dict(self._kwargs)

    def get_symbol_tree(self):
        """The SymbolTree it stands in, or None."""
        return self._owner

    def get_sub_tree(self):
        """The SymbolTree of the Cell that is called, where that is one of the user's own."""
        if self._kind != NodeType.Tree:
            raise TypeError(f"get_sub_tree: node '{self._name}' is no Tree, but {self._kind}")
        return self._tree

    def get_attribute(self, key):
        """An attribute of what is called, or None."""
        return self.get_attributes().get(key)

    def get_attributes(self):
        """The attributes of what is called, as a dict."""
        return dict(getattr(self._instance, "__dict__", {})) | dict(getattr(self._instance, "attrs", {}) or {}) | self._attributes

    def set_attribute(self, key, value):
        """Note something about the node; :meth:`get_attribute` finds it."""
        self._attributes[key] = value

    # --- its neighbours ---

    def _names(self):
        """Names that it reads, in order."""
        values, found = [*self._args, *self._kwargs.values(), *self._reads], []
        while values:
            value = values.pop(0)
            if value.type == ValueType.NamingValue:
                found.append(value.code)
            elif value.type in (ValueType.TupleValue, ValueType.ListValue):
                values[:0] = list(value.value)
        return found

    def _source(self, name):
        """The node that gave a name its value before this one, or None."""
        node = self
        while node is not None and node._body is not None:
            at = next(i for i, other in enumerate(node._body) if other is node)
            for other in reversed(node._body[:at]):
                if any(target.code == name for target in other._targets):
                    return other
            node = next((outer for outer in node._owner._walk() if any(body is node._body for _, body in outer._bodies)), None)
        return None

    def get_inputs(self):
        """The nodes whose results it takes."""
        if self._kind == NodeType.Input:
            return []
        return [source for source in map(self._source, self._names()) if source is not None]

    def get_users(self):
        """The nodes that take its results."""
        if self._body is None:
            return []
        return [other for other in self._owner._walk() if any(source is self for source in other.get_inputs())]

    def get_arg_providers(self):
        """Who gives each argument: its place to (node, place among that node's targets)."""
        found = {}
        for i, name in enumerate(arg.code for arg in (*self._args, *self._kwargs.values())):
            source = self._source(name) if self._body is not None else None
            if source is not None:
                found[i] = (source, [target.code for target in source._targets].index(name))
        return found

    def get_target_users(self, index=-1):
        """Who takes each target: its place to a list of (node, place among that node's arguments); of one place, the list."""
        found = {i: [] for i in range(len(self._targets))}
        for user in self.get_users():
            for place, (source, target) in user.get_arg_providers().items():
                if source is self:
                    found[target].append((user, place))
        return found if index == -1 else found.get(index, [])

    def set_arg(self, index, arg):
        """Put another value at a place of the arguments."""
        if not isinstance(index, int):
            raise TypeError(f"set_arg: 'index' must be an int, but got {_type_name(index)}")
        if not 0 <= index < len(self._args):
            raise ValueError(f"set_arg: node '{self._name}' has {len(self._args)} arguments, but got the place {index!r}")
        self._args[index] = as_value(arg, "set_arg: the argument")

    def set_arg_by_node(self, arg_idx, src_node, out_idx=None):
        """Put a result of another node at a place of the arguments."""
        if not isinstance(src_node, Node):
            raise TypeError(f"set_arg_by_node: 'src_node' must be a Node, but got {_type_name(src_node)}")
        if out_idx is None and len(src_node._targets) != 1 or not 0 <= (out_idx or 0) < len(src_node._targets):
            raise ValueError(f"set_arg_by_node: node '{src_node._name}' gives {len(src_node._targets)} values, but got the place "
                             f"{out_idx!r}")
        self.set_arg(arg_idx, src_node._targets[out_idx or 0])

    # --- its text ---

    def lines(self, indent):
        """The node as lines of a program."""
        if self._kind == NodeType.Input:
            return []
        if self._bodies:
            found = []
            for front, body in self._bodies:
                found.append(indent + front.format(*(arg.code for arg in self._args)) + ":")
                found += [line for node in body for line in node.lines(indent + "    ")] or [indent + "    pass"]
            return found
        return [indent + line for line in self._statement().split("\n")]

    def _statement(self):
        args = [arg.code for arg in self._args]
        if self._form is None:
            right = f"{self._callee}({', '.join(args + [f'{key}={value.code}' for key, value in self._kwargs.items()])})"
        else:
            right = self._form.format(*args)
        return f"{', '.join(target.code for target in self._targets)} = {right}" if self._targets else right

# SPDX-License-Identifier: Apache-2.0
"""Replacing the nodes that fit a pattern."""
import abc
from collections import OrderedDict

from spore._core import type_name as _type_name
from spore.nn.cell import Cell
from spore.rewrite.node import NodeType

__all__ = ['PatternEngine', 'PatternNode', 'VarNode', 'Replacement']


class PatternNode:
    """One node of a pattern: a class that is called, and the patterns of what it takes.

    Examples:
        >>> from spore import nn
        >>> from spore.rewrite import PatternNode
        >>> root = PatternNode.create_pattern_from_list([nn.Conv2d, nn.ReLU])
        >>> root.type().__name__, root.get_inputs()[0].type().__name__
        ('ReLU', 'Conv2d')
    """

    def __init__(self, pattern_node_name, match_type=type(None), inputs=None):
        if not isinstance(pattern_node_name, str):
            raise TypeError(f"For 'PatternNode', 'pattern_node_name' must be a str, but got {_type_name(pattern_node_name)}.")
        self._name, self._type, self._inputs = pattern_node_name, match_type, []
        self.set_inputs(inputs or [])

    @staticmethod
    def from_node(node):
        """The pattern of one node without what it takes."""
        return PatternNode(str(node.get_targets()[0]), node.get_instance_type())

    @staticmethod
    def create_pattern_from_node(node):
        """The pattern of a node with all that it takes."""
        root = PatternNode.from_node(node)
        root.set_inputs([PatternNode.create_pattern_from_node(each) for each in node.get_inputs()])
        return root

    @staticmethod
    def create_pattern_from_list(type_list):
        """A chain: each class takes what the one before gives."""
        if not isinstance(type_list, list):
            raise TypeError(f"create_pattern_from_list: 'type_list' must be a list, but got {_type_name(type_list)}")
        last = None
        for i, each in enumerate(type_list):
            last = PatternNode(f"{i}-{each}", each, [last] if last else [])
        return last

    def add_input(self, node):
        """One more pattern of what it takes."""
        self.set_inputs(self._inputs + [node])

    def set_inputs(self, inputs):
        """The patterns of what it takes."""
        for each in inputs:
            if not isinstance(each, PatternNode):
                raise TypeError(f"For 'PatternNode', 'inputs' must hold PatternNodes, but got {_type_name(each)}.")
        self._inputs = list(inputs)

    def match(self, node):
        """Whether a node calls the class."""
        return self._type == node.get_instance_type()

    def get_inputs(self):
        """The patterns of what it takes."""
        return self._inputs

    def name(self):
        """Its name."""
        return self._name

    def type(self):
        """The class that is called."""
        return self._type


class VarNode(PatternNode):
    """Fits every node."""

    def __init__(self):
        super().__init__("placeholder", Cell)

    def match(self, node):
        """True."""
        return node is not None


class Replacement(abc.ABC):
    """Makes the nodes that replace what was found.

    Examples:
        >>> from spore import nn
        >>> from spore.rewrite import Node, Replacement
        >>> class ToGelu(Replacement):
        ...     def build(self, pattern, is_chain_pattern, matched):
        ...         old = matched.get(pattern.name())
        ...         return [Node.create_call_cell(nn.GELU(), old.get_targets(), old.get_args())]
    """

    @abc.abstractmethod
    def build(self, pattern, is_chain_pattern, matched):
        """The new nodes, in the order they run; none if nothing is to be done.

        Args:
            pattern (PatternNode): The root of the pattern.
            is_chain_pattern (bool): Was it given as a list?
            matched (OrderedDict): The nodes that were found, by the names of the pattern.
        """

    def __call__(self, pattern, is_chain_pattern, matched):
        return self.build(pattern, is_chain_pattern, matched)


class PatternEngine:
    """Looks for a pattern, a PatternNode or a list of classes, and replaces what it finds.

    Examples:
        >>> from spore import nn
        >>> from spore.rewrite import Node, PatternEngine, Replacement, SymbolTree
        >>> class ToGelu(Replacement):
        ...     def build(self, pattern, is_chain_pattern, matched):
        ...         old = matched.get(pattern.name())
        ...         return [Node.create_call_cell(nn.GELU(), old.get_targets(), old.get_args())]
        >>> tree = SymbolTree.create(nn.SequentialCell(nn.Dense(2, 2), nn.ReLU()))
        >>> PatternEngine([nn.ReLU], ToGelu()).apply(tree)
        True
    """

    def __init__(self, pattern, replacement=None):
        if replacement is not None and not isinstance(replacement, Replacement):
            raise TypeError(f"For 'PatternEngine', 'replacement' must be a Replacement, but got {_type_name(replacement)}.")
        self._is_chain = isinstance(pattern, list)
        self._pattern = PatternNode.create_pattern_from_list(pattern) if self._is_chain else pattern
        if not isinstance(self._pattern, PatternNode):
            raise TypeError(f"For 'PatternEngine', 'pattern' must be a PatternNode or a list of classes, but got {pattern!r}.")
        self._replacement = replacement

    def pattern(self):
        """The root of the pattern."""
        return self._pattern

    def apply(self, stree):
        """Replace in a tree, in the Cells of the user's own that it calls and in its containers; answers whether anything changed."""
        from spore.rewrite.symbol_tree import SymbolTree
        if not isinstance(stree, SymbolTree):
            raise TypeError(f"For 'PatternEngine.apply', 'stree' must be a SymbolTree, but got {_type_name(stree)}.")
        changed, made, waiting = False, [], list(stree._walk())
        while waiting:
            node = waiting.pop(0)
            if node._kind == NodeType.Tree:
                changed |= self.apply(node._tree)
            waiting[:0] = node._children
            if node._body is None or any(node is each for each in made):
                continue
            found = self._match(self._pattern, node)
            if found is None or self._leaks(found):
                continue
            new = self._replacement(self._pattern, self._is_chain, found) if self._replacement else []
            if new:
                stree.replace(node, new)
                for old in reversed(list(found.values())):
                    if old is not node:
                        stree.erase(old)
                changed, made = True, made + list(new)
        return changed

    def _match(self, pattern, node):
        if node is None or node._kind not in (NodeType.CallCell, NodeType.CallPrimitive, NodeType.Input) or not pattern.match(node):
            return None
        if isinstance(pattern, VarNode):
            return OrderedDict()
        found, inputs = OrderedDict(), self._inputs_of(node)
        if pattern.get_inputs():
            if len(pattern.get_inputs()) != len(inputs):
                return None
            for each, source in zip(pattern.get_inputs(), inputs):
                below = self._match(each, source)
                if below is None:
                    return None
                found.update(below)
        found[pattern.name()] = node
        return found

    @staticmethod
    def _inputs_of(node):
        """In a container each cell takes what the one before gives."""
        if not node._owner._container_of(node):
            return node.get_inputs()
        at = next(i for i, other in enumerate(node._body) if other is node)
        return node._body[at - 1:at] if at else []

    def _leaks(self, found):
        """Whether a result inside the pattern is used outside of it."""
        return not self._check_match(self._pattern, found)

    @staticmethod
    def _check_match(pattern, match_dict):
        """Whether what a pattern has matched can be replaced: no result but the pattern's own is used outside of it."""
        nodes = list(match_dict.values())
        return all(any(user is each for each in nodes) for name, node in match_dict.items() if name != pattern.name()
                   for user in node.get_users())

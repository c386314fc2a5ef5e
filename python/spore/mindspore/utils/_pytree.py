# SPDX-License-Identifier: Apache-2.0
"""Nested tuples, lists and dicts (and classes that are registered) taken apart into their leaves and put together again."""
from spore._core import Tensor, type_name as _type_name

__all__ = ["PyTreeDef", "tree_flatten", "tree_unflatten", "tree_leaves", "tree_structure", "tree_map", "register_pytree_node",
           "register_pytree_node_class"]

_REGISTERED = {}
_LEAF, _CONST = "*", "Const"


class PyTreeDef:
    """What is left of a tree without its leaves: the kind of every node, what is needed to make it again, and its children."""

    __hash__ = None

    def __init__(self, kind, aux=None, children=()):
        self._kind, self._aux, self._children = kind, aux, tuple(children)
        self.num_leaves = 1 if kind is _LEAF else sum(child.num_leaves for child in self._children)
        self.num_nodes = 1 + sum(child.num_nodes for child in self._children)

    def __eq__(self, other):
        if not isinstance(other, PyTreeDef):
            return NotImplemented
        return (self._kind, self._aux, self._children) == (other._kind, other._aux, other._children)

    def __repr__(self):
        kind = self._kind
        if kind is _LEAF:
            return "*"
        if kind is _CONST:
            of = type(self._aux)
            return f"Const({of.__name__ if of.__module__ == 'builtins' else of.__module__ + '.' + of.__qualname__})"
        inside = ", ".join(map(repr, self._children))
        text = {list: f"[{inside}]", tuple: f"({inside})", dict: "{...}"}.get(kind) if kind not in _REGISTERED else f"Custom[{kind.__name__}]"
        return f"PyTreeDef({text or kind.__name__ + '(...)'})"

    def unflatten(self, leaves):
        """The tree with these leaves."""
        rest = iter(leaves)
        tree = self._made(rest)
        if next(rest, _LEAF) is not _LEAF:
            raise ValueError("Too many leaves provided for unflatten")
        return tree

    def _made(self, leaves):
        if self._kind is _LEAF:
            for leaf in leaves:
                return leaf
            raise ValueError("Not enough leaves to unflatten")
        if self._kind is _CONST:
            return self._aux
        return _assemble(self._kind, self._aux, [child._made(leaves) for child in self._children])

    def flatten_up_to(self, tree):
        """What a tree has where this one has leaves: its nodes down to there must be the same."""
        if self._kind is _LEAF:
            return [tree]
        if self._kind is _CONST:
            if tree != self._aux:
                raise TypeError("Structure mismatch: constant value differs")
            return []
        if type(tree) is not self._kind:
            wanted = ("namedtuple " if hasattr(self._kind, "_fields") else "") + self._kind.__name__
            raise TypeError(f"Structure mismatch: expected {wanted}, got {_type_name(tree)}")
        if self._kind is dict:
            if len(tree) != len(self._aux):
                raise TypeError("Structure mismatch: dict size differs")
            if any(key not in tree for key in self._aux):
                raise TypeError("Structure mismatch: missing key in dict")
            parts = [tree[key] for key in self._aux]
        else:
            parts, _ = _parts(tree)
            if len(parts) != len(self._children):
                raise TypeError(f"Structure mismatch: {self._kind.__name__} size differs")
        return [leaf for child, part in zip(self._children, parts) for leaf in child.flatten_up_to(part)]


def _parts(tree):
    """(children, what is needed besides them) of a node, or None of a leaf."""
    kind = type(tree)
    if kind in _REGISTERED:
        children, aux = _REGISTERED[kind][0](tree)
        return list(children), aux
    if kind in (tuple, list) or isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return list(tree), None
    if kind is dict:
        keys = sorted(tree)
        return [tree[key] for key in keys], keys
    return None


def _assemble(kind, aux, children):
    if kind in _REGISTERED:
        return _REGISTERED[kind][1](aux, tuple(children))
    if kind is dict:
        return dict(zip(aux, children))
    return kind(*children) if hasattr(kind, "_fields") else kind(children)


def _taken_apart(tree, is_leaf, tensors_only, leaves):
    parts = None if is_leaf is not None and is_leaf(tree) else _parts(tree)
    if parts is not None:
        return PyTreeDef(type(tree), parts[1], [_taken_apart(part, is_leaf, tensors_only, leaves) for part in parts[0]])
    if tensors_only and not isinstance(tree, Tensor):
        return PyTreeDef(_CONST, tree)
    leaves.append(tree)
    return PyTreeDef(_LEAF)


def tree_flatten(tree, is_leaf=None, tensors_only_leaf=False):
    """(leaves, PyTreeDef) of a tree. is_leaf tells of a node whether it is to count as a leaf; with tensors_only_leaf all leaves
    but Tensors stay in the PyTreeDef. None is a leaf; dicts are gone through by their sorted keys.

    Examples:
        >>> from spore.utils._pytree import tree_flatten, tree_unflatten
        >>> leaves, treedef = tree_flatten({'b': 1, 'a': [2, (3, None)]})
        >>> leaves
        [2, 3, None, 1]
        >>> tree_unflatten(treedef, 'wxyz')
        {'a': ['w', ('x', 'y')], 'b': 'z'}
    """
    leaves = []
    return leaves, _taken_apart(tree, is_leaf, tensors_only_leaf, leaves)


def tree_unflatten(treedef, leaves):
    """The tree of a PyTreeDef and leaves."""
    if not isinstance(treedef, PyTreeDef):
        raise TypeError("First argument must be a PyTreeDef")
    return treedef.unflatten(leaves)


def tree_leaves(tree, is_leaf=None, tensors_only_leaf=False):
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf, tensors_only_leaf)[0]


def tree_structure(tree, is_leaf=None, tensors_only_leaf=False):
    """The PyTreeDef of a tree."""
    return tree_flatten(tree, is_leaf, tensors_only_leaf)[1]


def tree_map(func, tree, *rest, is_leaf=None, tensors_only_leaf=False):
    """The tree with func(leaf, ...) for its leaves; further trees give further arguments."""
    leaves, treedef = tree_flatten(tree, is_leaf, tensors_only_leaf)
    others = [treedef.flatten_up_to(other) for other in rest]
    return treedef.unflatten([func(*each) for each in zip(leaves, *others)])


def register_pytree_node(node_type, flatten_func, unflatten_func):
    """Objects of a class are nodes: flatten_func(object) is (children, aux), unflatten_func(aux, children) makes one again."""
    if not callable(flatten_func):
        raise TypeError("flatten_func must be callable")
    if not callable(unflatten_func):
        raise TypeError("unflatten_func must be callable")
    _REGISTERED[node_type] = flatten_func, unflatten_func


def register_pytree_node_class(cls):
    """Decorator: register a class by its methods tree_flatten() and tree_unflatten(aux, children)."""
    register_pytree_node(cls, cls.tree_flatten, cls.tree_unflatten)
    return cls

# SPDX-License-Identifier: Apache-2.0
"""Changing the code of a Cell: its construct as a list of nodes, each one call or operation, that can be looked at, inserted, erased
and replaced; then the Cell that the changed code makes.

`scoped_value.py` is what nodes take and give, `node.py` a node, `flatten.py` makes nodes of a function's source, `symbol_tree.py` holds
them and writes code, `pattern_engine.py` replaces what fits a pattern."""
from spore.rewrite import common
from spore.rewrite.node import Node, NodeType
from spore.rewrite.pattern_engine import PatternEngine, PatternNode, Replacement, VarNode
from spore.rewrite.scoped_value import ScopedValue, ValueType
from spore.rewrite.symbol_tree import SymbolTree

__all__ = ['SymbolTree', 'Node', 'NodeType', 'ScopedValue', 'ValueType', 'PatternEngine', 'PatternNode', 'VarNode', 'Replacement']

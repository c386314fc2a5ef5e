# SPDX-License-Identifier: Apache-2.0
"""Which Cells have trees of their own. Packages add classes to the list, so it keeps its name."""
from spore.nn.layer.container import CellList, SequentialCell

__all__ = ['is_subtree']

_subtree_black_list = [CellList, SequentialCell]  # classes whose code stays as it is


def is_subtree(cell):
    """Whether a Cell is one of the user's, whose code may be changed too."""
    return not isinstance(cell, tuple(_subtree_black_list)) and type(cell).__module__.partition(".")[0] not in ("spore", "mindspore")

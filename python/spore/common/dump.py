# SPDX-License-Identifier: Apache-2.0
"""Marks of what is to be written to disk while a network runs."""
__all__ = ["set_dump"]


def set_dump(target, enabled=True):
    """Mark a Cell, or a Primitive, whose values are to be written. Only Ascend writes them; elsewhere it is a mark.

    Args:
        target: the Cell or Primitive.
        enabled: whether to write.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> ms.set_dump(nn.Dense(2, 3))
    """
    from spore.nn.cell import Cell
    from spore.ops.primitive import Primitive
    if not isinstance(target, (Cell, Primitive)):
        raise TypeError(f"For 'set_dump', the argument 'target' should be a Cell or a Primitive, but got {type(target)}.")
    if not isinstance(enabled, bool):
        raise TypeError(f"For 'set_dump', the argument 'enabled' should be a bool, but got {type(enabled)}.")
    for one in [target] if isinstance(target, Primitive) else _primitives(target):
        one.add_prim_attr("dump", "true" if enabled else "false")


def _primitives(cell):
    """The primitives that are attributes of a Cell or of those in it."""
    from spore.ops.primitive import Primitive
    return [value for _, part in cell.cells_and_names() for value in vars(part).values() if isinstance(value, Primitive)]

# SPDX-License-Identifier: Apache-2.0
"""Base of Cells that take no arguments: a misplaced one is an error, not a flag of Cell."""
from spore.nn.cell import Cell


class Plain(Cell):
    """A Cell without arguments."""

    def __init__(self):
        super().__init__()

# SPDX-License-Identifier: Apache-2.0
"""spore.mint.nn.functional: layers and losses as functions."""
from ...ops import _gather

_names = _gather.mint_names("mint.nn.functional")
globals().update(_names)
__all__ = sorted(_names)

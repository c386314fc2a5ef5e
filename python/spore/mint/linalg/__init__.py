# SPDX-License-Identifier: Apache-2.0
"""spore.mint.linalg."""
from ...ops import _gather

_names = _gather.mint_names("mint.linalg")
globals().update(_names)
__all__ = sorted(_names)

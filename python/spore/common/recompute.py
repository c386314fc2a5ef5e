# SPDX-License-Identifier: Apache-2.0
"""recompute under another address of MindSpore's."""
from spore.common.api import recompute

__all__ = ['recompute']

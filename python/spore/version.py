# SPDX-License-Identifier: Apache-2.0
"""The version, also as a module."""
from spore._core import __version__

__all__ = ['__version__']

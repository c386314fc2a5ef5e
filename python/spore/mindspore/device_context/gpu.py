# SPDX-License-Identifier: Apache-2.0
"""Devices of this kind: there are none, and programs that ask are told so."""

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ['device_count', 'is_available']


def device_count():
    """How many there are: none."""
    return 0


def is_available():
    """It is not."""
    return False

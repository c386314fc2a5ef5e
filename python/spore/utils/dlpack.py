# SPDX-License-Identifier: Apache-2.0
"""Memory shared with other libraries through DLPack capsules; Tensor.__dlpack__ is the way other libraries use."""
from spore import _core

__all__ = ['from_dlpack', 'to_dlpack']


def to_dlpack(tensor):
    """A capsule on the memory of a Tensor."""
    return _core.to_dlpack(tensor)


def from_dlpack(dlpack):
    """A Tensor on the memory of a capsule, or of an object with __dlpack__."""
    return _core.from_dlpack(dlpack)

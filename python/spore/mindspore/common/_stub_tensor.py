# SPDX-License-Identifier: Apache-2.0
"""A Tensor whose value is still being computed, in other MindSpore versions. Here every Tensor has its value."""
from spore._core import Tensor as StubTensor

__all__ = ['StubTensor']

# SPDX-License-Identifier: Apache-2.0
"""What registering a hook answers, under MindSpore's name."""
from spore.common.tensor import _HookHandle as HookHandle

__all__ = ['HookHandle']

# SPDX-License-Identifier: Apache-2.0
"""Exchange between processes by torch-like names; one process is a world of its own."""
from ..ops._communication import *  # noqa: F401,F403
from ..ops._communication import __all__ as _names

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = [name for name in _names if name not in ("all_to_all_v_c", "gather_into_tensor", "scatter_tensor", "set_comm_ops_inplace")]

# SPDX-License-Identifier: Apache-2.0
"""Devices of this kind: there are none, and programs that ask are told so. What programs set for them is accepted."""
import types

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ['device_count', 'is_available']


def device_count():
    """How many there are: none."""
    return 0


def is_available():
    """It is not."""
    return False


def _accepted(*args, **kwargs):
    """A setting for a device that is not there."""


op_precision = types.SimpleNamespace(precision_mode=_accepted, op_precision_mode=_accepted, matmul_allow_hf32=_accepted,
                                     conv_allow_hf32=_accepted)
op_debug = types.SimpleNamespace(execute_timeout=_accepted, debug_option=_accepted, aclinit_config=_accepted)
op_tuning = types.SimpleNamespace(op_compile=_accepted, aoe_tune_mode=_accepted, aoe_job_type=_accepted, aclnn_cache=_accepted)

# SPDX-License-Identifier: Apache-2.0
"""The CPU, which is the device."""
import types

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ['device_count', 'is_available', 'threads_num']


def device_count():
    """How many there are: one."""
    return 1


def is_available():
    """It is."""
    return True


def threads_num(num):
    """How many threads an operator may use."""
    from spore.context import set_context
    set_context(runtime_num_threads=num)


op_tuning = types.SimpleNamespace(threads_num=threads_num)

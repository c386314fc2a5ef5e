# SPDX-License-Identifier: Apache-2.0
"""Devices and their memory by the older names; spore.runtime has the same under the newer ones."""
from spore import runtime
from spore.runtime import (Event, Stream, StreamCtx, communication_stream, current_stream, default_stream, empty_cache,
                           set_cur_stream, synchronize)

__path__ = []  # addresses below this one are in _addresses.py
__all__ = ['Event', 'Stream', 'StreamCtx', 'communication_stream', 'current_stream', 'default_stream', 'set_cur_stream',
           'empty_cache',
           'synchronize', 'device_count', 'get_arch_list', 'get_device_capability', 'get_device_name',
           'get_device_properties',
           'is_available', 'is_initialized', 'max_memory_allocated', 'max_memory_reserved', 'memory_allocated',
           'memory_reserved',
           'memory_stats', 'memory_summary', 'reset_max_memory_allocated', 'reset_max_memory_reserved',
           'reset_peak_memory_stats']


def _known(device_target):
    if device_target is not None and device_target not in ('CPU', 'GPU', 'Ascend'):
        raise ValueError(f"device_target must be 'CPU', 'GPU' or 'Ascend', but got {device_target!r}")
    return device_target in (None, 'CPU')


def is_available(device_target):
    """Can this device be used?"""
    return _known(device_target)


def is_initialized(device_target):
    """Is this device in use?"""
    return _known(device_target)


def device_count(device_target=None):
    """Number of devices of this kind."""
    return 1 if _known(device_target) else 0


def get_device_name(device_id, device_target=None):
    """Name of a device."""
    return 'CPU' if _known(device_target) else None


def get_device_capability(device_id, device_target=None):
    """Version of a GPU's instruction set; a CPU has none."""
    _known(device_target)


def get_device_properties(device_id, device_target=None):
    """Properties of a GPU; a CPU has none."""
    _known(device_target)


def get_arch_list(device_target=None):
    """GPU architectures this was built for; none."""
    _known(device_target)


def _forward(name):
    function = getattr(runtime, name)

    def call(device_target=None):
        _known(device_target)
        return function()
    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    return call


for _name in ('max_memory_allocated', 'max_memory_reserved', 'memory_allocated', 'memory_reserved', 'memory_stats',
              'memory_summary',
              'reset_max_memory_allocated', 'reset_max_memory_reserved', 'reset_peak_memory_stats'):
    globals()[_name] = _forward(_name)
del _name

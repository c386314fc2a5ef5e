# SPDX-License-Identifier: Apache-2.0
"""Devices as contexts: there is the CPU, and "meta" for Tensors without a value, which is not supported."""
from spore._core import type_name as _type_name

__all__ = ['DeviceCtx']


class DeviceCtx:
    """A context in which new Tensors belong to a device.

    Examples:
        >>> import spore as ms
        >>> with ms.DeviceCtx('CPU'):
        ...     print(ms.Tensor([1.0]))
        [1.]
    """

    def __init__(self, name, device_id=None):
        if not isinstance(name, str):
            raise TypeError(f"DeviceCtx: name must be a str, but got {_type_name(name)}")
        if name.lower() == 'meta':
            raise NotImplementedError("DeviceCtx: Tensors without memory ('meta') are not supported; Parameters made with an "
                                      "initializer have no memory until they are used")
        if name.upper() != 'CPU':
            raise ValueError(f"DeviceCtx: the only device is 'CPU', but got {name!r}")
        self.device_type, self.device_id = 'CPU', 0 if device_id is None else device_id

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

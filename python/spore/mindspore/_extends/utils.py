# SPDX-License-Identifier: Apache-2.0
"""cell_attr_register: the arguments of a Cell's __init__, kept."""
import functools
import inspect

__all__ = ['cell_attr_register']


def cell_attr_register(fn=None, attrs=None):
    """Decorator of a Cell's ``__init__``: its arguments, or those named by attrs, are kept in ``cell_init_args`` as text,
    by which two Cells can be told to be made alike.

    Examples:
        >>> from spore import nn
        >>> from spore._extends import cell_attr_register
        >>> class Scale(nn.Cell):
        ...     @cell_attr_register
        ...     def __init__(self, factor=2):
        ...         super().__init__()
        ...
        >>> Scale(3).cell_init_args
        "Scale['factor=3']"
    """
    def decorate(init):
        signature = inspect.signature(init)

        @functools.wraps(init)
        def call(self, *args, **kwargs):
            init(self, *args, **kwargs)
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            names = [attrs] if isinstance(attrs, str) else attrs
            kept = [f'{name}={value}' for name, value in list(bound.arguments.items())[1:]
                    if names is None or name in names]
            self.cell_init_args = type(self).__name__ + str(kept)
        return call
    return decorate(fn) if fn is not None else decorate

# SPDX-License-Identifier: Apache-2.0
"""Hooks that see what goes through ``map`` in debug mode."""
from abc import ABC, abstractmethod

import numpy as np

__all__ = ['DebugHook', 'MetaInfo', 'PrintDataHook', 'PrintMetaDataHook']


class DebugHook(ABC):
    """Base of hooks: override ``compute``. Put it among the operations of ``map``, or give it to
    dataset.config.set_debug_mode.

    Args:
        prev_op_name: name of the operation before it.
    """

    def __init__(self, prev_op_name=None):
        self.prev_op_name, self.is_first = prev_op_name, False

    @abstractmethod
    def compute(self, *args):
        """See the values; what it gives goes on."""

    def __call__(self, *args):
        return self.compute(*args)

    def set_previous_op_name(self, prev_op_name):
        """Tell it the operation before it."""
        self.prev_op_name = prev_op_name

    def get_previous_op_name(self):
        """The operation before it."""
        return self.prev_op_name

    def set_is_first(self, is_first):
        """Tell it whether it comes before all operations."""
        self.is_first = is_first

    def get_is_first(self):
        """Whether it comes before all operations."""
        return self.is_first


class _Printing(DebugHook):
    def _show(self, value):
        raise NotImplementedError

    def compute(self, *args):
        where = "Input" if self.is_first else "Output"
        for i, value in enumerate(args):
            print(f">>> {where} data of [{self.prev_op_name}], column {i}: {self._show(value)}")
        return args if len(args) > 1 else args[0]


class PrintDataHook(_Printing):
    """Prints the values."""

    def _show(self, value):
        return value


class MetaInfo:
    """What PrintMetaDataHook tells of a value."""

    def __init__(self, value):
        array = np.asarray(value)
        self.size, self.shape, self.dtype = array.nbytes, array.shape, array.dtype

    def __str__(self):
        return f"size {self.size}, shape {self.shape}, dtype {self.dtype}"


class PrintMetaDataHook(_Printing):
    """Prints sizes, shapes and types."""

    def _show(self, value):
        return MetaInfo(value)

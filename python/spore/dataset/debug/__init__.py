# SPDX-License-Identifier: Apache-2.0
"""Hooks that see what goes through ``map`` in debug mode."""
import sys
from abc import ABC, abstractmethod
from collections.abc import Sized

import numpy as np

__all__ = ['DebugHook', 'PrintDataHook', 'PrintMetaDataHook']


class DebugHook(ABC):
    """Base of hooks: override ``compute``. Put it among the operations of ``map``, or give it to
    dataset.config.set_debug_mode.

    Args:
        prev_op_name: name of the operation before it.
    """

    def __init__(self, prev_op_name=None):
        self.prev_op_name, self.is_first_op = prev_op_name, None

    @abstractmethod
    def compute(self, *args):
        """See the values of a row, which come as one tuple; they go on as they are, whatever it returns."""

    def __call__(self, *args):
        if self.prev_op_name:
            print(f"[Dataset debugger] Print the [{'INPUT' if self.is_first_op else 'OUTPUT'}] of the operation [{self.prev_op_name}].", flush=True)
        self.compute(args)
        return args if len(args) > 1 else args[0]

    def set_previous_op_name(self, prev_op_name):
        """Tell it the operation before it."""
        self.prev_op_name = prev_op_name

    def set_is_first(self, is_first):
        """Tell it whether it comes before all operations."""
        self.is_first_op = is_first


def _is_picture(value):
    pictures = sys.modules.get('PIL.Image')
    return pictures is not None and isinstance(value, pictures.Image)


class PrintDataHook(DebugHook):
    """Prints the values."""

    def __init__(self):
        super().__init__()

    def compute(self, *args):
        for i, value in enumerate(args[0]):
            print(f"Column {i}. The data is [{np.asarray(value) if _is_picture(value) else value}].", flush=True)
        return args


class PrintMetaDataHook(DebugHook):
    """Prints types and shapes."""

    def __init__(self):
        super().__init__()

    def compute(self, *args):
        for i, value in enumerate(args[0]):
            shown = ''
            if isinstance(value, np.ndarray):
                shown = f"The dtype is [{value.dtype}]. The shape is [{value.shape}]."
            elif _is_picture(value):
                shown = f"The type is [{type(value)}]. The shape is [{value.size}]."
            elif isinstance(value, Sized):
                shown = f"The type is [{type(value)}]. The size is [{len(value)}]."
            print(f"Column {i}. {shown}", flush=True)
        return args

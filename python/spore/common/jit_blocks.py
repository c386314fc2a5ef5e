# SPDX-License-Identifier: Apache-2.0
"""Blocks of statements that a script marks as graphs of their own (`mindspore.common.jit_begin_end`). MindSpore records what runs between
the two marks and runs the recording the next time; here the statements run as they stand, with the same results."""
from spore._core import type_name as _type_name

__all__ = ["_jit_begin", "_jit_end", "_jit_trace_begin", "_jit_trace_end"]

_open = []               # names of the blocks that have begun


def _jit_begin(fn_name, *args, **kwargs):
    """A block begins, which computes with ``args``."""
    if not isinstance(fn_name, str):
        raise TypeError(f"_jit_begin: the first argument is the name of the block, a str, but got {_type_name(fn_name)}")
    if _open:
        raise RuntimeError(f"Should not use jit_block and jit_trace at the same time: '{fn_name}' begins inside '{_open[-1]}'.")
    _open.append(fn_name)


def _jit_end(*output_args, **kwargs):
    """The block ends. Gives what it computed: the argument, or a tuple of several."""
    if _open:
        _open.pop()
    return output_args[0] if len(output_args) == 1 else output_args


_jit_trace_begin, _jit_trace_end = _jit_begin, _jit_end

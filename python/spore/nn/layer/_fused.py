# SPDX-License-Identifier: Apache-2.0
"""Layers that are one operator each in spore, and how to have them computed by operators that every file format has instead."""
import contextlib

_apart = frozenset()


def fused(what):
    """Whether layers of this kind ("rnn", "attention") may be one operator now."""
    return what not in _apart


@contextlib.contextmanager
def spelled_out(*kinds):
    """Inside, these kinds of layers are made of elementary operators."""
    global _apart
    before, _apart = _apart, _apart | frozenset(kinds)
    try:
        yield
    finally:
        _apart = before

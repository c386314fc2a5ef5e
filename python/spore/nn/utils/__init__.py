# SPDX-License-Identifier: Apache-2.0
"""Helpers for building networks."""
from contextlib import contextmanager

from spore.common.parameter import Parameter

__all__ = ["no_init_parameters"]


@contextmanager
def no_init_parameters():
    """For networks whose Parameters are loaded from a checkpoint next: marks Parameters as not needing initial values.

    Parameters made inside have valid values all the same, so a network can be run whether or not all of them are loaded.

    Examples:
        >>> from spore import nn
        >>> with nn.no_init_parameters():
        ...     net = nn.Dense(2, 3)
        >>> print(net.weight.shape)
        (3, 2)
    """
    before = getattr(Parameter, "init_param", True)
    Parameter.init_param = False
    try:
        yield
    finally:
        Parameter.init_param = before

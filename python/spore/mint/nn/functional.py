# SPDX-License-Identifier: Apache-2.0
"""spore.mint.nn.functional: layers and losses as functions."""
from ...ops import _gather

_names = _gather.mint_names("mint.nn.functional")
globals().update(_names)
__all__ = sorted(_names)


def smooth_l1_loss(input, target, reduction="mean", beta=1.0):
    """The squared error divided by 2 * beta where it is below beta, else the error less beta / 2.

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.nn.functional.smooth_l1_loss(Tensor([1.0, 2.0, 3.0]), Tensor([1.5, 0.0, 9.0])))
        2.375
    """
    from ... import ops
    return ops.smooth_l1_loss(input, target, beta, reduction)

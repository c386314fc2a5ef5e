# SPDX-License-Identifier: Apache-2.0
"""Optimizers with param_groups, of spore.experimental.optim."""
from ...experimental import optim
from ...experimental.optim import SGD, AdamW

__all__ = ["Adam", "AdamW", "FusedAdamW", "SGD"]


class Adam(optim.Adam):
    """Adam as torch has it: eps is added after the average of squares is corrected. Arguments as for experimental.optim.Adam, where it
    is added before.

    Examples:
        >>> import spore as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name='w')
        >>> done = ms.mint.optim.Adam([w], lr=0.5, eps=1.0)((ms.Tensor([1.0]),))
        >>> print(w.asnumpy())
        [0.75]
    """

    def _decay(self, group, params, own, power):
        own, eps = super()._decay(group, params, own, power)
        return own, eps * (1.0 - power) ** 0.5


class FusedAdamW(AdamW):
    """AdamW, with all Parameters of a group in one operator; every optimizer of mint is so here. Arguments as for AdamW."""


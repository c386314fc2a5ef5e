# SPDX-License-Identifier: Apache-2.0
"""Optimizers with param_groups, of spore.experimental.optim."""
from ...experimental.optim import SGD, Adam, AdamW

__all__ = ["Adam", "AdamW", "FusedAdamW", "SGD"]


class FusedAdamW(AdamW):
    """AdamW, with all Parameters of a group in one operator; every optimizer of mint is so here. Arguments as for AdamW."""


# SPDX-License-Identifier: Apache-2.0
"""Optimizers with param_groups, of spore.experimental.optim."""
from ...experimental.optim import SGD, Adam, AdamW

__all__ = ["Adam", "AdamW", "SGD"]

# SPDX-License-Identifier: Apache-2.0
"""Optimizers with param_groups, and learning rate schedulers."""
from spore.experimental.optim import lr_scheduler
from spore.experimental.optim.optimizer import SGD, Adam, AdamW, Optimizer

__all__ = ['Optimizer', 'SGD', 'Adam', 'AdamW', 'lr_scheduler']

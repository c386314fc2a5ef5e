# SPDX-License-Identifier: Apache-2.0
"""Optimizers with param_groups, and learning rate schedulers."""
from spore.experimental.optim import lr_scheduler
from spore.experimental.optim.optimizer import SGD, Adam, AdamW, Optimizer, SpeedAdamW, prepare_func
from spore.experimental.optim.rules import ASGD, Adadelta, Adagrad, Adamax, NAdam, RAdam, RMSprop, Rprop

__all__ = ['Optimizer', 'SGD', 'Adam', 'AdamW', 'ASGD', 'Adadelta', 'Adagrad', 'Adamax', 'NAdam', 'RAdam', 'RMSprop', 'Rprop',
           'lr_scheduler']

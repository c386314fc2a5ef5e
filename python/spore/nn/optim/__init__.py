# SPDX-License-Identifier: Apache-2.0
"""Optimizers."""
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register
from spore.nn.optim.adam import Adam, AdamOffload, AdamWeightDecay
from spore.nn.optim.momentum import Momentum
from spore.nn.optim.sgd import SGD

__all__ = ['Optimizer', 'Momentum', 'Adam', 'AdamWeightDecay', 'AdamOffload', 'SGD']

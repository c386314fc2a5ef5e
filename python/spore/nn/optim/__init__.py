# SPDX-License-Identifier: Apache-2.0
"""Optimizers."""
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register
from spore.nn.optim.ada_grad import Adagrad
from spore.nn.optim.adadelta import Adadelta
from spore.nn.optim.adafactor import AdaFactor
from spore.nn.optim.adam import Adam, AdamOffload, AdamWeightDecay
from spore.nn.optim.adamax import AdaMax
from spore.nn.optim.asgd import ASGD
from spore.nn.optim.ftrl import FTRL
from spore.nn.optim.lamb import Lamb
from spore.nn.optim.lars import LARS
from spore.nn.optim.lazyadam import LazyAdam
from spore.nn.optim.momentum import Momentum
from spore.nn.optim.proximal_ada_grad import ProximalAdagrad
from spore.nn.optim.rmsprop import RMSProp
from spore.nn.optim.rprop import Rprop
from spore.nn.optim.sgd import SGD
from spore.nn.optim.thor import thor

from spore.nn.optim.adasum import AdaSumByDeltaWeightWrapCell, AdaSumByGradWrapCell
from spore.nn.optim.tft_wrapper import OptTFTWrapper

__all__ = ['AdaSumByDeltaWeightWrapCell', 'AdaSumByGradWrapCell', 'OptTFTWrapper', 'Optimizer', 'Momentum', 'LARS', 'Adam', 'AdamWeightDecay', 'LazyAdam', 'AdamOffload', 'Lamb', 'SGD', 'ASGD',
           'Rprop', 'FTRL',
           'RMSProp', 'ProximalAdagrad', 'Adagrad', 'thor', 'AdaMax', 'Adadelta', 'AdaFactor', 'opt_init_args_register']

# SPDX-License-Identifier: Apache-2.0
"""Callbacks of Model."""
from spore.train.callback._callback import Callback, RunContext
from spore.train.callback._callback import CallbackManager as _CallbackManager
from spore.train.callback._callback import InternalCallbackParam as _InternalCallbackParam
from spore.train.callback._callback import checkpoint_cb_for_save_op as _checkpoint_cb_for_save_op
from spore.train.callback._callback import set_cur_net as _set_cur_net
from spore.train.callback._checkpoint import CheckpointConfig, ModelCheckpoint
from spore.train.callback._checkpoint import CheckpointManager as _CheckpointManager
from spore.train.callback._control import (EarlyStopping, History, LambdaCallback, LearningRateScheduler,
                                           ReduceLROnPlateau)
from spore.train.callback._exit import BackupAndRestore, OnRequestExit, TrainFaultTolerance
from spore.train.callback._monitor import LossMonitor, TimeMonitor
from spore.train.callback._summary import SummaryCollector, SummaryLandscape

__all__ = ['Callback', 'LossMonitor', 'TimeMonitor', 'ModelCheckpoint', 'SummaryCollector', 'CheckpointConfig',
           'RunContext',
           'LearningRateScheduler', 'SummaryLandscape', 'History', 'LambdaCallback', 'ReduceLROnPlateau',
           'EarlyStopping', 'BackupAndRestore', 'OnRequestExit', 'TrainFaultTolerance']

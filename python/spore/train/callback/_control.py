# SPDX-License-Identifier: Apache-2.0
"""Callbacks that steer training by its results, and small ones that keep or forward them."""
import copy
import math
import warnings

import numpy as np

from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.train.callback._callback import Callback, handle_loss
from spore.train.serialization import load_param_into_net

__all__ = ['EarlyStopping', 'ReduceLROnPlateau', 'History', 'LambdaCallback', 'LearningRateScheduler']

_SMALLER_IS_BETTER = ('hausdorff_distance', 'mae', 'mse', 'loss', 'perplexity', 'mean_surface_distance',
                      'root_mean_square_distance',
                      'eval_loss')


def _checked(who, name, value, kinds, least=None):
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise TypeError(f"For '{who}', '{name}' must be of type {' or '.join(k.__name__ for k in kinds)}, but got "
                        f"{_type_name(value)}.")
    if least is not None and value < least:
        raise ValueError(f"For '{who}', '{name}' must be at least {least}, but got {value}.")
    return value


class _Watcher(Callback):
    """Follows one result and tells whether it became better."""

    def __init__(self, monitor, min_delta, patience, verbose, mode):
        super().__init__()
        who = type(self).__name__
        self.monitor = _checked(who, 'monitor', monitor, str)
        self.min_delta = abs(_checked(who, 'min_delta', min_delta, (float, int)))
        self.patience = _checked(who, 'patience', patience, int, 0)
        self.verbose = _checked(who, 'verbose', verbose, bool)
        self.mode = _checked(who, 'mode', mode, str)
        if mode not in ('auto', 'min', 'max'):
            raise ValueError(f"For '{who}', 'mode' must be 'auto', 'min' or 'max', but got {mode!r}.")
        self._down = mode == 'min' or (mode == 'auto' and monitor in _SMALLER_IS_BETTER)
        self.wait = 0
        self.best = math.inf if self._down else -math.inf

    def on_train_begin(self, run_context):
        self.wait = 0
        self.best = math.inf if self._down else -math.inf

    def is_improvement(self, value, than):
        """Is a value better than another by more than min_delta?"""
        return value < than - self.min_delta if self._down else value > than + self.min_delta

    def _value(self, params):
        """The watched result as a float; None, with a warning, if it is not there."""
        results = params.get('eval_results', {})
        value = handle_loss(params.get('net_outputs')) if self.monitor == 'loss' else results.get(self.monitor)
        if value is None:
            warnings.warn(f"{type(self).__name__}: '{self.monitor}' is not available; there are "
                          f"{sorted({'loss', *results})}", stacklevel=2)
            return None
        array = value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)
        if array.size != 1:
            raise ValueError(f"For '{type(self).__name__}', '{self.monitor}' must be one number, but it has shape "
                             f"{array.shape}.")
        return float(array.reshape(()))


class EarlyStopping(_Watcher):
    """Ends training when a result has not become better for some epochs.

    Args:
        monitor: "loss", "eval_loss" or the name of a metric.
        min_delta: what counts as better.
        patience: epochs to wait.
        verbose: whether to print what happens.
        mode: "min", "max" or "auto" by the name.
        baseline: value to reach.
        restore_best_weights: whether the best epoch's parameters come back.
    """

    def __init__(self, monitor='eval_loss', min_delta=0, patience=0, verbose=False, mode='auto', baseline=None,
                 restore_best_weights=False):
        super().__init__(monitor, min_delta, patience, verbose, mode)
        self.baseline = _checked('EarlyStopping', 'baseline', baseline, (float, int)) if baseline is not None else None
        self.restore_best_weights = _checked('EarlyStopping', 'restore_best_weights', restore_best_weights, bool)
        self.stopped_epoch = 0
        self.best_weights_param_dict = None

    def on_train_begin(self, run_context):
        super().on_train_begin(run_context)
        self.stopped_epoch = 0
        self.best_weights_param_dict = None

    def on_train_epoch_end(self, run_context):
        params = run_context.original_args()
        current = self._value(params)
        if current is None:
            return
        better = self.is_improvement(current, self.best)
        if self.restore_best_weights and (better or self.best_weights_param_dict is None):
            self.best_weights_param_dict = copy.deepcopy(params.train_network.parameters_dict())
        self.wait += 1
        if better:
            self.best = current
            if self.baseline is None or self.is_improvement(current, self.baseline):
                self.wait = 0
        if self.wait >= self.patience:
            self.stopped_epoch = params.get('cur_epoch_num')
            run_context.request_stop()
            if self.restore_best_weights:
                if self.verbose:
                    print('Restoring model weights from the end of the best epoch.')
                load_param_into_net(params.train_network, self.best_weights_param_dict)

    def on_train_end(self, run_context):
        if self.stopped_epoch > 0 and self.verbose:
            print(f'Epoch {self.stopped_epoch:05d}: early stopping')


class ReduceLROnPlateau(_Watcher):
    """Lowers the learning rate when a result has not become better for some epochs.

    Args:
        monitor, min_delta, patience, verbose, mode: as for EarlyStopping.
        factor: what the learning rate is multiplied with, between 0 and 1.
        cooldown: epochs to wait after a change.
        min_lr: lowest learning rate.
    """

    def __init__(self, monitor='eval_loss', factor=0.1, patience=10, verbose=False, mode='auto', min_delta=1e-4,
                 cooldown=0, min_lr=0):
        super().__init__(monitor, min_delta, patience, verbose, mode)
        self.factor = _checked('ReduceLROnPlateau', 'factor', factor, float)
        if not 0.0 < factor < 1.0:
            raise ValueError(f"For 'ReduceLROnPlateau', 'factor' must be between 0 and 1, but got {factor}.")
        self.cooldown = _checked('ReduceLROnPlateau', 'cooldown', cooldown, int, 0)
        self.min_lr = _checked('ReduceLROnPlateau', 'min_lr', min_lr, (float, int))
        self.cooldown_counter = 0

    def on_train_begin(self, run_context):
        super().on_train_begin(run_context)
        self.cooldown_counter = 0

    def on_train_epoch_end(self, run_context):
        params = run_context.original_args()
        rate = params.optimizer.learning_rate
        if not isinstance(rate, Parameter):
            raise ValueError("For 'ReduceLROnPlateau', the optimizer must have one fixed learning rate.")
        current = self._value(params)
        if current is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.is_improvement(current, self.best):
            self.best, self.wait = current, 0
            return
        if self.cooldown_counter > 0:
            return
        self.wait += 1
        if self.wait >= self.patience:
            before = rate.asnumpy()
            if before > self.min_lr:
                new = max(before * np.float32(self.factor), np.float32(self.min_lr))
                rate.set_data(Tensor(new, mstype.float32))
                if self.verbose:
                    print(f'Epoch {params.cur_epoch_num:05d}: ReduceLROnPlateau reducing learning rate to {new}.')
            self.cooldown_counter, self.wait = self.cooldown, 0


class History(Callback):
    """Keeps the network's output and the metrics of each epoch in ``history``."""

    def __init__(self):
        super().__init__()
        self.history = {}
        self.epoch = None

    def _repr_html_(self):
        from spore._html import history_html
        return history_html({**(self.epoch or {}), **self.history})

    def begin(self, run_context):
        self.epoch = {'epoch': []}

    def epoch_end(self, run_context):
        params = run_context.original_args()
        self.epoch['epoch'].append(params.get('cur_epoch_num', 1))
        output = params.net_outputs
        if isinstance(output, (tuple, list)) and isinstance(output[0], Tensor):
            output = output[0]
        if isinstance(output, Tensor):
            output = np.mean(output.asnumpy())
        for name, value in {'net_output': output, **(params.get('metrics') or {})}.items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """A callback made of functions, each called with the RunContext.

    Examples:
        >>> from spore.train import LambdaCallback
        >>> show = LambdaCallback(on_train_epoch_end=lambda run: print(run.original_args().cur_epoch_num))
    """

    def __init__(self, on_train_epoch_begin=None, on_train_epoch_end=None, on_train_step_begin=None,
                 on_train_step_end=None,
                 on_train_begin=None, on_train_end=None, on_eval_epoch_begin=None, on_eval_epoch_end=None,
                 on_eval_step_begin=None,
                 on_eval_step_end=None, on_eval_begin=None, on_eval_end=None):
        super().__init__()
        functions = dict(locals())
        for name, function in functions.items():
            if name.startswith('on_'):
                setattr(self, name, function if function else lambda run_context: None)


class LearningRateScheduler(Callback):
    """Changes the optimizer's learning rate after each step.

    Args:
        learning_rate_function: function of the learning rate and the step number that gives the new learning rate.
    """

    def __init__(self, learning_rate_function):
        super().__init__()
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context):
        params = run_context.original_args()
        rate = params.optimizer.learning_rate
        if not isinstance(rate, Parameter):
            raise ValueError("For 'LearningRateScheduler', the optimizer must have one fixed learning rate.")
        before = float(str(rate.asnumpy()))
        new = self.learning_rate_function(before, params.cur_step_num)
        if not math.isclose(before, new, rel_tol=1e-10):
            rate.set_data(Tensor(new, mstype.float32))

# SPDX-License-Identifier: Apache-2.0
"""Callbacks that print: the loss, the time."""
import math
import time

from spore._core import type_name as _type_name
from spore.train.callback._callback import Callback, handle_loss

__all__ = ['LossMonitor', 'TimeMonitor']


class LossMonitor(Callback):
    """Prints the loss of training, and the metrics of evaluations in ``Model.fit``. A loss that is no number ends
    training.

    Args:
        per_print_times: print every so many steps; 0 prints nothing.
    """

    def __init__(self, per_print_times=1):
        super().__init__()
        if isinstance(per_print_times, bool) or not isinstance(per_print_times, int):
            raise TypeError(f"For 'LossMonitor', 'per_print_times' must be an int, but got "
                            f"{_type_name(per_print_times)}.")
        if per_print_times < 0:
            raise ValueError(f"For 'LossMonitor', 'per_print_times' must not be negative, but got {per_print_times}.")
        self._per_print_times = per_print_times
        self._last_print_time = 0

    def step_end(self, run_context):
        params = run_context.original_args()
        epoch = params.get('cur_epoch_num', 1)
        loss = handle_loss(params.net_outputs)
        step = (params.cur_step_num - 1) % params.batch_num + 1
        if isinstance(loss, float) and not math.isfinite(loss):
            raise ValueError(f"In epoch: {epoch} step: {step}, loss is NAN or INF, training process cannot continue, "
                             "terminating training. A smaller learning rate, gradients clipped by their norm, or a look at the data "
                             "for NaN and zeros under logarithms and divisions may help.")
        if self._per_print_times == 0:
            return
        if params.cur_step_num <= self._last_print_time:    # a new run counts from the start again
            self._last_print_time = (params.cur_step_num - 1) // self._per_print_times * self._per_print_times
        if params.cur_step_num - self._last_print_time >= self._per_print_times:
            self._last_print_time = params.cur_step_num
            print(f"epoch: {epoch} step: {step}, loss is {loss}", flush=True)

    def on_train_epoch_end(self, run_context):
        params = run_context.original_args()
        if params.get('metrics'):
            print(f"Eval result: epoch {params.cur_epoch_num}, metrics: {params.metrics}", flush=True)


class TimeMonitor(Callback):
    """Prints how long an epoch and its steps took.

    Args:
        data_size: steps in an epoch, if the run does not tell.
        data_time: whether to print the time spent waiting for data too.
    """

    def __init__(self, data_size=None, data_time=False):
        super().__init__()
        if not isinstance(data_time, bool):
            raise TypeError(f"For 'TimeMonitor', 'data_time' must be a bool, but got {_type_name(data_time)}.")
        self.data_size = data_size
        self.data_time = data_time
        self.data_time_sum = 0.0
        self.epoch_time = self.data_time_start = time.time()

    def on_train_step_begin(self, run_context):
        if self.data_time:
            self.data_time_sum += time.time() - self.data_time_start

    def on_train_step_end(self, run_context):
        self.data_time_start = time.time()

    def epoch_begin(self, run_context):
        self.epoch_time = self.data_time_start = time.time()
        self.data_time_sum = 0.0

    def epoch_end(self, run_context):
        took = (time.time() - self.epoch_time) * 1000
        params = run_context.original_args()
        steps = params.get('batch_num')
        if not isinstance(steps, int) or steps <= 0:
            steps = self.data_size
        if isinstance(steps, bool) or not isinstance(steps, int) or steps <= 0:
            raise ValueError(f"For 'TimeMonitor', 'data_size' must be an int above 0, but got {steps!r}.")
        line = f"{params.get('mode', '').title()} epoch time: {took:5.3f} ms, per step time: {took / steps:5.3f} ms"
        if self.data_time:
            line += f" (data time: {self.data_time_sum * 1000 / steps:5.3f} ms)"
        print(line, flush=True)

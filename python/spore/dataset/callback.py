# SPDX-License-Identifier: Apache-2.0
"""Functions of the user at the beginning and end of steps and epochs of a map."""
import contextlib
import threading

from spore.dataset import _check, config
from spore.train.callback import Callback

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ['DSCallback', 'DSCallbackRunContext', 'WaitedDSCallback']


class DSCallbackRunContext:
    """Where a map is: numbers of the epoch and of the step in it and over all, from 1."""

    def __init__(self, cur_epoch_num, cur_step_num_in_epoch, cur_step_num):
        self.cur_epoch_num = cur_epoch_num
        self.cur_step_num_in_epoch = cur_step_num_in_epoch
        self.cur_step_num = cur_step_num


class DSCallback:
    """Base of callbacks of ``map``; override what is wanted. A step is a row.

    Args:
        step_size: the functions of steps are called every so many steps.

    Examples:
        >>> from spore import dataset
        >>> class Show(dataset.DSCallback):
        ...     def ds_epoch_begin(self, ds_run_context):
        ...         print('epoch', ds_run_context.cur_epoch_num)
        >>> rows = dataset.NumpySlicesDataset([1, 2], ['n'], shuffle=False).map(lambda n: n, 'n', callbacks=Show())
        >>> [int(row['n']) for row in rows.create_dict_iterator(num_epochs=1, output_numpy=True)]
        epoch 1
        [1, 2]
    """

    def __init__(self, step_size=1):
        _check.kind(step_size, int, 'step_size')
        _check.within(step_size, 1, _check.INT32_MAX, 'step_size')
        self.step_size = step_size

    def create_runtime_obj(self):
        """The callback itself; refused if it overrides nothing."""
        if not _overridden(self):
            raise AttributeError("Inheriting Callback class without overriding any methods, check the usage of user defined Callback.")
        return self

    def ds_begin(self, ds_run_context):
        """Before the first row of all."""

    def ds_epoch_begin(self, ds_run_context):
        """Before the first row of an epoch."""

    def ds_epoch_end(self, ds_run_context):
        """After the last row of an epoch."""

    def ds_step_begin(self, ds_run_context):
        """Before a row."""

    def ds_step_end(self, ds_run_context):
        """After a row."""


class WaitedDSCallback(Callback, DSCallback):
    """Base of callbacks that keep a map and the training in step: give it to ``map`` and to ``Model.train``. A step of the map
    waits for the end of the training step before it, if there is one. Override sync_step_begin and sync_epoch_begin.

    Args:
        step_size: rows of the map in a step of the training.
    """

    def __init__(self, step_size=1):
        Callback.__init__(self)
        self.step_size = step_size
        self._condition = threading.Condition()
        self._steps = self._epochs = 0
        self._trained, self._ended = None, False

    def _wait(self, what, who):
        if not self._condition.wait_for(lambda: self._ended or what(), config.get_callback_timeout()):
            raise RuntimeError(f"{who} timed out after {config.get_callback_timeout()} second(s). The training did not end the step or epoch "
                               "before; dataset.config.set_callback_timeout gives it longer")

    def sync_epoch_begin(self, train_run_context, ds_run_context):
        """Before an epoch of the map, after the epoch of the training before it."""

    def sync_step_begin(self, train_run_context, ds_run_context):
        """Before a step of the map, after the step of the training before it."""

    def epoch_end(self, run_context):
        """Called by the training."""
        with self._condition:
            self._epochs, self._trained = self._epochs + 1, run_context
            self._condition.notify_all()

    def step_end(self, run_context):
        """Called by the training."""
        with self._condition:
            self._steps, self._trained = self._steps + 1, run_context
            self._condition.notify_all()

    def end(self, run_context):
        """Called by the training: nobody waits any more."""
        with self._condition:
            self._ended = True
            self._condition.notify_all()

    def ds_epoch_begin(self, ds_run_context):
        """Waits for the training."""
        if ds_run_context.cur_epoch_num > 1:
            with self._condition:
                self._wait(lambda: self._epochs >= ds_run_context.cur_epoch_num - 1, 'ds_epoch_begin')
            self.sync_epoch_begin(self._trained, ds_run_context)

    def ds_step_begin(self, ds_run_context):
        """Waits for the training."""
        if ds_run_context.cur_step_num > self.step_size:
            steps = (ds_run_context.cur_step_num - 1) // self.step_size
            with self._condition:
                self._wait(lambda: self._steps >= steps, 'ds_step_begin')
            self.sync_step_begin(self._trained, ds_run_context)


_quiet = threading.local()


@contextlib.contextmanager
def quiet():
    """A time in which no callback is called on this thread: a look at rows that does not count."""
    before, _quiet.on = getattr(_quiet, 'on', False), True
    try:
        yield
    finally:
        _quiet.on = before


def is_quiet():
    """Whether this is such a look."""
    return getattr(_quiet, 'on', False)


_EVENTS = ('ds_begin', 'ds_epoch_begin', 'ds_epoch_end', 'ds_step_begin', 'ds_step_end')
# What must be overridden for a function of a WaitedDSCallback to wait.
_SYNC = {'ds_epoch_begin': 'sync_epoch_begin', 'ds_step_begin': 'sync_step_begin'}


def _overridden(callback):
    """The functions of a callback that do something."""
    def own(base, name):
        return getattr(type(callback), name) is not getattr(base, name)
    if isinstance(callback, WaitedDSCallback):
        return {event for event in _EVENTS if own(DSCallback, event) and (event not in _SYNC or own(WaitedDSCallback, _SYNC[event]))}
    return {event for event in _EVENTS if own(DSCallback, event)}


class Announcer:
    """Calls callbacks around the rows of a map. ``size`` is the number of its rows until they begin anew; with ``repeats``, what
    stands above lets them begin so many times in an epoch."""

    def __init__(self, callbacks, size):
        self._callbacks, self._size = [(callback.create_runtime_obj(), _overridden(callback)) for callback in callbacks], size
        self.begin(1)

    def begin(self, repeats):
        """A new iterator."""
        self._repeats, self._epoch = repeats, None

    def _call(self, name, context, stepwise=False):
        for callback, events in self._callbacks:
            if name in events and (not stepwise or (context.cur_step_num_in_epoch - 1) % callback.step_size == 0):
                getattr(callback, name)(context)

    def around(self, epoch, row, function):
        """What ``function`` gives, with the callbacks before and after it."""
        if is_quiet():
            return function()
        size = self._size * self._repeats
        total = epoch * self._size + row
        epoch, row = epoch // self._repeats, epoch % self._repeats * self._size + row
        context = DSCallbackRunContext(epoch + 1, row + 1, total + 1)
        if epoch != self._epoch:        # not by the row: a skip above leaves out the first ones
            if self._epoch is None and epoch == 0:
                self._call('ds_begin', DSCallbackRunContext(0, 0, 0))
            self._epoch = epoch
            self._call('ds_epoch_begin', DSCallbackRunContext(epoch + 1, 0, total - row))
        self._call('ds_step_begin', context, True)
        made = function()
        self._call('ds_step_end', context, True)
        if row == size - 1:
            self._call('ds_epoch_end', context)
        return made

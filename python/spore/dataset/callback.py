# SPDX-License-Identifier: Apache-2.0
"""Functions of the user at the beginning and end of steps and epochs of a map."""
from spore.dataset import _check

__all__ = ['DSCallback', 'DSCallbackRunContext']


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
        if step_size <= 0:
            raise ValueError("step_size should be a positive integer.")
        self.step_size = step_size

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


class Announcer:
    """Calls callbacks around the rows of a map; ``size`` is the number of rows in an epoch."""

    def __init__(self, callbacks, size):
        for callback in callbacks:
            _check.kind(callback, DSCallback, 'callbacks')
        self._callbacks, self._size = callbacks, size

    def _call(self, name, context, stepwise=False):
        for callback in self._callbacks:
            if not stepwise or (context.cur_step_num - 1) % callback.step_size == 0:
                getattr(callback, name)(context)

    def around(self, epoch, row, function):
        """What ``function`` gives, with the callbacks before and after it."""
        context = DSCallbackRunContext(epoch + 1, row + 1, epoch * self._size + row + 1)
        if row == 0:
            if epoch == 0:
                self._call('ds_begin', DSCallbackRunContext(0, 0, 0))
            self._call('ds_epoch_begin', context)
        self._call('ds_step_begin', context, True)
        made = function()
        self._call('ds_step_end', context, True)
        if row == self._size - 1:
            self._call('ds_epoch_end', context)
        return made

# SPDX-License-Identifier: Apache-2.0
"""Callbacks: what a Model calls while it trains and evaluates, and what it tells them."""
from contextlib import ExitStack

import numpy as np

from spore._core import Tensor, type_name as _type_name

__all__ = ['Callback', 'CallbackManager', 'InternalCallbackParam', 'RunContext', 'checkpoint_cb_for_save_op',
           'set_cur_net']

_current_net = None


def set_cur_net(net):
    """Remember the network whose parameters are being saved."""
    global _current_net
    _current_net = net


def checkpoint_cb_for_save_op(parameter_list):
    """Give values, dicts of name and data, to the Parameters of the remembered network; False if there is none."""
    if _current_net is None:
        return False
    values = {one['name']: one['data'] for one in parameter_list}
    for parameter in _current_net.get_parameters():
        if parameter.name in values:
            parameter.set_data(values[parameter.name])
    return True


class Callback:
    """Base of callbacks: write the methods you need. Each gets a RunContext.

    ``on_train_*`` are called in training and ``on_eval_*`` in evaluation: begin, epoch_begin, step_begin, step_end,
    epoch_end and end. Unless they are written, they call the method without the prefix.

    Examples:
        >>> from spore.train import Callback
        >>> class Stop(Callback):
        ...     def on_train_step_end(self, run_context):
        ...         if run_context.original_args().cur_step_num >= 10:
        ...             run_context.request_stop()
    """

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def begin(self, run_context):
        """Before everything."""

    def epoch_begin(self, run_context):
        """Before each epoch."""

    def epoch_end(self, run_context):
        """After each epoch."""

    def step_begin(self, run_context):
        """Before each step."""

    def step_end(self, run_context):
        """After each step."""

    def end(self, run_context):
        """After everything."""

    def on_train_begin(self, run_context):
        """Before training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context):
        """Before each epoch of training."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context):
        """After each epoch of training."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context):
        """Before each step of training."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context):
        """After each step of training."""
        self.step_end(run_context)

    def on_train_end(self, run_context):
        """After training."""
        self.end(run_context)

    def on_eval_begin(self, run_context):
        """Before evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context):
        """Before the data of an evaluation is read."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context):
        """After the data of an evaluation was read."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context):
        """Before each batch of an evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context):
        """After each batch of an evaluation."""
        self.step_end(run_context)

    def on_eval_end(self, run_context):
        """After evaluation."""
        self.end(run_context)


class CallbackManager(Callback):
    """Several callbacks as one; they are entered and left as context managers together."""

    def __init__(self, callbacks):
        if callbacks is None:
            callbacks = []
        elif isinstance(callbacks, Callback):
            callbacks = [callbacks]
        elif not isinstance(callbacks, (list, tuple)):
            raise TypeError(f"The 'callbacks' must be a Callback or a list of them, but got "
                            f"{_type_name(callbacks)}.")
        for callback in callbacks:
            if not isinstance(callback, Callback):
                raise TypeError(f"The 'callbacks' must hold Callbacks, but got {_type_name(callback)}.")
        self._callbacks = list(callbacks)
        self._stack = ExitStack()

    def __enter__(self):
        entered = [(callback, self._stack.enter_context(callback)) for callback in self._callbacks]
        self._callbacks = [target if isinstance(target, Callback) else callback for callback, target in entered]
        return self

    def __exit__(self, *error):
        return self._stack.__exit__(*error)


def _to_all(name):
    def call(self, run_context):
        for callback in self._callbacks:
            getattr(callback, name)(run_context)
    call.__name__ = name
    call.__doc__ = getattr(Callback, name).__doc__
    return call


for _part in ('begin', 'epoch_begin', 'step_begin', 'step_end', 'epoch_end', 'end'):
    for _name in (_part, 'on_train_' + _part, 'on_eval_' + _part):
        setattr(CallbackManager, _name, _to_all(_name))


class _NoParameter(AttributeError, KeyError):
    """A value that the Model does not tell: an attribute to hasattr, a key to those who look in a dict."""

    __str__ = AttributeError.__str__


class InternalCallbackParam(dict):
    """What a Model tells its callbacks: a dict whose entries are attributes too."""

    def __getattr__(self, key):
        try:
            return self[key]
        except KeyError:
            raise _NoParameter(f"the callback parameters have no {key!r}; there are {sorted(self)}") from None

    def __setattr__(self, key, value):
        self[key] = value


class RunContext:
    """What a callback gets: the parameters of the run, and a way to stop it.

    Args:
        original_args: dict of the parameters, with cur_epoch_num, cur_step_num, batch_num, net_outputs, train_network
            and more.
    """

    def __init__(self, original_args):
        if not isinstance(original_args, dict):
            raise TypeError(f"For 'RunContext', 'original_args' must be a dict, but got "
                            f"{_type_name(original_args)}.")
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self):
        """The parameters of the run."""
        return self._original_args

    def request_stop(self):
        """Ask for an end after this step."""
        self._stop_requested = True

    def get_stop_requested(self):
        """Was an end asked for?"""
        return self._stop_requested


def handle_loss(loss):
    """The loss in what a training network returned: a float for a Tensor, the first Tensor of a tuple."""
    if isinstance(loss, (tuple, list)):
        return loss[0] if isinstance(loss[0], Tensor) else loss
    return float(np.mean(loss.asnumpy())) if isinstance(loss, Tensor) else loss


_handle_loss = handle_loss  # MindSpore's name, which programs import

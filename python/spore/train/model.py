# SPDX-License-Identifier: Apache-2.0
"""Model: training, evaluation and prediction with a network, a loss function and an optimizer."""
import copy
import math
import time

from spore import context, nn  # noqa: F401  packages that derive from Model take context from here, too
from spore._core import Tensor, type_name as _type_name
from spore._moves import absent
from spore._not_done import not_done
from spore.context import ParallelMode, get_auto_parallel_context  # noqa: F401  packages take ParallelMode from here
from spore.train import _restart, amp
from spore.train.callback import Callback, ModelCheckpoint, RunContext, TimeMonitor
from spore.train.callback import (_CallbackManager, _InternalCallbackParam)
from spore.train.curves import TrainHistory
from spore.train.dataset_helper import DatasetHelper, connect_network_with_dataset  # noqa: F401  likewise
from spore.train.metrics import Loss, get_metrics
from spore.train.progress import Progress

__all__ = ['Model']

_KWARGS = ('loss_scale_manager', 'keep_batchnorm_fp32', 'boost_config_dict', 'acc_level')
_OLD_METHODS = {'begin', 'end', 'epoch_begin', 'epoch_end', 'step_begin', 'step_end'}


class Model:
    """Brings a network, a loss function and an optimizer together.

    Args:
        network: the network; without ``loss_fn`` it returns the loss itself.
        loss_fn: the loss function, a Cell.
        optimizer: the optimizer.
        metrics: what to compute in evaluation: a set of names, or a dict from names to Metrics.
        eval_network: the network for evaluation, if it is another one.
        eval_indexes: where in its output loss, prediction and label stand.
        amp_level: of mixed precision, see amp.auto_mixed_precision.
        boost_level: 'O0'; 'O1' and 'O2' train as 'O0' does, and a warning says so.
        loss_scale_manager, keep_batchnorm_fp32: see amp.build_train_network.

    ``history`` is a dict of what the epochs of the last training gave, a column a list: epoch, loss (the mean of its steps), seconds and,
    after ``fit``, the results of evaluations. It is made for ``pandas.DataFrame(model.history)`` and ``model.history.plot("curves.png")``.

    Training and evaluation show how far they are: a bar on a terminal and in a notebook, lines elsewhere, all on the standard error.
    ``train.set_progress(False)`` or SPORE_PROGRESS=off silences them.

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import nn, dataset
        >>> from spore.train import Model, LossMonitor
        >>> columns = np.ones((4, 3), 'float32'), np.zeros((4, 1), 'float32')
        >>> data = dataset.NumpySlicesDataset(columns, ['x', 'y'], shuffle=False)
        >>> net = nn.Dense(3, 1, weight_init='ones', bias_init='zeros')
        >>> model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.125), metrics={'mse'})
        >>> model.train(1, data.batch(2), callbacks=LossMonitor())
        epoch: 1 step: 1, loss is 9.0
        epoch: 1 step: 2, loss is 0.0
        >>> model.eval(data.batch(2))
        {'mse': 0.0}
    """

    def __getattr__(self, name):
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{absent('Model', name)}")

    def __init__(self, network, loss_fn=None, optimizer=None, metrics=None, eval_network=None, eval_indexes=None,
                 amp_level='O0',
                 boost_level='O0', **kwargs):
        if not isinstance(network, nn.Cell):
            raise TypeError(f"For 'Model', 'network' must be a Cell, but got {_type_name(network)}.")
        unknown = [name for name in kwargs if name not in _KWARGS]
        if unknown:
            raise ValueError(f"For 'Model', the further arguments are {list(_KWARGS)}, but got {unknown}.")
        if optimizer is None and amp_level != 'O0':
            raise ValueError(f"For 'Model', 'amp_level' {amp_level!r} needs an 'optimizer'.")
        self._network = network
        if loss_fn is not None and not callable(loss_fn):
            raise TypeError(f"For 'Model', 'loss_fn' must be a Cell or a function, but got {_type_name(loss_fn)}.")
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._metrics = metrics
        self._amp_level = amp_level
        self._boost_level = kwargs.get('acc_level', boost_level)
        self._loss_scale_manager = kwargs.get('loss_scale_manager')
        self._amp_config = {name: kwargs[name] for name in ('loss_scale_manager', 'keep_batchnorm_fp32')
                            if name in kwargs}
        self._parallel_mode = get_auto_parallel_context('parallel_mode')
        self._device_number = get_auto_parallel_context('device_num')
        self._train_network = self._make_train_network()
        self._eval_network = eval_network
        self._eval_indexes = None
        self._make_eval_network(metrics, eval_network, eval_indexes)
        self._predict_network = network
        self._current_epoch_num = 0
        self._current_step_num = 0
        self.batch_num = -1
        self._is_train = None
        self.history = TrainHistory()

    @property
    def train_network(self):
        """The Cell that does a step of training."""
        return self._train_network

    @property
    def predict_network(self):
        """The network that predicts."""
        return self._predict_network

    @property
    def eval_network(self):
        """The network of evaluation; None without metrics."""
        return self._eval_network

    # --- networks ----------------------------------------------------------------------------------------------------

    def _make_train_network(self):
        if self._loss_scale_manager is not None and self._optimizer is None:
            raise ValueError("For 'Model', 'loss_scale_manager' needs an 'optimizer'.")
        if self._optimizer is not None:
            return amp.build_train_network(self._network, self._optimizer, self._loss_fn, level=self._amp_level,
                                           boost_level=self._boost_level, **self._amp_config)
        return nn.WithLossCell(self._network, self._loss_fn) if self._loss_fn is not None else self._network

    def _make_eval_network(self, metrics, eval_network, eval_indexes):
        self._metric_fns = get_metrics(metrics)
        if not self._metric_fns:
            return
        if eval_network is not None:
            if eval_indexes is not None and not (isinstance(eval_indexes, list) and len(eval_indexes) == 3):
                raise ValueError(f"For 'Model', 'eval_indexes' must be None or a list of three ints, but got "
                                 f"{eval_indexes}.")
            self._eval_indexes = eval_indexes
            return
        if self._loss_fn is None:
            raise ValueError("For 'Model', 'metrics' needs a 'loss_fn' or an 'eval_network'.")
        self._eval_network = nn.WithEvalCell(self._network, self._loss_fn, self._amp_level in ('O2', 'O3', 'auto'))
        self._eval_indexes = [0, 1, 2]

    def _set_mode(self, network, is_train):
        if self._is_train != is_train:
            network.set_train(is_train)
            self._is_train = is_train

    # --- training ----------------------------------------------------------------------------------------------------

    def train(self, epoch, train_dataset, callbacks=None, dataset_sink_mode=False, sink_size=-1, initial_epoch=0):
        """Train for some epochs.

        Args:
            epoch: number of the last epoch.
            train_dataset: the data; with a ``loss_fn`` it has two columns, data and label.
            callbacks: a Callback or a list of them.
            dataset_sink_mode: accepted; data is read step by step.
            sink_size: with dataset_sink_mode, steps in an epoch.
            initial_epoch: number of epochs that are done already.
        """
        self._check_run('train', epoch, train_dataset, dataset_sink_mode, sink_size, initial_epoch)
        self._run(epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, None, 1)

    def fit(self, epoch, train_dataset, valid_dataset=None, valid_frequency=1, callbacks=None, dataset_sink_mode=False,
            valid_dataset_sink_mode=False, sink_size=-1, initial_epoch=0):
        """Train, and evaluate along the way.

        Args:
            epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch: as for train.
            valid_dataset: data of the evaluations.
            valid_frequency: evaluate every so many epochs, or after the epochs in this list.
            valid_dataset_sink_mode: accepted.
        """
        self._check_run('fit', epoch, train_dataset, dataset_sink_mode, sink_size, initial_epoch)
        _want_bool('fit', 'valid_dataset_sink_mode', valid_dataset_sink_mode)
        if not isinstance(valid_frequency, (int, list)):
            raise TypeError(f"For 'Model.fit', 'valid_frequency' must be an int or a list, but got "
                            f"{_type_name(valid_frequency)}.")
        if valid_dataset is not None and not self._metric_fns:
            raise ValueError("For 'Model.fit', 'valid_dataset' needs a Model with 'metrics'.")
        for callback in _listed(callbacks):
            old = _OLD_METHODS & set(type(callback).__dict__)
            if old and not type(callback).__module__.startswith(('spore.train.', 'mindspore.train.')):
                raise ValueError(f"For 'Model.fit', the callback {_type_name(callback)} has the methods "
                                 f"{sorted(old)}; name them "
                                 "with 'on_train_' or 'on_eval_' in front, since fit does both.")
        self._run(epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, valid_dataset,
                  valid_frequency)

    def infer_predict_layout(self, *predict_data, skip_backend_compile=False):
        """How automatic parallelism would lay out the parameters for prediction; an error on one process."""
        raise RuntimeError("For 'Model.infer_predict_layout', the parallel mode must be 'semi_auto_parallel' or 'auto_parallel', "
                           f"but it is {self._parallel_mode!r}.")

    def infer_train_layout(self, train_dataset, dataset_sink_mode=True, sink_size=-1):
        """How automatic parallelism would lay out the parameters for training; an error on one process."""
        raise RuntimeError("For 'Model.infer_train_layout', the parallel mode must be 'semi_auto_parallel' or 'auto_parallel', "
                           f"but it is {self._parallel_mode!r}.")

    @staticmethod
    def _check_run(name, epoch, dataset, sink_mode, sink_size, initial_epoch):
        _want_bool(name, 'dataset_sink_mode', sink_mode)
        for what, value, least in (('epoch', epoch, 1), ('initial_epoch', initial_epoch, 0),
                                   ('sink_size', sink_size, -1)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"For 'Model.{name}', '{what}' must be an int, but got {_type_name(value)}.")
            if value < least:
                raise ValueError(f"For 'Model.{name}', '{what}' must be at least {least}, but got {value}.")
        if initial_epoch >= epoch:
            raise ValueError(f"For 'Model.{name}', 'epoch' must be greater than 'initial_epoch', but got {epoch} and "
                             f"{initial_epoch}.")
        if sink_size == 0:
            raise ValueError(f"For 'Model.{name}', 'sink_size' must be -1 or above 0, but got 0.")
        if not hasattr(dataset, 'get_dataset_size'):
            raise TypeError(f"For 'Model.{name}', 'train_dataset' must be a Dataset, but got {_type_name(dataset)}.")
        if dataset.get_dataset_size() == 0:
            raise ValueError(f"For 'Model.{name}', the dataset holds no data.")

    def _run(self, epoch, dataset, callbacks, sink_mode, sink_size, initial_epoch, valid_dataset, valid_frequency):
        params = _InternalCallbackParam()
        params.cur_step_num = 0
        params.train_network = self._train_network
        params.epoch_num = epoch - initial_epoch
        params.batch_num = sink_size if sink_mode and sink_size > 0 else dataset.get_dataset_size()
        self.batch_num = params.batch_num
        params.mode = 'train'
        params.loss_fn = self._loss_fn
        params.optimizer = self._optimizer
        params.parallel_mode = self._parallel_mode
        params.device_number = self._device_number
        params.train_dataset = dataset
        params.list_callback = _listed(callbacks)
        params.train_dataset_element = None
        params.network = self._network
        params.initial_step = 0
        params.last_save_ckpt_step = None
        params.latest_ckpt_file = None
        params.loss_scale_mananger = self._loss_scale_manager
        params.dataset_sink_mode = sink_mode
        params.sink_size = sink_size
        if initial_epoch == 0:
            self.history = TrainHistory()
        with Progress(params.list_callback) as progress, _CallbackManager(params.list_callback) as callback:
            try:
                self._epochs(epoch, dataset, callback, params, initial_epoch, valid_dataset, valid_frequency, progress)
            except BaseException:
                for saver in params.list_callback:
                    if isinstance(saver, ModelCheckpoint):
                        saver.save_after_exception(params, self._current_epoch_num, self._current_step_num)
                raise

    def _epochs(self, epoch, dataset, callback, params, initial_epoch, valid_dataset, valid_frequency, progress):
        helper = DatasetHelper(dataset, params.dataset_sink_mode, params.sink_size, epoch)
        done = initial_epoch * params.batch_num
        if _restart.attempt():
            done = max(done, self._go_on(params))
            initial_epoch = done // params.batch_num
            params.cur_step_num = done if done else params.cur_step_num
        helper.continue_after(done)
        self._is_train = None
        run = RunContext(params)
        callback.on_train_begin(run)
        for number in range(initial_epoch + 1, epoch + 1):
            params.cur_epoch_num = self._current_epoch_num = number
            self._current_step_num = 0
            callback.on_train_epoch_begin(run)
            progress.begin(f'epoch {number}/{epoch}', params.batch_num)
            began, losses = time.perf_counter(), _Mean()
            for row in helper:
                self._step(row, callback, params, run)
                progress.step(loss=losses.add(params.net_outputs))
                if run.get_stop_requested():
                    break
            seconds = time.perf_counter() - began
            if valid_dataset is not None and _is_turn(number, valid_frequency):
                self._eval_in_fit(valid_dataset, callback, params, progress)
            found = params.get('eval_results') or {}
            found = {f'eval_{name}' if name in ('epoch', 'loss', 'seconds') else name: value for name, value in found.items()}
            self.history.add({'epoch': number, 'loss': losses.mean, 'seconds': seconds, **found})
            progress.end({'loss': losses.mean, **found}, always=number in (initial_epoch + 1, epoch) or run.get_stop_requested())
            _reset(dataset)
            callback.on_train_epoch_end(run)
            params.pop('metrics', None)
            params.pop('eval_results', None)
            if run.get_stop_requested():
                break
        callback.on_train_end(run)

    def _go_on(self, params):
        """Of a job that was begun again: steps that are done."""
        if params.sink_size > 0 and params.dataset_sink_mode:
            raise RuntimeError("msrun --restarts: a training with sink_size cannot go on in the middle; leave sink_size out")
        savers = [saver for saver in params.list_callback if isinstance(saver, ModelCheckpoint)]
        return _restart.begin(savers[0] if savers else None, self._train_network, params.batch_num)

    def _step(self, row, callback, params, run):
        if self._loss_fn is not None and len(row) != 2:
            raise ValueError(f"For 'Model.train' with a 'loss_fn', the dataset must give two columns, data and label, "
                             "but it gives "
                             f"{len(row)}.")
        params.cur_step_num += 1
        self._current_step_num = (params.cur_step_num - 1) % params.batch_num + 1
        params.train_dataset_element = row
        callback.on_train_step_begin(run)
        self._set_mode(self._train_network, True)
        outputs = self._train_network(*row)
        params.net_outputs = outputs
        manager = self._loss_scale_manager
        if manager is not None and manager.get_drop_overflow_update():
            manager.update_loss_scale(bool(outputs[1].asnumpy().all()))
        callback.on_train_step_end(run)

    # --- evaluation --------------------------------------------------------------------------------------------------

    def _eval_in_fit(self, dataset, callback, params, progress):
        """Evaluate between epochs; the parameters of training are put back after."""
        kept = {name: params[name] for name in ('cur_step_num', 'batch_num', 'dataset_sink_mode', 'net_outputs')}
        for_eval = [c for c in callback._callbacks
                    if isinstance(c, TimeMonitor) or not type(c).__module__.startswith(('spore.train.callback', 'mindspore.train.callback'))
                    or type(c).__name__ == 'LambdaCallback']
        params.eval_network = self._eval_network
        params.valid_dataset = dataset
        params.batch_num = dataset.get_dataset_size()
        params.mode = 'eval'
        params.cur_step_num = 0
        epoch = progress.begin('eval', params.batch_num)
        with _CallbackManager(for_eval) as inner:
            self._evaluate(dataset, inner, params, progress, with_loss=True)
        progress.resume(epoch)
        params.mode = 'train'
        params.update(kept)

    def eval(self, valid_dataset, callbacks=None, dataset_sink_mode=False):
        """Evaluate: a dict with the value of each metric.

        Args:
            valid_dataset: the data.
            callbacks: a Callback or a list of them.
            dataset_sink_mode: accepted.
        """
        _want_bool('eval', 'dataset_sink_mode', dataset_sink_mode)
        if not self._metric_fns:
            raise ValueError("For 'Model.eval', the Model must have 'metrics'.")
        if not hasattr(valid_dataset, 'get_dataset_size'):
            raise TypeError(f"For 'Model.eval', 'valid_dataset' must be a Dataset, but got "
                            f"{_type_name(valid_dataset)}.")
        params = _InternalCallbackParam()
        params.eval_network = self._eval_network
        params.valid_dataset = valid_dataset
        params.batch_num = valid_dataset.get_dataset_size()
        params.mode = 'eval'
        params.cur_step_num = 0
        params.list_callback = _listed(callbacks)
        params.network = self._network
        with Progress(params.list_callback) as progress, _CallbackManager(params.list_callback) as callback:
            progress.begin('eval', params.batch_num)
            found = self._evaluate(valid_dataset, callback, params, progress)
            progress.end(found)
            return found

    def _evaluate(self, dataset, callback, params, progress, with_loss=False):
        for metric in self._metric_fns.values():
            metric.clear()
        run = RunContext(params)
        params.dataset_sink_mode = False
        callback.on_eval_begin(run)
        self._is_train = None
        losses = Loss()
        losses.clear()
        callback.on_eval_epoch_begin(run)
        for row in DatasetHelper(dataset, False):
            params.cur_step_num += 1
            params.eval_dataset_element = row
            callback.on_eval_step_begin(run)
            self._set_mode(self._eval_network, False)
            outputs = self._eval_network(*row)
            params.net_outputs = outputs
            callback.on_eval_step_end(run)
            self._update_metrics(outputs)
            progress.step()
            if with_loss and self._eval_indexes is not None:
                losses.update(outputs[self._eval_indexes[0]])
            if run.get_stop_requested():
                break
        self._is_train = None
        callback.on_eval_epoch_end(run)
        _reset(dataset)
        metrics = {name: metric.eval() for name, metric in self._metric_fns.items()}
        params.metrics = metrics
        if with_loss:
            params.eval_results = copy.deepcopy(metrics)
            if self._eval_indexes is not None:
                params.eval_results['eval_loss'] = losses.eval()
        callback.on_eval_end(run)
        return metrics

    def _update_metrics(self, outputs):
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        if not isinstance(outputs, tuple):
            raise ValueError(f"For 'Model.eval', the evaluation network must return Tensors, but got "
                             f"{_type_name(outputs)}.")
        at = self._eval_indexes
        if at is not None and len(outputs) < 3:
            raise ValueError(f"For 'Model.eval', the evaluation network must return loss, prediction and label, but it "
                             "returns "
                             f"{len(outputs)} values.")
        for metric in self._metric_fns.values():
            if at is None:
                metric.update(*outputs)
            elif isinstance(metric, Loss):
                metric.update(outputs[at[0]])
            else:
                metric.update(outputs[at[1]], outputs[at[2]])

    # --- prediction --------------------------------------------------------------------------------------------------

    def predict(self, *predict_data, backend=None, config=None):
        """The network's output for inputs, in evaluation mode.

        Args:
            predict_data: the inputs, Tensors or tuples of them.
            backend, config: accepted as None.
        """
        if backend is not None:
            raise ValueError(f"For 'Model.predict', 'backend' must be None, but got {backend!r}.")
        if config is not None:
            not_done("Model.predict: config", "it is for another backend")
        for value in predict_data:
            if not isinstance(value, (Tensor, list, tuple, int, float, str, dict)) and value is not None:
                raise TypeError(f"For 'Model.predict', the inputs must be Tensors or numbers, but got "
                                f"{_type_name(value)}.")
        self._predict_network.set_train(False)
        self._is_train = None
        return self._predict_network(*predict_data)

    def build(self, train_dataset=None, valid_dataset=None, sink_size=-1, epoch=1, sink_mode=True):
        """Accepted: there is nothing to prepare before the first step."""
        if train_dataset is None and valid_dataset is None:
            raise ValueError("For 'Model.build', 'train_dataset' or 'valid_dataset' must be given.")


def _transfer_tensor_to_tuple(inputs):
    """A row of a dataset as a tuple: of one Tensor if it is one. Loops of packages go over their data with it."""
    return (inputs,) if isinstance(inputs, Tensor) else inputs


class _StepSync(Callback):
    """Waits for the device at the end of every step: operators have run when their call returns, so there is nothing to wait for."""

    @staticmethod
    def step_end(run_context):
        pass


class _Mean:
    """The mean of the losses of an epoch; NaN where a network returns none."""

    def __init__(self):
        self._sum, self._count, self.mean = 0.0, 0, math.nan

    def add(self, outputs):
        """Take what a step returned; answers the mean so far."""
        while isinstance(outputs, (tuple, list)) and outputs:
            outputs = outputs[0]
        if isinstance(outputs, Tensor) and outputs.size and outputs.dtype.is_floating_point:
            self._sum += float(outputs) if outputs.size == 1 else float(outputs.mean())
            self._count += 1
            self.mean = self._sum / self._count
        return self.mean


def _listed(callbacks):
    if callbacks is None:
        return []
    return list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]


def _want_bool(where, name, value):
    if not isinstance(value, bool):
        raise TypeError(f"For 'Model.{where}', '{name}' must be a bool, but got {_type_name(value)}.")


def _is_turn(epoch, frequency):
    return epoch % frequency == 0 if isinstance(frequency, int) else epoch in frequency


def _reset(dataset):
    if hasattr(dataset, 'reset'):
        dataset.reset()

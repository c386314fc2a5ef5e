# SPDX-License-Identifier: Apache-2.0
"""Callbacks that write records for a viewer."""
import re
import time
import warnings

import numpy as np

from spore import runtime
from spore._core import Tensor
from spore._not_done import not_done
from spore.train._utils import _make_directory, check_value_type
from spore.train.callback._callback import Callback

__all__ = ['SummaryCollector', 'SummaryLandscape']

_warned = set()


def _say(name):
    if name not in _warned:
        _warned.add(name)
        warnings.warn(f"{name} is accepted, but no summary files are written", stacklevel=3)


class SummaryCollector(Callback):
    """Writes the loss, histograms of Parameters, pictures among the inputs and what summary operators record to event files, every
    ``collect_freq`` steps; see SummaryRecord. The file for TensorBoard has, besides, the time of steps and the memory in use, results of
    evaluations in ``Model.fit``, the network's graph and the settings of the training.

    Args:
        summary_dir: folder of the file.
        collect_freq: how often.
        num_process: accepted; the process itself writes.
        collect_specified_data: dict that says what is collected: ``collect_metric`` (the loss), ``collect_input_data`` (pictures),
            ``collect_graph``, ``collect_train_lineage`` (settings) and ``histogram_regular`` (pattern of the
            names of Parameters; None: the first five). MindInsight's files of lineage are not written.
        keep_default_action: whether what the dict does not say is collected.
        custom_lineage_data: dict of further settings of the training.
        collect_tensor_freq: accepted.
        max_file_size, export_options, form: see SummaryRecord.

    Examples:
        >>> import tempfile
        >>> from spore import train
        >>> collector = train.SummaryCollector(summary_dir=tempfile.mkdtemp(), collect_freq=1)
    """

    _DEFAULT_SPECIFIED_DATA = {
        'collect_metric': True, 'collect_graph': True, 'collect_train_lineage': True, 'collect_eval_lineage': True,
        'collect_input_data': True, 'collect_dataset_graph': True, 'histogram_regular': None,
        'collect_landscape': {'landscape_size': 40, 'unit': 'step', 'num_samples': 2048,
                              'create_landscape': {'train': True, 'result': True},
                              'intervals': [[1, 2, 3, 4, 5, 6, 7, 8, 9], [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]]}}

    def __init__(self, summary_dir, collect_freq=10, num_process=32, collect_specified_data=None, keep_default_action=True,
                 custom_lineage_data=None, collect_tensor_freq=None, max_file_size=None, export_options=None, form=None):
        super().__init__()
        summary_dir = _make_directory(summary_dir, 'summary_dir')
        check_value_type('collect_freq', collect_freq, int)
        if collect_freq < 1:
            raise ValueError(f'For "SummaryCollector", the value of `collect_freq` should be greater than 0, but got `{collect_freq}`.')
        check_value_type('keep_default_action', keep_default_action, bool)
        check_value_type('export_options', export_options, [dict, type(None)])
        asked = dict(self._checked_data(collect_specified_data))
        self._check_lineage(custom_lineage_data)
        self.summary_dir, self._freq, self._asked, self._default = summary_dir, collect_freq, asked, keep_default_action
        self._options, self._record = {'max_file_size': max_file_size, 'export_options': export_options, 'form': form}, None
        self._temp_optimizer, self._lineage = None, dict(custom_lineage_data or {})
        self._clock, self._timed = None, 0
        if collect_tensor_freq is not None:
            not_done('SummaryCollector: collect_tensor_freq', 'tensors are written with collect_freq')

    @classmethod
    def _checked_data(cls, data):
        """What is to be collected, a dict."""
        check_value_type('collect_specified_data', data, [dict, type(None)])
        data = data or {}
        for name in data:
            check_value_type(name, name, str)
        unknown = set(data) - set(cls._DEFAULT_SPECIFIED_DATA)
        if unknown:
            raise ValueError(f'For "SummaryCollector", the keys {unknown} of `collect_specified_data` are unsupported, expect the '
                             f'follow keys: {list(cls._DEFAULT_SPECIFIED_DATA)}.')
        for name, value in data.items():
            if name == 'histogram_regular':
                check_value_type(name, value, [str, type(None)])
                try:
                    re.compile(value or '')
                except re.error as error:
                    raise ValueError(f"For `collect_specified_data`, the value of `histogram_regular` is not a valid regular "
                                     f"expression. Detail: {error}.") from None
            elif name != 'collect_landscape':
                check_value_type(name, value, bool)
        return data

    @staticmethod
    def _check_lineage(data):
        check_value_type('custom_lineage_data', data, [dict, type(None)])
        for name, value in (data or {}).items():
            check_value_type(f'custom_lineage_data -> {name}', name, str)
            check_value_type(f'the value of custom_lineage_data -> {name}', value, [int, str, float])

    def _check_callbacks(self, cb_params):
        """One collector is enough for a training."""
        if sum(isinstance(one, SummaryCollector) for one in cb_params.list_callback) > 1:
            raise ValueError("For 'SummaryCollector', there must not be more than one SummaryCollector instance in callback list.")

    def _get_optimizer(self, cb_params):
        """The optimizer of the training, or the one in its network; None, and 'Failed' remembered, if there is none."""
        from spore.nn.optim.optimizer import Optimizer
        if self._temp_optimizer == 'Failed':
            return None
        if self._temp_optimizer is None:
            found = cb_params.get('optimizer')
            if found is None:
                network = cb_params.train_network if cb_params.mode == 'train' else cb_params.eval_network
                found = next((c for _, c in network.cells_and_names() if isinstance(c, Optimizer)), None)
            self._temp_optimizer = 'Failed' if found is None else found
        return None if self._temp_optimizer == 'Failed' else self._temp_optimizer

    def __enter__(self):
        from spore.train.summary.summary_record import SummaryRecord
        self._record = SummaryRecord(self.summary_dir, **self._options)
        return self

    def __exit__(self, *error):
        if self._record is not None:
            self._record.close()
            self._record = None
            self._clock = None

    def begin(self, run_context):
        """The file is opened."""
        if self._record is None:
            self.__enter__()
        self._record.set_mode(run_context.original_args().get('mode') or 'train')

    def step_end(self, run_context):
        """Values are written when it is their turn."""
        args = run_context.original_args()
        step = args.cur_step_num
        if self._record is None or args.get('mode') == 'eval' or (step != 1 and step % self._freq):
            return
        if self._wants('collect_input_data'):
            self._take_picture(args)
        if self._wants('collect_metric'):
            loss = args.net_outputs
            while isinstance(loss, (tuple, list)):
                loss = loss[0]
            if loss is not None and hasattr(loss, 'asnumpy'):
                self._record.add_value('scalar', 'loss/auto', loss.mean() if loss.size > 1 else loss)
        for parameter in self._chosen(args):
            self._record.add_value('histogram', parameter.name + '/auto', parameter)
        if step == 1:
            self._describe(args)
        self._take_time(step)
        self._record.record(step)

    def _wants(self, name):
        return self._asked.get(name, self._default)

    def _take_picture(self, args):
        row = args.get('train_dataset_element')
        first = row[0] if isinstance(row, (list, tuple)) and row else row
        if isinstance(first, Tensor) and first.ndim == 4 and first.shape[1] in (1, 3):
            self._record.add_value('image', 'input_data/auto', first)
        else:
            self._asked['collect_input_data'] = False
            from spore import log
            log.info("The input data of network are not image, so will not collect by SummaryCollector.")

    def _take_time(self, step):
        """Milliseconds of a step since the last record, and the memory that Tensors hold."""
        now = time.perf_counter()
        if self._clock is not None and step > self._timed:
            self._record._take('scalar', 'time/step_ms', np.float32((now - self._clock) * 1e3 / (step - self._timed)), 'tensorboard')
        self._clock, self._timed = now, step
        self._record._take('scalar', 'memory/MiB', np.float32(runtime.memory_allocated() / 2**20), 'tensorboard')

    def _describe(self, args):
        """What a training is: its graph and settings."""
        if self._wants('collect_train_lineage'):
            self._record.add_hparams(self._settings(args), ['loss/auto'])
        if not self._wants('collect_graph'):
            return
        row = args.train_dataset_element
        inputs = row[:1] if args.get('loss_fn') is not None else row
        try:
            self._record.add_graph(args.network, *inputs)
        except Exception as error:      # whatever a network's code raises while it is looked at must not end its training
            from spore import log
            log.info("SummaryCollector: the graph is not written: %s", str(error).splitlines()[0] if str(error) else type(error).__name__)

    def _settings(self, args):
        """Names and values of what was chosen for the training."""
        found = {'network': type(args.network).__name__, 'epochs': args.epoch_num, 'steps_per_epoch': args.batch_num}
        optimizer = self._get_optimizer(args)
        if optimizer is not None:
            found['optimizer'] = type(optimizer).__name__
            rate = getattr(optimizer, 'learning_rate', None)
            if isinstance(rate, Tensor) and rate.size == 1:
                found['learning_rate'] = float(rate.asnumpy().reshape(-1)[0])
        if args.get('loss_fn') is not None:
            found['loss_fn'] = type(args.loss_fn).__name__
        first = args.train_dataset_element[0]
        if isinstance(first, Tensor) and first.ndim:
            found['batch_size'] = first.shape[0]
        return {**found, **self._lineage}

    def on_train_epoch_end(self, run_context):
        """Results of an evaluation in Model.fit are written."""
        args = run_context.original_args()
        for name, value in (args.get('eval_results') or {}).items():
            if self._record is not None and np.size(value) == 1:
                self._record._take('scalar', f'eval/{name}', np.asarray(value), 'tensorboard')
        if self._record is not None and args.get('eval_results'):
            self._record.record(args.cur_step_num)

    def _chosen(self, args):
        """Parameters that get a histogram: of those that are trained."""
        optimizer = self._get_optimizer(args)
        if optimizer is None or not ('histogram_regular' in self._asked or self._default):
            return []
        pattern = self._asked.get('histogram_regular')
        parameters = list(optimizer.parameters)
        return parameters[:5] if pattern is None else [p for p in parameters if re.match(pattern, p.name)]

    def end(self, run_context):
        """The file is closed."""
        self.__exit__()


class SummaryLandscape:
    """Accepted; writes nothing.

    Args:
        summary_dir: where the files would be.

    Examples:
        >>> from spore import train
        >>> train.SummaryLandscape("summary").summary_dir
        'summary'
    """

    def __init__(self, summary_dir):
        self.summary_dir = summary_dir
        _say('SummaryLandscape')

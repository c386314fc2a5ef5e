# SPDX-License-Identifier: Apache-2.0
"""Callbacks that write records for a viewer."""
import warnings

from spore.train.callback._callback import Callback

__all__ = ['SummaryCollector', 'SummaryLandscape']

_warned = set()


def _say(name):
    if name not in _warned:
        _warned.add(name)
        warnings.warn(f"{name} is accepted, but no summary files are written", stacklevel=3)


class SummaryCollector(Callback):
    """Writes the loss, histograms of Parameters and what summary operators record to an event file, every ``collect_freq`` steps.

    Args:
        summary_dir: folder of the file.
        collect_freq: how often.
        num_process: accepted; the process itself writes.
        collect_specified_data: dict that says what is collected: ``collect_metric`` (the loss) and ``histogram_regular`` (pattern of the
            names of Parameters; None: the first five). Graphs, lineage and input data are accepted and not collected.
        keep_default_action: whether what the dict does not say is collected.
        custom_lineage_data, collect_tensor_freq: accepted.
        max_file_size, export_options: see SummaryRecord.

    Examples:
        >>> import tempfile
        >>> from spore import train
        >>> collector = train.SummaryCollector(summary_dir=tempfile.mkdtemp(), collect_freq=1)
    """

    _KNOWN = ('collect_metric', 'collect_graph', 'collect_train_lineage', 'collect_eval_lineage', 'collect_input_data',
              'collect_dataset_graph', 'histogram_regular', 'collect_landscape')

    def __init__(self, summary_dir, collect_freq=10, num_process=32, collect_specified_data=None, keep_default_action=True,
                 custom_lineage_data=None, collect_tensor_freq=None, max_file_size=None, export_options=None):
        super().__init__()
        if not isinstance(summary_dir, str):
            raise TypeError(f"For 'SummaryCollector', 'summary_dir' must be a str, but got {type(summary_dir)}.")
        if isinstance(collect_freq, bool) or not isinstance(collect_freq, int):
            raise TypeError(f"For 'SummaryCollector', 'collect_freq' must be int, but got {type(collect_freq)}.")
        if collect_freq < 1:
            raise ValueError(f"For 'SummaryCollector', 'collect_freq' must be at least 1, but got {collect_freq}.")
        if collect_specified_data is not None and not isinstance(collect_specified_data, dict):
            raise TypeError(f"For 'SummaryCollector', 'collect_specified_data' must be a dict, but got {type(collect_specified_data)}.")
        asked = dict(collect_specified_data or {})
        unknown = set(asked) - set(self._KNOWN)
        if unknown:
            raise ValueError(f"For 'SummaryCollector', 'collect_specified_data' knows {list(self._KNOWN)}, but got {sorted(unknown)}.")
        self.summary_dir, self._freq, self._asked, self._default = summary_dir, collect_freq, asked, keep_default_action
        self._options, self._record = {'max_file_size': max_file_size, 'export_options': export_options}, None

    def __enter__(self):
        from spore.train.summary.summary_record import SummaryRecord
        self._record = SummaryRecord(self.summary_dir, **self._options)
        return self

    def __exit__(self, *error):
        if self._record is not None:
            self._record.close()
            self._record = None

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
        if self._asked.get('collect_metric', self._default):
            loss = args.net_outputs
            while isinstance(loss, (tuple, list)):
                loss = loss[0]
            if loss is not None and hasattr(loss, 'asnumpy'):
                self._record.add_value('scalar', 'loss/auto', loss.mean() if loss.size > 1 else loss)
        for parameter in self._chosen(args.train_network):
            self._record.add_value('histogram', parameter.name + '/auto', parameter)
        self._record.record(step)

    def _chosen(self, network):
        import re
        if network is None or not ('histogram_regular' in self._asked or self._default):
            return []
        pattern = self._asked.get('histogram_regular')
        parameters = network.trainable_params()
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

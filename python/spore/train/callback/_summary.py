# SPDX-License-Identifier: Apache-2.0
"""Callbacks that write records for a viewer. There is no viewer here: they are accepted and say so once."""
import warnings

from spore.train.callback._callback import Callback

__all__ = ['SummaryCollector', 'SummaryLandscape', 'SummaryRecord']

_warned = set()


def _say(name):
    if name not in _warned:
        _warned.add(name)
        warnings.warn(f"{name} is accepted, but no summary files are written", stacklevel=3)


class SummaryCollector(Callback):
    """Accepted; writes nothing.

    Args:
        summary_dir: where the files would be.

    Examples:
        >>> from spore import train
        >>> collector = train.SummaryCollector(summary_dir="summary", collect_freq=1)
        >>> collector.summary_dir
        'summary'
    """

    def __init__(self, summary_dir, collect_freq=10, num_process=32, collect_specified_data=None,
                 keep_default_action=True,
                 custom_lineage_data=None, collect_tensor_freq=None, max_file_size=None, export_options=None):
        super().__init__()
        self.summary_dir = summary_dir
        _say('SummaryCollector')


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


class SummaryRecord:
    """Accepted; writes nothing. Usable in a with statement.

    Args:
        log_dir: where the files would be.

    Examples:
        >>> from spore import train
        >>> with train.SummaryRecord(log_dir="summary") as record:
        ...     record.set_mode("eval")
        ...     record.mode
        ...
        'eval'
    """

    def __init__(self, log_dir, file_prefix='events', file_suffix='_MS', num_process=32, network=None,
                 max_file_size=None,
                 raise_exception=False, export_options=None):
        self.log_dir = log_dir
        self.mode = 'train'
        _say('SummaryRecord')

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def set_mode(self, mode):
        """Note whether values are of training or evaluation."""
        if mode not in ('train', 'eval'):
            raise ValueError(f"For 'SummaryRecord', 'mode' must be 'train' or 'eval', but got {mode!r}.")
        self.mode = mode

    def add_value(self, plugin, name, value):
        """Take a value; it is dropped."""

    def record(self, step, train_network=None, plugin_filter=None):
        """Write what was taken: nothing. True, as after writing."""
        return True

    def flush(self):
        """Nothing to write."""

    def close(self):
        """Nothing to close."""

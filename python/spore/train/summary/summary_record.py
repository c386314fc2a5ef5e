# SPDX-License-Identifier: Apache-2.0
"""SummaryRecord: values of a training, in event files for a viewer."""
import os
import re
import socket
import time

from spore._core import Tensor
from spore.train.summary import _events

__all__ = ['SummaryRecord']

_PLUGINS = ('tensor', 'scalar', 'image', 'histogram', 'train_lineage', 'eval_lineage', 'custom_lineage_data', 'dataset_graph', 'graph',
            'landscape')
_WRITERS = {'scalar': _events.scalar, 'tensor': _events.tensor, 'image': _events.image, 'histogram': _events.histogram}
_VERSION = 'MindSpore.Event:1'  # by which a viewer knows the files
_open = []


def _get_summary_tensor_data():
    """What summary operators recorded since the last time: {'tag[:Kind]': value}."""
    from spore.ops.values import take_summaries
    return {f'{tag}[:{kind}]': value for (kind, tag), value in take_summaries().items()}


class SummaryRecord:
    """Writes values of a training to an event file: those given to ``add_value``, and those that summary operators in the network
    recorded. One can be open at a time; use it in a with statement.

    Args:
        log_dir: folder of the file; it is made if it is not there.
        file_prefix, file_suffix: beginning and end of the file's name.
        num_process: accepted; the process itself writes.
        network: accepted; graphs are not written.
        max_file_size: how many bytes a file may have; then nothing more is written.
        raise_exception: whether a value that cannot be written is an error instead of a warning.
        export_options: accepted as None only.

    Examples:
        >>> import tempfile
        >>> from spore import Tensor, train
        >>> with train.SummaryRecord(log_dir=tempfile.mkdtemp()) as record:
        ...     record.add_value('scalar', 'loss', Tensor(0.1))
        ...     record.record(step=1)
        ...
        True
    """

    def __init__(self, log_dir, file_prefix='events', file_suffix='_MS', num_process=32, network=None, max_file_size=None,
                 raise_exception=False, export_options=None):
        self._closed, self._mode, self._values = True, 'train', []
        if not isinstance(log_dir, str):
            raise TypeError('The log_dir is invalid, the type should be string.')
        if not log_dir.strip():
            raise ValueError('The log_dir is invalid, it should be non-blank.')
        if not isinstance(file_prefix, str) or not isinstance(file_suffix, str):
            wrong = file_suffix if isinstance(file_prefix, str) else file_prefix
            raise TypeError(f"For 'SummaryRecord', `file_prefix` and `file_suffix`  should be str, but got type {type(wrong)}")
        for part in (file_prefix, file_suffix):
            if not re.fullmatch(r'\w+[0-9a-zA-Z_.]*', part, re.ASCII):
                raise ValueError(f"For 'SummaryRecord', {part!r} is illegal in a file's name: letters, digits, '_' and '.' are wanted.")
        if max_file_size is not None and (isinstance(max_file_size, bool) or not isinstance(max_file_size, (int, float))):
            raise TypeError(f"For 'SummaryRecord', 'max_file_size' must be a number, but got {type(max_file_size)}.")
        if max_file_size is not None and max_file_size <= 0:
            max_file_size = None
        if not isinstance(raise_exception, bool):
            raise TypeError(f"For 'SummaryRecord', 'raise_exception' must be a bool, but got {type(raise_exception)}.")
        if export_options is not None:
            raise NotImplementedError("For 'SummaryRecord', export_options must be None: Tensors are in the event file.")
        if _open:
            raise RuntimeError("For 'SummaryRecord', only one instance is supported in a training process, you are trying to create a new "
                               "one when the existing one is not closed; call its close(), or use it in a with statement.")
        folder = os.path.realpath(log_dir)
        os.makedirs(folder, exist_ok=True)
        name = f'{file_prefix}.out.events.summary.{int(time.time())}.0.{socket.gethostname()}{file_suffix}'
        self._path, self._limit, self._raise = os.path.join(folder, name), max_file_size, raise_exception
        self._file = open(self._path, 'wb')
        self._closed = False
        _open.append(self)
        self._write(_events.event(time.time(), version=_VERSION))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    @property
    def log_dir(self):
        """The path of the file."""
        return self._path

    @property
    def mode(self):
        """'train' or 'eval'."""
        return self._mode

    def set_mode(self, mode):
        """Note whether values are of training or evaluation."""
        if mode not in ('train', 'eval'):
            raise ValueError(f"For 'SummaryRecord', 'mode' must be 'train' or 'eval', but got {mode!r}.")
        self._mode = mode

    def add_value(self, plugin, name, value):
        """Take a value for the next record.

        Args:
            plugin: 'scalar', 'tensor', 'image' (batch, 1 or 3 channels, height, width) or 'histogram'.
            name: its tag.
            value: a Tensor.
        """
        if plugin not in _PLUGINS:
            raise ValueError(f'For "SummaryRecord.add_value", no such "plugin" of {plugin!r} , expect value is one of '
                             f"[{', '.join(_PLUGINS)}].")
        if not isinstance(name, str) or not name:
            raise ValueError(f"For 'SummaryRecord.add_value', 'name' must be a str that is not empty, but got {name!r}.")
        if plugin not in _WRITERS:
            return                       # graphs and lineage: for a viewer's other pages, which are not written
        if not isinstance(value, Tensor):
            raise TypeError(f"For 'SummaryRecord.add_value', 'value' must be a Tensor, but got {type(value)}.")
        if plugin == 'scalar' and value.size != 1:
            raise ValueError(f"For 'SummaryRecord.add_value', a scalar has one element, but the shape of {name!r} is {value.shape}.")
        self._values.append((plugin, name, value.asnumpy().copy()))

    def record(self, step, train_network=None, plugin_filter=None):
        """Write what was taken, and what summary operators recorded, for a step; True when that worked."""
        if self._closed:
            return False
        if isinstance(step, bool) or not isinstance(step, int):
            raise TypeError(f"For 'SummaryRecord.record', 'step' must be int, but got {type(step)}.")
        for key, value in _get_summary_tensor_data().items():
            tag, _, kind = key[:-1].rpartition('[:')
            if isinstance(value, Tensor):
                self._values.append((kind.lower(), tag, value.asnumpy().copy()))
        values, self._values = self._values, []
        summary = b''
        for plugin, name, array in values:
            if plugin_filter is not None and not plugin_filter(plugin):
                continue
            try:
                summary += _events.value(name, _WRITERS[plugin](array))
            except ValueError as error:
                if self._raise:
                    raise
                from spore import log
                log.warning("SummaryRecord: %r is left out: %s", name, error)
        return self._write(_events.event(time.time(), step, summary=summary)) if summary else True

    def _write(self, message):
        data = _events.record(message)
        if self._limit is not None and self._file.tell() + len(data) > self._limit:
            from spore import log
            log.warning("SummaryRecord: the file has reached max_file_size; nothing more is written to %s", self._path)
            return False
        self._file.write(data)
        return True

    def flush(self):
        """Bring what was written to the disk."""
        if not self._closed:
            self._file.flush()

    def close(self):
        """Close the file."""
        if not self._closed:
            self._closed = True
            self._file.close()
            _open.remove(self)

# SPDX-License-Identifier: Apache-2.0
"""SummaryRecord: values of a training, in event files for viewers: TensorBoard, MindInsight, `spore board`."""
import os
import re
import socket
import time

import numpy as np

from spore._core import Tensor, type_name as _type_name
from spore.train.summary import _events, _tensorboard

__all__ = ['SummaryRecord']

_PLUGINS = ('tensor', 'scalar', 'image', 'histogram', 'train_lineage', 'eval_lineage', 'custom_lineage_data', 'dataset_graph', 'graph',
            'landscape')
_FORMS = ('both', 'tensorboard', 'mindinsight')
_VERSION = 'MindSpore.Event:1'  # by which a viewer knows the files
_open = []


def _get_summary_tensor_data():
    """What summary operators recorded since the last time: {'tag[:Kind]': value}."""
    from spore.ops.effects import take_summaries
    return {f'{tag}[:{kind}]': value for (kind, tag), value in take_summaries().items()}


class _EventFile:
    """A file that is being written, in the form of one viewer."""

    def __init__(self, path, version, writers, limit):
        self.path, self.writers, self._limit = path, writers, limit
        self._file = open(path, 'wb')
        self.write(_events.event(time.time(), version=version))
        self._file.flush()

    def write(self, message):
        """Add a message; False when the file is full."""
        data = _events.record(message)
        if self._limit is not None and self._file.tell() + len(data) > self._limit:
            from spore import log
            log.warning("SummaryRecord: the file has reached max_file_size; nothing more is written to %s", self.path)
            return False
        self._file.write(data)
        return True

    def flush(self):
        """Bring what was written to the disk."""
        self._file.flush()

    def close(self):
        """Close the file."""
        self._file.close()


class SummaryRecord:
    """Writes values of a training to event files, which TensorBoard, MindInsight and `spore board` show: those given to ``add_value``, and
    those that summary operators in the network recorded. One can be open at a time; use it in a with statement.

    There is a file for each viewer in the folder, under the names that they look for.

    Args:
        log_dir: folder of the file; it is made if it is not there.
        file_prefix, file_suffix: beginning and end of the file's name.
        num_process: accepted; the process itself writes.
        network: a Cell; once graph mode has compiled it, its graph is written for TensorBoard.
        max_file_size: how many bytes a file may have; then nothing more is written.
        raise_exception: whether a value that cannot be written is an error instead of a warning.
        export_options: accepted as None only.
        form: 'tensorboard', 'mindinsight' or 'both'; None: what the environment variable SPORE_SUMMARY says, or 'both'.

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
                 raise_exception=False, export_options=None, form=None):
        self._closed, self._mode, self._values = True, 'train', []
        form = _checked_form(form)
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
        self._folder, self._raise, self._files = folder, raise_exception, {}
        seconds, host = int(time.time()), socket.gethostname()
        if form != 'tensorboard':
            name = f'{file_prefix}.out.events.summary.{seconds}.0.{host}{file_suffix}'
            self._files['mindinsight'] = _EventFile(os.path.join(folder, name), _VERSION, _events.WRITERS, max_file_size)
        if form != 'mindinsight':
            name = _tensorboard.file_name(file_prefix, seconds, host)
            self._files['tensorboard'] = _EventFile(os.path.join(folder, name), _tensorboard.VERSION, _tensorboard.WRITERS, max_file_size)
        self._network, self._has_settings = network, False
        self._closed = False
        _open.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    @property
    def log_dir(self):
        """The path of the file; of that for MindInsight, if there are two."""
        return next(iter(self._files.values())).path

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
        if plugin not in _events.WRITERS:
            return                       # graphs and lineage: for a viewer's other pages, which are not written
        if not isinstance(value, Tensor):
            raise TypeError(f"For 'SummaryRecord.add_value', 'value' must be a Tensor, but got {type(value)}.")
        if plugin == 'scalar' and value.size != 1:
            raise ValueError(f"For 'SummaryRecord.add_value', a scalar has one element, but the shape of {name!r} is {value.shape}.")
        self._take(plugin, name, value.asnumpy().copy())

    def _take(self, plugin, name, value, only=None):
        """Keep a value for the next record; `only`: for one viewer."""
        self._values.append((plugin, name, value, only))

    def add_text(self, name, text):
        """Take a text, which may be Markdown, for the next record. MindInsight's file has no texts.

        Args:
            name: its tag.
            text: the text.
        """
        for what, value in (('name', name), ('text', text)):
            if not isinstance(value, str):
                raise TypeError(f"For 'SummaryRecord.add_text', {what!r} must be a str, but got {_type_name(value)}.")
        self._take('text', name, text)

    def add_hparams(self, settings, metrics=()):
        """Write the settings of this training, by which TensorBoard compares runs. MindInsight's file has none.

        Args:
            settings: a dict from names to numbers, bools or texts.
            metrics: tags of scalars that tell how good a training is.
        """
        if not isinstance(settings, dict):
            raise TypeError(f"For 'SummaryRecord.add_hparams', 'settings' must be a dict, but got {_type_name(settings)}.")
        for name, value in settings.items():
            if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
                raise TypeError(f"For 'SummaryRecord.add_hparams', 'settings' must have names and numbers, bools or texts, but got "
                                f"{name!r}: {_type_name(value)}.")
        if 'tensorboard' in self._files and not self._closed:
            now = time.time()
            self._has_settings = True
            self._files['tensorboard'].write(_events.event(now, 0, summary=_tensorboard.hparams(settings, metrics, now)))

    def add_graph(self, network, *inputs):
        """Write the graph that a Cell is for given inputs, operator by operator with lines of its source. MindInsight's file has none.

        Args:
            network: a Cell.
            inputs: Tensors like those that it is called with; nothing is computed.
        """
        if 'tensorboard' in self._files and not self._closed:
            from spore.train._export import capture
            self._write_graph(capture(network, inputs)[0], network)

    def _write_graph(self, graph, network):
        from spore._core import graph_text, graph_variables, handle_id
        names = {handle_id(parameter): parameter.name for parameter in network.get_parameters()}
        names = [names.get(number, k) for k, number in enumerate(graph_variables(graph))]
        self._files['tensorboard'].write(_events.event(time.time(), 0, graph=_tensorboard.graph(graph_text(graph), names)))

    def add_embedding(self, name, vectors, labels=None):
        """Write vectors for TensorBoard's projector: files beside the event file.

        Args:
            name: what they are called.
            vectors: a Tensor, a vector a row.
            labels: a list with a word for each.
        """
        array = vectors.asnumpy() if isinstance(vectors, Tensor) else np.asarray(vectors)
        if array.ndim != 2:
            raise ValueError(f"For 'SummaryRecord.add_embedding', 'vectors' must have two axes, but its shape is {array.shape}.")
        if labels is not None and len(labels) != len(array):
            raise ValueError(f"For 'SummaryRecord.add_embedding', there must be a label for each of {len(array)} vectors, but there are "
                             f"{len(labels)}.")
        _tensorboard.add_embedding(self._folder, name, array, labels)

    def record(self, step, train_network=None, plugin_filter=None):
        """Write what was taken, and what summary operators recorded, for a step; True when that worked."""
        if self._closed:
            return False
        if isinstance(step, bool) or not isinstance(step, int):
            raise TypeError(f"For 'SummaryRecord.record', 'step' must be int, but got {type(step)}.")
        for key, value in _get_summary_tensor_data().items():
            tag, _, kind = key[:-1].rpartition('[:')
            if isinstance(value, Tensor):
                self._take(kind.lower(), tag, value.asnumpy().copy())
        values, self._values = self._values, []
        summaries = dict.fromkeys(self._files, b'')
        for plugin, name, value, only in values:
            if plugin_filter is None or plugin_filter(plugin):
                self._put(summaries, plugin, name, value, only)
        self._graph_of_network()
        now, written = time.time(), True
        for form, summary in summaries.items():
            if summary:
                written = self._files[form].write(_events.event(now, step, summary=summary)) and written
                self._files[form].flush()        # so that viewers see it while the training goes on
        return written

    def _put(self, summaries, plugin, name, value, only):
        try:
            for form in summaries:
                if only in (None, form) and plugin in self._files[form].writers:
                    tag = f'{name}/text_summary' if plugin == 'text' else name
                    summaries[form] += _events.value(tag, self._files[form].writers[plugin](value))
        except ValueError as error:
            if self._raise:
                raise
            from spore import log
            log.warning("SummaryRecord: %r is left out: %s", name, error)

    def _graph_of_network(self):
        """Write the graph of the network that was given, once graph mode has made it."""
        if self._network is None or 'tensorboard' not in self._files:
            return
        from spore.graph.compiler import graphs_of
        graphs = graphs_of(self._network)
        if graphs:
            network, self._network = self._network, None
            self._write_graph(graphs[-1], network)

    def flush(self):
        """Bring what was written to the disk."""
        if not self._closed:
            for file in self._files.values():
                file.flush()

    def close(self):
        """Close the files."""
        if not self._closed:
            if self._has_settings:
                now = time.time()
                self._files['tensorboard'].write(_events.event(now, 0, summary=_tensorboard.hparams_end(now)))
            self._closed = True
            for file in self._files.values():
                file.close()
            _open.remove(self)


def _checked_form(form):
    what = "For 'SummaryRecord', 'form'"
    if form is None:
        what, form = "The environment variable SPORE_SUMMARY", os.environ.get('SPORE_SUMMARY') or 'both'
    if form not in _FORMS:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, _FORMS))}, but got {form!r}.")
    return form

# SPDX-License-Identifier: Apache-2.0
"""Event files as TensorBoard reads them. Records are framed as in _events.py; the message is an Event of TensorFlow: wall time (field 1),
step (2), version (3), a graph (4) or a summary (5) of values. A value has a tag (1) and a number (2), a picture (4), a histogram (5) or a
tensor (8) with metadata (9) that name the plugin which shows it: text, hparams. Embeddings are files of their own beside it."""
import json
import math
import os
import re
import struct

import numpy as np

from spore._draw import png
from spore.train.summary._events import _bytes, _double, _number, pixels

VERSION = 'brain.Event:2'       # by which a reader knows the files
_STRING = 7                     # dtype of texts
_KINDS = {'float32': 1, 'float64': 2, 'int32': 3, 'uint8': 4, 'int16': 5, 'int8': 6, 'int64': 9, 'bool': 10}


def _text(field, value):
    return _bytes(field, value.encode())


def file_name(prefix, seconds, host):
    """Readers look for 'tfevents' in names."""
    return f'{prefix}.out.tfevents.{seconds}.{host}.{os.getpid()}.0'


# --- values ------------------------------------------------------------------------------------------------------------

def scalar(array):
    """A number."""
    return b'\x15' + struct.pack('<f', float(array.reshape(-1)[0]))       # field 2, 4 bytes


def image(array):
    """A picture of (batch, channels, height, width), the batch side by side."""
    wide = pixels(array)
    return _bytes(4, _number(1, wide.shape[0]) + _number(2, wide.shape[1]) + _number(3, 3) + _bytes(4, png(wide)))


def histogram(array):
    """How many elements lie below which limits; elements that are not finite are left out."""
    flat = array.reshape(-1).astype(np.float64)
    flat = flat[np.isfinite(flat)]
    if not flat.size:
        flat = np.zeros(1)
    low, high = float(flat.min()), float(flat.max())
    if low == high:
        counts, limits = [flat.size], [math.nextafter(high, math.inf)]
    else:
        counts, edges = np.histogram(flat, bins=min(max(flat.size // 10, 2), 64))
        limits = edges[1:]
    body = _double(1, low) + _double(2, high) + _double(3, flat.size) + _double(4, float(flat.sum())) + _double(5, float((flat * flat).sum()))
    body += _bytes(6, np.asarray(limits, '<f8').tobytes()) + _bytes(7, np.asarray(counts, '<f8').tobytes())
    return _bytes(5, body)


def text(words):
    """A text, which may be Markdown."""
    shape = _bytes(2, _bytes(2, _number(1, 1)))
    return _bytes(8, _number(1, _STRING) + shape + _text(8, words)) + _metadata('text', _number(1, 0))


def _metadata(plugin, content):
    return _bytes(9, _bytes(1, _text(1, plugin) + _bytes(2, content)))


WRITERS = {'scalar': scalar, 'tensor': histogram, 'image': image, 'histogram': histogram, 'text': text}


# --- settings of a training (hparams) ------------------------------------------------------------------------------------

def _setting(value):
    """A value of JSON as a message, and the number of its type."""
    if isinstance(value, bool):
        return _number(4, value), 2
    if isinstance(value, (int, float)):
        return _double(2, float(value)), 3
    return _text(3, str(value)), 1


def _hparams_value(tag, field, content):
    return _bytes(1, _text(1, tag) + _metadata('hparams', _number(1, 0) + _bytes(field, content)))


def hparams(settings, metrics, now):
    """Summaries for the settings of a training and the tags that tell how good it is: of the experiment, and of this run's start."""
    infos = b''.join(_bytes(4, _text(1, name) + _number(4, _setting(value)[1])) for name, value in settings.items())
    infos += b''.join(_bytes(5, _bytes(1, _text(2, tag))) for tag in metrics)
    values = b''.join(_bytes(1, _text(1, name) + _bytes(2, _setting(value)[0])) for name, value in settings.items())
    return (_hparams_value('_hparams_/experiment', 2, _double(3, now) + infos)
            + _hparams_value('_hparams_/session_start_info', 3, values + _double(5, now)))


def hparams_end(now):
    """The summary of a training that has ended."""
    return _hparams_value('_hparams_/session_end_info', 4, _number(1, 1) + _double(2, now))


# --- graphs --------------------------------------------------------------------------------------------------------------

_LINE = re.compile(r'(?:(?P<results>%.*?) = )?(?P<operator>\w+)(?P<rest>.*?)(?:  # (?P<place>.*))?$')
_RESULT = re.compile(r'%(\d+)(?:: (\w+)(?:\[([^\]]*)\])?)?')


class _Node:
    """An operator of a graph that is written as text; `results` are (number, dtype, shape)."""

    def __init__(self, scope, found):
        self.operator, rest = found['operator'], found['rest']
        self.results = [(int(n), dtype, shape) for n, dtype, shape in _RESULT.findall(found['results'] or '')]
        self.place = found['place'] or ''
        words, _, attributes = rest.partition(' {')
        self.inputs = [int(n) for n in re.findall(r'%(\d+)', words)]
        self.functions = re.findall(r'&([\w.#<>]+)', words)
        self.variables = [int(n) for n in re.findall(r'@(\d+)', words)]
        self.attributes = attributes.rstrip('}')
        self.name = f'{scope}/{self.operator}_{self.results[0][0]}' if self.results else ''


def parse_graph(text):
    """The nodes of _core.graph_text: [(function, [nodes], arguments, [numbers returned])], and the dtypes and shapes of variables."""
    functions, variables = [], {}
    for line in text.splitlines():
        words = line.strip()
        if words.startswith('variable @'):
            number, _, what = words[len('variable @'):].partition(': ')
            variables[int(number)] = what
        elif words.startswith('function '):
            head = words[len('function '):]
            name = head[:head.index('(')]
            functions.append((name.replace('#', '_'), [], _RESULT.findall(head), []))
        elif words.startswith('return'):
            functions[-1][3].extend(int(n) for n in re.findall(r'%(\d+)', words.partition('  # ')[0]))
        elif words and words != '}' and functions:
            functions[-1][1].append(_Node(functions[-1][0], _LINE.match(words)))
    return functions, variables


def _node(name, operator, inputs, attributes):
    body = _text(1, name) + _text(2, operator) + b''.join(_text(3, one) for one in inputs)
    return _bytes(1, body + b''.join(_bytes(5, _text(1, key) + _bytes(2, value)) for key, value in attributes.items() if value))


def _shapes(results):
    """The attribute that readers take the sizes of edges from: a list of shapes."""
    shapes = b''
    for _, _, dims in results:
        shape = b''.join(_bytes(2, _number(1, int(n))) for n in dims.split(', ') if n.lstrip('-').isdigit())
        shapes += _bytes(7, shape)
    return _bytes(1, shapes)


def _quoted(words):
    return _bytes(2, words.encode()) if words else b''


def graph(text, names=()):
    """A GraphDef of a graph in words: operators in the scope of their function, variables as its Parameters (`names`)."""
    functions, variables = parse_graph(text)
    owner, out = {}, b''
    for function, nodes, arguments, _ in functions:
        owner.update({int(n): f'{function}/input_{n}' for n, _, _ in arguments})
        owner.update({n: node.name for node in nodes for n, _, _ in node.results})
    called = {function: [owner[n] for n in returned if n in owner] for function, _, _, returned in functions}
    for number, what in variables.items():
        dims = _RESULT.match('%0: ' + what)[3] or ''
        out += _node(f'parameters/{_safe(names[number] if number < len(names) else number)}', 'Parameter', [], {'_output_shapes': _shapes([(0, '', dims)])})
    for function, nodes, arguments, returned in functions:
        out += b''.join(_node(owner[int(n)], 'Input', [], {'_output_shapes': _shapes([(n, dtype, dims)])}) for n, dtype, dims in arguments)
        for node in nodes:
            if not node.results:
                continue
            inputs = [owner[n] for n in node.inputs if n in owner]
            inputs += [one for called_one in node.functions for one in called.get(called_one.replace('#', '_'), ())]
            inputs += [f'parameters/{_safe(names[n] if n < len(names) else n)}' for n in node.variables]
            out += _node(node.name, node.operator, dict.fromkeys(inputs), {
                '_output_shapes': _shapes(node.results), 'dtype': _quoted(node.results[0][1]), 'attributes': _quoted(node.attributes),
                'line': _quoted(node.place)})
        out += _node(f'{function}/output', 'Output', dict.fromkeys(owner[n] for n in returned if n in owner), {})
    return out + _bytes(4, _number(1, 22))


def _safe(name):
    return re.sub(r'[^\w.\-/]', '_', str(name))


# --- embeddings ----------------------------------------------------------------------------------------------------------

def add_embedding(folder, tag, vectors, labels):
    """Write the vectors, a label for each, and their entry in the file that lists what there is."""
    name = _safe(tag).replace('/', '_')
    with open(os.path.join(folder, f'{name}.tsv'), 'w', encoding='utf-8') as file:
        file.writelines('\t'.join(f'{x:.7g}' for x in row) + '\n' for row in vectors.astype(np.float64))
    entry = f'embeddings {{\n  tensor_name: {json.dumps(tag)}\n  tensor_path: "{name}.tsv"\n'
    if labels is not None:
        with open(os.path.join(folder, f'{name}_labels.tsv'), 'w', encoding='utf-8') as file:
            file.writelines(' '.join(str(label).split()) + '\n' for label in labels)
        entry += f'  metadata_path: "{name}_labels.tsv"\n'
    entry += '}\n'
    path = os.path.join(folder, 'projector_config.pbtxt')
    before = ''
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            before = file.read()
    if entry not in before:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(before + entry)

# SPDX-License-Identifier: Apache-2.0
"""Small questions about arguments, edge cases and rows that fail, asked of MindSpore and of spore alike.

questions*.txt hold them, `---` between: an expression, or statements that set `out`. The answer, in the .json beside, is a plain
value, or the exception with the words that its message contains. different.json says of some why spore answers otherwise.
"""
import importlib
import json
import os
import re
import shutil
from pathlib import Path

import numpy as np

from making import cifar_files, mnist_files, tf_file, trained, waiter, watcher

FILES = sorted(Path(__file__).parent.glob('questions*.txt'))


def read_questions(path):
    """The questions of a file."""
    return [text.strip('\n') for text in path.read_text(encoding='utf-8').split('\n---\n')]


QUESTIONS = [question for path in FILES for question in read_questions(path)]


def plain(value):
    """Tensors, arrays, lists and the like as values of JSON."""
    if hasattr(value, 'asnumpy'):
        return ['Tensor', plain(value.asnumpy())]
    if isinstance(value, np.ndarray):
        shown = [str(x) for x in value.reshape(-1).tolist()]
        if value.size > 40:
            shown = float(value.astype(float).sum()) if value.dtype.kind in 'iufb' else '...'
        return [value.dtype.str, list(value.shape), shown]
    if isinstance(value, np.generic):
        return ['number', value.dtype.str, str(value)]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, dict):
        return {str(k): plain(x) for k, x in value.items()}
    if isinstance(value, bytes):
        return ['bytes', value.hex()]
    if isinstance(value, (int, float, str, type(None))):
        return value
    return type(value).__name__


def words_of(message):
    """What MindSpore's message says: its beginning, or what stands behind [ERROR], up to what is a matter of taste."""
    at = message.find('[ERROR]')
    words = re.split(r"[\n']|mindspore|0x", (message[at + 8:] if at >= 0 else message).removeprefix('[Internal ERROR] '))[0][:45].rstrip()
    return 'user defined Python function' if words.startswith('Execute user Python code failed') else words


def agrees(found, wanted):
    """Whether spore's answer is MindSpore's; of an exception, that it is one of that kind and its message has those words."""
    if isinstance(wanted, dict) and 'raises' in wanted:
        return isinstance(found, dict) and wanted['raises'] in found.get('kinds', ()) and wanted['words'] in found['words']
    return json.loads(json.dumps(found)) == wanted


def record_tools(mr, ds, here):
    """What questions about MindRecord use: three columns of every kind, written and read."""
    schema = {'a': {'type': 'int32'}, 's': {'type': 'string'}, 'v': {'type': 'float32', 'shape': [2]}, 'd': {'type': 'bytes'}}
    rows = [{'a': i, 's': f't{i % 3}', 'v': np.array([i, i / 2], np.float32), 'd': bytes([65 + i] * (i + 1))} for i in range(10)]

    def write(rows=rows, schema=schema, shards=1, index=None, name='a', commit=True, **sizes):
        writer = mr.FileWriter(f'{here}/{name}', shards, True)
        for what, size in sizes.items():
            getattr(writer, f'set_{what}')(size)
        writer.add_schema(schema, 'some rows')
        if index is not None:
            writer.add_index(index)
        writer.write_raw_data(rows)
        if commit:
            writer.commit()
        return f'{here}/{name}' + ('0' if shards > 1 else '')

    def read(path, *args):
        reader = mr.FileReader(path, *args)
        found = list(reader.get_next())
        reader.close()
        return found

    def column(data, name='a'):
        return [row[name].tolist() for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)]
    return {'SCHEMA': schema, 'ROWS': rows, 'write': write, 'read': read, 'column': column, 'HERE': here, 'os': os}


def scope(framework, pictures, empty, here):
    """The names that questions use; `here` is a folder that each of them finds empty."""
    ds, vision, tr, text, audio = (importlib.import_module(f'{framework}.dataset{part}')
                                   for part in ('', '.vision', '.transforms', '.text', '.audio'))

    def rows(data):
        return [list(row) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]

    def drows(data):
        return [dict(row) for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)]

    def pairs(n=6, **kwargs):
        return ds.NumpySlicesDataset((np.arange(n), np.arange(n * 2, dtype=np.float32).reshape(n, 2)), ['a', 'b'],
                                     **{'shuffle': False, **kwargs})

    def gen(values, names=('a',), **kwargs):
        return ds.GeneratorDataset(list(values), list(names), **{'shuffle': False, **kwargs})
    records = record_tools(importlib.import_module(f'{framework}.mindrecord'), ds, here)
    made = {'watch': watcher(ds), 'wait': waiter(ds), 'train': trained(importlib.import_module(framework)),
            'mnist_files': mnist_files, 'cifar_files': cifar_files, 'tf_file': tf_file}
    u8 = np.arange(6 * 7 * 3, dtype=np.uint8).reshape(6, 7, 3)
    enums = {name: getattr(vision, name) for name in ('Inter', 'Border', 'ConvertMode', 'ImageBatchFormat', 'ImageReadMode', 'SliceMode',
                                                      'AutoAugmentPolicy')}
    return {**enums, **records, **made, 'U8': u8, 'F32': u8.astype(np.float32), 'transforms': tr, 'np': np, 'ms': importlib.import_module(framework), 'mr': importlib.import_module(f'{framework}.mindrecord'), 'ds': ds,
            'vision': vision, 'tr': tr, 'text': text, 'audio': audio, 'rows': rows, 'drows': drows, 'pairs': pairs, 'gen': gen,
            'PICTURES': pictures, 'EMPTY': empty, 'plain_of': plain}


def answer(question, names):
    """What a framework says to it."""
    names = dict(names)
    names['ds'].config.set_seed(1)
    shutil.rmtree(names['HERE'], ignore_errors=True)
    os.makedirs(names['HERE'])
    try:
        try:
            compile(question, 'question', 'eval')
        except SyntaxError:
            exec(question, names)
            return plain(names['out'] if 'out' in names else None)
        return plain(eval(question, names))
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return {'raises': kinds[0], 'kinds': kinds, 'words': str(error).replace(names['HERE'], '/here').replace(os.path.dirname(names['EMPTY']), '')}


def make_pictures(folder):
    """A folder of a class with a few files, enough for questions about them."""
    (folder / 'class').mkdir(parents=True)
    for i in range(2000):
        (folder / 'class' / f'{i:05}.jpg').write_bytes(bytes([255, 216, i % 251, i // 251]))

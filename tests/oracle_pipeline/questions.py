# SPDX-License-Identifier: Apache-2.0
"""Small questions about arguments, edge cases and rows that fail, asked of MindSpore and of spore alike.

questions*.txt hold them, `---` between: an expression, or statements that set `out`. The answer, in the .json beside, is a plain
value, or the exception with the words that its message contains. different.json says of some why spore answers otherwise.
"""
import importlib
import re
from pathlib import Path

import numpy as np

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
    if isinstance(value, (int, float, str, type(None))):
        return value
    return type(value).__name__


def words_of(message):
    """What MindSpore's message says: its beginning, or what stands behind [ERROR], up to what is a matter of taste."""
    at = message.find('[ERROR]')
    words = re.split(r"[\n']|mindspore|0x", message[at + 8:] if at >= 0 else message)[0][:45].rstrip()
    return 'user defined Python function' if words.startswith('Execute user Python code failed') else words


def scope(framework, pictures, empty):
    """The names that questions use."""
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
    u8 = np.arange(6 * 7 * 3, dtype=np.uint8).reshape(6, 7, 3)
    enums = {name: getattr(vision, name) for name in ('Inter', 'Border', 'ConvertMode', 'ImageBatchFormat', 'ImageReadMode', 'SliceMode',
                                                      'AutoAugmentPolicy')}
    return {**enums, 'U8': u8, 'F32': u8.astype(np.float32), 'transforms': tr, 'np': np, 'ms': importlib.import_module(framework), 'mr': importlib.import_module(f'{framework}.mindrecord'), 'ds': ds,
            'vision': vision, 'tr': tr, 'text': text, 'audio': audio, 'rows': rows, 'drows': drows, 'pairs': pairs, 'gen': gen,
            'PICTURES': pictures, 'EMPTY': empty, 'plain_of': plain}


def answer(question, names):
    """What a framework says to it."""
    names = dict(names)
    names['ds'].config.set_seed(1)
    try:
        try:
            compile(question, 'question', 'eval')
        except SyntaxError:
            exec(question, names)
            return plain(names['out'] if 'out' in names else None)
        return plain(eval(question, names))
    except Exception as error:
        return {'raises': type(error).__name__, 'words': str(error)}


def make_pictures(folder):
    """A folder of a class with a few files, enough for questions about them."""
    (folder / 'class').mkdir(parents=True)
    for i in range(2000):
        (folder / 'class' / f'{i:05}.jpg').write_bytes(bytes([255, 216, i % 251, i // 251]))

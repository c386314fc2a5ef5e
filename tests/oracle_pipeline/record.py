# SPDX-License-Identifier: Apache-2.0
"""Ask MindSpore 2.10 for the answers: run with an interpreter that has it, from this folder; writes answers.json and
the .json of every file of questions, or of those that are named."""
import json
import sys
import tempfile
from pathlib import Path

import mindspore
import mindspore.dataset as ds
import mindspore.dataset.transforms as tr

from cases import CASES, ask
from questions import FILES, answer, make_pictures, read_questions, scope, words_of

answers = {name: ask(case, ds, tr) for name, case in CASES.items()}
lines = [f'{json.dumps(name)}: {json.dumps(answer)}' for name, answer in answers.items()]
text = '{"mindspore": ' + json.dumps(mindspore.__version__) + ',\n' + ',\n'.join(lines) + '}\n'
Path(__file__).with_name('answers.json').write_text(text, encoding='utf-8')

with tempfile.TemporaryDirectory() as folder:
    pictures, empty = Path(folder) / 'pictures', Path(folder) / 'empty'
    make_pictures(pictures)
    empty.mkdir()
    names = scope('mindspore', str(pictures), str(empty), str(Path(folder) / 'here'))
    for path in (path for path in FILES if path.stem in (sys.argv[1:] or [path.stem])):
        lines = []
        for question in read_questions(path):
            found = answer(question, names)
            if isinstance(found, dict) and 'kinds' in found:
                found = {'raises': found['raises'], 'words': words_of(found['words'])}
            lines.append(f'{json.dumps(question)}: {json.dumps(found)}')
        path.with_suffix('.json').write_text('{' + ',\n'.join(lines) + '}\n', encoding='utf-8')

# SPDX-License-Identifier: Apache-2.0
"""Run by the Python of a MindSpore 2.10 installation: writes answers.json and arguments.json.gz beside it."""
import gzip
import json
import os
import sys

import mindspore.dataset as ds

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import arguments    # noqa: E402
import cases    # noqa: E402
import make     # noqa: E402

ROOT = '/tmp/spore_sources'

make.make(ROOT)
answers = {}
for name, source, keywords in cases.CASES:
    try:
        answers[name] = cases.answer(ds, source, keywords, ROOT)
    except Exception as error:
        answers[name] = {'error': type(error).__name__, 'text': str(error).strip()[:300]}
        print(name, type(error).__name__, str(error)[:1500])
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'answers.json'), 'w', encoding='utf-8') as file:
    file.write('{\n' + ',\n'.join(f'{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}' for key, value in answers.items()) + '\n}\n')
answers = {question: arguments.ask(ds, question, ROOT) for question in arguments.every(ds, cases.CASES)}
text = '{\n' + ',\n'.join(f'{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}' for key, value in answers.items()) + '\n}\n'
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'arguments.json.gz'), 'wb') as file:
    file.write(gzip.compress(text.encode(), mtime=0))

# SPDX-License-Identifier: Apache-2.0
"""Ask MindSpore 2.10 for the answers: run with an interpreter that has it, from this folder; writes answers.json."""
import json
from pathlib import Path

import mindspore
import mindspore.dataset as ds
import mindspore.dataset.transforms as tr

from cases import CASES, ask

answers = {name: ask(case, ds, tr) for name, case in CASES.items()}
lines = [f'{json.dumps(name)}: {json.dumps(answer)}' for name, answer in answers.items()]
text = '{"mindspore": ' + json.dumps(mindspore.__version__) + ',\n' + ',\n'.join(lines) + '}\n'
Path(__file__).with_name('answers.json').write_text(text, encoding='utf-8')

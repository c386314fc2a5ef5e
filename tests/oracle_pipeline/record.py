# SPDX-License-Identifier: Apache-2.0
"""Ask MindSpore 2.10 for the answers: run with an interpreter that has it (with OpenCV and pandas, for the converters), from this
folder; writes answers.json and the .json of every file of questions, or, where files are named, of those alone. A question that ends
its process, or takes a minute, is answered by "crash"."""
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path


def pipelines():
    """answers.json."""
    import mindspore
    import mindspore.dataset as ds
    import mindspore.dataset.transforms as tr

    from cases import CASES, ask
    answers = {name: ask(case, ds, tr) for name, case in CASES.items()}
    lines = [f'{json.dumps(name)}: {json.dumps(answer)}' for name, answer in answers.items()]
    text = '{"mindspore": ' + json.dumps(mindspore.__version__) + ',\n' + ',\n'.join(lines) + '}\n'
    Path(__file__).with_name('answers.json').write_text(text, encoding='utf-8')


def work(path, start, out):
    """Answers of a file's questions from number `start` on, a line each."""
    from questions import answer, make_pictures, read_questions, scope, words_of
    with tempfile.TemporaryDirectory() as folder:
        pictures, empty = Path(folder) / 'pictures', Path(folder) / 'empty'
        make_pictures(pictures)
        empty.mkdir()
        names = scope('mindspore', str(pictures), str(empty), str(Path(folder) / 'here'))
        with open(out, 'a', encoding='utf-8') as file:
            for question in read_questions(Path(path))[start:]:
                signal.alarm(60)
                found = answer(question, names)
                if isinstance(found, dict) and 'kinds' in found:
                    found = {'raises': found['raises'], 'words': words_of(found['words'])}
                file.write(f'{json.dumps(question)}: {json.dumps(found)}\n')
                file.flush()
    os._exit(0)


def record(path):
    """The answers to a file of questions, from processes that may end early."""
    from questions import read_questions
    questions = read_questions(path)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / 'answers'
        out.write_text('', encoding='utf-8')
        while (done := len(out.read_text(encoding='utf-8').splitlines())) < len(questions):
            subprocess.run([sys.executable, __file__, '--work', str(path), str(done), str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if len(out.read_text(encoding='utf-8').splitlines()) == done:
                with open(out, 'a', encoding='utf-8') as file:
                    file.write(f'{json.dumps(questions[done])}: {json.dumps({"raises": "crash", "words": ""})}\n')
        path.with_suffix('.json').write_text('{' + ',\n'.join(out.read_text(encoding='utf-8').splitlines()) + '}\n', encoding='utf-8')


if __name__ == '__main__':
    if sys.argv[1:2] == ['--work']:
        work(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    from questions import FILES
    if not sys.argv[1:]:
        pipelines()
    for file in (path for path in FILES if path.stem in (sys.argv[1:] or [path.stem])):
        record(file)

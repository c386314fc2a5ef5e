# SPDX-License-Identifier: Apache-2.0
"""Pipelines in a fixed order give MindSpore's rows, columns, sizes, and exceptions of its types and words."""
import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

import spore.dataset as ds
import spore.dataset.transforms as tr

sys.path.insert(0, str(Path(__file__).parent))
from cases import CASES, ask        # noqa: E402
from questions import FILES, QUESTIONS, agrees, answer, make_pictures, scope    # noqa: E402

ANSWERS = json.loads(Path(__file__).with_name('answers.json').read_text(encoding='utf-8'))


@pytest.mark.parametrize('name', CASES)
def test_as_mindspore(name):
    assert json.loads(json.dumps(ask(CASES[name], ds, tr))) == ANSWERS[name]


SAID = {question: said for path in FILES
        for question, said in json.loads(path.with_suffix('.json').read_text(encoding='utf-8')).items()}
DIFFERENT = json.loads(Path(__file__).with_name('different.json').read_text(encoding='utf-8'))


@pytest.fixture(scope='module')
def names(tmp_path_factory):
    folder = tmp_path_factory.mktemp('sources')
    make_pictures(folder / 'pictures')
    (folder / 'empty').mkdir()
    before = dict(ds.config._values)
    memory = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None      # hundreds of small files, each made sure to be on the disk
    with tempfile.TemporaryDirectory(dir=memory) as here:
        yield scope('spore', str(folder / 'pictures'), str(folder / 'empty'), here)
    ds.config._values.update(before)


@pytest.mark.parametrize('question', [q for q in QUESTIONS if q not in DIFFERENT])
def test_says_what_mindspore_says(question, names):
    found, wanted = answer(question, names), SAID[question]
    assert agrees(found, wanted), f"{found} instead of {wanted}"


@pytest.mark.parametrize('question', DIFFERENT)
def test_differs_for_a_reason(question, names):
    assert not agrees(answer(question, names), SAID[question]), "the reason in different.json is gone"

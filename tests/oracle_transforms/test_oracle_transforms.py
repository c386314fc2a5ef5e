# SPDX-License-Identifier: Apache-2.0
"""Transforms take and refuse the arguments and inputs that MindSpore 2.10 takes and refuses; answers.json.gz has what it said, different.txt
what is otherwise here."""
import gzip
import importlib.util
import json
import warnings
from pathlib import Path

import pytest

from spore import dataset as ds

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location('oracle_transforms_calls', HERE / 'calls.py')
CALLS = importlib.util.module_from_spec(spec)
spec.loader.exec_module(CALLS)
ASKED = json.loads(gzip.decompress((HERE / 'answers.json.gz').read_bytes()))
DIFFERENT = {line for line in (HERE / 'different.txt').read_text(encoding='utf-8').split('\n') if line[:1] not in ('', '#')}


@pytest.fixture(scope='module')
def names():
    before = dict(ds.config._values)
    yield CALLS.scope('spore')
    ds.config._values.update(before)


@pytest.mark.parametrize('name', sorted({question.split('(')[0] for question in ASKED}))
def test_takes_and_refuses_as_mindspore(name, names):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')     # numpy's, about numbers that are none
        found = {q: CALLS.ask(q, names, True) for q in ASKED if q.split('(')[0] == name}
    wrong = [f'{q}: {found[q]} instead of {ASKED[q]}' for q in found if q not in DIFFERENT and not CALLS.agrees(found[q], ASKED[q])]
    assert not wrong, '\n'.join(wrong)
    gone = [q for q in found if q in DIFFERENT and CALLS.agrees(found[q], ASKED[q])]
    assert not gone, f'different.txt names what is alike: {gone}'


def test_questions_of_every_kind_were_asked():
    assert len(ASKED) > 7000 and len(DIFFERENT) < len(ASKED) // 8

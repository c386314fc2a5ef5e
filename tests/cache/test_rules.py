# SPDX-License-Identifier: Apache-2.0
"""What may have a cache, and with which settings: beside MindSpore's answers (rules.json)."""
import json
import os

import pytest
import spore.dataset as ds
from spore.dataset import vision

import rules

with open(os.path.join(os.path.dirname(__file__), 'rules.json'), encoding='utf-8') as _file:
    ANSWERS = json.load(_file)

# What is said in other words, and what both have.
WORDS = {'no server': 'is unreachable. Make sure the server is running', 'no spill': 'not set up with spill support', 'too much': 'Out of memory',
         'figures of an unused one': 'GetStat called but the cache is not in', 'argument session_id=\'a\'': 'session_id'}


@pytest.fixture(name='made', scope='module')
def _made(shared, tmp_path_factory):
    folder = str(tmp_path_factory.mktemp('rules'))
    return rules.cases('spore', *rules.files(folder, vision), lambda **settings: ds.DatasetCache(shared.session(), port=shared.port, **settings), {'port': 1234})


@pytest.mark.parametrize('name', ANSWERS)
def test_as_in_mindspore(made, name):
    if name == 'same object, another tree':
        rules.answer(made['same object'])
    found, wanted = rules.answer(made[name]), ANSWERS[name]
    assert found.get('rows') == wanted.get('rows') and found.get('raises') == wanted.get('raises'), (found, wanted)
    if 'text' in wanted:
        words = WORDS.get(name, wanted['text'].split(' It is ')[0].rstrip('.'))
        assert words in wanted['text'] and words in found['text'], (found, wanted)

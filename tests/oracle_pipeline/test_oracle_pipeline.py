# SPDX-License-Identifier: Apache-2.0
"""Pipelines in a fixed order give MindSpore's rows, columns, sizes, and exceptions of its types."""
import json
import sys
from pathlib import Path

import pytest

import spore.dataset as ds
import spore.dataset.transforms as tr

sys.path.insert(0, str(Path(__file__).parent))
from cases import CASES, ask        # noqa: E402

ANSWERS = json.loads(Path(__file__).with_name('answers.json').read_text(encoding='utf-8'))


@pytest.mark.parametrize('name', CASES)
def test_as_mindspore(name):
    assert json.loads(json.dumps(ask(CASES[name], ds, tr))) == ANSWERS[name]

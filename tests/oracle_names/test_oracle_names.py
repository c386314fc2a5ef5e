# SPDX-License-Identifier: Apache-2.0
"""Parameters have MindSpore's names however a network is built: only then can checkpoints be exchanged."""
import gzip
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import name_cases as cases        # noqa: E402

ANSWERS = json.loads(gzip.decompress(Path(__file__).with_name('answers.json.gz').read_bytes()))


@pytest.mark.parametrize('group', range(0, cases.COUNT, 50))
def test_names_are_mindspores(group):
    for seed in range(group, min(group + 50, cases.COUNT)):
        assert json.loads(json.dumps(cases.ask(seed, 'spore'))) == ANSWERS[str(seed)], f"case {seed}"

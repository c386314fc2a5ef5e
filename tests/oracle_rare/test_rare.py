# SPDX-License-Identifier: Apache-2.0
"""Operators that few programs use give what MindSpore 2.10 gives."""
import json
import os
import sys

import numpy as np
import pytest

import spore

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rare_cases import cases  # noqa: E402
from rare import different, plain  # noqa: E402

TABLE, STATE = cases(spore)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "answers.json")) as file:
    ANSWERS = json.load(file)


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_answer(name):
    STATE["r"] = np.random.RandomState(1)
    assert different(ANSWERS[name], plain(TABLE[name]())) is None


@pytest.mark.parametrize("name", sorted(set(TABLE) - set(ANSWERS)))
def test_without_a_kernel_in_mindspore(name):
    """There is nothing to compare with, but a result."""
    STATE["r"] = np.random.RandomState(1)
    assert plain(TABLE[name]())

# SPDX-License-Identifier: Apache-2.0
"""With a seed, transforms that Python does draw MindSpore's numbers."""
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from draws import ANSWERS, CASES, answer  # noqa: E402

RECORDED = json.loads(ANSWERS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES)
def test_draws_of_mindspore(case):
    """Rows of one worker."""
    if "ToPIL" in CASES[case]:
        pytest.importorskip("PIL")
    found, wanted = answer("spore", case), RECORDED[case]
    assert [row[0] for row in found] == [row[0] for row in wanted]
    assert np.allclose([row[1:] for row in found], [row[1:] for row in wanted], rtol=1e-4, atol=1e-2), (found, wanted)


def test_the_seed_is_python_s_and_numpy_s_too():
    """Functions of the user draw the same numbers after it."""
    import spore.dataset as ds
    before = ds.config.get_seed()
    drawn = []
    try:
        for _ in range(2):
            ds.config.set_seed(7)
            drawn.append((random.random(), np.random.rand()))
    finally:
        ds.config.set_seed(before)
    assert drawn[0] == drawn[1] == (pytest.approx(0.32383276483316237), pytest.approx(0.07630828937395717))

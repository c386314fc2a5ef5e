# SPDX-License-Identifier: Apache-2.0
"""Transforms of sound give what MindSpore 2.10 gives: recorded answers (record.py) to cases.py, to 3e-4 of the largest value
(float32 sums in another order), float16 to 6e-3, whole numbers to one."""
import numpy as np
import pytest

from oracle_audio import cases, record
from oracle_vision import spread
from spore.dataset import audio

STORED = np.load(cases.HERE / "answers.npz")
ANSWERS = dict(zip(STORED["keys"].tolist(), STORED["facts"].tolist()))
QUESTIONS = {key: (expression, inputs) for key, expression, inputs in cases.questions()}
NAMES = cases.scope(audio)
# Names of mindspore.dataset.audio 2.10 that are missing.
MISSING = []
# Answers that differ on purpose, with the reason.
DIFFERENT = {
    "tone|DCShift(-0.4, 0.1)": "there the soft limit of negative shifts gives positive values",
    "wide|DCShift(-0.4, 0.1)": "the same",
    "half|DCShift(-0.4, 0.1)": "the same",
    "wide|MelSpectrogram": "there float64 gives numbers of 1e200 and more",
    "wide|MFCC": "the same",
    "wide|LFCC": "the same",
    "whole|DCShift(-0.4, 0.1)": "the limit below zero is wrong there",
    "whole_spectrum|SlidingWindowCmn(4, 3, True, True)": "where nothing deviates there is NaN there",
    "pairs|InverseSpectrogram(None, 16, None, 8, 3)": "there padding is refused without a length",
    "pairs_tone|InverseSpectrogram(None, 16, None, 8, 3)": "the same",
    "pairs_clicks|InverseSpectrogram(None, 16, None, 8, 3)": "the same",
}


@pytest.mark.parametrize("key", [key for key, fact in ANSWERS.items() if fact.startswith("spread")])
def test_spread(key):
    """Random results are distributed as there."""
    name, expression = key.split("|", 1)
    np.random.seed(5)
    here, there = cases.measure(expression, NAMES, cases.signals()[name]), STORED[f"arr_{ANSWERS[key].split(':')[1]}"]
    distance, limit = spread.apart(here, there, 1e-5 * np.max(np.abs(there), initial=1))
    assert distance <= limit


@pytest.mark.parametrize("key", [key for key, fact in ANSWERS.items() if not fact.startswith("spread")])
def test_answer(key):
    expression, inputs = QUESTIONS[key]
    made, fact = cases.answer(expression, NAMES, inputs), ANSWERS[key]
    if key.startswith(tuple(DIFFERENT)):
        assert not isinstance(made, str)  # shapes and types are compared for the float32 twin of it
        return
    if isinstance(made, str) or ":" not in fact:
        assert made == fact
        return
    wanted = [part.split(":") for part in fact.split(";")]
    assert len(made) == len(wanted)
    for array, (number, dtype, shape) in zip(made, wanted):
        assert f"{array.dtype} {list(array.shape)}" == f"{dtype} {[int(n) for n in shape.split(',') if n]}"
        want = STORED[f"arr_{number}"].astype(np.float64)
        got = record.kept(array).astype(np.float64)
        assert np.array_equal(np.isfinite(want), np.isfinite(got))
        scale = np.max(np.abs(want[np.isfinite(want)]), initial=1e-6)
        # the phases of a stretched sound are sums over its length, in float32 there
        scale = scale * 10 if "PitchShift" in key else scale
        limit = 1 if array.dtype.kind == "i" else (6e-3 if dtype == "float16" else 3e-4) * scale
        assert np.max(np.abs(got - want)[np.isfinite(want)], initial=0) <= limit


def test_names(capsys):
    assert not [name for name in MISSING if hasattr(audio, name)]
    assert set(QUESTIONS) == {key for key, fact in ANSWERS.items() if not fact.startswith("spread")}
    with capsys.disabled():
        print(f"\ndataset.audio: {len(audio.__all__)} names; missing: {', '.join(MISSING) or 'none'}")

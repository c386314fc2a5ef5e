# SPDX-License-Identifier: Apache-2.0
"""Transforms give what MindSpore 2.10 gives: recorded answers (record.py) to the expressions of cases.py.

Exact where pixels are moved, labels, types and arrays; one level in 255 where values are interpolated or computed from
colours (the same sums in another order of rounding); float results to 1e-5.
"""
import json
from collections import Counter

import numpy as np
import pytest

from oracle_vision import cases, record
from spore.dataset import config, transforms, vision

ANSWERS = json.loads((cases.HERE / "answers.json").read_text(encoding="utf-8"))
ARRAYS = np.load(cases.HERE / "answers.npz")
NAMES = cases.scope(vision, transforms)
QUESTIONS = {key: (expression, inputs) for key, expression, inputs in cases.questions(lambda data: vision.Decode()(data))}

# What may differ by one level: interpolation, blends and sums of levels.
INTERPOLATED = ("Resize", "Rotate", "Rotation", "Affine", "Perspective", "Adjust", "Color(", "Sharpness", "Blur", "Augment",
                "GRAY", "Lighting", "BoundingBox", "UniformAugment", "read|", "decode|")
# Answers that differ on purpose: words of the key, and the reason.
DIFFERENT = {
    ("flower.gif",): "GIF is decoded here, refused there",
    (".webp",): "WebP is decoded here, refused there",
    ("NormalizePad(",): "there the fourth channel of images of more than one pixel holds values of other pixels",
    ("array|np.array([2, 1], np.int64)", "OneHot(4, 0.1)"): "there the first row of several has no class",
    ("PadEnd([None, 4])",): "None keeps a dimension here, as the documentation says; there it is refused",
    ("Slice(slice(None, None, 2))",): "slices without an end are refused there",
    ("Unique()", "np.array([4, 1, 4, 0, 1, 1])"): "int64 is refused there",
    ("Unique()", "np.float32"): "floats are refused there",
    ("HWC2CHW()", "np.arange(24)"): "int64 is refused there",
}
# Outcomes that differ on purpose: there a translation of pixels is taken for one of whole images, which leaves nothing
# but the fill colour; here it is the translation that the recipes mean. {expression: (outcomes there, outcomes here)}
TRANSLATED = {"vision.RandAugment(1, 9)": (1, 4), "vision.RandAugment(1, 20, 31, Inter.LINEAR, (10, 20, 30))": (1, 4),
              "vision.TrivialAugmentWide(2)": (1, 4)}


def stored(key, i):
    return ARRAYS[f"arr_{ANSWERS['where'][f'{key}|{i}']}"]


def distance(got, want):
    """Largest difference of values."""
    if got.size == 0:
        return 0.0
    if got.dtype.kind in "US" or want.dtype.kind in "US":
        return 0.0 if np.array_equal(got.astype(str), want.astype(str)) else np.inf
    return float(np.max(np.abs(got.astype(np.float64) - want.astype(np.float64))))


def limit(key, array):
    if array.dtype.kind == "f":
        return 1e-5 * max(1.0, float(np.max(np.abs(array))) if array.size else 1.0) if array.dtype != np.float16 else 4e-3
    return 1.0 if any(word in key for word in INTERPOLATED) else 0.0


def compare(key, made, facts):
    """None, or what is wrong."""
    if len(made) != len(facts):
        return f"{len(made)} results instead of {len(facts)}"
    for i, (array, (shape, dtype, mark)) in enumerate(zip(map(np.asarray, made), facts)):
        if list(array.shape) != shape or (str(array.dtype) != dtype and array.dtype.kind not in "US"):
            return f"result {i} is {array.dtype} {array.shape} instead of {dtype} {tuple(shape)}"
        if record.digest(array) == mark:
            continue
        off = distance(record.kept(array), stored(key, i))
        if off > limit(key, array):
            return f"result {i} is off by {off:g}"
    return None


@pytest.mark.parametrize("key", [key for key in ANSWERS["facts"] if not key.startswith("outcomes|")])
def test_answer(key):
    expression, inputs = QUESTIONS[key]
    facts = ANSWERS["facts"][key]
    if "ToPIL" in expression:
        pytest.importorskip("PIL")
    made = cases.call(expression, NAMES, *(i.copy() if isinstance(i, np.ndarray) else i for i in inputs))
    reason = next((words for words in DIFFERENT if all(word in key for word in words)), None)
    if reason is not None:
        assert not isinstance(made, str), f"{made} (differs on purpose: {DIFFERENT[reason]})"
        assert isinstance(facts, str) or compare(key, made, facts) is not None, f"no longer different: {key}"
    elif isinstance(facts, str):
        assert isinstance(made, str) and made.split(":")[0] == facts, f"MindSpore raises {facts}, here: {made}"
    else:
        assert not isinstance(made, str), made
        assert compare(key, made, facts) is None, compare(key, made, facts)


@pytest.mark.parametrize("key", [key for key in ANSWERS["facts"] if key.startswith("outcomes|")])
def test_outcomes(key, monkeypatch):
    """Every outcome there occurs here and the other way round."""
    _, image, expression = key.split("|", 2)
    rgb = cases.part(vision.Decode()(np.fromfile(cases.IMAGES / image, np.uint8)), image)
    monkeypatch.setitem(config._values, "seed", 2024)
    transform = eval(expression, NAMES)
    n = dict(cases.OUTCOMES)[expression]
    here = {record.digest(made): record.kept(made) for made in (transform(rgb) for _ in range(2 * n))}
    there = [stored(key, mark) for mark in ANSWERS["facts"][key]]

    def near(a, b):
        return a.shape == b.shape and distance(a, b) <= 1

    missing = [i for i, a in enumerate(there) if not any(near(a, b) for b in here.values())]
    more = [mark for mark, b in here.items() if not any(near(a, b) for a in there)]
    most_missing, most_more = TRANSLATED.get(expression, (0, 0))
    assert len(missing) <= most_missing and len(more) <= most_more, \
        f"{len(missing)} of {len(there)} missing, {len(more)} of {len(here)} unknown there"


def test_how_many_are_exact(capsys):
    count = Counter()
    for key, facts in ANSWERS["facts"].items():
        if key.startswith("outcomes|") or isinstance(facts, str):
            continue
        made = cases.call(QUESTIONS[key][0], NAMES, *QUESTIONS[key][1])
        same = not isinstance(made, str) and [record.digest(np.asarray(a)) for a in made] == [f[2] for f in facts]
        count["exact" if same else "near"] += 1
    with capsys.disabled():
        print(f"\noracle_vision: {count['exact']} of {sum(count.values())} answers equal to the last bit")
    assert count["exact"] > 0.7 * sum(count.values())

# SPDX-License-Identifier: Apache-2.0
"""Transforms give what MindSpore 2.10 gives: recorded answers (record.py) to the expressions of cases.py.

Exact where pixels are moved, labels, types and arrays; one level in 255 where values are interpolated or computed from
colours (the same sums in another order of rounding); float results to 1e-5.
"""
import json
import random
from collections import Counter

import numpy as np
import pytest

from oracle_vision import cases, coverage, record, spread
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
    ("flower.gif", "read|"): "GIF is decoded here, refused there",
    ("flower.gif", "decode|"): "the same",
    (".webp", "read|"): "WebP is decoded here, refused there",
    (".webp", "decode|"): "the same",
    ("NormalizePad(",): "there the fourth channel of images of more than one pixel holds values of other pixels",
    ("array|np.array([2, 1], np.int64)", "OneHot(4, 0.1)"): "there the first row of several has no class",
    ("PadEnd([None, 4])",): "None keeps a dimension here, as the documentation says; there it is refused",
    ("Slice(slice(None, None, 2))",): "slices without an end are refused there",
    ("HWC2CHW()", "np.arange(24)"): "int64 is refused there",
}
def stored(key):
    return ARRAYS[f"arr_{ANSWERS['where'][key]}"]


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
    if key.startswith("video|"):
        return 2.0  # FFmpeg's way from YUV to RGB, which changed from version to version
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
        off = distance(record.kept(array), stored(f"{key}|{i}"))
        if off > limit(key, array):
            return f"result {i} is off by {off:g}"
    return None


def keys(*kinds):
    return [key for key in ANSWERS["facts"] if key.split("|")[0] in kinds]


def calls(key, table, monkeypatch):
    """The results of as many calls as were recorded, and their number; the same ones in every run."""
    _, image, expression = key.split("|", 2)
    if "ToPIL" in expression:
        pytest.importorskip("PIL")
    rgb = cases.part(vision.Decode()(np.fromfile(cases.IMAGES / image, np.uint8)), image)
    monkeypatch.setitem(config._values, "seed", 2024)
    random.seed(2024)
    np.random.seed(2024)
    n, kind = next((n, kind) for e, n, kind in table if e == expression)
    return cases.often(expression, NAMES, rgb, image, kind, n), n


@pytest.mark.parametrize("key", [key for key in ANSWERS["facts"] if key not in keys("outcomes", "spread")])
def test_answer(key):
    expression, inputs = QUESTIONS[key]
    facts = ANSWERS["facts"][key]
    if "ToPIL" in expression:
        pytest.importorskip("PIL")
    if key.startswith("video|"):
        pytest.importorskip("av")
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


@pytest.mark.parametrize("key", keys("outcomes"))
def test_outcomes(key, monkeypatch):
    """The outcomes are those that occur there, each as often: within 4.5 standard deviations of the difference of two counts."""
    made, n = calls(key, cases.OUTCOMES, monkeypatch)
    kinds, counts = cases.outcomes(made)
    there, counts_there = stored(key), ANSWERS["facts"][key]
    assert kinds.shape[1] == there.shape[1]
    rows, left, wrong = np.concatenate([there, kinds]), set(range(len(there) + len(kinds))), []
    while left:  # outcomes that differ by a level from one to the next count as one
        group = [left.pop()]
        for i in group:
            group += left.intersection(cases.near(rows[i], rows))
            left.difference_update(group)
        a, b = (sum(times[i - start] for i in group if start <= i < start + len(times)) for start, times in
                ((0, counts_there), (len(there), counts)))
        share = (a + b) / (2 * n)
        if abs(a - b) > 4.5 * np.sqrt(2 * n * share * (1 - share)):
            wrong.append((a, b))
    assert not wrong, f"of {len(there)} outcomes there and {len(kinds)} here, as often there and here: {wrong} of {n}"


@pytest.mark.parametrize("key", keys("spread"))
def test_spread(key, monkeypatch):
    """The measure of the results is distributed as there; a quarter of a thousandth is a difference of rounding."""
    made, _ = calls(key, cases.SPREADS, monkeypatch)
    here, there = np.sort([cases.measure(one) for one in made]), stored(key)
    distance, limit = spread.apart(here, there, 2.5e-4 * np.max(np.abs(there), initial=1))
    assert distance <= limit


def test_every_transform_is_covered():
    """Three different subjects at least for every name of MindSpore 2.10, but for those with a reason (coverage.py)."""
    few = {name for name, (_, subjects) in coverage.count().items() if subjects < coverage.WANTED}
    assert few == set(coverage.REASONS)


def test_how_many_are_exact(capsys):
    count = Counter()
    for key, facts in ANSWERS["facts"].items():
        if key not in QUESTIONS or isinstance(facts, str):
            continue
        made = cases.call(QUESTIONS[key][0], NAMES, *QUESTIONS[key][1])
        same = not isinstance(made, str) and [record.digest(np.asarray(a)) for a in made] == [f[2] for f in facts]
        count["exact" if same else "near"] += 1
    with capsys.disabled():
        print(f"\noracle_vision: {count['exact']} of {sum(count.values())} answers equal to the last bit")
    assert count["exact"] > 0.7 * sum(count.values())

# SPDX-License-Identifier: Apache-2.0
"""Every recorded program, run with spore. A program in pending.txt must differ: one that does not has to leave the list
(python tests/graph/replay.py --pending)."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import graphtest  # noqa: E402

RECORDED = graphtest.recorded()
PENDING = graphtest.names_in(graphtest.PENDING)
DIFFERENT = graphtest.names_in(graphtest.DIFFERENT)


@pytest.fixture(scope="module")
def runner():
    with graphtest.Runner("spore") as one:
        yield one


def parameters():
    for name in RECORDED:
        marks = [pytest.mark.xfail(strict=True, reason="listed in pending.txt")] if name in PENDING else []
        yield pytest.param(name, id=name, marks=marks)


@pytest.mark.parametrize("name", list(parameters()))
def test_program(runner, name):
    word, fault = graphtest.verdict(runner, name, RECORDED[name], DIFFERENT)
    assert word in ("equal", "better"), fault


def test_lists_and_records_name_programs(runner):
    known = set(runner.programs)
    assert set(RECORDED) == known
    assert not set(PENDING) - known
    assert not set(DIFFERENT) - known


def test_what_mindspore_cannot_run_is_listed():
    """A crash or an endless run of MindSpore is no yardstick; different.txt says what is right instead."""
    assert not [name for name, result in RECORDED.items() if "crash" in result and name not in DIFFERENT]


def test_compare_sees_differences():
    """The judge itself: each of these pairs must differ, and the first of each pair must equal itself."""
    one = graphtest.Found("x", ["file", None, None, True])
    tensor = {"tensor": "Float32", "shape": [2], "values": [1.0, 2.0]}
    pairs = [({"out": tensor}, {"out": {**tensor, "values": [1.0, 2.1]}}),
             ({"out": tensor}, {"out": {**tensor, "tensor": "Float64"}}),
             ({"out": tensor}, {"out": {**tensor, "shape": [1, 2]}}),
             ({"out": {"list": [1]}}, {"out": {"tuple": [1]}}),
             ({"out": {"list": [1]}}, {"out": {"list": [1, 2]}}),
             ({"out": 1}, {"out": 1.0}),
             ({"out": True}, {"out": 1}),
             ({"out": {"dict": [["a", 1]]}}, {"out": {"dict": [["b", 1]]}}),
             ({"out": None, "stdout": "1\n"}, {"out": None, "stdout": "2\n"}),
             ({"out": None}, {"error": "TypeError", "message": ""}),
             ({"error": "TypeError", "message": ""}, {"error": "ValueError", "message": ""}),
             ({"error": "TypeError", "message": ""}, {"out": None}),
             ({"error": "TypeError", "message": ""}, {"crash": "SIGSEGV"})]
    for want, got in pairs:
        assert graphtest.compare(want, want, one) is None
        assert graphtest.compare(want, got, one) is not None

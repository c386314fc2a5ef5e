# SPDX-License-Identifier: Apache-2.0
"""Parameters that are written, random numbers with seeds, vmap over writes: as MindSpore 2.10 answered, in both modes."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from state_asking import answers, ask, close, different, pinned, reason_of  # noqa: E402
from surveys import SURVEYS  # noqa: E402

KNOWN = different()
PINNED = pinned()
QUESTIONS = [(survey, name) for survey in SURVEYS for name in answers(survey)]


def family(pair):
    return pair[0], pair[1].partition(".")[0]


@pytest.mark.parametrize("survey, group", sorted({family(pair) for pair in QUESTIONS}))
def test_answers(survey, group):
    """All questions of a survey about one operator."""
    texts, recorded, wrong = SURVEYS[survey](), answers(survey), []
    for name in [name for s, name in QUESTIONS if (s, name.partition(".")[0]) == (survey, group)]:
        for mode, theirs in recorded[name].items():
            reason = reason_of(KNOWN, survey, name, mode)
            theirs = theirs if reason is None or not reason.startswith("as eager") else recorded[name]["eager"]
            wanted = PINNED.get(survey, {}).get(name, {}).get(mode, theirs)
            if not close(wanted, ours := ask("spore", texts[name], mode)):
                wrong.append(f"{name} {mode}: MindSpore {theirs}, before {wanted}, here {ours}")
    assert not wrong, "\n".join(wrong)


def test_every_question_has_an_answer():
    assert {(s, n) for s in SURVEYS if answers(s) for n in SURVEYS[s]()} == set(QUESTIONS)


def test_every_reason_is_needed():
    """No line of different.txt covers nothing."""
    for survey, pattern, mode, _ in KNOWN:
        assert any(reason_of([(survey, pattern, mode, "x")], s, n, m) for s, n in QUESTIONS for m in ("eager", "graph")), pattern


def test_what_is_pinned_has_a_reason():
    for survey, named in PINNED.items():
        for name, modes in named.items():
            assert all(reason_of(KNOWN, survey, name, mode) for mode in modes), f"{survey} {name}"

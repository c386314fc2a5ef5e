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
    """Survey and operator, or optimizer, of a question."""
    return pair[0], ".".join(pair[1].split(".")[:2 if pair[0] == "optimizers" else 1])


FAMILIES = sorted({family(pair) for pair in QUESTIONS})


@pytest.mark.parametrize("survey, group", [pytest.param(*f, marks=pytest.mark.long) if f[0] == "optimizers" else f for f in FAMILIES])
def test_answers(survey, group):
    """All questions of a survey about one operator."""
    check(survey, [name for s, name in QUESTIONS if family((s, name)) == (survey, group)])


def test_optimizers_in_compiled_functions():
    """The quick part of that survey: every optimizer with its defaults."""
    check("optimizers", [name for s, name in QUESTIONS if s == "optimizers" and name.endswith(".default.jit")], modes=("graph",))


def check(survey, names, modes=("eager", "graph")):
    texts, recorded, wrong = SURVEYS[survey](), answers(survey), []
    for name in names:
        for mode, theirs in [(mode, recorded[name][mode]) for mode in modes]:
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

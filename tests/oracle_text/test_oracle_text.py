# SPDX-License-Identifier: Apache-2.0
"""Transforms of text give what MindSpore 2.10 gives, exactly: recorded answers (record.py) to cases.py."""
import json

import pytest

import spore
from oracle_text import cases
from spore.dataset import text

ANSWERS = json.loads((cases.HERE / "answers.json").read_text(encoding="utf-8"))
QUESTIONS = {key: (expression, inputs) for key, expression, inputs in cases.questions()}
NAMES = cases.scope(text, spore)
# Answers that differ on purpose: words of the key, and the reason.
DIFFERENT = {
    ("FilterWikipediaXML()(' '.join",): "there every capital R is dropped",
    ("words|2|", "TruncateSequencePair"): "there an empty sequence is refused, though not in a pipeline",
    ("words|6|", "TruncateSequencePair"): "the same",
}
# Offsets that differ on purpose: the words are the same.
OFFSETS = {
    ("BertTokenizer(vocab, '##', 2", "|True"): "there a word that is too long ends as far behind its start as [UNK] has "
                                                "letters",
    ("1|text.BertTokenizer(vocab, '##', 100, ''", "|True"): "there parts of a word that were tried in vain leave offsets "
                                                            "behind, so that there are more of them than words",
    ("WordpieceTokenizer(vocab, '##', 100,", ", True)"): "the same",
    ("WordpieceTokenizer(vocab, '##', 4, '[UNK]', True)",): "a word that is too long, as above",
}


@pytest.mark.parametrize("key", list(ANSWERS))
def test_answer(key):
    expression, inputs = QUESTIONS[key]
    made = cases.answer(expression, inputs, NAMES)

    def reason(table):
        return next((why for words, why in table.items() if all(word in key for word in words)), None)

    if reason(OFFSETS) is not None:
        assert made[0] == ANSWERS[key][0], f"the words are the same, only offsets differ: {reason(OFFSETS)}"
    elif reason(DIFFERENT) is None or made == ANSWERS[key]:  # not every answer of such a kind differs
        assert made == ANSWERS[key]
    else:
        assert isinstance(made, list), f"{made} (differs on purpose: {reason(DIFFERENT)})"


def test_everything_asked_was_answered():
    assert set(ANSWERS) == set(QUESTIONS)

# SPDX-License-Identifier: Apache-2.0
"""The messages of mistakes.txt are what mistakes are told now."""
import mistakes

TABLE = mistakes.read()


def test_every_mistake_is_told_what_the_table_says():
    names = mistakes.prelude()
    wrong = [f"{mistake}\n  told   {found}\n  listed {listed}" for mistake, listed in TABLE
             if (found := mistakes.told(mistake, names)) != listed]
    assert not wrong, "messages have changed; if they are better, tests/messages/mistakes.py writes them down:\n" + "\n".join(wrong)


def test_no_mistake_passes_in_silence():
    assert len(TABLE) >= 100
    assert not [mistake for mistake, listed in TABLE if listed == "nothing" or len(listed) < 25]


def test_no_message_says_a_thing_twice():
    """'cross_entropy: nll_terms: ...' names an operator that nobody called."""
    for mistake, listed in TABLE:
        front = listed.split(": ")
        assert not (len(front) > 3 and front[1].isidentifier() and front[2].isidentifier()), mistake

# SPDX-License-Identifier: Apache-2.0
"""What MindSpore 2.10 refuses is refused here with the same exception, and with a message."""
import pytest

from oracle_vision import bad_calls
from spore.dataset import transforms, vision

WANTED = dict(reversed(line.split("\t", 1)) for line in
              (bad_calls.cases.HERE / "bad_calls.txt").read_text(encoding="utf-8").splitlines())
# a clearer exception than MindSpore's
DIFFERENT = {"transforms.Compose([vision.Invert()])()": "TypeError"}


@pytest.mark.parametrize("call", bad_calls.CALLS)
def test_bad_call(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert bad_calls.answer(call, vision, transforms) == DIFFERENT.get(call, WANTED[call])


def test_every_call_was_recorded():
    assert set(WANTED) == set(bad_calls.CALLS)
    assert sum(answer != "fine" for answer in WANTED.values()) > 240

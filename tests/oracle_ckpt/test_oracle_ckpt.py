# SPDX-License-Identifier: Apache-2.0
"""spore's half of the cross-check with MindSpore, see cross_check.py, with the files recorded by record.sh."""
import pathlib
import sys

import spore

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import cross_check  # noqa: E402  pylint: disable=wrong-import-position


def test_file_of_mindspore_has_the_values():
    assert cross_check.load(spore, str(HERE / "mindspore.ckpt")) == 70


def test_our_file_is_the_one_that_mindspore_writes(tmp_path):
    cross_check.save(spore, str(tmp_path / "x.ckpt"))
    assert (tmp_path / "x.ckpt").read_bytes() == (HERE / "mindspore.ckpt").read_bytes()

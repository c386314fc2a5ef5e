# SPDX-License-Identifier: Apache-2.0
"""spore's half of the cross-check with MindSpore, see cross_check.py, with the files recorded by record.sh."""
import pathlib
import sys

import pytest

import spore

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import cross_check  # noqa: E402  pylint: disable=wrong-import-position


def test_file_of_mindspore_has_the_values():
    assert cross_check.load(spore, str(HERE / "mindspore.ckpt")) == 70


@pytest.mark.parametrize("name, mode", [("x.ckpt", "AES-GCM"), ("x.ckpt", "AES-CBC"), ("x.ckpt", "SM4-CBC"),
                                        ("x.safetensors", None)])
def test_what_the_log_says_can_be_repeated_here(name, mode, tmp_path):
    cross_check.save(spore, str(tmp_path / name), mode)
    assert cross_check.load(spore, str(tmp_path / name), mode) == (70 if mode else 68)
    log = (HERE / "log.txt").read_text()
    assert f"mindspore 2.10.0 read spore{'_' + mode if mode else ''}.{name.split('.')[1]}: " in log


def test_our_file_is_the_one_that_mindspore_writes(tmp_path):
    cross_check.save(spore, str(tmp_path / "x.ckpt"))
    assert (tmp_path / "x.ckpt").read_bytes() == (HERE / "mindspore.ckpt").read_bytes()

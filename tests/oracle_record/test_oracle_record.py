# SPDX-License-Identifier: Apache-2.0
"""spore's half of the cross-check with MindSpore, see cross_check_records.py: it still writes the files that MindSpore has read, and
reads them itself."""
import pathlib
import sys

import pytest

import spore.mindrecord as mr

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import cross_check_records as cross_check  # noqa: E402  pylint: disable=wrong-import-position


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    for name in cross_check.CASES:
        cross_check.write(mr, str(folder), name)
    yield str(folder)
    mr.set_enc_key(None)


def test_files_are_those_that_mindspore_has_read(folder):
    recorded = dict(reversed(line.split()) for line in (HERE / "sums.txt").read_text(encoding="utf-8").splitlines())
    assert cross_check.sums(folder) == recorded


@pytest.mark.parametrize("name", cross_check.CASES)
def test_files_have_the_values(folder, name):
    case = cross_check.CASES[name]
    assert cross_check.read(mr, folder, name) == len(case["rows"]) * len(case["schema"])


def test_mindspore_has_read_every_case():
    log = (HERE / "log.txt").read_text(encoding="utf-8")
    for name, case in cross_check.CASES.items():
        n = len(case["rows"]) * len(case["schema"]) * (1 if case.get("file_reader_only") else 2)
        assert f"mindspore 2.10.0 read {name}: {n} values equal" in log
    for name in cross_check.APPEND_TO:
        assert f"spore 0.1.0 read_appended {name}: " in log and f"mindspore 2.10.0 read_appended {name}: " in log

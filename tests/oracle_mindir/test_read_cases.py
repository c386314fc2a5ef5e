# SPDX-License-Identifier: Apache-2.0
"""Files that MindSpore 2.10 wrote, one for every primitive that the cases of tests/oracle lead to, give its results here.

`cases_as_files.py` made them. cases_different.txt lists those that do not, with reasons; one that does has to leave the list.
"""
import tarfile
from pathlib import Path

from cases_as_files import read_one

HERE = Path(__file__).parent


def test_cases_of_mindspore(tmp_path):
    different = {line.split()[0] for line in (HERE / "cases_different.txt").read_text(encoding="utf-8").splitlines() if line}
    with tarfile.open(HERE / "cases_2.10.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    paths = sorted(tmp_path.glob("*.mindir"))
    assert len(paths) > 240
    faults = {path.stem: fault for path in paths if (fault := read_one(path))}
    assert faults.keys() == different, {name: faults.get(name, "is equal") for name in faults.keys() ^ different}

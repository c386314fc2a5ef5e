# SPDX-License-Identifier: Apache-2.0
"""Every public name of MindSpore 2.10 is here, or its absence has a reason: data/names_2.10.txt.gz against data/missing_names.txt."""
import fnmatch
import gzip
import pathlib
import subprocess
import sys

DATA = pathlib.Path(__file__).parent / "data"
SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "missing-names"


def patterns():
    lines = (DATA / "missing_names.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_every_pattern_stands_below_a_reason():
    reason = None
    for line in (DATA / "missing_names.txt").read_text().splitlines():
        if not line:
            reason = None
        elif line.startswith("# "):
            reason = line
        else:
            assert reason, f"{line} has no reason"


def test_what_is_missing_has_a_reason_and_reasons_are_needed():
    out = subprocess.run([sys.executable, SCRIPT, DATA / "names_2.10.txt.gz", "-l"], stdout=subprocess.PIPE, check=True, text=True).stdout
    missing = out.splitlines()[:-1]
    assert out.splitlines()[-1].startswith(f"{len(gzip.open(DATA / 'names_2.10.txt.gz').read().splitlines())} names, {len(missing)} missing")
    known = patterns()
    unknown = [name for name in missing if not any(fnmatch.fnmatchcase(name, p) for p in known)]
    assert not unknown, f"not here, and without a reason in missing_names.txt: {unknown}"
    unused = [p for p in known if not any(fnmatch.fnmatchcase(name, p) for name in missing)]
    assert not unused, f"these reasons in missing_names.txt belong to nothing that is missing: {unused}"

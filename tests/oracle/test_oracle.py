# SPDX-License-Identifier: Apache-2.0
"""Every recorded case, replayed with spore. A case in pending.txt or different.txt must fail: one that passes has to leave
the list.

ORACLE_MODULE=mindspore replays with MindSpore instead, to test the harness.
"""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import oracle  # noqa: E402

SCOPE = oracle.scope_of(os.environ.get("ORACLE_MODULE", "spore"))
oracle.start(SCOPE)
GROUPS = oracle.answered()
RECORDED = {path.stem: oracle.load(path.stem) for path in sorted(oracle.DATA.glob("*.npz"))}


def parameters():
    lists = (oracle.pending(), oracle.PENDING.name), (oracle.different(), oracle.DIFFERENT.name)
    for case in oracle.load_cases():
        if case.id in RECORDED.get(case.file, {}):
            marks = [pytest.mark.xfail(strict=True, reason=f"listed in {file}") for names, file in lists
                     if case.id in names or case.api in names]
            yield pytest.param(case, id=case.id, marks=marks)


@pytest.mark.parametrize("case", list(parameters()))
def test_same_as_recorded(case):
    fault = oracle.compare(RECORDED[case.file][case.id], oracle.run(case, SCOPE), case)
    group = oracle.group_of(case, GROUPS)
    if group and fault and fault.startswith(oracle.ANSWER):
        pytest.xfail(f"listed in {oracle.DIFFERENT.name}: {GROUPS[group]}")
    assert fault is None, f"{case.code}: {fault}"


def test_listed_names_exist():
    cases = oracle.load_cases()
    known = {c.id for c in cases} | {c.api for c in cases}
    assert not oracle.pending().keys() - known
    assert not oracle.different().keys() - known


@pytest.mark.parametrize("group", list(GROUPS), ids=": ".join)
def test_group_is_needed(group):
    """A group none of whose cases differs any longer has to leave the list."""
    cases = [c for c in oracle.load_cases() if c.id in RECORDED.get(c.file, {}) and oracle.group_of(c, [group])]
    faults = (oracle.compare(RECORDED[c.file][c.id], oracle.run(c, SCOPE), c) for c in cases)
    assert any(fault and fault.startswith(oracle.ANSWER) for fault in faults)


def test_every_case_is_recorded_or_listed():
    listed = (oracle.HERE / "not_recordable.txt").read_text(encoding="utf-8")
    known = {name for results in RECORDED.values() for name in results}
    assert not [c for c in oracle.load_cases() if c.id not in known and f" {c.id} " not in listed]


def test_every_recorded_case_still_exists():
    known = {c.id for c in oracle.load_cases()}
    assert not {name for results in RECORDED.values() for name in results} - known

# SPDX-License-Identifier: Apache-2.0
"""Odd arguments and odd files never crash, hang, eat memory or give something silently empty: see pool.py for how this is judged.

`make check` sweeps over a part of every kind, `make check-long` over all of it.
"""
import os

import pytest

import pool

SWEEPS = ["odd_table", "odd_c", "odd_files", "odd_names", "expansions", "one_node", "starved"]
# One in so many units in `make check`.
EVERY = {"odd_table": 20, "odd_c": 20, "odd_files": 300, "odd_names": 60, "expansions": 1, "one_node": 1, "starved": 150}


@pytest.fixture(scope="module", autouse=True)
def print_counts(request):
    COUNT.clear()
    yield
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\nsweeps:", ", ".join(f"{name} {cases} cases of {units} units" for name, (units, cases) in COUNT.items()))


COUNT = {}


def run(name, units, monkeypatch, whole):
    monkeypatch.setenv("SPORE_SWEEP_WHOLE", "1" if whole else "0")
    cases, found = pool.sweep(name, units, jobs=os.cpu_count() or 1 if whole else 2)
    COUNT[name] = (len(units), cases)
    assert cases >= len(units) // 2, "hardly any case was made"
    assert not found, f"{len(found)} of {cases} cases:\n{pool.table_of(found)}"


@pytest.mark.parametrize("name", SWEEPS)
def test_a_part(name, monkeypatch):
    run(name, pool.units_of(name)[::EVERY[name]], monkeypatch, False)


@pytest.mark.long
@pytest.mark.parametrize("name", SWEEPS)
def test_all(name, monkeypatch):
    run(name, pool.units_of(name), monkeypatch, True)


def test_what_kills_is_found(tmp_path, monkeypatch):
    """The pool reports a crash, a hang, an exception that is none of ours and a result that is judged wrong, and goes on behind each."""
    (tmp_path / "deadly.py").write_text(
        "import os, signal, time\nfrom pool import Wrong\ndef fine(): pass\ndef wrong(): raise Wrong('wrong')\n"
        "def refuse(): raise ValueError('a text')\ndef silent(): raise ValueError()\ndef broken(): raise SystemError('broken')\n"
        "def die(): os.kill(os.getpid(), signal.SIGABRT)\ndef hang(): time.sleep(60)\ndef eat(): len(bytes(8 << 30))\n"
        "def cases(unit):\n    for f in (fine, wrong, refuse, silent, broken, die, hang, fine, eat): yield f.__name__, f\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    eats = [("a", "eat"), ("b", "eat")] if pool.SANITIZED else []     # no limit of memory but that of the sanitizer, which ends the process
    monkeypatch.setattr(pool, "SANITIZED", False)
    cases, found = pool.sweep("deadly", ["a", "b"], seconds=1)
    found = [row for row in found if row[:2] not in eats]
    assert cases == 18
    assert sorted(text for unit, text, _ in found if unit == "a") == ["broken", "die", "hang", "silent", "wrong"]
    assert "code -6" in next(what for _, text, what in found if text == "die") and "too long" in next(what for _, text, what in found if text == "hang")

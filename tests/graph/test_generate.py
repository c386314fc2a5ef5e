# SPDX-License-Identifier: Apache-2.0
"""Random programs agree between plain Python and compiled code, values and gradients, bit by bit."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import generate  # noqa: E402


def run(*options, **environment):
    return subprocess.run([sys.executable, str(HERE / "generate.py"), "--show", *options], capture_output=True, text=True,
                          env=dict(os.environ, **environment))


def test_compiled_programs_agree_with_eager():
    result = run("--seed", "1", "--count", "60")
    assert result.returncode == 0, result.stdout + result.stderr


def test_programs_in_pieces_agree_with_eager():
    result = run("--seed", "5", "--count", "60", "--breaks")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.long
def test_many_compiled_programs_agree_with_eager():
    result = run("--seed", "2", "--count", "1500")
    assert result.returncode == 0, result.stdout + result.stderr


PASSES = re.findall(r'^\w+\((\w+)', (HERE.parents[1] / "src/graph/passes/passes.def").read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize("name", PASSES)
def test_programs_agree_without_a_pass(name):
    result = run("--seed", "3", "--count", "8", SPORE_PASSES=f"-{name}")
    assert result.returncode == 0, result.stdout + result.stderr


def test_programs_depend_on_the_seed_alone():
    assert generate.sources(1, 5) == generate.sources(1, 5)
    assert generate.sources(1, 5) != generate.sources(2, 5)
    assert generate.sources(1, 8).startswith(generate.sources(1, 5).rstrip("\n"))
    for word in ("while", "for", "if", "else", "break", "continue", "lambda", "def g", "append", "['p']", "return"):
        assert word in generate.sources(1, 200), word


def test_differences_are_seen():
    """The judge itself."""
    same = {"eager value 0": {"tuple": [1.0]}, "compiled value 0": {"tuple": [1.0]}}
    other = {"eager value 0": {"tuple": [1.0]}, "compiled value 0": {"tuple": [1.0000001]}}
    raises = {"eager value 0": {"tuple": [1.0]}, "compiled value 0": {"dict": [["raises", "TypeError"], ["message", "m"]]}}
    assert generate.fault(same, 0.0) is None
    for bad in (other, raises, {"crash": "SIGSEGV"}):
        assert generate.fault(bad, 0.0)

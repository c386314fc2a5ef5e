# SPDX-License-Identifier: Apache-2.0
"""The walk over the operator table and the tests of files in programs that are not as usual: with a decimal comma, on
threads of 64 KB, in forked children, with fewer instructions than the machine has. See world.py. Quick here: the results of
all operators, and some operators and files in the world of all three; whole suites in `make check-long`, there at every level of
instructions that the machine has."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LOCALES = ["de_DE.UTF-8", "tr_TR.UTF-8", "tr_TR.ISO-8859-9", "ps_AF.UTF-8"]
TABLE = ["tests/ops/test_op_table.py"]
FILES = ["tests/formats", "tests/data", "tests/onnx", "tests/tflite", "tests/python/test_serialization.py"]
ISAS = ["portable", "avx2", "avx512"]


def environment(world, **more):
    env = dict(os.environ, SPORE_BUILD=os.environ.get("SPORE_BUILD", str(ROOT / "build")), **more)
    env["PYTHONPATH"] = os.pathsep.join([str(HERE)] + [p for p in [env.get("PYTHONPATH")] if p])
    if world:
        env["SPORE_WORLD"] = world
    return env


def machine_has(isa):
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split() if os.path.exists("/proc/cpuinfo") else []
    return isa == "portable" or {"avx2": "avx2", "avx512": "avx512f"}[isa] in flags


def suite(world, tests, *options, **more):
    """Run tests in a world; they must all pass, and there must be some."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "world", "-p", "no:cacheprovider", *options, *tests], cwd=ROOT,
                          env=environment(world, **more), capture_output=True, encoding="utf-8", errors="replace")
    assert done.returncode == 0, f"world '{world}' {more}:\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    assert " passed" in done.stdout


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """Results of all operators in a world, by name."""
    def walk(world, **more):
        out = tmp_path_factory.mktemp("walk") / "out.npz"
        done = subprocess.run([sys.executable, HERE / "walk.py", out], cwd=ROOT, env=environment(world, **more), capture_output=True,
                              encoding="utf-8", errors="replace")
        assert done.returncode == 0, done.stderr[-2000:]
        with np.load(out) as file:
            return {name: file[name] for name in file.files}
    return walk


@pytest.fixture(scope="module")
def usual(walked):
    results = walked(None)
    assert len(results) > 800
    return results


def same(usual, found):
    assert usual.keys() == found.keys()
    for name in usual:
        a, b = usual[name], found[name]
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), name


@pytest.mark.parametrize("world", LOCALES + ["fork", "de_DE.UTF-8 fork"])
def test_operators_give_the_same_bits(usual, walked, world):
    same(usual, walked(world))


def test_files_in_an_unusual_program():
    suite("de_DE.UTF-8 fork stack", ["tests/formats/test_files.py", "tests/formats/test_forms.py"])


def test_table_in_an_unusual_program_with_few_instructions():
    suite("de_DE.UTF-8 fork stack", TABLE, "-k", "matmul or conv2d or softmax or leaky_relu", SPORE_ISA="portable")


@pytest.mark.long
@pytest.mark.parametrize("world", [*LOCALES, "fork", "stack", "de_DE.UTF-8 fork stack"])
def test_table_and_files(world):
    suite(world, TABLE + FILES)


@pytest.mark.long
@pytest.mark.parametrize("isa", ISAS)
def test_table_and_files_with_instructions(isa):
    if not machine_has(isa):
        pytest.skip(f"this machine has no {isa}")
    suite("de_DE.UTF-8 fork stack", TABLE + FILES, SPORE_ISA=isa)


@pytest.mark.long
def test_examples_in_an_unusual_program():
    suite("de_DE.UTF-8", ["tests/python/test_examples.py", "tests/python/test_docstrings.py"])

# SPDX-License-Identifier: Apache-2.0
"""MindSpore scripts, run as they are by `spore run`: their output is that of MindSpore 2.10, numbers within a tolerance.

expected/NAME.txt is what MindSpore prints; record it again with `python test_scripts.py record NAME...` in an environment that has it.
"""
import gzip
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
MNIST = HERE.parent.parent / "data" / "mnist"
NAMES = sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("test_"))
NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?|-?\d+(?:e[-+]?\d+)")
# What differs from run to run, and warnings that name the program.
TIMING = re.compile(r"^Train epoch time: .*$", re.M)


# Scripts that get the folder of MNIST, and those whose numbers are compared more closely than to 2e-3.
WITH_MNIST = {"quick_start", "lenet_losses"}
CLOSE = {"lenet_losses": 1e-4}


def unpack_mnist(folder):
    for path in MNIST.glob("*.gz"):
        (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    return str(folder)


def split(text):
    """(text with every fraction replaced and no spaces, which numpy uses to align; the fractions)"""
    text = TIMING.sub("Train epoch time", text)
    return re.sub(r"\s+", "", NUMBER.sub("<n>", text)), [float(v) for v in NUMBER.findall(text)]


def spore_command():
    """The command of the build under test."""
    return str(Path(os.environ["SPORE_BUILD"]) / "spore") if "SPORE_BUILD" in os.environ else None


def run(arguments, **options):
    command = spore_command()
    start = [command, "run"] if command and os.path.exists(command) else [sys.executable, "-m", "spore.run"]
    return subprocess.run(start + list(arguments), capture_output=True, text=True, timeout=300, **options)


@pytest.mark.parametrize("name", NAMES)
def test_script(name, tmp_path):
    arguments = [unpack_mnist(tmp_path)] if name in WITH_MNIST else []
    done = run([str(HERE / f"{name}.py"), *arguments], cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    text, numbers = split(done.stdout)
    expected_text, expected_numbers = split((HERE / "expected" / f"{name}.txt").read_text())
    assert text == expected_text
    close = CLOSE.get(name, 2e-3)
    for found, wanted in zip(numbers, expected_numbers):
        assert math.isclose(found, wanted, rel_tol=close, abs_tol=close), (found, wanted)


def test_there_are_scripts():
    assert len(NAMES) >= 36


if __name__ == "__main__" and sys.argv[1:2] == ["record"]:
    import tempfile
    for _name in sys.argv[2:] or NAMES:
        with tempfile.TemporaryDirectory() as _place:
            _arguments = [unpack_mnist(Path(_place))] if _name in WITH_MNIST else []
            _done = subprocess.run([sys.executable, str(HERE / f"{_name}.py"), *_arguments], stdout=subprocess.PIPE, text=True, check=True,
                                   cwd=_place)
            (HERE / "expected" / f"{_name}.txt").write_text(_done.stdout)

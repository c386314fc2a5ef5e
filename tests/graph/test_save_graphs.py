# SPDX-License-Identifier: Apache-2.0
"""save_graphs: the text of a program's graph in files, one a pass."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import spore as ms
from spore import context

NAME = re.compile(r"(\d\d)_([a-z_]+)_(\d{4})\.(ir|dot)")


@pytest.fixture(autouse=True)
def nothing_saved_afterwards():
    yield
    ms.set_context(save_graphs=0, save_graphs_path=".")


def compile_one(scale=2.0):
    @ms.jit
    def scaled(x):
        return (x * scale + 1.0) * (x * scale + 1.0)
    return scaled(ms.Tensor(np.arange(6, dtype=np.float32)))


def files_of(folder):
    """Of each program its files, in order."""
    programs = {}
    for name in sorted(os.listdir(folder)):
        match = NAME.fullmatch(name)
        assert match, name
        programs.setdefault(match[3], []).append((match[2], match[4]))
    return programs


@pytest.mark.parametrize("level", [1, 2, True, 3])
def test_files_of_every_level(tmp_path, level):
    folder = tmp_path / "below" / "graphs"  # made when needed
    ms.set_context(save_graphs=level, save_graphs_path=str(folder))
    y = compile_one()
    assert y.asnumpy()[5] == 121
    (files,) = files_of(folder).values()
    texts = [name for name, ending in files if ending == "ir"]
    assert texts[0] == "captured" and len(texts) > 1
    assert ("dot" in {ending for _, ending in files}) == (level == 3)
    if level == 1:
        every = len(texts)
        ms.set_context(save_graphs=2, save_graphs_path=str(tmp_path / "all"))
        compile_one()
        (files,) = files_of(tmp_path / "all").values()
        assert len(files) >= every


def test_first_line_says_what_was_compiled_and_the_text_is_readable(tmp_path):
    ms.set_context(save_graphs=2, save_graphs_path=str(tmp_path))
    compile_one()
    first = sorted(tmp_path.glob("00_captured_*.ir"))[0].read_text().splitlines()
    assert first[0].startswith("# ") and "scaled" in first[0] and "as captured" in first[0] and "test_save_graphs.py" in first[0]
    assert any("mul(" in line and "float32[6]" in line for line in first)
    assert any(line.endswith("const weak 2") or " = const 2" in line for line in first), first
    later = [p.read_text().splitlines()[0] for p in sorted(tmp_path.glob("0[1-9]_*.ir"))]
    assert later and all("after pass" in line for line in later)


def test_large_constants_are_cut(tmp_path):
    ms.set_context(save_graphs=1, save_graphs_path=str(tmp_path))
    table = ms.Tensor(np.arange(100000, dtype=np.float32))

    @ms.jit
    def add_table(x):
        return x + table
    add_table(ms.Tensor(np.zeros(100000, np.float32)))
    text = next(tmp_path.glob("00_captured_*.ir")).read_text()
    assert "0, 1, 2, 3, 4, 5, 6, 7, ... (100000 elements)" in text and len(text) < 10000


def test_each_program_has_files_of_its_own(tmp_path):
    ms.set_context(save_graphs=1, save_graphs_path=str(tmp_path))
    compile_one(2.0)
    compile_one(3.0)
    assert len(files_of(tmp_path)) == 2


def test_nothing_is_written_unless_asked(tmp_path):
    ms.set_context(save_graphs=False, save_graphs_path=str(tmp_path))
    compile_one()
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    ms.set_context(save_graphs=1, save_graphs_path=str(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        compile_one()


SCRIPT = """
import numpy as np, spore as ms
assert ms.get_context('save_graphs') == 0
print(ms.jit(lambda x: x * 2 + 1)(ms.Tensor(np.ones(3, np.float32))))
"""


def test_environment(tmp_path):
    env = dict(os.environ, MS_DEV_SAVE_GRAPHS="1", MS_DEV_SAVE_GRAPHS_PATH=str(tmp_path / "g"))
    subprocess.run([sys.executable, "-c", SCRIPT], env=env, check=True, timeout=60)
    assert list((tmp_path / "g").glob("00_captured_*.ir"))
    env["MS_DEV_SAVE_GRAPHS"] = "yes"
    wrong = subprocess.run([sys.executable, "-c", SCRIPT], env=env, timeout=60, stderr=subprocess.PIPE, text=True)
    assert wrong.returncode != 0 and "MS_DEV_SAVE_GRAPHS is 'yes'" in wrong.stderr


def test_options_of_earlier_programs_are_not_kept():
    assert context._graphs_saved()[1] == 0

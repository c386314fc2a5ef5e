# SPDX-License-Identifier: Apache-2.0
"""Programs as editors see them: pyright and mypy find nothing in the programs of README, tutorial and examples, jedi completes.

The package is looked at as installed, in a virtual environment. Run by `make check-long` with build/venv-beside.
"""
import json
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

pytest.importorskip("pyright", reason="pyright is not installed; build/venv-beside has it")
pytest.importorskip("mypy", reason="mypy is not installed; build/venv-beside has it")
jedi = pytest.importorskip("jedi", reason="jedi is not installed; build/venv-beside has it")

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """import spore as ms
from spore import nn, ops
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 4)
    def construct(self, x):
        return self.fc(x)
net = Net()
x = ms.Tensor([1.0])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A virtual environment with spore and numpy in it, and the programs beside it."""
    place = tmp_path_factory.mktemp("types")
    venv.create(place / "venv", with_pip=False)
    packages = place / "venv" / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    (packages / "spore").symlink_to(ROOT / "python/spore")
    (packages / "numpy").symlink_to(Path(sysconfig.get_path("purelib")) / "numpy")
    (place / "programs").mkdir()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for i, text in enumerate(re.findall(r"```python\n(.*?)```", readme, re.S)):
        (place / "programs" / f"readme_{i}.py").write_text(text, encoding="utf-8")
    for path in (ROOT / "examples/python").glob("*.py"):
        (place / "programs" / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    assert len(list((place / "programs").iterdir())) >= 5
    return place


TUTORIAL = ("tensors", "autograd", "network", "data", "training", "deploying")


def tutorial(folder, part):
    """What a page shows is one program, as a reader types it, beside the files it names."""
    place = folder / f"tutorial_{part}"
    place.mkdir(exist_ok=True)
    shown = []
    text = (ROOT / f"docs/start/{part}.md").read_text(encoding="utf-8")
    for note, block in re.findall(r"((?:<!-- [^\n]* -->\n)?)```python\n(.*?)```", text, re.S):
        if note.startswith("<!-- file: "):
            (place / note.split()[2]).write_text(block, encoding="utf-8")
        elif not note.startswith(("<!-- raises: ", "<!-- not run")):
            shown.append(block)
    (place / "page.py").write_text("\n".join(shown), encoding="utf-8")
    return place


@pytest.mark.parametrize("part", TUTORIAL)
def test_pyright_finds_nothing_in_the_tutorial(folder, part):
    assert pyright(folder, [tutorial(folder, part).name]) == []


@pytest.mark.parametrize("part", TUTORIAL)
def test_mypy_finds_nothing_in_the_tutorial(folder, part):
    """Names are used again for other things there, as one does in a shell: mypy is told to allow it, which pyright does by itself."""
    assert mypy(folder, ".", "--allow-redefinition-new", "--local-partial-types", cwd=tutorial(folder, part)) == "Success"


def pyright(folder, include):
    (folder / "pyrightconfig.json").write_text(json.dumps({"include": include, "venvPath": str(folder), "venv": "venv"}))
    run = subprocess.run([sys.executable, "-m", "pyright", "-p", str(folder), "--outputjson"], capture_output=True, text=True,
                         timeout=600)
    found = json.loads(run.stdout)
    assert found["summary"]["filesAnalyzed"] > 0
    return [f"{Path(d['file']).name}:{d['range']['start']['line'] + 1}: {d['message']}" for d in found["generalDiagnostics"]
            if d["severity"] == "error"]


def test_pyright_finds_nothing(folder):
    assert pyright(folder, ["programs"]) == []


def test_pyright_knows_what_calls_give(folder):
    (folder / "typed.py").write_text((Path(__file__).parent / "typed_program.py").read_text(encoding="utf-8"), encoding="utf-8")
    assert pyright(folder, ["typed.py"]) == []


def test_pyright_sees_mistakes(folder):
    """It looks into the package at all: a Tensor has no such method."""
    (folder / "wrong.py").write_text(PROGRAM + "net(x).no_such_method()\n", encoding="utf-8")
    assert [line for line in pyright(folder, ["wrong.py"]) if "no_such_method" in line]


def mypy(folder, what, *options, cwd=None):
    """Success, or all that it says."""
    run = subprocess.run([sys.executable, "-m", "mypy", "--python-executable", str(folder / "venv/bin/python"), "--cache-dir", str(folder / "cache"), *options, what],
                         cwd=cwd or folder, capture_output=True, text=True, timeout=600)
    return "Success" if run.returncode == 0 and "no issues found" in run.stdout else run.stdout + run.stderr


def test_mypy_finds_nothing(folder):
    assert mypy(folder, "programs") == "Success"


def test_mypy_sees_mistakes(folder):
    (folder / "wrong_for_mypy.py").write_text("import spore as ms\nms.Tensor([1.0]).no_such_method()\n", encoding="utf-8")
    assert "no_such_method" in mypy(folder, "wrong_for_mypy.py")


@pytest.mark.parametrize("text, wanted", [
    ("net(x).", "asnumpy"), ("ops.relu(x).", "reshape"), ("nn.Dense(3, 4)(x).", "asnumpy"), ("net.", "trainable_params"),
    ("net.fc.", "construct"), ("ms.value_and_grad(net)(x)[0].", "asnumpy"), ("ms.ops.so", "softmax"), ("nn.Den", "Dense"),
    ("next(ms.dataset.NumpySlicesDataset([1]).create_dict_iterator())['a'].", "asnumpy")])
def test_jedi_completes(folder, text, wanted):
    environment = jedi.create_environment(str(folder / "venv"), safe=False)
    script = jedi.Script(PROGRAM + text, path=str(folder / "completed.py"), environment=environment)
    assert wanted in {found.name for found in script.complete()}

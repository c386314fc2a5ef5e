# SPDX-License-Identifier: Apache-2.0
"""Every public name is as tests/python/names.json has it: nothing goes, changes its arguments or its docstring unseen."""
import json
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "scripts/list-names"


def _script():
    loader = SourceFileLoader("list_names", str(SCRIPT))
    module = module_from_spec(spec_from_loader("list_names", loader))
    loader.exec_module(module)
    return module


def test_the_names_are_those_of_the_list():
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True)   # a process that has imported nothing
    assert done.returncode == 0, done.stdout + done.stderr


def test_differences_are_told():
    told = _script().differences({"a": "function (x) 1", "b": "class", "c": "value int"}, {"a": "function (y) 1", "c": "value int", "d": "class"})
    assert told == ["gone: b: class", "new: d: class", "changed: a: function (x) 1 -> function (y) 1"]


def test_the_list_has_what_programs_use():
    listed = json.loads((ROOT / "tests/python/names.json").read_text(encoding="utf-8"))
    for name in ("spore.Tensor.reshape", "spore.ops.relu", "spore.nn.Dense", "spore.mint.add", "spore.dataset.GeneratorDataset.split",
                 "spore._c_expression:", "spore.ops.operations._grad_ops:"):
        assert name in listed, name
    assert listed["spore.nn.Dense"].startswith("class (in_channels, out_channels,")

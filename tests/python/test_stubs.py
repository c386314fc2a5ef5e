# SPDX-License-Identifier: Apache-2.0
"""The stubs of the package are what scripts/make-stubs writes now, and show every public name with its arguments."""
import ast
import importlib.machinery
import importlib.util
import inspect
import types
from pathlib import Path

import pytest

import spore
from spore import _core, mint, nn, ops, train

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python/spore"


def load():
    loader = importlib.machinery.SourceFileLoader("make_stubs", str(ROOT / "scripts/make-stubs"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_stubs", loader))
    loader.exec_module(module)
    return module


MAKER = load()
STUBS = MAKER.stubs()


def parsed(path):
    return ast.parse((PACKAGE / path).read_text(encoding="utf-8"))


def shown(tree):
    """Names a stub declares: {name: node}."""
    names = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = node
        elif isinstance(node, ast.ImportFrom):
            names.update((a.asname, node) for a in node.names if a.asname)
    return names


def arguments(node):
    a = node.args
    found = [*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg]
    return [p.arg for p in found if p is not None]


def test_the_package_is_marked_as_typed():
    assert (PACKAGE / "py.typed").is_file()


@pytest.mark.parametrize("path", sorted(STUBS))
def test_stub_is_up_to_date(path):
    have = (PACKAGE / path).read_text(encoding="utf-8")
    assert have == STUBS[path], f"python/spore/{path} is out of date: run scripts/make-stubs"


def test_no_stub_is_left_over():
    assert sorted(str(p.relative_to(PACKAGE)) for p in PACKAGE.rglob("*.pyi")) == sorted(STUBS)


@pytest.mark.parametrize("module, path", [(spore, "__init__.pyi"), (ops, "ops/__init__.pyi"), (nn, "nn/__init__.pyi"),
                                          (mint, "mint/__init__.pyi"), (mint.nn.functional, "mint/nn/functional.pyi")],
                         ids=lambda v: getattr(v, "__name__", ""))
def test_every_public_name_is_shown(module, path):
    names = shown(parsed(path))
    missing = [n for n in module.__all__ if n not in names and not isinstance(getattr(module, n), types.ModuleType)]
    assert not missing, f"{path} lacks {missing}"


def test_names_that_spore_finds_elsewhere_are_shown():
    names = shown(parsed("__init__.pyi"))
    assert not [n for n in train.__all__ if n not in names]
    assert {"grad", "value_and_grad", "Model", "save_checkpoint", "nn", "float32", "Tensor", "Parameter"} <= set(names)


def test_every_member_of_tensor_is_shown():
    tensor = shown(parsed("_core.pyi"))["Tensor"]
    have = {n.name for n in tensor.body if isinstance(n, ast.FunctionDef)}
    have |= {n.target.id for n in tensor.body if isinstance(n, ast.AnnAssign)}
    missing = [n for n in MAKER.tensor_members() if n not in have]
    assert len(have) > 300 and not missing, f"the stub of Tensor lacks {missing}"


def test_arguments_are_those_of_the_live_functions():
    """Names of arguments in the stub, against inspect, for every function of the table that is shown as it is."""
    names, checked = shown(parsed("ops/__init__.pyi")), 0
    for name, (function, primitive) in _core.face_map()["ops"].items():
        if primitive or getattr(ops, name) is not function or len(MAKER.FACES["ops"][name]) > 1:
            continue
        assert arguments(names[name]) == list(inspect.signature(function).parameters), name
        checked += 1
    assert checked > 100


def test_classes_of_the_table_have_constructor_and_call():
    tree = shown(parsed("ops/__init__.pyi"))["LogSoftmax"]
    methods = {n.name: arguments(n) for n in tree.body if isinstance(n, ast.FunctionDef)}
    assert methods == {"__init__": ["self", "axis"], "__call__": ["self", "logits"]}


def test_types_come_from_the_table():
    function = shown(parsed("ops/__init__.pyi"))["log_softmax"]
    assert ast.unparse(function) == ast.unparse(ast.parse(
        'def log_softmax(logits: TensorLike, axis: int | Sequence[int]=-1) -> Tensor:\n'
        '    """The logarithm of softmax, computed without taking the logarithm of small numbers."""'))


def test_names_taken_from_plain_files_are_bound_there():
    """An import in a stub must lead to a module that binds the name, or an editor would show nothing."""
    for path in STUBS:
        for node in parsed(path).body:
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module.startswith("spore."):
                module = importlib.import_module(node.module)
                for alias in node.names:
                    found = alias.name == "TensorLike" or hasattr(module, alias.name)
                    assert found, f"{path}: {node.module}.{alias.name}"

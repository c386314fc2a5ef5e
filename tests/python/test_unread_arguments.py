# SPDX-License-Identifier: Apache-2.0
"""Arguments of public functions that their code never reads: each is in unread_arguments.txt with the reason why nothing is lost.

An argument that would change results or resources is not on the list: it is carried out, refused, or told once (spore._not_done), and
so it is read. A new argument that is forgotten is found here.
"""
import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "spore"
TABLE = Path(__file__).with_name("unread_arguments.txt")
# Made by scripts, or about the capture of programs, which no user calls.
SKIPPED = ("_examples.py", "_docstrings.py", "graph/", "rewrite/")
SPECIAL = ("__init__", "__call__", "__new__")


def loaded(nodes):
    """Names that are read, and attributes and texts that are mentioned."""
    names, mentioned = set(), set()
    for node in (n for top in nodes for n in ast.walk(top)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            mentioned.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            mentioned.add(node.value)
    return names, mentioned


def arguments(function):
    args = function.args
    found = [a.arg for a in args.posonlyargs + args.args + args.kwonlyargs] + [a.arg for a in (args.vararg, args.kwarg) if a]
    return [name for name in found if name not in ("self", "cls") and not name.startswith("_")]


def refuses(function):
    """Whether the function does nothing, or nothing but raise."""
    if any(isinstance(d, ast.Name) and d.id == "overload" for d in function.decorator_list):
        return True             # types for checkers; the function itself follows
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return bool(body) and isinstance(body[-1], ast.Raise) and len(body) <= 2


def unread_in(tree):
    """'function.argument' of everything public in a module."""
    def walk(node, path, holder):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
                yield from walk(child, path + [child.name], child)
            elif isinstance(child, (ast.If, ast.Try, ast.With)):
                yield from walk(child, path, holder)
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if (child.name.startswith("_") and child.name not in SPECIAL) or refuses(child):
                    continue
                read, _ = loaded(child.body)
                if holder and any("register" in ast.unparse(d) for d in child.decorator_list):  # arguments become attributes of the Primitive
                    read |= loaded([m for m in holder.body if m is not child])[1]
                if not read & {"locals", "vars"}:
                    yield from (".".join(path + [child.name, name]) for name in arguments(child) if name not in read)
    return walk(tree, [], None)


def unread():
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(SKIPPED):
            found |= {f"{name}:{argument}" for argument in unread_in(ast.parse(path.read_text(encoding="utf-8")))}
    return found


def listed():
    rows = [line.split(None, 1) for line in TABLE.read_text().splitlines() if line.strip() and not line.startswith("#")]
    assert all(len(row) == 2 for row in rows), "each line is an argument and a reason"
    return {name: reason for name, reason in rows}


def test_every_unread_argument_has_a_reason():
    new = sorted(unread() - set(listed()))
    assert not new, ("these arguments are accepted and never read: carry them out, refuse them, say once that nothing is done "
                     f"(spore._not_done), or list them in {TABLE.name} with the reason why nothing is lost: {new}")


def test_the_list_is_up_to_date():
    assert not sorted(set(listed()) - unread())


@pytest.mark.parametrize("source, wanted", [
    ("def f(x, y): return x", {"f.y"}),
    ("def f(x, *, keep=1, **more): return x", {"f.keep", "f.more"}),
    ("def f(x): raise ValueError", set()),
    ("def _f(x): return 1", set()),
    ("class A:\n def __init__(self, x): pass", {"A.__init__.x"}),
    ("class A:\n @prim_attr_register\n def __init__(self, x): pass\n def __call__(self): return self.x", set()),
    ("def f(x): x = 1", {"f.x"}),
])
def test_the_search_finds_what_is_unread(source, wanted):
    assert set(unread_in(ast.parse(source))) == wanted

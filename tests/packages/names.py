# SPDX-License-Identifier: Apache-2.0
"""The names that packages take from MindSpore, and which of them are not here.

    python names.py collect FOLDER ... > names.tsv     reads the syntax trees of packages, each unpacked in a folder NAME-VERSION
    python names.py check names.tsv > there.tsv        under MindSpore: which of them it has
    python names.py check names.tsv > here.tsv         under `spore run`: which of them are here
    python names.py compare names.tsv there.tsv here.tsv

A name is what stands in an import (`from mindspore.ops import add`) or is reached from an imported module (`ms.ops.add`, as far as attributes go).
compare prints the names that MindSpore has and spore has not, with the packages that take them and the reason in reasons.txt, and ends with 1 if one
has no reason."""
import ast
import collections
import importlib
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def dotted(node):
    """`a.b.c` of an attribute chain, or None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id] + parts[::-1]) if isinstance(node, ast.Name) else None


def ours(name):
    return name == "mindspore" or name.startswith("mindspore.")


def imported(tree):
    """What the imports of a module bind (alias -> dotted name), and all the names that they mention."""
    bound, names = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for a in node.names:
                if ours(a.name):
                    names.add(a.name)
                    bound[a.asname or "mindspore"] = a.name if a.asname else "mindspore"
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level and ours(node.module):
            names.add(node.module)
            for a in node.names:
                if a.name != "*":
                    names.add(f"{node.module}.{a.name}")
                    bound[a.asname or a.name] = f"{node.module}.{a.name}"
    return bound, names


def names_of(source):
    """All the names of MindSpore that a module uses."""
    tree = ast.parse(source)
    bound, names = imported(tree)
    for node in ast.walk(tree):
        chain = dotted(node) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) else None
        if chain:
            first, _, rest = chain.partition(".")
            if first in bound:
                names.add(f"{bound[first]}.{rest}")
    return names


def collect(folders):
    users = collections.defaultdict(set)
    for folder in map(pathlib.Path, folders):
        for path in folder.rglob("*.py"):
            try:
                found = names_of(path.read_text(encoding="utf-8", errors="replace"))
            except (SyntaxError, ValueError, RecursionError):
                continue
            for name in found:
                users[name].add(folder.name)
    for name in sorted(users):
        print(name, " ".join(sorted(users[name])), sep="\t")


def attribute(place, names):
    """Whether a chain of attributes can be followed."""
    for name in names:
        try:
            place = getattr(place, name)
        except AttributeError:
            return False
    return True


def has(name):
    """Whether a dotted name can be reached: from the longest part of it that is a module, as an import does, or by attributes alone."""
    parts = name.split(".")
    for i in range(len(parts), 0, -1):
        try:
            place = importlib.import_module(".".join(parts[:i]))
        except ImportError:
            continue
        return attribute(place, parts[i:]) or attribute(importlib.import_module(parts[0]), parts[1:])
    return False


def check(path):
    for line in open(path):
        name = line.split("\t")[0]
        try:
            answer = has(name)
        except Exception as e:      # a module that raises while it is imported is not there
            answer = f"{type(e).__name__}: {e}".split("\n")[0]
        print(name, {True: "yes", False: "no"}.get(answer, answer), sep="\t", flush=True)


def reasons():
    """Dotted name -> why it is not here."""
    known, why = {}, None
    for line in (HERE / "reasons.txt").read_text().splitlines():
        if line.startswith("# "):
            why = line[2:]
        elif line.strip():
            known[line.strip()] = why
    return known


def compare(names, there, here):
    users = dict(line.rstrip("\n").split("\t") for line in open(names))
    there, here = (dict(line.rstrip("\n").split("\t")[:2] for line in open(path)) for path in (there, here))
    known, missing, unexplained = reasons(), [], 0
    for name, answer in there.items():
        if answer == "yes" and here.get(name) != "yes" and not any(name.startswith(m + ".") for m in missing):
            missing.append(name)
            unexplained += name not in known
            print(name, known.get(name, "NO REASON"), users[name], sep="\t")
    print(f"{len(users)} names, {sum(a == 'yes' for a in there.values())} of them in MindSpore, {len(missing)} of these not here, {unexplained} without a reason")
    return unexplained > 0


if __name__ == "__main__":
    sys.exit({"collect": lambda *a: collect(a), "check": check, "compare": compare}[sys.argv[1]](*sys.argv[2:]))

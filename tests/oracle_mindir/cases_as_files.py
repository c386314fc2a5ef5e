#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of tests/oracle as MindIR files that MindSpore writes, and what spore makes of them.

    cases_as_files.py write FOLDER [FILE ...]   with a Python that has MindSpore 2.10: cases/FILE.py of tests/oracle, or all
    cases_as_files.py read FOLDER               with spore: every file is loaded and run; prints what differs and a count
    cases_as_files.py pack FOLDER ARCHIVE       with spore: of these files, enough to have every primitive that is in them; test_read_cases.py reads them

A case becomes a Cell whose construct is its code; its Tensors are the inputs. Only the first case of each code is taken. MindSpore refuses many (no
export of a Parameter that is made on the way, texts, gradients); those are left out.
"""
import ast
import importlib.util
import json
import re
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))
import oracle  # noqa: E402

LEFT_OUT = {"optimizers", "text", "errors", "initializers", "sampling", "control"}
HEAD = """import numpy as np
import mindspore as ms
from mindspore import Tensor, Parameter, ops, nn, mint
from mindspore.common import initializer
P, F, C = ops.operations, ops.functional, ops.composite
"""


def chosen(files):
    """The first case of every code that has Tensors as inputs."""
    seen, found = set(), []
    for case in oracle.load_cases():
        specs = [s for v in case.inputs.values() for s in (v if isinstance(v, (list, tuple)) else [v])]
        tensors = [s for s in specs if isinstance(s, str) and (m := oracle.SPEC.fullmatch(s)) and not m["how"]]
        if (case.kind != "exact" or case.file in LEFT_OUT or (files and case.file not in files) or (case.api, case.code) in seen or not tensors
                or any(isinstance(s, str) and s.startswith(("param:", "np:")) for s in specs)):
            continue
        seen.add((case.api, case.code))
        found.append(case)
    return found


class OfSelf(ast.NodeTransformer):
    """Cells made by the setup are parts of the Cell."""

    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        return ast.Attribute(ast.Name("self", ast.Load()), node.id, ast.Load()) if node.id in self.names else node


def module_of(case, path):
    """A module with the Cell of a case, and its inputs as arrays."""
    from mindspore import Tensor, nn
    scope = {"fill": oracle.filler(oracle.scope_of("mindspore")), **{k: v for k, v in oracle.scope_of("mindspore").items()}}
    made = {name: oracle.build(value, name, case.key, scope) for name, value in case.inputs.items()}
    arguments, inputs, lines = [], [], []
    for name, value in made.items():
        if isinstance(value, Tensor):
            arguments.append(name)
            inputs.append(value)
        elif isinstance(value, (list, tuple)) and value and all(isinstance(v, Tensor) for v in value):
            parts = [f"{name}_{i}" for i in range(len(value))]
            arguments += parts
            inputs += value
            lines.append(f"{name} = {'[' if isinstance(value, list) else '('}{', '.join(parts)},{']' if isinstance(value, list) else ')'}")
    path.write_text(HEAD + "from cases_scope import fill\n" + case.setup + "\n")
    sys.modules["cases_scope"] = type(sys)("cases_scope")
    sys.modules["cases_scope"].fill = scope["fill"]
    setup = load(path)
    cells = [k for k, v in vars(setup).items() if isinstance(v, nn.Cell)]
    body = ast.parse(case.code.strip()).body
    if not isinstance(body[-1], ast.Expr):
        raise ValueError("the case ends in no expression")
    body[-1] = ast.Return(body[-1].value)
    code = ast.unparse(ast.fix_missing_locations(OfSelf(cells).visit(ast.Module(body, []))))
    others = {k: v for k, v in made.items() if k not in arguments and not any(line.startswith(f"{k} = ") for line in lines)}
    path.write_text(HEAD + "from cases_scope import fill\n" + case.setup + "\n"
                    + "".join(f"{k} = {v!r}\n" for k, v in others.items())
                    + "class Net(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
                    + "".join(f"        self.{name} = {name}\n" for name in cells)
                    + f"    def construct(self, {', '.join(arguments)}):\n" + textwrap.indent("\n".join([*lines, code]), " " * 8) + "\n")
    return load(path).Net(), inputs


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)  # MindSpore looks it up by name
    spec.loader.exec_module(module)
    return module


def leaves(tree):
    """Arrays of a result; numbers count, other things do not."""
    if isinstance(tree, list):
        return [a for t in tree for a in leaves(t)]
    if "a" in tree:
        return [tree["a"]]
    return [np.asarray(tree["v"] if tree["t"] != "float" else float.fromhex(tree["v"]))] if tree["t"] in ("int", "float", "bool") else []


def write_one(case, folder):
    import mindspore as ms
    scope = {"ms": ms}
    path = folder / (re.sub(r"[^\w.-]", "_", case.id) + ".py")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net, inputs = module_of(case, path)
    net.set_train(False)
    wanted = leaves(oracle.plain(net(*inputs), scope))
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.export(net, *inputs, file_name=str(path.with_suffix(".mindir")), file_format="MINDIR")
    bf16 = [str(x.dtype) == "BFloat16" for x in inputs]
    arrays = {f"in{i:02}": (x.astype(ms.float32) if b else x).asnumpy() for i, (x, b) in enumerate(zip(inputs, bf16))}
    np.savez(path.with_suffix(".npz"), bf16=np.array(bf16), code=np.array(case.code), **arrays, **{f"out{i:02}": a for i, a in enumerate(wanted)})


def write(folder, files):
    """Cases in processes of their own, a hundred each: MindSpore dies of some."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = chosen(files)
    at = 0
    while at < len(cases):
        state = folder / "state.json"
        state.write_text(json.dumps([at, min(at + 100, len(cases))]))
        try:
            code = subprocess.run([sys.executable, __file__, "part", folder, *files], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900).returncode
        except subprocess.TimeoutExpired:
            code = -1
        reached = json.loads(state.read_text())[0]
        if code != 0:
            print(f"{cases[min(reached, len(cases) - 1)].id}: MindSpore's process ended", flush=True)
        at = max(reached + 1 if code != 0 else reached, at + 1)
    print(f"{len(list(folder.glob('*.npz')))} of {len(cases)} cases are written")


def part(folder, files):
    state, cases = folder / "state.json", chosen(files)
    at, end = json.loads(state.read_text())
    with open(folder / "refused.txt", "a", encoding="utf-8") as refused:
        for i in range(at, end):
            state.write_text(json.dumps([i, end]))
            try:
                write_one(cases[i], folder)
            except Exception as e:  # what MindSpore cannot write is no question to us
                print(f"{cases[i].id}: {type(e).__name__}: {' '.join(str(e).split())[:150]}", file=refused, flush=True)
    state.write_text(json.dumps([end, end]))


def read_one(path):
    """None, or what is wrong."""
    import spore
    from spore import Tensor
    with np.load(path.with_suffix(".npz")) as arrays:
        inputs = [Tensor(arrays[k]) for k in sorted(arrays) if k.startswith("in")]
        inputs = [x.astype(spore.bfloat16) if b else x for x, b in zip(inputs, arrays["bf16"])]
        wanted = [arrays[k] for k in sorted(arrays) if k.startswith("out")]
    try:
        net = spore.nn.GraphCell(spore.load(str(path)))
    except Exception as e:
        return f"load: {' '.join(str(e).split())[len(str(path)):300]}"
    try:
        found = leaves(oracle.plain(net(*inputs), {"ms": spore}))
    except Exception as e:
        return f"run: {type(e).__name__}: {' '.join(str(e).split())[:250]}"
    if [f.shape for f in found] != [w.shape for w in wanted]:
        return f"shapes: {[f.shape for f in found]}, wanted {[w.shape for w in wanted]}"
    for f, w in zip(found, wanted):
        if f.dtype != w.dtype:
            return f"dtype: {f.dtype}, wanted {w.dtype}"
        half = w.dtype in (np.float16, np.uint16)
        if not np.allclose(f.astype(complex), w.astype(complex), rtol=1e-2 if half else 1e-4, atol=1e-3 if half else 1e-5, equal_nan=True):
            return f"differs by {np.abs(f.astype(complex) - w.astype(complex)).max():.2g}"
    return None


def read(folder):
    bad = 0
    paths = sorted(path for path in folder.glob("*.mindir") if path.with_suffix(".npz").exists())
    for path in paths:
        if fault := read_one(path):
            bad += 1
            print(f"{path.stem}: {fault}", flush=True)
    print(f"{len(paths) - bad} of {len(paths)} files that MindSpore wrote give its results")
    return bad


def pack(folder, archive):
    import spore
    seen = set()
    with tarfile.open(archive, "w:xz") as out:
        for path in sorted(path for path in folder.glob("*.mindir") if path.with_suffix(".npz").exists()):
            types = {primitive.op_type for primitive in spore.load_mindir(str(path)).primitives}
            if types <= seen:
                continue
            seen |= types
            for one in (path, path.with_suffix(".npz")):
                entry = tarfile.TarInfo(one.name)
                entry.size = one.stat().st_size
                with open(one, "rb") as f:
                    out.addfile(entry, f)
    print(f"{len(seen)} primitives")


if __name__ == "__main__":
    what, where = sys.argv[1], Path(sys.argv[2])
    if what == "write":
        write(where, sys.argv[3:])
    elif what == "pack":
        pack(where, sys.argv[3])
    elif what == "part":
        part(where, sys.argv[3:])
    else:
        sys.exit(1 if read(where) else 0)

# SPDX-License-Identifier: Apache-2.0
"""Write questions/odd.txt: `python odd_inputs.py`, with spore. The walk: the calls of tests/oracle, and of docstrings for what stands in none of
them, with complex, uint64 and bool numbers, without elements, of rank 0 and of rank 8."""
import ast
import importlib
import re
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "oracle"))
import oracle  # noqa: E402

CALLS_OF_A_NAME = 2
LEFT_OUT = ("errors", "large", "indexing", "promotion", "initializers", "optimizers", "sampling", "control")
RANDOM = re.compile(r"[Rr]and|[Dd]ropout|normal|[Uu]niform|multinomial|[Bb]ernoulli|gamma\(|poisson|Sampler|seed|shuffle|print|choice|empty|Print|from_numpy|Custom|_ptr|save|load|"
                    r"RReLU|rrelu|initializer|exponential_|cauchy|log_normal|hook|\.name|clone\(|strides|ParameterTuple|typeof|Assert|storage_|Cauchy|Poisson|StandardLaplace|Gamma\(|get_bytes|context|mstype\.|jit|itemset")
SPEC = re.compile(r"((?:param:|np:)?)(f16|f32|f64|i32|i64)\[([\d,\s]*)\](\([^)]*\)|<\d+)?")
KINDS = ("c64", "c128", "u64", "bool")


class Spec:
    """Numbers in a call: a dtype, sizes, a range."""

    def __init__(self, how, kind, dims, low, high):
        self.how, self.kind, self.dims, self.low, self.high = how, kind, dims, low, high

    @property
    def indexes(self):
        return self.kind[0] == "i" and self.high is not None

    def text(self):
        numbers = ", ".join(map(str, [repr(self.kind), *self.dims]))
        if self.low is not None or self.high is not None:
            numbers += f", within=({self.low or 0}, {self.high})"
        return {"np:": f"a({numbers})", "param:": f"Parameter(t({numbers}))"}.get(self.how, f"t({numbers})")


def read_spec(text):
    match = SPEC.fullmatch(text) if isinstance(text, str) else None
    if not match:
        return None
    how, kind, dims, span = match.groups(default="")
    low, high = (float(v) if kind[0] == "f" else int(v) for v in span[1:-1].split(",")) if span.startswith("(") else (None, int(span[1:]) if span else None)
    return Spec(how, kind, [int(d) for d in dims.split(",") if d.strip()], low, high)


def specs(value):
    if isinstance(value, (list, tuple)):
        return [s for v in value for s in specs(v)]
    return [s for s in [read_spec(value)] if s]


def written(value, change):
    """A value as code."""
    if isinstance(value, (list, tuple)):
        inner = ", ".join(written(v, change) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    spec = read_spec(value)
    return repr(value) if spec is None else change(spec).text()


def changes(given):
    """What is made odd: functions of a spec."""
    floats = any(s.kind[0] == "f" for s in given)

    def follows(s):
        return s.kind[0] == "f" if floats else not s.indexes
    sizes = [d for s in given if follows(s) for d in s.dims]

    def typed(kind):
        return lambda s: Spec(s.how, kind, s.dims, *((s.low, s.high) if kind[0] == "c" else (None, None))) if follows(s) else s

    def without(size):
        return lambda s: Spec(s.how, s.kind, [0 if d == size else d for d in s.dims], s.low, s.high)
    found = [typed(kind) for kind in KINDS] + [without(size) for size in dict.fromkeys(sizes[:1] + sizes[-1:])]
    found.append(lambda s: Spec(s.how, s.kind, [], s.low, s.high) if follows(s) else s)
    found.append(lambda s: Spec(s.how, s.kind, [1] * (8 - len(s.dims)) + s.dims, s.low, s.high) if follows(s) else s)
    return found if given else []


class Put(ast.NodeTransformer):
    """Inputs in the place of their names."""

    def __init__(self, values):
        self.values = values

    def visit_Name(self, node):
        return ast.parse(self.values[node.id], mode="eval").body if node.id in self.values and isinstance(node.ctx, ast.Load) else node


def in_one_line(setup, code, values):
    """The question, or None where it needs several lines."""
    tree = ast.parse(f"{setup}\n{code}")
    if not isinstance(tree.body[-1], ast.Expr) or not all(isinstance(s, (ast.Expr, ast.Assign, ast.ImportFrom, ast.Import)) for s in tree.body):
        return None
    assigned = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    uses = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
    once = {k: v for k, v in values.items() if k not in assigned and uses.count(k) == 1}
    tree = ast.fix_missing_locations(Put(once).visit(tree))
    before = [f"{k} = {v}" for k, v in values.items() if k not in once and k in uses]
    lines = [*before, *map(ast.unparse, tree.body)]
    if len(lines) > 1:
        lines[-1] = "out = " + lines[-1]
    text = "; ".join(lines)
    return None if "\n" in text else text


def recorded_calls():
    """(name, setup, code, inputs) of tests/oracle."""
    for one in oracle.load_cases():
        if one.kind == "exact" and one.file not in LEFT_OUT and "fill(" not in one.setup + one.code:
            yield one.api, one.setup, one.code, one.inputs


class Literals(ast.NodeTransformer):
    """Tensors that are written out become inputs."""

    def __init__(self):
        self.inputs = {}

    def visit_Call(self, node):
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id in ("Tensor", "Parameter") and node.args and not isinstance(node.args[0], ast.Name)):
            return node
        try:
            value = np.array(ast.literal_eval(node.args[0]))
        except ValueError:
            return node
        dtype = "f" if value.dtype.kind == "f" else "i" if value.dtype.kind == "i" else ""
        if not dtype or len(node.args) > 2 or node.keywords:
            return node
        wanted = ast.unparse(node.args[1]).split(".")[-1] if len(node.args) == 2 else "float32" if dtype == "f" else "int64"
        kind = {"float16": "f16", "float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64"}.get(wanted)
        if kind is None:
            return node
        span = f"({value.min() - 0.25},{value.max() + 0.25})" if dtype == "f" and value.size and value.min() >= 0 else f"<{value.max() + 1}" if dtype == "i" and value.size and value.min() >= 0 else ""
        name = f"x{len(self.inputs)}"
        self.inputs[name] = f"{'param:' if node.func.id == 'Parameter' else ''}{kind}{list(value.shape)}{span}".replace(" ", "")
        return ast.copy_location(ast.Name(name, ast.Load()), node)


def example_calls(known):
    """The same from docstrings of names that stand in no case."""
    import spore as ms
    words = set(re.findall(r"\w+", known))
    for place in ("ops", "mint", "Tensor", "nn", "mint.nn.functional"):
        owner = ms.Tensor if place == "Tensor" else importlib.import_module("spore." + place)
        for name in sorted(n for n in dir(owner) if not n.startswith("_") and n not in words):
            lines = re.findall(r">>> (.*)", getattr(owner, name).__doc__ or "")
            lines = [line for line in lines if not line.startswith(("from ", "import "))]
            if not lines:
                continue
            try:
                tree = ast.parse("\n".join(lines))
            except SyntaxError:
                continue
            last = tree.body[-1]
            if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and ast.unparse(last.value.func) == "print":
                last.value = last.value.args[0] if len(last.value.args) == 1 else ast.Tuple(last.value.args, ast.Load())
            literals = Literals()
            tree = ast.fix_missing_locations(literals.visit(tree))
            yield f"{place}.{name}", "\n".join(map(ast.unparse, tree.body[:-1])), ast.unparse(tree.body[-1]), literals.inputs


def main():
    done, questions, known = {}, [], ""
    calls = list(recorded_calls())
    known = " ".join(setup + code for _, setup, code, _ in calls)
    for name, setup, code, inputs in [*calls, *example_calls(known)]:
        asked, text = done.setdefault(name, set()), setup + code
        if RANDOM.search(text) or text in asked or len(asked) == CALLS_OF_A_NAME:
            continue
        asked.add(text)
        for change in changes(specs(list(inputs.values()))):
            question = in_one_line(setup, code, {k: written(v, change) for k, v in inputs.items()})
            if question:
                questions.append(question)
    lines = list(dict.fromkeys(questions))
    (HERE / "questions" / "odd.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(len(lines), "questions about", len(done), "names")


if __name__ == "__main__":
    main()

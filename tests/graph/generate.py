# SPDX-License-Identifier: Apache-2.0
"""Random small programs, run as plain Python on eager Tensors and compiled: results and gradients must be the same, bit by
bit.

    python tests/graph/generate.py [--seed S] [--count N] [--rtol R] [--breaks] [--module spore|mindspore] [--show] [--keep FILE]

A program has arithmetic, `if` and `while` on Tensors, unrolled loops, break, continue, early returns, tuples, lists, dicts,
closures and lambdas, nested to a few levels. It is a function of two scalars and a vector that returns all its variables;
loops are bounded and every constant is exact in 32 bits, so both ways must agree. The same seed gives the same programs.
With --breaks there are also statements that Python has to run (numpy, float(), try), and capture_mode="bytecode".
"""
import argparse
import importlib.util
import pathlib
import random
import sys
import tempfile

import graphtest

SCALARS, VECTORS = ("a", "b", "c"), ("u", "v")
RESULT = ", ".join(SCALARS + VECTORS)
HEAD = '''"""Made by generate.py."""
import numpy as np
from mindspore import Tensor, ops
'''
OPENING = ["c = a * b", "v = u * a"]


class Writer:
    """Writes one function, statement by statement."""

    def __init__(self, rng, breaks=False):
        self.rng, self.lines, self.n_names, self.breaks = rng, [], 0, breaks

    def name(self, stem):
        self.n_names += 1
        return f"{stem}{self.n_names}"

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def constant(self):
        return str(self.rng.randrange(-8, 9) / 4)

    def scalar(self, level=2, extra=()):
        """An expression whose value is a scalar Tensor."""
        rng = self.rng
        kind = rng.randrange(7) if level else 0
        if kind <= 1:
            return rng.choice(SCALARS + tuple(extra))
        inner = self.scalar(level - 1, extra)
        if kind == 2:
            return f"ops.{rng.choice(('sin', 'tanh', 'abs', 'cos'))}({inner})"
        if kind == 3:
            return f"({inner} {rng.choice('+-*')} {self.constant()})"
        if kind == 4 and level > 1:
            return f"{self.vector(level - 1)}.{rng.choice(('sum', 'mean', 'max'))}()"
        if kind == 5 and level > 1:
            return f"({inner} if {self.condition()} else {self.scalar(level - 1, extra)})"
        return f"({inner} {rng.choice('+-*')} {self.scalar(level - 1, extra)})"

    def vector(self, level=2):
        """An expression whose value is a vector of three elements."""
        rng = self.rng
        kind = rng.randrange(6) if level else 0
        if kind <= 1:
            return rng.choice(VECTORS)
        if kind == 2:
            return f"ops.{rng.choice(('sin', 'tanh', 'relu'))}({self.vector(level - 1)})"
        if kind == 3:
            return f"({self.vector(level - 1)} {rng.choice('+-*')} {self.scalar(level - 1)})"
        if kind == 4:
            return f"ops.where({self.vector(0)} > {self.constant()}, {self.vector(level - 1)}, {self.vector(level - 1)})"
        return f"({self.vector(level - 1)} {rng.choice('+-*')} {self.vector(level - 1)})"

    def condition(self):
        left, compare = self.scalar(1), self.rng.choice("<>")
        return f"{left} {compare} {self.rng.choice((self.constant(), self.rng.choice(SCALARS)))}"

    def assign(self, depth):
        """Values stay small: a bounded function around most of them."""
        rng = self.rng
        if rng.random() < 0.6:
            text = self.scalar()
            self.put(depth, f"{rng.choice(SCALARS)} = " + (f"ops.tanh({text})" if rng.random() < 0.5 else text))
        else:
            text = self.vector()
            self.put(depth, f"{rng.choice(VECTORS)} = " + (f"ops.sin({text})" if rng.random() < 0.5 else text))

    def block(self, depth, budget, loop=False):
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth, budget, loop)

    def branch(self, depth, budget, loop):
        self.put(depth, f"if {self.condition()}:")
        self.block(depth + 1, budget - 1, loop)
        if loop and self.rng.random() < 0.3:
            self.put(depth + 1, self.rng.choice(("break", "continue")))
        elif not loop and self.rng.random() < 0.15:
            self.put(depth + 1, f"return {RESULT}")
        if self.rng.random() < 0.6:
            self.put(depth, "else:")
            self.block(depth + 1, budget - 1, loop)

    def run_time_loop(self, depth, budget):
        i = self.name("i")
        self.put(depth, f"{i} = Tensor(0)")
        extra = f" and {self.condition()}" if self.rng.random() < 0.3 else ""
        self.put(depth, f"while {i} < {self.rng.randint(1, 4)}{extra}:")
        self.put(depth + 1, f"{i} = {i} + 1")
        self.block(depth + 1, budget - 1, True)

    def unrolled_loop(self, depth, budget):
        i = self.name("i")
        self.put(depth, f"for {i} in range({self.rng.randint(1, 3)}):")
        self.put(depth + 1, f"{self.rng.choice(SCALARS)} = {self.scalar(1)} + {i} * {self.constant()}")
        self.block(depth + 1, budget - 1, True)

    def containers(self, depth):
        rng, items = self.rng, self.name("items")
        x, y, z = (rng.choice(SCALARS) for _ in range(3))
        kind = rng.randrange(4)
        if kind == 0:
            self.put(depth, f"{items} = [{x}, {self.scalar(1)}]")
            self.put(depth, f"{items}.append({y})")
            self.put(depth, f"{items}[0] = {items}[1] * {items}[-1]")
            self.put(depth, f"{z} = {items}[{rng.randrange(3)}] + {items}[0]")
        elif kind == 1:
            self.put(depth, f"{items} = ({x}, ({self.scalar(1)}, {y}))")
            self.put(depth, f"a, (b, c) = {items}")
        elif kind == 2:
            self.put(depth, f"{items} = {{'p': {self.scalar(1)}, 'q': {x}}}")
            self.put(depth, f"{items}['p'] = {items}['q'] - {items}['p']")
            self.put(depth, f"{z} = {items}['p']")
        else:
            names = list(SCALARS)
            rng.shuffle(names)
            self.put(depth, f"{', '.join(SCALARS)} = {', '.join(names)}")

    def function(self, depth):
        """A closure over names that nobody assigns again, called at once."""
        rng, g, kept, p = self.rng, self.name("g"), self.name("kept"), self.name("p")
        self.put(depth, f"{kept} = {self.scalar(1)}")
        if rng.random() < 0.5:
            self.put(depth, f"{g} = lambda {p}: {p} * {kept} {rng.choice('+-')} {self.constant()}")
        else:
            self.put(depth, f"def {g}({p}):")
            self.put(depth + 1, f"if {p} > {self.constant()}:")
            self.put(depth + 2, f"return ops.sin({p}) * {kept}")
            self.put(depth + 1, f"return {p} - {kept}")
        self.put(depth, f"{rng.choice(SCALARS)} = {g}({g}({self.scalar(1)}))")

    def broken(self, depth, budget=0):
        """What only Python can run."""
        rng = self.rng
        kind = rng.randrange(6)
        if kind == 0:
            self.put(depth, f"{rng.choice(VECTORS)} = Tensor(np.sort({self.vector(1)}.asnumpy()))")
        elif kind == 1:
            k = self.name("k")
            self.put(depth, f"{k} = float({self.scalar(1)}.asnumpy())")
            self.put(depth, f"{rng.choice(VECTORS)} = {self.vector(1)} * {k}")
            self.put(depth, f"{rng.choice(SCALARS)} = {self.scalar(1)} + {k} * 0.5")
        elif kind == 2:
            self.put(depth, f"if {self.scalar(1)}.asnumpy() > {self.constant()}:")
            self.block(depth + 1, budget - 1)
        elif kind == 3:
            items = self.name("items")
            self.put(depth, f"{items} = [{self.scalar(1)}, {self.vector(1)}]")
            self.put(depth, f"{items}.append(Tensor({items}[1].asnumpy() * 2))")
            self.put(depth, f"{rng.choice(VECTORS)} = {items}[1] + {items}[2] * {items}[0]")
        elif kind == 4:
            self.put(depth, "try:")
            self.assign(depth + 1)
            self.put(depth + 1, f"{rng.choice(SCALARS)} = {self.scalar(1)} + {{'k': 1.5}}[{rng.choice(('k', 'l'))!r}]")
            self.assign(depth + 1)
            self.put(depth, "except KeyError:")
            self.block(depth + 1, budget - 1)
        else:
            i = self.name("i")
            self.put(depth, f"for {i} in range(int(abs({rng.choice(SCALARS)}.asnumpy())) % 3 + 1):")
            self.put(depth + 1, f"{rng.choice(SCALARS)} = {self.scalar(1)} + {i}")
            self.block(depth + 1, budget - 1)

    def statement(self, depth, budget, loop):
        if self.breaks and self.rng.random() < 0.2:
            self.broken(depth, budget)
            return
        choices = ["assign"] * 4 + ["containers", "function"]
        if budget > 0:
            choices += ["branch"] * 3 + ["run_time_loop"] * 2 + ["unrolled_loop"]
        kind = self.rng.choice(choices)
        if kind == "branch":
            self.branch(depth, budget, loop)
        elif kind in ("run_time_loop", "unrolled_loop"):
            getattr(self, kind)(depth, budget)
        else:
            getattr(self, kind)(depth)

    def write(self, name):
        self.lines = [f"def {name}(a, b, u):", *("    " + line for line in OPENING)]
        for _ in range(self.rng.randint(3, 6)):
            self.statement(1, 2, False)
        self.put(1, f"return {RESULT}")
        return "\n".join(self.lines)


def sources(seed, count, breaks=False):
    """The text of a module with functions f0, f1, ... Each depends on the seed and its number alone."""
    return HEAD + "".join(f"\n\n{Writer(random.Random(f'{seed}/{i}'), breaks).write(f'f{i}')}\n" for i in range(count))


def load(text, path):
    """The module, from a file: compilation reads the source of a function."""
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def both_ways(f, ms, breaks=False):
    """Results and gradients of f, eager and compiled, as JSON."""
    from mindspore import Tensor
    points = [(0.5, -1.25, [1., -2., 0.75]), (-2., 0.25, [0.5, 0.5, -1.])]

    def total(a, b, u):
        a, b, c, u, v = f(a, b, u)
        return a + b + c + u.sum() + v.sum()
    mode = {"capture_mode": "bytecode"} if breaks else {}
    ways = {"eager": (f, ms.grad(total, (0, 1, 2))), "compiled": (ms.jit(f, **mode), ms.jit(ms.grad(total, (0, 1, 2)), **mode))}
    out = {}
    for way, (forward, backward) in ways.items():
        for i, point in enumerate(points):
            for what, call in (("value", forward), ("gradient", backward)):
                result = graphtest.raised(call, *(Tensor(p) for p in point))
                out[f"{way} {what} {i}"] = graphtest.plain(result)
    return out


def fault(result, rtol):
    """What differs between the two ways, in words; None if nothing."""
    if "crash" in result:
        return result["crash"]
    one = graphtest.Found("generated", ["", rtol, rtol, False])
    for key, want in result.items():
        way, _, rest = key.partition(" ")
        if way == "eager":
            other = result[f"compiled {rest}"]
            if "dict" in other and "dict" not in want:
                return f"compiled {rest} raises {dict(other['dict'])['raises']}: {dict(other['dict'])['message']}"
            words = graphtest.difference(want, other, one, f"compiled {rest}")
            if words:
                return words
    return None


def main():
    parser = argparse.ArgumentParser(description="run random programs eagerly and compiled")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", type=int, help="only the function of this number")
    parser.add_argument("--rtol", type=float, default=0.0, help="relative tolerance (0: bit by bit)")
    parser.add_argument("--breaks", action="store_true", help="with statements that only Python can run")
    parser.add_argument("--module", default="spore", help="package to test (spore)")
    parser.add_argument("--show", action="store_true", help="print every program that differs")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the programs in this file")
    args = parser.parse_args()
    ms = graphtest.import_package(args.module)
    text, n_bad = sources(args.seed, args.count, args.breaks), 0
    with tempfile.TemporaryDirectory() as folder:
        path = args.keep or pathlib.Path(folder) / "generated.py"
        module = load(text, path)
        chosen = range(args.count) if args.only is None else [args.only]
        for i in chosen:
            words = fault(graphtest.forked(lambda i=i: both_ways(getattr(module, f"f{i}"), ms, args.breaks)), args.rtol)
            if words:
                n_bad += 1
                print(f"f{i} of seed {args.seed}: {words}", flush=True)
                if args.show:
                    print(Writer(random.Random(f"{args.seed}/{i}"), args.breaks).write(f"f{i}"), flush=True)
    print(f"{len(chosen) - n_bad} of {len(chosen)} programs agree")
    return 1 if n_bad else 0


if __name__ == "__main__":
    raise SystemExit(main())

# SPDX-License-Identifier: Apache-2.0
"""Sweep over the public functions, methods and classes: the calls of tests/oracle, which MindSpore takes too, with each number that is written
in a call, and each Tensor of integers that goes in, replaced by odd ones; eagerly, compiled where the call is an expression, and with its gradient.

SPORE_SWEEP_WHOLE=1 takes every call of a name, else the one with most numbers in it.
"""
import ast
import os
import sys
import types
import warnings
from pathlib import Path

import numpy as np

import spore as ms

sys.path.append(str(Path(__file__).resolve().parents[1] / "oracle"))
import oracle  # noqa: E402
from odd import FLOATS, contents, numbers  # noqa: E402
from pool import SENSIBLE  # noqa: E402

warnings.simplefilter("ignore")
np.seterr(all="ignore")
ms.runtime.set_memory(max_size="0.3GB")
WHOLE = os.environ.get("SPORE_SWEEP_WHOLE") == "1"
SCOPE = oracle.scope_of("spore")
oracle.start(SCOPE)
# Lists as long as a number says, as they should be; and not functions of their arguments: they keep state for the whole process.
LEFT_OUT = ("decay_lr", "warmup_lr", "array_split", "set_", "seed", "context", "runtime.", "recompute", "Profiler", "dataset", "save_", "load_", "export", "hal.", "Print")
CALLS = {}
for call in oracle.load_cases():
    if call.kind != "error" and not any(word in call.api or word in call.code for word in LEFT_OUT):
        CALLS.setdefault(call.api, []).append(call)


def units():
    return sorted(CALLS)


def constants(tree):
    """Numbers in a call that are arguments, not of Python's own functions."""
    def long(n):
        return isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in ("range", "list", "tuple")
    inside = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and not long(n) and not ast.unparse(n.func).startswith("np.")]
    own = {id(n) for b in ast.walk(tree) if isinstance(b, ast.BinOp) and isinstance(b.left, ast.Constant) and isinstance(b.right, ast.Constant)
           for n in (b.left, b.right)}     # 2 ** 2147483648 is Python's affair, and so are 2147483648 layers in a list
    own |= {id(n) for c in ast.walk(tree) if long(c) and c.func.id == "range" for n in ast.walk(c)}
    places = {id(n): n for c in inside for a in [*c.args, *(k.value for k in c.keywords)] for n in ast.walk(a)
              if isinstance(n, ast.Constant) and type(n.value) in (int, float) and id(n) not in own}
    return list(places.values())


def chosen(unit):
    found = CALLS[unit]
    return found if WHOLE else [max(found, key=lambda c: len(constants(ast.parse(c.setup + "\n" + c.code))))]


def environment(call, inputs=None):
    module = types.ModuleType("oracle_case")
    sys.modules[module.__name__] = module
    env = module.__dict__
    env.update(SCOPE)
    env.update({n: oracle.build(v, n, call.key, SCOPE) for n, v in call.inputs.items()})
    env.update(inputs or {})
    return env


def run(call, setup, code, inputs=None, label="odd call"):
    def prepared():
        env = environment(call, inputs)
        if setup:
            oracle.evaluate(setup, env, label + " setup")
        return env
    out = oracle.evaluate(code, prepared(), label)
    for o in out if isinstance(out, (tuple, list)) else [out]:
        if isinstance(o, ms.Tensor) and 0 <= o.size < 1000:
            o.asnumpy()
    tensors = [n for n, v in call.inputs.items() if isinstance(v, str) and oracle.SPEC.fullmatch(v) and not v.startswith(("param:", "np:"))]
    try:
        single = isinstance(ast.parse(code.strip(), mode="eval"), ast.Expression)
    except SyntaxError:
        single = False
    if single and tensors:
        env = prepared()
        try:
            oracle.evaluate(f"@ms.jit\ndef compiled_call({', '.join(tensors)}):\n    return ({code.strip()})\n", env, label + " compiled")
            env["compiled_call"](*(env[n] for n in tensors))
        except SENSIBLE as error:
            if isinstance(error, RecursionError) or not str(error).strip():
                raise SystemError(f"compiled: {type(error).__name__}: {error}") from None
    if call.grad:
        env = prepared()

        def function(*values):
            env.update(zip(call.grad, values))
            return oracle.evaluate(code, env, label)
        ms.grad(function, tuple(range(len(call.grad))))(*(env[n] for n in call.grad))


def cases(unit):
    for call in chosen(unit):
        for part in ("setup", "code"):
            text = getattr(call, part)
            tree = ast.parse(text)
            for node in constants(tree):
                value = node.value
                for odd in numbers(value) if isinstance(value, int) else FLOATS:
                    if odd == value:
                        continue
                    node.value = odd
                    changed = ast.unparse(tree)
                    setup, code = (changed, call.code) if part == "setup" else (call.setup, changed)
                    yield f"{value} is {odd} in line {node.lineno} of the {part}; {setup}; {code}"[:300], lambda: run(call, setup, code)
                node.value = value
        for name, spec in call.inputs.items():
            match = oracle.SPEC.fullmatch(spec) if isinstance(spec, str) else None
            if match is None or match["how"] or match["dtype"][0] not in "iu":
                continue
            array = environment(call)[name].asnumpy()
            for text, odd in contents(array):
                yield f"{call.setup}; {call.code}: {name} {text}"[:300], lambda: run(call, call.setup, call.code, {name: ms.Tensor(odd)})

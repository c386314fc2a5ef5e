# SPDX-License-Identifier: Apache-2.0
"""Sweep over the operator table: every sample with each attribute and each input replaced by odd ones, one at a time.

A case runs the operator eagerly, compiled, and with its gradient. Besides not crashing, both modes must agree, on refusing
too, and a size or count 2^32 further must not give what the size gives (it would have been cut to 32 bits).
SPORE_SWEEP_WHOLE=1 takes every sample, else one of each operator.
"""
import os

import numpy as np

import spore as ms
from spore import _core
from odd import DTYPES, contents, replacements, shapes
from pool import SENSIBLE, Wrong
from samples import parse

ms.runtime.set_memory(max_size="0.3GB")
WHOLE = os.environ.get("SPORE_SWEEP_WHOLE") == "1"
TABLE = {entry["name"]: entry for entry in _core.op_table()}
EMPTY_IS_RIGHT = {"arange", "diagonal", "slice", "slice_put", "narrow"}    # what lies there may be nothing
KEPT = 1 << 16     # results of more elements are not compared


def units():
    return sorted(TABLE)


def samples_of(entry):
    """All, or the one that says most."""
    found = parse(entry["samples"])
    return found if WHOLE else [max(found, key=lambda s: (len(s.attrs), len([o for o in s.operands if o is not None])))]


def inputs_of(sample, dtype):
    rng = np.random.Generator(np.random.PCG64(7))
    return [None if o is None else (np.array(o.values(rng, dtype), order="C"), dtype if o.follows_dtype else None) for o in sample.operands]


def tensor(given):
    if given is None:
        return None
    array, dtype = given
    return ms.Tensor(array, dtype=None if dtype is None else getattr(ms, "bool_" if dtype == "bool" else dtype))


def mutations(entry, sample, dtype):
    """(text, inputs, attrs)"""
    inputs, attrs = inputs_of(sample, dtype), sample.attrs
    for name, kind, initial in entry["attrs"]:
        value = attrs.get(name, initial_value(kind, initial))
        for odd in replacements(kind, value):
            given = getattr(ms, "bool_" if odd == "bool" else odd) if kind == "dtype" else odd
            yield f"{name}={odd!r}", inputs, {**attrs, name: given}
        if value is not None:
            yield f"{name}=None", inputs, {**attrs, name: None}
    for i, given in enumerate(inputs):
        def put(value):
            return inputs[:i] + [value] + inputs[i + 1:]
        if given is None:
            yield f"input {i} given", put((np.ones((2, 3), np.float32), None)), attrs
            continue
        array, kind = given
        yield f"input {i} left out", put(None), attrs
        for text, odd in shapes(array):
            yield f"input {i} {text}", put((odd, kind)), attrs
        for text, odd in contents(array):
            yield f"input {i} {text}", put((odd, kind)), attrs
        for other in DTYPES:
            if other != str(array.dtype):
                with np.errstate(all="ignore"):
                    yield f"input {i} as {other}", put((array.astype("float32" if other == "bfloat16" else other), other)), attrs
    yield "no input", [], attrs
    yield "an input more", inputs + inputs[-1:], attrs
    yield "17 inputs more", inputs + inputs[-1:] * 17, attrs


def initial_value(kind, initial):
    """The default of an attribute as a Python value; None for none."""
    if initial is None or initial == "None":
        return None
    if kind in ("text", "dtype"):
        return initial
    try:
        return eval(initial, {"inf": float("inf"), "nan": float("nan")})
    except (NameError, SyntaxError):
        return initial


def outcome(call):
    """A tuple of what came out, to be compared; the exception itself where there was one."""
    try:
        out = call()
    except SENSIBLE as error:
        return error
    found = []
    for o in out if isinstance(out, (tuple, list)) else [out]:
        small = isinstance(o, ms.Tensor) and 0 <= o.size <= KEPT
        array = (o.astype(ms.float32) if o.dtype == ms.bfloat16 else o).asnumpy() if small else None
        found.append((str(o.dtype), tuple(o.shape), None if array is None else np.ascontiguousarray(array).tobytes()))
    return found


def compiled(function, inputs, is_open=lambda i, axis: False):
    """What the function gives as a program; dimensions that are open are not known when it is compiled."""
    graph = _core.graph_create()
    given = [t for t in inputs if t is not None]
    shapes = [tuple(-1 if is_open(i, axis) else n for axis, n in enumerate(t.shape)) for i, t in enumerate(given)]
    recorded, symbols = _core.function_begin(graph, "case", [(t.dtype, shape) for t, shape in zip(given, shapes)])
    try:
        rest = iter(symbols)
        out = function([None if t is None else next(rest) for t in inputs])
        _core.function_end(recorded, list(out) if isinstance(out, tuple) else [out])
    except BaseException:
        _core.function_abandon(recorded)
        raise
    return _core.program_create(recorded).run(given)


def fresh(entry, inputs):
    return [t.copy() if t is not None and entry["writes"] else t for t in inputs]


def gradient(entry, inputs, attrs):
    places = [i for i, t in enumerate(inputs) if t is not None and t.dtype in (ms.float32, ms.float64, ms.float16)]

    def total(*chosen):
        given = list(inputs)
        for place, value in zip(places, chosen):
            given[place] = value
        out = _core.apply(entry["name"], fresh(entry, given), attrs)
        return sum([o.astype(ms.float32).sum() for o in (out if isinstance(out, tuple) else (out,)) if o.dtype in (ms.float32, ms.float64, ms.float16)],
                   ms.Tensor(0.0))
    return ms.grad(total, tuple(range(len(places))))(*[inputs[p] for p in places]) if places else ()


def check(entry, base, text, given, attrs):
    inputs = [tensor(g) for g in given]
    eager = outcome(lambda: _core.apply(entry["name"], fresh(entry, inputs), attrs))
    judge_outcome(eager)
    if any(t is not None for t in inputs):
        graph = outcome(lambda: compiled(lambda symbols: _core.apply(entry["name"], symbols, attrs), inputs))
        judge_outcome(graph)
        if isinstance(eager, Exception) != isinstance(graph, Exception):
            raise Wrong(f"modes differ: eager {short(eager)}, compiled {short(graph)}")
        if not isinstance(eager, Exception) and eager != graph and "nan" not in text:
            raise Wrong(f"modes differ: eager {short(eager)}, compiled {short(graph)}")
    if entry["vjp"] and not entry["no_vjp"]:
        judge_outcome(outcome(lambda: gradient(entry, inputs, attrs)))
    if isinstance(base, list) and eager == base and was_cut(entry, base, inputs, text, attrs):
        raise Wrong("a value 2^32 further gives the same result")
    if isinstance(base, list) and isinstance(eager, list) and ("461168601842738790" in text or "92233720368547758" in text) and "input" not in text and entry["name"] not in EMPTY_IS_RIGHT:
        if any(0 in o[1] for o in eager) and not any(0 in o[1] for o in base):
            raise Wrong(f"an empty result: {short(eager)}")


def was_cut(entry, base, inputs, text, attrs):
    """Whether the attribute is 2^32 further than in the sample, and a neighbour of that gives another result: the upper half was lost."""
    name = text.partition("=")[0]
    if not text.startswith(tuple(f"{a}=" for a, kind, _ in entry["attrs"] if kind in ("int", "ints"))):
        return False
    if entry["name"] in EMPTY_IS_RIGHT:      # what lies beyond the end is cut off
        return False
    values = attrs[name] if isinstance(attrs[name], tuple) else (attrs[name],)
    if not any(2 ** 31 < v < 2 ** 33 for v in values if isinstance(v, int)):
        return False

    def beside(step):
        near = tuple(v + step - 2 ** 32 if 2 ** 31 < v < 2 ** 33 else v for v in values)
        return outcome(lambda: _core.apply(entry["name"], fresh(entry, inputs), {**attrs, name: near if isinstance(attrs[name], tuple) else near[0]}))
    return beside(0) == base != beside(1)


def check_open(entry, base, given, attrs, is_open):
    """With open dimensions: the eager result, or a sensible exception."""
    inputs = fresh(entry, [tensor(g) for g in given])
    found = outcome(lambda: compiled(lambda symbols: _core.apply(entry["name"], symbols, attrs), inputs, is_open))
    judge_outcome(found)
    if isinstance(base, list) and isinstance(found, list) and base != found:
        raise Wrong(f"open sizes: {short(found)}, wanted {short(base)}")


def judge_outcome(found):
    if isinstance(found, Exception):
        if isinstance(found, RecursionError) or not str(found).strip() and type(found) is not MemoryError:
            raise Wrong(f"{type(found).__name__} {found}")


def short(found):
    if isinstance(found, Exception):
        return f"{type(found).__name__}: {found}"[:200]
    return str([(d, s, None if b is None else b[:8]) for d, s, b in found][:3])


def cases(unit):
    entry = TABLE[unit]
    dtype = "float32" if "float32" in entry["dtypes"] else entry["dtypes"][0]
    for sample in samples_of(entry):
        base = outcome(lambda: _core.apply(unit, fresh(entry, [tensor(g) for g in inputs_of(sample, dtype)]), sample.attrs))
        given = inputs_of(sample, dtype)
        if any(g is not None for g in given):
            yield f"{sample.text}: all sizes open", lambda: check_open(entry, base, given, sample.attrs, lambda i, axis: True)
            yield f"{sample.text}: first sizes open", lambda: check_open(entry, base, given, sample.attrs, lambda i, axis: axis == 0)
            for k in range(len(given)):
                yield f"{sample.text}: sizes of input {k} open", lambda: check_open(entry, base, given, sample.attrs, lambda i, axis: i == k)
        for text, given, attrs in mutations(entry, sample, dtype):
            yield f"{sample.text}: {text}", lambda: check(entry, base, text, given, attrs)

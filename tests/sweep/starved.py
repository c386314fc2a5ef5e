# SPDX-License-Identifier: Apache-2.0
"""Sweep over the operator table and over model files while the engine's memory runs out: from the n-th allocation on, for
every n up to 150, for every second up to 300, and so on.

Units: `op NAME`, a sample of the operator eagerly, compiled, with its gradient, with the gradient of that, for many slices at once (vmap), and
written as ONNX and MindIR; and the units of odd_files, each loaded and run. A case begins with the first allocation, before anything of the
unit was done in the process. It must end in MemoryError with a text that speaks of memory, or with the right result; and with memory back it
gives that. tests/memory has whole programs, and the libraries that the engine uses.
"""
import tempfile
from pathlib import Path

import spore as ms
from spore import _core
import odd_files
from odd_table import TABLE, compiled, fresh, gradient, inputs_of, samples_of, tensor
from pool import Wrong

MOST = 40000    # allocations


def units():
    return [f"op {name}" for name in sorted(TABLE)] + odd_files.units()


def content(found):
    """Something to compare: bytes of Tensors, of files, in any nesting."""
    if isinstance(found, ms.Tensor):
        array = (found.astype(ms.float32) if found.dtype == ms.bfloat16 else found).asnumpy()
        return str(found.dtype), found.shape, array.tobytes()
    return [content(f) for f in found] if isinstance(found, (list, tuple)) else found


def shapes(found):
    return [shapes(f) for f in found] if isinstance(found, list) else found[:2] if isinstance(found, tuple) else None


def starve(work):
    found, n = {}, 0
    while n < MOST:
        n += 1 + n // 150
        _core.memory_fail_from(n)
        try:
            found[n] = content(work())
        except MemoryError as error:
            if "memory" not in str(error):
                raise Wrong(f"n = {n}: {error!r}") from None
        except Exception as error:
            failed = _core.memory_fail_from(0)
            if not failed:
                return      # what is refused anyway, and in its own words
            raise Wrong(f"n = {n}: {type(error).__name__}: {error}") from None
        failed = _core.memory_fail_from(0)
        if not failed:
            break
    else:
        raise Wrong("never without a failure")
    right = content(work())
    same = right == found[n]    # else it draws random numbers
    for k, one in found.items():
        if one != right if same else shapes(one) != shapes(right):
            raise Wrong(f"n = {k}: succeeds with a wrong result")


def second_gradient(entry, inputs, attrs):
    places = [i for i, t in enumerate(inputs) if t is not None and t.dtype == ms.float32]

    def total(*chosen):
        given = list(inputs)
        for place, value in zip(places, chosen):
            given[place] = value
        return sum([g.astype(ms.float32).sum() for g in gradient(entry, given, attrs)], ms.Tensor(0.0))
    return ms.grad(total, tuple(range(len(places))))(*[inputs[p] for p in places])


def many(name, inputs, attrs):
    stacked = [ms.ops.stack([t, t]) for t in inputs if t is not None]

    def one(*given):
        rest = iter(given)
        return _core.apply(name, [None if t is None else next(rest) for t in inputs], attrs)
    return ms.vmap(one)(*stacked)


def written(kind, name, inputs, attrs):
    given = [t for t in inputs if t is not None]
    function, symbols = _core.function_begin(_core.graph_create(), name, [(t.dtype, t.shape) for t in given])
    try:
        rest = iter(symbols)
        out = _core.apply(name, [None if t is None else next(rest) for t in inputs], attrs)
        _core.function_end(function, list(out) if isinstance(out, (tuple, list)) else [out])
    except BaseException:
        _core.function_abandon(function)
        raise
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model.{kind}"
        _core.model_save(str(path), function, [f"x{k}" for k in range(len(symbols))], [], [])
        return path.read_bytes()


def operator_cases(name):
    entry = TABLE[name]
    dtype = next((d for d in ("float32", "float64") if d in entry["dtypes"]), entry["dtypes"][0])
    for sample in samples_of(entry):
        inputs = [tensor(g) for g in inputs_of(sample, dtype)]
        attrs = sample.attrs
        yield f"eager: {sample.text}", lambda: starve(lambda: _core.apply(name, fresh(entry, inputs), attrs))
        if not any(t is not None for t in inputs):
            continue
        yield f"compiled: {sample.text}", lambda: starve(lambda: compiled(lambda given: _core.apply(name, given, attrs), fresh(entry, inputs)))
        if entry["vjp"] and not entry["no_vjp"] and not entry["writes"]:
            yield f"gradient: {sample.text}", lambda: starve(lambda: gradient(entry, inputs, attrs))
            yield f"second gradient: {sample.text}", lambda: starve(lambda: second_gradient(entry, inputs, attrs))
        if not entry["writes"]:
            yield f"vmap: {sample.text}", lambda: starve(lambda: many(name, inputs, attrs))
        for kind in ("onnx", "mindir"):
            yield f"{kind}: {sample.text}", lambda: starve(lambda: written(kind, name, inputs, attrs))


def load_and_run(data, inputs):
    out = _core.model_load_memory(data).run(*inputs)
    return [o for o in (out if isinstance(out, (tuple, list)) else [out]) if isinstance(o, ms.Tensor)]


def cases(unit):
    kind, name = unit.split(" ", 1)
    if kind == "op":
        yield from operator_cases(name)
        return
    for number, (data, inputs, _) in enumerate(odd_files.source(unit)):
        yield f"file {number}", lambda: starve(lambda: load_and_run(data, inputs))

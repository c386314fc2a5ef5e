# SPDX-License-Identifier: Apache-2.0
"""The walk over the operator table in both modes: what a compiled program gives, forwards and backwards, is bit for bit what
eager mode gives."""
import numpy as np
import pytest

import spore as ms
from spore import _core
from samples import parse
from test_op_table import TABLE, as_array, results, strided, tensors_of

COUNT = {"cases": 0, "gradients": 0}
# The shape of whose result depends on the numbers: the gradient is taken when the program runs.
RUN_TIME_SHAPES = {"masked_select"}


@pytest.fixture(scope="module", autouse=True)
def print_counts(request):
    yield
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\nboth modes: {COUNT['cases']} cases, {COUNT['gradients']} gradients")


def compiled(function, inputs):
    """`function` of the tensors in `inputs`, recorded once and run."""
    graph = _core.graph_create()
    given = [t for t in inputs if t is not None]
    recorded, symbols = _core.function_begin(graph, "case", [(t.dtype, t.shape) for t in given])
    try:
        rest = iter(symbols)
        out = function([None if t is None else next(rest) for t in inputs])
        _core.function_end(recorded, out)
    except BaseException:
        _core.function_abandon(recorded)
        raise
    return _core.program_create(recorded).run(given)


def bits(tensor):
    array = as_array(tensor)
    return array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes()


def compare(name, text, eager, graph):
    assert len(eager) == len(graph), f"{name}: {text}"
    for e, g in zip(eager, graph):
        assert e.dtype == g.dtype and e.shape == g.shape, f"{name}: {text}"
        if bits(e) != bits(g):
            np.testing.assert_array_equal(as_array(g), as_array(e), err_msg=f"{name}: {text}")
            assert bits(e) == bits(g), f"{name}: {text}: equal, but not bit for bit"


@pytest.mark.parametrize("name", sorted(TABLE))
def test_results_are_equal(name):
    entry = TABLE[name]
    for dtype in entry["dtypes"]:
        for sample in parse(entry["samples"]):
            for make in (lambda t: t, strided):
                inputs = [make(t) for t in tensors_of(sample, dtype)]
                eager = results(entry, inputs, sample.attrs)
                if not any(t is not None for t in inputs):
                    continue      # nothing to pass: it would be a constant of the program

                def apply(symbols):
                    out = _core.apply(name, symbols, sample.attrs)
                    return list(out) if isinstance(out, tuple) else [out]
                compare(name, f"{dtype}: {sample.text}", eager, compiled(apply, inputs))
                COUNT["cases"] += 1


def total(entry, sample, inputs, places, weights):
    """The function that is differentiated, of the inputs at `places`."""
    def f(*chosen):
        given = list(inputs)
        for place, value in zip(places, chosen):
            given[place] = value
        out = _core.apply(entry["name"], [t.copy() if t is not None and entry["writes"] else t for t in given], sample.attrs)
        terms = [(o * w).sum() for o, w in zip(out if isinstance(out, tuple) else (out,), weights) if w is not None]
        value = terms[0]
        for term in terms[1:]:
            value = value + term
        return value
    return f


def gradients(entry, sample, inputs, places, weights):
    f = total(entry, sample, inputs, places, weights)
    grads = ms.grad(f, tuple(range(len(places))))(*[inputs[p] for p in places])
    return list(grads) if isinstance(grads, tuple) else [grads]


def run_time_gradients(entry, sample, inputs, places, weights):
    chosen = [inputs[p] for p in places]
    outer = _core.function_recording()
    inner, symbols = _core.function_begin(outer, "f", [(t.dtype, t.shape) for t in chosen])
    _core.function_end(inner, [total(entry, sample, inputs, places, weights)(*symbols)])
    return list(_core.function_grad(inner, chosen, tuple(range(len(places))), [], -1, []))[1:]


@pytest.mark.parametrize("name", sorted(n for n, e in TABLE.items() if e["vjp"] and not e["no_vjp"]))
def test_gradients_are_equal(name):
    entry = TABLE[name]
    for dtype in ("float32", "float64"):
        if dtype not in entry["dtypes"]:
            continue
        for sample in parse(entry["samples"]):
            inputs = tensors_of(sample, dtype)
            places = [i for i, t in enumerate(inputs) if t is not None and t.dtype == getattr(ms, dtype)]
            rng = np.random.Generator(np.random.PCG64(3))
            weights = [ms.Tensor((rng.random(o.shape) + 0.5).astype(dtype)) if o.dtype == getattr(ms, dtype) else None
                       for o in results(entry, inputs, sample.attrs)]
            if not places or all(w is None for w in weights):
                continue
            eager = gradients(entry, sample, inputs, places, weights)
            how = run_time_gradients if name in RUN_TIME_SHAPES else gradients
            graph = compiled(lambda symbols: how(entry, sample, symbols, places, weights), inputs)
            compare(name, f"gradient, {dtype}: {sample.text}", eager, graph)
            COUNT["gradients"] += 1

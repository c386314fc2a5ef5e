# SPDX-License-Identifier: Apache-2.0
"""The walk over the table in both modes, where something changes: written Parameters, called three times, under vmap and grad; random
numbers drawn three times; and where inputs are odd: complex, uint64, bool, empty, rank 0 and 8. Compiled and eager are equal bit for bit,
or raise both."""
import os
import sys

import numpy as np
import pytest

import spore as ms
from samples import parse
from spore import Parameter, _core
from test_both_modes import RUN_TIME_SHAPES, bits, compiled, gradients
from test_op_table import TABLE, tensors_of
from test_vmap import stacked

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle_state"))
from random_questions import FUNCTIONS, PRIMITIVES  # noqa: E402

CALLS = 3
WRITERS = sorted(name for name, entry in TABLE.items() if entry["writes"])
ODD = ("float32", "complex64", "uint64", "bool")
COUNT = {"written": 0, "gradients": 0, "vmaps": 0, "drawn": 0, "odd": 0, "refused": 0}


@pytest.fixture(scope="module", autouse=True)
def print_counts(request):
    yield
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\nboth modes, state: " + ", ".join(f"{n} {what}" for what, n in COUNT.items()))


def flat(value):
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, (tuple, list)) else [value]


def same(name, text, eager, graph):
    assert len(eager) == len(graph), f"{name}: {text}"
    for e, g in zip(eager, graph):
        assert e.dtype == g.dtype and e.shape == g.shape, f"{name}: {text}: {e.dtype} {e.shape}, compiled {g.dtype} {g.shape}"
        assert bits(e) == bits(g), f"{name}: {text}: {e.asnumpy()}, compiled {g.asnumpy()}"


def is_written(entry, i):
    return entry["writes"] >> i & 1


class Net(ms.nn.Cell):
    """An operator whose written inputs are Parameters; the others are handed over."""

    def __init__(self, entry, sample, inputs):
        super().__init__()
        self.entry, self.attrs, self.inputs = entry["name"], sample.attrs, list(inputs)
        self.held = [Parameter(t.copy(), name=f"p{i}") if t is not None and is_written(entry, i) else None for i, t in enumerate(inputs)]
        self.params = [p for p in self.held if p is not None]
        self.given = [t for p, t in zip(self.held, inputs) if p is None and t is not None]

        self.places = [sum(q is None and u is not None for q, u in zip(self.held[:i], inputs)) for i in range(len(inputs))]

    def handed(self, given):
        return [p if p is not None else None if t is None else given[k] for p, t, k in zip(self.held, self.inputs, self.places)]

    def construct(self, *given):
        return _core.apply(self.entry, self.handed(given), self.attrs)


def in_mode(mode, work):
    ms.set_context(mode=mode)
    try:
        return work()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def both(work):
    """What work() gives in both modes."""
    return [flat(in_mode(mode, work)) for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE)]


def written(entry, dtypes):
    for dtype in dtypes:
        for sample in parse(entry["samples"]):
            yield dtype, sample, tensors_of(sample, dtype)


@pytest.mark.parametrize("name", WRITERS)
def test_written_parameters(name):
    entry = TABLE[name]
    for dtype, sample, inputs in written(entry, entry["dtypes"]):
        def work():
            net, seen = Net(entry, sample, inputs), []
            for _ in range(CALLS):
                seen += [t.copy() for t in flat(net(*net.given))] + [p.copy() for p in net.params]
            return seen
        same(name, f"{dtype}: {sample.text}", *both(work))
        COUNT["written"] += 1


@pytest.mark.parametrize("name", [n for n in WRITERS if TABLE[n]["vjp"] and not TABLE[n]["no_vjp"]])
def test_gradients_of_written_parameters(name):
    entry = TABLE[name]
    for dtype, sample, inputs in written(entry, [d for d in ("float32", "complex64") if d in entry["dtypes"]]):
        def work():
            net, seen = Net(entry, sample, inputs), []
            places = tuple(i for i, t in enumerate(net.given) if t.dtype == getattr(ms, dtype))
            step = ms.grad(net, places or None, net.params)
            for _ in range(CALLS):
                seen += [t.copy() for t in flat(step(*net.given))] + [p.copy() for p in net.params]
            return seen
        same(name, f"gradient, {dtype}: {sample.text}", *both(work))
        COUNT["gradients"] += 1


class Over(Net):
    """The same over slices of everything."""

    def __init__(self, entry, sample, inputs):
        super().__init__(entry, sample, inputs)
        self.all_places = [sum(u is not None for u in inputs[:i]) for i in range(len(inputs))]

    def construct(self, *given):
        return ms.vmap(self.one)(*[t for t in self.handed(given) if t is not None])

    def one(self, *slices):
        return _core.apply(self.entry, [None if t is None else slices[k] for t, k in zip(self.inputs, self.all_places)], self.attrs)


@pytest.mark.parametrize("name", WRITERS)
def test_vmap_of_written_parameters(name):
    entry = TABLE[name]
    dtype = "float32" if "float32" in entry["dtypes"] else entry["dtypes"][0]
    for sample in parse(entry["samples"]):
        rows = [tensors_of(sample, dtype, seed=7 + i) for i in range(3)]
        whole = [None if t is None else stacked(rows, i, 0)[0] for i, t in enumerate(rows[0])]

        def work():
            net, seen = Over(entry, sample, whole), []
            for _ in range(CALLS):
                seen += [t.copy() for t in flat(net(*net.given))] + [p.copy() for p in net.params]
            return seen
        eager, graph = both(work)
        same(name, f"vmap: {sample.text}", eager, graph)
        single = [Net(entry, sample, row) for row in rows]
        for net in single:
            for _ in range(CALLS):
                net(*net.given)
        for k, p in enumerate(eager[len(eager) - len(single[0].params):]):
            np.testing.assert_allclose(p.astype(ms.float32).asnumpy(), np.stack([n.params[k].astype(ms.float32).asnumpy() for n in single]),
                                       rtol=1e-5, atol=1e-5, err_msg=f"{name}: {sample.text}: contents")
        COUNT["vmaps"] += 1


# --- random numbers --------------------------------------------------------------------------------------------------

def t(*numbers, dtype=np.float32):
    return ms.Tensor(np.array(numbers, dtype))


_NAMES = {"ms": ms, "ops": ms.ops, "nn": ms.nn, "np": np, "Tensor": ms.Tensor, "t": t}
DRAWS = {f"{name}({seeds[0]}, {seeds[1]})": (op.replace("{s}", str(seeds[0])).replace("{s2}", str(seeds[1])),
                                            f"op({arguments})".replace("{s1}", str(seeds[0])).replace("{s}", str(seeds[0])).replace("{s2}", str(seeds[1])))
         for name, (op, arguments) in PRIMITIVES.items() if arguments is not None for seeds in ((0, 0), (5, 0), (5, 7))}
DRAWS |= {f"{name}, {what}": ("None", text.replace("{,seed}", given).replace("{seed}", "5"))
          for name, text in FUNCTIONS.items() for what, given in (("free", ""), ("seed", ", seed=5"))}


@pytest.mark.parametrize("name", sorted(DRAWS))
def test_random_numbers_three_times(name):
    op, call = DRAWS[name]

    def work():
        ms.set_seed(3)
        names = dict(_NAMES, op=eval(op, _NAMES))
        draw = eval("lambda: " + call, names)
        return [draw() for _ in range(CALLS)]
    eager = flat(work())

    def compiled_work():
        ms.set_seed(3)
        draw = ms.jit(eval("lambda: " + call, dict(_NAMES, op=eval(op, _NAMES))), capture_mode="trace")
        return [draw() for _ in range(CALLS)]
    same(name, "drawn", eager, flat(compiled_work()))
    COUNT["drawn"] += 1


SEEDED = {"dropout": lambda x: ms.ops.dropout(x, 0.5, seed=5), "dropout free": lambda x: ms.ops.dropout(x, 0.5),
          "Dropout": (lambda op: lambda x: op(x)[0])(ms.ops.Dropout(0.5, 3, 4)), "rand_like": lambda x: x * ms.ops.rand_like(x),
          "bernoulli": lambda x: x * ms.ops.bernoulli(x, 0.5), "dropout2d": lambda x: ms.ops.dropout2d(x.reshape((1, 4, 2, 2)), 0.5)}


@pytest.mark.parametrize("name", sorted(SEEDED))
@pytest.mark.parametrize("around", ["grad", "vmap", "vmap of grad"])
def test_random_numbers_below(name, around):
    one = SEEDED[name]
    function = {"grad": ms.grad(one), "vmap": ms.vmap(one), "vmap of grad": ms.vmap(ms.grad(one))}[around]
    x = t(*[1.0 + i for i in range(16)]) if around == "grad" else ms.Tensor(np.arange(48, dtype=np.float32).reshape(3, 16) + 1)

    def work(f):
        ms.set_seed(3)
        return [f(x) for _ in range(CALLS)]
    same(name, around, work(function), work(ms.jit(lambda y: function(y))))
    COUNT["drawn"] += 1


# --- odd inputs ------------------------------------------------------------------------------------------------------

def odd_shapes(sample):
    """The shapes of a sample made odd: one size 0 wherever it stands, no dimensions, eight of them."""
    shapes = [o.shape for o in sample.operands if o is not None]
    sizes = [n for shape in shapes for n in shape]
    if sizes:
        yield "empty", lambda shape: tuple(0 if n == sizes[0] else n for n in shape)
    yield "rank 0", lambda shape: ()
    yield "rank 8", lambda shape: (1,) * (8 - len(shape)) + shape


@pytest.mark.parametrize("name", sorted(TABLE))
def test_odd_inputs(name):
    entry = TABLE[name]
    for dtype in [d for d in ODD if d in entry["dtypes"]]:
        for number, sample in enumerate(parse(entry["samples"])[:4]):
            for what, odd in odd_shapes(sample):
                fresh = parse(entry["samples"])[number]
                for operand in fresh.operands:
                    if operand is not None:
                        operand.shape = odd(operand.shape)
                check_odd(entry, fresh, dtype, f"{what}, {dtype}: {sample.text}")


def outcome(work):
    try:
        return work(), None
    except Exception as error:
        return None, error


def check_odd(entry, sample, dtype, text):
    inputs = tensors_of(sample, dtype)
    if not any(t is not None for t in inputs):
        return

    def apply(given):
        out = _core.apply(entry["name"], [t.copy() if t is not None and entry["writes"] else t for t in given], sample.attrs)
        return list(out) if isinstance(out, tuple) else [out]
    eager, refused = outcome(lambda: apply(inputs))
    graph, also = outcome(lambda: compiled(apply, inputs))
    assert (refused is None) == (also is None), f"{entry['name']}: {text}: eager {refused!r}, compiled {also!r}"
    if refused is not None:
        assert type(refused) is type(also), f"{entry['name']}: {text}: eager {refused!r}, compiled {also!r}"
        COUNT["refused"] += 1
        return
    same(entry["name"], text, eager, graph)
    COUNT["odd"] += 1
    floating = [i for i, x in enumerate(inputs) if x is not None and x.dtype == ms.float32]
    weights = [ms.Tensor(np.ones(o.shape, np.float32)) if o.dtype == ms.float32 else None for o in eager]
    if entry["name"] in RUN_TIME_SHAPES or dtype != "float32" or not entry["vjp"] or entry["no_vjp"] or not floating or all(w is None for w in weights):
        return
    eager, refused = outcome(lambda: gradients(entry, sample, inputs, floating, weights))
    graph, also = outcome(lambda: compiled(lambda symbols: gradients(entry, sample, symbols, floating, weights), inputs))
    assert (refused is None) == (also is None), f"{entry['name']}: gradient, {text}: eager {refused!r}, compiled {also!r}"
    if refused is None:
        same(entry["name"], "gradient, " + text, eager, graph)
        COUNT["gradients"] += 1

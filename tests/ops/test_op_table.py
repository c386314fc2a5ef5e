# SPDX-License-Identifier: Apache-2.0
"""The walk over the operator table: every operator, every dtype it claims, every sample.

Checked: the entry is complete; it runs for every dtype; strided inputs give what row-major ones give; inference agrees
with the result; the gradient equals finite differences in float64, also with strided inputs; so does the gradient
of the gradient; empty inputs do not crash.
"""
import numpy as np
import pytest

import spore as ms
from spore import _core
from samples import parse

TABLE = {entry["name"]: entry for entry in _core.op_table()}
# A matrix with a vector is summed along or across its rows, whichever the strides make contiguous: the last bit may differ.
LAYOUT_ROUNDS = {"matmul", "addmv", "addmm", "addbmm", "baddbmm", "dense"}
COUNT = {"operators": len(TABLE), "dtypes": 0, "cases": 0, "gradients": 0, "second gradients": 0}


def tensors_of(sample, dtype, seed=7):
    rng = np.random.Generator(np.random.PCG64(seed))
    return [None if o is None else ms.Tensor(np.array(o.values(rng, dtype), order="C"),
                                             dtype=getattr(ms, dtype if dtype != "bool" else "bool_")
                                             if o.follows_dtype else None)
            for o in sample.operands]


def strided(tensor):
    """The same values behind other strides: every second element of a larger block, dimensions stored in reverse."""
    if tensor is None or tensor.ndim == 0:
        return tensor
    array = tensor.asnumpy()
    wide = np.zeros(tuple(2 * d for d in array.shape[::-1]), array.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in array.shape)].T
    view[...] = array
    shared = ms.Tensor.from_numpy(view)
    return shared if shared.dtype == tensor.dtype else shared.astype(tensor.dtype)


def results(entry, inputs, attrs):
    out = _core.apply(entry["name"], [t.copy() if t is not None and entry["writes"] else t for t in inputs], attrs)
    return list(out) if isinstance(out, tuple) else [out]


def as_array(tensor):
    return tensor.astype(ms.float32).asnumpy() if tensor.dtype == ms.bfloat16 else tensor.asnumpy()


@pytest.mark.parametrize("name", sorted(TABLE))
def test_entry_is_complete(name):
    entry = TABLE[name]
    assert entry["doc"], "a sentence for the documentation is missing"
    assert entry["samples"], "samples are missing"
    assert entry["vjp"] or entry["no_vjp"], "neither a gradient nor a reason why there is none"
    assert parse(entry["samples"])


@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_dtype_runs_and_strides_do_not_matter(name):
    entry = TABLE[name]
    for dtype in entry["dtypes"]:
        COUNT["dtypes"] += 1
        for sample in parse(entry["samples"]):
            inputs = tensors_of(sample, dtype)
            plain = results(entry, inputs, sample.attrs)
            other = results(entry, [strided(t) for t in inputs], sample.attrs)
            COUNT["cases"] += 1
            for a, b in zip(plain, other):
                assert a.shape == b.shape and a.dtype == b.dtype, sample.text
                ulps = 4 * np.finfo(as_array(a).dtype).eps if name in LAYOUT_ROUNDS and as_array(a).dtype.kind in "fc" else 0
                np.testing.assert_allclose(as_array(a), as_array(b), rtol=ulps, atol=ulps,
                                           err_msg=f"{name} {dtype}: {sample.text}")


@pytest.mark.parametrize("name", sorted(TABLE))
def test_inference_equals_result(name):
    entry = TABLE[name]
    dtype = "float32" if "float32" in entry["dtypes"] else entry["dtypes"][0]
    for sample in parse(entry["samples"]):
        inputs = tensors_of(sample, dtype)
        inferred = _core.infer(name, inputs, sample.attrs)
        if inferred is None:
            continue      # a composition: made of operators that are checked themselves
        for (kind, shape), out in zip(inferred, results(entry, inputs, sample.attrs)):
            assert kind == out.dtype
            assert len(shape) == out.ndim
            assert all(d in (-1, e) for d, e in zip(shape, out.shape)), sample.text


def differentiable(entry, inputs):
    return [i for i, t in enumerate(inputs) if t is not None and t.dtype == ms.float64]


@pytest.mark.parametrize("name", sorted(n for n, e in TABLE.items() if e["vjp"] and not e["no_vjp"]))
def test_gradient_equals_finite_differences(name):
    entry = TABLE[name]
    if "float64" not in entry["dtypes"] and entry["dtypes"] != ["bool"]:
        pytest.skip("takes no float64")
    for sample in parse(entry["samples"]):
        for make in (lambda t: t, strided):
            inputs = tensors_of(sample, "float64")
            check_gradient(entry, sample, [make(t) for t in inputs])
            COUNT["gradients"] += 1


def check_gradient(entry, sample, inputs):
    places = differentiable(entry, inputs)
    if not places:
        return
    base = [i.asnumpy().copy() if i is not None else None for i in inputs]

    def total(arrays):
        outs = results(entry, [None if a is None else ms.Tensor(a) for a in arrays], sample.attrs)
        return [as_array(o) for o in outs]

    first = total(base)
    rng = np.random.Generator(np.random.PCG64(3))
    weights = [rng.random(o.shape) + 0.5 if o.dtype.kind == "f" else None for o in first]
    if all(w is None for w in weights):
        return

    def scalar(arrays):
        return sum(float((o * w).sum()) for o, w in zip(total(arrays), weights) if w is not None)

    def f(*chosen):
        given = list(inputs)
        for place, value in zip(places, chosen):
            given[place] = value
        outs = results(entry, given, sample.attrs)
        terms = [(o * ms.Tensor(w)).sum() for o, w in zip(outs, weights) if w is not None]
        value = terms[0]
        for term in terms[1:]:
            value = value + term
        return value

    grads = ms.grad(f, grad_position=tuple(range(len(places))))(*[inputs[p] for p in places])
    grads = grads if isinstance(grads, tuple) else (grads,)
    step = 1e-6
    for place, grad in zip(places, grads):
        assert grad.shape == inputs[place].shape
        expected = np.zeros(base[place].shape)
        flat = expected.reshape(-1)
        for k in range(flat.size):
            moved = [None if a is None else a.copy() for a in base]
            moved[place].reshape(-1)[k] += step
            up = scalar(moved)
            moved[place].reshape(-1)[k] -= 2 * step
            flat[k] = (up - scalar(moved)) / (2 * step)
        np.testing.assert_allclose(grad.asnumpy(), expected, rtol=2e-4, atol=2e-5,
                                   err_msg=f"{entry['name']}: gradient of input {place}: {sample.text}")


@pytest.mark.parametrize("name", sorted(n for n, e in TABLE.items() if e["vjp"] and not e["no_vjp"]))
def test_second_gradient_equals_finite_differences(name):
    """Along one direction: the gradient is a function like any other, and its gradient must be that of the function."""
    entry = TABLE[name]
    if "float64" not in entry["dtypes"] and entry["dtypes"] != ["bool"]:
        pytest.skip("takes no float64")
    for sample in parse(entry["samples"]):
        check_second_gradient(entry, sample, tensors_of(sample, "float64"))
        COUNT["second gradients"] += 1


def check_second_gradient(entry, sample, inputs):
    places = differentiable(entry, inputs)
    rng = np.random.Generator(np.random.PCG64(5))
    weights = [rng.random(o.shape) + 0.5 for o in results(entry, inputs, sample.attrs)]
    towards, along = ([rng.standard_normal(inputs[p].shape) for p in places] for _ in range(2))

    def f(*chosen):
        given = list(inputs)
        for place, value in zip(places, chosen):
            given[place] = value
        value = ms.Tensor(0.0, ms.float64)
        for o, w in zip(results(entry, given, sample.attrs), weights):
            if o.dtype == ms.float64:      # a square, so that what comes from above depends on the inputs too
                value = value + (o * o * ms.Tensor(w)).sum()
        return value

    def slope(*chosen):
        grads = ms.grad(f, tuple(range(len(places))))(*chosen)
        value = ms.Tensor(0.0, ms.float64)
        for g, v in zip(grads if isinstance(grads, tuple) else (grads,), towards):
            value = value + (g * ms.Tensor(v)).sum()
        return value

    if not places:
        return
    at = [inputs[p].asnumpy() for p in places]
    grads = ms.grad(slope, tuple(range(len(places))))(*[ms.Tensor(a) for a in at])
    found = sum(float((g.asnumpy() * u).sum()) for g, u in zip(grads if isinstance(grads, tuple) else (grads,), along))
    step = 1e-6
    up, down = (float(slope(*[ms.Tensor(a + sign * step * u) for a, u in zip(at, along)])) for sign in (1, -1))
    expected = (up - down) / (2 * step)
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4, err_msg=f"{entry['name']}: {sample.text}")


@pytest.mark.parametrize("name", sorted(TABLE))
def test_empty_inputs_give_a_result_or_an_error(name):
    entry = TABLE[name]
    dtype = "float32" if "float32" in entry["dtypes"] else entry["dtypes"][0]
    for sample in parse(entry["samples"])[:2]:
        for axis in range(max((len(o.shape) for o in sample.operands if o), default=0)):
            emptied = []
            for operand in sample.operands:
                if operand is None or axis >= len(operand.shape):
                    emptied.append(operand)
                    continue
                changed = type(operand).__new__(type(operand))
                changed.shape = tuple(0 if i == axis else d for i, d in enumerate(operand.shape))
                changed.kind = operand.kind
                emptied.append(changed)
            fake = type(sample).__new__(type(sample))
            fake.operands, fake.attrs, fake.text = emptied, sample.attrs, sample.text
            try:
                for out in results(entry, tensors_of(fake, dtype), sample.attrs):
                    out.asnumpy()
            except (ValueError, TypeError, IndexError, RuntimeError):
                pass      # a readable refusal is as good as a result; a crash is not


def test_counts(capsys):
    with capsys.disabled():
        print(f"\noperator table: {COUNT['operators']} operators, {COUNT['dtypes']} operator-dtype pairs, "
              f"{COUNT['cases']} cases, {COUNT['gradients']} gradients, "
              f"{COUNT['second gradients']} second gradients")
    assert COUNT["operators"] > 100


def test_inference_without_inputs_is_refused():
    """It read what was not there."""
    for row in _core.op_table():
        if row["inputs"] and "..." not in row["inputs"] and not row["inputs"].endswith("?"):
            try:
                result = _core.infer(row["name"], [], {})
            except (TypeError, ValueError):
                continue
            assert result is None, row["name"]

# SPDX-License-Identifier: Apache-2.0
"""vmap over the operator table: every operator, with every choice of inputs that differ from slice to slice.

Checked: all slices at once give what the slices give one by one, whatever axis they lie along; so does the gradient inside vmap
and the gradient of vmap; operators without a rule for batches are the ones listed here, no more.
"""
import numpy as np
import pytest

import spore as ms
from samples import parse
from spore import _core
from spore.common import vectorize
from test_op_table import TABLE, as_array, tensors_of

SIZE = 3
# Shapes that depend on the data, or kernels that work on one item: taken slice by slice on purpose.
BY_SLICE = {"after", "bincount", "bounding_box_decode", "bounding_box_encode", "check_valid", "crop_and_resize", "crop_and_resize_grad",
            "conv_bytes", "ctc_alphas", "ctc_terms", "ctc_terms_grad", "dequantize_linear", "dynamic_quantize_linear", "fake_quantize", "histc", "iou", "matmul_i32", "moving_average_update", "nms_with_mask", "nonzero", "quantize_linear",
            "random_multinomial", "random_permutation", "rank_flush", "rank_parts", "rank_recv", "rank_send", "rnn_scan", "rnn_scan_grad", "roi_align", "roi_align_grad", "unique"}
BY_SLICE |= {name for name in TABLE if name.endswith("_update")}        # their numbers are one each
# Random numbers are drawn anew for every slice, from one state: see test_random_numbers.
RANDOM = {name for name in TABLE if name.startswith("random_") or name == "dropout"}
OPEN = {"nonzero", "unique", "masked_select"}       # slices of different shapes cannot be stacked


def dtype_of(entry):
    return next(d for d in ("float32", "float64", *entry["dtypes"]) if d in entry["dtypes"])


def apply(entry, inputs, attrs):
    """The results as a tuple; what is written to is a copy."""
    inputs = [t.copy() if t is not None and entry["writes"] >> min(i, 8) & 1 else t for i, t in enumerate(inputs)]
    out = _core.apply(entry["name"], inputs, attrs)
    return out if isinstance(out, tuple) else (out,)


def choices(places):
    """Which inputs differ from slice to slice: each alone, and all."""
    single = [(p,) for p in places]
    return single + [tuple(places)] if len(places) > 1 else single


def cases(entry, dtype):
    """(sample, chosen places, inputs per slice)"""
    for sample in parse(entry["samples"]):
        seeds = [tensors_of(sample, dtype, seed=7 + i) for i in range(SIZE)]
        places = [i for i, t in enumerate(seeds[0]) if t is not None]
        for chosen in choices(places):
            yield sample, chosen, [[row[i] if i in chosen else seeds[0][i] for i in range(len(row))] for row in seeds]


def stacked(rows, place, axis):
    """The slices of one input along an axis, and that axis."""
    arrays = [as_array(row[place]) for row in rows]
    axis = min(axis, arrays[0].ndim) if axis >= 0 else axis
    return ms.Tensor(np.stack(arrays, axis), rows[0][place].dtype), axis


def close(found, wanted, name, text, exact):
    found, wanted = as_array(found), as_array(wanted)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, f"{text}: {found.shape} {found.dtype}"
    eps = np.finfo(found.dtype).eps if found.dtype.kind in "fc" else 0
    scale = 1 if exact else 64
    np.testing.assert_allclose(found, wanted, rtol=scale * eps, atol=scale * eps * max(1.0, np.abs(wanted[np.isfinite(wanted)]).max(initial=0)),
                               err_msg=f"{name}: {text}")


@pytest.fixture
def notes(monkeypatch):
    found = []
    monkeypatch.setattr(vectorize, "_tell", found.append)
    return found


@pytest.mark.parametrize("name", sorted(set(TABLE) - RANDOM - OPEN))
def test_slices_at_once(name, notes):
    entry = TABLE[name]
    for number, (sample, chosen, rows) in enumerate(cases(entry, dtype_of(entry))):
        given = [stacked(rows, place, (0, 1, -1)[number % 3]) for place in chosen]

        def one(*slices, rows=rows, chosen=chosen, sample=sample):
            inputs = list(rows[0])
            for place, value in zip(chosen, slices):
                inputs[place] = value
            return apply(entry, inputs, sample.attrs)
        found = ms.vmap(one, tuple(axis for _, axis in given))(*[tensor for tensor, _ in given])
        wanted = [apply(entry, row, sample.attrs) for row in rows]
        for k, tensor in enumerate(found):
            for i in range(SIZE):
                close(tensor[i], wanted[i][k], name, f"{sample.text}, inputs {chosen}, slice {i}", False)
    slow = {op for note in notes for op in note.rpartition(": ")[2].split(", ") if op in TABLE}
    assert slow <= BY_SLICE, f"no rule for batches in: {slow - BY_SLICE}"
    assert all("operators ran slice by slice" in note for note in notes), notes


def places_of(inputs, chosen):
    return [i for i, t in enumerate(inputs) if t is not None and t.dtype == ms.float64 and i in chosen]


@pytest.mark.parametrize("name", sorted(n for n, e in TABLE.items()
                                        if e["vjp"] and not e["no_vjp"] and "float64" in e["dtypes"] and n not in RANDOM | OPEN))
def test_gradients(name):
    """vmap of the gradient, and the gradient of vmap, against gradients of single slices."""
    entry = TABLE[name]
    for sample, chosen, rows in cases(entry, "float64"):
        places = places_of(rows[0], chosen)
        floats = [k for k, o in enumerate(apply(entry, rows[0], sample.attrs)) if o.dtype == ms.float64]
        if len(places) != len(chosen) or not floats:
            continue

        def loss(*slices, rows=rows, chosen=chosen, sample=sample, floats=floats):
            inputs = list(rows[0])
            for place, value in zip(chosen, slices):
                inputs[place] = value
            out = apply(entry, inputs, sample.attrs)
            total = 0
            for k in floats:
                total = total + (out[k] * out[k]).sum()
            return total
        gradient = ms.grad(loss, tuple(range(len(chosen))))
        wanted = [as_tuple(gradient(*[row[p] for p in chosen])) for row in rows]
        given = [stacked(rows, place, 0)[0] for place in chosen]
        inside = as_tuple(ms.vmap(gradient)(*given))
        outside = as_tuple(ms.grad(lambda *x: ms.vmap(loss)(*x).sum(), tuple(range(len(chosen))))(*given))
        for k in range(len(chosen)):
            for i in range(SIZE):
                text = f"{sample.text}, inputs {chosen}, slice {i}"
                near(inside[k][i], wanted[i][k], f"vmap of the gradient of {name}: {text}")
                near(outside[k][i], wanted[i][k], f"gradient of vmap of {name}: {text}")


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def near(found, wanted, text):
    found, wanted = found.asnumpy(), wanted.asnumpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(wanted).max(initial=0)), err_msg=text)

# SPDX-License-Identifier: Apache-2.0
"""Operators of the table without a gradient: those whose results are floats that change with the inputs refuse it, they do not give zeros."""
import numpy as np
import pytest

import spore as ms
from spore import _core
from samples import parse

CONSTANT = {  # why zeros are right, or are MindSpore's answer
    "floor_div": "steps", "trunc_div": "steps", "stop_gradient": "by word", "one_hot": "zeros in MindSpore", "iou": "zeros in MindSpore", "ctc_alphas": "zeros in MindSpore",
    "full": "no inputs", "arange": "no inputs", "linspace": "no inputs", "eye": "no inputs", "random_uniform": "no inputs but the state",
    "random_normal": "no inputs but the state", "random_truncated_normal": "no inputs but the state",
    "rank_recv": "its input is a token; the program that is divided sends the gradient",
}


@pytest.mark.parametrize("name", sorted(e["name"] for e in _core.op_table() if e["no_vjp"]))
def test_the_table_refuses_or_has_a_reason_for_zeros(name):
    entry = next(e for e in _core.op_table() if e["name"] == name)
    if entry["writes"]:
        return
    rng, sample = np.random.default_rng(1), parse(entry["samples"])[0]
    dtype = "float32" if "float32" in entry["dtypes"] else entry["dtypes"][0]
    kind = getattr(ms, dtype if dtype != "bool" else "bool_")
    inputs = [None if o is None else ms.Tensor(o.values(rng, dtype), dtype=kind if o.follows_dtype else None) for o in sample.operands]
    out = _core.apply(name, inputs, sample.attrs)
    floats = [i for i, o in enumerate(out if isinstance(out, tuple) else (out,)) if o.dtype in (ms.float32, ms.float64, ms.complex64)]
    places = [i for i, t in enumerate(inputs) if t is not None and t.dtype in (ms.float32, ms.float64)]
    if not floats or not places:
        return

    def total(*chosen):
        given = list(inputs)
        for place, value in zip(places, chosen):
            given[place] = value
        out = _core.apply(name, given, sample.attrs)
        out = out if isinstance(out, tuple) else (out,)
        return sum((ms.ops.abs(out[i]).sum() for i in floats), ms.Tensor(0.0))
    if name in CONSTANT:
        assert all(not g.asnumpy().any() for g in ms.grad(total, tuple(range(len(places))))(*[inputs[p] for p in places]))
        return
    with pytest.raises(RuntimeError, match=f"gradient of {name}: there is none: "):
        ms.grad(total, tuple(range(len(places))))(*[inputs[p] for p in places])

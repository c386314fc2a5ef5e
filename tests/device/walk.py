# SPDX-License-Identifier: Apache-2.0
"""What the walks over the operator table on devices share: sample operands, and gradients by all floating inputs."""
import os
import sys
from pathlib import Path

import numpy as np

import spore as ms
from spore import _core

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "ops"))
from samples import parse  # noqa: E402

TABLE = {e["name"]: e for e in _core.op_table()}
# Nothing to bring there: no operand; or a copy between devices itself.
OPERATORS = sorted(name for name, e in TABLE.items() if e["inputs"].strip() and name != "device_copy")
FLOATS = (ms.float32, ms.float64)


def operands(sample, dtype):
    rng = np.random.Generator(np.random.PCG64(11))
    made = []
    for operand in sample.operands:
        if operand is None:
            made.append(None)
            continue
        kind = getattr(ms, dtype if dtype != "bool" else "bool_") if operand.follows_dtype else None
        made.append(ms.Tensor(operand.values(rng, dtype), dtype=kind))
    return made


def outputs(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def cases(entry):
    dtype = "float32" if "float32" in entry["dtypes"] else entry["dtypes"][0]
    return [(sample, dtype) for sample in parse(entry["samples"])]


def gradients(name, sample, given, wanted):
    """Of the sum of all floating results, by all floating operands; None where there are none."""
    entry = TABLE[name]
    places = [i for i, t in enumerate(given) if t is not None and t.dtype in FLOATS]
    if not places or not entry["vjp"] or entry["no_vjp"] or entry["writes"] or not [o for o in wanted if o.dtype in FLOATS]:
        return None

    def f(*chosen):
        all_ = list(given)
        for place, value in zip(places, chosen):
            all_[place] = value
        outs = [o for o in outputs(_core.apply(name, all_, sample.attrs)) if o.dtype in FLOATS]
        return sum((o.sum() for o in outs[1:]), outs[0].sum())
    return outputs(ms.grad(f, grad_position=tuple(range(len(places))))(*[given[p] for p in places]))


def check_script(name, folder, **environment):
    """A MindSpore script of tests/scripts, as it is, with SPORE_DEVICE set: it prints what MindSpore prints."""
    scripts = str(Path(__file__).resolve().parent.parent / "scripts")
    if scripts not in sys.path:
        sys.path.insert(0, scripts)
    import test_scripts as t
    arguments = [t.unpack_mnist(folder)] if name in t.WITH_MNIST else []
    done = t.run([str(t.HERE / f"{name}.py"), *arguments], cwd=folder, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    text, numbers = t.split(done.stdout)
    wanted_text, wanted = t.split((t.HERE / "expected" / f"{name}.txt").read_text())
    assert text == wanted_text
    np.testing.assert_allclose(numbers, wanted, rtol=t.CLOSE.get(name, 2e-3), atol=t.CLOSE.get(name, 2e-3))

# SPDX-License-Identifier: Apache-2.0
"""Every gradient of the operator table with memory running out at its first, second, third ... allocation.

A limit a little above what is in use moves the point of failure. MemoryError is the only exception allowed, and the same
gradient must come out right afterwards. Run by test_memory.py in a process of its own.
"""
import faulthandler
import sys

import numpy as np
from samples import parse

import spore as ms
from spore import _core

faulthandler.enable()


def operands(sample):
    rng = np.random.Generator(np.random.PCG64(7))
    return [None if o is None else ms.Tensor(np.array(o.values(rng, "float32"), order="C"), dtype=ms.float32 if o.follows_dtype else None)
            for o in sample.operands]


def backward_once(name, entry, sample):
    inputs = operands(sample)
    _core.grad_begin()
    try:
        watched = [_core.grad_variable(t) if t is not None and _core.grad_possible(t) else t for t in inputs]
        out = _core.apply(name, watched, sample.attrs)
        outputs = [o for o in (out if isinstance(out, tuple) else (out,)) if _core.grad_possible(o) and _core.grad_tracked(o)]
        targets = [t for t in watched if t is not None and _core.grad_possible(t)]
    finally:
        _core.grad_end()
    return outputs, targets


failed = walked = 0
for entry in _core.op_table():
    if not entry["vjp"] or entry["no_vjp"] or entry["writes"] or "float32" not in entry["dtypes"]:
        continue
    name = entry["name"]
    for sample in parse(entry["samples"])[:2]:
        print(name, file=sys.stderr, flush=True)
        outputs, targets = backward_once(name, entry, sample)
        if not outputs:
            continue
        wanted = _core.grad_backward(outputs, None, targets, True)
        for more in range(0, 24000, 600):
            outputs, targets = backward_once(name, entry, sample)
            _core.memory_trim()
            _core.memory_set_limit(_core.memory_stats()["reserved_bytes"] + more + 1)
            try:
                _core.grad_backward(outputs, None, targets, True)
                break
            except MemoryError:
                failed += 1
            finally:
                _core.memory_set_limit(0)
        outputs, targets = backward_once(name, entry, sample)
        found = _core.grad_backward(outputs, None, targets, True)
        for f, w in zip(found, wanted):
            np.testing.assert_array_equal(f.asnumpy(), w.asnumpy(), err_msg=name)
        walked += 1
print(walked, failed)

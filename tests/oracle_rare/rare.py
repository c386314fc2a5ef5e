# SPDX-License-Identifier: Apache-2.0
"""Answers as plain lists, and their comparison."""
import numpy as np


def plain(value):
    """[[dtype, shape, numbers], ...] of one Tensor or several."""
    return [_one(v) for v in (value if isinstance(value, (tuple, list)) else (value,))]


def _one(tensor):
    array = np.asarray(tensor.asnumpy())
    numbers = array.astype(np.complex128).ravel()
    numbers = [float(f"{x:.7g}") for x in (np.stack([numbers.real, numbers.imag], -1).ravel() if np.iscomplexobj(array)
                                           else numbers.real)]
    return [str(array.dtype), list(array.shape), numbers]


def different(answer, found):
    """What differs, or None."""
    if len(answer) != len(found):
        return f"{len(found)} results instead of {len(answer)}"
    for k, (want, got) in enumerate(zip(answer, found)):
        if want[:2] != got[:2]:
            return f"result {k} is {got[:2]} instead of {want[:2]}"
        if not np.allclose(want[2], got[2], rtol=2e-4, atol=2e-5, equal_nan=True):
            return f"result {k} is {got[2][:6]} instead of {want[2][:6]}"
    return None

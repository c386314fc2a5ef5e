# SPDX-License-Identifier: Apache-2.0
"""Lists inside lists without end: an exception with a text of ours, never the end of the stack."""
import threading

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn
from spore.dataset import vision

DEPTH = 200_000
NUMBERS = np.zeros((3, 3), np.float32)


def nest(kind, value):
    for _ in range(DEPTH):
        value = kind([value])
    return value


def assign(given):
    Tensor(NUMBERS)[0] = given



CALLS = {"tensor": Tensor, "parameter": ms.Parameter, "add": lambda v: Tensor(1.0) + v, "index": lambda v: Tensor(NUMBERS)[v], "assign": assign,
         "cell": lambda v: nn.Dense(3, 3)(v), "jit": lambda v: ms.jit(lambda: Tensor(v))(), "crop": lambda v: vision.Crop((0, 0), v)}


@pytest.mark.parametrize("leaf", [1.0, np.float32(1), NUMBERS], ids=["float", "scalar", "array"])
@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("name", CALLS)
def test_they_are_refused(name, kind, leaf):
    caught = []

    def run():
        try:
            CALLS[name](nest(kind, leaf))
        except Exception as error:
            caught.append(error)

    before = threading.stack_size(256 << 10)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert isinstance(caught[0], (TypeError, IndexError, ValueError)), repr(caught[0])[:200]
    assert 0 < len(str(caught[0])) < 1000

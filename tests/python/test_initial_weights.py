# SPDX-License-Identifier: Apache-2.0
"""A seed gives MindSpore's initial weights: recorded from it by record_initial_weights.py."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import spore as ms
import spore.common.initializer
from record_initial_weights import summary, weights
from spore import nn

with open(os.path.join(os.path.dirname(__file__), "data", "initial_weights.json")) as file:
    RECORDED = json.load(file)
OURS = {name: summary(array) for name, array in weights(ms)}


def test_names_are_those_recorded():
    assert list(OURS) == list(RECORDED) and len(RECORDED) > 140


@pytest.mark.parametrize("name", list(RECORDED))
def test_weights_equal(name):
    ours, recorded = OURS[name], RECORDED[name]
    assert ours["shape"] == recorded["shape"]
    if "Orthogonal" in name:                            # of a decomposition, here in float64
        for key in ("first", "last"):
            np.testing.assert_allclose(ours[key], recorded[key], atol=1e-6)
    else:
        assert ours == recorded


def test_without_a_seed_every_process_starts_elsewhere():
    code = "from spore import nn; print(nn.Dense(2, 2).weight.asnumpy().tolist())"
    first, second = (subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first != second


def test_the_number_of_threads_does_not_matter():
    def make():
        ms.set_seed(2)
        return [ms.common.initializer.initializer(init, (300, 501)).init_data().asnumpy() for init in ("normal", "uniform", "truncatednormal")]
    many = make()
    code = ("import sys, numpy as np, spore as ms\nms.set_seed(2)\n"
            "for i in ('normal', 'uniform', 'truncatednormal'):\n"
            "    sys.stdout.buffer.write(ms.common.initializer.initializer(i, (300, 501)).init_data().asnumpy().tobytes())")
    one = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env={**os.environ, "SPORE_NUM_THREADS": "1"}).stdout
    assert one == b"".join(a.tobytes() for a in many)


def test_wrong_arguments():
    for init, words in ((ms.common.initializer.Normal(-1.0), "deviation is -1, it must not be negative"),
                        (ms.common.initializer.TruncatedNormal(0.0), "deviation is 0, it must be positive"),
                        (ms.common.initializer.TruncatedNormal(1.0, 0.0, 2.0, 1.0), "from 2 to 1 is empty")):
        with pytest.raises(ValueError, match=words):
            nn.Dense(3, 2, weight_init=init)

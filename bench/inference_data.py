# SPDX-License-Identifier: Apache-2.0
"""Inputs of the networks of inference.py, the same for every side."""
import numpy as np

SIZES = {"yolo": (640, 640), "ocr": (48, 320)}  # of images; the others' are 224 x 224


def data(name, batch):
    rng = np.random.RandomState(0)
    if name == "bert":
        return rng.randint(0, 30522, (batch, 128)).astype(np.int32)
    return rng.rand(batch, 3, *SIZES.get(name, (224, 224))).astype(np.float32)

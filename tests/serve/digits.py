# SPDX-License-Identifier: Apache-2.0
"""A model that tells digits apart, made in no time: how near a picture is to the mean of each digit of data/mnist."""
import gzip
import pathlib

import numpy as np

import spore as ms
from conftest import export
from spore import nn, ops

DATA = pathlib.Path(__file__).parents[2] / "data" / "mnist"


def read(kind):
    """(pictures, labels) of data/mnist: "train" or "t10k"."""
    found = []
    for what in ("images-idx3", "labels-idx1"):
        path, = DATA.glob(f"**/{kind}-{what}-ubyte*")
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        found.append(np.frombuffer(data, np.uint8, offset=16 if "images" in what else 8))
    return found[0].reshape(-1, 28, 28), found[1]


class Nearest(nn.Cell):
    """(n, 1, 28, 28) in [0, 1] to (n, 10)"""

    def __init__(self, means):
        super().__init__()
        self.means = ms.Parameter(ms.Tensor(means.reshape(10, 784).T.astype(np.float32)), name="means")
        self.half = ms.Parameter(ms.Tensor((0.5 * (means ** 2).sum((1, 2))).astype(np.float32)), name="half")

    def construct(self, x):
        return ops.matmul(ops.reshape(x, (-1, 784)), self.means) - self.half


def make(folder):
    """folder/digits.onnx; pictures and labels that it gets right."""
    pictures, labels = read("t10k")
    means = np.stack([pictures[labels == k].mean(0) for k in range(10)]) / 255
    export(Nearest(means), folder / "digits", np.zeros((2, 1, 28, 28), np.float32))
    scores = (pictures.reshape(len(pictures), -1) / 255) @ means.reshape(10, -1).T - 0.5 * (means ** 2).sum((1, 2))
    right = scores.argmax(1) == labels
    return pictures[right], labels[right]

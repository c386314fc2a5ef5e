# SPDX-License-Identifier: Apache-2.0
"""Initial weights for a seed: what initializers and layers start from. Run with MindSpore 2.10 to record, from any folder:

    python record_initial_weights.py data/initial_weights.json

The test runs the same with spore and compares: some elements of each array and the sum of all. `weights(ms)` is shared by both."""
import json
import sys

import numpy as np

SHAPES = ([37, 129], [40, 13], [4, 3, 5, 5])


def initializers(ms):
    i = ms.common.initializer
    return {
        "Normal": i.Normal(0.02), "Normal(3, 1)": i.Normal(3.0, 1.0), "Uniform": i.Uniform(0.3), "XavierUniform": i.XavierUniform(),
        "XavierNormal": i.XavierNormal(2.0), "HeUniform": i.HeUniform(5 ** 0.5), "HeNormal": i.HeNormal(mode="fan_out", nonlinearity="relu"),
        "TruncatedNormal": i.TruncatedNormal(0.02), "TruncatedNormal(1)": i.TruncatedNormal(1.0),
        "TruncatedNormal of a tail": i.TruncatedNormal(0.5, 1.0, 2.5, 3.0), "Orthogonal": i.Orthogonal(1.5), "Sparse": i.Sparse(0.3),
        "VarianceScaling normal": i.VarianceScaling(distribution="untruncated_normal"),
        "VarianceScaling uniform": i.VarianceScaling(distribution="uniform", mode="fan_avg"),
    }


def layers(ms):
    nn, mint = ms.nn, ms.mint.nn
    return {
        "Dense": lambda: nn.Dense(10, 20), "Conv1d": lambda: nn.Conv1d(3, 8, 3, has_bias=True), "Conv2d": lambda: nn.Conv2d(3, 8, 3, has_bias=True),
        "Conv3d": lambda: nn.Conv3d(3, 8, 3, has_bias=True), "Conv1dTranspose": lambda: nn.Conv1dTranspose(3, 4, 2, has_bias=True),
        "Conv2dTranspose": lambda: nn.Conv2dTranspose(3, 8, 3, has_bias=True), "Conv3dTranspose": lambda: nn.Conv3dTranspose(3, 4, 2, has_bias=True),
        "Embedding": lambda: nn.Embedding(30, 7), "Embedding of padding": lambda: nn.Embedding(9, 3, padding_idx=2),
        "EmbeddingLookup": lambda: nn.EmbeddingLookup(5, 6), "LSTM": lambda: nn.LSTM(4, 5, 2, bidirectional=True), "GRU": lambda: nn.GRU(4, 5, 2),
        "RNN": lambda: nn.RNN(4, 5, has_bias=False), "LSTMCell": lambda: nn.LSTMCell(4, 5), "GRUCell": lambda: nn.GRUCell(4, 5, has_bias=False),
        "RNNCell": lambda: nn.RNNCell(4, 5), "BiDense": lambda: nn.BiDense(3, 4, 5), "MultiheadAttention": lambda: nn.MultiheadAttention(8, 2),
        "MultiheadAttention of sizes": lambda: nn.MultiheadAttention(8, 2, kdim=6, vdim=5),
        "Transformer": lambda: nn.Transformer(8, 2, 2, 2, 16), "Linear": lambda: mint.Linear(5, 6), "mint.Conv2d": lambda: mint.Conv2d(3, 4, 3),
        "mint.Embedding": lambda: mint.Embedding(4, 5), "mint.ConvTranspose2d": lambda: mint.ConvTranspose2d(3, 4, 3),
        "a chain": lambda: nn.SequentialCell(nn.Conv2d(1, 6, 5, pad_mode="valid", weight_init="normal"), nn.BatchNorm2d(6), nn.Dense(6, 4, weight_init="he_normal",
                                             bias_init="zeros"), nn.PReLU(4), nn.Dense(4, 2, weight_init=ms.common.initializer.TruncatedNormal(0.02))),
    }


def weights(ms):
    """Pairs of a name and an array."""
    ms.set_seed(7)                                       # one after the other: each draws from where the last one stopped
    for shape in SHAPES:
        for name, init in initializers(ms).items():
            if name not in ("Sparse",) or len(shape) == 2:
                yield f"{name} {shape}", ms.common.initializer.initializer(init, shape, ms.float32).init_data().asnumpy()
    yield "float16", ms.common.initializer.initializer("normal", [5, 6], ms.float16).init_data().asnumpy()
    for name, make in layers(ms).items():
        ms.set_seed(11)
        for parameter in make().get_parameters():
            yield f"{name}: {parameter.name}", parameter.asnumpy()
    np.random.seed(3)                                    # initializers follow numpy's own seed as well
    for parameter in ms.nn.Dense(3, 2).get_parameters():
        yield f"numpy's seed: {parameter.name}", parameter.asnumpy()


def summary(array):
    flat = array.astype(np.float64).ravel()
    return {"shape": list(array.shape), "first": flat[:5].tolist(), "last": flat[-2:].tolist(), "sum": float(flat.sum()), "squares": float((flat * flat).sum())}


if __name__ == "__main__":
    import mindspore
    import mindspore.common.initializer
    with open(sys.argv[1], "w") as file:
        rows = [f"{json.dumps(name)}: {json.dumps(summary(array))}" for name, array in weights(mindspore)]
        file.write("{\n" + ",\n".join(rows) + "\n}\n")

# SPDX-License-Identifier: Apache-2.0
"""Networks that are exported to ONNX besides those of tests/oracle_mindir: loops in loops with a break, recurrent layers.
``python export_nets.py FOLDER`` writes all of them for opsets 13, 17 and 26, and with a free batch size."""
import pathlib
import sys

import numpy as np

import spore as ms
from spore import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle_mindir"))
import nets  # noqa: E402

OPSETS = (13, 17, 26)


class Nested(nn.Cell):
    def construct(self, x, n):
        i = ms.Tensor(0, ms.int32)
        s = x * 0
        while i < n:
            j = ms.Tensor(0, ms.int32)
            while j < i:
                s = s + x
                j = j + 1
                if s.sum() > 10:
                    break
            i = i + 1
        return s


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(4, 3, batch_first=True)

    def construct(self, x):
        y, (h, c) = self.lstm(x)
        z, _ = self.gru(x)
        return y, h, c, z


def cases():
    """name: (net, inputs)"""
    random = np.random.default_rng(2)
    return {**nets.cases(), "nested": (Nested(), [np.ones(3, np.float32), np.array(4, np.int32)]),
            "recurrent": (Recurrent(), [random.standard_normal((2, 3, 4)).astype(np.float32)])}


FREE_BATCH = ("lenet", "mlp", "residual", "attention", "elementwise", "recurrent")


def more(inputs):
    """The same inputs in a larger batch."""
    return [np.concatenate([x, x, x, x[:1]]) for x in inputs]


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)

    def save(name, inputs, results):
        np.savez(folder / f"{name}.npz", **{f"in{i}": x for i, x in enumerate(inputs)}, **{f"out{i}": x for i, x in enumerate(results)})

    for name, (net, inputs) in cases().items():
        net.set_train(False)
        tensors = [ms.Tensor(x) for x in inputs]
        for opset in OPSETS:
            ms.export(net, *tensors, file_name=f"{folder}/{name}.{opset}.onnx", file_format="ONNX", opset_version=opset)
            save(f"{name}.{opset}", inputs, nets.run(net, inputs))
        if name in FREE_BATCH:
            names = [f"in{i}" for i in range(len(inputs))]
            ms.onnx.export(net, *tensors, file_name=f"{folder}/{name}.free.onnx", input_names=names,
                           dynamic_axes={one: {0: "batch"} for one in names})
            save(f"{name}.free", more(inputs), nets.run(net, more(inputs)))


if __name__ == "__main__":
    main(sys.argv[1])

# SPDX-License-Identifier: Apache-2.0
"""Training from a MindRecord with several JPEGs a row: label, data1, data2, data3.

    python examples/python/several_images.py

Three views of a square or a disc are written into one row, read back, decoded by the engine, and classified together.
"""
import os
import sys
import tempfile

import numpy as np

import spore as ms
from spore import dataset, nn, ops
from spore.dataset import vision
from spore.mindrecord import FileWriter

VIEWS = ["data1", "data2", "data3"]


def view(label, size, rng):
    """A JPEG of a noisy square (0) or disc (1) somewhere in the picture."""
    y, x = np.mgrid[:size, :size] - rng.integers(size // 3, 2 * size // 3, (2, 1, 1))
    inside = np.maximum(abs(y), abs(x)) < size // 5 if label == 0 else y * y + x * x < (size // 5) ** 2
    image = np.where(inside[..., None], 220, 40) + rng.integers(-20, 20, (size, size, 3))
    return vision.encode_jpeg(image.astype(np.uint8)).tobytes()


def write(path, n_rows):
    """Views of a row have different sizes, as pictures from different cameras would."""
    rng = np.random.default_rng(0)
    writer = FileWriter(path)
    writer.add_schema({"label": {"type": "int32"}, **{name: {"type": "bytes"} for name in VIEWS}})
    for i in range(n_rows):
        views = {name: view(i % 2, size, rng) for name, size in zip(VIEWS, (48, 64, 80))}
        writer.write_raw_data([{"label": i % 2, **views}])
    writer.commit()


def batches(path, size):
    rows = dataset.MindDataset(path, ["label", *VIEWS], shuffle=True)
    for name in VIEWS:
        rows = rows.map([vision.Decode(), vision.Resize((32, 32)), vision.Rescale(1 / 255, -0.5), vision.HWC2CHW()], name)
    return rows.batch(size, drop_remainder=True)


class Net(nn.Cell):
    """One small network for all views; their features are added."""

    def __init__(self):
        super().__init__()
        self.features = nn.SequentialCell(nn.Conv2d(3, 8, 5, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
                                          nn.Flatten())
        self.head = nn.Dense(16 * 8 * 8, 2)

    def construct(self, *views):
        return self.head(sum(self.features(v) for v in views))


def main(n_rows=240, epochs=8):
    ms.set_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "views.mindrecord")
        write(path, n_rows)
        data, net, loss_fn = batches(path, 20), Net(), nn.CrossEntropyLoss()
        optimizer = nn.Adam(net.trainable_params(), learning_rate=2e-3)
        step = ms.value_and_grad(lambda label, *views: loss_fn(net(*views), label), None, optimizer.parameters)
        rows = data.create_tuple_iterator(num_epochs=epochs)
        for epoch in range(epochs):
            losses = []
            for label, *views in rows:
                loss, grads = step(label, *views)
                optimizer(grads)
                losses.append(float(loss))
            print(f"epoch {epoch}  loss {np.mean(losses):.4f}")
        right = total = 0
        for label, *views in data.create_tuple_iterator(num_epochs=1):
            right += int((ops.argmax(net(*views), 1).asnumpy() == label.asnumpy()).sum())
            total += len(label)
        print(f"accuracy {right / total:.2%}")
        return right / total


if __name__ == "__main__":
    sys.exit(0 if main() > 0.9 else 1)

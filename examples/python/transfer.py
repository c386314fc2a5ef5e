# SPDX-License-Identifier: Apache-2.0
"""A network out of an ONNX file learns something new.

    python examples/python/transfer.py

LeNet learns digits and is written as ONNX, to have a file. From there on nothing is known but the file: it is read as a Cell, meets
digits that lie on their side, which it takes for others, learns them with all layers but the last two frozen and then not, and is
written as MindIR. Any ONNX file serves the same way; `spore inspect` and `spore draw` show what is in it.
"""
import os
import tempfile

import numpy as np

import spore as ms
from spore import nn
from spore.demo import LeNet, digits

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "data", "mnist")


def turned(batches):
    """The same digits, a quarter of a turn further."""
    return batches.map(lambda image: np.ascontiguousarray(np.rot90(image, axes=(2, 3))), "image")


def accuracy(net, batches):
    right = [net(x).argmax(1).asnumpy() == y.asnumpy() for x, y in batches.create_tuple_iterator(num_epochs=1)]
    return np.concatenate(right).mean()


def learn(net, batches, learning_rate=2e-3):
    """One epoch over what is not frozen."""
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate)
    step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    net.set_train()
    for x, y in batches.create_tuple_iterator(num_epochs=1):
        loss, gradients = step(x, y)
        optimizer(gradients)
    net.set_train(False)


def freeze(net, but):
    """Weights stay as they are, except those whose names begin with one of `but`."""
    for weight in net.get_parameters():
        weight.requires_grad = weight.name.startswith(tuple(but))


def main(data=DATA):
    ms.set_seed(1)
    train, test = digits(data, "train", 32, True), digits(data, "test", 500, False)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lenet.onnx")
        lenet = LeNet()
        learn(lenet, train)
        ms.onnx.export(lenet, ms.Tensor(np.zeros((1, 1, 28, 28), np.float32)), file_name=path, dynamic_axes={"x": {0: "n"}})

        net = ms.onnx.load(path)
        found = {"upright": accuracy(net, test), "on their side": accuracy(net, turned(test))}
        freeze(net, but=["fc2", "fc3"])
        learn(net, turned(train))
        found["the last two layers learned"] = accuracy(net, turned(test))
        freeze(net, but=[""])
        learn(net, turned(train))
        found["all layers learned"] = accuracy(net, turned(test))

        ms.export(net, ms.Tensor(np.zeros((500, 1, 28, 28), np.float32)), file_name=os.path.join(folder, "turned"), file_format="MINDIR")
        again = nn.GraphCell(ms.load(os.path.join(folder, "turned.mindir")))
        found["read back from MindIR"] = accuracy(again, turned(test))
    for name, value in found.items():
        print(f"{name:28} {value:.1%}")
    return found


if __name__ == "__main__":
    main()

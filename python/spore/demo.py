# SPDX-License-Identifier: Apache-2.0
"""LeNet learns handwritten digits: ``python -m spore.demo [--data folder] [--epochs n] [--out folder]``.

Trains on the MNIST subset of the project, prints a progress bar (plain lines when the output is no terminal), tests, and
leaves ``lenet.ckpt`` and ``demo.png``.
"""
import argparse
import os
import sys
import time

import numpy as np

import spore as ms
from spore import dataset, nn, ops
from spore._draw import Canvas
from spore.dataset import transforms, vision


class LeNet(nn.Cell):
    """LeNet-5 for images of 28 x 28."""

    def __init__(self, n_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="same")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool = nn.MaxPool2d(2, 2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 5 * 5, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, n_classes)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


def digits(folder, usage, batch, shuffle):
    """Batches of images as float32 [n, 1, 28, 28] in 0..1 and labels as int32."""
    try:
        rows = dataset.MnistDataset(folder, usage, shuffle=shuffle)
    except ValueError as error:
        raise SystemExit(f"demo: {error}; --data names the folder with the MNIST files") from error
    rows = rows.map([vision.Rescale(1 / 255, 0), vision.HWC2CHW()], "image")
    rows = rows.map(transforms.TypeCast(ms.int32), "label")
    return rows.batch(batch, drop_remainder=shuffle)


class Progress:
    """A bar on a terminal, a line now and then elsewhere."""

    def __init__(self, total, stream=sys.stdout):
        self.total, self.stream = total, stream
        self.terminal = stream.isatty()
        self.start = time.perf_counter()
        self.shown = 0.0

    def show(self, done, loss, images):
        now = time.perf_counter()
        last = done == self.total
        if not last and now - self.shown < (0.1 if self.terminal else 2.0):
            return
        self.shown = now
        rate = images / max(now - self.start, 1e-9)
        text = f"step {done}/{self.total}  loss {loss:.4f}  {rate:,.0f} images/s"
        if self.terminal:
            full = int(30 * done / self.total)
            self.stream.write("\r" + "█" * full + "░" * (30 - full) + "  " + text + " " * 6 + ("\n" if last else ""))
        else:
            self.stream.write(text + "\n")
        self.stream.flush()


def train(net, batches, epochs):
    """Train in place; returns the loss of every step."""
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.02, momentum=0.9)
    step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    net.set_train()
    losses, progress = [], Progress(batches.get_dataset_size() * epochs)
    rows = batches.create_tuple_iterator(num_epochs=epochs)
    for _ in range(epochs):
        for images, labels in rows:
            loss, grads = step(images, labels)
            optimizer(grads)
            losses.append(float(loss))
            progress.show(len(losses), np.mean(losses[-50:]), len(losses) * len(images))
    return losses


def predict(net, batches):
    """All images, their labels, and the most likely class of each."""
    net.set_train(False)
    found = [(images.asnumpy(), labels.asnumpy(), ops.argmax(net(images), 1).asnumpy()) for images, labels in batches]
    return [np.concatenate(parts) for parts in zip(*found)]


def picture(path, images, labels, guesses, losses, accuracy):
    """A grid of test digits with what the net says, wrong ones in red, and the training curve."""
    rows, columns, cell = 6, 12, 72
    canvas = Canvas(60 + rows * cell + 200, 20 + columns * cell)
    canvas.text(12, 14, f"LeNet on MNIST: test accuracy {accuracy:.2%}", scale=3)
    wrong = np.flatnonzero(guesses != labels)[:columns]          # the last row shows mistakes
    right = np.flatnonzero(guesses == labels)[:rows * columns - len(wrong)]
    for k, index in enumerate(np.concatenate([right, wrong])):
        y, x = 44 + k // columns * cell, 14 + k % columns * cell
        canvas.gray(y, x, images[index, 0])
        good = guesses[index] == labels[index]
        canvas.text(y + 58, x + 22, guesses[index], (30, 130, 50) if good else (210, 30, 30))
    base = 60 + rows * cell
    canvas.text(base, 14, f"loss over {len(losses)} steps")
    smooth = np.convolve(losses, np.ones(20) / 20, "valid") if len(losses) > 40 else losses
    canvas.curve(base + 18, 14, 170, columns * cell - 10, smooth)
    canvas.save(path)


def _own_digits():
    """The digits that a wheel has inside, else those of the source tree."""
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mnist")
    return inside if os.path.isdir(inside) else os.path.join("data", "mnist")


def main(argv=None):
    """Run the demo."""
    parser = argparse.ArgumentParser(prog="python -m spore.demo", description="LeNet learns handwritten digits.")
    parser.add_argument("--data", default=_own_digits(), help="folder with the MNIST files")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--out", default=".", help="folder for lenet.ckpt and demo.png")
    args = parser.parse_args(argv)
    ms.set_seed(1)
    batches = digits(args.data, "train", 32, shuffle=True)
    net = LeNet()
    start = time.perf_counter()
    losses = train(net, batches, args.epochs)
    seconds = time.perf_counter() - start
    test_images, test_labels, guesses = predict(net, digits(args.data, "test", 500, shuffle=False))
    accuracy = float((guesses == test_labels).mean())
    os.makedirs(args.out, exist_ok=True)
    checkpoint, image = os.path.join(args.out, "lenet.ckpt"), os.path.join(args.out, "demo.png")
    ms.save_checkpoint(net, checkpoint)
    picture(image, test_images, test_labels, guesses, losses, accuracy)
    print(f"trained {args.epochs} epochs of {32 * batches.get_dataset_size()} images in {seconds:.1f} s; "
          f"accuracy on {len(test_images)} test images: {accuracy:.2%}")
    print(f"wrote {checkpoint} and {image}")


if __name__ == "__main__":
    main()

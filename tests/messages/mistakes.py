# SPDX-License-Identifier: Apache-2.0
"""Mistakes of beginners and what they are told: mistakes.txt has a mistake a line, and under it, indented, the message.

    PYTHONPATH=build/py build/venv/bin/python tests/messages/mistakes.py       # write the messages anew; the diff shows what changed
"""
import os
import tempfile
from pathlib import Path

TABLE = Path(__file__).with_name("mistakes.txt")
HEAD = "# Mistakes and their messages. Whoever changes a message sees it here; mistakes.py writes the file anew.\n"
PRELUDE = """
import numpy as np
import spore as ms
from spore import Parameter, Tensor, mint, nn, ops
from spore import dataset as ds
from spore.dataset import transforms, vision

ARRAY = np.ones((2, 3), np.float32)
x = Tensor(ARRAY)
net = nn.Dense(3, 2)
opt = nn.SGD(net.trainable_params(), 0.1)
data = ds.NumpySlicesDataset({"image": ARRAY, "label": np.array([0, 1], np.int32)}, shuffle=False)
model = ms.Model(net, nn.CrossEntropyLoss(), opt)


class Forward(nn.Cell):
    def forward(self, x):
        return x


class NoSuper(nn.Cell):
    def __init__(self):
        self.fc = nn.Dense(3, 2)


class Wrong(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(5, 2))

    def construct(self, x):
        return self.layers(x)


class Two(nn.Cell):
    def construct(self, x, y):
        return x + y


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name
"""


def read():
    """[(mistake, message)] of the table."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            found[-1][1].append(line[4:])
        elif line and not line.startswith("#"):
            found.append((line, []))
    return [(mistake, "\n".join(words)) for mistake, words in found]


def told(mistake, names):
    """What a mistake is told; its folder is written as FOLDER."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            exec(mistake, dict(names))
            return "nothing"
        except Exception as error:
            words = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
            return words.replace(os.path.realpath(folder), "FOLDER").rstrip()
        finally:
            os.chdir(before)


def prelude():
    names = {}
    exec(PRELUDE, names)
    return names


def main():
    text, names = HEAD, prelude()
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            text += f"\n{line}\n"
        elif line and not line.startswith(("    ", "#")):
            text += f"\n{line}\n" + "".join(f"    {words}\n" for words in told(line, names).split("\n"))
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

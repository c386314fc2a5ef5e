# SPDX-License-Identifier: Apache-2.0
"""A process killed while it saves: the file is the old one or the new one, whole, and nothing else is left in the folder."""
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import spore as ms

# Saves again and again; every value of save k is k, so a mixture of two saves would show.
SAVER = """
import sys, itertools, numpy as np, spore as ms
path, kind = sys.argv[1:]
def net(k):
    cell = ms.nn.SequentialCell(ms.nn.Dense(256, 512), ms.nn.Dense(512, 256))
    for p in cell.get_parameters():
        p.set_data(ms.Tensor(np.full(p.shape, k, np.float32)))
    return cell
for k in itertools.count(1):
    cell = net(k)
    if kind in ("mindir", "onnx"):
        ms.export(cell, ms.Tensor(np.zeros((1, 256), np.float32)), file_name=path, file_format=kind.upper())
    else:
        options = {"enc_key": b"0123456789ABCDEF"} if kind == "encrypted" else {}
        ms.save_checkpoint(cell, path, format="safetensors" if kind == "safetensors" else "ckpt", **options)
    print(k, flush=True)
"""


def read(path, kind):
    """The number of the save whose values the file holds."""
    if kind == "onnx":
        values = {p.name: p for p in ms.onnx.load(str(path)).get_parameters()}
    elif kind == "mindir":
        values = {p.name: p for p in ms.nn.GraphCell(ms.load(str(path))).get_parameters()}
    else:
        options = {"dec_key": b"0123456789ABCDEF"} if kind == "encrypted" else {}
        values = ms.load_checkpoint(str(path), format="safetensors" if kind == "safetensors" else "ckpt", **options)
    found = {float(x) for value in values.values() for x in np.unique(value.asnumpy())}
    assert len(values) == 4 and len(found) == 1, f"{path} holds values of saves {sorted(found)} in {len(values)} tensors"
    return found.pop()


@pytest.mark.parametrize("kind", ["ckpt", "encrypted", "safetensors", "mindir", "onnx"])
def test_killed_while_saving(kind, tmp_path):
    draw = random.Random(kind)
    ending = {"encrypted": "ckpt"}.get(kind, kind)
    path = tmp_path / f"net.{ending}"
    for _ in range(4):
        saver = subprocess.Popen([sys.executable, "-c", SAVER, str(path), kind], stdout=subprocess.PIPE, text=True)
        first = saver.stdout.readline()
        time.sleep(draw.random() * 0.02)
        saver.send_signal(signal.SIGKILL)
        rest = saver.stdout.read()
        saver.wait()
        assert first == "1\n", "the saver did not get to its first save"
        reported = float((rest.splitlines() or ["1"])[-1])
        assert read(path, kind) in (reported, reported + 1) # + 1: in place, but not yet reported
        left = [file.name for file in tmp_path.iterdir() if file != path]
        assert len(left) <= 1 and all(name.startswith(".spore-") for name in left), left # between its name and the renaming
        for name in left:
            (tmp_path / name).unlink()

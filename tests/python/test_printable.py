# SPDX-License-Identifier: Apache-2.0
"""Messages of exceptions can be printed, whatever texts they hold: names of files are any bytes, data may hold half a surrogate pair."""
import io
import os

import numpy as np
import pytest

import spore as ms
from spore import nn, ops
from spore import dataset as ds

BAD = "x\udcff"

CASES = {
    "a file that does not exist": lambda tmp: ms.load_checkpoint(f"{tmp}/{BAD}.ckpt"),
    "a damaged file": lambda tmp: ms.load_checkpoint(damaged(tmp, "ckpt")),
    "a damaged model": lambda tmp: ms.onnx.load(damaged(tmp, "onnx")),
    "a damaged MindIR": lambda tmp: ms.load(damaged(tmp, "mindir")),
    "a folder that does not exist": lambda tmp: ms.save_checkpoint({"w": ms.Tensor([1.0])}, f"{tmp}/{BAD}/w.ckpt"),
    "names that fit nothing": lambda tmp: ms.load_param_into_net(nn.Dense(1, 1), {BAD: ms.Parameter(ms.Tensor([1.0]))}),
    "an option": lambda tmp: ms.set_context(**{BAD: 1}),
    "an option's name": lambda tmp: ms.get_context(BAD),
    "an option of distribution": lambda tmp: ms.set_auto_parallel_context(**{BAD: 1}),
    "an operator": lambda tmp: ops.Primitive(BAD)(1),
    "an initializer": lambda tmp: ms.common.initializer.initializer(BAD, [2]),
    "an equation": lambda tmp: ops.einsum(BAD, ms.Tensor([1.0])),
    "a choice": lambda tmp: nn.L1Loss(BAD),
    "a dtype": lambda tmp: ms.Tensor([1.0], dtype=BAD),
    "a token": lambda tmp: ds.text.Lookup(ds.text.Vocab.from_list(["a"]))(BAD),
    "a number": lambda tmp: ds.text.ToNumber(ms.float32)(BAD),
    "a folder of images": lambda tmp: list(ds.ImageFolderDataset(f"{tmp}/{BAD}")),
    "files of text": lambda tmp: list(ds.TextFileDataset(f"{tmp}/{BAD}")),
    "an image": lambda tmp: ds.vision.read_image(f"{tmp}/{BAD}"),
    "graphs": lambda tmp: save_graphs(damaged(tmp, "file")),
}


def damaged(tmp, ending):
    path = os.path.join(tmp, f"{BAD}.{ending}")
    with open(path, "wb") as out:
        out.write(b"\xff\x00 no such format")
    return path


def save_graphs(path):
    ms.set_context(save_graphs=1, save_graphs_path=path)
    try:
        ms.jit(lambda x: x + 1)(ms.Tensor(np.ones(2, np.float32)))
    finally:
        ms.set_context(save_graphs=0, save_graphs_path=".")


@pytest.mark.parametrize("case", CASES)
def test_messages_can_be_printed(case, tmp_path):
    with pytest.raises(Exception) as raised:
        CASES[case](str(tmp_path))
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # as a terminal: strict
    print(raised.value, file=out)
    out.flush()

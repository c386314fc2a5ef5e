# SPDX-License-Identifier: Apache-2.0
"""Files that did not arrive as a whole, and files that are something else: what is said about them."""
import pathlib

import numpy as np
import pytest

import spore as ms
from spore import nn

DATA = pathlib.Path(__file__).resolve().parent / "data"


@pytest.fixture(scope="module", name="wholes")
def _wholes(tmp_path_factory):
    """One file of every format, by its ending."""
    f = tmp_path_factory.mktemp("wholes")
    net = nn.SequentialCell(nn.Dense(30, 20), nn.Dense(20, 3))
    ms.save_checkpoint(net, str(f / "a.ckpt"))
    ms.save_checkpoint(net, str(f / "a"), format="safetensors")
    for kind in ("ONNX", "MINDIR"):
        ms.export(net, ms.ops.ones((1, 30)), file_name=str(f / "a"), file_format=kind)
    arrays = {p.name: p.asnumpy() for p in net.get_parameters()}
    np.savez(f / "a.npz", **arrays)
    np.save(f / "a.npy", arrays["0.weight"])
    found = {p.suffix: p.read_bytes() for p in f.iterdir()}
    for folder, ending, which in (("tflite", ".tflite", 0), ("h5", ".h5", -1), ("torch", ".pt", 0)):    # the first of PyTorch's is a zip
        found[ending] = sorted((DATA / folder).glob("*" + ending))[which].read_bytes()
    return found


@pytest.mark.parametrize("ending", [".ckpt", ".safetensors", ".onnx", ".mindir", ".npz", ".npy", ".tflite", ".h5", ".pt"])
def test_cut_files_are_called_cut(wholes, ending, tmp_path, spore_command):
    whole = wholes[ending]
    for part in (3, len(whole) // 3, len(whole) // 2 + 1, len(whole) * 7 // 8):
        path = tmp_path / ("cut" + ending)
        path.write_bytes(whole[:part])
        said = spore_command("inspect", path, code=1)
        if ending == ".tflite" and part < 8:     # nothing tells the first bytes of that one
            continue
        assert "cut short" in said and f"{part} bytes" in said or "of contents found" in said, (part, said)
        assert "begin" not in said.split("cut short")[0], said
        if ending in (".onnx", ".mindir") and part > 3:
            assert "cut short" in spore_command("predict", path, code=1)
            assert "cut short" in spore_command("draw", path, code=1)


def test_whole_files_are_not(wholes, tmp_path, spore_command):
    for ending, whole in wholes.items():
        (tmp_path / ("whole" + ending)).write_bytes(whole)
        spore_command("inspect", tmp_path / ("whole" + ending))


def field(number, contents):
    """A field of a protobuf message."""
    head, n = bytes([number << 3 | 2]), len(contents)
    while n > 127:
        head, n = head + bytes([n & 127 | 128]), n >> 7
    return head + bytes([n]) + contents


NODE = field(1, b"x") + field(2, b"Placeholder") + field(5, field(1, b"dtype") + field(2, b"\x30\x01"))
GRAPH = field(1, NODE) + field(1, field(1, b"y") + field(2, b"Relu") + field(3, b"x")) + field(4, b"\x08\x15")
SAVED = b"\x08\x01" + field(2, field(1, field(4, b"serve")) + field(2, GRAPH))


@pytest.mark.parametrize("contents, said", [
    (GRAPH, "TensorFlow graph"), (SAVED, "SavedModel"),
    (b"GGUF\3\0\0\0" + bytes(100), "GGUF"), (b"\x1f\x8b\x08" + bytes(100), "gzip"),
    (b"\n\n  <!DOCTYPE HTML PUBLIC>\n", "HTML"), (b"<?xml version='1.0'?>\n<!DOCTYPE x>\n<html>", "HTML"),
    (b"\xef\xbb\xbf<html lang=en>", "HTML"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 123456789\n", "123456789 bytes")])
def test_other_kinds_are_named(tmp_path, spore_command, contents, said):
    for name in ("graph.pb", "x.onnx", "x.ckpt", "x"):
        (tmp_path / name).write_bytes(contents)
        for verb in ("inspect", "predict"):
            assert said in spore_command(verb, tmp_path / name, code=1)
        with pytest.raises(Exception, match=said):
            ms.load_checkpoint(str(tmp_path / name))


def test_data_sets_are_sent_to_their_verb(tmp_path, spore_command):
    writer = ms.mindrecord.FileWriter(str(tmp_path / "a.mindrecord"))
    writer.add_schema({"n": {"type": "int32"}})
    writer.write_raw_data([{"n": 1}])
    writer.commit()
    for verb in ("inspect", "predict", "draw"):
        assert "spore record info" in spore_command(verb, tmp_path / "a.mindrecord", code=1)

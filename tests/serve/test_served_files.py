# SPDX-License-Identifier: Apache-2.0
"""Files that others write while they are served: a server's weights are its own, and half a file is never served."""
import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import WAIT, request

import spore as ms
from spore import nn

sys.path.append(str(Path(__file__).resolve().parents[1] / "sweep"))
import wire

X = np.ones((1, 64), np.float32)


class Large(nn.Cell):
    """4 MB of equal weights, large enough to be used where they lie in the file."""

    def __init__(self, value):
        super().__init__()
        self.a = nn.Dense(64, 8192, weight_init=ms.Tensor(np.full((8192, 64), value, np.float32)), has_bias=False)
        self.b = nn.Dense(8192, 64, weight_init=ms.Tensor(np.full((64, 8192), 1, np.float32)), has_bias=False)

    def construct(self, x):
        return self.b(self.a(x))


@pytest.fixture(scope="module", params=["mindir", "onnx"])
def pair(request, tmp_path_factory):
    """Two models of equal size, and what each answers."""
    folder = tmp_path_factory.mktemp("large")
    files = []
    for value in (1, 2):
        net = Large(value).set_train(False)
        path = folder / f"large{value}.{request.param}"
        if request.param == "onnx":
            ms.onnx.export(net, ms.Tensor(X), file_name=str(path), input_names=["x"])
        else:
            ms.export(net, ms.Tensor(X), file_name=str(path), file_format="MINDIR")
        files.append(path)
    assert files[0].stat().st_size == files[1].stat().st_size > 4_000_000
    return files


def answer(server):
    status, reply = server.ask("POST", "/v2/models/net/infer", request(x=X))
    assert status == 200, reply
    values = set(reply["outputs"][0]["data"])
    assert len(values) == 1, "weights of two files at once"
    return values.pop() / (64 * 8192)


def test_a_slow_copy_over_a_served_file(serve, pair, tmp_path):
    old, new = pair
    path = tmp_path / f"net{old.suffix}"
    shutil.copy(old, path)
    server = serve(path, "--poll", "0.05")
    assert answer(server) == 1
    data, seen = new.read_bytes(), []

    def copy():
        with path.open("r+b", buffering=0) as f: # in place: the same file, other bytes
            for at in range(0, len(data), 1 << 18):
                f.write(data[at:at + (1 << 18)])
                time.sleep(0.08)
    writer = threading.Thread(target=copy)
    writer.start()
    while writer.is_alive():
        seen.append(answer(server))
    writer.join()
    until = time.monotonic() + WAIT
    while answer(server) != 2:
        assert time.monotonic() < until, server.errors()
    assert set(seen) == {1}, "a model was served that was not written to its end"


@pytest.mark.parametrize("left", [0, 1000, 3_000_000])
def test_a_served_file_that_is_cut(serve, pair, tmp_path, left):
    path = tmp_path / f"net{pair[0].suffix}"
    shutil.copy(pair[0], path)
    server = serve(path, "--poll", "0.05")
    os.truncate(path, left)
    assert answer(server) == 1
    server.wait_for("cannot be served")
    assert answer(server) == 1 and server.ask("GET", "/v2/health/ready")[1]["degraded"]["net"]
    with path.open("wb") as f: # a writer that takes its time, as `cp` over a network does
        data = pair[1].read_bytes()
        f.write(data[:1 << 20])
        f.flush()
        time.sleep(1)
        assert answer(server) == 1
        f.write(data[1 << 20:])
    until = time.monotonic() + WAIT
    while answer(server) != 2:
        assert time.monotonic() < until, server.errors()


def test_a_version_that_is_still_written(serve, pair, tmp_path):
    old, new = pair
    net = tmp_path / "net"
    (net / "1").mkdir(parents=True)
    shutil.copy(old, net / "1" / f"m{old.suffix}")
    server = serve(net, "--poll", "0.05")
    (net / "2").mkdir()
    data = new.read_bytes()
    with (net / "2" / f"m{new.suffix}").open("wb") as f:
        f.truncate(len(data)) # of its final size from the start
        for at in range(0, len(data), 1 << 19):
            f.seek(at)
            f.write(data[at:at + (1 << 19)])
            f.flush()
            time.sleep(0.1)
            assert answer(server) == 1
    server.wait_for("version 2 is ready")
    assert answer(server) == 2


def write_with_external_data(model, path):
    """The ONNX model once more, its weights in net.data beside it."""
    def field(number, value):
        return [number, 2, value] if isinstance(value, bytes) else [number, 0, value]

    def entry(key, value):
        return field(13, bytes([10, len(key)]) + key + bytes([18, len(value)]) + value) # external_data: key, value

    message = wire.Message(model.read_bytes(), wire.ONNX, "Model")
    data = bytearray()
    for number, _, tensor in message.field(7).fields:
        if number != 5 or tensor.field(9) is None: # an initializer with raw_data
            continue
        raw = bytes(tensor.field(9))
        tensor.fields = [f for f in tensor.fields if f[0] != 9]
        tensor.fields += [entry(b"location", b"net.data"), entry(b"offset", b"%d" % len(data)), entry(b"length", b"%d" % len(raw)),
                          field(14, 1)] # data_location
        data += raw
    assert data
    path.write_bytes(message.bytes())
    (path.parent / "net.data").write_bytes(data)


def test_external_data_of_onnx(serve, pair, tmp_path):
    """Weights in a file beside the model are the server's own, too, and a change of theirs is a change of the model."""
    if pair[0].suffix != ".onnx":
        pytest.skip("of ONNX")
    for path, name in zip(pair, ("one", "two")):
        (tmp_path / name).mkdir()
        write_with_external_data(path, tmp_path / name / "net.onnx")
    server = serve(tmp_path / "one" / "net.onnx", "--poll", "0.05")
    assert answer(server) == 1
    data = (tmp_path / "two" / "net.data").read_bytes()
    with (tmp_path / "one" / "net.data").open("r+b") as f:
        f.write(data[: len(data) // 2])
        f.flush()
        assert answer(server) == 1
        time.sleep(0.5)
        assert answer(server) == 1
        f.write(data[len(data) // 2:])
    until = time.monotonic() + WAIT
    while answer(server) != 2:
        assert time.monotonic() < until, server.errors()


def test_answers_are_json(pair, serve, tmp_path):
    """Bodies that clients see are what json reads, whatever happens to the file."""
    path = tmp_path / f"net{pair[0].suffix}"
    shutil.copy(pair[0], path)
    server = serve(path, "--poll", "0")
    path.write_bytes(b"")
    _, reply = server.ask("POST", "/v2/models/net/infer", json.dumps(request(x=X)))
    assert None not in reply["outputs"][0]["data"]

# SPDX-License-Identifier: Apache-2.0
"""The datatype BYTES: models that take and give texts, over REST and gRPC, in JSON, binary and fields; and pictures as BYTES."""
import json
import pathlib
import struct

import numpy as np
import pytest
from conftest import export
from http2 import Http2, fields, message, packed

import spore.dataset.vision as vision
from spore import nn

MODEL = pathlib.Path(__file__).parents[1] / "onnx" / "data" / "texts.onnx"
INFER = "/v2/models/texts/infer"


def binary(words):
    data = [w if isinstance(w, bytes) else w.encode() for w in words]
    return b"".join(struct.pack("<I", len(w)) + w for w in data)


def unpack(data):
    out = []
    while data:
        n, = struct.unpack("<I", data[:4])
        out.append(data[4:4 + n].decode())
        data = data[4 + n:]
    return out


@pytest.fixture(scope="module", name="server")
def _server(tmp_path_factory):
    from conftest import Server
    with Server(MODEL, folder=tmp_path_factory.mktemp("server")) as s:
        yield s


X = ["grün blau", "rot", "", "eins zwei drei"]
DATA = np.load(MODEL.with_suffix(".npz"))
PARTS, COUNTS = DATA["out_parts"], DATA["out_counts"]


def check(reply):
    outputs = {o["name"]: o for o in reply["outputs"]}
    assert outputs["parts"]["datatype"] == "BYTES" and outputs["parts"]["shape"] == list(PARTS.shape)
    assert outputs["parts"]["data"] == PARTS.ravel().tolist() and outputs["counts"]["data"] == COUNTS.tolist()


def body(data, **more):
    return {"inputs": [{"name": "x", "datatype": "BYTES", "shape": [4], "data": data}], **more}


def test_texts_in_json(server):
    meta = server.ask("GET", "/v2/models/texts")[1]
    assert meta["inputs"] == [{"name": "x", "datatype": "BYTES", "shape": [-1]}]
    for data in (X, [X[:2], X[2:]]):
        status, reply = server.ask("POST", INFER, body(data))
        assert status == 200, reply
        check(reply)


def test_texts_in_binary(server):
    raw = binary(X)
    head = json.dumps({"inputs": [{"name": "x", "datatype": "BYTES", "shape": [4], "parameters": {"binary_data_size": len(raw)}}],
                       "outputs": [{"name": "parts", "parameters": {"binary_data": True}}]}).encode()
    c = server.connect()
    c.request("POST", INFER, head + raw, {"inference-header-content-length": str(len(head))})
    r = c.getresponse()
    data, n = r.read(), int(r.getheader("inference-header-content-length"))
    c.close()
    assert json.loads(data[:n])["outputs"][0]["parameters"]["binary_data_size"] == len(data) - n
    assert unpack(data[n:]) == PARTS.ravel().tolist()


def test_texts_over_grpc(server):
    x = [(1, "x"), (2, "BYTES"), (3, packed([4]))]
    contents = (5, message(*((8, w) for w in X)))
    with Http2(server.port) as c:
        for request in (message((1, "texts"), (5, message(*x)), (7, binary(X))), message((1, "texts"), (5, message(*x, contents)))):
            status, text, reply = c.grpc("/inference.GRPCInferenceService/ModelInfer", request)
            assert status == 0, text
            raw = [v for k, v in fields(reply) if k == 6]
            assert unpack(raw[0]) == PARTS.ravel().tolist() and np.frombuffer(raw[1], np.int64).tolist() == COUNTS.tolist()


@pytest.mark.parametrize("request_body, text", [
    (body(X[:3]), "elements"), (body([1, 2, 3, 4]), "no text"), (body("no array at all"), "no array"), (body(["a", "b", "c", "\0"]), "NUL"), (body([*X, "e"]), "more elements"),
    (body(X, outputs=[{"name": "parts", "parameters": {"classification": 1}}]), "no classes"),
    ({"inputs": [{"name": "x", "datatype": "FP32", "shape": [4], "data": [1, 2, 3, 4]}]}, "must be BYTES"),
    ({"inputs": [{"name": "x", "datatype": "BYTES", "shape": [1 << 40], "data": ["a"]}]}, "fewer elements"),
    ({"inputs": []}, "'x' is missing"),
])
def test_texts_that_are_refused(server, request_body, text):
    status, reply = server.ask("POST", INFER, request_body)
    assert status == 400 and text in reply["error"], reply
    check(server.ask("POST", INFER, body(X))[1])


@pytest.mark.parametrize("raw", [b"\x01", b"\xff\xff\xff\xff", struct.pack("<I", 9) + b"12345678", binary([b"\xff"] * 4), binary(X) + b"\0"])
def test_binary_texts_that_lie(server, raw):
    head = json.dumps({"inputs": [{"name": "x", "datatype": "BYTES", "shape": [4], "parameters": {"binary_data_size": len(raw)}}]}).encode()
    status, reply = server.ask("POST", INFER, head + raw, {"inference-header-content-length": str(len(head))})
    assert status == 400, reply


def test_other_protocols_say_where(server):
    for path, body_ in (("/v1/models/texts:predict", {"instances": X}), ("/model/texts:predict", {"instances": [{"x": "a"}]})):
        status, reply = server.ask("POST", path, body_)
        assert status == 501 and "/v2/models/texts/infer" in str(reply)
    assert server.ask("POST", INFER, body(X), {"accept": "application/x-npz"})[0] == 406


class Channels(nn.Cell):
    def construct(self, x):
        return x * 1.0


def test_pictures_as_bytes(serve, tmp_path):
    """Several at once, as rows."""
    rng = np.random.default_rng(3)
    images = rng.integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    for k in range(2):
        vision.write_png(str(tmp_path / f"{k}.png"), images[k])
    export(Channels(), tmp_path / "rgb", np.zeros((2, 3, 8, 8), np.float32))
    server = serve(tmp_path / "rgb.onnx", "--set", "rgb.preprocess=scale=1")
    raw = binary([(tmp_path / f"{k}.png").read_bytes() for k in range(2)])
    head = json.dumps({"inputs": [{"name": "x", "datatype": "BYTES", "shape": [2, 1], "parameters": {"binary_data_size": len(raw)}}]}).encode()
    status, reply = server.ask("POST", "/v2/models/rgb/infer", head + raw, {"inference-header-content-length": str(len(head))})
    assert status == 200, reply
    np.testing.assert_array_equal(np.array(reply["outputs"][0]["data"], np.float32).reshape(2, 3, 8, 8), images.transpose(0, 3, 1, 2).astype(np.float32))

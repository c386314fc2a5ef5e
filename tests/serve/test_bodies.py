# SPDX-License-Identifier: Apache-2.0
"""Bodies that are tensors by themselves, told by Content-Type (npy, npz, plain bytes, pictures), and replies that Accept asks for."""
import io
import json
import zipfile

import digits
import numpy as np
import pytest
from conftest import export

import spore.dataset.vision as vision
from spore import nn, ops

X = np.arange(8, dtype=np.float32).reshape(2, 4)
INFER = "/v2/models/mlp/infer"


def npy(array):
    f = io.BytesIO()
    np.save(f, array)
    return f.getvalue()


def npz(**arrays):
    f = io.BytesIO()
    np.savez_compressed(f, **arrays)
    return f.getvalue()


def of(kind):
    return {"content-type": kind}


def scores(reply):
    return np.array(reply["outputs"][0]["data"], np.float32).reshape(reply["outputs"][0]["shape"])


def test_arrays_in_and_out(serve, models, mlp):
    server = serve(models / "mlp.onnx")
    wanted = mlp(X)
    for body, kind in ((npy(X), "application/x-npy"), (npz(x=X), "application/x-npz"), (X.tobytes(), "application/octet-stream"),
                       (npy(np.asfortranarray(X)), "application/x-npy")):
        status, reply = server.ask("POST", INFER, body, of(kind))
        assert status == 200, reply
        np.testing.assert_array_equal(scores(reply), wanted)
    asked = json.dumps({"inputs": [{"name": "x", "shape": [2, 4], "datatype": "FP32", "data": X.tolist()}]})
    status, reply = server.ask("POST", INFER, f" {asked}\n", of("application/octet-stream")) # what aiohttp says of a body whose type nobody named
    assert status == 200 and np.array_equal(scores(reply), wanted)
    status, reply = server.ask("POST", INFER, X.tobytes(), {"inference-header-content-length": "0"})
    assert status == 200 and np.array_equal(scores(reply), wanted)
    name = server.ask("GET", "/v2/models/mlp")[1]["outputs"][0]["name"]
    for accept, read in (("application/x-npy", lambda b: np.load(io.BytesIO(b))), ("application/x-npz", lambda b: np.load(io.BytesIO(b))[name]),
                         ("application/octet-stream", lambda b: np.frombuffer(b, np.float32).reshape(2, 3))):
        status, reply = server.ask("POST", INFER, npy(X), {**of("application/x-npy"), "accept": accept})
        assert status == 200
        np.testing.assert_array_equal(read(reply), wanted)


@pytest.mark.parametrize("kind, body, status, text", [
    ("application/x-npy", npy(X.astype(np.float64)), 400, "float64"),
    ("application/x-npy", npy(X)[:50], 400, ""),
    ("application/x-npy", b"", 400, "no body"),
    ("application/x-npy", npy(np.zeros((2, 5), np.float32)), 400, "shape"),
    ("application/x-npz", npz(y=X), 400, "no input 'y'"),
    ("application/x-npz", b"PK\x03\x04nonsense", 400, ""),
    ("application/x-npz", npz(x=np.zeros((1 << 22, 4), np.float32)), 413, "unpacked"),
    ("application/octet-stream", b"12345", 400, "multiple of 16"),
    ("image/png", b"no picture", 415, "preprocess"),
])
def test_bodies_that_are_refused(serve, models, kind, body, status, text):
    server = serve(models / "mlp.onnx", "--max-body", "1")
    got, reply = server.ask("POST", INFER, body, of(kind))
    assert got == status and text in reply["error"], reply
    assert server.infer("mlp", x=X)


class Both(nn.Cell):
    def construct(self, x, y):
        return x + y, x - y


def test_several_inputs_and_outputs(serve, models, tmp_path):
    export(Both(), tmp_path / "both", X, X, names=("x", "y"))
    server = serve(tmp_path / "both.onnx")
    path = "/v2/models/both/infer"
    status, reply = server.ask("POST", path, npz(x=X, y=2 * X), {**of("application/x-npz"), "accept": "application/x-npz"})
    assert status == 200
    assert [v.tolist() for v in np.load(io.BytesIO(reply)).values()] == [(3 * X).tolist(), (-X).tolist()]
    assert server.ask("POST", path, npy(X), of("application/x-npy"))[0] == 400
    status, reply = server.ask("POST", path, npz(x=X, y=X), {**of("application/x-npz"), "accept": "application/x-npy"})
    assert status == 406 and "x-npz" in reply["error"]


# --- pictures ------------------------------------------------------------------------------------------------------------------------

class Channels(nn.Cell):
    """What it was given, so that tests see it."""

    def construct(self, x):
        return ops.identity(x) * 1.0


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(3)
    image = rng.integers(0, 256, (16, 24, 3), dtype=np.uint8)
    vision.write_png(str(folder / "p.png"), image)
    export(Channels(), folder / "rgb", np.zeros((2, 3, 8, 12), np.float32))
    export(Channels(), folder / "last", np.zeros((2, 8, 12, 3), np.float32))
    return folder, image


def ask_picture(server, model, data, kind="image/png"):
    status, reply = server.ask("POST", f"/v2/models/{model}/infer", data, of(kind))
    assert status == 200, reply
    return scores(reply)


def test_pictures_become_what_the_pipeline_makes(serve, picture):
    folder, image = picture
    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    (folder / "serve.json").write_text(json.dumps({"models": [
        {"path": "rgb.onnx", "preprocess": {"scale": 1 / 255, "mean": mean, "std": std}},
        {"path": "rgb.onnx", "name": "bgr", "preprocess": {"color": "bgr", "interpolation": "nearest"}},
        {"path": "last.onnx", "preprocess": {"fit": "crop", "size": [8, 12], "invert": True}}]}))
    server = serve("--config", folder / "serve.json")
    data = (folder / "p.png").read_bytes()
    resized = vision.Resize((8, 12), vision.Inter.LINEAR)(image)
    wanted = vision.HWC2CHW()(vision.Normalize([255 * v for v in mean], [255 * v for v in std])(resized))
    np.testing.assert_allclose(ask_picture(server, "rgb", data)[0], wanted, rtol=1e-5, atol=1e-6)
    nearest = vision.Resize((8, 12), vision.Inter.NEAREST)(image)
    np.testing.assert_array_equal(ask_picture(server, "bgr", data)[0], nearest[:, :, ::-1].transpose(2, 0, 1).astype(np.float32))
    crop = vision.CenterCrop((8, 12))(vision.Resize(12, vision.Inter.LINEAR)(image))
    np.testing.assert_array_equal(ask_picture(server, "last", data)[0], 255 - crop.astype(np.float32))
    status, reply = server.ask("POST", "/v2/models/rgb/infer", data[:40], of("image/png"))
    assert status == 400, reply
    assert server.ask("GET", "/v2/models/rgb")[1]["pictures"] == "x"


@pytest.mark.parametrize("text, why", [
    ("sise=3", "'sise' is not known"), ("size=0x4", "from 1"), ("color=gray", "channels"), ("size=9x9", "9x9"), ("mean=1 2", "one for each"), ("input=q", "no input 'q'"),
    ("fit=squeeze", "stretch, crop"), ("scale", "KEY=VALUE"), ("std=0", "from"),
])
def test_recipes_that_are_refused(picture, text, why):
    import subprocess

    from conftest import SPORE
    folder, _ = picture
    r = subprocess.run([SPORE, "serve", folder / "rgb.onnx", "--check", "--set", f"rgb.preprocess={text}"], capture_output=True, text=True, timeout=120)
    assert r.returncode != 0 and why in r.stderr, r.stderr


def test_names_of_classes(serve, tmp_path):
    pictures, labels = digits.make(tmp_path)
    (tmp_path / "names").write_text("".join(f"digit {k}\r\n" for k in range(10)))
    server = serve(tmp_path / "digits.onnx", "--set", f"digits.classes={tmp_path / 'names'}")
    x = pictures[:1, None].astype(np.float32) / 255
    body = {"inputs": [{"name": "x", "shape": [1, 1, 28, 28], "datatype": "FP32", "data": x.ravel().tolist()}],
            "outputs": [{"name": server.ask("GET", "/v2/models/digits")[1]["outputs"][0]["name"], "parameters": {"classification": 2}}]}
    status, reply = server.ask("POST", "/v2/models/digits/infer", body)
    assert status == 200 and reply["outputs"][0]["data"][0].endswith(f":{labels[0]}:digit {labels[0]}"), reply
    assert server.ask("GET", "/v2/models/digits")[1]["classes"][9] == "digit 9"


def test_archives_that_lie(serve, models):
    """Every byte of a small archive changed once: an answer each time, and the server lives."""
    server = serve(models / "mlp.onnx")
    good = npz(x=X)
    c = server.connect()
    for k in range(0, len(good), 3):
        bad = bytearray(good)
        bad[k] ^= 0x5A
        c.request("POST", INFER, bytes(bad), of("application/x-npz"))
        r = c.getresponse()
        r.read()
        assert r.status in (200, 400, 413, 503), (k, r.status)
    c.close()
    assert zipfile.is_zipfile(io.BytesIO(good)) and server.infer("mlp", x=X)

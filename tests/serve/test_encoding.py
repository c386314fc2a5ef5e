# SPDX-License-Identifier: Apache-2.0
"""Compressed bodies of requests and replies."""
import ctypes
import gzip
import http.client
import json
import zlib

import http2
import numpy as np
import pytest
from conftest import WAIT, Server, request
from http2 import message

X = np.random.default_rng(1).standard_normal((500, 4)).astype(np.float32)
BODY = json.dumps(request(x=X)).encode()


class Zstd:
    """The system's library, as the server uses it."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libzstd.so.1")
        except OSError:
            pytest.skip("libzstd.so.1 is not installed")
        for name in ("ZSTD_compress", "ZSTD_decompress", "ZSTD_compressBound"):
            getattr(self.library, name).restype = ctypes.c_size_t

    def pack(self, data, level=3):
        room = self.library.ZSTD_compressBound(ctypes.c_size_t(len(data)))
        out = ctypes.create_string_buffer(room)
        n = self.library.ZSTD_compress(out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), level)
        return out.raw[:n]

    def unpack(self, data, room=1 << 22):
        out = ctypes.create_string_buffer(room)
        n = self.library.ZSTD_decompress(out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)))
        assert n <= room
        return out.raw[:n]


@pytest.fixture(scope="module")
def zstd():
    return Zstd()


def test_zstd(server, zstd):
    wanted = ask(server, BODY)[2]
    half = len(BODY) // 2
    for packed in (zstd.pack(BODY), zstd.pack(BODY, 19), zstd.pack(BODY[:half]) + zstd.pack(BODY[half:]), b"\x50\x2a\x4d\x18\x03\0\0\0abc" + zstd.pack(BODY)): # frames, one to be skipped
        assert ask(server, packed, Content_Encoding="zstd")[::2] == (200, wanted)
    for accept, encoding in (("zstd", "zstd"), ("gzip, deflate, br, zstd", "zstd"), ("zstd;q=0.5, gzip", "gzip"), ("zstd;q=0, deflate", "deflate")):
        status, headers, body = ask(server, BODY, Accept_Encoding=accept)
        unpack = {"zstd": zstd.unpack, "gzip": gzip.decompress, "deflate": zlib.decompress}[encoding]
        assert status == 200 and headers["content-encoding"] == encoding and unpack(body) == wanted


def test_wrong_zstd(server, zstd):
    window = b"\x28\xb5\x2f\xfd\x00\x88" + b"\0" * 8 # a frame that asks for a window of 128 MB
    for body, status, text in ((BODY, 400, "not what its Content-Encoding says"), (zstd.pack(BODY)[:-20], 400, "is cut"), (zstd.pack(BODY) + b"more", 400, "Content-Encoding"),
                               (zstd.pack(bytes(50 << 20)), 413, "--max-body"), (zstd.pack(bytes(1 << 20) + b"x"), 413, "--max-body"), (window, 400, "zstd"), (b"", 400, "")):
        found, _, reply = ask(server, body, Content_Encoding="zstd")
        assert found == status and text in json.loads(reply)["error"], reply
    assert ask(server, BODY)[0] == 200


def infer_message(x):
    tensor = message((1, "x"), (2, "FP32"), (3, bytes([len(x) & 127 | 128, len(x) >> 7, 4])))
    return message((1, "mlp"), (5, tensor), (7, x.tobytes()))


@pytest.mark.parametrize("name, pack", [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_grpc(server, name, pack):
    plain = infer_message(X)
    path = "/inference.GRPCInferenceService/ModelInfer"
    headers = [("content-type", "application/grpc"), ("te", "trailers"), ("grpc-encoding", name)]
    with http2.Http2(server.port) as c:
        wanted = c.grpc(path, plain)
        assert wanted[0] == 0

        def ask_packed(packed, path=path, flag=1, headers=headers):
            return c.grpc_finish(c.begin("POST", path, headers, bytes([flag]) + len(packed).to_bytes(4, "big") + packed))
        assert ask_packed(pack(plain)) == wanted and ask_packed(plain, flag=0) == wanted
        for packed, status in ((pack(plain)[:-20], 3), (plain, 3), (b"", 3), (pack(b""), 3), (pack(plain + message((7, bytes(50 << 20)))), 8)):
            assert ask_packed(packed)[0] == status, len(packed)
        assert ask_packed(pack(plain), headers=[*headers[:2], ("grpc-encoding", "snappy")])[0] == 12 and ask_packed(pack(plain), headers=headers[:2])[0] == 12
        assert ask_packed(pack(b""), path="/inference.GRPCInferenceService/RepositoryIndex")[0] == 12
        assert ask_packed(pack(plain)) == wanted


@pytest.fixture(scope="module", name="server")
def _server(models, tmp_path_factory):
    with Server(models / "mlp.onnx", "--max-body", "1", folder=tmp_path_factory.mktemp("server")) as s:
        yield s


def ask(server, body, **headers):
    """(status, headers, body as it came)"""
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
    c.request("POST", "/v2/models/mlp/infer", body, {k.replace("_", "-"): v for k, v in headers.items()})
    r = c.getresponse()
    data = r.read()
    c.close()
    return r.status, r.headers, data


@pytest.mark.parametrize("name, pack", [("gzip", gzip.compress), ("deflate", zlib.compress), ("GZIP", gzip.compress), ("identity", bytes)])
def test_requests(server, name, pack):
    wanted = ask(server, BODY)[2]
    assert ask(server, pack(BODY), Content_Encoding=name)[::2] == (200, wanted)


@pytest.mark.parametrize("accept, encoding, unpack", [("gzip", "gzip", gzip.decompress), ("deflate", "deflate", zlib.decompress), ("br, gzip;q=0.5", "gzip", gzip.decompress),
                                                      ("gzip;q=0, deflate", "deflate", zlib.decompress), ("br", None, bytes), ("gzip;q=0", None, bytes), ("", None, bytes)])
def test_replies(server, accept, encoding, unpack):
    wanted = ask(server, BODY)[2]
    status, headers, body = ask(server, BODY, Accept_Encoding=accept)
    assert status == 200 and headers["content-encoding"] == encoding and unpack(body) == wanted
    if encoding:
        assert len(body) < len(wanted) and headers["vary"] == "accept-encoding"
    status, headers, _ = ask(server, json.dumps(request(x=X[:1])), Accept_Encoding=accept)
    assert status == 200 and headers["content-encoding"] is None # too small to be worth it


def test_binary_replies(server):
    body = json.dumps(request({"binary_data_output": True}, x=np.ones((500, 4), np.float32))).encode()
    status, headers, data = ask(server, body, Accept_Encoding="gzip")
    assert status == 200 and headers["content-encoding"] == "gzip"
    data = gzip.decompress(data)
    n = int(headers["inference-header-content-length"])
    assert json.loads(data[:n])["outputs"][0]["parameters"]["binary_data_size"] == len(data) - n == 500 * 3 * 4


@pytest.mark.parametrize("body, name, status, text", [
    (BODY, "br", 415, "gzip, deflate and zstd"),
    (BODY, "gzip", 400, "not what its Content-Encoding says"),
    (gzip.compress(BODY)[:-20], "gzip", 400, "is cut"),
    (gzip.compress(BODY) + b"more", "gzip", 400, "Content-Encoding"),
    (gzip.compress(bytes(50 << 20)), "gzip", 413, "--max-body"), # 50 KB that become 50 MB
    (b"", "gzip", 400, ""),
])
def test_wrong_bodies(server, body, name, status, text):
    found, _, reply = ask(server, body, Content_Encoding=name)
    assert found == status and text in json.loads(reply)["error"], reply
    assert ask(server, BODY)[0] == 200

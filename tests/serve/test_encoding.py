# SPDX-License-Identifier: Apache-2.0
"""Compressed bodies of requests and replies."""
import gzip
import http.client
import json
import zlib

import numpy as np
import pytest
from conftest import WAIT, Server, request

X = np.random.default_rng(1).standard_normal((500, 4)).astype(np.float32)
BODY = json.dumps(request(x=X)).encode()


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
    (BODY, "br", 415, "gzip and deflate"),
    (BODY, "zstd", 415, "'zstd'"),
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

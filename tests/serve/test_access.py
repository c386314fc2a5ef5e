# SPDX-License-Identifier: Apache-2.0
"""Who may ask, what is logged of a request, and what replies tell browsers and tracers."""
import hashlib
import http.client
import json
import signal
import time

import http2
import numpy as np
import pytest
from conftest import WAIT, request

X = np.ones((2, 4), np.float32)
BODY = json.dumps(request(x=X))
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def digest(key):
    return hashlib.sha256(key.encode()).hexdigest()


def ask(server, method, path, body=None, **headers):
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
    c.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    r = c.getresponse()
    data = r.read()
    c.close()
    return r.status, r.headers, json.loads(data) if data.startswith(b"{") else data


def test_keys(serve, models, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text(f"# who may ask\nalice {digest('secret of alice')}\n\nbob {digest('of-bob')} other mlp\ncarol\t{digest('of-carol')}\tother\n")
    server = serve(models / "mlp.onnx", f"other={models / 'mlp.onnx'}", "--api-keys", keys, "--log", "json")
    infer = "/v2/models/mlp/infer"
    assert ask(server, "GET", "/v2/health/ready")[0] == 200 and ask(server, "GET", "/v2/health/live")[0] == 200
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic secret"}, {"X_API_Key": ""}, {"X_API_Key": digest("of-bob")}):
        for method, path in (("POST", infer), ("GET", "/v2/models"), ("GET", "/metrics"), ("POST", "/v1/models/mlp:predict"), ("GET", "/")):
            status, found, reply = ask(server, method, path, BODY if method == "POST" else None, **headers)
            assert status == 401 and found["www-authenticate"] == "Bearer" and "key" in reply["error"]
    for headers in ({"Authorization": "Bearer secret of alice"}, {"authorization": "bearer  secret of alice"}, {"X_API_Key": "of-bob"}):
        assert ask(server, "POST", infer, BODY, **headers)[0] == 200
    status, _, reply = ask(server, "POST", infer, BODY, X_API_Key="of-carol")
    assert status == 403 and "not for this model" in reply["error"]
    assert ask(server, "POST", "/v2/models/other/infer", BODY, X_API_Key="of-carol")[0] == 200
    assert ask(server, "POST", "/v2/repository/models/mlp/unload", X_API_Key="of-bob")[0] == 403 # a key of single models changes nothing
    assert ask(server, "POST", "/v2/repository/models/mlp/load", Authorization="Bearer secret of alice")[0] == 200
    with http2.Http2(server.port) as c:
        path, message = "/inference.GRPCInferenceService/ModelMetadata", http2.message((1, "mlp"))
        assert c.grpc(path, message)[0] == 16 and c.grpc(path, message, [("authorization", "Bearer of-bob")])[0] == 0
        assert c.grpc("/grpc.health.v1.Health/Check")[0] == 0
        assert c.grpc("/inference.GRPCInferenceService/ModelInfer", message, [("x-api-key", "of-carol")])[0] == 7
    keys.write_text(f"dave {digest('of-dave')}\n")
    server.process.send_signal(signal.SIGHUP)
    until = time.monotonic() + WAIT
    while ask(server, "GET", "/v2", X_API_Key="of-dave")[0] != 200:
        assert time.monotonic() < until
    assert ask(server, "GET", "/v2", X_API_Key="of-bob")[0] == 401
    keys.write_text("dave\n")
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("the keys before it stay")
    assert ask(server, "GET", "/v2", X_API_Key="of-dave")[0] == 200
    server.stop()
    assert "alice" in {json.loads(line).get("key") for line in server.access.read_text().splitlines()} and "secret of alice" not in server.access.read_text() + server.errors()


@pytest.mark.parametrize("text, wanted", [("", "holds no key"), ("alice 1234\n", "keys:1"), (f"#\nalice {'g' * 64}\n", "keys:2"), (None, "cannot be read")])
def test_wrong_files_of_keys(serve, models, tmp_path, text, wanted):
    if text is not None:
        (tmp_path / "keys").write_text(text)
    server = serve(models / "mlp.onnx", "--api-keys", tmp_path / "keys", wait=False)
    assert server.process.wait(WAIT) == 1 and wanted in server.errors()


def test_what_is_logged_and_returned(serve, models):
    server = serve(models / "mlp.onnx", "--log", "json")
    status, headers, _ = ask(server, "POST", "/v2/models/mlp/infer", BODY, X_Request_Id="order-7", traceparent=TRACE)
    assert status == 200 and headers["x-request-id"] == "order-7" and headers["traceparent"] == TRACE
    status, headers, _ = ask(server, "GET", "/v2/models/none", X_Request_Id="order-8")
    assert status == 404 and headers["x-request-id"] == "order-8"
    for odd in ("two words", 'a"b', "x" * 200):
        assert ask(server, "GET", "/v2", X_Request_Id=odd, traceparent="00-nothing")[1]["x-request-id"] is None
    with http2.Http2(server.port) as c:
        assert c.ask("GET", "/v2", [("x-request-id", "order-9")])[0]["x-request-id"] == "order-9"
    server.stop()
    lines = [json.loads(line) for line in server.access.read_text().splitlines()]
    first = lines[0]
    assert (first["model"], first["version"], first["rows"], first["request_id"], first["traceparent"]) == ("mlp", "1", 2, "order-7", TRACE)
    assert first["ms"] >= first["run_ms"] > 0 and first["queue_ms"] >= 0
    assert lines[1]["request_id"] == "order-8" and "model" not in lines[1] and "request_id" not in lines[2]


def test_browsers_of_other_origins(serve, models):
    server = serve(models / "mlp.onnx", "--cors", "https://a.example https://b.example:8443")
    preflight = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "content-type"}
    for origin in ("https://a.example", "https://b.example:8443"):
        status, headers, _ = ask(server, "OPTIONS", "/v2/models/mlp/infer", Origin=origin, **preflight)
        assert status == 204 and headers["access-control-allow-origin"] == origin and "POST" in headers["access-control-allow-methods"] and "content-type" in headers["access-control-allow-headers"]
        status, headers, _ = ask(server, "POST", "/v2/models/mlp/infer", BODY, Origin=origin)
        assert status == 200 and headers["access-control-allow-origin"] == origin and headers["vary"] == "origin"
    for origin in ("https://a.example.evil", "https://a.exampl", "https://b.example", "null"):
        assert ask(server, "OPTIONS", "/v2/models/mlp/infer", Origin=origin, **preflight)[0] == 405
        assert ask(server, "POST", "/v2/models/mlp/infer", BODY, Origin=origin)[1]["access-control-allow-origin"] is None
    assert ask(server, "GET", "/v2")[1]["access-control-allow-origin"] is None
    every = serve(models / "mlp.onnx", "--cors", "*")
    assert ask(every, "GET", "/v2", Origin="https://anybody.example")[1]["access-control-allow-origin"] == "*"
    none = serve(models / "mlp.onnx")
    assert ask(none, "GET", "/v2", Origin="https://anybody.example")[1]["access-control-allow-origin"] is None


def test_figures_of_the_process(serve, models):
    server = serve(models / "mlp.onnx")
    before = server.metric("process_cpu_seconds_total")
    assert 1e6 < server.metric("process_resident_memory_bytes") < server.metric("process_virtual_memory_bytes")
    assert 3 < server.metric("process_open_fds") < server.metric("process_max_fds") and server.metric("process_cpu_seconds_total") >= before > 0


def test_health_of_single_models(serve, models, tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x07\xff\xff")
    server = serve(models / "mlp.onnx", tmp_path / "broken.onnx")
    with http2.Http2(server.port) as c:
        for name, wanted in (("mlp", 1), ("broken", 2), ("", 1)):
            status, _, reply = c.grpc("/grpc.health.v1.Health/Check", http2.message((1, name)) if name else b"")
            assert status == 0 and http2.fields(reply) == [(1, wanted)]
        assert c.grpc("/grpc.health.v1.Health/Check", http2.message((1, "none")))[0] == 5

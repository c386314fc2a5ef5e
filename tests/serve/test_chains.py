# SPDX-License-Identifier: Apache-2.0
"""Chains of models, sequences with a state, priorities, limits for single clients, traces to a collector."""
import http.server
import json
import threading
import time

import numpy as np
import pytest
from conftest import WAIT, export, request

from spore import nn

X = np.arange(8, dtype=np.float32).reshape(2, 4)


class Double(nn.Cell):
    def construct(self, x):
        return x * 2.0


class Sums(nn.Cell):
    """Adds what it is given to its state."""

    def construct(self, x, h):
        y = x + h
        return y * 1.0, y


def test_a_chain(serve, models, mlp, tmp_path):
    export(Double(), tmp_path / "double", X)
    (tmp_path / "net.onnx").write_bytes((models / "mlp.onnx").read_bytes())
    chain = {"inputs": ["raw"], "outputs": ["scores", "scaled"],
             "steps": [{"model": "double.onnx", "inputs": {"x": "raw"}, "outputs": {"output": "scaled"}},
                       {"model": "net.onnx", "inputs": {"x": "scaled"}, "outputs": {"output": "scores"}}]}
    (tmp_path / "chain.ensemble").write_text(json.dumps(chain))
    server = serve(tmp_path / "chain.ensemble")
    out = server.infer("chain", raw=X)
    np.testing.assert_allclose(out["scores"], mlp(2 * X), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(out["scaled"], 2 * X)
    assert server.ask("GET", "/v2/models/chain")[1]["platform"] == "spore_ensemble"
    for change, why in (({"outputs": ["none"]}, "made by no step"), ({"inputs": []}, "made by no step before"), ({"steps": []}, "made by no step"), ({"more": 1}, "not known")):
        (tmp_path / "bad.ensemble").write_text(json.dumps({**chain, **change}))
        bad = serve(tmp_path / "bad.ensemble", wait=False)
        assert bad.process.wait(WAIT) != 0 and why in bad.errors(), bad.errors()


def sequence(server, x, **parameters):
    status, reply = server.ask("POST", "/v2/models/sums/infer", request(parameters, x=x))
    return reply["outputs"][0]["data"] if status == 200 else reply["error"]


def test_sequences(serve, tmp_path):
    export(Sums(), tmp_path / "sums", X, X, names=("x", "h"))
    meta = serve(tmp_path / "sums.onnx")
    names = [o["name"] for o in meta.ask("GET", "/v2/models/sums")[1]["outputs"]]
    server = serve(tmp_path / "sums.onnx", "--set", f"sums.state=h={names[1]}", "--set", "sums.sequence_idle=1")
    one = np.ones((1, 4), np.float32)
    assert "begin one with sequence_start" in sequence(server, one, sequence_id=7)
    assert sequence(server, one, sequence_id=7, sequence_start=True) == [1.0] * 4
    assert sequence(server, one * 5, sequence_id="other", sequence_start=True) == [5.0] * 4
    assert sequence(server, one, sequence_id=7) == [2.0] * 4
    assert sequence(server, one, sequence_id=7, sequence_end=True) == [3.0] * 4
    assert "begin one" in sequence(server, one, sequence_id=7)
    assert sequence(server, one, sequence_id="other") == [6.0] * 4
    time.sleep(1.5)
    assert "begin one" in sequence(server, one, sequence_id="other")
    assert "'h'" in sequence(server, one)
    # Many at once: every sequence counts up by itself, however its requests are joined with others.
    def count(k, found):
        found[k] = [sequence(server, one, sequence_id=100 + k, **({"sequence_start": True} if i == 0 else {}))[0] for i in range(20)]
    found = {}
    threads = [threading.Thread(target=count, args=(k, found)) for k in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(v == list(range(1, 21)) for v in found.values()), found


def test_priorities(serve, models):
    server = serve(models / "mlp.onnx", "--set", "mlp.priorities=3")
    assert server.infer("mlp", parameters={"priority": 1}, x=X)
    assert "1 (first) to 3" in server.ask("POST", "/v2/models/mlp/infer", request({"priority": 4}, x=X))[1]["error"]
    plain = serve(models / "mlp.onnx")
    assert "priorities" in plain.ask("POST", "/v2/models/mlp/infer", request({"priority": 1}, x=X))[1]["error"]


def test_limits_of_a_client(serve, models):
    server = serve(models / "mlp.onnx", "--client-rate", "5")
    codes = [server.ask("GET", "/v2/models")[0] for _ in range(30)]
    assert 200 in codes and 429 in codes and server.ask("GET", "/v2/health/live")[0] == 200
    slow = serve(models / "slow.onnx", "--client-requests", "1")
    body = request(x=np.ones((8, 1), np.float32))
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(slow.ask("POST", "/v2/models/slow/infer", body)[0])) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert 200 in answers and set(answers) <= {200, 429}
    assert slow.ask("GET", "/v2/models")[0] == 200 # what ended counts no longer


@pytest.fixture(name="collector")
def _collector():
    got = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            got.append((self.path, json.loads(self.rfile.read(int(self.headers["content-length"])))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=s.serve_forever, daemon=True).start()
    s.got = got
    yield s
    s.shutdown()
    s.server_close()


def test_traces(serve, models, collector):
    server = serve(models / "mlp.onnx", "--otlp", f"http://127.0.0.1:{collector.server_port}")
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    for sampled in ("01", "00"):
        assert server.ask("POST", "/v2/models/mlp/infer", request(x=X), {"traceparent": f"00-{trace}-{parent}-{sampled}"})[0] == 200
    server.wait_metric(3, "spore_spans_total", outcome="sent")
    spans = [s for path, body in collector.got for s in body["resourceSpans"][0]["scopeSpans"][0]["spans"] if path == "/v1/traces" and s["traceId"] == trace]
    assert sorted(s["name"] for s in spans) == ["mlp", "queue", "run"]
    top = next(s for s in spans if s["name"] == "mlp")
    assert top["parentSpanId"] == parent and top["kind"] == 2 and all(s["parentSpanId"] == top["spanId"] for s in spans if s is not top)
    assert all(int(top["startTimeUnixNano"]) <= int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]) <= int(top["endTimeUnixNano"]) for s in spans)


def test_a_collector_that_is_not_there(serve, models):
    server = serve(models / "mlp.onnx", "--otlp", "http://127.0.0.1:1")
    assert server.infer("mlp", x=X)
    server.wait_metric(1, "spore_spans_total", outcome="dropped")
    assert "took no traces" in server.errors()
    refused = serve(models / "mlp.onnx", "--otlp", "https://x", wait=False)
    assert refused.process.wait(WAIT) != 0 and "http://HOST" in refused.errors()

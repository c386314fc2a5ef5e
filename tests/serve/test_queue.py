# SPDX-License-Identifier: Apache-2.0
"""Requests that meet: batches, a full queue, deadlines, clients that go away."""
import json
import pathlib
import socket
import threading
import time

import numpy as np
from conftest import WAIT, request


ROWS = 20 # of the request that keeps a model busy: more than are joined


def in_threads(calls):
    """Results of calls made at the same time."""
    results = [None] * len(calls)

    def run(i):
        results[i] = calls[i]()
    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(WAIT)
    return results


def slow_body(*values, **parameters):
    return request(parameters, x=np.array(values, np.float32).reshape(-1, 1))


def occupy(server, model="slow"):
    """A connection whose request keeps the model busy."""
    c = server.connect()
    c.request("POST", f"/v2/models/{model}/infer", json.dumps(slow_body(*[7] * ROWS)))
    server.wait_metric(1, "spore_queue_depth", model=model)
    return c


def test_requests_are_joined(serve, models):
    """What came in while the model was busy runs together, and each gets its own rows."""
    server = serve(models / "slow.onnx")
    assert server.ask("GET", "/v2/models/slow")[1]["max_batch"] == 8
    busy = occupy(server)
    values = [[1], [2], [3, 4], [5], [6], [8, 9, 10], [11]]
    replies = in_threads([lambda v=v: server.ask("POST", "/v2/models/slow/infer", slow_body(*v)) for v in values])
    for v, (status, reply) in zip(values, replies):
        assert status == 200 and reply["outputs"][0]["data"] == [2.0 * x for x in v] and reply["outputs"][0]["shape"] == [len(v), 1]
    assert busy.getresponse().status == 200
    busy.close()
    runs, rows = server.metric("spore_batch_rows_count", model="slow"), server.metric("spore_batch_rows_sum", model="slow")
    assert rows == 10 + ROWS and runs < 8, (runs, rows) # 7 requests and the one before


def test_joined_results_are_those_of_single_requests(serve, models, mlp):
    server = serve(models / "mlp.onnx", "--max-delay", "50")
    exact = server.ask("GET", "/v2/models/mlp")[1]["batch_exact"]
    x = np.random.default_rng(1).standard_normal((24, 1, 4)).astype(np.float32)
    found = in_threads([lambda r=r: server.infer("mlp", x=r)["output"] for r in x])
    assert server.metric("spore_batch_rows_count", model="mlp") < 24
    for one, r in zip(found, x):
        if exact:
            assert one.tobytes() == mlp(r).tobytes()
        np.testing.assert_allclose(one, mlp(r), 1e-5, 1e-6)


def test_requests_of_every_size(serve, models, mlp):
    """Clients with other numbers of rows each, at the same time, sizes that come back and sizes above the largest batch."""
    server = serve(models / "mlp.onnx")
    x = np.random.default_rng(2).standard_normal((40, 4)).astype(np.float32)
    sizes = [(7 * i + j) % 40 + 1 for i in range(30) for j in range(4)]
    parts = [x[:n] if i % 2 else x[40 - n:] for i, n in enumerate(sizes)]

    def ask(mine):
        return [server.infer("mlp", x=part)["output"] for part in mine]
    for found, mine in zip(in_threads([lambda i=i: ask(parts[i::4]) for i in range(4)]), [parts[i::4] for i in range(4)]):
        for one, part in zip(found, mine):
            np.testing.assert_allclose(one, mlp(part), 1e-5, 1e-6)
    assert server.metric("spore_requests_total", model="mlp", outcome="ok") == len(sizes)


def test_rows_that_depend_on_each_other_are_not_joined(serve, models):
    server = serve(models / "centred.onnx", "--max-delay", "50")
    assert server.ask("GET", "/v2/models/centred")[1]["max_batch"] == 1
    assert "joined rows give other results" in server.errors()
    x = np.arange(16, dtype=np.float32).reshape(4, 1, 4)
    for one in in_threads([lambda r=r: server.infer("centred", x=r)["output"] for r in x]):
        assert not one.any()


def test_a_broken_request_does_not_harm_those_it_is_joined_with(serve, models):
    server = serve(models / "gather.onnx", "--max-delay", "200", "--max-batch", "4")
    bodies = [request(x=np.array([i], np.int32)) for i in (0, 600, 2, 5)]
    replies = in_threads([lambda b=b: server.ask("POST", "/v2/models/gather/infer", b) for b in bodies])
    assert [status == 200 for status, _ in replies] == [True, False, True, True]
    assert replies[2][1]["outputs"][0]["data"] == [4.0, 5.0] and "600" in replies[1][1]["error"]


def test_a_full_queue_refuses(serve, models):
    server = serve(models / "slow.onnx", "--max-queue", "2")
    busy = occupy(server)
    waiting = server.connect()
    waiting.request("POST", "/v2/models/slow/infer", json.dumps(slow_body(1)))
    server.wait_metric(2, "spore_queue_depth", model="slow")
    c = server.connect()
    c.request("POST", "/v2/models/slow/infer", json.dumps(slow_body(1)))
    r = c.getresponse()
    assert r.status == 503 and r.getheader("retry-after") == "1" and "--max-queue" in json.loads(r.read())["error"]
    for c in (busy, waiting):
        assert c.getresponse().status == 200
        c.close()
    assert server.metric("spore_requests_total", model="slow", outcome="rejected") == 1


def test_deadlines(serve, models):
    server = serve(models / "slow.onnx")
    busy = occupy(server)
    status, reply = server.ask("POST", "/v2/models/slow/infer", slow_body(1, timeout=1000)) # microseconds
    assert status == 504 and "its time is over" in reply["error"]
    assert busy.getresponse().status == 200
    busy.close()
    assert server.metric("spore_requests_total", model="slow", outcome="deadline") == 1


def test_a_client_that_goes_away_cancels(serve, models):
    server = serve(models / "slow.onnx", "--max-batch", "1")
    busy = [occupy(server)]
    for _ in range(3): # so that the wait is longer than what a half-closed client is given
        busy.append(server.connect())
        busy[-1].request("POST", "/v2/models/slow/infer", json.dumps(slow_body(1)))
    server.wait_metric(4, "spore_queue_depth", model="slow")
    gone = socket.create_connection(("127.0.0.1", server.port))
    body = json.dumps(slow_body(1)).encode()
    gone.sendall(b"POST /v2/models/slow/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    server.wait_metric(5, "spore_queue_depth", model="slow")
    gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0") # a reset, as a killed client leaves
    gone.close()
    for c in busy:
        assert c.getresponse().status == 200
        c.close()
    server.wait_metric(1, "spore_requests_total", model="slow", outcome="cancelled")
    assert server.metric("spore_batch_rows_count", model="slow") == 4


def test_health_is_answered_while_models_work(serve, models):
    server = serve(models / "slow.onnx", models / "mlp.onnx")
    busy = occupy(server)
    began = time.monotonic()
    for _ in range(5):
        assert server.ask("GET", "/v2/health/ready")[0] == 200
        assert server.infer("mlp", x=np.ones((1, 4), np.float32))
    assert server.metric("spore_queue_depth", model="slow") == 1 or time.monotonic() - began > 0.5
    assert busy.getresponse().status == 200
    busy.close()


def switches(process):
    """How often each thread of a process went to sleep, by its number."""
    found = {}
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        text = (task / "status").read_text()
        found[task.name] = int(text.split("\nvoluntary_ctxt_switches:")[1].split()[0])
    return found


def test_one_client_waits_for_no_other_thread(serve, models):
    """Small models are run by the thread that reads the request while nobody else is there, and by the runner as soon as somebody is."""
    s = serve(models / "mlp.onnx", "--log", "none")
    body = json.dumps(request(x=np.ones((1, 4), np.float32)))

    def ask(c, n):
        for _ in range(n):
            c.request("POST", "/v2/models/mlp/infer", body)
            assert json.loads(c.getresponse().read())["outputs"][0]["shape"] == [1, 3]

    one, two = s.connect(), s.connect()
    ask(one, 20)
    before = switches(s.process)
    ask(one, 200)
    busy = [t for t, n in switches(s.process).items() if n - before.get(t, 0) > 100]
    assert len(busy) == 1, busy
    for _ in range(100): # in turns: either could have more behind it
        ask(one, 1)
        ask(two, 1)
    busy = [t for t, n in switches(s.process).items() if n - before.get(t, 0) > 100]
    assert len(busy) == 2, busy
    one.close()
    two.close()


def test_slow_models_do_not_keep_the_network(serve, models):
    """Whoever is alone with a slow model leaves others their answers: health and figures come while it runs."""
    s = serve(models / "slow.onnx", "--log", "none")
    c = s.connect()
    body = json.dumps(request(x=np.ones((64, 1), np.float32)))
    small = json.dumps(request(x=np.ones((1, 1), np.float32)))
    for _ in range(3):
        c.request("POST", "/v2/models/slow/infer", small)
        assert c.getresponse().read()
    c.request("POST", "/v2/models/slow/infer", body)
    began = time.monotonic()
    assert s.ask("GET", "/v2/health/live")[0] == 200
    asked = time.monotonic() - began
    assert json.loads(c.getresponse().read())["outputs"][0]["shape"] == [64, 1]
    whole = time.monotonic() - began
    assert asked < whole / 2, (asked, whole)
    c.close()

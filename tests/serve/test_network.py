# SPDX-License-Identifier: Apache-2.0
"""What clients do to a server: broken, slow, half-closed and many connections."""
import json
import socket
import time

import numpy as np
import pytest
from conftest import WAIT, request

X = np.ones((1, 4), np.float32)
BODY = json.dumps(request(x=X)).encode()
POST = b"POST /v2/models/mlp/infer HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture(scope="module", name="server")
def _server(models, tmp_path_factory):
    from conftest import Server
    with Server(models / "mlp.onnx", "--max-body", "0.1", "--receive-timeout", "1", "--idle-timeout", "3", "--max-connections", "1100", "--max-queue", "2000",
                folder=tmp_path_factory.mktemp("server")) as s:
        yield s


def talk(server, data, close=False, pieces=None):
    """Everything that comes back until the server closes, or two seconds of silence."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as s:
        try:
            for piece in pieces or [data]:
                s.sendall(piece)
                if pieces:
                    time.sleep(0.002)
            if close:
                s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        s.settimeout(2)
        back = b""
        try:
            while more := s.recv(65536):
                back += more
        except (TimeoutError, ConnectionResetError):
            pass
        return back


def post(body=BODY, extra=b""):
    return POST + extra + b"Content-Length: %d\r\n\r\n" % len(body) + body


@pytest.mark.parametrize("data, status", [
    (b"\x00\x01\x02\x03\r\n\r\n", 400),
    (b"GET\r\n\r\n", 400),
    (b"GET /v2 HTTP/1.1\r\n\r\n", 400),                                                   # no Host
    (b"GET /v2 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    (b"GET /v2 HTTP/1.1\nHost: a\n\n", 400),                                              # lines end in CR LF
    (b"GET /v2 HTTP/1.1\r\nHost : a\r\n\r\n", 400),
    (b"GET /v2 HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n", 400),
    (b"GET /v2 HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n", 400),
    (b"GET /v2 HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400),
    (b"GET /v2 HTTP/3.0\r\nHost: a\r\n\r\n", 505),
    (b"GET v2 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    (b"GET /v2 /v3 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    (POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\n12345", 400),
    (POST + b"Content-Length: +5\r\n\r\n12345", 400),
    (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),      # smuggling
    (POST + b"Transfer-Encoding: gzip\r\n\r\n", 501),
    (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n123456\r\n", 400),
    (POST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", 400),
    (POST + b"Content-Length: 99999999999\r\n\r\n", 413),
    (POST + b"Content-Length: 200000\r\n\r\n" + b"x" * 200000, 413),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b"x" * 65536 + b"\r\n10000\r\n" + b"x" * 65536 + b"\r\n0\r\n\r\n", 413),
    (b"GET /v2 HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 20000 + b"\r\n\r\n", 431),
    (b"GET /v2 HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 100 + b"\r\n", 431),
    (POST + b"Expect: something\r\nContent-Length: 2\r\n\r\n{}", 417),
])
def test_broken_requests(server, data, status):
    back = talk(server, data)
    assert back.startswith(b"HTTP/1.1 %d " % status) and b"connection: close" in back and b'{"error":"' in back, back


def test_requests_in_pieces(server):
    data = post(extra=b"Connection: close\r\n")
    whole = talk(server, data)
    assert whole.startswith(b"HTTP/1.1 200")
    pieces = talk(server, None, pieces=[data[i:i + 1] for i in range(len(data))])
    assert pieces.split(b"\r\n\r\n")[1] == whole.split(b"\r\n\r\n")[1]


def test_chunks_and_continue(server):
    chunks = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(BODY[i:i + 7]), BODY[i:i + 7]) for i in range(0, len(BODY), 7)) + b"0\r\nTrailer: 1\r\n\r\n"
    back = talk(server, POST + b"Connection: close\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    assert back.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


def test_pipelining_keeps_order(server):
    back = talk(server, b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n" + post() + b"GET /v2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    parts = back.split(b"HTTP/1.1 200 OK")
    assert len(parts) == 4 and b"live" in parts[1] and b"model_name" in parts[2] and b"extensions" in parts[3]


def test_half_closed_clients_are_answered(server):
    for data, n in ((post(), 1), (post() * 3, 3), (b"GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n", 1)):
        assert talk(server, data, close=True).count(b"HTTP/1.1 200 OK") == n
    for data in (b"", b"GET /v2 HT", post()[:-1]):
        assert talk(server, data, close=True) == b""


def test_old_clients(server):
    back = talk(server, b"GET /v2/health/live HTTP/1.0\r\n\r\n")
    assert back.startswith(b"HTTP/1.1 200 OK") and b"connection: close" in back
    back = talk(server, b"GET /v2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /v2 HTTP/1.0\r\n\r\n")
    assert back.count(b"HTTP/1.1 200 OK") == 2 and b"connection: keep-alive" in back


def test_slow_clients_are_given_up(server):
    """A head that never ends, a body that never comes, a client that says nothing: all end after the time-out, others are served meanwhile."""
    with socket.create_connection(("127.0.0.1", server.port)) as silent, socket.create_connection(("127.0.0.1", server.port)) as head, \
         socket.create_connection(("127.0.0.1", server.port)) as body:
        began = time.monotonic()
        body.sendall(POST + b"Content-Length: 1000\r\n\r\n{")
        while time.monotonic() - began < 1.5:
            try:
                head.sendall(b"G")
                body.sendall(b" ")
            except OSError:
                pass
            assert server.ask("GET", "/v2/health/live")[0] == 200
            time.sleep(0.05)
        for s, wanted in ((head, b"HTTP/1.1 408"), (body, b"HTTP/1.1 408"), (silent, b"")):
            s.settimeout(WAIT)
            try:
                back = b"".join(iter(lambda s=s: s.recv(4096), b""))
            except ConnectionResetError:
                back = wanted
            assert back.startswith(wanted) and (wanted or not back)


def test_a_thousand_connections(server):
    many = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(1000)]
    try:
        for s in many:
            s.sendall(post())
        for s in many:
            s.settimeout(WAIT)
            assert s.recv(65536).startswith(b"HTTP/1.1 200 OK")
        assert server.metric("spore_connections") >= 1000
    finally:
        for s in many:
            s.close()


def test_connections_beyond_the_limit(serve, models):
    server = serve(models / "mlp.onnx", "--max-connections", "4")
    busy = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(4)]
    for s in busy:
        s.sendall(b"GET /v2 HTTP/1.1\r\n") # in the middle of a request
    time.sleep(0.2)
    assert talk(server, b"").startswith(b"HTTP/1.1 503")
    for s in busy:
        s.sendall(b"Host: x\r\n\r\n")
        assert s.recv(4096).startswith(b"HTTP/1.1 200")
    assert server.ask("GET", "/v2/health/live")[0] == 200 # the one that was idle for longest made room
    for s in busy:
        s.close()


def test_idle_connections_are_closed(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as s:
        s.sendall(b"GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n")
        began = time.monotonic()
        assert s.recv(4096).startswith(b"HTTP/1.1 200")
        assert s.recv(4096) == b"" and time.monotonic() - began > 2


def test_many_requests_and_no_growth(server):
    """Memory is what it was; once more a run may need memory of its own, when it goes to another thread."""
    c = server.connect()
    figures = []
    for _ in range(4):
        for _ in range(300):
            c.request("POST", "/v2/models/mlp/infer", BODY)
            assert c.getresponse().read()
        figures.append(server.metric("spore_memory_bytes"))
    c.close()
    assert min(b - a for a, b in zip(figures, figures[1:])) < 16384, figures

# SPDX-License-Identifier: Apache-2.0
"""gRPC calls that stay open: ModelStreamInfer, reflection, Health/Watch; and what happens to them when clients or the server end."""
import pathlib
import shutil
import signal
import struct
import time

import numpy as np
import pytest
from conftest import WAIT
from http2 import DATA, END_STREAM, Http2, fields, message, packed

STREAM = "/inference.GRPCInferenceService/ModelStreamInfer"
WATCH = "/grpc.health.v1.Health/Watch"
REFLECTION = "/grpc.reflection.{}.ServerReflection/ServerReflectionInfo"
X = np.array([[0.5, 1, -1.5, 2]], np.float32)


class Call:
    """A call that stays open."""

    def __init__(self, client, path, *headers):
        self.c, self.at = client, 0
        self.stream = client.begin("POST", path, [("content-type", "application/grpc"), ("te", "trailers"), *headers], end=False)

    def send(self, body, end=False):
        data = b"\0" + struct.pack(">I", len(body)) + body
        for at in range(0, len(data), 16384):
            self.c.sock.sendall(self.c.frame(DATA, END_STREAM if end and at + 16384 >= len(data) else 0, self.stream, data[at:at + 16384]))

    def end(self):
        """No more messages; (status, text) of the whole."""
        self.c.sock.sendall(self.c.frame(DATA, END_STREAM, self.stream))
        return self.status()

    def status(self):
        _, _, trailers = self.c.finish(self.stream)
        return int(trailers["grpc-status"]), trailers.get("grpc-message", "")

    def receive(self):
        """The next message."""
        reply = self.c.replies[self.stream]
        while len(reply[1]) < self.at + 5 or len(reply[1]) < self.at + 5 + int.from_bytes(reply[1][self.at + 1:self.at + 5], "big"):
            assert not reply[3], f"the call ended: {reply[2]}"
            self.c.receive()
        n = int.from_bytes(reply[1][self.at + 1:self.at + 5], "big")
        found = reply[1][self.at + 5:self.at + 5 + n]
        self.at += 5 + n
        return found


def infer(x, model="mlp", name="x", request="1", **more):
    parameters = [(4, message((1, k), (2, message((1, int(v)))))) for k, v in more.items()]
    return message((1, model), (3, request), *parameters, (5, message((1, name), (2, "FP32"), (3, packed(x.shape)))), (7, x.tobytes()))


def result(data):
    """(error, id, first output) of a ModelStreamInferResponse"""
    top = dict(fields(data))
    inner = fields(top.get(2, b""))
    raw = [v for k, v in inner if k == 6]
    return top.get(1, b"").decode(), dict(inner).get(3, b"").decode(), np.frombuffer(raw[0], np.float32) if raw else None


@pytest.fixture(scope="module", name="server")
def _server(models, tmp_path_factory):
    from conftest import Server
    with Server(models / "mlp.onnx", models / "slow.onnx", folder=tmp_path_factory.mktemp("server")) as s:
        yield s


@pytest.fixture(name="client")
def _client(server):
    with Http2(server.port) as c:
        yield c


def test_messages_are_answered_in_their_order(client, mlp):
    call = Call(client, STREAM)
    for k in range(40):
        call.send(infer(X * k, request=str(k)))
    for k in range(40):
        error, request, y = result(call.receive())
        assert (error, request) == ("", str(k))
        np.testing.assert_allclose(y, mlp(X * k)[0], rtol=1e-5, atol=1e-6) # rows that were run together may sum in another order
    call.send(infer(X, triton_enable_empty_final_response=True))
    parameters = [fields(v) for k, v in fields(dict(fields(call.receive()))[2]) if k == 4]
    assert parameters == [[(1, b"triton_final_response"), (2, message((1, 1)))]]
    assert call.end() == (0, "")


def test_an_error_of_one_message_ends_nothing(client, mlp):
    call = Call(client, STREAM)
    call.send(infer(X, model="none"))
    assert "no model 'none'" in result(call.receive())[0]
    call.send(infer(X, name="q"))
    assert "no input 'q'" in result(call.receive())[0]
    call.send(b"\xff\xff\xff")
    assert result(call.receive())[0] != ""
    call.send(infer(X), end=True)
    assert result(call.receive())[2].tobytes() == mlp(X).tobytes()
    assert call.status() == (0, "")


def test_a_message_in_pieces_and_a_large_one(client, mlp):
    call = Call(client, STREAM)
    body = infer(X)
    data = b"\0" + struct.pack(">I", len(body)) + body
    for k in range(len(data)):
        client.sock.sendall(client.frame(DATA, 0, call.stream, data[k:k + 1]))
    assert result(call.receive())[2].tobytes() == mlp(X).tobytes()
    large = np.random.default_rng(1).standard_normal((100000, 4)).astype(np.float32)
    data = infer(large)
    data = b"\0" + struct.pack(">I", len(data)) + data
    for at in range(0, len(data), 16384): # the stream's window opens as the message comes
        while at + 32768 > (1 << 20) + client.windows.get(call.stream, 0):
            client.receive()
        client.sock.sendall(client.frame(DATA, 0, call.stream, data[at:at + 16384]))
    assert result(call.receive())[2].tobytes() == mlp(large).tobytes()
    assert call.end() == (0, "")


def test_ends_that_are_wrong(server, client):
    call = Call(client, STREAM)
    client.sock.sendall(client.frame(DATA, END_STREAM, call.stream, b"\0\0\0\0\x08abc"))
    assert call.status() == (3, "the call ends in the middle of a message")
    call = Call(client, STREAM)
    client.sock.sendall(client.frame(DATA, 0, call.stream, b"\0\xff\xff\xff\xff"))
    status, text = call.status()
    assert status == 8 and "--max-body" in text
    call = Call(client, STREAM)
    call.send(infer(np.ones((8, 1), np.float32), model="slow"))
    client.reset(call.stream) # its work is of no use to anybody
    call = Call(client, STREAM)
    assert call.end() == (0, "")
    assert server.ask("GET", "/v2/health/live")[0] == 200


def test_a_flood_is_held_back(serve, models):
    """A client that sends far more than it reads gets no more memory than others: its window closes."""
    server = serve(models / "mlp.onnx")
    before = server.metric("process_resident_memory_bytes")
    with Http2(server.port, timeout=1) as c:
        call = Call(c, STREAM)
        one = infer(np.ones((8000, 4), np.float32))
        sent = 0
        try:
            while sent < 64 << 20: # beyond the window, without asking: what a hostile client would do
                call.send(one)
                sent += len(one)
        except OSError:
            pass
    assert server.metric("process_resident_memory_bytes") - before < 100e6
    assert server.ask("GET", "/v2/health/ready")[0] == 200


def test_reflection(client):
    for version in ("v1", "v1alpha"):
        call = Call(client, REFLECTION.format(version))
        call.send(message((7, "")))
        reply = dict(fields(call.receive()))
        services = [fields(v)[0][1].decode() for _, v in fields(reply[6])]
        assert {"inference.GRPCInferenceService", "grpc.health.v1.Health", "mindspore.serving.proto.MSService", f"grpc.reflection.{version}.ServerReflection"} <= set(services)
        for symbol in services:
            call.send(message((1, "here"), (4, symbol)))
            reply = dict(fields(call.receive()))
            assert reply[1] == b"here" and reply[2] == message((1, "here"), (4, symbol))
            (_, descriptor), = fields(reply[4])
            assert dict(fields(descriptor))[2].decode() == symbol.rsplit(".", 1)[0] # package
        for question in ((4, "inference.No"), (3, "no.proto"), (6, "inference.ModelInferRequest")):
            call.send(message(question))
            assert fields(dict(fields(call.receive()))[7])[0] == (1, 5)
        call.send(message((3, "health.proto")))
        assert 4 in dict(fields(call.receive()))
        assert call.end() == (0, "")


def state(call):
    return fields(call.receive())[0][1]


def test_watching_health(serve, models, tmp_path):
    shutil.copy(models / "mlp.onnx", tmp_path / "a.onnx")
    server = serve(tmp_path / "a.onnx", "--lame-duck", "0.3")
    with Http2(server.port) as c:
        whole, model, unknown = Call(c, WATCH), Call(c, WATCH), Call(c, WATCH)
        whole.send(b"", end=True)
        model.send(message((1, "a")), end=True)
        unknown.send(message((1, "nobody")), end=True)
        assert (state(whole), state(model), state(unknown)) == (1, 1, 3)
        server.ask("POST", "/v2/repository/models/a/unload")
        assert state(model) == 2
        server.ask("POST", "/v2/repository/models/a/load")
        assert state(model) == 1
        server.process.send_signal(signal.SIGTERM)
        assert state(model) == 2
        assert model.status()[0] == 14 and unknown.status()[0] == 14
    assert server.process.wait(WAIT) == 0, server.errors()


def test_watchers_that_go(server):
    for _ in range(20):
        c = Http2(server.port)
        call = Call(c, WATCH)
        call.send(b"", end=True)
        assert state(call) == 1
        c.close()
    until = time.monotonic() + WAIT
    while server.metric("spore_connections") > 2:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_open_calls_do_not_keep_a_server_from_ending(serve, models, mlp):
    server = serve(models / "mlp.onnx")
    with Http2(server.port) as c:
        call = Call(c, STREAM)
        call.send(infer(X))
        assert result(call.receive())[2].tobytes() == mlp(X).tobytes()
        server.process.send_signal(signal.SIGTERM)
        call.send(infer(X)) # still answered
        assert result(call.receive())[2].tobytes() == mlp(X).tobytes()
        status, text = call.status()
        assert status == 14 and "stopped" in text
    assert server.process.wait(WAIT) == 0, server.errors()


def test_over_http1_and_without_a_key(serve, models, tmp_path):
    import hashlib
    (tmp_path / "keys").write_text("a " + hashlib.sha256(b"secret").hexdigest() + "\n")
    server = serve(models / "mlp.onnx", "--api-keys", tmp_path / "keys")
    with Http2(server.port) as c:
        call = Call(c, STREAM)
        call.send(infer(X))
        assert call.status()[0] == 16
        call = Call(c, STREAM, ("authorization", "Bearer secret"))
        call.send(infer(X))
        assert result(call.receive())[0] == ""
        assert call.end() == (0, "")
    body = infer(X)
    status, reply = server.ask("POST", STREAM, b"\0" + struct.pack(">I", len(body)) + body, {"content-type": "application/grpc-web+proto", "x-api-key": "secret"})
    assert status == 200 and b"HTTP/2 alone" in reply


def test_descriptors_are_those_of_the_files():
    import subprocess
    import sys
    pytest.importorskip("grpc_tools")
    script = pathlib.Path(__file__).parents[2] / "scripts" / "make-descriptors"
    assert subprocess.run([sys.executable, script, "--check"]).returncode == 0

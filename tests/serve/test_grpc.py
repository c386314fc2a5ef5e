# SPDX-License-Identifier: Apache-2.0
"""gRPC: the Open Inference Protocol's service, MindSpore Serving's, and health; HTTP/2 below them."""
import json
import socket
import struct

import numpy as np
import pytest
from conftest import WAIT, request
from http2 import DATA, GOAWAY, HEADERS, Http2, fields, message, packed

X = np.array([[0.5, 1, -1.5, 2], [1, 2, 3, 4], [0, 0, 0, 0]], np.float32)
KSERVE, MINDSPORE = "/inference.GRPCInferenceService/", "/mindspore.serving.proto.MSService/Predict"
OK, INVALID, DEADLINE, NOT_FOUND, EXHAUSTED, UNIMPLEMENTED = 0, 3, 4, 5, 8, 12


@pytest.fixture(scope="module", name="server")
def _server(models, tmp_path_factory):
    from conftest import Server
    with Server(models / "mlp.onnx", models / "gather.onnx", "--max-body", "1", "--receive-timeout", "1", folder=tmp_path_factory.mktemp("server")) as s:
        yield s


@pytest.fixture(name="client")
def _client(server):
    with Http2(server.port) as c:
        yield c


def tensor(name, x, datatype="FP32", *more):
    return message((1, name), (2, datatype), (3, packed(x.shape)), *more)


def infer(x, *more, model="mlp"):
    return message((1, model), (5, tensor("x", x)), *more, (7, x.tobytes()))


def results(reply):
    parts = dict(fields(reply))
    out = dict(fields(parts[5]))
    shape = [n for n in out[3]]
    return np.frombuffer(parts[6], np.float32).reshape(shape)


def test_health_and_metadata(client):
    assert client.grpc(KSERVE + "ServerLive") == (OK, "", message((1, 1)))
    assert client.grpc(KSERVE + "ServerReady") == (OK, "", message((1, 1)))
    assert client.grpc("/grpc.health.v1.Health/Check") == (OK, "", message((1, 1)))
    assert client.grpc(KSERVE + "ModelReady", message((1, "mlp"))) == (OK, "", message((1, 1)))
    assert client.grpc(KSERVE + "ModelReady", message((1, "none"))) == (OK, "", b"")
    assert fields(client.grpc(KSERVE + "ServerMetadata")[2])[0] == (1, b"spore")
    told = fields(client.grpc(KSERVE + "ModelMetadata", message((1, "mlp"), (2, "1")))[2])
    assert told[:3] == [(1, b"mlp"), (2, b"1"), (3, b"spore_onnx")]
    assert fields(told[3][1]) == [(1, b"x"), (2, b"FP32"), (3, packed([-1, 4]))]


def test_infer_raw_and_contents(client, mlp):
    status, _, reply = client.grpc(KSERVE + "ModelInfer", infer(X, (3, "an id"), (6, message((1, "output")))))
    assert status == OK and results(reply).tobytes() == mlp(X).tobytes() and (3, b"an id") in fields(reply)
    status, text, reply = client.grpc(KSERVE + "ModelInfer", message((1, "mlp"), (5, tensor("x", X, "FP32", (5, message((6, X.tobytes())))))))
    assert status == OK and results(reply).tobytes() == mlp(X).tobytes(), text
    one_by_one = b"".join(b"\x35" + struct.pack("<f", v) for v in X.ravel()) # not packed: field 6 of four bytes, again and again
    status, text, reply = client.grpc(KSERVE + "ModelInfer", message((1, "mlp"), (5, tensor("x", X, "FP32", (5, one_by_one)))))
    assert status == OK and results(reply).tobytes() == mlp(X).tobytes(), text
    i = np.array([1, 5], np.int32)
    status, text, reply = client.grpc(KSERVE + "ModelInfer", message((1, "gather"), (5, tensor("x", i, "INT32", (5, message((2, packed(i))))))))
    assert status == OK and results(reply).tolist() == [[2, 3], [10, 11]], text


def test_streams_are_answered_side_by_side(client, mlp):
    x = np.random.default_rng(2).standard_normal((90, 1, 4)).astype(np.float32)
    streams = [client.grpc_begin(KSERVE + "ModelInfer", infer(r)) for r in x]
    for stream, r in reversed(list(zip(streams, x))):
        status, text, reply = client.grpc_finish(stream)
        assert status == OK, text
        np.testing.assert_allclose(results(reply), mlp(r), 1e-5, 1e-6)


@pytest.mark.parametrize("data, status, text", [
    (message((1, "none")), NOT_FOUND, "no model 'none'"),
    (message((1, "mlp"), (2, "9")), NOT_FOUND, "no version 9"),
    (message((1, "mlp"), (2, "x")), INVALID, "no number"),
    (message((1, "mlp")), INVALID, "input 'x' is missing"),
    (b"\x0a\xff", INVALID, "past the end"),
    (b"\x07", INVALID, "byte 0"),
    (message((1, "mlp"), (5, tensor("z", X)), (7, X.tobytes())), INVALID, "no input 'z'"),
    (message((1, "mlp"), (5, tensor("x", X))), INVALID, "fewer elements"),
    (message((1, "mlp"), (5, tensor("x", X)), (7, X.tobytes()), (7, b"")), INVALID, "1 inputs, but 2 raw"),
    (message((1, "mlp"), (5, tensor("x", X)), (7, X.tobytes()[1:])), INVALID, "has 47 bytes"),
    (message((1, "mlp"), (5, tensor("x", X, "FP64")), (7, X.tobytes())), INVALID, "is FP64, it must be FP32"),
    (message((1, "mlp"), (5, tensor("x", X, "FP32", (5, message((7, X.tobytes())))))), INVALID, "of another type"),
    (message((1, "mlp"), (5, tensor("x", X, "FP32", (5, message((6, X.tobytes() + b"1234")))))), INVALID, "more elements"),
    (message((1, "mlp"), (5, tensor("x", X, "FP32", (5, message((6, X.tobytes()[:-2])))))), INVALID, "middle of a number"),
    (message((1, "gather"), (5, tensor("x", np.zeros(1), "INT32", (5, message((2, 1 << 33)))))), INVALID, "does not fit int32"),
    (message((1, "mlp"), (5, message((1, "x"), (2, "FP32"), (3, packed([1] * 9)))), (7, b"")), INVALID, "9 dimensions"),
    (message((1, "mlp"), (5, message((1, "x"), (2, "FP32"), (3, packed([1 << 62, 1 << 62])))), (7, b"")), INVALID, "more elements than"),
    (infer(X, (6, message((1, "y")))), INVALID, "no output 'y'"),
])
def test_bad_messages(client, data, status, text):
    found, told, reply = client.grpc(KSERVE + "ModelInfer", data)
    assert (found, reply) == (status, b"") and text in told, (found, told)


def test_bad_framing(client):
    grpc = [("content-type", "application/grpc")]
    for body, status in ((b"", INVALID), (b"\0\0\0", INVALID), (b"\0\0\0\0\x09abc", INVALID), (b"\1\0\0\0\0", None)):
        headers, _, trailers = client.ask("POST", KSERVE + "ModelInfer", grpc, body)
        code = int((trailers or headers)["grpc-status"])
        assert code == status or (status is None and code in (INVALID, UNIMPLEMENTED))
    assert client.grpc("/other.Service/Method")[0] == UNIMPLEMENTED
    assert client.grpc(KSERVE + "Other")[0] == UNIMPLEMENTED
    headers, _, _ = client.ask("POST", KSERVE + "ModelInfer", grpc, b"\0" * (1 << 21))
    assert headers["grpc-status"] == str(EXHAUSTED) and "more than" in headers["grpc-message"]


def test_rest_over_http2(client, mlp):
    headers, body, _ = client.ask("POST", "/v2/models/mlp/infer", [("content-type", "application/json")], json.dumps(request(x=X)).encode())
    assert headers[":status"] == "200"
    np.testing.assert_array_equal(np.array(json.loads(body)["outputs"][0]["data"], np.float32).reshape(3, 3), mlp(X))
    assert client.ask("GET", "/nowhere")[0][":status"] == "404"
    assert client.ask("HEAD", "/v2")[1] == b""
    assert client.ask("POST", "/v2/models/mlp/infer", [], b" " * (1 << 21))[0][":status"] == "413"
    assert client.ask("GET", "/v2", [("x", "y")] * 70)[0][":status"] == "431"


def test_slow_streams_are_given_up(client):
    slow = client.begin("POST", "/v2/models/mlp/infer", [], b"{", end=False)
    assert client.grpc(KSERVE + "ServerLive")[0] == OK
    assert client.finish(slow)[0][":status"] == "408"


def test_broken_frames_end_the_connection_alone(server):
    for data in (Http2.frame(DATA, 0, 1, b"x"), Http2.frame(HEADERS, 5, 1, b"\xff\xff\xff\xff\xff\xff"), Http2.frame(HEADERS, 5, 2, b""), b"\xff" * 100):
        with Http2(server.port) as c:
            c.sock.sendall(data)
            with pytest.raises((ConnectionError, OSError)):
                for _ in range(20):
                    if c.receive() == GOAWAY:
                        raise ConnectionError
    with socket.create_connection(("127.0.0.1", server.port)) as s: # the preface, then something else
        s.sendall(b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n")
        s.settimeout(WAIT)
        try:
            assert not s.recv(4096).startswith(b"HTTP/1.1 200")
        except ConnectionResetError:
            pass
    assert server.ask("GET", "/v2/health/live")[0] == 200


def test_deadline_and_cancelling(serve, models):
    server = serve(models / "slow.onnx", "--max-batch", "1")
    body = lambda rows: infer(np.ones((rows, 1), np.float32), model="slow")
    with Http2(server.port) as c:
        busy = c.grpc_begin(KSERVE + "ModelInfer", body(20))
        server.wait_metric(1, "spore_queue_depth", model="slow")
        late = c.grpc_begin(KSERVE + "ModelInfer", body(1), [("grpc-timeout", "1m")])
        gone = c.grpc_begin(KSERVE + "ModelInfer", body(1))
        server.wait_metric(3, "spore_queue_depth", model="slow")
        c.reset(gone)
        status, text, _ = c.grpc_finish(late)
        assert status == DEADLINE and "its time is over" in text
        assert c.grpc_finish(busy)[0] == OK
        server.wait_metric(1, "spore_requests_total", model="slow", outcome="cancelled")
        assert server.metric("spore_batch_rows_count", model="slow") == 1


def test_term_answers_streams(serve, models):
    server = serve(models / "slow.onnx")
    with Http2(server.port) as c:
        busy = c.grpc_begin(KSERVE + "ModelInfer", infer(np.ones((20, 1), np.float32), model="slow"))
        server.wait_metric(1, "spore_queue_depth", model="slow")
        server.process.terminate()
        status, text, reply = c.grpc_finish(busy)
        assert status == OK and (results(reply) == 2).all(), text
    assert server.process.wait(WAIT) == 0


# --- MindSpore Serving ------------------------------------------------------------------------------------------------

def instance(**inputs):
    return message(*[(1, message((1, k), (2, message((1, message((1, packed(v.shape)))), (2, {"f": 11, "d": 12}[v.dtype.char]), (3, v.tobytes()))))) for k, v in inputs.items()])


def predict(*instances, name="mlp", method="predict", version=0):
    return message((1, message((1, name), (2, method), (3, version))), *[(2, i) for i in instances])


def test_mindspore_predict(client, mlp):
    status, _, reply = client.grpc(MINDSPORE, predict(*[instance(x=r) for r in X]))
    found = []
    for number, value in fields(reply):
        assert number in (1, 3), value
        if number == 3:
            item = dict(fields(dict(fields(value))[1]))
            t = dict(fields(item[2]))
            assert item[1] == b"output" and t[2] == 11 and dict(fields(t[1]))[1] == packed([3])
            found.append(np.frombuffer(t[3], np.float32))
    assert status == OK and np.array(found).tobytes() == mlp(X).tobytes()


@pytest.mark.parametrize("data, code, text", [
    (predict(), 2, "no instances"),
    (predict(instance(x=X[0]), name="none"), 5, "no model 'none'"),
    (predict(instance(x=X[0]), method="other"), 2, "'other' is not available"),
    (predict(instance(x=X[0]), version=7), 5, "no version 7"),
    (predict(instance(x=X[0]), instance()), 2, "Cannot find input x"),
    (predict(instance(x=X[0, :3])), 2, "it must have (-1, 4)"),
    (predict(instance(x=X[0].astype(np.float64))), 2, "float64, it must be float32"),
    (predict(message((1, message((1, "x"), (2, message((2, 13), (4, b"text"))))))), 2, "no number's"),
    (predict(message((1, message((1, "x"), (2, message((2, 11), (5, b""))))))), 1, "shared memory"),
])
def test_mindspore_errors_are_in_the_reply(client, data, code, text):
    status, _, reply = client.grpc(MINDSPORE, data)
    error = dict(fields(dict(fields(reply))[4]))
    assert status == OK and text in error[2].decode() and error[1] == code, error


def parameter(key, *value):
    return message((1, key), (2, message(*value)))


@pytest.mark.parametrize("data, text", [
    (infer(X, (4, parameter("priority", (5, 1)))), "'priority'"),
    (infer(X, (4, parameter("sequence_id", (2, 3)))), "'sequence_id'"),
    (infer(X, (4, parameter("sequence_id", (3, "s")))), "'sequence_id'"),
    (infer(X, (4, parameter("sequence_start", (1, 1)))), "'sequence_start'"),
    (infer(X, (4, parameter("timeout", (3, "5")))), "'timeout'"),
    (infer(X, (4, parameter("other", (1, 1)))), "'other'"),
    (infer(X, (6, message((1, "output"), (2, parameter("shared_memory_region", (3, "r")))))), "'shared_memory_byte_size'"),
    (infer(X, (6, message((1, "output"), (2, parameter("classification", (3, "r")))))), "'classification'"),
    (message((1, "mlp"), (5, tensor("x", X, "FP32", (4, parameter("shared_memory_region", (3, "r"))))), (7, X.tobytes())), "'shared_memory_byte_size'"),
])
def test_what_is_not_done_is_refused(client, data, text):
    status, found, _ = client.grpc(KSERVE + "ModelInfer", data)
    assert status == INVALID and text in found


def test_what_asks_for_nothing_is_taken(client, mlp):
    status, _, reply = client.grpc(KSERVE + "ModelInfer", infer(X, (4, parameter("priority", (5, 0))), (4, parameter("sequence_end", (1, 0)))))
    assert status == OK and results(reply).tobytes() == mlp(X).tobytes()


def test_classification(client, mlp):
    status, text, reply = client.grpc(KSERVE + "ModelInfer", infer(X, (6, message((1, "output"), (2, parameter("classification", (2, 2)))))))
    assert status == OK, text
    parts = dict(fields(reply))
    face = fields(parts[5])
    assert (2, b"BYTES") in face and (3, packed([3, 2])) in face
    rest, found = parts[6], []
    while rest:
        n = int.from_bytes(rest[:4], "little")
        found.append(int(rest[4:4 + n].split(b":")[1]))
        rest = rest[4 + n:]
    assert found == np.argsort(-mlp(X), 1, kind="stable")[:, :2].ravel().tolist()


def test_health_of_services(client):
    assert client.grpc("/grpc.health.v1.Health/Check", message((1, "inference.GRPCInferenceService")))[0] == OK
    assert client.grpc("/grpc.health.v1.Health/Check", message((1, "another")))[0] == NOT_FOUND

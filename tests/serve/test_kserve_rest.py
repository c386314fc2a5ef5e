# SPDX-License-Identifier: Apache-2.0
"""The Open Inference Protocol over REST, as a client sees it."""
import email.utils
import json
import time

import numpy as np
import pytest
from conftest import request

X = np.array([[0.5, 1, -1.5, 2], [1, 2, 3, 1e-3], [0, 0, 0, 0]], np.float32)


@pytest.fixture(scope="module", name="server")
def _server(models, tmp_path_factory):
    from conftest import Server
    with Server(models / "mlp.onnx", f"second={models / 'mlp1.mindir'}", models / "gather.onnx", folder=tmp_path_factory.mktemp("server")) as s:
        yield s


def binary_body(head, *arrays):
    text = json.dumps(head).encode()
    return text + b"".join(a.tobytes() for a in arrays), {"Inference-Header-Content-Length": str(len(text))}


def test_health_and_metadata(server):
    assert server.ask("GET", "/v2/health/live") == (200, {"live": True})
    assert server.ask("GET", "/v2/health/ready") == (200, {"ready": True})
    assert server.ask("GET", "/v2")[1]["name"] == "spore"
    status, meta = server.ask("GET", "/v2/models/mlp")
    assert status == 200 and meta["versions"] == ["1"] and meta["platform"] == "spore_onnx"
    assert meta["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 4]}]
    assert meta["outputs"][0]["shape"] == [-1, 3] and meta["max_batch"] == 8
    assert server.ask("GET", "/v2/models/second/versions/1")[1]["inputs"][0]["shape"] == [1, 4]
    assert server.ask("GET", "/v2/models/mlp/ready") == (200, {"ready": True})
    assert server.ask("HEAD", "/v2/models/mlp")[0] == 200


def test_infer_json(server, mlp):
    """Numbers come back as the floats they were: the text has as many digits as it takes."""
    for x in (X, X[:1], np.repeat(X, 7, 0)):
        found = server.infer("mlp", x=x)["output"]
        assert found.dtype == np.float32 and found.tobytes() == mlp(x).tobytes()


def test_infer_nested_id_and_outputs(server, mlp):
    body = {"id": "a\u00e9\n\"", "inputs": [{"data": X.tolist(), "name": "x", "datatype": "FP32", "shape": [3, 4]}], "outputs": [{"name": "output"}]}
    status, reply = server.ask("POST", "/v2/models/mlp/versions/1/infer", body)
    assert status == 200 and reply["id"] == body["id"] and reply["model_version"] == "1"
    np.testing.assert_array_equal(np.array(reply["outputs"][0]["data"], np.float32).reshape(3, 3), mlp(X))


@pytest.mark.parametrize("how", ["binary_data_output", "binary_data", "json"])
def test_infer_binary(server, mlp, how):
    head = {"inputs": [{"name": "x", "shape": [3, 4], "datatype": "FP32", "parameters": {"binary_data_size": X.nbytes}}]}
    if how == "binary_data_output":
        head["parameters"] = {"binary_data_output": True}
    elif how == "binary_data":
        head["outputs"] = [{"name": "output", "parameters": {"binary_data": True}}]
    body, headers = binary_body(head, X)
    c = server.connect()
    c.request("POST", "/v2/models/mlp/infer", body, headers)
    r = c.getresponse()
    data = r.read()
    c.close()
    assert r.status == 200, data
    if how == "json":
        found = np.array(json.loads(data)["outputs"][0]["data"], np.float32)
    else:
        n = int(r.getheader("Inference-Header-Content-Length"))
        told = json.loads(data[:n])["outputs"][0]
        assert told["parameters"]["binary_data_size"] == 36 == len(data) - n
        found = np.frombuffer(data[n:], np.float32)
    assert found.tobytes() == mlp(X).tobytes()


def test_keep_alive(server):
    c = server.connect()
    for _ in range(3):
        c.request("POST", "/v2/models/mlp/infer", json.dumps(request(x=X)))
        r = c.getresponse()
        assert r.status == 200 and r.read() and c.sock is not None
        assert abs(email.utils.parsedate_to_datetime(r.getheader("date")).timestamp() - time.time()) < 60
    c.close()


ONE = {"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3, 4]}


@pytest.mark.parametrize("body, text", [
    (b"", "no body"),
    (b"{", "a text is wanted here"),
    (b"[1]", "an object is wanted here"),
    (b"{}", "no inputs"),
    (b'{"inputs": [1]}', "an object is wanted"),
    (b'{"inputs": []}', "input 'x' is missing"),
    (b'{"inputs": [], "inputs": []}', "given twice"),
    (b'{"inputs": [{}]}', "an input has no name"),
    (json.dumps({"inputs": [ONE]}).encode() + b"x", "something follows"),
    (b'{"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3, NaN]}]}', "a value is wanted"),
    (b'{"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3, 01]}]}', "begins with 0"),
    (b'{"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3, 4,]}]}', "a value is wanted"),
    (b'{"inputs": [{"name": "\xff"}]}', "no UTF-8"),
    (b'{"inputs": ' + b"[" * 100 + b"]" * 100 + b"}", "an object is wanted"),
    (b'{"other": ' + b"[" * 100 + b"]" * 100 + b"}", "levels"),
    ({"inputs": [dict(ONE, name="z")]}, "the model has no input 'z'; it has 'x'"),
    ({"inputs": [ONE, ONE]}, "input 'x' is given twice"),
    ({"inputs": [dict(ONE, datatype="FP64")]}, "input 'x' is FP64, it must be FP32"),
    ({"inputs": [dict(ONE, datatype="FLOAT")]}, "'FLOAT'"),
    ({"inputs": [dict(ONE, shape=[1, 5])]}, "4 elements, the shape has 5"),
    ({"inputs": [dict(ONE, shape=[1, 3])]}, "more elements than the shape"),
    ({"inputs": [dict(ONE, shape=[4])]}, "it must have (-1, 4)"),
    ({"inputs": [dict(ONE, shape=[2, 2])]}, "it must have (-1, 4)"),
    ({"inputs": [dict(ONE, shape=[-1, 4])]}, "a dimension of -1"),
    ({"inputs": [dict(ONE, shape=[1 << 40, 1 << 40])]}, "more elements than can be addressed"),
    ({"inputs": [dict(ONE, shape=[1 << 40])]}, "fewer elements than"),
    ({"inputs": [dict(ONE, shape=[1] * 9)]}, "at most 8"),
    ({"inputs": [dict(ONE, data=[1, 2, 3, "4"])]}, "a number is wanted"),
    ({"inputs": [dict(ONE, data=[1, 2, 3, 1e39])]}, "does not fit float32"),
    ({"inputs": [dict(ONE, data=[1, 2, 3, True])]}, "a number is wanted"),
    ({"inputs": [{k: v for k, v in ONE.items() if k != "data"}]}, "has no data"),
    ({"inputs": [ONE], "outputs": [{"name": "y"}]}, "the model has no output 'y'"),
    ({"inputs": [dict(ONE, parameters={"binary_data_size": 16})]}, "both data and binary"),
])
def test_bad_requests(server, body, text):
    status, reply = server.ask("POST", "/v2/models/mlp/infer", body)
    assert status == 400 and text in reply["error"]


@pytest.mark.parametrize("length, tail, text", [("5000", b"", "the body has"), ("x", b"", "the body has"), ("-1", b"", "the body has"),
                                                (None, b"1234", "bytes follow the inputs"), (None, b"", "bytes left")])
def test_bad_binary(server, length, tail, text):
    size = 16 if tail == b"" else 0
    head = {"inputs": [dict({k: v for k, v in ONE.items() if k != "data"}, parameters={"binary_data_size": size})] if size else [ONE]}
    body, headers = binary_body(head)
    if length is not None:
        headers = {"Inference-Header-Content-Length": length}
    status, reply = server.ask("POST", "/v2/models/mlp/infer", body + tail, headers)
    assert status == 400 and text in reply["error"]


def test_integers_are_checked(server):
    for value, good in ((2, True), (3.0, True), (1.5, False), (1 << 31, False), (-1 << 40, False)):
        status, _ = server.ask("POST", "/v2/models/gather/infer", {"inputs": [{"name": "x", "shape": [1], "datatype": "INT32", "data": [value]}]})
        assert (status == 200) == good, value


def test_a_failing_run_says_why_and_harms_nobody(server, mlp):
    status, reply = server.ask("POST", "/v2/models/gather/infer", {"inputs": [{"name": "x", "shape": [1], "datatype": "INT32", "data": [600]}]})
    assert status in (400, 500) and "600" in reply["error"]
    assert server.infer("mlp", x=X)["output"].tobytes() == mlp(X).tobytes()


@pytest.mark.parametrize("method, path, status", [
    ("GET", "/v3", 404), ("GET", "/v2/models/none", 404), ("GET", "/v2/models/mlp/versions/2", 404), ("GET", "/v2/models/mlp/other", 404),
    ("GET", "/v2/models/mlp/versions/x", 400), ("GET", "/v2/models/%zz", 400), ("GET", "/v2/models/%00", 400), ("GET", "/v2/models/ml%70", 200),
    ("GET", "/v2/models/mlp/infer", 405), ("POST", "/v2/models/mlp", 405), ("DELETE", "/v2", 405), ("POST", "/v2/models/none/infer", 404)])
def test_paths(server, method, path, status):
    found, reply = server.ask(method, path)
    assert found == status and (found == 200 or "error" in reply)

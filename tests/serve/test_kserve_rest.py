# SPDX-License-Identifier: Apache-2.0
"""The Open Inference Protocol over REST, as a client sees it."""
import email.utils
import json
import time

import numpy as np
import pytest
from conftest import request

import spore as ms
from spore import nn, ops

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
    (b'{"outputs": ' + b"[" * 100 + b"]" * 100 + b"}", "levels"),
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


@pytest.mark.parametrize("shape", [(1, 1, 32, 32), (1, 1, 28, 27), (2, 1, 28, 28), (1, 28, 28), (1, 1, 0, 28)])
@pytest.mark.parametrize("kind", ["mindir", "onnx"])
def test_shapes_are_those_of_the_file(serve, tmp_path, kind, shape):
    class Picture(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 3)

        def construct(self, x):
            y = ops.mean(self.conv(x), (2, 3))
            return y, y * 2, (y + 1, -y)
    good = np.ones((1, 1, 28, 28), np.float32)
    net = Picture().set_train(False)
    if kind == "onnx":
        ms.onnx.export(net, ms.Tensor(good), file_name=str(tmp_path / "net.onnx"), input_names=["x"])
    else:
        ms.export(net, ms.Tensor(good), file_name=str(tmp_path / "net.mindir"), file_format="MINDIR")
    server = serve(tmp_path / f"net.{kind}")
    name = server.ask("GET", "/v2/models/net")[1]["inputs"][0]["name"]
    outputs = server.infer("net", **{name: good})
    assert len(outputs) == 4 and [o["name"] for o in server.ask("GET", "/v2/models/net")[1]["outputs"]] == list(outputs)
    first, second, third, fourth = outputs.values()
    assert np.allclose([second, third, fourth], [first * 2, first + 1, -first])
    last = list(outputs)[-1]
    status, reply = server.ask("POST", "/v2/models/net/infer", {**request(**{name: good}), "outputs": [{"name": last}]})
    assert status == 200 and np.allclose(reply["outputs"][0]["data"], fourth.ravel())
    status, reply = server.ask("POST", "/v2/models/net/infer", request(**{name: np.ones(shape, np.float32)}))
    assert status == 400 and "it must have (1, 1, 28, 28)" in reply["error"]


def with_parameters(**parameters):
    return {**request(x=X), "parameters": parameters}


def with_output(**parameters):
    return {**request(x=X), "outputs": [{"name": "output", "parameters": parameters}]}


def with_input(**parameters):
    body = request(x=X)
    body["inputs"][0]["parameters"] = parameters
    return body


@pytest.mark.parametrize("body, names", [
    (with_parameters(priority=1), "'priority'"),
    (with_parameters(priority="high"), "'priority'"),
    (with_parameters(sequence_id=7), "'sequence_id'"),
    (with_parameters(sequence_id="a"), "'sequence_id'"),
    (with_parameters(sequence_start=True), "'sequence_start'"),
    (with_parameters(sequence_end=True), "'sequence_end'"),
    (with_parameters(timeout="5"), "'timeout'"),
    (with_parameters(timeout=-1), "'timeout'"),
    (with_parameters(timeout=None), "'timeout'"),
    (with_parameters(binary_data_output=1), "'binary_data_output'"),
    (with_parameters(triton_enable_empty_final_response=True), "'triton_enable_empty_final_response'"),
    (with_parameters(temperature=1), "'temperature'"),
    (with_input(shared_memory_region="r"), "both shared memory and data"),
    (with_input(content_type="str"), "'content_type'"),
    (with_input(binary_data=True), "'binary_data'"),
    (with_output(shared_memory_region="r"), "'shared_memory_byte_size'"),
    (with_output(shared_memory_offset=4), "'shared_memory_region'"),
    (with_output(classification=-1), "'classification'"),
    (with_output(classification="2"), "'classification'"),
    (with_output(binary_data="yes"), "'binary_data'"),
    ({**request(x=X), "paramters": {}}, "'paramters'"),
    ({**request(x=X), "model_name": "other"}, "model_name"),
    ({**request(x=X), "model_version": "9"}, "model_version"),
    ({**request(x=X), "outputs": [{"name": "output", "datatype": "INT32"}]}, "'datatype'"),
    ({"inputs": [{**request(x=X)["inputs"][0], "dtype": "FP32"}]}, "'dtype'"),
])
def test_what_is_not_done_is_refused(server, body, names):
    status, reply = server.ask("POST", "/v2/models/mlp/infer", body)
    assert status == 400 and names in reply["error"], reply


@pytest.mark.parametrize("body", [
    with_parameters(priority=0, sequence_id=0, sequence_start=False, sequence_end=False, timeout=0), with_parameters(sequence_id=""), with_input(content_type="np"),
    {**request(x=X), "outputs": []}, {**request(x=X), "model_name": "mlp", "model_version": "1"}, with_output(classification=0),
])
def test_what_asks_for_nothing_is_taken(server, mlp, body):
    status, reply = server.ask("POST", "/v2/models/mlp/infer", body)
    assert status == 200 and np.allclose(np.array(reply["outputs"][0]["data"]).reshape(3, 3), mlp(X)), reply


@pytest.mark.parametrize("path, body", [("/v2/models/mlp/infer?timeout=5", request(x=X)), ("/model/mlp:predict?x=1", {"instances": [{"x": X[0].tolist()}]})])
def test_nothing_behind_the_path(server, path, body):
    assert server.ask("POST", path, body)[0] == 400


def test_a_member_that_is_given_twice(server):
    text = json.dumps(request(x=X))
    for twice in ('"id": "1", "id": "2", ', '"parameters": {}, "parameters": {}, ', '"outputs": [], "outputs": [], '):
        status, reply = server.ask("POST", "/v2/models/mlp/infer", "{" + twice + text[1:])
        assert status == 400 and "twice" in reply["error"]


@pytest.mark.parametrize("k", [1, 2, 3, 100])
def test_classification(server, mlp, k):
    status, reply = server.ask("POST", "/v2/models/mlp/infer", with_output(classification=k))
    out = reply["outputs"][0]
    wanted = mlp(X)
    order = np.argsort(-wanted, 1, kind="stable")[:, :k]
    assert status == 200 and out["datatype"] == "BYTES" and out["shape"] == list(order.shape)
    found = [text.split(":") for text in out["data"]]
    assert [int(i) for _, i in found] == order.ravel().tolist()
    assert np.array([v for v, _ in found], np.float32).tobytes() == np.take_along_axis(wanted, order, 1).tobytes()
    # The same in binary: each text behind its length.
    c = server.connect()
    c.request("POST", "/v2/models/mlp/infer", json.dumps(with_output(classification=k, binary_data=True)))
    r = c.getresponse()
    data = r.read()
    head = int(r.getheader("inference-header-content-length"))
    rest, texts = data[head:], []
    assert json.loads(data[:head])["outputs"][0]["parameters"]["binary_data_size"] == len(rest)
    while rest:
        n = int.from_bytes(rest[:4], "little")
        texts.append(rest[4:4 + n].decode())
        rest = rest[4 + n:]
    assert texts == out["data"]
    c.close()

# SPDX-License-Identifier: Apache-2.0
"""MindSpore Serving's REST interface."""
import base64

import numpy as np
import pytest

X = np.array([[0.5, 1, -1.5, 2], [1, 2, 3, 4], [0, 0, 0, 0]], np.float32)


@pytest.fixture(scope="module", name="server")
def _server(models, tmp_path_factory):
    from conftest import Server
    with Server(models / "mlp.onnx", models / "mlp1.mindir", models / "fixed.onnx", folder=tmp_path_factory.mktemp("server")) as s:
        yield s


def b64(a, **more):
    return {"b64": base64.b64encode(a.tobytes()).decode(), "type": "fp32", "shape": list(a.shape), **more}


def rows(reply, name):
    return np.array([i[name] for i in reply["instances"]], np.float32)


def test_instances_become_rows(server, mlp):
    for instances in ([{"x": r.tolist()} for r in X], [{"x": b64(r)} for r in X], [{"x": X[0].tolist()}, {"x": b64(X[1])}, {"x": b64(X[2], type="float32")}]):
        status, reply = server.ask("POST", "/model/mlp:predict", {"instances": instances})
        assert status == 200 and rows(reply, "output").tobytes() == mlp(X).tobytes()
    status, reply = server.ask("POST", "/model/mlp/version/1:predict", {"instances": {"x": X[1].tolist()}})
    assert status == 200
    np.testing.assert_allclose(rows(reply, "output"), mlp(X[1:2]), 1e-6)


def test_whole_input(server, mlp):
    """A single instance may have the first axis; so have its results."""
    status, reply = server.ask("POST", "/model/mlp:predict", {"instances": [{"x": X.tolist()}]})
    assert status == 200 and np.array(reply["instances"][0]["output"], np.float32).tobytes() == mlp(X).tobytes()


def test_mindir_of_one_row(server, mlp):
    """MindIR files name a size for the first axis; where rows are independent others are taken, too."""
    name = server.ask("GET", "/v2/models/mlp1")[1]["outputs"][0]["name"]
    status, reply = server.ask("POST", "/model/mlp1:predict", {"instances": [{"input_data": r.tolist()} for r in X]})
    assert status == 200
    np.testing.assert_allclose(rows(reply, name), mlp(X), 1e-5, 1e-6)


def test_fixed_rows_are_filled_up(server, mlp):
    for n in (1, 3, 4):
        x = np.resize(X, (n, 4))
        status, reply = server.ask("POST", "/model/fixed:predict", {"instances": [{"x": r.tolist()} for r in x]})
        assert status == 200 and len(reply["instances"]) == n
        np.testing.assert_allclose(rows(reply, "output"), mlp(x), 1e-5, 1e-6)
    status, reply = server.ask("POST", "/model/fixed:predict", {"instances": [{"x": [0, 0, 0, 0]}] * 5})
    assert status == 400 and "more than the 4 rows" in reply["error_msg"]


ROW = {"x": [1, 2, 3, 4]}


@pytest.mark.parametrize("body, text", [
    ({}, "'instances' expects to exist once"),
    ({"instances": []}, "no instances"),
    ({"instances": [ROW], "more": 1}, "'more' is not known"),
    ({"instances": [[1, 2, 3, 4]]}, "an instance is an object"),
    ({"instances": [{"z": 1}]}, "instance 0: the model has no input 'z'"),
    ({"instances": [ROW, {}]}, "Cannot find input x"),
    ({"instances": [ROW, {"x": [1, 2, 3]}]}, "another type or shape"),
    ({"instances": [{"x": [[1, 2], [3]]}]}, "elements"),
    ({"instances": [{"x": []}]}, "an empty array"),
    ({"instances": [{"x": [1, 2, "3", 4]}]}, "a number is wanted"),
    ({"instances": [{"x": 1}]}, "must have 1"),
    ({"instances": [{"x": [[[1.0]]]}, {"x": [[[1.0]]]}]}, "must have 1"),
    ({"instances": [{"x": [1, 2, 3, 4, 5]}]}, "it must have (-1, 4)"),
    ({"instances": [{"x": b64(X[0], b64="AAA")}]}, "not base64"),
    ({"instances": [{"x": b64(X[0], b64="A*AA")}]}, "not base64"),
    ({"instances": [{"x": b64(X[0], shape=[5])}]}, "has 16 bytes"),
    ({"instances": [{"x": b64(X[0], type="str")}]}, "'str'"),
    ({"instances": [{"x": b64(X[0], other=1)}]}, "none of b64, type and shape"),
])
def test_bad_requests(server, body, text):
    status, reply = server.ask("POST", "/model/mlp:predict", body)
    assert status == 400 and text in reply["error_msg"], reply


@pytest.mark.parametrize("method, path, status", [("GET", "/model/mlp:predict", 405), ("POST", "/model/mlp:other", 404), ("POST", "/model/none:predict", 404),
                                                  ("POST", "/model/mlp", 400), ("POST", "/model/mlp/version/x:predict", 400), ("POST", "/model/mlp/version/3:predict", 404)])
def test_paths(server, method, path, status):
    assert server.ask(method, path, "{}")[0] == status

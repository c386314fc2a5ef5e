# SPDX-License-Identifier: Apache-2.0
"""Triton's extensions over REST and gRPC, KServe v1 and TensorFlow Serving's paths, the OpenAPI document."""
import json
import os
import shutil

import http2
import numpy as np
import pytest
from conftest import Server, request
from http2 import fields, message

X = np.ones((2, 4), np.float32)
SERVICE = "/inference.GRPCInferenceService/"


@pytest.fixture(scope="module", name="server")
def _server(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("versions")
    for n in (1, 2):
        (folder / "net" / str(n)).mkdir(parents=True)
        shutil.copy(models / "mlp.onnx", folder / "net" / str(n) / "model.onnx")
    (folder / "broken.onnx").write_bytes(b"\x08\x07\xff\xff")
    with Server(models / "mlp.onnx", folder / "net", folder / "broken.onnx", "--set", "net.versions=all", "--set", "net.labels=stable=1", "--set", "mlp.max_delay=1",
                folder=tmp_path_factory.mktemp("server")) as s:
        s.folder = folder
        yield s


def test_the_index(server):
    status, index = server.ask("POST", "/v2/repository/index", {})
    assert status == 200 and [(m["name"], m.get("version"), m["state"]) for m in sorted(index, key=lambda m: (m["name"], m.get("version", "")))] == [
        ("broken", None, "UNAVAILABLE"), ("mlp", "1", "READY"), ("net", "1", "READY"), ("net", "2", "READY")]
    assert "broken.onnx" in next(m for m in index if m["name"] == "broken")["reason"]
    assert {m["name"] for m in server.ask("POST", "/v2/repository/index", {"ready": True})[1]} == {"mlp", "net"}
    assert server.ask("POST", "/v2/repository/index", {"raedy": True})[0] == 400 and server.ask("GET", "/v2/repository/index")[0] == 405
    with http2.Http2(server.port) as c:
        status, _, reply = c.grpc(SERVICE + "RepositoryIndex", message((2, 1)))
        lines = [dict(fields(v)) for k, v in fields(reply) if k == 1]
        assert status == 0 and sorted((v[1], v[2], v[3]) for v in lines) == [(b"mlp", b"1", b"READY"), (b"net", b"1", b"READY"), (b"net", b"2", b"READY")]


def test_load_and_unload(server, models):
    with http2.Http2(server.port) as c:
        for ask in (lambda what: server.ask("POST", f"/v2/repository/models/mlp/{what}")[0] == 200,
                    lambda what: c.grpc(SERVICE + f"RepositoryModel{what.capitalize()}", message((2, "mlp")))[0] == 0):
            assert ask("unload")
            status, reply = server.ask("POST", "/v2/models/mlp/infer", request(x=X))
            assert status == 503 and "unloaded" in reply["error"]
            assert server.ask("GET", "/v2/health/ready")[0] == 200 # as asked for: no fault
            assert ask("load") and server.infer("mlp", x=X)
        assert c.grpc(SERVICE + "RepositoryModelLoad", message((2, "none")))[0] == 5
    status, reply = server.ask("POST", "/v2/repository/models/broken/load")
    assert status == 400 and "failed to load 'broken'" in reply["error"] and "broken.onnx" in reply["error"]
    assert server.ask("POST", "/v2/repository/models/none/unload")[0] == 404
    status, reply = server.ask("POST", "/v2/repository/models/mlp/load", {"parameters": {"file:1/model.onnx": "AAAA"}})
    assert status == 400 and "clients name no files" in reply["error"]
    shutil.copy(models / "mlp.onnx", server.folder / "good")
    os.replace(server.folder / "good", server.folder / "broken.onnx")
    assert server.ask("POST", "/v2/repository/models/broken/load")[0] == 200 and server.infer("broken", x=X)


def load(server, name, config):
    return server.ask("POST", f"/v2/repository/models/{name}/load", {"parameters": {"config": config if isinstance(config, str) else json.dumps(config)}})


def config_of(server, name):
    return server.ask("GET", f"/v2/models/{name}/config")[1]


def test_load_with_another_configuration(server):
    """A configuration that was read, edited and sent back; a load without one brings back the server's."""
    before = config_of(server, "mlp")
    edited = {**before, "max_batch_size": 4, "instance_group": [{"count": 2, "kind": "KIND_CPU"}], "dynamic_batching": {"max_queue_delay_microseconds": 500}}
    assert load(server, "mlp", edited) == (200, {})
    now = config_of(server, "mlp")
    assert now["max_batch_size"] == 4 and now["instance_group"][0]["count"] == 2 and now["dynamic_batching"]["max_queue_delay_microseconds"] == 500
    assert server.infer("mlp", x=X)["output"].shape == (2, 3)
    assert load(server, "mlp", {"max_batch_size": 0}) == (200, {}) # from the server's settings again, not from those before
    now = config_of(server, "mlp")
    assert now["max_batch_size"] == 0 and now["instance_group"][0]["count"] == 1 and "dynamic_batching" not in now
    assert server.ask("POST", "/v2/repository/models/mlp/load")[0] == 200 and config_of(server, "mlp") == before
    assert load(server, "net", {"version_policy": {"specific": {"versions": [1]}}})[0] == 200
    assert {m["version"] for m in server.ask("POST", "/v2/repository/index", {})[1] if m["name"] == "net"} == {"1"}
    assert load(server, "net", {"version_policy": {"latest": {"num_versions": 1}}})[0] == 200 and server.ask("GET", "/v2/models/net")[1]["versions"] == ["2"]
    assert server.ask("POST", "/v2/repository/models/net/load")[0] == 200 and server.ask("GET", "/v2/models/net")[1]["versions"] == ["1", "2"]
    with http2.Http2(server.port) as c:
        assert c.grpc(SERVICE + "RepositoryModelLoad", message((2, "mlp"), (3, message((1, "config"), (2, message((3, json.dumps({"max_batch_size": 2}))))))))[0] == 0
        assert config_of(server, "mlp")["max_batch_size"] == 2
        assert c.grpc(SERVICE + "RepositoryModelLoad", message((2, "mlp"), (3, message((1, "file:1/a"), (2, message((4, b"x")))))))[0] == 12
        assert c.grpc(SERVICE + "RepositoryModelLoad", message((2, "mlp")))[0] == 0 and config_of(server, "mlp") == before


@pytest.mark.parametrize("config, text", [
    ("{", "byte"), ({"max_batch_size": -1}, "0 to 1024"), ({"backend": "python"}, "cannot be changed"), ({"name": "other"}, "cannot be changed"),
    ({"input": []}, "cannot be changed"), ({"optimization": {"graph": {"level": 1}}}, "'optimization' cannot be set"), ({"version_policy": {"newest": {}}}, "latest, all or specific"),
    ({"instance_group": [{"kind": "KIND_GPU"}]}, "KIND_CPU"), ({"instance_group": [{"count": 17}]}, "1 to 16"), ({"instance_group": [{"gpus": [1]}]}, "'gpus' cannot be set"),
    ({"dynamic_batching": {"preferred_batch_size": [4]}}, "'preferred_batch_size' cannot be set"), ({"max_batch_size": 0, "dynamic_batching": {"max_queue_delay_microseconds": 5}}, "no effect"),
    ({"version_policy": {"specific": {"versions": [9]}}}, "none of the versions"),
])
def test_configurations_that_cannot_be(server, config, text):
    before = config_of(server, "mlp")
    status, reply = load(server, "mlp", config)
    assert status == 400 and text in reply["error"], reply
    assert config_of(server, "mlp") == before and server.infer("mlp", x=X)


def test_who_may_load(serve, models):
    server = serve(models / "mlp.onnx", "--model-control", "none")
    assert server.ask("POST", "/v2/repository/models/mlp/unload")[0] == 403 and server.ask("POST", "/v2/logging", {"log_info": False})[0] == 403
    assert server.infer("mlp", x=X) and server.ask("GET", "/v2/logging")[0] == 200


def test_the_configuration_of_a_model(server):
    status, config = server.ask("GET", "/v2/models/mlp/config")
    assert status == 200 and config["max_batch_size"] == 8 and config["backend"] == "spore" and config["version_policy"] == {"latest": {"num_versions": 1}}
    assert [(i["name"], i["data_type"], i["dims"]) for i in config["input"]] == [("x", "TYPE_FP32", [4])] and config["output"][0]["dims"] == [3]
    assert config["dynamic_batching"]["max_queue_delay_microseconds"] == 1000 and config["instance_group"][0]["count"] == 1
    assert server.ask("GET", "/v2/models/net/versions/1/config")[1]["version_policy"] == {"all": {}}
    with http2.Http2(server.port) as c:
        status, _, reply = c.grpc(SERVICE + "ModelConfig", message((1, "mlp")))
        config = dict(fields(dict(fields(reply))[1]))
        assert status == 0 and config[1] == b"mlp" and config[4] == 8 and config[17] == b"spore"
        assert fields(config[5]) == [(1, b"x"), (2, 11), (4, b"\x04")] and fields(config[6])[1:] == [(2, 11), (3, b"\x03")]
        assert fields(config[3]) == [(1, message((1, 1)))] and fields(config[7]) == [(1, b"mlp"), (2, 1), (4, 2)]


def test_statistics(server):
    def stats():
        return server.ask("GET", "/v2/models/net/versions/2/stats")[1]["model_stats"][0]
    before = stats()
    for _ in range(3):
        server.infer("net", x=X)
    assert server.ask("POST", "/v2/models/net/infer", request(x=np.ones((2, 5), np.float32)))[0] == 400
    after = stats()
    assert after["name"] == "net" and after["version"] == "2" and after["inference_count"] - before["inference_count"] == 6 and after["execution_count"] - before["execution_count"] == 3
    success, fail, infer = (after["inference_stats"][k] for k in ("success", "fail", "compute_infer"))
    assert success["count"] == 3 and fail["count"] == 1 and success["ns"] > infer["ns"] > 0 and after["last_inference"] > 1.6e12
    assert [b for b in after["batch_stats"] if b["batch_size"] == 2][0]["compute_infer"]["count"] == 3
    assert {(m["name"], m["version"]) for m in server.ask("GET", "/v2/models/stats")[1]["model_stats"]} >= {("mlp", "1"), ("net", "1"), ("net", "2")}
    with http2.Http2(server.port) as c:
        for asked, n in ((message((1, "net"), (2, "2")), 1), (b"", 4)):
            status, _, reply = c.grpc(SERVICE + "ModelStatistics", asked)
            found = [dict(fields(v)) for k, v in fields(reply)]
            one = next(f for f in found if f[1] == b"net" and f[2] == b"2")
            assert status == 0 and len(found) >= min(n, 3) and one[4] == after["inference_count"] and fields(dict(fields(one[6]))[1])[0] == (1, 3)


def test_settings_of_tracing_and_log(server):
    for path in ("/v2/trace/setting", "/v2/models/mlp/trace/setting"):
        assert server.ask("GET", path)[1]["trace_level"] == ["OFF"] and server.ask("POST", path, {"trace_level": ["OFF"]})[0] == 200
        status, reply = server.ask("POST", path, {"trace_level": ["TIMESTAMPS"]})
        assert status == 400 and "not traced" in reply["error"]
    assert server.ask("GET", "/v2/logging")[1]["log_info"] is True
    status, reply = server.ask("POST", "/v2/logging", {"log_verbose_level": 3})
    assert status == 400 and "log_verbose_level" in reply["error"]
    assert server.ask("POST", "/v2/logging", {"log_info": False})[1]["log_info"] is False
    n = len(server.errors())
    assert server.ask("POST", "/v2/repository/models/mlp/load")[0] == 200
    with http2.Http2(server.port) as c:
        status, _, reply = c.grpc(SERVICE + "LogSettings", message((1, message((1, "log_info"), (2, message((1, 1)))))))
        assert status == 0 and message((1, "log_info"), (2, message((1, 1)))) in [v for _, v in fields(reply)]
        assert c.grpc(SERVICE + "TraceSetting", b"")[0] == 0 and c.grpc(SERVICE + "TraceSetting", message((1, message((1, "trace_level"), (2, message((1, "MAX")))))))[0] == 12
        assert c.grpc(SERVICE + "SystemSharedMemoryStatus")[0] == 0
    assert "unloaded" not in server.errors()[n:]
    assert server.ask("GET", "/v2/systemsharedmemory/status") == (200, [])


def test_predict_of_v1(server, mlp):
    assert set(server.ask("GET", "/v1/models")[1]["models"]) >= {"mlp", "net"}
    state = server.ask("GET", "/v1/models/net")[1]
    assert state["ready"] is True and [(v["version"], v["state"]) for v in state["model_version_status"]] == [("2", "AVAILABLE"), ("1", "AVAILABLE")]
    assert server.ask("GET", "/v1/models/none")[0] == 404
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    wanted = mlp(x)
    for path in ("net", "net/versions/1", "net/labels/stable"):
        for instances in (x.tolist(), [{"x": row.tolist()} for row in x]):
            status, reply = server.ask("POST", f"/v1/models/{path}:predict", {"instances": instances})
            assert status == 200 and np.array(reply["predictions"], np.float32).tobytes() == wanted.tobytes(), reply
        for inputs in (x.tolist(), {"x": x.tolist()}):
            status, reply = server.ask("POST", f"/v1/models/{path}:predict", {"inputs": inputs, "signature_name": "serving_default"})
            assert status == 200 and np.array(reply["outputs"], np.float32).tobytes() == wanted.tobytes(), reply


@pytest.mark.parametrize("path, body, status, text", [
    ("mlp:predict", {"instances": [[1, 2, 3]]}, 400, "x"),
    ("mlp:predict", {"instances": [{"y": [1, 2, 3, 4]}]}, 400, "no input 'y'"),
    ("mlp:predict", {"instance": [[1, 2, 3, 4]]}, 400, "instances or inputs"),
    ("mlp:predict", {"instances": [[1, 2, 3, 4]], "inputs": [[1, 2, 3, 4]]}, 400, "given once"),
    ("mlp:predict", {}, 400, "neither instances nor inputs"),
    ("mlp:predict", {"instances": []}, 400, "no instances"),
    ("mlp:predict", {"instances": [[1, 2, 3, 4]], "signature_name": "other"}, 400, "one signature"),
    ("mlp:classify", {"examples": []}, 404, ":predict"),
    ("net/labels/beta:predict", {"instances": [[1, 2, 3, 4]]}, 404, "labels/LABEL"),
    ("net/versions/7:predict", {"instances": [[1, 2, 3, 4]]}, 404, "no version 7"),
    ("none:predict", {"instances": [[1, 2, 3, 4]]}, 404, "no model 'none'"),
])
def test_wrong_requests_of_v1(server, path, body, status, text):
    found, reply = server.ask("POST", f"/v1/models/{path}", body)
    assert found == status and text in reply["error"], reply


def test_the_openapi_document(server):
    """Every path in it is there, and its references lead somewhere."""
    status, document = server.ask("GET", "/openapi.json")
    assert status == 200 and document["openapi"] == "3.1.0"
    text = json.dumps(document)
    for reference in set(part.split('"')[0] for part in text.split("#/components/schemas/")[1:]):
        assert reference in document["components"]["schemas"]
    identifiers = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(identifiers) == len(set(identifiers)) > 15
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert ("{model}" in path) == any(p["name"] == "model" for p in operation.get("parameters", []))
            if path.endswith("/unload"):
                continue # test_load_and_unload has it
            found = server.ask(method.upper(), path.replace("{model}", "net").replace("{version}", "2"), {} if method == "post" else None)[0]
            assert found in (200, 400) or (found == 404 and "{region}" in path), (path, found)   # no region of that name was registered

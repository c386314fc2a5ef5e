# SPDX-License-Identifier: Apache-2.0
"""The server as programs of others see it: curl, the KServe SDK, gRPC's own reflection and health clients, checkers of OpenAPI and of figures, load generators. Each where it is
installed; `make check-long` has an environment with the Python ones (build/venv-clients)."""
import asyncio
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import WAIT, Server, request

X = np.array([[0.5, 1, -1.5, 2], [1, 2, 3, 4]], np.float32)


@pytest.fixture(scope="module", name="server")
def _server(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    with Server(models / "mlp.onnx", "--unix", folder / "socket", folder=folder) as s:
        s.socket = folder / "socket"
        yield s


def program(name, *arguments, data=None, code=0):
    """What a program says."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run([path, *map(str, arguments)], input=data, capture_output=True, timeout=4 * WAIT, check=False)
    assert done.returncode == code, done.stdout[-3000:].decode() + done.stderr[-3000:].decode()
    return done.stdout.decode()


# --- curl ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("how", [(), ("--http2-prior-knowledge",), ("--http1.0",), ("--compressed",), ("-H", "Transfer-Encoding: chunked"), ("--unix",)])
def test_curl(server, mlp, how, tmp_path):
    how = ("--unix-socket", server.socket) if how == ("--unix",) else how
    (tmp_path / "body").write_text(json.dumps(request(x=X)))
    said = program("curl", "-sS", "-w", "\\n%{http_code} %{http_version}", *how, "-d", f"@{tmp_path / 'body'}", "-H", "Content-Type: application/json",
                   f"http://127.0.0.1:{server.port}/v2/models/mlp/infer").rsplit("\n", 1)
    assert said[1].startswith("200 ") and (said[1] == "200 2") == ("--http2-prior-knowledge" in how), said
    np.testing.assert_allclose(np.array(json.loads(said[0])["outputs"][0]["data"]).reshape(2, 3), mlp(X), rtol=1e-5)


def test_curl_waits_for_100_and_uploads(server, tmp_path):
    """A large body: curl asks first (Expect: 100-continue); a file's bytes by -T."""
    x = np.ones((20000, 4), np.float32)
    (tmp_path / "body").write_text(json.dumps(request(x=x)))
    said = program("curl", "-sS", "-v", "--stderr", "-", "-o", tmp_path / "out", "-H", "Expect: 100-continue", "-X", "POST", "-T", tmp_path / "body", "-H", "Content-Type: application/json",
                   f"http://127.0.0.1:{server.port}/v2/models/mlp/infer")
    assert "100 Continue" in said and "HTTP/1.1 200 OK" in said
    assert json.loads((tmp_path / "out").read_text())["outputs"][0]["shape"] == [20000, 3]


def test_curl_of_several(server):
    """One connection for all of them; a method that is not there, a path that is not there."""
    url = f"http://127.0.0.1:{server.port}"
    said = program("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code} %{num_connects}\\n", f"{url}/v2", "-o", "/dev/null", f"{url}/v2/health/ready", "-o", "/dev/null", f"{url}/nothing",
                   "-o", "/dev/null", f"{url}/metrics").split("\n")
    assert said[:4] == ["200 1", "200 0", "404 0", "200 0"]
    assert program("curl", "-sS", "-X", "DELETE", "-o", "/dev/null", "-w", "%{http_code}", f"{url}/v2/models/mlp") == "405"
    assert "HTTP/1.1 200 OK" in program("curl", "-sS", "-I", f"{url}/v2/models/mlp")


# --- load ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("how", [("--h1",), ("-m4",)])
def test_h2load(server, how, tmp_path):
    (tmp_path / "body").write_text(json.dumps(request(x=X)))
    said = program("h2load", "-n2000", "-c8", *how, "-d", tmp_path / "body", f"http://127.0.0.1:{server.port}/v2/models/mlp/infer")
    assert "2000 succeeded, 0 failed, 0 errored, 0 timeout" in said and "2000 2xx" in said, said


def test_wrk(server, tmp_path):
    (tmp_path / "load.lua").write_text(f"wrk.method = 'POST'\nwrk.body = [==[{json.dumps(request(x=X))}]==]\n")
    said = program("wrk", "-t1", "-c16", "-d1s", "-s", tmp_path / "load.lua", f"http://127.0.0.1:{server.port}/v2/models/mlp/infer")
    assert "Non-2xx" not in said and "Socket errors" not in said and int(re.search(r"(\d+) requests in", said)[1]) > 100, said


# --- checkers ----------------------------------------------------------------------------------------------------------

def test_promtool(server):
    server.infer("mlp", x=X)
    assert program("promtool", "check", "metrics", data=server.ask("GET", "/metrics")[1]) == ""


def test_the_client_library_of_prometheus(server):
    parser = pytest.importorskip("prometheus_client.parser")
    server.infer("mlp", x=X)
    families = {f.name: f for f in parser.text_string_to_metric_families(server.ask("GET", "/metrics")[1].decode())}
    assert len(families) > 10 and all(f.documentation and f.type != "unknown" for f in families.values())
    for f in families.values():
        for s in f.samples if f.type == "histogram" else ():
            assert s.value >= 0


def test_openapi_validator(server):
    validate = pytest.importorskip("openapi_spec_validator").validate
    validate(server.ask("GET", "/openapi.json")[1])


@pytest.mark.long
def test_schemathesis(server, tmp_path):
    """Requests that the document allows, and some that it does not: none ends in a 5xx that the document does not name, all answers are of the forms that it names."""
    pytest.importorskip("schemathesis")
    done = subprocess.run([sys.executable, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{server.port}/openapi.json", "--max-examples", "25", "--phases", "examples,coverage,fuzzing",
                           "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance", "--exclude-path-regex", "/unload$|/logging$",
                           "--generation-deterministic", "--no-color"], capture_output=True, text=True, timeout=10 * WAIT, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


# --- KServe's SDK ------------------------------------------------------------------------------------------------------

def test_kserve_sdk_v2(server, mlp):
    kserve = pytest.importorskip("kserve")
    url = f"http://127.0.0.1:{server.port}"

    async def ask():
        client = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2", retries=0, timeout=WAIT))
        assert await client.is_server_live(url) and await client.is_server_ready(url) and await client.is_model_ready(url, "mlp")
        for binary in (False, True):
            x = kserve.InferInput(name="x", shape=list(X.shape), datatype="FP32")
            x.set_data_from_numpy(X, binary_data=binary)
            reply = await client.infer(url, kserve.InferRequest(model_name="mlp", infer_inputs=[x], request_id="1"), model_name="mlp")
            assert reply.id == "1" and reply.model_name == "mlp"
            np.testing.assert_allclose(reply.outputs[0].as_numpy(), mlp(X), rtol=1e-5)
        await client.close()
    asyncio.run(ask())


def test_kserve_sdk_v1(server, mlp):
    kserve = pytest.importorskip("kserve")
    url = f"http://127.0.0.1:{server.port}"

    async def ask():
        client = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v1", retries=0, timeout=WAIT))
        assert await client.is_server_live(url) and await client.is_model_ready(url, "mlp")
        reply = await client.infer(url, {"instances": X.tolist()}, model_name="mlp")
        np.testing.assert_allclose(np.array(reply["predictions"]), mlp(X), rtol=1e-5)
        await client.close()
    asyncio.run(ask())


def test_kserve_sdk_grpc(server, mlp):
    kserve = pytest.importorskip("kserve")

    async def ask():
        client = kserve.InferenceGRPCClient(f"127.0.0.1:{server.port}", retries=0, timeout=WAIT)
        assert await client.is_server_live() and await client.is_server_ready() and await client.is_model_ready("mlp")
        x = kserve.InferInput(name="x", shape=list(X.shape), datatype="FP32")
        x.set_data_from_numpy(X)
        reply = await client.infer(kserve.InferRequest(model_name="mlp", infer_inputs=[x]))
        np.testing.assert_allclose(reply.outputs[0].as_numpy(), mlp(X), rtol=1e-5)
        await client.close()
    asyncio.run(ask())


# --- gRPC's own ----------------------------------------------------------------------------------------------------------

def test_grpc_reflection_alone_is_enough_to_ask(server, mlp):
    """As grpcurl does: services and messages are learned from the server, a request is made of them."""
    grpc = pytest.importorskip("grpc")
    database_of = pytest.importorskip("grpc_reflection.v1alpha.proto_reflection_descriptor_database").ProtoReflectionDescriptorDatabase
    from google.protobuf import descriptor_pool, json_format, message_factory
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        database = database_of(channel)
        names = set(database.get_services())
        assert {"inference.GRPCInferenceService", "grpc.health.v1.Health"} <= names
        pool = descriptor_pool.DescriptorPool(database)
        for name in names:
            for method in pool.FindServiceByName(name).methods:
                assert message_factory.GetMessageClass(method.input_type)().ByteSize() == 0
        method = pool.FindServiceByName("inference.GRPCInferenceService").methods_by_name["ModelInfer"]
        message, answer = message_factory.GetMessageClass(method.input_type)(), message_factory.GetMessageClass(method.output_type)
        json_format.ParseDict({"model_name": "mlp", "inputs": [{"name": "x", "datatype": "FP32", "shape": [2, 4], "contents": {"fp32_contents": X.ravel().tolist()}}]}, message)
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer", request_serializer=lambda m: m.SerializeToString(), response_deserializer=answer.FromString)
        reply = call(message, timeout=WAIT)
        np.testing.assert_allclose(np.frombuffer(reply.raw_output_contents[0], np.float32).reshape(2, 3), mlp(X), rtol=1e-5)


def test_grpc_health(server):
    grpc = pytest.importorskip("grpc")
    pb2, pb2_grpc = pytest.importorskip("grpc_health.v1.health_pb2"), pytest.importorskip("grpc_health.v1.health_pb2_grpc")
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = pb2_grpc.HealthStub(channel)
        assert stub.Check(pb2.HealthCheckRequest(), timeout=WAIT).status == stub.Check(pb2.HealthCheckRequest(service="mlp"), timeout=WAIT).status == pb2.HealthCheckResponse.SERVING
        watch = stub.Watch(pb2.HealthCheckRequest(service="mlp"))
        assert next(watch).status == pb2.HealthCheckResponse.SERVING
        watch.cancel()
        with pytest.raises(grpc.RpcError) as failure:
            stub.Check(pb2.HealthCheckRequest(service="none"), timeout=WAIT)
        assert failure.value.code() == grpc.StatusCode.NOT_FOUND

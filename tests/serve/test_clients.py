# SPDX-License-Identifier: Apache-2.0
"""Clients that others wrote, where they are installed: Triton's over REST and gRPC, and plain grpcio."""
import numpy as np
import pytest

X = np.array([[0.5, 1, -1.5, 2], [1, 2, 3, 4]], np.float32)


@pytest.fixture(scope="module", name="server")
def _server(models, tmp_path_factory):
    pytest.importorskip("tritonclient")
    from conftest import Server
    with Server(models / "mlp.onnx", folder=tmp_path_factory.mktemp("server")) as s:
        yield s


def run(module, client):
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("mlp") and not client.is_model_ready("none")
    x = module.InferInput("x", X.shape, "FP32")
    x.set_data_from_numpy(X)
    reply = client.infer("mlp", [x], request_id="1", outputs=[module.InferRequestedOutput("output")])
    with pytest.raises(Exception, match="no model 'none'"):
        client.infer("none", [x])
    return reply.as_numpy("output")


def test_triton_rest(server, mlp):
    module = pytest.importorskip("tritonclient.http")
    client = module.InferenceServerClient(f"127.0.0.1:{server.port}")
    assert client.get_model_metadata("mlp")["inputs"][0]["shape"] == [-1, 4] and client.get_server_metadata()["name"] == "spore"
    assert run(module, client).tobytes() == mlp(X).tobytes()
    for binary in (True, False):
        x = module.InferInput("x", X.shape, "FP32")
        x.set_data_from_numpy(X, binary_data=binary)
        for binary_out in (True, False):
            reply = client.infer("mlp", [x], outputs=[module.InferRequestedOutput("output", binary_data=binary_out)])
            assert reply.as_numpy("output").tobytes() == mlp(X).tobytes()
    client.close()


def test_triton_grpc(server, mlp):
    module = pytest.importorskip("tritonclient.grpc")
    client = module.InferenceServerClient(f"127.0.0.1:{server.port}")
    assert list(client.get_model_metadata("mlp").inputs[0].shape) == [-1, 4] and client.get_server_metadata().name == "spore"
    assert run(module, client).tobytes() == mlp(X).tobytes()
    large = module.InferInput("x", [100000, 4], "FP32")
    data = np.random.default_rng(1).standard_normal((100000, 4)).astype(np.float32)
    large.set_data_from_numpy(data)
    assert client.infer("mlp", [large]).as_numpy("output").tobytes() == mlp(data).tobytes()
    client.close()


def test_all_of_triton_rest(server):
    module = pytest.importorskip("tritonclient.http")
    client = module.InferenceServerClient(f"127.0.0.1:{server.port}")
    assert client.get_model_config("mlp")["max_batch_size"] == 8
    assert [(m["name"], m["state"]) for m in client.get_model_repository_index()] == [("mlp", "READY")]
    client.unload_model("mlp")
    assert not client.is_model_ready("mlp")
    client.load_model("mlp")
    assert client.is_model_ready("mlp") and client.get_inference_statistics("mlp")["model_stats"][0]["name"] == "mlp" and client.get_inference_statistics()["model_stats"]
    assert client.get_trace_settings()["trace_level"] == ["OFF"] and client.get_trace_settings("mlp") and client.update_trace_settings(settings={"trace_level": ["OFF"]})
    assert client.get_log_settings()["log_error"] is True and client.update_log_settings({"log_info": True})["log_info"] is True
    assert client.get_system_shared_memory_status() == [] and client.get_cuda_shared_memory_status() == []
    client.unregister_system_shared_memory()
    x = module.InferInput("x", X.shape, "FP32")
    x.set_data_from_numpy(X)
    assert client.async_infer("mlp", [x]).get_result().as_numpy("output").shape == (2, 3)
    for algorithm in ("gzip", "deflate"):
        assert client.infer("mlp", [x], request_compression_algorithm=algorithm, response_compression_algorithm=algorithm).as_numpy("output").shape == (2, 3)
    client.close()


def test_all_of_triton_grpc(server):
    module = pytest.importorskip("tritonclient.grpc")
    client = module.InferenceServerClient(f"127.0.0.1:{server.port}")
    config = client.get_model_config("mlp").config
    assert config.max_batch_size == 8 and config.input[0].name == "x" and list(config.input[0].dims) == [4] and config.version_policy.latest.num_versions == 1
    assert [(m.name, m.state) for m in client.get_model_repository_index().models] == [("mlp", "READY")]
    client.unload_model("mlp")
    assert not client.is_model_ready("mlp")
    client.load_model("mlp")
    assert client.is_model_ready("mlp") and client.get_inference_statistics("mlp").model_stats[0].name == "mlp" and client.get_inference_statistics().model_stats
    assert list(client.get_trace_settings().settings["trace_level"].value) == ["OFF"]
    assert client.get_log_settings().settings["log_error"].bool_param is True and client.update_log_settings({"log_info": True}).settings["log_info"].bool_param is True
    assert not client.get_system_shared_memory_status().regions
    client.close()


def test_triton_grpc_compressed(server, mlp):
    import queue
    module = pytest.importorskip("tritonclient.grpc")
    client, got = module.InferenceServerClient(f"127.0.0.1:{server.port}"), queue.Queue()
    x = module.InferInput("x", X.shape, "FP32")
    x.set_data_from_numpy(X)
    for algorithm in ("gzip", "deflate"):
        assert client.infer("mlp", [x], compression_algorithm=algorithm).as_numpy("output").tobytes() == mlp(X).tobytes()
    client.start_stream(lambda result, error: got.put((result, error)), compression_algorithm="gzip")
    client.async_stream_infer("mlp", [x])
    result, error = got.get(timeout=60)
    assert error is None and result.as_numpy("output").tobytes() == mlp(X).tobytes()
    client.stop_stream()
    client.close()


def test_triton_streams(server, mlp):
    import queue
    module = pytest.importorskip("tritonclient.grpc")
    client = module.InferenceServerClient(f"127.0.0.1:{server.port}")
    got = queue.Queue()
    client.start_stream(lambda result, error: got.put((result, error)))
    for k in range(5):
        x = module.InferInput("x", X.shape, "FP32")
        x.set_data_from_numpy(X * k)
        client.async_stream_infer("mlp", [x], request_id=str(k), enable_empty_final_response=True)
    for k in range(5):
        result, error = got.get(timeout=60)
        assert error is None and result.get_response().id == str(k)
        np.testing.assert_allclose(result.as_numpy("output"), mlp(X * k), rtol=1e-5, atol=1e-6)
    client.async_stream_infer("none", [x])
    assert "no model 'none'" in str(got.get(timeout=60)[1])
    client.stop_stream()
    client.close()


@pytest.mark.parametrize("kind", ["http", "grpc"])
def test_triton_aio(server, mlp, kind):
    import asyncio
    module = pytest.importorskip(f"tritonclient.{kind}.aio")

    async def ask():
        client = module.InferenceServerClient(f"127.0.0.1:{server.port}")
        assert await client.is_server_ready() and await client.is_model_ready("mlp")
        x = module.InferInput("x", X.shape, "FP32")
        x.set_data_from_numpy(X)
        replies = await asyncio.gather(*(client.infer("mlp", [x]) for _ in range(20)))
        for r in replies:
            np.testing.assert_allclose(r.as_numpy("output"), mlp(X), rtol=1e-5, atol=1e-6)
        if kind == "grpc":
            async def requests():
                for k in range(3):
                    yield {"model_name": "mlp", "inputs": [x], "request_id": str(k)}
            found = [(r.get_response().id, e) async for r, e in client.stream_infer(requests())]
            assert found == [("0", None), ("1", None), ("2", None)]
        await client.close()
    asyncio.run(ask())


def shared(module, shm, key):
    """Memory of tritonclient's, and an input and output in it."""
    region = shm.create_shared_memory_region(key, key, X.nbytes + 24)
    shm.set_shared_memory_region(region, [X])
    x, y = module.InferInput("x", X.shape, "FP32"), module.InferRequestedOutput("output")
    x.set_shared_memory(key, X.nbytes)
    y.set_shared_memory(key, 24, offset=X.nbytes)
    return region, x, y


@pytest.mark.parametrize("kind", ["http", "grpc"])
def test_triton_shared_memory(server, mlp, kind):
    module, shm = pytest.importorskip(f"tritonclient.{kind}"), pytest.importorskip("tritonclient.utils.shared_memory")
    client, key = module.InferenceServerClient(f"127.0.0.1:{server.port}"), f"spore-{kind}-{server.process.pid}"
    region, x, y = shared(module, shm, key)
    try:
        client.register_system_shared_memory(key, key, X.nbytes + 24)
        found = client.get_system_shared_memory_status(key)
        assert (found[0]["byte_size"] if kind == "http" else found.regions[key].byte_size) == X.nbytes + 24
        reply = client.infer("mlp", [x], outputs=[y])
        said = reply.get_output("output")
        assert (said["parameters"]["shared_memory_region"] if kind == "http" else said.parameters["shared_memory_region"].string_param) == key
        assert shm.get_contents_as_numpy(region, np.float32, [2, 3], offset=X.nbytes).tobytes() == mlp(X).tobytes()
        with pytest.raises(Exception, match="registered already"):
            client.register_system_shared_memory(key, key, 8)
        client.unregister_system_shared_memory(key)
        with pytest.raises(Exception, match="no region"):
            client.infer("mlp", [x], outputs=[y])
        with pytest.raises(Exception, match="no CUDA"):
            client.register_cuda_shared_memory("a", b"AAAA", 0, 8)
        client.unregister_cuda_shared_memory()
    finally:
        shm.destroy_shared_memory_region(region)
        client.close()


@pytest.mark.parametrize("kind", ["http", "grpc"])
def test_triton_aio_shared_memory(server, mlp, kind):
    import asyncio
    module, shm = pytest.importorskip(f"tritonclient.{kind}.aio"), pytest.importorskip("tritonclient.utils.shared_memory")

    async def ask():
        client, key = module.InferenceServerClient(f"127.0.0.1:{server.port}"), f"spore-aio-{kind}-{server.process.pid}"
        region, x, y = shared(module, shm, key)
        try:
            await client.register_system_shared_memory(key, key, X.nbytes + 24)
            assert await client.get_system_shared_memory_status()
            await client.infer("mlp", [x], outputs=[y])
            assert shm.get_contents_as_numpy(region, np.float32, [2, 3], offset=X.nbytes).tobytes() == mlp(X).tobytes()
            await client.unregister_system_shared_memory(key)
        finally:
            shm.destroy_shared_memory_region(region)
            await client.close()
    asyncio.run(ask())


@pytest.mark.parametrize("kind", ["http", "grpc"])
def test_triton_loads_with_a_configuration(server, kind):
    import json
    module = pytest.importorskip(f"tritonclient.{kind}")
    client = module.InferenceServerClient(f"127.0.0.1:{server.port}")

    def config():
        return client.get_model_config("mlp") if kind == "http" else client.get_model_config("mlp", as_json=True)["config"]
    client.load_model("mlp", config=json.dumps({"max_batch_size": 2}))
    assert config()["max_batch_size"] == 2
    with pytest.raises(Exception, match="clients name no files"):
        client.load_model("mlp", config="{}", files={"file:1/model.onnx": b"x"})
    client.load_model("mlp")
    assert config()["max_batch_size"] == 8
    client.close()


def test_triton_texts(tmp_path_factory):
    import pathlib

    from conftest import Server
    model = pathlib.Path(__file__).parents[1] / "onnx" / "data" / "texts.onnx"
    words, wanted = np.array(["grün blau", "rot", "", "eins zwei drei"], object), np.load(model.with_suffix(".npz"))["out_parts"]
    with Server(model, folder=tmp_path_factory.mktemp("server")) as server:
        for kind in ("http", "grpc"):
            module = pytest.importorskip(f"tritonclient.{kind}")
            client = module.InferenceServerClient(f"127.0.0.1:{server.port}")
            x = module.InferInput("x", [4], "BYTES")
            x.set_data_from_numpy(words)
            got = client.infer("texts", [x]).as_numpy("parts")
            assert [w.decode() for w in got.ravel()] == wanted.ravel().tolist()
            client.close()


def test_grpcio_reflection(server):
    grpc = pytest.importorskip("grpc")
    database = pytest.importorskip("grpc_reflection.v1alpha.proto_reflection_descriptor_database")
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        found = database.ProtoReflectionDescriptorDatabase(channel)
        assert "inference.GRPCInferenceService" in found.get_services()
        pool = DescriptorPool(found)
        method = pool.FindServiceByName("inference.GRPCInferenceService").FindMethodByName("ModelMetadata")
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelMetadata", lambda m: m.SerializeToString(), GetMessageClass(method.output_type).FromString)
        reply = call(GetMessageClass(method.input_type)(name="mlp"))
        assert reply.inputs[0].datatype == "FP32" and list(reply.inputs[0].shape) == [-1, 4]


def test_grpcio_health_watch(server):
    grpc = pytest.importorskip("grpc")
    stubs = pytest.importorskip("grpc_health.v1.health_pb2_grpc")
    from grpc_health.v1 import health_pb2
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = stubs.HealthStub(channel)
        assert stub.Check(health_pb2.HealthCheckRequest(service="mlp")).status == 1
        states = stub.Watch(health_pb2.HealthCheckRequest(service="mlp"), timeout=60)
        assert next(states).status == 1
        server.ask("POST", "/v2/repository/models/mlp/unload")
        assert next(states).status == 2
        server.ask("POST", "/v2/repository/models/mlp/load")
        assert next(states).status == 1
        states.cancel()

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
    with pytest.raises(Exception, match="shared memory is not done"):
        client.register_system_shared_memory("a", "/a", 16)
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
    with pytest.raises(Exception, match="shared memory is not done"):
        client.register_system_shared_memory("a", "/a", 16)
    client.close()

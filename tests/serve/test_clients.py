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

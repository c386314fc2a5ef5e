# SPDX-License-Identifier: Apache-2.0
"""How models are served: the configuration file, settings of single models, versions side by side, folders that are watched."""
import json
import os
import shutil
import signal
import subprocess
import time

import http2
import numpy as np
import pytest
from conftest import SPORE, WAIT, request
from test_queue import in_threads, slow_body

X = np.ones((1, 4), np.float32)


def run(*arguments):
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    return subprocess.run([SPORE, "serve", *map(str, arguments)], capture_output=True, text=True, timeout=WAIT, env=env, check=False)


def versions(models, net, **files):
    for n, name in files.items():
        (net / n[1:]).mkdir(parents=True)
        shutil.copy(models / name, net / n[1:] / "model.onnx")
    return net


def write(path, config):
    path.write_text(json.dumps(config, indent=1))
    return path


def test_a_configuration(serve, models, tmp_path):
    versions(models, tmp_path / "net", v1="mlp.onnx", v2="centred.onnx", v3="mlp.onnx")
    shutil.copy(models / "mlp.onnx", tmp_path / "other.onnx")
    config = write(tmp_path / "serve.json", {"port": 0, "max_batch": 4, "log": "none", "models": [
        {"name": "net", "path": "net", "versions": "all", "labels": {"stable": 1, "canary": 3}, "max_batch": 2, "instances": 2},
        {"path": "other.onnx", "max_queue": 3, "timeout": 5, "max_delay": 1}]})
    server = serve("--config", config)
    assert server.ask("GET", "/v2/models/net")[1]["versions"] == ["1", "2", "3"] and server.ask("GET", "/v2/models/net")[1]["max_batch"] == 2
    assert server.ask("GET", "/v2/models/other")[1]["max_batch"] == 4
    for version, zero in ((1, False), (2, True), (3, False)):
        status, reply = server.ask("POST", f"/v2/models/net/versions/{version}/infer", request(x=X))
        assert status == 200 and reply["model_version"] == str(version) and (not any(reply["outputs"][0]["data"])) == zero
    assert server.ask("POST", "/v2/models/net/infer", request(x=X))[1]["model_version"] == "3"
    assert server.ask("POST", "/v2/models/net/versions/4/infer", request(x=X))[0] == 404
    for label, version in (("stable", "1"), ("canary", "3")):
        assert server.ask("POST", f"/v2/models/net/versions/{label}/infer", request(x=X))[1]["model_version"] == version
        assert server.ask("GET", f"/v2/models/net/versions/{label}/ready")[0] == 200
    assert server.ask("GET", "/v2/models/net/versions/old")[0] == 400 and server.ask("GET", "/v2/models/other/versions/stable")[0] == 400
    with http2.Http2(server.port) as c:
        status, _, reply = c.grpc("/inference.GRPCInferenceService/ModelMetadata", http2.message((1, "net"), (2, "canary")))
        assert status == 0 and [v for k, v in http2.fields(reply) if k == 2] == [b"1", b"2", b"3"]
    assert server.access.read_text() == ""


@pytest.mark.parametrize("policy, wanted", [("newest", ["4"]), ("newest:2", ["2", "4"]), ("1,4", ["1", "4"]), ("all", ["1", "2", "4"])])
def test_versions_side_by_side(serve, models, tmp_path, policy, wanted):
    """Of those that are good: 3 is not."""
    net = versions(models, tmp_path / "net", v1="mlp.onnx", v2="mlp.onnx", v3="mlp.onnx", v4="mlp.onnx")
    (net / "3" / "model.onnx").write_bytes(b"\x08\x07broken")
    server = serve(net, "--set", f"net.versions={policy}", "--poll", "0.1")
    assert server.ask("GET", "/v2/models/net")[1]["versions"] == wanted
    if policy == "newest:2":
        versions(models, tmp_path / "staged", v9="mlp.onnx", v8="mlp.onnx")
        (tmp_path / "staged" / "9").rename(net / "9")
        (tmp_path / "staged" / "8").rename(net / "8")
        server.wait_for("version 2 is no longer served")
        server.wait_for("version 4 is no longer served")
        assert server.ask("GET", "/v2/models/net")[1]["versions"] == ["8", "9"]
    if policy == "all":
        shutil.rmtree(net / "2")
        server.wait_for("version 2 is no longer served")
        assert server.ask("GET", "/v2/models/net")[1]["versions"] == ["1", "4"] and server.ask("GET", "/v2/models/net/versions/2")[0] == 404


def test_a_folder_is_watched(serve, models, tmp_path):
    folder = tmp_path / "all"
    folder.mkdir()
    shutil.copy(models / "mlp.onnx", folder / "one.onnx")
    server = serve(folder, "--poll", "0.1")
    names = lambda: {m["name"] for m in server.ask("GET", "/v2/models")[1]["models"]}
    assert names() == {"one"}
    shutil.copy(models / "centred.onnx", tmp_path / "two")
    os.replace(tmp_path / "two", folder / "two.onnx")
    server.wait_for("model two version 1 is ready")
    assert server.infer("two", x=X) and names() == {"one", "two"}
    (folder / "one.onnx").unlink()
    server.wait_for("model one version 1 is no longer served")
    assert names() == {"two"} and server.ask("GET", "/v2/models/one")[0] == 404 and server.ask("GET", "/v2/health/ready")[0] == 200
    shutil.copy(models / "mlp.onnx", tmp_path / "one")
    os.replace(tmp_path / "one", folder / "one.onnx") # comes back
    server.wait_for("model one is no longer among the models")
    until = time.monotonic() + WAIT
    while server.ask("GET", "/v2/models/one/ready")[0] != 200:
        assert time.monotonic() < until
    assert server.infer("one", x=X)


def test_hup_reads_the_configuration_again(serve, models, tmp_path):
    for name in ("a", "b", "c"):
        shutil.copy(models / "mlp.onnx", tmp_path / f"{name}.onnx")
    config = write(tmp_path / "serve.json", {"models": [{"path": "a.onnx"}, {"path": "b.onnx", "max_batch": 4}]})
    server = serve("--config", config, "--port", "0")
    assert server.ask("GET", "/v2/models/b")[1]["max_batch"] == 4
    write(config, {"models": [{"path": "b.onnx", "max_batch": 2}, {"path": "c.onnx"}]})
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("the configuration was read again")
    assert {m["name"] for m in server.ask("GET", "/v2/models")[1]["models"]} == {"b", "c"}
    assert server.ask("GET", "/v2/models/b")[1]["max_batch"] == 2 and server.infer("c", x=X) and server.ask("GET", "/v2/models/a")[0] == 404
    config.write_text('{\n"models": [\n{"path": 3]}')
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("serve.json:3: ")
    assert server.infer("c", x=X) # nothing changed


@pytest.mark.parametrize("text, wanted", [
    ('{"port": 0,\n "modells": []}', "serve.json:2: JSON, byte"),
    ('{"port": 0,\n "modells": []}', "'modells' is no setting; there are: models, host, port"),
    ('{\n\n"max_batch": 0,\n"models": [{"path": "mlp.onnx"}]}', "serve.json:3: max_batch is '0'"),
    ('{"models": [\n{"path": "mlp.onnx",\n"max_batch": "many"}]}', "serve.json:3: max_batch is 'many', it must be a whole number from 1 to 1024"),
    ('{"models": [\n{"path": "mlp.onnx",\n"max_bach": 4}]}', "'max_bach' is no setting of a model"),
    ('{"models": [\n{"name": "mlp"}]}', "serve.json:2: JSON, byte 28: the model that ends here has no path"),
    ('{"models": [{"path": "mlp.onnx", "versions": "latest"}]}', "versions is 'latest', it must be newest"),
    ('{"models": [{"path": "mlp.onnx", "labels": {"stable": "one"}}]}', "label 'stable' is not the number of a version"),
    ('{"models": [{"path": "mlp.onnx", "warm_up": ["x:4y5"]}]}', "warm_up has 'y5' behind the shape of input 'x'"),
    ('{"models": [{"path": "mlp.onnx", "warm_up": ["y:1x4"]}]}', "the model has no input 'y'"),
    ('{"models": [{"path": "mlp.onnx"}, {"path": "mlp.onnx"}]}', "there is a model 'mlp' already"),
    ('{"models": [{"path": "none.onnx"}]}', "none.onnx"),
    ('{"port": 1,\n"port": 2}', "serve.json:2: JSON, byte 19: port is given twice"),
    ('{"strict": "yes", "models": [{"path": "mlp.onnx"}]}', "serve.json:1: strict is 'yes', it must be true or false"),
    ('{"key": "k.pem", "models": [{"path": "mlp.onnx"}]}', "--cert"),
    ('{}', "there is no model to serve"),
])
def test_wrong_configurations(models, tmp_path, text, wanted):
    shutil.copy(models / "mlp.onnx", tmp_path)
    (tmp_path / "serve.json").write_text(text)
    done = run("--check", "--config", tmp_path / "serve.json")
    assert done.returncode in (1, 2) and wanted in done.stderr, done.stderr


def test_check(models, tmp_path):
    shutil.copy(models / "mlp.onnx", tmp_path)
    config = write(tmp_path / "serve.json", {"models": [{"path": "mlp.onnx", "warm_up": ["x:1x4", "x:3x4"]}]})
    done = run("--check", "--config", config)
    assert done.returncode == 0 and done.stdout == "all is well\n", done
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x07\xff\xff")
    done = run("--check", "--config", config, tmp_path / "broken.onnx")
    assert done.returncode == 1 and "broken.onnx" in done.stderr


@pytest.mark.parametrize("words, wanted", [(["other.max_batch=2"], "no model 'other' is given"), (["mlp.max_bach=2"], "no setting of a model"), (["mlp"], "MODEL.KEY=VALUE"),
                                           (["mlp.max_batch=0"], "max_batch is '0'"), (["mlp.instances=17"], "instances is '17'")])
def test_wrong_settings(models, words, wanted):
    done = run(models / "mlp.onnx", "--port", "0", *(f"--set={w}" for w in words))
    assert done.returncode == 2 and wanted in done.stderr, done


def test_encrypted_models(serve, models, tmp_path):
    key = tmp_path / "key"
    key.write_text("0123456789abcdef\n")
    subprocess.run([SPORE, "encrypt", models / "mlp1.mindir", tmp_path / "secret.mindir", "--key-file", key], check=True, capture_output=True, timeout=WAIT)
    server = serve(tmp_path / "secret.mindir", models / "mlp.onnx", "--set", f"secret.key_file={key}")
    x = np.arange(4, dtype=np.float32).reshape(1, 4)
    found, wanted = list(server.infer("secret", input_data=x).values())[0], server.infer("mlp", x=x)["output"]
    assert np.allclose(found, wanted, atol=1e-5)
    assert "0123456789abcdef" not in server.errors()


def test_instances_run_at_the_same_time(serve, models):
    """Requests that cannot be joined wait for each other where there is one instance, and not where there is one for each."""
    def waited(n):
        server = serve(models / "slow.onnx", "--max-batch", "1", "--set", f"slow.instances={n}")
        results = in_threads([lambda: server.ask("POST", "/v2/models/slow/infer", slow_body(*[3] * 4)) for _ in range(4)])
        assert all(status == 200 and reply["outputs"][0]["data"] == [6.0] * 4 for status, reply in results)
        assert server.metric("spore_batch_rows_count", model="slow") == 4
        share = server.metric("spore_queue_seconds_sum", model="slow") / server.metric("spore_run_seconds_sum", model="slow")
        assert server.stop() == 0
        return share
    one, four = waited(1), waited(4)
    assert one > 1 and four < one / 2, (one, four)


def test_settings_of_one_model_alone(serve, models):
    server = serve(models / "mlp.onnx", f"other={models / 'mlp.onnx'}", "--set", "other.max-batch=2", "--set", "mlp.timeout=0.002", "--max-delay", "200")
    assert server.ask("GET", "/v2/models/mlp")[1]["max_batch"] == 8 and server.ask("GET", "/v2/models/other")[1]["max_batch"] == 2
    assert server.ask("POST", "/v2/models/other/infer", request(x=X))[0] == 200
    status, reply = server.ask("POST", "/v2/models/mlp/infer", request(x=X)) # waits for others for longer than it may
    assert status == 504, reply

# SPDX-License-Identifier: Apache-2.0
"""Start, reload and end of a server."""
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import time

import numpy as np
import pytest
from conftest import SPORE, WAIT, request
from test_queue import ROWS, occupy

X = np.ones((1, 4), np.float32)


def test_term_answers_what_is_under_way(serve, models):
    server = serve(models / "slow.onnx")
    busy = occupy(server)
    idle = server.connect()
    idle.request("GET", "/v2/health/ready")
    assert idle.getresponse().read() == b'{"ready":true}\n'
    server.process.send_signal(signal.SIGTERM)
    reply = busy.getresponse()
    assert reply.status == 200 and json.loads(reply.read())["outputs"][0]["data"] == [14.0] * ROWS and reply.getheader("connection") == "close"
    assert server.process.wait(WAIT) == 0 and server.errors().endswith("stopped\n")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port))


def test_second_signal_ends_it_now(serve, models):
    server = serve(models / "mlp.onnx")
    half = socket.create_connection(("127.0.0.1", server.port))
    half.sendall(b"POST /v2/models/mlp/infer HTTP/1.1\r\n")
    time.sleep(0.1)
    server.process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    assert server.process.poll() is None # waits for the request to come
    assert server.stop() == 0
    half.close()


def test_drain_has_an_end(serve, models):
    server = serve(models / "mlp.onnx", "--drain", "1", "--receive-timeout", "1000")
    with socket.create_connection(("127.0.0.1", server.port)) as half:
        half.sendall(b"POST /v2/models/mlp/infer HTTP/1.1\r\n")
        time.sleep(0.1)
        assert server.stop() == 0


def versions(models, folder, *numbers):
    for n in numbers:
        (folder / "net" / str(n)).mkdir(parents=True)
        shutil.copy(models / "mlp.onnx", folder / "net" / str(n) / "model.onnx")
    return folder / "net"


def test_newer_versions_take_over(serve, models, tmp_path):
    net = versions(models, tmp_path, 1, 3)
    server = serve(net, "--poll", "0.1")
    assert server.ask("GET", "/v2/models/net")[1]["versions"] == ["3"]
    (tmp_path / "staged").mkdir()
    shutil.copy(models / "centred.onnx", tmp_path / "staged" / "other.onnx")
    (tmp_path / "staged").rename(net / "10")
    server.wait_for("version 10 is ready")
    assert not server.infer("net", x=X)["output"].any()
    assert server.ask("GET", "/v2/models/net/versions/3")[0] == 404
    assert server.metric("spore_model_version", model="net") == 10
    server.wait_for("version 3 is no longer served")


def test_versions_stay_while_no_folder_can_be_opened(serve, models, tmp_path):
    """A server without descriptors to look into its folder goes on with what it has."""
    net = versions(models, tmp_path, 1, 2)
    server = serve(net, "--set", "net.versions=newest:2", "--poll", "0.1")
    taken = set(map(int, os.listdir(f"/proc/{server.process.pid}/fd")))
    free = min(set(range(len(taken) + 1)) - taken)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (free, 1 << 12))
    time.sleep(1)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (1 << 12, 1 << 12))
    assert server.ask("GET", "/v2/models/net")[1]["versions"] == ["1", "2"], server.errors()
    assert "no longer" not in server.errors()


def test_a_broken_version_is_told_and_the_old_one_stays(serve, models, tmp_path):
    net = versions(models, tmp_path, 1)
    server = serve(net, "--poll", "0.1")
    (net / "2").mkdir()
    server.wait_for("holds no model")
    (net / "2" / "model.onnx").write_bytes(b"\x08\x07broken")
    server.wait_for("2/model.onnx")
    time.sleep(0.5)
    assert server.errors().count("2/model.onnx") == 1 # told once
    assert server.infer("net", x=X) and server.ask("GET", "/v2/health/ready")[0] == 200
    assert server.metric("spore_model_loads_total", model="net", outcome="failed") == 1
    shutil.copy(models / "mlp.onnx", tmp_path / "good")
    os.replace(tmp_path / "good", net / "2" / "model.onnx")
    server.wait_for("version 2 is ready")


def test_a_replaced_file_is_loaded_again(serve, models, tmp_path):
    shutil.copy(models / "mlp.onnx", tmp_path / "net.onnx")
    server = serve(tmp_path / "net.onnx", "--poll", "0.1")
    assert server.infer("net", x=X)["output"].any()
    shutil.copy(models / "centred.onnx", tmp_path / "new")
    os.replace(tmp_path / "new", tmp_path / "net.onnx")
    server.wait_for("no longer served")
    assert not server.infer("net", x=X)["output"].any()


def test_no_request_is_lost_while_versions_change(serve, models, tmp_path, mlp):
    net = versions(models, tmp_path, 1)
    server = serve(net, "--poll", "0.05")
    c = server.connect()
    until, seen, n = time.monotonic() + WAIT, set(), 1
    while len(seen) < 4 and time.monotonic() < until:
        c.request("POST", "/v2/models/net/infer", json.dumps(request(x=X)))
        r = c.getresponse()
        reply = json.loads(r.read())
        assert r.status == 200, reply
        if reply["model_version"] not in seen:
            seen.add(reply["model_version"])
            n += 1
            versions(models, tmp_path, n)
    c.close()
    assert len(seen) == 4


def test_a_folder_of_models(serve, models, tmp_path):
    versions(models, tmp_path / "all", 2)
    shutil.copy(models / "centred.onnx", tmp_path / "all" / "centred.onnx")
    (tmp_path / "all" / "notes.txt").write_text("nothing")
    server = serve(tmp_path / "all")
    assert server.ask("GET", "/v2/models/net")[1]["versions"] == ["2"] and server.ask("GET", "/v2/models/centred")[0] == 200


@pytest.mark.parametrize("arguments, code, text", [
    ([], 2, "0 arguments given, 1 wanted"),
    (["none.onnx"], 1, "none.onnx"),
    (["EMPTY"], 1, "holds no models"),
    (["BROKEN"], 1, "broken.onnx"),
    (["MLP", "MLP"], 1, "there is a model 'mlp' already"),
    (["MLP", "--port", "70000"], 2, "--port is '70000'"),
    (["MLP", "--max-batch", "0"], 2, "--max-batch is '0'"),
    (["MLP", "--log", "xml"], 2, "line, json or none"),
    (["MLP", "--cert", "none.pem", "--key", "none.pem"], 1, "none.pem"),
    (["MLP", "--host", "not an address"], 1, "not an address"),
    # What would have no effect.
    (["MLP", "--key", "some.pem"], 1, "--cert"),
    (["MLP", "--client-ca", "some.pem"], 1, "--cert"),
    (["MLP", "--client-ca", "some.pem", "--key", "some.pem"], 1, "--cert"),
    (["MLP", "--cert", "some.pem"], 1, "--key"),
    (["MLP", "--port", "none", "--unix", "SOCKET", "--cert", "some.pem", "--key", "some.pem"], 1, "--port none"),
    (["MLP", "--port", "none", "--unix", "SOCKET", "--host", "127.0.0.1"], 1, "--port none"),
    (["MLP", "--port", "none"], 1, "neither a port nor a socket"),
    (["MLP", "--unix", ""], 1, "empty"),
    (["MLP", "--cert", "", "--key", "some.pem"], 1, "empty"),
    (["MLP", "--max-batch", "1", "--max-delay", "5"], 1, "--max-batch"),
    (["MLP", "--max-batch", "1", "--trust-batch"], 1, "--max-batch"),
    (["MLP", "--max-body", "8", "--max-memory", "4"], 1, "--max-memory"),
    (["MLP", "--port", "8000.5"], 2, "--port is '8000.5'"),
    (["MLP", "--max-queue", "1.5"], 2, "--max-queue is '1.5'"),
    (["MLP", "--max-delay", "0.0001"], 2, "--max-delay is '0.0001'"),
])
def test_what_cannot_be_served(models, tmp_path, arguments, code, text):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x07\xff\xff")
    names = {"SOCKET": tmp_path / "socket", "EMPTY": tmp_path / "empty", "BROKEN": tmp_path / "broken.onnx", "MLP": models / "mlp.onnx"}
    arguments = [str(names.get(a, a)) for a in arguments] + ([] if "--port" in arguments else ["--port", "0"])
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([SPORE, "serve", *arguments], capture_output=True, text=True, timeout=WAIT, env=env, check=False)
    assert done.returncode == code and text in done.stderr, done


def test_a_port_that_is_taken(serve, models):
    server = serve(models / "mlp.onnx")
    second = serve(models / "mlp.onnx", "--port", str(server.port), wait=False)
    assert second.process.wait(WAIT) == 1 and "choose another with --port" in second.errors()


def test_access_log(serve, models):
    server = serve(models / "mlp.onnx", "--log", "json")
    server.infer("mlp", x=X)
    server.ask("GET", "/a\"b%0a")
    server.stop()
    lines = [json.loads(line) for line in server.access.read_text().splitlines()]
    assert [(e["method"], e["path"], e["status"]) for e in lines] == [("POST", "/v2/models/mlp/infer", 200), ("GET", '/a"b%0a', 404)]
    assert lines[0]["bytes_in"] > 0 and lines[0]["bytes_out"] > 0 and lines[0]["ms"] > 0


def test_it_starts_with_the_newest_version_that_is_good(serve, models, tmp_path):
    net = versions(models, tmp_path, 1, 2, 4)
    (net / "4" / "model.onnx").write_bytes(b"\x08\x07broken")
    (net / "5").mkdir()
    server = serve(net, "--poll", "0.1")
    assert server.ask("GET", "/v2/models/net")[1]["versions"] == ["2"] and server.infer("net", x=X)
    text = server.errors()
    assert "error: " in text and "4/model.onnx" in text and "version 2" in text
    status, ready = server.ask("GET", "/v2/health/ready")
    assert status == 200 and ready["ready"] is True and "5" in ready["degraded"]["net"]
    assert server.ask("GET", "/v2/models")[1]["models"][0]["degraded"] == ready["degraded"]["net"]
    assert server.metric("spore_model_degraded", model="net") == 1
    time.sleep(0.5)
    assert server.errors().count("4/model.onnx") == text.count("4/model.onnx") # told once
    shutil.copy(models / "mlp.onnx", tmp_path / "good")
    os.replace(tmp_path / "good", net / "5" / "model.onnx")
    server.wait_for("version 5 is ready")
    assert server.ask("GET", "/v2/health/ready") == (200, {"ready": True}) and server.metric("spore_model_degraded", model="net") == 0


def test_no_version_that_is_good(models, tmp_path):
    net = versions(models, tmp_path, 1, 2)
    for n in (1, 2):
        (net / str(n) / "model.onnx").write_bytes(b"\x08\x07broken")
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([SPORE, "serve", net, "--port", "0"], capture_output=True, text=True, timeout=WAIT, env=env, check=False)
    assert done.returncode == 1 and "2/model.onnx" in done.stderr, done


def test_a_running_server_falls_back_only_where_its_version_is_gone(serve, models, tmp_path):
    net = versions(models, tmp_path, 1, 2)
    server = serve(net, "--poll", "0.1")
    (tmp_path / "broken").write_bytes(b"\x08\x07broken")
    os.replace(tmp_path / "broken", net / "2" / "model.onnx")
    server.wait_for("2/model.onnx: ")
    assert server.ask("GET", "/v2/models/net")[1]["versions"] == ["2"] and server.infer("net", x=X) # in memory it is as good as ever
    shutil.rmtree(net / "2")
    server.wait_for("version 1 is ready")


def test_term_while_a_model_is_loaded(serve, models):
    server = serve(models / "slow.onnx", "--max-batch", "1024", wait=False) # trying it out takes minutes
    time.sleep(1)
    began = time.monotonic()
    assert server.stop() == 0 and time.monotonic() - began < 10
    assert "is ready" not in server.errors()


def test_term_while_a_newer_version_is_loaded(serve, models, tmp_path):
    net = versions(models, tmp_path, 1)
    server = serve(net, "--poll", "0.1", "--max-batch", "1024")
    (tmp_path / "staged").mkdir()
    shutil.copy(models / "slow.onnx", tmp_path / "staged" / "slow.onnx")
    (tmp_path / "staged").rename(net / "2")
    time.sleep(1)
    began = time.monotonic()
    assert server.stop() == 0 and time.monotonic() - began < 10
    assert "version 2" not in server.errors()


def test_a_socket_that_is_answered_is_not_taken(serve, models, tmp_path):
    path = tmp_path / "socket"
    first = serve(models / "mlp.onnx", "--unix", str(path))
    second = serve(models / "mlp.onnx", "--unix", str(path), wait=False)
    assert second.process.wait(WAIT) == 1 and "another process listens" in second.errors()
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(path))
        s.sendall(b"GET /v2/health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b"200" in s.recv(4096)
    first.process.kill() # leaves it behind
    first.process.wait()
    third = serve(models / "mlp.onnx", "--unix", str(path))
    path.unlink()
    path.write_text("another's")
    assert third.stop() == 0 and path.read_text() == "another's"


def test_drain_takes_fractions(serve, models):
    server = serve(models / "mlp.onnx", "--drain", "0.7", "--receive-timeout", "1000")
    with socket.create_connection(("127.0.0.1", server.port)) as half:
        half.sendall(b"POST /v2/models/mlp/infer HTTP/1.1\r\n")
        time.sleep(0.1)
        began = time.monotonic()
        assert server.stop() == 0 and 0.6 < time.monotonic() - began < 5

# SPDX-License-Identifier: Apache-2.0
"""The end of a server: clients are told to go, none of their requests is lost; signals, systemd, sockets that are handed over."""
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

import http2
import numpy as np
import pytest
from conftest import SPORE, WAIT, request
from test_queue import ROWS, occupy, slow_body

X = np.ones((1, 4), np.float32)
BODY = json.dumps(request(x=X)).encode()
INFER = b"POST /v2/models/mlp/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY


def read_reply(s):
    """(status, headers in lower case, body) of one HTTP/1.1 reply; None: the connection ended before it."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = s.recv(65536)
        if not more:
            assert not data, data
            return None
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    lines = head.decode().lower().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    while len(body) < int(headers["content-length"]):
        body += s.recv(65536)
    return int(lines[0].split()[1]), headers, body


def keep_asking(port, stop, counts):
    """Requests on one connection, until the server says that it ends; then on another, until nobody listens any more."""
    while not stop.is_set():
        try:
            s = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
        except ConnectionRefusedError:
            return
        with s:
            try:
                while not stop.is_set():
                    s.sendall(INFER)
                    reply = read_reply(s)
                    counts["lost" if reply is None else reply[0]] = counts.get("lost" if reply is None else reply[0], 0) + 1
                    if reply is None or reply[1].get("connection") == "close":
                        break
            except OSError as e:
                counts["lost"] = counts.get("lost", 0) + 1
                counts["why"] = repr(e)


def stop_under_load(server, n_clients):
    """Counts of replies by status."""
    stop, all_counts = threading.Event(), [{} for _ in range(n_clients)]
    clients = [threading.Thread(target=keep_asking, args=(server.port, stop, c)) for c in all_counts]
    for c in clients:
        c.start()
    time.sleep(0.3)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(WAIT) == 0
    for c in clients:
        c.join(WAIT)
    stop.set()
    total = {}
    for c in all_counts:
        for k, v in c.items():
            total[k] = total.get(k, 0) + v if k != "why" else v
    return total


def test_no_request_of_busy_connections_is_lost(serve, models):
    total = stop_under_load(serve(models / "mlp.onnx", "--log", "none"), 16)
    assert set(total) == {200} and total[200] > 50, total


@pytest.mark.long
def test_no_request_is_lost_in_a_hundred_ends(serve, models):
    for _ in range(100):
        total = stop_under_load(serve(models / "mlp.onnx", "--log", "none"), 64)
        assert set(total) == {200}, total


def test_a_lame_duck_answers_and_is_not_ready(serve, models):
    server = serve(models / "mlp.onnx", "--lame-duck", "3")
    held = server.connect()
    held.request("GET", "/v2/health/live")
    assert held.getresponse().read()
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    while True: # new connections are taken, too
        c = server.connect()
        c.request("GET", "/v2/health/ready")
        r = c.getresponse()
        r.read()
        if r.status == 503:
            break
        assert time.monotonic() - began < WAIT
    assert r.getheader("connection") == "close"
    held.request("POST", "/v2/models/mlp/infer", BODY)
    r = held.getresponse()
    assert r.status == 200 and r.read() and r.getheader("connection") == "close"
    assert server.process.wait(WAIT) == 0 and time.monotonic() - began > 2.9


def test_goaway_comes_first(serve, models):
    """HTTP/2: a notice that more requests should go elsewhere, while those that still come are answered."""
    server = serve(models / "mlp.onnx", "--lame-duck", "2")
    with http2.Http2(server.port) as c:
        assert c.ask("GET", "/v2/health/live")[0][":status"] == "200"
        server.process.send_signal(signal.SIGTERM)
        while not c.goaways:
            c.receive()
        assert c.goaways == [2**31 - 1]
        assert c.ask("GET", "/v2/health/live")[0][":status"] == "200"
        assert c.ask("GET", "/v2/health/ready")[0][":status"] == "503"
    assert server.process.wait(WAIT) == 0


def test_what_is_left_after_the_drain_gets_503(serve, models):
    server = serve(models / "slow.onnx", "--lame-duck", "0", "--drain", "0.2", "--max-batch", "1")
    busy = [occupy(server)]
    for _ in range(15): # a fast machine computes several of them before the drain is over
        c = server.connect()
        c.request("POST", "/v2/models/slow/infer", json.dumps(slow_body(*[7] * ROWS)))
        busy.append(c)
    half = socket.create_connection(("127.0.0.1", server.port), timeout=WAIT)
    half.sendall(b"POST /v2/models/slow/infer HTTP/1.1\r\nHost: x\r\n")
    time.sleep(0.2)
    server.process.send_signal(signal.SIGTERM)
    assert read_reply(half)[0] == 503
    half.close()
    statuses = []
    for c in busy:
        r = c.getresponse()
        body = json.loads(r.read())
        statuses.append(r.status)
        assert r.status == 200 or "being stopped" in body["error"]
        c.close()
    assert 503 in statuses
    assert server.process.wait(WAIT) == 0 and "(--drain); they were answered with 503" in server.errors()


def test_a_bad_model_keeps_no_other_from_being_served(serve, models, tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x07\xff\xff")
    server = serve(tmp_path / "broken.onnx", models / "mlp.onnx", tmp_path / "none.onnx", "--poll", "0.1")
    assert server.infer("mlp", x=X)
    status, ready = server.ask("GET", "/v2/health/ready")
    assert status == 200 and ready["ready"] is True and set(ready["unavailable"]) == {"broken", "none"} and "broken.onnx" in ready["unavailable"]["broken"]
    listed = {m["name"]: m for m in server.ask("GET", "/v2/models")[1]["models"]}
    assert listed["mlp"]["ready"] is True and listed["broken"]["ready"] is False and "broken.onnx" in listed["broken"]["unavailable"]
    status, reply = server.ask("POST", "/v2/models/broken/infer", request(x=X))
    assert status == 503 and "broken.onnx" in reply["error"]
    assert server.ask("GET", "/v2/models/broken/ready")[0] == 503
    assert server.metric("spore_model_available", model="broken") == 0 and server.metric("spore_model_available", model="mlp") == 1
    (tmp_path / "new").write_bytes((models / "mlp.onnx").read_bytes())
    os.replace(tmp_path / "new", tmp_path / "none.onnx") # it is looked for again
    server.wait_for("model none version 1 is ready")
    assert server.infer("none", x=X) and set(server.ask("GET", "/v2/health/ready")[1]["unavailable"]) == {"broken"}


def test_strict_ends_it(models, tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x07\xff\xff")
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([SPORE, "serve", models / "mlp.onnx", tmp_path / "broken.onnx", "--strict", "--port", "0"], capture_output=True, text=True, timeout=WAIT, env=env, check=False)
    assert done.returncode == 1 and "broken.onnx" in done.stderr


class Manager:
    """What systemd is to a service: a datagram socket that is told its state."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.settimeout(WAIT)
        self.seen = []

    def wait_for(self, text):
        while not any(text in s for s in self.seen):
            self.seen.append(self.socket.recv(4096).decode())


def test_systemd_is_told(serve, models, tmp_path, monkeypatch):
    manager = Manager(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    monkeypatch.setenv("WATCHDOG_USEC", "200000")
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    server = serve(models / "mlp.onnx")
    manager.wait_for("READY=1")
    assert not any("STOPPING" in s for s in manager.seen)
    manager.seen.clear()
    manager.wait_for("WATCHDOG=1")
    manager.seen.clear()
    server.process.send_signal(signal.SIGHUP)
    manager.wait_for("RELOADING=1\nMONOTONIC_USEC=")
    manager.wait_for("READY=1")
    server.process.send_signal(signal.SIGTERM)
    manager.wait_for("STOPPING=1")
    assert server.process.wait(WAIT) == 0
    manager.socket.close()


def test_sockets_that_are_handed_over(models, tmp_path):
    """As systemd does it: open descriptors from 3 on; they stay open when the server ends."""
    tcp, local = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
    local.bind(str(tmp_path / "socket"))
    local.listen()
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    code = f"import os,sys\nos.dup2({tcp.fileno()}, 3) if {tcp.fileno()} != 3 else os.set_inheritable(3, True)\nos.dup2({local.fileno()}, 4)\n" \
           f"os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='2')\nos.execv({str(SPORE)!r}, ['spore', 'serve', {str(models / 'mlp.onnx')!r}])"
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen([sys.executable, "-c", code], pass_fds=(tcp.fileno(), local.fileno()), stdout=log, stderr=log, env=env)
    try:
        with socket.create_connection(tcp.getsockname(), timeout=WAIT) as s: # waits in the socket until the server is there
            s.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            assert read_reply(s)[0] == 200
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(WAIT)
            s.connect(str(tmp_path / "socket"))
            s.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            assert read_reply(s)[0] == 200
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT) == 0, (tmp_path / "log").read_text()
    assert (tmp_path / "socket").exists()
    with socket.create_connection(tcp.getsockname(), timeout=WAIT): # still listened on: for the next one
        pass
    tcp.close()
    local.close()


def make_certificate(folder, name, common_name):
    key, cert = folder / f"{name}.key", folder / f"{name}.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={common_name}",
                    "-keyout", key, "-out", cert], check=True, capture_output=True)
    return cert, key


def common_name(port):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s, context.wrap_socket(s) as t:
        return t.getpeercert(binary_form=True)


def test_hup_reads_certificates_again(serve, models, tmp_path):
    cert, key = make_certificate(tmp_path, "one", "one")
    other_cert, other_key = make_certificate(tmp_path, "two", "two")
    server = serve(models / "mlp.onnx", "--cert", cert, "--key", key)
    before = common_name(server.port)
    os.replace(other_key, key)
    cert.write_bytes(b"-----BEGIN nothing")
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("the certificate before it stays")
    assert common_name(server.port) == before
    os.replace(other_cert, cert)
    server.process.send_signal(signal.SIGHUP)
    until = time.monotonic() + WAIT
    while common_name(server.port) == before:
        assert time.monotonic() < until


def test_the_wrong_kind_of_port(serve, models, tmp_path):
    cert, key = make_certificate(tmp_path, "one", "one")
    server = serve(models / "mlp.onnx", "--cert", cert, "--key", key)
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as s:
        s.sendall(b"GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n")
        status, _, body = read_reply(s)
        assert status == 400 and b"https://" in body
    plain = serve(models / "mlp.onnx")
    with pytest.raises(OSError):
        common_name(plain.port)
    plain.wait_for("speaks TLS")

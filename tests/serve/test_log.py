# SPDX-License-Identifier: Apache-2.0
"""The log never keeps clients waiting: readers that stall, streams that are closed, full disks, terminals that are stopped."""
import contextlib
import fcntl
import http.client
import json
import os
import pty
import re
import signal
import socket
import subprocess
import termios
import time

import pytest
from conftest import SPORE, WAIT

ENV = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Client:
    """One connection to a server that may write its lines anywhere."""

    def __init__(self, port):
        self.port, self.sent = port, 0
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)

    def get(self, path="/v2/health/live"):
        self.connection.request("GET", path)
        reply = self.connection.getresponse()
        self.sent += 1
        return reply.status, reply.read().decode()

    def dropped(self, log):
        _, text = self.get("/metrics")
        return int(float(re.search(rf'^spore_log_lines_dropped_total{{log="{log}"}} (\S+)$', text, re.M)[1]))

    def until_dropped(self, log="access"):
        until = time.monotonic() + WAIT
        while self.dropped(log) == 0:
            assert time.monotonic() < until, "no line was dropped"
            for _ in range(200):
                assert self.get()[0] == 200


@contextlib.contextmanager
def running(model, *options, **streams):
    port = free_port()
    process = subprocess.Popen([SPORE, "serve", str(model), "--port", str(port), *options], env=ENV, **streams)
    try:
        until = time.monotonic() + WAIT
        while True:
            assert process.poll() is None and time.monotonic() < until
            with contextlib.suppress(OSError):
                if Client(port).get("/v2/health/ready")[0] == 200:
                    break
            time.sleep(0.02)
        yield process, Client(port)
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("form", ["line", "json"])
def test_a_reader_that_stalls_stops_nobody(models, tmp_path, form):
    errors = tmp_path / "errors"
    with errors.open("wb") as err, running(models / "mlp.onnx", "--log", form, stdout=subprocess.PIPE, stderr=err) as (process, client):
        client.until_dropped()
        assert client.get("/v2/health/live")[0] == 200
        # Once somebody reads again, lines come again, and one says how many are missing.
        out, rest = process.stdout, b""
        os.set_blocking(out.fileno(), False)
        until = time.monotonic() + WAIT
        while b"dropped" not in rest:
            assert time.monotonic() < until, rest[-1000:]
            rest += out.read() or b""
            client.get()
            time.sleep(0.01)
        os.set_blocking(out.fileno(), True)
        process.send_signal(signal.SIGTERM)
        rest += out.read()
        assert process.wait(WAIT) == 0
    lines = rest.decode().splitlines()
    if form == "json":
        told = sum(json.loads(line).get("dropped", 0) for line in lines)
        requests = sum("path" in json.loads(line) and "health/ready" not in line for line in lines)
    else:
        told = sum(int(m[1]) for m in map(re.compile(r"dropped (\d+) lines").search, lines) if m)
        requests = sum('"GET ' in line and "health/ready" not in line for line in lines)
    assert told > 0 and told + requests == client.sent
    assert "lines of the access log were dropped" in errors.read_text()


def test_term_ends_it_while_nobody_reads(models):
    with running(models / "mlp.onnx", stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as (process, client):
        for _ in range(1500):
            assert client.get()[0] == 200
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT) == 0 and time.monotonic() - began < 10


def test_closed_streams_are_not_taken_for_others(models):
    """A socket or a model that got the number 1 or 2 would have lines written into it."""
    def close():
        os.close(1)
        os.close(2)
    with running(models / "mlp.onnx", preexec_fn=close) as (process, client):
        assert client.get()[0] == 200
        assert [os.readlink(f"/proc/{process.pid}/fd/{n}") for n in (1, 2)] == ["/dev/null"] * 2


def test_a_full_disk_is_counted_and_told(models, tmp_path):
    errors = tmp_path / "errors"
    with open("/dev/full", "wb") as full, errors.open("wb") as err, running(models / "mlp.onnx", stdout=full, stderr=err) as (_, client):
        client.until_dropped()
    assert "lines of the access log were dropped" in errors.read_text()


def test_a_full_disk_for_errors(models, tmp_path):
    with open("/dev/full", "wb") as full, (tmp_path / "access").open("wb") as out, running(models / "mlp.onnx", stdout=out, stderr=full) as (_, client):
        assert client.dropped("events") > 0 and client.dropped("access") == 0


def test_a_reader_that_has_gone(models, tmp_path):
    with (tmp_path / "errors").open("wb") as err, running(models / "mlp.onnx", stdout=subprocess.PIPE, stderr=err) as (process, client):
        process.stdout.close()
        client.until_dropped()
        assert client.get()[0] == 200


def test_a_terminal_that_is_stopped(models, tmp_path):
    ours, theirs = pty.openpty()
    with (tmp_path / "errors").open("wb") as err, running(models / "mlp.onnx", stdout=theirs, stderr=err) as (_, client):
        termios.tcflow(theirs, termios.TCOOFF)
        client.until_dropped()
        termios.tcflow(theirs, termios.TCOON)
        fcntl.fcntl(ours, fcntl.F_SETFL, os.O_NONBLOCK)
        text, until = b"", time.monotonic() + WAIT
        while b"dropped" not in text:
            assert time.monotonic() < until
            with contextlib.suppress(BlockingIOError):
                text += os.read(ours, 65536)
            client.get()
    os.close(ours)
    os.close(theirs)

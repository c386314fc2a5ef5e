# SPDX-License-Identifier: Apache-2.0
"""Other ways in: TLS, certificates of clients, Unix sockets; and the page."""
import http.client
import json
import shutil
import signal
import socket
import ssl
import subprocess

import numpy as np
import pytest
from conftest import WAIT, Server, request
from http2 import Http2

X = np.ones((1, 4), np.float32)


@pytest.fixture(scope="module", name="keys")
def _keys(tmp_path_factory):
    """A folder with two certificates that vouch for themselves: server.pem, client.pem, and their keys."""
    if shutil.which("openssl") is None:
        pytest.skip("the program openssl makes the certificates")
    folder = tmp_path_factory.mktemp("keys")
    for name in ("server", "client"):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem"], check=True, capture_output=True)
    return folder


def context(keys, client=False, alpn=None):
    c = ssl.create_default_context(cafile=keys / "server.pem")
    if client:
        c.load_cert_chain(keys / "client.pem", keys / "client.key")
    if alpn:
        c.set_alpn_protocols(alpn)
    return c


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tls(serve, models, keys, mlp):
    server = serve(models / "mlp.onnx", "--cert", keys / "server.pem", "--key", keys / "server.key")
    assert "ready on https://" in server.errors()
    c = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=WAIT, context=context(keys))
    for _ in range(2):
        c.request("POST", "/v2/models/mlp/infer", json.dumps(request(x=X)))
        r = c.getresponse()
        assert r.status == 200 and np.array(json.loads(r.read())["outputs"][0]["data"], np.float32).tobytes() == mlp(X).tobytes()
    c.close()
    big = np.random.default_rng(1).standard_normal((20000, 4)).astype(np.float32)
    c.request("POST", "/v2/models/mlp/infer", json.dumps(request(x=big)))
    assert len(json.loads(c.getresponse().read())["outputs"][0]["data"]) == 60000
    c.close()
    sock = context(keys, alpn=["h2"]).wrap_socket(socket.create_connection(("127.0.0.1", server.port), timeout=WAIT), server_hostname="127.0.0.1")
    assert sock.selected_alpn_protocol() == "h2"
    with Http2(None, sock) as h2:
        assert h2.grpc("/inference.GRPCInferenceService/ServerLive")[0] == 0
        assert h2.ask("GET", "/v2")[0][":status"] == "200"
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as plain: # no TLS: the connection ends, nothing else
        plain.sendall(b"GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n")
        try:
            assert b"200 OK" not in plain.recv(4096)
        except ConnectionResetError:
            pass
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(OSError):
        old.wrap_socket(socket.create_connection(("127.0.0.1", server.port), timeout=WAIT))
    assert server.stop() == 0


def test_clients_with_certificates(serve, models, keys):
    server = serve(models / "mlp.onnx", "--cert", keys / "server.pem", "--key", keys / "server.key", "--client-ca", keys / "client.pem")
    c = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=WAIT, context=context(keys, client=True))
    c.request("GET", "/v2/health/ready")
    assert c.getresponse().status == 200
    c.close()
    c = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=WAIT, context=context(keys))
    with pytest.raises(OSError):
        c.request("GET", "/v2/health/ready")
        c.getresponse()
    c.close()


def test_wrong_keys_are_named(models, keys, tmp_path):
    server = Server(models / "mlp.onnx", "--cert", keys / "server.pem", "--key", keys / "client.key", folder=tmp_path, wait=False)
    assert server.process.wait(WAIT) == 1 and "client.key cannot be used: it is not the key of the certificate" in server.errors()


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def test_keys_and_certificates_that_cannot_be_used_say_what_to_do(models, keys, tmp_path):
    (tmp_path / "junk.pem").write_text("junk")
    openssl("pkey", "-in", keys / "server.key", "-aes256", "-passout", "pass:secret", "-out", tmp_path / "locked.key")
    for i, (cert, key, wanted) in enumerate([
            (tmp_path / "junk.pem", keys / "server.key", "junk.pem cannot be used: it has no line '-----BEGIN CERTIFICATE-----'"),
            (tmp_path / "none.pem", keys / "server.key", "none.pem cannot be used: No such file or directory"),
            (keys / "server.pem", tmp_path / "junk.pem", "junk.pem cannot be used: it has no line '-----BEGIN PRIVATE KEY-----'"),
            (keys / "server.pem", tmp_path / "locked.key", "locked.key cannot be used: it is encrypted, and nobody is there to be asked for its passphrase")]):
        (tmp_path / str(i)).mkdir()
        server = Server(models / "mlp.onnx", "--cert", cert, "--key", key, folder=tmp_path / str(i), wait=False)
        assert server.process.wait(WAIT) == 1 and wanted in server.errors(), server.errors()


def test_certificates_that_end_are_told(serve, models, tmp_path):
    """At the start, and when they are read again."""
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "5", "-subj", "/CN=localhost")
    server = serve(models / "mlp.onnx", "--cert", cert, "--key", key, wait=False)
    server.wait_for("cert.pem expires in")
    assert "days; put a new one in its place, and send SIGHUP" in server.errors()
    server.wait_for("ready on https")
    openssl("req", "-new", "-key", key, "-out", tmp_path / "request", "-subj", "/CN=localhost")
    (tmp_path / "index").write_text("")
    (tmp_path / "ca.conf").write_text(f"[ca]\ndefault_ca=c\n[c]\ndatabase={tmp_path}/index\nnew_certs_dir={tmp_path}\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n")
    openssl("ca", "-batch", "-config", tmp_path / "ca.conf", "-selfsign", "-keyfile", key, "-in", tmp_path / "request", "-out", cert, "-startdate", "20200101000000Z", "-enddate", "20200102000000Z")
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("cert.pem has expired")
    openssl("req", "-x509", "-key", key, "-out", cert, "-days", "100", "-subj", "/CN=localhost")
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("certificates were read again")
    assert server.stop() == 0


def test_what_to_do_where_nobody_can_listen(models, serve, tmp_path):
    server = serve(models / "mlp.onnx")
    for i, (words, wanted) in enumerate([(("--port", server.port), "another process listens there ('ss -ltnp' tells which)"),
                                         (("--port", "0", "--host", "192.0.2.1"), "no interface of this machine has that address"),
                                         (("--port", "none", "--unix", tmp_path / "none" / "socket"), "its folder must be there before")]):
        (tmp_path / f"s{i}").mkdir()
        other = Server(models / "mlp.onnx", *words, folder=tmp_path / f"s{i}", wait=False)
        assert other.process.wait(WAIT) == 1 and wanted in other.errors(), other.errors()


def test_unix_socket(models, tmp_path):
    path = tmp_path / "spore.sock"
    path.parent.joinpath("other").write_text("not a socket")
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(path)) # as a killed server leaves it
    stale.close()
    with Server(models / "mlp.onnx", "--unix", path, "--port", "none", folder=tmp_path, wait=False) as server:
        server.wait_for(f"ready on {path}")
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(WAIT)
            s.connect(str(path))
            s.sendall(b"GET /v2/models/mlp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert b"spore_onnx" in s.recv(65536)
        assert server.stop() == 0 and not path.exists()
    refused = Server(models / "mlp.onnx", "--unix", tmp_path / "other", "--port", "none", folder=tmp_path, wait=False)
    assert refused.process.wait(WAIT) == 1 and "is no socket" in refused.errors() and (tmp_path / "other").exists()


def test_page(serve, models):
    server = serve(models / "mlp.onnx")
    c = server.connect()
    c.request("GET", "/")
    r = c.getresponse()
    assert r.status == 200 and r.getheader("content-type") == "text/html; charset=utf-8" and "script-src" in r.getheader("content-security-policy")
    assert b"/v2/models" in r.read()
    c.close()
    assert server.ask("GET", "/", headers={"Accept": "text/html,*/*;q=0.8"})[1].startswith(b"<!")
    assert server.ask("GET", "/", headers={"Accept": "*/*"}) == (200, {"status": "alive"}) # KServe v1's question
    assert server.ask("GET", "/v2/models") == (200, {"models": [{"name": "mlp", "version": "1", "ready": True}]})

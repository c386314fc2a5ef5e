# SPDX-License-Identifier: Apache-2.0
"""Triton's shared memory extension: regions of /dev/shm and memfds as inputs and outputs, over REST and gRPC, and what clients do wrong with them."""
import json
import os
import pathlib
import socket
import threading

import http2
import numpy as np
import pytest
from conftest import Server, request
from http2 import fields, message

SERVICE = "/inference.GRPCInferenceService/"
X = np.array([[0.5, 1, -1.5, 2], [1, 2, 3, 4]], np.float32)
ROOM = X.nbytes + 24 # for the outputs of mlp, too
SHM = pathlib.Path("/dev/shm")


@pytest.fixture(scope="module", name="server")
def _server(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    with Server(models / "mlp.onnx", "--max-body", "1", "--unix", folder / "socket", folder=folder) as s:
        s.socket = folder / "socket"
        yield s


@pytest.fixture
def shm(request):
    """A file of /dev/shm that holds X and room for the outputs."""
    path = SHM / f"spore-test-{os.getpid()}-{abs(hash(request.node.name)) % 100000}"
    path.write_bytes(X.tobytes() + bytes(24))
    yield path
    path.unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _empty(server):
    yield
    assert server.ask("POST", "/v2/systemsharedmemory/unregister")[0] == 200


def register(server, name, key, offset=0, byte_size=ROOM):
    return server.ask("POST", f"/v2/systemsharedmemory/region/{name}/register", {"key": key, "offset": offset, "byte_size": byte_size})


def part(name, bytes_, offset=None):
    return {"shared_memory_region": name, "shared_memory_byte_size": bytes_, **({} if offset is None else {"shared_memory_offset": offset})}


def body(into=None, from_=None):
    """An infer request whose input comes from a region, and whose output goes into one."""
    asked = request(x=X)
    if from_:
        asked["inputs"][0] = {"name": "x", "shape": [2, 4], "datatype": "FP32", "parameters": from_}
    asked["outputs"] = [{"name": "output", **({"parameters": into} if into else {})}]
    return asked


def infer(server, **keywords):
    return server.ask("POST", "/v2/models/mlp/infer", body(**keywords))


def test_in_and_out(server, shm, mlp):
    assert register(server, "both", "/" + shm.name) == (200, {})
    assert server.ask("GET", "/v2/systemsharedmemory/status")[1] == [{"name": "both", "key": "/" + shm.name, "offset": 0, "byte_size": ROOM}]
    assert server.ask("GET", "/v2/systemsharedmemory/region/both/status")[1][0]["name"] == "both"
    status, reply = infer(server, from_=part("both", 32), into=part("both", 24, 32))
    assert status == 200 and reply["outputs"] == [{"name": "output", "datatype": "FP32", "shape": [2, 3], "parameters": {
        "shared_memory_region": "both", "shared_memory_offset": 32, "shared_memory_byte_size": 24}}]
    assert shm.read_bytes()[32:] == mlp(X).tobytes() and shm.read_bytes()[:32] == X.tobytes()
    assert server.ask("POST", "/v2/systemsharedmemory/region/both/unregister")[0] == 200
    assert server.ask("GET", "/v2/systemsharedmemory/status")[1] == []
    assert infer(server, from_=part("both", 32))[0] == 400


def test_a_part_of_a_file(server, shm, mlp):
    """An offset of the region counts from that of its registration."""
    shm.write_bytes(bytes(100) + X.tobytes() + bytes(24))
    assert register(server, "part", shm.name, 96, 60)[0] == 200 # a key without the slash is the same
    status, _ = infer(server, from_=part("part", 32, 4), into=part("part", 24, 36))
    assert status == 200 and shm.read_bytes()[132:] == mlp(X).tobytes()


def test_beside_a_binary_output(server, shm, mlp):
    assert register(server, "in", shm.name)[0] == 200
    head = json.dumps({**body(from_=part("in", 32)), "outputs": [{"name": "output", "parameters": {"binary_data": True}}]}).encode()
    status, reply = server.ask("POST", "/v2/models/mlp/infer", head, {"Inference-Header-Content-Length": str(len(head))})
    assert status == 200 and reply.endswith(mlp(X).tobytes())


def parameters(number, name, bytes_, offset):
    pairs = (("shared_memory_region", (3, name)), ("shared_memory_byte_size", (2, bytes_)), ("shared_memory_offset", (2, offset)))
    return [(number, message((1, key), (2, message(value)))) for key, value in pairs]


def test_grpc(server, shm, mlp):
    with http2.Http2(server.port) as c:
        assert c.grpc(SERVICE + "SystemSharedMemoryRegister", message((1, "g"), (2, "/" + shm.name), (3, 0), (4, ROOM)))[0] == 0
        for asked in (b"", message((1, "g"))):
            status, _, reply = c.grpc(SERVICE + "SystemSharedMemoryStatus", asked)
            (_, entry), = fields(reply)
            assert status == 0 and fields(dict(fields(entry))[2]) == [(1, b"g"), (2, f"/{shm.name}".encode()), (3, 0), (4, ROOM)]
        x = message((1, "x"), (2, "FP32"), (3, b"\2\4"), *parameters(4, "g", 32, 0))
        status, why, reply = c.grpc(SERVICE + "ModelInfer", message((1, "mlp"), (5, x), (6, message((1, "output"), *parameters(2, "g", 24, 32)))))
        assert status == 0, why
        found = fields(reply)
        assert shm.read_bytes()[32:] == mlp(X).tobytes() and (6, b"") in found
        said = {dict(fields(v))[1]: dict(fields(dict(fields(v))[2])) for k, v in fields(dict(found)[5]) if k == 4}
        assert said == {b"shared_memory_region": {3: b"g"}, b"shared_memory_offset": {2: 32}, b"shared_memory_byte_size": {2: 24}}
        assert c.grpc(SERVICE + "SystemSharedMemoryStatus", message((1, "none")))[0] == 5
        assert c.grpc(SERVICE + "SystemSharedMemoryUnregister", message((1, "g")))[0] == 0
        status, why, _ = c.grpc(SERVICE + "ModelInfer", message((1, "mlp"), (5, x)))
        assert status == 3 and "no region 'g'" in why
        assert c.grpc(SERVICE + "CudaSharedMemoryStatus")[0] == 0 and c.grpc(SERVICE + "CudaSharedMemoryRegister", message((1, "a")))[0] == 12
        assert c.grpc(SERVICE + "CudaSharedMemoryUnregister", message((1, "a")))[0] == 0


@pytest.mark.parametrize("key, offset, size, text", [
    ("/none-of-that-name", 0, 8, "no shared memory"), ("/../../etc/passwd", 0, 8, "must be the name"), ("", 0, 8, "must be the name"), ("..", 0, 8, "must be the name"),
    ("/sem.spore", 0, 8, "must be the name"), (None, 0, ROOM + 1, "has 56 bytes"), (None, ROOM, 1, "has 56 bytes"), (None, 2**63 - 1, 2**63 - 1, "has 56 bytes"),
    (None, 0, 0, "no bytes"), (None, -1, 8, "from 0 on"), (None, 0, -8, "from 0 on"), ("memfd:1:1", 0, 8, "over the Unix socket"), ("memfd:1", 0, 8, "memfd:PROCESS"),
])
def test_what_cannot_be_registered(server, shm, key, offset, size, text):
    status, reply = register(server, "bad", shm.name if key is None else key, offset, size)
    assert status == 400 and text in reply["error"], reply
    assert server.ask("GET", "/v2/systemsharedmemory/status")[1] == []


def test_files_that_are_no_memory(server, shm):
    link, folder, pipe = (shm.with_name(shm.name + end) for end in ("-link", "-folder", "-pipe"))
    try:
        link.symlink_to("/etc/passwd")
        folder.mkdir()
        os.mkfifo(pipe)
        for path in (link, folder, pipe):
            status, reply = register(server, "bad", path.name, 0, 8)
            assert status == 400 and "bad" in reply["error"]
    finally:
        link.unlink(missing_ok=True)
        pipe.unlink(missing_ok=True)
        folder.rmdir()


@pytest.mark.parametrize("from_, into, text", [
    (part("r", 32, 32), None, "has 56 bytes"), (part("r", 32, 2**62), None, "has 56 bytes"), (part("r", 16), None, "need 32"), (part("r", 48), None, "need 32"),
    (part("other", 32), None, "no region 'other'"), ({"shared_memory_region": "r"}, None, "'shared_memory_byte_size'"), ({"shared_memory_byte_size": 32}, None, "'shared_memory_region'"),
    ({"shared_memory_region": 7, "shared_memory_byte_size": 32}, None, "must be a text"), (part("r", -32), None, "from 0 on"), (part("r", 32, "0"), None, "from 0 on"),
    (None, part("r", 24, 40), "has 56 bytes"), (None, part("r", 20), "has 24 bytes, shared_memory_byte_size is 20"), (None, part("other", 24), "no region"),
    (None, {**part("r", 24), "classification": 1}, "classes"),
])
def test_parts_that_do_not_fit(server, shm, from_, into, text):
    assert register(server, "r", shm.name)[0] == 200
    before = shm.read_bytes()
    status, reply = infer(server, from_=from_, into=into)
    assert status == 400 and text in reply["error"], reply
    assert shm.read_bytes() == before


def test_data_and_shared_memory(server, shm):
    assert register(server, "r", shm.name)[0] == 200
    asked = request(x=X)
    asked["inputs"][0]["parameters"] = part("r", 32)
    status, reply = server.ask("POST", "/v2/models/mlp/infer", asked)
    assert status == 400 and "both shared memory and data" in reply["error"]


def test_a_region_that_is_cut(server, shm):
    """A mapping would end the server here (SIGBUS); and the file does not grow again."""
    assert register(server, "cut", shm.name)[0] == 200
    os.truncate(shm, 16)
    for keywords in ({"from_": part("cut", 32)}, {"into": part("cut", 24, 32)}):
        status, reply = infer(server, **keywords)
        assert status == 400 and "shorter than it was" in reply["error"], reply
    assert shm.stat().st_size == 16 and server.process.poll() is None


def test_a_region_that_vanishes(server, shm, mlp):
    """Its memory stays until it is unregistered, as a mapping would; a new file of the name takes its place."""
    assert register(server, "gone", shm.name)[0] == 200
    assert register(server, "gone", shm.name)[0] == 400
    shm.unlink()
    status, reply = infer(server, from_=part("gone", 32))
    assert status == 200 and np.array(reply["outputs"][0]["data"], np.float32).tobytes() == mlp(X).tobytes()
    shm.write_bytes((X * 2).tobytes() + bytes(24))
    assert register(server, "gone", shm.name)[0] == 200
    assert np.array(infer(server, from_=part("gone", 32))[1]["outputs"][0]["data"], np.float32).tobytes() == mlp(X * 2).tobytes()


def test_cutting_beside_requests(server, shm, mlp):
    """The file changes its size all the time: each request has the right answer or a reason."""
    assert register(server, "wild", shm.name)[0] == 200
    over = threading.Event()

    def cut():
        while not over.is_set():
            os.truncate(shm, 0)
            with open(shm, "r+b") as f:
                f.write(X.tobytes() + bytes(24))
    thread = threading.Thread(target=cut)
    thread.start()
    try:
        statuses = [infer(server, from_=part("wild", 32), into=part("wild", 24, 32))[0] for _ in range(200)]
    finally:
        over.set()
        thread.join()
    assert set(statuses) <= {200, 400} and server.infer("mlp", x=X)["output"].tobytes() == mlp(X).tobytes()


def test_a_file_of_another_user(server, shm):
    if os.getuid() == 0:
        pytest.skip("root may open everything")
    shm.chmod(0)
    assert register(server, "r", shm.name)[0] == 400
    shm.chmod(0o400)
    assert register(server, "r", shm.name)[0] == 200
    assert infer(server, from_=part("r", 32))[0] == 200
    status, reply = infer(server, into=part("r", 24))
    assert status == 400 and "may not be written" in reply["error"]


def test_size_counts_as_that_of_a_body(server, shm):
    shm.write_bytes(bytes(3 << 20))
    assert register(server, "large", shm.name, 0, 3 << 20)[0] == 200
    status, reply = server.ask("POST", "/v2/models/mlp/infer", {"inputs": [{"name": "x", "shape": [1 << 17, 4], "datatype": "FP32", "parameters": part("large", 1 << 21)}]})
    assert status == 413 and "--max-body" in reply["error"]


def test_no_more_than_so_many(server, shm):
    before = len(os.listdir(f"/proc/{server.process.pid}/fd"))
    for i in range(256):
        assert register(server, f"r{i}", shm.name)[0] == 200
    status, reply = register(server, "one-more", shm.name)
    assert status == 400 and "256 regions" in reply["error"]
    assert server.ask("POST", "/v2/systemsharedmemory/unregister")[0] == 200
    assert len(os.listdir(f"/proc/{server.process.pid}/fd")) <= before + 2


def over_socket(server, method, path, asked):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(server.socket))
        data = json.dumps(asked).encode()
        s.sendall(f"{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data)
        head, tail = b"".join(iter(lambda: s.recv(65536), b"")).split(b"\r\n\r\n", 1)
        return int(head.split()[1]), json.loads(tail)


def test_memfd(server, mlp):
    """Of the process at the Unix socket, which needs no name in the system."""
    fd = os.memfd_create("spore-test")
    other, _ = os.pipe()
    try:
        os.write(fd, X.tobytes() + bytes(24))
        asked = {"key": f"memfd:{os.getpid()}:{fd}", "offset": 0, "byte_size": ROOM}
        assert server.ask("POST", "/v2/systemsharedmemory/region/m/register", asked)[0] == 400
        assert over_socket(server, "POST", "/v2/systemsharedmemory/region/m/register", asked) == (200, {})
        status, _ = infer(server, from_=part("m", 32), into=part("m", 24, 32))
        assert status == 200 and os.pread(fd, 24, 32) == mlp(X).tobytes()
        for key, text in ((f"memfd:{server.process.pid}:3", "of the process that asks"), (f"memfd:{os.getpid()}:{other}", "is no memfd"), (f"memfd:{os.getpid()}:999", "no shared memory")):
            status, reply = over_socket(server, "POST", "/v2/systemsharedmemory/region/n/register", {**asked, "key": key})
            assert status == 400 and text in reply["error"], reply
    finally:
        os.close(fd)
        os.close(other)


@pytest.mark.parametrize("method, path, status", [
    ("GET", "/v2/systemsharedmemory/region/a/register", 405), ("POST", "/v2/systemsharedmemory/status", 405), ("POST", "/v2/systemsharedmemory/register", 404),
    ("GET", "/v2/systemsharedmemory/region/none/status", 404), ("POST", "/v2/systemsharedmemory/region/none/unregister", 200), ("POST", "/v2/systemsharedmemory", 404),
    ("POST", "/v2/systemsharedmemory/region//register", 404), ("POST", "/v2/systemsharedmemory/region/a/other", 404), ("GET", "/v2/cudasharedmemory/status", 200),
    ("POST", "/v2/cudasharedmemory/region/a/register", 501), ("POST", "/v2/cudasharedmemory/unregister", 200), ("POST", "/v2/systemsharedmemory/region/a/register", 400),
])
def test_paths(server, method, path, status):
    assert server.ask(method, path)[0] == status


def test_who_may_register(serve, models, shm):
    server = serve(models / "mlp.onnx", "--model-control", "none")
    assert register(server, "r", shm.name)[0] == 403 and server.ask("POST", "/v2/systemsharedmemory/unregister")[0] == 403
    assert server.ask("GET", "/v2/systemsharedmemory/status") == (200, [])
    with http2.Http2(server.port) as c:
        assert c.grpc(SERVICE + "SystemSharedMemoryRegister", message((1, "g"), (2, shm.name), (4, 8)))[0] == 7


def test_texts(tmp_path_factory, shm):
    words = [b"gr\xc3\xbcn blau", b"rot", b"", b"eins zwei drei"]
    data = b"".join(len(w).to_bytes(4, "little") + w for w in words)
    model = pathlib.Path(__file__).parents[1] / "onnx" / "data" / "texts.onnx"
    shm.write_bytes(data + bytes(4096))
    with Server(model, folder=tmp_path_factory.mktemp("server")) as server:
        assert register(server, "t", shm.name, 0, len(data) + 4096)[0] == 200
        asked = {"inputs": [{"name": "x", "shape": [4], "datatype": "BYTES", "parameters": part("t", len(data))}]}
        _, plain = server.ask("POST", "/v2/models/texts/infer", asked)
        out = plain["outputs"][0]
        asked["outputs"] = [{"name": out["name"], "parameters": part("t", 4096, len(data))}]
        status, reply = server.ask("POST", "/v2/models/texts/infer", asked)
        n = reply["outputs"][0]["parameters"]["shared_memory_byte_size"]
        assert status == 200 and shm.read_bytes()[len(data):len(data) + n] == b"".join(len(w.encode()).to_bytes(4, "little") + w.encode() for w in out["data"])

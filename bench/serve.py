# SPDX-License-Identifier: Apache-2.0
"""Requests per second and latency of `spore serve`, beside a plain Python server over ONNX Runtime.

    PYTHONPATH=build/py build/venv/bin/python bench/serve.py [--peer PYTHON] [--model FILE.onnx --shape 3,224,224] [--clients 1,8,32] [--seconds 3] [--wrk WRK] [--h2load H2LOAD]

Clients keep their connections and send one row at a time, as bytes behind JSON (KServe's binary tensors): threads of one process, which take as much of the processors as
the servers do, or with --wrk the load generator of that name, which takes a tenth of that. The sides take turns, --rounds times; the median of the rates and the least of the
latencies count. The peer (an interpreter with onnxruntime) is http.server with threads, one session, and bytes in and out: the least a server can do. With --wrk and no --model there is a small
model, too, of rows of 1 kB, beside libevent's own server sending back what it gets (serve_echo.c; cc and libevent's headers are needed). With --h2load gRPC is asked, too: the
peer is grpc.aio, which gets and gives bytes.
"""
import argparse
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPORE = pathlib.Path(os.environ.get("SPORE_BUILD", ROOT / "build")) / "spore"

PEER = '''
import sys, http.server, numpy as np, onnxruntime as ort
session = ort.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
name, shape = session.get_inputs()[0].name, [1] + [int(d) for d in sys.argv[2].split(",")]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    def do_POST(self):
        x = np.frombuffer(self.rfile.read(int(self.headers["content-length"])), np.float32).reshape(shape)
        out = session.run(None, {name: x})[0].tobytes()
        self.send_response(200); self.send_header("content-length", str(len(out))); self.end_headers(); self.wfile.write(out)
    def log_message(self, *a): pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
server = Server(("127.0.0.1", 0), Handler)
print("port", server.server_port, file=sys.stderr, flush=True)
server.serve_forever()
'''


GRPC_PEER = '''
import asyncio, sys, grpc, numpy as np, onnxruntime as ort
session = ort.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
name, shape = session.get_inputs()[0].name, [1] + [int(d) for d in sys.argv[2].split(",")]
async def infer(request, context):
    return session.run(None, {name: np.frombuffer(request, np.float32).reshape(shape)})[0].tobytes()
async def main():
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("S", {"M": grpc.unary_unary_rpc_method_handler(infer)}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print("port", port, file=sys.stderr, flush=True)
    await server.wait_for_termination()
asyncio.run(main())
'''


def make_model(folder, name="mlp", widths=(784, 512, 512, 10)):
    import spore as ms
    from spore import nn, ops
    ms.set_seed(1)
    layers = [part for a, b in zip(widths, widths[1:]) for part in (nn.Dense(a, b), nn.ReLU())]
    net = nn.SequentialCell(*layers[:-1])
    net.set_train(False)
    ms.onnx.export(net, ops.ones((2, widths[0]), ms.float32), file_name=str(folder / name), input_names=["x"], dynamic_axes={"x": {0: "n"}})
    return folder / f"{name}.onnx", (widths[0],)


def start(command, pattern):
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for line in process.stderr:
        if found := re.search(pattern, line):
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return process, int(found[1])
    raise SystemExit(f"{command[0]} did not start")


def client(port, request, until, times):
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while time.perf_counter() < until:
            began = time.perf_counter()
            s.sendall(request)
            data = s.recv(65536)
            while b"\r\n\r\n" not in data:
                data += s.recv(65536)
            head, _, body = data.partition(b"\r\n\r\n")
            assert b" 200 " in head.split(b"\r\n")[0], data[:300]
            n = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])
            while len(body) < n:
                body += s.recv(65536)
            times.append(time.perf_counter() - began)


def measure(port, request, n_clients, seconds):
    """(requests per second, median, 99th percentile in ms)"""
    times, until = [], time.perf_counter() + seconds
    threads = [threading.Thread(target=client, args=(port, request, until, times)) for _ in range(n_clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    times.sort()
    return len(times) / seconds, times[len(times) // 2] * 1e3, times[len(times) * 99 // 100] * 1e3


WRK = """
wrk.method = "POST"
local file = io.open("%s", "rb")
wrk.body = file:read("*all")
wrk.headers["Inference-Header-Content-Length"] = "%d"
wrk.path = "%s"
done = function(summary, latency)
    io.write(string.format("figures %%f %%f %%f %%d\\n", summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
                           summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout))
end
"""


def measure_by_wrk(wrk, folder, port, request, n_clients, seconds):
    head, _, body = request.partition(b"\r\n\r\n")
    length = re.search(rb"Inference-Header-Content-Length: (\d+)", head)
    (folder / "body").write_bytes(body)
    (folder / "load.lua").write_text(WRK % (folder / "body", int(length[1]) if length else 0, head.split()[1].decode()))
    said = subprocess.run([wrk, "-t1", f"-c{n_clients}", f"-d{max(1, round(seconds))}s", "-s", folder / "load.lua", f"http://127.0.0.1:{port}"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"figures (\S+) (\S+) (\S+) (\d+)", said)
    assert found and found[4] == "0", said
    return tuple(map(float, found.groups()[:3]))


def message(number, data):
    """A field of a protobuf message."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
    return varint(number << 3 | 2) + varint(len(data)) + data


def measure_grpc(h2load, folder, port, path, body, n_clients, n):
    """Requests a second; n of them."""
    (folder / "message").write_bytes(b"\0" + len(body).to_bytes(4, "big") + body)
    said = subprocess.run([h2load, f"-n{n}", f"-c{n_clients}", "-m1", "-d", folder / "message", "-H", "content-type: application/grpc", "-H", "te: trailers", f"http://127.0.0.1:{port}{path}"],
                          capture_output=True, text=True, check=True).stdout
    assert f"{n} succeeded, 0 failed" in said, said
    return float(re.search(r"([0-9.]+) req/s", said)[1])


def beside_echo(wrk, folder, rounds, seconds):
    """The part of libevent's rate that a model of rows of 1 kB has."""
    model, shape = make_model(folder, "small", (256, 32, 8))
    subprocess.run(["cc", "-O2", "-o", folder / "echo", ROOT / "bench/serve_echo.c", "-levent"], check=True)
    x = np.random.default_rng(1).random((1, *shape), np.float32)
    head = json.dumps({"inputs": [{"name": "x", "shape": [1, *shape], "datatype": "FP32", "parameters": {"binary_data_size": x.nbytes}}], "parameters": {"binary_data_output": True}}).encode()
    sides = [start([SPORE, "serve", f"m={model}", "--port", "0", "--log", "none", "--max-batch", "32"], r"ready on .*:(\d+)"), start([folder / "echo"], r"port (\d+)")]
    ours = b"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nInference-Header-Content-Length: %d\r\n\r\n" % len(head) + head + x.tobytes()
    theirs = b"POST / HTTP/1.1\r\nHost: x\r\n\r\n" + x.tobytes()
    rates = [[], []]
    for _ in range(rounds):
        for i, request in enumerate((ours, theirs)):
            rates[i].append(measure_by_wrk(wrk, folder, sides[i][1], request, 32, seconds)[0])
    ours, theirs = (sorted(r)[len(r) // 2] for r in rates)
    print(f"small.onnx  32 clients  {ours:.0f} requests/s, libevent's echo {theirs:.0f}: {ours / theirs:.2f} of it", flush=True)
    for process, _ in sides:
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", help="interpreter with onnxruntime")
    parser.add_argument("--model")
    parser.add_argument("--shape", help="of a row, without the first axis")
    parser.add_argument("--clients", default="1,8,32")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--wrk", help="the load generator wrk")
    parser.add_argument("--h2load", help="that of nghttp2")
    parser.add_argument("--only", choices=["rest", "grpc", "echo"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, shape = (args.model, tuple(map(int, args.shape.split(",")))) if args.model else make_model(pathlib.Path(folder))
        x = np.random.default_rng(1).random((1, *shape), np.float32)
        sides = {}
        spore, port = start([SPORE, "serve", f"m={model}", "--port", "0", "--log", "none", "--max-batch", "32"], r"ready on .*:(\d+)")
        port_of_ours = port
        meta = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/models/m"))
        head = json.dumps({"inputs": [{"name": meta["inputs"][0]["name"], "shape": [1, *shape], "datatype": "FP32", "parameters": {"binary_data_size": x.nbytes}}],
                           "parameters": {"binary_data_output": True}}).encode()
        sides["spore serve"] = spore, port, (b"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nInference-Header-Content-Length: %d\r\nContent-Length: %d\r\n\r\n"
                                             % (len(head), len(head) + x.nbytes)) + head + x.tobytes()
        if args.peer:
            peer, port = start([args.peer, "-c", PEER, str(model), ",".join(map(str, shape))], r"port (\d+)")
            sides["http.server + ONNX Runtime"] = peer, port, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % x.nbytes + x.tobytes()
        if args.h2load and args.peer and args.only in (None, "grpc"):
            peer, grpc_port = start([args.peer, "-c", GRPC_PEER, str(model), ",".join(map(str, shape))], r"port (\d+)")
            shape_bytes = bytes([1]) + (bytes([shape[0] & 127 | 128, shape[0] >> 7]) if shape[0] > 127 else bytes(shape[:1]))
            tensor = message(1, b"x") + message(2, b"FP32") + message(3, shape_bytes)
            body = message(1, b"m") + message(5, tensor) + message(7, x.tobytes())
            for n in map(int, args.clients.split(",")):
                rates = [[], []]
                for _ in range(args.rounds):
                    rates[0].append(measure_grpc(args.h2load, pathlib.Path(folder), port_of_ours, "/inference.GRPCInferenceService/ModelInfer", body, n, int(2000 * args.seconds * min(n, 8))))
                    rates[1].append(measure_grpc(args.h2load, pathlib.Path(folder), grpc_port, "/S/M", x.tobytes(), n, int(1000 * args.seconds)))
                ours, theirs = (sorted(r)[len(r) // 2] for r in rates)
                print(f"{pathlib.Path(model).name} {n:3} clients  gRPC {ours:.0f} requests/s, grpc.aio + ONNX Runtime {theirs:.0f}: {ours / theirs:.1f} times it", flush=True)
            peer.terminate()
            peer.wait()
        if args.wrk and not args.model and args.only in (None, "echo"):
            beside_echo(args.wrk, pathlib.Path(folder), args.rounds, args.seconds)
        for n in map(int, args.clients.split(",")) if args.only in (None, "rest") else ():
            found = {name: [] for name in sides}
            for _ in range(args.rounds):
                for name, (_, port, request) in sides.items():
                    if args.wrk:
                        found[name].append(measure_by_wrk(args.wrk, pathlib.Path(folder), port, request, n, args.seconds))
                    else:
                        measure(port, request, n, 0.3)
                        found[name].append(measure(port, request, n, args.seconds))
            best = {name: (sorted(rates)[len(rates) // 2], min(medians), min(p99)) for name, (rates, medians, p99) in ((name, list(zip(*f))) for name, f in found.items())}
            for name, figures in best.items():
                print(f"{pathlib.Path(model).name} {n:3} clients  {name:27} {'%8.0f requests/s  median %7.3f ms  p99 %7.3f ms' % figures}", flush=True)
            if args.peer:
                ours, theirs = best.values()
                print(f"{pathlib.Path(model).name} {n:3} clients  rate {ours[0] / theirs[0]:.2f} times the peer's, latency {ours[1] / theirs[1]:.2f} of it", flush=True)
        for process, _, _ in sides.values():
            process.terminate()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())

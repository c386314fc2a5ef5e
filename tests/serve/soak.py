# SPDX-License-Identifier: Apache-2.0
"""A night in short: load on `spore serve` and on servables of MindSpore Serving, with reloads, bad versions, kills of workers, slow and hostile clients, all at once.

    PYTHONPATH=build/py build/venv/bin/python tests/serve/soak.py [--seconds 3600] [--seed 1]

Every request of a good client is answered, and answered right; to `spore serve` with 200 alone, to a servable whose worker was killed with 503, too. Memory, descriptors and threads
of the servers are sampled: in the last third they are where they were in the second, and once all clients have gone descriptors and threads are those of the start. The last line
says so, or what is not so; the exit code is 0 or 1. Seconds in which the machine did not run this program do not count against the servers; the last line but one tells how many there were. tests/serve/test_soak.py runs it for an hour (`check-long`)."""
import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import http2
import numpy as np

BUILD = pathlib.Path(os.environ.get("SPORE_BUILD", pathlib.Path(__file__).parents[2] / "build"))
SPORE = BUILD / "spore"
REQUESTS = pathlib.Path(__file__).parent / "requests"
WAIT = 60

MODELS = '''
import numpy as np
import spore as ms
from spore import nn, ops


class Scale(nn.Cell):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def construct(self, x):
        return ops.matmul(x, ops.ones((64, 64), ms.float32)) * self.by


def save(path, by):
    ms.onnx.export(Scale(by), ms.Tensor(np.ones((2, 64), np.float32)), file_name=path, input_names=["x"], dynamic_axes={"x": {0: "n"}})


save("one", 1.0)
save("two", 1.0)
ms.export(Scale(2.0), ms.Tensor(np.ones((4, 64), np.float32)), file_name="nets/1/scale", file_format="MINDIR")
'''

CONFIG = '''
import os
from mindspore_serving.server import register

model = register.declare_model(model_file="scale.mindir", model_format="MindIR")


def doubled(x):
    return x + x


@register.register_method(output_names=["y"])
def scale(x):
    return register.add_stage(model, register.add_stage(doubled, x, outputs_count=1), outputs_count=1)
'''

SERVER = '''
from mindspore_serving import server

server.start_servables(server.ServableStartConfig(".", "nets", device_ids=(0, 1)))
server.start_restful_server("127.0.0.1:PORT")
'''


class Soak:
    def __init__(self, folder, seconds, seed):
        self.folder, self.seed = folder, seed
        self.until = time.monotonic() + seconds
        self.counts, self.faults, self.lock = collections.Counter(), [], threading.Lock()
        self.processes, self.ports, self.unjust_until = [], [], 0

    def over(self):
        return time.monotonic() >= self.until or len(self.faults) > 20

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def fault(self, what):
        with self.lock:
            if time.monotonic() < self.unjust_until:
                self.counts["faults while the machine stood still"] += 1
                return
            self.faults.append(f"{time.strftime('%H:%M:%S')} {what}")

    # --- servers ---------------------------------------------------------------------------------------------------------

    def start(self, command, ready, log):
        with open(self.folder / log, "wb") as out:
            process = subprocess.Popen(command, cwd=self.folder, stdout=out, stderr=out, env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
        self.processes.append(process)
        until = time.monotonic() + 10 * WAIT
        while ready not in (self.folder / log).read_text():
            assert process.poll() is None and time.monotonic() < until, (self.folder / log).read_text()
            time.sleep(0.1)

    def begin(self):
        (self.folder / "nets" / "1").mkdir(parents=True)
        (self.folder / "nets" / "servable_config.py").write_text(CONFIG)
        env = dict(os.environ, PYTHONPATH=str(BUILD / "py"))
        subprocess.run([sys.executable, "-c", MODELS], cwd=self.folder, check=True, env=env)
        (self.folder / "models" / "one" / "1").mkdir(parents=True)
        shutil.copy(self.folder / "one.onnx", self.folder / "models" / "one" / "1" / "model.onnx")
        shutil.copy(self.folder / "two.onnx", self.folder / "models" / "two.onnx")
        for _ in range(2):
            with socket.create_server(("127.0.0.1", 0)) as s:
                self.ports.append(s.getsockname()[1])
        self.start([SPORE, "serve", "models", "--port", str(self.ports[0]), "--poll", "0.5", "--log", "none", "--receive-timeout", "3", "--idle-timeout", "5"], "ready on http", "serve.log")
        (self.folder / "server.py").write_text(SERVER.replace("PORT", str(self.ports[1])))
        self.start([SPORE, "run", "server.py"], "start success", "servables.log")

    def family(self):
        """[(name, pid)]: the servers, and what the second one started."""
        found = [("serve", self.processes[0].pid), ("servables", self.processes[1].pid)]
        for task in pathlib.Path(f"/proc/{self.processes[1].pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                words = pathlib.Path(f"/proc/{child}/cmdline").read_text().split("\0")
                found.append(("front" if "serve" in words else "worker", int(child)))
        return found

    def sample(self):
        """{name: (memory of its own in kB, descriptors, threads)}; of those with the same name the sum."""
        total = {}
        for name, pid in self.family():
            try:
                text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
                private = sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(("Private_Clean", "Private_Dirty")))
                figures = private, len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))
            except OSError:
                continue    # it was killed just now
            total[name] = tuple(a + b for a, b in zip(total.get(name, (0, 0, 0)), figures))
        return total

    # --- good clients ----------------------------------------------------------------------------------------------------

    def ask(self, c, port, rows):
        x = [[rows + k] * 64 for k in range(rows)]
        if port == self.ports[1]:
            c.request("POST", "/model/nets:scale", json.dumps({"instances": [{"x": [float(v) for v in row]} for row in x]}))
            reply = c.getresponse()
            body = json.loads(reply.read())
            if reply.status == 503 and "servable is not available" in body["error_msg"]:
                return self.count("servables: worker gone")
            good = reply.status == 200 and all(i["y"] == [256.0 * row[0]] * 64 for i, row in zip(body["instances"], x))
            return self.count("servables: right") if good else self.fault(f"servables answer {reply.status} {str(body)[:200]}")
        body = json.dumps({"inputs": [{"name": "x", "shape": [rows, 64], "datatype": "FP32", "data": x}]})
        c.request("POST", "/v2/models/one/infer", body)
        reply = c.getresponse()
        body = json.loads(reply.read())
        good = reply.status == 200 and body["outputs"][0]["data"][::64] == [64.0 * row[0] for row in x]
        return self.count("serve: right") if good else self.fault(f"serve answers {reply.status} {str(body)[:200]}")

    def good(self, port, keep):
        rng = random.Random(f"{self.seed} {port} {keep} {threading.get_ident()}")
        while not self.over():
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
            try:
                for _ in range(keep):
                    self.ask(c, port, rng.randint(1, 7))
                    if rng.random() < 0.02:
                        time.sleep(rng.random() * 0.5)
                    if self.over():
                        break
            except (OSError, http.client.HTTPException) as error:
                self.fault(f"a request to port {port} was lost: {error!r}")
            finally:
                c.close()

    def grpc(self):
        x = np.full((2, 64), 3, np.float32)
        tensor = http2.message((1, "x"), (2, "FP32"), (3, http2.packed(x.shape)))
        request = http2.message((1, "one"), (5, tensor), (7, x.tobytes()))
        while not self.over():
            try:
                with http2.Http2(self.ports[0]) as c:
                    for _ in range(200):
                        status, _, reply = c.grpc("/inference.GRPCInferenceService/ModelInfer", request)
                        out = dict(http2.fields(reply)).get(6) if status == 0 else None
                        if out is None or not (np.frombuffer(out, np.float32) == 192).all():
                            self.fault(f"gRPC answers {status} {reply[:100]!r}")
                        else:
                            self.count("grpc: right")
                        if self.over():
                            break
            except (OSError, AssertionError) as error:
                self.fault(f"a gRPC request was lost: {error!r}")

    # --- others ----------------------------------------------------------------------------------------------------------

    def slow(self):
        """A byte at a time, or a reply that nobody reads, or a body that never comes."""
        rng = random.Random(f"{self.seed} slow {threading.get_ident()}")
        while not self.over():
            try:
                with socket.create_connection(("127.0.0.1", rng.choice(self.ports)), timeout=WAIT) as s:
                    how = rng.randrange(3)
                    if how == 0:
                        for byte in b"GET /v2/health/ready HTTP/1.1\r\nHost: x\r\n\r\n":
                            s.send(bytes([byte]))
                            time.sleep(rng.random() * 0.2)
                        s.recv(4096)
                    elif how == 1:
                        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
                        time.sleep(rng.random() * 3)
                    else:
                        s.sendall(b"POST /v2/models/one/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 60000000\r\n\r\n{")
                        time.sleep(rng.random() * 5)
                self.count("slow")
            except OSError:
                self.count("slow, cut off")

    def hostile(self):
        """Nonsense, samples with bytes turned, ends in the middle with a reset, and half of HTTP/2."""
        rng = random.Random(f"{self.seed} hostile {threading.get_ident()}")
        samples = [p.read_bytes()[1:] for p in sorted(REQUESTS.iterdir())]
        while not self.over():
            try:
                with socket.create_connection(("127.0.0.1", rng.choice(self.ports)), timeout=WAIT) as s:
                    data = bytearray(rng.choice(samples))
                    for _ in range(rng.randrange(6)):
                        data[rng.randrange(len(data))] = rng.randrange(256)
                    how = rng.randrange(4)
                    if how == 0:
                        s.sendall(rng.randbytes(rng.randrange(1, 5000)))
                    elif how == 1:
                        path = rng.choice([b"/v2/models/one/infer", b"/v2/models/two/infer", b"/model/nets:scale", b"/v1/models/one:predict", b"/inference.GRPCInferenceService/ModelInfer"])
                        s.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path, len(data)) + data)
                    elif how == 2:
                        s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + rng.randbytes(rng.randrange(2000)))
                    else:
                        s.sendall(bytes(data))
                    if rng.random() < 0.5:
                        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    else:
                        s.settimeout(1)
                        s.recv(65536)
                self.count("hostile")
            except OSError:
                self.count("hostile, cut off")
            time.sleep(0.01)

    def crowd(self):
        """Connections that come and do nothing, and go."""
        rng = random.Random(f"{self.seed} crowd")
        while not self.over():
            idle = []
            try:
                for _ in range(rng.randint(10, 150)):
                    idle.append(socket.create_connection(("127.0.0.1", self.ports[0]), timeout=WAIT))
                time.sleep(rng.random() * 4)
            except OSError as error:
                self.fault(f"no connection: {error!r}")
            for s in idle:
                s.close()
            self.count("crowds")

    def reloads(self):
        """New versions, bad versions, a model that is unloaded and loaded, SIGHUP."""
        rng, version, place = random.Random(f"{self.seed} reloads"), 1, self.folder / "models" / "one"
        while not self.over():
            time.sleep(rng.random())
            try:
                how = rng.randrange(4)
                if how == 0:
                    version += 1
                    new = place / f".{version}"
                    new.mkdir()
                    shutil.copy(self.folder / "one.onnx", new / "model.onnx")
                    if rng.random() < 0.3:
                        (new / "model.onnx").write_bytes(b"no model")
                    new.rename(place / str(version))
                    self.count("versions")
                elif how == 1:
                    old = sorted((int(p.name) for p in place.iterdir() if p.name.isdigit()))[:-6]    # one of the six is good, but for one in a thousand nights
                    for v in old:
                        if (place / str(v) / "model.onnx").stat().st_size > 100 and sum((p / "model.onnx").stat().st_size > 100 for p in place.iterdir() if p.name.isdigit()) < 3:
                            continue
                        shutil.rmtree(place / str(v))
                elif how == 2:
                    for verb in ("unload", "load"):
                        c = http.client.HTTPConnection("127.0.0.1", self.ports[0], timeout=WAIT)
                        c.request("POST", f"/v2/repository/models/two/{verb}", "{}")
                        status = c.getresponse().status
                        if status != 200:
                            self.fault(f"{verb} answers {status}")
                        c.close()
                    self.count("loads")
                else:
                    self.processes[0].send_signal(signal.SIGHUP)
                    self.count("hangups")
            except OSError as error:
                self.fault(f"a reload failed: {error!r}")

    def watch(self):
        """Where this process was not run for more than a second, its clients were slow without meaning to be, and are cut off rightly."""
        before = time.monotonic()
        while not self.over():
            time.sleep(0.1)
            now = time.monotonic()
            if now - before > 1:
                with self.lock:
                    self.unjust_until = now + 5
                    self.counts["times the machine stood still"] += 1
            before = now

    def kills(self):
        rng = random.Random(f"{self.seed} kills")
        while not self.over():
            time.sleep(5 + 10 * rng.random())
            workers = [pid for name, pid in self.family() if name == "worker"]
            if len(workers) == 2 and not self.over():
                os.kill(rng.choice(workers), signal.SIGKILL)
                self.count("kills")

    # --- all of it -------------------------------------------------------------------------------------------------------

    def run(self, seconds):
        self.begin()
        time.sleep(1)
        before = self.sample()
        self.until = time.monotonic() + seconds
        threads = [threading.Thread(target=f, args=a) for f, *a in
                   [(self.good, self.ports[0], 1000)] * 3 + [(self.good, self.ports[0], 1), (self.good, self.ports[1], 50), (self.good, self.ports[1], 1), (self.grpc,), (self.slow,), (self.slow,),
                                                             (self.hostile,), (self.hostile,), (self.crowd,), (self.reloads,), (self.kills,), (self.watch,)]]
        for t in threads:
            t.start()
        samples, began = [], time.monotonic()
        while not self.over():
            time.sleep(min(5, seconds / 60))
            samples.append(self.sample())
            if any(p.poll() is not None for p in self.processes):
                self.fault("a server has ended")
                break
        for t in threads:
            t.join(2 * WAIT)
            if t.is_alive():
                self.fault("a client waits for ever")
        time.sleep(8)    # idle connections are cut after 5 s, workers start again
        after = self.sample()
        self.judge(before, samples, after, time.monotonic() - began)
        for p in self.processes:
            p.send_signal(signal.SIGTERM)
        for p in self.processes:
            if p.wait(2 * WAIT) != 0:
                self.fault(f"a server ended with {p.returncode}")

    def judge(self, before, samples, after, took):
        third = len(samples) // 3
        for name in ("serve", "front", "servables"):
            middle, last = ([s[name] for s in part if name in s] for part in (samples[third:2 * third], samples[2 * third:]))
            for what, i, slack in (("kB of memory", 0, 8192), ("descriptors", 1, 60), ("threads", 2, 2)):
                a, b = np.median([f[i] for f in middle]), np.median([f[i] for f in last])
                print(f"{name}: {what}: start {before[name][i]}, middle {a:.0f}, end {b:.0f}, at rest {after[name][i]}")
                if b > 1.05 * a + slack:
                    self.fault(f"{name}: {what} grew from {a:.0f} to {b:.0f}")
            calls = 16 if name == "front" else 0    # connections to workers are made when they are needed, and stay
            if after[name][1] > before[name][1] + calls + 2 or after[name][2] > before[name][2] + 1:
                self.fault(f"{name}: {before[name][1:]} descriptors and threads before, {after[name][1:]} behind")
        print(f"{took:.0f} s: " + ", ".join(f"{n} {what}" for what, n in sorted(self.counts.items())))
        for what in ("serve: right", "servables: right", "grpc: right", "versions", "kills", "hostile", "slow"):
            if self.counts[what] == 0 and took > 60:
                self.fault(f"there was nothing of '{what}'")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(pathlib.Path(folder), args.seconds, args.seed)
        try:
            soak.run(args.seconds)
        finally:
            for p in soak.processes:
                if p.poll() is None:
                    p.kill()
                    p.wait()
            for name in ("serve.log", "servables.log") if soak.faults else ():
                print(f"--- the end of {name}:\n" + "\n".join((soak.folder / name).read_text().splitlines()[-15:]))
    for fault in soak.faults:
        print("fault:", fault)
    print("passed" if not soak.faults else f"{len(soak.faults)} faults")
    return bool(soak.faults)


if __name__ == "__main__":
    sys.exit(main())

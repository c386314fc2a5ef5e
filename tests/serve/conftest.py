# SPDX-License-Identifier: Apache-2.0
"""A server of this build in a process of its own, on a free port of 127.0.0.1, and models to give it."""
import http.client
import json
import os
import pathlib
import signal
import subprocess
import time

import numpy as np
import pytest

import spore as ms
from spore import nn, ops

SPORE = pathlib.Path(os.environ["SPORE_BUILD"]) / "spore"
WAIT = 60 # seconds for anything that should be there at once: the machine may be busy


class Server:
    """`with Server(model, "--option", ...) as s:` the port is s.port, what it wrote is s.errors()."""

    def __init__(self, *arguments, folder, wait=True):
        self.log, self.access = folder / "errors.log", folder / "access.log"
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"} # a sanitizer's library for Python is not for the command
        with open(self.log, "wb") as errors, open(self.access, "wb") as access:
            self.process = subprocess.Popen([SPORE, "serve", *map(str, arguments), *([] if "--port" in arguments else ["--port", "0"])],
                                            stdout=access, stderr=errors, env=env)
        self.port = None
        if wait:
            self.wait_for("ready on http")
            self.port = int(self.errors().split("ready on http", 1)[1].split("\n")[0].rsplit(":", 1)[1])

    def errors(self):
        return self.log.read_text()

    def wait_for(self, text):
        until = time.monotonic() + WAIT
        while text not in self.errors():
            assert self.process.poll() is None or text in self.errors(), f"the server ended: {self.errors()}"
            assert time.monotonic() < until, f"no {text!r} in: {self.errors()}"
            time.sleep(0.01)

    def connect(self, timeout=WAIT):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        """(status, body) of one request; JSON is read."""
        c = self.connect()
        try:
            c.request(method, path, body if body is None or isinstance(body, (bytes, str)) else json.dumps(body), headers or {})
            r = c.getresponse()
            data = r.read()
            return r.status, json.loads(data) if data and r.getheader("content-type", "").startswith("application/json") else data
        finally:
            c.close()

    def infer(self, model, parameters=None, **inputs):
        """Outputs by name."""
        status, reply = self.ask("POST", f"/v2/models/{model}/infer", request(parameters, **inputs))
        assert status == 200, reply
        return {o["name"]: np.array(o["data"], DTYPES[o["datatype"]]).reshape(o["shape"]) for o in reply["outputs"]}

    def metric(self, name, **labels):
        """The value of one figure at /metrics."""
        _, text = self.ask("GET", "/metrics")
        for line in text.decode().splitlines():
            if line.startswith((name + "{", name + " ")) and all(f'{k}="{v}"' in line for k, v in labels.items()):
                return float(line.rsplit(" ", 1)[1])
        raise AssertionError(f"no {name} {labels} in {text.decode()}")

    def wait_metric(self, least, name, **labels):
        until = time.monotonic() + WAIT
        while self.metric(name, **labels) < least:
            assert time.monotonic() < until, f"{name} {labels} stays below {least}"
            time.sleep(0.01)

    def stop(self, sign=signal.SIGTERM):
        """Its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
        try:
            return self.process.wait(WAIT)
        finally:
            self.process.kill()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        """It must end well, also where no test looks at that."""
        running = self.process.poll() is None
        code = self.stop() if running else 0
        self.process.wait()
        assert code == 0 or (failure and failure[0]), f"the server ended with {code}: {self.errors()[-2000:]}"



DTYPES = {"FP32": np.float32, "FP64": np.float64, "INT32": np.int32, "INT64": np.int64, "BOOL": np.bool_, "FP16": np.float16, "UINT8": np.uint8}
DATATYPES = {np.dtype(v): k for k, v in DTYPES.items()}


def request(parameters=None, **inputs):
    """The body of an infer request for numpy arrays."""
    body = {"inputs": [{"name": k, "shape": list(v.shape), "datatype": DATATYPES[v.dtype], "data": v.ravel().tolist()} for k, v in inputs.items()]}
    if parameters:
        body["parameters"] = parameters
    return body


@pytest.fixture
def serve(tmp_path):
    """serve(model, options...) starts a server; all are stopped in the end."""
    started = []

    def start(*arguments, **keywords):
        folder = tmp_path / f"server{len(started)}"
        folder.mkdir()
        started.append(Server(*arguments, folder=folder, **keywords))
        return started[-1]
    yield start
    for server in started:
        server.__exit__()


def export(net, path, *inputs, names=("x",), free=True):
    net.set_train(False)
    ms.onnx.export(net, *map(ms.Tensor, inputs), file_name=str(path), input_names=list(names), dynamic_axes={n: {0: "n"} for n in names} if free else None)


class Slow(nn.Cell):
    """Some hundredths of a second of work for each number."""

    def construct(self, x):
        y = ops.reshape(x, (-1, 1, 1)) * ops.ones((1, 256, 256), ms.float32) * 0.002
        for _ in range(60):
            y = ops.tanh(ops.matmul(y, y) + y)
        return ops.sum(y, (1, 2)).reshape((-1, 1)) * 0.0 + x * 2.0


class Checked(nn.Cell):
    """Fails in the run, not before, for indices outside of its table."""

    def __init__(self):
        super().__init__()
        self.table = ms.Parameter(ms.Tensor(np.arange(12, dtype=np.float32).reshape(6, 2)), name="table")

    def construct(self, x):
        return ops.gather(self.table, x, 0)


class Centred(nn.Cell):
    """Rows that are not independent: each result depends on all of them."""

    def construct(self, x):
        return x - ops.mean(x, 0, True)


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A folder with small models: mlp.onnx (n, 4) -> (n, 3), mlp1.mindir (1, 4), slow.onnx, centred.onnx, two.onnx, gather.onnx, fixed.onnx (4, 4)"""
    folder = tmp_path_factory.mktemp("models")
    ms.set_seed(1)
    mlp = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 3))
    export(mlp, folder / "mlp", np.ones((2, 4), np.float32))
    export(mlp, folder / "fixed", np.ones((4, 4), np.float32), free=False)
    ms.export(mlp, ms.Tensor(np.ones((1, 4), np.float32)), file_name=str(folder / "mlp1"), file_format="MINDIR")
    export(Slow(), folder / "slow", np.ones((2, 1), np.float32))
    export(Centred(), folder / "centred", np.ones((2, 4), np.float32))
    export(Checked(), folder / "gather", np.array([1, 2], np.int32))
    return folder


@pytest.fixture(scope="session")
def mlp(models):
    """What mlp computes, in this process."""
    net = ms.onnx.load(str(models / "mlp.onnx"))
    return lambda x: net(ms.Tensor(x)).asnumpy()

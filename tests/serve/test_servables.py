# SPDX-License-Identifier: Apache-2.0
"""MindSpore Serving: servable_config.py as its users write it, servers and clients by its names, under `spore run`."""
import json
import os
import signal
import socket
import subprocess
import textwrap
import time
import urllib.error
import urllib.request

import http2
import numpy as np
import pytest
from conftest import SPORE, WAIT

CONFIG = '''
import os
import numpy as np
from mindspore_serving.server import register

add = register.declare_model(model_file="add.mindir", model_format="MindIR", with_batch_dim=False)
rows = register.declare_model(model_file="rows.mindir", model_format="mindir")


def to_float(a, b):
    return a.astype(np.float32), b.astype(np.float32)


def described(instances):
    for text, data in instances:
        yield f"{text}:{len(instances)}:{data.dtype}", data.tobytes()[::-1]


def called(x):
    if x.sum() < 0:
        raise ValueError("negative")
    return rows.call(x) + rows.call([[x], [x]])[1][0]


def dies(x):
    os._exit(3)


def wrong(x):
    return x, x


@register.register_method(output_names=["y"])
def add_common(x1, x2):
    y = register.add_stage(add, x1, x2, outputs_count=1)
    return y


@register.register_method(output_names=["y"])
def add_cast(x1, x2):
    x1, x2 = register.add_stage(to_float, x1, x2, outputs_count=2)
    return register.add_stage(add, x1, x2, outputs_count=1)


@register.register_method(output_names=["y"])
def double(x):
    return register.add_stage(rows, x, outputs_count=1)


@register.register_method(output_names=["text", "data"])
def describe(text, data):
    text, data = register.add_stage(described, text, data, outputs_count=2, batch_size=2)
    return text, data


@register.register_method(output_names=["y"])
def call(x):
    return register.add_stage(called, x, outputs_count=1)


@register.register_method(output_names=["y"])
def die(x):
    return register.add_stage(dies, x, outputs_count=1)


@register.register_method(output_names=["y"])
def fault(x):
    return register.add_stage(wrong, x, outputs_count=1, tag="Wrong")
'''

EXPORT = '''
import numpy as np
import mindspore as ms
from mindspore import nn, ops


class Add(nn.Cell):
    def construct(self, x1, x2):
        return x1 + x2


class Double(nn.Cell):
    def construct(self, x):
        return x * 2.0


two = ms.Tensor(np.ones((2, 2), np.float32))
ms.export(Add(), two, two, file_name="nets/1/add", file_format="MINDIR")
ms.export(Double(), ms.Tensor(np.ones((4, 3), np.float32)), file_name="nets/1/rows", file_format="MINDIR")
'''

START = '''
import os
import sys
from mindspore_serving import server


def start():
    place = os.path.dirname(os.path.realpath(sys.argv[0]))
    config = server.ServableStartConfig(servable_directory=place, servable_name="nets", device_ids=(0, 1))
    server.start_servables(servable_configs=config)
    server.start_grpc_server(address="127.0.0.1:GRPC")
    server.start_restful_server(address="127.0.0.1:REST")


if __name__ == "__main__":
    start()
'''


def free_ports(n):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def spore_run(folder, *arguments):
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    return subprocess.run([SPORE, "run", *arguments], cwd=folder, capture_output=True, text=True, timeout=10 * WAIT, env=env, check=False)


class Servables:
    def __init__(self, folder):
        self.folder = folder
        self.grpc, self.rest = free_ports(2)
        (folder / "server.py").write_text(START.replace("GRPC", str(self.grpc)).replace("REST", str(self.rest)))
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen([SPORE, "run", "server.py"], cwd=folder, stdout=log, stderr=log, env=env)
        until = time.monotonic() + 10 * WAIT
        while "RESTful server start success" not in self.log():
            assert self.process.poll() is None and time.monotonic() < until, self.log()
            time.sleep(0.1)

    def log(self):
        return (self.folder / "log").read_text()

    def ask(self, method, *instances):
        """(status, reply) over REST."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.rest}/model/nets:{method}", json.dumps({"instances": list(instances)}).encode())
        try:
            with urllib.request.urlopen(request, timeout=WAIT) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


@pytest.fixture(scope="module", name="servables")
def _servables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("servables")
    (folder / "nets" / "1").mkdir(parents=True)
    (folder / "nets" / "servable_config.py").write_text(CONFIG)
    (folder / "export.py").write_text(EXPORT)
    done = spore_run(folder, "export.py")
    assert done.returncode == 0, done.stderr
    s = Servables(folder)
    yield s
    s.process.send_signal(signal.SIGTERM)
    assert s.process.wait(WAIT) == 0, s.log()
    for port in (s.grpc, s.rest): # nothing is left that listens
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


def test_rest(servables):
    one = {"x1": [[1.5, 2.0], [3.0, 4.0]], "x2": [[1.0, 1.0], [1.0, 1.0]]}
    two = {"x1": [[2.0, 2.0], [2.0, 2.0]], "x2": [[2.0, 2.0], [2.0, 2.0]]}
    assert servables.ask("add_common", one, two) == (200, {"instances": [{"y": [[2.5, 3.0], [4.0, 5.0]]}, {"y": [[4.0, 4.0], [4.0, 4.0]]}]})
    assert servables.ask("add_cast", {"x1": [[1, 2], [3, 4]], "x2": [[1, 1], [1, 1]]}) == (200, {"instances": [{"y": [[2.0, 3.0], [4.0, 5.0]]}]})


def test_instances_beyond_the_models_batch(servables):
    """The model takes 4 rows: 6 instances are two runs, the second filled up."""
    instances = [{"x": [float(i), 1.0, 2.0]} for i in range(6)]
    status, reply = servables.ask("double", *instances)
    assert status == 200 and reply["instances"] == [{"y": [2.0 * i, 2.0, 4.0]} for i in range(6)]


def test_texts_and_bytes_in_batches(servables):
    status, reply = servables.ask("describe", *({"text": t, "data": {"b64": "AQID"}} for t in "abc"))
    assert status == 200 and [i["text"] for i in reply["instances"]] == ["a:2:uint8", "b:2:uint8", "c:1:uint8"] and reply["instances"][0]["data"] == {"b64": "AwIB"}


def test_failures_are_those_of_single_instances(servables):
    status, reply = servables.ask("call", {"x": [1.0, 2.0, 3.0]}, {"x": [-1.0, -2.0, -3.0]})
    assert status == 200 and reply["instances"][0] == {"y": [4.0, 8.0, 12.0]} and "error msg: negative" in reply["instances"][1]["error_msg"]
    status, reply = servables.ask("call", {"x": [-1.0, -2.0, -3.0]})
    assert status == 400 and "Call called Failed, method call, stage index 1, error msg: negative" in reply["error_msg"]
    status, reply = servables.ask("double", {"x": [1.0, 2.0]})
    assert status == 400 and "Given model input 0 size 8 not match the size 12" in reply["error_msg"]
    status, reply = servables.ask("double", {"x": [1, 2, 3]})
    assert status == 400 and "data type int32 not match" in reply["error_msg"]
    status, reply = servables.ask("double", {"y": [1.0, 2.0, 3.0]})
    assert status == 400 and "Cannot find input x in instance input" in reply["error_msg"]
    status, reply = servables.ask("fault", {"x": [1.0]})
    assert status == 400 and "Call Wrong Failed" in reply["error_msg"] and "outputs_count is 1" in reply["error_msg"]
    status, reply = servables.ask("none", {"x": [1.0]})
    assert status == 404 and "method is not available" in reply["error_msg"]


CLIENT = '''
import numpy as np
from mindspore_serving.client import Client

client = Client("127.0.0.1:GRPC", "nets", "add_cast")
print(client.infer([{"x1": np.ones((2, 2), np.int32), "x2": np.ones((2, 2), np.int32)}])[0]["y"].tolist())
future = client.infer_async({"x1": np.ones((2, 2), np.int32), "x2": np.zeros((2, 2), np.int32)})
print(future.result()[0]["y"].dtype)
described = Client("127.0.0.1:GRPC", "nets", "describe", version_number=1).infer({"text": "é", "data": b"ab"})
print(described[0]["text"], described[0]["data"])
print(Client("127.0.0.1:GRPC", "nets", "none").infer({"x": 1}))
print(Client("127.0.0.1:GRPC", "nets", "double", 7).infer({"x": 1}))
print(Client("127.0.0.1:1", "nets", "double").infer({"x": 1})["error"].startswith("Grpc Error, (14, 'unavailable')"))
'''


def test_the_client(servables):
    (servables.folder / "client.py").write_text(CLIENT.replace("GRPC", str(servables.grpc)))
    done = spore_run(servables.folder, "client.py")
    lines = done.stdout.splitlines()
    assert lines[0] == "[[2.0, 2.0], [2.0, 2.0]]" and lines[1] == "float32" and lines[2] == "é:1:uint8 b'ba'", (done.stdout, done.stderr)
    assert "method is not available" in lines[3] and "has no version 7" in lines[4] and lines[-1] == "True"


def test_grpc_over_http2(servables):
    tensor = http2.message((1, http2.message((1, http2.packed([3])))), (2, 11), (3, np.ones(3, np.float32).tobytes()))
    request = http2.message((1, http2.message((1, "nets"), (2, "double"))), (2, http2.message((1, http2.message((1, "x"), (2, tensor))))))
    with http2.Http2(servables.grpc) as c:
        status, _, reply = c.grpc("/mindspore.serving.proto.MSService/Predict", request)
    instance = dict(http2.fields(dict(http2.fields(reply))[3]))
    found = dict(http2.fields(dict(http2.fields(instance[1]))[2]))
    assert status == 0 and np.frombuffer(found[3], np.float32).tolist() == [2, 2, 2] and found[2] == 11


def test_a_process_that_dies_is_started_again(servables):
    for _ in range(2):
        status, reply = servables.ask("die", {"x": [1.0]})
        assert status == 503 and "servable is not available" in reply["error_msg"]
        until = time.monotonic() + 2 * WAIT
        answers = [servables.ask("double", {"x": [1.0, 1.0, 1.0]})] # the other process, or the new one
        assert answers[0][0] == 200
        while servables.log().count("it is started again") == 0 and time.monotonic() < until:
            time.sleep(0.1)
    assert "it is started again" in servables.log()
    assert servables.ask("double", {"x": [1.0, 1.0, 1.0]}) == (200, {"instances": [{"y": [2.0, 2.0, 2.0]}]})


@pytest.mark.parametrize("config, text", [
    ("from mindspore_serving.server import register\nregister.declare_model('none.mindir', 'MindIR')\n@register.register_method(output_names=['y'])\ndef f(x):\n    return x\n", "none.mindir"),
    ("import nothing_of_this_name\n", "nothing_of_this_name"),
    ("from mindspore_serving.server import register\n", "registers no method"),
    ("from mindspore_serving.server import register\nregister.declare_model('a.om', 'OM')\n", "model_format"),
    ("from mindspore_serving.server import register\n@register.register_method(output_names=['y', 'z'])\ndef f(x):\n    return x\n", "returns 1 values"),
])
def test_servables_that_cannot_start(tmp_path, config, text):
    (tmp_path / "bad" / "1").mkdir(parents=True)
    (tmp_path / "bad" / "servable_config.py").write_text(config)
    (tmp_path / "start.py").write_text(textwrap.dedent("""
        from mindspore_serving import server
        try:
            server.start_servables(server.ServableStartConfig(".", "bad"))
        except RuntimeError as error:
            print("refused:", error)
        """))
    done = spore_run(tmp_path, "start.py")
    assert done.returncode == 0 and "refused: " in done.stdout and text in done.stdout, done


OLD = '''
import numpy as np
from mindspore_serving.server import register


def before(instances):
    for (x,) in instances:
        yield (x.astype(np.float32),)


def after(y):
    return float(y.sum()), y


register.declare_servable(servable_file="rows.mindir", model_format="MindIR")


@register.register_method(output_names=["total", "y"])
def predict(x):
    x = register.call_preprocess_pipeline(before, x)
    y = register.call_servable(x)
    total, y = register.call_postprocess(after, y)
    return total, y
'''


def test_nothing_outlives_a_program_that_is_killed(tmp_path):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "servable_config.py").write_text("from mindspore_serving.server import register\n@register.register_method(output_names=['y'])\ndef same(x):\n    return x\n")
    s = Servables(tmp_path)
    assert s.ask("same", {"x": [1.0]}) == (200, {"instances": [{"y": [1.0]}]})
    s.process.kill()
    s.process.wait()
    until = time.monotonic() + WAIT
    for port in (s.grpc, s.rest):
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
            except ConnectionRefusedError:
                break
            assert time.monotonic() < until, "a server is left"
            time.sleep(0.05)


def test_the_older_calls(tmp_path):
    """Preprocess, servable, postprocess; run without servers, as a worker does."""
    (tmp_path / "nets" / "1").mkdir(parents=True)
    (tmp_path / "nets" / "servable_config.py").write_text(OLD)
    (tmp_path / "all.py").write_text(EXPORT + textwrap.dedent("""
        import sys
        sys.path.insert(0, ".")
        import nets.servable_config
        from spore.serving import _methods
        for model in _methods.REGISTRY.models:
            model._load("nets/1", None, None)
        print(_methods.run_method(_methods.REGISTRY.methods["predict"], [{"x": np.arange(3)}, {"x": np.arange(3) + 1}]))
        """))
    done = spore_run(tmp_path, "all.py")
    assert done.returncode == 0 and "'total': array(6.)" in done.stdout and "'total': array(12.)" in done.stdout, done

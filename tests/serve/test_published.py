# SPDX-License-Identifier: Apache-2.0
"""The kinds of servables that MindSpore Serving's guides show, typed as its users type them, under `spore run`: one model; two models behind each other; pictures in, names of
classes out, one by one and in batches of a data pipeline; texts through an LSTM; a model of several files; pipelines of methods, of this servable and of others."""
import pathlib
import shutil
import signal
import subprocess
import os
import time

import pytest
from conftest import SPORE, WAIT
from test_servables import free_ports, spore_run

IMAGES = pathlib.Path(__file__).parents[1] / "oracle_vision" / "images"

EXPORT = '''
import numpy as np
import mindspore as ms
from mindspore import nn, ops

ms.set_seed(3)


class Add(nn.Cell):
    def construct(self, x1, x2):
        return ops.add(x1, x2)


class Sub(nn.Cell):
    def construct(self, x1, x2):
        return ops.sub(x1, x2)


class MatMul(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor(np.full((16, 96), 0.5, np.float32)), name="w")

    def construct(self, x):
        return ops.matmul(x, self.weight.T).sum(0)


class Mood(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(64, 8)
        self.lstm = nn.LSTM(8, 12, batch_first=True)
        self.last = nn.Dense(12, 2)

    def construct(self, ids):
        out, _ = self.lstm(self.words(ids))
        return ops.softmax(self.last(out[:, -1]))


def tensor(*shape, dtype=np.float32):
    return ms.Tensor(np.ones(shape, dtype))


for name in ("add", "add_sub", "pipeline"):
    ms.export(Add(), tensor(2, 2), tensor(2, 2), file_name=f"{name}/1/tensor_add", file_format="MINDIR")
    if name != "add":
        ms.export(Sub(), tensor(2, 2), tensor(2, 2), file_name=f"{name}/1/tensor_sub", file_format="MINDIR")
ms.export(MatMul(), tensor(128, 96), file_name="matmul/1/matmul_0", file_format="MINDIR")
ms.export(MatMul(), tensor(8, 96), file_name="matmul/1/matmul_1", file_format="MINDIR")
resnet = nn.SequentialCell(nn.Conv2d(3, 4, 7, 8), nn.ReLU(), nn.AvgPool2d(28, 28), nn.Flatten(), nn.Dense(4, 5)).set_train(False)
ms.export(resnet, tensor(2, 3, 224, 224), file_name="resnet/1/resnet", file_format="MINDIR")
ms.export(Mood().set_train(False), tensor(4, 6, dtype=np.int32), file_name="lstm/1/lstm", file_format="MINDIR")
'''

CONFIGS = {"add": '''
import numpy as np
from mindspore_serving.server import register


def add_trans_datatype(x1, x2):
    return x1.astype(np.float32), x2.astype(np.float32)


model = register.declare_model(model_file="tensor_add.mindir", model_format="MindIR", with_batch_dim=False)


@register.register_method(output_names=["y"])
def add_common(x1, x2):
    y = register.add_stage(model, x1, x2, outputs_count=1)
    return y


@register.register_method(output_names=["y"])
def add_cast(x1, x2):
    x1, x2 = register.add_stage(add_trans_datatype, x1, x2, outputs_count=2)
    y = register.add_stage(model, x1, x2, outputs_count=1)
    return y
''', "add_sub": '''
import numpy as np
from mindspore_serving.server import register

add_model = register.declare_model(model_file="tensor_add.mindir", model_format="MindIR", with_batch_dim=False)
sub_model = register.declare_model(model_file="tensor_sub.mindir", model_format="MindIR", with_batch_dim=False)


def one_more(x):
    return x + 1


@register.register_method(output_names=["y"])
def add_sub_only_model(x1, x2, x3):
    y = register.add_stage(add_model, x1, x2, outputs_count=1)
    y = register.add_stage(sub_model, y, x3, outputs_count=1)
    return y


@register.register_method(output_names=["y"])
def add_sub_complex(x1, x2, x3):
    y = register.add_stage(add_model, x1, x2, outputs_count=1)
    y = register.add_stage(one_more, y, outputs_count=1)
    y = register.add_stage(sub_model, y, x3, outputs_count=1)
    y = register.add_stage(one_more, y, outputs_count=1)
    return y
''', "matmul": '''
from mindspore_serving.server import register

context = register.Context(thread_num=1)
context.append_device_info(register.CPUDeviceInfo(precision_mode="origin"))
model = register.declare_model(model_file=["matmul_0.mindir", "matmul_1.mindir"], model_format="MindIR", with_batch_dim=False, context=context)


def process(x, y):
    z1 = model.call(x, subgraph=0)
    z2 = model.call(y, subgraph=1)
    return z1 + z2


@register.register_method(output_names=["z"])
def predict(x, y):
    z = register.add_stage(process, x, y, outputs_count=1)
    return z
''', "resnet": '''
import ast
import os
import numpy as np
import mindspore.dataset as ds
import mindspore.dataset.transforms as transforms
import mindspore.dataset.vision as vision
from mindspore_serving.server import register

cur_dir = os.path.abspath(os.path.dirname(__file__))
with open(os.path.join(cur_dir, "labels.txt"), "r") as fp:
    idx_2_label = ast.literal_eval(fp.read())
MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


def preprocess_eager(image):
    image = vision.Decode()(image)
    image = vision.Resize([224, 224])(image)
    image = vision.Normalize(mean=MEAN, std=STD)(image)
    return vision.HWC2CHW()(image)


def preprocess_batch(instances):
    def generator_func():
        for instance in instances:
            yield (instance[0],)

    data = ds.GeneratorDataset(generator_func, ["image"], shuffle=False)
    data = data.map(operations=vision.Decode(), input_columns="image", num_parallel_workers=2)
    trans = [vision.Resize([224, 224]), vision.Normalize(mean=MEAN, std=STD), vision.HWC2CHW()]
    data = data.map(operations=transforms.Compose(trans), input_columns="image", num_parallel_workers=2)
    for row in data.create_dict_iterator():
        yield (row["image"],)


def postprocess_top1(score):
    return idx_2_label[int(np.argmax(score))]


def postprocess_top3(score):
    idx = np.argsort(score)[::-1][:3]
    return ";".join(idx_2_label[i] for i in idx), score[idx]


model = register.declare_model(model_file="resnet.mindir", model_format="MindIR")


@register.register_method(output_names=["label"])
def classify_top1_batch(image):
    x = register.add_stage(preprocess_batch, image, outputs_count=1, batch_size=1024)
    x = register.add_stage(model, x, outputs_count=1)
    return register.add_stage(postprocess_top1, x, outputs_count=1)


@register.register_method(output_names=["label"])
def classify_top1_v1(image):
    x = register.add_stage(preprocess_eager, image, outputs_count=1)
    x = register.add_stage(model, x, outputs_count=1)
    return register.add_stage(postprocess_top1, x, outputs_count=1)


def whole(instances):
    scores = model.call([[preprocess_eager(image)] for (image,) in instances])
    return [postprocess_top1(score) for (score,) in scores]


@register.register_method(output_names=["label"])
def classify_top1_v2(image):
    return register.add_stage(whole, image, outputs_count=1, batch_size=0)


@register.register_method(output_names=["label", "score"])
def classify_top3(image):
    x = register.add_stage(preprocess_eager, image, outputs_count=1)
    x = register.add_stage(model, x, outputs_count=1)
    label, score = register.add_stage(postprocess_top3, x, outputs_count=2)
    return label, score
''', "lstm": '''
import numpy as np
from mindspore_serving.server import register

model = register.declare_model(model_file="lstm.mindir", model_format="MindIR")


def words(text):
    ids = [sum(word.encode()) % 64 for word in text.split()][:6]
    return np.array(ids + [0] * (6 - len(ids)), np.int32)


@register.register_method(output_names=["mood", "scores"])
def mood(text):
    scores = register.add_stage(model, register.add_stage(words, text, outputs_count=1), outputs_count=1)
    return register.add_stage(lambda s: ("good" if s[0] > s[1] else "bad"), scores, outputs_count=1, tag="mood"), scores
''', "pipeline": '''
import numpy as np
from mindspore_serving.server import register
from mindspore_serving.server.register import PipelineServable

register.declare_servable(servable_file=["tensor_add.mindir", "tensor_sub.mindir"], model_format="MindIR", with_batch_dim=False)


@register.register_method(output_names=["y"])
def add_common(x1, x2):
    y = register.call_servable(x1, x2, subgraph=0)
    return y


@register.register_method(output_names=["y"])
def sub_common(x1, x2):
    y = register.call_servable(x1, x2, subgraph=1)
    return y


@register.register_method(output_names=["a", "b"])
def both(x1, x2):
    return x1, x2


servable1 = PipelineServable(servable_name="pipeline", method="add_common", version_number=1)
servable2 = PipelineServable(servable_name="pipeline", method="sub_common")
servable3 = register.PipelineServable("pipeline", "both")
reader = PipelineServable(servable_name="lstm", method="mood")
nobody = PipelineServable(servable_name="nobody", method="mood")


@register.register_pipeline(output_names=["y1", "y2"])
def predict(x1, x2):
    y1 = servable1.run(x1, x2)
    for _ in range(3):
        y2 = servable2.run(x1, x2)
    return y1, y2


@register.register_pipeline(output_names=["x1", "x2"])
def pass_on(x1, x2):
    if x1 == "too many":
        return servable3.run(x1, x2, 123)
    if x1 == "too few":
        a, b, c = servable3.run(x1, x2)
    if x1 == "a list":
        return x1, [123, [456]]
    if x1 == "nobody":
        nobody.run("x")
    if x1 == "count":
        return x1
    return servable3.run(x1, x2)


@register.register_pipeline(output_names="moods")
def read(text):
    one, scores = reader.run(text)
    assert scores.shape == (2,) and one in ("good", "bad")
    two = reader.run([text, text])
    assert len(two) == 2 and two[0][0] == one and np.array_equal(two[1][1], scores)
    return f"{one} {len(two)} {predict.__name__}"


@register.register_pipeline(output_names="size")
def wrong_input(text):
    return reader.run(text, text)
'''}

START = '''
import os
import sys
from mindspore_serving import server


def start():
    servable_dir = os.path.dirname(os.path.realpath(sys.argv[0]))
    configs = [server.ServableStartConfig(servable_directory=servable_dir, servable_name=name, device_ids=0)
               for name in ("add", "add_sub", "matmul", "lstm", "pipeline")]
    configs.append(server.ServableStartConfig(servable_directory=servable_dir, servable_name="resnet", device_ids=[0], num_parallel_workers=2))
    server.start_servables(servable_configs=configs)
    server.start_grpc_server(address="127.0.0.1:GRPC")
    server.start_restful_server(address="127.0.0.1:REST")


if __name__ == "__main__":
    start()
'''

CLIENT = '''
import base64
import json
import os
import urllib.request
import numpy as np
from mindspore_serving.client import Client


def client(servable, method, version=0):
    return Client("localhost:GRPC", servable, method, version)


def rest(servable, method, instances, version=""):
    data = json.dumps({"instances": instances}).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:REST/model/{servable}{version}:{method}", data) as reply:
        return json.load(reply)["instances"]


def add():
    instances, expected = [], []
    for i in range(3):
        x1 = np.asarray([[1.1, 2.2], [3.3, 4.4]]).astype(np.float32) * (i + 1)
        x2 = np.asarray([[5.5, 6.6], [7.7, 8.8]]).astype(np.float32) * (i + 1)
        expected.append(x1 + x2)
        instances.append({"x1": x1, "x2": x2})
    for result, y in zip(client("add", "add_common").infer(instances), expected):
        assert (result["y"] == y).all()
    ones = np.ones((2, 2), np.int32)
    assert client("add", "add_cast", 1).infer({"x1": ones, "x2": ones})[0]["y"].dtype == np.float32
    assert np.allclose(rest("add", "add_common", [{"x1": x1.tolist(), "x2": x2.tolist()}], "/version/1")[0]["y"], expected[-1])


def add_sub():
    x1, x2, x3 = (np.full((2, 2), v, np.float32) for v in (30, 20, 10))
    for method, y in (("add_sub_only_model", x1 + x2 - x3), ("add_sub_complex", x1 + x2 + 1 - x3 + 1)):
        result = client("add_sub", method).infer([{"x1": x1, "x2": x2, "x3": x3}])
        assert (result[0]["y"] == y).all()


def matmul():
    result = client("matmul", "predict").infer({"x": np.ones((128, 96), np.float32), "y": np.ones((8, 96), np.float32)})
    assert np.allclose(result[0]["z"], 48 * (128 + 8)) and result[0]["z"].shape == (16,)


def resnet():
    images = []
    for path, _, names in os.walk("./test_image/"):
        for name in sorted(names):
            with open(os.path.join(path, name), "rb") as fp:
                images.append(fp.read())
    instances = [{"image": image} for image in images]
    labels = [r["label"] for r in client("resnet", "classify_top1_v1").infer(instances)]
    assert len(labels) == 5 and all(label.startswith("kind ") for label in labels)
    assert [r["label"] for r in client("resnet", "classify_top1_batch").infer(instances)] == labels
    assert [r["label"] for r in client("resnet", "classify_top1_v2").infer(instances)] == labels
    top = client("resnet", "classify_top3").infer_async(instances).result()
    assert [t["label"].split(";")[0] for t in top] == labels and all(t["score"].shape == (3,) and t["score"][0] >= t["score"][1] for t in top)
    sent = [{"image": {"b64": base64.b64encode(image).decode()}} for image in images]
    assert [r["label"] for r in rest("resnet", "classify_top1_v1", sent)] == labels
    bad = client("resnet", "classify_top1_v1").infer([instances[0], {"image": b"no picture"}])
    assert bad[0]["label"] == labels[0] and "Call preprocess_eager Failed" in bad[1]["error"], bad


def lstm():
    texts = ["a fine day", "the worst of all days", "so so", "and so on", "until the end"]
    results = client("lstm", "mood").infer([{"text": t} for t in texts])
    assert all(r["mood"] == ("good" if r["scores"][0] > r["scores"][1] else "bad") for r in results) and len(results) == 5
    alone = [client("lstm", "mood").infer({"text": t})[0]["scores"] for t in texts]
    assert all(np.allclose(a, r["scores"]) for a, r in zip(alone, results))


def pipeline():
    instances = [{"x1": np.full((2, 2), i, np.float32), "x2": np.full((2, 2), 1, np.float32)} for i in (1, 2, 3)]
    for i, result in zip((1, 2, 3), client("pipeline", "predict").infer(instances)):
        assert (result["y1"] == i + 1).all() and (result["y2"] == i - 1).all()
    for values in (["ABC", "DEF", "HIJ"], [11, 12, 13], [True, False, True], [1.5, 2.5, 3.5]):
        result = client("pipeline", "pass_on").infer([{"x1": v, "x2": 2} for v in values])
        assert [r["x1"] for r in result] == values and result[0]["x2"] == 2
    result = client("pipeline", "pass_on").infer([{"x1": v, "x2": 1} for v in ("fine", "too many", "too few", "a list", "nobody", "count", "fine too")])
    assert [r.get("x1") for r in result] == ["fine", None, None, None, None, None, "fine too"], result
    assert all("Pipeline Failed" in r["error"] for r in result[1:6])
    assert "has 2 inputs, x1, x2, but 3 were given" in result[1]["error"] and "no servable 'nobody'" in result[4]["error"], result
    lacking = client("pipeline", "pass_on").infer([{"x1": 1, "x2": 2}, {"x1": 1, "x3": 2}])
    assert "Cannot find input x2 in instance input" in lacking["error"]
    assert rest("pipeline", "read", [{"text": "a fine day"}])[0]["moods"].endswith(" 2 predict")
    wrong = client("pipeline", "wrong_input").infer({"text": "a"})
    assert "method mood has 1 inputs, text, but 2 were given" in wrong["error"], wrong


for run in (add, add_sub, matmul, resnet, lstm, pipeline):
    run()
    print(run.__name__, "passed", flush=True)
'''


@pytest.fixture(scope="module", name="served")
def _served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    for name, config in CONFIGS.items():
        (folder / name / "1").mkdir(parents=True)
        (folder / name / "servable_config.py").write_text(config)
    (folder / "resnet" / "labels.txt").write_text(repr({i: f"kind {i}" for i in range(5)}))
    (folder / "test_image").mkdir()
    for name in ("china.jpg", "flower.jpg", "coffee.jpg", "china_progressive.jpg"):
        shutil.copy(IMAGES / name, folder / "test_image" / name)
    shutil.copy(IMAGES / "flower.jpg", folder / "test_image" / "one_more.jpg")
    (folder / "export.py").write_text(EXPORT)
    done = spore_run(folder, "export.py")
    assert done.returncode == 0, done.stderr
    grpc, rest = map(str, free_ports(2))
    (folder / "server.py").write_text(START.replace("GRPC", grpc).replace("REST", rest))
    (folder / "client.py").write_text(CLIENT.replace("GRPC", grpc).replace("REST", rest))
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([SPORE, "run", "server.py"], cwd=folder, stdout=log, stderr=log, env=env)
    until = time.monotonic() + 10 * WAIT
    while "RESTful server start success" not in (folder / "log").read_text():
        assert process.poll() is None and time.monotonic() < until, (folder / "log").read_text()
        time.sleep(0.1)
    yield folder
    process.send_signal(signal.SIGTERM)
    assert process.wait(WAIT) == 0, (folder / "log").read_text()


def test_the_examples_of_the_guides(served):
    done = spore_run(served, "client.py")
    logs = "\n".join(p.read_text() for p in (served / "serving_logs").iterdir())
    assert done.returncode == 0, (done.stdout, done.stderr, logs)
    assert done.stdout.split()[::2] == ["add", "add_sub", "matmul", "resnet", "lstm", "pipeline"]


def test_threads_are_those_of_the_servable(tmp_path):
    config = tmp_path / "bad" / "servable_config.py"
    config.parent.mkdir()
    script = tmp_path / "start.py"
    script.write_text("from mindspore_serving import server\ntry:\n    server.start_servables(server.ServableStartConfig('.', 'bad'))\nexcept RuntimeError as error:\n    print(error)\n")
    head = "from mindspore_serving.server import register\n"
    for text, wanted in ((head + "register.declare_model('a', 'MindIR', context=register.Context(thread_num=1))\nregister.declare_model('b', 'MindIR', context=register.Context(thread_num=2))\n",
                          "one declares thread_num 1"),
                         (head + "register.declare_model('a', 'MindIR', context=register.Context(thread_affinity_core_list=[4095]))\n", "this process may run on"),
                         (head + "register.Context(enable_parallel=True)\n", "enable_parallel")):
        config.write_text(text)
        assert wanted in spore_run(tmp_path, "start.py").stdout

# SPDX-License-Identifier: Apache-2.0
"""spore convert, draw, predict and inspect on models."""
import json
import pathlib
import sys
import xml.dom.minidom

import numpy as np
import pytest

import spore as ms
from spore import nn, ops

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "oracle_onnx"))
import export_nets  # noqa: E402

@pytest.fixture(name="spore")
def _spore(spore_command):
    return spore_command


@pytest.fixture(scope="module", name="lenet")
def _lenet(tmp_path_factory):
    """(folder with lenet.onnx and lenet.mindir, input, output)"""
    folder = tmp_path_factory.mktemp("models")
    net, inputs = export_nets.cases()["lenet"]
    net.set_train(False)
    for kind in ("ONNX", "MINDIR"):
        ms.export(net, *map(ms.Tensor, inputs), file_name=str(folder / "lenet"), file_format=kind)
    return folder, inputs[0], export_nets.nets.run(net, inputs)[0]


def run(path, x):
    load = ms.onnx.load if str(path).endswith(".onnx") else lambda p: nn.GraphCell(ms.load(p))
    found = load(str(path))(*map(ms.Tensor, x))
    return [r.asnumpy() for r in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", ["lenet", "mlp", "residual", "attention", "elementwise"])
def test_convert_there_and_back(spore, tmp_path, name):
    """ONNX as MindIR, that as ONNX, and that once more: results and weights stay what they were."""
    net, inputs = export_nets.cases()[name]
    net.set_train(False)
    ms.export(net, *map(ms.Tensor, inputs), file_name=str(tmp_path / "a"), file_format="ONNX")
    spore("convert", tmp_path / "a.onnx", tmp_path / "b.mindir")
    spore("convert", tmp_path / "b.mindir", tmp_path / "c.onnx", "--opset", 13)
    spore("convert", tmp_path / "c.onnx", tmp_path / "d.onnx")
    for path in ("a.onnx", "b.mindir", "c.onnx", "d.onnx"):
        for got, want in zip(run(tmp_path / path, inputs), export_nets.nets.run(net, inputs)):
            np.testing.assert_allclose(got, want, 1e-4, 1e-4)
    names = [set(ms.load_checkpoint(str(tmp_path / path))) for path in ("a.onnx", "d.onnx")]
    assert {p.name for p in net.trainable_params()} <= names[1] | {"nothing"} and names[0] & names[1]


def test_convert_keeps_free_sizes(spore, tmp_path):
    net = nn.SequentialCell(nn.Dense(4, 3), nn.ReLU())
    ms.onnx.export(net, ops.ones((2, 4), ms.float32), file_name=str(tmp_path / "a"), input_names=["x"], dynamic_axes={"x": {0: "n"}})
    spore("convert", tmp_path / "a.onnx", tmp_path / "b.onnx")
    assert run(tmp_path / "b.onnx", [np.ones((9, 4), np.float32)])[0].shape == (9, 3)


def test_convert_refuses(spore, lenet, tmp_path):
    folder = lenet[0]
    assert "cannot be changed" in spore("convert", folder / "lenet.onnx", tmp_path / "b.mindir", "--strip", "x", code=2)
    ms.save_checkpoint(nn.Dense(2, 2), str(tmp_path / "w.ckpt"))
    assert "weights alone" in spore("convert", tmp_path / "w.ckpt", tmp_path / "b.onnx", code=1)
    assert not (tmp_path / "b.onnx").exists() and not (tmp_path / "b.mindir").exists()


@pytest.mark.parametrize("name", ["lenet.onnx", "lenet.mindir"])
def test_inspect_sums_up_the_graph(spore, lenet, name):
    found = json.loads(spore("inspect", lenet[0] / name, "--json"))
    graph = found["graph"]
    assert [one["shape"] for one in graph["inputs"]] == [[2, 1, 32, 32]]
    # two convolutions and two products, of two pictures
    assert graph["multiply_adds"] == 2 * (28 * 28 * 6 * 25 + 10 * 10 * 16 * 6 * 25 + 400 * 32 + 32 * 10)
    assert graph["operators"].get("Conv", graph["operators"].get("Conv2D")) == 2
    assert "multiply-adds" in spore("inspect", lenet[0] / name)


@pytest.mark.parametrize("name", ["lenet.onnx", "lenet.mindir"])
def test_draw(spore, lenet, tmp_path, name):
    spore("draw", lenet[0] / name, "-o", tmp_path / "a.svg")
    picture = xml.dom.minidom.parse(str(tmp_path / "a.svg"))
    texts = [t.firstChild.data for t in picture.getElementsByTagName("text") if t.firstChild]
    assert "x" in texts and any(t.startswith("Conv") for t in texts)
    arrows = [p for p in picture.getElementsByTagName("path") if p.getAttribute("marker-end")]
    boxes = picture.getElementsByTagName("rect")
    assert len(arrows) >= len(boxes) - 2    # one rectangle is the paper


def test_draw_folds_large_nets(spore, tmp_path):
    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Dense(8, 8), nn.Dense(8, 8)

        def construct(self, x):
            return x + ops.relu(self.b(ops.relu(self.a(x))))

    net = nn.SequentialCell([Block() for _ in range(40)])
    ms.export(net, ops.ones((2, 8), ms.float32), file_name=str(tmp_path / "a"), file_format="ONNX")
    for extra, most in (([], 64), (["--boxes", "10"], 14), (["--depth", "0"], 1000)):
        spore("draw", tmp_path / "a.onnx", "-o", tmp_path / "a.svg", "--force", *extra)
        boxes = len(xml.dom.minidom.parse(str(tmp_path / "a.svg")).getElementsByTagName("rect"))
        assert boxes <= most and (most < 1000 or boxes > 200)


def drawing(spore, path, tmp_path, *extra):
    """Boxes of a picture, as their texts, and its edges, as pairs of boxes (paths end at the middle of a box's border)."""
    spore("draw", path, "-o", tmp_path / "drawing.svg", "--force", *extra)
    picture = xml.dom.minidom.parse(str(tmp_path / "drawing.svg"))
    boxes, frames = [], []
    for group in picture.getElementsByTagName("g"):
        frame = group.getElementsByTagName("rect")[0]
        frames.append([float(frame.getAttribute(k)) for k in ("x", "y", "width", "height")])
        boxes.append([t.firstChild.data for t in group.getElementsByTagName("text") if t.firstChild])
    def touching(x, y):
        return next((i for i, (left, top, w, h) in enumerate(frames) if abs(left + w / 2 - x) < 0.2 and min(abs(top - y), abs(top + h - y)) < 0.2), None)
    steps = {}
    for path_ in picture.getElementsByTagName("path"):
        numbers = [float(n) for n in path_.getAttribute("d").replace("M", " ").replace("C", " ").replace("V", " ").replace("L", " ").replace("z", "").split()]
        if path_.getAttribute("style"):
            continue
        end = (numbers[0], numbers[2]) if len(numbers) == 3 else (numbers[-2], numbers[-1])
        steps.setdefault((numbers[0], numbers[1]), []).append(end)
    edges = set()
    for start in list(steps):
        source = touching(*start)
        ends = list(steps[start]) if source is not None else []
        while ends:
            end = ends.pop()
            if touching(*end) is not None:
                edges.add((source, touching(*end)))
            else:
                ends += steps.get(end, [])
    return boxes, edges


def following(boxes, edges, title):
    """Titles of the boxes behind those of that title."""
    return sorted(boxes[b][0] for a, b in edges if boxes[a][0] == title)


MINDIR = HERE / "data" / "mindir"


def test_draw_what_mindspore_wrote(spore, tmp_path):
    """Effects that are waited for are no data: the last layer leads to the result, and nothing else does."""
    boxes, edges = drawing(spore, MINDIR / "lenet.mindir", tmp_path)
    titles = [b[0] for b in boxes]
    assert titles.count("Conv2D") == 2 and titles.count("MatMul") == titles.count("BiasAdd") == 3 and "MakeTuple" not in titles
    assert len(edges) == len(boxes) - 1                     # a chain
    last = max(range(len(boxes)), key=lambda i: i)
    assert [boxes[a] for a, b in edges if b == last] == [["BiasAdd", "fc3", "(10,), 10 weights"]]
    assert not [b for a, b in edges if a == last]
    weights = sum(int(line.split(",")[-1].split()[0]) for b in boxes for line in b if line.endswith("weights") and " k " not in line)
    assert weights == 150 + 2400 + 32 + 768 + 24 + 240 + 10


@pytest.mark.parametrize("name", sorted(p.name for p in MINDIR.glob("*.mindir") if "enc_" not in p.name and "key" not in p.name
                                        and p.name != "bprop_control_flow.mindir"))     # which has operators that spore lacks
def test_every_result_is_drawn_with_its_origin(spore, tmp_path, name):
    """Of all files that MindSpore wrote: no result hangs in the air, and what keeps order is left out."""
    boxes, edges = drawing(spore, MINDIR / name, tmp_path, "--depth", "0")
    graph = json.loads(spore("inspect", MINDIR / name, "--json"))
    n_out = len(graph["graph"]["outputs"])
    for i in range(len(boxes) - n_out, len(boxes)):
        assert [a for a, b in edges if b == i], (name, boxes[i])
    assert not {b[0] for b in boxes} & {"Load", "Depend", "UpdateState", "Partial"}


def test_draw_branches_of_mindir(spore, tmp_path):
    boxes, edges = drawing(spore, MINDIR / "if_net.mindir", tmp_path)
    assert sorted(b[2] for b in boxes if b[0] == "MatMul") == ["(4, 4), 16 weights"] * 2
    assert {"if_1/then", "if_1/else", "Switch", "call", "Muls"} & {t for b in boxes for t in b} >= {"Switch", "call", "Muls"}
    assert following(boxes, edges, "Switch") == ["call", "call"]
    assert "Add" in following(boxes, edges, "call")
    boxes, _ = drawing(spore, MINDIR / "while_net.mindir", tmp_path)
    assert {"Less", "Mul", "Divs", "Max"} <= {b[0] for b in boxes}


def test_draw_keeps_names(spore, tmp_path):
    model = sorted((HERE / "data" / "tflite").glob("*.tflite"))[0]
    graph = json.loads(spore("inspect", model, "--json"))["graph"]
    boxes, _ = drawing(spore, model, tmp_path)
    assert [boxes[0][0], boxes[-1][0]] == [graph["inputs"][0]["name"], graph["outputs"][0]["name"]]


CONTROL = HERE / "data" / "onnx" / "control.onnx"


def test_draw_branches_and_loops_of_onnx(spore, tmp_path):
    boxes, edges = drawing(spore, CONTROL, tmp_path)
    assert {("Relu", "If_1/then"), ("Neg", "If_1/else"), ("Add", "Loop_2/body")} <= {tuple(b[:2]) for b in boxes}
    assert following(boxes, edges, "MatMul") == ["Neg", "Relu"]
    assert following(boxes, edges, "If") == ["Add", "Loop"] and following(boxes, edges, "Loop") == ["z"]
    assert ["x", "float32 (batch, 3)"] in boxes


def test_inspect_looks_into_branches(spore):
    """Weights of branches, one name in both; names of dimensions."""
    found = json.loads(spore("inspect", CONTROL, "--json"))
    assert {e["name"]: e["shape"] for e in found["entries"]} == {
        "zero": [], "turns": [], "w": [3, 4], "c": [4], "then_branch/w": [3, 4], "then_branch/c": [4], "step": [4]}
    assert found["graph"]["inputs"] == [{"name": "x", "dtype": "float32", "shape": [-1, 3], "axes": ["batch", None]}]
    assert found["graph"]["operators"]["Relu"] == 1 and "(batch, 3)" in spore("inspect", CONTROL)


def test_draw_writes_svg_only(spore, tmp_path):
    for name in ("x.png", "x.pdf", "x"):
        assert ".svg" in spore("draw", CONTROL, "-o", tmp_path / name, code=2)
    assert not list(tmp_path.iterdir())


def test_predict_takes_a_number_in_brackets(spore, tmp_path):
    ms.export(nn.ReLU(), ms.Tensor(1.0), file_name=str(tmp_path / "a"), file_format="ONNX")
    for shape in ((), (1,)):
        np.save(tmp_path / "x.npy", np.full(shape, 2.5, np.float32))
        found = json.loads(spore("predict", tmp_path / "a.onnx", "--input", tmp_path / "x.npy", "--json"))["results"][0]
        assert found["values"] == [2.5] and found["shape"] == []
    np.save(tmp_path / "x.npy", np.ones(2, np.float32))
    assert spore("predict", tmp_path / "a.onnx", "--input", tmp_path / "x.npy", code=1)


@pytest.mark.parametrize("name", ["lenet.onnx", "lenet.mindir"])
def test_predict_arrays(spore, lenet, tmp_path, name):
    folder, x, want = lenet
    np.save(tmp_path / "x.npy", x.astype(np.float64))
    text = spore("predict", folder / name, "--input", tmp_path / "x.npy", "--output", tmp_path / "y.npz", "--top", 2)
    assert f"{int(want[0].argmax())} " in text
    saved = np.load(tmp_path / "y.npz")
    np.testing.assert_allclose(saved[saved.files[0]], want, 1e-4, 1e-4)
    found = json.loads(spore("predict", folder / name, f"--input=x={tmp_path}/x.npy", "--json"))["results"][0]
    np.testing.assert_allclose(np.reshape(found["values"], found["shape"]), want, 1e-4, 1e-4)


def test_predict_finds_the_best_of_many(spore, tmp_path):
    """Of 30,000 scores in the time of reading them; equal ones in their order, what is no number last."""
    import resource
    ms.export(nn.ReLU(), ms.Tensor(np.zeros((2, 30000), np.float32)), file_name=str(tmp_path / "a"), file_format="ONNX")
    x = np.random.default_rng(1).random((2, 30000)).astype(np.float32)
    x[0, [17, 400, 3]] = 5, 5, 7
    x[1, 100:] = np.nan
    x[1, :100] = np.arange(100)
    np.save(tmp_path / "x.npy", x)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    text = spore("predict", tmp_path / "a.onnx", "--input", tmp_path / "x.npy", "--top", 4)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 5
    rows = [[int(line.split()[0]) for line in part.splitlines() if line.strip() and line.split()[0].isdigit()] for part in text.split("row ")[1:]]
    assert rows[0][1:4] == [3, 17, 400] and rows[1][1:] == [99, 98, 97, 96]


def test_predict_pictures(spore, tmp_path):
    """A picture is resized, put channels first, scaled."""
    ms.export(nn.ReLU(), ops.ones((1, 3, 4, 6), ms.float32), file_name=str(tmp_path / "a"), file_format="ONNX")
    picture = np.zeros((8, 12, 3), np.uint8)
    picture[..., 0], picture[..., 2] = 255, 51
    (tmp_path / "p.png").write_bytes(np.asarray(ms.dataset.vision.encode_png(picture)).tobytes())
    found = json.loads(spore("predict", tmp_path / "a.onnx", "--input", tmp_path / "p.png", "--std", "0.5,0.5,0.5", "--json"))
    values = np.reshape(found["results"][0]["values"], (3, 4, 6))
    np.testing.assert_allclose(values.mean((1, 2)), [2, 0, 0.4], 1e-5)


def test_predict_refuses(spore, lenet, tmp_path):
    folder = lenet[0]
    assert "--input x=FILE" in spore("predict", folder / "lenet.onnx", code=2)
    assert "cannot be opened" in spore("predict", folder / "lenet.onnx", "--input", tmp_path / "nothing.npy", code=1)
    assert "names no input; the model has: x" in spore("predict", folder / "lenet.onnx", "--input", "y=nothing.npy", code=2)
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    assert "must have" in spore("predict", folder / "lenet.onnx", "--input", tmp_path / "x.npy", code=1)
    (tmp_path / "bad.onnx").write_bytes(b"\x08\x08" + b"\xff" * 50)
    for verb in ("predict", "draw", "inspect"):
        assert spore(verb, tmp_path / "bad.onnx", code=1)


def test_help_has_examples(spore):
    for verb in ("draw", "predict", "inspect", "convert"):
        assert "examples:" in spore(verb, "--help")


class Windows(nn.Cell):
    """Sizes that follow from free ones: a product of two of them, and one with a frame around it."""

    def construct(self, x):
        rows = ops.transpose(x, (1, 0, 2)).reshape(x.shape[1], x.shape[0] * x.shape[2])
        return rows.reshape(x.shape[1], 1, -1), ops.zeros((x.shape[0], x.shape[2] + 3), ms.float32) + x.sum()


def test_free_sizes_that_are_computed(tmp_path):
    x = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)
    ms.export(Windows(), ms.Tensor(x), file_name=str(tmp_path / "a"), file_format="ONNX", dynamic_axes={"x": {0: "batch", 2: "length"}})
    for shape in ((2, 3, 5), (4, 3, 7), (1, 3, 9)):
        x = np.random.default_rng(1).random(shape, np.float32)
        for found, wanted in zip(run(tmp_path / "a.onnx", [x]), Windows()(ms.Tensor(x))):
            np.testing.assert_array_equal(found, wanted.asnumpy())


class Thirds(nn.Cell):
    def construct(self, x):
        return x[:, : x.shape[1] // 3 + 1]


class Constant(nn.Cell):
    def construct(self, x):
        return x * 2, ops.zeros((x.shape[1],), ms.float32)


@pytest.mark.parametrize("net", [Thirds, Constant])
def test_free_sizes_that_numbers_of_the_run_say(net, tmp_path):
    """A part of a size, and a result that is nothing but a size."""
    for kind, ending in (("ONNX", "onnx"), ("MINDIR", "mindir")):
        cell = net()
        cell.set_inputs(ms.Tensor(shape=(2, None), dtype=ms.float32))
        ms.export(cell, ops.ones((2, 100), ms.float32), file_name=str(tmp_path / "a"), file_format=kind)
        for n in (1, 7, 100, 333):
            x = np.random.default_rng(1).random((2, n), np.float32)
            wanted = net()(ms.Tensor(x))
            for found, want in zip(run(tmp_path / f"a.{ending}", [x]), wanted if isinstance(wanted, tuple) else [wanted]):
                np.testing.assert_array_equal(found, want.asnumpy())


def test_inspect_memory(spore, lenet, tmp_path):
    """Weights, faces, and what lies between operators, which is never below what one step needs."""
    folder, x, y = lenet
    for name in ("lenet.onnx", "lenet.mindir"):
        found = json.loads(spore("inspect", folder / name, "--memory", "--json"))["graph"]["memory"]
        assert found["inputs"] == x.nbytes and found["outputs"] == np.asarray(y).nbytes
        weights = [p.asnumpy() for p in ms.load_checkpoint(str(folder / name)).values()]  # among them the shapes that nodes want
        assert found["weights"] == sum(w.nbytes for w in weights if w.dtype == np.float32)
        assert 0 < found["least"] <= found["arena"] < 20 * found["least"]
        block = json.loads(spore("inspect", folder / name, "--memory", "--json"))["graph"]["session"]
        assert found["arena"] < block < found["arena"] + 200_000
    assert "values between operators" in spore("inspect", folder / "lenet.onnx", "--memory")
    np.save(tmp_path / "x.npy", x)
    assert "is for models" in spore("inspect", tmp_path / "x.npy", "--memory", code=1)

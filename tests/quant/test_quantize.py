# SPDX-License-Identifier: Apache-2.0
"""Networks made to compute with small integers: from Python and by the command, with good data and bad."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops

SPORE = str(pathlib.Path(os.environ["SPORE_BUILD"]) / "spore")


class Net(nn.Cell):
    """Convolutions with batch norm, a depthwise one, a residual, pooling and a dense layer."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.BatchNorm2d(8)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(8, 8, 3, pad_mode="pad", padding=1, group=8, has_bias=True)
        self.conv3 = nn.Conv2d(8, 8, 1, has_bias=True)
        self.fc = nn.Dense(8, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.norm(self.conv1(x))))
        x = x + ops.relu6(self.conv3(self.relu(self.conv2(x))))
        return self.fc(ops.mean(x, (2, 3)))


def make_net():
    ms.set_seed(1)
    net = Net()
    rng = np.random.default_rng(2)
    for p in net.get_parameters():
        values = rng.standard_normal(p.shape) * (0.4 if p.ndim > 1 else 0.1)
        if "gamma" in p.name or "variance" in p.name:
            values = np.abs(values) + 0.5
        p.set_data(Tensor(values.astype(np.float32)))
    net.set_train(False)
    return net


def samples(n=6, seed=0, rows=4):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((rows, 1, 12, 12)).astype(np.float32) for _ in range(n)]


def off(net, cell, data=None):
    """Relative error of the results."""
    pairs = [(net(Tensor(x)).asnumpy(), cell(Tensor(x)).asnumpy()) for x in data or samples(3, 9)]
    a, b = (np.concatenate([p[i] for p in pairs]).astype(np.float64) for i in (0, 1))
    return np.linalg.norm(a - b) / np.linalg.norm(a)


def spoil(net, by=300.0):
    """The same network, but one channel of conv2 has weights that leave no integers for the others."""
    for name, scale in (("conv2.weight", by), ("conv2.bias", by)):
        p = dict(net.parameters_and_names())[name]
        values = p.asnumpy().copy()
        values[3] *= scale
        p.set_data(Tensor(values))
    p = dict(net.parameters_and_names())["conv3.weight"]
    values = p.asnumpy().copy()
    values[:, 3] /= by
    p.set_data(Tensor(values))
    return net


def test_static_computes_with_integers_and_stays_close(tmp_path):
    net = make_net()
    q = ms.quantize(net, samples())
    path = tmp_path / "net.onnx"
    q.save(str(path))
    assert off(net, ms.onnx.load(str(path))) < 0.03
    figures = q.figures
    assert [layer["quantised"] for layer in figures["layers"]] == [True] * 4
    assert {layer["name"] for layer in figures["layers"]} == {"conv1", "conv2", "conv3", "fc"}
    assert figures["samples"] == 6 and figures["error"] < 0.03 and figures["cosine"] > 0.999
    assert figures["weight_bytes"] < figures["weight_bytes_before"] / 2
    effects = [layer["effect"] for layer in figures["layers"]]
    assert effects == sorted(effects, reverse=True) and effects[-1] > 0
    folded = {layer["name"]: layer["activation_folded"] for layer in figures["layers"]}
    assert folded == {"conv1": True, "conv2": True, "conv3": True, "fc": False}
    assert "conv2" in q.report() and "4 of 4" in repr(q)


def test_free_batch_stays_free(tmp_path):
    net = make_net()
    q = ms.quantize(net, samples())
    q.save(str(tmp_path / "net.onnx"))
    cell = ms.onnx.load(str(tmp_path / "net.onnx"))
    x = samples(1, 5, rows=7)[0]
    assert cell(Tensor(x)).shape == (7, 10)
    assert off(net, cell, [x]) < 0.03


def run_file(path, x, **env):
    np.save(path.parent / "x.npy", x)
    subprocess.run([SPORE, "predict", str(path), "--input", str(path.parent / "x.npy"), "--output", str(path.parent / "y.npy"), "--force"], check=True,
                   env={**os.environ, **env}, capture_output=True)
    return np.load(path.parent / "y.npy")


def test_results_are_the_same_bits_everywhere(tmp_path):
    path = tmp_path / "net.onnx"
    ms.quantize(make_net(), samples(), effect_samples=0).save(str(path))
    x = samples(1, 4)[0]
    wanted = run_file(path, x)
    for env in ({"SPORE_ISA": "portable"}, {"SPORE_ISA": "avx2"}, {"SPORE_NUM_THREADS": "1"}, {"SPORE_NUM_THREADS": "3", "SPORE_ISA": "portable"}):
        assert np.array_equal(run_file(path, x, **env), wanted), env


def test_the_spoiled_layer_is_found():
    net = spoil(make_net())
    layers = ms.quantize(net, samples(), per_tensor=True).figures["layers"]
    assert layers[0]["name"] == "conv2"
    assert layers[0]["effect"] > 5 * layers[-1]["effect"]


def test_a_target_keeps_what_loses_most():
    net = spoil(make_net())
    bad = ms.quantize(net, samples(), per_tensor=True).figures
    q = ms.quantize(net, samples(), per_tensor=True, target="cosine>=0.9998")
    assert bad["cosine"] < 0.9998 <= q.figures["metric"]
    kept = [layer["name"] for layer in q.figures["layers"] if layer["kept_float"]]
    assert kept[0] == "conv2" and len(kept) < 4
    assert off(net, q.cell()) < 0.06


def test_targets_with_labels():
    net = make_net()
    data = [(x, net(Tensor(x)).asnumpy().argmax(1)) for x in samples()]
    q = ms.quantize(net, data, target="relative>=0.9")
    assert q.figures["metric"] >= 0.9
    with pytest.raises(ValueError, match="needs labels"):
        ms.quantize(net, samples(), target="accuracy>=0.9")
    with pytest.raises(ValueError, match="must be accuracy, relative, agreement or cosine"):
        ms.quantize(net, samples(), target="speed>=2")


def test_equalisation_repairs_channels():
    net = spoil(make_net())
    plain = off(net, ms.quantize(net, samples(), per_tensor=True).cell())
    equal = off(net, ms.quantize(net, samples(), per_tensor=True, equalize=True).cell())
    assert equal < plain / 3


def with_outliers():
    data = samples(8)
    for x in data:
        x[0, 0, 0, 0] = 60.0
    return data


def test_methods_cut_outliers():
    net = make_net()
    errors = {}
    for method in ("minmax", "average", "percentile", "outliers", "entropy", "mse"):
        figures = ms.quantize(net, with_outliers(), method=method, percentile=99.5 if method == "percentile" else 99.99,
                              effect_samples=0 if method == "average" else 8).figures
        first = [layer for layer in figures["layers"] if layer["name"] == "conv1"][0]["input"]
        errors[method] = first
    assert errors["minmax"]["high"] == 60
    assert errors["percentile"]["high"] < 10 and errors["entropy"]["high"] < 30
    assert errors["mse"]["error"] <= min(e["error"] for e in errors.values()) + 1e-9


def test_bias_correction_takes_back_shifts():
    net = spoil(make_net(), 20)
    plain = ms.quantize(net, samples(), per_tensor=True, bias_correction=False).figures["error"]
    assert ms.quantize(net, samples(), per_tensor=True).figures["error"] < plain


class Words(nn.Cell):
    """Matrix products with what transformers have between them."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(16, 64)
        self.norm = nn.LayerNorm((64,))
        self.second = nn.Dense(64, 64, has_bias=False)
        self.last = nn.Dense(64, 5)

    def construct(self, x):
        h = self.norm(ops.gelu(self.first(x)))
        return self.last(h + ops.softmax(self.second(h)))


def words():
    ms.set_seed(3)
    net = Words()
    rng = np.random.default_rng(4)
    for p in net.get_parameters():
        p.set_data(Tensor((rng.standard_normal(p.shape) * 0.3 + (1 if "gamma" in p.name else 0)).astype(np.float32)))
    return net, [rng.standard_normal((2, 7, 16)).astype(np.float32) for _ in range(4)]


@pytest.mark.parametrize("options, most", [({"kind": "static"}, 0.04), ({"kind": "static", "activation_bits": 16}, 0.02), ({"kind": "static", "bits": 7}, 0.06),
                                           ({"kind": "dynamic"}, 0.03), ({"kind": "weights"}, 0.02), ({"kind": "weights", "bits": 4}, 0.2),
                                           ({"kind": "weights", "bits": 16}, 1e-3)])
def test_kinds(tmp_path, options, most):
    net, data = words()
    q = ms.quantize(net, data, **options)
    q.save(str(tmp_path / "net.onnx"))
    assert off(net, ms.onnx.load(str(tmp_path / "net.onnx")), data) < most
    assert q.figures["layers_quantised"] == 3
    if options["kind"] != "dynamic":
        q.save(str(tmp_path / "net.mindir"))
        cell = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
        assert off(net, cell, data) < most


def test_four_bits_are_small(tmp_path):
    net, data = words()
    ms.quantize(net, data, kind="weights", bits=4).save(str(tmp_path / "small.onnx"))
    ms.onnx.export(net, Tensor(data[0]), file_name=str(tmp_path / "net.onnx"))
    assert (tmp_path / "small.onnx").stat().st_size < (tmp_path / "net.onnx").stat().st_size / 3


def test_layers_can_be_kept():
    q = ms.quantize(make_net(), samples(), keep=["conv*"])
    kept = {layer["name"]: layer["kept_float"] for layer in q.figures["layers"]}
    assert kept == {"conv1": "named by the caller", "conv2": "named by the caller", "conv3": "named by the caller", "fc": None}
    with pytest.raises(ValueError, match="all 4 layers are to stay float"):
        ms.quantize(make_net(), samples(), keep=["*"])
    with pytest.raises(ValueError, match="keep names 'head', which no layer is called; layers that can be quantised: conv1, conv2, conv3, fc"):
        ms.quantize(make_net(), samples(), keep=["conv1", "head"])


# --- bad input ---


@pytest.mark.parametrize("data, message", [
    ([np.zeros((4, 1, 12, 13), np.float32)], "calibration sample 0: .*12"),
    ([np.zeros((1, 12, 12), np.float32)], "calibration sample 0"),
    ([np.full((1, 1, 12, 12), np.nan, np.float32)], "NaN or infinite"),
    ([samples(1)[0], np.full((1, 1, 12, 12), np.inf, np.float32)], "sample 1.*NaN or infinite"),
    ([(samples(1)[0], 1, 2)], "3 entries"),
])
def test_bad_data_is_told(tmp_path, data, message):
    ms.onnx.export(make_net(), Tensor(samples(1)[0]), file_name=str(tmp_path / "net.onnx"), dynamic_axes={"x": {0: "batch"}})
    with pytest.raises((ValueError, TypeError), match=message):
        ms.quantize(str(tmp_path / "net.onnx"), data)


def test_no_data_is_told(tmp_path):
    ms.onnx.export(make_net(), Tensor(samples(1)[0]), file_name=str(tmp_path / "net.onnx"))
    with pytest.raises(ValueError, match="no sample"):
        ms.quantize(str(tmp_path / "net.onnx"), [])
    with pytest.raises(ValueError, match="needs data"):
        ms.quantize(str(tmp_path / "net.onnx"))
    with pytest.raises(TypeError, match="once only"):
        ms.quantize(str(tmp_path / "net.onnx"), iter(samples(1)))


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 1e-30, 1e30])
def test_constant_data(value):
    """One sample, all numbers the same, ranges that are nothing or huge: the results are those of the float network still."""
    net = make_net()
    x = np.full((2, 1, 12, 12), value, np.float32)
    cell = ms.quantize(net, [x]).cell()
    found = cell(Tensor(x)).asnumpy()
    assert np.isfinite(found).all()
    assert off(net, cell, [x]) < 0.05


class Wide(nn.Cell):
    """A sum that int32 does not hold."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(140000, 2, has_bias=False)
        self.out = nn.Dense(2, 2)

    def construct(self, x):
        return self.out(self.fc(x))


def test_sums_beyond_int32_stay_float():
    net = Wide()
    net.fc.weight.set_data(Tensor(np.ones((2, 140000), np.float32)))
    layers = {layer["name"]: layer["kept_float"] for layer in ms.quantize(net, [np.ones((1, 140000), np.float32)]).figures["layers"]}
    assert layers == {"fc": "its sums could leave int32", "out": None}


def test_integer_only_names_what_stays_float():
    net, data = words()
    with pytest.raises(NotImplementedError, match="stay float.*erf.*layer_norm.*softmax"):
        ms.quantize(net, data, integer_only=True)


def test_models_without_layers():
    class Plain(nn.Cell):
        def construct(self, x):
            return x + 1

    with pytest.raises(NotImplementedError, match="no layer that can be quantised"):
        ms.quantize(Plain(), samples(1))


@pytest.mark.parametrize("options, message", [({"kind": "fast"}, "kind is 'fast'"), ({"method": "guess"}, "method is 'guess'"), ({"bits": 3}, "weights of 3 bits"),
                                              ({"activation_bits": 4}, "activations of 4 bits"), ({"percentile": 10}, "percentile is 10")])
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        ms.quantize(make_net(), samples(1), **options)


# --- the command ---


def spore(*words, code=0):
    done = subprocess.run([SPORE, "quantize", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("quant")
    net = make_net()
    ms.onnx.export(net, Tensor(samples(1)[0]), file_name=str(root / "net.onnx"), dynamic_axes={"x": {0: "batch"}})
    ms.export(net, Tensor(samples(1)[0]), file_name=str(root / "net.mindir"), file_format="MINDIR")
    (root / "arrays").mkdir()
    for i, x in enumerate(samples()):
        np.save(root / "arrays" / f"{i}.npy", x)
    rows = np.concatenate(samples())
    np.savez(root / "all.npz", x=rows, label=net(Tensor(rows)).asnumpy().argmax(1))
    return root


def test_command(folder, tmp_path):
    text = spore(folder / "net.onnx", "-o", tmp_path / "a.onnx", "--data", folder / "arrays", "--report", tmp_path / "a.json")
    assert "4 of 4 layers" in text and "effect" in text
    assert json.loads((tmp_path / "a.json").read_text())["samples"] == 6
    assert off(make_net(), ms.onnx.load(str(tmp_path / "a.onnx"))) < 0.03
    spore(folder / "net.mindir", "-o", tmp_path / "b.onnx", "--data", folder / "arrays", "--effects", "0")
    assert off(make_net(), ms.onnx.load(str(tmp_path / "b.onnx")), samples(2, 9)) < 0.03


def test_command_with_labels(folder, tmp_path):
    text = spore(folder / "net.onnx", "-o", tmp_path / "a.onnx", "--data", folder / "all.npz", "--labels", "label", "--target", "relative>=0.9", "--batch", 5, "--json")
    assert json.loads(text)["metric"] >= 0.9 and json.loads(text)["samples"] == 5
    assert "neither a file nor an array" in spore(folder / "net.onnx", "-o", tmp_path / "b.onnx", "--data", folder / "all.npz", "--labels", "what", "--target",
                                                  "relative>=0.9", code=1)


def test_pictures_and_records(folder, tmp_path):
    import spore.mindrecord as mr
    from spore.dataset import vision
    rng = np.random.default_rng(0)
    (tmp_path / "pictures").mkdir()
    writer = mr.FileWriter(str(tmp_path / "set.mindrecord"), 1)
    writer.add_schema({"x": {"type": "float32", "shape": [1, 12, 12]}, "label": {"type": "int64"}}, "samples")
    for i in range(5):
        picture = rng.integers(0, 255, (20, 20, 1), dtype=np.uint8)
        (tmp_path / "pictures" / f"{i}.png").write_bytes(vision.encode_png(picture).tobytes())
        writer.write_raw_data([{"x": rng.standard_normal((1, 12, 12)).astype(np.float32), "label": i}])
    writer.commit()
    assert "5 samples" in spore(folder / "net.onnx", "-o", tmp_path / "a.onnx", "--data", tmp_path / "pictures", "--mean", 0.5, "--std", 0.2)
    assert "3 samples" in spore(folder / "net.onnx", "-o", tmp_path / "b.onnx", "--data", tmp_path / "set.mindrecord", "--batch", 2)


@pytest.mark.parametrize("words, message", [
    (["--data", "all.npz", "--labels", "label"], "--labels is for a --target"),
    ([], "--data is missing"),
    (["--kind", "weights", "--data", "all.npz"], "--data is for static"),
    (["--data", "all.npz", "--block", "64"], "--block is for --bits 4"),
    (["--kind", "weights", "--samples", "4"], "--samples is for static"),
    (["--kind", "weights", "--batch", "4"], "--batch is for static"),
    (["--kind", "dynamic", "--effects", "4"], "--effects is for static"),
])
def test_options_that_change_nothing(folder, tmp_path, words, message):
    words = [str(folder / w) if w == "all.npz" else w for w in words]
    assert message in spore(folder / "net.onnx", "-o", tmp_path / "a.onnx", *words, code=2)


@pytest.mark.parametrize("arguments, message", [
    ({"kind": "dynamic", "method": "entropy"}, "method is for kind 'static'"), ({"percentile": 90}, "percentile is for method"),
    ({"block": 64}, "block is for weights of 4 bits"), ({"kind": "weights", "bias_correction": False}, "bias_correction is for"),
    ({"kind": "weights", "bits": 16, "per_tensor": True}, "per_tensor is for"), ({"kind": "dynamic", "effect_samples": 3}, "effect_samples is for"),
])
def test_arguments_that_change_nothing(arguments, message):
    with pytest.raises(ValueError, match=message):
        ms.quantize(make_net(), samples(), **arguments)


def test_one_name_to_keep():
    kept = {layer["name"] for layer in ms.quantize(make_net(), samples(), keep="conv1").figures["layers"] if layer["kept_float"]}
    assert kept == {"conv1"}
    for arguments, error in (({"keep": [1]}, TypeError), ({"effect_samples": -5}, ValueError)):
        with pytest.raises(error, match=next(iter(arguments))):
            ms.quantize(make_net(), samples(), **arguments)


def test_opset_of_a_file_without_one(tmp_path):
    with pytest.raises(ValueError, match="opset 17 is for .onnx"):
        ms.quantize(make_net(), samples()).save(str(tmp_path / "net.mindir"), opset=17)


def test_options_that_fit_neither_model_nor_data(folder, tmp_path):
    """Settings of pictures with arrays, rows of a batch where the model fixes it, classes for a target that needs none."""
    for option, value in (("--mean", "0.5"), ("--std", "2"), ("--scale", "2")):
        assert "for pictures" in spore(folder / "net.onnx", "-o", tmp_path / "a.onnx", "--data", folder / "all.npz", option, value, code=1)
    assert "cannot be divided by 0" in spore(folder / "net.onnx", "-o", tmp_path / "a.onnx", "--data", folder / "all.npz", "--std", "1,0,1", code=2)
    (tmp_path / "labels").write_text("1\n")
    assert "--labels is for a --target of" in spore(folder / "net.onnx", "-o", tmp_path / "a.onnx", "--data", folder / "all.npz", "--labels",
                                                    tmp_path / "labels", "--target", "cosine>=0.5", code=2)
    assert not (tmp_path / "a.onnx").exists()


# --- adaptive rounding --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, ratio", [({"kind": "weights"}, 0.5), ({"kind": "weights", "bits": 4}, 0.5),
                                            ({"kind": "static"}, 0.99), ({"kind": "static", "per_tensor": True}, 0.99)])
def test_adaptive_rounding_changes_results_less(options, ratio):
    net, data = make_net(), samples(8, 1, 8)
    errors = [off(net, ms.quantize(net, data, rounding=rounding, **options).cell(), samples(6, 77)) for rounding in ("nearest", "adaptive")]
    assert errors[1] < ratio * errors[0], errors


def test_adaptive_rounding_finds_the_best_integers():
    """One layer of three weights a channel: every choice of integers is tried."""
    rng = np.random.default_rng(5)
    net = nn.Dense(3, 6, has_bias=False)
    w = rng.standard_normal((6, 3)).astype(np.float32)
    net.weight.set_data(Tensor(w))
    x = (rng.standard_normal((400, 3)) @ np.array([[1, 0.9, 0.8], [0, 0.3, 0.2], [0, 0, 0.2]])).astype(np.float32)
    h = x.T.astype(np.float64) @ x / len(x)
    grid = np.stack(np.meshgrid(*[np.arange(-7, 8)] * 3, indexing="ij"), -1).reshape(-1, 3)
    found = {}
    for rounding in ("nearest", "adaptive"):
        q = ms.quantize(net, [x], kind="weights", bits=4, rounding=rounding).cell()
        rounded = q(Tensor(np.eye(3, dtype=np.float32))).asnumpy().T
        e = w - rounded
        found[rounding] = np.einsum("ci,ij,cj->c", e, h, e)
    for c in range(6):
        e = w[c] - grid * np.abs(w[c]).max() / 7
        best = np.einsum("ki,ij,kj->k", e, h, e).min()
        assert found["adaptive"][c] <= found["nearest"][c] * (1 + 1e-5)
        assert found["adaptive"][c] <= 2.5 * best + 1e-6  # one weight at a time does not always find the best of all
    assert found["adaptive"].sum() < 0.7 * found["nearest"].sum()


def test_adaptive_rounding_is_the_same_each_time_and_with_other_sizes():
    net, data = make_net(), samples(4, 1, 8)
    x = Tensor(samples(1, 3, 5)[0])
    answers = [ms.quantize(net, data, kind="weights", bits=4, rounding="adaptive").cell()(x).asnumpy() for _ in range(2)]
    assert np.array_equal(*answers)


def test_wrong_requests_for_adaptive_rounding():
    net = make_net()
    with pytest.raises(ValueError, match="rounding is 'upwards', it must be nearest or adaptive"):
        ms.quantize(net, samples(1), rounding="upwards")
    with pytest.raises(ValueError, match="rounding is for weights of 8 bits and fewer"):
        ms.quantize(net, samples(1), kind="weights", bits=16, rounding="adaptive")
    bad = samples(1)
    bad[0][0, 0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="what layer 'conv1' takes: .* numbers are NaN or infinite"):
        ms.quantize(net, bad, kind="weights", rounding="adaptive")


def test_command_rounds_adaptively(tmp_path):
    net = make_net()
    ms.export(net, Tensor(samples(1)[0]), file_name=str(tmp_path / "net"), file_format="ONNX")
    np.save(tmp_path / "data.npy", np.concatenate(samples(6, 1)))
    base = [SPORE, "quantize", str(tmp_path / "net.onnx"), "-o", str(tmp_path / "out.onnx"), "--kind", "weights", "--bits", "4"]
    done = subprocess.run([*base, "--rounding", "adaptive"], capture_output=True, text=True)
    assert done.returncode == 2 and "--data is missing: adaptive rounding watches what layers take" in done.stderr
    done = subprocess.run([*base, "--rounding", "adaptive", "--data", str(tmp_path / "data.npy"), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rounding"] == "adaptive"
    done = subprocess.run([*base, "--data", str(tmp_path / "data.npy"), "--overwrite"], capture_output=True, text=True)
    assert done.returncode == 2 and "--data is for static quantisation and adaptive rounding" in done.stderr


# --- MindSpore Lite's files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"bits": 8}, {"bits": 8, "per_tensor": True}, {"bits": 16}])
def test_weights_are_written_for_lite(tmp_path, options):
    from spore import lite
    net, x = make_net(), samples(1, 3)[0]
    q = ms.quantize(net, samples(1), kind="weights", free_batch=False, **options)
    q.save(str(tmp_path / "net.ms"))
    ms.export(net, Tensor(x), file_name=str(tmp_path / "net.mindir"), file_format="MINDIR")
    assert subprocess.run([SPORE, "convert", str(tmp_path / "net.mindir"), str(tmp_path / "float.ms")]).returncode == 0
    answer, wanted = lite.load(str(tmp_path / "net.ms"))(Tensor(x)).asnumpy(), q.cell()(Tensor(x)).asnumpy()
    assert np.abs(answer - wanted).max() <= 1e-6 * np.abs(wanted).max()
    assert (tmp_path / "net.ms").stat().st_size < (tmp_path / "float.ms").stat().st_size
    plain = lite.load(str(tmp_path / "float.ms"))(Tensor(x)).asnumpy()
    assert 0 < np.abs(plain - wanted).max() < 0.02 * np.abs(wanted).max()


@pytest.mark.parametrize("options, word", [({"kind": "static"}, "quantize_linear"), ({"kind": "weights", "bits": 4}, "scales of blocks")])
def test_what_lite_files_do_not_hold_is_told(tmp_path, options, word):
    net = nn.Dense(32, 8)
    with pytest.raises(NotImplementedError, match=word):
        ms.quantize(net, [np.ones((2, 32), np.float32)], free_batch=False, **options).save(str(tmp_path / "net.ms"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options, share", [({"kind": "static"}, 0.35), ({"kind": "weights"}, 0.35), ({"kind": "weights", "bits": 16}, 0.6),
                                            ({"kind": "weights", "bits": 4}, 0.4)])
def test_mindir_holds_the_small_numbers_alone(tmp_path, options, share):
    net, x = nn.SequentialCell(nn.Dense(256, 256), nn.ReLU(), nn.Dense(256, 64)), np.random.default_rng(0).standard_normal((2, 256)).astype(np.float32)
    ms.export(net, Tensor(x), file_name=str(tmp_path / "float"), file_format="MINDIR")
    q = ms.quantize(net, [x], free_batch=False, **options)
    q.save(str(tmp_path / "small.mindir"))
    assert (tmp_path / "small.mindir").stat().st_size < share * (tmp_path / "float.mindir").stat().st_size
    answer = nn.GraphCell(ms.load(str(tmp_path / "small.mindir")))(Tensor(x)).asnumpy()
    np.testing.assert_allclose(answer, q.cell()(Tensor(x)).asnumpy(), rtol=1e-5, atol=1e-6)

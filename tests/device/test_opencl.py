# SPDX-License-Identifier: Apache-2.0
"""The OpenCL device (providers/opencl) against the CPU: operators, gradients, random numbers, training, faults, kept binaries. It needs a driver: PoCL will do, which
`scripts/deps` installs. What PoCL compiles is kept in the build folder, so that only the first run takes its time."""
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("SPORE_BUILD", ROOT / "build")).resolve()
LIBRARY = BUILD / "devices" / "opencl.so"
os.environ.setdefault("POCL_CACHE_DIR", str(BUILD / "pocl-cache"))
os.environ.setdefault("SPORE_OPENCL_CACHE", str(BUILD / "opencl-cache"))
os.environ.setdefault("SPORE_OPENCL_CLBLAST", "0")  # its kernels take long to compile; test_clblast has it

import spore as ms  # noqa: E402
from spore import _core, ops  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import networks  # noqa: E402
from walk import OPERATORS, TABLE, cases, check_script, gradients, operands, outputs  # noqa: E402


def missing():
    """Why there is no device; None: there is."""
    if not LIBRARY.exists():
        return "the OpenCL device was not built: no CL/cl.h when it was configured"
    try:
        _core.device_load(str(LIBRARY))
        _core.device_describe("opencl")
    except (RuntimeError, OSError, ValueError) as e:
        return f"no OpenCL device: {e}"
    return None


REASON = missing()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

# Largest differences, |a - b| <= bound (1 + |b|), by family; all others are exact or within EXACT.
EXACT = 1e-6
BOUNDS = {"matmul": 1e-5, "conv": 1e-5, "dense": 1e-5, "norm": 1e-5, "softmax": 2e-6, "attention": 1e-5, "rnn": 1e-5, "update": 1e-5, "grad": 1e-5, "sum": 1e-5}
GRADIENT_BOUND = 2e-5


def bound(name):
    return max([b for part, b in BOUNDS.items() if part in name] + [5 * EXACT])


def there(t):
    return None if t is None else _core.tensor_to(t, "opencl")


def close(found, wanted, what, most):
    assert len(found) == len(wanted), what
    for x, y in zip(found, wanted):
        assert x.shape == y.shape and x.dtype == y.dtype, what
        a, b = x.asnumpy(), y.asnumpy()
        if a.dtype.kind not in "fc":
            assert (a == b).all(), what
            continue
        assert (np.isnan(a) == np.isnan(b)).all(), what
        a, b = np.nan_to_num(a), np.nan_to_num(b)
        worst = np.max(np.abs(a - b) / (1 + np.abs(b)), initial=0)
        assert worst <= most, f"{what}: off by {worst}"


def walk(name):
    entry = TABLE[name]
    for sample, dtype in cases(entry):
        here, away = operands(sample, dtype), [there(t) for t in operands(sample, dtype)]
        wanted = outputs(_core.apply(name, here, sample.attrs))
        found = outputs(_core.apply(name, away, sample.attrs))
        assert all(r.device == "opencl" for r in found), sample.text
        close(found, wanted, sample.text, bound(name))
        close([y for i, y in enumerate(away) if entry["writes"] >> i & 1], [x for i, x in enumerate(here) if entry["writes"] >> i & 1], sample.text, bound(name))
        found = gradients(name, sample, away, found)
        if found is not None:
            close(found, gradients(name, sample, here, wanted), f"gradient of {sample.text}", GRADIENT_BOUND)


# One or two of each family, in `make check`; the whole table in `make check-long`.
SOME = ("add", "maximum", "gelu", "select_same", "cast", "reduce_sum", "reduce_max", "matmul", "conv2d", "max_pool2d", "avg_pool2d", "softmax", "log_softmax", "layer_norm",
        "batch_norm_train", "nll_terms", "concat", "index", "slice_put", "adam_update", "momentum_update", "rnn_scan", "attention")


@pytest.mark.parametrize("name", SOME)
def test_operator(name):
    walk(name)


@pytest.mark.long
def test_whole_table(capsys):
    """Every operator; what the device has no kernel for is computed by the CPU, and is listed."""
    before = _core.device_statistics("opencl")
    for name in OPERATORS:
        walk(name)
    after = _core.device_statistics("opencl")
    declined = _core.device_declined("opencl")
    with capsys.disabled():
        print(f"\n{after['kernels'] - before['kernels']} calls by the device, {after['declined'] - before['declined']} by the CPU: " +
              ", ".join(f"{op} {calls}" for op, calls, _ in sorted(declined)))
    assert {op for op, *_ in declined}.isdisjoint({"add", "matmul", "conv2d", "softmax", "layer_norm", "batch_norm_train", "adam_update"})


def test_random_numbers_have_the_bits_of_the_cpu():
    state = ms.Tensor([123456789, 77], dtype=ms.int64)
    for name in ("random_uniform", "random_normal"):
        for dtype in (ms.float32, ms.float16):
            attrs = {"shape": (1003,), "dtype": dtype}
            here, away = _core.apply(name, [state], attrs), _core.apply(name, [there(state)], attrs)
            assert outputs(here)[0].asnumpy().tobytes() == outputs(away)[0].asnumpy().tobytes(), name
    assert "random_uniform" not in {op for op, *_ in _core.device_declined("opencl")}


def test_strides_halves_and_integers():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((6, 5, 4)).astype(np.float32)
    a = there(ms.Tensor(x))
    for view in (lambda t: t.transpose(2, 0, 1), lambda t: t[1:5:2, ::-1], lambda t: t[:, 1:2].broadcast_to((6, 3, 4))):
        v = view(ms.Tensor(x))
        for f in (lambda t: t * 2 + t, lambda t: t.sum(-1), lambda t: ops.amax(t, 0), lambda t: ops.matmul(t, t.swapaxes(1, 2)), lambda t: t.reshape(-1), lambda t: ops.concat((t, t), 1)):
            close([f(view(a))], [f(v)], "view", 1e-5)
    for dtype in (ms.float16, ms.bfloat16, ms.int8, ms.int32, ms.int64, ms.uint8, ms.float64):
        here = ms.Tensor((x * 10).astype(np.float32)).astype(dtype)
        away = there(ms.Tensor((x * 10).astype(np.float32))).astype(dtype)
        close([away], [here], f"cast to {dtype}", 0)
        close([away * away + away, away > 3, away.astype(ms.float32)], [here * here + here, here > 3, here.astype(ms.float32)], str(dtype), 1e-6)


@pytest.fixture(scope="module", autouse=True)
def signals_of_the_driver():
    """PoCL's compiler takes SIGXFSZ, which Python ignores; tests of full disks in this process rely on that."""
    yield
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


@pytest.fixture(autouse=True)
def back_to_the_cpu():
    yield
    ms.set_device("CPU")


def losses(entry, device, steps, **how):
    step = networks.training(entry, device, **how)
    return [float(step()) for _ in range(steps)], step


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("name", networks.SMALL)
def test_training(name, graph):
    """Losses as on the CPU; nothing is computed by the CPU, and nothing goes in or out but what a step must: the state of dropout, the loss."""
    wanted, _ = losses(networks.SMALL[name], "CPU", 4, graph=graph)
    before = {op for op, *_ in _core.device_declined("opencl")}
    found, step = losses(networks.SMALL[name], "opencl", 4, graph=graph)
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert {op for op, *_ in _core.device_declined("opencl")} == before
    start = _core.device_statistics("opencl")
    step().asnumpy()
    end = _core.device_statistics("opencl")
    assert end["declined"] == start["declined"]
    assert (end["copies_out"] - start["copies_out"], end["bytes_out"] - start["bytes_out"]) == (1, 4)
    assert end["bytes_in"] - start["bytes_in"] <= 16


def test_training_of_a_mixture():
    """Two layers of LeNet on the CPU, the others on the device."""
    wanted, _ = losses(networks.SMALL["lenet"], "CPU", 4)
    found, _ = losses(networks.SMALL["lenet"], "opencl", 4, on_cpu=("conv2", "fc.2"))
    np.testing.assert_allclose(found, wanted, atol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("name", networks.WHOLE)
def test_twenty_steps(name):
    wanted, _ = losses(networks.WHOLE[name], "CPU", 20)
    found, _ = losses(networks.WHOLE[name], "opencl", 20)
    np.testing.assert_allclose(found, wanted, atol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("name", ["lstm", "dqn", "accumulate", "autograd", "crf"])
def test_mindspore_scripts(name, tmp_path):
    check_script(name, tmp_path, SPORE_DEVICE="opencl")


@pytest.mark.long
@pytest.mark.parametrize("name", ["mobilenetv2", "resnet50"])
def test_inference(name):
    np.random.seed(0)
    ms.set_seed(1)
    net, x = networks.inference.make(name, 1)
    wanted = net(x).asnumpy()
    net.to("opencl")
    before = _core.device_statistics("opencl")["declined"]
    found = net(x.to("opencl")).asnumpy()
    assert _core.device_statistics("opencl")["declined"] == before
    np.testing.assert_allclose(found, wanted, atol=1e-4 * np.abs(wanted).max())


# --- faults ----------------------------------------------------------------------------------------------------------


def run(text, **environment):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment})


def test_an_index_out_of_range_is_told_by_the_next_wait():
    x, i = there(ms.Tensor(np.arange(6, dtype=np.float32).reshape(3, 2))), there(ms.Tensor([0, 5], dtype=ms.int32))
    y = x[i]
    with pytest.raises(IndexError, match="device opencl: index: index 5 is out of range for 3 elements"):
        y.asnumpy()
    assert x.asnumpy().sum() == 15


def test_no_driver(tmp_path):
    done = run("import spore as ms\nprint(ms.Tensor([1.0]).device)\n", OCL_ICD_VENDORS=str(tmp_path), SPORE_DEVICE="opencl")
    assert done.returncode == 0 and done.stdout.strip() == "CPU"
    assert "SPORE_DEVICE: " in done.stderr and "no driver has a device: install one" in done.stderr and done.stderr.strip().endswith("the CPU is used")


def test_a_driver_that_cannot_compile():
    done = run("import spore as ms\nx = ms.Tensor([1.0, 4.0])\ntry:\n    print((x.to('opencl') * 2).asnumpy())\nexcept RuntimeError as e:\n    print(e)\nprint((x * 2).asnumpy())\n",
               SPORE_OPENCL_BREAK="map", SPORE_OPENCL_CACHE="0")
    assert "device opencl: mul: the OpenCL driver" in done.stdout and "cannot compile kernels of map.cl" in done.stdout and "error: " in done.stdout, (done.stdout, done.stderr)
    assert done.stdout.strip().endswith("[2. 8.]")


def test_memory_that_is_not_there():
    with pytest.raises(MemoryError, match="out of memory on device opencl: "):
        there(ms.Tensor([1.0])).broadcast_to((1 << 20, 1 << 20)) + 1
    assert (there(ms.Tensor([2.0])) * 2).asnumpy() == 4


def test_binaries_are_kept_and_checked(tmp_path):
    """A second process takes them; one that was changed, or is another driver's, is compiled again."""
    text = "import spore as ms\nprint((ms.Tensor([1.0, 4.0]).to('opencl') * 3).asnumpy())\n"
    where = tmp_path / "cache"
    for damage in (None, None, lambda b: b[:-20], lambda b: b.replace(b"PoCL", b"PoCX"), lambda b: b[:-1] + bytes([b[-1] ^ 1])):
        files = sorted(where.glob("*.bin"))
        for f in files if damage else ():
            f.write_bytes(damage(f.read_bytes()))
        before = {f: f.stat().st_mtime_ns for f in files}
        done = run(text, SPORE_OPENCL_CACHE=str(where))
        assert done.stdout.strip() == "[ 3. 12.]", done.stderr
        kept = {f: f.stat().st_mtime_ns for f in where.glob("*.bin")}
        assert kept and (damage is not None) == (bool(before) and kept != before)
    assert not list(where.glob("*.bin.*"))


def test_a_child_is_told():
    done = run("import os, spore as ms\nx = ms.Tensor([1.0]).to('opencl')\nif os.fork() == 0:\n    try:\n        x + 1\n    except RuntimeError as e:\n        print(e, flush=True)\n    os._exit(0)\n"
               "os.wait()\nprint((x + 1).asnumpy())\n")
    assert "was opened by the parent of this process" in done.stdout and done.stdout.strip().endswith("[2.]"), done.stderr


@pytest.mark.long
def test_clblast():
    """Products by CLBlast, where it is installed; the same as ours."""
    text = ("import numpy as np, spore as ms\nfrom spore import ops\nr = np.random.default_rng(1)\n"
            "for a, b in (((70, 30), (30, 50)), ((3, 20, 40), (3, 40, 10)), ((2, 5, 6, 7), (7, 9))):\n"
            "    x, y = ms.Tensor(r.standard_normal(a).astype(np.float32)), ms.Tensor(r.standard_normal(b).astype(np.float32))\n"
            "    print(np.abs(ops.matmul(x.to('opencl'), y.to('opencl')).asnumpy() - ops.matmul(x, y).asnumpy()).max() < 1e-4)\n")
    assert run(text, SPORE_OPENCL_CLBLAST="1").stdout.split() == ["True"] * 3


@pytest.mark.long
def test_kernels_for_gpus():
    """Groups of items with local memory, which a CPU would not be given."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "test_operator or eager or strides"], capture_output=True, text=True, timeout=1500,
                          env={**os.environ, "SPORE_OPENCL_GROUPS": "gpu"})
    assert done.returncode == 0, done.stdout[-3000:]


# --- Python, commands --------------------------------------------------------------------------------------------------


def test_an_operator_pinned_to_the_cpu():
    """primitive_target: its inputs are brought to the CPU, its results back, gradients go the same way."""
    ms.set_device("opencl")
    x = ms.Tensor(np.array([[1.0, -2.0], [3.0, 4.0]], np.float32))
    pinned = ops.Exp().set_device("CPU")
    before = _core.device_statistics("opencl")
    y = pinned(x)
    after = _core.device_statistics("opencl")
    assert y.device == "opencl" and (after["copies_out"] - before["copies_out"], after["copies_in"] - before["copies_in"]) == (1, 1)
    np.testing.assert_allclose(y.asnumpy(), np.exp(x.asnumpy()), rtol=1e-6)
    g = ms.grad(lambda t: (pinned(t) * 2).sum())(x)
    assert g.device == "opencl"
    np.testing.assert_allclose(g.asnumpy(), 2 * np.exp(x.asnumpy()), rtol=1e-6)
    assert ops.Exp().add_prim_attr("primitive_target", "Ascend")(x).device == "opencl"
    with pytest.raises(TypeError, match="primitive_target of Exp must be a str, but got int"):
        ops.Exp().set_device(3)


def test_memory_and_names():
    ms.set_device("opencl")
    ms.runtime.reset_peak_memory_stats()
    start = ms.runtime.memory_allocated()
    x = ms.Tensor(np.zeros((1 << 20,), np.float32))
    assert ms.runtime.memory_allocated() - start == 4 << 20 and ms.runtime.max_memory_allocated() >= start + (4 << 20)
    del x
    assert ms.runtime.memory_allocated() == start and ms.runtime.memory_reserved() >= 4 << 20
    ms.runtime.empty_cache()
    assert ms.runtime.memory_reserved() == start
    stream, event = ms.runtime.current_stream(), ms.runtime.Event(enable_timing=True)
    event.record()
    event.synchronize()
    stream.synchronize()
    assert ms.hal.device_count("opencl") >= 1 and ms.hal.get_device_name(0, "opencl")
    with pytest.raises(ValueError, match="there is no device opencl:99"):
        ms.hal.get_device_name(99, "opencl")


def test_commands_run_models_there(tmp_path):
    net = networks.models.LeNet()
    net.set_train(False)
    x = np.random.default_rng(1).random((1, 1, 28, 28), np.float32)
    ms.export(net, ms.Tensor(x), file_name=str(tmp_path / "lenet"), file_format="ONNX")
    np.save(tmp_path / "x.npy", x)
    spore = BUILD / "spore"

    def ask(*words):
        return subprocess.run([spore, *words], capture_output=True, text=True, timeout=300)
    for device in ("cpu", "opencl"):
        done = ask("predict", str(tmp_path / "lenet.onnx"), "--input", str(tmp_path / "x.npy"), "--output", str(tmp_path / f"{device}.npy"), "--device", device)
        assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "opencl.npy"), np.load(tmp_path / "cpu.npy"), atol=1e-5)
    done = ask("predict", str(tmp_path / "lenet.onnx"), "--input", str(tmp_path / "x.npy"), "--device", "gpu")
    assert done.returncode == 1 and "predict: there is no device 'gpu' here" in done.stderr
    assert "serve: there is no device 'gpu' here" in ask("serve", str(tmp_path / "lenet.onnx"), "--device", "gpu", "--check").stderr
    assert "opencl: " in ask("doctor").stdout

# SPDX-License-Identifier: Apache-2.0
"""spore codegen: models as C that the host's compiler takes without a warning and that gives the engine's results: bytes bit for bit, floats up to the
order of sums. `make run` of the generated project is the comparison; its exit code is the number of results that differ."""
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

import spore as ms
from spore import nn, ops

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
SPORE = str(pathlib.Path(os.environ["SPORE_BUILD"]) / "spore")
with np.load(TESTS / "tflite" / "cases.npz") as recorded:
    MODELS = {key.split("/")[0]: recorded[key].tobytes() for key in recorded.files if key.endswith("/model")}
# Without optimisation: compiling takes most of the time.
QUICK = "CFLAGS=-std=c99 -O0 -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Werror"
# One project each, sixteen models at most: what is compiled together is compiled faster.
BYTES = ["int8_net", "uint8_net", "int8_logistic", "int8_tanh", "int8_hard_swish", "int8_softmax", "int8_mean", "int8_concat", "int8_average_pool", "int8_max_pool",
         "int8_pad", "int8_mul", "int8_sub", "int8_leaky_relu", "int8_split", "int8_float_faces"]
FLOATS = ["conv_2d", "conv_2d_groups", "conv_2d_valid", "conv_3d", "depthwise", "fully_connected", "average_pool", "max_pool", "lstm", "gru", "softmax", "log_softmax",
          "mirror_pad", "concatenation_channels", "int16_net", "embedding"]
MORE = ["transpose_conv", "transpose_conv_valid", "conv_3d_transpose", "int8_transpose_conv", "argmax", "int8_argmax", "batch_matmul", "variables", "reduce_prod", "zeros_like"]


def codegen(*words):
    return subprocess.run([SPORE, "codegen", *map(str, words)], capture_output=True, text=True, timeout=120, check=False)


def written(folder, *words):
    done = codegen(*words, "-o", folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(folder, *words):
    done = subprocess.run(["make", "-C", str(folder), "run", *words], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def recorded_models(names, folder):
    paths = [folder / f"{name}.tflite" for name in names]
    for name, path in zip(names, paths):
        path.write_bytes(MODELS[name])
    return paths


@pytest.mark.parametrize("names", [BYTES, FLOATS, MORE], ids=["bytes", "floats", "more"])
def test_models_of_tensorflow_lite(names, tmp_path):
    """Many models in one project, with one arena."""
    report = written(tmp_path / "c", *recorded_models(names, tmp_path))
    said = run(tmp_path / "c", QUICK)
    assert said.count("as expected") >= len(names) and "DIFFERENT" not in said
    arenas = [int(n) for n in re.findall(r"RAM +(\d+) bytes  arena", report)]
    assert len(arenas) == len(names)
    assert f"RAM of the shared arena: {max(arenas)} bytes" in report
    assert f"uint8_t bytes[{max(arenas)}]" in (tmp_path / "c" / "arena.h").read_text(encoding="utf-8")


def test_lenet_and_bytes_of_onnx(tmp_path):
    """MindIR of MindSpore's own, ONNX with floats and with bytes; normalisation is folded."""
    paths = [TESTS / "formats/data/mindir/lenet.mindir", TESTS / "formats/data/mindir/resnet_small.mindir", TESTS / "onnx/data/quantised.onnx",
             TESTS / "formats/data/mindir/lstm.mindir", TESTS / "formats/data/mindir/transformer_block.mindir"]
    written(tmp_path / "c", *paths)
    assert run(tmp_path / "c", QUICK).count("as expected") == 5
    text = (tmp_path / "c" / "resnet_small.c").read_text(encoding="utf-8")
    assert "sqrt" not in text and "static void conv2d_" in text


def test_memory_is_what_the_report_says(tmp_path):
    """The linker's figure of the object file: the arena alone, at the lower bound, and no other writable byte."""
    (path,) = recorded_models(["int8_net"], tmp_path)
    report = written(tmp_path / "c", path)
    arena, least = map(int, re.search(r"RAM +(\d+) bytes  arena \(lower bound (\d+)\)", report).groups())
    weights = int(re.search(r"flash +(\d+) bytes  weights", report)[1])
    assert arena == least
    for name in ("model", "weights"):
        subprocess.run(["cc", "-std=c99", "-Os", "-c", f"{name}.c"], cwd=tmp_path / "c", check=True, timeout=60)
    sizes = subprocess.run(["size", "-A", "model.o", "weights.o"], cwd=tmp_path / "c", capture_output=True, text=True, check=True, timeout=60).stdout
    model, constants = sizes.split("weights.o")
    assert int(re.search(r"\.bss +(\d+)", model)[1]) == (arena + 7) // 8 * 8 and re.search(r"\.data +0 ", model)
    assert weights <= int(re.search(r"\.rodata +(\d+)", constants)[1]) < weights + 200
    assert not re.search(r"\b(malloc|calloc|free)\b", (tmp_path / "c" / "model.c").read_text(encoding="utf-8"))


class Branchy(nn.Cell):
    """A residual block, pooling, gates, a table of bytes cannot help: floats of several shapes."""
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, pad_mode="same", has_bias=True)
        self.thin = nn.Conv2d(6, 6, 3, stride=2, pad_mode="same", group=6)
        self.norm = nn.BatchNorm2d(6)
        self.fc = nn.Dense(6 * 4 * 4, 5)

    def construct(self, x):
        y = self.norm(self.conv(x))
        y = ops.relu(y) + 0.1 * ops.tanh(y)
        z = self.thin(y) * ops.sigmoid(ops.mean(y, (2, 3), True))
        z = ops.transpose(z, (0, 2, 3, 1)).reshape((1, -1))
        return ops.softmax(self.fc(z), -1), ops.concat((z[:, 3:20:2], -z[:, :4]), 1)


def test_network_with_two_results(tmp_path):
    net = Branchy().set_train(False)
    ms.export(net, ms.Tensor(np.zeros((1, 3, 8, 8), np.float32)), file_name=str(tmp_path / "net"), file_format="ONNX")
    written(tmp_path / "c", tmp_path / "net.onnx", "--name", "net")
    assert run(tmp_path / "c", QUICK).count("net output") == 2
    assert "void net_run(const float *in, float *out0, float *out1);" in (tmp_path / "c" / "net.h").read_text(encoding="utf-8")


def test_everything_that_has_no_c_is_told_before_anything_is_written(tmp_path):
    (path,) = recorded_models(["complex_parts"], tmp_path)
    done = codegen(path, "-o", tmp_path / "c")
    assert done.returncode == 1 and not (tmp_path / "c").exists()
    assert re.search(r"[2-9] operators have no C for microcontrollers: .*fft of complex64.*; ", done.stderr), done.stderr


@pytest.mark.parametrize("words, wanted", [
    ([], "no model was given"),
    (["{lenet}"], "-o FOLDER is missing"),
    (["{lenet}", "-o", "{out}", "--target", "z80"], "there is no target 'z80'; there are host, cortex-m0"),
    (["{lenet}", "-o", "{out}", "--name", "3d"], "'3d' is no C identifier"),
    (["{convnet}", "-o", "{out}"], "dimension 0 of input 'x' is open: give the shape (--shape x="),
    (["{lenet}", "{lenet}", "-o", "{out}"], "two models are called 'lenet'"),
])
def test_complaints(words, wanted, tmp_path):
    names = {"lenet": TESTS / "formats/data/mindir/lenet.mindir", "convnet": TESTS / "onnx/data/convnet.onnx", "out": tmp_path / "c"}
    done = codegen(*[w.format(**names) for w in words])
    assert done.returncode in (1, 2) and wanted in done.stderr, done.stderr
    assert not (tmp_path / "c").exists()


def test_open_shapes_are_given(tmp_path):
    written(tmp_path / "c", TESTS / "onnx/data/convnet.onnx", "--shape", "x=2,3,12,12")
    assert "as expected" in run(tmp_path / "c", QUICK)
    assert codegen(TESTS / "onnx/data/convnet.onnx", "--shape", "x=2,3,12,12", "-o", tmp_path / "c").returncode != 0  # files that are there stay
    written(tmp_path / "c", TESTS / "onnx/data/convnet.onnx", "--shape", "x=1,3,12,12", "--force")


# --- boards, in qemu ---------------------------------------------------------------------------------------------------

BOARDS = {"cortex-m0": "arm-none-eabi-gcc", "cortex-m3": "arm-none-eabi-gcc", "cortex-m4": "arm-none-eabi-gcc", "cortex-m7": "arm-none-eabi-gcc",
          "cortex-m55": "arm-none-eabi-gcc", "rv32": "riscv64-unknown-elf-gcc", "armhf": "arm-linux-gnueabihf-gcc"}


@pytest.mark.long
@pytest.mark.parametrize("target", BOARDS)
def test_boards(target, tmp_path):
    """Bytes bit for bit, floats closely, on every machine that qemu plays; the arena is what the report says."""
    if shutil.which(BOARDS[target]) is None:
        pytest.skip(f"{BOARDS[target]} is not installed: scripts/deps long")
    paths = recorded_models(BYTES[:12], tmp_path) + [TESTS / "formats/data/mindir/lenet.mindir"]
    report = written(tmp_path / "c", *paths, "--target", target)
    assert run(tmp_path / "c").count("as expected") == 13
    if target != "armhf":
        bss = subprocess.run(["size", "-A", "test.elf"], cwd=tmp_path / "c", capture_output=True, text=True, check=True, timeout=60).stdout
        arena = int(re.search(r"shared arena: (\d+)", report)[1])
        assert arena <= int(re.search(r"\.bss +(\d+)", bss)[1]) < arena + 16384  # beside it, the results of the test program


REFUSED = 45  # of the 186 recorded models, at most


@pytest.mark.long
def test_all_recorded_models(tmp_path):
    """Every recorded model is either refused with a reason or gives the engine's results."""
    done, refused = [], []
    for name in sorted(MODELS):
        (path,) = recorded_models([name], tmp_path)
        found = codegen(path, "-o", tmp_path / name)
        (done if found.returncode == 0 else refused).append(name)
        if found.returncode == 0:
            run(tmp_path / name, QUICK)
        else:
            assert re.search(r"no C for microcontrollers|depend on the contents|is open|no tensor of numbers", found.stderr), found.stderr
    assert len(refused) <= REFUSED, refused

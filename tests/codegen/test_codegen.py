# SPDX-License-Identifier: Apache-2.0
"""spore codegen: models as C that the host's compiler takes without a warning and that gives the engine's results: bytes bit for bit, floats up to the
order of sums. `make run` of the generated project is the comparison; its exit code is the number of results that differ."""
import gzip
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
TESTS, ROOT = HERE.parent, HERE.parents[1]
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
    return done.stdout + done.stderr  # qemu says there what boards say


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


class Keywords(nn.Cell):
    """Depthwise separable convolutions over 49 frames of 10 coefficients, as for spotting words: 4 kB of activations."""
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 4, (10, 4), stride=2, pad_mode="same", has_bias=True)
        self.blocks = nn.SequentialCell([layer for _ in range(3) for layer in (nn.Conv2d(4, 4, 3, pad_mode="same", group=4), nn.BatchNorm2d(4), nn.ReLU(),
                                                                               nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4), nn.ReLU())])
        self.fc = nn.Dense(4, 12)

    def construct(self, x):
        return ops.softmax(self.fc(ops.mean(self.blocks(ops.relu(self.first(x))), (2, 3))), -1)


def keyword_memory(folder, compiler, *flags):
    """(bytes of .bss and .data, of the deepest stack) of the generated code."""
    subprocess.run([*compiler, "-std=c99", "-Os", "-fstack-usage", *flags, "-c", "model.c"], cwd=folder, check=True, timeout=60)
    sizes = subprocess.run(["size", "-A", "model.o"], cwd=folder, capture_output=True, text=True, check=True, timeout=60).stdout
    used = sum(int(n) for n in re.findall(r"\.(?:bss|data)\S* +(\d+)", sizes))
    stacks = {line.split(":")[-1].split("\t")[0]: int(line.split("\t")[1]) for line in (folder / "model.su").read_text(encoding="utf-8").splitlines()}
    return used, stacks.pop("model_run") + max(stacks.values())


def test_memory_of_a_keyword_model(tmp_path):
    """Activations, and at most 256 bytes: the arena is the largest pair of values that a step needs, and there is nothing else but the stack."""
    ms.export(Keywords().set_train(False), ms.Tensor(np.zeros((1, 1, 49, 10), np.float32)), file_name=str(tmp_path / "net"), file_format="ONNX")
    report = written(tmp_path / "c", tmp_path / "net.onnx")
    assert "as expected" in run(tmp_path / "c", QUICK)
    activations = 2 * 4 * 25 * 5 * 4  # input and result of a block, float32
    assert int(re.search(r"RAM +(\d+) bytes  arena", report)[1]) == activations
    used, stack = keyword_memory(tmp_path / "c", ["cc"])
    assert used <= activations + 8 and used + stack <= activations + 256, (used, stack)
    if shutil.which("arm-none-eabi-gcc"):
        used, stack = keyword_memory(tmp_path / "c", ["arm-none-eabi-gcc"], "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
        assert used + stack <= activations + 256, (used, stack)


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


@pytest.mark.parametrize("target, name", [("host", n) for n in ("main.c", "Makefile", "model.h", "weights.h")] + [("cortex-m4", "start.c"), ("rv32", "link.ld")])
def test_no_file_is_replaced_unasked(target, name, tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / name).write_text("mine")
    done = codegen(TESTS / "formats/data/onnx/mlp.onnx", "-o", tmp_path / "c", "--target", target)
    assert done.returncode == 1 and f"{name} is there already" in done.stderr
    assert (tmp_path / "c" / name).read_text() == "mine" and os.listdir(tmp_path / "c") == [name]
    assert codegen(TESTS / "formats/data/onnx/mlp.onnx", "-o", tmp_path / "c", "--target", target, "--overwrite").returncode == 0
    assert (tmp_path / "c" / name).read_text() != "mine"


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
    assert re.search(r"[2-9] operators have no C for microcontrollers: .*fft of complex64 \(node '.+'\); ", done.stderr), done.stderr


@pytest.mark.parametrize("words, wanted", [
    ([], "no model was given"),
    (["{lenet}"], "-o FOLDER is missing"),
    (["{lenet}", "-o", "{out}", "--target", "z80"], "there is no target 'z80'; there are host, cortex-m0"),
    (["{lenet}", "-o", "{out}", "--name", "3d"], "'3d' is no C identifier"),
    (["{convnet}", "-o", "{out}"], "dimension 0 of input 'x' is open: give the shape (--shape x="),
    (["{lenet}", "-o", "{out}", "--ram", "40000"], "47040 bytes of RAM are needed"),
    (["{lenet}", "-o", "{out}", "--flash", "65000"], "65696 bytes of flash are needed for constants alone, but there are 65000"),
    (["{lenet}", "{lenet}", "-o", "{out}"], "two models are called 'lenet'"),
    (["{lenet}", "-o", "{out}", "--name", "main"], "cannot be called 'main': main.c is another file"),
    (["{lenet}", "-o", "{out}", "--name", "weights"], "cannot be called 'weights'"),
    (["{lenet}", "{lenet}", "-o", "{out}", "--name", "a", "--name", "a_weights"], "a_weights.c holds the weights of 'a'"),
])
def test_complaints(words, wanted, tmp_path):
    names = {"lenet": TESTS / "formats/data/mindir/lenet.mindir", "convnet": TESTS / "onnx/data/convnet.onnx", "out": tmp_path / "c"}
    done = codegen(*[w.format(**names) for w in words])
    assert done.returncode in (1, 2) and wanted in done.stderr, done.stderr
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("arguments, wanted", [({"optimizer": "adam"}, "train names no weights"), ({"loss": "mse"}, "train names no weights"), ({"ram": -1}, "ram is -1")])
def test_arguments_that_change_nothing(arguments, wanted, tmp_path):
    with pytest.raises(ValueError, match=wanted):
        ms.codegen(str(TESTS / "formats/data/mindir/lenet.mindir"), str(tmp_path / "c"), **arguments)
    assert not (tmp_path / "c").exists()


def test_open_shapes_are_given(tmp_path):
    written(tmp_path / "c", TESTS / "onnx/data/convnet.onnx", "--shape", "x=2,3,12,12")
    assert "as expected" in run(tmp_path / "c", QUICK)
    assert codegen(TESTS / "onnx/data/convnet.onnx", "--shape", "x=2,3,12,12", "-o", tmp_path / "c").returncode != 0  # files that are there stay
    written(tmp_path / "c", TESTS / "onnx/data/convnet.onnx", "--shape", "x=1,3,12,12", "--force")


def test_from_python(tmp_path):
    """The same files as the command's."""
    path = TESTS / "onnx/data/convnet.onnx"
    report = ms.codegen(str(path), str(tmp_path / "a"), name="net", shapes={"x": (1, 3, 12, 12)}, target="cortex-m4")
    assert report.replace("/a,", "/b,") == written(tmp_path / "b", path, "--name", "net", "--shape", "x=1,3,12,12", "--target", "cortex-m4")
    names = sorted(f.name for f in (tmp_path / "a").iterdir())
    assert names == ["Makefile", "link.ld", "main.c", "net.c", "net.h", "start.c", "weights.c", "weights.h"]
    assert all((tmp_path / "a" / n).read_bytes() == (tmp_path / "b" / n).read_bytes() for n in names)
    with pytest.raises(ValueError, match="there is no target 'z80'"):
        ms.codegen(str(path), str(tmp_path / "c"), shapes={"x": (1, 3, 12, 12)}, target="z80")
    with pytest.raises(ValueError, match="bytes of RAM are needed"):
        ms.codegen([str(path)], str(tmp_path / "c"), shapes={"x": (1, 3, 12, 12)}, ram=100)


# --- training ------------------------------------------------------------------------------------------------------------

class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(4, 8, 3, pad_mode="valid", has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Dense(8 * 2 * 2, 24)
        self.fc2 = nn.Dense(24, 10)

    def construct(self, x):
        x = self.pool(ops.relu(self.conv1(x)))
        x = self.pool(ops.relu(self.conv2(x)))
        return self.fc2(ops.relu(self.fc1(x.reshape((x.shape[0], -1)))))


@pytest.fixture(scope="module", name="lenet")
def _lenet(tmp_path_factory):
    """A LeNet for digits of 14 by 14, eight at a time, that has learnt nothing."""
    folder = tmp_path_factory.mktemp("lenet")
    ms.set_seed(3)
    ms.export(LeNet(), ms.Tensor(np.zeros((8, 1, 14, 14), np.float32)), file_name=str(folder / "lenet"), file_format="ONNX")
    return folder / "lenet.onnx"


@pytest.mark.parametrize("words", [["--train", "fc2"], ["--train", "", "--optimizer", "momentum"], ["--train", "conv2", "--train", "fc", "--optimizer", "adam"],
                                   ["--train", "fc1", "--loss", "mse"]], ids=["sgd", "momentum", "adam", "mse"])
def test_steps_of_training(words, lenet, tmp_path):
    """The losses of three steps are the engine's: so forward, backward and update are."""
    report = written(tmp_path / "c", lenet, *words)
    assert "model_train output 0: as expected" in run(tmp_path / "c", QUICK)
    states = [int(n) for n in re.findall(r"RAM +(\d+) bytes  state", report)]
    size = 4 * {"fc2": 250, "": 40 + 296 + 24 * 33 + 250, "conv2": 296 + 24 * 33 + 250, "fc1": 24 * 33}[words[1]]
    copies = {"momentum": 2, "adam": 3}.get(words[-1], 1)
    assert states[0] == size and size * copies <= states[1] <= size * copies + 8


LEARN = """#include <stdint.h>
#include "model.h"
#include "model_train.h"
#ifdef SPORE_BOARD
void spore_say(const char *text);
#else
#include <stdio.h>
static void spore_say(const char *text) { fputs(text, stdout); }
#endif
enum { N = %d, EPOCHS = %d };
static const uint8_t pictures[N][196] = {%s};
static const uint8_t digits[N] = {%s};
static float x[8 * 196], y[80];
static int32_t label[8];
static int fill(int from)
{
    for (int i = 0; i < 8 * 196; i++) x[i] = (float)pictures[from + i / 196][i %% 196] / 255.0f;
    for (int i = 0; i < 8; i++) label[i] = digits[from + i];
    return 0;
}
int main(void)
{
    float first = 0.0f, last = 0.0f, loss;
    const float rate = %sf;
    int right = 0;
    model_reset();
    for (int epoch = 0; epoch < EPOCHS; epoch++)
        for (int i = fill(0); i < N; i += 8) {
            fill(i);
            model_train(x, label, &rate, &loss);
            if (epoch == 0) first += loss;
            if (epoch == EPOCHS - 1) last += loss;
        }
    for (int i = 0; i < N; i += 8) {
        fill(i);
        model_run(x, y);
        for (int k = 0; k < 8; k++) {
            int best = 0;
            for (int c = 1; c < 10; c++) best = y[10 * k + c] > y[10 * k + best] ? c : best;
            right += best == digits[i + k];
        }
    }
    spore_say(last < 0.5f * first && right >= N * 3 / 4 ? "learnt\\n" : "NOT LEARNT\\n");
    return !(last < 0.5f * first && right >= N * 3 / 4);
}
"""


def learn(folder, lenet, n, epochs, *words):
    """A project that trains on digits and says whether it has learnt them."""
    with gzip.open(ROOT / "data/mnist/train-images-idx3-ubyte.gz") as file:
        pictures = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)[:n]
    with gzip.open(ROOT / "data/mnist/train-labels-idx1-ubyte.gz") as file:
        digits = np.frombuffer(file.read(), np.uint8, offset=8)[:n]
    small = pictures.reshape(n, 14, 2, 14, 2).mean((2, 4)).astype(np.uint8).reshape(n, -1)
    report = written(folder, lenet, "--train", "", "--optimizer", "adam", *words)
    text = LEARN % (n, epochs, ",".join("{" + ",".join(map(str, row)) + "}" for row in small), ",".join(map(str, digits)), "0.01")
    (folder / "main.c").write_text(text, encoding="utf-8")
    return report


def test_digits_are_learnt(lenet, tmp_path):
    learn(tmp_path / "c", lenet, 64, 12)
    assert "\nlearnt" in "\n" + run(tmp_path / "c")


def test_weights_that_are_not_there(lenet, tmp_path):
    done = codegen(lenet, "--train", "head", "-o", tmp_path / "c")
    assert done.returncode == 1 and "no float32 weight has a name that begins with 'head'" in done.stderr
    for option, wanted in (("--optimizer", "there are sgd, momentum and adam"), ("--loss", "there are cross_entropy and mse")):
        done = codegen(lenet, "--train", "fc", option, "other", "-o", tmp_path / "c")
        assert done.returncode == 1 and wanted in done.stderr
    assert not (tmp_path / "c").exists()


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


@pytest.mark.long
@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55", "rv32"])
def test_digits_are_learnt_on_boards(target, lenet, tmp_path):
    if shutil.which(BOARDS[target]) is None:
        pytest.skip(f"{BOARDS[target]} is not installed: scripts/deps long")
    report = learn(tmp_path / "c", lenet, 64, 12, "--target", target)
    assert "\nlearnt" in "\n" + run(tmp_path / "c")
    bss = subprocess.run(["size", "-A", "test.elf"], cwd=tmp_path / "c", capture_output=True, text=True, check=True, timeout=60).stdout
    arena, state = int(re.search(r"shared arena: (\d+)", report)[1]), int(re.findall(r"RAM +(\d+) bytes  state", report)[1])
    pictures = 4 * (8 * 196 + 80 + 8)
    assert arena + state + pictures <= int(re.search(r"\.bss +(\d+)", bss)[1]) <= arena + state + pictures + 64


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

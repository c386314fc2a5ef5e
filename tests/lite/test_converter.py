# SPDX-License-Identifier: Apache-2.0
"""`converter_lite`: MindSpore Lite's converter by its options and its configuration file."""
import os
import pathlib
import subprocess

import numpy as np
import pytest

import spore as ms
from spore import Tensor, lite, nn, ops

CONVERTER = str(pathlib.Path(os.environ["SPORE_BUILD"]) / "converter_lite")
DONE = "CONVERT RESULT SUCCESS:0"


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.fc = nn.Conv2d(3, 8, 3, has_bias=True), nn.BatchNorm2d(8), nn.Dense(8, 10)

    def construct(self, x):
        return self.fc(ops.mean(ops.relu(self.norm(self.conv(x))), (2, 3)))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the network in two formats, a picture-like input, its answer, and data."""
    folder = tmp_path_factory.mktemp("converter")
    ms.set_seed(2)
    net = Net().set_train(False)
    x = np.random.default_rng(1).standard_normal((1, 3, 16, 16)).astype(np.float32)
    for kind in ("MINDIR", "ONNX"):
        ms.export(net, Tensor(x), file_name=str(folder / "net"), file_format=kind)
    (folder / "data").mkdir()
    for i in range(8):
        ms.dataset.vision.write_png(str(folder / "data" / f"{i}.png"), Tensor(np.random.default_rng(i).integers(0, 255, (16, 16, 3), np.uint8)))
    return folder, x, net(Tensor(x)).asnumpy()


def run(folder, *options, config=None):
    if config is not None:
        (folder / "config.ini").write_text(config)
        options = (*options, f"--configFile={folder / 'config.ini'}")
    for old in folder.glob("out*"):
        old.unlink()
    return subprocess.run([CONVERTER, *options], capture_output=True, text=True, cwd=folder)


def off(path, x, wanted):
    return np.abs(lite.load(str(path))(Tensor(x)).asnumpy() - wanted).max() / np.abs(wanted).max()


@pytest.mark.parametrize("kind", ["MINDIR", "ONNX"])
def test_a_network_is_converted(made, kind):
    folder, x, wanted = made
    done = run(folder, f"--fmk={kind}", f"--modelFile=net.{kind.lower()}", "--outputFile=out", "--infer=true", "--optimize=general")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == DONE, done.stderr
    assert off(folder / "out.ms", x, wanted) < 1e-6


def test_half_and_encryption(made):
    folder, x, wanted = made
    done = run(folder, "--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out.ms", "--fp16=on")
    assert done.returncode == 0, done.stderr
    assert 1e-7 < off(folder / "out.ms", x, wanted) < 1e-3
    key = "00112233445566778899aabbccddeeff"
    done = run(folder, "--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out", "--saveType=MINDIR", "--encryption=true", f"--encryptKey={key}")
    assert done.returncode == 0, done.stderr
    (folder / "out.mindir").rename(folder / "secret.mindir")
    done = run(folder, "--fmk=MINDIR", "--modelFile=secret.mindir", "--outputFile=out", f"--decryptKey={key}", "--decryptMode=AES-GCM")
    assert done.returncode == 0, done.stderr
    assert off(folder / "out.ms", x, wanted) < 1e-6


@pytest.mark.parametrize("rest, most", [("bit_num=8", 0.02), ("bit_num=8\n[weight_quant_param]\nper_channel=false", 0.05), ("bit_num=16", 1e-3),
                                        ("bit_num=8\n[weight_quant_param]\nquant_strategy=GPTQ\n[data_preprocess_param]\ncalibrate_path=x:data\ninput_type=IMAGE\ncalibrate_size=4", 0.02)])
def test_weights_are_quantised(made, rest, most):
    folder, x, wanted = made
    done = run(folder, "--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out", config=f"# weights\n[common_quant_param]\nquant_type = WEIGHT_QUANT\n{rest}\n")
    assert done.returncode == 0, done.stderr + done.stdout
    assert 0 < off(folder / "out.ms", x, wanted) < most


def test_full_quantisation_goes_to_mindir(made):
    folder, x, wanted = made
    config = "[common_quant_param]\nquant_type=FULL_QUANT\nbit_num=8\ndebug_info_save_path=.\n[full_quant_param]\nactivation_quant_method=KL\nbias_correction=true\n" \
             "[data_preprocess_param]\ncalibrate_path=x:data\ncalibrate_size=8\ninput_type=IMAGE\nimage_to_format=RGB\nnormalize_mean=[127.5, 127.5, 127.5]\nnormalize_std=[127.5, 127.5, 127.5]\n"
    done = run(folder, "--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out", "--saveType=MINDIR", config=config)
    assert done.returncode == 0, done.stderr
    assert '"method": "entropy"' in (folder / "quantization.json").read_text()
    done = run(folder, "--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out", config=config)
    assert done.returncode == 1 and "CONVERT RESULT FAILED" in done.stdout and "quantize_linear" in done.stderr
    assert not (folder / "out.ms").exists()


@pytest.mark.parametrize("options, config, text", [
    ([], None, "--fmk is missing"),
    (["--fmk=ONNX"], None, "--modelFile and --outputFile must be given"),
    (["--fmk=CAFFE", "--modelFile=net.onnx", "--outputFile=out"], None, "networks of kind CAFFE are not read"),
    (["--fmk=MINDIR", "--modelFile=net.onnx", "--outputFile=out"], None, "--fmk is MINDIR, but net.onnx is a"),
    (["--fmk=ONNX", "--modelFile=none.onnx", "--outputFile=out"], None, "none.onnx"),
    (["--fmk=ONNX", "--fmk=ONNX"], None, "--fmk is given twice"),
    (["fmk=ONNX"], None, "'fmk=ONNX' is no option of the form --name=value"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out", "--fp16=yes"], None, "--fp16 is 'yes', it must be on or off"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out", "--optimize=ascend_oriented"], None, "other hardware is not here"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out", "--inputDataFormat=NHWC"], None, "inputs stay as the network has them"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out", "--trainModel=true"], None, "training step"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out", "--encryption=true"], None, "belong together"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out", "--decryptKey=zz"], None, "hexadecimal"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out", "--inputShape=x"], None, "it must be NAME:1,2,3"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out"], "[common_quant_param]\nbit_num=8\n", "says no quant_type"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out"], "[common_quant_param]\nquant_type=WEIGHT_QUANT\nbit_num=7\n", "bit_num is 7"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out"], "[common_quant_param]\nquant_type=HALF\n", "quant_type is 'HALF'"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out"], "[common_quant_param]\nquant_type=FULL_QUANT\n", "need data: calibrate_path"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out"], "[other]\n", "section [other] is not known"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out"], "[micro_param]\nenable_micro=true\n", "spore codegen"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out"], "quant_type=FULL_QUANT\n", "stands before any section"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out"], "[full_quant_param]\ntarget_device=ASCEND\n", "target_device is 'ASCEND'"),
    (["--fmk=ONNX", "--modelFile=net.onnx", "--outputFile=out"], "[common_quant_param]\nquant_type=WEIGHT_QUANT\nskip_quant_node=nobody\n", "which no layer is called"),
])
def test_what_is_not_done_is_told(made, options, config, text):
    folder, _, _ = made
    done = run(folder, *options, config=config)
    assert done.returncode in (1, 2) and done.stdout.splitlines()[-1].startswith("CONVERT RESULT FAILED:"), done
    assert text in done.stderr, done.stderr
    assert not list(folder.glob("out*"))


def test_help():
    done = subprocess.run([CONVERTER, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("usage: converter_lite --fmk=KIND")

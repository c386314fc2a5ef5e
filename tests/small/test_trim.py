# SPDX-License-Identifier: Apache-2.0
"""spore trim: libraries with nothing but what models need. Quick: the options, and a library of the smallest kind; long: LeNet and a quantised MobileNetV2, with
their sizes (edge_sizes.py has the aims), and a build of everything but what needs other libraries."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import spore as ms
from spore import nn

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SPORE = str(pathlib.Path(os.environ["SPORE_BUILD"]) / "spore")


def trim(*words, **more):
    return subprocess.run([SPORE, "trim", *map(str, words)], capture_output=True, text=True, check=False, **more)


def options(folder):
    """Names of options and their values, out of options.cmake."""
    lines = (folder / "options.cmake").read_text().splitlines()
    return {line[4:].split(" ", 1)[0]: line[4:].split(" ", 1)[1].split('"')[1] for line in lines if line.startswith("set(SPORE_") and '"' in line.split(" CACHE")[0]}


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dense")
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(4, 3), nn.ReLU()).set_train(False)
    ms.export(net, ms.Tensor(np.zeros((1, 4), np.float32)), file_name=str(folder / "dense"), file_format="MINDIR")
    return folder / "dense.mindir", net


def test_options_name_what_the_model_needs(dense, tmp_path):
    done = trim(dense[0], "-o", tmp_path / "out", "--options-only")
    assert done.returncode == 0, done.stderr
    found = options(tmp_path / "out")
    assert {"matmul", "relu", "cast"} <= set(found["SPORE_OPERATORS"].split(";"))
    assert not {"conv2d", "softmax", "adam"} & set(found["SPORE_OPERATORS"].split(";"))
    assert found["SPORE_FORMATS"] == "mindir" and found["SPORE_ISA"] == "portable"
    assert "MatMul" in found["SPORE_PRIMITIVES"].split(";")
    assert found["SPORE_DTYPES"] == "float32"
    assert not (tmp_path / "out" / "libspore.a").exists()


def test_a_model_without_primitives(dense, tmp_path):
    """Lists of CMake have no empty item: an ONNX model needs no primitive of MindIR."""
    ms.export(dense[1], ms.Tensor(np.zeros((1, 4), np.float32)), file_name=str(tmp_path / "dense"), file_format="ONNX")
    done = trim(tmp_path / "dense.onnx", "-o", tmp_path / "out", "--options-only")
    assert done.returncode == 0, done.stderr
    lists = options(tmp_path / "out")
    assert lists["SPORE_FORMATS"] == "onnx" and all("" not in value.split(";") for value in lists.values()), lists


def test_several_models_share_a_library(dense, tmp_path):
    ms.export(nn.Softmax(), ms.Tensor(np.zeros((2, 3), np.float16)), file_name=str(tmp_path / "soft"), file_format="ONNX")
    done = trim(dense[0], tmp_path / "soft.onnx", "-o", tmp_path / "out", "--options-only", "--isa", "avx2")
    assert done.returncode == 0, done.stderr
    found = options(tmp_path / "out")
    assert set(found["SPORE_FORMATS"].split(";")) == {"mindir", "onnx"} and found["SPORE_ISA"] == "avx2"
    assert {"softmax", "matmul"} <= set(found["SPORE_OPERATORS"].split(";"))
    assert {"float16", "float32"} <= set(found["SPORE_DTYPES"].split(";"))


@pytest.mark.parametrize("words, said", [
    ([], "no model"), (["{m}"], "-o FOLDER"), (["{m}", "-o", "{o}", "--isa", "sse"], "isa is 'sse'"), (["nowhere.onnx", "-o", "{o}", "--options-only"], "nowhere.onnx"),
    (["{m}", "-o", "{o}", "--source", "{o}"], "SporeParts.cmake"), (["{m}", "-o", "{o}", "--source", "{o}", "--options-only"], "--source"),
])
def test_mistakes_are_told(dense, tmp_path, words, said):
    done = trim(*(word.format(m=dense[0], o=tmp_path / "out") for word in words))
    assert done.returncode != 0 and said in done.stderr


def test_what_is_there_stays(dense, tmp_path):
    assert trim(dense[0], "-o", tmp_path, "--options-only").returncode == 0
    before = (tmp_path / "options.cmake").read_text()
    done = trim(dense[0], "-o", tmp_path, "--options-only")
    assert done.returncode == 1 and "--overwrite" in done.stderr
    assert trim(dense[0], "-o", tmp_path, "--options-only", "--overwrite").returncode == 0
    assert (tmp_path / "options.cmake").read_text() == before


def test_as_many_compilers_as_threads(dense, tmp_path):
    """make takes --parallel without a number for all at once: hundreds of compilers on a small machine."""
    (tmp_path / "bin").mkdir()
    cmake = tmp_path / "bin/cmake"
    cmake.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n', encoding="utf-8")
    cmake.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = trim(dense[0], "-o", tmp_path / "out", "--source", ROOT, env=dict(os.environ, PATH=path, SPORE_NUM_THREADS="1"))
    assert done.returncode == 0, done.stderr
    assert "--parallel 1 --target spore_static" in (tmp_path / "calls").read_text()


def run_trimmed(program, model, x, shape, dtype, folder):
    x.tofile(folder / "x.bin")
    done = subprocess.run([program, model, folder / "x.bin", folder / "y.bin"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return np.fromfile(folder / "y.bin", dtype).reshape(shape)


def link(folder, library):
    sys.path.insert(0, str(HERE))
    import edge_sizes
    return edge_sizes.link(folder / "run_model", library)


@pytest.mark.long
def test_a_trimmed_library_runs_its_model_and_names_what_it_lacks(dense, tmp_path):
    model, net = dense
    done = trim(model, "-o", tmp_path / "out", "--source", ROOT, timeout=1700)
    assert done.returncode == 0, done.stdout + done.stderr
    program = link(tmp_path, tmp_path / "out" / "libspore.a")
    x = np.random.default_rng(1).standard_normal((1, 4)).astype(np.float32)
    np.testing.assert_allclose(run_trimmed(program, model, x, (1, 3), np.float32, tmp_path), net(ms.Tensor(x)).asnumpy(), rtol=1e-5, atol=1e-6)
    needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    libraries = [line.split("[")[1].split("]")[0] for line in needed.splitlines() if "NEEDED" in line]
    assert set(libraries) <= {"libc.so.6", "libm.so.6"}, libraries
    # Another model: the operator, the primitive or the format is named.
    ms.export(nn.Softmax(), ms.Tensor(np.zeros((1, 4), np.float32)), file_name=str(tmp_path / "soft"), file_format="MINDIR")
    x.tofile(tmp_path / "x.bin")
    done = subprocess.run([program, tmp_path / "soft.mindir", tmp_path / "x.bin", tmp_path / "y.bin"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1 and ("softmax" in done.stdout or "Softmax" in done.stdout) and done.returncode >= 0, done.stdout


@pytest.mark.long
def test_sizes_are_those_aimed_at():
    sys.path.insert(0, str(HERE))
    import edge_sizes
    for row in edge_sizes.measure():
        assert row.bytes <= row.aim, f"{row.name}: {row.bytes} bytes, the aim is {row.aim}"
        assert set(row.libraries) <= {"libc.so.6", "libm.so.6"}, row.libraries
        assert row.error <= row.tolerance, f"{row.name}: results differ by {row.error}"


@pytest.mark.long
def test_every_operator_without_other_libraries(tmp_path):
    """All operators but those between processes, all formats that need nothing: libc and libm."""
    parts = ["DATA", "CRYPTO", "ZLIB", "JSON", "PLUGINS", "CACHE", "PARALLEL", "PYTHON", "TESTS"]
    done = subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path / "build", "-G", "Ninja", "-DSPORE_WERROR=ON", *(f"-DSPORE_{part}=OFF" for part in parts)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run(["cmake", "--build", tmp_path / "build", "--target", "libspore.a"], capture_output=True, text=True, check=False, timeout=1700)
    assert done.returncode == 0, done.stdout[-4000:]
    (tmp_path / "count.c").write_text('#include <stdio.h>\n#include <spore/ops.h>\nint main(void) { return printf("%d\\n", sp_op_count()) < 0; }\n')
    subprocess.run(["cc", f"-I{ROOT / 'include'}", f"-I{tmp_path / 'build/include'}", tmp_path / "count.c", tmp_path / "build/libspore.a", "-lm", "-o", tmp_path / "count"], check=True)
    whole = int(subprocess.run([SPORE, "ops"], capture_output=True, text=True, check=True).stdout.count("\n"))
    assert 0.9 * whole < int(subprocess.run([tmp_path / "count"], capture_output=True, text=True, check=True).stdout) < whole

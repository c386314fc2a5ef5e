# SPDX-License-Identifier: Apache-2.0
"""Files that others cut or write over while they are mapped: an error that says so, never a signal and never numbers without a word."""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

# Each program loads path (argv[1]), has it changed (argv[2]) and uses what it had loaded. It prints the error, or the numbers.
START = """
import os, sys
import numpy as np
import spore as ms
from spore import nn, ops
path, change = sys.argv[1:3]

def happen():
    if change == "cut":
        os.truncate(path, 0)
    elif change == "half":
        os.truncate(path, os.path.getsize(path) // 2)
    else:
        with open(path, "r+b") as f: # in place, of equal size
            f.seek(4096)
            f.write(b"\\x55" * (os.path.getsize(path) - 8192))
        os.utime(path)

def use(f):
    try:
        print("value", f())
    except Exception as e:
        print("error", type(e).__name__, str(e))
"""
PROGRAMS = {
    "ckpt": "p = ms.load_checkpoint(path)\nhappen()\nuse(lambda: float(ops.sum(p['w'] * 1).asnumpy()))",
    "ckpt_numpy": "p = ms.load_checkpoint(path)\nhappen()\nuse(lambda: p['w'].asnumpy().sum())",
    "ckpt_into_net": "p = ms.load_checkpoint(path)\nnet = nn.Dense(512, 1024, has_bias=False)\nnet.weight.name = 'w'\nhappen()\nuse(lambda: (ms.load_param_into_net(net, p), net(ms.Tensor(np.ones((1, 512), np.float32))).asnumpy().sum())[1])",
    "ckpt_saved": "p = ms.load_checkpoint(path)\nhappen()\nuse(lambda: ms.save_checkpoint([{'name': 'w', 'data': p['w']}], path + '.new.ckpt') and 'saved')",
    "safetensors": "p = ms.load_checkpoint(path, format='safetensors')\nhappen()\nuse(lambda: float(ops.sum(p['w'] * 1).asnumpy()))",
    "mindir": "net = nn.GraphCell(ms.load(path))\nx = ms.Tensor(np.ones((1, 512), np.float32))\nhappen()\nuse(lambda: float(net(x).asnumpy().sum()))",
    "mindir_run": "net = nn.GraphCell(ms.load(path))\nx = ms.Tensor(np.ones((1, 512), np.float32))\nnet(x)\nhappen()\nuse(lambda: float(net(x).asnumpy().sum()))",
    "onnx": "net = ms.onnx.load(path)\nx = ms.Tensor(np.ones((1, 512), np.float32))\nhappen()\nuse(lambda: float(net(x).asnumpy().sum()))",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    import spore as ms
    from spore import nn
    folder = tmp_path_factory.mktemp("mapped")
    w = np.ones((1024, 512), np.float32)
    net = nn.Dense(512, 1024, weight_init=ms.Tensor(w), has_bias=False)
    one = ms.Tensor(np.ones((1, 512), np.float32))
    ms.save_checkpoint([{"name": "w", "data": ms.Tensor(w)}], str(folder / "a.ckpt"))
    ms.save_checkpoint([{"name": "w", "data": ms.Tensor(w)}], str(folder / "a.safetensors"), format="safetensors")
    ms.export(net, one, file_name=str(folder / "a.mindir"), file_format="MINDIR")
    ms.onnx.export(net, one, file_name=str(folder / "a.onnx"), input_names=["x"])
    return folder


def run(program, *arguments):
    return subprocess.run([sys.executable, "-c", START + program, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("change", ["cut", "half", "written"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_weights(files, tmp_path, name, change):
    path = tmp_path / f"a.{name.split('_', maxsplit=1)[0]}"
    shutil.copy(files / path.name, path)
    os.utime(path, (1e9, 1e9))
    done = run(PROGRAMS[name], path, change)
    assert done.returncode == 0, done
    right = {"ckpt_saved": "saved"}.get(name, str(1024 * 512.0))
    if done.stdout != f"value {right}\n": # what was read before is right and stays so; anything else is told
        assert done.stdout.startswith("error OSError") and ("while it was mapped; load it again" in done.stdout or "has become shorter" in done.stdout or "load it again" in done.stdout), done
    if name.endswith("_saved") and "error" in done.stdout:
        assert not pathlib.Path(f"{path}.new.ckpt").exists()


def test_other_bus_errors_are_the_programs_own(tmp_path):
    """A page that is not ours ends the process as before, or goes to the handler that was there."""
    path = tmp_path / "other"
    path.write_bytes(b"1" * 8192)
    program = """
import mmap
p = ms.load_checkpoint(sys.argv[3])
with open(path, "r+b") as f:
    m = mmap.mmap(f.fileno(), 8192)
os.truncate(path, 0)
print(m[5000])
"""
    import spore as ms
    ms.save_checkpoint([{"name": "w", "data": ms.Tensor(np.ones((64, 64), np.float32))}], str(tmp_path / "a.ckpt"))
    sanitized = "libasan" in os.environ.get("LD_PRELOAD", "")     # whose handler it then is
    assert run(program, path, "none", tmp_path / "a.ckpt").returncode == (1 if sanitized else -7)

# SPDX-License-Identifier: Apache-2.0
"""The command `spore` while memory runs out, from the first allocation of the process on: it ends by itself, and says why."""
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SPORE_BUILD", ROOT / "build"))
DATA = ROOT / "tests/formats/data"
REFUSE = BUILD / "tests/refuse_malloc.so"

COMMANDS = {
    "inspect": ["inspect", DATA / "onnx/mlp.onnx"],
    "inspect_stats": ["inspect", "--stats", DATA / "nets/vision.pth"],
    "convert_weights": ["convert", DATA / "nets/vision.pth", "{tmp}/a.safetensors"],
    "convert_model": ["convert", DATA / "mindir/lenet.mindir", "{tmp}/a.onnx"],
    "diff": ["diff", DATA / "prefix.ckpt", DATA / "crc.ckpt"],
    "draw": ["draw", DATA / "onnx/mlp.onnx", "-o", "{tmp}/a.svg"],
    "encrypt": ["encrypt", DATA / "crc.ckpt", "{tmp}/e.ckpt", "--key-env", "SPORE_KEY"],
    "record_info": ["record", "info", ROOT / "tests/data/files/ms210/alltypes.mindrecord"],
    "record_check": ["record", "check", ROOT / "tests/data/files/ms210/alltypes.mindrecord"],
    "record_cat": ["record", "cat", ROOT / "tests/data/files/ms210/alltypes.mindrecord"],
    "ops": ["ops", "conv2d"],
    "quantize": ["quantize", DATA / "onnx/mlp.onnx", "-o", "{tmp}/q.onnx", "--kind", "weights"],
    "codegen": ["codegen", DATA / "onnx/mlp.onnx", "-o", "{tmp}", "--name", "net"],
    "inspect_lite": ["inspect", ROOT / "tests/lite/data/small/chain.ms"],
    "convert_lite": ["convert", DATA / "onnx/mlp.onnx", "{tmp}/a.ms"],
}


def run(command, tmp, n):
    env = dict(os.environ, LD_PRELOAD=str(REFUSE), REFUSE_FROM=str(n), SPORE_KEY="0123456789ABCDEF")
    for made in tmp.iterdir():  # files that are there are not overwritten
        made.unlink()
    arguments = [str(a).format(tmp=tmp) for a in command]
    return subprocess.run([BUILD / "spore", *arguments], capture_output=True, text=True, env=env, timeout=60, check=False, cwd=ROOT)


def starve(command, tmp, every):
    right = run(command, tmp, 0)
    assert right.returncode in (0, 1) and "usage" not in right.stderr, right.stderr
    n, failures = 1, []
    while True:
        done = run(command, tmp, n)
        said = done.stdout + done.stderr
        if done.returncode < 0:
            failures.append(f"n = {n}: signal {-done.returncode}")
        elif done.returncode == right.returncode and done.stdout == right.stdout:
            break
        elif "damaged" in said or "malformed" in said or "memory" not in said.lower():
            failures.append(f"n = {n}: code {done.returncode}: {said[-200:]!r}")
        n += 1 if every or n < 10 else n // 4
        if n > 100000:
            failures.append("never without a failure")
            break
    assert not failures, "\n".join(failures[:5]) + f"\n{len(failures)} of them"


needed = pytest.mark.skipif(not REFUSE.exists() or "LD_PRELOAD" in os.environ, reason="another library is loaded before all others")


@needed
@pytest.mark.parametrize("name", COMMANDS)
def test_command(name, tmp_path):
    starve(COMMANDS[name], tmp_path, False)


@needed
@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_command_at_every_allocation(name, tmp_path):
    starve(COMMANDS[name], tmp_path, True)

# SPDX-License-Identifier: Apache-2.0
"""``make bench BENCH=files``: a checkpoint of 1 GB in 100 tensors, page cache warm: spore against MindSpore and safetensors.

Per side: seconds until load_checkpoint returns, until the first parameter has been read, until all have been read, and the memory
that took beyond what the process had before, as a share of the data. Then ONNX: export of ResNet-50 (aim 300 ms) and import of a model of
51 MB (aim 150 ms), each in a new process. As a program: ``files.py SIDE FILE`` measures one side once and prints JSON;
``files.py make FOLDER MB`` writes the files, ``files.py export FILE`` and ``files.py import FILE`` measure ONNX.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TENSORS = 100
ROUNDS = 6


def make(folder, mb):
    import spore

    rng = np.random.default_rng(1)
    n = mb * (1 << 20) // TENSORS // 4
    values = [{"name": f"layer{i}.weight", "data": spore.Tensor(rng.random(n, np.float32))} for i in range(TENSORS)]
    seconds = {}
    for round_, ending in itertools.product(range(ROUNDS), ("ckpt", "safetensors")):
        path = os.path.join(folder, "bench." + ending)
        for what, work in (("save_", lambda: spore.save_checkpoint(values, path, format=ending)), ("copy_", lambda: copy(path, path + ".copy"))):
            start = time.perf_counter()
            work()
            seconds[what + ending] = min(time.perf_counter() - start, seconds.get(what + ending, 1e9))
        os.unlink(path + ".copy")
        if round_ < ROUNDS - 1:
            os.unlink(path)     # both write a new file: freeing the blocks of an old one takes a while on some disks
    return seconds


def copy(source, target):
    """The file once more, on disk when this returns, as the saved one is."""
    with open(source, "rb") as src, open(target, "wb") as dst:
        while os.sendfile(dst.fileno(), src.fileno(), None, 1 << 26):
            pass
        os.fsync(dst.fileno())


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure(side, path):
    """Every value is looked at, as a first step of training would."""
    if side == "safetensors":
        from safetensors.numpy import load_file as load
        array = np.asarray
    else:
        framework = __import__("spore" if side == "spore" else "mindspore")
        load = framework.load_checkpoint

        def array(p):
            return p.asnumpy()
    before = resident()
    start = time.perf_counter()
    values = list(load(path).values())
    loaded = time.perf_counter()
    total = float(array(values[0]).sum())
    first = time.perf_counter()
    for value in values:
        total += float(array(value).sum())
    end = time.perf_counter()
    with open("/proc/self/status") as f:     # ru_maxrss would begin with that of the process that started this one
        peak = next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))
    return {"load": loaded - start, "first": first - start, "all": end - start,
            "memory": (peak - before) / os.path.getsize(path), "sum": total}


def export(path):
    import spore
    spore.as_mindspore()    # models.py is written for either
    import models
    net = models.ResNet50()
    net.set_train(False)
    x = spore.Tensor(np.zeros((1, 3, 224, 224), np.float32))
    start = time.perf_counter()
    spore.export(net, x, file_name=path, file_format="ONNX")
    seconds = time.perf_counter() - start
    wide = spore.nn.SequentialCell(*[spore.nn.Dense(1024, 1024) for _ in range(12)])
    spore.export(wide, spore.Tensor(np.zeros((1, 1024), np.float32)), file_name=path + "51MB.onnx", file_format="ONNX")
    return seconds


def load_onnx(path):
    import spore
    start = time.perf_counter()
    spore.onnx.load(path + "51MB.onnx")
    return time.perf_counter() - start


def bench_onnx(folder):
    path = os.path.abspath(os.path.join(folder, "net.onnx"))
    found = {}
    for what in ("export", "import") * ROUNDS:
        out = subprocess.run([sys.executable, os.path.abspath(__file__), what, path], capture_output=True, text=True, check=True)
        found[what] = min(float(out.stdout.splitlines()[-1]), found.get(what, 1e9))
    print(f"onnx export of ResNet-50 {found['export'] * 1e3:.0f} ms (aim 300), import of {os.path.getsize(path + '51MB.onnx') / 1e6:.0f} MB "
          f"{found['import'] * 1e3:.0f} ms (aim 150)")


def bench_encrypted(folder, mb=256):
    """Reading a checkpoint in AES-GCM, every byte of it, against OpenSSL's own program on blocks of one size."""
    import spore

    path, key = os.path.join(folder, "secret.ckpt"), bytes(range(32))
    spore.save_checkpoint([{"name": "w", "data": spore.Tensor(np.ones(mb << 18, np.float32))}], path, enc_key=key)
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        spore.load_checkpoint(path, dec_key=key)
        seconds.append(time.perf_counter() - start)
    ours = mb * 2**20 / min(seconds) / 1e6
    speed = ["openssl", "speed", "-mr", "-evp", "aes-256-gcm", "-bytes", "65536", "-seconds", "1"]
    try:
        said = subprocess.run(speed, capture_output=True, text=True, check=True).stdout
        theirs = max(float(line.rsplit(":", 1)[1]) for line in said.splitlines() if line.startswith("+F:")) / 1e6
        print(f"encrypted checkpoint {ours:.0f} MB/s, openssl speed {theirs:.0f} MB/s, time {theirs / ours:.2f} of it (aim 1.3)")
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"encrypted checkpoint {ours:.0f} MB/s; openssl speed: {error}")


def main():
    if len(sys.argv) > 2 and sys.argv[1] in ("export", "import"):
        print(export(sys.argv[2]) if sys.argv[1] == "export" else load_onnx(sys.argv[2]))
        return
    if len(sys.argv) > 2:
        print(json.dumps(make(sys.argv[2], int(sys.argv[3])) if sys.argv[1] == "make" else measure(sys.argv[1], sys.argv[2])))
        return
    mb = int(os.environ.get("SPORE_BENCH_MB", "1024"))
    plain = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    sides = [("spore", sys.executable, "ckpt", None), ("mindspore", os.environ.get("SPORE_BENCH_MINDSPORE"), "ckpt", plain),
             ("spore", sys.executable, "safetensors", None),
             ("safetensors", os.environ.get("SPORE_BENCH_PEER"), "safetensors", plain)]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        bench_onnx(folder)
        bench_encrypted(folder)
        seconds = make(folder, mb)
        for ending in ("ckpt", "safetensors"):
            print(f"save {mb} MB {ending}: {mb / seconds['save_' + ending]:.0f} MB/s, copy of the file "
                  f"{mb / seconds['copy_' + ending]:.0f} MB/s")
        for side, python, ending, env in sides:
            if not python:
                print(f"{side}: no interpreter named, see bench/run.py")
                continue
            path = os.path.join(folder, "bench." + ending)
            found = {}
            for _ in range(ROUNDS):
                out = subprocess.run([python, os.path.abspath(__file__), side, path], env=env, capture_output=True, text=True, check=True)
                for key, value in json.loads(out.stdout.splitlines()[-1]).items():
                    found[key] = min(value, found.get(key, value))
            print(f"{side:12}{ending:12} load {found['load'] * 1e3:8.1f} ms, first value {found['first'] * 1e3:8.1f} ms, "
                  f"all values {found['all'] * 1e3:8.1f} ms, memory {found['memory']:.2f} of the file")


if __name__ == "__main__":
    main()

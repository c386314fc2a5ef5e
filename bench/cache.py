# SPDX-License-Identifier: Apache-2.0
"""The dataset cache: epochs of the JPEG pipeline of pipeline.py through a cache, rows of 150 kB beside the bandwidth of memory, two jobs beside one,
rows on disk beside the disk, and MindSpore's own server on the same rows.

    make bench BENCH=cache

SPORE_BENCH_MINDSPORE names a Python interpreter that has MindSpore; without it there is one side. SPORE_BENCH_FOLDER keeps the pictures.
SPORE_BENCH_ROWS: how many pictures are read (500). `python bench/cache.py job FRAMEWORK FOLDER PORT SESSION SPILL EPOCHS` is one job and prints a JSON line.
"""
import importlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time

AIMS = {"second epoch / first": 5, "rows of 150 kB / memory bandwidth": 0.5, "two jobs / one": 1.8, "spilled rows written / disk": 0.7, "spilled rows read / disk": 0.7}
ROWS = int(os.environ.get("SPORE_BENCH_ROWS", "500"))
SIZE = 224 * 224 * 3
WORKERS = 2


def job(framework, folder, port, session, spill, epochs, normalize=True):
    """Rows per second of each epoch."""
    ds = importlib.import_module(framework + ".dataset")
    vision = importlib.import_module(framework + ".dataset.vision")
    cache = ds.DatasetCache(session, port=port, spilling=spill)
    data = ds.ImageFolderDataset(os.path.join(folder, "images"), num_parallel_workers=WORKERS, shuffle=False, num_samples=ROWS)
    data = data.map([vision.Decode(), vision.Resize(256), vision.CenterCrop(224)], "image", num_parallel_workers=WORKERS, cache=cache)
    if normalize:
        data = data.map([vision.Normalize([120.0] * 3, [60.0] * 3), vision.HWC2CHW()], "image", num_parallel_workers=WORKERS)
    data = data.batch(32)
    rates = []
    iterator = data.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    for _ in range(epochs):
        start, count = time.perf_counter(), 0
        for row in iterator:
            count += len(row[0])
        rates.append(count / (time.perf_counter() - start))
    return rates


def run_jobs(python, framework, folder, port, session, spill, epochs, how="job", n=1):
    """Several jobs at once; the rates of each."""
    words = [python, os.path.abspath(__file__), how, framework, folder, str(port), str(session), str(int(spill)), str(epochs)]
    jobs = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(n)]
    return [json.loads(one.communicate()[0].strip().split("\n")[-1]) for one in jobs]


class Spore:
    """Its server."""

    framework, python = "spore", sys.executable

    def __init__(self, *options):
        from spore import _command
        self.command, self.port = _command.find(), random.randint(20000, 60000)
        subprocess.run([*self.command, "cache", "start", "--port", str(self.port), *options], check=True, stdout=subprocess.DEVNULL)

    def session(self):
        return int(subprocess.run([*self.command, "cache", "session", "--port", str(self.port)], check=True, capture_output=True, text=True).stdout)

    def stop(self):
        subprocess.run([*self.command, "cache", "stop", "--port", str(self.port)], check=False)


class MindSpore:
    """Its server, beside its interpreter."""

    framework, python = "mindspore", os.environ.get("SPORE_BENCH_MINDSPORE")

    def __init__(self):
        self.command, self.port = os.path.join(os.path.dirname(self.python), "dataset-cache"), random.randint(20000, 60000)
        self._call("--start")

    def _call(self, word):
        env = {**os.environ, "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
        return subprocess.run([self.command, word, "-p", str(self.port)], check=True, capture_output=True, text=True, env=env).stdout

    def session(self):
        return int(self._call("-g").split()[-1])

    def stop(self):
        self._call("--stop")


def memory_rate():
    """Rows copied into batches, in bytes a second: as much as can be read and written."""
    import numpy as np
    rows, batch = np.ones((256, SIZE), np.uint8), np.zeros((32, SIZE), np.uint8)
    best = 0
    for _ in range(5):
        start = time.perf_counter()
        for at in range(0, 256, 32):
            batch[:] = rows[at:at + 32]
        best = max(best, rows.nbytes / (time.perf_counter() - start))
    return best


def disk_rate(folder):
    """Bytes a second of a file of as many rows, written row by row, then read so."""
    row, rates = b"x" * SIZE, []
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        for step in (lambda: file.write(row), lambda: file.read(SIZE)):
            file.seek(0)
            start = time.perf_counter()
            for _ in range(ROWS):
                step()
            rates.append(ROWS * SIZE / (time.perf_counter() - start))
    return rates


def measure(folder):
    from pipeline import make_files
    found = {}
    if not os.path.isdir(os.path.join(folder, "images")):
        make_files(folder)
    server = Spore("--memory", "2G")
    try:
        session = server.session()
        rates = run_jobs(server.python, "spore", folder, server.port, session, False, 3)[0]
        found["spore: first epoch, rows/s"], found["spore: second epoch, rows/s"] = rates[0], max(rates[1:])
        found["second epoch / first"] = max(rates[1:]) / rates[0]
        plain = run_jobs(server.python, "spore", folder, server.port, session, False, 6, "rows")[0]
        found["rows of 150 kB / memory bandwidth"] = max(plain[1:]) * SIZE / memory_rate()
        one = run_jobs(server.python, "spore", folder, server.port, session, False, 10)[0]
        both = run_jobs(server.python, "spore", folder, server.port, session, False, 10, n=2)
        middle = [sorted(rates)[len(rates) // 2] for rates in (one, *both)]
        found["two jobs / one"] = sum(middle[1:]) / middle[0]
    finally:
        server.stop()
    server = Spore("--memory", "1M", "--spill", folder)
    try:
        session = server.session()
        written, *read = run_jobs(server.python, "spore", folder, server.port, session, True, 4, "rows")[0]
        disk = disk_rate(folder)
        found["spilled rows written / disk"] = written * SIZE / min(disk[0], found["spore: first epoch, rows/s"] * SIZE)
        found["spilled rows read / disk"] = max(read) * SIZE / disk[1]
    finally:
        server.stop()
    if MindSpore.python:
        server = MindSpore()
        try:
            rates = run_jobs(server.python, "mindspore", folder, server.port, server.session(), False, 3)[0]
            found["mindspore: first epoch, rows/s"], found["mindspore: second epoch, rows/s"] = rates[0], max(rates[1:])
            found["second epoch, spore / mindspore"] = found["spore: second epoch, rows/s"] / max(rates[1:])
        finally:
            server.stop()
    return found


def main():
    if len(sys.argv) > 1:
        how, framework, folder, port, session, spill, epochs = sys.argv[1:]
        print(json.dumps(job(framework, folder, int(port), int(session), spill == "1", int(epochs), how == "job")))
        return
    kept = os.environ.get("SPORE_BENCH_FOLDER")
    with tempfile.TemporaryDirectory() as own:
        for name, value in measure(kept or own).items():
            aim = AIMS.get(name)
            print(f"{name:40} {value:10.2f}" + (f"   aim {aim}: {'reached' if value >= aim else 'missed'}" if aim else ""))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""MindRecord with 100,000 small rows: write, read in order (by FileReader, and by MindDataset), read shuffled (by MindDataset);
rows per second, and the ratio to MindSpore's.

    make bench BENCH=record

SPORE_BENCH_MINDSPORE names a Python interpreter that has MindSpore; without it there are no ratios. Both sides run in this
call, one after the other. `python bench/record.py spore|mindspore FOLDER` measures one side and prints a JSON line.
"""
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time

N_ROWS, BATCH, AIM = 100_000, 1000, 3
CASES = ("write", "sequential", "dataset", "shuffled")


def rows():
    """Rows as a tabular or text task has them: numbers, a short text, a vector, some bytes."""
    import numpy as np
    vectors = np.random.default_rng(0).standard_normal((N_ROWS, 8)).astype(np.float32)
    return [{"id": i, "label": i % 10, "name": f"row{i}", "score": i / 7, "x": vectors[i], "data": b"x" * (i % 50 + 1)}
            for i in range(N_ROWS)]


SCHEMA = {"id": {"type": "int64"}, "label": {"type": "int32"}, "name": {"type": "string"}, "score": {"type": "float64"},
          "x": {"type": "float32", "shape": [8]}, "data": {"type": "bytes"}}


def read(framework, path, shuffle):
    """Seconds for all rows by MindDataset."""
    data = importlib.import_module(framework + ".dataset").MindDataset(path, shuffle=shuffle, num_parallel_workers=2)
    start = time.perf_counter()
    assert sum(1 for _ in data.create_dict_iterator(num_epochs=1, output_numpy=True)) == N_ROWS
    return time.perf_counter() - start


def measure(framework, folder):
    mr = importlib.import_module(framework + ".mindrecord")
    path = os.path.join(folder, framework + ".mindrecord")
    data = rows()
    start = time.perf_counter()
    writer = mr.FileWriter(path, 1, True)
    writer.add_schema(SCHEMA)
    for i in range(0, N_ROWS, BATCH):
        writer.write_raw_data(data[i:i + BATCH])
    writer.commit()
    written = time.perf_counter()
    assert sum(1 for _ in mr.FileReader(path).get_next()) == N_ROWS
    seconds = [written - start, time.perf_counter() - written, read(framework, path, False), read(framework, path, True)]
    return {case: N_ROWS / each for case, each in zip(CASES, seconds)}


def run(python, framework, folder, env):
    done = subprocess.run([python, os.path.abspath(__file__), framework, folder], capture_output=True, text=True, env=env,
                          check=False)
    if done.returncode:
        raise SystemExit(f"bench: {framework} could not be measured:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    if len(sys.argv) == 3:
        print(json.dumps(measure(*sys.argv[1:])))
        return
    peer = os.environ.get("SPORE_BENCH_MINDSPORE")
    with tempfile.TemporaryDirectory() as folder:
        own = run(sys.executable, "spore", folder, dict(os.environ))
        plain = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        other = run(peer, "mindspore", folder, plain) if peer else {}
    if not peer:
        print("SPORE_BENCH_MINDSPORE is not set: no ratios")
    print(f"{'rows per second':24}{'spore':>12}{'MindSpore':>12}{'ratio':>8}{'aim':>8}")
    for case in CASES:
        ratio = f"{own[case] / other[case]:8.1f}" if peer else " " * 7 + "-"
        print(f"record {case:17}{own[case]:>12,.0f}{other.get(case, 0):>12,.0f}{ratio}{AIM:>8}")


if __name__ == "__main__":
    main()

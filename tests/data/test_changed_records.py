# SPDX-License-Identifier: Apache-2.0
"""Data sets whose files are cut or written over while a pipeline reads them: an error that says so."""
import os
import subprocess
import sys

import pytest

START = """
import os, sys
import numpy as np
import spore as ms
import spore.dataset as ds
path, change = sys.argv[1:3]

def happen():
    if change == "cut":
        os.truncate(path, 4096)
    else:
        with open(path, "r+b") as f:
            f.seek(os.path.getsize(path) // 2)
            f.write(b"\\x55" * 65536)

def walk(data):
    n = 0
    try:
        for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
            assert len(set(row[0].ravel().tolist())) == 1, "wrong numbers"
            n += 1
            if n == 2:
                happen()
        print("rows", n)
    except RuntimeError as e:
        print("error", str(e)[:2000])
    except OSError as e:
        print("error", e)
"""
PROGRAMS = {
    "mindrecord": """
from spore.mindrecord import FileWriter
w = FileWriter(path, 1, overwrite=True)
w.add_schema({"x": {"type": "int32", "shape": [-1]}}, "x")
for i in range(400):
    w.write_raw_data([{"x": np.full(20000, i, np.int32)}])
w.commit()
walk(ds.MindDataset(path, shuffle=False, num_parallel_workers=1))
""",
    "tfrecord": """
from struct import pack
def crc(data):
    c = 0xFFFFFFFF
    for b in data:
        c = table[(c ^ b) & 255] ^ c >> 8
    c ^= 0xFFFFFFFF
    return ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF
table = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
    table.append(i)
def field(n, data):
    out, size = bytes([n << 3 | 2]), len(data)
    while size >= 128:
        out, size = out + bytes([size & 127 | 128]), size >> 7
    return out + bytes([size]) + data
with open(path, "wb") as f:
    for i in range(200):
        example = field(1, field(1, field(1, b"x") + field(2, field(2, field(1, np.full(2000, i, np.float32).tobytes())))))
        head = pack("<Q", len(example))
        f.write(head + pack("<I", crc(head)) + example + pack("<I", crc(example)))
walk(ds.TFRecordDataset(path, schema=None, shuffle=False, num_parallel_workers=1))
""",
}


@pytest.mark.parametrize("change", ["cut", "written"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_file_that_changes(tmp_path, name, change):
    done = subprocess.run([sys.executable, "-c", START + PROGRAMS[name], str(tmp_path / name), change], capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0 and done.stdout.startswith("error") and "load it again" in done.stdout, done

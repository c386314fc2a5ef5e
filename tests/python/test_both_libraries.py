# SPDX-License-Identifier: Apache-2.0
"""The Python module and the shared library in one process, in both orders: thread-local memory of what is loaded later is scarce."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = Path(os.environ.get("SPORE_BUILD", Path(__file__).resolve().parent.parent.parent / "build")) / "libspore.so"
PROGRAM = """
import ctypes, sys, threading
order = sys.argv[2]
if order == "module first":
    import spore
library = ctypes.CDLL(sys.argv[1])
import spore
library.sp_error_message.restype = ctypes.c_char_p
wrong = []

def work(number):
    for turn in range(20):
        name = f"no such file {number} {turn} " + "x" * (number * 16 % 700)
        out = ctypes.c_void_p()
        path = f"/nowhere/{name}"
        status = library.sp_model_load(path.encode(), None, ctypes.byref(out))
        text = library.sp_error_message().decode()
        if status == 0 or f"no such file {number} {turn} " not in text:
            wrong.append((status, text))
        try:
            spore.load_checkpoint(path + ".ckpt")
        except (ValueError, OSError) as error:
            if f"no such file {number} {turn} " not in str(error):
                wrong.append(str(error))

threads = [threading.Thread(target=work, args=(i,)) for i in range(64)]
[t.start() for t in threads]
[t.join() for t in threads]
print("wrong", len(wrong), wrong[:2])
"""


@pytest.mark.parametrize("order", ["module first", "library first"])
def test_one_process(order):
    if "sanitize" in str(LIBRARY) or re.search(r"build-\w+", str(LIBRARY)):
        pytest.skip("two copies of a sanitizer's runtime")
    environment = {k: v for k, v in os.environ.items() if k != "GLIBC_TUNABLES"}
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(LIBRARY), order], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "wrong 0 []"


@pytest.mark.parametrize("name", ["libspore.so", "py/spore/_core.abi3.so"])
def test_thread_local_memory_is_small(name):
    """Both must fit into what glibc keeps for libraries that are loaded late, with room for those of others."""
    file = LIBRARY.parent / name
    if re.search(r"build-\w+", str(file)):
        pytest.skip("sanitizers add their own")
    segments = subprocess.run(["readelf", "-lW", str(file)], capture_output=True, text=True, check=False)
    if segments.returncode != 0:
        pytest.skip("no readelf")
    size = next(int(line.split()[5], 16) for line in segments.stdout.splitlines() if line.split()[:1] == ["TLS"])
    assert size <= 720

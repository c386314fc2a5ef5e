# SPDX-License-Identifier: Apache-2.0
"""Ranks that the launcher of pip's MPICH starts: its own library is taken, by MPICH's interface and by the standard one of MPI 5."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

PREFIX = Path(sys.prefix)
SOURCE = """
from spore import communication as comm, ops, Tensor
comm.init()
assert ops.AllReduce()(Tensor([1.0])).asnumpy()[0] == 2
print("opened", {line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "libmpi" in line})
"""


@pytest.mark.parametrize("named, library", [(None, "libmpi.so"), ("libmpi_abi.so.1", "libmpi_abi.so")])
def test_ranks_of_pips_mpich(named, library, tmp_path):
    if not (PREFIX / "lib/libmpi.so.12").exists():
        pytest.skip("mpich of pip is not installed beside this Python")
    script = tmp_path / "rank.py"
    script.write_text(SOURCE, encoding="utf-8")
    env = {**os.environ, **({"SPORE_MPI": str(PREFIX / "lib" / named)} if named else {})}
    job = subprocess.run([PREFIX / "bin/mpiexec", "-n", "2", sys.executable, script], capture_output=True, text=True, timeout=120, env=env, check=False)
    assert job.returncode == 0, job.stdout + job.stderr
    assert job.stdout.count(str(PREFIX / "lib" / library)) == 2

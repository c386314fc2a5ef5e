# SPDX-License-Identifier: Apache-2.0
"""Start a program on several ranks of this machine."""
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("SPORE_BUILD", Path(__file__).resolve().parents[2] / "build"))
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"], "mpich": ["mpiexec.mpich"]}


def need(family):
    """Skip where this MPI, or the transport for it, is not there."""
    if shutil.which(LAUNCHERS[family][0]) is None:
        pytest.skip(f"{LAUNCHERS[family][0]} is not installed")
    if not (BUILD / "transports" / f"mpi_{family}.so").exists():
        pytest.skip(f"spore was built without {family}")


def launch(family, ranks, command, timeout=120, **env):
    """The finished job: exit code, output and errors of all ranks."""
    need(family)
    return subprocess.run([*LAUNCHERS[family], "-n", str(ranks), *map(str, command)], capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, "OMP_NUM_THREADS": "1", **env})


def run_python(family, ranks, source, tmp_path, timeout=120, **env):
    """A Python program on every rank."""
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(source))
    return launch(family, ranks, [sys.executable, script], timeout, **env)

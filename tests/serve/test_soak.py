# SPDX-License-Identifier: Apache-2.0
"""soak.py for an hour; SPORE_SOAK_SECONDS for another time."""
import os
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.long
def test_a_night(tmp_path):
    seconds = os.environ.get("SPORE_SOAK_SECONDS", "3600")
    done = subprocess.run([sys.executable, pathlib.Path(__file__).parent / "soak.py", "--seconds", seconds], capture_output=True, text=True, timeout=float(seconds) + 1200, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]

# SPDX-License-Identifier: Apache-2.0
"""Python of the tree has none of the faults that pyproject.toml names for ruff: unused and unknown names, keys that hide others, traps."""
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUFF = shutil.which("ruff", path=str(Path(sys.executable).parent))


def test_the_tree_is_clean():
    assert RUFF, "ruff is not in the environment that runs the tests: scripts/deps installs it"
    done = subprocess.run([RUFF, "check", "--no-cache", "--output-format", "concise", "."], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_hidden_key_is_found(tmp_path):
    (tmp_path / "cases.py").write_text("CASES = {'a': 1, 'b': 2, 'a': 3}\n", encoding="ascii")
    done = subprocess.run([RUFF, "check", "--no-cache", "--config", str(ROOT / "pyproject.toml"), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1 and "F601" in done.stdout


def test_c_is_formatted():
    done = subprocess.run([ROOT / "scripts/fmt", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, "make fmt would change C files:\n" + "\n".join(done.stderr.splitlines()[:20])

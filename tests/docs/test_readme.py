# SPDX-License-Identifier: Apache-2.0
"""The examples of README.md: Python runs as it stands, C is the file it claims to be, links lead somewhere."""
import os
import re
import subprocess
import sys
from pathlib import Path

import spore

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language):
    blocks = re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)
    assert len(blocks) == 1
    return blocks[0]


def test_the_python_example_runs_and_learns(tmp_path):
    code = block("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    package = Path(spore.__file__).absolute().parent.parent
    env = dict(os.environ, PYTHONPATH=str(package))
    out = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert out.returncode == 0, out.stderr
    loss = re.match(r"loss ([0-9.]+); 0.5 \* 0.5 is about 0\.2[3-7]$", out.stdout.strip())
    assert loss and float(loss.group(1)) < 1e-3, out.stdout
    assert (tmp_path / "product.ckpt").stat().st_size > 100


def test_the_c_example_is_the_one_that_is_built():
    assert block("c") == (ROOT / "examples/c/gradient.c").read_text(encoding="utf-8")


def test_links_lead_somewhere():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    links = [(page, link) for page in pages
             for link in re.findall(r"\]\(([^)#:]+)\)", re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8")))]
    assert links
    gone = [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()]
    assert not gone, f"links to nothing: {gone}"


def test_no_page_is_lost():
    """Every page of docs/ is linked from the README or named in it."""
    lost = [page.name for page in sorted((ROOT / "docs").glob("*.md")) if f"docs/{page.name}" not in TEXT]
    assert not lost, f"README.md does not mention {', '.join(lost)}"

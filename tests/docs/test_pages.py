# SPDX-License-Identifier: Apache-2.0
"""Code and names quoted in docs/ are those of the sources."""
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SPORE_BUILD", ROOT / "build"))
PAGES = sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "README.md", ROOT / "CHANGELOG.md"]
PAGES += sorted((ROOT / "src").rglob("README.md")) + sorted((ROOT / "python/spore").rglob("README.md"))


def test_the_table_of_errors_is_the_list_of_the_header():
    listed = re.findall(r'^ *X\((\w+), "(\w+)",', (ROOT / "include/spore/status.h").read_text(encoding="utf-8"), re.M)
    shown = re.findall(r"^\| `SP_(\w+)` \| (\w+) \|", (ROOT / "docs/guides/errors.md").read_text(encoding="utf-8"), re.M)
    assert shown == listed and len(shown) > 5


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_named_files_exist(page):
    """Paths in backquotes that begin with a folder of the project lead to something."""
    names = re.findall(r"`((?:src|python|include|tests|docs|scripts|examples|tools|fuzz|bench|cmake|data)/[\w./*-]+)`",
                       page.read_text(encoding="utf-8"))
    gone = [n for n in names if not any(ROOT.glob(n.rstrip("/")))]
    assert not gone, f"{page.name} names {', '.join(gone)}, which is not there"


@pytest.mark.parametrize("folder", sorted(p.name for p in (ROOT / "src").iterdir() if p.is_dir()) + ["formats/mindir", "formats/onnx"])
def test_every_folder_of_the_engine_says_what_it_holds(folder):
    readme = ROOT / "src" / folder / "README.md"
    assert readme.is_file(), f"src/{folder} has no README.md"
    text = readme.read_text(encoding="utf-8")
    assert 5 <= len(text.splitlines()) <= 25
    unnamed = [f.name for f in readme.parent.glob("*.c") if folder != "ops" and f.name not in text]
    assert not unnamed, f"src/{folder}/README.md does not name {', '.join(unnamed)}"


@pytest.mark.parametrize("folder", sorted(p.name for p in (ROOT / "python/spore").iterdir() if p.is_dir() and (p / "__init__.py").is_file() and p.name != "mindspore"))
def test_every_folder_of_the_package_says_what_it_holds(folder):
    readme = ROOT / "python/spore" / folder / "README.md"
    assert readme.is_file(), f"python/spore/{folder} has no README.md"
    text = readme.read_text(encoding="utf-8")
    assert 5 <= len(text.splitlines()) <= 20
    unnamed = [f.name for f in readme.parent.glob("*.py") if f.name != "__init__.py" and f"`{f.name}`" not in text]
    assert not unnamed, f"python/spore/{folder}/README.md does not name {', '.join(unnamed)}"


def test_the_guide_for_c_names_headers_that_are_there():
    named = re.findall(r"`(spore/\w+\.h)`", (ROOT / "docs/guides/c.md").read_text(encoding="utf-8"))
    assert len(named) > 10 and not [name for name in named if not (ROOT / "include" / name).exists() and not (BUILD / "include" / name).exists()]

# SPDX-License-Identifier: Apache-2.0
"""docs/map.md covers every source file, and names nothing that is not there."""
import fnmatch
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAP = ROOT / "docs/map.md"
PLACES = ["src", "python/core", "python/spore"]
SUFFIXES = {".c", ".py"}


def patterns(text):
    """Paths in the first column of the tables, as glob patterns from the root; names in the table of operators are
    relative to the folder in the title above it."""
    found, folder = [], ""
    for line in text.splitlines():
        if line.startswith("## "):
            title = re.search(r"\(`([^`]+/)`\)", line)
            folder = title.group(1) if title else ""
        elif line.startswith("|") and "---" not in line:
            for name in re.findall(r"`([^`]+)`", line.split("|")[1]):
                found.append(folder + name + ("*" if name.endswith("/") else ""))
    return found


def covered(path, globs):
    return any(fnmatch.fnmatchcase(path, g) for g in globs)


def sources():
    return sorted(str(f.relative_to(ROOT)) for place in PLACES for f in (ROOT / place).rglob("*")
                  if f.suffix in SUFFIXES and "__pycache__" not in f.parts)


def test_every_source_file_is_on_the_map():
    files = sources()
    assert len(files) > 100
    globs = patterns(MAP.read_text(encoding="utf-8"))
    missing = [f for f in files if not covered(f, globs)]
    assert not missing, f"docs/map.md does not name {', '.join(missing)}"


def test_every_operator_family_is_named():
    """src/ops is too large for one line: each of its files is named or matched by more than the folder."""
    globs = [g for g in patterns(MAP.read_text(encoding="utf-8")) if g != "src/ops/*"]
    text = MAP.read_text(encoding="utf-8")
    missing = [f.name for f in sorted((ROOT / "src/ops").glob("*.c"))
               if not covered(f"src/ops/{f.name}", globs) and f"`{f.name}`" not in text]
    assert not missing, f"docs/map.md does not name {', '.join(missing)} of src/ops"


def test_the_map_names_nothing_that_is_gone():
    globs = patterns(MAP.read_text(encoding="utf-8"))
    gone = [g for g in globs if not any(ROOT.glob(g.rstrip("*") if g.endswith("/*") else g))]
    assert not gone, f"docs/map.md names {', '.join(gone)}, which is not there"


@pytest.mark.parametrize("path, hit", [("src/base/cpu.c", True), ("src/bass/cpu.c", False), ("src/ops/unary.c", True),
                                       ("src/ops/nonesuch.c", False)])
def test_coverage_means_what_it_says(path, hit):
    text = "## A\n| `src/base/` | x |\n## B (`src/ops/`)\n| `unary.c` `binary.c` | x |\n"
    assert covered(path, patterns(text)) == hit

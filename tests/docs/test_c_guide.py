# SPDX-License-Identifier: Apache-2.0
"""The pieces of C in docs/guides/c.md compile, each inside a function that has its builder and tensors."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```c\n(.*?)```", (ROOT / "docs/guides/c.md").read_text(encoding="utf-8"), re.S)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("block", BLOCKS)
def test_it_compiles(block, tmp_path):
    source = tmp_path / "piece.c"
    source.write_text("#include <stdio.h>\n#include <spore/spore.h>\n"
                      "void piece(sp_builder *b, sp_tensor *x, sp_tensor *w, sp_tensor *bias);\n"
                      "void piece(sp_builder *b, sp_tensor *x, sp_tensor *w, sp_tensor *bias)\n{\n(void)b, (void)x, (void)w, (void)bias;\n"
                      f"{block}}}\n", encoding="utf-8")
    done = subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", "-Wno-unused-but-set-variable", "-Wno-unused-variable", "-fsyntax-only",
                           f"-I{ROOT / 'include'}", str(source)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_every_header_is_named():
    text = (ROOT / "docs/guides/c.md").read_text(encoding="utf-8")
    gone = [name for name in re.findall(r"`(spore/\w+\.h)`", text) if not (ROOT / "include" / name).exists()]
    assert len(BLOCKS) == 3 and not gone

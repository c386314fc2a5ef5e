# SPDX-License-Identifier: Apache-2.0
"""Every program and command of the site and of README.md runs, and prints what the page says (page_blocks.py has the rules)."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spore
from page_blocks import ROOT, RUN, Block, PageError, blocks, indented_code, pages
from run_page import same

SANITIZED = "SPORE_BUILD" in os.environ and "-" in Path(os.environ["SPORE_BUILD"]).name
HERE = Path(__file__).resolve().parent


def name(page):
    return str(page.relative_to(ROOT))


def run(page, folder, *options):
    package = str(Path(spore.__file__).absolute().parents[1])
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([package, str(HERE)]))
    return subprocess.run([sys.executable, str(HERE / "run_page.py"), str(page), *options], cwd=folder, env=env, capture_output=True, text=True,
                          timeout=600)


def programs(page, *kinds):
    return [b for b in blocks(page) if b.runs and b.kind in kinds]


@pytest.mark.parametrize("page", pages(), ids=name)
def test_what_a_page_shows_runs(page, tmp_path):
    if not any(b.runs or b.note in ("file", "from") for b in blocks(page)):
        return
    if SANITIZED and programs(page, "c", "sh"):
        pytest.skip("programs outside of Python are built without the sanitizer")
    if programs(page, "c") and shutil.which("cc") is None:
        pytest.skip("no C compiler")
    done = run(page, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
@pytest.mark.parametrize("page", [p for p in pages() if "<!-- long -->" in p.read_text(encoding="utf-8")], ids=name)
def test_what_takes_longer_runs_too(page, tmp_path):
    done = run(page, tmp_path, "--long")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", pages(), ids=name)
def test_nothing_is_shown_that_is_not_run(page):
    """Code is in fences, with a language; what is not run has a reason."""
    lost = indented_code(page.read_text(encoding="utf-8"))
    assert not lost, f"{name(page)}:{lost[0][0]}: code by indentation is not run: put it into a fence: {lost[0][1].strip()}"
    for block in blocks(page):
        assert block.note != "not run" or len(block.value.split()) >= 2, f"{name(page)}:{block.line}: the reason is missing"


# --- the rules themselves ---------------------------------------------------------------------------------------------

PAGE = '''# A page

<!-- setup: python
hidden = 2
-->

```python
print(hidden + 1.0000001)
```

```text
3.0
```

<!-- file: two.txt -->
```text
two lines
here
```

```sh
wc -l < two.txt
```

```text
2
```

<!-- raises: ValueError -->
```python
raise ValueError(f"no {hidden}")
```

```text
ValueError: no ...
```

<!-- not run: it needs a moon -->
```sh
exit 3
```
'''


def test_a_page_is_run_as_a_reader_would(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    found = blocks(page)
    assert [(b.kind, b.note) for b in found] == [("python", "setup"), ("python", ""), ("text", "file"), ("sh", ""), ("python", "raises"),
                                                 ("sh", "not run")]
    done = run(page, tmp_path)
    assert (done.returncode, done.stdout) == (0, "5 blocks\n"), done.stderr


@pytest.mark.parametrize("old, new, words", [("1.0000001", "1.1", "should print"), ("ValueError(f", "KeyError(f", "KeyError"), ("wc -l", "nonesuch", "exit code 127"),
                                             ('raise ValueError(f"no {hidden}")', "pass", "no ValueError was raised"), ("ValueError: no ...", "ValueError: none", "should print")])
def test_what_does_not_hold_fails(old, new, words, tmp_path):
    page = tmp_path / "page.md"
    assert old in PAGE
    page.write_text(PAGE.replace(old, new), encoding="utf-8")
    done = run(page, tmp_path)
    assert done.returncode == 1 and words in done.stderr and "page.md:" in done.stderr


@pytest.mark.parametrize("text", ["```\nx\n```\n", "```perl\nx\n```\n", "<!-- nonsense: x -->\n```sh\nx\n```\n"])
def test_blocks_have_a_language_and_known_notes(text, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(PageError):
        blocks(page)


@pytest.mark.parametrize("want, got, equal", [("[1. 2.]", "[1.0000001  2.]\n", True), ("loss ...", "loss 3.14", True), ("a ... c", "a b c", True),
                                              ("1 2", "1 3", False), ("a ... c", "a b d", False), ("epoch 1", "epoch", False)])
def test_outputs_are_compared(want, got, equal):
    assert same(want, got) == equal


def test_code_by_indentation_is_found():
    assert [line for line, _ in indented_code("a\n\n    code\n\n- item\n\n    more of it\n\n```sh\n\n    x\n```\n")] == [3]
    assert Block("python", "", 1).runs and not Block("text", "", 1).runs and RUN

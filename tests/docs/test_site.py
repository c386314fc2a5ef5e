# SPDX-License-Identifier: Apache-2.0
"""The site: links, tables of contents, questions, names in texts, variables of the environment; and, long, `make docs` itself."""
import importlib
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spore
from page_blocks import ROOT, pages

CHECK = ROOT / "scripts/check-docs"
MODULES = {"ms": "spore", "spore": "spore", "nn": "spore.nn", "ops": "spore.ops", "mint": "spore.mint", "ds": "spore.dataset", "dataset": "spore.dataset",
           "vision": "spore.dataset.vision", "transforms": "spore.dataset.transforms", "amp": "spore.amp", "mindrecord": "spore.mindrecord"}

ENDINGS = {"pc", "h", "c", "def", "py"}  # of files


def load(path):
    loader = importlib.machinery.SourceFileLoader(path.name.replace("-", "_"), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


check = load(CHECK)


def found(module, parts):
    """Whether a module has what the parts name: attributes, or modules below it."""
    value = importlib.import_module(module)
    for part in parts:
        if not hasattr(value, part):
            try:
                importlib.import_module(f"{value.__name__}.{part}")
            except (ImportError, AttributeError):
                return False
        value = getattr(value, part)
    return True


def test_links_contents_and_questions_hold():
    done = subprocess.run([sys.executable, str(CHECK)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_the_readme_leads_somewhere():
    text = re.sub(r"`[^`]*`", "", (ROOT / "README.md").read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert len(links) > 5
    gone = [link for link in links if not (ROOT / link).exists()]
    assert not gone, f"links to nothing: {gone}"


@pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_names_in_texts_exist(page):
    """`nn.Dense`, `ms.grad(...)` and the like in backquotes are names of the package."""
    gone = []
    for code in re.findall(r"`([^`\n]+)`", check.without_code(page.read_text(encoding="utf-8"))):
        for first, rest in re.findall(r"(?<![\w./-])(ms|spore|nn|ops|mint|ds|dataset|vision|transforms|amp|mindrecord)\.([A-Za-z_][\w.]*)", code):
            if "..." in rest or rest in ENDINGS:
                continue
            if not found(MODULES[first], rest.rstrip(".").split(".")):
                gone.append(f"{first}.{rest}")
    assert not gone, f"{page.name} names {', '.join(sorted(set(gone)))}, which spore does not have"


def test_every_variable_is_on_its_page():
    """What the sources read from the environment is in guides/environment.md, and the page has nothing else of ours."""
    said = (ROOT / "docs/guides/environment.md").read_text(encoding="utf-8")
    used = set()
    for place in ("src", "tools", "python/spore", "python/core"):
        for path in (ROOT / place).rglob("*"):
            if path.suffix in (".c", ".py", ".h"):
                used |= set(re.findall(r"(?:getenv|environ\.get|environment_count|environ|getenv)[(\[]['\"](\w+)['\"]", path.read_text(encoding="utf-8")))
    assert len(used) > 15
    missing = sorted(name for name in used if f"`{name}`" not in said and name not in ("HOME", "PATH", "TMPDIR", "COLUMNS", "TERM"))
    assert not missing, f"docs/guides/environment.md lacks {', '.join(missing)}"


# --- the checks themselves ----------------------------------------------------------------------------------------------

def test_wrong_links_are_found():
    found = {"index.md": "# A\n[b](b.md#here) [c](c.md) [d](b.md#there)\n```{toctree}\nb\n```\n", "b.md": "# B\n## There\n", "lost.md": "# Lost\n"}
    assert check.check_links(found) == ["index.md: b.md has no heading #here", "index.md: the link c.md leads to nothing"]
    assert check.check_reached(found) == ["lost.md is in no table of contents"]


def test_questions_need_answers():
    long = "word " * 20
    assert check.check_questions(f"# Q\n## One thing\n{long}\n## Two\nno\n", "# c\none-thing x\ntwo y\nthree z\n") == [
        "faq.md: the section #two has no answer to: y", "faq.md: no section #three, which should answer: z"]


def test_names_without_a_place_are_found():
    made = {"p.html": '<a id="spore.ops.abs"></a><a id="c.sp_load"></a><a id="operator-log1p"></a>'}
    names = "spore.ops.abs\tp\nsp_load\tp\noperator log1p\tp\nspore.ops.gone\tp\n"
    assert check.check_names(made, names) == ["spore.ops.gone has no place on p.html"]


def test_links_of_made_pages(tmp_path):
    made = {"a/x.html": '<h1 id="top"></h1><a href="../y.html#k">', "y.html": '<a href="a/x.html#top"><a href="https://elsewhere"><a href="none.html">'}
    assert sorted(check.check_site_links(made, tmp_path)) == ["a/x.html: y.html has no #k", "y.html: https://elsewhere leads out of the site",
                                                              "y.html: none.html leads to nothing"]


@pytest.mark.long
def test_the_site_is_made():
    """From the sources to pages that were checked, spelling included."""
    build = Path(os.environ.get("SPORE_BUILD", ROOT / "build"))
    if "-" in build.name:
        pytest.skip("the site is made of the ordinary build")
    env = dict(os.environ, PYTHONPATH=str(Path(spore.__file__).absolute().parents[1]))
    subprocess.run([ROOT / "scripts/deps", "docs"], check=True, timeout=600)
    done = subprocess.run([sys.executable, str(ROOT / "scripts/make-docs"), "--build", str(build)], env=env, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    pages_made = list((build / "docs/html").rglob("*.html"))
    assert len(pages_made) > 100 and (build / "docs/man/spore-run.1").stat().st_size > 200
    assert sum(f.stat().st_size for f in (build / "docs/html").rglob("*") if f.is_file()) < 12e6
    look = load(ROOT / "scripts/look-at-docs")
    if any(shutil.which(browser) for browser in look.BROWSERS): # without a server, from files
        assert look.found_by_search(build / "docs/html", "checkpoint") > 10 and look.found_by_search(build / "docs/html", "nonesuchword") == 0

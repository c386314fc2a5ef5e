# SPDX-License-Identifier: Apache-2.0
"""Run the blocks of one page in this process, in the current folder: `python run_page.py PAGE [--long]`.

Prints what failed, with page and line, and ends with 1; see page_blocks.py for the rules. tests/docs/test_snippets.py calls it.
"""
import contextlib
import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np

import spore
from page_blocks import ROOT, blocks, with_free_port

NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
BUILD = Path(os.environ.get("SPORE_BUILD", ROOT / "build")).resolve()
WRAPPED = ("#include <stdio.h>\n#include <spore/spore.h>\nvoid piece(sp_builder *b, sp_tensor *x, sp_tensor *w, sp_tensor *bias);\n"
           "void piece(sp_builder *b, sp_tensor *x, sp_tensor *w, sp_tensor *bias)\n{{\n(void)b, (void)x, (void)w, (void)bias;\n{}}}\n")
WARNINGS = ["-std=c11", "-Wall", "-Werror", "-Wno-unused-but-set-variable", "-Wno-unused-variable"]


class Failed(Exception):
    """A block that did not do what the page says."""


def same(want, got):
    """Whether an output is the wanted one: `...` stands for anything, numbers may differ in their last digits, blanks do not count."""
    def bare(text):
        return " ".join(text.split())
    pattern = ".*".join(re.escape(bare(part)) for part in want.split("..."))
    if re.fullmatch(pattern.replace(r"\ .*", ".*").replace(r".*\ ", ".*"), bare(got), re.S):
        return True
    texts = [[re.sub(r"\s+", "", part) for part in NUMBER.split(text)] for text in (want, got)]
    numbers = [[float(n) for n in NUMBER.findall(text)] for text in (want, got)]
    return texts[0] == texts[1] and all(abs(a - b) <= 1e-5 + 1e-3 * abs(a) for a, b in zip(*numbers))


def run_python(block, names, path):
    """The output. The code lies in a file, so that graph mode finds its source."""
    path.write_text(block.text, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(block.text, str(path), "exec"), names)
        except BaseException as error:
            if block.note != "raises" or type(error).__name__ != block.value:
                raise Failed(traceback.format_exc()) from None
            return printed.getvalue() + f"{type(error).__name__}: {error}"
    if block.note == "raises":
        raise Failed(f"no {block.value} was raised")
    return printed.getvalue()


def environment(folder):
    """The command, Python and pkg-config as a reader has them after an installation."""
    tools = folder / ".tools"
    tools.mkdir(exist_ok=True)
    (tools / "spore.pc").write_text(f"Name: spore\nDescription: the build\nVersion: {spore.__version__}\nCflags: -I{ROOT}/include -I{BUILD}/include\n"
                                    f"Libs: -L{BUILD} -Wl,-rpath,{BUILD} -lspore\n", encoding="utf-8")
    for name, target in {"spore": BUILD / "spore", "python": sys.executable, "python3": sys.executable}.items():
        with contextlib.suppress(FileExistsError):
            (tools / name).write_text(f'#!/bin/sh\nexec "{target}" "$@"\n', encoding="utf-8")
            (tools / name).chmod(0o755)
    return dict(os.environ, PATH=f"{tools}{os.pathsep}{os.environ['PATH']}", PYTHONPATH=str(Path(spore.__file__).parents[1]),
                PKG_CONFIG_PATH=str(tools), SPORE_PYTHON=sys.executable)


def command(words, env):
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        raise Failed(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def run_sh(text, env, started):
    """Output of a script of bash, which may leave programs running: `started` gets its group of processes."""
    shell = subprocess.Popen(["bash", "-e", "-o", "pipefail", "-c", text], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, start_new_session=True)
    if re.search(r"[^&]&\s*$", text, re.M):
        started.append(shell.pid)
    out, err = shell.communicate(timeout=240)
    if shell.returncode != 0:
        raise Failed(f"exit code {shell.returncode}\n{out}{err}")
    return out


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def run_c(block, folder, env):
    source = folder / f"block{block.line}.c"
    program = re.search(r"\bint main\(", block.text)
    source.write_text(block.text if program else WRAPPED.format(block.text), encoding="utf-8")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "spore"], env=env, capture_output=True, text=True, check=True).stdout.split()
    target = ["-O1", str(source), *flags, "-lm", "-o", str(source.with_suffix(""))] if program else ["-fsyntax-only", str(source), *(flag for flag in flags if flag.startswith("-I"))]
    command(["cc", *WARNINGS, *target], env)
    return command([str(source.with_suffix(""))], env) if program else ""


def run_block(block, names, folder, env, started):
    if block.note == "file":
        (folder / block.value).write_text(block.text, encoding="utf-8")
        return ""
    if block.note == "from":
        if bare(block.text) not in bare((ROOT / block.value).read_text(encoding="utf-8")):
            raise Failed(f"{block.value} does not have this (any more)")
        return ""
    if block.kind == "python":
        return run_python(block, names, folder / f"block{block.line}.py")
    if block.kind == "sh":
        if re.search(r"\bcurl\b", block.text) and shutil.which("curl") is None:
            block.output = None
            return ""
        return run_sh(block.text, env, started)
    return run_c(block, folder, env)


def bare(text):
    """Without the blanks and line breaks that formatting decides."""
    return re.sub(r"[\s\\]+", "", text).replace('""', "")


def main(page, long=False):
    folder = Path.cwd()
    with contextlib.suppress(FileExistsError):
        os.symlink(ROOT / "data", folder / "data")
    env, names = environment(folder), {"__name__": "__main__"}
    sys.path.insert(0, str(folder))
    spore.set_seed(1)
    np.random.seed(1)
    started = []
    try:
        return run_blocks(page, long, names, folder, env, started)
    finally:
        for group in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)


def run_blocks(page, long, names, folder, env, started):
    n = 0
    for block in with_free_port(blocks(page), Path(page).read_text(encoding="utf-8"), free_port):
        if block.note in ("file", "from") or (block.runs and (long or block.note != "long")):
            try:
                got = run_block(block, names, folder, env, started)
                if block.output is not None and not same(block.output, got):
                    raise Failed(f"printed\n{got}\nand should print\n{block.output}")
            except (Failed, subprocess.TimeoutExpired) as failure:
                print(f"{page}:{block.line}: {failure}", file=sys.stderr)
                return 1
            n += 1
    print(f"{n} blocks")
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1], "--long" in sys.argv)
    sys.stdout.flush()
    sys.exit(code)

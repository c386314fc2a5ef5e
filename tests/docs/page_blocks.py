# SPDX-License-Identifier: Apache-2.0
"""The fenced blocks of a page in Markdown, and what is to be done with each.

The language of a fence says how a block is run; a comment of HTML in the line before it says what else there is to know:

    ```python                      run; all Python blocks of a page share one process and one folder, as if a reader typed them
    ```c                           with a main: compiled, linked, run; without one: a piece, which must compile inside of a function
    ```sh                          run by bash in the folder of the page; the first command that fails fails the page
    ```text                        right behind one of these: its output (`...` stands for anything, numbers are compared with a tolerance)
    <!-- file: NAME -->            the block is a file of that name in the folder of the page; it is not run by itself
    <!-- from: PATH -->            the block is a part of a file of this repository; it is not run by itself
    <!-- raises: NAME -->          the block ends with that exception; its output ends with the message
    <!-- long -->                  run by `make check-long` only
    <!-- not run: REASON -->       cannot be run by a test, and why
    <!-- setup: LANGUAGE ... -->   a block that readers do not see
    <!-- port: NUMBER -->          anywhere on a page: the number stands for a port, and is replaced by one that is free
"""
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN = ("python", "c", "sh")
SHOWN = ("text", "json", "cmake", "ini", "diff", "dockerfile")
PIECE = re.compile(r"<!-- setup: (?P<setup>\w+)\n(?P<hidden>.*?)-->"
                   r"|(?:^ *<!-- (?P<note>[^\n]*?) -->\n)?^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)(?P=ticks) *$",
                   re.M | re.S)
NOTE = re.compile(r"(file|from|raises|not run): (.+)|long")


class PageError(ValueError):
    """A page that does not keep to the rules above."""


@dataclass
class Block:
    """One block: `kind` is its language, `note` and `value` what the comment before it says, `output` what it must print."""
    kind: str
    text: str
    line: int
    note: str = ""
    value: str = ""
    output: str | None = None

    @property
    def runs(self):
        return self.kind in RUN and self.note in ("", "raises", "long", "setup")


def read_note(text, page, line):
    found = NOTE.fullmatch(text or "")
    if text and not found:
        raise PageError(f"{page}:{line}: the comment before a block must be one of file, from, raises, long, not run, but it is '{text}'")
    return (found[1] or "long", (found[2] or "").strip()) if found else ("", "")


def blocks(path):
    """All blocks of a page in their order; what a block must print is part of it."""
    page = Path(path)
    text, found, end = page.read_text(encoding="utf-8"), [], -1
    for match in PIECE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["setup"]:
            if match["setup"] not in RUN:
                raise PageError(f"{page}:{line}: a setup must be python, c or sh, but it is '{match['setup']}'")
            found.append(Block(match["setup"], match["hidden"], line + 1, "setup"))
            continue
        kind, indent = match["info"].strip(), len(match["indent"])
        body = "".join(row[indent:] if row[:indent].isspace() or not indent else row for row in match["body"].splitlines(True))
        note, value = read_note(match["note"], page, line)
        line = text.count("\n", 0, match.start("ticks")) + 2
        if kind == "text" and not note and found and found[-1].runs and not text[end:match.start()].strip():
            found[-1].output = body
        elif kind in RUN + SHOWN:
            found.append(Block(kind, body, line, note, value))
        elif not kind.startswith("{"):
            raise PageError(f"{page}:{line - 1}: a block must have a language ({', '.join(RUN + SHOWN)}), but it has '{kind}'")
        end = match.end()
    return found


def with_free_port(found, text, free):
    """The blocks of a page with its port replaced; `free` gives one."""
    port = re.search(r"^<!-- port: (\d+) -->$", text, re.M)
    if port:
        number = str(free())
        for block in found:
            block.text = block.text.replace(port[1], number)
            block.output = block.output and block.output.replace(port[1], number)
    return found


def pages():
    """The pages of the site, and README.md."""
    outside = {ROOT / "docs/status.md"}
    return [ROOT / "README.md", *(p for p in sorted((ROOT / "docs").rglob("*.md")) if p not in outside)]


def indented_code(text):
    """Lines of code blocks by indentation, which nobody would run: (line number, line)."""
    bare = PIECE.sub(lambda m: "\n" * m[0].count("\n"), text).splitlines()
    return [(i + 1, line) for i, line in enumerate(bare)
            if re.match(r" {4,}\S", line) and (i == 0 or not bare[i - 1].strip()) and not _in_list(bare, i)]


def _in_list(lines, i):
    """Whether an indented line goes on with an item of a list that stands before it."""
    for line in reversed(lines[:i]):
        if re.match(r"\s*([-*]|\d+\.) ", line):
            return True
        if line.strip() and not line.startswith(" "):
            return False
    return False

# SPDX-License-Identifier: Apache-2.0
"""Ask MindSpore 2.10: `python record.py [--new] [NAME ...]`, with an interpreter that has it, writes the .json of every file of
questions, or of those that are named; --new asks only what has no answer yet. A question that ends the process is asked again by
nobody: its answer is "crash"."""
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from asking import FILES, answer, prelude, read_questions, scope


def work(path, start, out, source):
    """Answers of the questions from number `start` on, a line each."""
    import mindspore  # noqa: F401
    with tempfile.TemporaryDirectory() as folder:
        names = scope("mindspore", folder)
        questions, before = json.loads(Path(path).read_text(encoding="utf-8")), prelude(Path(source))
        os.chdir(folder)
        with open(out, "a", encoding="utf-8") as file:
            for question in questions[start:]:
                signal.alarm(60)  # a question that takes longer ends the process
                found = answer(question, names, before)
                file.write(json.dumps(found) + "\n")
                file.flush()
    os._exit(0)


def ask(questions, source):
    """The answers, from processes that may end early."""
    with tempfile.TemporaryDirectory() as folder:
        asked, out = Path(folder) / "asked.json", Path(folder) / "answers"
        asked.write_text(json.dumps(questions), encoding="utf-8")
        out.write_text("", encoding="utf-8")
        while (done := len(out.read_text(encoding="utf-8").splitlines())) < len(questions):
            subprocess.run([sys.executable, __file__, "--work", str(asked), str(done), str(out), str(source)], stderr=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL)
            if len(out.read_text(encoding="utf-8").splitlines()) == done:
                with open(out, "a", encoding="utf-8") as file:
                    file.write(json.dumps({"raises": "crash", "words": questions[done]}) + "\n")
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def main(args):
    new, names = "--new" in args, [a for a in args if a != "--new"]
    for path in (p for p in FILES if p.stem in (names or [p.stem])):
        questions, target = read_questions(path), path.with_suffix(".json")
        known = json.loads(target.read_text(encoding="utf-8")) if new and target.exists() else {}
        missing = [q for q in dict.fromkeys(questions) if q not in known]
        known.update(zip(missing, ask(missing, path.resolve())))
        lines = [f"{json.dumps(q)}: {json.dumps(known[q])}" for q in dict.fromkeys(questions)]
        target.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
        print(path.stem, len(lines), "answers,", len(missing), "new")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
    main(sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""Ask MindSpore 2.10 the questions and keep its answers in answers/: `python record.py [--new] [SURVEY ...]`. A question that ends the
process is an answer too: {"error": "crash"}."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from state_asking import HERE, MODES, answers, ask  # noqa: E402
from surveys import SURVEYS  # noqa: E402


def work(survey, names, path):
    """Answer the questions one by one, a line each; the line is begun before."""
    questions = SURVEYS[survey]()
    with open(path, "a", encoding="utf-8") as out:
        for name in json.loads(names):
            for mode in MODES:
                out.write(json.dumps([name, mode, {"error": "crash", "said": ""}]) + "\n")
                out.flush()
                out.write(json.dumps([name, mode, ask("mindspore", questions[name], mode)]) + "\n")
                out.flush()
    os._exit(0)


def record(survey, only_new):
    path = os.path.join(HERE, "answers", survey + ".json")
    known = answers(survey) if only_new and os.path.exists(path) else {}
    names = list(SURVEYS[survey]())
    kept = {name: known[name] for name in names if name in known}
    with tempfile.TemporaryDirectory() as folder:        # MindSpore leaves files where it fails
        lines = os.path.join(folder, "lines")
        while missing := [name for name in names if len(kept.get(name, ())) < len(MODES)]:
            subprocess.run([sys.executable, os.path.abspath(__file__), "--work", survey, json.dumps(missing), lines], cwd=folder, check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(lines, encoding="utf-8") as file:
                for name, mode, answer in map(json.loads, file):
                    kept.setdefault(name, {})[mode] = answer
            for name in missing:                         # the one that it died of, in its other mode
                if 0 < len(kept.get(name, ())) < len(MODES):
                    kept[name] = {mode: kept[name].get(mode, {"error": "crash", "said": ""}) for mode in MODES}
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(a, separators=(',', ':'))}" for n, a in sorted(kept.items())) + "\n}\n")
    print(survey, len(kept), flush=True)


def main():
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
    for survey in [a for a in sys.argv[1:] if a != "--new"] or SURVEYS:
        record(survey, "--new" in sys.argv)


main()

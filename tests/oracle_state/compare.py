# SPDX-License-Identifier: Apache-2.0
"""Count what agrees with MindSpore's recorded answers: `python compare.py [-v] [SURVEY ...]`. `python compare.py --pin` keeps what is answered here
where that differs for a known reason (pinned.json), so that a change of it shows."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from state_asking import HERE, MODES, answers, ask, close, different, reason_of  # noqa: E402
from surveys import SURVEYS  # noqa: E402


def compare(survey, questions=None):
    """[(question, mode, MindSpore's answer, ours)] of what differs, and how many were asked."""
    recorded, found, asked = answers(survey), [], 0
    for name, text in SURVEYS[survey]().items():
        if questions is not None and name not in questions or name not in recorded:
            continue
        for mode in MODES:
            ours = ask("spore", text, mode)
            asked += 1
            if not close(recorded[name][mode], ours):
                found.append((name, mode, recorded[name][mode], ours))
    return found, asked


def pin():
    """Write pinned.json."""
    known, kept = different(), {}
    for survey in SURVEYS:
        for name, mode, _, ours in compare(survey)[0]:
            if (reason := reason_of(known, survey, name, mode)) is not None and not reason.startswith("as eager"):
                kept.setdefault(survey, {}).setdefault(name, {})[mode] = ours
    with open(os.path.join(HERE, "pinned.json"), "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(f"{json.dumps(s)}: {{\n" + ",\n".join(
            f"{json.dumps(n)}: {json.dumps(a, separators=(',', ':'))}" for n, a in sorted(named.items())) + "\n}" for s, named in sorted(kept.items())) + "\n}\n")


def main():
    if sys.argv[1:] == ["--pin"]:
        return pin()
    known = different()
    for survey in [a for a in sys.argv[1:] if a != "-v"] or SURVEYS:
        found, asked = compare(survey)
        unknown = [f for f in found if reason_of(known, survey, f[0], f[1]) is None]
        for name, mode, theirs, ours in found if "-v" in sys.argv else unknown:
            print(f"{survey} {name} {mode}: MindSpore {str(theirs)[:150]} | here {str(ours)[:150]}")
        print(f"{survey}: {asked} asked, {asked - len(found)} agree, {len(found) - len(unknown)} differ for known reasons, {len(unknown)} otherwise")


if __name__ == "__main__":
    main()

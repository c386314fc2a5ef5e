# SPDX-License-Identifier: Apache-2.0
"""How many questions were asked, how many answers agree, and the reasons of the others: `python count.py [-v] [NAME ...]`."""
import collections
import json
import os
import sys
import tempfile

from asking import FILES, answer, prelude, read_different, read_questions, reason_for, same, scope


def main(args):
    verbose, chosen = "-v" in args, [a for a in args if a != "-v"]
    rows = read_different()
    with tempfile.TemporaryDirectory() as folder:
        names = scope("spore", folder)
        os.chdir(folder)
        for path in (p for p in FILES if p.stem in (chosen or [p.stem])):
            recorded, reasons = json.loads(path.with_suffix(".json").read_text(encoding="utf-8")), collections.Counter()
            questions = list(dict.fromkeys(read_questions(path)))
            for question in questions:
                found, wanted = json.loads(json.dumps(answer(question, names, prelude(path)))), recorded[question]
                if not same(found, wanted):
                    reason = reason_for(path.stem, question, rows, found, wanted)
                    reasons[reason or "NOT EXPLAINED"] += 1
                    if verbose and not reason:
                        print(f"{question}\n    gives  {str(found)[:300]}\n    wanted {str(wanted)[:300]}")
            print(f"{path.stem}: {len(questions)} asked, {len(questions) - sum(reasons.values())} agree")
            for reason, n in reasons.most_common():
                print(f"    {n:4} {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""Record what MindSpore 2.10 answers to cases.py: run with an interpreter that has it. Writes answers.json."""
import json
import sys
from pathlib import Path

if __package__:
    from . import cases
else:  # run as a program
    sys.path.insert(0, str(Path(__file__).parent))
    import cases


def main():
    import mindspore as ms
    from mindspore.dataset import text
    names = cases.scope(text, ms)
    answers = {key: cases.answer(expression, inputs, names) for key, expression, inputs in cases.questions()}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=True)}" for key, value in answers.items())
    (cases.HERE / "answers.json").write_text("{" + lines + "}\n")
    print(len(answers), "answers")


if __name__ == "__main__":
    main()

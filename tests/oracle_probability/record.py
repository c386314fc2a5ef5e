# SPDX-License-Identifier: Apache-2.0
"""Ask MindSpore 2.10 every question of cases.py and write answers.json beside: `python record.py`, in an environment that has it."""
import json
import pathlib

import mindspore
from cases import answer, cases, names

if __name__ == "__main__":
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE, device_target="CPU")
    namespace = names(mindspore)
    answers = {expression: answer(mindspore, expression, namespace) for expression in cases()}
    for made in answers.values():
        made.pop("says", None)  # the kind of an error is compared, not its words
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items())
    pathlib.Path(__file__).with_name("answers.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0
"""Record what MindSpore 2.10 answers to cases.py: run with an interpreter that has it. Writes answers.npz: of long results
every 7th number, with the shapes."""
import sys
from pathlib import Path

import numpy as np

if __package__:
    from . import cases
else:  # run as a program
    sys.path.insert(0, str(Path(__file__).parent))
    import cases


def kept(array):
    """What is stored of a result."""
    return array.ravel()[::7] if array.size > 120 else array.ravel()


def main():
    from mindspore.dataset import audio
    names = cases.scope(audio)
    keys, facts, arrays = [], [], []
    for key, expression, inputs in cases.questions():
        made = cases.answer(expression, names, inputs)
        keys.append(key)
        if isinstance(made, str):
            facts.append(made)
            continue
        facts.append(";".join(f"{len(arrays) + i}:{a.dtype}:{','.join(map(str, a.shape))}" for i, a in enumerate(made)))
        arrays.extend(kept(a) for a in made)
    for name in ("spectrum", "spectrum_tone", "spectrum_clicks"):
        for expression in cases.SPREADS:
            keys.append(f"{name}|{expression}")
            facts.append(f"spread:{len(arrays)}")
            arrays.append(cases.measure(expression, names, cases.signals()[name])[1::4])
    np.savez_compressed(cases.HERE / "answers.npz", *arrays, keys=np.array(keys), facts=np.array(facts))
    print(len(keys), "answers")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Record what MindSpore 2.10 answers to cases.py: run with an interpreter that has it. Writes answers.npz and answers.json.

Of every result the shape, dtype, a hash of all bytes and, to bound the file, every third row are kept; of small ones all.
"""
import hashlib
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

if __package__:
    from . import cases
else:  # run as a program
    sys.path.insert(0, str(Path(__file__).parent))
    import cases

SMALL = 600  # elements kept whole


def digest(array):
    return hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=12).hexdigest()


def kept(array):
    """The rows that are stored; of images with channels first, rows of each plane."""
    if array.size <= SMALL or array.dtype.kind in "US":
        return array
    if array.ndim == 1:
        return array[::10]
    return array[:, ::5, ::2] if array.ndim == 3 and array.shape[0] <= 4 else array[::5, ::2]


def main():
    warnings.simplefilter("ignore")
    os.chdir(tempfile.mkdtemp())  # MindSpore drops files beside it
    from mindspore.dataset import transforms, vision
    names = cases.scope(vision, transforms)
    facts, arrays = {}, {}
    for key, expression, inputs in cases.questions(lambda data: vision.Decode()(data)):
        made = cases.call(expression, names, *(i.copy() if isinstance(i, np.ndarray) else i for i in inputs))
        if isinstance(made, str):
            facts[key] = made.splitlines()[0].split(":")[0]
            continue
        facts[key] = []
        for i, array in enumerate(np.asarray(a) for a in made):
            facts[key].append([list(array.shape), str(array.dtype), digest(array)])
            arrays[f"{key}|{i}"] = kept(array)
    for image in cases.PARTS:
        rgb = cases.part(vision.Decode()(np.fromfile(cases.IMAGES / image, np.uint8)), image)
        for expression, n, kind in cases.OUTCOMES:
            key = f"outcomes|{image}|{expression}"
            arrays[key], facts[key] = cases.outcomes(cases.often(expression, names, rgb, image, kind, n))
            if np.array_equal(arrays[key], arrays[key].astype(np.int16)):  # takes less room
                arrays[key] = arrays[key].astype(np.int16)
        for expression, n, kind in cases.SPREADS:
            key = f"spread|{image}|{expression}"
            facts[key] = n
            arrays[key] = np.sort([cases.measure(made) for made in cases.often(expression, names, rgb, image, kind, n)])[2::5]
    dedupe, index = [], {}
    where = {}
    for key, array in arrays.items():
        mark = (array.shape, str(array.dtype), digest(array)) if array.dtype.kind not in "US" else (key,)
        if mark not in index:
            index[mark] = len(dedupe)
            dedupe.append(array)
        where[key] = index[mark]
    np.savez_compressed(cases.HERE / "answers.npz", *dedupe)
    (cases.HERE / "answers.json").write_text(json.dumps({"facts": facts, "where": where}, indent=0) + "\n")
    print(len(facts), "answers,", len(dedupe), "arrays")


if __name__ == "__main__":
    main()

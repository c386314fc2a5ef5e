# SPDX-License-Identifier: Apache-2.0
"""Random transforms that Python does, after `config.set_seed`: `python draws.py`, with an interpreter that has MindSpore 2.10 and Pillow, writes draws.json."""
import importlib
import json
import random
from pathlib import Path

import numpy as np

ANSWERS = Path(__file__).with_name("draws.json")
IMAGE = (np.arange(12 * 10 * 3) * 7 % 256).astype(np.uint8).reshape(12, 10, 3)
# name: a list of operations; those that begin with ToPIL need Pillow.
CASES = {
    "flip": "V.ToPIL(), V.RandomHorizontalFlip(0.5), V.ToTensor()",
    "flip upside down": "V.ToPIL(), V.RandomVerticalFlip(0.5), V.ToTensor()",
    "crop": "V.ToPIL(), V.RandomCrop(6), V.ToTensor()",
    "crop padded": "V.ToPIL(), V.RandomCrop((5, 7), padding=2), V.ToTensor()",
    "crop resized": "V.ToPIL(), V.RandomResizedCrop(6), V.ToTensor()",
    "rotation": "V.ToPIL(), V.RandomRotation(30), V.ToTensor()",
    "affine": "V.ToPIL(), V.RandomAffine(15, (0.1, 0.1), (0.9, 1.1)), V.ToTensor()",
    "affine sheared": "V.ToPIL(), V.RandomAffine(15, (0.1, 0.1), (0.9, 1.1), (2, 10, 1, 5)), V.ToTensor()",
    "colours": "V.ToPIL(), V.RandomColorAdjust(0.4, 0.4, 0.4, 0.1), V.ToTensor()",
    "saturation": "V.ToPIL(), V.RandomColor((0.1, 1.9)), V.ToTensor()",
    "sharpness": "V.ToPIL(), V.RandomSharpness((0.1, 1.9)), V.ToTensor()",
    "grey": "V.ToPIL(), V.RandomGrayscale(0.5), V.ToTensor()",
    "perspective": "V.ToPIL(), V.RandomPerspective(0.4, 1.0), V.ToTensor()",
    "lighting": "V.ToPIL(), V.RandomLighting(0.2), V.ToTensor()",
    "apply": "V.ToPIL(), T.RandomApply([V.RandomVerticalFlip(1.0)], 0.5), V.ToTensor()",
    "choice": "V.ToPIL(), T.RandomChoice([V.RandomVerticalFlip(1.0), V.RandomHorizontalFlip(1.0)]), V.ToTensor()",
    "erasing": "V.ToTensor(), V.RandomErasing(value='random')",
    "erasing with ones": "V.ToTensor(), V.RandomErasing(1.0, value=1)",
    "functions": "lambda x: x + random.randint(0, 9), lambda x: x * np.random.rand()",
}


def answer(framework, case):
    """The shape, the sum and a weighted sum of eight rows."""
    ds, vision, transforms = (importlib.import_module(framework + ".dataset" + part) for part in ("", ".vision", ".transforms"))
    before = ds.config.get_seed(), ds.config.get_num_parallel_workers()
    ds.config.set_seed(7)
    ds.config.set_num_parallel_workers(1)
    try:
        operations = eval("[" + CASES[case] + "]", {"V": vision, "T": transforms, "random": random, "np": np})
        data = ds.NumpySlicesDataset(np.stack([IMAGE] * 8), ["image"], shuffle=False).map(operations, "image", num_parallel_workers=1)
        rows = [np.asarray(x, np.float64) for x, in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    finally:
        ds.config.set_seed(before[0])
        ds.config.set_num_parallel_workers(before[1])
    return [[list(x.shape), round(float(x.sum()), 3), round(float((x.reshape(-1) * np.arange(x.size)).sum()), 1)] for x in rows]


if __name__ == "__main__":
    ANSWERS.write_text("{" + ",\n".join(f"{json.dumps(case)}: {json.dumps(answer('mindspore', case))}" for case in CASES) + "}\n", encoding="utf-8")

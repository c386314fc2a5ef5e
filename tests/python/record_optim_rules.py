# SPDX-License-Identifier: Apache-2.0
"""Seven steps of every optimizer of experimental.optim: `python record_optim_rules.py` with MindSpore writes
data/optim_rules.json, which test_optim_experimental.py holds spore against."""
import importlib
import json
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data" / "optim_rules.json"
CALLS = ["Adadelta(w, lr=0.5, weight_decay=0.1)", "Adadelta(w)", "Adagrad(w, lr=0.1, lr_decay=0.01, initial_accumulator_value=0.2)",
         "Adagrad(w, weight_decay=0.1, maximize=True)", "Adamax(w, lr=0.1)", "Adamax(w, lr=0.1, weight_decay=0.1)", "NAdam(w, lr=0.1)",
         "NAdam(w, lr=0.1, weight_decay=0.1, momentum_decay=0.1)", "RAdam(w, lr=0.1)", "RAdam(w, lr=0.1, weight_decay=0.1)",
         "RMSprop(w, lr=0.1)", "RMSprop(w, lr=0.1, momentum=0.9, centered=True)", "Rprop(w, lr=0.1)",
         "Rprop(w, lr=0.1, etas=(0.3, 1.5), step_sizes=(0.05, 0.2))", "ASGD(w, lr=0.1)", "ASGD(w, lr=0.1, weight_decay=0.1, t0=2.0)"]


def run(library, call):
    """The parameters after seven steps."""
    ms = importlib.import_module(library)
    optim = importlib.import_module(f"{library}.experimental.optim")
    w = [ms.Parameter(ms.Tensor(np.array([1.0, -2.0, 0.5], np.float32)), name="a"),
         ms.Parameter(ms.Tensor(np.array([[0.3, -0.7]], np.float32)), name="b")]
    step = eval(call, vars(optim) | {"w": w})
    for k in range(7):
        step((ms.Tensor(np.array([0.5 - k * 0.2, 1.0, -0.3 * k], np.float32)), ms.Tensor(np.array([[k * 0.1 - 0.25, 2.0]], np.float32))))
    return [float(v) for v in np.concatenate([p.asnumpy().ravel() for p in w])]


if __name__ == "__main__":
    DATA.write_text(json.dumps({call: run("mindspore", call) for call in CALLS}, indent=1) + "\n", encoding="utf-8")

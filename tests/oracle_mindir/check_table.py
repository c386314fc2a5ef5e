# SPDX-License-Identifier: Apache-2.0
"""Load with the real MindSpore what mindir_table.py wrote to a folder, and compare: a line an operator and dtype. table_2.10.log is what it
printed. MindSpore may end the process with a crash, so files are run by children, a few hundred at a time."""
import multiprocessing
import pathlib
import re
import sys

import numpy as np


def run(path):
    import mindspore as ms
    from mindspore import nn
    arrays = np.load(path.with_suffix(".npz"))
    names = sorted((name for name in arrays.files if re.fullmatch(r"in\d+", name)), key=lambda name: int(name[2:]))
    inputs = [ms.Tensor(arrays[name], ms.bfloat16) if wide else ms.Tensor(arrays[name]) for name, wide in zip(names, arrays["bfloat16"])]
    try:
        found = nn.GraphCell(ms.load(str(path)))(*inputs)
    except Exception as error:
        text = " ".join(str(error).split())
        kernel = re.search(r"(?:Select CPU operator\[\w+\] fail! Unsupported data type(?=!)|Unsupported op|Kernel launch failed|do(?:es)? not support|not support(?:ed)?|No kernel)[^.]*", text)
        return f"FAILED {type(error).__name__}: {(kernel[0] if kernel else text)[:150]}"
    found = found if isinstance(found, (tuple, list)) else (found,)
    wanted = [arrays[f"out{k}"] for k in range(len(found))]
    worst = 0.0
    for one, other in zip(found, wanted):
        one = (one.astype(ms.float32) if one.dtype == ms.bfloat16 else one).asnumpy()
        if one.shape != other.shape:
            return f"DIFFERS shape {one.shape} instead of {other.shape}"
        if one.dtype != other.dtype:
            return f"DIFFERS dtype {one.dtype} instead of {other.dtype}"
        if other.dtype.kind == "c":
            one, other = (np.stack((x.real, x.imag)) for x in (one, other))
        loose = 2e-2 if other.dtype in (np.float16,) or arrays["bfloat16"].any() else 1e-4
        if not np.allclose(one, other, loose, loose, equal_nan=True):
            return f"DIFFERS {one.ravel()[:4]} instead of {other.ravel()[:4]}"
        if one.size:
            difference = np.abs(np.nan_to_num(one.astype(np.float64)) - np.nan_to_num(other.astype(np.float64)))
            worst = max(worst, float(difference.max()))
    return f"equal {worst:.1e}"


def serve(pipe):
    while True:
        path = pipe.recv()
        if path is None:
            return
        pipe.send(run(path))


def child():
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    process.start()
    there.close()
    return process, here


def main(folder):
    process, pipe, results = *child(), {}
    for path in sorted(pathlib.Path(folder).glob("*.mindir")):
        try:
            pipe.send(path)
            answer = pipe.recv() if pipe.poll(120) else "FAILED timeout"
        except (EOFError, BrokenPipeError):
            answer = "FAILED MindSpore crashed"
        if answer.startswith("FAILED timeout") or answer.endswith("crashed"):
            process.kill()
            process, pipe = child()
        results.setdefault(path.stem.rpartition(".")[0], []).append(answer)
    pipe.send(None)
    for name, answers in results.items():
        bad = [a for a in answers if not a.startswith("equal")]
        print(f"{name}: {len(answers)} cases, {bad[0] if bad else 'equal ' + max(a.split()[1] for a in answers)}")
    good = sum(all(a.startswith("equal") for a in answers) for answers in results.values())
    print(f"{good} of {len(results)} equal")


if __name__ == "__main__":
    main(sys.argv[1])

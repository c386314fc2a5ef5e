# SPDX-License-Identifier: Apache-2.0
"""Run with ONNX Runtime what export_table.py and export_nets.py wrote to a folder, after onnx.checker: python check_with_onnxruntime.py FOLDER.
onnxruntime_1.31.log is what it printed."""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime as rt

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = {"float16": 2e-3, "float32": 1e-4, "float64": 1e-5}


def difference(got, want):
    """What is wrong, or None."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}"
    near = TOLERANCE.get(want.dtype.name, 0)
    if not np.allclose(got, want, rtol=near, atol=near, equal_nan=True):
        return f"{got.ravel()[:6]} instead of {want.ravel()[:6]}"
    return None


def run(path):
    """None, or what is wrong."""
    arrays = np.load(str(path)[:-len(".onnx")] + ".npz")
    onnx.checker.check_model(str(path), full_check=True)
    session = rt.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = session.run(None, {value.name: arrays[f"in{k}"] for k, value in enumerate(session.get_inputs())})
    for k, got in enumerate(found):
        wrong = difference(got, arrays[f"out{k}"])
        if wrong:
            return f"output {k} is {wrong}"
    return None


def main(folder):
    rt.set_default_logger_severity(4)
    lines = (HERE / "different.txt").read_text().splitlines()
    known = dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    paths, equal, wrong, excused = sorted(pathlib.Path(folder).glob("*.onnx")), set(), [], set()
    for path in paths:
        try:
            message = run(path)
        except Exception as error:  # pylint: disable=broad-except
            message = str(error).replace("\n", " ")[:300]
        operator = path.name.split(".")[0]
        if not message:
            equal.add(operator)
        elif operator in known:
            excused.add(operator)
        else:
            wrong.append(f"{path.name}: {message}")
    bad = {line.split(".")[0] for line in wrong}
    print(f"onnx {onnx.__version__}, ONNX Runtime {rt.__version__}: {len(paths)} models pass the checker and run, {len(equal - bad - excused)} "
          f"operators or nets equal, {len(excused)} different with a reason, {len(bad)} wrong")
    for line in wrong:
        print(line)


if __name__ == "__main__":
    main(sys.argv[1])

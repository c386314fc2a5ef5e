#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the ONNX standard's backend suite as a folder for run_suite.py, and count what ONNX Runtime passes of it.

    make_suite.py FOLDER                  needs the packages onnx, ml_dtypes and Pillow
    make_suite.py FOLDER --runtime LIST   also runs ONNX Runtime; names of the cases it passes go to LIST

The onnx package holds the cases of operators as code and the others as files.
"""
import argparse
import json
import os
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import DATA_DIR, load_model_tests


def write_value(path, value, proto):
    kind = proto.type.WhichOneof("value")
    if kind == "sequence_type":
        message = numpy_helper.from_list(value, proto.name)
    elif kind == "optional_type":
        message = numpy_helper.from_optional(value, proto.name)
    else:
        message = value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(value, proto.name)
    path.write_bytes(message.SerializeToString())


def write_case(folder, case):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    (folder / "data.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))
    for i, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{i}"
        data.mkdir(exist_ok=True)
        for what, values, protos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for k, (value, proto) in enumerate(zip(values, protos)):
                write_value(data / f"{what}_{k}.pb", value, proto)


def read_value(path, proto):
    data = path.read_bytes()
    kind = proto.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return onnx.TensorProto.FromString(data)


# What ONNX Runtime's Python interface takes: numpy's own dtypes as arrays, smaller ones by their bytes and number.
def feed(value):
    import onnxruntime
    if not isinstance(value, onnx.TensorProto):
        return value
    array = numpy_helper.to_array(value)
    if value.data_type in (onnx.TensorProto.STRING,) or array.dtype.kind in "biufc":
        return array
    packed = array.view(np.uint8)
    if array.dtype.name in ("int4", "uint4", "float4_e2m1fn", "int2", "uint2"):
        raise NotImplementedError("packed values cannot be handed to ONNX Runtime from Python")
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(
        array.view(np.uint16) if array.itemsize == 2 else packed, value.data_type)


def same(found, wanted, rtol, atol):
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(same(f, w, rtol, atol) for f, w in zip(found, wanted))
    wanted = numpy_helper.to_array(wanted) if isinstance(wanted, onnx.TensorProto) else np.asarray(wanted)
    found = np.asarray(found)
    if wanted.dtype.kind in "OSU":
        return found.tolist() == np.array([w.decode() if isinstance(w, bytes) else w for w in wanted.ravel()],
                                          dtype=object).reshape(wanted.shape).tolist()
    if wanted.dtype.kind == "V" or wanted.dtype.name not in np.sctypeDict:
        if found.dtype != wanted.dtype:
            found = found.view(wanted.dtype)
        found, wanted = found.astype(np.float32), wanted.astype(np.float32)
    return found.shape == wanted.shape and found.dtype == wanted.dtype and np.allclose(found, wanted, rtol, atol, equal_nan=True)


def runtime_passes(folder):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    limits = json.loads((folder / "data.json").read_text()) if (folder / "data.json").exists() else {"rtol": 1e-3, "atol": 1e-7}
    try:
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        graph = onnx.load(folder / "model.onnx").graph
        held = {t.name for t in graph.initializer}
        faces = [v for v in graph.input]
        for data in sorted(folder.glob("test_data_set_*")):
            given = {}
            for i, face in enumerate(faces):
                path = data / f"input_{i}.pb"
                if path.exists():
                    given[face.name] = feed(read_value(path, face))
            special = any(type(v).__name__ == "OrtValue" for v in given.values())
            if special:
                given = {k: v if type(v).__name__ == "OrtValue" else onnxruntime.OrtValue.ortvalue_from_numpy(np.asarray(v))
                         for k, v in given.items()}
                found = [v.numpy() for v in session.run_with_ort_values(None, given)]
            else:
                found = session.run(None, given)
            for i, face in enumerate(graph.output):
                if not same(found[i], read_value(data / f"output_{i}.pb", face), limits["rtol"], limits["atol"]):
                    return False, "differs"
        return True, str(len(held))
    except Exception as e:  # every failure is a result of this program
        return False, f"{type(e).__name__}: {e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runtime", type=Path, help="file for the names of the cases that ONNX Runtime passes")
    arguments = parser.parse_args()
    if not arguments.folder.exists():
        for case in load_model_tests(kind="node"):
            write_case(arguments.folder / "node" / case.name, case)
        for group in ("simple", "pytorch-converted", "pytorch-operator"):
            shutil.copytree(Path(DATA_DIR) / group, arguments.folder / group)
    if arguments.runtime is None:
        return
    os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"
    passed = []
    cases = sorted(p.parent for p in arguments.folder.glob("*/*/model.onnx"))
    for case in cases:
        good, reason = runtime_passes(case)
        if good:
            passed.append(f"{case.parent.name}/{case.name}")
        else:
            print(f"{case.parent.name}/{case.name}: {reason.splitlines()[0][:200]}")
    arguments.runtime.write_text("".join(f"{name}\n" for name in passed))
    print(f"ONNX Runtime passes {len(passed)} of {len(cases)}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run test cases in the layout of the ONNX standard's backend suite and count them.

    run_suite.py FOLDER [--match TEXT] [--show]

FOLDER holds groups (node, simple, pytorch-converted, pytorch-operator), each a folder of cases: model.onnx with folders
test_data_set_N of input_K.pb and output_K.pb. A case is passed, failed, or unsupported (an operator, a data type or a kind
of value that is not supported). The suite itself comes with the onnx package and is not part of this repository.
"""
import argparse
import collections
import sys
from pathlib import Path

import numpy as np

from spore import _core, Tensor

# TensorProto.DataType -> numpy; bfloat16 is compared as float32.
DTYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8",
          14: "c8", 15: "c16", 16: "bfloat16"}


class Unsupported(Exception):
    """A value that cannot be handed to a model."""


def fields(data):
    """(number, value) of a protobuf message; bytes or int."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, varint()
        elif kind == 2:
            size = varint()
            yield tag >> 3, data[at:at + size]
            at += size
        else:
            size = 8 if kind == 1 else 4
            yield tag >> 3, data[at:at + size]
            at += size


def varints(data):
    """Packed numbers, as signed 64 bits."""
    out, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value - (1 << 64) if value >= 1 << 63 else value)
            value = shift = 0
    return out


def read_array(data):
    """numpy array and the name of its dtype, from a TensorProto."""
    dims, kind, raw, numbers = [], 0, None, []
    for number, value in fields(data):
        if number == 1:
            dims += varints(value) if isinstance(value, bytes) else [value]
        elif number == 2:
            kind = value
        elif number == 9:
            raw = value
        elif number in (4, 10):
            raw = (raw or b"") + value
        elif number in (5, 7, 11):
            numbers += varints(value) if isinstance(value, bytes) else [value]
    if kind not in DTYPES:
        raise Unsupported(f"data_type {kind}")
    name = DTYPES[kind]
    if raw is None and kind in (10, 16):
        raw = np.array(numbers, np.uint16).tobytes()
    if name == "bfloat16":
        wide = np.frombuffer(raw, np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).reshape(dims), name
    array = np.frombuffer(raw, name) if raw is not None else np.array(numbers, np.int64).astype(name)
    return array.reshape(dims), name


def to_tensor(array, name):
    tensor = Tensor(np.array(array))
    if name != "bfloat16":
        return tensor
    import spore
    return tensor.astype(spore.bfloat16)


def to_numpy(tensor):
    import spore
    return tensor.astype(spore.float32).asnumpy() if tensor.dtype == spore.bfloat16 else tensor.asnumpy()


def compare(found, wanted, name):
    """None, or what differs."""
    if found is None:
        return "no result"
    found = to_numpy(found)
    if found.shape != wanted.shape:
        return f"shape {found.shape}, wanted {wanted.shape}"
    if found.dtype != wanted.dtype:
        return f"dtype {found.dtype}, wanted {wanted.dtype}"
    rtol, atol = (1e-2, 1e-2) if name == "bfloat16" else (1e-3, 1e-5 if name == "f2" else 1e-7)
    if np.allclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True):
        return None
    return f"largest difference {np.nanmax(np.abs(found.astype(complex) - wanted.astype(complex)))}"


def run_case(folder):
    """Outcome and a reason."""
    try:
        model = _core.model_load(str(folder / "model.onnx"))
        specs = model.inputs()
        if any(dtype is None for _, dtype, _ in specs + model.outputs()):
            raise Unsupported("an input or output that is no tensor of a dtype we have")
        for data in sorted(folder.glob("test_data_set_*")):
            values = [read_array((data / f"input_{i}.pb").read_bytes()) for i in range(len(list(data.glob("input_*.pb"))))]
            inputs = [to_tensor(*v) for v in values][:len(specs)]
            results = model.run(*inputs, *[None] * (len(specs) - len(inputs)))
            for i, result in enumerate(results):
                wanted, name = read_array((data / f"output_{i}.pb").read_bytes())
                difference = compare(result, wanted, name)
                if difference:
                    return "failed", f"output {i}: {difference}"
    except (NotImplementedError, Unsupported) as e:
        return "unsupported", str(e)
    except Exception as e:  # every failure is a result of this program
        return "failed", f"{type(e).__name__}: {e}"
    return "passed", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--match", default="", help="only cases whose name contains this")
    parser.add_argument("--show", action="store_true", help="one line for each case that is not passed")
    arguments = parser.parse_args()
    total = collections.Counter()
    for group in sorted(p for p in arguments.folder.iterdir() if p.is_dir()):
        count = collections.Counter()
        for case in sorted(p.parent for p in group.glob("*/model.onnx")):
            if arguments.match not in case.name:
                continue
            outcome, reason = run_case(case)
            count[outcome] += 1
            if arguments.show and outcome != "passed":
                print(f"{outcome} {group.name}/{case.name}: {reason.splitlines()[0][:300] if reason else ''}", flush=True)
        total += count
        print(f"{group.name}: {count['passed']} passed, {count['failed']} failed, {count['unsupported']} unsupported")
    print(f"all: {total['passed']} of {sum(total.values())} passed, {total['failed']} failed, "
          f"{total['unsupported']} unsupported")
    return 0 if total["failed"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

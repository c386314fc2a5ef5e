#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run test cases in the layout of the ONNX standard's backend suite and count them.

    run_suite.py FOLDER [--match TEXT] [--show]

FOLDER holds groups (node, simple, pytorch-converted, pytorch-operator), each a folder of cases: model.onnx with folders
test_data_set_N of input_K.pb and output_K.pb. A case is passed, failed, unsupported (an operator or a data type), or excluded:
excluded.txt lists those with the reasons. The suite itself is not part of this repository: make_suite.py writes it with the onnx
package.
"""
import argparse
import collections
import json
import sys
from pathlib import Path

import numpy as np

from spore import _core, Tensor

# TensorProto.DataType -> numpy; bfloat16 is compared as float32.
DTYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8",
          14: "c8", 15: "c16", 16: "bfloat16"}
# Small elements: bits, and for floats exponent bits, mantissa bits, bias and what the codes beyond numbers are.
SMALL = {17: (8, 4, 3, 7, "fn"), 18: (8, 4, 3, 8, "uz"), 19: (8, 5, 2, 15, "inf"), 20: (8, 5, 2, 16, "uz"), 21: (4, "u"),
         22: (4, "i"), 23: (4, 2, 1, 1, ""), 24: (8, "power"), 25: (2, "u"), 26: (2, "i"), 27: (6, 2, 3, 1, ""), 28: (6, 3, 2, 3, "")}


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


def small_float(code, exponent_bits, mantissa_bits, bias, special):
    """Value of a float of 8 bits or fewer."""
    sign = -1.0 if code >> (exponent_bits + mantissa_bits) else 1.0
    exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = code & ((1 << mantissa_bits) - 1)
    full = exponent == (1 << exponent_bits) - 1
    if special == "uz" and sign < 0 and exponent == mantissa == 0:
        return np.nan
    if special == "inf" and full:
        return sign * np.inf if mantissa == 0 else np.nan
    if special == "fn" and full and mantissa == (1 << mantissa_bits) - 1:
        return np.nan
    whole = mantissa + (1 << mantissa_bits) if exponent else mantissa
    return sign * whole * 2.0 ** (max(exponent, 1) - bias - mantissa_bits)


def small_values(raw, count, facts):
    """Packed elements of a few bits, lowest bits first, as numbers."""
    bits = facts[0]
    stream = int.from_bytes(raw, "little")
    codes = [stream >> (i * bits) & ((1 << bits) - 1) for i in range(count)]
    if facts[1] == "power":
        return np.array([np.nan if c == 255 else 2.0 ** (c - 127) for c in codes], np.float32)
    if facts[1] == "u":
        return np.array(codes, np.uint8)
    if facts[1] == "i":
        return np.array([c - (1 << bits) if c >> (bits - 1) else c for c in codes], np.int8)
    return np.array([small_float(c, *facts[1:]) for c in codes], np.float32)


def read_array(data):
    """numpy array and the name of its dtype, from a TensorProto."""
    dims, kind, raw, numbers, texts = [], 0, None, [], []
    for number, value in fields(data):
        if number == 1:
            dims += varints(value) if isinstance(value, bytes) else [value]
        elif number == 2:
            kind = value
        elif number == 6:
            texts.append(value.decode())
        elif number == 9:
            raw = value
        elif number in (4, 10):
            raw = (raw or b"") + value
        elif number in (5, 7, 11):
            numbers += varints(value) if isinstance(value, bytes) else [value]
    if kind == 8:
        return np.array(texts, dtype="U").reshape(dims), "string"
    if kind in SMALL:
        if raw is None:
            raw = bytes(n & 255 for n in numbers)
        return small_values(raw, int(np.prod(dims)), SMALL[kind]).reshape(dims), "small"
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


def read_sequence(data):
    """List of values, from a SequenceProto: 2 elem_type, 3 tensors, 5 sequences, 7 optionals."""
    readers = {3: read_array, 5: read_sequence, 7: read_optional}
    return [readers[number](value) for number, value in fields(data) if number in readers], "sequence"


def read_optional(data):
    """Value or None, from an OptionalProto: 2 elem_type, 3 tensor, 5 sequence, 7 optional."""
    readers = {3: read_array, 5: read_sequence, 7: read_optional}
    for number, value in fields(data):
        if number in readers:
            return readers[number](value)
    return None, "optional"


def value_kinds(model):
    """Kinds of inputs and of outputs of a model: tensor, sequence or optional, from its ValueInfoProtos."""
    kinds = {11: [], 12: []}
    readers = {1: read_array, 4: read_sequence, 9: read_optional}  # fields of TypeProto
    for number, graph in fields(model):
        for part, value in fields(graph) if number == 7 else ():
            if part in kinds:
                of = [n for n, _ in fields(dict(fields(value)).get(2, b"")) if n in readers]
                kinds[part].append(readers[of[0]] if of else read_array)
    return kinds[11], kinds[12]


def to_argument(value, name):
    """What a model takes for a value that was read."""
    if value is None:
        return None
    if name == "sequence":
        return [to_argument(*v) for v in value]
    if name == "string":
        return Tensor(value) if value.size else value
    tensor = Tensor(np.array(value))
    if name != "bfloat16":
        return tensor
    import spore
    return tensor.astype(spore.bfloat16)


def to_numpy(tensor):
    import spore
    return tensor.astype(spore.float32).asnumpy() if tensor.dtype == spore.bfloat16 else tensor.asnumpy()


def compare(found, wanted, name, limits):
    """None, or what differs."""
    if name == "sequence":
        if not isinstance(found, list) or len(found) != len(wanted):
            return "another number of items"
        return next((d for f, w in zip(found, wanted) if (d := compare(f, *w, limits))), None)
    if found is None or wanted is None:
        return None if found is wanted else "no result"
    found = to_numpy(found)
    if found.shape != wanted.shape:
        return f"shape {found.shape}, wanted {wanted.shape}"
    if name == "string":
        return None if found.tolist() == wanted.tolist() else f"{found.tolist()}, wanted {wanted.tolist()}"
    if found.dtype != wanted.dtype:
        return f"dtype {found.dtype}, wanted {wanted.dtype}"
    # 16-bit floats may be two units apart: 2^-10 is one of float16, 2^-7 one of bfloat16.
    rtol, atol = (1e-2, 1e-2) if name == "bfloat16" else (2e-3, 1e-5) if name == "f2" else (1e-3, 1e-7)
    if np.allclose(found, wanted, rtol=max(rtol, limits.get("rtol", 0)), atol=max(atol, limits.get("atol", 0)), equal_nan=True):
        return None
    return f"largest difference {np.nanmax(np.abs(found.astype(complex) - wanted.astype(complex)))}"


def run_case(folder):
    """Outcome and a reason."""
    try:
        model = _core.model_load(str(folder / "model.onnx"))
        limits = json.loads((folder / "data.json").read_text()) if (folder / "data.json").exists() else {}
        read_inputs, read_outputs = value_kinds((folder / "model.onnx").read_bytes())
        specs = model.inputs()
        for data in sorted(folder.glob("test_data_set_*")):
            values = [read((data / f"input_{i}.pb").read_bytes()) for i, read in enumerate(read_inputs)
                      if (data / f"input_{i}.pb").exists()]
            inputs = [to_argument(*v) for v in values][:len(specs)]
            results = model.run(*inputs, *[None] * (len(specs) - len(inputs)))
            for i, result in enumerate(results):
                wanted, name = read_outputs[i]((data / f"output_{i}.pb").read_bytes())
                difference = compare(result, wanted, name, limits)
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
    lines = (Path(__file__).parent / "excluded.txt").read_text().splitlines()
    excluded = {line for line in lines if line and not line.startswith("#")}
    for group in sorted(p for p in arguments.folder.iterdir() if p.is_dir()):
        count = collections.Counter()
        for case in sorted(p.parent for p in group.glob("*/model.onnx")):
            if arguments.match not in case.name:
                continue
            outcome, reason = run_case(case)
            if outcome != "passed" and f"{group.name}/{case.name}" in excluded:
                outcome = "excluded"
            count[outcome] += 1
            if arguments.show and outcome != "passed":
                print(f"{outcome} {group.name}/{case.name}: {reason.splitlines()[0][:300] if reason else ''}", flush=True)
        total += count
        print(f"{group.name}: {count['passed']} passed, {count['failed']} failed, {count['unsupported']} unsupported, "
              f"{count['excluded']} excluded")
    print(f"all: {total['passed']} of {sum(total.values())} passed, {total['failed']} failed, "
          f"{total['unsupported']} unsupported, {total['excluded']} excluded")
    return 0 if total["failed"] + total["unsupported"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

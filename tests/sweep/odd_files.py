# SPDX-License-Identifier: Apache-2.0
"""Sweep over model files: every number in every attribute and in every constant of integers, replaced by odd ones.

Units: `onnx OPERATOR` and `mindir OPERATOR`, the operator's samples as this engine writes them; `file NAME`, the models of tests/onnx/data;
`case NAME`, files that MindSpore wrote (tests/oracle_mindir); `tflite NAME` (tests/tflite); `lite NAME` (tests/lite); `suite NAME`, cases of the ONNX standard, when
SPORE_ONNX_SUITE names the folder that tests/onnx/make_suite.py has written. A case loads the file and runs it.
"""
import io
import os
import struct
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

import spore as ms
from spore import Tensor, _core
from odd import FLOATS, INTS
from samples import parse
from wire import MINDIR, MINDIR_DTYPES, ONNX, ONNX_DTYPES, Flat, Message, changes, messages, odd_arrays

ROOT = Path(__file__).resolve().parents[2]
ms.runtime.set_memory(max_size="0.3GB")
WHOLE = os.environ.get("SPORE_SWEEP_WHOLE") == "1"
SUITE = os.environ.get("SPORE_ONNX_SUITE")
TABLE = {entry["name"]: entry for entry in _core.op_table()}
CASES = ROOT / "tests/oracle_mindir/cases_2.10.tar.xz"
TFLITE = ROOT / "tests/tflite/cases.npz"
LITE = ROOT / "tests/lite/data/small"


def units():
    found = [f"{kind} {name}" for name in sorted(TABLE) for kind in ("onnx", "mindir")]
    found += [f"file {path.stem}" for path in sorted((ROOT / "tests/onnx/data").glob("*.onnx"))]
    with np.load(TFLITE) as held:
        found += [f"tflite {name}" for name in sorted({key.split("/")[0] for key in held.files})]
    found += [f"lite {path.stem}" for path in sorted(LITE.glob("*.ms"))]
    with tarfile.open(CASES) as archive:
        found += [f"case {Path(name).stem}" for name in sorted(archive.getnames()) if name.endswith(".mindir")]
    if SUITE:
        found += [f"suite {path.parent.name}" for path in sorted(Path(SUITE).glob("**/model.onnx"))]
    return found


def exported(kind, name):
    """(bytes, inputs) of the samples of an operator, as this engine writes it."""
    entry = TABLE[name]
    dtype = "float32" if "float32" in entry["dtypes"] else entry["dtypes"][0]
    found = parse(entry["samples"])
    for sample in found if WHOLE else found[:1]:
        rng = np.random.default_rng(1)
        given = [None if o is None else Tensor(o.values(rng, dtype)) for o in sample.operands]
        present = [t for t in given if t is not None]
        graph = _core.graph_create()
        function, symbols = _core.function_begin(graph, name, [(t.dtype, t.shape) for t in present])
        try:
            rest = iter(symbols)
            out = _core.apply(name, [None if t is None else next(rest) for t in given], sample.attrs)
            _core.function_end(function, list(out) if isinstance(out, (tuple, list)) else [out])
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"model.{kind}"
                _core.model_save(str(path), function, [f"x{k}" for k in range(len(symbols))], [], [])
                data = path.read_bytes()
        except Exception:
            continue    # not every operator can be written; the tests of the writers say which
        yield data, present


def run(data, inputs):
    model = _core.model_load_memory(data)
    out = model.run(*[t for t in inputs])
    for o in out if isinstance(out, (tuple, list)) else [out]:
        if isinstance(o, Tensor) and o.size < 1000:
            o.asnumpy()


def protobuf(data, inputs, schema, dtypes):
    model = Message(data, schema, "Model")
    loops = b"\x04Loop" in data    # asked for 2^31 turns, a loop takes them
    for kind in ("Attribute", "Tensor", "Dim"):
        if kind not in schema:
            continue
        for where, message in messages(model, kind):
            short = loops and kind == "Tensor" and message.first(1) in (None, 1)
            for text in changes(message, schema, dtypes, [v for v in INTS if abs(v) < 2 ** 20] if short else INTS, FLOATS):
                changed = model.bytes()
                yield f"{where}: {text}", lambda: run(changed, inputs)


def flat(data, inputs):
    """Fields of the options of every operator, and constants of integers."""
    file = Flat(data)
    root = file.root()
    buffers = file.tables(file.field(root, 4))
    for graph in file.tables(file.field(root, 2)):
        for number, table in enumerate(file.tables(file.field(graph, 3)) if file.field(graph, 3) else []):
            options = file.field(table, 4)
            for field, at, size in file.fields(file.table(options)) if options else []:
                for form, v in [(f, v) for f in ("<b", "<h", "<i", "<q") for v in INTS] + [("<f", v) for v in FLOATS]:
                    if struct.calcsize(form) > size or struct.calcsize(form) * 4 < size:
                        continue
                    try:
                        packed = struct.pack(form, v)
                    except (struct.error, OverflowError):
                        continue
                    changed = bytes(file.data[:at]) + packed + bytes(file.data[at + len(packed):])
                    yield f"operator {number} option {field}={v}", lambda: run(changed, inputs)
        for number, table in enumerate(file.tables(file.field(graph, 0))):
            kind = file.data[file.field(table, 1)] if file.field(table, 1) else 0
            dtype = {0: "f4", 2: "i4", 4: "i8", 3: "u1", 9: "i1", 7: "i2"}.get(kind)
            buffer = file.u32(file.field(table, 2)) if file.field(table, 2) else 0
            at = file.field(buffers[buffer], 0) if 0 < buffer < len(buffers) else None
            if at is None or dtype is None:
                continue
            at = file.table(at)
            n = file.u32(at)
            if n == 0 or n > 4096:
                continue
            array = np.frombuffer(bytes(file.data[at + 4:at + 4 + n]), "<" + dtype)
            for what, new in odd_arrays(array, INTS, FLOATS):
                changed = bytes(file.data[:at + 4]) + new.tobytes() + bytes(file.data[at + 4 + n:])
                yield f"tensor {number} contents {what}", lambda: run(changed, inputs)


def lite(data, inputs):
    """Fields of the operators of a MindSpore Lite file, and constants of integers."""
    file = Flat(data)
    root = file.root()
    for number, table in enumerate(file.tables(file.field(root, 6))):
        fields = file.field(file.table(file.field(table, 2)), 1)
        for field, at, size in file.fields(file.table(fields)) if fields else []:
            for form, v in [(f, v) for f in ("<b", "<i", "<q") for v in INTS] + [("<f", v) for v in FLOATS]:
                if struct.calcsize(form) > size or struct.calcsize(form) * 4 < size:
                    continue
                try:
                    packed = struct.pack(form, v)
                except (struct.error, OverflowError):
                    continue
                changed = bytes(file.data[:at]) + packed + bytes(file.data[at + len(packed):])
                yield f"operator {number} field {field}={v}", lambda: run(changed, inputs)
    for number, table in enumerate(file.tables(file.field(root, 7))):
        dtype = {43: "f4", 34: "i4", 35: "i8", 32: "i1"}.get(file.i32(file.field(table, 1)))
        if dtype is None or not file.field(table, 6):
            continue
        at = file.table(file.field(table, 6))
        n = file.u32(at)
        for what, new in odd_arrays(np.frombuffer(bytes(file.data[at + 4:at + 4 + n - n % np.dtype(dtype).itemsize]), "<" + dtype), INTS, FLOATS):
            changed = bytes(file.data[:at + 4]) + new.tobytes() + bytes(file.data[at + 4 + new.nbytes:])
            yield f"tensor {number} contents {what}", lambda: run(changed, inputs)


def suite_input(path):
    message = Message(path.read_bytes(), ONNX, "Tensor")
    dims = []
    for number, wire, value in message.fields:
        if number == 1:
            from wire import unpack
            dims += unpack("i", value) if wire == 2 else [value]
    raw, dtype = message.first(9), {**ONNX_DTYPES, 9: "?"}.get(message.first(2))
    if dtype is None or raw is None and np.prod(dims):
        raise ValueError(f"{path} is not read")
    return Tensor(np.frombuffer(raw or b"", "<" + dtype).reshape(dims))


def source(unit):
    """(bytes, inputs, schema) of every file of a unit."""
    kind, name = unit.split(" ", 1)
    if kind in ("onnx", "mindir"):
        for data, inputs in exported(kind, name):
            yield data, inputs, kind
    elif kind == "file":
        with np.load(ROOT / f"tests/onnx/data/{name}.npz") as held:
            inputs = [Tensor(held[k]) for k in held if k.startswith("in_")]
        yield (ROOT / f"tests/onnx/data/{name}.onnx").read_bytes(), inputs, "onnx"
    elif kind == "tflite":
        with np.load(TFLITE) as held:
            inputs = [Tensor(held[k]) for k in sorted((k for k in held.files if k.startswith(f"{name}/in0.")), key=lambda k: int(k.rsplit(".", 1)[1]))]
            yield held[f"{name}/model"].tobytes(), inputs, "tflite"
    elif kind == "lite":
        data = (LITE / f"{name}.ms").read_bytes()
        rng = np.random.default_rng(1)
        faces = _core.model_load_memory(data).inputs()
        yield data, [Tensor((8 * rng.standard_normal(shape)).astype(str(dtype).lower())) for _, dtype, shape in faces], "lite"
    elif kind == "case":
        with tarfile.open(CASES) as archive:
            member = next(m for m in archive.getnames() if Path(m).name == f"{name}.mindir")
            data = archive.extractfile(member).read()
            with np.load(io.BytesIO(archive.extractfile(member[:-6] + "npz").read())) as held:
                inputs = [Tensor(held[k]) for k in sorted(held) if k.startswith("in")]
                inputs = [x.astype(ms.bfloat16) if b else x for x, b in zip(inputs, held["bf16"])]
        yield data, inputs, "mindir"
    else:
        folder = next(path.parent for path in Path(SUITE).glob("**/model.onnx") if path.parent.name == name)
        try:
            inputs = [suite_input(path) for path in sorted(folder.glob("test_data_set_0/input_*.pb"), key=lambda p: int(p.stem.split("_")[1]))]
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)
            return
        yield (folder / "model.onnx").read_bytes(), inputs, "onnx"


def cases(unit):
    for data, inputs, kind in source(unit):
        if kind in ("tflite", "lite"):
            yield from (flat if kind == "tflite" else lite)(data, inputs)
        else:
            yield from protobuf(data, inputs, *((ONNX, ONNX_DTYPES) if kind == "onnx" else (MINDIR, MINDIR_DTYPES)))

# SPDX-License-Identifier: Apache-2.0
"""Words and kinds that nobody knows in MindIR and TensorFlow Lite files are refused with what is wanted, they do not count as the default."""
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import spore as ms
from spore import Tensor, _core, nn, ops

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "sweep"))
from wire import MINDIR, Flat, Message, messages  # noqa: E402

X = Tensor(np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, pad_mode="same")
        self.pool = nn.MaxPool2d(2, 2)

    def construct(self, x):
        return self.pool(self.conv(ops.pad(x, (1, 1, 1, 1))))


@pytest.fixture(scope="module", name="exported")
def make(tmp_path_factory):
    file = tmp_path_factory.mktemp("words") / "net"
    ms.export(Net(), X, file_name=str(file), file_format="MINDIR")
    return file.with_suffix(".mindir").read_bytes()


def changed(data, name, now, value):
    """The file with another value in the attribute of a primitive that holds `now`."""
    model = Message(data, MINDIR, "Model")
    found = [a for path, a in messages(model, "Attribute") if path.endswith(f"Primitive/Attribute/{name}") and [5, 2, now] in a.fields]
    assert len(found) == 1
    place = found[0].fields.index([5, 2, now])
    if isinstance(value, bytes):
        found[0].fields[place] = [5, 2, value]
    else:
        found[0].fields[place] = [3, 0, value]
        found[0].fields[[f[0] for f in found[0].fields].index(16)] = [16, 0, 7]
    return model.bytes()


@pytest.mark.parametrize("name, now, value, text", [
    ("pad_mode", b"same", b"FOO", "pad_mode is 'FOO'; wanted is one of: pad same valid"),
    ("pad_mode", b"VALID", b"xyz", "pad_mode is 'xyz'"),
    ("pad_mode", b"same", 3, "pad_mode is 3; wanted is the place of one of: pad same valid"),
    ("mode", b"constant", b"xyz", "mode is 'xyz'; wanted is one of: constant reflect edge replicate circular"),
    ("mode", b"constant", 7, "mode is 7"),
])
def test_mindir(exported, name, now, value, text):
    _core.model_load_memory(exported).run(X)
    with pytest.raises((ValueError, RuntimeError)) as error:
        _core.model_load_memory(changed(exported, name, now, value)).run(X)
    assert text in str(error.value) and re.search(r"Conv2D|MaxPool|Pad", str(error.value)), str(error.value)


def test_mindir_words_by_number_and_case(exported):
    wanted = _core.model_load_memory(exported).run(X)
    for value in (1, b"SAME"):
        found = _core.model_load_memory(changed(exported, "pad_mode", b"same", value)).run(X)
        for a, b in zip(*(x if isinstance(x, (tuple, list)) else (x,) for x in (found, wanted))):
            np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


def test_mindir_layout(exported):
    model = Message(exported, MINDIR, "Model")
    for path, a in messages(model, "Attribute"):
        if path.endswith("Primitive/Attribute/format"):
            a.fields[[f[0] for f in a.fields].index(5)] = [5, 2, b"CHWN"]
    with pytest.raises((ValueError, RuntimeError), match="data_format is 'CHWN'; wanted is one of: nchw nhwc"):
        _core.model_load_memory(model.bytes()).run(X)


CASES = np.load(ROOT / "tflite/cases.npz")


def option_of(flat, code):
    """Where the options of the first operator with that code lie."""
    root = flat.root()
    codes = [max(flat.data[at] if (at := flat.field(t, 0)) else 0, flat.i32(at) if (at := flat.field(t, 3)) else 0) for t in flat.tables(flat.field(root, 1))]
    graph = flat.tables(flat.field(root, 2))[0]
    for operator in flat.tables(flat.field(graph, 3)):
        at = flat.field(operator, 0)
        if codes[flat.u32(at) if at else 0] == code:
            return flat.table(flat.field(operator, 4))
    return None


def with_option(code, number):
    """(name, file, place of the byte) of the first case that has the operator with the option written down."""
    for name in sorted({key.split("/")[0] for key in CASES.files}):
        flat = Flat(CASES[f"{name}/model"].tobytes())
        options = option_of(flat, code)
        place = flat.field(options, number) if options is not None else None
        if place is not None:
            return name, flat, place
    return None


@pytest.mark.parametrize("code, number, value, text", [
    (3, 0, 2, "padding is 2; it must be 0 (SAME) or 1 (VALID)"),        # CONV_2D
    (3, 3, 9, "fused activation 9"),
    (0, 0, 9, "fused activation 9"),                                    # ADD
])
def test_tflite(code, number, value, text):
    name, flat, place = with_option(code, number)
    held = sorted((k for k in CASES.files if k.startswith(f"{name}/in0.")), key=lambda k: int(k.rsplit(".", 1)[1]))
    inputs = [Tensor(CASES[k]) for k in held]
    _core.model_load_memory(bytes(flat.data)).run(*inputs)
    flat.data[place] = value
    with pytest.raises((ValueError, RuntimeError, NotImplementedError)) as error:
        _core.model_load_memory(bytes(flat.data)).run(*inputs)
    assert text in str(error.value) and "node" in str(error.value), str(error.value)

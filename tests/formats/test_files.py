# SPDX-License-Identifier: Apache-2.0
"""Files of other frameworks: read to the recorded values, written back, refused when they are broken or hostile."""
import io
import json
import pathlib
import pickle
import re
import shutil
import struct
import sys
import zipfile

import numpy as np
import pytest

import spore as ms
from spore import _core

HERE = pathlib.Path(__file__).parent
DATA = HERE / "data"
sys.path.insert(0, str(HERE))
import make_numpy  # noqa: E402  pylint: disable=wrong-import-position


def read(path, crc=True):
    """Name -> array or str."""
    bundle = _core.file_load(str(path), None, crc)
    return {name: as_array(bundle.value(i)) for i, name in enumerate(bundle.names())}


def as_array(value):
    if isinstance(value, str):
        return value
    if value.dtype == ms.bfloat16:
        return np.frombuffer(value.get_bytes(), np.uint16).reshape(value.shape)
    return value.asnumpy()


def same(got, wanted):
    assert got.dtype == wanted.dtype.newbyteorder("=") and got.shape == wanted.shape
    assert got.tobytes() == wanted.astype(got.dtype).tobytes()


def entries(bundle):
    return [(name, bundle.value(i)) for i, name in enumerate(bundle.names())]


# --- golden files ----------------------------------------------------------------------------------------------------

TORCH = sorted(p.name for p in (DATA / "torch").glob("*.pt"))


@pytest.mark.parametrize("name", TORCH)
def test_torch(name):
    got = read(DATA / "torch" / name)
    with np.load(DATA / "torch" / (name.removesuffix(".pt").removesuffix("_legacy") + ".npz")) as wanted:
        for key in wanted.files:
            same(got.pop(key), wanted[key])
    assert set(got) <= {"note"}


def test_safetensors_of_eight_bits():
    """The same codes as in the file of PyTorch."""
    got = read(DATA / "safetensors" / "eight_bits.safetensors")
    with np.load(DATA / "torch" / "eight_bits.npz") as wanted:
        assert set(got) >= {"float8_e4m3fn", "float8_e5m2"} and set(got) <= set(wanted.files)
        for key in got:
            same(got[key], wanted[key])


def test_torch_files_are_there():
    assert len(TORCH) == 27


@pytest.mark.parametrize("name", ["net", "dtypes", "append"])
def test_safetensors(name, tmp_path):
    path = DATA / "safetensors" / f"{name}.safetensors"
    bundle = _core.file_load(str(path), None, True)
    with np.load(path.with_suffix(".npz")) as wanted:
        got = read(path)
        for key in wanted.files:
            name_here = key.removesuffix(".bits").removeprefix("append/")
            if name_here == key and key + ".bits" in wanted.files:
                continue
            array = got.pop(name_here)
            same(array, wanted[key] if name_here == key or ".bits" in key else wanted[key].astype(array.dtype))
        assert not got
    _core.file_save(str(tmp_path / "x.safetensors"), entries(bundle), bundle.notes(), None, False)
    assert (tmp_path / "x.safetensors").read_bytes() == path.read_bytes()


def test_safetensors_with_a_checksum(tmp_path):
    path = DATA / "safetensors" / "crc.safetensors"
    bundle = _core.file_load(str(path), None, True)
    _core.file_save(str(tmp_path / "x.safetensors"), entries(bundle), {"format": "ms"}, None, True)
    assert (tmp_path / "x.safetensors").read_bytes() == path.read_bytes()
    broken = bytearray(path.read_bytes())
    broken[-1] ^= 1
    (tmp_path / "y.safetensors").write_bytes(broken)
    read(tmp_path / "y.safetensors", crc=False)
    with pytest.raises(RuntimeError, match="CRC"):
        read(tmp_path / "y.safetensors")


@pytest.mark.parametrize("name", ["all", "packed"])
def test_npz(name, tmp_path):
    got = read(DATA / "numpy" / f"{name}.npz")
    wanted = make_numpy.arrays()
    assert list(got) == list(wanted)
    assert got["text"] == "héllo"
    for key in wanted:
        if key != "text":
            same(got[key], np.asarray(wanted[key]))
    bundle = _core.file_load(str(DATA / "numpy" / f"{name}.npz"), None, True)
    _core.file_save(str(tmp_path / "x.npz"), entries(bundle), {}, None, False)
    with np.load(tmp_path / "x.npz") as back:
        assert back.files == list(wanted)
        for key in wanted:
            assert np.array_equal(back[key], wanted[key]) and back[key].shape == np.shape(wanted[key])
    with zipfile.ZipFile(tmp_path / "x.npz") as archive:
        assert archive.testzip() is None


def test_npy(tmp_path):
    array = make_numpy.arrays()["f4"]
    np.save(tmp_path / "f4.npy", array)
    assert list(read(tmp_path / "f4.npy")) == ["f4"]
    _core.file_save(str(tmp_path / "x.npy"), [("f4", ms.Tensor(array))], {}, None, False)
    assert (tmp_path / "x.npy").read_bytes() == (tmp_path / "f4.npy").read_bytes()
    with pytest.raises(ValueError, match="one array"):
        _core.file_save(str(tmp_path / "y.npy"), [("a", ms.Tensor(array)), ("b", ms.Tensor(array))], {}, None, False)


def test_bfloat16_in_npz(tmp_path):
    tensor = ms.Tensor([1.5, -2.0]).astype(ms.bfloat16)
    _core.file_save(str(tmp_path / "x.npz"), [("w", tensor)], {}, None, False)
    back = _core.file_load(str(tmp_path / "x.npz"), None, True).value(0)
    assert back.dtype == ms.bfloat16 and np.array_equal(back.astype(ms.float32).asnumpy(), [1.5, -2.0])


def test_sharded(tmp_path, spore_command):
    tensors = {f"w{i}": ms.Tensor(np.full((10, 10), i, np.float32)) for i in range(5)}
    ms.save_checkpoint(tensors, str(tmp_path / "m.ckpt"))
    spore_command("convert", tmp_path / "m.ckpt", tmp_path / "m.safetensors.index.json", "--shard-bytes", 800)
    assert len(list(tmp_path.glob("m-*-of-00003.safetensors"))) == 3
    got = read(tmp_path / "m.safetensors.index.json")
    assert list(got) == list(tensors) and all((got[f"w{i}"] == i).all() for i in range(5))
    loaded = ms.load_checkpoint(str(tmp_path / "m.safetensors.index.json"))
    assert list(loaded) == list(tensors)


def test_sharded_torch(tmp_path):
    shutil.copy(DATA / "torch" / "state.pt", tmp_path / "a.bin")
    shutil.copy(DATA / "torch" / "views_legacy.pt", tmp_path / "b.bin")
    index = {"weight_map": {"fc.weight": "a.bin", "row": "b.bin", "fc.bias": "a.bin"}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    assert list(read(tmp_path / "pytorch_model.bin.index.json")) == ["fc.weight", "fc.bias", "row"]


@pytest.mark.parametrize("name", ["object", "old.ckpt", "partitioned"])
@pytest.mark.parametrize("ending", ["", ".index"])
def test_tensorflow(name, ending):
    got = read(DATA / "tensorflow" / (name + ending))
    with np.load(DATA / "tensorflow" / (name + ".npz")) as wanted:
        assert set(got) == set(wanted.files)
        for key in wanted.files:
            same(got[key], wanted[key])


def test_h5():
    import make_h5_arrays  # pylint: disable=import-outside-toplevel
    got = read(DATA / "h5" / "kinds.h5")
    wanted = make_h5_arrays.arrays()
    wanted["unwritten"] = np.zeros(3, np.float32)
    assert set(got) == set(wanted)
    for name, array in wanted.items():
        same(got[name], np.asarray(array))
    got = read(DATA / "h5" / "newest.h5")
    wanted = make_h5_arrays.newest_arrays()
    wanted["unwritten"] = np.zeros(3, np.float32)
    assert set(got) == set(wanted)
    for name, array in wanted.items():
        same(got[name], np.asarray(array))
    refused(DATA / "h5" / "growing.h5", "libver")
    refused(DATA / "h5" / "claims.h5", "claims 1000000 bytes, more than a file of")


def test_tflite():
    with np.load(DATA / "tflite" / "dense.npz") as wanted:
        kernel, bias = wanted["kernel"], wanted["bias"]
    got = read(DATA / "tflite" / "dense_float.tflite")
    same(got["MatMul"], np.ascontiguousarray(kernel.T))
    same(got["Relu;add"], bias)
    packed = read(DATA / "tflite" / "dense_int8.tflite")
    assert packed["MatMul"].dtype == np.int8 and packed["MatMul.zero_point"].max() == 0
    scaled = packed["MatMul"] * packed["MatMul.scale"][:, None]
    assert np.abs(scaled - kernel.T).max() <= packed["MatMul.scale"].max()


def test_mindir():
    got = read(DATA / "mindir" / "bf16_add.mindir")
    assert [v.dtype for v in got.values()] == [np.uint16]
    got = read(DATA / "mindir" / "int8_weights.mindir")
    assert np.int8 in [v.dtype for v in got.values()]
    bundle = _core.file_load(str(DATA / "mindir" / "user_info.mindir"), None, False)
    assert bundle.notes()["mind_ir_version"] == "3" and sum(k.startswith("user_info.") for k in bundle.notes()) == 2
    assert len(read(DATA / "mindir" / "add.mindir")) == 0
    split = read(DATA / "mindir" / "split_graph.mindir")
    assert split and all(np.isfinite(v).all() for v in split.values())
    bundle = _core.file_load(str(DATA / "mindir" / "enc_AES-GCM_key_0123456789ABCDEF.mindir"), None, False,
                             b"0123456789ABCDEF", "AES-GCM")
    assert bundle.format() == "mindir" and len(bundle) > 0


def test_onnx():
    got = read(DATA / "onnx" / "typed.onnx")
    wanted = {"f32": np.array([[1.5, -2], [3, 4]], "f4"), "f64": np.array([1.5, -2]), "f16": np.array([1.5, -2, 0.25], "f2"),
              "i64": np.array([1, -2, 1 << 40]), "i8": np.array([1, -2, 127], "i1"), "u64": np.array([1 << 63], "u8"),
              "b": np.array([True, False]), "c": np.array([1 + 2j], "c8")}
    assert list(got) == list(wanted)
    for key, array in wanted.items():
        same(got[key], array)
    same(read(DATA / "onnx" / "outside.onnx")["big"], np.arange(1000, dtype=np.float32).reshape(10, 100))
    assert read(DATA / "onnx" / "mlp.onnx")["fc1.weight"].shape == (9, 6)


def test_contents_outside_the_folder(tmp_path):
    data = (DATA / "onnx" / "outside.onnx").read_bytes()
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "x.onnx"
    path.write_bytes(data.replace(b"outside.data", b"../side.data"))
    (tmp_path / "side.data").write_bytes(bytes(8192))
    refused(path, "outside its folder")


# --- broken and hostile files ----------------------------------------------------------------------------------------

def refused(path, words):
    with pytest.raises((RuntimeError, ValueError, OSError), match=words) as info:
        _core.file_load(str(path), None, False)
    assert str(path) in str(info.value)


class Evil:
    def __init__(self, function, *args):
        self.call = (function, args)

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("function, args", [(exec, ("raise SystemExit",)), (print, ("called",)), (eval, ("1",)),
                                            (open, ("called", "w")), (getattr, ("", "join"))])
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_pickles_that_call_functions(function, args, protocol, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps({"w": np.ones(3), "x": Evil(function, *args)}, protocol)
    with zipfile.ZipFile("evil.pt", "w") as archive:
        archive.writestr("evil/data.pkl", data)
    refused("evil.pt", r"asks to call .*nothing was called")
    assert "called" not in capfd.readouterr().out and not (tmp_path / "called").exists()


def test_a_pickle_of_arrays_is_read(tmp_path):
    (tmp_path / "w.pkl").write_bytes(pickle.dumps({"a": np.arange(3.0), "b": {"c": np.float32(2)}}, 4))
    got = read(tmp_path / "w.pkl")
    assert np.array_equal(got["a"], [0, 1, 2]) and got["b.c"] == 2 and got["b.c"].dtype == np.float32


@pytest.mark.parametrize("value", [{"conv1": {"weights": np.ones((2, 3), np.float32), "biases": np.arange(2.0)}, "name": "vgg"},
                                   [np.ones((2, 3), np.float32), np.arange(2.0)]])
def test_npy_files_of_objects(value, tmp_path):
    array = np.empty((2,), object) if isinstance(value, list) else np.array(value, object)
    if isinstance(value, list):
        array[:] = value
    np.save(tmp_path / "w.npy", array, allow_pickle=True)
    got = read(tmp_path / "w.npy")
    first, second = ("0", "1") if isinstance(value, list) else ("conv1.weights", "conv1.biases")
    assert np.array_equal(got[first], np.ones((2, 3))) and np.array_equal(got[second], [0, 1])
    assert got.get("name", "vgg") == "vgg" and len(got) == (2 if isinstance(value, list) else 3)


def test_a_pickle_that_contains_itself(tmp_path):
    loop = [np.arange(2.0)]
    settings = {"parent": loop} # as configuration objects beside the weights do
    loop += [loop, settings]
    settings["self"] = settings
    (tmp_path / "w.pkl").write_bytes(pickle.dumps({"a": np.arange(3.0), "b": loop, "c": settings}, 2))
    got = read(tmp_path / "w.pkl")
    assert {"a", "b.0"} <= set(got) and np.array_equal(got["a"], [0, 1, 2]) and np.array_equal(got["b.0"], [0, 1])


def peak_memory():
    """KiB."""
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path("/proc/self/status").read_text())[1])


def test_a_pickle_that_doubles_itself(tmp_path):
    empty, full = [], [np.arange(3.0)]
    for _ in range(60):
        empty, full = [empty, empty], [full, full]
    (tmp_path / "w.pkl").write_bytes(pickle.dumps({"a": np.arange(3.0), "b": empty}, 2))
    assert set(read(tmp_path / "w.pkl")) == {"a"}
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak of memory counts from here
    before = peak_memory()
    (tmp_path / "w.pkl").write_bytes(pickle.dumps({"b": full}, 2))
    refused(tmp_path / "w.pkl", "shared too often")
    many = [np.arange(3.0)] * 5000
    (tmp_path / "w.pkl").write_bytes(pickle.dumps({"b": [many] * 5000}, 2))
    refused(tmp_path / "w.pkl", "shared too often")
    assert peak_memory() - before < 500 << 10


def zip_file(path, *members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, kind in members:
            archive.writestr(name, data, kind)


def test_zip_bombs(tmp_path):
    array = io.BytesIO()
    np.save(array, np.zeros(100, np.float32))
    zip_file(tmp_path / "a.npz", ("a.npy", array.getvalue(), zipfile.ZIP_DEFLATED))
    data = bytearray((tmp_path / "a.npz").read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 24:at + 28] = struct.pack("<I", 1 << 31)  # claims 2 GB from a few bytes
    (tmp_path / "a.npz").write_bytes(data)
    refused(tmp_path / "a.npz", "deflate cannot do")
    # Several members over the same bytes.
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("a.npy", array.getvalue())
        for i in range(3):
            info = zipfile.ZipInfo(f"b{i}.npy")
            first = archive.infolist()[0]
            for field in ("header_offset", "CRC", "compress_size", "file_size"):
                setattr(info, field, getattr(first, field))
            archive.filelist.append(info)
            archive.NameToInfo[info.filename] = info
        archive._didModify = True
    refused(tmp_path / "b.npz", "overlap|none of the formats")


def test_members_that_lead_outside(tmp_path):
    """Names are names, never paths: they are kept when reading, and refused where they would be dangerous to others."""
    array = io.BytesIO()
    np.save(array, np.ones(2))
    zip_file(tmp_path / "a.npz", ("../../evil.npy", array.getvalue(), zipfile.ZIP_STORED))
    assert list(read(tmp_path / "a.npz")) == ["../../evil"]
    with pytest.raises(ValueError, match="lead out"):
        _core.file_save(str(tmp_path / "b.npz"), [("../x", ms.Tensor([1.0]))], {}, None, False)
    assert not (tmp_path / "b.npz").exists()


@pytest.mark.parametrize("name", ["../secret.safetensors", "/etc/passwd", "a/../../secret.safetensors", "..", ""])
def test_parts_outside_the_folder(name, tmp_path):
    shutil.copy(DATA / "safetensors" / "net.safetensors", tmp_path / "secret.safetensors")
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "m.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {"fc1.bias": name}}))
    refused(path, "outside its folder")


def test_missing_parts_and_entries(tmp_path):
    path = tmp_path / "m.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {"a": "gone.safetensors"}}))
    refused(path, "gone.safetensors.*No such file")
    shutil.copy(DATA / "safetensors" / "net.safetensors", tmp_path / "net.safetensors")
    path.write_text(json.dumps({"weight_map": {"a": "net.safetensors"}}))
    refused(path, "no entry 'a'")
    path.write_text('{"weight_map": {"a": 3}}')
    refused(path, "no text")


def safetensors(header, contents=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + contents


@pytest.mark.parametrize("data, words", [
    (safetensors({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, b"1234"), r"'a'.*4 bytes.*\(2,\).*8"),
    (safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"12345678"), "cut or damaged"),
    (safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, b"1234"), "data_offsets"),
    (safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}, b"1234"), "data_offsets"),
    (safetensors({"a": {"dtype": "F4", "shape": [1], "data_offsets": [0, 1]}}, b"1"), "F4 is not supported"),
    (safetensors({"a": {"dtype": "F32", "shape": [1 << 62, 8], "data_offsets": [0, 0]}}), "too many elements"),
    (safetensors({"a": {"dtype": "F32", "shape": [1] * 9, "data_offsets": [0, 4]}}, b"1234"), "9 dimensions"),
    (safetensors({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, b"1234"), "dimension 0"),
    (safetensors(b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "a": {"dtype": "F32"}}', b"1234"),
     "duplicate"),
    (safetensors(b'{"a": '), "not correct JSON"),
    (safetensors({"__metadata__": {"a": 1}}), "no text"),
    (struct.pack("<Q", 1 << 60) + b"{}", "none of the formats|header has"),
])
def test_broken_safetensors(data, words, tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(data)
    refused(path, words)


@pytest.mark.parametrize("header, words", [
    ("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "Python objects"),
    ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "plain dtype"),
    ("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "dimension 0"),
    ("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "too many elements|does not fit"),
    ("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "bytes of contents"),
    ("{'descr': '<f4', 'shape': (1,), }", "missing"),
    ("{'descr': '<q4', 'fortran_order': False, 'shape': (1,), }", "not supported"),
    ("[1, 2]", "no dict"),
])
def test_broken_npy(header, words, tmp_path):
    text = header.encode() + b"\n"
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + b"1234")
    refused(tmp_path / "x.npy", words)


def test_text_does_not_go_into_safetensors(tmp_path):
    with pytest.raises(ValueError, match="'note' is a text"):
        ms.save_checkpoint({"a": ms.Tensor([1.0]), "note": "text"}, str(tmp_path / "x"), format="safetensors")
    assert list(tmp_path.iterdir()) == []


# --- encrypted files -------------------------------------------------------------------------------------------------

ENCRYPTED = sorted(p.name for p in DATA.glob("enc_*.ckpt"))


@pytest.mark.parametrize("name", ENCRYPTED)
def test_encrypted_golden(name, tmp_path):
    _, mode, _, key = name.removesuffix(".ckpt").split("_")
    key = key.encode()
    got = ms.load_checkpoint(str(DATA / name), dec_key=key, dec_mode=mode)
    with np.load(DATA / "async.npz") as shapes:  # other values, the same net
        assert {k: v.shape for k, v in got.items()} == {k: shapes[k].shape for k in shapes.files}
    ms.save_checkpoint(dict(got), str(tmp_path / "x.ckpt"), enc_key=key, enc_mode=mode)
    again = ms.load_checkpoint(str(tmp_path / "x.ckpt"), dec_key=key, dec_mode=mode)
    assert all(np.array_equal(got[k].asnumpy(), again[k].asnumpy()) for k in got)
    for wrong in (key[:-1] + b"?", b"?" * len(key)):
        with pytest.raises(ValueError, match="key"):
            ms.load_checkpoint(str(DATA / name), dec_key=wrong, dec_mode=mode)
    with pytest.raises(ValueError, match="encrypted"):
        ms.load_checkpoint(str(DATA / name))


def test_a_wrong_key_never_gives_values(tmp_path):
    """CBC has no checksum: some wrong keys pass its padding, and what comes out then must not pass for a file."""
    ms.save_checkpoint({"w": ms.Tensor([1.0])}, str(tmp_path / "x.ckpt"), enc_key=b"0123456789abcdef", enc_mode="AES-CBC")
    for i in range(600):
        with pytest.raises(ValueError, match="key"):
            ms.load_checkpoint(str(tmp_path / "x.ckpt"), dec_key=b"%016d" % i, dec_mode="AES-CBC")


# --- the command -----------------------------------------------------------------------------------------------------

def test_inspect(spore_command, tmp_path):
    out = spore_command("inspect", DATA / "append_dict.ckpt", "--json", "--stats")
    info = json.loads(out)
    assert info["format"] == "ckpt" and info["encrypted"] is None
    by_name = {e["name"]: e for e in info["entries"]}
    assert by_name["note"]["text"] == "héllo 世界" and by_name["fc1.weight"]["shape"] == [9, 7]
    with np.load(DATA / "append_dict.npz") as wanted:
        weight = wanted["fc1.weight"]
    stats = by_name["fc1.weight"]["stats"]
    assert np.allclose([stats["min"], stats["max"], stats["mean"], stats["std"]],
                       [weight.min(), weight.max(), weight.mean(), weight.std()])
    assert "9, 7" in spore_command("inspect", DATA / "append_dict.ckpt")
    name = "enc_AES-GCM_key_0123456789ABCDEF.ckpt"
    assert "AES-GCM" in spore_command("inspect", DATA / name, key="0123456789ABCDEF")
    message = spore_command("inspect", DATA / name, key="0123456789ABCDEX", code=1)
    assert "wrong key" in message and "0123456789ABCDEX" not in message
    assert "give its key" in spore_command("inspect", DATA / name, code=1)
    assert "No such file" in spore_command("inspect", tmp_path / "gone", code=1)
    assert "none of the formats" in spore_command("inspect", __file__, code=1)
    for verb in ("inspect", "convert", "diff", "encrypt", "decrypt"):
        assert "examples:" in spore_command(verb, "--help")


def test_inspect_shows_no_control_characters(spore_command, tmp_path):
    ms.save_checkpoint({"a\x1b[31m\nb": ms.Tensor([1.0])}, str(tmp_path / "x.ckpt"))
    assert "\x1b" not in spore_command("inspect", tmp_path / "x.ckpt")


def test_convert(spore_command, tmp_path):
    spore_command("convert", DATA / "torch" / "wrapped.pt", tmp_path / "x.ckpt", "--map", "torch", "--without", "optimizer.",
                  "--add", "net.", "--rename", "fc.bias=head.offset")
    got = ms.load_checkpoint(str(tmp_path / "x.ckpt"))
    assert {"net.bn.gamma", "net.bn.beta", "net.bn.moving_mean", "net.bn.moving_variance", "net.conv.weight",
            "net.head.offset", "net.note"} <= set(got)
    assert not any("optimizer" in name or "tracked" in name for name in got)
    (tmp_path / "map").write_text("# names\nfc.weight kernel\nnote -\n")
    (tmp_path / "stars").write_text("optimizer.* -\n*.running_* *.moving_*  # two stars\n*.bias *.b\n")
    spore_command("convert", DATA / "torch" / "wrapped.pt", tmp_path / "stars.npz", "--map", tmp_path / "stars")
    got = read(tmp_path / "stars.npz")
    assert {"bn.moving_mean", "bn.moving_var", "bn.b", "fc.b", "fc.weight"} <= set(got) and not any("optimizer" in n for n in got)
    assert "more stars" in spore_command("convert", DATA / "torch" / "wrapped.pt", tmp_path / "y.npz", "--rename", "a=b*", code=2)
    spore_command("convert", DATA / "torch" / "wrapped.pt", tmp_path / "x.safetensors", "--map", tmp_path / "map", "--dtype",
                  "float16")
    got = ms.load_checkpoint(str(tmp_path / "x.safetensors"), format="safetensors")
    assert got["kernel"].dtype == ms.float16 and got["epoch"].dtype == ms.int64 and "note" not in got
    assert "cannot be written" in spore_command("convert", tmp_path / "x.ckpt", tmp_path / "x.pth", code=1)
    assert "called 'a'" in spore_command("convert", DATA / "append_dict.ckpt", tmp_path / "y.ckpt", "--rename", "fc1.bias=a",
                                         "--rename", "fc2.bias=a", code=1)
    assert not (tmp_path / "y.ckpt").exists()


def test_diff(spore_command, tmp_path):
    a, b = tmp_path / "a.ckpt", tmp_path / "b.npz"
    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    ms.save_checkpoint({"w": ms.Tensor(w), "x": ms.Tensor(w), "only": ms.Tensor(w), "t": "text"}, str(a))
    assert "4 entries equal, 0 different" in spore_command("diff", a, a)
    changed = w.copy()
    changed[1, 2] += 0.5
    _core.file_save(str(b), [("w", ms.Tensor(changed)), ("x", ms.Tensor(w.reshape(3, 2))), ("t", "texts")], {}, None, False)
    out = json.loads(spore_command("diff", a, b, "--json", code=1))
    found = {d["name"]: d for d in out["differences"]}
    assert found["w"] == {"name": "w", "change": "other values", "largest": 0.5, "elements": 1}
    assert found["only"]["change"] == "only in A" and found["t"]["change"] == "other text"
    assert found["x"]["in A"] == "float32(2, 3)"
    assert "w:" not in spore_command("diff", a, b, "--tolerance", "0.5", code=1)
    spore_command("diff", a, tmp_path / "gone", code=2)
    spore_command("convert", a, tmp_path / "half.npz", "--dtype", "float16")
    assert "w: other dtype or shape, float32(2, 3) in A, float16(2, 3) in B, largest difference 0\n" in spore_command("diff", a, tmp_path / "half.npz", code=1)


def test_diff_of_models(spore_command):
    models = pathlib.Path(__file__).parents[1] / "onnx" / "data"
    assert spore_command("diff", models / "loop.onnx", models / "loop.onnx") == "1 entry equal, 0 different\n"
    out = json.loads(spore_command("diff", models / "loop.onnx", models / "branch.onnx", "--json", code=1))
    found = {(d["name"], d["change"]): d for d in out["differences"]}
    assert found["n", "other input"]["in B"] == "float32(4,)" and found["x", "other input"]["in B"] == "none"
    assert found["Loop", "other number of nodes"]["in A"] == "1" and found["If", "other number of nodes"]["in B"] == "1"


@pytest.mark.parametrize("mode", ["AES-GCM", "AES-CBC", "SM4-CBC"])
def test_encrypt_and_decrypt(mode, spore_command, tmp_path):
    (tmp_path / "key").write_text("hex:" + "00112233445566778899aabbccddeeff" + "\n")
    plain = DATA / "append_dict.ckpt"
    key = ("--key-file", tmp_path / "key", "--mode", mode)
    spore_command("encrypt", plain, tmp_path / "x.ckpt", *key)
    assert "encrypted already" in spore_command("encrypt", tmp_path / "x.ckpt", tmp_path / "y.ckpt", *key, code=1)
    spore_command("decrypt", tmp_path / "x.ckpt", tmp_path / "y.ckpt", *key)
    assert (tmp_path / "y.ckpt").read_bytes() == plain.read_bytes()
    loaded = ms.load_checkpoint(str(tmp_path / "x.ckpt"), dec_key=bytes(range(0, 256, 17)), dec_mode=mode)
    assert loaded["note"] == "héllo 世界"
    (tmp_path / "key").write_text("wrong wrong wrong")
    message = spore_command("decrypt", tmp_path / "x.ckpt", tmp_path / "z.ckpt", *key, code=1)
    assert "key" in message and "wrong wrong" not in message and not (tmp_path / "z.ckpt").exists()
    assert "not encrypted" in spore_command("decrypt", plain, tmp_path / "z.ckpt", *key, code=1)


@pytest.mark.parametrize("text, ending", [("<!DOCTYPE html>\n<p>not found", ".bin"), ("version https://git-lfs.github.com/spec/v1\noid", ".pth"),
                                          ('{"hidden_size": 4}', ".bin"), ("not weights\n" * 100, ".ckpt")])
def test_a_text_under_the_name_of_weights(text, ending, tmp_path):
    path = tmp_path / ("model" + ending)
    path.write_text(text)
    with pytest.raises((ValueError, RuntimeError), match="is a text that begins"):
        ms.load_checkpoint(str(path))


def test_other_contents_than_the_name_says(tmp_path):
    """A file of ggml under the name of one of PyTorch's."""
    path = tmp_path / "model.bin"
    path.write_bytes(b"lmgg\x0a\0\0\0silero-16k" + bytes(200))
    with pytest.raises((ValueError, RuntimeError), match="does not begin as a PyTorch file does"):
        ms.load_checkpoint(str(path))

# SPDX-License-Identifier: Apache-2.0
"""Checkpoints across frameworks: one framework writes the values below, the other one reads and compares them.

    python cross_check.py spore write spore.ckpt            under spore
    python cross_check.py mindspore read spore.ckpt         under MindSpore
    python cross_check.py mindspore write mindspore.ckpt
    python cross_check.py spore read mindspore.ckpt
    python cross_check.py spore write secret.ckpt SM4-CBC   encrypted; "read" takes the mode too
    python cross_check.py spore write x.safetensors

record.sh runs all of this both ways and keeps MindSpore's file and the log; test_oracle_ckpt.py repeats spore's
half with the kept file.
"""
import importlib
import sys

import numpy as np

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64")
SHAPES = {"scalar": (), "one": (1,), "line": (7,), "cube": (2, 3, 4), "deep": (1, 2, 1, 3, 1, 2)}
APPENDED = {"epoch_num": 3, "lr": 0.1, "best": True, "note": "Grüße 🍄", "nothing": ""}


def values():
    """Name -> array, in file order; the name tells the dtype. bfloat16 is given as float32 that it can represent."""
    rng = np.random.default_rng(20240728)
    result = {}
    for dtype in DTYPES + ("bfloat16",):
        for shape_name, shape in SHAPES.items():
            if dtype == "bool":
                array = rng.integers(0, 2, shape).astype(bool)
            elif "int" in dtype:
                info = np.iinfo(dtype)
                array = np.asarray(rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True))
            else:
                array = np.asarray(rng.standard_normal(shape), "float32" if dtype == "bfloat16" else dtype)
                if array.size > 5:
                    array.reshape(-1)[:5] = [np.inf, -np.inf, np.nan, -0.0, 1]
                if dtype == "bfloat16":
                    array = np.asarray(array.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
            result[f"{dtype}.{shape_name}"] = array
    return result


# Key of encrypted files by mode; SM4 has keys of 16 bytes only.
KEYS = {"AES-GCM": b"0123456789abcdef0123456789abcdef", "AES-CBC": b"0123456789abcdef01234567", "SM4-CBC": b"0123456789abcdef"}


def options(path, mode):
    """How a file is saved: with a checksum, encrypted, or as safetensors, which holds no texts."""
    if path.endswith(".safetensors"):
        return {"format": "safetensors", "append_dict": {k: v for k, v in APPENDED.items() if not isinstance(v, str)}}
    if mode is not None:
        return {"append_dict": APPENDED, "enc_key": KEYS[mode], "enc_mode": mode}
    return {"append_dict": APPENDED, "crc_check": True}


def save(ms, path, mode=None):
    entries = []
    for name, array in values().items():
        tensor = ms.Tensor(array)
        entries.append({"name": name, "data": tensor.astype(ms.bfloat16) if name.startswith("bfloat16") else tensor})
    ms.save_checkpoint(entries, path, **options(path, mode))


def load(ms, path, mode=None):
    """Compare everything; the number of values. Raises AssertionError with the name of the first difference."""
    how = options(path, mode)
    if mode is not None:
        loaded = ms.load_checkpoint(path, dec_key=how["enc_key"], dec_mode=mode)
    else:
        loaded = ms.load_checkpoint(path, crc_check=how.get("crc_check", False), format=how.get("format", "ckpt"))
    wanted = values()
    names = list(wanted) + list(how["append_dict"])
    if path.endswith(".safetensors"):
        assert sorted(loaded) == sorted(names), "names differ"  # ordered by size of the elements
    else:
        assert list(loaded) == names, "names or their order differ"
    for name, array in wanted.items():
        got = loaded[name]
        dtype = getattr(ms, "bool_" if name.startswith("bool") else name.split(".")[0])
        assert got.dtype == dtype, (name, got.dtype)
        got = got.astype(ms.float32).asnumpy() if dtype == ms.bfloat16 else got.asnumpy()
        assert got.shape == array.shape, (name, got.shape)
        assert got.tobytes() == array.tobytes(), name
    assert loaded["epoch_num"].dtype == ms.int64 and loaded["epoch_num"].asnumpy() == 3
    assert loaded["lr"].dtype == ms.float32 and loaded["lr"].asnumpy() == np.float32(0.1)
    assert loaded["best"].dtype == ms.bool_ and loaded["best"].asnumpy()
    assert all(loaded[k] == v for k, v in how["append_dict"].items() if isinstance(v, str))
    return len(loaded)


def main():
    framework, action, path = sys.argv[1:4]
    mode = sys.argv[4] if len(sys.argv) > 4 else None
    ms = importlib.import_module(framework)
    if action == "write":
        save(ms, path, mode)
        print(f"{framework} {ms.__version__} wrote {path}")
    else:
        print(f"{framework} {ms.__version__} read {path}: {load(ms, path, mode)} values equal")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Converters to MindRecord: rows as MindSpore's make them."""
import gzip
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import spore.mindrecord as mr
from spore.dataset import vision

sys.path.insert(0, str(Path(__file__).parent))
from tfrecord_files import example, record  # noqa: E402


def rows_of(path):
    return list(mr.FileReader(str(path)).get_next())


# --- CSV -----------------------------------------------------------------------------------------------------------------

def test_csv(tmp_path):
    (tmp_path / "a.csv").write_text('name,age,height,member,note\n"Ann ""A""",31,1.75,True,x\nBob,-4,2,False,\n', "utf-8")
    mr.CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "a.mindrecord")).transform()
    assert rows_of(tmp_path / "a.mindrecord") == [
        {"age": 31, "height": 1.75, "member": 1, "name": 'Ann "A"', "note": "x"},
        {"age": -4, "height": 2.0, "member": 0, "name": "Bob", "note": ""}]
    assert mr.FileReader(str(tmp_path / "a.mindrecord")).schema()["member"] == {"type": "int32"}


def test_csv_columns_and_partitions(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,c\n" + "".join(f"{i},{i / 2},t{i}\n" for i in range(1000)), "utf-8")
    mr.CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "a.mindrecord"), ["c", "a"], 3).transform()
    rows = rows_of(tmp_path / "a.mindrecord0")
    assert sorted(row["a"] for row in rows) == list(range(1000)) and set(rows[0]) == {"a", "c"}


def test_csv_missing_numbers_are_nan(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,\n2,3\n", "utf-8")
    mr.CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "a.mindrecord")).transform()
    rows = rows_of(tmp_path / "a.mindrecord")
    assert np.isnan(rows[0]["b"]) and rows[1] == {"a": 2, "b": 3.0}


def test_csv_mistakes(tmp_path):
    with pytest.raises(IOError, match="do not exist"):
        mr.CsvToMR(str(tmp_path / "none.csv"), str(tmp_path / "x")).transform()
    (tmp_path / "a.csv").write_text("a,1\n1,2\n", "utf-8")
    with pytest.raises(RuntimeError, match="column q does not exist"):
        mr.CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "x"), ["q"]).transform()
    with pytest.raises(ValueError, match="starting with a number"):
        mr.CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "x")).transform()
    (tmp_path / "b.csv").write_text("a\n1,2\n", "utf-8")
    with pytest.raises(RuntimeError, match="line 2 has 2 values"):
        mr.CsvToMR(str(tmp_path / "b.csv"), str(tmp_path / "x")).transform()
    for arguments in ((3, "x"), ("x", 3), ("x", "y", "c"), ("x", "y", [1]), ("x", "y", None, "1"), ("x", "y", None, None)):
        with pytest.raises(ValueError):
            mr.CsvToMR(*arguments)


# --- ImageNet ------------------------------------------------------------------------------------------------------------

def test_imagenet(tmp_path):
    for name, label in (("n01", 0), ("n02", 1)):
        os.mkdir(tmp_path / name)
        for i in range(3):
            (tmp_path / name / f"{i}.JPEG").write_bytes(b"\xff\xd8" + bytes([label, i]))
        (tmp_path / name / "notes.txt").write_text("not an image")
        (tmp_path / name / "empty.jpg").write_bytes(b"")
    (tmp_path / "map.txt").write_text("n01 0 first\nn02 1\nn03 2\n")
    mr.ImageNetToMR(str(tmp_path / "map.txt"), str(tmp_path), str(tmp_path / "a.mindrecord")).transform()
    rows = rows_of(tmp_path / "a.mindrecord")
    assert [(row["label"], row["image"]) for row in rows] == [(label, b"\xff\xd8" + bytes([label, i])) for label in (0, 1)
                                                             for i in range(3)]
    assert rows[0]["file_name"] == str(tmp_path / "n01" / "0.JPEG")
    (tmp_path / "map.txt").write_text("n09 0\n")
    with pytest.raises(mr.PathNotExistsError):
        mr.ImageNetToMR(str(tmp_path / "map.txt"), str(tmp_path), str(tmp_path / "b.mindrecord")).transform()
    with pytest.raises(IOError):
        mr.ImageNetToMR(str(tmp_path / "none.txt"), str(tmp_path), str(tmp_path / "c.mindrecord")).transform()


# --- MNIST and CIFAR -----------------------------------------------------------------------------------------------------

def idx(array):
    return bytes((0, 0, 8, array.ndim)) + b"".join(n.to_bytes(4, "big") for n in array.shape) + array.tobytes()


def test_mnist(tmp_path):
    rng, train = np.random.default_rng(0), None
    for part, n in (("train", 7), ("t10k", 3)):
        with gzip.open(tmp_path / f"{part}-images-idx3-ubyte.gz", "wb") as file:
            images = np.repeat(np.repeat(rng.integers(0, 256, (n, 7, 7), dtype=np.uint8), 4, 1), 4, 2)
            train = images if part == "train" else train
            file.write(idx(images))
        with gzip.open(tmp_path / f"{part}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(idx(np.arange(n, dtype=np.uint8)))
    mr.MnistToMR(str(tmp_path), str(tmp_path / "digits")).transform()
    rows = rows_of(tmp_path / "digits_train.mindrecord")
    assert [row["label"] for row in rows] == list(range(7)) and all(row["data"][:2] == b"\xff\xd8" for row in rows)
    pixels = vision.Decode()(np.frombuffer(rows[2]["data"], np.uint8))
    assert pixels.shape == (28, 28, 3) and abs(pixels[..., 0].astype(int) - train[2]).mean() < 12
    assert len(rows_of(tmp_path / "digits_test.mindrecord")) == 3
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(b"nonsense"))
    with pytest.raises(RuntimeError, match="is not an IDX file"):
        mr.MnistToMR(str(tmp_path), str(tmp_path / "other")).transform()


def test_cifar(tmp_path):
    rng = np.random.default_rng(0)
    ten, hundred = tmp_path / "ten", tmp_path / "hundred"
    for folder, files in ((ten, ("data_batch_1", "data_batch_2", "test_batch")), (hundred, ("train", "test"))):
        folder.mkdir()
        for name in files:
            content = {b"data": rng.integers(0, 256, (4, 3072), dtype=np.uint8), b"labels": [3, 1, 4, 1],
                       b"fine_labels": [9, 8, 7, 6], b"coarse_labels": [1, 2, 3, 4]}
            (folder / name).write_bytes(pickle.dumps(content, 4))
    mr.Cifar10ToMR(str(ten), str(tmp_path / "ten.mr")).transform(["label"])
    rows = rows_of(tmp_path / "ten.mr")
    assert [row["id"] for row in rows] == list(range(8)) and [row["label"] for row in rows] == [3, 1, 4, 1] * 2
    assert len(rows_of(tmp_path / "ten.mr_test")) == 4
    mr.Cifar100ToMR(str(hundred), str(tmp_path / "hundred.mr")).transform()
    row = rows_of(tmp_path / "hundred.mr")[1]
    assert (row["fine_label"], row["coarse_label"], row["data"][:2]) == (8, 2, b"\xff\xd8")


def test_cifar_mistakes(tmp_path):
    with pytest.raises(mr.PathNotExistsError):
        mr.Cifar10ToMR(str(tmp_path), "x")
    (tmp_path / "train").write_bytes(b"cos\nsystem\n(S'echo harm'\ntR.")
    (tmp_path / "test").write_bytes(b"")
    with pytest.raises(RuntimeError, match="forbidden"):
        mr.Cifar100ToMR(str(tmp_path), str(tmp_path / "x")).transform()


# --- TFRecord ------------------------------------------------------------------------------------------------------------

class Feature:
    """What tf.io.FixedLenFeature looks like."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype


FEATURES = {"file name": Feature([], "string"), "image": Feature([], "string"), "n": Feature([], "int64"),
            "x": Feature([], "float32"), "list": Feature([3], "int64"), "reals": Feature([2], "float32"),
            "small": Feature([], "int8")}


@pytest.mark.parametrize("packed", [True, False])
def test_tfrecord(tmp_path, packed):
    data = b"".join(record(example(packed, **{"file name": [f"ä{i}".encode()], "image": [bytes([i, 255])], "n": [-i],
                                              "x": [i / 2], "list": [i, -1, 2**62], "reals": [0.5, float(i)], "small": [i],
                                              "unknown": [b"a", b"b"]}))
                    for i in range(5))
    (tmp_path / "a.tfrecord").write_bytes(data)
    mr.TFRecordToMR(str(tmp_path / "a.tfrecord"), str(tmp_path / "a.mindrecord"), FEATURES, ["image"]).transform()
    rows = rows_of(tmp_path / "a.mindrecord")
    assert len(rows) == 5
    row = rows[3]
    assert (row["file_name"], row["image"], row["n"], row["x"], row["small"]) == ("ä3", b"\x03\xff", -3, 1.5, 3)
    assert row["list"].tolist() == [3, -1, 2**62] and row["list"].dtype == np.int64
    assert row["reals"].tolist() == [0.5, 3.0] and row["reals"].dtype == np.float32


def test_tfrecord_mistakes(tmp_path):
    good = record(example(n=[1]))
    source, target = str(tmp_path / "a.tfrecord"), str(tmp_path / "a.mindrecord")
    only = {"n": Feature([], "int64")}

    def convert(data, features=only):
        (tmp_path / "a.tfrecord").write_bytes(data)
        mr.TFRecordToMR(source, target, features).transform()
    for cut in range(1, len(good)):
        with pytest.raises(RuntimeError, match="record 1 at byte"):
            convert(good + good[:cut])
    for at in range(len(good)):
        broken = bytearray(good)
        broken[at] ^= 4
        with pytest.raises(RuntimeError, match="record 0 at byte 0: "):
            convert(bytes(broken))
    with pytest.raises(RuntimeError, match="message ends"):
        convert(record(example(n=[1])[:-2]))
    with pytest.raises(ValueError, match="row 1, feature 'n': found 2 numbers, declared is 1 of int64"):
        convert(good + record(example(n=[1, 2])))
    with pytest.raises(ValueError, match="found nothing"):
        convert(good, {"q": Feature([], "int64")})
    with pytest.raises(ValueError, match="found 1 texts"):
        convert(record(example(n=[b"x"])))
    with pytest.raises(RuntimeError, match="cannot be opened"):
        mr.TFRecordToMR(str(tmp_path / "none"), target, only).transform()
    for features, fields in ((None, None), ({"n": 3}, None), ({"n": Feature([2, 2], "int64")}, None),
                             ({"n": Feature([2], "string")}, None), ({"n": Feature([0], "int64")}, None),
                             ({"n": Feature([], "complex64")}, None), (only, ["n"]), (only, ["q"]), (only, "n")):
        with pytest.raises(ValueError):
            mr.TFRecordToMR(source, target, features, fields)
    assert not os.path.exists(target)

# SPDX-License-Identifier: Apache-2.0
"""MindRecord from Python: files of MindSpore have the expected values, what is written is read back, mistakes are told."""
import doctest
import glob
import json
import os
import pathlib
import sys

import numpy as np
import pytest

import spore.mindrecord as mr
from spore import _core

HERE = pathlib.Path(__file__).parent
NEW, OLDER = HERE / "files" / "ms210", HERE / "files" / "older"
sys.path.insert(0, str(HERE))
import record_expect  # noqa: E402  pylint: disable=wrong-import-position


@pytest.fixture(autouse=True)
def plain_settings():
    """No test leaves a key behind."""
    yield
    mr.set_enc_key(None)
    mr.set_enc_mode("AES-GCM")
    mr.set_dec_mode(None)
    mr.set_hash_mode(None)


def rows_of(path, **options):
    return list(mr.FileReader(path if isinstance(path, list) else str(path), **options).get_next())


def write(path, schema, rows, shards=1, index=None, page=None, overwrite=False, header=None):
    writer = mr.FileWriter(str(path), shards, overwrite)
    if page:
        writer.set_page_size(page)
    if header:
        writer.set_header_size(header)
    writer.add_schema(schema, "a test")
    if index:
        writer.add_index(index)
    if rows:
        writer.write_raw_data(rows)
    writer.commit()


def assert_same(found, wanted):
    if isinstance(wanted, np.ndarray):
        assert isinstance(found, np.ndarray) and found.dtype == wanted.dtype and found.shape == wanted.shape
        assert np.array_equal(found, wanted)
    else:
        assert type(found) is type(wanted) and found == wanted


SMALL = {"id": {"type": "int32"}, "x": {"type": "float32", "shape": [-1]}, "b": {"type": "bytes"}}


def small_rows(n, start=0):
    return [{"id": i, "x": np.arange(i % 4, dtype=np.float32), "b": bytes([i % 256]) * (i % 7)} for i in
            range(start, start + n)]


# --- files of MindSpore ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", sorted(os.path.basename(path)[:-4] for path in glob.glob(str(NEW / "*.npz"))))
def test_files_of_mindspore_2_10(name):
    if "_key_" in name:
        mr.set_enc_key(name.split("_key_")[1])
    if "udf" in name:
        mr.set_enc_key("0123456789abcdef")
        mr.set_dec_mode(lambda file, size, out, key: out.write(bytes(b ^ 0x5A for b in file.read(size - 11))))
    rows = rows_of(NEW / (name + (".mindrecord0" if name == "shards" else ".mindrecord")))
    wanted = np.load(NEW / (name + ".npz"))
    assert len(rows) == wanted["rows"]
    n_compared = 0
    for key in wanted.files:
        if "/" not in key:
            continue
        row, column = key.split("/")
        value = rows[int(row)][column]
        if isinstance(value, bytes):
            value = np.frombuffer(value, np.uint8)
        assert_same(value if isinstance(value, np.ndarray) else np.asarray(value, wanted[key].dtype), wanted[key])
        n_compared += 1
    assert n_compared == sum(len(row) for row in rows)


@pytest.mark.parametrize("name", sorted(json.loads((OLDER / "older.json").read_text(encoding="utf-8"))))
def test_older_files(name):
    wanted = json.loads((OLDER / "older.json").read_text(encoding="utf-8"))[name]
    assert record_expect.rows_of(mr, OLDER / name) == wanted


def test_digest_of_an_older_file_is_verified(tmp_path):
    mr.set_hash_mode("sha256")
    assert len(rows_of(OLDER / "hash.mindrecord")) == 3
    mr.set_hash_mode("sha512")
    with pytest.raises(RuntimeError, match="32 bytes, which sha512 does not make"):
        rows_of(OLDER / "hash.mindrecord")
    mr.set_hash_mode("sha256")
    with pytest.raises(RuntimeError, match="no digest"):
        rows_of(OLDER / "index.mindrecord")
    damaged = bytearray((OLDER / "hash.mindrecord").read_bytes())
    damaged[16400] ^= 1
    (tmp_path / "hash.mindrecord").write_bytes(damaged)
    with pytest.raises(RuntimeError, match="differs"):
        rows_of(tmp_path / "hash.mindrecord")


def test_oldest_dialect_is_refused():
    with pytest.raises(RuntimeError, match="'array' is not a type"):
        rows_of(OLDER / "aclImdb.mindrecord04")


def test_columns_are_chosen():
    rows = rows_of(NEW / "alltypes.mindrecord", columns=["i32", "af32"])
    assert list(rows[0]) == ["i32", "af32"]
    assert rows_of(NEW / "alltypes.mindrecord", columns=["s"])[0].keys() == {"s"}


def test_a_list_opens_just_these_files():
    shards = [str(NEW / f"shards.mindrecord{i}") for i in range(3)]
    assert len(rows_of(shards)) == 17
    one = rows_of(shards[1:2])
    assert 0 < len(one) < 17
    assert [row["id"] for row in rows_of([shards[2], shards[1]])][-len(one):] == [row["id"] for row in one]


# --- round trips -------------------------------------------------------------------------------------------------------

ARRAYS = {"int32": np.array([0, 1, -1, 127, -128, 128, -129, 32767, 32768, -32768, -32769, 2**31 - 1, -2**31], np.int32),
          "int64": np.array([0, -129, 40000, 2**33, -2**33, 2**63 - 1, -2**63, 255, 256], np.int64),
          "float32": np.array([0, -0.0, np.inf, -np.inf, 1e-45, 3.4e38], np.float32),
          "float64": np.array([0, -0.0, np.inf, 5e-324, 1.7e308], np.float64)}


@pytest.mark.parametrize("dtype", ARRAYS)
@pytest.mark.parametrize("shape", [[-1], [1, -1], [-1, 1, 1], "full"])
def test_arrays_come_back(tmp_path, dtype, shape):
    array = ARRAYS[dtype]
    declared = [len(array)] if shape == "full" else shape
    write(tmp_path / "a.mindrecord", {"x": {"type": dtype, "shape": declared}, "y": {"type": dtype, "shape": [-1]}},
          [{"x": array.reshape(declared), "y": array[:0]}, {"x": array.reshape(declared)[..., ::-1], "y": array[::2]}])
    rows = rows_of(tmp_path / "a.mindrecord")
    assert_same(rows[0]["x"], array.reshape(declared))
    assert_same(rows[1]["x"], np.ascontiguousarray(array.reshape(declared)[..., ::-1]))
    assert rows[0]["y"].shape == (0,) and rows[0]["y"].dtype == dtype
    assert_same(rows[1]["y"], np.ascontiguousarray(array[::2]))


@pytest.mark.parametrize("dtype", ARRAYS)
def test_a_large_array_keeps_shape_and_dtype(tmp_path, dtype):
    array = np.random.default_rng(1).integers(-2**30, 2**30, (4, 100, 132, 3)).astype(dtype)
    write(tmp_path / "a.mindrecord", {"x": {"type": dtype, "shape": [4, 100, 132, 3]}}, [{"x": array}])
    assert_same(rows_of(tmp_path / "a.mindrecord")[0]["x"], array)


def test_scalars_come_back(tmp_path):
    schema = {"i": {"type": "int32"}, "l": {"type": "int64"}, "f": {"type": "float32"}, "d": {"type": "float64"},
              "s": {"type": "string"}}
    integers = [0, 1, -1, 31, 32, -32, -33, 127, 128, -128, -129, 255, 256, 32767, 32768, 65535, 65536, -32768, -32769,
                2**31 - 1, -2**31]
    rows = [{"i": i, "l": i * (2**31 if k % 2 else 1), "f": float(np.float32(i / 3)), "d": i / 3, "s": "ä" * (k * 9)}
            for k, i in enumerate(integers)]
    rows.append({"i": np.int32(7).item(), "l": 2**63 - 1, "f": float("inf"), "d": 1.0, "s": "\0 x\n🍄"})
    write(tmp_path / "a.mindrecord", schema, rows)
    found = rows_of(tmp_path / "a.mindrecord")
    for a, b in zip(found, rows):
        for column in schema:
            assert_same(a[column], b[column])


def test_numpy_numbers_are_taken(tmp_path):
    schema = {"i": {"type": "int32"}, "l": {"type": "int64"}, "f": {"type": "float32"}, "d": {"type": "float64"}}
    write(tmp_path / "a.mindrecord", schema, [{"i": np.int32(-3), "l": np.int64(2**40), "f": np.float32(0.1),
                                               "d": np.float64(0.1)}])
    assert rows_of(tmp_path / "a.mindrecord") == [{"i": -3, "l": 2**40, "f": float(np.float32(0.1)), "d": 0.1}]


def test_rows_over_many_pages(tmp_path):
    rows = [{"id": i, "x": np.arange(i % 50, dtype=np.float32), "b": os.urandom(i * 37 % 3000)} for i in range(500)]
    write(tmp_path / "a.mindrecord", SMALL, rows, page=32768)
    found = rows_of(tmp_path / "a.mindrecord")
    assert len(found) == 500
    for a, b in zip(found, rows):
        for column in SMALL:
            assert_same(a[column], b[column])


@pytest.mark.parametrize("shards", [2, 3, 12])
def test_shards_share_rows_evenly(tmp_path, shards):
    write(tmp_path / "a.mindrecord", SMALL, small_rows(40), shards)
    files = sorted(str(path) for path in tmp_path.iterdir() if path.suffix != ".db")
    assert [os.path.basename(path) for path in files] == [f"a.mindrecord{i:0{len(str(shards - 1))}}" for i in range(shards)]
    counts = [len(rows_of([path])) for path in files]
    assert sum(counts) == 40 and max(counts) - min(counts) <= 1
    assert [row["id"] for row in rows_of(files[-1])] == list(range(40))


def test_single_rows_go_to_shards_in_turn(tmp_path):
    writer = mr.FileWriter(str(tmp_path / "a.mindrecord"), 4)
    writer.add_schema(SMALL)
    for row in small_rows(10):
        writer.write_raw_data([row])
    writer.commit()
    assert [len(rows_of([str(tmp_path / f"a.mindrecord{i}")])) for i in range(4)] == [3, 3, 2, 2]


def test_parallel_writer_makes_data_sets_of_their_own(tmp_path):
    writer = mr.FileWriter(str(tmp_path / "a.mindrecord"), 2)
    writer.add_schema(SMALL)
    for i in range(4):
        writer.write_raw_data(small_rows(5, i * 5), True)
    with pytest.raises(RuntimeError, match="consistent"):
        writer.write_raw_data(small_rows(1))
    writer.commit()
    files = [str(tmp_path / f"a.mindrecord{i}") for i in range(2)]
    assert [row["id"] for row in rows_of(files[0])] == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]     # a call fills a file, in turn
    assert [row["id"] for row in rows_of(files[1])] == [5, 6, 7, 8, 9, 15, 16, 17, 18, 19]


@pytest.mark.parametrize("shards", [1, 3])
def test_append(tmp_path, shards):
    write(tmp_path / "a.mindrecord", SMALL, small_rows(7), shards, page=32768)
    first = str(tmp_path / "a.mindrecord") + ("0" if shards > 1 else "")
    for start in (7, 12):
        writer = mr.FileWriter.open_for_append(first)
        writer.write_raw_data(small_rows(5, start))
        writer.commit()
    rows = sorted(rows_of(first), key=lambda row: row["id"])
    assert [row["id"] for row in rows] == list(range(17))
    for a, b in zip(rows, small_rows(17)):
        assert_same(a["x"], b["x"])


def test_appending_fills_the_last_page(tmp_path):
    """Many small additions do not each take a page."""
    write(tmp_path / "a.mindrecord", SMALL, small_rows(1), page=32768)
    for i in range(1, 30):
        writer = mr.FileWriter.open_for_append(str(tmp_path / "a.mindrecord"))
        writer.write_raw_data(small_rows(1, i))
        writer.commit()
    assert [row["id"] for row in rows_of(tmp_path / "a.mindrecord")] == list(range(30))
    assert (tmp_path / "a.mindrecord").stat().st_size < (16 << 20) + 3 * 32768


@pytest.mark.parametrize("mode", ["AES-GCM", "AES-CBC", "SM4-CBC"])
@pytest.mark.parametrize("hash_mode", [None, "sha256", "sha3_512"])
def test_protected_files(tmp_path, mode, hash_mode):
    mr.set_enc_key("sixteen letters!")
    mr.set_enc_mode(mode)
    mr.set_hash_mode(hash_mode)
    write(tmp_path / "a.mindrecord", SMALL, small_rows(20), header=16384, page=32768)
    assert (tmp_path / "a.mindrecord").read_bytes().endswith(mode.encode() + b"ENCRYPT")
    assert (tmp_path / "a.mindrecord.db").read_bytes().endswith(b"ENCRYPT")
    assert len(rows_of(tmp_path / "a.mindrecord")) == 20
    writer = mr.FileWriter.open_for_append(str(tmp_path / "a.mindrecord"))
    writer.write_raw_data(small_rows(5, 20))
    writer.commit()
    assert [row["id"] for row in rows_of(tmp_path / "a.mindrecord")] == list(range(25))
    mr.set_enc_key("another letters!")
    with pytest.raises(RuntimeError, match="Failed to decrypt data"):
        rows_of(tmp_path / "a.mindrecord")
    mr.set_enc_key(None)
    with pytest.raises(RuntimeError, match="is encrypted"):
        rows_of(tmp_path / "a.mindrecord")
    assert sorted(os.listdir(tmp_path)) == ["a.mindrecord", "a.mindrecord.db"]


def test_functions_protect_files(tmp_path):
    def flip(file, size, out, key):
        out.write(bytes(b ^ len(key) for b in file.read(size)))
    mr.set_enc_key("0123456789abcdef")
    mr.set_enc_mode(flip)
    with pytest.raises(RuntimeError, match="must also define"):
        rows_of(tmp_path / "none.mindrecord")
    mr.set_dec_mode(lambda file, size, out, key: flip(file, size - 11, out, key))
    mr.set_hash_mode(lambda piece, before: bytes([sum(piece) % 256]) + before[:3])
    write(tmp_path / "a.mindrecord", SMALL, small_rows(9), header=16384, page=32768)
    assert (tmp_path / "a.mindrecord").read_bytes().endswith(b"UDF-ENCENCRYPT")
    assert [row["id"] for row in rows_of(tmp_path / "a.mindrecord")] == list(range(9))
    mr.set_hash_mode(lambda piece, before: b"no")
    with pytest.raises(RuntimeError, match="differs"):
        rows_of(tmp_path / "a.mindrecord")


def test_mode_of_files_is_private(tmp_path):
    write(tmp_path / "a.mindrecord", SMALL, small_rows(1))
    for name in ("a.mindrecord", "a.mindrecord.db"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_index_is_not_needed_to_read(tmp_path):
    write(tmp_path / "a.mindrecord", SMALL, small_rows(9))
    os.remove(tmp_path / "a.mindrecord.db")
    assert len(rows_of(tmp_path / "a.mindrecord")) == 9


def test_unusual_file_names(tmp_path):
    for name in ("Grüße.mindrecord", "with blanks and #.mr", "no_suffix"):
        write(tmp_path / name, SMALL, small_rows(3))
        assert len(rows_of(tmp_path / name)) == 3


# --- mistakes ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("value, found", [
    ({"id": "3"}, "column 'id': found str, declared is int32"),
    ({"id": 3.0}, "column 'id': found float, declared is int32"),
    ({"id": True}, "column 'id': found bool, declared is int32"),
    ({"id": None}, "column 'id': found NoneType, declared is int32"),
    ({"id": np.int64(3)}, "column 'id': found int64, declared is int32"),
    ({"id": 2**31}, "column 'id': found 2147483648, declared is int32, which cannot hold it"),
    ({"id": 2**70}, "column 'id': found 1180591620717411303424, declared is int32, which cannot hold it"),
    ({"b": "text"}, "column 'b': found str, declared is bytes"),
    ({"b": bytearray(b"x")}, "column 'b': found bytearray, declared is bytes"),
    ({"x": [1.0]}, r"column 'x': found list, declared is an array of float32 with shape \(-1, 2\)"),
    ({"x": np.zeros((2, 2))}, r"found an array of float64 with shape \(2, 2\), declared is an array of float32"),
    ({"x": np.zeros(4, ">f4")}, "found an array of >f4 with shape"),
    ({"x": np.zeros(3, np.float32)}, r"found float32\[3\], declared is float32\[-1,2\]: it cannot be reshaped"),
    ({"s": "\ud800"}, "column 's': found a str that cannot be written as UTF-8"),
    ({"s": 5}, "column 's': found int, declared is string"),
    ({"f": 1}, "column 'f': found int, declared is float64"),
])
def test_rows_that_do_not_fit(tmp_path, value, found):
    schema = {"id": {"type": "int32"}, "b": {"type": "bytes"}, "x": {"type": "float32", "shape": [-1, 2]},
              "s": {"type": "string"}, "f": {"type": "float64"}}
    good = {"id": 1, "b": b"", "x": np.zeros((1, 2), np.float32), "s": "", "f": 0.5}
    writer = mr.FileWriter(str(tmp_path / "a.mindrecord"))
    writer.add_schema(schema)
    with pytest.raises(mr.MRMValidateDataError, match="row 2, " + found if "column" in found else found) as caught:
        writer.write_raw_data([good, good, {**good, **value}, good])
    assert isinstance(caught.value, RuntimeError)
    with pytest.raises(mr.MRMValidateDataError, match="row 0, column 'x': found nothing"):
        writer.write_raw_data([{key: good[key] for key in good if key != "x"}])
    writer.write_raw_data([{**good, "more": "is ignored"}])
    writer.commit()
    assert len(rows_of(tmp_path / "a.mindrecord")) == 1  # none of the refused lists has left a row


def test_rows_too_large_for_a_page(tmp_path):
    writer = mr.FileWriter(str(tmp_path / "a.mindrecord"))
    writer.set_page_size(32768)
    writer.add_schema(SMALL)
    with pytest.raises(RuntimeError, match="row 0: .* a page of 32768 has room for 32760"):
        writer.write_raw_data([{"id": 1, "x": np.zeros(1, np.float32), "b": bytes(40000)}])
    writer.write_raw_data(small_rows(3))
    writer.commit()
    assert len(rows_of(tmp_path / "a.mindrecord")) == 3


def test_a_header_too_small_is_told(tmp_path):
    writer = mr.FileWriter(str(tmp_path / "a.mindrecord"))
    writer.set_header_size(16384)
    writer.set_page_size(32768)
    writer.add_schema({"b": {"type": "bytes"}})
    with pytest.raises(RuntimeError, match="set_header_size"):
        writer.write_raw_data([{"b": bytes(20000)}] * 500)
        writer.commit()
    assert not (tmp_path / "a.mindrecord").exists()


def test_existing_files_stay(tmp_path):
    path = tmp_path / "a.mindrecord"
    write(path, SMALL, small_rows(3))
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="already exist"):
        write(path, SMALL, small_rows(5))
    assert path.read_bytes() == before
    writer = mr.FileWriter(str(path), overwrite=True)
    writer.add_schema(SMALL)
    writer.write_raw_data(small_rows(5))
    assert path.read_bytes() == before and len(rows_of(path)) == 3
    writer.commit()
    assert len(rows_of(path)) == 5
    assert sorted(os.listdir(tmp_path)) == ["a.mindrecord", "a.mindrecord.db"]


def test_a_writer_without_commit_leaves_nothing(tmp_path):
    writer = mr.FileWriter(str(tmp_path / "a.mindrecord"), 2)
    writer.add_schema(SMALL)
    writer.write_raw_data(small_rows(5))
    del writer
    assert os.listdir(tmp_path) == []


def test_two_writers_of_one_file(tmp_path):
    first, second = (mr.FileWriter(str(tmp_path / "a.mindrecord"), overwrite=True) for _ in range(2))
    for writer in (first, second):
        writer.add_schema(SMALL)
    first.write_raw_data(small_rows(2))
    with pytest.raises(RuntimeError, match="another writer"):
        second.write_raw_data(small_rows(2))
    first.commit()
    assert len(rows_of(tmp_path / "a.mindrecord")) == 2


SCHEMA_FAULTS = [
    ({}, mr.MRMInvalidSchemaError), ([], mr.MRMInvalidSchemaError), ({"a": 3}, mr.MRMInvalidSchemaError),
    ({"a": {}}, mr.MRMInvalidSchemaError), ({"a": {"type": "int8"}}, mr.MRMInvalidSchemaError),
    ({"a": {"type": "bytes", "shape": [1]}}, mr.MRMInvalidSchemaError),
    ({"a": {"type": "int32", "x": 1}}, mr.MRMInvalidSchemaError), ({"x-y": {"type": "int32"}}, mr.MRMInvalidSchemaError),
    ({"a": {"type": "int32", "shape": (1,)}}, mr.MRMInvalidSchemaError),
    ({"a": {"type": "int32", "shape": [2, -1, -1]}}, mr.MRMBuildSchemaError),
    ({"a": {"type": "int32", "shape": [0]}}, mr.MRMBuildSchemaError),
]


@pytest.mark.parametrize("schema, error", SCHEMA_FAULTS)
def test_wrong_schemas(schema, error):
    with pytest.raises(error):
        mr.FileWriter("unused.mindrecord").add_schema(schema)


def test_wrong_calls(tmp_path):
    with pytest.raises(mr.MRMGetMetaError):
        mr.FileWriter("a").add_index(["x"])
    with pytest.raises(RuntimeError, match="schema is not found"):
        mr.FileWriter(str(tmp_path / "a.mindrecord")).write_raw_data([{"x": 1}])
    writer = mr.FileWriter(str(tmp_path / "a.mindrecord"))
    writer.add_schema({"x": {"type": "int32"}, "b": {"type": "bytes"}})
    with pytest.raises(mr.MRMAddSchemaError):
        writer.add_schema({"y": {"type": "int32"}})
    for fields, error in (("x", mr.ParamTypeError), ([], mr.ParamTypeError), ([3], mr.ParamTypeError),
                          (["b"], mr.MRMDefineIndexError), (["zz"], RuntimeError), (["x", "x"], RuntimeError)):
        with pytest.raises(error):
            writer.add_index(fields)
    for value, error in ((1, RuntimeError), (16385, RuntimeError), (1 << 30, RuntimeError), ("a", TypeError)):
        with pytest.raises(error):
            writer.set_header_size(value)
        with pytest.raises(error):
            writer.set_page_size(value)
    with pytest.raises(mr.ParamTypeError):
        writer.write_raw_data({"x": 1})
    with pytest.raises(mr.ParamTypeError):
        writer.write_raw_data([3])
    with pytest.raises(RuntimeError, match="There is no valid data"):
        writer.write_raw_data([])
    with pytest.raises(TypeError):
        writer.write_raw_data([{"x": 1, "b": b""}], 1)
    writer.commit()
    with pytest.raises(RuntimeError, match="flushed"):
        writer.write_raw_data([{"x": 1, "b": b""}])
    for arguments in (("",), (3,), ("a/",), ("a?",), (" a",), ("a", 0), ("a", 1001), ("a", None), ("a", "1"), ("a", 1, 1)):
        with pytest.raises(mr.ParamValueError):
            mr.FileWriter(*arguments)
    mr.set_enc_key("0123456789abcdef")
    with pytest.raises(RuntimeError, match="sharding"):
        mr.FileWriter("a", 2)


@pytest.mark.parametrize("key", [3, "short", b"0123456789abcdef"])
def test_wrong_keys(key):
    with pytest.raises(ValueError):
        mr.set_enc_key(key)


def test_wrong_readers(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("this is not a MindRecord file at all")
    for path, text in ((tmp_path / "none", "is not exists"), (tmp_path, "should be a regular file"), (tmp_path / "empty", "file: 0 is smaller"),
                       (tmp_path / "text", "not a MindRecord file")):
        with pytest.raises(RuntimeError, match=text):
            mr.FileReader(str(path))
    path = str(NEW / "alltypes.mindrecord")
    with pytest.raises(RuntimeError, match="no column 'q'"):
        mr.FileReader(path, columns=["q"])
    with pytest.raises(mr.ParamTypeError):
        mr.FileReader(path, columns="i32")
    for count in (0, None, "2", 10**6):
        with pytest.raises(mr.ParamValueError):
            mr.FileReader(path, num_consumer=count)
    with pytest.raises(RuntimeError, match="not encrypted"):
        mr.set_enc_key("0123456789abcdef")
        mr.FileReader(path)
    mr.set_enc_key(None)
    reader = mr.FileReader(path)
    reader.close()
    reader.close()
    assert list(reader.get_next()) == []
    assert reader.len() > 0


def test_a_missing_shard_is_named(tmp_path):
    write(tmp_path / "a.mindrecord", SMALL, small_rows(6), 3)
    os.remove(tmp_path / "a.mindrecord1")
    with pytest.raises(RuntimeError, match="a.mindrecord1 can not be found"):
        rows_of(tmp_path / "a.mindrecord0")


def test_shards_that_do_not_fit(tmp_path):
    write(tmp_path / "a", SMALL, small_rows(3))
    write(tmp_path / "b", {**SMALL, "id": {"type": "int64"}}, small_rows(3))
    with pytest.raises(RuntimeError, match="b is different from others, please make sure all the mindrecord files generated by the same script.: field 'id' of type int64, the files before have 'id' of type int32"):
        rows_of([str(tmp_path / "a"), str(tmp_path / "b")])


def test_rows_out_of_range():
    reader = _core.RecordReader([os.fsencode(NEW / "alltypes.mindrecord")], True, None, None, None, None)
    assert len(reader) == 5
    for i in (5, 10**12):
        with pytest.raises(IndexError, match="out of range"):
            reader[i]


# --- pages of categories -------------------------------------------------------------------------------------------------

def test_mind_page(tmp_path):
    """As MindSpore 2.10 answers for the same rows."""
    schema = {"f": {"type": "float32"}, "i": {"type": "int64"}, "s": {"type": "string"}, "b": {"type": "bytes"}}
    rows = [{"f": 1.5 * (k % 3), "i": [5, 3, 20, 3, -1][k % 5], "s": ["b", "a", "b", "10", "9"][k % 5], "b": bytes([k])}
            for k in range(12)]
    write(tmp_path / "p", schema, rows, 2, ["s", "i", "f"])
    page = mr.MindPage(str(tmp_path / "p0"))
    assert page.candidate_fields == ["s", "i", "f"] and page.category_field is None
    with pytest.raises(RuntimeError):
        page.read_category_info()
    for field, wanted in (("s", [("10", 2), ("9", 2), ("a", 3), ("b", 5)]), ("f", [("0.0", 4), ("1.5", 4), ("3.0", 4)]),
                          ("i", [("-1", 2), ("20", 2), ("3", 5), ("5", 3)])):
        page.category_field = field
        assert json.loads(page.read_category_info()) == {
            "categories": [{"count": n, "id": i, "name": name} for i, (name, n) in enumerate(wanted)], "key": field + "_0"}
    assert [row["b"] for row in page.read_at_page_by_name("3", 0, 3)] == [b"\x01", b"\x03", b"\x06"]
    assert [row["b"] for row in page.read_at_page_by_id(2, 1, 3)] == [b"\x08", b"\x0b"]
    assert page.read_at_page_by_id(0, 0, 1) == [rows[4]]
    for call in (lambda: page.read_at_page_by_id(4, 0, 1), lambda: page.read_at_page_by_id(0, 100, 2),
                 lambda: page.read_at_page_by_name("zz", 0, 1)):
        with pytest.raises(RuntimeError):
            call()
    for call in (lambda: page.read_at_page_by_id(-1, 0, 1), lambda: page.read_at_page_by_id(0, -1, 1),
                 lambda: page.read_at_page_by_name(3, 0, 1), lambda: page.read_at_page_by_name("3", 0, 0)):
        with pytest.raises(mr.ParamValueError):
            call()
    for field in ("b", "q"):
        with pytest.raises(mr.MRMDefineCategoryError):
            page.category_field = field


def test_exceptions_have_mindspores_numbers():
    error = mr.MRMInvalidSchemaError("x")
    assert str(error) == "[MRMInvalidSchemaError]: Schema format is error. Detail: x"
    assert error.error_code == (1 << 30 | 1 << 28 | 42 << 17 | 3 << 12 | 200)
    assert issubclass(mr.ParamTypeError, mr.MindRecordException)


@pytest.mark.parametrize("name", [name for name in mr.__all__ if callable(getattr(mr, name))])
def test_examples_run(name):
    finder = doctest.DocTestFinder(recurse=True)
    tests = [test for test in finder.find(getattr(mr, name), name, globs={}) if test.examples]
    assert tests, f"{name} has no example"
    for test in tests:
        assert doctest.DocTestRunner().run(test).failed == 0

# SPDX-License-Identifier: Apache-2.0
"""`spore record`: every verb over small data sets, and what it says about broken ones."""
import base64
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

import spore.mindrecord as mr
from spore.dataset import vision
from test_record_convert import Feature, example, idx, record  # noqa: F401

HERE = pathlib.Path(__file__).parent
SPORE = os.path.join(os.environ.get("SPORE_BUILD", str(HERE.parent.parent / "build")), "spore")
FILES = HERE / "files"


def run(*arguments, code=0, env=None):
    done = subprocess.run([SPORE, "record", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **(env or {})}, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stdout + done.stderr


def rows_of(path):
    return list(mr.FileReader(str(path)).get_next())


def write(path, rows, schema, **options):
    writer = mr.FileWriter(str(path), **options)
    writer.set_header_size(16384)
    writer.set_page_size(32768)
    writer.add_schema(schema)
    writer.write_raw_data(rows)
    writer.commit()


SCHEMA = {"n": {"type": "int32"}, "s": {"type": "string"}, "x": {"type": "float32", "shape": [-1, 2]}, "b": {"type": "bytes"},
          "f": {"type": "float64"}}


@pytest.fixture(name="data")
def data_set(tmp_path):
    rows = [{"n": i, "s": f"text \"{i}\" ä\n", "x": np.full((i % 3, 2), i / 3, np.float32), "b": bytes(range(i)),
             "f": [0.1, float("nan"), float("-inf"), 1.0][i % 4]} for i in range(40)]
    write(tmp_path / "a.mindrecord", rows, SCHEMA, shard_num=2)
    return tmp_path / "a.mindrecord0"


def test_info(data):
    text = run("info", data)
    assert "rows     40 in 2 files" in text and "float32[-1,2]" in text and "n                        int32  (index)" in text
    found = json.loads(run("info", data, "--json"))
    assert found["rows"] == 40 and found["fields"]["x"] == {"type": "float32", "shape": [-1, 2], "index": False}
    assert [file["rows"] for file in found["files"]] == [20, 20] and found["files"][0]["index"] is True
    os.remove(str(data) + ".db")
    assert "NO INDEX" in run("info", data)


def test_cat_and_make_are_inverse(data, tmp_path):
    text = run("cat", data)
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
    assert run("make", tmp_path / "b.mindrecord", tmp_path / "a.jsonl", "--shards", 3) == "40 rows\n"
    for a, b in zip(rows_of(data), rows_of(tmp_path / "b.mindrecord2")):
        assert (a["n"], a["s"], a["b"]) == (b["n"], b["s"], b["b"])
        assert np.array_equal(a["x"], b["x"].astype(np.float32)) and a["x"].shape == b["x"].shape
        assert np.array_equal(a["f"], b["f"], equal_nan=True)
    assert run("cat", tmp_path / "b.mindrecord0") == text  # float32 widened to float64 has the same shortest text


def test_cat_chooses(data):
    lines = run("cat", data, "--columns", "b,n", "--rows", "3:5").splitlines()
    assert [json.loads(line) for line in lines] == [{"b": {"base64": base64.b64encode(bytes(range(i))).decode()}, "n": i}
                                                    for i in (3, 4)]
    assert json.loads(run("cat", data, "--rows", "39:", "--short"))["b"] == {"bytes": 39}
    assert len(run("cat", data, "--rows", ":7").splitlines()) == 7
    assert "FROM:TO" in run("cat", data, "--rows", "x", code=2)
    assert "no column 'q'" in run("cat", data, "--columns", "q", code=1)


def test_check_finds_what_is_wrong(data, tmp_path):
    assert run("check", data) == "all is well\n"
    shard, index = str(tmp_path / "a.mindrecord1"), str(tmp_path / "a.mindrecord1.db")
    whole, whole_index = pathlib.Path(shard).read_bytes(), pathlib.Path(index).read_bytes()

    def with_index(change, wanted):
        with sqlite3.connect(index) as database:
            database.execute(change)
        database.close()
        assert wanted in run("check", data, code=1)
        pathlib.Path(index).write_bytes(whole_index)
    with_index("UPDATE INDEXES SET PAGE_OFFSET_BLOB = 7 WHERE ROW_ID = 3", "row 3: PAGE_OFFSET_BLOB is 7, the pages say")
    with_index("UPDATE INDEXES SET s_0 = 'other' WHERE ROW_ID = 2", "row 2: the value of 's' is not the one in the page")
    with_index("UPDATE INDEXES SET f_0 = 0.5 WHERE ROW_ID = 0", "row 0: the value of 'f'")
    with_index("DELETE FROM INDEXES WHERE ROW_ID = 19", "holds 19 rows, the pages hold 20")
    with_index("UPDATE SHARD_NAME SET NAME = 'x'", "belongs to a file named 'x'")
    with_index("DROP TABLE INDEXES", "no such table: INDEXES")
    pathlib.Path(index).write_bytes(b"no database at all, but long enough to look like one" * 100)
    assert "not a database" in run("check", data, code=1)
    os.remove(index)
    assert "a.mindrecord1.db: cannot be opened" in run("check", data, code=1)
    pathlib.Path(index).write_bytes(whole_index)
    damaged = bytearray(whole)
    damaged[16384 + 100] ^= 0xFF
    pathlib.Path(shard).write_bytes(damaged)
    assert "a.mindrecord1: row" in run("check", data, code=1)
    pathlib.Path(shard).write_bytes(whole[:-1])
    assert "it is cut" in run("check", data, code=1)
    os.remove(shard)
    assert "a.mindrecord1: cannot be opened" in run("check", data, code=1)


def pictures(kind):
    rng = np.random.default_rng(5)
    encode = {"jpeg": vision.encode_jpeg, "png": vision.encode_png}[kind]
    return [bytes(np.asarray(encode(rng.integers(0, 256, (40, 40, 3), np.uint8)))) for _ in range(4)]


@pytest.mark.parametrize("kind", ["jpeg", "png"])
def test_check_decodes_pictures(kind, tmp_path):
    """A picture that was damaged, anywhere that shows: in its pixels, at its end, at its beginning."""
    whole, path = pictures(kind), tmp_path / "a.mindrecord"

    def with_picture(picture):
        write(path, [{"n": i, "image": picture if i == 2 else p} for i, p in enumerate(whole)],
              {"n": {"type": "int32"}, "image": {"type": "bytes"}}, overwrite=True)
    with_picture(whole[2])
    assert run("check", path) == "all is well\n"
    for place, change in ((0, b"zz"), (len(whole[2]) // 2, b"\xff\xd9" if kind == "jpeg" else b"zz"), (len(whole[2]) * 2 // 3, None)):
        damaged = whole[2][:place] + (change + whole[2][place + 2:] if change else b"")
        with_picture(damaged)
        said = run("check", path, code=1)
        assert "column 'image'" in said and "all is well" not in said and "1 problem" in said
        assert ("row 2" if place else "the first is 2") in said


def test_check_tells_what_it_cannot_see(data, tmp_path):
    done = subprocess.run([SPORE, "record", "check", str(data)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "no digest" in done.stderr
    run("encrypt", data, "--hash", "sha256")
    done = subprocess.run([SPORE, "record", "check", str(data)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all is well\n", "")
    broken = bytearray((tmp_path / "a.mindrecord0").read_bytes())
    broken[20000] ^= 1
    (tmp_path / "a.mindrecord0").write_bytes(broken)
    assert "differs" in run("check", data, code=1)


def test_check_verifies_digests(tmp_path):
    for name in ("hash.mindrecord", "hash.mindrecord.db"):
        shutil.copy(FILES / "older" / name, tmp_path)
    path = tmp_path / "hash.mindrecord"
    assert run("check", path) == "all is well\n"
    assert run("check", path, "--hash", "sha256") == "all is well\n"
    assert "differs" in run("check", path, "--hash", "sha3_256", code=1)
    broken = bytearray(path.read_bytes())
    broken[20000] ^= 1  # in a hole: only the digest can tell
    path.write_bytes(broken)
    assert "differs" in run("check", path, code=1)


def test_reindex(data, tmp_path):
    index = tmp_path / "a.mindrecord0.db"
    before = index.read_bytes()
    index.write_bytes(b"rubbish")
    os.remove(tmp_path / "a.mindrecord1.db")
    assert run("reindex", data) == ""
    assert run("check", data) == "all is well\n" and index.read_bytes() == before
    assert not [name for name in os.listdir(tmp_path) if "partial" in name or "tmp" in name]


@pytest.mark.parametrize("name", ["alltypes", "images", "manypages", "index_default", "append"])
def test_reindex_makes_mindspores_index(tmp_path, name):
    """Same tables, same rows as MindSpore's."""
    shutil.copy(FILES / "ms210" / f"{name}.mindrecord", tmp_path)
    run("reindex", tmp_path / f"{name}.mindrecord")
    contents = []
    for path in (FILES / "ms210" / f"{name}.mindrecord.db", tmp_path / f"{name}.mindrecord.db"):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            columns = [row[1:3] + row[5:6] for row in database.execute("PRAGMA table_info(INDEXES)")]
            contents.append((columns, list(database.execute("SELECT * FROM INDEXES ORDER BY ROW_ID")),
                             list(database.execute("SELECT * FROM SHARD_NAME"))))
        database.close()
    assert contents[0][0] == contents[1][0] and contents[0][2] == contents[1][2]
    for a, b in zip(contents[0][1], contents[1][1], strict=True):
        assert all(x == pytest.approx(y, rel=1e-12) if isinstance(x, float) else x == y for x, y in zip(a, b, strict=True))


def test_split_and_merge(data, tmp_path):
    run("split", data, tmp_path / "c.mindrecord", 3)
    assert [row["n"] for row in rows_of(tmp_path / "c.mindrecord1")] == list(range(40))
    run("split", data, tmp_path / "d.mindrecord", 2, "--parts")
    assert [row["n"] for row in rows_of(tmp_path / "d.mindrecord1")] == list(range(20, 40))
    run("merge", tmp_path / "e.mindrecord", tmp_path / "d.mindrecord1", tmp_path / "d.mindrecord0", data)
    assert [row["n"] for row in rows_of(tmp_path / "e.mindrecord")] == [*range(20, 40), *range(20), *range(40)]
    assert run("check", tmp_path / "e.mindrecord") == "all is well\n"
    assert "exists already" in run("merge", tmp_path / "e.mindrecord", data, code=1)
    write(tmp_path / "f.mindrecord", [{"q": 1}], {"q": {"type": "int32"}})
    assert "fields" in run("merge", tmp_path / "g.mindrecord", data, tmp_path / "f.mindrecord", code=1)
    assert not (tmp_path / "g.mindrecord").exists()


def test_encrypt_and_decrypt(data, tmp_path):
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    (tmp_path / "key").write_text("0123456789abcdef\n")
    assert "key is wanted" in run("encrypt", data, code=2)
    run("encrypt", data, "--key-file", tmp_path / "key", "--hash", "sha512")
    assert (tmp_path / "a.mindrecord0").read_bytes().endswith(b"AES-GCMENCRYPT")
    assert "a key is needed" in run("info", data, code=1)
    assert "rows     40" in run("info", data, env={"SPORE_KEY": "0123456789abcdef"})
    assert "wrong key" in run("info", data, code=1, env={"SPORE_KEY": "0123456789abcdeX"})
    assert "encrypted, with digest" in run("info", data, "--key-file", tmp_path / "key")
    assert run("check", data, "--key-file", tmp_path / "key", "--hash", "sha512") == "all is well\n"
    run("decrypt", data, "--key-file", tmp_path / "key", "--hash", "sha512")
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_make_from_a_folder_of_images(tmp_path):
    for kind in ("cat", "dog"):
        os.makedirs(tmp_path / "pets" / kind)
        for i in range(3):
            (tmp_path / "pets" / kind / f"{i}.jpg").write_bytes(f"{kind}{i}".encode())
    (tmp_path / "pets" / "notes.txt").write_text("no image")
    os.makedirs(tmp_path / "pets" / "empty")
    assert run("make", tmp_path / "p.mindrecord", tmp_path / "pets") == "6 rows\n"
    rows = rows_of(tmp_path / "p.mindrecord")
    assert [(row["file_name"], row["label"], row["image"]) for row in rows] == [
        (f"{kind}/{i}.jpg", label, f"{kind}{i}".encode()) for label, kind in enumerate(("cat", "dog")) for i in range(3)]
    run("make", tmp_path / "q.mindrecord", tmp_path / "pets" / "cat")
    assert set(rows_of(tmp_path / "q.mindrecord")[0]) == {"file_name", "image"}
    assert "holds no images" in run("make", tmp_path / "r.mindrecord", tmp_path / "pets" / "empty", code=1)


def test_make_from_csv(tmp_path):
    (tmp_path / "a.csv").write_text('\ufeffname,n,x,ok,"odd"\r\n"An, ""n""",1,2,True,a\r\nBob,-3,0.5,False,\r\n\r\nC,4,,true\n',
                                    encoding="utf-8")
    assert run("make", tmp_path / "a.mindrecord", tmp_path / "a.csv", "--index", "n") == "3 rows\n"
    rows = rows_of(tmp_path / "a.mindrecord")
    assert rows[0] == {"n": 1, "name": 'An, "n"', "odd": "a", "ok": 1, "x": 2.0}
    assert rows[1] == {"n": -3, "name": "Bob", "odd": "", "ok": 0, "x": 0.5}
    assert np.isnan(rows[2]["x"]) and rows[2]["ok"] == 1
    assert mr.MindPage(str(tmp_path / "a.mindrecord")).candidate_fields == ["n"]
    (tmp_path / "b.csv").write_text("a,b\n1,2,3\n")
    assert "row 0: more values" in run("make", tmp_path / "b.mindrecord", tmp_path / "b.csv", code=1)
    (tmp_path / "c.csv").write_text("a b\n1\n")
    assert "field 'a b'" in run("make", tmp_path / "c.mindrecord", tmp_path / "c.csv", code=1)


def test_make_from_json_lines(tmp_path):
    source = tmp_path / "a.jsonl"

    def make(*lines, code=0):
        source.write_text("\n".join(json.dumps(line) if not isinstance(line, str) else line for line in lines) + "\n")
        return run("make", tmp_path / "a.mindrecord", source, "--overwrite", code=code)
    make({"a": 1, "l": [[1, 2]], "e": []}, {"a": 2.5, "l": [[3, 4.5], [5, 6]], "e": [7]})
    rows = rows_of(tmp_path / "a.mindrecord")
    assert rows[0]["a"] == 1.0 and rows[1]["l"].shape == (2, 2) and rows[1]["l"].dtype == np.float64
    assert rows[0]["e"].shape == (0,) and rows[1]["e"].tolist() == [7]
    for lines, wanted in (([{"a": 1}, {"a": "x"}], "line 2, column 'a': another kind"), ([{"a": None}], "null has no place"),
                          ([{"a": 1}, {"b": 1}], "line 2, column 'b': is not in the lines before"),
                          ([{"a": 1, "b": 2}, {"a": 1}], "line 2, column 'b': is missing"), (["[1]"], "not a JSON object"),
                          (["{"], "line 1: "), ([{"a": [1, [2]]}], "list must hold numbers"),
                          ([{"a": {"base64": "%%"}}], "is not base64"), ([""], "holds no JSON objects"),
                          ([{"a": [[1], [2, 3]]}], "equally long")):
        assert wanted in make(*lines, code=1)


def test_make_from_idx(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (5, 4, 3), dtype=np.uint8)
    (tmp_path / "images-idx3-ubyte").write_bytes(idx(images))
    (tmp_path / "labels-idx1-ubyte").write_bytes(idx(np.arange(5, dtype=np.uint8)))
    run("make", tmp_path / "a.mindrecord", tmp_path / "images-idx3-ubyte", tmp_path / "labels-idx1-ubyte")
    rows = rows_of(tmp_path / "a.mindrecord")
    assert [row["label"] for row in rows] == list(range(5))
    assert np.array_equal(vision.Decode()(np.frombuffer(rows[3]["image"], np.uint8))[..., 0], images[3])
    (tmp_path / "labels-idx1-ubyte").write_bytes(idx(np.arange(4, dtype=np.uint8)))
    assert "holds 4 labels" in run("make", tmp_path / "b.mindrecord", tmp_path / "images-idx3-ubyte",
                                   tmp_path / "labels-idx1-ubyte", code=1)
    (tmp_path / "images-idx3-ubyte").write_bytes(idx(images)[:-1])
    assert "names 60 elements and holds 59" in run("make", tmp_path / "b.mindrecord", tmp_path / "images-idx3-ubyte", code=1)


def test_make_from_tfrecord(tmp_path):
    (tmp_path / "a.tfrecord").write_bytes(b"".join(record(example(**{"im/age": [bytes([i])], "text": [b"t%d" % i], "n": [i],
                                                                     "v": [0.5] * 3, "list": list(range(i + 1))}))
                                                   for i in range(4)))
    run("make", tmp_path / "a.mindrecord", tmp_path / "a.tfrecord", "--strings", "text")
    rows = rows_of(tmp_path / "a.mindrecord")
    assert rows[2]["im_age"] == b"\x02" and rows[2]["text"] == "t2" and rows[2]["n"] == 2
    assert rows[2]["v"].tolist() == [0.5] * 3 and rows[2]["list"].tolist() == [0, 1, 2]
    schema = mr.FileReader(str(tmp_path / "a.mindrecord")).schema()
    assert schema["v"] == {"type": "float32", "shape": [3]} and schema["list"]["shape"] == [-1]
    (tmp_path / "b.tfrecord").write_bytes(record(example(n=[1])) + record(example(m=[1])))
    assert "row 1, feature 'n': is missing" in run("make", tmp_path / "b.mindrecord", tmp_path / "b.tfrecord", code=1)


def test_show(tmp_path):
    sheet = tmp_path / "sheet.png"
    assert run("show", FILES / "ms210" / "images.mindrecord", sheet, "--size", 32).startswith("5 rows, 2 pictures each, ")
    pixels = vision.Decode()(np.fromfile(sheet, np.uint8))
    assert pixels.shape[2] == 3 and (pixels < 250).any() and (pixels[:4] == 255).all()
    assert "10 pixels" not in run("show", FILES / "ms210" / "images.mindrecord", sheet, "--columns", "left", "--count", 1, "--force")
    broken = subprocess.run([SPORE, "record", "show", str(FILES / "ms210" / "images.mindrecord"), str(sheet), "--columns",
                             "mask", "--force"], capture_output=True, text=True, check=False)
    assert broken.returncode == 0 and "row 0, column 'mask'" in broken.stderr
    assert "no column holds pictures" in run("show", FILES / "ms210" / "alltypes.mindrecord", sheet, "--force", code=1)
    assert "there is no row 5" in run("show", FILES / "ms210" / "images.mindrecord", sheet, "--from", 5, "--force", code=1)


def test_wrong_command_lines(data, tmp_path):
    assert "usage: spore record" in run(code=2)
    assert "usage: spore record" in run("--help")
    assert "unknown verb 'infos'" in run("infos", code=2)
    for verb in ("info", "cat", "make", "check", "reindex", "recover", "split", "merge", "show", "encrypt", "decrypt"):
        assert f"usage: spore record {verb}" in run(verb, "--help")
        assert "wanted" in run(verb, code=2)
    assert "give --kind" in run("make", tmp_path / "x", data, code=2)
    assert "--kind is" in run("make", tmp_path / "x", data, "--kind", "tar", code=2)
    assert "at least 1" in run("split", data, tmp_path / "x", "zero", code=2)
    assert "1 to 1000 are possible" in run("split", data, tmp_path / "x", "1001", code=1)
    assert "none: No such file" in run("make", tmp_path / "x", tmp_path / "none", code=1)
    assert "cannot be opened" in run("info", tmp_path / "none", code=1)


def test_recover_takes_the_name_of_what_was_left(tmp_path):
    """A writer that is killed: the earlier file stays, `check` says what the rest is, `recover` completes it."""
    path = tmp_path / "a.mindrecord"
    write(path, [{"a": 1, "b": b"1"}], {"a": {"type": "int32"}, "b": {"type": "bytes"}})
    program = f"""
import os, signal, spore.mindrecord as mr
w = mr.FileWriter({str(path)!r}, overwrite=True)
w.set_header_size(16384)
w.set_page_size(32768)
w.add_schema({{"a": {{"type": "int32"}}, "b": {{"type": "bytes"}}}})
for i in range(50):
    w.write_raw_data([{{"a": i, "b": b"x" * 5000}}])
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL
    assert [row["b"] for row in rows_of(path)] == [b"1"]
    assert "recover" in run("check", f"{path}.partial", code=1)
    assert "move it away" in run("recover", f"{path}.partial", code=1)
    for old in (path, f"{path}.db"):
        os.remove(old)
    rows = int(run("recover", f"{path}.partial").split()[0])
    assert 0 < rows <= 50 and [row["a"] for row in rows_of(path)] == list(range(rows))
    assert run("check", path) == "all is well\n" and not os.path.exists(f"{path}.partial")


def test_a_name_that_is_no_text_is_told(tmp_path):
    folder = os.fsencode(tmp_path / "pictures")
    os.mkdir(folder)
    with open(os.path.join(folder, b"a\xff\xfe.png"), "wb") as file:
        file.write(b"not looked at")
    told = subprocess.run([SPORE, "record", "make", tmp_path / "x", folder], capture_output=True, timeout=60, check=False)
    assert told.returncode == 1 and b"UTF-8" in told.stderr and b"a\xff\xfe.png" in told.stderr

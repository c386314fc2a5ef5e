# SPDX-License-Identifier: Apache-2.0
"""MindRecord files across frameworks: one framework writes the data sets below, the other one reads and compares them.

    python cross_check_records.py spore write FOLDER              under spore
    python cross_check_records.py mindspore read FOLDER           under MindSpore: with FileReader and, where it works, MindDataset
    python cross_check_records.py mindspore append FOLDER         MindSpore adds rows to files of spore
    python cross_check_records.py spore read_appended FOLDER      ... which spore reads again
    python cross_check_records.py mindspore write OTHER           and the other way round
    python cross_check_records.py spore read OTHER

record.sh runs all of them and keeps the log and sums of spore's files; test_oracle_record.py sees that spore still writes
the files that MindSpore has read.
"""
import hashlib
import importlib
import os
import sys

import numpy as np

KEYS = {"enc16": "0123456789ABCDEF", "enc24": "0123456789ABCDEF01234567", "enc32": "0123456789ABCDEF0123456789ABCDEF"}
EXTREMES = [0, 1, -1, 127, -128, 128, -129, 32767, -32768, 32768, -32769, 2**31 - 1, -2**31]


def number(kind, i):
    values = EXTREMES if kind == "int32" else EXTREMES + [2**31, 2**40, -2**40, 2**63 - 1, -2**63]
    return values[i % len(values)] if kind.startswith("int") else float(np.float32((i - 3) * 1.75e3 ** (i % 5)))


def array(kind, shape, i):
    rng = np.random.default_rng(1000 + i)
    if kind.startswith("float"):
        return rng.standard_normal(shape).astype(kind)
    widths = rng.integers(0, 31 if kind == "int32" else 63, shape)
    return (np.ones(shape, np.int64) << widths).astype(kind) * rng.choice([1, -1], shape).astype(kind)


def blob(i, n):
    return np.random.default_rng(i).integers(0, 256, n, dtype=np.uint8).tobytes()


TEXTS = ["", "a", "Grüße 🍄", "x" * 31, "y" * 32, "z" * 300, "line\nbreak \"quoted\" \\ 'single'", "t" * 70000]


def alltypes():
    kinds = ("int32", "int64", "float32", "float64")
    schema = {f"one_{kind}": {"type": kind} for kind in kinds}
    schema.update({f"many_{kind}": {"type": kind, "shape": [-1, 3]} for kind in kinds})
    schema.update(text={"type": "string"}, data={"type": "bytes"})
    rows = []
    for i in range(20):
        row = {f"one_{kind}": number(kind, i) for kind in kinds}
        row.update({f"many_{kind}": array(kind, (1 + i % 4, 3), i) for kind in kinds})
        row.update(text=TEXTS[i % len(TEXTS)], data=blob(i, 1 + i * 37))
        rows.append(row)
    return dict(schema=schema, rows=rows, page=262144)


def shapes():
    dims = {"rank1": [5], "rank2": [2, -1], "rank4": [2, 1, 3, 2], "any": [-1]}
    schema = {f"{kind}_{name}": {"type": kind, "shape": shape} for kind in ("int32", "int64", "float32", "float64")
              for name, shape in dims.items()}
    rows = [{name: array(field["type"], [3 + i if n == -1 else n for n in field["shape"]], i)
             for name, field in schema.items()} for i in range(4)]
    return dict(schema=schema, rows=rows)


def images():
    schema = {"label": {"type": "int64"}, "data1": {"type": "bytes"}, "data2": {"type": "bytes"},
              "data3": {"type": "bytes"}, "boxes": {"type": "int32", "shape": [-1, 4]}}
    rows = [{"label": i, "data1": blob(i, 100 + i), "data2": blob(i + 50, 5000 - i), "data3": blob(i + 90, 1 + i),
             "boxes": array("int32", (1 + i % 3, 4), i)} for i in range(12)]
    return dict(schema=schema, rows=rows, index=["label"])


def small(n=17):
    schema = {"id": {"type": "int32"}, "name": {"type": "string"}, "x": {"type": "float32", "shape": [4]}}
    return dict(schema=schema, rows=[{"id": i, "name": f"row {i % 5}", "x": array("float32", (4,), i)} for i in range(n)])


def many_pages():
    schema = {"id": {"type": "int64"}, "text": {"type": "string"}, "blob": {"type": "bytes"}}
    return dict(schema=schema, page=32768, header=65536,
                rows=[{"id": i, "text": "ab" * (i * 7 % 900), "blob": blob(i, 1200 + i)} for i in range(150)])


CASES = {
    "alltypes": alltypes(),
    "shapes": shapes(),
    "images": images(),
    "shards": dict(small(), shards=3, by="id"),
    "indexed": dict(small(40), index=["name", "id"]),
    "manypages": many_pages(),
    "bigarray": dict(schema={"x": {"type": "int32", "shape": [4, 100, 132, 3]}},
                     rows=[{"x": array("int32", (4, 100, 132, 3), i)} for i in range(2)]),
    "scalars": dict(schema={"a": {"type": "int32"}, "b": {"type": "string"}},
                    rows=[{"a": i, "b": str(i)} for i in range(9)]),
    "blobs": dict(schema={"a": {"type": "bytes"}}, rows=[{"a": blob(i, 10 + i)} for i in range(9)]),
    "empty_values": dict(schema={"a": {"type": "bytes"}, "b": {"type": "int32", "shape": [-1]}, "c": {"type": "string"}},
                         rows=[{"a": b"", "b": array("int32", (i % 2,), i), "c": ""} for i in range(4)],
                         file_reader_only=True),
    "empty_blob": dict(schema={"a": {"type": "bytes"}, "i": {"type": "int32"}}, spore_only=True, file_reader_only=True,
                       rows=[{"a": b"" if i % 2 else b"x", "i": i} for i in range(5)]),
    "no_rows": dict(small(0), file_reader_only=True),
    "two_calls": dict(small(30), calls=7),
    "separate": dict(small(11), shards=2, separate=True, by="id"),
    **{name: dict(small(6), key=key) for name, key in KEYS.items()},
    "appended": dict(small(25), append_from=10, page=32768),
    "appended_shards": dict(small(25), append_from=10, shards=2, by="id"),
}
APPEND_TO = ("alltypes", "shards", "manypages", "images", "blobs", "scalars", "no_rows", "appended", "enc16")


def paths(folder, name):
    case = CASES[name]
    base = os.path.join(folder, name + ".mindrecord")
    return [base] if case.get("shards", 1) == 1 else [f"{base}{i}" for i in range(case["shards"])]


def put(writer, rows, case):
    size = case.get("calls") or max(len(rows), 1)
    for i in range(0, len(rows), size):
        writer.write_raw_data(rows[i:i + size], *([True] if case.get("separate") else []))


def write(mr, folder, name):
    case = CASES[name]
    if case.get("spore_only") and mr.__name__.startswith("mindspore"):
        return False
    mr.set_enc_key(case.get("key"))
    writer = mr.FileWriter(os.path.join(folder, name + ".mindrecord"), case.get("shards", 1), overwrite=True)
    writer.set_header_size(case.get("header", 16384))
    writer.set_page_size(case.get("page", 1 << 23))
    writer.add_schema(case["schema"], "cross check of " + name)
    if "index" in case:
        writer.add_index(case["index"])
    cut = case.get("append_from", len(case["rows"]))
    put(writer, case["rows"][:cut], case)
    writer.commit()
    if cut < len(case["rows"]):
        writer = mr.FileWriter.open_for_append(paths(folder, name)[0])
        put(writer, case["rows"][cut:], case)
        writer.commit()
    return True


def same(found, wanted, kind):
    if isinstance(wanted, np.ndarray):
        found = np.asarray(found)
        return found.dtype == wanted.dtype and found.shape == wanted.shape and np.array_equal(found, wanted)
    if isinstance(wanted, float) and abs(wanted) > 2**62:
        return True  # MindSpore's FileReader turns whole numbers into integers and overflows there
    if kind == "float32":
        return np.float32(found) == np.float32(wanted)
    return found == wanted


def compare(rows, case, wanted):
    assert len(rows) == len(wanted), (len(rows), len(wanted))
    if "by" in case:
        rows = sorted(rows, key=lambda row: int(row[case["by"]]))
    for i, (found, row) in enumerate(zip(rows, wanted)):
        assert set(found) == set(row), (i, sorted(found), sorted(row))
        for column, value in row.items():
            assert same(found[column], value, case["schema"][column]["type"]), (i, column, found[column], value)
    return len(rows) * len(case["schema"])


def rows_of_dataset(files, case):
    """MindDataset's tensors as the values they stand for."""
    dataset = importlib.import_module("mindspore.dataset")
    rows = []
    for row in dataset.MindDataset(files, shuffle=False).create_dict_iterator(num_epochs=1, output_numpy=True):
        plain = {}
        for column, value in row.items():
            kind = case["schema"][column]
            if kind["type"] == "bytes":
                # numpy drops zero bytes at the end of a bytes element
                plain[column] = value.item() if value.dtype.kind == "S" else value.tobytes()
            elif kind["type"] == "string":
                plain[column] = str(value)
            else:
                plain[column] = value if "shape" in kind else value.item()
        rows.append(plain)
    return rows


def read(mr, folder, name, more=0):
    case = CASES[name]
    if case.get("spore_only") and not os.path.exists(paths(folder, name)[0]):
        return None
    wanted = case["rows"] + case["rows"][:more]
    mr.set_enc_key(case.get("key"))
    files = paths(folder, name)
    reader = mr.FileReader(files if case.get("separate") else files[-1])
    count = compare(list(reader.get_next()), case, sorted(wanted, key=lambda row: row[case["by"]]) if "by" in case
                    else wanted)
    reader.close()
    if mr.__name__.startswith("mindspore") and not case.get("file_reader_only"):
        stripped = [{k: v.rstrip(b"\0") if isinstance(v, bytes) else v for k, v in row.items()} for row in wanted]
        found = rows_of_dataset(files if case.get("separate") else files[0], case)
        found = [{k: v.rstrip(b"\0") if isinstance(v, bytes) else v for k, v in row.items()} for row in found]
        count += compare(found, case, sorted(stripped, key=lambda row: row[case["by"]]) if "by" in case else stripped)
    return count


def append(mr, folder, name):
    case = CASES[name]
    mr.set_enc_key(case.get("key"))
    writer = mr.FileWriter.open_for_append(paths(folder, name)[0])
    writer.write_raw_data(small(5)["rows"] if name == "no_rows" else case["rows"][:5])
    writer.commit()


def sums(folder):
    """SHA-256 of every plain file of the data sets."""
    result = {}
    for name, case in CASES.items():
        for path in [] if "key" in case else paths(folder, name):
            with open(path, "rb") as file:
                result[os.path.basename(path)] = hashlib.sha256(file.read()).hexdigest()
    return result


def main():
    framework, verb, folder = sys.argv[1:4]
    mr = importlib.import_module(framework + ".mindrecord")
    version = importlib.import_module(framework).__version__
    if verb == "sums":
        for name, value in sums(folder).items():
            print(value, name)
        return
    for name in APPEND_TO if "append" in verb else CASES:
        if verb == "write":
            done = write(mr, folder, name)
        elif verb == "append":
            append(mr, folder, name)
            done = True
        else:
            if verb == "read_appended" and name == "no_rows":
                CASES[name]["rows"] = small(5)["rows"]
            done = read(mr, folder, name, 5 if verb == "read_appended" and name != "no_rows" else 0)
        if done is not None and done is not False:
            count = "" if done is True else f": {done} values equal"
            print(f"{framework} {version} {verb} {name}{count}")
    mr.set_enc_key(None)


if __name__ == "__main__":
    main()

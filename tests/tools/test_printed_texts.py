# SPDX-License-Identifier: Apache-2.0
"""Texts out of files are printed without control characters: a terminal acts on them. Every text in a file gets one in turn, and every verb that
reads the file is asked."""
import re

import pytest
from test_verbs import GOOD, _folder, call, those, words  # noqa: F401 (a fixture)

import spore.mindrecord as mr

ESCAPE = b"\x1b"
TEXT = re.compile(rb"[A-Za-z_][A-Za-z0-9_./:-]{3,}")
READERS = [v for v in those(lambda v: GOOD[v]) if any(w.startswith("{f}/") and w.rsplit(".")[-1] in ("onnx", "ckpt", "npz") for w in GOOD[v])]
FLAGS = {"inspect": [[], ["--json"]], "predict": [[], ["--json"]], "diff": [[], ["--json"]], "draw": [["-o", "-"]], "serve": [["--check"]]}


def with_escapes(data):
    """The file with one text changed, for each text in it."""
    seen = set()
    for found in TEXT.finditer(data):
        text = found[0]
        if text not in seen:
            seen.add(text)
            yield text, data.replace(text, text[:2] + ESCAPE + text[3:])


def answers(verb, path, place):
    for flags in FLAGS.get(verb, [[]]):
        good = [w for w in GOOD[verb] if not flags or w not in ("-o", "{o}.svg")]
        first = next(i for i, w in enumerate(good) if w.startswith("{f}/") and w != "{f}/key")
        arguments = [path if i == first else w.format(f=path.parent.parent, o=place) for i, w in enumerate(good)]
        yield call(verb, *arguments, *flags, *(["--overwrite"] if "{o}" in "".join(good) else []))


@pytest.mark.parametrize("suffix", ["onnx", "mindir", "ckpt", "npz"])
@pytest.mark.parametrize("verb", READERS)
def test_texts_of_files(verb, suffix, folder, tmp_path):  # noqa: F811
    first = next(w for w in GOOD[verb] if w.startswith("{f}/") and w != "{f}/key")
    if (suffix in ("onnx", "mindir")) != first.endswith("onnx") or verb in ("encrypt", "decrypt", "quantize", "trim", "codegen") and suffix == "npz":
        pytest.skip("reads no such file")
    (folder / "odd").mkdir(exist_ok=True)
    path = folder / "odd" / f"net.{suffix}"
    for text, data in with_escapes((folder / f"net.{suffix}").read_bytes()):
        path.write_bytes(data)
        for done in answers(verb, path, tmp_path / "out"):
            assert done.returncode >= 0, (text, done)
            assert ESCAPE not in done.stdout + done.stderr, (text, done)


def test_labels(folder, tmp_path):  # noqa: F811
    (tmp_path / "labels.txt").write_bytes(b"a\x1b[31m\nb\n")
    done = call("predict", folder / "net.onnx", "--input", folder / "x.npy", "--labels", tmp_path / "labels.txt")
    assert done.returncode == 0 and b"[31m" in done.stdout and ESCAPE not in done.stdout


@pytest.mark.parametrize("verb", [v for v in those(lambda v: v.startswith("record ")) if GOOD[v] and GOOD[v][0].endswith(".mindrecord") and GOOD[v][0].startswith("{f}")])
def test_texts_of_records(verb, tmp_path):
    writer = mr.FileWriter(str(tmp_path / "set.mindrecord"))
    writer.set_header_size(16384)
    writer.set_page_size(32768)
    writer.add_schema({"colour": {"type": "string"}, "image": {"type": "bytes"}}, "what it is about")
    writer.write_raw_data([{"colour": f"green\x1b{i}", "image": b"x"} for i in range(3)])
    writer.commit()
    data = (tmp_path / "set.mindrecord").read_bytes()
    for old, new in ((b"colour", b"colour"), (b"colour", b"\\u001b"), (b"it is ", b"\\u001b")):    # in JSON, so the name itself has one character
        assert old in data
        (tmp_path / "odd.mindrecord").write_bytes(data.replace(old, new))
        (tmp_path / "odd.mindrecord.db").write_bytes((tmp_path / "set.mindrecord.db").read_bytes())
        for flags in ([], ["--json"]):
            done = call(verb, *[w.replace("set.", "odd.") for w in words(verb, tmp_path, tmp_path / "out")], *flags)
            assert done.returncode >= 0 and ESCAPE not in done.stdout + done.stderr, (old, done)
        for path in tmp_path.glob("out*"):
            path.unlink()

# SPDX-License-Identifier: Apache-2.0
"""Every verb of the command in the situations that users bring it into: wrong words, files that are missing, empty or something else, pipes
that close, disks that are full, odd names, files that are there already. The verbs are those that the command lists itself: one that is new
needs a line in GOOD, everything else it is asked without being told."""
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

import spore as ms
import spore.mindrecord as mr
from spore import nn
from spore.dataset import vision

SPORE = str(pathlib.Path(os.environ["SPORE_BUILD"]) / "spore")
HTML = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>\n"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 46827520\n"

# What each verb is called with when all is well; {f}: the folder, {o}: a name that is free. "name OUT": the argument it writes to.
GOOD = {
    "run": ["{f}/script.py"],
    "explain": ["{f}/script.py"],
    "plan": None,               # simulates a job: tests/parallel/test_search.py
    "inspect": ["{f}/net.onnx"],
    "convert": ["{f}/net.ckpt", "{o}.npz"],
    "codegen": ["{f}/net.onnx", "-o", "{f}/generated", "--force"],     # a folder
    "trim": ["{f}/net.onnx", "-o", "{f}/trimmed", "--options-only", "--force"],     # a folder
    "diff": ["{f}/net.ckpt", "{f}/net.npz"],
    "draw": ["{f}/net.onnx", "-o", "{o}.svg"],
    "predict": ["{f}/net.onnx", "--input", "{f}/x.npy"],
    "quantize": ["{f}/net.onnx", "-o", "{o}.onnx", "--data", "{f}/x.npy"],
    "serve": ["{f}/net.onnx", "--port", "0"],
    "board": ["{f}", "--port", "0"],
    "encrypt": ["{f}/net.ckpt", "{o}.ckpt", "--key-file", "{f}/key"],
    "decrypt": ["{f}/secret.ckpt", "{o}.ckpt", "--key-file", "{f}/key"],
    "ops": [],
    "bench": [],
    "doctor": [],
    "version": [],
    "help": [],
    "record info": ["{f}/set.mindrecord"],
    "record cat": ["{f}/set.mindrecord"],
    "record make": ["{o}.mindrecord", "{f}/rows.csv"],
    "record check": ["{f}/set.mindrecord"],
    "record reindex": ["{f}/set.mindrecord"],
    "record recover": None,     # completes what a crash has left: test_record_tool.py
    "record split": ["{f}/set.mindrecord", "{o}.mindrecord", "1"],
    "record merge": ["{o}.mindrecord", "{f}/set.mindrecord", "{f}/set.mindrecord"],
    "record show": ["{f}/set.mindrecord", "{o}.png"],
    "record encrypt": None,     # in place: test_record_tool.py
    "record decrypt": None,
}
FOREVER = {"serve", "bench", "board"}    # are stopped by a signal
PYTHON = {"run", "explain", "plan"}     # what follows is the program's business
TROUBLE = {"diff": 2}           # exit code of a failure, where it is not 1


def verbs():
    """Names of all verbs, from the command itself."""
    def listed(*words):
        text = subprocess.run([SPORE, *words, "--help"], capture_output=True, text=True, check=True).stdout
        return re.findall(r"^  ([a-z]+) ", text, re.MULTILINE)
    return [v for v in listed() if v not in ("record", "cache")] + [f"record {v}" for v in listed("record")]    # those of cache take no files: tests/cache


VERBS = verbs()


def those(keep=lambda v: True):
    return [v for v in VERBS if keep(v)]


def call(verb, *arguments, timeout=20, **more):
    """The finished process; its texts are bytes."""
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    more.setdefault("stdin", subprocess.DEVNULL)
    env = {k: v for k, v in os.environ.items() if k != "SPORE_KEY"}
    words = [a if isinstance(a, bytes) else str(a) for a in arguments]
    return subprocess.run([SPORE, *verb.split(), *words], timeout=timeout, env=env, check=False, **more)


def is_complaint(text, verb=""):
    """One line of the command's own, no traceback, no crash."""
    text = text.decode(errors="replace")
    lines = text.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith(f"spore: {verb}"), text
    return lines[0]


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory):
    """Small files of every kind that verbs take."""
    f = tmp_path_factory.mktemp("verbs")
    net = nn.Dense(3, 2)
    ms.save_checkpoint(net, str(f / "net.ckpt"))
    ms.export(net, ms.ops.ones((1, 3)), file_name=str(f / "net"), file_format="ONNX")
    ms.export(net, ms.ops.ones((1, 3)), file_name=str(f / "net"), file_format="MINDIR")
    np.savez(f / "net.npz", **{p.name: p.asnumpy() for p in net.get_parameters()})
    np.save(f / "x.npy", np.ones((1, 3), np.float32))
    (f / "key").write_text("0123456789ABCDEF")
    (f / "rows.csv").write_text("a,b\n1,x\n2,y\n")
    (f / "script.py").write_text("print('from the script')\n")
    call("encrypt", f / "net.ckpt", f / "secret.ckpt", "--key-file", f / "key")
    writer = mr.FileWriter(str(f / "set.mindrecord"))
    writer.set_header_size(16384)
    writer.set_page_size(32768)
    writer.add_schema({"n": {"type": "int32"}, "image": {"type": "bytes"}})
    picture = bytes(np.asarray(vision.encode_png(np.zeros((4, 4, 3), np.uint8))))
    writer.write_raw_data([{"n": i, "image": picture} for i in range(5)])
    writer.commit()
    return f


def words(verb, folder, out):
    return [w.format(f=folder, o=out) for w in GOOD[verb]]


def reads(verb):
    """Does it take a file? Then the first argument that is one."""
    return GOOD[verb] is not None and any(w.startswith("{f}/") for w in GOOD[verb]) or GOOD[verb] is None


def with_input(verb, folder, out, path):
    """The good call, but with another file to read; everything that it reads in the place of the first one."""
    if verb == "plan":
        return ["--ranks", "2", path]
    if GOOD[verb] is None:
        return [path] if verb == "record recover" else [path, "--key-file", folder / "key"]
    first = next(w for w in GOOD[verb] if w.startswith("{f}") and w != "{f}/key")
    return [path if w == first else w.format(f=folder, o=out) for w in GOOD[verb]]


def writes(verb):
    return GOOD[verb] is not None and any(w.startswith("{o}") for w in GOOD[verb])


def out_of(verb, out):
    return next(w for w in GOOD[verb] if w.startswith("{o}")).format(o=out)


def test_every_verb_has_a_line():
    assert sorted(VERBS) == sorted(GOOD)


@pytest.mark.parametrize("verb", those(lambda v: GOOD.get(v) is not None and v not in FOREVER))
def test_all_is_well(verb, folder, tmp_path):
    done = call(verb, *words(verb, folder, tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert not done.stderr or verb in ("explain", "record check")      # these have a report, or a reservation


@pytest.mark.parametrize("verb", VERBS)
def test_help(verb):
    done = call(verb, "--help")
    assert done.returncode == 0 and not done.stderr and done.stdout.startswith(b"usage: spore")
    if verb not in ("help", "version"):
        assert done.stdout.startswith(f"usage: spore {verb}".encode())


def test_exit_codes_are_documented():
    text = call("help").stdout.decode()
    assert "Exit code" in text and "diff" in text.split("Exit code")[1]


@pytest.mark.parametrize("verb", those(lambda v: v not in PYTHON))
def test_unknown_option(verb, folder, tmp_path):
    for option in ("--no-such-option", "-Z", "--no-such=3"):
        done = call(verb, *(words(verb, folder, tmp_path / "out") if GOOD[verb] else []), option)
        assert done.returncode == 2, (option, done)
        assert option in is_complaint(done.stderr, verb) and not done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", those(lambda v: v not in PYTHON | {"serve", "codegen", "trim", "record merge", "help", "record make"}))
def test_too_many_arguments(verb, folder, tmp_path):
    done = call(verb, *(words(verb, folder, tmp_path / "out") if GOOD[verb] else [tmp_path / "a"]), "1", "2", "3", "4")
    assert done.returncode == 2 and "too many" in is_complaint(done.stderr, verb), done
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", those(reads))
def test_too_few_arguments(verb):
    done = call(verb)
    assert done.returncode == 2 and is_complaint(done.stderr, verb), done


def options_with_values(verb):
    text = call(verb, "--help").stdout.decode()
    return re.findall(r"^  (?:-\w, )?(--[a-z-]+) [A-Z]", text, re.MULTILINE)


@pytest.mark.parametrize("verb", those(lambda v: v not in PYTHON and options_with_values(v)))
def test_options_without_value_and_twice(verb, folder, tmp_path):
    """The last of two values does not win in silence, and what must be a number is one."""
    good = words(verb, folder, tmp_path / "out") if GOOD[verb] else [tmp_path / "a"]
    for option in options_with_values(verb):
        done = call(verb, *good, option)
        assert done.returncode == 2 and "wants a value" in is_complaint(done.stderr, verb), (option, done)
        repeated = re.search(rf"{option} .*\n?.*may be repeated", call(verb, "--help").stdout.decode())
        if not repeated:
            done = call(verb, *good, option, "1", option, "2")
            assert done.returncode == 2 and "twice" in is_complaint(done.stderr, verb), (option, done)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", those(lambda v: v not in PYTHON))
def test_numbers_are_numbers(verb, folder, tmp_path):
    text = call(verb, "--help").stdout.decode()
    good = words(verb, folder, tmp_path / "out") if GOOD[verb] else [tmp_path / "a"]
    for option in re.findall(r"^  (?:-\w, )?(--[a-z-]+) (?:N|X|S|MS|MB|A,B,C)\b", text, re.MULTILINE):
        for value in ("abc", "3x", "", "nan", "1e999"):
            done = call(verb, *good, option, value)
            assert done.returncode == 2, (option, value, done)
            assert option in is_complaint(done.stderr, verb)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", those(reads))
def test_files_that_cannot_be_read(verb, folder, tmp_path):
    """Missing, a folder, empty, a pipe without a writer: a complaint that names it, soon, and nothing is written."""
    (tmp_path / "empty.onnx").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "unreadable").write_bytes(b"x")
    (tmp_path / "unreadable").chmod(0)
    (tmp_path / "out").mkdir()
    for name in ("missing", "missing/too", "folder", "empty.onnx", "pipe", *(["unreadable"] if os.getuid() else [])):
        if verb in PYTHON and name in ("empty.onnx", "pipe", "folder"):
            continue    # an empty program, and one that is still being written, are programs
        done = call(verb, *with_input(verb, folder, tmp_path / "out" / "x", tmp_path / name))
        assert done.returncode == TROUBLE.get(verb, 2 if verb in PYTHON else 1) or verb == "record make" and done.returncode == 2, (name, done)
        line = done.stderr.decode().splitlines()[0] if verb in PYTHON else is_complaint(done.stderr)
        assert str(tmp_path / name) in line and b"Traceback" not in done.stderr, name
        assert not list((tmp_path / "out").iterdir()), name


@pytest.mark.parametrize("verb, option", [("convert", "--map"), ("predict", "--labels"), ("decrypt", "--key-file"), ("record encrypt", "--key-file")])
def test_options_that_name_files(verb, option, folder, tmp_path):
    """A folder is not an empty file."""
    good = words(verb, folder, tmp_path / "out") if GOOD[verb] else [folder / "set.mindrecord"]
    if option in good:
        good = good[:good.index(option)]
    for name in (tmp_path, tmp_path / "missing"):
        done = call(verb, *good, option, name)
        assert done.returncode == 1 and str(name) in is_complaint(done.stderr, verb), done


@pytest.mark.parametrize("name", ["x.onnx", "x.ckpt", "x.mindir", "x.tflite", "x.mindrecord", "x"])
@pytest.mark.parametrize("verb", those(lambda v: reads(v) and v not in PYTHON | {"record make", "record recover"}))
def test_files_that_are_something_else(verb, name, folder, tmp_path):
    """An error page, a pointer of Git LFS: said so, in words that tell what to do."""
    for contents, said in ((HTML, "HTML"), (LFS, "Git LFS")):
        (tmp_path / name).write_bytes(contents)
        (tmp_path / "out").mkdir(exist_ok=True)
        done = call(verb, *with_input(verb, folder, tmp_path / "out" / "x", tmp_path / name))
        assert done.returncode == TROUBLE.get(verb, 1), done
        line = is_complaint(done.stderr)
        assert str(tmp_path / name) in line and said in line, line
        assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("verb", those(lambda v: GOOD[v] is not None and v not in FOREVER))
def test_standard_output_that_takes_nothing(verb, folder, tmp_path):
    """A full disk and a closed descriptor are failures with a message, and are mistaken for nothing else."""
    if not call(verb, *words(verb, folder, tmp_path / "a")).stdout:
        return
    with open("/dev/full", "wb") as full:
        done = call(verb, *words(verb, folder, tmp_path / "b"), stdout=full)
    assert done.returncode not in (0, -signal.SIGSEGV), done
    assert "No space left" in done.stderr.decode()
    if verb not in PYTHON:
        assert done.stderr.splitlines()[-1].startswith(b"spore: standard output") and b"Traceback" not in done.stderr, done
    done = call(verb, *words(verb, folder, tmp_path / "c"), preexec_fn=lambda: os.close(1))
    assert done.returncode != 0 or verb in PYTHON, done    # Python itself does without
    if writes(verb):     # the file it wrote did not become its standard output
        made = [open(out_of(verb, tmp_path / n), "rb").read() for n in "abc"]
        assert len(made[0]) == len(made[1]) == len(made[2])


@pytest.mark.parametrize("verb", those(lambda v: GOOD[v] is not None and v not in FOREVER))
def test_closed_standard_error(verb, folder, tmp_path):
    """Complaints do not go into files that happen to be opened under that number."""
    before = {p: p.read_bytes() for p in folder.iterdir() if p.is_file() and not p.name.endswith(".db")}
    call(verb, *words(verb, folder, tmp_path / "a"), preexec_fn=lambda: (os.close(0), os.close(1), os.close(2)))
    if reads(verb):
        call(verb, *with_input(verb, folder, tmp_path / "b", tmp_path / "missing"), preexec_fn=lambda: os.close(2))
    assert before == {p: p.read_bytes() for p in before}
    if writes(verb) and GOOD[verb][0] != "{o}.mindrecord":
        call(verb, *words(verb, folder, tmp_path / "c"))
        sizes = [pathlib.Path(out_of(verb, tmp_path / n)).stat().st_size for n in "ac"]
        assert sizes[0] == sizes[1]


@pytest.mark.parametrize("verb", those(lambda v: GOOD[v] is not None and v not in FOREVER | PYTHON))
def test_pipe_that_closes(verb, folder, tmp_path):
    """`| head`: the end of the reader is no failure worth a word."""
    for arguments in (words(verb, folder, tmp_path / "out"), ["--help"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = call(verb, *arguments, stdout=writer, restore_signals=True)
        os.close(writer)
        assert done.returncode in (0, -signal.SIGPIPE), done
        assert not done.stderr or b"no digest" in done.stderr


@pytest.mark.parametrize("verb", those(lambda v: GOOD[v] is not None and v not in FOREVER | PYTHON))
def test_pipe_that_closes_where_it_is_ignored(verb, folder, tmp_path):
    """Started by a program that ignores SIGPIPE (as Python does): no traceback, and no word about Python."""
    if not call(verb, *words(verb, folder, tmp_path / "a")).stdout:
        return
    reader, writer = os.pipe()
    os.close(reader)
    done = call(verb, *words(verb, folder, tmp_path / "b"), stdout=writer, restore_signals=False)
    os.close(writer)
    assert done.returncode == TROUBLE.get(verb, 1), done
    assert done.stderr.splitlines()[-1].startswith(b"spore: standard output") and b"Traceback" not in done.stderr


def test_doctor_ends_with_its_reader():
    """Its interpreter still has to say something when the reader leaves: no traceback."""
    done = subprocess.run(["bash", "-c", '"$0" doctor | grep -m 1 "^python"', SPORE], capture_output=True, timeout=120, check=False)
    assert done.stdout.startswith(b"python") and done.stderr == b"", done


ODD_NAMES = [b"with space", b"--help", b"-o", b"new\nline", b"\xff\xfe bytes", "ä".encode(), b"$(touch x); `x`", b"\x1b[31mred"]


@pytest.mark.parametrize("verb", those(lambda v: GOOD[v] is not None and reads(v) and v not in FOREVER | {"explain"}))
def test_odd_file_names(verb, folder, tmp_path):
    first = next(w for w in GOOD[verb] if w.startswith("{f}") and w != "{f}/key")
    source = pathlib.Path(first.format(f=folder))
    for number, name in enumerate(ODD_NAMES):
        place = tmp_path / str(number)
        place.mkdir()
        inside = name + source.suffix.encode() if not name.startswith(b"-") else name
        for extra in ("", ".db"):
            if os.path.exists(f"{source}{extra}"):
                with open(os.path.join(os.fsencode(place), inside + extra.encode()), "wb") as file:
                    file.write(open(f"{source}{extra}", "rb").read())
        arguments = [inside if w == first else w.format(f=folder, o=place / "out") for w in GOOD[verb]]
        if verb == "record make":
            arguments += ["--kind", "csv"]
        dashes = [] if verb in PYTHON else ["--"]
        options = [] if not inside.startswith(b"-") else dashes
        at = next((i for i, w in enumerate(arguments) if str(w).startswith("-") and w != inside), len(arguments))
        arguments = arguments[at:] + options + arguments[:at] if verb not in PYTHON else arguments
        if verb in PYTHON and inside.startswith(b"-"):
            arguments = [b"./" + inside]
        done = call(verb, *arguments, cwd=place)
        # a renamed data set is one of the problems that check is there for
        assert done.returncode == (1 if verb == "record check" else 0), (name, done)
        assert b"\x1b" not in done.stdout + done.stderr, name
        assert set(os.listdir(os.fsencode(place))) >= {inside}


@pytest.mark.parametrize("verb", those(writes))
def test_what_is_there_is_kept(verb, folder, tmp_path):
    """Without --overwrite no verb replaces a file; with it, or --force, every one does."""
    target = pathlib.Path(out_of(verb, tmp_path / "out"))
    target.write_bytes(b"precious")
    done = call(verb, *words(verb, folder, tmp_path / "out"))
    assert done.returncode == 1 and target.read_bytes() == b"precious"
    line = is_complaint(done.stderr, verb)
    assert str(target) in line and "--overwrite" in line
    done = call(verb, *words(verb, folder, tmp_path / "out"), "--overwrite")
    assert done.returncode == 0 and target.read_bytes() != b"precious", done
    assert b"--overwrite" in call(verb, "--help").stdout
    assert {p.name for p in tmp_path.iterdir()} - {target.name, target.name + ".db"} == set()


@pytest.mark.parametrize("verb", those(writes))
def test_places_that_cannot_be_written_to(verb, folder, tmp_path):
    """No such folder, the name of a folder, a device: a complaint; devices stay what they are."""
    (tmp_path / "file").write_bytes(b"")
    good = words(verb, folder, tmp_path / "out")
    name = out_of(verb, tmp_path / "out")
    (tmp_path / ("folder" + pathlib.Path(name).suffix)).mkdir()
    os.mkfifo(tmp_path / ("pipe" + pathlib.Path(name).suffix))
    for place in ("missing/out", "file/out", "folder", "pipe"):
        path = str(tmp_path / place) + pathlib.Path(name).suffix
        before = os.lstat(path).st_mode if os.path.lexists(path) else None
        done = call(verb, *[path if w == name else w for w in good], "--force")
        assert done.returncode == 1, (place, done)
        assert path in is_complaint(done.stderr, verb)
        assert before == (os.lstat(path).st_mode if os.path.lexists(path) else None)
    assert len(list(tmp_path.iterdir())) == 3


def limited():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))


@pytest.mark.parametrize("verb", those(writes))
def test_full_disk(verb, folder, tmp_path):
    """When a file cannot be completed, the one before stays and nothing is left over."""
    target = pathlib.Path(out_of(verb, tmp_path / "out"))
    target.write_bytes(b"precious")
    done = call(verb, *words(verb, folder, tmp_path / "out"), "--force", preexec_fn=limited, restore_signals=False)
    assert done.returncode == 1 and is_complaint(done.stderr, verb), done
    assert [p.name for p in tmp_path.iterdir()] == [target.name] and target.read_bytes() == b"precious"


@pytest.mark.parametrize("verb", sorted(FOREVER))
def test_ctrl_c(verb, folder, tmp_path):
    process = subprocess.Popen([SPORE, verb, *words(verb, folder, tmp_path / "out")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode in (0, -signal.SIGINT) and b"Traceback" not in out + err


def test_json_is_json(folder, tmp_path):
    """--json of every verb that has it, with a name in it that is no UTF-8."""
    odd = os.path.join(os.fsencode(tmp_path), b"\xff\"x.ckpt")
    with open(odd, "wb") as file:
        file.write((folder / "net.ckpt").read_bytes())
    found = {}
    for verb in those(lambda v: b"--json" in call(v, "--help").stdout and v not in PYTHON | {"help"}):
        arguments = [w.format(f=folder, o=tmp_path / "out") for w in GOOD[verb]]
        done = call(verb, *arguments, "--json")
        assert done.returncode == 0, done
        found[verb] = json.loads(done.stdout)
    assert {"inspect", "diff", "predict", "record info"} <= set(found)
    done = call("inspect", odd, "--json")
    assert done.returncode == 0 and json.loads(done.stdout.decode("utf-8"))["entries"]


# --- for programs, pipes and shells ---------------------------------------------------------------------------------------

def as_json(*words, stream="stdout", code=0):
    done = call(*words)
    assert done.returncode == code, done
    return json.loads(getattr(done, stream).decode().splitlines()[-1] if stream == "stderr" else getattr(done, stream))


def test_json_of_what_there_is():
    version = call("--version").stdout.decode().split()[1] # spore.__version__ is MindSpore's in a process that plays it
    assert as_json("version", "--json") == {"version": version}
    (conv,) = as_json("ops", "conv2d", "--json")["operators"]
    assert conv["name"] == "conv2d" and "float32" in conv["dtypes"] and conv["attributes"]["stride"] and conv["results"] == 1
    every = as_json("ops", "--json")["operators"]
    assert len(every) > 400 and all(one["description"] is not None for one in every)
    assert {one["name"] for one in as_json("ops", "pool", "--json")["operators"]} < {one["name"] for one in every}
    assert call("ops", "no such thing", "--json").returncode == 1
    found = as_json("doctor", "--json")
    assert found["ok"] is True and found["version"] == version and found["python"]["package"].endswith("__init__.py")
    assert found["threads"] >= 1 and found["memory_bytes"] > 2**20 and "matmul" in found["kernels"] and found["openssl"].startswith("OpenSSL")


@pytest.mark.long
def test_json_of_bench():
    found = as_json("bench", "--json")
    assert found["threads"] >= 1 and found["limits"] and all(one["ms"] > 0 for one in found["kernels"])


def test_json_of_explain(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import spore as ms\n@ms.jit\ndef twice(x):\n    return x + x\ntwice(ms.ops.ones((2,)))\n")
    (function,) = as_json("explain", "--json", script, stream="stderr")["functions"]
    assert function["name"].endswith("twice") and function["place"] == f"{script}:2" and "captured and compiled" in function["events"][0] and function["programs"]
    (timed,) = as_json("explain", "--times", "--json", script, stream="stderr")["functions"]
    assert timed["programs"]
    script.write_text("")
    assert as_json("explain", "--json", script, stream="stderr") == {"functions": []}


def test_predict_reads_pipes(folder, tmp_path):
    def values(done):
        assert done.returncode == 0, done
        return json.loads(done.stdout)["results"][0]["values"]
    wanted = values(call("predict", folder / "net.onnx", "--input", folder / "x.npy", "--json"))
    data = (folder / "x.npy").read_bytes()
    run = [SPORE, "predict", str(folder / "net.onnx"), "--json", "--input"]
    assert values(subprocess.run([*run, "-"], input=data, capture_output=True, check=False)) == wanted
    shell = " ".join(run)
    assert values(subprocess.run(["bash", "-c", f"{shell} <(cat {folder / 'x.npy'})"], capture_output=True, check=False)) == wanted
    for wrong in (b"", b"nonsense"):
        done = subprocess.run([*run, "-"], input=wrong, capture_output=True, check=False)
        assert done.returncode == 1 and done.stderr.startswith(b"spore: predict: "), done


@pytest.mark.parametrize("verb, place", (("convert", 1), ("encrypt", 1), ("decrypt", 1), ("record show", 1), ("record make", 0), ("record merge", 0),
                                         ("record split", 1)))
def test_out_is_an_option_too(verb, place, folder, tmp_path):
    given = words(verb, folder, tmp_path / "out")
    target = given[place]
    rest = [*given[:place], *given[place + 1:]]
    assert call(verb, *rest, "-o", target).returncode == 0 and pathlib.Path(target).exists()
    assert call(verb, *rest, "--output", target, "--overwrite").returncode == 0
    if verb not in ("record merge", "record make"):     # which take further words
        done = call(verb, *given, "-o", target)
        assert done.returncode == 2 and b"twice" in done.stderr or b"too many" in done.stderr, done
    assert b"--output" in call(verb, "--help").stdout


def complete(*line):
    """What bash offers for the last word of a line."""
    script = pathlib.Path(__file__).parents[2] / "tools/completion/spore.bash"
    quoted = " ".join(f"'{word}'" for word in line)
    text = (f"source {script}; COMP_WORDS=({SPORE} {quoted}); COMP_CWORD={len(line)}; _spore; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    done = subprocess.run(["bash", "--norc", "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done
    return set(done.stdout.split())


def test_bash_completes(tmp_path):
    top = {verb.split()[0] for verb in GOOD}
    assert top <= complete("") and complete("conv") == {"convert"} and complete("pre") == {"predict"}
    assert {verb.split()[1] for verb in GOOD if verb.startswith("record ")} <= complete("record", "")
    assert {"--output", "--overwrite", "--key-file", "--dtype"} <= complete("convert", "--")
    assert complete("pl") == {"plan"} and {"--ranks", "--hosts", "--json", "--svg"} <= complete("plan", "--")
    assert complete("record", "make", "--sh") == {"--shards"} and "--json" in complete("doctor", "--")
    assert {"conv2d", "conv3d"} <= complete("ops", "conv") and complete("help", "dr") == {"draw"}
    (tmp_path / "net.onnx").touch()
    assert complete("inspect", f"{tmp_path}/ne") == {f"{tmp_path}/net.onnx"}


COMPLETIONS = pathlib.Path(__file__).parents[2] / "tools/completion"
# A line up to the cursor, and what the key Tab makes of it.
LINES = (("spore predi", "spore predict"), ("spore record chec", "spore record check"), ("spore cache sto", "spore cache stop"), ("spore plan --ran", "spore plan --ranks"), ("spore convert --overw", "spore convert --overwrite"),
         ("spore record make --shar", "spore record make --shards"), ("spore ops conv2", "spore ops conv2d"), ("spore help dra", "spore help draw"), ("spore inspect net.on", "spore inspect net.onnx"))


def shell_environment(home):
    return {**os.environ, "PATH": f"{pathlib.Path(SPORE).parent}:{os.environ['PATH']}", "HOME": str(home), "TERM": "dumb", "LC_ALL": "C"}


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes(tmp_path):
    (tmp_path / "net.onnx").touch()
    for line, wanted in LINES:
        done = subprocess.run(["fish", "-c", f"source {COMPLETIONS / 'spore.fish'}; complete -C '{line}'"], cwd=tmp_path, env=shell_environment(tmp_path), capture_output=True, text=True, check=False)
        offered = [text.partition("\t")[0] for text in done.stdout.splitlines()]
        assert wanted.split()[-1] in offered and not done.stderr, (line, done)


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_completes(tmp_path):
    """In a terminal, with keys: Tab, then the line is put between brackets and printed."""
    import pty
    (tmp_path / "net.onnx").touch()
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, env=shell_environment(tmp_path), start_new_session=True)
    os.close(theirs)

    def read_until(end):
        seen, stop = "", time.time() + 60
        while end not in seen and time.time() < stop:
            if select.select([ours], [], [], 0.5)[0]:
                seen += os.read(ours, 4096).decode(errors="replace")
        return seen
    try:
        os.write(ours, f"fpath=({COMPLETIONS} $fpath); autoload -Uz compinit; compinit -u -D; print re''ady\n".encode())
        assert "ready\r\n" in read_until("ready\r\n")
        for line, wanted in LINES:
            os.write(ours, line.encode() + b"\t\x01print -r -- \"[\x05]\"\n")
            seen = read_until("]\r\n")
            assert f"[{wanted}]\r\n" in seen or f"[{wanted} ]\r\n" in seen, (line, seen)
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)

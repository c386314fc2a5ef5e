# SPDX-License-Identifier: Apache-2.0
"""An option of the command does something, or is refused: each option of every verb is given where the verb works without it. The options are
read from the help; one that changes neither the answer nor the file that is written needs a reason in WITHOUT_EFFECT."""
import json
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest
from test_verbs import FOREVER, GOOD, PYTHON, SPORE, _folder, call, options_with_values, those, words  # noqa: F401 (a fixture)

import spore as ms
from spore import nn

TESTS = pathlib.Path(__file__).resolve().parents[1]

# What an option is given; others get VALUE.
VALUE = "3"
VALUES = {
    "--key-file": "{f}/key", "--key-env": "PATH", "--mode": "AES-CBC", "--to": "safetensors", "--report": "{o}.json", "--shape": "x=2,3", "--input": "x={f}/x.npy",
    "--map": "torch", "--rename": "w=v", "--only": "*weight", "--without": "*weight", "--strip": "we", "--dtype": "float16", "--kind": "dynamic", "--method": "entropy",
    "--target": "cosine>=0.1", "--labels": "{f}/labels.txt", "--keep": "*", "--mean": "0.5", "--std": "2", "--scale": "2", "--device": "CPU", "--name": "other",
    "--top": "1", "--block": "64", "--percentile": "90", "--activation-bits": "16", "--bits": "7", "--tolerance": "1e9", "--output": "{o}.other", "-o": "{o}.other",
    "--train": "fc", "--optimizer": "adam", "--loss": "mse", "--effects": "0", "--opset": "18", "--columns": "n", "--ram": "100000", "--flash": "1000000",
}
HARMLESS = {"--overwrite": "there is nothing to replace", "--force": "there is nothing to replace", "--help": "is a question"}
WITHOUT_EFFECT = {
    ("predict", "--device"): "CPU is where it runs anyhow",
    ("convert", "--map"): "maps of names are for any file; those here are no PyTorch's",
    ("diff", "--tolerance"): "the files are equal",
    ("draw", "--depth"): "there is one part, and nothing to fold",
    ("quantize", "--equalize"): "is between two layers, there is one",
    ("quantize", "--integer-only"): "fails where an operator stays float; none does",
    ("quantize", "--samples"): "is a limit, and there are fewer",
    ("record split", "--parts"): "one part of one is the whole",
}


def options_of(verb):
    """(option, takes a value) of a verb's help."""
    text = call(verb, "--help").stdout.decode()
    valued = set(options_with_values(verb))
    return [(o, o in valued) for o in dict.fromkeys(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE))]


def outcome(verb, arguments, out):
    """What a call did: its code, what it said, what it wrote."""
    done = call(verb, *arguments, timeout=60)
    said = re.sub(rb"\d+\.\d+ (?:ms|s)\b", b"", done.stdout).replace(str(out).encode(), b"OUT")
    files = {str(p.relative_to(out.parent)).replace(out.name, "OUT"): p.read_bytes() for p in sorted(out.parent.rglob("*")) if p.is_file()}
    return done.returncode, said, files, done.stderr


@pytest.mark.parametrize("verb", those(lambda v: GOOD.get(v) is not None and v not in FOREVER | PYTHON | {"codegen"}))
def test_every_option_does_something(verb, folder, tmp_path):  # noqa: F811
    (folder / "labels.txt").write_text("a\nb\n")
    idle, options = [], [o for o in options_of(verb) if o[0] not in HARMLESS]
    places = {}
    for i, (option, valued) in enumerate([(None, False), *options]):
        (tmp_path / str(i)).mkdir()
        places[option] = tmp_path / str(i) / "out"
        good = words(verb, folder, places[option])
        if option in ("--output",) and any(w.startswith("{o}") for w in GOOD[verb]) or option in good:
            continue
        more = [] if option is None else [option] + ([VALUES.get(option, VALUE).format(f=folder, o=places[option])] if valued else [])
        code, said, files, complaint = outcome(verb, [*good, *more], places[option])
        if option is None:
            before = code, said, files
            assert code == 0, complaint
        elif (code, said, files) == before and (verb, option) not in WITHOUT_EFFECT:
            idle.append(option)
    assert not idle, f"spore {verb}: accepted and without effect: {idle}"


# The others run on, or write no file: what their options do is asserted in these folders, and what would do nothing is refused.
ELSEWHERE = {"serve": ["serve", "device", "docs"], "bench": ["lite", "tools", "parallel"], "board": ["tools", "beside"], "codegen": ["codegen", "tools"],
             "cache start": ["cache", "tools"], "cache stop": ["cache"], "cache session": ["cache"], "cache destroy": ["cache"], "cache list": ["cache"],
             "cache info": ["cache"], "cache clear": ["cache"]}
IDLE = [
    ("serve", "{f}/net.onnx --check --max-batch 1 --max-delay 5", "max-delay"),
    ("serve", "{f}/net.onnx --check --max-batch 1 --trust-batch", "trust-batch"),
    ("serve", "{f}/net.onnx --check --unix {o} --port none --host 1.2.3.4", "--host"),
    ("serve", "{f}/net.onnx --check --port none", "port"),
    ("serve", "{f}/net.onnx --check --key {f}/key", "--cert"),
    ("serve", "{f}/net.onnx --check --client-ca {f}/key", "--cert"),
    ("serve", "{f}/net.onnx --check --set net.max_batch=1 --set net.max_delay=3", "max_delay"),
    ("serve", "{f}/net.onnx --check --set net.sequence_idle=5", "state"),
    ("serve", "{f}/net.onnx --check --set net.key_mode=AES-CBC", "key_file"),
    ("serve", "{f}/net.onnx --check --set net.versions=newest:2", "versions"),
    ("serve", "{f}/net.onnx --check --set other.max_batch=2", "other"),
    ("bench", "{f}/net.onnx --threshold 1", "--accuracy"),
    ("bench", "{f}/net.onnx --json", "--json"),
    ("bench", "--loop 2", "model"),
    ("bench", "--warm-up 2", "model"),
    ("bench", "--threads 1", "model"),
    ("bench", "--input {f}/x.npy", "model"),
    ("bench", "--comm --json", "--comm"),
    ("bench", "--comm --loop 2", "--comm"),
    ("bench", "{f}/net.onnx --comm", "--comm"),
    ("codegen", "{f}/net.onnx -o {o} --optimizer adam", "--train"),
    ("codegen", "{f}/net.onnx -o {o} --loss mse", "--train"),
    ("codegen", "{f}/net.onnx -o {o} --mode AES-CBC", "--mode"),
    ("codegen", "{f}/net.onnx --targets", "--targets"),
    ("codegen", "--targets --ram 3", "--targets"),
    ("cache start", "--spill-limit 1G --foreground", "--spill"),
    ("cache start", "--private x --port 50998 --foreground", "--private"),
]


@pytest.mark.parametrize("verb, arguments, said", IDLE)
def test_what_would_do_nothing_is_refused(verb, arguments, said, folder, tmp_path):  # noqa: F811
    done = call(verb, *arguments.format(f=folder, o=tmp_path / "out").split(), timeout=20)
    assert done.returncode != 0 and said in done.stderr.decode(), done
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", ELSEWHERE)
def test_every_other_option_is_used_by_a_test(verb):
    """An option that no test gives may do nothing without anybody noticing. Options of Python's fixtures and of configurations have underscores."""
    tests = "\n".join(p.read_text(encoding="utf-8") for where in ELSEWHERE[verb] for p in sorted((TESTS / where).rglob("*.py")) if p.name != "test_options.py")
    tests += pathlib.Path(__file__).read_text(encoding="utf-8").partition("def test_a_server_ends")[2]
    text = call(verb, "--help").stdout.decode()
    options = {o for line in re.findall(r"^  (?:-\w, )?(--.*?)(?:  |$)", text, re.MULTILINE) for o in re.findall(r"--[a-z-]+", line)}
    named = {o for o in options if re.search(rf"{o}\b|\b{o[2:].replace('-', '_')}\b", tests)}
    assert options and named == options, options - named


def test_a_server_ends_with_its_standard_input(folder):  # noqa: F811
    with subprocess.Popen([SPORE, "serve", folder / "net.onnx", "--port", "0", "--stop-with-stdin"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        said = b""
        while b"ready on" not in said:
            line = server.stderr.readline()
            assert line, said
            said += line
        assert server.poll() is None
        server.stdin.close()
        server.stderr.read()
        assert server.wait(30) == 0


def test_a_cache_server_stays_in_the_foreground():
    with subprocess.Popen([SPORE, "cache", "start", "--foreground", "--private", f"options{os.getpid()}"], stderr=subprocess.PIPE) as server:
        assert server.stderr.readline()
        assert server.poll() is None
        server.terminate()
        assert server.wait(30) == 0


def test_codegen_reads_encrypted_models(folder, tmp_path):  # noqa: F811
    secret = tmp_path / "net.mindir"
    assert call("encrypt", folder / "net.mindir", secret, "--key-file", folder / "key", "--mode", "AES-CBC").returncode == 0
    os.environ["OPTIONS_KEY"] = (folder / "key").read_text()
    try:
        done = [call("codegen", secret, "-o", tmp_path / mode, "--key-env", "OPTIONS_KEY", "--mode", mode).returncode for mode in ("AES-CBC", "AES-GCM")]
    finally:
        del os.environ["OPTIONS_KEY"]
    assert done == [0, 1] and (tmp_path / "AES-CBC" / "model.c").exists()


def test_codegen_lists_its_targets():
    assert "cortex-m4" in call("codegen", "--targets").stdout.decode()


def test_a_threshold_decides(folder, tmp_path):  # noqa: F811
    (tmp_path / "x").write_bytes(np.ones((1, 3), np.float32).tobytes())
    name = json.loads(call("inspect", folder / "net.onnx", "--json").stdout)["graph"]["outputs"][0]["name"]
    np.save(tmp_path / "x.npy", np.ones((1, 3), np.float32))
    exact = json.loads(call("predict", folder / "net.onnx", "--input", tmp_path / "x.npy", "--json").stdout)["results"][0]["values"]
    (tmp_path / "wanted").write_text(f"{name} 2 1 2\n" + " ".join(str(1.02 * v) for v in exact) + "\n")
    asked = ["--loop", "1", "--input", tmp_path / "x", "--accuracy", tmp_path / "wanted"]
    assert call("bench", folder / "net.onnx", *asked, "--threshold", "1").returncode == 1
    assert call("bench", folder / "net.onnx", *asked, "--threshold", "5").returncode == 0


class Numbers(nn.Cell):
    """Results that doubles and nine digits do not hold."""

    def construct(self, x):
        return x + x, ms.ops.cast(x, ms.float64) / 3, ms.ops.Complex()(ms.ops.cast(x, ms.float64), ms.ops.cast(-x, ms.float64))


def test_results_are_printed_as_they_are(tmp_path):
    x = np.array([12345678901, 2**60 + 1, -7])
    ms.export(Numbers(), ms.Tensor(x), file_name=str(tmp_path / "net"), file_format="MINDIR")
    np.save(tmp_path / "x.npy", x)
    done = call("predict", tmp_path / "net.mindir", "--input", tmp_path / "x.npy", "--json")
    whole, third, pairs = (r["values"] for r in json.loads(done.stdout)["results"])
    assert whole == [2 * int(v) for v in x] and third == (x.astype(np.float64) / 3).tolist()
    assert pairs == [[float(v), -float(v)] for v in x]
    assert str(2**61 + 2) in call("predict", tmp_path / "net.mindir", "--input", tmp_path / "x.npy").stdout.decode()


@pytest.mark.parametrize("a, b, largest", [
    (np.array([2**60 + 1]), np.array([2**60 + 2]), 1), (np.array([-2**63, 0]), np.array([2**63 - 1, 0]), float(2**64 - 1)),
    (np.array([2**64 - 1], np.uint64), np.array([2**64 - 2], np.uint64), 1),
    (np.array([3 + 4j]), np.array([3 - 4j]), 8), (np.array([1j], np.complex64), np.array([1], np.complex64), 2**0.5)])
def test_numbers_that_are_equal_as_doubles_differ(tmp_path, a, b, largest):
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    done = call("diff", tmp_path / "a.npy", tmp_path / "b.npy", "--json")
    found, = json.loads(done.stdout)["differences"]
    assert done.returncode == 1 and found["largest"] == pytest.approx(largest, rel=1e-6) and found["elements"] == 1
    assert call("diff", tmp_path / "a.npy", tmp_path / "b.npy", "--tolerance", largest * 1.001).returncode == 0
    assert call("diff", tmp_path / "a.npy", tmp_path / "a.npy").returncode == 0

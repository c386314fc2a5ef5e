# SPDX-License-Identifier: Apache-2.0
"""An option of the command does something, or is refused: each option of every verb is given where the verb works without it. The options are
read from the help; one that changes neither the answer nor the file that is written needs a reason in WITHOUT_EFFECT."""
import json
import re

import numpy as np
import pytest
from test_verbs import FOREVER, GOOD, PYTHON, _folder, call, options_with_values, those, words  # noqa: F401 (a fixture)

import spore as ms
from spore import nn

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

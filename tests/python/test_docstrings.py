# SPDX-License-Identifier: Apache-2.0
"""Every public name has an example in its docstring; all of them run and print what they say.

Numbers are compared with a tolerance: the last digits depend on the C library and on the instructions a kernel uses.
"""
import doctest
import importlib
import importlib.util
import inspect
import io
import re
import sys
from pathlib import Path

import pytest

import spore
from spore import _core, mint, nn, ops, train

PLACES = {"spore": spore, "spore.ops": ops, "spore.nn": nn, "spore.nn.probability.bijector": nn.probability.bijector,
          "spore.nn.probability.distribution": nn.probability.distribution, "spore.train": train, "spore.mint": mint,
          "spore.mint.nn.functional": mint.nn.functional, "spore.mint.linalg": mint.linalg,
          "spore.mint.special": mint.special, "spore.numpy": spore.numpy, "spore.dataset": spore.dataset, "spore.dataset.vision": spore.dataset.vision}
# What cannot be shown here: packages or files that a test does not have.
NEEDS = {"spore.dataset.TFRecordDataset": "a file that TensorFlow wrote", **{f"spore.dataset.vision.{name}": package for package, names in {
    "Pillow": ("FiveCrop", "Grayscale", "RandomGrayscale", "RandomPerspective", "TenCrop", "ToNumpy", "ToPIL"),
    "PyAV": ("DecodeVideo", "VideoDecoder", "read_video", "read_video_timestamps")}.items() for name in names}}
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


class Checker(doctest.OutputChecker):
    """Text must be the same, numbers close; blanks do not count, since columns follow the width of numbers."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags):
            return True
        texts = [[re.sub(r"\s+", "", part) for part in NUMBER.split(text)] for text in (want, got)]
        numbers = [[float(n) for n in NUMBER.findall(text)] for text in (want, got)]
        return (texts[0] == texts[1] and len(numbers[0]) == len(numbers[1])
                and all(abs(a - b) <= 1e-5 + 1e-4 * abs(a) for a, b in zip(*numbers)))


def objects(place):
    """(name, docstring) of what a place shows: functions, classes and their own methods; members of Tensor."""
    if place == "Tensor":
        for name, value in vars(_core.Tensor).items():
            if not name.startswith("_") and (callable(value) or isinstance(value, (property, staticmethod))):
                yield f"Tensor.{name}", value.__doc__ if not isinstance(value, staticmethod) else value.__func__.__doc__
        return
    module = PLACES[place]
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.ismodule(value) or not (inspect.isclass(value) or callable(value)) or isinstance(value, nn.Cell):
            continue
        if isinstance(value, (_core.DType, _core.Tensor)):
            continue
        doc = value.__doc__ or ""
        if inspect.isclass(value) and value is not _core.Tensor:
            doc += "".join("\n\n" + inspect.getdoc(m) for m in vars(value).values()
                           if inspect.isfunction(m) and m.__doc__ and ">>>" in m.__doc__)
        yield f"{place}.{name}", doc


def run(name, doc):
    """(number of examples, report of what failed)."""
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(doc), {"__name__": "__main__"}, name, name, 0)
    report = io.StringIO()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(Checker(), verbose=False, optionflags=flags)
    spore.set_seed(0)
    modules, finders = dict(sys.modules), list(sys.meta_path)
    classes = {value: value.__module__ for module in modules.values() if "as_mindspore" in doc and module is not None
               for value in list(vars(module).values()) if isinstance(value, type) and str(value.__module__).startswith("spore.")}
    runner.run(test, out=report.write)
    sys.meta_path[:] = finders  # as_mindspore is not for the other tests
    for value, place in classes.items():
        value.__module__ = place
    for gone in [m for m in sys.modules if m not in modules and m.split(".")[0] == "mindspore"]:
        del sys.modules[gone]
    return len(test.examples), report.getvalue()


def small_data_sets(folder):
    """Those that tests/oracle_sources makes, in the layouts of the real ones: examples read them."""
    path = Path(__file__).resolve().parents[1] / "oracle_sources/make.py"
    spec = importlib.util.spec_from_file_location("make_small_data_sets", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make(folder)


@pytest.mark.parametrize("place", [*PLACES, "Tensor"])
def test_examples_run(place, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if place.startswith("spore.dataset"):
        small_data_sets(tmp_path)
    failures, n_with, n_lines, without = [], 0, 0, []
    for name, doc in objects(place):
        if ">>>" not in (doc or ""):
            without.append(name)
            continue
        lines, report = run(name, doc)
        n_with += 1
        n_lines += lines
        if report:
            failures.append(report)
    with capsys.disabled():
        print(f"\n{place}: {n_with} names with an example ({n_lines} lines), {len(without)} without", end="")
    assert not failures, f"{len(failures)} examples fail:\n" + "\n".join(failures)
    without = [name for name in without if name not in NEEDS]
    assert not without, f"names without an example: {', '.join(without)}"


def test_every_operator_of_the_table_has_an_example():
    """Those that Python shows; a function written by hand hides the face of its name."""
    places = {path[6:]: vars(module) for path, module in PLACES.items()} | {"Tensor": vars(_core.Tensor)}
    without, n = [], 0
    for place, name, init, _, function, _, _ in _core.faces():
        shown = places[place].get(name) is function if init is None else getattr(ops, name).__doc__ == function.__doc__
        if shown:
            n += 1
            if ">>>" not in function.__doc__:
                without.append(f"{place}.{name}")
    assert not without, f"no example in the docstrings of {', '.join(without)}: run scripts/make-examples and build"
    assert n > 500


@pytest.mark.parametrize("place", ["_extends.utils", "_run_check", "common._grad_function", "experimental.optim.optimizer",
                                   "experimental.optim.rules", "profiler"])
def test_examples_below_the_public_places_run(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f"spore.{place}")
    examples = {name: getattr(module, name).__doc__ for name in module.__all__ if ">>>" in (getattr(module, name).__doc__ or "")}
    assert examples
    for name, doc in examples.items():
        assert not run(name, doc)[1]


def test_the_docstring_of_an_operator_comes_from_the_table():
    entry = next(e for e in _core.op_table() if e["name"] == "log_softmax")
    assert ops.log_softmax.__doc__.startswith(entry["doc"])
    assert str(inspect.signature(ops.log_softmax)) == "(logits, axis=-1)"


@pytest.mark.parametrize("want, got, same", [("[1.0 2.0]", "[1.000001 2.]", True), ("[1.0 2.0]", "[1.1 2.0]", False),
                                             ("[1 2]", "[1 2 3]", False), ("Tensor 1", "Array 1", False)])
def test_comparison_of_output(want, got, same):
    assert Checker().check_output(want + "\n", got + "\n", 0) == same

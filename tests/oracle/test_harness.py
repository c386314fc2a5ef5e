# SPDX-License-Identifier: Apache-2.0
"""The harness itself, without any framework: inputs never change, and every kind of difference is seen."""
import pathlib
import sys
import types
import zlib

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import oracle  # noqa: E402


class FakeTensor:
    """As much of a Tensor as the harness touches."""

    def __init__(self, array):
        self.array = np.asarray(array)
        self.shape = self.array.shape
        self.dtype = self.array.dtype.name.capitalize()

    def asnumpy(self):
        return self.array


def scope():
    ms = types.SimpleNamespace(grad=lambda function, positions: lambda *values: FakeTensor(np.float32(1)))
    return {"ms": ms, "np": np, "Tensor": FakeTensor}


def case(code, kind="exact", **inputs):
    return oracle.Case("file", "api", code, inputs, kind=kind)


def result(code, kind="exact", **inputs):
    return oracle.run(case(code, kind, **inputs), scope())


def test_inputs_are_those_of_the_day_they_were_recorded():
    def values(text):
        return oracle.draw(oracle.SPEC.fullmatch(text), zlib.crc32(b"key|x"))
    assert values("i32[4]<5").tolist() == [0, 4, 4, 2]
    assert values("f32[2](0.5,2)").tolist() == [0.6281307339668274, 1.9667280912399292]
    assert values("bf16[2]").view(np.uint32).tolist() == [3218341888, 1072955392]
    assert values("bool[3]").dtype == bool and values("u8[]").shape == () and values("c64[2,0]").shape == (2, 0)


@pytest.mark.parametrize("text", ["f32", "f32[a]", "f8[2]", "f32[2](1)", "i32[2]<", "same"])
def test_other_text_is_passed_as_it_is(text):
    assert oracle.build(text, "x", "key", scope()) == text


@pytest.mark.parametrize("want, got, fault", [
    ("Tensor([1.0, 2.0])", "Tensor([1.0, 2.1])", "differs in 1 of 2 values"),
    ("Tensor(np.float32([1]))", "Tensor(np.float64([1]))", "dtype"),
    ("Tensor([1, 2])", "Tensor([[1, 2]])", "shape"),
    ("Tensor([1])", "[Tensor([1])]", "sequence"),
    ("(1, 2)", "(1, 2, 3)", "has 3 elements"),
    ("1", "2", "is 2, wanted 1"),
    ("1", "True", "is a bool"),
    ("'a'", "'b'", "is 'b'"),
    ("1 / 0", "1", "gave a result, wanted a ZeroDivisionError"),
    ("1", "1 / 0", "raised ZeroDivisionError"),
    ("1 / 0", "[][0]", "raised IndexError"),
    ("Tensor([np.nan])", "Tensor([1.0])", "differs"),
])
def test_every_difference_is_seen(want, got, fault):
    assert fault in oracle.compare(result(want), result(got), case(got))
    assert oracle.compare(result(want), result(want), case(want)) is None


@pytest.mark.parametrize("got, fault", [
    ("np.random.normal(1, 1, 2000)", "mean"), ("np.random.normal(0, 2, 2000)", "deviation"),
    ("np.full(2000, np.nan)", "not finite"), ("np.random.normal(0, 1, 1999)", "shape")])
def test_random_results_are_held_to_their_distribution(got, fault):
    np.random.seed(1)
    normal = case("np.random.normal(0, 1, 2000)", "random")
    want = oracle.run(normal, scope())
    assert oracle.compare(want, oracle.run(normal, scope()), normal) is None
    assert fault in oracle.compare(want, result(got, "random"), normal)


def test_random_results_stay_inside_their_bounds():
    bounded = oracle.Case("file", "api", "np.ones(3)", {}, kind="random", bounds=(0, 0.5))
    assert "wanted inside" in oracle.compare(oracle.run(bounded, scope()), oracle.run(bounded, scope()), bounded)


def test_changed_inputs_are_noticed():
    a, b = case("x", x="f32[2]"), case("x", x="f32[3]")
    assert "inputs differ" in oracle.compare(oracle.run(a, scope()), oracle.run(b, scope()), a)


def test_missing_gradient_is_noticed():
    c = oracle.Case("file", "api", "x", {"x": "f32[2]"}, grad="x")
    want = oracle.run(c, scope())
    broken = scope()
    broken["ms"].grad = None
    assert "gradient raised TypeError" in oracle.compare(want, oracle.run(c, broken), c)


def test_results_survive_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(oracle, "DATA", tmp_path)
    results = {name: result(code) for name, code in (
        ("a", "(Tensor(np.arange(6).reshape(2, 3)), [None, 1.5, 'text', True])"), ("b", "1 / 0"),
        ("c", "np.zeros((2, 0), np.float16)"), ("d", "Tensor(np.float32(3))"))}
    oracle.save("some", results)
    for name, loaded in oracle.load("some").items():
        assert oracle.compare(loaded, results[name], case("")) is None
    assert len(oracle.load("some")) == 4


def test_a_difference_needs_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(oracle, "DIFFERENT", tmp_path / "different.txt")
    assert oracle.different() == {}
    oracle.DIFFERENT.write_text("# head\nops.relu  # faster\n")
    assert oracle.different() == {"ops.relu": "faster"}
    oracle.DIFFERENT.write_text("ops.relu\n")
    with pytest.raises(ValueError, match="ops.relu has no reason"):
        oracle.different()


def test_a_group_excuses_answers_only(tmp_path, monkeypatch):
    monkeypatch.setattr(oracle, "DIFFERENT", tmp_path / "different.txt")
    oracle.DIFFERENT.write_text("promotion: *=u16*  # computed here\n")
    groups = oracle.answered()
    assert groups == {("promotion", "*=u16*"): "computed here"} and oracle.different() == {}
    case = oracle.Case("f", "promotion", "x + y", {"x": "u16[3]", "y": "f32[3]"})
    other = oracle.Case("f", "promotion", "x + y", {"x": "i16[3]", "y": "f32[3]"})
    assert oracle.is_meant(case, "gave a result, wanted a TypeError", {}, groups)
    assert not oracle.is_meant(case, "result has dtype Int64, wanted UInt16", {}, groups)
    assert not oracle.is_meant(other, "gave a result, wanted a TypeError", {}, groups)

# SPDX-License-Identifier: Apache-2.0
"""Operators as functions, methods and primitives: arguments, signatures, errors, and what they cost."""
import gc
import inspect
import threading
import timeit

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, _core, ops

FACES = _core.faces()


# Straight from the table: what spore.ops shows under these names may be written by hand around them.
OPS = {name: row[0] for name, row in _core.face_map()["ops"].items()}
exp, Exp, maximum = OPS["exp"], OPS["Exp"], OPS["maximum"]


def x():
    return Tensor([[-1.0, 2.0], [3.0, -4.0]])


def e():
    return np.exp(x().asnumpy())


# --- the table -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("row", FACES, ids=lambda r: f"{r[0]}.{r[1]}")
def test_every_face_can_be_inspected(row):
    place, name, init, call, function, op, doc = row
    signature = inspect.signature(function)
    names = [p for p in signature.parameters if p != "self"]
    declared = _core.face_arguments(place, name)
    shown = [a[0] for a in declared[0 if init is not None else 1]]
    assert [n for n in shown if n in names] == names  # fixed arguments are not shown
    assert function.__name__ == name
    assert _core.has_op(op)


def test_the_table_is_complete_enough_to_document():
    for row in _core.op_table():
        assert row["name"] and isinstance(row["dtypes"], list) and row["dtypes"]
        for _, kind, _ in row["attrs"]:
            assert kind in ("int", "float", "bool", "dtype", "ints", "floats", "number", "text")


# --- arguments -------------------------------------------------------------------------------------------------------

def test_positional_keyword_and_method():
    for got in (exp(x()), exp(input=x()), x().exp(), Exp()(x()), ops.Exp()(x())):
        np.testing.assert_allclose(got.asnumpy(), e(), rtol=1e-6)


@pytest.mark.parametrize("call, message", [
    (lambda: exp(), "missing"), (lambda: exp(x(), 1), "positional"), (lambda: exp(x(), foo=1), "foo"),
    (lambda: exp(x(), input=x()), "multiple"), (lambda: exp(3), "input must be a Tensor, but got int"),
    (lambda: exp("a"), "input must be a Tensor, but got str"), (lambda: exp(None), "NoneType"),
    (lambda: maximum({}, 2), "must be a Tensor"), (lambda: Exp(1), "positional"), (lambda: Exp()(), "missing")])
def test_wrong_arguments(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_numbers_arrays_and_lists_beside_a_tensor():
    assert maximum(x(), 0).dtype == ms.float32
    assert maximum(0, x()).tolist() == [[0, 2], [3, 0]]
    assert maximum(x(), np.array([0.0, 5.0], np.float32)).tolist() == [[0, 5], [3, 5]]


def test_apply_by_name():
    assert _core.apply("reshape", (x(),), {"shape": (4,)}).shape == (4,)
    assert _core.apply("reshape", [x()], {"shape": [2, -1]}).shape == (2, 2)
    assert _core.apply("reshape", [x()], {"shape": Tensor([4, 1])}).shape == (4, 1)
    with pytest.raises(NotImplementedError, match="no_such"):
        _core.apply("no_such", ())
    with pytest.raises(TypeError, match="foo"):
        _core.apply("relu", (x(),), {"foo": 1})
    with pytest.raises(TypeError, match="shape"):
        _core.apply("reshape", (x(),), {"shape": 1.5})
    with pytest.raises(TypeError):
        _core.apply("reshape", (x(),), {"shape": (True, 4)})
    with pytest.raises(TypeError, match="inputs"):
        _core.apply("add", (x(),))


def test_errors_of_the_engine_become_exceptions():
    with pytest.raises(ValueError):
        Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])
    with pytest.raises(ValueError):
        _core.apply("reshape", (x(),), {"shape": (3,)})


# --- memory, threads, speed ------------------------------------------------------------------------------------------

def test_calls_keep_nothing():
    def work():
        for _ in range(50):
            t = Tensor(np.ones((64, 64), np.float32))
            exp(t + 1)
            t[1:, ::2] = 3
            t[t > 1].asnumpy()
            Exp()(t)
            Parameter(t, name="p")
            for bad in (lambda: exp(3), lambda: t + Tensor([1.0, 2.0, 3.0]), lambda: t[100],
                        lambda: Tensor([[1], [2, 3]])):
                with pytest.raises((TypeError, ValueError, IndexError)):
                    bad()
    work()
    gc.collect()
    before, objects = ms.runtime.memory_allocated(), len(gc.get_objects())
    work()
    gc.collect()
    assert ms.runtime.memory_allocated() <= before
    assert len(gc.get_objects()) <= objects + 50


def test_threads_run_operators_side_by_side():
    failures = []

    def work(seed):
        big = Tensor(np.full((300, 300), seed, np.float32))
        for _ in range(10):
            y = (big + big) * 2
            if y[0, 0].item() != 4 * seed or y[-1, -1].item() != 4 * seed:
                failures.append(seed)
            try:
                big + Tensor([1.0, 2.0])
                failures.append("no error")
            except ValueError:
                pass
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.long
def test_small_operators_are_quick():
    a, b = Tensor([1.0, 2.0, 3.0, 4.0]), Tensor([1.0, 2.0, 3.0, 4.0])
    for statement, limit in (("a + b", 300), ("a + 1.0", 400), ("exp(a)", 450), ("a.exp()", 450), ("a[0]", 250)):
        best = min(timeit.repeat(statement, globals=dict(a=a, b=b, exp=exp), number=20000, repeat=7)) / 20000 * 1e9
        assert best < limit, f"{statement} takes {best:.0f} ns, at most {limit} are fine"

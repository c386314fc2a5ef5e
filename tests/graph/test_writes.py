# SPDX-License-Identifier: Apache-2.0
"""Writes into Tensors. Where plain Python's rules hold (capture by bytecode) whoever shares the memory sees them; and results of
programs never share memory that eager mode keeps apart, whatever passes found out about them."""
import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, ops

BUFFER = Tensor([1.0, 2.0])


def method_on_a_view(x):
    y = x[0]
    y.add_(1)
    return x


def item_of_a_view(x):
    y = x[0]
    y[1] = 7
    return x


def item_of_a_reshaped(x):
    y = x.reshape(-1)
    y[1] = 7
    return x, y


def view_of_a_result(x):
    y = x + 1
    z = y[0]
    z[1] = 7
    return y


def item_in_a_branch(x):
    y = x * 1
    z = y
    if x.sum() > 0:
        y[0] = 5
    return y, z


def method_in_a_branch(x):
    y = x * 1
    z = y
    if x.sum() > 0:
        y.add_(5)
    return y, z


def items_in_a_loop_of_the_run(x):
    y = x * 1
    while y.sum() < 30:
        y[0] = y[0] + 10
    return y


def items_in_a_loop(x):
    y = ops.zeros((3, 2))
    for i in range(3):
        y[i] = x[0] * i
    return y


def item_of_a_global(x):
    BUFFER[0] = BUFFER[0] * 0 + x[0, 0]
    return BUFFER * 2


def item_by_another_name(x):
    y = x * 1
    z = y
    z[0] = 3
    return y


def item_in_a_helper(x):
    def write(t):
        t[0] = 8
    y = x * 1
    write(y)
    return y, x


def item_of_the_argument(x):
    x[0] = 5
    return x + 1


def augmented_item(x):
    x[:, 0:1] += 7
    return x


WRITERS = [method_on_a_view, item_of_a_view, item_of_a_reshaped, view_of_a_result, item_in_a_branch, method_in_a_branch,
           items_in_a_loop_of_the_run, items_in_a_loop, item_of_a_global, item_by_another_name, item_in_a_helper, item_of_the_argument,
           augmented_item]


@pytest.mark.parametrize("function", WRITERS, ids=lambda f: f.__name__)
def test_bytecode_writes_as_plain_python(function):
    def run(call):
        x, y = Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])
        results = [call(x), call(y), call(x)]
        return [t.asnumpy().tolist() for r in results for t in (r if isinstance(r, tuple) else (r,))] + [
            t.asnumpy().tolist() for t in (x, y, BUFFER)]
    assert run(ms.jit(function, capture_mode="bytecode")) == run(function)


def once_and_again(x):
    return x + 1, x + 1


def times_one(x):
    return x * 1, x / 1, x - 0, -(-x)


def casts_to_its_own(x):
    return x.astype(ms.float32), x.copy()


def part_of_times_one(x):
    return (x * 1)[0], (x * 1).reshape(-1)


@pytest.mark.parametrize("function", [once_and_again, times_one, casts_to_its_own, part_of_times_one], ids=lambda f: f.__name__)
def test_results_are_apart(function):
    x = Tensor([[1.0, 2.0]])
    want = [t.asnumpy().tolist() for t in function(x)]
    results = ms.jit(function)(x)
    for i, written in enumerate(results):
        written[0] = 100 + i
        assert x.asnumpy().tolist() == [[1.0, 2.0]], i
        for k in range(i + 1, len(results)):
            assert results[k].asnumpy().tolist() == want[k], (i, k)


def test_views_stay_views():
    @ms.jit
    def f(x):
        return x[0], x
    x = Tensor([[1.0, 2.0]])
    row, same = f(x)
    row[0] = 9
    assert x.asnumpy().tolist() == same.asnumpy().tolist() == [[9.0, 2.0]]


def test_a_returned_parameter():
    p = Parameter(Tensor([1.0]), name="p")

    @ms.jit
    def alone():
        return p

    @ms.jit
    def two():
        return p, p

    @ms.jit
    def written(x):
        ops.assign(p, x)
        return p
    assert alone() is p
    assert [type(v) for v in two()] == [Tensor, Tensor]
    assert type(written(Tensor([3.0]))) is Tensor and np.array_equal(p.asnumpy(), [3.0])


def test_a_mask_of_all_dimensions_takes_values_from_its_places():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def f(x, y):
        x = x * 1
        x[x > 2] = y
        return x
    for call in (f, ms.jit(f)):
        assert np.array_equal(call(Tensor(x), Tensor(x * 10)).asnumpy(), np.where(x > 2, x * 10, x))
        assert np.array_equal(call(Tensor(x), Tensor([[7.0], [8.0]])).asnumpy(), np.where(x > 2, [[7.0], [8.0]], x))
        assert np.array_equal(call(Tensor(x), Tensor([7.0, 8.0, 9.0])).asnumpy(), [[0, 1, 2], [7, 8, 9]])


def test_a_list_of_tensors_as_index_stands_for_a_tuple():
    x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))

    def f(x, i, j):
        return x[[i, j]], x[True, i.reshape(1)]
    for call in (f, ms.jit(f)):
        one, rows = call(x, Tensor(1), Tensor(2))
        assert (one.shape, one.asnumpy().tolist(), rows.shape) == ((), 6.0, (1, 4))


@pytest.mark.parametrize("compiled", (False, True))
@pytest.mark.parametrize("value", (5.0, [9.0], [9.0, 8.0, 7.0]))
def test_a_write_to_no_element_does_nothing(compiled, value):
    """As in MindSpore 2.10, also where the value's shape does not fit."""
    def empty_slice(x, y):
        x[4:2] = y
        return x

    def empty_list(x, y):
        x[[]] = y
        return x

    for function in (empty_slice, empty_list):
        x = ms.Tensor(np.arange(6, dtype=np.float32))
        y = value if isinstance(value, float) else ms.Tensor(np.array(value, np.float32))
        result = (ms.jit(function) if compiled else function)(x, y)
        assert result.asnumpy().tolist() == [0, 1, 2, 3, 4, 5]

# SPDX-License-Identifier: Apache-2.0
"""Captured by bytecode, iterators can be gone through once, as in plain Python, and need not split the function."""
import collections

import pytest

import spore as ms
from spore import Tensor, nn
from spore._c_expression import get_code_extra

Pair = collections.namedtuple("Pair", "a b", defaults=(2,))


def half_of_a_zip(x):
    pairs, taken = zip([x, x * 2, x * 3], [1, 2, 3]), []
    for value, n in pairs:
        taken.append(value * n)
        if n == 2:
            break
    return taken, list(pairs), list(pairs)


def next_and_rest(x):
    items = iter([x, 2, 3])
    return next(items), list(items), next(items, 7)


def generator_twice(x):
    products = (x * i for i in range(3))
    return sum(products), list(products)


def mapped(x):
    made = map(lambda v: v + 1, [x, x * 2])
    return next(made), tuple(made), tuple(made)


def unpacked(x):
    backwards = reversed([1, 2, 3])
    first, *others = backwards
    return x + first, others, [*backwards]


def list_that_grows(x):
    items = [x]
    walk = iter(items)
    items.append(x + 1)
    return list(walk), items


def filtered_and_numbered(x):
    numbered = enumerate(filter(None, [0, 3, 2]), 5)
    return next(numbered), dict(numbered), list(numbered), x


def nested_comprehensions(x):
    return [x * a + b for a in range(2) for b in range(a, 3) if a != b], {a: b for a in range(2) for b in range(2)}, range(3)


def handed_to_library_functions(x):
    return sorted(zip([2, 1], [3, 4])), dict(zip("ab", [x, 1])), max(filter(None, [0, 3, 2])), ",".join(str(v) for v in range(3))


def named_tuples(x):
    pair = Pair(x)
    a, b = pair._replace(b=3)
    return pair.a + pair.b, a * b, Pair(b=x, a=1), pair._fields, len(pair)


def two_at_a_time(x):
    walk = iter([x, x + 1, x + 2, x + 3])
    return [a * b for a, b in zip(walk, walk)]


WHOLE = [half_of_a_zip, next_and_rest, generator_twice, mapped, unpacked, list_that_grows, filtered_and_numbered,
         nested_comprehensions, handed_to_library_functions, named_tuples]


def to_the_end(x):
    items = iter([1, 2])
    try:
        while True:
            x = x + next(items)
    except StopIteration:
        return x


def broken_by_the_run(x):
    numbered = enumerate([x, x])
    for i, _ in numbered:
        if x.sum() > i:
            break
    return list(numbered)


def looked_at(x):
    pairs = zip([x, x], [1, 2])
    return isinstance(pairs, zip), type(pairs), pairs.__class__, list(pairs)


SPLIT = [to_the_end, broken_by_the_run, looked_at]


@pytest.mark.parametrize("function", WHOLE + SPLIT, ids=lambda f: f.__name__)
def test_as_plain_python(function):
    x, compiled = Tensor([1.0, 2.0]), ms.jit(function, capture_mode="bytecode")
    for _ in range(2):
        assert repr(compiled(x)) == repr(function(x))
    assert get_code_extra(function)["break_count_"] == (0 if function in WHOLE else 1)


def test_one_iterator_for_two():
    """zip() of one iterator twice takes pairs."""
    x = Tensor([1.0, 2.0])
    assert repr(ms.jit(two_at_a_time, capture_mode="bytecode")(x)) == repr(two_at_a_time(x))


def test_iterator_as_result():
    made = ms.jit(lambda x: zip([x], [1]), capture_mode="bytecode")(Tensor(1.0))
    assert isinstance(made, zip) and [n for _, n in made] == [1]


def test_code_extra_of_methods():
    class Net(nn.Cell):
        def construct(self, x):
            return x + 1
    net = Net()
    net.construct = ms.jit(net.construct, capture_mode="bytecode")
    net(Tensor([1.0]))
    for form in (net.construct, net.construct.__wrapped__, Net.construct):
        assert get_code_extra(form)["stat"] == "GRAPH_CALLABLE" and get_code_extra(form)["code"]["call_count_"] == 1

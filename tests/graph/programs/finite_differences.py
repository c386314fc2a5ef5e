# SPDX-License-Identifier: Apache-2.0
"""Gradients of compiled functions, first and second order, against finite differences and against the same function not
compiled. Everything is float64, so that differences are exact to about nine digits."""
import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from graphtest import program

STEP = 1e-5


def number(value):
    return float(value.asnumpy())


def close(a, b, tolerance=1e-6):
    return bool(abs(a - b) <= tolerance * (1 + abs(a) + abs(b)))


def differentiable(*points):
    """Register a program that checks f at the points, which must not lie near a jump."""
    def register(f):
        def check():
            compiled = ms.jit(f)
            slope, bend = ms.jit(ms.grad(f)), ms.jit(ms.grad(ms.grad(f)))
            rows = []
            for p in points:
                at = [Tensor(np.float64(p + d)) for d in (-STEP, 0, STEP)]
                values = [number(compiled(x)) for x in at]
                slopes = [number(slope(x)) for x in at]
                second = number(bend(at[1]))
                rows.append({"value": values[1], "slope": slopes[1], "bend": second,
                             "slope by differences": close(slopes[1], (values[2] - values[0]) / (2 * STEP)),
                             "bend by differences": close(second, (slopes[2] - slopes[0]) / (2 * STEP)),
                             "as not compiled": close(values[1], number(f(at[1])), 1e-12)
                             and close(slopes[1], number(ms.grad(f)(at[1])), 1e-12)})
            return rows
        check.__name__ = "differences_" + f.__name__
        check.__code__ = check.__code__.replace(co_filename=f.__code__.co_filename)
        program(check)
        return f
    return register


def cube(x):
    return x * x * x


def power(x, n):
    if n > 0:
        return x * power(x, n - 1)
    return x * 0 + 1


def down(x):
    if x < 1:
        return ops.sin(x)
    return x * down(x / 2)


def even(x):
    if x > 20:
        return x * x
    return odd(x * 2)


def odd(x):
    if x > 20:
        return ops.sin(x) * x
    return even(x + 3) * 0.5


@differentiable(2., -2.)
def one_if(x):
    if x > 0:
        return ops.sin(x) * x
    return x * x * 3


@differentiable(3., 1., -1.5)
def nested_if(x):
    y = x
    if x > 0:
        if x > 2:
            y = cube(x)
        else:
            y = ops.exp(x)
        y = y * x
    else:
        y = y * y
    return y + x


@differentiable(4., 2., 0.5)
def early_return(x):
    if x > 3:
        return x * x * 10
    x = x * x
    if x > 2:
        return ops.log(x) * 5
    return x * x + 1


@differentiable(1.5, 3.)
def while_on_value(x):
    while x < 50:
        x = x * x + 0.1
    return x


@differentiable(2., 0.5)
def while_with_counter(x):
    y, i = x, ops.zeros((), ms.int64)
    while i < 4:
        y = y * x + ops.sin(y)
        i = i + 1
    return y


@differentiable(1.3, 2.2)
def while_with_if(x):
    y = x
    while y < 20:
        if y > 5:
            y = y * x
        else:
            y = y + x * x
    return y


@differentiable(1.7, 3.1)
def while_with_break(x):
    y = x
    while True:
        y = y * x
        if y > 30:
            break
        y = y + 1
    return y * x


@differentiable(1.7)
def while_with_continue(x):
    y, i = x, ops.zeros((), ms.int64)
    while i < 6:
        i = i + 1
        if i % 3 == 0:
            continue
        y = y * x + 1
    return y


@differentiable(1.7, 150.)
def while_with_return(x):
    y = x
    while y < 100:
        y = y * x
        if y > 11:
            return ops.log(y) * y
    return y * x


@differentiable(1.2)
def nested_while(x):
    total, i = x * 0, ops.zeros((), ms.int64)
    while i < 3:
        y, j = x, ops.zeros((), ms.int64)
        while j < i:
            y = y * x + 1
            j = j + 1
        total = total + y * ops.sin(x)
        i = i + 1
    return total


@differentiable(1.3)
def while_in_for(x):
    for i in range(2):
        while x < 10 * (i + 1):
            x = x * x + i
    return x


@differentiable(1.6)
def for_in_while(x):
    y = x
    while y < 100:
        for i in range(1, 3):
            y = y * x + i
    return y


@differentiable(0.7)
def unrolled_for(x):
    y = x
    for i in range(4):
        y = ops.sin(y) * x + i
    return y


@differentiable(1.9, 0.3)
def recursion_by_number(x):
    return power(x, 4)


@differentiable(5., 0.5)
def recursion_by_value(x):
    return down(x)


@differentiable(1.1, 7.)
def mutual_recursion(x):
    return even(x)


@differentiable(0.8)
def closure(x):
    scale = x * x

    def g(y):
        return ops.sin(y) * scale + x
    return g(x + 1) * g(x)


@differentiable(2., 0.5)
def function_chosen_at_run_time(x):
    def square(v):
        return v * v * x

    def sine(v):
        return ops.sin(v * x)
    g = sine
    if x > 1:
        g = square
    return g(x) * x


@differentiable(0.6)
def gradient_inside(x):
    return ms.grad(cube)(x) * ops.sin(x)


@differentiable(2., 9.)
def newton_iteration(x):
    y = x
    i = ops.zeros((), ms.int64)
    while i < 5:
        y = (y + x / y) / 2
        i = i + 1
    return y


@differentiable(1.3)
def tuple_carried(x):
    state = (x, x * x)
    i = ops.zeros((), ms.int64)
    while i < 3:
        state = (state[1], state[0] * state[1] * 0.5)
        i = i + 1
    return state[0] + state[1]


@differentiable(1.3, -0.4)
def conditional_expressions(x):
    y = x * x if x > 1 else ops.exp(x)
    return y * (x if y > 1 else -x)


@differentiable(0.9)
def containers(x):
    items = [x, ops.sin(x)]
    items.append(x * x)
    d = {"a": items[2], "b": (items[0], items[1])}
    return d["a"] * d["b"][1] + d["b"][0]

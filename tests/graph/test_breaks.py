# SPDX-License-Identifier: Apache-2.0
"""Functions that cannot be captured whole run in pieces around what Python has to do, and give what plain Python gives."""
import contextlib
import json
import math
import random
import time

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, nn, ops
from spore.graph import explain

SCALE = 1


def tensor(*values):
    return Tensor(np.array(values, np.float32))


def plain(value):
    """A result as something that can be compared to the last bit."""
    if isinstance(value, Tensor):
        return str(value.dtype), value.shape, value.asnumpy().tobytes()
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return type(value).__name__, repr(value)


def outcome(function, args):
    try:
        return plain(function(*args))
    except Exception as error:               # the type counts: compiled code adds places to the text
        return type(error).__name__


# --- the functions ---------------------------------------------------------------------------------------------------

def numpy_between(x):
    y = ops.relu(x * 2 + 1)
    order = np.argsort(y.asnumpy())[::-1].copy()
    z = y[Tensor(order)]
    return z * 2, order


def loop_with_numpy(x):
    total = 0.0
    for i in range(6):
        x = ops.sin(x * 2 + i)
        s = float(x.asnumpy().sum())
        total = total + s * 0.1
        if s < -100:
            break
        x = x - s * 0.1
    return x, total


def while_with_numpy(x):
    n = 0
    while np.abs(x.asnumpy()).max() > 0.5:
        x = x * 0.5
        n += 1
        if n > 50:
            return None
    return x, n


def return_in_the_middle(x):
    y = x + 1
    if y.asnumpy()[0] > 2:
        return y * 3
    z = y * y
    return z - 1


def exception_caught(x):
    y = x + 1
    try:
        y = y * 2
        value = {"a": 1}["b"]
        y = y * 100
    except KeyError as error:
        value = len(str(error))
        y = y - 1
    else:
        y = y * 50
    finally:
        y = y + 0.5
    return y * value


def exception_from_operator(x):
    try:
        y = ops.matmul(x, ops.ones((7, 7)))
    except (ValueError, RuntimeError) as error:
        y = x * 2
        name = type(error).__name__
    else:
        name = ""
    return y, len(name) > 0


def exception_raised(x):
    y = x * 2
    if float(y.asnumpy().sum()) > 0:
        raise ValueError("too much")
    return y


def helper_with_numpy(x, k):
    y = ops.tanh(x) * k
    return y + float(np.median(y.asnumpy()))


def calls_helper(x):
    a = helper_with_numpy(x, 2) * 2
    b = helper_with_numpy(a, 3)
    return ops.exp(b - a)


def nested_helpers(x):
    def inner(v, scale=2):
        return v * scale + float(v.asnumpy().max())
    y = x
    for k in range(4):
        y = inner(y, scale=k) / 2
    return y


def list_across(x):
    kept = []
    for i in range(4):
        y = x * i
        kept.append(y + 1)
        if i == 2:
            kept.append(Tensor(y.asnumpy() * 2))
    return ops.stack(kept).sum(axis=0), len(kept)


def dict_across(x):
    found = {"first": x + 1}
    found["second"] = Tensor(np.cumsum(found["first"].asnumpy()))
    found.update(third=found["second"] * 2)
    return found


def buffer_of_numpy(x):
    made = np.zeros((3,) + tuple(x.shape), np.float32)
    for i in range(3):
        x = ops.cos(x) + i
        made[i] = x.asnumpy()
    return made, Tensor(made).sum()


def unbound_name(x):
    if float(x.asnumpy()[0]) > 100:
        y = x * 2
    z = x + 1
    return z + y


def bound_in_one_branch(x):
    flag = bool(x.asnumpy()[0] > 0)
    if flag:
        y = x * 2
        y = y + 1
    z = x + 1
    if flag:
        z = z + y
    return z


def loop_variable_after(x):
    for i in range(3):
        last = x * i
        x = x + Tensor(last.asnumpy())
    return x + i, last


def deleted_name(x):
    y = x + 1
    z = y * 2
    del y
    w = Tensor(z.asnumpy()) + 1
    y = w * 2
    return y


def imported(x):
    import math as m
    y = x * m.pi
    from numpy import sqrt
    return y + float(sqrt(16.0))


def walrus(x):
    if (n := int(x.asnumpy().sum())) > 0:
        y = x * n
        y = y + 1
    else:
        y = x - n
    return y, n


def sets_and_sorted(x):
    y = x * 2
    ranks = sorted(set(int(v) for v in y.asnumpy()), reverse=True)
    z = y + len(ranks)
    return z * 2, ranks


def text_of_values(x):
    y = x * 2
    text = f"{float(y.sum().asnumpy()):.3f}"
    z = y + len(text)
    return z * 2, text


def comprehension_over_array(x):
    y = x * 2
    z = sum(float(v) ** 2 for v in y.asnumpy())
    return ops.sqrt(y * y) + z


def star_arguments(x):
    y = ops.relu(x)
    first, *rest = [float(v) for v in y.asnumpy()]
    z = y * first
    return z + sum(rest), (first, *rest)


def match_statement(x):
    y = x + 1
    match y.asnumpy().shape:
        case (n,):
            z = y * n
        case _:
            z = y
    return z * 2


def with_block(x):
    y = x * 2
    with contextlib.suppress(ZeroDivisionError):
        z = y + float(y.asnumpy()[0])
        z = z * 2
    return z + 1


def for_else(x):
    for i in range(3):
        x = x + i
        if float(x.asnumpy()[0]) > 1000:
            break
    else:
        x = x * 10
    return x


def json_round_trip(x):
    y = x * 2
    text = json.dumps([float(v) for v in y.asnumpy()])
    back = Tensor(np.array(json.loads(text), np.float32))
    return back + y, text


def lambda_across(x):
    scale = float(x.asnumpy()[0])
    f = lambda v: v * scale + 1      # noqa: E731
    y = f(x) * 2
    return f(y) - 1


def math_of_values(x):
    y = x * 2
    k = math.floor(y.asnumpy().sum())
    return y + k, math.sqrt(abs(k))


def generator_inside(x):
    def values(v):
        for i in range(3):
            yield v * i
    y = x + 1
    for item in values(y):
        y = y + item
    return y * 2


def global_read(x):
    y = x * SCALE
    z = Tensor(y.asnumpy()) + SCALE
    return z * 2


FUNCTIONS = [f for name, f in list(globals().items()) if callable(f) and getattr(f, "__module__", "") == __name__
             and name not in ("tensor", "plain", "outcome", "helper_with_numpy")]
NOT_IN_AST = {exception_caught, exception_from_operator, deleted_name, imported, walrus, sets_and_sorted, match_statement, for_else,
              generator_inside, loop_variable_after, unbound_name, bound_in_one_branch, comprehension_over_array}
INPUTS = [tensor(1., 2., 3.), tensor(-1., 0.5, 2.), tensor(3., 2.)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_bytecode_equals_plain_python(function):
    compiled = ms.jit(function, capture_mode="bytecode")
    for _ in range(3):
        for x in INPUTS:
            assert outcome(compiled, (x,)) == outcome(function, (x,))


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f not in NOT_IN_AST], ids=lambda f: f.__name__)
def test_lax_equals_plain_python(function):
    compiled = ms.jit(function)
    for _ in range(3):
        for x in INPUTS:
            assert outcome(compiled, (x,)) == outcome(function, (x,))


@pytest.mark.parametrize("function", [exception_caught, deleted_name, imported, match_statement])
def test_lax_refuses_statements_as_mindspore(function):
    with pytest.raises(RuntimeError, match="Unsupported statement"):
        ms.jit(function)(INPUTS[0])


# --- objects ---------------------------------------------------------------------------------------------------------

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 4, weight_init="ones", bias_init="zeros")
        self.weight = Parameter(tensor(1., 2., 3., 4.), name="w")
        self.__hidden = 3
        self.count, self.total, self.seen = 0, 0.0, []
        self.buffer = tensor(0., 0., 0., 0.)

    def statistics(self, y):
        low = float(np.min(y.asnumpy()))
        return y - low

    def construct(self, x):
        y = ops.tanh(self.dense(x)) * self.__hidden
        self.count = self.count + int(y.asnumpy().size)
        z = self.statistics(y) * self.weight + self.count
        self.total = self.total + 0.1
        self.seen.append(self.count)
        self.buffer = self.buffer + z.sum(axis=0)
        self.buffer[0] = float(z.asnumpy()[0, 0])
        ops.assign(self.weight, self.weight * 0.5)
        return ops.softmax(z + self.buffer) * len(self.seen), self.total


def run_net(mode, jit=None):
    ms.set_context(mode=mode)
    try:
        net = Net()
        call = net if jit is None else jit(net)
        results = [plain(call(Tensor(np.full((2, 3), 0.1 * i, np.float32)))) for i in range(5)]
        return results, net.count, net.total, net.seen, plain(net.buffer), plain(net.weight.value())
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_cell_with_state():
    want = run_net(ms.PYNATIVE_MODE)
    assert run_net(ms.GRAPH_MODE) == want
    assert run_net(ms.PYNATIVE_MODE, ms.jit) == want
    assert run_net(ms.PYNATIVE_MODE, lambda net: ms.jit(net, capture_mode="bytecode")) == want


class Parent(nn.Cell):
    def construct(self, x):
        y = x * 2
        return y + float(y.asnumpy()[0])


class Child(Parent):
    def construct(self, x):
        y = ops.relu(x)
        z = super().construct(y) * 2
        k = int(np.ceil(z.asnumpy().max()))
        return z + k + super().construct(y)


def test_super_in_pieces():
    want = plain(Child()(INPUTS[0]))
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert plain(Child()(INPUTS[0])) == want
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_globals_and_cells_may_change_between_calls():
    """Where pieces are involved, Python's rules hold: what they read is read anew."""
    global SCALE
    offset = 1

    def f(x):
        y = Tensor(x.asnumpy()) * SCALE
        return y + offset
    compiled = ms.jit(f)
    try:
        for SCALE, offset in [(1, 1), (2, 1), (2, 5), (1, 1)]:
            assert plain(compiled(INPUTS[0])) == plain(f(INPUTS[0]))
    finally:
        SCALE = 1


def test_time_and_random_are_asked_each_time():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        a = x * random.random()
        b = time.perf_counter()
        return a + 1, b
    first, second = f(INPUTS[0]), f(INPUTS[0])
    assert plain(first[0]) != plain(second[0]) and first[1] < second[1]


# --- gradients -------------------------------------------------------------------------------------------------------

def test_gradients_equal_eager():
    def f(x):
        y = ops.sin(x) * 2
        k = float(np.max(y.asnumpy()))
        return (y * y * k).sum()
    for mode in ("ast", "bytecode"):
        compiled = ms.jit(f, capture_mode=mode)
        assert plain(ms.grad(compiled)(INPUTS[0])) == plain(ms.grad(f)(INPUTS[0]))


def test_training_step_with_a_break_in_the_loss():
    def train(mode, jit):
        ms.set_seed(1)
        net = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)

        def forward(x, y):
            out = net(x)
            weight = float(np.clip(out.asnumpy().mean(), 0.5, 2))
            return ((out - y) ** 2).mean() * weight
        step_gradients = ms.value_and_grad(forward, None, optimizer.parameters)

        def step(x, y):
            loss, gradients = step_gradients(x, y)
            optimizer(gradients)
            return loss
        step = jit(step)
        data = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
        return [plain(step(Tensor(data + i), Tensor(data[:, :2]))) for i in range(4)]
    want = train(None, lambda f: f)
    assert train(None, ms.jit) == want
    assert train(None, lambda f: ms.jit(f, capture_mode="bytecode")) == want


# --- what it costs ---------------------------------------------------------------------------------------------------

def programs(compiled):
    """Number of programs made for a compiled function and its pieces."""
    n = compiled.n_programs
    for pieces in compiled.cuts.values():
        n += sum(programs(p) for p in pieces.pieces) if pieces is not None else 0
    return n


def test_a_loop_with_a_break_does_not_compile_every_turn():
    @ms.jit
    def f(x, n):
        total = 0.0
        for i in range(n):
            x = ops.sin(x * 2 + i)
            total += float(x.asnumpy().sum())
            x = x - total * 0.1
        return x, total
    f(INPUTS[0], 5)
    before = programs(f._compiled)
    f(INPUTS[0], 200)
    f(INPUTS[0] + 1, 100)
    assert 0 < programs(f._compiled) <= before + 2


def test_explain_tells_where_and_why():
    explain.start()
    ms.jit(numpy_between)(INPUTS[0])
    text = explain.report()
    assert "numpy_between" in text and "runs in 2 pieces around a line of plain Python" in text
    assert "order = np.argsort(y.asnumpy())[::-1].copy()" in text and "test_breaks.py:" in text


def test_fullgraph_and_strict_refuse():
    with pytest.raises((RuntimeError, AttributeError)):
        ms.jit(numpy_between, fullgraph=True)(INPUTS[0])


def test_fullgraph_gives_no_advice_that_was_taken():
    def f(x):
        try:
            y = x + 1
        finally:
            z = 2
        return y * z
    with pytest.raises(Exception, match="Unsupported statement 'Try'") as caught:
        ms.jit(f, capture_mode="bytecode", fullgraph=True)(INPUTS[0])
    assert "leave fullgraph=True away" in str(caught.value) and "capture_mode" not in str(caught.value)


def test_traceback_shows_the_users_lines():
    def f(x):
        y = x * 2
        z = np.linalg.inv(y.asnumpy())       # this line is to blame
        return Tensor(z) + 1
    with pytest.raises(np.linalg.LinAlgError) as caught:
        ms.jit(f)(INPUTS[0])
    assert any("this line is to blame" in str(entry.statement) for entry in caught.traceback)


def test_recursion_through_plain_parts():
    def f(x, n):
        if n == 0:
            return x
        y = Tensor(x.asnumpy() + 1)
        return f(y, n - 1) * 1
    compiled = ms.jit(f, capture_mode="bytecode")
    assert plain(compiled(INPUTS[0], 120)) == plain(f(INPUTS[0], 120))


def test_gradient_of_what_only_python_can_run():
    """Captured by bytecode, nothing fails: not even the gradient of a function that no program can be made of."""
    def pack(x):
        return x * 2

    def cubed(x):
        with ms.saved_tensors_hooks(pack, lambda x: x):
            y = x * x * x
        return y

    class Net(nn.Cell):
        def construct(self, x):
            return cubed(x)
    net = Net()
    net.construct = ms.jit(net.construct, capture_mode="bytecode")
    x = tensor(0.25, 0.5)
    wanted = ms.grad(cubed)(x).asnumpy().tolist()
    assert wanted == [0.625, 2.5]
    for function in (ms.jit(cubed, capture_mode="bytecode"), net):
        assert ms.grad(function)(x).asnumpy().tolist() == wanted
    with pytest.raises(RuntimeError, match="saved_tensors_hooks"):
        ms.grad(ms.jit(cubed))(x)


def loops_with_else(x):
    n = 0
    while n < 3:
        n += 1
        x = x + n
    else:
        x = x * 2
    for k in range(2):
        for _ in range(2):
            if k:
                break
        else:
            x = x - 1
        x = x + k
    else:
        x = x * 3
    return x


def loop_of_the_run_with_else(x):
    while x.sum() < 10:
        x = x + 1
    else:
        x = x * 2
    return x


def truths(x):
    return not x.sum(), not x.sum() > 5, x in [x, 1], 7 in (1, 2), not [], x.sum() in [x.sum() + 1]


@pytest.mark.parametrize("function, breaks", [(loops_with_else, 1), (loop_of_the_run_with_else, 0), (truths, 0)], ids=lambda v: getattr(
    v, "__name__", ""))
def test_as_plain_python_by_bytecode(function, breaks):
    from spore._c_expression import get_code_extra
    compiled = ms.jit(function, capture_mode="bytecode")
    for x in (tensor(1.0), tensor(2.0)):
        assert outcome(compiled, (x,)) == outcome(function, (x,))
    assert get_code_extra(function)["break_count_"] == breaks

# SPDX-License-Identifier: Apache-2.0
"""`breakpoint()` and `pdb.set_trace()` in compiled functions stop in the user's frame, with values, in every call."""
import io
import os
import pdb
import subprocess
import sys
import types

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops

HERE = os.path.abspath(__file__)


@pytest.fixture
def stops(monkeypatch):
    """What each stop saw: function, text of the next line, names with values."""
    seen = []

    def hook(*args, **kwargs):
        frame = sys._getframe(1)
        assert os.path.abspath(frame.f_code.co_filename) == HERE
        seen.append((frame.f_code.co_name, {k: v.asnumpy().tolist() if isinstance(v, Tensor) else v for k, v in frame.f_locals.items() if k != '__spore__' and not isinstance(v, (nn.Cell, types.FunctionType))}))
    monkeypatch.setattr(sys, 'breakpointhook', hook)
    return seen


@pytest.fixture(autouse=True)
def graph_mode():
    mode = ms.get_context('mode')
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=mode)


X = [1.0, 2.0]


def test_in_construct_with_all_names_set_before(stops):
    class Net(nn.Cell):
        def construct(self, x):
            y = x * 2
            unused = y + 1  # noqa: F841  the debugger shows it
            breakpoint()
            z = y - 1
            return ops.relu(z)

    net = Net()
    for _ in range(2):       # every call stops, not the first one alone
        assert net(Tensor(X)).asnumpy().tolist() == [1, 3]
    assert stops == [('construct', {'x': X, 'y': [2, 4], 'unused': [3, 5]})] * 2


def test_in_a_cell_inside_and_in_a_function_called(stops):
    def helper(q):
        r = q + 100
        breakpoint()
        return r * 2

    class Inner(nn.Cell):
        def construct(self, x):
            h = x + 1
            breakpoint()
            return helper(h)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def construct(self, x):
            return self.inner(x * 2) - 1

    assert Net()(Tensor(X)).asnumpy().tolist() == [205, 209]
    assert stops == [('construct', {'x': [2, 4], 'h': [3, 5]}), ('helper', {'q': [3, 5], 'r': [103, 105]})]


def test_in_a_loop_and_behind_a_condition_of_the_run(stops):
    @ms.jit
    def f(x):
        total = x
        for i in range(3):
            total = total + i
            if total.sum() > 5:
                breakpoint()
        return total

    assert f(Tensor(X)).asnumpy().tolist() == [4, 5]
    assert [(name, names['i'], names['total']) for name, names in stops] == [('f', 2, [4, 5])]


def test_two_stops_and_another_signature(stops):
    @ms.jit
    def f(x, n):
        a = x * n
        breakpoint()
        b = a + 1
        breakpoint()
        return b

    assert f(Tensor(X), 2).asnumpy().tolist() == [3, 5]
    assert f(Tensor([1.0]), 3).asnumpy().tolist() == [4]
    assert [names for _, names in stops] == [{'x': X, 'n': 2, 'a': [2, 4]}, {'x': X, 'n': 2, 'a': [2, 4], 'b': [3, 5]},
                                             {'x': [1], 'n': 3, 'a': [3]}, {'x': [1], 'n': 3, 'a': [3], 'b': [4]}]


def test_while_training(stops):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layer = nn.Dense(2, 1, weight_init='ones', bias_init='zeros')

        def construct(self, x):
            y = self.layer(x)
            breakpoint()
            return y

    net = Net()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    losses = [float(step(Tensor([X]), Tensor([[0.0]]))) for _ in range(2)]
    assert losses[0] == 9 and losses[1] < 9
    assert [(name, names['y']) for name, names in stops][0] == ('construct', [[3]]) and len(stops) == 2


def test_gradient_and_values_are_those_without_a_stop(stops):
    def f(x):
        y = x * x
        breakpoint()
        return (y * y).sum()

    def same(x):
        y = x * x
        return (y * y).sum()

    x = Tensor(np.linspace(-1, 1, 7, dtype=np.float32))
    stopped, plain = (ms.jit(ms.value_and_grad(g))(x) for g in (f, same))
    for a, b in zip(stopped, plain):
        assert np.array_equal(a.asnumpy(), b.asnumpy())
    assert stops[0][0] == 'f' and stops[0][1]['y'] == (x.asnumpy() ** 2).tolist()


def test_switched_off_by_pythons_own_variable(stops, monkeypatch):
    monkeypatch.setenv('PYTHONBREAKPOINT', '0')
    monkeypatch.setattr(sys, 'breakpointhook', sys.__breakpointhook__)

    @ms.jit
    def f(x):
        breakpoint()
        return x + 1

    assert f(Tensor(X)).asnumpy().tolist() == [2, 3] and stops == []


def test_a_stop_is_refused_where_one_graph_was_asked_for():
    @ms.jit(fullgraph=True)
    def f(x):
        breakpoint()
        return x + 1

    with pytest.raises(Exception, match=r'breakpoint\(\) stops in Python'):
        f(Tensor(X))


PROGRAM = '''
import mindspore as ms
from mindspore import nn, ops
ms.set_context(mode=ms.GRAPH_MODE)
class Net(nn.Cell):
    def construct(self, x):
        y = x * 2
        import pdb; pdb.set_trace()
        z = y + 1
        w = z * z
        return ops.relu(w)
print(Net()(ms.Tensor([1., 2.])))
'''


def test_pdb_itself_steps_from_line_to_line(tmp_path):
    script = tmp_path / 'net.py'
    script.write_text(PROGRAM)
    later = sys.version_info >= (3, 13)      # there pdb stops at the call itself, not behind it
    done = subprocess.run([sys.executable, '-m', 'spore.run', str(script)], input='n\n' * later + 'p y.asnumpy()\nn\np z.asnumpy()\nn\np w.asnumpy()\nwhere\nc\n', capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.replace('(Pdb) ', '').splitlines()][2 * later:]
    assert lines[0].endswith('net.py(9)construct()')
    assert lines[1:3] == ['-> z = y + 1', 'array([2., 4.], dtype=float32)']
    assert lines[4:6] == ['-> w = z * z', 'array([3., 5.], dtype=float32)']
    assert lines[7:9] == ['-> return ops.relu(w)', 'array([ 9., 25.], dtype=float32)']
    assert lines[-1] == '[ 9. 25.]'


def test_a_debugger_of_ones_own(monkeypatch):
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO('p y.asnumpy()\nc\n'), stdout=out)

    @ms.jit
    def f(x):
        y = x * 2
        debugger.set_trace()
        return y

    trace = sys.gettrace()
    try:
        assert f(Tensor(X)).asnumpy().tolist() == [2, 4]
    finally:
        sys.settrace(trace)
    assert 'array([2., 4.]' in out.getvalue()


def test_other_imports_are_refused_as_before():
    @ms.jit
    def f(x):
        import math
        return x + math.pi

    with pytest.raises(RuntimeError, match="Unsupported statement 'Import'"):
        f(Tensor(X))

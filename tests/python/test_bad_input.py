# SPDX-License-Identifier: Apache-2.0
"""What the user gets wrong: the right exception, a text that says what, found and wanted, and never a crash."""
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spore as ms
from spore import Parameter, Tensor, _core, nn, ops
from spore.ops import operations as P

HERE = Path(__file__).resolve().parent


def t(*shape, dtype=np.float32):
    return Tensor(np.ones(shape, dtype))


WRONG = [
    # shapes
    ("add", lambda: t(2, 3) + t(4), ValueError, ["add", "(2, 3)", "(4,)"]),
    ("matmul", lambda: ops.matmul(t(2, 3), t(4, 5)), ValueError, ["matmul", "3", "4"]),
    ("matmul batch", lambda: ops.matmul(t(2, 2, 3), t(3, 3, 5)), ValueError, ["matmul", "2", "3"]),
    ("reshape", lambda: t(2, 3).reshape(4, 2), ValueError, ["reshape", "(2, 3)", "(4, 2)"]),
    ("reshape two unknown", lambda: t(2, 3).reshape(-1, -1), ValueError, ["reshape", "-1"]),
    ("broadcast_to", lambda: ops.broadcast_to(t(2, 3), (2, 4)), ValueError, ["broadcast_to", "(2, 3)", "(2, 4)"]),
    ("concat", lambda: ops.concat((t(2, 3), t(2, 4)), 0), ValueError, ["concat", "(2, 3)", "(2, 4)"]),
    ("stack", lambda: ops.stack((t(2), t(3))), ValueError, ["stack", "(2,)", "(3,)"]),
    ("conv2d channels", lambda: ops.conv2d(t(1, 3, 8, 8), t(4, 2, 3, 3)), ValueError, ["conv2d", "3", "2"]),
    ("conv2d rank", lambda: ops.conv2d(t(3, 8), t(4, 3, 3, 3)), ValueError, ["conv2d", "4"]),
    ("Dense", lambda: nn.Dense(3, 4)(t(2, 5)), ValueError, ["3", "5"]),
    ("BatchNorm2d", lambda: nn.BatchNorm2d(3)(t(2, 4, 5, 5)), ValueError, ["batch_norm", "(3,)", "4"]),
    ("cross_entropy", lambda: ops.cross_entropy(t(2, 3), Tensor([0, 1, 2], ms.int32)), ValueError, ["2", "3"]),
    ("split", lambda: ops.split(t(4), [1, 2]), ValueError, ["4", "3"]),
    # dtypes
    ("bitwise_and", lambda: ops.bitwise_and(t(2), t(2)), TypeError, ["bitwise_and", "loat32"]),
    ("logical_and text", lambda: ops.logical_and(t(2), "x"), TypeError, ["logical_and", "str"]),
    ("gather index", lambda: ops.gather(t(2, 3), t(1), 0), TypeError, ["gather", "loat32"]),
    ("cast", lambda: t(2).astype("no_such_type"), (TypeError, ValueError), ["no_such_type"]),
    ("relu of text", lambda: ops.relu("abc"), TypeError, ["relu", "str"]),
    ("Tensor of objects", lambda: Tensor([object()]), TypeError, ["object"]),
    ("Tensor of ragged lists", lambda: Tensor([[1, 2], [3]]), (TypeError, ValueError), []),
    ("Parameter of text", lambda: Parameter("abc"), (TypeError, ValueError), ["str"]),
    # axes and indices
    ("sum axis", lambda: t(2, 3).sum(5), ValueError, ["5", "2"]),
    ("softmax axis", lambda: ops.softmax(t(2, 3), 4), ValueError, ["softmax", "4"]),
    ("transpose", lambda: t(2, 3, 4).transpose(0, 0, 1), ValueError, ["transpose", "0"]),
    ("transpose short", lambda: ops.transpose(t(2, 3), (0,)), ValueError, ["transpose", "1", "2"]),
    ("index", lambda: t(2, 3)[2], IndexError, ["2"]),
    ("index too many", lambda: t(2, 3)[0, 0, 0], IndexError, ["3", "2"]),
    ("index text", lambda: t(2, 3)["a"], (IndexError, TypeError), ["str"]),
    ("write shape", lambda: t(2, 3).__setitem__(0, t(4)), ValueError, ["4", "3"]),
    ("gather out of range", lambda: ops.gather(t(2, 3), Tensor([5], ms.int32), 0), RuntimeError, ["gather", "5", "2"]),
    ("one_hot", lambda: ops.one_hot(Tensor([1], ms.int32), "x"), TypeError, ["str"]),
    ("item", lambda: t(2, 3).item(), (ValueError, RuntimeError), ["6"]),
    ("bool", lambda: bool(t(2)), ValueError, ["2"]),
    ("float", lambda: float(t(2)), (ValueError, TypeError), ["2"]),
    ("int of nan", lambda: int(Tensor(float("nan"))), ValueError, []),
    # arguments
    ("missing argument", lambda: ops.matmul(t(2, 2)), TypeError, ["matmul"]),
    ("too many arguments", lambda: ops.relu(t(2), 1, 2, 3), TypeError, ["relu"]),
    ("unknown keyword", lambda: ops.softmax(t(2), no_such=1), TypeError, ["softmax", "no_such"]),
    ("method keyword", lambda: t(2).sum(no_such=1), TypeError, ["no_such"]),
    ("primitive argument", lambda: P.ReduceSum(keep_dims="yes"), TypeError, ["keep_dims", "str"]),
    ("primitive call", lambda: P.MatMul()(t(2, 2)), TypeError, ["MatMul"]),
    ("primitive keyword", lambda: P.Concat(no_such=3), TypeError, ["no_such"]),
    ("Cell keyword", lambda: nn.Dense(2, 2, no_such=3), TypeError, ["no_such"]),
    ("Dense size", lambda: nn.Dense(0, 3), ValueError, ["0"]),
    ("Dense type", lambda: nn.Dense("2", 3), TypeError, ["str"]),
    ("GRU layers", lambda: nn.GRU(3, 4, num_layers=2 ** 31), ValueError, ["num_layers", "2147483648"]),
    ("Conv2d pad_mode", lambda: nn.Conv2d(1, 1, 3, pad_mode="no"), ValueError, ["pad_mode", "no"]),
    ("Conv2d kernel", lambda: nn.Conv2d(1, 1, 0), ValueError, ["kernel_size", "0"]),
    ("Dropout", lambda: nn.Dropout(p=1.5), ValueError, ["1.5"]),
    ("optimizer of nothing", lambda: nn.SGD([], 0.1), ValueError, []),
    ("optimizer of tensors", lambda: nn.SGD([t(2)], 0.1), (TypeError, ValueError), ["Tensor"]),
    ("learning rate", lambda: nn.Adam([Parameter(t(2), name="w")], learning_rate=-1.0), ValueError, ["-1.0"]),
    ("reduction", lambda: nn.CrossEntropyLoss(reduction="no")(t(2, 3), Tensor([0, 1], ms.int32)), ValueError, ["no"]),
    ("initializer", lambda: ms.common.initializer.initializer("no_such", (2, 2)), (ValueError, TypeError, KeyError), ["no_such"]),
    ("name twice", lambda: nn.SequentialCell(*[3]), TypeError, ["int"]),
    ("construct missing", lambda: nn.Cell()(t(2)), AttributeError, ["construct"]),
    ("missing attribute", lambda: t(2).no_such_thing, AttributeError, ["no_such_thing"]),
    ("missing operator", lambda: ops.no_such_operator, AttributeError, ["no_such_operator"]),
    ("load nothing", lambda: ms.load_checkpoint("no_such.ckpt"), (ValueError, FileNotFoundError, OSError), ["no_such.ckpt"]),
    # sizes
    ("rank 9", lambda: ops.zeros((1,) * 9), ValueError, ["9", "8"]),
    ("rank 9 from numpy", lambda: Tensor(np.ones((1,) * 9)), ValueError, ["9", "8"]),
    ("rank 9 by expand_dims", lambda: ops.expand_dims(ops.zeros((1,) * 8), 0), ValueError, ["9", "8"]),
    ("negative size", lambda: ops.zeros((2, -3)), ValueError, ["-3"]),
    ("too large", lambda: ops.zeros((2 ** 40, 2 ** 40)), (ValueError, MemoryError), ["1099511627776"]),
    ("too large by broadcast", lambda: ops.broadcast_to(t(1), (2 ** 40, 2 ** 40)), (ValueError, MemoryError), ["1099511627776"]),
    ("too large by tile", lambda: ops.tile(t(2), (2 ** 62,)), (ValueError, MemoryError), []),
    ("too large by pad", lambda: ops.pad(t(2, 2), (2 ** 61, 2 ** 61)), (ValueError, MemoryError), []),
    ("too large by arange", lambda: ops.arange(2 ** 62), (ValueError, MemoryError), []),
    ("too large by one_hot", lambda: ops.one_hot(Tensor([1], ms.int64), 2 ** 62), (ValueError, MemoryError), []),
    ("too large by repeat", lambda: ops.repeat_interleave(t(2), 2 ** 62), (ValueError, MemoryError), []),
    ("size too large for a number", lambda: ops.zeros((2 ** 70,)), (ValueError, OverflowError, TypeError), []),
    ("fold to less than nothing", lambda: ops.fold(t(1, 4, 4), Tensor([-1, -1], ms.int32), (2, 2), 1, 2, 1), ValueError, ["fold", "-1"]),
    ("fold by the table", lambda: _core.apply("fold", [t(1, 4, 4)], {"kernel_size": (2, 2), "output_size": (-1, -1), "padding": (2,)}), ValueError, ["fold", "-1"]),
    ("size -1 in a gradient", lambda: _core.apply("crop_and_resize_grad", [t(2, 2, 3, 2), t(2, 4), Tensor([0, 0], ms.int64)],
                                                  {"crop_size": (2, 3), "size": (-1, 4, 5, 2)}), ValueError, ["-1"]),
    ("pixel_shuffle by 2^32", lambda: ops.pixel_shuffle(t(1, 4, 2, 2), 2 ** 32), ValueError, ["4294967296"]),
    ("repeats of 2^31", lambda: t(2, 2).repeat_interleave([2 ** 40, 1], 0), (ValueError, MemoryError), []),
    ("the smallest int is no None", lambda: ops.softmax(t(2, 3), -2 ** 63), ValueError, ["softmax", "-9223372036854775808"]),
    ("None is no text", lambda: _core.apply("batch_norm", [t(2, 2, 2, 3), None, None, t(3), t(3)], {"data_format": None}), TypeError, ["data_format"]),
    ("gradient of another shape", lambda: _core.apply("elu_grad", [t(3, 3), t(2, 3)]), ValueError, ["dout", "(2, 3)", "(3, 3)"]),
    ("gradient of another dtype", lambda: _core.apply("elu_grad", [t(3), t(3, dtype=np.float16)]), TypeError, ["dout", "loat16"]),
    ("too many samples of a region", lambda: ops.ROIAlign(2, 2, 1.0, 2 ** 31)(t(1, 2, 5, 5), t(1, 5)), ValueError, ["sample_num", "2147483648"]),
]


@pytest.mark.parametrize("call, error, words", [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_wrong(call, error, words):
    with pytest.raises(error) as caught:
        call()
    text = str(caught.value)
    assert text, "the exception has no text"
    for word in words:
        assert re.search(rf"(?<![0-9]){re.escape(word)}(?![0-9])" if word[0].isdigit() else re.escape(word), text), (word, text)


def test_empty_tensors():
    e = ops.zeros((0, 3))
    assert (e + 1).shape == (0, 3) and e.sum().asnumpy() == 0 and e.sum(0).asnumpy().tolist() == [0, 0, 0]
    assert ops.matmul(t(2, 0), t(0, 3)).asnumpy().tolist() == [[0.0] * 3] * 2
    assert ops.concat((e, t(2, 3)), 0).shape == (2, 3)
    assert ops.relu(e).shape == (0, 3) and e.T.shape == (3, 0) and e.reshape(3, 0).size == 0
    assert ops.softmax(e).shape == (0, 3) and e[:, 1].shape == (0,) and str(e) == "[]"
    assert ms.grad(lambda x: (x * 2).sum())(e).shape == (0, 3)
    for reduction in (ops.amax, ops.amin, ops.argmax):
        with pytest.raises((ValueError, RuntimeError, IndexError)):
            reduction(e, 0)


def test_rank_0_and_8():
    s = Tensor(3.0)
    assert s.shape == () and float(s.sum()) == 3 and float(ops.exp(s * 0)) == 1 and s.reshape(1, 1).shape == (1, 1)
    with pytest.raises((IndexError, TypeError)):
        s[0]
    x = np.arange(2 ** 8, dtype=np.float32).reshape((2,) * 8)
    y = Tensor(x)
    assert (y.sum((0, 7)).asnumpy() == x.sum((0, 7))).all()
    assert (y.transpose(7, 6, 5, 4, 3, 2, 1, 0).asnumpy() == x.T).all()
    assert (y[..., 1, :].asnumpy() == x[..., 1, :]).all()


def test_nan_goes_through():
    x = Tensor([1.0, float("nan"), 3.0])
    assert np.isnan(x.sum().asnumpy()) and np.isnan(x.max().asnumpy()) and np.isnan(ops.relu(x).asnumpy()[1])
    assert np.isnan(ops.softmax(x).asnumpy()).all()
    assert ops.isnan(x).asnumpy().tolist() == [False, True, False]
    assert np.isnan(ms.grad(lambda v: (v * v).sum())(x).asnumpy()[1])
    assert ops.sort(x)[0].asnumpy()[:2].tolist() == [1, 3]


def test_out_of_memory_is_an_exception():
    try:
        ms.runtime.set_memory(max_size="0.1GB")
        with pytest.raises(MemoryError, match="out of memory: 4.29 GB asked.*the limit is 107 MB"):
            ops.zeros((1 << 30,))
        with pytest.raises(MemoryError):
            x = t(1 << 20)
            ms.grad(lambda v: sum([ops.exp(v * i) for i in range(100)]))(x)
    finally:
        ms.runtime.set_memory(max_size="1024GB")
    assert float((t(10) + 1).sum()) == 20


def test_random_numbers_of_infinite_parameters_end():
    """Large rates take no time with the rate, infinite ones give infinity."""
    for rate, low, high in ((float("inf"), float("inf"), float("inf")), (1e300, 0.99e300, 1.01e300), (4e9, 3.9e9, 4.1e9)):
        drawn = ops.random_poisson((4,), Tensor([rate], ms.float64), dtype=ms.float64).asnumpy()
        assert (drawn >= low).all() and (drawn <= high).all(), (rate, drawn)
    state = Tensor([1, 2], ms.int64)
    assert np.isinf(_core.apply("random_gamma", [state, Tensor([float("inf")])], {"shape": (2,)}).asnumpy()).all()


def test_statistics_of_an_empty_batch_are_not_numbers():
    _, mean, variance = _core.apply("batch_norm_train", [t(0, 3, 2), t(3), t(3)], {"epsilon": 0.001})
    assert np.isnan(mean.asnumpy()).all() and np.isnan(variance.asnumpy()).all()


@pytest.mark.parametrize("call", ["ops.sum(x, n)", "x.sum(n)", "ops.ReduceSum()(x, (n,))", "ops.reshape(x, s)", "ops.tile(x, s)",
                                  "ops.transpose(x, s - 2)", "x.sum(n).sum()", "ops.zeros(s) + x.sum()"])
def test_sizes_and_axes_may_be_arguments_of_a_compiled_function(call, tmp_path):
    """They are read when it is compiled, or when it runs; the result is that of eager mode."""
    source = tmp_path / "called.py"
    source.write_text(f"from spore import ops\n\ndef f(x, n, s):\n    return {call}\n")
    scope = {}
    exec(compile(source.read_text(), str(source), "exec"), scope)
    x, n, s = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), Tensor(1), Tensor([3, 2])
    wanted = scope["f"](x, n, s).asnumpy()
    np.testing.assert_array_equal(ms.jit(scope["f"])(x, n, s).asnumpy(), wanted)


def test_an_exception_in_construct_shows_the_users_line():
    class Net(nn.Cell):
        def construct(self, x):
            return ops.matmul(x, t(7, 7))
    with pytest.raises(ValueError) as caught:
        ms.grad(Net())(t(2, 3))
    assert any("ops.matmul(x, t(7, 7))" in str(entry.statement) for entry in caught.traceback)


@pytest.mark.parametrize("seed", [1])
@pytest.mark.parametrize("place", ["ops", "tensor", "nn", "mint"])
def test_odd_arguments_never_crash(place, seed, tmp_path):
    log = tmp_path / "log"
    done = subprocess.run([sys.executable, str(HERE / "fuzz_names.py"), place, str(seed), "6", str(log)], capture_output=True, text=True,
                          timeout=280, cwd=tmp_path, env=dict(os.environ, OMP_NUM_THREADS="2"))
    last = log.read_text().splitlines()[-1] if log.exists() and log.read_text() else "nothing"
    assert done.returncode == 0, f"after {last}: {done.stdout[-2000:]} {done.stderr[-3000:]}"
    calls = int(done.stdout.splitlines()[-1].split()[0])
    assert calls > 1000 and "sum 2000.0" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize("place", ["ops", "tensor", "nn", "mint"])
def test_odd_arguments_never_crash_longer(place, seed, tmp_path):
    test_odd_arguments_never_crash(place, seed, tmp_path)

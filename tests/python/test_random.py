# SPDX-License-Identifier: Apache-2.0
"""Random numbers: repeatable, independent of threads, and of the distributions they claim."""
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import spore as ms
from spore import Tensor, _core, mint, ops

N = 200_000


def setup_function():
    ms.set_seed(7)


def moments(x):
    x = x.asnumpy().astype(np.float64)
    return x.mean(), x.std()


def test_a_seed_repeats_everything():
    def all_of_them():
        ms.set_seed(11)
        return [ops.rand(5), ops.randn(5), ops.randint(0, 100, (5,)), ops.randperm(9),
                ops.standard_normal((3,), seed=4),
                ops.StandardNormal(seed=2)((4,)), ops.multinomial(Tensor([0.2, 0.3, 0.5]),
                    6), ops.bernoulli(ops.ones(9), 0.5),
                ops.gamma((3,), Tensor(2.0), Tensor(1.0)), ops.shuffle(ops.arange(7))]
    for a, b in zip(all_of_them(), all_of_them()):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


def test_calls_do_not_repeat_each_other():
    drawn = [ops.rand(1000).asnumpy() for _ in range(3)] + [ops.rand(1000, seed=3).asnumpy() for _ in range(2)]
    for i, a in enumerate(drawn):
        for b in drawn[:i]:
            assert not np.isin(a, b).mean() > 0.01


def test_threads_do_not_matter():
    before = _core.threads()
    drawn = []
    try:
        for n in (1, 2):
            _core.threads_set(n)
            ms.set_seed(3)
            drawn.append([f.asnumpy() for f in (ops.rand(N), ops.randn(N), ops.random_poisson((N,), Tensor(3.0)))])
    finally:
        _core.threads_set(before)
    for a, b in zip(*drawn):
        np.testing.assert_array_equal(a, b)


def test_philox_gives_the_published_numbers():
    """The known answer of Philox4x32-10 for a counter and a key of zeros; a number is two of its words."""
    def words(key, counter):
        state = Tensor(np.array([key, counter], np.uint64).view(np.int64))
        return [int(v) for v in _core.apply("random_bits", (state,), {"shape": (2,), "dtype": ms.uint64}).asnumpy()]
    assert words(0, 0) == [0x6627e8d5_e169c58d, 0xbc57ac4c_9b00dbd8]


NORMAL = """
import sys, zlib, numpy as np, spore as ms
from spore import Tensor, _core
state = Tensor(np.array([7, 5], np.int64))
made = [_core.apply("random_normal", (state,), {"shape": (n,), "mean": 0.5, "std": 2.0, "dtype": d}).astype(ms.float32).asnumpy()
        for n in (1, 2, 515, 10001) for d in (ms.float32, ms.float16, ms.bfloat16)]
print(zlib.crc32(b"".join(m.tobytes() for m in made)))
"""


def test_normal_numbers_are_box_and_mullers():
    """Of the words of Philox, in double. Roundings in units of 2^-24: logarithm (2 units in the last place, halved by the root) 2, root 1, standard
    deviation 1, sine (2 units) 4, their product 1, and that of the mean's sum."""
    n = 1 << 16
    state = Tensor(np.array([123, 99], np.int64))
    words = _core.apply("random_bits", (state,), {"shape": (n // 2,), "dtype": ms.uint64}).asnumpy()
    made = _core.apply("random_normal", (state,), {"shape": (n,), "mean": 0.25, "std": 3.0}).asnumpy().astype(np.float64)
    u, v = (words >> np.uint64(40)).astype(np.float64) * 2.0**-24, ((words & np.uint64(0xFFFFFFFF)) >> np.uint64(8)).astype(np.float64) * 2.0**-24
    length, angle = 3 * np.sqrt(-2 * np.log(1 - u)), 2 * np.pi * v
    wanted = 0.25 + np.stack([length * np.cos(angle), length * np.sin(angle)], 1).reshape(-1)
    assert (np.abs(made - wanted) <= 2.0**-24 * (9 * np.repeat(length, 2) + np.abs(wanted))).all()


def test_normal_numbers_are_the_same_on_every_machine():
    found = {subprocess.run([sys.executable, "-c", NORMAL], env=dict(os.environ, SPORE_ISA=isa, SPORE_NUM_THREADS=threads), capture_output=True,
                            text=True, check=True).stdout for isa, threads in (("portable", "1"), ("avx2", "2"), ("avx512", "3"))}
    assert len(found) == 1


def test_state_can_be_saved_and_restored():
    state = ms.get_rng_state()
    a = ops.rand(8).asnumpy()
    ms.set_rng_state(state)
    np.testing.assert_array_equal(ops.rand(8).asnumpy(), a)
    g = ms.Generator().manual_seed(5)
    first = mint.rand(4, generator=g).asnumpy()
    assert g.initial_seed() == 5
    np.testing.assert_array_equal(mint.rand(4, generator=ms.Generator().manual_seed(5)).asnumpy(), first)
    assert not np.array_equal(mint.rand(4, generator=g).asnumpy(), first)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64])
def test_uniform_and_normal(dtype):
    u = mint.rand(N, dtype=dtype).astype(ms.float64)
    mean, std = moments(u)
    assert abs(mean - 0.5) < 0.005 and abs(std - math.sqrt(1 / 12)) < 0.005
    assert u.asnumpy().min() >= 0 and u.asnumpy().max() <= 1
    z = mint.randn(N, dtype=dtype).astype(ms.float64)
    mean, std = moments(z)
    assert abs(mean) < 0.01 and abs(std - 1) < 0.01
    inside = (np.abs(z.asnumpy()) < 1.96).mean()
    assert abs(inside - 0.95) < 0.005


def test_integers_cover_their_range_evenly():
    x = ops.randint(-2, 5, (N,)).asnumpy()
    counts = np.bincount(x + 2, minlength=7)
    assert len(counts) == 7 and abs(counts / N - 1 / 7).max() < 0.005
    big = ops.randint(-2 ** 62, 2 ** 62, (1000,)).asnumpy()
    assert abs(big / 2.0 ** 62).mean() == pytest.approx(0.5, abs=0.05)


def test_permutations():
    p = ops.randperm(1000).asnumpy()
    assert sorted(p.tolist()) == list(range(1000))
    assert (p != np.arange(1000)).mean() > 0.9
    assert ops.randperm(4, dtype=ms.int32).dtype == ms.int32


@pytest.mark.parametrize("alpha", [0.3, 1.0, 7.5])
def test_gamma(alpha):
    mean, std = moments(ops.gamma((N,), Tensor(alpha), Tensor(2.0)))
    assert mean == pytest.approx(alpha / 2, rel=0.02) and std == pytest.approx(math.sqrt(alpha) / 2, rel=0.02)


@pytest.mark.parametrize("rate", [0.5, 4.0, 60.0, 1000.0])
def test_poisson(rate):
    x = ops.random_poisson((N // 4,), Tensor(rate))
    mean, std = moments(x)
    assert mean == pytest.approx(rate, rel=0.02) and std == pytest.approx(math.sqrt(rate), rel=0.02)
    assert (x.asnumpy() == np.floor(x.asnumpy())).all()


def test_truncated_normal():
    x = ops.TruncatedNormal()((N,)).asnumpy()
    assert np.abs(x).max() <= 2 and abs(x.mean()) < 0.01 and abs(x.std() - 0.8796) < 0.01
    state = Tensor([1, 2], ms.int64)
    far = _core.apply("random_truncated_normal", (state,), {"shape": (5000,), "low": 3.0, "high": 50.0}).asnumpy()
    assert far.min() >= 3 and far.mean() == pytest.approx(3.2831, abs=0.02)


def test_categories_follow_their_weights():
    drawn = ops.multinomial(Tensor(np.array([[1, 0, 3], [2, 2, 0]], np.float32)), N).asnumpy()
    assert drawn.dtype == np.int32
    np.testing.assert_allclose(np.bincount(drawn[0], minlength=3) / N, [0.25, 0, 0.75], atol=0.005)
    np.testing.assert_allclose(np.bincount(drawn[1], minlength=3) / N, [0.5, 0.5, 0], atol=0.005)
    for _ in range(20):
        row = mint.multinomial(Tensor([1.0, 2.0, 3.0, 4.0]), 4).asnumpy()
        assert sorted(row.tolist()) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="without replacement"):
        mint.multinomial(Tensor([1.0, 2.0]), 3)
    with pytest.raises(ValueError, match="must be finite and not negative"):
        ops.multinomial(Tensor([1.0, -2.0]), 1)


def test_bernoulli_and_masks():
    x = ops.bernoulli(ops.zeros((N,), ms.int32), 0.3)
    assert x.dtype == ms.int32 and x.asnumpy().mean() == pytest.approx(0.3, abs=0.005)
    assert set(np.unique(x.asnumpy())) == {0, 1}


def test_choice_with_mask():
    mask = Tensor([[True, False], [True, True]])
    places, meant = ops.RandomChoiceWithMask(count=5)(mask)
    assert meant.asnumpy().tolist() == [True] * 3 + [False] * 2
    assert sorted(map(tuple, places.asnumpy()[:3].tolist())) == [(0, 0), (1, 0), (1, 1)]
    assert places.asnumpy()[3:].tolist() == [[0, 0], [0, 0]]


def test_gradients_reach_the_parameters_of_a_distribution():
    def f(mean, std):
        ms.set_seed(1)
        return ops.normal((1000,), mean, std).sum()
    dm, ds = ms.grad(f, (0, 1))(Tensor(0.0), Tensor(1.0))
    ms.set_seed(1)
    z = ops.normal((1000,), Tensor(0.0), Tensor(1.0)).asnumpy().sum()
    assert dm.asnumpy() == pytest.approx(1000) and ds.asnumpy() == pytest.approx(z, rel=1e-4)


@pytest.mark.parametrize("call, kind", [
    (lambda: ops.rand(2, seed=-1), ValueError), (lambda: ops.rand(2, seed=1.5), TypeError),
    (lambda: ops.rand(2, dtype=ms.int32), ValueError), (lambda: ops.randint(3, 3, (2,)), ValueError),
    (lambda: ops.uniform((2,), 0.0, 1.0), TypeError), (lambda: ops.StandardNormal(seed=-2), ValueError),
    (lambda: ms.Generator().manual_seed("a"), TypeError)])
def test_mistakes_are_told(call, kind):
    with pytest.raises(kind):
        call()

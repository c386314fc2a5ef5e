# SPDX-License-Identifier: Apache-2.0
"""Neural operators: what the walk over the operator table cannot see. Second derivatives of fused gradients, steps of
optimizers against recorded numbers, recurrent layers against a loop in numpy, CTC against all alignments, resampling."""
import itertools
import math

import numpy as np
import pytest

import spore as ms
from spore import Tensor, ops
from spore._core import apply

RNG = np.random.Generator(np.random.PCG64(11))


def t64(*shape, low=-2.0, high=2.0):
    return Tensor(RNG.uniform(low, high, shape), ms.float64)


def weighted(out):
    """A scalar that sees every element differently."""
    outs = out if isinstance(out, tuple) else (out,)
    total = 0
    for o in outs:
        w = np.cos(np.arange(o.size)).reshape(o.shape)
        total = total + (o * Tensor(w, o.dtype)).sum()
    return total


def check_second(f, *xs, eps=1e-5):
    """Gradient of (gradient of f, weighted) by finite differences of the gradient."""
    places = tuple(range(len(xs)))
    first = ms.grad(lambda *a: weighted(f(*a)), places)
    as_tuple = (lambda g: g if isinstance(g, tuple) else (g,))

    def scalar(*a):
        return weighted(as_tuple(first(*a)))
    second = as_tuple(ms.grad(scalar, places)(*xs))
    for k, x in enumerate(xs):
        base = x.asnumpy()
        wanted = np.zeros_like(base)
        for at in np.ndindex(base.shape):
            ends = []
            for sign in (1, -1):
                moved = base.copy()
                moved[at] += sign * eps
                args = [Tensor(moved) if i == k else v for i, v in enumerate(xs)]
                ends.append(float(scalar(*args).asnumpy()))
            wanted[at] = (ends[0] - ends[1]) / (2 * eps)
        np.testing.assert_allclose(second[k].asnumpy(), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op,attrs", [
    ("gelu", {}), ("gelu_tanh", {}), ("silu", {}), ("mish", {}), ("softplus", {"beta": 2.0}), ("logsigmoid", {}),
    ("softsign", {}), ("tanhshrink", {}), ("elu", {"alpha": 1.5}), ("celu", {"alpha": 1.5}), ("selu", {}), ("hardswish", {}),
    ("softmax", {}), ("log_softmax", {})])
def test_second_derivative_of_activations(op, attrs):
    check_second(lambda x: apply(op, [x], attrs), t64(2, 4))


def test_second_derivative_of_normalisation():
    check_second(lambda x, g, b: apply("layer_norm", [x, g, b], {"epsilon": 1e-3})[0], t64(2, 4), t64(4), t64(4))
    check_second(lambda x, g: apply("rms_norm", [x, g], {"epsilon": 1e-3})[0], t64(2, 4), t64(4))
    check_second(lambda x, g, b: apply("group_norm", [x, g, b], {"num_groups": 2, "epsilon": 1e-3})[0], t64(2, 4, 2), t64(4),
                 t64(4))
    check_second(lambda x, g, b: apply("batch_norm_train", [x, g, b], {"epsilon": 1e-3})[0], t64(3, 2, 2), t64(2), t64(2))


def test_second_derivative_of_cross_entropy():
    target = Tensor([0, 2, 1], ms.int64)
    check_second(lambda x: ops.cross_entropy(x, target, label_smoothing=0.1), t64(3, 3))


# --- optimizers: numbers recorded from MindSpore 2.10 on the CPU ------------------------------------------------------

G = (0.5, -0.2)


def vec(*v):
    return Tensor(np.array(v, np.float32))


@pytest.mark.parametrize("name,init,states,after,wanted", [
    ("ApplyMomentum", {}, [(1, 2), (.1, .2)], (0.1, G, 0.9), [(0.941, 2.002), (0.59, -0.02)]),
    ("Adam", {}, [(1, 2), (.1, .2), (.3, .4)], (0.9, 0.99, 0.1, 0.9, 0.99, 1e-3, G),
     [(0.97446495, 1.9746275), (0.14, 0.16), (0.2995, 0.3964)]),
    ("Adam", {"use_nesterov": True}, [(1, 2), (.1, .2), (.3, .4)], (0.9, 0.99, 0.1, 0.9, 0.99, 1e-3, G),
     [(0.9678988, 1.9803363), (0.14, 0.16), (0.2995, 0.3964)]),
    ("AdamWeightDecay", {}, [(1, 2), (.1, .2), (.3, .4)], (0.1, 0.9, 0.99, 1e-3, 0.01, G),
     [(0.97346497, 1.9726275), (0.14, 0.16), (0.2995, 0.3964)]),
    ("ApplyRMSProp", {}, [(1, 2), (.1, .2), (.3, .4)], (0.1, G, 0.9, 0.8, 1e-3),
     [(0.61319494, 1.7264991), (0.115, 0.184), (0.38680506, 0.27350098)]),
    ("ApplyCenteredRMSProp", {}, [(1, 2), (.1, .2), (.3, .4), (.5, .4)], (G, 0.1, 0.9, 0.8, 1e-3),
     [(0.5048955, 1.71433), (0.14, 0.16), (0.295, 0.364), (0.4951045, 0.28566998)]),
    ("ApplyAdagrad", {}, [(1, 2), (.1, .2)], (0.1, G), [(0.91548455, 2.0408249), (0.35, 0.24)]),
    ("ApplyAdagradV2", {"epsilon": 1e-3}, [(1, 2), (.1, .2)], (0.1, G), [(0.9156272, 2.0407417), (0.35, 0.24)]),
    ("ApplyFtrl", {}, [(1, 2), (.1, .2), (.3, .4)], (G, 0.1, 0.01, 0.02, -0.5),
     [(0.3297139, 0.13437746), (0.35, 0.24), (-1.9538023, -0.6536876)]),
    ("ApplyFtrl", {}, [(1, 2), (.1, .2), (.3, .4)], (G, 0.1, 0.01, 0.02, -0.3),
     [(0.20391788, 0.07683015), (0.35, 0.24), (-1.4864061, -0.49379328)]),
    ("ApplyAdadelta", {}, [(1, 2), (.1, .2), (.3, .4)], (0.1, 0.9, 1e-3, G),
     [(0.9194577, 2.0294454), (0.115, 0.184), (0.3348707, 0.36867025)]),
    ("ApplyAdaMax", {}, [(1, 2), (.1, .2), (.3, .4)], (0.9, 0.1, 0.9, 0.99, 1e-3, G),
     [(0.7205589, 1.5969775), (0.14, 0.16), (0.5, 0.396)]),
    ("ApplyGradientDescent", {}, [(1, 2)], (0.1, G), [(0.95, 2.02)]),
    ("ApplyProximalGradientDescent", {}, [(1, 2)], (0.1, 0.2, 0.3, G), [(0.9029126, 1.9417477)]),
    ("ApplyProximalAdagrad", {}, [(1, 2), (.1, .2)], (0.1, 0.2, 0.3, G), [(0.8391269, 1.8845929), (0.35, 0.24)]),
    ("ApplyAddSign", {}, [(1, 2), (.1, .2)], (0.1, 1.1, 0.9, 0.8, G), [(0.9, 2.004), (0.18, 0.12)]),
    ("ApplyPowerSign", {}, [(1, 2), (.1, .2)], (0.1, 2.0, 0.9, 0.8, G), [(0.69751763, 2.003306), (0.18, 0.12)]),
    ("ApplyAdamWithAmsgradV2", {}, [(1, 2), (.1, .2), (.3, .4), (.2, .5)], (0.9, 0.99, 0.1, 0.9, 0.99, 1e-3, G),
     [(0.97446495, 1.9774046), (0.14, 0.16), (0.2995, 0.3964), (0.2995, 0.5)]),
    ("ApplyAdagradDA", {}, [(1, 2), (.1, .2), (.3, .4)], (G, 0.1, 0.2, 0.3, 2),
     [(-0.024949482, 0.0), (0.6, 0.0), (0.55, 0.44)])])
def test_step_equals_recorded(name, init, states, after, wanted):
    held = [vec(*s) for s in states]
    getattr(ops, name)(**init)(*held, *(vec(*a) if isinstance(a, tuple) else a for a in after))
    for have, want in zip(held, wanted):
        np.testing.assert_allclose(have.asnumpy(), np.array(want, np.float32), rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("init,stat,momentum,param,accum", [
    ((0.0, 0.0, False), 0, 0.0, (0.95, 2.02), (0.1, 0.2)), ((0.0, 0.0, False), 0, 0.9, (0.941, 2.002), (0.59, -0.02)),
    ((0.3, 0.01, False), 0, 0.9, (0.9553, 1.9946), (0.447, 0.054)), ((0.3, 0.01, False), 1, 0.9, (0.949, 2.018), (0.51, -0.18)),
    ((0.0, 0.01, True), 0, 0.9, (0.895, 2.018), (0.6, 0.0)), ((0.0, 0.01, True), 1, 0.9, (0.9031, 2.0342), (0.51, -0.18))])
def test_sgd_equals_recorded(init, stat, momentum, param, accum):
    p, a, s = vec(1, 2), vec(.1, .2), vec(stat, stat)
    ops.SGD(*init)(p, vec(*G), vec(0.1), a, vec(momentum), s)
    np.testing.assert_allclose(p.asnumpy(), param, rtol=1e-6)
    np.testing.assert_allclose(a.asnumpy(), accum, rtol=1e-6, atol=1e-7)
    assert s.asnumpy().tolist() == [stat if momentum == 0 else 0] * 2


def test_step_takes_a_gradient_of_another_dtype_and_refuses_a_wrong_shape():
    p, a = vec(1, 2), vec(0, 0)
    ops.ApplyMomentum()(p, a, 0.1, vec(*G).astype(ms.float16), 0.9)
    np.testing.assert_allclose(p.asnumpy(), [0.95, 2.02], rtol=1e-3)
    with pytest.raises(ValueError, match="gradient has shape"):
        ops.ApplyMomentum()(p, a, 0.1, vec(1, 2, 3), 0.9)
    with pytest.raises(ValueError, match="learning_rate"):
        ops.ApplyMomentum()(p, a, vec(1, 2, 3), vec(*G), 0.9)


# --- statistics kept by batch_norm ------------------------------------------------------------------------------------

def test_batch_norm_moves_the_kept_statistics():
    x = RNG.normal(size=(4, 3, 5)).astype(np.float32)
    mean, var = vec(0, 0, 0), vec(1, 1, 1)
    y = ops.batch_norm(Tensor(x), mean, var, vec(1, 1, 1), vec(0, 0, 0), True, 0.1)
    np.testing.assert_allclose(y.asnumpy(), (x - x.mean((0, 2))[:, None]) / np.sqrt(x.var((0, 2))[:, None] + 1e-5), atol=1e-5)
    np.testing.assert_allclose(mean.asnumpy(), 0.1 * x.mean((0, 2)), rtol=1e-5)
    np.testing.assert_allclose(var.asnumpy(), 0.9 + 0.1 * x.var((0, 2), ddof=1), rtol=1e-5)
    used = ops.batch_norm(Tensor(x), mean, var, vec(1, 1, 1), vec(0, 0, 0), False)
    m, v = mean.asnumpy()[:, None], var.asnumpy()[:, None]
    np.testing.assert_allclose(used.asnumpy(), (x - m) / np.sqrt(v + 1e-5), atol=1e-5)


def test_results_do_not_depend_on_the_number_of_threads():
    from spore import _core
    x, g = Tensor(RNG.normal(size=(33, 8, 17)).astype(np.float32)), Tensor(RNG.normal(size=8).astype(np.float32))
    before, answers = _core.threads(), []
    try:
        for n in (1, 2):
            _core.threads_set(n)
            f = (lambda a: weighted(apply("batch_norm_train", [a, g, g], {})[0]) +
                 weighted(apply("layer_norm", [a, None, None], {})[0]) + weighted(ops.softmax(a, 1)))
            answers.append((f(x).asnumpy(), ms.grad(f)(x).asnumpy()))
    finally:
        _core.threads_set(before)
    for one, two in zip(*answers):
        assert (one == two).all()


# --- recurrent layers -------------------------------------------------------------------------------------------------

def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def loop(mode, x, h, c, wi, wh, bi, bh, order):
    ys = {}
    for t in order:
        gx, gh = x[t] @ wi.T + bi, h @ wh.T + bh
        if mode == "lstm":
            i, f, g, o = np.split(gx + gh, 4, -1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        elif mode == "gru":
            (xr, xz, xn), (hr, hz, hn) = np.split(gx, 3, -1), np.split(gh, 3, -1)
            n = np.tanh(xn + sigmoid(xr + hr) * hn)
            h = n + sigmoid(xz + hz) * (h - n)
        else:
            h = np.tanh(gx + gh) if mode == "rnn_tanh" else np.maximum(gx + gh, 0)
        ys[t] = h
    return ys, h, c


@pytest.mark.parametrize("mode,gates", [("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)])
@pytest.mark.parametrize("reverse", [False, True])
def test_rnn_layer_equals_a_loop(mode, gates, reverse):
    time, batch, width, hidden = 4, 3, 5, 2
    x, h, c, wi, wh, bi, bh = (RNG.normal(size=s) for s in (
        (time, batch, width), (batch, hidden), (batch, hidden), (gates * hidden, width), (gates * hidden, hidden),
        (gates * hidden,), (gates * hidden,)))
    lengths = [4, 2, 0]
    y, hn, _ = apply("rnn_layer", [Tensor(x), Tensor(h), Tensor(c) if mode == "lstm" else None, Tensor(wi), Tensor(wh),
                                   Tensor(bi), Tensor(bh), Tensor(lengths, ms.int64)], {"mode": mode, "reverse": reverse})
    for n, steps in enumerate(lengths):
        order = range(steps - 1, -1, -1) if reverse else range(steps)
        ys, last, _ = loop(mode, x[:, n], h[n], c[n], wi, wh, bi, bh, order)
        for t in range(time):
            np.testing.assert_allclose(y.asnumpy()[t, n], ys.get(t, np.zeros(hidden)), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(hn.asnumpy()[n], last, rtol=1e-10)


# --- CTC --------------------------------------------------------------------------------------------------------------

def all_alignments(logp, labels, blank):
    total = 0.0
    for path in itertools.product(range(logp.shape[1]), repeat=logp.shape[0]):
        merged = [k for k, _ in itertools.groupby(path) if k != blank]
        if merged == list(labels):
            total += math.exp(sum(logp[t, k] for t, k in enumerate(path)))
    return -math.log(total)


@pytest.mark.parametrize("labels", [(1, 2), (1, 1), (2,), ()])
def test_ctc_equals_the_sum_over_alignments(labels):
    scores = RNG.normal(size=(4, 1, 3))
    logp = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
    targets = Tensor([list(labels) + [0] * (3 - len(labels))], ms.int64)
    loss, _ = ops.ctc_loss(Tensor(logp), targets, Tensor([4], ms.int64), Tensor([len(labels)], ms.int64), 0, "sum")
    np.testing.assert_allclose(float(loss.asnumpy()), all_alignments(logp[:, 0], labels, 0), rtol=1e-10)


# --- resampling -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic", "area"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize("size", [3, 9])
def test_resample_gradient_is_the_adjoint(mode, coordinates, size):
    x, y = t64(2, 5), t64(2, size)
    attrs = {"axis": 1, "in_size": 5, "out_size": size, "mode": mode, "coordinates": coordinates}
    there = apply("resample_axis", [x], attrs)
    back = apply("resample_axis", [y], {**attrs, "transposed": True})
    np.testing.assert_allclose(float((there * y).sum().asnumpy()), float((x * back).sum().asnumpy()), rtol=1e-10)
    ones = apply("resample_axis", [Tensor(np.ones((1, 5)))], attrs)
    np.testing.assert_allclose(ones.asnumpy(), 1.0, rtol=1e-12)


def test_dropout_keeps_the_mean_and_a_seed_is_a_stream():
    x = Tensor(np.ones((1000, 20), np.float32))
    ms.set_seed(1)
    out = ops.dropout(x, 0.25, seed=3).asnumpy()
    np.testing.assert_allclose(np.unique(out), [0, 4 / 3], rtol=1e-6)
    assert abs(out.mean() - 1) < 0.02
    assert (ops.dropout(x, 0.25, seed=3).asnumpy() != out).any()         # as in MindSpore
    ms.set_seed(1)
    assert (ops.dropout(x, 0.25, seed=3).asnumpy() == out).all()
    assert ops.dropout(x, 0.25, training=False) is x
    channels = ops.dropout2d(Tensor(np.ones((8, 8, 3, 3), np.float32)), 0.5).asnumpy().reshape(64, 9)
    assert (channels == channels[:, :1]).all() and 0 < (channels == 0).mean() < 1


@pytest.mark.parametrize("attrs, text", [({"kernel_size": (2, 2), "stride": (2 ** 31, 1)}, "stride must be from 1 to .*found 2147483648"),
                                         ({"kernel_size": (0, 2), "stride": (1, 1)}, "must be from 1 to .*found 0"),
                                         ({"kernel_size": (2, 2), "pad_mode": "pad", "pad": (0, 2 ** 31, 0, 0)}, "pad must be from 0 to .*found 0 and 2147483648")])
def test_windows_say_both_their_limits(attrs, text):
    with pytest.raises(ValueError, match=text):
        apply("max_pool2d", [Tensor(np.ones((1, 1, 4, 4), np.float32))], attrs)

# SPDX-License-Identifier: Apache-2.0
"""nn.probability gives what MindSpore 2.10 gives: recorded answers (record.py) to cases.py, and samples compared in distribution."""
import builtins
import json
import pathlib

import numpy as np
import pytest

import spore
from oracle_probability import cases
from spore import nn, ops

ANSWERS = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))
NAMES = cases.names(spore)
D = NAMES["D"]
# Answers that differ on purpose: start of the expression, end of it, and the reason.
DIFFERENT = {
    ("D.Bernoulli(", ".mode("): "there it fails, with its own operator's error",
    ("D.Gamma(", ".sample("): "there sampling has no kernel for the CPU",
    ("D.Beta(", ".sample("): "the same",
    ("D.Poisson(", ".sample("): "the same",
    ("str(D.Gamma(", ""): "there cells it is made of are shown",
    ("str(D.Beta(", ""): "the same",
    ("str(B.Softplus(", ""): "the same",
    ("B.Softplus(0.)", ""): "the same",
}


def agree(made, wanted, expression):
    if isinstance(wanted, dict):
        assert (made["dtype"], made["shape"]) == (wanted["dtype"], wanted["shape"]), expression
        exact = wanted["dtype"].startswith("Int")
        rtol = 0 if exact else 2e-3 if wanted["dtype"] == "Float16" else 3e-5
        values, expected = ([float(item) for item in answer["values"]] for answer in (made, wanted))
        np.testing.assert_allclose(values, expected, rtol=rtol, atol=0 if exact else rtol / 3, err_msg=expression)
    elif isinstance(wanted, list):
        assert len(made) == len(wanted), expression
        for one, other in zip(made, wanted):
            agree(one, other, expression)
    else:
        assert made == wanted, expression


def reason_of(expression):
    return next((why for (start, part), why in DIFFERENT.items() if expression.startswith(start) and part in expression), None)


@pytest.mark.parametrize("expression", list(ANSWERS))
def test_answer(expression):
    wanted, made = ANSWERS[expression], cases.answer(spore, expression, NAMES)
    if reason_of(expression):
        assert "is" in made, f"{made}: spore has an answer where MindSpore differs: {reason_of(expression)}"
        return
    if "raises" in wanted:
        assert "raises" in made, f"{expression}: MindSpore raises {wanted}"
        assert issubclass(getattr(builtins, made["raises"]), getattr(builtins, wanted["raises"])), (made, wanted)
    else:
        assert "is" in made, f"{expression}: {made}, where MindSpore says {wanted}"
        agree(made["is"], wanted["is"], expression)


def test_everything_asked_was_answered():
    assert set(ANSWERS) == set(cases.cases())


@pytest.mark.parametrize("maker", [
    "D.Normal([0.5, -1.], 2.0)", "D.LogNormal(0.2, 0.5)", "D.Uniform(0.5, 2.0)", "D.Exponential(0.5)", "D.Gamma([0.5, 3.], [2.0])",
    "D.Logistic(0.5, 2.0)", "D.Gumbel(0.5, 2.0)", "D.Cauchy(0.5, 2.0)", "D.TransformedDistribution(B.Softplus(2.0), D.Normal(0.3, 1.0))"])
def test_samples_of_real_numbers_have_the_cdf(maker):
    spore.set_seed(11)
    made = eval(maker, dict(NAMES))
    n = 4000
    drawn = made.sample((n,))
    shares = np.sort(made.cdf(drawn).asnumpy().reshape(n, -1), axis=0)
    # Kolmogorov's distance between the shares below and their uniform distribution; 1.95 / sqrt(n) is passed once in 1000 times.
    assert np.abs(shares - (np.arange(n)[:, None] + 0.5) / n).max() < 1.95 / np.sqrt(n)


@pytest.mark.parametrize("maker", ["D.Bernoulli([0.3, .9])", "D.Categorical([[0.2, 0.3, 0.5], [.7, .2, .1]])", "D.Geometric(0.3)",
                                   "D.Poisson([2.5])", "D.Beta([2.0, .5], [3.0])"])
def test_samples_have_mean_and_variance(maker):
    spore.set_seed(12)
    made = eval(maker, dict(NAMES))
    n = 8000
    drawn = made.sample((n,)).asnumpy().astype(np.float64)
    mean, var = (part.asnumpy().reshape(drawn.shape[1:]) for part in (made.mean(), made.var()))
    assert np.all(np.abs(drawn.mean(0) - mean) < 4 * np.sqrt(var / n))
    np.testing.assert_allclose(drawn.var(0), var, rtol=0.15)


@pytest.mark.parametrize("name", ["Normal", "Uniform", "Gumbel", "Logistic", "Cauchy", "LogNormal"])
def test_a_seed_of_its_own_repeats(name):
    drawn = []
    for seed in (5, 5, 6):
        spore.set_seed(3)
        drawn.append(getattr(D, name)(0.0, 1.0, seed=seed).sample((8,)).asnumpy())
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


@pytest.mark.parametrize("mode", [spore.GRAPH_MODE, spore.PYNATIVE_MODE])
def test_in_a_network_and_trained(mode):
    class Likelihood(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mean = spore.Parameter(spore.Tensor([0.0, 1.0]), name="mean")
            self.normal = nn.probability.distribution.Normal(dtype=spore.float32)
            self.fixed = nn.probability.distribution.Normal([0.0, 1.0], 2.0)

        def construct(self, x):
            log_sd = ops.zeros_like(self.mean)
            sd = ops.exp(log_sd)
            return -self.normal.log_prob(x, self.mean, sd).sum() + self.fixed.kl_loss("Normal", self.mean, sd).sum()

    before = spore.get_context("mode")
    spore.set_context(mode=mode)
    try:
        net = Likelihood()
        loss, grads = spore.value_and_grad(net, None, net.trainable_params())(spore.Tensor([1.0, 3.0]))
    finally:
        spore.set_context(mode=before)
    # -log N(x; mean, 1) = 0.5 (x - mean)^2 + 0.919; KL(N(m, 2) || N(mean, 1)) = 0.5 (m - mean)^2 + 1.5 - log 2
    np.testing.assert_allclose(float(loss), 0.5 * (1 + 4) + 2 * 0.9189385 + 2 * (1.5 - np.log(2)), rtol=1e-5)
    np.testing.assert_allclose(grads[0].asnumpy(), [-1.0, -2.0], rtol=1e-5)


def test_a_parameter_is_trained():
    made = D.Normal(spore.Parameter(spore.Tensor([0.5]), name="mean"), spore.Tensor([1.0]))
    assert [p.name for p in made.trainable_params()] == ["mean"]
    grads = spore.grad(lambda x: made.log_prob(x).sum(), None, made.trainable_params())(spore.Tensor([2.0]))
    np.testing.assert_allclose(grads[0].asnumpy(), [1.5], rtol=1e-5)


@pytest.mark.parametrize("maker", ["B.Exp()", "B.PowerTransform([0.0])", "B.PowerTransform([0.0, 0.25])"])
def test_gradients_of_powers_near_zero(maker):
    forward = eval(maker, dict(NAMES)).forward
    made = spore.grad(lambda x: forward(x).sum())(spore.Tensor([-2.0])).asnumpy()
    power = 2 if "0.25" in maker else 1
    np.testing.assert_allclose(made, [np.exp(-2.0) + (0.5 ** 3 if power == 2 else 0)], rtol=1e-5)


@pytest.mark.parametrize("name", [name for name, (_, at_call, _, _) in cases.DISTRIBUTIONS.items() if at_call])
def test_graph_mode_answers_the_same(name):
    _, at_call, second, values = cases.DISTRIBUTIONS[name]
    values = values.replace(", 2., 2.5", "")
    of = {**{method: f"{values}, {at_call}" for method in cases.OF_VALUE},
          **{method: at_call for method in ("mean", "sd", "var", "mode", "entropy")}, "kl_loss": f"{second}, {at_call}"}

    class Net(nn.Cell):
        def __init__(self, method):
            super().__init__()
            self.made, self.method = getattr(D, name)(), method

        def construct(self, *args):
            if self.method == "kl_loss":
                return self.made.kl_loss(name, *args)
            return self.made(self.method, *args)

    asked = 0
    for method, args in of.items():
        wanted = ANSWERS[f"D.{name}().{method}(" + (f"'{name}', " if method == "kl_loss" else "") + f"{args})"]
        if "is" in wanted:
            net = Net(method)
            net.construct = spore.jit(net.construct)
            agree(cases.plain(spore, net(*eval(f"({args},)", dict(NAMES)))), wanted["is"], f"{name}.{method}")
            asked += 1
    assert asked >= 2

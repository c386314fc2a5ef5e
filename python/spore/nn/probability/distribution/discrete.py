# SPDX-License-Identifier: Apache-2.0
"""Distributions of whole numbers."""
import numpy as np

from spore import ops
from spore.common import dtype as mstype
from spore.nn.probability import _parameters as given
from spore.nn.probability.distribution.distribution import Family, of_parameters, of_shape, of_two, of_value

__all__ = ["Bernoulli", "Categorical", "Geometric", "Poisson"]

_INF = float("inf")
_NAN = float("nan")


def _check_probs(probs):
    given.all_hold(probs, lambda p: p > 0, "Probabilities must be greater than zero")
    given.all_hold(probs, lambda p: p < 1, "Probabilities must be less than one")


class Bernoulli(Family):
    """1 with a probability, else 0.

    Args:
        probs: the probability of 1. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default int32.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import Bernoulli
        >>> print(Bernoulli(0.25).cdf(ms.Tensor([0.0, 1.0])))
        [0.75 1.  ]
    """
    _floats_only = False

    def __init__(self, probs=None, seed=None, dtype=mstype.int32, name="Bernoulli"):
        super().__init__(seed, dtype, name, {"probs": probs})
        _check_probs(self.probs)

    probs = property(lambda self: self._probs_value, doc="The probability of 1.")

    @of_value
    def _log_prob(self, value, probs):
        return value * ops.log(probs) + (1.0 - value) * ops.log1p(-probs)

    @of_value
    def _cdf(self, value, probs):
        return ops.where(value < 0.0, ops.zeros_like(probs), ops.where(value < 1.0, 1.0 - probs, ops.ones_like(probs)))

    @of_parameters
    def _mean(self, probs):
        return probs

    @of_parameters
    def _var(self, probs):
        return probs * (1.0 - probs)

    @of_parameters
    def _mode(self, probs):
        return (probs > 0.5).astype(self.dtype)

    @of_parameters
    def _entropy(self, probs):
        return -probs * ops.log(probs) - (1.0 - probs) * ops.log1p(-probs)

    @of_two
    def _kl_loss(self, probs, probs_b):
        return probs * (ops.log(probs) - ops.log(probs_b)) + (1.0 - probs) * (ops.log1p(-probs) - ops.log1p(-probs_b))

    @of_shape
    def _sample(self, shape, probs):
        return self._uniform(shape) < probs


class Categorical(Family):
    """Numbers 0 to n - 1, each with a probability of its own.

    Args:
        probs: the probabilities, along the last dimension. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default int32.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import Categorical
        >>> print(Categorical([0.25, 0.25, 0.5]).cdf(ms.Tensor([0, 1, 2])))
        [0.25 0.5  1.  ]
    """
    _floats_only = False

    def __init__(self, probs=None, seed=None, dtype=mstype.int32, name="Categorical"):
        super().__init__(seed, dtype, name, {"probs": probs})
        if self.probs is None:
            return
        if self.probs.ndim < 1:
            raise ValueError("Categorical: probs must have at least one dimension, but got a single number")
        given.all_hold(self.probs, lambda p: np.abs(p.sum(-1) - 1.0) < 1e-3, "Probabilities for each category must sum to one")
        _check_probs(self.probs)

    probs = property(lambda self: self._probs_value, doc="The probabilities, along the last dimension.")

    @property
    def broadcast_shape(self):
        """The shape of what functions of the parameters give."""
        return None if self.probs is None else self.probs.shape[:-1]

    @property
    def is_scalar_batch(self):
        """Whether there is one row of probabilities, or they are given at calls."""
        return not self.broadcast_shape

    def _event_batch(self, shape):
        return shape[:-1]

    @staticmethod
    def _numbers(probs):
        return ops.arange(probs.shape[-1]).astype(probs.dtype)

    @of_value
    def _log_prob(self, value, probs):
        number = ops.expand_dims(ops.floor(value), -1)
        chosen = ops.where(ops.equal(number, self._numbers(probs)), ops.log(probs), ops.zeros_like(probs)).sum(-1)
        wrong = ops.logical_or(value < 0.0, value >= probs.shape[-1])
        return ops.where(wrong, ops.full_like(chosen, _NAN), chosen)

    @of_value
    def _cdf(self, value, probs):
        return ops.where(self._numbers(probs) <= ops.expand_dims(value, -1), probs, ops.zeros_like(probs)).sum(-1)

    @of_parameters
    def _mean(self, probs):
        return (probs * self._numbers(probs)).sum(-1, keepdims=True)

    @of_parameters
    def _var(self, probs):
        numbers = self._numbers(probs)
        return (probs * ops.square(numbers - (probs * numbers).sum(-1, keepdims=True))).sum(-1, keepdims=True)

    @of_parameters
    def _mode(self, probs):
        return ops.argmax(probs, -1).astype(self.dtype)

    @of_parameters
    def _entropy(self, probs):
        return -(probs * ops.log(probs)).sum(-1)

    @of_two
    def _kl_loss(self, probs, probs_b):
        return (probs * (ops.log(probs) - ops.log(probs_b))).sum(-1)

    @of_shape
    def _sample(self, shape, probs):
        # As many of the sums of the first 1, 2, ... probabilities as are not above a uniform number; the last sum is 1.
        sums = ops.cumsum(probs, -1)[..., :-1]
        return (sums <= ops.expand_dims(self._uniform(shape), -1)).astype(mstype.int32).sum(-1)


class Geometric(Family):
    """The number of failures before the first success.

    Args:
        probs: the probability of success. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default int32.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import Geometric
        >>> print(Geometric(0.5).cdf(ms.Tensor([0, 1])))
        [0.5  0.75]
    """
    _floats_only = False

    def __init__(self, probs=None, seed=None, dtype=mstype.int32, name="Geometric"):
        super().__init__(seed, dtype, name, {"probs": probs})
        _check_probs(self.probs)

    probs = property(lambda self: self._probs_value, doc="The probability of success.")

    @of_value
    def _log_prob(self, value, probs):
        density = ops.log(probs) + ops.floor(value) * ops.log1p(-probs)
        return ops.where(value < 0.0, ops.full_like(density, -_INF), density)

    @of_value
    def _cdf(self, value, probs):
        return ops.where(value < 0.0, ops.zeros_like(probs), -ops.expm1((ops.floor(value) + 1.0) * ops.log1p(-probs)))

    @of_parameters
    def _mean(self, probs):
        return (1.0 - probs) / probs

    @of_parameters
    def _var(self, probs):
        return (1.0 - probs) / ops.square(probs)

    @of_parameters
    def _mode(self, probs):
        return ops.zeros_like(probs).astype(self.dtype)

    @of_parameters
    def _entropy(self, probs):
        return -ops.log(probs) - (1.0 - probs) * ops.log1p(-probs) / probs

    @of_two
    def _kl_loss(self, probs, probs_b):
        return ops.log(probs) - ops.log(probs_b) + (1.0 - probs) / probs * (ops.log1p(-probs) - ops.log1p(-probs_b))

    @of_shape
    def _sample(self, shape, probs):
        return ops.floor(ops.log1p(-self._uniform(shape)) / ops.log1p(-probs))


class Poisson(Family):
    """The Poisson distribution. prob and cdf are continued between whole numbers.

    Args:
        rate: the mean, an array or Tensor. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default float32.
        name: a name of its own.

    Examples:
        >>> from spore.nn.probability.distribution import Poisson
        >>> print(Poisson([2.5]).mode())
        [2.]
    """
    _floats_only = False
    _positive = {"rate": "rate"}
    _arrays = ("rate",)

    def __init__(self, rate=None, seed=None, dtype=mstype.float32, name="Poisson"):
        super().__init__(seed, dtype, name, {"rate": rate})

    rate = property(lambda self: self._rate_value, doc="The mean.")

    @of_value
    def _log_prob(self, value, rate):
        density = value * ops.log(rate) - rate - ops.lgamma(ops.relu(value) + 1.0)
        return ops.where(value < 0.0, ops.full_like(density, -_INF), density)

    @of_value
    def _survival_function(self, value, rate):
        below = ops.igamma(ops.relu(value) + 1.0, rate)
        return ops.where(value < 0.0, ops.ones_like(below), below)

    @of_parameters
    def _mean(self, rate):
        return rate

    _var = _mean

    @of_parameters
    def _mode(self, rate):
        return ops.floor(rate)

    @of_shape
    def _sample(self, shape, rate):
        return ops.random_poisson((), ops.broadcast_to(rate, shape), self._seed or None)

# SPDX-License-Identifier: Apache-2.0
"""Distributions of real numbers."""
import math

from spore import ops
from spore.common import dtype as mstype
from spore.nn.probability import _parameters as given
from spore.nn.probability.distribution.distribution import Family, of_parameters, of_shape, of_two, of_value

__all__ = ["Beta", "Cauchy", "Exponential", "Gamma", "HalfNormal", "Laplace", "Logistic", "Normal", "StudentT", "Uniform"]

_INF = float("inf")
_NAN = float("nan")
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


class Normal(Family):
    """The normal distribution.

    Args:
        mean: the mean. Default None: given at calls.
        sd: the standard deviation. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default float32.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import Normal
        >>> print(Normal(0.0, 1.0).cdf(ms.Tensor([0.0])))
        [0.5]
        >>> print(Normal().var(ms.Tensor([0.0]), ms.Tensor([3.0])))
        [9.]
    """
    _labels = {"sd": "standard deviation"}
    _positive = {"sd": "Standard deviation"}

    def __init__(self, mean=None, sd=None, seed=None, dtype=mstype.float32, name="Normal"):
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    @of_value
    def _log_prob(self, value, mean, sd):
        return -0.5 * ops.square((value - mean) / sd) - ops.log(sd) - _HALF_LOG_2PI

    @of_value
    def _cdf(self, value, mean, sd):
        return 0.5 * ops.erfc((mean - value) / (sd * math.sqrt(2.0)))

    @of_value
    def _survival_function(self, value, mean, sd):
        return 0.5 * ops.erfc((value - mean) / (sd * math.sqrt(2.0)))

    @of_parameters
    def _mean(self, mean, sd):
        return mean

    _mode = _mean

    @of_parameters
    def _sd(self, mean, sd):
        return sd

    @of_parameters
    def _entropy(self, mean, sd):
        return ops.log(sd) + (0.5 + _HALF_LOG_2PI)

    @of_two
    def _kl_loss(self, mean, sd, mean_b, sd_b):
        ratio = ops.log(sd) - ops.log(sd_b)
        return 0.5 * ops.square((mean - mean_b) / sd_b) + 0.5 * ops.expm1(2.0 * ratio) - ratio

    @of_shape
    def _sample(self, shape, mean, sd):
        return mean + sd * ops.standard_normal(shape, self._seed or None).astype(mean.dtype)


class Uniform(Family):
    """The uniform distribution between low and high.

    Args:
        low: the lower end. Default None: given at calls.
        high: the upper end. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default float32.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import Uniform
        >>> print(Uniform(0.0, 4.0).prob(ms.Tensor([1.0, 5.0])))
        [0.25 0.  ]
    """

    def __init__(self, low=None, high=None, seed=None, dtype=mstype.float32, name="Uniform"):
        super().__init__(seed, dtype, name, {"low": low, "high": high})
        if self.low is not None and self.high is not None:
            given.all_hold(self.high - self.low, lambda width: width > 0, "low must be less than high: their difference must be above zero")

    low = property(lambda self: self._low_value, doc="The lower end.")
    high = property(lambda self: self._high_value, doc="The upper end.")

    @of_value
    def _prob(self, value, low, high):
        inside = ops.logical_and(value >= low, value <= high)
        return inside.astype(value.dtype) / (high - low)

    @of_value
    def _cdf(self, value, low, high):
        return ops.minimum(ops.maximum((value - low) / (high - low), 0.0), 1.0)

    @of_parameters
    def _mean(self, low, high):
        return 0.5 * (low + high)

    @of_parameters
    def _var(self, low, high):
        return ops.square(high - low) / 12.0

    @of_parameters
    def _entropy(self, low, high):
        return ops.log(high - low)

    @of_two
    def _kl_loss(self, low, high, low_b, high_b):
        divergence = ops.log(high_b - low_b) - ops.log(high - low)
        return ops.where(ops.logical_and(low_b <= low, high <= high_b), divergence, ops.full_like(divergence, _INF))

    @of_shape
    def _sample(self, shape, low, high):
        return low + (high - low) * self._uniform(shape)


class Exponential(Family):
    """The exponential distribution.

    Args:
        rate: one over the mean. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default float32.
        name: a name of its own.

    Examples:
        >>> from spore.nn.probability.distribution import Exponential
        >>> print(Exponential(0.5).mean())
        2.0
    """
    _positive = {"rate": "rate"}

    def __init__(self, rate=None, seed=None, dtype=mstype.float32, name="Exponential"):
        super().__init__(seed, dtype, name, {"rate": rate})

    rate = property(lambda self: self._rate_value, doc="One over the mean.")

    @of_value
    def _log_prob(self, value, rate):
        density = ops.log(rate) - rate * value
        return ops.where(value < 0.0, ops.full_like(density, -_INF), density)

    @of_value
    def _log_survival(self, value, rate):
        return -rate * ops.relu(value)

    @of_parameters
    def _mean(self, rate):
        return 1.0 / rate

    _sd = _mean

    @of_parameters
    def _mode(self, rate):
        return ops.zeros_like(rate)

    @of_parameters
    def _entropy(self, rate):
        return 1.0 - ops.log(rate)

    @of_two
    def _kl_loss(self, rate, rate_b):
        return rate_b / rate - 1.0 + ops.log(rate) - ops.log(rate_b)

    @of_shape
    def _sample(self, shape, rate):
        return -ops.log1p(-self._uniform(shape)) / rate


class Gamma(Family):
    """The gamma distribution.

    Args:
        concentration: the shape of the curve, an array or Tensor. Default None: given at calls.
        rate: one over the scale, an array or Tensor. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default float32.
        name: a name of its own.

    Examples:
        >>> from spore.nn.probability.distribution import Gamma
        >>> print(Gamma([3.0], [2.0]).mean())
        [1.5]
    """
    _positive = {"concentration": "concentration", "rate": "rate"}
    _arrays = ("concentration", "rate")

    def __init__(self, concentration=None, rate=None, seed=None, dtype=mstype.float32, name="Gamma"):
        super().__init__(seed, dtype, name, {"concentration": concentration, "rate": rate})

    concentration = property(lambda self: self._concentration_value, doc="The shape of the curve.")
    rate = property(lambda self: self._rate_value, doc="One over the scale.")

    @of_value
    def _log_prob(self, value, concentration, rate):
        return (concentration - 1.0) * ops.log(value) - rate * value + concentration * ops.log(rate) - ops.lgamma(concentration)

    @of_value
    def _cdf(self, value, concentration, rate):
        return ops.igamma(concentration, rate * value)

    @of_parameters
    def _mean(self, concentration, rate):
        return concentration / rate

    @of_parameters
    def _var(self, concentration, rate):
        return concentration / ops.square(rate)

    @of_parameters
    def _mode(self, concentration, rate):
        return ops.where(concentration > 1.0, (concentration - 1.0) / rate, ops.full_like(rate, _NAN))

    @of_parameters
    def _entropy(self, concentration, rate):
        return concentration - ops.log(rate) + ops.lgamma(concentration) + (1.0 - concentration) * ops.digamma(concentration)

    @of_two
    def _kl_loss(self, concentration, rate, concentration_b, rate_b):
        return ((concentration - concentration_b) * ops.digamma(concentration) + ops.lgamma(concentration_b) - ops.lgamma(concentration)
                + concentration_b * (ops.log(rate) - ops.log(rate_b)) + concentration * (rate_b / rate - 1.0))

    @of_shape
    def _sample(self, shape, concentration, rate):
        drawn = ops.random_gamma((), ops.broadcast_to(concentration, shape), self._seed or None)
        return drawn / rate


def _lbeta(a, b):
    return ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)


class Beta(Family):
    """The beta distribution, of numbers between 0 and 1.

    Args:
        concentration1: the power of value, plus one; an array or Tensor. Default None: given at calls.
        concentration0: the power of 1 - value, plus one; an array or Tensor. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default float32.
        name: a name of its own.

    Examples:
        >>> from spore.nn.probability.distribution import Beta
        >>> print(Beta([1.0], [3.0]).mean())
        [0.25]
    """
    _positive = {"concentration1": "concentration1", "concentration0": "concentration0"}
    _arrays = ("concentration1", "concentration0")

    def __init__(self, concentration1=None, concentration0=None, seed=None, dtype=mstype.float32, name="Beta"):
        super().__init__(seed, dtype, name, {"concentration1": concentration1, "concentration0": concentration0})

    concentration1 = property(lambda self: self._concentration1_value, doc="The power of value, plus one.")
    concentration0 = property(lambda self: self._concentration0_value, doc="The power of 1 - value, plus one.")

    @of_value
    def _log_prob(self, value, a, b):
        return (a - 1.0) * ops.log(value) + (b - 1.0) * ops.log1p(-value) - _lbeta(a, b)

    @of_parameters
    def _mean(self, a, b):
        return a / (a + b)

    @of_parameters
    def _var(self, a, b):
        return a * b / (ops.square(a + b) * (a + b + 1.0))

    @of_parameters
    def _mode(self, a, b):
        return ops.where(ops.logical_and(a > 1.0, b > 1.0), (a - 1.0) / (a + b - 2.0), ops.full_like(a, _NAN))

    @of_parameters
    def _entropy(self, a, b):
        return (_lbeta(a, b) - (a - 1.0) * ops.digamma(a) - (b - 1.0) * ops.digamma(b) + (a + b - 2.0) * ops.digamma(a + b))

    @of_two
    def _kl_loss(self, a, b, a_b, b_b):
        return (_lbeta(a_b, b_b) - _lbeta(a, b) + (a - a_b) * ops.digamma(a) + (b - b_b) * ops.digamma(b)
                + (a_b + b_b - a - b) * ops.digamma(a + b))

    @of_shape
    def _sample(self, shape, a, b):
        first, second = (ops.random_gamma((), ops.broadcast_to(power, shape), self._seed + i if self._seed else None)
                         for i, power in enumerate((a, b)))
        return first / (first + second)


class Cauchy(Family):
    """The Cauchy distribution. It has no mean and no variance.

    Args:
        loc: the location. Default None: given at calls.
        scale: the scale. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default float32.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import Cauchy
        >>> print(Cauchy(1.0, 2.0).cdf(ms.Tensor([1.0])))
        [0.5]
    """
    _labels = {"loc": "location"}
    _positive = {"scale": "scale"}

    def __init__(self, loc=None, scale=None, seed=None, dtype=mstype.float32, name="Cauchy"):
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})

    loc = property(lambda self: self._loc_value, doc="The location.")
    scale = property(lambda self: self._scale_value, doc="The scale.")

    @of_value
    def _log_prob(self, value, loc, scale):
        return -ops.log1p(ops.square((value - loc) / scale)) - ops.log(scale) - math.log(math.pi)

    @of_value
    def _cdf(self, value, loc, scale):
        return ops.atan((value - loc) / scale) / math.pi + 0.5

    def _mean(self, *args, **kwargs):
        raise ValueError("Cauchy: the mean is not defined")

    def _sd(self, *args, **kwargs):
        raise ValueError("Cauchy: the standard deviation is not defined")

    def _var(self, *args, **kwargs):
        raise ValueError("Cauchy: the variance is not defined")

    @of_parameters
    def _mode(self, loc, scale):
        return loc

    @of_parameters
    def _entropy(self, loc, scale):
        return ops.log(scale) + math.log(4.0 * math.pi)

    @of_two
    def _kl_loss(self, loc, scale, loc_b, scale_b):
        return ops.log((ops.square(scale + scale_b) + ops.square(loc - loc_b)) / (4.0 * scale * scale_b))

    @of_shape
    def _sample(self, shape, loc, scale):
        return loc + scale * ops.tan((self._uniform(shape) - 0.5) * math.pi)


class Logistic(Family):
    """The logistic distribution.

    Args:
        loc: the location. Default None: given at calls.
        scale: the scale. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default float32.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import Logistic
        >>> print(Logistic(1.0, 2.0).cdf(ms.Tensor([1.0])))
        [0.5]
    """
    _labels = {"loc": "location"}
    _positive = {"scale": "scale"}

    def __init__(self, loc=None, scale=None, seed=None, dtype=mstype.float32, name="Logistic"):
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})

    loc = property(lambda self: self._loc_value, doc="The location.")
    scale = property(lambda self: self._scale_value, doc="The scale.")

    @of_value
    def _log_prob(self, value, loc, scale):
        z = ops.abs((value - loc) / scale)  # the curve is even, and exp(-z) does not overflow
        return -z - ops.log(scale) - 2.0 * ops.log1p(ops.exp(-z))

    @of_value
    def _cdf(self, value, loc, scale):
        return ops.sigmoid((value - loc) / scale)

    @of_value
    def _survival_function(self, value, loc, scale):
        return ops.sigmoid((loc - value) / scale)

    @of_parameters
    def _mean(self, loc, scale):
        return loc

    _mode = _mean

    @of_parameters
    def _sd(self, loc, scale):
        return scale * (math.pi / math.sqrt(3.0))

    @of_parameters
    def _entropy(self, loc, scale):
        return ops.log(scale) + 2.0

    @of_shape
    def _sample(self, shape, loc, scale):
        drawn = self._uniform(shape, open_at_zero=True)
        return loc + scale * (ops.log(drawn) - ops.log1p(-drawn))


class _DensityOnly(Family):
    """Of these MindSpore has prob and log_prob alone, and prints no parameters."""
    _positive = {"sd": "Standard deviation", "df": "Degrees of freedom"}

    def extend_repr(self):
        return ""

    def get_dist_args(self, *args, **kwargs):
        raise NotImplementedError(f"get_dist_args is not implemented for {self._name} distribution.")

    def get_dist_type(self):
        raise NotImplementedError(f"get_dist_type is not implemented for {self._name} distribution.")


class HalfNormal(_DensityOnly):
    """The normal distribution with what is below zero left out, and twice as high.

    Args:
        mean: where the curve is highest. Default None: given at calls.
        sd: the standard deviation of the whole curve. Default None: given at calls.
        seed: not used.
        dtype: of the parameters. Default float32.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import HalfNormal
        >>> print(HalfNormal(0.0, 1.0).prob(ms.Tensor([-1.0])))
        [0.]
    """

    def __init__(self, mean=None, sd=None, seed=None, dtype=mstype.float32, name="HalfNormal"):
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    @of_value
    def _log_prob(self, value, mean, sd):
        density = math.log(2.0) - _HALF_LOG_2PI - ops.log(sd) - 0.5 * ops.square((value - mean) / sd)
        return ops.where(value < 0.0, ops.full_like(density, -_INF), density)


class Laplace(_DensityOnly):
    """The Laplace distribution.

    Args:
        mean: the mean. Default None: given at calls.
        sd: the scale. Default None: given at calls.
        seed: not used.
        dtype: of the parameters. Default float32.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import Laplace
        >>> print(Laplace(0.0, 0.5).log_prob(ms.Tensor([1.0])))
        [-2.]
    """

    def __init__(self, mean=None, sd=None, seed=None, dtype=mstype.float32, name="Laplace"):
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    @of_value
    def _log_prob(self, value, mean, sd):
        return -ops.abs((value - mean) / sd) - ops.log(2.0 * sd)


class StudentT(_DensityOnly):
    """Student's t distribution.

    Args:
        df: the degrees of freedom. Default None: given at calls.
        mean: the mean. Default None: given at calls.
        sd: the scale. Default None: given at calls.
        seed: not used.
        dtype: of the parameters. Default float32.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import StudentT
        >>> print(StudentT(3.0, 0.0, 1.0).prob(ms.Tensor([0.0])).shape)
        (1,)
    """

    def __init__(self, df=None, mean=None, sd=None, seed=None, dtype=mstype.float32, name="StudentT"):
        super().__init__(seed, dtype, name, {"df": df, "mean": mean, "sd": sd})

    @of_value
    def _log_prob(self, value, df, mean, sd):
        scale = ops.log(sd) + 0.5 * ops.log(df * math.pi) + ops.lgamma(0.5 * df) - ops.lgamma(0.5 * (df + 1.0))
        return -0.5 * (df + 1.0) * ops.log1p(ops.square((value - mean) / sd) / df) - scale

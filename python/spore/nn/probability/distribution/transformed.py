# SPDX-License-Identifier: Apache-2.0
"""Distributions of g(x), where g is a bijector and x has a distribution that is known."""
import math

from spore._core import type_name as _type_name
from spore import _checkparam as check
from spore import ops
from spore.common import dtype as mstype
from spore.nn.probability import _parameters as given
from spore.nn.probability.bijector import Bijector, Exp, GumbelCDF, Invert
from spore.nn.probability.distribution.continuous import Normal, Uniform
from spore.nn.probability.distribution.distribution import Distribution, of_parameters, of_two, of_value

__all__ = ["Gumbel", "LogNormal", "TransformedDistribution"]

_EULER = 0.5772156649015329


class TransformedDistribution(Distribution):
    """The distribution of g(x). Its functions take the parameters of the distribution of x.

    Args:
        bijector: g.
        distribution: that of x, of floating point numbers.
        seed: of the samples. Default None: that of the distribution of x.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability import bijector, distribution
        >>> made = distribution.TransformedDistribution(bijector.Exp(), distribution.Normal(0.0, 1.0))
        >>> print(made.cdf(ms.Tensor([1.0])))
        [0.5]
    """

    def __init__(self, bijector, distribution, seed=None, name="transformed_distribution"):
        kind = type(self).__name__
        check.check_value_type("bijector", bijector, [Bijector], kind)
        check.check_value_type("distribution", distribution, [Distribution], kind)
        if not distribution.dtype.is_floating_point:
            raise TypeError(f"For '{kind}', the distribution must have a floating point dtype, but has {distribution.dtype}")
        param = {"bijector": bijector, "distribution": distribution, "seed": seed, "name": name}
        super().__init__(seed, distribution.dtype, name, param)
        self._bijector, self._distribution = bijector, distribution
        # The parameters are those of x.
        self.parameter_type = distribution.parameter_type
        self.default_parameters, self.parameter_names = distribution.default_parameters, distribution.parameter_names

    bijector = property(lambda self: self._bijector, doc="g.")
    distribution = property(lambda self: self._distribution, doc="The distribution of x.")
    is_linear_transformation = property(lambda self: self._bijector.is_constant_jacobian, doc="Whether the mean of g(x) is g of the mean.")

    def extend_repr(self):
        return ""

    def _log_prob(self, value, *args, **kwargs):
        x = self._bijector.inverse(value)
        return self._distribution.log_prob(x, *args, **kwargs) + self._bijector.inverse_log_jacobian(value)

    def _cdf(self, value, *args, **kwargs):
        return self._distribution.cdf(self._bijector.inverse(value), *args, **kwargs)

    def _survival_function(self, value, *args, **kwargs):
        return self._distribution.survival_function(self._bijector.inverse(value), *args, **kwargs)

    def _mean(self, *args, **kwargs):
        if not self.is_linear_transformation:
            raise ValueError(f"{self._name}: the mean of {self._bijector.name}, which is not linear, is not known: take that of samples")
        return self._bijector.forward(self._distribution.mean(*args, **kwargs))

    def _sample(self, *args, **kwargs):
        return self._bijector.forward(self._distribution.sample(*args, **kwargs))


class _Located(TransformedDistribution):
    """A transformed distribution with a name of its own, known by loc and scale."""
    loc = property(lambda self: self._loc, doc="The location.")
    scale = property(lambda self: self._scale, doc="The scale.")

    def extend_repr(self):
        if self.is_scalar_batch:
            return f"loc = {self.loc}, scale = {self.scale}"
        return f"batch_shape = {self.batch_shape}"

    def _get_dist_type(self):
        return type(self).__name__

    def _get_dist_args(self, *args, **kwargs):
        return tuple(self._given(args, kwargs))

    def _cross_entropy(self, dist, *args):
        return self._kl_loss(dist, *args) + self._entropy(*args[2:])


class LogNormal(_Located):
    """The distribution of exp(x) of a normally distributed x.

    Args:
        loc: the mean of x. Default None: given at calls.
        scale: the standard deviation of x. Default None: given at calls.
        seed: of the samples.
        dtype: of the samples. Default float32.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import LogNormal
        >>> print(LogNormal(0.0, 1.0).cdf(ms.Tensor([1.0])))
        [0.5]
    """

    def __init__(self, loc=None, scale=None, seed=0, dtype=mstype.float32, name="LogNormal"):
        super().__init__(Exp(), Normal(loc, scale, seed, dtype), seed, name)
        self.parameter_names = ["loc", "scale"]
        self._loc, self._scale = self.default_parameters

    def _x(self, args, kwargs):
        """Parameters of a call under the names x knows them by."""
        return dict(zip(("mean", "sd"), self._given(args, kwargs)))

    def _log_prob(self, value, *args, **kwargs):
        return super()._log_prob(value, **self._x(args, kwargs))

    def _cdf(self, value, *args, **kwargs):
        return super()._cdf(value, **self._x(args, kwargs))

    def _survival_function(self, value, *args, **kwargs):
        return super()._survival_function(value, **self._x(args, kwargs))

    def _sample(self, shape=(), *args, **kwargs):
        return super()._sample(shape, **self._x(args, kwargs))

    @of_parameters
    def _mean(self, loc, scale):
        return ops.exp(loc + 0.5 * ops.square(scale))

    @of_parameters
    def _var(self, loc, scale):
        return ops.expm1(ops.square(scale)) * ops.exp(2.0 * loc + ops.square(scale))

    @of_parameters
    def _mode(self, loc, scale):
        return ops.exp(loc - ops.square(scale))

    @of_parameters
    def _entropy(self, loc, scale):
        return loc + 0.5 + ops.log(scale * math.sqrt(2.0 * math.pi))

    @of_two
    def _kl_loss(self, loc, scale, loc_b, scale_b):
        return self._distribution.kl_loss("Normal", loc_b, scale_b, loc, scale)


class Gumbel(_Located):
    """The Gumbel distribution. Its parameters are given to the constructor, not at calls.

    Args:
        loc: the location.
        scale: the scale.
        seed: of the samples.
        dtype: of the samples. Default float32.
        name: a name of its own.

    Examples:
        >>> from spore.nn.probability.distribution import Gumbel
        >>> print(Gumbel(1.0, 2.0).mode())
        1.0
    """

    def __init__(self, loc, scale, seed=0, dtype=mstype.float32, name="Gumbel"):
        if not given.is_float(dtype):
            raise TypeError(f"For 'Gumbel', the 'dtype' must be a floating point type, but got {dtype}")
        curve = GumbelCDF(loc, scale)
        super().__init__(Invert(curve), Uniform(0.0, 1.0, seed, dtype), seed, name)
        self._gumbel_bijector = curve
        self._loc, self._scale = (curve.cast_param_by_value(given.tensor_of(0.0, dtype, "dtype"), p) for p in (curve.loc, curve.scale))
        self.default_parameters, self.parameter_names, self.parameter_type = [self._loc, self._scale], ["loc", "scale"], dtype

    def _given(self, args, kwargs):
        if args or kwargs:
            raise TypeError("Gumbel: parameters are given to the constructor, not at a call")
        return super()._given(args, kwargs)

    @of_value
    def _log_prob(self, value, loc, scale):
        z = (loc - value) / scale
        return z - ops.exp(z) - ops.log(scale)

    @of_value
    def _cdf(self, value, loc, scale):
        return ops.exp(-ops.exp((loc - value) / scale))

    @of_value
    def _survival_function(self, value, loc, scale):
        return -ops.expm1(-ops.exp((loc - value) / scale))

    @of_parameters
    def _mean(self, loc, scale):
        return loc + scale * _EULER

    @of_parameters
    def _sd(self, loc, scale):
        return scale * (math.pi / math.sqrt(6.0))

    @of_parameters
    def _mode(self, loc, scale):
        return loc

    @of_parameters
    def _entropy(self, loc, scale):
        return ops.log(scale) + (1.0 + _EULER)

    @of_two
    def _kl_loss(self, loc, scale, loc_b, scale_b):
        ratio = scale / scale_b
        return (-ops.log(ratio) + _EULER * (ratio - 1.0) + (loc - loc_b) / scale_b
                + ops.exp((loc_b - loc) / scale_b + ops.lgamma(ratio + 1.0)) - 1.0)

    def _sample(self, shape=()):
        # A drawn 0 would become -inf.
        if not isinstance(shape, tuple):
            raise TypeError(f"For shape, input type must be a tuple, but got {_type_name(shape)}: {shape!r}")
        return self._bijector.forward(self._uniform(shape + self.batch_shape, open_at_zero=True))

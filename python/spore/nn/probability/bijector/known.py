# SPDX-License-Identifier: Apache-2.0
"""The bijectors there are."""
from spore import _checkparam as check
from spore import ops
from spore.nn.probability import _parameters as given
from spore.nn.probability.bijector.bijector import Bijector

__all__ = ["PowerTransform", "Exp", "ScalarAffine", "Softplus", "GumbelCDF", "Invert"]


class _Known(Bijector):
    """Adds the parameters given by name, in their order."""

    def __init__(self, name, parameters, is_constant_jacobian=False):
        super().__init__(is_constant_jacobian=is_constant_jacobian, name=name,
                         param={**parameters, "name": name, "param_dict": dict(parameters)})
        for key, value in parameters.items():
            setattr(self, f"_{key}", self._add_parameter(value, key))

    def _like(self, value):
        """The parameters in the dtype of a value."""
        return [self.cast_param_by_value(value, parameter) for parameter in self.default_parameters]


class PowerTransform(_Known):
    """y = (1 + c x) ^ (1 / c) of x >= -1 / c; for the power c = 0 that is exp(x).

    Args:
        power: c, not negative. Default 0.0.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.bijector import PowerTransform
        >>> print(PowerTransform(2.0).inverse(ms.Tensor([3.0])))
        [4.]
    """

    def __init__(self, power=0.0, name="PowerTransform"):
        super().__init__(name, {"power": power})
        given.all_hold(self._power, lambda x: x >= 0, "Power must be greater than or equal to zero")

    power = property(lambda self: self._power, doc="The power c.")

    def _both(self, x, at_zero, elsewhere):
        """One function where the power is 0, the other elsewhere. Where it is not wanted the other is asked for 1 to the power 1, so
        that no nan gets into the gradient."""
        power, = self._like(x)
        zero = ops.equal(power, 0.0)
        x, power = ops.broadcast_to(x, (x + power).shape), ops.where(zero, ops.ones_like(power), power)
        return ops.where(zero, at_zero(x), elsewhere(ops.where(zero, ops.ones_like(x), x), power))

    def _forward(self, x):
        return self._both(x, ops.exp, lambda x, c: ops.exp(ops.log1p(x * c) / c))

    def _inverse(self, y):
        return self._both(y, ops.log, lambda y, c: ops.expm1(ops.log(y) * c) / c)

    def _forward_log_jacobian(self, x):
        return self._both(x, lambda x: x, lambda x, c: (1.0 / c - 1.0) * ops.log1p(x * c))

    def _inverse_log_jacobian(self, y):
        power, = self._like(y)
        return (power - 1.0) * ops.log(y)


class Exp(PowerTransform):
    """y = exp(x).

    Args:
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.bijector import Exp
        >>> print(Exp().inverse(ms.Tensor([1.0])))
        [0.]
    """

    def __init__(self, name="Exp"):
        super().__init__(0.0, name)

    def extend_repr(self):
        return "exp"

    def _forward(self, x):
        return ops.exp(x)

    def _inverse(self, y):
        return ops.log(y)

    def _forward_log_jacobian(self, x):
        return x

    def _inverse_log_jacobian(self, y):
        return -ops.log(y)


class ScalarAffine(_Known):
    """y = scale x + shift.

    Args:
        scale: the factor. Default 1.0.
        shift: what is added. Default 0.0.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.bijector import ScalarAffine
        >>> print(ScalarAffine(2.0, 1.0).forward(ms.Tensor([3.0])))
        [7.]
    """

    def __init__(self, scale=1.0, shift=0.0, name="ScalarAffine"):
        super().__init__(name, {"scale": scale, "shift": shift}, is_constant_jacobian=True)

    scale = property(lambda self: self._scale, doc="The factor.")
    shift = property(lambda self: self._shift, doc="What is added.")

    def _forward(self, x):
        scale, shift = self._like(x)
        return scale * x + shift

    def _inverse(self, y):
        scale, shift = self._like(y)
        return (y - shift) / scale

    def _forward_log_jacobian(self, x):
        return ops.log(ops.abs(self._like(x)[0]))

    def _inverse_log_jacobian(self, y):
        return -self._forward_log_jacobian(y)


class Softplus(_Known):
    """y = log(1 + exp(k x)) / k.

    Args:
        sharpness: k. Default 1.0.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.bijector import Softplus
        >>> print(Softplus(2.0).forward(ms.Tensor([100.0])))
        [100.]
    """

    def __init__(self, sharpness=1.0, name="Softplus"):
        super().__init__(name, {"sharpness": sharpness})

    sharpness = property(lambda self: self._sharpness, doc="k.")

    @staticmethod
    def _inverse_of_one(y):
        """x of y for k = 1: log(exp(y) - 1), written so that it neither overflows nor cancels."""
        return y + ops.log(-ops.expm1(-y))

    def _forward(self, x):
        k, = self._like(x)
        return (ops.relu(k * x) + ops.log1p(ops.exp(-ops.abs(k * x)))) / k

    def _inverse(self, y):
        k, = self._like(y)
        return self._inverse_of_one(k * y) / k

    def _forward_log_jacobian(self, x):
        x = self._like(x)[0] * x
        return -ops.relu(-x) - ops.log1p(ops.exp(-ops.abs(x)))

    def _inverse_log_jacobian(self, y):
        y = self._like(y)[0] * y
        return -ops.log(-ops.expm1(-y))


class GumbelCDF(_Known):
    """y = exp(-exp(-(x - loc) / scale)), the share of a Gumbel distribution below x.

    Args:
        loc: the location. Default 0.0.
        scale: the scale, above zero. Default 1.0.
        name: a name of its own.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.bijector import GumbelCDF
        >>> print(GumbelCDF(1.0, 2.0).forward(ms.Tensor([1000.0])))
        [1.]
    """

    def __init__(self, loc=0.0, scale=1.0, name="GumbelCDF"):
        super().__init__(name, {"loc": loc, "scale": scale})
        given.all_hold(self._scale, lambda x: x > 0, "scale must be greater than zero")

    loc = property(lambda self: self._loc, doc="The location.")
    scale = property(lambda self: self._scale, doc="The scale.")

    def _forward(self, x):
        loc, scale = self._like(x)
        return ops.exp(-ops.exp((loc - x) / scale))

    def _inverse(self, y):
        loc, scale = self._like(y)
        return loc - scale * ops.log(-ops.log(y))

    def _forward_log_jacobian(self, x):
        loc, scale = self._like(x)
        z = (loc - x) / scale
        return z - ops.exp(z) - ops.log(scale)

    def _inverse_log_jacobian(self, y):
        return ops.log(self._like(y)[1] / (-y * ops.log(y)))


class Invert(Bijector):
    """Another bijector the other way round.

    Args:
        bijector: that bijector.
        name: a name of its own. Default "Invert" and the other's name.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.bijector import Exp, Invert
        >>> print(Invert(Exp()).forward(ms.Tensor([1.0])))
        [0.]
    """

    def __init__(self, bijector, name=""):
        check.check_value_type("bijector", bijector, [Bijector], "Invert")
        name = name or "Invert" + bijector.name
        super().__init__(bijector.is_constant_jacobian, bijector.is_injective, name, bijector.dtype,
                         {"bijector": bijector, "name": name})
        self._bijector = bijector

    bijector = property(lambda self: self._bijector, doc="The other bijector.")

    def extend_repr(self):
        return ""

    def forward(self, value, *args, **kwargs):
        return self._bijector.inverse(value, *args, **kwargs)

    def inverse(self, value, *args, **kwargs):
        return self._bijector.forward(value, *args, **kwargs)

    def forward_log_jacobian(self, value, *args, **kwargs):
        return self._bijector.inverse_log_jacobian(value, *args, **kwargs)

    def inverse_log_jacobian(self, value, *args, **kwargs):
        return self._bijector.forward_log_jacobian(value, *args, **kwargs)

# SPDX-License-Identifier: Apache-2.0
"""What Bayesian layers hold instead of weights: a normal distribution before any data, and one that is learned."""
import numpy as np

from spore._core import type_name as _type_name
from spore import ops
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.probability.distribution import Normal

__all__ = ["NormalPrior", "NormalPosterior", "normal_post_fn"]


class NormalPrior(Cell):
    """A normal distribution that is not learned.

    Args:
        dtype: of the results. Default float32.
        mean: its mean. Default 0.
        std: its standard deviation. Default 0.1.

    Examples:
        >>> from spore.nn.probability import bnn_layers
        >>> print(bnn_layers.NormalPrior()("mean"))
        0.0
    """

    def __init__(self, dtype=mstype.float32, mean=0, std=0.1):
        super().__init__()
        self.normal = Normal(mean, std, dtype=dtype)

    def construct(self, *inputs):
        return self.normal(*inputs)


class NormalPosterior(Cell):
    """Normal distributions whose means and deviations are Parameters; a deviation is the softplus of its Parameter.

    Args:
        name: begins the names of the Parameters.
        shape: of mean and deviation.
        dtype: of the Parameters. Default float32.
        loc_mean, loc_std: of the normal distribution that means are drawn from at first. Default 0 and 0.1.
        untransformed_scale_mean, untransformed_scale_std: the same for the Parameters of the deviations. Default -5 and 0.1.

    Examples:
        >>> from spore.nn.probability import bnn_layers
        >>> print(bnn_layers.NormalPosterior("weight", (2, 3))("sample").shape)
        (2, 3)
    """

    def __init__(self, name, shape, dtype=mstype.float32, loc_mean=0, loc_std=0.1, untransformed_scale_mean=-5,
                 untransformed_scale_std=0.1):
        super().__init__()
        if not isinstance(name, str):
            raise TypeError(f"For 'NormalPosterior', 'name' must be a str, but got {_type_name(name)}.")
        if not isinstance(shape, (tuple, list)):
            raise TypeError(f"For 'NormalPosterior', 'shape' must be a tuple or list, but got {_type_name(shape)}.")
        for what, value in (("loc_mean", loc_mean), ("untransformed_scale_mean", untransformed_scale_mean)):
            if not _is_number(value):
                raise TypeError(f"For 'NormalPosterior', '{what}' must be an int or float, but got {_type_name(value)}.")
        for what, value in (("loc_std", loc_std), ("untransformed_scale_std", untransformed_scale_std)):
            if not _is_number(value) or value < 0:
                raise TypeError(f"For 'NormalPosterior', '{what}' must be an int or float of at least 0, but got {value}.")
        self.mean = Parameter(Tensor(np.random.normal(loc_mean, loc_std, shape), dtype=dtype), name=name + "_mean")
        self.untransformed_std = Parameter(Tensor(np.random.normal(untransformed_scale_mean, untransformed_scale_std, shape),
                                                  dtype=dtype), name=name + "_untransformed_std")
        self.normal = Normal()

    def construct(self, *inputs):
        deviation = 1e-6 + ops.log(ops.exp(self.untransformed_std) + 1)
        return self.normal(*inputs, mean=self.mean, sd=deviation)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def normal_post_fn(name, shape):
    """A NormalPosterior with its defaults."""
    return NormalPosterior(name=name, shape=shape)

# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: networks in half precision, and loss scales that keep small gradients from vanishing."""
from abc import ABC, abstractmethod

from spore import ops
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.common.differentiate import _flatten, _map
from spore.common.parameter import Parameter
from spore.train.amp import (auto_mixed_precision, build_train_network, custom_mixed_precision, get_black_list,
                             get_white_list)
from spore.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager

__all__ = ['DynamicLossScaleManager', 'LossScaleManager', 'FixedLossScaleManager', 'build_train_network',
           'DynamicLossScaler',
           'StaticLossScaler', 'LossScaler', 'auto_mixed_precision', 'all_finite', 'custom_mixed_precision',
           'get_white_list',
           'get_black_list']


def all_finite(inputs):
    """Whether Tensors, for instance gradients, hold finite numbers only: a bool Tensor.

    Args:
        inputs: a Tensor, or tuples of them.

    Examples:
        >>> import spore as ms
        >>> from spore import amp
        >>> print(amp.all_finite((ms.Tensor([1.0, 2.0]), ms.Tensor([float('inf')]))))
        False
    """
    leaves = _flatten(inputs, [])
    if not leaves:
        raise TypeError(f"For 'all_finite', 'inputs' must hold Tensors, but got {_type_name(inputs)}.")
    finite = ops.isfinite(leaves[0]).all()
    for leaf in leaves[1:]:
        finite = ops.logical_and(finite, ops.isfinite(leaf).all())
    return finite


class LossScaler(ABC):
    """Base of loss scalers: multiply the loss, divide the gradients, follow overflows."""

    @abstractmethod
    def scale(self, inputs):
        """The loss, or Tensors in tuples, times the scale."""

    @abstractmethod
    def unscale(self, inputs):
        """Gradients divided by the scale."""

    @abstractmethod
    def adjust(self, grads_finite):
        """Change the scale after a step whose gradients were finite or not."""


class _Scaler(LossScaler):

    def __init__(self, scale_value):
        if isinstance(scale_value, bool) or not isinstance(scale_value, (float, int)):
            raise TypeError(f"For '{type(self).__name__}', 'scale_value' must be a number, but got "
                            f"{_type_name(scale_value)}.")
        if scale_value < 1.0:
            raise ValueError(f"For '{type(self).__name__}', 'scale_value' must be at least 1, but got {scale_value}.")
        self.scale_value = Parameter(Tensor(scale_value, mstype.float32), name='scale_value')

    def scale(self, inputs):
        return _map(lambda t: t * self.scale_value.astype(t.dtype), inputs)

    def unscale(self, inputs):
        inverse = ops.reciprocal(self.scale_value)
        return _map(lambda t: t * inverse.astype(t.dtype), inputs)


class StaticLossScaler(_Scaler):
    """A loss scale that does not change.

    Args:
        scale_value: the scale, at least 1.

    Examples:
        >>> import spore as ms
        >>> from spore import amp
        >>> print(amp.StaticLossScaler(8).scale(ms.Tensor(0.5)))
        4.0
    """

    def adjust(self, grads_finite):
        return False


class DynamicLossScaler(_Scaler):
    """A loss scale that falls when gradients are not finite and grows after a run of steps in which they were.

    Args:
        scale_value: at the start, at least 1.
        scale_factor: what it is divided and multiplied with, an int.
        scale_window: steps until it grows.
    """

    def __init__(self, scale_value, scale_factor, scale_window):
        super().__init__(scale_value)
        for name, value in (('scale_window', scale_window), ('scale_factor', scale_factor)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"For 'DynamicLossScaler', '{name}' must be an int, but got {_type_name(value)}.")
            if value <= 0:
                raise ValueError(f"For 'DynamicLossScaler', '{name}' must be above 0, but got {value}.")
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self.counter = Parameter(Tensor(0, mstype.int32), name='counter')

    def adjust(self, grads_finite):
        scale, counter = float(self.scale_value.asnumpy()), int(self.counter.asnumpy())
        finite = bool(grads_finite)
        if not finite:
            scale = max(1.0, scale / self.scale_factor)
        elif counter == self.scale_window - 1:
            grown = Tensor(scale * self.scale_factor, mstype.float32)
            scale = float(grown.asnumpy()) if bool(ops.isfinite(grown)) else scale
        self.scale_value.set_data(Tensor(scale, mstype.float32))
        self.counter.set_data(Tensor((counter + 1) % self.scale_window if finite else 0, mstype.int32))
        return True


def _grad_scale_map(scale_value, inputs):
    """Tensors times the scale, in their dtypes."""
    return _map(lambda x: (x * scale_value.astype(x.dtype)), inputs)


def _grad_unscale_map(scale_value, inputs):
    """Tensors divided by the scale, in their dtypes."""
    return _map(lambda x: (x / scale_value.astype(x.dtype)), inputs)

# SPDX-License-Identifier: Apache-2.0
"""Who decides the loss scale of a Model: a fixed one, or one that follows overflows."""
from spore._core import type_name as _type_name
__all__ = ['LossScaleManager', 'FixedLossScaleManager', 'DynamicLossScaleManager']

_OVERFLOWS_IN_A_ROW = 1000


class LossScaleManager:
    """Base of loss scale managers."""

    def get_loss_scale(self):
        """The loss scale."""

    def update_loss_scale(self, overflow):
        """Learn whether the last step overflowed."""

    def get_update_cell(self):
        """The Cell that changes the loss scale inside the training network, or None."""


class FixedLossScaleManager(LossScaleManager):
    """One loss scale for the whole run.

    Args:
        loss_scale: what the loss is multiplied with, at least 1.
        drop_overflow_update: whether a step with an overflow is left out. If not, the optimizer must divide the
            gradients: give it the same loss_scale.

    Examples:
        >>> from spore.amp import FixedLossScaleManager
        >>> FixedLossScaleManager(1024.0).get_loss_scale()
        1024.0
    """

    def __init__(self, loss_scale=128.0, drop_overflow_update=True):
        if loss_scale < 1:
            raise ValueError(f"For 'FixedLossScaleManager', 'loss_scale' must be at least 1, but got {loss_scale}.")
        self._loss_scale = loss_scale
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self):
        return self._loss_scale

    def get_drop_overflow_update(self):
        """Are steps with an overflow left out?"""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow):
        """Nothing changes."""

    def get_update_cell(self):
        if not self._drop_overflow_update:
            return None
        from spore import nn
        return nn.FixedLossScaleUpdateCell(self._loss_scale)


class DynamicLossScaleManager(LossScaleManager):
    """A loss scale that falls with an overflow and grows after a run of steps without.

    Args:
        init_loss_scale: at the start, at least 1.
        scale_factor: what it is divided and multiplied with.
        scale_window: steps without overflow until it grows.
    """

    def __init__(self, init_loss_scale=2 ** 24, scale_factor=2, scale_window=2000):
        if init_loss_scale < 1:
            raise ValueError(f"For 'DynamicLossScaleManager', 'init_loss_scale' must be at least 1, but got "
                             f"{init_loss_scale}.")
        if isinstance(scale_window, bool) or not isinstance(scale_window, int):
            raise TypeError(f"For 'DynamicLossScaleManager', 'scale_window' must be an int, but got "
                            f"{_type_name(scale_window)}.")
        if scale_window <= 0:
            raise ValueError(f"For 'DynamicLossScaleManager', 'scale_window' must be above 0, but got {scale_window}.")
        if scale_factor <= 0:
            raise ValueError(f"For 'DynamicLossScaleManager', 'scale_factor' must be above 0, but got {scale_factor}.")
        self.loss_scale = init_loss_scale
        self.scale_window = scale_window
        self.scale_factor = self.increase_ratio = scale_factor
        self.decrease_ratio = 1 / scale_factor
        self.cur_iter = 1
        self.last_overflow_iter = 0
        self.bad_step_max = _OVERFLOWS_IN_A_ROW
        self.bad_step = 0

    def get_loss_scale(self):
        return self.loss_scale

    def update_loss_scale(self, overflow):
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
            self.bad_step += 1
        else:
            if (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
                self.loss_scale *= self.increase_ratio
            self.bad_step = 0
        if self.bad_step > self.bad_step_max:
            raise RuntimeError(f"DynamicLossScaleManager: {self.bad_step} steps in a row overflowed; the loss is not "
                               "finite at any scale")
        self.cur_iter += 1

    def get_drop_overflow_update(self):
        """Are steps with an overflow left out? Yes."""
        return True

    def get_update_cell(self):
        from spore import nn
        return nn.DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)

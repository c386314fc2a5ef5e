# SPDX-License-Identifier: Apache-2.0
"""THOR, a second-order optimizer: not part of spore."""
__all__ = ['thor']


def thor(net, learning_rate, damping, momentum, weight_decay=0.0, loss_scale=1.0, batch_size=32, use_nesterov=False,
         decay_filter=None,
         split_indices=None, enable_clip_grad=False, frequency=100):
    """Raises NotImplementedError: the second-order optimizer runs on other hardware only.

    Examples:
        >>> from spore import Tensor, nn
        >>> nn.thor(nn.Dense(2, 1), Tensor([0.1]), Tensor([0.03]), 0.9)
        Traceback (most recent call last):
            ...
        NotImplementedError: nn.thor is not available on the CPU; use nn.Lamb or nn.Momentum
    """
    raise NotImplementedError("nn.thor is not available on the CPU; use nn.Lamb or nn.Momentum")

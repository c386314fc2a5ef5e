# SPDX-License-Identifier: Apache-2.0
"""Optimizers that report their steps to the package mindio_ttp, on Ascend processors alone."""
from spore.nn.optim.optimizer import Optimizer

__all__ = ["OptTFTWrapper"]


class OptTFTWrapper(Optimizer):
    """An optimizer that reports its steps, so that a training of several Ascend processes outlives the failure of one.

    Args:
        opt: the optimizer.

    Raises:
        TypeError: opt is no Optimizer.
        ValueError: there is no Ascend processor.

    Examples:
        >>> from spore import nn
        >>> net = nn.Dense(2, 1)
        >>> try:
        ...     nn.OptTFTWrapper(nn.SGD(net.trainable_params()))
        ... except ValueError as error:
        ...     print(str(error)[:41])
        MindIO TFT is for several Ascend processe
    """

    _by_element = False

    def __init__(self, opt, **kwargs):
        if not isinstance(opt, Optimizer):
            raise TypeError(f"For 'OptTFTWrapper', the argument 'opt' must be Optimizer type, but got {type(opt)}.")
        raise ValueError("MindIO TFT is for several Ascend processes with the package mindio_ttp, which a CPU does not have; use the optimizer "
                         "as it is")

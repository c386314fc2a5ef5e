# SPDX-License-Identifier: Apache-2.0
"""AdaSum: gradients, or changes of weights, of many processes added up by how far they agree. It needs 16 processes at least."""
from spore.nn.cell import Cell

__all__ = ["AdaSumByDeltaWeightWrapCell", "AdaSumByGradWrapCell"]


class _AdaSum(Cell):
    def __init__(self, optimizer):
        super().__init__(auto_prefix=False)
        raise RuntimeError(f"Stand alone mode is not supported to apply adasum: {type(self).__name__} adds up what 16 processes or more have "
                           "computed, and there is one; use the optimizer as it is")


class AdaSumByGradWrapCell(_AdaSum):
    """An optimizer that takes gradients of many processes, added by AdaSum.

    Args:
        optimizer: the optimizer.

    Raises:
        RuntimeError: there is one process.

    Examples:
        >>> from spore import nn
        >>> net = nn.Dense(2, 1)
        >>> try:
        ...     nn.AdaSumByGradWrapCell(nn.SGD(net.trainable_params()))
        ... except RuntimeError as error:
        ...     print(str(error)[:44])
        Stand alone mode is not supported to apply a
    """


class AdaSumByDeltaWeightWrapCell(_AdaSum):
    """An optimizer whose changes of weights are added by AdaSum over many processes.

    Args:
        optimizer: the optimizer.

    Raises:
        RuntimeError: there is one process.

    Examples:
        >>> from spore import nn
        >>> net = nn.Dense(2, 1)
        >>> try:
        ...     nn.AdaSumByDeltaWeightWrapCell(nn.SGD(net.trainable_params()))
        ... except RuntimeError as error:
        ...     print(str(error)[:44])
        Stand alone mode is not supported to apply a
    """

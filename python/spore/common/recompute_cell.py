# SPDX-License-Identifier: Apache-2.0
"""A Cell that computes another one again when gradients are taken, for packages that derive their own from it."""
from spore import log
from spore._core import Tensor
from spore.common.differentiate import GradOperation
from spore.common.recompute import parameters_of, run
from spore.nn.cell import Cell

__all__ = ["_RecomputeCell", "_check_input_args_validate", "_padding_input_grads"]


class _RecomputeCell(Cell):
    """Calls `block` so that nothing but its inputs is kept for gradients. Classes derived from it have their own construct and bprop, and
    keep calls in `args` and `kwargs`."""

    def __init__(self, block):
        super().__init__(auto_prefix=False)
        self.args, self.kwargs, self.internal_params = [], [], []
        self.net, self.save_rng_state, self.cpu_rng_state = block, False, None
        self.grad = GradOperation(get_all=True, get_by_list=True, sens_param=True)

    def construct(self, *args, **kwargs):
        kwargs.pop("save_rng_state", None)               # the numbers are the same in each case
        _check_input_args_validate(self.net, args, kwargs)
        return run(self.net, parameters_of(self.net), args, kwargs)


def _check_input_args_validate(block, args, kwargs):
    """Warn of a call without Tensors, which need not be computed again."""
    if not any(isinstance(value, Tensor) for value in (*args, *kwargs.values())):
        log.warning(f"None of the inputs of {getattr(block, '__name__', type(block).__name__)} are tensors, which not need use recompute!")


def _padding_input_grads(args, input_grads):
    """Put None into a list of gradients for every argument that is no Tensor, and a list of None for lists with Tensors."""
    for i, value in enumerate(args):
        if isinstance(value, (list, tuple)):
            input_grads.insert(i, [None] * len(value) if any(isinstance(part, Tensor) for part in value) else None)
        elif not isinstance(value, Tensor):
            input_grads.insert(i, None)
    if len(args) != len(input_grads):
        raise ValueError(f"For recompute cell, the input grads size should be same as input args size: {len(args)}, but got {len(input_grads)}")

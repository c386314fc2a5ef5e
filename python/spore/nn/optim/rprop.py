# SPDX-License-Identifier: Apache-2.0
"""Rprop."""
from spore import _core
from spore.nn._optim_check import type_name, want_float
from spore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ['Rprop']


class Rprop(Optimizer):
    """Steps by the sign of the gradient; each element's step grows while the sign stays and shrinks when it changes.

    Args:
        params: Parameters or groups of them, see Optimizer.
        learning_rate: the first step size, see Optimizer.
        etas: factors of shrinking, below 1, and of growing, above 1.
        step_sizes: smallest and largest step.
        weight_decay: see Optimizer.
    """

    @opt_init_args_register
    def __init__(self, params, learning_rate=0.1, etas=(0.5, 1.2), step_sizes=(1e-6, 50.), weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        for name, value in (('etas', etas), ('step_sizes', step_sizes)):
            if not isinstance(value, tuple):
                raise TypeError(f"For 'Rprop', '{name}' must be a tuple, but got {type_name(value)}.")
            if len(value) != 2:
                raise ValueError(f"For 'Rprop', '{name}' must hold two numbers, but it holds {len(value)}.")
        if step_sizes[0] > step_sizes[1]:
            raise ValueError(f"For 'Rprop', the smallest step must not be above the largest, but got {step_sizes[0]} "
                             f"and {step_sizes[1]}.")
        self.etaminus = want_float('Rprop', 'etas[0]', etas[0], above=0.0, below=1.0)
        self.etaplus = want_float('Rprop', 'etas[1]', etas[1], above=1.0)
        self.step_size_min, self.step_size_max = (want_float('Rprop', f'step_sizes[{i}]', s) for i,
                                                  s in enumerate(step_sizes))
        self.prev = self._parameters.clone(prefix='prev', init='zeros')
        self.step_size = self._parameters.clone(prefix='step_size', init='zeros')

    def construct(self, gradients):
        gradients, lr = self._prepare(gradients)
        if int(self.global_step.item()) == 1:
            _core.apply_each('assign', (self.step_size, _core.apply_each('add', (self.step_size, lr))))
        _core.apply_each('rprop_update', (self._parameters, self.prev, self.step_size, gradients, self.etaminus,
                                          self.etaplus,
                                          self.step_size_min, self.step_size_max))
        return True

# SPDX-License-Identifier: Apache-2.0
"""A Model that tells its network and nn.thor when the moments are to be kept and inverted."""
from spore import nn
from spore.train.model import Model

__all__ = ['ModelThor']


class ModelThor(Model):
    """A Model for nn.thor: in the first of every `frequency` steps the layers keep their moments and the optimizer inverts them.

    Args:
        network, loss_fn, optimizer, metrics, eval_network, eval_indexes, amp_level: as of Model. The network may be a TrainOneStepCell
            whose optimizer is that of nn.thor.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> from spore.train.train_thor import ModelThor
        >>> net = nn.SequentialCell(nn.Dense(4, 2))
        >>> model = ModelThor(net, nn.MSELoss(), nn.thor(net, ms.Tensor([0.1]), ms.Tensor([0.03]), 0.9, frequency=4))
    """

    def __init__(self, network, loss_fn=None, optimizer=None, metrics=None, eval_network=None, eval_indexes=None, amp_level='O0',
                 **kwargs):
        super().__init__(network, loss_fn, optimizer, metrics, eval_network, eval_indexes, amp_level, **kwargs)
        holder = network.optimizer if isinstance(network, nn.TrainOneStepCell) else optimizer
        self._frequency = holder.get_frequency()
        self._second_order = None

    def _step(self, row, callback, params, run):
        self._set_mode(self._train_network, True)
        second_order = params.cur_step_num % self._frequency == 0
        if second_order != self._second_order:
            self._train_network.add_flags_recursive(thor=second_order)
            self._second_order = second_order
        self._train_network.phase = 'train0' if second_order else 'train1'      # a program for either
        super()._step(row, callback, params, run)

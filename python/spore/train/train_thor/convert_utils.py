# SPDX-License-Identifier: Apache-2.0
"""Networks and Models as nn.thor needs them."""
from spore._core import type_name as _type_name
from spore import nn

__all__ = ['ConvertNetUtils', 'ConvertModelUtils']

_LEFT = (nn.DenseThor, nn.Conv2dThor, nn.EmbeddingThor, nn.EmbeddingLookupThor)
# Parts of networks that MindSpore leaves alone by their names.
_LEFT_BY_NAME = ('rpn_with_loss.rpn_convs_list.', 'wide')


def _dense(cell):
    new = nn.DenseThor(cell.in_channels, cell.out_channels, has_bias=cell.has_bias)
    new.weight = cell.weight
    if cell.has_bias:
        new.bias = cell.bias
    new.activation, new.activation_flag = cell.activation, cell.activation_flag
    return new


def _conv2d(cell):
    new = nn.Conv2dThor(cell.in_channels, cell.out_channels, cell.kernel_size, cell.stride, cell.pad_mode, cell.padding,
                        cell.dilation, has_bias=cell.has_bias)
    new.weight = cell.weight
    if cell.has_bias:
        new.bias = cell.bias
    return new


def _embedding(cell):
    new = nn.EmbeddingThor(cell.vocab_size, cell.embedding_size, padding_idx=cell.padding_idx)
    new.embedding_table = cell.embedding_table
    return new


def _lookup(cell):
    new = nn.EmbeddingLookupThor(cell.vocab_size, cell.embedding_size, target=cell.target, slice_mode=cell.slice_mode,
                                 manual_shapes=cell.manual_shapes, max_norm=cell.max_norm, sparse=cell.sparse,
                                 vocab_cache_size=cell.vocab_cache_size)
    new.embedding_table = cell.embedding_table
    return new


_MAKERS = {nn.Dense: _dense, nn.Conv2d: _conv2d, nn.Embedding: _embedding, nn.EmbeddingLookup: _lookup}


class ConvertNetUtils:
    """Replaces the layers of a network by those that keep what nn.thor needs; nn.thor does it by itself.

    Examples:
        >>> from spore import nn, train
        >>> net = nn.SequentialCell(nn.Dense(4, 2))
        >>> train.ConvertNetUtils().convert_to_thor_net(net)
        >>> print(type(net[0]).__name__)
        DenseThor
    """

    def convert_to_thor_net(self, net):
        """Replace the Dense, Conv2d (of one group), Embedding and EmbeddingLookup layers that train; their Parameters stay.

        Args:
            net: the network, changed in place.
        """
        if not isinstance(net, nn.Cell):
            raise TypeError(f"For 'thor', 'net' must be a Cell, but got {_type_name(net)}.")
        self._convert(net, '')
        net.update_cell_type('second-order')

    def _convert(self, net, prefix):
        for name, cell in list(net.name_cells().items()):
            path = f'{prefix}{name}.'
            if cell is net or isinstance(cell, _LEFT):
                continue
            maker = _MAKERS.get(type(cell))
            if maker is None:
                self._convert(cell, path)
            elif self._trains(cell) and not any(part in path.lower() for part in _LEFT_BY_NAME):
                new = maker(cell)
                new.set_train(cell.training)
                for own, parameter in new.parameters_and_names(expand=False):
                    if not parameter.requires_grad and ('matrix' in own or 'normalizer' in own):
                        parameter.name = path + own
                net.insert_child_to_cell(name, new)
                if isinstance(net, nn.SequentialCell):
                    net.cell_list = list(net.cells())

    @staticmethod
    def _trains(cell):
        if isinstance(cell, nn.Conv2d) and cell.group != 1:
            return False
        weight = cell.embedding_table if hasattr(cell, 'embedding_table') else cell.weight
        return weight.requires_grad


class ConvertModelUtils:
    """Gives a Model that counts the steps for nn.thor.

    Examples:
        >>> import spore as ms
        >>> from spore import nn, train
        >>> net, loss = nn.SequentialCell(nn.Dense(4, 2)), nn.MSELoss()
        >>> optimizer = nn.thor(net, ms.Tensor([0.1]), ms.Tensor([0.03]), 0.9, frequency=4)
        >>> model = train.Model(net, loss, optimizer)
        >>> model = train.ConvertModelUtils.convert_to_thor_model(model, net, loss, optimizer)
        >>> print(type(model).__name__)
        ModelThor
    """

    @staticmethod
    def convert_to_thor_model(model, network, loss_fn=None, optimizer=None, metrics=None, amp_level='O0', loss_scale_manager=None,
                              keep_batchnorm_fp32=False):
        """A Model for nn.thor; the given one if the optimizer is another.

        Args:
            model: a Model.
            network, loss_fn, optimizer, metrics, amp_level, loss_scale_manager, keep_batchnorm_fp32: as the Model was made from. The
                network may be a TrainOneStepCell, which has all.
        """
        from spore.train.train_thor.model_thor import ModelThor
        if type(optimizer).__name__ not in ('ThorGpu', 'ThorAscend'):
            return model
        if isinstance(network, nn.TrainOneStepCell):
            return ModelThor(network=network)
        return ModelThor(network=network, loss_fn=loss_fn, optimizer=optimizer, amp_level=amp_level, metrics=metrics,
                         loss_scale_manager=loss_scale_manager, keep_batchnorm_fp32=keep_batchnorm_fp32)

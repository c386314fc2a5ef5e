# SPDX-License-Identifier: Apache-2.0
"""THOR, a second-order optimizer: gradients are turned by the inverse moments of what each layer saw, then follow momentum.

The moments of a layer's inputs and gradients (`nn.layer.thor_layer`) approximate its Fisher information by a Kronecker product; of both
factors only blocks of 128 on the diagonal are inverted, every `frequency` steps. MindSpore runs it on other devices alone; the
arithmetic here is that of its kernels for GPUs."""
from spore import _core
from spore import ops
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.common.parameter import Parameter, ParameterTuple
from spore.nn._optim_check import want_bool, want_float
from spore.nn.layer.basic import ClipByNorm
from spore.nn.layer.normalization import LayerNorm
from spore.nn.layer.thor_layer import Conv2dThor, DenseThor, EmbeddingLookupThor, EmbeddingThor
from spore.nn.optim.optimizer import Optimizer

__all__ = ['thor']

_BLOCK = 128
_CLIPPED_TO = 1.0


def thor(net, learning_rate, damping, momentum, weight_decay=0.0, loss_scale=1.0, batch_size=32, use_nesterov=False,
         decay_filter=lambda x: x.name not in [], split_indices=None, enable_clip_grad=False, frequency=100):
    """The second-order optimizer THOR for a network, whose layers it replaces by those that keep what it needs.

    Args:
        net: the network: its Dense, Conv2d, Embedding and EmbeddingLookup layers are replaced, their Parameters stay.
        learning_rate: a Tensor, one value or one for each step.
        damping: a Tensor with a value for each step: what is added to the diagonals before they are inverted; the last one counts for
            steps beyond.
        momentum: share of the earlier movement that is kept, a float.
        weight_decay: added to the gradients in proportion to the weights. Default 0.0.
        loss_scale: the factor that the loss carries. Default 1.0.
        batch_size: of the data. Default 32.
        use_nesterov: whether to look one step ahead. Default False.
        decay_filter: tells for a Parameter whether it decays. Default: all.
        split_indices: accepted; for several devices.
        enable_clip_grad: whether gradients are scaled down to a norm of 1. Default False.
        frequency: the moments are inverted every so many steps, at least 2; Models converted by ConvertModelUtils count. Default 100.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.SequentialCell(nn.Dense(4, 8, activation="relu"), nn.Dense(8, 2))
        >>> step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.thor(net, ms.Tensor([0.1]), ms.Tensor([0.03]), 0.9))
        >>> x, y = ms.ops.ones((3, 4)), ms.ops.zeros((3, 2))
        >>> first = step(x, y)
        >>> bool(step(x, y) < first)
        True
    """
    from spore.train.train_thor.convert_utils import ConvertNetUtils
    ConvertNetUtils().convert_to_thor_net(net)
    return ThorGpu(net, learning_rate, damping, momentum, weight_decay, loss_scale, batch_size, use_nesterov, decay_filter,
                   split_indices, enable_clip_grad, frequency)


def _layout(size):
    """How a diagonal of this size falls into blocks: their number and size."""
    return (1, size) if size <= _BLOCK else (-(-size // _BLOCK), _BLOCK)


def _inverse_blocks(matrix):
    """The inverses of the blocks on the diagonal, (blocks, size, size); the last one is filled up by an identity."""
    count, size = _layout(matrix.shape[0])
    if count == 1:
        return ops.expand_dims(ops.inverse(matrix), 0)
    rest = count * size - matrix.shape[0]
    if rest:
        matrix = ops.pad(matrix, (0, rest, 0, rest))
        tail = ops.concat((ops.zeros((count * size - rest,)), ops.ones((rest,))))
        matrix = matrix + ops.diag(tail)
    return ops.inverse(ops.stack([matrix[i * size:(i + 1) * size, i * size:(i + 1) * size] for i in range(count)]))


def _turn(gradient, inverse_g, inverse_a):
    """Both factors, block by block, around a gradient of shape (out, in)."""
    rows, columns = gradient.shape
    (high, tall), (wide, long) = inverse_g.shape[:2], inverse_a.shape[-3:-1]
    g = ops.pad(gradient, (0, wide * long - columns, 0, high * tall - rows))
    g = ops.transpose(ops.reshape(g, (high, tall, wide, long)), (0, 2, 1, 3))
    g = ops.matmul(ops.matmul(ops.expand_dims(inverse_g, 1), g), inverse_a)
    return ops.reshape(ops.transpose(g, (0, 2, 1, 3)), (high * tall, wide * long))[:rows, :columns]


class ThorGpu(Optimizer):
    """What `nn.thor` gives; its name is what ConvertModelUtils asks for."""

    _by_element = False

    def __init__(self, net, learning_rate, damping, momentum, weight_decay=0.0, loss_scale=1.0, batch_size=32, use_nesterov=False,
                 decay_filter=lambda x: x.name not in [], split_indices=None, enable_clip_grad=False, frequency=100):
        for name, value in (('learning_rate', learning_rate), ('damping', damping)):
            if not isinstance(value, Tensor):
                raise TypeError(f"For 'thor', '{name}' must be a Tensor, but got {_type_name(value)}.")
        if isinstance(frequency, bool) or not isinstance(frequency, int):
            raise TypeError(f"For 'thor', 'frequency' must be an int, but got {_type_name(frequency)}.")
        if frequency < 2:
            raise ValueError(f"For 'thor', 'frequency' must be at least 2, but got {frequency}.")
        super().__init__(learning_rate, [p for p in net.get_parameters() if p.requires_grad], weight_decay, loss_scale)
        want_float('thor', 'momentum', momentum, least=0.0)
        self.momentum = Parameter(Tensor(momentum, mstype.float32), name='momentum')
        self.params = self._parameters
        self.moments = self.params.clone(prefix='moments', init='zeros')
        self._attrs = {'use_nesterov': want_bool('thor', 'use_nesterov', use_nesterov)}
        self.frequency, self.enable_clip_grad, self.thor = frequency, enable_clip_grad, True
        self._decay, self._batch_size = float(weight_decay), float(batch_size)
        self._decayed = [bool(decay_filter(p)) for p in self.params]
        self._of_square = batch_size * batch_size / (loss_scale * loss_scale)      # gradients carry both
        self.damping = ops.cast(ops.reshape(damping, (-1,)), mstype.float32)
        self.cov_step = Parameter(ops.zeros((1,), mstype.int32), name='cov_step', requires_grad=False)
        self._find_layers(net)

    def _find_layers(self, net):
        """For each Parameter the layer that keeps its moments, or 'norm' for those of a LayerNorm; and the inverses."""
        owners = {}
        for _, cell in net.cells_and_names():
            if isinstance(cell, (DenseThor, Conv2dThor)):
                owners[id(cell.weight)] = cell
            elif isinstance(cell, (EmbeddingThor, EmbeddingLookupThor)):
                owners[id(cell.embedding_table)] = cell
            elif isinstance(cell, LayerNorm):
                owners[id(cell.gamma)] = owners[id(cell.beta)] = 'norm'
        self._layers, self._places, inverses_a, inverses_g = [], [], [], []
        for parameter in self.params:
            layer = owners.get(id(parameter))
            self._layers.append(layer)
            self._places.append(len(inverses_a))
            if layer is None or layer == 'norm':
                continue
            if isinstance(layer, (EmbeddingThor, EmbeddingLookupThor)):
                shape_a, shape_g = (layer.vocab_size,), (layer.embedding_size,) * 2
            else:
                (wide, long), (high, tall) = _layout(_size_a(parameter)), _layout(parameter.shape[0])
                shape_a, shape_g = (high, wide, long, long), (high, tall, tall)
            number = len(inverses_a)
            inverses_a.append(Parameter(ops.zeros(shape_a), name=f'matrix_a_inv_{number}', requires_grad=False))
            inverses_g.append(Parameter(ops.zeros(shape_g), name=f'matrix_g_inv_{number}', requires_grad=False))
        self.matrix_a, self.matrix_g = ParameterTuple(inverses_a), ParameterTuple(inverses_g)

    def get_frequency(self):
        """Every how many steps the moments are inverted."""
        return self.frequency

    def _invert(self, layer, damping, shape):
        """Both factors of a layer from its moments."""
        if isinstance(layer, (EmbeddingThor, EmbeddingLookupThor)):
            edge = ops.sqrt(damping)
            moment = layer.matrix_g * self._of_square
            return (ops.reciprocal(layer.matrix_a / self._batch_size + edge),
                    ops.inverse(moment + edge * ops.eye(moment.shape[0], moment.shape[0], mstype.float32)))
        factor, edge_a, edge_g = 1.0, ops.sqrt(damping), ops.sqrt(damping)
        moment_a, moment_g = (layer.matrix_a_cov, layer.matrix_g_cov) if isinstance(layer, Conv2dThor) \
            else (layer.matrix_a, layer.matrix_g)
        if isinstance(layer, Conv2dThor):
            edge_a, edge_g = ops.sqrt(damping / layer.a_normalizer), ops.sqrt(damping / layer.g_normalizer)
            factor = ops.sqrt(1.0 / layer.a_normalizer)
        size_a, size_g = moment_a.shape[0], moment_g.shape[0]
        inverse_a = _inverse_blocks(moment_a + edge_a * ops.eye(size_a, size_a, mstype.float32)) * factor
        inverse_g = _inverse_blocks(moment_g * self._of_square + edge_g * ops.eye(size_g, size_g, mstype.float32)) * factor
        return ops.broadcast_to(inverse_a, shape), inverse_g

    def _turned(self, number, gradient, damping):
        """The gradient of a Parameter, turned by what its layer saw."""
        layer, place = self._layers[number], self._places[number]
        if layer is None:
            return gradient
        if layer == 'norm':
            return gradient / (ops.square(gradient) / self._batch_size + ops.sqrt(damping))
        if self.thor:
            a, g = self._invert(layer, damping, self.matrix_a[place].shape)
            ops.assign(self.matrix_a[place], a)
            ops.assign(self.matrix_g[place], g)
        else:
            a, g = self.matrix_a[place], self.matrix_g[place]
        if a.ndim == 1:
            return ops.matmul(ops.expand_dims(a, 1) * gradient, g)
        flat = ops.reshape(gradient, (gradient.shape[0], -1))
        return ops.reshape(_turn(flat, g, a), gradient.shape)

    def construct(self, gradients):
        gradients = self.scale_grad(self._checked(gradients))
        at = ops.minimum(self.cov_step, Tensor(self.damping.shape[0] - 1, mstype.int32))
        damping = ops.gather(self.damping, at, 0)
        gradients = [self._turned(i, ops.cast(g, mstype.float32), damping) for i, g in enumerate(gradients)]
        ops.assign_add(self.cov_step, Tensor([1], mstype.int32))
        if self._decay > 0:
            gradients = [g + p * self._decay if decayed else g for g, p, decayed in zip(gradients, self.params, self._decayed)]
        if self.enable_clip_grad:
            gradients = [ClipByNorm()(g, Tensor([_CLIPPED_TO], mstype.float32)) for g in gradients]
        lr = self._next_rate()
        _core.apply_each('momentum_update', (self.params, self.moments, lr, tuple(gradients), self.momentum), self._attrs)
        return self._done


def _size_a(weight):
    """Of the input's side of a weight."""
    size = 1
    for n in weight.shape[1:]:
        size *= n
    return size

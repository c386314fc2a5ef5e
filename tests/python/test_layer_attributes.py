# SPDX-License-Identifier: Apache-2.0
"""Layers have the attributes of MindSpore's, which programs that subclass them use: objects that compute what the layer does."""
import json
from pathlib import Path

import numpy as np
import pytest

import spore as ms
from spore import Tensor, nn, ops
from spore.nn import _parts

# Of each layer: arguments that make one, and the public attributes that MindSpore 2.10 has beyond those of Cell.
RECORDED = json.loads(Path(__file__).with_name('data').joinpath('layer_attributes.json').read_text(encoding='utf-8'))

# What is not here, and why.
ELSEWHERE = {
    'cell_init_args': 'a text for the compiler of MindSpore',
    'broadcast_params': 'of optimizers over several devices', 'sparse_opt': 'as opt', 'fused_opt': 'as opt', 'use_fused_opt': 'as opt',
    'opt': 'the steps of these optimizers are functions of the engine', 'lars': 'as opt', 'use_locking': 'as opt', 'lr': 'as opt',
    'device_ascend': 'of a processor', 'is_ascend': 'of a processor', 'split_dim': 'of a processor', 'check_types_valid': 'of a decorator',
    'check_axis_valid': 'of a decorator', 'op_list': 'the layer rolls in one step', 'ms_dtype': 'the layer counts at once',
    'extract_image_patches': 'the layer unfolds in one step', 'img2col': 'Thor', 'hw': 'Thor', 'matrix_a_dim': 'Thor', 'matrix_g_dim': 'Thor',
    'k_is_v': 'set by each call', 'q_is_k': 'set by each call', 'activation1': 'the activation is a Cell', 'conv': 'MSSSIM filters at once',
    'sampler': 'drawn by the loss', 'choleskytrsm': 'no operator on a CPU', 'det_triangle': 'no operator on a CPU',
    'const': 'a Tensor of a number', 'fused_ada_factor': 'no operator on a CPU', 'init_ada_factor_state': 'the state is made at once',
}
LANCZOS = ('k_', 'lanczos', 'log_', 'minimax', 'inf', 'nan', 'one', 'two')       # constants of formulas that the operators have in them
GRADIENTS = ('issubclass_', 'make_tuple', 'oneslike', 'second_grad_op', 'substitute_name', 'typeof', 'grad', 'grad_single_value')


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 3)

    def construct(self, x):
        return self.fc(x)


def opt():
    net = Net()
    return net, nn.SGD(net.trainable_params(), 0.1)


NAMES = {'nn': nn, 'ms': ms, 'T': Tensor, 'net': Net, 'opt': opt, 'P': lambda: Net().trainable_params()}


def make(name):
    return eval(f'nn.{name}{RECORDED[name][0]}', NAMES)


@pytest.mark.parametrize('name', RECORDED)
def test_attributes_are_there(name):
    layer = make(name)
    missing = [k for k in RECORDED[name][1] if not hasattr(layer, k) and k not in ELSEWHERE]
    if name in ('DiGamma', 'LGamma', 'IGamma', 'LBeta'):
        missing = [k for k in missing if not k.startswith(LANCZOS)]
    if name in ('Jvp', 'Vjp'):
        missing = [k for k in missing if k not in GRADIENTS]
    if name.endswith('Thor') or name in ('MatrixDiag', 'MatrixDiagPart', 'MatrixSetDiag', 'AdaFactor'):
        missing = [k for k in missing if k in ('shape', 'reshape')]
    assert not missing


@pytest.mark.parametrize('name', [n for n in RECORDED if hasattr(nn, n) and _parts.of(getattr(nn, n))])
def test_attributes_can_be_made(name):
    layer = make(name)
    for part in _parts.of(type(layer)):
        assert part in dir(layer)
        getattr(layer, part)
        assert part in vars(layer)      # made once


class OwnDense(nn.Dense):
    def construct(self, x):
        shape = self.shape_op(x)
        x = self.bias_add(self.matmul(self.reshape(x, (-1, shape[-1])), self.weight), self.bias)
        return self.reshape(x, shape[:-1] + (-1,))


class OwnConv1d(nn.Conv1d):
    def construct(self, x):
        return self.squeeze(self.conv2d(self.expand_dims(x, 2), self.weight))


class OwnNorm(nn.BatchNorm2d):
    def construct(self, x):
        return self.bn_infer(x, self.gamma, self.beta, self.moving_mean, self.moving_variance)[0]


class OwnTranspose(nn.Conv2dTranspose):
    def construct(self, x):
        n, _, h, w = self.shape(x)
        return self.conv2d_transpose(x, self.weight, (n, self.out_channels, h, w))


class OwnEmbedding(nn.Embedding):
    def construct(self, ids):
        return self.reshape(self.gather(self.embedding_table, self.reshape_flat(ids, self.shp_flat), 0), self.get_shp(ids) + (-1,))


class OwnPool(nn.MaxPool2d):
    def construct(self, x):
        return self.max_pool(x)


class OwnSoftmax(nn.Softmax):
    def construct(self, x):
        return self.softmax(x)


@pytest.mark.parametrize('mode', (ms.PYNATIVE_MODE, ms.GRAPH_MODE))
@pytest.mark.parametrize('own, args, x', [
    (OwnDense, (3, 4), np.ones((2, 5, 3))), (OwnConv1d, (2, 3, 3), np.ones((1, 2, 7))), (OwnNorm, (3,), np.ones((2, 3, 2, 2))),
    (OwnTranspose, (2, 3, 3), np.ones((1, 2, 4, 4))), (OwnEmbedding, (5, 3), np.array([[0, 4]], np.int32)),
    (OwnPool, (2, 2), np.arange(16.).reshape(1, 1, 4, 4)), (OwnSoftmax, (0,), np.arange(3.))])
def test_a_construct_of_ones_own_computes_what_the_layers_does(own, args, x, mode):
    ms.set_context(mode=mode)
    try:
        cell, layer = own(*args), own.__mro__[1](*args)
        ms.load_param_into_net(layer, cell.parameters_dict())
        x = Tensor(x.astype(np.float32) if x.dtype == np.float64 else x)
        assert np.allclose(cell(x).asnumpy(), layer(x).asnumpy(), atol=1e-5)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_name_of_such_an_attribute_is_free():
    class Net(nn.Dense):
        def __init__(self):
            super().__init__(2, 2)
            self.reshape = nn.ReLU()
            self.shape_op = ms.Parameter(Tensor([1.0]))
    net = Net()
    assert isinstance(net.reshape, nn.ReLU) and net.shape_op.name == 'shape_op'
    assert isinstance(nn.Dense(1, 1).reshape, ops.Reshape)
    with pytest.raises(AttributeError, match='reshape'):
        nn.ReLU().reshape

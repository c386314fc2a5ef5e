# SPDX-License-Identifier: Apache-2.0
"""Mixed precision as a value that is put into a Cell: `net.amp_strategy = create_amp_strategy(AmpLevel.AmpO3, float16, [], [])`."""
import enum
import functools
import threading

from spore import _core
from spore.common import dtype as mstype

__all__ = ['AmpLevel', 'AmpStrategy', 'create_amp_strategy', 'push_amp_strategy', 'pop_amp_strategy', 'get_curr_amp_strategy',
           'PrimCastStrategy', 'PrimCastStrategyInfo', 'get_prim_cast_strategy_info', 'SetDtypeOptList', 'SetDtypeList', 'AutoPromoteList']

# Primitives, with the positions of arguments that are meant ([]: all), that keep float32 or take the widest dtype of their inputs
SetDtypeOptList = [(name, []) for name in ('ReduceProd', 'Softmax', 'LogSoftmax', 'CumProd', 'CumSum', 'CumsumExt', 'ProdExt', 'SumExt')]
SetDtypeList = [('Norm', [])]
AutoPromoteList = [(name, []) for name in ('Addcdiv', 'Addcmul', 'Cross', '_PyboostCrossPrim', 'Dot', 'GridSampler2D', 'GridSampler3D',
                                           'BiasAdd')]
# Names of primitives of which several come to one operator here
_OTHERS = {'MatMulExt': 'matmul', 'BatchMatMul': 'matmul', 'BatchMatMulExt': 'matmul', 'Mv': 'matmul', 'Addmm': 'addmm', 'Addmv': 'addmv',
           'Addbmm': 'addbmm', 'Baddbmm': 'baddbmm', 'Conv2DExt': 'conv2d', 'Conv3DExt': 'conv3d', 'Convolution': 'conv2d',
           'Conv2DTranspose': 'conv2d_input_grad', 'ConvTranspose2D': 'conv2d_input_grad', 'Conv3DTranspose': 'conv3d_input_grad',
           'SumExt': 'sum', 'ProdExt': 'prod', 'CumSum': 'cumsum', 'CumsumExt': 'cumsum', 'CumProd': 'cumprod', 'Norm': 'vector_norm',
           'SoftplusExt': 'softplus', 'LayerNormExt': 'layer_norm', 'BatchNormExt': 'batch_norm', 'LogSoftmaxExt': 'log_softmax',
           'L1LossExt': 'l1_loss', 'MSELossExt': 'mse_loss', 'NLLLoss2d': 'nll_loss'}


@functools.lru_cache(None)
def _operators():
    """Operators of the engine by the names of primitives."""
    found = {entry['mindir']: entry['name'] for entry in _core.op_table() if entry['mindir']}
    return {**found, **_OTHERS}


def _engine(listed):
    """The operators of a list of primitives; those that the engine computes by others have none of their own."""
    names = [_operators().get(name) for name, _ in listed]
    return tuple(dict.fromkeys(name for name in names if name is not None))


class AmpLevel(enum.IntEnum):
    """How much is computed in half precision: nothing, ..., everything."""

    AmpO0, AmpO1, AmpO2, AmpO3, AmpAuto = range(5)


class AmpStrategy:
    """A level with a dtype, and lists of primitives that it names besides."""

    def __init__(self, level, dtype, white_list, black_list):
        self._level, self._dtype, self._white, self._black = AmpLevel(level), dtype, list(white_list), list(black_list)

    def get_amp_level(self):
        """The level."""
        return self._level

    def get_amp_dtype(self):
        """The dtype."""
        return self._dtype

    def get_white_list(self):
        """Primitives that are computed in half precision."""
        return self._white

    def get_black_list(self):
        """Primitives that are not."""
        return self._black

    def put_into(self, cell):
        """Let a Cell compute by this strategy."""
        if self._level == AmpLevel.AmpAuto:
            cell.__dict__['_amp_lists'] = self.lists()
            cell._refresh_plain()
        elif self._level == AmpLevel.AmpO3 and not self._black and self._dtype is not None:
            cell.to_float(self._dtype)
        elif self._level != AmpLevel.AmpO0:
            raise NotImplementedError(f"amp_strategy: {self._level.name} with lists of primitives is not supported; use "
                                      "amp.auto_mixed_precision, or AmpLevel.AmpO3 with a dtype")


    def lists(self):
        """The strategy as what `_core.precision_lists_set` takes; None where it does not go by operators."""
        if self._level != AmpLevel.AmpAuto or self._dtype is None:
            return None
        return _core.precision_lists(self._dtype, _engine(self._white), _engine(self._black))


_thread = threading.local()


def _stack():
    if not hasattr(_thread, 'stack'):
        _thread.stack = []
    return _thread.stack


def push_amp_strategy(level, dtype, white_list, black_list):
    """Let operators compute by a strategy until it is taken away; strategies nest, the last one counts."""
    strategy = create_amp_strategy(level, dtype, white_list, black_list)
    _stack().append((strategy, _core.precision_lists_set(strategy.lists())))


def pop_amp_strategy():
    """Take the last strategy away; does nothing when there is none."""
    if _stack():
        _core.precision_lists_set(_stack().pop()[1])


def get_curr_amp_strategy():
    """The strategy that counts, or None."""
    return _stack()[-1][0] if _stack() else None


class PrimCastStrategy(enum.IntEnum):
    """What a strategy does with the inputs of a primitive."""

    AmpDoCast, AmpIgnore, AmpDoAutoPromote = range(3)


class PrimCastStrategyInfo:
    """What a strategy does with the inputs of a primitive: to which dtype, at which positions."""

    def __init__(self, strategy, dtype=None, arg_pos=()):
        self.strategy, self.dtype, self.arg_pos = strategy, dtype, list(arg_pos)


def get_prim_cast_strategy_info(amp_strategy, prim_name):
    """What a strategy does with the inputs of the primitive of a name."""
    for listed, dtype in ((amp_strategy.get_white_list(), amp_strategy.get_amp_dtype()), (amp_strategy.get_black_list(), mstype.float32)):
        for name, positions in listed:
            if name == prim_name:
                return PrimCastStrategyInfo(PrimCastStrategy.AmpDoCast, dtype, positions)
    for name, positions in AutoPromoteList if amp_strategy.get_amp_level() == AmpLevel.AmpAuto else ():
        if name == prim_name:
            return PrimCastStrategyInfo(PrimCastStrategy.AmpDoAutoPromote, None, positions)
    return PrimCastStrategyInfo(PrimCastStrategy.AmpIgnore)


def create_amp_strategy(level, dtype, white_list, black_list):
    """A level with a dtype and lists of primitives."""
    return AmpStrategy(level, dtype, white_list, black_list)

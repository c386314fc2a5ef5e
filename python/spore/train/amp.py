# SPDX-License-Identifier: Apache-2.0
"""Mixed precision of networks: Cells compute in float16 or bfloat16, Parameters stay as they are."""
import functools
import inspect

from spore import _core, log, nn, ops
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.common.differentiate import _map
from spore.ops import operations
from spore.ops.primitive import Primitive
from spore.train.loss_scale_manager import DynamicLossScaleManager, LossScaleManager

__all__ = ['auto_mixed_precision', 'custom_mixed_precision', 'build_train_network', 'get_white_list', 'get_black_list']

_WHITE = ('Conv1d', 'Conv2d', 'Conv3d', 'Conv1dTranspose', 'Conv2dTranspose', 'Conv3dTranspose', 'Dense', 'LSTMCell',
          'RNNCell', 'GRUCell')
_BLACK = ('BatchNorm1d', 'BatchNorm2d', 'BatchNorm3d', 'LayerNorm')
AMP_BLACK_LIST = [getattr(nn, name) for name in _BLACK if hasattr(nn, name)]
_PRIMITIVES = ('Conv2D', 'Conv3D', 'Conv2DTranspose', 'Conv3DTranspose', 'Conv2DBackpropInput', 'MatMul', 'BatchMatMul', 'PReLU', 'ReLU',
               'Ger')
_LEVELS = ('O0', 'O1', 'O2', 'O3', 'auto')
# operators of the engine that level "auto" computes in half precision, and those that it computes in float32; what adds to a product
# (dense, addmm, ...) is neither: the sum has the dtype of what is added
_AUTO_LOW = ('conv1d', 'conv2d', 'conv3d', 'conv1d_input_grad', 'conv2d_input_grad', 'conv3d_input_grad', 'matmul', 'prelu')
_AUTO_HIGH = ('pow', 'acos', 'asin', 'cosh', 'erfinv', 'exp', 'expm1', 'log', 'log10', 'log1p', 'log2', 'reciprocal', 'rsqrt', 'sinh',
              'tan', 'softplus', 'layer_norm', 'batch_norm', 'batch_norm_train', 'group_norm', 'vector_norm', 'kl_div', 'smooth_l1_loss',
              'binary_cross_entropy_with_logits', 'cdist', 'prod', 'reduce_prod', 'softmax', 'log_softmax', 'cumprod', 'cumsum', 'sum',
              'l1_loss', 'mse_loss', 'nll_loss')


@functools.lru_cache(None)
def _white_list():
    """AMP_WHITE_LIST, made when it is asked for: some of the primitives are loaded by that."""
    return [getattr(nn, name) for name in _WHITE] + [getattr(operations, name) for name in _PRIMITIVES]


def __getattr__(name):
    if name == 'AMP_WHITE_LIST':
        return _white_list()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_white_list():
    """The Cells and primitives that level O1 computes in half precision."""
    return list(_white_list())


def get_black_list():
    """The Cells that level O2 leaves in float32."""
    return list(AMP_BLACK_LIST)


def _cast_to(dtype):
    """A forward hook that casts what a Cell returns."""
    return lambda cell, inputs, output: _map(lambda t: _in(dtype, t), output)


def _answer_in(cell, dtype):
    """Let a Cell answer in a dtype; replaces what was set before."""
    known = cell.__dict__.get('_amp_handle')
    if known is not None:
        known.remove()
    cell.__dict__['_amp_handle'] = cell.register_forward_hook(_cast_to(dtype))


def _set_by_user(cell):
    return any(cell.get_flags().get(flag) for flag in ('fp32', 'fp16', 'bf16'))


class _CastPrimitive:
    """A primitive that a Cell holds, computed in one dtype; it answers in another."""

    def __init__(self, primitive, dtype, answer):
        self._primitive, self._dtype, self._answer = primitive, dtype, answer

    def __getattr__(self, name):
        return getattr(self._primitive, name)

    def __call__(self, *args):
        answer = self._primitive(*(_in(self._dtype, a) if isinstance(a, Tensor) else a for a in args))
        return _map(lambda t: _in(self._answer, t), answer)


def _in(dtype, tensor):
    return tensor.astype(dtype) if tensor.dtype.is_floating_point and tensor.dtype != dtype else tensor


def _cast_primitives(cell, kinds, dtype, answer):
    """Let the primitives of these kinds that a Cell holds compute in a dtype."""
    for name, value in list(cell.__dict__.items()):
        if isinstance(value, Primitive) and isinstance(value, kinds):
            cell.__dict__[name] = _CastPrimitive(value, dtype, answer)


def _only_these(network, kinds, dtype):
    """Half precision in the Cells and primitives of these kinds; they answer in float32."""
    for _, cell in network.cells_and_names():
        if isinstance(cell, kinds):
            if not _set_by_user(cell):
                cell.to_float(dtype)
                _answer_in(cell, mstype.float32)
        else:
            _cast_primitives(cell, kinds, dtype, mstype.float32)


def _by_lists(network, dtype):
    """Each operator in the precision that suits it; `network` is a Cell or a function."""
    lists = _core.precision_lists(dtype, _AUTO_LOW, _AUTO_HIGH)
    if isinstance(network, nn.Cell):
        network.__dict__['_amp_lists'] = lists
        network._refresh_plain()
        return network

    @functools.wraps(network)
    def run(*args, **kwargs):
        before = _core.precision_lists_set(lists)
        try:
            return network(*args, **kwargs)
        finally:
            _core.precision_lists_set(before)
    return run


class _Wrapped(nn.Cell):
    """A Cell whose answer is cast; it has the names of what it wraps."""

    def __init__(self, backbone):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        if '_amp_level' in backbone.__dict__:
            self.__dict__['_amp_level'] = backbone._amp_level


class _OutputTo16(_Wrapped):
    """A Cell that computes in float32 among others that do not."""

    def __init__(self, backbone, dtype=mstype.float16):
        super().__init__(backbone)
        self.dtype = dtype

    def construct(self, *args, **kwargs):
        return ops.cast(self._backbone(*args, **kwargs), self.dtype)


class _OutputTo32(_Wrapped):
    """A network in half precision that answers in float32."""

    def construct(self, *args, **kwargs):
        return _to_float32(self._backbone(*args, **kwargs))


def _all_but_these(network, kinds, dtype):
    """Half precision in all Cells but those of these kinds, which are wrapped where they stand."""
    network.to_float(dtype)
    _cast_primitives(network, kinds, mstype.float32, dtype)
    for name, cell in list(network.name_cells().items()):
        if cell is network:
            continue
        if isinstance(cell, kinds):
            network._cells[name] = _OutputTo16(cell.to_float(mstype.float32), dtype)
        else:
            _all_but_these(cell, kinds, dtype)
    if isinstance(network, nn.SequentialCell):
        network.cell_list = list(network._cells.values())
    return network


def auto_mixed_precision(network, amp_level='O0', dtype=mstype.float16):
    """Let a network compute in half precision; it is changed in place. "O2" and "O3" give it back in a Cell that answers in float32.

    Args:
        network: a Cell; for "auto" also a function.
        amp_level: "O0" changes nothing; "O1" computes the Cells and primitives of ``get_white_list()`` in half precision; "O2" all
            Cells but those of ``get_black_list()``; "O3" all; "auto" goes by operators: products and convolutions in half
            precision, functions that lose accuracy by it (exp, softmax, norms, losses) in float32, others as their inputs are.
        dtype: float16 or bfloat16.

    Examples:
        >>> import spore as ms
        >>> from spore import amp, nn
        >>> net = amp.auto_mixed_precision(nn.Dense(3, 2), "O2")
        >>> print(net(ms.ops.ones((1, 3))).dtype, net.weight.dtype)
        Float32 Float32
    """
    if not isinstance(network, nn.Cell) and not (amp_level == 'auto' and inspect.isroutine(network)):
        raise TypeError(f"For 'auto_mixed_precision', 'network' must be a Cell, but got {_type_name(network)}.")
    if dtype not in (mstype.float16, mstype.bfloat16):
        raise ValueError(f"For 'auto_mixed_precision', 'dtype' must be float16 or bfloat16, but got {dtype}.")
    if amp_level not in _LEVELS:
        raise ValueError(f"For 'auto_mixed_precision', 'amp_level' must be one of {list(_LEVELS)}, but got "
                         f"{amp_level!r}.")
    if amp_level == 'O0':
        return network
    if amp_level == 'auto':
        network = _by_lists(network, dtype)
    elif amp_level == 'O1':
        _only_these(network, tuple(_white_list()), dtype)
    else:
        network = _OutputTo32(_all_but_these(network, tuple(AMP_BLACK_LIST) if amp_level == 'O2' else (), dtype))
    network.__dict__['_amp_level'] = amp_level
    return network


def custom_mixed_precision(network, *, white_list=None, black_list=None, dtype=mstype.float16):
    """Let the Cells of a list, or all but those of a list, compute in half precision; the network is changed in place. With a black list
    it is given back in a Cell that answers in float32.

    Args:
        network: a Cell.
        white_list: Cell classes to compute in half precision.
        black_list: Cell classes to leave in float32; one of the two lists must be given.
        dtype: float16 or bfloat16.
    """
    if not isinstance(network, nn.Cell):
        raise TypeError(f"For 'custom_mixed_precision', 'network' must be a Cell, but got {_type_name(network)}.")
    if (white_list is None) == (black_list is None):
        raise ValueError("For 'custom_mixed_precision', one of 'white_list' and 'black_list' must be given, and not "
                         "both.")
    if dtype not in (mstype.float16, mstype.bfloat16):
        raise ValueError(f"For 'custom_mixed_precision', 'dtype' must be float16 or bfloat16, but got {dtype}.")
    name, kinds = ('white_list', white_list) if white_list is not None else ('black_list', black_list)
    if not isinstance(kinds, list):
        raise TypeError(f"For 'custom_mixed_precision', '{name}' must be a list, but got {_type_name(kinds)}.")
    for kind in kinds:
        if not isinstance(kind, type) or not issubclass(kind, (nn.Cell, Primitive)):
            raise TypeError(f"For 'custom_mixed_precision', '{name}' must hold classes of Cells and primitives, but got {kind!r}.")
    if white_list is None:
        return _OutputTo32(_all_but_these(network, tuple(kinds), dtype))
    _only_these(network, tuple(kinds), dtype)
    return network


class _FloatLoss(nn.Cell):
    """Network and loss function, the loss in float32."""

    def __init__(self, backbone, loss_fn):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data, label):
        return self._loss_fn(_to_float32(self._backbone(data)), _to_float32(label))


def _to_float32(value):
    return _map(lambda t: t.astype(mstype.float32) if t.dtype.is_floating_point else t, value)


# level: (batch norm stays in float32, the rest computes in, loss scale)
_CONFIG = {'O0': (False, mstype.float32, None), 'O1': (False, mstype.float32, None),
           'O2': (True, mstype.float16, DynamicLossScaleManager), 'O3': (False, mstype.float16, None),
           'auto': (False, mstype.float32, None)}


def build_train_network(network, optimizer, loss_fn=None, level='O0', boost_level='O0', **kwargs):
    """A Cell that does one step of training: network, loss, gradients, optimizer.

    Args:
        network: the network; without ``loss_fn`` it returns the loss itself.
        optimizer: an Optimizer.
        loss_fn: the loss function.
        level: of mixed precision, see auto_mixed_precision.
        boost_level: 'O0'; 'O1' and 'O2' train as 'O0' does, and a warning says so.
        cast_model_type, keep_batchnorm_fp32, loss_scale_manager: instead of what the level says.
    """
    if not isinstance(network, nn.Cell):
        raise TypeError(f"For 'build_train_network', 'network' must be a Cell, but got {_type_name(network)}.")
    if not isinstance(optimizer, nn.Optimizer):
        raise TypeError(f"For 'build_train_network', 'optimizer' must be an Optimizer, but got "
                        f"{_type_name(optimizer)}.")
    if not isinstance(level, str):
        raise TypeError(f"For 'build_train_network', 'level' must be a str, but got {_type_name(level)}.")
    if level not in _LEVELS:
        raise ValueError(f"For 'build_train_network', 'level' must be one of {list(_LEVELS)}, but got {level!r}.")
    if boost_level not in ('O0', 'O1', 'O2'):
        raise ValueError(f"For 'build_train_network', 'boost_level' must be one of ['O0', 'O1', 'O2'], but got "
                         f"{boost_level!r}.")
    if boost_level != 'O0':
        log.warning(f"boost_level {boost_level!r} is without effect: training freezes no layers and keeps all batch norms, as with 'O0'")
    keep_norm, cast_to, manager = _CONFIG[level]
    unknown = sorted(set(kwargs) - {'cast_model_type', 'keep_batchnorm_fp32', 'loss_scale_manager'})
    if unknown:
        raise ValueError(f"For 'build_train_network', there are no arguments {unknown}.")
    keep_norm = kwargs.get('keep_batchnorm_fp32', keep_norm)
    cast_to = kwargs.get('cast_model_type', cast_to)
    manager = kwargs['loss_scale_manager'] if 'loss_scale_manager' in kwargs else manager() if manager else None
    if manager is not None and not isinstance(manager, LossScaleManager):
        raise TypeError(f"For 'build_train_network', 'loss_scale_manager' must be a LossScaleManager, but got "
                        f"{_type_name(manager)}.")
    if cast_to in (mstype.float16, mstype.bfloat16):
        network = auto_mixed_precision(network, 'O2' if keep_norm else 'O3', cast_to)
    elif level in ('O1', 'auto'):
        network = auto_mixed_precision(network, level)
    if loss_fn is not None:
        if not isinstance(loss_fn, nn.Cell):
            raise TypeError(f"For 'build_train_network', 'loss_fn' must be a Cell, but got {_type_name(loss_fn)}.")
        kind = _FloatLoss if '_amp_level' in network.__dict__ else nn.WithLossCell
        network = kind(network, loss_fn)
    scale = None
    if manager is not None:
        scale, update = manager.get_loss_scale(), manager.get_update_cell()
        if update is not None:
            return nn.TrainOneStepWithLossScaleCell(network, optimizer, scale_sense=update).set_train()
    return nn.TrainOneStepCell(network, optimizer, *([] if scale is None else [scale])).set_train()


# --- the parts of build_train_network, for packages that put them together themselves --------------------------------

_config_level = {level: {'keep_batchnorm_fp32': keep, 'cast_model_type': dtype, 'loss_scale_manager': manager() if manager else None}
                 for level, (keep, dtype, manager) in _CONFIG.items()}


def _do_keep_batchnorm_fp32(network):
    """Batch normalisation below a network computes in float32."""
    kinds = tuple(getattr(nn, name) for name in _BLACK if name.startswith('BatchNorm'))
    for _, cell in network.cells_and_names():
        if isinstance(cell, kinds):
            cell.to_float(mstype.float32)


def _add_loss_network(network, loss_fn, cast_model_type):
    """Network and loss function as one Cell."""
    return (_FloatLoss if cast_model_type == mstype.float16 else nn.WithLossCell)(network, loss_fn)


# --- names that programs take from MindSpore's module ----------------------------------------------------------------

AMP_AUTO_WHITE_LIST, AMP_AUTO_BLACK_LIST, AMP_PRIM_ARG_TABLE, _INNER_AMP_BLACK_LIST = [], [], {}, []


def _auto_black_list(network, black_list, dtype):
    """Half precision in all Cells but those of these kinds."""
    return _all_but_these(network, tuple(black_list), dtype)


def _auto_white_list(network, white_list, dtype):
    """Half precision in the Cells of these kinds."""
    _only_these(network, tuple(white_list), dtype)
    return network


def _auto_mixed_precision_rewrite(network, dtype, *, white_list=None, black_list=None):
    """Half precision in the Cells of a white list, or in all but those of a black list."""
    if white_list is None and black_list is None:
        raise ValueError("For '_auto_mixed_precision_rewrite', one of white_list and black_list must be provided.")
    kinds = tuple(k for k in (black_list if white_list is None else white_list) if isinstance(k, type) and issubclass(k, nn.Cell))
    return (_auto_black_list if white_list is None else _auto_white_list)(network, kinds, dtype)


def _config_amp(*, enable=True, amp_level=None, dtype=None, **kwargs):
    """Settings of mixed precision, as a dictionary."""
    return {'enable': enable, 'amp_level': amp_level, 'dtype': dtype, **kwargs}

# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks: layers of cells run over the steps of a sequence, in one or both directions."""
import logging

from spore._core import type_name as _type_name
from spore import ops
from spore.common import dtype as mstype
from spore.common.initializer import _UniformOfNumpy
from spore.common.parameter import ParameterTuple
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer._fused import fused
from spore.nn.layer.basic import Dropout
from spore.nn.layer.rnn_cells import GATES, input_gates, step
from spore.ops.rnn import recurrent_layer

__all__ = ["LSTM", "GRU", "RNN"]

_log = logging.getLogger("spore")
_COMMON = """

    Args:
        input_size: size of the input of a step.
        hidden_size: size of the state.
        num_layers: number of layers. Default 1.
        has_bias: whether there are biases. Default True.
        batch_first: whether inputs and outputs are (N, T, size) instead of (T, N, size). Default False.
        dropout: probability of dropping outputs between layers while training. Default 0.0.
        bidirectional: whether a second set of cells runs backwards. Default False.{more}
        dtype: of the Parameters. Default float32.

    Inputs are the sequence, the initial state (layers times directions, N, hidden_size){state}, zeros if it is None, and
    optionally the length of every sequence. Outputs are those of the last layer, and the final state.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> output, state = nn.{name}(3, 4)(ms.ops.ones((5, 2, 3)))
        >>> print(output.shape)
        (5, 2, 4)
    """


class _DynamicRNNBase(Cell):
    """One layer in one direction."""

    _mode = None

    def __init__(self, mode=None):
        super().__init__()
        if mode is not None:
            if mode not in GATES:
                raise ValueError(f"For '_DynamicRNNBase', the argument 'mode' must be one of {', '.join(GATES)}, but got '{mode}'.")
            self._mode = mode

    def construct(self, x, state, seq_length, w_ih, w_hh, b_ih, b_hh):
        mode, dtype = self._mode, x.dtype
        w_ih, w_hh, b_ih, b_hh = (p if p is None or p.dtype == dtype else p.astype(dtype) for p in (w_ih, w_hh, b_ih, b_hh))
        if mode != "GRU" and b_ih is not None:
            b_ih, b_hh = b_ih + b_hh, None
        if fused("rnn"):
            h, c = state if mode == "LSTM" else (state, None)
            output, h, c = recurrent_layer(mode.lower(), x, h, c, w_ih, w_hh, b_ih, b_hh, seq_length)
            return output, (h, c) if mode == "LSTM" else h
        gates = input_gates(x, w_ih, b_ih)
        outputs = []
        for t in range(x.shape[0]):
            after = step(mode, gates[t], state, w_hh, b_hh)
            hidden = after[0] if mode == "LSTM" else after
            if seq_length is not None:
                runs = ops.broadcast_to(ops.reshape(seq_length > t, (-1, 1)), hidden.shape)
                outputs.append(ops.select(runs, hidden, ops.zeros_like(hidden)))
                if mode == "LSTM":
                    state = tuple(ops.select(runs, new, old) for new, old in zip(after, state))
                else:
                    state = ops.select(runs, after, state)
            else:
                outputs.append(hidden)
                state = after
        return ops.stack(outputs, 0), state


class _DynamicRNNTanh(_DynamicRNNBase):
    _mode = "RNN_TANH"


class _DynamicRNNRelu(_DynamicRNNBase):
    _mode = "RNN_RELU"


class _DynamicGRUCPUGPU(_DynamicRNNBase):
    _mode = "GRU"


class _DynamicLSTMCPUGPU(_DynamicRNNBase):
    _mode = "LSTM"


class _OnAscend(Cell):
    """A recurrence by operators of Ascend processors, made where there is none."""

    def construct(self, *args):
        raise NotImplementedError(f"{type(self).__name__} computes on Ascend processors alone, in MindSpore as well; use nn.GRU or nn.LSTM")


class _DynamicGRUAscend(_OnAscend):
    """GRU of Ascend processors."""


class _DynamicLSTMAscend(_OnAscend):
    """LSTM of Ascend processors."""


_RECURRENCES = {cls._mode: cls for cls in (_DynamicRNNTanh, _DynamicRNNRelu, _DynamicGRUCPUGPU, _DynamicLSTMCPUGPU)}


class _RNNBase(Cell):
    """Layers, directions, Parameters."""

    def __init__(self, mode, input_size, hidden_size, num_layers=1, has_bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, dtype=mstype.float32):
        super().__init__()
        cls = self.cls_name
        check.positive_int(cls, "hidden_size", hidden_size)
        check.positive_int(cls, "input_size", input_size)
        check.layer_count(cls, "num_layers", num_layers)
        check.number_in(cls, "dropout", dropout, 0, 1, (float,), open_high=True)
        check.boolean(cls, "has_bias", has_bias)
        check.boolean(cls, "batch_first", batch_first)
        check.boolean(cls, "bidirectional", bidirectional)
        if dropout > 0 and num_layers == 1:
            _log.warning("For '%s', 'dropout' acts between layers: with one layer it does nothing.", cls)
        self.rnn = _RECURRENCES[mode]()
        self.hidden_size, self.batch_first, self.num_layers = hidden_size, batch_first, num_layers
        self.dropout = dropout
        self.dropout_op = Dropout(p=float(dropout))
        self.bidirectional, self.has_bias, self.is_lstm = bidirectional, has_bias, mode == "LSTM"
        directions, rows, bound = 2 if bidirectional else 1, GATES[mode] * hidden_size, _UniformOfNumpy(hidden_size ** -0.5)
        lists = {"weight_ih": [], "weight_hh": [], "bias_ih": [], "bias_hh": []}
        for layer in range(num_layers):
            for direction in range(directions):
                size = input_size if layer == 0 else hidden_size * directions
                shapes = {"weight_ih": (rows, size), "weight_hh": (rows, hidden_size)}
                if has_bias:
                    shapes.update(bias_ih=(rows,), bias_hh=(rows,))
                for kind, shape in shapes.items():
                    name = f"{kind}_l{layer}{'_reverse' if direction else ''}"
                    lists[kind].append(check.parameter(bound, shape, dtype, name))
        self.w_ih_list = ParameterTuple(lists["weight_ih"])
        self.w_hh_list = ParameterTuple(lists["weight_hh"])
        self.b_ih_list = ParameterTuple(lists["bias_ih"])
        self.b_hh_list = ParameterTuple(lists["bias_hh"])

    def _weights(self, at):
        biases = (self.b_ih_list[at], self.b_hh_list[at]) if self.has_bias else (None, None)
        return self.w_ih_list[at], self.w_hh_list[at], *biases

    def _layers(self, x, hx, seq_length):
        directions, finals = 2 if self.bidirectional else 1, []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                at = layer * directions + direction
                state = (hx[0][at], hx[1][at]) if self.is_lstm else hx[at]
                given = _backwards(x, seq_length) if direction else x
                output, final = self.rnn(given, state, seq_length, *self._weights(at))
                outputs.append(_backwards(output, seq_length) if direction else output)
                finals.append(final)
            x = ops.concat(outputs, 2) if directions == 2 else outputs[0]
            if self.dropout and layer < self.num_layers - 1:
                x = self.dropout_op(x)
        if self.is_lstm:
            return x, (ops.stack([f[0] for f in finals], 0), ops.stack([f[1] for f in finals], 0))
        return x, ops.stack(finals, 0)

    def construct(self, x, hx=None, seq_length=None):
        cls = self.cls_name
        if not isinstance(x, Tensor):
            raise TypeError(f"For '{cls}', 'x' must be a Tensor, but got {_type_name(x)}.")
        check.rank_of(cls, x, 3)
        batch = x.shape[0] if self.batch_first else x.shape[1]
        if hx is None:
            shape = (self.num_layers * (2 if self.bidirectional else 1), batch, self.hidden_size)
            hx = ops.zeros(shape, x.dtype)
            hx = (hx, hx) if self.is_lstm else hx
        else:
            self._check_state(x, hx)
        if seq_length is not None:
            if seq_length.dtype not in (mstype.int32, mstype.int64):
                raise TypeError(f"For '{cls}', 'seq_length' must be int32 or int64, but got {seq_length.dtype}.")
            if seq_length.shape[0] != batch:
                raise ValueError(f"For '{cls}', 'seq_length' must have a length for each of the {batch} sequences, but got "
                                 f"{seq_length.shape[0]}.")
        if self.batch_first:
            x = ops.transpose(x, (1, 0, 2))
        output, state = self._layers(x, hx, seq_length)
        return ops.transpose(output, (1, 0, 2)) if self.batch_first else output, state

    def _check_state(self, x, hx):
        cls = self.cls_name
        if self.is_lstm and (not isinstance(hx, tuple) or len(hx) != 2):
            raise TypeError(f"For '{cls}', 'hx' must be a tuple of two Tensors, but got {_type_name(hx)}.")
        for part in hx if self.is_lstm else (hx,):
            if not isinstance(part, Tensor):
                raise TypeError(f"For '{cls}', the state must be made of Tensors, but got {_type_name(part)}.")
            if part.dtype != x.dtype:
                raise TypeError(f"For '{cls}', the state must have the dtype of 'x', {x.dtype}, but got {part.dtype}.")
        check.float_types(cls, "x", x)


def _backwards(x, seq_length):
    """The steps in reverse order; of every sequence only its own."""
    return ops.flip(x, (0,)) if seq_length is None else ops.reverse_sequence(x, seq_length, 0, 1)


class RNN(_RNNBase):
    __doc__ = "A plain recurrent network." + _COMMON.format(
        name="RNN", state="", more="\n        nonlinearity: by keyword; 'tanh' or 'relu'. Default 'tanh'.")

    def __init__(self, *args, **kwargs):
        kind = kwargs.pop("nonlinearity", "tanh")
        check.one_of(type(self).__name__, "nonlinearity", kind, ("tanh", "relu"))
        super().__init__(f"RNN_{kind.upper()}", *args, **kwargs)


class GRU(_RNNBase):
    __doc__ = "A network of gated recurrent units." + _COMMON.format(name="GRU", state="", more="")

    def __init__(self, *args, **kwargs):
        super().__init__("GRU", *args, **kwargs)


class LSTM(_RNNBase):
    __doc__ = "A network with long short-term memory." + _COMMON.format(name="LSTM", state=", a pair (h, c)", more="")

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

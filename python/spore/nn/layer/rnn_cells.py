# SPDX-License-Identifier: Apache-2.0
"""One step of recurrent networks. The step functions also take input gates that were computed for all steps at once."""
import numpy as np

from spore._core import type_name as _type_name
from spore import ops
from spore.common import dtype as mstype
from spore.common.initializer import Uniform, initializer
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check

__all__ = ["LSTMCell", "GRUCell", "RNNCell"]

GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}


def input_gates(x, w_ih, b_ih) -> Tensor:
    """What the input adds to the gates; for one step or for many."""
    return ops.dense(x, w_ih, b_ih)


def step(mode, gates, state, w_hh, b_hh):
    """The next state, (h, c) for LSTM, from the input gates and the state before."""
    hidden = state[0] if mode == "LSTM" else state
    more = ops.dense(hidden, w_hh, b_hh)
    if mode == "RNN_TANH":
        return ops.tanh(gates + more)
    if mode == "RNN_RELU":
        return ops.relu(gates + more)
    size = hidden.shape[-1]
    if mode == "GRU":
        both = ops.sigmoid(gates[:, :2 * size] + more[:, :2 * size])
        new = ops.tanh(gates[:, 2 * size:] + both[:, :size] * more[:, 2 * size:])
        return new + both[:, size:] * (hidden - new)
    gates = gates + more
    in_forget = ops.sigmoid(gates[:, :2 * size])
    cell = in_forget[:, size:] * state[1] + in_forget[:, :size] * ops.tanh(gates[:, 2 * size:3 * size])
    return ops.sigmoid(gates[:, 3 * size:]) * ops.tanh(cell), cell


def _cell_function(mode):
    def cell(inputs, hidden, w_ih, w_hh, b_ih, b_hh):
        return step(mode, input_gates(inputs, w_ih, b_ih), hidden, w_hh, b_hh)
    cell.__doc__ = f"One step of {mode} with the given weights; programs that write their own recurrent layers import it."
    return cell


_rnn_tanh_cell, _rnn_relu_cell = _cell_function("RNN_TANH"), _cell_function("RNN_RELU")
_lstm_cell, _gru_cell = _cell_function("LSTM"), _cell_function("GRU")


class RNNCellBase(Cell):
    """Parameters of one step with num_chunks gates, for programs that write their own: weight_ih, weight_hh, bias_ih,
    bias_hh."""

    def __init__(self, input_size, hidden_size, has_bias, num_chunks, dtype=mstype.float32):
        super().__init__()
        cls = self.cls_name
        check.boolean(cls, "has_bias", has_bias)
        self.hidden_size = check.positive_int(cls, "hidden_size", hidden_size)
        self.input_size = check.positive_int(cls, "input_size", input_size)
        self.has_bias = has_bias
        rows = num_chunks * hidden_size
        bound = Uniform(hidden_size ** -0.5)
        # MindSpore draws this many normal numbers first and throws them away: a seed leads to the same weights here
        np.random.randn(rows * (input_size + hidden_size + 2 * has_bias))
        self.weight_ih = check.parameter(bound, (rows, input_size), dtype, "weight_ih")
        self.weight_hh = check.parameter(bound, (rows, hidden_size), dtype, "weight_hh")
        self.bias_ih = self.bias_hh = None
        if has_bias:
            self.bias_ih = check.parameter(bound, (rows,), dtype, "bias_ih")
            self.bias_hh = check.parameter(bound, (rows,), dtype, "bias_hh")

    def reset_parameters(self, dtype=mstype.float32):
        """New random values."""
        for weight in self.get_parameters():
            weight.set_data(initializer(Uniform(self.hidden_size ** -0.5), weight.shape, dtype))


class _RNNCellBase(RNNCellBase):
    """What the cells below share: the kind of step, and checks."""

    def __init__(self, mode, input_size, hidden_size, has_bias, dtype):
        super().__init__(input_size, hidden_size, has_bias, GATES[mode], dtype)
        self._mode = mode

    def _need(self, name, value):
        if not isinstance(value, Tensor):
            raise TypeError(f"For '{self.cls_name}', '{name}' must be a Tensor, but got {_type_name(value)}.")
        check.float_types(self.cls_name, name, value)

    def _step(self, x, hx):
        return step(self._mode, input_gates(x, self.weight_ih, self.bias_ih), hx, self.weight_hh, self.bias_hh)

    def construct(self, x, hx) -> Tensor:
        self._need("x", x)
        self._need("hx", hx)
        return self._step(x, hx)


class RNNCell(_RNNCellBase):
    """One step of a plain recurrent network: a nonlinearity of what input and state add up to.

    Args:
        input_size: size of the input.
        hidden_size: size of the state.
        has_bias: whether there are biases. Default True.
        nonlinearity: 'tanh' or 'relu'. Default 'tanh'.
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.RNNCell(3, 4)(ms.ops.ones((2, 3)), ms.ops.ones((2, 4))).shape)
        (2, 4)
    """

    def __init__(self, input_size, hidden_size, has_bias=True, nonlinearity="tanh", dtype=mstype.float32):
        check.instance(type(self).__name__, "nonlinearity", nonlinearity, str)
        check.one_of(type(self).__name__, "nonlinearity", nonlinearity, ("tanh", "relu"))
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, has_bias, dtype)
        self.nonlinearity = nonlinearity


class GRUCell(_RNNCellBase):
    """One step of a network of gated recurrent units.

    Args:
        input_size: size of the input.
        hidden_size: size of the state.
        has_bias: whether there are biases. Default True.
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.GRUCell(3, 4)(ms.ops.ones((2, 3)), ms.ops.ones((2, 4))).shape)
        (2, 4)
    """

    def __init__(self, input_size, hidden_size, has_bias=True, dtype=mstype.float32):
        super().__init__("GRU", input_size, hidden_size, has_bias, dtype)


class LSTMCell(_RNNCellBase):
    """One step of a network with long short-term memory; its state is a pair (h, c).

    Args:
        input_size: size of the input.
        hidden_size: size of the state.
        has_bias: whether there are biases. Default True.
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> state = ms.ops.ones((2, 4))
        >>> h, c = nn.LSTMCell(3, 4)(ms.ops.ones((2, 3)), (state, state))
        >>> print(h.shape, c.shape)
        (2, 4) (2, 4)
    """

    def __init__(self, input_size, hidden_size, has_bias=True, dtype=mstype.float32):
        super().__init__("LSTM", input_size, hidden_size, has_bias, dtype)

    def construct(self, x, hx):
        self._need("x", x)
        if not isinstance(hx, tuple) or len(hx) != 2:
            raise TypeError(f"For '{self.cls_name}', 'hx' must be a tuple of two Tensors, but got {_type_name(hx)}.")
        self._need("hx[0]", hx[0])
        self._need("hx[1]", hx[1])
        return self._step(x, hx)

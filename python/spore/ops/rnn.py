# SPDX-License-Identifier: Apache-2.0
"""Recurrent primitives over rnn_layer."""
from .._core import Tensor, apply
from .array import of_rank
from .primitive import Primitive, prim_attr_register

__all__ = ["LSTM", "DynamicRNN", "DynamicGRUV2"]


def recurrent_layer(mode, x, h, c, w_ih, w_hh, b_ih, b_hh, lengths):
    """One layer in one direction over [time, batch, features]: outputs, last state, last cell state. mode: lstm, gru, rnn_tanh, rnn_relu."""
    return apply("rnn_layer", [x, h, c, w_ih, w_hh, b_ih, b_hh, lengths], {"mode": mode, "reverse": False})


def _concat(parts, axis):
    return parts[0] if len(parts) == 1 else apply("concat", list(parts), {"axis": axis})


class LSTM(Primitive):
    """Layers of LSTM over [time, batch, features].

    One tensor holds all weights: those of the inputs of every layer and direction, then those of the states, then the
    biases. Gives the outputs, the last states, the last cell states, and two results that hold nothing.
    """

    @prim_attr_register
    def __init__(self, input_size, hidden_size, num_layers, has_bias, bidirectional, dropout, proj_size=0):
        if proj_size:
            raise ValueError(f"For 'LSTM', proj_size must be 0, but got {proj_size}")
        if min(input_size, hidden_size, num_layers) <= 0:
            raise ValueError("For 'LSTM', input_size, hidden_size and num_layers must be positive")
        if not 0 <= dropout <= 1:
            raise ValueError(f"For 'LSTM', dropout must be between 0 and 1, but got {dropout}")

    def __call__(self, x, h, c, w):
        from .nn import dropout
        directions = 2 if self.bidirectional else 1
        gates, width = 4 * self.hidden_size, self.hidden_size
        flat, at = w.reshape((-1,)), 0
        sizes = [self.input_size if layer == 0 else width * directions for layer in range(self.num_layers)
                 for _ in range(directions)]
        shapes = [(gates, size) for size in sizes] + [(gates, width)] * len(sizes) + ([(gates,)] * len(sizes) if self.has_bias else [])
        total = sum(s[0] * (s[1] if len(s) > 1 else 1) for s in shapes)
        if flat.shape[0] < total:
            raise ValueError(f"For 'LSTM', the weights have {flat.shape[0]} elements, they must be at least {total}")
        parts = []
        for shape in shapes:
            count = shape[0] * (shape[1] if len(shape) > 1 else 1)
            parts.append(flat[at:at + count].reshape(shape))
            at += count
        n = len(sizes)
        states, cells = [], []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                k = layer * directions + direction
                y, hn, cn = apply("rnn_layer", [x, h[k], c[k], parts[k], parts[n + k],
                                                parts[2 * n + k] if self.has_bias else None, None, None],
                                  {"mode": "lstm", "reverse": direction == 1})
                outputs.append(y)
                states.append(hn.expand_dims(0))
                cells.append(cn.expand_dims(0))
            x = _concat(outputs, 2)
            if self.dropout and layer + 1 < self.num_layers:
                x = dropout(x, self.dropout)
        empty = Tensor([0.0], x.dtype).reshape((1, 1))
        return x, _concat(states, 0), _concat(cells, 0), empty, empty


class DynamicRNN(Primitive):
    """LSTM over [time, batch, features] with one weight [features + hidden, 4 hidden], gates in the order i, j, f, o.

    Gives eight tensors per step: outputs, states, cell states, and the gates i, j, f, o and tanh of the cell state.
    """

    @prim_attr_register
    def __init__(self, cell_type="LSTM", direction="UNIDIRECTIONAL", cell_depth=1, use_peephole=False, keep_prob=1.0,
                 cell_clip=-1.0, num_proj=0, time_major=True, activation="tanh", forget_bias=0.0, is_training=True):
        for name, value, wanted in (("cell_type", cell_type, "LSTM"), ("direction", direction, "UNIDIRECTIONAL"),
                                    ("activation", activation, "tanh"), ("cell_depth", cell_depth, 1), ("use_peephole", use_peephole, False),
                                    ("keep_prob", keep_prob, 1.0), ("cell_clip", cell_clip, -1.0), ("num_proj", num_proj, 0),
                                    ("time_major", time_major, True)):
            if value != wanted:
                raise ValueError(f"For 'DynamicRNN', {name} must be {wanted!r}, but got {value!r}")

    def __call__(self, x, w, b, seq_length, init_h, init_c):
        if seq_length is not None:
            raise ValueError("For 'DynamicRNN', seq_length must be None")
        features, width = of_rank(x, 3, 3, "DynamicRNN", "x").shape[2], of_rank(w, 2, 2, "DynamicRNN", "w").shape[1] // 4
        bias, h, c = b.astype(x.dtype), init_h.reshape(init_h.shape[-2:]), init_c.reshape(init_c.shape[-2:])
        w = w.astype(x.dtype)
        out = [[] for _ in range(8)]
        for t in range(x.shape[0]):
            gates = apply("matmul", [x[t], w[:features]], {}) + apply("matmul", [h.astype(x.dtype), w[features:]], {}) + bias
            i, j, f, o = apply("split", [gates.astype(c.dtype)], {"axis": 1, "sizes": (width,) * 4})
            i, f, o = (apply("sigmoid", [v], {}) for v in (i, f + self.forget_bias, o))
            j = apply("tanh", [j], {})
            c = c * f + i * j
            tanh_c = apply("tanh", [c], {})
            h = o * tanh_c
            for to, value in zip(out, (h, h, c, i, j, f, o, tanh_c)):
                to.append(value.expand_dims(0))
        return tuple(_concat(parts, 0) for parts in out)


class DynamicGRUV2(Primitive):
    """GRU over [time, batch, features]: weights [features, 3 hidden] and [hidden, 3 hidden], gates in the order of gate_order.

    Gives per step: outputs, states, update, reset and new gates, and the state's share of the new gate.
    """

    @prim_attr_register
    def __init__(self, direction="UNIDIRECTIONAL", cell_depth=1, keep_prob=1.0, cell_clip=-1.0, num_proj=0, time_major=True,
                 activation="tanh", gate_order="rzh", reset_after=True, is_training=True):
        if gate_order not in ("rzh", "zrh"):
            raise ValueError(f"For 'DynamicGRUV2', gate_order must be 'rzh' or 'zrh', but got {gate_order!r}")
        if direction not in ("UNIDIRECTIONAL", "REDIRECTIONAL"):
            raise ValueError(f"For 'DynamicGRUV2', direction must be 'UNIDIRECTIONAL' or 'REDIRECTIONAL', but got {direction!r}")
        for name, value, wanted in (("cell_depth", cell_depth, 1), ("keep_prob", keep_prob, 1.0), ("cell_clip", cell_clip, -1.0),
                                    ("num_proj", num_proj, 0), ("time_major", time_major, True), ("activation", activation, "tanh")):
            if value != wanted:
                raise ValueError(f"For 'DynamicGRUV2', {name} must be {wanted!r}, but got {value!r}")

    def __call__(self, x, weight_input, weight_hidden, bias_input, bias_hidden, seq_length, init_h):
        if seq_length is not None:
            raise ValueError("For 'DynamicGRUV2', seq_length must be None")
        width, h = weight_hidden.shape[0], init_h
        out = [[] for _ in range(6)]
        steps = range(x.shape[0]) if self.direction == "UNIDIRECTIONAL" else range(x.shape[0] - 1, -1, -1)
        third = {"axis": 1, "sizes": (width,) * 3}
        for t in steps:
            gx = apply("matmul", [x[t], weight_input.astype(x.dtype)], {}).astype(h.dtype)
            gh = apply("matmul", [h.astype(x.dtype), weight_hidden.astype(x.dtype)], {}).astype(h.dtype)
            gx = gx if bias_input is None else gx + bias_input
            gh = gh if bias_hidden is None else gh + bias_hidden
            (ra, za, na), (rb, zb, nb) = apply("split", [gx], third), apply("split", [gh], third)
            if self.gate_order == "zrh":
                ra, za, rb, zb = za, ra, zb, rb
            reset, update = apply("sigmoid", [ra + rb], {}), apply("sigmoid", [za + zb], {})
            if self.reset_after:
                new = apply("tanh", [na + reset * nb], {})
            else:
                share = apply("matmul", [(reset * h).astype(x.dtype), weight_hidden[:, 2 * width:].astype(x.dtype)], {}).astype(h.dtype)
                nb = share if bias_hidden is None else share + bias_hidden[2 * width:]
                new = apply("tanh", [na + nb], {})
            h = new + update * (h - new)
            for to, value in zip(out, (h, h, update, reset, new, nb)):
                to.append(value.expand_dims(0))
        if self.direction != "UNIDIRECTIONAL":
            out = [parts[::-1] for parts in out]
        return tuple(_concat(parts, 0) for parts in out)

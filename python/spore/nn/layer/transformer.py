# SPDX-License-Identifier: Apache-2.0
"""Attention and the transformer. Sequences are (T, N, size), or (N, T, size) with batch_first, or (T, size)."""
import copy
import math

from spore import ops
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.common.initializer import XavierNormal, XavierUniform, initializer
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer._fused import fused
from spore.nn.layer.basic import Dense, Dropout
from spore.nn.layer.container import CellList
from spore.nn.layer.normalization import LayerNorm
from spore.ops.nn import attention

__all__ = ["MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "TransformerEncoder",
           "TransformerDecoder", "Transformer"]


def _additive(cls, name, mask, dtype):
    """A mask as numbers to add: a bool mask forbids where it is True."""
    if mask is None:
        return None
    if mask.dtype == mstype.bool_ or mask.dtype == mstype.uint8:
        mask = mask.astype(mstype.bool_)
        return ops.select(mask, ops.full_like(mask, -math.inf, dtype=dtype), ops.zeros_like(mask, dtype=dtype))
    if not mask.dtype.is_floating_point:
        raise ValueError(f"For '{cls}', '{name}' must be bool or floating point, but got {mask.dtype}.")
    return mask.astype(dtype)


class MultiheadAttention(Cell):
    """Attention by several heads: each mixes the values by how well its queries match its keys.

    Args:
        embed_dim: size of queries and of the result.
        num_heads: number of heads, a divisor of embed_dim.
        dropout: probability of dropping attention weights while training. Default 0.0.
        has_bias: whether projections have a bias. Default True.
        add_bias_kv: whether a trained step is added to keys and values. Default False.
        add_zero_attn: whether a step of zeros is added to keys and values. Default False.
        kdim, vdim: sizes of keys and values. Default None, embed_dim.
        batch_first: whether sequences are (N, T, size). Default False.
        dtype: of the Parameters. Default float32.

    Inputs are query, key, value, and optionally key_padding_mask (N, S), need_weights, attn_mask (T, S) or (N heads, T, S)
    and average_attn_weights. Outputs are the result and, if need_weights, the weights.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> x = ms.ops.ones((5, 2, 8))
        >>> out, weights = nn.MultiheadAttention(8, 4)(x, x, x)
        >>> print(out.shape, weights.shape)
        (5, 2, 8) (2, 5, 5)
    """

    def __init__(self, embed_dim, num_heads, dropout=0.0, has_bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
                 vdim=None, batch_first=False, dtype=mstype.float32):
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        check.positive_int(self.cls_name, "num_heads", num_heads)
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            check.fail_value(self.cls_name, "embed_dim", embed_dim, f"a multiple of 'num_heads', {num_heads}")
        self.dtype = dtype = dtype or mstype.float32
        names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        if self._qkv_same_embed_dim:
            self.in_proj_weight = check.parameter(XavierUniform(), (3 * embed_dim, embed_dim), dtype, "in_proj_weight")
            self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None
        else:
            for name, size in zip(names, (embed_dim, self.kdim, self.vdim)):
                setattr(self, name, check.parameter(XavierUniform(), (embed_dim, size), dtype, name))
            self.in_proj_weight = None
        self.in_proj_bias = check.parameter("zeros", (3 * embed_dim,), dtype, "in_proj_bias") if has_bias else None
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=has_bias, dtype=dtype)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k = check.parameter(XavierNormal(), (1, 1, embed_dim), dtype, "bias_k")
            self.bias_v = check.parameter(XavierNormal(), (1, 1, embed_dim), dtype, "bias_v")
        self.add_zero_attn = add_zero_attn

    def _project(self, query, key, value):
        size, bias = self.embed_dim, self.in_proj_bias
        if self._qkv_same_embed_dim and query is key and key is value:
            return ops.split(ops.dense(query, self.in_proj_weight, bias), size, -1)
        if self._qkv_same_embed_dim:
            weights = ops.split(self.in_proj_weight, size, 0)
        else:
            weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        biases = (None, None, None) if bias is None else ops.split(bias, size, 0)
        return tuple(ops.dense(x, w, b) for x, w, b in zip((query, key, value), weights, biases))

    def _check_inputs(self, query, key, value):
        cls = self.cls_name
        check.rank_of(cls, query, 2, 3)
        for name, x, size in (("query", query, self.embed_dim), ("key", key, self.kdim), ("value", value, self.vdim)):
            if x.ndim != query.ndim:
                raise ValueError(f"For '{cls}', '{name}' must have {query.ndim} dimensions as 'query' has, but got shape "
                                 f"{x.shape}.")
            if x.shape[-1] != size:
                raise ValueError(f"For '{cls}', the last dimension of '{name}' must be {size}, but got shape {x.shape}.")

    def construct(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                  average_attn_weights=True):
        self._check_inputs(query, key, value)
        batched = query.ndim == 3
        q, k, v = self._project(query, key, value)
        if not batched:
            q, k, v = (ops.expand_dims(x, 1) for x in (q, k, v))
            key_padding_mask = None if key_padding_mask is None else ops.expand_dims(key_padding_mask, 0)
        elif self.batch_first:
            q, k, v = (ops.transpose(x, (1, 0, 2)) for x in (q, k, v))
        steps, batch, heads = q.shape[0], q.shape[1], self.num_heads
        mask = _additive(self.cls_name, "attn_mask", attn_mask, q.dtype)
        padding = _additive(self.cls_name, "key_padding_mask", key_padding_mask, q.dtype)
        if self.bias_k is not None:
            k, v = (ops.concat((x, ops.broadcast_to(b, (1, batch, self.embed_dim))), 0)
                    for x, b in ((k, self.bias_k), (v, self.bias_v)))
        if self.add_zero_attn:
            k, v = (ops.concat((x, ops.zeros((1, batch, self.embed_dim), x.dtype)), 0) for x in (k, v))
        source = k.shape[0]
        q, k, v = (ops.transpose(ops.reshape(x, (-1, batch, heads, self.head_dim)), (1, 2, 0, 3)) for x in (q, k, v))
        extras = []
        for extra, shape in ((mask, (1, 1) if mask is not None and mask.ndim == 2 else (batch, heads)),
                             (padding, (batch, 1, 1))):
            if extra is not None:
                extra = ops.pad(extra, (0, source - extra.shape[-1])) if extra.shape[-1] < source else extra
                extras.append(ops.reshape(extra, shape + tuple(extra.shape[-(4 - len(shape)):])))
        dropped = self.training and self.dropout
        if fused("attention") and not need_weights and not dropped:
            hidden = None
            for extra in extras:
                hidden = extra if hidden is None else hidden + extra
            if hidden is not None and hidden.shape[2] != steps:
                hidden = ops.broadcast_to(hidden, (*hidden.shape[:2], steps, source))
            weights, mixed = None, attention(q, k, v, hidden, 1 / math.sqrt(self.head_dim))
        else:
            scores = ops.matmul(q / math.sqrt(self.head_dim), ops.swapaxes(k, -1, -2))
            for extra in extras:
                scores = scores + extra
            weights = ops.softmax(scores, -1)
            if dropped:
                weights = ops.dropout(weights, self.dropout)
            mixed = ops.matmul(weights, v)
        mixed = ops.reshape(ops.transpose(mixed, (2, 0, 1, 3)), (steps, batch, self.embed_dim))
        out = self.out_proj(mixed)
        if not batched:
            out = ops.squeeze(out, 1)
        elif self.batch_first:
            out = ops.transpose(out, (1, 0, 2))
        if not need_weights:
            return (out,)
        weights = ops.mean(weights, 1) if average_attn_weights else weights
        return out, weights if batched else ops.squeeze(weights, 0)


def _activation_function(cls, activation):
    if isinstance(activation, str):
        if activation not in ("relu", "gelu"):
            check.fail_value(cls, "activation", activation, "'relu' or 'gelu'")
        return getattr(ops, activation)
    if not callable(activation):
        check.fail_value(cls, "activation", activation, "a str, a Cell or a function")
    return activation


class _Layer(Cell):
    """Feed-forward part, normalisations and what is remembered to build the same layer again."""

    def _finish(self, d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype,
                norms):
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        for i in range(1, norms + 1):
            setattr(self, f"norm{i}", LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        for i in range(1, norms + 1):
            setattr(self, f"dropout{i}", Dropout(p=dropout))
        self.activation = _activation_function(self.cls_name, activation)
        self.d_model, self.nhead, self.dim_feedforward, self.dropout_num = d_model, nhead, dim_feedforward, dropout
        self.layernorm_eps, self.batch_first, self.dtype = layer_norm_eps, batch_first, dtype

    def _ff_block(self, x, drop):
        return drop(self.dense2(self.dropout(self.activation(self.dense1(x)))))

    def _blocks(self, x, blocks):
        for norm, block in blocks:
            x = x + block(norm(x)) if self.norm_first else norm(x + block(x))
        return x

    def _attend(self, attention, x, memory, mask, padding):
        return attention(x, memory, memory, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0]


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward part, each with a residual connection and normalisation.

    Args:
        d_model: size of the sequence's elements.
        nhead: number of heads.
        dim_feedforward: size inside the feed-forward part. Default 2048.
        dropout: Default 0.1.
        activation: 'relu', 'gelu', or a function or Cell. Default 'relu'.
        layer_norm_eps: of the normalisations. Default 1e-5.
        batch_first: whether sequences are (N, T, size). Default False.
        norm_first: whether normalisation comes before attention and feed-forward part. Default False.
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.TransformerEncoderLayer(8, 2, 16)(ms.ops.ones((5, 2, 8))).shape)
        (5, 2, 8)
    """

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu", layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, dtype=mstype.float32):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self._finish(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype, 2)

    def construct(self, src, src_mask=None, src_key_padding_mask=None) -> Tensor:
        return self._blocks(src, (
            (self.norm1, lambda x: self.dropout1(self._attend(self.self_attn, x, x, src_mask, src_key_padding_mask))),
            (self.norm2, lambda x: self._ff_block(x, self.dropout2))))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's result and a feed-forward part.

    Args:
        d_model: size of the sequence's elements.
        nhead: number of heads.
        dim_feedforward: size inside the feed-forward part. Default 2048.
        dropout: Default 0.1.
        activation: 'relu', 'gelu', or a function or Cell. Default 'relu'.
        layer_norm_eps: of the normalisations. Default 1e-5.
        batch_first: whether sequences are (N, T, size). Default False.
        norm_first: whether normalisation comes before attention and feed-forward part. Default False.
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> x = ms.ops.ones((5, 2, 8))
        >>> print(nn.TransformerDecoderLayer(8, 2, 16)(x, x).shape)
        (5, 2, 8)
    """

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu", layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, dtype=mstype.float32):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self._finish(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype, 3)

    def construct(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                  memory_key_padding_mask=None) -> Tensor:
        return self._blocks(tgt, (
            (self.norm1, lambda x: self.dropout1(self._attend(self.self_attn, x, x, tgt_mask, tgt_key_padding_mask))),
            (self.norm2, lambda x: self.dropout2(self._attend(self.multihead_attn, x, memory, memory_mask,
                                                              memory_key_padding_mask))),
            (self.norm3, lambda x: self._ff_block(x, self.dropout3))))


def _stack(layer, num_layers):
    """Layers like the given one, with new values that all share at the start."""
    check.layer_count(type(layer).__name__, "num_layers", num_layers, 0)
    made = type(layer)(layer.d_model, layer.nhead, layer.dim_feedforward, layer.dropout_num, layer.activation,
                       layer.layernorm_eps, layer.batch_first, layer.norm_first, layer.dtype)
    return CellList([copy.deepcopy(made) for _ in range(num_layers)])


class TransformerEncoder(Cell):
    """Encoder layers, one after the other.

    Args:
        encoder_layer: a TransformerEncoderLayer; layers like it are made.
        num_layers: how many.
        norm: a Cell for the result. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)
        >>> print(net(ms.ops.ones((5, 2, 8))).shape)
        (5, 2, 8)
    """

    def __init__(self, encoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _stack(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def construct(self, src, src_mask=None, src_key_padding_mask=None) -> Tensor:
        for layer in self.layers:
            src = layer(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Cell):
    """Decoder layers, one after the other.

    Args:
        decoder_layer: a TransformerDecoderLayer; layers like it are made.
        num_layers: how many.
        norm: a Cell for the result. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2)
        >>> x = ms.ops.ones((5, 2, 8))
        >>> print(net(x, x).shape)
        (5, 2, 8)
    """

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _stack(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def construct(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                  memory_key_padding_mask=None) -> Tensor:
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                        memory_key_padding_mask=memory_key_padding_mask)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Cell):
    """Encoder and decoder.

    Args:
        d_model: size of the sequences' elements. Default 512.
        nhead: number of heads. Default 8.
        num_encoder_layers, num_decoder_layers: numbers of layers. Default 6.
        dim_feedforward: size inside feed-forward parts. Default 2048.
        dropout: Default 0.1.
        activation: 'relu', 'gelu', or a function or Cell. Default 'relu'.
        custom_encoder, custom_decoder: Cells instead of those made here. Default None.
        layer_norm_eps: of the normalisations. Default 1e-5.
        batch_first: whether sequences are (N, T, size). Default False.
        norm_first: whether normalisation comes first in layers. Default False.
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.Transformer(8, 2, 1, 1, 16)
        >>> print(net(ms.ops.ones((5, 2, 8)), ms.ops.ones((3, 2, 8))).shape)
        (3, 2, 8)
    """

    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1,
                 activation="relu", custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5, batch_first=False,
                 norm_first=False, dtype=mstype.float32):
        super().__init__()
        shape = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype)
        if custom_encoder is None:
            custom_encoder = TransformerEncoder(TransformerEncoderLayer(*shape), num_encoder_layers,
                                                LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(TransformerDecoderLayer(*shape), num_decoder_layers,
                                                LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        self.encoder, self.decoder = custom_encoder, custom_decoder
        for _, parameter in self.parameters_and_names():
            if parameter.ndim > 1:
                parameter.set_data(initializer("xavier_uniform", parameter.shape, parameter.dtype))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None,
                  tgt_key_padding_mask=None, memory_key_padding_mask=None) -> Tensor:
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise ValueError(f"For '{self.cls_name}', 'src' and 'tgt' must have one batch size, but got shapes {src.shape} and "
                             f"{tgt.shape}.")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ValueError(f"For '{self.cls_name}', the last dimension of 'src' and 'tgt' must be {self.d_model}, but got "
                             f"shapes {src.shape} and {tgt.shape}.")
        memory = self.encoder(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                            tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask)

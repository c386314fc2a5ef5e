# SPDX-License-Identifier: Apache-2.0
"""Steps of transformers that MindSpore has as one operator: rotary positions, routing of tokens, norms of sums."""
from ..._core import Tensor
from ...common import dtype as mstype
from .._make import primitive


def _op(name):
    from ... import ops
    return getattr(ops, name)


# --- norms -----------------------------------------------------------------------------------------------------------

def add_layer_norm(x1, x2, gamma, beta, epsilon=1e-5, additional_output=False):
    """x1 + x2, normalised over the last dimension: the result, mean, 1 / standard deviation, and the sum if asked for.

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[1.0, 2.0, 3.0]])
        >>> print(ops.add_layer_norm(x, x, ops.ones(3), ops.zeros(3), 1e-7)[1])
        [[4.]]
    """
    total = x1 + x2
    x = total.astype(mstype.float32)
    mean = x.mean(-1, keep_dims=True)
    rstd = _op("rsqrt")(((x - mean) ** 2).mean(-1, keep_dims=True) + epsilon)
    y = ((x - mean) * rstd).astype(x1.dtype) * gamma + beta
    return y, mean, rstd, total if additional_output else _op("zeros_like")(total)


def add_rms_norm(x1, x2, gamma, epsilon=1e-6):
    """x1 + x2, divided by its root mean square over the last dimension: the result, 1 / the root, and the sum.

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[0.5, 0.5]])
        >>> print(ops.add_rms_norm(x, x, ops.ones(2))[2])
        [[1. 1.]]
    """
    total = x1 + x2
    y, rstd = _op("rms_norm")(total, gamma, epsilon)
    return y, rstd, total


AddRmsNorm = primitive("AddRmsNorm", lambda self, x1, x2, gamma, epsilon=1e-6: add_rms_norm(x1, x2, gamma, epsilon), "",
                       "See ops.add_rms_norm.")
AddLayerNormV2 = primitive("AddLayerNormV2", lambda self, x1, x2, gamma, beta, epsilon=1e-5, additional_out=False: add_layer_norm(
    x1, x2, gamma, beta, epsilon, additional_out), "", "See ops.add_layer_norm.")


# --- positions -------------------------------------------------------------------------------------------------------

def rotary_position_embedding(x, cos, sin, mode=0):
    """Pairs of elements turned by angles: x cos + turned(x) sin. mode 0 pairs the halves of the last dimension, 1 neighbours.

    Examples:
        >>> from spore import Tensor, ops
        >>> x = Tensor([[[[1.0, 2.0]]]])
        >>> print(ops.rotary_position_embedding(x, ops.zeros_like(x), ops.ones_like(x)))
        [[[[-2.  1.]]]]
    """
    if mode not in (0, 1):
        raise ValueError(f"rotary_position_embedding: mode must be 0 or 1, but got {mode}")
    if mode == 0:
        first, second = _op("chunk")(x, 2, -1)
        turned = _op("concat")((-second, first), -1)
    else:
        pairs = x.reshape(tuple(x.shape[:-1]) + (-1, 2))
        turned = _op("stack")((-pairs[..., 1], pairs[..., 0]), -1).reshape(x.shape)
    return x * cos + turned * sin


RotaryPositionEmbedding = primitive("RotaryPositionEmbedding", lambda self, x, cos, sin, mode=0: rotary_position_embedding(x, cos, sin,
    mode),
                                    "", "See ops.rotary_position_embedding.")


def _apply_rotary(self, query, key, cos, sin, position_ids):
    """Rotary positions of query and key, (batch, sequence, heads x size); rows of cos and sin by position."""
    if self.cos_format not in (0, 2):
        raise NotImplementedError(f"ApplyRotaryPosEmb: cos_format must be 0 or 2 on a CPU, but is {self.cos_format}")
    size = cos.shape[-1]
    places = position_ids.reshape((-1,)).astype(mstype.int64)

    def turn(x):
        lead = tuple(x.shape[:-1])
        flat = x.reshape((-1, x.shape[-1] // size, size))
        angle = [(_op("gather")(t, places, 0) if t.shape[0] != flat.shape[0] else t).expand_dims(1) for t in (cos, sin)]
        return rotary_position_embedding(flat, *(a.astype(x.dtype) for a in angle), 0).reshape(lead + (-1,))
    return turn(query), turn(key)


ApplyRotaryPosEmb = primitive("ApplyRotaryPosEmb", _apply_rotary, "cos_format=0")


# --- tokens for experts ----------------------------------------------------------------------------------------------

def moe_token_permute(tokens, indices, num_out_tokens=None, padded_mode=False):
    """Tokens grouped by the number of their expert, and for each of the old places its new one.

    Examples:
        >>> from spore import Tensor, ops
        >>> out, where = ops.moe_token_permute(Tensor([[1.0], [2.0], [3.0]]), Tensor([1, 0, 1]))
        >>> print(out.T, where)
        [[2. 1. 3.]] [1 0 2]
    """
    if padded_mode:
        raise NotImplementedError("moe_token_permute: padded_mode must be False")
    k = 1 if indices.ndim == 1 else indices.shape[1]
    order = _stable_order(indices.reshape((-1,)))
    back = _stable_order(order).astype(mstype.int32)
    kept = order if num_out_tokens is None or num_out_tokens == 0 else order[:num_out_tokens]
    return _op("gather")(tokens, (kept // k).astype(mstype.int64), 0), back


def _stable_order(keys):
    return Tensor(keys.asnumpy().argsort(kind="stable").astype("int64"))


def moe_token_unpermute(permuted_tokens, sorted_indices, probs=None, padded_mode=False, restore_shape=None):
    """Tokens back in their old places; with probs those of one token are summed with these weights.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.moe_token_unpermute(Tensor([[2.0], [1.0], [3.0]]), Tensor([1, 0, 2])).T)
        [[1. 2. 3.]]
    """
    if padded_mode:
        raise NotImplementedError("moe_token_unpermute: padded_mode must be False")
    rows = _op("gather")(permuted_tokens, sorted_indices.astype(mstype.int64), 0)
    if probs is None:
        return rows
    k = probs.shape[1]
    weighted = rows.reshape((-1, k, rows.shape[-1])) * probs.expand_dims(-1).astype(rows.dtype)
    return weighted.sum(1)


MoeTokenPermute = primitive("MoeTokenPermute", lambda self, tokens, indices, num_out_tokens=None, padded_mode=False: moe_token_permute(
    tokens, indices, num_out_tokens, padded_mode), "", "See ops.moe_token_permute.")
MoeTokenUnpermute = primitive("MoeTokenUnpermute", lambda self, permuted_tokens, sorted_indices, probs=None, padded_mode=False,
                              restore_shape=None: moe_token_unpermute(permuted_tokens, sorted_indices, probs, padded_mode, restore_shape),
                              "", "See ops.moe_token_unpermute.")


# --- attention in parts ----------------------------------------------------------------------------------------------

def ring_attention_update(prev_attn_out, prev_softmax_max, prev_softmax_sum, cur_attn_out, cur_softmax_max, cur_softmax_sum,
                          actual_seq_qlen=None, layout="SBH"):
    """Attention over two parts of the keys, joined: the result, the largest scores, and the sums of their exponentials."""
    if layout not in ("SBH", "TND"):
        raise ValueError(f"ring_attention_update: layout must be 'SBH' or 'TND', but got {layout!r}")
    top = _op("maximum")(prev_softmax_max, cur_softmax_max)
    before, now = (s * _op("exp")(m - top) for m, s in ((prev_softmax_max, prev_softmax_sum), (cur_softmax_max, cur_softmax_sum)))
    total = before + now

    def spread(share, like):
        share = share[..., :1]
        if layout == "TND":
            return share.astype(like.dtype)
        heads = share.shape[1]            # (batch, heads, sequence, 1) for (sequence, batch, heads x size)
        wide = share.transpose(2, 0, 1, 3).broadcast_to((share.shape[2], share.shape[0], heads, like.shape[-1] // heads))
        return wide.reshape(like.shape).astype(like.dtype)
    out = prev_attn_out * spread(before / total, prev_attn_out) + cur_attn_out * spread(now / total, cur_attn_out)
    return out, top, total


RingAttentionUpdate = primitive("RingAttentionUpdate", lambda self, *args: ring_attention_update(*args), "",
    "See ops.ring_attention_update.")


# --- dropout in two steps --------------------------------------------------------------------------------------------

def _gen_mask(self, shape, keep_prob):
    """A mask for DropoutDoMask: bits, in bytes, that are set with the probability keep_prob."""
    from ..array import ints_of
    count = 1
    for n in ints_of(shape, "shape"):
        count *= n
    count = (count + 127) // 128 * 128
    share = keep_prob.item() if isinstance(keep_prob, Tensor) else keep_prob
    bits = (_op("rand")(count) < share).asnumpy()
    import numpy
    return Tensor(numpy.packbits(bits, bitorder="little"))


def _do_mask(self, input_x, mask, keep_prob):
    """The elements whose bit is set, scaled; zeros elsewhere."""
    import numpy
    bits = numpy.unpackbits(mask.asnumpy(), bitorder="little")[:input_x.size].reshape(input_x.shape)
    return input_x * Tensor(bits).astype(input_x.dtype) / keep_prob


DropoutGenMask = primitive("DropoutGenMask", _gen_mask, "Seed0=0, Seed1=0")
DropoutDoMask = primitive("DropoutDoMask", _do_mask)

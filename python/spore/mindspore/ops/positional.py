# SPDX-License-Identifier: Apache-2.0
"""Operators as MindSpore's generated module `pyboost_inner_prim` has them: `softmax_impl(input, axis)`, every attribute given by position after
the operands. Packages that bring other frameworks to MindSpore call these."""
from ..mindspore import lookup, rows as _rows

# primitive and, after ':', how many of the arguments are operands (the others belong to its constructor)
_PRIMITIVES = """
    argmax_with_value ArgMaxWithValue:1 argmin_with_value ArgMinWithValue:1 batch_mat_mul BatchMatMul:2 matmul MatMul:2
    binary_cross_entropy BinaryCrossEntropy:3 binary_cross_entropy_with_logits BCEWithLogitsLoss:4 broadcast_to BroadcastTo:1
    cdist Cdist:2 concat Concat:1 cross Cross:2 grid_sampler_2d GridSampler2D:2 grid_sampler_3d GridSampler3D:2 hshrink HShrink:1
    log_softmax LogSoftmax:1 meshgrid Meshgrid:1 nllloss NLLLoss:3 reverse_v2 ReverseV2:1 rms_norm RmsNorm:2 roll Roll:1
    smooth_l1_loss SmoothL1Loss:2 soft_margin_loss SoftMarginLoss:2 softmax Softmax:1 softshrink SoftShrink:1 split Split:1
    squeeze Squeeze:1 triu Triu:1 glu_grad GluGrad:2 hshrink_grad HShrinkGrad:2 log_softmax_grad LogSoftmaxGrad:2
    binary_cross_entropy_grad BinaryCrossEntropyGrad:4 softshrink_grad SoftShrinkGrad:2 soft_margin_loss_grad SoftMarginLossGrad:3
    smooth_l1_loss_grad SmoothL1LossGrad:3 nllloss_grad NLLLossGrad:5 nan_to_num NanToNum:1""".split()
_PRIMITIVES = dict(zip(_PRIMITIVES[::2], _PRIMITIVES[1::2]))
# primitives whose reduction keeps dimensions is named by the constructor, the axis by the call
_REDUCTIONS = {"reduce_all": "ReduceAll", "reduce_any": "ReduceAny", "reduce_max": "ReduceMax", "reduce_min": "ReduceMin"}
# functions of mint or ops that take the arguments in the same order
_FUNCTIONS = {"adaptive_max_pool2d": "ops.adaptive_max_pool2d", "cummax": "ops.cummax", "elu_ext": "mint.nn.functional.elu",
              "glu": "ops.glu", "isclose": "ops.isclose", "stack_ext": "mint.stack", "unique_consecutive": "ops.unique_consecutive"}
# on Ascend processors alone, in MindSpore as well
_ASCEND = """ffn_ext fused_infer_attention_score grouped_matmul incre_flash_attention paged_attention prompt_flash_attention quant_batch_matmul
    weight_quant_batch_matmul max_pool_with_indices max_pool_with_mask max_pool_grad_with_indices max_pool_grad_with_mask
    batch_norm_grad_ext flash_attention_score_grad""".split()


def one_hot_ext_impl(tensor, num_classes, on_value, off_value, axis):
    """Rows with `on_value` at the place that `tensor` names and `off_value` elsewhere; -1 classes are as many as needed."""
    from .. import ops
    if num_classes == -1:
        num_classes = int(tensor.max()) + 1
    return ops.one_hot(tensor, num_classes, on_value, off_value, axis)


def searchsorted_impl(sorted_sequence, values, sorter, dtype, right):
    """Where `values` belong in a sorted sequence."""
    from .. import ops
    return ops.searchsorted(sorted_sequence, values, right=right, sorter=sorter).astype(dtype)


def flash_attention_score_impl(query, key, value, real_shift, drop_mask, padding_mask, attn_mask, prefix, actual_seq_qlen,
                               actual_seq_kvlen, head_num, keep_prob, scale_value, pre_tokens, next_tokens, inner_precise, input_layout,
                               sparse_mode):
    """Attention in one operator: see `ops.flash_attention_score`."""
    operator = lookup("FlashAttentionScore")(head_num, keep_prob, scale_value, pre_tokens, next_tokens, inner_precise, input_layout,
                                             sparse_mode)
    return operator(query, key, value, real_shift, drop_mask, padding_mask, attn_mask, prefix, actual_seq_qlen, actual_seq_kvlen)


def apply_rotary_pos_emb_impl(query, key, cos, sin, position_ids, cos_format):
    """Query and key turned by their positions."""
    return lookup("ApplyRotaryPosEmb")(cos_format)(query, key, cos, sin, position_ids)


def upsample_trilinear3d_impl(x, output_size, scales, align_corners):
    """Volumes of another size by linear interpolation."""
    from .. import ops
    if output_size is None:
        output_size = tuple(int(n * s) for n, s in zip(x.shape[2:], scales))
    return ops.interpolate(x, size=tuple(output_size), mode="trilinear", align_corners=align_corners)


def _by_primitive(name):
    from .. import ops
    kind, _, operands = _PRIMITIVES[name].partition(":")
    kind = getattr(ops, kind, None) or lookup(kind)
    operands = int(operands)

    def call(*args):
        return kind(*args[operands:])(*args[:operands])
    return call


def _made(name):
    """The function of an operator, or None."""
    from .. import mint, ops
    if name in _PRIMITIVES:
        return _by_primitive(name)
    if name in _REDUCTIONS:
        kind = getattr(ops, _REDUCTIONS[name])
        return lambda x, axis, keep_dims: kind(keep_dims)(x, () if axis is None else axis)
    if name in _FUNCTIONS:
        place, _, rest = _FUNCTIONS[name].partition(".")
        found = {"ops": ops, "mint": mint}[place]
        for part in rest.split("."):
            found = getattr(found, part)
        return lambda *args: found(*args)
    if name in _ASCEND:
        from .primitives.refused import refuse
        return lambda *args: refuse(name, _rows("refused")[0][0])
    return None


def __getattr__(name):
    function = _made(name[:-5]) if name.endswith("_impl") else None
    if function is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    function.__name__ = function.__qualname__ = name
    globals()[name] = function
    return function

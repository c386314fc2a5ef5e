# SPDX-License-Identifier: Apache-2.0
"""Operators that exist on Ascend processors alone, in MindSpore as well. Programs import them and make primitives of them for the
case that there is such a processor; using one here says that there is none."""
from ..primitive import Primitive

FUNCTIONS = """fused_infer_attention_score incre_flash_attention lightning_indexer moe_distribute_combine moe_distribute_dispatch
    moe_init_routing_v2 multi_scale_deformable_attn_function nsa_compress nsa_compress_attention nsa_select_attention
    prompt_flash_attention sparse_flash_attention speed_fusion_attention rotated_iou all_gather_matmul matmul_reduce_scatter
    grouped_matmul_v2 grouped_matmul_v4 format_cast dynamic_quant_ext quant_v2 weight_quant_batch_matmul quant_batch_matmul
    kv_cache_scatter_update moe_compute_expert_tokens moe_finalize_routing moe_gating_top_k_softmax npu_gelu
    batch_norm_elemt batch_norm_gather_stats_with_counts batch_norm_stats conv_tbc convolution create_symmetric_memory
    dequant_swiglu_quant dynamic_block_quant ffn_ext fused_add_topk_div group_topk grouped_matmul grouped_matmul_add_ kv_scale_cache
    matmul_add_ mla mla_preprocess moe_init_routing quant_matmul reshape_and_cache swiglu_grad topkrouter topprouter get_mem put_mem
    put_mem_signal signal_wait_until""".split()
CLASSES = """AntiQuant DSDGrad DSDMatmul Dequant DynamicQuantExt FFN FusedInferAttentionScore GroupTopk GroupedMatmul GroupedMatmulV2
    GroupedMatmulV4 IncreFlashAttention KVCacheScatterUpdate KvScaleCache LightningIndexer MatmulDDS MatmulDDSGrad
    MoeComputeExpertTokens MoeDistributeCombine MoeDistributeDispatch MoeFinalizeRouting MoeGatingTopKSoftmax MoeInitRouting
    MoeInitRoutingV2 NsaCompress NsaCompressAttention NsaSelectAttention PagedAttention PagedAttentionMask PromptFlashAttention Quant
    QuantBatchMatmul QuantV2 ReshapeAndCache SparseFlashAttention SpeedFusionAttention TopKRouter TopPRouter WeightQuantBatchMatmul
    MapCacheIdx DynamicNTK FusedAddTopKDiv Mla MlaPreprocess MatmulAllReduceAddRmsNorm DecoderKVCache PromptKVCache GetNext
    FormatCast Push Pull CudnnGRU FusedAdaFactor FusedAdaFactorWithGlobalNorm
    AddLayerNormGrad AllGatherMatmul ApplyCamePart1 ApplyCamePart2 ApplyCamePart3 ApplyCamePart4 BatchNormElemt BatchNormElemtGrad
    BatchNormGatherStatsWithCounts BatchNormStats BinaryCrossEntropyWithLogitsBackward Conv1DPadding Conv2DPadding Conv3DPadding ConvTbc
    Convolution ConvolutionGrad ConvolutionStrGrad CreateSymmetricMemory CrossEntropyLossGrad DequantSwigluQuant DropoutDoMaskExt
    DropoutGenMaskExt DropoutGradExt DynamicBlockQuant EmbeddingDenseBackward FFNExt FlashAttentionScoreGrad FuncDropoutExt
    FuncMaxPool2D GetMem Gmm GmmBackward GmmBackwardFusion GmmV2 GmmV2Backward GmmV2BackwardFusion InnerMoeTokenUnpermute
    InplaceGroupedMatmulAdd InplaceMatmulAdd KLDivGrad L1LossBackwardExt LightningIndexerGrad LogSigmoidGrad MSELossGradExt
    MatmulReduceScatter MaxPoolGradWithIndices MaxPoolGradWithMask MaxPoolWithIndices MaxPoolWithMask MoeTokenPermuteGrad
    MoeTokenUnpermuteGrad MultiScaleDeformableAttn MultiScaleDeformableAttnGrad NLLLoss2dGrad NormalFloatFloat NormalFloatTensor
    NormalTensorFloat NormalTensorTensor NpuGelu NsaCompressGrad NsaSelectAttentionGrad PutMem PutMemSignal QuantLinearSparse
    QuantMatmul RotaryPositionEmbeddingGrad RotatedIou SignalOp SignalWaitUntil SilentCheckV2 SilentCheckV3 SparseFlashAttentionGrad
    SpeedFusionAttentionGrad SwigluGrad TransposeBatchMatmulTranspose GRUV2Grad WKV WKVGrad""".split()


def _refuse(name):
    raise NotImplementedError(f"{name} is an operator of Ascend processors, which MindSpore does not have on a CPU either; "
                              "compose it of other operators")


def _function(name):
    def function(*args, **kwargs):
        _refuse("ops." + name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "An operator of Ascend processors; calling it says that there is none."
    return function


def _class(name):
    def __init__(self, *args, **kwargs):
        Primitive.__init__(self, name)
        for key, value in kwargs.items():
            self.add_prim_attr(key, value)

    def __call__(self, *args, **kwargs):
        _refuse("ops." + name)
    return type(name, (Primitive,), {"__init__": __init__, "__call__": __call__, "__module__": "spore.ops",
                                     "__doc__": "An operator of Ascend processors; calling it says that there is none."})


globals().update({name: _function(name) for name in FUNCTIONS})
globals().update({name: _class(name) for name in CLASSES})

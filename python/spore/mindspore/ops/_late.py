# SPDX-License-Identifier: Apache-2.0
"""Names of spore.ops that few programs use: which file of the folder primitives/ has them. A file is loaded when one of its names is
first asked for, so that importing spore does not pay for it."""
import importlib

_FILES = {
    "helpers": """
        _get_seed _set_prim_op_user_data get_square_sum apply_global_norm _expand _check_same_type _interploate_ext_make_tuple
        _interpolate_ext_scale_factor_convert_size linear _in_projection _in_projection_packed _inner_dropout _inner_pad
        _check_qkv_shape _check_kpm_shape _check_attn_mask_shape getitem setitem in_ not_in_ pow_ mod logical_and_ hyper_add tail
        zip_operation ms_next ms_hasnext augassign_add augassign_sub augassign_mul augassign_div augassign_floordiv augassign_mod
        _ones_like_for_grad linearize derivative jet""",
    "_communication": """
        P2POp TCPStore all_gather all_gather_into_tensor all_gather_into_tensor_uneven all_gather_object all_reduce all_to_all
        all_to_all_single all_to_all_v_c barrier batch_isend_irecv broadcast broadcast_object_list destroy_process_group gather
        gather_into_tensor gather_object get_backend get_global_rank get_group_rank get_process_group_ranks get_rank get_world_size
        init_process_group irecv is_available is_initialized isend new_group recv recv_object_list reduce reduce_scatter
        reduce_scatter_tensor reduce_scatter_tensor_uneven scatter scatter_object_list scatter_tensor send send_object_list
        set_comm_ops_inplace Send Receive NeighborExchange AlltoAllV
        AlltoAllVC AllGatherV ReduceScatterV BatchISendIRecv NeighborExchangeV2 _AllSwap inner_comm_irecv_op inner_comm_isend_op""",
    "fused": """
        add_layer_norm add_rms_norm AddRmsNorm AddLayerNormV2 rotary_position_embedding RotaryPositionEmbedding ApplyRotaryPosEmb
        moe_token_permute moe_token_unpermute MoeTokenPermute MoeTokenUnpermute ring_attention_update RingAttentionUpdate
        DropoutGenMask DropoutDoMask""",
    "inner": """
        Generator AdamW SyncBatchNorm _scaled_dot_product_attention tensor_index_by_number tensor_index_by_tensor tensor_index_by_tuple
        apply_rotary_pos_emb_ DtypeToEnum reshard _add_attr""",
    "strided": "as_strided AsStrided",
    "regions": "PSROIPooling PadAndShift",
    "private": """
        FlashAttentionScore Swiglu UpsampleNearest1D UpsampleNearest2D UpsampleNearest3D view view_dtype contiguous View ViewDtype
        RealView ImagView SplitTensorView SplitWithSizeView UnstackExtView UpsampleLinear1D UpsampleBilinear2D NewZeros NewOnes NewEmpty
        NewFull InnerNonZero InnerIndex CrossEntropyLoss AllFinite AddV2 ReLUV3 SequenceMask ArgminV2 Kthvalue MaxPoolV1 AvgPoolV1
        kthvalue index correlate Eigh SelfAdjointEig TridiagonalSolve broadcast_gradient_args TensorCopySlices DynamicStitch
        DynamicBroadcastGradientArgs DynamicBroadcastTo SliceExt SliceExtView SelectExtView SelectView ExpandDimsView
        TransposeExtView DiagonalView Narrow Contiguous CopyWithSlice ClipByNorm Centralization ConfusionMulGrad MatrixDiag
        MatrixDiagPart MatrixSetDiag ConvertToDynamic ListAppend ListInsert SequenceSlice SequenceSliceSetItem InSequence
        SequenceAdd SequenceMul SequenceCount SequenceIndex SequenceZerosLike SequenceMax SequenceMin sequence_len SequenceAddN
        SequenceStack TupleToTensor ListToTensor TensorToList TensorToScalar ListToTuple TupleToList tuple_greater_than
        tuple_greater_equal list_greater_than list_greater_equal tuple_lt list_lt tuple_le list_le SequenceUnstack IsParameter
        IsConstant SameTypeShape IsSubClass IsInstance MixedPrecisionCast GetGrad is_sequence_value_unknown
        is_sequence_shape_unknown is_dynamic_sequence_element_unknown is_tensor_bool_cond bernoulli_ clamp_ erfinv_ exponential_
        normal_ put_ random_ tanh_ uniform_ zero_ addmm_ inplace_sigmoid reshape_ stop_gradient_ uniform_ext UniformExt move_to
        MoveTo Reusing tensordump TensorDump Morph custom_vjp switch GeSwitch Merge J FakeQuantParam Gelu FastGelu""",
    "registers": """
        DataType CpuRegOp AkgGpuRegOp AkgAscendRegOp AiCPURegOp TBERegOp CustomRegOp op_info_register custom_info_register
        vm_impl_registry get_vm_impl_fn CustomOpBuilder""",
    "ascend": """
        fused_infer_attention_score incre_flash_attention lightning_indexer moe_distribute_combine moe_distribute_dispatch
        moe_init_routing_v2 multi_scale_deformable_attn_function nsa_compress nsa_compress_attention nsa_select_attention
        prompt_flash_attention sparse_flash_attention speed_fusion_attention rotated_iou all_gather_matmul matmul_reduce_scatter
        grouped_matmul_v2 grouped_matmul_v4 format_cast dynamic_quant_ext quant_v2 weight_quant_batch_matmul quant_batch_matmul
        kv_cache_scatter_update moe_compute_expert_tokens moe_finalize_routing moe_gating_top_k_softmax npu_gelu CudnnGRU AntiQuant DSDGrad
        DSDMatmul Dequant DynamicQuantExt FFN FusedInferAttentionScore GroupTopk GroupedMatmul GroupedMatmulV2 GroupedMatmulV4
        IncreFlashAttention KVCacheScatterUpdate KvScaleCache LightningIndexer MatmulDDS MatmulDDSGrad MoeComputeExpertTokens
        MoeDistributeCombine MoeDistributeDispatch MoeFinalizeRouting MoeGatingTopKSoftmax MoeInitRouting MoeInitRoutingV2
        NsaCompress NsaCompressAttention NsaSelectAttention PagedAttention PagedAttentionMask PromptFlashAttention Quant
        QuantBatchMatmul QuantV2 ReshapeAndCache SparseFlashAttention SpeedFusionAttention TopKRouter TopPRouter
        WeightQuantBatchMatmul MapCacheIdx DynamicNTK FusedAddTopKDiv Mla MlaPreprocess MatmulAllReduceAddRmsNorm DecoderKVCache
        PromptKVCache GetNext FormatCast Push
        Pull
        batch_norm_elemt batch_norm_gather_stats_with_counts batch_norm_stats conv_tbc convolution create_symmetric_memory
        dequant_swiglu_quant dynamic_block_quant ffn_ext fused_add_topk_div group_topk grouped_matmul grouped_matmul_add_ kv_scale_cache
        matmul_add_ mla mla_preprocess moe_init_routing quant_matmul reshape_and_cache swiglu_grad topkrouter topprouter get_mem put_mem
        put_mem_signal signal_wait_until
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
        SpeedFusionAttentionGrad SwigluGrad TransposeBatchMatmulTranspose GRUV2Grad WKV WKVGrad
        BatchNormFold BatchNormFold2 BatchNormFold2D BatchNormFoldD CorrectionMul FakeLearnedScaleQuantPerChannel
        FakeLearnedScaleQuantPerLayer FakeQuantPerChannel FakeQuantPerLayer MinMaxUpdatePerChannel MinMaxUpdatePerLayer
        BatchToSpaceNDV2 BasicLSTMCell""",
    "sparse_tensors": """
        SparseDenseCwiseAdd SparseDenseCwiseMul SparseDenseCwiseDiv SparseTensorDenseAdd SparseTensorDenseMatmul SparseAddmm
        SparseToDenseV2 SparseSlice SparseReorder SparseReshape SparseSoftmax SparseSparseMaximum SparseSparseMinimum SparseAdd
        SparseConcat SparseSplit SparseFillEmptyRows Coalesce Sspaddmm CSRSparseMatrixToDense CSRSparseMatrixToSparseTensor
        DenseToCSRSparseMatrix SparseTensorToCSRSparseMatrix SparseMatrixNNZ SparseMatrixTranspose SparseMatrixSoftmax CSRGather
        SparseMatrixSparseMatMul SparseMatrixAdd SparseMatrixMatMul DenseToDenseSetOperation DenseToSparseSetOperation SetSize
        SparseCountSparseOutput RaggedTensorToSparse RaggedTensorToTensor coalesce SparseSegmentSum SparseSegmentSumWithNumSegments
        SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments""",
    "sampling": """
        MapUniform UniformCandidateSampler LogUniformCandidateSampler log_uniform_candidate_sampler ComputeAccidentalHits
        ParameterizedTruncatedNormal NonMaxSuppressionV3 NonMaxSuppressionWithOverlaps CombinedNonMaxSuppression
        SampleDistortedBoundingBoxV2 RNNTLoss CompareAndBitpack MatrixLogarithm MatrixSolveLs Betainc betainc""",
    "sparse_updates": """
        FusedAdaFactor FusedAdaFactorWithGlobalNorm
        FusedSparseAdam FusedSparseLazyAdam AdamNoUpdateParam SparseApplyFtrl FusedSparseFtrl SparseApplyFtrlV2 SparseApplyAdagrad
        SparseApplyAdagradV2 SparseApplyProximalAdagrad FusedSparseProximalAdagrad SparseApplyProximalGradientDescent
        SparseApplyAdadelta SparseApplyAdagradDA SparseApplyMomentum SparseApplyRMSProp SparseApplyCenteredRMSProp LARSUpdate""",
    "windows": """
        MaxPoolWithArgmax MaxPool3DWithArgmax FractionalMaxPoolWithFixedKsize FractionalMaxPool3DWithFixedKsize FractionalMaxPool
        FractionalAvgPool ExtractImagePatches ExtractVolumePatches Dilation2D DepthwiseConv2dNative Conv3DTranspose conv3d_transpose
        DeformableOffsets ResizeArea ResizeLinear1D ExtractGlimpse ScaleAndTranslate AdjustContrastv2 InstanceNorm""",
    "gradients": """
        ACosGrad AbsGrad AcoshGrad AdaptiveAvgPool2DGrad AdaptiveAvgPool3DGrad AdaptiveMaxPool2DGrad AdaptiveMaxPool3DGrad AsinGrad
        AsinhGrad AtanGrad AvgPool3DGrad AvgPoolGrad AvgPoolGradV1 BatchNormGrad BiasAddGrad BinaryCrossEntropyGrad
        CholeskyGrad Conv2DBackpropFilter Conv3DBackpropFilter Conv3DBackpropInput DropoutGrad EluGrad EluGradExt FastGeLUGrad
        FlattenGrad GatherDGradV2 GeLUGrad GeluGradExt GluGrad GridSampler2DGrad GridSampler3DGrad HSigmoidGrad HShrinkGrad
        HSwishGrad HardtanhGrad InvGrad KLDivLossGrad L2NormalizeGrad LRNGrad LayerNormGrad LayerNormGradV3 LeakyReLUGradExt
        LogSoftmaxGrad LogitGrad MaskedSelectGrad MaxPool3DGrad MaxPoolGrad MaxPoolGradV1 MaximumGrad MinimumGrad MirrorPadGrad
        MultiMarginLossGrad MultilabelMarginLossGrad MvlgammaGrad NLLLossGrad PReLUGrad PadV3Grad PdistGrad ReLU6Grad ReciprocalGrad
        ReluGrad ResizeBicubicGrad ResizeBilinearGrad ResizeLinear1DGrad ResizeNearestNeighborGrad ResizeNearestNeighborV2Grad
        RmsNormGrad RsqrtGrad SeluGrad SiLUGrad SigmoidCrossEntropyWithLogitsGrad SigmoidGrad SliceGrad SmoothL1LossGrad
        SoftMarginLossGrad SoftShrinkGrad SoftmaxBackward SoftmaxGrad SoftplusGrad SoftplusGradExt SqrtGrad StridedSliceGrad
        TanhGrad ThresholdGrad TraceGrad UniqueGrad ConcatOffset AffineGridGrad CdistGrad MishGradExt ROIAlignGrad LuUnpackGrad
        MaxPoolGradWithArgmax MaxUnpool2DGrad MaxUnpool3DGrad""",
    "second_gradients": """
        UpsampleNearest1DGrad UpsampleNearest2DGrad UpsampleNearest3DGrad UpsampleLinear1DGrad UpsampleBilinear2DGrad
        UpsampleTrilinear3DGrad MaximumGradGrad MinimumGradGrad LayerNormGradGrad BatchNormGradGrad GroupNorm GroupNormGrad MaxPoolGradGrad
        MedianGrad IgammaGradA""",
    "rare_gradients": """
        DeformableOffsetsGrad Dilation2DBackpropInput Dilation2DBackpropFilter FractionalAvgPoolGrad FractionalMaxPoolGrad
        FractionalMaxPoolGradWithFixedKsize FractionalMaxPool3DGradWithFixedKsize MaxPoolGradWithArgmaxV2 MaxPool3DGradWithArgmax
        MaxPoolGradGradWithArgmax MaxPool3DGradGrad ScaleAndTranslateGrad CropAndResizeGradImage CropAndResizeGradBoxes
        SparseFillEmptyRowsGrad SparseSegmentSumGrad SparseSegmentMeanGrad SparseSegmentSqrtNGrad SparseSliceGrad CTCLossV2Grad
        ConcatOffsetV1 UpdateCache SparseSoftmaxCrossEntropyWithLogitsV2 TraceV2Grad SequenceSliceGrad SequenceAddOffset ShapeMulGrad
        ListAppendAndInsertGrad""",
}
_PLACE = {name: file for file, names in _FILES.items() for name in names.split()}


def lookup(name):
    """What is called `name`, or None."""
    file = _PLACE.get(name)
    return getattr(importlib.import_module(module_of(file)), name) if file else None


def module_of(file):
    """The module of a file of the table; with an underscore, it is a file of the product."""
    return "spore.ops." + file if file.startswith("_") else "spore.ops.primitives." + file


def names():
    """All names of the folder."""
    return _PLACE.keys()

# SPDX-License-Identifier: Apache-2.0
"""Names of spore.ops that few programs use: which file of the folder late/ has them. A file is loaded when one of its names is
first asked for, so that importing spore does not pay for it."""
import importlib

_FILES = {
    "sparse_updates": """FusedSparseAdam FusedSparseLazyAdam AdamNoUpdateParam SparseApplyFtrl FusedSparseFtrl SparseApplyFtrlV2 SparseApplyAdagrad
        SparseApplyAdagradV2 SparseApplyProximalAdagrad FusedSparseProximalAdagrad SparseApplyProximalGradientDescent
        SparseApplyAdadelta SparseApplyAdagradDA SparseApplyMomentum SparseApplyRMSProp SparseApplyCenteredRMSProp LARSUpdate""",
    "windows": """MaxPoolWithArgmax MaxPool3DWithArgmax FractionalMaxPoolWithFixedKsize FractionalMaxPool3DWithFixedKsize FractionalMaxPool
        FractionalAvgPool ExtractImagePatches ExtractVolumePatches Dilation2D DepthwiseConv2dNative Conv3DTranspose conv3d_transpose
        DeformableOffsets ResizeArea ResizeLinear1D ExtractGlimpse ScaleAndTranslate AdjustContrastv2 InstanceNorm""",
    "gradients": """ACosGrad AbsGrad AcoshGrad AdaptiveAvgPool2DGrad AdaptiveAvgPool3DGrad AdaptiveMaxPool2DGrad AdaptiveMaxPool3DGrad
        AsinGrad AsinhGrad AtanGrad AvgPool3DGrad AvgPoolGrad AvgPoolGradV1 AvgPoolGradVm BatchNormGrad BiasAddGrad
        BinaryCrossEntropyGrad CholeskyGrad Conv2DBackpropFilter Conv3DBackpropFilter Conv3DBackpropInput DropoutGrad EluGrad EluGradExt FastGeLUGrad FlattenGrad GatherDGradV2 GeLUGrad GeluGradExt GluGrad
        GridSampler2DGrad GridSampler3DGrad HSigmoidGrad HShrinkGrad HSwishGrad HardtanhGrad InvGrad KLDivLossGrad L2NormalizeGrad
        LRNGrad LayerNormGrad LayerNormGradV3 LeakyReLUGradExt LogSoftmaxGrad LogitGrad MaskedSelectGrad MaxPool3DGrad MaxPoolGrad
        MaxPoolGradV1 MaximumGrad MinimumGrad MirrorPadGrad MultiMarginLossGrad MultilabelMarginLossGrad MvlgammaGrad NLLLossGrad
        PReLUGrad PadV3Grad PdistGrad ReLU6Grad ReciprocalGrad ReluGrad ResizeBicubicGrad ResizeBilinearGrad ResizeLinear1DGrad
        ResizeNearestNeighborGrad ResizeNearestNeighborV2Grad RmsNormGrad RsqrtGrad SeluGrad SiLUGrad
        SigmoidCrossEntropyWithLogitsGrad SigmoidGrad SliceGrad SmoothL1LossGrad SoftMarginLossGrad SoftShrinkGrad SoftmaxBackward
        SoftmaxGrad SoftplusGrad SoftplusGradExt SqrtGrad StridedSliceGrad TanhGrad ThresholdGrad TraceGrad UniqueGrad ConcatOffset
        AffineGridGrad CdistGrad MishGradExt ROIAlignGrad LuUnpackGrad MaxPoolGradWithArgmax MaxUnpool2DGrad MaxUnpool3DGrad""",
}
_PLACE = {name: file for file, names in _FILES.items() for name in names.split()}


def lookup(name):
    """What is called `name`, or None."""
    file = _PLACE.get(name)
    return getattr(importlib.import_module("spore.ops.late." + file), name) if file else None


def names():
    """All names of the folder."""
    return _PLACE.keys()

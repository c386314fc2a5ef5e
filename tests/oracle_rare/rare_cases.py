# SPDX-License-Identifier: Apache-2.0
"""Questions about operators that few programs use: gradients as primitives, pools and patches, steps of optimizers on some rows,
samplers, sparse Tensors. `record.py` asks MindSpore 2.10, `test_rare.py` asks spore. A case is a function of (framework, random
numbers); it gives a Tensor or several."""
import numpy as np


def cases(ms):
    """{name: function}; the functions draw from `r`, which the caller sets anew for each."""
    C, Tensor, ops, state = {}, ms.Tensor, ms.ops, {}
    P = ops.operations
    import importlib

    def module(name):
        return importlib.import_module(ms.__name__ + ".ops.operations." + name)
    G, nn_ops, image_ops, array_ops, math_ops, random_ops, other_ops, SP = (module(n) for n in (
        "_grad_ops", "nn_ops", "image_ops", "array_ops", "math_ops", "random_ops", "other_ops", "sparse_ops"))

    class R:
        def __getattr__(self, name):
            return getattr(state["r"], name)
    r = R()

    def f(*s): return Tensor(np.array(r.rand(*s) * 1.6 - 0.8).astype(np.float32))
    def p(*s): return Tensor((r.rand(*s) + 1.1).astype(np.float32))
    def i(a): return Tensor(np.array(a, np.int32))
    def L(a): return Tensor(np.array(a, np.int64))
    def F(a): return Tensor(np.array(a, np.float32))
    def t(v): return Tensor(v, ms.float32)
    for n in "ACosGrad AbsGrad AsinGrad AtanGrad AsinhGrad TanhGrad SigmoidGrad ReciprocalGrad InvGrad SqrtGrad RsqrtGrad EluGrad SeluGrad ReluGrad ReLU6Grad FastGeLUGrad HSigmoidGrad HSwishGrad SiLUGrad SoftplusGrad HShrinkGrad SoftShrinkGrad SoftmaxGrad LogSoftmaxGrad".split():
        C[n]=lambda n=n:getattr(G,n)()(f(3,4),f(3,4))
    C['AcoshGrad']=lambda:G.AcoshGrad()(p(3,4),f(3,4))
    C['LogitGrad']=lambda:G.LogitGrad(0.1)(f(3,4),f(3,4))
    C['GeLUGrad']=lambda:G.GeLUGrad()(f(3,4),f(3,4),f(3,4))
    C['GluGrad']=lambda:G.GluGrad(-1)(f(3,2),f(3,4))
    C['MvlgammaGrad']=lambda:G.MvlgammaGrad(2)(f(3,4),p(3,4))
    def l2():
        x=f(3,4); return G.L2NormalizeGrad(0)(x,ops.L2Normalize(0)(x),f(3,4))
    C['L2NormalizeGrad']=l2
    def lrn():
        x=f(1,4,3,3); return G.LRNGrad()(f(1,4,3,3),x,ops.LRN()(x))
    C['LRNGrad']=lrn
    C['PReLUGrad']=lambda:G.PReLUGrad()(f(2,3,2,2),f(2,3,2,2),f(3))
    def ch():
        a=r.rand(3,3).astype(np.float32); a=Tensor(a@a.T+3*np.eye(3,dtype=np.float32)); return G.CholeskyGrad()(ops.cholesky(a),f(3,3))
    C['CholeskyGrad']=ch
    C['MaximumGrad']=lambda:G.MaximumGrad()(f(3,4),f(4),f(3,4))
    C['MinimumGrad']=lambda:G.MinimumGrad()(f(3,4),f(4),f(3,4))
    C['CdistGrad']=lambda:(lambda x,y:G.CdistGrad(2.0)(f(3,4),x,y,ops.cdist(x,y)))(f(3,2),f(4,2))
    C['SigmoidCrossEntropyWithLogitsGrad']=lambda:G.SigmoidCrossEntropyWithLogitsGrad()(f(3,4),f(3,4),f(3,4))
    for red in ('none','mean','sum'):
        C['SmoothL1LossGrad '+red]=lambda red=red:G.SmoothL1LossGrad(1.0,red)(f(3,4),f(3,4),f(3,4) if red=='none' else f())
        C['BinaryCrossEntropyGrad '+red]=lambda red=red:G.BinaryCrossEntropyGrad(red)(Tensor(r.rand(3,4).astype(np.float32)*.8+.1),Tensor(r.rand(3,4).astype(np.float32)),f(3,4) if red=='none' else f(),p(3,4))
        C['KLDivLossGrad '+red]=lambda red=red:G.KLDivLossGrad(red)(f(3,4) if red=='none' else f(),f(3,4),p(3,4))
        C['SoftMarginLossGrad '+red]=lambda red=red:G.SoftMarginLossGrad(red)(f(3,4),f(3,4),f(3,4) if red=='none' else f())
        C['NLLLossGrad '+red]=lambda red=red:(lambda x,t,w:G.NLLLossGrad(red)(x,f(3) if red=='none' else f(),t,w,ops.NLLLoss(red)(x,t,w)[1]))(f(3,4),i([0,2,1]),p(4))
    C['BiasAddGrad']=lambda:G.BiasAddGrad()(f(2,3,2,2))
    C['BiasAddGrad2']=lambda:G.BiasAddGrad()(f(2,3))
    C['Conv2DBackpropFilter']=lambda:G.Conv2DBackpropFilter(4,3,pad_mode='pad',pad=1,stride=1)(f(1,4,5,5),f(1,2,5,5),(4,2,3,3))
    C['Conv2DBackpropFilter s2']=lambda:G.Conv2DBackpropFilter(4,3,pad_mode='valid',stride=(2,2))(f(1,4,2,2),f(1,2,5,5),(4,2,3,3))
    C['AvgPoolGrad']=lambda:G.AvgPoolGrad(2,2,'VALID')(f(1,2,4,4),f(1,2,2,2),f(1,2,2,2))
    C['AvgPoolGrad same']=lambda:G.AvgPoolGrad(3,2,'SAME')(f(1,2,5,5),f(1,2,3,3),f(1,2,3,3))
    C['MaxPoolGrad']=lambda:G.MaxPoolGrad(2,2,'VALID')(f(1,2,4,4),f(1,2,2,2),f(1,2,2,2))
    C['MaxPool3DGrad']=lambda:(lambda x:G.MaxPool3DGrad((1,1,2,2,2),(1,1,2,2,2),'VALID')(x,ops.MaxPool3D(2,2)(x),f(1,2,2,2,2)))(f(1,2,4,4,4))
    C['AvgPool3DGrad']=lambda:G.AvgPool3DGrad(2,2,0)((1,2,4,4,4),f(1,2,2,2,2))
    C['AdaptiveAvgPool2DGrad']=lambda:G.AdaptiveAvgPool2DGrad()(f(1,2,2,2),Tensor(np.array([1,2,5,5],np.int64)))
    C['AdaptiveAvgPool3DGrad']=lambda:G.AdaptiveAvgPool3DGrad()(f(1,2,2,2,2),i([1,2,5,5,5]))
    def am():
        x=f(1,2,5,5); y,a=ops.AdaptiveMaxPool2D((2,2))(x); return G.AdaptiveMaxPool2DGrad()(f(1,2,2,2),x,a)
    C['AdaptiveMaxPool2DGrad']=am
    def bn(train):
        x=f(4,3,2,2); return G.BatchNormGrad(train,1e-5)(f(4,3,2,2),x,p(3),Tensor(x.asnumpy().mean((0,2,3))),Tensor(x.asnumpy().var((0,2,3))),f(3))
    C['BatchNormGrad t']=lambda:bn(True)
    C['BatchNormGrad e']=lambda:bn(False)
    def ln():
        x=f(3,4); return G.LayerNormGrad(1,1)(x,f(3,4),Tensor(x.asnumpy().var(1,keepdims=True)),Tensor(x.asnumpy().mean(1,keepdims=True)),p(4))
    C['LayerNormGrad']=ln
    C['DropoutGrad']=lambda:G.DropoutGrad(0.4)(f(3,4),f(3,4))
    C['FlattenGrad']=lambda:G.FlattenGrad()(f(3,4),(3,2,2))
    C['GatherDGradV2']=lambda:G.GatherDGradV2()(f(3,4),1,Tensor(np.array([[0,1],[1,3],[2,2]],np.int64)),f(3,2))
    C['SliceGrad']=lambda:G.SliceGrad()(f(2,2),f(3,4),(0,1),(2,2))
    C['StridedSliceGrad']=lambda:G.StridedSliceGrad()(f(2,2),(4,4),(0,0),(4,4),(2,2))
    C['TraceGrad']=lambda:G.TraceGrad()(f(),Tensor(np.array([3,4],np.int64)))
    C['MirrorPadGrad']=lambda:G.MirrorPadGrad('REFLECT')(f(5,6),Tensor(np.array([[1,1],[1,1]],np.int64)))
    C['PadV3Grad']=lambda:G.PadV3Grad('reflect')(f(1,2,6),Tensor(np.array([1,1],np.int64)))
    C['ResizeBilinearGrad']=lambda:G.ResizeBilinearGrad()(f(1,2,4,4),f(1,2,2,3))
    C['ResizeBilinearGrad a']=lambda:G.ResizeBilinearGrad(True)(f(1,2,4,4),f(1,2,2,3))
    C['ResizeNearestNeighborGrad']=lambda:G.ResizeNearestNeighborGrad()(f(1,2,4,4),(2,2))
    C['ResizeBicubicGrad']=lambda:G.ResizeBicubicGrad()(f(1,2,4,4),f(1,2,2,3))
    C['ResizeLinear1DGrad']=lambda:G.ResizeLinear1DGrad()(f(1,2,4),f(1,2,3))
    C['GridSampler2DGrad']=lambda:G.GridSampler2DGrad()(f(1,2,3,3),f(1,2,4,4),f(1,3,3,2))
    C['GridSampler3DGrad']=lambda:G.GridSampler3DGrad()(f(1,2,3,3,3),f(1,2,4,4,4),f(1,3,3,3,3))
    C['AffineGridGrad']=lambda:G.AffineGridGrad()(f(1,2,2,2),i([1,3,2,2]))
    C['ROIAlignGrad']=lambda:G.ROIAlignGrad(2,2,0.5,2)(f(1,2,2,2),Tensor(np.array([[0,1,1,6,6]],np.float32)),(1,2,4,4))
    C['MultiMarginLossGrad']=lambda:G.MultiMarginLossGrad()(f(),f(3,4),Tensor(np.array([0,2,1],np.int64)),p(4))
    C['PdistGrad']=lambda:(lambda x:G.PdistGrad(2.0)(f(3),x,ops.pdist(x)))(f(3,2))
    C['MaskedSelectGrad']=lambda:G.MaskedSelectGrad()(f(3),Tensor(np.array([True,False,True])),f(2))
    C['UniqueGrad']=lambda:G.UniqueGrad()((f(3),i([0,1,2])),i([0,1,1,2]))
    C['ConcatOffset']=lambda:G.ConcatOffset(2,0)((f(2,3),f(4,3)))
    C['MaxPool3DWithArgmax']=lambda:nn_ops.MaxPool3DWithArgmax(2,1,1)(f(1,2,3,3,3))
    C['MaxPool3DWithArgmax ceil']=lambda:nn_ops.MaxPool3DWithArgmax((2,2,2),(2,2,2),(0,0,0),ceil_mode=True)(f(1,2,5,5,5))
    C['FMPFixed']=lambda:nn_ops.FractionalMaxPoolWithFixedKsize((2,2),(2,2))(f(1,1,5,5),Tensor(np.array([[[0.8,0.3]]],np.float32)))
    C['FMP3Fixed']=lambda:nn_ops.FractionalMaxPool3DWithFixedKsize((2,2,2),(2,2,2))(f(1,1,5,5,4),Tensor(np.array([[[0.8,0.3,0.6]]],np.float32)))
    C['FracMax ']=lambda:nn_ops.FractionalMaxPool((1.0,2.0,2.0,1.0))(f(1,4,4,1))
    C['FracAvg']=lambda:nn_ops.FractionalAvgPool((1.0,2.0,2.0,1.0))(f(1,4,4,2))
    C['ExtractVolumePatches']=lambda:array_ops.ExtractVolumePatches((1,1,2,2,2),(1,1,1,1,1),'VALID')(f(1,1,3,3,3))
    C['ExtractVolumePatches2']=lambda:array_ops.ExtractVolumePatches((1,1,2,2,2),(1,1,2,2,2),'SAME')(f(1,2,3,3,3))
    C['ExtractImagePatches']=lambda:P._inner_ops.ExtractImagePatches((2,2),(1,1),(1,1),'VALID')(f(1,2,3,3))
    C['Dilation2D']=lambda:nn_ops.Dilation2D(1,1,'VALID')(f(1,2,4,4),f(2,2,2))
    C['Dilation2D s']=lambda:nn_ops.Dilation2D(2,1,'SAME')(f(1,2,5,5),f(2,3,3))
    C['Conv3DTranspose']=lambda:nn_ops.Conv3DTranspose(2,3,(2,2,2))(f(1,2,3,3,3),f(2,3,2,2,2))
    C['Conv3DTranspose2']=lambda:nn_ops.Conv3DTranspose(2,3,(3,3,3),pad_mode='pad',pad=1,stride=2,output_padding=1)(f(1,2,3,3,3),f(2,3,3,3,3))
    C['Conv3DTranspose3']=lambda:nn_ops.Conv3DTranspose(2,3,(3,3,3),pad_mode='same',stride=2)(f(1,2,3,3,3),f(2,3,3,3,3))
    C['DeformableOffsets']=lambda:nn_ops.DeformableOffsets((1,1,1,1),(0,0,0,0),(2,2))(f(1,2,4,4),f(1,12,3,3))
    C['ResizeArea']=lambda:image_ops.ResizeArea()(f(1,4,4,2),i([2,3]))
    C['ResizeArea up']=lambda:image_ops.ResizeArea(True)(f(1,2,3,2),i([4,5]))
    C['ResizeLinear1D']=lambda:image_ops.ResizeLinear1D()(f(1,2,3),Tensor(np.array([5],np.int64)))
    C['ResizeLinear1D h']=lambda:image_ops.ResizeLinear1D('half_pixel')(f(1,2,3),Tensor(np.array([5],np.int64)))
    C['ExtractGlimpse']=lambda:image_ops.ExtractGlimpse(centered=False,normalized=False,uniform_noise=False,noise='zero')(f(1,4,4,1),i([2,2]),Tensor(np.array([[2,2]],np.float32)))
    C['ExtractGlimpse c']=lambda:image_ops.ExtractGlimpse(centered=True,normalized=True,uniform_noise=False,noise='zero')(f(1,4,4,1),i([3,2]),Tensor(np.array([[.2,.1]],np.float32)))
    for k in ('lanczos3','lanczos1','gaussian','box','triangle','keyscubic','mitchellcubic'):
        C['ScaleAndTranslate '+k]=lambda k=k:image_ops.ScaleAndTranslate(k)(f(1,4,3,2),i([3,5]),Tensor(np.array([.7,1.5],np.float32)),Tensor(np.array([.2,.5],np.float32)))
    C['AdjustContrast']=lambda:image_ops.AdjustContrastv2()(f(2,3,3,3),Tensor(np.array(1.5,np.float32)))
    C['DepthwiseConv2dNative']=lambda:nn_ops.DepthwiseConv2dNative(2,(2,2))(f(1,2,3,3),f(2,2,2,2))
    C['MaxPoolWithArgmax']=lambda:ops.MaxPoolWithArgmax(2,2)(f(1,2,4,4))
    def par(*s): return ms.Parameter(Tensor(r.rand(*s).astype(np.float32)+.1),name='p%d'%r.randint(10**6))
    def run(op,n,*rest):
        ps=[par(4,3) for _ in range(n)]
        y=op(*ps,*rest); y=y if isinstance(y,tuple) else (y,)
        return tuple(Tensor(p.asnumpy()) for p in ps)
    I=lambda:i([2,0]); I2=lambda:i([2,0,2])
    C['FusedSparseAdam']=lambda:run(nn_ops.FusedSparseAdam(),3,t(.9),t(.99),t(.01),t(.9),t(.99),t(1e-8),f(3,3),I2())
    for nest in (False,True):
        C['FusedSparseLazyAdam%d'%nest]=lambda nest=nest:run(nn_ops.FusedSparseLazyAdam(use_nesterov=nest),3,t(.9),t(.99),t(.01),t(.9),t(.99),t(1e-8),f(3,3),I2())
        C['SparseApplyMomentum%d'%nest]=lambda nest=nest:run(nn_ops.SparseApplyMomentum(use_nesterov=nest),2,t(.1),f(2,3),I(),t(.9))
    C['FusedSparseFtrl']=lambda:run(nn_ops.FusedSparseFtrl(.01,.1,.2,-.5),3,f(3,3),I2())
    C['SparseApplyFtrl']=lambda:run(nn_ops.SparseApplyFtrl(.01,.1,.2,-.5),3,f(2,3),I())
    C['SparseApplyFtrlV2']=lambda:run(nn_ops.SparseApplyFtrlV2(.01,.1,.2,.1,-.5),3,f(2,3),I())
    C['SparseApplyAdagrad']=lambda:run(nn_ops.SparseApplyAdagrad(.1),2,f(2,3),I())
    C['SparseApplyAdagradV2']=lambda:run(nn_ops.SparseApplyAdagradV2(.1,.01),2,f(2,3),I())
    C['SparseApplyProximalAdagrad']=lambda:run(nn_ops.SparseApplyProximalAdagrad(),2,t(.1),t(.05),t(.1),f(2,3),I())
    C['FusedSparseProximalAdagrad']=lambda:run(nn_ops.FusedSparseProximalAdagrad(),2,t(.1),t(.05),t(.1),f(3,3),I2())
    C['SparseApplyProximalGradientDescent']=lambda:run(nn_ops.SparseApplyProximalGradientDescent(),1,t(.1),t(.05),t(.1),f(2,3),I())
    C['SparseApplyAdadelta']=lambda:run(nn_ops.SparseApplyAdadelta(1e-3),3,t(.1),t(.9),f(2,3),I())
    C['SparseApplyAdagradDA']=lambda:run(nn_ops.SparseApplyAdagradDA(),3,f(2,3),I(),t(.1),t(.05),t(.1),Tensor(2,ms.int64))
    C['SparseApplyRMSProp']=lambda:run(nn_ops.SparseApplyRMSProp(.9,.5,1e-3),3,t(.1),f(2,3),I())
    C['SparseApplyCenteredRMSProp']=lambda:run(nn_ops.SparseApplyCenteredRMSProp(),4,t(.1),t(.9),t(.5),t(1e-3),f(2,3),I())
    def anu():
        m,v=par(4,3),par(4,3); y=nn_ops.AdamNoUpdateParam()(m,v,t(.9),t(.99),t(.01),t(.9),t(.99),t(1e-8),f(4,3)); return y,Tensor(m.asnumpy()),Tensor(v.asnumpy())
    C['AdamNoUpdateParam']=anu
    C['LARSUpdate']=lambda:nn_ops.LARSUpdate()(f(2,3),f(2,3),t(2.),t(3.),t(.1),t(.01))
    C['Uniform']=lambda:[random_ops.UniformCandidateSampler(1,3,False,4)(Tensor(np.array([[1],[3]],np.int64)))[1]]
    C['Uniform all']=lambda:[Tensor(np.sort(random_ops.UniformCandidateSampler(1,4,True,4)(Tensor(np.array([[1],[3]],np.int64)))[0].asnumpy()))]
    C['LogUniform']=lambda:[random_ops.LogUniformCandidateSampler(2,5,False,5)(Tensor(np.array([[1,3],[0,2]],np.int64)))[1]]
    C['Hits']=lambda:nn_ops.ComputeAccidentalHits(2)(Tensor(np.array([[1,2],[0,4],[3,3]])),Tensor(np.array([0,1,2,3,4])))
    B=lambda:Tensor(np.array([[0,0,1,1],[0,.1,1,1.1],[0,-.1,1,.9],[0,10,1,11],[0,10.1,1,11.1],[0,100,1,101]],np.float32))
    S=lambda:Tensor(np.array([.9,.75,.6,.95,.5,.3],np.float32))
    C['NMSV3']=lambda:image_ops.NonMaxSuppressionV3()(B(),S(),Tensor(4,ms.int32),Tensor(.5,ms.float32),Tensor(0.,ms.float32))
    C['NMSO']=lambda:image_ops.NonMaxSuppressionWithOverlaps()(Tensor(np.random.RandomState(3).rand(6,6).astype(np.float32)),S(),Tensor(4,ms.int32),Tensor(.5,ms.float32),Tensor(0.,ms.float32))
    C['CNMS']=lambda:image_ops.CombinedNonMaxSuppression()(Tensor(np.random.RandomState(0).rand(1,6,2,4).astype(np.float32)),Tensor(np.random.RandomState(1).rand(1,6,2).astype(np.float32)),Tensor(3,ms.int32),Tensor(5,ms.int32),Tensor(.2,ms.float32),Tensor(.1,ms.float32))
    C['RNNT']=lambda:nn_ops.RNNTLoss(0)(f(1,2,3,3),i([[1,2]]),i([2]),i([2]))
    C['Bitpack']=lambda:math_ops.CompareAndBitpack()(f(2,16),Tensor(0.1,ms.float32))
    C['MatrixLog']=lambda:math_ops.MatrixLogarithm()(Tensor(np.array([[2+0j,1],[1,3]],np.complex64)))
    C['MatrixSolveLs']=lambda:math_ops.MatrixSolveLs(True)(Tensor(np.random.RandomState(0).rand(3,2)),Tensor(np.random.RandomState(1).rand(3,1)),Tensor(0.5,ms.float64))
    C['Betainc']=lambda:ops.Betainc()(p(5),p(5),Tensor(np.array([.1,.3,.5,.9,.99],np.float32)))
    C['PTN']=lambda:[Tensor(np.array(random_ops.ParameterizedTruncatedNormal()(i([2,3]),Tensor([0.]),Tensor([1.]),Tensor([-1.]),Tensor([1.])).shape))]
    C['SDBB']=lambda:[Tensor(np.array(other_ops.SampleDistortedBoundingBoxV2(seed=1)(Tensor([64,64,3],ms.int32),Tensor([[[.1,.1,.9,.9]]],ms.float32),Tensor([.1],ms.float32))[2].shape))]
    ix=lambda:L([[0,0],[1,2]]); vv=lambda:F([1,2]); sh=lambda:L([3,4])
    for n in ('Add','Mul','Div'): C['Cwise'+n]=lambda n=n:getattr(SP,'SparseDenseCwise'+n)()(ix(),vv(),sh(),p(3,4))
    C['TDA']=lambda:SP.SparseTensorDenseAdd()(ix(),vv(),sh(),f(3,4))
    C['TDM']=lambda:SP.SparseTensorDenseMatmul()(ix(),vv(),(3,4),f(4,2))
    C['TDM2']=lambda:SP.SparseTensorDenseMatmul(adjoint_st=True)(ix(),vv(),(3,4),f(3,2))
    C['Slice']=lambda:SP.SparseSlice()(L([[0,1],[1,2],[1,3],[2,2]]),F([1,2,3,4]),L([3,4]),L([0,1]),L([2,3]))
    C['Reorder']=lambda:SP.SparseReorder()(L([[2,1],[0,1]]),F([1,2]),L([3,3]))
    C['Reshape']=lambda:SP.SparseReshape()(L([[0,0,0],[0,0,1],[1,0,0]]),L([2,3,6]),L([9,-1]))
    C['Softmax']=lambda:SP.SparseSoftmax()(L([[0,0],[0,3],[1,2]]),F([1,2,3]),L([2,4]))
    C['Max']=lambda:SP.SparseSparseMaximum()(L([[0,1],[1,2]]),F([1,2]),L([3,3]),L([[0,1],[1,1]]),F([3,4]),L([3,3]))
    C['Min']=lambda:SP.SparseSparseMinimum()(L([[0,0],[0,1]]),F([1,2]),L([2,2]),L([[0,0],[1,1]]),F([2,4]),L([2,2]))
    C['Add']=lambda:SP.SparseAdd()(L([[0,1],[1,2]]),i([1,2]),L([3,4]),L([[0,0],[1,2]]),i([3,4]),L([3,4]),i(0))
    C['Concat']=lambda:SP.SparseConcat(0)([ix(),L([[0,1],[1,1]])],[vv(),F([3,4])],[sh(),sh()])
    C['Split']=lambda:[t for g in SP.SparseSplit(2)(L(0),L([[0,1],[1,2],[2,0]]),F([1,2,3]),L([3,3])) for t in g]
    C['Fill']=lambda:SP.SparseFillEmptyRows()(L([[1,0]]),L([4]),L([2,2]),L(9))
    C['Coalesce']=lambda:array_ops.Coalesce()(L([[0,0,1],[1,1,2]]),F([1,5,4]),L([3,3]))
    C['Sspaddmm']=lambda:SP.Sspaddmm()(L([[0,1],[0,1]]),i([1,2]),L([3,3]),L([[0,1],[2,2]]),i([3,4]),L([3,3]),i([[1,2,3],[1,3,2],[3,2,1]]),i(1),i(1))
    for n in ('Sum','Mean','SqrtN'):
        if n!='Mean': C['Seg'+n]=lambda n=n:getattr(SP,'SparseSegment'+n)()(f(4,3),i([1,2,1]),i([0,0,2]))
        C['SegN'+n]=lambda n=n:getattr(SP,f'SparseSegment{n}WithNumSegments')()(f(4,3),i([1,2,1]),i([0,0,2]),i([4]))
    C['SegMean']=lambda:math_ops.SparseSegmentMean()(f(4,3),i([1,2,1]),i([0,0,2]))
    csr=lambda v=(1,4,3,1):(i([2,3]),i([0,4]),i([0,2,4]),i([0,1,0,2]),F(v))
    C['CSRDense']=lambda:SP.CSRSparseMatrixToDense()(*csr())
    C['CSRST']=lambda:SP.CSRSparseMatrixToSparseTensor()(*csr())
    C['D2CSR']=lambda:SP.DenseToCSRSparseMatrix()(f(2,2),i([[0,0],[1,1]]))
    C['ST2CSR']=lambda:SP.SparseTensorToCSRSparseMatrix()(i([[0,0,0],[0,1,2],[1,0,1]]),F([1,2,3]),i([2,2,4]))
    C['NNZ']=lambda:SP.SparseMatrixNNZ()(*csr())
    C['CSRT']=lambda:SP.SparseMatrixTranspose()(*csr())
    C['CSRSoft']=lambda:SP.SparseMatrixSoftmax(ms.float32)(*csr())
    C['CSRMM']=lambda:SP.SparseMatrixMatMul()(*csr(),f(3,2))
    C['CSRAdd']=lambda:SP.SparseMatrixAdd()(*csr(),*csr((2,3,4,5)),F(2.),F(3.))
    C['CSRCSR']=lambda:SP.SparseMatrixSparseMatMul(transpose_b=True)(*csr(),*csr((2,3,4,5)))
    for o in ('a-b','b-a','intersection','union'):
        C['DD '+o]=lambda o=o:SP.DenseToDenseSetOperation(o)(i([[2,2,0],[2,2,1],[0,2,2]]),i([[2,2,1],[0,2,0],[0,1,1]]))
        C['DS '+o]=lambda o=o:SP.DenseToSparseSetOperation(o)(i([[1,2],[0,1]]),L([[0,1],[1,0]]),i([5,1]),L([2,2]))
    C['Count']=lambda:SP.SparseCountSparseOutput()(L([[0,3],[1,1],[1,2]]),L([0,2,10]),L([2,5]),F([1,1,1]))
    C['R2S']=lambda:SP.RaggedTensorToSparse(ms.int64)((L([0,3,3,7,9]),),F([1,2,3,4,5,6,7,8,9]))
    C['R2T']=lambda:SP.RaggedTensorToTensor(["ROW_SPLITS"])(L([4,4]),L([1,2,3,4,5,6,7,8,9]),L(0),[L([0,3,3,7,9])])
    # --- gradients of windows and sparse Tensors
    for fmt in ("NCHW", "NHWC"):
        def deformable(fmt=fmt):
            s = (lambda n, c, h, w: (n, c, h, w) if fmt == "NCHW" else (n, h, w, c))
            return G.DeformableOffsetsGrad((1, 1, 1, 1), (0, 0, 0, 0), (3, 3), data_format=fmt)(
                f(*s(1, 2, 3, 3)), f(*s(1, 2, 4, 4)), Tensor(r.rand(*s(1, 27, 1, 1)).astype(np.float32) * 0.4 + 0.1))
        C["DeformableOffsetsGrad" + fmt] = deformable
    for n in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter"):
        C[n] = lambda n=n: getattr(G, n)((1, 1, 1, 1), (1, 1, 1, 1), "VALID")(f(1, 2, 5, 5), f(2, 2, 2), f(1, 2, 4, 4))
    for over in (False, True):
        C[f"FractionalAvgPoolGrad{over}"] = lambda over=over: G.FractionalAvgPoolGrad(over)(
            L([1, 5, 5, 2]), f(1, 2, 3, 2), L([0, 2, 5]), L([0, 2, 3, 5]))

        def largest(over=over):
            x = f(1, 5, 5, 2)
            return G.FractionalMaxPoolGrad(over)(x, f(1, 2, 3, 2), f(1, 2, 3, 2), L([0, 2, 5]), L([0, 2, 3, 5]))
        C[f"FractionalMaxPoolGrad{over}"] = largest
    C["FractionalMaxPoolGradWithFixedKsize"] = lambda: G.FractionalMaxPoolGradWithFixedKsize()(f(1, 2, 4, 4), f(1, 2, 2, 2),
                                                                                        L([[[[0, 2], [9, 11]], [[5, 6], [6, 15]]]]))
    C["FractionalMaxPool3DGradWithFixedKsize"] = lambda: G.FractionalMaxPool3DGradWithFixedKsize()(
        f(1, 1, 2, 3, 3), f(1, 1, 1, 2, 2), L([[[[[0, 2], [9, 17]]]]]))

    def argmax2d():
        x = f(1, 2, 4, 4)
        y, places = nn_ops.MaxPoolWithArgmaxV2(2, 2)(x)
        return G.MaxPoolGradWithArgmaxV2(2, 2)(x, f(*y.shape), places)
    C["MaxPoolGradWithArgmaxV2"] = argmax2d

    def argmax3d():
        x = f(1, 2, 4, 4, 4)
        y, places = nn_ops.MaxPool3DWithArgmax((2, 2, 2), (2, 2, 2), (0, 0, 0), argmax_type=ms.int64)(x)
        return G.MaxPool3DGradWithArgmax((2, 2, 2), (2, 2, 2), (0, 0, 0))(x, f(*y.shape), places)
    C["MaxPool3DGradWithArgmax"] = argmax3d

    def second2d():
        x = f(1, 2, 4, 4)
        y, places = nn_ops.MaxPoolWithArgmax(2, 2)(x)
        return G.MaxPoolGradGradWithArgmax(2, 2)(x, f(1, 2, 4, 4), places)
    C["MaxPoolGradGradWithArgmax"] = second2d

    def second3d():
        x = f(1, 2, 4, 4, 4)
        return G.MaxPool3DGradGrad((1, 1, 2, 2, 2), (1, 1, 2, 2, 2))(x, P.MaxPool3D(2, 2)(x), f(1, 2, 4, 4, 4))
    C["MaxPool3DGradGrad"] = second3d
    C["ScaleAndTranslateGrad"] = lambda: G.ScaleAndTranslateGrad("triangle", True)(f(1, 3, 3, 2), f(1, 5, 5, 2), F([0.6, 0.6]), F([0, 0.1]))
    boxes = [[0.1, 0.2, 0.7, 0.8], [0.0, 0.1, 0.9, 0.6]]
    C["CropAndResizeGradImage"] = lambda: image_ops.CropAndResizeGradImage(ms.float32)(f(2, 3, 3, 2), F(boxes), i([0, 1]), i([2, 6, 6, 2]))
    C["CropAndResizeGradBoxes"] = lambda: image_ops.CropAndResizeGradBoxes()(f(2, 3, 3, 2), f(2, 6, 6, 2), F(boxes), i([0, 1]))
    C["SparseFillEmptyRowsGrad"] = lambda: G.SparseFillEmptyRowsGrad()(L([2, 1]), f(4))
    for n in ("Sum", "Mean", "SqrtN"):
        C[f"SparseSegment{n}Grad"] = lambda n=n: getattr(G, f"SparseSegment{n}Grad")()(f(2, 3), i([0, 2, 2]), i([0, 0, 1]), i(4))
    C["SparseSliceGrad"] = lambda: G.SparseSliceGrad()(f(2), L([[0, 1], [1, 1], [2, 3]]), L([1, 0]), L([[0, 1], [1, 3]]))

    def ctc():
        x = ops.log_softmax(f(5, 2, 4), -1)
        a, b, c = i([[1, 2], [2, 3]]), i([5, 4]), i([2, 2])
        loss, alpha = P.CTCLossV2(0, "none")(x, a, b, c)
        return nn_ops.CTCLossV2Grad(0, "none")(f(2), x, a, b, c, loss, alpha)
    C["CTCLossV2Grad"] = ctc
    C["ConcatOffsetV1"] = lambda: array_ops.ConcatOffsetV1()(i(1), (i([1, 2, 3]), i([1, 5, 3]), i([1, 4, 3])))

    def cache():
        x = ms.Parameter(i(np.arange(20).reshape(5, 4)), name="x")
        P.UpdateCache()(x, i([[-1, 3, 4]]), i(np.arange(12).reshape(3, 4) + 50), 9999)
        return x
    C["UpdateCache"] = cache
    C["SparseSoftmaxCrossEntropyWithLogitsV2"] = lambda: nn_ops.SparseSoftmaxCrossEntropyWithLogitsV2()(f(3, 4), i([1, 0, 3]))
    return C, state

# SPDX-License-Identifier: Apache-2.0
"""Losses. Most are one call of the function of the same name; LossBase brings the reductions for the others and for losses
that users write."""
import math

import numpy as np

from spore._core import type_name as _type_name
from spore import _core
from spore import ops
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer.activation import LogSoftmax, get_activation

__all__ = ["LossBase", "L1Loss", "CTCLoss", "MSELoss", "SmoothL1Loss", "SoftMarginLoss", "FocalLoss",
           "SoftmaxCrossEntropyWithLogits", "BCELoss", "BCEWithLogitsLoss", "MultiMarginLoss", "CosineEmbeddingLoss",
           "SampledSoftmaxLoss", "TripletMarginWithDistanceLoss", "PoissonNLLLoss", "MultiLabelSoftMarginLoss", "DiceLoss",
           "MultiClassDiceLoss", "MultilabelMarginLoss", "RMSELoss", "MAELoss", "HuberLoss", "CrossEntropyLoss", "NLLLoss",
           "KLDivLoss", "MarginRankingLoss", "GaussianNLLLoss", "HingeEmbeddingLoss", "TripletMarginLoss", "L1LossExt"]

_REDUCTIONS = ("mean", "sum", "none")


def _tensors(cls, **given):
    for name, value in given.items():
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"For '{cls}', '{name}' must be a Tensor, but got {_type_name(value)}.")


def _check_is_tensor(param_name, input_data, cls_name):
    """As losses of packages ask."""
    _tensors(cls_name, **{param_name: input_data})


class LossBase(Cell):
    """Base of losses: subclasses compute a value for every element and return ``self.get_loss(values)``.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> class Abs(nn.LossBase):
        ...     def construct(self, logits, labels):
        ...         return self.get_loss(ms.ops.abs(logits - labels))
        >>> print(Abs()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        1.0
    """

    def __init__(self, reduction="mean"):
        super().__init__()
        check.one_of(self.cls_name, "reduction", reduction, _REDUCTIONS)
        self.reduction = reduction
        self.average = reduction != "sum"
        self.reduce = reduction != "none"
        # Not used here, but by losses that users write.
        self.reduce_mean, self.reduce_sum, self.mul, self.cast = ops.ReduceMean(), ops.ReduceSum(), ops.Mul(), ops.Cast()

    def get_axis(self, x):
        """All dimensions of a Tensor, as a tuple."""
        return tuple(range(x.ndim))

    def get_loss(self, x, weights=1.0):
        """The values times weights, reduced; computed in float32, in the dtype of the values."""
        dtype = x.dtype
        x = x.astype(mstype.float32)
        if isinstance(weights, Tensor):
            x = weights.astype(mstype.float32) * x
        elif weights != 1.0:
            x = x * weights
        if self.reduce:
            x = ops.mean(x) if self.average else ops.sum(x)
        return x.astype(dtype)

    def construct(self, logits, labels):
        raise NotImplementedError(f"For '{self.cls_name}', the method 'construct' is not defined.")


_Loss = LossBase  # its former name, which programs still import


class _WeightedLoss(LossBase):
    """A loss with weights of classes or elements. They are data of the loss: a Parameter among them is not trained."""

    def __init__(self, weight, reduction):
        super().__init__(reduction)
        self.__dict__["weight"] = weight

    def _float_weight(self):
        """Refuse weights that are no Tensor of a float type."""
        if self.weight is not None:
            check.instance(self.cls_name, "weight", self.weight, Tensor)
            check.float_types(self.cls_name, "weight", self.weight)


class L1Loss(LossBase):
    """Mean, or sum, of absolute differences.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.L1Loss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        1.0
    """

    def construct(self, logits, labels) -> Tensor:
        return ops.l1_loss(logits, labels, self.reduction)


class L1LossExt(L1Loss):
    """L1Loss under the name that mint uses."""


class MSELoss(LossBase):
    """Mean, or sum, of squared differences.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        2.0
    """

    def construct(self, logits, labels) -> Tensor:
        _tensors(self.cls_name, logits=logits, labels=labels)
        return self.get_loss(ops.square(logits - labels))


class RMSELoss(LossBase):
    """Square root of the mean of squared differences.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.RMSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])))
        2.0
    """

    def __init__(self):
        super().__init__()
        self.MSELoss = MSELoss()

    def construct(self, logits, label) -> Tensor:
        for name, value in (("logits", logits), ("label", label)):
            if value.dtype in (mstype.uint8, mstype.uint16, mstype.uint32, mstype.uint64):
                raise TypeError(f"For '{self.cls_name}', the dtype of '{name}' must be signed, but got {value.dtype}.")
        return ops.sqrt(self.MSELoss(logits, label))


class MAELoss(LossBase):
    """Mean, or sum, of absolute differences.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MAELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        1.0
    """

    def construct(self, logits, label) -> Tensor:
        _tensors(self.cls_name, logits=logits, label=label)
        return self.get_loss(ops.abs(logits - label))


class SmoothL1Loss(LossBase):
    """Absolute differences, rounded off to a parabola near zero.

    Args:
        beta: where the parabola ends. Default 1.0.
        reduction: 'mean', 'sum' or 'none'. Default 'none'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.SmoothL1Loss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        [0.  1.5]
    """

    def __init__(self, beta=1.0, reduction="none"):
        super().__init__(reduction)
        check.number_in(self.cls_name, "beta", beta, 0, math.inf, open_low=True)
        self.beta = beta

    def construct(self, logits, labels) -> Tensor:
        return ops.smooth_l1_loss(logits, labels, self.beta, self.reduction)


class HuberLoss(LossBase):
    """Half of squared differences up to delta, absolute differences beyond.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        delta: where the parabola ends, above 0. Default 1.0.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.HuberLoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        0.75
    """

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction)
        self.delta = delta

    def construct(self, logits, labels) -> Tensor:
        return ops.huber_loss(logits, labels, self.reduction, self.delta)


class SoftMarginLoss(LossBase):
    """log(1 + exp(-label logit)) for labels -1 and 1.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.SoftMarginLoss()(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.6931472
    """

    def construct(self, logits, labels) -> Tensor:
        return ops.soft_margin_loss(logits, labels, self.reduction)


class MarginRankingLoss(LossBase):
    """max(0, -target (input1 - input2) + margin): which of two is larger.

    Args:
        margin: Default 0.0.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MarginRankingLoss()(ms.Tensor([1.0]), ms.Tensor([3.0]), ms.Tensor([1.0])))
        2.0
    """

    def __init__(self, margin=0.0, reduction="mean"):
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1, input2, target) -> Tensor:
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy between labels and the softmax of logits, (N, C).

    Args:
        sparse: whether labels are class numbers, (N,), instead of probabilities, (N, C). Default False.
        reduction: 'mean', 'sum' or 'none'. Default 'none'.
        is_grad, smooth_factor, num_classes: of scripts from before MindSpore 1.0: the first is without effect, the others move a share
            of the probability of each class, of so many, to the rest. Default False, 0.0 and 2.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        >>> print(loss(ms.Tensor([[1.0, 1.0]]), ms.Tensor([0], ms.int32)))
        0.6931472
    """

    def __init__(self, sparse=False, reduction="none", *, is_grad=False, smooth_factor=0.0, num_classes=2):
        super().__init__(reduction)
        self.sparse = check.boolean(self.cls_name, "sparse", sparse)
        self.smooth_factor = check.number_in(self.cls_name, "smooth_factor", smooth_factor, 0, 1, (int, float))
        self.on_value = Tensor(1.0 - smooth_factor, mstype.float32)
        self.off_value = Tensor(smooth_factor / max(num_classes - 1, 1), mstype.float32)
        self._sparse_mean = ops.SparseSoftmaxCrossEntropyWithLogits()
        self._dense = ops.SoftmaxCrossEntropyWithLogits()

    def construct(self, logits, labels) -> Tensor:
        _tensors(self.cls_name, logits=logits, labels=labels)
        if self.sparse:
            if self.reduction == "mean" and not self.smooth_factor:
                return self._sparse_mean(logits, labels)
            labels = ops.one_hot(labels, logits.shape[-1], self.on_value, self.off_value)
        return self.get_loss(self._dense(logits, ops.stop_gradient(labels))[0])  # labels have no gradient, as in MindSpore


class CrossEntropyLoss(_WeightedLoss):
    """Cross entropy between labels and the softmax of logits, (N, C, ...).

    Args:
        weight: of every class, (C,). Default None, all one.
        ignore_index: label of samples that do not count. Default -100.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        label_smoothing: part of the labels that is spread over all classes, in [0, 1]. Default 0.0.

    Inputs are logits and labels: class numbers, (N, ...) of int32, or probabilities, (N, C, ...).

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.CrossEntropyLoss()(ms.Tensor([[1.0, 1.0]]), ms.Tensor([0], ms.int32)))
        0.6931472
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__(weight, reduction)
        check.instance(self.cls_name, "ignore_index", ignore_index, int)
        check.number_in(self.cls_name, "label_smoothing", label_smoothing, 0.0, 1.0, (float,))
        self._float_weight()
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def construct(self, logits, labels) -> Tensor:
        _tensors(self.cls_name, logits=logits, labels=labels)
        self._fit(logits, labels)
        return ops.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)

    def _fit(self, logits, labels):
        cls = self.cls_name
        check.float_types(cls, "logits", logits)
        shape, other = tuple(logits.shape), tuple(labels.shape)
        if len(shape) == len(other):
            if len(shape) > 1 and labels.dtype == mstype.int32:
                raise TypeError(f"For '{cls}', labels with as many dimensions as logits are probabilities, which must be float16 or float32, but got "
                                f"{labels.dtype} of shape {other}; class numbers have shape {shape[:1] + shape[2:]}.")
            check.float_types(cls, "labels", labels)
            wanted = shape
        elif len(shape) == len(other) + 1:
            if labels.dtype != mstype.int32:
                raise TypeError(f"For '{cls}', labels that are class numbers must be int32, but got {labels.dtype}.")
            wanted = shape[:1] + shape[2:] if len(shape) > 1 else other
        else:
            raise ValueError(f"For '{cls}', labels must have as many dimensions as logits (probabilities) or one less (class "
                             f"numbers), but got shapes {other} and {shape}.")
        if other != wanted:
            raise ValueError(f"For '{cls}', labels must have shape {wanted} for logits of shape {shape}, but got {other}.")


class NLLLoss(_WeightedLoss):
    """Minus the log probability of the label's class, from log probabilities (N, C, ...).

    Args:
        weight: of every class, (C,). Default None, all one.
        ignore_index: label of samples that do not count. Default -100.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.NLLLoss()(ms.Tensor([[-0.5, -1.0]]), ms.Tensor([1], ms.int32)))
        1.0
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean"):
        super().__init__(weight, reduction)
        self.ignore_index = check.instance(self.cls_name, "ignore_index", ignore_index, int)
        self._float_weight()

    def construct(self, logits, labels) -> Tensor:
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class BCELoss(_WeightedLoss):
    """Cross entropy between probabilities and labels of two classes.

    Args:
        weight: of every element. Default None, all one.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.BCELoss()(ms.Tensor([0.5]), ms.Tensor([1.0])))
        0.6931472
    """

    def __init__(self, weight=None, reduction="mean"):
        super().__init__(weight, reduction)

    def construct(self, logits, labels) -> Tensor:
        return ops.binary_cross_entropy(logits, labels, self.weight, self.reduction)


class BCEWithLogitsLoss(LossBase):
    """Cross entropy between the sigmoid of logits and labels of two classes.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        weight: of every element. Default None, all one.
        pos_weight: of positive elements. Default None, all one.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.BCEWithLogitsLoss()(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.6931472
    """

    def __init__(self, reduction="mean", weight=None, pos_weight=None):
        super().__init__(reduction)
        for name, value in (("weight", weight), ("pos_weight", pos_weight)):
            if isinstance(value, Parameter):
                raise TypeError(f"For '{self.cls_name}', '{name}' must not be a Parameter.")
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, input, target) -> Tensor:
        _tensors(self.cls_name, input=input, target=target)
        return ops.binary_cross_entropy_with_logits(input, target, self.weight, self.pos_weight, self.reduction)


class KLDivLoss(LossBase):
    """Kullback-Leibler divergence: target (log target - input), for log probabilities and target probabilities.

    Args:
        reduction: 'mean', 'batchmean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.KLDivLoss()(ms.Tensor([-1.0]), ms.Tensor([1.0])))
        1.0
    """

    def __init__(self, reduction="mean"):
        super().__init__()
        self.reduction = reduction  # ops.kl_div knows one more than the others

    def construct(self, logits, labels) -> Tensor:
        _tensors(self.cls_name, logits=logits, labels=labels)
        return ops.kl_div(logits, labels, self.reduction)


class CosineEmbeddingLoss(LossBase):
    """1 - cosine for pairs labelled 1, max(0, cosine - margin) for pairs labelled -1.

    Args:
        margin: in [-1, 1]. Default 0.0.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> x = ms.Tensor([[3.0, 4.0]])
        >>> print(nn.CosineEmbeddingLoss()(x, x, ms.Tensor([1], ms.int32)))
        0.0
    """

    def __init__(self, margin=0.0, reduction="mean"):
        super().__init__(reduction)
        self.margin = check.number_in(self.cls_name, "margin", margin, -1.0, 1.0, (float,))

    def construct(self, logits_x1, logits_x2, labels) -> Tensor:
        _tensors(self.cls_name, logits_x1=logits_x1, logits_x2=logits_x2, labels=labels)
        if logits_x1.dtype != logits_x2.dtype:
            raise TypeError(f"For '{self.cls_name}', the two inputs must have one dtype, but got {logits_x1.dtype} and "
                            f"{logits_x2.dtype}.")
        if tuple(logits_x1.shape) != tuple(logits_x2.shape):
            raise ValueError(f"For '{self.cls_name}', the two inputs must have one shape, but got {logits_x1.shape} and "
                             f"{logits_x2.shape}.")
        norms = ops.sqrt(ops.sum(logits_x1 * logits_x1, 1)) * ops.sqrt(ops.sum(logits_x2 * logits_x2, 1))
        cosine = ops.sum(logits_x1 * logits_x2, 1) / norms
        zeros = ops.zeros_like(cosine)
        alike = ops.select(labels == 1, 1.0 - cosine, zeros)
        return self.get_loss(alike + ops.select(labels == -1, ops.maximum(cosine - self.margin, 0.0), zeros))


class HingeEmbeddingLoss(LossBase):
    """The input where the label is 1, max(0, margin - input) where it is -1.

    Args:
        margin: Default 1.0.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.HingeEmbeddingLoss()(ms.Tensor([0.5, 0.25]), ms.Tensor([1.0, -1.0])))
        0.625
    """

    def __init__(self, margin=1.0, reduction="mean"):
        super().__init__(reduction)
        check.instance(self.cls_name, "margin", margin, float, int)
        self.margin = margin

    def construct(self, logits, labels) -> Tensor:
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class GaussianNLLLoss(LossBase):
    """Minus the log likelihood of labels under normal distributions with given means and variances.

    Args:
        full: whether the constant term is added. Default False.
        eps: least variance, above 0. Default 1e-6.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> one = ms.Tensor([1.0])
        >>> print(nn.GaussianNLLLoss()(one, one, one))
        0.0
    """

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__(reduction)
        check.number_in(self.cls_name, "eps", eps, 0, math.inf, (float,), open_low=True, open_high=True)
        check.boolean(self.cls_name, "full", full)
        self.full, self.eps = full, eps

    def construct(self, logits, labels, var) -> Tensor:
        _tensors(self.cls_name, logits=logits, labels=labels, var=var)
        return ops.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class PoissonNLLLoss(LossBase):
    """Minus the log likelihood of labels under Poisson distributions.

    Args:
        log_input: whether the input is the logarithm of the rate. Default True.
        full: whether Stirling's term is added for labels above 1. Default False.
        eps: keeps logarithms finite. Default 1e-8.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.PoissonNLLLoss()(ms.Tensor([0.0]), ms.Tensor([1.0])))
        1.0
    """

    def __init__(self, log_input=True, full=False, eps=1e-8, reduction="mean"):
        super().__init__(reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def construct(self, input, target) -> Tensor:
        _tensors(self.cls_name, input=input, target=target)
        target = target.astype(input.dtype)
        if self.log_input:
            loss = ops.exp(input) - target * input
        else:
            loss = input - target * ops.log(input + self.eps)
        if self.full:
            target = ops.maximum(target, self.eps)
            term = (target + 0.5) * ops.log(target) - target + 0.5 * math.log(2 * math.pi)
            loss = loss + ops.select(target > 1, term, ops.zeros_like(term))
        return self.get_loss(loss)


class TripletMarginLoss(LossBase):
    """max(0, d(x, positive) - d(x, negative) + margin), d the distance in a p-norm.

    Args:
        p: of the norm. Default 2.
        swap: whether d(positive, negative) counts when it is the smaller one. Default False.
        eps: added to differences. Default 1e-6.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        margin: Default 1.0.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> x = ms.Tensor([[1.0, 2.0]])
        >>> print(nn.TripletMarginLoss()(x, x, x).shape)
        ()
    """

    def __init__(self, p=2, swap=False, eps=1e-6, reduction="mean", margin=1.0):
        super().__init__(reduction)
        self.p, self.swap, self.eps, self.margin = p, swap, eps, margin

    def construct(self, x, positive, negative, margin=1.0) -> Tensor:
        return ops.triplet_margin_loss(x, positive, negative, margin if self.margin == 1.0 else self.margin, self.p, self.eps,
                                       self.swap, self.reduction)


def _euclidean(x, y):
    if x.ndim == 0:
        raise ValueError("For 'TripletMarginWithDistanceLoss', the inputs must have at least one dimension.")
    return ops.norm(x - y, 2, 1)


class TripletMarginWithDistanceLoss(LossBase):
    """TripletMarginLoss with any distance.

    Args:
        distance_function: of two Tensors. Default None, Euclidean along dimension 1.
        swap: whether d(positive, negative) counts when it is the smaller one. Default False.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        margin: Default 1.0.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> x = ms.Tensor([[1.0, 2.0]])
        >>> print(nn.TripletMarginWithDistanceLoss()(x, x, x + 4.0))
        0.0
    """

    def __init__(self, distance_function=None, swap=False, reduction="mean", margin=1.0):
        super().__init__(reduction)
        check.instance(self.cls_name, "margin", margin, float)
        check.boolean(self.cls_name, "swap", swap)
        self.distance_function = _euclidean if distance_function is None else distance_function
        self.swap, self.margin = swap, margin

    def construct(self, x, positive, negative) -> Tensor:
        _tensors(self.cls_name, x=x, positive=positive, negative=negative)
        near, far = self.distance_function(x, positive), self.distance_function(x, negative)
        if self.swap:
            far = ops.minimum(far, self.distance_function(positive, negative))
        return self.get_loss(ops.maximum(near - far + self.margin, 0))


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Cross entropy of the sigmoid, mean over classes: several labels may hold at once.

    Args:
        weight: of every class. Default None, all one.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MultiLabelSoftMarginLoss()(ms.Tensor([[0.0, 0.0]]), ms.Tensor([[1.0, 0.0]])))
        0.6931472
    """

    def __init__(self, weight=None, reduction="mean"):
        super().__init__(weight, reduction)

    def construct(self, x, target) -> Tensor:
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """Hinge loss over classes: mean of max(0, margin - x[label] + x[other]) ** p.

    Args:
        p: 1 or 2. Default 1.
        margin: Default 1.0.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        weight: of every class. Default None, all one.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MultiMarginLoss()(ms.Tensor([[1.0, 0.0]]), ms.Tensor([0])))
        0.0
    """

    def __init__(self, p=1, margin=1.0, reduction="mean", weight=None):
        super().__init__(weight, reduction)
        self.p = check.one_of(self.cls_name, "p", p, (1, 2))
        self.margin = check.instance(self.cls_name, "margin", margin, float)

    def construct(self, x, target, weight=None) -> Tensor:
        _tensors(self.cls_name, x=x, target=target, weight=weight)
        return ops.multi_margin_loss(x, target, self.p, self.margin, weight if self.weight is None else self.weight,
                                     self.reduction)


class MultilabelMarginLoss(LossBase):
    """Hinge loss between the classes a sample has and those it has not; labels end at the first -1.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MultilabelMarginLoss()(ms.Tensor([[2.0, 0.0]]), ms.Tensor([[0, -1]], ms.int32)))
        0.0
    """

    def construct(self, x, target) -> Tensor:
        return ops.multilabel_margin_loss(x, target, self.reduction)


def _rows(cls, targets, target_lengths):
    """Targets as (N, S); those in one row are cut by their lengths."""
    if targets.ndim == 2:
        return targets
    flat, lengths = targets.asnumpy(), target_lengths.asnumpy()
    if flat.ndim != 1 or int(lengths.sum()) != flat.size:
        raise ValueError(f"For '{cls}', targets must have shape (N, S) or as many elements as their lengths add up to, but got "
                         f"shape {targets.shape}.")
    rows = np.zeros((len(lengths), max(int(lengths.max()), 1)), np.int64)
    for row, length, end in zip(rows, lengths, np.cumsum(lengths)):
        row[:length] = flat[end - length:end]
    return Tensor(rows)


class CTCLoss(LossBase):
    """Connectionist temporal classification: minus the log probability of label sequences.

    Args:
        blank: class of the blank. Default 0.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        zero_infinity: whether infinite losses, and their gradients, become zero. Default False.

    Inputs are log probabilities, (T, N, C) or (T, C), targets, (N, S) or all in one row, and both lengths.
    """

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def construct(self, log_probs, targets, input_lengths, target_lengths) -> Tensor:
        _tensors(self.cls_name, log_probs=log_probs, targets=targets)
        single = log_probs.ndim == 2
        if single:
            if targets.ndim > 2 or (targets.ndim == 2 and targets.shape[0] != 1):
                raise ValueError(f"For '{self.cls_name}', targets must have shape (S,) or (1, S) for log_probs of 2 "
                                 f"dimensions, but got {targets.shape}.")
            targets = ops.expand_dims(targets, 0) if targets.ndim == 1 else targets
            log_probs = ops.expand_dims(log_probs, 1)
        lengths = [v if isinstance(v, Tensor) else Tensor(list(v) if isinstance(v, (tuple, list)) else [v], mstype.int64)
                   for v in (input_lengths, target_lengths)]
        lengths = [ops.reshape(v, (-1,)).astype(mstype.int64) for v in lengths]
        rows = _rows(self.cls_name, targets, lengths[1]).astype(mstype.int64)
        loss = _core.apply("ctc_terms", (log_probs, rows, *lengths),
                           {"blank": self.blank, "zero_infinity": self.zero_infinity, "normalized": True})
        if self.reduction == "mean":
            return ops.mean(loss / ops.maximum(lengths[1], 1).astype(loss.dtype))
        if self.reduction == "sum":
            return ops.sum(loss)
        return ops.squeeze(loss, 0) if single else loss


class DiceLoss(LossBase):
    """1 minus twice the overlap of two sets, divided by their sizes.

    Args:
        smooth: added to the denominator, above 0. Default 1e-5.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> x = ms.Tensor([1.0, 0.0])
        >>> print(nn.DiceLoss()(x, 1 - x))
        1.0
    """

    def __init__(self, smooth=1e-5):
        super().__init__()
        self.smooth = check.number_in(self.cls_name, "smooth", smooth, 0, math.inf, (float,), open_low=True)

    def construct(self, logits, label) -> Tensor:
        _tensors(self.cls_name, logits=logits, label=label)
        if tuple(logits.shape) != tuple(label.shape):
            raise ValueError(f"For '{self.cls_name}', logits and label must have one shape, but got {logits.shape} and "
                             f"{label.shape}.")
        for name, value in (("logits", logits), ("label", label)):
            if value.dtype == mstype.uint8:
                raise TypeError(f"For '{self.cls_name}', the dtype of '{name}' must not be uint8.")
        both = ops.sum(logits * label)
        return 1 - 2 * both / (ops.sum(logits * logits) + ops.sum(label * label) + self.smooth)


class MultiClassDiceLoss(LossBase):
    """Mean of DiceLoss over classes, (N, C, ...).

    Args:
        weights: factors of the classes, (C, ...) of two dimensions. Default None.
        ignore_indiex: a class that does not count. Default None.
        activation: run on the logits first: a Cell, or 'softmax', 'logsoftmax', 'relu', 'relu6', 'tanh' or 'sigmoid'.
            Default 'softmax'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> x = ms.Tensor([[0.0, 1.0]])
        >>> print(nn.MultiClassDiceLoss(activation="relu")(x, x).shape)
        ()
    """

    def __init__(self, weights=None, ignore_indiex=None, activation="softmax"):
        super().__init__()
        cls = self.cls_name
        self.binarydiceloss = DiceLoss(smooth=1e-5)
        if weights is not None:
            check.instance(cls, "weights", weights, Tensor)
            check.rank_of(cls, weights, 2)
        if ignore_indiex is not None:
            check.instance(cls, "ignore_indiex", ignore_indiex, int)
        if isinstance(activation, str):
            check.one_of(cls, "activation", activation, ("softmax", "logsoftmax", "relu", "relu6", "tanh", "sigmoid"))
            activation = get_activation(activation)
        if activation is not None and not isinstance(activation, Cell):
            check.fail_type(cls, "activation", activation, "a str or a Cell")
        self.weights, self.ignore_indiex, self.activation = weights, ignore_indiex, activation

    def construct(self, logits, label) -> Tensor:
        _tensors(self.cls_name, logits=logits, label=label)
        if tuple(logits.shape) != tuple(label.shape) or logits.ndim < 2:
            raise ValueError(f"For '{self.cls_name}', logits and label must have one shape of at least 2 dimensions, but got "
                             f"{logits.shape} and {label.shape}.")
        classes = label.shape[1]
        if self.weights is not None and self.weights.shape[0] != classes:
            raise ValueError(f"For '{self.cls_name}', 'weights' must have {classes} rows, but got {self.weights.shape[0]}.")
        if self.activation is not None:
            logits = self.activation(logits)
        total = 0
        for i in range(classes):
            if i != self.ignore_indiex:
                loss = self.binarydiceloss(logits[:, i], label[:, i])
                total = total + (loss if self.weights is None else loss * self.weights[i])
        return total / classes


class FocalLoss(_WeightedLoss):
    """Cross entropy with less weight on samples that are classified well.

    Args:
        weight: of every class, (C,). Default None, all one.
        gamma: how fast the weight falls. Default 2.0.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Inputs are logits, (N, C), (N, C, L) or (N, C, H, W), and labels of the same number of dimensions with 1 (class numbers)
    or C (probabilities) channels.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.FocalLoss(gamma=0.0)(ms.Tensor([[1.0, 1.0]]), ms.Tensor([[1]], ms.int32)))
        0.6931472
    """

    def __init__(self, weight=None, gamma=2.0, reduction="mean"):
        super().__init__(weight, reduction)
        self.gamma = check.instance(self.cls_name, "gamma", gamma, float)
        if weight is not None:
            check.instance(self.cls_name, "weight", weight, Tensor)
            check.rank_of(self.cls_name, weight, 1)
        self.logsoftmax = LogSoftmax(1)

    def construct(self, logits, labels) -> Tensor:
        cls = self.cls_name
        _tensors(cls, logits=logits, labels=labels)
        check.rank_of(cls, logits, 2, 3, 4)
        if labels.ndim != logits.ndim:
            raise ValueError(f"For '{cls}', labels must have as many dimensions as logits, but got {labels.shape} and "
                             f"{logits.shape}.")
        classes, channels = logits.shape[1], labels.shape[1]
        if classes == 1 or channels not in (1, classes):
            raise ValueError(f"For '{cls}', logits must have more than one channel and labels one or as many, but got shapes "
                             f"{logits.shape} and {labels.shape}.")
        if labels.dtype not in (mstype.int32, mstype.int64, mstype.float16, mstype.float32):
            raise TypeError(f"For '{cls}', the dtype of labels must be int32, int64, float16 or float32, but got "
                            f"{labels.dtype}.")
        logits = ops.reshape(logits, (logits.shape[0], classes, -1))
        labels = ops.reshape(labels, (labels.shape[0], channels, -1))
        logs = self.logsoftmax(logits)
        factors = None if self.weight is None else ops.broadcast_to(ops.reshape(self.weight, (1, -1, 1)), logs.shape)
        if channels == 1:
            at = labels.astype(mstype.int32)
            logs = ops.squeeze(ops.gather_elements(logs, 1, at), 1)
            factors = None if factors is None else ops.squeeze(ops.gather_elements(factors, 1, at), 1)
        focus = ops.pow(1.0 - ops.exp(logs), self.gamma)
        loss = -focus * (logs if factors is None else logs * factors)
        loss = ops.mean(loss, 1) if channels == 1 else ops.mean(labels * loss, -1)
        return self.get_loss(loss)


class SampledSoftmaxLoss(LossBase):
    """Softmax loss over the true classes and a random sample of the others, for very many classes.

    Args:
        num_sampled: classes to draw.
        num_classes: all classes.
        num_true: true classes of a sample. Default 1.
        sampled_values: (drawn classes, expected counts of the true ones, of the drawn ones) to use. Default None, drawn.
        remove_accidental_hits: whether true classes that are drawn are left out. Default True.
        seed: of the draw. Default 0.
        reduction: 'mean', 'sum' or 'none'. Default 'none'.

    Inputs are weights (classes, D) and biases (classes,) of the last layer, labels (N, num_true), and its inputs (N, D).

    Examples:
        >>> import spore
        >>> from spore import Tensor, nn, ops
        >>> loss = nn.SampledSoftmaxLoss(num_sampled=4, num_classes=7, num_true=1, seed=1)
        >>> weights, biases = ops.ones((7, 10)), ops.zeros((7,))
        >>> labels = Tensor([[0], [1], [2]], spore.int64)
        >>> loss(weights, biases, labels, ops.ones((3, 10))).shape
        (3,)
    """

    def __init__(self, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=True, seed=0,
                 reduction="none"):
        super().__init__(reduction)
        cls = self.cls_name
        check.int_at_least(cls, "num_true", num_true, 1)
        check.int_at_least(cls, "seed", seed, 0)
        for name, value in (("num_sampled", num_sampled), ("num_true", num_true)):
            if value > num_classes:
                check.fail_value(cls, name, value, f"not above num_classes, {num_classes}")
        if sampled_values is not None:
            check.instance(cls, "sampled_values", sampled_values, list, tuple)
            if len(sampled_values) != 3:
                check.fail_value(cls, "sampled_values", sampled_values, "three Tensors")
        self.num_sampled, self.num_classes, self.num_true, self.seed = num_sampled, num_classes, num_true, seed
        self.sampled_values, self.remove_accidental_hits = sampled_values, remove_accidental_hits

    def construct(self, weights, biases, labels, logits) -> Tensor:
        _tensors(self.cls_name, weights=weights, biases=biases, labels=labels, logits=logits)
        if labels.dtype not in (mstype.int32, mstype.int64):
            raise TypeError(f"For '{self.cls_name}', the dtype of labels must be int32 or int64, but got {labels.dtype}.")
        labels = ops.reshape(labels.astype(mstype.int32), (-1, self.num_true))
        drawn, expected_true, expected_drawn = self.sampled_values or ops.uniform_candidate_sampler(
            labels, self.num_true, self.num_sampled, True, self.num_classes, self.seed, self.remove_accidental_hits)
        drawn, flat = drawn.astype(mstype.int32), ops.reshape(labels, (-1,))
        true_w = ops.reshape(ops.gather(weights, flat, 0), (-1, self.num_true, weights.shape[1]))
        true = ops.sum(ops.expand_dims(logits, 1) * true_w, 2) + ops.reshape(ops.gather(biases, flat, 0), (-1, self.num_true))
        other = ops.dense(logits, ops.gather(weights, drawn, 0), ops.gather(biases, drawn, 0))
        scores = ops.concat((true - ops.log(expected_true), other - ops.log(expected_drawn)), 1)
        wanted = ops.concat((ops.ones_like(true) / self.num_true, ops.zeros_like(other)), 1)
        return -ops.sum(wanted * ops.log(ops.softmax(scores, 1) + 1e-20), 1)

# SPDX-License-Identifier: Apache-2.0
"""Losses."""
from spore import ops
from spore._core import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.loss.loss import BCELoss as _BCELoss
from spore.nn.loss.loss import CosineEmbeddingLoss as _CosineEmbeddingLoss
from spore.nn.loss.loss import L1LossExt as L1Loss
from spore.nn.loss.loss import SoftMarginLoss

__all__ = ["BCELoss", "BCEWithLogitsLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "KLDivLoss", "L1Loss",
           "MSELoss", "NLLLoss", "SmoothL1Loss", "SoftMarginLoss"]


class _Loss(Cell):
    def __init__(self, reduction="mean"):
        super().__init__()
        self.reduction = reduction


class MSELoss(_Loss):
    """Mean, or sum, of squared differences.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.MSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        2.0
    """

    def construct(self, input, target) -> Tensor:
        return ops.mse_loss(input, target, self.reduction)


class SmoothL1Loss(_Loss):
    """Absolute differences, rounded off to a parabola near zero.

    Args:
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        beta: where the parabola ends. Default 1.0.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.SmoothL1Loss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        0.75
    """

    def __init__(self, reduction="mean", beta=1.0):
        super().__init__(reduction)
        self.beta = beta

    def construct(self, input, target) -> Tensor:
        if self.beta == 0:
            return ops.l1_loss(input, target, self.reduction)
        return ops.smooth_l1_loss(input, target, self.beta, self.reduction)


class NLLLoss(_Loss):
    """Minus the log probability of the target's class.

    Args:
        weight: of every class. Default None, all one.
        ignore_index: target of samples that do not count. Default -100.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.NLLLoss()(ms.Tensor([[-0.5, -1.0]]), ms.Tensor([1], ms.int32)))
        1.0
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean"):
        super().__init__(reduction)
        self.__dict__["weight"] = weight
        self.ignore_index = ignore_index

    def construct(self, input, target) -> Tensor:
        return ops.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(_Loss):
    """Cross entropy between targets and the softmax of the input.

    Args:
        weight: of every class. Default None, all one.
        ignore_index: target of samples that do not count. Default -100.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        label_smoothing: part of the targets that is spread over all classes. Default 0.0.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.CrossEntropyLoss()(ms.Tensor([[1.0, 1.0]]), ms.Tensor([0])))
        0.6931472
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__(reduction)
        self.__dict__["weight"] = weight
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def construct(self, input, target) -> Tensor:
        return ops.cross_entropy(input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class BCELoss(Cell):
    """Cross entropy between probabilities and targets of two classes.

    Args:
        weight: of every element. Default None, all one.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.BCELoss()(ms.Tensor([0.5]), ms.Tensor([1.0])))
        0.6931472
    """

    def __init__(self, weight=None, reduction="mean"):
        super().__init__()
        self.bce_loss = _BCELoss(weight, reduction)

    def construct(self, input, target) -> Tensor:
        return self.bce_loss(input, target)


class BCEWithLogitsLoss(_Loss):
    """Cross entropy between the sigmoid of the input and targets of two classes.

    Args:
        weight: of every element. Default None, all one.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.
        pos_weight: of positive elements. Default None, all one.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.BCEWithLogitsLoss()(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.6931472
    """

    def __init__(self, weight=None, reduction="mean", pos_weight=None):
        super().__init__(reduction)
        self.__dict__.update(weight=weight, pos_weight=pos_weight)

    def construct(self, input, target) -> Tensor:
        return ops.binary_cross_entropy_with_logits(input, target, self.weight, self.pos_weight, self.reduction)


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of targets from log probabilities.

    Args:
        reduction: 'mean', 'batchmean', 'sum' or 'none'. Default 'mean'.
        log_target: whether targets are log probabilities too. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.KLDivLoss()(ms.Tensor([-1.0]), ms.Tensor([1.0])))
        1.0
    """

    def __init__(self, reduction="mean", log_target=False):
        super().__init__(reduction)
        check.one_of(self.cls_name, "reduction", reduction, ("mean", "batchmean", "sum", "none"))
        self.log_target = log_target

    def construct(self, input, target) -> Tensor:
        if self.log_target:
            terms = ops.exp(target) * (target - input)
        else:
            some = target > 0
            logs = ops.log(ops.select(some, target, ops.ones_like(target)))
            terms = ops.select(some, target * logs, ops.zeros_like(target)) - target * input
        if self.reduction == "none":
            return terms
        if self.reduction == "mean":
            return ops.mean(terms)
        return ops.sum(terms) / (input.shape[0] if self.reduction == "batchmean" and input.ndim else 1)


class CosineEmbeddingLoss(_CosineEmbeddingLoss):
    """1 - cosine for pairs with target 1, max(0, cosine - margin) for pairs with target -1.

    Args:
        margin: in [-1, 1]. Default 0.0.
        reduction: 'mean', 'sum' or 'none'. Default 'mean'.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> x = ms.Tensor([[3.0, 4.0]])
        >>> print(mint.nn.CosineEmbeddingLoss()(x, x, ms.Tensor([1], ms.int32)))
        0.0
    """

    def construct(self, input1, input2, target) -> Tensor:
        if input1.ndim == 1:
            return super().construct(*(ops.expand_dims(x, 0) for x in (input1, input2, target)))
        return super().construct(input1, input2, target)

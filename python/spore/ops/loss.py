# SPDX-License-Identifier: Apache-2.0
"""Losses whose arguments need Python, or that are short compositions of other operators."""
import math

from .._core import Tensor, apply
from ..common import dtype as mstype
from .array import of_rank, tensor_of
from .primitive import Primitive, prim_attr_register
from spore._core import type_name as _type_name

__all__ = ["nll_loss", "NLLLoss", "cosine_embedding_loss", "margin_ranking_loss", "triplet_margin_loss", "soft_margin_loss",
           "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "gaussian_nll_loss",
           "poisson_nll_loss", "hinge_embedding_loss", "SoftMarginLoss", "MultiMarginLoss", "MultilabelMarginLoss",
           "TripletMarginLoss", "ctc_loss", "CTCLoss", "CTCLossV2"]


def _reduce(loss, reduction, where):
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"For '{where}', reduction must be 'none', 'mean' or 'sum', but got {reduction!r}")
    return apply("reduce_" + reduction, [loss], {})


def _at_least(x, low):
    return apply("maximum", [x, low], {})


def _sum(x, axis):
    return apply("reduce_sum", [x], {"axis": (axis,)})


def _same_shape(a, b, where):
    for given in (a, b):
        if not isinstance(given, Tensor):
            raise TypeError(f"For '{where}', both inputs must be Tensors, but got {_type_name(given)}")
    if tuple(a.shape) != tuple(b.shape):
        raise ValueError(f"For '{where}', both inputs must have one shape, but got {tuple(a.shape)} and {tuple(b.shape)}")


def nll_loss(inputs, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0) -> Tensor:
    """Minus the log probability of the target class."""
    return apply("nll_loss", [inputs, target, weight],
                 {"ignore_index": ignore_index, "reduction": reduction, "label_smoothing": float(label_smoothing)})[0]


def _mint_nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return nll_loss(input, target, weight, ignore_index, reduction)


class NLLLoss(Primitive):
    """Minus the log probability of the target class, and the sum of the weights."""

    @prim_attr_register
    def __init__(self, reduction="mean", ignore_index=-100):
        if reduction not in ("none", "mean", "sum"):
            raise ValueError(f"For 'NLLLoss', reduction must be 'none', 'mean' or 'sum', but got {reduction!r}")

    def __call__(self, logits, labels, weight):
        return apply("nll_loss", [logits, labels, weight], {"reduction": self.reduction, "ignore_index": self.ignore_index})


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction="mean") -> Tensor:
    """1 - cosine where the target is 1, cosine above the margin where it is -1."""
    tensor_of(input1, "input1", "cosine_embedding_loss")
    axis = input1.ndim - 1 if input1.ndim == 1 else 1
    dot = _sum(input1 * input2, axis)
    size = (_sum(input1 * input1, axis) + 1e-12) * (_sum(input2 * input2, axis) + 1e-12)
    cosine = dot / apply("sqrt", [size], {})
    zero = cosine * 0
    loss = (apply("select", [target == 1, 1 - cosine, zero], {}) +
            apply("select", [target == -1, _at_least(cosine - margin, 0.0), zero], {}))
    return _reduce(loss, reduction, "cosine_embedding_loss")


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction="mean") -> Tensor:
    """max(0, margin - target (input1 - input2))."""
    return _reduce(_at_least(margin - target * (input1 - input2), 0.0), reduction, "margin_ranking_loss")


def _distance(a, b, p, eps):
    power = apply("pow", [apply("abs", [a - b], {}) + eps, float(p)], {})
    return apply("pow", [_sum(power, -1), 1.0 / p], {})


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, reduction="mean") -> Tensor:
    """max(0, distance to the positive - distance to the negative + margin)."""
    if isinstance(margin, Tensor):
        margin = margin.item()
    near, far = _distance(anchor, positive, p, eps), _distance(anchor, negative, p, eps)
    if swap:
        far = apply("minimum", [far, _distance(positive, negative, p, eps)], {})
    return _reduce(_at_least(near - far + margin, 0.0), reduction, "triplet_margin_loss")


def soft_margin_loss(input, target, reduction="mean") -> Tensor:
    """log(1 + exp(-target input))."""
    _same_shape(input, target, "soft_margin_loss")
    return _reduce(apply("softplus", [-target * input], {}), reduction, "soft_margin_loss")


def multi_margin_loss(input, target, p=1, margin=1, weight=None, reduction="mean") -> Tensor:
    """Mean over the other classes of max(0, margin - score of the target + score)^p."""
    tensor_of(input, "input", "multi_margin_loss")
    tensor_of(target, "target", "multi_margin_loss")
    if p not in (1, 2):
        raise ValueError(f"For 'multi_margin_loss', p must be 1 or 2, but got {p}")
    x = input.reshape((1, -1)) if input.ndim == 1 else input
    index = target.reshape((-1,))
    score = -apply("nll_terms", [x, index, None], {})[0].reshape((-1, 1))
    gap = _at_least(margin - score + x, 0.0)
    gap = gap * gap if p == 2 else gap
    # The target's own term is max(0, margin)^p, whatever the scores.
    loss = (_sum(gap, 1) - max(0.0, float(margin)) ** p) / x.shape[1]
    if weight is not None:
        loss = loss * apply("gather", [weight, index], {"axis": 0})
    return _reduce(loss.reshape(()) if input.ndim == 1 and reduction == "none" else loss, reduction, "multi_margin_loss")


def multilabel_margin_loss(input, target, reduction="mean") -> Tensor:
    """Over targets (those before the first -1) and other classes: sum of max(0, 1 - score of target + score) / classes."""
    tensor_of(input, "input", "multilabel_margin_loss")
    tensor_of(target, "target", "multilabel_margin_loss")
    x, t = (v.reshape((1, -1)) if v.ndim == 1 else v for v in (input, target))
    _same_shape(x, t, "multilabel_margin_loss")
    classes = x.shape[1]
    ended = apply("cumsum", [(t < 0).astype(mstype.float32)], {"axis": 1}) > 0
    used = 1 - ended.astype(x.dtype)
    index = _at_least(t, 0)
    hot = apply("one_hot", [index, 1.0, 0.0], {"depth": classes, "axis": -1}).astype(x.dtype) * used.reshape((-1, classes, 1))
    other = 1 - apply("reduce_max", [hot], {"axis": (1,)})
    scores = apply("gather_elements", [x, index], {"dim": 1})
    gap = _at_least(1 - scores.reshape((-1, classes, 1)) + x.reshape((-1, 1, classes)), 0.0)
    terms = gap * used.reshape((-1, classes, 1)) * other.reshape((-1, 1, classes))
    loss = apply("reduce_sum", [terms], {"axis": (1, 2)}) / classes
    return _reduce(loss.reshape(()) if input.ndim == 1 and reduction == "none" else loss, reduction, "multilabel_margin_loss")


def multilabel_soft_margin_loss(input, target, weight=None, reduction="mean") -> Tensor:
    """Mean over classes of the binary cross entropy of sigmoid(input)."""
    _same_shape(input, target, "multilabel_soft_margin_loss")
    yes, no = apply("logsigmoid", [input], {}), apply("logsigmoid", [-input], {})
    loss = -(target * yes + (1 - target) * no)
    if weight is not None:
        loss = loss * weight
    return _reduce(apply("reduce_mean", [loss], {"axis": (-1,)}), reduction, "multilabel_soft_margin_loss")


def gaussian_nll_loss(x, target, var, full=False, eps=1e-6, reduction="mean") -> Tensor:
    """Minus the log density of target under normal distributions."""
    tensor_of(x, "x", "gaussian_nll_loss")
    tensor_of(target, "target", "gaussian_nll_loss")
    if isinstance(var, Tensor):
        var = _at_least(var, eps)
        log = apply("log", [var], {})
    else:
        var = max(float(var), eps)
        log = math.log(var)
    loss = 0.5 * (log + (x - target) * (x - target) / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduce(loss, reduction, "gaussian_nll_loss")


def poisson_nll_loss(input, target, log_input=True, full=False, eps=1e-8, reduction="mean") -> Tensor:
    """Minus the log likelihood of counts under Poisson distributions."""
    tensor_of(input, "input", "poisson_nll_loss")
    tensor_of(target, "target", "poisson_nll_loss")
    if log_input:
        loss = apply("exp", [input], {}) - target * input
    else:
        loss = input - target * apply("log", [input + eps], {})
    if full:
        term = target * apply("log", [target], {}) - target + 0.5 * apply("log", [2 * math.pi * target], {})
        loss = loss + apply("select", [target > 1, term, target * 0], {})
    return _reduce(loss, reduction, "poisson_nll_loss")


def hinge_embedding_loss(inputs, targets, margin=1.0, reduction="mean") -> Tensor:
    """x where the target is 1, max(0, margin - x) where it is -1."""
    tensor_of(inputs, "inputs", "hinge_embedding_loss")
    tensor_of(targets, "targets", "hinge_embedding_loss")
    zero = inputs * 0
    loss = (apply("select", [targets != -1, inputs, zero], {}) +
            apply("select", [targets != 1, _at_least(margin - inputs, 0.0), zero], {}))
    return _reduce(loss, reduction, "hinge_embedding_loss")


class _Loss(Primitive):
    """A loss with its reduction given once."""

    @prim_attr_register
    def __init__(self, reduction="mean"):
        if reduction not in ("none", "mean", "sum"):
            raise ValueError(f"For '{self.name}', reduction must be 'none', 'mean' or 'sum', but got {reduction!r}")


class SoftMarginLoss(_Loss):
    """log(1 + exp(-label logits))."""

    def __call__(self, logits, labels) -> Tensor:
        return soft_margin_loss(logits, labels, self.reduction)


class MultilabelMarginLoss(_Loss):
    """multilabel_margin_loss, and 1 where a class is a target."""

    def __call__(self, x, target):
        ended = apply("cumsum", [(target < 0).astype(mstype.float32)], {"axis": -1}) > 0
        used = 1 - ended.astype(mstype.int32)
        hot = apply("one_hot", [_at_least(target, 0), 1.0, 0.0], {"depth": x.shape[-1], "axis": -1}).astype(mstype.int32)
        marks = apply("reduce_max", [hot * used.expand_dims(-1)], {"axis": (-2,)})
        return multilabel_margin_loss(x, target, self.reduction), marks


class MultiMarginLoss(Primitive):
    """multi_margin_loss with its constants given once."""

    @prim_attr_register
    def __init__(self, p=1, margin=1.0, reduction="mean"):
        if p not in (1, 2):
            raise ValueError(f"For 'MultiMarginLoss', p must be 1 or 2, but got {p}")

    def __call__(self, inputs, target, weight=None) -> Tensor:
        return multi_margin_loss(inputs, target, self.p, self.margin, weight, self.reduction)


class TripletMarginLoss(Primitive):
    """triplet_margin_loss with its constants given once; the margin comes with the call."""

    @prim_attr_register
    def __init__(self, p=2, swap=False, eps=1e-6, reduction="mean"):
        pass

    def __call__(self, x, positive, negative, margin) -> Tensor:
        return triplet_margin_loss(x, positive, negative, margin, self.p, self.eps, self.swap, self.reduction)


# --- connectionist temporal classification ----------------------------------------------------------------------------

def _padded(targets, lengths):
    """Labels of all samples, one after another, as [batch, longest]."""
    flat, rows, at = targets.asnumpy().tolist(), [], 0
    for n in lengths:
        rows.append(flat[at:at + n])
        at += n
    longest = max([1, *lengths])
    return Tensor([row + [0] * (longest - len(row)) for row in rows], mstype.int64)


def _lengths(value):
    return value.astype(mstype.int64) if isinstance(value, Tensor) else Tensor(list(value), mstype.int64)


def _ctc(log_probs, targets, input_lengths, target_lengths, **attrs):
    steps, labels = _lengths(input_lengths), _lengths(target_lengths)
    if targets.ndim == 1:
        targets = _padded(targets, labels.asnumpy().tolist())
    inputs = [log_probs, targets.astype(mstype.int64), steps, labels]
    return apply("ctc_terms", inputs, attrs), labels, apply("ctc_alphas", inputs, attrs)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Minus the log likelihood of label sequences under [time, batch, classes] log probabilities, and the log probabilities
    [batch, time, states] of their beginnings.

    The mean divides each sample's loss by its number of labels first.
    """
    single = log_probs.ndim == 2
    if single:
        log_probs, targets = log_probs.expand_dims(1), targets.reshape((1, -1))
        input_lengths, target_lengths = (v.reshape((1,)) if isinstance(v, Tensor) else v for v in (input_lengths, target_lengths))
    loss, labels, alphas = _ctc(log_probs, targets, input_lengths, target_lengths, blank=blank, zero_infinity=zero_infinity,
                                normalized=True)
    if reduction == "mean":
        loss = loss / _at_least(labels, 1).astype(loss.dtype)
    loss = _reduce(loss, reduction, "ctc_loss")
    return loss.reshape(()) if single and reduction == "none" else loss, alphas


class CTCLossV2(Primitive):
    """Losses per sample, and the log probabilities [batch, time, states] of beginnings."""

    @prim_attr_register
    def __init__(self, blank=0, reduction="none", zero_infinity=False):
        if reduction != "none":
            raise ValueError(f"For 'CTCLossV2', reduction must be 'none', but got {reduction!r}")

    def __call__(self, log_probs, targets, input_lengths, target_lengths):
        loss, _, alphas = _ctc(log_probs, targets, input_lengths, target_lengths, blank=self.blank,
                               zero_infinity=self.zero_infinity, normalized=True)
        return loss, alphas


class CTCLoss(Primitive):
    """Losses per sample of unnormalised scores with sparse labels; the last class is the blank. Gives losses and gradient."""

    @prim_attr_register
    def __init__(self, preprocess_collapse_repeated=False, ctc_merge_repeated=True, ignore_longer_outputs_than_inputs=False):
        pass

    def __call__(self, x, labels_indices, labels_values, sequence_length):
        batch = of_rank(x, 3, 3, "CTCLoss", "x").shape[1]
        rows = [[] for _ in range(batch)]
        for (row, _), label in zip(labels_indices.asnumpy().tolist(), labels_values.asnumpy().tolist()):
            if not (self.preprocess_collapse_repeated and rows[row] and rows[row][-1] == label):
                rows[row].append(label)
        lengths = [len(row) for row in rows]
        if not self.ignore_longer_outputs_than_inputs:
            for n, steps in enumerate(sequence_length.asnumpy().tolist()):
                if lengths[n] > steps:
                    raise RuntimeError(f"For 'CTCLoss', sample {n} has {lengths[n]} labels but {steps} steps")
        longest = max([1, *lengths])
        targets = Tensor([row + [0] * (longest - len(row)) for row in rows], mstype.int64)
        inputs = [apply("log_softmax", [x], {"axis": (-1,)}), targets, _lengths(sequence_length), _lengths(lengths)]
        attrs = {"blank": x.shape[2] - 1, "normalized": True, "merge_repeated": self.ctc_merge_repeated,
                 "zero_infinity": self.ignore_longer_outputs_than_inputs}
        return apply("ctc_terms", inputs, attrs), apply("ctc_terms_grad", inputs, attrs)


MINT = {"nn.functional.nll_loss": _mint_nll_loss, "nn.functional.cosine_embedding_loss": cosine_embedding_loss,
        "nn.functional.soft_margin_loss": soft_margin_loss}

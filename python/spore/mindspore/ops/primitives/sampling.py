# SPDX-License-Identifier: Apache-2.0
"""Random candidates, boxes chosen by their scores, and other results that are picked one by one."""
import numpy as np

from ..._core import Tensor
from ...common import dtype as mstype
from .._make import plain, primitive
from ..array import ints_of
from ..random import _integers, own_source


def _op(name):
    from ... import ops
    return getattr(ops, name)


def _add(name, call, init="", doc=None):
    globals()[name] = primitive(name, call, init, doc)


def _generator(self, seed, seed2=0, always=False):
    """numpy's generator for one call, started from a number of the primitive's own stream, or of the default one without seeds."""
    source = own_source(self, seed + 1 if always else seed, seed2)
    return np.random.RandomState(_integers(0, 2 ** 31 - 1, (1,), mstype.int64, **source).item())


# --- candidates ------------------------------------------------------------------------------------------------------

def _candidates(self, true_classes, draw, chance, barred=()):
    """(candidates, expected counts of the true classes, expected counts of the candidates)"""
    true = true_classes.asnumpy()
    if true.ndim != 2 or true.shape[1] != self.num_true:
        raise ValueError(f"For '{self.name}', true_classes must have the shape (batch, {self.num_true}), but its shape is {true.shape}")
    for name in ("num_sampled", "range_max"):
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"For '{self.name}', '{name}' must be a positive int, but got {value!r}")
    free = self.range_max - len(set(barred))
    if free < 1 or (self.unique and self.num_sampled > free):
        raise ValueError(f"For '{self.name}', {self.num_sampled} candidates cannot be drawn from {free} classes")
    found, tries = [], 0
    taken = set(barred)
    while len(found) < self.num_sampled:
        pick = int(draw())
        tries += 1
        if pick in taken or (self.unique and pick in found):
            continue
        found.append(pick)

    def expected(classes):
        share = chance(classes)
        return (-np.expm1(tries * np.log1p(-share)) if self.unique else share * self.num_sampled).astype(np.float32)
    found = np.array(found)
    return (Tensor(found.astype(true.dtype)), Tensor(expected(true)), Tensor(expected(found)))


def _uniform_candidates(self, true_classes):
    """Random classes, all equally likely."""
    generator, n = _generator(self, self.seed), self.range_max
    barred = true_classes.asnumpy().ravel().tolist() if self.remove_accidental_hits else ()
    return _candidates(self, true_classes, lambda: generator.randint(0, n), lambda c: np.full(np.shape(c), 1.0 / n), barred)


def _log_candidates(self, true_classes):
    """Random classes, small numbers likelier: by the logarithm of (class + 2) / (class + 1)."""
    generator, n = _generator(self, self.seed, always=True), self.range_max
    scale = np.log(n + 1)
    return _candidates(self, true_classes, lambda: min(int(np.exp(generator.rand() * scale)) - 1, n - 1),
                       lambda c: np.log((np.asarray(c) + 2.0) / (np.asarray(c) + 1.0)) / scale)


def _map_uniform(input, per_group_size, group_num):
    """Numbers dealt out to groups in turn: where each stands when the groups follow one another."""
    found = (input % group_num) * per_group_size + input // group_num
    if found.size and int(found.max()) >= per_group_size * group_num:
        raise RuntimeError(f"MapUniform: {group_num} groups of {per_group_size} take numbers below {per_group_size * group_num}, but "
                           f"got {int(input.max())}")
    return found


MapUniform = plain("MapUniform", _map_uniform)
UniformCandidateSampler = primitive("UniformCandidateSampler", _uniform_candidates, "num_true, num_sampled, unique, range_max, seed=0, remove_accidental_hits=False")
LogUniformCandidateSampler = primitive("LogUniformCandidateSampler", _log_candidates, "num_true=1, num_sampled=5, unique=True, range_max=5, seed=0")


def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=0, remove_accidental_hits=False):
    """See UniformCandidateSampler."""
    return UniformCandidateSampler(num_true, num_sampled, unique, range_max, seed, remove_accidental_hits)(true_classes)


def log_uniform_candidate_sampler(true_classes, num_true=1, num_sampled=5, unique=True, range_max=5, seed=0):
    """See LogUniformCandidateSampler."""
    return LogUniformCandidateSampler(num_true, num_sampled, unique, range_max, seed)(true_classes)


def _hits(self, true_classes, sampled_candidates):
    """Where a candidate is a true class: row, number of the candidate, and a weight that rules it out."""
    true, sampled = true_classes.asnumpy(), sampled_candidates.asnumpy().tolist()
    rows, places = [], []
    for b, classes in enumerate(true):
        for k, candidate in enumerate(sampled):
            if candidate in classes:
                rows.append(b)
                places.append(k)
    low = np.full(len(rows), -np.finfo(np.float32).max, np.float32)
    return Tensor(np.array(rows, np.int32)), Tensor(np.array(places).astype(true.dtype)), Tensor(low)


_add("ComputeAccidentalHits", _hits, "num_true=1")


def _between(generator, mean, deviation, low, high, n):
    """n normal numbers between two bounds: drawn again where they lie outside; what is still outside then, by the inverse of the
    distribution on a fine grid (the bounds are far from the mean)."""
    found, outside = np.empty(n), np.ones(n, bool)
    for _ in range(100):
        found[outside] = mean + deviation * generator.standard_normal(int(outside.sum()))
        outside = (found < low) | (found > high)
        if not outside.any():
            return found
    ends = np.clip([low, high], mean - 1e3 * deviation, mean + 1e3 * deviation)
    grid = np.linspace(*ends, 4097)
    weight = -0.5 * ((grid - mean) / deviation) ** 2
    share = np.cumsum(np.exp(weight - weight.max()))
    found[outside] = np.clip(np.interp(generator.rand(int(outside.sum())) * share[-1], share, grid), low, high)
    return found


def _parameterized(self, shape, mean, stdevs, min, max):
    """Normal random numbers between bounds; each row of the shape has parameters of its own."""
    shape = ints_of(shape, "shape")
    generator = _generator(self, self.seed, self.seed2)
    rows = shape[0]
    out = np.empty((rows, int(np.prod(shape[1:]))), np.float64)
    parts = [np.broadcast_to(t.asnumpy().astype(np.float64).ravel(), (rows,)) for t in (mean, stdevs, min, max)]
    for k, (m, s, low, high) in enumerate(zip(*parts)):
        if low > high:
            low, high = high, low
        if not (np.isfinite(m) and s > 0 and low < high):
            raise ValueError(f"For 'ParameterizedTruncatedNormal', stdevs must be positive and min below max, but row {k} has {s}, {low}, {high}")
        out[k] = _between(generator, m, s, low, high, out.shape[1])
    return Tensor(out.reshape(shape)).astype(mean.dtype)


_add("ParameterizedTruncatedNormal", _parameterized, "seed=0, seed2=0")


# --- boxes -----------------------------------------------------------------------------------------------------------

def _overlap(boxes, k, others):
    """Area in common over area of both, of box k (corners in any order) with others."""
    y1, x1 = np.minimum(boxes[:, 0], boxes[:, 2]), np.minimum(boxes[:, 1], boxes[:, 3])
    y2, x2 = np.maximum(boxes[:, 0], boxes[:, 2]), np.maximum(boxes[:, 1], boxes[:, 3])
    area = (y2 - y1) * (x2 - x1)
    height = np.maximum(0, np.minimum(y2[k], y2[others]) - np.maximum(y1[k], y1[others]))
    width = np.maximum(0, np.minimum(x2[k], x2[others]) - np.maximum(x1[k], x1[others]))
    common = height * width
    both = area[k] + area[others] - common
    return np.where((area[k] > 0) & (area[others] > 0), common / np.where(both == 0, 1, both), 0.0)


def _suppressed(scores, limit, threshold, score_threshold, overlap):
    """Numbers of boxes from the highest score down, without those that overlap one before."""
    order = [int(k) for k in np.argsort(-scores, kind="stable") if scores[k] > score_threshold]
    kept = []
    for k in order:
        if len(kept) == limit:
            break
        if not kept or not (overlap(k, np.array(kept)) > threshold).any():
            kept.append(k)
    return kept


def _number(value):
    return value.item() if isinstance(value, Tensor) else value


def _nms(boxes, scores, max_output_size, iou_threshold, score_threshold):
    """Boxes from the highest score down, without those that overlap one before."""
    corners = boxes.asnumpy().astype(np.float32)
    kept = _suppressed(scores.asnumpy().astype(np.float32), _number(max_output_size), np.float32(_number(iou_threshold)),
                       _number(score_threshold), lambda k, others: _overlap(corners, k, others))
    return Tensor(np.array(kept, np.int32))


def _nms_overlaps(overlaps, scores, max_output_size, overlap_threshold, score_threshold):
    """As NonMaxSuppressionV3, by a table of overlaps."""
    table = overlaps.asnumpy()
    kept = _suppressed(scores.asnumpy(), _number(max_output_size), _number(overlap_threshold), _number(score_threshold),
                       lambda k, others: table[k, others])
    return Tensor(np.array(kept, np.int32))


NonMaxSuppressionV3 = plain("NonMaxSuppressionV3", _nms)
NonMaxSuppressionWithOverlaps = plain("NonMaxSuppressionWithOverlaps", _nms_overlaps)


def _combined(self, boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold):
    """The best boxes of all classes: boxes, scores, classes, and how many of them count."""
    corners, values = boxes.asnumpy().astype(np.float32), scores.asnumpy().astype(np.float32)
    each, total = int(_number(max_output_size_per_class)), int(_number(max_total_size))
    classes = values.shape[2]
    size = min(total, each * classes) if self.pad_per_class else total
    out_boxes, out_scores = np.zeros((len(values), size, 4), np.float32), np.zeros((len(values), size), np.float32)
    out_classes, counts = np.zeros((len(values), size), np.float32), np.zeros(len(values), np.int32)
    for b in range(len(values)):
        picked = []
        for c in range(classes):
            own = corners[b, :, min(c, corners.shape[2] - 1)]
            for k in _suppressed(values[b, :, c], each, np.float32(_number(iou_threshold)), _number(score_threshold),
                                 lambda k, others, own=own: _overlap(own, k, others)):
                picked.append((values[b, k, c], c, own[k]))
        picked.sort(key=lambda row: -row[0])
        for n, (score, c, box) in enumerate(picked[:size]):
            out_boxes[b, n] = np.clip(box, 0, 1) if self.clip_boxes else box
            out_scores[b, n], out_classes[b, n] = score, c
        counts[b] = min(len(picked), size)
    return tuple(Tensor(a) for a in (out_boxes, out_scores, out_classes, counts))


_add("CombinedNonMaxSuppression", _combined, "pad_per_class=False, clip_boxes=True")


def _distorted(self, image_size, bounding_boxes, min_object_covered):
    """A random part of an image that covers enough of a box: begin, size, and its box with sides between 0 and 1."""
    height, width, channels = ints_of(image_size, "image_size")
    boxes = bounding_boxes.asnumpy().reshape(-1, 4)
    if not len(boxes):
        if not self.use_image_if_no_bounding_boxes:
            raise ValueError("For 'SampleDistortedBoundingBoxV2', there is no bounding box, and use_image_if_no_bounding_boxes is False")
        boxes = np.array([[0.0, 0.0, 1.0, 1.0]])
    generator, wanted = _generator(self, self.seed, self.seed2), float(_number(min_object_covered))
    top, left, high, wide = 0, 0, height, width
    for _ in range(self.max_attempts):
        ratio = generator.uniform(*self.aspect_ratio_range)
        area = generator.uniform(*self.area_range) * height * width
        h, w = int(round(np.sqrt(area / ratio))), int(round(np.sqrt(area * ratio)))
        if not (0 < h <= height and 0 < w <= width):
            continue
        y, x = generator.randint(0, height - h + 1), generator.randint(0, width - w + 1)
        for y1, x1, y2, x2 in boxes * [height, width, height, width]:
            common = max(0, min(y2, y + h) - max(y1, y)) * max(0, min(x2, x + w) - max(x1, x))
            if common >= wanted * (y2 - y1) * (x2 - x1):
                top, left, high, wide = y, x, h, w
                break
        else:
            continue
        break
    begin, size = np.array([top, left, 0]), np.array([high, wide, -1])
    box = np.array([[[top / height, left / width, (top + high) / height, (left + wide) / width]]], np.float32)
    kind = image_size.asnumpy().dtype if isinstance(image_size, Tensor) else np.int64
    return Tensor(begin.astype(kind)), Tensor(size.astype(kind)), Tensor(box)


_add("SampleDistortedBoundingBoxV2", _distorted, "seed=0, seed2=0, aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 1.0), "
     "max_attempts=100, use_image_if_no_bounding_boxes=False")


# --- a loss over two sequences ---------------------------------------------------------------------------------------

def _rnnt(self, acts, labels, input_length, label_length):
    """Minus the log probability of the labels under a recurrent transducer, and its gradient by acts (batch, time, labels + 1, classes)."""
    logits, blank = acts.asnumpy().astype(np.float64), self.blank_label
    words, times, sizes = labels.asnumpy(), input_length.asnumpy(), label_length.asnumpy()
    shifted = logits - logits.max(-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    costs, grads = np.zeros(len(logits), np.float32), np.zeros(logits.shape, np.float32)
    for b in range(len(logits)):
        T, U, p = int(times[b]), int(sizes[b]) + 1, log_p[b]
        alpha, beta = np.full((T, U), -np.inf), np.full((T, U), -np.inf)
        alpha[0, 0], beta[T - 1, U - 1] = 0.0, p[T - 1, U - 1, blank]
        for t in range(T):
            for u in range(U):
                if t:
                    alpha[t, u] = np.logaddexp(alpha[t, u], alpha[t - 1, u] + p[t - 1, u, blank])
                if u:
                    alpha[t, u] = np.logaddexp(alpha[t, u], alpha[t, u - 1] + p[t, u - 1, words[b, u - 1]])
        for t in reversed(range(T)):
            for u in reversed(range(U)):
                if t < T - 1:
                    beta[t, u] = np.logaddexp(beta[t, u], beta[t + 1, u] + p[t, u, blank])
                if u < U - 1:
                    beta[t, u] = np.logaddexp(beta[t, u], beta[t, u + 1] + p[t, u, words[b, u]])
        total = beta[0, 0]
        costs[b] = -total
        for t in range(T):
            for u in range(U):
                grad = np.exp(alpha[t, u] + beta[t, u] - total + p[t, u])
                if t < T - 1:
                    grad[blank] -= np.exp(alpha[t, u] + p[t, u, blank] - total + beta[t + 1, u])
                elif u == U - 1:
                    grad[blank] -= np.exp(alpha[t, u] + p[t, u, blank] - total)
                if u < U - 1:
                    grad[words[b, u]] -= np.exp(alpha[t, u] + p[t, u, words[b, u]] - total + beta[t, u + 1])
                grads[b, t, u] = grad
    return Tensor(costs), Tensor(grads)


_add("RNNTLoss", _rnnt, "blank_label=0")


# --- numbers ---------------------------------------------------------------------------------------------------------

def _bitpack(x, threshold):
    """Eight comparisons with a threshold in a byte, the first in its highest bit."""
    return Tensor(np.packbits(x.asnumpy() > threshold.asnumpy(), axis=-1))


def _matrix_log(x):
    """The logarithm of matrices."""
    found = []
    a = x.asnumpy()
    for matrix in a.reshape((-1,) + a.shape[-2:]).astype(np.complex128):
        values, vectors = np.linalg.eig(matrix)
        found.append(vectors @ np.diag(np.log(values)) @ np.linalg.inv(vectors))
    return Tensor(np.array(found).reshape(a.shape).astype(a.dtype))


def _least_squares(self, matrix, rhs, l2_regularizer):
    """x with the least (matrix x - rhs)^2 + l2 x^2."""
    adjoint = _op("swapaxes")(matrix, -1, -2)
    adjoint = _op("conj")(adjoint) if matrix.is_complex() else adjoint
    if not self.fast:
        a, b = matrix.asnumpy(), rhs.asnumpy()
        lead = a.shape[:-2]
        found = [np.linalg.lstsq(m, r, rcond=None)[0] for m, r in zip(a.reshape((-1,) + a.shape[-2:]), b.reshape((-1,) + b.shape[-2:]))]
        return Tensor(np.array(found).reshape(lead + found[0].shape).astype(a.dtype))
    l2 = float(_number(l2_regularizer))
    gram = _op("matmul")(adjoint, matrix)
    gram = gram + l2 * _op("eye")(gram.shape[-1], gram.shape[-1], mstype.float64).astype(gram.dtype)
    return _op("matrix_solve")(gram, _op("matmul")(adjoint, rhs))


CompareAndBitpack = plain("CompareAndBitpack", _bitpack)
MatrixLogarithm = plain("MatrixLogarithm", _matrix_log)
_add("MatrixSolveLs", _least_squares, "fast=True")


def _betainc(a, b, x):
    """The regularised incomplete beta function, by Lentz's continued fraction; differentiable by x."""
    a, b, x = _spread(a, b, x)
    swap = x > (a + 1) / (a + b + 2)
    p, q = _op("select")(swap, b, a), _op("select")(swap, a, b)
    z = _op("select")(swap, 1 - x, x)
    tiny = 1e-300
    d = 1 - (p + q) * z / (p + 1)
    d = 1 / _op("select")(_op("abs")(d) < tiny, _op("ones_like")(d) * tiny, d)
    c, h = _op("ones_like")(z), d
    for m in range(1, 200):
        for factor in (m * (q - m) * z / ((p + 2 * m - 1) * (p + 2 * m)), -(p + m) * (p + q + m) * z / ((p + 2 * m) * (p + 2 * m + 1))):
            d = 1 + factor * d
            d = 1 / _op("select")(_op("abs")(d) < tiny, _op("ones_like")(d) * tiny, d)
            c = 1 + factor / c
            c = _op("select")(_op("abs")(c) < tiny, _op("ones_like")(c) * tiny, c)
            h = h * d * c
    front = _op("exp")(_op("lgamma")(p + q) - _op("lgamma")(p) - _op("lgamma")(q) + p * _op("log")(z) + q * _op("log1p")(-z)) / p
    value = front * h
    value = _op("select")(swap, 1 - value, value)
    ends = _op("select")(x <= 0, _op("zeros_like")(value), _op("ones_like")(value))
    return _op("select")(_op("logical_or")(x <= 0, x >= 1), ends, value)


def _spread(*tensors):
    shape = np.broadcast_shapes(*(t.shape for t in tensors))
    return tuple(t.astype(mstype.float64).broadcast_to(shape) for t in tensors)


def betainc(a, b, x):
    """The regularised incomplete beta function.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.betainc(Tensor([1.0]), Tensor([2.0]), Tensor([0.5])))
        [0.75]
    """
    return _betainc(a, b, x).astype(x.dtype)


Betainc = plain("Betainc", betainc)

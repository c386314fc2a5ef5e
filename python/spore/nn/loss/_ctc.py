# SPDX-License-Identifier: Apache-2.0
"""Connectionist temporal classification, composed of operators: its gradient comes for nothing."""
import math

import numpy as np

from spore import ops
from spore.common import dtype as mstype
from spore.common.tensor import Tensor
from spore.nn.layer import _check as check

_IMPOSSIBLE = -1e30  # the logarithm of zero, without the NaN that infinities make in differences


def _log_sum(*logs):
    """log of the sum of exponentials of Tensors of one shape."""
    stacked = ops.stack(logs, 0)
    top = ops.stop_gradient(ops.amax(stacked, 0))
    return top + ops.log(ops.sum(ops.exp(stacked - top), 0))


def _rows(cls, targets, target_lengths, batch):
    """Targets as (N, S); those in one row are cut by their lengths."""
    if targets.ndim == 2:
        return targets.astype(mstype.int32)
    flat, lengths = targets.asnumpy(), target_lengths.asnumpy()
    if flat.ndim != 1 or int(lengths.sum()) != flat.size:
        raise ValueError(f"For '{cls}', targets must have shape (N, S) or as many elements as their lengths add up to, but got "
                         f"shape {targets.shape}.")
    rows = np.zeros((batch, max(int(lengths.max()), 1)), np.int32)
    at = 0
    for row, length in zip(rows, lengths):
        row[:length] = flat[at:at + length]
        at += length
    return Tensor(rows)


def ctc(cls, log_probs, targets, input_lengths, target_lengths, blank):
    """Minus the log probability of every target: a walk over the labels with blanks between them, step by step."""
    steps, batch, classes = log_probs.shape
    check.number_in(cls, "blank", blank, 0, classes, (int,), open_high=True)
    rows = _rows(cls, targets, target_lengths, batch)
    n = 2 * rows.shape[1] + 1
    labels = ops.full((batch, rows.shape[1], 2), blank, dtype=mstype.int32)
    labels = ops.concat((labels[:, :, :1], ops.expand_dims(rows, 2)), 2)
    labels = ops.concat((ops.reshape(labels, (batch, n - 1)), ops.full((batch, 1), blank, dtype=mstype.int32)), 1)
    scores = ops.gather_elements(log_probs, 2, ops.broadcast_to(ops.expand_dims(labels, 0), (steps, batch, n)))
    never = ops.full((batch, n), _IMPOSSIBLE, dtype=log_probs.dtype)
    # A label may follow the one before the blank, unless both are the same.
    before = ops.concat((ops.full((batch, min(2, n)), blank, dtype=mstype.int32), labels[:, :-2]), 1)[:, :n]
    skips = ops.logical_and(labels != blank, labels != before)
    place = ops.reshape(ops.arange(n), (1, n))
    walk = ops.select(ops.broadcast_to(place < 2, (batch, n)), scores[0], never)
    for t in range(1, steps):
        one = ops.concat((never[:, :1], walk[:, :-1]), 1)
        two = ops.concat((never[:, :2], walk[:, :-2]), 1)[:, :n]
        moved = scores[t] + _log_sum(walk, one, ops.select(skips, two, never))
        walk = ops.select(ops.broadcast_to(ops.reshape(input_lengths > t, (-1, 1)), (batch, n)), moved, walk)
    last = ops.reshape(2 * target_lengths, (-1, 1))
    ends = ops.logical_or(place == last, place == last - 1)
    final = ops.select(ends, walk, never)
    top = ops.stop_gradient(ops.amax(final, 1, True))
    total = ops.squeeze(top, 1) + ops.log(ops.sum(ops.exp(final - top), 1))
    # MindSpore's gradient is that of log probabilities which a softmax has normalised: it has the probabilities in it.
    runs = ops.reshape(ops.arange(steps), (-1, 1)) < ops.reshape(input_lengths, (1, -1))
    mass = ops.sum(ops.sum(ops.exp(log_probs), 2) * runs.astype(log_probs.dtype), 0)
    total = total - (mass - ops.stop_gradient(mass))
    return ops.select(total < _IMPOSSIBLE / 2, ops.full_like(total, math.inf), -total)

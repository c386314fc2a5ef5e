# SPDX-License-Identifier: Apache-2.0
"""Metrics of language and of vectors: perplexity, BLEU, similarity."""
import math
from collections import Counter

import numpy as np

from spore._core import type_name as _type_name
from spore.train.metrics.metric import Metric, rearrange_inputs

__all__ = ['Perplexity', 'BleuScore', 'CosineSimilarity']


class Perplexity(Metric):
    """The exponential of the mean negative logarithm of the probability given to what came.

    Args:
        ignore_label: a label that does not count.
    """

    def __init__(self, ignore_label=None):
        super().__init__()
        if ignore_label is not None and (isinstance(ignore_label, bool) or not isinstance(ignore_label, int)):
            raise TypeError(f"For 'Perplexity', 'ignore_label' must be an int, but got {_type_name(ignore_label)}.")
        self.ignore_label = ignore_label
        self.clear()

    def clear(self):
        self._sum_metric = 0.0
        self._num_inst = 0

    @rearrange_inputs
    def update(self, *inputs):
        y_pred, label = self._pair(inputs, 'probabilities and labels')
        if label.size * y_pred.shape[-1] != y_pred.size:
            raise RuntimeError(f"For 'Perplexity.update', there must be one label for each row of probabilities, but "
                               "the shapes are "
                               f"{y_pred.shape} and {label.shape}.")
        label = label.reshape(-1).astype(int)
        given = y_pred.reshape(label.size, -1)[np.arange(label.size), label]
        if self.ignore_label is not None:
            given = given[label != self.ignore_label]
        self._sum_metric -= np.log(np.maximum(1e-10, given)).sum()
        self._num_inst += given.size

    def eval(self):
        self._need(self._num_inst)
        return math.exp(self._sum_metric / self._num_inst)


class BleuScore(Metric):
    """BLEU: how many of the word sequences of a translation stand in its references.

    Args:
        n_gram: length of the sequences, 1 to 4.
        smooth: whether to add one to all counts.
    """

    def __init__(self, n_gram=4, smooth=False):
        super().__init__()
        if isinstance(n_gram, bool) or not isinstance(n_gram, int):
            raise TypeError(f"For 'BleuScore', 'n_gram' must be an int, but got {_type_name(n_gram)}.")
        if not 1 <= n_gram <= 4:
            raise ValueError(f"For 'BleuScore', 'n_gram' must be in 1 to 4, but got {n_gram}.")
        if not isinstance(smooth, bool):
            raise TypeError(f"For 'BleuScore', 'smooth' must be a bool, but got {_type_name(smooth)}.")
        self.n_gram, self.smooth = n_gram, smooth
        self.clear()

    def clear(self):
        self._found, self._all = np.zeros(self.n_gram), np.zeros(self.n_gram)
        self._length = self._reference_length = 0
        self._is_update = False

    def _count(self, words):
        return Counter(tuple(words[i:i + n]) for n in range(1, self.n_gram + 1) for i in range(len(words) - n + 1))

    @rearrange_inputs
    def update(self, *inputs):
        if len(inputs) != 2:
            raise ValueError(f"For 'BleuScore.update', two inputs are wanted, translations and references, but got "
                             f"{len(inputs)}.")
        if len(inputs[0]) != len(inputs[1]):
            raise ValueError(f"For 'BleuScore.update', each translation needs references, but there are "
                             f"{len(inputs[0])} and "
                             f"{len(inputs[1])}.")
        for words, references in zip(*inputs):
            self._length += len(words)
            self._reference_length += min((len(r) for r in references), key=lambda n: abs(len(words) - n))
            counts, possible = self._count(words), Counter()
            for reference in references:
                possible |= self._count(reference)
            for gram, n in (counts & possible).items():
                self._found[len(gram) - 1] += n
            for gram, n in counts.items():
                self._all[len(gram) - 1] += n
        self._is_update = True

    def eval(self):
        self._need(self._is_update)
        if self._found.min() == 0.0:
            return np.array(0.0)
        more = 1 if self.smooth else 0
        score = np.exp(np.log((self._found + more) / (self._all + more)).mean())
        if self._length <= self._reference_length:
            score = score * np.exp(1 - self._reference_length / self._length)
        return score


class CosineSimilarity(Metric):
    """How much each row of a matrix points the way of each other row.

    Args:
        similarity: "cosine" or "dot".
        reduction: "none", "sum" or "mean" over the rows.
        zero_diagonal: whether a row's likeness to itself is set to 0.
    """

    def __init__(self, similarity='cosine', reduction='none', zero_diagonal=True):
        super().__init__()
        for name, value, known in (('similarity', similarity, ('dot', 'cosine')),
                                   ('reduction', reduction, ('none', 'sum', 'mean'))):
            if not isinstance(value, str):
                raise TypeError(f"For 'CosineSimilarity', the type of '{name}' should be 'str', but got type '{_type_name(value)}'.")
            if value not in known:
                raise ValueError(f"For 'CosineSimilarity', '{name}' must be one of {list(known)}, but got {value!r}.")
        if not isinstance(zero_diagonal, bool):
            raise TypeError(f"For 'CosineSimilarity', 'zero_diagonal' must be a bool, but got "
                            f"{_type_name(zero_diagonal)}.")
        self.similarity, self.reduction, self.zero_diagonal = similarity, reduction, zero_diagonal
        self.clear()

    def clear(self):
        self.sqr_mtx_res = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, inputs):
        rows = self._convert_data(inputs)
        if self.similarity == 'cosine':
            rows = rows / np.linalg.norm(rows, axis=1)[:, None]
        self.sqr_mtx_res = rows @ rows.T
        self._is_update = True

    def eval(self):
        self._need(self._is_update)
        result = self.sqr_mtx_res.copy()
        if self.zero_diagonal:
            np.fill_diagonal(result, 0)
        return {'none': lambda m: m, 'mean': lambda m: m.mean(axis=-1),
                'sum': lambda m: m.sum(axis=-1)}[self.reduction](result)

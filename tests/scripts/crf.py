# SPDX-License-Identifier: Apache-2.0
"""Named entities: bidirectional LSTM with a conditional random field; forward algorithm and Viterbi decoding in loops."""
import numpy as np

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Parameter, Tensor
from mindspore.common.initializer import Uniform, initializer


def sequence_mask(seq_length, max_length, batch_first=False):
    range_vector = ops.arange(0, max_length, 1, dtype=seq_length.dtype)
    result = range_vector < seq_length.view(seq_length.shape + (1,))
    if batch_first:
        return result.astype(ms.int64)
    return result.astype(ms.int64).swapaxes(0, 1)


def compute_score(emissions, tags, seq_ends, mask, trans, start_trans, end_trans):
    seq_length, batch_size = tags.shape
    mask = mask.astype(emissions.dtype)
    score = start_trans[tags[0]]
    score += emissions[0, ops.arange(batch_size), tags[0]]
    for i in range(1, seq_length):
        score += trans[tags[i - 1], tags[i]] * mask[i]
        score += emissions[i, ops.arange(batch_size), tags[i]] * mask[i]
    last_tags = tags[seq_ends, ops.arange(batch_size)]
    score += end_trans[last_tags]
    return score


def compute_normalizer(emissions, mask, trans, start_trans, end_trans):
    seq_length = emissions.shape[0]
    score = start_trans + emissions[0]
    for i in range(1, seq_length):
        broadcast_score = score.expand_dims(2)
        broadcast_emissions = emissions[i].expand_dims(1)
        next_score = ops.logsumexp(broadcast_score + trans + broadcast_emissions, 1)
        score = ops.where(mask[i].astype(ms.bool_).expand_dims(1), next_score, score)
    score += end_trans
    return ops.logsumexp(score, 1)


def viterbi_decode(emissions, mask, trans, start_trans, end_trans):
    seq_length = mask.shape[0]
    score = start_trans + emissions[0]
    history = ()
    for i in range(1, seq_length):
        next_score = score.expand_dims(2) + trans + emissions[i].expand_dims(1)
        indices = next_score.argmax(axis=1)
        history += (indices,)
        next_score = next_score.max(axis=1)
        score = ops.where(mask[i].astype(ms.bool_).expand_dims(1), next_score, score)
    score += end_trans
    return score, history


def post_decode(score, history, seq_length):
    batch_size = seq_length.shape[0]
    seq_ends = seq_length - 1
    best_tags_list = []
    for idx in range(batch_size):
        best_last_tag = score[idx].argmax(axis=0)
        best_tags = [int(best_last_tag.asnumpy())]
        for hist in reversed(history[:int(seq_ends[idx].asnumpy())]):
            best_last_tag = hist[idx][best_tags[-1]]
            best_tags.append(int(best_last_tag.asnumpy()))
        best_tags.reverse()
        best_tags_list.append(best_tags)
    return best_tags_list


class CRF(nn.Cell):
    def __init__(self, num_tags: int, batch_first: bool = False, reduction: str = 'sum') -> None:
        if num_tags <= 0:
            raise ValueError(f'invalid number of tags: {num_tags}')
        super().__init__()
        self.num_tags, self.batch_first, self.reduction = num_tags, batch_first, reduction
        self.start_transitions = Parameter(initializer(Uniform(0.1), (num_tags,)), name='start_transitions')
        self.end_transitions = Parameter(initializer(Uniform(0.1), (num_tags,)), name='end_transitions')
        self.transitions = Parameter(initializer(Uniform(0.1), (num_tags, num_tags)), name='transitions')

    def construct(self, emissions, tags=None, seq_length=None):
        if tags is None:
            return self._decode(emissions, seq_length)
        return self._forward(emissions, tags, seq_length)

    def _forward(self, emissions, tags, seq_length):
        emissions, tags = emissions.swapaxes(0, 1), tags.swapaxes(0, 1)
        mask = sequence_mask(seq_length, tags.shape[0])
        numerator = compute_score(emissions, tags, seq_length - 1, mask, self.transitions, self.start_transitions, self.end_transitions)
        denominator = compute_normalizer(emissions, mask, self.transitions, self.start_transitions, self.end_transitions)
        llh = denominator - numerator
        return {'none': llh, 'sum': llh.sum(), 'mean': llh.mean()}[self.reduction]

    def _decode(self, emissions, seq_length):
        emissions = emissions.swapaxes(0, 1)
        mask = sequence_mask(seq_length, emissions.shape[0])
        return viterbi_decode(emissions, mask, self.transitions, self.start_transitions, self.end_transitions)


class BiLSTM_CRF(nn.Cell):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, num_tags, padding_idx=0):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=padding_idx)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, bidirectional=True, batch_first=True)
        self.hidden2tag = nn.Dense(hidden_dim, num_tags, 'he_uniform')
        self.crf = CRF(num_tags, batch_first=True, reduction='mean')

    def construct(self, inputs, seq_length, tags=None):
        embeds = self.embedding(inputs)
        outputs, _ = self.lstm(embeds, seq_length=seq_length)
        return self.crf(self.hidden2tag(outputs), tags, seq_length)


training_data = [("anna lives in rome now".split(), "B O O B O".split()), ("in rome bob met anna".split(), "O B B O B".split()),
                 ("bob lives".split(), "B O".split())]
word_to_idx = {'<pad>': 0}
for sentence, _ in training_data:
    for word in sentence:
        word_to_idx.setdefault(word, len(word_to_idx))
tag_to_idx = {"B": 0, "I": 1, "O": 2}


def prepare_sequence(seqs, word_to_idx, tag_to_idx):
    outputs, labels, lengths = [], [], []
    max_len = max(len(i[0]) for i in seqs)
    for seq, tag in seqs:
        lengths.append(len(seq))
        outputs.append([word_to_idx[w] for w in seq] + [0] * (max_len - len(seq)))
        labels.append([tag_to_idx[t] for t in tag] + [0] * (max_len - len(seq)))
    return Tensor(outputs, ms.int64), Tensor(labels, ms.int64), Tensor(lengths, ms.int64)


model = BiLSTM_CRF(len(word_to_idx), 6, 8, len(tag_to_idx))
random = np.random.RandomState(0)
for p in model.get_parameters():
    p.set_data(Tensor(random.normal(0, 0.4, p.shape).astype(np.float32)))
optimizer = nn.SGD(model.trainable_params(), learning_rate=0.2, weight_decay=1e-4)
data, label, seq_length = prepare_sequence(training_data, word_to_idx, tag_to_idx)
grad_fn = ms.value_and_grad(model, None, optimizer.parameters)
for step in range(8):
    loss, grads = grad_fn(data, seq_length, label)
    optimizer(grads)
    print(step, loss)
score, history = model(data, seq_length)
print(score.shape, post_decode(score, history, seq_length), model.crf.transitions.asnumpy().round(3))

# SPDX-License-Identifier: Apache-2.0
"""Masked language model with a hand-written training cell: loss scaling, gradient clipping by type, warm-up and decay."""
import copy
import math

import numpy as np

import mindspore.common.dtype as mstype
import mindspore.nn as nn
import mindspore.ops.functional as F
from mindspore import context
from mindspore.common.initializer import TruncatedNormal, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.communication.management import get_group_size
from mindspore.context import ParallelMode
from mindspore.nn.learning_rate_schedule import LearningRateSchedule, PolynomialDecayLR, WarmUpLR
from mindspore.nn.wrap.grad_reducer import DistributedGradReducer
from mindspore.ops import composite as C
from mindspore.ops import operations as P

context.set_context(mode=context.PYNATIVE_MODE)
GRADIENT_CLIP_TYPE = 1
GRADIENT_CLIP_VALUE = 1.0

clip_grad = C.MultitypeFuncGraph("clip_grad")


@clip_grad.register("Number", "Number", "Tensor")
def _clip_grad(clip_type, clip_value, grad):
    if clip_type not in (0, 1):
        return grad
    dt = F.dtype(grad)
    if clip_type == 0:
        new_grad = C.clip_by_value(grad, F.cast(F.tuple_to_array((-clip_value,)), dt), F.cast(F.tuple_to_array((clip_value,)), dt))
    else:
        new_grad = nn.ClipByNorm()(grad, F.cast(F.tuple_to_array((clip_value,)), dt))
    return new_grad


grad_scale = C.MultitypeFuncGraph("grad_scale")
reciprocal = P.Reciprocal()


@grad_scale.register("Tensor", "Tensor")
def tensor_grad_scale(scale, grad):
    return grad * reciprocal(scale)


_grad_overflow = C.MultitypeFuncGraph("_grad_overflow")
is_finite = P.IsFinite()


@_grad_overflow.register("Tensor")
def _tensor_grad_overflow(grad):
    return 1.0 - F.cast(is_finite(grad).all(), mstype.float32)


class BertConfig:
    def __init__(self, seq_length=8, vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                 intermediate_size=32, max_position_embeddings=8, type_vocab_size=2, initializer_range=0.02):
        self.__dict__.update({k: v for k, v in locals().items() if k != "self"})


class EmbeddingPostprocessor(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.token_type_embedding = nn.Embedding(config.type_vocab_size, config.hidden_size, use_one_hot=False)
        self.full_position_embedding = nn.Embedding(config.max_position_embeddings, config.hidden_size, use_one_hot=False)
        self.layernorm = nn.LayerNorm((config.hidden_size,))
        self.position_ids = Tensor(np.arange(config.seq_length).reshape(-1, config.seq_length).astype(np.int32))
        self.add = P.Add()

    def construct(self, token_type_ids, word_embeddings):
        output = self.add(word_embeddings, self.token_type_embedding(token_type_ids))
        output = self.add(output, self.full_position_embedding(self.position_ids))
        return self.layernorm(output)


class SelfAttention(nn.Cell):
    def __init__(self, config):
        super().__init__()
        h, n = config.hidden_size, config.num_attention_heads
        self.n, self.size = n, h // n
        self.query_layer = nn.Dense(h, h, weight_init=TruncatedNormal(config.initializer_range)).to_float(mstype.float32)
        self.key_layer = nn.Dense(h, h, weight_init=TruncatedNormal(config.initializer_range))
        self.value_layer = nn.Dense(h, h, weight_init=TruncatedNormal(config.initializer_range))
        self.output = nn.Dense(h, h)
        self.layernorm = nn.LayerNorm([h])
        self.scores_mul = 1.0 / math.sqrt(float(self.size))
        self.matmul_trans_b = P.BatchMatMul(transpose_b=True)
        self.matmul = P.BatchMatMul()
        self.softmax = nn.Softmax()
        self.multiply_data = -10000.0
        self.trans_shape = (0, 2, 1, 3)

    def construct(self, x, attention_mask):
        b, s, h = x.shape
        shape = (b, s, self.n, self.size)
        q = P.Transpose()(P.Reshape()(self.query_layer(x), shape), self.trans_shape)
        k = P.Transpose()(P.Reshape()(self.key_layer(x), shape), self.trans_shape)
        v = P.Transpose()(P.Reshape()(self.value_layer(x), shape), self.trans_shape)
        scores = P.Mul()(self.matmul_trans_b(q, k), self.scores_mul)
        mask = P.ExpandDims()(attention_mask, 1)
        adder = P.Mul()(P.Sub()(P.Cast()(F.tuple_to_array((1.0,)), P.DType()(scores)), P.Cast()(mask, P.DType()(scores))),
                        self.multiply_data)
        probs = self.softmax(P.Add()(adder, scores))
        context_layer = P.Transpose()(self.matmul(probs, v), self.trans_shape)
        out = self.output(P.Reshape()(context_layer, (b, s, h)))
        return self.layernorm(P.Add()(out, x))


class EncoderCell(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.attention = SelfAttention(config)
        self.intermediate = nn.Dense(config.hidden_size, config.intermediate_size, activation="gelu")
        self.output = nn.Dense(config.intermediate_size, config.hidden_size)
        self.layernorm = nn.LayerNorm((config.hidden_size,))

    def construct(self, x, mask):
        a = self.attention(x, mask)
        return self.layernorm(self.output(self.intermediate(a)) + a)


class BertModel(nn.Cell):
    def __init__(self, config):
        super().__init__()
        config = copy.deepcopy(config)
        self.embedding_lookup = nn.Embedding(config.vocab_size, config.hidden_size, embedding_table=TruncatedNormal(0.02))
        self.embedding_postprocessor = EmbeddingPostprocessor(config)
        self.layers = nn.CellList([EncoderCell(config) for _ in range(config.num_hidden_layers)])
        self.dense = nn.Dense(config.hidden_size, config.hidden_size, activation="tanh")
        self.squeeze_1 = P.Squeeze(axis=1)
        self.slice = P.StridedSlice()

    def construct(self, input_ids, token_type_ids, input_mask):
        x = self.embedding_postprocessor(token_type_ids, self.embedding_lookup(input_ids))
        b, s = input_ids.shape
        mask = P.Cast()(P.Reshape()(input_mask, (b, 1, s)), mstype.float32) * P.Ones()((b, s, 1), mstype.float32)
        for layer in self.layers:
            x = layer(x, mask)
        first = self.squeeze_1(self.slice(x, (0, 0, 0), (b, 1, x.shape[-1]), (1, 1, 1)))
        return x, self.dense(first), self.embedding_lookup.embedding_table


class BertPreTraining(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.bert = BertModel(config)
        self.config = config
        self.dense = nn.Dense(config.hidden_size, config.hidden_size, activation="gelu")
        self.layernorm = nn.LayerNorm((config.hidden_size,))
        self.output_bias = Parameter(initializer('zero', config.vocab_size), name='output_bias')
        self.nsp = nn.Dense(config.hidden_size, 2)
        self.log_softmax = nn.LogSoftmax(axis=-1)
        self.matmul = P.MatMul(transpose_b=True)
        self.gather = P.Gather()
        self.onehot = P.OneHot()
        self.on_value, self.off_value = Tensor(1.0, mstype.float32), Tensor(0.0, mstype.float32)
        self.reduce_sum = P.ReduceSum()

    def construct(self, input_ids, input_mask, token_type_id, next_sentence_labels, positions, masked_ids, weights):
        sequence, pooled, table = self.bert(input_ids, token_type_id, input_mask)
        b, s, h = sequence.shape
        flat = P.Reshape()(sequence, (-1, h))
        offsets = P.Reshape()(F.make_range(b) * s if False else Tensor(np.arange(b) * s, mstype.int32), (-1, 1))
        index = P.Reshape()(positions + offsets, (-1,))
        lm = self.layernorm(self.dense(self.gather(flat, index, 0)))
        log_probs = self.log_softmax(self.matmul(lm, table) + self.output_bias)
        one_hot = self.onehot(P.Reshape()(masked_ids, (-1,)), self.config.vocab_size, self.on_value, self.off_value)
        per_example = P.Neg()(self.reduce_sum(log_probs * one_hot, (-1,)))
        w = P.Cast()(P.Reshape()(weights, (-1,)), mstype.float32)
        masked = self.reduce_sum(w * per_example, ()) / (self.reduce_sum(w, ()) + F.tuple_to_array((1e-5,)))
        nsp_log = self.log_softmax(self.nsp(pooled))
        nsp_hot = self.onehot(P.Reshape()(next_sentence_labels, (-1,)), 2, self.on_value, self.off_value)
        nsp_loss = P.ReduceMean()(P.Neg()(self.reduce_sum(nsp_hot * nsp_log, (-1,))), ())
        return P.Reshape()(masked, ()) + nsp_loss


class BertLearningRate(LearningRateSchedule):
    def __init__(self, learning_rate, end_learning_rate, warmup_steps, decay_steps, power):
        super().__init__()
        self.warmup_flag = False
        if warmup_steps > 0:
            self.warmup_flag = True
            self.warmup_lr = WarmUpLR(learning_rate, warmup_steps)
        self.decay_lr = PolynomialDecayLR(learning_rate, end_learning_rate, decay_steps, power)
        self.warmup_steps = Tensor(np.array([warmup_steps]).astype(np.float32))
        self.greater = P.Greater()
        self.one = Tensor(np.array([1.0]).astype(np.float32))
        self.cast = P.Cast()

    def construct(self, global_step):
        decay_lr = self.decay_lr(global_step)
        if self.warmup_flag:
            is_warmup = self.cast(self.greater(self.warmup_steps, global_step), mstype.float32)
            return (self.one - is_warmup) * decay_lr + is_warmup * self.warmup_lr(global_step)
        return decay_lr


class BertTrainOneStepWithLossScaleCell(nn.TrainOneStepWithLossScaleCell):
    def __init__(self, network, optimizer, scale_update_cell=None):
        super().__init__(network, optimizer, scale_update_cell)
        self.cast = P.Cast()
        self.degree = 1
        self.base = Tensor(1, mstype.float32)
        if self.reducer_flag:
            self.degree = get_group_size()
            self.grad_reducer = DistributedGradReducer(optimizer.parameters, True, self.degree)
        self.loss_scale = None
        self.loss_scaling_manager = scale_update_cell
        if scale_update_cell:
            self.loss_scale = Parameter(Tensor(scale_update_cell.get_loss_scale(), dtype=mstype.float32))

    def construct(self, *inputs, sens=None):
        weights = self.weights
        loss = self.network(*inputs)
        scaling_sens = self.loss_scale if sens is None else sens
        grads = self.grad(self.network, weights)(*inputs, self.cast(scaling_sens, mstype.float32))
        grads = self.grad_reducer(grads)
        grads = self.hyper_map(F.partial(grad_scale, scaling_sens * self.degree), grads)
        grads = self.hyper_map(F.partial(clip_grad, GRADIENT_CLIP_TYPE, GRADIENT_CLIP_VALUE), grads)
        flag_sum = P.AddN()(self.hyper_map(_grad_overflow, grads))
        cond = P.LessEqual()(self.base, P.Reshape()(flag_sum, ()))
        overflow = cond
        if sens is None:
            overflow = self.loss_scaling_manager(self.loss_scale, cond)
        if not overflow:
            self.optimizer(grads)
        return (loss, cond, scaling_sens.value())


config = BertConfig()
net = BertPreTraining(config)
random = np.random.RandomState(5)
for p in net.get_parameters():
    if "gamma" not in p.name and "beta" not in p.name:
        p.set_data(Tensor(random.normal(0, 0.05, p.shape).astype(np.float32)))
lr = BertLearningRate(1e-2, 0.0, 2, 10, 1.0)
params = net.trainable_params()
decay = list(filter(lambda x: not ('layernorm' in x.name.lower() or 'bias' in x.name.lower()), params))
rest = list(filter(lambda x: 'layernorm' in x.name.lower() or 'bias' in x.name.lower(), params))
opt = nn.AdamWeightDecay([{'params': decay, 'weight_decay': 0.01}, {'params': rest, 'weight_decay': 0.0}, {'order_params': params}],
                         learning_rate=lr, eps=1e-6)
update_cell = nn.DynamicLossScaleUpdateCell(loss_scale_value=2 ** 16, scale_factor=2, scale_window=2)
train = BertTrainOneStepWithLossScaleCell(net, optimizer=opt, scale_update_cell=update_cell)
train.set_train()
ids = Tensor(random.randint(0, 40, (3, 8)).astype(np.int32))
mask = Tensor(np.array([[1] * 8, [1] * 6 + [0] * 2, [1] * 5 + [0] * 3], np.int32))
types = Tensor(random.randint(0, 2, (3, 8)).astype(np.int32))
nsp = Tensor(np.array([[0], [1], [1]], np.int32))
positions = Tensor(np.array([[1, 3], [2, 0], [4, 1]], np.int32))
masked_ids = Tensor(random.randint(0, 40, (3, 2)).astype(np.int32))
weights = Tensor(np.array([[1, 1], [1, 0], [1, 1]], np.float32))
for step in range(5):
    loss, overflow, scale = train(ids, mask, types, nsp, positions, masked_ids, weights)
    print(f"step {step}, loss {float(loss.asnumpy()):.5f}, overflow {bool(overflow)}, scale {float(scale.asnumpy())}")
print(opt.global_step, context.get_auto_parallel_context("parallel_mode") == ParallelMode.STAND_ALONE)

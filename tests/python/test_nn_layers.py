# SPDX-License-Identifier: Apache-2.0
"""Layers against plain numpy: those MindSpore cannot run on a CPU, and so have no recorded answer, most of all."""
import itertools
import math

import numpy as np
import pytest

import spore as ms
from spore import Tensor, mint, nn, ops


def draw(*shape, low=-2.0, high=2.0, seed=0):
    return np.random.default_rng([seed, *shape]).uniform(low, high, shape).astype(np.float32)


def close(got, wanted, rtol=1e-5, atol=1e-5):
    got = got.asnumpy() if isinstance(got, Tensor) else got
    wanted = np.asarray(wanted)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol, atol)


def check_gradient(function, x, step=1e-2, tolerance=2e-2):
    """The gradient of the sum of squares of ``function`` against differences, along one random direction."""
    def value(v):
        out = function(v)
        return (out * out).sum()
    direction = draw(*x.shape, seed=7)
    slope = float((ms.grad(value)(Tensor(x)) * Tensor(direction)).sum())
    difference = float(value(Tensor(x + step * direction)) - value(Tensor(x - step * direction))) / (2 * step)
    assert slope == pytest.approx(difference, rel=tolerance, abs=tolerance)


# --- recurrent layers ------------------------------------------------------------------------------------------------

def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_by_hand(x, net, at, reverse=False):
    w_ih, w_hh, b_ih, b_hh = (net_list[at].asnumpy() for net_list in (net.w_ih_list, net.w_hh_list, net.b_ih_list, net.b_hh_list))
    size = w_hh.shape[1]
    h = c = np.zeros((x.shape[1], size), np.float32)
    outputs = []
    for step in reversed(x) if reverse else x:
        i, f, g, o = np.split(step @ w_ih.T + h @ w_hh.T + b_ih + b_hh, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs[::-1] if reverse else outputs), h, c


def test_lstm_of_two_layers_and_directions():
    net = nn.LSTM(3, 4, num_layers=2, bidirectional=True)
    x = draw(5, 2, 3)
    output, (h, c) = net(Tensor(x))
    finals = []
    for layer in range(2):
        parts = [lstm_by_hand(x, net, 2 * layer + d, reverse=d == 1) for d in range(2)]
        finals += parts
        x = np.concatenate([p[0] for p in parts], axis=2)
    close(output, x)
    close(h, np.stack([p[1] for p in finals]))
    close(c, np.stack([p[2] for p in finals]))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_sequence_lengths_cut_sequences(kind):
    net = kind(3, 4, bidirectional=True)
    x = draw(6, 2, 3)
    whole, state = net(Tensor(x), None, Tensor([6, 4], ms.int32))
    alone, state_alone = net(Tensor(x[:4, 1:]))
    close(whole[:4, 1:], alone.asnumpy())
    close(whole[4:, 1], np.zeros((2, 8), np.float32))
    first = state[0] if kind is nn.LSTM else state
    first_alone = state_alone[0] if kind is nn.LSTM else state_alone
    close(first[:, 1:], first_alone.asnumpy())


@pytest.mark.parametrize("layer, cell", [(nn.LSTM, nn.LSTMCell), (nn.GRU, nn.GRUCell), (nn.RNN, nn.RNNCell)])
def test_layer_repeats_its_cell(layer, cell):
    net, one = layer(3, 4), cell(3, 4)
    for source, target in zip(net.get_parameters(), one.get_parameters()):
        target.set_data(source)
    x = draw(5, 2, 3)
    state = ops.zeros((2, 4))
    state = (state, state) if layer is nn.LSTM else state
    outputs = []
    for step in x:
        state = one(Tensor(step), state)
        outputs.append((state[0] if layer is nn.LSTM else state).asnumpy())
    close(net(Tensor(x))[0], np.stack(outputs))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_gradient_of_recurrent_layers(kind):
    net = kind(3, 4, num_layers=2)
    check_gradient(lambda x: net(x)[0], draw(4, 2, 3))


def test_dropout_between_layers_acts_while_training_only():
    net = nn.GRU(3, 4, num_layers=2, dropout=0.5)
    x = Tensor(draw(5, 2, 3))
    assert np.array_equal(net(x)[0].asnumpy(), net(x)[0].asnumpy())
    net.set_train()
    assert not np.array_equal(net(x)[0].asnumpy(), net(x)[0].asnumpy())


# --- attention -------------------------------------------------------------------------------------------------------

def attention_by_hand(net, q, k, v, heads, mask=None):
    w, b = net.in_proj_weight.asnumpy(), net.in_proj_bias.asnumpy()
    size = w.shape[1]
    q, k, v = (x @ w[i * size:(i + 1) * size].T + b[i * size:(i + 1) * size] for i, x in enumerate((q, k, v)))
    width, parts, weights = size // heads, [], []
    for head in range(heads):
        at = slice(head * width, (head + 1) * width)
        scores = np.einsum("tns,uns->ntu", q[..., at], k[..., at]) / math.sqrt(width)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        weights.append(scores)
        parts.append(np.einsum("ntu,uns->tns", scores, v[..., at]))
    out = np.concatenate(parts, -1) @ net.out_proj.weight.asnumpy().T + net.out_proj.bias.asnumpy()
    return out, np.mean(weights, 0)


@pytest.mark.parametrize("masked", [False, True])
def test_attention(masked):
    net = nn.MultiheadAttention(8, 4)
    q, k, v = draw(5, 2, 8), draw(6, 2, 8, seed=1), draw(6, 2, 8, seed=2)
    mask = np.triu(np.ones((5, 6), bool), 1) if masked else None
    out, weights = net(Tensor(q), Tensor(k), Tensor(v), attn_mask=None if mask is None else Tensor(mask))
    wanted, wanted_weights = attention_by_hand(net, q, k, v, 4, mask)
    close(out, wanted)
    close(weights, wanted_weights)


def test_batch_first_and_padding_agree_with_shorter_sequences():
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    x = draw(2, 5, 8)
    padding = np.array([[False] * 5, [False] * 3 + [True] * 2])
    out, _ = net(Tensor(x), Tensor(x), Tensor(x), key_padding_mask=Tensor(padding))
    alone, _ = net(Tensor(x[1:]), Tensor(x[1:, :3]), Tensor(x[1:, :3]))
    close(out[1:], alone.asnumpy())


def test_transformer_layers_start_alike_and_are_separate():
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)
    first, second = net.layers[0].dense1.weight, net.layers[1].dense1.weight
    assert np.array_equal(first.asnumpy(), second.asnumpy())
    first.set_data(first * 2)
    assert not np.array_equal(first.asnumpy(), second.asnumpy())
    assert (first.name, second.name) == ("layers.0.dense1.weight", "layers.1.dense1.weight")


def test_gradient_of_the_transformer():
    net = nn.Transformer(8, 2, 1, 1, 16)
    target = Tensor(draw(3, 2, 8, seed=3))
    check_gradient(lambda x: net(x, target), draw(4, 2, 8), tolerance=5e-2)


# --- losses ----------------------------------------------------------------------------------------------------------

def ctc_by_hand(logs, target, blank):
    """Sum over all ways to write the target."""
    steps, classes = logs.shape
    total = -np.inf
    for way in itertools.product(range(classes), repeat=steps):
        kept = [c for i, c in enumerate(way) if c != blank and (i == 0 or way[i - 1] != c)]
        if kept == list(target):
            total = np.logaddexp(total, sum(logs[t, c] for t, c in enumerate(way)))
    return -total


@pytest.mark.parametrize("blank, targets", [(0, [[1, 1], [2, 1]]), (2, [[1, 0], [0, 0]])])
def test_ctc_counts_every_alignment(blank, targets):
    x = draw(5, 2, 3)
    logs = x - np.log(np.exp(x).sum(-1, keepdims=True))
    lengths, target_lengths = [5, 4], [2, 1]
    loss = nn.CTCLoss(blank, "none")(Tensor(logs), Tensor(targets, ms.int32), Tensor(lengths, ms.int32),
                                     Tensor(target_lengths, ms.int32))
    close(loss, np.array([ctc_by_hand(logs[:n, i], targets[i][:m], blank)
                          for i, (n, m) in enumerate(zip(lengths, target_lengths))], np.float32))


def test_ctc_gradient_and_impossible_targets():
    def loss(x):
        return nn.CTCLoss(reduction="none")(ops.log_softmax(x, -1), Tensor([[1, 2], [2, 2]], ms.int32),
                                            Tensor([5, 5], ms.int32), Tensor([2, 2], ms.int32))
    check_gradient(loss, draw(5, 2, 3))
    arguments = (Tensor(np.log(np.full((2, 1, 3), 1 / 3, np.float32))), Tensor([[1, 1]], ms.int32), Tensor([2], ms.int32),
                 Tensor([2], ms.int32))
    assert np.isinf(nn.CTCLoss(reduction="none")(*arguments).asnumpy()).all()
    assert nn.CTCLoss(reduction="none", zero_infinity=True)(*arguments).asnumpy() == 0


def test_targets_in_one_row_are_cut_by_their_lengths():
    logs = ops.log_softmax(Tensor(draw(5, 2, 4)), -1)
    lengths = Tensor([5, 5], ms.int32), Tensor([2, 1], ms.int32)
    rows = nn.CTCLoss()(logs, Tensor([[1, 2], [3, 0]], ms.int32), *lengths)
    flat = nn.CTCLoss()(logs, Tensor([1, 2, 3], ms.int32), *lengths)
    assert float(rows) == pytest.approx(float(flat))
    with pytest.raises(ValueError, match="lengths"):
        nn.CTCLoss()(logs, Tensor([1, 2], ms.int32), *lengths)


def test_triplet_and_hinge_losses():
    x, p, n = draw(3, 4), draw(3, 4, seed=1), draw(3, 4, seed=2)
    near, far = (np.linalg.norm(x - y + 1e-6, axis=1) for y in (p, n))
    close(nn.TripletMarginLoss(reduction="none")(Tensor(x), Tensor(p), Tensor(n)), np.maximum(near - far + 1, 0), 1e-4, 1e-4)
    label = np.array([[1, -1, 1, -1]] * 3, np.float32)
    close(nn.HingeEmbeddingLoss(reduction="none")(Tensor(x), Tensor(label)), np.where(label == 1, x, np.maximum(1 - x, 0)))


# --- images ----------------------------------------------------------------------------------------------------------

def test_similarity_of_images():
    a, b = draw(2, 3, 16, 16, low=0, high=1), draw(2, 3, 16, 16, low=0, high=1, seed=1)
    at = np.arange(11) - 5.0
    line = np.exp(-at ** 2 / 4.5)
    window = np.outer(line, line) / np.outer(line, line).sum()

    def blur(x):
        views = np.lib.stride_tricks.sliding_window_view(x, (11, 11), axis=(2, 3))
        return (views * window).sum((-1, -2))
    ma, mb = blur(a), blur(b)
    va, vb, vab = blur(a * a) - ma * ma, blur(b * b) - mb * mb, blur(a * b) - ma * mb
    c1, c2 = 0.01 ** 2, 0.03 ** 2
    ssim = (2 * ma * mb + c1) * (2 * vab + c2) / ((ma ** 2 + mb ** 2 + c1) * (va + vb + c2))
    close(nn.SSIM()(Tensor(a), Tensor(b)), ssim.mean((1, 2, 3)), 1e-3, 1e-4)
    close(nn.SSIM()(Tensor(a), Tensor(a)), np.ones(2), 1e-4, 1e-4)
    close(nn.PSNR()(Tensor(a), Tensor(b)), 10 * np.log10(1 / ((a - b) ** 2).mean((1, 2, 3))), 1e-4)
    bytes_a, bytes_b = (np.round(v * 255).astype(np.uint8) for v in (a, b))
    error = ((bytes_a / 255.0 - bytes_b / 255.0) ** 2).mean((1, 2, 3))
    close(nn.PSNR(255)(Tensor(bytes_a), Tensor(bytes_b)), 10 * np.log10(1 / error), 1e-4)
    assert float(nn.MSSSIM(power_factors=(0.5, 0.5), filter_size=5)(Tensor(a), Tensor(a))[0]) == pytest.approx(1, abs=1e-3)


def patches(x, size, stride, rate):
    n, c, h, w = x.shape
    rows, columns = ((length - (size - 1) * rate - 1) // stride + 1 for length in (h, w))
    out = np.empty((n, size * size * c, rows, columns), x.dtype)
    for i, j in itertools.product(range(rows), range(columns)):
        cut = x[:, :, i * stride:i * stride + (size - 1) * rate + 1:rate, j * stride:j * stride + (size - 1) * rate + 1:rate]
        out[:, :, i, j] = cut.transpose(0, 2, 3, 1).reshape(n, -1)
    return out


def test_unfold_and_fold():
    x = draw(2, 3, 7, 8)
    close(nn.Unfold([1, 2, 2, 1], [1, 2, 2, 1], [1, 2, 2, 1])(Tensor(x)), patches(x, 2, 2, 2))
    columns = mint.nn.Unfold(3, padding=1, stride=2)(Tensor(x))
    assert columns.shape == (2, 27, 16)
    counted = mint.nn.Fold((7, 8), 3, padding=1, stride=2)(mint.nn.Unfold(3, padding=1, stride=2)(ops.ones((2, 3, 7, 8))))
    close(mint.nn.Fold((7, 8), 3, padding=1, stride=2)(columns), x * counted.asnumpy(), 1e-4)


def test_unpooling_puts_elements_back():
    x = draw(1, 2, 4, 6)
    pooled, indices = nn.MaxPool2d(2, 2, pad_mode="pad", return_indices=True)(Tensor(x))
    back = nn.MaxUnpool2d(2)(pooled, indices).asnumpy()
    assert back.shape == x.shape
    blocks = x.reshape(1, 2, 2, 2, 3, 2).max((3, 5), keepdims=True)
    close(back, np.where(x.reshape(1, 2, 2, 2, 3, 2) == blocks, blocks, 0).reshape(x.shape))
    with pytest.raises(ValueError, match="output_size"):
        nn.MaxUnpool2d(2)(pooled, indices, (9, 9))


# --- normalisation, embedding, others --------------------------------------------------------------------------------

@pytest.mark.parametrize("kind, shape", [(nn.InstanceNorm1d, (2, 3, 5)), (nn.InstanceNorm2d, (2, 3, 4, 5)),
                                         (nn.InstanceNorm3d, (2, 3, 2, 4, 5))])
def test_instance_norm(kind, shape):
    net, x = kind(3), draw(*shape)
    axes = tuple(range(2, len(shape)))
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    close(net(Tensor(x)), (x - mean) / np.sqrt(variance + 1e-5), 1e-4, 1e-5)
    assert np.array_equal(net.moving_mean.asnumpy(), np.zeros(3))
    net.set_train()
    net(Tensor(x))
    close(net.moving_mean, 0.1 * mean.reshape(2, 3).mean(0))
    close(net.moving_variance, 0.9 + 0.1 * x.reshape(2, 3, -1).var(-1, ddof=1).mean(0), 1e-4)
    with pytest.raises(ValueError, match="channels"):
        net(Tensor(draw(2, 4, *shape[2:])))


def test_fields_of_embeddings():
    ids, fields = np.array([[1, 2, 3, 0], [4, 4, 1, 2]], np.int32), np.array([[0, 0, 2, 2], [1, 0, 1, 0]], np.int32)
    values = np.array([[1, 2, 0.5, 0], [1, -1, 3, 0]], np.float32)
    for operator in ("SUM", "MEAN", "MAX"):
        net = nn.MultiFieldEmbeddingLookup(5, 3, 3, operator=operator)
        table = net.embedding_table.asnumpy()
        wanted = np.zeros((2, 3, 3), np.float32)
        for n, field in itertools.product(range(2), range(3)):
            used = [s for s in range(4) if fields[n, s] == field and (values[n, s] != 0 or operator == "SUM")]
            rows = np.array([values[n, s] * table[ids[n, s]] for s in used])
            if used:
                weight = sum(abs(values[n, s]) for s in used)
                wanted[n, field] = {"SUM": rows.sum(0), "MEAN": rows.sum(0) / weight, "MAX": rows.max(0)}[operator]
        close(net(Tensor(ids), Tensor(values), Tensor(fields)), wanted)


def test_rows_are_scaled_down_to_a_norm():
    net = nn.EmbeddingLookup(6, 4, param_init="normal", max_norm=0.01)
    ids = np.array([[0, 5], [2, 2]], np.int32)
    rows = net.embedding_table.asnumpy()[ids]
    norm = np.linalg.norm(rows, axis=-1, keepdims=True)
    close(net(Tensor(ids)), rows * np.minimum(1, 0.01 / norm), 1e-4, 1e-6)


def test_matrices():
    x, d = draw(2, 3, 4), draw(2, 3)
    close(nn.MatrixDiag()(Tensor(d)), np.stack([np.diag(row) for row in d]))
    close(nn.MatrixDiagPart()(Tensor(x)), np.stack([np.diag(m) for m in x]))
    close(nn.MatrixDiagPart()(Tensor(x.transpose(0, 2, 1))), np.stack([np.diag(m) for m in x]))
    wanted = x.copy()
    wanted[:, range(3), range(3)] = d
    close(nn.MatrixSetDiag()(Tensor(x), Tensor(d)), wanted)
    close(nn.Roll((1, 2), (0, -1))(Tensor(x)), np.roll(x, (1, 2), (0, 2)))
    close(nn.BiDense(4, 3, 5, has_bias=False, weight_init="ones")(Tensor(x), Tensor(draw(2, 3, 3))),
          np.repeat(x.sum(-1, keepdims=True) * draw(2, 3, 3).sum(-1, keepdims=True), 5, -1), 1e-4, 1e-4)


def test_incomplete_gamma():
    # P(1, x) = 1 - exp(-x), P(1/2, x) = erf(sqrt(x)), P(2, x) = 1 - (1 + x) exp(-x)
    x = np.array([0.0, 0.1, 1.0, 3.0, 20.0], np.float32)
    for a, wanted in ((1.0, 1 - np.exp(-x)), (0.5, np.array([math.erf(math.sqrt(v)) for v in x])),
                      (2.0, 1 - (1 + x) * np.exp(-x))):
        close(nn.IGamma()(Tensor(np.full_like(x, a)), Tensor(x)), wanted, 1e-5, 1e-6)
    assert np.isnan(nn.IGamma()(Tensor([1.0]), Tensor([-1.0])).asnumpy()).all()


def test_clip_by_norm_of_rows():
    x = draw(4, 6)
    norm = np.linalg.norm(x, axis=1, keepdims=True)
    limit = float(np.median(norm))
    close(nn.ClipByNorm(1)(Tensor(x), Tensor(limit, ms.float32)), x * np.minimum(1, limit / norm))
    zero = Tensor(np.zeros((2, 2), np.float32))
    assert np.isfinite(ms.grad(lambda v: nn.ClipByNorm()(v, Tensor(1.0)))(zero).asnumpy()).all()


# --- mint.nn ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
def test_convolution_with_padding_modes(mode):
    net, x = mint.nn.Conv2d(2, 3, 3, padding=(1, 2), padding_mode=mode), draw(1, 2, 6, 6)
    modes = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (2, 2)), modes[mode])
    views = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    wanted = np.einsum("nchwij,ocij->nohw", views, net.weight.asnumpy()) + net.bias.asnumpy()[:, None, None]
    close(net(Tensor(x)), wanted, 1e-4, 1e-4)
    close(net(Tensor(x[0])), wanted[0], 1e-4, 1e-4)


def test_transposed_convolution_is_the_gradient():
    net = mint.nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, output_padding=1, bias=False)
    x = Tensor(draw(1, 3, 4, 5))
    out = net(x)
    assert out.shape == (1, 2, 8, 10)
    back = ms.grad(lambda v: (ops.conv2d(v, net.weight, stride=2, pad_mode="pad", padding=1) * x).sum())(ops.zeros((1, 2, 8, 10)))
    close(out, back.asnumpy(), 1e-4, 1e-4)
    assert net(x, output_size=(7, 9)).shape == (1, 2, 7, 9)
    with pytest.raises(ValueError, match="output_size"):
        net(x, output_size=(20, 20))


def test_batch_norm_keeps_statistics():
    x = draw(4, 3, 5)
    net = mint.nn.BatchNorm1d(3, momentum=None).set_train()
    for i in range(2):
        net(Tensor(x * (i + 1)))
    assert int(net.num_batches_tracked.asnumpy()) == 2
    close(net.running_mean, (x.mean((0, 2)) + 2 * x.mean((0, 2))) / 2, 1e-4)
    net.reset_parameters()
    assert int(net.num_batches_tracked.asnumpy()) == 0
    free = mint.nn.BatchNorm1d(3, affine=False, track_running_stats=False).set_train(False)
    assert list(free.get_parameters()) == []
    close(free(Tensor(x)).mean((0, 2)), np.zeros(3), 1e-4, 1e-5)


def test_mint_losses():
    x, target = draw(3, 4, low=-3, high=-1), draw(3, 4, low=0.1, high=1, seed=1)
    target[0, 0] = 0
    terms = np.where(target > 0, target * np.log(np.where(target > 0, target, 1)), 0) - target * x
    for reduction, wanted in (("none", terms), ("mean", terms.mean()), ("sum", terms.sum()), ("batchmean", terms.sum() / 3)):
        close(mint.nn.KLDivLoss(reduction)(Tensor(x), Tensor(target)), wanted, 1e-4)
    assert np.isfinite(ms.grad(lambda t: mint.nn.KLDivLoss()(Tensor(x), t))(Tensor(target)).asnumpy()).all()
    close(mint.nn.KLDivLoss("none", True)(Tensor(x), Tensor(x)), np.zeros((3, 4)))
    close(mint.nn.SmoothL1Loss(beta=0.0)(Tensor(x), Tensor(target)), np.abs(x - target).mean(), 1e-4)


def test_arguments_of_older_scripts():
    logits, labels = Tensor([[2.0, 1.0, 0.5]]), Tensor([1], ms.int32)
    plain = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(logits, labels)
    assert nn.SoftmaxCrossEntropyWithLogits(is_grad=False, sparse=True, reduction="mean")(logits, labels) == plain
    smooth = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean", smooth_factor=0.1, num_classes=3)(logits, labels)
    want = -(np.array([0.05, 0.9, 0.05]) * ops.log_softmax(logits, -1).asnumpy()[0]).sum()
    assert np.allclose(smooth.asnumpy(), want)
    assert nn.EmbeddingLookup(5, 2, target="DEVICE", sparse=False, vocab_cache_size=3)(Tensor([1, 2])).shape == (2, 2)


def test_initializers_look_at_their_arguments_when_they_are_used():
    from spore.common.initializer import Dirac, Orthogonal, initializer
    weight = nn.Dense(2, 3).weight
    made = Orthogonal(weight)                    # a program that forgets it gets no error
    with pytest.raises(TypeError, match="gain must be a number, but got Parameter"):
        initializer(made, (2, 2)).init_data()
    with pytest.raises(ValueError, match="groups must be a positive int, but got 0"):
        initializer(Dirac(0), (2, 2, 3)).init_data()
    twice = initializer(Orthogonal(Tensor(2.0)), (3, 3)).init_data().asnumpy()
    assert np.allclose(twice @ twice.T, 4 * np.eye(3), atol=1e-5)

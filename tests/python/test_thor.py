# SPDX-License-Identifier: Apache-2.0
"""The second-order optimizer nn.thor against its formulas in numpy, its layers, and Models that count its steps."""
import numpy as np
import pytest

import spore as ms
from spore import Tensor, dataset, nn, ops
from spore.train import ConvertModelUtils, Model
from spore.train.callback import Callback

RNG = np.random.RandomState(3)
DAMPING, LR = 0.03, 0.1


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "graph"])
def mode(request):
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE)


def random(*shape):
    return RNG.randn(*shape).astype(np.float32)


def block_inverse(m, block=128):
    out = np.zeros_like(m)
    for i in range(0, len(m), block):
        out[i:i + block, i:i + block] = np.linalg.inv(m[i:i + block, i:i + block])
    return out


def one_step(net, loss, x, batch_size, **kwargs):
    optimizer = nn.thor(net, Tensor([LR]), Tensor([DAMPING]), 0.0, batch_size=batch_size, **kwargs)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    step(*x)
    return optimizer


@pytest.mark.parametrize("size", [(6, 5), (130, 7), (7, 300)])
def test_a_step_of_a_dense_layer(mode, size):
    x, y = random(9, size[0]), random(9, size[1])
    w = random(size[1], size[0]) * 0.1
    net = nn.SequentialCell(nn.Dense(*size, weight_init=Tensor(w), has_bias=False))
    one_step(net, nn.MSELoss(), (Tensor(x), Tensor(y)), 9)
    dout = 2 * (x @ w.T - y) / y.size
    a = x.T @ x / size[0] + np.sqrt(DAMPING) * np.eye(size[0])
    g = dout.T @ dout / 9 * 81 + np.sqrt(DAMPING) * np.eye(size[1])
    want = w - LR * block_inverse(g) @ (dout.T @ x) @ block_inverse(a)
    assert np.allclose(net[0].weight.asnumpy(), want, rtol=1e-3, atol=1e-4)


def test_a_step_of_a_convolution(mode):
    x, y, w = random(4, 2, 5, 5), random(4, 3, 5, 5), random(3, 2, 3, 3) * 0.2
    net = nn.SequentialCell(nn.Conv2d(2, 3, 3, weight_init=Tensor(w)))
    one_step(net, nn.MSELoss(), (Tensor(x), Tensor(y)), 4)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    patches = np.stack([padded[:, :, i:i + 5, j:j + 5] for i in range(3) for j in range(3)], 2).reshape(4, 18, 25)
    dout = 2 * (np.einsum("ok,nkp->nop", w.reshape(3, 18), patches) - y.reshape(4, 3, 25)) / y.size
    gradient = np.einsum("nop,nkp->ok", dout, patches)
    mean, dmean = patches.mean(0), dout.mean(0)
    edge = np.sqrt(DAMPING / 25)
    a = np.linalg.inv(mean @ mean.T / 25 + edge * np.eye(18)) / 5
    g = np.linalg.inv(dmean @ dmean.T / 25 * 16 + edge * np.eye(3)) / 5
    assert np.allclose(net[0].weight.asnumpy().reshape(3, 18), w.reshape(3, 18) - LR * g @ gradient @ a, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("layer", [nn.Embedding, nn.EmbeddingLookup])
def test_a_step_of_a_table_and_of_a_layer_norm(mode, layer):
    net = nn.SequentialCell(layer(7, 4), nn.LayerNorm((4,)))
    table, ids, y = net[0].embedding_table.asnumpy().copy(), np.array([[1, 3], [3, 6]], np.int32), random(2, 2, 4)
    plain = nn.SequentialCell(layer(7, 4), nn.LayerNorm((4,)))
    plain[0].embedding_table.set_data(Tensor(table))
    grads = [g.asnumpy() for g in ops.grad(lambda i: nn.MSELoss()(plain(i), Tensor(y)), None, plain.trainable_params())(Tensor(ids))]
    one_step(net, nn.MSELoss(), (Tensor(ids), Tensor(y)), 2)
    out = ops.grad(lambda e: nn.MSELoss()(plain[1](e), Tensor(y)))(Tensor(table[ids])).asnumpy().reshape(4, 4)
    a = 1 / (np.bincount(ids.ravel(), minlength=7) / 2 + np.sqrt(DAMPING))
    g = np.linalg.inv(out.T @ out / 4 * 4 + np.sqrt(DAMPING) * np.eye(4))
    assert np.allclose(net[0].embedding_table.asnumpy(), table - LR * (a[:, None] * grads[0]) @ g, rtol=1e-3, atol=1e-5)
    assert np.allclose(net[1].gamma.asnumpy(), 1 - LR * grads[1] / (grads[1] ** 2 / 2 + np.sqrt(DAMPING)), rtol=1e-3, atol=1e-5)


class Small(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.depth = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 3, group=4)
        self.norm, self.flat, self.dense = nn.BatchNorm2d(4), nn.Flatten(), nn.Dense(4 * 36, 3, activation="tanh")

    def construct(self, x):
        return self.dense(self.flat(self.norm(self.depth(self.conv(x)))))


def test_the_network_keeps_its_parameters_and_groups():
    net = Small()
    before = {p.name: p for p in net.trainable_params()}
    expected = net(Tensor(random(2, 1, 6, 6))).shape
    nn.thor(net, Tensor([0.1]), Tensor([0.1]), 0.9)
    assert {p.name: p for p in net.trainable_params()} == before
    assert [type(c).__name__ for c in net.cells()] == ["Conv2dThor", "Conv2d", "BatchNorm2d", "Flatten", "DenseThor"]
    assert net(Tensor(random(2, 1, 6, 6))).shape == expected
    assert "dense.matrix_a" in net.parameters_dict() and "conv.a_normalizer" in net.parameters_dict()


class Watch(Callback):
    def __init__(self, net, optimizer):
        super().__init__()
        self.net, self.optimizer, self.losses, self.kept = net, optimizer, [], []

    def on_train_step_end(self, run_context):
        self.losses.append(float(run_context.original_args().net_outputs.asnumpy()))
        self.kept.append(self.optimizer.matrix_g[0].asnumpy().copy())


def trained(how):
    ms.set_seed(1)
    net, loss = Small(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.thor(net, Tensor([0.02] * 8), Tensor([0.1] * 8), 0.9, 1e-4, 1.0, 8, decay_filter=lambda p: "norm" not in p.name,
                        enable_clip_grad=True, frequency=3)
    data = dataset.NumpySlicesDataset({"x": np.random.RandomState(0).randn(32, 1, 6, 6).astype(np.float32),
                                       "y": (np.arange(32) % 3).astype(np.int32)}, shuffle=False).batch(8)
    ms.set_context(mode=how)
    model = Model(net, loss, optimizer, metrics={"acc"})
    model = ConvertModelUtils.convert_to_thor_model(model, net, loss, optimizer, {"acc"})
    watch = Watch(net, optimizer)
    model.train(2, data, callbacks=watch, dataset_sink_mode=True)
    assert 0 <= model.eval(data)["acc"] <= 1
    ms.set_context(mode=ms.PYNATIVE_MODE)
    return watch


def test_a_model_inverts_in_the_first_of_every_so_many_steps():
    watch = trained(ms.PYNATIVE_MODE)
    changed = [not np.array_equal(a, b) for a, b in zip(watch.kept, watch.kept[1:])]
    assert changed == [False, False, True, False, False, True, False]
    assert watch.losses[4] < watch.losses[0]          # the first batch, an epoch later
    assert np.allclose(trained(ms.GRAPH_MODE).losses, watch.losses, rtol=1e-5)


def test_other_optimizers_leave_a_model_as_it_is():
    net = Small()
    model = Model(net, nn.MSELoss(), optimizer := nn.SGD(net.trainable_params(), 0.1))
    assert ConvertModelUtils().convert_to_thor_model(model, net, nn.MSELoss(), optimizer) is model


def test_wrong_arguments():
    with pytest.raises(TypeError, match="'net' must be a Cell, but got NoneType"):
        nn.thor(None, Tensor([0.1]), Tensor([0.1]), 0.9)
    with pytest.raises(TypeError, match="'learning_rate' must be a Tensor, but got float"):
        nn.thor(Small(), 0.1, Tensor([0.1]), 0.9)
    with pytest.raises(TypeError, match="'damping' must be a Tensor"):
        nn.thor(Small(), Tensor([0.1]), 0.1, 0.9)
    with pytest.raises(ValueError, match="'frequency' must be at least 2, but got 1"):
        nn.thor(Small(), Tensor([0.1]), Tensor([0.1]), 0.9, frequency=1)


def test_programs_are_kept_by_phase():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.up = True

        def construct(self, x):
            return x + 1 if self.up else x - 1
    ms.set_context(mode=ms.GRAPH_MODE)
    net, x = Net(), Tensor([1.0])
    results = [net(x)]
    net.up = False
    results.append(net(x))
    net.phase = "other"
    results.append(net(x))
    net.phase = "train"
    results.append(net(x))
    ms.set_context(mode=ms.PYNATIVE_MODE)
    assert [r.tolist() for r in results] == [[2.0], [2.0], [0.0], [2.0]]

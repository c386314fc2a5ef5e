# SPDX-License-Identifier: Apache-2.0
"""Networks as people write them, in MindSpore's API alone: the same definitions are exported by MindSpore and by spore.

    python real_nets.py write FOLDER [NAME ...]     under MindSpore, or under `spore run`: FOLDER/NAME.mindir and .npz
    python real_nets.py read FOLDER                 under the other one: loads every file and compares

real_mindspore.log and real_spore.log are what the two runs printed. Networks called mindcv_* need the package mindcv."""
import pathlib
import sys
import time

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


# --- pictures ------------------------------------------------------------------------------------------------------

class Bottleneck(nn.Cell):
    def __init__(self, inside, channels, out, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inside, channels, 1), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = nn.Conv2d(channels, channels, 3, stride, pad_mode="pad", padding=1), nn.BatchNorm2d(channels)
        self.conv3, self.bn3 = nn.Conv2d(channels, out, 1), nn.BatchNorm2d(out)
        self.down = nn.SequentialCell(nn.Conv2d(inside, out, 1, stride), nn.BatchNorm2d(out)) if stride != 1 or inside != out else None
        self.relu = nn.ReLU()

    def construct(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.relu(y + (x if self.down is None else self.down(x)))


class ResNet50(nn.Cell):
    def __init__(self, width=16, classes=10):
        super().__init__()
        self.stem = nn.SequentialCell(nn.Conv2d(3, width, 7, 2, pad_mode="pad", padding=3), nn.BatchNorm2d(width), nn.ReLU(),
                                      nn.MaxPool2d(3, 2, pad_mode="same"))
        layers, inside = [], width
        for stage, n in enumerate((3, 4, 6, 3)):
            for i in range(n):
                layers.append(Bottleneck(inside, width << stage, width * 4 << stage, 2 if i == 0 and stage else 1))
                inside = width * 4 << stage
        self.layers, self.head = nn.SequentialCell(layers), nn.Dense(inside, classes)

    def construct(self, x):
        return self.head(self.layers(self.stem(x)).mean((2, 3)))


class InvertedResidual(nn.Cell):
    def __init__(self, inside, out, stride, expand):
        super().__init__()
        hidden = inside * expand
        self.same = stride == 1 and inside == out
        self.body = nn.SequentialCell(nn.Conv2d(inside, hidden, 1), nn.BatchNorm2d(hidden), nn.ReLU6(),
                                      nn.Conv2d(hidden, hidden, 3, stride, pad_mode="same", group=hidden), nn.BatchNorm2d(hidden), nn.ReLU6(),
                                      nn.Conv2d(hidden, out, 1), nn.BatchNorm2d(out))

    def construct(self, x):
        y = self.body(x)
        return x + y if self.same else y


class MobileNetV2(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = nn.SequentialCell(nn.Conv2d(3, 8, 3, 2), nn.BatchNorm2d(8), nn.ReLU6(), InvertedResidual(8, 8, 1, 2), InvertedResidual(8, 12, 2, 6),
                                     InvertedResidual(12, 12, 1, 6), InvertedResidual(12, 24, 2, 6))
        self.pool, self.flatten, self.head = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dense(24, 7)

    def construct(self, x):
        return ops.softmax(self.head(self.flatten(self.pool(self.net(x)))))


class UNet(nn.Cell):
    """Transposed convolutions up, one bilinear resize."""

    def __init__(self):
        super().__init__()
        self.in1, self.in2, self.in3 = self.block(3, 8), self.block(8, 16), self.block(16, 32)
        self.up1, self.up2 = nn.Conv2dTranspose(32, 16, 2, 2), nn.Conv2dTranspose(16, 8, 2, 2)
        self.out1, self.out2, self.last = self.block(32, 16), self.block(16, 8), nn.Conv2d(8, 2, 1, has_bias=True)
        self.pool, self.resize = nn.MaxPool2d(2, 2), ops.ResizeBilinearV2(half_pixel_centers=True)

    @staticmethod
    def block(inside, out):
        return nn.SequentialCell(nn.Conv2d(inside, out, 3), nn.BatchNorm2d(out), nn.ReLU())

    def construct(self, x):
        a = self.in1(x)
        b = self.in2(self.pool(a))
        c = self.in3(self.pool(b))
        d = self.out1(ops.concat((self.up1(c), b), 1))
        e = self.last(self.out2(ops.concat((self.up2(d), a), 1)))
        return e, self.resize(e, (48, 40)), ops.argmax(e, 1)


class Detector(nn.Cell):
    """Heads at two scales with boxes decoded, and a threshold that chooses a branch."""

    def __init__(self):
        super().__init__()
        self.back1 = nn.SequentialCell(nn.Conv2d(3, 16, 3, 2), nn.BatchNorm2d(16), nn.LeakyReLU(0.1))
        self.back2 = nn.SequentialCell(nn.Conv2d(16, 32, 3, 2), nn.BatchNorm2d(32), nn.LeakyReLU(0.1))
        self.head1, self.head2 = nn.Conv2d(48, 21, 1, has_bias=True), nn.Conv2d(32, 21, 1, has_bias=True)
        self.grid = Tensor(np.stack(np.meshgrid(np.arange(8), np.arange(8)), -1).reshape(1, 8, 8, 1, 2).astype(np.float32))
        self.anchors = Tensor(np.array([[1, 2], [2, 1], [3, 3]], np.float32))

    def construct(self, x):
        a = self.back1(x)
        b = self.back2(a)
        up = ops.ResizeNearestNeighbor((8, 8))(b)
        y = self.head1(ops.concat((a, up), 1)).reshape(1, 3, 7, 8, 8).transpose(0, 3, 4, 1, 2)
        xy = (ops.sigmoid(y[..., 0:2]) + self.grid) / 8
        wh = ops.exp(y[..., 2:4]) * self.anchors
        boxes = ops.concat((xy - wh / 2, xy + wh / 2), -1).reshape(-1, 4)
        scores = (ops.sigmoid(y[..., 4:5]) * ops.sigmoid(y[..., 5:])).reshape(-1, 2)
        best, which = ops.topk(ops.amax(scores, 1), 5)
        if best[0] > 0.5:
            chosen = ops.gather(boxes, which, 0) * 2
        else:
            chosen = ops.gather(boxes, which, 0)
        return chosen, best, self.head2(b)


class Generator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.start = nn.Dense(16, 32 * 4 * 4)
        self.up1 = nn.SequentialCell(nn.Conv2dTranspose(32, 16, 4, 2, pad_mode="pad", padding=1), nn.BatchNorm2d(16), nn.ReLU())
        self.up2 = nn.SequentialCell(nn.Conv2dTranspose(16, 3, 4, 2, pad_mode="pad", padding=1, has_bias=True), nn.Tanh())

    def construct(self, z):
        return self.up2(self.up1(self.start(z).reshape(-1, 32, 4, 4)))


class ViT(nn.Cell):
    def __init__(self, width=32, heads=4, depth=2):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 8, 8, pad_mode="valid", has_bias=True)
        self.token = Parameter(Tensor(np.linspace(-1, 1, width, dtype=np.float32).reshape(1, 1, width)), name="token")
        self.place = Parameter(Tensor(np.linspace(-1, 1, 17 * width, dtype=np.float32).reshape(1, 17, width)), name="place")
        self.blocks = nn.SequentialCell([EncoderLayer(width, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm((width,)), nn.Dense(width, 5)

    def construct(self, x):
        x = self.patch(x)
        x = x.reshape(x.shape[0], x.shape[1], -1).swapaxes(1, 2)
        x = ops.concat((ops.broadcast_to(self.token, (x.shape[0], 1, x.shape[2])), x), 1) + self.place
        return self.head(self.norm(self.blocks(x))[:, 0])


# --- texts and series ----------------------------------------------------------------------------------------------

class EncoderLayer(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.up, self.down, self.gelu = nn.Dense(width, 4 * width), nn.Dense(4 * width, width), nn.GELU()

    def construct(self, x, mask=None):
        n, t, w = x.shape
        y = self.qkv(self.norm1(x)).reshape(n, t, 3, self.heads, w // self.heads).transpose(2, 0, 3, 1, 4)
        scores = ops.matmul(y[0], y[1].swapaxes(-1, -2)) / (w // self.heads) ** 0.5
        if mask is not None:
            scores = scores + mask
        x = x + self.out(ops.matmul(ops.softmax(scores, -1), y[2]).transpose(0, 2, 1, 3).reshape(n, t, w))
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class Bert(nn.Cell):
    def __init__(self, words=50, width=32, heads=4, depth=2):
        super().__init__()
        self.words, self.kinds = nn.Embedding(words, width), nn.Embedding(2, width)
        self.places = Parameter(Tensor(np.linspace(-1, 1, 16 * width, dtype=np.float32).reshape(16, width)), name="places")
        self.norm, self.layers = nn.LayerNorm((width,)), nn.CellList([EncoderLayer(width, heads) for _ in range(depth)])
        self.pool, self.tanh = nn.Dense(width, width), nn.Tanh()

    def construct(self, ids, kinds, mask):
        x = self.norm(self.words(ids) + self.kinds(kinds) + self.places[:ids.shape[1]])
        away = (1 - mask.astype(ms.float32)).reshape(ids.shape[0], 1, 1, ids.shape[1]) * -10000.0
        for layer in self.layers:
            x = layer(x, away)
        return x, self.tanh(self.pool(x[:, 0]))


class GPT(nn.Cell):
    """Greedy tokens, one after the other: a loop whose number of turns is an input."""

    def __init__(self, words=20, width=16, length=8):
        super().__init__()
        self.words, self.layer, self.head = nn.Embedding(words, width), EncoderLayer(width, 2), nn.Dense(width, words)
        self.mask = Tensor(np.triu(np.full((length, length), -1e9, np.float32), 1))
        self.range = Tensor(np.arange(length).astype(np.int32))

    def construct(self, ids, n):
        at = Tensor(3, ms.int32)
        while at < n:
            x = self.head(self.layer(self.words(ids), self.mask))
            last = ops.gather(x[0], at - 1, 0)
            token = ops.argmax(last).astype(ms.int32)
            ids = ops.select(ops.equal(self.range, at).reshape(1, -1), ops.broadcast_to(token.reshape(1, 1), ids.shape), ids)
            at = at + 1
        return ids, at


class BiLSTM(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words, self.lstm = nn.Embedding(30, 8), nn.LSTM(8, 6, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Dense(12, 4)

    def construct(self, ids):
        y, (h, c) = self.lstm(self.words(ids))
        return ops.log_softmax(self.head(y), -1), h, c


class Seq2Seq(nn.Cell):
    """A GRU cell reads, another writes in a loop."""

    def __init__(self):
        super().__init__()
        self.words, self.encoder, self.decoder, self.head = nn.Embedding(15, 6), nn.GRUCell(6, 10), nn.GRUCell(6, 10), nn.Dense(10, 15)

    def construct(self, ids, turns):
        x = self.words(ids)
        h = ops.zeros((x.shape[0], 10), ms.float32)
        for t in range(x.shape[1]):
            h = self.encoder(x[:, t], h)
        token, total, i = ids[:, 0], ops.zeros((x.shape[0], 15), ms.float32), Tensor(0, ms.int32)
        while i < turns:
            h = self.decoder(self.words(token), h)
            scores = self.head(h)
            token, total, i = ops.argmax(scores, 1).astype(ms.int32), total + ops.softmax(scores), i + 1
        return total, token


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.gru, self.rnn = nn.GRU(4, 5, batch_first=True), nn.RNN(5, 3)

    def construct(self, x):
        y, h = self.gru(x)
        z, g = self.rnn(y.swapaxes(0, 1))
        return y, h, z, g


# --- others --------------------------------------------------------------------------------------------------------

class Quantised(nn.Cell):
    """int8 weights and activations, int32 sums."""

    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(3)
        self.w1 = Parameter(Tensor(rng.integers(-100, 100, (8, 16)).astype(np.int8)), name="w1", requires_grad=False)
        self.w2 = Parameter(Tensor(rng.integers(-100, 100, (16, 4)).astype(np.int8)), name="w2", requires_grad=False)

    def construct(self, x):
        q = ops.clip_by_value(ops.round(x * 20), -128, 127).astype(ms.int8)
        y = ops.matmul(q.astype(ms.int32), self.w1.astype(ms.int32)).astype(ms.float32) * 0.001
        r = ops.clip_by_value(ops.round(ops.relu(y) * 10), -128, 127).astype(ms.int8)
        return ops.matmul(r.astype(ms.float32), self.w2.astype(ms.float32)) * 0.002, q


class Shared(nn.Cell):
    """One Parameter under two layers, functions chosen by an index, closures."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(12, 6)
        self.bias = Parameter(Tensor(np.arange(12).astype(np.float32)), name="bias")

    def construct(self, ids, which):
        x = self.table(ids)

        def scaled(y):
            return y * 2 + x.mean()

        def shifted(y):
            return y + self.bias.sum()
        x = scaled(x) if which > 0 else shifted(x)
        return ops.matmul(x, self.table.embedding_table.T) + self.bias


class StateInBranches(nn.Cell):
    """Parameters that branches write, one with a result and one without."""

    def __init__(self):
        super().__init__()
        self.sum = Parameter(Tensor(np.zeros(3, np.float32)), name="sum")
        self.count = Parameter(Tensor(0, ms.int32), name="count", requires_grad=False)

    def construct(self, x):
        if ops.reduce_sum(self.sum) <= 0:
            self.sum += ops.abs(x)
            y = self.sum * 2
        else:
            ops.assign(self.count, self.count + 1)
            y = x - self.sum
        if self.count > 0:
            self.sum = self.sum * 0.5
        return y, self.count + 0


class StateInLoop(nn.Cell):
    def __init__(self):
        super().__init__()
        self.sum = Parameter(Tensor(np.zeros(3, np.float32)), name="sum")

    def construct(self, x, n):
        i = Tensor(0, ms.int32)
        while i < n:
            self.sum += x
            i = i + 1
        return self.sum * x


class StateInBoth(nn.Cell):
    def __init__(self):
        super().__init__()
        self.sum = Parameter(Tensor(np.zeros(3, np.float32)), name="sum")
        self.count = Parameter(Tensor(0, ms.int32), name="count", requires_grad=False)

    def construct(self, x, n):
        i = Tensor(0, ms.int32)
        total = x
        while i < n:
            if ops.reduce_sum(total) > 2:
                self.sum += total
                total = total - self.sum
            else:
                self.count = self.count + 1
                total = total + ops.abs(x)
            i = i + 1
        return total, self.sum + 0, self.count + 0


class TrainStep(nn.Cell):
    """A step of training: forward, backward, update."""

    def __init__(self):
        super().__init__()
        net = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 3))
        self.step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))

    def construct(self, x, y):
        return self.step(x, y)


class TrainConv(nn.Cell):
    """The same with convolution, normalisation, pooling, cross entropy and Adam."""

    def __init__(self):
        super().__init__()
        net = nn.SequentialCell(nn.Conv2d(1, 4, 3, has_bias=True), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(64, 3))
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        self.step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Adam(net.trainable_params(), 0.05))

    def construct(self, x, y):
        return self.step(x, y)


class TrainSkipping(nn.Cell):
    """A step that is taken in a branch: not when the loss is large."""

    def __init__(self):
        super().__init__()
        self.net = nn.SequentialCell(nn.Dense(6, 8), nn.Tanh(), nn.Dense(8, 3))
        self.loss = nn.MSELoss()
        self.optimizer = nn.Momentum(self.net.trainable_params(), 0.5, 0.9)
        self.skipped = Parameter(Tensor(0, ms.int32), name="skipped", requires_grad=False)
        self.grad = ops.value_and_grad(self.forward, None, self.optimizer.parameters)

    def forward(self, x, y):
        return self.loss(self.net(x), y)

    def construct(self, x, y):
        loss, grads = self.grad(x, y)
        if loss < 0.9:
            self.optimizer(grads)
        else:
            self.skipped += 1
            ops.assign(self.net[2].bias, self.net[2].bias - 0.5 * grads[3])
        return loss, self.skipped + 0


class TrainText(nn.Cell):
    """A transformer layer with embedding, layer normalisation, GELU and softmax."""

    def __init__(self):
        super().__init__()
        net = Tagger()
        self.step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.SGD(net.trainable_params(), 0.1))

    def construct(self, x, y):
        return self.step(x, y)


class Tagger(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words, self.layer, self.head = nn.Embedding(9, 8), EncoderLayer(8, 2), nn.Dense(8, 4)

    def construct(self, ids):
        return self.head(self.layer(self.words(ids))).reshape(-1, 4)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def whole(high, *shape):
    return np.random.default_rng(5).integers(0, high, shape).astype(np.int32)


def mindcv(name, size=64):
    def make():
        from mindcv.models import create_model
        return create_model(name, num_classes=10)
    return make, lambda: [normal(1, 3, size, size)]


NETS = {
    "resnet50": (ResNet50, lambda: [normal(1, 3, 32, 32)]), "mobilenetv2": (MobileNetV2, lambda: [normal(1, 3, 32, 32)]),
    "unet": (UNet, lambda: [normal(1, 3, 24, 20)]), "detector": (Detector, lambda: [normal(1, 3, 16, 16)]),
    "generator": (Generator, lambda: [normal(2, 16)]), "vit": (ViT, lambda: [normal(2, 3, 32, 32)]),
    "bert": (Bert, lambda: [whole(50, 2, 9), whole(2, 2, 9), whole(2, 2, 9)]), "gpt": (GPT, lambda: [whole(20, 1, 8), np.int32(6)]),
    "bilstm": (BiLSTM, lambda: [whole(30, 3, 7)]), "seq2seq": (Seq2Seq, lambda: [whole(15, 2, 4), np.int32(3)]),
    "recurrent": (Recurrent, lambda: [normal(2, 5, 4)]), "quantised": (Quantised, lambda: [normal(3, 8)]),
    "shared": (Shared, lambda: [whole(12, 2, 3), np.int32(1)]), "train_step": (TrainStep, lambda: [normal(4, 6), normal(4, 3)]),
    "train_conv": (TrainConv, lambda: [normal(4, 1, 8, 8), whole(3, 4)]), "train_text": (TrainText, lambda: [whole(9, 2, 5), whole(4, 10)]),
    "state_branches": (StateInBranches, lambda: [normal(3)]), "state_loop": (StateInLoop, lambda: [normal(3), np.int32(4)]),
    "state_both": (StateInBoth, lambda: [normal(3), np.int32(6)]), "train_skipping": (TrainSkipping, lambda: [normal(4, 6), normal(4, 3)]),
    **{f"mindcv_{name}": mindcv(name) for name in
       ("resnet18", "mobilenet_v2_035_128", "mobilenet_v3_small_100", "densenet121", "efficientnet_b0", "shufflenet_v2_x0_5", "squeezenet1_0", "googlenet",
        "regnet_x_200mf", "ghostnet_050", "convnext_tiny", "mnasnet_050")},
    "mindcv_vit_b_16_224": mindcv("vit_b_16_224", 224), "mindcv_mobilevit_xx_small": mindcv("mobilevit_xx_small", 64),
    "mindcv_poolformer_s12": mindcv("poolformer_s12", 64), "mindcv_swin_tiny": mindcv("swin_tiny", 224),
}


def listed(found):
    flat = []
    for one in found if isinstance(found, (tuple, list)) else (found,):
        flat.extend(listed(one) if isinstance(one, (tuple, list)) else [one.asnumpy()])
    return flat


def turns(name):
    """Steps of training and nets with a state are run three times: the last ones tell that Parameters were changed."""
    return 3 if name.startswith(("train", "state")) else 1


def write(folder, *names):
    for name in names or NETS:
        make, inputs = NETS[name]
        began = time.time()
        try:
            ms.set_seed(1)
            net, arrays = make(), inputs()
            net.set_train(name.startswith("train"))
            ms.export(net, *map(Tensor, arrays), file_name=f"{folder}/{name}", file_format="MINDIR")
            results = [x for _ in range(turns(name)) for x in listed(net(*map(Tensor, arrays)))]
            np.savez(f"{folder}/{name}.npz", **{f"in{k}": x for k, x in enumerate(arrays)}, **{f"out{k}": x for k, x in enumerate(results)})
            print(f"{name}: written, {time.time() - began:.1f} s", flush=True)
        except Exception as error:
            print(f"{name}: NOT WRITTEN: {type(error).__name__}: {' '.join(str(error).split())[:300]}", flush=True)


def read(folder):
    for path in sorted(pathlib.Path(folder).glob("*.mindir")):
        if not path.with_suffix(".npz").exists():
            continue
        arrays = np.load(path.with_suffix(".npz"))
        inputs = [Tensor(arrays[f"in{k}"]) for k in range(len(arrays.files)) if f"in{k}" in arrays.files]
        wanted = [arrays[f"out{k}"] for k in range(len(arrays.files)) if f"out{k}" in arrays.files]
        try:
            net = nn.GraphCell(ms.load(str(path)))
            found = [x for _ in range(turns(path.stem)) for x in listed(net(*inputs))]
        except Exception as error:
            print(f"{path.stem}: FAILED: {type(error).__name__}: {' '.join(str(error).split())[:300]}", flush=True)
            continue
        if [x.shape for x in found] != [x.shape for x in wanted]:
            print(f"{path.stem}: DIFFERS: shapes {[x.shape for x in found]} instead of {[x.shape for x in wanted]}", flush=True)
            continue
        size = max([float(np.abs(x).max()) for x in wanted if x.size] + [1e-30])
        worst = max(float(np.abs(a.astype(np.float64) - b).max()) if a.size else 0.0 for a, b in zip(found, wanted))
        print(f"{path.stem}: {len(found)} results, largest difference {worst:.1e} ({worst / size:.1e} of the largest value)", flush=True)


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])

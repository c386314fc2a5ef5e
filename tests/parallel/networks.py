# SPDX-License-Identifier: Apache-2.0
"""Networks that the tests of this folder train. `stages` of the first ones: how many stages of a pipeline, and segments of each; None for none."""
import numpy as np

from spore import Parameter, Tensor, nn, ops


class LeNet(nn.Cell):
    """Two stages, or as many as there are."""

    def __init__(self, stages):
        super().__init__()
        self.blocks = nn.CellList([
            nn.SequentialCell(nn.Conv2d(1, 4, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2)),
            nn.SequentialCell(nn.Conv2d(4, 8, 3, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()),
            nn.SequentialCell(nn.Dense(32, 24, activation="relu")), nn.Dense(24, 4)])
        place(self.blocks, stages)

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Lstm(nn.Cell):
    def __init__(self, stages):
        super().__init__()
        self.embedding, self.first, self.second, self.out = nn.Embedding(16, 8), nn.LSTM(8, 12, batch_first=True), nn.LSTM(12, 12, batch_first=True), nn.Dense(12, 4)
        place([self.embedding, self.first, self.second, self.out], stages)

    def construct(self, x):
        y, _ = self.first(self.embedding(x))
        y, _ = self.second(y)
        return self.out(y[:, -1])


class Block(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.qkv, self.out, self.up, self.down = nn.Dense(width, 3 * width), nn.Dense(width, width), nn.Dense(width, 4 * width), nn.Dense(4 * width, width)

    def construct(self, x):
        b, t, c = x.shape
        q, k, v = [part.reshape((b, t, self.heads, c // self.heads)).transpose(0, 2, 1, 3) for part in ops.split(self.qkv(self.norm1(x)), c, 2)]
        mask = Tensor(np.triu(np.full((t, t), -1e9, np.float32), 1))
        weights = ops.softmax(ops.matmul(q, k.transpose(0, 1, 3, 2)) / float(np.sqrt(c // self.heads)) + mask, -1)
        x = x + self.out(ops.matmul(weights, v).transpose(0, 2, 1, 3).reshape((b, t, c)))
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class Embed(nn.Cell):
    def __init__(self, table, position):
        super().__init__()
        self.table, self.position = table, position

    def construct(self, x):
        return ops.gather(self.table, x, 0) + self.position


class Head(nn.Cell):
    def __init__(self, table, width):
        super().__init__()
        self.table, self.norm = table, nn.LayerNorm((width,))

    def construct(self, x):
        return ops.matmul(self.norm(x), self.table.transpose(1, 0)).reshape((-1, self.table.shape[0]))


class Gpt(nn.Cell):
    """The table of the embedding is used by the first and the last stage."""

    def __init__(self, stages, recompute=False):
        super().__init__()
        self.table = Parameter(Tensor(np.zeros((12, 16), np.float32)), name="table")
        self.position = Parameter(Tensor(np.zeros((6, 16), np.float32)), name="position")
        self.embed, self.blocks, self.head = Embed(self.table, self.position), nn.CellList([Block(16, 2) for _ in range(4)]), Head(self.table, 16)
        if recompute:
            for block in self.blocks:
                block.recompute()
        place([self.embed, *self.blocks, self.head], stages)

    def construct(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def place(cells, stages):
    """Cells in their order over (stages, segments)."""
    if stages is None:
        return
    count, segments = stages
    cells = list(cells)
    for i, cell in enumerate(cells):
        virtual = i * count * segments // len(cells)
        cell.pipeline_stage = virtual % count
        if segments > 1:
            cell.pipeline_segment = virtual // count


class Basic(nn.Cell):
    """Two convolutions beside a shortcut."""

    def __init__(self, come, go, stride):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(come, go, 3, stride), nn.SyncBatchNorm(go)
        self.conv2, self.norm2 = nn.Conv2d(go, go, 3), nn.SyncBatchNorm(go)
        self.down = nn.SequentialCell(nn.Conv2d(come, go, 1, stride), nn.SyncBatchNorm(go)) if stride > 1 or come != go else nn.Identity()

    def construct(self, x):
        y = self.norm2(self.conv2(ops.relu(self.norm1(self.conv1(x)))))
        return ops.relu(y + self.down(x))


def resnet18(width=16, classes=4):
    """ResNet-18, narrow; statistics are those of the global batch."""
    sizes = [width, width, width, 2 * width, 2 * width, 4 * width, 4 * width, 8 * width, 8 * width]
    blocks = [Basic(come, go, 2 if go > come else 1) for come, go in zip(sizes, sizes[1:])]
    return nn.SequentialCell(nn.Conv2d(1, width, 3), nn.SyncBatchNorm(width), nn.ReLU(), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                             nn.Dense(8 * width, classes))

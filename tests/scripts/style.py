# SPDX-License-Identifier: Apache-2.0
"""Style transfer: features taken from inner layers, Gram matrices, total variation; the image is the Parameter."""
import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
random = np.random.RandomState(3)


class Features(nn.Cell):
    def __init__(self, taps=("1", "4", "6")):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(3, 6, 3, pad_mode="same", has_bias=True), nn.ReLU(), nn.AvgPool2d(2, 2),
            nn.Conv2d(6, 8, 3, pad_mode="same", has_bias=True), nn.ReLU(),
            nn.Conv2d(8, 8, 3, pad_mode="same", has_bias=True), nn.ReLU())
        self.taps = taps
        for p in self.get_parameters():
            p.set_data(Tensor(random.normal(0, 0.25, p.shape).astype(np.float32)))
            p.requires_grad = False

    def construct(self, x):
        out = []
        for name, layer in self.layers.name_cells().items():
            x = layer(x)
            if name in self.taps:
                out.append(x)
        return out


def gram(x):
    b, c, h, w = x.shape
    f = x.view(b, c, h * w)
    return ops.bmm(f, f.transpose(0, 2, 1)) / (c * h * w)


def total_variation(x):
    return ops.abs(x[:, :, 1:, :] - x[:, :, :-1, :]).mean() + ops.abs(x[..., 1:] - x[..., :-1]).mean()


class Canvas(nn.Cell):
    def __init__(self, start, features, content, styles):
        super().__init__()
        self.image = Parameter(start.copy(), name="image")
        self.features = features
        self.content, self.styles = content, styles
        self.mse = nn.MSELoss()

    def construct(self):
        found = self.features(self.image)
        content = self.mse(found[-1], self.content)
        style = 0
        for f, s in zip(found, self.styles):
            style = style + self.mse(gram(f), s)
        return content + 50 * style + 0.1 * total_variation(self.image)


features = Features()
content = Tensor(random.rand(1, 3, 12, 12).astype(np.float32))
style = Tensor(np.tile(np.array([[0.0, 1.0], [1.0, 0.0]], np.float32), (1, 3, 6, 6)))
canvas = Canvas(content, features, ops.stop_gradient(features(content)[-1]), [gram(f) for f in features(style)])
optimizer = nn.Adam(canvas.trainable_params(), learning_rate=nn.ExponentialDecayLR(0.05, 0.9, 2), use_amsgrad=False)
step = ms.value_and_grad(canvas, None, weights=optimizer.parameters)
print([p.name for p in canvas.trainable_params()], len(list(canvas.get_parameters())))
for i in range(6):
    loss, grads = step()
    optimizer(grads)
    ops.assign(canvas.image, ops.clamp(canvas.image, 0, 1))
    print(i, loss, optimizer.get_lr())
image = (canvas.image.asnumpy()[0].transpose(1, 2, 0) * 255).astype(np.uint8)
print(image.shape, image.dtype, image.min(), image.max())

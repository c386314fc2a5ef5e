# SPDX-License-Identifier: Apache-2.0
"""200 small networks that use the sizes of their input as numbers, conditions, shapes and slices, and 20 whose layers make, cut or fill up images of any size.

Each is the text of a function of x, which MindSpore and spore compile alike: `ms`, `ops`, `nn` and `Tensor` are those of either.
"""

PLAIN = [(2, 3), (5, 130), (1, 200), (7, 7), (3, 161)]           # sizes that no capture has
IMAGES = [(1, 3, 9, 8), (2, 3, 16, 31), (3, 3, 40, 12), (1, 3, 33, 33), (4, 3, 10, 50)]

_NUMBERS = [
    "w", "h", "h + w", "h * w", "w - h", "w // 2", "w // 160", "w % 7", "(w + 1) // 2", "w * 2 - 1", "w // 3 * h", "-w", "abs(3 - w)", "w ** 2", "h * h + w",
    "(w - 1) // 4 + 1", "len(x)", "x.size", "x.size // w", "x.ndim * w", "(h + w) % 5", "w // (h + 1)", "w * 3 // 2", "int(w * 0.5)", "w & 3",
]
_FLOATS = ["w ** 0.5", "1 / w", "w / 2", "w / h", "float(w)", "w * 0.25", "(h * w) ** 0.5", "w ** -0.5", "1.0 / (h + w)", "w / 160"]
_CONDITIONS = [
    "w > 100", "w == 7", "w >= 130", "h < 3", "w % 2 == 0", "h == w", "w > h", "w // 2 > 60", "w > 2 and h > 2", "w > 150 or h > 4", "not w > 100", "h != 1",
    "2 < w < 150", "w * h > 300", "w - h > 100",
]
_SHAPES = [
    "ops.zeros((h, 1), ms.float32) + x", "ops.ones((h, w), ms.float32) * x", "ops.concat((ops.zeros((h, 1), ms.float32), x), 1)",
    "ops.concat((x, ops.ones((h, 2), ms.float32)), 1)", "ops.concat((ops.zeros((1, w), ms.float32), x), 0)", "x.reshape(w, h)", "x.reshape(h * w)", "x.reshape(1, h, w)",
    "x.reshape(h, 1, w) * 2", "x.reshape(-1, h)", "ops.reshape(x, (h * w, 1))", "x.view(-1)", "ops.matmul(x, ops.ones((w, w), ms.float32))",
    "ops.matmul(x, ops.tril(ops.ones((w, w), ms.float32)))", "ops.triu(ops.ones((w, w), ms.float32)) * x.sum()", "ops.full((h, w), 1.5) + x",
    "x + ops.arange(w)", "x * ops.arange(0, w, 1)", "ops.arange(w) * 2 + x.sum()", "x.T.reshape(h, w)", "ops.broadcast_to(x.sum(1, keepdims=True), (h, w))",
    "x.expand_dims(1).broadcast_to((h, 3, w))", "ops.tile(x, (2, 1))", "ops.zeros((w, h), ms.float32) + x.T", "ops.ones((h, w // 2 + 1), ms.float32) * x.sum()",
    "ops.zeros((w + 1,), ms.float32) + x.sum()", "ops.ones((h * 2, w), ms.float32) * x.sum(0)", "x.reshape(h, w).sum(0).reshape(1, w)",
    "ops.stack((x, x)).reshape(2 * h, w)", "ops.concat((x, x), 1).reshape(h, 2, w)", "ops.concat((x, x), 0).reshape(2, h, w).mean(0)", "(x.reshape(h * w) * 2).reshape(h, w)",
    "ops.zeros_like(x) + w", "ops.ones_like(x) * h", "ops.softmax(x / w, -1)", "ops.matmul(x, x.T) / w", "ops.matmul(x.T, x) / h", "x - x.sum(1, keepdims=True) / w",
    "ops.arange(h).reshape(h, 1) + x", "ops.masked_fill(x, ops.arange(w) > w // 2, 0.0)",
]
_SLICES = [
    "x[:, :w // 2]", "x[:, w // 2:]", "x[h // 2:]", "x[:, :w - 1]", "x[:, 1:]", "x[:, :-1]", "x[:, -2:]", "x[:, ::2]", "x[:, 1::2]", "x[:, :100]", "x[:, -10:]", "x[:, w - 1]",
    "x[h - 1]", "x[-1]", "x[:, -1]", "x[:, w // 2]", "x[:, :1] + x[:, w - 1:]", "x[:, :min(w, 5)]", "x[:, max(w - 4, 0):]", "x[:, w // 4:w // 4 * 3 + 1]", "x[0:h, 0:w]",
    "x[: (h + 1) // 2]", "x[:, 1:] - x[:, :-1]", "x[:, :w // 3 + 1].sum(1)", "x[h // 2:, w // 2:]", "x[:, :w - w % 2]", "x[:, :w // 2 * 2].reshape(h, w // 2, 2)",
    "x[..., :w // 2].sum()", "x[:, : int(w * 0.5) + 1]", "x[:, :w // 2] * (w // 2)", "x[:, :3].sum(1) / w", "ops.concat((x[:, w // 2:], x[:, :w // 2]), 1)",
    "x[:, w - 2:w]", "x[:2] * h", "x[:, :2].reshape(h * 2)", "x[:, 0] * w", "x[0] / w", "x[:, :, None].reshape(h, w)", "x[None].sum(2) / w", "x[:, ::-1]",
]
_OF_IMAGES = [
    "x.reshape(n, 3, h * w)", "x.reshape(n * 3, h, w)", "x.reshape(n, 3, h * w).transpose(0, 2, 1)", "x.mean((2, 3)) * h", "x.sum((2, 3)) / (h * w)", "x.transpose(0, 1, 3, 2)",
    "x[:, :, :h // 2, :w // 2]", "x[:, :, h // 2:, :]", "x.transpose(0, 2, 3, 1).reshape(n, h * w, 3)", "ops.zeros((n, 1, h, w), ms.float32) + x", "x.reshape(n, -1).sum(1) / (3 * h * w)",
    "ops.max_pool2d(x, 2, 2) * w", "ops.avg_pool2d(x, 2, 2).reshape(n, 3, -1)", "ops.relu(x - 0.5).reshape(n, 3 * h, w)", "x * (h / w)", "x[:, 0].reshape(n, h, w) + h * w",
    "ops.softmax(x.reshape(n, 3, h * w), -1).reshape(n, 3, h, w)", "ops.concat((x, x[:, :1]), 1).reshape(n, 4 * h * w)", "x if h > w else x * 2", "x.sum(1).reshape(n, 1, h, w).broadcast_to((n, 2, h, w))",
]
_KERNEL = "Tensor(np.cos(np.arange({})).reshape({}).astype(np.float32))"
_LAYERS = [ # what is made in __init__, what construct gives
    ("", "ops.interpolate(x, size=(h * 2, w * 2), mode='nearest')"),
    ("", "ops.interpolate(x, size=(h * 3, w), mode='bilinear', align_corners=False)"),
    ("", "ops.interpolate(x, size=(h * 2, w // 2), mode='bilinear', align_corners=True)"),
    ("", "ops.interpolate(x, size=(7, 9), mode='nearest')"),
    ("", "ops.interpolate(x, size=(7, 9), mode='bilinear')"),
    ("nn.Upsample(scale_factor=2.0, mode='nearest', recompute_scale_factor=True)", "self.f(x) + 1"),
    ("nn.Upsample(scale_factor=2.0, mode='bilinear', recompute_scale_factor=True)", "self.f(x)[:, :, 1:]"),
    ("nn.Conv2dTranspose(3, 4, 2, stride=2, weight_init=" + _KERNEL.format(48, "3, 4, 2, 2") + ")", "self.f(x)"),
    ("nn.Conv2dTranspose(3, 4, 3, stride=2, pad_mode='pad', padding=1, weight_init=" + _KERNEL.format(108, "3, 4, 3, 3") + ")", "self.f(x)"),
    ("nn.Conv2dTranspose(3, 4, 3, stride=2, pad_mode='pad', padding=1, output_padding=1, weight_init=" + _KERNEL.format(108, "3, 4, 3, 3") + ")", "self.f(x)"),
    ("nn.Conv2dTranspose(3, 4, 5, stride=3, pad_mode='valid', weight_init=" + _KERNEL.format(300, "3, 4, 5, 5") + ")", "self.f(x)"),
    ("nn.Conv2dTranspose(3, 4, 3, stride=1, weight_init=" + _KERNEL.format(108, "3, 4, 3, 3") + ")", "self.f(x) * w"),
    ("", "ops.pad(x, (1, 2, 3, 4))"),
    ("", "ops.pad(x, (0, 0, 1, 0), value=2.0)"),
    ("", "ops.pad(x[:, :, 1:], (2, 1))"),
    ("nn.ConstantPad2d((1, 0, 2, 1), 0.5)", "self.f(x)"),
    ("nn.ZeroPad2d((1, 1, 1, 1))", "ops.max_pool2d(self.f(x), 3, 2)"),
    ("", "ops.pad(ops.max_pool2d(x, 2, 2), (1, 1, 1, 1)).sum(1)"),
    ("nn.Conv2dTranspose(3, 3, 2, stride=2, weight_init=" + _KERNEL.format(36, "3, 3, 2, 2") + ")",
     "ops.concat((self.f(ops.max_pool2d(x, 2, 2)), x[:, :, :h // 2 * 2, :w // 2 * 2]), 1)"),
    ("", "ops.concat((ops.interpolate(ops.avg_pool2d(x, 2, 2), size=(h, w), mode='nearest'), x), 1)"),
]


def _plain(expression):
    return f"def construct(x):\n    h, w = x.shape[0], x.shape[1]\n    return {expression}\n"


def _all():
    nets = {}
    for i, number in enumerate(_NUMBERS):
        nets[f"number_add_{i}"] = _plain(f"x + {number}" if i % 2 else f"x * ({number})")
    for i, number in enumerate(_FLOATS):
        nets[f"number_float_{i}"] = _plain(f"x * ({number})")
    for i in range(15):
        a, b = _NUMBERS[i], _NUMBERS[-1 - i]
        nets[f"number_two_{i}"] = _plain(f"(x + {a}) / ({b} + 1000)")
    for i, condition in enumerate(_CONDITIONS):
        nets[f"condition_value_{i}"] = _plain(f"x * (1.0 if {condition} else 2.0)")
        nets[f"condition_if_{i}"] = (f"def construct(x):\n    h, w = x.shape[0], x.shape[1]\n    if {condition}:\n        return x * 2\n    return x - 1\n")
        if i < 15:
            nets[f"condition_branch_{i}"] = (f"def construct(x):\n    h, w = x.shape[0], x.shape[1]\n    y = x + w\n    if {condition}:\n        y = y * 3\n"
                                             "    else:\n        y = y - h\n    return y.sum(1)\n")
    for i, turns in enumerate(["range(h)", "range(w // 8)", "range(1, h + 1)", "range(0, w, 40)", "range(h * 2)"]):
        nets[f"loop_{i}"] = f"def construct(x):\n    h, w = x.shape[0], x.shape[1]\n    y = x.sum(1)\n    for i in {turns}:\n        y = y * 0.5 + i\n    return y\n"
    for i, shape in enumerate(_SHAPES):
        nets[f"shape_{i}"] = _plain(shape)
    for i, part in enumerate(_SLICES):
        nets[f"slice_{i}"] = _plain(part)
    for i, expression in enumerate(_OF_IMAGES):
        nets[f"image_{i}"] = f"def construct(x):\n    n, h, w = x.shape[0], x.shape[2], x.shape[3]\n    return {expression}\n"
    for i, (_, expression) in enumerate(_LAYERS):
        nets[f"layer_{i}"] = f"def construct(x):\n    n, h, w = x.shape[0], x.shape[2], x.shape[3]\n    return {expression}\n"
    return nets


NETS = _all()


def sizes(name):
    return IMAGES if name.startswith(("image", "layer")) else PLAIN


def open_shape(name):
    return [None, 3, None, None] if name.startswith(("image", "layer")) else [None, None]


def source(name):
    """The network as a module: graph mode reads functions from files."""
    made = _LAYERS[int(name.split("_")[1])][0] if name.startswith("layer") else ""
    init = f"    def __init__(self):\n        super().__init__()\n        self.f = {made}\n" if made else ""
    return "import numpy as np\nclass Net(nn.Cell):\n" + init + "    def construct(self, x):\n" + "".join(f"    {line}\n" for line in NETS[name].splitlines()[1:])

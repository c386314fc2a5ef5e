# SPDX-License-Identifier: Apache-2.0
# Cells with fixed weights: output, gradient of the input and of every parameter.
STEP = "def step(v):\n    y = net(v)\n    return y * y\n"
LAYERS = [
    # Dense and embedding
    ("nn.Dense", "nn.Dense(3, 4)", "f32[2,3]"), ("nn.Dense", "nn.Dense(3, 4, has_bias=False)", "f32[2,3]"), ("nn.Dense",
    "nn.Dense(3, 2, activation='relu')", "f32[2,2,3]"),
    ("nn.Dense", "nn.Dense(in_channels=3, out_channels=2, weight_init='ones', bias_init='zeros', activation=nn.Tanh())",
    "f32[3]"),
    ("nn.Conv1d", "nn.Conv1d(2, 3, 3)", "f32[1,2,6]"), ("nn.Conv1d",
    "nn.Conv1d(2, 3, 3, stride=2, pad_mode='valid', has_bias=True)", "f32[2,2,7]"), ("nn.Conv1d",
    "nn.Conv1d(2, 4, 3, pad_mode='pad', padding=1, group=2, dilation=1)", "f32[1,2,6]"),
    # Convolution
    ("nn.Conv2d", "nn.Conv2d(2, 3, 3)", "f32[1,2,5,5]"), ("nn.Conv2d", "nn.Conv2d(2, 3, 3, has_bias=True)",
    "f32[2,2,4,5]"), ("nn.Conv2d", "nn.Conv2d(2, 3, 3, stride=2)", "f32[1,2,5,6]"),
    ("nn.Conv2d", "nn.Conv2d(2, 3, 3, pad_mode='valid')", "f32[1,2,5,5]"), ("nn.Conv2d",
    "nn.Conv2d(2, 3, (3, 2), stride=(2, 1), pad_mode='valid', has_bias=True)", "f32[1,2,5,5]"),
    ("nn.Conv2d", "nn.Conv2d(2, 3, 3, pad_mode='pad', padding=1)", "f32[1,2,4,4]"), ("nn.Conv2d",
    "nn.Conv2d(2, 3, 3, stride=2, pad_mode='pad', padding=(1, 0, 2, 1), has_bias=True)", "f32[1,2,6,6]"),
    ("nn.Conv2d", "nn.Conv2d(4, 4, 3, group=2)", "f32[1,4,4,4]"), ("nn.Conv2d",
    "nn.Conv2d(4, 4, 3, group=4, pad_mode='pad', padding=1)", "f32[1,4,4,4]"), ("nn.Conv2d",
    "nn.Conv2d(4, 8, 3, group=4, stride=2)", "f32[1,4,5,5]"),
    ("nn.Conv2d", "nn.Conv2d(2, 3, 3, dilation=2)", "f32[1,2,6,6]"), ("nn.Conv2d",
    "nn.Conv2d(2, 3, 3, dilation=(2, 1), pad_mode='valid')", "f32[1,2,6,6]"), ("nn.Conv2d", "nn.Conv2d(3, 2, 1)",
    "f32[2,3,3,3]"), ("nn.Conv2d", "nn.Conv2d(1, 2, 7, stride=2, pad_mode='pad', padding=3)", "f32[1,1,9,9]"),
    ("nn.Conv2dTranspose", "nn.Conv2dTranspose(2, 3, 3)", "f32[1,2,4,4]"), ("nn.Conv2dTranspose",
    "nn.Conv2dTranspose(2, 3, 3, stride=2)", "f32[1,2,3,3]"), ("nn.Conv2dTranspose",
    "nn.Conv2dTranspose(2, 3, 4, stride=2, pad_mode='pad', padding=1, has_bias=True)", "f32[1,2,3,3]"),
    ("nn.Conv2dTranspose", "nn.Conv2dTranspose(2, 3, 3, stride=2, pad_mode='valid')", "f32[1,2,3,3]"),
    ("nn.Conv2dTranspose", "nn.Conv2dTranspose(2, 2, 3, stride=2, pad_mode='pad', padding=1, output_padding=1)",
    "f32[1,2,3,3]"),
    ("nn.Conv1dTranspose", "nn.Conv1dTranspose(2, 3, 3, stride=2)", "f32[1,2,4]"), ("nn.Conv3d",
    "nn.Conv3d(1, 2, 2, pad_mode='valid')", "f32[1,1,3,3,3]"),
    # Normalisation in evaluation mode; training mode is below
    ("nn.BatchNorm1d", "nn.BatchNorm1d(3)", "f32[4,3]"), ("nn.BatchNorm2d", "nn.BatchNorm2d(3)", "f32[2,3,2,2]"),
    ("nn.BatchNorm2d", "nn.BatchNorm2d(3, eps=1e-3, affine=False)", "f32[2,3,2,2]"), ("nn.BatchNorm2d",
    "nn.BatchNorm2d(3, use_batch_statistics=True)", "f32[2,3,2,2]"),
    ("nn.BatchNorm3d", "nn.BatchNorm3d(2)", "f32[1,2,2,2,2]"),
    ("nn.LayerNorm", "nn.LayerNorm((4,))", "f32[2,3,4]"), ("nn.LayerNorm",
    "nn.LayerNorm([3, 4], begin_norm_axis=1, begin_params_axis=1)", "f32[2,3,4]"), ("nn.LayerNorm",
    "nn.LayerNorm((4,), epsilon=1e-5)", "f32[5,4]"),
    ("nn.GroupNorm", "nn.GroupNorm(2, 4)", "f32[2,4,3,3]"), ("nn.GroupNorm", "nn.GroupNorm(1, 3, eps=1e-3)",
    "f32[2,3,2,2]"), ("nn.GroupNorm", "nn.GroupNorm(4, 4, affine=False)", "f32[2,4,2,2]"),
    ("nn.InstanceNorm2d", "nn.InstanceNorm2d(3)", "f32[2,3,4,4]"),
    # Pooling
    *[("nn." + p, f"nn.{p}({a})", "f32[1,2,5,5]") for p in ("MaxPool2d", "AvgPool2d") for a in ("2",
    "kernel_size=2, stride=2", "3, 2, pad_mode='same'", "(3, 2), (2, 1)", "3, stride=2, pad_mode='pad', padding=1",
    "3, 2, pad_mode='SAME'", "2, 2, pad_mode='pad', padding=1, ceil_mode=True")],
    ("nn.AvgPool2d", "nn.AvgPool2d(3, 2, pad_mode='pad', padding=1, count_include_pad=False)", "f32[1,2,5,5]"),
    ("nn.MaxPool1d", "nn.MaxPool1d(2, 2)", "f32[1,2,6]"), ("nn.AvgPool1d", "nn.AvgPool1d(2, 2)", "f32[1,2,6]"),
    *[("nn.AdaptiveAvgPool2d", f"nn.AdaptiveAvgPool2d({a})", "f32[1,2,5,4]") for a in ("1", "(2, 3)", "(None, 2)")],
    # Activations
    *[("nn." + a, f"nn.{a}()", s) for a in ("ReLU", "ReLU6", "GELU", "Sigmoid", "Tanh", "LeakyReLU", "ELU", "PReLU",
    "HSwish", "HSigmoid", "SiLU", "Softmax", "LogSoftmax", "Mish", "Identity", "LogSigmoid", "Softsign", "FastGelu",
    "CELU") for s in ("f32[2,3](-4,4)", "f16[4](-4,4)", "f32[2,3,2](-4,4)")
      if not (a == "PReLU" and s == "f16[4](-4,4)")],
    ("nn.GELU", "nn.GELU(approximate=False)", "f32[2,3]"), ("nn.LeakyReLU", "nn.LeakyReLU(alpha=0.01)", "f32[2,3]"),
    ("nn.ELU", "nn.ELU(alpha=1.0)", "f32[2,3]"), ("nn.PReLU", "nn.PReLU(channel=3, w=0.1)", "f32[2,3,2,2]"),
    ("nn.Softmax", "nn.Softmax(axis=0)", "f32[2,3]"), ("nn.LogSoftmax", "nn.LogSoftmax(axis=1)", "f32[2,3]"),
    ("nn.get_activation", "nn.get_activation('relu')", "f32[2,3]"), ("nn.get_activation",
    "nn.get_activation('sigmoid')", "f32[2,3]"), ("nn.get_activation", "nn.get_activation('leakyrelu')", "f32[2,3]"),
    # The rest
    ("nn.Flatten", "nn.Flatten()", "f32[2,3,4]"), ("nn.Flatten", "nn.Flatten(start_dim=2)", "f32[2,3,4,2]"),
    ("nn.Flatten", "nn.Flatten()", "i32[3,2]"), ("nn.Pad", "nn.Pad(((1, 1), (0, 2)))", "f32[2,3]"), ("nn.Pad",
    "nn.Pad(paddings=((1, 1), (1, 1)), mode='REFLECT')", "f32[2,3]"),
    ("nn.Pad", "nn.Pad(((1, 1), (1, 1)), mode='SYMMETRIC')", "f32[2,3]"), ("nn.ConstantPad2d",
    "nn.ConstantPad2d(1, 0.5)", "f32[1,2,2,3]"), ("nn.Dropout", "nn.Dropout(p=0.5)", "f32[2,3]"), ("nn.Dropout",
    "nn.Dropout()", "f16[2,3]"), ("nn.Dropout", "nn.Dropout(p=0.0).set_train()", "f32[2,3]"),
    ("nn.SequentialCell", "nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))", "f32[2,3]"),
    ("nn.SequentialCell", "nn.SequentialCell([nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()])", "f32[1,1,4,4]"),
    ("nn.SequentialCell", "nn.SequentialCell()", "f32[2]"),
    ("nn.Unfold", "nn.Unfold([1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1])", "f32[1,1,3,3]"), ("nn.Upsample",
    "nn.Upsample(size=(4, 4), mode='nearest')", "f32[1,2,2,2]"), ("nn.Conv2dBnAct",
    "nn.Conv2dBnAct(2, 3, 3, has_bn=True, activation='relu')", "f32[1,2,4,4]"),
    ("nn.DenseBnAct", "nn.DenseBnAct(3, 2, has_bn=True, activation='relu')", "f32[4,3]"), ("nn.OneHot",
    "nn.OneHot(depth=4)", "i32[3]<4"), ("nn.PixelShuffle", "nn.PixelShuffle(2)", "f32[1,4,2,2]"),
]
seen = set()
for api, layer, spec in LAYERS:
    if (layer, spec) in seen:
        continue
    seen.add((layer, spec))
    half, whole = "f16" in spec, spec.startswith("i")
    tolerance = dict(rtol=5e-3, atol=5e-3) if half else dict(rtol=1e-4, atol=1e-4 if "Tanh" in layer else 1e-5)
    case(api, "net(x)", setup=f"net = fill({layer})", x=spec, **tolerance)
    if not whole:
        code = "ms.value_and_grad(step, 0, net.trainable_params() or None)(x)"
        case(api, code, setup=f"net = fill({layer})\n{STEP}", x=spec, **tolerance)
# Batch normalisation while training: the statistics after two steps
for layer, spec in (("nn.BatchNorm1d(3)", "f32[4,3]"), ("nn.BatchNorm2d(3)", "f32[2,3,2,2]"),
        ("nn.BatchNorm2d(3, momentum=0.5, eps=1e-3)", "f32[2,3,2,2]"), ("nn.BatchNorm2d(2, affine=False)",
        "f32[2,2,3,3]"), ("nn.BatchNorm2d(2, use_batch_statistics=False)", "f32[2,2,3,3]")):
    api = layer.split("(")[0]
    case(api, "a = net(x); b = net(x * 2); (a, b, net.moving_mean, net.moving_variance)",
        setup=f"net = fill({layer}).set_train()", x=spec, rtol=1e-4, atol=1e-5)
    case(api, "(ms.value_and_grad(step, 0, net.trainable_params() or None)(x), net.moving_mean, net.moving_variance)",
        setup=f"net = fill({layer}).set_train()\n{STEP}", x=spec, rtol=1e-4, atol=1e-4)
    case(api, "[(p.name, p.shape, p.requires_grad) for p in net.get_parameters()]", setup=f"net = {layer}")
case("nn.Dropout", "net(x)", setup="net = nn.Dropout(p=0.3).set_train()", x="f32[50,50](1,1.0001)", kind="random",
    bounds=(0, 1.5))
case("nn.Dropout", "y = net(x).asnumpy(); bool(((y == 0) | (abs(y - 1 / 0.7) < 1e-3)).all())",
    setup="net = nn.Dropout(p=0.3).set_train()", x="f32[50,50](1,1.0001)")
case("nn.Dropout", "nn.Dropout(p=1.5)", kind="error")
# Embedding
for args in ("5, 3", "5, 3, padding_idx=0", "vocab_size=5, embedding_size=3, use_one_hot=True",
        "5, 3, embedding_table='ones'"):
    case("nn.Embedding", "net(i)", setup=f"net = fill(nn.Embedding({args}))", i="i32[2,3]<5")
    case("nn.Embedding", "ms.grad(lambda i: net(i) * net(i), None, net.trainable_params())(i)",
        setup=f"net = fill(nn.Embedding({args}))", i="i32[4]<5")
case("nn.Embedding", "nn.Embedding(4, 2, padding_idx=1).embedding_table[1]")
# Recurrent layers
for cell, state in (("LSTM", "(h, c)"), ("GRU", "h"), ("RNN", "h")):
    for args, n, batch_first in (("3, 4", 1, False), ("3, 4, has_bias=False", 1, False), ("3, 4, num_layers=2", 2,
            False), ("3, 4, batch_first=True", 1, True), ("3, 4, bidirectional=True", 2, False),
            ("3, 4, num_layers=2, bidirectional=True, batch_first=True", 4, True)):
        states = dict(h=f"f32[{n},2,4]", c=f"f32[{n},2,4]") if cell == "LSTM" else dict(h=f"f32[{n},2,4]")
        spec = "f32[2,5,3]" if batch_first else "f32[5,2,3]"
        case(f"nn.{cell}", f"net(x, {state})", setup=f"net = fill(nn.{cell}({args}))", x=spec, rtol=1e-4, atol=1e-5,
            **states)
        case(f"nn.{cell}", f"ms.grad(lambda x, h: (net(x, {state})[0] ** 2).sum(), (0, 1), net.trainable_params())(x, "
            f"h)", setup=f"net = fill(nn.{cell}({args}))", x=spec, rtol=1e-3, atol=1e-4, **states)
    case(f"nn.{cell}", "net(x)[0]", setup=f"net = fill(nn.{cell}(3, 4))", x="f32[5,2,3]", rtol=1e-4, atol=1e-5,
        kind="either")
    case(f"nn.{cell}", f"net(x, {state}, n)", setup=f"net = fill(nn.{cell}(3, 4))", x="f32[5,2,3]", n="i32[2](2,6)",
        rtol=1e-4, atol=1e-5, kind="either", **(dict(h="f32[1,2,4]",
        c="f32[1,2,4]") if cell == "LSTM" else dict(h="f32[1,2,4]")))
    case(f"nn.{cell}", "[(p.name, p.shape) for p in net.get_parameters()]",
        setup=f"net = nn.{cell}(3, 4, num_layers=2, bidirectional=True)")
for cell, state in (("LSTMCell", "(h, c)"), ("GRUCell", "h"), ("RNNCell", "h")):
    case(f"nn.{cell}", f"net(x, {state})", setup=f"net = fill(nn.{cell}(3, 4))", x="f32[2,3]", h="f32[2,4]",
        c="f32[2,4]", rtol=1e-4, atol=1e-5, kind="either")
case("nn.MultiheadAttention", "net(q, q, q)", setup="net = fill(nn.MultiheadAttention(4, 2)).set_train(False)",
    q="f32[3,1,4]", rtol=1e-4, atol=1e-5, kind="either")
# Parameter names, shapes and values at start
for layer in ("nn.Dense(3, 4)", "nn.Conv2d(2, 3, 3, has_bias=True)", "nn.Conv2dTranspose(2, 3, 3)",
        "nn.LayerNorm((4,))", "nn.GroupNorm(2, 4)", "nn.Embedding(5, 3)", "nn.PReLU()", "nn.Conv1d(2, 3, 3)",
              "nn.SequentialCell(nn.Dense(3, 4), nn.SequentialCell(nn.Dense(4, 4), nn.BatchNorm1d(4)))",
              "nn.CellList([nn.Dense(2, 2), nn.Conv2d(1, 1, 1)])"):
    case(layer.split("(")[0], "[(p.name, p.shape, str(p.dtype), p.requires_grad) for p in net.get_parameters()]",
        setup=f"net = {layer}")
    case(layer.split("(")[0], "[p for p in net.get_parameters()]", setup=f"net = {layer}", kind="random")
# Cells: structure and methods
CELL = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2)
        self.blocks = nn.CellList([nn.Dense(2, 2), nn.ReLU()])
        self.scale = Parameter(Tensor([1.0, 2.0], ms.float32), name='scale')
        self.rate = 3
    def construct(self, x):
        x = self.fc(x)
        for block in self.blocks:
            x = block(x)
        return x * self.scale
net = fill(Net())
"""
for code in ("net(x)", "[p.name for p in net.trainable_params()]", "[p.name for p in net.get_parameters()]",
        "[(n, p.shape) for n, p in net.parameters_and_names()]", "list(net.parameters_dict())",
        "[n for n, c in net.cells_and_names()]",
             "[type(c).__name__ for c in net.cells()]", "list(net.name_cells())", "net.training",
             "net.set_train(); (net.training, net.fc.training)", "net.set_train(False).training", "len(net.blocks)",
             "net.blocks[0].weight.name", "net.scale.name",
             "[p.name for p in net.untrainable_params()]", "net.to_float(ms.float16); net(x)",
             "net.update_parameters_name('m.'); [p.name for p in net.get_parameters()]",
             "net.fc.weight.requires_grad = False; [p.name for p in net.trainable_params()]",
             "net.set_grad()(x).shape", "net.cls_name", "net.phase",
             "net.insert_child_to_cell('extra', nn.Dense(2, 2)); [n for n, c in net.cells_and_names()]",
             "net.blocks.append(nn.Dense(2, 2)); [p.name for p in net.get_parameters()]", "net.fc = 5; net.fc",
             "del net.fc; list(net.name_cells())",
             "net.apply(lambda c: None) is net", "net.parameters_dict()['scale']", "net.init_parameters_data(); 1",
             "net.add_flags(a=1); net.get_flags()", "net.add_flags_recursive(b=2); net.fc.get_flags()",
             "net.construct(x)", "net(x, x)", "net()"):
    case("nn.Cell", code, setup=CELL, x="f32[2,3]", kind="either", rtol=1e-3 if "float16" in code else 1e-4,
        atol=1e-3 if "float16" in code else 1e-5)
case("nn.Cell", "net.nothing", setup=CELL, kind="error")
case("nn.Cell", "ms.value_and_grad(lambda v: (net(v) ** 2).sum(), 0, net.trainable_params())(x)", setup=CELL,
    x="f32[2,3]", rtol=1e-4, atol=1e-5)
for code in ("len(l)", "l[0]", "l[-1].out_channels", "l[5]", "[type(c).__name__ for c in l]", "l[0:1]",
        "l.append(nn.ReLU()); len(l)", "l.extend([nn.ReLU(), nn.Tanh()]); len(l)",
        "l.insert(0, nn.ReLU()); type(l[0]).__name__", "del l[0]; len(l)", "l[0] = nn.ReLU(); type(l[0]).__name__",
        "l(1)"):
    case("nn.CellList", code, setup="l = nn.CellList([nn.Dense(2, 3), nn.Dense(3, 4)])", kind="either")
for code in ("len(s)", "type(s[1]).__name__", "s[0:2](x)", "s.append(nn.ReLU()); s(x)", "[c for c in s][1](x)",
        "s[-1] = nn.ReLU(); s(x)", "del s[1]; len(s)", "s[9]", "s.append(nn.Tanh()); len(s)"):
    case("nn.SequentialCell", code, setup="s = fill(nn.SequentialCell(nn.Dense(2, 2), nn.Sigmoid(), nn.Dense(2, 2)))",
        x="f32[3,2]", kind="either", rtol=1e-4, atol=1e-5)
case("nn.SequentialCell", "from collections import OrderedDict; s = fill(nn.SequentialCell(OrderedDict([('a', "
    "nn.Dense(2, 2)), ('b', nn.ReLU())]))); ([p.name for p in s.get_parameters()], s(x))", x="f32[3,2]")
# Wrappers for training
case("nn.BatchNorm3d", "a = net(x); (a, [p for p in net.get_parameters()])",
    setup="net = fill(nn.BatchNorm3d(2)).set_train()", x="f32[2,2,2,2,2]", rtol=1e-4, atol=1e-5)
WRAP = "net = fill(nn.Dense(3, 2)); opt = nn.SGD(net.trainable_params(), 0.1); loss = nn.MSELoss()"
case("nn.WithLossCell", "nn.WithLossCell(net, loss)(x, y)", setup=WRAP, x="f32[4,3]", y="f32[4,2]", rtol=1e-4)
case("nn.WithLossCell", "[p.name for p in nn.WithLossCell(net, loss).trainable_params()]", setup=WRAP)
case("nn.TrainOneStepCell", "step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), opt); a = step(x, y); b = step(x, "
    "y); (a, b, net.weight, net.bias)", setup=WRAP, x="f32[4,3]", y="f32[4,2]", rtol=1e-4, atol=1e-5)
case("nn.TrainOneStepCell", "step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), opt, sens=2.0); step(x, y); "
    "net.weight", setup=WRAP, x="f32[4,3]", y="f32[4,2]", rtol=1e-4, atol=1e-5)
case("nn.WithEvalCell", "nn.WithEvalCell(net, loss)(x, y)", setup=WRAP, x="f32[4,3]", y="f32[4,2]", rtol=1e-4,
    atol=1e-5)
case("nn.WithEvalCell", "[v.shape for v in nn.WithEvalCell(net, loss)(x, y)]", setup=WRAP, x="f32[4,3]", y="f32[4,2]")
case("nn.WithEvalCell", "nn.WithEvalCell(net, loss, add_cast_fp32=True)(x, y)", setup=WRAP, x="f32[2,3]", y="f32[2,2]",
    rtol=1e-4, atol=1e-5)
case("nn.TrainOneStepCell", "step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Adam(net.trainable_params(), "
    "0.1)); [step(x, y) for _ in range(3)]", setup=WRAP, x="f32[4,3]", y="f32[4,2]", rtol=1e-4, atol=1e-5)
case("nn.TrainOneStepCell", "[p.name for p in nn.TrainOneStepCell(nn.WithLossCell(net, loss), opt).get_parameters()]",
    setup=WRAP)
case("nn.TrainOneStepWithLossScaleCell", "step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, loss), opt, "
    "scale_sense=Tensor(8.0, ms.float32)); (step(x, y), net.weight)", setup=WRAP, x="f32[4,3]", y="f32[4,2]", rtol=1e-4,
    atol=1e-5)
case("nn.DynamicLossScaleUpdateCell", "c = nn.DynamicLossScaleUpdateCell(16.0, 2, 2); s = Parameter(Tensor(16.0, "
    "ms.float32), name='s'); [(c(s, Tensor(o)), s.copy()) for o in (False, True, False, False)]", kind="either")
case("nn.FixedLossScaleUpdateCell", "nn.FixedLossScaleUpdateCell(8.0)(Tensor(8.0, ms.float32), Tensor(True))",
    kind="either")

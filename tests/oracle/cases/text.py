# SPDX-License-Identifier: Apache-2.0
# What users see: str and repr of tensors, parameters, dtypes and cells.
for spec in ("f32[3]", "f32[2,3]", "f32[]", "f32[1]", "f32[0]", "f32[2,0]", "f32[2,2,2]", "i32[3]", "i64[2,2]",
        "bool[3]", "bool[]", "f16[2,2]", "f64[3]", "u8[4]", "i8[2]", "c64[2]", "bf16[3]", "f32[4](1000,100000)",
        "f32[4](0.00001,0.0001)", "f32[1200]", "f32[40,40]", "i32[3,4,2]", "u16[2]", "f32[2,1,3]"):
    case("Tensor print()", "str(x)", x=spec)
    case("Tensor print()", "repr(x)", x=spec)
    if spec in ("f32[3]", "i32[3]", "bool[3]", "f32[]", "f16[2,2]"):
        case("Tensor print()", "f'{x}'", x=spec)
        case("Tensor print()", "str([x]), str((x, 1)), str({'a': x})", x=spec)
case("Tensor print()", "str(Tensor([np.nan, np.inf, -np.inf, 0.0], ms.float32))")
case("Tensor print()", "repr(Tensor([1e-8, 1.0, 1e8], ms.float32))")
case("Tensor print()", "str(Tensor([1.0, 2.0], ms.float32))")
case("Tensor print()", "import io, contextlib\nf = io.StringIO()\nwith contextlib.redirect_stdout(f):\n    print(x, "
    "x.shape, x.dtype)\nf.getvalue()", x="f32[2,2]")
case("Tensor print()", "f'{x.item():.3f}'", x="f32[]")
case("Tensor print()", "'{:.2f}'.format(float(x))", x="f32[1]")
case("Tensor print()", "str(x.shape), str(x.dtype), repr(x.dtype)", x="f32[2,2]")
for spec in ("param:f32[2,3]", "param:i32[]", "param:f16[0]"):
    case("Parameter", "str(p)", p=spec)
    case("Parameter", "repr(p)", p=spec)
case("ParameterTuple", "str(ms.ParameterTuple([p]))", p="param:f32[2]")
case("Parameter", "repr(Parameter(x, name='w', requires_grad=False))", x="f32[2]")
for net in ("nn.Dense(3, 4)", "nn.Dense(3, 4, has_bias=False)", "nn.Dense(3, 4, activation='relu')",
        "nn.Conv2d(2, 3, 3)", "nn.Conv2d(2, 3, (3, 2), stride=2, pad_mode='pad', padding=1, has_bias=True, group=1)",
        "nn.Conv2dTranspose(2, 3, 3)", "nn.Conv1d(2, 3, 3)", "nn.BatchNorm1d(3)", "nn.BatchNorm2d(3)",
            "nn.LayerNorm((4,))", "nn.GroupNorm(2, 4)", "nn.Dropout(p=0.5)", "nn.Dropout()", "nn.ReLU()", "nn.GELU()",
            "nn.Sigmoid()", "nn.Tanh()", "nn.LeakyReLU()", "nn.Softmax()", "nn.Flatten()", "nn.MaxPool2d(2, 2)",
            "nn.AvgPool2d(3, 1, pad_mode='same')", "nn.AdaptiveAvgPool2d(1)", "nn.Embedding(5, 3)",
            "nn.LSTM(3, 4)", "nn.GRU(3, 4, num_layers=2)",
            "nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))",
            "nn.SequentialCell([nn.Conv2d(1, 2, 3), nn.SequentialCell(nn.BatchNorm2d(2), nn.ReLU())])",
            "nn.CellList([nn.Dense(2, 2), nn.Tanh()])", "nn.SequentialCell()", "nn.CellList()",
            "nn.MSELoss()", "nn.CrossEntropyLoss()", "nn.SoftmaxCrossEntropyWithLogits(sparse=True)", "nn.Identity()",
            "nn.PReLU()", "nn.HSwish()", "nn.SiLU()", "nn.ELU()", "nn.Pad(((1, 1),))",
            "nn.WithLossCell(nn.Dense(2, 2), nn.MSELoss())", "nn.OneHot(depth=3)", "nn.LogSoftmax()", "nn.ReLU6()",
            "nn.HSigmoid()", "nn.BCELoss()", "nn.L1Loss()"):
    case(net.split("(")[0], f"str({net})")
NETS = """
class Block(nn.Cell):
    def __init__(self, n):
        super().__init__()
        self.conv = nn.Conv2d(n, n, 3)
        self.bn = nn.BatchNorm2d(n)
        self.relu = nn.ReLU()
    def construct(self, x):
        return self.relu(self.bn(self.conv(x)))
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.SequentialCell(Block(2), Block(2))
        self.items = nn.CellList([nn.Dense(2, 2) for _ in range(2)])
        self.flatten = nn.Flatten()
        self.drop = nn.Dropout(p=0.3)
        self.scale = Parameter(Tensor([1.0]), name='scale')
        self.number = 5
    def construct(self, x):
        return x
"""
for code in ("str(Net())", "repr(Net())", "str(Block(2))", "str(nn.CellList([Block(1), Net()]))"):
    case("nn.Cell", code, setup=NETS)
case("nn.Cell", "class Empty(nn.Cell):\n    pass\nstr(Empty())")
case("nn.Cell", "class Own(nn.Cell):\n    def extend_repr(self):\n        return 'k=3'\nstr(Own())")
for code in ("str(ops.Add())", "repr(ops.ReLU())", "ops.Softmax(axis=1).name", "str(ops.Conv2D(2, 3).name)",
        "ops.ReduceSum(keep_dims=True).keep_dims", "ops.Concat(1).axis", "ops.Softmax(2).axis"):
    case("Primitive", code, kind="either")
case("ms.__version__", "type(ms.__version__).__name__")

# SPDX-License-Identifier: Apache-2.0
# Initial values. Random ones: dtype, shape, bounds, mean and spread over enough elements.
I = "initializer."
for code in ("initializer.initializer('zeros', (2, 3))", "initializer.initializer('ones', [2, 3], ms.float16)",
        "initializer.initializer(0.5, (2,))", "initializer.initializer(3, (2, 2), ms.int32)",
        "initializer.initializer(initializer.Constant(2.5), (3,))",
             "initializer.initializer(x, (2, 3))", "initializer.initializer('zeros', 3)",
             "initializer.initializer('no_such', (2, 3))", "initializer.initializer('ones', (2, 0))",
             "initializer.initializer('ones', (-1, 2))", "initializer.initializer(None, (2, 3))",
             "initializer.initializer('one', (2,))", "initializer.initializer('zero', (2,))"):
    case("initializer.initializer", code + (".init_data()" if "no_such" not in code and "(x," not in code else ""),
        x="f32[2,3]", kind="either")
case("initializer.initializer", "t = initializer.initializer('ones', (2, 3)); (t.shape, t.dtype, t.has_init)")
for name in ("normal", "uniform", "xavier_uniform", "he_uniform", "he_normal", "truncatedNormal", "TruncatedNormal",
        "HeUniform", "XavierUniform", "xavier_normal", "orthogonal"):
    case("initializer.initializer", f"initializer.initializer('{name}', (60, 50)).init_data()", kind="random")
for name in ("Zero", "One"):
    for shape, t in (("(2, 3)", "float32"), ("(4,)", "int32"), ("(1, 2, 2)", "float16")):
        case(I + name, f"initializer.initializer(initializer.{name}(), {shape}, ms.{t}).init_data()")
for value in ("0.5", "-3", "7.25"):
    case(I + "Constant", f"initializer.initializer(initializer.Constant({value}), (2, 3)).init_data()")
    case(I + "Constant", f"initializer.initializer(initializer.Constant(value={value}), (3,), ms.float16).init_data()")
RANDOM = {
    "Normal": [("", None), ("0.5", None), ("sigma=2.0, mean=1.0", None)],
    "TruncatedNormal": [("", (-0.06, 0.06)), ("0.5", (-2, 2)), ("sigma=2.0", (-2, 2)), ("1.0, mean=1.0, a=-1.0, b=1.0",
    (-1, 1))],
    "Uniform": [("", (-0.07, 0.07)), ("0.5", (-0.5, 0.5)), ("scale=2.0", (-2, 2))],
    "XavierUniform": [("", None), ("2", None), ("gain=0.5", None)],
    "XavierNormal": [("", None)],
    "HeUniform": [("", None), ("mode='fan_out', nonlinearity='relu'", None), ("negative_slope=1.0", None),
    ("math.sqrt(5)", None)],
    "HeNormal": [("", None), ("mode='fan_out', nonlinearity='relu'", None), ("negative_slope=0.2, mode='fan_in'",
    None)],
    "Orthogonal": [("", None)], "VarianceScaling": [("", None),
    ("2.0, mode='fan_out', distribution='untruncated_normal'", None),
    ("scale=1.0, mode='fan_avg', distribution='uniform'", None)], "Sparse": [("0.5", None)],
}
for name, all_args in RANDOM.items():
    for args, bounds in all_args:
        for shape in ("(60, 50)", "(30, 20, 3, 3)"):
            if name in ("Orthogonal", "Sparse") and len(shape) > 9:
                continue
            case(I + name, f"initializer.initializer(initializer.{name}({args}), {shape}).init_data()",
                setup="import math", kind="random", bounds=bounds)
    case(I + name, f"initializer.initializer(initializer.{name}({all_args[0][0]}), (20, 4), ms.float16).init_data()",
        kind="random")
for name in ("XavierUniform", "HeUniform", "HeNormal"):
    case(I + name, f"initializer.initializer(initializer.{name}(), (3,)).init_data()", kind="either")
case(I + "HeUniform", "initializer.HeUniform(mode='fan_no')._initialize(np.zeros((2, 2), np.float32))", kind="either")
case(I + "Identity", "initializer.initializer(initializer.Identity(), (3, 3)).init_data()")
case(I + "Dirac", "initializer.initializer(initializer.Dirac(), (2, 2, 3)).init_data()")
OWN = """
class Own(initializer.Initializer):
    def __init__(self, k=1):
        super().__init__(k=k)
        self.k = k
    def _initialize(self, arr):
        arr[:] = np.arange(arr.size).reshape(arr.shape) * self.k
"""
case(I + "Initializer", "initializer.initializer(Own(), (2, 3)).init_data()", setup=OWN)
case(I + "Initializer", "initializer.initializer(Own(k=2), (4,), ms.float16).init_data()", setup=OWN)
case(I + "Initializer", "nn.Dense(2, 3, weight_init=Own()).weight", setup=OWN)
case(I + "Initializer", "issubclass(initializer.Normal, initializer.Initializer)")
for init in ("'zeros'", "'ones'", "initializer.Constant(0.5)", "2.0", "'normal'"):
    case(I + "initializer", f"nn.Dense(3, 2, weight_init={init}).weight",
        kind="random" if "normal" in init else "exact")

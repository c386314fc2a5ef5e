# SPDX-License-Identifier: Apache-2.0
# Element-wise functions in all their spellings: function, primitive, method, mint.

# name, range of the input, spellings; the first expression form of each is repeated for several dtypes and shapes.
UNARY = [
    ("relu", "(-2,2)", ["ops.relu(x)", "ops.ReLU()(x)", "mint.nn.functional.relu(x)"]),
    ("sqrt", "(0.1,4)", ["ops.sqrt(x)", "ops.Sqrt()(x)", "mint.sqrt(x)"]),
    ("rsqrt", "(0.1,4)", ["ops.rsqrt(x)", "ops.Rsqrt()(x)", "mint.rsqrt(x)"]),
    ("square", "(-2,2)", ["ops.square(x)", "ops.Square()(x)", "mint.square(x)"]),
    ("log", "(0.1,4)", ["ops.log(x)", "ops.Log()(x)", "mint.log(x)"]),
    ("exp", "(-2,2)", ["ops.exp(x)", "ops.Exp()(x)", "mint.exp(x)", "x.exp()"]),
    ("sigmoid", "(-4,4)", ["ops.sigmoid(x)", "ops.Sigmoid()(x)", "mint.sigmoid(x)", "mint.nn.functional.sigmoid(x)"]),
    ("tanh", "(-2,2)", ["ops.tanh(x)", "ops.Tanh()(x)", "mint.tanh(x)", "mint.nn.functional.tanh(x)"]),
    ("sin", "(-4,4)", ["ops.sin(x)", "ops.Sin()(x)", "mint.sin(x)"]),
    ("cos", "(-4,4)", ["ops.cos(x)", "ops.Cos()(x)", "mint.cos(x)"]),
    ("abs", "(-2,2)", ["ops.abs(x)", "ops.Abs()(x)", "mint.abs(x)", "x.abs()"]),
    ("neg", "(-2,2)", ["ops.neg(x)", "ops.Neg()(x)", "mint.neg(x)"]),
    ("reciprocal", "(0.2,3)", ["ops.reciprocal(x)", "ops.Reciprocal()(x)", "mint.reciprocal(x)"]),
    ("floor", "(-3,3)", ["ops.floor(x)", "ops.Floor()(x)", "mint.floor(x)"]),
    ("round", "(-3,3)", ["ops.round(x)", "ops.Round()(x)", "mint.round(x)", "mint.special.round(x)"]),
    ("sign", "(-2,2)", ["ops.sign(x)", "ops.Sign()(x)", "mint.sign(x)"]),
    ("acos", "(-0.9,0.9)", ["ops.acos(x)", "ops.ACos()(x)", "mint.acos(x)"]),
    ("softplus", "(-4,4)", ["ops.softplus(x)", "ops.Softplus()(x)", "mint.nn.functional.softplus(x)"]),
    ("gelu", "(-3,3)", ["ops.gelu(x)", "ops.GeLU()(x)", "mint.nn.functional.gelu(x)",
    "ops.gelu(x, approximate='tanh')"]),
    ("hswish", "(-4,4)", ["ops.hardswish(x)", "ops.HSwish()(x)", "mint.nn.functional.hardswish(x)"]),
    ("hsigmoid", "(-4,4)", ["ops.hardsigmoid(x)", "ops.HSigmoid()(x)", "mint.nn.functional.hardsigmoid(x)"]),
    ("identity", "(-2,2)", ["F.identity(x)", "ops.Identity()(x)"]),
    ("zeros_like", "(-2,2)", ["ops.zeros_like(x)", "ops.ZerosLike()(x)", "mint.zeros_like(x)"]),
    ("ones_like", "(-2,2)", ["ops.ones_like(x)", "ops.OnesLike()(x)", "mint.ones_like(x)"]),
    ("inverse", "(0.2,3)", ["ops.Inv()(x)"]),
    ("relu6", "(-2,8)", ["ops.relu6(x)", "ops.ReLU6()(x)", "mint.nn.functional.relu6(x)"]),
    ("elu", "(-2,2)", ["ops.elu(x)", "ops.Elu()(x)", "mint.nn.functional.elu(x)"]),
    ("silu", "(-4,4)", ["ops.silu(x)", "mint.nn.functional.silu(x)"]),
    ("leaky_relu", "(-2,2)", ["ops.leaky_relu(x, 0.1)", "mint.nn.functional.leaky_relu(x, 0.1)"]),
    ("mish", "(-2,2)", ["ops.mish(x)", "ops.Mish()(x)", "mint.nn.functional.mish(x)"]),
    ("erf", "(-2,2)", ["ops.erf(x)", "ops.Erf()(x)", "mint.erf(x)"]),
    ("erfc", "(-2,2)", ["ops.erfc(x)", "mint.erfc(x)"]),
    ("expm1", "(-2,2)", ["ops.expm1(x)", "mint.expm1(x)"]),
    ("log1p", "(-0.5,2)", ["ops.log1p(x)", "mint.log1p(x)"]),
    ("log2", "(0.1,4)", ["ops.log2(x)", "mint.log2(x)"]),
    ("tan", "(-1,1)", ["ops.tan(x)", "mint.tan(x)"]),
    ("asin", "(-0.9,0.9)", ["ops.asin(x)", "mint.asin(x)"]),
    ("atan", "(-2,2)", ["ops.atan(x)", "mint.atan(x)"]),
    ("sinh", "(-2,2)", ["ops.sinh(x)", "mint.sinh(x)"]),
    ("cosh", "(-2,2)", ["ops.cosh(x)", "mint.cosh(x)"]),
    ("atanh", "(-0.9,0.9)", ["ops.atanh(x)", "mint.atanh(x)"]),
    ("asinh", "(-2,2)", ["ops.asinh(x)", "mint.asinh(x)"]),
    ("acosh", "(1.1,4)", ["ops.acosh(x)", "mint.acosh(x)"]),
    ("ceil", "(-3,3)", ["ops.ceil(x)", "mint.ceil(x)"]),
    ("trunc", "(-3,3)", ["ops.trunc(x)", "mint.trunc(x)"]),
    ("isnan", "(-2,2)", ["ops.isnan(x)"]),
    ("isfinite", "(-2,2)", ["ops.isfinite(x)", "mint.isfinite(x)"]),
]
SINGLE = {"softplus", "mish"}                                      # computed in float32 whatever the input
CONSTANT = {"zeros_like", "ones_like", "isnan", "isfinite"}         # nothing to differentiate
for name, span, forms in UNARY:
    grad = "" if name in CONSTANT else "x"
    for form in forms:
        api = "Tensor." + name if form.startswith("x.") else form.split("(")[0]
        api = api.replace("F.", "ops.")
        case(api, form, x="f32[2,3]" + span, grad=grad)
        case(api, form, x="f16[4,1,2]" + span, grad=grad, rtol=4e-3)
        case(api, form, x="f64[3]" + span, rtol=1e-6 if name in SINGLE else None)
        case(api, form, x="f32[]" + span, grad=grad)
        case(api, form, x="f32[0,3]" + span)
    case(forms[0].split("(")[0].replace("F.", "ops."), forms[0], x="bf16[2,2]" + span, rtol=2e-2)
for form in ("ops.relu(input=x)", "ops.abs(x)", "ops.neg(x)", "ops.square(x)", "ops.sign(x)", "ops.sqrt(x)",
        "ops.exp(x)", "ops.sin(x)",
             "ops.zeros_like(x)", "ops.ones_like(x)", "ops.floor(x)", "ops.round(x)", "ops.log(x)", "ops.sigmoid(x)",
             "ops.tanh(x)",
             "mint.abs(x)", "mint.sqrt(x)", "mint.exp(x)", "mint.sigmoid(x)", "mint.square(x)", "mint.neg(x)",
             "mint.log(x)"):
    api = form.split("(")[0]
    case(api, form, x="i32[2,3](1,9)", kind="either")
    case(api, form, x="i64[4](1,9)", kind="either")
    case(api, form, x="u8[4](1,9)", kind="either")
    case(api, form, x="bool[3]", kind="either")
case("ops.round", "ops.round(Tensor([0.5, 1.5, 2.5, -0.5, -1.5], ms.float32))")
case("ops.log", "ops.log(Tensor([0.0, -1.0, np.inf], ms.float32))")
case("ops.sqrt", "ops.sqrt(Tensor([-1.0, 0.0, np.nan], ms.float32))")
case("ops.exp", "ops.exp(Tensor([1000.0, -1000.0, np.nan], ms.float32))")
case("ops.sigmoid", "ops.sigmoid(Tensor([100.0, -100.0, 0.0], ms.float32))")
case("ops.softplus", "ops.softplus(x, beta=2, threshold=3)", x="f32[6](-3,3)", grad="x")
case("ops.abs", "ops.abs(x)", x="c64[3]")
case("ops.zeros_like", "ops.zeros_like(x, dtype=ms.int32)", x="f32[2,3]")
case("ops.ones_like", "ops.ones_like(x, dtype=ms.float16)", x="i32[2,3]")
case("ops.isnan", "ops.isnan(Tensor([1.0, np.nan, np.inf], ms.float32))")

ARITHMETIC = [
    ("add", ["ops.add", "ops.Add()", "mint.add", "ops.TensorAdd()"]),
    ("sub", ["ops.sub", "ops.Sub()", "mint.sub"]),
    ("mul", ["ops.mul", "ops.Mul()", "mint.mul", "F.tensor_mul"]),
    ("div", ["ops.div", "ops.Div()", "mint.div", "ops.RealDiv()"]),
    ("maximum", ["ops.maximum", "ops.Maximum()", "mint.maximum"]),
    ("minimum", ["ops.minimum", "ops.Minimum()", "mint.minimum"]),
    ("pow", ["ops.pow", "ops.Pow()", "mint.pow", "F.tensor_pow"]),
    ("floor_div", ["ops.floor_div", "ops.FloorDiv()"]),
    ("floor_mod", ["ops.floor_mod", "ops.FloorMod()", "mint.remainder"]),
    ("fmod", ["ops.fmod", "mint.fmod"]),
    ("atan2", ["ops.atan2", "mint.atan2"]),
    ("xlogy", ["ops.xlogy", "mint.xlogy"]),
]
NO_GRAD = {"floor_div", "fmod", "floor_mod"}
for name, forms in ARITHMETIC:
    grad = "" if name in NO_GRAD else "x y"
    for form in forms:
        api = form.replace("()", "").replace("F.", "ops.")
        code = f"{form}(x, y)"
        case(api, code, x="f32[2,3](0.5,3)", y="f32[2,3](0.5,3)", grad=grad)
        case(api, code, x="f32[2,1,3](0.5,3)", y="f32[4,1](0.5,3)", grad=grad)
        case(api, code, x="f16[3](0.5,3)", y="f16[3](0.5,3)", grad=grad, rtol=2e-3)
        case(api, code, x="i32[2,3](1,6)", y="i32[3](1,4)", kind="either")
        case(api, code, x="f32[2,3](0.5,3)", y=2.0, kind="either")
        case(api, code, x=3, y="f32[2,3](0.5,3)", kind="either")
        case(api, code, x="f32[](0.5,3)", y="f32[2,2](0.5,3)", grad=grad)
        case(api, code, x="f64[2](0.5,3)", y="f32[2](0.5,3)", kind="either")
        case(api, code, x="i64[2](1,5)", y="f16[2](0.5,3)", kind="either")
        case(api, code, x="f32[0,3](0.5,3)", y="f32[3](0.5,3)", kind="either")
        case(api, code, x="f32[2,3]", y="f32[4]", kind="error")
case("ops.maximum", "ops.maximum(x, x)", x="f32[3]", grad="x")
case("ops.div", "ops.div(x, y, rounding_mode='floor')", x="f32[2,3](-5,5)", y="f32[2,3](0.5,3)")
case("ops.div", "ops.div(x, y, rounding_mode='trunc')", x="f32[2,3](-5,5)", y="f32[2,3](0.5,3)")
case("mint.div", "mint.div(x, y, rounding_mode='floor')", x="f32[2,3](-5,5)", y="f32[2,3](0.5,3)")
case("mint.add", "mint.add(x, y, alpha=2)", x="f32[2,3]", y="f32[3]", grad="x y")
case("mint.sub", "mint.sub(x, y, alpha=0.5)", x="f32[2,3]", y="f32[3]", grad="x y")
case("ops.div", "ops.div(Tensor([1.0, -1.0, 0.0], ms.float32), Tensor([0.0, 0.0, 0.0], ms.float32))")
case("ops.div", "ops.div(x, y)", x="i32[4](-7,7)", y="i32[4](1,4)")
case("ops.floor_div", "ops.floor_div(x, y)", x="i32[6](-9,9)", y="i32[6](1,4)")
case("ops.floor_div", "ops.floor_div(x, y)", x="f32[6](-9,9)", y="f32[6](1,4)")
case("ops.FloorDiv", "ops.FloorDiv()(x, y)", x="f32[6](-9,9)", y="f32[6](-4,-1)")
case("ops.pow", "ops.pow(x, 2)", x="f32[2,3]", grad="x")
case("ops.pow", "ops.pow(2, x)", x="f32[2,3]", kind="either")
case("ops.Pow", "ops.Pow()(x, 3.0)", x="f32[2,3]", grad="x")
case("ops.Pow", "ops.Pow()(x, 0.5)", x="f32[2,3](0.1,2)", grad="x")
case("ops.Mul", "ops.Mul()(x, True)", x="f32[2]", kind="either")
case("Tensor.mul", "x.mul(y)", x="f32[2,3]", y="f32[3]", grad="x y")
case("Tensor.mul", "x.mul(2)", x="i32[2,3]")
case("Tensor.mul", "x.mul(0.5)", x="f16[2,3]", grad="x")
case("Tensor.add_", "x.add_(y)", x="f32[2,3]", y="f32[3]")
case("Tensor.add_", "x.add_(1)", x="i32[2,3]")
case("Tensor.add_", "x.add_(y, alpha=2)", x="f32[2,3]", y="f32[3]", kind="either")
case("Tensor.mul_", "x.mul_(y)", x="f32[2,3]", y="f32[3]")
case("Tensor.mul_", "x.mul_(2)", x="i32[2,3]")
case("Tensor.mul_", "x.mul_(0.5)", x="f16[2,3]")

COMPARE = [
    ("ops.equal", "Equal", "mint.eq"), ("ops.not_equal", "NotEqual", "mint.ne"), ("ops.less", "Less", "mint.lt"),
    ("ops.less_equal", "LessEqual", "mint.le"), ("ops.greater", "Greater", "mint.gt"), ("ops.greater_equal",
    "GreaterEqual", "mint.ge"),
]
for function, primitive, mint_name in COMPARE:
    for api, form in ((function, function), (f"ops.{primitive}", f"ops.{primitive}()"), (mint_name, mint_name)):
        code = f"{form}(x, y)"
        case(api, code, x="f32[2,3]", y="f32[2,3]")
        case(api, code, x="i32[2,1,3]<3", y="i32[2,1]<3")
        case(api, code, x="f16[3]", y="f16[3]")
        case(api, code, x="i64[3]<3", y=1)
        case(api, code, x="f32[4]", y=0.5)
        case(api, code, x="bool[4]", y="bool[4]", kind="either")
        case(api, code, x="i32[4]<3", y="f32[4](0,3)")
        case(api, code, x="f32[2]", y="f32[3]", kind="error")
for api in ("mint.not_equal", "mint.less", "mint.greater", "mint.equal", "mint.less_equal", "mint.greater_equal"):
    case(api, f"{api}(x, y)", x="i32[6]<2", y="i32[6]<2")
    case(api, f"{api}(x, x)", x="f32[2,3]")
    case(api, f"{api}(x, y)", x="f16[3]", y="f16[3]")
case("ops.equal", "ops.equal(Tensor([np.nan, 1.0], ms.float32), Tensor([np.nan, 1.0], ms.float32))")
for function, primitive, mint_name in (("ops.logical_and", "ops.LogicalAnd", "mint.logical_and"), ("ops.logical_or",
        "ops.LogicalOr", "mint.logical_or")):
    for api, form in ((function, function), (primitive, f"{primitive}()"), (mint_name, mint_name)):
        case(api, f"{form}(x, y)", x="bool[2,3]", y="bool[2,3]")
        case(api, f"{form}(x, y)", x="bool[2,1,3]", y="bool[2,1]")
        case(api, f"{form}(x, y)", x="bool[3]", y=True, kind="either")
        case(api, f"{form}(x, y)", x="i32[3]<2", y="i32[3]<2", kind="either")
for api, form in (("ops.logical_not", "ops.logical_not"), ("ops.LogicalNot", "ops.LogicalNot()"), ("mint.logical_not",
        "mint.logical_not")):
    case(api, f"{form}(x)", x="bool[2,3]")
    case(api, f"{form}(x)", x="bool[]")
    case(api, f"{form}(x)", x="i32[3]<2", kind="either")

# Several tensors, choice, limits
for api, form in (("ops.addn", "ops.addn"), ("ops.AddN", "ops.AddN()")):
    case(api, f"{form}((x, y, x))", x="f32[2,3]", y="f32[2,3]", grad="x y")
    case(api, f"{form}([x, y])", x="f16[2]", y="f16[2]")
    case(api, f"{form}((x,))", x="i32[2]")
for api, form in (("ops.select", "ops.select"), ("ops.Select", "ops.Select()")):
    case(api, f"{form}(c, x, y)", c="bool[2,3]", x="f32[2,3]", y="f32[2,3]", grad="x y")
    case(api, f"{form}(c, x, y)", c="bool[4]", x="i32[4]", y="i32[4]")
    case(api, f"{form}(c, x, y)", c="bool[2,1]", x="f16[2,3]", y="f16[2,3]", kind="either")
    case(api, f"{form}(c, x, 0.0)", c="bool[2,3]", x="f32[2,3]", kind="either")
case("mint.select", "mint.select(x, 1, 0)", x="f32[2,3]", grad="x")
case("mint.select", "mint.select(x, dim=0, index=-1)", x="i32[2,3]")
case("mint.select", "mint.select(x, -1, 2)", x="f16[2,1,3]")
for where in ("ops.where", "mint.where"):
    case(where, f"{where}(c, x, y)", c="bool[2,3]", x="f32[2,3]", y="f32[3]", grad="x y")
    case(where, f"{where}(x > 0, x, 0.0)", x="f32[2,3]", grad="x")
    case(where, f"{where}(c, x, y)", c="bool[3]", x="i32[3]", y="f32[3]", kind="either")
for clamp in ("ops.clamp", "mint.clamp", "ops.clip_by_value"):
    case(clamp, f"{clamp}(x, -0.5, 1.0)", x="f32[2,3]", grad="x")
    case(clamp, f"{clamp}(x, lo, hi)", x="f32[2,3]", lo="f32[3](-1,0)", hi="f32[2,1](0,1)", grad="x", kind="either")
    case(clamp, f"{clamp}(x, -1, 2)", x="i32[6]")
    case(clamp, f"{clamp}(x, -0.5, 0.5)", x="f16[6]", grad="x")
    case(clamp, f"{clamp}(x, None, 0.5)", x="f32[6]", kind="either")
case("ops.clamp", "ops.clamp(x, min=0.0)", x="f32[6]", grad="x")
case("mint.clamp", "mint.clamp(x, max=0.0)", x="f32[6]", grad="x")
case("ops.clip_by_value", "ops.clip_by_value(x, clip_value_min=-1.0, clip_value_max=0.1)", x="f32[6]", grad="x")
case("ops.clip_by_value", "ops.clip_by_value(x, Tensor(-1.0, ms.float32), Tensor(1.0, ms.float32))", x="f32[6]")
case("ops.clip_by_value", "C.clip_by_value(x, 0.0, 1.0)", x="f32[6]")
case("ops.clip_by_value", "ops.clip_by_value([x, x], -1.0, 1.0)", x="f32[2]", kind="either")

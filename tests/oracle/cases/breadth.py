# SPDX-License-Identifier: Apache-2.0
"""Forms that MindSpore's own tests use and other files here do not: complex numbers in functions of one element, arguments of other
types than usual, results of numpy's functions for lists and numpy's dtypes."""
for f in ("rsqrt", "log1p", "expm1", "log2", "log10"):
    case(f"ops.{f}", f"ops.{f}(x)", x="c64[2,3]")
    case(f"ops.{f}", f"ops.{f}(x)", x="c128[4]")
for f in ("isnan", "logical_not"):
    case(f"ops.{f}", f"ops.{f}(x)", x="c64[2,3]")
case("ops.isnan", "ops.isnan(ops.log(x * 0 - x * 0) * 0)", x="c64[3]")
case("Tensor.broadcast_to", "x.broadcast_to(2, 3)", x="f32[3]")
case("Tensor.dot", "x.dot(y)", x="f32[3,3]", y="f32[3,3]")
case("mint.dot", "mint.dot(x, y)", x="f32[3]", y="f32[3]", grad="x")
for f in ("std", "var"):
    case(f"Tensor.{f}", f"x.{f}()", x="i32[2,3]<9")
    case(f"Tensor.{f}", f"x.{f}(axis=1)", x="i64[2,3]<9")
    case(f"Tensor.{f}", f"x.{f}(0, 1)", x="i32[2,3]<9")
case("Tensor.max", "x.max((0, 1))", x="f32[2,3]")
case("Tensor.min", "x.min([0])", x="f32[2,3]")
case("mint.max", "mint.max(x, 0.5)", x="f32[2,3]")
case("mint.min", "mint.min(0.5, x)", x="f32[2,3]")
case("Tensor.trace", "x.trace()", x="i32[3,3]<9")
case("Tensor.cov", "x.cov()", x="i32[2,3]<9")
case("ops.cross", "ops.cross(x, y, 1)", x="f32[2,3]", y="f32[2,3]")
case("numpy.log1p", "ms.numpy.log1p([1.0, 2.0])")
case("numpy.ceil", "ms.numpy.ceil(2.5)")
case("numpy.isnan", "ms.numpy.isnan([1.0, 2.0])")
case("numpy.cumprod", "ms.numpy.cumprod([1.0, 2.0, 3.0])")
case("numpy.full", "ms.numpy.full((2, 2), 1.5, dtype=np.float32)")
case("numpy.eye", "ms.numpy.eye(3, dtype=np.int32)")
for code in ("mint.chunk(2, 2)", "ops.lp_pool1d(x, 'a', 2)", "mint.nn.functional.conv2d(2, x)", "x.expand_as(2)", "x.view_as(2)"):
    case(code.split("(")[0].replace("x.", "Tensor."), code, x="f32[1,2,4]", kind="error")
case("ops.lp_pool1d", "ops.lp_pool1d(x, 0, 2)", x="f32[1,2,4]", kind="error")
case("ops.glu", "ops.glu(x, 5)", x="f32[2,4]", kind="error")
case("Tensor.adjoint", "x.adjoint()", x="f32[4]", kind="error")
# Whole numbers and truths in activations, plain truths in logical functions, axes given as truths.
for t in ("i32[6]", "i64[6]", "i8[6]", "i16[6]"):
    for code in ("ops.hardtanh(x)", "ops.hardtanh(x, -3.5, 0.5)", "ops.hardsigmoid(x)", "ops.hardswish(x)", "ops.leaky_relu(x)",
                 "ops.leaky_relu(x, 0.5)", "ops.leaky_relu(x, 1.5)", "nn.Threshold(0.5, 2.0)(x)"):
        case(code.split("(")[0], code, x=t)
    case("ops.tanhshrink", "ops.tanhshrink(x)", x=t, rtol=1e-3)         # MindSpore's tanh is off by 1e-4
for t in ("u8[6]", "bool[6]"):
    case("ops.hardtanh", "ops.hardtanh(x)", x=t)
    case("ops.leaky_relu", "ops.leaky_relu(x)", x=t)
for t in ("i8[6]", "i32[6]"):
    case("ops.selu", "ops.selu(x)", x=t)
for f in ("logical_and", "logical_or", "logical_xor"):
    case(f"ops.{f}", f"ops.{f}(True, False)")
    case(f"ops.{f}", f"ops.{f}(True, True)")
    case(f"ops.{f}", f"ops.{f}(1, 0)", kind="error")
case("ops.outer", "ops.outer(x, y)", x="f32[2,3]", y="f32[4]", grad="x")
case("ops.clip_by_global_norm", "ops.clip_by_global_norm(x)", x="f32[2,3]")
case("ops.clip_by_global_norm", "ops.clip_by_global_norm(x, 0.5)", x="f16[4]")
case("numpy.gcd", "ms.numpy.gcd(Tensor([12.0, 8.0, 9.0]), Tensor([8.0, 12.0, 6.0]))")
case("numpy.lcm", "ms.numpy.lcm(Tensor([12.0, 8.0, 9.0]), Tensor([8.0, 12.0, 6.0]))")
for f in ("max", "min", "mean", "flip", "ptp", "amax", "nanmean", "average", "diff"):
    case(f"numpy.{f}", f"ms.numpy.{f}(x, axis=True)", x="f32[2,3]")
for f in ("trunc", "invert", "bitwise_not"):
    case(f"numpy.{f}", f"ms.numpy.{f}(3)")
for f in ("sum", "count_nonzero", "squeeze"):
    case(f"numpy.{f}", f"ms.numpy.{f}(Tensor(2.5), axis=0)")
case("nn.SGD", "o = nn.SGD([p], learning_rate=True); o((x,)); p", p="param:f32[3]", x="f32[3]")

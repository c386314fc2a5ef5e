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

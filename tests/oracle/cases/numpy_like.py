# SPDX-License-Identifier: Apache-2.0
# mindspore.numpy: every function at least once, in the order of the modules of spore.numpy.
import re


def cases(name, *calls, **inputs):
    """One case for each call; `f(...)` stands for the function, and only the inputs that a call names are its own."""
    options = {k: inputs.pop(k) for k in ("kind", "grad", "rtol", "atol", "bounds") if k in inputs}
    usual = {"x": "f32[2,3]", "y": "f32[2,3]", "v": "f32[4]", "w": "f32[4]", "i": "i32[2,3]<6", "l": "i64[4]<5", "b": "bool[2,3]",
             "s": "f32[]", "c": "f32[2,3,4]"} | inputs
    for call in calls:
        words = set(re.findall(r"(?<![.\w'\"])[a-z]\w*(?![\w(])", call))
        case(f"numpy.{name}", re.sub(r"\bf\(", f"ms.numpy.{name}(", call).replace("np_.", "ms.numpy."),
             **{k: v for k, v in usual.items() if k in words}, **options)


# --- new tensors ------------------------------------------------------------------------------------------------------
cases("array", "f([1, 2, 3])", "f([[1.5, 2], [3, 4]])", "f((True, False))", "f(3, ndmin=2)", "f(x, ms.float16)")
cases("array", "f('no')", "f(None)", kind="error")
cases("asarray", "f([1, 2])", "f(2.5, ms.float64)", "f(i, ms.float32)")
cases("asfarray", "f([1, 2])", "f(i)", "f(i, ms.float64)")
cases("zeros", "f((2, 3))", "f(4, ms.int32)", "f((), 'int32')")
cases("ones", "f((2, 3))", "f(4, ms.int64)")
cases("full", "f((2, 2), 7)", "f((2, 3), [1.5, 2, 3])", "f(3, True)", "f((2,), 3, ms.float16)")
cases("full_like", "f(x, 2)", "f(i, 2.5, shape=(2,))", "f(x, 2, ms.int32)")
cases("zeros_like", "f(x)", "f(i, ms.float16)", "f(x, shape=(3,))")
cases("ones_like", "f(x)", "f(i)", "f(x, ms.int32)")
cases("empty", "f((2, 3)).shape", "f(3, ms.int32).dtype")
cases("empty_like", "f(x).shape", "f(i, ms.float16).dtype")
cases("arange", "f(5)", "f(1, 7, 2)", "f(0.0, 1.0, 0.25)", "f(5, dtype=ms.float16)", "f(5, 0, -2)")
cases("linspace", "f(0, 5, 6)", "f(0.0, 1.0, 4, endpoint=False)", "f(v, w, 3)", "f(v, w, 3, axis=-1)", "f(2, 8, 4, retstep=True)")
cases("logspace", "f(0, 3, 4)", "f(1.0, 2.0, 3, base=2.0, endpoint=False)")
cases("geomspace", "f(1, 8, 4)", "f(2.0, 16.0, 3, endpoint=False)")
cases("meshgrid", "f(v, l)", "f(v, l, indexing='ij')", "f(v, l, sparse=True)", "f(v, l, v)")
cases("mgrid", "np_.mgrid[0:3]", "np_.mgrid[0:2, 1:7:2]", "np_.mgrid[0:1:3j, 0:2]")
cases("ogrid", "np_.ogrid[0:3]", "np_.ogrid[0:2, 1:7:2]")
cases("indices", "f((2, 3))", "f((2, 3), sparse=True)")
cases("ix_", "f(l, v)")
cases("tri", "f(3)", "f(2, 4, 1)", "f(3, k=-1, dtype=ms.int32)")
cases("eye", "f(3)", "f(2, 3, k=1)", "f(2, dtype=ms.int32)")
cases("identity", "f(3)", "f(2, ms.int32)")
cases("tril", "f(x)", "f(c, -1)", "f(i, 1)")
cases("triu", "f(x)", "f(c, -1)", "f(i, 1)")
cases("tril_indices", "f(3)", "f(2, 1, 4)")
cases("triu_indices", "f(3)", "f(2, 1, 4)")
cases("tril_indices_from", "f(x)", "f(x, -1)")
cases("triu_indices_from", "f(x)", "f(x, 1)")
cases("diag_indices", "f(3)", "f(2, 3)")
cases("diagonal", "f(x)", "f(c, 1, 1, 2)", "f(x, -1)")
cases("diag", "f(v)", "f(v, 1)", "f(x)", "f(x, -1)")
cases("diagflat", "f(v)", "f(x, -1)", "f(l, 2)")
cases("trace", "f(x)", "f(c, 1)", "f(i)")
cases("vander", "f(v)", "f(v, 3, increasing=True)", "f(l)")
cases("bartlett", "f(5)", "f(1)")
cases("blackman", "f(5)", "f(6)", atol=1e-6)
cases("hamming", "f(5)", "f(6)")
cases("hanning", "f(5)", "f(6)")
cases("rand", "f(3, 4).shape", "f((2, 2)).dtype")
cases("randn", "f(3, 4).shape")
cases("randint", "f(5, 6).asnumpy()", "f(3, shape=(2, 2)).shape", "f(3).shape")
cases("histogram_bin_edges", "f(v, 3)", "f(v, 4, range=(0, 2))")
cases("pad", "f(x, 1)", "f(x, ((1, 0), (0, 2)), constant_values=3)", "f(x, 1, mode='edge')", "f(x, (1, 2), mode='reflect')",
      "f(x, 2, mode='symmetric')", "f(x, 1, mode='wrap')", "f(v, 2, mode='linear_ramp')", "f(x, 1, mode='maximum')",
      "f(x, 1, mode='mean')", "f(v, (1, 2), mode='minimum')")
cases("copy", "f(x)")

# --- shapes -----------------------------------------------------------------------------------------------------------
cases("transpose", "f(x)", "f(c, (1, 0, 2))", "f(v)")
cases("expand_dims", "f(x, 0)", "f(x, -1)", "f(v, 1)")
cases("squeeze", "f(z)", "f(z, 0)", z="f32[1,3,1]")
cases("swapaxes", "f(c, 0, 2)", "f(x, -1, 0)")
cases("moveaxis", "f(c, 0, 2)", "f(c, (0, 1), (-1, 0))")
cases("rollaxis", "f(c, 2)", "f(c, 0, 3)")
cases("reshape", "f(x, (3, 2))", "f(x, -1)", "f(c, [4, -1])")
cases("ravel", "f(c)", "f(s)")
cases("atleast_1d", "f(s)", "f(x)", "f(s, v)")
cases("atleast_2d", "f(v)", "f(s, c)")
cases("atleast_3d", "f(v)", "f(x)", "f(s)")
cases("broadcast_to", "f(v, (3, 4))", "f(s, (2, 2))")
cases("broadcast_arrays", "f(v, z)", z="f32[3,1]")
cases("size", "f(x)", "f(x, 0)", "f(c, -1)")
cases("array_str", "f(i)")
cases("concatenate", "f((x, y))", "f((x, i), axis=1)", "f([x, y], axis=None)", "f((v, w, l))")
cases("append", "f(v, w)", "f(x, y, axis=0)", "f(x, y)")
cases("stack", "f((x, y))", "f([v, w], axis=1)", "f([x, y], axis=-1)")
cases("vstack", "f((v, w))", "f((x, y))")
cases("hstack", "f((v, w))", "f((x, y))")
cases("dstack", "f((v, w))", "f((x, y))")
cases("column_stack", "f((v, w))", "f((x, y))")
cases("split", "f(x, 3, axis=1)", "f(v, 2)", "f(v, (1, 3))")
cases("split", "f(v, 3)", kind="error")
cases("array_split", "f(v, 3)", "f(x, 2, axis=1)")
cases("vsplit", "f(x, 2)")
cases("hsplit", "f(x, 3)", "f(x, (1,))")
cases("dsplit", "f(c, 2)")
cases("flip", "f(x)", "f(x, 0)", "f(c, (0, 2))")
cases("flipud", "f(x)")
cases("fliplr", "f(x)")
cases("roll", "f(x, 1)", "f(x, 1, axis=0)", "f(c, (1, -1), axis=(0, 2))", "f(v, -6)")
cases("rot90", "f(x)", "f(x, 2)", "f(c, -1, (1, 2))")
cases("tile", "f(x, 2)", "f(x, (2, 1, 2))", "f(v, (2, 2))")
cases("repeat", "f(x, 2)", "f(x, 2, axis=0)", "f(x, [1, 2], axis=0)", "f(s, 3)")
cases("where", "f(x > 0, x, y)", "f(b, 1, 0)", "f(b, x, 0)", "f(b, 1.5, i)")
cases("argwhere", "f(x > 0)", "f(i)")
cases("take", "f(x, l)", "f(x, z, axis=1)", "f(x, z, axis=0, mode='wrap')", z="i32[2]<3")
cases("take_along_axis", "f(x, z, 1)", z="i32[2,2]<3")
cases("choose", "f(z, [v, w])", "f(z, [v, w], mode='wrap')", z="i32[4]<2")
cases("select", "f([x > 1, x < 0], [x, y])", "f([x > 1], [x], 5)")
cases("piecewise", "f(x, [x > 0, x < -1], [1, -1])", "f(x, [x > 0], [lambda t: t * 2, lambda t: -t])")
cases("unravel_index", "f(l, (2, 3))", "f(l, (3, 2), order='F')")
cases("apply_along_axis", "f(ms.numpy.sum, 0, x)", "f(ms.numpy.cumsum, 1, x)")
cases("apply_over_axes", "f(ms.numpy.sum, x, 0)", "f(ms.numpy.sum, c, (0, 2))")
cases("unique", "f(l)", "f(i, return_inverse=True)")
cases("setdiff1d", "f(l, [1, 2])", "f(l, z)", z="i64[3]<4")
cases("intersect1d", "f(l, z)", z="i64[3]<4")

# --- comparisons ------------------------------------------------------------------------------------------------------
for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    cases(name, "f(x, y)", "f(x, 0)", "f(i, 2.5)", "f(i, l[:3])")
for name in ("logical_and", "logical_or", "logical_xor"):
    cases(name, "f(b, x > 0)", "f(b, True)")
cases("logical_not", "f(b)", "f(x > 1)")
for name in ("isfinite", "isinf", "isnan"):
    cases(name, "f(x / z)", "f(x)", z="f32[2,3](0,0)")
cases("isneginf", "f(x / z)", z="f32[2,3](0,0)")
cases("isposinf", "f(x / z)", z="f32[2,3](0,0)")
cases("isscalar", "f(3)", "f(x)", "f('a')", "f(True)")
cases("isclose", "f(x, y)", "f(x, x + 1e-6)", "f(x, x + 0.1, atol=0.2)")
cases("in1d", "f(i, [1, 2])", "f(l, l[:1], invert=True)")
cases("isin", "f(i, [1, 2])", "f(i, l, invert=True)")
cases("array_equal", "f(x, x)", "f(x, y)", "f(x, v)")
cases("array_equiv", "f(x, x)", "f(x, v)", "f(v, v[None])")
cases("signbit", "f(x)", "f(i)")
cases("sometrue", "f(x)", "f(b, axis=0)", "f(b, axis=1, keepdims=True)")

# --- functions of elements ----------------------------------------------------------------------------------------------
for name in ("abs", "absolute", "negative", "square", "positive"):
    cases(name, "f(i)", "f(x, ms.float16)")
    cases(name, "f(x)", grad="x")
for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan", "arcsinh", "expm1"):
    cases(name, "f(x)", grad="x")
    cases(name, "f(i)", "f(x, ms.float16)", kind="either", rtol=2e-3)
for name in ("exp", "cbrt", "fabs", "deg2rad", "rad2deg", "radians"):
    cases(name, "f(x)")
for name in ("log", "log2", "log10", "log1p", "sqrt", "reciprocal"):
    cases(name, "f(x)", x="f32[2,3](0.1,3)", grad="x")
for name in ("arcsin", "arccos", "arctanh"):
    cases(name, "f(x)", x="f32[2,3](-0.9,0.9)", grad="x")
cases("arccosh", "f(x)", x="f32[2,3](1.1,3)", grad="x")
for name in ("ceil", "floor", "trunc", "rint", "sign"):
    cases(name, "f(x)", "f(x * 2)")
cases("fix", "f(x * 2)")
cases("around", "f(x)", "f(x, 1)")
cases("exp2", "f(x)", "f(i)")
cases("bitwise_not", "f(i)")
cases("invert", "f(i)")
cases("clip", "f(x, -1, 1)", "f(i, 2, 4)", "f(x, None, 0.5)", "f(x, y, 1)")
for name in ("add", "subtract", "multiply"):
    cases(name, "f(x, y)", "f(x, 2)", "f(i, 2.5)", "f([1, 2], [3, 4])", "f(i, l[:3])", "f(1, 2)")
for name in ("divide", "true_divide"):
    cases(name, "f(x, y)", "f(i, 2)", "f(l, 2)", "f(3, 2)")
cases("floor_divide", "f(i, 2)", "f(x, 0.7)", "f(i, 2.5)")
cases("power", "f(x, 2)", "f(i, 2)", "f(i, 2.0)", "f(x * x, y)")
cases("float_power", "f(x * x, y)", "f(i, x)")
for name in ("mod", "remainder", "fmod"):
    cases(name, "f(i, 4)", "f(x, 0.7)", "f(x, -0.7)")
for name in ("maximum", "minimum"):
    cases(name, "f(x, y)", "f(x, 0)", "f(i, 2.5)")
cases("arctan2", "f(x, y)", "f(x, 1.0)")
cases("hypot", "f(x, y)", "f(i, 3)")
cases("copysign", "f(x, y)", "f(x, -1)")
cases("logaddexp", "f(x, y)")
cases("logaddexp2", "f(x, y)")
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    cases(name, "f(i, 3)", "f(i, i + 1)")
cases("gcd", "f(i, 4)", "f(i, i + 2)")
cases("lcm", "f(i, 4)", "f(i, i + 2)")
cases("heaviside", "f(x, 0.5)", "f(x - x, y)")
cases("divmod", "f(i, 4)", "f(x, 0.7)")
cases("promote_types", "f(ms.int32, ms.float16)", "f(ms.int8, ms.int32)", "f(ms.bool_, ms.float32)", "f(ms.float16, ms.float32)")
cases("result_type", "f(x, i)", "f(i, 1.5)", "f(ms.int32, ms.int64)")

# --- sums and statistics --------------------------------------------------------------------------------------------------
cases("sum", "f(x)", "f(x, axis=1)", "f(i)", "f(b)", "f(x, initial=2)", "f(x, axis=(0, 1), keepdims=True)", "f(i, dtype=ms.float32)")
cases("sum", "f(x, 0)", grad="x")
cases("mean", "f(x)", "f(x, 0)", "f(i)", "f(x, axis=1, keepdims=True)")
cases("var", "f(x)", "f(x, axis=0)", "f(i, ddof=1)", "f(x, axis=1, keepdims=True)")
cases("std", "f(x)", "f(x, axis=0)", "f(i, ddof=1)")
for name in ("max", "min", "amax", "amin"):
    cases(name, "f(x)", "f(x, axis=0)", "f(c, axis=(0, 2))", "f(i, axis=1, keepdims=True)", "f(x, initial=0)",
          "f(x, axis=1, where=b, initial=0)")
for name in ("argmax", "argmin"):
    cases(name, "f(x)", "f(x, axis=0)", "f(i, axis=-1)")
cases("ptp", "f(x)", "f(x, axis=0)", "f(x, axis=1, keepdims=True)")
cases("average", "f(x)", "f(x, axis=0)", "f(x, weights=y)", "f(x, axis=1, weights=z)", "f(v, returned=True)", z="f32[3](0.5,2)")
cases("count_nonzero", "f(i)", "f(i, axis=0)", "f(b, axis=1, keepdims=True)")
cases("cumsum", "f(x)", "f(x, axis=1)", "f(i)", "f(b)")
cases("cumprod", "f(x)", "f(x, axis=0)", "f(i)")
for name in ("nansum", "nanmean", "nanmax", "nanmin", "nanvar", "nanstd"):
    cases(name, "f(ms.numpy.where(b, x, float('nan')))", "f(x)", "f(x, axis=0)", x="f32[3,2]", b="bool[3,2]")
cases("nancumsum", "f(x)", "f(x, axis=0)")

# --- products ---------------------------------------------------------------------------------------------------------------
cases("matmul", "f(c, z4)", "f(v, v)", z="f32[3,2]", z4="f32[4,2]")
cases("matmul", "f(x, z)", z="f32[3,2]", grad="x z")
cases("dot", "f(v, w)", "f(x, z)", "f(c, v)", "f(x, 2)", z="f32[3,2]")
cases("inner", "f(v, w)", "f(x, y)", "f(l, l)")
cases("outer", "f(v, w)", "f(x, v)", "f(l, l)")
cases("tensordot", "f(x, y)", "f(c, z, 1)", "f(c, x, ((0, 1), (0, 1)))", z="f32[4,2]")
cases("kron", "f(x, y)", "f(v, w)", "f(x, v)")
cases("multi_dot", "f([x, z, x])", z="f32[3,2]")
cases("matrix_power", "f(z, 3)", "f(z, 0)", z="f32[3,3]")
cases("cross", "f(x, y)", "f(z, t)", "f(x.T, y.T, axis=0)", z="f32[2]", t="f32[2]")
cases("norm", "f(x)", "f(x, axis=0)", "f(x, ord=1, axis=1)", "f(x, ord='fro', axis=(0, 1))", "f(v, ord=3, axis=0)",
      "f(v, ord=float('inf'), axis=0)", "f(x, ord=1, axis=(0, 1))", "f(x, axis=1, keepdims=True)")

# --- rows, bins, polynomials ---------------------------------------------------------------------------------------------------
cases("diff", "f(v)", "f(x, axis=0)", "f(v, 2)", "f(v, prepend=0.0)")
cases("ediff1d", "f(x)", "f(v, to_end=w, to_begin=w)")
cases("convolve", "f(v, w)", "f(v, w, mode='same')", "f(v, z, mode='valid')", z="f32[3]")
cases("correlate", "f(v, w)", "f(v, z, mode='same')", "f(v, z, mode='full')", z="f32[3]")
cases("trapz", "f(v)", "f(x, axis=0)", "f(v, w)", "f(x, dx=0.5)")
cases("gradient", "f(v)", "f(x)", "f(v, 2.0)", "f(c, axis=1)")
cases("unwrap", "f(v * 4)", "f(x * 5, axis=0)")
cases("searchsorted", "f(np_.arange(5), 2.5)", "f(np_.arange(5), i)", "f(np_.arange(5), i, side='right')")
cases("digitize", "f(x, np_.array([-1.0, 0.0, 1.0]))", "f(i, np_.array([1, 3]), right=True)", "f(x, np_.array([1.0, 0.0, -1.0]))")
cases("bincount", "f(l)", "f(l, weights=v)", "f(l, minlength=8)", "f(l, length=3)")
cases("histogram", "f(v, 3)", "f(x, 4, range=(-1, 1))", "f(v, 2, density=True)", "f(v, 2, weights=w)")
cases("histogram2d", "f(v, w, 2)", "f(v, w, (2, 3))")
cases("histogramdd", "f(z, 2)", "f((v, w), 2)", z="f32[6,2]")
cases("interp", "f(x, np_.array([-1.0, 0.0, 1.0]), np_.array([2.0, 3.0, 1.0]))",
      "f(x, np_.array([-1.0, 0.0, 1.0]), np_.array([2.0, 3.0, 1.0]), left=9.0, right=8.0)")
cases("ravel_multi_index", "f((np_.array([0, 1]), np_.array([2, 1])), (2, 3))", "f(np_.array([[0, 1], [2, 1]]), (2, 3), order='F')")
cases("cov", "f(x)", "f(x, y)", "f(x, rowvar=False)", "f(x, bias=True)", "f(x, fweights=np_.array([1, 2, 1]))", "f(x, ddof=0)")
cases("corrcoef", "f(x)", "f(x, y)")
cases("polyadd", "f(v, w)", "f(v, [1, 2])")
cases("polysub", "f(v, w)", "f(v, [1, 2])")
cases("polymul", "f(v, w)", "f(v, [1, 2])")
cases("polyval", "f(v, x)", "f([1, 2, 3], 2)")
cases("polyder", "f(v)", "f(v, 2)", "f(l)")
cases("polyint", "f(v)", "f(v, 2)", "f(v, k=3)")

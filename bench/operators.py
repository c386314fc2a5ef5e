# SPDX-License-Identifier: Apache-2.0
"""The operators that ``make bench-peers ROWS=operators`` times, written once: spore's ``mint`` and torch share names and arguments.

An entry is (name, kind of shape, code, what else). In the code ``m`` is mint or torch, ``f`` its nn.functional, ``x``, ``y`` and ``z`` are operands
of normal numbers, ``p`` and ``q`` are between 0.1 and 1.9, ``k`` is bool, ``i`` holds positions along the last dimension (of x's shape, int64), ``t`` one class a row,
``n`` the last dimension, ``w`` a vector of that length, ``v`` another. Letters that the code differentiates stand in ``by`` (default x; empty: no gradient).

Shapes hold about 1,000, 100,000 or 4,000,000 elements: ``v`` a vector, ``m`` a matrix, ``i`` images, ``g`` matrices for products.
"""
import re

SIZES = {"1k": {"v": (1024,), "m": (32, 32), "i": (1, 4, 16, 16), "g": (2, 24, 24)},
         "100k": {"v": (102400,), "m": (256, 400), "i": (2, 16, 56, 56), "g": (8, 112, 112)},
         "4M": {"v": (1 << 22,), "m": (2048, 2048), "i": (8, 32, 128, 128), "g": (16, 512, 512)}}
FLOATS, ALL, HALF, SINGLE = ("float32", "float64", "float16", "bfloat16"), ("float32", "float64", "float16", "bfloat16", "int64"), \
    ("float32", "float16", "bfloat16"), ("float32",)
UNARY = ("abs neg exp expm1 log log2 log10 log1p sqrt rsqrt reciprocal square sin cos tan tanh sinh cosh asin acos atan sigmoid erf erfc "
         "floor ceil round trunc sign").split()
POSITIVE = {"log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "asin", "acos"}


def entry(name, shape, code, by="x", dtypes=HALF):
    return name, shape, code, by, dtypes


TABLE = [entry(n, "v", f"m.{n}({'p - 0.95' if n in ('asin', 'acos') else 'p' if n in POSITIVE else 'x'})",
               "" if n in ("floor", "ceil", "round", "trunc", "sign", "asin", "acos") else "p" if n in POSITIVE else "x", FLOATS) for n in UNARY]
TABLE += [
    entry("add", "v", "x + y", "xy", ALL), entry("add_scalar", "v", "x + 3", "x", ALL), entry("sub", "v", "x - y", "xy", ALL),
    entry("mul", "v", "x * y", "xy", ALL), entry("div", "v", "x / p", "xp", FLOATS), entry("add_row", "m", "x + w", "xw"),
    entry("mul_column", "m", "x * t2", ""), entry("pow", "v", "m.pow(p, y)", "py", FLOATS), entry("pow_2", "v", "m.pow(x, 2)", "x", FLOATS),
    entry("pow_3", "v", "m.pow(x, 3)"), entry("pow_half", "v", "m.pow(p, 0.5)", "p"), entry("pow_real", "v", "m.pow(p, 2.4)", "p"),
    entry("maximum", "v", "m.maximum(x, y)", "xy", ALL), entry("minimum", "v", "m.minimum(x, y)", "xy", ALL),
    entry("atan2", "v", "m.atan2(x, y)", "xy", ("float32",)), entry("floor_divide", "v", "m.floor_divide(x, p)", "", ("float32",)),
    entry("remainder", "v", "m.remainder(x, p)", "", ("float32",)), entry("fmod", "v", "m.fmod(x, p)", "", ("float32",)),
    entry("addcmul", "v", "m.addcmul(x, y, z)", "xyz"), entry("addcdiv", "v", "m.addcdiv(x, y, p)", ""), entry("lerp", "v", "m.lerp(x, y, 0.3)", "xy"),
    entry("clamp", "v", "m.clamp(x, -0.5, 0.5)", "x", ALL), entry("eq", "v", "m.eq(x, y)", "", ALL), entry("lt", "v", "m.lt(x, y)", "", ALL),
    entry("ge_scalar", "v", "x >= 0", "", ALL), entry("logical_and", "v", "m.logical_and(k, k)", "", SINGLE),
    entry("logical_not", "v", "m.logical_not(k)", "", SINGLE), entry("isnan", "v", "m.isnan(x)", "", HALF), entry("isfinite", "v", "m.isfinite(x)", "", HALF),
    entry("where", "v", "m.where(k, x, y)", "xy", ALL), entry("masked_fill", "v", "x.masked_fill(k, 0.0)", "x"),
    entry("masked_select", "v", "m.masked_select(x, k)"), entry("nonzero", "v", "m.nonzero(k)", "", SINGLE),
    entry("to_half", "v", "x.to(half)", "", ("float32", "float64", "bfloat16")), entry("to_bfloat16", "v", "x.to(brain)", "", ("float32",)),
    entry("to_float", "v", "x.to(single)", "", ("float64", "float16", "bfloat16", "int64")), entry("to_int", "v", "x.to(whole)", "", FLOATS),
    entry("to_bool", "v", "x.to(truth)", "", ALL),
    # activations
    *(entry(n, "v", f"f.{n}(x)", "x", HALF) for n in ("relu", "gelu", "silu", "softplus", "logsigmoid", "elu", "selu", "mish", "hardswish", "hardsigmoid",
                                                       "relu6", "leaky_relu", "hardtanh", "softshrink", "hardshrink")),
    entry("gelu_tanh", "v", "f.gelu(x, approximate='tanh')"), entry("glu", "m", "f.glu(x)"), entry("prelu", "v", "f.prelu(x, one)", ""),
    entry("softmax", "m", "f.softmax(x, -1)"), entry("softmax_0", "m", "f.softmax(x, 0)"), entry("log_softmax", "m", "f.log_softmax(x, -1)"),
    # reductions
    entry("sum", "v", "m.sum(x)", "x", ALL), entry("sum_0", "m", "m.sum(x, 0)", "x", ALL), entry("sum_1", "m", "m.sum(x, 1)", "x", ALL),
    entry("sum_image", "i", "m.sum(x, (0, 2, 3))"), entry("mean", "v", "m.mean(x)", "x", FLOATS), entry("mean_0", "m", "m.mean(x, 0)", "x", FLOATS),
    entry("mean_1", "m", "m.mean(x, 1)", "x", FLOATS), entry("prod", "v", "m.prod(p)", "p", FLOATS), entry("prod_1", "m", "m.prod(p, 1)", "p", FLOATS),
    entry("prod_0", "m", "m.prod(p, 0)", ""), entry("max", "v", "m.max(x)", "x", ALL), entry("max_1", "m", "m.max(x, 1)[0]", "x", ALL),
    entry("max_0", "m", "m.max(x, 0)[0]", "x", ALL), entry("amax_1", "m", "m.amax(x, 1)", "x", ALL), entry("amax_0", "m", "m.amax(x, 0)", "", ALL),
    entry("amin", "v", "m.min(x)", "", ALL), entry("argmax", "v", "m.argmax(x)", "", ALL), entry("argmax_1", "m", "m.argmax(x, 1)", "", ALL),
    entry("argmax_0", "m", "m.argmax(x, 0)", "", ALL), entry("all", "v", "m.all(k)", "", SINGLE), entry("any_1", "m", "m.any(k, 1)", "", SINGLE),
    entry("var_1", "m", "m.var(x, 1)", "x", FLOATS), entry("std", "v", "m.std(x)", "x", FLOATS), entry("norm", "v", "m.norm(x)", "x", FLOATS),
    entry("norm_1", "m", "m.norm(x, 2, 1)", "x", FLOATS), entry("logsumexp", "m", "m.logsumexp(x, 1)", "x", FLOATS),
    entry("count_nonzero", "v", "m.count_nonzero(x)", "", ALL), entry("cumsum", "v", "m.cumsum(x, 0)", "x", ALL), entry("cumsum_1", "m", "m.cumsum(x, 1)", "x", ALL),
    entry("cumsum_0", "m", "m.cumsum(x, 0)", "", FLOATS), entry("cumprod", "m", "m.cumprod(p, 1)", ""), entry("cummax", "m", "m.cummax(x, 1)[0]", "", SINGLE),
    entry("median", "v", "m.median(x)", "", SINGLE), entry("sort", "m", "m.sort(x, dim=-1)[0]", "", ALL), entry("argsort", "v", "m.argsort(x)", "", ALL),
    entry("topk", "m", "m.topk(x, 10)[0]", "x", SINGLE), entry("unique", "v", "m.unique(c)", "", SINGLE), entry("bincount", "v", "m.bincount(c)", "", SINGLE),
    entry("searchsorted", "v", "m.searchsorted(edges, x)", "", SINGLE), entry("histc", "v", "m.histc(x, 50, -3, 3)", "", SINGLE),
    # places
    entry("transpose", "m", "x.T.contiguous()", "", ALL), entry("permute", "i", "m.permute(x, (0, 2, 3, 1)).contiguous()", "", HALF),
    entry("cat", "m", "m.cat((x, y), 1)", "xy", ALL), entry("cat_0", "m", "m.cat((x, y), 0)", "xy", ALL), entry("stack", "m", "m.stack((x, y), 1)", "xy"),
    entry("split", "m", "m.split(x, n // 4, 1)[1].contiguous()", ""), entry("flip", "m", "m.flip(x, (1,))", "x", ALL), entry("flip_0", "m", "m.flip(x, (0,))", "", SINGLE),
    entry("roll", "m", "m.roll(x, 3, 1)", "x"), entry("tile", "m", "m.tile(x, (2, 2))", "x"), entry("repeat_interleave", "m", "m.repeat_interleave(x, 2, 1)", ""),
    entry("expand", "m", "w.expand(x.shape).contiguous()" , "", SINGLE), entry("tril", "m", "m.tril(x)", "x", ALL), entry("triu", "m", "m.triu(x, 1)", ""),
    entry("pad", "i", "f.pad(x, (1, 1, 1, 1))", "x", HALF), entry("pad_reflect", "i", "f.pad(x, (1, 1, 1, 1), mode='reflect')", "x", SINGLE),
    entry("strided", "m", "x[:, ::2].contiguous()", "", ALL), entry("slice", "m", "x[1:, 1:].contiguous()", "", ALL), entry("clone", "v", "m.clone(x)", "x", ALL),
    entry("zeros_like", "v", "m.zeros_like(x)", "", ALL), entry("ones_like", "v", "m.ones_like(x)", "", ALL), entry("full_like", "v", "m.full_like(x, 2)", "", ALL),
    entry("arange", "v", "m.arange(0, total)", "", SINGLE), entry("eye", "m", "m.eye(n, n)", "", SINGLE), entry("linspace", "v", "m.linspace(0, 1, total)", "", SINGLE),
    entry("gather", "m", "m.gather(x, 1, i)", "x", HALF), entry("index_select", "m", "m.index_select(x, 0, t)", "x", ALL),
    entry("index_select_1", "m", "m.index_select(x, 1, t)", "x"), entry("index", "m", "x[t]", "x"), entry("scatter", "m", "m.scatter(x, 1, i, y)", "", SINGLE),
    entry("scatter_add", "m", "m.scatter_add(x, 1, i, y)", "xy", SINGLE), entry("index_add", "m", "m.index_add(x, 0, t, y)", "", SINGLE),
    entry("one_hot", "v", "f.one_hot(c, 16)", "", SINGLE), entry("embedding", "m", "f.embedding(t, x)", "x"), entry("take_mask", "m", "x[k]", "", SINGLE),
    entry("meshgrid", "m", "m.meshgrid(w, v, indexing='ij')[0].contiguous()", "", SINGLE),
    # random numbers
    entry("rand_like", "v", "m.rand_like(x)", "", HALF), entry("randn_like", "v", "m.randn_like(x)", "", HALF), entry("randperm", "v", "m.randperm(total)", "", SINGLE),
    entry("bernoulli", "v", "m.bernoulli(p / 2)", "", SINGLE), entry("dropout", "v", "f.dropout(x, 0.5, True)", "x"), entry("randint", "v", "m.randint(0, 10, (total,))", "", SINGLE),
    entry("multinomial", "m", "m.multinomial(p, 4, True)", "", SINGLE), entry("normal", "v", "m.normal(x, 1.0)", "", SINGLE),
    # products
    entry("matmul", "g", "m.matmul(x, y)", "xy", FLOATS), entry("linear", "m", "f.linear(x, y, v0)", "xy", FLOATS), entry("bmm", "g", "m.bmm(x, y)", "xy", HALF),
    entry("outer", "m", "m.outer(w, v)", "", SINGLE), entry("dot", "v", "m.dot(x, y)", "xy", FLOATS), entry("mv", "m", "m.mv(x, w)", "xw", FLOATS),
    entry("einsum", "g", "m.einsum('bij,bjk->bik', x, y)", "xy", SINGLE), entry("baddbmm", "g", "m.baddbmm(z, x, y)", "", SINGLE),
    # networks
    entry("layer_norm", "m", "f.layer_norm(x, (n,), w, v)", "xwv"), entry("group_norm", "i", "f.group_norm(x, 4)"),
    entry("batch_norm", "i", "f.batch_norm(x, None, None, None, None, True)", "x", HALF),
    entry("max_pool2d", "i", "f.max_pool2d(x, 2)"), entry("max_pool2d_3", "i", "f.max_pool2d(x, 3, 2, 1)"), entry("avg_pool2d", "i", "f.avg_pool2d(x, 2)"),
    entry("adaptive_avg_pool2d", "i", "f.adaptive_avg_pool2d(x, 1)"), entry("adaptive_avg_pool2d_7", "i", "f.adaptive_avg_pool2d(x, 7)"),
    entry("conv2d", "i", "f.conv2d(x, filters, None, 1, 1)", "x"), entry("conv2d_depthwise", "i", "f.conv2d(x, thin, None, 1, 1, 1, channels)", "x"),
    entry("conv_transpose2d", "i", "f.conv_transpose2d(x, filters, None, 2)", "x", SINGLE), entry("unfold", "i", "f.unfold(x, 3, padding=1)", "x", SINGLE),
    entry("interpolate_nearest", "i", "f.interpolate(x, scale_factor=2.0, mode='nearest')", "x"),
    entry("interpolate_bilinear", "i", "f.interpolate(x, scale_factor=2.0, mode='bilinear', align_corners=False)", "x"),
    entry("grid_sample", "i", "f.grid_sample(x, grid, align_corners=False)", "x", SINGLE), entry("pixel_shuffle", "i", "f.pixel_shuffle(x, 2)", "", SINGLE),
    entry("cross_entropy", "m", "f.cross_entropy(x, t)"), entry("nll_loss", "m", "f.nll_loss(x, t)"), entry("mse_loss", "v", "f.mse_loss(x, y)", "x"),
    entry("l1_loss", "v", "f.l1_loss(x, y)", "x"),
    entry("bce_with_logits", "v", "f.binary_cross_entropy_with_logits(x, p / 2)", "x"), entry("kl_div", "m", "f.kl_div(x, p)", "x", SINGLE),
    entry("normalize", "m", "f.normalize(x)", "x", SINGLE), entry("cosine_similarity", "m", "f.cosine_similarity(x, y)", "x", SINGLE), entry("cdist", "m", "m.cdist(x[:64], y[:64])", "", SINGLE),
]


def rows():
    """(row's name, arguments) of all of them."""
    for name, _, _, by, dtypes in TABLE:
        for dtype in dtypes:
            for size in SIZES:
                for grad in (False, True) if by and dtype != "int64" and "float" in dtype else (False,):
                    yield f"op.{name}.{dtype}.{size}{'.grad' if grad else ''}", (name, dtype, size, grad)


def operands(name, dtype, size):
    """The entry's code, what it differentiates, and its operands as numpy arrays ("kind", array): kind x takes the dtype, others stay."""
    import numpy as np
    _, kind, code, by, _ = next(e for e in TABLE if e[0] == name)
    shape = SIZES[size][kind]
    rng, found = np.random.RandomState(0), {}
    makers = {
        "x": lambda: ("x", rng.standard_normal(shape) * (9 if dtype == "int64" else 1)), "y": lambda: ("x", rng.standard_normal(shape)), "z": lambda: ("x", rng.standard_normal(shape)),
        "p": lambda: ("x", rng.rand(*shape) * 1.8 + 0.1), "k": lambda: ("as", rng.rand(*shape) < 0.5),
        "w": lambda: ("x", rng.standard_normal(shape[-1])), "v": lambda: ("x", rng.standard_normal(shape[-1])), "v0": lambda: ("x", rng.standard_normal(shape[0])),
        "t2": lambda: ("x", rng.standard_normal((shape[0], 1))), "i": lambda: ("as", rng.randint(0, shape[-1], shape)), "t": lambda: ("as", rng.randint(0, min(shape), shape[0])),
        "c": lambda: ("as", rng.randint(0, 16, shape)), "one": lambda: ("x", np.full(1, 0.25)), "edges": lambda: ("x", np.sort(rng.standard_normal(1000))),
        "filters": lambda: ("x", rng.standard_normal((shape[1], shape[1], 3, 3))), "thin": lambda: ("x", rng.standard_normal((shape[1], 1, 3, 3))),
        "grid": lambda: ("x", rng.rand(shape[0], *shape[2:], 2) * 2 - 1),
    }
    for word in dict.fromkeys(re.findall(r"(?<![.\w'])\w+", code)):
        if word in makers:
            found[word] = makers[word]()
    numbers = {"n": shape[-1], "total": int(np.prod(shape)), "channels": shape[1] if len(shape) > 1 else 1}
    return code, [b for b in by if b in found], found, numbers

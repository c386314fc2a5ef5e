# SPDX-License-Identifier: Apache-2.0
# Sizes that reach the blocked and vectorised paths of kernels and their remainders.
LOOSE = dict(rtol=1e-4, atol=1e-4)
for form in ("ops.ReLU()", "ops.Exp()", "ops.Sigmoid()", "ops.Tanh()", "ops.GeLU()", "ops.Sqrt()", "ops.Log()"):
    span = "(0.1,3)" if "Sqrt" in form or "Log" in form else "(-5,5)"
    case(form[:-2], f"{form}(x)", x=f"f32[517]{span}", grad="x", rtol=1e-4, atol=1e-4 if "Tanh" in form else None)
for form in ("ops.Add()", "ops.Mul()", "ops.RealDiv()", "ops.Maximum()"):
    case(form[:-2], f"{form}(x, y)", x="f32[17,33](0.5,2)", y="f32[33](0.5,2)", grad="x y", **LOOSE)
    case(form[:-2], f"{form}(x, y)", x="f32[9,1,21](0.5,2)", y="f32[7,1](0.5,2)", grad="x y", **LOOSE)
for form in ("ops.ReduceSum()", "ops.ReduceMean()", "ops.ReduceMax()"):
    for axis in ("0", "1", "()", "-1"):
        case(form[:-2], f"{form}(x, {axis})", x="f32[37,129]", **LOOSE)
    case(form[:-2], f"{form}(x, (0, 2))", x="f32[11,7,19]", grad="x", **LOOSE)
for m, k, n in ((65, 77, 33), (1, 130, 47), (128, 3, 40), (16, 16, 16), (50, 1, 50), (31, 257, 5)):
    case("ops.MatMul", "ops.MatMul()(x, y)", x=f"f32[{m},{k}]", y=f"f32[{k},{n}]", rtol=1e-4, atol=1e-3)
    case("ops.MatMul", "ops.MatMul(transpose_b=True)(x, y)", x=f"f32[{m},{k}]", y=f"f32[{n},{k}]", rtol=1e-4, atol=1e-3)
case("ops.BatchMatMul", "ops.BatchMatMul()(x, y)", x="f32[3,19,35]", y="f32[3,35,23]", grad="x y", rtol=1e-4, atol=1e-3)
case("ops.matmul", "ops.matmul(x, y)", x="f64[33,47]", y="f64[47,21]", rtol=1e-9, atol=1e-9)
CONVS = [("8, 3, pad_mode='same'", "f32[2,6,13,11]", "f32[8,6,3,3]"), ("16, 1", "f32[1,20,9,9]", "f32[16,20,1,1]"),
         ("8, 3, stride=2, pad_mode='pad', pad=1", "f32[2,5,14,15]", "f32[8,5,3,3]"),
         ("18, 3, group=18, pad_mode='same'", "f32[1,18,10,12]", "f32[18,1,3,3]"),
         ("12, 5, group=3", "f32[1,9,11,11]", "f32[12,3,5,5]"), ("4, 7, stride=2, pad_mode='pad', pad=3",
         "f32[1,3,21,21]", "f32[4,3,7,7]"),
         ("6, 3, dilation=2", "f32[1,4,15,12]", "f32[6,4,3,3]"), ("33, 3, pad_mode='same'", "f32[1,17,5,5]",
         "f32[33,17,3,3]")]
for args, x, w in CONVS:
    case("ops.Conv2D", f"ops.Conv2D({args})(x, w)", x=x, w=w, grad="x w", rtol=1e-4, atol=1e-3)
for form in ("ops.MaxPool", "ops.AvgPool"):
    for args in ("3, 2, 'same'", "2, 2", "3, 1"):
        case(form, f"{form}({args})(x)", x="f32[2,5,17,13]", grad="x", **LOOSE)
for form in ("ops.Softmax()", "ops.LogSoftmax()"):
    case(form[:-2], f"{form}(x)", x="f32[5,301](-5,5)", rtol=1e-4, atol=1e-6)
    case(form[:-2], f"({form}(x) * w).sum()", x="f32[7,129](-5,5)", w="f32[7,129]", grad="x", **LOOSE)
case("ops.LayerNorm", "(ops.LayerNorm(1, 1)(x, g, b)[0] * x).sum()", x="f32[9,130]", g="f32[130]", b="f32[130]",
    grad="x g b", rtol=1e-3, atol=1e-3)
for perm, x in (("(1, 0)", "f32[67,45]"), ("(0, 2, 1)", "f32[5,19,23]"), ("(2, 0, 1)", "i32[7,11,13]"), ("(0, 3, 1, 2)",
        "f32[2,9,8,5]"), ("(3, 2, 1, 0)", "f16[3,5,7,9]")):
    case("ops.Transpose", f"ops.Transpose()(x, {perm})", x=x)
case("ops.Concat", "ops.Concat(1)((x, y))", x="f32[17,33]", y="f32[17,21]")
case("ops.Gather", "ops.Gather()(x, i, 0)", x="f32[50,17]", i="i32[40]<50", grad="x", **LOOSE)
case("ops.CumSum", "ops.CumSum()(x, 1)", x="f32[5,150]", grad="x", rtol=1e-4, atol=1e-3)
case("ops.Sort", "ops.Sort()(x)", x="f32[3,200]")
case("ops.TopK", "ops.TopK()(x, 17)", x="f32[4,150]")
case("ops.BiasAdd", "ops.BiasAdd()(x, b)", x="f32[3,17,5,7]", b="f32[17]", grad="b", **LOOSE)
case("nn.Dense", "ms.value_and_grad(lambda v: net(v) * net(v), 0, net.trainable_params())(x)",
    setup="net = fill(nn.Dense(37, 29))", x="f32[11,37]", rtol=1e-3, atol=1e-2)
case("nn.LSTM", "net(x, (h, c))", setup="net = fill(nn.LSTM(19, 23))", x="f32[7,5,19]", h="f32[1,5,23]",
    c="f32[1,5,23]", rtol=1e-3, atol=1e-4)
case("nn.BatchNorm2d", "a = net(x); (a, net.moving_mean, net.moving_variance)",
    setup="net = fill(nn.BatchNorm2d(17)).set_train()", x="f32[3,17,7,5]", rtol=1e-3, atol=1e-4)

# SPDX-License-Identifier: Apache-2.0
# Operators of neural networks: activations with an axis, convolution, pooling, normalisation, resizing, losses.
NEAR = dict(rtol=1e-4, atol=1e-5)               # the exponential there is a fast approximation
for form, api in (("ops.softmax", "ops.softmax"), ("mint.softmax", "mint.softmax"), ("mint.nn.functional.softmax",
        "mint.nn.functional.softmax"),
                  ("ops.log_softmax", "ops.log_softmax"), ("mint.nn.functional.log_softmax",
                  "mint.nn.functional.log_softmax"), ("mint.special.log_softmax", "mint.special.log_softmax")):
    axis = "axis" if form.startswith("ops") else "dim"
    case(api, f"{form}(x, {axis}=-1)", x="f32[2,3]", grad="x", kind="either", **NEAR)
    case(api, f"{form}(x, {axis}=0)", x="f32[4,3]", kind="either")
    case(api, f"{form}(x, 1)", x="f32[2,3,2]", grad="x", kind="either", **NEAR)
    case(api, f"{form}(x, -1)", x="f16[2,3]", rtol=3e-3, kind="either")
    case(api, f"({form}(x, -1) * w).sum()", x="f32[2,4]", w="f32[2,4]", grad="x", kind="either", **NEAR)
    case(api, f"{form}(x, 3)", x="f32[2,3]", kind="error")
case("ops.softmax", "ops.softmax(x)", x="f32[2,3](50,90)", grad="x")
case("ops.softmax", "ops.softmax(x, -1, dtype=ms.float32)", x="f16[2,3]", kind="either")
for form in ("ops.Softmax", "ops.LogSoftmax"):
    case(form, f"{form}()(x)", x="f32[2,3]", grad="x", **NEAR)
    case(form, f"{form}(axis=1)(x)", x="f32[2,3,2]", grad="x", **NEAR)
    case(form, f"{form}(0)(x)", x="f32[4]", grad="x", **NEAR)
    case(form, f"({form}()(x) * w).sum()", x="f32[2,3]", w="f32[2,3]", grad="x", **NEAR)
    case(form, f"{form}()(x)", x="f16[2,3]", rtol=3e-3)
# Convolution and pooling
CONV = [("out_channel=2, kernel_size=3", "f32[1,2,5,5]", "f32[2,2,3,3]"), ("2, 3, pad_mode='same'", "f32[1,2,5,4]",
    "f32[2,2,3,3]"),
        ("2, (3, 2), pad_mode='same', stride=2", "f32[1,1,5,5]", "f32[2,1,3,2]"), ("2, 3, pad_mode='pad', pad=1",
        "f32[2,2,4,4]", "f32[2,2,3,3]"),
        ("4, 3, pad_mode='pad', pad=(1, 0, 2, 1), stride=(2, 1)", "f32[1,2,6,5]", "f32[4,2,3,3]"), ("4, 3, group=2",
        "f32[1,4,5,5]", "f32[4,2,3,3]"),
        ("4, 3, group=4, pad_mode='same'", "f32[1,4,4,4]", "f32[4,1,3,3]"), ("2, 3, dilation=2", "f32[1,2,6,6]",
        "f32[2,2,3,3]"), ("3, 1", "f32[2,2,3,3]", "f32[3,2,1,1]")]
for args, xs, ws in CONV:
    case("ops.Conv2D", f"ops.Conv2D({args})(x, w)", x=xs, w=ws, grad="x w", rtol=1e-4, atol=1e-5)
case("ops.Conv2D", "ops.Conv2D(2, 3)(x, w)", x="f16[1,2,4,4]", w="f16[2,2,3,3]", rtol=1e-2, atol=1e-2)
case("ops.Conv2D", "ops.Conv2D(2, 3)(x, w)", x="f32[1,3,4,4]", w="f32[2,2,3,3]", kind="error")
case("ops.conv2d", "ops.conv2d(x, w)", x="f32[1,2,4,4]", w="f32[2,2,3,3]", grad="x w", rtol=1e-4, atol=1e-5)
case("ops.conv2d", "ops.conv2d(x, w, b, stride=2, pad_mode='pad', padding=1)", x="f32[1,2,4,4]", w="f32[2,2,3,3]",
    b="f32[2]", grad="x w b", rtol=1e-4, atol=1e-5)
for form in ("mint.nn.functional.conv2d", "mint.conv2d"):
    case(form, f"{form}(x, w)", x="f32[1,2,4,4]", w="f32[2,2,3,3]", grad="x w", rtol=1e-4, atol=1e-5, kind="either")
    case(form, f"{form}(x, w, b, stride=2, padding=1)", x="f32[1,2,4,4]", w="f32[2,2,3,3]", b="f32[2]", rtol=1e-4,
        atol=1e-5, kind="either")
    case(form, f"{form}(x, w, padding='same', groups=2)", x="f32[1,4,4,4]", w="f32[2,2,3,3]", rtol=1e-4, atol=1e-5,
        kind="either")
for args, xs, ws, size in (("3, 3", "f32[1,3,4,4]", "f32[3,2,3,3]", "(1, 2, 6, 6)"), ("3, 3, pad_mode='same', stride=2",
        "f32[1,3,3,3]", "f32[3,2,3,3]", "(1, 2, 6, 6)"),
                           ("3, 3, pad_mode='pad', pad=1, stride=2", "f32[1,3,3,3]", "f32[3,2,3,3]", "(1, 2, 5, 5)")):
    case("ops.Conv2DTranspose", f"ops.Conv2DTranspose({args})(x, w, {size})", x=xs, w=ws, grad="x w", rtol=1e-4,
        atol=1e-5)
POOL = ["kernel_size=2, strides=2", "kernel_size=2, strides=1, pad_mode='same'",
    "kernel_size=(3, 2), strides=(2, 1), pad_mode='SAME'", "3, 2, 'VALID'"]
for form in ("ops.MaxPool", "ops.AvgPool"):
    for args in POOL:
        case(form, f"{form}({args})(x)", x="f32[1,2,5,5]", grad="x")
    case(form, f"{form}(2, 2)(x)", x="f16[1,1,4,4]", rtol=2e-3)
case("ops.max_pool2d", "ops.max_pool2d(x, 2)", x="f32[1,2,4,4]", grad="x", kind="either")
case("ops.avg_pool2d", "ops.avg_pool2d(x, 2, 2, 1)", x="f32[1,2,4,4]", grad="x", kind="either")
for args in ("2, 2", "kernel_size=(1, 2, 2), strides=1, pad_mode='SAME'", "2, 1, 'pad', pad_list=1"):
    case("ops.MaxPool3D", f"ops.MaxPool3D({args})(x)", x="f32[1,2,4,4,4]", grad="x")
for size in ("2", "(1, 3)", "(None, 2)", "1"):
    case("ops.AdaptiveAvgPool2D", f"ops.AdaptiveAvgPool2D({size})(x)", x="f32[1,2,5,4]", grad="x")
    case("ops.adaptive_avg_pool2d", f"ops.adaptive_avg_pool2d(x, {size})", x="f32[1,2,5,4]", grad="x", kind="either")
case("mint.nn.functional.adaptive_avg_pool2d", "mint.nn.functional.adaptive_avg_pool2d(x, (1, 1))", x="f32[1,2,5,4]",
    kind="either")
# Normalisation
case("ops.LayerNorm", "ops.LayerNorm()(x, g, b)", x="f32[2,3]", g="f32[3]", b="f32[3]", rtol=1e-4, atol=1e-5)
case("ops.LayerNorm", "ops.LayerNorm(begin_norm_axis=-1, begin_params_axis=-1, epsilon=1e-5)(x, g, b)[0]",
    x="f32[2,3,4]", g="f32[4]", b="f32[4]", grad="x g b", rtol=1e-4, atol=1e-5)
case("ops.LayerNorm", "(ops.LayerNorm(1, 1)(x, g, b)[0] * w).sum()", x="f32[2,3,4]", g="f32[3,4]", b="f32[3,4]",
    w="f32[2,3,4]", grad="x g b", rtol=1e-4, atol=1e-4)
case("ops.LayerNorm", "ops.LayerNorm()(x, g, b)[0]", x="f16[2,6]", g="f16[6]", b="f16[6]", rtol=1e-2, atol=1e-2)
case("ops.layer_norm", "ops.layer_norm(x, (3,), g, b)", x="f32[2,3]", g="f32[3]", b="f32[3]", kind="either", rtol=1e-4,
    atol=1e-5)
case("mint.nn.functional.layer_norm", "mint.nn.functional.layer_norm(x, (3,), g, b)", x="f32[2,3]", g="f32[3]",
    b="f32[3]", kind="either", rtol=1e-4, atol=1e-5)
BN = dict(x="f32[4,3,2,2]", g="f32[3]", b="f32[3]", m="f32[3]", v="f32[3](0.5,2)")
case("ops.BatchNorm", "ops.BatchNorm()(x, g, b, m, v)[0]", grad="x g b", rtol=1e-4, atol=1e-5, **BN)
case("ops.BatchNorm", "ops.BatchNorm(is_training=True)(x, g, b, Parameter(m, name='m'), Parameter(v, name='v'))[0]",
    rtol=1e-4, atol=1e-5, **BN)
case("ops.BatchNorm", "ops.BatchNorm(is_training=False, epsilon=1e-2)(x, g, b, m, v)[0]", x="f32[4,3]", g="f32[3]",
    b="f32[3]", m="f32[3]", v="f32[3](0.5,2)", grad="x g b", rtol=1e-4, atol=1e-5)
case("ops.BatchNorm", "(ops.BatchNorm(is_training=True, momentum=0.2)(x, g, b, mean, variance)[0], mean, variance)",
    x="f32[4,3,2,2]", g="f32[3]", b="f32[3]", mean="param:f32[3]", variance="param:f32[3](0.5,2)", rtol=1e-4, atol=1e-5)
case("ops.batch_norm", "ops.batch_norm(x, m, v, g, b)", kind="either", rtol=1e-4, atol=1e-5, **BN)
# Resizing
for size, mode in (("(4, 6)", "'nearest'"), ("(4, 6)", "'bilinear'"), ("(2, 2)", "'area'"), ("(5, 5)", "'bicubic'")):
    case("ops.interpolate", f"ops.interpolate(x, size={size}, mode={mode})", x="f32[1,2,3,4]", grad="x", rtol=1e-4,
        atol=1e-5, kind="either")
    case("mint.nn.functional.interpolate", f"mint.nn.functional.interpolate(x, size={size}, mode={mode})",
        x="f32[1,2,3,4]", rtol=1e-4, atol=1e-5, kind="either")
case("ops.interpolate", "ops.interpolate(x, (5, 7), mode='bilinear', align_corners=True)", x="f32[1,2,3,4]", grad="x",
    rtol=1e-4, atol=1e-5)
case("ops.interpolate", "ops.interpolate(x, scale_factor=2.0, recompute_scale_factor=True, mode='bilinear')",
    x="f32[1,1,3,3]", kind="either", rtol=1e-4, atol=1e-5)
case("ops.interpolate", "ops.interpolate(x, size=(6,), mode='linear')", x="f32[1,2,3]", kind="either", rtol=1e-4,
    atol=1e-5)
for a in ("size=(4, 6)", "(2, 2)", "(5, 5), align_corners=True", "(4, 6), half_pixel_centers=True"):
    case("ops.ResizeNearestNeighbor", f"ops.ResizeNearestNeighbor({a})(x)", x="f32[1,2,3,4]",
        grad="x" if "half" not in a else "", kind="either")
for a, size in (("", "(4, 6)"), ("align_corners=True", "(5, 5)"), ("half_pixel_centers=True", "(4, 6)"), ("",
        "(2, 2)")):
    case("ops.ResizeBilinearV2", f"ops.ResizeBilinearV2({a})(x, {size})", x="f32[1,2,3,4]", grad="x", rtol=1e-4,
        atol=1e-5)
# Losses
REDUCTIONS = ("none", "mean", "sum")
for r in REDUCTIONS:
    case("ops.cross_entropy", f"ops.cross_entropy(x, y, reduction='{r}')", x="f32[3,4]", y="i32[3]<4", grad="x")
    case("ops.cross_entropy", f"ops.cross_entropy(x, y, reduction='{r}')", x="f32[3,4]", y="f32[3,4](0,1)", grad="x")
    case("mint.nn.functional.cross_entropy", f"mint.nn.functional.cross_entropy(x, y, reduction='{r}')", x="f32[3,4]",
        y="i64[3]<4", grad="x", kind="either")
    case("ops.binary_cross_entropy_with_logits", f"ops.binary_cross_entropy_with_logits(x, y, w, p, reduction='{r}')",
        x="f32[2,3]", y="f32[2,3](0,1)", w="f32[2,3](0.1,1)", p="f32[3](0.5,2)", grad="x y")
    case("mint.nn.functional.binary_cross_entropy_with_logits",
        f"mint.nn.functional.binary_cross_entropy_with_logits(x, y, reduction='{r}')", x="f32[2,3]", y="f32[2,3](0,1)",
        grad="x", kind="either")
    case("ops.BinaryCrossEntropy", f"ops.BinaryCrossEntropy('{r}')(x, y, w)", x="f32[2,3](0.1,0.9)", y="f32[2,3](0,1)",
        w="f32[2,3](0.1,1)", grad="x")
    case("ops.BinaryCrossEntropy", f"ops.BinaryCrossEntropy(reduction='{r}')(x, y)", x="f32[2,3](0.1,0.9)",
        y="f32[2,3](0,1)", grad="x", kind="either")
    case("ops.KLDivLoss", f"ops.KLDivLoss(reduction='{r}')(x, y)", x="f32[2,3](-3,-1)", y="f32[2,3](0.1,1)", grad="x")
    case("ops.SmoothL1Loss", f"ops.SmoothL1Loss(reduction='{r}')(x, y)", x="f32[2,3]", y="f32[2,3]", grad="x y")
    case("ops.SmoothL1Loss", f"ops.SmoothL1Loss(beta=0.25, reduction='{r}')(x, y)", x="f32[4]", y="f32[4]", grad="x")
    case("ops.nll_loss", f"ops.nll_loss(x, y, reduction='{r}')", x="f32[3,4](-3,-1)", y="i32[3]<4", grad="x")
    case("ops.mse_loss", f"ops.mse_loss(x, y, reduction='{r}')", x="f32[3,4]", y="f32[3,4]", grad="x y")
    case("ops.l1_loss", f"ops.l1_loss(x, y, reduction='{r}')", x="f32[3,4]", y="f32[3,4]", grad="x y")
    case("mint.nn.functional.mse_loss", f"mint.nn.functional.mse_loss(x, y, reduction='{r}')", x="f32[3,4]",
        y="f32[3,4]", kind="either")
case("ops.KLDivLoss", "ops.KLDivLoss('batchmean')(x, y)", x="f32[2,3](-3,-1)", y="f32[2,3](0.1,1)", kind="either")
case("ops.cross_entropy", "ops.cross_entropy(x, y, w, ignore_index=1)", x="f32[5,4]", y="i32[5]<4", w="f32[4](0.5,1)",
    grad="x")
case("ops.cross_entropy", "ops.cross_entropy(x, y, label_smoothing=0.1)", x="f32[5,4]", y="i32[5]<4", grad="x")
case("ops.cross_entropy", "ops.cross_entropy(x, y)", x="f32[2,4,3]", y="i32[2,3]<4", grad="x")
case("ops.cross_entropy", "ops.cross_entropy(x, y)", x="f32[3,4]", y="i32[2]<4", kind="error")
case("ops.SigmoidCrossEntropyWithLogits", "ops.SigmoidCrossEntropyWithLogits()(x, y)", x="f32[2,3]", y="f32[2,3](0,1)",
    grad="x")
case("ops.SigmoidCrossEntropyWithLogits", "ops.SigmoidCrossEntropyWithLogits()(x, y)", x="f32[4](-20,20)",
    y="f32[4](0,1)", grad="x")
case("ops.SigmoidCrossEntropyWithLogits", "ops.SigmoidCrossEntropyWithLogits()(x, y)", x="f16[2,2]", y="f16[2,2](0,1)",
    kind="either", rtol=3e-3)
case("ops.SoftmaxCrossEntropyWithLogits", "ops.SoftmaxCrossEntropyWithLogits()(x, y)", x="f32[2,3]", y="f32[2,3](0,1)")
case("ops.SoftmaxCrossEntropyWithLogits", "ops.SoftmaxCrossEntropyWithLogits()(x, y)[0]", x="f32[2,3]",
    y="f32[2,3](0,1)", grad="x")
case("ops.SoftmaxCrossEntropyWithLogits", "ops.SoftmaxCrossEntropyWithLogits()(x, y)", x="f16[2,4]", y="f16[2,4](0,1)",
    rtol=4e-3, kind="either")
case("ops.SoftmaxCrossEntropyWithLogits", "ops.SoftmaxCrossEntropyWithLogits()(x, y)", x="f32[1,5]", y="f32[1,5](0,1)")
case("ops.SparseSoftmaxCrossEntropyWithLogits", "ops.SparseSoftmaxCrossEntropyWithLogits()(x, y)", x="f32[3,4]",
    y="i32[3]<4", grad="x")
CTC = ("i = Tensor([[0, 0], [0, 1], [1, 0]], ms.int64); v = Tensor([1, 2, 0], ms.int32); "
       "n = Tensor([{0}, {1}], ms.int32)")
for lengths in ((4, 4), (3, 4), (2, 3)):
    case("ops.CTCLoss", "ops.CTCLoss()(x, i, v, n)[0]", x="f32[4,2,4]", setup=CTC.format(*lengths), rtol=1e-4,
        atol=1e-5)
case("ops.CTCLoss", "ops.CTCLoss(ctc_merge_repeated=False)(x, i, v, n)[0]", x="f32[4,2,4]", setup=CTC.format(4, 4),
    grad="x", rtol=1e-4, atol=1e-5)
# Recurrent primitives
for direction, layers in ((False, 1), (True, 1), (False, 2)):
    d = 2 if direction else 1
    n = sum(4 * 3 * ((3 if layer == 0 else 3 * d) + 3) + 2 * 4 * 3 for layer in range(layers)) * d
    case("ops.LSTM", f"ops.LSTM(3, 3, {layers}, True, {direction}, 0.0)(x, h, c, w)[:3]", x="f32[4,2,3]",
        h=f"f32[{layers * d},2,3]", c=f"f32[{layers * d},2,3]", w=f"f32[{n},1,1](-1,1)", rtol=1e-4, atol=1e-5)
case("ops.LSTM", "ops.LSTM(2, 3, 1, False, False, 0.0)(x, h, c, w)[0]", x="f32[4,2,2]", h="f32[1,2,3]", c="f32[1,2,3]",
    w="f32[60,1,1](-1,1)", grad="x", rtol=1e-4, atol=1e-5)
case("ops.DynamicRNN", "ops.DynamicRNN()(x, w, b, None, h, c)", x="f16[2,16,64]", w="f16[96,128]", b="f16[128]",
    h="f16[1,16,32]", c="f16[1,16,32]")
case("ops.DynamicGRUV2", "ops.DynamicGRUV2()(x, wi, wh, None, None, None, h)", x="f16[2,8,64]", wi="f16[64,48]",
    wh="f16[16,48]", h="f16[8,16]")
case("ops.deformable_conv2d", "ops.deformable_conv2d(x, w, o, (3, 3), (1, 1, 1, 1), (0, 0, 0, 0))", x="f32[1,2,5,5]",
    w="f32[2,2,3,3]", o="f32[1,27,3,3]", grad="x w o", rtol=1e-4, atol=1e-5)
case("ops.deformable_conv2d", "ops.deformable_conv2d(x, w, o, (3, 3), (1, 1, 1, 1), (1, 1, 1, 1))", x="f32[1,1,4,4]",
    w="f32[2,1,3,3]", o="f32[1,27,4,4](-0.5,0.5)", rtol=1e-4, atol=1e-5)
case("ops.deformable_conv2d", "ops.deformable_conv2d(x, w, o, (3, 3), (1, 1, 2, 2), (0, 0, 0, 0), bias=b)",
    x="f32[1,2,5,5]", w="f32[3,2,3,3]", o="f32[1,27,2,2]", b="f32[3]", rtol=1e-4, atol=1e-5)
# Gradient clipping
case("ops.clip_by_global_norm", "ops.clip_by_global_norm((x, y), 1.0)", x="f32[2,3]", y="f32[4]")
case("ops.clip_by_global_norm", "ops.clip_by_global_norm([x, y], clip_norm=0.5)", x="f32[2,3]", y="f32[4]")
case("ops.clip_by_global_norm", "ops.clip_by_global_norm((x,), 100.0)", x="f32[2,3]")
case("ops.clip_by_global_norm", "C.clip_by_global_norm((x, y), 1.0, None)", x="f16[2]", y="f32[3]", kind="either")
case("ops.clip_by_norm", "ops.clip_by_norm(x, 1.0)", x="f32[2,3]", kind="either")
case("ops.clip_by_norm", "ops.clip_by_norm([x, y], 1.0)", x="f32[2,3]", y="f32[4]", kind="either")
case("ops.clip_by_norm", "ops.clip_by_norm(x, 1.0, norm_type=1.0)", x="f32[2,3]", kind="either")
case("nn.ClipByNorm", "nn.ClipByNorm()(x, Tensor(1.0, ms.float32))", x="f32[2,3]", grad="x", kind="either", rtol=1e-4)
case("nn.ClipByNorm", "nn.ClipByNorm()(x, Tensor(100.0, ms.float32))", x="f32[2,3]", kind="either", rtol=1e-4)
case("nn.ClipByNorm", "nn.ClipByNorm(axis=1)(x, Tensor(0.5, ms.float32))", x="f32[2,3,2]", kind="either", rtol=1e-4)
case("nn.ClipByNorm", "nn.ClipByNorm(axis=0)(x, Tensor(1.0, ms.float32))", x="f32[2,3]", kind="either")
# Optimizer primitives
S = "t = lambda v: Tensor(v, ms.float32)"
case("ops.AdamWeightDecay", "ops.AdamWeightDecay()(w, m, v, 0.1, 0.9, 0.99, 1e-6, 0.01, g); (w, m, v)",
    w="param:f32[2,3]", m="param:f32[2,3]", v="param:f32[2,3](0,1)", g="f32[2,3]")
case("ops.AdamWeightDecay", "ops.AdamWeightDecay()(w, m, v, 0.1, 0.9, 0.99, 1e-6, 0.0, g); (w, m, v)", w="param:f32[3]",
    m="param:f32[3]", v="param:f32[3](0,1)", g="f32[3]")
case("ops.AdamWeightDecay", "ops.AdamWeightDecay()(w, m, v, t(0.1), t(0.9), t(0.99), t(1e-6), t(0.1), g); (w, m, v)",
    setup=S, w="param:f32[3]", m="param:f32[3]", v="param:f32[3](0,1)", g="f32[3]", kind="either")
case("ops.FusedWeightScaleApplyMomentum",
    "P.FusedWeightScaleApplyMomentum()(t(0.01), t(0.5), v, a, t(0.1), g, t(0.9)); (v, a)", setup=S, v="param:f32[3]",
    a="param:f32[3]", g="f32[3]")
case("ops.FusedCastAdamWeightDecay", "P.FusedCastAdamWeightDecay()(w, m, v, t(0.1), t(0.9), t(0.99), t(1e-6), "
    "t(0.01), g, t(1.0)); (w, m, v)", setup=S, w="param:f32[3]", m="param:f32[3]", v="param:f32[3](0,1)", g="f16[3]")
for g in ("f32[3]", "f16[2,2]"):
    w = g.replace("16", "32")
    case("ops.FusedCastAdamWeightDecay", "P.FusedCastAdamWeightDecay()(w, m, v, t(0.01), t(0.8), t(0.9), t(1e-4), "
        "t(0.1), g, t(2.0)); (w, m, v)", setup=S, w=f"param:{w}", m=f"param:{w}", v=f"param:{w}(0,1)", g=g)
case("ops.ApplyMomentum", "(ops.ApplyMomentum()(w, a, 0.1, g, 0.9), w, a)", w="param:f32[3]", a="param:f32[3]",
    g="f32[3]", kind="either")

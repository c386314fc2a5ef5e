# SPDX-License-Identifier: Apache-2.0
# Boxes: overlap, suppression, encoding, region pooling.
BOX = "b = Tensor(np.concatenate([x.asnumpy(), x.asnumpy() + y.asnumpy()], 1)); c = Tensor(b.asnumpy()[::-1] + 1)"
for mode in ("iou", "iof"):
    case("ops.IOU", f"ops.IOU(mode='{mode}')(b, c)", setup=BOX, x="f32[3,2](0,10)", y="f32[3,2](3,9)")
    case("ops.iou", f"ops.iou(b, c, mode='{mode}')", setup=BOX, x="f32[2,2](0,10)", y="f32[2,2](3,9)")
case("ops.IOU", "ops.IOU()(b, c[:1])", setup=BOX, x="f32[3,2](0,10)", y="f32[3,2](3,9)")
case("ops.IOU", "ops.IOU()(b.astype(ms.float16), c.astype(ms.float16))", setup=BOX, x="f32[2,2](0,10)",
    y="f32[2,2](3,9)", rtol=5e-3)
for t in (0.1, 0.5, 0.9):
    case("ops.NMSWithMask", f"ops.NMSWithMask({t})(ops.concat((b, s), 1))", setup=BOX, x="f32[6,2](0,8)",
        y="f32[6,2](4,9)", s="f32[6,1](0,1)")
for args in ("", "means=(0.1, 0.1, 0.1, 0.1), stds=(0.5, 0.5, 0.5, 0.5)", "stds=(0.1, 0.1, 0.2, 0.2)"):
    case("ops.BoundingBoxEncode", f"ops.BoundingBoxEncode({args})(b, c)", setup=BOX, x="f32[3,2](0,10)",
        y="f32[3,2](3,9)", rtol=1e-4, atol=1e-5)
    case("ops.BoundingBoxDecode", f"ops.BoundingBoxDecode(max_shape=(20, 30){', ' if args else ''}{args})(b, d)",
        setup=BOX, x="f32[3,2](0,10)", y="f32[3,2](3,9)", d="f32[3,4](-1,1)", rtol=1e-4, atol=1e-5)
case("ops.BoundingBoxDecode", "ops.BoundingBoxDecode((8, 8), wh_ratio_clip=0.1)(b, d)", setup=BOX, x="f32[3,2](0,10)",
    y="f32[3,2](3,9)", d="f32[3,4](-3,3)", rtol=1e-4, atol=1e-5)
for metas in ("20.0, 20.0, 1.0", "12.0, 14.0, 1.0", "30.0, 10.0, 0.5"):
    case("ops.CheckValid", f"ops.CheckValid()(b, Tensor([{metas}], ms.float32))", setup=BOX, x="f32[4,2](0,10)",
        y="f32[4,2](3,9)")
ROI = "r = Tensor([[0, 0.5, 0.5, 3.5, 3.0], [0, 1.0, 0.0, 4.0, 4.0]], ms.float32)"
for args in ("2, 2, 1.0", "pooled_height=3, pooled_width=2, spatial_scale=0.5, sample_num=2", "2, 2, 1.0, 1, 0"):
    case("ops.ROIAlign", f"ops.ROIAlign({args})(x, r)", setup=ROI, x="f32[1,2,5,5]", grad="x", rtol=1e-4, atol=1e-5)
CROP = "r = Tensor([[0.1, 0.1, 0.8, 0.9], [0, 0.2, 1.2, 1.0]], ms.float32); i = Tensor([0, 1], ms.int32)"
for method in ("bilinear", "nearest", "bilinear_v2"):
    case("ops.CropAndResize", f"ops.CropAndResize(method='{method}')(x, r, i, (3, 2))", setup=CROP, x="f32[2,4,5,2]",
        rtol=1e-4, atol=1e-5)
case("ops.CropAndResize", "ops.CropAndResize(extrapolation_value=9.0)(x, r, i, (4, 4))", setup=CROP, x="f32[2,4,5,2]",
    rtol=1e-4, atol=1e-5)
case("ops.CropAndResize", "ops.CropAndResize()(x, r, i, (3, 2))", setup=CROP, x="f32[2,4,5,1]", grad="x", rtol=1e-4,
    atol=1e-5)

# SPDX-License-Identifier: Apache-2.0
# Loss cells with every reduction; gradients of the prediction.
for r in ("mean", "sum", "none"):
    for name, args, x, y in (
            ("L1Loss", "", "f32[2,3]", "f32[2,3]"), ("MSELoss", "", "f32[2,3]", "f32[2,3]"), ("MAELoss", "", "f32[2,3]",
            "f32[2,3]"), ("SmoothL1Loss", "beta=1.0, ", "f32[2,3]", "f32[2,3]"), ("SmoothL1Loss", "beta=0.3, ",
            "f32[4]", "f32[4]"),
            ("BCEWithLogitsLoss", "", "f32[2,3]", "f32[2,3](0,1)"), ("BCELoss", "", "f32[2,3](0.1,0.9)",
            "f32[2,3](0,1)"), ("RMSELoss", None, "f32[2,3]", "f32[2,3]"), ("HuberLoss", "delta=0.5, ", "f32[2,3]",
            "f32[2,3]"),
            ("SoftMarginLoss", "", "f32[2,3]", "f32[2,3]"), ("KLDivLoss", "", "f32[2,3](-3,-1)", "f32[2,3](0.1,1)"),
            ("NLLLoss", "", "f32[3,4](-3,-1)", "i32[3]<4"), ("CrossEntropyLoss", "", "f32[3,4]", "i32[3]<4"),
            ("CrossEntropyLoss", "label_smoothing=0.1, ", "f32[3,4]", "i32[3]<4"),
            ("CrossEntropyLoss", "ignore_index=0, ", "f32[6,4]", "i32[6]<4"), ("CrossEntropyLoss", "", "f32[2,4,3]",
            "i32[2,3]<4"), ("CrossEntropyLoss", "", "f32[3,4]", "f32[3,4](0,1)"), ("CrossEntropyLoss", "", "f16[3,4]",
            "i32[3]<4"),
            ("MSELoss", "", "f32[2,3]", "f32[3]"), ("L1Loss", "", "f16[2,3]", "f16[2,3]")):
        if args is None and r != "mean":
            continue
        layer = f"nn.{name}()" if args is None else f"nn.{name}({args}reduction='{r}')"
        case(f"nn.{name}", "loss(x, y)", setup=f"loss = {layer}", x=x, y=y, grad="x", rtol=4e-3 if "f16" in x else 1e-4,
            atol=1e-3 if "f16" in x else 1e-6)
    case("nn.SoftmaxCrossEntropyWithLogits", "loss(x, y)",
        setup=f"loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='{r}')", x="f32[3,4]", y="i32[3]<4",
        grad="x", rtol=1e-4)
    case("nn.SoftmaxCrossEntropyWithLogits", "loss(x, y)",
        setup=f"loss = nn.SoftmaxCrossEntropyWithLogits(reduction='{r}')", x="f32[3,4]", y="f32[3,4](0,1)", grad="x",
        rtol=1e-4)
    case("nn.BCELoss", "loss(x, y)", setup=f"loss = nn.BCELoss(w, reduction='{r}')", x="f32[2,3](0.1,0.9)",
        y="f32[2,3](0,1)", w="f32[2,3](0.5,1)", grad="x", rtol=1e-4)
    case("nn.BCEWithLogitsLoss", "loss(x, y)", setup=f"loss = nn.BCEWithLogitsLoss('{r}', w, p)", x="f32[2,3]",
        y="f32[2,3](0,1)", w="f32[2,3](0.5,1)", p="f32[3](0.5,2)", grad="x", rtol=1e-4)
    case("nn.CrossEntropyLoss", "loss(x, y)", setup=f"loss = nn.CrossEntropyLoss(weight=w, reduction='{r}')",
        x="f32[3,4]", y="i32[3]<4", w="f32[4](0.5,1)", grad="x", rtol=1e-4)
    case("nn.LossBase", "loss(x, y)", setup=f"class Own(nn.LossBase):\n    def construct(self, a, b):\n        return "
        f"self.get_loss(ops.square(a - b))\nloss = Own('{r}')", x="f32[2,3]", y="f32[2,3]", grad="x")
    case("nn.LossBase", "loss(x, y)", setup=f"class Own(nn.LossBase):\n    def construct(self, a, b):\n        return "
        f"self.get_loss(ops.abs(a - b), 2.0)\nloss = Own(reduction='{r}')", x="f32[2,3]", y="f32[2,3]", grad="x")
case("nn.LossBase", "nn.LossBase('median')", kind="error")
case("nn.SoftmaxCrossEntropyWithLogits", "nn.SoftmaxCrossEntropyWithLogits()(x, y)", x="f32[3,4]", y="f32[3,4](0,1)",
    rtol=1e-4)
case("nn.SoftmaxCrossEntropyWithLogits", "nn.SoftmaxCrossEntropyWithLogits(sparse=True)(x, y)", x="f32[3,4]",
    y="i32[2]<4", kind="error")
case("nn.CrossEntropyLoss", "nn.CrossEntropyLoss()(x, y)", x="f32[3,4]", y="f32[3]", kind="either")
case("nn.MSELoss", "nn.MSELoss()(x, y)", x="f32[3,4]", y="f32[3]", kind="error")
case("nn.L1Loss", "nn.L1Loss('no')", kind="error")
case("nn.CosineEmbeddingLoss", "nn.CosineEmbeddingLoss()(x, y, Tensor([1, -1], ms.int32))", x="f32[2,3]", y="f32[2,3]",
    grad="x", rtol=1e-4)

# SPDX-License-Identifier: Apache-2.0
"""What ``make bench-peers`` measures: the rows, in groups, and the share of the fastest peer's time that is the aim.

A row is (name, arguments, aim with AMX, aim without). ``peer_spore.py`` and ``peer_torch.py`` know how to run each kind of
row; the kind is the name up to the first dot.
"""
import operators

SQUARES = (8, 16, 32, 64)

GROUPS = {
    "matmul": [
        *((f"matmul.f32_{n}", ("float32", None, n, n, n), 0.6, 1.0) for n in (256, 1024, 2048)),
        ("matmul.f32_96x128x64x128", ("float32", 96, 128, 64, 128), 0.6, 1.0),
    ],
    "low": [
        *((f"matmul.bf16_{n}", ("bfloat16", None, n, n, n), 1.0, 1.0) for n in (1024, 2048)),
        ("matmul.f16_1024", ("float16", None, 1024, 1024, 1024), None, None),
        ("matmul.f64_1024", ("float64", None, 1024, 1024, 1024), None, None),
        ("matmul_int8.1024", (1024,), 1.0, 1.0),
    ],
    "small": [
        *((f"matmul.f32_{n}", ("float32", None, n, n, n), 0.7, 0.7) for n in SQUARES),
        ("matmul.f32_1x4096x4096", ("float32", None, 1, 4096, 4096), 0.7, 0.7),
        ("matmul.f32_16x768x3072", ("float32", None, 16, 768, 3072), 0.7, 0.7),
    ],
}

# batch, in channels, size, out channels, kernel, stride, padding, groups
CONVS = {
    "3x3_c64_56": (8, 64, 56, 64, 3, 1, 1, 1),
    "3x3_c256_14": (8, 256, 14, 256, 3, 1, 1, 1),
    "1x1_c256_512_28": (8, 256, 28, 512, 1, 1, 0, 1),
    "7x7_stem": (8, 3, 224, 64, 7, 2, 3, 1),
}
DEPTHWISE = (8, 144, 56, 144, 3, 1, 1, 144)
GROUPS["conv"] = [(f"conv.{name}", geometry, 0.7, 1.0) for name, geometry in CONVS.items()]
GROUPS["conv_grad"] = [(f"conv_{kind}.{name}", geometry, 0.7, 1.0)
                       for name, geometry in CONVS.items() if name != "7x7_stem" for kind in ("input", "weight")]
GROUPS["depthwise"] = [(f"{kind}.depthwise_3x3_c144_56", DEPTHWISE, 0.8, 0.8) for kind in ("conv", "conv_input", "conv_weight")]

GROUPS["vector"] = [
    ("softmax.4096x1024", (4096, 1024), 0.9, 0.9),
    ("layer_norm.4096x768", (4096, 768), 0.9, 0.9),
    ("gelu.4M", (1 << 22,), 0.9, 0.9),
    ("tanh.4M", (1 << 22,), 0.9, 0.9),
    ("sum.axis0_4096x4096", (4096, 4096, 0), 0.9, 0.9),
    ("sum.axis1_4096x4096", (4096, 4096, 1), 0.9, 0.9),
]
GROUPS["move"] = [
    ("gather.50k_768", (50000, 768, 8192), 0.9, 0.9),
    ("transpose.4096x4096", (4096, 4096), 0.9, 0.9),
    ("cumsum.1M", (1 << 20,), 0.9, 0.9),
    ("topk.1M_100", (1 << 20, 100), 0.9, 0.9),
    ("sort.1M", (1 << 20,), 0.9, 0.9),
]
GROUPS["fused"] = [
    ("chain.8_on_4M", (1 << 22,), 0.9, 0.9),
    ("attention.8x512x64", (8, 512, 64), 0.8, 0.8),
    ("attention_grad.8x512x64", (8, 512, 64), 0.8, 0.8),
]
GROUPS["infer"] = [
    *((f"infer.{name}_{batch}", (name, batch), aim, aim) for name, aim in (("resnet50", 0.9), ("mobilenetv2", 0.85)) for batch in (1, 8)),
    *((f"infer.{name}_1", (name, 1), 0.9, 0.9) for name in ("bert", "vit", "yolo", "ocr")),
]
GROUPS["train"] = [
    ("train.lenet", ("lenet",), 0.5, 0.5),
    ("train.mlp", ("mlp",), 0.5, 0.5),
]
GROUPS["train_conv"] = [
    ("train.resnet18", ("resnet18",), 0.7, 0.7),
    ("train.resnet50", ("resnet50",), 0.7, 0.7),
]
GROUPS["train_sequence"] = [
    ("train.lstm", ("lstm",), 0.8, 0.8),
    ("train.gpt", ("gpt",), 0.8, 0.8),
]
# Bytes, not seconds: bench/resident.py.
GROUPS["memory"] = [(f"memory.{name}", (name,), 1.0, 1.0) for name in ("lenet", "mlp", "resnet18", "resnet50", "lstm", "gpt")]
# Measured only when asked for by name; shown as a list of what is slowest against the peer.
GROUPS["operators"] = [(name, args, None, None) for name, args in operators.rows()]


def work_of(name, args):
    """What a row must do at least, by the limit it meets: ("float32", operations), ("memory", bytes); None: not counted (networks)."""
    kind = name.split(".")[0]
    if kind == "matmul":
        dtype, batch, m, k, n = args
        return ("memory", 4 * k * n) if m == 1 else (dtype, 2 * (batch or 1) * m * k * n)
    if kind == "matmul_int8":
        return "int8", 2 * args[0] ** 3
    if kind in ("conv", "conv_input", "conv_weight"):
        batch, inputs, size, outputs, kernel, stride, _, groups = args
        return "float32", 2 * batch * outputs * (size // stride) ** 2 * (inputs // groups) * kernel ** 2
    if kind in ("softmax", "layer_norm", "gelu", "tanh", "transpose", "cumsum"):
        count = args[0] * args[1] if len(args) > 1 else args[0]
        return "memory", 8 * count
    if kind == "sum":
        return "memory", 4 * args[0] * args[1]
    if kind == "gather":
        return "memory", 8 * args[1] * args[2]
    if kind == "chain":
        return "memory", 12 * args[0]
    if kind == "attention":
        heads, length, size = args
        return "float32", 4 * heads * length * length * size
    return None

# SPDX-License-Identifier: Apache-2.0
# Reading and writing parts of tensors. Every index is tried on a tensor of each fitting rank.
READ = {
    1: ["0", "-1", "2:4", ":", "1:", ":-1", "::2", "-3:-1", "5:2", "2:100", "None", "...", "[0, 2]", "[-1, 1, 1]",
    "True", "False", "Tensor([1, 3], ms.int32)", "Tensor([[0, 1], [2, -1]], ms.int64)",
        "Tensor(2, ms.int32)", "x > 0", "np.array([0, 2])", "(2,)", "(...,)", "::-1",
        "[True, False, True, False, True]", "(None, 1)", "Tensor([True, False, True, False, True])", "7", "-6", "1.0",
        "'a'",
        "[0, 9]", "()", "Tensor([9], ms.int32)", "::0", "slice(1, 3)", "np.int64(1)", "range(2)",
        "Tensor([], ms.int32)"],
    2: ["0", "-1", "1:", "0, 1", "-1, -2", ":, 1", "1, :", ":, 1:3", "::2, ::2", ":, None", "None", "None, :, None",
    "..., 0", "0, ...", "..., None", "[0, 2]", ":, [0, 2]", "[0, 1], [1, 2]", "[[0, 1], [2, 0]]",
        "Tensor([0, 2], ms.int32)", ":, Tensor([0, 2], ms.int32)", "Tensor([0, 1], ms.int32), Tensor([1, 2], ms.int32)",
        "1, Tensor([0, 2], ms.int32)", "x > 0", "Tensor([True, False, True])",
        "[True, False, True]", "1:3, [0, 1, 1]", "Tensor(1, ms.int32), 0", "::-1", ":, ::-1", "5", "0, 5", "0, 0, 0",
        "0:0", "True", "x[:, 0] > 0", ":, Tensor([True, False, True, False])", "Tensor([[0, 1]], ms.int32)",
        "..., ...", "None, None", "Tensor([0, 1], ms.int32), 1:3", "(0, 1), (1, 2)", "slice(None), 1"],
    3: ["0", "1, 2", "1, 2, 3", ":, :, 0", "..., 1:3", "0, ..., 1", ":, 1, :", "None, ..., None", "[0, 1], :, [1, 2]",
    ":, [0, 1], [1, 2]", "[0, 1], [1, 2]", "Tensor([1, 0], ms.int32), :, 2", "0, :, Tensor([1, 0], ms.int32)",
        "x > 0", "x[:, :, 0] > 0", "::2, 1:, -1", ":, None, 1", "1, [0, 2], 1:",
        "Tensor([[0, 1], [1, 0]], ms.int32), 1", "..., [0, 1]", "[1, 0], ..., 1:3", "-1, -1, -1", "1:, :-1, ::3",
        "Tensor([True, False]), 1", "[0, 1], None, [1, 2]",
        ":, x[0, :, 0] > 0"],
    4: ["0", "..., 0", ":, 1", "0, :, 1:, ::2", ":, [0, 1], :, [1, 0]", ":, :, [0, 1], [1, 0]", "0, ..., None",
    "[0, 1], 1, :, 0", "..., 1, Tensor([0, 1], ms.int32)", "1, 1, 1, 1", ":, :, 0, 0", "::2, :, -1:, :",
    "[1], [0], [1], [0]",
        "Tensor([1, 0], ms.int32), ..., Tensor([0, 1], ms.int32)", ":, 0:1, ..., 0:2", "None, 0, :, None, 1", "x > 1",
        "1, :, Tensor([[0, 1]], ms.int32)"],
}
SHAPE = {1: "[5]", 2: "[3,4]", 3: "[2,3,4]", 4: "[2,2,3,2]"}


def kind_of(index):
    """The name in names.txt an index belongs to; a tuple counts as one."""
    if "x >" in index or "x[" in index or "True" in index or "False" in index:
        return "bool-mask expr"
    if "," in index.replace("[0, 2]", "").replace("ms.int32", "").replace("ms.int64", "") and not index.startswith(("[",
            "Tensor", "np.", "slice")):
        return "tuple"
    for text, kind in (("Tensor", "variable/tensor"), ("None", "None"), ("...", "ellipsis"), ("[", "list"), ("np.",
            "variable/tensor"), ("(", "tuple"), ("slice", "slice")):
        if text in index:
            return kind
    if ":" in index:
        return "slice-step" if index.count(":") == 2 else "slice"
    return "negative-int" if index.startswith("-") else "int"


for rank, indices in READ.items():         # gradients of negative steps are wrong there, so they are not asked for
    for index in indices:
        grad = "" if any(s in index for s in ("9", "x >", "x[", "::-1", "2, -1]]")) else "x"
        case(f"index get {kind_of(index)}", f"x[{index}]", x="f32" + SHAPE[rank], grad=grad, kind="either")
for index in ("0", "::2", "[1, 0]", "x > 0", "..., 1", "None"):
    for t in ("i32", "f16", "bool", "i64", "u8"):
        if not (t == "bool" and ">" in index):
            case(f"index get {kind_of(index)}", f"x[{index}]", x=f"{t}[3,2]", kind="either")
for spec in ("f32[2,3]", "f32[]", "i32[0,2]", "f16[1,2,3,4]"):
    case("index get ellipsis", "x[...]", x=spec, grad="x" if spec.startswith("f") else "")
case("Tensor []get", "x[0][1]", x="f32[2,3]", grad="x")
case("Tensor []get", "x[i]", x="f32[4,3]", i="i32[2]<4", grad="x")
case("Tensor []get", "x[i, j]", x="f32[4,3]", i="i32[2]<4", j="i64[2]<3", grad="x")
case("Tensor []get", "x[0]", x="f32[]", kind="error")
case("Tensor []get", "x[...]", x="f32[]", kind="either")
case("Tensor []get", "x[None]", x="f32[]", kind="either")
case("Tensor []get", "x[:, 1:2, ...].shape", x="f32[2,3,4]")
case("Tensor []get", "p[0]", p="param:f32[2,3]")
for index in ("1:3", "0", "::2", "None", "..., 0", "0, 1:"):
    case("Tensor []get", f"x[{index}].sum() * x.sum()", x="f32[3,4]", grad="x")

WRITE = {
    1: ["0", "-1", "1:3", ":", "::2", "[0, 2]", "Tensor([1, 3], ms.int32)", "x > 0", "...", "True",
    "Tensor([True, False, True, False, True])", "5:2", "7", "(2,)", "Tensor(2, ms.int32)", "None", "-3:"],
    2: ["0", "-1", "0, 1", ":, 1", "1, :", "1:, 1:3", "::2, ::2", "..., 0", "[0, 2]", ":, [0, 2]", "[0, 1], [1, 2]",
    "Tensor([0, 2], ms.int32)", "Tensor([0, 1], ms.int32), Tensor([1, 2], ms.int32)", "x > 0",
        "Tensor([True, False, True])", "1, Tensor([0, 2], ms.int32)", ":", "0, 5", "5", "1:3, [0, 1]"],
    3: ["0", "1, 2", ":, :, 0", "..., 1:3", "0, ..., 1", "[0, 1], :, [1, 2]", "x > 0", "1, 2, 3", ":, 1",
    "Tensor([1, 0], ms.int32), 1", "0, 1:, ::2"],
    4: ["0", "..., 0", ":, 1", "0, :, 1:, ::2", "[0, 1], 1, :, 0", "1, 1, 1, 1", ":, :, [0, 1], [1, 0]"],
}
for rank, indices in WRITE.items():
    for index in indices:
        api = f"index set {kind_of(index)}"
        case(api, f"x[{index}] = 9.5; x", x="f32" + SHAPE[rank], kind="either")
        case(api, f"x[{index}] = Tensor(7.0, ms.float32); x", x="f32" + SHAPE[rank], kind="either")
        case(api, f"x[{index}] = x[{index}] * 2; x", x="f32" + SHAPE[rank], kind="either")
        case(api, f"x[{index}] = 3; x", x="i32" + SHAPE[rank], kind="either")
for code in ("x[0] = [1, 2, 3, 4]; x", "x[1:3] = np.ones((2, 4), np.float32); x",
        "x[:, 0] = Tensor([1.0, 2.0, 3.0]); x", "x[0:2] = Tensor([1.0, 2.0, 3.0, 4.0]); x",
        "x[0] = Tensor([1, 2, 3, 4]); x", "x[0] = Tensor([1.0, 2.0]); x",
             "x[0] = True; x", "x[0] = (1.0, 2.0, 3.0, 4.0); x", "x[0] += 1; x", "x[:, 1] *= 2; x", "x[x < 0] = 0; x",
             "x[1:] -= x[:-1]; x", "x[0] = None", "x[0] = 'a'", "x[0, 0] = Tensor([5.0]); x", "x[[0, 0]] = 4.0; x",
             "x[[0, 1]] = Tensor([[1.0], [2.0]]); x", "x[..., 0:2] = -1.0; x", "x[0] = x[1]; x",
             "y = x[0]; y[0] = 100.0; (x, y)", "y = x[:2]; x[0] = 100.0; (x, y)",
             "x[Tensor([0, 2], ms.int32), 1:3] = 5.0; x"):
    case("Tensor []set", code, x="f32[3,4]", kind="either")
case("Tensor []set", "x[0] = 2.7; x", x="i32[3]", kind="either")
case("Tensor []set", "x[0] = 1; x", x="bool[3]", kind="either")
case("Tensor []set", "x[1] = 5; x", x="f16[3,2]", kind="either")
case("Tensor []set", "z = x * 1; z[0] = y; z * z", x="f32[3,2]", y="f32[2]", grad="x y", kind="either")
case("Tensor []set", "z = x * 1; z[:, 1] = 0.0; z * z", x="f32[3,2]", grad="x", kind="either")
case("Tensor []set", "z = x * 1; z[z > 0] = 0.0; z * z", x="f32[3,2]", grad="x", kind="either")
case("Tensor []set", "p[0] = 1.0; (type(p).__name__, p)", p="param:f32[2,2]", kind="either")

# SPDX-License-Identifier: Apache-2.0
# Gathering, scattering, one-hot.
for form, api in (("ops.gather", "ops.gather"), ("ops.Gather()", "ops.Gather")):
    case(api, f"{form}(x, i, 0)", x="f32[4,3]", i="i32[2]<4", grad="x")
    case(api, f"{form}(x, i, 1)", x="f32[2,5]", i="i32[2,3]<5", grad="x")
    case(api, f"{form}(x, i, -1)", x="f16[2,5]", i="i64[2]<5")
    case(api, f"{form}(x, i, 0)", x="i32[5]", i="i32[]<5")
    case(api, f"{form}(x, Tensor([-1, 0], ms.int32), 0)", x="f32[3,2]", kind="either")
    case(api, f"{form}(x, Tensor([7], ms.int32), 0)", x="f32[3,2]", kind="either")
case("ops.GatherV2", "P.GatherV2()(x, i, 0, 0)", x="f32[4,3]", i="i32[2]<4")
case("ops.GatherV2", "P.GatherV2()(x, i, 1, 0)", x="f16[4,3]", i="i32[2,2]<3")
case("ops.GatherV2", "P.GatherV2()(x, i, -1, 0)", x="i32[4,3]", i="i64[2]<3")
case("ops.gather", "ops.gather(x, i, 1, 1)", x="f32[2,5]", i="i32[2,3]<5", grad="x", kind="either")
case("ops.Gather", "ops.Gather(batch_dims=1)(x, i, 1)", x="f32[2,5]", i="i32[2,3]<5", kind="either")
for form, api in (("ops.gather_elements", "ops.gather_elements"), ("ops.GatherD()", "ops.GatherD"), ("mint.gather",
        "mint.gather"), ("ops.gather_d", "ops.gather_d")):
    case(api, f"{form}(x, 1, i)", x="f32[2,5]", i="i32[2,3]<5", grad="x")
    case(api, f"{form}(x, 0, i)", x="f32[4,2]", i="i64[3,2]<4", grad="x")
    case(api, f"{form}(x, -1, i)", x="i32[2,2,3]", i="i64[2,2,1]<3")
    case(api, f"{form}(x, 1, i)", x="f16[2,5]", i="i32[2,3](-5,5)", kind="either")
case("Tensor.gather", "x.gather(i, 0)", x="f32[4,3]", i="i32[2]<4", grad="x")
case("Tensor.gather", "x.gather(i, 1)", x="f32[2,5]", i="i32[2,3]<5", grad="x")
case("Tensor.gather", "x.gather(input_indices=i, axis=-1)", x="f16[2,5]", i="i64[2]<5")
for form, api in (("ops.gather_nd", "ops.gather_nd"), ("ops.GatherNd()", "ops.GatherNd")):
    case(api, f"{form}(x, i)", x="f32[3,3]", i="i32[4,2]<3", grad="x")
    case(api, f"{form}(x, i)", x="f32[3,3,2]", i="i32[2,2,1]<3", grad="x")
    case(api, f"{form}(x, i)", x="i32[3,3]", i="i64[5,2]<3")
    case(api, f"{form}(x, Tensor([[5, 0]], ms.int32))", x="f32[3,3]", kind="either")
for form, api in (("ops.scatter_nd", "ops.scatter_nd"), ("ops.ScatterNd()", "ops.ScatterNd")):
    case(api, f"{form}(i, u, (5, 2))", i="i32[3,1]<5", u="f32[3,2]", grad="u")
    case(api, f"{form}(i, u, (3, 3))", i="i32[4,2]<3", u="f32[4]", grad="u")
    case(api, f"{form}(i, u, (6,))", i="i64[3,1]<6", u="i32[3]", kind="either")
case("ops.ScatterNdUpdate", "(ops.ScatterNdUpdate()(p, i, u), p)", p="param:f32[5]", i="i32[2,1]<5", u="f32[2]")
case("ops.ScatterNdUpdate", "ops.ScatterNdUpdate()(p, Tensor([[0, 0], [1, 1]], ms.int32), u)", p="param:f32[2,3]",
    u="f32[2]")
case("ops.ScatterNdUpdate", "ops.ScatterNdUpdate(use_locking=True)(p, Tensor([[2]], ms.int32), u)", p="param:i32[3,2]",
    u="i32[1,2]")
case("ops.ScatterAdd", "(ops.ScatterAdd()(p, i, u), p)", p="param:f32[5]", i="i32[3]<5", u="f32[3]")
case("ops.ScatterAdd", "ops.ScatterAdd()(p, Tensor([[0, 1], [1, 1]], ms.int32), u)", p="param:f32[3,2]", u="f32[2,2,2]")
case("ops.ScatterAdd", "ops.ScatterAdd(use_locking=True)(p, i, u)", p="param:i32[4]", i="i32[2]<4", u="i32[2]")
case("ops.ScatterUpdate", "ops.ScatterUpdate()(p, i, u)", p="param:f32[4,2]", i="i32[1]<4", u="f32[1,2]")
case("ops.tensor_scatter_elements", "ops.tensor_scatter_elements(x, i, u)", x="f32[3,3]", i="i32[1,3]<3", u="f32[1,3]",
    grad="x u")
case("ops.tensor_scatter_elements", "ops.tensor_scatter_elements(x, Tensor([[0, 2]], ms.int32), u, axis=1)",
    x="f32[1,5]", u="f32[1,2]", grad="x u")
case("ops.tensor_scatter_elements", "ops.tensor_scatter_elements(x, i, u, 0, 'add')", x="f32[3,3]", i="i32[2,3]<3",
    u="f32[2,3]")
case("ops.tensor_scatter_elements", "ops.tensor_scatter_elements(x, Tensor([[0, -1]], ms.int64), u, axis=-1)",
    x="i32[1,4]", u="i32[1,2]", kind="either")
for f in ("update", "add", "sub", "max", "min"):
    form = "ops.TensorScatterUpdate()" if f == "update" else "ops.tensor_scatter_" + f
    case(f"ops.tensor_scatter_{f}", f"{form}(x, Tensor([[0], [2]], ms.int32), u)", x="f32[4,2]", u="f32[2,2]",
        grad="x u" if f in ("update", "add", "sub") else "")
for form, api in (("ops.one_hot", "ops.one_hot"), ("ops.OneHot()", "ops.OneHot")):
    case(api, f"{form}(i, 4, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))", i="i32[3]<4")
    case(api, f"{form}(i, 3, Tensor(2, ms.int32), Tensor(-1, ms.int32))", i="i64[2,2]<3")
    case(api, f"{form}(Tensor([0, 5, -1], ms.int32), 3, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))")
    case(api, f"{form}(i, 4, Tensor(1.0, ms.float16), Tensor(0.0, ms.float16))", i="i32[3]<4")
    case(api, f"{form}(i, 4, on, off)", i="i32[2]<4", on="f32[]", off="f32[]", kind="either")
case("ops.one_hot", "ops.one_hot(i, 4, 1.0, 0.0)", i="i32[3]<4", kind="either")
case("ops.one_hot", "ops.one_hot(i, 4)", i="i32[3]<4", kind="either")
case("ops.one_hot", "ops.one_hot(i, depth=3, on_value=Tensor(1.0, ms.float32), off_value=Tensor(0.0, ms.float32), "
    "axis=0)", i="i32[2]<3")
case("ops.OneHot", "ops.OneHot(axis=0)(i, 3, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))", i="i32[4]<3")
case("ops.OneHot", "ops.OneHot(axis=1)(i, 3, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))", i="i32[2,2]<3")
case("mint.nn.functional.one_hot", "mint.nn.functional.one_hot(i, 4)", i="i64[3]<4", kind="either")
case("mint.nn.functional.one_hot", "mint.nn.functional.one_hot(i)", i="i64[2,2]<3", kind="either")
case("mint.nn.functional.one_hot", "mint.nn.functional.one_hot(i, num_classes=5)", i="i32[3]<4", kind="either")
for form, api, c in (("ops.masked_fill", "ops.masked_fill", "x, "), ("x.masked_fill", "Tensor.masked_fill", "")):
    case(api, f"{form}({c}m, -1e9)", x="f32[2,3]", m="bool[2,3]", grad="x")
    case(api, f"{form}({c}m, 0.5)", x="f16[2,3]", m="bool[3]", grad="x")
    case(api, f"{form}({c}m, v)", x="f32[2,3]", m="bool[2,1]", v="f32[]", grad="x v")
    case(api, f"{form}({c}m, 7)", x="i32[2,3]", m="bool[2,3]")
for form, api in (("ops.masked_select", "ops.masked_select"), ("mint.masked_select", "mint.masked_select")):
    case(api, f"{form}(x, m)", x="f32[2,3]", m="bool[2,3]", grad="x")
    case(api, f"{form}(x, m)", x="i32[2,3]", m="bool[3]")
case("ops.nonzero", "ops.nonzero(x)", x="i32[2,4]<2")
case("ops.nonzero", "ops.nonzero(x)", x="bool[5]", kind="either")
case("ops.index_select", "ops.index_select(x, 1, i)", x="f32[2,4]", i="i32[2]<4", grad="x", kind="either")
case("mint.index_select", "mint.index_select(x, 1, i)", x="f32[2,4]", i="i32[2]<4", kind="either")

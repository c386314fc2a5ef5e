# SPDX-License-Identifier: Apache-2.0
# Shape, layout, joining and splitting.
for form, api, c in (("ops.reshape", "ops.reshape", "x, "), ("ops.Reshape()", "ops.Reshape", "x, "), ("mint.reshape",
        "mint.reshape", "x, "),
                     ("x.reshape", "Tensor.reshape", ""), ("x.view", "Tensor.view", "")):
    case(api, f"{form}({c}(3, 2))", x="f32[2,3]", grad="x")
    case(api, f"{form}({c}(-1,))", x="f32[2,3,4]", grad="x")
    case(api, f"{form}({c}(2, -1))", x="f16[2,3,2]")
    case(api, f"{form}({c}(1, 6, 1))", x="i32[2,3]")
    case(api, f"{form}({c}(0, 3))", x="f32[3,0]", kind="either")
    case(api, f"{form}({c}())", x="f32[1]", kind="either")
    case(api, f"{form}({c}(4, 2))", x="f32[2,3]", kind="error")
    case(api, f"{form}({c}(-1, -1))", x="f32[2,3]", kind="error")
    case(api, f"{form}({c}x.shape[::-1])", x="f32[2,3]", kind="either")
for form in ("x.reshape", "x.view"):
    case("Tensor." + form[2:], f"{form}(3, 2)", x="f32[2,3]", grad="x")
    case("Tensor." + form[2:], f"{form}(-1)", x="bool[2,3]")
    case("Tensor." + form[2:], f"{form}([6, -1])", x="i64[2,3]", kind="either")
for form, api, c in (("ops.transpose", "ops.transpose", "x, "), ("ops.Transpose()", "ops.Transpose", "x, "),
        ("ops.permute", "ops.permute", "x, "),
                     ("mint.permute", "mint.permute", "x, "), ("x.transpose", "Tensor.transpose", ""), ("x.permute",
                     "Tensor.permute", "")):
    case(api, f"{form}({c}(1, 0))", x="f32[2,3]", grad="x")
    case(api, f"{form}({c}(0, 2, 1))", x="f16[2,3,4]", grad="x")
    case(api, f"{form}({c}(0, 2, 3, 1))", x="i32[2,3,1,2]")
    case(api, f"{form}({c}(-1, 0, 1))", x="f32[2,3,4]", kind="either")
    case(api, f"{form}({c}(0, 0))", x="f32[2,3]", kind="error")
    case(api, f"{form}({c}(0, 1, 2))", x="f32[2,3]", kind="error")
case("Tensor.transpose", "x.transpose()", x="f32[2,3,4]", kind="either")
case("Tensor.transpose", "x.transpose(1, 0, 2)", x="f32[2,3,4]", grad="x")
case("Tensor.transpose", "x.transpose(1, 0)", x="f32[2,3]", grad="x")
case("Tensor.transpose", "x.transpose([1, 0])", x="f32[2,3]", kind="either")
case("Tensor.permute", "x.permute(1, 0, 2)", x="f32[2,3,4]", grad="x")
case("ops.transpose", "ops.transpose(input=x, perm=(1, 0))", x="f32[2,3]", grad="x")
case("ops.TransposeView", "P.TransposeView()(x, (1, 0))", x="f32[2,3]")
case("ops.TransposeView", "P.TransposeView()(x, (0, 2, 1))", x="f16[2,3,4]")
case("ops.TransposeView", "P.TransposeView()(x, (-1, 0))", x="i32[2,3]", kind="either")
case("mint.transpose", "mint.transpose(x, 0, 1)", x="f32[2,3]", grad="x")
case("mint.transpose", "mint.transpose(x, 1, -1)", x="f16[2,3,4]", grad="x")
case("mint.transpose", "mint.transpose(x, dim0=0, dim1=2)", x="i32[2,3,4]")
for form, api, c in (("ops.swapaxes", "ops.swapaxes", "x, "), ("mint.swapaxes", "mint.swapaxes", "x, "), ("x.swapaxes",
        "Tensor.swapaxes", "")):
    case(api, f"{form}({c}0, 1)", x="f32[2,3]", grad="x")
    case(api, f"{form}({c}-1, -2)", x="f32[2,3,4]", grad="x")
    case(api, f"{form}({c}0, 2)", x="i32[2,3,4]")
for api, form in (("Tensor.T", "x.T"), ("Tensor.t", "x.t()"), ("mint.t", "mint.t(x)"), ("ops.t", "ops.t(x)")):
    case(api, form, x="f32[2,3]", grad="x")
    case(api, form, x="i32[4]", kind="either")
    case(api, form, x="f32[2,3,4]", kind="either")
    case(api, form, x="f16[3,1]")
for form, api, c in (("ops.expand_dims", "ops.expand_dims", "x, "), ("ops.ExpandDims()", "ops.ExpandDims", "x, "),
        ("x.expand_dims", "Tensor.expand_dims", ""),
                     ("ops.unsqueeze", "ops.unsqueeze", "x, "), ("mint.unsqueeze", "mint.unsqueeze", "x, ")):
    case(api, f"{form}({c}0)", x="f32[2,3]", grad="x")
    case(api, f"{form}({c}-1)", x="f16[2,3]", grad="x")
    case(api, f"{form}({c}1)", x="i32[4]")
    case(api, f"{form}({c}0)", x="bool[]")
    case(api, f"{form}({c}5)", x="f32[2,3]", kind="error")
case("ops.expand_dims", "ops.expand_dims(x, axis=-2)", x="f32[2,3]", kind="either")
for form, api, c in (("ops.squeeze", "ops.squeeze", "x, "), ("x.squeeze", "Tensor.squeeze", "")):
    case(api, f"{form}({c.rstrip(', ')})", x="f32[2,1,3,1]", grad="x")
    case(api, f"{form}({c}1)", x="f32[2,1,3,1]", grad="x")
    case(api, f"{form}({c}-1)", x="i32[2,1]")
    case(api, f"{form}({c}(1, 3))", x="f16[2,1,3,1]", kind="either")
    case(api, f"{form}({c}0)", x="f32[2,3]", kind="either")
case("ops.squeeze", "ops.squeeze(x, axis=0)", x="f32[1,3]", kind="either")
case("ops.Squeeze", "ops.Squeeze()(x)", x="f32[2,1,3,1]", grad="x")
case("ops.Squeeze", "ops.Squeeze(1)(x)", x="f32[2,1,3]", grad="x")
case("ops.Squeeze", "ops.Squeeze(axis=(0, -1))(x)", x="i32[1,2,1]")
case("ops.Squeeze", "ops.Squeeze(0)(x)", x="f32[2,3]", kind="either")
case("mint.squeeze", "mint.squeeze(x, 1)", x="f32[2,1,3]", grad="x")
case("mint.squeeze", "mint.squeeze(x, dim=(0, 2))", x="f16[1,2,1]")
case("mint.squeeze", "mint.squeeze(x, -1)", x="i32[2,3]")
for form, api, c in (("ops.flatten", "ops.flatten", "x, "), ("mint.flatten", "mint.flatten", "x, "),
        ("mint.nn.functional.flatten", "mint.nn.functional.flatten", "x, "), ("x.flatten", "Tensor.flatten", "")):
    case(api, f"{form}({c.rstrip(', ')})", x="f32[2,3,4]", grad="x")
    case(api, f"{form}({c}start_dim=1)", x="f32[2,3,4]", grad="x", kind="either")
    case(api, f"{form}({c}start_dim=0, end_dim=1)", x="i32[2,3,4]", kind="either")
    case(api, f"{form}({c.rstrip(', ')})", x="f32[]", kind="either")
case("ops.flatten", "ops.flatten(x, order='F')", x="f32[2,3,4]", kind="either")
case("ops.Flatten", "ops.Flatten()(x)", x="f32[2,3,4]", grad="x")
case("ops.Flatten", "ops.Flatten()(x)", x="i32[3]", kind="either")
case("ops.Flatten", "ops.Flatten()(x)", x="f16[2,1,1,3]")
# Broadcasting and repeating
for form, api, c in (("ops.broadcast_to", "ops.broadcast_to", "x, "), ("mint.broadcast_to", "mint.broadcast_to", "x, "),
        ("x.broadcast_to", "Tensor.broadcast_to", "")):
    case(api, f"{form}({c}(2, 3))", x="f32[3]", grad="x")
    case(api, f"{form}({c}(2, -1, 4))", x="f32[3,1]", grad="x", kind="either")
    case(api, f"{form}({c}(2, 2))", x="i32[]", kind="either")
    case(api, f"{form}({c}(2, 4))", x="f32[3]", kind="error")
case("ops.BroadcastTo", "ops.BroadcastTo((2, 3))(x)", x="f32[3]", grad="x")
case("ops.BroadcastTo", "ops.BroadcastTo(shape=(4, -1))(x)", x="f16[1,3]", grad="x")
case("ops.BroadcastTo", "ops.BroadcastTo((2, 3, 2))(x)", x="i32[3,1]")
case("Tensor.expand_as", "x.expand_as(y)", x="f32[3]", y="f32[2,3]", grad="x")
case("Tensor.expand_as", "x.expand_as(y)", x="i32[2,1]", y="f32[4,2,3]")
case("Tensor.expand_as", "x.expand_as(y)", x="f16[1,1]", y="i32[2,2]")
for form, api, c in (("ops.tile", "ops.tile", "x, "), ("ops.Tile()", "ops.Tile", "x, "), ("mint.tile", "mint.tile",
        "x, "), ("x.tile", "Tensor.tile", "")):
    case(api, f"{form}({c}(2, 1))", x="f32[2,3]", grad="x")
    case(api, f"{form}({c}(2, 1, 2))", x="f32[2,3]", grad="x")
    case(api, f"{form}({c}(3,))", x="i32[2,2]", kind="either")
    case(api, f"{form}({c}(1, 0))", x="f32[2,3]", kind="either")
for form, api, c in (("ops.repeat_elements", "ops.repeat_elements", "x, "),):
    case(api, f"{form}({c}2)", x="f32[2,3]", grad="x")
    case(api, f"{form}({c}rep=3, axis=1)", x="f32[2,3]", grad="x")
    case(api, f"{form}({c}2, axis=-1)", x="i32[2,1,3]")
for form, api, c in (("ops.repeat_interleave", "ops.repeat_interleave", "x, "), ("mint.repeat_interleave",
        "mint.repeat_interleave", "x, "), ("x.repeat_interleave", "Tensor.repeat_interleave", "")):
    dim = "dim" if form.startswith("mint") else "axis"
    case(api, f"{form}({c}2, {dim}=0)", x="f32[2,3]", grad="x", kind="either")
    case(api, f"{form}({c}3, 1)", x="i32[2,3]", kind="either")
    case(api, f"{form}({c}2)", x="f32[2,3]", kind="either")
    case(api, f"{form}({c}Tensor([1, 2], ms.int32), 0)", x="f32[2,3]", kind="either")
case("Tensor.repeat_interleave", "x.repeat_interleave(2, 0)", x="f32[2,3]", grad="x", kind="either")
case("Tensor.repeat_interleave", "x.repeat_interleave(3, dim=-1)", x="f32[2,3]", grad="x", kind="either")
case("ops.repeat_interleave", "ops.repeat_interleave(x, repeats=2, axis=-1)", x="f16[2,3]", grad="x", kind="either")
case("Tensor.repeat", "x.repeat(2)", x="f32[3]", kind="either")
case("Tensor.repeat", "x.repeat(2, 0)", x="f32[2,3]", kind="either")
case("Tensor.repeat", "x.repeat(2, axis=1)", x="i32[2,3]", kind="either")
case("Tensor.repeat", "x.repeat((2, 2))", x="f32[2,3]", kind="either")
case("Tensor.repeat", "x.repeat([2, 1], axis=0)", x="f32[2,3]", kind="either")
# Joining
for form, api in (("ops.concat", "ops.concat"), ("ops.cat", "ops.cat"), ("mint.cat", "mint.cat"), ("mint.concat",
        "mint.concat")):
    axis = "axis" if form.startswith("ops") else "dim"
    case(api, f"{form}((x, y))", x="f32[2,3]", y="f32[1,3]", grad="x y")
    case(api, f"{form}([x, y, x], {axis}=-1)", x="f32[2,3]", y="f32[2,1]", grad="x y")
    case(api, f"{form}((x, y), 1)", x="i32[2,3]", y="i32[2,2]")
    case(api, f"{form}((x, y), {axis}=0)", x="f16[2]", y="f32[3]", kind="either")
    case(api, f"{form}((x, y), {axis}=0)", x="i32[2]", y="f32[3]", kind="either")
    case(api, f"{form}((x,), 0)", x="f32[2]")
    case(api, f"{form}((x, y))", x="f32[2,3]", y="f32[2,4]", kind="error")
    case(api, f"{form}((x, y), 3)", x="f32[2,3]", y="f32[2,3]", kind="error")
    case(api, f"{form}((x, y))", x="f32[0,3]", y="f32[2,3]", kind="either")
case("ops.Concat", "ops.Concat()((x, y))", x="f32[2,3]", y="f32[1,3]", grad="x y")
case("ops.Concat", "ops.Concat(axis=1)((x, y))", x="f32[2,3]", y="f32[2,1]", grad="x y")
case("ops.Concat", "ops.Concat(-1)([x, y, x])", x="i32[2,3]", y="i32[2,1]")
case("ops.Concat", "ops.Concat(2)((x, y))", x="f16[1,2,3]", y="f16[1,2,1]")
for form, api in (("ops.stack", "ops.stack"), ("mint.stack", "mint.stack")):
    axis = "axis" if form.startswith("ops") else "dim"
    case(api, f"{form}((x, y))", x="f32[2,3]", y="f32[2,3]", grad="x y")
    case(api, f"{form}([x, y], {axis}=1)", x="f32[2,3]", y="f32[2,3]", grad="x y")
    case(api, f"{form}((x, y), {axis}=-1)", x="i32[2]", y="i32[2]")
    case(api, f"{form}([x, y])", x="f32[]", y="f32[]")
    case(api, f"{form}((x, y))", x="f32[2,3]", y="f32[2,2]", kind="error")
case("ops.Stack", "ops.Stack()((x, y))", x="f32[2,3]", y="f32[2,3]", grad="x y")
case("ops.Stack", "ops.Stack(axis=1)([x, y])", x="f32[2,3]", y="f32[2,3]", grad="x y")
case("ops.Stack", "ops.Stack(-1)((x, y, x))", x="f16[2,3]", y="f16[2,3]")
# Splitting
for form, api in (("ops.unstack", "ops.unstack"), ("ops.unbind", "ops.unbind"), ("mint.unbind", "mint.unbind")):
    axis = "axis" if api == "ops.unstack" else "dim"
    case(api, f"{form}(x)", x="f32[2,3]")
    case(api, f"{form}(x, {axis}=1)", x="i32[2,3]")
    case(api, f"{form}(x, {axis}=-1)", x="f16[2,1,3]")
    case(api, f"{form}(x)[1]", x="f32[2,3]", grad="x")
case("ops.Unstack", "P.Unstack()(x)", x="f32[2,3]")
case("ops.Unstack", "P.Unstack(axis=1)(x)", x="i32[2,3]")
case("ops.Unstack", "P.Unstack(axis=-1)(x)[0]", x="f32[2,3]", grad="x")
case("ops.Split", "ops.Split(0, 2)(x)", x="f32[4,3]")
case("ops.Split", "ops.Split(axis=1, output_num=3)(x)", x="f32[2,3]")
case("ops.Split", "ops.Split(1, 2)(x)[0]", x="f32[2,4]", grad="x")
case("ops.Split", "ops.Split(-1, 2)(x)", x="f16[2,2,4]")
case("ops.Split", "ops.Split(0, 3)(x)", x="f32[4,3]", kind="error")
for form, api in (("ops.split", "ops.split"), ("mint.split", "mint.split")):
    axis = "axis" if form.startswith("ops") else "dim"
    case(api, f"{form}(x, 2)", x="f32[5,3]")
    case(api, f"{form}(x, [1, 2], {axis}=1)", x="f32[2,3]")
    case(api, f"{form}(x, 1, {axis}=-1)[2]", x="f32[2,3]", grad="x")
    case(api, f"{form}(x, (2, 2), 0)", x="i32[4]")
    case(api, f"{form}(x, [1, 1], {axis}=1)", x="f32[2,3]", kind="error")
for form, api, c in (("ops.chunk", "ops.chunk", "x, "), ("mint.chunk", "mint.chunk", "x, "), ("x.chunk", "Tensor.chunk",
        "")):
    axis = "dim" if form.startswith("mint") else "axis"
    case(api, f"{form}({c}2)", x="f32[5,3]", kind="either")
    case(api, f"{form}({c}3, {axis}=1)", x="f32[2,3]", kind="either")
    case(api, f"{form}({c}2, -1)[1]", x="f32[2,5]", grad="x", kind="either")
    case(api, f"{form}({c}4, 0)", x="i32[6]", kind="either")
# Padding
case("ops.pad", "ops.pad(x, (1, 2))", x="f32[2,3]", grad="x")
case("ops.pad", "ops.pad(x, [1, 1, 2, 0], mode='constant', value=5)", x="f32[2,3]", grad="x")
case("ops.pad", "ops.pad(x, (1, 1, 1, 1), mode='reflect')", x="f32[1,2,3,3]", grad="x")
case("ops.pad", "ops.pad(x, (1, 2), mode='replicate')", x="f32[1,2,3]", grad="x", kind="either")
case("ops.pad", "ops.pad(x, (1, 1, 1, 1), mode='circular')", x="f32[1,2,3,3]", kind="either")
case("ops.pad", "ops.pad(x, (-1, 1))", x="f32[2,3]", kind="either")
case("ops.pad", "ops.pad(x, (0, 1), value=True)", x="bool[3]", kind="either")
case("ops.pad", "ops.pad(x, ((1, 1),))", x="f32[2,3]", kind="either")
case("mint.nn.functional.pad", "mint.nn.functional.pad(x, (1, 2))", x="f32[2,3]", grad="x", kind="either")
case("mint.nn.functional.pad", "mint.nn.functional.pad(x, (1, 0, 2, 0), mode='constant', value=1.5)", x="f32[2,3]",
    kind="either")
case("mint.nn.functional.pad", "mint.nn.functional.pad(x, (1, 1), mode='reflect')", x="f32[1,2,3]", kind="either")
case("ops.Pad", "ops.Pad(((1, 1), (0, 2)))(x)", x="f32[2,3]", grad="x")
case("ops.Pad", "ops.Pad(paddings=((0, 0), (1, 0), (2, 2)))(x)", x="f32[2,3,2]", grad="x")
case("ops.Pad", "ops.Pad(((3, 0),))(x)", x="i32[2]", kind="either")
for mode in ("REFLECT", "SYMMETRIC"):
    case("ops.MirrorPad", f"ops.MirrorPad('{mode}')(x, Tensor([[1, 1], [2, 2]], ms.int64))", x="f32[3,4]", grad="x",
        kind="either")
# Reversal, slices, depth
case("ops.ReverseV2", "ops.ReverseV2(axis=[1])(x)", x="f32[2,3]", grad="x")
case("ops.ReverseV2", "ops.ReverseV2(axis=(0, -1))(x)", x="f32[2,3,2]", grad="x")
case("ops.ReverseV2", "ops.ReverseV2([0])(x)", x="i32[5]")
case("ops.flip", "ops.flip(x, (0,))", x="f32[2,3]", grad="x")
case("mint.flip", "mint.flip(x, (1,))", x="f32[2,3]", kind="either", grad="x")
case("mint.flip", "mint.flip(x, (0, -1))", x="i32[2,3,2]", kind="either")
case("mint.flip", "mint.flip(x, dims=[0])", x="f16[4]", kind="either")
for s, b in ((1, 0), (0, 1), (2, 1)):
    case("ops.ReverseSequence", f"ops.ReverseSequence({s}, {b})(x, n)", x="f32[3,3,3]", n="i32[3](1,4)", grad="x")
case("ops.ReverseSequence", "ops.ReverseSequence(seq_dim=1)(x, n)", x="f32[2,4]", n="i64[2](1,5)", grad="x")
case("ops.Slice", "ops.Slice()(x, (0, 1), (2, 2))", x="f32[2,3]", grad="x")
case("ops.Slice", "ops.Slice()(x, (1, 0, 0), (1, -1, 2))", x="f32[2,3,4]", kind="either")
case("ops.Slice", "ops.Slice()(x, [2], [2])", x="i32[5]", kind="either")
case("ops.slice", "ops.slice(x, (1, 0), (1, 3))", x="f32[2,3]", grad="x")
case("ops.StridedSlice", "ops.StridedSlice()(x, (0, 1), (2, 3), (1, 1))", x="f32[2,3]", grad="x")
case("ops.StridedSlice", "ops.StridedSlice()(x, (1, 0, 0), (2, 3, 4), (1, 2, 3))", x="f32[3,3,4]", grad="x")
case("ops.StridedSlice", "ops.StridedSlice()(x, (-1, -1), (-3, -4), (-1, -2))", x="i32[3,3]")
case("ops.StridedSlice", "ops.StridedSlice(begin_mask=1, end_mask=2)(x, (1, 0), (2, 1), (1, 1))", x="f32[3,3]")
case("ops.StridedSlice", "ops.StridedSlice(shrink_axis_mask=1)(x, (1, 0), (2, 3), (1, 1))", x="f32[3,3]")
case("ops.StridedSlice", "ops.StridedSlice(new_axis_mask=1)(x, (0, 0), (1, 2), (1, 1))", x="f32[3,3]")
case("ops.StridedSlice", "ops.StridedSlice(ellipsis_mask=1)(x, (0, 0), (1, 2), (1, 1))", x="f32[2,3,3]")
case("ops.strided_slice", "ops.strided_slice(x, (0, 0), (2, 3), (1, 2))", x="f32[2,3]", grad="x")
case("ops.DepthToSpace", "ops.DepthToSpace(2)(x)", x="f32[1,4,2,2]", grad="x")
case("ops.DepthToSpace", "ops.DepthToSpace(2)(x)", x="f32[2,8,1,3]", grad="x")
case("ops.DepthToSpace", "ops.DepthToSpace(block_size=3)(x)", x="i32[1,9,1,1]", kind="either")
case("ops.SpaceToDepth", "ops.SpaceToDepth(2)(x)", x="f32[1,1,4,2]", grad="x")
case("ops.Meshgrid", "ops.Meshgrid()((x, y))", x="f32[2]", y="f32[3]")
case("ops.Meshgrid", "ops.Meshgrid(indexing='ij')((x, y))", x="i32[2]", y="i32[3]")
case("ops.Meshgrid", "ops.Meshgrid(indexing='xy')((x, y, x))[0]", x="f32[2]", y="f32[3]", grad="x")
case("mint.meshgrid", "mint.meshgrid(x, y)", x="f32[2]", y="f32[3]")
case("mint.meshgrid", "mint.meshgrid(x, y, indexing='xy')", x="i32[2]", y="i32[3]")
case("mint.meshgrid", "mint.meshgrid(x, y)[0]", x="f32[2]", y="f32[3]", grad="x")
case("ops.meshgrid", "ops.meshgrid(x, y, indexing='ij')", x="f32[2]", y="f32[3]")
case("mint.narrow", "mint.narrow(x, 0, 1, 2)", x="f32[4,3]", grad="x")
case("mint.narrow", "mint.narrow(x, -1, 0, 1)", x="i32[2,3]")
case("mint.narrow", "mint.narrow(x, dim=1, start=1, length=2)", x="f16[2,3]")
case("ops.roll", "ops.roll(x, 1, 0)", x="f32[4,2]", kind="either")
for form, api, c in (("ops.triu", "ops.triu", "x, "), ("mint.triu", "mint.triu", "x, "), ("x.triu", "Tensor.triu", ""),
        ("ops.tril", "ops.tril", "x, "), ("mint.tril", "mint.tril", "x, ")):
    case(api, f"{form}({c.rstrip(', ')})", x="f32[3,4]", grad="x")
    case(api, f"{form}({c}1)", x="f32[2,3,3]", grad="x")
    case(api, f"{form}({c}diagonal=-1)", x="i32[3,3]")
# Questions about a tensor
for form, api in (("ops.shape", "ops.shape"), ("ops.Shape()", "ops.Shape")):
    case(api, f"{form}(x)", x="f32[2,3]")
    case(api, f"{form}(x)", x="i32[]")
    case(api, f"{form}(x)[-1] * 2", x="f16[1,0,5]")
for form, api in (("ops.rank", "ops.rank"), ("ops.Rank()", "ops.Rank")):
    case(api, f"{form}(x)", x="f32[2,3]", kind="either")
    case(api, f"{form}(x)", x="f32[]", kind="either")
    case(api, f"{form}(x)", x="i32[1,1,2]", kind="either")
for form, api in (("F.dtype", "ops.dtype"), ("ops.DType()", "ops.DType")):
    for spec in ("f32[2]", "f16[1]", "i64[]", "bool[2]"):
        case(api, f"{form}(x)", x=spec)
    case(api, f"{form}(x) == ms.float32", x="f32[3]")
case("ops.size", "ops.size(x)", x="f32[2,3]")

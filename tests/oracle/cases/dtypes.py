# SPDX-License-Identifier: Apache-2.0
# Common operations on every dtype. What MindSpore has no kernel for is not recorded.
SPANS = {"f16": "(0.5,3)", "f32": "(0.5,3)", "f64": "(0.5,3)", "bf16": "(0.5,3)", "c64": "(0.5,2)", "c128": "(0.5,2)",
         "bool": "", **{t: "(1,8)" for t in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")}}
UNARY = {
    "ops.abs": "ops.abs(x)", "ops.neg": "ops.neg(x)", "ops.square": "ops.square(x)", "ops.sqrt": "ops.sqrt(x)",
    "ops.relu": "ops.relu(x)", "ops.ReduceSum": "ops.ReduceSum()(x, 0)", "ops.ReduceMean": "ops.ReduceMean()(x, 1)",
    "ops.ReduceMax": "ops.ReduceMax()(x)", "ops.ReduceMin": "ops.ReduceMin(keep_dims=True)(x, 0)",
    "ops.Transpose": "ops.Transpose()(x, (1, 0))", "ops.Reshape": "ops.Reshape()(x, (-1,))",
    "ops.Concat": "ops.Concat(0)((x, x))", "ops.Stack": "ops.Stack(1)((x, x))", "ops.Tile": "ops.Tile()(x, (1, 2))",
    "ops.ZerosLike": "ops.ZerosLike()(x)", "ops.OnesLike": "ops.OnesLike()(x)",
    "ops.ExpandDims": "ops.ExpandDims()(x, 1)",
    "ops.Gather": "ops.Gather()(x, Tensor([1, 0], ms.int32), 1)", "ops.Slice": "ops.Slice()(x, (0, 1), (2, 2))",
    "ops.Split": "ops.Split(1, 3)(x)", "ops.Argmax": "ops.Argmax(axis=1)(x)", "ops.CumSum": "ops.CumSum()(x, 1)",
    "ops.TopK": "ops.TopK()(x, 2)[0]", "ops.BroadcastTo": "ops.BroadcastTo((2, 3, 3))(x)",
    "ops.ReverseV2": "ops.ReverseV2([0])(x)", "ops.Pad": "ops.Pad(((1, 0), (0, 1)))(x)",
    "ops.Identity": "ops.Identity()(x)",
    "ops.sum": "ops.sum(x)", "ops.Softmax": "ops.Softmax()(x)", "ops.Sigmoid": "ops.Sigmoid()(x)",
    "ops.Exp": "ops.Exp()(x)",
    "ops.Unstack": "ops.Unstack(0)(x)", "ops.one_hot": "ops.one_hot(x[0], 9, 1.0, 0.0)", "Tensor.masked_fill":
    "x.masked_fill(Tensor([True, False, True]), 1)", "Tensor.sum": "x.sum(0)", "Tensor.mean": "x.mean()",
    "Tensor.max": "x.max()", "Tensor.flatten": "x.flatten()", "Tensor.cumsum": "x.cumsum(0)",
    "Tensor.clip": "x.clip(1, 2)",
    "Tensor.copy": "x.copy()", "Tensor.triu": "x.triu()",
    "Tensor []get": "x[:, 1:]", "Tensor []set": "x[0, 0] = x[1, 1]; x", "Tensor.T": "x.T", "Tensor.size": "x.size",
    "ops.GatherNd": "ops.GatherNd()(x, Tensor([[0, 1], [1, 2]], ms.int32))", "ops.Cast": "ops.Cast()(x, ms.int32)",
}
BINARY = {"ops.Add": "Add", "ops.Sub": "Sub", "ops.Mul": "Mul", "ops.Div": "Div", "ops.RealDiv": "RealDiv",
          "ops.Maximum": "Maximum", "ops.Minimum": "Minimum", "ops.Pow": "Pow", "ops.FloorDiv": "FloorDiv",
          "ops.Equal": "Equal", "ops.Less": "Less", "ops.GreaterEqual": "GreaterEqual", "ops.MatMul": "MatMul"}
for t, span in SPANS.items():
    rough = dict(rtol=2e-2) if t == "bf16" else dict(rtol=4e-3) if t == "f16" else {}
    for api, code in UNARY.items():
        case(api, code, x=f"{t}[3,3]{span}", kind="either", **rough)
    for api, name in BINARY.items():
        case(api, f"ops.{name}()(x, y)", x=f"{t}[3,3]{span}", y=f"{t}[3,3]{span}", kind="either", **rough)
    case("ops.Select", "ops.Select()(c, x, y)", c="bool[3]", x=f"{t}[3]{span}", y=f"{t}[3]{span}", kind="either")
    case("ops.Assign", "ops.Assign()(p, x); p", p=f"param:{t}[3]{span}", x=f"{t}[3]{span}", kind="either")
    if t != "bf16":                        # numpy has no such dtype of its own
        case("Tensor.asnumpy", "x.asnumpy() + 0", x=f"{t}[3]{span}", kind="either")

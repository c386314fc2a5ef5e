# SPDX-License-Identifier: Apache-2.0
"""Make control.onnx, typed.onnx and outside.onnx of tests/formats/data/onnx with the onnx package: python make_onnx.py FOLDER"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper


def tensors():
    return [helper.make_tensor("f32", TensorProto.FLOAT, (2, 2), [1.5, -2, 3, 4]),
            helper.make_tensor("f64", TensorProto.DOUBLE, (2,), [1.5, -2]),
            helper.make_tensor("f16", TensorProto.FLOAT16, (3,), np.array([1.5, -2, 0.25])),
            helper.make_tensor("i64", TensorProto.INT64, (3,), [1, -2, 1 << 40]),
            helper.make_tensor("i8", TensorProto.INT8, (3,), [1, -2, 127]),
            helper.make_tensor("u64", TensorProto.UINT64, (1,), [1 << 63]),
            helper.make_tensor("b", TensorProto.BOOL, (2,), [True, False]),
            helper.make_tensor("c", TensorProto.COMPLEX64, (1,), [1 + 2j])]


def weight(name, *shape):
    return onnx.numpy_helper.from_array(np.random.default_rng(len(name)).standard_normal(shape).astype(np.float32), name)


def branch(kind):
    """Of an If: weights inside, under one name in both branches."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node(kind, ["p"], ["q"]),
             helper.make_node("Constant", [], ["c"], value=weight("c", 4)), helper.make_node("Add", ["q", "c"], ["r"])]
    return helper.make_graph(nodes, kind, [], [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)], [weight("w", 3, 4)])


def control():
    """An If, and a Loop over its result."""
    info = helper.make_tensor_value_info
    body = helper.make_graph([helper.make_node("Add", ["s", "step"], ["s_out"]), helper.make_node("Identity", ["go"], ["go_out"])], "body",
                             [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("s", TensorProto.FLOAT, None)],
                             [info("go_out", TensorProto.BOOL, []), info("s_out", TensorProto.FLOAT, None)], [weight("step", 4)])
    nodes = [helper.make_node("ReduceSum", ["x"], ["total"], keepdims=0), helper.make_node("Greater", ["total", "zero"], ["cond"]),
             helper.make_node("If", ["cond"], ["y"], name="choose", then_branch=branch("Relu"), else_branch=branch("Neg")),
             helper.make_node("Loop", ["turns", "", "y"], ["z"], name="repeat", body=body)]
    constants = [onnx.numpy_helper.from_array(np.float32(0), "zero"), onnx.numpy_helper.from_array(np.int64(3), "turns")]
    graph = helper.make_graph(nodes, "g", [info("x", TensorProto.FLOAT, ["batch", 3])], [info("z", TensorProto.FLOAT, ["batch", 4])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model


def main():
    onnx.save(control(), sys.argv[1] + "/control.onnx")
    node = helper.make_node("Identity", ["f32"], ["y"])
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 2))
    graph = helper.make_graph([node], "g", [], [output], initializer=tensors())
    onnx.save(helper.make_model(graph, producer_name="tests"), sys.argv[1] + "/typed.onnx")
    big = onnx.numpy_helper.from_array(np.arange(1000, dtype=np.float32).reshape(10, 100), "big")
    graph = helper.make_graph([node], "g", [], [output], initializer=[tensors()[0], big])
    onnx.save(helper.make_model(graph), sys.argv[1] + "/outside.onnx", save_as_external_data=True, location="outside.data",
              size_threshold=100)


if __name__ == "__main__":
    main()

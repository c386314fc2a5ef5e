# SPDX-License-Identifier: Apache-2.0
"""Make typed.onnx and outside.onnx of tests/formats/data/onnx with the onnx package: python make_onnx.py FOLDER"""
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


def main():
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

# SPDX-License-Identifier: Apache-2.0
"""Make the files of tests/formats/data/tflite under TensorFlow: python make_tflite.py FOLDER"""
import sys

import numpy as np
import tensorflow as tf


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(5)
        self.kernel = tf.Variable(rng.standard_normal((16, 8)).astype("f4"))
        self.bias = tf.Variable(rng.standard_normal(8).astype("f4"))

    @tf.function(input_signature=[tf.TensorSpec((1, 16), tf.float32)])
    def __call__(self, x):
        return tf.nn.relu(tf.matmul(x, self.kernel) + self.bias)


def main():
    net = Net()
    np.savez_compressed(sys.argv[1] + "/dense.npz", kernel=net.kernel.numpy(), bias=net.bias.numpy())
    function = net.__call__.get_concrete_function()
    for name in ("float", "int8"):
        converter = tf.lite.TFLiteConverter.from_concrete_functions([function], net)
        if name == "int8":
            rng = np.random.default_rng(6)
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            converter.representative_dataset = lambda: ([rng.standard_normal((1, 16)).astype("f4")] for _ in range(8))
            converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        with open(f"{sys.argv[1]}/dense_{name}.tflite", "wb") as file:
            file.write(converter.convert())


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Make the files of tests/formats/data/tensorflow under TensorFlow, and an .npz of what each holds.

    python make_tensorflow.py FOLDER
"""
import sys

import numpy as np
import tensorflow as tf


def variables():
    rng = np.random.default_rng(3)
    result = {f"v_{d}": tf.Variable(rng.integers(0, 2 if d == "bool" else 50, (2, 3)).astype(d)) for d in
              ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64")}
    result["scalar"] = tf.Variable(2.5)
    result["bf16"] = tf.Variable(tf.cast([1.5, -2.0], tf.bfloat16))
    return result


class Layer(tf.Module):
    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(4)
        self.kernel = tf.Variable(rng.standard_normal((3, 4)).astype("f4"))
        self.bias = tf.Variable(rng.standard_normal(4).astype("f4"))


def make_partitioned(folder):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        normal = v1.random_normal_initializer(seed=1)
        rows = v1.get_variable("emb/table", (100, 3), initializer=normal, partitioner=v1.fixed_size_partitioner(3, axis=0))
        columns = v1.get_variable("wide", (2, 200), initializer=normal, partitioner=v1.fixed_size_partitioner(2, axis=1))
        plain = v1.get_variable("head/kernel", initializer=np.arange(8, dtype="f4").reshape(2, 4))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, folder + "/partitioned", write_meta_graph=False, write_state=False)
        held = session.run({"emb/table": tf.concat(list(rows), 0), "wide": tf.concat(list(columns), 1), "head/kernel": plain})
    np.savez_compressed(folder + "/partitioned.npz", **held)


def make_list(folder):
    """Variables whose full names are equal: only their places in the list tell them apart."""
    items = [tf.Variable(np.arange(3, dtype="f4")), tf.Variable(np.arange(4, dtype="f4"))]
    tf.train.Checkpoint(items=items).write(folder + "/list")
    np.savez_compressed(folder + "/list.npz", **{f"items/{i}": v.numpy() for i, v in enumerate(items)})


def main():
    folder = sys.argv[1]
    make_list(folder)
    values = variables()
    tf.train.Checkpoint(**values, layer=Layer(), layers=[Layer(), Layer()]).write(folder + "/object")
    wanted = {k: v.numpy() for k, v in values.items()}
    wanted["bf16"] = np.asarray(values["bf16"]).view(np.uint16)
    for name in ("layer", "layers/0", "layers/1"):
        wanted[name + "/kernel"], wanted[name + "/bias"] = Layer().kernel.numpy(), Layer().bias.numpy()
    np.savez_compressed(folder + "/object.npz", **wanted)

    tf.compat.v1.disable_eager_execution()
    with tf.compat.v1.Session() as session:
        a = tf.compat.v1.get_variable("net/conv/weights", initializer=np.arange(24, dtype="f4").reshape(2, 3, 4))
        b = tf.compat.v1.get_variable("net/conv/biases", initializer=np.arange(4, dtype="f4"))
        session.run([a.initializer, b.initializer])
        tf.compat.v1.train.Saver([a, b]).save(session, folder + "/old.ckpt", write_meta_graph=False, write_state=False)
    make_partitioned(folder)
    np.savez_compressed(folder + "/old.ckpt.npz", **{"net/conv/weights": np.arange(24, dtype="f4").reshape(2, 3, 4),
                                                     "net/conv/biases": np.arange(4, dtype="f4")})


if __name__ == "__main__":
    main()

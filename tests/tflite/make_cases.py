#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make the cases of test_tflite.py: small models of every operator, and what TensorFlow Lite's interpreter computes with them.

    make_cases.py FOLDER [PATTERN ...]     writes FOLDER/cases.npz and FOLDER/data/*.tflite; with patterns, only cases whose names match them
                                           are made anew

Needs the packages tensorflow and ai-edge-litert. Of each case the file holds the model, its inputs of two runs one after the other (so
states are seen), and the outputs of both. The reference is the interpreter as people get it, with its default delegate; cases that it cannot
run that way are run without, and none is taken that neither can.
"""
import os
import sys
from fnmatch import fnmatch
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from tensorflow import keras

F, I, L, B = tf.float32, tf.int32, tf.int64, tf.bool
CASES = {}
FILES = ("conv_2d", "while_loop", "cond", "int8_net", "lstm", "variables", "dynamic_range", "float16", "uint8_net", "detection", "strided_slice")
random = np.random.default_rng(20261116)


def case(name, function, *specs, **options):
    """A function of tensors with these (shape, dtype); options: those of convert."""
    CASES[name] = (function, [s if len(s) == 3 else (*s, None) for s in specs], options)


def weight(*shape):
    return random.normal(size=shape).astype("f4")


def unary_cases():
    for name in ("abs", "exp", "sin", "cos", "floor", "square", "sign", "tanh", "sigmoid", "sqrt", "rsqrt"):
        positive = name in ("sqrt", "rsqrt")
        function = getattr(tf, name) if hasattr(tf, name) else getattr(tf.math, name)
        case(name, function, ((2, 3), F, (0.1, 4) if positive else (-3, 3)))
    case("log", tf.math.log, ((2, 3), F, (0.1, 4)))
    case("neg", lambda x: -x, ((2, 3), F))
    case("ceil", tf.math.ceil, ((2, 3), F, (-3, 3)))
    case("round", tf.round, ((2, 9), F, (-3, 3)))
    case("elu", tf.nn.elu, ((2, 3), F))
    case("relu", tf.nn.relu, ((2, 3), F))
    case("relu6", tf.nn.relu6, ((2, 3), F, (-9, 9)))
    case("relu_n1_to_1", lambda x: tf.maximum(-1.0, tf.minimum(x, 1.0)), ((2, 3), F, (-2, 2)))
    case("relu_0_to_1", lambda x: tf.maximum(0.0, tf.minimum(x, 1.0)), ((2, 3), F, (-2, 2)))
    case("leaky_relu", lambda x: tf.nn.leaky_relu(x, 0.3), ((2, 3), F))
    case("hard_swish", lambda x: x * tf.nn.relu6(x + 3) / 6, ((2, 3), F, (-5, 5)))
    case("gelu", lambda x: tf.nn.gelu(x, approximate=False), ((2, 3), F))
    case("gelu_tanh", lambda x: tf.nn.gelu(x, approximate=True), ((2, 3), F))
    case("logical_not", tf.logical_not, ((2, 3), B))
    case("zeros_like", lambda x: tf.zeros_like(x) + tf.cast(tf.shape(x)[0], F), ((2, 3), F))
    case("cast", lambda x: tf.cast(x * 5, I), ((2, 3), F))
    case("cast_bool", lambda x: tf.cast(tf.cast(x, B), F), ((2, 3), I))
    case("softmax", lambda x: tf.nn.softmax(x), ((2, 5), F))
    case("log_softmax", lambda x: tf.nn.log_softmax(x), ((2, 5), F))
    case("l2_normalization", lambda x: tf.math.l2_normalize(x, axis=-1), ((2, 5), F))
    case("prelu", keras.layers.PReLU(alpha_initializer="random_normal", shared_axes=[1, 2]), ((1, 3, 4, 5), F))
    case("fake_quant", lambda x: tf.quantization.fake_quant_with_min_max_args(x, -1.5, 2.5, 8), ((2, 9), F, (-3, 3)))
    case("rfft", lambda x: tf.abs(tf.signal.rfft(x, [8])), ((2, 10), F))
    case("complex_parts", lambda x: (tf.math.real(tf.signal.rfft2d(x)), tf.math.imag(tf.signal.rfft2d(x))), ((1, 4, 8), F))
    case("bucketize", lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[-1.0, 0.0, 2.0]), ((2, 5), F, (-3, 3)))


def binary_cases():
    two = ((2, 3, 4), F), ((3, 1), F)
    for name in ("add", "subtract", "multiply", "maximum", "minimum", "less", "greater", "greater_equal", "less_equal", "equal", "not_equal"):
        case(name, getattr(tf, name), *two)
    case("divide", lambda x, y: x / y, ((2, 3, 4), F), ((3, 1), F, (0.5, 2)))
    case("add_relu", lambda x, y: tf.nn.relu(x + y), *two)
    case("divide_int", lambda x, y: tf.truncatediv(x, y), ((2, 3), I, (-9, 9)), ((3,), I, (1, 4)))
    case("floor_div", tf.math.floordiv, ((2, 3), I, (-9, 9)), ((3,), I, (1, 4)))
    case("floor_mod", tf.math.floormod, ((2, 3), I, (-9, 9)), ((3,), I, (1, 4)))
    case("pow", tf.pow, ((2, 3), F, (0.1, 3)), ((3,), F))
    case("squared_difference", tf.math.squared_difference, *two)
    case("atan2", tf.math.atan2, ((2, 3), F), ((2, 3), F))
    case("logical_and", tf.logical_and, ((2, 3), B), ((2, 3), B))
    case("logical_or", tf.logical_or, ((2, 3), B), ((2, 3), B))
    case("bitwise_xor", tf.bitwise.bitwise_xor, ((2, 3), I), ((2, 3), I))
    case("right_shift", tf.bitwise.right_shift, ((2, 3), I, (-90, 90)), ((2, 3), I, (0, 4)))
    case("add_n", lambda x, y, z: tf.raw_ops.AddN(inputs=[x, y, z]), ((2, 3), F), ((2, 3), F), ((2, 3), F))
    case("select", lambda c, x, y: tf.raw_ops.Select(condition=c, x=x, y=y), ((2,), B), ((2, 3), F), ((2, 3), F))
    case("select_v2", tf.where, ((3,), B), ((2, 3), F), ((2, 3), F))
    case("batch_matmul", lambda x, y: tf.matmul(x, y, transpose_b=True), ((2, 3, 4), F), ((2, 5, 4), F))


def shape_cases():
    case("reshape", lambda x: tf.reshape(x, (3, -1)), ((2, 3, 4), F))
    case("squeeze", lambda x: tf.squeeze(x, [1]), ((2, 1, 3), F))
    case("expand_dims", lambda x: tf.expand_dims(x, 1), ((2, 3), F))
    case("transpose", lambda x: tf.transpose(x, (2, 0, 1)), ((2, 3, 4), F))
    case("shape", lambda x: (tf.shape(x), tf.rank(x)), ((None, 3), F))
    case("slice", lambda x: tf.slice(x, (0, 1, 1), (2, -1, 2)), ((2, 3, 4), F))
    case("strided_slice", lambda x: (x[:, ::-2, None, 1:], x[..., 2], x[1, :, -3:-1]), ((2, 5, 4), F))
    case("split", lambda x: tf.split(x, 2, axis=1), ((2, 4), F))
    case("split_v", lambda x: tf.split(x, [1, 3], axis=1), ((2, 4), F))
    case("concatenation", lambda x, y: tf.concat((x, y), 1), ((2, 4), F), ((2, 3), F))
    case("concatenation_channels", lambda x: tf.concat((tf.nn.max_pool2d(x, 2, 1, "SAME"), tf.nn.avg_pool2d(x, 3, 1, "SAME")), 3), ((1, 4, 5, 3), F))
    case("pack", lambda x, y: tf.stack((x, y), 1), ((2, 4), F), ((2, 4), F))
    case("unpack", lambda x: tf.unstack(x, axis=1), ((2, 3), F))
    case("pad", lambda x: tf.pad(x, ((1, 0), (2, 1))), ((2, 3), F))
    case("padv2", lambda x: tf.pad(x, ((1, 0), (2, 1)), constant_values=7.0), ((2, 3), F))
    case("mirror_pad", lambda x: (tf.pad(x, ((1, 1), (2, 1)), "REFLECT"), tf.pad(x, ((1, 0), (2, 3)), "SYMMETRIC")), ((2, 3), F))
    case("tile", lambda x: tf.tile(x, (2, 3)), ((2, 3), F))
    case("fill", lambda x: tf.fill(tf.shape(x), 3.0) + x, ((None, 3), F))
    case("range", lambda x: tf.range(0, tf.shape(x)[0] * 3, 2), ((None, 3), F))
    case("broadcast_to", lambda x: tf.broadcast_to(x, (4, 2, 3)), ((2, 1), F))
    case("reverse", lambda x: tf.reverse(x, [1]), ((2, 3, 2), F))
    case("reverse_sequence", lambda x: tf.reverse_sequence(x, [2, 4, 1], seq_axis=1, batch_axis=0), ((3, 4, 2), F))
    case("space_to_depth", lambda x: tf.nn.space_to_depth(x, 2), ((1, 4, 6, 3), F))
    case("depth_to_space", lambda x: tf.nn.depth_to_space(x, 2), ((1, 2, 3, 8), F))
    case("space_to_batch", lambda x: tf.space_to_batch(x, (2, 3), ((0, 0), (1, 2))), ((2, 4, 6, 3), F))
    case("batch_to_space", lambda x: tf.batch_to_space(x, (2, 3), ((0, 1), (1, 0))), ((12, 3, 2, 2), F))
    case("dynamic_update_slice", lambda x, y: tf.raw_ops.XlaDynamicUpdateSlice(input=x, update=y, indices=[1, 0]), ((4, 3), F), ((2, 3), F))


def place_cases():
    for name in ("mean", "sum", "prod", "max", "min"):
        function = getattr(tf, "reduce_" + name)
        case("reduce_" + name, lambda x, f=function: (f(x, 1), f(x, (0, 2), keepdims=True), f(x)), ((2, 3, 4), F))
    case("reduce_any", lambda x: (tf.reduce_any(x, 1), tf.reduce_all(x, 0)), ((2, 3), B))
    case("mean_planes", lambda x: [tf.reduce_mean(tf.nn.max_pool2d(x, 2, 1, "SAME"), a) for a in ((1, 2), (1,), (3,))], ((1, 4, 5, 3), F))
    case("argmax", lambda x: (tf.argmax(x, 1), tf.argmin(x, 0, I)), ((2, 5), F))
    case("topk", lambda x: tf.math.top_k(x, 2), ((2, 5), F))
    case("cumsum", lambda x: (tf.cumsum(x, 1), tf.cumsum(x, 0, exclusive=True), tf.cumsum(x, 1, reverse=True)), ((2, 5), F))
    case("gather", lambda x: tf.gather(x, [2, 0, 0], axis=1), ((2, 3, 2), F))
    case("gather_batch", lambda x, i: tf.gather(x, i, axis=1, batch_dims=1), ((2, 3, 2), F), ((2, 4), I, (0, 3)))
    case("gather_nd", lambda x: tf.gather_nd(x, [[0, 1], [1, 2]]), ((2, 3, 2), F))
    case("one_hot", lambda i: tf.one_hot(i, 5, 2.0, -1.0), ((2, 3), I, (0, 5)))
    case("one_hot_axis", lambda i: tf.one_hot(i, 5, axis=0), ((3,), I, (0, 5)))
    case("where", lambda x: tf.where(x > 0), ((3, 4), F))
    case("unique", lambda x: tf.unique(x), ((9,), I, (0, 4)))
    case("scatter_nd", lambda x: tf.scatter_nd([[0], [3], [0]], x, [5, 2]), ((3, 2), F))
    case("sparse_to_dense", lambda x: tf.raw_ops.SparseToDense(sparse_indices=[[0, 1], [1, 2]], output_shape=[2, 3], sparse_values=x, default_value=-1.0), ((2,), F))
    case("segment_sum", lambda x: tf.math.segment_sum(x, [0, 0, 1]), ((3, 2), F))
    for name in ("sum", "prod", "max", "min"):
        function = getattr(tf.math, "unsorted_segment_" + name)
        case("unsorted_segment_" + name, lambda x, f=function: f(x, [1, 0, 1], 3), ((3, 2), F))
    case("matrix_diag", tf.linalg.diag, ((2, 3), F))
    case("matrix_set_diag", tf.linalg.set_diag, ((2, 3, 4), F), ((2, 3), F))
    case("embedding", lambda i: tf.gather(tf.constant(weight(7, 3)), i), ((4,), I, (0, 7)))


def window_cases():
    w, d, b = weight(3, 2, 4, 5), weight(3, 3, 4, 2), weight(5)
    case("conv_2d", lambda x: tf.nn.relu(tf.nn.conv2d(x, w, (1, 2), "SAME") + b), ((1, 6, 7, 4), F))
    case("conv_2d_valid", lambda x: tf.nn.conv2d(x, w, 1, "VALID", dilations=2), ((2, 7, 7, 4), F))
    case("conv_2d_groups", lambda x: tf.nn.conv2d(x, weight(3, 3, 2, 6), 1, "SAME"), ((1, 5, 5, 4), F))
    case("depthwise", lambda x: tf.nn.relu6(tf.nn.depthwise_conv2d(x, d, (1, 2, 2, 1), "SAME")), ((1, 7, 8, 4), F))
    case("transpose_conv", lambda x: tf.nn.conv2d_transpose(x, weight(3, 2, 5, 4), (1, 8, 6, 5), 2, "SAME"), ((1, 4, 3, 4), F))
    case("transpose_conv_valid", lambda x: tf.nn.conv2d_transpose(x, weight(3, 3, 5, 4), (1, 9, 7, 5), 2, "VALID"), ((1, 4, 3, 4), F))
    case("conv_3d", lambda x: tf.nn.conv3d(x, weight(2, 3, 2, 3, 4), (1, 1, 2, 1, 1), "SAME"), ((1, 4, 5, 6, 3), F))
    case("conv_3d_transpose", lambda x: tf.nn.conv3d_transpose(x, weight(2, 3, 2, 4, 3), (1, 4, 6, 8, 4), 2, "SAME"), ((1, 2, 3, 4, 3), F))
    case("average_pool", lambda x: (tf.nn.avg_pool2d(x, (2, 3), (2, 1), "SAME"), tf.nn.avg_pool2d(x, 2, 2, "VALID")), ((1, 5, 6, 3), F))
    case("max_pool", lambda x: (tf.nn.max_pool2d(x, 3, 2, "SAME"), tf.nn.max_pool2d(x, 2, 2, "VALID")), ((1, 5, 6, 3), F))
    case("local_response", lambda x: tf.nn.local_response_normalization(x, 2, 1.5, 0.3, 0.75), ((1, 2, 3, 9), F))
    case("fully_connected", lambda x: tf.nn.relu(tf.matmul(x, weight(4, 5)) + b), ((3, 4), F))
    case("dense_rank3", keras.layers.Dense(5), ((2, 3, 4), F))
    for name, corners, half in (("plain", False, False), ("corners", True, False), ("half", False, True)):
        options = {"align_corners": corners, "half_pixel_centers": half}
        case("resize_bilinear_" + name, lambda x, o=options: tf.raw_ops.ResizeBilinear(images=x, size=[7, 5], **o), ((1, 3, 4, 2), F))
        case("resize_nearest_" + name, lambda x, o=options: tf.raw_ops.ResizeNearestNeighbor(images=x, size=[7, 5], **o), ((1, 3, 4, 2), F))
    case("planes_and_back", lambda x: tf.reshape(tf.nn.max_pool2d(x, 2, 1, "SAME") * tf.constant(weight(5, 3)) + tf.constant(weight(3)), (4, -1)),
         ((1, 4, 5, 3), F))


def control_cases():
    case("while_loop", lambda x: tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v * 1.5 + 1), (0, x))[1], ((2, 3), F))
    case("while_data", lambda x: tf.while_loop(lambda v: tf.reduce_sum(v) < 100, lambda v: (v * 2 + 1,), (x,))[0], ((2, 3), F, (0, 1)))
    case("cond", lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1), ((2, 3), F))
    case("nms_v5", lambda b, s: tf.raw_ops.NonMaxSuppressionV5(boxes=b, scores=s, max_output_size=5, iou_threshold=0.4, score_threshold=0.1,
                                                               soft_nms_sigma=0.5, pad_to_max_output_size=True), ((12, 4), F, (0, 1)), ((12,), F, (0, 1)))
    case("nms_v4", lambda b, s: tf.raw_ops.NonMaxSuppressionV4(boxes=b, scores=s, max_output_size=5, iou_threshold=0.4, score_threshold=0.1,
                                                               pad_to_max_output_size=True), ((12, 4), F, (0, 1)), ((12,), F, (0, 1)))

    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.total = tf.Variable(tf.ones((2, 3)))

        @tf.function(input_signature=[tf.TensorSpec((2, 3), F)])
        def __call__(self, x):
            before = self.total.read_value()
            self.total.assign(before * 0.5 + x)
            return before, self.total.read_value()

    CASES["variables"] = (Counter(), [((2, 3), F, None)], {"variables": True})


def recurrent_cases():
    def model(layer, *shape):
        net = keras.Sequential([keras.Input(shape, batch_size=1), layer])
        return net
    for name, layer in (("lstm", keras.layers.LSTM(4, return_sequences=True)), ("lstm_bidirectional", keras.layers.Bidirectional(keras.layers.LSTM(3, return_sequences=True))),
                        ("gru", keras.layers.GRU(3)), ("simple_rnn", keras.layers.SimpleRNN(3))):
        CASES[name] = (model(layer, 5, 6), [((1, 5, 6), F, None)], {})


def net(kernel=3):
    inputs = keras.Input((12, 12, 3), batch_size=1)
    x = keras.layers.Conv2D(8, kernel, padding="same", activation="relu")(inputs)
    y = keras.layers.DepthwiseConv2D(3, padding="same", activation="relu6")(x)
    y = keras.layers.Conv2D(8, 1)(y)
    x = keras.layers.Add()([x, y])
    x = keras.layers.AveragePooling2D(2)(x)
    x = keras.layers.Conv2D(10, 3, strides=2)(x)
    x = keras.layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, keras.layers.Softmax()(keras.layers.Dense(6)(x)))


def quantised_cases():
    shape = (1, 12, 12, 3)
    CASES["float16"] = (net(), [(shape, F, None)], {"half": True})
    CASES["dynamic_range"] = (net(5), [(shape, F, None)], {"dynamic": True})
    CASES["dynamic_dense"] = (keras.Sequential([keras.Input((64,), batch_size=3), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(40)]),
                              [((3, 64), F, None)], {"dynamic": True})
    CASES["dynamic_lstm"] = (keras.Sequential([keras.Input((5, 32), batch_size=1), keras.layers.LSTM(16)]), [((1, 5, 32), F, None)], {"dynamic": True})
    CASES["int8_net"] = (net(), [(shape, F, None)], {"int8": True})
    CASES["uint8_net"] = (net(), [(shape, F, None)], {"int8": True, "face": tf.uint8})
    CASES["int8_float_faces"] = (net(), [(shape, F, None)], {"int8": True, "face": F})
    CASES["int16_net"] = (net(), [(shape, F, None)], {"int16": True})
    CASES["int8_lstm"] = (keras.Sequential([keras.Input((5, 8), batch_size=1), keras.layers.LSTM(4, return_sequences=True)]), [((1, 5, 8), F, None)], {"int8": True})
    conv = lambda x: tf.nn.conv2d(x, weight(3, 3, 3, 4), 1, "SAME")
    two = lambda f: (lambda x: f(conv(x), tf.nn.conv2d(x, weight(1, 1, 3, 4), 1, "SAME")))
    functions = {
        "add": two(tf.add), "sub": two(tf.subtract), "mul": two(tf.multiply), "maximum": two(tf.maximum), "concat": two(lambda x, y: tf.concat((x, y), 3)),
        "max_pool": lambda x: tf.nn.max_pool2d(conv(x), 2, 2, "SAME"), "average_pool": lambda x: tf.nn.avg_pool2d(conv(x), 2, 2, "SAME"),
        "mean": lambda x: tf.reduce_mean(conv(x), (1, 2)), "logistic": lambda x: tf.sigmoid(conv(x)), "tanh": lambda x: tf.tanh(conv(x)),
        "hard_swish": lambda x: (lambda y: y * tf.nn.relu6(y + 3) / 6)(conv(x)), "leaky_relu": lambda x: tf.nn.leaky_relu(conv(x), 0.2),
        "pad": lambda x: tf.pad(conv(x), ((0, 0), (1, 2), (0, 1), (0, 0))), "resize_bilinear": lambda x: tf.image.resize(conv(x), (20, 17)),
        "resize_nearest": lambda x: tf.image.resize(conv(x), (20, 17), "nearest"), "softmax": lambda x: tf.nn.softmax(tf.reshape(conv(x), (1, -1))),
        "transpose_conv": lambda x: tf.nn.conv2d_transpose(x, weight(3, 3, 4, 3), (1, 24, 24, 4), 2, "SAME"),
        "transpose": lambda x: tf.transpose(conv(x), (0, 3, 1, 2)), "slice": lambda x: conv(x)[:, 1:-1, ::2], "relu6": lambda x: tf.nn.relu6(conv(x)),
        "reduce_max": lambda x: tf.reduce_max(conv(x), (1, 2)), "split": lambda x: tf.split(conv(x), 2, axis=3), "batch_matmul": lambda x: tf.matmul(x[0], x[0], transpose_b=True),
        "l2_norm": lambda x: tf.math.l2_normalize(conv(x), -1), "abs": lambda x: tf.abs(conv(x)), "depth_to_space": lambda x: tf.nn.depth_to_space(conv(x), 2),
        "sum": lambda x: tf.reduce_sum(conv(x), 3), "exp": lambda x: tf.exp(tf.nn.relu6(conv(x)) / 6), "squared_difference": two(tf.math.squared_difference),
        "argmax": lambda x: tf.argmax(conv(x), 3),
    }
    for name, function in functions.items():
        case("int8_" + name, function, (shape, F), int8=True)


def converter_of(function, specs, options):
    if isinstance(function, keras.Model):
        return tf.lite.TFLiteConverter.from_keras_model(function)
    if options.get("variables"):
        converter = tf.lite.TFLiteConverter.from_concrete_functions([function.__call__.get_concrete_function()], function)
        converter.experimental_enable_resource_variables = True
        return converter
    signature = [tf.TensorSpec(shape, dtype) for shape, dtype, _ in specs]
    return tf.lite.TFLiteConverter.from_concrete_functions([tf.function(function).get_concrete_function(*signature)])


def draw(shape, dtype, limits):
    shape = [2 if d is None else int(d) for d in shape]
    if dtype in (B, bool, np.bool_):
        return random.integers(0, 2, shape).astype(bool)
    if dtype in (I, L, np.int32, np.int64):
        return random.integers(*(limits or (0, 9)), shape).astype("i4" if dtype in (I, np.int32) else "i8")
    if dtype in (np.int8, np.uint8, np.int16):
        return random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
    return random.uniform(*(limits or (-1, 1)), shape).astype("f4")


def convert(function, specs, options):
    converter = converter_of(function, specs, options)
    quantised = options.get("int8") or options.get("int16")
    if quantised or options.get("half") or options.get("dynamic"):
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if options.get("half"):
        converter.target_spec.supported_types = [tf.float16]
    if quantised:
        converter.representative_dataset = lambda: ([draw(*s) for s in specs] for _ in range(20))
    if options.get("int8"):
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = options.get("face", tf.int8)
    if options.get("int16"):
        converter.target_spec.supported_ops = [tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8]
    return converter.convert()


def answers(model, inputs, kind):
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=kind)
    for detail, value in zip(interpreter.get_input_details(), inputs[0]):
        if tuple(detail["shape"]) != value.shape:
            interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    results = []
    for values in inputs:
        for detail, value in zip(interpreter.get_input_details(), values):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        results.append([interpreter.get_tensor(d["index"]).copy() for d in interpreter.get_output_details()])
    return results


def record(model, specs):
    details = Interpreter(model_content=model).get_input_details()
    limits = [s[2] for s in specs] if len(specs) == len(details) else [None] * len(details)
    if len(specs) == len(details): # the converter keeps the order of arguments by name, not by place
        limits = [next((s[2] for s in specs if len(s[0]) == len(d["shape"]) and all(a is None or a == b for a, b in zip(s[0], d["shape"])) and s[1].as_numpy_dtype == d["dtype"]), None)
                  for d in details]
    sizes = [[2 if f < 0 else f for f in d["shape_signature"]] for d in details]
    inputs = [[draw(z, d["dtype"], l) for z, d, l in zip(sizes, details, limits)] for _ in range(2)]
    try:
        return inputs, answers(model, inputs, OpResolverType.AUTO)
    except RuntimeError:
        return inputs, answers(model, inputs, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)


def detection_model():
    """A model with the custom operator behind detectors; there is no function for it, so its file is put together by hand."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema
    from flatbuffers import flexbuffers
    anchors = np.column_stack([random.uniform(0.2, 0.8, (20, 2)), random.uniform(0.2, 0.5, (20, 2))]).astype("f4")
    model = schema.ModelT()
    model.version, code, graph = 3, schema.OperatorCodeT(), schema.SubGraphT()
    code.deprecatedBuiltinCode = code.builtinCode = schema.BuiltinOperator.CUSTOM
    code.customCode = "TFLite_Detection_PostProcess"
    code.version = 1
    def tensor(name, shape, buffer):
        t = schema.TensorT()
        t.name, t.shape, t.type, t.buffer = name, list(shape), schema.TensorType.FLOAT32, buffer
        return t
    graph.tensors = [tensor("codes", (1, 20, 4), 0), tensor("scores", (1, 20, 4), 0), tensor("anchors", (20, 4), 1), tensor("boxes", (1, 5, 4), 0),
                     tensor("classes", (1, 5), 0), tensor("found", (1, 5), 0), tensor("count", (1,), 0)]
    graph.inputs, graph.outputs, graph.name = [0, 1], [3, 4, 5, 6], "main"
    operator = schema.OperatorT()
    operator.opcodeIndex, operator.inputs, operator.outputs = 0, [0, 1, 2], [3, 4, 5, 6]
    options = {"max_detections": 5, "max_classes_per_detection": 1, "nms_score_threshold": 0.3, "nms_iou_threshold": 0.5, "num_classes": 3, "y_scale": 10.0,
               "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0, "use_regular_nms": False, "detections_per_class": 100}
    operator.customOptions = list(flexbuffers.Dumps(options))
    graph.operators = [operator]
    empty, buffer = schema.BufferT(), schema.BufferT()
    buffer.data = list(anchors.tobytes())
    model.operatorCodes, model.subgraphs, model.buffers = [code], [graph], [empty, buffer]
    builder = flatbuffers.Builder(4096)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


def update_model():
    """DYNAMIC_UPDATE_SLICE, which the converter makes only of programs of XLA: by hand, too."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema
    model, code, graph, operator = schema.ModelT(), schema.OperatorCodeT(), schema.SubGraphT(), schema.OperatorT()
    model.version = 3
    code.deprecatedBuiltinCode, code.builtinCode, code.version = 127, schema.BuiltinOperator.DYNAMIC_UPDATE_SLICE, 1
    graph.tensors = []
    for name, shape, kind in (("x", (4, 5), "FLOAT32"), ("part", (2, 3), "FLOAT32"), ("at", (2,), "INT32"), ("y", (4, 5), "FLOAT32")):
        t = schema.TensorT()
        t.name, t.shape, t.type, t.buffer = name, list(shape), getattr(schema.TensorType, kind), 0
        graph.tensors.append(t)
    graph.inputs, graph.outputs, graph.name = [0, 1, 2], [3], "main"
    operator.opcodeIndex, operator.inputs, operator.outputs = 0, [0, 1, 2], [3]
    graph.operators = [operator]
    model.operatorCodes, model.subgraphs, model.buffers = [code], [graph], [schema.BufferT()]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


def main():
    folder = Path(sys.argv[1])
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for make in (unary_cases, binary_cases, shape_cases, place_cases, window_cases, control_cases, recurrent_cases, quantised_cases):
        make()
    models = {}
    only = sys.argv[2:] or ["*"]
    for name, (function, specs, options) in CASES.items():
        if not any(fnmatch(name, pattern) for pattern in only):
            continue
        try:
            models[name] = convert(function, specs, options), specs
        except Exception as error: # an operator that the converter does not make
            print("no model:", name, str(error).splitlines()[0][:100])
    if any(fnmatch("detection", pattern) for pattern in only):
        models["detection"] = detection_model(), [((1, 20, 4), F, None), ((1, 20, 4), F, (0, 1))]
    if any(fnmatch("dynamic_update_slice", pattern) for pattern in only):
        models["dynamic_update_slice"] = update_model(), [((4, 5), F, None), ((2, 3), F, None), ((2,), I, (-1, 5))]
    out = {}
    if (folder / "cases.npz").exists() and len(sys.argv) > 2:
        with np.load(folder / "cases.npz") as old:
            out = {key: old[key] for key in old.files if key.split("/")[0] not in models}
    for name, (model, specs) in models.items():
        try:
            inputs, results = record(model, specs)
        except Exception as error:
            print("no answer:", name, str(error).splitlines()[0][:100])
            continue
        out[f"{name}/model"] = np.frombuffer(model, "u1")
        for run in range(2):
            for kind, values in (("in", inputs[run]), ("out", results[run])):
                for i, value in enumerate(values):
                    out[f"{name}/{kind}{run}.{i}"] = value
        if name in FILES:
            (folder / "data" / f"{name}.tflite").write_bytes(model)
    np.savez_compressed(folder / "cases.npz", **out)
    print(len({k.split("/")[0] for k in out}), "cases")


if __name__ == "__main__":
    main()

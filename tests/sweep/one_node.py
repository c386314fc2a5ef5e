# SPDX-License-Identifier: Apache-2.0
"""Sweep over ONNX files of one node whose sizes, counts or steps go beyond what can be counted or stored.

Each is refused with a text, or gives what the standard says; both at once: nobody waits for 2^31 steps.
"""
import time

import numpy as np

from spore import Tensor, _core
from pool import SENSIBLE, Wrong
from small_files import file_of

HUGE = [2 ** 31, 2 ** 32, 2 ** 32 + 2, 2 ** 62, 2 ** 62 + 1, 2 ** 63 - 1]
QUICK = 5     # seconds of this process, also under a sanitizer
MAPS = np.arange(16, dtype=np.float32).reshape(1, 4, 2, 2)
ROW = np.array([1, 2, 3], np.int64)
PAIR = np.ones(2, np.float32)
SIGNAL = np.ones((1, 8, 1), np.float32)
KEYS = np.zeros((1, 4, 2, 2))      # all keys fit a query equally: it sees the mean of the values
VALUES = np.broadcast_to(np.array([[0.0, 2.0], [2.0, 4.0]]), (1, 4, 2, 2))
SEEN = np.broadcast_to(np.array([1.0, 3.0]), (1, 4, 2, 2)).tolist()


def tf_idf(skips, pool=(1, 2, 1, 3), indexes=(0, 1)):
    return [("mode", "TF"), ("min_gram_length", 2), ("max_gram_length", 2), ("max_skip_count", skips), ("ngram_counts", [0, 0]),
            ("ngram_indexes", list(indexes)), ("pool_int64s", list(pool))]


def kinds(v):
    """operator: (input, attributes, constants, what the standard says, None for refused, "any" for either)"""
    ints, floats = "int64", "float32"
    return {
        "DepthToSpace": (MAPS, [("blocksize", v)], [], None),
        "DepthToSpace CRD": (MAPS, [("blocksize", v), ("mode", "CRD")], [], None),
        "SpaceToDepth": (MAPS, [("blocksize", v)], [], None),
        "Tile": (PAIR, [], [([v], ints)], None),
        "Tile two": (MAPS, [], [([1, v, v, 1], ints)], None),
        "Expand": (PAIR, [], [([v, 2], ints)], "any"),
        "Expand three": (PAIR, [], [([v, v, 2], ints)], None),
        "ConstantOfShape": (None, [], [([v, v], ints)], None),
        "Pad": (PAIR, [], [([0, v], ints)], None),
        "Pad both": (PAIR, [], [([v, v], ints)], None),
        "Pad reflect": (PAIR, [("mode", "reflect")], [([0, v], ints)], None),
        "Pad wrap": (PAIR, [("mode", "wrap")], [([0, v], ints)], None),
        "Pad edge both": (PAIR, [("mode", "edge")], [([v, v], ints)], None),
        "Pad to and fro": (PAIR, [], [([-v - 1, v], ints)], None),
        "Pad edge to and fro": (PAIR, [("mode", "edge")], [([-v - 1, v], ints)], None),
        "Resize": (MAPS, [], [None, None, ([1, 4, v, v], ints)], None),
        "Resize scales": (MAPS, [], [None, ([1, 1, float(v), float(v)], floats)], None),
        "Range": (None, [], [(0, ints), (v, ints), (1, ints)], None),
        "OneHot": (ROW, [], [(v, ints), ([0, 1], floats)], None),
        "TopK": (PAIR, [], [([v], ints)], None),
        "Split": (PAIR, [], [([v, 2 - v], ints)], None),
        "Reshape": (PAIR, [], [([v, v], ints)], None),
        "Gather": (PAIR, [], [([v], ints)], None),
        "BlackmanWindow": (None, [], [(v, ints)], None),
        "MelWeightMatrix": (None, [], [(v, ints), (v, ints), (8000, ints), (0.0, floats), (4000.0, floats)], None),
        "MaxPool kernel": (MAPS, [("kernel_shape", [v, v])], [], None),
        "MaxPool pads": (MAPS, [("kernel_shape", [2, 2]), ("pads", [v] * 4)], [], None),
        "MaxPool strides": (MAPS, [("kernel_shape", [2, 2]), ("strides", [v, v])], [], None),
        "Slice": (PAIR, [], [([0], ints), ([v], ints)], [1, 1]),
        "Slice steps": (PAIR, [], [([0], ints), ([2], ints), ([0], ints), ([v], ints)], [1]),
        "Trilu": (MAPS, [], [(v, ints)], np.zeros((1, 4, 2, 2)).tolist()),
        "Trilu lower": (MAPS, [("upper", 0)], [(v, ints)], MAPS.tolist()),
        "Trilu below": (MAPS, [], [(-v - 1, ints)], MAPS.tolist()),
        "Trilu lower below": (MAPS, [("upper", 0)], [(-v - 1, ints)], np.zeros((1, 4, 2, 2)).tolist()),
        "EyeLike below": (MAPS[0, 0], [("k", -v - 1)], [], np.zeros((2, 2)).tolist()),
        "Attention windows": (MAPS, [("left_window_size", v), ("right_window_size", v)], [(KEYS, floats), (VALUES, floats)], SEEN),
        "TfIdfVectorizer": (ROW, tf_idf(v), [], [1, 1]),
        "TfIdfVectorizer index": (ROW, tf_idf(0, indexes=(0, v)), [], None),
        "RandomNormal": (None, [("shape", [v, v])], [], None),
        "Unsqueeze": (PAIR, [], [([v], ints)], None),
        "Transpose": (PAIR, [("perm", [v])], [], None),
        "Concat": (PAIR, [("axis", v)], [], None),
        "CumSum": (PAIR, [], [([v], ints)], None),
        "EyeLike": (MAPS[0, 0], [("k", v)], [], np.zeros((2, 2)).tolist()),
        "LRN": (MAPS, [("size", v)], [], "any"),
        "MaxPool dilations": (MAPS, [("kernel_shape", [2, 2]), ("dilations", [v, v])], [], None),
        "LpPool": (MAPS, [("kernel_shape", [2, 2]), ("p", v)], [], "any"),
        "Shrink": (PAIR, [("bias", float(v))], [], "any"),
        "Bernoulli": (PAIR, [("dtype", v)], [], None),
        "Cast": (PAIR, [("to", v)], [], None),
        "Multinomial": (MAPS[0, 0], [("sample_size", v)], [], None),
        "DFT": (MAPS, [("axis", 2)], [(v, ints)], None),
        "STFT step": (SIGNAL, [], [(v, ints), None, (4, ints)], "any"),
        "STFT length": (SIGNAL, [], [(1, ints), None, (v, ints)], None),
        "ScatterElements": (PAIR, [], [([v], ints), ([5.0], floats)], None),
        "ScatterND": (PAIR, [], [([[v]], ints), ([5.0], floats)], None),
        "GatherND": (PAIR, [], [([[v]], ints)], None),
        "GatherND batch": (PAIR, [("batch_dims", v)], [([[0]], ints)], None),
        "Col2Im": (MAPS.reshape(1, 4, 4), [], [([v, v], ints), ([2, 2], ints)], None),
        "MaxUnpool": (MAPS, [("kernel_shape", [2, 2])], [(np.zeros((1, 4, 2, 2)), ints), ([1, 4, v, v], ints)], None),
        "MaxUnpool indices": (MAPS, [("kernel_shape", [2, 2])], [(np.full((1, 4, 2, 2), v), ints)], None),
        "MaxRoiPool": (MAPS, [("pooled_shape", [v, v])], [([[0, 0, 0, 1, 1]], floats)], None),
        "RoiAlign": (MAPS, [("output_height", v), ("output_width", v)], [([[0, 0, 1, 1]], floats), ([0], ints)], None),
        "RoiAlign sampling": (MAPS, [("sampling_ratio", v)], [([[0, 0, 1, 1]], floats), ([0], ints)], None),
        "RoiAlign batch": (MAPS, [], [([[0, 0, 1, 1]], floats), ([v], ints)], None),
        "NonMaxSuppression": (MAPS.reshape(1, 4, 4), [], [(np.ones((1, 1, 4)), floats), (v, ints)], "any"),
        "CenterCropPad": (MAPS, [], [([1, 4, v, v], ints)], None),
        "AffineGrid": (np.ones((1, 2, 3), np.float32), [], [([1, 1, v, v], ints)], None),
        "Conv group": (MAPS, [("group", v)], [(np.ones((4, 4, 1, 1)), floats)], None),
        "ConvTranspose output": (MAPS, [("output_shape", [v, v])], [(np.ones((4, 4, 1, 1)), floats)], None),
        "ConvTranspose padding": (MAPS, [("output_padding", [v, v])], [(np.ones((4, 4, 1, 1)), floats)], None),
        "ConvTranspose strides": (MAPS, [("strides", [v, v])], [(np.ones((4, 4, 1, 1)), floats)], None),
        "GlobalLpPool": (MAPS, [("p", v)], [], "any"),
        "ReverseSequence": (MAPS[0, 0], [("batch_axis", 0), ("time_axis", 1)], [([v, v], ints)], None),
        "Compress": (PAIR, [("axis", v)], [([1], "bool")], None),
        "Squeeze": (PAIR, [], [([v], ints)], None),
        "ReduceSum": (PAIR, [], [([v], ints)], None),
        "ArgMax": (PAIR, [("axis", v)], [], None),
        "Softmax": (PAIR, [("axis", v)], [], None),
        "Upsample": (MAPS, [], [([1, 1, float(v), float(v)], floats)], None),
        "Shape": (MAPS, [("start", v)], [], []),
        "Shape end": (MAPS, [("end", v)], [], [1, 4, 2, 2]),
        "Shape before": (MAPS, [("start", -v - 1)], [], [1, 4, 2, 2]),
        "BitShift": (ROW, [("direction", "LEFT")], [([v, v, v], ints)], "any"),
        "GroupNormalization": (MAPS, [("num_groups", v)], [([1, 1, 1, 1], floats), ([0, 0, 0, 0], floats)], None),
    }


def units():
    return list(kinds(0))


def check(data, x, wanted):
    began = time.process_time()
    refused = out = None
    try:
        out = _core.model_load_memory(data).run(*([] if x is None else [Tensor(x)]))
    except SENSIBLE as error:
        refused = error
    if time.process_time() - began > QUICK:
        raise Wrong(f"takes {time.process_time() - began:.1f} s")
    if refused is not None:
        raise Wrong(f"refused: {refused}") if isinstance(wanted, list) else refused
    out = out[0] if isinstance(out, (tuple, list)) else out
    if wanted is None:
        raise Wrong(f"gives {tuple(out.shape)}")
    if wanted != "any" and out.asnumpy().tolist() != wanted:
        raise Wrong(f"gives {out.asnumpy().tolist()}, wanted {wanted}")


def cases(unit):
    op = unit.split(" ")[0]
    for v in HUGE:
        x, attributes, constants, wanted = kinds(v)[unit]
        data = file_of(op, x, attributes, constants)
        yield f"with {v}", lambda: check(data, x, wanted)

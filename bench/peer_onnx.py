# SPDX-License-Identifier: Apache-2.0
"""Rows of ``make bench-peers`` that run a network, with runtimes for ONNX files: ``python bench/peer_onnx.py onnxruntime|openvino``.

The files are in the folder SPORE_BENCH_ONNX; bench/peers.py has them written by spore."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from inference_data import data
from peer_worker import THREADS, serve


def path_of(name, batch):
    return os.path.join(os.environ["SPORE_BENCH_ONNX"], f"{name}_{batch}.onnx")


def with_onnxruntime(name, batch):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    session = onnxruntime.InferenceSession(path_of(name, batch), options, providers=["CPUExecutionProvider"])
    feed = {session.get_inputs()[0].name: data(name, batch)}
    return lambda: session.run(None, feed)


def with_openvino(name, batch):
    import openvino
    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1}
    request = openvino.compile_model(path_of(name, batch), "CPU", config).create_infer_request()
    x = data(name, batch)
    return lambda: request.infer([x], share_inputs=True)


serve({"infer": with_onnxruntime if sys.argv[1] == "onnxruntime" else with_openvino})

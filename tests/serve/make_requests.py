# SPDX-License-Identifier: Apache-2.0
"""Writes requests/: what clients send, a letter in front says which parser it is for (fuzz/fuzz_serve.c). Run it by hand when a protocol grows."""
import io
import json
import pathlib
import struct
import subprocess
import zlib

import numpy as np
from http2 import message, packed

FOLDER = pathlib.Path(__file__).parent / "requests"
X, I = np.array([[0.5, 1], [2, -3]], np.float32), np.array([[1], [-2]], np.int32)


def frame(data):
    return b"\0" + struct.pack(">I", len(data)) + data


def rest(binary=False):
    inputs = [{"name": "x", "shape": [2, 2], "datatype": "FP32", "data": X.tolist()}, {"name": "i", "shape": [2, 1], "datatype": "INT32", "data": [1, -2]}]
    if binary:
        inputs[0] = {"name": "x", "shape": [2, 2], "datatype": "FP32", "parameters": {"binary_data_size": X.nbytes}}
    return json.dumps({"id": "a\u00e9", "parameters": {"timeout": 1000000, "binary_data_output": binary}, "inputs": inputs, "outputs": [{"name": "j"}, {"name": "y"}]}).encode()


def tensor(name, datatype, shape, *more):
    return message((1, name), (2, datatype), (3, packed(shape)), *more)


def item(name, x, dtype):
    return (1, message((1, name), (2, message((1, message((1, packed(x.shape)))), (2, dtype), (3, x.tobytes())))))


def saved(write, *arrays, **named):
    out = io.BytesIO()
    write(out, *arrays, **named)
    return out.getvalue()


TEXTS = ["a", "grün", "", "b c"]
PACKED = b"".join(struct.pack("<I", len(t.encode())) + t.encode() for t in TEXTS)


def texts(**more):
    return json.dumps({"inputs": [{"name": "x", "shape": [2, 2], "datatype": "BYTES", **more}]}).encode()


def region(size, offset=0):
    return {"shared_memory_region": "r", "shared_memory_byte_size": size, "shared_memory_offset": offset}


def region_grpc(number, size):
    """Entries of a map of parameters: field `number` of an input or output."""
    return [(number, message((1, "shared_memory_region"), (2, message((3, "r"))))), (number, message((1, "shared_memory_byte_size"), (2, message((2, size)))))]


def main():
    FOLDER.mkdir(exist_ok=True)
    b64 = {"b64": "AAAAPwAAgD8=", "type": "fp32", "shape": [2]}
    samples = {
        "head": b"hPOST /v2/models/m/infer?a=b HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\nConnection: keep-alive, close\r\nExpect: 100-continue\r\n\r\n",
        "head_chunked": b"hGET http://h/v2 HTTP/1.1\r\nhost: x\r\nTransfer-Encoding: chunked\r\nX-Long:  \t value \t\r\n\r\n",
        "chunks": b"c4;a=b\r\nWiki\r\n10\r\n0123456789abcdef\r\n0\r\nTrailer: x\r\n\r\n",
        "kserve_rest": b"k" + rest(),
        "kserve_rest_binary": b"b" + rest(True) + X.tobytes(),
        "kserve_grpc_raw": b"g" + frame(message((1, "m"), (2, "1"), (3, "id"), (4, message((1, "timeout"), (2, message((2, 1000000))))), (5, tensor("x", "FP32", X.shape)),
                                                (5, tensor("i", "INT32", I.shape)), (6, message((1, "y"))), (7, X.tobytes()), (7, I.tobytes()))),
        "kserve_grpc": b"g" + frame(message((1, "m"), (5, tensor("x", "FP32", X.shape, (5, message((6, X.tobytes()))))), (5, tensor("i", "INT32", I.shape, (5, message((2, packed(I.ravel())))))))),
        "mindspore_rest": b"m" + json.dumps({"instances": [{"x": [0.5, 1], "i": [3]}, {"x": b64, "i": [4]}]}).encode(),
        "mindspore_rest_whole": b"m" + json.dumps({"instances": {"x": X.tolist(), "i": I.tolist()}}).encode(),
        "mindspore_grpc": b"p" + frame(message((1, message((1, "m"), (2, "predict"))), *[(2, message(item("x", x, 11), item("i", i, 6))) for x, i in zip(X, I)])),
        "texts_rest": b"t" + texts(data=[TEXTS[:2], TEXTS[2:]]),
        "texts_rest_binary": b"T" + texts(parameters={"binary_data_size": len(PACKED)}) + PACKED,
        "texts_grpc": b"G" + frame(message((1, "m"), (5, tensor("x", "BYTES", (2, 2), (5, message(*[(8, t) for t in TEXTS])))))),
        "texts_grpc_raw": b"G" + frame(message((1, "m"), (5, tensor("x", "BYTES", (2, 2))), (7, PACKED))),
        "npy": b"y" + saved(np.save, X),
        "npz": b"z" + saved(np.savez_compressed, x=X, i=I),
        "octets": b"o" + X.tobytes(),
        "stream": b"s" + frame(message((1, "m"), (3, "id"), (5, tensor("x", "FP32", X.shape)), (5, tensor("i", "INT32", I.shape)), (7, X.tobytes()), (7, I.tobytes()))),
        "gzip": b"e" + zlib.compress(rest(), wbits=31),
        "zstd": b"E" + subprocess.run(["zstd", "-q"], input=rest(), capture_output=True, check=True).stdout,
        "region_rest": b"x" + json.dumps({"inputs": [{"name": "x", "shape": [2, 2], "datatype": "FP32", "parameters": region(16)}, {"name": "i", "shape": [2, 1], "datatype": "INT32", "data": [1, -2]}],
                                          "outputs": [{"name": "y", "parameters": region(16, 32)}, {"name": "j"}]}).encode(),
        "region_grpc": b"X" + frame(message((1, "m"), (5, tensor("x", "FP32", X.shape, *region_grpc(4, 16))), (5, tensor("i", "INT32", I.shape, (5, message((2, packed(I.ravel())))))),
                                            (6, message((1, "y"), *region_grpc(2, 16))))),
        "override": b"l" + json.dumps({"max_batch_size": 4, "version_policy": {"specific": {"versions": [1, 2]}}, "instance_group": [{"count": 2, "kind": "KIND_CPU"}],
                                       "dynamic_batching": {"max_queue_delay_microseconds": 100, "default_queue_policy": {"max_queue_size": 9}}}).encode(),
        "reflection": b"r" + frame(message((1, "host"), (7, ""))),
        "reflection_symbol": b"r" + frame(message((4, "inference.GRPCInferenceService"))),
    }
    for name, data in samples.items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()

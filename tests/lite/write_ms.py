# SPDX-License-Identifier: Apache-2.0
"""Writes MindSpore Lite files for tests: a small builder of flatbuffers, and the tables of the format by the rows of src/formats/lite.

A table is a dict {field: (letter, value)}; letters are those of lite_schema.c, and t for a table, T for a list of tables, B for bytes."""
import pathlib
import re
import struct

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r'\{(\d+), "(\w+)", "([^"]*)"')
TYPES = {"bool": 30, "int8": 32, "int16": 33, "int32": 34, "int64": 35, "uint8": 37, "float16": 42, "float32": 43, "float64": 44}
SIZES = {"l": "<q", "i": "<i", "u": "<I", "b": "<B", "c": "<b", "f": "<f", "d": "<d"}


def schema(name="lite_schema.c"):
    """Operators by name: number, letters of their fields."""
    text = (ROOT / "src/formats/lite" / name).read_text()
    return {m[2]: (int(m[1]), re.sub(r"=[-\d.e]+|,", "", m[3])) for m in ROW.finditer(text)}


class Builder:
    """Tables one behind the other; what they lead to is written after them."""

    def __init__(self):
        self.data, self.waiting = bytearray(), []

    def align(self, n, after=0):
        while (len(self.data) + after) % n:
            self.data.append(0)

    def later(self, at, letter, value):
        self.waiting.append((at, letter, value))

    def table(self, fields):
        """Place of the table."""
        top = max(fields, default=-1) + 1
        places, at = {}, 4
        for number, (letter, _) in sorted(fields.items()):
            size = struct.calcsize(SIZES.get(letter, "<I"))
            at += -at % size
            places[number] = at
            at += size
        self.align(8, 4 + 2 * top)
        self.data += struct.pack("<HH", 4 + 2 * top, at)
        for number in range(top):
            self.data += struct.pack("<H", places.get(number, 0))
        start = len(self.data)
        self.data += struct.pack("<i", 4 + 2 * top) + bytes(at - 4)
        for number, (letter, value) in fields.items():
            if letter in SIZES:
                struct.pack_into(SIZES[letter], self.data, start + places[number], value)
            else:
                self.later(start + places[number], letter, value)
        return start

    def vector(self, letter, value):
        if letter == "s":
            value = value.encode() + b"\0"
            self.align(4)
            at = len(self.data)
            self.data += struct.pack("<I", len(value) - 1) + value
            return at
        if letter == "B":
            self.align(16, 4)
            at = len(self.data)
            self.data += struct.pack("<I", len(value)) + value
            return at
        code = {"L": "q", "I": "i", "U": "I", "F": "f"}[letter]
        self.align(8, 4)
        at = len(self.data)
        self.data += struct.pack(f"<I{len(value)}{code}", len(value), *value)
        return at

    def place(self, letter, value):
        if letter == "t":
            return self.table(value)
        if letter == "V":
            return self.table({0: ("T", [{0: ("L", row)} for row in value])})
        if letter == "T":
            self.align(4)
            at = len(self.data)
            self.data += struct.pack("<I", len(value)) + bytes(4 * len(value))
            for i, entry in enumerate(value):
                self.later(at + 4 + 4 * i, "t", entry)
            return at
        return self.vector(letter, value)

    def finish(self, root, mark):
        self.data += bytes(4) + mark
        self.later(0, "t", root)
        while self.waiting:
            at, letter, value = self.waiting.pop(0)
            struct.pack_into("<I", self.data, at, self.place(letter, value) - at)
        return bytes(self.data)


def quant(scale, zero=0, bits=8, factor=1.0, shift=0.0, used=True):
    return {0: ("d", scale), 1: ("i", zero), 5: ("i", bits), 6: ("b", used), 7: ("f", factor), 8: ("f", shift)}


def tensor(shape=(), dtype="float32", data=None, name="", quants=(), packing=0, clusters=(), huffman=False, outside=None):
    """A tensor; data: an array, or bytes as they are stored."""
    if isinstance(data, np.ndarray):
        shape, dtype = data.shape, str(data.dtype)
        data = np.ascontiguousarray(data).tobytes()
    t = {0: ("i", 0), 1: ("i", TYPES[dtype]), 2: ("I", list(shape)), 3: ("i", 1), 9: ("s", name)}
    if data is not None:
        t[6] = ("B", data)
    if quants:
        t[7] = ("T", list(quants))
    if clusters:
        t[8] = ("F", list(clusters))
    if huffman:
        t[10] = ("b", 1)
    if packing:
        t[11] = ("i", packing)
    if outside:
        t[12] = ("T", [{1: ("s", outside[0]), 2: ("l", outside[1]), 3: ("l", outside[2])}])
    return t


def node(op, inputs, outputs, name="", rows=None, **fields):
    """fields: f0=..., f3=...: by their place in the schema."""
    tag, letters = (rows or schema())[op]
    value = {int(k[1:]): (letters[int(k[1:])], v) for k, v in fields.items()}
    return {0: ("s", name or op), 2: ("t", {0: ("b", tag), 1: ("t", value)}), 3: ("U", inputs), 4: ("U", outputs), 5: ("i", 0)}


def model(nodes, tensors, inputs, outputs, version="MindSpore Lite 2.3.0", mark=b"MSL2", graphs=None):
    graphs = graphs or [("main", inputs, outputs, range(len(nodes)))]
    return Builder().finish({
        0: ("s", "test"), 1: ("s", version), 2: ("i", 3), 3: ("U", inputs), 4: ("U", outputs), 6: ("T", nodes), 7: ("T", tensors),
        8: ("T", [{0: ("s", n), 1: ("U", i), 2: ("U", o), 3: ("U", list(k)), 4: ("U", [])} for n, i, o, k in graphs])}, mark)


def one(op, inputs, out_shape, out_dtype="float32", quants_out=(), n_out=1, **fields):
    """A model of one node. inputs: arrays for constants, ('float32', shape) for inputs of the model, or tables of tensor()."""
    tensors, faces = [], []
    for i, x in enumerate(inputs):
        if isinstance(x, tuple):
            faces.append(i)
            tensors.append(tensor(x[1], x[0], name=f"x{i}", quants=x[2] if len(x) > 2 else ()))
        else:
            tensors.append(x if isinstance(x, dict) else tensor(data=np.asarray(x), name=f"w{i}"))
    outs = list(range(len(inputs), len(inputs) + n_out))
    for k in outs:
        tensors.append(tensor(out_shape, out_dtype, name=f"y{k - len(inputs)}" if n_out > 1 else "y", quants=quants_out))
    return model([node(op, list(range(len(inputs))), outs, **fields)], tensors, faces, outs)


def low_first(values, bits):
    """Numbers one behind the other, least significant bit first."""
    stream = [v >> k & 1 for v in values for k in range(bits)]
    return np.packbits(stream, bitorder="little").tobytes()


def high_first(pairs):
    """(number, bits) one behind the other, most significant bit first."""
    stream = [v >> k & 1 for v, bits in pairs for k in reversed(range(bits))]
    return np.packbits(stream).tobytes()


def huffman(q):
    """Bytes as keys, their codes, and a string of codes."""
    keys = np.unique(q).tolist() + [128]
    codes = {k: format(i, "05b") for i, k in enumerate(keys)}
    bits = "".join(codes[int(v)] for v in q.ravel()) + codes[128]
    text = " ".join(map(str, keys)) + " #" + " ".join(codes[k] for k in keys) + " #"
    return text.encode() + np.packbits([int(b) for b in bits]).tobytes()


def indexed(q):
    """Numbers of 4 bits as places in a list of values."""
    values = np.unique(q)
    bits = int(np.ceil(np.log2(len(values))))
    return high_first([(len(values), 4)] + [(int(v) + 8, 4) for v in values] + [(int(np.searchsorted(values, v)), bits) for v in q.ravel()])


def sparse(q, zero):
    """Numbers of 4 bits, of which those that are the zero point are left out."""
    flat, at = q.ravel(), np.flatnonzero(q.ravel() != zero)
    values = np.unique(flat[at])
    bits = int(np.ceil(np.log2(len(values)))) if len(values) > 1 else 0
    gaps = np.diff(np.concatenate([[-1], at])) - 1
    return high_first([(6, 8), (len(at), 32), (len(values) % 16, 4)] + [(int(v) + 8, 4) for v in values] +
                      [(int(np.searchsorted(values, flat[k])), bits) for k in at] + [(int(g), 6) for g in gaps])


def fse(symbols, centroids, integers):
    """Symbols coded with finite states; see lite_packed.c."""
    log, n = 7, len(centroids)
    size = 1 << log
    counts = np.bincount(symbols, minlength=n)
    frequency = np.maximum(1, counts * (size - n) // counts.sum())
    frequency[np.argmax(frequency)] += size - frequency.sum()
    where, at = [[] for _ in range(n)], 0
    spread = [0] * size
    for s in range(n):
        for _ in range(frequency[s]):
            spread[at] = s
            at = at + (size >> 1) + (size >> 3) + 3 & size - 1
    for i, s in enumerate(spread):
        where[s].append(i)
    stream, state = [], size
    push = lambda v, bits: stream.extend(v >> k & 1 for k in reversed(range(bits)))
    for s in symbols:
        bits = 0
        while state >> bits >= 2 * frequency[s]:
            bits += 1
        push(state & (1 << bits) - 1, bits)
        state = size + where[s][(state >> bits) - frequency[s]]
    push(state - size, log)
    words = [stream[k:k + 64] for k in range(0, len(stream), 64)]
    last = len(words[-1])
    head = np.array([n, log], np.uint16).tobytes() + np.array([len(words)], np.uint32).tobytes() + frequency.astype(np.uint32).tobytes()
    head += bytes(-len(head) % 8)
    head += np.array(centroids, np.int32 if integers else np.float32).tobytes()
    head += bytes(-len(head) % 8)
    body = b"".join(int("".join(map(str, w)).ljust(64, "0"), 2).to_bytes(8, "little") for w in words)
    return head + body + bytes([last])

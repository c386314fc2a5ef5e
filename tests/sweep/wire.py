# SPDX-License-Identifier: Apache-2.0
"""Protobuf messages and FlatBuffers as data that can be changed, without any package: enough of ONNX, MindIR and TensorFlow Lite to reach
every number that stands in a file."""
import struct

import numpy as np

# What the fields of a message hold: another message; "i" integers, "f" floats, "d" doubles (alone or packed), "raw" a tensor's bytes.
ONNX = {
    "Model": {7: "Graph", 25: "Function"},
    "Graph": {1: "Node", 5: "Tensor", 11: "Info", 12: "Info"},
    "Function": {7: "Node"},
    "Node": {5: "Attribute"},
    "Attribute": {2: "f", 3: "i", 4: "text", 5: "Tensor", 6: "Graph", 7: "f", 8: "i", 20: "i"},
    "Tensor": {1: "i", 2: "i", 4: "f", 5: "i", 7: "i", 9: "raw", 10: "d", 11: "i"},
    "Info": {2: "Type"}, "Type": {1: "TensorType"}, "TensorType": {1: "i", 2: "Shape"}, "Shape": {1: "Dim"}, "Dim": {1: "i"},
}
ONNX_DTYPES = {1: "f4", 2: "u1", 3: "i1", 5: "i2", 6: "i4", 7: "i8", 10: "f2", 11: "f8", 12: "u4", 13: "u8"}
MINDIR = {
    "Model": {7: "Graph", 8: "Graph", 12: "Primitive"},
    "Graph": {1: "Node", 3: "Tensor", 5: "Info", 6: "Info", 8: "Attribute"},
    "Node": {5: "Attribute", 8: "Attribute"},
    "Primitive": {3: "Attribute"},
    "Attribute": {2: "f", 3: "i", 4: "d", 5: "text", 6: "Tensor", 8: "f", 9: "d", 10: "i", 12: "Tensor", 16: "i", 17: "Attribute"},
    "Tensor": {1: "i", 2: "i", 9: "raw"},
    "Info": {2: "Tensor"},
}
MINDIR_DTYPES = {1: "f4", 2: "u1", 3: "i1", 5: "i2", 6: "i4", 7: "i8", 10: "f2", 11: "f8", 12: "u4", 13: "u8"}


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def varint(value):
    value &= 2 ** 64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def signed(value):
    return value - 2 ** 64 if value >= 2 ** 63 else value


class Message:
    """Fields in order: [number, wire type, value]; a known message is a Message, everything else a number or bytes."""

    def __init__(self, data, schema, kind):
        self.kind, self.fields, at = kind, [], 0
        known = schema.get(kind, {})
        while at < len(data):
            key, at = read_varint(data, at)
            number, wire = key >> 3, key & 7
            if wire == 0:
                value, at = read_varint(data, at)
                value = signed(value)
            elif wire == 2:
                n, at = read_varint(data, at)
                value, at = data[at:at + n], at + n
                if known.get(number, "")[:1].isupper():
                    value = Message(value, schema, known[number])
            else:
                n = {1: 8, 5: 4}[wire]
                value, at = data[at:at + n], at + n
            self.fields.append([number, wire, value])

    def field(self, number):
        """The first value of a field; None where it is absent."""
        return next((value for found, _, value in self.fields if found == number), None)

    def bytes(self):
        out = bytearray()
        for number, wire, value in self.fields:
            out += varint(number << 3 | wire)
            if wire == 0:
                out += varint(value)
            elif wire == 2:
                value = value.bytes() if isinstance(value, Message) else value
                out += varint(len(value)) + value
            else:
                out += value
        return bytes(out)

    def first(self, number):
        return next((f[2] for f in self.fields if f[0] == number), None)


def messages(message, kind, path=""):
    """All messages of a kind inside, with a text that tells where."""
    name = message.first(1) if message.kind in ("Attribute",) else None
    here = path + (f"/{bytes(name).decode(errors='replace')}" if isinstance(name, (bytes, bytearray)) else "")
    if message.kind == kind:
        yield here, message
    for _, _, value in message.fields:
        if isinstance(value, Message):
            yield from messages(value, kind, f"{here}/{value.kind}")


def unpack(form, data):
    """Numbers of a packed field, in the forms "i", "f" and "d"."""
    if form == "i":
        out, at = [], 0
        while at < len(data):
            value, at = read_varint(data, at)
            out.append(signed(value))
        return out
    return [v[0] for v in struct.iter_unpack("<" + form, data[:len(data) // struct.calcsize(form) * struct.calcsize(form)])]


def pack(form, values):
    return b"".join(varint(v) for v in values) if form == "i" else b"".join(struct.pack("<" + form, clip(form, v)) for v in values)


def clip(form, value):
    return value if form == "d" or value != value or abs(value) == float("inf") else max(min(value, 3.4e38), -3.4e38)


def alone(form, value):
    return value if form == "i" else struct.pack("<" + form, clip(form, value))


def changes(message, schema, dtypes, odd_ints, odd_floats):
    """(text, undo) after each change of a number in the message, one after another; the caller undoes it before the next."""
    known = schema[message.kind]
    fields = message.fields
    for place in range(len(fields)):
        number, wire, value = fields[place]
        form = known.get(number)
        if form in ("i", "f", "d"):
            odd = odd_ints if form == "i" else odd_floats
            if wire == 2:
                values = unpack(form, value)
                lists = [values[:i] + [v] + values[i + 1:] for i in range(min(len(values), 4)) for v in odd] + [[], values + [1], values[:-1], values * 3]
                lists += [[v] * len(values) for v in odd] if len(values) > 1 else []
                for new in lists:
                    fields[place] = [number, wire, pack(form, new)]
                    yield f"{message.kind}.{number}={new[:6]}"
            else:
                for v in odd:
                    fields[place] = [number, wire, alone(form, v)]
                    yield f"{message.kind}.{number}={v}"
            fields[place] = [number, wire, value]
            del fields[place]
            yield f"{message.kind}.{number} removed"
            fields.insert(place, [number, wire, value])
            fields.insert(place, [number, wire, value])
            yield f"{message.kind}.{number} twice"
            del fields[place]
        elif form == "text":
            for text in (b"", b"no such word", b"x" * 300):
                fields[place] = [number, wire, text]
                yield f"{message.kind}.{number}={text[:20]}"
            fields[place] = [number, wire, value]
        elif form == "raw":
            dtype = dtypes.get(message.first(2))
            if dtype is None or len(value) > 4096:
                continue
            array = np.frombuffer(value, "<" + dtype)
            for what, new in odd_arrays(array, odd_ints, odd_floats):
                fields[place] = [number, wire, new.tobytes()]
                yield f"{message.kind} contents {what}"
            fields[place] = [number, wire, value]


def odd_arrays(array, odd_ints, odd_floats):
    odd = odd_ints if array.dtype.kind in "iu" else odd_floats
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        odd = sorted({min(max(v, info.min), info.max) for v in odd})
    with np.errstate(all="ignore"):
        for v in odd:
            yield f"all {v}", np.full_like(array, v)
            for i in range(min(array.size, 4) if array.dtype.kind in "iu" and array.size > 1 else 0):
                new = array.copy()
                new[i] = v
                yield f"{i}: {v}", new


class Flat:
    """A TensorFlow Lite file: the scalars in its tables are changed where they are."""

    def __init__(self, data):
        self.data = bytearray(data)

    def u16(self, at):
        return struct.unpack_from("<H", self.data, at)[0]

    def i32(self, at):
        return struct.unpack_from("<i", self.data, at)[0]

    def u32(self, at):
        return struct.unpack_from("<I", self.data, at)[0]

    def root(self):
        return self.u32(0)

    def field(self, table, number):
        """Where a field lies; None when it is not there."""
        vtable = table - self.i32(table)
        slot = 4 + 2 * number
        offset = self.u16(vtable + slot) if slot < self.u16(vtable) else 0
        return table + offset if offset else None

    def fields(self, table):
        """(number, place, bytes up to the next field) of all that are there."""
        vtable = table - self.i32(table)
        offsets = sorted((self.u16(vtable + at), (at - 4) // 2) for at in range(4, self.u16(vtable), 2) if self.u16(vtable + at))
        ends = [o for o, _ in offsets[1:]] + [self.u16(vtable + 2)]
        return [(number, table + offset, end - offset) for (offset, number), end in zip(offsets, ends)]

    def table(self, at):
        return at + self.u32(at)

    def tables(self, at):
        """Of a vector of tables at this field."""
        start = self.table(at)
        return [self.table(start + 4 + 4 * i) for i in range(self.u32(start))]

# SPDX-License-Identifier: Apache-2.0
"""TFRecord files for tests, byte by byte: `record` around an `example` with features."""
import struct


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", crc32c(length)) + data + struct.pack("<I", crc32c(data))


def varint(n):
    out = b""
    n &= 2**64 - 1
    while n > 127:
        out += bytes((n & 127 | 128,))
        n >>= 7
    return out + bytes((n,))


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def example(packed=True, **features):
    entries = b""
    for name, values in features.items():
        if isinstance(values[0], bytes):
            feature = field(1, b"".join(field(1, value) for value in values))
        elif isinstance(values[0], float):
            numbers = [struct.pack("<f", value) for value in values]
            feature = field(2, field(1, b"".join(numbers)) if packed else b"".join(b"\x0d" + n for n in numbers))
        else:
            numbers = [varint(value) for value in values]
            feature = field(3, field(1, b"".join(numbers)) if packed else b"".join(b"\x08" + n for n in numbers))
        entries += field(1, field(1, name.encode()) + field(2, feature))
    return field(1, entries)

# SPDX-License-Identifier: Apache-2.0
"""A small client of HTTP/2 and gRPC, so that the tests need none: it writes headers without compression, and lets nghttp2, which the server is
linked with anyway, read those of replies. And protobuf messages, written from pairs of field numbers and values."""
import ctypes
import ctypes.util
import socket
import struct

DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1


class Pair(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("value", ctypes.c_void_p), ("name_bytes", ctypes.c_size_t), ("value_bytes", ctypes.c_size_t), ("flags", ctypes.c_uint8)]


class Inflater:
    def __init__(self):
        self.library = ctypes.CDLL("libnghttp2.so.14")
        self.library.nghttp2_hd_inflate_hd2.restype = ctypes.c_ssize_t
        self.state = ctypes.c_void_p()
        assert self.library.nghttp2_hd_inflate_new(ctypes.byref(self.state)) == 0

    def read(self, data):
        """The headers of a block."""
        found, at = {}, 0
        buffer = ctypes.create_string_buffer(data, len(data))
        while True:
            pair, flags = Pair(), ctypes.c_int()
            n = self.library.nghttp2_hd_inflate_hd2(self.state, ctypes.byref(pair), ctypes.byref(flags), ctypes.byref(buffer, at), ctypes.c_size_t(len(data) - at), 1)
            assert n >= 0, n
            at += n
            if flags.value & 2:
                found[ctypes.string_at(pair.name, pair.name_bytes).decode()] = ctypes.string_at(pair.value, pair.value_bytes).decode()
            if flags.value & 1:
                self.library.nghttp2_hd_inflate_end_headers(self.state)
                return found


def literal(name, value):
    """A header without compression; names and values of any length below 16 K."""
    def text(t):
        n = len(t)
        if n < 127:
            return bytes([n]) + t
        return b"\x7f" + (bytes([n - 127]) if n - 127 < 128 else bytes([(n - 127) & 127 | 128, (n - 127) >> 7])) + t
    return b"\0" + text(name.encode()) + text(value.encode())


class Http2:
    def __init__(self, port, sock=None, timeout=60):
        self.sock = sock or socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.inflater, self.stream, self.buffer = Inflater(), -1, b""
        self.windows = {} # stream -> bytes that it was opened by since its start
        self.goaways = [] # the last stream that each says was taken
        self.replies = {} # stream -> [headers, body, trailers, ended]
        # A window that no reply of the tests fills.
        self.sock.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self.frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1 << 30)) + self.frame(WINDOW, 0, 0, struct.pack(">I", 1 << 30)))

    @staticmethod
    def frame(kind, flags, stream, data=b""):
        return struct.pack(">I", len(data))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + data

    def begin(self, method, path, headers=(), body=b"", end=True):
        """Send a request; its stream."""
        self.stream += 2
        pairs = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "x"), *headers]
        self.sock.sendall(self.frame(HEADERS, END_HEADERS | (END_STREAM if end and not body else 0), self.stream, b"".join(literal(*p) for p in pairs)))
        for at in range(0, len(body), 16384):
            piece = body[at:at + 16384]
            self.sock.sendall(self.frame(DATA, END_STREAM if end and at + 16384 >= len(body) else 0, self.stream, piece))
        self.replies[self.stream] = [{}, b"", {}, False]
        return self.stream

    def reset(self, stream):
        self.sock.sendall(self.frame(RESET, 0, stream, struct.pack(">I", 8)))

    def receive(self):
        """One frame; its kind."""
        while len(self.buffer) < 9 or len(self.buffer) < 9 + int.from_bytes(self.buffer[:3], "big"):
            more = self.sock.recv(65536)
            if not more:
                raise ConnectionError("closed")
            self.buffer += more
        n = int.from_bytes(self.buffer[:3], "big")
        kind, flags, stream = self.buffer[3], self.buffer[4], int.from_bytes(self.buffer[5:9], "big")
        data, self.buffer = self.buffer[9:9 + n], self.buffer[9 + n:]
        if kind == SETTINGS and not flags & ACK:
            self.sock.sendall(self.frame(SETTINGS, ACK, 0))
        if kind == WINDOW:
            self.windows[stream] = self.windows.get(stream, 0) + int.from_bytes(data, "big")
        if kind == GOAWAY:
            self.goaways.append(int.from_bytes(data[:4], "big"))
        reply = self.replies.get(stream)
        if kind == HEADERS:
            found = self.inflater.read(data)
            reply[2 if reply[0] else 0].update(found)
        elif kind == DATA:
            reply[1] += data
        if reply and (kind == RESET or (kind in (HEADERS, DATA) and flags & END_STREAM)):
            reply[3] = True
        return kind

    def finish(self, stream):
        """(headers, body, trailers)"""
        while not self.replies[stream][3]:
            self.receive()
        return tuple(self.replies[stream][:3])

    def ask(self, *arguments, **keywords):
        return self.finish(self.begin(*arguments, **keywords))

    def grpc_begin(self, path, message, headers=()):
        return self.begin("POST", path, [("content-type", "application/grpc"), ("te", "trailers"), *headers], b"\0" + struct.pack(">I", len(message)) + message)

    def grpc_finish(self, stream):
        """(status, message of a failure, reply)"""
        headers, body, trailers = self.finish(stream)
        assert headers.get(":status") == "200" and headers["content-type"] == "application/grpc", headers
        assert not body or (body[0] == 0 and int.from_bytes(body[1:5], "big") == len(body) - 5)
        end = trailers or headers
        return int(end["grpc-status"]), end.get("grpc-message", ""), body[5:]

    def grpc(self, path, message=b"", headers=()):
        return self.grpc_finish(self.grpc_begin(path, message, headers))

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# --- protobuf ---------------------------------------------------------------------------------------------------------

def varint(n):
    n = int(n) & ((1 << 64) - 1)
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def message(*fields):
    """Of (number, value): integers, texts and bytes."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def packed(numbers):
    return b"".join(map(varint, numbers))


def fields(data):
    """The other way round: [(number, value)]; values are integers or bytes."""
    def number(at):
        v = shift = 0
        while True:
            b = data[at]
            v |= (b & 127) << shift
            at, shift = at + 1, shift + 7
            if b < 128:
                return v, at
    out, at = [], 0
    while at < len(data):
        key, at = number(at)
        v, at = number(at)
        if key & 7 == 2:
            v, at = data[at:at + v], at + v
        out.append((key >> 3, v))
    return out

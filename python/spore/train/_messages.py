# SPDX-License-Identifier: Apache-2.0
"""Messages of Protocol Buffers as Python objects, without a library for them: fields are attributes, messages are read when they
are first asked for. `classes` makes the classes of a file from a table of their fields: 'number name kind', where a kind is s text,
b bytes, i whole number, o bool, f float, d double, map of texts, or a message; * for several, |group for fields of which one is set."""
import struct
from spore._core import type_name as _type_name

__all__ = ["DecodeError", "Message", "classes"]

_EMPTY = {"s": "", "b": b"", "i": 0, "o": False, "f": 0.0, "d": 0.0}
_WIRE = {"i": 0, "o": 0, "f": 5, "d": 1}      # others: 2, bytes with a length
_TYPES = {"s": str, "b": bytes, "i": int, "o": bool, "f": (int, float), "d": (int, float)}


class DecodeError(ValueError):
    """The bytes are no message."""


# --- the wire --------------------------------------------------------------------------------------------------------

def _take_varint(data, at):
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise DecodeError(f"byte {at}: a number does not end")


def _take(data, at, wire):
    """(number or bytes, where the next field begins)"""
    if wire == 0:
        return _take_varint(data, at)
    if wire == 2:
        size, at = _take_varint(data, at)
    elif wire in (1, 5):
        size = 8 if wire == 1 else 4
    else:
        raise DecodeError(f"byte {at}: a field of wire type {wire}, which messages do not have")
    if size > len(data) - at:
        raise DecodeError(f"byte {at}: a field of {size} bytes begins, but only {len(data) - at} are left")
    return data[at:at + size], at + size


def _varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _sized(data):
    return _varint(len(data)) + data


def _decode(kind, data, family):
    if kind == "i":
        return data - (1 << 64) if data >> 63 else data
    if kind == "o":
        return bool(data)
    if kind in "fd":
        return struct.unpack("<" + kind, data)[0]
    if kind == "s":
        return bytes(data).decode("utf-8", "surrogateescape")
    if kind == "b":
        return data                 # a view of the file: large weights are not copied
    return family[kind](data)


def _encode(kind, value):
    if kind in "io":
        return _varint(int(value))
    if kind in "fd":
        return struct.pack("<" + kind, value)
    if kind == "s":
        return _sized(value.encode("utf-8", "surrogateescape"))
    if kind == "b":
        return _sized(bytes(value))
    return _sized(value.SerializeToString())


# --- messages --------------------------------------------------------------------------------------------------------

class _Several(list):
    """A repeated field."""

    def __init__(self, kind, family):
        super().__init__()
        self._kind, self._family = kind, family

    def add(self, **fields):
        """A new message at the end."""
        self.append(self._family[self._kind](**fields))
        return self[-1]


class Message:
    """A message: fields are attributes. Those of a kind that the class does not know are kept as they are."""

    _known, _groups, _family = {}, {}, {}

    def __init__(self, data=None, **fields):
        object.__setattr__(self, "_data", data)
        object.__setattr__(self, "_values", None if data is not None else {})
        object.__setattr__(self, "_unknown", [])
        for name, value in fields.items():
            setattr(self, name, value)

    def _fields(self):
        """The values by name; the bytes are read now."""
        if self._values is None:
            object.__setattr__(self, "_values", self._read(self._data))
        return self._values

    def _read(self, data):
        at, values, by_number = 0, {}, {field[0]: (name, *field[1:]) for name, field in self._known.items()}
        data = memoryview(data)
        while at < len(data):
            tag, at = _take_varint(data, at)
            start = at
            content, at = _take(data, at, tag & 7)
            name, kind, several = by_number.get(tag >> 3, (None, None, False))
            wire = _WIRE.get(kind, 2)
            if name is None or (tag & 7 != wire and not (several and tag & 7 == 2)):
                self._unknown.append(_varint(tag) + bytes(data[start:at]))
            elif kind == "map":
                entry = _Entry(content)
                values.setdefault(name, {})[entry.key] = entry.value
            elif not several:
                values[name] = _decode(kind, content, self._family)
            elif tag & 7 == wire:
                values.setdefault(name, _Several(kind, self._family)).append(_decode(kind, content, self._family))
            else:                   # numbers without their tags
                inner = 0
                while inner < len(content):
                    one, inner = _take(content, inner, wire)
                    values.setdefault(name, _Several(kind, self._family)).append(_decode(kind, one, self._family))
        return values

    def __getattr__(self, name):
        if name.startswith("__") or name not in self._known:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}; it has {', '.join(self._known)}")
        _, kind, several = self._known[name]
        values = self._fields()
        if name not in values:
            if several or kind == "map" or kind not in _EMPTY:
                values[name] = _Several(kind, self._family) if several else {} if kind == "map" else self._family[kind]()
            else:
                return _EMPTY[kind]
        value = values[name]
        return bytes(value) if isinstance(value, memoryview) else value

    def __setattr__(self, name, value):
        if name not in self._known:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}; it has {', '.join(self._known)}")
        _, kind, several = self._known[name]
        if several or kind not in _EMPTY:
            raise AttributeError(f"{type(self).__name__}.{name} cannot be assigned; change what is in it")
        if not isinstance(value, _TYPES[kind]):
            raise TypeError(f"{type(self).__name__}.{name} is {value!r} of type {_type_name(value)}, which does not fit")
        self._fields()[name] = value

    def HasField(self, name):
        """Is the field there?"""
        value = self._fields().get(name)
        return bool(value._fields() or value._unknown) if isinstance(value, Message) else name in self._fields()

    def WhichOneof(self, group):
        """Which field of a group is set, or None."""
        return next((name for name in self._groups[group] if self.HasField(name)), None)

    def ClearField(self, name):
        """Leave the field out."""
        self._fields().pop(name, None)

    def CopyFrom(self, other):
        """Become equal to another message."""
        self.ParseFromString(other.SerializeToString())

    @classmethod
    def FromString(cls, data):
        """A new message of these bytes."""
        made = cls()
        made.ParseFromString(data)
        return made

    def ParseFromString(self, data):
        """Take the fields from these bytes."""
        self._unknown.clear()
        object.__setattr__(self, "_values", self._read(bytes(data)))
        return len(data)

    def SerializeToString(self):
        """The bytes of the message, as MindSpore writes them: fields by number."""
        if self._values is None:
            return bytes(self._data)
        out = []
        for name, (number, kind, several) in self._known.items():
            if name not in self._values or isinstance(self._values[name], Message) and not self.HasField(name):
                continue
            tag = _varint(number << 3 | _WIRE.get(kind, 2))
            value = self._values[name]
            if kind == "map":
                out += [tag + _sized(_Entry(key=key, value=text).SerializeToString()) for key, text in value.items()]
            else:
                out += [tag + _encode(kind, one) for one in (value if several else (value,))]
        return b"".join(out + self._unknown)

    def __eq__(self, other):
        return type(other) is type(self) and other.SerializeToString() == self.SerializeToString()

    __hash__ = None

    def __repr__(self):
        lines = []
        for name, value in self._fields().items():
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, Message):
                    lines += [name + " {", *("  " + line for line in repr(one).splitlines()), "}"]
                else:
                    lines.append(f"{name}: {bytes(one[:64]) if isinstance(one, memoryview) else one!r}")
        return "\n".join(lines)


def _class(name, text, family=None, module=__name__, where=""):
    known, groups = {}, {}
    for field in text.split(", "):
        number, field_name, kind = field.split()
        kind, _, group = kind.partition("|")
        known[field_name] = int(number), kind.rstrip("*"), kind.endswith("*")
        if group:
            groups.setdefault(group, []).append(field_name)
    return type(name, (Message,), {"_known": known, "_groups": groups, "_family": family, "__module__": module,
                                   "__doc__": f"{name} {where}."})


_Entry = _class("_Entry", "1 key s, 2 value s")


def classes(fields, module, where):
    """{name: class} of the messages whose fields are given as {name: text}."""
    family = {}
    for name, text in fields.items():
        family[name] = _class(name, text, family, module, where)
    return family

# SPDX-License-Identifier: Apache-2.0
"""MindIR files as messages that can be looked at and changed: what ``custom_func`` of export gets, ``load_mindir`` gives and
``save_mindir`` writes. The classes and fields have the names of MindSpore's own; messages are read when they are first asked for."""
import struct

__all__ = ["ModelProto", "GraphProto", "NodeProto", "TensorProto", "AttributeProto", "ValueInfoProto"]

# number name kind; kinds: s text, b bytes, i whole number, o bool, f float, d double, map of texts, or a message; * for several.
_FIELDS = {
    "ModelProto": "1 ir_version s, 2 producer_name s, 3 producer_version s, 4 domain s, 5 model_version s, 6 doc_string s, 7 graph GraphProto, "
                  "8 functions GraphProto*, 9 preprocessor PreprocessorProto, 10 little_endian o, 11 parallel ParallelProto, "
                  "12 primitives PrimitiveProto*, 13 mind_ir_version i, 14 user_info map",
    "GraphProto": "1 node NodeProto*, 2 name s, 3 parameter TensorProto*, 4 doc_string s, 5 input ValueInfoProto*, 6 output ValueInfoProto*, "
                  "7 bprop_hash s, 8 attribute AttributeProto*, 9 bprop_filepath s, 10 map_parameter MapTensorProto*",
    "NodeProto": "1 input s*, 2 output s*, 3 name s, 4 op_type s, 5 attribute AttributeProto*, 6 doc_string s, 7 domain s, "
                 "8 node_attr AttributeProto*, 9 primal_attr AttributeProto*",
    "ValueInfoProto": "1 name s, 2 tensor TensorProto*, 3 doc_string s, 4 denotation s, 5 attr_info AttributeProto",
    "AttributeProto": "1 name s, 2 f f, 3 i i, 4 d d, 5 s b, 6 t TensorProto, 7 g GraphProto, 8 floats f*, 9 doubles d*, 10 ints i*, 11 strings b*, "
                      "12 tensors TensorProto*, 13 graphs GraphProto*, 14 doc_string s, 15 ref_attr_name s, 16 type i, 17 values AttributeProto*, "
                      "18 seq_info SeqInfoProto, 19 functor FunctorProto",
    "SeqInfoProto": "1 is_dyn_len o, 2 tuple_elem_item AttributeProto",
    "FunctorProto": "1 type i, 2 name s, 3 values AttributeProto*",
    "TensorProto": "1 dims i*, 2 data_type i, 3 float_data f*, 4 int32_data i*, 5 string_data b*, 6 int64_data i*, 7 name s, 8 doc_string s, "
                   "9 raw_data b, 10 double_data d*, 11 uint64_data i*, 12 external_data ExternalDataProto, 13 ref_key s, 14 min_dims i*, "
                   "15 max_dims i*, 16 compression_type i, 17 quant_params QuantParamProto*",
    "ExternalDataProto": "1 location s, 2 offset i, 3 length i",
    "QuantParamProto": "1 quant_algo_name s, 2 attribute AttributeProto*",
    "MapTensorProto": "1 name s, 2 default_value AttributeProto, 3 key_tensor TensorProto, 4 value_tensor TensorProto, 5 status_tensor TensorProto",
    "PrimitiveProto": "1 name s, 2 op_type s, 3 attribute AttributeProto*, 4 instance_name s, 5 prim_type i",
    "PreprocessorProto": "1 op PreprocessOpProto*",
    "PreprocessOpProto": "1 input_columns s, 2 output_columns s, 3 project_columns s, 4 op_type s, 5 operations s, 6 offload o",
    "ParallelProto": "1 layout LayoutProto*",
    "LayoutProto": "1 name s, 2 device_arrangement_int i*, 3 tensor_map_int i*, 4 slice_shape_int i*, 5 field_size i, 6 uniform_split o, "
                   "7 opt_shard_group s, 8 pipeline_shared o, 9 is_send o, 10 peer_rank i, 11 sr_tag i",
}
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


def _decode(kind, data):
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
    return _CLASSES[kind](data)


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

    def __init__(self, kind, values=()):
        super().__init__(values)
        self._kind = kind

    def add(self, **fields):
        """A new message at the end."""
        self.append(_CLASSES[self._kind](**fields))
        return self[-1]


class Message:
    """A message: fields are attributes. Those of a kind that the class does not know are kept as they are."""

    _known = {}

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
                values[name] = _decode(kind, content)
            elif tag & 7 == wire:
                values.setdefault(name, _Several(kind)).append(_decode(kind, content))
            else:                   # numbers without their tags
                inner = 0
                while inner < len(content):
                    one, inner = _take(content, inner, wire)
                    values.setdefault(name, _Several(kind)).append(_decode(kind, one))
        return values

    def __getattr__(self, name):
        if name.startswith("__") or name not in self._known:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}; it has {', '.join(self._known)}")
        _, kind, several = self._known[name]
        values = self._fields()
        if name not in values:
            if several or kind == "map" or kind not in _EMPTY:
                values[name] = _Several(kind) if several else {} if kind == "map" else _CLASSES[kind]()
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
            raise TypeError(f"{type(self).__name__}.{name} is {value!r} of type {type(value).__name__}, which does not fit")
        self._fields()[name] = value

    def HasField(self, name):
        """Is the field there?"""
        value = self._fields().get(name)
        return bool(value._fields() or value._unknown) if isinstance(value, Message) else name in self._fields()

    def ClearField(self, name):
        """Leave the field out."""
        self._fields().pop(name, None)

    def CopyFrom(self, other):
        """Become equal to another message."""
        self.ParseFromString(other.SerializeToString())

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


def _class(name, text):
    known = {}
    for field in text.split(", "):
        number, field_name, kind = field.split()
        known[field_name] = int(number), kind.rstrip("*"), kind.endswith("*")
    return type(name, (Message,), {"_known": known, "__module__": __name__, "__doc__": f"{name} of a MindIR file."})


_Entry = _class("_Entry", "1 key s, 2 value s")
_CLASSES = {name: _class(name, text) for name, text in _FIELDS.items()}
globals().update(_CLASSES)

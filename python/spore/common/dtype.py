# SPDX-License-Identifier: Apache-2.0
"""Types of elements and values: float32, int8, bool_, ... and the questions asked about them.

The objects compare by what they are, not by identity, and pickle to the same object. The engine knows the dtypes a
Tensor
can have by number; those it has no kernels for (int4, the float8 family) exist as names only.
"""
import builtins
import enum

from spore import _core

__all__ = ['Type', 'QuantDtype', 'bool_', 'int8', 'byte', 'int16', 'short', 'int32', 'intc', 'int64', 'long', 'intp',
           'uint8', 'ubyte', 'uint16', 'ushort', 'uint32', 'uintc', 'uint64', 'uintp', 'float16', 'half', 'float32',
           'single', 'float64', 'double', 'complex64', 'cfloat', 'complex128', 'cdouble', 'qint4x2', 'bfloat16',
           'float8_e4m3fn', 'float8_e5m2', 'hifloat8', 'int_', 'uint', 'float_', 'list_', 'tuple_', 'string', 'number',
           'tensor_type', 'type_none', '_null', 'TensorType', 'Int', 'dtype_to_nptype', 'dtype_to_pytype',
           'pytype_to_dtype', 'get_py_obj_dtype']


class Type(_core.DType):
    """Base of all types. `repr` is how it is reached in Python, `str` its name in messages and files."""

    __slots__ = ('_repr', '_text')

    def __init__(self, shown, text):
        self._repr = shown
        self._text = text

    def __repr__(self):
        return 'mindspore.' + self._repr

    def __str__(self):
        return self._text

    def __eq__(self, other):
        return isinstance(other, Type) and self._text == other._text

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._text)

    def __reduce__(self):
        return _by_text, (self._text,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class Number(Type):
    """Anything a Tensor can be made of."""

    __slots__ = ('bits',)

    @property
    def itemsize(self):
        """Bytes of one element."""
        return self.bits // 8

    @property
    def is_floating_point(self):
        """Is it one of the float types?"""
        return isinstance(self, (Float, BFloat))

    @property
    def is_complex(self):
        """Is it one of the complex types?"""
        return isinstance(self, Complex)

    @property
    def is_signed(self):
        """Can it be below zero?"""
        return isinstance(self, (Int, Float, BFloat, Complex))

    def to_complex(self):
        """The complex type whose parts are of this type."""
        if isinstance(self, Complex):
            return self
        return complex128 if self.bits == 64 else complex64

    def to_real(self):
        """The type of the parts of a complex type; other types are their own."""
        if isinstance(self, Complex):
            return float64 if self.bits == 128 else float32
        return self


def _number_class(name, stem, default_bits):
    """Int(32), Float(16) ...: calling the class finds the type."""

    def __new__(cls, *args):
        if len(args) == 1 and isinstance(args[0], builtins.int):
            found = _texts.get(f'{stem}{args[0]}')
            if found is None:
                raise ValueError(f"{name} of {args[0]} bits does not exist")
            return found
        return Number.__new__(cls)

    def __init__(self, shown=None, text=None, bits=None):
        if text is not None:
            Type.__init__(self, shown, text)
            self.bits = bits

    return type(name, (Number,), {'__slots__': (), '__new__': __new__, '__init__': __init__,
                                  '__doc__': f'{name} types; {name}({default_bits}) finds one by its bits.',
                                  '__module__': __name__})


Int = _number_class('Int', 'Int', 32)
UInt = _number_class('UInt', 'UInt', 32)
Float = _number_class('Float', 'Float', 32)
BFloat = _number_class('BFloat', 'BFloat', 16)
Complex = _number_class('Complex', 'Complex', 64)
Bool = _number_class('Bool', 'Bool', 8)


class String(Type):
    """Text."""
    __slots__ = ()


class List(Type):
    """A Python list."""
    __slots__ = ()


class Tuple(Type):
    """A Python tuple."""
    __slots__ = ()


class Dict(Type):
    """A Python dict."""
    __slots__ = ()


class Slice(Type):
    """A Python slice."""
    __slots__ = ()


class TypeNone(Type):
    """The type of None."""
    __slots__ = ()


class TypeNull(Type):
    """No type."""
    __slots__ = ()


class FunctionType(Type):
    """The type of functions."""
    __slots__ = ()


class TypeType(Type):
    """The type of types."""
    __slots__ = ()


class EllipsisType(Type):
    """The type of `...`."""
    __slots__ = ()


class TensorType(Type):
    """The type of Tensors, with or without the dtype of their elements.

    Examples:
        >>> import spore
        >>> from spore.common import dtype
        >>> kind = spore.TensorType(spore.float32)
        >>> kind
        mindspore.tensor[float32]
        >>> kind.element_type()
        mindspore.float32
    """

    __slots__ = ('_element',)

    def __init__(self, element=None):
        if element is None:
            super().__init__('tensor', 'Tensor')
        else:
            super().__init__(f'tensor[{element._repr}]', f'Tensor[{element}]')
        self._element = element

    def element_type(self):
        """Dtype of the elements, or None."""
        return self._element

    def __reduce__(self):
        return TensorType, (self._element,)


NoneType = TypeNone
Ellipsis_ = EllipsisType
_NullType = TypeNull
_texts = {}


def _by_text(text):
    return _texts[text]


def _make(cls, shown, text, bits=None, engine=None):
    made = Number.__new__(cls) if issubclass(cls, Number) else cls.__new__(cls)
    Type.__init__(made, shown, text)
    if bits is not None:
        made.bits = bits
    if engine:
        _core._register_dtype(made, engine)
    _texts[text] = made
    return made


bool_ = _make(Bool, 'bool', 'Bool', 8, 'bool')
int8 = _make(Int, 'int8', 'Int8', 8, 'int8')
int16 = _make(Int, 'int16', 'Int16', 16, 'int16')
int32 = _make(Int, 'int32', 'Int32', 32, 'int32')
int64 = _make(Int, 'int64', 'Int64', 64, 'int64')
uint8 = _make(UInt, 'uint8', 'UInt8', 8, 'uint8')
uint16 = _make(UInt, 'uint16', 'UInt16', 16, 'uint16')
uint32 = _make(UInt, 'uint32', 'UInt32', 32, 'uint32')
uint64 = _make(UInt, 'uint64', 'UInt64', 64, 'uint64')
float16 = _make(Float, 'float16', 'Float16', 16, 'float16')
float32 = _make(Float, 'float32', 'Float32', 32, 'float32')
float64 = _make(Float, 'float64', 'Float64', 64, 'float64')
bfloat16 = _make(BFloat, 'bfloat16', 'BFloat16', 16, 'bfloat16')
complex64 = _make(Complex, 'complex64', 'Complex64', 64, 'complex64')
complex128 = _make(Complex, 'complex128', 'Complex128', 128, 'complex128')
qint4x2 = _make(Int, 'int4', 'Int4', 8)
float8_e4m3fn = _make(Float, 'float8_e4m3fn', 'Float8E4M3FN', 8)
float8_e5m2 = _make(Float, 'float8_e5m2', 'Float8E5M2', 8)
hifloat8 = _make(Float, 'hifloat8', 'HiFloat8', 8)

byte, short, intc, long, intp = int8, int16, int32, int64, int64
ubyte, ushort, uintc, uintp = uint8, uint16, uint32, uint64
half, single, double = float16, float32, float64
cfloat, cdouble = complex64, complex128

int_ = _make(Int, 'int', 'Int', 0)
uint = _make(UInt, 'uint', 'UInt', 0)
float_ = _make(Float, 'float', 'Float', 0)
number = _make(Number, 'number', 'Number', 0)
string = _make(String, 'string_', 'String', engine='string')
list_ = _make(List, 'list_', 'List')
tuple_ = _make(Tuple, 'tuple_', 'Tuple')
dict_ = _make(Dict, 'dict_', 'Dictionary')
slice_ = _make(Slice, 'slice_', 'Slice')
type_none = _make(TypeNone, 'type_none', 'None')
_null = _make(TypeNull, 'Null', 'Null')
function = _make(FunctionType, 'function', 'Func')
type_type = _make(TypeType, 'type_type', 'TypeType')
ellipsis_ = _make(EllipsisType, 'ellipsis', 'Ellipsis')
tensor_type = TensorType()

_float8 = (float8_e4m3fn, float8_e5m2, hifloat8)
number_type = (int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, bfloat16, complex64,
               complex128, qint4x2) + _float8
int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64, bfloat16) + _float8
signed_type = (int8, byte, int16, short, int32, intc, int64, long, float16, half, float32, single, float64, double,
               bfloat16, complex64, complex128) + _float8
complex_type = (complex64, complex128)
all_types = (bool_,) + number_type

_simple_types = {list: list_, tuple: tuple_, type(None): type_none, builtins.bool: bool_, builtins.int: int64,
                 builtins.float: float64, builtins.complex: complex128, str: string, dict: dict_, slice: slice_,
                 type(...): ellipsis_, type(_core.apply): function, type(_make): function, type: type_type}


def _numpy_types():
    import numpy as np
    return {bool_: np.bool_, int8: np.int8, int16: np.int16, int32: np.int32, int64: np.int64, uint8: np.uint8,
            uint16: np.uint16, uint32: np.uint32, uint64: np.uint64, float16: np.float16, float32: np.float32,
            float64: np.float64, complex64: np.complex64, complex128: np.complex128, bfloat16: np.float32,
            int_: np.int32, uint: np.uint32, float_: np.float32, string: np.str_}


def _dtype_to_nptype(type_):
    return _numpy_types()[type_]


def dtype_to_nptype(type_):
    """The numpy type for a dtype; bfloat16, which numpy lacks, is float32 there."""
    return _dtype_to_nptype(type_)


def _dtype_to_pytype(type_):
    return {bool_: builtins.bool, int_: builtins.int, int8: builtins.int, int16: builtins.int, int32: builtins.int,
            int64: builtins.int, uint8: builtins.int, uint16: builtins.int, uint32: builtins.int, uint64: builtins.int,
            float_: builtins.float, float16: builtins.float, float32: builtins.float, float64: builtins.float,
            bfloat16: builtins.float, list_: list, tuple_: tuple, string: str, complex64: builtins.complex,
            complex128: builtins.complex, type_none: type(None)}[type_]


def dtype_to_pytype(type_):
    """The Python type for a dtype."""
    return _dtype_to_pytype(type_)


def _pytype_to_dtype(obj):
    if isinstance(obj, Type):
        return obj
    if not isinstance(obj, type):
        raise TypeError(f"pytype_to_dtype: obj must be a Python type like int or float, but got {obj!r} of type "
                        f"{type(obj)}.")
    if obj in _simple_types:
        return _simple_types[obj]
    for dtype, nptype in _numpy_types().items():
        if nptype is obj and dtype not in (bfloat16, int_, uint, float_):
            return dtype
    raise NotImplementedError(f"pytype_to_dtype: the type {obj} has no dtype.")


def pytype_to_dtype(obj):
    """The dtype for a Python or numpy type."""
    return _pytype_to_dtype(obj)


def _get_py_obj_dtype(obj):
    if isinstance(obj, _core.Tensor):
        return TensorType(obj.dtype)
    if isinstance(obj, Type):
        return type_type
    if callable(obj) and not isinstance(obj, type):
        return function
    return _pytype_to_dtype(type(obj))


def get_py_obj_dtype(obj):
    """The type of a Python value."""
    return _get_py_obj_dtype(obj)


def type_size_in_bytes(dtype):
    """Bytes of one element."""
    if not isinstance(dtype, Number):
        raise TypeError(f"type_size_in_bytes: a dtype is wanted, but got {dtype!r}.")
    return dtype.itemsize


def _issubclass_(type_, dtype):
    """Is type_ the dtype or below it? dtype may be an object like float32 or a class of types."""
    if not isinstance(type_, (type, Type)):
        return False
    kind = type_ if isinstance(type_, type) else type(type_)
    if isinstance(dtype, type):
        return issubclass(kind, dtype)
    if dtype in (number, int_, uint, float_):
        return issubclass(kind, type(dtype))
    return type_ == dtype


@enum.unique
class QuantDtype(enum.Enum):
    """Integer widths used by quantisation."""
    INT1 = 0
    INT2 = 1
    INT3 = 2
    INT4 = 3
    INT5 = 4
    INT6 = 5
    INT7 = 6
    INT8 = 7
    INT9 = 8
    INT10 = 9
    INT11 = 10
    INT12 = 11
    INT13 = 12
    INT14 = 13
    INT15 = 14
    INT16 = 15
    UINT1 = 100
    UINT2 = 101
    UINT3 = 102
    UINT4 = 103
    UINT5 = 104
    UINT6 = 105
    UINT7 = 106
    UINT8 = 107
    UINT9 = 108
    UINT10 = 109
    UINT11 = 110
    UINT12 = 111
    UINT13 = 112
    UINT14 = 113
    UINT15 = 114
    UINT16 = 115

    def __str__(self):
        return self.name

    def num_bits(self):
        """Bits of a number."""
        return self._value_ % 100 + 1

    def value(self):
        """The number that stands for it in files."""
        return self._value_


def str_to_type(name):
    """The type that is called so: 'Float32', 'tensor' and the like."""
    if name in _texts:
        return _texts[name]
    raise ValueError(f"str_to_type: there is no type called {name!r}; there are {sorted(_texts)}")


def __getattr__(name):
    if name == 'bool':                                     # not bound above, where it would hide Python's
        return bool_
    if name == 'typing':                                   # MindSpore's compiled module of the classes of types
        import sys
        return sys.modules[__name__]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

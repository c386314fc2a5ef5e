# SPDX-License-Identifier: Apache-2.0
"""What a node takes and gives: a name, with the object it belongs to, or a constant."""
import enum
from spore._core import type_name as _type_name

__all__ = ['ScopedValue', 'ValueType']


class ValueType(enum.Enum):
    """Kinds of ScopedValue."""

    ConstantValue = 0
    TupleValue = 20
    ListValue = 21
    DictValue = 22
    NamingValue = 40
    CustomObjValue = 60
    UnsupportedValue = 61


class ScopedValue:
    """A name or a constant in the code of a network.

    Args:
        arg_type (ValueType): What it is.
        scope (str): What stands in front of the dot of a name, as ``"self"``. Default: ``""``.
        value: The constant or the name. Default: ``None``.

    Examples:
        >>> from spore.rewrite import ScopedValue
        >>> ScopedValue.create_naming_value("conv", "self"), ScopedValue.create_variable_value((1, 2.5))
        (self.conv, (1, 2.5))
    """

    def __init__(self, arg_type, scope="", value=None):
        for name, given, wanted in (("arg_type", arg_type, ValueType), ("scope", scope, str)):
            if not isinstance(given, wanted):
                raise TypeError(f"For 'ScopedValue', '{name}' must be a {wanted.__name__}, but got {_type_name(given)}.")
        self.type, self.scope, self.value = arg_type, scope, value

    @classmethod
    def create_variable_value(cls, value):
        """A constant.

        Examples:
            >>> from spore.rewrite import ScopedValue
            >>> print(ScopedValue.create_variable_value(2))
            2
        """
        if isinstance(value, (tuple, list)):
            kind = ValueType.TupleValue if isinstance(value, tuple) else ValueType.ListValue
            return cls(kind, "", type(value)(cls.create_variable_value(item) for item in value))
        if isinstance(value, dict):
            return cls(ValueType.DictValue, "", {key: cls.create_variable_value(item) for key, item in value.items()})
        if value is None or isinstance(value, (int, float, str, bool)):
            return cls(ValueType.ConstantValue, "", value)
        return cls(ValueType.CustomObjValue, "", value)

    @classmethod
    def create_naming_value(cls, name, scope=""):
        """A name.

        Examples:
            >>> from spore.rewrite import ScopedValue
            >>> print(ScopedValue.create_naming_value("conv", "self"))
            self.conv
        """
        for what, given in (("name", name), ("scope", scope)):
            if not isinstance(given, str):
                raise TypeError(f"For 'create_naming_value', '{what}' must be a str, but got {_type_name(given)}.")
        return cls(ValueType.NamingValue, scope, name)

    @staticmethod
    def create_name_values(names, scopes=None):
        """Several names, as a list.

        Examples:
            >>> from spore.rewrite import ScopedValue
            >>> print(ScopedValue.create_name_values(["z", "z_1"]))
            [z, z_1]
        """
        if scopes is not None and len(names) != len(scopes):
            raise ValueError(f"For 'create_name_values', there are {len(names)} names, but {len(scopes)} scopes.")
        return [ScopedValue.create_naming_value(name, scopes[i] if scopes else "") for i, name in enumerate(names)]

    @property
    def code(self):
        """How it is written in a program."""
        if self.type == ValueType.NamingValue:
            return f"{self.scope}.{self.value}" if self.scope else self.value
        if self.type == ValueType.UnsupportedValue:
            return self.value  # its text
        if self.type == ValueType.TupleValue:
            return "(" + "".join(item.code + ", " for item in self.value) + ")"
        if self.type == ValueType.ListValue:
            return "[" + ", ".join(item.code for item in self.value) + "]"
        if self.type == ValueType.DictValue:
            return "{" + ", ".join(f"{key!r}: {item.code}" for key, item in self.value.items()) + "}"
        return repr(self.value)

    def __str__(self):
        if self.type in (ValueType.ConstantValue, ValueType.TupleValue, ValueType.ListValue, ValueType.DictValue):
            return str(self.value)
        if self.type == ValueType.CustomObjValue:
            return f"CustomObj: {self.value}"
        return self.code

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, ScopedValue) and (self.type, self.scope, self.value) == (other.type, other.scope, other.value)

    def __hash__(self):
        return hash((self.type, self.scope, str(self.value)))

# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments by the names that programs with transforms and datasets of their own import."""
import inspect
import os

from spore.dataset import _check
from spore.dataset._table import check_file as _file, check_folder as _folder

POS_INT_MIN = 1
UINT8_MIN, UINT8_MAX = 0, 255
UINT32_MIN, UINT32_MAX = 0, 2**32 - 1
UINT64_MIN, UINT64_MAX = 0, 2**64 - 1
INT32_MIN, INT32_MAX = -2**31, 2**31 - 1
INT64_MIN, INT64_MAX = -2**63, 2**63 - 1
FLOAT_MIN_INTEGER, FLOAT_MAX_INTEGER = -2**24, 2**24
DOUBLE_MIN_INTEGER, DOUBLE_MAX_INTEGER = -2**53, 2**53


def is_iterable(obj):
    """Whether one can go through it."""
    return hasattr(obj, '__iter__')


def pad_arg_name(arg_name):
    """A name with a blank behind it, if there is one."""
    return arg_name + ' ' if arg_name else ''


def type_check(arg, types, arg_name):
    """A value is of one of the types; bool counts as a number only if it is among them."""
    _check.kind(arg, types, arg_name)


def type_check_list(args, types, arg_names):
    """So are all of them. ``arg_names`` is a list of names, or one for all."""
    _check.kind(args, (list, tuple), 'args' if isinstance(arg_names, (list, tuple)) else arg_names)
    for i, arg in enumerate(args):
        type_check(arg, types, arg_names[i] if isinstance(arg_names, (list, tuple)) else f'{arg_names}[{i}]')


def check_value(value, valid_range, arg_name='', left_open_interval=False, right_open_interval=False):
    """A number lies in a range."""
    _check.within(value, valid_range[0], valid_range[1], arg_name, left_open_interval, right_open_interval)


def check_range(values, valid_range, arg_name=''):
    """Two numbers in a range, the smaller one first."""
    if not valid_range[0] <= values[0] <= values[1] <= valid_range[1]:
        raise ValueError(f"Input {pad_arg_name(arg_name)}is not within the required interval of [{valid_range[0]}, {valid_range[1]}].")


def check_positive(value, arg_name=''):
    """Above zero."""
    _check.positive(value, arg_name)


def check_odd(value, arg_name=''):
    """An odd number."""
    _check.odd(value, arg_name)


def check_2tuple(value, arg_name=''):
    """A tuple of two."""
    _check.pair(value, arg_name)


def _number_check(types, low, high, what):
    def check(value, arg_name=''):
        type_check(value, types, arg_name)
        check_value(value, [low, high], arg_name)
    check.__doc__ = f"""{what}, from {low} to {high}."""
    return check


check_int32 = _number_check((int,), INT32_MIN, INT32_MAX, 'A whole number')
check_uint8 = _number_check((int,), UINT8_MIN, UINT8_MAX, 'A whole number')
check_uint32 = _number_check((int,), UINT32_MIN, UINT32_MAX, 'A whole number')
check_uint64 = _number_check((int,), UINT64_MIN, UINT64_MAX, 'A whole number')
check_pos_uint32 = _number_check((int,), POS_INT_MIN, UINT32_MAX, 'A whole number')
check_pos_int32 = _number_check((int,), POS_INT_MIN, INT32_MAX, 'A whole number')
check_pos_int64 = _number_check((int,), POS_INT_MIN, INT64_MAX, 'A whole number')
check_non_negative_int32 = _number_check((int,), 0, INT32_MAX, 'A whole number')
check_float32 = _number_check((float, int), FLOAT_MIN_INTEGER, FLOAT_MAX_INTEGER, 'A number')
check_float64 = _number_check((float, int), DOUBLE_MIN_INTEGER, DOUBLE_MAX_INTEGER, 'A number')
check_non_negative_float32 = _number_check((float, int), 0, FLOAT_MAX_INTEGER, 'A number')
check_non_negative_float64 = _number_check((float, int), 0, DOUBLE_MAX_INTEGER, 'A number')


def check_pos_float32(value, arg_name=''):
    """Above zero, at most what float32 counts to."""
    check_value(value, [0, FLOAT_MAX_INTEGER], arg_name, left_open_interval=True)


def check_pos_float64(value, arg_name=''):
    """Above zero, at most what float64 counts to."""
    check_value(value, [0, DOUBLE_MAX_INTEGER], arg_name, left_open_interval=True)


def check_valid_str(value, valid_strings, arg_name=''):
    """One of these texts."""
    type_check(value, (str,), arg_name)
    if value not in valid_strings:
        raise ValueError(f"Input {pad_arg_name(arg_name)}is not within the valid set of {valid_strings}.")


def check_columns(columns, name):
    """A name of a column, or a list of different ones."""
    _check.columns(columns, name)


def check_list_same_size(list1, list2, list1_name='', list2_name=''):
    """Two lists are as long as each other."""
    if len(list1) != len(list2):
        raise ValueError(f"The size of {pad_arg_name(list1_name)}should be the same as that of {list2_name}.")


def parse_user_args(method, *args, **kwargs):
    """The values of a method's arguments without self, in order, and all of them by name."""
    known = inspect.signature(method)
    bound_to_object = next(iter(known.parameters), None) in ('self', 'cls')
    bound = known.bind(*([method] if bound_to_object else []), *args, **kwargs)
    bound.apply_defaults()
    names = list(known.parameters)[1 if bound_to_object else 0:]
    return [bound.arguments.get(name) for name in names], bound.arguments


def check_dir(dataset_dir):
    """A folder that can be read."""
    _folder(dataset_dir)


def check_file(dataset_file):
    """A file that can be read."""
    _file(os.fspath(dataset_file))


def check_num_samples(value):
    """How many rows at most."""
    type_check(value, (int,), 'num_samples')
    if not 0 <= value <= INT64_MAX:
        raise ValueError("num_samples exceeds the boundary between 0 and 9223372036854775807(INT64_MAX)!")


def replace_none(value, default):
    """The value, or another one in the place of None."""
    return default if value is None else value

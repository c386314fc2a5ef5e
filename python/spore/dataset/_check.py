# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments: the rules and exception types of MindSpore's data transforms, in one place.

A function takes a value and the name it has for the caller, and raises if the rule does not hold.
"""
import numbers

INT32_MAX = 2147483647
INT32_MIN = -2147483648
FLOAT_MAX_INTEGER = 16777216
FLOAT_MIN_INTEGER = -16777216


def kind(value, types, name):
    """Value is an instance of one of the types; a bool is no int."""
    types = types if isinstance(types, tuple) else (types,)
    if (isinstance(value, bool) and bool not in types and int in types) or not isinstance(value, types):
        shown = '""' if isinstance(value, str) and not value else value
        raise TypeError(f"Argument {name} with value {shown} is not of type {list(types)}, but got {type(value)}.")


def kinds(values, types, name):
    """A list or tuple of such values."""
    kind(values, (list, tuple), name)
    for i, value in enumerate(values):
        kind(value, types, f"{name}[{i}]")


def within(value, low, high, name='', open_left=False, open_right=False):
    """low <= value <= high, or without an end."""
    if not ((low < value if open_left else low <= value) and (value < high if open_right else value <= high)):
        left, right = '(' if open_left else '[', ')' if open_right else ']'
        name = f"{name} " if name else ''
        raise ValueError(f"Input {name}is not within the required interval of {left}{low}, {high}{right}.")


def ordered(values, low, high, name=''):
    """low <= first <= second <= high."""
    if not low <= values[0] <= values[1] <= high:
        name = f"{name} " if name else ''
        raise ValueError(f"Input {name}is not within the required interval of [{low}, {high}].")


def positive(value, name=''):
    """Above 0."""
    if not value > 0:
        raise ValueError(f"Input {name + ' ' if name else ''}must be greater than 0.")


def integer(value, name, low=INT32_MIN, high=INT32_MAX):
    """An int within a range."""
    kind(value, int, name)
    within(value, low, high, name)


def number(value, name, low=FLOAT_MIN_INTEGER, high=FLOAT_MAX_INTEGER, open_left=False):
    """An int or float within a range."""
    kind(value, (float, int), name)
    within(value, low, high, name, open_left=open_left)


def probability(value, name='prob'):
    """A number from 0 to 1."""
    kind(value, (float, int), name)
    within(value, 0.0, 1.0, name)


def flag(value, name):
    """A bool."""
    kind(value, bool, name)


def odd(value, name):
    """An odd number."""
    if value % 2 != 1:
        raise ValueError(f"Input {name} is not an odd value.")


def pair(value, name):
    """A tuple of two."""
    if not (isinstance(value, tuple) and len(value) == 2):
        raise ValueError(f"Value {name} needs to be a 2-tuple.")


def min_max(values, name):
    """The first is not above the second."""
    if values[0] > values[1]:
        raise ValueError(f"{name} should be in (min,max) format. Got (max,min).")


def length(values, n, name):
    """A sequence of n."""
    if len(values) != n:
        raise TypeError(f"{name} should be a list/tuple of length {n}.")


def crop_size(size, name='size'):
    """An int, or height and width."""
    kind(size, (int, list, tuple), name)
    if isinstance(size, int):
        within(size, 1, FLOAT_MAX_INTEGER, name)
    elif len(size) == 2:
        for i, value in enumerate(size):
            kind(value, int, f"{name}[{i}]")
            within(value, 1, FLOAT_MAX_INTEGER, f"{name}[{i}]")
    else:
        raise TypeError("Size should be a single integer or a list/tuple (h, w) of length 2.")


def resize_size(size):
    """The same for resizing."""
    if isinstance(size, int) and not isinstance(size, bool):
        within(size, 1, FLOAT_MAX_INTEGER, 'size')
    elif isinstance(size, (tuple, list)) and len(size) == 2:
        for i, value in enumerate(size):
            kind(value, int, f"size at dim {i}")
            within(value, 1, INT32_MAX, f"size at dim {i}")
    else:
        raise TypeError("Size should be a single integer or a list/tuple (h, w) of length 2.")


def fill_value(value, name='fill_value'):
    """A level, or three of them."""
    if isinstance(value, int) and not isinstance(value, bool):
        within(value, 0, 255, name)
    elif isinstance(value, tuple) and len(value) == 3:
        for i, level in enumerate(value):
            integer(level, f"{name}[{i}]", 0, 255)
    else:
        raise TypeError(f"{name} should be a single integer or a 3-tuple.")


def padding(value, name='padding'):
    """An int, or 2 or 4 of them."""
    kind(value, (tuple, list, numbers.Number), name)
    if isinstance(value, numbers.Number):
        integer(value, name, 0)
        return
    if len(value) not in (2, 4):
        raise ValueError(f"The size of the {name} list or tuple should be 2 or 4.")
    for i, n in enumerate(value):
        integer(n, f"{name}[{i}]", 0)


def degrees_range(value, name='degrees'):
    """A number of degrees, or least and most."""
    kind(value, (int, float, list, tuple), name)
    if isinstance(value, (int, float)):
        number(value, name, 0)
    elif len(value) == 2:
        kinds(value, (int, float), name)
        for v in value:
            number(v, name)
        min_max(value, name)
    else:
        raise TypeError(f"If {name} is a sequence, the length must be 2.")


def positive_range(value, name='degrees'):
    """Two numbers from 0 on, in order."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} must be either a tuple or a list.")
    kinds(value, (int, float), name)
    if len(value) != 2:
        raise ValueError(f"{name} must be a sequence with length 2.")
    for v in value:
        within(v, 0, FLOAT_MAX_INTEGER, name)
    min_max(value, name)


def adjust_range(value, name, low=0, high=FLOAT_MAX_INTEGER):
    """A spread, or least and most."""
    kind(value, (numbers.Number, list, tuple), name)
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(f"The input value of {name} cannot be negative.")
        return
    if len(value) != 2:
        raise TypeError(f"If {name} is a sequence, the length must be 2.")
    if value[0] > value[1]:
        raise ValueError(f"{name} value should be in (min,max) format. Got ({value[0]}, {value[1]}).")
    ordered(value, low, high, name)


def scale_ratio(scale, ratio):
    """Ranges of area and aspect of a crop."""
    if scale is not None:
        kind(scale, (tuple, list), 'scale')
        length(scale, 2, 'scale')
        kinds(scale, (float, int), 'scale')
        min_max(scale, 'scale')
        ordered(scale, 0, FLOAT_MAX_INTEGER, 'scale')
        positive(scale[1], 'scale[1]')
    if ratio is not None:
        kind(ratio, (tuple, list), 'ratio')
        length(ratio, 2, 'ratio')
        for i in (0, 1):
            number(ratio[i], f"ratio[{i}]", 0, open_left=True)
        min_max(ratio, 'ratio')


def mean_std(mean, std):
    """A mean and a deviation for each channel."""
    kind(mean, (list, tuple), 'mean')
    kind(std, (list, tuple), 'std')
    if len(mean) != len(std):
        raise ValueError("Length of mean and std must be equal.")
    for i, value in enumerate(mean):
        kind(value, (int, float), f"mean[{i}]")
        within(value, 0, 255, f"mean[{i}]")
    for i, value in enumerate(std):
        kind(value, (int, float), f"std[{i}]")
        within(value, 0, 255, f"std[{i}]", open_left=True)


def cutoff_ignore(cutoff, ignore):
    """What AutoContrast takes."""
    kind(cutoff, (int, float), 'cutoff')
    within(cutoff, 0, 50, 'cutoff', open_right=True)
    if ignore is not None:
        kind(ignore, (list, tuple, int), 'ignore')
        for level in [ignore] if isinstance(ignore, int) else ignore:
            kind(level, int, 'item')
            within(level, 0, 255, 'ignore')


def operation(op, name):
    """Something that can be applied: a transform or a function, not a class."""
    if not callable(op) and not getattr(op, 'parse', None):
        raise TypeError(f"{name} is neither a transforms op (TensorOperation) nor a callable pyfunc.")
    if isinstance(op, type):
        raise ValueError(f"{name} should be a dataset processing operation instance, but got: {op}. It may be missing "
                         "parentheses for instantiation.")


def operations(transforms, types=(list,)):
    """A list of such, not empty."""
    kind(transforms, types, 'transforms list')
    if not transforms:
        raise ValueError("transforms list can not be empty.")
    for i, op in enumerate(transforms):
        operation(op, f"transforms[{i}]")

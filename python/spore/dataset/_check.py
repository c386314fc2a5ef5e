# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments: the rules and exception types of MindSpore's data transforms, in one place.

A function takes a value and the name it has for the caller, and raises if the rule does not hold.
"""
import inspect
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


def inside(value, low, high, name, open_left=False, open_right=False):
    """The same where MindSpore's message does not tell the name; it is told behind."""
    try:
        within(value, low, high, '', open_left, open_right)
    except ValueError as error:
        raise ValueError(f"{error} {name} is {value}.") from None


def ordered(values, low, high, name=''):
    """low <= first <= second <= high."""
    if not low <= values[0] <= values[1] <= high:
        raise ValueError(f"Input is not within the required interval of [{low}, {high}].{f' {name} is {tuple(values)}.' if name else ''}")


def positive(value, name=''):
    """Above 0."""
    if not value > 0:
        raise ValueError(f"Input {name + ' ' if name else ''}must be greater than 0. It is {value}.")


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
        inside(size, 1, FLOAT_MAX_INTEGER, name)
    elif len(size) == 2:
        for i, value in enumerate(size):
            kind(value, int, f"{name}[{i}]")
            within(value, 1, FLOAT_MAX_INTEGER, f"{name}[{i}]")
    else:
        raise TypeError("Size should be a single integer or a list/tuple (h, w) of length 2.")


def resize_size(size):
    """The same for resizing."""
    if isinstance(size, int) and not isinstance(size, bool):
        inside(size, 1, FLOAT_MAX_INTEGER, 'size')
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
        inside(v, 0, FLOAT_MAX_INTEGER, name)
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


def operation(op, name, listed=None):
    """Something that can be applied: a transform or a function, not a class."""
    if not callable(op) and not getattr(op, 'parse', None):
        raise TypeError(f"{name} is neither a transforms op (TensorOperation) nor a callable pyfunc.")
    if isinstance(op, type):
        raise ValueError(f"{listed or name} should be a dataset processing operation instance, but got: {op}. It may be missing "
                         "parentheses for instantiation.")


def operations(transforms, types=(list,)):
    """A list of such, not empty."""
    kind(transforms, types, 'transforms list')
    if not transforms:
        raise ValueError("transforms list can not be empty.")
    for i, op in enumerate(transforms):
        operation(op, f"transforms[{i}]", f"op_list[{i}]")


# --- datasets ---------------------------------------------------------------------------------------------------------

def columns(names, name):
    """One name or a list of different ones; gives the list."""
    kind(names, (list, str), name)
    if isinstance(names, str):
        if not names:
            raise ValueError(f"{name} should not be an empty str.")
        return [names]
    if not names:
        raise ValueError(f"{name} should not be empty.")
    for i, column in enumerate(names):
        if not column:
            raise ValueError(f"{name}[{i}] should not be empty.")
    for i, column in enumerate(names):
        kind(column, str, f"{name}[{i}]")
    if len(set(names)) != len(names):
        raise ValueError(f"Every column name should not be same with others in column_names: {names}.")
    return list(names)


def row_size(value):
    """What max_rowsize takes: a number of megabytes, or one for what goes in and one for what comes out."""
    if value is None:
        return
    kind(value, (int, list), 'max_rowsize')
    if isinstance(value, int):
        within(value, -1, INT32_MAX, 'max_rowsize')
    elif len(value) == 2:
        for i, size in enumerate(value):
            kind(size, int, f"max_rowsize[{i}]")
            within(size, -1, INT32_MAX, f"max_rowsize[{i}]")
    else:
        raise TypeError("max_rowsize should be a single integer or a list[in_rowsize, out_rowsize] of length 2.")


def batch_size(size, any_size=False):
    """A number of rows, or a function of a BatchInfo; -1 where the function of the batch decides."""
    if not isinstance(size, int) and not callable(size):
        raise TypeError("batch_size should either be an int or a callable.")
    if callable(size):
        if len(inspect.signature(size).parameters) != 1:
            raise ValueError("callable batch_size should take one parameter (BatchInfo).")
    elif size != -1 or not any_size:
        within(int(size), 1, INT32_MAX, 'batch_size')


def pad_info(info):
    """A dict of (shape or None, value or None) by name of the column."""
    if info is None:
        return
    kind(info, dict, 'pad_info')
    for column, pair in info.items():
        kind(column, str, 'key in pad_info')
        if pair is None:
            continue
        if len(pair) != 2:
            raise ValueError("value of pad_info should be a tuple of size 2.")
        kind(pair, tuple, 'value in pad_info')
        if pair[0] is not None:
            kind(pair[0], list, 'shape in pad_info')
            for n in pair[0]:
                if n is not None:
                    integer(n, 'dim of shape in pad_info', 1)
        if pair[1] is not None:
            kind(pair[1], (int, float, str, bytes), 'pad_value')


def samples(num_samples):
    """A number of rows, or None for all."""
    if num_samples is None:
        return
    kind(num_samples, int, 'num_samples')
    if not 0 <= num_samples <= 9223372036854775807:
        raise ValueError("num_samples exceeds the boundary between 0 and 9223372036854775807(INT64_MAX)!")


def order(num_samples, shuffle, sampler, num_shards, shard_id):
    """Shuffling, shards and samplers of a source in files exclude each other."""
    for value, name in ((num_shards, 'num_shards'), (shard_id, 'shard_id')):
        if value is not None:
            kind(value, int, name)
    if sampler is not None:
        for name, value in (('shuffle', shuffle), ('sharding', num_shards), ('sharding', shard_id), ('num_samples', num_samples)):
            if value is not None:
                raise RuntimeError(f"sampler and {name} cannot be specified at the same time.")
    if num_shards is not None:
        within(num_shards, 1, INT32_MAX, 'num_shards')
        if shard_id is None:
            raise RuntimeError("num_shards is specified and currently requires shard_id as well.")
        within(shard_id, 0, num_shards - 1, 'shard_id')
    elif shard_id is not None:
        raise RuntimeError("shard_id is specified but num_shards is not.")


def order_in_memory(num_samples, shuffle, sampler, num_shards, shard_id):
    """The same of a source in Python, where MindSpore has other rules."""
    for value, name in ((num_shards, 'num_shards'), (shard_id, 'shard_id')):
        if value is not None:
            kind(value, int, name)
    if (num_shards is None) != (shard_id is None):
        raise ValueError("num_shards and shard_id need to be passed in together.")
    if num_shards is not None:
        within(num_shards, 1, INT32_MAX, 'num_shards')
        if shard_id >= num_shards:
            raise ValueError("shard_id should be less than num_shards.")
    from spore.dataset.samplers import BuiltinSampler
    if isinstance(sampler, BuiltinSampler) and any(value is not None for value in (num_samples, shuffle, num_shards)):
        raise ValueError(f"Conflicting arguments during sampler assignments. num_samples: {num_samples}, num_shards: {num_shards}, "
                         f"shard_id: {shard_id}, shuffle: {shuffle}.")


def cache(value):
    """A DatasetCache, or None."""
    if value is not None:
        from spore.dataset.cache import DatasetCache
        kind(value, DatasetCache, 'cache')

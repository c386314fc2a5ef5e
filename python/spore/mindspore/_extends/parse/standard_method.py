# SPDX-License-Identifier: Apache-2.0
"""What MindSpore's compiler puts in place of built-in functions and methods of lists and dicts: here they are those themselves."""


def ms_len(data):
    """len(data)"""
    return len(data)


def ms_max(*data):
    """max(*data)"""
    return max(*data)


def ms_min(*data):
    """min(*data)"""
    return min(*data)


def ms_sum(*data):
    """sum(*data)"""
    return sum(*data)


def ms_zip(*data):
    """The items of several sequences side by side."""
    return tuple(zip(*data))


def list_append(list_data, item):
    """The list with one more item at its end."""
    list_data.append(item)
    return list_data


def list_insert(list_data, index, obj):
    """The list with an item put in."""
    list_data.insert(index, obj)
    return list_data


def list_extend(list_data, iterables):
    """The list with more items at its end."""
    list_data.extend(iterables)
    return list_data


def list_reverse(list_data):
    """The list the other way round."""
    list_data.reverse()
    return list_data


def list_pop(list_data, index=-1):
    """The list without one item, and that item."""
    item = list_data.pop(index)
    return list_data, item


def list_clear(list_data):
    """The list without its items."""
    list_data.clear()
    return list_data


def dict_get(dict_data, key, default=None):
    """dict_data.get(key, default)"""
    return dict_data.get(key, default)


def dict_update(dict_data, other):
    """The dict with the items of another."""
    dict_data.update(other)
    return dict_data

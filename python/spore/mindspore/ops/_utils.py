# SPDX-License-Identifier: Apache-2.0
"""Shapes of operators, for programs that reckon with them under MindSpore's names."""
from spore._checkparam import check_int_range, INC_LEFT

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ["get_broadcast_shape", "get_concat_offset", "is_shape_unknown", "is_dim_unknown"]


def __getattr__(name):
    """Other names of spore.ops, which MindSpore shows here, too."""
    if name.startswith("__"):
        raise AttributeError(name)
    from spore import ops
    return getattr(ops, name)


def get_broadcast_shape(x_shape, y_shape, prim_name, arg_name1="x", arg_name2="y"):
    """The shape, a list, of what two shapes make together; -1 is a size that is not known yet."""
    if is_dim_unknown(x_shape) or is_dim_unknown(y_shape):
        return [-2]
    rank = max(len(x_shape), len(y_shape))
    first, second = ([1] * (rank - len(s)) + list(s) for s in (x_shape, y_shape))
    result = []
    for a, b in zip(first, second):
        if -1 not in (a, b) and 1 not in (a, b) and a != b:
            raise ValueError(f"For '{prim_name}', {arg_name1}.shape and {arg_name2}.shape need to broadcast, but got {arg_name1}.shape "
                             f"{list(x_shape)} and {arg_name2}.shape {list(y_shape)}.")
        result.append(b if a == 1 else a if b in (1, -1) else b)
    return result


def get_concat_offset(x_shp, x_type, axis, prim_name):
    """(where each part begins, the size of the whole along the axis, the axis from the front) of a concatenation."""
    rank = len(x_shp[0])
    axis = check_int_range(axis, -rank, rank, INC_LEFT, "axis", prim_name) % rank
    offset, whole = [0], x_shp[0][axis]
    for shape in x_shp[1:]:
        if len(shape) != rank or any(a != b for i, (a, b) in enumerate(zip(shape, x_shp[0])) if i != axis):
            raise ValueError(f"For '{prim_name}', the shapes of all parts must be equal except along axis {axis}, but got "
                             f"{list(x_shp[0])} and {list(shape)}.")
        offset.append(-1 if whole == -1 else whole)
        whole = -1 if -1 in (whole, shape[axis]) else whole + shape[axis]
    return offset, whole, axis


def is_shape_unknown(shape):
    """Is a size, or the number of dimensions, not known yet?"""
    return any(n < 0 for n in shape)


def is_dim_unknown(shape):
    """Is the number of dimensions not known yet?"""
    return list(shape) == [-2]

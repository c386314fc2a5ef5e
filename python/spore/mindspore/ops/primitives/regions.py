# SPDX-License-Identifier: Apache-2.0
"""Means over parts of regions of feature maps, a group of channels for every part; rows moved to their place in a longer one."""
from ..._core import Tensor
from ...common import dtype as mstype
from .._make import primitive
from spore._core import type_name as _type_name

_INDEX_DTYPES = (mstype.int32, mstype.int64)


def _op(name):
    from ... import ops
    return getattr(ops, name)


def _settings(spatial_scale, group_size, output_dim):
    if isinstance(spatial_scale, bool) or not isinstance(spatial_scale, float):
        raise TypeError(f"For 'PSROIPooling', the type of 'spatial_scale' must be float, but got {_type_name(spatial_scale)}")
    if spatial_scale <= 0:
        raise ValueError(f"For 'PSROIPooling', 'spatial_scale' must be greater than 0, but got {spatial_scale}")
    for name, value in (("group_size", group_size), ("output_dim", output_dim)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"For 'PSROIPooling', the type of '{name}' must be int, but got {_type_name(value)}")
        if value <= 0:
            raise ValueError(f"For 'PSROIPooling', '{name}' must be greater than 0, but got {value}")
    return {"spatial_scale": spatial_scale, "group_size": group_size, "output_dim": output_dim}


def _weights(begin, end, group, size, dtype):
    """(regions, parts, positions): what each position counts in the mean of a part. The last position counts in none, as in
    MindSpore, and a region is at least a tenth of a position wide."""
    width = _op("maximum")(end - begin, 0.1) / group
    part = _op("arange")(group).astype(mstype.float32).reshape((1, group, 1))
    begin, width = begin.reshape((-1, 1, 1)), width.reshape((-1, 1, 1))
    first = _op("clamp")(_op("floor")(part * width + begin), 0, size - 1)
    last = _op("clamp")(_op("ceil")((part + 1) * width + begin), 0, size - 1)
    place = _op("arange")(size).astype(mstype.float32).reshape((1, 1, size))
    inside = _op("logical_and")(place >= first, place < last).astype(mstype.float32)
    return (inside / _op("maximum")(last - first, 1)).astype(dtype)


def _pool(self, features, rois):
    for name, value in (("features", features), ("rois", rois)):
        if not isinstance(value, Tensor):
            raise TypeError(f"For 'PSROIPooling', '{name}' must be a Tensor, but got {_type_name(value)}")
        if value.dtype not in (mstype.float16, mstype.float32):
            raise TypeError(f"For 'PSROIPooling', the dtype of '{name}' must be float16 or float32, but got {value.dtype}")
    group, n = self.group_size, self.output_dim
    if features.ndim != 4 or features.shape[1] != n * group * group:
        raise ValueError(f"For 'PSROIPooling', 'features' must have shape (N, C, H, W) with C equal to group_size * group_size * output_dim, "
                         f"{n * group * group}, but got {tuple(features.shape)}")
    if rois.ndim != 3 or rois.shape[1] != 5:
        raise ValueError(f"For 'PSROIPooling', 'rois' must have shape (batch, 5, rois_n), but got {tuple(rois.shape)}")
    rows = rois.astype(mstype.float32).swapaxes(1, 2).reshape((-1, 5))
    picture = rows[:, 0].astype(mstype.int32)
    left, top, right, bottom = (_op("floor")(rows[:, i] * self.spatial_scale + 0.5) for i in range(1, 5))
    height, width = features.shape[2:]
    down = _weights(top, bottom, group, height, features.dtype).reshape((-1, 1, group, 1, 1, height))
    across = _weights(left, right, group, width, features.dtype).reshape((-1, 1, 1, group, width, 1))
    maps = _op("gather")(features, picture, 0).reshape((-1, n, group, group, height, width))
    return _op("matmul")(_op("matmul")(down, maps), across).reshape((-1, n, group, group))


PSROIPooling = primitive("PSROIPooling", _pool, _settings, "Position sensitive pooling: part (i, j) of a region is the mean of its own channels there.\n\n"
                         "    rois: (batch, 5, n) with the number of the picture, x1, y1, x2, y2. The result: (batch * n, output_dim, group_size, group_size).")


def _shift(self, input_x, cum_sum_arr, shift_idx):
    for name, value in (("input_x", input_x), ("cum_sum_arr", cum_sum_arr)):
        if not isinstance(value, Tensor):
            raise TypeError(f"For 'PadAndShift', '{name}' must be a Tensor, but got {_type_name(value)}")
        if value.dtype not in _INDEX_DTYPES or value.dtype != input_x.dtype:
            raise TypeError(f"For 'PadAndShift', 'input_x' and 'cum_sum_arr' must both be int32 or int64, but got {input_x.dtype} and {cum_sum_arr.dtype}")
        if value.ndim != 1:
            raise RuntimeError(f"Rank of PadAndShift's input must be 1. '{name}' has shape {tuple(value.shape)}.")
    place = int(shift_idx.item()) if isinstance(shift_idx, Tensor) else shift_idx
    if isinstance(place, bool) or not isinstance(place, int):
        raise TypeError(f"For 'PadAndShift', 'shift_idx' must be int, but got {_type_name(shift_idx)}")
    ends = cum_sum_arr.tolist()
    if not 0 <= place < len(ends) - 1:
        raise ValueError(f"For 'PadAndShift', 'shift_idx' must be in [0, {len(ends) - 1}), but got {place}")
    begin, end, total = ends[place], ends[place + 1], ends[-1]
    if not 0 <= begin <= end <= total or end - begin > input_x.shape[0]:
        raise ValueError(f"For 'PadAndShift', 'cum_sum_arr' must rise, and 'input_x' must hold what goes to [{begin}, {end}), but it has "
                         f"{input_x.shape[0]} elements")

    def nothing(count):
        return _op("full")((count,), -1, dtype=input_x.dtype)
    return _op("cat")((nothing(begin), input_x[:end - begin], nothing(total - end)))


PadAndShift = primitive("PadAndShift", _shift, "", "Elements of input_x at [cum_sum_arr[shift_idx], cum_sum_arr[shift_idx + 1]) of a vector of -1 with "
                        "cum_sum_arr[-1] elements.")

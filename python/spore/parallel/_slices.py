# SPDX-License-Identifier: Apache-2.0
"""Which part of a Parameter a process has, and how one part is made of others.

A layout is a grid of processes, the last dimension counted fastest, and for each axis of the Parameter the dimensions that split it, most
significant first. Where the optimizer splits further, it splits slices along the first axis, over the last of the dimensions that split
nothing; then those are dimensions of that axis. So a slice is a box, whoever made the file, and to change layouts is to cut boxes."""
import itertools
import math

import numpy as np

__all__ = []


class Layout:
    """How one Parameter is split over the processes of a stage."""

    def __init__(self, matrix, axes, stages=(0,), uneven=(), field=0):
        self.matrix, self.axes, self.stages, self.uneven, self.field = tuple(matrix), [tuple(a) for a in axes], set(stages), tuple(uneven), field
        self.ranks = math.prod(self.matrix)
        self.parts = [math.prod(self.matrix[d] for d in dims) for dims in self.axes]

    def place(self, rank):
        """The number of this process's slice, along each axis."""
        at = self._coordinates(rank)
        return tuple(int(np.ravel_multi_index([at[d] for d in dims], [self.matrix[d] for d in dims])) if dims else 0 for dims in self.axes)

    def _coordinates(self, rank):
        return np.unravel_index(rank % self.ranks, self.matrix) if self.matrix else ()

    def holders(self, rank):
        """{slice: processes that have it}, those nearest to `rank` first."""
        own, found = self._coordinates(rank), {}
        for other in range(self.ranks):
            at = self._coordinates(other)
            found.setdefault(self.place(other), []).append((sum(a != b for a, b in zip(at, own, strict=True)), other))
        return {place: [other for _, other in sorted(near)] for place, near in found.items()}


def whole_layout(rank):
    """Of a Parameter that is not split."""
    return Layout((1,), [()] * rank)


def _optimizer_dims(name, matrix, axes, size):
    """The grid with the dimensions over which the optimizer splits, and these. Old dimensions may have moved by one."""
    free = [d for d in range(len(matrix)) if matrix[d] > 1 and not any(d in dims for dims in axes)]
    if not free:
        raise ValueError(f"The layout of '{name}' has opt_weight_shard_size {size}, but no process repeats its slices: device matrix {matrix}")
    left = math.prod(matrix[d] for d in free) if size == -1 else size
    taken = []
    for d in reversed(free):
        if left == 1:
            break
        if left % matrix[d] == 0:
            taken.insert(0, d)
            left //= matrix[d]
        elif matrix[d] % left == 0:
            matrix = [*matrix[:d], matrix[d] // left, left, *matrix[d + 1:]]
            axes = [tuple(k + (k > d) for k in dims) for dims in axes]
            taken = [d + 1, *(k + (k > d) for k in taken)]
            left = 1
        else:
            break
    if left != 1:
        raise ValueError(f"The layout of '{name}' has opt_weight_shard_size {size}, which does not divide the dimensions of {matrix} that are free")
    return matrix, axes, taken


def layout_of(name, matrix, tensor_map, step=0, size=0, stages=(0,), uneven=(), field=0):
    """A Layout from the numbers of a file: axes of the device matrix are counted from the last, -1 splits nothing."""
    axes = []
    for part in tensor_map:
        dims = [len(matrix) - 1 - d for d in (part if isinstance(part, (list, tuple)) else (part,)) if d != -1]
        if any(not 0 <= d < len(matrix) for d in dims):
            raise ValueError(f"The layout of '{name}' has the tensor map {tensor_map}, but its device matrix {list(matrix)} has "
                             f"{len(matrix)} dimensions")
        axes.append(tuple(dims))
    taken = [d for dims in axes for d in dims]
    if len(taken) != len(set(taken)) or any(n < 1 for n in matrix):
        raise ValueError(f"The layout of '{name}' is illegal: device matrix {list(matrix)}, tensor map {tensor_map}")
    if step and size and axes:
        matrix, axes, extra = _optimizer_dims(name, list(matrix), axes, size)
        axes[0] = (*axes[0], *extra)
    return Layout(matrix, axes, stages, uneven, field)


def needed(source, target, rank):
    """The processes of `source` whose slices make that of `rank`."""
    if len(source.axes) != len(target.axes):
        raise ValueError(f"a Parameter of {len(source.axes)} axes cannot have a layout of {len(target.axes)}")
    holders = source.holders(rank)
    return {holders[place][0] for place, _ in _overlaps([math.lcm(p, q) for p, q in zip(source.parts, target.parts, strict=True)], source, target, rank)}


def _overlaps(shape, source, target, rank):
    """Slices of `source` that have something of the slice of `rank`, and for each axis (from, to) of that in the whole."""
    ranges = []
    for size, parts, own, wanted in zip(shape, source.parts, target.place(rank), target.parts, strict=True):
        here, there = size // parts, size // wanted
        start, stop = own * there, (own + 1) * there
        ranges.append([(k, (max(start, k * here), min(stop, (k + 1) * here)))
                       for k in (range(start // here, -(-stop // here)) if here and stop > start else range(1))])
    for choice in itertools.product(*ranges):
        yield tuple(k for k, _ in choice), [box for _, box in choice]


def assemble(name, pieces, source, target, rank):
    """The slice of `rank` from `pieces`, {process: array}: those that are there are used, nearest first."""
    first = next(iter(pieces.values()))
    if first.ndim != len(source.axes) or first.ndim != len(target.axes):
        raise ValueError(f"For param '{name}', the tensor map dimensions must match the tensor shape dimensions: its slices have shape "
                         f"{first.shape}, the layouts {len(source.axes)} and {len(target.axes)} axes. Please check your strategy file.")
    shape = [n * parts for n, parts in zip(first.shape, source.parts, strict=True)]
    for axis, (size, parts) in enumerate(zip(shape, target.parts, strict=True)):
        if size % parts:
            raise ValueError(f"For param '{name}', {parts} slices do not divide axis {axis} of size {size}")
    own = target.place(rank)
    local = [n // parts for n, parts in zip(shape, target.parts, strict=True)]
    made = np.empty(local, first.dtype)
    holders = source.holders(rank)
    for place, box in _overlaps(shape, source, target, rank):
        holder = next((r for r in holders[place] if r in pieces), None)
        if holder is None:
            raise ValueError(f"The checkpoint of rank {holders[place][0]} is missing: '{name}' of rank {rank} needs its slice {list(place)}"
                             + (f", which also {holders[place][1:]} have" if holders[place][1:] else ""))
        piece = pieces[holder]
        if piece.shape != first.shape:
            raise ValueError(f"For param '{name}', the slice of rank {holder} has shape {piece.shape}, but others have {first.shape}")
        into = tuple(slice(a - o * n, b - o * n) for (a, b), o, n in zip(box, own, local, strict=True))
        out_of = tuple(slice(a - k * n, b - k * n) for (a, b), k, n in zip(box, place, first.shape, strict=True))
        made[into] = piece[out_of]
    return made


def join_uneven(name, pieces, layout):
    """The whole of slices that are of different lengths along the first axis."""
    holders = layout.holders(0)
    if len(layout.uneven) != len(holders):
        raise ValueError(f"For 'merge_sliced_parameter', the param_split_shape length in 'strategy' should be {len(holders)}, but got "
                         f"{len(layout.uneven)}.")
    order = sorted(holders)
    for k, place in enumerate(order):
        for holder in holders[place]:
            if pieces[holder].shape[0] != layout.uneven[k]:
                raise ValueError(f"For 'merge_sliced_parameter', the slice {k} of '{name}' should be {layout.uneven[k]} in 0 axis, but got "
                                 f"{pieces[holder].shape[0]}.")
    grid = np.empty(layout.parts, object)
    for place in order:
        grid[place] = pieces[holders[place][0]]
    return np.block(grid.tolist())


def join_fields(pieces, ranks, field):
    """Slices of an embedding whose rows are fields: each process has a share of every field."""
    whole = np.concatenate([pieces[r].reshape(field, -1, pieces[r].shape[1]) for r in range(ranks)], axis=1)
    return whole.reshape(-1, whole.shape[2])

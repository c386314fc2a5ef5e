# SPDX-License-Identifier: Apache-2.0
"""Blocks of pixels to channels or batches, and back."""
from .._core import apply
from .array import _permute as permuted
from .array import int_of, ints_of
from spore._core import Tensor

__all__ = ["batch_to_space_nd", "depth_to_space", "space_to_batch_nd", "space_to_depth"]


def space_to_depth(x, block_size) -> Tensor:
    """Blocks of pixels become channels."""
    n, c, h, w = x.shape
    b = int_of(block_size, "block_size")
    if b < 2 or h % b or w % b:
        raise ValueError(f"space_to_depth: block_size must be at least 2 and divide height {h} and width {w}, "
                         f"but got {b}")
    x = apply("reshape", (x,), {"shape": (n, c, h // b, b, w // b, b)})
    return apply("reshape", (permuted(x, (0, 3, 5, 1, 2, 4)),), {"shape": (n, c * b * b, h // b, w // b)})


def depth_to_space(x, block_size) -> Tensor:
    """Channels become blocks of pixels."""
    n, c, h, w = x.shape
    b = int_of(block_size, "block_size")
    if b < 2 or c % (b * b):
        raise ValueError(f"depth_to_space: block_size must be at least 2 and its square divide {c} channels, "
                         f"but got {b}")
    x = apply("reshape", (x,), {"shape": (n, b, b, c // (b * b), h, w)})
    return apply("reshape", (permuted(x, (0, 3, 4, 1, 5, 2)),), {"shape": (n, c // (b * b), h * b, w * b)})


def space_to_batch_nd(input_x, block_size, paddings) -> Tensor:
    """Blocks of pixels, after padding, become batches."""
    blocks = ints_of(block_size, "block_size")
    m = len(blocks)
    first = input_x.ndim - m
    pads = (0, 0) * first + tuple(int(p) for row in paddings for p in row)
    x = apply("pad", (input_x,), {"pads": pads})
    for i, b in enumerate(blocks):
        if x.shape[first + i] % b:
            raise ValueError(f"space_to_batch_nd: block size {b} does not divide the padded dimension "
                             f"{x.shape[first + i]}")
    cut, lead = [], x.shape[:first]
    for i, b in enumerate(blocks):
        cut += [x.shape[first + i] // b, b]
    outer = [x.shape[first + i] // b for i, b in enumerate(blocks)]
    x = apply("reshape", (x,), {"shape": lead + tuple(cut)})
    perm = [first + 1 + 2 * i for i in range(m)] + list(range(first)) + [first + 2 * i for i in range(m)]
    count = 1
    for b in blocks:
        count *= b
    return apply("reshape", (permuted(x, perm),), {"shape": (lead[0] * count,) + lead[1:] + tuple(outer)})


def batch_to_space_nd(input_x, block_shape, crops) -> Tensor:
    """Batches become blocks of pixels, which are cropped."""
    if isinstance(block_shape, int):
        block_shape = (block_shape,) * len(crops)
    blocks = ints_of(block_shape, "block_shape")
    m = len(blocks)
    first = input_x.ndim - m
    count = 1
    for b in blocks:
        count *= b
    if input_x.shape[0] % count:
        raise ValueError(f"batch_to_space_nd: {count} blocks do not divide {input_x.shape[0]} batches")
    lead = (input_x.shape[0] // count,) + input_x.shape[1:first]
    x = apply("reshape", (input_x,), {"shape": blocks + lead + input_x.shape[first:]})
    perm = list(range(m, m + first))
    for i in range(m):
        perm += [m + first + i, i]
    space = tuple(n * b for n, b in zip(input_x.shape[first:], blocks))
    x = apply("reshape", (permuted(x, perm),), {"shape": lead + space})
    start = (0,) * first + tuple(int(c[0]) for c in crops)
    stop = lead + tuple(n - int(c[1]) for n, c in zip(space, crops))
    return apply("slice", (x,), {"start": start, "stop": stop})

# SPDX-License-Identifier: Apache-2.0
"""Primitives of arrays and random numbers whose arguments need Python: constructor first, then the call."""
from ..._core import Tensor, apply
from ..._docstrings import told
from ...common import dtype as mstype
from .. import array, blocks, creation, random, scattering
from .._make import plain, primitive
from ..array import ints_of
from spore._core import type_name as _type_name

__all__ = []


def _add(cls):
    globals()[cls.__name__] = cls
    __all__.append(cls.__name__)


# --- a function as it is ---------------------------------------------------------------------------------------------

for _name, _function in {
        "Cast": array.cast, "ExpandDims": array.expand_dims,
        "Slice": array.slice, "Diag": array.diag,
        "NonZero": scattering.nonzero, "Unique": scattering.unique, "MaskedFill": scattering.masked_fill,
        "IndexFill": scattering.index_fill, "ScatterNd": scattering.scatter_nd,
        "UniqueWithPad": scattering.unique_with_pad,
        "TensorScatterUpdate": scattering.tensor_scatter_update, "TensorScatterAdd": scattering.tensor_scatter_add,
        "TensorScatterSub": scattering.tensor_scatter_sub, "TensorScatterMul": scattering.tensor_scatter_mul,
        "TensorScatterDiv": scattering.tensor_scatter_div, "TensorScatterMax": scattering.tensor_scatter_max,
        "TensorScatterMin": scattering.tensor_scatter_min, "UnsortedSegmentSum": scattering.unsorted_segment_sum,
        "UnsortedSegmentMax": scattering.unsorted_segment_max, "UnsortedSegmentMin": scattering.unsorted_segment_min,
        "UnsortedSegmentProd": scattering.unsorted_segment_prod, "Fill": creation.fill, "FillV2": lambda shape,
        value: creation.full(
            shape, value, dtype=value.dtype if isinstance(value, Tensor) else None),
        "Zeros": creation.zeros, "Ones": creation.ones, "ZerosLike": creation.zeros_like,
        "OnesLike": creation.ones_like,
        "Eye": creation.eye, "LinSpace": creation.linspace, "ParallelConcat": array.concat,
        "ScatterNonAliasingAdd": scattering.scatter_nd_add}.items():
    _add(plain(_name, _function))


def _flatten(self, input_x):
    """All dimensions but the first as one."""
    return apply("reshape", (input_x,), {"shape": (-1, 1)}) if input_x.ndim == 1 else array.flatten(input_x)


def _gather_v2(self, input_params, input_indices, axis, batch_dims=0):
    """Slices along a dimension, one for each index."""
    return scattering.gather(input_params, input_indices, axis, batch_dims)


def _embedding_lookup(self, input_params, input_indices, offset):
    """Rows by index minus offset; rows outside of the table are zero."""
    places, n = apply("sub", (input_indices, offset)), array.of_rank(input_params, 1, 2, "EmbeddingLookup", "input_params").shape[0]
    inside = apply("logical_and", (apply("greater_equal", (places, 0)), apply("less", (places, n))))
    rows = scattering.gather(input_params, apply("select", (inside, places, 0)), 0)
    mask = apply("reshape", (inside,), {"shape": inside.shape + (1,) * (rows.ndim - inside.ndim)})
    return apply("select", (mask, rows, Tensor(0, rows.dtype)))


def _identity(self, x):
    """The same numbers in a Tensor of its own.

    Examples:
        >>> from spore import Tensor, ops
        >>> print(ops.Identity()(Tensor([1, 2])))
        [1 2]
    """
    return apply("identity", (array.own(x),))


_add(primitive("Flatten", _flatten))
_add(primitive("Identity", _identity))
_add(plain("TransposeView",
               lambda input_x, input_perm: apply("transpose", (input_x,), {"perm": ints_of(input_perm, "input_perm")}),
           "Dimensions in another order, as a view."))
_add(primitive("GatherV2", _gather_v2))
_add(primitive("SparseGatherV2", _gather_v2))
_add(primitive("EmbeddingLookup", _embedding_lookup))
_add(primitive("Gather", lambda self, input_params, input_indices, axis: scattering.gather(
    input_params, input_indices, axis, self.batch_dims), "batch_dims=0",
    "Slices along a dimension, one for each index."))


# --- one constructor argument or a few -------------------------------------------------------------------------------

def _joined(args):
    return args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args


_add(primitive("Concat", lambda self, *tensors: array.concat(_joined(tensors), self.axis), "axis=0",
               "Tensors joined along a dimension they have."))
_add(primitive("Stack", lambda self, *tensors: array.stack(_joined(tensors), self.axis), "axis=0",
               "Tensors joined along a new dimension."))
_add(primitive("Unstack", lambda self, input_x: array.unstack(input_x, self.axis), "axis=0, num=None",
               "The slices along a dimension."))
def _squeezed_axis(axis=()):
    for one in axis if isinstance(axis, (tuple, list)) else (axis,):
        if isinstance(one, bool) or not isinstance(one, int):
            raise TypeError(f"For 'Squeeze', 'axis' must be an int or a tuple of int, but got {axis!r}")
    return {"axis": axis}


_add(primitive("Squeeze", lambda self, input_x: array.squeeze(input_x, self.axis), _squeezed_axis, "Without dimensions of size 1."))


def _split(self, input_x):
    """Pieces of equal size."""
    array.tensor_of(input_x, "input_x", "Split")
    axis = array.axis_of(self.axis, input_x.ndim)
    n = input_x.shape[axis]
    if self.output_num <= 0:
        raise ValueError(f"Split: output_num must be positive, but got {self.output_num}")
    if n % self.output_num:
        raise ValueError(f"Split: {self.output_num} does not divide dimension {axis} of size {n}")
    return array.split(input_x, [n // self.output_num] * self.output_num, axis)


_add(primitive("Split", _split, "axis=0, output_num=1"))
_add(primitive("SplitV", lambda self, input_x: array.split(input_x, _sizes_of(self, input_x), self.split_dim),
               lambda size_splits, split_dim, num_split: {"size_splits": list(size_splits), "split_dim": split_dim,
                                                          "num_split": num_split},
               "Pieces of the given sizes; one of them may be -1."))


def _sizes_of(self, x):
    sizes, rest = list(self.size_splits), x.shape[self.split_dim] - sum(s for s in self.size_splits if s != -1)
    return [rest if s == -1 else s for s in sizes]


_add(primitive("Pad", lambda self, input_x: _pad(input_x, self.paddings, "constant"), "paddings",
               "Zeros before and after each dimension."))
_add(primitive("MirrorPad", lambda self, input_x, paddings: _pad(
    input_x, paddings.tolist() if isinstance(paddings, Tensor) else paddings, self.mode.lower()),
    'mode="REFLECT"', "Mirrored elements before and after each dimension."))


def _pad(x, paddings, mode):
    if len(paddings) != x.ndim:
        raise ValueError(f"Pad: there are paddings for {len(paddings)} dimensions, but the Tensor has {x.ndim}")
    return apply("pad", (x,), {"pads": tuple(int(p) for row in paddings for p in row), "mode": mode})


def _pad_v3(self, input_x, paddings, constant_value=None):
    """Elements before and after dimensions, listed from the last one on."""
    paddings = ints_of(paddings, "paddings")
    if not self.paddings_contiguous:
        half = len(paddings) // 2
        paddings = tuple(v for pair in zip(paddings[:half], paddings[half:]) for v in pair)
    return array.pad(input_x, paddings, {"edge": "replicate", "wrap": "circular"}.get(self.mode, self.mode),
                     constant_value)


_add(primitive("PadV3", _pad_v3, 'mode="constant", paddings_contiguous=True'))
_add(primitive("Padding", lambda self, x: array.padding(x, self.pad_dim_size), "pad_dim_size=8",
               "The last dimension, of size 1, filled up with zeros."))
_add(primitive("ReverseV2", lambda self, input_x: array.flip(input_x, self.axis), "axis",
               "The elements in reverse along dimensions."))
_add(primitive("ReverseSequence",
               lambda self, x, seq_lengths: array.reverse_sequence(x, seq_lengths, self.seq_dim, self.batch_dim),
               "seq_dim, batch_dim=0", "The first elements of each sequence in reverse."))
_add(primitive("Meshgrid", lambda self, inputs: array.meshgrid(*inputs, indexing=self.indexing), 'indexing="xy"',
               "One grid per vector."))
_add(primitive("DepthToSpace", lambda self, x: blocks.depth_to_space(x, self.block_size), "block_size",
               "Channels become blocks of pixels."))
_add(primitive("SpaceToDepth", lambda self, x: blocks.space_to_depth(x, self.block_size), "block_size",
               "Blocks of pixels become channels."))
_add(primitive("SpaceToBatchND", lambda self, x: blocks.space_to_batch_nd(
    x, (self.block_shape,) * len(self.paddings) if isinstance(self.block_shape,
        int) else self.block_shape, self.paddings),
    "block_shape, paddings", "Blocks of pixels become batches."))
_add(primitive("SpaceToBatch", lambda self, x: blocks.space_to_batch_nd(x, (self.block_size,) * 2, self.paddings),
               "block_size, paddings", "Blocks of pixels become batches."))
_add(primitive("BatchToSpaceND", lambda self, x: blocks.batch_to_space_nd(x, self.block_shape, self.crops),
               "block_shape, crops", "Batches become blocks of pixels."))
_add(primitive("BatchToSpace", lambda self, x: blocks.batch_to_space_nd(x, (self.block_size,) * 2, self.crops),
               "block_size, crops", "Batches become blocks of pixels."))
_add(primitive("FillDiagonal",
               lambda self, input_x: scattering.TENSOR_METHODS["fill_diagonal"](input_x, self.fill_value, self.wrap),
               "fill_value, wrap=False", "A copy with one value on the diagonal."))


def _strided_slice(self, input_x, begin, end, strides):
    """x[begin:end:strides]; the masks change what entries mean."""
    return array.strided_slice(input_x, begin, end, strides, self.begin_mask, self.end_mask, self.ellipsis_mask,
                               self.new_axis_mask,
                               self.shrink_axis_mask)


_add(primitive("StridedSlice",
               _strided_slice, "begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0"))


def _diag_part(self, x):
    """The elements whose first and second half of coordinates agree."""
    half = x.shape[:x.ndim // 2]
    n = 1
    for d in half:
        n *= d
    square = apply("reshape", (x,), {"shape": (n, n)})
    return apply("reshape", (apply("diagonal", (square,)),), {"shape": half})


_add(primitive("DiagPart", _diag_part))


# --- order and positions ---------------------------------------------------------------------------------------------

_add(primitive("OneHot",
               lambda self, indices, depth, on_value, off_value: scattering.one_hot(indices, depth, on_value, off_value,
                   self.axis),
               "axis=-1", "on_value at the position each index names, off_value elsewhere."))
def _topk_init(sorted=True):
    if not isinstance(sorted, bool):
        raise TypeError(f"TopK: sorted must be a bool, but got {_type_name(sorted)}")
    return {"sorted": sorted}


_add(primitive("TopK", lambda self, input_x, k: scattering.topk(input_x, k, sorted=self.sorted), _topk_init,
               "The k largest elements of each row, and where they are."))
_add(primitive("Sort", lambda self, x: scattering.sort(x, self.axis, self.descending),
               "axis=-1, descending=False", "The elements in order, and where they came from."))
_add(primitive("InTopK", lambda self, x1, x2: scattering.intopk(x1, x2, self.k), "k",
               "Whether the element each target names is among the k largest of its row."))
_add(primitive("SearchSorted", lambda self, sorted_sequence, values, sorter=None: scattering.searchsorted(
    sorted_sequence, values, right=self.right, out_int32=self.dtype == mstype.int32, sorter=sorter),
    "dtype=mstype.int64, right=False", "Where each value would go into a sorted row."))
_add(primitive("IndexAdd", lambda self, x, indices, y: scattering.index_add(x, indices, y, self.axis),
               "axis, use_lock=True, check_index_bound=True",
               "Add y to slices of a Parameter, in place."))
_add(primitive("TensorScatterElements", lambda self, data, indices, updates: scattering.tensor_scatter_elements(
    data, indices, updates, self.axis, self.reduction), 'axis=0, reduction="none"',
    "A copy in which each update goes to the position indices tell."))
_add(primitive("ScatterAddWithAxis", lambda self, input_x, indices, update: scattering.tensor_scatter_elements(
    input_x, indices, update, self.axis, "add"), "axis=0", "A copy with updates added at the positions indices tell."))

for _name in ("update", "add", "sub", "mul", "div", "max", "min"):
    for _form in ("Scatter", "ScatterNd"):
        _function = getattr(scattering, ("scatter_" if _form == "Scatter" else "scatter_nd_") + _name)
        _add(primitive(_form + _name.capitalize(), lambda self, input_x, indices, updates,
                       run=_function: run(input_x, indices, updates),
                       f"use_locking={_name == 'update'}", told(_function)))

# --- creation --------------------------------------------------------------------------------------------------------

_add(primitive("LogSpace",
               lambda self, start, end: creation.logspace(start, end, self.steps, self.base, dtype=self.dtype),
               "steps=10, base=10, dtype=mstype.float32",
               "base to the power of evenly spaced numbers."))


# --- random: each primitive with seeds has a stream of its own -------------------------------------------------------

def _seeds(seed=0, seed2=0):
    for value in (seed, seed2):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"seeds must be ints, but got {_type_name(value)}")
        if value < 0:
            raise ValueError(f"seeds must not be negative, but got {value}")
    return {"seed": seed, "seed2": seed2}


def _source(self):
    return random.own_source(self, self.seed, self.seed2)


def _uniform_int(self, shape, minval, maxval):
    """Whole numbers in [minval, maxval)."""
    return random._integers(minval, maxval, ints_of(shape), mstype.int32, **_source(self))


def _drawn(op, parameter_type):
    def run(self, shape, parameter):
        shape = random._broadcast_shape(shape, parameter)
        return random.draw(op, {"shape": shape, "dtype": parameter_type}, random._count(shape), (parameter,),
                           **_source(self))
    return run


def _gamma(self, shape, alpha, beta):
    """Gamma distributed numbers."""
    shape = ints_of(shape) + random._broadcast_shape((), alpha, beta)
    drawn = random.draw("random_gamma", {"shape": shape, "dtype": mstype.float32}, random._count(shape), (alpha,),
                        **_source(self))
    return apply("div", (drawn, beta))


_add(primitive("StandardNormal",
               lambda self, shape: random.draw_normal(shape, **_source(self)), _seeds, "Standard normal numbers."))
_add(primitive("UniformReal",
               lambda self, shape: random.draw_uniform(shape, **_source(self)), _seeds, "Numbers in [0, 1)."))
_add(primitive("UniformInt", _uniform_int, _seeds))
_add(primitive("Gamma", _gamma, _seeds))
_add(primitive("Poisson", _drawn("random_poisson", mstype.int32), _seeds, "Poisson distributed whole numbers."))
_add(primitive("RandomChoiceWithMask", lambda self, input_x: random._choose(input_x, self.count, **_source(self)),
               lambda count=256, seed=0, seed2=0: {"count": count, **_seeds(seed,
                   seed2)}, "Positions of true elements in random order."))
_add(primitive("Multinomial",
               lambda self, x, num_samples: random._categories(x, num_samples, True, self.dtype, **_source(self)),
               lambda seed=0, seed2=0, dtype=mstype.int32: {**_seeds(seed, seed2),
                                                            "dtype": dtype}, "Categories drawn with weights."))
_add(primitive("RandomCategorical",
               lambda self, logits, num_sample, seed=0: random._softmax_categories(
                   logits, num_sample, self.dtype, **random.own_source(self, seed)),
               "dtype=mstype.int64", "Categories drawn with the softmax of the rows as weights."))
_add(primitive("TruncatedNormal",
               lambda self, shape: random.draw_truncated_normal(shape, dtype=self.dtype, **_source(self)),
               lambda dtype=mstype.float32, seed=0, seed2=0: {"dtype": dtype,
                   **_seeds(seed, seed2)}, "Normal numbers within two standard deviations."))
_add(primitive("StandardLaplace",
               lambda self, shape: random._laplace(shape, **_source(self)), _seeds,
               "Laplace distributed numbers."))
_add(primitive("RandomShuffle", lambda self, x: random._shuffled(x, **_source(self)), _seeds,
               "The slices along the first dimension in random order."))
_add(primitive("Bernoulli", lambda self, x, p: random._tossed(x, p, **({} if self.seed == -1 else {"generator": random.Fixed(self.seed, self.offset)})),
               "seed=-1, offset=0", "1 with probability p, else 0."))


def _randperm(self, n):
    """The numbers 0 to n - 1 in random order, filled up to max_length."""
    n = n.item() if isinstance(n, Tensor) else n
    return apply("pad", (random._permutation(n, self.dtype),), {"pads": (0, self.max_length - n), "value": self.pad})


_add(primitive("Randperm", _randperm, "max_length=1, pad=-1, dtype=mstype.int32"))
del _name, _form, _function

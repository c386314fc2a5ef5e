# SPDX-License-Identifier: Apache-2.0
"""Shapes: joining, cutting, turning, repeating and padding Tensors, and asking about them."""
import builtins
import itertools

from .._core import Tensor, apply, grad_recording
from ..common import dtype as mstype
from ..graph import state as _state
from ._make import named
from spore._core import type_name as _type_name

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_like", "cartesian_prod",
    "cast",
    "cat", "chunk", "column_stack", "combinations", "concat", "deepcopy", "diag", "diagflat",
    "diagonal_scatter", "dsplit", "dstack", "dtype", "expand", "expand_as", "expand_dims", "flatten", "flip", "fliplr",
    "flipud", "hsplit", "hstack", "is_tensor", "meshgrid", "moveaxis", "movedim", "narrow", "numel", "pad", "padding",
    "rank",
    "ravel", "repeat_elements", "repeat_interleave", "reverse", "reverse_sequence", "rot90", "shape", "size", "slice",
    "split", "squeeze", "stack", "strided_slice", "swapaxes", "swapdims", "t",
    "tensor_split", "tuple_to_array", "type_as", "unbind", "unsqueeze", "unstack", "view_as", "vsplit", "vstack"]


# --- reading arguments, shared with the files beside this one --------------------------------------------------------

def of_rank(x, low, high, where, what="input"):
    """x, or a ValueError where it has not as many dimensions as that; high None: any number above."""
    if not low <= x.ndim or high is not None and x.ndim > high:
        wanted = f"{low}" if low == high else f"{low} or more" if high is None else f"{low} to {high}"
        raise ValueError(f"For '{where}', {what} must have {wanted} dimensions, but its shape is {x.shape}")
    return x


def tensor_of(value, what="input", where="this operator"):
    """value if it is a Tensor, else TypeError."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{where}: {what} must be a Tensor, but got {_type_name(value)}")
    return value


def int_of(value, what="axis"):
    """A Python int from an int or a Tensor of one integer."""
    if isinstance(value, builtins.bool) or not isinstance(value, (int, Tensor)) and not hasattr(value, "__index__"):
        raise TypeError(f"{what} must be an int, but got {_type_name(value)}")
    return value.__index__() if not isinstance(value, Tensor) else int(value.item())


def ints_of(value, what="shape"):
    """A tuple of ints from an int, a sequence of ints or a Tensor."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        return tuple(int_of(v, what) for v in value)
    return (int_of(value, what),)


def axis_of(axis, ndim, what="axis"):
    """An axis in [0, ndim)."""
    axis = int_of(axis, what)
    if not -ndim <= axis < ndim:
        raise ValueError(f"{what} {axis} is out of range for {ndim} dimensions: it must be in [{-ndim}, {ndim})")
    return axis % ndim


def many_of(tensors, where):
    """A list of Tensors from a tuple or list."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{where}: a tuple or list of Tensors is wanted, but got {_type_name(tensors)}")
    if not tensors:
        raise ValueError(f"{where}: there are no Tensors")
    return [tensor_of(one, f"element {i}", where) for i, one in enumerate(tensors)]


def part(x, axis, start, stop, step=1) -> Tensor:
    """x[..., start:stop:step, ...] along one axis; start and stop as slice.indices() gives them."""
    lead = x.shape[:axis]
    return apply("slice", (x,), {"start": (0,) * axis + (start,), "stop": lead + (stop,),
                                 "step": (1,) * axis + (step,)})


def _tuple(result):
    return result if isinstance(result, tuple) else (result,)


# --- questions -------------------------------------------------------------------------------------------------------

def shape(input_x):
    """The length of every dimension, a tuple."""
    return tensor_of(input_x, "input_x", "shape").shape


def rank(input_x):
    """The number of dimensions."""
    return tensor_of(input_x, "input_x", "rank").ndim


def size(input_x):
    """The number of elements."""
    return tensor_of(input_x, "input_x", "size").size


def numel(input):
    """The number of elements."""
    return tensor_of(input, "input", "numel").size


def dtype(input_x):
    """The type of the elements, of a sparse Tensor that of its values."""
    from spore.common.sparse_tensor import _Sparse
    return (input_x if isinstance(input_x, _Sparse) else tensor_of(input_x, "input_x", "dtype")).dtype


def is_tensor(obj):
    """Is it a Tensor?"""
    return isinstance(obj, Tensor)


# --- other dtype -----------------------------------------------------------------------------------------------------

def cast(input, dtype) -> Tensor:
    """The numbers as another dtype."""
    if isinstance(dtype, str):
        raise TypeError(f"cast: dtype must be a dtype of this package, but got the text {dtype!r}")
    if not isinstance(input, Tensor):
        input = Tensor(input)
    return apply("cast", (input,), {"dtype": dtype})


def type_as(input, other) -> Tensor:
    """The numbers as the dtype of another Tensor."""
    return apply("cast", (input,), {"dtype": other.dtype})


def deepcopy(input_x) -> Tensor:
    """The same numbers in memory of their own."""
    return apply("copy", (input_x,))


def tuple_to_array(input_x) -> Tensor:
    """A Tensor of a tuple (or range) of numbers: int32 when the first one is whole, else float32."""
    if not isinstance(input_x, (tuple, range)) or not input_x:
        raise TypeError(f"tuple_to_array: a tuple of numbers is wanted, but got {input_x!r}")
    if isinstance(input_x[0], int):
        return Tensor([int(v) for v in input_x], mstype.int32)
    return Tensor(list(input_x), mstype.float32)


# --- dimensions that come and go -------------------------------------------------------------------------------------

def expand_dims(input_x, axis) -> Tensor:
    """A dimension of size 1 more."""
    tensor_of(input_x, "input_x", "expand_dims")
    axis = axis_of(axis, input_x.ndim + 1)
    return apply("reshape", (input_x,), {"shape": input_x.shape[:axis] + (1,) + input_x.shape[axis:]})


def unsqueeze(input, dim) -> Tensor:
    """A dimension of size 1 more."""
    return expand_dims(input, dim)


def squeeze(input, axis=None) -> Tensor:
    """Without dimensions of size 1: all of them, or those of the ones given."""
    tensor_of(input, "input", "squeeze")
    if axis is None or axis in ((), []):
        return apply("reshape", (input,), {"shape": tuple(n for n in input.shape if n != 1)})
    gone = {axis_of(a, max(input.ndim, 1)) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))}
    return apply("reshape", (input,), {"shape": tuple(n for i, n in enumerate(input.shape) if i not in gone or n != 1)})


def _mint_squeeze(input, dim=None):
    """Without dimensions of size 1: all of them, or those of the ones given."""
    return squeeze(input, dim)


def overwritten(x, function) -> Tensor:
    """``function(x)``, written into x; answers x. Of a Parameter, while gradients are recorded, it answers the new contents: they have a
    history, and the Parameter keeps its own."""
    if not (grad_recording() and getattr(x, "__parameter__", False)):
        apply("assign", (x, function(x)))
        return x
    new = function(apply("copy", (x,)))
    apply("assign", (x, new))
    return new


def own(x) -> Tensor:
    """The Tensor in memory of its own, so that a write to the result does not reach what it was made of: where MindSpore's kernels copy.
    A graph needs none, since its values do not change."""
    return x if _state.capture() is not None else apply("copy", (x,))


def _flatten(x, start_dim, end_dim):
    if x.ndim == 0:
        return apply("reshape", (x,), {"shape": (1,)})
    first, last = axis_of(start_dim, x.ndim, "start_dim"), axis_of(end_dim, x.ndim, "end_dim")
    if first > last:
        raise ValueError(f"flatten: start_dim {start_dim} lies behind end_dim {end_dim}")
    merged = 1
    for n in x.shape[first:last + 1]:
        merged *= n
    return apply("reshape", (x,), {"shape": x.shape[:first] + (merged,) + x.shape[last + 1:]})


def flatten(input, order="C", *, start_dim=1, end_dim=-1) -> Tensor:
    """Several dimensions as one, by default all but the first."""
    tensor_of(input, "input", "flatten")
    if order not in ("C", "F"):
        raise ValueError(f"flatten: order must be 'C' or 'F', but got {order!r}")
    if order == "F":
        input = apply("transpose", (input,))
    if input.ndim == 1 and start_dim == 1:
        return input
    return own(_flatten(input, start_dim, end_dim))


def _tensor_flatten(self, order="C", last=None, *, start_dim=0, end_dim=-1):
    """Several dimensions as one, by default all: flatten(start_dim, end_dim), or flatten(order) with 'C' or 'F'."""
    if isinstance(order, int):
        return own(_flatten(self, order, end_dim if last is None else last))
    if order == "F":
        self = apply("transpose", (self,))
    return _flatten(self, start_dim, end_dim)


def _mint_flatten(input, start_dim=0, end_dim=-1):
    """Several dimensions as one, by default all."""
    return _flatten(input, start_dim, end_dim)


def ravel(input) -> Tensor:
    """All elements in one dimension."""
    return apply("reshape", (input,), {"shape": (-1,)})


def view_as(input, other) -> Tensor:
    """The elements under the shape of another Tensor."""
    return apply("reshape", (input,), {"shape": tensor_of(other, "other", "view_as").shape})


def atleast_1d(inputs):
    """At least one dimension."""
    return _at_least(inputs, 1)


def atleast_2d(inputs):
    """At least two dimensions."""
    return _at_least(inputs, 2)


def atleast_3d(inputs):
    """At least three dimensions."""
    return _at_least(inputs, 3)


def _at_least(inputs, n):
    if isinstance(inputs, (tuple, list)):
        return tuple(_at_least(one, n) for one in inputs)
    old = inputs.shape
    if len(old) >= n:
        return inputs
    if n == 3 and len(old) == 2:
        new = old + (1,)
    elif n == 3 and len(old) == 1:
        new = (1,) + old + (1,)
    else:
        new = (1,) * (n - len(old)) + old
    return apply("reshape", (inputs,), {"shape": new})


# --- order of dimensions ---------------------------------------------------------------------------------------------

def _permute(x, perm):
    return apply("transpose", (x,), {"perm": tuple(perm)})


def swapaxes(input, axis0, axis1) -> Tensor:
    """Two dimensions exchanged."""
    tensor_of(input, "input", "swapaxes")
    perm = list(range(input.ndim))
    a, b = axis_of(axis0, input.ndim, "axis0"), axis_of(axis1, input.ndim, "axis1")
    perm[a], perm[b] = b, a
    return _permute(input, perm)


def swapdims(input, dim0, dim1) -> Tensor:
    """Two dimensions exchanged."""
    return swapaxes(input, dim0, dim1)


def moveaxis(x, source, destination) -> Tensor:
    """Dimensions moved to other places, the rest in order."""
    source = [axis_of(a, x.ndim, "source") for a in ints_of(source, "source")]
    destination = [axis_of(a, x.ndim, "destination") for a in ints_of(destination, "destination")]
    if len(source) != len(destination):
        raise ValueError(f"moveaxis: {len(source)} dimensions are to go to {len(destination)} places")
    perm = [a for a in range(x.ndim) if a not in source]
    for to, a in sorted(zip(destination, source)):
        perm.insert(to, a)
    return _permute(x, perm)


def movedim(x, source, destination) -> Tensor:
    """Dimensions moved to other places, the rest in order."""
    return moveaxis(x, source, destination)


def t(input) -> Tensor:
    """The transpose of a matrix; with fewer or more than two dimensions the Tensor itself."""
    return _permute(input, (1, 0)) if input.ndim == 2 else input


def _mint_t(input):
    """The first two dimensions exchanged; a vector stays."""
    return swapaxes(input, 0, 1) if input.ndim >= 2 else input


def _mint_transpose(input, dim0, dim1):
    """Two dimensions exchanged."""
    return swapaxes(input, dim0, dim1)


def _tensor_transpose(self, *axes, **named_axes):
    """Dimensions in another order, all given or as a tuple; two numbers exchange those dimensions."""
    if named_axes:
        axes = _by_name("transpose", axes, named_axes, ("dim0", "dim1"), ("axes",))
    if len(axes) == 2:
        return swapaxes(self, *axes)
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = axes[0]
    return _permute(self, axes or range(self.ndim)[::-1])


def _tensor_permute(self, *axis, **named_axes):
    """Dimensions in another order, all given or as a tuple."""
    if named_axes:
        axis = _by_name("permute", axis, named_axes, ("dims",), ("axis",))
    return _permute(self, axis[0] if len(axis) == 1 and isinstance(axis[0], (tuple, list)) else axis)


def _by_name(method, given, by_name, *forms):
    """Arguments of a method that takes any number of them by position, or those of one of the forms by name."""
    for form in forms:
        if set(form) == set(by_name) and not given:
            return tuple(by_name[name] for name in form)
        if form[len(given):] and set(form[len(given):]) == set(by_name) and len(form) > 1:
            return given + tuple(by_name[name] for name in form[len(given):])
    raise TypeError(f"{method}() got arguments by the names {sorted(by_name)}; it takes "
                    + " or ".join(", ".join(form) for form in forms))


# --- broadcasting ----------------------------------------------------------------------------------------------------

def expand(input_x, size) -> Tensor:
    """Repeated along dimensions of size 1, without copying."""
    return apply("broadcast_to", (input_x,), {"shape": ints_of(size, "size")})


def expand_as(input, other) -> Tensor:
    """Broadcast to the shape of another Tensor."""
    return apply("broadcast_to", (input,), {"shape": tensor_of(other, "other", "expand_as").shape})


def _tensor_expand_as(self, other=None, *, x=None):
    """Broadcast to the shape of another Tensor."""
    return expand_as(self, x if other is None else other)


def broadcast_like(input, other) -> Tensor:
    """Broadcast to the shape of another Tensor."""
    return expand_as(input, other)


def meshgrid(*inputs, indexing="xy"):
    """One grid per vector: each varies along its own dimension."""
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = tuple(inputs[0])
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', but got {indexing!r}")
    n = len(inputs)
    place = list(range(n))
    if indexing == "xy" and n > 1:
        place[0], place[1] = 1, 0
    full = [0] * n
    for vector, at in zip(inputs, place):
        if tensor_of(vector, "every input", "meshgrid").ndim > 1:
            raise ValueError(f"meshgrid: vectors are wanted, but got a Tensor of {vector.ndim} dimensions")
        full[at] = vector.size
    return tuple(apply("copy", (apply("broadcast_to", (apply("reshape", (vector,), {
        "shape": tuple(-1 if i == at else 1
                       for i in range(n))}),), {"shape": tuple(full)}),)) for vector, at in zip(inputs, place))


def _mint_meshgrid(*tensors, indexing=None):
    """One grid per vector; matrix order unless said otherwise."""
    return meshgrid(*tensors, indexing=indexing or "ij")


# --- joining ---------------------------------------------------------------------------------------------------------

def concat(tensors, axis=0) -> Tensor:
    """Joined along a dimension they have."""
    return apply("concat", many_of(tensors, "concat"), {"axis": int_of(axis)})


def cat(tensors, axis=0) -> Tensor:
    """Joined along a dimension they have."""
    return apply("concat", many_of(tensors, "cat"), {"axis": int_of(axis)})


def stack(tensors, axis=0) -> Tensor:
    """Joined along a new dimension."""
    return apply("stack", many_of(tensors, "stack"), {"axis": int_of(axis)})


def _mint_cat(tensors, dim=0):
    """Joined along a dimension they have."""
    return cat(tensors, dim)


def _mint_stack(tensors, dim=0):
    """Joined along a new dimension."""
    return stack(tensors, dim)


def hstack(tensors) -> Tensor:
    """Joined along the second dimension, vectors along their only one."""
    tensors = [_at_least(x, 1) for x in many_of(tensors, "hstack")]
    return concat(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(inputs) -> Tensor:
    """Joined as rows."""
    return concat([_at_least(x, 2) for x in many_of(inputs, "vstack")], 0)


def dstack(tensors) -> Tensor:
    """Joined along the third dimension."""
    return concat([_at_least(x, 3) for x in many_of(tensors, "dstack")], 2)


def column_stack(tensors) -> Tensor:
    """Joined as columns."""
    return concat([apply("reshape", (x,), {"shape": (-1, 1)}) if x.ndim < 2 else x
                   for x in many_of(tensors, "column_stack")], 1)


def block_diag(*inputs) -> Tensor:
    """Matrices along the diagonal of one larger matrix."""
    blocks = [_at_least(x if isinstance(x, Tensor) else Tensor(x), 2) for x in inputs]
    width = sum(b.shape[1] for b in blocks)
    rows, left = [], 0
    for b in blocks:
        rows.append(apply("pad", (b,), {"pads": (0, 0, left, width - left - b.shape[1])}))
        left += b.shape[1]
    return concat(rows, 0)


def cartesian_prod(*inputs) -> Tensor:
    """Every combination of one element of each vector, one row each."""
    grids = meshgrid(*inputs, indexing="ij")
    if len(grids) == 1:
        return grids[0]
    return stack([ravel(g) for g in grids], 1)


def combinations(input, r=2, with_replacement=False) -> Tensor:
    """Every choice of r elements, one row each."""
    tensor_of(input, "input", "combinations")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = [list(c) for c in choose(range(input.size), r)]
    if not rows:
        return apply("full", (), {"shape": (0, r) if r else (0,), "value": 0, "dtype": input.dtype})
    return apply("index", (input, Tensor(rows, mstype.int64)))


# --- cutting ---------------------------------------------------------------------------------------------------------

def _pieces(x, sizes, axis):
    return _tuple(apply("split", (x,), {"sizes": tuple(sizes), "axis": axis}))


def split(tensor, split_size_or_sections, axis=0):
    """Pieces of one size (the last may be smaller) or of the sizes given."""
    tensor_of(tensor, "tensor", "split")
    axis = axis_of(axis, tensor.ndim)
    n, by = tensor.shape[axis], split_size_or_sections
    if isinstance(by, (tuple, list)):
        by = ints_of(by, "split_size_or_sections")
        if sum(by) != n:
            raise ValueError(f"split: the sizes {by} make {sum(by)} together, but dimension {axis} has {n}")
        return _pieces(tensor, by, axis)
    by = int_of(by, "split_size_or_sections")
    if by <= 0:
        raise ValueError(f"split: the size of the pieces must be positive, but got {by}")
    sizes = [by] * (n // by) + ([n % by] if n % by else [])
    return _pieces(tensor, sizes or [0], axis)


def _mint_split(tensor, split_size_or_sections, dim=0):
    """Pieces of one size (the last may be smaller) or of the sizes given."""
    return split(tensor, split_size_or_sections, dim)


def _tensor_split_method(self, split_size_or_sections=None, axis=0, *, split_size=None, dim=None):
    """Pieces of one size (the last may be smaller) or of the sizes given."""
    return split(self, split_size_or_sections if split_size is None else split_size, axis if dim is None else dim)


def chunk(input, chunks, axis=0):
    """Pieces of equal size, as many as asked for or fewer; the last may be smaller."""
    tensor_of(input, "input", "chunk")
    axis, chunks = axis_of(axis, input.ndim), int_of(chunks, "chunks")
    if chunks <= 0:
        raise ValueError(f"chunk: the number of pieces must be positive, but got {chunks}")
    n = input.shape[axis]
    if n == 0:
        return _pieces(input, [0] * chunks, axis)
    return split(input, -(-n // chunks), axis)


def _mint_chunk(input, chunks, dim=0):
    """Pieces of equal size, as many as asked for or fewer; the last may be smaller."""
    return chunk(input, chunks, dim)


def _tensor_chunk(self, chunks, axis=0, *, dim=None):
    """Pieces of equal size, as many as asked for or fewer; the last may be smaller."""
    return chunk(self, chunks, axis if dim is None else dim)


def tensor_split(input, indices_or_sections, axis=0):
    """As many pieces as asked for, the first ones larger by one; or cut before the given positions."""
    tensor_of(input, "input", "tensor_split")
    axis = axis_of(axis, input.ndim)
    n, by = input.shape[axis], indices_or_sections
    if isinstance(by, (tuple, list)):
        cuts = [0] + [min(max(c + n if c < 0 else c, 0), n) for c in ints_of(by, "indices_or_sections")] + [n]
        return tuple(part(input, axis, a, max(a, b)) for a, b in zip(cuts, cuts[1:]))
    by = int_of(by, "indices_or_sections")
    if by <= 0:
        raise ValueError(f"tensor_split: the number of pieces must be positive, but got {by}")
    if by > max(n, 1 << 20):
        raise ValueError(f"tensor_split: {by} pieces are too many for a dimension of size {n}")
    return _pieces(input, [n // by + (i < n % by) for i in range(by)], axis)


def hsplit(input, indices_or_sections):
    """tensor_split along the second dimension, of a vector along its only one."""
    tensor_of(input, "input", "hsplit")
    return tensor_split(input, indices_or_sections, 0 if input.ndim == 1 else 1)


def vsplit(input, indices_or_sections):
    """tensor_split along the first dimension."""
    tensor_of(input, "input", "vsplit")
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input, indices_or_sections):
    """tensor_split along the third dimension."""
    tensor_of(input, "input", "dsplit")
    return tensor_split(input, indices_or_sections, 2)


def unstack(input_x, axis=0):
    """The slices along a dimension."""
    tensor_of(input_x, "input_x", "unstack")
    return _tuple(apply("unstack", (input_x,), {"axis": axis_of(axis, input_x.ndim)}))


def unbind(input, dim=0):
    """The slices along a dimension."""
    return unstack(input, dim)


def narrow(input, axis, start, length) -> Tensor:
    """`length` slices from `start` on along a dimension."""
    axis = axis_of(axis, tensor_of(input, "input", "narrow").ndim)
    n, start, length = input.shape[axis], int_of(start, "start"), int_of(length, "length")
    if start < 0:
        start += n
    if not 0 <= start <= n or length < 0 or start + length > n:
        raise ValueError(f"narrow: {length} elements from {start} on do not lie within dimension {axis} of size {n}")
    return part(input, axis, start, start + length)


def _mint_narrow(input, dim, start, length):
    """`length` slices from `start` on along a dimension."""
    return narrow(input, dim, start, length)


def slice(input_x, begin, size) -> Tensor:
    """`size` elements from `begin` on along every dimension; size -1 takes all that follow."""
    begin, size = ints_of(begin, "begin"), ints_of(size, "size")
    if not len(begin) == len(size) == input_x.ndim:
        raise ValueError(f"slice: begin has {len(begin)} and size {len(size)} elements, but the Tensor has "
                         f"{input_x.ndim} dimensions")
    stop = []
    for i, (a, n, all_) in enumerate(zip(begin, size, input_x.shape)):
        n = all_ - a if n == -1 else n
        if a < 0 or n < 0 or a + n > all_:
            raise ValueError(f"slice: {n} elements from {a} on do not lie within dimension {i} of size {all_}")
        stop.append(a + n)
    return apply("slice", (input_x,), {"start": begin, "stop": tuple(stop)})


def strided_slice(input_x, begin, end, strides, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
                  shrink_axis_mask=0) -> Tensor:
    """x[begin:end:strides]; bit i of a mask changes what entry i means."""
    begin, end, strides = ints_of(begin, "begin"), ints_of(end, "end"), ints_of(strides, "strides")
    if not len(begin) == len(end) == len(strides):
        raise ValueError(f"strided_slice: begin, end and strides have {len(begin)}, {len(end)} and "
                         f"{len(strides)} elements, "
                         "they must be equally many")
    if builtins.bin(ellipsis_mask).count("1") > 1:
        raise ValueError("strided_slice: ellipsis_mask may have one bit at most")
    index = []
    for i, (a, b, step) in enumerate(zip(begin, end, strides)):
        if ellipsis_mask >> i & 1:
            index.append(Ellipsis)
        elif new_axis_mask >> i & 1:
            index.append(None)
        elif shrink_axis_mask >> i & 1:
            index.append(a)
        else:
            if step == 0:
                raise ValueError("strided_slice: strides must not be 0")
            index.append(builtins.slice(None if begin_mask >> i & 1 else a, None if end_mask >> i & 1 else b, step))
    return input_x[tuple(index)]


# --- repeating -------------------------------------------------------------------------------------------------------

def _repeated(x, repeats, axis):
    result = apply("repeat", (x,), {"repeats": repeats, "axis": axis})
    return own(result) if repeats == 1 else result


def repeat_elements(x, rep, axis=0) -> Tensor:
    """Each slice along a dimension repeated in place."""
    return _repeated(x, int_of(rep, "rep"), axis_of(axis, x.ndim))


def repeat_interleave(input, repeats, axis=None) -> Tensor:
    """Each slice along a dimension repeated in place; without a dimension, each element of the flattened Tensor."""
    if axis is None:
        input, axis = ravel(input), 0
    axis = axis_of(axis, input.ndim)
    counts = ints_of(repeats, "repeats")
    if any(c < 0 for c in counts):
        raise ValueError(f"repeat_interleave: repeats must not be negative, but got {counts}")
    if len(counts) == 1:
        return _repeated(input, counts[0], axis)
    if len(counts) != input.shape[axis]:
        raise ValueError(f"repeat_interleave: there are {len(counts)} repeats for dimension {axis} of size "
                         f"{input.shape[axis]}")
    # Where each result comes from: the first end of a run that lies behind it. Made by the engine, which refuses what does not fit.
    places = apply("arange", (), {"start": 0, "end": builtins.sum(counts), "step": 1, "dtype": mstype.int64})
    where = apply("searchsorted", (Tensor(list(itertools.accumulate(counts)), mstype.int64), places), {"right": True, "dtype": mstype.int64})
    return apply("index", (input, where), {"axes": (axis,)})


def _mint_repeat_interleave(input, repeats, dim=None, *, output_size=None):
    """Each slice along a dimension repeated in place."""
    return repeat_interleave(input, repeats, dim)


def _tensor_repeat(self, *repeats, axis=None):
    """Repeated as a whole along each dimension; with an axis, the older meaning: each slice repeated in place."""
    if axis is not None:
        return repeat_interleave(self, repeats[0], axis)
    if len(repeats) == 1 and isinstance(repeats[0], (tuple, list, Tensor)):
        repeats = ints_of(repeats[0], "repeats")
    if len(repeats) < self.ndim:
        raise ValueError(f"repeat: there are {len(repeats)} repeats for {self.ndim} dimensions")
    return apply("tile", (self,), {"dims": tuple(repeats)})


def _tensor_tile(self, reps=None, *, dims=None):
    """Repeated as a whole along each dimension."""
    return apply("tile", (self,), {"dims": ints_of(reps if dims is None else dims, "dims")})


# --- turning ---------------------------------------------------------------------------------------------------------

def flip(input, dims) -> Tensor:
    """The elements in reverse along dimensions."""
    tensor_of(input, "input", "flip")
    dims = {axis_of(d, input.ndim, "dims") for d in ints_of(dims, "dims")}
    start = tuple(n - 1 if i in dims else 0 for i, n in enumerate(input.shape))
    stop = tuple(-1 if i in dims else n for i, n in enumerate(input.shape))
    step = tuple(-1 if i in dims else 1 for i in range(input.ndim))
    return apply("copy", (apply("slice", (input,), {"start": start, "stop": stop, "step": step}),))


def _tensor_flip(self, *axes, dims=None):
    """The elements in reverse along dimensions."""
    axes = axes if dims is None else (dims,)
    return flip(self, axes[0] if len(axes) == 1 else axes)


def fliplr(input) -> Tensor:
    """Columns in reverse."""
    return flip(input, (1,))


def flipud(input) -> Tensor:
    """Rows in reverse."""
    return flip(input, (0,))


def reverse(x, axis) -> Tensor:
    """The elements in reverse along dimensions."""
    return flip(x, axis)


def rot90(input, k, dims) -> Tensor:
    """Turned by k right angles in the plane of two dimensions."""
    tensor_of(input, "input", "rot90")
    a, b = (axis_of(d, input.ndim, "dims") for d in ints_of(dims, "dims"))
    if a == b:
        raise ValueError(f"rot90: two different dimensions are wanted, but got {dims}")
    k = int_of(k, "k") % 4
    if k == 0:
        return apply("copy", (input,))
    if k == 2:
        return flip(input, (a, b))
    return swapaxes(flip(input, (b,)), a, b) if k == 1 else flip(swapaxes(input, a, b), (b,))


def reverse_sequence(x, seq_lengths, seq_dim, batch_dim=0) -> Tensor:
    """The first seq_lengths[b] elements of each sequence in reverse, the others in place."""
    seq, batch = axis_of(seq_dim, x.ndim, "seq_dim"), axis_of(batch_dim, x.ndim, "batch_dim")
    if seq == batch:
        raise ValueError(f"reverse_sequence: seq_dim and batch_dim are both {seq}")
    n, lengths = x.shape[seq], ints_of(seq_lengths, "seq_lengths")
    if len(lengths) != x.shape[batch] or any(not 0 <= k <= n for k in lengths):
        raise ValueError(f"reverse_sequence: {x.shape[batch]} lengths from 0 to {n} are wanted, but got {lengths}")
    where = Tensor([[k - 1 - i if i < k else i for i in range(n)] for k in lengths], mstype.int64)
    rows = Tensor([[b] for b in range(len(lengths))], mstype.int64)
    moved = moveaxis(x, (batch, seq), (0, 1))
    return moveaxis(apply("index", (moved, rows, where)), (0, 1), (batch, seq))


# --- padding ---------------------------------------------------------------------------------------------------------

def pad(input_x, padding=None, mode="constant", value=None, *, paddings=None) -> Tensor:
    """More elements at the ends of dimensions. padding lists (before, after) from the last dimension on. The form of older
    scripts, a pair for each dimension from the first on, is taken too."""
    tensor_of(input_x, "input_x", "pad")
    padding = paddings if padding is None else padding
    if isinstance(padding, (tuple, list)) and any(isinstance(p, (tuple, list)) for p in padding):
        if len(padding) != input_x.ndim or any(not isinstance(p, (tuple, list)) or len(p) != 2 for p in padding):
            raise ValueError(f"pad: paddings must have a pair for each of {input_x.ndim} dimensions, but got {padding}")
        padding = tuple(n for pair in reversed(padding) for n in pair)
    padding = ints_of(padding, "padding")
    if len(padding) % 2 or len(padding) > 2 * input_x.ndim:
        raise ValueError(f"pad: padding has {len(padding)} elements; it must be even and at most {2 * input_x.ndim}")
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise ValueError(f"pad: mode must be constant, reflect, replicate or circular, but got {mode!r}")
    if mode != "constant" and value not in (None, 0):
        raise ValueError(f"pad: mode {mode!r} takes no value, but got {value}")
    pads = [0] * (2 * input_x.ndim)
    for i in range(0, len(padding), 2):
        at = 2 * (input_x.ndim - 1 - i // 2)
        pads[at], pads[at + 1] = padding[i], padding[i + 1]
    if isinstance(value, Tensor):
        value = value.item()
    return apply("pad", (input_x,), {"pads": tuple(pads), "mode": mode, "value": 0 if value is None else value})


def padding(x, pad_dim_size=8) -> Tensor:
    """The last dimension, of size 1, filled up with zeros."""
    tensor_of(x, "x", "padding")
    if x.ndim < 2 or x.shape[-1] != 1:
        raise ValueError(f"padding: the last dimension must have size 1, but the shape is {x.shape}")
    return apply("pad", (x,), {"pads": (0, 0) * (x.ndim - 1) + (0, pad_dim_size - 1)})


# --- diagonals -------------------------------------------------------------------------------------------------------

def diag(input) -> Tensor:
    """A Tensor with the elements on the diagonal of twice as many dimensions."""
    tensor_of(input, "input", "diag")
    if input.ndim == 0:
        raise ValueError("diag: the Tensor has no dimensions")
    flat = ravel(input)
    return apply("reshape", (apply("diag_embed", (flat,)),), {"shape": input.shape * 2})


def _mint_diag(input, diagonal=0):
    """A matrix with the vector on a diagonal, or the diagonal of a matrix."""
    tensor_of(input, "input", "diag")
    return apply("diag_embed" if input.ndim == 1 else "diagonal", (input,), {"offset": diagonal})


def _tensor_diag(self, diagonal=None):
    """As ops.diag; with a diagonal as mint.diag."""
    return diag(self) if diagonal is None else own(_mint_diag(self, diagonal))


def diagflat(input, offset=0) -> Tensor:
    """A matrix with all elements on a diagonal."""
    return apply("diag_embed", (ravel(input),), {"offset": int_of(offset, "offset")})


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1) -> Tensor:
    """A copy in which src stands on a diagonal."""
    return apply("diagonal_put", (apply("copy", (input,)), src), {"offset": offset, "dim1": dim1, "dim2": dim2})


# --- methods and mint ------------------------------------------------------------------------------------------------

def _tensor_squeeze(self, *axis, **named_axes):
    """Without dimensions of size 1: all of them, or those given."""
    if named_axes:
        axis = _by_name("squeeze", axis, named_axes, ("axis",), ("dim",))
    if len(axis) == 1:
        axis = axis[0]
    return squeeze(self, axis if axis != () else None)


def _tensor_expand(self, *sizes, size=None):
    """Repeated along dimensions of size 1, without copying."""
    size = sizes if size is None else (size,)
    return expand(self, size[0] if len(size) == 1 and isinstance(size[0], (tuple, list, Tensor)) else size)


def _tensor_view(self, *shape, **by_name):
    """The elements under another shape; with a dtype, the same bytes as numbers of that dtype."""
    if by_name:
        shape = _by_name("view", shape, by_name, ("shape",), ("dtype",))
    if len(shape) == 1 and isinstance(shape[0], (tuple, list, Tensor)):
        shape = ints_of(shape[0])
    elif len(shape) == 1 and not isinstance(shape[0], int):
        return _bytes_as(self, shape[0])
    return apply("reshape", (self,), {"shape": tuple(shape)})


def _bytes_as(x, dtype):
    """The bytes of a Tensor as numbers of another dtype; the last dimension grows or shrinks with their size."""
    old, new = x.itemsize, Tensor(0, dtype).itemsize
    if x.ndim == 0 and old != new:
        raise ValueError(f"view: a Tensor without dimensions and of {x.dtype} has no view of {dtype}, whose size is another")
    if x.ndim and x.shape[-1] * old % new:
        raise ValueError(f"view: the last dimension has {x.shape[-1] * old} bytes, which do not make numbers of {dtype}")
    shape = x.shape if x.ndim == 0 else x.shape[:-1] + (x.shape[-1] * old // new,)
    return Tensor.convert_bytes_to_tensor(x.get_bytes(), shape, dtype)


def _tensor_resize(self, *new_shape):
    """The elements under another shape; missing ones are zero, too many are dropped."""
    new = ints_of(new_shape[0]) if len(new_shape) == 1 else tuple(new_shape)
    count = 1
    for n in new:
        count *= n
    flat = ravel(self)
    return apply("reshape", (apply("pad", (flat,), {"pads": (0, count - self.size)}),), {"shape": new})


def _tensor_narrow(self, dim, start, length):
    """`length` slices from `start` on along a dimension."""
    return narrow(self, dim, start, length)


TENSOR_METHODS = named({
    "flatten": _tensor_flatten, "squeeze": _tensor_squeeze, "expand_dims": expand_dims, "unsqueeze": unsqueeze,
    "swapaxes": swapaxes, "swapdims": swapdims, "moveaxis": moveaxis, "movedim": movedim, "t": t,
    "expand": _tensor_expand,
    "expand_as": _tensor_expand_as, "view_as": view_as, "view": _tensor_view, "ravel": ravel, "split": _tensor_split_method,
    "chunk": _tensor_chunk, "tensor_split": tensor_split, "hsplit": hsplit, "vsplit": vsplit, "dsplit": dsplit,
    "unbind": unbind, "repeat": _tensor_repeat, "repeat_interleave": _mint_repeat_interleave, "tile": _tensor_tile,
    "flip": _tensor_flip, "fliplr": fliplr, "flipud": flipud, "reverse": reverse, "rot90": rot90,
    "reverse_sequence": lambda self, seq_lengths, seq_dim=0, batch_dim=0: reverse_sequence(self, seq_lengths, seq_dim,
        batch_dim),
    "diag": _tensor_diag, "diagflat": diagflat, "diagonal_scatter": diagonal_scatter, "narrow": _tensor_narrow,
    "resize": _tensor_resize, "transpose": _tensor_transpose, "permute": _tensor_permute})

MINT = named({
    "cat": _mint_cat, "concat": _mint_cat, "stack": _mint_stack, "split": _mint_split, "chunk": _mint_chunk,
    "unbind": unbind, "squeeze": _mint_squeeze, "unsqueeze": unsqueeze, "flatten": _mint_flatten, "swapaxes": swapaxes,
    "transpose": _mint_transpose, "t": _mint_t, "ravel": ravel, "flip": flip, "narrow": _mint_narrow,
    "meshgrid": _mint_meshgrid,
    "repeat_interleave": _mint_repeat_interleave, "diag": _mint_diag, "hstack": hstack, "vstack": vstack,
    "dstack": dstack,
    "nn.functional.flatten": _mint_flatten, "nn.functional.pad": lambda input, pad, mode="constant",
    value=0.0: globals()["pad"](input, pad, mode, value)})

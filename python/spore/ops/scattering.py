# SPDX-License-Identifier: Apache-2.0
"""Elements by position: gather and scatter, masks, order, distinct values."""
import builtins
import numbers

from .._core import Tensor, apply, grad_recording
from ..common import dtype as mstype
from ._make import named
from .array import axis_of, int_of, overwritten, part, ravel, tensor_of, unstack
from spore._core import type_name as _type_name

__all__ = [
    "argsort", "argwhere", "bucketize", "gather", "index_add", "index_fill", "index_select", "intopk", "masked_fill",
    "masked_scatter", "nonzero", "one_hot", "scatter", "scatter_add", "scatter_div", "scatter_max", "scatter_min",
    "scatter_mul",
    "scatter_nd", "scatter_nd_add", "scatter_nd_div", "scatter_nd_max", "scatter_nd_min", "scatter_nd_mul",
    "scatter_nd_sub",
    "scatter_nd_update", "scatter_sub", "scatter_update", "searchsorted", "select", "select_scatter", "sequence_mask",
    "slice_scatter", "sort", "take", "tensor_scatter_add", "tensor_scatter_div", "tensor_scatter_elements",
    "tensor_scatter_max",
    "tensor_scatter_min", "tensor_scatter_mul", "tensor_scatter_sub", "tensor_scatter_update", "topk", "unique",
    "unique_consecutive", "unique_with_pad", "unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod",
    "unsorted_segment_sum", "where"]


def _number(value):
    return isinstance(value, (builtins.bool, numbers.Number)) or type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0


def _copy(x):
    return apply("copy", (x,))


# --- choosing --------------------------------------------------------------------------------------------------------

def where(condition, input, other) -> Tensor:
    """input where the condition is true, else other."""
    return apply("select", (tensor_of(condition, "condition", "where"), input, other))


def select(condition, input, other) -> Tensor:
    """input where the condition is true, else other."""
    return apply("select", (tensor_of(condition, "condition", "select"), input, other))


def _mint_where(condition, input=None, other=None):
    """input where the condition is true, else other; alone, the positions where it is true."""
    return nonzero(condition, as_tuple=True) if input is None and other is None else where(condition, input, other)


def _mint_select(input, dim, index):
    """One slice along a dimension, without it."""
    dim = axis_of(dim, tensor_of(input, "input", "select").ndim, "dim")
    n, index = input.shape[dim], int_of(index, "index")
    if not -n <= index < n:
        raise IndexError(f"select: index {index} is out of range for dimension {dim} of size {n}")
    return apply("reshape", (part(input, dim, index % n, index % n + 1),),
                 {"shape": input.shape[:dim] + input.shape[dim + 1:]})


def _tensor_select(self, *args, **kwargs):
    """select(dim, index): one slice; select(condition, y): elements of y where the condition is false."""
    first = args[0] if args else kwargs.get("condition", kwargs.get("dim"))
    if isinstance(first, Tensor):
        return where(first, self, args[1] if len(args) > 1 else kwargs["y"])
    return _mint_select(self, first, args[1] if len(args) > 1 else kwargs["index"])


def masked_fill(input_x, mask, value) -> Tensor:
    """value where the mask is true."""
    tensor_of(input_x, "input_x", "masked_fill")
    tensor_of(mask, "mask", "masked_fill")
    if mask.dtype != mstype.bool_:
        raise TypeError(f"masked_fill: mask must be bool, but got {mask.dtype}")
    if not _number(value) and not isinstance(value, Tensor):
        raise TypeError(f"masked_fill: value must be a number or a Tensor, but got {_type_name(value)}")
    if isinstance(value, float) and input_x.dtype != mstype.bool_ and not (
            input_x.dtype.is_floating_point or input_x.dtype.is_complex):
        value = int(value)
    if isinstance(value, Tensor):
        value = apply("cast", (value,), {"dtype": input_x.dtype})
    elif input_x.dtype == mstype.bool_:
        value = builtins.bool(value)
    elif "UInt" in str(input_x.dtype):
        value = Tensor(value, input_x.dtype)
    return apply("select", (mask, value, input_x))


def masked_scatter(x, mask, source) -> Tensor:
    """A copy in which the elements of source, in order, stand where the mask is true."""
    if mask.dtype != mstype.bool_:
        raise TypeError(f"masked_scatter: mask must be bool, but got {mask.dtype}")
    mask = apply("broadcast_to", (mask,), {"shape": x.shape})
    places = apply("reshape", (apply("nonzero", (ravel(mask),)),), {"shape": (-1,)})
    if places.size > source.size:
        raise ValueError(f"masked_scatter: the mask has {places.size} true elements, but source only {source.size}")
    values = part(ravel(source), 0, 0, places.size)
    return apply("reshape", (apply("index_put", (_copy(ravel(x)), values, places)),), {"shape": x.shape})


# --- reading by position ---------------------------------------------------------------------------------------------

def gather(input_params, input_indices, axis, batch_dims=0) -> Tensor:
    """Slices along a dimension, one for each index."""
    tensor_of(input_params, "input_params", "gather")
    if not isinstance(input_indices, Tensor):
        if isinstance(input_indices, float):
            raise TypeError(f"gather: input_indices must be whole numbers, but got {input_indices}")
        input_indices = Tensor(input_indices, mstype.int64)
    return apply("gather", (input_params, input_indices), {"axis": int_of(axis), "batch_dims": int_of(batch_dims,
        "batch_dims")})


def _tensor_gather(self, *args, **kwargs):
    """gather(input_indices, axis, batch_dims=0): slices; gather(dim, index): single elements."""
    if "dim" in kwargs or "index" in kwargs or args and not isinstance(args[0], Tensor):
        names = dict(zip(("dim", "index"), args), **kwargs)
        return apply("gather_elements", (self, names["index"]), {"dim": int_of(names["dim"], "dim")})
    return gather(self, *args, **kwargs)


def index_select(input, axis, index) -> Tensor:
    """Slices along a dimension, one for each element of a vector."""
    if index.ndim > 1:
        raise ValueError(f"index_select: index must be a vector, but it has {index.ndim} dimensions")
    return apply("gather", (input, apply("reshape", (index,), {"shape": (-1,)})), {"axis": int_of(axis)})


def _tensor_index_select(self, axis=None, index=None, *, dim=None):
    """Slices along a dimension, one for each element of a vector."""
    return index_select(self, axis if dim is None else dim, index)


def take(input, index) -> Tensor:
    """Elements of the flattened Tensor."""
    return apply("gather", (ravel(input), index), {"axis": 0})


def _tensor_take(self, indices=None, axis=None, mode="clip", *, index=None):
    """Slices along a dimension, or elements of the flattened Tensor; mode: clip, wrap or raise what lies outside."""
    indices = index if indices is None else indices
    if not isinstance(indices, Tensor):
        indices = Tensor(indices, mstype.int64)
    x, axis = (ravel(self), 0) if axis is None else (self, axis_of(axis, self.ndim))
    n = x.shape[axis]
    if mode == "clip":
        indices = apply("minimum", (apply("maximum", (indices, -n)), n - 1))
    elif mode == "wrap":
        over = apply("cast", (apply("floor", (apply("div", (apply("cast", (indices,), {"dtype": mstype.float64}),
                                                            n)),)),),
                     {"dtype": mstype.int64})
        indices = apply("sub", (indices, apply("mul", (over, n))))
    elif mode != "raise":
        raise ValueError(f"take: mode must be clip, wrap or raise, but got {mode!r}")
    return apply("gather", (x, indices), {"axis": axis})


def nonzero(input, *, as_tuple=False):
    """The positions of elements that are not zero: a row each, or a vector for each dimension."""
    found = apply("nonzero", (tensor_of(input, "input", "nonzero"),))
    return unstack(found, 1) if as_tuple else found


def argwhere(input) -> Tensor:
    """The positions of elements that are not zero, a row each."""
    return nonzero(input)


def one_hot(indices, depth, on_value=1, off_value=0, axis=-1) -> Tensor:
    """on_value at the position each index names along a new dimension, off_value elsewhere."""
    on = on_value if isinstance(on_value, Tensor) else Tensor(on_value)
    off = off_value if isinstance(off_value, Tensor) else Tensor(off_value)
    if on.dtype != off.dtype:
        if isinstance(on_value, Tensor) and isinstance(off_value, Tensor):
            raise TypeError(f"one_hot: on_value has dtype {on.dtype} and off_value {off.dtype}, they must be equal")
        on, off = (apply("cast", (v,), {"dtype": mstype.float32}) for v in (on, off))
    return apply("one_hot", (indices, on, off), {"depth": int_of(depth, "depth"), "axis": int_of(axis)})


def _mint_one_hot(tensor, num_classes=-1):
    """1 at the position each index names along a new last dimension."""
    if num_classes == -1:
        num_classes = int(tensor.asnumpy().max()) + 1 if tensor.size else 0
    return one_hot(tensor, num_classes)


# --- order -----------------------------------------------------------------------------------------------------------

def sort(input_x, axis=-1, descending=False):
    """The elements in order along a dimension, and where they came from."""
    return apply("sort", (input_x,), {"axis": int_of(axis), "descending": descending, "indices": mstype.int32})


def argsort(input, axis=-1, descending=False) -> Tensor:
    """Where the elements of the sorted Tensor come from."""
    return sort(input, axis, descending)[1]


def topk(input, k, dim=None, largest=True, sorted=True):
    """The k largest elements along a dimension, and where they are."""
    return apply("topk", (input,), {"k": int_of(k, "k"), "axis": -1 if dim is None else int_of(dim, "dim"),
                                    "largest": largest,
                                    "sorted": sorted, "indices": mstype.int32})


def _mint_sort(input, *, dim=-1, descending=False, stable=False):
    """The elements in order along a dimension, and where they came from."""
    return apply("sort", (input,), {"axis": dim, "descending": descending})


def _mint_argsort(input, dim=-1, descending=False, stable=False):
    """Where the elements of the sorted Tensor come from."""
    return _mint_sort(input, dim=dim, descending=descending)[1]


def _mint_topk(input, k, dim=-1, largest=True, sorted=True):
    """The k largest elements along a dimension, and where they are."""
    return apply("topk", (input,), {"k": k, "axis": dim, "largest": largest, "sorted": sorted})


def _tensor_sort(self, axis=-1, descending=False, *, dim=None, stable=False):
    """The elements in order along a dimension, and where they came from."""
    return sort(self, axis if dim is None else dim, descending)


def _tensor_argsort(self, axis=-1, descending=False, *, dim=None, stable=False):
    """Where the elements of the sorted Tensor come from."""
    return argsort(self, axis if dim is None else dim, descending)


def _index_type(x):
    return mstype.int64 if x.dtype == mstype.int64 else mstype.int32


def unique(input):
    """The distinct values in the order they appear, and for each element the number of its value."""
    values, places, _ = apply("unique", (input,), {"sorted": False, "indices": _index_type(input)})
    return values, places


def unique_with_pad(x, pad_num):
    """unique, the values filled up to the number of elements."""
    values, places = unique(x)
    return apply("pad", (values,), {"pads": (0, x.size - values.size), "value": pad_num}), places


def _rows(x, dim):
    """Rows to compare (slices along dim) as numbers: equal rows get equal numbers, in the order of the rows."""
    import numpy as np
    rows = np.moveaxis(x.asnumpy(), dim, 0).reshape(x.shape[dim], -1)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _distinct(x, sorted, consecutive, return_inverse, return_counts, dim):
    if dim is None:
        values, places, counts = apply("unique", (x,), {"sorted": sorted, "consecutive": consecutive})
    else:
        dim = axis_of(dim, x.ndim, "dim")
        numbers, places, counts = apply("unique", (Tensor(_rows(x, dim)),),
                                        {"sorted": sorted, "consecutive": consecutive})
        where_first = {}
        for at, group in enumerate(places.tolist()):
            where_first.setdefault(group, at)
        values = index_select(x, dim, Tensor([where_first[g] for g in range(numbers.size)], mstype.int64))
    extra = ([places] if return_inverse else []) + ([counts] if return_counts else [])
    return (values, *extra) if extra else values


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """Values without repetitions of the one before; optionally the number of each element's value and their lengths."""
    return _distinct(input, True, True, return_inverse, return_counts, dim)


def _tensor_unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct values in order; optionally the number of each element's value, and how often each occurs."""
    return _distinct(self, True, False, return_inverse, return_counts, dim)


def searchsorted(sorted_sequence, values, *, out_int32=False, right=False, side=None, sorter=None) -> Tensor:
    """Where each value would go into a sorted row."""
    if side is not None:
        if side not in ("left", "right"):
            raise ValueError(f"searchsorted: side must be 'left' or 'right', but got {side!r}")
        if right and side == "left":
            raise ValueError("searchsorted: right=True and side='left' contradict each other")
        right = side == "right"
    if not isinstance(values, Tensor):
        values = Tensor(values)
    if sorter is not None:
        sorted_sequence = apply("gather_elements", (sorted_sequence, sorter), {"dim": -1})
    return apply("searchsorted", (sorted_sequence, values), {"right": right, "dtype": mstype.int32 if out_int32
        else mstype.int64})


def bucketize(input, boundaries, *, right=False) -> Tensor:
    """The number of the interval each element lies in."""
    edges = boundaries if isinstance(boundaries, Tensor) else Tensor([float(b) for b in boundaries])
    return apply("searchsorted", (edges, input), {"right": right, "dtype": mstype.int32})


def intopk(x1, x2, k) -> Tensor:
    """Whether the element each target names is among the k largest of its row."""
    target = apply("gather_elements", (x1, apply("reshape", (x2,), {"shape": (-1, 1)})), {"dim": 1})
    larger = apply("cast", (apply("greater", (x1, target)),), {"dtype": mstype.int32})
    few = apply("less", (apply("reduce_sum", (larger,), {"axis": (1,)}), int_of(k, "k")))
    finite = apply("reshape", (apply("isfinite", (target,)),), {"shape": (-1,)})
    return apply("logical_and", (few, finite))


def sequence_mask(lengths, maxlen=None) -> Tensor:
    """Rows of as many true elements as the lengths say."""
    if maxlen is None:
        maxlen = int(lengths.asnumpy().max()) if lengths.size else 0
    places = apply("arange", (), {"end": int_of(maxlen, "maxlen"), "dtype": lengths.dtype})
    return apply("less", (places, apply("reshape", (lengths,), {"shape": lengths.shape + (1,)})))


# --- writing by position: new Tensors --------------------------------------------------------------------------------

def _tensor_scatter(reduce, text):
    def function(input_x, indices, updates):
        return apply("tensor_scatter", (input_x, indices, updates), {"reduce": reduce})
    function.__name__ = function.__qualname__ = "tensor_scatter_" + ("update" if reduce == "none" else reduce)
    function.__doc__ = f"A copy in which the elements at the given coordinates are {text}."
    return function


tensor_scatter_update = _tensor_scatter("none", "replaced by updates")
tensor_scatter_add = _tensor_scatter("add", "added to updates")
tensor_scatter_sub = _tensor_scatter("sub", "lessened by updates")
tensor_scatter_mul = _tensor_scatter("mul", "multiplied by updates")
tensor_scatter_div = _tensor_scatter("div", "divided by updates")
tensor_scatter_max = _tensor_scatter("max", "replaced by larger updates")
tensor_scatter_min = _tensor_scatter("min", "replaced by smaller updates")


def scatter_nd(indices, updates, shape) -> Tensor:
    """Zeros with updates added at the given coordinates."""
    from .array import ints_of
    zeros = apply("full", (), {"shape": ints_of(shape), "value": 0, "dtype": updates.dtype})
    return tensor_scatter_add(zeros, indices, updates)


def tensor_scatter_elements(input_x, indices, updates, axis=0, reduction="none") -> Tensor:
    """A copy in which each update goes to its own position but for one dimension, where indices tell."""
    return _elements(input_x, axis, indices, updates, reduction)


def _elements(x, axis, index, src, reduce):
    reduce = {"multiply": "mul"}.get(reduce, reduce)
    if not isinstance(src, Tensor):
        src = apply("full", (), {"shape": index.shape, "value": src, "dtype": x.dtype})
    elif src.shape != index.shape:
        src = apply("slice", (src,), {"start": (0,) * src.ndim, "stop": index.shape})
    return apply("scatter_elements", (x, index, src), {"axis": int_of(axis), "reduce": reduce})


def scatter(input, axis, index, src) -> Tensor:
    """A copy in which each element of src goes to its own position but for one dimension, where index tells."""
    return _elements(input, axis, index, src, "none")


def _mint_scatter(input, dim, index, src):
    """A copy in which each element of src goes to its own position but for one dimension, where index tells."""
    return _elements(input, dim, index, src, "none")


def _mint_scatter_add(input, dim, index, src):
    """A copy in which each element of src is added at its own position but for one dimension, where index tells."""
    return _elements(input, dim, index, src, "add")


def _tensor_scatter_method(self, axis=None, index=None, src=None, *, dim=None):
    """A copy in which each element of src goes to its own position but for one dimension, where index tells."""
    return _elements(self, axis if dim is None else dim, index, src, "none")


def _tensor_scatter_add(self, *args, **kwargs):
    """scatter_add(dim, index, src), by position along a dimension; scatter_add(indices, updates), by coordinates."""
    if len(args) + len(kwargs) == 3:
        return _mint_scatter_add(self, *args, **kwargs)
    return tensor_scatter_add(self, *args, **kwargs)


def index_fill(x, axis, index, value) -> Tensor:
    """A copy in which slices along a dimension hold one value."""
    if isinstance(index, int):
        index = Tensor([index], mstype.int32)
    return apply("index_put", (_copy(x), value, index), {"axes": (axis_of(axis, x.ndim),)})


def select_scatter(input, src, axis, index) -> Tensor:
    """A copy in which one slice along a dimension is src."""
    tensor_of(input, "input", "select_scatter")
    axis = axis_of(axis, input.ndim)
    n, index = input.shape[axis], int_of(index, "index")
    if not -n <= index < n:
        raise IndexError(f"select_scatter: index {index} is out of range for dimension {axis} of size {n}")
    src = apply("reshape", (src,), {"shape": src.shape[:axis] + (1,) + src.shape[axis:]})
    return _put_range(_copy(input), src, axis, index % n, index % n + 1, 1)


def slice_scatter(input, src, axis=0, start=None, end=None, step=1) -> Tensor:
    """A copy in which start:end:step along a dimension is src."""
    tensor_of(input, "input", "slice_scatter")
    axis = axis_of(axis, input.ndim)
    found = builtins.slice(start, end, step).indices(input.shape[axis])
    wanted = input.shape[:axis] + (len(builtins.range(*found)),) + input.shape[axis + 1:]
    if src.shape != wanted:
        raise ValueError(f"slice_scatter: src has shape {src.shape}, it must have the shape of the slice, {wanted}")
    return _put_range(_copy(input), src, axis, *found)


def _put_range(x, value, axis, start, stop, step):
    return apply("slice_put", (x, value), {"start": (0,) * axis + (start,), "stop": x.shape[:axis] + (stop,),
                                           "step": (1,) * axis + (step,)})


# --- writing by position: in place -----------------------------------------------------------------------------------

def _write_rows(x, axes, indices, updates, reduce):
    """Combine updates into x at index tensors; answers x as a Tensor, also when it is a Parameter."""
    if reduce == "sub":
        updates, reduce = apply("neg", (updates,)), "add"
    if reduce in ("none", "add"):
        return apply("index_put", (x, updates, *indices), {"axes": axes, "accumulate": reduce == "add"})
    recording = grad_recording()
    before = apply("copy", (x,)) if recording else x         # the gradient needs what was there
    new = apply("index_combine", (before, updates, *indices), {"axes": axes, "reduce": reduce})
    written = apply("assign", (x, new))
    return new if recording else written


def _check_holds(name, x, updates):
    """Raise where a Tensor that is written to cannot hold the numbers of the updates."""
    if x.dtype != updates.dtype and _breadth(updates) > _breadth(x):
        raise TypeError("Data type conversion is not supported for a 'Parameter', nor for the input tensor of an in-place operator, the "
                        f"argument[{'input_x' if name in _NAMED_INPUT_X else 'x'}]'s data type of primitive[{_camel(name)}] is {x.dtype}, "
                        f"which cannot be converted to data type {updates.dtype} automatically.")


def _breadth(t):
    """What kind of numbers, and how many bytes: kinds hold those before them."""
    if t.dtype.is_floating_point or t.dtype.is_complex:
        return (3 if t.dtype.is_complex else 2), t.itemsize
    return (0 if t.dtype == mstype.bool_ else 1), t.itemsize


_NAMED_INPUT_X = ("scatter_sub", "scatter_nd_update", "scatter_nd_sub")


def _camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def _scatter_rows(reduce, name):
    def function(input_x, indices, updates):
        tensor_of(input_x, "input_x", name)
        _check_holds(name, input_x, tensor_of(updates, "updates", name))
        if updates.shape != indices.shape + input_x.shape[1:]:
            raise ValueError(f"{name}: updates have shape {updates.shape}, they must have shape "
                             f"{indices.shape + input_x.shape[1:]}")
        return _write_rows(input_x, (0,), (indices,), updates, reduce)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Combine updates into the rows of a Parameter that the indices name."
    return function


scatter_update = _scatter_rows("none", "scatter_update")
scatter_add = _scatter_rows("add", "scatter_add")
scatter_sub = _scatter_rows("sub", "scatter_sub")
scatter_mul = _scatter_rows("mul", "scatter_mul")
scatter_div = _scatter_rows("div", "scatter_div")
scatter_max = _scatter_rows("max", "scatter_max")
scatter_min = _scatter_rows("min", "scatter_min")


def _scatter_coordinates(reduce, name):
    def function(input_x, indices, updates, use_locking=False):
        tensor_of(input_x, "input_x", name)
        _check_holds(name, input_x, tensor_of(updates, "updates", name))
        if tensor_of(indices, "indices", name).ndim < 2:
            raise ValueError(f"For primitive[{_camel(name)}], the dimension of 'indices' must be greater than or equal to 2, but got "
                             f"{indices.ndim}.")
        n = indices.shape[-1]
        if updates.shape != indices.shape[:-1] + input_x.shape[n:]:
            raise ValueError(f"{name}: updates have shape {updates.shape}, they must have shape "
                             f"{indices.shape[:-1] + input_x.shape[n:]}")
        return _write_rows(input_x, tuple(range(n)), unstack(indices, -1), updates, reduce)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Combine updates into a Parameter at coordinates, in place."
    return function


scatter_nd_update = _scatter_coordinates("none", "scatter_nd_update")
scatter_nd_add = _scatter_coordinates("add", "scatter_nd_add")
scatter_nd_sub = _scatter_coordinates("sub", "scatter_nd_sub")
scatter_nd_mul = _scatter_coordinates("mul", "scatter_nd_mul")
scatter_nd_div = _scatter_coordinates("div", "scatter_nd_div")
scatter_nd_max = _scatter_coordinates("max", "scatter_nd_max")
scatter_nd_min = _scatter_coordinates("min", "scatter_nd_min")


def index_add(x, indices, y, axis, use_lock=True, check_index_bound=True) -> Tensor:
    """Add y to slices of a Parameter along a dimension, in place."""
    tensor_of(x, "x", "index_add")
    return _write_rows(x, (axis_of(axis, x.ndim),), (indices,), y, "add")


def _index_add(self, dim, index, source, *, alpha=1):
    """A copy with source added to slices along a dimension."""
    source = source if alpha == 1 else apply("mul", (source, alpha))
    return _write_rows(_copy(self), (axis_of(dim, self.ndim, "dim"),), (index,), source, "add")


def _tensor_index_add(self, *args, **kwargs):
    """index_add(dim, index, source, *, alpha=1), or index_add(indices, y, axis)."""
    if args and isinstance(args[0], Tensor) or "indices" in kwargs:
        return index_add(_copy(self), *args, **kwargs)
    return _index_add(self, *args, **kwargs)


def _in_place(function):
    def method(self, *args, **kwargs):
        return overwritten(self, lambda x: function(x, *args, **kwargs))
    method.__doc__ = f"In place: {function.__doc__}"
    return method


def _scatter_in_place(self, dim, index, src=None, *, reduce=None, value=None):
    """Each element of src goes to its own position but for one dimension, where index tells."""
    return _elements(self, dim, index, value if src is None else src, reduce or "none")


def _index_copy(self, dim, index, tensor):
    """Slices along a dimension replaced."""
    return _write_rows(_copy(self), (axis_of(dim, self.ndim, "dim"),), (index,), tensor, "none")


def _selectors(x, indices):
    """Index tensors for the leading dimensions; masks become positions."""
    found = []
    for one in indices:
        if not isinstance(one, Tensor):
            one = Tensor(one)
        found += nonzero(one, as_tuple=True) if one.dtype == mstype.bool_ else [one]
    return found


def _index_put(self, indices, values, accumulate=False):
    """A copy in which values stand at, or are added to, the positions that index tensors name."""
    return _index_put_(_copy(self), indices, values, accumulate)


def _index_put_(self, indices, values, accumulate=False):
    """Write values to, or add them at, the positions that index tensors name."""
    apply("index_put", (self, values, *_selectors(self, indices)), {"accumulate": accumulate})
    return self


def _fill(self, value):
    """One value everywhere, in place."""
    apply("slice_put", (self, value), {"start": (), "stop": ()})
    return self


def _fill_diagonal(self, fill_value, wrap=False):
    """A copy with one value on the diagonal."""
    x = _copy(self)
    if self.ndim != 2:
        if len(set(self.shape)) > 1 or self.ndim < 2:
            raise ValueError(f"fill_diagonal: at least 2 dimensions, of one size if more, are wanted, but the "
                             f"shape is {self.shape}")
        step = sum(self.shape[0] ** k for k in range(self.ndim))
        return apply("reshape", (_put_range(ravel(x), fill_value, 0, 0, self.size, step),), {"shape": self.shape})
    rows, columns = self.shape
    if wrap and rows > columns:
        return apply("reshape", (_put_range(ravel(x), fill_value, 0, 0, self.size, columns + 1),),
                     {"shape": self.shape})
    return apply("diagonal_put", (x, fill_value))


# --- segments --------------------------------------------------------------------------------------------------------

def _segments(x, segment_ids, num_segments, reduce, start):
    n, ids = int_of(num_segments, "num_segments"), segment_ids
    if ids.shape != x.shape[:ids.ndim]:
        raise ValueError(f"unsorted_segment_{reduce}: segment_ids of shape {ids.shape} do not fit a Tensor of "
                         f"shape {x.shape}")
    rest = x.shape[ids.ndim:]
    rows = apply("reshape", (x,), {"shape": (ids.size,) + rest})
    ids = ravel(ids)
    # Negative numbers mean "nowhere": a row more, which is cut off.
    ids = apply("select", (apply("less", (ids, 0)), n, ids))
    base = apply("full", (), {"shape": (n + 1,) + rest, "value": start, "dtype": x.dtype})
    if reduce == "add":
        out = apply("index_put", (base, rows, ids), {"accumulate": True})
    else:
        out = apply("index_combine", (base, rows, ids), {"reduce": reduce})
    return part(out, 0, 0, n)


def unsorted_segment_sum(input_x, segment_ids, num_segments) -> Tensor:
    """The sums of the slices that carry the same number."""
    tensor_of(input_x, "input_x", "unsorted_segment_sum")
    return _segments(input_x, segment_ids, num_segments, "add", 0)


def unsorted_segment_prod(x, segment_ids, num_segments) -> Tensor:
    """The products of the slices that carry the same number."""
    tensor_of(x, "x", "unsorted_segment_prod")
    if x.dtype.is_complex:      # the product of sizes at the sum of angles
        size, angle = apply("complex_abs", (x,)), apply("angle", (x,))
        return apply("polar", (unsorted_segment_prod(size, segment_ids, num_segments), unsorted_segment_sum(angle, segment_ids, num_segments)))
    return _segments(x, segment_ids, num_segments, "mul", 1)


def _extreme(x, largest):
    import numpy as np
    if x.dtype.is_floating_point:
        most = {mstype.float16: 65504.0, mstype.bfloat16: 3.3895313892515355e38,
                mstype.float64: float(np.finfo(np.float64).max)}.get(
            x.dtype, float(np.finfo(np.float32).max))
        return most if largest else -most
    if x.dtype == mstype.bool_ or x.dtype.is_complex:
        raise TypeError(f"unsorted_segment_{'min' if largest else 'max'}: x must be of real numbers, but its dtype is {x.dtype}")
    info = np.iinfo(mstype.dtype_to_nptype(x.dtype))
    return int(info.max if largest else info.min)


def unsorted_segment_max(x, segment_ids, num_segments) -> Tensor:
    """The largest elements of the slices that carry the same number."""
    tensor_of(x, "x", "unsorted_segment_max")
    return _segments(x, segment_ids, num_segments, "max", _extreme(x, False))


def unsorted_segment_min(x, segment_ids, num_segments) -> Tensor:
    """The smallest elements of the slices that carry the same number."""
    tensor_of(x, "x", "unsorted_segment_min")
    return _segments(x, segment_ids, num_segments, "min", _extreme(x, True))


TENSOR_METHODS = named({
    "gather": _tensor_gather, "take": _tensor_take, "index_select": _tensor_index_select, "select": _tensor_select,
    "where": lambda self, condition, y: where(condition, self, y), "masked_fill": masked_fill,
    "masked_fill_": _in_place(masked_fill), "masked_scatter": masked_scatter,
    "masked_scatter_": _in_place(masked_scatter),
    "nonzero": nonzero, "argwhere": argwhere, "sort": _tensor_sort, "argsort": _tensor_argsort, "topk": topk,
    "unique": _tensor_unique, "unique_consecutive": unique_consecutive, "unique_with_pad": unique_with_pad,
    "searchsorted": lambda self, v, side="left", sorter=None: searchsorted(self, v, side=side, sorter=sorter),
    "scatter": _tensor_scatter_method, "scatter_": _in_place(_scatter_in_place), "scatter_add": _tensor_scatter_add,
    "scatter_add_": _in_place(_mint_scatter_add), "scatter_sub": tensor_scatter_sub, "scatter_mul": tensor_scatter_mul,
    "scatter_div": tensor_scatter_div, "scatter_max": tensor_scatter_max, "scatter_min": tensor_scatter_min,
    "tensor_scatter_update": tensor_scatter_update, "tensor_scatter_add": tensor_scatter_add,
    "tensor_scatter_sub": tensor_scatter_sub, "tensor_scatter_mul": tensor_scatter_mul,
    "tensor_scatter_div": tensor_scatter_div, "tensor_scatter_max": tensor_scatter_max,
    "tensor_scatter_min": tensor_scatter_min,
    "index_add": _tensor_index_add, "index_add_": _in_place(_index_add), "index_copy_": _in_place(_index_copy),
    "index_fill": index_fill, "index_fill_": _in_place(lambda self, dim, index,
                                                       value: index_fill(self, dim, index, value)),
    "index_put": _index_put, "index_put_": _index_put_, "fill_": _fill, "fill_diagonal": _fill_diagonal,
    "fill_diagonal_": _in_place(_fill_diagonal), "select_scatter": select_scatter, "slice_scatter": slice_scatter,
    "unsorted_segment_max": unsorted_segment_max, "unsorted_segment_min": unsorted_segment_min,
    "unsorted_segment_prod": unsorted_segment_prod})

MINT = named({
    "where": _mint_where, "select": _mint_select, "index_select": lambda input, dim, index: index_select(input, dim,
        index),
    "take": take, "nonzero": nonzero, "sort": _mint_sort, "argsort": _mint_argsort, "topk": _mint_topk,
    "unique": lambda input, sorted=True, return_inverse=False, return_counts=False, dim=None: _tensor_unique(
        input, sorted, return_inverse, return_counts, dim),
    "unique_consecutive": unique_consecutive, "searchsorted": searchsorted, "scatter": _mint_scatter,
    "scatter_add": _mint_scatter_add, "index_add": _index_add, "nn.functional.one_hot": _mint_one_hot})

# SPDX-License-Identifier: Apache-2.0
"""Names of MindSpore's own modules that programs and tests reach for: primitives of lists and tuples, of views and windows under
generated names, of debugging, and functions that write to their first argument."""
import itertools
import os

import numpy as np

from ..._core import Tensor
from ..._not_done import not_done
from ...common import dtype as mstype
from .._make import plain, primitive
from ..array import ints_of
from ..primitive import Primitive
from spore._core import type_name as _type_name


def _op(name):
    from ... import ops
    return getattr(ops, name)


def _add(name, call, init="", doc="See the function of the same name."):
    globals()[name] = primitive(name, call, init, doc)


def _plain(name, function, doc="See the function of the same name."):
    globals()[name] = plain(name, function, doc)


# --- attention, sizes of images, new Tensors -------------------------------------------------------------------------

def _attention(self, query, key, value, real_shift=None, drop_mask=None, padding_mask=None, attn_mask=None, prefix=None,
               actual_seq_qlen=None, actual_seq_kvlen=None):
    """(largest scores, sums of exponentials, the empty, the attention), of which the last is computed."""
    out = _op("flash_attention_score")(
        query, key, value, self.head_num, real_shift, drop_mask, padding_mask, attn_mask, prefix, actual_seq_qlen, actual_seq_kvlen,
        self.keep_prob, self.scale_value, self.pre_tokens, self.next_tokens, self.inner_precise, self.input_layout, self.sparse_mode)
    empty = Tensor([], mstype.float32)
    return empty, empty, Tensor([], query.dtype), out


_add("FlashAttentionScore", _attention, "head_num, keep_prob=1.0, scale_value=1.0, pre_tokens=2147483647, next_tokens=2147483647, "
     "inner_precise=0, input_layout='BSH', sparse_mode=0", "Attention of several heads; see ops.flash_attention_score.")
_plain("Swiglu", lambda input, dim=-1: _op("swiglu")(input, dim), "See ops.swiglu.")


def _upsampled(mode, rank, corners):
    def call(self, x, output_size=None, scales=None, align_corners=False):
        size = None if output_size is None else ints_of(output_size, "output_size")
        if size is None:
            scales = scales.tolist() if isinstance(scales, Tensor) else scales
            size = tuple(int(n * s) for n, s in zip(x.shape[-rank:], scales))
        return _op("interpolate")(x, size[0] if rank == 1 else size, mode=mode, **({"align_corners": align_corners} if corners else {}))
    return call


_add("UpsampleNearest1D", _upsampled("nearest", 1, False))
_add("UpsampleNearest2D", _upsampled("nearest", 2, False))
_add("UpsampleLinear1D", _upsampled("linear", 1, True))
_add("UpsampleBilinear2D", _upsampled("bilinear", 2, True))
_add("UpsampleNearest3D", _upsampled("nearest", 3, False))


def view(input, shape):
    """input.view(*shape)"""
    return input.view(*ints_of(shape, "shape"))


def view_dtype(input, dtype):
    """The memory of a Tensor read as another dtype."""
    return input.view(dtype)


def contiguous(input):
    """input.contiguous()"""
    return input.contiguous()


_plain("View", view)
_plain("ViewDtype", view_dtype)
_plain("RealView", lambda input: _op("real")(input), "The real parts.")
_plain("ImagView", lambda input: _op("imag")(input), "The imaginary parts.")
_plain("SplitTensorView", lambda input, split_size, dim=0: _op("split")(input, split_size, dim), "See ops.split.")
_plain("SplitWithSizeView", lambda input, split_size, dim=0: _op("split")(input, split_size, dim), "See ops.split.")
_plain("UnstackExtView", lambda input, dim=0: _op("unbind")(input, dim), "See ops.unbind.")
_plain("NewZeros", lambda input, size, dtype=None: input.new_zeros(size, dtype=dtype))
_plain("NewOnes", lambda input, size, dtype=None: input.new_ones(size, dtype=dtype))
_plain("NewEmpty", lambda input, size, dtype=None, device=None: input.new_empty(size, dtype=dtype))
_plain("NewFull", lambda input, size, fill_value, dtype=None: _op("full")(size, fill_value, dtype=dtype or input.dtype))
_plain("InnerNonZero", lambda input: _op("nonzero")(input))
_plain("InnerIndex", lambda input, indices: input[tuple(indices)])
_plain("CrossEntropyLoss", lambda input, target, weight=None, reduction="mean", ignore_index=-100, label_smoothing=0.0,
       lse_square_scale_for_zloss=0.0, return_zloss=False: (_op("cross_entropy")(
           input, target, weight, ignore_index, reduction, label_smoothing), _op("log_softmax")(input, -1), None, None))
_plain("AllFinite", lambda gradients: _op("logical_not")(_every(gradients)))
_plain("AddV2", lambda x, y: x + y, "The sum of two Tensors.")
_plain("ReLUV3", lambda x: _op("relu")(x), "See ops.relu.")
_plain("SequenceMask", lambda lengths, maxlen: _op("sequence_mask")(lengths, maxlen), "See ops.sequence_mask.")
_add("ArgminV2", lambda self, x, axis: _op("argmin")(x, axis).astype(mstype.int32))
_add("Kthvalue", lambda self, input, k, dim=-1, keepdim=False: kthvalue(input, k, dim, keepdim))
_add("MaxPoolV1", lambda self, x: _op("MaxPool")(self.kernel_size, self.strides, self.pad_mode, self.data_format)(x),
     "kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW'", "See ops.MaxPool.")
_add("AvgPoolV1", lambda self, x: _op("AvgPool")(self.kernel_size, self.strides, self.pad_mode, self.data_format)(x),
     "kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW'", "See ops.AvgPool.")


def _every(tensors):
    found = None
    for tensor in tensors:
        fine = _op("isfinite")(tensor).all()
        found = fine if found is None else _op("logical_and")(found, fine)
    return found


def kthvalue(input, k, dim=-1, keepdim=False):
    """The k-th smallest element along a dimension, and where it stands."""
    values, places = _op("sort")(input, dim, False)
    n = input.shape[dim]
    if not 1 <= k <= n:
        raise ValueError(f"kthvalue: k must be between 1 and {n}, but is {k}")
    at = [slice(None)] * input.ndim
    at[dim] = slice(k - 1, k) if keepdim else k - 1
    return values[tuple(at)], places[tuple(at)].astype(mstype.int64)


def index(input, indices):
    """Elements at the places that index Tensors name."""
    return input[tuple(indices)]


def correlate(a, v, mode="valid"):
    """The sums of products of two rows, one shifted against the other."""
    from ...numpy import correlate as found
    return found(a, v, mode)


# --- matrices --------------------------------------------------------------------------------------------------------

_add("Eigh", lambda self, A: (_symmetric(A, self.lower) if self.compute_eigenvectors else _symmetric(A, self.lower)[0]),
     "compute_eigenvectors=True, lower=True", "Eigenvalues and eigenvectors of symmetric matrices.")
_add("SelfAdjointEig", lambda self, x: _symmetric(x, True), "compute_v=True", "Eigenvalues and eigenvectors of symmetric matrices.")


def _symmetric(a, lower):
    from ...scipy.linalg import eigh
    return eigh(a, lower=lower)


def _tridiagonal(self, diagonals, rhs):
    """x with T x = rhs for T of three diagonals, in rows: above, main, below."""
    above, main, below = (diagonals[..., i, :] for i in range(3))
    full = _op("diag_embed")(main)
    if main.shape[-1] > 1:
        full = full + _op("diag_embed")(above[..., :-1], 1) + _op("diag_embed")(below[..., 1:], -1)
    return _op("matrix_solve")(full, rhs)


_add("TridiagonalSolve", _tridiagonal, "partial_pivoting=True")


# --- slices ----------------------------------------------------------------------------------------------------------

def _copy_slices(self, x, value, begin, end, strides):
    """x with a part replaced."""
    out = x.copy()
    out[tuple(slice(b, e, s) for b, e, s in zip(*(ints_of(p, "begin") for p in (begin, end, strides))))] = value
    return out


def _stitch(indices, data):
    """Rows of several Tensors at the places that their indices name."""
    if isinstance(indices, Tensor):
        indices, data = (indices,), (data,)
    places = _op("concat")(tuple(i.reshape((-1,)) for i in indices), 0)
    inner = tuple(data[0].shape[indices[0].ndim:])
    rows = _op("concat")(tuple(d.reshape((-1,) + inner) for d in data), 0)
    size = int(places.asnumpy().max()) + 1
    last = {int(p): k for k, p in enumerate(places.asnumpy())}   # later ones win
    found = _op("zeros")((size,) + inner, rows.dtype)
    where = Tensor(np.array(sorted(last), np.int64).reshape(-1, 1))
    return _op("tensor_scatter_update")(found, where, _op("gather")(rows, Tensor(np.array([last[p] for p in sorted(last)], np.int64)), 0))


def broadcast_gradient_args(x, y):
    """The dimensions over which a gradient of the broadcast shape is summed, for each of two shapes."""
    x, y = (ints_of(s, "shape") if not isinstance(s, tuple) else s for s in (x, y))
    rank = max(len(x), len(y))
    full = [(1,) * (rank - len(s)) + tuple(s) for s in (x, y)]
    return tuple(tuple(i for i in range(rank) if mine[i] == 1 and (len(own) + i < rank or other[i] != 1))
                 for own, mine, other in ((x, full[0], full[1]), (y, full[1], full[0])))


_add("TensorCopySlices", _copy_slices, "", "A Tensor with a part replaced.")
_plain("DynamicStitch", _stitch)
_plain("DynamicBroadcastGradientArgs", lambda x, y: tuple(Tensor(np.array(t, np.int64)) for t in broadcast_gradient_args(x, y)),
       "See broadcast_gradient_args.")
_plain("DynamicBroadcastTo", lambda x, shape: _op("broadcast_to")(x, ints_of(shape, "shape")), "See ops.broadcast_to.")
_plain("SliceExt", lambda input, dim, start, end, step=1: _cut(input, dim, start, end, step), "A part along one dimension.")
_plain("SliceExtView", lambda input, dim, start, end, step=1: _cut(input, dim, start, end, step), "A part along one dimension.")
_plain("SelectExtView", lambda input, dim, index: _cut(input, dim, index, None, None), "One slice along a dimension.")
_plain("SelectView", lambda input_tensor, input_indices, axis: _cut(input_tensor, axis, input_indices, None, None),
    "One slice along a dimension.")
_plain("ExpandDimsView", lambda input, dim: _op("expand_dims")(input, dim), "See ops.expand_dims.")
_plain("TransposeExtView", lambda input, dim0, dim1: _op("swapaxes")(input, dim0, dim1), "Two dimensions exchanged.")
_plain("DiagonalView", lambda input, offset=0, dim1=0, dim2=1: _op("diagonal")(input, offset, dim1, dim2), "See ops.diagonal.")
_plain("Narrow", lambda input, dim, start, length: _op("narrow")(input, dim, start, length), "See ops.narrow.")
_plain("Contiguous", lambda input: input.contiguous(), "The Tensor with its elements in order.")
_plain("CopyWithSlice", lambda x, y: x.copy_(y), "The elements of another Tensor, written to x.")


def _cut(x, dim, start, end, step):
    at = [slice(None)] * x.ndim
    at[dim] = start if step is None else slice(start, end, step)
    return x[tuple(at)]


# --- clipping and means ----------------------------------------------------------------------------------------------

def _clip_norm(self, x, clip_norm):
    """x scaled down so that its norm over some axes does not exceed a limit."""
    axes = self.axis if self.axis is not None and self.axis != () else tuple(range(x.ndim))
    norm = _op("sqrt")((x * x).sum(axes, keepdims=True))
    return x * clip_norm / _op("maximum")(norm, clip_norm)


_add("ClipByNorm", _clip_norm, "axis=None")
_plain("Centralization", lambda input_x, axis: input_x - input_x.mean(axis, keep_dims=True), "A Tensor minus its mean.")
_add("ConfusionMulGrad", lambda self, input0, input1, input2: (input0 * input1, (input0 * input2).sum(self.axis or None,
    keepdims=self.keep_dims)),
     "axis=(), keep_dims=False", "A product, and a sum of another.")
_plain("MatrixDiag", lambda x, assist: _op("diag_embed")(x), "See ops.diag_embed.")
_plain("MatrixDiagPart", lambda x, assist: _op("diagonal")(x, 0, -2, -1), "See ops.diagonal.")
_plain("MatrixSetDiag", lambda x, diagonal, assist: _op("matrix_set_diag")(x, diagonal), "See ops.matrix_set_diag.")
_plain("ConvertToDynamic", lambda input: input, "The same Tensor; sizes are open where they need to be.")


# --- lists and tuples ------------------------------------------------------------------------------------------------

def _appended(values, *more):
    return list(values) + list(more)


def _inserted(values, place, value):
    out = list(values)
    out.insert(place, value)
    return out


def _slice_sequence(values, start, stop, step):
    return values[slice(start, stop, step)]


def _set_slice(values, value, start, stop, step):
    out = list(values)
    out[slice(start, stop, step)] = value
    return tuple(out)


def _as_tensor(values, dtype=None):
    return Tensor(list(values), dtype) if dtype is not None else Tensor(list(values))


for _name, _function in {
        "ListAppend": _appended, "ListInsert": _inserted, "SequenceSlice": _slice_sequence, "SequenceSliceSetItem": _set_slice,
        "InSequence": lambda value, values: any(value is v or bool(_same(value, v)) for v in values),
        "SequenceAdd": lambda a, b: a + b, "SequenceMul": lambda values, n: values * n,
        "SequenceCount": lambda values, value: sum(bool(_same(value, v)) for v in values),
        "SequenceIndex": lambda values, value, start=0, end=None: list(values).index(value, start, len(values) if end is None else end),
        "SequenceZerosLike": lambda values: type(values)(_op("zeros_like")(v) if isinstance(v, Tensor) else 0 for v in values),
        "SequenceMax": lambda values: max(values), "SequenceMin": lambda values: min(values), "sequence_len": lambda values: len(values),
        "SequenceAddN": lambda values: _op("addn")(list(values)),
        "SequenceStack": lambda values: _op("stack")(list(values), 0),
        "TupleToTensor": _as_tensor, "ListToTensor": _as_tensor,
        "TensorToList": lambda x: x.tolist(), "TensorToScalar": lambda x: x.item(),
        "ListToTuple": lambda values: tuple(values), "TupleToList": lambda values: list(values),
        "tuple_greater_than": lambda a, b: a > b, "tuple_greater_equal": lambda a, b: a >= b, "list_greater_than": lambda a, b: a > b,
        "list_greater_equal": lambda a, b: a >= b, "tuple_lt": lambda a, b: a < b, "list_lt": lambda a, b: a < b,
        "tuple_le": lambda a, b: a <= b, "list_le": lambda a, b: a <= b}.items():
    _plain(_name, _function, "A step on lists and tuples.")
_add("SequenceUnstack", lambda self, x: tuple(_op("unstack")(x, self.axis)), "axis=0", "See ops.unstack.")


def _same(a, b):
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return isinstance(a, Tensor) and isinstance(b, Tensor) and a.shape == b.shape and (a == b).all()
    return a == b


# --- what is known of values -----------------------------------------------------------------------------------------

_plain("IsParameter", lambda x: type(x).__name__ == "Parameter", "Whether a value is a Parameter.")
_plain("IsConstant", lambda x: not isinstance(x, Tensor), "Whether a value is known before the program runs.")
_plain("SameTypeShape", lambda x, y: x if x.dtype == y.dtype and x.shape == y.shape else _differ(x, y), "A Tensor like another.")
_plain("IsSubClass", lambda sub, whole: mstype._issubclass_(sub, whole), "Whether a type is a kind of another.")
_plain("IsInstance", lambda value, kind: isinstance(value, kind), "Whether a value is of a type.")
_plain("MixedPrecisionCast", lambda dst_dtype, x: _op("mixed_precision_cast")(dst_dtype, x), "See ops.mixed_precision_cast.")
_plain("GetGrad", lambda gradients, x: _get_grad(gradients, x), "See get_grad.")


def _differ(x, y):
    raise TypeError(f"SameTypeShape: the first is {x.dtype} {x.shape}, the second {y.dtype} {y.shape}")


def _get_grad(gradients, x):
    from ...common.differentiate import get_grad
    return get_grad(gradients, x)


def is_sequence_value_unknown(values):
    """Whether a list or tuple holds values that only running tells; never, in Python."""
    return False


is_sequence_shape_unknown = is_dynamic_sequence_element_unknown = is_sequence_value_unknown


def is_tensor_bool_cond(value):
    """Whether a Tensor of one element stands for a condition."""
    return isinstance(value, Tensor) and value.size == 1


# --- functions that write to their first argument --------------------------------------------------------------------

def _writer(name):
    def function(input, *args, **kwargs):
        return getattr(input, name)(*args, **kwargs)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Tensor.{name} as a function; the Tensor is written and returned."
    return function


for _name in "bernoulli_ clamp_ erfinv_ exponential_ normal_ put_ random_ tanh_ uniform_ zero_ addmm_".split():
    globals()[_name] = _writer(_name)


def inplace_sigmoid(input):
    """The sigmoid, written to the Tensor."""
    return input.sigmoid_()


def reshape_(input, shape):
    """The Tensor in another shape."""
    return _op("reshape")(input, shape)


def stop_gradient_(input):
    """The same value, without a history from here on."""
    return _op("stop_gradient")(input)


def uniform_ext(tensor, a, b, generator=None):
    """Random numbers between a and b in the shape of a Tensor."""
    if generator is not None:
        not_done("uniform_ext: generator", "the numbers are those of the process's own seed")
    low, high = (v.item() if isinstance(v, Tensor) else v for v in (a, b))
    return low + (high - low) * _op("rand_like")(tensor)


_plain("UniformExt", lambda tensor, a, b, seed, offset: uniform_ext(tensor, a, b), "Random numbers between two bounds.")


# --- devices and debugging -------------------------------------------------------------------------------------------

def move_to(input, to="CPU", blocking=True):
    """A Tensor in the memory of a device: there is one."""
    if to not in ("CPU", "Ascend", "DISK"):
        raise ValueError(f"move_to: to must be 'CPU', 'Ascend' or 'DISK', but got {to!r}")
    return input


_plain("MoveTo", move_to)
_plain("Reusing", lambda x: x, "The same value.")
_DUMPED = itertools.count()


def tensordump(file_name, tensor, mode="out"):
    """Save a Tensor as a .npy file; its name gets the dtype and a running number."""
    if not isinstance(file_name, str) or not file_name:
        raise TypeError("tensordump: file_name must be a str that is not empty")
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tensordump: a Tensor is wanted, but got {_type_name(tensor)}")
    stem = file_name[:-4] if file_name.endswith(".npy") else file_name
    folder = os.path.dirname(stem)
    if folder:
        os.makedirs(folder, exist_ok=True)
    kind = str(tensor.dtype).lower()
    np.save(f"{stem}_{kind}_{next(_DUMPED)}.npy", tensor.asnumpy())


_add("TensorDump", lambda self, file, input_x: tensordump(file, input_x), "input_output='out'", "See ops.tensordump.")


class Morph(Primitive):
    """A Python function as a primitive: `fn` computes, `bprop_fn(*inputs, output, doutput)` gives its gradient.

    Examples:
        >>> from spore import Tensor, ops
        >>> twice = ops.Morph(lambda x: x * 2, lambda shape: shape, lambda dtype: dtype)
        >>> print(twice(Tensor([1.0, 2.0])))
        [2. 4.]
    """

    def __init__(self, fn, infer_shape, infer_dtype, bprop_fn=None):
        Primitive.__init__(self, "Morph")
        for name, function in (("fn", fn), ("infer_shape", infer_shape), ("infer_dtype", infer_dtype)):
            if not callable(function):
                raise TypeError(f"Morph: {name} must be a function, but got {_type_name(function)}")
        self._fn, self._infer_shape, self._infer_dtype, self._bprop_fn = fn, infer_shape, infer_dtype, bprop_fn

    def __call__(self, *args):
        from ...common.differentiate import call
        from ...common.own_gradient import with_gradient
        if self._bprop_fn is None:
            return call(self._fn, args)
        return with_gradient(self._fn, lambda inputs, out, dout: call(self._bprop_fn, (*inputs, out, dout)), args)


class custom_vjp:
    """A function with a gradient of one's own; ``defbwd`` takes what computes it.

    Examples:
        >>> from spore import Tensor, ops
        >>> @ops.custom_vjp
        ... def square(x):
        ...     return x * x
        >>> square.defbwd(lambda x, out, dout: (dout * 10,))
        >>> print(ops.grad(square)(Tensor(3.0)))
        10.0
    """

    def __init__(self, fn):
        if not callable(fn):
            raise TypeError(f"custom_vjp: a function is needed, but got {_type_name(fn)}")
        self.fn, self.bwd = fn, None

    def defbwd(self, bwd):
        """``bwd(*inputs, output, doutput)`` gives one gradient for each input."""
        if not callable(bwd):
            raise TypeError(f"custom_vjp: defbwd needs a function, but got {_type_name(bwd)}")
        self.bwd = bwd

    def __call__(self, *args):
        from ...common.differentiate import call
        from ...common.own_gradient import with_gradient
        if self.bwd is None:
            return call(self.fn, args)
        return with_gradient(lambda *given: call(self.fn, given), lambda inputs, out, dout: call(self.bwd, (*inputs, out, dout)), args)


def _switch(condition, true_branch, false_branch):
    """One of two values, by a condition."""
    return true_branch if bool(condition) else false_branch


switch = _switch
_plain("GeSwitch", lambda data, pred: (data, data), "A value for both sides of a condition.")
_plain("Merge", lambda inputs: (inputs[0], Tensor(0, mstype.int32)), "The first of some values, and its number.")


_plain("J", lambda fn: fn, "The function itself; gradients are taken by grad.")


class FakeQuantParam(Primitive):
    """Marks a value with how it is quantised, for exported models; the value passes as it is."""

    attr_key_linear_quant_scale, attr_key_linear_quant_zero_point = "linear_quant_scale", "linear_quant_zero_point"
    attr_value_linear_quant_algo_name = "linear_quant_algo"

    def __init__(self, quant_dtype, quant_algo_name, is_per_channel, **kwargs):
        super().__init__("FakeQuantParam")
        more = {"quant_algo_name": quant_algo_name, "is_per_channel": is_per_channel, "quant_dtype": quant_dtype.value()}
        for key, value in {**more, **kwargs}.items():
            self.add_prim_attr(key, value)

    @classmethod
    def linear_quant_param(cls, quant_dtype, scale, zp, is_per_channel=False, **kwargs):
        """The mark of linear quantisation: scale and zero point, one or several."""
        for what, value, one in (("scale", scale, float), ("zero_point", zp, int)):
            if not isinstance(value, (one, tuple, list)):
                raise TypeError(f"For 'FakeQuantParam', '{what}' must be a {one.__name__}, a tuple or a list, but got "
                                f"{_type_name(value)}.")
        lists = [[value] if isinstance(value, (int, float)) else list(value) for value in (scale, zp)]
        return cls(quant_dtype, cls.attr_value_linear_quant_algo_name, is_per_channel,
                   **{cls.attr_key_linear_quant_scale: lists[0], cls.attr_key_linear_quant_zero_point: lists[1]}, **kwargs)

    def __call__(self, input_x):
        return input_x


def Gelu():
    """GeLU by the name it had in MindSpore 1.0."""
    return _op("GeLU")()


def FastGelu():
    """FastGeLU by the name it had in MindSpore 1.0."""
    return _op("FastGeLU")()

# SPDX-License-Identifier: Apache-2.0
"""Dense, Dropout, Flatten and other plain layers."""
import logging
import math

from spore import ops
from spore.common import dtype as mstype
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer._plain import Plain
from spore.nn.layer.activation import get_activation
from spore.ops import Primitive

__all__ = ["Dropout", "Flatten", "Dense", "Linear", "ClipByNorm", "Norm", "OneHot", "Pad", "Unfold", "Tril", "Triu",
           "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag", "L1Regularizer", "Dropout1d", "Dropout2d", "Dropout3d",
           "Upsample", "Roll", "Identity", "Unflatten", "DropoutExt", "Dropout2dExt"]

_log = logging.getLogger("spore")


def _activation_of(cls, activation):
    """An activation given as text, Cell, primitive or None."""
    made = get_activation(activation, cls) if isinstance(activation, str) else activation
    if made is not None and not isinstance(made, (Cell, Primitive)):
        check.fail_type(cls, "activation", activation, "a str, a Cell or a primitive")
    return made


class Dense(Cell):
    """A fully connected layer over the last dimension: x times the transposed weight, plus bias.

    Args:
        in_channels: size of the last dimension of the input.
        out_channels: size of the last dimension of the output.
        weight_init, bias_init: initial values. Default None: uniform, bounded by 1 / sqrt(in_channels).
        has_bias: whether a bias is added. Default True.
        activation: name of an activation, Cell or primitive, run on the result. Default None.
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Dense(3, 4)(ms.ops.ones((2, 3))).shape)
        (2, 4)
    """

    def __init__(self, in_channels, out_channels, weight_init=None, bias_init=None, has_bias=True, activation=None,
                 dtype=mstype.float32):
        super().__init__()
        cls = self.cls_name
        self.in_channels = check.positive_int(cls, "in_channels", in_channels)
        self.out_channels = check.positive_int(cls, "out_channels", out_channels)
        self.has_bias = check.boolean(cls, "has_bias", has_bias)
        self.weight, self.bias = check.affine_parameters(cls, weight_init, bias_init, [out_channels, in_channels], in_channels,
                                                         has_bias, dtype)
        self.activation = _activation_of(cls, activation)
        self.activation_flag = self.activation is not None
        # For subclasses that change the weight and compute with these.
        self.matmul, self.bias_add = ops.MatMul(transpose_b=True), ops.BiasAdd()

    def construct(self, x) -> Tensor:
        held = self._params  # read directly: attributes of a Cell cost more
        x = ops.dense(x, held["weight"], held.get("bias"))
        return self.activation(x) if self.activation_flag else x

    def extend_repr(self):
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            text += f", has_bias={self.has_bias}"
        return text + (f", activation={self.activation}" if self.activation_flag else "")


class Linear(Cell):
    """Dense with the torch-like arguments.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        bias: whether a bias is added. Default True.
        weight_init, bias_init: initial values. Default None: uniform, bounded by 1 / sqrt(in_features).
        dtype: of the Parameters. Default None, float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Linear(3, 4)(ms.ops.ones((2, 3))).shape)
        (2, 4)
    """

    def __init__(self, in_features, out_features, bias=True, weight_init=None, bias_init=None, dtype=None):
        super().__init__()
        cls = self.cls_name
        self.in_features = check.positive_int(cls, "in_features", in_features)
        self.out_features = check.positive_int(cls, "out_features", out_features)
        self.has_bias = check.boolean(cls, "bias", bias)
        self.weight, self.bias = check.affine_parameters(cls, weight_init, bias_init, [out_features, in_features], in_features,
                                                         bias, dtype or mstype.float32)

    def construct(self, x) -> Tensor:
        return ops.dense(x, self.weight, self.bias)

    def extend_repr(self):
        text = f"input_features={self.in_features}, output_features={self.out_features}"
        return text + (f", has_bias={self.has_bias}" if self.has_bias else "")


class Dropout(Cell):
    """While training, sets elements to zero at random and scales the others up, so that the mean stays.

    Args:
        keep_prob: deprecated: probability of keeping an element, used when `p` is None. Default 0.5.
        p: probability of dropping an element, in [0, 1). Default None.
        dtype: deprecated, without effect.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Dropout(p=0.5)(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, keep_prob=0.5, p=None, dtype=mstype.float32):
        super().__init__()
        if p is None:
            _log.warning("For 'Dropout', 'keep_prob' is deprecated, use 'p'.")
            check.number_in(self.cls_name, "keep_prob", keep_prob, 0, 1, (float,), open_low=True)
            self._drop = 1.0 - keep_prob
        else:
            check.number_in(self.cls_name, "p", p, 0, 1, open_high=True)
            self._drop = float(p)
        self.p, self.keep_prob = p, keep_prob

    def construct(self, x) -> Tensor:
        if not self.training or self.p == 0 or self.keep_prob == 1:
            return x
        return ops.dropout(x, self._drop)

    def extend_repr(self):
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class DropoutExt(Cell):
    """Dropout with the torch-like arguments.

    Args:
        p: probability of dropping an element. Default 0.5.
        inplace: whether the input itself is changed. Default False.
    """

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p, self.inplace = p, inplace

    def construct(self, input) -> Tensor:
        if not self.training or self.p == 0:
            return input
        out = ops.dropout(input, float(self.p))
        return ops.assign(input, out) if self.inplace else out


class _DropoutWhole(Cell):
    """Drops whole channels."""

    _function = None

    def __init__(self, p=0.5):
        super().__init__()
        check.number_in(self.cls_name, "p", p, 0, 1, (float,))
        self.prob = p
        self.keep_prob = 1.0 - p

    def construct(self, x) -> Tensor:
        if not self.training or self.prob == 0:
            return x
        return getattr(ops, self._function)(x, self.prob)


class Dropout1d(_DropoutWhole):
    """While training, sets whole channels of (N, C, L) or (C, L) to zero at random and scales the others up.

    Args:
        p: probability of dropping a channel. Default 0.5.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Dropout1d()(ms.ops.ones((1, 2, 3))).shape)
        (1, 2, 3)
    """

    _function = "dropout1d"


class Dropout2d(_DropoutWhole):
    """While training, sets whole channels of (N, C, H, W) to zero at random and scales the others up.

    Args:
        p: probability of dropping a channel. Default 0.5.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Dropout2d()(ms.ops.ones((1, 2, 3, 3))).shape)
        (1, 2, 3, 3)
    """

    _function = "dropout2d"

    def extend_repr(self):
        return f"p={self.keep_prob}"


class Dropout3d(_DropoutWhole):
    """While training, sets whole channels of (N, C, D, H, W) to zero at random and scales the others up.

    Args:
        p: probability of dropping a channel. Default 0.5.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Dropout3d()(ms.ops.ones((1, 2, 3, 3, 3))).shape)
        (1, 2, 3, 3, 3)
    """

    _function = "dropout3d"

    def extend_repr(self):
        return f"p={self.keep_prob}"


class Dropout2dExt(Cell):
    """Dropout2d with the torch-like arguments.

    Args:
        p: probability of dropping a channel. Default 0.5.
        inplace: whether the input itself is changed. Default False.
    """

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p, self.inplace = p, inplace

    def construct(self, input) -> Tensor:
        if not self.training or self.p == 0:
            return input
        out = ops.dropout2d(input, float(self.p))
        return ops.assign(input, out) if self.inplace else out


class Flatten(Cell):
    """Some dimensions as one.

    Args:
        start_dim: first of them. Default 1.
        end_dim: last of them. Default -1.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Flatten()(ms.ops.ones((2, 3, 4))).shape)
        (2, 12)
    """

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def check_axis_valid(self, axis, ndim):
        """Raise ValueError unless a Tensor of `ndim` dimensions has the dimension `axis`."""
        if not -ndim <= axis < ndim:
            raise ValueError(f"For '{self.cls_name}', 'start_dim' or 'end_dim' must be in [{-ndim}, {ndim}) for an input of {ndim} dimensions, "
                             f"but got {axis}.")

    def construct(self, x) -> Tensor:
        if not hasattr(x, "ndim"):
            check.tensor(self.cls_name, x)
        for dim in (self.start_dim, self.end_dim):
            self.check_axis_valid(dim, x.ndim or 1)
        return ops.flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)


class Unflatten(Cell):
    """One dimension as several.

    Args:
        axis: which one.
        unflattened_size: their sizes.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Unflatten(1, (2, 3))(ms.ops.ones((4, 6))).shape)
        (4, 2, 3)
    """

    def __init__(self, axis, unflattened_size):
        super().__init__()
        check.instance(self.cls_name, "axis", axis, int)
        check.instance(self.cls_name, "unflattened_size", unflattened_size, tuple, list)
        self.axis, self.unflattened_size = axis, tuple(unflattened_size)

    def construct(self, input_x) -> Tensor:
        shape = tuple(input_x.shape)
        after = shape[self.axis + 1:] if self.axis != -1 else ()
        return ops.reshape(input_x, shape[:self.axis] + self.unflattened_size + after)


class Identity(Cell):
    """Gives its input back; takes any arguments.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Identity(1, a=2)(ms.Tensor([1, 2])))
        [1 2]
    """

    def __init__(self, *args, **kwargs):
        super().__init__()

    def construct(self, input):
        return input


class Upsample(Cell):
    """A signal, image or volume of another size, by interpolation.

    Args:
        size: size of the result. Default None.
        scale_factor: or the factor of the sizes. Default None.
        mode: 'nearest', 'linear', 'bilinear', 'bicubic', 'trilinear', 'area' or 'nearest-exact'. Default 'nearest'.
        align_corners: whether the centres of the corner elements stay in place. Default None.
        recompute_scale_factor: whether the factor is computed anew from the sizes. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Upsample(size=(4, 4))(ms.ops.ones((1, 2, 2, 2))).shape)
        (1, 2, 4, 4)
    """

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, x) -> Tensor:
        return ops.interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor)


class ClipByNorm(Cell):
    """Scales a Tensor down so that its 2-norm is not above a limit.

    Args:
        axis: dimensions the norm is taken over. Default None, all.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.ClipByNorm()(ms.Tensor([3.0, 4.0]), ms.Tensor([1.0])))
        [0.6 0.8]
    """

    def __init__(self, axis=None):
        super().__init__()
        if axis is not None:
            check.instance(self.cls_name, "axis", axis, int, tuple, list)
        self.axis = tuple(axis) if isinstance(axis, list) else axis

    def construct(self, x, clip_norm) -> Tensor:
        axis = tuple(range(x.ndim)) if self.axis is None else self.axis
        wide = x.astype(mstype.float32)
        total = ops.sum(wide * wide, axis, True)
        some = total > 0
        norm = ops.select(some, ops.sqrt(ops.select(some, total, ops.ones_like(total))), total)
        limit = clip_norm.astype(mstype.float32) if isinstance(clip_norm, Tensor) else clip_norm
        return ((wide * limit) / ops.maximum(norm, limit)).astype(x.dtype)


class Norm(Cell):
    """Euclidean norm over some dimensions.

    Args:
        axis: an int or a tuple of ints. Default (), all.
        keep_dims: whether they stay, with size 1. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Norm()(ms.Tensor([3.0, 4.0])))
        5.0
    """

    def __init__(self, axis=(), keep_dims=False):
        super().__init__()
        self.axis, self.keep_dims = axis, check.boolean(self.cls_name, "keep_dims", keep_dims)

    def construct(self, x) -> Tensor:
        total = ops.sqrt(ops.sum(ops.square(x), tuple(range(x.ndim)) if self.axis == () else self.axis, True))
        return total if self.keep_dims else ops.squeeze(total, self.axis if self.axis != () else None)

    def extend_repr(self):
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class OneHot(Cell):
    """Indices as vectors with one element set.

    Args:
        axis: where the new dimension goes. Default -1.
        depth: its size. Default 1.
        on_value: value of the element. Default 1.0.
        off_value: value of the others. Default 0.0.
        dtype: of the result. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.OneHot(depth=3)(ms.Tensor([2, 0])))
        [[0. 0. 1.]
         [1. 0. 0.]]
    """

    def __init__(self, axis=-1, depth=1, on_value=1.0, off_value=0.0, dtype=mstype.float32):
        super().__init__()
        self.axis, self.depth, self.dtype = axis, depth, dtype
        self.on_value, self.off_value = Tensor(on_value, dtype), Tensor(off_value, dtype)

    def construct(self, indices) -> Tensor:
        return ops.one_hot(indices, self.depth, self.on_value, self.off_value, self.axis)


class Pad(Cell):
    """Puts elements around a Tensor.

    Args:
        paddings: for every dimension a pair: how many before and after.
        mode: 'CONSTANT' (zeros), 'REFLECT' (mirrored at the edge elements) or 'SYMMETRIC' (edge elements repeated).
            Default 'CONSTANT'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Pad(((1, 0), (0, 2)))(ms.ops.ones((1, 1))))
        [[0. 0. 0.]
         [1. 0. 0.]]
    """

    def __init__(self, paddings, mode="CONSTANT"):
        super().__init__()
        cls = self.cls_name
        self.mode = check.one_of(cls, "mode", mode, ("CONSTANT", "REFLECT", "SYMMETRIC"))
        check.instance(cls, "paddings", paddings, tuple)
        if len(paddings) > 4 or any(len(pair) != 2 for pair in paddings):
            check.fail_value(cls, "paddings", paddings, "at most 4 pairs")
        self.paddings = paddings

    def construct(self, x) -> Tensor:
        if len(self.paddings) != x.ndim:
            raise ValueError(f"For '{self.cls_name}', 'paddings' must have a pair for each of the {x.ndim} dimensions of the "
                             f"input, but got {self.paddings}.")
        if self.mode == "CONSTANT":
            return ops.pad(x, tuple(n for pair in reversed(self.paddings) for n in pair))
        for axis, (before, after) in enumerate(self.paddings):
            if before or after:
                x = self._mirror(x, axis, before, after)
        return x

    def _mirror(self, x, axis, before, after):
        size, edge = x.shape[axis], 1 if self.mode == "REFLECT" else 0
        if before > size - edge or after > size - edge:
            raise ValueError(f"For '{self.cls_name}', mode '{self.mode}' can add at most {size - edge} elements to dimension "
                             f"{axis} of size {size}, but 'paddings' is {self.paddings}.")
        order = ([*range(before - 1 + edge, edge - 1, -1), *range(size), *range(size - 1 - edge, size - 1 - edge - after, -1)])
        return ops.gather(x, Tensor(order, mstype.int32), axis)


class Unfold(Cell):
    """Patches of an image, (N, C, H, W) to (N, C * height * width, rows, columns).

    Args:
        ksizes: [1, height, width, 1] of a patch.
        strides: [1, row, column, 1] between patches.
        rates: [1, row, column, 1] between elements of a patch.
        padding: 'valid' or 'same', in any case. Default 'valid'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.Unfold([1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1])
        >>> print(net(ms.ops.ones((1, 1, 4, 4))).shape)
        (1, 4, 2, 2)
    """

    def __init__(self, ksizes, strides, rates, padding="valid"):
        super().__init__()
        cls = self.cls_name
        for name, value in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
            check.instance(cls, name, value, tuple, list)
            if len(value) != 4 or value[0] != 1 or value[3] != 1 or not all(check.is_int(v) and v > 0 for v in value):
                check.fail_value(cls, name, value, "[1, row, column, 1] of positive ints")
        check.instance(cls, "padding", padding, str)
        self.padding = check.one_of(cls, "padding", padding.lower(), ("valid", "same"))
        self.ksizes, self.strides, self.rates = tuple(ksizes[1:3]), tuple(strides[1:3]), tuple(rates[1:3])

    def construct(self, input_x) -> Tensor:
        check.rank_of(self.cls_name, input_x, 4)
        n, c = input_x.shape[:2]
        if self.padding == "same":
            pads = []
            for size, k, s, r in zip(input_x.shape[2:], self.ksizes, self.strides, self.rates):
                total = max((-(-size // s) - 1) * s + (k - 1) * r + 1 - size, 0)
                pads.append((total // 2, total - total // 2))
            input_x = ops.pad(input_x, (*pads[1], *pads[0]))
        (kh, kw), (sh, sw), (rh, rw) = self.ksizes, self.strides, self.rates
        rows, columns = ((size - (k - 1) * r - 1) // s + 1
                         for size, k, s, r in zip(input_x.shape[2:], self.ksizes, self.strides, self.rates))
        taps = [input_x[:, :, i * rh:i * rh + (rows - 1) * sh + 1:sh, j * rw:j * rw + (columns - 1) * sw + 1:sw]
                for i in range(kh) for j in range(kw)]
        # Elements of a patch come before channels.
        return ops.stack(taps, 1).reshape((n, kh * kw * c, rows, columns))


class _Triangle(Plain):
    """Half of the matrices in the last two dimensions."""

    def construct(self, x, k=0) -> Tensor:
        check.instance(self.cls_name, "k", k, int)
        return getattr(ops, self.cls_name.lower())(x, k)


class Tril(_Triangle):
    """The lower triangle of matrices; the rest becomes 0. Called with the matrices and the diagonal `k` to start from.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Tril()(ms.ops.ones((2, 2))))
        [[1. 0.]
         [1. 1.]]
    """


class Triu(_Triangle):
    """The upper triangle of matrices; the rest becomes 0. Called with the matrices and the diagonal `k` to start from.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Triu()(ms.ops.ones((2, 2))))
        [[1. 1.]
         [0. 1.]]
    """


class MatrixDiag(Plain):
    """Diagonal matrices from their diagonals.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MatrixDiag()(ms.Tensor([1.0, 2.0])))
        [[1. 0.]
         [0. 2.]]
    """

    def construct(self, input_x) -> Tensor:
        size = input_x.shape[-1]
        return ops.expand_dims(input_x, -1) * ops.eye(size, size, input_x.dtype)


class MatrixDiagPart(Plain):
    """The diagonals of matrices.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MatrixDiagPart()(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [1. 4.]
    """

    def construct(self, input_x) -> Tensor:
        rows, columns = input_x.shape[-2:]
        kept = input_x * ops.eye(rows, columns, input_x.dtype)
        return ops.sum(kept, -1 if rows <= columns else -2)


class MatrixSetDiag(Plain):
    """Matrices with other diagonals.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MatrixSetDiag()(ms.ops.ones((2, 2)), ms.Tensor([5.0, 6.0])))
        [[5. 1.]
         [1. 6.]]
    """

    def construct(self, input_x, diagonal) -> Tensor:
        rows, columns = input_x.shape[-2:]
        wanted = tuple(input_x.shape[:-2]) + (min(rows, columns),)
        if tuple(diagonal.shape) != wanted:
            raise ValueError(f"For '{self.cls_name}', the diagonal must have shape {wanted}, but got {tuple(diagonal.shape)}.")
        spread = ops.expand_dims(diagonal, -1) if rows <= columns else ops.expand_dims(diagonal, -2)
        mask = ops.eye(rows, columns, mstype.float32).astype(mstype.bool_)
        shape = tuple(input_x.shape)
        return ops.select(ops.broadcast_to(mask, shape), ops.broadcast_to(spread, shape), input_x)


class Roll(Cell):
    """Moves elements along dimensions; what leaves at one end comes back at the other.

    Args:
        shift: by how many, an int or one for every axis.
        axis: along which dimensions.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Roll(1, 0)(ms.Tensor([1, 2, 3])))
        [3 1 2]
    """

    def __init__(self, shift, axis):
        super().__init__()
        check.instance(self.cls_name, "shift", shift, int, tuple, list)
        check.instance(self.cls_name, "axis", axis, int, tuple, list)
        self.shift = list(shift) if isinstance(shift, (tuple, list)) else [shift]
        self.axis = list(axis) if isinstance(axis, (tuple, list)) else [axis]
        if len(self.shift) != len(self.axis):
            raise ValueError(f"For '{self.cls_name}', 'shift' and 'axis' must have equal lengths, but got {len(self.shift)} "
                             f"and {len(self.axis)}.")

    def construct(self, input_x) -> Tensor:
        for axis in self.axis:
            if not -input_x.ndim <= axis < input_x.ndim:
                check.fail_value(self.cls_name, "axis", axis, f"in [{-input_x.ndim}, {input_x.ndim})")
        return ops.roll(input_x, tuple(self.shift), tuple(self.axis))


class L1Regularizer(Cell):
    """A factor times the sum of absolute values.

    Args:
        scale: the factor, above 0.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.L1Regularizer(0.5)(ms.Tensor([1.0, -3.0])))
        2.0
    """

    def __init__(self, scale):
        super().__init__()
        check.instance(self.cls_name, "scale", scale, int, float)
        if not scale > 0 or math.isinf(scale):
            check.fail_value(self.cls_name, "scale", scale, "a finite number above 0")
        self.scale = Tensor(scale, mstype.float32)

    def construct(self, weights) -> Tensor:
        if weights.dtype == mstype.bool_:
            raise TypeError(f"For '{self.cls_name}', the weights must be numbers, but got {weights.dtype}.")
        return self.scale * ops.sum(ops.abs(weights))

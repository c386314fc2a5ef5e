# SPDX-License-Identifier: Apache-2.0
"""Layers for the optimizer nn.thor: while their flag `thor` is set, a pass keeps what they see of the data. `matrix_a` is the second
moment of the input, filled on the way forward, `matrix_g` that of the gradient of the output, filled on the way back."""
from spore import ops
from spore._core import Tensor
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.nn.layer.basic import Dense
from spore.nn.layer.conv import Conv2d
from spore.nn.layer.embedding import Embedding, EmbeddingLookup

__all__ = ["DenseThor", "Conv2dThor", "EmbeddingThor", "EmbeddingLookupThor"]


def _moment(value, name):
    return Parameter(value, name=name, requires_grad=False)


def _keep(held, value):
    ops.assign(held, ops.stop_gradient(value))


def _mean_of_squares(rows):
    """The mean over the rows of each row times itself."""
    rows = ops.cast(rows, mstype.float32)
    return ops.matmul(ops.transpose(rows, (1, 0)), rows) / rows.shape[0]


class DenseThor(Dense):
    """A Dense layer that keeps what the optimizer nn.thor needs.

    Args:
        in_channels, out_channels: sizes of the last dimension of input and output.
        weight_init: initial weights. Default 'normal'.
        bias_init: initial bias. Default 'zeros'.
        has_bias: whether a bias is added. Default True.
        activation: name of an activation. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.DenseThor(3, 2, weight_init="ones")(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
    """

    def __init__(self, in_channels, out_channels, weight_init="normal", bias_init="zeros", has_bias=True, activation=None):
        super().__init__(in_channels, out_channels, weight_init, bias_init, has_bias, activation)
        self.thor = True
        self.matrix_a = _moment(ops.eye(in_channels, in_channels, mstype.float32), "matrix_a")
        self.matrix_g = _moment(ops.eye(out_channels, out_channels, mstype.float32), "matrix_g")
        self.getG = ops.InsertGradientOf(self.save_gradient)

    def save_gradient(self, dout):
        """Keeps the moment of a gradient, and hands it on."""
        _keep(self.matrix_g, _mean_of_squares(ops.reshape(dout, (-1, self.out_channels))))
        return dout

    def construct(self, x) -> Tensor:
        if not self.thor:
            return super().construct(x)
        rows = ops.cast(ops.reshape(x, (-1, self.in_channels)), mstype.float32)
        # over the channels, not over the rows: so does MindSpore, and dampings are chosen for it
        _keep(self.matrix_a, ops.matmul(ops.transpose(rows, (1, 0)), rows) / self.in_channels)
        x = self.getG(ops.dense(x, self.weight))
        if self.has_bias:
            x = x + ops.cast(self.bias, x.dtype)
        return self.activation(x) if self.activation_flag else x


class Conv2dThor(Conv2d):
    """A Conv2d layer that keeps what the optimizer nn.thor needs.

    Args:
        in_channels, out_channels: channels of input and output.
        kernel_size, stride, pad_mode, padding, dilation, group, has_bias: as of Conv2d.
        weight_init: initial weights. Default 'normal'.
        bias_init: initial bias. Default 'zeros'.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.Conv2dThor(3, 4, 3)(ms.ops.ones((1, 3, 8, 8))).shape)
        (1, 4, 8, 8)
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_init="normal", bias_init="zeros"):
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
                         bias_init)
        self.thor = True
        taps = in_channels * self.kernel_size[0] * self.kernel_size[1]
        self.a_normalizer = _moment(ops.ones((1,)), "a_normalizer")
        self.g_normalizer = _moment(ops.ones((1,)), "g_normalizer")
        self.matrix_a_cov = _moment(ops.zeros((taps, taps)), "matrix_a")
        self.matrix_g_cov = _moment(ops.zeros((out_channels, out_channels)), "matrix_g")
        self.getG = ops.InsertGradientOf(self.save_gradient)

    def save_gradient(self, dout):
        """Keeps the moment of a gradient over the places of the image, and hands it on."""
        places = ops.reshape(ops.cast(dout, mstype.float32).mean(0), (self.out_channels, -1))
        _keep(self.matrix_g_cov, _mean_of_squares(ops.transpose(places, (1, 0))))
        ops.assign(self.g_normalizer, ops.full((1,), float(places.shape[1])))
        return dout

    def _patches(self, x):
        """What the kernel sees at each place of the mean image: (places, taps). The mean of the patches is the patch of the mean."""
        mean = ops.cast(x, mstype.float32).mean(0, keep_dims=True)
        pads = []
        for size, kernel, stride in zip(mean.shape[2:], self.kernel_size, self.stride):
            total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            pads.append((total // 2, total - total // 2))
        mean = ops.pad(mean, (*pads[1], *pads[0]))
        return ops.transpose(ops.unfold(mean, self.kernel_size, stride=self.stride)[0], (1, 0))

    def construct(self, x) -> Tensor:
        if not self.thor:
            return super().construct(x)
        patches = self._patches(x)
        _keep(self.matrix_a_cov, _mean_of_squares(patches))
        ops.assign(self.a_normalizer, ops.full((1,), float(patches.shape[0])))
        out = self.getG(self.conv2d(x, ops.cast(self.weight, x.dtype)))
        return self.bias_add(out, ops.cast(self.bias, out.dtype)) if self.has_bias else out


class _Counting:
    """The part that both kinds of tables have in common."""

    def _add_moments(self):
        self.thor = True
        self.matrix_a = _moment(ops.zeros((self.vocab_size,)), "matrix_a")
        self.matrix_g = _moment(ops.zeros((self.embedding_size, self.embedding_size)), "matrix_g")
        self.getG = ops.InsertGradientOf(self.save_gradient)

    def save_gradient(self, dout):
        """Keeps the moment of a gradient, and hands it on."""
        _keep(self.matrix_g, _mean_of_squares(ops.reshape(dout, (-1, self.embedding_size))))
        return dout

    def _rows(self, ids):
        flat = ops.reshape(ids, (-1,))
        counts = ops.zeros((self.vocab_size,)).index_add(0, ops.cast(flat, mstype.int32), ops.ones((flat.shape[0],)))
        _keep(self.matrix_a, counts)
        return self.getG(ops.gather(self.embedding_table, flat, 0))


class EmbeddingThor(_Counting, Embedding):
    """An Embedding that keeps what the optimizer nn.thor needs.

    Args:
        vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx: as of Embedding.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.EmbeddingThor(10, 4)(ms.Tensor([[1, 2, 3]])).shape)
        (1, 3, 4)
    """

    def __init__(self, vocab_size, embedding_size, use_one_hot=False, embedding_table="normal", dtype=mstype.float32,
                 padding_idx=None):
        super().__init__(vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx)
        self._add_moments()

    def construct(self, ids) -> Tensor:
        if self.use_one_hot or not self.thor:
            return super().construct(ids)
        return ops.reshape(self._rows(ids), tuple(ids.shape) + (self.embedding_size,))


class EmbeddingLookupThor(_Counting, EmbeddingLookup):
    """An EmbeddingLookup that keeps what the optimizer nn.thor needs.

    Args:
        vocab_size, embedding_size, param_init, target, slice_mode, manual_shapes, max_norm, sparse: as of EmbeddingLookup.
        vocab_cache_size: accepted; the table is in memory as a whole. Default 0.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.EmbeddingLookupThor(10, 4)(ms.Tensor([[1, 2, 3]])).shape)
        (1, 3, 4)
    """

    def __init__(self, vocab_size, embedding_size, param_init="normal", target="CPU", slice_mode="batch_slice",
                 manual_shapes=None, max_norm=None, sparse=True, vocab_cache_size=0):
        super().__init__(vocab_size, embedding_size, param_init, target, slice_mode, manual_shapes, max_norm, sparse,
                         vocab_cache_size=vocab_cache_size)
        self._add_moments()

    def construct(self, indices) -> Tensor:
        if not self.thor or self.max_norm is not None:
            return super().construct(indices)
        return ops.reshape(self._rows(indices), tuple(indices.shape) + (self.embedding_size,))

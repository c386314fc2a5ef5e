# SPDX-License-Identifier: Apache-2.0
"""Normalisation."""
from spore import _core
from spore import ops
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer.normalization import LayerNormExt as LayerNorm

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "LayerNorm", "SyncBatchNorm"]


class _BatchNorm(Cell):
    """Batch normalisation with kept statistics that may be absent."""

    _ranks = ()

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, dtype=None):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats, self.dtype = affine, track_running_stats, dtype or mstype.float32
        self.weight = self.bias = None
        if affine:
            self.weight = check.parameter("ones", num_features, self.dtype, "weight")
            self.bias = check.parameter("zeros", num_features, self.dtype, "bias")
        self.running_mean = self.running_var = self.num_batches_tracked = None
        if track_running_stats:
            self.running_mean = check.parameter("zeros", num_features, self.dtype, "running_mean", False)
            self.running_var = check.parameter("ones", num_features, self.dtype, "running_var", False)
            self.num_batches_tracked = Parameter(Tensor(0, mstype.int64), name="num_batches_tracked", requires_grad=False)

    def reset_running_stats(self):
        """Mean 0, variance 1, no batch counted."""
        if self.track_running_stats:
            self.running_mean.set_data(ops.zeros_like(self.running_mean))
            self.running_var.set_data(ops.ones_like(self.running_var))
            self.num_batches_tracked.set_data(Tensor(0, mstype.int64))

    def reset_parameters(self):
        """Initial values everywhere."""
        self.reset_running_stats()
        if self.affine:
            self.weight.set_data(ops.ones_like(self.weight))
            self.bias.set_data(ops.zeros_like(self.bias))

    def _fits(self, rank):
        return rank in self._ranks

    def construct(self, input) -> Tensor:
        if not self._fits(input.ndim):
            check.rank_of(self.cls_name, input, *self._ranks)
        factor = 0.0 if self.momentum is None else self.momentum
        keep = self.training and self.track_running_stats
        if keep:
            ops.assign_add(self.num_batches_tracked, Tensor(1, mstype.int64))
            if self.momentum is None:
                factor = 1.0 / int(self.num_batches_tracked.asnumpy())
        by_batch = self.training or self.running_mean is None
        mean, variance = (self.running_mean, self.running_var) if keep or not by_batch else (None, None)
        return _core.apply("batch_norm", (input, self.weight, self.bias, mean, variance),
                           {"is_training": by_batch, "epsilon": self.eps, "momentum": factor})[0]

    def extend_repr(self):
        return (f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"track_running_stats={self.track_running_stats}")


_NORM = """

    Args:
        num_features: number of channels.
        eps: added to variances. Default 1e-5.
        momentum: weight of new statistics when the kept ones are updated; None for their plain mean. Default 0.1.
        affine: whether there are scale and shift. Default True.
        track_running_stats: whether statistics are kept for evaluation. Default True.{more}
        dtype: of the Parameters. Default None, float32.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.{name}(3)(ms.ops.ones({shape})).shape)
        {shape}
    """


class BatchNorm1d(_BatchNorm):
    __doc__ = "Batch normalisation of (N, C) or (N, C, L)." + _NORM.format(more="", name="BatchNorm1d", shape="(2, 3)")
    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = "Batch normalisation of images, (N, C, H, W)." + _NORM.format(more="", name="BatchNorm2d", shape="(2, 3, 4, 4)")
    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    __doc__ = ("Batch normalisation of volumes, (N, C, D, H, W)."
               + _NORM.format(more="", name="BatchNorm3d", shape="(2, 3, 2, 2, 2)"))
    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    __doc__ = ("Batch normalisation with the statistics of all devices; with one device the plain one."
               + _NORM.format(more="\n        process_group: name of the group of devices. Default None, all.",
                              name="SyncBatchNorm", shape="(2, 3, 4)"))
    _ranks = (2, 3, 4, 5)

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
                 dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)
        self.process_group = process_group


class GroupNorm(Cell):
    """Normalises groups of channels of every sample, then scales and shifts every channel.

    Args:
        num_groups: number of groups.
        num_channels: number of channels, a multiple of num_groups.
        eps: added to variances. Default 1e-5.
        affine: whether scale and shift are trained. Default True.
        dtype: of the Parameters. Default None, float32.

    Examples:
        >>> import spore as ms
        >>> from spore import mint
        >>> print(mint.nn.GroupNorm(2, 4)(ms.ops.ones((1, 4, 3))).shape)
        (1, 4, 3)
    """

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, dtype=None):
        super().__init__()
        cls = self.cls_name
        self.num_groups = check.positive_int(cls, "num_groups", num_groups)
        self.num_channels = check.positive_int(cls, "num_channels", num_channels)
        if num_channels % num_groups:
            check.fail_value(cls, "num_channels", num_channels, f"a multiple of 'num_groups', {num_groups}")
        self.eps, self.affine = check.instance(cls, "eps", eps, float), check.boolean(cls, "affine", affine)
        self.weight = check.parameter("ones", num_channels, dtype or mstype.float32, "weight", affine)
        self.bias = check.parameter("zeros", num_channels, dtype or mstype.float32, "bias", affine)

    def construct(self, input) -> Tensor:
        return ops.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extend_repr(self):
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}, eps={self.eps}, affine={self.affine}"

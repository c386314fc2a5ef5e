# SPDX-License-Identifier: Apache-2.0
"""Normalisation over a batch, a layer, groups of channels or single instances."""
import numbers

import numpy as np

from spore import _core
from spore import ops
from spore.common import dtype as mstype
from spore.common.initializer import Initializer
from spore.common.parameter import Parameter
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm", "LayerNormExt", "GroupNorm", "SyncBatchNorm",
           "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _BatchNorm(Cell):
    """Batch normalisation of channels (dimension 1); subclasses say how many dimensions an input has."""

    _ranks = ()

    def __init__(self, num_features, eps=1e-5, momentum=0.9, affine=True, gamma_init="ones", beta_init="zeros",
                 moving_mean_init="zeros", moving_var_init="ones", use_batch_statistics=None, data_format="NCHW",
                 dtype=mstype.float32):
        super().__init__()
        cls = self.cls_name
        check.instance(cls, "num_features", num_features, int)
        if num_features < 1:
            check.fail_value(cls, "num_features", num_features, "at least 1")
        if momentum < 0 or momentum > 1:
            check.fail_value(cls, "momentum", momentum, "in [0, 1]")
        self.format = check.one_of(cls, "data_format", data_format, ("NCHW", "NHWC"))
        if data_format == "NHWC":
            raise ValueError(f"For '{cls}', data_format 'NHWC' is not available on the CPU; use 'NCHW'.")
        if use_batch_statistics is not None and not isinstance(use_batch_statistics, bool):
            check.fail_value(cls, "use_batch_statistics", use_batch_statistics, "True, False or None")
        self.use_batch_statistics = use_batch_statistics
        self.num_features, self.eps, self.momentum = num_features, eps, 1.0 - momentum
        self.gamma_init, self.beta_init = gamma_init, beta_init
        self.moving_mean_init, self.moving_var_init = moving_mean_init, moving_var_init
        self.moving_mean = check.parameter(moving_mean_init, num_features, dtype, "mean", False)
        self.moving_variance = check.parameter(moving_var_init, num_features, dtype, "variance", False)
        self.gamma = check.parameter(gamma_init, num_features, dtype, "gamma", affine)
        self.beta = check.parameter(beta_init, num_features, dtype, "beta", affine)
        self._train = {"is_training": True, "epsilon": eps, "momentum": self.momentum}
        self._infer = {"is_training": False, "epsilon": eps}

    def construct(self, x) -> Tensor:
        if getattr(x, "ndim", None) not in self._ranks:
            check.rank_of(self.cls_name, x, *self._ranks)
        return self._normalize(x)

    def _normalize(self, x):
        held = self._params  # read directly: attributes of a Cell cost more
        batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        return _core.apply("batch_norm", (x, held["gamma"], held["beta"], held["moving_mean"], held["moving_variance"]),
                           self._train if batch else self._infer)[0]

    def extend_repr(self):
        return (f"num_features={self.num_features}, eps={self.eps}, momentum={1.0 - self.momentum}, gamma={self.gamma}, "
                f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}")


_BATCH_ARGS = """

    Args:
        num_features: number of channels.
        eps: added to variances. Default 1e-5.
        momentum: weight of the kept statistics when they are updated. Default 0.9.
        affine: whether scale (gamma) and shift (beta) are trained. Default True.
        gamma_init, beta_init, moving_mean_init, moving_var_init: initial values.
        use_batch_statistics: True for the statistics of the batch, False for the kept ones, None for the first while
            training and the second otherwise. Default None.{more}
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.{name}
        >>> print(net(ms.ops.ones({shape})).shape)
        {shape}
    """
_FORMAT = "\n        data_format: 'NCHW'."


class BatchNorm1d(_BatchNorm):
    __doc__ = ("Batch normalisation of (N, C) or (N, C, L)."
               + _BATCH_ARGS.format(more=_FORMAT, name="BatchNorm1d(3)", shape="(2, 3)"))
    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = ("Batch normalisation of images, (N, C, H, W)."
               + _BATCH_ARGS.format(more=_FORMAT, name="BatchNorm2d(3)", shape="(2, 3, 4, 4)"))
    _ranks = (4,)


class BatchNorm3d(Cell):
    __doc__ = ("Batch normalisation of volumes, (N, C, D, H, W)."
               + _BATCH_ARGS.format(more="", name="BatchNorm3d(3)", shape="(2, 3, 2, 2, 2)"))

    def __init__(self, num_features, eps=1e-5, momentum=0.9, affine=True, gamma_init="ones", beta_init="zeros",
                 moving_mean_init="zeros", moving_var_init="ones", use_batch_statistics=None, dtype=mstype.float32):
        super().__init__()
        self.bn2d = BatchNorm2d(num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
                                use_batch_statistics, dtype=dtype)

    def construct(self, x) -> Tensor:
        check.rank_of(self.cls_name, x, 5)
        return self.bn2d._normalize(x)


def _group_of_ranks(process_groups):
    """The group whose statistics this process takes part in; None: its own alone."""
    from spore.communication import GlobalComm, create_group, get_group_size, get_rank
    if get_group_size() == 1:
        return None
    if process_groups in (None, 0):
        return GlobalComm.WORLD_COMM_GROUP
    ranks = next((group for group in process_groups if get_rank() in group), [])
    if len(ranks) < 2:
        return None
    name = "sync_batch_norm-" + "-".join(str(r) for r in ranks)
    create_group(name, ranks)
    return name


class SyncBatchNorm(_BatchNorm):
    __doc__ = ("Batch normalisation with the statistics of all devices; with one device the same as BatchNorm2d."
               + _BATCH_ARGS.format(more="\n        process_groups: lists of ranks that share statistics. Default None, all.",
                                    name="SyncBatchNorm(3)", shape="(2, 3, 4, 4)"))
    _ranks = (2, 4)

    def __init__(self, num_features, eps=1e-5, momentum=0.9, affine=True, gamma_init="ones", beta_init="zeros",
                 moving_mean_init="zeros", moving_var_init="ones", use_batch_statistics=None, process_groups=None,
                 dtype=mstype.float32):
        super().__init__(num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
                         use_batch_statistics, dtype=dtype)
        if process_groups not in (None, 0):
            check.instance(self.cls_name, "process_groups", process_groups, list)
            ranks = [rank for group in process_groups for rank in check.instance(self.cls_name, "process_groups", group, list)]
            if len(ranks) != len(set(ranks)):
                check.fail_value(self.cls_name, "process_groups", process_groups, "lists without a rank that stands twice")
        self.process_groups = process_groups
        self._group = _group_of_ranks(process_groups)
        self._mean_of_ranks = {"momentum": self.momentum}

    def _summed(self, value):
        return _core.apply("all_reduce", [value], {"op": "sum", "group": self._group})

    def _normalize(self, x):
        batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        if self._group is None or not batch:
            return super()._normalize(x)
        held, channels, axes = self._params, (1, -1) + (1,) * (x.ndim - 2), (0,) + tuple(range(2, x.ndim))
        wide = x.astype(mstype.float32)
        n_own = ops.full((1,), x.size // x.shape[1], dtype=mstype.float32)
        sums = self._summed(ops.concat((wide.sum(axes), n_own)))  # batches of other ranks may be shorter
        n = sums[-1:]
        mean = sums[:-1] / n
        apart = wide - mean.reshape(channels)
        variance = self._summed((apart * apart).sum(axes)) / n
        _core.apply("moving_average_update", [held["moving_mean"], ops.stop_gradient(mean).astype(held["moving_mean"].dtype)], self._mean_of_ranks)
        unbiased = ops.stop_gradient(variance * (n / ops.maximum(n - 1, 1)))
        _core.apply("moving_average_update", [held["moving_variance"], unbiased.astype(held["moving_variance"].dtype)], self._mean_of_ranks)
        scale = held["gamma"].astype(mstype.float32) * ops.rsqrt(variance + self.eps)
        return (apart * scale.reshape(channels) + held["beta"].astype(mstype.float32).reshape(channels)).astype(x.dtype)


class LayerNorm(Cell):
    """Normalises every sample by mean and variance over its last dimensions, then scales and shifts.

    Args:
        normalized_shape: shape of scale and shift, a tuple or list.
        begin_norm_axis: first dimension that statistics are taken over. Default -1.
        begin_params_axis: first dimension of scale and shift. Default -1.
        gamma_init, beta_init: initial scale and shift. Default 'ones' and 'zeros'.
        epsilon: added to variances. Default 1e-7.
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.LayerNorm((4,))(ms.ops.ones((2, 4))).shape)
        (2, 4)
    """

    def __init__(self, normalized_shape, begin_norm_axis=-1, begin_params_axis=-1, gamma_init="ones", beta_init="zeros",
                 epsilon=1e-7, dtype=mstype.float32):
        super().__init__()
        check.instance(self.cls_name, "normalized_shape", normalized_shape, tuple, list)
        if not normalized_shape:
            check.fail_value(self.cls_name, "normalized_shape", normalized_shape, "at least one size")
        self.normalized_shape, self.epsilon = normalized_shape, epsilon
        self.begin_norm_axis, self.begin_params_axis = begin_norm_axis, begin_params_axis
        self.gamma = check.parameter(gamma_init, normalized_shape, dtype, "gamma")
        self.beta = check.parameter(beta_init, normalized_shape, dtype, "beta")
        self.layer_norm = ops.LayerNorm(begin_norm_axis, begin_params_axis, epsilon)

    def construct(self, input_x) -> Tensor:
        held = self._params  # read directly: attributes of a Cell cost more
        gamma, beta, dtype = held["gamma"], held["beta"], input_x.dtype
        if gamma.dtype != dtype:
            gamma, beta = gamma.astype(dtype), beta.astype(dtype)
        return self.layer_norm(input_x, gamma, beta)[0]

    def extend_repr(self):
        return (f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
                f"begin_params_axis={self.begin_params_axis}, gamma{self.gamma}, beta={self.beta}")


class LayerNormExt(Cell):
    """LayerNorm with the torch-like arguments.

    Args:
        normalized_shape: the last dimensions, an int, tuple or list.
        eps: added to variances. Default 1e-5.
        elementwise_affine: whether there are scale and shift. Default True.
        bias: whether there is a shift. Default True.
        dtype: of the Parameters. Default None, float32.
    """

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, dtype=None):
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        check.instance(self.cls_name, "normalized_shape", normalized_shape, tuple, list)
        if not normalized_shape:
            check.fail_value(self.cls_name, "normalized_shape", normalized_shape, "at least one size")
        self.normalized_shape, self.eps, self.elementwise_affine = tuple(normalized_shape), eps, elementwise_affine
        dtype = dtype or mstype.float32
        self.weight = self.bias = None
        if elementwise_affine:
            self.weight = Parameter(Tensor(np.ones(normalized_shape), dtype), name="weight")
            if bias:
                self.bias = Parameter(Tensor(np.zeros(normalized_shape), dtype), name="bias")

    def construct(self, input) -> Tensor:
        return ops.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extend_repr(self):
        return f"normalized_shape={self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Cell):
    """Normalises groups of channels of every sample, then scales and shifts every channel.

    Args:
        num_groups: number of groups.
        num_channels: number of channels, a multiple of num_groups.
        eps: added to variances. Default 1e-5.
        affine: whether scale (gamma) and shift (beta) are trained. Default True.
        gamma_init, beta_init: their initial values. Default 'ones' and 'zeros'.
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.GroupNorm(2, 4)(ms.ops.ones((1, 4, 3, 3))).shape)
        (1, 4, 3, 3)
    """

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, gamma_init="ones", beta_init="zeros",
                 dtype=mstype.float32):
        super().__init__()
        cls = self.cls_name
        self.num_groups = check.positive_int(cls, "num_groups", num_groups)
        self.num_channels = check.positive_int(cls, "num_channels", num_channels)
        if num_channels % num_groups:
            check.fail_value(cls, "num_channels", num_channels, f"a multiple of 'num_groups', {num_groups}")
        self.eps = check.instance(cls, "eps", eps, float)
        self.affine = check.boolean(cls, "affine", affine)
        self.gamma = check.parameter(gamma_init, num_channels, dtype, "gamma", affine)
        self.beta = check.parameter(beta_init, num_channels, dtype, "beta", affine)

    def construct(self, x) -> Tensor:
        gamma, beta = self.gamma, self.beta
        if gamma.dtype != x.dtype:
            gamma, beta = gamma.astype(x.dtype), beta.astype(x.dtype)
        return ops.group_norm(x, self.num_groups, gamma, beta, self.eps)

    def extend_repr(self):
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """Normalises every channel of every sample; while training, the kept statistics move."""

    _rank = 0

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, gamma_init="ones", beta_init="zeros",
                 dtype=mstype.float32):
        super().__init__()
        cls = self.cls_name
        check.instance(cls, "num_features", num_features, int)
        check.instance(cls, "eps", eps, float)
        check.number_in(cls, "momentum", momentum, 0, 1, (float,))
        check.boolean(cls, "affine", affine)
        for name, value in (("gamma_init", gamma_init), ("beta_init", beta_init)):
            if not isinstance(value, (Tensor, numbers.Number, str, Initializer)):
                check.fail_type(cls, name, value, "a Tensor, a number, a str or an Initializer")
            if isinstance(value, Tensor) and value.dtype != mstype.float32:
                raise TypeError(f"For '{cls}', the dtype of '{name}' must be float32, but got {value.dtype}.")
        if num_features < 1:
            check.fail_value(cls, "num_features", num_features, "at least 1")
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.moving_mean = check.parameter("zeros", num_features, dtype, "mean", False)
        self.moving_variance = check.parameter("ones", num_features, dtype, "variance", False)
        self.gamma = check.parameter(gamma_init, num_features, dtype, "gamma", affine)
        self.beta = check.parameter(beta_init, num_features, dtype, "beta", affine)

    def construct(self, x) -> Tensor:
        check.rank_of(self.cls_name, x, self._rank)
        if x.shape[1] != self.num_features:
            raise ValueError(f"For '{self.cls_name}', the input must have {self.num_features} channels, but got shape "
                             f"{x.shape}.")
        if self.training:
            self._keep(ops.stop_gradient(x))
        return ops.group_norm(x, self.num_features, self.gamma, self.beta, self.eps)

    def _keep(self, x):
        flat = ops.reshape(x.astype(mstype.float32), (x.shape[0], x.shape[1], -1))
        count = flat.shape[2]
        mean = ops.mean(flat, -1, True)
        variance = ops.sum(ops.square(flat - mean), -1) / max(count - 1, 1)
        for kept, now in ((self.moving_mean, ops.mean(mean, (0, 2))), (self.moving_variance, ops.mean(variance, 0))):
            ops.assign(kept, (kept * (1 - self.momentum) + now * self.momentum).astype(kept.dtype))

    def extend_repr(self):
        return (f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={self.gamma}, "
                f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}")


_INSTANCE_ARGS = """

    Args:
        num_features: number of channels.
        eps: added to variances. Default 1e-5.
        momentum: weight of new statistics when the kept ones are updated. Default 0.1.
        affine: whether scale (gamma) and shift (beta) are trained. Default True.
        gamma_init, beta_init: their initial values. Default 'ones' and 'zeros'.
        dtype: of the Parameters. Default float32.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.{name}(3)(ms.ops.ones({shape})).shape)
        {shape}
    """


class InstanceNorm1d(_InstanceNorm):
    __doc__ = "Instance normalisation of (N, C, L)." + _INSTANCE_ARGS.format(name="InstanceNorm1d", shape="(2, 3, 4)")
    _rank = 3


class InstanceNorm2d(_InstanceNorm):
    __doc__ = ("Instance normalisation of images, (N, C, H, W)."
               + _INSTANCE_ARGS.format(name="InstanceNorm2d", shape="(2, 3, 4, 4)"))
    _rank = 4


class InstanceNorm3d(_InstanceNorm):
    __doc__ = ("Instance normalisation of volumes, (N, C, D, H, W)."
               + _INSTANCE_ARGS.format(name="InstanceNorm3d", shape="(2, 3, 2, 2, 2)"))
    _rank = 5

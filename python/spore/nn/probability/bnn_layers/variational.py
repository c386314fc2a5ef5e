# SPDX-License-Identifier: Apache-2.0
"""Dense layers and convolutions with distributions for weights, and the loss that keeps these near what was assumed of them."""
from spore._core import type_name as _type_name
from spore import ops
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer.activation import get_activation
from spore.nn.layer.conv import Conv2d
from spore.nn.probability.bnn_layers.layer_distribution import NormalPrior, normal_post_fn
from spore.nn.probability.distribution import Normal

__all__ = ["ConvReparam", "DenseReparam", "DenseLocalReparam", "WithBNNLossCell"]


def _prior(make, argument):
    made = make if isinstance(make, Cell) else make()
    if any(name != "normal" for name in made.name_cells()):
        raise TypeError(f"The distribution of '{argument}' must be a normal one, under the name 'normal'.")
    return made


def _posterior(make, shape, name, argument):
    try:
        made = make(shape=shape, name=name)
    except TypeError as error:
        raise TypeError(f"'{argument}' must make a NormalPosterior from 'name' and 'shape'.") from error
    if any(child != "normal" for child in made.name_cells()):
        raise TypeError(f"The distribution of '{argument}' must be a normal one, under the name 'normal'.")
    return made


class _Variational:
    """What both kinds of layers have in common: pairs of distributions, and how far the learned ones went from the others."""

    def _set_distributions(self, weight_shape, weight_prior_fn, weight_posterior_fn, bias_prior_fn, bias_posterior_fn):
        self.weight_prior = _prior(weight_prior_fn, "weight_prior_fn")
        self.weight_posterior = _posterior(weight_posterior_fn, weight_shape, "bnn_weight", "weight_posterior_fn")
        if self.has_bias:
            self.bias_prior = _prior(bias_prior_fn, "bias_prior_fn")
            self.bias_posterior = _posterior(bias_posterior_fn, [self.out_channels], "bnn_bias", "bias_posterior_fn")

    def compute_kl_loss(self):
        """The Kullback-Leibler divergence of the learned distributions from those assumed, summed."""
        loss = _divergence(self.weight_prior, self.weight_posterior)
        return loss + _divergence(self.bias_prior, self.bias_posterior) if self.has_bias else loss

    def apply_variational_bias(self, inputs):
        """The inputs with a bias that is drawn."""
        return ops.bias_add(inputs, self.bias_posterior("sample"))

    def _shown(self):
        text = f"weight_mean={self.weight_posterior.mean}, weight_std={self.weight_posterior.untransformed_std}, has_bias={self.has_bias}"
        if self.has_bias:
            text += f", bias_mean={self.bias_posterior.mean}, bias_std={self.bias_posterior.untransformed_std}"
        return text


def _divergence(prior, posterior):
    return ops.sum(prior("kl_loss", posterior("get_dist_type"), *posterior("get_dist_args")))


class _DenseVariational(_Variational, Cell):
    """Base of the dense layers."""

    def __init__(self, in_channels, out_channels, activation=None, has_bias=True, weight_prior_fn=NormalPrior,
                 weight_posterior_fn=normal_post_fn, bias_prior_fn=NormalPrior, bias_posterior_fn=normal_post_fn):
        super().__init__()
        cls = self.cls_name
        self.in_channels = check.positive_int(cls, "in_channels", in_channels)
        self.out_channels = check.positive_int(cls, "out_channels", out_channels)
        self.has_bias = check.boolean(cls, "has_bias", has_bias)
        self._set_distributions([out_channels, in_channels], weight_prior_fn, weight_posterior_fn, bias_prior_fn, bias_posterior_fn)
        if activation and not isinstance(activation, (str, Cell)):
            raise ValueError(f"For '{cls}', 'activation' must be a str or a Cell, but got {_type_name(activation)}.")
        self.activation = get_activation(activation, cls) if isinstance(activation, str) and activation else activation
        self.activation_flag = bool(activation)

    def construct(self, x):
        outputs = self._apply_variational_weight(x)
        if self.has_bias:
            outputs = self.apply_variational_bias(outputs)
        return self.activation(outputs) if self.activation_flag else outputs

    def extend_repr(self):
        text = f"in_channels={self.in_channels}, out_channels={self.out_channels}, {self._shown()}"
        return text + (f", activation={self.activation}" if self.activation_flag else "")


_ARGUMENTS = """
        has_bias: whether a bias is added.
        weight_prior_fn, bias_prior_fn: what is assumed of weight and bias, a Cell or what makes one. Default NormalPrior.
        weight_posterior_fn, bias_posterior_fn: what is learned, made by ``fn(name=, shape=)``. Default normal_post_fn.
"""


class DenseReparam(_DenseVariational):
    __doc__ = f"""A dense layer whose weight is drawn in each pass, one for all rows.

    Args:
        in_channels, out_channels: sizes of the last dimension of input and output.
        activation: name of an activation, or a Cell. Default None.{_ARGUMENTS}
    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability import bnn_layers
        >>> print(bnn_layers.DenseReparam(3, 4)(ms.ops.ones((2, 3))).shape)
        (2, 4)
    """

    def _apply_variational_weight(self, inputs):
        return ops.dense(inputs, self.weight_posterior("sample"))


class DenseLocalReparam(_DenseVariational):
    __doc__ = f"""A dense layer that draws its outputs as if each row had a weight of its own, which makes gradients calmer.

    Args:
        in_channels, out_channels: sizes of the last dimension of input and output.
        activation: name of an activation, or a Cell. Default None.{_ARGUMENTS}
    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability import bnn_layers
        >>> print(bnn_layers.DenseLocalReparam(3, 4)(ms.ops.ones((2, 3))).shape)
        (2, 4)
    """

    def __init__(self, in_channels, out_channels, activation=None, has_bias=True, weight_prior_fn=NormalPrior,
                 weight_posterior_fn=normal_post_fn, bias_prior_fn=NormalPrior, bias_posterior_fn=normal_post_fn):
        super().__init__(in_channels, out_channels, activation, has_bias, weight_prior_fn, weight_posterior_fn, bias_prior_fn,
                         bias_posterior_fn)
        self.normal = Normal()

    def _apply_variational_weight(self, inputs):
        mean = ops.dense(inputs, self.weight_posterior("mean"))
        deviation = ops.sqrt(ops.dense(ops.square(inputs), ops.square(self.weight_posterior("sd"))))
        return self.normal("sample", mean=mean, sd=deviation)


class ConvReparam(_Variational, Conv2d):
    __doc__ = f"""A convolution whose weight is drawn in each pass.

    Args:
        in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group: as of Conv2d.{_ARGUMENTS}
    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability import bnn_layers
        >>> print(bnn_layers.ConvReparam(3, 4, 3)(ms.ops.ones((1, 3, 8, 8))).shape)
        (1, 4, 8, 8)
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0, dilation=1, group=1,
                 has_bias=False, weight_prior_fn=NormalPrior, weight_posterior_fn=normal_post_fn, bias_prior_fn=NormalPrior,
                 bias_posterior_fn=normal_post_fn):
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, "normal", "zeros")
        self.shape = [out_channels, in_channels // group, *self.kernel_size]
        self.weight.requires_grad = False
        if has_bias:
            self.bias.requires_grad = False
        self._set_distributions(self.shape, weight_prior_fn, weight_posterior_fn, bias_prior_fn, bias_posterior_fn)

    def construct(self, inputs):
        outputs = self.conv2d(inputs, self.weight_posterior("sample"))
        return self.apply_variational_bias(outputs) if self.has_bias else outputs

    def extend_repr(self):
        return (f"in_channels={self.in_channels}, out_channels={self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
                f"group={self.group}, {self._shown()}")


class WithBNNLossCell(Cell):
    """A network with Bayesian layers and its loss: that of the function, and the divergence of the layers' distributions.

    Args:
        backbone: the network.
        loss_fn: the loss function.
        dnn_factor: weight of the function's loss. Default 1.
        bnn_factor: weight of the divergence. Default 1.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> from spore.nn.probability import bnn_layers
        >>> net = nn.SequentialCell(bnn_layers.DenseReparam(16, 1))
        >>> loss = bnn_layers.WithBNNLossCell(net, nn.MSELoss(), 1, 0.001)
        >>> print(loss(ms.ops.ones((2, 16)), ms.ops.ones((2, 1))).shape)
        ()
    """

    def __init__(self, backbone, loss_fn, dnn_factor=1, bnn_factor=1):
        super().__init__(auto_prefix=False)
        for name, value in (("dnn_factor", dnn_factor), ("bnn_factor", bnn_factor)):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(f"For 'WithBNNLossCell', '{name}' must be an int or float, but got {_type_name(value)}.")
            if value < 0:
                raise ValueError(f"For 'WithBNNLossCell', '{name}' must be at least 0, but got {value}.")
        self._backbone, self._loss_fn = backbone, loss_fn
        self.dnn_factor, self.bnn_factor = dnn_factor, bnn_factor
        self.kl_loss = []
        self._add_kl_loss(backbone)

    def _add_kl_loss(self, net):
        for cell in net.name_cells().values():
            if isinstance(cell, _Variational):
                self.kl_loss.append(cell.compute_kl_loss)
            else:
                self._add_kl_loss(cell)

    def construct(self, x, label):
        loss = self._loss_fn(self._backbone(x), label) * self.dnn_factor
        divergence = 0
        for of_layer in self.kl_loss:
            divergence = divergence + of_layer()
        return loss + divergence * self.bnn_factor

    @property
    def backbone_network(self):
        """The network."""
        return self._backbone

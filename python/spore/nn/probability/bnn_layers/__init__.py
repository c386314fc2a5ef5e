# SPDX-License-Identifier: Apache-2.0
"""Bayesian layers: their weights are drawn anew in each pass, from normal distributions that are learned."""
from spore.nn.probability.bnn_layers.layer_distribution import NormalPosterior, NormalPrior, normal_post_fn
from spore.nn.probability.bnn_layers.variational import ConvReparam, DenseLocalReparam, DenseReparam, WithBNNLossCell

__all__ = ["NormalPrior", "NormalPosterior", "normal_post_fn", "DenseReparam", "DenseLocalReparam", "ConvReparam", "WithBNNLossCell"]

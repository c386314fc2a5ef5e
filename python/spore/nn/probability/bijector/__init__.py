# SPDX-License-Identifier: Apache-2.0
"""Invertible functions with the logarithms of their derivatives: what turns one distribution into another."""
from spore.nn.probability.bijector.bijector import Bijector
from spore.nn.probability.bijector.known import Exp, GumbelCDF, Invert, PowerTransform, ScalarAffine, Softplus

__all__ = ["Bijector", "PowerTransform", "Exp", "ScalarAffine", "Softplus", "GumbelCDF", "Invert"]

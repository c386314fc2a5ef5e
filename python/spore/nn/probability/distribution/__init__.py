# SPDX-License-Identifier: Apache-2.0
"""Distributions: probabilities, moments, divergences and samples, differentiable in values and parameters."""
from spore.nn.probability.distribution.distribution import Distribution
from spore.nn.probability.distribution.continuous import (Beta, Cauchy, Exponential, Gamma, HalfNormal, Laplace, Logistic, Normal,
                                                          StudentT, Uniform)
from spore.nn.probability.distribution.discrete import Bernoulli, Categorical, Geometric, Poisson
from spore.nn.probability.distribution.transformed import Gumbel, LogNormal, TransformedDistribution

__all__ = ["Distribution", "Bernoulli", "Beta", "Categorical", "Cauchy", "Exponential", "Gamma", "Geometric", "Gumbel",
           "HalfNormal", "Laplace", "LogNormal", "Logistic", "Normal", "Poisson", "StudentT", "TransformedDistribution", "Uniform"]

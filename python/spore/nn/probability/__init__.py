# SPDX-License-Identifier: Apache-2.0
"""spore.nn.probability: distributions, the bijectors that make new ones of them, and layers whose weights are distributions."""
from spore.nn.probability import bijector, bnn_layers, distribution

__all__ = ["bijector", "distribution", "bnn_layers"]

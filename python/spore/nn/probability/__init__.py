# SPDX-License-Identifier: Apache-2.0
"""spore.nn.probability: distributions, and the bijectors that make new ones of them."""
from spore.nn.probability import bijector, distribution

__all__ = ["bijector", "distribution"]

# SPDX-License-Identifier: Apache-2.0
"""Ways to train faster that MindSpore offers; here: gradient accumulation."""
from spore.boost.grad_accumulation import GradientAccumulation

__all__ = ['GradientAccumulation']

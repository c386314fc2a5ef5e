# SPDX-License-Identifier: Apache-2.0
"""Cells around networks: loss, training step, loss scale."""
__all__ = []

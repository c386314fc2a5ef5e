# SPDX-License-Identifier: Apache-2.0
"""Devices by kind: whether there are any, and their settings."""
from spore.device_context import ascend, cpu, gpu

__all__ = ['ascend', 'cpu', 'gpu']

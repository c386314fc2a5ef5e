# SPDX-License-Identifier: Apache-2.0
"""Tools beside the framework: exchange of memory with other libraries."""
from spore.utils import dlpack

__all__ = ['dlpack']

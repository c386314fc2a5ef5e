# SPDX-License-Identifier: Apache-2.0
"""The address that MindSpore has its cache client at."""
from spore.dataset.cache import DatasetCache

# SPDX-License-Identifier: Apache-2.0
"""The address that MindSpore has its datasets at."""
from spore.dataset import *
from spore.dataset.sources import MappableDataset

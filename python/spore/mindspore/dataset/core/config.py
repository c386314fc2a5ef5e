# SPDX-License-Identifier: Apache-2.0
"""The address that MindSpore has its settings at."""
from spore.dataset.config import *

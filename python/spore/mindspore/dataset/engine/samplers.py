# SPDX-License-Identifier: Apache-2.0
"""The address that MindSpore has its samplers at."""
from spore.dataset.samplers import *

# SPDX-License-Identifier: Apache-2.0
"""The address that MindSpore has its iterators at."""
from spore.dataset.iterators import *
from spore.dataset.iterators import ITERATORS_LIST, _cleanup

# SPDX-License-Identifier: Apache-2.0
"""The address that MindSpore has its iterators at."""
from spore.dataset.iterators import *
from spore.dataset.iterators import (ITERATORS_LIST, _cleanup, _set_iterator_cleanup, _unset_iterator_cleanup, check_iterator_cleanup)

# SPDX-License-Identifier: Apache-2.0
"""The address that MindSpore has its datasets at."""
from spore import dataset as _dataset
from spore.dataset import *
from spore.dataset.callback import DSCallback, WaitedDSCallback

__all__ = list(_dataset.__all__)

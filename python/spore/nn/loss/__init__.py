# SPDX-License-Identifier: Apache-2.0
"""Losses."""
from spore.nn.loss.loss import *
from spore.nn.loss.loss import __all__

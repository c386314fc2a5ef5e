# SPDX-License-Identifier: Apache-2.0
"""Metrics under their former address; they live in spore.train.metrics."""
from spore.train.metrics import *  # noqa: F401,F403
from spore.train.metrics import __all__, get_metric_fn, get_metrics, names

# SPDX-License-Identifier: Apache-2.0
"""The kinds of values in summaries, by MindSpore's names."""
from enum import Enum

__all__ = ['ModeEnum', 'PluginEnum', 'WriterPluginEnum']


class BaseEnum(Enum):
    """An enum whose values can be listed."""

    @classmethod
    def to_list(cls):
        """Its values."""
        return [one.value for one in cls]


class ModeEnum(BaseEnum):
    """What a Model does."""
    TRAIN = 'train'
    EVAL = 'eval'


class PluginEnum(BaseEnum):
    """What `SummaryRecord.add_value` takes."""
    GRAPH = 'graph'
    SCALAR = 'scalar'
    IMAGE = 'image'
    TENSOR = 'tensor'
    HISTOGRAM = 'histogram'
    TRAIN_LINEAGE = 'train_lineage'
    EVAL_LINEAGE = 'eval_lineage'
    CUSTOM_LINEAGE_DATA = 'custom_lineage_data'
    DATASET_GRAPH = 'dataset_graph'
    EXPLAINER = 'explainer'
    LANDSCAPE = 'landscape'


class WriterPluginEnum(Enum):
    """Kinds of files."""
    EXPORTER = 'exporter'
    EXPLAINER = 'explainer'
    SUMMARY = 'summary'
    LINEAGE = 'lineage'

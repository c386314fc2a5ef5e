# SPDX-License-Identifier: Apache-2.0
"""Data pipelines: sources, and what is made of their rows."""
from spore.dataset import (_cells, audio, audio_files, column_files, config, files, pipeline, samplers, sources, text, text_files,
                           transforms, vision, vision_files)
from spore.dataset.audio_files import *
from spore.dataset.callback import DSCallback
from spore.dataset.column_files import *
from spore.dataset.files import *
from spore.dataset.pipeline import (BatchDataset, BatchInfo, ConcatDataset, Dataset, FilterDataset, MapDataset,
                                    PaddedBatchDataset, ProjectDataset, RenameDataset, RepeatDataset, ShuffleDataset,
                                    SkipDataset, TakeDataset, ZipDataset, zip)
from spore.dataset.samplers import *
from spore.dataset.schema import Schema
from spore.dataset.sources import GeneratorDataset, NumpySlicesDataset, PaddedDataset
from spore.dataset.text_files import *
from spore.dataset.vision_files import *

__all__ = ['Dataset', 'BatchInfo', 'DSCallback', 'Schema', 'zip', 'audio', 'config', 'text', 'transforms', 'vision', *files.__all__,
           *samplers.__all__, *audio_files.__all__, *column_files.__all__, *text_files.__all__, *vision_files.__all__,
           'GeneratorDataset', 'NumpySlicesDataset', 'PaddedDataset', 'BatchDataset', 'ConcatDataset', 'FilterDataset',
           'MapDataset', 'PaddedBatchDataset', 'ProjectDataset', 'RenameDataset', 'RepeatDataset', 'ShuffleDataset',
           'SkipDataset', 'TakeDataset', 'ZipDataset']

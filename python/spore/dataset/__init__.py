# SPDX-License-Identifier: Apache-2.0
"""Data pipelines: sources, and what is made of their rows."""
from spore import _docstrings
from spore.dataset import (_cells, audio, audio_files, column_files, config, dataloader, detection_files, files, operations, pipeline,
                           samplers, sources, text, text_files, transforms, vision, vision_files)
from spore.dataset.audio_files import *
from spore.dataset.cache import DatasetCache
from spore.dataset.callback import DSCallback, WaitedDSCallback
from spore.dataset.column_files import *
from spore.dataset.detection_files import *
from spore.dataset.files import *
from spore.dataset.operations import *
from spore.dataset.operations import UnionBaseDataset
from spore.dataset.iterators import DictIterator, TupleIterator
from spore.dataset.pipeline import Dataset, zip
from spore.dataset.samplers import *
from spore.dataset.schema import Schema
from spore.dataset.serial import compare, deserialize, serialize, show
from spore.dataset.sources import GeneratorDataset, MappableDataset, NumpySlicesDataset, PaddedDataset, SourceDataset
from spore.dataset.text_files import *
from spore.dataset.transforms.py_transforms_util import Implementation
from spore.dataset.vision_files import *
from spore.dataset.kinds import AudioBaseDataset, TextBaseDataset, VisionBaseDataset

__all__ = ['Dataset', 'DSCallback', 'WaitedDSCallback', 'DatasetCache', 'Schema', 'compare', 'deserialize', 'serialize', 'show', 'zip',
           'audio', 'config', 'text', 'transforms', 'vision', *files.__all__, *samplers.__all__, *audio_files.__all__,
           *column_files.__all__, *detection_files.__all__, *text_files.__all__, *vision_files.__all__, *operations.__all__,
           'GeneratorDataset', 'NumpySlicesDataset', 'PaddedDataset']

_docstrings.attach('dataset', globals())


def __getattr__(name):
    from spore._moves import absent
    raise AttributeError(f"module 'spore.dataset' has no attribute '{name}'{absent('spore.dataset', name, __all__)}")

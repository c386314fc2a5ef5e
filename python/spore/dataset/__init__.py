# SPDX-License-Identifier: Apache-2.0
"""Data pipelines: sources, and what is made of their rows."""
from spore.dataset import audio, config, text, transforms, vision
from spore.dataset.pipeline import BatchInfo, Dataset
from spore.dataset.sources import GeneratorDataset, MnistDataset, NumpySlicesDataset

__all__ = ['Dataset', 'BatchInfo', 'GeneratorDataset', 'NumpySlicesDataset', 'MnistDataset', 'audio', 'config',
           'text', 'transforms', 'vision']

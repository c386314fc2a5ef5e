# SPDX-License-Identifier: Apache-2.0
"""Loading in the torch-like way: a DataLoader over an object with __getitem__, or over one that can be iterated over."""
from spore.dataset.dataloader._collate import default_collate, default_convert
from spore.dataset.dataloader._loader import DataLoader
from spore.dataset.dataloader._sampling import (BatchSampler, Dataset, DistributedSampler, IterableDataset, RandomSampler, Sampler,
                                                SequentialSampler, TensorDataset)
from spore.dataset.dataloader._worker import get_worker_info

__all__ = ['BatchSampler', 'DataLoader', 'Dataset', 'DistributedSampler', 'IterableDataset', 'RandomSampler', 'Sampler', 'SequentialSampler',
           'TensorDataset', 'default_collate', 'default_convert', 'get_worker_info']


def __getattr__(name):
    if name in ('dataset', 'sampler', 'distributed', 'dataloader', '_utils'):   # MindSpore's files, shown by _addresses.py
        import importlib
        return importlib.import_module('spore.dataset.dataloader.' + name)
    raise AttributeError(f"module 'spore.dataset.dataloader' has no attribute '{name}'")

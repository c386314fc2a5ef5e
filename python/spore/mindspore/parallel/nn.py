# SPDX-License-Identifier: Apache-2.0
"""Networks over several devices: with one device, wrappers that run what they wrap, in pieces where they say so."""
from spore.nn import PipelineCell as Pipeline
from spore.nn import MicroBatchInterleaved, PipelineGradReducer

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ['Pipeline', 'PipelineGradReducer', 'GradAccumulation', 'MicroBatchInterleaved']


def __getattr__(name):
    if name == 'GradAccumulation':
        from spore.nn.wrap.cell_wrapper import GradAccumulationCell
        return GradAccumulationCell
    if name == 'PipelineCell':
        return Pipeline
    raise AttributeError(f"module 'spore.parallel.nn' has no attribute '{name}'")

# SPDX-License-Identifier: Apache-2.0
"""Training with the second-order optimizer nn.thor."""
from spore.train.train_thor.convert_utils import ConvertModelUtils, ConvertNetUtils
from spore.train.train_thor.model_thor import ModelThor

__all__ = ['ConvertNetUtils', 'ConvertModelUtils', 'ModelThor']

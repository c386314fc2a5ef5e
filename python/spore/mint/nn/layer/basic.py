# SPDX-License-Identifier: Apache-2.0
"""Plain layers; all of them are variants that spore.nn has."""
from spore.nn.layer.basic import Dropout2dExt as Dropout2d
from spore.nn.layer.basic import DropoutExt as Dropout
from spore.nn.layer.basic import Flatten, Identity, Linear
from spore.nn.layer.embedding import EmbeddingExt as Embedding
from spore.nn.layer.image import PixelShuffle

__all__ = ["Dropout", "Dropout2d", "Embedding", "Flatten", "Identity", "Linear", "PixelShuffle"]

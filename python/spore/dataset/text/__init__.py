# SPDX-License-Identifier: Apache-2.0
"""Transforms of text, vocabularies and word vectors."""
from spore.dataset.text import transforms, utils
from spore.dataset.text.transforms import *
from spore.dataset.text.utils import *

__all__ = [*transforms.__all__, *utils.__all__]

# SPDX-License-Identifier: Apache-2.0
"""What sources are about, for programs that ask: isinstance(data, VisionBaseDataset)."""
import abc

from spore.dataset import audio_files, detection_files, files, text_files, vision_files

__all__ = ['AudioBaseDataset', 'TextBaseDataset', 'VisionBaseDataset']


class VisionBaseDataset(abc.ABC):
    """Sources of pictures."""


class TextBaseDataset(abc.ABC):
    """Sources of texts."""


class AudioBaseDataset(abc.ABC):
    """Sources of sound."""


for _kind, _modules in ((VisionBaseDataset, (files, vision_files, detection_files)), (TextBaseDataset, (text_files,)),
                        (AudioBaseDataset, (audio_files,))):
    for _module in _modules:
        for _name in _module.__all__:
            if not _name.endswith('MindDataset'):
                _kind.register(getattr(_module, _name))

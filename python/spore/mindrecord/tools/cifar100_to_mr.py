# SPDX-License-Identifier: Apache-2.0
"""CIFAR-100, in its Python version, to MindRecord."""
from spore.mindrecord.tools.cifar_to_mr import CifarToMR

__all__ = ['Cifar100ToMR']


class Cifar100ToMR(CifarToMR):
    """Converts CIFAR-100 (the Python version) to MindRecord.

    `source` is the folder with the files train and test, `destination` the file to write. Rows have id, fine_label,
    coarse_label and data (a JPEG).

    >>> from spore.mindrecord import Cifar100ToMR
    >>> Cifar100ToMR("cifar-100-python", "cifar100.mindrecord").transform(["fine_label"])  # doctest: +SKIP
    """

    _LABELS = {'fine_label': b'fine_labels', 'coarse_label': b'coarse_labels'}
    _TRAIN, _TEST = 'train', 'test'

    @staticmethod
    def _is_train(name):
        return name == 'train'

    @staticmethod
    def _is_test(name):
        return name == 'test'

# SPDX-License-Identifier: Apache-2.0
"""CIFAR-10, in its Python version, to MindRecord."""
from spore.mindrecord.tools.cifar_to_mr import CifarToMR

__all__ = ['Cifar10ToMR']


class Cifar10ToMR(CifarToMR):
    """Converts CIFAR-10 (the Python version) to MindRecord.

    `source` is the folder with data_batch_1 to data_batch_5 and test_batch, `destination` the file to write. Rows have id,
    label and data (a JPEG).

    >>> from spore.mindrecord import Cifar10ToMR
    >>> Cifar10ToMR("cifar-10-batches-py", "cifar10.mindrecord").transform(["label"])  # doctest: +SKIP
    """

    _LABELS = {'label': b'labels'}
    _TRAIN, _TEST = 'data_batch_*', 'test_batch'

    @staticmethod
    def _is_train(name):
        return name.startswith('data_batch_')

    @staticmethod
    def _is_test(name):
        return name.startswith('test_batch')

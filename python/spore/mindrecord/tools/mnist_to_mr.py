# SPDX-License-Identifier: Apache-2.0
"""MNIST to MindRecord."""
import gzip
import os

import numpy as np

from spore.mindrecord.filewriter import FileWriter
from spore.mindrecord.core.shardutils import SUCCESS, check_filename
from spore.mindrecord.tools.convert import check_partitions, encode_jpeg, run_aside, write_rows

__all__ = ['MnistToMR']


def _read(path, rank):
    """An IDX file of bytes with so many dimensions; packed by gzip or not."""
    if not os.path.exists(path) and os.path.exists(path[:-len('.gz')]):
        path = path[:-len('.gz')]
    with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as file:
        data = file.read()
    if len(data) < 4 + 4 * rank or data[:4] != bytes((0, 0, 8, rank)):
        raise RuntimeError(f"{path}: is not an IDX file of bytes with {rank} dimensions.")
    dims = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], 'big') for i in range(rank)]
    if len(data) - 4 - 4 * rank != int(np.prod(dims)):
        raise RuntimeError(f"{path}: names {dims} elements and holds {len(data) - 4 - 4 * rank} bytes.")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(dims)


class MnistToMR:
    """Converts MNIST to MindRecord.

    `source` is the folder with train-images-idx3-ubyte.gz and its three companions. Written are
    `destination`_train.mindrecord and `destination`_test.mindrecord, in `partition_number` files each. Rows have label and
    data (a JPEG).

    >>> from spore.mindrecord import MnistToMR
    >>> MnistToMR("mnist", "digits").transform()  # doctest: +SKIP
    """

    def __init__(self, source, destination, partition_number=1):
        check_filename(source)
        check_filename(destination)
        self.source = source
        self.partition_number = check_partitions(partition_number)
        self.writer_train = FileWriter(f"{destination}_train.mindrecord", self.partition_number)
        self.writer_test = FileWriter(f"{destination}_test.mindrecord", self.partition_number)

    def _rows(self, part):
        images = _read(os.path.join(self.source, f'{part}-images-idx3-ubyte.gz'), 3)
        labels = _read(os.path.join(self.source, f'{part}-labels-idx1-ubyte.gz'), 1)
        if len(images) != len(labels):
            raise RuntimeError(f"{self.source}: {len(images)} images and {len(labels)} labels for '{part}'.")
        for image, label in zip(images, labels):
            yield {'label': int(label), 'data': encode_jpeg(image)}

    def run(self):
        """What `transform` does, in this thread."""
        for writer, part in ((self.writer_train, 'train'), (self.writer_test, 't10k')):
            writer.set_page_size(1 << 26)
            writer.add_schema({'label': {'type': 'int64'}, 'data': {'type': 'bytes'}}, 'mnist_schema')
            writer.add_index(['label'])
            write_rows(writer, self._rows(part))
        return SUCCESS

    def transform(self):
        """Write the files."""
        run_aside(self.run)

# SPDX-License-Identifier: Apache-2.0
"""What the converters share: writing rows in batches, running aside, JPEG."""
import itertools

import numpy as np

from spore.mindrecord.filewriter import FileWriter
from spore.mindrecord.core.shardutils import ExceptionThread

_BATCH = 256
_QUALITY = 95  # what OpenCV takes by default, and with it MindSpore's converters


def check_partitions(partition_number):
    """The number of files, refused as MindSpore refuses it."""
    if not isinstance(partition_number, int):
        raise ValueError("The parameter partition_number must be int")
    return partition_number


def write_rows(writer, rows):
    """All rows of an iterator, and the commit."""
    rows = iter(rows)
    while batch := list(itertools.islice(rows, _BATCH)):
        writer.write_raw_data(batch)
    writer.commit()


def write_file(path, schema, description, rows, index=None, shards=1, page_bytes=None):
    """A whole new data set."""
    writer = FileWriter(path, shards)
    if page_bytes:
        writer.set_page_size(page_bytes)
    writer.add_schema(schema, description)
    if index:
        writer.add_index(index)
    write_rows(writer, rows)


def run_aside(target, **kwargs):
    """Run in a thread, so that Ctrl-C is answered; what it raises is raised here."""
    thread = ExceptionThread(target=target, kwargs=kwargs, daemon=True)
    thread.start()
    thread.join()
    if thread.exception is not None:
        raise thread.exception


def encode_jpeg(image):
    """An array of height, width and 1 or 3 channels (RGB), or of height and width, as a JPEG file."""
    from spore.dataset import vision  # not needed to read and write records, and larger than all of that
    image = image if image.ndim == 3 else image[..., None]
    return vision.encode_jpeg(np.ascontiguousarray(image), _QUALITY).tobytes()

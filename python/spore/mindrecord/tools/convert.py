# SPDX-License-Identifier: Apache-2.0
"""What the converters share: writing rows in batches, running aside, JPEG."""
import importlib
import io
import itertools

from spore.mindrecord.filewriter import FileWriter
from spore.mindrecord.shardutils import ExceptionThread

_BATCH = 256
_QUALITY = 95  # what OpenCV takes by default, and with it MindSpore's converters


def check_partitions(partition_number):
    """The number of files, refused as MindSpore refuses it."""
    if isinstance(partition_number, bool) or not isinstance(partition_number, int):
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
    try:
        cv2 = importlib.import_module('cv2')
    except ImportError:
        cv2 = None
    if cv2 is not None:
        done, data = cv2.imencode('.jpeg', image[..., ::-1] if image.ndim == 3 and image.shape[2] == 3 else image)
        if not done:
            raise RuntimeError(f"An image of shape {image.shape} cannot be encoded.")
        return data.tobytes()
    try:
        pillow = importlib.import_module('PIL.Image')
    except ImportError:
        raise ImportError("Converting to JPEG needs OpenCV or Pillow: install opencv-python-headless or pillow.") from None
    out = io.BytesIO()
    pillow.fromarray(image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image).save(out, 'JPEG', quality=_QUALITY)
    return out.getvalue()

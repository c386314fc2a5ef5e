# SPDX-License-Identifier: Apache-2.0
"""What the converters of CIFAR-10 and CIFAR-100 share."""
import io
import os
import pickle

import numpy as np

from spore.mindrecord.common.exceptions import PathNotExistsError
from spore.mindrecord.core.shardutils import SUCCESS, check_filename
from spore.mindrecord.tools.convert import encode_jpeg, run_aside, write_file

class _Unpickler(pickle.Unpickler):
    """Arrays and plain values only: a pickle may otherwise run what it likes."""

    _ALLOWED = {('numpy.core.multiarray', '_reconstruct'): np.array(0).__reduce__()[0],
                ('numpy._core.multiarray', '_reconstruct'): np.array(0).__reduce__()[0],
                ('numpy', 'ndarray'): np.ndarray, ('numpy', 'dtype'): np.dtype}

    def find_class(self, module, name):
        if (module, name) in self._ALLOWED:
            return self._ALLOWED[module, name]
        raise pickle.UnpicklingError(f"global '{module}.{name}' is forbidden")


def _load(folder, name):
    """A dict with bytes as keys."""
    with open(os.path.join(os.path.realpath(folder), name), 'rb') as file:
        try:
            found = _Unpickler(io.BytesIO(file.read()), encoding='bytes').load()
        except Exception as error:
            raise RuntimeError(f"{os.path.join(folder, name)}: not a valid Cifar Dataset: {error}") from error
    if not isinstance(found, dict) or b'data' not in found:
        raise RuntimeError(f"{os.path.join(folder, name)}: not a valid Cifar Dataset: it holds no data.")
    return found


class CifarToMR:
    """Files of pickled batches to MindRecord. `_LABELS`: name in the rows -> key in the files."""

    _LABELS = {}

    def __init__(self, source, destination):
        check_filename(source)
        self.source = source
        files = sorted(os.listdir(source))
        self._train = [name for name in files if self._is_train(name)]
        self._test = [name for name in files if self._is_test(name)]
        if not self._train:
            raise PathNotExistsError(self._TRAIN)
        if not self._test:
            raise PathNotExistsError(self._TEST)
        check_filename(destination)
        self.destination = destination

    def _rows(self, names):
        number = 0
        for name in names:
            content = _load(self.source, name)
            images = np.asarray(content[b'data']).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
            labels = [content[key] for key in self._LABELS.values()]
            for i, image in enumerate(images):
                row = {'id': number, 'data': encode_jpeg(np.ascontiguousarray(image))}
                row.update((label, int(values[i])) for label, values in zip(self._LABELS, labels))
                yield row
                number += 1

    def run(self, fields=None):
        """What `transform` does, in this thread."""
        if fields and not isinstance(fields, list):
            raise ValueError("The parameter fields should be None or list")
        schema = {'id': {'type': 'int64'}, 'data': {'type': 'bytes'}}
        schema.update((label, {'type': 'int64'}) for label in self._LABELS)
        write_file(self.destination, schema, 'img_train', self._rows(self._train), fields)
        write_file(self.destination + '_test', schema, 'img_test', self._rows(self._test), fields)
        return SUCCESS

    def transform(self, fields=None):
        """Write `destination` with the training images and `destination`_test with the others, all as JPEG.

        `fields` is a list of the fields for the index.
        """
        run_aside(self.run, fields=fields)

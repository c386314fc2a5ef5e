# SPDX-License-Identifier: Apache-2.0
"""Folders that hold a part of a published data set, as tutorials use them: what is there is read."""
import gzip

import numpy as np
import pytest

import spore.dataset as ds


def idx(array):
    return bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape) + array.tobytes()


@pytest.fixture
def training_part(tmp_path):
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(np.arange(3 * 28 * 28).reshape(3, 28, 28).astype(np.uint8)))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(np.array([5, 0, 4], np.uint8))))
    return tmp_path


@pytest.mark.parametrize("usage", [None, "all", "train"])
def test_mnist(training_part, usage):
    rows = ds.MnistDataset(str(training_part), usage, shuffle=False)
    assert rows.get_dataset_size() == 3 and [int(r["label"]) for r in rows.create_dict_iterator(1, True)] == [5, 0, 4]


def test_mnist_that_is_not_there(training_part, tmp_path):
    with pytest.raises(RuntimeError, match="no t10k-images-idx3-ubyte"):
        ds.MnistDataset(str(training_part), "test")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RuntimeError, match="no train-images-idx3-ubyte"):
        ds.MnistDataset(str(tmp_path / "empty"))
    (tmp_path / "train-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(RuntimeError, match="no train-labels-idx1-ubyte"):
        ds.MnistDataset(str(training_part))

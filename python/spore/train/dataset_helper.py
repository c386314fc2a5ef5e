# SPDX-License-Identifier: Apache-2.0
"""Datasets as a Model reads them: batches of Tensors."""
import numpy as np

from spore._core import Tensor, type_name as _type_name

__all__ = ['DatasetHelper', 'connect_network_with_dataset']


def as_tensors(row):
    """The columns of one batch as Tensors."""
    if isinstance(row, dict):
        row = row.values()
    elif isinstance(row, (Tensor, np.ndarray)):
        row = (row,)
    return tuple(value if isinstance(value, Tensor) else Tensor(np.asarray(value)) for value in row)


class DatasetHelper:
    """Goes over a dataset, epoch after epoch: each iteration is one epoch of tuples of Tensors.

    Args:
        dataset: with create_tuple_iterator and get_dataset_size.
        dataset_sink_mode: accepted; the data is read step by step.
        sink_size: steps in an epoch if above 0.
        epoch_num: accepted.

    Examples:
        >>> import numpy as np
        >>> from spore import dataset, train
        >>> data = dataset.NumpySlicesDataset({"x": np.arange(6)}, shuffle=False).batch(3)
        >>> helper = train.DatasetHelper(data, dataset_sink_mode=False)
        >>> for step in helper:
        ...     print(*step)
        ...
        [0 1 2]
        [3 4 5]
        >>> helper.sink_size()
        1
    """

    def __init__(self, dataset, dataset_sink_mode=True, sink_size=-1, epoch_num=1):
        if not isinstance(dataset_sink_mode, bool):
            raise TypeError(f"For 'DatasetHelper', 'dataset_sink_mode' must be a bool, but got "
                            f"{_type_name(dataset_sink_mode)}.")
        if isinstance(sink_size, bool) or not isinstance(sink_size, int):
            raise TypeError(f"For 'DatasetHelper', 'sink_size' must be an int, but got {_type_name(sink_size)}.")
        if sink_size < -1 or sink_size == 0:
            raise ValueError(f"For 'DatasetHelper', 'sink_size' must be -1 or above 0, but got {sink_size}.")
        if not hasattr(dataset, 'create_tuple_iterator'):
            raise TypeError(f"For 'DatasetHelper', 'dataset' must be a Dataset, but got {_type_name(dataset)}.")
        self.dataset = dataset
        self._sink_size = sink_size if dataset_sink_mode else -1
        self._epoch_num = epoch_num
        self._rows, self._done = None, 0

    def continue_after(self, steps):
        """Begin behind so many steps: rows come as they would have come to a training that was not interrupted."""
        self._done = steps

    def _open(self):
        if self._rows is None:      # one iterator for all epochs: its order changes from one to the next
            self._rows = self.dataset.create_tuple_iterator(num_epochs=-1)
            if self._done and hasattr(self._rows, 'start_at') and not self.dataset.get_init_step():
                self._rows.start_at(self._done, self.dataset.get_dataset_size())

    def __iter__(self):
        if self._sink_size < 0:
            self._open()
            for row in self._rows:
                yield as_tensors(row)
            return
        for _ in range(self._sink_size):    # an epoch of its own length, going through the data again and again
            self._open()
            row = next(self._rows, None)
            yield as_tensors(next(self._rows) if row is None else row)

    def sink_size(self):
        """Steps taken per iteration of sinking: one, since nothing is sunk."""
        return 1

    def types_shapes(self):
        """Dtypes and shapes of the columns."""
        return self.dataset.output_types(), self.dataset.output_shapes()

    def stop_send(self):
        """Nothing is being sent."""

    def release(self):
        """Let go of the iterator."""
        self._rows = None

    def continue_send(self):
        """Nothing is being sent."""


def connect_network_with_dataset(network, dataset_helper):
    """The network: it is called with the data of each step, so there is nothing to connect.

    Examples:
        >>> import numpy as np
        >>> from spore import dataset, nn, train
        >>> data = dataset.NumpySlicesDataset({"x": np.ones((6, 2), np.float32)}).batch(3)
        >>> helper = train.DatasetHelper(data)
        >>> net = train.connect_network_with_dataset(nn.Dense(2, 1), helper)
        >>> [net(*step).shape for step in helper]
        [(3, 1), (3, 1)]
    """
    if not isinstance(dataset_helper, DatasetHelper):
        raise TypeError(f"For 'connect_network_with_dataset', a DatasetHelper is wanted, but got "
                        f"{_type_name(dataset_helper)}.")
    return network

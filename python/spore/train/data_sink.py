# SPDX-License-Identifier: Apache-2.0
"""A function bound to a dataset."""
from spore._core import type_name as _type_name
from spore.train.dataset_helper import as_tensors

__all__ = ['data_sink']


def data_sink(fn, dataset, sink_size=1, jit_config=None, input_signature=None):
    """A function without arguments: each call runs ``fn`` on the next ``sink_size`` rows and gives the last result.

    The dataset starts over when it ends.

    Args:
        fn: function of one row, given as its columns.
        dataset: where the rows come from.
        sink_size: rows per call.
        jit_config, input_signature: accepted.

    Examples:
        >>> from spore import dataset, train
        >>> rows = dataset.NumpySlicesDataset([1, 2, 3], ['n'], shuffle=False)
        >>> doubled = train.data_sink(lambda n: n * 2, rows)
        >>> [int(doubled()) for _ in range(4)]
        [2, 4, 6, 2]
    """
    if isinstance(sink_size, bool) or not isinstance(sink_size, int):
        raise TypeError(f"For 'data_sink', 'sink_size' must be an int, but got {_type_name(sink_size)}.")
    if sink_size < 1:
        raise ValueError(f"For 'data_sink', 'sink_size' must be above 0, but got {sink_size}.")
    if dataset.get_dataset_size() == 0:
        raise ValueError("For 'data_sink', the dataset holds no data.")

    def rows():
        iterator = dataset.create_tuple_iterator(num_epochs=-1)
        while True:
            yield from iterator
    source = rows()

    def run():
        for _ in range(sink_size):
            result = fn(*as_tensors(next(source)))
        return result
    return run

# SPDX-License-Identifier: Apache-2.0
"""The client of a cache server, accepted by name: rows are made anew each time, so a cache would only cost."""
from spore._not_done import not_done
from spore.dataset import _check

__all__ = ['DatasetCache']


class DatasetCache:
    """Settings of a cache. They are kept and can be given to sources and ``map``; rows do not go through a cache.

    Args:
        session_id: number of the session.
        size: megabytes; 0 for no limit.
        spilling: whether rows may go to disk.
        hostname, port: where the server is.
        num_connections, prefetch_size: how it is spoken to.

    Examples:
        >>> from spore import dataset
        >>> cache = dataset.DatasetCache(session_id=1, size=0)
        >>> rows = dataset.NumpySlicesDataset([1, 2], ['n'], shuffle=False).map(lambda n: n + 1, 'n', cache=cache)
        >>> [int(row['n']) for row in rows.create_dict_iterator(num_epochs=1, output_numpy=True)]
        [2, 3]
    """

    def __init__(self, session_id, size=0, spilling=False, hostname=None, port=None, num_connections=None, prefetch_size=None):
        _check.kind(session_id, int, 'session_id')
        _check.within(session_id, 1, 0xffffffff, 'session_id')
        _check.kind(size, int, 'size')
        if size < 0:
            raise ValueError(f"Input size must be greater than 0. It is {size}.")
        _check.kind(spilling, bool, 'spilling')
        if hostname is not None:
            _check.kind(hostname, str, 'hostname')
        for name, value, least in (('port', port, 1025), ('num_connections', num_connections, 1), ('prefetch_size', prefetch_size, 1)):
            if value is not None:
                _check.kind(value, int, name)
                _check.within(value, least, 65535 if name == 'port' else _check.INT32_MAX, name)
        self.session_id, self.size, self.spilling, self.hostname, self.port = session_id, size, spilling, hostname, port
        self.num_connections, self.prefetch_size = num_connections, prefetch_size
        not_done('DatasetCache', 'rows are made anew each time, without a cache')

    def get_stat(self):
        """Figures of the server: there is none."""
        raise RuntimeError("DatasetCache: no cache server is used, so it has no figures")

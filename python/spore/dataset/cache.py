# SPDX-License-Identifier: Apache-2.0
"""Caches of rows: the settings, the rules for what may stand below one, and private servers. The rest is C (src/cache)."""
import os
import secrets
import subprocess
import tempfile
from collections import namedtuple

from spore._core import type_name as _type_name
from spore import _command, _core
from spore.dataset import _check

__all__ = ['DatasetCache']

CacheClientStat = namedtuple('CacheClientStat', ('avg_cache_sz', 'num_mem_cached', 'num_disk_cached'))


class DatasetCache:
    """A cache of rows, for sources and ``map``: rows are made once, then read from the memory of a server that other epochs and other jobs of
    the same user share. Start one with ``spore cache start``, make a session with ``spore cache session``.

    Args:
        session_id: number of the session.
        size: megabytes of memory for this cache; 0 for as much as the server gives.
        spilling: whether rows that do not fit go to the server's spill folder.
        hostname: 127.0.0.1 or None.
        port: which server; MS_CACHE_PORT or 50052 if None.
        num_connections, prefetch_size: checked and not needed: rows are read in place, not fetched.
        auto: start a private server, which ends with the last program that uses it; no session is needed.
        on_lost: what happens when the server goes away: "continue" without it, said once in the log, or "fail".

    Examples:
        >>> import os, tempfile
        >>> from spore import dataset
        >>> path = os.path.join(tempfile.mkdtemp(), 'lines.txt')
        >>> _ = open(path, 'w', encoding='utf-8').write('one\\ntwo\\n')
        >>> cache = dataset.DatasetCache(auto=True)
        >>> lines = dataset.TextFileDataset(path, shuffle=False, cache=cache)
        >>> [str(row['text']) for _ in range(2) for row in lines.create_dict_iterator(num_epochs=1, output_numpy=True)]
        ['one', 'two', 'one', 'two']
        >>> cache.get_stat().num_mem_cached
        2
    """

    def __init__(self, session_id=None, size=0, spilling=False, hostname=None, port=None, num_connections=None, prefetch_size=None, *, auto=False,
                 on_lost='continue'):
        _check.kind(auto, bool, 'auto')
        if not auto or session_id is not None:
            _check.kind(session_id, int, 'session_id')
            _check.within(session_id, 1, 0xffffffff, 'session_id')
        _check.kind(size, int, 'size')
        if size < 0:
            raise ValueError(f"Input size must be greater than 0. It is {size}.")
        _check.within(size, 0, 0xffffffffffffffff, 'size')
        _check.kind(spilling, bool, 'spilling')
        for name, value, least in (('port', port, 1025), ('num_connections', num_connections, 1), ('prefetch_size', prefetch_size, 1)):
            if value is not None:
                _check.kind(value, int, name)
                _check.within(value, least, 65535 if name == 'port' else _check.INT32_MAX, name)
        if on_lost not in ('continue', 'fail'):
            raise ValueError(f"on_lost must be 'continue' or 'fail', but is {on_lost!r}")
        if auto and (session_id is not None or port is not None):
            raise ValueError("DatasetCache: with auto=True the server is private; session_id and port are of another one")
        _check_host(hostname)
        self.session_id, self.size, self.spilling, self.hostname, self.port = session_id, size, spilling, hostname, port
        self.num_connections, self.prefetch_size, self.auto, self.on_lost = num_connections, prefetch_size, auto, on_lost
        self._link, address = None, None if port is None else str(port)
        if auto:
            address, self._link = _start_private(spilling)
            self.session_id = _core.cache_session(address)
        self.cache_address = address
        self.cache_client = _core.Cache(address, self.session_id, min(size << 20, (1 << 64) - 1), spilling, on_lost == 'fail')

    def get_stat(self):
        """Figures of the cache, after its dataset has been read: ``avg_cache_sz`` (bytes of a row), ``num_mem_cached`` and ``num_disk_cached`` (rows)."""
        return CacheClientStat(*self.cache_client.stat())

    def __deepcopy__(self, memo):
        return self     # a copy of a dataset uses the same cache

    def _keep(self, data, made):
        """The rows of a dataset of the engine, kept."""
        from spore.dataset._identity import Identity
        check_tree(data)
        identity = Identity()
        identity.add(data)
        return made.cache(self.cache_client, identity.text())


def _check_host(hostname):
    if hostname is None:
        hostname = os.environ.get('MS_CACHE_HOST') or '127.0.0.1'
    _check.kind(hostname, str, 'hostname')
    if hostname != '127.0.0.1':
        raise RuntimeError(f"now cache client has to be on the same host with cache server. hostname is {hostname!r}; only '127.0.0.1' is possible.")


# --- private servers ------------------------------------------------------------------------------------------------------

def _start_private(spilling):
    """The address of a new server, and a connection that keeps it alive."""
    command = _command.find()
    if command is None:
        raise RuntimeError("DatasetCache(auto=True): the command `spore`, which serves the cache, is not found; put its folder on PATH")
    address = f"auto-{os.getpid()}-{secrets.token_hex(6)}"
    words = [*command, 'cache', 'start', '--private', address, *(['--spill', os.path.abspath(tempfile.gettempdir())] if spilling else [])]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding='utf-8', errors='replace', check=False)
    if done.returncode:
        raise RuntimeError(f"DatasetCache(auto=True): no server could be started: {done.stderr.strip()}")
    return address, _core.cache_link(address)


# --- what may stand below a cache ----------------------------------------------------------------------------------------------

def check_tree(data):
    """MindSpore's rules, in its words; the cache of ``data`` itself stands on top."""
    from spore.dataset import operations as kinds
    from spore.dataset import sources
    from spore.dataset.text_files import Lines
    nodes = {kinds.BatchDataset: 'BatchNode', kinds.PaddedBatchDataset: 'BatchNode', kinds.BucketBatchByLengthDataset: 'BucketBatchByLengthNode',
             kinds.ConcatDataset: 'ConcatNode', kinds.FilterDataset: 'FilterNode', kinds.SkipDataset: 'SkipNode', kinds.TakeDataset: 'TakeNode (possibly from Split)',
             kinds.ZipDataset: 'ZipNode', kinds.FlatMapDataset: 'FlatMapNode', kinds.SyncWaitDataset: 'SyncWaitNode'}
    at = data
    while True:
        if at is not data and getattr(at, 'cache', None) is not None:
            raise RuntimeError(f"Nested cache operations over {_type_name(at)} is not supported.")
        if type(at) in nodes:
            raise RuntimeError(f"{nodes[type(at)]} is not supported as a descendant operator under a cache. Put it behind the cached operation.")
        if isinstance(at, kinds.MapDataset) and any(_is_random(operation) for operation in at._operations):
            raise RuntimeError("MapNode containing random operation is not supported as a descendant of cache. Put what is random into a map behind the cache.")
        if isinstance(at, kinds.MapDataset) and at._callbacks:
            raise RuntimeError("MapNode with callbacks is not supported under a cache: rows that are kept would not announce themselves.")
        if isinstance(at, sources._InMemory):
            raise RuntimeError("There is currently no support for GeneratorOp under cache. Rows of Python have no files that would tell whether they are the same.")
        if not at.children:
            break
        if isinstance(at, kinds.RepeatDataset) and not isinstance(_leaf(at), Lines):
            raise RuntimeError("A cache over a RepeatNode of a mappable dataset is not supported. Put repeat behind the cache.")
        at = at.children[0]


def _leaf(data):
    while data.children:
        data = data.children[0]
    return data


def _is_random(operation):
    """Whether an operation draws: transforms of the engine know; of functions only what they are marked with."""
    from spore.dataset.transforms.transforms import TensorOperation, _runs_in_engine
    inner = getattr(operation, 'transforms', None)
    if isinstance(operation, TensorOperation) and _runs_in_engine(operation):
        return operation.parse().random
    if isinstance(inner, (list, tuple)) and any(_is_random(one) for one in inner):
        return True
    name = type(operation).__name__
    if hasattr(operation, '_given') or name.startswith(('Rand', 'AutoAugment', 'TrivialAugment', 'UniformAugment', 'AugMix', 'MixUp', 'CutMix')):
        return name.startswith(('Rand', 'AutoAugment', 'TrivialAugment', 'UniformAugment', 'AugMix', 'MixUp', 'CutMix')) or name in _DRAW
    return getattr(getattr(operation, 'transform', operation), 'random', False) is True and not isinstance(operation, type)


_DRAW = {'FrequencyMasking', 'TimeMasking', 'PhaseVocoder', 'GriffinLim', 'InverseMelScale', 'Dither'}

# SPDX-License-Identifier: Apache-2.0
"""Memory, streams and threads of the process.

On the CPU everything runs in main memory and in order, so streams and events exist for code that uses them and have nothing to
wait for. Devices of plug-ins work behind, some of them in several streams: synchronize waits for them.
"""
import itertools
import threading

from spore._core import type_name as _type_name
from spore import _core

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ['set_device_limit', 'get_device_limit', 'set_stream_limit', 'get_stream_limit', 'reset_stream_limit',
           'set_kernel_launch_capture', 'StreamLimitCtx',
           'memory_stats', 'memory_allocated', 'memory_reserved', 'max_memory_allocated', 'max_memory_reserved',
           'memory_summary',
           'reset_peak_memory_stats', 'reset_max_memory_allocated', 'reset_max_memory_reserved', 'empty_cache',
           'set_memory',
           'synchronize', 'Stream', 'Event', 'StreamCtx', 'current_stream', 'default_stream', 'communication_stream',
           'set_cur_stream',
           'device_statistics', 'device_declined', 'launch_blocking', 'dispatch_threads_num', 'set_cpu_affinity', 'set_kernel_launch_group']


def _memory():
    """Of main memory, or of the device that new Tensors are made on."""
    name = _core.device_default()
    if name == 'cpu':
        return _core.memory_stats()
    s = _core.device_statistics(name)
    reserved = s['used_bytes'] + s['kept_bytes']
    return {'used_bytes': s['used_bytes'], 'reserved_bytes': reserved, 'used_peak': s['peak_bytes'],
            'reserved_peak': max(reserved, s['peak_bytes']), 'n_system': 0}


def memory_stats():
    """Bytes in use, reserved and idle, and their peaks: of the device that new Tensors are made on."""
    s = _memory()
    return {'total_reserved_memory': s['reserved_bytes'], 'total_allocated_memory': s['used_bytes'],
            'total_idle_memory': s['reserved_bytes'] - s['used_bytes'], 'total_eager_free_memory': 0,
            'max_reserved_memory': s['reserved_peak'], 'max_allocated_memory': s['used_peak'],
            'common_mem_pool_stats': {'block_unit_size': 0, 'block_counts': s['n_system'], 'blocks_info': {}},
            'persistent_mem_pool_stats': {'block_counts': 0, 'block_unit_size': 0, 'blocks_info': {}}}


def memory_allocated():
    """Bytes in use."""
    return _memory()['used_bytes']


def memory_reserved():
    """Bytes taken from the system, in use or kept for later."""
    return _memory()['reserved_bytes']


def max_memory_allocated():
    """Most bytes ever in use since the peaks were reset."""
    return _memory()['used_peak']


def max_memory_reserved():
    """Most bytes ever taken from the system since the peaks were reset."""
    return _memory()['reserved_peak']


def reset_peak_memory_stats():
    """Peaks start again from now."""
    _core.memory_reset_peak()
    _core.device_reset_peak(_core.device_default())


def reset_max_memory_allocated():
    """Peaks start again from now."""
    _core.memory_reset_peak()
    _core.device_reset_peak(_core.device_default())


def reset_max_memory_reserved():
    """Peaks start again from now."""
    _core.memory_reset_peak()
    _core.device_reset_peak(_core.device_default())


def _size(n):
    for unit in ('B', 'KB', 'MB', 'GB'):
        if n < 10240 or unit == 'GB':
            return f'{n} {unit}'
        n //= 1024


def memory_summary():
    """The numbers of memory_stats as a table."""
    stats = memory_stats()
    rows = [('Reserved memory', 'total_reserved_memory'), ('Allocated memory', 'total_allocated_memory'),
            ('Idle memory', 'total_idle_memory'), ('Eager free memory', 'total_eager_free_memory'),
            ('Max reserved memory', 'max_reserved_memory'), ('Max allocated memory', 'max_allocated_memory')]
    line = '|' + '-' * 45 + '|\n'
    out = ['|' + '=' * 45 + '|\n', '|' + 'Memory summary'.center(45) + '|\n', '|' + '=' * 45 + '|\n',
           f"| {'Metric':<20} | {'Data':<20} |\n", line]
    for label, key in rows:
        out += [f'| {label:<20} | {_size(stats[key]):>8}             |\n', line]
    return ''.join(out)


def empty_cache():
    """Give memory that is not in use back to the system."""
    _core.memory_trim()
    _core.device_trim(_core.device_default())


def _bytes(key, text):
    if not isinstance(text, str):
        raise TypeError(f"set_memory: {key} must be a str like '2GB', but got {_type_name(text)}")
    try:
        size = float(text.strip()[:-2])
    except ValueError:
        size = -1.0
    if not text.strip().endswith('GB') or size < 0:
        raise ValueError(f"set_memory: {key} must be a size like '2GB', but got {text!r}")
    return int(size * 2 ** 30)


def set_memory(init_size='2GB', increase_size='2GB', max_size='1024GB', optimize_level='O0',
               huge_page_reserve_size='0GB'):
    """Limit memory to max_size. The pool grows with its use, so the other sizes are checked only."""
    _bytes('init_size', init_size)
    _bytes('increase_size', increase_size)
    _bytes('huge_page_reserve_size', huge_page_reserve_size)
    if optimize_level not in ('O0', 'O1'):
        raise ValueError(f"set_memory: optimize_level must be 'O0' or 'O1', but got {optimize_level!r}")
    _core.memory_set_limit(_bytes('max_size', max_size))


def synchronize():
    """Wait for everything that was started. The CPU has nothing in the background; the device of new Tensors may have."""
    _core.device_wait(_core.device_default())


def device_statistics(device):
    """Of a device by name: bytes in Tensors now, at most, and kept for later ones; calls that it did and that the CPU did in its place;
    copies to it and from it."""
    return _core.device_statistics(device)


def device_declined(device):
    """(operator, calls, bytes) of what the CPU did in the place of a device, most bytes first."""
    return _core.device_declined(device)


def launch_blocking():
    """Operators always finish before the next one starts."""


def dispatch_threads_num(threads_num):
    """Threads one operator may use."""
    if isinstance(threads_num, bool) or not isinstance(threads_num, int) or threads_num < 1:
        raise ValueError(f"dispatch_threads_num: a number of threads from 1 is wanted, but got {threads_num!r}")
    _core.threads_set(threads_num)


def set_kernel_launch_group(thread_num=2, kernel_group_num=8):
    """Operators are not launched in groups; the numbers are checked only."""
    for key, value in (('thread_num', thread_num), ('kernel_group_num', kernel_group_num)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"set_kernel_launch_group: {key} must be an int from 1, but got {value!r}")


def set_cpu_affinity(enable_affinity, affinity_cpu_list=None, module_to_cpu_dict=None, bind_file=None):
    """Keep the process on some processors: a list like ['0-3', '8'], or all it may use."""
    import os
    if not isinstance(enable_affinity, bool):
        raise TypeError(f"set_cpu_affinity: enable_affinity must be a bool, but got {_type_name(enable_affinity)}")
    if not enable_affinity:
        return
    for name, value in (('module_to_cpu_dict', module_to_cpu_dict), ('bind_file', bind_file)):
        if value:
            from spore._not_done import not_done
            not_done(f"set_cpu_affinity: {name}", "threads of all modules share the processors of affinity_cpu_list")
    chosen = set()
    for part in affinity_cpu_list or []:
        first, _, last = str(part).partition('-')
        chosen.update(range(int(first), int(last or first) + 1))
    if chosen:
        os.sched_setaffinity(0, chosen)


class Stream:
    """A queue of a device: of the one that new Tensors are made on. What one stream makes and another uses is waited for by the one that
    uses it. On the CPU, and on devices with one queue, everything is in step."""

    def __init__(self, priority=0, **kwargs):
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise TypeError(f"Stream: priority must be an int, but got {_type_name(priority)}")
        self.priority = priority
        self._device, self._handle, self.id = 'cpu', None, kwargs.get('stream_id', None)
        if self.id is None:
            self._device = _core.device_default()
            self._handle = _core.stream_create(self._device)
            self.id = next(_numbers)
        self.device_name = 'CPU' if self._device == 'cpu' else self._device
        self.device_id = 0

    def query(self):
        """Has everything finished? A device with one queue is waited for: it cannot be asked."""
        if self._handle is None:
            _core.device_wait(self._device)
            return True
        return _core.stream_query(self._handle)

    def synchronize(self):
        """Wait for everything in it."""
        if self._handle is None:
            _core.device_wait(self._device)
        else:
            _core.stream_wait(self._handle)

    def wait_event(self, event):
        """Let what follows wait for an event."""
        event.wait(self)

    def wait_stream(self, stream):
        """Let what follows wait for what another stream was asked before."""
        self.wait_event(stream.record_event())

    def record_event(self, event=None):
        """Note this moment in an event, a new one if none is given."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def stream_id(self):
        """Its number."""
        return self.id

    def __eq__(self, other):
        return isinstance(other, Stream) and self.id == other.id

    def __hash__(self):
        return hash(self.id)

    def __repr__(self):
        return f'Stream(device_name={self.device_name}, device_id:{self.device_id}, stream id:{self.id})'


def _in(stream):
    """What runs a call in a stream: the one that is set, if None is given."""
    return StreamCtx(stream if stream is not None else current_stream())


class Event:
    """A moment in a stream."""

    def __init__(self, enable_timing=False, blocking=False):
        self._timing = enable_timing
        self._blocking = blocking
        self._device = _core.device_default()
        self._handle = _core.event_create(self._device)
        self._recorded = False

    def record(self, stream=None):
        """It is when the stream has done what it was asked before."""
        with _in(stream):
            _core.event_record(self._handle, None)
        self._recorded = True

    def wait(self, stream=None):
        """Let a stream wait for it."""
        with _in(stream):
            _core.event_follow(self._handle, None)

    def synchronize(self):
        """Wait until it has come."""
        _core.event_wait(self._handle)

    def query(self):
        """Has it come?"""
        return _core.event_query(self._handle)

    def elapsed_time(self, end_event):
        """Milliseconds to another event; both were made with enable_timing."""
        if not self._timing or not end_event._timing or not self._recorded or not end_event._recorded:
            raise RuntimeError("elapsed_time: both events must be made with enable_timing=True and recorded")
        return _core.event_elapsed(self._handle, end_event._handle)


_numbers = itertools.count(1)
_stream = Stream(stream_id=0)
_current = threading.local()


def _set(stream):
    before = current_stream()
    if before._device != stream._device:
        _core.stream_set(before._device, None)
    _core.stream_set(stream._device, stream._handle)
    _current.stream = stream
    return before


class StreamCtx:
    """`with StreamCtx(stream):` runs its body in a stream; None: where it is run anyway."""

    def __init__(self, ctx_stream):
        if ctx_stream is not None and not isinstance(ctx_stream, Stream):
            raise TypeError(f"StreamCtx: a Stream is wanted, but got {_type_name(ctx_stream)}")
        self.stream = ctx_stream
        self._before = None

    def __enter__(self):
        if self.stream is not None:
            self._before = _set(self.stream)
        return self

    def __exit__(self, *error):
        if self.stream is not None:
            _set(self._before)
        return False


def current_stream():
    """The stream that this thread uses."""
    stream = getattr(_current, 'stream', _stream)
    return default_stream() if stream is _stream else stream


def default_stream():
    """The first queue of the device that new Tensors are made on."""
    device = _core.device_default()
    if _stream._device != device:
        _stream._device, _stream.device_name = device, 'CPU' if device == 'cpu' else device
    return _stream


def communication_stream():
    """The stream communication uses: the default one."""
    return default_stream()


def set_cur_stream(stream):
    """Use a stream in this thread."""
    if not isinstance(stream, Stream):
        raise TypeError(f"set_cur_stream: a Stream is wanted, but got {_type_name(stream)}")
    _set(stream)


# --- shares of a processor: the CPU has none of the kinds that these count ----------------------------------------------

_limits = {}


def _limit(who, cube_num, vector_num):
    for name, value in (('cube_num', cube_num), ('vector_num', vector_num)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{who}: {name} must be an int, but got {_type_name(value)}")
    return {'cube_core_num': cube_num, 'vector_core_num': vector_num}


def set_device_limit(device, cube_num=-1, vector_num=-1):
    """Keep how many cores of an Ascend processor may be used; a CPU has none."""
    _limits['device', device] = _limit('set_device_limit', cube_num, vector_num)


def get_device_limit(device):
    """What set_device_limit kept."""
    return _limits.get(('device', device), {'cube_core_num': -1, 'vector_core_num': -1})


def set_stream_limit(stream, cube_num=-1, vector_num=-1):
    """As set_device_limit, for one stream."""
    _limits['stream', id(stream)] = _limit('set_stream_limit', cube_num, vector_num)


def get_stream_limit(stream):
    """What set_stream_limit kept."""
    return _limits.get(('stream', id(stream)), {'cube_core_num': -1, 'vector_core_num': -1})


def reset_stream_limit(stream):
    """Forget what set_stream_limit kept."""
    _limits.pop(('stream', id(stream)), None)


class StreamLimitCtx:
    """A context with a limit for a stream."""

    def __init__(self, stream, cube_num=-1, vector_num=-1):
        self._args = stream, cube_num, vector_num

    def __enter__(self):
        set_stream_limit(*self._args)
        return self

    def __exit__(self, *error):
        reset_stream_limit(self._args[0])


def set_kernel_launch_capture(enable_capture_graph, op_capture_skip=None):
    """Accepted: programs are planned ahead on a CPU anyway."""
    if not isinstance(enable_capture_graph, bool):
        raise TypeError(f"set_kernel_launch_capture: a bool is wanted, but got {_type_name(enable_capture_graph)}")

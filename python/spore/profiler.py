# SPDX-License-Identifier: Apache-2.0
"""Time and memory of a stretch of a program as a trace that browsers show (https://ui.perfetto.dev, chrome://tracing).

A profiler measures from start to stop; ``step()`` ends a step. Stopping, or ``analyse``, writes to the output folder ``trace_view.json``
(every operator, step of a compiled program, stage of a data pipeline, with its thread, its line in the user's source and the memory in use),
``operators.csv`` (what took how long, by line) and ``summary.json`` (totals). The engine has one recording: profilers that run at the same
time share it.
"""
import csv
import enum
import json
import os
import time

from spore import _core, runtime

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ['Profiler', 'profile', 'schedule', 'tensorboard_trace_handler', 'ProfilerLevel', 'ProfilerActivity', 'AicoreMetrics',
           'ExportType', 'HostSystem', 'mstx', 'DynamicProfilerMonitor', 'EnvProfiler', '_ExperimentalConfig']


class ProfilerLevel(enum.Enum):
    """How much is measured; one level here."""
    LevelNone, Level0, Level1, Level2 = 'LevelNone', 'Level0', 'Level1', 'Level2'


class ProfilerActivity(enum.Enum):
    """What is measured; the CPU here."""
    NPU, GPU, CPU = 'NPU', 'GPU', 'CPU'


class AicoreMetrics(enum.Enum):
    """Counters of other hardware, accepted by name."""
    PipeUtilization, ArithmeticUtilization, Memory = 'PipeUtilization', 'ArithmeticUtilization', 'Memory'
    MemoryL0, MemoryUB, ResourceConflictRatio = 'MemoryL0', 'MemoryUB', 'ResourceConflictRatio'
    L2Cache, MemoryAccess, AiCoreNone = 'L2Cache', 'MemoryAccess', 'None'


class ExportType(enum.Enum):
    """Formats of results; text here."""
    Db, Text = 'db', 'text'


class HostSystem(enum.Enum):
    """Figures of the machine; accepted by name."""
    CPU, MEM, DISK, NETWORK, OSRT = 'cpu', 'mem', 'disk', 'network', 'osrt'


class _ExperimentalConfig:
    """Settings for other hardware, kept as they are given."""

    def __init__(self, profiler_level=ProfilerLevel.Level0, aic_metrics=AicoreMetrics.AiCoreNone, l2_cache=False, mstx=False,
                 data_simplification=True, export_type=None, mstx_domain_include=None, mstx_domain_exclude=None, sys_io=False,
                 sys_interconnection=False, host_sys=None):
        self._settings = {'profiler_level': profiler_level, 'aic_metrics': aic_metrics, 'l2_cache': l2_cache, 'mstx': mstx,
                          'data_simplification': data_simplification, 'export_type': [ExportType.Text] if export_type is None else export_type,
                          'mstx_domain_include': mstx_domain_include or [], 'mstx_domain_exclude': mstx_domain_exclude or [], 'sys_io': sys_io,
                          'sys_interconnection': sys_interconnection, 'host_sys': host_sys or []}

    profiler_level, aic_metrics, l2_cache, mstx, data_simplification, export_type, mstx_domain_include, mstx_domain_exclude, sys_io, \
        sys_interconnection, host_sys = (property(lambda self, name=name: self._settings[name]) for name in (
            'profiler_level', 'aic_metrics', 'l2_cache', 'mstx', 'data_simplification', 'export_type', 'mstx_domain_include',
            'mstx_domain_exclude', 'sys_io', 'sys_interconnection', 'host_sys'))


class mstx:  # noqa: N801  MindSpore's name
    """Marks of a program's own in what a running profiler measures: events of the trace beside its steps.

    Examples:
        >>> from spore.profiler import mstx, profile
        >>> with profile() as measured:
        ...     part = mstx.range_start("loading")
        ...     mstx.range_end(part)
    """
    _open, _next = {}, 0

    @staticmethod
    def _checked(message, domain):
        if not isinstance(message, str) or not message:
            raise TypeError(f"mstx: a message must be a text that is not empty, but got {message!r}")
        if not isinstance(domain, str) or not domain:
            raise TypeError(f"mstx: a domain must be a text that is not empty, but got {domain!r}")

    @staticmethod
    def mark(message, stream=None, domain='default'):
        """An event without length. `stream` belongs to other hardware."""
        mstx._checked(message, domain)
        now = time.perf_counter_ns()
        _core.profile_add(domain, message, now, now)

    @staticmethod
    def range_start(message, stream=None, domain='default'):
        """An event begins; answers a number for range_end, 0 if nothing measures."""
        mstx._checked(message, domain)
        if not _running:
            return 0
        mstx._next += 1
        mstx._open[mstx._next] = message, time.perf_counter_ns()
        return mstx._next

    @staticmethod
    def range_end(range_id, domain='default'):
        """The event of that number ends."""
        if isinstance(range_id, bool) or not isinstance(range_id, int):
            raise TypeError(f"mstx.range_end: range_id must be what range_start answered, but got {range_id!r}")
        message, begin = mstx._open.pop(range_id, (None, None))
        if message is not None:
            _core.profile_add(domain, message, begin, time.perf_counter_ns())


_running = []       # profilers that measure now
_MOST = 2_000_000   # events; some 60 bytes each


class schedule:  # noqa: N801  MindSpore's name
    """Which steps are measured: after skip_first, rounds of wait, warmup and active steps; repeat of them, 0 for ever.

    Examples:
        >>> from spore.profiler import schedule
        >>> [schedule(wait=1, active=2)(step) for step in range(4)]
        [False, True, True, False]
    """

    def __init__(self, *, wait, active, warmup=0, repeat=0, skip_first=0):
        for name, value in (('wait', wait), ('active', active), ('warmup', warmup), ('repeat', repeat), ('skip_first', skip_first)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"schedule: {name} must be an int that is not negative, but got {value!r}")
        if active < 1:
            raise ValueError(f"schedule: active must be at least 1, but got {active}")
        self.wait, self.active, self.warmup, self.repeat, self.skip_first = wait, active, warmup, repeat, skip_first

    def __call__(self, step):
        if step < self.skip_first:
            return False
        round_, place = divmod(step - self.skip_first, self.wait + self.warmup + self.active)
        return place >= self.wait + self.warmup and (not self.repeat or round_ < self.repeat)

    def to_dict(self):
        """The settings."""
        return dict(vars(self))


def tensorboard_trace_handler(dir_name=None, worker_name=None, analyse_flag=True, async_mode=False):
    """What a profiler does when it stops: write its files to a folder.

    Examples:
        >>> from spore.profiler import profile, tensorboard_trace_handler
        >>> with profile(on_trace_ready=tensorboard_trace_handler("profile")) as prof:
        ...     prof.step()
        ...
        >>> import os
        >>> sorted(os.listdir("profile"))
        ['operators.csv', 'summary.json', 'trace_view.json']
    """
    def write(prof):
        prof._write(dir_name or os.path.join(os.getcwd(), 'data'))
    return write


class _Profile:
    """Measures steps between start and stop."""

    def _prepare(self, schedule_, on_trace_ready):
        self._schedule, self._on_trace_ready = schedule_, on_trace_ready
        self._events, self._metadata = [], {}
        self._step, self._begin, self._running = 0, None, False

    def start(self):
        """Begin to measure."""
        if self._running:
            raise RuntimeError("the profiler is running already")
        runtime.reset_peak_memory_stats()
        if not _running:
            _core.profile_start(_MOST, os.path.dirname(os.path.abspath(__file__)) + os.sep)
        _running.append(self)
        self._running, self._begin = True, time.perf_counter_ns()
        self._started = self._begin
        self._follow_schedule()

    def _follow_schedule(self):
        """Record operators of steps that count only, unless others measure, too."""
        if self._schedule is not None and len(_running) == 1:
            (_core.profile_resume if self._schedule(self._step) else _core.profile_stop)()

    def step(self):
        """A step has ended; the next one begins."""
        if not self._running:
            raise RuntimeError("the profiler is not running: call start first")
        now = time.perf_counter_ns()
        if self._schedule is None or self._schedule(self._step):
            self._events.append((now - self._begin) * 1e-9)
            _core.profile_add('step', f'step {self._step}', self._begin, now)
        self._step, self._begin = self._step + 1, now
        self._follow_schedule()

    def stop(self):
        """End measuring, and hand the result to on_trace_ready if there is one."""
        if not self._running:
            raise RuntimeError("the profiler is not running: call start first")
        self._seconds = (time.perf_counter_ns() - self._started) * 1e-9
        self._peak, self._running = runtime.max_memory_allocated(), False
        _running.remove(self)
        if not _running:
            _core.profile_stop()
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    def add_metadata(self, key, value):
        """A text for the summary."""
        self._metadata[key] = value

    def add_metadata_json(self, key, value):
        """A value, given as JSON, for the summary."""
        self._metadata[key] = json.loads(value)

    def rows(self, by_line=False):
        """What took how long, the longest first: (kind, name, file, line, count, total seconds, own seconds). Own seconds leave out the
        operators inside of an operator. Kinds are operator, program (a step of a compiled one), data, worker, step and domains of mstx."""
        return [(*row[:5], row[5] * 1e-9, row[6] * 1e-9) for row in _core.profile_rows(by_line)]

    def table(self, rows=20, by_line=False):
        """The first rows as a text."""
        head = ('kind', 'name', 'line' if by_line else '', 'count', 'own ms', 'total ms', 'mean us')
        lines = [(kind, name, f'{file}:{line}' if file else '', str(count), f'{own * 1e3:.3f}', f'{total * 1e3:.3f}', f'{total * 1e6 / count:.3f}')
                 for kind, name, file, line, count, total, own in self.rows(by_line)[:rows]]
        widths = [max(len(row[i]) for row in [head, *lines]) for i in range(len(head))]
        return '\n'.join('  '.join(text.ljust(width) if i < 3 else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths)) if widths[i]).rstrip()
                         for row in [head, *lines])

    def _write(self, folder):
        os.makedirs(folder, exist_ok=True)
        _core.profile_write(os.path.join(folder, 'trace_view.json'))
        with open(os.path.join(folder, 'operators.csv'), 'w', encoding='utf-8', newline='') as file:
            out = csv.writer(file)
            out.writerow(('kind', 'name', 'file', 'line', 'count', 'total_us', 'own_us'))
            out.writerows((kind, name, path or '', line, count, f'{total * 1e6:.3f}', f'{own * 1e6:.3f}')
                          for kind, name, path, line, count, total, own in self.rows(by_line=True))
        events, dropped = _core.profile_count()
        summary = {'seconds': self._seconds, 'peak_bytes': self._peak, 'steps': len(self._events),
                   'seconds_per_step': sum(self._events) / len(self._events) if self._events else None, 'events': events, 'dropped_events': dropped,
                   'metadata': self._metadata}
        with open(os.path.join(folder, 'summary.json'), 'w', encoding='utf-8') as file:
            json.dump(summary, file, indent=1)


class profile(_Profile):  # noqa: N801  MindSpore's name
    """Measures what runs inside a with statement.

    Args:
        schedule: which steps to measure; all without one.
        on_trace_ready: called with the profiler when it stops; ``tensorboard_trace_handler(folder)`` writes files.
        start_profile: whether it starts at once when it is not used in a with statement.

    The other arguments choose what other hardware measures, and are kept.
    """

    def __init__(self, activities=None, with_stack=False, profile_memory=False, data_process=False, parallel_strategy=False,
                 start_profile=True, hbm_ddr=False, pcie=False, sync_enable=True, record_shapes=False, schedule=None,
                 on_trace_ready=None, experimental_config=None):
        self.settings = {k: v for k, v in locals().items() if k != 'self'}
        self._prepare(schedule, on_trace_ready)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        if self._running:
            self.stop()


class Profiler(_Profile):
    """Measures from when it is made (or from ``start()``, with start_profile=False) until ``analyse()``, which writes the files.

    Args:
        output_path: the folder. Default 'data' in the current one.
        start_profile: whether it starts at once. Default True.
        schedule, on_trace_ready: as for ``profile``.

    Examples:
        >>> import json
        >>> from spore import ops, Profiler
        >>> profiler = Profiler(output_path="profile")
        >>> x = ops.ones((100, 100)) @ ops.ones((100, 100))
        >>> profiler.step()
        >>> profiler.analyse()
        >>> json.load(open("profile/summary.json"))["steps"]
        1
    """

    def __init__(self, **kwargs):
        self.settings = kwargs
        self.output_path = kwargs.get('output_path') or os.path.join(os.getcwd(), 'data')
        self._prepare(kwargs.get('schedule'), kwargs.get('on_trace_ready'))
        if kwargs.get('start_profile', True):
            self.start()

    def analyse(self, offline_path=None, pretty=False, step_list=None, mode='sync'):
        """Stop, if it runs, and write the files."""
        if self._running:
            self.stop()
        self._write(offline_path or self.output_path)

    def op_analyse(self, op_name, device_id=None):
        """Times of operators by name, as JSON: count, total and mean.

        Args:
            op_name: the name of an operator as in `operators.csv`, or a list of them.
            device_id: accepted.
        """
        names = [op_name] if isinstance(op_name, str) else op_name
        if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
            raise TypeError(f"Profiler.op_analyse: op_name must be a str or a list of them, but got {op_name!r}")
        found = {name: [] for name in names}
        for kind, name, _, _, count, total, own in self.rows():
            if name in found and kind in ('operator', 'program'):
                found[name].append({'kind': kind, 'count': count, 'total_ms': total * 1e3, 'own_ms': own * 1e3, 'mean_us': total * 1e6 / count})
        missing = [name for name, rows in found.items() if not rows]
        if missing:
            raise RuntimeError(f"Profiler.op_analyse: nothing named {missing[0]!r} was measured; `rows()` and operators.csv tell what was")
        return json.dumps(found)

    @classmethod
    def offline_analyse(cls, path, pretty=False, step_list=None, data_simplification=True):
        """Results of a folder that raw data of Ascend processors lie in. Raises RuntimeError: here `analyse` writes results at once."""
        raise RuntimeError(f"Profiler.offline_analyse: {path!r} would hold raw data of Ascend processors, which there are none of; results are "
                           "written by `analyse`")


class EnvProfiler:
    """A profiler that the environment variable MS_PROFILER_OPTIONS switches on: a text in JSON with `start` (true) and `output_path`."""

    profiler = None

    @classmethod
    def init_profiler(cls):
        """Begin to measure, if the variable says so."""
        try:
            options = json.loads(os.environ.get('MS_PROFILER_OPTIONS') or '{}')
        except json.JSONDecodeError as error:
            raise ValueError(f"MS_PROFILER_OPTIONS must be a text in JSON, but {error}: {os.environ['MS_PROFILER_OPTIONS']!r}") from None
        if options.get('start') and cls.profiler is None:
            cls.profiler = Profiler(output_path=options.get('output_path'))

    @classmethod
    def analyse(cls):
        """End measuring and write the files."""
        if cls.profiler is not None:
            cls.profiler.analyse()
            cls.profiler = None


def __getattr__(name):
    if name == 'DynamicProfilerMonitor':                   # needs train, which is loaded on first use only
        from spore._dynamic_profiler import DynamicProfilerMonitor
        return DynamicProfilerMonitor
    raise AttributeError(f"module 'spore.profiler' has no attribute '{name}'")

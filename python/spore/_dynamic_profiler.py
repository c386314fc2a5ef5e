# SPDX-License-Identifier: Apache-2.0
"""A profiler that a file switches on and off while a program runs."""
import json
import os
import time

from spore import log
from spore._not_done import not_done
from spore.profiler import Profiler
from spore.train.callback import Callback

__all__ = ['DynamicProfilerMonitor']

_FIRST = {'start_step': -1, 'stop_step': -1}


class DynamicProfilerMonitor(Callback):
    """Measures the steps that a file names: `cfg_path/profiler_config.json` with `start_step` and `stop_step`, counted from 1. The file is
    read again while the program runs, so steps can be chosen late. The result of each stretch is a folder in `output_path`.

    Args:
        cfg_path: folder of the file, which is written with -1 (measure nothing) if there is none.
        output_path: where results go. Default './dyn_profile_data'.
        poll_interval: seconds between two looks at the file. Default 2.

    Call `step()` after every step, or give it to `Model.train` as a callback.

    Examples:
        >>> import json, os
        >>> from spore.profiler import DynamicProfilerMonitor
        >>> os.makedirs("watched", exist_ok=True)
        >>> with open("watched/profiler_config.json", "w") as file:
        ...     json.dump({"start_step": 1, "stop_step": 2}, file)
        >>> monitor = DynamicProfilerMonitor(cfg_path="watched", output_path="measured", poll_interval=1)
        >>> for _ in range(3):
        ...     monitor.step()
        >>> print(sorted(os.listdir("measured")))
        ['steps_1_2']
    """

    def __init__(self, cfg_path=None, output_path='./dyn_profile_data', poll_interval=2, **kwargs):
        if not isinstance(cfg_path, str):
            raise TypeError(f"DynamicProfilerMonitor: cfg_path must be the path of a folder, but got {cfg_path!r}")
        if isinstance(poll_interval, bool) or not isinstance(poll_interval, int) or poll_interval < 1:
            log.warning("DynamicProfilerMonitor: poll_interval must be a whole number of seconds from 1 on, but got "
                        f"{poll_interval!r}; it is 2")
            poll_interval = 2
        self._file, self._output, self._interval = os.path.join(cfg_path, 'profiler_config.json'), output_path, poll_interval
        self._seen, self._looked, self._steps, self._profiler, self._wanted = None, 0.0, 0, None, dict(_FIRST)
        if kwargs:
            not_done(f"DynamicProfilerMonitor: {', '.join(sorted(kwargs))}", "figures of other hardware")
        os.makedirs(cfg_path, exist_ok=True)
        if not os.path.exists(self._file):
            with open(self._file, 'w', encoding='utf-8') as file:
                json.dump(_FIRST, file, indent=4)
        self._look()
        self._begin()

    def _look(self):
        """Read the file, if it has changed since the last look."""
        self._looked = time.monotonic()
        try:
            stamp = os.stat(self._file).st_mtime_ns
            if stamp == self._seen:
                return
            with open(self._file, encoding='utf-8') as file:
                wanted = json.load(file)
            first, last = wanted['start_step'], wanted['stop_step']
            if not isinstance(first, int) or not isinstance(last, int) or first > last:
                raise ValueError(f"start_step must be a whole number up to stop_step, but they are {first!r} and {last!r}")
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning(f"DynamicProfilerMonitor: {self._file}: {error}; nothing new is measured")
            return
        self._seen, self._wanted = stamp, wanted

    def _begin(self):
        """Start to measure if the next step is the first of those wanted."""
        if self._profiler is None and self._wanted['start_step'] == self._steps + 1:
            folder = os.path.join(self._output, f"steps_{self._wanted['start_step']}_{self._wanted['stop_step']}")
            self._stop = self._wanted['stop_step']
            self._profiler = Profiler(output_path=folder)

    def step(self):
        """A step has ended."""
        self._steps += 1
        if self._profiler is not None:
            self._profiler.step()
            if self._steps >= self._stop:
                self._profiler.analyse()
                self._profiler = None
        if time.monotonic() - self._looked >= self._interval:
            self._look()
        self._begin()

    def on_train_step_end(self, run_context):
        """A step of Model.train has ended."""
        self.step()

    def on_train_end(self, run_context):
        """Write what is measured of a stretch that training did not reach the end of."""
        if self._profiler is not None:
            self._profiler.analyse()
            self._profiler = None

# SPDX-License-Identifier: Apache-2.0
"""Settings of data pipelines."""
import enum
import inspect
import json
import os
import random

import numpy

from spore._core import type_name as _type_name
from spore._not_done import not_done
from spore.common.seed import get_seed as _process_seed
from spore.dataset import _check

__all__ = ['set_seed', 'get_seed', 'set_num_parallel_workers', 'get_num_parallel_workers', 'set_prefetch_size',
           'get_prefetch_size', 'set_callback_timeout', 'get_callback_timeout', 'set_monitor_sampling_interval',
           'get_monitor_sampling_interval', 'set_auto_num_workers', 'get_auto_num_workers', 'set_numa_enable',
           'get_numa_enable', 'set_enable_shared_mem', 'get_enable_shared_mem', 'set_enable_autotune',
           'get_enable_autotune', 'set_autotune_interval', 'get_autotune_interval', 'set_auto_offload',
           'get_auto_offload', 'set_enable_watchdog', 'get_enable_watchdog', 'set_multiprocessing_timeout_interval',
           'get_multiprocessing_timeout_interval', 'set_multiprocessing_start_method',
           'get_multiprocessing_start_method', 'set_fast_recovery', 'get_fast_recovery', 'set_debug_mode',
           'get_debug_mode', 'set_error_samples_mode', 'get_error_samples_mode', 'set_iterator_mode',
           'get_iterator_mode', 'set_sending_batches', 'set_memory_budget', 'get_memory_budget',
           'set_dynamic_shape', 'get_dynamic_shape', 'set_video_backend', 'get_video_backend', 'load', 'ErrorSamplesMode']


class ErrorSamplesMode(enum.IntEnum):
    """What becomes of rows that fail: an error, another row in their place, or nothing."""

    RETURN = 0
    REPLACE = 1
    SKIP = 2


_values = {'seed': None, 'num_parallel_workers': max(1, min(8, os.cpu_count() or 1)), 'prefetch_size': 16,
           'callback_timeout': 60, 'monitor_sampling_interval': 1000, 'auto_num_workers': False, 'numa_enable': False,
           'enable_shared_mem': True, 'enable_autotune': False, 'autotune_interval': 0, 'auto_offload': False,
           'enable_watchdog': True, 'multiprocessing_timeout_interval': 300, 'multiprocessing_start_method': 'fork',
           'fast_recovery': True, 'debug_mode': False, 'error_samples_mode': ErrorSamplesMode.RETURN,
           'iterator_mode': {'do_copy': False, 'parallel_convert': False}, 'sending_batches': 0, 'debug_hooks': [], 'autotune_file': None,
           'memory_budget': 256, 'dynamic_shape': False, 'video_backend': 'CPU'}


def _wrong_kind(sentence, value):
    return TypeError(f"{sentence} It is of type {_type_name(value)}: {value!r}")


def _count(value, least, kind, range_, most=2147483647):
    """A number from ``least`` on; ``kind`` and ``range_`` are the sentences of MindSpore for what is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong_kind(kind, value)
    if not least <= value <= most:
        raise ValueError(f"{range_} It is {value}.")
    return value


def _flag(value, sentence):
    if not isinstance(value, bool):
        raise _wrong_kind(sentence, value)
    return value


NO_SEED = 5489      # what get_seed answers when none was set; setting it means the same


def set_seed(seed):
    """The seed of shuffling and random transforms, and, as in MindSpore, of Python's `random` and numpy's; 5489, what `get_seed` answers at
    first, means that there is none."""
    from spore.dataset import _stream
    _values['seed'] = _count(seed, 0, "seed isn't of type int.", "seed given is not within the required range [0, UINT32_MAX(4294967295)].",
                             4294967295)
    random.seed(seed)
    numpy.random.seed(seed)
    _stream.restart()


def get_seed():
    """The seed of shuffling; 5489 if none was set."""
    seed = _values['seed'] if _values['seed'] is not None else _process_seed()
    return NO_SEED if seed is None else seed


def seed_or_none():
    """The seed that was set; None if none was."""
    seed = get_seed()
    return None if seed == NO_SEED else seed


def set_num_parallel_workers(num):
    """Threads that a pipeline uses, where its operations do not say."""
    _count(num, 1, "num isn't of type int.", "Number of parallel workers given is not within the required range (0, "
           "INT32_MAX(2147483647)].")
    most = 64 * (os.cpu_count() or 1)
    if num > most:
        raise RuntimeError(f"Invalid Parameter, num_parallel_workers exceeds the boundary between 1 and {most}, as got {num}.")
    _values['num_parallel_workers'] = num


def get_num_parallel_workers():
    """What was set; the number of processors, up to 8, otherwise."""
    return _values['num_parallel_workers']


def set_prefetch_size(size):
    """Rows (or batches) made before they are asked for."""
    _values['prefetch_size'] = _count(size, 1, "size isn't of type int.",
                                      "size is not within the required range (0, INT32_MAX(2147483647)].")


def get_prefetch_size():
    """What was set."""
    return _values['prefetch_size']


# Settings that would change resources, and do not: why.
_NOT_DONE = {'auto_num_workers': 'set_num_parallel_workers decides', 'numa_enable': 'threads are not bound to memory',
             'auto_offload': 'there is no other device', 'enable_autotune': 'threads are not tuned; the file has the settings as they are'}


def _say_not_done(name, value):
    if value and name in _NOT_DONE:
        not_done(f"dataset.config.set_{name}({value!r})", _NOT_DONE[name])


def _setting(name, argument, check):
    """set_ and get_ functions of a setting that is kept for scripts that ask for it again."""
    def put(*args, **kwargs):
        if not args and not kwargs:
            raise TypeError(f"set_{name}() missing 1 required positional argument: '{argument}'")
        _values[name] = check(put.__signature__.bind(*args, **kwargs).arguments[argument])
        _say_not_done(name, _values[name])

    def get():
        return _values[name]
    put.__signature__ = inspect.Signature([inspect.Parameter(argument, inspect.Parameter.POSITIONAL_OR_KEYWORD)])
    put.__name__, get.__name__ = f'set_{name}', f'get_{name}'
    put.__doc__ = f"Keep the setting {name}."
    get.__doc__ = f"The setting {name}."
    return put, get


def _counted(name, argument, least, kind, range_):
    return _setting(name, argument, lambda value: _count(value, least, kind, range_))


def _flagged(name, argument, sentence):
    return _setting(name, argument, lambda value: _flag(value, sentence))


set_memory_budget, get_memory_budget = _counted(
    'memory_budget', 'megabytes', 1, "megabytes isn't of type int.",
    "megabytes is not within the required range [1, INT32_MAX(2147483647)].")
set_callback_timeout, get_callback_timeout = _counted(
    'callback_timeout', 'timeout', 1, "timeout isn't of type int.", "Timeout given is not within the required range.")
set_monitor_sampling_interval, get_monitor_sampling_interval = _counted(
    'monitor_sampling_interval', 'interval', 1, "interval isn't of type int.",
    "Interval given is not within the required range (0, INT32_MAX(2147483647)].")
set_autotune_interval, get_autotune_interval = _counted(
    'autotune_interval', 'interval', 0, "interval must be of type int.",
    "Interval given is not within the required range [0, INT32_MAX(2147483647)].")
set_multiprocessing_timeout_interval, get_multiprocessing_timeout_interval = _counted(
    'multiprocessing_timeout_interval', 'interval', 1, "interval isn't of type int.",
    "Interval given is not within the required range (0, INT32_MAX(2147483647)).")
set_sending_batches, _ = _counted(
    'sending_batches', 'batch_num', -2147483648, "batch_num must be an int dtype.", "batch_num is not within the range of int32.")
set_auto_num_workers, get_auto_num_workers = _flagged('auto_num_workers', 'enable', "enable must be of type bool.")
set_numa_enable, get_numa_enable = _flagged('numa_enable', 'numa_enable', "numa_enable must be a boolean dtype.")
set_enable_shared_mem, get_enable_shared_mem = _flagged('enable_shared_mem', 'enable', "enable must be of type bool.")
set_auto_offload, get_auto_offload = _flagged('auto_offload', 'offload', "offload must be a bool dtype.")
set_enable_watchdog, get_enable_watchdog = _flagged('enable_watchdog', 'enable', "enable must be a boolean dtype.")
set_fast_recovery, get_fast_recovery = _flagged('fast_recovery', 'fast_recovery', "fast_recovery must be a boolean dtype.")
set_dynamic_shape, get_dynamic_shape = _flagged('dynamic_shape', 'is_dynamic', "is_dynamic must be a boolean dtype.")


def set_enable_autotune(enable, filepath_prefix=None):
    """Whether to tune. The number of threads needs no tuning here; with a prefix, an iterator that ends writes its pipeline and its
    settings to the file PREFIX_0.json, which `deserialize` reads."""
    _flag(enable, "enable must be of type bool.")
    if enable and filepath_prefix is not None:
        if not isinstance(filepath_prefix, str):
            raise TypeError(f"json_filepath must be a str value but was: {filepath_prefix}.")
        if not filepath_prefix:
            raise RuntimeError("The value of json_filepath cannot be the empty string.")
        if os.path.isdir(filepath_prefix):
            raise RuntimeError(f"Invalid json_filepath parameter. <{filepath_prefix}> is a directory.")
        folder = os.path.dirname(filepath_prefix)
        if folder and not os.path.isdir(folder):
            raise RuntimeError(f"Invalid json_filepath parameter.  Directory <{folder}> does not exist.")
    _values['enable_autotune'], _values['autotune_file'] = enable, filepath_prefix if enable else None
    _say_not_done('enable_autotune', enable)


def autotune_file():
    """Where the settings of pipelines are written; None: nowhere."""
    return None if _values['autotune_file'] is None else f"{_values['autotune_file']}_0.json"


def get_enable_autotune():
    """The setting."""
    return _values['enable_autotune']


def set_debug_mode(debug_mode_flag, debug_hook_list=None):
    """Make rows on the thread that asks for them, without others; hooks of dataset.debug see what goes through ``map``. Between
    hooks operations run one by one in Python and draw their random numbers there: other ones than without hooks (``[]``: none)."""
    _flag(debug_mode_flag, "debug_mode_flag isn't of type boolean.")
    if debug_hook_list is not None and not isinstance(debug_hook_list, list):
        raise TypeError("debug_hook_list is not a list.")
    from spore.dataset.debug import DebugHook, PrintMetaDataHook
    for hook in debug_hook_list or ():
        if not isinstance(hook, DebugHook):
            raise TypeError(f"All items in debug_hook_list must be of type DebugHook. One is of {type(hook)}.")
    _values['debug_mode'] = debug_mode_flag
    _values['debug_hooks'] = [PrintMetaDataHook()] if debug_hook_list is None else list(debug_hook_list)


def get_debug_mode():
    """The setting."""
    return _values['debug_mode']


def set_multiprocessing_start_method(start_method='fork'):
    """Keep the setting."""
    _check.kind(start_method, str, 'start_method')
    if start_method not in ('fork', 'spawn'):
        raise ValueError(f"Input start_method is not within the valid set of ['fork', 'spawn'], but got {start_method!r}.")
    _values['multiprocessing_start_method'] = start_method


def get_multiprocessing_start_method():
    """The setting."""
    return _values['multiprocessing_start_method']


def set_error_samples_mode(error_samples_mode):
    """What becomes of rows that fail in ``map``: an error (RETURN), a good row once more, behind the last one (REPLACE), or
    nothing (SKIP). Other operations always report failures."""
    _check.kind(error_samples_mode, ErrorSamplesMode, 'error_samples_mode')
    _values['error_samples_mode'] = error_samples_mode


def get_error_samples_mode():
    """The setting."""
    return _values['error_samples_mode']


def set_iterator_mode(do_copy=False, parallel_convert=False):
    """Keep the setting: rows are never shared with the pipeline."""
    _check.kind(do_copy, bool, 'do_copy')
    _check.kind(parallel_convert, bool, 'parallel_convert')
    _values['iterator_mode'] = {'do_copy': do_copy, 'parallel_convert': parallel_convert}


def get_iterator_mode():
    """The setting."""
    return _values['iterator_mode']


def set_video_backend(backend):
    """Who decodes videos: "CPU", or by name "Ascend", which is not there."""
    _check.kind(backend, str, 'backend')
    if backend not in ('CPU', 'Ascend'):
        raise ValueError(f"Input backend is not within the valid set of ['CPU', 'Ascend'], but got {backend!r}.")
    if backend != 'CPU':
        not_done(f"dataset.config.set_video_backend({backend!r})", "the CPU decodes")
    _values['video_backend'] = backend


def get_video_backend():
    """The setting."""
    return _values['video_backend']


def load(file):
    """Settings from a JSON file with the names of MindSpore's."""
    if not isinstance(file, str):
        raise TypeError(f"file must be a str, but got {_type_name(file)}")
    try:
        with open(file, encoding='utf-8') as text:
            given = json.load(text)
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError)
        raise RuntimeError(f"Invalid file: settings file:{file} is not exist, check input path of config 'load' API." if missing else
                           f"Client file failed to load.\n{file} cannot be read as settings: {error}") from error
    names = {'numParallelWorkers': set_num_parallel_workers, 'seed': set_seed, 'monitorSamplingInterval':
             set_monitor_sampling_interval, 'opConnectorSize': set_prefetch_size}
    if not isinstance(given, dict):
        raise RuntimeError(f"Client file failed to load:\n{file} must hold an object, but holds a {_type_name(given)}")
    for name, value in given.items():
        if name in names and not isinstance(value, int):
            raise RuntimeError(f"Client file failed to load:\n{file}: {name} must be a number, but is {value!r}")
        if name == 'numParallelWorkers' and not 1 <= value <= (os.cpu_count() or 1) * 64:
            raise RuntimeError(f"Invalid Parameter, num_parallel_workers exceeds the boundary between 1 and {os.cpu_count()}, as got {value}.")
        if name in names:
            names[name](value)

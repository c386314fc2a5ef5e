# SPDX-License-Identifier: Apache-2.0
"""Settings of data pipelines."""
import enum
import inspect
import json
import os

from spore.common.seed import get_seed as _process_seed

__all__ = ['set_seed', 'get_seed', 'set_num_parallel_workers', 'get_num_parallel_workers', 'set_prefetch_size',
           'get_prefetch_size', 'set_callback_timeout', 'get_callback_timeout', 'set_monitor_sampling_interval',
           'get_monitor_sampling_interval', 'set_auto_num_workers', 'get_auto_num_workers', 'set_numa_enable',
           'get_numa_enable', 'set_enable_shared_mem', 'get_enable_shared_mem', 'set_enable_autotune',
           'get_enable_autotune', 'set_autotune_interval', 'get_autotune_interval', 'set_auto_offload',
           'get_auto_offload', 'set_enable_watchdog', 'get_enable_watchdog', 'set_multiprocessing_timeout_interval',
           'get_multiprocessing_timeout_interval', 'set_multiprocessing_start_method',
           'get_multiprocessing_start_method', 'set_fast_recovery', 'get_fast_recovery', 'set_debug_mode',
           'get_debug_mode', 'set_error_samples_mode', 'get_error_samples_mode', 'set_iterator_mode',
           'get_iterator_mode', 'set_sending_batches', 'set_memory_budget', 'get_memory_budget', 'load', 'ErrorSamplesMode']


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
           'iterator_mode': {'do_copy': False, 'parallel_convert': False}, 'sending_batches': 0, 'debug_hooks': [],
           'memory_budget': 256}


def _count(name, value, least):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, but got {type(value).__name__}")
    if not least <= value <= 2147483647:
        raise ValueError(f"{name} must be at least {least} and at most 2147483647, but got {value}")
    return value


def _flag(name, value):
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool, but got {type(value).__name__}")
    return value


def set_seed(seed):
    """The seed of shuffling and random transforms; the one of spore.set_seed otherwise."""
    from spore.dataset import _stream
    _values['seed'] = _count('seed', seed, 0)
    _stream.restart()


def get_seed():
    """The seed of shuffling, None if none was set."""
    return _values['seed'] if _values['seed'] is not None else _process_seed()


def set_num_parallel_workers(num):
    """Threads that a pipeline uses, where its operations do not say."""
    _values['num_parallel_workers'] = _count('num_parallel_workers', num, 1)


def get_num_parallel_workers():
    """What was set; the number of processors, up to 8, otherwise."""
    return _values['num_parallel_workers']


def set_prefetch_size(size):
    """Rows (or batches) made before they are asked for."""
    _values['prefetch_size'] = _count('prefetch_size', size, 1)


def get_prefetch_size():
    """What was set."""
    return _values['prefetch_size']


def _setting(name, check, least=None, argument=None):
    """set_ and get_ functions of a setting that is kept for scripts that ask for it again."""
    argument = argument or name

    def put(*args, **kwargs):
        value = put.__signature__.bind(*args, **kwargs).arguments[argument]
        _values[name] = check(argument, value, least) if least is not None else check(argument, value)

    def get():
        return _values[name]
    put.__signature__ = inspect.Signature([inspect.Parameter(argument, inspect.Parameter.POSITIONAL_OR_KEYWORD)])
    put.__name__, get.__name__ = f'set_{name}', f'get_{name}'
    put.__doc__ = f"Keep the setting {name}."
    get.__doc__ = f"The setting {name}."
    return put, get


set_memory_budget, get_memory_budget = _setting('memory_budget', _count, 1, argument='megabytes')
set_callback_timeout, get_callback_timeout = _setting('callback_timeout', _count, 1, argument='timeout')
set_monitor_sampling_interval, get_monitor_sampling_interval = _setting('monitor_sampling_interval', _count, 1, argument='interval')
set_auto_num_workers, get_auto_num_workers = _setting('auto_num_workers', _flag, argument='enable')
set_numa_enable, get_numa_enable = _setting('numa_enable', _flag, argument='numa_enable')
set_enable_shared_mem, get_enable_shared_mem = _setting('enable_shared_mem', _flag, argument='enable')
set_autotune_interval, get_autotune_interval = _setting('autotune_interval', _count, 0, argument='interval')
set_auto_offload, get_auto_offload = _setting('auto_offload', _flag, argument='offload')
set_enable_watchdog, get_enable_watchdog = _setting('enable_watchdog', _flag, argument='enable')
set_multiprocessing_timeout_interval, get_multiprocessing_timeout_interval = _setting(
    'multiprocessing_timeout_interval', _count, 1, 'interval')
set_fast_recovery, get_fast_recovery = _setting('fast_recovery', _flag, argument='fast_recovery')
set_sending_batches, _ = _setting('sending_batches', _count, 0, argument='batch_num')


def set_enable_autotune(enable, filepath_prefix=None):
    """Keep the setting: the number of threads needs no tuning, since order does not depend on it."""
    _values['enable_autotune'] = _flag('enable', enable)


def get_enable_autotune():
    """The setting."""
    return _values['enable_autotune']


def set_debug_mode(debug_mode_flag, debug_hook_list=None):
    """Make rows on the thread that asks for them, without others; hooks of dataset.debug see what goes through ``map``."""
    _values['debug_mode'] = _flag('debug_mode_flag', debug_mode_flag)
    if debug_hook_list is not None and not isinstance(debug_hook_list, list):
        raise TypeError("debug_hook_list is not a list.")
    from spore.dataset.debug import DebugHook
    for hook in debug_hook_list or ():
        if not isinstance(hook, DebugHook):
            raise TypeError(f"All items in debug_hook_list should be of type DebugHook, but got {type(hook)}.")
    _values['debug_hooks'] = list(debug_hook_list or ())


def get_debug_mode():
    """The setting."""
    return _values['debug_mode']


def set_multiprocessing_start_method(start_method='fork'):
    """Keep the setting."""
    if not isinstance(start_method, str):
        raise TypeError(f"start_method must be a str, but got {type(start_method).__name__}")
    if start_method not in ('fork', 'spawn'):
        raise ValueError(f"start_method must be 'fork' or 'spawn', but got {start_method!r}")
    _values['multiprocessing_start_method'] = start_method


def get_multiprocessing_start_method():
    """The setting."""
    return _values['multiprocessing_start_method']


def set_error_samples_mode(error_samples_mode):
    """What becomes of rows that fail; only RETURN, an error in their place, is possible."""
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        raise TypeError(f"error_samples_mode must be an ErrorSamplesMode, but got {type(error_samples_mode).__name__}")
    if error_samples_mode != ErrorSamplesMode.RETURN:
        raise NotImplementedError("set_error_samples_mode: rows that fail can only be reported (ErrorSamplesMode.RETURN)")
    _values['error_samples_mode'] = error_samples_mode


def get_error_samples_mode():
    """The setting."""
    return _values['error_samples_mode']


def set_iterator_mode(do_copy=False, parallel_convert=False):
    """Keep the setting: rows are never shared with the pipeline."""
    _values['iterator_mode'] = {'do_copy': _flag('do_copy', do_copy),
                                'parallel_convert': _flag('parallel_convert', parallel_convert)}


def get_iterator_mode():
    """The setting."""
    return _values['iterator_mode']


def load(file):
    """Settings from a JSON file with the names of MindSpore's."""
    if not isinstance(file, str):
        raise TypeError(f"file must be a str, but got {type(file).__name__}")
    try:
        with open(file, encoding='utf-8') as text:
            given = json.load(text)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"Invalid file, {file} cannot be read as settings: {error}") from error
    names = {'numParallelWorkers': set_num_parallel_workers, 'seed': set_seed, 'monitorSamplingInterval':
             set_monitor_sampling_interval, 'prefetchSize': set_prefetch_size}
    for name, value in given.items():
        if name in names:
            names[name](value)

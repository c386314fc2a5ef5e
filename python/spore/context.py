# SPDX-License-Identifier: Apache-2.0
"""Settings of the process: execution mode, device, threads, and the options MindSpore scripts set.

Options that steer hardware we do not have are checked and kept, so that a script can read back what it set.
"""
import os

from spore._core import type_name as _type_name
from spore import _core
from spore._not_done import not_done
from spore.graph import state

__all__ = ['GRAPH_MODE', 'PYNATIVE_MODE', 'STRICT', 'COMPATIBLE', 'LAX', 'ParallelMode', 'set_context', 'get_context',
           'set_auto_parallel_context', 'get_auto_parallel_context', 'reset_auto_parallel_context', 'set_ps_context',
           'get_ps_context',
           'set_device', 'get_current_device', 'set_deterministic']

GRAPH_MODE = 0
PYNATIVE_MODE = 1
STRICT = 0
COMPATIBLE = 1
LAX = 2


class ParallelMode:
    """How work is spread over processes."""
    STAND_ALONE = 'stand_alone'
    DATA_PARALLEL = 'data_parallel'
    HYBRID_PARALLEL = 'hybrid_parallel'
    SEMI_AUTO_PARALLEL = 'semi_auto_parallel'
    AUTO_PARALLEL = 'auto_parallel'
    MODE_LIST = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


def _one_of(*values):
    def check(key, value):
        if value not in values:
            raise ValueError(f"set_context: {key} must be one of {list(values)}, but got {value!r}")
        return value
    return check


def _at_least(least, most=None):
    def check(key, value):
        if value < least or (most is not None and value > most):
            raise ValueError(f"set_context: {key} must be "
                             f"{'at least ' + str(least) if most is None else f'in {least}..{most}'}, "
                             f"but got {value}")
        return value
    return check


def _memory_size(key, value):
    text = value.strip()
    if not text.endswith('GB') or not _is_number(text[:-2]) or float(text[:-2]) <= 0:
        raise ValueError(f"set_context: {key} must be a size like '5GB', but got {value!r}")
    return value


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _mode(key, value):
    if value not in (GRAPH_MODE, PYNATIVE_MODE):
        raise ValueError(f"set_context: mode must be GRAPH_MODE (0) or PYNATIVE_MODE (1), but got {value}")
    if value != _values['mode']:
        state.want_hook(1 if value == GRAPH_MODE else -1)
    return value


def _plugged(value):
    """Is it the kind of a device that a library has brought (SPORE_DEVICES)? MindSpore's names are no such kinds."""
    from spore import _core
    return value == value.lower() and value != 'cpu' and value in _core.device_names().split(', ')


def _device_target(key, value):
    from spore import _core
    if _plugged(value):
        _core.device_set_default(value)
        return value
    if value == 'CPU' and _values['device_target'] != 'CPU':
        _core.device_set_default('cpu')
    if value not in ('CPU', 'GPU', 'Ascend', 'Davinci'):
        raise ValueError(f"set_context: device_target must be one of ['CPU', 'GPU', 'Ascend', 'Davinci'], but got "
                         f"{value!r}")
    if value == 'CPU':
        return value
    if not _cpu_stands_in:
        raise RuntimeError(f"set_context: device target {value} is not available: this process supports ['CPU']")
    if value not in _stood_in_for:
        _stood_in_for.add(value)
        from spore import log  # not before: loading it takes time that most programs need not spend
        log.warning(f"device target {value} is not available: the script runs on the CPU instead")
    return 'CPU'


_cpu_stands_in = False
_stood_in_for = set()


def let_cpu_stand_in():
    """From now on a program that asks for a device which is not here gets the CPU and a warning: for `spore run`, whose users
    expect a script to run as it is. Programs that import spore themselves are told by an error, as by MindSpore."""
    global _cpu_stands_in
    _cpu_stands_in = True


def _threads(key, value):
    if value < 0:
        raise ValueError(f"set_context: {key} must not be negative, but got {value}")
    if value:
        _core.threads_set(value)
    return value


def _save_graphs(key, value):
    if value is True:
        return 2
    if value is False:
        return 0
    if value not in (0, 1, 2, 3):
        raise ValueError(f"set_context: save_graphs must be 0, 1, 2 or 3, but got {value}")
    return value


def _optimize_level(key, value):
    return {'O0': 0, 'O1': 1}[_one_of('O0', 'O1')(key, value)]


def _limit(key, value):
    size = float(_memory_size(key, value).strip()[:-2])
    _core.memory_set_limit(int(size * 2 ** 30))
    return size


def _any(key, value):
    return value


# name: (type, value at the start, check)
_OPTIONS = {
    'mode': (int, PYNATIVE_MODE, _mode),
    'device_target': (str, 'CPU', _device_target),
    'device_id': (int, 0, _at_least(0, 4095)),
    'max_call_depth': (int, 1000, _at_least(1)),
    'save_graphs': ((bool, int), 0, _save_graphs),
    'save_graphs_path': (str, '.', _any),
    'enable_graph_kernel': (bool, False, _any),
    'graph_kernel_flags': (str, '', _any),
    'enable_compile_cache': (bool, None, _any),
    'compile_cache_path': (str, '', _any),
    'variable_memory_max_size': (str, '0', _memory_size),
    'max_device_memory': (str, 1024.0, _limit),
    'mempool_block_size': (str, 1.0, lambda key, value: float(_memory_size(key, value).strip()[:-2])),
    'jit_level': (str, '', _one_of('', 'O0', 'O1', 'O2', 'O3')),
    'jit_config': (dict, {}, _any),
    'jit_syntax_level': (int, LAX, _one_of(STRICT, COMPATIBLE, LAX)),
    'exec_order': (str, 'bfs', _one_of('bfs', 'dfs', 'gpto')),
    'deterministic': (str, 'OFF', _one_of('ON', 'OFF')),
    'runtime_num_threads': (int, 0, _threads),
    'inter_op_parallel_num': (int, 0, _at_least(0)),
    'memory_optimize_level': (str, 0, _optimize_level),
    'memory_offload': (str, 'OFF', _one_of('ON', 'OFF')),
    'op_timeout': (int, 900, _at_least(0)),
    'pynative_synchronize': (bool, False, _any),
    'check_bprop': (bool, False, _any),
    'reserve_class_name_in_scope': (bool, True, _any),
    'support_binary': (bool, False, _any),
    'debug_level': (int, 0, _one_of(0, 1)),
    'print_file_path': (str, '', _any),
    'env_config_path': (str, '', _any),
    'enable_profiling': (bool, False, _any),
    'profiling_options': (str, '', _any),
    'enable_dump': (bool, False, _any),
    'save_dump_path': (str, '', _any),
    'enable_reduce_precision': (bool, True, _any),
    'enable_sparse': (bool, False, _any),
    'precompile_only': (bool, False, _any),
    'disable_format_transform': (bool, False, _any),
    'aoe_tune_mode': (str, '', _one_of('online', 'offline')),
    'aoe_config': (dict, {}, _any),
    'auto_tune_mode': (str, 'NO_TUNE', _any),
    'ascend_config': (dict, {}, _any),
    'gpu_config': (dict, {}, _any),
    'conv_fprop_algo': (str, 'normal', _any),
    'conv_dgrad_algo': (str, 'normal', _any),
    'conv_wgrad_algo': (str, 'normal', _any),
    'conv_allow_tf32': (bool, True, _any),
    'matmul_allow_tf32': (bool, False, _any),
    'host_scheduling_max_threshold': (int, '', _any),
    'grad_for_scalar': (bool, False, _any),
    'jit_enable_inplace_ops': (bool, False, _any),
    'hccl_buffer_size': (int, 200, _at_least(1)),
    'parallel_speed_up_json_path': (str, '', _any),
    'topo_order': (dict, {}, _any),
    'offload_config': (dict, {}, _any),
    'infer_boost': (str, 'off', _one_of('on', 'off')),
    'enable_auto_mixed_precision': (bool, False, _any),
}
# Options of earlier versions, about memory and devices alone: scripts that still set them run the same without.
_FORMER = frozenset((
    'enable_mem_reuse', 'enable_dynamic_memory', 'enable_loop_sink', 'enable_task_sink', 'enable_hccl', 'save_ms_model',
    'save_ms_model_path', 'graph_memory_max_size', 'enable_gpu_summary', 'enable_pynative_infer', 'enable_pynative_hook',
    'backend_policy', 'ir_fusion_flag'))
_values = {name: row[1] for name, row in _OPTIONS.items()}
_values['enable_ge'] = False           # to be read only
_values['runtime_num_threads'] = None  # asked of the engine


def set_context(**kwargs):
    """Set options of the process; an unknown one is a ValueError, a wrong type a TypeError."""
    for key, value in kwargs.items():
        row = _OPTIONS.get(key)
        if row is None:
            if key in _FORMER and _cpu_stands_in:
                from spore import log
                log.warning(f"set_context: {key!r} was an option of earlier versions and is left out: nothing depends on it")
                continue
            raise ValueError(f"set_context: there is no option {key!r}{_nearest(key)}")
        kind, _, check = row
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            names = ' or '.join(k.__name__ for k in kinds)
            hint = "; spore.GRAPH_MODE is 0, spore.PYNATIVE_MODE is 1" if key == "mode" else ""
            raise TypeError(f"set_context: {key} must be of type {names}, but got {value!r} of type {_type_name(value)}{hint}")
        _values[key] = check(key, value)
        _say_not_done(key, value)


# Options that would change results or resources, or write files, and do not: the value that asks for nothing, and why nothing happens.
_NOT_DONE = {
    'memory_offload': ('OFF', 'tensors stay in memory'),
    'offload_config': ({}, 'tensors stay in memory'),
    'print_file_path': ('', 'ops.Print writes to the standard output'),
    'enable_profiling': (False, 'use spore.Profiler'),
    'enable_dump': (False, 'tensors are not written to files'),
    'precompile_only': (False, 'programs run after they are compiled'),
    'enable_auto_mixed_precision': (False, 'use amp.auto_mixed_precision'),
    'check_bprop': (False, 'shapes and dtypes of bprop results are not compared'),
    'grad_for_scalar': (False, 'gradients are taken with respect to Tensors'),
}


def _say_not_done(key, value):
    idle, why = _NOT_DONE.get(key, (value, ''))
    if value != idle:
        not_done(f"set_context: {key}={value!r}", why)


def _nearest(key):
    """What may have been meant, as the end of a message."""
    from difflib import get_close_matches
    near = get_close_matches(key, _OPTIONS, 1, 0.75)
    return f"; did you mean '{near[0]}'?" if near else ""


def get_context(attr_key):
    """The value of one option."""
    if attr_key not in _values:
        raise ValueError(f"get_context: there is no option {attr_key!r}{_nearest(attr_key)}")
    if attr_key == 'runtime_num_threads':
        return _core.threads()
    return _values[attr_key]


_programs_kept = ('', 0)


def _keep_programs():
    """Tell the engine where to keep compiled programs: asked before each is made, as options and environment may have changed."""
    global _programs_kept
    enabled = _values['enable_compile_cache']
    if enabled is None:
        enabled = os.environ.get('MS_COMPILER_CACHE_ENABLE') == '1'
    wanted = ('', 0)
    if enabled:
        path = _values['compile_cache_path'] or os.environ.get('MS_COMPILER_CACHE_PATH') or '.'
        most = os.environ.get('SPORE_COMPILE_CACHE_BYTES', '0')
        if not most.isdecimal():
            raise ValueError(f"SPORE_COMPILE_CACHE_BYTES is {most!r}, it must be a number of bytes")
        wanted = (os.path.join(os.path.abspath(path), 'rank_0', 'graph_cache'), int(most))
    if wanted != _programs_kept:
        _core.program_cache(*wanted)
        _programs_kept = wanted


def _graphs_saved():
    """Folder and level of saved graphs, for the next program: as the options say, else as the environment does."""
    level, folder = _values['save_graphs'], _values['save_graphs_path']
    if not level:
        text = os.environ.get('MS_DEV_SAVE_GRAPHS', '') or '0'
        if text not in ('0', '1', '2', '3'):
            raise ValueError(f"MS_DEV_SAVE_GRAPHS is {text!r}, it must be 0, 1, 2 or 3")
        level = int(text)
    if folder == '.':
        folder = os.environ.get('MS_DEV_SAVE_GRAPHS_PATH') or folder
    return folder or '.', level


def _get_mode():
    return _values['mode']


class _KernelContext:
    """What MindSpore's own modules steer the runtime with; one device needs no policy."""

    def set_backend_policy(self, policy):
        """Accepted."""
        return True


K_CONTEXT = _KernelContext()


class _DeviceInfo(tuple):
    """What get_current_device answers: (device_target, device_id), also by name."""
    device_target = property(lambda self: self[0])
    device_id = property(lambda self: self[1])


def set_device(device_target, device_id=None):
    """Choose the device: 'CPU', or one that a library of devices (SPORE_DEVICES) has brought. New Tensors are made there."""
    if not isinstance(device_target, str):
        raise TypeError(f"set_device: device_target must be a str, but got {_type_name(device_target)}")
    if device_target not in ('CPU', 'GPU', 'Ascend') and not _plugged(device_target):
        raise ValueError(f"set_device: device_target must be one of ['CPU', 'GPU', 'Ascend'], but got "
                         f"{device_target!r}")
    if device_id is not None and (isinstance(device_id, bool) or not isinstance(device_id, int) or device_id < 0):
        raise ValueError(f"set_device: device_id must be an int from 0, but got {device_id!r}")
    set_context(device_target=device_target)
    if device_id is not None:
        set_context(device_id=device_id)
        if _plugged(device_target):
            from spore import _core
            _core.device_set_default(f'{device_target}:{device_id}' if device_id else device_target)


def get_current_device():
    """Device and its number."""
    return _DeviceInfo((_values['device_target'], _values['device_id']))


def set_deterministic(deterministic):
    """Results never depend on threads here, so this is a note only."""
    if not isinstance(deterministic, bool):
        raise TypeError(f"set_deterministic: a bool is wanted, but got {_type_name(deterministic)}")
    _values['deterministic'] = 'ON' if deterministic else 'OFF'


_PARALLEL = {'device_num': 1, 'global_rank': 0, 'gradients_mean': False, 'gradient_fp32_sync': True,
             'parallel_mode': ParallelMode.STAND_ALONE, 'search_mode': 'recursive_programming',
             'auto_parallel_search_mode':
             'recursive_programming', 'parameter_broadcast': False, 'strategy_ckpt_load_file': '',
             'strategy_ckpt_save_file': '',
             'strategy_ckpt_config': {}, 'full_batch': False, 'dataset_strategy': 'data_parallel',
             'enable_parallel_optimizer': False,
             'parallel_optimizer_config': {}, 'optimizer_level': 'level1', 'force_fp32_communication': False, 'enable_alltoall': False,
             'all_reduce_fusion_config': [], 'pipeline_stages': 1, 'pipeline_segments': 1,
             'pipeline_result_broadcast': False,
             'pipeline_config': {},
             'pipeline_interleave': False, 'pipeline_scheduler': '1f1b', 'auto_pipeline': False, 'grad_accumulation_step': 1, 'group_ckpt_save_file': '',
             'comm_fusion': {}, 'sharding_propagation': False, 'dump_local_norm': False, 'dump_local_norm_path': '',
             'dump_device_local_norm': False, 'mirror_mean': False, 'cast_before_mirror': True, 'communi_parallel_mode':
             'all_group_parallel', 'optimizer_weight_shard_size': -1, 'optimizer_weight_shard_aggregated_save': False,
             'fully_use_devices': True, 'recompute': False, 'loss_repeated_mean': True, 'init_param_in_compile': True}
_parallel = dict(_PARALLEL)


def set_auto_parallel_context(**kwargs):
    """Set options of distributed execution."""
    for key, value in kwargs.items():
        if key not in _PARALLEL:
            raise ValueError(f"set_auto_parallel_context: there is no option {key!r}")
        if key == 'parallel_mode' and value not in ParallelMode.MODE_LIST:
            raise ValueError(f"set_auto_parallel_context: parallel_mode must be one of {ParallelMode.MODE_LIST}, but "
                             f"got {value!r}")
        if key == 'device_num' and (not isinstance(value, int) or value < 1):
            raise ValueError(f"set_auto_parallel_context: device_num must be at least 1, but got {value!r}")
        check = _PARALLEL_CHECKS.get(key)
        if check is not None:
            check(value)
        _parallel[key] = value
        if key == 'auto_parallel_search_mode':      # its old name
            _parallel['search_mode'] = value
        elif key == 'search_mode':
            _parallel['auto_parallel_search_mode'] = value
        elif key == 'sharding_propagation' and value:   # the old name of a search mode
            _parallel['search_mode'] = _parallel['auto_parallel_search_mode'] = 'sharding_propagation'
        state.changed()
        _say_parallel_not_done(key, value)


def _check_optimizer_config(value):
    if not isinstance(value, dict):
        raise TypeError(f"set_auto_parallel_context: parallel_optimizer_config must be a dict, but got {_type_name(value)}")
    for key, part in value.items():
        if key not in ('gradient_accumulation_shard', 'parallel_optimizer_threshold', 'optimizer_weight_shard_size', 'optimizer_level'):
            raise ValueError(f"set_auto_parallel_context: parallel_optimizer_config has no option {key!r}")
        if key == 'gradient_accumulation_shard':
            _parallel_bool(key)(part)
        elif key == 'optimizer_level':
            _check_level(part)
        elif key == 'optimizer_weight_shard_size':
            _check_shard_size(part)
        elif isinstance(part, bool) or not isinstance(part, int) or part < 0:
            raise ValueError(f"set_auto_parallel_context: {key} must be an int from 0, but got {part!r}")


def _check_shard_size(value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"set_auto_parallel_context: optimizer_weight_shard_size must be an int, but got {_type_name(value)}")
    if value != -1 and value < 1:
        raise ValueError(f"set_auto_parallel_context: optimizer_weight_shard_size must be positive, or -1 for all, but got {value}")


def _check_level(value):
    if value not in ('level1', 'level2', 'level3'):
        raise ValueError(f"set_auto_parallel_context: optimizer_level must be 'level1', 'level2' or 'level3', but got {value!r}")


def _parallel_bool(key):
    def check(value):
        if not isinstance(value, bool):
            raise TypeError(f"set_auto_parallel_context: {key} must be a bool, but got {_type_name(value)}")
    return check


def _check_strategy_config(value):
    """As MindSpore has it: a dict of load_file, save_file and only_trainable_params."""
    kinds = {'load_file': str, 'save_file': str, 'only_trainable_params': bool}
    if not isinstance(value, dict):
        raise TypeError(f"set_auto_parallel_context: strategy_ckpt_config must be a dict, but got {_type_name(value)}")
    for name, part in value.items():
        if name not in kinds:
            raise ValueError(f"set_auto_parallel_context: strategy_ckpt_config has no key {name!r}; it has {sorted(kinds)}")
        if not isinstance(part, kinds[name]):
            raise TypeError(f"set_auto_parallel_context: {name} of strategy_ckpt_config must be a {kinds[name].__name__}, but got "
                            f"{_type_name(part)}")


def _check_search_mode(value):
    if value not in ('recursive_programming', 'sharding_propagation', 'dynamic_programming'):
        raise ValueError("set_auto_parallel_context: search_mode must be 'recursive_programming', 'sharding_propagation' or 'dynamic_programming', "
                         f"but got {value!r}")


def _check_pipeline_config(value):
    if not isinstance(value, dict):
        raise TypeError(f"For 'set_pipeline_config', the argument 'pipeine_config' must be dict, but got the type : {type(value)}.")
    unknown = [key for key in value if key not in ('pipeline_interleave', 'pipeline_scheduler')]
    if unknown:
        raise ValueError(f"Unknown config: {unknown}")
    _parallel_bool('pipeline_interleave')(value.get('pipeline_interleave', False))
    _check_scheduler(value.get('pipeline_scheduler', '1f1b'))
    if not value.get('pipeline_interleave', False) and value.get('pipeline_scheduler', '1f1b') != '1f1b':
        raise ValueError("When pipeline_interleave is False, pipeline_scheduler must be '1f1b', but got "
                         f"{value['pipeline_scheduler']!r}")


def _check_scheduler(value):
    if value not in ('1f1b', 'gpipe'):
        raise ValueError(f"set_auto_parallel_context: the pipeline scheduler must be '1f1b' or 'gpipe', but got {value!r}")


def _check_stages(value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"set_auto_parallel_context: pipeline_stages must be an int, but got {type(value).__name__}")
    if value < 1:
        raise ValueError(f"set_auto_parallel_context: pipeline_stages must be at least 1, but got {value}")


_FUSION_MODES = {'allreduce': ('auto', 'size', 'index'), 'allgather': ('auto', 'size'), 'reducescatter': ('auto', 'size')}


def _check_fusion(value):
    """As MindSpore has it: {"allreduce": {"mode": "size", "config": 32}}."""
    if value is None:
        return
    if not isinstance(value, dict):
        raise TypeError(f"set_auto_parallel_context: comm_fusion must be a dict, but got {_type_name(value)}")
    for kind, part in value.items():
        if kind == 'openstate':
            _parallel_bool('openstate of comm_fusion')(part)
            continue
        if kind not in _FUSION_MODES:
            raise KeyError(f"set_auto_parallel_context: comm_fusion has no key {kind!r}; it has 'openstate', {', '.join(map(repr, _FUSION_MODES))}")
        if not isinstance(part, dict) or 'mode' not in part or 'config' not in part:
            raise TypeError(f"set_auto_parallel_context: comm_fusion of {kind} must be a dict with 'mode' and 'config', but got {part!r}")
        if part['mode'] not in _FUSION_MODES[kind]:
            raise KeyError(f"set_auto_parallel_context: the mode of {kind} must be one of {_FUSION_MODES[kind]}, but got {part['mode']!r}")
        if part['mode'] == 'index':
            _check_fusion_indices(part['config'])
        elif part['mode'] == 'size' and (isinstance(part['config'], bool) or not isinstance(part['config'], int) or part['config'] < 1):
            raise ValueError(f"set_auto_parallel_context: the size for {kind} must be an int from 1, in MB, but got {part['config']!r}")


def _check_fusion_indices(value):
    if not isinstance(value, list) or not all(isinstance(i, int) and not isinstance(i, bool) and i >= 0 for i in value):
        raise TypeError(f"set_auto_parallel_context: places between gradients must be a list of ints from 0, but got {value!r}")
    if len(set(value)) != len(value):
        raise ValueError(f"set_auto_parallel_context: places between gradients must differ, but got {value}")


_PARALLEL_CHECKS = {'comm_fusion': _check_fusion, 'all_reduce_fusion_config': _check_fusion_indices, 'search_mode': _check_search_mode, 'auto_parallel_search_mode': _check_search_mode,
                    'strategy_ckpt_config': _check_strategy_config, 'pipeline_config': _check_pipeline_config, 'pipeline_scheduler': _check_scheduler, 'pipeline_stages': _check_stages,
                    'parallel_optimizer_config': _check_optimizer_config, 'optimizer_weight_shard_size': _check_shard_size,
                    'optimizer_level': _check_level, 'enable_parallel_optimizer': _parallel_bool('enable_parallel_optimizer')}


# Options that are not done in any job, with the reason; of one process all are its own.
_UNDONE_IN_JOBS = {
    'device_num': "the launcher says how many processes there are", 'global_rank': "the launcher numbers the processes",
    'pipeline_segments': "segments are given by Cells: pipeline_segment, or segment_config of PipelineCell",
    'auto_pipeline': "Cells say which stage they belong to: pipeline_stage", 'grad_accumulation_step': "nn.GradAccumulationCell has the steps",
    'group_ckpt_save_file': "no file of groups is written: every checkpoint is whole, or has a strategy file",
    'dump_local_norm': "norms of gradients are not written", 'dump_local_norm_path': "norms of gradients are not written",
    'dump_device_local_norm': "norms of gradients are not written",
    'loss_repeated_mean': "gradients are those of one process, whatever is computed repeatedly",
    'gradient_fp32_sync': "gradients of data parallelism travel as float32; those of split programs as they are, added in float32",
    'mirror_mean': "gradients_mean says whether gradients are averaged", 'cast_before_mirror': "sums are taken in float32 and rounded once",
    'communi_parallel_mode': "exchanges of a group are made in one order on all processes",
    'fully_use_devices': "processes that a strategy does not need repeat the computation",
    'recompute': "Cell.recompute says what is computed again", 'init_param_in_compile': "Parameters are made when they are needed"}
_OF_REPLICAS = ('loss_repeated_mean', 'gradient_fp32_sync', 'mirror_mean', 'cast_before_mirror', 'communi_parallel_mode', 'fully_use_devices',
                'init_param_in_compile')  # one process does as it is told, whatever they say


def _coming_ranks():
    """Processes of the job, as the launcher says before it has been joined."""
    from spore import _core
    return _ranks() if _core.job_transport() else max(1, _core.job_launched()[0])


def _say_parallel_not_done(key, value):
    several = _coming_ranks() > 1 or bool(os.environ.get('SPORE_SIMULATE'))
    if key == 'parallel_mode' and value != ParallelMode.STAND_ALONE:
        from spore.communication.management import check_launched
        check_launched('set_auto_parallel_context')
    said = f"set_auto_parallel_context: {key}={value!r}"
    if several and key == 'parallel_mode' and value == ParallelMode.HYBRID_PARALLEL:
        not_done(said, "processes share the data and nothing else")
    elif several and key == 'parameter_broadcast' and not value:
        not_done(said, "all begin with the Parameters of process 0")
    elif several:
        if key in _UNDONE_IN_JOBS and value != _true_value(key):
            not_done(said, _UNDONE_IN_JOBS[key])
    elif key in _UNDONE_IN_JOBS:
        if key not in _OF_REPLICAS and value != _true_value(key):
            not_done(said)
    elif key == 'parallel_mode' and value in (ParallelMode.HYBRID_PARALLEL, *_SPLIT_MODES):
        not_done(said)
    elif key == 'dataset_strategy' and value not in ('data_parallel', 'full_batch') or key in _ALONE and value != _PARALLEL[key]:
        not_done(said)


_ALONE = ('strategy_ckpt_load_file', 'strategy_ckpt_save_file', 'strategy_ckpt_config', 'pipeline_stages', 'enable_parallel_optimizer')


def _optimizer_level():
    """1 to 3: of parallel_optimizer_config, where gradient_accumulation_shard means at least 2, else of the option of its own."""
    config = _parallel['parallel_optimizer_config'] or {}
    level = int(config.get('optimizer_level', _parallel['optimizer_level'])[-1])
    return max(level, 2) if config.get('gradient_accumulation_shard') else level


def _fusion(kind):
    """How exchanges of a kind ('allreduce', 'allgather', 'reducescatter') are put together: the most bytes of one, or None as is best; numbers of
    gradients behind which another one begins, or None."""
    config = _parallel['comm_fusion'] or {}
    if not config.get('openstate', True):
        return 0, None
    part = config.get(kind, {})
    indices = part['config'] if part.get('mode') == 'index' else _parallel['all_reduce_fusion_config'] if kind == 'allreduce' and not part else None
    size = {'size': part.get('config', 0) or 0, 'auto': 64}.get(part.get('mode'))
    return size and size << 20, indices or None


_SPLIT_MODES = (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)


def _splits_programs():
    """Whether functions that are compiled now are split over processes."""
    return _parallel['parallel_mode'] in _SPLIT_MODES and _ranks() > 1


def _stages():
    """Stages of the pipeline that functions which are compiled now are divided into."""
    return _parallel['pipeline_stages'] if _splits_programs() else 1


def _row():
    """Processes of one stage."""
    stages = _parallel['pipeline_stages']
    if _ranks() % stages:
        raise RuntimeError(f"set_auto_parallel_context: pipeline_stages={stages} does not divide the {_ranks()} processes of the job")
    return _ranks() // stages


def _data_is_split():
    """Whether a process gives its rows of the batch."""
    return not _parallel['full_batch'] and _parallel['dataset_strategy'] == 'data_parallel'


def _scheduler():
    """The order in which stages work on micro batches."""
    return _parallel['pipeline_config'].get('pipeline_scheduler', _parallel['pipeline_scheduler'])


def _split_key():
    """What programs that are split depend on; None where they are not."""
    if not _splits_programs():
        return None
    return (_parallel['dataset_strategy'], _parallel['full_batch'], _ranks(), _parallel['enable_parallel_optimizer'], _optimizer_level(),
            _parallel['pipeline_stages'], _scheduler(), _parallel['parallel_mode'],
            _parallel['search_mode'])


def _strategy_file(verb):
    """The strategy file to 'load' or 'save', '' for none: of strategy_ckpt_config, else of the option of its own."""
    return _parallel['strategy_ckpt_config'].get(f'{verb}_file') or _parallel[f'strategy_ckpt_{verb}_file']


def _ranks():
    """Processes of the job, as far as it has been joined."""
    from spore import _core
    return _core.comm_info("mccl_world_group")[1] if _core.job_transport() else 1


def _true_value(key):
    """What is so whether it is set or not."""
    from spore import _core
    if key == 'device_num':
        return _coming_ranks()
    if key == 'global_rank':    # only the launcher knows before the job has been joined
        return _core.comm_info("mccl_world_group")[0] if _core.job_transport() else _parallel[key] if _coming_ranks() > 1 else 0
    return _PARALLEL[key]


def get_auto_parallel_context(attr_key):
    """The value of one option of distributed execution."""
    if attr_key not in _parallel:
        raise ValueError(f"get_auto_parallel_context: there is no option {attr_key!r}")
    return _parallel[attr_key]


def reset_auto_parallel_context():
    """All options of distributed execution as at the start."""
    _parallel.clear()
    _parallel.update(_PARALLEL)


_PS = {'enable_ps': False, 'config_file_path': '', 'scheduler_manage_port': 0, 'enable_ssl': False,
       'client_password': '',
       'server_password': ''}
_ps = dict(_PS)


def set_ps_context(**kwargs):
    """Set options of the parameter server; there is none, so enable_ps=True is an error.

    Examples:
        >>> import spore
        >>> spore.set_ps_context(enable_ps=False)
        >>> spore.get_ps_context("enable_ps")
        False
    """
    for key, value in kwargs.items():
        if key not in _PS:
            raise ValueError(f"set_ps_context: there is no option {key!r}")
        if key == 'enable_ps' and value:
            raise NotImplementedError("set_ps_context: training with a parameter server is not supported")
        _ps[key] = value


def get_ps_context(attr_key):
    """The value of one option of the parameter server."""
    if attr_key not in _ps:
        raise ValueError(f"get_ps_context: there is no option {attr_key!r}")
    return _ps[attr_key]


def reset_ps_context():
    """All options of the parameter server as at the start.

    Examples:
        >>> import spore
        >>> spore.reset_ps_context()
        >>> spore.get_ps_context("enable_ps")
        False
    """
    _ps.clear()
    _ps.update(_PS)

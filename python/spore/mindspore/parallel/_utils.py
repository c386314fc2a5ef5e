# SPDX-License-Identifier: Apache-2.0
"""Short questions about distributed execution that model code asks."""
from spore.context import ParallelMode, get_auto_parallel_context

__all__ = []


def _get_parallel_mode():
    return get_auto_parallel_context('parallel_mode')


def _get_gradients_mean():
    return get_auto_parallel_context('gradients_mean')


_get_mirror_mean = _get_gradients_mean  # its name in MindSpore 1.0


def _get_device_num():
    return get_auto_parallel_context('device_num')


def _get_global_rank():
    return get_auto_parallel_context('global_rank')


def _get_enable_parallel_optimizer():
    return get_auto_parallel_context('enable_parallel_optimizer')


def _get_full_batch():
    return get_auto_parallel_context('full_batch')


def _get_pipeline_stages():
    return get_auto_parallel_context('pipeline_stages')


def _get_parameter_broadcast():
    return get_auto_parallel_context('parameter_broadcast')


def _is_in_auto_parallel_mode():
    return _get_parallel_mode() in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)


def _is_in_data_parallel_mode():
    return _get_parallel_mode() == ParallelMode.DATA_PARALLEL


def _is_sharding_propagation():
    return get_auto_parallel_context('auto_parallel_search_mode') == 'sharding_propagation'


def _need_to_full():
    """Whether data of one device would have to be put together from those of all: never on one."""
    return False


def _is_role_sched():
    """Whether this process is the scheduler of a parameter server: there is none."""
    return False


def _device_number_check(parallel_mode, device_number):
    """One device is too few for parallel training that splits."""
    if parallel_mode == ParallelMode.STAND_ALONE and device_number != 1:
        raise ValueError(f"If parallel_mode is {parallel_mode}, device_number must be 1, but got {device_number}.")

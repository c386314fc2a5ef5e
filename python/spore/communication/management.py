# SPDX-License-Identifier: Apache-2.0
"""The processes of a job (ranks) and their groups. A launcher (``mpirun -n 4 spore run train.py``) starts several; without one a job is
rank 0 of 1."""
import os

import numpy as np

from spore._core import type_name as _type_name
from spore import _core

__all__ = ['GlobalComm', 'init', 'release', 'get_rank', 'get_group_size', 'get_world_rank_from_group_rank',
           'get_group_rank_from_world_rank',
           'create_group', 'get_comm_name', 'HCCL_WORLD_COMM_GROUP', 'NCCL_WORLD_COMM_GROUP', 'MCCL_WORLD_COMM_GROUP',
           'get_local_rank',
           'get_local_rank_size', 'destroy_group', 'get_process_group_ranks']

HCCL_WORLD_COMM_GROUP = 'hccl_world_group'
NCCL_WORLD_COMM_GROUP = 'nccl_world_group'
MCCL_WORLD_COMM_GROUP = 'mccl_world_group'
_WORLD = (HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP)
# What launchers of other kinds tell the processes they start: they bring no MPI, so nothing could be exchanged.
_SIZES = ('RANK_SIZE', 'MS_WORKER_NUM')
_RANKS = ('RANK_ID', 'MS_NODE_ID')
_ROLES = ('MS_SCHED', 'MS_PSERVER')


class GlobalComm:
    """What is known about the job."""
    BACKEND = 'mccl'
    WORLD_COMM_GROUP = MCCL_WORLD_COMM_GROUP
    INITED = False
    CHECK_ENVS = True


_job = []  # a number that no other job has


def job_id():
    """A number that the ranks of a job share with no other job; None in a job of one process."""
    return _job[0] if _job else None


def _number(name):
    text = os.environ.get(name, '').strip()
    return int(text) if text.isdecimal() else 0


def check_launched(who):
    """A job of several processes without MPI is refused: each of them would take itself for the only one and write over the others' files."""
    if _core.job_launched()[0] or os.environ.get('SPORE_SIMULATE'):
        return
    for name, most in [(name, 1) for name in _SIZES] + [(name, 0) for name in _RANKS]:
        if _number(name) > most:
            told = f"asks for {os.environ[name]} processes" if most else "says that this is not the first process"
            raise RuntimeError(f"For '{who}', {name}={os.environ[name]} {told}, but no MPI launcher started them: start them with "
                               f"mpirun -n N spore run SCRIPT, or unset {name} for one process.")
    if os.environ.get('MS_ROLE') in _ROLES:
        raise RuntimeError(f"For '{who}', MS_ROLE={os.environ['MS_ROLE']} asks for a process beside the workers, which a job does not need here: "
                           "start the workers alone, with mpirun -n N spore run SCRIPT.")


def _join(who):
    """Become part of the job, once."""
    check_launched(who)
    if _core.job_transport():
        return
    _core.job_join()
    rank, size = _core.comm_info(MCCL_WORLD_COMM_GROUP)[:2]
    if size > 1:
        from spore import context
        from spore.communication import _ending
        os.environ['RANK_ID'] = os.environ['DEVICE_ID'] = str(rank)
        os.environ['RANK_SIZE'] = str(size)
        context._parallel.update(device_num=size, global_rank=rank)
        mine = np.frombuffer(os.urandom(8), np.int64)
        _job.append(int(_core.apply("rank_broadcast", [_core.Tensor(mine)], {"root": 0, "group": MCCL_WORLD_COMM_GROUP}).asnumpy()[0]))
        _ending.watch()


def init(backend_name=None):
    """Join the job that a launcher started, or be a job of one process.

    Args:
        backend_name: "mccl" or None.
    """
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(f"For 'init', 'backend_name' must be a str, but got {_type_name(backend_name)}.")
    if backend_name not in (None, 'mccl'):
        raise RuntimeError(f"For 'init', 'backend_name' must be 'mccl' on the CPU, but got {backend_name!r}.")
    _join('init')
    GlobalComm.INITED = True


def release():
    """Forget the groups that were made. The job itself ends with its processes."""
    GlobalComm.INITED = False
    for name in list(_made):
        _core.comm_drop(name)
    _made.clear()


_made = {}


def _info(who, group):
    """(rank, size, local rank, local size, ranks in the job) of a group."""
    if not isinstance(group, str):
        raise TypeError(f"For '{who}', 'group' must be a str, but got {_type_name(group)}.")
    _join(who)
    if group not in _WORLD and group not in _made:
        raise ValueError(f"For '{who}', there is no group {group!r} that this process is in; create_group makes one.")
    return _core.comm_info(group)


def _ranks(who, group):
    return _info(who, group)[4]


def get_rank(group=GlobalComm.WORLD_COMM_GROUP):
    """Number of this process in a group.

    Examples:
        >>> from spore.communication import get_rank, get_group_size
        >>> get_rank(), get_group_size()
        (0, 1)
    """
    return _info('get_rank', group)[0]


def get_local_rank(group=GlobalComm.WORLD_COMM_GROUP):
    """Number of this process among those of its machine in a group."""
    return _info('get_local_rank', group)[2]


def get_group_size(group=GlobalComm.WORLD_COMM_GROUP):
    """Processes in a group."""
    return _info('get_group_size', group)[1]


def get_local_rank_size(group=GlobalComm.WORLD_COMM_GROUP):
    """Processes of this machine in a group."""
    return _info('get_local_rank_size', group)[3]


def get_process_group_ranks(group=GlobalComm.WORLD_COMM_GROUP):
    """Numbers in the job of a group's processes."""
    return list(_ranks('get_process_group_ranks', group))


def _member(who, ranks, index):
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(f"For '{who}', a rank must be an int, but got {_type_name(index)}.")
    if not 0 <= index < len(ranks):
        raise ValueError(f"For '{who}', rank {index} is not in the group of {len(ranks)}.")
    return ranks[index]


def get_world_rank_from_group_rank(group, group_rank_id):
    """Number in the job of a group's process."""
    return _member('get_world_rank_from_group_rank', _ranks('get_world_rank_from_group_rank', group), group_rank_id)


def get_group_rank_from_world_rank(world_rank_id, group):
    """Number in a group of the job's process."""
    ranks = _ranks('get_group_rank_from_world_rank', group)
    if world_rank_id not in ranks:
        raise ValueError(f"For 'get_group_rank_from_world_rank', rank {world_rank_id} is not in the group {group!r}.")
    return ranks.index(world_rank_id)


def create_group(group, rank_ids, options=None):
    """Make a group of processes: each of them calls it, with the same list. Processes that are not in the list do nothing."""
    if not isinstance(group, str):
        raise TypeError(f"For 'create_group', 'group' must be a str, but got {_type_name(group)}.")
    if not isinstance(rank_ids, list) or not rank_ids or any(isinstance(r, bool) or not isinstance(r, int) for r in rank_ids):
        raise TypeError(f"For 'create_group', 'rank_ids' must be a list of ints, but got {rank_ids!r}.")
    rank, size = _info('create_group', MCCL_WORLD_COMM_GROUP)[:2]
    if len(set(rank_ids)) != len(rank_ids) or not all(0 <= r < size for r in rank_ids):
        raise ValueError(f"For 'create_group', 'rank_ids' must be different numbers from 0 to {size - 1}, the job has {size} "
                         f"process{'es' if size > 1 else ''}, but got {rank_ids!r}.")
    if rank in rank_ids and group not in _made:
        _core.comm_create(group, rank_ids)
        _made[group] = list(rank_ids)


def destroy_group(group):
    """Forget a group."""
    if group in _WORLD:
        raise ValueError("For 'destroy_group', the group of all processes cannot be destroyed.")
    _info('destroy_group', group)
    _core.comm_drop(group)
    del _made[group]


def get_comm_name(group=GlobalComm.WORLD_COMM_GROUP):
    """Name of a group's communicator: the group's."""
    _ranks('get_comm_name', group)
    return group

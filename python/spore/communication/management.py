# SPDX-License-Identifier: Apache-2.0
"""The processes of a job and their groups. A job has one process here: rank 0 of 1."""
import os

__all__ = ['GlobalComm', 'init', 'release', 'get_rank', 'get_group_size', 'get_world_rank_from_group_rank',
           'get_group_rank_from_world_rank',
           'create_group', 'get_comm_name', 'HCCL_WORLD_COMM_GROUP', 'NCCL_WORLD_COMM_GROUP', 'MCCL_WORLD_COMM_GROUP',
           'get_local_rank',
           'get_local_rank_size', 'destroy_group', 'get_process_group_ranks']

HCCL_WORLD_COMM_GROUP = 'hccl_world_group'
NCCL_WORLD_COMM_GROUP = 'nccl_world_group'
MCCL_WORLD_COMM_GROUP = 'mccl_world_group'
_WORLD = (HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP)
# What launchers tell the processes they start.
_SIZES = ('RANK_SIZE', 'MS_WORKER_NUM', 'OMPI_COMM_WORLD_SIZE', 'PMI_SIZE', 'MV2_COMM_WORLD_SIZE')
_RANKS = ('RANK_ID', 'MS_NODE_ID', 'OMPI_COMM_WORLD_RANK', 'PMI_RANK', 'MV2_COMM_WORLD_RANK')
_ROLES = ('MS_SCHED', 'MS_PSERVER')


class GlobalComm:
    """What is known about the job."""
    BACKEND = 'mccl'
    WORLD_COMM_GROUP = MCCL_WORLD_COMM_GROUP
    INITED = False
    CHECK_ENVS = True


_groups = {}


def _number(name):
    text = os.environ.get(name, '').strip()
    return int(text) if text.isdecimal() else 0


def check_alone(who):
    """A job of several processes is refused: each of them would take itself for the only one and write over the others' files."""
    for name, most in [(name, 1) for name in _SIZES] + [(name, 0) for name in _RANKS]:
        if _number(name) > most:
            told = f"asks for {os.environ[name]} processes" if most else "says that this is not the first process"
            raise RuntimeError(f"For '{who}', {name}={os.environ[name]} {told}, but a job has one process so far: start one, without a "
                               f"launcher, or unset {name}.")
    if os.environ.get('MS_ROLE') in _ROLES:
        raise RuntimeError(f"For '{who}', MS_ROLE={os.environ['MS_ROLE']} asks for a process beside the workers, but a job has one process "
                           "so far: start one, without a launcher, or unset MS_ROLE.")


def init(backend_name=None):
    """Join the job: the one process it has.

    Args:
        backend_name: "mccl" or None.
    """
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(f"For 'init', 'backend_name' must be a str, but got {type(backend_name).__name__}.")
    if backend_name not in (None, 'mccl'):
        raise RuntimeError(f"For 'init', 'backend_name' must be 'mccl' on the CPU, but got {backend_name!r}.")
    check_alone('init')
    GlobalComm.INITED = True


def release():
    """Leave the job."""
    GlobalComm.INITED = False
    _groups.clear()


def _ranks(who, group):
    if not isinstance(group, str):
        raise TypeError(f"For '{who}', 'group' must be a str, but got {type(group).__name__}.")
    check_alone(who)
    if group in _WORLD:
        return [0]
    if group not in _groups:
        raise ValueError(f"For '{who}', there is no group {group!r}; create_group makes one.")
    return _groups[group]


def get_rank(group=GlobalComm.WORLD_COMM_GROUP):
    """Number of this process in a group.

    Examples:
        >>> from spore.communication import get_rank, get_group_size
        >>> get_rank(), get_group_size()
        (0, 1)
    """
    return _ranks('get_rank', group).index(0)


def get_local_rank(group=GlobalComm.WORLD_COMM_GROUP):
    """Number of this process among those of its machine in a group."""
    return _ranks('get_local_rank', group).index(0)


def get_group_size(group=GlobalComm.WORLD_COMM_GROUP):
    """Processes in a group."""
    return len(_ranks('get_group_size', group))


def get_local_rank_size(group=GlobalComm.WORLD_COMM_GROUP):
    """Processes of this machine in a group."""
    return len(_ranks('get_local_rank_size', group))


def get_process_group_ranks(group=GlobalComm.WORLD_COMM_GROUP):
    """Numbers in the job of a group's processes."""
    return list(_ranks('get_process_group_ranks', group))


def _member(who, ranks, index):
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(f"For '{who}', a rank must be an int, but got {type(index).__name__}.")
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
    """Make a group of processes; there is one to choose from, number 0."""
    if not isinstance(group, str):
        raise TypeError(f"For 'create_group', 'group' must be a str, but got {type(group).__name__}.")
    if not isinstance(rank_ids, list) or sorted(set(rank_ids)) != [0] or len(rank_ids) != 1:
        raise ValueError(f"For 'create_group', 'rank_ids' must be [0], the job has one process, but got {rank_ids!r}.")
    _groups[group] = [0]


def destroy_group(group):
    """Forget a group."""
    if group in _WORLD:
        raise ValueError("For 'destroy_group', the group of all processes cannot be destroyed.")
    _ranks('destroy_group', group)
    del _groups[group]


def get_comm_name(group=GlobalComm.WORLD_COMM_GROUP):
    """Name of a group's communicator: the group's."""
    _ranks('get_comm_name', group)
    return group

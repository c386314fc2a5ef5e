# SPDX-License-Identifier: Apache-2.0
"""What programs ask of MindSpore's layer below spore.communication: no libraries of other hardware."""
from spore.communication.management import GlobalComm, get_group_size, get_process_group_ranks, get_rank

_GROUPS = {}


class Backend:
    """Names of what carries the exchange."""

    UNDEFINED, HCCL, NCCL, HCCL_MPI, MCCL = 'undefined', 'hccl', 'nccl', 'hccl_mpi', 'mccl'


def _is_available():
    """Can processes exchange?"""
    return True


def _is_initialized():
    """Was `init` called?"""
    return GlobalComm.INITED


def _is_hccl_available():
    """Is the library of Ascend processors there?"""
    return False


_is_nccl_available = _is_mpi_available = _is_hccl_available


def _get_rank_helper(group=None):
    """The number of this process."""
    return get_rank(group or GlobalComm.WORLD_COMM_GROUP)


def _get_size_helper(group=None):
    """The number of processes."""
    return get_group_size(group or GlobalComm.WORLD_COMM_GROUP)


def _get_group_ranks(group=None):
    """The processes of a group."""
    return get_process_group_ranks(group or GlobalComm.WORLD_COMM_GROUP)


def _get_group_map():
    """The groups that were made, with their processes."""
    return _GROUPS


def _remove_group_info(group_name):
    """Forget a group."""
    _GROUPS.pop(group_name, None)

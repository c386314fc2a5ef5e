# SPDX-License-Identifier: Apache-2.0
"""What ranks of one host would all do alike, and one of them does: writing a file. Nothing is exchanged, since a program may leave it to some of its
ranks. A rank announces what it is going to do by a name among the host's sockets, which ends with its process; the lowest rank that has announced it does it."""
import hashlib
import socket

from spore import _core
from spore.communication import management

_announced = {}


def _name(what, rank):
    return "\0spore-" + hashlib.sha256(f"{management.job_id()}\0{what}\0{rank}".encode()).hexdigest()


def announce(what):
    """This rank is going to do it, unless a lower one does."""
    if management.job_id() is None or what in _announced:
        return
    own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    own.bind(_name(what, _core.comm_info(management.MCCL_WORLD_COMM_GROUP)[0]))
    _announced[what] = own


def is_mine(what):
    """Whether no lower rank of this host does it."""
    if management.job_id() is None:
        return True
    announce(what)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asker:
        for rank in range(_core.comm_info(management.MCCL_WORLD_COMM_GROUP)[0]):
            try:
                asker.connect(_name(what, rank))
                return False
            except OSError:
                continue
    return True

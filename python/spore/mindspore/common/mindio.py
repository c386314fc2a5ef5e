# SPDX-License-Identifier: Apache-2.0
"""Checkpoints through MindIO, a cache of files on Ascend machines: used where its package is installed, as in MindSpore."""
from spore import _checkparam, log

__all__ = ["FileSystem", "mindio_preload", "set_mindio_server_info"]

mindio_server_info = {"memfs.data_block_pool_capacity_in_gb": "100"}


def _init_mindio():
    """The module of MindIO, begun; None if it is not installed or does not begin."""
    for name, arguments in (("mindio_acp", {"server_info": mindio_server_info}), ("mindio", {})):
        try:
            module = __import__(name)
        except ImportError:
            continue
        code = module.initialize(**arguments)
        if code == 0:
            return module
        log.warning(f"{name}.initialize answered {code}; files are read without it")
    return None


class FileSystem:
    """How files of checkpoints are opened: ``open(path, *open_args)`` to read, ``create(path, *create_args)`` to append. Those of Python, until
    `_register_mindio_file_system` puts MindIO's in their place.

    Examples:
        >>> from spore.common.mindio import FileSystem
        >>> files = FileSystem()
        >>> files.backend, files.open_args, files.create_args
        ('basic', ('rb',), ('ab',))
    """

    def __init__(self):
        self.create, self.create_args = open, ("ab",)
        self.open, self.open_args = open, ("rb",)
        self.backend = "basic"


def _register_basic_file_system(fs):
    """Files by Python's own functions."""
    fs.__init__()
    return True


def _register_mindio_file_system(fs):
    """Files by MindIO; False without it."""
    mindio = _init_mindio()
    if mindio is None:
        return False
    fs.create, fs.create_args = mindio.create_file, ()
    fs.open, fs.open_args = mindio.open_file, ()
    fs.backend = "mindio"
    return True


def mindio_preload(ckpt_file_name):
    """Have MindIO read a checkpoint ahead of time.

    Args:
        ckpt_file_name: the file.

    Returns:
        Whether it does; False without MindIO.
    """
    _checkparam.check_value_type("ckpt_file_name", ckpt_file_name, str, "mindio_preload")
    mindio = _init_mindio()
    if mindio is None:
        return False
    if not hasattr(mindio, "preload"):
        log.warning("MindIO module does not have preload method")
        return False
    mindio.preload(ckpt_file_name)
    return True


def set_mindio_server_info(data_block_pool_capacity_in_gb=100):
    """How much memory MindIO takes, in GB, when it begins."""
    _checkparam.check_positive_int(data_block_pool_capacity_in_gb, "data_block_pool_capacity_in_gb")
    mindio_server_info["memfs.data_block_pool_capacity_in_gb"] = str(data_block_pool_capacity_in_gb)

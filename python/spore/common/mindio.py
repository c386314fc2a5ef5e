# SPDX-License-Identifier: Apache-2.0
"""Checkpoints through MindIO, a cache of files on Ascend machines: used where its package is installed, as in MindSpore."""
from spore import _checkparam, log

__all__ = ["mindio_preload", "set_mindio_server_info"]

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

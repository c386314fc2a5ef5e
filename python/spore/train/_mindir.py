# SPDX-License-Identifier: Apache-2.0
"""Networks in files: load reads MindIR."""
import os

from spore import _core
from spore.train.serialization import _CIPHERS

__all__ = ["load"]


def load(file_name, **kwargs):
    """Read a network from a MindIR file, to be run by :class:`nn.GraphCell`.

    Files of MindSpore from 1.1 on are read, encrypted ones and those with their weights in further files too.

    Args:
        file_name (str): a file whose name ends in ``.mindir``.
        kwargs: ``dec_key`` (bytes of 16, 24 or 32) of an encrypted file; ``dec_mode``, one of ``"AES-GCM"`` (default),
            ``"AES-CBC"``, ``"SM4-CBC"``, or a function of file name and key that returns the decrypted bytes.

    Returns:
        The network, for ``nn.GraphCell``.

    Raises:
        ValueError: there is no such file, or its name does not end in ``.mindir``.
        RuntimeError: the file is damaged or holds operators that are not supported; all of these are listed.

    Examples:
        >>> import spore as ms
        >>> try:
        ...     ms.load("missing.mindir")
        ... except ValueError:
        ...     print("there is no such file")
        there is no such file
    """
    if not isinstance(file_name, str):
        raise ValueError(f"For 'load', the argument 'file_name' must be string, but got {type(file_name)}.")
    if not file_name.endswith(".mindir"):
        raise ValueError(f"For 'load', the argument 'file_name' should end with '.mindir', but got {file_name!r}.")
    path = os.path.realpath(file_name)
    if not os.path.exists(path):
        raise ValueError(f"For 'load', the file {path!r} does not exist.")
    key, mode = kwargs.get("dec_key"), kwargs.get("dec_mode", "AES-GCM")
    if key is None:
        return _core.model_load(path, "mindir")
    if not isinstance(key, bytes):
        raise ValueError(f"For 'load', the argument 'dec_key' must be bytes, but got {type(key)}.")
    if callable(mode):
        return _core.model_load_memory(mode(path, key), "mindir")
    if mode not in _CIPHERS:
        raise ValueError(f"For 'load', dec_mode must be one of {', '.join(_CIPHERS)} or a function, but got {mode!r}.")
    return _core.model_load(path, None, key, mode)

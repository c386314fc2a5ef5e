# SPDX-License-Identifier: Apache-2.0
"""Networks in files: load reads MindIR, export writes it."""
import inspect
import os
import re

from spore import _core
from spore._core import Tensor
from spore.train.serialization import _CIPHERS

__all__ = ["load", "export"]


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


def _input_names(net, count):
    """Names of the arguments of construct, made up where there are none."""
    try:
        names = [p.name for p in inspect.signature(net.construct).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD]
    except (TypeError, ValueError):
        names = []
    return (names + [f"x{i}" for i in range(len(names), count)])[:count]


def _capture(net, inputs):
    """The net as a recorded function."""
    from spore.graph.compiler import argument_kind, compiled_cell
    compiled = compiled_cell(net)
    return compiled.make_entry([argument_kind(x) for x in inputs], [], len(inputs), []).function


def _check_export(net, inputs, file_name, file_format):
    from spore.nn import Cell
    if file_format not in ("MINDIR", "AIR", "ONNX"):
        raise ValueError(f"For 'export', 'file_format' must be one of ['AIR', 'ONNX', 'MINDIR'], but got {file_format}.")
    if file_format == "AIR":
        raise ValueError("For 'export', AIR files are made by the vendor's own tools: export to MINDIR, then convert that file with "
                         "the converter of the device.")
    if file_format == "ONNX":
        raise ValueError("For 'export', ONNX files are not written: export to MINDIR.")
    if not isinstance(net, Cell):
        raise TypeError(f"For 'export', the argument 'net' must be a Cell, but got {type(net)}.")
    if not isinstance(file_name, str):
        raise ValueError(f"For 'export', the argument 'file_name' must be string, but got {type(file_name)}.")
    if not re.fullmatch(r"[0-9a-zA-Z@_\-.:/\\]+", file_name):
        raise ValueError(f"For 'export', the argument 'file_name' may hold letters, digits and @_-.:/ only, but got {file_name!r}.")
    for x in inputs:
        if not isinstance(x, Tensor):
            raise TypeError(f"For 'export', the inputs must be Tensor, but got {type(x)}.")


def export(net, *inputs, file_name, file_format, **kwargs):
    """Write a network to a MindIR file, which :func:`load` and MindSpore read.

    The network is written as it computes with these inputs: in evaluation unless it is set to training, with the Parameters'
    present contents.

    Args:
        net (Cell): the network.
        inputs (Tensor): what its construct takes; dtypes and shapes count.
        file_name (str): where to; ``.mindir`` is added when it is missing.
        file_format (str): ``"MINDIR"``.
        kwargs: ``enc_key`` (bytes of 16, 24 or 32) to encrypt the file, ``enc_mode``, one of ``"AES-GCM"`` (default),
            ``"AES-CBC"``, ``"SM4-CBC"``.

    Raises:
        ValueError: a wrong file name, format or key.
        NotImplementedError: the network holds operators that have no counterpart in MindIR; all of them are listed.

    Examples:
        >>> import os, tempfile
        >>> import spore as ms
        >>> from spore import nn
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "net.mindir")
        ...     ms.export(nn.ReLU(), ms.Tensor([-1.0, 2.0]), file_name=path, file_format="MINDIR")
        ...     net = nn.GraphCell(ms.load(path))
        >>> print(net(ms.Tensor([-3.0, 4.0])))
        [0. 4.]
    """
    _check_export(net, inputs, file_name, file_format)
    key, mode = kwargs.get("enc_key"), kwargs.get("enc_mode", "AES-GCM")
    if key is not None and mode not in _CIPHERS:
        raise ValueError(f"For 'export', enc_mode must be one of {', '.join(_CIPHERS)}, but got {mode!r}.")
    path = os.path.realpath(file_name)
    path = path if path.endswith(".mindir") else path + ".mindir"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    parameters = dict((p.name, p) for p in net.get_parameters())
    _core.model_save(path, _capture(net, inputs), _input_names(net, len(inputs)), list(parameters), list(parameters.values()), key,
                     mode)

# SPDX-License-Identifier: Apache-2.0
"""Networks in files: load reads MindIR, export writes MindIR and ONNX."""
import os
import re

from spore import _core
from spore.nn.layer._fused import spelled_out
from spore.train import _export
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


def _check_export(net, inputs, file_name, file_format):
    from spore.nn import Cell
    if file_format not in ("MINDIR", "AIR", "ONNX"):
        raise ValueError(f"For 'export', 'file_format' must be one of ['AIR', 'ONNX', 'MINDIR'], but got {file_format}.")
    if file_format == "AIR":
        raise ValueError("For 'export', AIR files are made by the vendor's own tools: export to ONNX, then convert that file with "
                         "the converter of the device.")
    if not isinstance(net, Cell) and not callable(net):
        raise TypeError(f"For 'export', the argument 'net' must be a Cell or a function, but got {type(net)}.")
    if not isinstance(file_name, str):
        raise TypeError(f"For 'export', the argument 'file_name' must be string, but got {type(file_name)}.")
    if not re.fullmatch(r"[0-9a-zA-Z@_\-.:/\\]+", file_name):
        raise ValueError(f"For 'export', the argument 'file_name' may hold letters, digits and @_-.:/ only, but got {file_name!r}.")


def _check_names(what, names, count):
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"For 'export', '{what}' must be a list of str, but got {names!r}.")
    if count is not None and len(names) != count:
        raise ValueError(f"For 'export', '{what}' has {len(names)} names for {count} inputs.")
    return names


def _path(file_name, ending):
    path = os.path.realpath(file_name)
    path = path if path.endswith(ending) else path + ending
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def _export_onnx(net, inputs, file_name, input_names=None, output_names=None, export_params=True, keep_initializers_as_inputs=False,
                 dynamic_axes=None, opset_version=None, external_data_bytes=None):
    if dynamic_axes is not None and not isinstance(dynamic_axes, dict):
        raise ValueError(f"For 'export', 'dynamic_axes' must be a dict, but got {type(dynamic_axes)}.")
    names = _check_names("input_names", input_names, len(inputs)) or _export.input_names(net, len(inputs))
    _check_names("output_names", output_names, None)
    function, other, axes = _export.record(net, inputs, names, dynamic_axes)
    parameters = dict((p.name, p) for p in net.get_parameters())
    flags = 0 if export_params else 2
    _core.model_save(_path(file_name, ".onnx"), function, names, list(parameters), list(parameters.values()), outputs=output_names,
                     other=other, axes=axes, opset=opset_version or 0, flags=flags | bool(keep_initializers_as_inputs), format="onnx",
                     most_bytes=external_data_bytes or 0)


class _Proto:
    """What ``custom_func`` gets: the parts of a MindIR model that it may change. ``user_info`` is kept in the file."""

    _fields = ("ir_version", "producer_name", "model_version", "mind_ir_version", "user_info")

    def __init__(self):
        for name, value in zip(self._fields, ("1.1", "MindSpore", "2.10.0", 3, {})):
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        raise NotImplementedError(f"For 'export', custom_func asks for {name!r}; of a model it may see {', '.join(self._fields)} and change "
                                  "'user_info': change the rest of the file with a library for MindIR afterwards.")

    def __setattr__(self, name, value):
        raise NotImplementedError(f"For 'export', custom_func sets {name!r}; it may change the entries of 'user_info' only.")


def _user_info(custom_func):
    """The texts that custom_func wants to be in the file."""
    proto = _Proto()
    if custom_func is not None:
        custom_func(proto)
    for key, value in proto.user_info.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"For 'export', user_info holds texts under texts, but custom_func set {key!r}: {value!r}.")
    return list(proto.user_info), list(proto.user_info.values())


def _export_mindir(net, inputs, file_name, enc_key=None, enc_mode="AES-GCM", external_data_bytes=None, custom_func=None, **_):
    if enc_key is not None and not isinstance(enc_key, bytes):
        raise ValueError(f"For 'export', the argument 'enc_key' must be bytes, but got {type(enc_key)}.")
    if enc_key is not None and enc_mode not in _CIPHERS:
        raise ValueError(f"For 'export', enc_mode must be one of {', '.join(_CIPHERS)}, but got {enc_mode!r}.")
    names = _export.input_names(net, len(inputs))
    with spelled_out("attention"):
        function, other, axes = _export.record(net, inputs, names)
    parameters = dict((p.name, p) for p in net.get_parameters())
    keys, texts = _user_info(custom_func)
    _core.model_save(_path(file_name, ".mindir"), function, names, list(parameters), list(parameters.values()), enc_key,
                     enc_mode if isinstance(enc_mode, str) else None, other=other, axes=axes, format="mindir",
                     most_bytes=external_data_bytes or 0, info_keys=keys, info=texts)


def _refuse_what_would_be_lost(file_format, options):
    """Options that say what is in the file: one that looks right without them would be worse than none."""
    advice = {"obf_config": "encrypt the file with enc_key instead"}
    if file_format == "ONNX":
        advice["custom_func"] = "change the file with the package onnx afterwards"
        advice["enc_key"] = "ONNX files have no encryption: write MINDIR, or encrypt the file yourself"
    for name, instead in advice.items():
        if options.get(name) is not None:
            raise NotImplementedError(f"For 'export', {name} is not supported for {file_format}; {instead}.")


def export(net, *inputs, file_name, file_format, **kwargs):
    """Write a network to a file: MindIR, which :func:`load` and MindSpore read, or ONNX.

    The network is written as it computes with these inputs: in evaluation unless it is set to training, with the Parameters'
    present contents. Dimensions that ``net.set_inputs`` declared with None are free in the file. Weights of more than 1 GB (ONNX: 2 GB)
    together lie in files beside it; of MindIR the model is then called ``<name>_graph.mindir``.

    Args:
        net (Cell): the network, or a function.
        inputs (Tensor): what its construct takes; dtypes and shapes count. Numbers and other values become part of the network.
        file_name (str): where to; ``.mindir`` or ``.onnx`` is added when it is missing.
        file_format (str): ``"MINDIR"`` or ``"ONNX"``.
        kwargs: ``enc_key`` (bytes of 16, 24 or 32) to encrypt a MindIR file, ``enc_mode``, one of ``"AES-GCM"`` (default),
            ``"AES-CBC"``, ``"SM4-CBC"``; ``custom_func``, called with the model, whose ``user_info`` (a dict of texts) is kept in the
            file. For ONNX: ``opset_version``, 13 to 26 (default 17), and the arguments of
            :func:`spore.onnx.export`.

    Raises:
        ValueError: a wrong file name, format or key.
        NotImplementedError: the network holds operators that have no counterpart there; all of them are listed.

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
    net, inputs = _export.with_tensors_only(net, inputs)
    _refuse_what_would_be_lost(file_format, kwargs)
    known = {"enc_key", "enc_mode", "custom_func", "dataset", "obf_config", "incremental"}
    if file_format == "ONNX":
        _export_onnx(net, inputs, file_name, **{key: value for key, value in kwargs.items() if key not in known})
    else:
        _export_mindir(net, inputs, file_name, **kwargs)

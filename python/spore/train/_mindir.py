# SPDX-License-Identifier: Apache-2.0
"""Networks in files: load reads MindIR, export writes MindIR and ONNX."""
import os
import re
import tempfile

from spore import _core
from spore.nn.layer._fused import spelled_out
from spore.train import _export, _form, _verify
from spore.train.serialization import _CIPHERS

__all__ = ["load", "export", "load_mindir", "save_mindir", "export_split_mindir"]


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
        RuntimeError: the file is damaged, or encrypted with another key, or holds operators that are not supported; all of these are
            listed.

    Examples:
        >>> import spore as ms
        >>> try:
        ...     ms.load("missing.mindir")
        ... except ValueError:
        ...     print("there is no such file")
        there is no such file
    """
    if "obf_func" in kwargs:
        raise NotImplementedError("Dynamic model structure obfuscation is no longer supported.")
    if not isinstance(file_name, str):
        raise ValueError(f"For 'load', the argument 'file_name' must be string, but got {type(file_name)}.")
    if not file_name.endswith(".mindir"):
        raise ValueError(f"For 'load', the argument 'file_name' should end with '.mindir', but got {file_name!r}.")
    path = os.path.realpath(file_name)
    if not os.path.exists(path):
        raise ValueError(f"For 'load', the file {path!r} does not exist.")
    key, mode = kwargs.get("dec_key"), kwargs.get("dec_mode", "AES-GCM")
    if key is not None and not isinstance(key, bytes):
        raise ValueError(f"For 'load', the argument 'dec_key' must be bytes, but got {type(key)}.")
    if key is not None and not callable(mode) and not isinstance(mode, str):
        raise ValueError(f"For 'load', the argument 'dec_mode' must be str or a function, but got {type(mode)}.")
    try:
        if key is None:
            return _core.model_load(path, "mindir")
        if callable(mode):
            return _core.model_load_memory(mode(path, key), "mindir")
        if mode not in _CIPHERS:
            raise ValueError(f"dec_mode must be one of {', '.join(_CIPHERS)} or a function, but got {mode!r}.")
        return _core.model_load(path, None, key, mode)
    except ValueError as error:                 # of the file, its key or the cipher: MindSpore raises RuntimeError for these
        raise RuntimeError(f"Load MindIR failed. {error}") from None


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
    parameters = dict((p.name, p) for p in net.get_parameters())
    flags = (0 if export_params else 2) | bool(keep_initializers_as_inputs)
    path = _path(file_name, ".onnx")

    def put(recording, path, flags):
        _core.model_save(path, recording.functions[0], names, list(parameters), list(parameters.values()), outputs=output_names,
                         others=recording.functions[1:], axes=recording.axes, opset=opset_version or 0, flags=flags, format="onnx",
                         most_bytes=external_data_bytes or 0)

    def save(recording):
        if recording.axes is not None:
            with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
                put(recording, os.path.join(folder, "verified.onnx"), 0)
                _verify.check(os.path.join(folder, "verified.onnx"), "onnx", net, inputs, recording)
        put(recording, path, flags)

    _export.write(net, inputs, names, save, dynamic_axes)


def _changed(data, custom_func):
    """The bytes of a model after custom_func has had it in its hands."""
    from spore.train.mind_ir_pb2 import ModelProto
    model = ModelProto()
    model.ParseFromString(data)
    custom_func(model)
    for key, value in model.user_info.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"For 'export', user_info holds texts under texts, but custom_func set {key!r}: {value!r}.")
    return model.SerializeToString()


def _replace(path, data):
    """Write a file in one step."""
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _save_changed(path, custom_func, enc_key, enc_mode, save):
    """What functions of the user change: the model, the bytes of the file, or both. The model is written to a folder of its own first;
    `save` writes it, given a path."""
    ending = os.path.splitext(path)[1]
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        whole = os.path.join(folder, os.path.basename(path))
        save(whole)
        if not os.path.exists(whole):
            raise NotImplementedError("For 'export', custom_func and enc_mode functions are not supported where weights lie in files beside the "
                                      "model, which they do above 1 GB.")
        with open(whole, "rb") as file:
            data = file.read()
        if custom_func is not None:
            data = _changed(data, custom_func)
        if callable(enc_mode) and enc_key is not None:
            data = enc_mode(data, enc_key)
            if not isinstance(data, bytes):
                raise TypeError(f"For 'export', the function enc_mode must return bytes, but it returned {type(data)}.")
        elif enc_key is not None:
            _replace(whole, data)
            secret = os.path.join(folder, "encrypted" + ending)
            _core.file_encrypt(whole, secret, enc_key, enc_mode)
            with open(secret, "rb") as file:
                data = file.read()
        _replace(path, data)


def _export_mindir(net, inputs, file_name, enc_key=None, enc_mode="AES-GCM", external_data_bytes=None, custom_func=None, **_):
    names = _export.input_names(net, len(inputs))
    parameters = dict((p.name, p) for p in net.get_parameters())
    path = _path(file_name, ".mindir")

    def save(recording):
        form = _form.of_kind(recording.kind) if recording.kind is not None else "-"

        def put(path, key=None, mode=None):
            _core.model_save(path, recording.functions[0], names, list(parameters), list(parameters.values()), key, mode,
                             others=recording.functions[1:], axes=recording.axes, format="mindir", most_bytes=external_data_bytes or 0, form=form)

        def put_verified(path, key=None, mode=None):
            if recording.axes is None:
                put(path, key, mode)
            else:
                _verify.saved(path, lambda written: _verify.check(written, "mindir", net, inputs, recording, key, mode), lambda hidden: put(hidden, key, mode))

        if custom_func is not None or (enc_key is not None and callable(enc_mode)):
            _save_changed(path, custom_func, enc_key, enc_mode, put_verified)
        else:
            put_verified(path, enc_key, enc_mode if isinstance(enc_mode, str) else None)

    with spelled_out("attention"):
        _export.write(net, inputs, names, save)


def _check_options(file_format, enc_key=None, enc_mode="AES-GCM", custom_func=None, obf_config=None, **_):
    """Options that say what is in the file: one that looks right without them would be worse than none."""
    if obf_config is not None:
        raise NotImplementedError("For 'export', obf_config is not supported: MindSpore no longer obfuscates models either; encrypt the file "
                                  "with enc_key instead.")
    if custom_func is not None and file_format != "MINDIR":
        raise ValueError(f"Currently only support custom_func for MindIR format, but got {file_format} format.")
    if custom_func is not None and not callable(custom_func):
        raise TypeError(f"For 'export', custom_func must be a function, but got {type(custom_func)}.")
    if enc_key is None or callable(enc_mode):
        if enc_key is not None and not isinstance(enc_key, bytes):
            raise ValueError(f"For 'export', the argument 'enc_key' must be bytes, but got {type(enc_key)}.")
        return
    if not isinstance(enc_key, bytes):
        raise ValueError(f"For 'export', the argument 'enc_key' must be bytes, but got {type(enc_key)}.")
    if file_format == "ONNX":
        raise ValueError(f"AIR/ONNX only support customized encryption, but got {enc_mode}: write MINDIR, or give a function as enc_mode.")
    if enc_mode not in _CIPHERS:
        raise ValueError(f"MindIR only support {'/'.join(_CIPHERS)} encryption, but got {enc_mode}")


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
            ``"AES-CBC"``, ``"SM4-CBC"``, or a function of bytes and key that returns what is written; ``custom_func``, called with the
            model (a ModelProto, as :func:`load_mindir` gives it) before it is written. For ONNX: ``opset_version``, 13 to 26 (default 17), and the arguments of
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
    if "obf_func" in kwargs:
        raise NotImplementedError("Dynamic model structure obfuscation is no longer supported.")
    _check_options(file_format, **kwargs)
    net, inputs = _export.with_tensors_only(net, inputs)
    known = {"enc_key", "enc_mode", "custom_func", "dataset", "obf_config", "incremental"}
    if file_format == "ONNX":
        options = {key: value for key, value in kwargs.items() if key not in known}
        if kwargs.get("enc_key") is None:
            _export_onnx(net, inputs, file_name, **options)
        else:
            _save_changed(_path(file_name, ".onnx"), None, kwargs["enc_key"], kwargs["enc_mode"],
                          lambda path: _export_onnx(net, inputs, path, **options))
    else:
        _export_mindir(net, inputs, file_name, **kwargs)


def _check_file_name(name):
    if not isinstance(name, str):
        raise TypeError(f"The '{name}' must be string, but got {type(name)}.")
    if name.endswith(("\\", "/")):
        raise ValueError(f"The '{name}' cannot be a directory path.")
    if not re.fullmatch(r"[0-9a-zA-Z@_\-.:/\\]+", name):
        raise ValueError(f"The '{name}' is illegal, it may hold letters, digits and @_-.:/ only.")


def load_mindir(file_name):
    """Read a MindIR file as a message: its fields can be looked at and changed, and :func:`save_mindir` writes it again.

    Args:
        file_name (str): the file.

    Returns:
        ModelProto, with the fields of MindSpore's: ``producer_name``, ``graph``, ``functions``, ``primitives``, ``user_info`` and others.

    Raises:
        TypeError: `file_name` is no str.
        ValueError: there is no such file, or it is no MindIR file.

    Examples:
        >>> import os, tempfile
        >>> import spore as ms
        >>> from spore import nn
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "net.mindir")
        ...     ms.export(nn.ReLU(), ms.Tensor([-1.0, 2.0]), file_name=path, file_format="MINDIR")
        ...     model = ms.load_mindir(path)
        ...     model.user_info["version"] = "7"
        ...     ms.save_mindir(model, path)
        ...     print(ms.load_mindir(path).user_info)
        {'version': '7'}
    """
    from spore.train.mind_ir_pb2 import ModelProto
    _check_file_name(file_name)
    path = os.path.realpath(file_name)
    model = ModelProto()
    try:
        with open(path, "rb") as file:
            model.ParseFromString(file.read())
    except (OSError, ValueError) as error:
        raise ValueError(f"{error}" if isinstance(error, OSError) else f"{path}: {error}; is it encrypted?") from error
    return model


def save_mindir(model, file_name):
    """Write what :func:`load_mindir` gave, with its changes.

    Args:
        model (ModelProto): the model.
        file_name (str): where to; ``.mindir`` is added when it is missing, folders are made.

    Raises:
        TypeError: `model` is no ModelProto.
        ValueError: the file cannot be called so.

    Examples:
        >>> import spore as ms
        >>> try:
        ...     ms.save_mindir(3, "net")
        ... except TypeError:
        ...     print("only models that load_mindir gave")
        only models that load_mindir gave
    """
    from spore.train.mind_ir_pb2 import ModelProto
    _check_file_name(file_name)
    if not isinstance(model, ModelProto):
        raise TypeError(f"For 'save_mindir', the argument 'model' must be ModelProto, but got {type(model)}.")
    _replace(_path(file_name, ".mindir"), model.SerializeToString())


def _save_graph(network, file_name):
    """Write the graphs that graph mode has made of a Cell to a file, as text.

    Args:
        network: a Cell that was called in GRAPH_MODE.
        file_name: where to.
    """
    from spore.graph.compiler import graphs_of
    graphs = graphs_of(network)
    if graphs:
        with open(file_name, "w", encoding="utf-8") as out:
            out.write("\n".join(_core.graph_text(graph) for graph in graphs))


def export_split_mindir(file_name, device_num=8, rank_id=0, dynamic=True, sapp=True):
    """Parts of a model for several devices: not made here, this is one process. Arguments are checked as MindSpore does.

    Args:
        file_name (str): a MindIR file.
        device_num (int): how many devices. Default: ``8``.
        rank_id (int): whose part. Default: ``0``.
        dynamic (bool): whether sizes are free. Default: ``True``.
        sapp (bool): whether a strategy is searched. Default: ``True``.

    Raises:
        ValueError: there is no such file, or its name does not end in ``.mindir``.
        NotImplementedError: always, else.

    Examples:
        >>> import spore as ms
        >>> try:
        ...     ms.export_split_mindir("none.mindir")
        ... except ValueError:
        ...     print("there is no such file")
        there is no such file
    """
    if not isinstance(file_name, str):
        raise ValueError(f"For 'Split MindIR', the argument 'file_name' must be string, but got {type(file_name)}.")
    if not file_name.endswith(".mindir"):
        raise ValueError("For 'Split MindIR', the argument 'file_name'(MindIR file) should end with '.mindir', please input the correct "
                         "'file_name'.")
    if not os.path.exists(file_name):
        raise ValueError("For 'Split MindIR', the argument 'file_name'(MindIR file) does not exist, please check whether the 'file_name' is "
                         "correct.")
    raise NotImplementedError("For 'export_split_mindir', models are not split for several devices: spore runs in one process.")

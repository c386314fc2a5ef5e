# SPDX-License-Identifier: Apache-2.0
"""Saving and loading parameters: what MindSpore's functions of the same names accept, return and raise.

The files are read and written by the engine (src/formats); here are the arguments, and the decision which value goes
into which parameter. A net is changed only after every value has been found to fit. Large tensors that cannot be used
where they lie in the file are read when they are first used (_Waiting), so loading does not wait for the disk.
"""
import atexit
import difflib
import logging
import os
import re
import threading
import types

from spore import _core
from spore._fork import Lock
from spore._printable import printable
from spore.common.foreign import as_tensor, type_name
from spore.train._convert import convert_parameters, foreign_origin, looks_like_torch, origin_of

__all__ = ["save_checkpoint", "load_checkpoint", "load_checkpoint_async", "load_param_into_net",
           "load_segmented_checkpoints", "ckpt_to_safetensors", "safetensors_to_ckpt", "async_ckpt_thread_status"]

_log = logging.getLogger("spore")
_FORMATS = ("ckpt", "safetensors")
_FLOATS = ("Float16", "Float32", "Float64", "BFloat16")
_INTS = ("Int8", "Int16", "Int32", "Int64")
_NAMES_SHOWN = 10
_CIPHERS = ("AES-GCM", "AES-CBC", "SM4-CBC")
# Options of distributed saving: accepted, without meaning in a single process.
_KNOWN_OPTIONS = ("incremental", "global_step_num", "remove_redundancy")


def _spore():
    """The package, imported late: this module is part of what its __init__ loads."""
    import spore
    return spore


# --- checks of arguments ---------------------------------------------------------------------------------------------

def _require_type(function, name, value, types, error=ValueError):
    """MindSpore raises ValueError for most wrong types; `error` tells where it does not."""
    if isinstance(value, types):
        return
    kinds = types if isinstance(types, tuple) else (types,)
    wanted = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
    text = repr(value)
    shown = f"{text} of type" if len(text) < 100 and "\n" not in text else "an object of type"
    raise error(f"For '{function}', the argument '{name}' must be {wanted}, but got {shown} {type_name(value)}.")


def _check_key(function, key, key_name, mode, mode_name, format_name):
    """Key and mode fit each other and the format."""
    _require_type(function, key_name, key, (bytes, type(None)))
    _require_type(function, mode_name, mode, str)
    if format_name == "safetensors" and mode != "AES-GCM":
        raise ValueError(f"For '{function}', when format is 'safetensors', the parameter '{mode_name}' must be set to default value 'AES-GCM', but "
                         f"got {mode!r}.")
    if key is None:
        return
    if format_name == "safetensors":
        raise ValueError(f"For '{function}', safetensors files cannot be encrypted: {key_name} must be None.")
    if mode not in _CIPHERS:
        raise ValueError(f"For '{function}', {mode_name} must be one of {', '.join(_CIPHERS)}, but got {mode!r}.")
    sizes = (16,) if mode == "SM4-CBC" else (16, 24, 32)
    if len(key) not in sizes:
        raise ValueError(f"For '{function}', {key_name} must have {' or '.join(map(str, sizes))} bytes for {mode}, but "
                         f"it has {len(key)}.")


def _target_path(save_obj, name, format_name):
    if format_name not in _FORMATS:
        raise ValueError(f"For 'save_checkpoint', format must be 'ckpt' or 'safetensors', but got {format_name!r}.")
    _require_type("save_checkpoint", "save_obj", save_obj, (_spore().nn.Cell, list, dict), TypeError)
    _require_type("save_checkpoint", "ckpt_file_name", name, str, TypeError)
    path = os.path.realpath(name)
    if not os.path.isdir(path) and not path.endswith(format_name):
        path += "." + format_name
    folder = os.path.dirname(path)
    if os.path.isdir(path):
        raise IsADirectoryError(f"For 'save_checkpoint', {path!r} is a folder; a file name is wanted.")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"For 'save_checkpoint', the folder {folder!r} of {path!r} does not exist.")
    return path


def _check_async(async_save):
    _require_type("save_checkpoint", "async_save", async_save, (bool, str), TypeError)
    if isinstance(async_save, str) and async_save not in ("process", "thread"):
        raise ValueError(f"For 'save_checkpoint', async_save must be True, False, 'process' or 'thread', but got "
                         f"{async_save!r}.")


def _check_prefix(name, prefix):
    """None, or a tuple of prefixes."""
    if prefix is None:
        return None
    _require_type("load_checkpoint", name, prefix, (str, list, tuple), TypeError)
    prefixes = (prefix,) if isinstance(prefix, str) else tuple(prefix)
    if not prefixes:
        raise ValueError(f"For 'load_checkpoint', {name} must not be empty; use None to load everything.")
    for item in prefixes:
        _require_type("load_checkpoint", f"{name} (an element)", item, str, TypeError)
        if not item:
            raise ValueError(f"For 'load_checkpoint', {name} must not contain the empty string: it begins every name.")
    return prefixes


# --- saving ----------------------------------------------------------------------------------------------------------

def _taken(value):
    """Arrays of other packages as Tensors, the rest as it is."""
    made = None if isinstance(value, (str, list, dict)) else as_tensor(value)
    return value if made is None else made


def _entries_of_list(items, choose):
    if not items:
        return []
    parameter, tensor = _spore().Parameter, _spore().Tensor
    of_dicts = isinstance(items[0], dict)
    entries = []
    for i, item in enumerate(items):
        if not of_dicts:
            if not isinstance(item, parameter):
                raise TypeError(f"For 'save_checkpoint', a list must hold Parameters or dicts with 'name' and 'data', "
                                f"but element {i} is {item!r} of type {type_name(item)}.")
            entries.append((item.name, item))
            continue
        if not isinstance(item, dict) or "name" not in item or "data" not in item:
            raise TypeError(f"For 'save_checkpoint', element {i} of the list must be a dict with the keys 'name' and "
                            f"'data', but got {item!r}.")
        _require_type("save_checkpoint", f"'name' of element {i}", item["name"], str, TypeError)
        data = _taken(item["data"])
        _require_type("save_checkpoint", f"'data' of element {i} ('{item['name']}')", data, tensor, TypeError)
        entries.append((item["name"], data))
    return [entry for entry in entries if choose(entry[0])]


def _entries_of_dict(items, choose):
    tensor = _spore().Tensor
    entries = []
    for name, value in items.items():
        if not isinstance(name, str):
            raise TypeError(f"For 'save_checkpoint', the keys of a dict must be str, but got {name!r} of type "
                            f"{type_name(name)}.")
        if not choose(name):
            continue
        value = _taken(value)
        _require_type("save_checkpoint", f"save_obj['{name}']", value, (tensor, str), TypeError)
        entries.append((name, value))
    return entries


def _entries_of(save_obj, choice_func):
    choose = choice_func if choice_func is not None else lambda name: True
    if isinstance(save_obj, list):
        return _entries_of_list(save_obj, choose)
    if isinstance(save_obj, dict):
        return _entries_of_dict(save_obj, choose)
    return [(p.name, p) for _, p in save_obj.parameters_and_names() if choose(p.name)]


def _entries_of_append(append_dict):
    if append_dict is None:
        return []
    _require_type("save_checkpoint", "append_dict", append_dict, dict, TypeError)
    tensor, generator = _spore().Tensor, getattr(_spore(), "Generator", None)
    entries = []
    for name, value in append_dict.items():
        if not isinstance(name, str):
            raise TypeError(f"For 'save_checkpoint', the keys of append_dict must be str, but got {name!r} of type "
                            f"{type_name(name)}.")
        if generator is not None and isinstance(value, generator):
            value = value.get_state()
        elif isinstance(value, (bool, int, float)):
            value = tensor(value)
        elif not isinstance(value, (str, tensor)):
            raise TypeError(f"For 'save_checkpoint', append_dict['{name}'] must be int, float, bool, str, Parameter, "
                            f"Tensor or Generator, but got {value!r} of type {type_name(value)}.")
        entries.append((name, value))
    return entries


def _by_name(entries):
    """Each name once: a Parameter that is met twice is one; two things of one name cannot both be found again."""
    kept = {}
    for name, value in entries:
        if kept.setdefault(name, value) is not value:
            raise ValueError(f"For 'save_checkpoint', two of the values to save have the name {name!r}, and a file holds one of them; give them "
                             f"different names (Parameter(..., name=...), or auto_prefix=True in the Cell that holds them).")
    return kept


def whole_entries(entries):
    """Parameters that are split over processes, put together; all processes come here."""
    from spore import context
    if context._ranks() == 1:
        return entries
    tensor = _spore().Tensor
    return [(name, _core.tensor_whole(value) if isinstance(value, tensor) and value._has_memory and _core.tensor_split(value) else value)
            for name, value in entries]


def gather_for_others(save_obj, choice_func=None):
    """This process does not write; the one that does needs its slices."""
    whole_entries(list(_by_name(_entries_of(save_obj, choice_func)).items()))


class _Writer(threading.Thread):
    """One asynchronous save. The values are its own copies; what goes wrong is kept for whoever joins."""

    def __init__(self, path, entries, *more):
        super().__init__(name="asyn_save_ckpt")
        self.path = path
        self.error = None
        self._work = (path, _core.file_snapshot(entries), *more)

    def run(self):
        try:
            _core.file_save(*self._work)
        except Exception as error:  # pylint: disable=broad-except
            self.error = error
        self._work = None


_writer = None
_writer_lock = Lock()


def _wait_async_save():
    """Join the running asynchronous save, if any, and raise what it failed with."""
    global _writer
    with _writer_lock:
        writer, _writer = _writer, None
    if writer is None:
        return
    writer.join()
    if writer.error is not None:
        raise writer.error


def _join_writer_of(path):
    """Let an asynchronous save of the file end; what it failed with stays for whoever asks."""
    writer = _writer
    if writer is not None and writer.path == path:
        writer.join()


def _start_async_save(*work):
    global _writer
    _wait_async_save()
    with _writer_lock:
        _writer = _Writer(*work)
        _writer.start()


@atexit.register
def _report_last_async_save():
    try:
        _wait_async_save()
    except Exception as error:  # pylint: disable=broad-except
        _log.error("An asynchronous save_checkpoint failed: %s", error)


def async_ckpt_thread_status():
    """True while an asynchronous save is being written."""
    writer = _writer
    return writer is not None and writer.is_alive()


def save_checkpoint(save_obj, ckpt_file_name, integrated_save=True, async_save=False, append_dict=None, enc_key=None,
                    enc_mode="AES-GCM", choice_func=None, crc_check=False, format="ckpt", **kwargs):
    """Save parameters into a file, which is replaced in one step, when everything is on disk.

    Args:
        save_obj (Union[Cell, list, dict]): A Cell; a list of Parameters, or of dicts like
            ``{"name": "w", "data": tensor}``; a dict from names to Parameters, Tensors, numpy arrays or str.
        ckpt_file_name (str): ``.ckpt`` (or ``.safetensors``) is appended when the name does not end so.
        integrated_save (bool): Gather parameters that are split over processes. Default: ``True``.
        async_save (Union[bool, str]): ``True``, ``"thread"`` or ``"process"``: copy the values and return; a thread
            writes them. The next asynchronous save raises what this one failed with. Default: ``False``.
        append_dict (dict): More values: int, float, bool, str, Parameter, Tensor or Generator. Default: ``None``.
        enc_key (bytes): Encrypt the file with this key of 16, 24 or 32 bytes. Default: ``None``.
        enc_mode (str): ``"AES-GCM"``, ``"AES-CBC"`` or ``"SM4-CBC"`` (keys of 16 bytes). Default: ``"AES-GCM"``.
        choice_func (function): Called with each name; a false answer leaves it out. Default: ``None``.
        crc_check (bool): Store a checksum. Encrypted files have none. Default: ``False``.
        format (str): ``"ckpt"`` or ``"safetensors"``. Default: ``"ckpt"``.
        kwargs: Options of distributed saving.

    Raises:
        TypeError: An argument, or a value to save, has the wrong type.
        ValueError: An argument has a wrong value.
        OSError: The file cannot be written; the old one is intact.
    """
    path = _target_path(save_obj, ckpt_file_name, format)
    _require_type("save_checkpoint", "integrated_save", integrated_save, bool, TypeError)
    _check_async(async_save)
    appended = _entries_of_append(append_dict)
    _check_key("save_checkpoint", enc_key, "enc_key", enc_mode, "enc_mode", format)
    _require_type("save_checkpoint", "crc_check", crc_check, bool)
    _require_type("save_checkpoint", "remove_redundancy", kwargs.get("remove_redundancy"), (type(None), bool))
    if crc_check and enc_key is not None:
        _log.warning("For 'save_checkpoint', crc_check has no effect on an encrypted file.")
    for name in kwargs:
        if name not in _KNOWN_OPTIONS:
            _log.warning("For 'save_checkpoint', the argument '%s' is not known and has no effect.", name)
    entries = list({**_by_name(_entries_of(save_obj, choice_func)), **dict(appended)}.items())
    if integrated_save:
        entries = whole_entries(entries)
    notes = {}
    if format == "safetensors":
        notes = {"format": "ms"}
        if kwargs.get("remove_redundancy"):
            notes["remove_redundancy"] = "True"
    work = (path, entries, notes, format, crc_check and enc_key is None, enc_key, enc_mode)
    if async_save:
        _start_async_save(*work)
        return
    _join_writer_of(path)  # or the earlier save would replace this one
    _core.file_save(*work)


# --- loading ---------------------------------------------------------------------------------------------------------

def _source_path(name, format_name):
    if format_name not in _FORMATS:
        raise ValueError(f"For 'load_checkpoint', format must be 'ckpt' or 'safetensors', but got {format_name!r}.")
    _require_type("load_checkpoint", "ckpt_file_name", name, str, TypeError)
    path = os.path.realpath(name)
    writer = _writer
    if writer is not None and writer.path == path:
        _wait_async_save()  # what is being written now is what the caller means
    exists = os.path.exists(path) or os.path.exists(path + ".index")
    if not name.endswith(format_name) and (format_name != "ckpt" or not exists):
        raise ValueError(f"For 'load_checkpoint', the file name must end in '{format_name}', which is the argument "
                         f"'format', but got {name!r}.")
    if not exists:
        raise ValueError(f"For 'load_checkpoint', the file {path!r} does not exist.")
    return path


def _read_bundle(path, crc_check, key, mode):
    try:
        bundle = _core.file_load(path, None, crc_check, key, mode)
    except (OSError, RuntimeError, ValueError) as error:
        raise ValueError(f"For 'load_checkpoint', the checkpoint cannot be read: {error}") from error
    if crc_check and not {"crc", "crc_num"} & set(bundle.notes()):
        _log.warning("For 'load_checkpoint', %s has no checksum: nothing could be verified.", path)
    return bundle


def _chooser(keep, drop, choice_func):
    if keep is not None or drop is not None:
        return lambda name: (keep is None or name.startswith(keep)) and not (drop is not None and name.startswith(drop))
    if choice_func is None:
        return lambda name: True

    def choose(name):
        try:
            return choice_func(name)
        except Exception as error:
            raise ValueError(f"For 'load_checkpoint', choice_func({name!r}) failed: {error}") from error
    return choose


class _Waiting:
    """Contents of a Parameter that are still in the file; init_data() of the Parameter asks for them."""

    __slots__ = ("_bundle", "_index")

    def __init__(self, bundle, index):
        self._bundle = bundle
        self._index = index

    def read(self):
        """A new Tensor, in memory of its own."""
        return self._bundle.copy(self._index)

    def __reduce__(self):
        """Copies and pickles of the Parameter hold the contents themselves; nothing waits for them."""
        return type(None), ()


def _parameter_on(bundle, index, name):
    """A Parameter that shows the memory of the file where it can; Parameter(tensor) would copy it."""
    parameter = _spore().Parameter(0.0, name=name)
    if bundle.waits(index):
        dtype, shape = bundle.shape(index)
        parameter._wait_for(_Waiting(bundle, index), getattr(_spore(), dtype), shape)
    else:
        parameter._rebind(bundle.value(index))
    return parameter


def _read_chosen(bundle, choose):
    result = {}
    origin = foreign_origin(bundle)
    for index, name in enumerate(bundle.names()):
        if choose(name):
            if bundle.shape(index) is None:
                result[name] = bundle.value(index)
                continue
            result[name] = _parameter_on(bundle, index, name)
            if origin is not None:
                result[name]._origin = origin
    return result


def load_checkpoint(ckpt_file_name, net=None, strict_load=False, filter_prefix=None, dec_key=None, dec_mode="AES-GCM",
                    specify_prefix=None, choice_func=None, crc_check=False, remove_redundancy=False, format="ckpt"):
    """Load parameters from a file: a MindSpore checkpoint, or one of the other formats that `spore inspect` knows
    (safetensors, PyTorch, TensorFlow, numpy), told by the contents.

    Args:
        ckpt_file_name (str): Path of the file.
        net (Cell): The values are put into its parameters, see :func:`load_param_into_net`. Default: ``None``.
        strict_load (bool): See :func:`load_param_into_net`. Default: ``False``.
        filter_prefix (Union[str, list[str], tuple[str]]): Leave out names that begin so. Default: ``None``.
        dec_key (bytes): Key of an encrypted file. Default: ``None``.
        dec_mode (str): ``"AES-GCM"``, ``"AES-CBC"`` or ``"SM4-CBC"``. Default: ``"AES-GCM"``.
        specify_prefix (Union[str, list[str], tuple[str]]): Take only names that begin so. Default: ``None``.
        choice_func (function): Called with each name when no prefix is given; a false answer leaves it out.
        crc_check (bool): Verify the checksum. Default: ``False``.
        remove_redundancy (bool): For files of data-parallel jobs stored without repetition. Default: ``False``.
        format (str): ``"ckpt"`` or ``"safetensors"``: what the name must end in, if the file does not exist.

    Returns:
        dict, from names to Parameters (or str), in the order of the file.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: The file cannot be read, is damaged, or nothing is left after choosing.
    """
    keep = _check_prefix("specify_prefix", specify_prefix)
    drop = _check_prefix("filter_prefix", filter_prefix)
    _require_type("load_checkpoint", "crc_check", crc_check, bool)
    _require_type("load_checkpoint", "remove_redundancy", remove_redundancy, bool)
    path = _source_path(ckpt_file_name, format)
    _check_key("load_checkpoint", dec_key, "dec_key", dec_mode, "dec_mode", format)
    bundle = _read_bundle(path, crc_check, dec_key, dec_mode)
    result = _read_chosen(bundle, _chooser(keep, drop, choice_func))
    if not result:
        raise ValueError(f"For 'load_checkpoint', nothing is left to load from {path!r}: it has {len(bundle)} "
                         f"entries, and specify_prefix, filter_prefix and choice_func choose none of them.")
    if net is not None:
        load_param_into_net(net, result, strict_load, remove_redundancy)
    return result


class ParamDictFuture:
    """A dict of parameters that is being loaded."""

    def __init__(self, load):
        self._result = self._error = None
        self._thread = threading.Thread(target=self._run, args=(load,), name="load_checkpoint_async")
        self._thread.start()

    def _run(self, load):
        try:
            self._result = load()
        except Exception as error:  # pylint: disable=broad-except
            self._error = error

    def result(self):
        """Wait for it. Raises what loading failed with."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._result


def load_checkpoint_async(ckpt_file_name, net=None, strict_load=False, filter_prefix=None, dec_key=None,
                          dec_mode="AES-GCM", specify_prefix=None, choice_func=None):
    """Load parameters in the background. The arguments are those of :func:`load_checkpoint`.

    Returns:
        An object whose ``result()`` waits and gives the dict.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> ms.save_checkpoint(nn.Dense(2, 3), "dense.ckpt")
        >>> future = ms.load_checkpoint_async("dense.ckpt")
        >>> sorted(future.result())
        ['bias', 'weight']
    """
    return ParamDictFuture(lambda: load_checkpoint(ckpt_file_name, net, strict_load, filter_prefix, dec_key, dec_mode,
                                                   specify_prefix, choice_func))


def load_segmented_checkpoints(ckpt_file_dir, net=None, strict_load=False, filter_prefix=None, dec_key=None,
                               dec_mode="AES-GCM", specify_prefix=None, choice_func=None):
    """Load all ``.ckpt`` files of a folder, which together hold one model. See :func:`load_checkpoint`.

    Returns:
        dict, from names to Parameters (or str).

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: It is not a folder, there is no such file in it, or one cannot be read.

    Examples:
        >>> import os
        >>> import spore as ms
        >>> os.makedirs("parts", exist_ok=True)
        >>> ms.save_checkpoint({"a": ms.Tensor([1.0])}, "parts/1.ckpt")
        >>> ms.save_checkpoint({"b": ms.Tensor([2.0])}, "parts/2.ckpt")
        >>> sorted(ms.load_segmented_checkpoints("parts"))
        ['a', 'b']
    """
    _require_type("load_segmented_checkpoints", "ckpt_file_dir", ckpt_file_dir, str, TypeError)
    if not os.path.isdir(ckpt_file_dir):
        raise ValueError(f"For 'load_segmented_checkpoints', {ckpt_file_dir!r} is not a folder.")
    files = sorted(name for name in os.listdir(ckpt_file_dir) if name.endswith(".ckpt"))
    if not files:
        raise ValueError(f"For 'load_segmented_checkpoints', there is no .ckpt file in {ckpt_file_dir!r}.")
    result = {}
    for name in files:
        result.update(load_checkpoint(os.path.join(ckpt_file_dir, name), None, strict_load, filter_prefix, dec_key,
                                      dec_mode, specify_prefix, choice_func))
    if net is not None:
        load_param_into_net(net, result, strict_load)
    return result


# --- one format into another -----------------------------------------------------------------------------------------

def _convert_file(function, source, save_path, name_map, ending):
    folder = save_path if save_path is not None else os.path.dirname(os.path.realpath(source))
    os.makedirs(folder, exist_ok=True)
    values = load_checkpoint(source)
    for name in set(name_map or ()) - set(values):
        _log.warning("For '%s', name_map has '%s', which is not in %s.", function, name, source)
    renamed = {(name_map or {}).get(name, name): value for name, value in values.items()}
    if len(renamed) != len(values):
        raise ValueError(f"For '{function}', name_map gives several parameters of {source!r} the same name.")
    target = os.path.join(folder, os.path.splitext(os.path.basename(source))[0] + "." + ending)
    save_checkpoint(renamed, target, format=ending)


def _convert_files(function, file_path, save_path, name_map, regex, processes_num, endings):
    """Convert one file, or those of a folder and of its rank_* folders."""
    _require_type(function, "file_path", file_path, str)
    _require_type(function, "save_path", save_path, (str, type(None)))
    _require_type(function, "name_map", name_map, (dict, type(None)))
    _require_type(function, "processes_num", processes_num, int)
    old, new = endings
    if os.path.isfile(file_path):
        if not file_path.endswith("." + old):
            raise ValueError(f"For '{function}', the file name must end in .{old}, but got {file_path!r}.")
        _convert_file(function, file_path, save_path, name_map, new)
        return
    if not os.path.isdir(file_path):
        raise ValueError(f"For '{function}', file_path must be a file or a folder that exists, but got {file_path!r}.")
    found = 0
    for folder, _, names in sorted(os.walk(file_path)):
        below = os.path.relpath(folder, file_path)
        target = None if save_path is None else os.path.normpath(os.path.join(save_path, below))
        for name in sorted(names):
            if name.endswith("." + old) and (regex is None or re.search(regex, name)):
                _convert_file(function, os.path.join(folder, name), target, name_map, new)
                found += 1
    if found == 0:
        raise ValueError(f"For '{function}', no file in {file_path!r} ends in .{old}"
                         f"{'' if regex is None else f' and matches {regex!r}'}.")


def ckpt_to_safetensors(file_path, save_path=None, name_map=None, file_name_regex=None, processes_num=1):
    """Write the parameters of checkpoints into safetensors files.

    Args:
        file_path (str): A ``.ckpt`` file, or a folder: then all such files in it and below.
        save_path (str): Where to write; ``None``: beside each file. Default: ``None``.
        name_map (dict): From old to new names. Default: ``None``.
        file_name_regex (str): Of a folder, only files whose name matches. Default: ``None``.
        processes_num (int): Accepted; one process reads and writes. Default: ``1``.

    Raises:
        ValueError: There is nothing to convert, or a file cannot be read.

    Examples:
        >>> import spore as ms
        >>> ms.save_checkpoint({"w": ms.Tensor([1.0, 2.0])}, "w.ckpt")
        >>> ms.ckpt_to_safetensors("w.ckpt")
        >>> print(ms.load_checkpoint("w.safetensors", format="safetensors")["w"].asnumpy())
        [1. 2.]
    """
    _convert_files("ckpt_to_safetensors", file_path, save_path, name_map, file_name_regex, processes_num,
                   ("ckpt", "safetensors"))


def safetensors_to_ckpt(file_path, save_path=None, name_map=None, file_name_regex=None, processes_num=1):
    """Write the parameters of safetensors files into checkpoints. Arguments as of :func:`ckpt_to_safetensors`.

    Examples:
        >>> import spore as ms
        >>> ms.save_checkpoint({"w": ms.Tensor([1.0, 2.0])}, "w.safetensors", format="safetensors")
        >>> ms.safetensors_to_ckpt("w.safetensors")
        >>> print(ms.load_checkpoint("w.ckpt")["w"].asnumpy())
        [1. 2.]
    """
    _convert_files("safetensors_to_ckpt", file_path, save_path, name_map, file_name_regex, processes_num,
                   ("safetensors", "ckpt"))


# --- into a net ------------------------------------------------------------------------------------------------------

def _check_parameter_dict(net, parameter_dict):
    """The dict with other packages' arrays as Tensors."""
    _require_type("load_param_into_net", "net", net, _spore().nn.Cell, TypeError)
    _require_type("load_param_into_net", "parameter_dict", parameter_dict, dict, TypeError)
    values = {}
    for name, value in parameter_dict.items():
        taken = value if isinstance(value, (_spore().Parameter, str, list)) else as_tensor(value)
        if not isinstance(name, str) or taken is None or type(value) is _spore().Tensor:       # MindSpore refuses Tensors
            raise TypeError(f"For 'load_param_into_net', parameter_dict must map str to Parameter or to an array, but got the key "
                            f"{name!r} of type {type_name(name)} with a value of type {type_name(value)}.")
        values[name] = taken
    return parameter_dict if all(values[name] is value for name, value in parameter_dict.items()) else values


def _convertible(old, new):
    return any(str(old) in kinds and str(new) in kinds for kinds in (_FLOATS, _INTS))


def _fit(param, value, strict_load):
    """What to put into param, and None; or None and why it does not fit."""
    split = _core.tensor_split(param) if param._has_memory else None
    shape, stored = split[0] if split and tuple(value.shape) != tuple(param.shape) else tuple(param.shape), tuple(value.shape)
    # Some devices store trailing dimensions of 1 that the parameter does not have.
    if stored[:len(shape)] != shape or any(n != 1 for n in stored[len(shape):]):
        return None, f"its shape is {shape}, the value's {stored}"
    if value.dtype != param.dtype:
        if strict_load or not _convertible(param.dtype, value.dtype):
            return None, f"its dtype is {param.dtype}, the value's {value.dtype}"
        value = value.astype(param.dtype)
    return (value if stored == shape else value.reshape(shape)), None


def _put(param, value):
    """The value's contents into param: from the file at once, when they still wait there, so that they are in memory
    once and the value goes on waiting."""
    if getattr(value, "_waits", False) and tuple(value.shape) == tuple(param.shape) and value.dtype == param.dtype:
        param._rebind(value._waiting.read())
    else:
        param.set_data(value)


def _find_prefix(missing, values):
    """The first prefix under which a missing name is found in the dict; None if there is none."""
    for name in missing:
        for stored in values:
            if stored.endswith(name):
                return stored[:len(stored) - len(name)]
    return None


def _match(params, parameter_dict, strict_load):
    """Pairs (parameter, value), names without a value, names that were not used, prefixes that were left out of names."""
    tensors = {name: value for name, value in parameter_dict.items() if not isinstance(value, (str, list))}
    pairs = [(p, tensors[p.name]) for p in params if p.name in tensors]
    used = {p.name for p, _ in pairs}
    # Parameters that collect gradients belong to a run, not to a model. A text is no value, but its name is there.
    missing = {p.name: p for p in params if p.name not in parameter_dict and not p.name.startswith("accu_grads")}
    prefixes = []
    while missing and not strict_load:
        prefix = _find_prefix(missing, tensors)
        if prefix is None:
            break
        prefixes.append(prefix)
        found = [name for name in missing if prefix + name in tensors]
        pairs += [(missing.pop(name), tensors[prefix + name]) for name in found]
    return pairs, list(missing), [name for name in parameter_dict if name not in used], prefixes


def _shown(names, others):
    """Names for a message, each with the most similar one of the other side."""
    parts = []
    for name in names[:_NAMES_SHOWN]:
        near = difflib.get_close_matches(name, others, 1)
        parts.append(f"{name!r} (nearest: {near[0]!r})" if near else repr(name))
    if len(names) > _NAMES_SHOWN:
        parts.append(f"and {len(names) - _NAMES_SHOWN} more")
    return ", ".join(parts)


def _refuse_nothing(given, missing, report, strict_load):
    """A net whose parameters get nothing at all stays random: that is an error, unless there was nothing to load either."""
    values = [name for name, value in given.items() if not isinstance(value, (str, list))]
    if not values:
        return
    if report is not None:
        raise RuntimeError(f"For 'load_param_into_net', none of {len(values)} values fits the net, which is left unchanged: {printable(report)}\n"
                           "  spore.train.convert_parameters(net, values, name_map={...}) takes names that are not found by themselves")
    strict = "; strict_load=True takes equal names only" if strict_load else ""
    raise RuntimeError(f"For 'load_param_into_net', none of {len(values)} values has the name of one of the net's {len(missing)} parameters, "
                       f"and the net is left unchanged: the values are {_shown(values, missing)}; the parameters {_shown(missing, values)}{strict}.")


def _alike(prefix, params, unused):
    """Values that were not taken though they have a name of the net's behind another prefix of as many parts: '1.weight' beside '0.weight'."""
    names = {p.name for p in params}
    parts = prefix.count(".")
    return [name for name in unused if not name.startswith(prefix) and name.count(".") >= parts and name.split(".", parts)[-1] in names]


def _report_load(say, report, prefixes, params, unused):
    """How names were matched: worth a warning only where something is missing, or where other values could have been meant."""
    if report is not None:
        say("For 'load_param_into_net': %s", printable(report))
    for prefix in prefixes:
        others = _alike(prefix, params, unused)
        text = "For 'load_param_into_net', names in the checkpoint begin with '%s', which the net does not have: loaded without it%s."
        if others:
            _log.warning(text, prefix, f"; there are others with these names, which were not used: {_shown(others, ())}")
        else:
            say(text, prefix, "")


def _conversions(converted):
    """Of each pair of dtypes how many, and some names."""
    kinds = {}
    for param, value in converted:
        kinds.setdefault(f"{value.dtype} to {param.dtype}", []).append(param.name)
    return "; ".join(f"{kind}: {_shown(names, ())}" for kind, names in kinds.items())


def load_param_into_net(net, parameter_dict, strict_load=False, remove_redundancy=False):
    """Put values into the parameters of a net, by name. Nothing is changed unless all of them fit.

    Args:
        net (Cell): The net.
        parameter_dict (dict): Names and Parameters, as :func:`load_checkpoint` returns.
        strict_load (bool): ``False``: names may have a common prefix that the net's do not have, and floats and signed
            integers are converted to the parameter's dtype. Default: ``False``.
        remove_redundancy (bool): Only in data-parallel jobs. Default: ``False``.

    Returns:
        tuple, the names of parameters that got no value, and the names in the dict that were not used (names that
        matched without their prefix are among these).

    Raises:
        TypeError: An argument, a key or a value has the wrong type.
        RuntimeError: A value has another shape, or a dtype that is not converted; or no parameter gets a value.
    """
    parameter_dict = _check_parameter_dict(net, parameter_dict)
    _require_type("load_param_into_net", "strict_load", strict_load, bool, TypeError)
    _require_type("load_param_into_net", "remove_redundancy", remove_redundancy, bool)
    if remove_redundancy:
        raise TypeError("For 'load_param_into_net', remove_redundancy=True needs a job of several processes, but this "
                        "is a single one.")
    params = [p for _, p in net.parameters_and_names()]
    report = None
    given = parameter_dict
    if not strict_load and (origin_of(parameter_dict) is not None or looks_like_torch(parameter_dict, params)):
        parameter_dict, report = convert_parameters(net, parameter_dict)
    pairs, missing, unused, prefixes = _match(params, parameter_dict, strict_load)
    if missing and not pairs:
        _refuse_nothing(given, missing, report, strict_load)
    fits, wrong, converted = [], [], []
    for param, value in pairs:
        data, reason = _fit(param, value, strict_load)
        if reason is None:
            fits.append((param, data))
            if data.dtype != value.dtype:
                converted.append((param, value))
        else:
            wrong.append(f"{param.name!r}: {reason}")
    if wrong:
        raise RuntimeError(f"For 'load_param_into_net', {len(wrong)} of {len(pairs)} values do not fit the net, which "
                           f"is left unchanged: {'; '.join(wrong[:_NAMES_SHOWN])}"
                           f"{'; ...' if len(wrong) > _NAMES_SHOWN else ''}.")
    for param, data in fits:
        _put(param, data)
    _report_load(_log.warning if missing else _log.info, report, prefixes, params, unused)
    if converted:
        _log.warning("For 'load_param_into_net', %d of %d values have another dtype than their parameters and were converted, %s.",
                     len(converted), len(pairs), _conversions(converted))
    if missing:
        _log.warning("For 'load_param_into_net', %d parameters of the net have no value and stay as they are: %s.",
                     len(missing), _shown(missing, unused))
        if unused:
            _log.warning("For 'load_param_into_net', %d values were not used: %s.", len(unused),
                         _shown(unused, missing))
    return missing, unused


def _get_merged_param_data(net, *arguments):
    """The data of a Parameter, of all processes' parts: (net, [layout,] name, data, integrated_save). There is one process."""
    return arguments[-2]


# --- names that programs take from MindSpore's module ----------------------------------------------------------------

def _update_param(param, new_param, strict_load):
    """The value of one Parameter into another, if it fits."""
    value, problem = _fit(param, new_param, strict_load)
    if problem is not None:
        raise RuntimeError(f"For 'load_param_into_net', '{param.name}' cannot be loaded: {problem}.")
    _put(param, value)


def _load_dismatch_prefix_params(net, parameter_dict, param_not_load, strict_load):
    """Load Parameters whose names have something in front in the dict; the names in `param_not_load` that are found leave it."""
    params = {p.name: p for _, p in net.parameters_and_names() if p.name in param_not_load}
    pairs, missing, _, _ = _match(list(params.values()), parameter_dict, strict_load)
    for param, value in pairs:
        _update_param(param, value, strict_load)
        param_not_load.remove(param.name)
    return missing


def _exec_save(ckpt_file_name, data_list, enc_key=None, enc_mode="AES-GCM", map_param_inc=False, crc_check=False, format="ckpt",
               remove_redundancy=None):
    """Write a dict of name to [shape, dtype's name, array] as a checkpoint."""
    spore = _spore()
    items = [{"name": name, "data": spore.Tensor(value[2]).reshape(tuple(value[0]))} for name, value in data_list.items()]
    save_checkpoint(items, ckpt_file_name, enc_key=enc_key, enc_mode=enc_mode, crc_check=crc_check, format=format)


class _Element:
    """One entry of a checkpoint: tag (its name) and tensor (dims, tensor_type, tensor_content), both the entry itself and its
    tensor in one."""

    def __init__(self, name, value):
        self.tag, self.tensor = name, self
        if isinstance(value, str):
            self.dims, self.tensor_type, self.tensor_content = [0], "str", value.encode("utf-32-le")
        else:
            array = value.asnumpy() if value.dtype != _spore().bfloat16 else value.view(_spore().uint16).asnumpy()
            self.dims, self.tensor_type, self.tensor_content = list(value.shape) or [0], str(value.dtype), array.tobytes()

    def ByteSize(self):
        """How much it holds."""
        return len(self.tensor_content)


def _parse_ckpt_proto(ckpt_file_name, dec_key, dec_mode, crc_check=False):
    """The entries of a checkpoint in the order of the file, as `value` of the object answered."""
    bundle = _read_bundle(_source_path(ckpt_file_name, "ckpt"), bool(crc_check), dec_key, dec_mode or "AES-GCM")
    return types.SimpleNamespace(value=[_Element(name, bundle.value(index)) for index, name in enumerate(bundle.names())])


def _load_map_parameter(checkpoint, parameter_dict):
    """Entries without contents would be hash tables of embeddings."""
    raise NotImplementedError(f"the checkpoint's entry '{checkpoint.tag}' holds no Tensor; tables of MapParameter are not read")


def _convert_save_obj_to_param_list(save_obj, integrated_save, append_dict, choice_func):
    """What save_checkpoint would write: a list of dicts with name and data."""
    if isinstance(save_obj, _spore().nn.Cell):
        save_obj = {parameter.name: parameter for parameter in save_obj.get_parameters()}
    if isinstance(save_obj, dict):
        save_obj = [{"name": name, "data": data} for name, data in save_obj.items()]
    chosen = [item for item in save_obj if choice_func is None or choice_func(item["name"])]
    return chosen + [{"name": name, "data": data} for name, data in (append_dict or {}).items()]


# names that MindSpore's file has from others, and programs take from it
_FROM = {"Parameter": "common.Parameter", "Tensor": "common.Tensor", "Tensor_": "common.Tensor", "Generator": "common.Generator",
         "Validator": "_checkparam", "context": "context", "logger": "log",
         "mstype": "common.dtype", "nn": "nn", "initializer": "common.initializer.initializer", "Cast": "ops.Cast",
         "get_rank": "communication.get_rank", "get_group_size": "communication.get_group_size",
         "get_parameter_redundancy": "train._utils.get_parameter_redundancy", "mindspore": "",
         "get_ckpt_path_with_strategy": "parallel.get_ckpt_path_with_strategy", "new_build_searched_strategy": "parallel.build_searched_strategy",
         "new_load_distributed_checkpoint": "parallel.load_distributed_checkpoint", "new_merge_sliced_parameter": "parallel.merge_sliced_parameter",
         "new_restore_group_info_list": "parallel.restore_group_info_list", "FileSystem": "common.mindio.FileSystem",
         "_register_basic_file_system": "common.mindio._register_basic_file_system",
         "_register_mindio_file_system": "common.mindio._register_mindio_file_system"}


def _from_elsewhere(place):
    import importlib
    import spore
    if not place:
        return spore
    if place in ("nn", "context", "log", "_checkparam", "common.dtype"):
        return importlib.import_module("spore." + place)
    home, _, last = place.rpartition(".")
    return getattr(importlib.import_module("spore." + home), last)


def __getattr__(name):
    if name in _FROM:
        return _from_elsewhere(_FROM[name])
    if name == "cpu_cast":
        return _from_elsewhere("ops.Cast")()
    if name in ("export", "load", "load_mindir", "export_split_mindir", "_save_graph"):
        from spore.train import _mindir
        return getattr(_mindir, name)
    if name in ("tensor_to_ms_type", "tensor_to_np_type"):
        from spore.common import dtype
        kinds = ("Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float16", "Float32", "Float64", "Bool",
                 "BFloat16", "Complex64", "Complex128")
        by_name = {kind: getattr(dtype, "bool_" if kind == "Bool" else kind.lower()) for kind in kinds}
        if name == "tensor_to_np_type":
            by_name = {kind: dtype.dtype_to_nptype(value) for kind, value in by_name.items() if kind != "BFloat16"}
        return {**by_name, "str": "string"} if name == "tensor_to_ms_type" else by_name
    if name in ("merge_sliced_parameter", "build_searched_strategy", "load_distributed_checkpoint", "restore_group_info_list",
                "sync_pipeline_shared_parameters"):
        from spore.parallel import checkpoint_transform
        return getattr(checkpoint_transform, name)
    raise AttributeError(f"module 'spore.train.serialization' has no attribute '{name}'")

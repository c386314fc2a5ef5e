# SPDX-License-Identifier: Apache-2.0
"""Checkpoints while training."""
import os
import time

from spore._core import Tensor, type_name as _type_name
from spore.common.generator import Generator
from spore.communication import _once
from spore.train import _restart
from spore.nn.cell import Cell
from spore.train.callback._callback import Callback
from spore.train.serialization import _wait_async_save, gather_for_others, save_checkpoint

__all__ = ['CheckpointConfig', 'ModelCheckpoint', 'CheckpointManager']

_INFO = ('epoch_num', 'step_num')


def _count(name, value):
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For 'CheckpointConfig', '{name}' must be an int, but got {_type_name(value)}.")
    if value < 0:
        raise ValueError(f"For 'CheckpointConfig', '{name}' must not be negative, but got {value}.")
    return value


def _of_type(name, value, kinds, error=TypeError):
    if not isinstance(value, kinds):
        wanted = ' or '.join(k.__name__ for k in (kinds if isinstance(kinds, tuple) else (kinds,)))
        raise error(f"For 'CheckpointConfig', '{name}' must be a {wanted}, but got {_type_name(value)}.")
    return value


class CheckpointConfig:
    """When ModelCheckpoint saves and how many files it keeps.

    Args:
        save_checkpoint_steps: save every so many steps.
        save_checkpoint_seconds: save every so many seconds, if no steps are given.
        keep_checkpoint_max: keep so many files, remove the oldest.
        keep_checkpoint_per_n_minutes: keep one file for so many minutes, if no number of files is given.
        integrated_save: whether parts on several devices are put together.
        async_save: whether to save in the background.
        saved_network: the network to save instead of the trained one.
        append_info: list of "epoch_num", "step_num" and a dict of further values to save.
        enc_key, enc_mode: key and kind of encryption.
        exception_save: whether to save when training ends with an exception.
        crc_check: whether to write a checksum.
        remove_redundancy: for several devices only.
        format: "ckpt" or "safetensors".

    Examples:
        >>> from spore.train import CheckpointConfig
        >>> CheckpointConfig(save_checkpoint_steps=100, keep_checkpoint_max=3).keep_checkpoint_max
        3
    """

    def __init__(self, save_checkpoint_steps=1, save_checkpoint_seconds=0, keep_checkpoint_max=5,
                 keep_checkpoint_per_n_minutes=0,
                 integrated_save=True, async_save=False, saved_network=None, append_info=None, enc_key=None,
                 enc_mode='AES-GCM',
                 exception_save=False, crc_check=False, remove_redundancy=False, format='ckpt', **kwargs):
        steps = _count('save_checkpoint_steps', save_checkpoint_steps)
        seconds = _count('save_checkpoint_seconds', save_checkpoint_seconds)
        most = _count('keep_checkpoint_max', keep_checkpoint_max)
        minutes = _count('keep_checkpoint_per_n_minutes', keep_checkpoint_per_n_minutes)
        if not (steps or seconds or most or minutes):
            raise ValueError("For 'CheckpointConfig', 'save_checkpoint_steps', 'save_checkpoint_seconds', "
                             "'keep_checkpoint_max' and "
                             "'keep_checkpoint_per_n_minutes' must not all be None or 0.")
        self._save_checkpoint_steps = steps
        self._save_checkpoint_seconds = None if steps else seconds
        self._keep_checkpoint_max = most or (most if minutes else 1)
        self._keep_checkpoint_per_n_minutes = None if most else minutes
        if saved_network is not None:
            _of_type('saved_network', saved_network, Cell)
        self._saved_network = saved_network
        self._integrated_save = _of_type('integrated_save', integrated_save, bool)
        self._async_save = _of_type('async_save', async_save, (bool, str))
        if isinstance(async_save, str) and async_save not in ('process', 'thread'):
            raise ValueError(f"For 'CheckpointConfig', 'async_save' must be a bool, 'process' or 'thread', but got {async_save!r}.")
        self._append_dict = _append_info(append_info)
        self._enc_key = _of_type('enc_key', enc_key, (bytes, type(None)), ValueError)
        self._enc_mode = _of_type('enc_mode', enc_mode, str, ValueError)
        self.exception_save = _of_type('exception_save', exception_save, bool)
        self._crc_check = _of_type('crc_check', crc_check, bool, ValueError)
        self._format = _of_type('format', format, str, ValueError)
        if format == 'safetensors' and (enc_key is not None or enc_mode != 'AES-GCM' or crc_check or exception_save):
            raise ValueError("For 'CheckpointConfig', the format 'safetensors' has no encryption, checksum or "
                             "exception_save.")
        if _of_type('remove_redundancy', remove_redundancy, bool, ValueError):
            raise TypeError("For 'CheckpointConfig', 'remove_redundancy' needs several devices, there is one.")
        self._map_param_inc = kwargs.get('incremental', False)

    save_checkpoint_steps, save_checkpoint_seconds, keep_checkpoint_max, keep_checkpoint_per_n_minutes, saved_network, integrated_save, \
        async_save, append_dict, enc_key, enc_mode, crc_check, format, map_param_inc = (
            property(lambda self, name=name: getattr(self, name)) for name in (
                '_save_checkpoint_steps', '_save_checkpoint_seconds', '_keep_checkpoint_max', '_keep_checkpoint_per_n_minutes',
                '_saved_network', '_integrated_save', '_async_save', '_append_dict', '_enc_key', '_enc_mode', '_crc_check', '_format',
                '_map_param_inc'))

    def get_checkpoint_policy(self):
        """What was asked for, as a dict."""
        return {name: getattr(self, name) for name in ('save_checkpoint_steps', 'save_checkpoint_seconds',
                                                       'keep_checkpoint_max',
                                                        'keep_checkpoint_per_n_minutes', 'saved_network')}


def _append_info(append_info):
    if not append_info:
        return None
    _of_type('append_info', append_info, list)
    values = {name: 0 for name in _INFO if name in append_info}
    dicts = [element for element in append_info if isinstance(element, dict)]
    if len(dicts) > 1:
        raise TypeError(f"For 'CheckpointConfig', 'append_info' can hold one dict, but got {len(dicts)}.")
    for element in append_info:
        _of_type('append_info', element, (str, dict))
        if isinstance(element, str) and element not in _INFO:
            raise ValueError(f"For 'CheckpointConfig', a str in 'append_info' must be one of {list(_INFO)}, but got "
                             f"{element!r}.")
    for key, value in (dicts[0] if dicts else {}).items():
        if not isinstance(key, str) or not isinstance(value, (int, float, bool, str, Tensor, Generator)):
            raise TypeError(f"For 'CheckpointConfig', the dict in 'append_info' must map str to int, float, bool, str "
                            "or Tensor, but "
                            f"got {_type_name(key)} to {_type_name(value)}.")
        values[key] = value
    return values


class CheckpointManager:
    """The files saved so far under a prefix."""

    def __init__(self, format='ckpt'):
        self._ckpoint_filelist = []
        self._format = format

    @property
    def ckpoint_filelist(self):
        """Their paths."""
        return self._ckpoint_filelist

    @property
    def ckpoint_num(self):
        """Their number."""
        return len(self._ckpoint_filelist)

    def update_ckpoint_filelist(self, directory, prefix):
        """Look for the files again."""
        end = '.' + self._format
        self._ckpoint_filelist = [
            os.path.join(directory, name) for name in os.listdir(directory)
            if name.startswith(prefix + '-') and name.endswith(end)
            and not any(c.isalpha() for c in name[len(prefix):-len(end)])]

    def remove_ckpoint_file(self, file_name):
        """Remove a file; one that is gone already is fine."""
        try:
            os.chmod(file_name, 0o600)
            os.remove(file_name)
        except FileNotFoundError:
            pass
        if file_name in self._ckpoint_filelist:
            self._ckpoint_filelist.remove(file_name)

    def remove_oldest_ckpoint_file(self):
        """Remove the file that was written first."""
        self.remove_ckpoint_file(min(self._ckpoint_filelist, key=lambda name: (os.path.getmtime(name), name)))

    def keep_one_ckpoint_per_minutes(self, minutes, cur_time):
        """Of the files younger than so many minutes, keep the oldest."""
        young = sorted((f for f in self._ckpoint_filelist if cur_time - os.path.getmtime(f) < 60 * minutes),
                       key=os.path.getmtime)
        for name in young[1:]:
            self.remove_ckpoint_file(name)


def unused_prefix(directory, prefix):
    """The prefix with a number behind it if files of an earlier run have it: CKP, CKP_1, CKP_2."""
    number = 0
    for name in os.listdir(directory):
        stem, end = os.path.splitext(name)
        if end not in ('.ckpt', '.safetensors') or stem.endswith('_breakpoint') or not name.startswith(prefix):
            continue
        rest = stem[len(prefix):]
        if rest.startswith('-'):
            number = max(number, 1)
        elif rest.startswith('_') and rest[1:].partition('-')[0].isdigit() and '-' in rest:
            number = max(number, int(rest[1:].partition('-')[0]) + 1)
    return f'{prefix}_{number}' if number else prefix


def _chg_ckpt_file_name_if_same_exist(directory, prefix, exception=False):
    """`unused_prefix` under MindSpore's name; after an exception the prefix stays."""
    return prefix if exception else unused_prefix(directory, prefix)


class ModelCheckpoint(Callback):
    """Saves the trained network as ``prefix-epoch_step.ckpt``, at the times its config says and at the end.

    Args:
        prefix: start of the file names, or a function of the run's parameters that gives the whole name.
        directory: where to save, or a function of the run's parameters; it is made if it does not exist.
        config: a CheckpointConfig.
    """

    def __init__(self, prefix='CKP', directory=None, config=None):
        super().__init__()
        if not callable(prefix) and (not isinstance(prefix, str) or '/' in prefix):
            raise ValueError(f"For 'ModelCheckpoint', 'prefix' must be a function or a str without '/', but got "
                             f"{prefix!r}.")
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(f"For 'ModelCheckpoint', 'config' must be a CheckpointConfig, but got "
                            f"{_type_name(config)}.")
        self._config = config or CheckpointConfig()
        self._prefix_func = prefix if callable(prefix) else None
        self._directory_func = directory if callable(directory) else None
        self._prefix = self._exception_prefix = prefix
        self._directory = None
        if not self._directory_func:
            self._directory = os.path.realpath(directory) if directory is not None else os.getcwd()
            os.makedirs(self._directory, exist_ok=True)
            if not self._prefix_func:
                self._prefix = unused_prefix(self._directory, prefix)
                if _restart.attempt():
                    self._prefix = _restart.prefix_of(self._directory, prefix, self._config.format, self._prefix)
                _once.announce(self._place())
        self._manager = CheckpointManager(self._config.format)
        self._append_dict = self._config.append_dict or {}
        self._append_epoch_num = self._append_dict.get('epoch_num', 0)
        self._append_step_num = self._append_dict.get('step_num', 0)
        self._latest_ckpt_file_name = ''
        self._last_triggered_step = 0
        self._last_time = self._last_time_for_keep = time.time()

    def _place(self):
        """Where files go: ranks that save to the same place save once."""
        return f"{self._directory}\0{self._prefix}"

    @property
    def latest_ckpt_file_name(self):
        """Path of the file saved last."""
        return self._latest_ckpt_file_name

    def step_end(self, run_context):
        params = run_context.original_args()
        if self._prefix_func:
            self._prefix = self._prefix_func(params)
            if not isinstance(self._prefix, str) or '/' in self._prefix:
                raise ValueError(f"For 'ModelCheckpoint', 'prefix' must return a str without '/', but got "
                                 f"{self._prefix!r}.")
        if self._directory_func:
            self._directory = self._directory_func(params)
            os.makedirs(self._directory, exist_ok=True)
        self._save(params, False)

    def end(self, run_context):
        self._save(run_context.original_args(), True)
        if self._config.async_save:
            _wait_async_save()  # who trained may want the file now

    def _is_time(self, step, at_end):
        if self._config.save_checkpoint_steps:
            return at_end or step >= self._last_triggered_step + self._config.save_checkpoint_steps
        if self._config.save_checkpoint_seconds:
            now = time.time()
            if at_end or now - self._last_time > self._config.save_checkpoint_seconds:
                self._last_time = now
                return True
        return False

    def _make_room(self, more=0):
        """Remove what is too much; `more` files may be there when the new one is among them."""
        self._manager.update_ckpoint_filelist(self._directory, self._prefix)
        most, minutes = self._config.keep_checkpoint_max, self._config.keep_checkpoint_per_n_minutes
        if most:
            while self._manager.ckpoint_num >= most + more:
                self._manager.remove_oldest_ckpoint_file()
        elif minutes and time.time() - self._last_time_for_keep < minutes * 60:
            self._manager.keep_one_ckpoint_per_minutes(minutes, time.time())
        self._last_time_for_keep = time.time()

    def _save(self, params, at_end):
        if params.cur_step_num == self._last_triggered_step or not self._is_time(params.cur_step_num, at_end):
            return
        if self._prefix_func:
            name = f'{self._prefix}.{self._config.format}'
        else:
            step = (params.cur_step_num - 1) % params.batch_num + 1
            name = f'{self._prefix}-{params.cur_epoch_num}_{step}.{self._config.format}'
        self._last_triggered_step = params.cur_step_num
        notes = _restart.notes(params.cur_step_num) if _restart.enabled() else {}
        if not _once.is_mine(self._place()):
            self._latest_ckpt_file_name = os.path.join(self._directory, name)
            if self._config.integrated_save:
                gather_for_others(self._config.saved_network or params.train_network)
            if notes:
                _restart.wait_for_all()
            return
        if self._config.async_save:
            _wait_async_save()  # the last file counts
        if not notes:
            self._make_room()
        self._write(params, os.path.join(self._directory, name), params.cur_epoch_num, params.cur_step_num, notes)
        if notes:  # nothing that all have is removed before all have the next one
            if self._config.async_save:
                _wait_async_save()
            _restart.wait_for_all()
            self._make_room(1)

    def _write(self, params, path, epoch, step, notes=None):
        if 'epoch_num' in self._append_dict:
            self._append_dict['epoch_num'] = self._append_epoch_num + epoch
        if 'step_num' in self._append_dict:
            self._append_dict['step_num'] = self._append_step_num + step
        network = self._config.saved_network or params.train_network
        appended = {**self._append_dict, **(notes or {})}
        save_checkpoint(network, path, self._config.integrated_save, self._config.async_save, appended or None,
                        self._config.enc_key, self._config.enc_mode, crc_check=self._config.crc_check,
                        format=self._config.format)
        self._latest_ckpt_file_name = path

    def save_after_exception(self, params, epoch, step):
        """Save as ``prefix-epoch_step_breakpoint.ckpt``, when the config asks for it."""
        if self._config.exception_save and not self._prefix_func and not self._directory_func:
            self._write(params, os.path.join(self._directory,
                                             f'{self._exception_prefix}-{epoch}_{step}_breakpoint.ckpt'), epoch, step)

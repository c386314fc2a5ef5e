# SPDX-License-Identifier: Apache-2.0
"""Callbacks for trainings that may be cut off: copies to go on from, and an orderly end on request."""
import json
import os
import shutil
import signal
import threading

from spore._core import type_name as _type_name
from spore.nn.cell import Cell
from spore.train.callback._callback import Callback
from spore.train.serialization import load_checkpoint, load_param_into_net, save_checkpoint

__all__ = ['BackupAndRestore', 'OnRequestExit', 'TrainFaultTolerance']


class BackupAndRestore(Callback):
    """Keeps a copy of the Parameters in a folder while training, and takes it back when a training begins.

    Args:
        backup_dir: the folder.
        save_freq: 'epoch' to save after every epoch, or after how many epochs.
        delete_checkpoint: whether the copy is removed when the training has ended.

    Examples:
        >>> import tempfile
        >>> from spore.train import BackupAndRestore
        >>> backup = BackupAndRestore(tempfile.mkdtemp())
    """

    def __init__(self, backup_dir, save_freq='epoch', delete_checkpoint=True):
        super().__init__()
        if not isinstance(backup_dir, str):
            raise TypeError(f"For 'BackupAndRestore', 'backup_dir' must be a str, but got {_type_name(backup_dir)}.")
        if not backup_dir:
            raise ValueError("For 'BackupAndRestore', 'backup_dir' must not be empty.")
        if save_freq != 'epoch' and (isinstance(save_freq, bool) or not isinstance(save_freq, int)):
            raise TypeError(f"For 'BackupAndRestore', 'save_freq' must be 'epoch' or an int, but got {save_freq!r}.")
        if save_freq != 'epoch' and save_freq < 1:
            raise ValueError(f"For 'BackupAndRestore', 'save_freq' must be 'epoch' or a positive int, but got {save_freq!r}.")
        if not isinstance(delete_checkpoint, bool):
            raise TypeError(f"For 'BackupAndRestore', 'delete_checkpoint' must be a bool, but got {_type_name(delete_checkpoint)}.")
        self._folder, self._every, self._remove = backup_dir, 1 if save_freq == 'epoch' else save_freq, delete_checkpoint
        self._file = os.path.join(backup_dir, 'backup.ckpt')

    def on_train_begin(self, run_context):
        """A copy that is there is loaded; the epoch it was made in counts on."""
        args = run_context.original_args()
        if os.path.exists(self._file):
            saved = load_checkpoint(self._file)
            args.last_save_ckpt_step = args.cur_step_num = int(saved.pop('cur_step_num').item()) if 'cur_step_num' in saved else 0
            if 'cur_epoch_num' in saved:
                args.cur_epoch_num = int(saved.pop('cur_epoch_num').item())
            load_param_into_net(args.train_network, saved)

    def on_train_epoch_end(self, run_context):
        """The copy is made when it is its turn."""
        args = run_context.original_args()
        if args.cur_epoch_num % self._every == 0:
            os.makedirs(self._folder, exist_ok=True)
            save_checkpoint(args.train_network, self._file, append_dict={'cur_epoch_num': args.cur_epoch_num,
                                                                         'cur_step_num': args.cur_step_num})

    def on_train_end(self, run_context):
        """The training has ended: the copy is not needed."""
        if self._remove and os.path.exists(self._file):
            shutil.rmtree(self._folder, ignore_errors=True)


class OnRequestExit(Callback):
    """Ends a training after the step it is in when the process gets a signal, or a JSON file says ``{"GracefulExit": 1}``; the state is
    saved before.

    Args:
        save_ckpt, save_mindir: whether a checkpoint and a MindIR file are written.
        file_name, directory: their name and folder.
        config_file: the JSON file, or None.
        sig: the signal.

    Examples:
        >>> from spore.train import OnRequestExit
        >>> stop = OnRequestExit(save_mindir=False, file_name='LeNet')
    """

    def __init__(self, save_ckpt=True, save_mindir=True, file_name='Net', directory='./', config_file=None, sig=signal.SIGTERM):
        super().__init__()
        for name, flag in (('save_ckpt', save_ckpt), ('save_mindir', save_mindir)):
            if not isinstance(flag, bool):
                raise ValueError(f"For 'OnRequestExit', '{name}' must be a bool, but got {_type_name(flag)}.")
        if not isinstance(file_name, str) or not file_name:
            raise ValueError(f"For 'OnRequestExit', 'file_name' must be a str that is not empty, but got {file_name!r}.")
        if config_file is not None and not isinstance(config_file, str):
            raise ValueError(f"For 'OnRequestExit', 'config_file' must be a str or None, but got {_type_name(config_file)}.")
        self.exit, self.save_ckpt, self.save_mindir, self.config_file, self.sig = False, save_ckpt, save_mindir, config_file, sig
        self._path, self._before = os.path.join(directory, file_name), None

    def on_train_begin(self, run_context):
        """Listen for the signal."""
        self.exit = False
        if threading.current_thread() is threading.main_thread():   # others cannot listen
            self._before = signal.signal(self.sig, self._asked)

    on_eval_begin = on_train_begin

    def _asked(self, number, frame):
        self.exit = True

    def _told(self):
        if self.config_file is None or not os.path.exists(self.config_file):
            return False
        try:
            with open(self.config_file, encoding='utf-8') as file:
                return int(json.load(file).get('GracefulExit', 0)) == 1
        except (ValueError, OSError):
            return False                 # half written, perhaps: ask again after the next step

    def on_train_step_end(self, run_context):
        """Stop if that was asked for."""
        if self.exit or self._told():
            self.exit = True
            self._save(run_context.original_args())
            run_context.request_stop()

    def on_train_epoch_end(self, run_context):
        """Stop if that was asked for."""
        if self.exit:
            run_context.request_stop()

    def on_eval_step_end(self, run_context):
        """Stop if that was asked for."""
        if self.exit or self._told():
            run_context.request_stop()

    def _save(self, args):
        network = args.train_network if isinstance(args.train_network, Cell) else args.network
        folder = os.path.dirname(self._path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        if self.save_ckpt:
            save_checkpoint(network, self._path + '_train.ckpt', append_dict={'epoch_num': args.cur_epoch_num,
                'step_num': args.cur_step_num})
        if self.save_mindir and args.get('train_dataset_element') is not None:
            from spore.train import export
            inputs = args.train_dataset_element
            inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
            export(args.train_network, *inputs, file_name=self._path + '_train', file_format='MINDIR')

    def _restore(self):
        if self._before is not None:
            signal.signal(self.sig, self._before)
            self._before = None

    def on_train_end(self, run_context):
        """Listen no more."""
        self._restore()

    def on_eval_end(self, run_context):
        """Listen no more."""
        self._restore()


class TrainFaultTolerance(Callback):
    """Lets a training of several Ascend processes outlive the failure of one, with the package mindio_ttp. There are no such processes
    here: it can be imported and its arguments are checked, but not made.

    Args:
        ckpt_save_path: where a checkpoint is saved at a failure.
        kwargs: `ckpt_save_fn`, a function that saves one, and others.

    Examples:
        >>> from spore.train import TrainFaultTolerance
        >>> TrainFaultTolerance()
        Traceback (most recent call last):
        ValueError: TrainFaultTolerance construct need to set ckpt_save_fn or ckpt_save_path!
    """

    def __init__(self, ckpt_save_path=None, **kwargs):
        super().__init__()
        if ckpt_save_path is None and kwargs.get('ckpt_save_fn') is None:
            raise ValueError("TrainFaultTolerance construct need to set ckpt_save_fn or ckpt_save_path!")
        raise ValueError("TrainFaultTolerance needs several Ascend processes and the package mindio_ttp (MS_ENABLE_TFT), which a CPU does "
                         "not have; use ModelCheckpoint or BackupAndRestore to go on from saved Parameters.")

    @classmethod
    def get_optimizer_wrapper(cls, origin_opt_cls):
        """A class of optimizers that takes the steps of `origin_opt_cls` and would report them to the package mindio_ttp. Without it there is
        nobody to report to: the steps are the same."""
        if not isinstance(origin_opt_cls, type):
            raise TypeError(f"get_optimizer_wrapper: origin_opt_cls must be a class of optimizers, but got {_type_name(origin_opt_cls)}")
        return type("TFTOptSnapShotCls", (origin_opt_cls,), {"__doc__": origin_opt_cls.__doc__, "__module__": cls.__module__})

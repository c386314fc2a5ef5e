# SPDX-License-Identifier: Apache-2.0
"""What the parts of mindrecord share: results, checks of arguments, and the way from the engine's errors to MindSpore's."""
import contextlib
import enum
import os
import threading

from spore.mindrecord.common.exceptions import ParamValueError

MIN_SHARD_COUNT, MAX_SHARD_COUNT = 1, 1000
MIN_CONSUMER_COUNT = 1


class MSRStatus(enum.IntEnum):
    """How a conversion ended."""
    SUCCESS = 0
    FAILED = 1


SUCCESS, FAILED = MSRStatus.SUCCESS, MSRStatus.FAILED


class Unset(int):
    """A default that can be told from the same number given by the caller."""


def check_filename(path, arg_name=''):
    """Refuse what MindSpore refuses as the name of a file."""
    name = f"'{arg_name}'" if arg_name else 'File path'
    if not path:
        raise ParamValueError(f'{name} is not allowed None or empty!')
    if not isinstance(path, str):
        raise ParamValueError(f'File path: {path} is not string.')
    if path.endswith('/'):
        raise ParamValueError("File path can not end with '/'")
    base = os.path.basename(path)
    if set(base) & set('\\/:*?"<>|`&\';'):
        raise ParamValueError('File name should not contains \\/:*?\\"<>|`&;\\\'')
    if base.startswith(' ') or base.endswith(' '):
        raise ParamValueError('File name should not start/end with space.')
    return True


def check_filenames(file_name):
    """The same for one name or a list of them."""
    for name in file_name if isinstance(file_name, list) and file_name else [file_name]:
        check_filename(name)


def check_consumers(count):
    """Threads that read: the engine needs none, but wrong numbers are told."""
    if count is None:
        raise ParamValueError('Parameter num_consumer is None.')
    if isinstance(count, bool) or not isinstance(count, int):
        raise ParamValueError('Parameter num_consumer is not int.')
    most = os.cpu_count() or 1
    if not isinstance(count, Unset) and not MIN_CONSUMER_COUNT <= count <= most:
        raise ParamValueError(f'Parameter num_consumer: {count} should between {MIN_CONSUMER_COUNT} and {most}.')


@contextlib.contextmanager
def engine_errors():
    """What goes wrong with files is a RuntimeError in MindSpore."""
    try:
        yield
    except (OSError, ValueError, TypeError, KeyError, IndexError, NotImplementedError) as error:
        text = error.args[0] if error.args else str(error)
        raise RuntimeError(text) from error


class ExceptionThread(threading.Thread):
    """A thread that keeps the exception that ended it: `exception`, and `exitcode` 1."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.res, self.exitcode, self.exception = SUCCESS, 0, None

    def run(self):
        try:
            if self._target:
                self.res = self._target(*self._args, **self._kwargs)
        except Exception as error:  # it is raised again by whoever waits
            self.exitcode, self.exception = 1, error

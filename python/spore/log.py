# SPDX-License-Identifier: Apache-2.0
"""Log messages of the package: `spore.log.info(...)`. GLOG_v sets the level: 0 debug, 1 info, 2 warning (the default),
3 error,
4 critical."""
import functools
import logging
import os
import sys

__all__ = ['get_level', 'get_log_config', 'debug', 'info', 'warning', 'error', 'critical']

_LEVELS = {0: logging.DEBUG, 1: logging.INFO, 2: logging.WARNING, 3: logging.ERROR, 4: logging.CRITICAL}
_logger = logging.getLogger('spore')
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LOGGING = os.path.dirname(os.path.abspath(logging.__file__)) + os.sep


def _wanted():
    text = os.environ.get('GLOG_v', '2')
    return text if text in ('0', '1', '2', '3', '4') else '2'


def _name_users_line(record):
    """A message from inside the package names the line of the program that led to it."""
    frame = sys._getframe()
    while record.pathname.startswith(_PACKAGE) and frame is not None:
        path = frame.f_code.co_filename
        if not path.startswith((_PACKAGE, _LOGGING, '<frozen')):
            record.pathname, record.lineno, record.funcName = path, frame.f_lineno, frame.f_code.co_name
        frame = frame.f_back
    return True


def _setup():
    if not _logger.handlers:
        _logger.addFilter(_name_users_line)
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter('[%(levelname)s] ME(%(process)d:%(thread)d,%(processName)s):%(asctime)s '
                                               '[%(pathname)s:%(lineno)d] %(message)s'))
        _logger.addHandler(handler)
        _logger.propagate = False
    _logger.setLevel(_LEVELS[int(_wanted())])


def get_level():
    """The level as text: '0' debug to '4' critical."""
    return _wanted()


def get_log_config():
    """Settings of the log; they come from environment variables."""
    return {name: os.environ[name] for name in ('GLOG_v', 'GLOG_log_dir', 'GLOG_logtostderr', 'logger_maxBytes',
                                                'logger_backupCount', 'GLOG_stderrthreshold') if name in os.environ}


def debug(msg, *args, **kwargs):
    """Log for whoever searches a fault."""
    _logger.debug(msg, *args, stacklevel=2, **kwargs)


def info(msg, *args, **kwargs):
    """Log what happens."""
    _logger.info(msg, *args, stacklevel=2, **kwargs)


def warning(msg, *args, **kwargs):
    """Log what may be a mistake."""
    _logger.warning(msg, *args, stacklevel=2, **kwargs)


def error(msg, *args, **kwargs):
    """Log what failed."""
    _logger.error(msg, *args, stacklevel=2, **kwargs)


def critical(msg, *args, **kwargs):
    """Log what ends the program."""
    _logger.critical(msg, *args, stacklevel=2, **kwargs)


_setup()


class _LogActionOnce:
    """Decorator: the warnings of a function reach the logger at its first call only, or never (no_warning)."""

    _done = set()

    def __init__(self, logger, key, no_warning=False):
        self.logger, self.key, self.no_warning = logger, key, no_warning

    def __call__(self, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if not hasattr(self.logger, 'warning') or not (self.no_warning or self.key in self._done):
                self._done.add(self.key)
                return function(*args, **kwargs)
            warning, self.logger.warning = self.logger.warning, lambda *args, **kwargs: None
            try:
                return function(*args, **kwargs)
            finally:
                self.logger.warning = warning
        return call


def _get_logger():
    """The logger of the package."""
    return _logger


def vlog_print(level, module, file, line, msg):
    """A message for whoever searches a fault; shown at level debug."""
    _logger.debug('%s %s:%s %s', module, file, line, msg)

# SPDX-License-Identifier: Apache-2.0
"""The command `spore` that belongs to this package: beside it (build folder, installation), or inside its module (wheel)."""
import os
import sys
import sysconfig

from spore import _core


def _path():
    """The command as a file: in the build folder, the installation or the environment of this package, else on PATH; or None."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.dirname(os.path.abspath(_core.__file__))
    places = [os.path.dirname(os.path.dirname(inside)), os.path.dirname(package), os.path.join(package, '..', '..', '..', 'bin'),
              sysconfig.get_path('scripts'), *os.environ.get('PATH', '').split(os.pathsep)]
    for place in places:
        path = os.path.join(place or '', 'spore')
        if place and os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)
    return None


def find():
    """The words that start the command, for a process of its own; None if there is none."""
    if hasattr(_core, 'command'):
        return [sys.executable, '-m', 'spore']
    path = _path()
    return None if path is None else [path]


def become(name, arguments):
    """Turn this process into the command, called ``name``; answers (None) only where there is none."""
    if hasattr(_core, 'command'):
        sys.exit(_core.command(sys.executable, [name, *arguments]))
    path = _path()
    if path is not None:
        os.environ['SPORE_PYTHON'] = sys.executable
        os.execv(path, [name, *arguments])


def converter_lite():
    """MindSpore Lite's converter, where Python packages install commands."""
    become('converter_lite', sys.argv[1:])
    sys.exit("converter_lite: the command `spore` is not found; put its folder on PATH")

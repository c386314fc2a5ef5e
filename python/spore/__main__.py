# SPDX-License-Identifier: Apache-2.0
"""``python -m spore ...``: the command `spore` with this interpreter. Without the command, `run` and `--version` work."""
import os
import sys
import sysconfig

import spore


def _command():
    """The command that belongs to this package: in its build folder, its installation or its environment; else None."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(spore.__file__)))
    for path in (os.path.join(package, '..', 'spore'), os.path.join(package, '..', '..', '..', 'bin', 'spore'),
                 os.path.join(sysconfig.get_path('scripts'), 'spore')):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.normpath(path)
    return None


def main(arguments):
    """Become the command; answers the exit status where there is none."""
    command = _command()
    if command is not None:
        os.environ['SPORE_PYTHON'] = sys.executable
        os.execv(command, ['spore', *arguments])
    if arguments[:1] == ['run']:
        from spore import run
        return run.main(arguments[1:])
    if arguments[:1] in (['--version'], ['version']):
        print(f'spore {spore.__version__}')
        return 0
    sys.stderr.write('spore: the command is not installed with this package; python -m spore run SCRIPT and --version work without it\n')
    return 2


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
"""``python -m spore ...``: the command `spore` with this interpreter. Without the command, `run` and `--version` work."""
import sys

import spore
from spore import _command


def main(arguments):
    """Become the command; answers the exit status where there is none."""
    _command.become('spore', arguments)
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

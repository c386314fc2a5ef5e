# SPDX-License-Identifier: Apache-2.0
"""MindSpore's command for the cache server, where Python packages install commands: it becomes the command of spore, under that name."""
import os
import sys


def main():
    """`dataset-cache` and `cache_admin`."""
    from spore import _command
    name = os.path.basename(sys.argv[0])
    _command.become(name if name in ('dataset-cache', 'cache_admin') else 'dataset-cache', sys.argv[1:])
    sys.exit("dataset-cache: the command `spore` is not found; put its folder on PATH")

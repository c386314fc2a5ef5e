#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command `spore` of a wheel. It is a part of the Python module, so that a wheel holds the engine once.

The module is loaded without its package: neither numpy nor the Python front is needed to serve a model or to look into a file.
"""
import importlib.machinery
import importlib.util
import os
import sys


def load():
    """The module `spore._core` of the package that this interpreter would import."""
    package = importlib.util.find_spec('spore')
    for folder in package.submodule_search_locations if package is not None else ():
        path = os.path.join(folder, '_core.abi3.so')
        if os.path.exists(path):
            loader = importlib.machinery.ExtensionFileLoader('spore._core', path)
            module = importlib.util.module_from_spec(importlib.util.spec_from_loader('spore._core', loader))
            loader.exec_module(module)
            return module
    return None


if __name__ == '__main__':
    core = load()
    if core is None:
        sys.exit(f'spore: {sys.executable} has no package spore; pip install sporeml')
    if not hasattr(core, 'command'):
        sys.exit(f'spore: the package in {os.path.dirname(core.__file__)} has no command inside; its own is called bin/spore')
    sys.exit(core.command(sys.executable, ['spore', *sys.argv[1:]]))

# SPDX-License-Identifier: Apache-2.0
"""The one door from the product to spore/mindspore/, the part that only MindSpore's programs ask for.

A file of that folder is imported by the name that MindSpore has for it: spore/mindspore/ops/_utils.py is the module spore.ops._utils.
Nothing of it is loaded before a program asks. Files of the product come first; they never import it (scripts/check-layers).
"""
import importlib
import importlib.machinery
import importlib.util
import os
import sys

FOLDER = os.path.join(os.path.dirname(__file__), 'mindspore')


def find_file(fullname):
    """The spec of a module that is a file of the folder; or None."""
    path = os.path.join(FOLDER, *fullname.split('.')[1:])
    if os.path.isfile(path + '.py'):
        return importlib.util.spec_from_file_location(fullname, path + '.py')
    if fullname != 'spore' and os.path.isfile(os.path.join(path, '__init__.py')):
        return importlib.util.spec_from_file_location(fullname, os.path.join(path, '__init__.py'), submodule_search_locations=[path])
    return None


def find_package(fullname):
    """The spec of a package of the folder; or None. It is asked for before Python looks into the product: there a folder of that name may be left
    over from an older checkout, with nothing but __pycache__ in it, and Python would take it for an empty package."""
    path = os.path.join(FOLDER, *fullname.split('.')[1:])
    return find_file(fullname) if fullname.count('.') and os.path.isfile(os.path.join(path, '__init__.py')) else None


class _Packages:
    """Finds packages of the folder. It stands first among the finders."""

    def find_spec(self, fullname, path=None, target=None):
        return find_package(fullname) if fullname.startswith('spore.') else None


class _Finder:
    """Finds files of the folder, then addresses that have none. It stands last among the finders."""

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith('spore.'):
            return None
        found = find_file(fullname)
        return found if found is not None or fullname == 'spore.mindspore' else _part().find_address(fullname)


def _part():
    return importlib.import_module('spore.mindspore')


def module(package, name):
    """The module `name` of a package of the product, if the folder or its addresses have one; or None."""
    try:
        return importlib.import_module(f'{package}.{name}')
    except ModuleNotFoundError as error:
        if error.name != f'{package}.{name}':
            raise
        return None


def lookup(name):
    """What MindSpore's programs find as spore.ops.`name` besides the operators of the product; or None."""
    return _part().lookup(name)


def names():
    """All names that `lookup` knows."""
    return _part().names()


def exported():
    """Those of them that `from spore.ops import *` gives."""
    return _part().exported()


def positional(name, args, kwargs):
    """(args, kwargs) of a call of a primitive, with keywords that have the names MindSpore declares as positional arguments."""
    return _part().positional(name, args, kwargs)


sys.meta_path.insert(0, _Packages())
sys.meta_path.append(_Finder())

# SPDX-License-Identifier: Apache-2.0
"""`import mindspore` as another name for spore: mindspore.X is the very module object spore.X, for every X.

Finder and loader follow the protocol without the base classes of importlib.abc, which take longer to load than all of
spore.
"""
import functools
import importlib
import importlib.machinery
import importlib.util
import os
import sys

from spore._compat import FOLDER, find_file, find_package

__all__ = ['as_mindspore']

_NAME = 'mindspore'
_SERVING = 'mindspore_serving'  # a package of its own there
_API_VERSION = '2.10.0'  # of MindSpore, whose API this is: programs choose by it what they call


class _Loader:
    """Answers the module of spore, which is loaded already."""

    def __init__(self, real):
        self._real = real

    def create_module(self, spec):
        module = importlib.import_module(self._real)
        # The import system is about to write these; they belong to the module's own name.
        self._kept = {key: getattr(module, key) for key in ('__name__', '__loader__', '__package__', '__spec__',
                                                            '__path__',
                                                            '__file__', '__cached__') if hasattr(module, key)}
        return module

    def exec_module(self, module):
        for key, value in self._kept.items():
            setattr(module, key, value)


def _show_as_mindspores(module):
    """Have the classes of a module of spore say that they are MindSpore's: programs print their types, and look at them."""
    name = module.__name__
    if not name.startswith('spore.') or name == 'spore._core':
        return
    shown = _NAME + name[len('spore'):]
    sys.modules.setdefault(shown, module)       # pickle and inspect look a class up in its module
    for value in list(vars(module).values()):
        if isinstance(value, type) and value.__dict__.get('__module__') == name:
            value.__module__ = module_of(name, value.__name__)


def module_of(place, name):
    """What a class of the module says that it is of: once programs may import mindspore, the module that MindSpore has it in."""
    if _NAME not in sys.modules:
        return place
    inside = place[len('spore.'):]
    return f'{_NAME}.{_modules_elsewhere().get(inside, {}).get(name, inside)}'


@functools.cache
def _modules_elsewhere():
    """Classes that MindSpore has in other modules: by module of spore, then by name of the class."""
    found = {}
    with open(os.path.join(FOLDER, 'modules.txt'), encoding='ascii') as file:
        for line in file:
            here, there, *names = line.split()
            found.setdefault(here, {}).update(dict.fromkeys(names, there))
    return found


class _Renamer:
    """Finds spore's own modules as usual, and has them renamed when they have been loaded."""

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith('spore.'):
            return None
        spec = find_package(fullname) or importlib.machinery.PathFinder.find_spec(fullname, path, target) or find_file(fullname)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                _show_as_mindspores(module)
            spec.loader.exec_module = exec_module
        return spec


def _image_of(module):
    """Have Pillow's package load PIL.Image when it is asked for: MindSpore loads it itself, so programs write `import PIL` and `PIL.Image`."""
    def __getattr__(name):
        if name == 'Image':
            return importlib.import_module('PIL.Image')
        raise AttributeError(f"module 'PIL' has no attribute '{name}'")
    vars(module).setdefault('__getattr__', __getattr__)


class _Pillow:
    """Finds Pillow as usual; see _image_of. Nothing is loaded before a program asks for it."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != 'PIL':
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                _image_of(module)
            spec.loader.exec_module = exec_module
        return spec


def show_image_of_pillow():
    """PIL.Image is there once PIL is imported, whether that was before or comes later."""
    if 'PIL' in sys.modules:
        _image_of(sys.modules['PIL'])
    elif not any(isinstance(finder, _Pillow) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Pillow())


class _Finder:
    """Finds mindspore and everything below it in spore."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname == _SERVING or fullname.startswith(_SERVING + '.'):
            real = 'spore.serving' + fullname[len(_SERVING):]
        elif fullname == _NAME or fullname.startswith(_NAME + '.'):
            real = 'spore' + fullname[len(_NAME):]
        else:
            return None
        if real not in sys.modules:
            try:
                found = importlib.util.find_spec(real)
            except ModuleNotFoundError as error:
                if error.name and not real.startswith(error.name):
                    raise
                found = None
            if found is None:
                raise ModuleNotFoundError(f"No module named '{fullname}' (spore has no '{real}')", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, _Loader(real), is_package=True)

    def find_distributions(self, context=None):
        """The package `mindspore` for importlib.metadata, which programs ask for its version."""
        name = getattr(context, 'name', None)
        if name is not None and name.lower() != _NAME:
            return
        from importlib.metadata import Distribution

        class Package(Distribution):
            def read_text(self, filename):
                return f'Metadata-Version: 2.1\nName: {_NAME}\nVersion: {_API_VERSION}\n' if filename == 'METADATA' else None

            def locate_file(self, path):
                raise FileNotFoundError(f'{_NAME} is spore: {path} is not part of it')
        yield Package()


def as_mindspore():
    """From now on `import mindspore`, and any module below it, gives spore's module of the same name. Its `__version__` is that of
    the MindSpore whose API it has.

    Examples:
        >>> import spore
        >>> spore.as_mindspore()
        >>> import mindspore
        >>> mindspore is spore
        True
    """
    import spore
    if sys.modules.get(_NAME) is spore:
        return
    for name in list(sys.modules):
        if name == _NAME or name.startswith(_NAME + '.'):
            raise ImportError(f"as_mindspore: another '{name}' is imported already; call it before the first import "
                              "of mindspore")
    sys.meta_path[:0] = [_Finder(), _Renamer()]
    sys.modules[_NAME] = spore
    spore._core.long_long_arrays()
    show_image_of_pillow()
    for name, module in list(sys.modules.items()):
        if name.startswith('spore.') and getattr(module, '__name__', None) == name:
            _show_as_mindspores(module)
    spore.__version__ = importlib.import_module('spore.version').__version__ = _API_VERSION

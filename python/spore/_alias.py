# SPDX-License-Identifier: Apache-2.0
"""`import mindspore` as another name for spore: mindspore.X is the very module object spore.X, for every X.

Finder and loader follow the protocol without the base classes of importlib.abc, which take longer to load than all of
spore.
"""
import importlib
import importlib.machinery
import importlib.util
import sys

__all__ = ['as_mindspore']

_NAME = 'mindspore'
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


class _Finder:
    """Finds mindspore and everything below it in spore."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != _NAME and not fullname.startswith(_NAME + '.'):
            return None
        real = 'spore' + fullname[len(_NAME):]
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
    sys.meta_path.insert(0, _Finder())
    sys.modules[_NAME] = spore
    spore.__version__ = importlib.import_module('spore.version').__version__ = _API_VERSION

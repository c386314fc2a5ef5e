# SPDX-License-Identifier: Apache-2.0
"""Changes of objects that a captured program makes: attributes, lists, dicts.

While capturing, a change is really made, so that library code sees it too, and is noted in a journal. At the end of a
branch, and at the end of the whole capture, everything is as it was before; what was changed to what is the answer.
"""
import weakref

from spore import _core
from spore._core import Tensor

__all__ = ["Heap", "Added", "Attribute", "Cell", "Contents", "Global", "Items", "Watched"]

_MISSING = object()


class Attribute:
    """``owner.name``"""

    def __init__(self, owner, name):
        self.owner, self.name = owner, name
        self.key = (id(owner), name)

    def get(self):
        return getattr(self.owner, self.name, _MISSING)

    def set(self, value):
        if value is _MISSING:
            if self.name in getattr(self.owner, "__dict__", ()):
                delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, value)

    def light(self):
        """The same place for a program to keep, which does not keep the owner."""
        try:
            return LightAttribute(self)
        except TypeError:                # there are no weak references to the owner
            return self


class LightAttribute(Attribute):
    """An attribute of an object that may be gone."""

    def __init__(self, place):
        self.ref, self.name, self.key = weakref.ref(place.owner), place.name, place.key

    @property
    def owner(self):
        return self.ref()

    def set(self, value):
        if self.ref() is not None:       # what was made inside a program and is gone needs no contents
            super().set(value)


class Items:
    """What a list or dict holds."""

    def __init__(self, owner):
        self.owner = owner
        self.key = (id(owner), None)

    def get(self):
        return dict(self.owner) if isinstance(self.owner, dict) else list(self.owner)

    def set(self, value):
        if isinstance(self.owner, dict):
            self.owner.clear()
            self.owner.update(value)
        else:
            self.owner[:] = value


class Added(Items):
    """What is put to the end of a list, or into a dict."""

    def set(self, value):
        if isinstance(self.owner, dict):
            self.owner.update(value)
        else:
            self.owner.extend(value)


class Global:
    """A name of a module."""

    def __init__(self, names, name):
        self.names, self.name = names, name
        self.owner = names
        self.key = (id(names), name)

    def get(self):
        return self.names.get(self.name, _MISSING)

    def set(self, value):
        if value is _MISSING:
            self.names.pop(self.name, None)
        else:
            self.names[self.name] = value


class Cell:
    """A variable of an enclosing function."""

    def __init__(self, cell):
        self.cell = self.owner = cell
        self.key = (id(cell), None)

    def get(self):
        try:
            return self.cell.cell_contents
        except ValueError:
            return _MISSING


class Contents:
    """What a Tensor of the program holds that is written in a branch or a loop of the run. The engine undoes such writes itself."""

    def __init__(self, tensor):
        self.tensor = self.owner = tensor
        self.key = (_core.handle_id(tensor), "contents")
        self.seen = None

    def get(self):
        if self.seen is None or _core.symbol_id(self.seen) == -1 or _core.symbol_id(self.seen) != _core.symbol_id(self.tensor):
            self.seen = _core.handle_value(self.tensor)
        return self.seen

    def set(self, value):
        _core.handle_set(self.tensor, value)


class Watched:
    """What a place held when it was read; lists and dicts also what they held. It does not keep the owner alive."""

    def __init__(self, place, value):
        self.value, self.contents = value, contents_of(value)
        self.name = getattr(place, "name", "a variable of the function around")
        self.owner = None
        if isinstance(place, Attribute):
            try:
                owner, name = weakref.ref(place.owner), place.name
                self.get = lambda: getattr(owner(), name, _MISSING)
                self.owner = owner
                return
            except TypeError:
                pass
        self.get = place.get

    def varying(self):
        """The attribute as a place, when its value became another number or Tensor; None if not."""
        owner, now = self.owner and self.owner(), self.get()
        if owner is None or type(now) is not type(self.value) or now is self.value or type(now) not in (int, float, Tensor):
            return None
        return Attribute(owner, self.name)

    def holds(self):
        """Whether the place is as it was."""
        now, then = self.get(), self.value
        if now is not then and not alike(now, then):
            return False
        return self.contents is None or (found := contents_of(now)) is not None and len(found) == len(self.contents) and all(
            a is b or alike(a, b) for a, b in zip(found, self.contents))


_PLAIN = (int, float, str, bool, bytes, complex, type(None))


def alike(a, b):
    """Whether two values are equal for a program: numbers and texts by value, all else by identity."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return all(x is y or alike(x, y) for x, y in zip(a, b))
    return type(a) is type(b) and type(a) in _PLAIN and a == b


def contents_of(value):
    """The items of a list or dict as a list, None for other values."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    return list(value) if isinstance(value, list) else None


class Heap:
    """The journals of the branches that are being captured, innermost last."""

    def __init__(self):
        self.journals = []
        self.fresh = []  # lists and dicts made since the journal began: nothing outside of it knows them

    def begin(self):
        self.journals.append({})
        self.fresh.append({})

    def made(self, owner):
        """Note a list or dict that the program made here; gives it back."""
        self.fresh[-1][id(owner)] = owner
        return owner

    def is_fresh(self, owner):
        """Whether the program made this list or dict, on the way to here."""
        return any(id(owner) in fresh for fresh in self.fresh)

    def touch(self, place):
        """To be called before a change."""
        journal = self.journals[-1]
        if place.key not in journal and id(place.owner) not in self.fresh[-1]:
            journal[place.key] = (place, place.get())

    def write(self, place, value):
        self.touch(place)
        place.set(value)

    def end(self):
        """Undo what was changed since ``begin``; gives {key: (place, value that it had)}."""
        journal = self.journals.pop()
        self.fresh.pop()
        changed = {}
        for key, (place, old) in reversed(journal.items()):
            changed[key] = (place, place.get())
            if not isinstance(place, Contents):
                place.set(old)
        return changed

    def note_written(self):
        """Note Tensors from before the function being recorded that it wrote to."""
        for tensor in _core.written_handles():
            place = Contents(tensor)
            self.journals[-1].setdefault(place.key, (place, None))

    def keep(self):
        """End a journal without undoing: the changes belong to the journal around it."""
        journal = self.journals.pop()
        fresh = self.fresh.pop()
        if self.fresh:
            self.fresh[-1].update(fresh)
        for key, noted in journal.items():
            self.journals[-1].setdefault(key, noted)


def is_missing(value):
    return value is _MISSING

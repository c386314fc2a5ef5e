# SPDX-License-Identifier: Apache-2.0
"""How Tensors make up what a network gives: tuples, lists, numbers, texts and None in each other, as a text (sp_model_form in model.h)."""
from spore._core import type_name as _type_name
from spore import _core

__all__ = []


_SPARSE = {"C": "CSRTensor", "O": "COOTensor"}


def of_value(value):
    """The form of a constant."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return f"b{int(value)};"
    if isinstance(value, int):
        return f"i{value};"
    if isinstance(value, float):
        return f"f{value!r};"
    if isinstance(value, str):
        return f"s{len(value.encode())}:{value}"
    if isinstance(value, (tuple, list)):
        ends = "[]" if isinstance(value, list) else "()"
        return ends[0] + "".join(map(of_value, value)) + ends[1]
    raise RuntimeError(f"For 'export', a network cannot return {value!r} ({_type_name(value)}): MindIR has Tensors, numbers, texts, None, "
                       "and tuples and lists of these.")


def of_kind(kind):
    """The form of a captured result (spore.graph.joins)."""
    from spore.graph.joins import Known, OfDict, OfScalar, OfSequence, OfSparse, OfTensor
    if isinstance(kind, Known):
        return of_value(kind.value)
    if isinstance(kind, OfTensor):
        return "T"
    if isinstance(kind, OfScalar):
        return "N"
    if isinstance(kind, OfSequence):
        ends = "[]" if issubclass(kind.type, list) else "()"
        return ends[0] + "".join(map(of_kind, kind.items)) + ends[1]
    if isinstance(kind, OfDict):    # MindSpore gives its values as a tuple
        return "(" + "".join(map(of_kind, kind.items)) + ")"
    if isinstance(kind, OfSparse) and kind.type.__name__ in _SPARSE.values():
        letter = next(letter for letter, name in _SPARSE.items() if name == kind.type.__name__)
        return letter + "(" + "".join(map(of_kind, kind.items)) + of_value(tuple(kind.shape)) + ")"
    return "(" + "T" * len(kind.specs()) + ")"


def _number(tensor):
    """While a graph is recorded, numbers stay Tensors."""
    return tensor if _core.is_symbol(tensor) else tensor.item()


def _part(form, at, tensors):
    """(value, where it ends) of the part that begins there."""
    kind = form[at]
    at += 1
    if kind in _SPARSE:
        from spore.common import sparse_tensor
        parts, at = _part(form, at, tensors)
        return getattr(sparse_tensor, _SPARSE[kind])(*parts), at
    if kind in "([":
        items = []
        while form[at] not in ")]":
            item, at = _part(form, at, tensors)
            items.append(item)
        return (items if kind == "[" else tuple(items)), at + 1
    if kind == "T":
        return next(tensors), at
    if kind == "N":
        return _number(next(tensors)), at
    if kind == "-":
        return None, at
    if kind == "s":
        colon = form.index(":", at)
        end = colon + 1
        left = int(form[at:colon])
        while left > 0:
            left -= len(form[end].encode())
            end += 1
        return form[colon + 1:end], end
    end = form.index(";", at)
    return {"i": int, "f": float, "b": lambda digits: digits == "1"}[kind](form[at:end]), end + 1


def build(form, tensors):
    """The value that Tensors make."""
    if form == "T":
        return tensors[0]
    return _part(form, 0, iter(tensors))[0]

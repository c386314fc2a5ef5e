# SPDX-License-Identifier: Apache-2.0
"""Examples in the documentation of nn and mint.nn run and print what they say; every public layer is documented."""
import doctest
import importlib
import inspect
import pkgutil

import pytest

from spore import mint, nn


def modules():
    found = ["spore.nn.cell"]
    for package in ("spore.nn.layer", "spore.nn.loss", "spore.nn.wrap", "spore.nn.grad", "spore.nn.utils", "spore.mint.nn.layer"):
        found.append(package)
        found += [f"{package}.{m.name}" for m in pkgutil.iter_modules(importlib.import_module(package).__path__)]
    return found


@pytest.mark.parametrize("name", modules())
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("place", [nn, mint.nn], ids=["nn", "mint.nn"])
def test_layers_are_documented(place):
    layers = [n for n in dir(place) if inspect.isclass(getattr(place, n)) and issubclass(getattr(place, n), nn.Cell)]
    assert len(layers) > 60
    for name in layers:
        doc = inspect.getdoc(getattr(place, name))
        assert doc and "." in doc and doc != inspect.getdoc(nn.Cell) or name == "Cell", name

# SPDX-License-Identifier: Apache-2.0
"""Files that leave sizes open are read again and run, at sizes that no capture had, before they are called done."""
import os
import shutil
import tempfile

import numpy as np

from spore import _core
from spore._core import Tensor
from spore.train import _export, _form

__all__ = []

_NUMBERS = 3         # that sizes meet, on both sides of which files are verified


def _arguments(inputs, shapes):
    """Tensors of these shapes: noise, or the numbers that were given where they are whole (they may have to be in some range)."""
    rng = np.random.default_rng(0)
    made = []
    for x, shape in zip(inputs, shapes):
        if -1 in x.shape or 0 in x.shape:
            noise = rng.normal(size=shape) if "Float" in str(x.dtype) else np.zeros(shape, np.int64)
        else:
            given = x.asnumpy()
            noise = rng.normal(size=shape) if given.dtype.kind == "f" else np.resize(given, shape)
        made.append(Tensor(noise, x.dtype))
    return made


def _shapes(recording):
    """Shapes that no capture had: others of the same kind, and on both sides of the numbers that sizes meet."""
    taken = recording.trials
    for choose in recording.checks:
        yield choose
    for number in sorted(recording.numbers)[:_NUMBERS]:
        for size in (number - 1, number, number + 1):
            row = [tuple(n if label is None else size for n, label in zip(shape, labels)) for shape, labels in zip(taken[0], recording.axes)]
            if row not in taken:
                yield row


def _same(found, wanted):
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if found.dtype.kind not in "fc":
        return np.array_equal(found, wanted)
    found, wanted = found.astype(np.complex128), wanted.astype(np.complex128)
    size = np.abs(wanted[np.isfinite(wanted)]).max(initial=0)
    loose = 3e-2 if wanted.dtype.itemsize < 4 else 1e-3
    return np.allclose(found, wanted, rtol=loose, atol=loose * size + 1e-5, equal_nan=True)


def _array(value):
    return value.astype("float32").asnumpy() if str(value.dtype) == "BFloat16" else value.asnumpy()


def _value(kind, results):
    """What a captured result is, in lists: the arrays of its Tensors and the constants between them."""
    if hasattr(kind, "items"):
        return [_value(item, results) for item in kind.items]
    return kind.value if hasattr(kind, "value") else next(results)


def _leaves(kind, value):
    """The parts of a result that are not constants of the file, as arrays. A size may be a constant of one capture and none of the file."""
    if hasattr(kind, "items"):
        parts = [getattr(value, name) for name in value._parts] if hasattr(value, "_parts") else value
        return [leaf for item, part in zip(kind.items, parts) for leaf in _leaves(item, part)]
    if hasattr(kind, "value"):
        return []
    return [_array(value) if isinstance(value, Tensor) else np.asarray(value)]


def check(path, file_format, net, inputs, recording, key=None, mode=None):
    """Compare what the file computes with what the network does; RuntimeError where they differ."""
    model = _core.model_load(path, None if key else file_format, key, mode)
    verified = 0
    for shapes in _shapes(recording):
        args = _arguments(inputs, shapes)
        try:
            function, kind = _export.capture(net, inputs, shapes)
            program = _core.program_create(function)
            wanted = _leaves(recording.kind, _value(kind, iter(program.run(args))))
        except (RuntimeError, ValueError, TypeError, IndexError, ZeroDivisionError):     # sizes that the network does not take; nothing is promised for these
            continue
        again = _leaves(recording.kind, _value(kind, iter(program.run(args))))
        text = ", ".join(str(shape) for shape in shapes)
        try:
            results, form = model.run(*args), model.form()
            found = _leaves(recording.kind, _form.build(form, results)) if form else [_array(t) for t in results]
        except Exception as error:
            raise NotImplementedError(f"the file leaves sizes open, but what would have been written fails for inputs of shape {text}, where the network does not: "
                                      f"{error}") from None
        random = not all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(wanted, again))
        fits = len(found) == len(wanted) and all(a.shape == b.shape if random else _same(a, b) for a, b in zip(found, wanted))
        if not fits:
            raise NotImplementedError(f"the file leaves sizes open, but what would have been written computes something else than the network for inputs of shape {text}: how "
                                      "it depends on sizes cannot be said")
        verified += 1
    if not verified:
        raise NotImplementedError("the file leaves sizes open, but the network takes no other sizes than those it was captured with, so that it could not be verified")


def saved(path, verified, save):
    """Write a file by ``save(path)`` where nobody looks, hand it to ``verified(path)``, and put it in its place."""
    folder = os.path.dirname(path)
    with tempfile.TemporaryDirectory(dir=folder) as hidden:
        save(os.path.join(hidden, os.path.basename(path)))
        verified(_model_in(hidden, os.path.basename(path)))
        for here, _, names in os.walk(hidden):
            there = os.path.join(folder, os.path.relpath(here, hidden))
            os.makedirs(there, exist_ok=True)
            for name in names:
                shutil.move(os.path.join(here, name), os.path.join(there, name))


def _model_in(folder, name):
    """The model: of MindIR with weights in further files it has another name."""
    path = os.path.join(folder, name)
    return path if os.path.exists(path) else path[:-len(".mindir")] + "_graph.mindir"

# SPDX-License-Identifier: Apache-2.0
"""What export writes: networks captured once, or several times with other sizes of the dimensions that are free in the file."""
import inspect
from dataclasses import dataclass

from spore._core import Tensor
from spore.graph.errors import Unsupported

__all__ = []

_MOST = 8    # captures with different sizes; SP_TRIALS_MAX of src/formats/sizes.h
_TRIES = 24  # sets of sizes that networks may refuse before the export is given up
_TURNS = 12  # captures are repeated until no further size turns out to be free; each turn adds a level of what follows from the ones before


def _is_mutable(x):
    """A list or tuple of Tensors that `mutable` marked: its Tensors are inputs, one by one."""
    return isinstance(x, (list, tuple)) and len(x) > 0 and getattr(x, "__ms_mutable__", False) and all(isinstance(one, Tensor) for one in x)


def with_tensors_only(net, inputs):
    """A Cell that takes the Tensors among the inputs; functions become Cells, other values part of them."""
    from spore.common.parameter import Parameter
    from spore.nn import Cell
    inputs = tuple(Tensor(x) if isinstance(x, Parameter) else x for x in inputs)    # what is given, not part of the network
    if isinstance(net, Cell) and all(isinstance(x, Tensor) for x in inputs):
        return net, inputs

    class Exported(Cell):
        def __init__(self):
            super().__init__(auto_prefix=False)
            self.net = net
            names = input_names(net, len(inputs)) if isinstance(net, Cell) else _parameter_names(net)
            self.input_names = [one for name, x in zip(names, inputs)
                                for one in ([name] if isinstance(x, Tensor) else [f"{name}_{k}" for k in range(len(x))] if _is_mutable(x) else [])]

        def construct(self, *tensors):
            given = []
            at = 0
            for x in inputs:
                if isinstance(x, Tensor):
                    given.append(tensors[at])
                    at += 1
                elif _is_mutable(x):
                    part = tensors[at:at + len(x)]
                    given.append(list(part) if isinstance(x, list) else part)
                    at += len(x)
                else:
                    given.append(x)
            return self.net(*given)

    exported = Exported()
    if isinstance(net, Cell):
        exported.set_train(net.training)
        declared = net.get_inputs()
        if declared and not any(map(_is_mutable, inputs)):
            exported.set_inputs(*[one for one, x in zip(declared, inputs) if isinstance(x, Tensor)])
    return exported, tuple(one for x in inputs for one in ([x] if isinstance(x, Tensor) else x if _is_mutable(x) else []))


def _parameter_names(function):
    try:
        return [p.name for p in inspect.signature(function).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD]
    except (TypeError, ValueError):
        return []


def input_names(net, count):
    """Names of the arguments of construct, made up where there are none."""
    held = getattr(net, "input_names", None)
    if isinstance(held, list) and len(held) == count:
        return list(held)
    try:
        names = [p.name for p in inspect.signature(net.construct).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD]
    except (TypeError, ValueError):
        names = []
    return (names + [f"x{i}" for i in range(len(names), count)])[:count]


@dataclass
class Recording:
    """Captures of a network. ``functions``: the one that is written, and the same with other sizes."""
    functions: list
    kind: object
    axes: list = None            # names of free dimensions, None where they are not
    trials: list = None          # shapes of the inputs in each capture
    numbers: frozenset = frozenset()     # that sizes were compared or computed with
    checks: list = None          # shapes to verify the file with


def capture(net, inputs, shapes=None):
    """The net as a recorded function, and the form of its result; shapes: other ones than those of the inputs."""
    from spore.graph.compiler import OfTensor, argument_kind, compiled_cell
    compiled = compiled_cell(net)
    kinds = [argument_kind(x) if shape is None else OfTensor(x.dtype, shape)
             for x, shape in zip(inputs, shapes or [None] * len(inputs))]
    entry = compiled.make_entry(kinds, [], len(inputs), [])
    return entry.function, entry.kind


def free_axes(net, inputs, names, dynamic_axes):
    """Names of the free dimensions of each input, None elsewhere: what dynamic_axes or set_inputs say; None: there are none."""
    # Dimensions that are declared free have no names. Those of one axis and size are taken to be the same one, as batches mostly are.
    axes = [[f"free_{k}" if size == -1 else None for k, size in enumerate(x.shape)] for x in inputs]
    declared = getattr(net, "get_inputs", lambda: None)()
    for i, one in enumerate(declared or ()):
        if i < len(inputs) and isinstance(one, Tensor) and one.ndim == inputs[i].ndim:
            for k, size in enumerate(one.shape):
                if size == -1:
                    axes[i][k] = f"free_{k}" if inputs[i].shape[k] == -1 else f"free_{k}_{inputs[i].shape[k]}"
    for name, given in (dynamic_axes or {}).items():
        if name not in names:
            raise ValueError(f"For 'export', 'dynamic_axes' names the input {name!r}, but the inputs are {names}.")
        for axis, label in (given.items() if isinstance(given, dict) else ((k, None) for k in given)):
            row = axes[names.index(name)]
            if not -len(row) <= axis < len(row):
                raise ValueError(f"For 'export', 'dynamic_axes' names axis {axis} of {name!r}, which has {len(row)} dimensions.")
            row[axis] = label or f"{name}_{axis % len(row)}"
    return axes if any(label for row in axes for label in row) else None


# Sizes that are tried for a free dimension: of the first, which the inputs have or which is made up, and of the others. Networks take only some:
# whatever fits broadcasting, then multiples, then multiples of what strides and pools divide by.
_BATCH, _MADE_UP = 3, (24, 64, 224, 7)
_STEPS = ((lambda s, i: (s, s + 5 + 2 * i, 2 * s + 9 + 4 * i, s + 31 + 6 * i), lambda s, i: (s + 1 + i, max(2, s // 2) + i, s + 17 + 3 * i)),
          (lambda s, i: (s, s * (2 + i), s * (5 + 2 * i), s * (7 + 3 * i)), lambda s, i: (s * (3 + i), s * (4 + 3 * i))),
          (lambda s, i: (s, s + 32 * (1 + i), s + 32 * (4 + 2 * i), s + 32 * (9 + 4 * i)), lambda s, i: (s + 32 * (2 + 3 * i), s + 32 * (3 + i))))


def _trials(inputs, axes):
    """(shapes of the inputs for each capture, for each check of the file); one name has one size in each."""
    made_up = any(-1 in x.shape for x in inputs)
    for first in _MADE_UP if made_up else (None,):
        for tried, checked in _STEPS:
            starts = {}
            for x, row in zip(inputs, axes):
                for k, (size, label) in enumerate(zip(x.shape, row)):
                    if label is not None:
                        starts.setdefault(label, size if size != -1 else _BATCH if k == 0 else first)
            yield tuple([[tuple(size if label is None else step(starts[label], list(starts).index(label))[at] for size, label in zip(x.shape, row))
                          for x, row in zip(inputs, axes)] for at in range(len(step(1, 0)))] for step in (tried, checked))


def _apart(axes):
    """The names with those that were made up told apart for every input."""
    return [[f"{label}_of_{i}" if label is not None and label.startswith("free_") else label for label in row] for i, row in enumerate(axes)]


def _capture_all(net, inputs, trials):
    """Captures with each set of shapes, sizes that depend on free ones being numbers of the run."""
    from spore.graph import sizes
    free = {}
    for _ in range(_TURNS):
        all_sizes, functions, error = [sizes.Sizes(free) for _ in trials], [], None
        for one, shapes in zip(all_sizes, trials):
            try:
                with sizes.tracking(one):
                    functions.append(capture(net, inputs, shapes))
            except Exception as reason:          # perhaps because a size was taken for a number that is none
                error = error or reason
        free, new, same = sizes.merge(all_sizes)
        if not new:
            if error is not None:
                raise error
            if not same:
                raise Unsupported("with other sizes of the free dimensions the network is another one")
            return [f for f, _ in functions], functions[0][1], frozenset().union(*(one.numbers for one in all_sizes))
    raise Unsupported("which sizes depend on the free dimensions could not be found out")


def _across(trials, axes, numbers):
    """Further shapes, so that every free dimension has sizes on both sides of every number that sizes meet."""
    made = []
    for number in sorted(numbers):
        columns = {}
        for row in trials + made:
            for shape, labels in zip(row, axes):
                for size, label in zip(shape, labels):
                    if label is not None:
                        columns.setdefault(label, []).append(size)
        below, above = min(map(max, columns.values())) <= number, max(map(min, columns.values())) > number
        for first, missing in ((number + 3, below), (max(1, number // 2), above)):
            if missing and len(trials) + len(made) < _MOST:
                sizes = {label: first + (i if first > 2 and first + i < number or first > number else 0) for i, label in enumerate(columns)}
                made.append([tuple(n if label is None else sizes[label] for n, label in zip(shape, labels)) for shape, labels in zip(trials[0], axes)])
    return made


def _recordings(net, inputs, axes):
    """Recordings of the network that a file may be made of, the best first; or the errors that stood in the way."""
    apart = _apart(axes)
    for labels in (apart, axes) if apart != axes else (axes,):
        pairs = list(_trials(inputs, labels))
        checks = [row for _, rows in pairs[:len(_STEPS)] for row in rows]
        for trials, own in pairs:
            try:
                functions, kind, numbers = _capture_all(net, inputs, trials)
            except Exception as error:
                yield error
                continue
            more, rows = _across(trials, labels, numbers), own + [row for row in checks if row not in own]
            if more:                             # on both sides of numbers that sizes meet, where the network takes such sizes
                try:
                    yield Recording(*_capture_all(net, inputs, trials + more)[:2], labels, trials + more, numbers, rows)
                except Exception as error:
                    yield error
                functions, kind, numbers = _capture_all(net, inputs, trials)     # writing changes what was captured
            yield Recording(functions, kind, labels, trials, numbers, rows)


def write(net, inputs, names, save, dynamic_axes=None):
    """Capture the network and hand it to ``save(recording)``; where that cannot be written with sizes left open, captured with others."""
    axes = free_axes(net, inputs, names, dynamic_axes)
    if axes is None:
        function, kind = capture(net, inputs)
        return save(Recording([function], kind))
    refused, errors = None, []
    for recording in _recordings(net, inputs, axes):
        if isinstance(recording, Exception):
            errors.append(recording)
        else:
            try:
                return save(recording)
            except NotImplementedError as error:
                refused = refused or error
        if len(errors) >= _TRIES:
            break
    raise refused or _refused(errors[0])


def _refused(error):
    """The error of an export, with the lines of the user's program that led there."""
    from spore.graph.errors import located
    if isinstance(error, Unsupported):
        return located(NotImplementedError(f"the file is to leave sizes open, but {error}"), getattr(error, "_spore_places", None))
    return error

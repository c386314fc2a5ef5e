# SPDX-License-Identifier: Apache-2.0
"""What export writes: networks captured once, or twice with other sizes of the dimensions that are free in the file."""
import inspect

from spore._core import Tensor

__all__ = []

_OTHER = 5   # how much larger a free dimension is in the second recording: shapes then tell what depends on it


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


def other_shapes(inputs, axes):
    """Shapes with every free dimension at another size; one name has one size."""
    sizes = {}
    for x, row in zip(inputs, axes):
        for size, label in zip(x.shape, row):
            if label is not None:
                sizes.setdefault(label, size + _OTHER + 2 * len(sizes))
    return [tuple(size if label is None else sizes[label] for size, label in zip(x.shape, row)) for x, row in zip(inputs, axes)]


def record(net, inputs, names, dynamic_axes=None):
    """(function, the same with other sizes or None, names of free dimensions or None, kind of the result)"""
    axes = free_axes(net, inputs, names, dynamic_axes)
    if axes is None:
        function, kind = capture(net, inputs)
        return function, None, None, kind
    shapes = [x.shape for x in inputs]
    if any(-1 in shape for shape in shapes):    # inputs without sizes: any will do
        from spore import ops
        inputs = [ops.zeros(tuple(3 if d == -1 else d for d in x.shape), x.dtype) for x in inputs]
    function, kind = capture(net, inputs)
    return function, capture(net, inputs, other_shapes(inputs, axes))[0], axes, kind

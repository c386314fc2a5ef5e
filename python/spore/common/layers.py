# SPDX-License-Identifier: Apache-2.0
"""summary: what a network is made of, layer by layer, found by running it once."""
import math

from spore._core import Tensor, type_name as _type_name
from spore.common.foreign import with_tensors

__all__ = ["summary"]

_HEAD = ("name", "layer", "output", "parameters", "multiply-adds", "MiB")


def _tensors(value):
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for item in value for t in _tensors(item)] if isinstance(value, (list, tuple)) else []


def _multiply_adds(cell, inputs, outputs):
    """Of layers with a matrix or kernel: one for each of its elements at every place of the output (a transposed one: of the input)."""
    weight = getattr(cell, "weight", None)
    if not isinstance(weight, Tensor) or len(weight.shape) < 2 or not inputs or not outputs or not hasattr(cell, "has_bias"):
        return 0
    places = inputs[0].size if "Transpose" in type(cell).__name__ else outputs[0].size
    return places * math.prod(weight.shape[1:])


class Summary:
    """Rows of (name, layer, output shape, parameters, multiply-adds, bytes of the output); prints as a table."""

    def __init__(self, kind, rows):
        self.kind, self.rows = kind, rows
        self.parameters, self.multiply_adds, self.bytes = (sum(row[i] for row in rows) for i in (3, 4, 5))

    def _texts(self):
        return [(name, layer, str(shape), f"{n:,}", f"{work:,}", f"{size / 2**20:.2f}") for name, layer, shape, n, work, size in self.rows]

    def __str__(self):
        rows = [_HEAD, *self._texts()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
        lines = ["  ".join(text.ljust(width) if i < 3 else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths))).rstrip()
                 for row in rows]
        return "\n".join([*lines, f"{self.kind}: {self.parameters:,} parameters, {self.multiply_adds:,} multiply-adds, "
                                  f"{self.bytes / 2**20:.2f} MiB of outputs"])

    __repr__ = __str__

    def _repr_html_(self):
        from spore._html import table
        return table(_HEAD, self._texts(), str(self).splitlines()[-1])


def summary(net, *inputs):
    """What a network is made of: a row for every layer without layers inside, with the shape of its output, the number of its Parameters,
    multiply-adds and the memory of its output. The network runs once, as for prediction.

    Args:
        net: a Cell.
        inputs: what it is called with: Tensors, or arrays.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(ms.summary(nn.SequentialCell(nn.Dense(3, 4), nn.ReLU()), ms.ops.ones((2, 3))))
        name  layer  output  parameters  multiply-adds   MiB
        0     Dense  (2, 4)          16             24  0.00
        1     ReLU   (2, 4)           0              0  0.00
        SequentialCell: 16 parameters, 24 multiply-adds, 0.00 MiB of outputs
    """
    from spore import PYNATIVE_MODE, context, nn
    if not isinstance(net, nn.Cell):
        raise TypeError(f"summary: net must be a Cell, but got {_type_name(net)}")
    inputs = (with_tensors(inputs, {}) or (inputs,))[0]
    rows, counted, handles = [], set(), []

    def note(path):
        def hook(cell, given, output):
            own = [p for p in cell.get_parameters() if id(p) not in counted]
            counted.update(map(id, own))
            made = _tensors(output)
            shape = tuple(made[0].shape) if len(made) == 1 else ", ".join(str(tuple(t.shape)) for t in made)
            rows.append((path or "(itself)", type(cell).__name__, shape, sum(p.size for p in own),
                         _multiply_adds(cell, _tensors(given), made), sum(t.nbytes for t in made)))
        return hook
    leaves = [(path, cell) for path, cell in net.cells_and_names() if not list(cell.cells())]
    mode, training = context.get_context("mode"), net.training
    try:
        handles += [cell.register_forward_hook(note(path)) for path, cell in leaves]
        context.set_context(mode=PYNATIVE_MODE)
        net.set_train(False)
        net(*inputs)
    finally:
        for handle in handles:
            handle.remove()
        net.set_train(training)
        context.set_context(mode=mode)
    own = [p for p in net.get_parameters() if id(p) not in counted]
    if own:
        rows.append(("(elsewhere)", "Parameters", "", sum(p.size for p in own), 0, 0))
    return Summary(type(net).__name__, rows)

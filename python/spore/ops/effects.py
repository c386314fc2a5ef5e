# SPDX-License-Identifier: Apache-2.0
"""Operators that act by being run: order, printing, summaries."""
from .. import _core
from .._core import Tensor
from ..graph import state as _state
from .primitive import Primitive
from spore._core import type_name as _type_name

__all__ = ["identity", "depend", "stop_gradient", "print_", "Print", "Depend", "ScalarSummary", "ImageSummary", "TensorSummary", "HistogramSummary"]

_apply = _core.apply


def _instance_of(cls):
    """An instance with the class's name and no attributes."""
    def __init__(self):
        Primitive.__init__(self, cls.__name__)
    cls.__init__ = __init__
    return cls


def identity(x) -> Tensor:
    """The same value."""
    if isinstance(x, Tensor):
        return _apply("identity", (x,))
    return x


def depend(value, expr) -> Tensor:
    """The value, computed after expr; operators run in the order they are written."""
    return value


def stop_gradient(value):
    """The same value, a constant to gradients."""
    if isinstance(value, Tensor):
        return _apply("stop_gradient", (value,))
    if isinstance(value, (tuple, list)):
        return type(value)(stop_gradient(v) for v in value)
    return value


def _shown(value):
    if isinstance(value, Tensor):
        return repr(value)
    if isinstance(value, (tuple, list)):
        inside = ", ".join(_shown(v) for v in value)
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return str(value)


def print_(*input_x):
    """Print tensors and other values, one per line.

    Examples:
        >>> from spore import Tensor, ops
        >>> ops.print_(Tensor([1, 2]), "text")
        Tensor(shape=[2], dtype=Int64, value= [1, 2])
        text
    """
    capture = _state.capture()
    if capture is not None:
        capture.executor.print_at_run(input_x, {"sep": "\n"})
        return
    for value in input_x:
        print(_shown(value), flush=True)


@_instance_of
class Print(Primitive):
    """Print tensors and other values, one per line."""
    def __call__(self, *args):
        print_(*args)


@_instance_of
class Depend(Primitive):
    """The value, computed after expr."""
    def __call__(self, value, expr) -> Tensor:
        return value


# --- summaries ---------------------------------------------------------------------------------------------------------

_recorded = {}


def take_summaries():
    """What summary operators recorded since the last time: {(kind, tag): value}."""
    taken = dict(_recorded)
    _recorded.clear()
    return taken


def _summary(kind):
    class Summary(Primitive):
        """Record a value under a tag, for whoever writes summaries."""
        def __call__(self, name, value):
            if not isinstance(value, Tensor):
                raise TypeError(f"{type(self).__name__}: value must be a Tensor, but got {_type_name(value)}")
            value.asnumpy()  # a compiled function hands over to Python here: the value of the run is recorded, not its symbol
            _recorded[kind, str(name)] = value
    Summary.__name__ = Summary.__qualname__ = kind + "Summary"
    return _instance_of(Summary)


ScalarSummary = _summary("Scalar")
ImageSummary = _summary("Image")
TensorSummary = _summary("Tensor")
HistogramSummary = _summary("Histogram")

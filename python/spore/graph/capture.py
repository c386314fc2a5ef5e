# SPDX-License-Identifier: Apache-2.0
"""One capture: the graph that is being made, the calls under way, and what was noticed."""
import sys
import types

from spore import _core
from spore._core import Tensor
from spore.graph import sizes, state
from spore.graph.errors import Redo, Unsupported
from spore.graph.heap import Heap, Watched

__all__ = ["Capture", "Frame"]

_STACK = 30000           # Python frames a deep capture may use; each is on the heap, not on the C stack


_UNWATCHED = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType, type)


class Frame:
    """A function that is being executed: its names and where it stands."""
    __slots__ = ("capture", "code", "globals", "locals", "captured", "outer", "owner", "line", "name", "global_names")

    def __init__(self, capture, code, globals_, locals_, captured, outer=None, owner=None):
        self.capture, self.code, self.globals, self.locals = capture, code, globals_, locals_
        self.captured, self.outer, self.owner = captured, outer, owner
        self.line = code.node.lineno if code else 0
        self.name = code.name if code else ""
        self.global_names = ()       # declared by a global statement

    def place(self):
        return self.code.file, self.line, self.name, self.code.text(self.line)


class Capture:
    """State of one capture. ``native``: the user's functions are run by Python on symbols (trace), not interpreted.
    ``faithful``: plain Python's rules hold, and what the capture looks at besides its arguments is watched."""

    def __init__(self, graph, strict=False, native=False, depth_limit=1000, faithful=False):
        from spore.graph.executor import Executor
        self.graph, self.strict, self.native, self.depth_limit = graph, strict, native, depth_limit
        self.faithful = faithful
        self.given = set()       # identities of arguments that are constants
        self.held = {}           # key: symbol; attributes that are read when a program starts
        self.watched = {}        # key: (place, contents when they were read)
        self.read = set()        # keys of attributes that were read before they were changed
        self.outside = {}        # Tensors from outside that are constants: {id: Tensor}
        self.executor = Executor(self)
        self.heap = Heap()
        self.frames = []         # being executed, innermost last
        self.activations = []    # calls of functions under way, see flow.py
        self.condition_depth = 0  # branches and loops of the run around the current point
        self.differentiated = 0  # functions around the current point that nodes of the graph differentiate
        self.guards = {}         # Cell: its training and hooks when it was captured
        self.outer = {}          # lists and dicts that come from outside: changes of them are results
        self.containers = {}     # those among the arguments, unless mutable: {id: the way to it}
        self.constants = {}      # structures among the arguments that are not mutable: {id: structure}
        self.literals = set()    # floats as written; others are 32-bit results
        self.returned = None     # place of the return statement that was executed last
        self.loops = 0
        self.sizes = sizes.current()     # sizes are symbols: see sizes.py
        self.chosen = []         # (symbol, its number when it was made): contents of Parameters that the run chooses

    def __enter__(self):
        self._before = state.set_capture(self)
        self._limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(self._limit, _STACK))
        self.heap.begin()
        return self

    def __exit__(self, *error):
        while self.heap.journals:
            self.heap.end()
        for value in self.outside.values():
            _core.outside_mark(value, False)
        sys.setrecursionlimit(self._limit)
        state.set_capture(self._before)

    def places(self):
        return [frame.place() for frame in self.frames if frame.code is not None]

    def note(self, error):
        """Remember where an error was met first."""
        if isinstance(error, Redo) or getattr(error, "_spore_places", None) is not None:
            return
        try:
            error._spore_places = self.places()
        except AttributeError:
            return
        outermost = next((frame for frame in self.frames if frame.code is not None), None)
        if outermost is not None:
            error._spore_cut = outermost.code, outermost.line
        if isinstance(error, Unsupported) and error.place is None and error._spore_places:
            error.place = error._spore_places[-1]

    def watch(self, place, value):
        """Note what was read from outside: a program fits only while that has not changed."""
        if self.faithful and place.key not in self.watched and not isinstance(value, _UNWATCHED):
            if isinstance(value, Tensor):
                if _core.is_symbol(value):
                    return
                if not getattr(value, "__parameter__", False):
                    _core.variable_mark(value)           # what it holds may change too
            self.watched[place.key] = Watched(place, value)

    def note_outside(self, value):
        """A Tensor from outside is a constant, unless the program writes to it: then programs read and write it like a Parameter."""
        if id(value) not in self.outside and not _core.is_recorded(value):
            self.outside[id(value)] = value
            _core.outside_mark(value, True)

    def check_outside(self):
        """Capture again when a Tensor is written that was taken for a constant."""
        if any(_core.is_recorded(value) and not _core.is_symbol(value) for value in self.outside.values()):
            raise Written("a Tensor is written that was taken for a constant")

    def note_read(self, key):
        """Note an attribute whose contents from before the call are used."""
        if key not in self.read and not any(key in journal for journal in self.heap.journals):
            self.read.add(key)

    def need_no_gradient(self, what):
        """Run-time control flow has no place in a record of gradients; whoever records starts again another way."""
        if _core.grad_recording():
            raise ControlFlow(what)


class Written(Redo):
    """A Tensor from outside is written to: nothing that was captured before holds."""


class ControlFlow(Redo):
    """Run-time control flow was met while gradients were being recorded."""

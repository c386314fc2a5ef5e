# SPDX-License-Identifier: Apache-2.0
"""Functions of one slice applied to many: ``vmap``.

The function runs once, on symbols that stand for a slice, and what it does is recorded; the engine then does it to all slices at
once (src/ops/vmap.h). That holds for gradients taken inside as well, since they are recorded like everything else. What is the same for
all slices enters as it is, so conditions on it are ordinary Python.

A function whose course depends on the values of a slice, or that stores them somewhere, runs slice by slice instead, with the same
results; ``spore explain`` says so.
"""
from collections.abc import Callable
from typing import Any, TypeVar

from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.graph import state as _state

R = TypeVar("R")

__all__ = ["vmap", "batched", "NotBatched"]

_MOST = 1 << 24          # elements of unit vectors that are made at a time


class NotBatched(Exception):
    """The function must run slice by slice; the text says why."""


# --- one function, all slices ----------------------------------------------------------------------------------------

def batched(function, leaves, size, variables=(), values=()):
    """What ``function(*slices)`` gives for all slices of ``leaves`` (along their first axis) at once.

    Gives (value, flags, written): the structure that the function gave, with Tensors for all slices in it; for every Tensor in order
    whether it has the slices along its first axis, or is the same for all of them; and {number of a leaf: its new contents} of those
    whose slices the function wrote to. ``variables``: Parameters that have contents of their own, ``values``, for every slice.
    Raises NotBatched where that cannot be done.
    """
    from spore.graph.capture import Capture
    outer = _state.capture()
    if outer is not None:
        return _inside(outer, function, leaves, size, variables, values)
    capture = Capture(_core.graph_create(), native=True)
    recorded, params = _begin(capture, leaves)
    try:
        with capture, _Losing():
            value, written = _recorded(recorded, function, params)
    except _core.SymbolError as error:
        _core.function_abandon(recorded)
        raise NotBatched(str(error)) from None
    except BaseException:
        _core.function_abandon(recorded)
        raise
    return _apply(recorded, value, written, leaves, size, variables, values)


def _recorded(recorded, function, params):
    """(what the function of one slice gives, numbers of the slices that it wrote to), with these as results behind the others."""
    numbers = [_core.symbol_id(p) for p in params]
    value = function(*params)
    written = [i for i, p in enumerate(params) if _core.symbol_id(p) != numbers[i]]
    _core.function_end(recorded, _tensors(value) + [params[i] for i in written])
    return value, written


def _inside(capture, function, leaves, size, variables, values):
    """The same while a program is captured: what was noted on the way is forgotten when it cannot be done."""
    from spore.graph.capture import ControlFlow
    recording = _core.function_recording()
    mark = _core.function_mark(recording)
    n_frames, n_activations = len(capture.frames), len(capture.activations)
    capture.heap.begin()
    try:
        recorded, params = _begin(capture, leaves)
        try:
            with _Losing():
                value, written = _recorded(recorded, function, params)
        except BaseException:
            _core.function_abandon(recorded)
            raise
        result = _apply(recorded, value, written, leaves, size, variables, values)
    except (ControlFlow, _core.SymbolError, NotBatched) as error:
        capture.heap.end()
        del capture.frames[n_frames:]
        del capture.activations[n_activations:]
        _core.function_rollback(recording, mark)
        raise NotBatched(str(error)) from None
    except BaseException:
        capture.heap.end()
        raise
    capture.heap.keep()
    return result


def _begin(capture, leaves):
    recorded, params = _core.function_begin(capture.graph, "slice", [(t.dtype, t.shape[1:]) for t in leaves])
    _core.function_will_batch(recorded)
    return recorded, params


def _apply(recorded, value, written, leaves, size, variables, values):
    answer = _core.function_batch(recorded, size, leaves, list(variables), list(values))
    if isinstance(answer, str):
        raise NotBatched(answer)
    results, flags, slow = answer
    if slow:
        _tell(f"vmap: these operators ran slice by slice, for {size} slices: {', '.join(sorted(set(slow.split())))}")
    rest = iter(results)
    value, n = _rebuilt(value, lambda _: next(rest)), len(flags) - len(written)
    return value, flags[:n], dict(zip(written, [_whole(new, flag, size) for new, flag in zip(rest, flags[n:])]))


def _whole(tensor, flag, size):
    """A Tensor with the slices along its first axis, also where they are all the same."""
    from spore import ops
    return tensor if flag else ops.broadcast_to(tensor.expand_dims(0), (size,) + tensor.shape)


class _Losing:
    """While a slice is recorded inside a gradient: what only an eager record would know (hooks, gradients of one's own) would be lost."""

    def __enter__(self):
        self._before = _state.losing()
        _state.set_losing(self._before or _core.grad_recording())

    def __exit__(self, *error):
        _state.set_losing(self._before)


def keeps(what):
    """Called where something is noted that a record of a slice cannot hold."""
    if _state.losing():
        raise NotBatched(f"{what} inside a function whose vmap is differentiated")


def _tell(text):
    from spore.graph import explain
    explain.note(text)


# --- structures ------------------------------------------------------------------------------------------------------

def _is_leaf(value):
    return isinstance(value, Tensor) or type(value).__name__ == "Scalar" and hasattr(value, "symbol")


def _rebuilt(value, see):
    """The structure with ``see`` of its Tensors and numbers of the run."""
    if _is_leaf(value):
        return see(value)
    if isinstance(value, tuple):
        items = [_rebuilt(item, see) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [_rebuilt(item, see) for item in value]
    if isinstance(value, dict):
        return {key: _rebuilt(item, see) for key, item in value.items()}
    return value


def _tensors(value):
    found = []
    _rebuilt(value, lambda leaf: found.append(leaf if isinstance(leaf, Tensor) else leaf.symbol))
    return found


def _number(value):
    return isinstance(value, (bool, int, float)) and not isinstance(value, Tensor)


# --- axes ------------------------------------------------------------------------------------------------------------

def _axis_of(axis, rank, what):
    """A checked axis that is not below 0, or None."""
    if axis is None:
        return None
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise RuntimeError(f"The axis in vmap`s '{what}' can only be of type Int or None, but got {_type_name(axis)} {axis!r}.")
    if not -rank <= axis < rank:
        raise RuntimeError(f"The axis: {axis} in '{what}' is out of bounds for array of dimension [-{rank},{rank}).")
    return axis % rank


def _in_axes(value, axes, into):
    """The axis of every Tensor in the arguments, in order."""
    if isinstance(value, Tensor):
        if isinstance(axes, (tuple, list, dict)):
            raise RuntimeError(f"The axis in vmap's 'in_axes' should be a None or a scalar of type Int64Imm, but got a {axes} for a "
                               "Tensor.")
        into.append(_axis_of(axes, value.ndim, "in_axes"))
    elif isinstance(value, (tuple, list)):
        nested = isinstance(axes, (tuple, list))
        if nested and len(axes) < len(value):
            raise RuntimeError(f"vmap: 'in_axes' {axes} has {len(axes)} entries for an argument of {len(value)} items.")
        for i, item in enumerate(value):
            _in_axes(item, axes[i] if nested else axes, into)
    elif isinstance(value, dict):
        for key, item in value.items():
            _in_axes(item, axes[key] if isinstance(axes, dict) else axes, into)
    elif _number(value) and axes is not None:
        raise RuntimeError(f"The orig_abs should be AbstractTensor when corresponding axis is {axes}, but got the number {value!r}: "
                           "vmap cannot take slices of it. Give None for it in 'in_axes'.")


def _check_all_none(axes, what):
    def none(value):
        return all(none(item) for item in value) if isinstance(value, (tuple, list)) else value is None
    if axes is None:
        raise RuntimeError(f"The '{what}' of 'vmap' cannot be a single None while 'fn' is not a 'CellList'.")
    if what == "in_axes" and isinstance(axes, (tuple, list)) and none(axes):
        raise RuntimeError(f"The '{what}' of 'vmap' cannot be all None while 'fn' is not a 'CellList', but got {tuple(axes)}.")


def _moved(tensor, source, to):
    """The Tensor with one axis moved; a view."""
    if source == to:
        return tensor
    order = [i for i in range(tensor.ndim) if i != source]
    order.insert(to, source)
    return tensor.transpose(tuple(order))


def _joined(value, flags, axes, size):
    """The results with their slices where out_axes says; lists become tuples and numbers Tensors, as in MindSpore."""
    rest = iter(flags)

    def place(tensor, axis):
        tensor = tensor if isinstance(tensor, Tensor) else tensor.symbol
        flag = next(rest)
        if axis is None:
            if flag:
                raise RuntimeError("It is invalid that source is not None and dst is None: a result that differs from slice to slice "
                                   "needs an axis in 'out_axes'.")
            return tensor
        rank = tensor.ndim + (not flag)
        axis = _axis_of(axis, rank, "out_axes")
        return _moved(_whole(tensor, flag, size), 0, axis)

    def walk(part, axis):
        if _is_leaf(part):
            return place(part, axis)
        if _number(part):
            if axis is None:
                return part
            return Tensor([part] * size)
        if isinstance(part, (tuple, list)):
            if isinstance(axis, (tuple, list)) and len(axis) != len(part):
                raise RuntimeError("The size of vmap's 'out_axes' should be equal to the number of results of 'fn': "
                                   f"{len(part)}, but got size: {len(axis)}.")
            items = [walk(item, axis[i] if isinstance(axis, (tuple, list)) else axis) for i, item in enumerate(part)]
            return type(part)(*items) if hasattr(part, "_fields") else tuple(items)
        if isinstance(part, dict):
            return {key: walk(item, axis[key] if isinstance(axis, dict) else axis) for key, item in part.items()}
        return part
    if isinstance(axes, (tuple, list)) and len(axes) == 1 and not isinstance(value, (tuple, list)):
        axes = axes[0]
    return walk(value, axes)


# --- vmap ------------------------------------------------------------------------------------------------------------

def vmap(fn: Callable[..., R], in_axes: Any = 0, out_axes: Any = 0, chunk_size: int | None = None) -> Callable[..., R]:
    """A function that applies ``fn`` to all slices of its arguments along the given axes at once and joins the results.

    ``fn`` is run once; operators on its slices become operators on whole batches, so that thousands of slices cost little more than
    their arithmetic. Random numbers are drawn anew for every slice.

    Args:
        fn: function, Cell, or a list of Cells of one kind (an ensemble: each gets its slice).
        in_axes: axis per argument (int for all, or nested like the arguments); None: that argument is not sliced.
        out_axes: where the new axis goes in the results, an int or nested like them.
        chunk_size: at most so many slices are computed at a time; None: all.

    Examples:
        >>> import spore as ms
        >>> print(ms.vmap(lambda x, y: x * y, in_axes=(0, None))(ms.Tensor([1.0, 2.0]), ms.Tensor(3.0)))
        [3. 6.]
        >>> print(ms.vmap(ms.grad(lambda x: (x ** 3).sum()))(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[ 3. 12.]
         [27. 48.]]
    """
    cells = _ensemble(fn)
    if cells is None:
        if not callable(fn):
            raise RuntimeError(f"'VmapOperation' arg0 must be a 'Function' or 'Cell', but got {_type_name(fn)} {fn!r}.")
        _check_all_none(in_axes, "in_axes")
        _check_all_none(out_axes, "out_axes")
    if chunk_size is not None and (isinstance(chunk_size, bool) or not isinstance(chunk_size, int) or chunk_size < 1):
        raise ValueError(f"vmap: chunk_size must be an int above 0 or None, but got {chunk_size!r}")

    def run(*args, **kwargs):
        from spore.common.differentiate import _flatten, _spread
        function, args = _spread(fn if cells is None else cells[0], args, kwargs)
        if isinstance(in_axes, (tuple, list)) and len(in_axes) != len(args):
            raise RuntimeError("When vmap`s 'in_axes' is a tuple or list, and its size must be equal to the number of arguments of "
                               f"'fn': {len(args)}, but got size: {len(in_axes)}.")
        axes = []
        _in_axes(args, tuple(in_axes) if isinstance(in_axes, list) else in_axes, axes)
        leaves = _flatten(args, [])
        size = _size_of(leaves, axes, cells)
        fronted = [leaf if axis is None else _moved(leaf, axis, 0) for leaf, axis in zip(leaves, axes)]
        call = _Call(function, cells, args, axes, leaves, fronted, size)
        value, flags = call.chunks(chunk_size or size)
        return _joined(value, flags, out_axes, size)
    run.__wrapped_fn__ = fn
    return run


def _ensemble(fn):
    """The Cells of an ensemble, None when ``fn`` is none."""
    if not isinstance(fn, (list, tuple)) and type(fn).__name__ != "CellList":
        return None
    cells = list(fn)
    if not cells or not all(callable(cell) for cell in cells):
        raise RuntimeError(f"'VmapOperation' arg0 must be a 'Function' or 'Cell', or Cells in a list, but got {fn!r}.")
    if len(cells) == 1:
        raise RuntimeError("In the model ensembling parallel training scenario ('VmapOperation' arg0 is a 'CellList'), the size of "
                           "'CellList' must be greater than 1, but got 1.")
    counts = [len(list(cell.get_parameters())) if hasattr(cell, "get_parameters") else 0 for cell in cells]
    for count in counts:
        if count != counts[0]:
            raise ValueError(f"Parameter size of each cell should be consistent, but get {counts[0]} and {count}.")
    return cells


def _size_of(leaves, axes, cells):
    sizes = [leaf.shape[axis] for leaf, axis in zip(leaves, axes) if axis is not None]
    for size in sizes:
        if size != sizes[0]:
            raise RuntimeError("The 'axis_size' of each argument in the scope of 'vmap' should be equal, but got "
                               f"{sizes[0]} and {size}.")
    if cells is not None:
        if sizes and sizes[0] != len(cells):
            raise ValueError("If you want to execute the model ensembling parallel training, please make sure the 'axis_size' in the "
                             "scope of vmap consistent with the cell size of the input 'CellList', otherwise, please do not enter "
                             f"'CellList' as the first argument. There are {sizes[0]} slices, but {len(cells)} Cells.")
        return len(cells)
    if not sizes:
        raise RuntimeError("The 'in_axes' of 'vmap' cannot be all None while 'fn' is not a 'CellList': no argument is sliced.")
    if not sizes[0]:
        raise RuntimeError("vmap: the sliced axes have size 0, there is nothing to apply the function to.")
    return sizes[0]


class _Call:
    """One call of what vmap gave."""

    def __init__(self, function, cells, args, axes, given, leaves, size):
        self.function, self.cells, self.args, self.axes, self.leaves, self.size = function, cells, args, axes, leaves, size
        self.given = given           # the Tensors themselves; ``leaves`` have their slices along the first axis

    def chunks(self, at_a_time):
        """(value, flags) for all slices, so many at a time."""
        from spore import ops
        if at_a_time >= self.size:
            return self.slices(0, self.size)
        parts = [self.slices(i, min(i + at_a_time, self.size)) for i in range(0, self.size, at_a_time)]
        (first, flags), columns, number = parts[0], list(zip(*[_tensors(value) for value, _ in parts])), iter(range(1 << 30))

        def join(leaf):
            i = next(number)
            return ops.cat(columns[i], 0) if flags[i] else leaf
        return _rebuilt(first, join), flags

    def slices(self, start, stop):
        """(value, flags) of a range of slices; slice by slice where it cannot be done at once."""
        whole = start == 0 and stop == self.size
        parts = [leaf if axis is None or whole else leaf[start:stop] for leaf, axis in zip(self.leaves, self.axes)]
        try:
            return self.at_once(parts, start, stop)
        except NotBatched as reason:
            _tell(f"vmap: {stop - start} slices were taken one after the other: {reason}")
        return self.one_by_one(parts, start, stop)

    def at_once(self, parts, start, stop):
        from spore.common.differentiate import _map, call
        sliced = [part for part, axis in zip(parts, self.axes) if axis is not None]
        variables, values = self.weights(start, stop)

        def function(*slices):
            rest, shared, axes = iter(slices), iter(parts), iter(self.axes)

            def put(_):
                part = next(shared)
                return part if next(axes) is None else next(rest)
            return call(self.function, _map(put, self.args))
        value, flags, written = batched(function, sliced, stop - start, variables, values)
        places = [i for i, axis in enumerate(self.axes) if axis is not None]
        for number, new in written.items():
            self.write(places[number], new, start, stop)
        return value, flags

    def write(self, place, new, start, stop):
        """Put what the function wrote to slices where these come from."""
        axis, given = self.axes[place], self.given[place]
        new = _moved(new, 0, axis)
        if stop - start == self.size:
            _core.apply("assign", [given, new], {})
        else:
            given[(slice(None),) * axis + (slice(start, stop),)] = new

    def weights(self, start, stop):
        """The Parameters of the first Cell of an ensemble, and those of all Cells stacked."""
        from spore import ops
        if self.cells is None:
            return (), ()
        rows = [list(cell.get_parameters()) if hasattr(cell, "get_parameters") else [] for cell in self.cells[start:stop]]
        own = list(self.cells[0].get_parameters()) if rows[0] else []
        if any(type(cell) is not type(self.cells[0]) for cell in self.cells) or any(
                p.shape != q.shape or p.dtype != q.dtype for row in rows for p, q in zip(row, own)):
            raise NotBatched("the Cells of the ensemble differ in more than the values of their Parameters")
        return own, [ops.stack(column, 0) for column in zip(*rows)]

    def one_by_one(self, parts, start, stop):
        from spore import ops
        from spore.common.differentiate import _map, call
        results, rows, before = [], [], []
        for i in range(stop - start):
            taken = [part if axis is None else part[i] for part, axis in zip(parts, self.axes)]
            rows.append(taken)
            before.append([_core.symbol_id(t) for t in taken])         # -1 where they are not symbols
            rest = iter(taken)
            function = self.function if self.cells is None else self.cells[start + i]
            results.append(call(function, _map(lambda _, rest=rest: next(rest), self.args)))
        # In eager mode slices are views, and what is written to them is there already.
        for place, (column, numbers) in enumerate(zip(zip(*rows), zip(*before))):
            if self.axes[place] is not None and any(_core.symbol_id(t) != n for t, n in zip(column, numbers)):
                self.write(place, ops.stack(column, 0), start, stop)
        columns = iter(zip(*[_tensors(result) for result in results]))
        value = _rebuilt(results[0], lambda _: ops.stack(next(columns), 0))
        return value, [True] * len(_tensors(value))


# --- unit vectors, for Jacobians -------------------------------------------------------------------------------------

def over_basis(function, like):
    """``function(e)`` for every unit vector e in the shape of ``like``: a list of Tensors with one row for each. function gives a list
    of Tensors."""
    from spore import ops
    size = like.size
    at_a_time = max(1, min(size, _MOST // max(size, 1)))
    rows = []
    for start in range(0, size, at_a_time):
        n = min(at_a_time, size - start)
        basis = (ops.eye(size, size, like.dtype) if n == size else ops.eye(size, size, like.dtype)[start:start + n])
        basis = basis.reshape((n,) + tuple(like.shape))
        try:
            value, flags, _ = batched(function, [basis], n)
            value = [t if flag else ops.broadcast_to(t.expand_dims(0), (n,) + t.shape) for t, flag in zip(value, flags)]
        except NotBatched as reason:
            _tell(f"jacobian: {n} rows were computed one after the other: {reason}")
            value = [ops.stack(column, 0) for column in zip(*[function(basis[i]) for i in range(n)])]
        rows.append(value)
    return rows[0] if len(rows) == 1 else [ops.cat(parts, 0) for parts in zip(*rows)]

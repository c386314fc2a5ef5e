# SPDX-License-Identifier: Apache-2.0
"""Cells that hold other Cells: in a row (SequentialCell), as a list (CellList), by name (CellDict).

Children are named by their positions; when positions change, the Parameters below are renamed. The part of a name that
comes from Cells further out is read off a child's Parameter, so containers can be changed after they were assigned.
"""
from collections import OrderedDict, abc

from spore._core import Tensor, type_name as _type_name
from spore.nn.cell import Cell

__all__ = ["SequentialCell", "CellList", "CellDict"]


def _position(owner, index, length, more=0):
    """`index` counted from the start; `more` is 1 for insertion, where the end is a position too."""
    if not isinstance(index, int) or isinstance(index, bool):
        raise TypeError(f"For '{type(owner).__name__}', an index must be an int, but got {_type_name(index)}.")
    if not -length <= index < length + more:
        raise IndexError(f"For '{type(owner).__name__}', the index must be in [{-length}, {length + more}), but got {index}.")
    return index if index >= 0 else index + length


def _need_cell(owner, cell):
    if not isinstance(cell, Cell):
        raise TypeError(f"For '{type(owner).__name__}', every element must be a Cell, but got {_type_name(cell)}.")
    return cell


def _place(cells):
    """(prefix, depth): what stands before the children's own keys in the names of the Parameters below them, and at which part of
    such a name the key is. Read off the first Parameter: the last of its parts that is its child's key, unless at an earlier one
    the second child with Parameters has its key too. So it is in MindSpore, also for names that say something else."""
    first = second = None
    for key, cell in cells.items():
        parameter = next((p for _, p in cell.parameters_and_names()), None)
        if parameter is None:
            continue
        if first is not None:
            second = key, parameter.name.split(".")
            break
        first = key, parameter.name.split(".")
    if first is None:
        return "", 0
    key, parts = first
    prefix, depth = "", 0
    for at, part in enumerate(parts):
        if part == key:
            prefix, depth = "".join(before + "." for before in parts[:at]), at
            if second is not None and second[1][at:at + 1] == [second[0]]:
                break
    return prefix, depth


def _rename_below(cell, start, depth):
    """Put another beginning before what follows the key in the names of a Cell's Parameters."""
    for _, parameter in cell.parameters_and_names():
        parameter.name = start + ".".join(parameter.name.split(".")[depth + 1:])


class _Row:
    """What SequentialCell and CellList share: children by position."""

    def __len__(self):
        return len(self._cells)

    def __bool__(self):
        return bool(self._cells)

    def __iter__(self):
        return iter(list(self._cells.values()))

    def set_grad(self, requires_grad=True):
        """Set the flag here and in all children."""
        self.__dict__["requires_grad"] = bool(requires_grad)
        for cell in self._cells.values():
            cell.set_grad(requires_grad)
        return self

    def _rename(self, cell, name):
        if self._auto_prefix:
            cell.update_parameters_name(name)

    def _add(self, cell, prefix):
        """Hold a Cell at the end."""
        self._rename(_need_cell(self, cell), f"{prefix}{len(self)}.")
        self._cells[str(len(self))] = cell

    def _put_before(self, index, cell):
        """Hold a Cell before the one at an index; those behind move on, with their names."""
        index = _position(self, index, len(self), 1)
        _need_cell(self, cell)
        prefix, depth = _place(self._cells)
        for at in range(len(self), index, -1):
            moved = self._cells[str(at - 1)]
            if self._auto_prefix:
                _rename_below(moved, f"{prefix}{at}.", depth)
            self._cells[str(at)] = moved
        self._cells[str(index)] = cell
        self._rename(cell, f"{prefix}{index}.")
        return index

    def _take_out(self, index):
        """Children at an index or in a slice go, and those behind move up."""
        keys = list(self._cells)
        gone = keys[index] if isinstance(index, slice) else [keys[_position(self, index, len(self))]]
        for key in gone:
            del self._cells[key]

    def _number_anew(self, numbered):
        """Children get the numbers of their places; ``numbered`` says which of them have numbers for names."""
        prefix, depth = _place(self._cells)
        cells = OrderedDict()
        for at, (key, cell) in enumerate(self._cells.items()):
            if numbered[at]:
                key = str(at)
                if self._auto_prefix:
                    _rename_below(cell, f"{prefix}{at}.", depth)
            cells[key] = cell
        self.__dict__["_cells"] = cells


class SequentialCell(_Row, Cell):
    """Cells run one after the other, each on the result of the one before.

    Args:
        args: the Cells; or one list of them; or one OrderedDict, whose keys become the names of the children.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
        >>> print(net(ms.ops.ones((5, 3))).shape)
        (5, 2)
        >>> print([p.name for p in net.get_parameters()])
        ['0.weight', '0.bias', '2.weight', '2.bias']
    """

    def __init__(self, *args):
        super().__init__()
        named = False
        if len(args) == 1:
            cells = args[0]
            if isinstance(cells, OrderedDict):
                named, args = True, cells.items()
            elif isinstance(cells, list):
                args = cells
            elif not isinstance(cells, Cell):
                raise TypeError(f"For '{type(self).__name__}', the argument must be a Cell, a list or an OrderedDict of "
                                f"Cells, but got {_type_name(cells)}.")
        for key, cell in args if named else ((str(i), c) for i, c in enumerate(args)):
            _need_cell(self, cell)
            self.insert_child_to_cell(key, cell)
            cell.update_parameters_name(key + ".")
        self._numbered = [not named] * len(self._cells)
        self.cell_list = list(self._cells.values())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._cells.items())[index]))
        return self.cell_list[_position(self, index, len(self))]

    def __setitem__(self, index, cell):
        _need_cell(self, cell)
        prefix, _ = _place(self._cells)
        key = list(self._cells)[_position(self, index, len(self))]
        self._cells[key] = cell
        cell.update_parameters_name(f"{prefix}{key}.")
        self.cell_list = list(self._cells.values())

    def __delitem__(self, index):
        self._take_out(index)
        del self._numbered[index]
        self._number_anew(self._numbered)
        self.cell_list = list(self._cells.values())

    def append(self, cell):
        """Add a Cell at the end."""
        self._add(cell, _place(self._cells)[0])
        self._numbered.append(True)
        self.cell_list = list(self._cells.values())

    def _insert(self, index, cell):
        self._put_before(index, cell)
        self._numbered.insert(index, True)
        self.cell_list = list(self._cells.values())

    def construct(self, input_data) -> Tensor:
        for cell in self.cell_list:
            input_data = cell(input_data)
        return input_data


class CellList(_Row, Cell):
    """A list of Cells. It is not called itself; iterate over it.

    Args:
        args: one list of Cells, or nothing.
        auto_prefix: by keyword; whether Parameters are named by their position. Default True.

    Examples:
        >>> from spore import nn
        >>> cells = nn.CellList([nn.Dense(2, 3), nn.ReLU()])
        >>> cells.append(nn.Dense(3, 4))
        >>> print(len(cells), cells[-1].weight.name)
        3 2.weight
    """

    def __init__(self, *args, **kwargs):
        super().__init__(kwargs.get("auto_prefix", True))
        if len(args) == 1:
            self.extend(args[0])

    __cell_as_list__ = True

    def __getitem__(self, index):
        if isinstance(index, slice):
            return CellList(list(self._cells.values())[index])
        return self._cells[str(_position(self, index, len(self)))]

    def __setitem__(self, index, cell):
        _need_cell(self, cell)
        key = str(_position(self, index, len(self)))
        self._rename(cell, f"{_place(self._cells)[0]}{key}.")
        self._cells[key] = cell

    def __delitem__(self, index):
        self._take_out(index)
        self._number_anew([True] * len(self))

    def __iadd__(self, cells):
        return self.extend(cells)

    def insert(self, index, cell):
        """Put a Cell before the one at `index`."""
        self._put_before(index, cell)

    def extend(self, cells):
        """Add a list of Cells at the end."""
        if not isinstance(cells, list):
            raise TypeError(f"For '{type(self).__name__}', a list of Cells is wanted, but got {_type_name(cells)}.")
        prefix, _ = _place(self._cells)
        for cell in cells:
            if isinstance(cell, CellDict):
                raise TypeError(f"For '{type(self).__name__}', an element cannot be a CellDict.")
            self._add(cell, prefix)
        return self

    def append(self, cell):
        """Add a Cell at the end."""
        self._add(cell, _place(self._cells)[0])

    def construct(self, *inputs):
        raise NotImplementedError("a CellList cannot be called: iterate over its Cells")


class CellDict(Cell):
    """Cells by name, in the order they were put in.

    Args:
        args: one mapping, CellDict, or sequence of (name, Cell) pairs; or nothing.
        auto_prefix: by keyword; whether Parameters get the name in front. Default True.

    Examples:
        >>> from spore import nn
        >>> cells = nn.CellDict({"fc": nn.Dense(2, 3), "act": nn.ReLU()})
        >>> print(list(cells), "fc" in cells, cells["fc"].weight.name)
        ['fc', 'act'] True fc.weight
    """

    def __init__(self, *args, **kwargs):
        super().__init__(kwargs.get("auto_prefix", True))
        if len(args) == 1:
            self.update(args[0])

    __cell_as_dict__ = True

    def __getitem__(self, key):
        return self._cells[key]

    def __setitem__(self, key, cell):
        cls = type(self).__name__
        if not isinstance(key, str):
            raise TypeError(f"For '{cls}', a key must be a str, but got {_type_name(key)}.")
        if key not in self._cells and hasattr(self, key):
            raise KeyError(f"For '{cls}', the key {key!r} is the name of an attribute of Cell.")
        if not key or "." in key:
            raise KeyError(f"For '{cls}', a key must not be empty or contain '.', but got {key!r}.")
        if not isinstance(cell, Cell) or isinstance(cell, (CellDict, CellList, SequentialCell)):
            raise TypeError(f"For '{cls}', a value must be a Cell that is no CellDict, CellList or SequentialCell, but got "
                            f"{_type_name(cell)}.")
        if self._auto_prefix:
            cell.update_parameters_name(f"{_place(self._cells)[0]}{key}.")
        self._cells[key] = cell

    def __delitem__(self, key):
        del self._cells[key]

    def __len__(self):
        return len(self._cells)

    def __bool__(self):
        return True

    def __iter__(self):
        return iter(list(self._cells))

    def __contains__(self, key):
        return key in self._cells

    def clear(self):
        """Take everything out."""
        self._cells.clear()

    def pop(self, key):
        """Take a Cell out and return it."""
        return self._cells.pop(key)

    def keys(self):
        """The names."""
        return self._cells.keys()

    def values(self):
        """The Cells."""
        return self._cells.values()

    def items(self):
        """Names and Cells."""
        return self._cells.items()

    def update(self, cells):
        """Put in all of a mapping, a CellDict or a sequence of pairs."""
        if not isinstance(cells, (abc.Iterable, CellDict)):
            raise TypeError(f"For '{type(self).__name__}', a mapping or a sequence of (name, Cell) is wanted, but got "
                            f"{_type_name(cells)}.")
        if isinstance(cells, (abc.Mapping, CellDict)):
            pairs = cells.items()
        else:
            pairs = list(cells)
            for pair in pairs:
                if not isinstance(pair, abc.Iterable):
                    raise TypeError(f"For '{type(self).__name__}', elements must be pairs of name and Cell, but got "
                                    f"{_type_name(pair)}.")
                if len(pair) != 2:
                    raise ValueError(f"For '{type(self).__name__}', elements must be pairs of name and Cell, but got "
                                     f"{len(pair)} items.")
        for key, cell in list(pairs):
            self[key] = cell

    def construct(self, *inputs):
        raise NotImplementedError("a CellDict cannot be called: call its Cells")


# --- helpers under MindSpore's names, for containers that packages write --------------------------------------------

def _valid_index(cell_num, index, op_name=None):
    """`index` counted from the start of `cell_num` Cells."""
    who = f"For '{op_name}', the" if op_name else "The"
    if not isinstance(index, int):
        raise TypeError(f"{who} type of 'index' must be int, but got {_type_name(index)}.")
    if not -cell_num <= index < cell_num:
        raise IndexError(f"{who} value of 'index' must be a number in range [{-cell_num}, {cell_num}), but got {index}.")
    return index % cell_num


def _valid_cell(cell, op_name=None):
    """True, or TypeError if it is no Cell."""
    if isinstance(cell, Cell):
        return True
    raise TypeError(f"{f'For {op_name!r},' if op_name else ''} each cell must be subclass of Cell, but got {_type_name(cell)}.")


def _get_prefix_and_index(cells):
    """What stands before the keys of Cells in the names of their Parameters, and at which part of the names the keys are."""
    return _place(cells)

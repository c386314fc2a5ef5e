# SPDX-License-Identifier: Apache-2.0
"""Compiled functions that are split over the processes of a job: when they are, how their arguments are, and the layouts that Primitives
and Cells ask for. The splitting itself is src/parallel/shard.h."""
import gc
import itertools
import os
import weakref

from spore import _core, context
from spore._core import Tensor
from spore._not_done import not_done

__all__ = []

_calls = itertools.count(1)


def recording():
    """Whether operators are being recorded into a function that will be split."""
    return context._splits_programs() and _core.recording()


def whole_specs(specs):
    """Dtypes and shapes of arguments as a whole, and into how many slices each of their axes is split; processes have a slice each."""
    strategy = context.get_auto_parallel_context("dataset_strategy")
    if context.get_auto_parallel_context("full_batch"):
        strategy = "full_batch"
    if strategy == "full_batch":
        splits = [()] * len(specs)
    elif strategy == "data_parallel":
        splits = [(context._row(),) + (1,) * (len(shape) - 1) if shape else () for _, shape in specs]
    else:
        splits = _splits_of_dataset(strategy, specs)
    whole = [(dtype, tuple(n * parts if n >= 0 else n for n, parts in zip(shape, split or (1,) * len(shape), strict=True)))
             for (dtype, shape), split in zip(specs, splits, strict=True)]
    return whole, splits


def say_not_done():
    """Settings that programs which are split do without."""
    if context._fusion("allreduce") != (None, None) or context._fusion("allgather")[0] is not None or context._fusion("reducescatter")[0] is not None:
        not_done("set_auto_parallel_context: comm_fusion in a program that is split", "every gradient is an exchange of its own")


def _splits_of_dataset(strategy, specs):
    if len(strategy) != len(specs):
        raise ValueError(f"set_auto_parallel_context: dataset_strategy has {len(strategy)} entries, but the network gets {len(specs)} "
                         f"Tensors: {strategy}")
    for split, (_, shape) in zip(strategy, specs, strict=True):
        if not isinstance(split, tuple) or split and len(split) != len(shape):
            raise ValueError(f"set_auto_parallel_context: dataset_strategy has {split} for a Tensor of shape {tuple(shape)}: one number for each "
                             "axis is wanted")
    return [tuple(split) for split in strategy]


def split_results():
    """Whether results that are split along their first axis stay so, as the data are."""
    return not context.get_auto_parallel_context("full_batch") and context.get_auto_parallel_context("dataset_strategy") == "data_parallel"


_SEARCHES = {"recursive_programming": 1, "sharding_propagation": 2, "dynamic_programming": 3}


def search():
    """How strategies are searched for: 0 for not at all."""
    if context.get_auto_parallel_context("parallel_mode") != context.ParallelMode.AUTO_PARALLEL:
        return 0
    return _SEARCHES[context.get_auto_parallel_context("search_mode")]


# --- layouts that are asked for ---------------------------------------------------------------------------------------

def check_strategy(name, in_strategy, out_strategy):
    """The arguments of Primitive.shard and its kin, refused as MindSpore does."""
    for which, strategy in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
        if strategy is None:
            continue
        if not isinstance(strategy, tuple):
            raise TypeError(f"{which} must be tuple type, but got:{type(strategy)}")
        _check_entries(name, which, strategy, strategy)
    if in_strategy is None and out_strategy is not None:
        raise ValueError(f"The out_strategy of {name} is {out_strategy}, need to set in_strategy, but got none")


def _check_entries(name, which, entries, whole):
    for entry in entries:
        if hasattr(entry, "to_dict"):
            continue
        if not isinstance(entry, tuple):
            raise TypeError(f"The element of strategy must be tuple/Layout type, but got:{type(entry)}")
        if entry and isinstance(entry[0], tuple) or any(hasattr(part, "to_dict") for part in entry):
            _check_entries(name, which, entry, whole)
            continue
        for number in entry:
            if not isinstance(number, int) or isinstance(number, bool):
                raise TypeError(f"The {which}: {whole} of {name} is not valid, the value of strategy must be int type, but "
                                f"got:{type(number)}")


class _Call:
    """Tensors of one call, whose layouts are placed together."""

    def __init__(self, name):
        self.name, self.number, self.operand = name, next(_calls), 0

    def constrain(self, tensor, strategy):
        """The Tensor with the layout."""
        attrs = {"of": self.name, "call": self.number, "operand": self.operand}
        self.operand += 1
        if hasattr(strategy, "to_dict"):
            matrix, axes = _grid(strategy, len(tensor.shape), self.name)
            return _core.apply("shard", [tensor], {**attrs, "matrix": matrix, "axes": axes})
        return _core.apply("shard", [tensor], {**attrs, "splits": strategy})

    def walk(self, value, entries):
        """A value of an argument list with what `entries` says of its Tensors, one after the other."""
        if isinstance(value, Tensor):
            entry = next(entries, None)
            if entry is None:
                raise RuntimeError(f"For '{self.name}', the strategy has {self.operand} entries, but there are more Tensors")
            return self.constrain(value, entry)
        if isinstance(value, (tuple, list)) and any(isinstance(part, Tensor) for part in value):
            return type(value)([self.walk(part, entries) for part in value])
        return value


def _flat(strategy):
    """One entry for each Tensor."""
    for entry in strategy:
        if not hasattr(entry, "to_dict") and entry and (isinstance(entry[0], tuple) or hasattr(entry[0], "to_dict")):
            yield from _flat(entry)
        else:
            yield entry


def _grid(layout, rank, name):
    """A Layout as a grid of processes and the axis that each of its dimensions splits."""
    kept = layout.to_dict()
    matrix, tensor_map = kept["device_matrix"], kept["tensor_map"]
    if list(kept["rank_list"]) != list(range(len(kept["rank_list"]))):
        raise RuntimeError(f"For '{name}', a Layout with a rank_list of its own is not done: {kept['rank_list']}")
    if len(tensor_map) != rank:
        raise RuntimeError(f"For '{name}', the layout has {len(tensor_map)} entries, but the Tensor has rank {rank}")
    axes = [-1] * len(matrix)
    for axis, part in enumerate(tensor_map):
        # Several dimensions split an axis in the order of the grid, whatever order the layout has: which process has which slice changes no result.
        for dim in sorted(len(matrix) - 1 - i for i in (part if isinstance(part, tuple) else (part,)) if i >= 0):
            if axes[dim] >= 0:
                raise RuntimeError(f"For '{name}', two axes are split by one dimension of the grid: {tensor_map}")
            axes[dim] = axis
    return tuple(matrix), tuple(axes)


def constrain(name, values, strategy):
    """Arguments, or results, with the layouts of a strategy."""
    entries = iter(list(_flat(strategy)))
    call = _Call(name)
    made = call.walk(values, entries) if isinstance(values, Tensor) else type(values)([call.walk(value, entries) for value in values])
    if any(entry != () for entry in entries):
        raise RuntimeError(f"For '{name}', the strategy {strategy} has more entries than there are Tensors: {call.operand}")
    return made


def plan(name, parameters, parameter_plan):
    """Ask for layouts of Parameters, by name."""
    by_name = {p.name: p for p in parameters}
    for wanted, strategy in parameter_plan.items():
        found = [p for full, p in by_name.items() if full == wanted or full.endswith("." + wanted)]
        if not found:
            raise ValueError(f"For '{name}', parameter_plan names '{wanted}', but the Parameters are {sorted(by_name)}")
        _Call(name).constrain(found[0], strategy)


# --- strategy files ---------------------------------------------------------------------------------------------------

_met = weakref.WeakSet()     # Parameters that are split, and of those with one name the one that became so last
_latest = {}


def _all_parameters():
    from spore.common.parameter import Parameter
    return [thing for thing in gc.get_objects() if isinstance(thing, Parameter)]


def _split_parameters():
    """Parameters that programs have over several processes, by name; of two with one name the one that came to it later."""
    met = {id(one) for one in _met}
    for param in _all_parameters():
        if id(param) not in met and _core.tensor_grid(param):
            _met.add(param)
            _latest[param.name] = weakref.ref(param)
    return {name: one() for name, one in _latest.items() if one() is not None}


def layouts(parameters):
    """What a strategy file says of Parameters that are used by programs over several processes."""
    found = {}
    for name, param in parameters.items():
        grid = _core.tensor_grid(param)
        if grid is None:
            continue
        matrix, axes = grid
        dims = [[len(matrix) - 1 - d for d, axis in enumerate(axes) if axis == k] for k in range(len(param.shape))]
        several = any(len(part) > 1 for part in dims)
        tensor_map = [part or [-1] for part in dims] if several else [part[0] if part else -1 for part in dims]
        found[name] = {"dev_matrix": list(matrix), "tensor_map": tensor_map, "tensor_shape": list(param.shape)}
    return found


def write_strategy_file(path):
    """The layouts of all Parameters, for the file that save_file names. Nodes stand for the Parameters: their numbers of slices."""
    from spore.parallel import _strategy_file
    parameters = _split_parameters()
    found = layouts(parameters)
    only = context.get_auto_parallel_context("strategy_ckpt_config").get("only_trainable_params", True)
    kept = {name: item for name, item in found.items() if parameters[name].requires_grad or not only}
    nodes = {}
    for name, item in kept.items():
        split = _core.tensor_split(parameters[name])
        nodes[f"Parameter_{name}"] = [split[1] if split else (1,) * len(item["tensor_map"])]
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    _strategy_file.write(path, nodes, kept)


def follow_strategy_file(path):
    """Ask for the layouts that a file has, of Parameters that have none yet."""
    from spore.parallel import checkpoint_transform
    strategy = checkpoint_transform._strategy(path)
    for param in _all_parameters():
        layout = strategy.layouts.get(param.name)
        if layout is None or _core.tensor_grid(param):
            continue
        if len(layout.axes) != len(param.shape):
            raise ValueError(f"{path}: the layout of '{param.name}' has {len(layout.axes)} axes, but the Parameter has shape {tuple(param.shape)}")
        axes = [-1] * len(layout.matrix)
        for axis, dims in enumerate(layout.axes):
            if list(dims) != sorted(dims):
                raise RuntimeError(f"{path}: axis {axis} of '{param.name}' is split by dimensions of the grid in another order than their own, "
                                   "which is not done")
            for d in dims:
                axes[d] = axis
        _core.tensor_set_grid(param, tuple(layout.matrix), tuple(axes))

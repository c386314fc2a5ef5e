# SPDX-License-Identifier: Apache-2.0
"""States of optimizers that are shared out over processes (enable_parallel_optimizer, AutoParallel.hsdp).

Each process keeps, along the first axis, its slice of the states of large Parameters and updates its slice of the Parameter; then the slices
are gathered. Levels:

    1  states
    2  and gradients: a process gets the sum of its slice alone (reduce_scatter)
    3  and Parameters: gathered where they are used

In programs that are split over processes (semi_auto_parallel) the pass that splits them does all of it (src/parallel/shard.h): `spread` tells it
which tensors belong to which Parameter. In data_parallel mode it is done here, for levels 1 and 2: the optimizer that is made computes with slices."""
import functools
import weakref

from spore import _core, context, ops
from spore._not_done import not_done
from spore.common import dtype as mstype
from spore.common.parameter import Parameter, ParameterTuple

__all__ = []

_optimizers = weakref.WeakSet()


class Plan:
    """What the settings ask for."""

    def __init__(self):
        get = context.get_auto_parallel_context
        config = get("parallel_optimizer_config") or {}
        self.level = context._optimizer_level()
        self.parts = config.get("optimizer_weight_shard_size", get("optimizer_weight_shard_size"))
        self.threshold = 1024 * config.get("parallel_optimizer_threshold", 64)

    def takes(self, parameter):
        """Whether the states of a Parameter are shared out."""
        shape, ranks = parameter.shape, self.ranks()
        return (parameter.parallel_optimizer and not parameter.layerwise_parallel and len(shape) > 0
                and parameter.size * parameter.itemsize >= self.threshold and shape[0] % ranks == 0)

    def ranks(self):
        """Processes that share one state."""
        size = context._ranks()
        if self.parts != -1 and size % self.parts:
            raise ValueError(f"set_auto_parallel_context: optimizer_weight_shard_size={self.parts} does not divide the {size} processes of the job")
        return size if self.parts == -1 else self.parts


def wanted():
    """Whether the settings ask for it, in a job where it means something."""
    return context.get_auto_parallel_context("enable_parallel_optimizer") and context._ranks() > 1


def watch(optimizer):
    """Programs that are split share out its states."""
    _optimizers.add(optimizer)


def spread():
    """Tell the engine, before a program is split, which tensors may be shared out further than the operators ask for."""
    if not wanted():
        return
    plan = Plan()
    for optimizer in list(_optimizers):
        parameters = optimizer.parameters
        for parameter in (*parameters, *optimizer.get_parameters()):
            parameter.__dict__.pop("init_mode", None)   # it would keep the whole beside the slices
        states = [value for value in vars(optimizer).values() if isinstance(value, ParameterTuple) and len(value) == len(parameters)]
        for i, parameter in enumerate(parameters):
            split = _core.tensor_split(parameter)
            shape = split[0] if split else parameter.shape
            size = parameter.itemsize
            for n in shape:
                size *= n
            if not parameter.parallel_optimizer or not shape or size < plan.threshold:
                continue
            for state in states:
                if state[i] is not parameter and (state[i].shape == shape or _core.tensor_split(state[i])):
                    _core.tensor_spread(state[i], parameter, plan.parts)
            if plan.level == 3:
                _core.tensor_spread(parameter, parameter, plan.parts)


def slice_early(optimizer, states):
    """States that programs will share out at level 3 are slices from the start: no process ever has all of them."""
    if not wanted() or len(states) != len(optimizer.parameters) or context._stages() > 1 or not context._splits_programs():
        return
    plan = Plan()
    if plan.level != 3:
        return
    n, rank = plan.ranks(), _core.comm_info("mccl_world_group")[0]
    for parameter, state in zip(optimizer.parameters, states, strict=True):
        if state is parameter or state.shape != parameter.shape or not plan.takes(parameter) or _core.tensor_split(parameter):
            continue
        rows = state.shape[0] // n
        state.__dict__.pop("init_mode", None)
        state._rebind(state._alias()[rank % n * rows:(rank % n + 1) * rows].copy())
        _core.tensor_mark_slice(state, n)


# --- data parallelism ---------------------------------------------------------------------------------------------------

def _group(who, ranks):
    """Name of a group of processes, made when new."""
    from spore.communication import create_group
    if len(ranks) == context._ranks():
        return "mccl_world_group"
    name = f"spore_{who}_{'_'.join(map(str, ranks))}"
    create_group(name, list(ranks))
    return name


class Shards:
    """The slices that this process updates. `slices` stands for the Parameters in the optimizer: those that are not shared out are themselves."""

    def __init__(self, parameters, plan):
        size, rank = context._ranks(), _core.comm_info("mccl_world_group")[0]
        self.level, self.n = plan.level, plan.ranks()
        self.index = rank % self.n
        first = rank - self.index
        self.group = _group("optimizer", range(first, first + self.n))
        self.peers = _group("optimizer", range(self.index, size, self.n)) if self.n < size else None
        self.ranks = size
        self.parameters = tuple(parameters)
        self.shared = tuple(i for i, p in enumerate(self.parameters) if plan.takes(p))
        made = list(self.parameters)
        for i in self.shared:
            made[i] = self._slice_of(self.parameters[i])
        self.slices = ParameterTuple(made)
        self.buckets, self.sums = self._fill(self.shared, 'allgather'), self._fill(self.shared, 'reducescatter')

    def _fill(self, rows, kind):
        """Which slices travel together: the last ones first, which have their gradients first."""
        from spore.nn.wrap.grad_reducer import bucket_bytes, fill   # not before: it imports optimizers
        most, _ = context._fusion(kind)
        sizes = [p.size * p.itemsize for p in self.parameters]
        return fill(rows, sizes, bucket_bytes(sum(sizes[i] for i in rows)) if most is None else most, [p.dtype for p in self.parameters])

    def _slice_of(self, parameter):
        made = Parameter(self._own(parameter._alias()).copy(), name=parameter.name, requires_grad=parameter.requires_grad)
        made._copy_marks(parameter)
        made.spore_slice = True
        return made

    def _own(self, tensor):
        rows = tensor.shape[0] // self.n
        return tensor[self.index * rows:(self.index + 1) * rows]

    def begin(self, gradients):
        """The Parameters may have been changed since the last step; gradients may be whole."""
        made = list(gradients)
        for i in self.shared:
            p = self.parameters[i]
            _core.apply("assign", (self.slices[i], self._own(p.value())))
            if made[i].shape == p.shape:
                made[i] = self._own(made[i])
        return tuple(made)

    def end(self):
        """Slices of all processes into the Parameters."""
        gather = ops.AllGather(self.group)
        for bucket in self.buckets:
            flat = [self.slices[i].value().reshape((-1,)) for i in bucket]
            whole = gather(flat[0] if len(flat) == 1 else ops.concat(flat)).reshape((self.n, -1))
            at = 0
            for i in bucket:
                p, size = self.parameters[i], self.parameters[i].size // self.n
                _core.apply("assign", (p, whole[:, at:at + size].reshape(p.shape)))
                at += size

    def mark(self, states):
        """States that were made like slices are known as such: files hold them whole."""
        if states is self.slices or len(states) != len(self.parameters):
            return
        for i in self.shared:
            if states[i] is not self.parameters[i] and states[i].shape == self.slices[i].shape:
                _core.tensor_mark_slice(states[i], self.n)

    def scatter(self, gradients, mean, rest):
        """Sums over all processes: of shared ones the slices; `rest` reduces the others."""
        made = list(gradients)
        others = tuple(i for i in range(len(made)) if i not in self.shared)
        for i, g in zip(others, rest(tuple(made[i] for i in others))) if others else ():
            made[i] = g
        scatter, sum_of_peers = ops.ReduceScatter("sum", self.group), ops.AllReduce("sum", self.peers) if self.peers else None
        for bucket in self.sums:
            parts = [made[i].astype(mstype.float32).reshape((self.n, -1)) for i in bucket]
            flat = (parts[0] if len(parts) == 1 else ops.concat(parts, 1)).reshape((-1,))
            own = scatter(flat)
            if sum_of_peers is not None:
                own = sum_of_peers(own)
            if mean:
                own = own / self.ranks
            at = 0
            for i in bucket:
                size = self.parameters[i].size // self.n
                made[i] = own[at:at + size].reshape(self.slices[i].shape).astype(gradients[i].dtype)
                at += size
        return tuple(made)


@functools.cache
def _sharding_class(cls):
    """The class of an optimizer whose step works on slices."""

    class Sharded(cls):
        def construct(self, gradients, *more):
            shards = self.__dict__["_shards"]
            done = super().construct(shards.begin(self._checked(gradients)), *more)
            shards.end()
            return done

    Sharded.__name__, Sharded.__qualname__, Sharded.__module__, Sharded.__doc__ = cls.__name__, cls.__qualname__, cls.__module__, cls.__doc__
    return Sharded


def begin(optimizer):
    """Called when an optimizer has its Parameters and not yet its states. The tuple that states are made like."""
    watch(optimizer)
    if not wanted() or context.get_auto_parallel_context("parallel_mode") != "data_parallel":
        return optimizer.parameters
    plan = Plan()
    name = type(optimizer).__name__
    if not optimizer._by_element or not type(optimizer).__module__.startswith("spore."):
        not_done(f"set_auto_parallel_context: enable_parallel_optimizer=True with {name}", "its steps need whole Parameters, so every process "
                 "keeps all states")
        return optimizer.parameters
    if plan.level == 3:
        not_done("set_auto_parallel_context: optimizer_level='level3' in data_parallel mode",
                 "Parameters stay whole there, as with 'level2'; semi_auto_parallel shares them out")
    shards = Shards(optimizer.parameters, plan)
    if not shards.shared:
        return optimizer.parameters
    optimizer.__dict__["_shards"] = shards
    optimizer.__class__ = _sharding_class(type(optimizer))
    return shards.slices


def shards_of(optimizer):
    """The slices of an optimizer that works on some; None of others."""
    return optimizer.__dict__.get("_shards") if hasattr(optimizer, "__dict__") else None

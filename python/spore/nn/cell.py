# SPDX-License-Identifier: Apache-2.0
"""Cell: the unit networks are built of. It holds Parameters and other Cells by attribute name, and runs ``construct``.

Names: a Parameter's name is the path of attributes that leads to it from the outermost Cell. A child's Parameters are
renamed when it is put into its parent, so the last parent counts, as in MindSpore.
"""
import inspect
import itertools
from collections import OrderedDict

from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore._moves import ATTRIBUTES, check_keywords
from spore._not_done import not_done, shard_not_done
from spore.common._where import name_cell
from spore.common import dtype as mstype
from spore.common.differentiate import call
from spore.common.foreign import with_tensors
from spore.common.own_gradient import through_hook, with_gradient
from spore.common.parameter import PARAMETER_NAME_DEFAULT, Parameter, ParameterTuple, is_default_name
from spore.common.saved_tensors import saved_tensors_hooks
from spore.common.tensor import known_device
from spore.graph import state as _state
from spore.nn import _parts
from spore.nn._cell_buffers import CellBuffers, is_buffer, register_cell_buffer_registration_hook  # noqa: F401
from spore.nn._cell_state import CellState, _IncompatibleKeys  # noqa: F401

__all__ = ["Cell"]


class _HookHandle:
    """Takes a registered hook off again."""

    def __init__(self, cell, hooks, key):
        self._cell, self._hooks, self._key = cell, hooks, key

    def remove(self):
        self._hooks.pop(self._key, None)
        self._cell._refresh_plain()
        self._cell._hooks_changed()


class Cell(CellBuffers, CellState):
    """Base of all networks and layers. Subclasses make their parts in ``__init__`` and compute in ``construct``.

    Args:
        auto_prefix: whether the names of the Parameters of child Cells get the child's name in front.
        flags: dict of flags, as for ``add_flags``.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> class Net(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.fc = nn.Dense(3, 2)
        ...     def construct(self, x):
        ...         return self.fc(x)
        >>> print(Net()(ms.ops.ones((4, 3))).shape)
        (4, 2)
    """

    IGNORE_LIST = ["_scope", "_cell_init_args", "_auto_prefix", "_cells", "_params", "_create_time", "_func_graph_flags",
                   "_parameter_layout_dict", "_params_list", "_phase"]
    total_instance_count = 0

    _kind = "Cell"          # whose words of other frameworks it is asked for

    def __new__(cls, /, *args, **kwargs):
        if kwargs:
            check_keywords(cls, kwargs)
        return object.__new__(cls)

    def __init__(self, auto_prefix=True, flags=None):
        self.__dict__.update(
            _params=OrderedDict(), _cells=OrderedDict(), _buffers=OrderedDict(), _non_persistent=set(),
            _auto_prefix=auto_prefix, training=False, requires_grad=False, _phase="train", _param_prefix="", _flags={},
            cell_type=None, _cls_name=type(self).__name__, _plain=True, _pre_hooks=OrderedDict(), _hooks=OrderedDict(),
            _backward_pre_hooks=OrderedDict(), _backward_hooks=OrderedDict(), _to_float=None, _recompute=False, _saved_hooks=None,
            _inputs=None, jit_config_dict={}, pipeline_stage_=0, _bprop_debug=False, _scope=None)
        Cell.total_instance_count += 1
        self.instance_count = Cell.total_instance_count
        if type(self).bprop is not Cell.bprop:
            self.__dict__["_plain"] = False
        if flags:
            self.add_flags(**flags)

    # --- attributes --------------------------------------------------------------------------------------------------

    def __getattr__(self, name):
        # Reached only when the instance has no such attribute.
        for store in ("_params", "_buffers", "_cells"):
            held = self.__dict__.get(store)
            if held is not None and name in held:
                return held[name]
        text = _parts.of(type(self)).get(name) if held is not None and not name.startswith("__") else None
        if text is not None:
            part = self.__dict__[name] = _parts.make(self, text)
            return part
        hint = ATTRIBUTES[type(self)._kind].get(name)          # without one Python adds ". Did you mean ...?"
        raise AttributeError(f"The '{type(self).__name__}' object has no attribute '{name}'{': ' + hint if hint else ''}")

    def __setattr__(self, name, value):
        held = self.__dict__
        if isinstance(value, Parameter):
            self._need_init(name)
            self._refuse_other(name, "_cells", "insert_param_to_cell", "parameter")
            held.pop(name, None)
            self.insert_param_to_cell(name, value)
        elif isinstance(value, ParameterTuple):
            self._need_init(name)
            for parameter in value:
                if is_default_name(parameter.name):
                    held["_n_unnamed"] = held.get("_n_unnamed", 0) + 1
                    parameter.name = f"{PARAMETER_NAME_DEFAULT}${held['_n_unnamed']}"
                self.insert_param_to_cell(parameter.name, parameter, check_name_contain_dot=False)
            held[name] = value
        elif is_buffer(value):
            self._need_init(name)
            held.pop(name, None)
            self.register_buffer(name, value, value.persistent)
        elif isinstance(value, Cell):
            self._need_init(name)
            self._refuse_other(name, "_params", "insert_child_to_cell", "child cell")
            held.pop(name, None)
            if self._auto_prefix:
                value.update_parameters_name(name + ".")
            held["_cells"][name] = value
        else:
            params, cells = held.get("_params"), held.get("_cells")
            if params is not None and name in params:
                if value is None:
                    params[name] = None
                elif isinstance(value, Tensor):
                    params[name].set_data(value)
                else:
                    raise TypeError(f"Parameter '{name}' already exists in the network, it cannot become a "
                                    f"{_type_name(value)}.")
            elif cells is not None and name in cells:
                if value is not None:
                    raise TypeError(f"Sub cell '{name}' already exists in the network, it cannot become a "
                                    f"{_type_name(value)}.")
                cells[name] = None
            elif held.get("_buffers") and name in held["_buffers"]:
                held["_buffers"][name] = value
            else:
                object.__setattr__(self, name, value)

    def __delattr__(self, name):
        for store in ("_params", "_cells", "_buffers"):
            if name in self.__dict__.get(store, ()):
                del self.__dict__[store][name]
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(self._params) | set(self._cells) | set(self._buffers) | set(_parts.of(type(self))))

    def _is_taken(self, name, store):
        """Whether something else than what the store holds has a name."""
        return name not in store and (name in self.__dict__ or hasattr(type(self), name)
                                      or any(name in held for held in (self._params, self._cells, self._buffers)))

    def __bool__(self):
        return True

    def _refuse_other(self, name, store, who, kind):
        """A name stays that of a Parameter, or of a Cell; also when it is None in between."""
        if name in self.__dict__[store]:
            raise KeyError(f"For '{who}', the {name} {kind} already exists in the network. Cannot insert another {kind} with the same "
                           "name.")

    def _need_init(self, name):
        if "_params" not in self.__dict__:
            raise AttributeError(f"For '{type(self).__name__}', call super().__init__() before assigning '{name}'.")

    # --- what it is made of ------------------------------------------------------------------------------------------

    def insert_param_to_cell(self, param_name, param, check_name_contain_dot=True):
        """Hold a Parameter under a name."""
        if not isinstance(param_name, str):
            raise TypeError(f"insert_param_to_cell: param_name must be a str, but got {_type_name(param_name)}")
        if not param_name or (check_name_contain_dot and "." in param_name):
            raise KeyError(f"insert_param_to_cell: param_name {param_name!r} must not be empty or contain '.'")
        if self._is_taken(param_name, self._params):
            raise KeyError(f"insert_param_to_cell: the name '{param_name}' is taken by another attribute")
        if not isinstance(param, Parameter) and param is not None:
            raise TypeError(f"insert_param_to_cell: param must be a Parameter, but got {_type_name(param)}")
        if param is not None and is_default_name(param.name):
            param.name = param_name
        self._params[param_name] = param

    def insert_child_to_cell(self, child_name, child_cell):
        """Hold a Cell under a name, without renaming its Parameters."""
        if not isinstance(child_name, str):
            raise TypeError(f"insert_child_to_cell: child_name must be a str, but got {_type_name(child_name)}")
        if not child_name or "." in child_name:
            raise KeyError(f"insert_child_to_cell: child_name {child_name!r} must not be empty or contain '.'")
        if self._is_taken(child_name, self._cells):
            raise KeyError(f"insert_child_to_cell: the name {child_name!r} is taken by another attribute")
        if not isinstance(child_cell, Cell) and child_cell is not None:
            raise TypeError(f"insert_child_to_cell: child_cell must be a Cell, but got {_type_name(child_cell)}")
        self._cells[child_name] = child_cell

    def cells(self):
        """The direct child Cells."""
        return self.name_cells().values()

    def name_cells(self):
        """Direct child Cells by name; each once."""
        found, seen = OrderedDict(), set()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                found[name] = cell
        return found

    def cells_and_names(self, cells=None, name_prefix=""):
        """All Cells from this one downwards with their paths."""
        seen = cells if cells is not None else set()
        if self in seen:
            return
        seen.add(self)
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell:        # an empty container is left out, as in MindSpore
                yield from cell.cells_and_names(seen, f"{name_prefix}.{name}" if name_prefix else name)

    def get_sub_cell(self, target):
        """The Cell at a path like "backbone.conv1"."""
        cell = self
        for part in filter(None, target.split(".")):
            cell = cell._cells.get(part)
            if cell is None:
                raise AttributeError(f"there is no Cell at '{target}': '{part}' is not found")
        return cell

    def parameters_and_names(self, name_prefix="", expand=True):
        """Parameters with their paths; each once."""
        owners = self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]
        seen = set()
        for prefix, cell in owners:
            for name, parameter in cell._params.items():
                if parameter is not None and id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield (f"{prefix}.{name}" if prefix else name), parameter

    def get_parameters(self, expand=True):
        """The Parameters, those of children included."""
        for _, parameter in self.parameters_and_names(expand=expand):
            yield parameter

    def trainable_params(self, recurse=True):
        """List of the Parameters with requires_grad."""
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse=True):
        """List of the Parameters without requires_grad."""
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def parameters_dict(self, recurse=True):
        """Parameters by their names."""
        return OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse))

    def parameters_broadcast_dict(self, recurse=True):
        """Parameters that are replicated over devices, by name; None when there are none."""
        found = OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse)
                            if not getattr(p, "layerwise_parallel", False))
        return found or None

    def update_parameters_name(self, prefix="", recurse=True):
        """Put ``prefix`` in front of the path names of all Parameters."""
        if not isinstance(prefix, str):
            raise TypeError(f"update_parameters_name: prefix must be a str, but got {_type_name(prefix)}")
        for name, parameter in self.parameters_and_names(expand=recurse):
            parameter.name = prefix + name

    def check_names(self):
        """Raise ValueError when two Parameters have one name."""
        names = set()
        for path, parameter in self.parameters_and_names():
            if parameter.name in names:
                raise ValueError(f"The value of {path} is {parameter!r}, its name '{parameter.name}' already exists. Please set a "
                                 "unique name for the parameter.")
            names.add(parameter.name)

    def check_names_and_refresh_name(self):
        """Give Parameters with clashing names their paths as names."""
        names = [p.name for p in self.get_parameters()]
        if len(names) != len(set(names)):
            for path, parameter in self.parameters_and_names():
                parameter.name = path
        self.check_names()

    def update_cell_prefix(self):
        """Tell every Cell its path."""
        for path, cell in self.cells_and_names():
            cell.__dict__["_param_prefix"] = path

    def update_cell_type(self, cell_type):
        """Set ``cell_type`` on this Cell."""
        self.cell_type = cell_type

    def init_parameters_data(self, auto_parallel_mode=False):
        """Run the initializers of Parameters that wait for it; gives old to new Parameters."""
        replaced = {}
        for parameter in self.get_parameters():
            parameter.init_data()
            replaced[parameter] = parameter
        return replaced

    def apply(self, fn):
        """Call ``fn`` with every Cell, children first."""
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self

    # --- modes and flags ---------------------------------------------------------------------------------------------

    def set_train(self, mode=True):
        """Training mode for this Cell and all in it: dropout drops, batch norm uses the batch."""
        for _, cell in self.cells_and_names():
            phase = "train" if mode else "predict"
            if cell.__dict__["training"] is not bool(mode) or cell.__dict__["_phase"] != phase:
                _state.changed()
            cell.__dict__["training"], cell.__dict__["_phase"] = bool(mode), phase
        return self

    def set_grad(self, requires_grad=True):
        """Whether a call keeps its record, so that ``GradOperation`` of the same call need not run the Cell again."""
        self.__dict__["requires_grad"] = bool(requires_grad)
        self._refresh_plain()
        return self

    def add_flags(self, **flags):
        """Keep flags on the Cell; they become attributes."""
        self._flags.update(flags)
        self.__dict__.update(flags)
        return self

    def add_flags_recursive(self, **flags):
        """Keep flags on this Cell and all in it."""
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self):
        """The flags given so far."""
        return self._flags

    def to_float(self, dst_type):
        """Compute in another float type: inputs and Parameters are cast on entry, the Parameters themselves stay."""
        if dst_type not in (mstype.float16, mstype.float32, mstype.bfloat16):
            raise ValueError(f"to_float: dst_type must be float16, bfloat16 or float32, but got {dst_type}")
        for _, cell in self.cells_and_names():
            cell.__dict__["_to_float"] = dst_type
            cell.__dict__["_plain"] = False
            cell.add_flags(**{"fp16": dst_type == mstype.float16, "bf16": dst_type == mstype.bfloat16,
                              "fp32": dst_type == mstype.float32})
        return self

    def cast_inputs(self, inputs, dst_type):
        """The inputs with floating-point Tensors cast."""
        return tuple(_cast(value, dst_type) for value in inputs)

    def cast_param(self, param):
        """The Parameter in the float type set by ``to_float``."""
        return param if self._to_float is None else param.astype(self._to_float)

    def recompute(self, *, use_reentrant=True, output_recompute=False, early_stop=True, context_fn=None, **kwargs):
        """Compute the Cell again when gradients are taken, instead of keeping what it computed: memory against time.

        The numbers are the same, those of dropout too. Parts inside need not be marked.
        """
        from spore.common._register_for_recompute import recompute_registry
        other = recompute_registry.recompute_generator
        if other is not None:                        # a package brings its own way to do so
            self.__dict__["_recompute_cell"] = other(self.construct, use_reentrant and not output_recompute, output_recompute, early_stop,
                                                     context_fn)
        elif context_fn is not None:
            not_done("Cell.recompute: context_fn", "the Cell is computed in no context")
        self.__dict__["_recompute"] = True
        self._refresh_plain()

    def set_inputs(self, *inputs, **kwargs):
        """Declare the inputs, for graph mode: one program for all of them, where a dimension of None may have any size."""
        if inputs and kwargs:
            raise ValueError("For set_inputs, give the inputs by position or by name, not both.")
        _check_declared_inputs(type(self).construct, inputs, kwargs)
        self.__dict__["_inputs"] = inputs or kwargs
        self._forget_programs()

    def get_inputs(self):
        """What set_inputs was given."""
        return self._inputs

    def set_jit_config(self, jit_config):
        """Keep a JitConfig, for graph mode."""
        self.__dict__["jit_config_dict"] = dict(getattr(jit_config, "jit_config_dict", {}) or {})
        self._forget_programs()

    def _forget_programs(self):
        from spore.graph.compiler import forget
        forget(self)

    def set_boost(self, boost_type):
        """Accepted for compatibility: there is no faster way that is less exact."""
        not_done(f"Cell.set_boost({boost_type!r})", "networks are computed as they are")
        return self

    def set_comm_fusion(self, fusion_type, recurse=True):
        """Note how gradients of the Parameters are grouped in communication."""
        for parameter in self.trainable_params(recurse):
            parameter.comm_fusion = fusion_type
        return self

    def set_param_ps(self, recurse=True, init_in_server=False):
        """Accepted for compatibility: there is no parameter server."""
        not_done("Cell.set_param_ps", "there is no parameter server")

    def set_broadcast_flag(self, mode=True):
        """Note that Parameters are to be broadcast."""
        self.add_flags_recursive(broadcast_flag=mode)
        return self

    def set_data_parallel(self):
        """Accepted for compatibility; on one device it changes nothing."""

    def shard(self, in_strategy, out_strategy=None, parameter_plan=None, device="Ascend", level=0):
        """How inputs, results and Parameters are split over processes, in functions compiled with parallel_mode "semi_auto_parallel".

        Args:
            in_strategy: for each Tensor a tuple with the number of slices of each axis, or a Layout.
            out_strategy: the same for results.
            parameter_plan: strategies of Parameters, by name.
            device, level: for other hardware.
        """
        from spore.parallel.shard import split_cell
        split_cell(self, in_strategy, out_strategy, parameter_plan)
        shard_not_done("Cell", in_strategy, out_strategy, parameter_plan)
        return self

    def to(self, *args, **kwargs):
        """Convert floating-point Parameters to a dtype, or bring all Parameters to a device ('CPU' is main memory)."""
        for value in itertools.chain(args, kwargs.values()):
            if isinstance(value, str):
                name = known_device(value, "to")
                for parameter in self.get_parameters():
                    _core.tensor_move(parameter.init_data(), name)
            if value in (mstype.float16, mstype.float32, mstype.float64, mstype.bfloat16):
                for parameter in self.get_parameters():
                    if _core.is_floating(parameter):
                        parameter.set_dtype(value)
        return self

    @property
    def phase(self):
        return self._phase

    @phase.setter
    def phase(self, value):
        """Programs are kept by phase: with another one a Cell is captured anew, as its flags and attributes are then."""
        if value != self._phase:
            _state.changed()
        self.__dict__["_phase"] = value

    @property
    def param_prefix(self):
        return self._param_prefix

    @property
    def create_time(self):
        """When the Cell was made, as a number that grows."""
        return self.instance_count

    @property
    def compiled(self):
        """Whether graph mode has compiled the Cell."""
        from spore.graph.compiler import compiled_of
        found = compiled_of(self)
        return found is not None and bool(found.n_programs)

    @property
    def enable_backward_hook(self):
        """Whether there are backward hooks."""
        return bool(self._backward_hooks or self._backward_pre_hooks)

    def get_scope(self):
        """The path of names that leads to this Cell in graphs."""
        return self._scope

    def generate_scope(self):
        """Give every Cell in this one the path that leads to it."""
        for name, cell in self.cells_and_names():
            cell.__dict__["_scope"] = "Default" + ("/" + name.replace(".", "/") if name else "")

    @property
    def amp_strategy(self):
        """The strategy of mixed precision that was put into the Cell, or None."""
        return self.__dict__.get("_amp_strategy")

    @amp_strategy.setter
    def amp_strategy(self, strategy):
        if strategy is not None:
            strategy.put_into(self)
        self.__dict__["_amp_strategy"] = strategy

    def get_mixed_precision_type(self):
        """The dtype that to_float asked for, or None."""
        return self._to_float

    def set_mixed_precision_type(self, mixed_type, recursive=True):
        """Compute in a dtype, as to_float does; without `recursive` the Cells inside do not."""
        for cell in ([c for _, c in self.cells_and_names()] if recursive else [self]):
            cell.__dict__["_to_float"] = mixed_type
            cell._refresh_plain()
        self._forget_programs()

    def offload(self, backward_prefetch="Auto"):
        """Accepted: there is one memory, hence nowhere to put what the backward pass needs."""
        if not (backward_prefetch == "Auto" or (isinstance(backward_prefetch, int) and not isinstance(backward_prefetch, bool)
                                                and backward_prefetch > 0)):
            raise ValueError(f"offload: backward_prefetch must be 'Auto' or a positive int, but got {backward_prefetch!r}")

    def to_empty(self, *, device=None, recurse=True):
        """Parameters and buffers with memory of their own and any content."""
        for cell in ([c for _, c in self.cells_and_names()] if recurse else [self]):
            for held in (cell._params, cell._buffers):
                for tensor in held.values():
                    if tensor is not None and getattr(tensor, "has_init", False):
                        tensor.init_data()
        return self

    @property
    def cls_name(self):
        return self._cls_name

    @property
    def bprop_debug(self):
        return self._bprop_debug

    @bprop_debug.setter
    def bprop_debug(self, value):
        if not isinstance(value, bool):
            raise TypeError(f"bprop_debug must be a bool, but got {_type_name(value)}")
        self.__dict__["_bprop_debug"] = value

    @property
    def pipeline_stage(self):
        return self.__dict__["pipeline_stage_"]

    @pipeline_stage.setter
    def pipeline_stage(self, value):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"For 'Cell', the property 'pipeline_stage' must be int type, but got type : {type(value)}")
        if value < 0:
            raise ValueError(f"For 'Cell', the property 'pipeline_stage' can not be less than 0, but got {value}")
        for _, cell in self.cells_and_names():
            cell.__dict__["pipeline_stage_"] = value
            cell.__dict__["_staged"] = True
        for parameter in self.get_parameters():
            parameter.pipeline_stage = value

    @property
    def compile_cache(self):
        return set()

    @property
    def parameter_layout_dict(self):
        return self.__dict__.setdefault("_parameter_layout_dict", {})

    # --- running -----------------------------------------------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        hook = _state.hook               # None unless something is being captured or GRAPH_MODE is on
        try:
            if hook is not None:
                return hook(self, args, kwargs)
            if self._plain:
                return self.construct(*args, **kwargs)
            return self._call_full(args, kwargs)
        except (AttributeError, TypeError) as error:
            given = with_tensors(args, kwargs)      # None unless there are arrays of other packages
            if given is None or not (hook is not None or self._is_all_ours()):
                name_cell(self, error)
                raise
        except Exception as error:
            name_cell(self, error)
            raise
        return self(*given[0], **given[1])

    def _is_all_ours(self):
        """Whether nothing but layers of this package runs in a call: one that has failed can be made again, nobody's function is called twice."""
        return all(type(cell).construct.__module__.startswith("spore.") and not cell._pre_hooks and not cell._hooks
                   for _, cell in self.cells_and_names())

    def _run(self, args, kwargs):
        """The call itself, as plain Python."""
        if self._plain:
            return self.construct(*args, **kwargs)
        return self._call_full(args, kwargs)

    def construct(self, *args, **kwargs):
        """What the Cell computes; written by subclasses."""
        hint = " It has a method 'forward': rename that." if hasattr(self, "forward") else ""
        raise AttributeError(f"For '{type(self).__name__}', the method 'construct' is not defined.{hint}")

    def bprop(self, *args):
        """Optional in subclasses: the gradient, ``bprop(*inputs, output, doutput)``."""
        raise NotImplementedError

    def run_construct(self, cast_inputs, kwargs):
        """Run construct with positional inputs and keyword arguments."""
        return self.construct(*cast_inputs, **kwargs)

    def compile(self, *args, **kwargs):
        """Compile for these arguments, without running; nothing to do in eager mode."""
        from spore.graph.compiler import prepare_cell
        self.check_names()
        prepare_cell(self, args, kwargs)

    def compile_and_run(self, *args, **kwargs):
        """Run the Cell."""
        return self(*args, **kwargs)

    def _refresh_plain(self):
        self.__dict__["_plain"] = (type(self).bprop is Cell.bprop and self._to_float is None and not self._pre_hooks
                                   and not self._hooks and not self._backward_hooks and not self._backward_pre_hooks
                                   and not self._recompute and self._saved_hooks is None and not self.requires_grad
                                   and "_amp_lists" not in self.__dict__)

    def _call_full(self, args, kwargs, construct=None):
        """With all that may surround construct. ``construct`` is what runs the Cell's own code, which graph mode interprets."""
        if self.requires_grad and not kwargs and not _core.grad_recording():
            from spore.common import forward
            return forward.run(self, tuple(args), lambda *given: self._call_hooked(given, {}, construct))
        return self._call_hooked(args, kwargs, construct)

    def _call_hooked(self, args, kwargs, construct):
        """With hooks, casts and bprop."""
        for hook, with_kwargs in list(self._pre_hooks.values()):
            answer = call(hook, (self, args, kwargs) if with_kwargs else (self, args))
            if answer is not None:
                if with_kwargs:
                    args, kwargs = answer
                else:
                    args = answer if isinstance(answer, tuple) else (answer,)
        marks = None
        if self._backward_hooks:
            marks = _Gradients(self)
            args = marks.mark_inputs(args)
        construct = self.construct if construct is None else construct
        if self._saved_hooks is not None and _core.grad_recording():
            with saved_tensors_hooks(*self._saved_hooks):
                output = self._construct_once_or_twice(args, kwargs, construct)
        else:
            output = self._construct_once_or_twice(args, kwargs, construct)
        for hook, with_kwargs in list(self._hooks.values()):
            answer = call(hook, (self, args, kwargs, output) if with_kwargs else (self, args, output))
            if answer is not None:
                output = answer
        if marks or self._backward_pre_hooks:
            output = (marks or _Gradients(self)).mark_outputs(output)
        return output

    def _construct_once_or_twice(self, args, kwargs, construct):
        if not self._recompute or not _core.grad_recording():
            return self._construct_in_dtype(args, kwargs, construct)
        if "_recompute_cell" in self.__dict__:
            return self._recompute_cell(*args, **kwargs)
        from spore.common.recompute import run
        return run(lambda *a, **k: self._construct_in_dtype(a, k, construct), list(self.get_parameters()), args, kwargs)

    def _construct_in_dtype(self, args, kwargs, construct):
        lists = self.__dict__.get("_amp_lists")
        if lists is not None:
            before = _core.precision_lists_set(lists)
            try:
                return self._construct_or_bprop(args, kwargs, construct)
            finally:
                _core.precision_lists_set(before)
        if self._to_float is None:
            return self._construct_or_bprop(args, kwargs, construct)
        args = tuple(_cast(value, self._to_float) for value in args)
        kwargs = {key: _cast(value, self._to_float) for key, value in kwargs.items()}
        for parameter in self._params.values():
            if parameter is not None:
                _core.mark_parameter(parameter)
        before = _core.param_dtype_set(self._to_float)
        try:
            return self._construct_or_bprop(args, kwargs, construct)
        finally:
            _core.param_dtype_set(before)

    def _construct_or_bprop(self, args, kwargs, construct):
        if type(self).bprop is Cell.bprop:
            return construct(*args, **kwargs)
        if kwargs or len(args) < _n_named(type(self).construct):
            bound = inspect.signature(self.construct).bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
        return with_gradient(construct, lambda inputs, out, dout: call(self.bprop, (*inputs, out, dout)), args,
                             self.__dict__.get("internal_params") or (), self.__dict__.get("used_bprop_inputs"))

    # --- hooks -------------------------------------------------------------------------------------------------------

    def _add_hook(self, hooks, hook_fn, value, prepend=False):
        if not callable(hook_fn):
            raise TypeError(f"Expected a callable hook function, but got {_type_name(hook_fn)}.")
        if hasattr(hook_fn, "__spore_inner__"):
            raise TypeError(f"Decorating hook function {hook_fn.__name__} with '@jit' is not supported.")
        key = object()
        hooks[key] = value
        if prepend:
            hooks.move_to_end(key, last=False)
        self.__dict__["_plain"] = False
        self._hooks_changed()
        return _HookHandle(self, hooks, key)

    def _hooks_changed(self):
        """Programs with other hooks in them no longer fit."""
        self.__dict__["_n_hook_changes"] = self.__dict__.get("_n_hook_changes", 0) + 1
        _state.changed()

    def _guard(self):
        """What compiled programs look at besides their arguments."""
        return self.training, self.__dict__.get("_n_hook_changes", 0), self._phase

    def register_forward_pre_hook(self, hook_fn, *, prepend=False, with_kwargs=False):
        """Call ``hook_fn(cell, inputs)`` before construct; what it returns replaces the inputs."""
        return self._add_hook(self._pre_hooks, hook_fn, (hook_fn, with_kwargs), prepend)

    def register_forward_hook(self, hook_fn, *, prepend=False, with_kwargs=False, always_call=False):
        """Call ``hook_fn(cell, inputs, output)`` after construct; what it returns replaces the output."""
        if always_call:
            not_done("Cell.register_forward_hook: always_call=True", "hooks are called when construct has returned")
        return self._add_hook(self._hooks, hook_fn, (hook_fn, with_kwargs), prepend)

    def register_backward_pre_hook(self, hook_fn):
        """Call ``hook_fn(cell, grad_output)`` when the gradient of the output is known."""
        return self._add_hook(self._backward_pre_hooks, hook_fn, hook_fn)

    def register_backward_hook(self, hook_fn):
        """Call ``hook_fn(cell, grad_input, grad_output)`` when the gradients of the inputs are known."""
        return self._add_hook(self._backward_hooks, hook_fn, hook_fn)

    def register_saved_tensors_hooks(self, pack_hook, unpack_hook):
        """Let what construct keeps for gradients go through two functions, see spore.saved_tensors_hooks."""
        self.__dict__["_saved_hooks"] = (pack_hook, unpack_hook)
        saved_tensors_hooks(pack_hook, unpack_hook)      # checks them
        self._refresh_plain()

    # --- printing ----------------------------------------------------------------------------------------------------

    def _repr_html_(self):
        from spore._html import cell_html
        return cell_html(self)

    def extend_repr(self):
        """Text between the brackets of repr; written by subclasses."""
        return ""

    def __repr__(self):
        extra = self.extend_repr()
        lines = []
        for name, cell in self._cells.items():
            if cell is not None:
                lines.append(f"({name}): " + repr(cell).replace("\n", "\n  "))
        if not lines:
            return f"{self._cls_name}({extra})"
        if extra:
            lines.insert(0, extra)
        return f"{self._cls_name}(\n  " + "\n  ".join(lines) + "\n)"


class _Gradients:
    """Brings the gradients that enter and leave one call of a Cell to its backward hooks."""

    def __init__(self, cell):
        self.cell = cell
        self.grad_output = None
        self.constants = 0       # number of inputs, when none of them has a gradient

    def mark_inputs(self, args):
        def at_inputs(grads):
            for hook in list(self.cell._backward_hooks.values()):
                given = grads if len(grads) > 1 else (grads[0],)
                answer = call(hook, (self.cell, given, self.grad_output))
                if answer is not None:
                    grads = answer if isinstance(answer, tuple) else (answer,)
            return grads
        tensors = [a for a in args if isinstance(a, Tensor)]
        if not any(_core.grad_tracked(t) for t in tensors) and _core.grad_recording():
            self.constants = len(tensors)
            return args
        if not tensors:
            return args
        marked = through_hook(at_inputs, tuple(tensors))
        rest = iter(marked if isinstance(marked, tuple) else (marked,))
        return tuple(next(rest) if isinstance(a, Tensor) else a for a in args)

    def mark_outputs(self, output):
        def at_outputs(grads):
            for hook in list(self.cell._backward_pre_hooks.values()):
                answer = call(hook, (self.cell, grads))
                if answer is not None:
                    grads = answer if isinstance(answer, tuple) else (answer,)
            self.grad_output = grads
            for hook in list(self.cell._backward_hooks.values()) if self.constants else ():
                call(hook, (self.cell, (None,) * self.constants, grads))
            return grads
        if isinstance(output, Tensor):
            return through_hook(at_outputs, (output,))
        if isinstance(output, tuple) and all(isinstance(o, Tensor) for o in output):
            marked = through_hook(at_outputs, output)
            return marked if isinstance(marked, tuple) else (marked,)
        return output


def _check_declared_inputs(construct, inputs, named):
    """Raise when what set_inputs declares cannot be the arguments of a construct."""
    from spore import context
    parameters = list(inspect.signature(getattr(construct, "__spore_inner__", construct)).parameters.values())[1:]
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return
    names = [p.name for p in parameters]
    for name in named:
        if name not in names:
            raise ValueError(f"For dict mode, valid key is {names}, but got {name}!")
    n_defaults = sum(p.default is not p.empty for p in parameters)
    n_needed = len(names) - n_defaults
    if named or context.get_context("mode") != context.GRAPH_MODE:      # only graphs are made for what is declared
        return
    if len(inputs) < n_needed:
        raise TypeError(f"For 'Cell', the function construct requires {n_needed} positional argument, but got {len(inputs)}. "
                        "When using set_inputs, please make sure that all networks and loss functions are configured with set_inputs.")
    if len(inputs) > len(names):
        raise TypeError(f"For 'Cell', the function construct requires {n_needed} positional argument and {n_defaults} default argument, "
                        f"total {len(names)}, but got {len(inputs)}.")


def _n_named(construct):
    """Positional parameters of a construct besides self; 0 when there is no code to tell."""
    code = getattr(getattr(construct, "__spore_inner__", construct), "__code__", None)
    return 0 if code is None else code.co_argcount - 1


def _cast(value, dtype):
    if isinstance(value, Tensor):
        return value.astype(dtype) if _core.is_floating(value) and value.dtype != dtype else value
    if isinstance(value, ParameterTuple):
        return tuple(_cast(item, dtype) for item in value)  # no Parameters any more
    if isinstance(value, (tuple, list)):
        return type(value)(_cast(item, dtype) for item in value)
    return value



# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""Cell: the unit networks are built of. It holds Parameters and other Cells by attribute name, and runs ``construct``."""
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, ParamSpec, Protocol, Self, TypeVar, overload

from spore._core import Tensor
from spore.common.parameter import Parameter as Parameter
from spore.nn._cell_buffers import register_cell_buffer_registration_hook as register_cell_buffer_registration_hook

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)


class _HasConstruct(Protocol[_P, _R]):
    def construct(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...


class Cell:
    """Base of all networks and layers. Subclasses make their parts in ``__init__`` and compute in ``construct``."""
    training: bool
    @overload
    def __call__(self: _HasConstruct[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Tensor: ...
    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """What the Cell computes; written by subclasses."""
    def bprop(self, *args: Any) -> Any:
        """Optional in subclasses: the gradient, ``bprop(*inputs, output, doutput)``."""
    def __getattr__(self, name: str) -> Any: ...
    def __bool__(self) -> bool: ...
    def __delattr__(self, name) -> None: ...
    def __dir__(self) -> list[str]: ...
    def __init__(self, auto_prefix: Any = True, flags=None) -> None: ...
    def __repr__(self) -> str: ...
    def __setattr__(self, name, value) -> None: ...
    def add_flags(self, **flags) -> Self:
        """Keep flags on the Cell; they become attributes."""
    def add_flags_recursive(self, **flags) -> Self:
        """Keep flags on this Cell and all in it."""
    @property
    def amp_strategy(self) -> Any:
        """The strategy of mixed precision that was put into the Cell, or None."""
    @amp_strategy.setter
    def amp_strategy(self, value: Any) -> None: ...
    def apply(self, fn) -> Self:
        """Call ``fn`` with every Cell, children first."""
    @property
    def bprop_debug(self) -> Any: ...
    @bprop_debug.setter
    def bprop_debug(self, value: Any) -> None: ...
    def buffers(self, recurse: Any = True) -> Iterator[Tensor]:
        """The registered buffers."""
    def cast_inputs(self, inputs, dst_type) -> Any:
        """The inputs with floating-point Tensors cast."""
    def cast_param(self, param) -> Any:
        """The Parameter in the float type set by ``to_float``."""
    def cells(self) -> Iterable[Cell]:
        """The direct child Cells."""
    def cells_and_names(self, cells=None, name_prefix: Any = '') -> Iterator[tuple[str, Cell]]:
        """All Cells from this one downwards with their paths."""
    def check_names(self) -> None:
        """Raise ValueError when two Parameters have one name."""
    def check_names_and_refresh_name(self) -> Any:
        """Give Parameters with clashing names their paths as names."""
    @property
    def cls_name(self) -> str: ...
    def compile(self, *args, **kwargs) -> None:
        """Compile for these arguments, without running; nothing to do in eager mode."""
    def compile_and_run(self, *args, **kwargs) -> Any:
        """Run the Cell."""
    @property
    def compile_cache(self) -> Any: ...
    @property
    def compiled(self) -> Any:
        """Whether graph mode has compiled the Cell."""
    @property
    def create_time(self) -> Any:
        """When the Cell was made, as a number that grows."""
    @property
    def enable_backward_hook(self) -> Any:
        """Whether there are backward hooks."""
    def extend_repr(self) -> str:
        """Text between the brackets of repr; written by subclasses."""
    def generate_scope(self) -> Any:
        """Give every Cell in this one the path that leads to it."""
    def get_buffer(self, target) -> Any:
        """The buffer at a path."""
    def get_extra_state(self) -> Any:
        """What a subclass wants in its state besides Parameters and buffers."""
    def get_flags(self) -> dict[str, Any]:
        """The flags given so far."""
    def get_inputs(self) -> Any:
        """What set_inputs was given."""
    def get_mixed_precision_type(self) -> Any:
        """The dtype that to_float asked for, or None."""
    def get_parameters(self, expand: Any = True) -> Iterator[Parameter]:
        """The Parameters, those of children included."""
    def get_scope(self) -> Any:
        """The path of names that leads to this Cell in graphs."""
    def get_sub_cell(self, target) -> Cell:
        """The Cell at a path like "backbone.conv1"."""
    def init_parameters_data(self, auto_parallel_mode: Any = False) -> Any:
        """Run the initializers of Parameters that wait for it; gives old to new Parameters."""
    def insert_child_to_cell(self, child_name, child_cell) -> None:
        """Hold a Cell under a name, without renaming its Parameters."""
    def insert_param_to_cell(self, param_name, param, check_name_contain_dot: Any = True) -> None:
        """Hold a Parameter under a name."""
    def load_state_dict(self, state_dict, strict: Any = True) -> Any:
        """Take over the values of a state_dict; gives the names that are missing and those that are not known."""
    def name_cells(self) -> OrderedDict[str, Cell]:
        """Direct child Cells by name; each once."""
    def named_buffers(self, prefix: Any = '', recurse: Any = True, remove_duplicate: Any = True) -> Iterator[tuple[str, Tensor]]:
        """The registered buffers with their paths."""
    def offload(self, backward_prefetch: Any = 'Auto') -> Any:
        """Accepted: there is one memory, hence nowhere to put what the backward pass needs."""
    @property
    def param_prefix(self) -> str: ...
    @property
    def parameter_layout_dict(self) -> Any: ...
    def parameters_and_names(self, name_prefix: Any = '', expand: Any = True) -> Iterator[tuple[str, Parameter]]:
        """Parameters with their paths; each once."""
    def parameters_broadcast_dict(self, recurse: Any = True) -> Any:
        """Parameters that are replicated over devices, by name; None when there are none."""
    def parameters_dict(self, recurse: Any = True) -> OrderedDict[str, Parameter]:
        """Parameters by their names."""
    @property
    def phase(self) -> str: ...
    @phase.setter
    def phase(self, value: str) -> None: ...
    @property
    def pipeline_stage(self) -> Any: ...
    @pipeline_stage.setter
    def pipeline_stage(self, value: Any) -> None: ...
    def recompute(self, *, use_reentrant: Any = True, output_recompute: Any = False, early_stop: Any = True, context_fn=None, **kwargs) -> None:
        """Compute the Cell again when gradients are taken, instead of keeping what it computed: memory against time."""
    def register_backward_hook(self, hook_fn) -> Any:
        """Call ``hook_fn(cell, grad_input, grad_output)`` when the gradients of the inputs are known."""
    def register_backward_pre_hook(self, hook_fn) -> Any:
        """Call ``hook_fn(cell, grad_output)`` when the gradient of the output is known."""
    def register_buffer(self, name, tensor, persistent: Any = True) -> None:
        """Hold a Tensor that is no Parameter but belongs to the state."""
    def register_forward_hook(self, hook_fn, *, prepend: Any = False, with_kwargs: Any = False, always_call: Any = False) -> Any:
        """Call ``hook_fn(cell, inputs, output)`` after construct; what it returns replaces the output."""
    def register_forward_pre_hook(self, hook_fn, *, prepend: Any = False, with_kwargs: Any = False) -> Any:
        """Call ``hook_fn(cell, inputs)`` before construct; what it returns replaces the inputs."""
    def register_load_state_dict_post_hook(self, hook) -> Any:
        """Call ``hook(cell, incompatible_keys)`` when the state of this Cell is loaded."""
    def register_load_state_dict_pre_hook(self, hook) -> Any:
        """Call ``hook(cell, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`` before the state of this Cell is loaded."""
    def register_saved_tensors_hooks(self, pack_hook, unpack_hook) -> Any:
        """Let what construct keeps for gradients go through two functions, see spore.saved_tensors_hooks."""
    def register_state_dict_post_hook(self, hook) -> Any:
        """Call ``hook(cell, state_dict, prefix, local_metadata)`` when the state is collected."""
    def register_state_dict_pre_hook(self, hook) -> Any:
        """Call ``hook(cell, prefix, keep_vars)`` before the state is collected."""
    def run_construct(self, cast_inputs, kwargs) -> Any:
        """Run construct with positional inputs and keyword arguments."""
    def set_boost(self, boost_type) -> Any:
        """Accepted for compatibility: there is no faster way that is less exact."""
    def set_broadcast_flag(self, mode: Any = True) -> Any:
        """Note that Parameters are to be broadcast."""
    def set_comm_fusion(self, fusion_type, recurse: Any = True) -> Any:
        """Note how gradients of the Parameters are grouped in communication."""
    def set_data_parallel(self) -> Any:
        """Accepted for compatibility; on one device it changes nothing."""
    def set_extra_state(self, state) -> Any:
        """Take back what get_extra_state gave."""
    def set_grad(self, requires_grad: Any = True) -> Self:
        """Whether a call keeps its record, so that ``GradOperation`` of the same call need not run the Cell again."""
    def set_inputs(self, *inputs, **kwargs) -> None:
        """Declare the inputs, for graph mode: one program for all of them, where a dimension of None may have any size."""
    def set_jit_config(self, jit_config) -> None:
        """Keep a JitConfig, for graph mode."""
    def set_mixed_precision_type(self, mixed_type, recursive: Any = True) -> Any:
        """Compute in a dtype, as to_float does; without `recursive` the Cells inside do not."""
    def set_param_ps(self, recurse: Any = True, init_in_server: Any = False) -> Any:
        """Accepted for compatibility: there is no parameter server."""
    def set_train(self, mode: Any = True) -> Self:
        """Training mode for this Cell and all in it: dropout drops, batch norm uses the batch."""
    def shard(self, in_strategy, out_strategy=None, parameter_plan=None, device: Any = 'Ascend', level: Any = 0) -> Any:
        """How inputs, results and Parameters are split over processes, in functions compiled with parallel_mode "semi_auto_parallel"."""
    def state_dict(self, *args, destination=None, prefix: Any = '', keep_vars: Any = False) -> OrderedDict[str, Any]:
        """Parameters and persistent buffers by path."""
    def to(self, *args, **kwargs) -> Self:
        """Convert floating-point Parameters to a dtype, or bring all Parameters to a device ('CPU' is main memory)."""
    def to_empty(self, *, device=None, recurse: Any = True) -> Self:
        """Parameters and buffers with memory of their own and any content."""
    def to_float(self, dst_type) -> Self:
        """Compute in another float type: inputs and Parameters are cast on entry, the Parameters themselves stay."""
    def trainable_params(self, recurse: Any = True) -> list[Parameter]:
        """List of the Parameters with requires_grad."""
    def untrainable_params(self, recurse: Any = True) -> list[Parameter]:
        """List of the Parameters without requires_grad."""
    def update_cell_prefix(self) -> Any:
        """Tell every Cell its path."""
    def update_cell_type(self, cell_type) -> Self:
        """Set ``cell_type`` on this Cell."""
    def update_parameters_name(self, prefix: Any = '', recurse: Any = True) -> None:
        """Put ``prefix`` in front of the path names of all Parameters."""

# SPDX-License-Identifier: Apache-2.0
"""What only MindSpore's programs ask for: its older names, its private helpers, its addresses, refusals for other hardware.

The files of this folder stand where MindSpore has them: ops/_utils.py here is the module spore.ops._utils (spore/_compat.py finds it,
when a program asks). The product does not import any of it; scripts/check-layers keeps it so. This file has the addresses without
a file: `spore.nn.optim.adafactor` is none; importing it gives a module that looks its names up in spore.nn.optim. Files always win."""
import importlib
import importlib.machinery
import sys
import types

# place -> the addresses below it that show names of that place (and, where given after '<', of further places)
_TABLE = """
boost: adasum base boost boost_cell_wrapper dim_reduce grad_freeze group_loss_scale_manager less_batch_normalization
common < common.api common.mutable common.jit_config common.jit_blocks nn.cell: _tensor_docs _utils file_system \
jit_begin_end jit_context jit_trace lazy_inline mindir_util no_inline dynamic_shape dynamic_shape.auto_dynamic_shape \
dynamic_shape.enable_dynamic dynamic_shape._auto_dynamic _jit_fallback_utils _monad
dataset.callback: ds_callback validators
dataset.debug: debug_hook pre_defined_hook
dataset.utils: browse_dataset line_reader
dataset.dataloader: dataset sampler distributed dataloader _utils _utils.collate _utils.worker
dataset.engine: offload queue
device_context.cpu: device op_tuning
device_context.ascend: device op_debug op_precision op_tuning
device_context.gpu: device op_precision op_tuning
experimental: map_parameter
experimental.optim: adadelta adagrad adam adamax adamw asgd nadam radam rmsprop rprop sgd
graph < common.api common.mutable common.jit_config common.jit_blocks common: api jit_begin_end jit_config jit_context jit_trace lazy_inline mutable \
no_inline \
symbol custom_backend custom_infer custom_pass dynamic_shape dynamic_shape.auto_dynamic_shape dynamic_shape.enable_dynamic
hal: _base _cpu device event memory stream contiguous_tensors_handle
mindrecord.common < mindrecord mindrecord.config: constant enums
mindrecord.core < mindrecord: shardheader shardindexgenerator shardreader shardsegment shardwriter
mindrecord.tools: cifar10 cifar100
mint.optim: adam adamw fused_adamw sgd
mint.distributed: distributed _utils
nn < nn.cell: sparse sparse.sparse
nn.grad: cell_grad
nn.probability.bijector: exp gumbel_cdf invert power_transform scalar_affine softplus
nn.probability.bnn_layers < nn.probability.bnn_layers.variational: bnn_cell_wrapper conv_variational dense_variational
nn.probability.distribution: bernoulli beta categorical cauchy exponential gamma geometric gumbel half_normal laplace log_normal logistic \
normal poisson student_t transformed_distribution uniform
onnx < train: onnx_export
ops: _register_for_op _vmap _vmap.vmap_base deprecated op_info_register tensor_method vm_impl_registry \
_constants _utils.arg_dtype_cast _utils.arg_handler auto_generate.gen_extend_func \
auto_generate.cpp_create_prim_instance_helper function.comm_func function.fft_func function.grad.grad_func function.reshard_func \
function.sparse_unary_func function._add_attr_func operations._csr_ops operations._custom_grad operations._infer_ops \
operations._map_tensor_ops operations._ms_kernel operations._ocr_ops operations._rl_inner_ops operations._sparse_grad_ops \
operations._thor_ops operations._pyfunc_registry operations._custom_ops_utils operations.manually_defined._inner \
operations.manually_defined.ops_def
ops.composite < ops: base env_ops math_ops multitype_ops multitype_ops.add_impl multitype_ops.sub_impl multitype_ops.mul_impl \
multitype_ops.div_impl multitype_ops.zeros_like_impl multitype_ops.ones_like_impl multitype_ops._compile_utils \
multitype_ops._constexpr_utils multitype_ops.equal_impl multitype_ops.not_equal_impl multitype_ops.less_impl \
multitype_ops.less_equal_impl multitype_ops.greater_impl multitype_ops.greater_equal_impl multitype_ops.getitem_impl \
multitype_ops.setitem_impl multitype_ops.floordiv_impl multitype_ops.mod_impl multitype_ops.pow_impl multitype_ops.negative_impl \
multitype_ops.in_impl multitype_ops.not_in_impl multitype_ops.logical_and_impl multitype_ops.logical_or_impl \
multitype_ops.logical_not_impl multitype_ops.uadd_impl multitype_ops.invert_impl multitype_ops.left_shift_impl \
multitype_ops.right_shift_impl multitype_ops.bitwise_and_impl multitype_ops.bitwise_or_impl multitype_ops.bitwise_xor_impl
parallel < parallel._auto_parallel_context parallel._utils context: _cell_wrapper _dp_allreduce_fusion \
_parallel_serialization _ps_context _tensor checkpoint_convert data_access_adapter distributed \
parameter_broadcast transform_safetensors function function.reshard_func
parallel.nn: parallel_cell_wrapper parallel_grad_reducer
rewrite: api api.node api.node_type api.pattern_engine api.scoped_value api.symbol_tree
profiler: analysis common common.constant dynamic_profiler envprofiler experimental_config mstx platform profiler profiler_action_controller \
profiler_interface schedule
runtime: device device_limit event executor memory stream stream_limit thread_bind_core
scipy < scipy.primitives scipy.linalg: ops ops_grad ops_wrapper utils utils_const
scipy.optimize: _bfgs _lagrange _lbfgs line_search minimize linear_sum_assignment gradient_optimization_algorithm
train.callback: _backup_and_restore _cluster_monitor _dataset_graph _early_stop _flops_collector _history _lambda_callback _landscape \
_loss_monitor _lr_scheduler_callback _on_request_exit _reduce_lr_on_plateau _summary_collector _time_monitor _train_fault_tolerance
train.metrics: accuracy auc bleu_score confusion_matrix cosine_similarity dice fbeta hausdorff_distance loss mean_surface_distance \
occlusion_sensitivity perplexity precision recall roc root_mean_square_surface_distance topk
train.summary < train.summary._events: _lineage_adapter _summary_adapter _writer_pool writer
train: train_thor.dataset_helper
utils: dryrun ms_dispatch runtime_execution_order_check sdc_detect stress_detect utils
tools < utils: data_dump sdc_detect stress_detect
"""
_PLACES = {}


def _places(address):
    """Where the names of an address are, or None."""
    if not _PLACES:
        for line in _TABLE.replace("\\\n", "").strip().splitlines():
            places, _, below = line.partition(":")
            first, _, more = places.partition("<")
            first = first.strip()
            for name in below.split():
                _PLACES[first + "." + name] = (first, *more.split())
        _PLACES["run_check"] = _PLACES["run_check.run_check"] = _PLACES["run_check._check_version"] = ("_run_check",)
        _PLACES["_c_expression.amp"] = ("train._amp_strategy",)
        _PLACES["_c_expression.typing"] = ("common.dtype",)
        _PLACES["ops.functional_overload"] = ("mint", "ops")
        _PLACES["ops._utils.utils"] = ("ops._utils",)
        _PLACES["common._utils"] = (*_PLACES["common._utils"], "ops._utils")
        _PLACES["ops._grad_experimental.grad_base"] = ("ops._grad_experimental",)
        _PLACES["ops._grad_experimental.grad_comm_ops"] = ("ops._grad_experimental", "ops", "ops._communication")
        _PLACES["_check_jit_forbidden_api"] = _PLACES["graph._utils.check_jit_forbidden_api"] = ("graph.forbidden",)
        _PLACES["ops._grad"] = _PLACES["ops._grad.grad_base"] = ("ops._grad_experimental",)   # up to 2.0
        _PLACES["train.parallel_utils"] = ("context",)                                        # 1.0
        for name in ("c_transforms", "py_transforms", "utils"):                               # 0.x
            _PLACES["dataset.transforms.vision." + name] = ("dataset.vision." + name,)
        _PLACES["dataset.transforms.vision"] = ("dataset.vision",)
        _PLACES["nn.probability.distribution._utils.utils"] = ("nn.probability.distribution._utils",)
        _PLACES["ops.communication"] = ("ops._communication",)
        for name in ("", ".standard_method", ".trope"):          # compile_config is looked up in the first
            _PLACES["graph._parse" + name] = ("_extends.parse" + name,)
        _PLACES["graph._utils"] = _PLACES["graph._utils.cell_attr_register"] = ("_extends.utils",)
        _PLACES["graph._utils.pijit_context"] = ("common._pijit_context",)
        _PLACES["common.file_system"] = (*_PLACES["common.file_system"], "common.mindio")
        _PLACES["ops.auto_generate.pyboost_inner_prim"] = ("ops.positional", "ops")
        _PLACES["tools"] = ("utils", "runtime", "hal")
        _PLACES["parallel.function"] = _PLACES["parallel.function.reshard_func"] = (*_PLACES["parallel.function"], "ops")
        _PLACES["device_manager"] = ("context", "utils", "runtime", "hal")
    return _PLACES.get(address)


class _Address(types.ModuleType):
    """Shows names of the modules in `_places`. Importing spore.scipy.optimize.minimize hides the function of that name in its
    parent; a call goes to it."""

    def __getattr__(self, name):
        if not name.startswith("__"):
            for place in self.__dict__.get("_places", ()):
                try:
                    found = getattr(importlib.import_module("spore." + place), name)
                except AttributeError:
                    continue
                if isinstance(found, _Address) and found._hidden is not None:
                    return found._hidden                   # importing the address hid it
                if not isinstance(found, _Address):
                    return found
            if hasattr(self._hidden, name):
                return getattr(self._hidden, name)         # of the function that has the module's name
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self):
        return sorted({name for place in self._places for name in dir(importlib.import_module("spore." + place))})

    def __call__(self, *args, **kwargs):
        # what the parent would only have loaded when asked for is looked up now
        function = self._hidden if self._hidden is not None else getattr(self, self.__name__.rpartition(".")[2])
        return function(*args, **kwargs)


def find_address(fullname):
    """The spec of an address of the table; or None."""
    places = _places(fullname[6:])
    return importlib.machinery.ModuleSpec(fullname, _Loader(places), is_package=True) if places is not None else None


class _Loader:
    """Makes the module of an address."""

    def __init__(self, places):
        self._places = places

    def create_module(self, spec):
        module = _Address(spec.name)
        parent, _, last = spec.name.rpartition(".")
        module._places, module._hidden = self._places, vars(sys.modules[parent]).get(last)
        if module._hidden is None and parent == "spore.ops":
            module._hidden = lookup(last)  # a function that nobody has asked for yet
        return module

    def exec_module(self, module):
        pass


# --- names of spore.ops ----------------------------------------------------------------------------------------------

def lookup(name):
    """What MindSpore has as ops.`name` besides the operators of the product; or None."""
    from spore.ops._extended import lookup as extended
    from spore.ops._late import lookup as late
    return late(name) or extended(name)


def names():
    """Names that `lookup` knows and that are shown."""
    from spore.ops._late import names as late
    return late()


def positional(name, args, kwargs):
    """(args, kwargs) of a call of a primitive, with keywords that have its declared names as positional arguments."""
    from spore.ops._call_names import positional as of_declared
    return of_declared(name, args, kwargs)


__path__ = []  # the files of this folder are modules of spore, not of spore.mindspore

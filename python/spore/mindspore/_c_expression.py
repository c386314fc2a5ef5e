# SPDX-License-Identifier: Apache-2.0
"""Names that programs and tests take from MindSpore's compiled part: the Tensor type, the types of dtypes, what compiling came
to. What steers its runtime is not here."""
import enum

from spore._core import Tensor
from spore.common.backward import run_backward
from spore.common import dtype as typing
from spore.graph.compiler import compiled_of

from spore.ops.signature import sig_dtype as signature_dtype
from spore.ops.signature import sig_kind as signature_kind
from spore.ops.signature import sig_rw as signature_rw

TensorPy = Tensor

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ['Tensor', 'TensorPy', 'typing', 'MSContext', 'ParamInfo', 'clear_jit_compile_results', 'get_code_extra',
           'jit_mode_pi_disable', 'jit_mode_pi_enable', 'pi_jit_set_context', 'update_pijit_default_config',
           '_framework_profiler_step_start', '_framework_profiler_step_end', '_random_normal', '_random_uniform', 'pyboost_empty', 'pyboost_detach', 'run_backward', 'CreationType']


class MSContext:
    """The settings, asked for as MindSpore's own modules do."""

    _only = None

    @staticmethod
    def get_instance():
        """The one instance."""
        if MSContext._only is None:
            MSContext._only = MSContext()
        return MSContext._only

    def get_ascend_soc_version(self):
        """The kind of Ascend processor; there is none."""
        return ''

    def is_pkg_support_device(self, device):
        """Is there support for a kind of device?"""
        return device == 'CPU'

    def get_param(self, param):
        """A setting of the context by its key in `ms_ctx_param`."""
        from spore import context
        return context.get_context(param.name)

    def set_param(self, param, value):
        """Change a setting of the context."""
        from spore import context
        context.set_context(**{param.name: value})


# Keys of settings, those that `context.set_context` knows
ms_ctx_param = enum.Enum("ms_ctx_param", "mode device_target device_id save_graphs save_graphs_path max_call_depth jit_level "
                         "jit_syntax_level deterministic runtime_num_threads memory_optimize_level check_bprop max_device_memory "
                         "enable_compile_cache compile_cache_path pynative_synchronize debug_level")


CreationType = enum.Enum("CreationType", "DEFAULT NO_GRAD_MODE MULTI_OUTPUT CUSTOM_BPROP")      # of views


class NoFallbackGuard:
    """While it lives MindSpore's operators do not call functions that a subclass of Tensor puts in their place; operators here never
    do."""


def function_id(function):
    """A number that is one function's alone as long as it lives."""
    return id(function)


def frombuffer(buffer, dtype, count=-1, offset=0):
    """See `mindspore.frombuffer`."""
    from spore import frombuffer as made
    return made(buffer, dtype=dtype, count=count, offset=offset)


class ParamInfo:
    """What a Parameter keeps besides its value."""

    def __init__(self):
        self.name, self.requires_grad, self.layerwise_parallel, self.parallel_optimizer = '', True, False, True
        self.comm_fusion = 1
        self.cloned_from = None

    def clone(self):
        """A copy."""
        other = ParamInfo()
        other.__dict__.update(self.__dict__)
        return other


class security:
    """Whether parts that write files were left out of the build for safety; they were not."""

    @staticmethod
    def enable_security():
        """No."""
        return False


def reset_op_id():
    """Count operators in names from zero again; names have no such numbers here."""


def get_code_extra(function):
    """What compiling a function came to, or None if it is not compiled: ``stat``, ``break_count_`` (how often the function is
    split), ``compile_count_`` and, under ``code``, ``call_count_`` and ``phase_``."""
    compiled = compiled_of(function)
    if compiled is None:
        return None
    breaks = sum(1 for pieces in compiled.cuts.values() if pieces is not None)
    made = compiled.n_programs + breaks
    return {"stat": "GRAPH_CALLABLE" if made or compiled.n_calls else "GRAPH_CANDIDATE", "break_count_": breaks, "compile_count_": made,
            "code": {"call_count_": compiled.n_calls, "phase_": compiled.name if compiled.n_programs else ""}}


def _framework_profiler_step_start():
    """A step of generating text begins; the profiler here counts steps by `step` alone."""


def _framework_profiler_step_end():
    """A step of generating text ends."""


def _random_normal(seed, data, mean, sigma):
    """Fill a numpy array with normal numbers."""
    import numpy as np
    data[...] = np.random.Generator(np.random.Philox(seed)).standard_normal(data.shape, 'float32') * sigma + mean


def _random_uniform(seed, data, low, high):
    """Fill a numpy array with uniform numbers."""
    import numpy as np
    data[...] = np.random.Generator(np.random.Philox(seed)).random(data.shape, 'float32') * (high - low) + low


def clear_jit_compile_results(function):
    """Forget what compiling a function came to; False if it is not compiled."""
    compiled = compiled_of(function)
    if compiled is None:
        return False
    compiled.forget()
    return True


def jit_mode_pi_enable():
    """Capturing by bytecode is always possible; the answer is whether this changed anything."""
    return False


jit_mode_pi_disable = jit_mode_pi_enable


def pi_jit_set_context(*args, **kwargs):
    """Settings of the capture by bytecode; accepted, there are none."""


update_pijit_default_config = pi_jit_set_context


def pyboost_empty(args):
    """A Tensor of [shape, dtype, device] whose contents are not set."""
    from spore import mint
    size, dtype, _ = args
    return mint.empty(tuple(size), dtype=dtype)


def pyboost_detach(tensor):
    """The same contents without a history."""
    from spore._core import grad_detach
    return grad_detach(tensor)


# Bases that MindSpore's classes have in its compiled part: the classes themselves, for those who ask what something is.
_BASES = {"Cell_": "spore.nn Cell", "Primitive_": "spore.ops Primitive", "GradOperation_": "spore.ops GradOperation",
          "HyperMap_": "spore.ops HyperMap", "Map_": "spore.ops Map", "MultitypeFuncGraph_": "spore.ops MultitypeFuncGraph",
          "COOTensor": "spore COOTensor", "CSRTensor": "spore CSRTensor", "PyNativeExecutor_": "spore.common.api _PyNativeExecutor",
          "PyTreeDef": "spore.utils._pytree PyTreeDef", "_tree_flatten": "spore.utils._pytree tree_flatten",
          "_tree_unflatten": "spore.utils._pytree tree_unflatten", "_tree_leaves": "spore.utils._pytree tree_leaves",
          "_tree_structure": "spore.utils._pytree tree_structure", "_tree_map": "spore.utils._pytree tree_map",
          "_register_pytree_node": "spore.utils._pytree register_pytree_node",
          "JitExecutor_": "spore.common.api _JitExecutor", "GraphExecutor_": "spore.common.api _CellGraphExecutor"}


def __getattr__(name):
    if name in _BASES:
        import importlib
        place, _, wanted = _BASES[name].partition(" ")
        return getattr(importlib.import_module(place), wanted)
    raise AttributeError(f"module 'spore._c_expression' has no attribute '{name}'")


def _empty_instance(size, dtype=None, device=None, pin_memory=False):
    """A Tensor whose elements are not set; see `mint.empty`."""
    from spore import mint
    return mint.empty(tuple(size), dtype=dtype, device=device)


def _ms_memory_recycle():
    """Give memory that is kept for later back to the system."""
    import gc

    from spore.runtime import empty_cache
    gc.collect()
    empty_cache()


def current_stream():
    """See `runtime.current_stream`."""
    from spore.runtime import current_stream as found
    return found()


def default_stream():
    """See `runtime.default_stream`."""
    from spore.runtime import default_stream as found
    return found()


def disable_multi_thread():
    """MindSpore passes operators of eager mode from thread to thread; this ends that. They run on the caller's thread here."""


def is_reboot_node():
    """Whether this process was started again after a failure of a cluster: it is alone."""
    return False


def swap_cache(host, device, block_mapping, is_device_to_host):
    """Copy blocks (first dimension) between two caches: every row of `block_mapping` is (from, to); towards `host` if
    `is_device_to_host`, else towards `device`."""
    source, target = (device, host) if is_device_to_host else (host, device)
    pairs = block_mapping.asnumpy()
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"swap_cache: block_mapping must be of shape (n, 2), but is {pairs.shape}")
    if source.shape[1:] != target.shape[1:] or source.dtype != target.dtype:
        raise ValueError(f"swap_cache: the blocks of both caches must be alike, but are {source.shape[1:]} {source.dtype} and "
                         f"{target.shape[1:]} {target.dtype}")
    for name, place, limit in (("from", pairs[:, 0], source.shape[0]), ("to", pairs[:, 1], target.shape[0])):
        if len(place) and not (0 <= place.min() and place.max() < limit):
            raise ValueError(f"swap_cache: block_mapping goes {name} blocks {place.tolist()}, but there are {limit}")
    if len(pairs):
        target[Tensor(pairs[:, 1])] = source[Tensor(pairs[:, 0])]

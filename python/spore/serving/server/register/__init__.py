# SPDX-License-Identifier: Apache-2.0
"""What servable_config.py calls: it declares the models of a servable and, as chains of stages, its methods."""
from spore._core import type_name as _type_name
from spore.serving import _methods, _pipelines
from spore.serving._methods import Model
from spore.serving._pipelines import PipelineServable

__all__ = ['declare_model', 'Model', 'register_method', 'add_stage', 'register_pipeline', 'PipelineServable', 'Context', 'CPUDeviceInfo', 'GPUDeviceInfo', 'AscendDeviceInfo', 'AclOptions', 'GpuOptions',
           'declare_servable', 'call_servable', 'call_preprocess', 'call_preprocess_pipeline', 'call_postprocess', 'call_postprocess_pipeline']


class CPUDeviceInfo:
    """Precision of models on the CPU; it is that of the file here."""

    def __init__(self, precision_mode=None):
        if precision_mode not in (None, 'origin'):
            raise RuntimeError(f"precision_mode is '{precision_mode}'; models are run in the precision of their files here: 'origin'")


class _OtherDevice:
    def __init__(self, **settings):
        raise RuntimeError(f'{type(self).__name__}: models are run on the CPU here; leave it out, or use CPUDeviceInfo')


class GPUDeviceInfo(_OtherDevice):
    """Of another device: refused."""


class AscendDeviceInfo(_OtherDevice):
    """Of another device: refused."""


class AclOptions(_OtherDevice):
    """Of another device: refused."""


class GpuOptions(_OtherDevice):
    """Of another device: refused."""


class Context:
    """Threads of a model, and the processors that they run on. They are those of the whole process here: all models of a servable have the same.

    Args:
        thread_num (int): How many threads.
        thread_affinity_core_list (Union[list[int], tuple[int]]): Numbers of processors.
        enable_parallel (bool): Refused if True: a model's operators run one after the other, each on all threads.
    """

    def __init__(self, thread_num=None, thread_affinity_core_list=None, enable_parallel=None):
        if thread_num is not None and (not isinstance(thread_num, int) or isinstance(thread_num, bool) or thread_num < 1):
            raise RuntimeError(f"Parameter 'thread_num' should be a positive int, but actually {thread_num!r}")
        cores = None if thread_affinity_core_list is None else list(thread_affinity_core_list)
        if cores is not None and (not cores or not all(isinstance(c, int) and c >= 0 for c in cores)):
            raise RuntimeError(f"Parameter 'thread_affinity_core_list' should be a list of numbers of processors, but actually {thread_affinity_core_list!r}")
        if enable_parallel:
            raise RuntimeError('Context: enable_parallel is not there: operators run one after the other, each on all threads; leave it out')
        self.thread_num, self.cores = thread_num, cores

    def append_device_info(self, device_info):
        if not isinstance(device_info, CPUDeviceInfo):
            raise RuntimeError('Context: models are run on the CPU here')


def declare_model(model_file, model_format, with_batch_dim=True, options=None, without_batch_dim_inputs=None, context=None, config_file=None):
    """Declare a model of the servable: a file in the version's folder, or several, which are its subgraphs.

    Args:
        model_file (Union[str, list[str]]): Name of the file, or names.
        model_format (str): "MindIR" or "MindIR_Lite"; ONNX and TFLite files are read, too.
        with_batch_dim (bool): Whether the first axis of inputs and outputs is the batch.
        without_batch_dim_inputs (Union[int, tuple, list]): Inputs that have no such axis, by their index.

    Returns:
        Model, a stage for `add_stage`.
    """
    files = [model_file] if isinstance(model_file, str) else list(model_file)
    if not files or not all(isinstance(f, str) and f for f in files):
        raise RuntimeError("Parameter 'model_file' should be the name of a file, or a list of such")
    if not isinstance(model_format, str) or model_format.lower() not in ('mindir', 'mindir_lite', 'mindir_opt', 'onnx', 'tflite'):
        raise RuntimeError(f"model_format can only be 'MindIR', 'MindIR_Lite', 'ONNX' or 'TFLite' here, but actually {model_format!r}")
    if options is not None or config_file is not None:
        raise RuntimeError('declare_model: options and config_file are of other devices; leave them out')
    if context is not None and not isinstance(context, Context):
        raise RuntimeError("Parameter 'context' should be a Context")
    if context is not None:
        _methods.REGISTRY.set_threads(context.thread_num, context.cores)
    taken = {f for m in _methods.REGISTRY.models for f in m.files}
    for name in files:
        if name in taken:
            raise RuntimeError(f"model file '{name}' is declared already")
        taken.add(name)
    without = [] if without_batch_dim_inputs is None else [without_batch_dim_inputs] if isinstance(without_batch_dim_inputs, int) else list(without_batch_dim_inputs)
    if not with_batch_dim and without:
        raise RuntimeError("without_batch_dim_inputs has no effect where with_batch_dim is False")
    model = Model(files, bool(with_batch_dim), without)
    _methods.REGISTRY.models.append(model)
    return model


def register_method(output_names):
    """Decorates a function that declares a method: its parameters are the method's inputs, it calls `add_stage`, and returns the outputs."""
    names = [output_names] if isinstance(output_names, str) else list(output_names)

    def declare(fn):
        _methods.declare_method(fn, names)
        return fn
    return declare


def register_pipeline(output_names):
    """Decorates a function that is run for each instance of a request: its parameters are the inputs, what it returns are the outputs. It calls methods with
    `PipelineServable.run`.

    Args:
        output_names (Union[str, list[str]]): Names of the outputs.
    """
    names = [output_names] if isinstance(output_names, str) else list(output_names)

    def declare(fn):
        _pipelines.declare(fn, names)
        return fn
    return declare


def add_stage(stage, *args, outputs_count, batch_size=None, tag=None):
    """A stage of the method that is being declared.

    Args:
        stage (Union[Model, function]): What it runs.
        args: Inputs of the method, or outputs of stages before it.
        outputs_count (int): How many values it gives.
        batch_size (int): Of functions: None, the function gets the inputs of one instance; 0, a tuple of as many instances as models take at once; n, of n
            instances at most. It gives, or yields, one result for each.
        tag (str): What messages call it.

    Returns:
        Placeholders of its outputs.
    """
    if isinstance(stage, Model):
        if batch_size is not None:
            raise RuntimeError('batch_size is for stages that are functions')
        return _methods.add_stage(_methods._Subgraph(stage, 0), args, outputs_count, None, tag)
    if isinstance(stage, str):
        raise RuntimeError(f"add_stage: '{stage}' names a function in C++, which there are none of here; give a Python function or a Model")
    if not callable(stage):
        raise RuntimeError(f"Parameter 'stage' should be a function or a Model, but actually {_type_name(stage)}")
    return _methods.add_stage(stage, args, outputs_count, batch_size, tag)


# --- the older way: one model, preprocess, servable, postprocess --------------------------------------------------------

def declare_servable(servable_file, model_format, with_batch_dim=True, options=None, without_batch_dim_inputs=None):
    """The older name of `declare_model`, for the one model that `call_servable` runs."""
    if _methods.REGISTRY.old_model is not None:
        raise RuntimeError('declare_servable is called once')
    _methods.REGISTRY.old_model = declare_model(servable_file, model_format, with_batch_dim, options, without_batch_dim_inputs)
    return _methods.REGISTRY.old_model


def _old_stage(work, args, batch_size, tag):
    """How many values such a stage gives is not declared: it is seen where they are taken apart."""
    stages = _methods.REGISTRY.declaring
    value = _methods.add_stage(work, args, 1, batch_size, tag)
    return _OldValue(stages[-1], value.stage)


class _OldValue(_methods._Value):
    """The first value of a stage, or all of them when it is taken apart."""

    def __init__(self, stage, index):
        super().__init__(index, 0)
        self._of = stage

    def __iter__(self):
        """`a, b = call_postprocess(...)`: as many as there are names; told by the bytecode that asks."""
        import dis
        import sys
        frame = sys._getframe(1)
        wanted = next(i for i in dis.get_instructions(frame.f_code) if i.offset >= frame.f_lasti and i.opname in ('UNPACK_SEQUENCE', 'UNPACK_EX')).argval
        self._of.outputs_count = wanted
        return iter([_methods._Value(self.stage, i) for i in range(wanted)])


def call_servable(*args, subgraph=0):
    """The stage that runs the model of `declare_servable`."""
    model = _methods.REGISTRY.old_model
    if model is None:
        raise RuntimeError('call_servable needs declare_servable before it')
    return _old_stage(_methods._Subgraph(model, subgraph), args, None, None)


def call_preprocess(preprocess_fun, *args):
    """A stage before the model, called with one instance at a time."""
    return _old_stage(preprocess_fun, args, None, 'Preprocess')


def call_preprocess_pipeline(preprocess_fun, *args):
    """A stage before the model, called with many instances."""
    return _old_stage(preprocess_fun, args, 0, 'Preprocess')


def call_postprocess(postprocess_fun, *args):
    """A stage behind the model, called with one instance at a time."""
    return _old_stage(postprocess_fun, args, None, 'Postprocess')


def call_postprocess_pipeline(postprocess_fun, *args):
    """A stage behind the model, called with many instances."""
    return _old_stage(postprocess_fun, args, 0, 'Postprocess')

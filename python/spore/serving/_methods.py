# SPDX-License-Identifier: Apache-2.0
"""What servable_config.py declares: models, and methods as chains of stages; and how a method is run on instances."""
import inspect
import os

import numpy as np

from spore._core import type_name as _type_name
from spore import _core, context
from spore.common.tensor import Tensor
from spore.serving._values import RequestError


class StageError(RuntimeError):
    """A stage failed for one instance, or for some."""


class SystemFault(RuntimeError):
    """A stage does not give what it declares; all instances of the run fail."""


class _Value:
    """Stands for a value while a method is declared: an input of the method (stage -1), or output `index` of a stage."""

    def __init__(self, stage, index):
        self.stage, self.index = stage, index


class _Stage:
    def __init__(self, work, inputs, outputs_count, batch_size, tag):
        self.work, self.inputs, self.outputs_count, self.batch_size, self.tag = work, inputs, outputs_count, batch_size, tag


class Method:
    """Names of inputs and outputs, stages in their order, and which values are the results."""

    def __init__(self, name, input_names, output_names, stages, results):
        self.name, self.input_names, self.output_names, self.stages, self.results = name, input_names, output_names, stages, results


class Registry:
    """Of one servable_config.py, in its process."""

    def __init__(self):
        self.models, self.methods, self.declaring = [], {}, None
        self.old_model = None     # of declare_servable
        self.threads = None       # of the process: (their number, processors), as declared

    def set_threads(self, number, cores):
        """For the whole process, before its models are loaded."""
        if self.threads not in (None, (number, cores)):
            raise RuntimeError(f'the models of a servable share its threads: one declares thread_num {self.threads[0]} on processors {self.threads[1]}, another {number} on {cores}')
        self.threads = number, cores
        if cores is not None:
            try:
                os.sched_setaffinity(0, cores)
            except OSError as error:
                raise RuntimeError(f'thread_affinity_core_list {cores}: {error.strerror}; this process may run on {sorted(os.sched_getaffinity(0))}') from None
        if number is not None:
            context.set_context(runtime_num_threads=number)

    def batch_size(self):
        return max([1, *(g.batch_size for m in self.models for g in m.graphs)])


REGISTRY = Registry()


# --- models --------------------------------------------------------------------------------------------------------------

class _Graph:
    """One file of a model."""

    def __init__(self, path, model, key, mode):
        self._model = _core.model_load(path, None, key, mode) if key else _core.model_load(path, None)
        self.inputs = [(name, np.dtype(str(dtype).lower().removeprefix('spore.')), tuple(shape)) for name, dtype, shape in self._model.inputs()]
        self.n_outputs = len(self._model.outputs())
        self.batched = [model.with_batch_dim and i not in model.without_batch_dim_inputs for i in range(len(self.inputs))]
        sizes = {shape[0] for (_, _, shape), batched in zip(self.inputs, self.batched) if batched and shape}
        if len(sizes) > 1:
            raise RuntimeError(f'the inputs of {path} differ in their first axis: {sorted(sizes)}; it must be the batch size of all of them')
        size = sizes.pop() if sizes else 1
        self.free = size < 0         # any number of rows
        self.batch_size = 64 if self.free else size

    def check(self, values):
        """The values of one instance as arrays in the model's shapes."""
        if len(values) != len(self.inputs):
            raise StageError(f'Given model inputs count {len(values)} not match the count {len(self.inputs)} of the model')
        out = []
        for i, (value, (_, dtype, shape), batched) in enumerate(zip(values, self.inputs, self.batched)):
            row = shape[1:] if batched else shape
            if isinstance(value, (str, bytes)):
                raise StageError(f'Given model input {i} data type string or bytes not match the data type {dtype}')
            array = np.asarray(value)
            if array.dtype != dtype:
                raise StageError(f'Given model input {i} data type {array.dtype} not match the data type {dtype}')
            if all(d >= 0 for d in row):
                size = dtype.itemsize * int(np.prod(row, dtype=np.int64))
                if array.nbytes != size:
                    raise StageError(f'Given model input {i} size {array.nbytes} not match the size {size}: its shape is {array.shape}, an instance has {tuple(row)}')
                array = array.reshape(row)
            out.append(array)
        return out

    def run(self, rows):
        """Results of checked instances: a tuple of arrays for each."""
        if not any(self.batched):
            return [self._outputs(row) for row in rows]
        results = []
        for at in range(0, len(rows), self.batch_size):
            part = rows[at:at + self.batch_size]
            filled = part if self.free else part + [part[0]] * (self.batch_size - len(part))   # missing rows are the first once more
            inputs = [np.stack([row[i] for row in filled]) if batched else part[0][i] for i, batched in enumerate(self.batched)]
            outputs = self._outputs(inputs)
            for output in outputs:
                if not output.ndim or len(output) != len(filled):
                    raise SystemFault(f'an output of the model has the shape {output.shape}, which has no row for each of {len(filled)} instances')
            results += [tuple(output[r] for output in outputs) for r in range(len(part))]
        return results

    def _outputs(self, inputs):
        return tuple(np.asarray(t.asnumpy()) for t in self._model.run(*(Tensor(np.ascontiguousarray(x)) for x in inputs)))


class Model:
    """A model that `declare_model` declares; a stage of methods, or called by functions: `model.call(x1, x2)`."""

    def __init__(self, files, with_batch_dim, without_batch_dim_inputs):
        self.files, self.with_batch_dim, self.without_batch_dim_inputs, self.graphs = files, with_batch_dim, without_batch_dim_inputs, []

    def _load(self, folder, key, mode):
        for name in self.files:
            path = os.path.join(folder, name)
            if not os.path.exists(path):
                raise RuntimeError(f'Load model failed: there is no {path}')
            self.graphs.append(_Graph(path, self, key, mode))

    def _graph(self, subgraph):
        if not self.graphs:
            raise RuntimeError('the model is not loaded: it is called by stages of methods, while requests are answered')
        if not 0 <= subgraph < len(self.graphs):
            raise RuntimeError(f'subgraph is {subgraph}, but the model has {len(self.graphs)}')
        return self.graphs[subgraph]

    def call(self, *args, subgraph=0):
        """Run it inside of a stage: on one instance, `call(x1, x2)`, or on many, `call([[x1, x2], ...])`."""
        graph = self._graph(subgraph)
        many = len(args) == 1 and isinstance(args[0], (list, tuple))
        rows = [graph.check([_plain(v) for v in instance]) for instance in (args[0] if many else [args])]
        results = graph.run(rows)
        if many:
            return results
        return results[0][0] if len(results[0]) == 1 else results[0]


class _Subgraph:
    """A model's graph as a stage."""

    def __init__(self, model, subgraph):
        self.model, self.subgraph = model, subgraph


# --- declaring -----------------------------------------------------------------------------------------------------------

def add_stage(work, args, outputs_count, batch_size, tag):
    """A stage of the method that is being declared; placeholders for its outputs."""
    stages = REGISTRY.declaring
    if stages is None:
        raise RuntimeError('add_stage is called by functions that register_method decorates, when they are declared')
    if not all(isinstance(a, _Value) for a in args):
        raise RuntimeError("the inputs of a stage are inputs of the method or outputs of stages before it; other values cannot be given to add_stage")
    if not isinstance(outputs_count, int) or outputs_count < 1:
        raise RuntimeError(f"Parameter 'outputs_count' should be a positive int, but actually {outputs_count!r}")
    if batch_size is not None and (not isinstance(batch_size, int) or batch_size < 0):
        raise RuntimeError(f"Parameter 'batch_size' should be None or an int from 0 on, but actually {batch_size!r}")
    stages.append(_Stage(work, list(args), outputs_count, batch_size, tag))
    values = tuple(_Value(len(stages) - 1, i) for i in range(outputs_count))
    return values[0] if outputs_count == 1 else values


def declare_method(fn, output_names):
    names = []
    for parameter in inspect.signature(fn).parameters.values():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise RuntimeError(f"method '{fn.__name__}': its inputs are named parameters; '{parameter.name}' is none")
        names.append(parameter.name)
    if fn.__name__ in REGISTRY.methods:
        raise RuntimeError(f"method '{fn.__name__}' is registered already")
    REGISTRY.declaring = []
    try:
        results = fn(*(_Value(-1, i) for i in range(len(names))))
    finally:
        stages, REGISTRY.declaring = REGISTRY.declaring, None
    results = results if isinstance(results, tuple) else (results,)
    if len(results) != len(output_names) or not all(isinstance(r, _Value) for r in results):
        raise RuntimeError(f"method '{fn.__name__}' returns {len(results)} values, but has the output names {list(output_names)}; all of them are inputs or outputs of stages")
    REGISTRY.methods[fn.__name__] = Method(fn.__name__, names, list(output_names), stages, results)


# --- running --------------------------------------------------------------------------------------------------------------

def _plain(value):
    """What a stage gave, as it goes on."""
    if isinstance(value, (str, bytes, np.ndarray)):
        return value
    if hasattr(value, 'asnumpy'):
        return value.asnumpy()
    if isinstance(value, (bool, int, float, np.generic)):
        return np.asarray(value)
    raise SystemFault(f'a stage gave a {_type_name(value)}; numpy arrays, Tensors, str, bytes, bool, int and float can go on')


def _outputs(stage, result):
    result = result if isinstance(result, (tuple, list)) else (result,)
    if len(result) != stage.outputs_count:
        raise SystemFault(f'the function {stage.work.__name__} gave {len(result)} values, but outputs_count is {stage.outputs_count}')
    return tuple(_plain(v) for v in result)


def _as_seen(value):
    return np.frombuffer(value, np.uint8) if isinstance(value, bytes) else value


class _Run:
    """A method on its way through instances: values[i] holds those of instance i, by stage; failures[i] why it ended."""

    def __init__(self, method, instances):
        self.method, self.failures = method, [None] * len(instances)
        self.values = [{-1: tuple(instance[name] for name in method.input_names)} for instance in instances]

    def inputs(self, i, stage):
        return tuple(_as_seen(self.values[i][v.stage][v.index]) for v in stage.inputs)

    def fail(self, i, index, stage, error):
        tag = stage.tag or (stage.work.__name__ if callable(stage.work) else 'model')
        self.failures[i] = f"Call {tag} Failed, method {self.method.name}, stage index {index + 1}, error msg: {error}"

    def run_function(self, index, stage, live):
        for i in live:
            try:
                self.values[i][index] = _outputs(stage, stage.work(*self.inputs(i, stage)))
            except SystemFault:
                raise
            except Exception as error:
                self.fail(i, index, stage, error)

    def run_batches(self, index, stage, live):
        size = stage.batch_size or REGISTRY.batch_size()
        for at in range(0, len(live), size):
            part = live[at:at + size]
            done = 0
            try:
                for result in stage.work(tuple(self.inputs(i, stage) for i in part)):
                    if done == len(part):
                        raise SystemFault(f'the function {stage.work.__name__} gave more results than the {len(part)} instances that it got')
                    self.values[part[done]][index] = _outputs(stage, result)
                    done += 1
            except SystemFault:
                raise
            except Exception as error:
                for i in part[done:]:
                    self.fail(i, index, stage, error)
                continue
            if done < len(part):
                raise SystemFault(f'the function {stage.work.__name__} gave {done} results for {len(part)} instances')

    def run_model(self, index, stage, live):
        graph = stage.work.model._graph(stage.work.subgraph)
        rows, good = [], []
        for i in live:
            try:
                rows.append(graph.check(self.inputs(i, stage)))
                good.append(i)
            except StageError as error:
                self.failures[i] = str(error)
        if not rows:
            return
        results = graph.run(rows)
        for i, result in zip(good, results):
            if len(result) != stage.outputs_count:
                raise SystemFault(f'the model gave {len(result)} outputs, but outputs_count is {stage.outputs_count}')
            self.values[i][index] = result


def run_method(method, instances):
    """[outputs by name, or a text that says why it failed] of instances, whose inputs are all there."""
    run = _Run(method, instances)
    for index, stage in enumerate(method.stages):
        live = [i for i, failure in enumerate(run.failures) if failure is None]
        try:
            if isinstance(stage.work, _Subgraph):
                run.run_model(index, stage, live)
            elif stage.batch_size is None:
                run.run_function(index, stage, live)
            else:
                run.run_batches(index, stage, live)
        except Exception as error:      # of the run as a whole
            for i in live:
                run.fail(i, index, stage, error)
    return [run.failures[i] or dict(zip(method.output_names, (run.values[i][v.stage][v.index] for v in method.results))) for i in range(len(instances))]


def check_inputs(method, instance):
    missing = [name for name in method.input_names if name not in instance]
    if missing:
        raise RequestError(f'Cannot find input {missing[0]} in instance input')
    unknown = [name for name in instance if name not in method.input_names]
    if unknown:
        raise RequestError(f"input {unknown[0]} is none of method {method.name}; it has {', '.join(method.input_names)}")

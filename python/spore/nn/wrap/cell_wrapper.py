# SPDX-License-Identifier: Apache-2.0
"""Cells around a network: with its loss, for evaluation, for a step of training, for micro batches."""
from types import FunctionType, MethodType

from spore import context
from spore import ops
from spore.common import dtype as mstype
from spore.common.differentiate import GradOperation, value_and_grad
from spore.common.parameter import Parameter, ParameterTuple
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.layer.basic import Identity
from spore.nn.optim._sharding import shards_of
from spore.nn.wrap.grad_reducer import DistributedGradReducer
from spore.parallel import _pipeline

__all__ = ["WithLossCell", "WithGradCell", "ForwardValueAndGrad", "TrainOneStepCell", "WithEvalCell", "ParameterUpdate",
           "VirtualDatasetCellTriple", "GradAccumulationCell", "PipelineCell", "MicroBatchInterleaved"]


class WithLossCell(Cell):
    """A network with its loss: takes data and labels, returns the loss.

    Args:
        backbone: the network.
        loss_fn: of the network's output and the labels.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.WithLossCell(nn.Identity(), nn.MSELoss())
        >>> print(net(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        2.0
    """

    def __init__(self, backbone, loss_fn):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data, label) -> Tensor:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self):
        """The network."""
        return self._backbone


class WithGradCell(Cell):
    """The gradients of a network's trainable Parameters.

    Args:
        network: the network.
        loss_fn: of its output and the labels. Default None: the network returns the loss.
        sens: gradient of the loss to start from. Default None, one.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.WithGradCell(nn.Dense(2, 1), nn.MSELoss())
        >>> print([g.shape for g in net(ms.ops.ones((3, 2)), ms.ops.ones((3, 1)))])
        [(1, 2), (1,)]
    """

    def __init__(self, network, loss_fn=None, sens=None):
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss_fn = loss_fn
        self.weights = ParameterTuple(network.trainable_params())
        self.grad = GradOperation(get_by_list=True, sens_param=sens is not None)
        self.sens = sens
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.network_with_loss.set_train()

    def construct(self, *inputs):
        more = () if self.sens is None else (self.sens,)
        return self.grad(self.network_with_loss, self.weights)(*inputs, *more)


class ForwardValueAndGrad(Cell):
    """A network's result together with gradients.

    Args:
        network: Cell or function.
        weights: Parameters to differentiate with respect to, for get_by_list. Default None.
        get_all: whether to differentiate with respect to all inputs instead of the first. Default False.
        get_by_list: whether to differentiate with respect to `weights`. Default False.
        sens_param: whether the last input is the gradient to start from. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> value, dx = nn.ForwardValueAndGrad(nn.ReLU())(ms.Tensor([1.0, -1.0]))
        >>> print(value, dx)
        [1. 0.] [1. 0.]
    """

    def __init__(self, network, weights=None, get_all=False, get_by_list=False, sens_param=False):
        super().__init__(auto_prefix=False)
        cls = self.cls_name
        check.instance(cls, "network", network, Cell, FunctionType, MethodType)
        check.boolean(cls, "get_all", get_all)
        check.boolean(cls, "get_by_list", get_by_list)
        if get_by_list:
            check.instance(cls, "weights", weights, ParameterTuple, tuple, list)
        self.network, self.weights = network, weights
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param
        self.grad = GradOperation(get_all=get_all, get_by_list=get_by_list, sens_param=sens_param)

    def construct(self, *inputs):
        kept = []

        def network(*args):
            kept[:] = [self.network(*args)]  # so that the network runs once
            return kept[0]
        grads = self.grad(network, self.weights)(*inputs) if self.get_by_list else self.grad(network)(*inputs)
        return ops.stop_gradient(kept[0]), grads


class TrainOneStepCell(Cell):
    """A step of training: computes the loss and its gradients, and lets the optimizer update the Parameters.

    Args:
        network: returns the loss.
        optimizer: updates its Parameters.
        sens: factor of the gradients, not 0. Default None, one.
        return_grad: whether to return the gradients, by Parameter name, too. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.Dense(2, 1)
        >>> step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
        >>> x, y = ms.ops.ones((3, 2)), ms.ops.ones((3, 1))
        >>> print(bool(step(x, y) > step(x, y)))
        True
    """

    def __init__(self, network, optimizer, sens=None, return_grad=False):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = GradOperation(get_by_list=True)
        if sens == 0:
            raise ValueError(f"For '{self.cls_name}', 'sens' must not be 0.")
        self.sense_flag = sens is not None
        self.sens = 1.0 if sens is None else sens
        self.return_grad = return_grad
        self.parallel_mode = context.get_auto_parallel_context("parallel_mode")
        self.reducer_flag = self.parallel_mode in ("data_parallel", "hybrid_parallel")
        self.grad_reducer = Identity()
        if self.reducer_flag:
            self.mean = context.get_auto_parallel_context("gradients_mean")
            self.grad_reducer = DistributedGradReducer(self.weights, self.mean)
            self.degree = self.grad_reducer.degree
        # Where this class's own step brings gradients to the optimizer, sums of slices are enough.
        shards = shards_of(optimizer)
        self._shards = shards if self.reducer_flag and shards is not None and shards.level > 1 and not return_grad else None
        if self._shards is not None:
            self._rest = DistributedGradReducer([p for i, p in enumerate(self.weights) if i not in shards.shared], self.mean)

    def _reduced(self, grads):
        if self._shards is None:
            return self.grad_reducer(grads)
        return self._shards.scatter(grads, self.mean, self._rest)

    def _loss_and_grads(self, inputs, sens=None):
        """The network's result and the gradients of the weights; sens is the gradient of the result to start from."""
        if sens is None:
            return value_and_grad(self.network, None, self.weights)(*inputs)

        def scaled(*args):
            loss = self.network(*args)
            return loss * sens.astype(loss.dtype) if isinstance(sens, Tensor) else loss * sens, ops.stop_gradient(loss)
        (_, loss), grads = value_and_grad(scaled, None, self.weights, has_aux=True)(*inputs)
        return loss, grads

    def _loss_and_sums(self, inputs, sens=None):
        """The same, with the gradients summed over processes: in eager mode the sums are begun while the backward pass goes on."""
        overlapped = self.grad_reducer.overlapped() if self.reducer_flag and self._shards is None else None
        if overlapped is None:
            loss, grads = self._loss_and_grads(inputs, sens)
            return loss, self._reduced(grads)
        with overlapped:
            loss, grads = self._loss_and_grads(inputs, sens)
        return loss, overlapped.finish(grads)

    def construct(self, *inputs):
        loss, grads = self._loss_and_sums(inputs, self.sens if self.sense_flag else None)
        self.optimizer(grads)
        if self.return_grad:
            return loss, {parameter.name: grad for parameter, grad in zip(self.weights, grads)}
        return loss


class WithEvalCell(Cell):
    """A network for evaluation: takes data and labels, returns loss, outputs and labels.

    Args:
        network: the network.
        loss_fn: of its output and the labels.
        add_cast_fp32: whether outputs and labels are converted to float32. Default False.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.WithEvalCell(nn.Identity(), nn.MSELoss())
        >>> loss, outputs, label = net(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0]))
        >>> print(loss, outputs)
        2.0 [1. 2.]
    """

    def __init__(self, network, loss_fn, add_cast_fp32=False):
        super().__init__(auto_prefix=False)
        self._network = network
        self._loss_fn = loss_fn
        self.add_cast_fp32 = check.boolean(self.cls_name, "add_cast_fp32", add_cast_fp32)

    def construct(self, data, label):
        outputs = self._network(data)
        if self.add_cast_fp32:
            label = ops.mixed_precision_cast(mstype.float32, label)
            outputs = ops.cast(outputs, mstype.float32)
        return self._loss_fn(outputs, label), outputs, label


class ParameterUpdate(Cell):
    """Gives a Parameter another value.

    Args:
        param: the Parameter.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> update = nn.ParameterUpdate(p)(ms.Tensor([5.0]))
        >>> print(p.asnumpy())
        [5.]
    """

    def __init__(self, param):
        super().__init__(auto_prefix=False)
        check.instance(self.cls_name, "param", param, Parameter)
        self._param = param

    def construct(self, x) -> Tensor:
        ops.assign(self._param, x)
        return x


class _VirtualDatasetCell(Cell):
    """Marks the inputs of a network for splitting over devices; on one there is nothing to do."""

    def __init__(self, backbone):
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *inputs):
        return self._backbone(*inputs)


class VirtualDatasetCellTriple(Cell):
    """A network with three inputs, marked for splitting over devices.

    Examples:
        >>> from spore import Tensor, nn
        >>> class Sum(nn.Cell):
        ...     def construct(self, a, b, c):
        ...         return a + b + c
        ...
        >>> net = nn.VirtualDatasetCellTriple(Sum())
        >>> print(net(Tensor(1), Tensor(2), Tensor(3)))
        6
    """

    def __init__(self, backbone):
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, a, b, c) -> Tensor:
        return self._backbone(a, b, c)


class _MicroBatches(Cell):
    """Runs a network on parts of a batch and adds the results up."""

    def __init__(self, network, count, name):
        super().__init__(auto_prefix=False)
        check.instance(self.cls_name, "network", network, Cell)
        check.positive_int(self.cls_name, name, count)
        self.network = network
        setattr(self, name, count)
        self._count = count

    def construct(self, *inputs) -> Tensor:
        total = None
        for i in range(self._count):
            out = self.network(*(self._part(value, i) for value in inputs))
            total = out if total is None else total + out
        return total

    def _part(self, value, i):
        if value.shape[0] % self._count:
            raise ValueError(f"For '{self.cls_name}', the first dimension of every input must be a multiple of {self._count}, "
                             f"but got shape {value.shape}.")
        if _pipeline.active():
            return _pipeline.part(value, i, self._count)
        size = value.shape[0] // self._count
        return value[i * size:(i + 1) * size]


class GradAccumulationCell(_MicroBatches):
    """Runs a network on parts of a batch and adds the results, and with them the gradients, up.

    Args:
        network: the network.
        micro_size: number of parts.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.GradAccumulationCell(nn.ReLU(), 2)(ms.Tensor([1.0, 2.0])))
        [3.]
    """

    def __init__(self, network, micro_size):
        super().__init__(network, micro_size, "micro_size")


class PipelineCell(_MicroBatches):
    """Runs a network on parts of a batch, which the stages of a pipeline work on at the same time; in one process, in turn. Results are added up.

    Args:
        network: the network.
        micro_size: number of parts.
        stage_config: stage of Cells by path. Default None.
        segment_config: segment of Cells by path. Default None.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.PipelineCell(nn.ReLU(), 2)(ms.Tensor([1.0, 2.0])))
        [3.]
    """

    def __init__(self, network, micro_size, stage_config=None, segment_config=None):
        super().__init__(network, micro_size, "micro_size")
        self._spread("stage_config", stage_config, "pipeline_stage")
        self._spread("segment_config", segment_config, "pipeline_segment")

    def _spread(self, what, config, attribute):
        left = dict(config or {})
        for path, cell in self.network.cells_and_names():
            if path and path in left:
                setattr(cell, attribute, left.pop(path))
        if str(self.network) in left:
            setattr(self.network, attribute, left.pop(str(self.network)))
        if left:
            raise KeyError(f"For '{self.cls_name}', '{what}' names Cells that the network has not: {sorted(left)}")

    def construct(self, *inputs):
        if context._stages() > 1 and not _pipeline.active():
            raise RuntimeError(f"For '{self.cls_name}', {context._stages()} pipeline stages need a compiled step: set GRAPH_MODE, or decorate the "
                               "function that calls it with jit.")
        return super().construct(*inputs)

    def shard(self, in_strategy, out_strategy=None, parameter_plan=None, device="Ascend", level=0):
        """Not for a pipeline: shard the Cells inside."""
        raise ValueError(f"For '{self.cls_name}', 'shard' is not possible; shard the Cells inside it.")


class MicroBatchInterleaved(_MicroBatches):
    """Runs a network on parts of a batch, so that one part computes while another communicates; on one device, in turn.

    Args:
        network: the network.
        interleave_num: number of parts. Default 2.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> print(nn.MicroBatchInterleaved(nn.ReLU())(ms.Tensor([1.0, 2.0])))
        [3.]
    """

    def __init__(self, network, interleave_num=2):
        super().__init__(network, interleave_num, "interleave_num")


class _MicroBatch(Cell):
    """The `i`-th of `micro_size` parts of every input."""

    def __init__(self, micro_size):
        super().__init__()
        self.micro_size = micro_size

    def construct(self, i, *inputs):
        parts = ()
        for value in inputs:
            if value.shape[0] % self.micro_size:
                raise ValueError(f"For MicroBatch initialization, the value on axis 0 of every input must be a multiple of micro_size, but "
                                 f"got shape {value.shape} and micro_size {self.micro_size}.")
            size = value.shape[0] // self.micro_size
            parts += (value[i * size:(i + 1) * size],)
        return parts

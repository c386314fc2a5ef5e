# SPDX-License-Identifier: Apache-2.0
"""Training with a scaled loss, so that small gradients survive in float16."""
from spore import ops
from spore.common import dtype as mstype
from spore.common.parameter import Parameter
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.layer import _check as check
from spore.nn.wrap.cell_wrapper import TrainOneStepCell

__all__ = ["TrainOneStepWithLossScaleCell", "DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell"]


# Functions for HyperMap that programs import from here.
_grad_scale = ops.MultitypeFuncGraph("grad_scale")
_grad_overflow = ops.MultitypeFuncGraph("_grad_overflow")


@_grad_scale.register("Tensor", "Tensor")
def tensor_grad_scale(scale, grad):
    return grad * (1 / scale).astype(grad.dtype)


@_grad_overflow.register("Tensor")
def _overflowed(grad):
    return ops.logical_not(ops.all(ops.isfinite(grad))).astype(mstype.float32).reshape((1,))


class DynamicLossScaleUpdateCell(Cell):
    """Lowers the loss scale after an overflow, and raises it after enough steps without one.

    Args:
        loss_scale_value: the scale at the start.
        scale_factor: by which it is multiplied or divided.
        scale_window: how many steps in a row must pass without overflow before it is raised.

    Examples:
        >>> from spore import nn
        >>> print(nn.DynamicLossScaleUpdateCell(1024, 2, 1000).get_loss_scale())
        1024
    """

    def __init__(self, loss_scale_value, scale_factor, scale_window):
        super().__init__()
        self.scale_window = Tensor(scale_window, mstype.int32)
        self.scale_factor = Tensor(scale_factor, mstype.float32)
        self.loss_scale_value = loss_scale_value
        self.cur_iter = Parameter(Tensor(1, mstype.int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(0, mstype.int32), name="last_overflow_iterator_step")

    def get_loss_scale(self):
        """The scale at the start."""
        return self.loss_scale_value

    def construct(self, loss_scale, overflow):
        lowered = ops.maximum(loss_scale / self.scale_factor, 1.0)
        scale = ops.select(overflow, lowered, loss_scale)
        grown_up = self.scale_window <= self.cur_iter - self.last_overflow_iter
        ops.assign(self.last_overflow_iter,
                   ops.select(ops.logical_or(overflow, grown_up), self.cur_iter, self.last_overflow_iter))
        grow = ops.logical_and(grown_up, ops.logical_not(overflow))
        ops.assign(loss_scale, ops.select(grow, scale * self.scale_factor, scale))
        ops.assign(self.cur_iter, self.cur_iter + 1)
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """Leaves the loss scale as it is.

    Args:
        loss_scale_value: the scale.

    Examples:
        >>> from spore import nn
        >>> print(nn.FixedLossScaleUpdateCell(1024).get_loss_scale())
        1024
    """

    def __init__(self, loss_scale_value):
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self):
        """The scale."""
        return self.loss_scale_value

    def construct(self, _, overflow) -> Tensor:
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """A step of training with a scaled loss; steps whose gradients are not finite are left out.

    Args:
        network: returns the loss.
        optimizer: updates its Parameters.
        scale_sense: the scale, a Tensor of shape () or (1,), or a Cell that updates it (DynamicLossScaleUpdateCell).

    Outputs are the loss, whether there was an overflow, and the scale.

    Examples:
        >>> import spore as ms
        >>> from spore import nn
        >>> net = nn.Dense(2, 1)
        >>> step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1),
        ...                                         nn.FixedLossScaleUpdateCell(1024))
        >>> loss, overflow, scale = step(ms.ops.ones((3, 2)), ms.ops.ones((3, 1)))
        >>> print(overflow)
        False
    """

    # What MindSpore's cell holds for the construct of classes derived from it.
    gpu_target = ascend_910a_target = ascend_910b_target = False
    equal, less_equal, logic_not = ops.Equal(), ops.LessEqual(), ops.LogicalNot()
    reduce_sum, reduce_all = ops.ReduceSum(keep_dims=False), ops.ReduceAll(keep_dims=False)

    def __init__(self, network, optimizer, scale_sense):
        super().__init__(network, optimizer, sens=None)
        self.hyper_map = ops.HyperMap()
        self.base = Tensor(1, mstype.float32)
        self.is_distributed = self.parallel_mode != "stand_alone"
        self.allreduce = ops.AllReduce() if self.is_distributed else None
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            self.scale_sense = Parameter(Tensor(scale_sense.get_loss_scale(), mstype.float32), name="scale_sense")
        elif isinstance(scale_sense, Tensor):
            if tuple(scale_sense.shape) not in ((), (1,)):
                raise ValueError(f"For '{self.cls_name}', 'scale_sense' must have shape () or (1,), but got "
                                 f"{tuple(scale_sense.shape)}.")
            self.scale_sense = Parameter(scale_sense, name="scale_sense")
        else:
            check.fail_type(self.cls_name, "scale_sense", scale_sense, "a Cell or a Tensor")

    def construct(self, *inputs):
        scale = self.scale_sense.value()  # the manager changes the Parameter in place
        loss, grads = self._loss_and_grads(inputs, scale)
        grads = tuple(g * (1 / scale).astype(g.dtype) for g in grads)
        grads = self._reduced(grads)
        status = self.get_overflow_status(None, grads)
        if not self.process_loss_scale(status):
            self.optimizer(grads)
        return loss, status, scale

    def set_sense_scale(self, sens):
        """Change the scale."""
        if not isinstance(sens, Tensor):
            check.fail_type(self.cls_name, "sens", sens, "a Tensor")
        self.scale_sense.set_data(sens)

    def start_overflow_check(self, pre_cond, compute_input):
        """Nothing has to be prepared here: gives a status to pass to get_overflow_status, and the input back."""
        return Tensor([0] * 8, mstype.int32), compute_input

    def get_overflow_status(self, status, compute_output):
        """Whether any element of the gradients is not finite, a bool Tensor."""
        grads = compute_output if isinstance(compute_output, (tuple, list)) else (compute_output,)
        finite = None
        for grad in grads:
            fine = ops.all(ops.isfinite(grad))
            finite = fine if finite is None else ops.logical_and(finite, fine)
        overflow = ops.logical_not(finite)
        if self.is_distributed:
            overflow = self.allreduce(overflow.astype(mstype.float32)) > 0
        return overflow

    def process_loss_scale(self, overflow):
        """Let the manager, if there is one, update the scale."""
        if self.loss_scaling_manager is not None:
            return self.loss_scaling_manager(self.scale_sense, overflow)
        return overflow

# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers as primitives: parameters and their state are updated in place by one operator each.

A class names its operator, the arguments of its constructor (with defaults) and which results it gives back.
"""
import inspect

from .._core import apply
from .primitive import Primitive
from spore._core import type_name as _type_name

__all__ = []


def _step(name, op, init, results, attrs=(), doc=""):
    """Make and list a primitive. init: name -> default (None: must be given); attrs: those the operator takes."""
    empty = inspect.Parameter.empty
    signature = inspect.Signature([inspect.Parameter(k, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=empty if v is None else v)
                                   for k, v in init.items()])

    def __init__(self, *args, **kwargs):
        Primitive.__init__(self, name)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for key, value in bound.arguments.items():
            if isinstance(init[key], bool) and not isinstance(value, bool):
                raise TypeError(f"For '{name}', {key} must be a bool, but got {_type_name(value)}")
            self.add_prim_attr(key, value)
        self.add_prim_attr("side_effect_mem", True)
        self._attrs = {key: bound.arguments[key] for key in attrs}

    def __call__(self, *args):
        out = apply(op, self._inputs(args), self._attrs)
        return out[0] if results == 1 and isinstance(out, tuple) else out

    def _inputs(self, args):
        return args
    globals()[name] = type(name, (Primitive,), {
        "__init__": __init__, "__call__": __call__, "_inputs": _inputs, "__doc__": doc, "__module__": __name__,
        "__signature__": signature})
    __all__.append(name)


_LOCK = {"use_locking": False}
# On the CPU MindSpore's ApplyMomentum and ApplyAdagrad leave use_nesterov, gradient_scale and update_slots without effect;
# these primitives compute what it computes. The operators momentum_update and adagrad_update know them.
_step("ApplyMomentum", "momentum_update", {"use_nesterov": False, "use_locking": False, "gradient_scale": 1.0}, 1,
      doc="accumulation = accumulation * momentum + gradient; variable -= learning_rate * accumulation.")
_step("ApplyAdagrad", "adagrad_update", {"update_slots": True}, 2, doc="accum += grad^2; var -= lr grad / sqrt(accum).")
_step("ApplyAdagradV2", "adagrad_update", {"epsilon": None, "update_slots": True}, 2, ("epsilon", "update_slots"),
      doc="accum += grad^2; var -= lr grad / (sqrt(accum) + epsilon).")
_step("SGD", "sgd_update", {"dampening": 0.0, "weight_decay": 0.0, "nesterov": False}, 1,
      ("dampening", "weight_decay", "nesterov"), doc="Gradient descent with momentum, dampening and weight decay.")
_step("Adam", "adam_update", {"use_locking": False, "use_nesterov": False}, 3, ("use_nesterov",),
      doc="Adam: first and second moments, corrected for their start.")
_step("AdamWeightDecay", "adam_weight_decay_update", _LOCK, 3, doc="Adam without correction, with decoupled weight decay.")
_step("FusedCastAdamWeightDecay", "cast_adam_weight_decay_update", _LOCK, 3,
      doc="AdamWeightDecay of a gradient of another dtype, divided by a norm.")
_step("ApplyRMSProp", "rmsprop_update", _LOCK, 1, doc="Gradient divided by the root of its averaged square, with momentum.")
_step("ApplyCenteredRMSProp", "centered_rmsprop_update", _LOCK, 1,
      doc="Gradient divided by its averaged standard deviation, with momentum.")
_step("ApplyFtrl", "ftrl_update", _LOCK, 1, doc="Follow the regularised leader.")
_step("ApplyAdadelta", "adadelta_update", {}, 3, doc="Steps as large as earlier steps were.")
_step("ApplyAdaMax", "adamax_update", {}, 3, doc="Adam with the largest gradient seen in place of the second moment.")
_step("ApplyGradientDescent", "gradient_descent_update", {}, 1, doc="var -= alpha * delta.")
_step("ApplyProximalGradientDescent", "proximal_gradient_descent_update", {}, 1,
      doc="Gradient descent, then shrinking by l1 and l2.")
_step("ApplyProximalAdagrad", "proximal_adagrad_update", _LOCK, 2, doc="Adagrad, then shrinking by l1 and l2.")
_step("ApplyAdagradDA", "adagrad_da_update", _LOCK, 1, doc="Dual averaging with squared gradients.")
_step("ApplyAddSign", "add_sign_update", {}, 2, doc="Larger steps where the gradient agrees with its average: a sum.")
_step("ApplyPowerSign", "power_sign_update", {}, 2, doc="Larger steps where the gradient agrees with its average: a power.")
_step("ApplyKerasMomentum", "keras_momentum_update", {"use_locking": False, "use_nesterov": False}, 2, ("use_nesterov",),
      doc="Momentum that averages steps instead of gradients.")
_step("ApplyAdamWithAmsgradV2", "amsgrad_update", _LOCK, 4, doc="Adam that divides by the largest second moment seen.")
_step("FusedWeightScaleApplyMomentum", "weight_scale_momentum_update", {}, 1,
      doc="Momentum whose gradient is unscaled and decayed in the same pass.")
_step("ApplyAdamWithAmsgrad", "amsgrad_update", {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "use_locking": False}, 4,
      doc="Adam that divides by the largest second moment seen.")


def _amsgrad_inputs(self, args):
    """The constants stand between the learning rate and the gradient."""
    return (*args[:7], self.beta1, self.beta2, self.epsilon, args[7])


ApplyAdamWithAmsgrad._inputs = _amsgrad_inputs  # noqa: F821  made above

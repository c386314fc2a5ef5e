# SPDX-License-Identifier: Apache-2.0
"""Optimizer: what all optimizers share. Parameter groups, learning rates, weight decay, loss scale.

A step is a handful of calls into the engine, each over all parameters at once (``_core.apply_each``), so its cost in
Python does not grow with the number of parameters.
"""
import functools
import inspect
from collections.abc import Iterable

import numpy as np

from spore import _core, ops
from spore._core import Tensor
from spore._moves import check_keywords
from spore.common import dtype as mstype
from spore.common.parameter import Parameter, ParameterTuple
from spore.nn.cell import Cell
from spore.nn.learning_rate_schedule import LearningRateSchedule
from spore.nn._optim_check import type_name
from spore.nn.optim import _sharding

__all__ = ['Optimizer', 'opt_init_args_register']

_GROUP_KEYS = ('params', 'lr', 'weight_decay', 'order_params', 'grad_centralization')


def opt_init_args_register(fn):
    """Decorator of an optimizer's ``__init__``: keeps the arguments in ``init_args``, ``init_params``,
    ``init_learning_rate``.

    Examples:
        >>> from spore import nn
        >>> class Half(nn.SGD):
        ...     @nn.opt_init_args_register
        ...     def __init__(self, params, learning_rate=0.5):
        ...         super().__init__(params, learning_rate)
        ...
        >>> Half(nn.Dense(2, 1).trainable_params()).init_learning_rate
        0.5
    """
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def init(self, *args, **kwargs):
        check_keywords(type(self), kwargs, fn)
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        own = next(iter(signature.parameters))
        kept = {name: value for name, value in given.items() if name != own}
        notes = {}
        if 'params' in kept:
            notes['init_params'] = {'params': kept.pop('params')}
        if 'optimizer' in kept:
            notes['init_params'] = {'params': kept.pop('optimizer').init_params['params']}
        if 'learning_rate' in kept:
            rate = kept.pop('learning_rate')
            if isinstance(rate, Tensor):
                rate = rate.asnumpy().tolist()
            notes['init_learning_rate'] = None if isinstance(rate, Cell) else rate
        notes['init_args'] = kept
        self.__dict__.update(notes)
        fn(self, *args, **kwargs)
    return init


class _RateList(LearningRateSchedule):
    """A learning rate per step, from a list; after its end the last one stays."""

    def __init__(self, learning_rate, name):
        super().__init__()
        self.learning_rate = Parameter(learning_rate, name)

    def construct(self, global_step) -> Tensor:
        step = min(int(global_step.item()), self.learning_rate.size - 1)
        return self.learning_rate._alias()[step].reshape(global_step.shape)


class _ConstantRate(LearningRateSchedule):
    """A fixed learning rate among changing ones."""

    def __init__(self, learning_rate):
        super().__init__()
        self.learning_rate = learning_rate

    def construct(self, global_step):
        return self.learning_rate._alias()


class _ScaledDecay(Cell):
    """A weight decay that changes with the step, times the loss scale."""

    def __init__(self, weight_decay, loss_scale):
        super().__init__()
        self.weight_decay = weight_decay
        self.loss_scale = loss_scale

    def construct(self, global_step):
        decay = self.weight_decay(global_step)
        return decay if self.loss_scale == 1.0 else decay * self.loss_scale


class Optimizer(Cell):
    """Base of all optimizers: call it with the gradients, in the order of ``parameters``, and it changes the
    parameters.

    Args:
        learning_rate: a number; a list, tuple or one-dimensional Tensor with one value per step; or a
            LearningRateSchedule.
        parameters: Parameters, or groups of them: dicts with ``params`` and any of ``lr``, ``weight_decay``,
            ``grad_centralization``, and optionally one dict with ``order_params`` alone.
        weight_decay: a number, or a Cell that computes it from the step. Without groups it leaves out parameters whose
            name contains "beta" or "gamma".
        loss_scale: what the loss, and with it the gradients, were multiplied with.
    """

    _support_parallel_optimizer = False
    # What MindSpore's optimizers hold for the construct of classes derived from them.
    assignadd = ops.AssignAdd()
    map_, hyper_map = ops.Map(), ops.HyperMap()
    map_reverse, hyper_map_reverse = ops.Map(None, True), ops.HyperMap(None, True)

    _kind = "Optimizer"
    _by_element = True      # a step is a step of every element: slices of Parameters can be stepped alone

    def __init__(self, learning_rate, parameters, weight_decay=0.0, loss_scale=1.0):
        super().__init__(auto_prefix=False)
        parameters = _listed(parameters, 'parameters')
        if not all(isinstance(p, Parameter) for p in parameters) and not all(isinstance(p, dict) for p in parameters):
            raise TypeError(f"For 'Optimizer', 'parameters' must hold Parameters or dicts only, but it holds "
                            f"{sorted({type_name(p) for p in parameters})}.")
        if isinstance(loss_scale, int) and not isinstance(loss_scale, bool):
            loss_scale = float(loss_scale)
        if not isinstance(loss_scale, float):
            raise TypeError(f"For '{self.cls_name}', 'loss_scale' must be a float, but got {type_name(loss_scale)}.")
        if not loss_scale > 0:
            raise ValueError(f"For '{self.cls_name}', 'loss_scale' must be greater than 0, but got {loss_scale}.")
        self.loss_scale = loss_scale
        self.dynamic_weight_decay = False
        self.dynamic_lr = False
        self.grad_centralization = False
        self._unique = True
        self._target = 'CPU'
        self.param_rank = None
        self.use_parallel = False
        self.global_step = Parameter(Tensor([0], mstype.int32), name='global_step')
        self.is_group = isinstance(parameters[0], dict)
        self.is_group_lr = False
        self.is_group_params_ordered = False
        rate = self._rate_value(learning_rate)
        if self.is_group:
            self._take_groups(parameters, rate, weight_decay)
            self._take_group_decay()
            if self.is_group_lr:
                if self.dynamic_lr:
                    from spore.nn.layer.container import CellList
                    self.learning_rate = CellList(self.group_lr, auto_prefix=False)
                else:
                    self.learning_rate = ParameterTuple(self.group_lr)
            else:
                self.learning_rate = self.group_lr[0]
            self.parameters = ParameterTuple(self.group_params)
        else:
            self.learning_rate = self._rate(rate, 'learning_rate')
            self.parameters = ParameterTuple(parameters)
            decay = self._decay_value(weight_decay)
            self.decay_flags = tuple('beta' not in p.name and 'gamma' not in p.name for p in self.parameters)
            self.dynamic_decay_flags = isinstance(decay, Cell)
            self.exec_weight_decay = isinstance(decay, Cell) or decay > 0
            self.weight_decay = decay if self.dynamic_decay_flags else Tensor(decay, mstype.float32)
            self.grad_centralization_flags = (False,) * len(self.parameters)
        self._parameters = _sharding.begin(self)
        if any(p.unique for p in self._parameters):
            self._unique = False
        self.reciprocal_scale = Tensor(1.0 / loss_scale, mstype.float32)
        self.need_scale = loss_scale != 1.0
        self.global_step_increase_tensor = Tensor([1], mstype.int32)
        self.param_length = len(self._parameters)
        self.optim_filter = (True,) * self.param_length
        self._done = (True,) * self.param_length
        self.add_flags(skip_auto_parallel_compile=True)

    def __setattr__(self, name, value):
        # State in tuples is kept among the parameters too, so that all of them are listed in the order they were made.
        if isinstance(value, ParameterTuple):
            for parameter in value:
                self._params.setdefault(parameter.name, parameter)
            self.__dict__[name] = value
            shards = self.__dict__.get('_shards')
            if shards is not None:
                shards.mark(value)
            elif '_parameters' in self.__dict__:
                _sharding.slice_early(self, value)
        else:
            super().__setattr__(name, value)

    # --- arguments ---------------------------------------------------------------------------------------------------

    def _rate_value(self, rate):
        """A learning rate as float, Tensor or schedule."""
        if isinstance(rate, (float, int)):
            if rate < 0:
                raise ValueError(f"For '{self.cls_name}', the learning rate must not be negative, but got {rate}.")
            return float(rate)
        if isinstance(rate, Tensor):
            if rate.ndim > 1:
                raise ValueError(f"For '{self.cls_name}', a learning rate Tensor must have 0 or 1 dimensions, but got "
                                 f"{rate.ndim}.")
            self.dynamic_lr = self.dynamic_lr or rate.ndim == 1
            return Tensor(rate.asnumpy(), dtype=mstype.float32)
        if isinstance(rate, LearningRateSchedule):
            self.dynamic_lr = True
            return rate
        if isinstance(rate, str):
            raise ValueError(f"For '{self.cls_name}', the learning rate must be a number, a Tensor, a list or a LearningRateSchedule, but got "
                             f"the text {rate!r}.")
        if isinstance(rate, Iterable):
            self.dynamic_lr = True
            return Tensor(np.array(list(rate)).astype(np.float32))
        raise TypeError(f"For '{self.cls_name}', the learning rate must be a number, a Tensor, a list or a "
                        "LearningRateSchedule, "
                        f"but got {type_name(rate)}.")

    def _rate(self, value, name):
        """What holds the learning rate: a Parameter or a schedule."""
        if isinstance(value, LearningRateSchedule):
            return value
        if isinstance(value, Tensor) and value.ndim == 1:
            return _RateList(value, name)
        rate = Parameter(value if isinstance(value, Tensor) else Tensor(value, mstype.float32), name)
        return _ConstantRate(rate) if self.is_group_lr and self.dynamic_lr else rate

    def _decay_value(self, decay):
        """Weight decay as float (times the loss scale) or Cell."""
        if isinstance(decay, (float, int)) and not isinstance(decay, bool):
            if decay < 0:
                raise ValueError(f"For '{self.cls_name}', 'weight_decay' must not be negative, but got {decay}.")
            return float(decay) * self.loss_scale
        if isinstance(decay, Cell):
            self.dynamic_weight_decay = True
            return _ScaledDecay(decay, self.loss_scale)
        raise TypeError(f"For '{self.cls_name}', 'weight_decay' must be a number or a Cell, but got "
                        f"{type_name(decay)}.")

    def _check_groups(self, groups, rate):
        length = rate.size if isinstance(rate, Tensor) and rate.ndim == 1 else 0
        for group in groups:
            unknown = [key for key in group if key not in _GROUP_KEYS]
            if unknown:
                raise KeyError(f"For 'Optimizer', a parameter group can have the keys {list(_GROUP_KEYS)}, but got "
                               f"{unknown}.")
            if 'order_params' in group:
                if len(group) > 1:
                    raise ValueError(f"For 'Optimizer', 'order_params' must stand alone in its group, but got "
                                     f"{list(group)}.")
                if not isinstance(group['order_params'], Iterable):
                    raise TypeError(f"For 'Optimizer', 'order_params' must be a list of Parameters, but got "
                                    f"{type_name(group['order_params'])}.")
                self.is_group_params_ordered = True
                continue
            for index, parameter in enumerate(_listed(group['params'], "group `params`")):
                if not isinstance(parameter, Parameter):
                    raise TypeError(f"For 'Optimizer', 'params' of a group must hold Parameters, but got "
                                    f"{type_name(parameter)} "
                                    f"at index {index}.")
            if 'lr' in group:
                self.is_group_lr = True
                own = self._rate_value(group['lr'])
                if isinstance(own, Tensor) and own.ndim == 1:
                    length = length or own.size
                    if own.size != length:
                        raise ValueError(f"For 'Optimizer', learning rates per step must have one length in all "
                                         "groups, but got "
                                         f"{own.size} and {length}.")

    def _take_groups(self, groups, rate, weight_decay):
        """Lists over all parameters of their group's learning rate, weight decay and centralization."""
        self._check_groups(groups, rate)
        usual_rate = self._rate(rate, 'learning_rate')
        rows, names, order = [], set(), None
        for number, group in enumerate(groups):
            if 'order_params' in group:
                order = list(group['order_params'])
                continue
            own_rate = usual_rate
            if 'lr' in group:
                own_rate = self._rate(self._rate_value(group['lr']), f'learning_rate_group_{number}')
            decay = self._decay_value(group.get('weight_decay', weight_decay))
            central = group.get('grad_centralization', False)
            if not isinstance(central, bool):
                raise TypeError(f"For 'Optimizer', 'grad_centralization' must be a bool, but got {type_name(central)}.")
            self.grad_centralization = self.grad_centralization or central
            for parameter in group['params']:
                if parameter.name in names:
                    raise RuntimeError(f"For 'Optimizer', the parameter '{parameter.name}' is in the groups twice.")
                names.add(parameter.name)
                rows.append((parameter, own_rate, decay, central))
        if order:
            if len(order) != len(rows):
                raise ValueError(f"For 'Optimizer', 'order_params' must hold all {len(rows)} parameters, but got "
                                 f"{len(order)}.")
            place = {parameter.name: index for index, parameter in enumerate(order)}
            rows.sort(key=lambda row: place[row[0].name])
        self.group_params, self.group_lr = [row[0] for row in rows], [row[1] for row in rows]
        self.group_weight_decay, self.group_grad_centralization = [row[2] for row in rows], [row[3] for row in rows]

    def _take_group_decay(self):
        decays = self.group_weight_decay
        self.decay_flags = tuple(isinstance(d, Cell) or d > 0 for d in decays)
        self.dynamic_decay_flags = tuple(isinstance(d, Cell) for d in decays)
        self.weight_decay = tuple(d if isinstance(d, Cell) else Tensor(d, mstype.float32) for d in decays)
        self.exec_weight_decay = any(self.decay_flags)
        self.grad_centralization_flags = tuple(self.group_grad_centralization)

    # --- what others ask ---------------------------------------------------------------------------------------------

    @property
    def unique(self):
        """Are indices of sparse gradients already without repetition?"""
        return self._unique

    @unique.setter
    def unique(self, value):
        if not isinstance(value, bool):
            raise TypeError(f"For 'Optimizer', 'unique' must be a bool, but got {type_name(value)}.")
        self._unique = value

    @property
    def target(self):
        """Where sparse gradients are applied."""
        return self._target

    @target.setter
    def target(self, value):
        if not isinstance(value, str):
            raise TypeError(f"For 'Optimizer', 'target' must be a str, but got {type_name(value)}.")
        if value not in ('CPU', 'Ascend', 'GPU'):
            raise ValueError(f"For 'Optimizer', 'target' must be one of ['CPU', 'Ascend', 'GPU'], but got {value}.")
        if value != 'CPU':
            raise ValueError(f"For 'Optimizer', 'target' cannot be {value}: this process computes on the CPU.")
        self._target = value

    def get_lr(self):
        """The learning rate of the coming step; with different ones in groups, a tuple with one per parameter."""
        if not self.dynamic_lr:
            return self.learning_rate
        if self.is_group_lr:
            return tuple(_number(rate(self.global_step)) for rate in self.learning_rate)
        return _number(self.learning_rate(self.global_step))

    def get_lr_parameter(self, param):
        """The learning rate (Parameter or schedule) of a Parameter, or a list of them for a list."""
        if not isinstance(param, (Parameter, list)):
            raise TypeError(f"For 'get_lr_parameter', 'param' must be a Parameter or a list, but got "
                            f"{type_name(param)}.")
        index = {id(p): i for i, p in enumerate(self._parameters)}
        rates = []
        for p in param if isinstance(param, list) else [param]:
            if not isinstance(p, Parameter):
                raise TypeError(f"For 'get_lr_parameter', 'param' must hold Parameters, but got {type_name(p)}.")
            if id(p) not in index:
                raise ValueError(f"For 'get_lr_parameter', the parameter '{p.name}' is not in the optimizer.")
            rate = self.learning_rate[index[id(p)]] if self.is_group_lr else self.learning_rate
            rates.append(rate.learning_rate if isinstance(rate, (_RateList, _ConstantRate)) else rate)
        return rates if isinstance(param, list) else rates[0]

    def get_weight_decay(self):
        """The weight decay of the coming step, times the loss scale; for groups a tuple with one per parameter."""
        if not self.dynamic_weight_decay:
            return self.weight_decay
        if self.is_group:
            return tuple(decay(self.global_step) if flag else decay
                         for decay, flag in zip(self.weight_decay, self.dynamic_decay_flags))
        return self.weight_decay(self.global_step)

    # --- parts of a step ---------------------------------------------------------------------------------------------

    def flatten_gradients(self, gradients):
        """The gradients as they are: they are never packed together here."""
        return gradients

    def _decayed_rows(self):
        """(indices, parameters) that decay; computed anew when decay_flags is replaced."""
        known = self.__dict__.get('_decayed')
        if known is None or known[0] is not self.decay_flags:
            rows = tuple(i for i, flag in enumerate(self.decay_flags) if flag)
            known = (self.decay_flags, rows, tuple(self._parameters[i] for i in rows))
            self.__dict__['_decayed'] = known
        return known[1], known[2]

    def decay_weight(self, gradients):
        """The gradients with weight decay added."""
        if not self.exec_weight_decay:
            return gradients
        decay = self.get_weight_decay()
        rows, params = self._decayed_rows()
        if not rows:
            return gradients
        if self.is_group:
            decay = [decay[i] for i in rows]
        pulls = _core.apply_each('mul', (params, decay))
        if len(rows) == len(gradients):
            return _core.apply_each('add', (pulls, tuple(gradients)))
        made = list(gradients)
        for i, gradient in zip(rows, _core.apply_each('add', (pulls, tuple(gradients[i] for i in rows)))):
            made[i] = gradient
        return tuple(made)

    def gradients_centralization(self, gradients):
        """The gradients of groups with ``grad_centralization`` moved to mean zero over all but the first dimension.

        As in MindSpore, a gradient with fewer than two dimensions, or whose second one is no multiple of 16, stays as
        it is.
        """
        if not self.is_group or not any(self.grad_centralization_flags):
            return gradients
        return tuple(g - g.mean(tuple(range(1, g.ndim)), True) if flag and g.ndim > 1 and g.shape[1] % 16 == 0 else g
                     for flag, g in zip(self.grad_centralization_flags, gradients))

    def scale_grad(self, gradients):
        """The gradients divided by the loss scale."""
        if not self.need_scale:
            return gradients
        return _core.apply_each('mul', (tuple(gradients), float(1.0 / self.loss_scale)))

    def _prepare(self, gradients):
        """Weight decay, centralization and scale; then the step is counted. Gives gradients and learning rate."""
        gradients = self.scale_grad(self.gradients_centralization(self.decay_weight(self._checked(gradients))))
        return gradients, self._next_rate()

    def _checked(self, gradients):
        if isinstance(gradients, Tensor) and self.param_length == 1:
            return (gradients,)
        if not isinstance(gradients, (tuple, list)):
            raise TypeError(f"For '{self.cls_name}', the gradients must be a tuple of Tensors, but got "
                            f"{type_name(gradients)}.")
        if len(gradients) != self.param_length:
            raise RuntimeError(f"For '{self.cls_name}', there must be one gradient per parameter, {self.param_length}, "
                               "but got "
                             f"{len(gradients)}.")
        return gradients

    def _next_rate(self):
        rate = self.get_lr()
        _core.apply('assign_add', (self.global_step, self.global_step_increase_tensor))
        return rate

    def _is_dynamic_lr_or_weight_decay(self):
        return self.dynamic_lr or self.dynamic_weight_decay

    def construct(self, *hyper_params):
        raise NotImplementedError(f"For '{self.cls_name}', the method 'construct' is not defined.")


def _number(rate):
    """A learning rate without dimensions, as schedules give it with and without one."""
    return rate.reshape(()) if isinstance(rate, Tensor) and rate.ndim else rate


def _listed(parameters, what):
    if parameters is None:
        raise ValueError(f"For 'Optimizer', {what} must not be None.")
    if not isinstance(parameters, Iterable):
        raise TypeError(f"For 'Optimizer', {what} must be a list of Parameters, but got {type_name(parameters)}"
                        f"{'; give its trainable_params()' if isinstance(parameters, Cell) else ''}.")
    parameters = list(parameters)
    if not parameters:
        raise ValueError(f"For 'Optimizer', {what} must not be empty.")
    return parameters

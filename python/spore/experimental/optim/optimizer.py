# SPDX-License-Identifier: Apache-2.0
"""Optimizers whose settings stand in ``param_groups``, where learning rate schedulers and programs can change them."""
from collections import defaultdict
from collections.abc import Iterable

from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.common.parameter import Parameter, ParameterTuple
from spore.nn.cell import Cell

__all__ = ['Optimizer', 'SGD', 'Adam', 'AdamW']


def _at_least(who, name, value, least=0.0):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"For '{who}', '{name}' must be a number, but got {_type_name(value)}.")
    if value < least:
        raise ValueError(f"For '{who}', '{name}' must be at least {least}, but got {value}.")
    return float(value)


def _rate(who, value, name):
    if isinstance(value, Tensor):
        if value.ndim != 0:
            raise ValueError(f"For '{who}', 'lr' must be a single number, but it has shape {value.shape}.")
        return Parameter(value.astype(mstype.float32), name)
    return Parameter(Tensor(_at_least(who, 'lr', value), mstype.float32), name)


class Optimizer(Cell):
    """Base: parameters in groups, each a dict with ``params``, ``lr``, ``weight_decay`` and what the optimizer needs.

    Args:
        params: Parameters, or dicts with ``params`` and settings of their own.
        defaults: settings of groups that have none.
    """

    def __init__(self, params, defaults):
        super().__init__(auto_prefix=False)
        if params is None:
            raise ValueError("For 'Optimizer', 'params' must not be None.")
        if not isinstance(params, Iterable):
            raise TypeError(f"For 'Optimizer', 'params' must be a list of Parameters, but got {_type_name(params)}"
                            f"{'; give its trainable_params()' if isinstance(params, Cell) else ''}.")
        groups = list(params)
        if not groups:
            raise ValueError("For 'Optimizer', 'params' must not be empty.")
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        self.lrs = []
        self.group_start_id = [0]
        self.parameters = ParameterTuple(())
        for group in groups if isinstance(groups[0], dict) else [{'params': groups}]:
            self.add_param_group(group)

    def __setattr__(self, name, value):
        # State in tuples is listed with the other parameters, in the order it was made.
        if isinstance(value, ParameterTuple):
            for parameter in value:
                self._params.setdefault(parameter.name, parameter)
            self.__dict__[name] = value
        else:
            super().__setattr__(name, value)

    def __repr__(self):
        lines = [type(self).__name__ + ' (']
        for number, group in enumerate(self.param_groups):
            lines.append(f'Parameter Group {number}')
            shown = {key: value.value() if isinstance(value, Parameter) else value for key, value in group.items()}
            lines += [f'    {key}: {shown[key]}' for key in sorted(shown) if key != 'params']
        return '\n'.join(lines) + '\n)'

    def add_param_group(self, param_group):
        """Add a group. An optimizer that has laid out state for its parameters takes no more."""
        if not isinstance(param_group, dict) or 'params' not in param_group:
            raise TypeError("For 'Optimizer', a group must be a dict with 'params'.")
        laid = [name for name, held in self.__dict__.items() if isinstance(held, ParameterTuple) and held and name != 'parameters']
        if laid:
            raise RuntimeError(f"For '{self.cls_name}', a group cannot be added any more: its state ({', '.join(laid)}) is laid out for the "
                               "parameters it has. Give all groups when it is made.")
        group = dict(param_group)
        params = group['params']
        group['params'] = [params] if isinstance(params, Parameter) else list(params)
        for parameter in group['params']:
            if not isinstance(parameter, Parameter):
                raise TypeError(f"For 'Optimizer', 'params' must hold Parameters, but got {_type_name(parameter)}.")
            if any(parameter is other for g in self.param_groups for other in g['params']):
                raise ValueError(f"For 'Optimizer', the parameter '{parameter.name}' is in more than one group.")
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        name = f'learning_rate_group_{len(self.param_groups)}'
        group['lr'] = _rate(self.cls_name, group['lr'], name)
        group['weight_decay'] = _at_least(self.cls_name, 'weight_decay', group.get('weight_decay', 0.0))
        self.lrs.append(group['lr'])
        self.param_groups.append(group)
        self.group_start_id.append(self.group_start_id[-1] + len(group['params']))
        self.parameters = ParameterTuple((*self.parameters, *group['params']))

    def _each_group(self, gradients):
        """(group, range of its parameters, its gradients) for every group."""
        if not isinstance(gradients, (tuple, list)) or len(gradients) != len(self.parameters):
            raise RuntimeError(f"For '{self.cls_name}', there must be one gradient per parameter, "
                               f"{len(self.parameters)}.")
        for number, group in enumerate(self.param_groups):
            rows = slice(*self.group_start_id[number:number + 2])
            own = tuple(gradients[rows])
            yield group, rows, _core.apply_each('neg', (own,)) if group.get('maximize') else own

    def construct(self, *hyper_params):
        raise NotImplementedError(f"For '{self.cls_name}', the method 'construct' is not defined.")


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum.

    Args:
        params: see Optimizer.
        lr: learning rate.
        momentum, dampening, weight_decay, nesterov: as for nn.SGD.
        maximize: whether to climb instead.

    Examples:
        >>> import spore as ms
        >>> from spore.experimental import optim
        >>> w = ms.Parameter(ms.Tensor([1.0]), name='w')
        >>> step = optim.SGD([w], lr=0.5)
        >>> done = step((ms.Tensor([1.0]),))
        >>> print(w.asnumpy(), step.param_groups[0]['lr'].value())
        [0.5] 0.5
    """

    def __init__(self, params, lr, momentum=0, dampening=0, weight_decay=0.0, nesterov=False, *, maximize=False):
        momentum, dampening = (_at_least('SGD', n, v) for n, v in (('momentum', momentum), ('dampening', dampening)))
        if nesterov and (momentum <= 0.0 or dampening != 0.0):
            raise ValueError(f"For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0, but got {momentum} "
                             "and "
                             f"{dampening}.")
        super().__init__(params, {'lr': lr, 'momentum': momentum, 'dampening': dampening, 'weight_decay': weight_decay,
                                  'nesterov': nesterov, 'maximize': maximize, 'grad_centralization': False})
        self.accum = self.parameters.clone(prefix='accum', init='zeros')
        self.stat = self.parameters.clone(prefix='stat', init='ones')

    def construct(self, gradients):
        for group, rows, own in self._each_group(gradients):
            _core.apply_each('sgd_update', (self.parameters[rows], own, group['lr'], self.accum[rows],
                                            float(group['momentum']), self.stat[rows]),
                             {'dampening': float(group['dampening']), 'weight_decay': group['weight_decay'],
                              'nesterov': group['nesterov']})
        return True


class _Adam(Optimizer):

    def __init__(self, params, lr, betas, eps, weight_decay, amsgrad, maximize):
        who = self.__class__.__name__
        _at_least(who, 'eps', eps)
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"For '{who}', 'betas[{i}]' must be at least 0 and less than 1, but got {beta}.")
        super().__init__(params, {'lr': lr, 'betas': betas, 'eps': eps, 'weight_decay': weight_decay,
                                  'amsgrad': amsgrad, 'maximize': maximize})
        self.exp_avg = self.parameters.clone(prefix='exp_avg', init='zeros')
        self.exp_avg_sq = self.parameters.clone(prefix='exp_avg_sq', init='zeros')
        self.max_exp_avg_sq = self.parameters.clone(prefix='max_exp_avg_sq', init='zeros')
        self.state_step = Parameter(Tensor(0, mstype.int32), 'state_step')

    def construct(self, gradients):
        self.state_step.set_data(self.state_step + 1)
        step = int(self.state_step.item())
        for group, rows, own in self._each_group(gradients):
            beta1, beta2 = group['betas']
            powers = float(beta1 ** step), float(beta2 ** step)
            params = self.parameters[rows]
            own, eps = self._decay(group, params, own, powers[1])
            numbers = (*powers, group['lr'], float(beta1), float(beta2), eps, own)
            if group['amsgrad']:
                _core.apply_each('amsgrad_update', (params, self.exp_avg[rows], self.exp_avg_sq[rows],
                                                    self.max_exp_avg_sq[rows], *numbers))
            else:
                _core.apply_each('adam_update', (params, self.exp_avg[rows], self.exp_avg_sq[rows], *numbers))
        return True


class Adam(_Adam):
    """Adam; weight decay is added to the gradients.

    Args:
        params: see Optimizer.
        lr, betas, eps, weight_decay: as for nn.Adam.
        amsgrad: whether to divide by the largest average of squares so far.
        maximize: whether to climb instead.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, *,
                 maximize=False):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)

    def _decay(self, group, params, own, power):
        if group['weight_decay']:
            own = _core.apply_each('add', (_core.apply_each('mul', (params, group['weight_decay'])), own))
        return own, float(group['eps'])


class AdamW(_Adam):
    """Adam with weight decay that moves the parameters directly. Arguments as for Adam."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *,
                 maximize=False):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)

    def _decay(self, group, params, own, power):
        keep = 1.0 - float(group['lr']) * group['weight_decay']
        _core.apply_each('assign', (params, _core.apply_each('mul', (params, keep))))
        return own, float(group['eps']) * (1.0 - power) ** 0.5      # eps counts after the correction of the average


class SpeedAdamW(AdamW):
    """AdamW by the name that MindSpore gives to its form in one operator; every optimizer is one here."""


def prepare_func(lr, weight_decay, state_step, beta1, beta2):
    """What a step of AdamW needs for all Parameters: the factor of the weights, the size of the step, the root of the second correction."""
    return 1 - lr * weight_decay, lr / (1 - beta1 ** state_step), (1 - beta2 ** state_step) ** 0.5

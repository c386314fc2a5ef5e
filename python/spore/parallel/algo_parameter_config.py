# SPDX-License-Identifier: Apache-2.0
"""Options of MindSpore's search for a parallel strategy. The search here has costs that are measured, and no such options."""
from spore._core import type_name as _type_name
from spore._not_done import not_done

__all__ = ['set_algo_parameters', 'get_algo_parameters', 'reset_algo_parameters']

_START = {'fully_use_devices': False, 'elementwise_op_strategy_follow': False, 'enable_algo_approxi': False,
          'algo_approxi_epsilon': 0.1,
          'tensor_slice_align_enable': False, 'tensor_slice_align_size': 16}
_values = dict(_START)


def set_algo_parameters(**kwargs):
    """Keep options of the search, and say that they have no effect; an unknown one is a ValueError."""
    for name, value in kwargs.items():
        if name not in _START:
            raise ValueError(f"set_algo_parameters: there is no option {name!r}, only {list(_START)}")
        kind = type(_START[name])
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError(f"set_algo_parameters: {name} must be a {kind.__name__}, but got {_type_name(value)}")
        _values[name] = value
        if value != _START[name]:
            not_done(f"set_algo_parameters: {name}={value!r}", "strategies are compared by their measured costs")


def get_algo_parameters(attr_key):
    """The value of one option."""
    if attr_key not in _values:
        raise ValueError(f"get_algo_parameters: there is no option {attr_key!r}")
    return _values[attr_key]


def reset_algo_parameters():
    """All options as at the start."""
    _values.update(_START)

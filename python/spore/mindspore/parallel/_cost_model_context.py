# SPDX-License-Identifier: Apache-2.0
"""Settings of the search for the cheapest way to split a network: kept by name. There is one device, hence nothing to search."""
_values = {}


def __getattr__(name):
    if name.startswith('_set_') and len(name) > 5:
        return lambda value: _values.__setitem__(name[5:], value)
    if name.startswith('_get_') and len(name) > 5:
        return lambda: _values.get(name[5:])
    if name == 'reset_cost_model_context':
        return _values.clear
    raise AttributeError(f"module 'spore.parallel._cost_model_context' has no attribute '{name}'")

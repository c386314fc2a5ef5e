# SPDX-License-Identifier: Apache-2.0
"""What a Cell keeps, as a dictionary and back: state_dict, load_state_dict and their hooks. A base of Cell."""
from collections import OrderedDict, namedtuple

from spore._core import type_name as _type_name
from spore._core import Tensor

_EXTRA = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """The names that load_state_dict did not find, and those that it did not know."""

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _Removal:
    """Takes a hook off again."""

    def __init__(self, hooks, key):
        self._hooks, self._key = hooks, key

    def remove(self):
        """Take the hook off."""
        self._hooks.pop(self._key, None)


class CellState:
    """State of a Cell by path, with hooks before and after it is asked for or loaded."""

    T_destination = dict

    def get_extra_state(self):
        """What a subclass wants in its state besides Parameters and buffers."""
        raise RuntimeError(f"For '{type(self).__name__}', get_extra_state is not implemented.")

    def set_extra_state(self, state):
        """Take back what get_extra_state gave."""
        raise RuntimeError(f"For '{type(self).__name__}', set_extra_state is not implemented.")

    def _state_hook(self, kind, hook):
        if not callable(hook):
            raise TypeError(f"a hook must be a function, but got {_type_name(hook)}")
        hooks = self.__dict__.setdefault(kind, OrderedDict())
        key = object()
        hooks[key] = hook
        return _Removal(hooks, key)

    def register_state_dict_pre_hook(self, hook):
        """Call ``hook(cell, prefix, keep_vars)`` before the state is collected."""
        return self._state_hook("_state_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook):
        """Call ``hook(cell, state_dict, prefix, local_metadata)`` when the state is collected."""
        return self._state_hook("_state_post_hooks", hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Call ``hook(cell, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`` before the state
        of this Cell is loaded."""
        return self._state_hook("_load_pre_hooks", hook)

    def register_load_state_dict_post_hook(self, hook):
        """Call ``hook(cell, incompatible_keys)`` when the state of this Cell is loaded."""
        return self._state_hook("_load_post_hooks", hook)

    def _own_state(self):
        """(name, Tensor) of this Cell alone."""
        for name, parameter in self._params.items():
            if parameter is not None:
                yield name, parameter
        for name, tensor in self._buffers.items():
            if tensor is not None and name not in self._non_persistent:
                yield name, tensor

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """Parameters and persistent buffers by path.

        Examples:
            >>> from spore import nn
            >>> list(nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 1)).state_dict())
            ['0.weight', '0.bias', '1.weight', '1.bias']
        """
        for value, key in zip(args, ("destination", "prefix", "keep_vars")):
            destination, prefix, keep_vars = ({"destination": destination, "prefix": prefix,
                "keep_vars": keep_vars} | {key: value}).values()
        state = destination if destination is not None else OrderedDict()
        for hook in list(self.__dict__.get("_state_pre_hooks", {}).values()):
            hook(self, prefix, keep_vars)
        for name, tensor in self._own_state():
            state[prefix + name] = tensor
        if type(self).get_extra_state is not CellState.get_extra_state:
            state[prefix + _EXTRA] = self.get_extra_state()
        for name, cell in self._cells.items():
            if cell is not None:
                cell.state_dict(destination=state, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in list(self.__dict__.get("_state_post_hooks", {}).values()):
            hook(self, state, prefix, {})
        return state

    def load_state_dict(self, state_dict, strict=True):
        """Take over the values of a state_dict; gives the names that are missing and those that are not known.

        Examples:
            >>> from spore import nn
            >>> nn.Dense(2, 1).load_state_dict(nn.Dense(2, 1).state_dict())
            <All keys matched successfully>
        """
        if not isinstance(state_dict, dict):
            raise TypeError(f"load_state_dict: a dict is wanted, but got {_type_name(state_dict)}")
        state, missing, unexpected, errors = OrderedDict(state_dict), [], [], []
        self._load(state, "", strict, missing, unexpected, errors)
        if strict and unexpected:
            errors.insert(0, "Unexpected key(s) in state_dict: " + ", ".join(f'"{name}"' for name in unexpected) + ".")
        if strict and missing:
            errors.insert(0, "Missing key(s) in state_dict: " + ", ".join(f'"{name}"' for name in missing) + ".")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return _IncompatibleKeys(missing, unexpected)

    def _load(self, state, prefix, strict, missing, unexpected, errors):
        for hook in list(self.__dict__.get("_load_pre_hooks", {}).values()):
            hook(self, state, prefix, {}, strict, missing, unexpected, errors)
        known = {name for name, _ in self._own_state()}
        for name, value in self._own_state():
            given = state.get(prefix + name)
            if given is None:
                missing.append(prefix + name)
            elif tuple(given.shape) != tuple(value.shape):
                errors.append(f"size mismatch for {prefix + name}: its shape is {tuple(given.shape)} in the state_dict and "
                              f"{tuple(value.shape)} in the network.")
            else:
                value.assign_value(Tensor(given, dtype=value.dtype))
        if type(self).set_extra_state is not CellState.set_extra_state:
            known.add(_EXTRA)
            if prefix + _EXTRA in state:
                self.set_extra_state(state[prefix + _EXTRA])
            else:
                missing.append(prefix + _EXTRA)
        cells = {name: cell for name, cell in self._cells.items() if cell is not None}
        for key in state:
            if key.startswith(prefix):
                first, dot, _ = key[len(prefix):].partition(".")
                if first not in cells if dot else first not in known:
                    if key[len(prefix):] not in known:
                        unexpected.append(key)
        for name, cell in cells.items():
            cell._load(state, prefix + name + ".", strict, missing, unexpected, errors)
        for hook in list(self.__dict__.get("_load_post_hooks", {}).values()):
            hook(self, _IncompatibleKeys(missing, unexpected))

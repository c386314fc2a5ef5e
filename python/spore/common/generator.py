# SPDX-License-Identifier: Apache-2.0
"""Sources of random numbers. The state of one is a seed and an offset: how many numbers were drawn since. Operators
compute
their numbers from the two with Philox, so a state can be saved, restored, and drawn from in any order."""
import contextlib
import os
import threading

from spore._core import type_name as _type_name
from spore import _core

__all__ = ['Generator', 'default_generator', 'seed', 'manual_seed', 'initial_seed', 'set_rng_state', 'get_rng_state']

_MASK = 2 ** 64 - 1


class Generator:
    """A stream of random numbers with a seed of its own."""

    def __init__(self):
        self._handle = _core.generator_create()
        self.epoch = 0  # how often it was started: streams derived from it start again too

    def seed(self):
        """Take a new seed from the system; answers it."""
        seed = int.from_bytes(os.urandom(8), 'little') >> 1
        self.manual_seed(seed)
        return seed

    def manual_seed(self, seed):
        """Start from a seed; answers the generator."""
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise TypeError(f"manual_seed: seed must be an int, but got {_type_name(seed)}")
        _core.generator_set(self._handle, seed & _MASK)
        self.epoch += 1
        return self

    def initial_seed(self):
        """The seed it started from."""
        return _core.generator_get(self._handle)[0]

    def get_state(self):
        """Seed and offset as 16 bytes, a uint8 Tensor."""
        from spore import Tensor, uint8
        seed, offset = _core.generator_get(self._handle)
        return Tensor(list(seed.to_bytes(8, 'little') + offset.to_bytes(8, 'little')), uint8)

    def set_state(self, state):
        """Continue from a state that get_state gave."""
        raw = bytes(state.asnumpy().tolist())
        if len(raw) != 16:
            raise ValueError(f"set_state: a state has 16 bytes, but got {len(raw)}")
        _core.generator_set(self._handle, int.from_bytes(raw[:8], 'little'), int.from_bytes(raw[8:], 'little'))

    def __getstate__(self):
        return _core.generator_get(self._handle), self.epoch

    def __setstate__(self, state):
        self._handle = _core.generator_create()
        _core.generator_set(self._handle, *state[0])
        self.epoch = state[1]

    def _step(self, count):
        """Seed and offset for an operator that draws `count` numbers; the next one starts behind them."""
        return _core.generator_take(self._handle, count)

    def _state(self, count):
        """The same as a Tensor, which a compiled function draws each time it runs."""
        log = getattr(_held, "log", None)
        return log.next(self, count) if log is not None else _core.generator_state(self._handle, count)


_held = threading.local()


class Log:
    """The random states that a computation drew, so that it can be made again with the same numbers.

        log = Log()
        with log.keep(): first run
        with log.repeat(): second run
    """

    def __init__(self):
        self.states, self.at = [], None

    def next(self, generator, count):
        if self.at is None:
            outer = self.outer
            state = outer.next(generator, count) if outer is not None else _core.generator_state(generator._handle, count)
            self.states.append(state)
            return state
        if self.at == len(self.states):
            raise RuntimeError("a block that is computed again draws more random numbers than the first time")
        self.at += 1
        return self.states[self.at - 1]

    @contextlib.contextmanager
    def _on(self, at):
        self.at, self.outer = at, getattr(_held, "log", None)
        _held.log = self
        try:
            yield
        finally:
            _held.log = self.outer

    def keep(self):
        return self._on(None)

    def repeat(self):
        return self._on(0)


default_generator = Generator()
default_generator._handle = _core.generator_default()  # the one C programs use too
default_generator.seed()


def seed():
    """Give the default generator a new seed from the system; answers it."""
    return default_generator.seed()


def manual_seed(seed):
    """Start the default generator from a seed."""
    return default_generator.manual_seed(seed)


def initial_seed():
    """The seed the default generator started from."""
    return default_generator.initial_seed()


def get_rng_state():
    """The state of the default generator."""
    return default_generator.get_state()


def set_rng_state(state):
    """Continue the default generator from a state."""
    default_generator.set_state(state)

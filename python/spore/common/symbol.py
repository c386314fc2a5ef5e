# SPDX-License-Identifier: Apache-2.0
"""What is known of a size that is left open."""

__all__ = ['Symbol']


class Symbol:
    """A size of a Tensor that is not known yet, with what is known of it: `Tensor(shape=(Symbol(divisor=8), 3))`.

    Args:
        max: the largest size; counts when it is above `min`.
        min: the least size.
        divisor, remainder: the size is `divisor * n + remainder`.
        unique: whether all sizes of this Symbol are equal.

    Examples:
        >>> import spore as ms
        >>> ms.Symbol(max=10, divisor=2)
        Symbol(max=10, min=1, divisor=2, remainder=0, unique=False)
    """

    __size_symbol__ = True               # how the constructor of Tensor knows it

    def __init__(self, max=0, min=1, divisor=1, remainder=0, unique=False, **kwargs):
        for name, value in (('max', max), ('min', min), ('divisor', divisor), ('remainder', remainder)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"For 'Symbol', the argument '{name}' must be int, but got {type(value)}")
        if not isinstance(unique, bool):
            raise TypeError(f"For 'Symbol', the argument 'unique' must be bool, but got {type(unique)}")
        for name, value in (('min', min), ('divisor', divisor)):
            if value <= 0:
                raise ValueError(f"For 'Symbol', the '{name}' value should be positive, but got {value}")
        if not 0 <= remainder < divisor:
            raise ValueError(f"For 'Symbol', the 'remainder' value should be in the range '[0, {divisor})', but got {remainder}")
        self.max, self.min, self.divisor, self.remainder, self.unique = max, min, divisor, remainder, unique

    def __index__(self):
        return -1                        # in a shape: a size that is left open

    def check(self, size, where, seen):
        """Raise ValueError if a size is not what was declared. ``where``: words for the message; ``seen``: {Symbol: size} of the
        unique ones that were met in the same call."""
        if size < self.min:
            raise ValueError(f"{where} must be greater than or equal to the 'min' value '{self.min}' of `Symbol`, but got '{size}'.")
        if self.max > self.min and size > self.max:
            raise ValueError(f"{where} must be less than or equal to the 'max' value '{self.max}' of `Symbol`, but got '{size}'.")
        if size % self.divisor != self.remainder:
            raise ValueError(f"{where} must match the 'divisor'(d) and 'remainder'(r) of `Symbol`. The value should be 'd * N + r', got "
                             f"d={self.divisor} and r={self.remainder}, but actual shape value is '{size}'.")
        if self.unique and seen.setdefault(self, size) != size:
            raise ValueError(f"{where} is a unique symbol, all values must be the same. The previous value is {seen[self]}, but the "
                             f"current value is {size}.")

    def to_dict(self):
        """What is known, as a dictionary."""
        known = {'max': self.max > self.min, 'min': self.min > 1, 'divisor': self.divisor != 1, 'remainder': self.remainder != 0,
                 'unique': self.unique}
        return {name: getattr(self, name) for name, told in known.items() if told}

    def __repr__(self):
        return 'Symbol(' + ', '.join(f'{key}={value}' for key, value in vars(self).items()) + ')'

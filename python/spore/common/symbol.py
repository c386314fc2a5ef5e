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

    def __init__(self, max=0, min=1, divisor=1, remainder=0, unique=False, **kwargs):
        for name, value in (('max', max), ('min', min), ('divisor', divisor), ('remainder', remainder)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"For 'Symbol', the argument '{name}' must be int, but got {type(value)}.")
        if not isinstance(unique, bool):
            raise TypeError(f"For 'Symbol', the argument 'unique' must be bool, but got {type(unique)}.")
        if min <= 0 or divisor <= 0:
            raise ValueError("For 'Symbol', the 'min' and 'divisor' value should be greater than 0.")
        if not 0 <= remainder < divisor:
            raise ValueError(f"For 'Symbol', the 'remainder' value should be in range [0, {divisor}), but got {remainder}.")
        if 0 < max < min:
            raise ValueError(f"For 'Symbol', 'max' must not be below 'min', but they are {max} and {min}.")
        self.max, self.min, self.divisor, self.remainder, self.unique = max, min, divisor, remainder, unique

    def __index__(self):
        return -1                        # in a shape: a size that is left open

    def to_dict(self):
        """The values as a dictionary."""
        return {name: getattr(self, name) for name in ('max', 'min', 'divisor', 'remainder', 'unique')}

    def __repr__(self):
        return 'Symbol(' + ', '.join(f'{key}={value}' for key, value in self.to_dict().items()) + ')'

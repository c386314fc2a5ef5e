# SPDX-License-Identifier: Apache-2.0
"""Mixed precision as a value that is put into a Cell: `net.amp_strategy = create_amp_strategy(AmpLevel.AmpO3, float16, [], [])`."""
import enum

__all__ = ['AmpLevel', 'AmpStrategy', 'create_amp_strategy']


class AmpLevel(enum.IntEnum):
    """How much is computed in half precision: nothing, ..., everything."""

    AmpO0, AmpO1, AmpO2, AmpO3, AmpAuto = range(5)


class AmpStrategy:
    """A level with a dtype, and lists of primitives that it names besides."""

    def __init__(self, level, dtype, white_list, black_list):
        self._level, self._dtype, self._white, self._black = AmpLevel(level), dtype, list(white_list), list(black_list)

    def get_amp_level(self):
        """The level."""
        return self._level

    def get_amp_dtype(self):
        """The dtype."""
        return self._dtype

    def get_white_list(self):
        """Primitives that are computed in half precision."""
        return self._white

    def get_black_list(self):
        """Primitives that are not."""
        return self._black

    def put_into(self, cell):
        """Let a Cell compute by this strategy."""
        if self._level == AmpLevel.AmpO3 and not self._black and self._dtype is not None:
            cell.to_float(self._dtype)
        elif self._level != AmpLevel.AmpO0:
            raise NotImplementedError(f"amp_strategy: {self._level.name} with lists of primitives is not supported; use "
                                      "amp.auto_mixed_precision, or AmpLevel.AmpO3 with a dtype")


def create_amp_strategy(level, dtype, white_list, black_list):
    """A level with a dtype and lists of primitives."""
    return AmpStrategy(level, dtype, white_list, black_list)

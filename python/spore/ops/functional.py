# SPDX-License-Identifier: Apache-2.0
"""spore.ops.functional: the names of spore.ops under the address F."""
from .. import ops


def __getattr__(name):
    if name == "__all__":
        return [each for each in ops.__all__ if not each[0].isupper()]
    if name.startswith("__"):
        raise AttributeError(f"module 'spore.ops.functional' has no attribute '{name}'")
    try:
        return getattr(ops, name)
    except AttributeError:
        raise AttributeError(f"module 'spore.ops.functional' has no attribute '{name}'") from None


def __dir__():
    return dir(ops)

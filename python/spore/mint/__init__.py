# SPDX-License-Identifier: Apache-2.0
"""spore.mint: operators with the names and defaults of the torch-like interface. Names come from the operator table and
from the `MINT` dictionaries of the files of spore.ops."""
from .._core import Tensor  # noqa: F401  imported from here by some
from ..ops import _gather

_names = _gather.mint_names("mint")
globals().update(_names)
__all__ = sorted(_names)

from . import linalg, nn, special  # noqa: E402
from .nn import functional  # noqa: E402
clip, fix = globals()["clamp"], globals()["trunc"]


def item(input):
    """The number of a Tensor with one element.

    Examples:
        >>> from spore import Tensor, mint
        >>> mint.item(Tensor([3.0]))
        3.0
    """
    return input.item()


def addr_(input, vec1, vec2, beta=1, alpha=1):
    """Write beta * input + alpha * (vec1 outer vec2) to `input`, and answer it.

    Examples:
        >>> from spore import Tensor, mint
        >>> print(mint.addr_(mint.ones((2, 2)), Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        [[4. 5.]
         [7. 9.]]
    """
    return input.copy_(beta * input + alpha * (vec1.view(-1, 1) * vec2.view(1, -1)))


def __getattr__(name):
    if name in ("batch_norm_elemt", "batch_norm_gather_stats_with_counts", "batch_norm_stats", "npu_gelu"):
        from .._compat import lookup
        return lookup(name)
    if name in ("optim", "distributed"):  # loaded on first use: optim needs spore.nn
        import importlib
        return importlib.import_module("spore.mint." + name)
    raise AttributeError(f"module 'spore.mint' has no attribute '{name}'")

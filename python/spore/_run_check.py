# SPDX-License-Identifier: Apache-2.0
"""run_check: does the installation compute?"""
from spore import ops
from spore._core import Tensor, __version__

__all__ = ['run_check']


def run_check():
    """Multiply two matrices, compare with the known product, and print what came out.

    Examples:
        >>> import spore
        >>> spore.run_check()
        spore version: ...
        The result of multiplication calculation is correct, spore has been installed on platform [CPU] successfully!
    """
    print(f'spore version: {__version__}')
    found = ops.matmul(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[0.5, 0.0], [1.0, 2.0]])).tolist()
    if found != [[2.5, 4.0], [5.5, 8.0]]:
        raise RuntimeError(f"a product of matrices is wrong: wanted [[2.5, 4.0], [5.5, 8.0]], but got {found}")
    print('The result of multiplication calculation is correct, spore has been installed on platform [CPU] successfully!')

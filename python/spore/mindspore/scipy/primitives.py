# SPDX-License-Identifier: Apache-2.0
"""The classes of MindSpore's module scipy.ops."""
from spore import _core, ops
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.ops._make import primitive
from spore.ops.operations import Eig
from spore.scipy.linalg import SolveTriangular
from spore.scipy.optimize import linear_sum_assignment

__all__ = ['Eig', 'LU', 'LinearSumAssignment', 'SolveTriangular']


def _lu(self, x):
    factors, pivots = _core.apply('lu', (x,))
    permutation, _, _ = ops.lu_unpack(factors, pivots + 1, unpack_data=False)
    return factors, pivots, permutation.astype(mstype.int32)


def _nd_transpose(a):
    """Its last two dimensions exchanged."""
    if a.ndim < 2:
        raise ValueError(f"_nd_transpose: two dimensions at least are wanted, but the shape is {tuple(a.shape)}")
    return a.swapaxes(-1, -2)


LU = primitive('LU', _lu, '', "The factors in one matrix, the row that each one was exchanged with, and the matrix of the exchanges.")


def _assign(self, cost_matrix, dimension_limit, maximize):
    if not isinstance(dimension_limit, Tensor):
        raise TypeError(f"For 'LinearSumAssignment', the type of dimension_limit must be Tensor, but got {_type_name(dimension_limit)}")
    if not isinstance(maximize, bool):
        raise TypeError(f"For 'LinearSumAssignment', maximize must be a bool, but got {_type_name(maximize)}")
    limit = int(dimension_limit.item())
    if limit > cost_matrix.shape[1]:
        raise RuntimeError(f"For 'LinearSumAssignment' input dimension_limit must <= the 2nd dimension's size of the cost_matrix, which is "
                           f"{cost_matrix.shape[1]}, but got {limit}.")
    rows, columns = linear_sum_assignment(cost_matrix, maximize, dimension_limit)
    missing = min(cost_matrix.shape) - rows.shape[0]        # columns that the limit leaves out are nobody's
    if missing > 0:
        nothing = ops.full((missing,), -1, dtype=rows.dtype)
        rows, columns = ops.cat((rows, nothing)), ops.cat((columns, nothing))
    return rows, columns


LinearSumAssignment = primitive('LinearSumAssignment', _assign, '', "Rows and the columns they are assigned to; see scipy.optimize.linear_sum_assignment.")

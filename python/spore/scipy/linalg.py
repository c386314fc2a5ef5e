# SPDX-License-Identifier: Apache-2.0
"""Linear algebra by scipy's names. Matrices may have leading dimensions where ops has them."""
from spore._core import type_name as _type_name
from spore import _core, ops
from spore.common import dtype as mstype
from spore.common.tensor import Tensor

__all__ = ['block_diag', 'inv', 'cho_factor', 'cholesky', 'cho_solve', 'eigh', 'lu_factor', 'lu_solve', 'lu', 'solve_triangular',
           'lstsq', 'det']

_apply = _core.apply


def _real(x, name, what='a'):
    """The Tensor, with integers as float64, as scipy takes them."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: {what} must be a Tensor, but got {_type_name(x)}")
    return x if x.is_floating_point() or x.is_complex() else x.astype(mstype.float64)


_NUMBERS = (mstype.int32, mstype.int64, mstype.float32, mstype.float64)


def _matrix(x, name, square=True, complex=False):
    """The matrix, with integers as float64. MindSpore takes single matrices of these dtypes; `ops` has more of both."""
    x, dtype = _real(x, name), x.dtype if isinstance(x, Tensor) else None
    known = _NUMBERS + ((mstype.complex64, mstype.complex128) if complex else ())
    if dtype not in known:
        raise TypeError(f"{name}: a must be one of {', '.join(str(one) for one in known)}, but it is {dtype}. {_WIDER[name]} takes other dtypes")
    if x.ndim != 2 or square and x.shape[0] != x.shape[1]:
        raise ValueError(f"{name}: a must be a {'square ' if square else ''}matrix, but its shape is {tuple(x.shape)}. {_WIDER[name]} takes leading dimensions")
    return x


_WIDER = {'inv': 'ops.inverse', 'cholesky': 'ops.cholesky', 'cho_factor': 'ops.cholesky', 'eigh': 'ops.eigvals', 'lu_factor': 'scipy.ops.LU',
          'lu': 'scipy.ops.LU', 'det': 'ops.det'}


def _flags(name, **given):
    """Flags are bools: a number in their place is another argument's."""
    for what, value in given.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}: {what} must be a bool, but got {value!r}")


def _checked(x, name, check_finite):
    if check_finite and x.size and not bool(ops.isfinite(x).all()):
        raise ValueError(f"{name}: the Tensor must not hold infinities or NaN")
    return x


def block_diag(*arrs):
    """A matrix with the given ones on its diagonal.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import block_diag
        >>> print(block_diag(ms.Tensor([[1.0]]), ms.Tensor([[2.0, 3.0]])))
        [[1. 0. 0.]
         [0. 2. 3.]]
    """
    if not arrs:
        return ops.zeros((1, 0))
    parts = [a if isinstance(a, Tensor) else Tensor(a) for a in arrs]
    for a in parts:
        if a.ndim > 2:
            raise ValueError(f"block_diag: matrices are wanted, but one of them has shape {a.shape}")
    parts = [a.reshape((1, -1)) if a.ndim < 2 else a for a in parts]
    columns = sum(a.shape[1] for a in parts)
    rows, before = [], 0
    for a in parts:
        rows.append(_apply('pad', (a,), {'pads': (0, 0, before, columns - before - a.shape[1])}))
        before += a.shape[1]
    return ops.concat(rows, 0)


def inv(a, overwrite_a=False, check_finite=True):
    """The inverse of a square matrix.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import inv
        >>> print(inv(ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    _flags('inv', overwrite_a=overwrite_a, check_finite=check_finite)
    return ops.inverse(_checked(_matrix(a, 'inv'), 'inv', check_finite))


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The triangular U (or, with lower, L) with a = U* U (L L*).

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import cholesky
        >>> print(cholesky(ms.Tensor([[4.0, 2.0], [2.0, 5.0]]), lower=True))
        [[2. 0.]
         [1. 2.]]
    """
    _flags('cholesky', lower=lower, overwrite_a=overwrite_a, check_finite=check_finite)
    return ops.cholesky(_checked(_matrix(a, 'cholesky'), 'cholesky', check_finite), not lower)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """What cho_solve takes: the Cholesky factor, and whether it is the lower one.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import cho_factor
        >>> cho_factor(ms.Tensor([[4.0, 2.0], [2.0, 5.0]]))[1]
        False
    """
    _flags('cho_factor', lower=lower, overwrite_a=overwrite_a, check_finite=check_finite)
    return cholesky(a, lower, overwrite_a, check_finite), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """The x with a x = b, from the Cholesky factor of a.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import cho_factor, cho_solve
        >>> print(cho_solve(cho_factor(ms.Tensor([[4.0, 0.0], [0.0, 1.0]])), ms.Tensor([4.0, 3.0])))
        [1. 3.]
    """
    factor, lower = c_and_lower
    first = solve_triangular(factor, b, 0 if lower else 1, lower)
    return solve_triangular(factor, first, 1 if lower else 0, lower)


def eigh(a, b=None, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, turbo=True, eigvals=None, type=1,
         check_finite=True):
    """Eigenvalues in ascending order and eigenvectors, as columns, of a symmetric matrix.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import eigh
        >>> print(eigh(ms.Tensor([[2.0, 1.0], [1.0, 2.0]]), eigvals_only=True))
        [1. 3.]
    """
    _flags('eigh', lower=lower, eigvals_only=eigvals_only, overwrite_a=overwrite_a, overwrite_b=overwrite_b, turbo=turbo, check_finite=check_finite)
    if b is not None or eigvals is not None or type != 1:
        raise ValueError("eigh: only the plain eigenvalue problem is there: b and eigvals must be None, type must be 1")
    a = _checked(_matrix(a, 'eigh', complex=True), 'eigh', check_finite)
    if not lower:
        a = a.swapaxes(-1, -2).conj() if a.dtype.is_complex else a.swapaxes(-1, -2)
    values, vectors = _apply('eigh', (a,))
    return values if eigvals_only else (values, vectors)


def lu_factor(a, overwrite_a=False, check_finite=True):
    """The factors in one matrix, and the row that each one was exchanged with, counted from zero.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import lu_factor
        >>> print(lu_factor(ms.Tensor([[1.0, 2.0], [2.0, 2.0]]))[1])
        [1 1]
    """
    _flags('lu_factor', overwrite_a=overwrite_a, check_finite=check_finite)
    return _apply('lu', (_checked(_matrix(a, 'lu_factor'), 'lu_factor', check_finite),))


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """The x with a x = b (trans 1 or 'T': with a turned around), from what lu_factor gives.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import lu_factor, lu_solve
        >>> print(lu_solve(lu_factor(ms.Tensor([[2.0, 0.0], [1.0, 4.0]])), ms.Tensor([2.0, 9.0])))
        [1. 2.]
    """
    _flags('lu_solve', overwrite_b=overwrite_b, check_finite=check_finite)
    if trans not in (0, 1, 2, 'N', 'T', 'C'):
        raise ValueError(f"lu_solve: trans must be 0, 1 or 2, but got {trans!r}")
    factors, pivots = lu_and_piv
    if pivots.shape[-1] != factors.shape[-1]:
        raise ValueError(f"lu_solve: there are {pivots.shape[-1]} pivots for a matrix of shape {factors.shape}")
    permutation, _, _ = ops.lu_unpack(factors, pivots + 1, unpack_data=False)
    b = _checked(_real(b, 'lu_solve', 'b'), 'lu_solve', check_finite)
    right = b.expand_dims(-1) if b.ndim == factors.ndim - 1 else b
    if trans in (0, 'N'):
        first = ops.solve_triangular(factors, ops.matmul(permutation.swapaxes(-1, -2), right), 0, True, True)
        x = ops.solve_triangular(factors, first, 0, False)
    else:
        first = ops.solve_triangular(factors, ops.solve_triangular(factors, right, trans, False), trans, True, True)
        x = ops.matmul(permutation, first)
    return x.squeeze(-1) if right is not b else x


def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    """P, L and U with a = P L U; with permute_l, P L and U.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import lu
        >>> p, l, u = lu(ms.Tensor([[1.0, 2.0], [2.0, 2.0]]))
        >>> print(l)
        [[1.  0. ]
         [0.5 1. ]]
    """
    _flags('lu', permute_l=permute_l, overwrite_a=overwrite_a, check_finite=check_finite)
    a = _checked(_matrix(a, 'lu', square=False), 'lu', check_finite)
    if a.shape[0] > a.shape[1]:
        raise ValueError(f"lu: a must not have more rows than columns, but its shape is {tuple(a.shape)}")
    factors, pivots = _apply('lu', (a,))
    p, lower, upper = ops.lu_unpack(factors, pivots + 1)
    return (ops.matmul(p, lower), upper) if permute_l else (p.astype(mstype.int32), lower, upper)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, debug=None, check_finite=True):
    """The x with a x = b, where a is upper (or lower) triangular; trans 1 or 'T': with a turned around.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import solve_triangular
        >>> print(solve_triangular(ms.Tensor([[2.0, 0.0], [1.0, 4.0]]), ms.Tensor([2.0, 9.0]), lower=True))
        [1. 2.]
    """
    _flags('solve_triangular', lower=lower, unit_diagonal=unit_diagonal)
    if isinstance(trans, bool) or not isinstance(trans, (int, str)):
        raise TypeError(f"solve_triangular: trans must be 0, 1, 2, 'N', 'T' or 'C', but got {trans!r}")
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype != b.dtype:
        raise TypeError(f"solve_triangular: a and b must have the same dtype, but they are {a.dtype} and {b.dtype}")
    narrow = isinstance(a, Tensor) and a.dtype in (mstype.int8, mstype.int16, mstype.int32)
    a, b = _real(a, 'solve_triangular'), _real(b, 'solve_triangular', 'b')
    if narrow:       # as in MindSpore, integers of up to 32 bits are float32 here
        a, b = a.astype(mstype.float32), b.astype(mstype.float32)
    return ops.solve_triangular(_checked(a, 'solve_triangular', check_finite), b, trans, lower, unit_diagonal)


def lstsq(A, B, rcond=None, driver=None):
    """The x for which A x is nearest to B, the residues, the rank and the singular values of A. Residues and singular values
    are left empty.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import lstsq
        >>> print(lstsq(ms.Tensor([[2.0, 0.0], [0.0, 4.0]]), ms.Tensor([2.0, 8.0]))[0])
        [1. 2.]
    """
    A, B = _real(A, 'lstsq', 'A'), _real(B, 'lstsq', 'B')
    vector = B.ndim == A.ndim - 1
    x = ops.matmul(ops.pinv(A) if rcond is None else ops.pinv(A, rtol=rcond), B.expand_dims(-1) if vector else B)
    values = ops.svd(A, compute_uv=False)
    step = {mstype.float64: 2.0 ** -52}.get(A.dtype, 2.0 ** -23) * max(A.shape[-2:]) if rcond is None else rcond
    rank = (values > step * ops.amax(values, -1, True)).astype(mstype.int64).sum(-1)
    empty = Tensor([], A.dtype)
    return x.squeeze(-1) if vector else x, empty, rank, empty


def det(a, overwrite_a=False, check_finite=True):
    """The determinant of square matrices.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.linalg import det
        >>> print(det(ms.Tensor([[0.0, 2.0], [4.0, 5.0]])))
        -8.0
    """
    _flags('det', overwrite_a=overwrite_a, check_finite=check_finite)
    return ops.det(_checked(_matrix(a, 'det'), 'det', check_finite))


class SolveTriangular:
    """Solves a x = b for a triangular matrix a, by MindSpore's older name; see `solve_triangular`."""

    def __init__(self, lower=False, unit_diagonal=False, trans='N'):
        if trans not in ('N', 'T', 'C'):
            raise TypeError(f"SolveTriangular: trans must be 'N', 'T' or 'C', but got {trans!r}")
        self.lower, self.unit_diagonal, self.trans = lower, unit_diagonal, {'N': 0, 'T': 1, 'C': 2}.get(trans)

    def __call__(self, a, b):
        return solve_triangular(a, b, trans=self.trans, lower=self.lower, unit_diagonal=self.unit_diagonal)

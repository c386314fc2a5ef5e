# SPDX-License-Identifier: Apache-2.0
"""Matrices as products, and what follows from that: solving, least squares, pseudo-inverse, condition."""
from .. import _core
from .._core import Tensor

__all__ = ["cholesky", "cholesky_inverse", "cholesky_solve", "qr", "svd", "lstsq", "matrix_solve", "pinv", "cond"]

_apply = _core.apply


def _matrix(x, name, what="input"):
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: {what} must be a Tensor, but got {type(x).__name__}")
    if x.ndim < 2:
        raise ValueError(f"{name}: {what} must have 2 dimensions or more, but its shape is {x.shape}")
    return x


def _flag(value, name, what):
    if not isinstance(value, bool):
        raise TypeError(f"{name}: {what} must be a bool, but got {type(value).__name__}")
    return value


def _product(x, y, left=False, right=False):
    return _apply("matmul", (x, y), {"transpose_a": left, "transpose_b": right})


def _inverse(x):
    return _apply("matrix_inverse", (x,))


# --- decompositions --------------------------------------------------------------------------------------------------

def cholesky(input_x, upper=False):
    """The lower triangular L (or, with upper, its transpose) with L times its transpose equal to the input, which must be
    symmetric and positive definite.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.cholesky(ms.Tensor([[4.0, 2.0], [2.0, 5.0]])))
        [[2. 0.]
         [1. 2.]]
    """
    return _apply("cholesky", (_matrix(input_x, "cholesky", "input_x"),), {"upper": _flag(upper, "cholesky", "upper")})


def qr(input, mode="reduced"):
    """An orthogonal and an upper triangular matrix whose product is the input. mode 'complete': the first is square.

    Examples:
        >>> import spore as ms
        >>> q, r = ms.ops.qr(ms.Tensor([[3.0, 1.0], [4.0, 2.0]]))
        >>> print(r)
        [[-5.  -2.2]
         [ 0.   0.4]]
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode must be 'reduced' or 'complete', but got {mode!r}")
    return _apply("qr", (_matrix(input, "qr"),), {"complete": mode == "complete"})


def _linalg_qr(A, mode="reduced"):
    """An orthogonal and an upper triangular matrix whose product is A; mode 'r': the second one only, the first is empty.

    Examples:
        >>> import spore as ms
        >>> q, r = ms.mint.linalg.qr(ms.Tensor([[3.0, 1.0], [4.0, 2.0]]), "r")
        >>> print(r)
        [[-5.  -2.2]
         [ 0.   0.4]]
    """
    if mode != "r":
        return qr(A, mode)
    return Tensor([], A.dtype), qr(A)[1]


def _tensor_qr(self, some=True):
    """The decomposition by ops.qr; some=False stands for mode 'complete'.

    Examples:
        >>> import spore as ms
        >>> q, r = ms.Tensor([[3.0, 1.0], [4.0, 2.0]]).qr()
        >>> print(r)
        [[-5.  -2.2]
         [ 0.   0.4]]
    """
    return qr(self, "reduced" if some else "complete")


def svd(input, full_matrices=False, compute_uv=True):
    """Singular values in descending order, left and right singular vectors as columns: input = u diag(s) v transposed.

    Examples:
        >>> import spore as ms
        >>> s, u, v = ms.ops.svd(ms.Tensor([[3.0, 0.0], [0.0, 4.0]]))
        >>> print(s)
        [4. 3.]
    """
    s, u, v = _apply("svd", (_matrix(input, "svd"),), {"full": _flag(full_matrices, "svd", "full_matrices")})
    return (s, u, v) if _flag(compute_uv, "svd", "compute_uv") else s


# --- solving ---------------------------------------------------------------------------------------------------------

def cholesky_inverse(input_x, upper=False):
    """The inverse of the matrix whose Cholesky decomposition is given.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.cholesky_inverse(ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.25   0.    ]
         [0.     0.0625]]
    """
    inverse = _inverse(_matrix(input_x, "cholesky_inverse", "input_x"))
    upper = _flag(upper, "cholesky_inverse", "upper")
    return _product(inverse, inverse, left=not upper, right=upper)


def cholesky_solve(input, input2, upper=False):
    """The x with A x = input, where input2 is the Cholesky decomposition of A.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.cholesky_solve(ms.Tensor([[4.0], [8.0]]), ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[1. ]
         [0.5]]
    """
    _matrix(input, "cholesky_solve")
    return _product(cholesky_inverse(_matrix(input2, "cholesky_solve", "input2"), upper), input)


def matrix_solve(matrix, rhs, adjoint=False):
    """The x with matrix x = rhs; adjoint: with the transposed matrix.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.matrix_solve(ms.Tensor([[2.0, 0.0], [1.0, 4.0]]), ms.Tensor([[2.0], [9.0]])))
        [[1.]
         [2.]]
    """
    _matrix(rhs, "matrix_solve", "rhs")
    return _product(_inverse(_matrix(matrix, "matrix_solve", "matrix")), rhs, left=_flag(adjoint, "matrix_solve", "adjoint"))


def pinv(x, *, atol=None, rtol=None, hermitian=False):
    """The pseudo-inverse: singular values are inverted, those not above the larger of atol and rtol times the largest one
    are taken for zero. rtol is, if neither is given, the larger size times the rounding step of the dtype.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.pinv(ms.Tensor([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.   0.  ]
         [0.   0.   0.25]]
    """
    _flag(hermitian, "pinv", "hermitian")
    s, u, v = svd(_matrix(x, "pinv", "x"))
    if rtol is None:
        from ..common import dtype
        step = 2.220446049250313e-16 if s.dtype == dtype.float64 else 1.1920928955078125e-07
        rtol = max(x.shape[-2:]) * step if atol is None else 0.0
    largest = _apply("reduce_max", (s,), {"axis": (-1,), "keepdims": True})
    limit = _apply("maximum", (largest * rtol, 0.0 if atol is None else atol))
    keep = _apply("greater", (s, limit))
    factors = _apply("select", (keep, _apply("reciprocal", (_apply("select", (keep, s, 1.0)),)), 0.0))
    return _product(v * factors.expand_dims(-2), u, right=True)


def lstsq(input, A):
    """The x for which input x comes closest to A; among several the shortest one.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.lstsq(ms.Tensor([[1.0], [1.0]]), ms.Tensor([[1.0], [3.0]])))
        [[2.]]
    """
    if isinstance(A, Tensor) and A.ndim == 1:
        return _product(pinv(_matrix(input, "lstsq")), A.expand_dims(-1)).squeeze(-1)
    return _product(pinv(_matrix(input, "lstsq")), _matrix(A, "lstsq", "A"))


def cond(A, p=None):
    """How much a matrix stretches some vectors more than others, by norm p (None and 2: the largest over the smallest
    singular value).

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.cond(ms.Tensor([[2.0, 0.0], [0.0, 8.0]])))
        4.0
    """
    _matrix(A, "cond", "A")
    if p is None or p in (2, -2):
        s = svd(A, compute_uv=False)
        first, last = s[..., 0], s[..., -1]
        return last / first if p == -2 else first / last
    from .math import matrix_norm
    return matrix_norm(A, p) * matrix_norm(_inverse(A), p)


TENSOR_METHODS = {"cholesky": cholesky, "cholesky_inverse": cholesky_inverse, "cholesky_solve": cholesky_solve, "svd": svd,
                  "qr": _tensor_qr, "lstsq": lstsq}
MINT = {"linalg.qr": _linalg_qr}

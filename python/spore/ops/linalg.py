# SPDX-License-Identifier: Apache-2.0
"""Matrices as products, and what follows from that: solving, least squares, pseudo-inverse, condition."""
from .. import _core
from .._core import Tensor
from ._make import plain, primitive
from .array import tensor_of
from spore._core import type_name as _type_name

__all__ = ["cholesky", "cholesky_inverse", "cholesky_solve", "qr", "svd", "lstsq", "matrix_solve", "pinv", "cond"]

_apply = _core.apply


def _matrix(x, name, what="input"):
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: {what} must be a Tensor, but got {_type_name(x)}")
    if x.ndim < 2:
        raise ValueError(f"{name}: {what} must have 2 dimensions or more, but its shape is {x.shape}")
    return x


def _flag(value, name, what):
    if not isinstance(value, bool):
        raise TypeError(f"{name}: {what} must be a bool, but got {_type_name(value)}")
    return value


def _product(x, y, left=False, right=False):
    """x times y, of which `left` turns x around and `right` y; complex ones are conjugated with it."""
    x, y = (_apply("conj", (t,)) if turn and t.dtype.is_complex else t for t, turn in ((x, left), (y, right)))
    return _apply("matmul", (x, y), {"transpose_a": left, "transpose_b": right})


def _inverse(x):
    return _apply("matrix_inverse", (x,))


# --- decompositions --------------------------------------------------------------------------------------------------

def cholesky(input_x, upper=False) -> Tensor:
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

def cholesky_inverse(input_x, upper=False) -> Tensor:
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


def cholesky_solve(input, input2, upper=False) -> Tensor:
    """The x with A x = input, where input2 is the Cholesky decomposition of A.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.cholesky_solve(ms.Tensor([[4.0], [8.0]]), ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[1. ]
         [0.5]]
    """
    _matrix(input, "cholesky_solve")
    return _product(cholesky_inverse(_matrix(input2, "cholesky_solve", "input2"), upper), input)


def matrix_solve(matrix, rhs, adjoint=False) -> Tensor:
    """The x with matrix x = rhs; adjoint: with the transposed matrix.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.matrix_solve(ms.Tensor([[2.0, 0.0], [1.0, 4.0]]), ms.Tensor([[2.0], [9.0]])))
        [[1.]
         [2.]]
    """
    _matrix(rhs, "matrix_solve", "rhs")
    return _product(_inverse(_matrix(matrix, "matrix_solve", "matrix")), rhs, left=_flag(adjoint, "matrix_solve", "adjoint"))


def pinv(x, *, atol=None, rtol=None, hermitian=False) -> Tensor:
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
    if s.dtype.is_complex:
        s = _apply("real", (s,))
    if rtol is None:
        from ..common import dtype
        step = 2.220446049250313e-16 if s.dtype == dtype.float64 else 1.1920928955078125e-07
        rtol = max(x.shape[-2:]) * step if atol is None else 0.0
    largest = _apply("reduce_max", (s,), {"axis": (-1,), "keepdims": True})
    limit = _apply("maximum", (largest * rtol, 0.0 if atol is None else atol))
    keep = _apply("greater", (s, limit))
    factors = _apply("select", (keep, _apply("reciprocal", (_apply("select", (keep, s, 1.0)),)), 0.0))
    return _product(v * factors.expand_dims(-2), u, right=True)


def lstsq(input, A) -> Tensor:
    """The x for which input x comes closest to A; among several the shortest one.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.lstsq(ms.Tensor([[1.0], [1.0]]), ms.Tensor([[1.0], [3.0]])))
        [[2.]]
    """
    if isinstance(A, Tensor) and A.ndim == 1:
        return _product(pinv(_matrix(input, "lstsq")), A.expand_dims(-1)).squeeze(-1)
    return _product(pinv(_matrix(input, "lstsq")), _matrix(A, "lstsq", "A"))


def cond(A, p=None) -> Tensor:
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
        if s.dtype.is_complex:
            s = _apply("real", (s,))
        first, last = s[..., 0], s[..., -1]
        return last / first if p == -2 else first / last
    from .math import matrix_norm
    return matrix_norm(A, p) * matrix_norm(_inverse(A), p)




# --- triangles and factors -------------------------------------------------------------------------------------------

def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False) -> Tensor:
    """The x with a x = b, where a is upper (or lower) triangular; trans 1 or 'T': with a transposed, 2 or 'C': and
    conjugated. b is a matrix, or a vector.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.solve_triangular(ms.Tensor([[2.0, 0.0], [1.0, 4.0]]), ms.Tensor([2.0, 9.0]), lower=True))
        [1. 2.]
    """
    _matrix(a, "solve_triangular", "a")
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"solve_triangular: trans must be 0, 1, 2, 'N', 'T' or 'C', but got {trans!r}")
    vector = b.ndim == a.ndim - 1
    if trans in (2, "C") and a.dtype.is_complex:
        a = _apply("conj", (a,))
    x = _apply("triangular_solve", (a, b.expand_dims(-1) if vector else b),
               {"upper": not lower, "transpose": trans not in (0, "N"), "unit": unit_diagonal})
    return x.squeeze(-1) if vector else x


def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False):
    """The x with A x = b, where A is triangular, and A.

    Examples:
        >>> import spore as ms
        >>> print(ms.mint.triangular_solve(ms.Tensor([[2.0], [8.0]]), ms.Tensor([[2.0, 0.0], [1.0, 4.0]]))[0])
        [[1.]
         [2.]]
    """
    _matrix(b, "triangular_solve", "b")
    lead = b.shape[:-2] if len(b.shape) >= len(A.shape) else A.shape[:-2]
    wide, right = (_apply("broadcast_to", (t,), {"shape": lead + t.shape[-2:]}) for t in (A, b))
    return _apply("triangular_solve", (wide, right), {"upper": upper, "transpose": transpose, "unit": unitriangular}), A


def _exchanged(pivots, n):
    """The order of rows that exchanging each with its pivot leaves; pivots count from one."""
    from .. import ops
    flat = pivots.reshape((-1, pivots.shape[-1])).tolist()
    orders = []
    for row in flat:
        order = list(range(n))
        for k, p in enumerate(row):
            if not 1 <= p <= n:
                raise ValueError(f"lu: pivots must be in [1, {n}], but one of them is {p}")
            order[k], order[p - 1] = order[p - 1], order[k]
        orders.append(order)
    return Tensor(orders, _int64()).reshape(pivots.shape[:-1] + (n,)) if orders else ops.zeros(pivots.shape[:-1] + (n,), _int64())


def _int64():
    from ..common import dtype
    return dtype.int64


def lu_solve(b, LU_data, LU_pivots) -> Tensor:
    """The x with A x = b from the factors of A and the pivots, which count from one.

    Examples:
        >>> import spore as ms
        >>> lu, pivots = ms.Tensor([[2.0, 0.0], [0.5, 4.0]]), ms.Tensor([1, 2], ms.int32)
        >>> print(ms.ops.lu_solve(ms.Tensor([[2.0], [9.0]]), lu, pivots))
        [[1.]
         [2.]]
    """
    tensor_of(b, "b", "lu_solve")
    _matrix(LU_data, "lu_solve", "LU_data")
    order = _exchanged(LU_pivots, LU_data.shape[-1])
    from .. import ops
    rows = ops.gather_elements(b, b.ndim - 2, _apply("broadcast_to", (order.expand_dims(-1),), {"shape": b.shape}))
    lower = _apply("triangular_solve", (LU_data, rows), {"unit": True})
    return _apply("triangular_solve", (LU_data, lower), {"upper": True})


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """The permutation and the factors L and U, apart, of factors in one matrix. Pivots count from one.

    Examples:
        >>> import spore as ms
        >>> p, l, u = ms.ops.lu_unpack(ms.Tensor([[2.0, 1.0], [0.5, 4.0]]), ms.Tensor([2, 2], ms.int32))
        >>> print(l)
        [[1.  0. ]
         [0.5 1. ]]
        >>> print(p)
        [[0. 1.]
         [1. 0.]]
    """
    from .. import ops
    _matrix(LU_data, "lu_unpack", "LU_data")
    m, n = LU_data.shape[-2:]
    k = m if m < n else n
    lower = upper = permutation = None
    if unpack_pivots:
        order = _exchanged(LU_pivots, m)
        permutation = (order.expand_dims(-2) == ops.arange(m).reshape((m, 1))).astype(LU_data.dtype)
    if unpack_data:
        lower = ops.tril(LU_data[..., :k], -1) + ops.eye(m, k, LU_data.dtype)
        upper = ops.triu(LU_data[..., :k, :])
    return permutation, lower, upper


# --- eigenvalues -----------------------------------------------------------------------------------------------------

def eig(A):
    """Eigenvalues and eigenvectors, as columns of length one, of square matrices: complex numbers.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.eig(ms.Tensor([[2.0, 0.0], [0.0, 3.0]]))[0])
        [2.+0.j 3.+0.j]
    """
    return _apply("eig", (_matrix(A, "eig", "A"),))


def eigvals(A) -> Tensor:
    """Eigenvalues of square matrices: complex numbers.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.eigvals(ms.Tensor([[0.0, 1.0], [-1.0, 0.0]])).imag().abs())
        [1. 1.]
    """
    return _apply("eig", (_matrix(A, "eigvals", "A"),))[0]


def matrix_exp(input) -> Tensor:
    """The exponential series of square matrices, by Pade's approximation of a small part, squared as often as needed.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.matrix_exp(ms.Tensor([[0.0, 0.0], [0.0, 0.0]])))
        [[1. 0.]
         [0. 1.]]
    """
    import math
    from .. import ops
    x = _matrix(input, "matrix_exp")
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"matrix_exp: the last two dimensions must be equal, but the shape is {x.shape}")
    largest = float(ops.amax(x.abs().sum(-2)).item()) if x.size else 0.0
    halvings = max(0, math.ceil(math.log2(largest / 0.5))) if largest > 0.5 else 0
    x = x * (0.5 ** halvings)
    one = ops.eye(x.shape[-1], x.shape[-1], x.dtype)
    top = bottom = one
    power, factor, degree = one, 1.0, 8
    for k in range(1, degree + 1):
        factor *= (degree - k + 1) / (k * (2 * degree - k + 1))
        power = _product(power, x)
        top, bottom = top + power * factor, bottom + power * (factor if k % 2 == 0 else -factor)
    out = _product(_inverse(bottom), top)
    for _ in range(halvings):
        out = _product(out, out)
    return out


# --- reflections -----------------------------------------------------------------------------------------------------

def geqrf(input):
    """QR as LAPACK keeps it: R above the diagonal, the reflections below it, and their factors tau.

    Examples:
        >>> import spore as ms
        >>> y, tau = ms.ops.geqrf(ms.Tensor([[3.0, 1.0], [4.0, 2.0]]))
        >>> print(tau)
        [1.6 0. ]
    """
    from .. import ops
    a = _matrix(input, "geqrf")
    m, n = a.shape[-2:]
    k = m if m < n else n
    columns, taus = [], []
    for i in range(k):
        x = a[..., i:, i]
        rest = ops.sqrt((x[..., 1:] ** 2).sum(-1)) if m - i > 1 else ops.zeros_like(x[..., 0])
        alone = rest == 0
        size = ops.sqrt(x[..., 0] ** 2 + rest ** 2)
        beta = ops.where(alone, x[..., 0], ops.where(x[..., 0] > 0, -size, size))
        safe = ops.where(alone, ops.ones_like(beta), beta)
        tau = ops.where(alone, ops.zeros_like(beta), (safe - x[..., 0]) / safe)
        v = x / ops.where(alone, ops.ones_like(beta), x[..., 0] - beta).expand_dims(-1)
        v = ops.concat((ops.ones_like(v[..., :1]), ops.where(alone.expand_dims(-1), ops.zeros_like(v[..., 1:]), v[..., 1:])), -1)
        part = a[..., i:, i:]
        part = part - (tau.expand_dims(-1) * v).expand_dims(-1) * _product(v.expand_dims(-2), part)
        a = ops.concat((a[..., :i, :], ops.concat((a[..., i:, :i], part), -1)), -2) if i else part
        columns.append(v[..., 1:])
        taus.append(tau)
    for i, v in enumerate(columns):
        if m - i > 1:
            column = ops.concat((a[..., :i + 1, i], v), -1).expand_dims(-1)
            a = ops.concat([t for t in (a[..., :i], column, a[..., i + 1:]) if t.shape[-1]], -1)
    return a, ops.stack(taus, -1)


def _reflections(reflectors, tau, x, left=True, backwards=True):
    """x with the reflections of geqrf applied one after another."""
    from .. import ops
    m, n = reflectors.shape[-2], tau.shape[-1]
    for i in reversed(range(n)) if backwards else range(n):
        zeros, one = ops.zeros_like(reflectors[..., :i, i]), ops.ones_like(reflectors[..., :1, i])
        v = ops.concat([t for t in (zeros, one, reflectors[..., i + 1:m, i]) if t.shape[-1]], -1).expand_dims(-1)
        scaled = tau[..., i].expand_dims(-1).expand_dims(-1) * v
        x = x - _product(scaled, _product(v, x, left=True)) if left else x - _product(_product(x, scaled), v, right=True)
    return x


def orgqr(input, input2) -> Tensor:
    """The orthogonal matrix Q of the reflections and factors that geqrf gives.

    Examples:
        >>> import spore as ms
        >>> print(ms.ops.orgqr(*ms.ops.geqrf(ms.Tensor([[3.0, 1.0], [4.0, 2.0]]))))
        [[-0.6 -0.8]
         [-0.8  0.6]]
    """
    from .. import ops
    m, n = _matrix(input, "orgqr").shape[-2:]
    one = ops.broadcast_to(ops.eye(m, n, input.dtype), input.shape[:-2] + (m, n))
    return _reflections(input, input2, one)


def ormqr(input, tau, other, left=True, transpose=False) -> Tensor:
    """Q times other, or other times Q (left=False), with the Q of geqrf; transpose: with Q turned around.

    Examples:
        >>> import spore as ms
        >>> y, tau = ms.ops.geqrf(ms.Tensor([[3.0, 1.0], [4.0, 2.0]]))
        >>> print(ms.ops.ormqr(y, tau, ms.Tensor([[3.0], [4.0]]), transpose=True).abs())
        [[5.]
         [0.]]
    """
    return _reflections(_matrix(input, "ormqr"), tau, other, left, left != transpose)


LuSolve, Geqrf, Orgqr = plain("LuSolve", lu_solve), plain("Geqrf", geqrf), plain("Orgqr", orgqr)
MatrixExp = plain("MatrixExp", matrix_exp)
Ormqr = primitive("Ormqr", lambda self, x, tau, other: ormqr(x, tau, other, self.left, self.transpose), "left=True, transpose=False",
                  ormqr.__doc__)
LuUnpack = primitive("LuUnpack", lambda self, LU_data, LU_pivots: lu_unpack(
    LU_data, LU_pivots, self.unpack_data, self.unpack_pivots), "unpack_data=True, unpack_pivots=True", lu_unpack.__doc__)
MatrixTriangularSolve = primitive("MatrixTriangularSolve", lambda self, matrix, rhs: _apply(
    "triangular_solve", (matrix, rhs), {"upper": not self.lower, "transpose": self.adjoint}), "lower=True, adjoint=False",
    "The x with matrix x = rhs, where the matrix is triangular.")


def _eig_class(self, x):
    """Eigenvalues and, if compute_v, eigenvectors; without them they are empty."""
    values, vectors = eig(x)
    return values, vectors if self.compute_v else Tensor([], vectors.dtype)


Eig = primitive("Eig", _eig_class, "compute_v=False")
__all__ += ["solve_triangular", "lu_solve", "lu_unpack", "eig", "eigvals", "matrix_exp", "geqrf", "orgqr", "ormqr", "LuSolve", "Geqrf",
            "Orgqr", "MatrixExp", "Ormqr", "LuUnpack", "MatrixTriangularSolve", "Eig"]

TENSOR_METHODS = {"cholesky": cholesky, "cholesky_inverse": cholesky_inverse, "cholesky_solve": cholesky_solve, "svd": svd,
                  "qr": _tensor_qr, "lstsq": lstsq, "geqrf": geqrf, "orgqr": orgqr, "ormqr": ormqr, "lu_solve": lu_solve,
                  "eigvals": eigvals, "triangular_solve": triangular_solve}
MINT = {"linalg.qr": _linalg_qr, "triangular_solve": triangular_solve}

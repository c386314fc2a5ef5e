# SPDX-License-Identifier: Apache-2.0
"""Diagonals of matrices: taken out, put in, and bands of them kept. Several diagonals stand as rows, the highest first; the
shorter ones are filled up at one end, which align tells."""
from .. import _core
from .._core import Tensor
from ..common import dtype as mstype
from ._make import primitive
from .array import ints_of, of_rank
from .scattering import gather

__all__ = ["matrix_band_part", "matrix_diag", "matrix_diag_part", "matrix_set_diag", "MatrixBandPart", "MatrixDiagV3",
           "MatrixDiagPartV3", "MatrixSetDiagV3"]

_apply = _core.apply
_ALIGNS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def _range(k, rows, cols, name):
    """The lowest and the highest diagonal of k, which is one number or two."""
    k = ints_of(k, "k") if isinstance(k, (tuple, list, Tensor)) else (k,)
    low, high = (k[0], k[0]) if len(k) == 1 else k
    if not -rows < low <= high < cols and not (low == high == 0):
        raise ValueError(f"{name}: diagonals {low} to {high} do not fit into {rows} rows and {cols} columns")
    return low, high


def _length(d, rows, cols):
    return min(rows + min(d, 0), cols - max(d, 0))


def _offset(d, rows, cols, longest, align):
    """Where a diagonal begins in its row."""
    left = d >= 0 and align.startswith("LEFT") or d <= 0 and align.endswith("LEFT")
    return 0 if left else longest - _length(d, rows, cols)


def _check_align(align, name):
    if align not in _ALIGNS:
        raise ValueError(f"{name}: align must be one of {_ALIGNS}, but got {align!r}")


def _number(value):
    return value.item() if isinstance(value, Tensor) else value


def _places(rows, cols, low, high, longest, align):
    """For each element of the matrix, where it stands among the diagonals laid out as rows, or -1."""
    table = [[-1] * cols for _ in range(rows)]
    for d in range(low, high + 1):
        start = _offset(d, rows, cols, longest, align)
        for n in range(_length(d, rows, cols)):
            table[n - min(d, 0)][n + max(d, 0)] = (high - d) * longest + start + n
    return table


def _rows_into(diagonal, table):
    """Elements of the diagonals at the places of a matrix, and where there are any."""
    where = Tensor(table, mstype.int64)
    inside = _apply("greater_equal", (where, 0))
    return gather(diagonal, _apply("maximum", (where, 0)), diagonal.ndim - 1), inside


def _flat_rows(x, n, longest):
    """n diagonals as one dimension; one of them has no dimension for their number."""
    return x if n == 1 else _apply("reshape", (x,), {"shape": x.shape[:-2] + (n * longest,)})


def matrix_diag(x, k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT") -> Tensor:
    """Matrices with the given diagonals, and padding_value elsewhere. k: which diagonal, or the lowest and the highest."""
    _check_align(align, "matrix_diag")
    of_rank(x, 1, None, "matrix_diag", "x")
    k = ints_of(k, "k") if isinstance(k, (tuple, list, Tensor)) else (k,)
    low, high = (k[0], k[0]) if len(k) == 1 else k
    n, longest = high - low + 1, x.shape[-1]
    rows, cols = int(_number(num_rows)), int(_number(num_cols))
    least_rows, least_cols = longest - min(high, 0), longest + max(low, 0)
    if rows == -1 and cols == -1:
        rows = cols = max(least_rows, least_cols)
    rows = least_rows if rows == -1 else rows
    cols = least_cols if cols == -1 else cols
    if rows < least_rows or cols < least_cols:
        raise ValueError(f"matrix_diag: diagonals of length {longest} need {least_rows} rows and {least_cols} columns, but there are "
                         f"{rows} and {cols}")
    found, inside = _rows_into(_flat_rows(x, n, longest), _places(rows, cols, low, high, longest, align))
    return _apply("cast", (_apply("select", (inside, found, _number(padding_value))),), {"dtype": x.dtype})


def matrix_diag_part(x, k, padding_value, align="RIGHT_LEFT") -> Tensor:
    """Diagonals of matrices; what shorter ones lack is padding_value."""
    _check_align(align, "matrix_diag_part")
    rows, cols = x.shape[-2:]
    low, high = _range(k, rows, cols, "matrix_diag_part")
    longest = max(_length(d, rows, cols) for d in range(low, high + 1))
    table = []
    for d in range(high, low - 1, -1):
        start, n = _offset(d, rows, cols, longest, align), _length(d, rows, cols)
        table.append([(i - start - min(d, 0)) * cols + i - start + max(d, 0) if 0 <= i - start < n else -1 for i in range(longest)])
    flat = _apply("reshape", (x,), {"shape": x.shape[:-2] + (rows * cols,)})
    found, inside = _rows_into(flat, table if low < high else table[0])
    return _apply("cast", (_apply("select", (inside, found, _number(padding_value))),), {"dtype": x.dtype})


def matrix_set_diag(x, diagonal, k=0, align="RIGHT_LEFT") -> Tensor:
    """Matrices with some diagonals replaced."""
    _check_align(align, "matrix_set_diag")
    rows, cols = x.shape[-2:]
    low, high = _range(k, rows, cols, "matrix_set_diag")
    longest = max(_length(d, rows, cols) for d in range(low, high + 1))
    wanted = x.shape[:-2] + ((high - low + 1,) if low < high else ()) + (longest,)
    if diagonal.shape != wanted:
        raise ValueError(f"matrix_set_diag: diagonal has shape {diagonal.shape}, it must have shape {wanted}")
    found, inside = _rows_into(_flat_rows(diagonal, high - low + 1, longest), _places(rows, cols, low, high, longest, align))
    return _apply("select", (inside, found, x))


def matrix_band_part(x, lower, upper) -> Tensor:
    """Matrices with `lower` diagonals below the main one and `upper` above kept, the others zero; -1 keeps all."""
    from .. import ops
    if x.ndim < 2:
        raise ValueError(f"matrix_band_part: the Tensor must have 2 dimensions or more, but its shape is {x.shape}")
    rows, cols = x.shape[-2:]
    distance = ops.arange(cols).reshape((1, cols)) - ops.arange(rows).reshape((rows, 1))

    def end(n, all_of_them):
        n = n if isinstance(n, Tensor) else Tensor(n, mstype.int64)
        n = _apply("select", (_apply("less", (n, 0)), all_of_them, n))
        return n.reshape(n.shape + (1, 1)) if n.ndim else n
    keep = _apply("logical_and", (_apply("greater_equal", (distance, -end(lower, rows))), _apply("less_equal", (distance,
                                                                                                              end(upper, cols)))))
    return _apply("cast", (_apply("select", (keep, x, 0)),), {"dtype": x.dtype})


MatrixBandPart = primitive("MatrixBandPart", lambda self, x, lower, upper: matrix_band_part(x, lower, upper),
                           doc=matrix_band_part.__doc__)
MatrixDiagV3 = primitive("MatrixDiagV3", lambda self, x, k, num_rows, num_cols, padding_value: matrix_diag(
    x, k, num_rows, num_cols, padding_value, self.align), 'align="RIGHT_LEFT"', matrix_diag.__doc__)
MatrixDiagPartV3 = primitive("MatrixDiagPartV3", lambda self, x, k, padding_value: matrix_diag_part(
    x, k, padding_value, self.align), 'align="RIGHT_LEFT"', matrix_diag_part.__doc__)
MatrixSetDiagV3 = primitive("MatrixSetDiagV3", lambda self, x, diagonal, k: matrix_set_diag(x, diagonal, k, self.align),
                            'align="RIGHT_LEFT"', matrix_set_diag.__doc__)

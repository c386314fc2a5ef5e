# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""spore.mint: operators with the names and defaults of the torch-like interface. Names come from the operator table and from the `MINT` dictionaries of the files of spore.ops."""
from collections.abc import Sequence
from types import ModuleType
from typing import Any, overload

from spore._core import DType as _DType, Tensor as Tensor, TensorLike
from spore.nn.cell import Cell
from spore.ops.primitive import Primitive
from . import linalg as linalg
from . import nn as nn
from . import special as special
from spore.ops.array import dstack as dstack
from spore.ops.array import flip as flip
from spore.ops.array import hstack as hstack
from spore.ops.array import ravel as ravel
from spore.ops.array import swapaxes as swapaxes
from spore.ops.array import unsqueeze as unsqueeze
from spore.ops.array import vstack as vstack
from spore.ops.creation import eye as eye
from spore.ops.creation import full_like as full_like
from spore.ops.creation import ones_like as ones_like
from spore.ops.creation import zeros_like as zeros_like
from spore.ops.math import cross as cross
from spore.ops.math import _vector_dot as dot
from spore.ops.math import einsum as einsum
from spore.ops.math import _all_equal as equal
from spore.ops.math import mv as mv
from spore.ops.math import _vdot as vdot
from spore.ops.nn import _mint_softmax_dim as softmax
from spore.ops.scattering import take as take

__all__: list[str]

def abs(input: TensorLike) -> Tensor:
    """The absolute value of each element."""
def acos(input: TensorLike) -> Tensor:
    """The inverse cosine of each element."""
def acosh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic cosine of each element."""
@overload
def add(input: TensorLike, other: TensorLike) -> Tensor:
    """Sum of two tensors, element by element."""
@overload
def add(input: TensorLike, other: TensorLike, *, alpha: float = 1) -> Tensor:
    """x plus alpha times y."""
def addbmm(input: TensorLike, batch1: TensorLike, batch2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta times x plus alpha times the sum of the products of two batches of matrices."""
def addcdiv(input: TensorLike, tensor1: TensorLike, tensor2: TensorLike, *, value: TensorLike = 1) -> Tensor:
    """x plus value times a over b."""
def addcmul(input: TensorLike, tensor1: TensorLike, tensor2: TensorLike, *, value: TensorLike = 1) -> Tensor:
    """x plus value times a times b."""
def addmm(input: TensorLike, mat1: TensorLike, mat2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta times x plus alpha times the matrix product."""
def addmv(input: TensorLike, mat: TensorLike, vec: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta times x plus alpha times the product of matrix and vector."""
def all(input: TensorLike, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
    """Whether all elements over axes are true (not zero)."""
def allclose(input, other, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False):
    """Whether all elements are close."""
def amax(input: TensorLike, dim: int | Sequence[int] = (), keepdim: bool = False) -> Tensor:
    """Maximum over axes (all when none are given); NaN if there is one."""
def amin(input: TensorLike, dim: int | Sequence[int] = (), keepdim: bool = False) -> Tensor:
    """Minimum over axes (all when none are given); NaN if there is one."""
def any(input: TensorLike, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
    """Whether some element over axes is true (not zero)."""
def arange(start: Any = 0, end=None, step: Any = 1, *, dtype=None) -> Tensor:
    """start, start + step, ... before end."""
def arccos(input: TensorLike) -> Tensor:
    """The inverse cosine of each element."""
def arccosh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic cosine of each element."""
def arcsin(x: TensorLike) -> Tensor:
    """The inverse sine of each element."""
def arcsinh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic sine of each element."""
def arctan(input: TensorLike) -> Tensor:
    """The inverse tangent of each element."""
def arctan2(input: TensorLike, other: TensorLike) -> Tensor:
    """The angle of the point (y, x), in (-pi, pi]."""
def arctanh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic tangent of each element."""
def argmax(input: TensorLike, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the maximum is: along an axis, or of all elements in row-major order."""
def argmin(input: TensorLike, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the minimum is: along an axis, or of all elements in row-major order."""
def argsort(input, dim: Any = -1, descending: Any = False, stable: Any = False):
    """Where the elements of the sorted Tensor come from."""
def asin(input: TensorLike) -> Tensor:
    """The inverse sine of each element."""
def asinh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic sine of each element."""
def atan(input: TensorLike) -> Tensor:
    """The inverse tangent of each element."""
def atan2(input: TensorLike, other: TensorLike) -> Tensor:
    """The angle of the point (y, x), in (-pi, pi]."""
def atanh(input: TensorLike) -> Tensor:
    """The inverse hyperbolic tangent of each element."""
def baddbmm(input: TensorLike, batch1: TensorLike, batch2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta times x plus alpha times the product of two batches of matrices."""
def bernoulli(input, *, generator=None):
    """1 with the probability each element tells, else 0."""
def bincount(input: TensorLike, weights: TensorLike | None = None, minlength: int = 0) -> Tensor:
    """How often each number from zero on occurs, or the sum of its weights."""
def bitwise_and(input: TensorLike, other: TensorLike) -> Tensor:
    """The bits set in both operands."""
def bitwise_not(input: TensorLike) -> Tensor:
    """The bits reversed."""
def bitwise_or(input: TensorLike, other: TensorLike) -> Tensor:
    """The bits set in one of the operands."""
def bitwise_xor(input: TensorLike, other: TensorLike) -> Tensor:
    """The bits that differ."""
def bmm(input: TensorLike, mat2: TensorLike) -> Tensor:
    """Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast."""
def broadcast_to(input: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """The tensor repeated along dimensions of size 1 (and new ones in front) to the given shape; -1 keeps one."""
def cat(tensors, dim: Any = 0):
    """Joined along a dimension they have."""
def cdist(x1, x2, p: Any = 2.0, compute_mode: Any = 'use_mm_for_euclid_dist_if_necessary'):
    """The distance of every row of x1 to every row of x2."""
def ceil(input: TensorLike) -> Tensor:
    """The smallest integer not below each element."""
def chunk(input, chunks, dim: Any = 0):
    """Pieces of equal size, as many as asked for or fewer; the last may be smaller."""
def clamp(input: TensorLike, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """Each element kept between min and max."""
def clone(input: TensorLike) -> Tensor:
    """The same values in memory of their own."""
def concat(tensors, dim: Any = 0):
    """Joined along a dimension they have."""
def conv2d(input, weight, bias=None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1):
    """Convolution over 2 dimensions."""
def conv_tbc(input, weight, bias, pad: Any = 0):
    """A convolution of sequences (time, batch, channels) with weights (width, channels in, channels out)."""
def cos(input: TensorLike) -> Tensor:
    """The cosine of each element."""
def cosh(input: TensorLike) -> Tensor:
    """The hyperbolic cosine of each element."""
def count_nonzero(input: TensorLike, dim: int | Sequence[int] | None = None) -> Tensor:
    """How many elements over axes are not zero."""
def cummax(input: TensorLike, dim: int) -> tuple[Tensor, ...]:
    """Running maximum along an axis and where it is."""
def cummin(input: TensorLike, dim: int) -> tuple[Tensor, ...]:
    """Running minimum along an axis and where it is."""
def cumprod(input: TensorLike, dim: int, dtype: _DType | None = None) -> Tensor:
    """Running product along an axis."""
def cumsum(input: TensorLike, dim: int, dtype: _DType | None = None) -> Tensor:
    """Running sum along an axis."""
def diag(input, diagonal: Any = 0):
    """A matrix with the vector on a diagonal, or the diagonal of a matrix."""
def diag_embed(input: TensorLike, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices of zeros with the last dimension of the input on a diagonal."""
def diagonal(input: TensorLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of the matrices two dimensions make, as the last dimension of a view."""
def diff(input, n: Any = 1, dim: Any = -1, prepend=None, append=None):
    """The n-th difference of neighbours along a dimension."""
@overload
def div(input: TensorLike, other: TensorLike) -> Tensor:
    """Quotient of two tensors, element by element; integers are divided as float32."""
@overload
def div(input: TensorLike, other: TensorLike, *, rounding_mode: str | None = None) -> Tensor:
    """The quotient, rounded down ('floor') or towards zero ('trunc') if asked."""
@overload
def divide(input: TensorLike, other: TensorLike) -> Tensor:
    """Quotient of two tensors, element by element; integers are divided as float32."""
@overload
def divide(input: TensorLike, other: TensorLike, *, rounding_mode: str | None = None) -> Tensor:
    """The quotient, rounded down ('floor') or towards zero ('trunc') if asked."""
def empty(*sizes, size=None, dtype=None, device=None, pin_memory: Any = False):
    """A Tensor to be written to."""
def empty_like(input, *, dtype=None, device=None, pin_memory: Any = False): ...
def eq(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements are equal."""
def erf(input: TensorLike) -> Tensor:
    """The error function of each element."""
def erfc(input: TensorLike) -> Tensor:
    """One minus the error function of each element, exact where that is small."""
def erfinv(input: TensorLike) -> Tensor:
    """The inverse of the error function, for elements in (-1, 1)."""
def exp(input: TensorLike) -> Tensor:
    """e to the power of each element."""
def exp2(input: TensorLike) -> Tensor:
    """2 to the power of each element."""
def expm1(input: TensorLike) -> Tensor:
    """e to the power of x minus 1, exact near zero."""
def flatten(input, start_dim: Any = 0, end_dim: Any = -1):
    """Several dimensions as one, by default all."""
def float_power(input: TensorLike, exponent: TensorLike) -> Tensor:
    """The power, computed and given in double precision."""
def floor(input: TensorLike) -> Tensor:
    """The largest integer not above each element."""
def floor_divide(input: TensorLike, other: TensorLike) -> Tensor:
    """The quotient rounded down; of complex numbers, its real part rounded down."""
def fmod(input: TensorLike, other: TensorLike) -> Tensor:
    """The remainder of a division rounded towards zero; it has the sign of the dividend."""
def frac(input: TensorLike) -> Tensor:
    """The fractional part of each element, with its sign."""
def full(size, fill_value, *, dtype=None):
    """One number everywhere; the dtype follows the number."""
def gather(input: TensorLike, dim: int, index: TensorLike) -> Tensor:
    """For each element of index the element of x at the same position but for one axis, where index tells it."""
def gcd(input: TensorLike, other: TensorLike) -> Tensor:
    """The greatest common divisor, never negative."""
def ge(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are larger or equal."""
def greater(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are larger."""
def greater_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are larger or equal."""
def gt(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are larger."""
def histc(input: TensorLike, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall into each of the bins between min and max."""
def imag(input: TensorLike) -> Tensor:
    """The imaginary part; zero for real numbers."""
def index_add(self, dim, index, source, *, alpha: Any = 1):
    """A copy with source added to slices along a dimension."""
def index_select(input, dim, index): ...
def inverse(input: TensorLike) -> Tensor:
    """The inverse of square matrices."""
def isclose(input: TensorLike, other: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether |x - y| <= atol + rtol |y|, element by element."""
def isfinite(input: TensorLike) -> Tensor:
    """Whether each element is finite."""
def isinf(input: TensorLike) -> Tensor:
    """Whether each element is infinite."""
def isnan(tensor: TensorLike) -> Tensor:
    """Whether each element is not a number."""
def isneginf(input: TensorLike) -> Tensor:
    """Whether each element is minus infinity."""
def kthvalue(input, k, dim: Any = -1, keepdim: Any = False):
    """The k-th smallest element along a dimension and where it is."""
def le(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are smaller or equal."""
def lerp(input: TensorLike, end: TensorLike, weight: TensorLike) -> Tensor:
    """x plus weight times (end - x)."""
def less(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are smaller."""
def less_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are smaller or equal."""
def linspace(start, end, steps, *, dtype=None):
    """Numbers evenly spaced from start to end, both included."""
def log(input: TensorLike) -> Tensor:
    """The natural logarithm of each element."""
def log10(input: TensorLike) -> Tensor:
    """The logarithm of each element to base 10."""
def log1p(input: TensorLike) -> Tensor:
    """The natural logarithm of 1 + x, exact near zero."""
def log2(input: TensorLike) -> Tensor:
    """The logarithm of each element to base 2."""
def logaddexp(input: TensorLike, other: TensorLike) -> Tensor:
    """log(exp(x) + exp(y)), without overflow on the way."""
def logaddexp2(input: TensorLike, other: TensorLike) -> Tensor:
    """The same to base 2."""
def logical_and(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether both elements are true (not zero)."""
def logical_not(input: TensorLike) -> Tensor:
    """Whether each element is false (zero)."""
def logical_or(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether one of the elements is true (not zero)."""
def logical_xor(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether exactly one of the elements is true (not zero)."""
def logsumexp(input: TensorLike, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials over axes, without overflow on the way."""
def lt(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements of the first are smaller."""
def masked_select(input: TensorLike, mask: TensorLike) -> Tensor:
    """The elements where the mask is true, as a list; both are broadcast together."""
def matmul(input: TensorLike, other: TensorLike) -> Tensor:
    """Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast."""
def max(input, *args, **kwargs):
    """The maximum, of all elements or along a dimension."""
def maximum(input: TensorLike, other: TensorLike) -> Tensor:
    """The larger of two tensors, element by element."""
def mean(input: TensorLike, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: _DType | None = None) -> Tensor:
    """Mean over axes (all when none are given)."""
def median(input, dim=None, keepdim: Any = False):
    """The median: of all elements, or along a dimension with its position."""
def meshgrid(*tensors, indexing=None):
    """One grid per vector; matrix order unless said otherwise."""
def min(input, *args, **kwargs):
    """The minimum, of all elements or along a dimension."""
def minimum(input: TensorLike, other: TensorLike) -> Tensor:
    """The smaller of two tensors, element by element."""
def mm(input: TensorLike, mat2: TensorLike) -> Tensor:
    """Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast."""
def mul(input: TensorLike, other: TensorLike) -> Tensor:
    """Product of two tensors, element by element."""
def multinomial(input, num_samples, replacement: Any = False, *, generator=None):
    """Categories drawn with the given weights."""
def nan_to_num(input: TensorLike, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """NaN replaced by zero and infinities by the largest finite numbers, or by the values given."""
def nansum(input: TensorLike, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: _DType | None = None) -> Tensor:
    """Sum over axes of what is not NaN."""
def narrow(input, dim, start, length):
    """`length` slices from `start` on along a dimension."""
def ne(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements differ."""
def neg(input: TensorLike) -> Tensor:
    """The negative of each element."""
def negative(input: TensorLike) -> Tensor:
    """The negative of each element."""
def nonzero(input, *, as_tuple: Any = False):
    """The positions of elements that are not zero: a row each, or a vector for each dimension."""
def norm(input, p: Any = 'fro', dim=None, keepdim: Any = False, *, dtype=None):
    """The norm of vectors over dimensions; 'fro' and None are the Euclidean one."""
def normal(mean: Any = 0.0, std: Any = 1.0, size=None, generator=None):
    """Normally distributed numbers; of the shape of mean and std unless a size is given."""
def not_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Whether elements differ."""
def ones(*sizes, size=None, dtype=None):
    """Ones; float32 unless said otherwise."""
def outer(input: TensorLike, vec2: TensorLike) -> Tensor:
    """The outer product of two vectors; an input of more dimensions counts as one row of its elements."""
def permute(input: TensorLike, dims: int | Sequence[int]) -> Tensor:
    """The dimensions in another order; reversed when no order is given."""
def polar(abs: TensorLike, angle: TensorLike) -> Tensor:
    """Complex numbers from their distance and angle."""
def pow(input: TensorLike, exponent: TensorLike) -> Tensor:
    """The first operand to the power of the second, element by element."""
def prod(input: TensorLike, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: _DType | None = None) -> Tensor:
    """Product over axes (all when none are given); integers are multiplied as int64."""
def rand(*size, generator=None, dtype=None, device=None):
    """Numbers in [0, 1)."""
def rand_like(input, *, dtype=None, device=None): ...
def randint(*args, generator=None, dtype=None, device=None, **named):
    """randint(high, size) or randint(low, high, size): whole numbers in [low, high)."""
def randint_like(input, *args, dtype=None, device=None):
    """randint_like(input, high) or randint_like(input, low, high): whole numbers in [low, high)."""
def randn(*size, generator=None, dtype=None, device=None):
    """Numbers of the standard normal distribution."""
def randn_like(input, *, dtype=None, device=None): ...
def randperm(n, *, generator=None, dtype: Any = ...): ...
def real(input: TensorLike) -> Tensor:
    """The real part."""
def reciprocal(input: TensorLike) -> Tensor:
    """One over each element."""
def remainder(input: TensorLike, other: TensorLike) -> Tensor:
    """The remainder of a division rounded down; it has the sign of the divisor."""
def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    """Each slice along a dimension repeated in place."""
def reshape(input: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """The same elements in the same order under another shape; one dimension may be -1."""
def roll(input: TensorLike, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Tensor:
    """Elements moved along dimensions; what leaves at one end enters at the other. Without dimensions the tensor is taken as one row."""
def round(input: TensorLike, *, decimals: int = 0) -> Tensor:
    """Each element rounded to a number of decimals, halves to even."""
def rsqrt(input: TensorLike) -> Tensor:
    """One over the square root of each element."""
def scatter(input, dim, index, src):
    """A copy in which each element of src goes to its own position but for one dimension, where index tells."""
def scatter_add(input, dim, index, src):
    """A copy in which each element of src is added at its own position but for one dimension, where index tells."""
def searchsorted(sorted_sequence, values, *, out_int32: Any = False, right: Any = False, side=None, sorter=None) -> Tensor:
    """Where each value would go into a sorted row."""
def select(input, dim, index):
    """One slice along a dimension, without it."""
def sigmoid(input: TensorLike) -> Tensor:
    """1 / (1 + exp(-x)) of each element."""
def sign(input: TensorLike) -> Tensor:
    """-1, 0 or 1 by the sign of each element; of a complex number the number of size 1 in its direction."""
def sin(input: TensorLike) -> Tensor:
    """The sine of each element."""
def sinc(input: TensorLike) -> Tensor:
    """sin(pi x) / (pi x), and 1 at zero."""
def sinh(input: TensorLike) -> Tensor:
    """The hyperbolic sine of each element."""
def sort(input, *, dim: Any = -1, descending: Any = False, stable: Any = False):
    """The elements in order along a dimension, and where they came from."""
def split(tensor, split_size_or_sections, dim: Any = 0):
    """Pieces of one size (the last may be smaller) or of the sizes given."""
def sqrt(input: TensorLike) -> Tensor:
    """The square root of each element."""
def square(input: TensorLike) -> Tensor:
    """Each element times itself."""
def squeeze(input, dim=None):
    """Without dimensions of size 1: all of them, or those of the ones given."""
def stack(tensors, dim: Any = 0):
    """Joined along a new dimension."""
def std(input: TensorLike, dim: int | Sequence[int] | None = None, *, correction: float = 1, keepdim: bool = False) -> Tensor:
    """Standard deviation over axes."""
def std_mean(input: TensorLike, dim: int | Sequence[int] | None = None, *, correction: float = 1, keepdim: bool = False) -> tuple[Tensor, ...]:
    """Standard deviation and mean over axes."""
@overload
def sub(input: TensorLike, other: TensorLike) -> Tensor:
    """Difference of two tensors, element by element."""
@overload
def sub(input: TensorLike, other: TensorLike, *, alpha: float = 1) -> Tensor:
    """x minus alpha times y; truth values are subtracted as numbers."""
def sum(input: TensorLike, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: _DType | None = None) -> Tensor:
    """Sum over axes (all when none are given); integers are added as int64."""
def t(input):
    """The first two dimensions exchanged; a vector stays."""
def tan(input: TensorLike) -> Tensor:
    """The tangent of each element."""
def tanh(input: TensorLike) -> Tensor:
    """The hyperbolic tangent of each element."""
def tile(input: TensorLike, dims: int | Sequence[int]) -> Tensor:
    """The tensor repeated as a whole along each dimension; missing repetitions are 1, missing dimensions are added in front."""
def topk(input, k, dim: Any = -1, largest: Any = True, sorted: Any = True):
    """The k largest elements along a dimension, and where they are."""
def trace(input: TensorLike) -> Tensor:
    """The sum of the diagonal of a matrix."""
def transpose(input, dim0, dim1):
    """Two dimensions exchanged."""
def triangular_solve(b, A, upper: Any = True, transpose: Any = False, unitriangular: Any = False):
    """The x with A x = b, where A is triangular, and A."""
def tril(input: TensorLike, diagonal: int = 0) -> Tensor:
    """The lower triangle of each matrix, up to the given diagonal; zeros elsewhere."""
def triu(input: TensorLike, diagonal: int = 0) -> Tensor:
    """The upper triangle of each matrix, from the given diagonal; zeros elsewhere."""
def trunc(input: TensorLike) -> Tensor:
    """The integer part of each element."""
def unbind(input, dim: Any = 0):
    """The slices along a dimension."""
def unique(input, sorted: Any = True, return_inverse: Any = False, return_counts: Any = False, dim=None): ...
def unique_consecutive(input, return_inverse: Any = False, return_counts: Any = False, dim=None):
    """Values without repetitions of the one before; optionally the number of each element's value and their lengths."""
def var(input: TensorLike, dim: int | Sequence[int] | None = None, *, correction: float = 1, keepdim: bool = False) -> Tensor:
    """Variance over axes: the mean of squared distances from the mean."""
def var_mean(input: TensorLike, dim: int | Sequence[int] | None = None, *, correction: float = 1, keepdim: bool = False) -> tuple[Tensor, ...]:
    """Variance and mean over axes."""
def where(condition, input=None, other=None):
    """input where the condition is true, else other; alone, the positions where it is true."""
def xlogy(input: TensorLike, other: TensorLike) -> Tensor:
    """x times the logarithm of y, and zero where x is zero."""
def zeros(*sizes, size=None, dtype=None):
    """Zeros; float32 unless said otherwise."""

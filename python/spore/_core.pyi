# SPDX-License-Identifier: Apache-2.0
# Written by scripts/make-stubs.
"""The engine: tensors, operators, gradients, memory."""
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, overload

from numpy import ndarray

__version__: str
_int: TypeAlias = int
_float: TypeAlias = float
_bool: TypeAlias = bool
_str: TypeAlias = str
_DType: TypeAlias = DType


class DType:
    """A type of elements or values."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...


class Tensor:
    """An array of numbers of one dtype that operators compute with."""
    def __init__(self, input_data=None, dtype=None, shape=None, init=None, const_arg: Any = False, device=None) -> None: ...
    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""
    @property
    def T(self) -> Tensor:
        """Dimensions in reverse order."""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Any) -> Tensor: ...
    def __and__(self, other: Any) -> Tensor: ...
    def __array__(self, dtype=None, copy=None) -> ndarray: ...
    def __array_function__(self, function, kinds, args, kwargs) -> Any: ...
    @property
    def __array_interface__(self) -> Any:
        """For Pillow and others that read memory."""
    def __bool__(self) -> _bool: ...
    def __contains__(self, element) -> _bool: ...
    def __copy__(self) -> Any: ...
    def __deepcopy__(self, memodict) -> Any: ...
    def __delitem__(self, key, /) -> None: ...
    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None) -> Any: ...
    def __dlpack_device__(self) -> Any: ...
    def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> _float: ...
    def __floordiv__(self, other: Any) -> Tensor: ...
    def __format__(self, spec) -> _str: ...
    def __ge__(self, other: Any) -> Tensor: ...
    def __getitem__(self, other: Any) -> Tensor: ...
    def __gt__(self, other: Any) -> Tensor: ...
    def __hash__(self) -> _int: ...
    def __iadd__(self, value, /) -> Any: ...
    def __ifloordiv__(self, value, /) -> Any: ...
    def __imod__(self, value, /) -> Any: ...
    def __imul__(self, value, /) -> Any: ...
    def __index__(self) -> _int: ...
    def __int__(self) -> _int: ...
    def __invert__(self) -> Tensor: ...
    def __isub__(self, value, /) -> Any: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __itruediv__(self, value, /) -> Any: ...
    def __le__(self, other: Any) -> Tensor: ...
    def __len__(self) -> _int: ...
    def __lt__(self, other: Any) -> Tensor: ...
    def __matmul__(self, other: Any) -> Tensor: ...
    def __mod__(self, other: Any) -> Tensor: ...
    def __mul__(self, other: Any) -> Tensor: ...
    def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Any) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __pow__(self, other: Any) -> Tensor: ...
    def __radd__(self, other: Any) -> Tensor: ...
    def __rand__(self, other: Any) -> Tensor: ...
    def __reduce_ex__(self, protocol) -> Any: ...
    def __repr__(self) -> _str: ...
    def __rfloordiv__(self, other: Any) -> Tensor: ...
    def __rmatmul__(self, other: Any) -> Tensor: ...
    def __rmod__(self, other: Any) -> Tensor: ...
    def __rmul__(self, other: Any) -> Tensor: ...
    def __ror__(self, other: Any) -> Tensor: ...
    def __round__(self) -> Any: ...
    def __rpow__(self, other: Any) -> Tensor: ...
    def __rsub__(self, other: Any) -> Tensor: ...
    def __rtruediv__(self, other: Any) -> Tensor: ...
    def __rxor__(self, other: Any) -> Tensor: ...
    def __setitem__(self, key, value, /) -> None: ...
    def __str__(self) -> _str: ...
    def __sub__(self, other: Any) -> Tensor: ...
    def __truediv__(self, other: Any) -> Tensor: ...
    def __xor__(self, other: Any) -> Tensor: ...
    def abs(self) -> Tensor:
        """The absolute value of each element."""
    def absolute(self) -> Tensor:
        """The absolute value of each element."""
    def acos(self) -> Tensor:
        """The inverse cosine of each element."""
    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine of each element."""
    @overload
    def add(self, other: TensorLike) -> Tensor:
        """Sum of two tensors, element by element."""
    @overload
    def add(self, other: TensorLike, *, alpha: _float = 1) -> Tensor:
        """x plus alpha times y."""
    def add_(self, other, **kwargs) -> Any:
        """add, written into the tensor itself."""
    def addbmm(self, batch1: TensorLike, batch2: TensorLike, *, beta: _float = 1, alpha: _float = 1) -> Tensor:
        """beta times x plus alpha times the sum of the products of two batches of matrices."""
    def addcdiv(self, tensor1: TensorLike, tensor2: TensorLike, value: TensorLike = 1) -> Tensor:
        """x plus value times a over b."""
    def addcmul(self, tensor1: TensorLike, tensor2: TensorLike, value: TensorLike = 1) -> Tensor:
        """x plus value times a times b."""
    def addmm(self, mat1: TensorLike, mat2: TensorLike, *, beta: _float = 1, alpha: _float = 1) -> Tensor:
        """beta times x plus alpha times the matrix product."""
    def addmm_(self, mat1, mat2, *, beta: Any = 1, alpha: Any = 1) -> Any: ...
    def addmv(self, mat: TensorLike, vec: TensorLike, *, beta: _float = 1, alpha: _float = 1) -> Tensor:
        """beta times x plus alpha times the product of matrix and vector."""
    def addr(self, vec1: TensorLike, vec2: TensorLike, beta: _float = 1, alpha: _float = 1) -> Tensor:
        """beta times x plus alpha times the outer product of two vectors."""
    def adjoint(self) -> Any:
        """The conjugate of the transpose of the last two axes."""
    @overload
    def all(self, axis: _int | Sequence[_int] | None = None, keep_dims: _bool = False) -> Tensor:
        """Whether all elements over axes are true (not zero)."""
    @overload
    def all(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether all elements over axes are true (not zero)."""
    def allclose(self, other, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
        """Whether all elements are close."""
    def amax(self, axis=None, keepdims: Any = False, *, initial=None, where=None) -> Any:
        """The maximum over axes."""
    def amin(self, axis=None, keepdims: Any = False, *, initial=None, where=None) -> Any:
        """The minimum over axes."""
    def aminmax(self, *, axis: Any = 0, keepdims: Any = False) -> Any:
        """The minimum and the maximum along an axis. Over all elements (axis=None), those that are not numbers do not count."""
    def angle(self) -> Tensor:
        """The angle of numbers in the complex plane."""
    @overload
    def any(self, axis: _int | Sequence[_int] | None = None, keep_dims: _bool = False) -> Tensor:
        """Whether some element over axes is true (not zero)."""
    @overload
    def any(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether some element over axes is true (not zero)."""
    def approximate_equal(self, other: TensorLike, tolerance: _float = 1e-05) -> Tensor:
        """Whether |x - y| < tolerance, element by element."""
    def arccos(self) -> Tensor:
        """The inverse cosine of each element."""
    def arccosh(self) -> Tensor:
        """The inverse hyperbolic cosine of each element."""
    def arcsin(self) -> Tensor:
        """The inverse sine of each element."""
    def arcsinh(self) -> Tensor:
        """The inverse hyperbolic sine of each element."""
    def arctan(self) -> Tensor:
        """The inverse tangent of each element."""
    def arctan2(self, other: TensorLike) -> Tensor:
        """The angle of the point (y, x), in (-pi, pi]."""
    def arctanh(self) -> Tensor:
        """The inverse hyperbolic tangent of each element."""
    @overload
    def argmax(self, axis: _int | None = None, keepdims: _bool = False) -> Tensor:
        """Where the maximum is: along an axis, or of all elements in row-major order."""
    @overload
    def argmax(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """Where the maximum is: along an axis, or of all elements in row-major order."""
    def argmax_with_value(self, axis: Any = 0, keep_dims: Any = False) -> Any:
        """The maximum along an axis and where it is; without an axis that of all, and zero."""
    @overload
    def argmin(self, axis: _int | None = None, keepdims: _bool = False) -> Tensor:
        """Where the minimum is: along an axis, or of all elements in row-major order."""
    @overload
    def argmin(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """Where the minimum is: along an axis, or of all elements in row-major order."""
    def argmin_with_value(self, axis: Any = 0, keep_dims: Any = False) -> Any:
        """The minimum along an axis and where it is; without an axis that of all, and zero."""
    def argsort(self, axis: Any = -1, descending: Any = False, *, dim=None, stable: Any = False) -> Any:
        """Where the elements of the sorted Tensor come from."""
    def argwhere(self) -> Any:
        """The positions of elements that are not zero, a row each."""
    def asin(self) -> Tensor:
        """The inverse sine of each element."""
    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine of each element."""
    def asnumpy(self) -> ndarray:
        """A numpy array on the same memory (bfloat16: a float32 copy)."""
    def assign_value(self, value) -> Any:
        """Take over the contents, shape and dtype of another Tensor."""
    def assign_value_cpp(self, value) -> Any:
        """Take over the contents, shape and dtype of another Tensor."""
    def astype(self, dtype, copy: Any = True) -> Any:
        """The numbers converted to another dtype; dtype may be a name or a numpy type too."""
    def atan(self) -> Tensor:
        """The inverse tangent of each element."""
    def atan2(self, other: TensorLike) -> Tensor:
        """The angle of the point (y, x), in (-pi, pi]."""
    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent of each element."""
    def baddbmm(self, batch1: TensorLike, batch2: TensorLike, *, beta: _float = 1, alpha: _float = 1) -> Tensor:
        """beta times x plus alpha times the product of two batches of matrices."""
    def bernoulli(self, *, generator=None) -> Any:
        """1 with the probability each element tells, else 0."""
    def bernoulli_(self, p: Any = 0.5, *, generator=None) -> Any:
        """1 with probability p, else 0, in place."""
    def bfloat16(self) -> Any:
        """The numbers as BFloat16."""
    def bincount(self, weights: TensorLike | None = None, minlength: _int = 0) -> Tensor:
        """How often each number from zero on occurs, or the sum of its weights."""
    def bitwise_and(self, other: TensorLike) -> Tensor:
        """The bits set in both operands."""
    def bitwise_left_shift(self, other: TensorLike) -> Tensor:
        """The bits moved towards the high end."""
    def bitwise_not(self) -> Tensor:
        """The bits reversed."""
    def bitwise_or(self, other: TensorLike) -> Tensor:
        """The bits set in one of the operands."""
    def bitwise_right_shift(self, other: TensorLike) -> Tensor:
        """The bits moved towards the low end; the sign stays."""
    def bitwise_xor(self, other: TensorLike) -> Tensor:
        """The bits that differ."""
    def bmm(self, mat2: TensorLike) -> Tensor:
        """Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast."""
    def bool(self) -> Any:
        """The numbers as Bool."""
    def broadcast_to(self, *shape: Any) -> Tensor:
        """The tensor repeated along dimensions of size 1 (and new ones in front) to the given shape; -1 keeps one."""
    def byte(self) -> Any:
        """The numbers as UInt8."""
    def cauchy(self, median: Any = 0.0, sigma: Any = 1.0) -> Any:
        """Random numbers of Cauchy's distribution, of this shape."""
    def ceil(self) -> Tensor:
        """The smallest integer not below each element."""
    def cholesky(self, upper: Any = False) -> Any:
        """The lower triangular L (or, with upper, its transpose) with L times its transpose equal to the input, which must be symmetric and positive definite."""
    def cholesky_inverse(self, upper: Any = False) -> Any:
        """The inverse of the matrix whose Cholesky decomposition is given."""
    def cholesky_solve(self, input2, upper: Any = False) -> Any:
        """The x with A x = input, where input2 is the Cholesky decomposition of A."""
    def choose(self, choices, mode: Any = 'clip') -> Any: ...
    def chunk(self, chunks, axis: Any = 0, *, dim=None) -> Any:
        """Pieces of equal size, as many as asked for or fewer; the last may be smaller."""
    def clamp(self, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
        """Each element kept between min and max."""
    def clamp_(self, min=None, max=None) -> Any:
        """clamp, written into the tensor itself."""
    def clip(self, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
        """Each element kept between min and max."""
    def clone(self) -> Tensor:
        """The same values in memory of their own."""
    def col2im(self, output_size, kernel_size, dilation, padding_value, stride) -> Any: ...
    def conj(self) -> Tensor:
        """The complex conjugate of each element."""
    const_arg: Any
    def contiguous(self) -> Any:
        """The same numbers in row-major order; the Tensor itself if they are."""
    @staticmethod
    def convert_bytes_to_tensor(data, shape=None, dtype=None) -> Any:
        """The bytes of an object as a Tensor of uint8, or of another dtype and shape."""
    def copy(self) -> Any:
        """The same numbers in memory of their own; differentiable."""
    def copy_(self, src, non_blocking: Any = False) -> Any:
        """Write the numbers of another Tensor, converted and broadcast, over these; answers the Tensor itself."""
    def copysign(self, other: TensorLike) -> Tensor:
        """The size of x with the sign of y."""
    def cos(self) -> Tensor:
        """The cosine of each element."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine of each element."""
    @overload
    def count_nonzero(self, axis: _int | Sequence[_int] = (), keep_dims: _bool = False, dtype: _DType | None = None) -> Tensor:
        """How many elements over axes are not zero."""
    @overload
    def count_nonzero(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """How many elements over axes are not zero."""
    def cov(self, *, correction: Any = 1, fweights=None, aweights=None) -> Any:
        """Covariances of the rows of a matrix."""
    def cpu(self) -> Any:
        """The Tensor in main memory; itself, if it is there."""
    def cross(self, other, dim=None) -> Any:
        """The cross product of vectors of three elements along a dimension (the first of that size)."""
    def cummax(self, axis: _int) -> tuple[Tensor, ...]:
        """Running maximum along an axis and where it is."""
    def cummin(self, axis) -> Any:
        """Running minimum along an axis and where it is."""
    def cumprod(self, dim: _int, dtype: _DType | None = None) -> Tensor:
        """Running product along an axis."""
    @overload
    def cumsum(self, axis: _int | None = None, dtype: _DType | None = None) -> Tensor:
        """Running sum along an axis."""
    @overload
    def cumsum(self, dim: _int, *, dtype: _DType | None = None) -> Tensor:
        """Running sum along an axis."""
    @property
    def data(self) -> Tensor:
        """A Tensor on the same memory without history."""
    @data.setter
    def data(self, value) -> None: ...
    def data_ptr(self) -> Any:
        """Address of the first element."""
    def data_sync(self, wait: Any = True) -> Any:
        """Nothing to wait for: contents are in main memory."""
    def deg2rad(self) -> Tensor:
        """Degrees to radians."""
    def delete_(self, non_blocking: Any = False) -> Any:
        """Give the memory back; the Tensor is empty then."""
    delta_seed: Any
    def det(self) -> Tensor:
        """The determinant of square matrices."""
    def detach(self) -> Any:
        """The same contents without history."""
    @property
    def device(self) -> Any:
        """Where it lies: 'CPU' is main memory."""
    def diag(self, diagonal=None) -> Any:
        """As ops.diag; with a diagonal as mint.diag."""
    def diagflat(self, offset: Any = 0) -> Any:
        """A matrix with all elements on a diagonal."""
    def diagonal(self, offset: _int = 0, axis1: _int = 0, axis2: _int = 1) -> Tensor:
        """The diagonal of the matrices two dimensions make, as the last dimension of a view."""
    def diagonal_scatter(self, src, offset: Any = 0, dim1: Any = 0, dim2: Any = 1) -> Any:
        """A copy in which src stands on a diagonal."""
    def diff(self, n: Any = 1, axis: Any = -1, prepend=None, append=None) -> Any:
        """The n-th difference of neighbours along an axis."""
    def digamma(self) -> Tensor:
        """The derivative of the logarithm of the gamma function."""
    def dim(self) -> Any:
        """Number of dimensions."""
    @overload
    def div(self, other: TensorLike) -> Tensor:
        """Quotient of two tensors, element by element; integers are divided as float32."""
    @overload
    def div(self, other: TensorLike, *, rounding_mode: _str | None = None) -> Tensor:
        """The quotient, rounded down ('floor') or towards zero ('trunc') if asked."""
    def div_(self, other, **kwargs) -> Any:
        """div, written into the tensor itself."""
    @overload
    def divide(self, other: TensorLike) -> Tensor:
        """Quotient of two tensors, element by element; integers are divided as float32."""
    @overload
    def divide(self, other: TensorLike, *, rounding_mode: _str | None = None) -> Tensor:
        """The quotient, rounded down ('floor') or towards zero ('trunc') if asked."""
    def dot(self, tensor2) -> Any:
        """The product of two vectors; of more dimensions, as ops.dot."""
    def double(self) -> Any:
        """The numbers as Float64."""
    def dsplit(self, indices_or_sections) -> Any:
        """tensor_split along the third dimension."""
    @property
    def dtype(self) -> DType:
        """Type of the elements."""
    @dtype.setter
    def dtype(self, value) -> None: ...
    def eigvals(self) -> Any:
        """Eigenvalues of square matrices: complex numbers."""
    def eq(self, other: TensorLike) -> Tensor:
        """Whether elements are equal."""
    def equal(self, other: TensorLike) -> Tensor:
        """Whether elements are equal."""
    def erf(self) -> Tensor:
        """The error function of each element."""
    def erfc(self) -> Tensor:
        """One minus the error function of each element, exact where that is small."""
    def erfinv(self) -> Tensor:
        """The inverse of the error function, for elements in (-1, 1)."""
    def erfinv_(self) -> Any:
        """erfinv, written into the tensor itself."""
    def exp(self) -> Tensor:
        """e to the power of each element."""
    def exp_(self) -> Any:
        """exp, written into the tensor itself."""
    def expand(self, *sizes, size=None) -> Any:
        """Repeated along dimensions of size 1, without copying."""
    def expand_as(self, other=None, *, x=None) -> Any:
        """Broadcast to the shape of another Tensor."""
    def expand_dims(self, axis) -> Any:
        """A dimension of size 1 more."""
    def expm1(self) -> Tensor:
        """e to the power of x minus 1, exact near zero."""
    def exponential_(self, lambd: Any = 1, *, generator=None) -> Any:
        """Exponentially distributed numbers, in place."""
    def fill(self, value) -> Any: ...
    def fill_(self, value) -> Any:
        """One value everywhere, in place."""
    def fill_diagonal(self, fill_value, wrap: Any = False) -> Any:
        """A copy with one value on the diagonal."""
    def fill_diagonal_(self, *args, **kwargs) -> Any:
        """In place: A copy with one value on the diagonal."""
    def fills(self, value) -> Any:
        """One number in the shape and dtype of another Tensor."""
    def flatten(self, order: Any = 'C', last=None, *, start_dim: Any = 0, end_dim: Any = -1) -> Any:
        """Several dimensions as one, by default all: flatten(start_dim, end_dim), or flatten(order) with 'C' or 'F'."""
    def flip(self, *axes, dims=None) -> Any:
        """The elements in reverse along dimensions."""
    def fliplr(self) -> Any:
        """Columns in reverse."""
    def flipud(self) -> Any:
        """Rows in reverse."""
    def float(self) -> Any:
        """The numbers as Float32."""
    def float_power(self, other: TensorLike) -> Tensor:
        """The power, computed and given in double precision."""
    def floor(self) -> Tensor:
        """The largest integer not above each element."""
    def floor_(self) -> Any:
        """floor, written into the tensor itself."""
    def floor_divide(self, other: TensorLike) -> Tensor:
        """The quotient rounded down; of complex numbers, its real part rounded down."""
    def floor_divide_(self, other, **kwargs) -> Any:
        """floor, written into the tensor itself."""
    def flush_from_cache(self) -> Any:
        """Nothing to do: no part of a Tensor is cached elsewhere."""
    def fmax(self, other: TensorLike) -> Tensor:
        """The larger of two tensors; a number where one of them is NaN."""
    def fmin(self, other: TensorLike) -> Tensor:
        """The smaller of two tensors; a number where one of them is NaN."""
    def fmod(self, other: TensorLike) -> Tensor:
        """The remainder of a division rounded towards zero; it has the sign of the dividend."""
    def fold(self, output_size, kernel_size, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
        """Columns of windows added back to an image of output_size."""
    def frac(self) -> Tensor:
        """The fractional part of each element, with its sign."""
    @staticmethod
    def from_dlpack(source) -> Any:
        """A Tensor on the memory of an object with __dlpack__, or of a DLPack capsule."""
    @staticmethod
    def from_numpy(array) -> Any:
        """A Tensor on the array's memory."""
    def gather(self, *args, **kwargs) -> Any:
        """gather(input_indices, axis, batch_dims=0): slices; gather(dim, index): single elements."""
    def gather_elements(self, dim: _int, index: TensorLike) -> Tensor:
        """For each element of index the element of x at the same position but for one axis, where index tells it."""
    def gather_nd(self, indices: TensorLike) -> Tensor:
        """Elements or slices by coordinates: the last dimension of the indices holds one coordinate tuple."""
    def gcd(self, other: TensorLike) -> Tensor:
        """The greatest common divisor, never negative."""
    def ge(self, other: TensorLike) -> Tensor:
        """Whether elements of the first are larger or equal."""
    def geqrf(self) -> Any:
        """QR as LAPACK keeps it: R above the diagonal, the reflections below it, and their factors tau."""
    def ger(self, vec2: TensorLike) -> Tensor:
        """The outer product of two vectors; an input of more dimensions counts as one row of its elements."""
    def get_bytes(self) -> Any:
        """The elements in row-major order as bytes."""
    def greater(self, other: TensorLike) -> Tensor:
        """Whether elements of the first are larger."""
    def greater_equal(self, other: TensorLike) -> Tensor:
        """Whether elements of the first are larger or equal."""
    def gt(self, other: TensorLike) -> Tensor:
        """Whether elements of the first are larger."""
    def half(self) -> Any:
        """The numbers as Float16."""
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """x, and zero where |x| is at most lambd."""
    @property
    def has_init(self) -> _bool:
        """Does it wait for its initializer to run?"""
    def heaviside(self, values: TensorLike) -> Tensor:
        """0 for negative elements, 1 for positive ones, the second operand at zero."""
    def histc(self, bins: _int = 100, min: _float = 0, max: _float = 0) -> Tensor:
        """How many elements fall into each of the bins between min and max."""
    def hooks(self) -> Any:
        """The registered hooks."""
    def hsplit(self, indices_or_sections) -> Any:
        """tensor_split along the second dimension, of a vector along its only one."""
    def hypot(self, other: TensorLike) -> Tensor:
        """The square root of x squared plus y squared, without overflow on the way."""
    def i0(self) -> Any:
        """See ops.bessel_i0."""
    def igamma(self, other: TensorLike) -> Tensor:
        """The lower incomplete gamma function of order a at x, as a share of the gamma function."""
    def igammac(self, other: TensorLike) -> Tensor:
        """The upper incomplete gamma function of order a at x, as a share of the gamma function."""
    def imag(self) -> Tensor:
        """The imaginary part; zero for real numbers."""
    def index_add(self, *args, **kwargs) -> Any:
        """index_add(dim, index, source, *, alpha=1), or index_add(indices, y, axis)."""
    def index_add_(self, *args, **kwargs) -> Any:
        """In place: A copy with source added to slices along a dimension."""
    def index_copy_(self, *args, **kwargs) -> Any:
        """In place: Slices along a dimension replaced."""
    def index_fill(self, axis, index, value) -> Any:
        """A copy in which slices along a dimension hold one value."""
    def index_fill_(self, *args, **kwargs) -> Any:
        """In place: None"""
    index_of_parent_: Any
    def index_put(self, indices, values, accumulate: Any = False) -> Any:
        """A copy in which values stand at, or are added to, the positions that index tensors name."""
    def index_put_(self, indices, values, accumulate: Any = False) -> Any:
        """Write values to, or add them at, the positions that index tensors name."""
    def index_select(self, axis=None, index=None, *, dim=None) -> Any:
        """Slices along a dimension, one for each element of a vector."""
    init: Any
    def init_data(self, slice_index=None, shape=None, opt_shard_group=None) -> Any:
        """Run the initializer given to the constructor; answers the Tensor itself, which has contents now."""
    @property
    def init_finished(self) -> _bool:
        """Has it contents?"""
    @property
    def init_flag(self) -> Any:
        """Has its initializer run?"""
    def inner(self, other) -> Any:
        """Sums of products over the last axes."""
    def inplace_update(self, v, indices) -> Any:
        """The rows of x that the indices name replaced by v."""
    def int(self) -> Any:
        """The numbers as Int32."""
    def inv(self) -> Any:
        """One divided by each element."""
    def inverse(self) -> Tensor:
        """The inverse of square matrices."""
    def invert(self) -> Tensor:
        """The bits reversed."""
    def is_complex(self) -> Any:
        """Whether the dtype is complex."""
    def is_contiguous(self) -> Any:
        """Are the elements in row-major order?"""
    def is_floating_point(self) -> Any:
        """Whether the dtype is a floating-point one."""
    @property
    def is_init(self) -> _bool:
        """Has its initializer run? May be set."""
    @is_init.setter
    def is_init(self, value) -> None: ...
    is_meta: Any
    def is_pinned(self) -> Any:
        """Is the memory pinned for a device?"""
    def is_shared(self) -> Any:
        """Is the memory shared between processes?"""
    def is_signed(self) -> Any:
        """Can its elements be below zero?"""
    @overload
    def isclose(self, other: TensorLike, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """Whether |x - y| <= atol + rtol |y|, element by element."""
    @overload
    def isclose(self, x2: TensorLike, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """Whether |x - y| <= atol + rtol |y|, element by element."""
    def isfinite(self) -> Tensor:
        """Whether each element is finite."""
    def isinf(self) -> Tensor:
        """Whether each element is infinite."""
    def isnan(self) -> Tensor:
        """Whether each element is not a number."""
    def isneginf(self) -> Tensor:
        """Whether each element is minus infinity."""
    def isposinf(self) -> Tensor:
        """Whether each element is plus infinity."""
    def isreal(self) -> Any:
        """Whether each element is a real number."""
    def item(self) -> Any:
        """The only element as a Python number."""
    def itemset(self, *args) -> Any:
        """A copy in which one element is replaced: itemset(value), itemset(i, value), itemset((i, j), value)."""
    @property
    def itemsize(self) -> _int:
        """Bytes of one element."""
    def kron(self, other) -> Any:
        """The Kronecker product."""
    def kthvalue(self, k, dim: Any = -1, keepdim: Any = False) -> Any:
        """The k-th smallest element along a dimension and where it is."""
    def lcm(self, other: TensorLike) -> Tensor:
        """The least common multiple, never negative."""
    def ldexp(self, other: TensorLike) -> Tensor:
        """x times 2 to the power of y."""
    def le(self, other: TensorLike) -> Tensor:
        """Whether elements of the first are smaller or equal."""
    def lerp(self, end: TensorLike, weight: TensorLike) -> Tensor:
        """x plus weight times (end - x)."""
    def less(self, other: TensorLike) -> Tensor:
        """Whether elements of the first are smaller."""
    def less_equal(self, other: TensorLike) -> Tensor:
        """Whether elements of the first are smaller or equal."""
    def lgamma(self) -> Tensor:
        """The logarithm of the absolute value of the gamma function."""
    def log(self) -> Tensor:
        """The natural logarithm of each element."""
    def log10(self) -> Tensor:
        """The logarithm of each element to base 10."""
    def log1p(self) -> Tensor:
        """The natural logarithm of 1 + x, exact near zero."""
    def log2(self) -> Tensor:
        """The logarithm of each element to base 2."""
    def log_(self) -> Any:
        """log, written into the tensor itself."""
    def log_matrix_determinant(self) -> tuple[Tensor, ...]:
        """The sign of the determinant of square matrices and the logarithm of its size."""
    def log_normal(self, mean: Any = 1.0, std: Any = 2.0) -> Any:
        """Random numbers, of this shape, whose logarithms are normal."""
    def logaddexp(self, other: TensorLike) -> Tensor:
        """log(exp(x) + exp(y)), without overflow on the way."""
    def logaddexp2(self, other: TensorLike) -> Tensor:
        """The same to base 2."""
    def logcumsumexp(self, axis: _int) -> Tensor:
        """The logarithm of the running sum of exponentials."""
    def logdet(self) -> Any:
        """The logarithm of the determinant; NaN where that is negative, of complex matrices the principal value."""
    def logical_and(self, other: TensorLike) -> Tensor:
        """Whether both elements are true (not zero)."""
    def logical_not(self) -> Tensor:
        """Whether each element is false (zero)."""
    def logical_or(self, other: TensorLike) -> Tensor:
        """Whether one of the elements is true (not zero)."""
    def logical_xor(self, other: TensorLike) -> Tensor:
        """Whether exactly one of the elements is true (not zero)."""
    def logit(self, eps=None) -> Any:
        """log(x / (1 - x)), with x kept away from 0 and 1 by eps."""
    def logsumexp(self, dim: _int | Sequence[_int], keepdim: _bool = False) -> Tensor:
        """The logarithm of the sum of exponentials over axes, without overflow on the way."""
    def long(self) -> Any:
        """The numbers as Int64."""
    def lstsq(self, A) -> Any:
        """The x for which input x comes closest to A; among several the shortest one."""
    def lt(self, other: TensorLike) -> Tensor:
        """Whether elements of the first are smaller."""
    def lu_solve(self, LU_data, LU_pivots) -> Any:
        """The x with A x = b from the factors of A and the pivots, which count from one."""
    @property
    def mH(self) -> Tensor:
        """The last two dimensions exchanged, numbers conjugated."""
    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged."""
    def masked_fill(self, mask, value) -> Any:
        """value where the mask is true."""
    def masked_fill_(self, *args, **kwargs) -> Any:
        """In place: value where the mask is true."""
    def masked_scatter(self, mask, source) -> Any:
        """A copy in which the elements of source, in order, stand where the mask is true."""
    def masked_scatter_(self, *args, **kwargs) -> Any:
        """In place: A copy in which the elements of source, in order, stand where the mask is true."""
    def masked_select(self, mask: TensorLike) -> Tensor:
        """The elements where the mask is true, as a list; both are broadcast together."""
    def matmul(self, tensor2: TensorLike) -> Tensor:
        """Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast."""
    def matrix_determinant(self) -> Tensor:
        """The determinant of square matrices."""
    def matrix_power(self, n) -> Any:
        """A square matrix times itself n times; of a negative n, the inverse."""
    def max(self, *args, **kwargs) -> Any:
        """The maximum, of all elements or along a dimension."""
    def maximum(self, other: TensorLike) -> Tensor:
        """The larger of two tensors, element by element."""
    @overload
    def mean(self, axis: _int | Sequence[_int] | None = None, keep_dims: _bool = False) -> Tensor:
        """Mean over axes (all when none are given)."""
    @overload
    def mean(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """Mean over axes (all when none are given)."""
    @overload
    def median(self, axis: _int = -1, keepdims: _bool = False) -> tuple[Tensor, ...]:
        """The middle element along an axis (the lower of two) and where it is."""
    @overload
    def median(self, dim: _int = -1, keepdim: _bool = False) -> tuple[Tensor, ...]:
        """The middle element along an axis (the lower of two) and where it is."""
    def min(self, *args, **kwargs) -> Any:
        """The minimum, of all elements or along a dimension."""
    def minimum(self, other: TensorLike) -> Tensor:
        """The smaller of two tensors, element by element."""
    def mm(self, mat2: TensorLike) -> Tensor:
        """Matrix product: vectors, matrices, or batches of matrices whose leading dimensions broadcast."""
    def move_to(self, to, blocking: Any = True) -> Any:
        """The Tensor on another device."""
    def moveaxis(self, source, destination) -> Any:
        """Dimensions moved to other places, the rest in order."""
    def movedim(self, source, destination) -> Any:
        """Dimensions moved to other places, the rest in order."""
    def msort(self) -> Any:
        """Sorted along the first dimension."""
    def mul(self, other: TensorLike) -> Tensor:
        """Product of two tensors, element by element."""
    def mul_(self, other, **kwargs) -> Any:
        """mul, written into the tensor itself."""
    def multinomial(self, num_samples, replacement: Any = True, seed=None) -> Any:
        """Categories drawn with the given weights."""
    def multiply(self, value: TensorLike) -> Tensor:
        """Product of two tensors, element by element."""
    def mv(self, vec) -> Any:
        """A matrix times a vector."""
    def mvlgamma(self, p) -> Any:
        """The multivariate log-gamma function of dimension p."""
    def nan_to_num(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """NaN replaced by zero and infinities by the largest finite numbers, or by the values given."""
    def nanmean(self, axis: _int | Sequence[_int] | None = None, keepdims: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """Mean over axes of what is not NaN."""
    def nanmedian(self, axis: _int = -1, keepdims: _bool = False) -> tuple[Tensor, ...]:
        """The middle element along an axis (the lower of two) and where it is."""
    def nanquantile(self, q, axis=None, keepdims: Any = False) -> Any:
        """The same, of what is not NaN."""
    @overload
    def nansum(self, axis: _int | Sequence[_int] | None = None, keepdims: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """Sum over axes of what is not NaN."""
    @overload
    def nansum(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """Sum over axes of what is not NaN."""
    def narrow(self, dim, start, length) -> Any:
        """`length` slices from `start` on along a dimension."""
    @property
    def nbytes(self) -> _int:
        """Bytes of all elements."""
    @property
    def ndim(self) -> _int:
        """Number of dimensions."""
    def ndimension(self) -> Any:
        """Number of dimensions."""
    def ne(self, other: TensorLike) -> Tensor:
        """Whether elements differ."""
    def neg(self) -> Tensor:
        """The negative of each element."""
    def negative(self) -> Tensor:
        """The negative of each element."""
    def nelement(self) -> Any:
        """Number of elements."""
    def new_empty(self, *sizes, size=None, dtype=None, device=None) -> Any: ...
    def new_full(self, size, fill_value, *, dtype=None) -> Any: ...
    def new_ones(self, *sizes, size=None, dtype=None) -> Any:
        """Ones of this Tensor's dtype."""
    def new_zeros(self, *sizes, size=None, dtype=None) -> Any:
        """Zeros of this Tensor's dtype."""
    def nextafter(self, other: TensorLike) -> Tensor:
        """The next number of the dtype after x in the direction of y."""
    def nonzero(self, *, as_tuple: Any = False) -> Any:
        """The positions of elements that are not zero: a row each, or a vector for each dimension."""
    def norm(self, ord=None, dim=None, keepdim: Any = False, *, dtype=None) -> Any:
        """The norm of a tensor: of all its elements, of vectors (one dim) or of matrices (two dims, or rank 2 with an ord)."""
    def normal_(self, mean: Any = 0, std: Any = 1, *, generator=None) -> Any:
        """Normally distributed numbers, in place."""
    def not_equal(self, other: TensorLike) -> Tensor:
        """Whether elements differ."""
    def numel(self) -> Any:
        """Number of elements."""
    def numpy(self) -> ndarray:
        """The same as asnumpy()."""
    def offload(self, release: Any = False) -> Any:
        """Nothing to do: contents are in main memory already."""
    def offload_file_path(self) -> Any:
        """File that holds the contents instead of memory: none."""
    def orgqr(self, input2) -> Any:
        """The orthogonal matrix Q of the reflections and factors that geqrf gives."""
    def ormqr(self, tau, other, left: Any = True, transpose: Any = False) -> Any:
        """Q times other, or other times Q (left=False), with the Q of geqrf; transpose: with Q turned around."""
    def outer(self, vec2: TensorLike) -> Tensor:
        """The outer product of two vectors; an input of more dimensions counts as one row of its elements."""
    param_info: Any
    parent_tensor_: Any
    def permute(self, *axis, **named_axes) -> Any:
        """Dimensions in another order, all given or as a tuple."""
    def pin_memory(self) -> Any:
        """The Tensor itself: there is no device to pin it for."""
    def positive(self) -> Any:
        """The input itself."""
    def pow(self, exponent: TensorLike) -> Tensor:
        """The first operand to the power of the second, element by element."""
    def pow_(self, other, **kwargs) -> Any:
        """pow, written into the tensor itself."""
    @overload
    def prod(self, axis: _int | Sequence[_int] | None = None, keep_dims: _bool = False, dtype: _DType | None = None) -> Tensor:
        """Product over axes (all when none are given); integers are multiplied as int64."""
    @overload
    def prod(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, dtype: _DType | None = None) -> Tensor:
        """Product over axes (all when none are given); integers are multiplied as int64."""
    def ptp(self, axis=None, keepdims: Any = False) -> Any:
        """The distance from the minimum to the maximum over axes."""
    def put_(self, index, source, accumulate: Any = False) -> Any: ...
    def qr(self, some: Any = True) -> Any:
        """The decomposition by ops.qr; some=False stands for mode 'complete'."""
    def quantile(self, q, axis=None, keepdims: Any = False) -> Any:
        """Values below which a share q of the elements along an axis lies, interpolated."""
    def rad2deg(self) -> Tensor:
        """Radians to degrees."""
    def random_(self, from_: Any = 0, to=None, *, generator=None) -> Any:
        """Whole numbers in [from_, to), in place; without `to`, up to what the dtype holds."""
    def random_categorical(self, num_sample, seed: Any = 0, dtype: Any = ...) -> Any:
        """Categories drawn with the softmax of the rows as weights."""
    def ravel(self) -> Any:
        """All elements in one dimension."""
    def real(self) -> Tensor:
        """The real part."""
    def reciprocal(self) -> Tensor:
        """One over each element."""
    def register_hook(self, hook) -> Any:
        """Call `hook(grad)` when a gradient of this Tensor is computed; a Tensor it returns replaces the gradient."""
    @overload
    def remainder(self, other: TensorLike) -> Tensor:
        """The remainder of a division rounded down; it has the sign of the divisor."""
    @overload
    def remainder(self, divisor: TensorLike) -> Tensor:
        """The remainder of a division rounded down; it has the sign of the divisor."""
    def remainder_(self, other, **kwargs) -> Any:
        """floor, written into the tensor itself."""
    @staticmethod
    def remove_hook(handle) -> Any:
        """Take away a hook by the handle that register_hook answered."""
    def renorm(self, p, axis, maxnorm) -> Any:
        """Slices along an axis whose norm exceeds maxnorm, scaled down to it."""
    def repeat(self, *repeats, axis=None) -> Any:
        """Repeated as a whole along each dimension; with an axis, the older meaning: each slice repeated in place."""
    def repeat_interleave(self, repeats, dim=None, *, output_size=None) -> Any:
        """Each slice along a dimension repeated in place."""
    def requires_grad_(self, requires_grad: Any = True) -> Any:
        """Set whether gradients of this Tensor are gathered; answers the Tensor."""
    def reshape(self, *shape: Any) -> Tensor:
        """The same elements in the same order under another shape; one dimension may be -1."""
    def reshape_as(self, other) -> Any:
        """The numbers in the shape of another Tensor."""
    def resize(self, *new_shape) -> Any:
        """The elements under another shape; missing ones are zero, too many are dropped."""
    def reverse(self, axis) -> Any:
        """The elements in reverse along dimensions."""
    def reverse_sequence(self, seq_lengths, seq_dim: Any = 0, batch_dim: Any = 0) -> Any: ...
    def roll(self, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] | None = None) -> Tensor:
        """Elements moved along dimensions; what leaves at one end enters at the other. Without dimensions the tensor is taken as one row."""
    def rot90(self, k, dims) -> Any:
        """Turned by k right angles in the plane of two dimensions."""
    def round(self, decimals: _int = 0) -> Tensor:
        """Each element rounded to a number of decimals, halves to even."""
    def rsqrt(self) -> Tensor:
        """One over the square root of each element."""
    def scatter(self, axis=None, index=None, src=None, *, dim=None) -> Any:
        """A copy in which each element of src goes to its own position but for one dimension, where index tells."""
    def scatter_(self, *args, **kwargs) -> Any:
        """In place: Each element of src goes to its own position but for one dimension, where index tells."""
    def scatter_add(self, *args, **kwargs) -> Any:
        """scatter_add(dim, index, src), by position along a dimension; scatter_add(indices, updates), by coordinates."""
    def scatter_add_(self, *args, **kwargs) -> Any:
        """In place: A copy in which each element of src is added at its own position but for one dimension, where index tells."""
    def scatter_div(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are divided by updates."""
    def scatter_max(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are replaced by larger updates."""
    def scatter_min(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are replaced by smaller updates."""
    def scatter_mul(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are multiplied by updates."""
    def scatter_sub(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are lessened by updates."""
    def searchsorted(self, v, side: Any = 'left', sorter=None) -> Any: ...
    def select(self, *args, **kwargs) -> Any:
        """select(dim, index): one slice; select(condition, y): elements of y where the condition is false."""
    def select_scatter(self, src, axis, index) -> Any:
        """A copy in which one slice along a dimension is src."""
    def set_(self, source=None, storage_offset: Any = 0, size=None, stride=None) -> Any:
        """Show the memory of another Tensor, or storage, from an element on and with a shape and steps of one's own; without a source nothing. Answers the Tensor."""
    def set_const_arg(self, const_arg: Any = True) -> Any:
        """Note whether a compiled function may take it for a constant."""
    def set_data(self, data, slice_shape: Any = False) -> Any:
        """Write the contents of another Tensor of this shape; answers the Tensor itself."""
    def set_dtype(self, dtype) -> Any:
        """Convert the contents in place; answers the dtype."""
    def set_init_flag(self, flag) -> Any:
        """Note whether the initializer ran."""
    def sgn(self) -> Any:
        """The sign; of complex numbers, the number divided by its size."""
    @property
    def shape(self) -> tuple[_int, ...]:
        """Length of every dimension, a tuple."""
    def short(self) -> Any:
        """The numbers as Int16."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x)) of each element."""
    def sigmoid_(self) -> Any:
        """sigmoid, written into the tensor itself."""
    def sign(self) -> Tensor:
        """-1, 0 or 1 by the sign of each element; of a complex number the number of size 1 in its direction."""
    def sign_(self) -> Any:
        """sign, written into the tensor itself."""
    def signbit(self) -> Tensor:
        """Whether the sign bit of each element is set."""
    def sin(self) -> Tensor:
        """The sine of each element."""
    def sinc(self) -> Tensor:
        """sin(pi x) / (pi x), and 1 at zero."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine of each element."""
    @property
    def size(self) -> _int:
        """Number of elements."""
    slice_num_of_persistent_data_: Any
    def slice_scatter(self, src, axis: Any = 0, start=None, end=None, step: Any = 1) -> Any:
        """A copy in which start:end:step along a dimension is src."""
    def slogdet(self) -> tuple[Tensor, ...]:
        """The sign of the determinant of square matrices and the logarithm of its size."""
    def soft_shrink(self, lambd: Any = 0.5) -> Any:
        """See ops.softshrink."""
    def softmax(self, axis, dtype=None) -> Any: ...
    def sort(self, axis: Any = -1, descending: Any = False, *, dim=None, stable: Any = False) -> Any:
        """The elements in order along a dimension, and where they came from."""
    def split(self, split_size_or_sections=None, axis: Any = 0, *, split_size=None, dim=None) -> Any:
        """Pieces of one size (the last may be smaller) or of the sizes given."""
    def sqrt(self) -> Tensor:
        """The square root of each element."""
    def square(self) -> Tensor:
        """Each element times itself."""
    def squeeze(self, *axis, **named_axes) -> Any:
        """Without dimensions of size 1: all of them, or those given."""
    @overload
    def std(self, axis: _int | Sequence[_int] | None = None, ddof: _float = 0, keepdims: _bool = False) -> Tensor:
        """Standard deviation over axes."""
    @overload
    def std(self, dim: _int | Sequence[_int] | None = None, *, correction: _float = 1, keepdim: _bool = False) -> Tensor:
        """Standard deviation over axes."""
    def storage(self) -> Any:
        """The memory of the Tensor as bytes; see UntypedStorage."""
    def storage_offset(self) -> Any:
        """Elements between the start of the memory block and the first element."""
    def stride(self, dim=None) -> Any:
        """Elements from one to the next along a dimension, or along all of them."""
    @property
    def strides(self) -> tuple[_int, ...]:
        """Bytes from one element to the next along every dimension."""
    def stub_sync(self) -> Any:
        """Wait for the value; it is there."""
    @overload
    def sub(self, other: TensorLike) -> Tensor:
        """Difference of two tensors, element by element."""
    @overload
    def sub(self, y: TensorLike) -> Tensor:
        """Difference of two tensors, element by element."""
    @overload
    def sub(self, other: TensorLike, *, alpha: _float = 1) -> Tensor:
        """x minus alpha times y; truth values are subtracted as numbers."""
    def sub_(self, other, **kwargs) -> Any:
        """sub, written into the tensor itself."""
    def subtract(self, other: TensorLike, *, alpha: _float = 1) -> Tensor:
        """x minus alpha times y; truth values are subtracted as numbers."""
    @overload
    def sum(self, axis: _int | Sequence[_int] | None = None, dtype: _DType | None = None, keepdims: _bool = False, initial: _float | None = None) -> Tensor:
        """Sum over axes (all when none are given); integers are added as int64."""
    @overload
    def sum(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _DType | None = None) -> Tensor:
        """Sum over axes (all when none are given); integers are added as int64."""
    def sum_to_size(self, *size) -> Any:
        """The sum over dimensions until the shape is the one given."""
    def svd(self, full_matrices: Any = False, compute_uv: Any = True) -> Any:
        """Singular values in descending order, left and right singular vectors as columns: input = u diag(s) v transposed."""
    def swapaxes(self, axis0, axis1) -> Any:
        """Two dimensions exchanged."""
    def swapdims(self, dim0, dim1) -> Any:
        """Two dimensions exchanged."""
    @property
    def symbolic_shape(self) -> Any:
        """Symbols for sizes that are not known; those of a Tensor always are: None."""
    def t(self) -> Any:
        """The transpose of a matrix; with fewer or more than two dimensions the Tensor itself."""
    def take(self, indices=None, axis=None, mode: Any = 'clip', *, index=None) -> Any:
        """Slices along a dimension, or elements of the flattened Tensor; mode: clip, wrap or raise what lies outside."""
    def tan(self) -> Tensor:
        """The tangent of each element."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent of each element."""
    def tanh_(self) -> Any:
        """tanh, written into the tensor itself."""
    def tensor_scatter_add(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are added to updates."""
    def tensor_scatter_div(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are divided by updates."""
    def tensor_scatter_max(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are replaced by larger updates."""
    def tensor_scatter_min(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are replaced by smaller updates."""
    def tensor_scatter_mul(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are multiplied by updates."""
    def tensor_scatter_sub(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are lessened by updates."""
    def tensor_scatter_update(self, indices, updates) -> Any:
        """A copy in which the elements at the given coordinates are replaced by updates."""
    def tensor_split(self, indices_or_sections, axis: Any = 0) -> Any:
        """As many pieces as asked for, the first ones larger by one; or cut before the given positions."""
    def tile(self, reps=None, *, dims=None) -> Any:
        """Repeated as a whole along each dimension."""
    def to(self, *args, dtype=None, device=None, other=None, non_blocking: Any = False, copy: Any = False) -> Any:
        """The numbers as another dtype, or that of another Tensor, or on another device ('CPU' is main memory). to(dtype, non_blocking, copy), to(device, dtype, non_blocking, copy) or to(other, non_blocking, copy)."""
    def to_coo(self) -> Any:
        """What is not zero in a Tensor."""
    def to_csr(self) -> Any:
        """What is not zero in a matrix, row by row."""
    def to_dlpack(self) -> Any:
        """A DLPack capsule on the memory of the Tensor."""
    def tobytes(self, order: Any = 'C') -> Any:
        """The elements as bytes, as numpy's method of this name gives them."""
    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
    def top_k(self, k, sorted: Any = True) -> Any:
        """See ops.topk."""
    def topk(self, k, dim=None, largest: Any = True, sorted: Any = True) -> Any:
        """The k largest elements along a dimension, and where they are."""
    def trace(self, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype=None) -> Any:
        """Sums along diagonals."""
    def transpose(self, *axes, **named_axes) -> Any:
        """Dimensions in another order, all given or as a tuple; two numbers exchange those dimensions."""
    def triangular_solve(self, A, upper: Any = True, transpose: Any = False, unitriangular: Any = False) -> Any:
        """The x with A x = b, where A is triangular, and A."""
    def tril(self, diagonal: _int = 0) -> Tensor:
        """The lower triangle of each matrix, up to the given diagonal; zeros elsewhere."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """The upper triangle of each matrix, from the given diagonal; zeros elsewhere."""
    @overload
    def true_divide(self, other: TensorLike) -> Tensor:
        """Quotient of two tensors, element by element; integers are divided as float32."""
    @overload
    def true_divide(self, value: TensorLike) -> Tensor:
        """Quotient of two tensors, element by element; integers are divided as float32."""
    def trunc(self) -> Tensor:
        """The integer part of each element."""
    def type(self, dtype=None) -> Any:
        """The dtype's name, or the numbers converted to dtype."""
    def type_as(self, other) -> Any:
        """The numbers converted to the dtype of another Tensor."""
    def unbind(self, dim: Any = 0) -> Any:
        """The slices along a dimension."""
    def unfold(self, kernel_size, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any: ...
    def uniform(self, from_: Any = 0.0, to: Any = 1.0, generator=None) -> Any: ...
    def uniform_(self, from_: Any = 0, to: Any = 1, *, generator=None) -> Any:
        """Numbers in [from_, to), in place."""
    def unique(self, sorted: Any = True, return_inverse: Any = False, return_counts: Any = False, dim=None) -> Any:
        """The distinct values in order; optionally the number of each element's value, and how often each occurs."""
    def unique_consecutive(self, return_inverse: Any = False, return_counts: Any = False, dim=None) -> Any:
        """Values without repetitions of the one before; optionally the number of each element's value and their lengths."""
    def unique_with_pad(self, pad_num) -> Any:
        """unique, the values filled up to the number of elements."""
    def unsorted_segment_max(self, segment_ids, num_segments) -> Any:
        """The largest elements of the slices that carry the same number."""
    def unsorted_segment_min(self, segment_ids, num_segments) -> Any:
        """The smallest elements of the slices that carry the same number."""
    def unsorted_segment_prod(self, segment_ids, num_segments) -> Any:
        """The products of the slices that carry the same number."""
    def unsqueeze(self, dim) -> Any:
        """A dimension of size 1 more."""
    def untyped_storage(self) -> Any:
        """The memory of the Tensor as bytes; see UntypedStorage."""
    def value(self) -> Any:
        """The Tensor itself; a Parameter's contents."""
    @overload
    def var(self, axis: _int | Sequence[_int] | None = None, ddof: _float = 0, keepdims: _bool = False) -> Tensor:
        """Variance over axes: the mean of squared distances from the mean."""
    @overload
    def var(self, dim: _int | Sequence[_int] | None = None, *, correction: _float = 1, keepdim: _bool = False) -> Tensor:
        """Variance over axes: the mean of squared distances from the mean."""
    def view(self, *shape, **by_name) -> Any:
        """The elements under another shape; with a dtype, the same bytes as numbers of that dtype."""
    def view_as(self, other) -> Any:
        """The elements under the shape of another Tensor."""
    virtual_flag: Any
    def vsplit(self, indices_or_sections) -> Any:
        """tensor_split along the first dimension."""
    def wait_pipeline(self) -> Any:
        """Nothing to wait for: operators have finished when they return."""
    def where(self, condition, y) -> Any: ...
    def xdivy(self, y: TensorLike) -> Tensor:
        """x over y, and zero where x is zero."""
    def xlogy(self, other: TensorLike) -> Tensor:
        """x times the logarithm of y, and zero where x is zero."""
    def zero_(self) -> Any:
        """Write zeros; answers the Tensor itself."""


TensorLike: TypeAlias = Tensor | float | complex | Sequence[Any] | ndarray


def apply(op, inputs, attrs=None) -> Any:
    """Apply an operator by name: inputs a sequence of Tensors, numbers or None, attrs a dict."""
def apply_each(op, columns, attrs=None) -> Any:
    """Apply an operator to every row of columns. A column is a tuple or list with one operand per row, or one operand for all rows. Gives the first result of each row, or None for operators that write in place."""
def cache_link(*args, **kwargs) -> Any:
    """cache_link(address): a connection that keeps a private server alive."""
def cache_session(*args, **kwargs) -> Any:
    """cache_session(address): a new session of a cache server."""
def codegen(*args, **kwargs) -> Any:
    """codegen(models, names, folder, target, train, optimizer, loss, ram, flash): the report."""
def comm_await(begun) -> Any:
    """The result of an all_reduce that comm_begin has begun."""
def comm_barrier(group) -> Any:
    """Wait for all ranks of a group."""
def comm_begin(tensor, op, group) -> Any:
    """Begin an all_reduce, which goes on meanwhile; what comm_await takes, once."""
def comm_create(name, ranks) -> Any:
    """Make a group; all its ranks call it."""
def comm_drop(name) -> Any:
    """Forget a group."""
def comm_info(group) -> Any:
    """(rank, size, local rank, local size, ranks in the world)"""
def comm_recv(like, rank, tag, group) -> Any:
    """A Tensor from another rank, of this shape and dtype."""
def comm_send(tensor, rank, tag, group) -> Any:
    """A Tensor to another rank."""
def costs_measure() -> Any:
    """Measure operators and exchanges of this job and keep the figures; a table of them."""
def device_declined(name) -> Any:
    """(operator, calls, bytes) of what the CPU computed in its place."""
def device_default() -> Any:
    """Where new Tensors go."""
def device_describe(name) -> Any:
    """Properties of a device."""
def device_load(path) -> Any:
    """Open a library of devices."""
def device_names() -> Any:
    """Kinds of devices, as a text."""
def device_reset_peak(name) -> Any:
    """Let the peak of a device's memory start again."""
def device_set_default(name) -> Any:
    """Where new Tensors go."""
def device_statistics(name) -> Any:
    """Memory, kernels and copies of a device."""
def device_trim(name) -> Any:
    """Give memory that is kept for later Tensors back to the device."""
def device_wait(name) -> Any:
    """Until the device has done all that was asked of it."""
def die_with_parent(*args, **kwargs) -> Any:
    """die_with_parent(pipe, signal)"""
def event_create(name) -> Any:
    """A moment in a stream of a device, to be recorded."""
def event_elapsed(start, end) -> Any:
    """Milliseconds between two events that have come."""
def event_follow(event, stream) -> Any:
    """What the stream is asked from now on comes behind the event."""
def event_query(event) -> Any:
    """Has it come?"""
def event_record(event, stream) -> Any:
    """Now, in a stream; None: in the one this thread has set."""
def event_wait(event) -> Any:
    """Until it has come."""
def face_arguments(place, name) -> Any:
    """Arguments of one face."""
def face_map() -> Any:
    """The same as {place: {name: (callable, is_primitive)}}."""
def faces() -> Any:
    """Every function, method and primitive that the operator table declares."""
def file_encrypt(*args, **kwargs) -> Any:
    """file_encrypt(from, to, key, mode): any file as an encrypted one."""
def file_format(*args, **kwargs) -> Any:
    """file_format(path): name of the format, by the contents."""
def file_load(*args, **kwargs) -> Any:
    """file_load(path, format, crc, key=None, mode=None): a Bundle; format None: by the contents; crc: verify the checksum if there is one."""
def file_save(*args, **kwargs) -> Any:
    """file_save(path, entries, notes, format, crc, key=None, mode=None): write a list of (name, Tensor or str), replacing the file in one step; format None: by the end of the name."""
def file_snapshot(*args, **kwargs) -> Any:
    """file_snapshot(entries): the same list with the tensors copied, to be saved later."""
def from_dlpack(source) -> Any:
    """A Tensor on the memory of an object with __dlpack__."""
def function_abandon(function) -> Any:
    """Give up recording."""
def function_batch(function, size, args, variables, values) -> Any:
    """(results, whether each is batched, names of operators that ran slice by slice); a text when it cannot be done."""
def function_begin(graph, name, specs) -> Any:
    """Start recording; gives (function, parameters)."""
def function_call(callee, args, specs) -> Any:
    """Call a function value."""
def function_end(function, results) -> Any:
    """Finish with results."""
def function_end_call(function, callee, args) -> Any:
    """Finish with a call whose results are the function's."""
def function_grad(function, args, positions, variables, n_differentiated, seeds) -> Any:
    """Results, then gradients."""
def function_host(name, callable, args, specs, pure: Any = False) -> Any:
    """Code of Python, run each time the program gets there."""
def function_mark(function) -> Any:
    """A point to come back to."""
def function_recording() -> Any:
    """Innermost function, or None."""
def function_rollback(function, mark) -> Any:
    """Forget what came after."""
def function_size(tensor, axis) -> Any:
    """The size of a dimension of a symbol, as a symbol: a whole number that the run tells."""
def function_switch(cond, yes, no) -> Any:
    """Choose a function value."""
def function_value(function) -> Any:
    """The function as a value."""
def function_will_batch(function) -> Any:
    """While it is recorded: function_batch will be called."""
def function_writes(function, params) -> Any:
    """Has a variable, or one of these parameters, been written to while recording?"""
def generator_create() -> Any:
    """A new generator."""
def generator_default() -> Any:
    """The one of the process."""
def generator_get(generator) -> Any:
    """(seed, offset)"""
def generator_set(generator, seed, offset: Any = 0) -> Any:
    """Continue from there."""
def generator_state(generator, count) -> Any:
    """The same as a Tensor for an operator, drawn at run time in a program."""
def generator_take(generator, count) -> Any:
    """(seed, offset) for `count` numbers; the next one starts behind them."""
def grad_any_fetched() -> Any:
    """Are there some?"""
def grad_attach(*args, **kwargs) -> Any:
    """grad_attach(inputs, outputs, backward): outputs depend on inputs through backward(*dout)."""
def grad_backward(*args, **kwargs) -> Any:
    """grad_backward(outputs, seeds, targets, create_graph, reached=False): the gradients of the targets; reached: None, not zeros, for those that the outputs do not depend on."""
def grad_begin(*args, **kwargs) -> Any:
    """Switch recording on; it nests."""
def grad_contents(*args, **kwargs) -> Any:
    """What a tensor holds now, as numbers to compare."""
def grad_depends(outputs, target, through_host) -> Any:
    """Do outputs depend on it, and if so asked also by what Python computed?"""
def grad_detach(*args, **kwargs) -> Any:
    """The same value without history."""
def grad_end(*args, **kwargs) -> Any:
    """End one level of recording."""
def grad_fetched() -> Any:
    """(Tensor, place) of values with a history that Python took while gradients were recorded."""
def grad_hook_add(*args, **kwargs) -> Any:
    """Call a function with a tensor's gradient."""
def grad_hook_remove(*args, **kwargs) -> Any:
    """Take a hook off again."""
def grad_leaf_hooks(*args, **kwargs) -> Any:
    """Whether backward passes call the hooks of leaves; gives what was set before."""
def grad_node(*args, **kwargs) -> Any:
    """What made a tensor: (number, result, name of the operator or None, inputs), or None."""
def grad_pause(*args, **kwargs) -> Any:
    """Switch recording off; returns what grad_resume needs."""
def grad_possible(*args, **kwargs) -> Any:
    """Whether a tensor has a dtype that gradients exist for."""
def grad_recording(*args, **kwargs) -> Any:
    """Whether recording is on."""
def grad_resume(*args, **kwargs) -> Any:
    """Undo grad_pause."""
def grad_set_saver(*args, **kwargs) -> Any:
    """grad_set_saver((pack, unpack) or None): what is kept for gradients goes through these; gives those before."""
def grad_spend(*args, **kwargs) -> Any:
    """grad_spend(outputs): refuse further backward passes through what they were computed by."""
def grad_tracked(*args, **kwargs) -> Any:
    """Whether a tensor has a history."""
def grad_unwatch(*args, **kwargs) -> Any:
    """End one grad_watch."""
def grad_variable(*args, **kwargs) -> Any:
    """A new handle on a value to differentiate with respect to."""
def grad_watch(*args, **kwargs) -> Any:
    """Make a tensor a variable."""
def graph_create(keeps_sources: Any = False) -> Any:
    """A new graph; keeps_sources: operators without inputs are recorded in it."""
def graph_dot(graph) -> Any:
    """The graph as a drawing for Graphviz."""
def graph_parse(text) -> Any:
    """The graph that graph_text described."""
def graph_text(graph) -> Any:
    """The graph as text."""
def graph_variables(graph) -> Any:
    """The handle_id of each of its variables."""
def graph_writes(graph, parameter) -> Any:
    """Does the graph store to it?"""
def handle_id(tensor) -> Any:
    """The same for all objects around one Tensor."""
def handle_is_parameter(tensor) -> Any:
    """Is it a Parameter, or the symbol of one?"""
def handle_set(tensor, value) -> Any:
    """Give it another value, until the function ends."""
def handle_twin(tensor) -> Any:
    """Another Tensor of the same value and history."""
def handle_value(tensor) -> Any:
    """Another Tensor of the same value."""
def has_op(name) -> Any:
    """Is there an operator of this name?"""
def image_decode(*args, **kwargs) -> Any:
    """image_decode(data, mode=2): a picture file as an array."""
def image_encode(*args, **kwargs) -> Any:
    """image_encode('jpeg' or 'png', image, level): a picture file's bytes."""
def image_probe(*args, **kwargs) -> Any:
    """image_probe(data): format, height, width and channels of a picture file."""
def infer(op, inputs, attrs=None) -> Any:
    """Dtypes and shapes of the results without computing them; None for a composition."""
def initial(kind, count, seed, *arguments) -> Any:
    """Initial weights: 0 uniform (low, high), 1 normal (mean, deviation), 2 truncated (and low, high)."""
def is_floating(*args, **kwargs) -> Any:
    """Whether a tensor has a real floating-point dtype."""
def is_recorded(o) -> Any:
    """Is it a symbol or, while recording, a Parameter?"""
def is_symbol(o) -> Any:
    """Is it a Tensor without a value yet?"""
def job_abort(code, why) -> Any:
    """End all ranks of the job."""
def job_join() -> Any:
    """Become part of the job that a launcher started, or a job of one rank."""
def job_launched() -> Any:
    """Ranks that a launcher started, and the variable that says so."""
def job_leave() -> Any:
    """Leave the job."""
def job_transport() -> Any:
    """What carries the bytes between ranks."""
def long_long_arrays() -> Any:
    """From now on arrays of 64-bit integers have numpy's type 'longlong', as those of MindSpore."""
def mark_parameter(*args, **kwargs) -> Any:
    """Say that a tensor is a weight."""
def memory_fail_from(n) -> Any:
    """For tests: the n-th allocation of the engine from now fails, and all behind it; 0: none does. Returns how many failed."""
def memory_reset_peak() -> Any:
    """Peaks start again from now."""
def memory_set_limit(bytes) -> Any:
    """Most bytes to use; 0 for no limit."""
def memory_stats() -> Any:
    """Memory of the engine in bytes, now and at its peak."""
def memory_trim() -> Any:
    """Give cached blocks back to the system."""
def mix_ids(ids, seed) -> Any:
    """Permute an int64 array in place, as MindSpore's samplers do."""
def model_load(*args, **kwargs) -> Any:
    """model_load(path, format=None, key=None, mode=None): a Model; format None: by the contents."""
def model_load_memory(*args, **kwargs) -> Any:
    """model_load_memory(bytes, format=None): the same from memory."""
def model_save(*args, **kwargs) -> Any:
    """model_save(path, function, inputs, names, parameters, key=None, mode=None, outputs=None, others=None, axes=None, opset=0, flags=0, most_bytes=0, format=None, form=None): write MindIR, or ONNX when the path ends so."""
def op_table() -> Any:
    """Every operator of the engine as a dict."""
def outside_mark(tensor, on) -> Any:
    """When a recording writes it, it becomes a variable, and the write fails."""
def param_dtype_set(*args, **kwargs) -> Any:
    """Let weights enter operators in a float type (None: their own); returns the one before."""
def pipeline_arrays(*args, **kwargs) -> Any:
    """pipeline_arrays(columns, arrays, order=None)"""
def pipeline_concat(*args, **kwargs) -> Any:
    """pipeline_concat(list)"""
def pipeline_files(*args, **kwargs) -> Any:
    """pipeline_files(paths, columns, arrays, order=None)"""
def pipeline_parts(*args, **kwargs) -> Any:
    """pipeline_parts(paths, [file, begin, length], text, column, order=None)"""
def pipeline_record(*args, **kwargs) -> Any:
    """pipeline_record(reader, columns, order=None)"""
def pipeline_report(*args, **kwargs) -> Any:
    """pipeline_report(slow, other): functions of a text; one is told about rows that take long, the other what else users should know."""
def pipeline_source(*args, **kwargs) -> Any:
    """pipeline_source(function of a row's number, count, columns, order=None, processes=0)"""
def pipeline_stream(*args, **kwargs) -> Any:
    """pipeline_stream(function of epoch and row, columns, buckets=False)"""
def pipeline_texts(*args, **kwargs) -> Any:
    """pipeline_texts(encode, decode, arrays, tensors): how texts become arrays and back, and what readers of arrays and of Tensors get for dicts."""
def pipeline_zip(*args, **kwargs) -> Any:
    """pipeline_zip(list)"""
def place_line(line, text) -> Any:
    """The line that is recorded now."""
def place_pop() -> Any:
    """Leave the frame."""
def place_push(file, line, function, text) -> Any:
    """Enter a frame of the source."""
def precision_is_mixed(*args, **kwargs) -> Any:
    """Whether weights or inputs of operators are cast on this thread."""
def precision_lists(*args, **kwargs) -> Any:
    """precision_lists(half, low, high): operators that compute in half, or in float32."""
def precision_lists_set(*args, **kwargs) -> Any:
    """Let precision_lists (None: none) count on this thread; returns those before."""
def profile_add(kind, name, begin_ns, end_ns) -> Any:
    """An event of one's own."""
def profile_count() -> Any:
    """Events there are, and events for which there was no room."""
def profile_resume() -> Any:
    """Go on after a stop."""
def profile_rows(by_line) -> Any:
    """(kind, name, file, line, count, total_ns, self_ns), those that took longest first."""
def profile_start(max_events, package) -> Any:
    """Record what runs when; package: the folder whose files are not the user's."""
def profile_stop() -> Any:
    """Record no more."""
def profile_write(path) -> Any:
    """The recording as a trace in JSON."""
def program_cache(folder, most_bytes: Any = 0) -> Any:
    """Keep compiled programs there; '': do not."""
def program_cost(program) -> Any:
    """What a run costs this rank, predicted, as JSON."""
def program_create(function, off=None, fast: Any = False, save_graphs: Any = '', save_level: Any = 0, splits=None, split_results: Any = False, stages: Any = 1, scheduler=None, search: Any = 0) -> Any:
    """Compile; with splits, for this rank's slices."""
def quantize(*args, **kwargs) -> Any:
    """quantize(model, give, options): a Quantized; give(i) tells sample i, options are those of sp_quant_options in order."""
def recording() -> Any:
    """Is a function being recorded on this thread?"""
def run_transforms(*args, **kwargs) -> Any:
    """run_transforms(transforms, columns, seed=0, row=0): the columns after all of them."""
def stream_create(name) -> Any:
    """One more queue of a device."""
def stream_query(stream) -> Any:
    """Is all of it done?"""
def stream_set(name, stream) -> Any:
    """Where this thread's calls on a device go; None: its first queue."""
def stream_wait(stream) -> Any:
    """Until all of it is done."""
def symbol_id(o) -> Any:
    """Number of the value a symbol stands for now, or -1."""
def symbol_shape(tensor) -> Any:
    """Shape, -1 where known at run time only."""
def symbol_shared(o) -> Any:
    """May other Tensors share its memory in eager mode?"""
def tensor_device(tensor) -> Any:
    """Name of the device a Tensor lies on."""
def tensor_elsewhere(tensor) -> Any:
    """Whether other stages of a pipeline have the contents alone."""
def tensor_grid(tensor) -> Any:
    """Sizes of the grid of ranks and the axis that each dimension splits, -1 for none; None: not split."""
def tensor_mark_slice(tensor, parts) -> Any:
    """The Tensor is this rank's slice of one that each `parts` ranks share."""
def tensor_move(tensor, name) -> Any:
    """Let the Tensor itself lie on a device."""
def tensor_restore(tensor, dtype, shape, data) -> Any:
    """Give a new Tensor its contents from bytes."""
def tensor_set_grid(tensor, sizes, axes) -> Any:
    """Programs made from now on have the Tensor in slices over this grid of ranks."""
def tensor_slice_like(whole, like) -> Any:
    """This rank's slice of a Tensor, split as another one is."""
def tensor_split(tensor) -> Any:
    """Shape as a whole and slices of each axis, of a Tensor that is split over ranks; else None."""
def tensor_spread(tensor, owner, parts) -> Any:
    """Let split programs keep a slice of a Tensor on each rank; owner: its Parameter, or itself."""
def tensor_to(tensor, name) -> Any:
    """The Tensor on a device."""
def tensor_whole(tensor) -> Any:
    """The slices of all ranks put together; all ranks call it."""
def threads() -> Any:
    """Threads one operator may use."""
def threads_set(n) -> Any:
    """Set the number of threads."""
def to_dlpack(tensor, *, stream=None, max_version=None, dl_device=None, copy=None) -> Any:
    """A DLPack capsule on the Tensor's memory."""
def transform_names(*args, **kwargs) -> Any:
    """transform_names(): what the engine has."""
def type_name(value) -> Any:
    """The type of a value as messages give it: with its package where that is another one."""
def variable_mark(tensor) -> Any:
    """Programs read and write it like a Parameter."""
def worker_serve(*args, **kwargs) -> Any:
    """worker_serve(socket, memory, how, function, prepare, pack)"""
def written_handles() -> Any:
    """Tensors from before this function that it wrote to."""

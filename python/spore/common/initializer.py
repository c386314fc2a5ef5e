# SPDX-License-Identifier: Apache-2.0
"""Initial values of Parameters.

`initializer('normal',
             shape)` answers a Tensor without memory that remembers how to fill itself; a Parameter made of it runs the
initializer, or `init_data()` does. A class of one's own derives from Initializer and writes `_initialize(arr)`.
"""
import math

from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype

__all__ = ['Initializer', 'initializer', 'TruncatedNormal', 'Normal', 'Uniform', 'HeUniform', 'HeNormal',
           'XavierUniform',
           'XavierNormal', 'One', 'Zero', 'Constant', 'Identity', 'Sparse', 'Dirac', 'Orthogonal', 'VarianceScaling']

_INITIALIZER_ALIAS = {}


def _register(*aliases):
    """Make a class known by its name in lower case and by other names."""
    def decorate(cls):
        for name in (cls.__name__.lower(),) + aliases:
            _INITIALIZER_ALIAS[name] = cls
        return cls
    return decorate


# --- random numbers -----------------------------------------------------------------------------------------------

def _numpy_seed():
    """The seed of one array of initial values: drawn from numpy's global state, which set_seed sets, as MindSpore draws it."""
    import numpy as np
    return int(np.random.randint(1, 1 << 63, dtype=np.int64))


def _initial(kind, shape, *arguments):
    return _core.initial(kind, math.prod(shape), _numpy_seed(), *arguments).asnumpy().reshape(shape)


def _init_random_uniform(a, b, shape):
    return _initial(0, shape, a, b)


def _init_random_normal(mean, sigma, shape):
    return _initial(1, shape, mean, sigma)


def _init_truncated_normal(a, b, mean, sigma, shape):
    """Normal numbers inside [a, b], which are values and not multiples of sigma."""
    return _initial(2, shape, mean, sigma, a, b)


def _assignment(arr, num):
    """Write numbers over an array, or over the only element of one without dimensions."""
    arr[...] = num
    return arr


# --- fans and gains ---------------------------------------------------------------------------------------------------

def _calculate_fan_in_and_fan_out(shape):
    """Numbers that go into and come out of one unit."""
    if len(shape) < 2:
        raise ValueError(f"fan_in and fan_out need at least 2 dimensions, but the shape has {len(shape)}")
    area = math.prod(shape[2:])
    return shape[1] * area, shape[0] * area


_calculate_in_and_out = _calculate_fan_in_and_fan_out


def _calculate_correct_fan(shape, mode):
    if mode not in ('fan_in', 'fan_out'):
        raise ValueError(f"mode must be 'fan_in' or 'fan_out', but got {mode!r}")
    fans = _calculate_fan_in_and_fan_out(shape)
    return fans[mode == 'fan_out']


def _calculate_gain(nonlinearity, param=None):
    """How much an activation shrinks its input's spread."""
    if nonlinearity in ('linear', 'conv1d', 'conv2d', 'conv3d', 'conv_transpose1d', 'conv_transpose2d',
                        'conv_transpose3d',
                        'sigmoid'):
        return 1
    if nonlinearity == 'tanh':
        return 5.0 / 3
    if nonlinearity == 'relu':
        return math.sqrt(2.0)
    if nonlinearity == 'leaky_relu':
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope must be a number, but got {slope!r}")
        return math.sqrt(2.0 / (1 + slope ** 2))
    raise ValueError(f"nonlinearity must be one of ['sigmoid', 'tanh', 'relu', 'leaky_relu', 'linear', 'conv2d', ...], "
                     f"but got {nonlinearity!r}")


# --- initializers -----------------------------------------------------------------------------------------------------

class Initializer:
    """Base of all initializers. `_initialize(arr)` fills the numpy array arr."""

    def __init__(self, **kwargs):
        self._kwargs = kwargs
        self._seed = None

    @property
    def seed(self):
        """Seed of this one alone, or None."""
        return self._seed

    @seed.setter
    def seed(self, value):
        self._seed = value

    def _initialize(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__}: _initialize(arr) is not written")

    def __call__(self, arr):
        return self._initialize(arr)

    def __repr__(self):
        values = ', '.join(f'{k}={v!r}' for k, v in self._kwargs.items())
        return f'{type(self).__name__}({values})'


@_register('zeros')
class Zero(Initializer):
    """All zeros."""

    def _initialize(self, arr):
        arr[...] = 0


@_register('ones')
class One(Initializer):
    """All ones."""

    def _initialize(self, arr):
        arr[...] = 1


class Constant(Initializer):
    """One number everywhere."""

    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def _initialize(self, arr):
        import numpy as np
        value = self.value.asnumpy() if isinstance(self.value, Tensor) else np.asarray(self.value)
        if value.size != 1:
            raise ValueError(f"Constant: value must be one number, but got {value.size}")
        arr[...] = value.reshape(())


@_register()
class Normal(Initializer):
    """Normal numbers with standard deviation sigma."""

    def __init__(self, sigma=0.01, mean=0.0):
        super().__init__(sigma=sigma, mean=mean)
        self.sigma = sigma
        self.mean = mean

    def _initialize(self, arr):
        arr[...] = _init_random_normal(self.mean, self.sigma, arr.shape)


@_register()
class TruncatedNormal(Initializer):
    """Normal numbers between a and b."""

    def __init__(self, sigma=0.01, mean=0.0, a=-2.0, b=2.0):
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma = sigma
        self.mean = mean
        self.a = a
        self.b = b

    def _initialize(self, arr):
        arr[...] = _init_truncated_normal(self.a, self.b, self.mean, self.sigma, arr.shape)


@_register()
class Uniform(Initializer):
    """Uniform numbers between -scale and scale."""

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _initialize(self, arr):
        arr[...] = _init_random_uniform(-self.scale, self.scale, arr.shape)


class _UniformOfNumpy(Uniform):
    """The same drawn by numpy itself, number by number, as MindSpore's recurrent layers draw theirs."""

    def _initialize(self, arr):
        import numpy as np
        arr[...] = np.random.uniform(-self.scale, self.scale, arr.shape)


@_register('xavier_uniform')
class XavierUniform(Initializer):
    """Uniform numbers whose variance is gain**2 * 2 / (fan_in + fan_out)."""

    def __init__(self, gain=1):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr):
        bound = self.gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(arr.shape)))
        arr[...] = _init_random_uniform(-bound, bound, arr.shape)


@_register('xavier_normal')
class XavierNormal(Initializer):
    """Normal numbers whose variance is gain**2 * 2 / (fan_in + fan_out)."""

    def __init__(self, gain=1):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr):
        sigma = self.gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(arr.shape)))
        arr[...] = _init_random_normal(0, sigma, arr.shape)


class _He(Initializer):
    def __init__(self, negative_slope=0, mode='fan_in', nonlinearity='leaky_relu'):
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope = negative_slope
        self.mode = mode
        self.nonlinearity = nonlinearity

    def _sigma(self, shape):
        return _calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(_calculate_correct_fan(shape,
            self.mode))


@_register('he_uniform')
class HeUniform(_He):
    """Uniform numbers whose variance is gain**2 / fan."""

    def _initialize(self, arr):
        bound = math.sqrt(3.0) * self._sigma(arr.shape)
        arr[...] = _init_random_uniform(-bound, bound, arr.shape)


@_register('he_normal')
class HeNormal(_He):
    """Normal numbers whose variance is gain**2 / fan."""

    def _initialize(self, arr):
        arr[...] = _init_random_normal(0, self._sigma(arr.shape), arr.shape)


@_register()
class VarianceScaling(Initializer):
    """Numbers whose variance is scale / fan."""

    def __init__(self, scale=1.0, mode='fan_in', distribution='truncated_normal'):
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if scale <= 0:
            raise ValueError(f"VarianceScaling: scale must be positive, but got {scale}")
        if mode not in ('fan_in', 'fan_out', 'fan_avg'):
            raise ValueError(f"VarianceScaling: mode must be 'fan_in', 'fan_out' or 'fan_avg', but got {mode!r}")
        if distribution not in ('uniform', 'truncated_normal', 'untruncated_normal'):
            raise ValueError("VarianceScaling: distribution must be 'uniform', 'truncated_normal' or "
                             "'untruncated_normal', "
                             f"but got {distribution!r}")
        self.scale = scale
        self.mode = mode
        self.distribution = distribution

    def _initialize(self, arr):
        fan_in, fan_out = _calculate_in_and_out(arr.shape)
        fan = {'fan_in': fan_in, 'fan_out': fan_out, 'fan_avg': (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == 'truncated_normal':
            sigma = math.sqrt(variance) / 0.87962566103423978  # what cutting at two deviations leaves of one
            arr[...] = _init_truncated_normal(-2 * sigma, 2 * sigma, 0.0, sigma, arr.shape)
        elif self.distribution == 'untruncated_normal':
            arr[...] = _init_random_normal(0, math.sqrt(variance), arr.shape)
        else:
            bound = math.sqrt(3.0 * variance)
            arr[...] = _init_random_uniform(-bound, bound, arr.shape)


@_register()
class Orthogonal(Initializer):
    """A matrix with orthogonal rows or columns, times gain."""

    def __init__(self, gain=1.0):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr):
        import numpy as np
        gain = self.gain             # looked at when it is needed: programs make an Orthogonal of a Parameter and forget it
        if isinstance(gain, Tensor) and gain.size == 1:
            gain = gain.asnumpy().item()
        if isinstance(gain, bool) or not isinstance(gain, (int, float)):
            raise TypeError(f"Orthogonal: gain must be a number, but got {_type_name(gain)}")
        if arr.ndim < 2:
            raise ValueError(f"Orthogonal: at least 2 dimensions are needed, but the shape has {arr.ndim}")
        rows = arr.shape[0]
        columns = math.prod(arr.shape[1:])
        flat = _init_random_normal(0, 1, (rows, columns)).astype(np.float64)
        q, r = np.linalg.qr(flat.T if rows < columns else flat)
        q *= np.sign(np.diag(r))  # makes the choice uniform among orthogonal matrices
        arr[...] = (gain * (q.T if rows < columns else q)).reshape(arr.shape)


@_register()
class Identity(Initializer):
    """Ones on the diagonal of a matrix."""

    def _initialize(self, arr):
        import numpy as np
        if arr.ndim != 2:
            raise ValueError(f"Identity: a matrix is wanted, but the shape has {arr.ndim} dimensions")
        arr[...] = np.eye(*arr.shape)


@_register()
class Dirac(Initializer):
    """Convolution weights that pass their input on, in each of `groups` groups."""

    def __init__(self, groups=1):
        super().__init__(groups=groups)
        self.groups = groups

    def _initialize(self, arr):
        if isinstance(self.groups, bool) or not isinstance(self.groups, int) or self.groups <= 0:
            raise ValueError(f"Dirac: groups must be a positive int, but got {self.groups!r}")
        if arr.ndim not in (3, 4, 5):
            raise ValueError(f"Dirac: 3, 4 or 5 dimensions are wanted, but the shape has {arr.ndim}")
        if arr.shape[0] % self.groups:
            raise ValueError(f"Dirac: the first dimension {arr.shape[0]} is not a multiple of groups {self.groups}")
        arr[...] = 0
        per_group = arr.shape[0] // self.groups
        middle = tuple(n // 2 for n in arr.shape[2:])
        for group in range(self.groups):
            for i in range(min(per_group, arr.shape[1])):
                arr[(group * per_group + i, i) + middle] = 1


@_register()
class Sparse(Initializer):
    """A matrix of normal numbers with the fraction `sparsity` of every column zero."""

    def __init__(self, sparsity, sigma=0.01):
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity = sparsity
        self.sigma = sigma

    def _initialize(self, arr):
        if arr.ndim != 2:
            raise ValueError(f"Sparse: a matrix is wanted, but the shape has {arr.ndim} dimensions")
        import numpy as np
        arr[...] = _init_random_normal(0, self.sigma, arr.shape)
        for column in range(arr.shape[1]):
            arr[np.random.permutation(arr.shape[0])[:math.ceil(self.sparsity * arr.shape[0])], column] = 0


# --- making tensors ---------------------------------------------------------------------------------------------------

def _run(tensor, init, shape):
    """Fill the memory of a Tensor that waits for its initializer."""
    import numpy as np
    dtype = tensor.dtype
    array = np.empty(shape, mstype.dtype_to_nptype(dtype))
    before = None
    if init.seed is not None:
        before = np.random.get_state()
        np.random.seed(init.seed % 2 ** 32)
    try:
        init(array)
    finally:
        if before is not None:
            np.random.set_state(before)
    made = Tensor(array)   # memory of its own, aligned for kernels, that no array shows
    if dtype == mstype.bfloat16:
        made = _core.apply('cast', (made,), {'dtype': dtype})
    tensor._rebind(made)


def initializer(init, shape=None, dtype=mstype.float32):
    """A Tensor that init fills: a name like 'normal', a number, an Initializer, or a Tensor, which is answered as it
    is."""
    if isinstance(init, Tensor):
        if shape is not None and tuple(init.shape) != _checked_shape(shape):
            raise ValueError(f"initializer: the Tensor has shape {init.shape}, but shape is {tuple(shape)}")
        return init
    if isinstance(init, str):
        cls = _INITIALIZER_ALIAS.get(init.lower())
        if cls is None:
            raise ValueError(f"initializer: there is no initializer {init!r}; known are {sorted(_INITIALIZER_ALIAS)}")
        init = cls()
    elif isinstance(init, (int, float)):
        init = Constant(init)
    elif not isinstance(init, Initializer):
        raise TypeError("initializer: init must be a Tensor, a number, a name or an Initializer, "
                        f"but got {init!r} of type {_type_name(init)}")
    return Tensor(shape=_checked_shape(shape), dtype=dtype, init=init)


def _checked_shape(shape):
    if isinstance(shape, int) and not isinstance(shape, bool):
        shape = (shape,)
    if not isinstance(shape, (tuple, list)):
        raise TypeError(f"initializer: shape must be an int, tuple or list, but got {_type_name(shape)}")
    for n in shape:
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ValueError(f"initializer: shape must hold positive integers, but got {tuple(shape)}")
    return tuple(shape)

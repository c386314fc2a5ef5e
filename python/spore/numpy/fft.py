# SPDX-License-Identifier: Apache-2.0
"""numpy.fft on Tensors: the Fourier transforms of spore.ops by numpy's argument names."""
from spore import ops
from spore.numpy._convert import tensor as as_tensor

_LINES = ('fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft')
__all__ = [*_LINES, *(name + '2' for name in _LINES), *(name + 'n' for name in _LINES), 'fftshift', 'ifftshift', 'fftfreq', 'rfftfreq']


def _along(name):
    """Along one axis."""
    def transform(a, n=None, axis=-1, norm=None):
        return getattr(ops, name)(as_tensor(a), n, axis, norm)
    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f'numpy.fft.{name} of a Tensor, along one axis.'
    return transform


def _over(name, default):
    """Over several axes."""
    def transform(a, s=None, axes=default, norm=None):
        return getattr(ops, name)(as_tensor(a), s, axes, norm)
    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f'numpy.fft.{name} of a Tensor, over several axes.'
    return transform


for _name in _LINES:
    globals()[_name] = _along(_name)
    globals()[_name + '2'] = _over(_name + '2', (-2, -1))
    globals()[_name + 'n'] = _over(_name + 'n', None)
del _name


def fftshift(x, axes=None):
    """The zero frequency in the middle.

    Examples:
        >>> import spore.numpy as np
        >>> print(np.fft.fftshift(np.arange(5)))
        [3 4 0 1 2]
    """
    return ops.fftshift(as_tensor(x), axes)


def ifftshift(x, axes=None):
    """The zero frequency back in front.

    Examples:
        >>> import spore.numpy as np
        >>> print(np.fft.ifftshift(np.fft.fftshift(np.arange(5))))
        [0 1 2 3 4]
    """
    return ops.ifftshift(as_tensor(x), axes)


def fftfreq(n, d=1.0, dtype=None):
    """The frequencies of fft's results.

    Examples:
        >>> import spore.numpy as np
        >>> print(np.fft.fftfreq(4))
        [ 0.    0.25 -0.5  -0.25]
    """
    return ops.fftfreq(n, d, dtype)


def rfftfreq(n, d=1.0, dtype=None):
    """The frequencies of rfft's results.

    Examples:
        >>> import spore.numpy as np
        >>> print(np.fft.rfftfreq(4))
        [0.   0.25 0.5 ]
    """
    return ops.rfftfreq(n, d, dtype)

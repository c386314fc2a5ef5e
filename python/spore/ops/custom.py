# SPDX-License-Identifier: Apache-2.0
"""Custom: an operator written by the user as a Python function over numpy arrays, with a gradient of its own."""
import numpy as np

from spore._core import Tensor
from spore.common.differentiate import no_grad, with_gradient
from spore.ops.primitive import Primitive

__all__ = ["Custom", "kernel", "ms_kernel"]

_PYTHON_TYPES = ("pyfunc", "hybrid", "julia")


class Custom(Primitive):
    """Run a Python function as an operator.

    Args:
        func: function of numpy arrays that returns an array or a tuple of arrays.
        out_shape: shape(s) of the results, or a function of the input shapes; checked against what func returns.
        out_dtype: dtype(s) of the results, or a function of the input dtypes; results are converted to them.
        func_type: "pyfunc" or "hybrid" (both run the Python function).
        bprop: ``bprop(*inputs, out, dout)`` with Tensors, gives one gradient per input; None: no gradient passes.

    Examples:
        >>> import spore as ms
        >>> from spore import ops
        >>> double = ops.Custom(lambda x: x * 2, lambda s: s, lambda d: d, "pyfunc", lambda x, out, dout: (dout * 2,))
        >>> print(double(ms.Tensor([1.0, 2.0])))
        [2. 4.]
    """

    def __init__(self, func, out_shape=None, out_dtype=None, func_type="hybrid", bprop=None, reg_info=None):
        super().__init__("Custom")
        if func_type not in _PYTHON_TYPES or not callable(func):
            raise ValueError(f"Custom: func_type must be 'pyfunc' or 'hybrid' with a Python function, but got {func_type!r} with "
                             f"a {type(func).__name__}; compiled kernels are not available yet")
        if bprop is not None and not callable(bprop):
            raise TypeError(f"Custom: bprop must be a function or None, but got {type(bprop).__name__}")
        self.func, self.out_shape, self.out_dtype, self.bprop = func, out_shape, out_dtype, bprop

    def __call__(self, *args):
        args = tuple(a if isinstance(a, Tensor) else Tensor(a) for a in args)
        if self.bprop is None:
            with no_grad():
                return self._run(*args)
        return with_gradient(self._run, lambda inputs, out, dout: self.bprop(*inputs, out, dout), args)

    def _run(self, *tensors):
        arrays = self.func(*[t.asnumpy() for t in tensors])
        several = isinstance(arrays, (tuple, list))
        arrays = [np.asarray(a) for a in (arrays if several else [arrays])]
        shapes = self._expected(self.out_shape, [t.shape for t in tensors], len(arrays), several)
        dtypes = self._expected(self.out_dtype, [t.dtype for t in tensors], len(arrays), several)
        results = []
        for i, (array, shape, dtype) in enumerate(zip(arrays, shapes, dtypes)):
            if shape is not None and tuple(shape) != array.shape:
                raise ValueError(f"Custom: result {i} of the function has shape {array.shape}, but out_shape says {tuple(shape)}")
            results.append(Tensor(array, dtype=dtype))
        return tuple(results) if several else results[0]

    @staticmethod
    def _expected(rule, inputs, n, several):
        if rule is None:
            return [None] * n
        value = rule(*inputs) if callable(rule) and not isinstance(rule, type(inputs[0]) if inputs else ()) else rule
        return list(value) if several else [value]


def kernel(fn=None, reg_info=None, compile_attrs=None):
    """Mark a function for ``Custom``; it stays a Python function.

    Examples:
        >>> from spore import ops

    Examples:
        >>> from spore import ops
        >>> @ops.kernel
        ... def twice(x):
        ...     return x * 2
        ...
        >>> twice(21)
        42
    """
    return fn if fn is not None else (lambda f: f)


ms_kernel = kernel

# SPDX-License-Identifier: Apache-2.0
"""Custom: an operator written by the user, as a Python function over numpy arrays or in C, with a gradient of its own."""
import numpy as np

from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.common.differentiate import unrecorded
from spore.common.own_gradient import with_gradient
from spore.ops.primitive import Primitive

__all__ = ["Custom", "kernel", "ms_kernel"]

_PYTHON_TYPES = ("pyfunc", "hybrid", "julia")


class Custom(Primitive):
    """Run a function of the user as an operator.

    Args:
        func: for "pyfunc" and "hybrid" a function of numpy arrays that returns an array or a tuple of arrays. For "aot" a text
            "path:name" of a function in a shared library, or in a source file of C or C++, which is compiled: ``int name(int nparam,
            void **params, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra)``. Inputs come first,
            then the results, which it writes; it returns 0.
        out_shape: shape(s) of the results, or a function of the input shapes; "aot" needs it, otherwise it is checked.
        out_dtype: dtype(s) of the results, or a function of the input dtypes; results are converted to them.
        func_type: "pyfunc", "hybrid" (both run the Python function) or "aot".
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
        if func_type not in (*_PYTHON_TYPES, "aot"):
            raise ValueError(f"For 'Custom', 'func_type': {func_type}, 'func': {func}, 'func_type' must be one of ['hybrid', 'aot', "
                             f"'pyfunc'], but got {func_type}")
        if func_type == "aot" and not isinstance(func, str):
            raise TypeError(f"For 'Custom', 'func_type': aot, 'func': {func}, 'func' must be of type str, but got {type(func)}")
        if func_type != "aot" and not callable(func):
            raise TypeError(f"For 'Custom', 'func_type': {func_type}, 'func': {func}, 'func' must be a function, but got {type(func)}")
        if func_type == "aot" and (out_shape is None or out_dtype is None):
            raise ValueError("Custom: out_shape and out_dtype must be given for func_type 'aot': the function writes into memory of that size")
        if bprop is not None and not callable(bprop):
            raise TypeError(f"Custom: bprop must be a function or None, but got {_type_name(bprop)}")
        self.func, self.func_type, self.out_shape, self.out_dtype, self.bprop = func, func_type, out_shape, out_dtype, bprop
        self._compiled = None
        if func_type == "aot":
            from spore.ops import _aot  # late: what compiles and loads libraries takes as long to import as half of this package
            self._compiled = _aot.load(func)

    def __call__(self, *args) -> Tensor:
        args = tuple(a if isinstance(a, Tensor) else Tensor(a) for a in args)
        if self.bprop is None:
            with unrecorded():
                return self._run(*args)
        return with_gradient(self._run, lambda inputs, out, dout: self.bprop(*inputs, out, dout), args)

    def _run(self, *tensors):
        if any(_core.is_symbol(t) for t in tensors) and self.out_shape is not None and self.out_dtype is not None and all(
                n >= 0 for t in tensors for n in _core.symbol_shape(t)):
            return self._as_node(tensors)
        results, several = self._from_library(tensors) if self._compiled else self._from_python(tensors)
        return tuple(results) if several else results[0]

    def _as_node(self, tensors):
        """While a program is captured: a step of it that calls the function."""
        specs, several = self._declared(tensors)

        def run(values):
            results = self._run(*values)
            return list(results) if several else [results]
        results = _core.function_host("Custom", run, list(tensors), specs, False)
        return tuple(results) if several else results[0]

    def _from_library(self, tensors):
        specs, several = self._declared(tensors)
        inputs = [np.ascontiguousarray(t.asnumpy()) for t in tensors]
        outputs = self._compiled(inputs, [np.empty(shape, mstype.dtype_to_nptype(dtype)) for dtype, shape in specs])
        return [Tensor(a) for a in outputs], several

    def _from_python(self, tensors):
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
        return results, several

    def _declared(self, tensors):
        """[(dtype, shape)] of the results as out_shape and out_dtype tell them, and whether there are several."""
        shapes = self._asked(self.out_shape, [t.shape for t in tensors])
        dtypes = self._asked(self.out_dtype, [t.dtype for t in tensors])
        several = isinstance(dtypes, (tuple, list))
        shapes, dtypes = (shapes, dtypes) if several else ([shapes], [dtypes])
        if len(shapes) != len(dtypes):
            raise ValueError(f"Custom: out_shape tells of {len(shapes)} results, but out_dtype of {len(dtypes)}")
        return [(dtype, tuple(shape)) for dtype, shape in zip(dtypes, shapes)], several

    @staticmethod
    def _asked(rule, inputs):
        return rule(*inputs) if callable(rule) and not isinstance(rule, type(inputs[0]) if inputs else ()) else rule

    def _expected(self, rule, inputs, n, several):
        if rule is None:
            return [None] * n
        value = self._asked(rule, inputs)
        return list(value) if several else [value]


def kernel(fn=None, reg_info=None, compile_attrs=None):
    """Mark a function for ``Custom``; it stays a Python function.

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

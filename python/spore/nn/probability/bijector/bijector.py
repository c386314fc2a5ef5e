# SPDX-License-Identifier: Apache-2.0
"""The class every bijector derives from. A subclass adds its parameters and writes `_forward`, `_inverse`,
`_forward_log_jacobian` and `_inverse_log_jacobian`, as far as it has them."""
import numpy as np

from spore import _checkparam as check
from spore.common import dtype as mstype
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.probability import _parameters as given

__all__ = ["Bijector"]


class Bijector(Cell):
    """An invertible function y = g(x).

    Called with a distribution, it gives the distribution of g(x). Called with the name of one of its functions, it gives the
    answer of that.

    Args:
        is_constant_jacobian: whether the derivative is the same everywhere. Default False.
        is_injective: whether no two x have the same y. Default True.
        name: a name of its own. Default the name of the class.
        dtype: the only dtype it takes. Default None: any floating point type.
        param: the parameters as they were given; "param_dict" in it names those that are numbers.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability import bijector
        >>> class Twice(bijector.Bijector):
        ...     def __init__(self):
        ...         super().__init__(name="Twice", param={})
        ...     def _forward(self, x):
        ...         return 2 * x
        >>> print(Twice().forward(ms.Tensor([1.0, 2.0])))
        [2. 4.]
    """

    def __init__(self, is_constant_jacobian=False, is_injective=True, name=None, dtype=None, param=None):
        super().__init__()
        check.check_value_type("name", name, [type(None), str], type(self).__name__)
        check.check_value_type("is_constant_jacobian", is_constant_jacobian, [bool], name)
        check.check_value_type("is_injective", is_injective, [bool], name)
        if dtype is not None and not given.is_float(dtype):
            raise TypeError(f"For '{type(self).__name__}', dtype must be a floating point type, but got {dtype}")
        param = dict(param or {})
        self._name, self._dtype = name or type(self).__name__, dtype
        self._is_constant_jacobian, self._is_injective = is_constant_jacobian, is_injective
        self._parameters = {key: value for key, value in param.items() if key not in ("self", "__class__")}
        self._named = dict(param.get("param_dict", {}))
        self.default_parameters, self.parameter_names = [], []
        self.common_dtype = self._check_types()

    def _check_types(self):
        """The dtype of the parameters. Numbers without one of their own must be of floating point too."""
        for name, value in self._named.items():
            if value is None:
                raise TypeError(f"{name} cannot be None: a number, list, numpy.ndarray or Tensor is wanted")
            kind = value.dtype.is_floating_point if isinstance(value, Tensor) else np.asarray(value).dtype.kind == "f"
            if not kind and not isinstance(value, str):
                raise TypeError(f"For '{self._name}', the dtype of {name} must be a floating point type, but got {value!r}")
        return given.common_type(self._named, self._dtype)

    def _add_parameter(self, value, name):
        """Keep a parameter, as a Tensor, for the properties and functions."""
        tensor = given.tensor_of(value, self.common_dtype or mstype.float32, name)
        self.parameter_names.append(name)
        self.default_parameters.append(tensor)
        return tensor

    name = property(lambda self: self._name, doc="The name given, or that of the class.")
    dtype = property(lambda self: self._dtype, doc="The only dtype taken, or None.")
    parameters = property(lambda self: self._parameters, doc="The parameters as they were given.")
    is_constant_jacobian = property(lambda self: self._is_constant_jacobian, doc="Whether the derivative is the same everywhere.")
    is_injective = property(lambda self: self._is_injective, doc="Whether no two x have the same y.")

    @property
    def batch_shape(self):
        """The shape of all parameters together."""
        return given.broadcast_shape(self.default_parameters) or ()

    @property
    def is_scalar_batch(self):
        """Whether every parameter is a single number."""
        return self.batch_shape == ()

    def extend_repr(self):
        if not self.is_scalar_batch:
            return f"batch_shape = {self.batch_shape}"
        return ", ".join(f"{name} = {value}" for name, value in zip(self.parameter_names, self.default_parameters))

    def cast_param_by_value(self, value, para):
        """A parameter in the dtype of the value it meets."""
        return para.astype(value.dtype)

    def _check_value_dtype(self, value):
        given.is_tensor(value, "input value of bijector")
        if not value.dtype.is_floating_point or (self._dtype is not None and value.dtype != self._dtype):
            wanted = self._dtype or "a floating point type"
            raise TypeError(f"For input value of bijector {self._name}, the dtype must be {wanted}, but got {value.dtype}")
        return value

    def _answer(self, hook, value, args, kwargs):
        function = getattr(self, hook, None)
        if function is None:
            raise NotImplementedError(f"{hook[1:]} is not implemented for bijector {self._name}")
        return function(self._check_value_dtype(value), *args, **kwargs)

    def forward(self, value, *args, **kwargs):
        """y of x."""
        return self._answer("_forward", value, args, kwargs)

    def inverse(self, value, *args, **kwargs):
        """x of y."""
        return self._answer("_inverse", value, args, kwargs)

    def forward_log_jacobian(self, value, *args, **kwargs):
        """The logarithm of the derivative of y at x."""
        return self._answer("_forward_log_jacobian", value, args, kwargs)

    def inverse_log_jacobian(self, value, *args, **kwargs):
        """The logarithm of the derivative of x at y."""
        return self._answer("_inverse_log_jacobian", value, args, kwargs)

    def __call__(self, *args, **kwargs):
        from spore.nn.probability.distribution import Distribution, TransformedDistribution
        if args and isinstance(args[0], Distribution):
            return TransformedDistribution(self, args[0])
        return super().__call__(*args, **kwargs)

    def construct(self, name, *args, **kwargs):
        if name not in ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian"):
            raise ValueError(f"bijector {self._name}: a distribution, 'forward', 'inverse', 'forward_log_jacobian' or "
                             f"'inverse_log_jacobian' is wanted, but got {name!r}")
        return getattr(self, name)(*args, **kwargs)

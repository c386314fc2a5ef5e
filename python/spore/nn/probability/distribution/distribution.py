# SPDX-License-Identifier: Apache-2.0
"""The class every distribution derives from, and the one place where arguments are looked at.

A subclass writes hooks, `_log_prob`, `_mean` and so on. A function whose own hook is missing is made of another's: _WAYS. The
decorators `of_value`, `of_parameters`, `of_two` and `of_shape` turn a formula into a hook: the formula gets Tensors of the right
dtype, and every parameter, whether it was given at the call or to the constructor.
"""
import functools

from spore._core import type_name as _type_name
from spore import _checkparam as check
from spore import ops
from spore.common import dtype as mstype
from spore.common.tensor import Tensor
from spore.nn.cell import Cell
from spore.nn.probability import _parameters as given

__all__ = ["Distribution"]


def _itself(x):
    return x


def _rest(x):
    return 1.0 - x


def _rest_of_exp(x):
    return -ops.expm1(x)


def _log_of_rest(x):
    return ops.log(1.0 - x)


def _log_of_rest_of_exp(x):
    return ops.log(-ops.expm1(x))


# Function: the hooks that can answer it, best first, each with what makes the function's answer of the hook's.
_WAYS = {
    "prob": (("_prob", _itself), ("_log_prob", ops.exp)),
    "log_prob": (("_log_prob", _itself), ("_prob", ops.log)),
    "cdf": (("_cdf", _itself), ("_log_cdf", ops.exp), ("_survival_function", _rest), ("_log_survival", _rest_of_exp)),
    "survival_function": (("_survival_function", _itself), ("_log_survival", ops.exp), ("_cdf", _rest), ("_log_cdf", _rest_of_exp)),
    "log_cdf": (("_log_cdf", _itself), ("_cdf", ops.log), ("_survival_function", _log_of_rest),
                ("_log_survival", _log_of_rest_of_exp)),
    "log_survival": (("_log_survival", _itself), ("_survival_function", ops.log), ("_cdf", _log_of_rest),
                     ("_log_cdf", _log_of_rest_of_exp)),
    "sd": (("_sd", _itself), ("_var", ops.sqrt)),
    "var": (("_var", _itself), ("_sd", ops.square)),
    **{name: ((f"_{name}", _itself),) for name in ("mean", "mode", "entropy", "kl_loss", "cross_entropy", "sample", "get_dist_args",
                                                   "get_dist_type")},
}


def of_value(formula):
    """A hook of a value: formula(self, value, *parameters)."""
    @functools.wraps(formula)
    def hook(self, value, *args, **kwargs):
        return formula(self, self._check_value(value, "value").astype(self.parameter_type), *self._given(args, kwargs))
    return hook


def of_parameters(formula):
    """A hook of the parameters alone, which are broadcast: formula(self, *parameters)."""
    @functools.wraps(formula)
    def hook(self, *args, **kwargs):
        parameters = self._given(args, kwargs)
        shape = given.broadcast_shape(parameters)
        return formula(self, *(p if p.shape == shape else ops.broadcast_to(p, shape) for p in parameters))
    return hook


def of_two(formula):
    """A hook of this and a second distribution of its kind: formula(self, *parameters, *parameters of the second)."""
    @functools.wraps(formula)
    def hook(self, dist, *args, **kwargs):
        if dist != self._get_dist_type():
            raise ValueError(f"Expected dist input is {self._get_dist_type()}, but got {dist}.")
        names = [f"{name}_b" for name in self.parameter_names]
        second = dict(zip(names, args))
        second.update((name, kwargs.pop(name)) for name in names if name in kwargs)
        missing = [name for name in names if name not in second]
        if missing:
            raise TypeError(f"{formula.__name__[1:]}: the second distribution lacks {', '.join(missing)}")
        second = [given.is_tensor(second[name], name).astype(self.parameter_type) for name in names]
        return formula(self, *self._given(args[len(names):], kwargs), *second)
    return hook


def of_shape(formula):
    """A hook that draws: formula(self, shape, *parameters), where the shape has that of the parameters at its end."""
    @functools.wraps(formula)
    def hook(self, shape=(), *args, **kwargs):
        if not isinstance(shape, tuple):
            raise TypeError(f"For shape, input type must be a tuple, but got {_type_name(shape)}: {shape!r}")
        parameters = self._given(args, kwargs)
        return formula(self, shape + self._event_batch(given.broadcast_shape(parameters)), *parameters).astype(self.dtype)
    return hook


class Distribution(Cell):
    """A distribution of numbers.

    Every function takes the parameters of the distribution as further arguments, in their order or by name; those that are not
    given are the ones of the constructor. Called with the name of a function, it gives the answer of that.

    Args:
        seed: of the samples; None and 0 follow the global seed.
        dtype: of the samples.
        name: a name of its own.
        param: the parameters as they were given; "param_dict" in it names those of the distribution.

    Examples:
        >>> import spore as ms
        >>> from spore.nn.probability.distribution import Distribution
        >>> class Ramp(Distribution):
        ...     def __init__(self):
        ...         super().__init__(0, ms.float32, "Ramp", {})
        ...     def _prob(self, value):
        ...         return 2 * value
        ...     def _cdf(self, value):
        ...         return value * value
        >>> print(Ramp().survival_function(ms.Tensor([0.5])))
        [0.75]
    """
    _labels = {}  # parameter: what it is called when the distribution is printed, where that is not its name
    _floats_only = True

    def __init__(self, seed, dtype, name, param):
        super().__init__()
        kind = type(self).__name__
        check.check_value_type("name", name, [str], kind)
        if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
            raise TypeError(f"For '{kind}', the 'seed' must be int, but got '{_type_name(seed)}'")
        if seed is not None and seed < 0:
            raise ValueError(f"For '{kind}', the 'seed' must not be negative, but got {seed}")
        self._name, self._seed, self._dtype = name, seed or 0, dtype
        self._parameters = {key: value for key, value in param.items() if key not in ("self", "__class__")}
        self.default_parameters, self.parameter_names = [], []
        hint = dtype if given.is_float(dtype) else mstype.float32
        self.parameter_type = given.common_type(param.get("param_dict", {}), hint)

    def _add_parameter(self, value, name):
        """Keep a parameter, as a Tensor, for the functions and properties."""
        tensor = given.tensor_of(value, self.parameter_type, name)
        self.parameter_names.append(name)
        self.default_parameters.append(tensor)
        return tensor

    name = property(lambda self: self._name, doc="The name given, or that of the class.")
    dtype = property(lambda self: self._dtype, doc="The dtype of samples.")
    seed = property(lambda self: self._seed, doc="The seed of samples.")
    parameters = property(lambda self: self._parameters, doc="The parameters as they were given.")

    @property
    def batch_shape(self):
        """The shape of all parameters together; None when they are given at calls."""
        return None if any(p is None for p in self.default_parameters) else given.broadcast_shape(self.default_parameters)

    @property
    def broadcast_shape(self):
        """The shape of what functions of the parameters give."""
        return self.batch_shape

    @property
    def is_scalar_batch(self):
        """Whether every parameter is a single number, or given at calls."""
        return not self.batch_shape

    def extend_repr(self):
        if not self.is_scalar_batch:
            return f"batch_shape = {self.broadcast_shape}"
        return ", ".join(f"{self._labels.get(name, name)} = {value}" for name, value in zip(self.parameter_names, self.default_parameters))

    # --- arguments ---------------------------------------------------------------------------------------------------

    def _event_batch(self, shape):
        """The shape of one sample for parameters of this shape."""
        return shape or ()

    def _check_value(self, value, name):
        return given.is_tensor(value, name)

    def _check_param_type(self, *args):
        """The parameters to use, of those given at a call, None where the constructor's is meant. A single one stands alone."""
        chosen = []
        for name, own, value in zip(self.parameter_names, self.default_parameters, args):
            if value is None and own is None:
                raise TypeError(f"{name} was given neither to the constructor of {self._name} nor at the call: pass a Tensor")
            chosen.append((own if value is None else self._check_value(value, name)).astype(self.parameter_type))
        return chosen[0] if len(chosen) == 1 else chosen

    def _given(self, args, kwargs):
        names = self.parameter_names
        unknown = [name for name in kwargs if name not in names[len(args):]]
        if len(args) > len(names) or unknown:
            raise TypeError(f"{self._name} has the parameters {', '.join(names)}, but got {len(args)} by position"
                            + (f" and {', '.join(unknown)} by name" if unknown else ""))
        chosen = self._check_param_type(*args, *(kwargs.get(name) for name in names[len(args):]))
        return [chosen] if len(names) == 1 else chosen

    def _uniform(self, shape, open_at_zero=False):
        """Numbers in [0, 1), or in (0, 1) for formulas that have no answer at 0."""
        drawn = ops.uniform(shape, Tensor(0.0, mstype.float32), Tensor(1.0, mstype.float32), self._seed or None)
        return (ops.maximum(drawn, 1.1754944e-38) if open_at_zero else drawn).astype(self.parameter_type)

    # --- functions ---------------------------------------------------------------------------------------------------

    def _answer(self, function, *args, **kwargs):
        for hook, finish in _WAYS[function]:
            if hasattr(self, hook):
                return finish(getattr(self, hook)(*args, **kwargs))
        raise NotImplementedError(f"{function} is not implemented for {self._name} distribution.")

    def prob(self, value, *args, **kwargs):
        """The density at a value, or its probability where values are discrete."""
        return self._answer("prob", value, *args, **kwargs)

    def log_prob(self, value, *args, **kwargs):
        """The logarithm of prob."""
        return self._answer("log_prob", value, *args, **kwargs)

    def cdf(self, value, *args, **kwargs):
        """The probability of a sample that is not above the value."""
        return self._answer("cdf", value, *args, **kwargs)

    def log_cdf(self, value, *args, **kwargs):
        """The logarithm of cdf."""
        return self._answer("log_cdf", value, *args, **kwargs)

    def survival_function(self, value, *args, **kwargs):
        """The probability of a sample above the value."""
        return self._answer("survival_function", value, *args, **kwargs)

    def log_survival(self, value, *args, **kwargs):
        """The logarithm of survival_function."""
        return self._answer("log_survival", value, *args, **kwargs)

    def mean(self, *args, **kwargs):
        """The mean."""
        return self._answer("mean", *args, **kwargs)

    def sd(self, *args, **kwargs):
        """The standard deviation."""
        return self._answer("sd", *args, **kwargs)

    def var(self, *args, **kwargs):
        """The variance."""
        return self._answer("var", *args, **kwargs)

    def mode(self, *args, **kwargs):
        """The value of the highest prob."""
        return self._answer("mode", *args, **kwargs)

    def entropy(self, *args, **kwargs):
        """The entropy, in nats."""
        return self._answer("entropy", *args, **kwargs)

    def kl_loss(self, dist, *args, **kwargs):
        """The Kullback-Leibler divergence from this distribution to a second: its kind by name, its parameters, then, if others
        than the constructor's are meant, those of this one."""
        return self._answer("kl_loss", dist, *args, **kwargs)

    def cross_entropy(self, dist, *args, **kwargs):
        """The entropy and the divergence to a second distribution together; arguments as in kl_loss."""
        return self._answer("cross_entropy", dist, *args, **kwargs)

    def sample(self, *args, **kwargs):
        """Numbers of the distribution: of the shape given, a tuple, for each element of the parameters."""
        return self._answer("sample", *args, **kwargs)

    def get_dist_args(self, *args, **kwargs):
        """The parameters as Tensors."""
        return self._answer("get_dist_args", *args, **kwargs)

    def get_dist_type(self):
        """The kind of the distribution, by name."""
        return self._answer("get_dist_type")

    def construct(self, name, *args, **kwargs):
        if name not in _WAYS:
            raise NotImplementedError(f"{name} is not implemented for {self._name} distribution.")
        if name == "get_dist_type":
            return self.get_dist_type()              # whatever its parameters
        return getattr(self, name)(*args, **kwargs)


class Family(Distribution):
    """A distribution known by a few numbers.

    `_positive` names those that must be above zero, each with the words for it; `_arrays` those that cannot be single numbers."""
    _positive = {}
    _arrays = ()

    def __init__(self, seed, dtype, name, parameters):
        kind = type(self).__name__
        if not (given.is_float(dtype) or (not self._floats_only and dtype in mstype.int_type + mstype.uint_type)):
            raise TypeError(f"For '{kind}', the 'dtype' must be a floating point type{'' if self._floats_only else ' or an integer type'}, "
                            f"but got {dtype!r}")
        param = {**parameters, "seed": seed, "dtype": dtype, "name": name, "param_dict": dict(parameters)}
        super().__init__(seed, dtype, name, param)
        for key, value in parameters.items():
            if key in self._arrays and isinstance(value, (int, float)):
                raise TypeError(f"{kind}: {key} can't be a single number: pass [{value}]")
            tensor = self._add_parameter(value, key)
            setattr(self, f"_{key}_value", tensor)  # a Parameter is found here when the network is trained
            if key in self._positive:
                given.all_hold(tensor, lambda x: x > 0, f"{self._positive[key]} must be greater than zero")
        given.broadcast_shape(self.default_parameters)  # refuses shapes that do not go together

    def _get_dist_type(self):
        return type(self).__name__

    def _get_dist_args(self, *args, **kwargs):
        return tuple(self._given(args, kwargs))

    def _cross_entropy(self, dist, *args, **kwargs):
        if not hasattr(self, "_kl_loss"):
            raise NotImplementedError(f"cross_entropy is not implemented for {self._name} distribution.")
        divergence = self._kl_loss(dist, *args, **kwargs)
        own = {key: value for key, value in kwargs.items() if not key.endswith("_b")}
        by_name = sum(1 for key in kwargs if key.endswith("_b"))
        return self._entropy(*args[len(self.parameter_names) - by_name:], **own) + divergence

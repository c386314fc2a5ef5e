# SPDX-License-Identifier: Apache-2.0
"""Primitives: operators as objects, made once and called often, with the names and attributes user code touches.

Classes of the operator table are made by `table_class`; operators whose arguments need Python, and primitives that
users write themselves, subclass Primitive.
"""
import ast
import functools
import inspect

from .. import _core
from . import _arguments
from .._alias import module_of
from .._compat import positional as _positional
from .._not_done import shard_not_done
from spore._core import Tensor, type_name as _type_name

__all__ = ["Primitive", "PrimitiveWithInfer", "PrimitiveWithCheck", "prim_attr_register", "prim_arg_register",
           "constexpr"]


class Registry:
    """Functions by the name or class of a primitive."""

    def __init__(self):
        self._functions = {}

    def register(self, prim):
        """Decorate a function that makes what computes a primitive."""
        def decorate(function):
            self._functions[self._key(prim)] = function
            return function
        return decorate

    def get(self, prim_obj):
        """What was registered for a primitive, or None."""
        return self._functions.get(self._key(prim_obj))

    @staticmethod
    def _key(prim):
        return prim if isinstance(prim, str) else (prim.__name__ if isinstance(prim, type) else prim.name)


bprop_getters = Registry()  # gradients of primitives that users write


class Primitive:
    """An operator with its attributes. `Primitive("Add")` finds the operator of that name when it is called."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        _arguments.guard(cls)

    def __init__(self, name):
        state = self.__dict__
        state["name"] = name
        state["attrs"] = {}
        state["init_attrs"] = {"name": name}
        state["instance_name"] = ""
        state["in_strategy"] = state["out_strategy"] = None

    @property
    def update_parameter(self):
        """Whether the operator writes to its inputs."""
        return bool(self.attrs.get("side_effect_mem", False))

    def add_prim_attr(self, name, value):
        """Keep an attribute, readable as a Python attribute too."""
        self.__dict__[name] = value
        self.attrs[name] = value
        if name == "primitive_target":
            self._pin(value)
        return self

    def _pin(self, target):
        """Run on a device that is here; marks for others are kept, as for scripts of other machines."""
        if not isinstance(target, str):
            raise TypeError(f"primitive_target of {self.name} must be a str, but got {_type_name(target)}")
        from spore.common.tensor import device_kinds
        if (target == "CPU" or target.split(":")[0] in device_kinds()) and not isinstance(self, _Placed):
            self.__class__ = _placed(type(self))

    def del_prim_attr(self, name):
        """Drop an attribute that add_prim_attr kept."""
        self.__dict__.pop(name, None)
        self.attrs.pop(name, None)
        return self

    def set_prim_instance_name(self, instance_name):
        """Name this instance, for messages and graphs."""
        self.instance_name = instance_name
        return self

    add_attr, set_instance_name = add_prim_attr, set_prim_instance_name

    def del_attr(self, name):
        """Drop an attribute."""
        return self.del_prim_attr(name)

    def get_attr_dict(self):
        """The attributes, by name."""
        return self.attrs

    def set_signatures(self, signatures):
        """Accepted: what operators may do to their inputs is known here."""

    def set_user_data(self, key, value):
        """Keep a value of one's own."""
        self.__dict__.setdefault("_user_data", {})[key] = value

    def get_user_data(self, key):
        """A value kept by set_user_data, or None."""
        return self.__dict__.get("_user_data", {}).get(key)

    def init_prim_io_names(self, inputs, outputs):
        """Name inputs and outputs."""
        self.add_prim_attr("input_names", inputs)
        self.add_prim_attr("output_names", outputs)

    def shard(self, in_strategy=None, out_strategy=None):
        """How the inputs (and outputs) are split over processes, in functions compiled with parallel_mode "semi_auto_parallel".

        Args:
            in_strategy: for each Tensor a tuple with the number of slices of each axis, or a Layout.
            out_strategy: the same for results.
        """
        from spore.parallel._sharding import check_strategy
        check_strategy(self.name, in_strategy, out_strategy)
        for which, strategy in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
            self.__dict__[which] = strategy
            if strategy is not None:
                self.attrs[which] = strategy
        if in_strategy is not None and not issubclass(type(self), _Sharded):
            self.__class__ = _sharded(type(self))
        shard_not_done("Primitive", in_strategy, out_strategy)
        return self

    def set_device(self, device_target):
        """Run on this device ('CPU', or one that a library of devices has brought): inputs are brought there, results to where new Tensors are made."""
        return self.add_prim_attr("primitive_target", device_target)

    def set_stage(self, stage):
        """Put the operator into a pipeline stage."""
        return self.add_prim_attr("stage", stage)

    def recompute(self, mode=True):
        """Whether to compute the result again in the backward pass instead of keeping it."""
        if not isinstance(mode, bool):
            raise TypeError(f"mode of recompute must be a bool, but got {_type_name(mode)}")
        if mode and not issubclass(type(self), _Recomputing):
            self.__class__ = _recomputing(type(self))
        return self.add_prim_attr("recompute", mode)

    def place(self, role, rank_id):
        """Ask for a process to run on."""
        self.add_prim_attr("ms_role", role)
        self.add_prim_attr("rank_id", rank_id)

    def check_elim(self, *args):
        """Primitives that can answer at once override this: (True, value)."""
        return False, None

    def __call__(self, *args, **kwargs) -> Tensor:
        construct = getattr(self, "construct", None)
        if construct is not None:
            return self._with_own_gradient(construct, args, kwargs)
        return self._of_table()(*args, **kwargs)

    def _with_own_gradient(self, run, args, kwargs):
        """run(*args, **kwargs), whose gradient is the one that bprop_getters has for this primitive, if it has one."""
        maker = bprop_getters.get(self)
        if maker is None:
            return run(*args, **kwargs)
        from spore.common.differentiate import call
        from spore.common.own_gradient import with_gradient
        return with_gradient(lambda *given: run(*given, **kwargs),
                             lambda inputs, out, dout: call(maker(self), (*inputs, out, dout)), args)

    def _of_table(self):
        """The operator of the table with this name, given those of our attributes that it knows."""
        run = self.__dict__.get("_found")
        if run is None:
            from .. import ops
            cls = getattr(ops, self.name, None)
            if not (isinstance(cls, type) and issubclass(cls, Primitive)) or cls is type(self):
                raise NotImplementedError(
                    f"primitive {self.name!r} has no implementation: no operator has that name, and it has no construct method")
            known = inspect.signature(cls).parameters
            run = self.__dict__["_found"] = cls(**{k: v for k, v in self.attrs.items() if k in known})
        return run

    def __repr__(self):
        shown = ", ".join(f"{k}={v}" for k, v in self.attrs.items() if not k.endswith("put_names"))
        return f"Prim[{self.name}]<{shown}>" if shown else f"Prim[{self.name}]"


class _Recomputing:
    """Primitives that keep their inputs for the gradient and nothing else: what it needs besides is computed again.

    A class of its own, so that calls of other primitives need not ask.
    """

    def __call__(self, *args, **kwargs) -> Tensor:
        if not self.attrs.get("recompute") or not _core.grad_recording():
            return super().__call__(*args, **kwargs)
        from spore.common.recompute import run
        return run(super().__call__, [], args, kwargs)


class _Placed:
    """Primitives that run on a device of their own (primitive_target). A class of its own, as above."""

    def __call__(self, *args, **kwargs) -> Tensor:
        target = self.attrs.get("primitive_target")
        home = _core.device_default()
        target = "cpu" if target in (None, "CPU") else target
        if target == home:
            return super().__call__(*args, **kwargs)

        def bring(value, device):
            if isinstance(value, _core.Tensor):
                return _core.tensor_to(value, device)
            if isinstance(value, (tuple, list)):
                return type(value)(bring(v, device) for v in value)
            return value
        if self.update_parameter:  # what it writes to stays where it is
            return super().__call__(*args, **kwargs)
        result = super().__call__(*[bring(a, target) for a in args], **{k: bring(v, target) for k, v in kwargs.items()})
        return bring(result, home)


@functools.cache
def _placed(cls):
    return type(cls.__name__, (_Placed, cls), {"__module__": cls.__module__, "__doc__": cls.__doc__, "__reduce__": lambda self: (
        _placed_again, (cls, self.__dict__))})


def _placed_again(cls, state):
    made = Primitive.__new__(_placed(cls))
    made.__dict__.update(state)
    return made


@functools.cache
def _recomputing(cls):
    return type(cls.__name__, (_Recomputing, cls), {"__module__": cls.__module__, "__doc__": cls.__doc__, "__reduce__": lambda self: (
        _made_again, (cls, self.__dict__))})


def _made_again(cls, state):
    made = Primitive.__new__(_recomputing(cls))
    made.__dict__.update(state)
    return made


class _Sharded:
    """Primitives whose inputs are to be split in a given way; a class of its own for the same reason."""

    def __call__(self, *args, **kwargs) -> Tensor:
        from spore.parallel import _sharding
        if self.__dict__.get("in_strategy") is None or not _sharding.recording():
            return super().__call__(*args, **kwargs)
        made = super().__call__(*_sharding.constrain(self.name, args, self.in_strategy), **kwargs)
        out = self.__dict__.get("out_strategy")
        return made if out is None else _sharding.constrain(self.name, made, out)


@functools.cache
def _sharded(cls):
    return type(cls.__name__, (_Sharded, cls), {"__module__": cls.__module__, "__doc__": cls.__doc__, "__reduce__": lambda self: (
        _sharded_again, (cls, self.__dict__))})


def _sharded_again(cls, state):
    made = Primitive.__new__(_sharded(cls))
    made.__dict__.update(state)
    return made


class PrimitiveWithCheck(Primitive):
    """Base of user primitives that check their inputs (`__check__`).

    Examples:
        >>> from spore import ops
        >>> class Scale(ops.PrimitiveWithCheck):
        ...     @ops.prim_attr_register
        ...     def __init__(self, factor):
        ...         pass
        ...
        >>> Scale(3).factor
        3
    """


class PrimitiveWithInfer(Primitive):
    """Base of user primitives with infer methods. `vm_impl`, when there is one, computes from arrays.

    Examples:
        >>> from spore import Tensor, ops
        >>> class Twice(ops.PrimitiveWithInfer):
        ...     @ops.prim_attr_register
        ...     def __init__(self):
        ...         pass
        ...     def vm_impl(self, x):
        ...         return x * 2
        ...
        >>> print(Twice()(Tensor([1.0, 2.0])))
        [2. 4.]
    """

    def __call__(self, *args, **kwargs) -> Tensor:
        compute = getattr(self, "vm_impl", None)
        if compute is None:
            return super().__call__(*args, **kwargs)

        def run(*given, **named):
            result = compute(*[a.asnumpy() if isinstance(a, _core.Tensor) else a for a in given], **named)
            if isinstance(result, (tuple, list)):
                return tuple(_core.Tensor(r) for r in result)
            return _core.Tensor(result)
        return self._with_own_gradient(run, args, kwargs)


def prim_attr_register(fn):
    """Decorate `__init__` of a primitive: its arguments become attributes.

    Examples:
        >>> from spore import ops
        >>> class Scale(ops.Primitive):
        ...     @ops.prim_attr_register
        ...     def __init__(self, factor=2.0):
        ...         pass
        ...
        >>> Scale(factor=3.0).factor
        3.0
    """
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def init(self, *args, **kwargs):
        Primitive.__init__(self, type(self).__name__)
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            self.add_prim_attr(name, value)
            self.init_attrs[name] = value
        return fn(self, *args, **kwargs)
    return init


def prim_arg_register(fn):
    """Like prim_attr_register, for arguments that are passed on with every call.

    Examples:
        >>> from spore import ops
        >>> class Scale(ops.Primitive):
        ...     @ops.prim_arg_register
        ...     def __init__(self, factor=2.0):
        ...         pass
        ...
        >>> Scale(factor=3.0).factor
        3.0
    """
    return prim_attr_register(fn)


# --- classes of the table --------------------------------------------------------------------------------------------

def _literal(text):
    if text is None:
        return inspect.Parameter.empty
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return getattr(_core, text, text)  # a dtype


def table_class(name, bind, place="ops"):
    """The class of a primitive that an operator of the table declares; bind checks the constructor's arguments."""
    init = _core.face_arguments(place, name)[0]
    names = [row[0] for row in init]
    defaults = [_literal(row[1]) for row in init]
    empty = inspect.Parameter.empty

    def __init__(self, *args, **kwargs):
        run = bind(*args, **kwargs)  # first: it checks the arguments
        Primitive.__init__(self, name)
        state, attrs = self.__dict__, self.attrs
        state["_run"] = run
        for i, key in enumerate(names):
            state[key] = attrs[key] = args[i] if i < len(args) else kwargs.get(key, defaults[i])

    def __call__(self, *args, **kwargs):
        if kwargs:
            args, kwargs = _positional(name, args, kwargs)
        return self._run(*args, **kwargs)

    def __reduce__(self):
        return type(self), tuple(self.attrs[k] for k in names)

    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return type(name, (Primitive,), {
        "__init__": __init__, "__call__": __call__, "__reduce__": __reduce__, "__module__": module_of(f"spore.{place}", name), "__doc__": bind.__doc__,
        "__signature__": inspect.Signature([inspect.Parameter(k, kinds, default=empty if d is empty else d)
                                            for k, d in zip(names, defaults)])})


def _run_op(obj, op_name, args):
    """Run a primitive on its arguments: what Primitive.__call__ comes to, for classes that replace it."""
    return Primitive.__call__(obj, *args)


# --- functions that run while a graph is made ------------------------------------------------------------------------

def constexpr(fn=None, get_instance=True, name=None, reuse_result=True, check=True):
    """Mark a function of constants. Its arguments are Python values already, so calling it is all there is to do."""
    def decorate(function):
        class CompileOp(Primitive):
            """A function of constants."""
            def __init__(self):
                Primitive.__init__(self, name or function.__name__)
                self.set_const_prim = True
                functools.update_wrapper(self, function)

            def __call__(self, *args, **kwargs):
                return function(*args, **kwargs)
        return CompileOp() if get_instance else CompileOp
    return decorate if fn is None else decorate(fn)


_primexpr = constexpr

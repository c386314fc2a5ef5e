# SPDX-License-Identifier: Apache-2.0
"""Parameter: a named Tensor that training changes."""
import itertools
from typing import Any

from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype

__all__ = ['Parameter', 'ParameterTuple']

PARAMETER_NAME_DEFAULT = 'Parameter'
PARAMETER_NAME_PREFIX_MAX_LEN = 1024
_unnamed = itertools.count(2)  # MindSpore takes the first number for itself


def is_default_name(name):
    """Whether a Parameter got this name because it was given none."""
    return name.startswith(PARAMETER_NAME_DEFAULT) and name[len(PARAMETER_NAME_DEFAULT):][:1] in ('', '#')


def _default_name():
    return f'{PARAMETER_NAME_DEFAULT}#{next(_unnamed)}'


class ParamInfo:
    """What is known about a Parameter besides its contents."""

    def __init__(self):
        self.name = PARAMETER_NAME_DEFAULT
        self.requires_grad = True
        self.layerwise_parallel = False
        self.parallel_optimizer = True
        self.parallel_optimizer_comm_recompute = False
        self.comm_fusion = 1
        self.cache_enable = False
        self.cache_shape = []
        self.requires_aggr = True
        self.key = -1
        self.init_in_server = False
        self.use_persistent_storage = False
        self.origin_shape = []
        self.is_pipeline_shared_param = False
        self.is_param_init = False
        self.param_strategy = None
        self.tensor_map = None

    @property
    def parameter_shape(self):
        """Shape before it was split over devices."""
        return self.origin_shape

    @parameter_shape.setter
    def parameter_shape(self, shape):
        self.origin_shape = shape

    def clone(self):
        """A copy."""
        made = ParamInfo()
        made.__dict__.update(self.__dict__)
        made.cache_shape = list(self.cache_shape)
        return made


def _info(name, doc, check=None, least=None):
    """A property that lives in the parameter's ParamInfo."""
    def get(self):
        return getattr(self.param_info, name)

    def put(self, value):
        if check is not None and not isinstance(value, check):
            raise TypeError(f"Parameter: {name} must be a {check.__name__}, but got {_type_name(value)}")
        if least is not None and value < least:
            raise ValueError(f"Parameter: {name} must be at least {least}, but got {value}")
        setattr(self.param_info, name, value)
    return property(get, put, doc=doc)


def _checked_name(name):
    if name is None or name == '':
        return _default_name()
    if not isinstance(name, str):
        raise ValueError(f"Parameter: name must be a str or None, but got {_type_name(name)}")
    name = name.strip()
    if name == '':
        return _default_name()
    if len(name) > PARAMETER_NAME_PREFIX_MAX_LEN:
        raise ValueError(f"Parameter: the name has {len(name)} characters, at most {PARAMETER_NAME_PREFIX_MAX_LEN} "
                         "are possible")
    return name


_keys = itertools.count()


def _get_unique_parameter_key():
    """A number that no other Parameter of the process was given."""
    return next(_keys)


class Parameter(Tensor):
    """A Tensor with a name that training changes.

    Args:
        default_input: a Tensor (copied), an array, a list or a number.
        name: its name; a Cell it is assigned to gives it one if there is none.
        requires_grad: does training change it?
        layerwise_parallel: is it excluded from averaging in data-parallel training?
        parallel_optimizer: may its optimizer state be split over devices?
        storage_format: layout on a device.
        device: where it lives, 'CPU' or None.
    """

    __module__ = 'spore.common.parameter'

    def __init__(self, default_input: Any, name: str | None = None, requires_grad: bool = True, layerwise_parallel: bool = False,
                 parallel_optimizer: bool = True, storage_format: str = '', device: str | None = None):
        if isinstance(default_input, bool):
            raise ValueError("Parameter data can not be `bool`")
        if isinstance(default_input, tuple):
            raise TypeError("The type of the argument 'default_input' must be in ['Tensor', 'int', 'float', 'numpy.ndarray', 'list']. But "
                            "got type tuple.")
        if isinstance(default_input, Tensor):
            source = default_input
            if source.has_init:
                self.init_mode = source
                source = source.init_data()
                super().__init__(source)
            elif source._has_memory or getattr(source, '_waits', False):
                super().__init__(source._plain_copy())
            else:
                super().__init__(source)
        elif isinstance(default_input, bool) or not isinstance(default_input, int):
            super().__init__(default_input, device=device)
        else:
            super().__init__(default_input, mstype.int32, device=device)
        if self._has_memory:
            _core.mark_parameter(self)
        self.param_info = ParamInfo()
        self.param_info.name = _checked_name(name)
        self.requires_grad = requires_grad
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer
        if not isinstance(storage_format, str):
            raise TypeError(f"Parameter: storage_format must be a str, but got {_type_name(storage_format)}")
        self.is_default_input_init = isinstance(default_input, Tensor) and 'init_mode' in self.__dict__

    # what instances have until something sets it
    init_mode = None
    is_in_parallel = False
    is_default_input_init = False
    _inited_param = None
    _sliced = False
    _unique = False
    _cast_type = None
    _pipeline_stage_list = ()

    requires_grad = _info('requires_grad', 'Does training change it?', bool)
    layerwise_parallel = _info('layerwise_parallel', 'Is it excluded from averaging over devices?', bool)
    parallel_optimizer = _info('parallel_optimizer', 'May its optimizer state be split over devices?', bool)
    parallel_optimizer_comm_recompute = _info('parallel_optimizer_comm_recompute',
                                              'Is the gathering of its parts repeated in the backward pass?', bool)
    comm_fusion = _info('comm_fusion', 'Number of the bucket its gradient is communicated in.', int, 0)
    cache_enable = _info('cache_enable', 'Is it kept in a cache?', bool)
    cache_shape = _info('cache_shape', 'Shape of that cache.')
    requires_aggr = _info('requires_aggr', 'Is its gradient averaged over devices?', bool)
    key = _info('key', 'Number of it on a parameter server, -1 for none.', int)

    @property
    def name(self):
        """Its name."""
        return self.param_info.name

    @name.setter
    def name(self, name):
        self.param_info.name = _checked_name(name)

    @property
    def inited_param(self):
        """The Parameter this one was replaced by during initialisation, or None."""
        return self._inited_param

    @property
    def sliced(self):
        """Does it hold one device's part only?"""
        return self._sliced

    @sliced.setter
    def sliced(self, value):
        self._sliced = value

    @property
    def unique(self):
        """Is it used by one operator only?"""
        return self._unique

    @unique.setter
    def unique(self, value):
        self._unique = value

    @property
    def data(self):
        """Its contents as a Tensor on the same memory."""
        return self._alias()

    @data.setter
    def data(self, value):
        self.set_data(value)

    def value(self):
        """Its contents as a Tensor of their own; gradients go through it."""
        return _core.apply("copy", (self,))

    def __repr__(self):
        return (f'Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype}, '
                f'requires_grad={self.requires_grad})')

    __str__ = __repr__

    def __parameter__(self):
        """Marks Parameters for code that must not import this class."""

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return Tensor.__eq__(self, other)

    def init_data(self, layout=None, set_sliced=False):
        """Run an initializer that has not run; answers the Parameter itself."""
        if self._waits:
            self._rebind(self._waiting.read())
            self._waiting = None
            _core.mark_parameter(self)
        elif self.has_init and not self._has_memory:
            Tensor.init_data(self)
            _core.mark_parameter(self)
        return self

    def _wait_for(self, waiting, dtype, shape):
        """Have this dtype and shape now and the contents that waiting.read() gives when they are first used."""
        Tensor.__init__(self, shape=shape, dtype=dtype, init=waiting)
        self.init = None
        self._waiting = waiting

    @property
    def _waits(self):
        """Are the contents still somewhere else, see _wait_for?"""
        return self.__dict__.get('_waiting') is not None and not self._has_memory

    def set_data(self, data, slice_shape=False):
        """Replace the contents; they are converted to this dtype, the shape may change. Answers the Parameter."""
        if not isinstance(data, (Tensor, int, float)):
            raise TypeError(f"set_data: a Tensor, int or float is wanted for Parameter '{self.name}', "
                            f"but got {_type_name(data)}")
        if not isinstance(data, Tensor):
            data = Tensor(data, self.dtype)
        elif data.has_init and not data._has_memory:
            data = data.init_data()
        if data.dtype != self.dtype:
            kinds = [t.is_floating_point or t.is_complex for t in (data.dtype, self.dtype)]
            if kinds[0] and not kinds[1]:
                raise TypeError(f"set_data: Parameter '{self.name}' has dtype {self.dtype}, which cannot hold "
                                f"{data.dtype} without loss")
            data = _core.apply('cast', (data._alias(),), {'dtype': self.dtype})
        elif isinstance(data, Parameter) or data.shape == self.shape:
            data = data._plain_copy()
        from spore import context   # which imports this module's neighbours
        split = _core.tensor_split(self) if context._ranks() > 1 and self._has_memory and not _core.recording() else None
        if split is not None and _core.tensor_elsewhere(self):
            return self     # the stage of a pipeline that has it takes it
        if split is not None and data.shape != self.shape:
            if data.shape != split[0]:
                raise ValueError(f"set_data: Parameter '{self.name}' has shape {split[0]}, of which this process has a slice of shape "
                                 f"{self.shape}, but got {data.shape}")
            data = _core.tensor_slice_like(data, self)
        self._rebind(data)
        return self

    def load(self):
        """Bring contents that were moved away back; they never are."""

    def clone(self, init='same'):
        """A new Parameter of this name and shape: 'same' contents, or those an initializer makes."""
        if isinstance(init, str) and init == 'same':
            contents = self._plain_copy()
        else:
            from spore.common.initializer import initializer
            split = _core.tensor_grid(self) and _core.tensor_split(self)    # a state of an optimizer is split like it when it is first used
            contents = initializer(init, split[0] if split else self.shape, self.dtype)
        made = Parameter(contents, name=self.name)
        made.param_info = self.param_info.clone()
        made._copy_marks(self)
        place = _core.tensor_device(self)
        if place != _core.tensor_device(made) and made.init is None and self.init is None:
            _core.tensor_move(made, place)
        return made

    def _copy_marks(self, other):
        """What another Parameter was told by code that uses it; not its hooks, nor its handles."""
        for key, value in other.__dict__.items():
            if key not in ('param_info', 'init', 'init_mode', '_hooks', '_init_flag'):
                self.__dict__[key] = value

    def copy(self):
        """A new Parameter with the same contents."""
        return self.clone()

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memodict):
        made = self.clone()
        if isinstance(memodict, dict):
            memodict[id(self)] = made
        return made

    def register_hook(self, hook_fn):
        """Call `hook_fn(grad)` when its gradient is computed; a Tensor it returns replaces the gradient."""
        return Tensor.register_hook(self, hook_fn)

    def add_pipeline_stage(self, stage):
        """Note a pipeline stage that uses it."""
        if not isinstance(stage, int) or stage < 0:
            raise TypeError(f"add_pipeline_stage: a stage number is wanted, but got {stage!r}")
        self._pipeline_stage_list = list(self._pipeline_stage_list) + [stage]

    def __reduce_ex__(self, protocol):
        from spore.common.tensor import _unpickle
        state = {k: v for k, v in self.__dict__.items() if k not in ('_hooks', 'init_mode')}
        return _unpickle, (type(self), str(self.dtype), self.shape, self.get_bytes(), state)


def init_to_value(init):
    """The number that the name 'zeros' or 'ones', or a number, stands for."""
    if isinstance(init, str) and init in ('zeros', 'ones'):
        return float(init == 'ones')
    if isinstance(init, bool) or not isinstance(init, (int, float)):
        raise ValueError(f"The argument 'init' should be a number or one of values in ['zeros', 'ones'], but got {init!r}.")
    return float(init)


class ParameterTuple(tuple):
    """A tuple of Parameters with different names."""

    def __new__(cls, iterable):
        data = tuple(iterable)
        names = {}
        for item in data:
            if not isinstance(item, Parameter):
                raise TypeError(f"ParameterTuple: only Parameters can be in it, but got {_type_name(item)}")
            other = names.setdefault(item.name, item)
            if other is not item and not is_default_name(item.name):
                raise ValueError(f"The value {item!r} , its name '{item.name}' already exists. Please set a unique name for the parameter.")
        return super().__new__(cls, data)

    def clone(self, prefix, init='same'):
        """Copies of all Parameters whose names start with `prefix.`; contents as in Parameter.clone."""
        if not isinstance(prefix, str):
            raise TypeError(f"clone: prefix must be a str, but got {_type_name(prefix)}")
        made = []
        for item in self:
            copy = item.clone(init)
            copy.name = f'{prefix}.{item.name}'
            made.append(copy)
        return ParameterTuple(made)

    def __parameter_tuple__(self):
        """Marks ParameterTuples for code that must not import this class."""


class _BufferKind(type(Tensor)):
    def __instancecheck__(cls, value):
        return isinstance(value, Tensor) and value.__dict__.get("_is_buffer", False)


class _Buffer(Tensor, metaclass=_BufferKind):
    """A Tensor that a Cell keeps as a buffer when it becomes its attribute: the Tensor itself, marked as such.

    Args:
        data: the Tensor.
        persistent: whether it belongs to the state that is saved.
    """

    def __new__(cls, data, *, persistent=True):
        data._is_buffer, data.persistent = True, persistent
        return data

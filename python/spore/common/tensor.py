# SPDX-License-Identifier: Apache-2.0
"""Tensor: what is not an operator. The type is written in C (spore._core); this file adds the methods that are plain
Python, and the functions that make Tensors. Methods that compute come from the operator table and from spore.ops."""
import weakref

from spore import _core
from spore._core import Tensor, type_name as _type_name
from spore.common import dtype as mstype
from spore.graph import state as _state

__all__ = ['Tensor', 'tensor', 'is_tensor', 'from_numpy', 'frombuffer', 'swap_tensors']

_TensorMeta = type(Tensor)


def tensor(input_data=None, dtype=None, shape=None, init=None, const_arg=False):
    """A new Tensor; the same as `Tensor(...)`."""
    return Tensor(input_data, dtype, shape, init, const_arg)


def is_tensor(obj):
    """Is it a Tensor?"""
    return isinstance(obj, Tensor)


def from_numpy(array):
    """A Tensor on the memory of a numpy array."""
    return Tensor.from_numpy(array)


def frombuffer(buffer, dtype, count=-1, offset=0):
    """A Tensor of one dimension on the memory of an object with the buffer protocol.

    Args:
        buffer: the object; memory that cannot be written is copied.
        dtype: of the elements.
        count: how many; -1 for all after the offset.
        offset: where they begin, in bytes.

    Examples:
        >>> import spore as ms
        >>> print(ms.frombuffer(bytes([1, 0, 2, 0, 3, 0]), ms.int16, count=2, offset=2))
        [2 3]
    """
    import numpy as np
    _check_buffer(buffer, 2 if dtype == mstype.bfloat16 else np.dtype(mstype.dtype_to_nptype(dtype)).itemsize, count, offset)
    if dtype == mstype.bfloat16:
        bits = np.frombuffer(buffer, np.uint16, count, offset)
        return _unpickle(Tensor, 'BFloat16', bits.shape, bits.tobytes(), None)
    array = np.frombuffer(buffer, mstype.dtype_to_nptype(dtype), count, offset)
    return Tensor.from_numpy(array) if array.flags.writeable else Tensor(array)


def _check_buffer(buffer, item, count, offset):
    """Raise where the elements that frombuffer is asked for do not lie in the buffer."""
    try:
        length = memoryview(buffer).nbytes
    except TypeError:
        raise RuntimeError(f"frombuffer: an object with the buffer protocol is wanted, but got {_type_name(buffer)}") from None
    if count == 0 or count < -1:
        raise RuntimeError(f"frombuffer: count must be positive, or -1 for all elements, but got {count}")
    if not 0 <= offset < length:
        raise RuntimeError(f"frombuffer: offset must lie in the buffer, which has {length} bytes, but got {offset}")
    if count < 0 and (length - offset) % item:
        raise RuntimeError(f"frombuffer: {length - offset} bytes after the offset are no whole number of elements of {item} bytes")
    if count * item > length - offset:
        raise RuntimeError(f"frombuffer: {count} elements of {item} bytes are wanted, but there are {length - offset} bytes after the offset")


def swap_tensors(first, second):
    """Exchange what two Tensors of one class show."""
    for which in (first, second):
        if not isinstance(which, Tensor):
            raise TypeError(f"swap_tensors: two Tensors are wanted, but got {_type_name(which)}")
    if type(first) is not type(second):
        raise TypeError(f"swap_tensors: {_type_name(first)} and {_type_name(second)} cannot be exchanged")
    keep = first._alias()
    first._rebind(second)
    second._rebind(keep)
    first.__dict__, second.__dict__ = second.__dict__, first.__dict__


def _method(function):
    setattr(Tensor, function.__name__, function)
    return function


def _property(function):
    setattr(Tensor, function.__name__, property(function))
    return function


# --- constants every Tensor has until something sets them ---------------------------------------------------------

Tensor.init = None
Tensor.const_arg = False
Tensor.param_info = None
Tensor.parent_tensor_ = None
Tensor.index_of_parent_ = None
Tensor.virtual_flag = False
Tensor.delta_seed = 0
Tensor.slice_num_of_persistent_data_ = None


def _device(self):
    """Where it lies: 'CPU' is main memory.

    Examples:
        >>> from spore import Tensor
        >>> Tensor([1.0, 2.0]).device
        'CPU'
    """
    name = _core.tensor_device(self)
    return 'CPU' if name == 'cpu' else name


Tensor.device = property(_device)
Tensor.is_meta = False


# --- text ------------------------------------------------------------------------------------------------------------

@_method
def __str__(self):
    array = self.asnumpy()
    if self.dtype == mstype.bfloat16:
        import numpy as np
        if array.ndim == 0:
            return f'{float(array):f}'
        return np.array2string(array, formatter={'float_kind': lambda v: f'{v:f}'})
    return str(array)


@_method
def _string_repr(self):
    import numpy as np
    array = self.asnumpy()
    text = repr(array.item()) if array.ndim == 0 else np.array2string(array, separator=', ')
    return f"Tensor(shape={list(self.shape)}, dtype=String, value={' ' if array.ndim < 2 else chr(10)}{text})"


@_method
def __format__(self, spec):
    if not spec:
        return str(self)
    if self.size != 1:
        raise TypeError(f"a Tensor of shape {self.shape} cannot be formatted with {spec!r}, only one with one element can: format asnumpy()")
    return format(self.item(), spec)


# --- copies, pickling -------------------------------------------------------------------------------------------------

def _unpickle(cls, dtype, shape, data, state):
    made = cls.__new__(cls)
    _core.tensor_restore(made, dtype, shape, data)
    if state:
        made.__dict__.update(state)
    return made


@_method
def __reduce_ex__(self, protocol):
    if self.dtype == mstype.string:
        return Tensor, (self.asnumpy(),)
    state = {k: v for k, v in self.__dict__.items() if k != '_hooks' and not callable(v)} if self.__dict__ else None
    return _unpickle, (type(self), str(self.dtype), self.shape, self.get_bytes(), state)


@_method
def __copy__(self):
    if self.dtype == mstype.string:
        return Tensor(self.asnumpy())
    return self._plain_copy()


@_method
def __deepcopy__(self, memodict):
    if self.dtype == mstype.string:
        made = Tensor(self.asnumpy())
    elif self.init is not None and not self._has_memory:
        made = Tensor(shape=self.shape, dtype=self.dtype, init=self.init)
    elif not self._has_memory and -1 in self.shape:          # a declaration of an input
        sizes = None if getattr(self, '_any_rank', False) else [None if n < 0 else n for n in self.shape]
        made = Tensor(shape=getattr(self, '_sizes', sizes), dtype=self.dtype)
    else:
        made = self._plain_copy()
    if isinstance(memodict, dict):                           # programs call it with anything
        memodict[id(self)] = made
    return made


@_method
def copy(self):
    """The same numbers in memory of their own; differentiable."""
    if _core.grad_recording() and self._tracked:
        return _core.apply('mul', (self, 1))
    return self._plain_copy()


# --- contents --------------------------------------------------------------------------------------------------------

@_property
def has_init(self):
    """Does it wait for its initializer to run?

    Examples:
        >>> from spore import Tensor, float32
        >>> from spore.common.initializer import One
        >>> x = Tensor(shape=(2,), dtype=float32, init=One())
        >>> x.has_init
        True
        >>> x.init_data().has_init
        False
    """
    return self.init is not None


@_property
def init_finished(self):
    """Has it contents?

    Examples:
        >>> from spore import Tensor, float32
        >>> from spore.common.initializer import One
        >>> x = Tensor(shape=(2,), dtype=float32, init=One())
        >>> x.init_finished
        False
        >>> x.init_data().init_finished
        True
    """
    return self._has_memory


@_property
def init_flag(self):
    """Has its initializer run?

    Examples:
        >>> from spore import Tensor, float32
        >>> from spore.common.initializer import One
        >>> x = Tensor(shape=(2,), dtype=float32, init=One())
        >>> x.init_flag
        False
        >>> x.init_data().init_flag
        True
    """
    return self.__dict__.get('_init_flag', False)


@_method
def set_init_flag(self, flag):
    """Note whether the initializer ran.

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.0])
        >>> x.set_init_flag(True)
        >>> x.init_flag
        True
    """
    self._init_flag = flag


@_property
def is_init(self):
    """Has its initializer run? May be set.

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.0])
        >>> x.is_init = True
        >>> x.is_init
        True
    """
    return self.init_flag


Tensor.is_init = Tensor.is_init.setter(Tensor.set_init_flag)


@_method
def init_data(self, slice_index=None, shape=None, opt_shard_group=None):
    """Run the initializer given to the constructor; answers the Tensor itself, which has contents now."""
    if self.init is None:
        raise TypeError("init_data: the Tensor was made without an initializer")
    from spore.common import initializer
    initializer._run(self, self.init, self.shape if shape is None else tuple(shape))
    self.init = None
    self._init_flag = True
    return self


@_method
def assign_value(self, value):
    """Take over the contents, shape and dtype of another Tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"assign_value: a Tensor is wanted, but got {_type_name(value)}")
    return self._rebind(value)


Tensor.assign_value_cpp = Tensor.assign_value


@_method
def stub_sync(self):
    """Wait for the value; it is there.

    Examples:
        >>> from spore import Tensor
        >>> print(Tensor([1.0]).stub_sync())
        [1.]
    """
    return self


@_method
def set_data(self, data, slice_shape=False):
    """Write the contents of another Tensor of this shape; answers the Tensor itself.

    Parameter.data was the Parameter itself before MindSpore 2.8: programs of that time write `p.data.set_data(x)`.

    Examples:
        >>> from spore import Parameter, Tensor
        >>> p = Parameter(Tensor([1.0, 2.0]))
        >>> p.data.set_data(Tensor([3.0, 4.0]))
        Tensor(shape=[2], dtype=Float32, value= [ 3.00000000e+00,  4.00000000e+00])
        >>> print(p.asnumpy())
        [3. 4.]
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"set_data: a Tensor is wanted, but got {_type_name(data)}")
    if data.shape != self.shape:
        raise ValueError(f"set_data: the Tensor has shape {self.shape}, but got contents of shape {data.shape}")
    self[...] = (data.init_data() if data.has_init and not data._has_memory else data).astype(self.dtype)
    return self


@_method
def set_dtype(self, dtype):
    """Convert the contents in place; answers the dtype."""
    self._rebind(_core.apply('cast', (self._alias(),), {'dtype': dtype}))
    return self.dtype


@_method
def set_const_arg(self, const_arg=True):
    """Note whether a compiled function may take it for a constant."""
    if not isinstance(const_arg, bool):
        raise TypeError(f"set_const_arg: a bool is wanted, but got {_type_name(const_arg)}")
    self.const_arg = const_arg
    return self


@_property
def data(self):
    """A Tensor on the same memory without history.

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.0, 2.0])
        >>> x.data[0] = 5.0
        >>> print(x)
        [5. 2.]
        >>> x.data = Tensor([7.0, 8.0, 9.0])
        >>> print(x)
        [7. 8. 9.]
    """
    return self._alias()


def _set_data(self, value):
    self._rebind(value if isinstance(value, Tensor) else Tensor(value))


Tensor.data = Tensor.data.setter(_set_data)


def _make_subclass(cls, data, require_grad=False):
    """A Tensor of the class `cls`, a subclass of Tensor, on the memory of `data`; its __init__ is not called."""
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise TypeError(f"Tensor._make_subclass: cls must be a subclass of Tensor, but got {cls!r}")
    if not isinstance(data, Tensor):
        raise TypeError(f"Tensor._make_subclass: data must be a Tensor, but got {_type_name(data)}")
    made = Tensor.__new__(cls)
    made._rebind(data.data)
    made.requires_grad = bool(require_grad)
    return made


Tensor._make_subclass = staticmethod(_make_subclass)


@_property
def symbolic_shape(self):
    """Symbols for sizes that are not known; those of a Tensor always are: None.

    Examples:
        >>> from spore import Tensor
        >>> print(Tensor([1.0, 2.0]).symbolic_shape)
        None
    """
    return None


@_method
def value(self):
    """The Tensor itself; a Parameter's contents."""
    return self


Tensor._data_ptr = Tensor.data_ptr


@_method
def _update_data(self, other):
    """Show what another Tensor shows, its memory."""
    if not isinstance(other, Tensor):
        raise RuntimeError(f"Only support input type Tensor, but got {_type_name(other)}")
    self._rebind(other)


@_method
def copy_(self, src, non_blocking=False):
    """Write the numbers of another Tensor, converted and broadcast, over these; answers the Tensor itself."""
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_: a Tensor is wanted, but got {_type_name(src)}")
    if self._tracked and self._is_leaf and _core.grad_recording():
        raise RuntimeError("A leaf tensor that requires grad is being used in an inplace operator, copy_, which is forbidden: its own "
                           "numbers would be lost to the gradient. Copy into a Tensor that is computed from it.")
    self[...] = src
    return self


@_method
def zero_(self):
    """Write zeros; answers the Tensor itself."""
    self[...] = 0
    return self


@_method
def delete_(self, non_blocking=False):
    """Give the memory back; the Tensor is empty then.

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.0, 2.0])
        >>> x.delete_()
        >>> x.shape
        (0,)
    """
    self._rebind(Tensor(shape=(0,), dtype=self.dtype))


@_method
def reshape_as(self, other):
    """The numbers in the shape of another Tensor."""
    return _core.apply('reshape', (self,), {'shape': other.shape})


@_method
def itemset(self, *args):
    """A copy in which one element is replaced: itemset(value), itemset(i, value), itemset((i, j), value)."""
    if not args or len(args) > 2:
        raise ValueError(f"itemset: an index and a value are wanted, but got {len(args)} arguments")
    made = self._plain_copy()
    if len(args) == 1:
        if self.size != 1:
            raise ValueError(f"itemset: the Tensor has {self.size} elements, so an index is needed")
        index, number = (0,) * self.ndim, args[0]
    else:
        index, number = args
        if isinstance(index, int):
            if not -self.size <= index < self.size:
                raise IndexError(f"itemset: index {index} is out of bounds for {self.size} elements")
            index %= self.size
            full = []
            for n in reversed(self.shape):
                full.append(index % n)
                index //= n
            index = tuple(reversed(full))
    made[index] = number
    return made


@_method
def __contains__(self, element):
    found = self == element
    if isinstance(found, bool):
        return found
    return bool(found.asnumpy().any())


@_method
def __round__(self):
    return _core.apply('round', (self,))


@_method
def contiguous(self):
    """The same numbers in row-major order; the Tensor itself if they are."""
    if self.is_contiguous():
        return self
    return self.copy()


# --- dtype -----------------------------------------------------------------------------------------------------------

@_method
def astype(self, dtype, copy=True):
    """The numbers converted to another dtype; dtype may be a name or a numpy type too."""
    if not copy and self.dtype == dtype:
        return self
    return _core.apply('cast', (self,), {'dtype': dtype})


def _convert(name, dtype):
    def method(self):
        return _core.apply('cast', (self,), {'dtype': dtype})
    method.__name__ = name
    method.__qualname__ = f'Tensor.{name}'
    method.__doc__ = f'The numbers as {dtype}.'
    setattr(Tensor, name, method)


for _name, _dtype in (('float', mstype.float32), ('half', mstype.float16), ('double', mstype.float64),
                      ('bfloat16', mstype.bfloat16), ('int', mstype.int32), ('long', mstype.int64),
                      ('short', mstype.int16), ('byte', mstype.uint8), ('bool', mstype.bool_)):
    _convert(_name, _dtype)


def device_kinds():
    """Kinds of devices that Tensors can be on: 'CPU', and what libraries of devices (SPORE_DEVICES) have brought."""
    return ['CPU'] + [name for name in _core.device_names().split(', ') if name not in ('cpu', 'null')]


def _names_device(text):
    kind = text.split(':')[0]
    return kind.upper() in ('CPU', 'GPU', 'ASCEND', 'META', 'CUDA', 'MPS', 'NPU', 'XPU') or kind == 'null' or kind in device_kinds()


def known_device(device, what):
    """The engine's name of a device that is here; else an error that says which ones are."""
    if not isinstance(device, str):
        raise TypeError(f"{what}: the device must be a str, but got {_type_name(device)}")
    kind, known = device.split(':')[0], device_kinds()
    if kind.upper() != 'CPU' and kind not in known and kind != 'null':
        raise ValueError(f"{what}: the device must be 'CPU', or one that a library of devices (SPORE_DEVICES) has brought, but got {device!r}")
    return 'cpu' if kind.upper() == 'CPU' else device


def _moved(self, device, what):
    return _core.tensor_to(self, known_device(device, what))


@_method
def to(self, *args, dtype=None, device=None, other=None, non_blocking=False, copy=False):
    """The numbers as another dtype, or that of another Tensor, or on another device ('CPU' is main memory).
    to(dtype, non_blocking, copy), to(device, dtype, non_blocking, copy) or to(other, non_blocking, copy)."""
    flags = [value for value in args if isinstance(value, bool)]
    non_blocking, copy = (*flags, *(non_blocking, copy)[len(flags):])
    for value in args[:len(args) - len(flags)]:
        if isinstance(value, Tensor):
            other = value
        elif isinstance(value, str) and _names_device(value):
            device = value
        else:
            dtype = value
    moved = self if device is None else _moved(self, device, 'to')
    dtype = other.dtype if other is not None else dtype
    if dtype is None or self.dtype == dtype:
        return moved.copy() if copy and moved is self else moved
    return _core.apply('cast', (moved,), {'dtype': dtype})


def _type(self, dtype=None):
    """The dtype's name, or the numbers converted to dtype."""
    return str(self.dtype) if dtype is None else _core.apply('cast', (self,), {'dtype': dtype})


_type.__name__ = 'type'
Tensor.type = _type


@_method
def type_as(self, other):
    """The numbers converted to the dtype of another Tensor."""
    return _core.apply('cast', (self,), {'dtype': other.dtype})


@_method
def is_floating_point(self):
    """Is its dtype one of the float types?"""
    return self.dtype.is_floating_point


@_method
def is_complex(self):
    """Is its dtype complex?"""
    return self.dtype.is_complex


@_method
def is_signed(self):
    """Can its elements be below zero?"""
    return self.dtype.is_signed


# --- geometry --------------------------------------------------------------------------------------------------------

@_method
def dim(self):
    """Number of dimensions."""
    return self.ndim


@_method
def ndimension(self):
    """Number of dimensions."""
    return self.ndim


@_method
def numel(self):
    """Number of elements."""
    return self.size


@_method
def nelement(self):
    """Number of elements."""
    return self.size


@_method
def stride(self, dim=None):
    """Elements from one to the next along a dimension, or along all of them."""
    steps = [s // self.itemsize for s in self.strides]
    return steps if dim is None else steps[dim]


@_property
def T(self):  # noqa: N802  MindSpore's name
    """Dimensions in reverse order.

    Examples:
        >>> from spore import Tensor
        >>> print(Tensor([[1, 2, 3], [4, 5, 6]]).T)
        [[1 4]
         [2 5]
         [3 6]]
    """
    return _core.apply('transpose', (self,), {'perm': tuple(range(self.ndim))[::-1]}) if self.ndim > 1 else self


@_property
def mT(self):  # noqa: N802
    """The last two dimensions exchanged.

    Examples:
        >>> from spore import ops
        >>> ops.ones((4, 2, 3)).mT.shape
        (4, 3, 2)
    """
    if self.ndim < 2:
        raise ValueError(f"mT: at least 2 dimensions are needed, but the Tensor has {self.ndim}")
    perm = list(range(self.ndim))
    perm[-2:] = perm[-1], perm[-2]
    return _core.apply('transpose', (self,), {'perm': perm})


@_property
def mH(self):  # noqa: N802
    """The last two dimensions exchanged, numbers conjugated.

    Examples:
        >>> from spore import Tensor
        >>> print(Tensor([[1 + 2j, 3 - 1j]]).mH)
        [[1.-2.j]
         [3.+1.j]]
    """
    turned = self.mT
    return _core.apply('conj', (turned,)) if self.dtype.is_complex else turned


@_property
def H(self):  # noqa: N802
    """The conjugate transpose of a matrix.

    Examples:
        >>> from spore import Tensor
        >>> print(Tensor([[1 + 2j, 3 - 1j]]).H)
        [[1.-2.j]
         [3.+1.j]]
    """
    if self.ndim not in (0, 2):
        raise ValueError(f"H: a matrix is wanted, but the Tensor has {self.ndim} dimensions")
    return self.mH if self.ndim else self


# --- memory and devices: everything is in main memory already -------------------------------------------------------

@_method
def data_sync(self, wait=True):
    """Nothing to wait for: contents are in main memory.

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.0, 2.0]) * 2
        >>> x.data_sync()
        >>> print(x)
        [2. 4.]
    """


@_method
def offload_file_path(self):
    """File that holds the contents instead of memory: none.

    Examples:
        >>> from spore import Tensor
        >>> Tensor([1.0]).offload_file_path()
        ''
    """
    return ''


@_method
def offload(self, release=False):
    """Nothing to do: contents are in main memory already.

    Examples:
        >>> from spore import Tensor
        >>> Tensor([1.0]).offload()
        True
    """
    return True


@_method
def wait_pipeline(self):
    """Nothing to wait for: operators have finished when they return.

    Examples:
        >>> from spore import Tensor
        >>> x = Tensor([1.0, 2.0]) * 2
        >>> x.wait_pipeline()
        >>> print(x)
        [2. 4.]
    """


@_method
def flush_from_cache(self):
    """Nothing to do: no part of a Tensor is cached elsewhere."""


@_method
def is_pinned(self):
    """Is the memory pinned for a device?"""
    return False


@_method
def is_shared(self):
    """Is the memory shared between processes?"""
    return False


@_method
def pin_memory(self):
    """The Tensor itself: there is no device to pin it for."""
    return self


@_method
def move_to(self, to, blocking=True):
    """The Tensor on another device."""
    return _moved(self, to, 'move_to')


@_method
def cpu(self):
    """The Tensor in main memory; itself, if it is there."""
    return _moved(self, 'CPU', 'cpu')


# --- gradients -------------------------------------------------------------------------------------------------------

class _HookHandle:
    """Answered by register_hook; remove() takes the hook away. It does not keep the Tensor, which keeps it."""

    def __init__(self, owner, number):
        self._owner, self._number = weakref.ref(owner), number

    def remove(self):
        """Take the hook away."""
        owner = self._owner()
        if owner is not None and self._number is not None:
            _core.grad_hook_remove(owner, self._number)
            self._number = None
        if owner is not None and owner._hooks:
            owner._hooks.pop(self, None)


Tensor._hooks = None


@_method
def register_hook(self, hook):
    """Call `hook(grad)` when a gradient of this Tensor is computed; a Tensor it returns replaces the gradient.

    A hook on an input or a Parameter serves every gradient that is computed of it, until it is removed.

    Examples:
        >>> import spore
        >>> from spore import Tensor
        >>> def f(x):
        ...     y = x * x
        ...     y.register_hook(lambda gradient: gradient * 10)
        ...     return y
        ...
        >>> print(spore.grad(f)(Tensor([1.0, 3.0])))
        [20. 60.]
    """
    if not callable(hook):
        raise TypeError(f"register_hook: a function is wanted, but got {_type_name(hook)}")
    if _state.losing() and _core.is_symbol(self):
        from spore.common.vectorize import keeps
        keeps("a hook on a Tensor")
    capture = _state.capture()
    if capture is not None and capture.differentiated and _core.is_symbol(self) and not _core.grad_recording():
        from spore.graph.gradients import hooked
        self.assign_value(hooked(self, hook))
        return _HookHandle(self, None)
    handle = _HookHandle(self, _core.grad_hook_add(self, hook) if self._tracked else None)
    if self._hooks is None:
        self._hooks = {}
    self._hooks[handle] = hook
    return handle


def _remove_hook(handle):
    """Take away a hook by the handle that register_hook answered.

    Examples:
        >>> from spore import Parameter, Tensor
        >>> p = Parameter(Tensor([1.0]))
        >>> handle = p.register_hook(lambda gradient: gradient * 10)
        >>> Tensor.remove_hook(handle)
        >>> p.hooks()
        []
    """
    handle.remove()


Tensor.remove_hook = staticmethod(_remove_hook)


@_method
def hooks(self):
    """The registered hooks.

    Examples:
        >>> from spore import Parameter, Tensor
        >>> p = Parameter(Tensor([1.0]))
        >>> handle = p.register_hook(lambda gradient: gradient * 10)
        >>> len(p.hooks())
        1
    """
    return list((self._hooks or {}).values())


@_method
def detach(self):
    """The same contents without history."""
    return _core.grad_detach(self)


# --- exchange --------------------------------------------------------------------------------------------------------

@_method
def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    return _core.to_dlpack(self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


@_method
def __dlpack_device__(self):
    return (1, 0)


def _plain(value):
    """A value in which Tensors, alone or in lists, are arrays."""
    if isinstance(value, Tensor):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    return value


@_method
def __array_function__(self, function, kinds, args, kwargs):
    """numpy's functions: as numpy itself would, by the Tensor's methods, and on arrays where these take other arguments (np.mean)."""
    try:
        return function._implementation(*args, **kwargs)
    except (AttributeError, TypeError, ValueError):
        return function(*_plain(args), **{name: _plain(value) for name, value in kwargs.items()})


@_method
def _repr_html_(self):
    from spore._html import tensor_html
    return tensor_html(self)


@_method
def tobytes(self, order="C"):
    """The elements as bytes, as numpy's method of this name gives them.

    Examples:
        >>> import spore as ms
        >>> print(ms.Tensor([1, 2], ms.uint8).tobytes())
        b'\\x01\\x02'
    """
    return self.asnumpy().tobytes(order)


def _array_interface(self):
    import numpy as np
    array = np.ascontiguousarray(self.asnumpy())
    return {**array.__array_interface__, "data": array, "strides": array.strides}      # with strides Pillow asks for the bytes


Tensor.__array_interface__ = property(_array_interface, doc="For Pillow and others that read memory.")


def _from_dlpack(source):
    """A Tensor on the memory of an object with __dlpack__, or of a DLPack capsule."""
    return _core.from_dlpack(source)


Tensor.from_dlpack = staticmethod(_from_dlpack)


@_method
def to_dlpack(self):
    """A DLPack capsule on the memory of the Tensor."""
    return _core.to_dlpack(self)


def _convert_bytes_to_tensor(data, shape=None, dtype=None):
    """The bytes of an object as a Tensor of uint8, or of another dtype and shape.

    Examples:
        >>> from spore import Tensor
        >>> print(Tensor.convert_bytes_to_tensor(b"abc"))
        [97 98 99]
    """
    if dtype is not None:
        return _unpickle(Tensor, str(dtype), tuple(shape), bytes(data), None)
    return Tensor(memoryview(data).cast('B').tolist(), mstype.uint8)


Tensor.convert_bytes_to_tensor = staticmethod(_convert_bytes_to_tensor)

for _name in list(vars(Tensor)):
    _function = vars(Tensor)[_name]
    if getattr(_function, '__module__', None) == __name__ and hasattr(_function, '__qualname__') \
            and '.' not in _function.__qualname__:
        _function.__qualname__ = f'Tensor.{_function.__name__}'
del _name, _dtype, _function

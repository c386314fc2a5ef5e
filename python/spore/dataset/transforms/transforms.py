# SPDX-License-Identifier: Apache-2.0
"""Transforms of arrays of any kind, and the classes that all transforms are made of.

A transform of the engine names it and its arguments in ``_engine``; ``parse`` makes the engine's object, once. Calling a
transform applies it to one row: arrays run in C, Pillow images in Python where MindSpore does that (``_execute_py``).
"""
import json
import sys
from enum import IntEnum

import numpy as np

from spore import _core
from spore.common import dtype as mstype
from spore.dataset import _check, _stream
from spore.dataset.transforms import py_transforms_util as util
from spore.dataset.transforms.py_transforms_util import FuncWrapper, Implementation

__all__ = ['Compose', 'Concatenate', 'Duplicate', 'Fill', 'Mask', 'OneHot', 'PadEnd', 'Plugin', 'RandomApply',
           'RandomChoice', 'RandomOrder', 'Relational', 'Slice', 'TypeCast', 'Unique', 'not_random']

_DTYPES = ['bool', 'uint8', 'uint16', 'uint32', 'uint64', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16',
           'float32', 'float64']


def to_numpy_type(dtype):
    """A numpy type from one of numpy's or spore's."""
    try:
        return np.dtype(dtype)
    except TypeError:
        try:
            return np.dtype(mstype.dtype_to_nptype(dtype))
        except KeyError:
            raise TypeError(f"{dtype!r} is no dtype") from None


def engine_dtype(dtype):
    """The engine's number of a dtype."""
    return _DTYPES.index(to_numpy_type(dtype).name)


def is_pil(value):
    """Whether it is a Pillow image; without importing Pillow, for nobody can have one otherwise."""
    image = sys.modules.get('PIL.Image')
    return image is not None and isinstance(value, image.Image)


def is_text(array):
    """Whether an array holds strings or bytes."""
    return array.dtype.kind in 'US'


class TensorOperation:
    """A transform that the engine runs.

    Attributes:
        implementation: C or PY where only one is possible, else None.
        random: whether two calls may differ.
    """

    random = True

    def __new__(cls, /, *args, **kwargs):
        self = super().__new__(cls)
        self._given = (args, kwargs)        # for serialize
        return self

    def __init__(self):
        super().__init__()
        self.implementation = None
        self.device_target = 'CPU'
        self._parsed = None

    def _engine(self):
        """(name, arguments, children) of the engine's transform."""
        raise NotImplementedError(f"{type(self).__name__} has no transform of the engine")

    def _fits_engine(self):
        """Whether the engine's transform is all of it, for every column it may be given."""
        return True

    def parse(self):
        """The engine's transform."""
        if self._parsed is None:
            name, arguments, *children = self._engine()
            self._parsed = _core.Transform(name, arguments, *children)
        return self._parsed

    def device(self, device_target='CPU'):
        """Accepted for 'CPU'; returns the transform itself."""
        if not isinstance(device_target, str):
            raise TypeError(f"device_target must be a str, but got {type(device_target)}")
        if device_target not in ('CPU', 'Ascend'):
            raise ValueError("Input device_target is not within the valid set of ['CPU', 'Ascend'].")
        if device_target != 'CPU':
            raise RuntimeError("transforms run on the CPU only; use device('CPU')")
        return self

    def _check_columns(self, columns):
        """Rules for the columns, before anything is made of them."""

    def __call__(self, *columns):
        self._check_columns(columns)
        if hasattr(self, '_execute_py') and (self.implementation == Implementation.PY
                                             or (len(columns) == 1 and is_pil(columns[0]))):
            return self._execute_py(*columns)
        columns = tuple(_as_column(value) for value in columns)
        made = self._run(columns)
        return made[0] if len(made) == 1 else tuple(made)

    def _run(self, columns):
        for column in columns:
            if column.size == 0:
                raise RuntimeError(f"Input Tensor has no data. Its shape is {column.shape}.")
        transform = self.parse()
        return transform.run(columns, *(_stream.next_stream() if transform.random else (0, 0)))

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != '_parsed'}

    def __setstate__(self, state):
        self.__dict__.update(state, _parsed=None)


def _as_column(value):
    if isinstance(value, _core.Tensor):
        return value.asnumpy()
    array = np.asarray(value)
    if array.dtype.kind == 'O':
        raise TypeError(f"Invalid user input. Got {type(value)}: {value}, cannot be converted into tensor.")
    return array


class PyTensorOperation:
    """A transform that runs in Python."""

    random = True

    def __init__(self):
        self.transforms = []
        self.output_type = None

    def __call__(self, img):
        return self._execute_py(img)

    def to_json(self):
        """Class and arguments as text."""
        params = {k: v for k, v in self.__dict__.items() if k not in ('transforms', 'output_type', '_parsed')}
        if getattr(self, 'transforms', None):
            params['transforms'] = [json.loads(t.to_json()) for t in self.transforms]
        if getattr(self, 'output_type', None) is not None:
            params['output_type'] = np.dtype(self.output_type).name
        return json.dumps({'tensor_op_params': params, 'tensor_op_name': type(self).__name__,
                           'python_module': type(self).__module__})

    @classmethod
    def from_json(cls, json_string):
        """The transform again."""
        params = json.loads(json_string)
        op = cls.__new__(cls)
        op.__dict__.update(params, _parsed=None)
        if 'transforms' in params:
            op.transforms = [_from_json(t) for t in params['transforms']]
        if 'output_type' in params:
            op.output_type = np.dtype(params['output_type'])
        return op


def _from_json(description):
    module = sys.modules.get(description.get('python_module'))
    if module is None or not module.__name__.startswith('spore.dataset'):
        raise RuntimeError("the text describes no transform of spore")
    made = getattr(module, description['tensor_op_name'])
    return made.from_json(json.dumps(description['tensor_op_params']))


class CompoundOperation(TensorOperation, PyTensorOperation):
    """A transform of transforms."""

    def __init__(self, transforms):
        super().__init__()
        self.transforms = [op if hasattr(op, 'implementation') else FuncWrapper(op) for op in transforms]
        fixed = {op.implementation for op in self.transforms if op.implementation is not None}
        self.implementation = fixed.pop() if len(fixed) == 1 else None

    def _in_engine(self, columns):
        """Whether all of it can run in C."""
        return all(_runs_in_engine(op) for op in self.transforms) and not any(is_pil(c) for c in columns)

    def _children(self):
        return [op.parse() for op in self.transforms]

    def __call__(self, *columns):
        if self._in_engine(columns):
            made = self._run(tuple(_as_column(value) for value in columns))
            return made[0] if len(made) == 1 else tuple(made)
        return self._execute_py(*columns)


def _runs_in_engine(op):
    if isinstance(op, CompoundOperation):
        return all(_runs_in_engine(child) for child in op.transforms)
    return (isinstance(op, TensorOperation) and op.implementation != Implementation.PY
            and type(op)._engine is not TensorOperation._engine and op._fits_engine())


def not_random(func):
    """Mark a function as one that gives the same for the same input."""
    func.random = False
    return func


class Compose(CompoundOperation):
    """Transforms one after another.

    Args:
        transforms: list of transforms and functions.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import transforms, vision
        >>> both = transforms.Compose([vision.Rescale(1 / 255, 0), vision.HWC2CHW()])
        >>> both(np.zeros((4, 5, 3), np.uint8)).shape
        (3, 4, 5)
    """

    def __init__(self, transforms):
        _check.operations(transforms)
        super().__init__(transforms)
        self.transforms = self.decompose(self.transforms)
        self.random = any(getattr(op, 'random', True) for op in self.transforms)

    @staticmethod
    def decompose(operations):
        """Composes among them replaced by what they hold."""
        flat = []
        for op in operations:
            flat.extend(Compose.decompose(op.transforms) if isinstance(op, Compose) else [op])
        return flat

    @staticmethod
    def reduce(operations):
        """The same list: neighbours are put together where they run."""
        return list(operations)

    def _engine(self):
        return 'Compose', {}, self._children()

    def __call__(self, *columns):
        if not columns:
            raise TypeError("Compose was called without an image: make it first, then call it")
        return super().__call__(*columns)

    def _execute_py(self, *columns):
        """A tuple, also of one, where MindSpore stays in Python all the way: with pictures of Pillow, or transforms that make them."""
        made = util.compose(self.transforms, *columns)
        in_python = any(op.implementation == Implementation.PY for op in self.transforms) or any(is_pil(c) for c in columns)
        return made if in_python or len(made) > 1 else made[0]

    def release_resource(self):
        """Nothing is held."""


class RandomApply(CompoundOperation):
    """All transforms with a probability, none otherwise.

    Args:
        transforms: list of transforms.
        prob: probability.
    """

    def __init__(self, transforms, prob=0.5):
        _check.operations(transforms)
        _check.kind(prob, (float, int), 'prob')
        _check.within(prob, 0, 1, 'prob')
        super().__init__(transforms)
        self.prob = prob

    def _engine(self):
        return 'RandomApply', {'prob': self.prob}, self._children()

    def _execute_py(self, img):
        return util.random_apply(img, self.transforms, self.prob)


class RandomChoice(CompoundOperation):
    """One of the transforms, drawn anew for every row.

    Args:
        transforms: list of transforms.
    """

    def __init__(self, transforms):
        _check.operations(transforms)
        super().__init__(transforms)

    def _engine(self):
        return 'RandomChoice', {}, self._children()

    def _execute_py(self, img):
        return util.random_choice(img, self.transforms)


class RandomOrder(CompoundOperation):
    """All transforms, in an order drawn anew for every row.

    Args:
        transforms: list of transforms.
    """

    def __init__(self, transforms):
        _check.operations(transforms)
        super().__init__(transforms)

    def _engine(self):
        return 'RandomOrder', {}, self._children()

    def _execute_py(self, img):
        return util.random_order(img, self.transforms)


class TypeCast(TensorOperation):
    """Values converted to another type.

    Args:
        data_type: of spore or numpy.

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore.dataset import transforms
        >>> print(transforms.TypeCast(ms.int32)(np.array([1.5])))
        [1]
    """

    random = False

    def __init__(self, data_type):
        super().__init__()
        if data_type is None:
            raise TypeError("Argument data_type with value None is not of type [spore dtype, numpy dtype], but got "
                            f"{type(data_type)}.")
        try:
            kind = to_numpy_type(data_type)
        except (TypeError, ValueError):
            raise TypeError(f"Argument data_type with value {data_type} is not of type [spore dtype, numpy dtype], but "
                            f"got {type(data_type)}.") from None
        self.data_type = 'string' if kind.kind in 'US' else kind.name
        self.implementation = Implementation.C

    def _engine(self):
        return 'TypeCast', {'data_type': engine_dtype(self.data_type)}

    def _fits_engine(self):
        return self.data_type != 'string'

    def _run(self, columns):
        if self.data_type == 'string':
            if any(not is_text(column) for column in columns):
                raise RuntimeError("TypeCast: numbers do not become strings")
            return columns
        if any(is_text(column) for column in columns):
            raise RuntimeError("TypeCast: strings do not become numbers; use text.ToNumber")
        return super()._run(columns)


class OneHot(TensorOperation):
    """Class numbers as rows of zeros with a one.

    Args:
        num_classes: length of a row.
        smoothing_rate: share that is spread over all classes.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import transforms
        >>> print(transforms.OneHot(4)(np.array(2)))
        [0 0 1 0]
    """

    random = False

    def __init__(self, num_classes, smoothing_rate=0.0):
        super().__init__()
        _check.kind(smoothing_rate, (int, float), 'smoothing_rate')
        _check.kind(num_classes, int, 'num_classes')
        _check.positive(num_classes)
        _check.within(smoothing_rate, 0.0, 1.0, 'smoothing_rate')
        self.num_classes, self.smoothing_rate = num_classes, smoothing_rate

    def _engine(self):
        return 'OneHot', {'num_classes': self.num_classes, 'smoothing_rate': self.smoothing_rate}


class Relational(IntEnum):
    """How two values are compared."""
    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


_COMPARE = [np.equal, np.not_equal, np.greater, np.greater_equal, np.less, np.less_equal]


def _text(value):
    """A string, whatever it was given as."""
    return value.decode('utf8') if isinstance(value, bytes) else value


class Mask(TensorOperation):
    """Whether each value compares with a constant.

    Args:
        operator: a Relational.
        constant: number, string or bool.
        dtype: of the result.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import transforms
        >>> print(transforms.Mask(transforms.Relational.GT, 3)(np.array([1, 5])))
        [False  True]
    """

    random = False

    def __init__(self, operator, constant, dtype=mstype.bool_):
        super().__init__()
        _check.kind(operator, Relational, 'operator')
        _check.kind(constant, (str, float, bool, int, bytes), 'constant')
        _check.kind(dtype, _core.DType, 'dtype')
        self.operator, self.constant, self.dtype = operator, constant, dtype
        self.implementation = Implementation.C

    def _engine(self):
        return 'Mask', {'operator': int(self.operator), 'constant': float(self.constant),
                        'dtype': engine_dtype(self.dtype)}

    def _fits_engine(self):
        return not isinstance(self.constant, (str, bytes))

    def _run(self, columns):
        texts = isinstance(self.constant, (str, bytes))
        if any(is_text(column) != texts for column in columns):
            raise RuntimeError("Mask: input datatype does not match the value datatype, both should be numeric or non-numerical in the "
                               "same time.")
        if not texts:
            return super()._run(columns)
        made = _COMPARE[self.operator]
        return tuple(made(column.astype(str), _text(self.constant)).astype(to_numpy_type(self.dtype))
                     for column in columns)


class Fill(TensorOperation):
    """Every value replaced by one.

    Args:
        fill_value: number, string or bool.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import transforms
        >>> print(transforms.Fill(3)(np.array([1, 5])))
        [3 3]
    """

    random = False

    def __init__(self, fill_value):
        super().__init__()
        _check.kind(fill_value, (str, float, bool, int, bytes), 'fill_value')
        self.fill_value = fill_value
        self.implementation = Implementation.C

    def _engine(self):
        return 'Fill', {'fill_value': float(self.fill_value)}

    def _fits_engine(self):
        return not isinstance(self.fill_value, (str, bytes))

    def _run(self, columns):
        texts = isinstance(self.fill_value, (str, bytes))
        if any(is_text(column) != texts for column in columns):
            raise RuntimeError("Fill: fill_value and the input tensor must be of the same data type when involving strings or bytes: "
                               "both must be strings "
                               "or both numbers")
        if texts:
            return tuple(np.full(column.shape, _text(self.fill_value)) for column in columns)
        return super()._run(columns)


class PadEnd(TensorOperation):
    """Arrays made as long as said: values put behind, or the end cut off.

    Args:
        pad_shape: list of a length for each dimension; None keeps it.
        pad_value: what is put there; 0 or '' if None.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import transforms
        >>> print(transforms.PadEnd([4], 10)(np.array([1, 2, 3])))
        [ 1  2  3 10]
    """

    random = False

    def __init__(self, pad_shape, pad_value=None):
        super().__init__()
        if pad_value is not None:
            _check.kind(pad_value, (str, float, bool, int, bytes), 'pad_value')
        _check.kind(pad_shape, list, 'pad_shape')
        for n in pad_shape:
            if n is not None and (isinstance(n, bool) or not isinstance(n, int)):
                raise TypeError("a value in the list is not an integer.")
            if n is not None:
                _check.within(n, 1, 9223372036854775807)
        self.pad_shape, self.pad_value = pad_shape, pad_value
        self.implementation = Implementation.C

    def _engine(self):
        return 'PadEnd', {'pad_shape': [-1 if n is None else n for n in self.pad_shape],
                          'pad_value': 0.0 if self.pad_value is None else float(self.pad_value)}

    def _fits_engine(self):
        return self.pad_value is not None and not isinstance(self.pad_value, (str, bytes))

    def _run(self, columns):
        texts = isinstance(self.pad_value, (str, bytes))
        if self.pad_value is not None and any(is_text(column) != texts for column in columns):
            raise RuntimeError("PadEnd: can not pad numeric and string tensors together: pad_value and the array must both be strings or "
                               "both be numbers")
        if not any(is_text(column) for column in columns):
            return super()._run(columns)
        return tuple(self._pad_text(column) for column in columns)

    def _pad_text(self, column):
        if column.ndim == 0:
            return column
        if len(self.pad_shape) != column.ndim:
            raise RuntimeError(f"PadEnd: invalid pad shape, as rank of input is: {column.ndim}, and rank of pad value: "
                               f"{len(self.pad_shape)}")
        shape = [n if wanted is None else wanted for wanted, n in zip(self.pad_shape, column.shape)]
        width = max(column.dtype.itemsize // 4 if column.dtype.kind == 'U' else column.dtype.itemsize,
                    len(self.pad_value or ''), 1)
        out = np.full(shape, _text(self.pad_value) or '', f"U{width}")
        part = tuple(slice(0, min(a, b)) for a, b in zip(shape, column.shape))
        out[part] = column[part]
        return out


class Concatenate(TensorOperation):
    """Arrays of one dimension one after another, with something before or behind.

    Args:
        axis: 0 or -1.
        prepend, append: arrays of one dimension, or None.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import transforms
        >>> print(transforms.Concatenate(0, np.array([7]), np.array([9]))(np.array([1, 2])))
        [7 1 2 9]
    """

    random = False

    def __init__(self, axis=0, prepend=None, append=None):
        super().__init__()
        if axis is not None:
            _check.kind(axis, int, 'axis')
            if axis not in (0, -1):
                raise ValueError("only 1D concatenation supported.")
        for name, value in (('prepend', prepend), ('append', append)):
            if value is not None:
                _check.kind(value, np.ndarray, name)
                if value.ndim != 1:
                    raise ValueError(f"can only {name} 1D arrays.")
        self.axis, self.prepend, self.append = axis, prepend, append
        self.implementation = Implementation.C

    def parse(self):
        """Not one of the engine's: it holds arrays."""
        raise NotImplementedError("Concatenate runs in Python")

    def _run(self, columns):
        parts = [a for a in (self.prepend, *columns, self.append) if a is not None]
        if any(a.ndim != 1 for a in parts):
            raise RuntimeError("Concatenate: only arrays of one dimension can be put together")
        if any(is_text(a) != is_text(parts[0]) for a in parts):
            raise RuntimeError("Concatenate: input datatype does not match the prepend datatype or the append datatype: strings and "
                               "numbers cannot be put "
                               "together")
        if not is_text(parts[0]) and len({a.dtype for a in parts}) > 1:
            raise RuntimeError("Concatenate: the arrays have different types: "
                               + ", ".join(str(a.dtype) for a in parts))
        return (np.concatenate(parts),)


class Duplicate(TensorOperation):
    """The column twice.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import transforms
        >>> print(*transforms.Duplicate()(np.array([1, 2])))
        [1 2] [1 2]
    """

    random = False

    def __init__(self):
        super().__init__()
        self.implementation = Implementation.C

    def _engine(self):
        return 'Duplicate', {}

    def _fits_engine(self):
        return False  # it may be given text

    def _run(self, columns):
        if len(columns) != 1:
            raise RuntimeError(f"Duplicate: only supports transform one column each time, got column num: {len(columns)}, check "
                               "'input_columns' when call this "
                               "operator.")
        return (columns[0], columns[0].copy()) if is_text(columns[0]) else super()._run(columns)


class Slice(TensorOperation):
    """A part of an array.

    Args:
        slices: for each dimension an int, a list of ints, a slice, None or True for all, or an Ellipsis.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import transforms
        >>> print(transforms.Slice(slice(1, 3))(np.array([1, 2, 3, 4])))
        [2 3]
    """

    random = False

    def __init__(self, *slices):
        super().__init__()
        for s in slices:
            if s is not None:
                _check.kind(s, (int, list, slice, bool, type(Ellipsis)), 'slice')
                if isinstance(s, list) and s and isinstance(s[0], int):
                    _check.kinds(s, int, 'slice')
        self.slices = slices
        self.implementation = Implementation.C

    def parse(self):
        """Not one of the engine's."""
        raise NotImplementedError("Slice runs in Python")

    def _run(self, columns):
        return tuple(self._cut(column) for column in columns)

    def _cut(self, column):
        if Ellipsis in [s for s in self.slices if not isinstance(s, list)] and len(self.slices) == 1:
            return column.copy()
        if len(self.slices) > column.ndim:
            raise RuntimeError(f"Invalid shape, should be greater than slices index. There are {len(self.slices)} slices, but the array "
                               f"has {column.ndim} "
                               "dimensions")
        for axis, s in enumerate(self.slices):
            if s is None or s is True or s is Ellipsis:
                continue
            n = column.shape[axis]
            index = np.arange(n)[s] if isinstance(s, slice) else np.atleast_1d(np.asarray(s, np.int64))
            if len(index) and not (-n <= index.min() and index.max() < n):
                raise RuntimeError(f"Index {s} is out of bounds. Dimension {axis} has length {n}")
            if not len(index):
                raise RuntimeError(f"Slice: nothing is left of dimension {axis} of length {n} by {s}")
            column = np.take(column, index, axis=axis)
        return column


class Unique(TensorOperation):
    """The different values of an array of two dimensions or more in the order in which they come, where each element is among them,
    and how often each occurs.

    Examples:
        >>> import numpy as np
        >>> from spore.dataset import transforms
        >>> values, where, counts = transforms.Unique()(np.array([[4, 1, 4]]))
        >>> print(values, where, counts)
        [4 1] [0 1 0] [2 1]
    """

    random = False

    def __init__(self):
        super().__init__()
        self.implementation = Implementation.C

    def parse(self):
        """Not one of the engine's."""
        raise NotImplementedError("Unique runs in Python")

    def _run(self, columns):
        if len(columns) != 1:
            raise RuntimeError(f"Unique: one column is wanted, but got {len(columns)}")
        array = columns[0]
        if is_text(array) or array.dtype == np.bool_:
            raise RuntimeError(f"Unique: only support numeric datatype of input, got {'string' if is_text(array) else 'bool'}.")
        if array.ndim < 2:
            raise RuntimeError(f"Unique: input must be at least 2-D in order to do unique op, got rank:{array.ndim}; reshape it to "
                               "one row first.")
        if array.size == 0:
            raise RuntimeError("Input Tensor has no data.")
        array = array.ravel()
        _, first, where, counts = np.unique(array, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return array[first[order]], rank[where.ravel()].astype(np.int32), counts[order].astype(np.int32)


class Plugin(TensorOperation):
    """A transform in a shared library of MindSpore's plugin interface, which is C++ and cannot be loaded here.

    Args:
        lib_path, func_name, user_args: as in MindSpore.
    """

    def __init__(self, lib_path, func_name, user_args=None):
        super().__init__()
        _check.kind(lib_path, str, 'lib_path')
        _check.kind(func_name, str, 'func_name')
        if user_args is not None:
            _check.kind(user_args, str, 'user_args')
        raise RuntimeError("Plugin: libraries for MindSpore's C++ interface cannot be loaded; write the transform as a "
                           "Python function")

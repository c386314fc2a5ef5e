# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments under MindSpore's names, for programs that import them: each answers the value or raises."""
import enum
import functools
import inspect
import numbers
import re

__all__ = ['check_value_type', 'check_int', 'check_float', 'check_bool', 'check_string', 'check_positive_int',
           'check_int_range', 'check_float_range']

EQ, NE, LT, LE, GT, GE, INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH, IN, NOT_IN = range(1, 13)

_RELATIONS = {EQ: ('=', lambda a, b: a == b), NE: ('!=', lambda a, b: a != b), LT: ('<', lambda a, b: a < b),
              LE: ('<=', lambda a, b: a <= b), GT: ('>', lambda a, b: a > b), GE: ('>=', lambda a, b: a >= b),
              IN: ('in', lambda a, b: a in b), NOT_IN: ('not in', lambda a, b: a not in b)}
_RANGES = {INC_NEITHER: '()', INC_LEFT: '[)', INC_RIGHT: '(]', INC_BOTH: '[]'}


def _start(arg_name, prim_name):
    return (f"For '{prim_name}', the " if prim_name else "The ") + f"'{arg_name if arg_name else 'input value'}'"


def _kind(value):
    return type(value).__name__


def check(arg_name, arg_value, value_name, value, rel=EQ, prim_name=None, excp_cls=ValueError):
    """The value, which must stand in a relation to another one."""
    sign, holds = _RELATIONS[rel]
    if not holds(arg_value, value):
        raise excp_cls(f"{_start(arg_name, prim_name)} should be {sign} {value_name}: {value}, but got {arg_value}.")
    return arg_value


# --- numbers ---------------------------------------------------------------------------------------------------------

def check_is_number(arg_value, arg_type, arg_name=None, prim_name=None):
    """The value, which must be of a number type (a bool is none) and finite."""
    kinds = arg_type if isinstance(arg_type, tuple) else (arg_type,)
    if not isinstance(arg_value, kinds) or isinstance(arg_value, bool):
        raise TypeError(f"{_start(arg_name, prim_name)} must be {' or '.join(k.__name__ for k in kinds)}, but got "
                        f"'{_kind(arg_value)}'")
    if isinstance(arg_value, float) and (arg_value != arg_value or arg_value in (float('inf'), float('-inf'))):
        raise ValueError(f"{_start(arg_name, prim_name)} must be a legal number, but got '{arg_value}'.")
    return arg_value


def check_is_int(arg_value, arg_name=None, prim_name=None):
    """The value, which must be an int."""
    return check_is_number(arg_value, int, arg_name, prim_name)


def check_is_float(arg_value, arg_name=None, prim_name=None):
    """The value, which must be a float."""
    return check_is_number(arg_value, float, arg_name, prim_name)


def _check_relation(arg_value, value, rel, kind, arg_name, prim_name):
    check_is_number(arg_value, kind, arg_name, prim_name)
    sign, holds = _RELATIONS[rel]
    if not holds(arg_value, value):
        raise ValueError(f"{_start(arg_name, prim_name)} must be {kind.__name__} and must {sign} {value}, but got "
                         f"'{arg_value}' with type '{_kind(arg_value)}'.")
    return arg_value


def check_int(arg_value, value, rel, arg_name=None, prim_name=None):
    """The value, an int that must stand in a relation to another one."""
    return _check_relation(arg_value, value, rel, int, arg_name, prim_name)


def check_float(arg_value, value, rel, arg_name=None, prim_name=None):
    """The value, a float that must stand in a relation to another one."""
    return _check_relation(arg_value, value, rel, float, arg_name, prim_name)


def check_number(arg_name, arg_value, value, rel, prim_name):
    """The value, a number that must stand in a relation to another one."""
    return check(arg_name, arg_value, 'value', value, rel, prim_name)


def check_equal_int(arg_value, value, arg_name=None, prim_name=None):
    """The value, which must be this int."""
    return check_int(arg_value, value, EQ, arg_name, prim_name)


def _compared(kind, rel, text):
    def compare(arg_value, arg_name=None, prim_name=None):
        return _check_relation(arg_value, 0, rel, kind, arg_name, prim_name)
    compare.__name__ = compare.__qualname__ = f'check_{text}_{kind.__name__}'
    compare.__doc__ = f"The value, a {text.replace('_', '-')} {kind.__name__}."
    return compare


for _rel, _text in ((GT, 'positive'), (GE, 'non_negative'), (LT, 'negative'), (LE, 'non_positive')):
    for _number in (int, float):
        globals()[f'check_{_text}_{_number.__name__}'] = _compared(_number, _rel, _text)


def check_number_range(arg_value, lower_limit, upper_limit, rel, value_type, arg_name=None, prim_name=None):
    """The value, a number between two limits; rel says which of them belong to the range."""
    check_is_number(arg_value, value_type, arg_name, prim_name)
    left, right = _RANGES[rel]
    if not ((lower_limit <= arg_value if left == '[' else lower_limit < arg_value)
            and (arg_value <= upper_limit if right == ']' else arg_value < upper_limit)):
        raise ValueError(f"{_start(arg_name, prim_name)} must be in range of {left}{lower_limit}, {upper_limit}{right}, "
                         f"but got {arg_value} with type '{_kind(arg_value)}'.")
    return arg_value


def check_int_range(arg_value, lower_limit, upper_limit, rel, arg_name=None, prim_name=None):
    """The value, an int between two limits."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(arg_value, lower_limit, upper_limit, rel, arg_name=None, prim_name=None):
    """The value, a float between two limits."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def _check_each(sequence, one, arg_name, prim_name):
    if not isinstance(sequence, (tuple, list)):
        raise TypeError(f"{_start(arg_name, prim_name)} must be a tuple or a list, but got '{_kind(sequence)}'.")
    for i, value in enumerate(sequence):
        one(value, f'{arg_name}[{i}]', prim_name)
    return sequence


def check_positive_int_sequence(sequence, arg_name=None, prim_name=None):
    """The sequence, whose elements must be positive ints."""
    return _check_each(sequence, check_positive_int, arg_name, prim_name)  # noqa: F821  made above


def check_non_negative_int_sequence(sequence, arg_name=None, prim_name=None):
    """The sequence, whose elements must be ints that are not negative."""
    return _check_each(sequence, check_non_negative_int, arg_name, prim_name)  # noqa: F821


def check_positive_float_sequence(sequence, arg_name=None, prim_name=None):
    """The sequence, whose elements must be positive floats."""
    return _check_each(sequence, check_positive_float, arg_name, prim_name)  # noqa: F821


# --- other values ----------------------------------------------------------------------------------------------------

def check_bool(arg_value, arg_name=None, prim_name=None):
    """The value, which must be a bool."""
    if not isinstance(arg_value, bool):
        raise TypeError(f"{_start(arg_name, prim_name)} must be a bool, but got {_kind(arg_value)}.")
    return arg_value


def check_string(arg_value, valid_values, arg_name=None, prim_name=None):
    """The text, which must be one of some."""
    if isinstance(arg_value, str) and arg_value in valid_values:
        return arg_value
    raise ValueError(f"{_start(arg_name, prim_name)} must be str and must be in '{list(valid_values)}', but got "
                     f"'{arg_value}'.")


def check_str_by_regular(target, reg=None, flag=re.ASCII, prim_name=None):
    """True if a text matches a pattern: letters, digits, '_' and '.', and not nothing, without one."""
    pattern = r"^\w[\w.]*$" if reg is None else reg
    if re.match(pattern, target, flag) is None:
        raise ValueError((f"For '{prim_name}', the " if prim_name else "The ") + f"'{target}' is illegal, it must match '{pattern}'.")
    return True


def check_str_and_none_by_regular(target, reg=None, flag=re.ASCII, prim_name=None):
    """True if a text, which may be empty, matches a pattern: letters, digits, '_', '.' and '-' without one."""
    return check_str_by_regular(target, r"^[\w.\-]*$" if reg is None else reg, flag, prim_name)


def check_file_name_by_regular(target, reg=None, prim_name=None):
    """True if a text can be the name of a file."""
    return check_str_by_regular(target, r"^[\w@\-.:/\\]+$" if reg is None else reg, re.ASCII, prim_name)


def _type_names(kinds):
    return [getattr(kind, '__name__', str(kind)) for kind in kinds]


def check_value_type(arg_name, arg_value, valid_types, prim_name=None):
    """The value, which must be of one of some types; a bool is an int only if bool is named too."""
    kinds = tuple(valid_types) if isinstance(valid_types, (list, tuple)) else (valid_types,)
    if not isinstance(arg_value, kinds) or (isinstance(arg_value, bool) and bool not in kinds and object not in kinds):
        wanted = f"one of '{_type_names(kinds)}'" if len(kinds) > 1 else f"'{_type_names(kinds)[0]}'"
        raise TypeError((f"For '{prim_name}', the " if prim_name else "The ")
                        + f"type of '{arg_name}' should be {wanted}, but got type '{_kind(arg_value)}'.")
    return arg_value


def check_isinstance(arg_name, arg_value, classes):
    """The value, which must be of one of some classes."""
    if not isinstance(arg_value, classes):
        raise ValueError(f"The '{arg_name}' must be an instance of {classes}, but got {_kind(arg_value)}.")
    return arg_value


def check_type_name(arg_name, arg_type, valid_types, prim_name):
    """The dtype, which must be one of some."""
    kinds = list(valid_types) if isinstance(valid_types, (list, tuple)) else [valid_types]
    if arg_type not in kinds:
        wanted = ', '.join(map(str, kinds))
        raise TypeError(f"{_start(arg_name, prim_name)} should be {wanted if len(kinds) == 1 else f'one of {wanted}'}, "
                        f"but got '{arg_type!r}'.")
    return arg_type


def check_subclass(arg_name, type_, template_types, prim_name, addition_error_info=None):
    """Raises if a dtype is none of some."""
    check_type_name(arg_name, type_, template_types, prim_name)


def check_element_type_of_iterable(arg_name, arg_value, valid_types, prim_name=None):
    """The sequence, whose elements must be of some types."""
    check_value_type(arg_name, arg_value, [list, tuple, set], prim_name)
    for i, value in enumerate(arg_value):
        check_value_type(f'{arg_name}[{i}]', value, valid_types, prim_name)
    return arg_value


def check_element_type_of_dict(arg_name, arg_value, key_types, value_types, prim_name=None):
    """The dict, whose keys and values must be of some types."""
    check_value_type(arg_name, arg_value, [dict], prim_name)
    for key, value in arg_value.items():
        check_value_type(f'key of {arg_name}', key, key_types, prim_name)
        check_value_type(f'{arg_name}[{key}]', value, value_types, prim_name)
    return arg_value


def check_size_and_element_type_of_tuple(arg_name, arg_value, expect_size, expect_element_type, prim_name=None):
    """The tuple, which must have a length and elements of a type."""
    check_value_type(arg_name, arg_value, [tuple], prim_name)
    check_equal_int(len(arg_value), expect_size, f'size of {arg_name}', prim_name)
    return check_element_type_of_iterable(arg_name, arg_value, [expect_element_type], prim_name)


def check_axis_in_range(axis, ndim):
    """The axis counted from the front; it must be one of ndim."""
    if not isinstance(axis, int):
        raise TypeError(f"The 'axis' must be int, but got {_kind(axis)}.")
    if not -ndim <= axis < ndim:
        raise ValueError(f"The 'axis' must be in the range of [-{ndim}, {ndim}), but got {axis}.")
    return axis % ndim if ndim else 0


def check_and_canonicalize_axes(axes, ndim):
    """Axes, an int or a tuple, as a tuple counted from the front."""
    return tuple(check_axis_in_range(axis, ndim) for axis in (axes if isinstance(axes, tuple) else (axes,)))


def check_axis_valid(axes, ndim):
    """The same for ints and tuples without twins; None means all."""
    if axes is None:
        return tuple(range(ndim))
    found = check_and_canonicalize_axes(tuple(axes) if isinstance(axes, list) else axes, ndim)
    if len(set(found)) != len(found):
        raise ValueError(f"The element of parameter 'axis' can not be duplicate, but got {axes}.")
    return found


def check_swapaxes_axis(axes, ndim):
    """One axis, or a tuple or list of them, counted from the front."""
    if isinstance(axes, (tuple, list)):
        return tuple(check_axis_in_range(axis, ndim) for axis in axes)
    return check_axis_in_range(axes, ndim)


def check_transpose_axis(axes, ndim):
    """The order that the arguments of transpose ask for: none for the reverse one, a sequence, or each by itself."""
    if not axes or axes == (None,):
        return tuple(range(ndim))[::-1]
    order = tuple(axes[0]) if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else tuple(axes)
    for axis in order:
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise TypeError(f"For Tensor.transpose, the parameter 'axes' must be a tuple/list, or series of integer, but got {type(axis)}")
    if len(order) != ndim:
        raise ValueError(f"For Tensor.transpose, the number of axes must be equal to the dimension of Tensor, but got {len(order)} "
                         f"in the number of axes.")
    return order


def prepare_shape_for_squeeze(shape, axes):
    """The shape without axes of size 1."""
    gone = {check_axis_in_range(axis, len(shape)) for axis in (axes if isinstance(axes, (tuple, list)) else (axes,))}
    for axis in gone:
        if shape[axis] != 1:
            raise ValueError(f"For Tensor.squeeze, the shape of parameter 'axis' {axes} must be 1, but got {shape[axis]}.")
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def infer_out_shape(*shapes):
    """The shape that shapes make together."""
    rank = max(len(shape) for shape in shapes)
    columns = list(zip(*((1,) * (rank - len(shape)) + tuple(shape) for shape in shapes)))
    if any(len(set(column) - {1}) > 1 for column in columns):
        raise ValueError(f"For Tensor, the dimension on each axis must be 1 or the max value on the axis to support broadcasting, but got "
                         f"shapes {shapes}")
    return tuple(next((n for n in column if n != 1), 1) for column in columns)


def check_reduce_shape(ori_shape, shape, axis, prim_name, arg_name1, arg_name2):
    """Raises unless a shape is another one without axes."""
    gone = {a % len(ori_shape) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))}
    if tuple(n for i, n in enumerate(ori_shape) if i not in gone) != tuple(shape):
        raise ValueError(f"For '{prim_name}', the shape of parameter '{arg_name1}' reduce on 'axis': {axis} must be equal to the shape of "
                         f"'{arg_name2}': {shape}, but got {ori_shape}.")


def check_pad_value_by_mode(pad_mode, padding, prim_name):
    """The padding, which must be 0 unless the mode is 'pad'."""
    if pad_mode != 'pad' and padding != 0:
        raise ValueError(f"For '{prim_name}', padding must be zero when pad_mode is '{pad_mode}', but got {padding}.")
    return padding


def check_reshape_shp(shp):
    """The shape that the arguments of reshape ask for: a sequence, or each size by itself."""
    return tuple(shp[0]) if len(shp) == 1 and isinstance(shp[0], (list, tuple)) else shp


def check_flatten_order(order):
    """Raises unless this is an order of flatten."""
    if not isinstance(order, str):
        raise TypeError(f"For Tensor.flatten, the parameter 'order' must be a string, but got {type(order)}")
    if order not in ('C', 'F'):
        raise ValueError(f"For Tensor.flatten, the parameter 'order' must be 'C' or 'F', but got '{order}'")


def check_axis_type(axis, type_int=True, type_tuple=True, type_list=True):
    """True if an axis is of one of the kinds that are allowed."""
    kinds = [kind for kind, allowed in ((int, type_int), (tuple, type_tuple), (list, type_list)) if allowed]
    if not isinstance(axis, tuple(kinds)):
        raise TypeError(f"The axis should be {', '.join(kind.__name__ for kind in kinds)}, but got {type(axis)}.")
    return True


def expanded_shape(ndim, axis_size, axis):
    """ndim ones, but a size at an axis."""
    return tuple(axis_size if i == axis else 1 for i in range(ndim))


def tuple_slice(tup, start, end):
    """A part of a tuple."""
    return tup[start:end]


max_, min_ = max, min


# --- Tensors ---------------------------------------------------------------------------------------------------------

def is_stub_tensor(tensor):
    """Is this a Tensor that is still being computed? None is."""
    return False


def check_tensors_dtypes_same_and_valid(args, valid_dtypes, prim_name):
    """Raises unless the types of Tensors, by name, are one of some and the same."""
    kinds = {name: getattr(kind, 'element_type', lambda kind=kind: kind)() for name, kind in args.items()}
    for name, kind in kinds.items():
        check_type_name(name, kind, valid_dtypes, prim_name)
    if len({str(kind) for kind in kinds.values()}) > 1:
        raise TypeError(f"For '{prim_name}', the element types of {', '.join(kinds)} should be the same, but got "
                        f"{', '.join(map(str, kinds.values()))}.")


def check_types_same_and_valid(args, valid_values, prim_name):
    """Raises unless types, by name, are one of some and the same."""
    first = next(iter(args), None)
    for name, kind in args.items():
        check_type_name(name, kind, valid_values, prim_name)
        if kind != args[first]:
            raise TypeError(f"For '{prim_name}', the type of '{name}' should be same as '{first}', but got {args[first]} and {kind}.")


def check_scalar_or_tensor_types_same(args, valid_values, prim_name, allow_mix=False):
    """The same; with allow_mix a Tensor's type stands for that of its elements."""
    if allow_mix:
        args = {name: getattr(kind, 'element_type', lambda kind=kind: kind)() for name, kind in args.items()}
    check_types_same_and_valid(args, valid_values, prim_name)


def check_tensor_dtype_valid(arg_name, arg_type, valid_dtypes, prim_name):
    """Raises unless the type of a Tensor has elements of one of some dtypes."""
    if not hasattr(arg_type, 'element_type'):
        raise TypeError(f"For '{prim_name}', the element of '{arg_name}' must be the type of a Tensor, but got {arg_type}.")
    check_type_name(arg_name, arg_type.element_type(), valid_dtypes, prim_name)


def check_astype_dtype(dtype):
    """The dtype that a dtype, a name or a type of Python or numpy means."""
    from spore.common import dtype as mstype
    if isinstance(dtype, mstype.Type):
        return dtype
    try:
        return getattr(mstype, dtype) if isinstance(dtype, str) and hasattr(mstype, dtype) else mstype.pytype_to_dtype(dtype)
    except (NotImplementedError, TypeError):
        raise TypeError(f"For Tensor.astype, the input type must be a dtype, a name of one, or a type of Python or numpy, but got "
                        f"'{dtype}'.") from None


def check_type_support(dtype, device, supported_dtypes):
    """Can a device compute with this dtype? Devices other than the one in use are not asked."""
    from spore.context import get_context
    return dtype in supported_dtypes or get_context('device_target') != device


def check_hook_fn(hook_fn):
    """Raises unless this can be called."""
    if not callable(hook_fn):
        raise TypeError(f"Expected a callable hook function, but got {_kind(hook_fn)}.")


def _check_sparse(shape, **tensors):
    from spore._core import Tensor
    for name, value in tensors.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"For SparseTensors, '{name}' must be Tensor, but got {type(value)}.")
    if not isinstance(shape, tuple):
        raise TypeError(f"For SparseTensors, 'shape' must be tuple, but got {type(shape)}.")


def check_coo_tensor_input(indices, values, shape):
    """Raises unless these are what a COOTensor is made of."""
    _check_sparse(shape, indices=indices, values=values)


def check_csr_tensor_input(indptr, indices, values, shape):
    """Raises unless these are what a CSRTensor is made of."""
    _check_sparse(shape, indptr=indptr, indices=indices, values=values)


check_sparse_tensor_input = check_coo_tensor_input


def _check_index_dtype(what, dtype):
    from spore.common import dtype as mstype
    if dtype not in (mstype.int16, mstype.int32, mstype.int64):
        raise TypeError(f"For {what} must be int16, int32 or int64, but got {dtype}.")


def check_coo_tensor_dtype(indices_dtype):
    """Raises unless indices of this dtype can be a COOTensor's."""
    _check_index_dtype("COOTensor, the type of 'indices'", indices_dtype)


def check_csr_tensor_dtype(indptr_dtype, indices_dtype):
    """Raises unless these can be dtypes of a CSRTensor's indptr and indices."""
    _check_index_dtype("CSRTensor, the type of 'indptr'", indptr_dtype)
    _check_index_dtype("CSRTensor, the type of 'indices'", indices_dtype)


def check_coo_tensor_shape(indices_shp, values_shp, coo_shp):
    """Raises unless the shapes of the parts of a COOTensor fit its own."""
    if len(coo_shp) != 2 or min(coo_shp) <= 0:
        raise ValueError(f"For COOTensor, 'shape' must be two positive sizes, but got {coo_shp}.")
    if len(indices_shp) != 2 or indices_shp[1] != 2:
        raise ValueError(f"For COOTensor, 'indices' must be of shape (n, 2), but got {indices_shp}.")
    if len(values_shp) != 1 or values_shp[0] != indices_shp[0]:
        raise ValueError(f"For COOTensor, 'values' must have one element for each of the {indices_shp[0]} indices, but got shape "
                         f"{values_shp}.")


def check_csr_tensor_shape(indptr_shp, indices_shp, values_shp, csr_shp):
    """Raises unless the shapes of the parts of a CSRTensor fit its own."""
    if len(csr_shp) < 2 or len(indptr_shp) != 1 or len(indices_shp) != 1:
        raise ValueError(f"For CSRTensor, indptr and indices must have 1 dimension and the shape at least 2, but got {indptr_shp}, "
                         f"{indices_shp} and {csr_shp}")
    if indptr_shp[0] != csr_shp[0] + 1:
        raise ValueError(f"For CSRTensor, indptr must have length (1 + shape[0]), but got: {indptr_shp[0]}")
    if indices_shp[0] != values_shp[0]:
        raise ValueError(f"For CSRTensor, indices and values must have the same length, but got {indices_shp[0]} and {values_shp[0]}")


# --- arguments of functions ------------------------------------------------------------------------------------------

def args_type_check(*type_args, **type_kwargs):
    """Decorator: the arguments of a function must be of the given types."""
    def decorate(function):
        signature = inspect.signature(function)
        wanted = signature.bind_partial(*type_args, **type_kwargs).arguments

        @functools.wraps(function)
        def call(*args, **kwargs):
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in wanted and value is not None and not isinstance(value, wanted[name]):
                    raise TypeError(f"The argument '{name}' of '{function.__name__}' must be {wanted[name]}, but got "
                                    f"{_kind(value)}.")
            return function(*args, **kwargs)
        return call
    return decorate


def check_valid_input(arg_name, arg_value, prim_name):
    """The value, which must not be None."""
    if arg_value is None:
        raise ValueError(f"For '{prim_name}', the argument '{arg_name}' can not be None.")
    return arg_value


def check_input_format(input_param):
    """The order of an image's dimensions, which must be NCHW."""
    if input_param != "NCHW":
        raise ValueError(f"The data format must be NCHW, but got {input_param}.")
    return input_param


def check_input_data(*data, data_class):
    """Raises unless all data, also inside lists, tuples and dictionaries, are of a class."""
    for item in data:
        if isinstance(item, (list, tuple)):
            check_input_data(*item, data_class=data_class)
        elif isinstance(item, dict):
            check_input_data(*item.values(), data_class=data_class)
        elif not isinstance(item, data_class):
            wanted = ', '.join(_type_names(data_class if isinstance(data_class, tuple) else (data_class,)))
            raise TypeError(f"The types of input data must be {wanted}, or tuples, lists and dicts of them, but got type {_kind(item)}.")


def check_input_dataset(*dataset, dataset_type):
    """Are these data sets (one at least)?"""
    return bool(dataset) and all(isinstance(item, dataset_type) for item in dataset)


def check_output_data(data):
    """Raises if a network gave nothing."""
    if data is None:
        raise RuntimeError("The output data can not be None, please check your net or input data.")


def _repeated(n):
    def repeat(m):
        if isinstance(m, numbers.Number):
            return (m,) * n
        if isinstance(m, (tuple, list)) and len(m) in (1, n):
            return tuple(m) * (n if len(m) == 1 else 1)
        raise ValueError(f"a number or {n} of them are wanted, but got {m!r}")
    repeat.__doc__ = f"A number {n} times, or {n} numbers as they are."
    return repeat


once, twice, triple = _repeated(1), _repeated(2), _repeated(3)


def _check_3d_int_or_tuple(arg_name, arg_value, prim_name, allow_five=False, ret_five=False, greater_zero=True, third_one=False,
                           three_input=False):
    """An int or three of them (five, the outer two 1, where allowed) as a tuple of three or five."""
    tuples = (3, 5) if allow_five else (3,)
    if isinstance(arg_value, int) and not isinstance(arg_value, bool):
        value = (arg_value,) * 3
    elif isinstance(arg_value, tuple) and len(arg_value) in tuples:
        value = arg_value[2:] if len(arg_value) == 5 else arg_value
    else:
        raise ValueError(f"For '{prim_name}', attr '{arg_name}' must be a positive int or a tuple of {tuples} of them, but got "
                         f"{arg_value!r}.")
    if any(isinstance(v, bool) or not isinstance(v, int) or v < (1 if greater_zero else 0) for v in value):
        raise ValueError(f"For '{prim_name}', attr '{arg_name}' must hold {'positive' if greater_zero else 'non-negative'} ints, "
                         f"but got {arg_value!r}.")
    if third_one and value[0] != 1:
        raise ValueError(f"For '{prim_name}', attr '{arg_name}' must be 1 in depth, but got {arg_value!r}.")
    return (1, 1) + value if ret_five else value


# --- as MindSpore 1 and 2.0 had them ---------------------------------------------------------------------------------

Rel = enum.IntEnum("Rel", "EQ NE LT LE GT GE INC_NEITHER INC_LEFT INC_RIGHT INC_BOTH IN NOT_IN")
Validator = type("Validator", (), {"__doc__": "The checks of this module as static methods.",
                                   **{name: staticmethod(f) for name, f in list(globals().items())
                                      if inspect.isfunction(f) and (name.startswith(("check_", "infer_", "prepare_")) or name == "check")}})

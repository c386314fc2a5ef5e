# SPDX-License-Identifier: Apache-2.0
"""Descriptions of kernels that users write for processors: kept as data, since kernels of one's own are Python functions here
(`ops.Custom` with func_type "pyfunc" or "hybrid")."""
import functools
import json

from spore._core import type_name as _type_name
from spore.ops.primitive import Registry

_LAYOUTS = ("None", "Default", "5HD", "C1HWNCoC0", "FracZ", "FracNZ", "NHWC", "HWCN", "NDHWC", "NCDHW", "NDC1HWC0", "FracZ_3D",
            "ChannelLast", "NCHW", "FracZNLSTM", "ChannelFirst")
_KINDS = {"None": "None", "BOOL": "bool", "I8": "int8", "U8": "uint8", "I16": "int16", "U16": "uint16", "I32": "int32", "U32": "uint32",
          "I64": "int64", "U64": "uint64", "F16": "float16", "F32": "float32", "F64": "float64", "C64": "complex64", "C128": "complex128",
          "BF16": "bfloat16"}


class DataType:
    """A dtype with a layout of memory, as descriptions of kernels name them: `DataType.F32_Default`."""


for _kind, _dtype in _KINDS.items():
    for _layout in _LAYOUTS:
        _format = {"None": "", "Default": "DefaultFormat", "5HD": "NC1HWC0"}.get(_layout, "FRACTAL_" + _layout[4:].upper()
                                                                               if _layout.startswith("Frac") else _layout)
        setattr(DataType, f"{_kind}_{_layout}", ("" if _dtype == "None" else _dtype, _format))
    for _kind_of in ("Tuple", "List"):
        setattr(DataType, f"{_kind}_Default_{_kind_of}", (_dtype, "DefaultFormat", _kind_of.lower()))
    if _kind != "None":
        setattr(DataType, _kind, (_dtype, "DefaultFormat"))


class RegOp:
    """The description of a kernel: inputs, outputs, attributes and dtypes, gathered by calls that return it."""

    def __init__(self, op_name):
        if not isinstance(op_name, str):
            raise TypeError(f"the name of an operator must be a str, but got {_type_name(op_name)}")
        self.op_name, self.inputs, self.outputs, self.attr_, self.dtype_format_, self.fusion_type_ = op_name, [], [], [], [], ""

    def _put(self, rows, names, args, kwargs):
        row = {key: value for key, value in zip(names, args) if value is not None}
        row.update(kwargs)
        rows.append(row)
        return self

    def input(self, *args, **kwargs):
        """An input: number, name and more."""
        return self._put(self.inputs, ("index", "name", "need_compile", "param_type", "shape"), args, kwargs)

    def output(self, *args, **kwargs):
        """An output: number, name and more."""
        return self._put(self.outputs, ("index", "name", "need_compile", "param_type", "shape"), args, kwargs)

    def attr(self, *args, **kwargs):
        """An attribute."""
        return self._put(self.attr_, ("name", "param_type", "type", "value", "default_value"), args, kwargs)

    def dtype_format(self, *args):
        """The dtypes and layouts of inputs and outputs of one kernel."""
        self.dtype_format_.append([list(kind) for kind in args])
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def option(value=None):
            self.__dict__[name + "_"] = value
            return self
        return option

    def get_op_info(self):
        """The description as a dictionary."""
        info = {"op_name": self.op_name, "inputs": self.inputs, "outputs": self.outputs, "attr": self.attr_,
                "dtype_format": self.dtype_format_}
        info.update({key[:-1]: value for key, value in self.__dict__.items() if key.endswith("_") and key not in ("attr_",
            "dtype_format_")})
        return info


class CpuRegOp(RegOp):
    """The description of a kernel of a CPU."""


class AkgGpuRegOp(RegOp):
    """The description of a kernel of a GPU."""


class AkgAscendRegOp(RegOp):
    """The description of a kernel of an Ascend processor."""


class AiCPURegOp(RegOp):
    """The description of a kernel of the CPU in an Ascend processor."""


class TBERegOp(RegOp):
    """The description of a kernel of an Ascend processor."""

    _FIELDS = {"async_flag": "async_flag_", "binfile_name": "binfile_", "compute_cost": "compute_cost_",
               "dynamic_compile_static": "dynamic_compile_static_", "dynamic_rank_support": "dynamic_rank_support_",
               "dynamic_shape": "dynamic_shape_support_", "input_to_attr_index": "input_to_attr_index_", "is_dynamic_format": "dynamic_format_",
               "kernel_name": "kernel_", "need_check_supported": "need_check_support_", "op_pattern": "op_pattern_",
               "partial_flag": "partial_flag_", "real_input_index": "real_input_index_", "reshape_type": "reshape_type_",
               "unknown_shape_formats": "unknown_shape_formats_"}


class CustomRegOp(RegOp):
    """The description of a kernel for ops.Custom."""

    def __init__(self, op_name="Custom"):
        super().__init__(op_name)


def _setter(name, field):
    def set_field(self, value):
        setattr(self, field, value)
        return self
    set_field.__name__, set_field.__doc__ = name, f"Describe the kernel's {name.replace('_', ' ')}; kept as `{field}`."
    return set_field


for _name, _field in TBERegOp._FIELDS.items():
    setattr(TBERegOp, _name, _setter(_name, _field))
CustomRegOp.target = _setter("target", "target_")

REGISTERED = {}


def op_info_register(op_info):
    """Keep the description of a kernel, a dictionary or JSON text, beside the function that describes it."""
    info = json.loads(op_info) if isinstance(op_info, str) else op_info
    if not isinstance(info, dict):
        raise TypeError(f"op_info_register: a dict or JSON text is wanted, but got {_type_name(op_info)}")

    def decorate(function):
        REGISTERED[info.get("op_name", function.__name__)] = info

        @functools.wraps(function)
        def run(*args, **kwargs):
            return function(*args, **kwargs)
        return run
    return decorate


def custom_info_register(*reg_info):
    """Keep descriptions of kernels at the function that computes them."""
    def decorate(function):
        function.reg_info = [info if isinstance(info, dict) else info.get_op_info() for info in reg_info]
        return function
    return decorate


vm_impl_registry = Registry()


def get_vm_impl_fn(prim):
    """The function that vm_impl_registry's entry for a primitive makes, or None."""
    maker = vm_impl_registry.get(prim)
    return None if maker is None else maker(prim)


class CustomOpBuilder:
    """Kernels in C++ against MindSpore's headers, which are not here."""

    def __init__(self, name, sources, backend=None, include_paths=None, cflags=None, ldflags=None, **kwargs):
        raise NotImplementedError("CustomOpBuilder compiles C++ against MindSpore's own headers, which spore does not have; write the "
                                  "operator in Python (ops.Custom, func_type='pyfunc'), or in C against spore's headers")

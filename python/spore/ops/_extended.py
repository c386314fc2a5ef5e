# SPDX-License-Identifier: Apache-2.0
"""Names that MindSpore's generated modules give to the operators of mint: `add_ext` is mint.add, `AddExt` its primitive."""
import re

from ._make import primitive

_PLACES = ("", "nn.functional", "linalg", "special")
# primitives whose function has another name, or arguments of its constructor
_OTHER = {"Arange": "arange", "SplitWithSize": "split", "SplitTensor": "split", "ClampScalar": "clamp", "ClampTensor": "clamp",
          "FmodScalar": "fmod", "FmodTensor": "fmod", "RepeatInterleaveTensor": "repeat_interleave",
          "RepeatInterleaveInt": "repeat_interleave", "BatchMatMulExt": "bmm", "MatMulExt": "matmul", "Embedding": "embedding",
          "LogSigmoid": "logsigmoid", "XLogYScalarOther": "xlogy", "XLogYScalarSelf": "xlogy", "PowScalarTensor": "pow",
          "PowTensorScalar": "pow", "MaxDim": "max", "MinDim": "min", "UniqueDim": "unique", "Unique2": "unique",
          "LinSpaceExt": "linspace", "AvgPool2D": "avg_pool2d", "AddLayerNormV2": None, "LayerNormExt": "layer_norm",
          "BatchNormExt": "batch_norm", "ConvolutionStr": "conv2d", "NewZeros": None, "NewOnes": None,
          "t_ext": "t", "matrix_inverse_ext": "inverse", "linalg_qr": "qr", "clamp_scalar": "clamp", "clamp_tensor": "clamp",
          "solve_triangular": None, "leaky_relu_ext": "leaky_relu", "arctan2_ext": "arctan2"}
_KEPT = {"StackExt": "dim=0", "Concat": "axis=0"}


def _of_mint(name):
    from .. import mint
    for place in _PLACES:
        home = mint
        for part in place.split(".") if place else ():
            home = getattr(home, part)
        found = vars(home).get(name)
        if callable(found):
            return found
    return None


def _snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _scaled(function):
    """mint.add and mint.sub with the factor of the second operand given by position too."""
    def scaled(input, other, alpha=1):
        return function(input, other, alpha=alpha)
    scaled.__name__, scaled.__doc__ = function.__name__, function.__doc__
    return scaled


def lookup(name):
    """The function or primitive of that name, or None."""
    if not (name.endswith(("_ext", "Ext", "_view")) or name in _OTHER):
        return None
    stem = re.sub("(_ext|Ext|_view|_ext_view)$", "", name)
    lower = name[0].islower()
    function = _of_mint(_OTHER.get(name) or stem.lower()) or _of_mint(_snake(stem))
    if function is not None and stem.lower() in ("add", "sub"):
        function = _scaled(function)
    if function is None or lower:
        return function
    if name in _KEPT:
        return primitive(name, lambda self, tensors: function(tensors, self.dim), _KEPT[name], function.__doc__)
    return primitive(name, lambda self, *args: function(*args), doc=function.__doc__)

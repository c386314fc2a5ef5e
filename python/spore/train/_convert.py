# SPDX-License-Identifier: Apache-2.0
"""Weights of other frameworks for a net: which value belongs to which parameter, and in which layout.

Other frameworks call and store some weights otherwise: the scale of a batch normalisation is `weight` in PyTorch and `gamma`
here, a dense kernel of TensorFlow is the transpose of ours. The net tells what is wanted, so values are matched in three
steps, each for what the one before has left over:

1. layers of the same path, with the names a weight may have elsewhere (`_NAMES`);
2. the same when all paths of one side have a common prefix (`model.`, `backbone.`);
3. layers in their order, when as many are left on both sides and their shapes agree one by one.
"""
import re
from collections import OrderedDict

import numpy as np

from spore import _core

__all__ = ["convert_parameters"]

# Our name of a weight -> its names elsewhere, best first.
_NAMES = {
    "weight": ("weight", "kernel", "weights", "depthwise_kernel", "depthwise_weights", "pointwise_kernel"),
    "bias": ("bias", "biases"),
    "gamma": ("gamma", "weight", "scale"),
    "beta": ("beta", "bias", "offset"),
    "moving_mean": ("moving_mean", "running_mean"),
    "moving_variance": ("moving_variance", "running_var", "moving_var"),
    "embedding_table": ("embedding_table", "weight", "embeddings"),
    "a": ("a", "weight", "alpha"),
    "w": ("w", "weight", "alpha"),
}
# Keras numbers the weights of a layer.
_NUMBERS = {"weight": "0", "bias": "1", "gamma": "0", "beta": "1", "moving_mean": "2", "moving_variance": "3",
            "embedding_table": "0"}
_KERNELS = ("kernel", "weights", "pointwise_kernel", "0")
_DEPTHWISE = ("depthwise_kernel", "depthwise_weights")
_IGNORED = ("num_batches_tracked",)
_SHOWN = 10
# What is known of files that do not hold our names. Files of unknown origin count as PyTorch's: their layouts are ours.
_TENSORFLOW = ("tensorflow", "h5", "keras", "tflite")


def _split(name):
    """Path of the layer and name of the weight in it."""
    path, _, local = name.replace("/", ".").removesuffix(":0").rpartition(".")
    return path, local


def _natural(path):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)]


def _layers(names, in_order):
    """Path -> {name of the weight: whole name}."""
    layers = OrderedDict()
    for name in names:
        path, local = _split(name)
        if local not in _IGNORED:
            layers.setdefault(path, {})[local] = name
    return layers if in_order else OrderedDict(sorted(layers.items(), key=lambda item: _natural(item[0])))


# --- layouts ---------------------------------------------------------------------------------------------------------

def _turned(array, local, param, cell, tensorflow):
    """The array in the layout of the parameter, or None when it does not fit."""
    shape = tuple(param.shape)
    kind = type(cell).__name__
    depthwise = array.ndim == 4 and shape == (array.shape[2] * array.shape[3], 1, *array.shape[:2])
    if tensorflow and local in _DEPTHWISE + _KERNELS and depthwise and getattr(cell, "group", 1) > 1:
        array = array.transpose(2, 3, 0, 1).reshape(shape)
    elif tensorflow and local in _KERNELS and array.ndim >= 2 and kind != "Embedding":
        spatial = tuple(range(array.ndim - 2))
        array = array.transpose(array.ndim - 1, array.ndim - 2, *spatial)
    if array.shape == shape:
        return array
    # A convolution over one dimension is one over two here, of height 1.
    if array.ndim == 3 and len(shape) == 4 and shape == (array.shape[0], array.shape[1], 1, array.shape[2]):
        return array.reshape(shape)
    if array.size == param.size and array.size == 1:
        return array.reshape(shape)
    return None


def _lstm_of_keras(values, layer, locals_here, params):
    """kernel, recurrent_kernel and bias of a fused LSTM; its gates stand in our order. None: it is not one."""
    if set(layer) == {"0", "1", "2"}:
        layer = {"kernel": layer["0"], "recurrent_kernel": layer["1"], "bias": layer["2"]}
    if not {"kernel", "recurrent_kernel"} <= set(layer) or "weight_ih_l0" not in locals_here:
        return None
    result = {"weight_ih_l0": values[layer["kernel"]].T, "weight_hh_l0": values[layer["recurrent_kernel"]].T}
    if "bias" in layer:
        bias = values[layer["bias"]]
        result["bias_ih_l0"], result["bias_hh_l0"] = bias, np.zeros_like(bias)
    fits = all(k in result and result[k].shape == tuple(params[n].shape) for k, n in locals_here.items())
    return result if fits else None


# --- matching --------------------------------------------------------------------------------------------------------

class _Matcher:
    """One conversion. `found`: name of the parameter -> (array or value, name in the file, how it was changed)."""

    def __init__(self, net, parameter_dict, name_map, tensorflow, in_order):
        self.params = OrderedDict((p.name, p) for _, p in net.parameters_and_names())
        self.cells = {}
        for _, cell in net.cells_and_names():
            for param in cell.__dict__.get("_params", {}).values():
                if param is not None:
                    self.cells.setdefault(param.name, cell)
        self.values = {k: v for k, v in parameter_dict.items() if not isinstance(v, (str, list))}
        self.tensorflow = tensorflow
        self.in_order = in_order
        self.found = OrderedDict()
        self.used = set()
        self.other_shape = OrderedDict()
        for old, new in (name_map or {}).items():
            self._by_map(old, new)

    def _array(self, name):
        return self.values[name].asnumpy()

    def _by_map(self, old, new):
        if old not in self.values or new not in self.params:
            where, name = ("values", old) if old not in self.values else ("parameters of the net", new)
            raise ValueError(f"For 'convert_parameters', name_map has '{name}', which is not among the {where}.")
        if not self._take(new, old, "name_map"):
            raise ValueError(f"For 'convert_parameters', name_map: '{old}' with shape {tuple(self.values[old].shape)} does not "
                             f"fit '{new}' with shape {tuple(self.params[new].shape)}.")

    def _take(self, param_name, name, how):
        """Give the value of that name to the parameter, if it fits."""
        param, value = self.params[param_name], self.values[name]
        local = _split(name)[1]
        turn = self.tensorflow and local in _KERNELS + _DEPTHWISE
        if not turn and tuple(value.shape) == tuple(param.shape):
            self.found[param_name] = (value, name, how)
        else:
            array = _turned(self._array(name), local, param, self.cells.get(param_name), self.tensorflow)
            if array is None:
                return False
            self.found[param_name] = (np.ascontiguousarray(array), name, how + ", other layout")
        self.used.add(name)
        return True

    def _match_layer(self, ours, theirs, how, whole=False):
        """Weights of one layer. whole: all of them, or none: where paths do not agree, a half-filled layer is a wrong guess.
        Answers whether all were found."""
        keras = None
        if self.tensorflow:
            keras = _lstm_of_keras({n: self._array(n) for n in theirs.values()}, theirs, ours, self.params)
        if keras is not None:
            for local, name in ours.items():
                self.found[name] = (np.ascontiguousarray(keras[local]), next(iter(theirs.values())), how + ", fused gates")
            self.used |= set(theirs.values())
            return True
        before = dict(self.found), set(self.used)
        for local, name in ours.items():
            wanted = (local, *_NAMES.get(local, ()), _NUMBERS.get(local) if self.tensorflow else None)
            names = [theirs[n] for n in wanted if n in theirs and theirs[n] not in self.used]
            if any(self._take(name, candidate, how) for candidate in names):
                continue
            if whole:
                self.found, self.used = OrderedDict(before[0]), before[1]
                return False
            if names:
                self.other_shape[name] = names[0]
        return True

    def _left(self):
        ours = _layers([n for n in self.params if n not in self.found], True)
        theirs = _layers([n for n in self.values if n not in self.used], self.in_order)
        return ours, theirs

    def by_path(self):
        """Steps 1 and 2."""
        ours, theirs = self._left()
        for path, layer in ours.items():
            if path in theirs:
                self._match_layer(layer, theirs[path], "name")
        for prefix in self._prefixes():
            ours, theirs = self._left()
            for path, layer in ours.items():
                other = prefix + path if not prefix.startswith("-") else path.removeprefix(prefix[1:])
                if other in theirs:
                    self._match_layer(layer, theirs[other], "prefix")

    def _prefixes(self):
        """Beginnings that one side has and the other has not; ours with a minus in front."""
        ours, theirs = self._left()
        found = []
        for path in list(ours)[:_SHOWN]:
            for other in theirs:
                if path and other.endswith("." + path):
                    found.append(other[:len(other) - len(path)])
                elif other and path.endswith("." + other):
                    found.append("-" + path[:len(path) - len(other)])
        return list(OrderedDict.fromkeys(found))

    def by_order(self):
        """Step 3: layer by layer, all or nothing."""
        ours, theirs = self._left()
        theirs = list(theirs.values())
        if not ours or len(ours) > len(theirs):
            return
        before = OrderedDict(self.found), set(self.used)
        at = 0
        for layer in ours.values():
            # Without an order of their own (TensorFlow sorts names) layers of one kind at least are numbered.
            at = at if self.in_order else 0
            while at < len(theirs) and not ((len(theirs[at]) == len(layer) or "weight_ih_l0" in layer)
                                            and self._match_layer(layer, theirs[at], "order", whole=True)):
                at += 1
            if at == len(theirs):
                self.found, self.used = before
                return
            del theirs[at]

    def report(self, title):
        """A few lines for people."""
        kinds = OrderedDict()
        for name, (_, old, how) in self.found.items():
            kinds.setdefault(how, []).append(f"{old} -> {name}" if old != name else name)
        lines = [f"{len(self.found)} of {len(self.params)} parameters from {title}"]
        lines += [f"  by {how}: {_short(names)}" for how, names in kinds.items()]
        wrong = [f"{old} {tuple(self.values[old].shape)} -> {name} {tuple(self.params[name].shape)}"
                 for name, old in self.other_shape.items() if name not in self.found]
        if wrong:
            lines.append(f"  other shape: {_short(wrong)}")
        missing = [n for n in self.params if n not in self.found]
        unused = [n for n in self.values if n not in self.used and _split(n)[1] not in _IGNORED]
        if missing:
            lines.append(f"  without a value: {_short(missing)}")
        if unused:
            lines.append(f"  not used: {_short(unused)}")
        return "\n".join(lines)


def _short(names):
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def convert_parameters(net, parameter_dict, name_map=None, origin=None):
    """Find out which value of another framework belongs to which parameter of a net, and bring it into its layout.

    :func:`load_checkpoint` with ``net`` and :func:`load_param_into_net` do this by themselves for files that are not
    MindSpore's; call it to see what they would do, or to decide otherwise.

    Args:
        net (Cell): The net.
        parameter_dict (dict): Names and Parameters, as :func:`load_checkpoint` returns.
        name_map (dict): From names in parameter_dict to names in the net, for values that are not found otherwise or should
            go elsewhere. Default: ``None``.
        origin (str): ``"torch"`` or ``"tensorflow"``, whose layouts the values have; ``None``: what the file was.

    Returns:
        tuple, a dict from names in the net to Parameters, and a report, str.

    Raises:
        ValueError: name_map has a name that does not exist, or a value that does not fit.

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import nn
        >>> from spore.train import convert_parameters
        >>> weights = {"fc.weight": ms.Parameter(np.ones((2, 3), np.float32)), "fc.bias": ms.Parameter(np.zeros(2, np.float32))}
        >>> net = nn.SequentialCell(nn.Dense(3, 2))
        >>> values, report = convert_parameters(net, weights, origin="torch")
        >>> print(report)
        2 of 2 parameters from torch
          by order: fc.weight -> 0.weight, fc.bias -> 0.bias
    """
    import spore
    if origin is None:
        origin = origin_of(parameter_dict) or "torch"
    tensorflow = origin in _TENSORFLOW
    matcher = _Matcher(net, parameter_dict, name_map, tensorflow, in_order=not tensorflow)
    matcher.by_path()
    matcher.by_order()
    result = OrderedDict()
    for name, (value, _, _) in matcher.found.items():
        if isinstance(value, np.ndarray):
            value = spore.Parameter(_core.Tensor(value), name=name)
        result[name] = value
    return dict(result), matcher.report(origin)


def origin_of(parameter_dict):
    """The format of the file that a dict came from, when it is not MindSpore's; else None."""
    for value in parameter_dict.values():
        origin = getattr(value, "__dict__", {}).get("_origin")
        if origin is not None:
            return origin
    return None


def foreign_origin(bundle):
    """What load_checkpoint notes in Parameters: None for files with our own names."""
    kind = bundle.format()
    if kind in ("torch", *_TENSORFLOW):
        return kind
    if kind in ("safetensors", "sharded"):
        made_by = bundle.notes().get("format", "")
        return {"pt": "torch", "tf": "tensorflow"}.get(made_by, "torch" if kind == "sharded" else None)
    return None

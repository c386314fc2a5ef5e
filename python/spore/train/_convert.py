# SPDX-License-Identifier: Apache-2.0
"""Weights of other frameworks for a net: which value belongs to which parameter, and in which layout.

Other frameworks call and store some weights otherwise: the scale of a batch normalisation is `weight` in PyTorch and `gamma`
here, a dense kernel of TensorFlow is the transpose of ours. The net tells what is wanted, so values are matched in four
steps, each for what the one before has left over:

1. layers of the same path, with the names a weight may have elsewhere (`_NAMES`);
2. the same when all paths of one side have a common prefix (`model.`, `backbone.`);
3. parameters that are no weight of a layer (class tokens, positions), when no other has their shape;
4. layers in their order, when as many are left on both sides and their shapes agree one by one.
"""
import re
from collections import OrderedDict

import numpy as np

from spore import _core

__all__ = ["convert_parameters"]

# Our name of a weight -> its names elsewhere, best first.
_NAMES = {
    "weight": ("weight", "kernel", "weights", "depthwise_kernel", "depthwise_weights", "pointwise_kernel", "in_proj_weight"),
    "bias": ("bias", "biases", "in_proj_bias"),
    "in_proj_weight": ("in_proj_weight", "weight"),
    "in_proj_bias": ("in_proj_bias", "bias"),
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
_ONLY_TORCH = (".running_mean", ".running_var", ".num_batches_tracked") # endings that MindSpore does not write
_ALL_LOCALS = {n for k, names in _NAMES.items() for n in (k, *names)} | set(_NUMBERS.values()) | {"recurrent_kernel"}
_SHOWN = 6
# What is known of files that do not hold our names. Files of unknown origin count as PyTorch's: their layouts are ours.
_TENSORFLOW = ("tensorflow", "h5", "keras", "tflite")


def _split(name):
    """Path of the layer and name of the weight in it. Layers of Keras 3 keep some weights as attributes with an underscore, by which
    TensorFlow calls them: _kernel."""
    path, _, local = name.replace("/", ".").removesuffix(":0").rpartition(".")
    return path, local[1:] if local[1:] in _ALL_LOCALS and local[0] == "_" else local


def _natural(path):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)]


def _layers(names, in_order):
    """Path -> {name of the weight: whole name}."""
    layers = OrderedDict()
    for name in names:
        path, local = _split(name)
        path = path.removesuffix(".bn2d") # BatchNorm3d is a BatchNorm2d inside
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
    # Scales of one axis stand in front of empty ones (96, 1, 1), or alone (96,).
    if array.size == param.size and [d for d in array.shape if d != 1] == [d for d in shape if d != 1]:
        return array.reshape(shape)
    return None


def _rnn_of_keras(values, layer, locals_here, params, ending=""):
    """kernel, recurrent_kernel and bias of a fused LSTM, GRU or simple layer; ending: "_reverse" for the way back. None: it is not one.
    Gates of an LSTM stand in our order, those of a GRU are update, reset, new there and reset, update, new here."""
    if set(layer) in ({"0", "1", "2"}, {"0", "1"}):
        layer = dict(zip(("kernel", "recurrent_kernel", "bias"), (layer[k] for k in sorted(layer))))
    names = [f"{kind}_l0{ending}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    if not {"kernel", "recurrent_kernel"} <= set(layer) or names[0] not in locals_here:
        return None
    inputs, hidden = values[layer["kernel"]].T, values[layer["recurrent_kernel"]].T
    size = hidden.shape[-1]
    bias = values[layer["bias"]] if "bias" in layer else np.zeros(inputs.shape[0], inputs.dtype)
    two = bias if bias.ndim == 2 else np.stack([bias, np.zeros_like(bias)]) # a GRU with reset_after has two of its own
    result = dict(zip(names, (inputs, hidden, *two)))
    if inputs.shape[0] == 3 * size:
        result = {k: v[np.r_[size:2 * size, :size, 2 * size:3 * size]] for k, v in result.items()}
    here = {k: n for k, n in locals_here.items() if k in names}
    fits = all(result[k].shape == tuple(params[n].shape) for k, n in here.items())
    return {n: result[k] for k, n in here.items()} if fits else None


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
        self.renamed = {} # name that a pattern gave -> name in the file
        self.stopped = None # where the order of layers did not go on
        self.used = set()
        if tensorflow:
            self._split_separable()
        self.other_shape = OrderedDict()
        for old, new in (name_map or {}).items():
            if "*" in old:
                self._rename(old, new)
        for old, new in (name_map or {}).items():
            if "*" not in old:
                self._by_map(old, new)

    def _array(self, name):
        return self.values[name].asnumpy()

    def _call_otherwise(self, new_names):
        self.renamed.update(zip(new_names.values(), new_names))
        self.values = OrderedDict((new_names.get(k, k), v) for k, v in self.values.items())

    def _split_separable(self):
        """A separable convolution of Keras is one layer; here it is two convolutions, one after the other."""
        parts = ("depthwise/depthwise_kernel", "pointwise/kernel", "pointwise/bias")
        for path, layer in _layers(self.values, True).items():
            names = [layer.get(k) for k in ("depthwise_kernel", "pointwise_kernel", "bias")]
            if names[:2] == [None, None] and set(layer) in ({"0", "1"}, {"0", "1", "2"}):
                names = [layer.get(k) for k in "012"]
                if any(len(self.values[n].shape) != 4 for n in names[:2]):
                    continue
            if names[0] and names[1]:
                self._call_otherwise({n: f"{path}/{part}" for n, part in zip(names, parts) if n})

    def _rename(self, old, new):
        """A pattern of name_map: values are called otherwise from now on, and matched as if the file had these names."""
        if new.count("*") > old.count("*"):
            raise ValueError(f"For 'convert_parameters', name_map: {new!r} has more stars than {old!r}.")
        pattern = re.compile("(.*?)".join(re.escape(part) for part in old.split("*")))
        renamed = {}
        for name in self.values:
            match = pattern.fullmatch(name)
            if match:
                texts = iter(match.groups())
                renamed[name] = "".join(next(texts) if part == "*" else part for part in re.split(r"(\*)", new))
        if not renamed:
            raise ValueError(f"For 'convert_parameters', name_map: no name of a value fits {old!r}.")
        self._call_otherwise(renamed)

    def _by_map(self, old, new):
        if old not in self.values or new not in self.params:
            where, name = ("values", old) if old not in self.values else ("parameters of the net", new)
            raise ValueError(f"For 'convert_parameters', name_map has {name!r}, which is not among the {where}.")
        if not self._take(new, old, "name_map"):
            raise ValueError(f"For 'convert_parameters', name_map: {old!r} with shape {tuple(self.values[old].shape)} does not "
                             f"fit {new!r} with shape {tuple(self.params[new].shape)}.")

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
        if self._match_keras_rnn(ours, theirs, how):
            return True
        if whole and len(ours) == len(theirs) == 1: # where there is one weight, its name says nothing
            return self._take(next(iter(ours.values())), next(iter(theirs.values())), how)
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

    def _match_keras_rnn(self, ours, theirs, how, ending=""):
        if not self.tensorflow:
            return False
        found = _rnn_of_keras({n: self._array(n) for n in theirs.values()}, theirs, ours, self.params, ending)
        for name, array in (found or {}).items():
            self.found[name] = (np.ascontiguousarray(array), next(iter(theirs.values())), how + ", fused gates")
        self.used |= set(theirs.values()) if found else set()
        return bool(found)

    def keras_both_ways(self):
        """Bidirectional layers of Keras are two, forward_layer and backward_layer; ours is one."""
        ours, theirs = self._left()
        ways = [(path, path.replace("forward", "backward")) for path in theirs if "forward" in path]
        for layer in ours.values():
            if not self.tensorflow or "weight_ih_l0_reverse" not in layer:
                continue
            for forth, back in ways:
                before = OrderedDict(self.found), set(self.used)
                if back in theirs and not set(theirs[forth].values()) & self.used:
                    if self._match_keras_rnn(layer, theirs[forth], "order") and self._match_keras_rnn(layer, theirs[back], "order", "_reverse"):
                        break
                    self.found, self.used = before

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

    def by_shape(self):
        """Step 3: parameters that stand alone."""
        alone = [[n for n in names if _split(n)[1] not in _ALL_LOCALS | set(_IGNORED)]
                 for names in ([n for n in self.params if n not in self.found], [n for n in self.values if n not in self.used])]
        shapes = [[tuple(table[n].shape) for n in names] for names, table in zip(alone, (self.params, self.values))]
        for name, shape in zip(alone[0], shapes[0]):
            if shape and shapes[0].count(shape) == shapes[1].count(shape) == 1:
                self._take(name, alone[1][shapes[1].index(shape)], "shape")

    def by_order(self):
        """Step 4: layer by layer, all or nothing."""
        ours, theirs = self._left()
        theirs = list(theirs.values())
        if not ours or len(ours) > len(theirs):
            return
        before = OrderedDict(self.found), set(self.used)
        at = begin = 0
        for layer in ours.values():
            # Without an order of their own (TensorFlow sorts names) layers of one kind at least are numbered.
            at = begin = at if self.in_order else 0
            while at < len(theirs) and not ((len(theirs[at]) == len(layer) or "weight_ih_l0" in layer)
                                            and self._match_layer(layer, theirs[at], "order", whole=True)):
                at += 1
            if at == len(theirs):
                if self.in_order:
                    self.stopped = next(iter(layer.values())), theirs[begin:begin + 1]
                self.found, self.used = before
                return
            del theirs[at]

    def report(self, title):
        """A few lines for people."""
        kinds = OrderedDict()
        for name, (_, old, how) in self.found.items():
            old = self.renamed.get(old, old)
            kinds.setdefault(how, []).append(f"{old} -> {name}" if old != name else name)
        lines = [f"{len(self.found)} of {len(self.params)} parameters from {title}"]
        lines += [f"  by {how}: {_short(names)}" for how, names in kinds.items()]
        wrong = [f"{old} {tuple(self.values[old].shape)} -> {name} {tuple(self.params[name].shape)}"
                 for name, old in self.other_shape.items() if name not in self.found]
        if wrong:
            lines.append(f"  other shape: {_short(wrong)}")
        if self.stopped:
            lines.append(f"  not by order: {self._why_stopped()}")
        missing = [n for n in self.params if n not in self.found]
        unused = [n for n in self.values if n not in self.used and _split(n)[1] not in _IGNORED]
        if missing:
            lines.append(f"  without a value: {_short(missing)}")
        if unused:
            lines.append(f"  not used: {_short(unused)}")
        return "\n".join(lines)


    def _why_stopped(self):
        name, theirs = self.stopped
        text = f"nothing fits {name} {tuple(self.params[name].shape)}"
        if theirs:
            other = next(iter(theirs[0].values()))
            text += f"; {other} {tuple(self.values[other].shape)} stands in its place"
        return text


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
            go elsewhere. A star stands for any text, the same on both sides: ``{"encoder.layer_*.ln_1.*": "blocks.*.norm1.*"}``;
            such names are matched as if the file had them. Default: ``None``.
        origin (str): ``"torch"`` or ``"tensorflow"``, whose layouts the values have; ``None``: what the file was.

    Returns:
        tuple, a dict from names in the net to Parameters, and a report, str.

    Raises:
        ValueError: name_map has a name that does not exist, or a value or pattern that does not fit.

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
    matcher.by_shape()
    matcher.keras_both_ways()
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


def looks_like_torch(parameter_dict, params):
    """Whether a file with MindSpore's format has PyTorch's names in it (read with torch, saved with save_checkpoint), which the net lacks."""
    names = {p.name for p in params}
    return any(k.endswith(_ONLY_TORCH) for k in parameter_dict) and not names <= set(parameter_dict)


def foreign_origin(bundle):
    """What load_checkpoint notes in Parameters: None for files with our own names."""
    kind = bundle.format()
    if kind in ("torch", *_TENSORFLOW):
        return kind
    if kind in ("safetensors", "sharded"):
        made_by = bundle.notes().get("format", "")
        return {"pt": "torch", "tf": "tensorflow"}.get(made_by, "torch" if kind == "sharded" else None)
    return None

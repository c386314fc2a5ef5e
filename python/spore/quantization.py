# SPDX-License-Identifier: Apache-2.0
"""Networks made to compute with small integers: quantize watches a network work on data and chooses scales."""
import json
import os
import tempfile

import numpy as np

from spore._core import type_name as _type_name
from spore import _core, ops
from spore._model import ModelCell
from spore.common.parameter import Parameter
from spore.common.tensor import Tensor
from spore.nn import Cell, Conv2d, Dense

__all__ = ["quantize", "Quantized", "QuantizationAwareTraining"]


class Quantized:
    """A network that computes with small integers, as `quantize` makes it.

    Args:
        core (spore._core.Quantized): What the engine made.
    """

    def __init__(self, core):
        self._core = core

    def save(self, file_name, opset=0):
        """Write it.

        Args:
            file_name (str): Where to, ending in ``.onnx`` or ``.mindir`` ; kind ``"weights"`` with 8 and 16 bits also ``.ms`` .
            opset (int): Version of ONNX's operators; 0: the lowest that holds it. Default: ``0`` .
        """
        self._core.save(file_name, opset)

    def cell(self):
        """The network as it is read from a file, a Cell that computes with integers."""
        from spore import onnx
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "quantised.onnx")
            self.save(path)
            return onnx.load(path)

    def report(self):
        """What became of each layer, for people: ranges, errors, effects on the results, and why some stay float."""
        return self._core.report()

    @property
    def figures(self):
        """The same as a dictionary; its `layers` are ranked, those that change the results most first."""
        return json.loads(self._core.report(True))

    def __repr__(self):
        figures = self.figures
        return f"<{figures['kind']} quantised network: {figures['layers_quantised']} of {len(figures['layers'])} layers>"


def _tensors(entries):
    return [e if isinstance(e, Tensor) else Tensor(np.asarray(e)) for e in entries]


class _Samples:
    """Samples of a data set by number, pass after pass."""

    def __init__(self, dataset, names):
        self._dataset = dataset
        self._names = names
        self._rows = None

    def _open(self):
        make = getattr(self._dataset, "create_tuple_iterator", None)
        rows = make(num_epochs=1, output_numpy=False) if make else iter(self._dataset)
        if rows is self._dataset:
            raise TypeError("dataset can be iterated over once only; several passes are made over it: give a list, or an object whose __iter__ starts anew")
        return iter(rows)

    def _split(self, row):
        if isinstance(row, dict):
            missing = [name for name in self._names if name not in row]
            if missing:
                raise ValueError(f"a sample has the entries {sorted(row)}, but the model takes {missing}")
            return [row[name] for name in self._names], row.get("label")
        row = list(row) if isinstance(row, (list, tuple)) else [row]
        n = len(self._names)
        if len(row) not in (n, n + 1):
            raise ValueError(f"a sample has {len(row)} entries, it must have {n}, one an input of the model, or {n + 1}: the last is the label")
        return row[:n], row[n] if len(row) > n else None

    def first(self):
        """The inputs of the first sample."""
        return _tensors(self._split(next(self._open()))[0])

    def __call__(self, i):
        if i == 0:
            self._rows = self._open()
        try:
            inputs, label = self._split(next(self._rows))
        except StopIteration:
            return None
        if label is not None:
            label = Tensor(np.asarray(label.asnumpy() if isinstance(label, Tensor) else label).reshape(-1).astype(np.int64))
        return _tensors(inputs), label


def _model_of(net, dataset, free_batch):
    """The engine's model of a path, a Cell that was loaded, or a network, which is written and read again."""
    if isinstance(net, (str, os.PathLike)):
        return _core.model_load(os.fspath(net))
    if isinstance(net, ModelCell):
        return net._model
    if not isinstance(net, Cell):
        raise TypeError(f"net must be a Cell, or the path of a model, but got {_type_name(net)}")
    from spore import onnx
    arguments = [name for name in net.construct.__code__.co_varnames[1:net.construct.__code__.co_argcount]]
    if dataset is None:
        raise ValueError("dataset is needed to know what the network takes; give one sample, or the path of a model")
    row = next(_Samples(dataset, [])._open())
    entries = list(row.values()) if isinstance(row, dict) else list(row) if isinstance(row, (list, tuple)) else [row]
    required = net.construct.__code__.co_argcount - 1 - len(net.construct.__defaults__ or ())
    if isinstance(row, dict):
        entries = [row[name] for name in arguments if name in row]
    inputs = _tensors(entries[:max(required, 1)])
    names = arguments[:len(inputs)]
    axes = {name: {0: "batch"} for name, x in zip(names, inputs) if x.ndim > 0} if free_batch else None
    training = net.training
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.onnx")
        net.set_train(False)
        try:
            onnx.export(net, *inputs, file_name=path, input_names=names, dynamic_axes=axes)
        finally:
            net.set_train(training)
        return _core.model_load(path)


def quantize(net, dataset=None, *, kind="static", bits=8, activation_bits=8, block=32, per_tensor=False, symmetric=False, method="minmax",
             rounding="nearest", percentile=99.99, bias_correction=True, equalize=False, keep=(), target=None, integer_only=False, effect_samples=8,
             free_batch=True):
    """Make a network compute with small integers.

    Args:
        net (Union[Cell, str]): The network, or the path of a model of any kind that is read.
        dataset (Union[Dataset, list]): Samples to calibrate with, batches of any size: Tensors or arrays, tuples of them with one entry an input (and a label
            behind, where `target` needs it), or dictionaries by the names of the inputs. It is gone through several times. Kinds ``"dynamic"`` and
            ``"weights"`` use it only to know what a Cell takes. Default: ``None`` .
        kind (str): ``"static"`` : weights and what flows between layers are int8; ``"dynamic"`` : scales of what flows are found in each run, in matrix
            products; ``"weights"`` : weights alone are small. Default: ``"static"`` .
        bits (int): Of weights: 8, or 7 for programs that sum pairs of products in 16 bits (ONNX Runtime without VNNI); of kind ``"weights"`` 8, 4 in blocks, or 16:
            float16. Default: ``8`` .
        activation_bits (int): Of what flows: 8 or 16. Default: ``8`` .
        block (int): How many weights of 4 bits share a scale. Default: ``32`` .
        per_tensor (bool): One scale for all channels of a weight. Default: ``False`` .
        symmetric (bool): No zero points. Default: ``False`` .
        method (str): How ranges follow from what was seen: ``"minmax"`` , ``"average"`` , ``"percentile"`` , ``"outliers"`` , ``"entropy"`` or
            ``"mse"`` . Default: ``"minmax"`` .
        rounding (str): Of weights: ``"nearest"`` , or ``"adaptive"`` : to the integers with which results of the layer change least on `dataset` , which is needed
            then for every kind; best with few bits. Default: ``"nearest"`` .
        percentile (float): Share of values inside of the range, in percent. Default: ``99.99`` .
        bias_correction (bool): Take back what rounding shifts the means of layers by. Default: ``True`` .
        equalize (bool): Cross-layer equalisation of weights first. Default: ``False`` .
        keep (Union[str, list, tuple]): Names of layers that stay float; a star stands for any text. Default: ``()`` .
        target (str): ``"accuracy>=0.97"`` , ``"relative>=0.99"`` , ``"agreement>=0.99"`` or ``"cosine>=0.999"`` : layers that lose most stay float until it
            holds. Default: ``None`` .
        integer_only (bool): Fail if an operator would stay float, and name all of them. Default: ``False`` .
        effect_samples (int): Samples that the effects of single layers are measured with; 0: they are not. Default: ``8`` .
        free_batch (bool): Whether the first axis of a Cell's inputs is left open. Default: ``True`` .

    Returns:
        Quantized, to be saved, or run as a Cell.

    Raises:
        ValueError: A wrong argument, or data that does not fit.
        NotImplementedError: The network holds nothing that can be quantised.
    """
    keep = [keep] if isinstance(keep, str) else list(keep)
    if not all(isinstance(name, str) for name in keep):
        raise TypeError(f"keep must be names of layers, but got {keep!r}")
    if effect_samples < 0:
        raise ValueError(f"effect_samples is {effect_samples}, it must not be negative; 0: effects are not measured")
    model = _model_of(net, dataset, free_batch)
    samples = _Samples(dataset, [name for name, _, _ in model.inputs()]) if dataset is not None and (kind == "static" or rounding == "adaptive") else None
    options = (kind, bits, activation_bits, block, per_tensor, symmetric, method, rounding, float(percentile), bias_correction, equalize, ",".join(keep), target,
               integer_only, effect_samples if effect_samples > 0 else -1)
    return Quantized(_core.quantize(model, samples, options))


# --- training that sees the rounding ------------------------------------------------------------------------------


class _Aware:
    """What layers do while they are trained for integers: round what comes in, and the weights, to what integers can hold. Gradients pass the rounding
    (straight-through estimator)."""

    def _round_input(self, x):
        low, high = self.input_low, self.input_high
        if self.training:
            least, most = ops.minimum(ops.amin(x), 0), ops.maximum(ops.amax(x), 0)
            first = ops.equal(low, high)  # nothing was seen yet
            step = self._aware.averaging
            ops.assign(low, ops.select(first, least, low + (least - low) * step))
            ops.assign(high, ops.select(first, most, high + (most - high) * step))
        levels = 2 ** self._aware.activation_bits - 1
        bottom = -(levels + 1) // 2
        scale = ops.maximum(ops.stop_gradient(high - low) / levels, 1e-12)
        zero = bottom - ops.round(ops.stop_gradient(low) / scale)
        return _core.apply("fake_quantize", (x, scale, zero), {"axis": 0, "low": bottom, "high": bottom + levels})

    def _rounded_weight(self):
        weight = self.weight
        most = 2 ** (self._aware.bits - 1) - 1
        sizes = ops.abs(ops.stop_gradient(weight))
        largest = ops.amax(sizes) if self._aware.per_tensor else ops.amax(sizes.reshape(weight.shape[0], -1), 1)
        scale = ops.maximum(largest / most, 1e-12)
        return _core.apply("fake_quantize", (weight, scale, ops.zeros_like(scale)), {"axis": 0, "low": -most, "high": most})


class _AwareConv2d(_Aware, Conv2d):
    def construct(self, x):
        return _core.apply("conv2d", (self._round_input(x), self._rounded_weight(), self.bias), self._attrs)


class _AwareDense(_Aware, Dense):
    def construct(self, x):
        x = ops.dense(self._round_input(x), self._rounded_weight(), self.bias)
        return self.activation(x) if self.activation_flag else x


_AWARE = {Conv2d: _AwareConv2d, Dense: _AwareDense}


class QuantizationAwareTraining:
    """Train a network so that it loses little when it is quantised: its layers round to what integers hold already while they are trained.

    Layers are changed in place and keep the names of their Parameters; each gets two more, the range of its inputs, that are observed and not trained.
    Activations are rounded where they enter a layer. `convert` gives the plain network back, with the weights that were trained; `quantize` makes integers of it.

    Args:
        bits (int): Of weights, 2 to 8. Default: ``8`` .
        activation_bits (int): Of what flows between layers, 2 to 16. Default: ``8`` .
        per_tensor (bool): One scale for all weights of a layer instead of one for each channel. Default: ``False`` .
        keep (sequence): Names of layers that stay as they are, as `Cell.cells_and_names` tells them. Default: ``()`` .
        averaging (float): How much a batch moves the observed ranges, in (0, 1]. Default: ``0.1`` .

    Examples:
        >>> import numpy as np
        >>> import spore as ms
        >>> from spore import nn, Tensor
        >>> net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
        >>> aware = ms.quantization.QuantizationAwareTraining(bits=8)
        >>> net = aware.apply(net)              # train it now, as any other
        >>> out = net.set_train()(Tensor(np.ones((3, 4), np.float32)))
        >>> net = aware.convert(net)
        >>> q = ms.quantize(net, [np.ones((3, 4), np.float32)])
        >>> print(q.figures["layers_quantised"])
        2
    """

    def __init__(self, bits=8, activation_bits=8, per_tensor=False, keep=(), averaging=0.1):
        for name, value, most in (("bits", bits, 8), ("activation_bits", activation_bits, 16)):
            if not isinstance(value, int) or isinstance(value, bool) or not 2 <= value <= most:
                raise ValueError(f"For 'QuantizationAwareTraining', the argument '{name}' must be an int in [2, {most}], but got {value!r}.")
        if not isinstance(averaging, (int, float)) or not 0 < averaging <= 1:
            raise ValueError(f"For 'QuantizationAwareTraining', the argument 'averaging' must be a number in (0, 1], but got {averaging!r}.")
        if isinstance(keep, str):
            raise TypeError(f"For 'QuantizationAwareTraining', the argument 'keep' must be a list of names of layers, but got the text {keep!r}.")
        self.bits, self.activation_bits, self.per_tensor, self.keep, self.averaging = bits, activation_bits, per_tensor, tuple(keep), float(averaging)

    def apply(self, network):
        """Let the layers of a network (Conv2d, Dense) round. Returns the network.

        Args:
            network (Cell): Changed in place. Make the optimizer afterwards or before: it trains the same Parameters.
        """
        if not isinstance(network, Cell):
            raise TypeError(f"For 'QuantizationAwareTraining.apply', the network must be a Cell, but got {_type_name(network)}.")
        layers = dict(network.cells_and_names())
        unknown = [name for name in self.keep if name not in layers]
        if unknown:
            raise ValueError(f"For 'QuantizationAwareTraining', 'keep' names {unknown[0]!r}, which the network does not have; its layers: {', '.join(filter(None, layers))}.")
        chosen = {name: layer for name, layer in layers.items() if type(layer) in _AWARE and name not in self.keep}
        if not chosen:
            raise ValueError("For 'QuantizationAwareTraining.apply', the network has no layer that could round: Conv2d or Dense, neither kept nor changed already.")
        for name, layer in chosen.items():
            layer.__class__ = _AWARE[type(layer)]
            layer._hooks_changed()  # compiled programs with the layer in them no longer fit
            layer._aware = self
            for end in ("input_low", "input_high"):
                setattr(layer, end, Parameter(Tensor(np.zeros((), np.float32)), name=f"{name}.{end}" if name else end, requires_grad=False))
        return network

    def convert(self, network):
        """The network without rounding, with the weights as they are. Returns it.

        Args:
            network (Cell): What `apply` changed; in place.
        """
        plain = {aware: layer for layer, aware in _AWARE.items()}
        changed = [layer for _, layer in network.cells_and_names() if type(layer) in plain]
        if not changed:
            raise ValueError("For 'QuantizationAwareTraining.convert', the network has no layer that 'apply' has changed.")
        for layer in changed:
            layer.__class__ = plain[type(layer)]
            layer._hooks_changed()
            del layer.input_low, layer.input_high, layer._aware
        return network

# SPDX-License-Identifier: Apache-2.0
"""Networks made to compute with small integers: quantize watches a network work on data and chooses scales."""
import json
import os
import tempfile

import numpy as np

from spore import _core
from spore._model import ModelCell
from spore.common.tensor import Tensor
from spore.nn import Cell

__all__ = ["quantize", "Quantized"]


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
            file_name (str): Where to, ending in ``.onnx`` or ``.mindir`` .
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
        raise TypeError(f"net must be a Cell, or the path of a model, but got {type(net).__name__}")
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
             percentile=99.99, bias_correction=True, equalize=False, keep=(), target=None, integer_only=False, effect_samples=8,
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
        percentile (float): Share of values inside of the range, in percent. Default: ``99.99`` .
        bias_correction (bool): Take back what rounding shifts the means of layers by. Default: ``True`` .
        equalize (bool): Cross-layer equalisation of weights first. Default: ``False`` .
        keep (Union[list, tuple]): Names of layers that stay float; a star stands for any text. Default: ``()`` .
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
    model = _model_of(net, dataset, free_batch)
    samples = _Samples(dataset, [name for name, _, _ in model.inputs()]) if dataset is not None and kind == "static" else None
    options = (kind, bits, activation_bits, block, per_tensor, symmetric, method, float(percentile), bias_correction, equalize, ",".join(keep), target,
               integer_only, effect_samples if effect_samples > 0 else -1)
    return Quantized(_core.quantize(model, samples, options))

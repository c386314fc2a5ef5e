# SPDX-License-Identifier: Apache-2.0
"""ONNX models: load gives a Cell that runs, trains and holds the file's weights as Parameters; export writes one."""
from spore import _core
from spore._model import ModelCell

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ["load", "export", "OnnxCell"]


class OnnxCell(ModelCell):
    """A network read from an ONNX file.

    Its Parameters are the float weights of the file under their names there; calling it takes the file's inputs in order
    (or by name) and gives its output, or a tuple when there are several. A sequence is a list, an empty optional value is None,
    texts are Tensors of strings. Elements smaller than 8 bits, and 8-bit floats, are given in a larger dtype: floats as float32,
    integers as int8 or uint8.

    Args:
        model (spore._core.Model): What the engine read.
    """


def load(path, dec_key=None, dec_mode="AES-GCM"):
    """Read an ONNX model.

    All operators of the file that are not supported are named at once, before anything is run.

    Args:
        path (str): The file; weights in files beside it must lie in its folder.
        dec_key (bytes): Key of an encrypted file. Default: ``None`` .
        dec_mode (str): ``"AES-GCM"`` , ``"AES-CBC"`` or ``"SM4-CBC"`` . Default: ``"AES-GCM"`` .

    Returns:
        OnnxCell, with the names of its inputs and outputs in `input_names` and `output_names` .

    Raises:
        NotImplementedError: The model uses operators that are not supported.
        RuntimeError: The file is damaged or no ONNX model.
    """
    return OnnxCell(_core.model_load(path, "onnx", dec_key, dec_mode))


def export(net, *inputs, file_name, input_names=None, output_names=None, export_params=True, keep_initializers_as_inputs=False,
           dynamic_axes=None):
    """Write a network as an ONNX model.

    The Parameters are initializers under their names. Weights of more than 2 GB together lie in a file beside the model.

    Args:
        net (Cell): The network.
        inputs (Tensor): What its construct takes; dtypes and shapes count.
        file_name (str): Where to; ``.onnx`` is added when it is missing.
        input_names (list): Names of the inputs, in order. Default: ``None`` , those of the arguments of construct.
        output_names (list): Names of the outputs, in order. Default: ``None`` .
        export_params (bool): Whether the file holds the weights; if not, they are inputs. Default: ``True`` .
        keep_initializers_as_inputs (bool): Whether weights can be given as inputs too. Default: ``False`` .
        dynamic_axes (dict): Free dimensions of inputs, ``{input: {axis: name}}`` . Default: ``None`` .

    Raises:
        ValueError: A wrong argument.
        NotImplementedError: The network holds operators that have no counterpart in ONNX; all of them are listed.

    Examples:
        >>> import os, tempfile
        >>> import spore as ms
        >>> from spore import nn
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "net.onnx")
        ...     ms.onnx.export(nn.ReLU(), ms.Tensor([-1.0, 2.0]), file_name=path, dynamic_axes={"x": {0: "n"}})
        ...     net = ms.onnx.load(path)
        >>> print(net(ms.Tensor([-3.0, 4.0, 5.0])))
        [0. 4. 5.]
    """
    from spore.train._mindir import _check_export, _export_onnx
    _check_export(net, inputs, file_name, "ONNX")
    _export_onnx(net, inputs, file_name, input_names, output_names, export_params, keep_initializers_as_inputs, dynamic_axes)

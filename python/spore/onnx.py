# SPDX-License-Identifier: Apache-2.0
"""ONNX models as Cells: load(path) gives a network that runs, trains and holds its weights as Parameters."""
from spore import _core
from spore.common.parameter import Parameter
from spore.nn import Cell

__all__ = ["load", "OnnxCell"]


class OnnxCell(Cell):
    """A network read from an ONNX file.

    Its Parameters are the float weights of the file under their names there; calling it takes the file's inputs in order
    (or by name) and gives its output, or a tuple when there are several.

    Args:
        model (spore._core.Model): What the engine read.
    """

    def __init__(self, model):
        super().__init__()
        self._model = model
        self.input_names = [name for name, _, _ in model.inputs()]
        self.output_names = [name for name, _, _ in model.outputs()]
        for name, tensor in model.parameters():
            parameter = Parameter(tensor, name=name)
            model.bind(name, parameter)
            self.insert_param_to_cell(name.replace(".", "_"), parameter, check_name_contain_dot=False)

    def construct(self, *inputs, **named):
        """Run the network on Tensors; None stands for an optional input that is left out."""
        unknown = [name for name in named if name not in self.input_names]
        if unknown or len(inputs) > len(self.input_names):
            raise TypeError(f"the model has the inputs {self.input_names}, but got {len(inputs)} and {list(named)}")
        given = list(inputs) + [named.get(name) for name in self.input_names[len(inputs):]]
        results = self._model.run(*given)
        return results[0] if len(results) == 1 else tuple(results)


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

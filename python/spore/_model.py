# SPDX-License-Identifier: Apache-2.0
"""What the Cells of spore.onnx and spore.tflite have in common: a model that the engine read, as a Cell."""
from typing import Any

from spore.common.parameter import Parameter
from spore.graph import explain
from spore.nn import Cell


class ModelCell(Cell):
    """A network read from a file, with its float weights as Parameters."""

    def __init__(self, model):
        super().__init__()
        self._model = model
        explain.imported(type(self).__name__, model)
        self.input_names = [name for name, _, _ in model.inputs()]
        self._scalars = [i for i, (_, _, shape) in enumerate(model.inputs()) if shape is not None and len(shape) == 0]
        self.output_names = [name for name, _, _ in model.outputs()]
        for name, tensor in model.parameters():
            parameter = Parameter(0.0, name=name)
            parameter._rebind(tensor)    # Parameter(tensor) would copy the weights
            model.bind(name, parameter)
            self.insert_param_to_cell(name.replace(".", "_"), parameter, check_name_contain_dot=False)

    def construct(self, *inputs, **named) -> Any:
        """Run the network on Tensors; None stands for an optional input that is left out."""
        unknown = [name for name in named if name not in self.input_names]
        if unknown or len(inputs) > len(self.input_names):
            raise TypeError(f"the model has the inputs {self.input_names}, but got {len(inputs)} and {list(named)}")
        given = list(inputs) + [named.get(name) for name in self.input_names[len(inputs):]]
        for i in self._scalars:     # a number may come as an array of one
            if given[i] is not None and tuple(given[i].shape) == (1,):
                given[i] = given[i].reshape(())
        results = self._model.run(*given)
        return results[0] if len(results) == 1 else tuple(results)

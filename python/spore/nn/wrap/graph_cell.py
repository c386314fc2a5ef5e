# SPDX-License-Identifier: Apache-2.0
"""GraphCell: a network out of a file, as a Cell."""
from spore import _core
from spore._core import Tensor
from spore.common.parameter import Parameter
from spore.graph import explain
from spore.nn.cell import Cell
from spore.train import _form

__all__ = ["GraphCell"]


class GraphCell(Cell):
    """Runs a network that :func:`spore.load` has read.

    Its Parameters are those of the file, under the names they had when it was written; they can be changed, saved and trained
    further like those of any Cell.

    Args:
        graph: what ``load`` returned.
        params_init (dict): Tensors or Parameters to start from instead of the file's, by name. Default: ``None``.
        obf_random_seed: accepted for MindSpore's sake; must be ``None``, obfuscated models are not read. Default: ``None``.

    Inputs:
        - **inputs** (Tensor) - as many as the network had when it was exported; those of a list or tuple count one by one. Their sizes may
          be others than those of the export, as in MindSpore: all shapes follow from them.

    Outputs:
        What the network gave when it was exported: a Tensor, or tuples and lists of Tensors, numbers, texts and None.

    Examples:
        >>> from spore import nn
        >>> try:
        ...     nn.GraphCell("net.mindir")
        ... except TypeError:
        ...     print("a name is not a network: load it first")
        a name is not a network: load it first
    """

    def __init__(self, graph, params_init=None, obf_random_seed=None):
        super().__init__(auto_prefix=True)
        if not isinstance(graph, _core.Model):
            raise TypeError(f"For 'GraphCell', the argument 'graph' must be what 'load' returned, but got type {type(graph)}.")
        params_init = {} if params_init is None else params_init
        if not isinstance(params_init, dict):
            raise TypeError(f"For 'GraphCell', the argument 'params_init' must be a dict, but got {type(params_init)}.")
        if obf_random_seed is not None:
            raise NotImplementedError("Dynamic structure obfuscation is not supported now: obf_random_seed must be None.")
        for name, value in params_init.items():
            if not isinstance(name, str) or not isinstance(value, Tensor):
                raise TypeError("For 'GraphCell', the key of the 'params_init' must be str, and the value must be Tensor or Parameter, but got "
                                f"{type(name)} and {type(value)}.")
        self.graph = graph
        graph.allow_sizes() # as in MindSpore, whose GraphCell infers all shapes anew
        explain.imported(type(self).__name__, graph)
        for name, value in graph.parameters():
            start = params_init.get(name, value)
            if start.shape != value.shape or start.dtype != value.dtype:
                raise ValueError("Only support update parameter by Tensor or Parameter with same shape and dtype as it. For 'GraphCell', "
                                 f"params_init['{name}'] has dtype {start.dtype} and shape {start.shape}, but the network needs {value.dtype} "
                                 f"and {value.shape}.")
            parameter = start if isinstance(start, Parameter) and start.name == name else self._parameter(name, start, start is value)
            graph.bind(name, parameter)
            self._params[name] = parameter

    @staticmethod
    def _parameter(name, start, of_file):
        """Memory of the file is shown as it is, its pages are read when they are needed; what the caller gave stays the caller's."""
        if not of_file:
            return Parameter(Tensor(start), name=name)
        parameter = Parameter(0.0, name=name)
        parameter._rebind(start)
        return parameter

    def construct(self, *inputs) -> Tensor:
        results = self.graph.run(*[one for x in inputs for one in (x if isinstance(x, (list, tuple)) else [x])])
        return _form.build(self.graph.form(), results)

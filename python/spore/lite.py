# SPDX-License-Identifier: Apache-2.0
"""MindSpore Lite models (.ms): load gives a Cell that runs them, and trains those that were exported for it."""
from spore import _core
from spore._model import ModelCell

__all__ = ["load", "LiteCell"]


class LiteCell(ModelCell):
    """A network read from a MindSpore Lite file.

    Its Parameters are the float weights of the file under their names there, in its layout (pictures are [batch, height, width,
    channels]). Packed weights, and weights of integers that stand for floats, are floats here. Inputs and outputs of fully quantised models are
    integers.

    A file that was exported for training computes a step at each call: it gives the loss, and its weights are changed. Its Parameters are those
    weights, with the moments and the learning rate of its optimizer.

    Args:
        model (spore._core.Model): What the engine read.
    """


def load(path, dec_key=None, dec_mode="AES-GCM"):
    """Read a MindSpore Lite model.

    All operators of the file that are not supported are named at once, before anything is run.

    Args:
        path (str): The file.
        dec_key (bytes): Key of an encrypted file. Default: ``None`` .
        dec_mode (str): ``"AES-GCM"`` , ``"AES-CBC"`` or ``"SM4-CBC"`` ; MindSpore Lite itself writes the first. Default: ``"AES-GCM"`` .

    Returns:
        LiteCell, with the names of its inputs and outputs in `input_names` and `output_names` .

    Raises:
        NotImplementedError: The model uses operators that are not supported.
        RuntimeError: The file is damaged or no MindSpore Lite model.
    """
    return LiteCell(_core.model_load(path, "lite", dec_key, dec_mode))

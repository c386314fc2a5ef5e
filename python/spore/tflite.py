# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite models: load gives a Cell that runs them, of floats and of integers."""
from spore import _core
from spore._model import ModelCell

__all__ = ["load", "TFLiteCell"]


class TFLiteCell(ModelCell):
    """A network read from a TensorFlow Lite file.

    Its Parameters are the float weights of the file under their names there, in its layout (pictures are [batch, height, width,
    channels]). Inputs and outputs of quantised models are integers, as in TensorFlow Lite's interpreter; results are the interpreter's, or
    within one quantum of them. States (variables, memories of recurrent layers) are kept from call to call, as the interpreter does;
    `reset` brings them back to the start.

    Args:
        model (spore._core.Model): What the engine read.
    """

    def reset(self):
        """Bring what the model keeps from call to call back to what it was before the first one."""
        self._model.reset()


def load(path, dec_key=None, dec_mode="AES-GCM"):
    """Read a TensorFlow Lite model.

    All operators of the file that are not supported are named at once, before anything is run.

    Args:
        path (str): The file.
        dec_key (bytes): Key of an encrypted file. Default: ``None`` .
        dec_mode (str): ``"AES-GCM"`` , ``"AES-CBC"`` or ``"SM4-CBC"`` . Default: ``"AES-GCM"`` .

    Returns:
        TFLiteCell, with the names of its inputs and outputs in `input_names` and `output_names` .

    Raises:
        NotImplementedError: The model uses operators that are not supported.
        RuntimeError: The file is damaged or no TensorFlow Lite model.
    """
    return TFLiteCell(_core.model_load(path, "tflite", dec_key, dec_mode))

# SPDX-License-Identifier: Apache-2.0
"""codegen: models as plain C for microcontrollers."""
import os

from spore import _core

__all__ = ["codegen"]


def _name(path):
    """A C identifier from the name of a file."""
    stem = os.path.basename(path).split(".")[0]
    return ("_" if stem[:1].isdigit() else "") + "".join(c if c.isascii() and c.isalnum() else "_" for c in stem)


def codegen(file, folder, *, name=None, shapes=None, target="host", train=(), optimizer="sgd", loss="cross_entropy", ram=0, flash=0, dec_key=None, dec_mode="AES-GCM"):
    """Write models as plain C99 with static memory, for machines without an operating system.

    The folder gets model.c, weights.c, model.h with ``model_run(in, out)``, a test program and a Makefile; `make run` there compares the code with the engine.
    Several models share their memory.

    Args:
        file (Union[str, list[str]]): A model: ONNX, MindIR, TFLite or MindSpore Lite, float32 or int8; or several.
        folder (str): Where to; made when needed. Files that are there are replaced.
        name (Union[str, list[str]]): Prefix of the C functions, one for each model. Default: ``None`` : ``model`` , of several the names of their files.
        shapes (dict): Shapes of inputs that the file leaves open, by name. Default: ``None`` .
        target (str): What the Makefile is for: ``"host"`` , ``"cortex-m0"`` , ``"cortex-m3"`` , ``"cortex-m4"`` , ``"cortex-m7"`` , ``"cortex-m55"`` , ``"rv32"`` or
            ``"armhf"`` . Default: ``"host"`` .
        train (Union[str, list[str]]): Weights that ``model_train(in, label, rate, loss)`` trains, by what their names begin with. Default: ``()`` : no training.
        optimizer (str): ``"sgd"`` , ``"momentum"`` or ``"adam"`` . Default: ``"sgd"`` .
        loss (str): ``"cross_entropy"`` or ``"mse"`` . Default: ``"cross_entropy"`` .
        ram (int): Bytes of RAM that the board has; 0: any. Default: ``0`` .
        flash (int): Bytes of flash; 0: any. Default: ``0`` .
        dec_key (bytes): Key of encrypted files. Default: ``None`` .
        dec_mode (str): ``"AES-GCM"`` , ``"AES-CBC"`` or ``"SM4-CBC"`` . Default: ``"AES-GCM"`` .

    Returns:
        str, RAM and flash by part.

    Raises:
        NotImplementedError: Operators of a model have no C; all are listed, and nothing is written.
        ValueError: A shape is open, a name is none of C's, or the board is too small.
    """
    files = [file] if isinstance(file, (str, os.PathLike)) else list(file)
    names = [name] if isinstance(name, str) else list(name) if name is not None else ["model"] if len(files) == 1 else [_name(f) for f in files]
    models = [_core.model_load(f, None, dec_key, dec_mode) for f in files]
    if ram < 0 or flash < 0:
        raise ValueError(f"ram is {ram} and flash is {flash}, they must be bytes that the board has, or 0")
    if shapes and len(files) > 1:
        raise ValueError(f"shapes are those of one model's inputs, but there are {len(files)} models")
    for key, dims in (shapes or {}).items():
        models[0].set_shape(key, tuple(dims))
    trained = [train] if isinstance(train, str) else list(train)
    if not trained:
        if (optimizer, loss) != ("sgd", "cross_entropy"):
            raise ValueError("optimizer and loss are for training: train names no weights, they would change nothing")
        optimizer = loss = None
    return _core.codegen(models, names, folder, target, trained, optimizer, loss, ram, flash)

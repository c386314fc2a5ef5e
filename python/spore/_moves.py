# SPDX-License-Identifier: Apache-2.0
"""Names and keywords that people bring from PyTorch, Keras and TensorFlow, and what they are called here: words for error messages.

tests/messages keeps the messages; a name that is here after all does not belong into these tables.
"""
from difflib import get_close_matches

_GRADIENT = "gradients are taken of functions: step = spore.value_and_grad(loss_function, None, net.trainable_params()); loss, grads = step(...)"
_DEVICE = "there is one device, the CPU, and everything is there: leave the call out"
_STEP = "an optimizer is called with the gradients: optimizer(grads)"

ATTRIBUTES = {
    "Tensor": {
        "cuda": _DEVICE, "backward": _GRADIENT, "grad": _GRADIENT, "grad_fn": _GRADIENT, "requires_grad_": _GRADIENT,
        "retain_grad": _GRADIENT, "is_cuda": "there is one device, the CPU",
        "get_shape": "the shape is the attribute shape", "eval": "a Tensor has its values already: asnumpy() gives them as an array",
    },
    "Cell": {
        "cuda": _DEVICE, "cpu": _DEVICE, "train": "set_train() begins training mode", "eval": "set_train(False) ends training mode",
        "parameters": "get_parameters() gives all Parameters, trainable_params() those that are trained",
        "named_parameters": "parameters_and_names() gives names and Parameters", "children": "cells() gives the Cells inside",
        "modules": "cells_and_names() gives all Cells with their names", "named_modules": "cells_and_names() gives all Cells with their names",
        "named_children": "name_cells() gives the Cells inside with their names", "forward": "the computation of a Cell is its construct",
        "zero_grad": "nothing collects gradients: each call of spore.value_and_grad gives new ones",
        "requires_grad_": "set_grad() and the attribute requires_grad of Parameters decide that",
        "load_checkpoint": "spore.load_checkpoint(file, net) does it", "save": "spore.save_checkpoint(net, file) does it",
        "compile_model": "spore.Model(net, loss, optimizer) trains it", "fit": "spore.Model(net, loss, optimizer).fit(...) trains it",
        "summary": "spore.summary(net, x) shows layers and sizes", "half": "to_float(spore.float16) computes in float16",
    },
    "Optimizer": {
        "zero_grad": "nothing collects gradients: each call of spore.value_and_grad gives new ones", "step": _STEP,
        "param_groups": "the groups are the attribute group_params, their rates learning_rate", "minimize": _STEP, "apply_gradients": _STEP,
    },
    "Model": {
        "compile": "loss and optimizer are given when it is made: Model(net, loss, optimizer, metrics={'accuracy'})",
        "evaluate": "eval(data_set) does it", "summary": "spore.summary(net, x) shows layers and sizes",
        "save": "spore.save_checkpoint(net, file) does it", "load_weights": "spore.load_checkpoint(file, net) does it",
        "save_weights": "spore.save_checkpoint(net, file) does it", "parameters": "they are the network's: net.get_parameters()",
    },
    "spore.nn": {
        "Module": "nn.Cell is the base of networks; the computation is its construct", "Sequential": "nn.SequentialCell",
        "ModuleList": "nn.CellList", "ModuleDict": "nn.CellDict", "Parameter": "spore.Parameter", "functional": "the functions are in spore.ops",
        "Conv2D": "nn.Conv2d", "MaxPooling2D": "nn.MaxPool2d", "LSTMLayer": "nn.LSTM", "utils": "spore.ops.clip_by_global_norm clips gradients",
        "Model": "spore.Model", "DataParallel": "there is one device, the CPU, and all of its processors are used",
        "NLLoss": "nn.NLLLoss", "CategoricalCrossentropy": "nn.CrossEntropyLoss", "Optimizer_": "nn.Optimizer",
    },
    "spore": {
        "cuda": "there is one device, the CPU", "device": "there is one device, the CPU", "zeros": "spore.ops.zeros", "ones": "spore.ops.ones",
        "rand": "spore.ops.rand", "randn": "spore.ops.randn", "arange": "spore.ops.arange", "cat": "spore.ops.cat", "stack": "spore.ops.stack",
        "save": "spore.save_checkpoint(net, file)", "optim": "optimizers are in spore.nn", "Module": "spore.nn.Cell",
        "matmul": "spore.ops.matmul", "no_grads": "spore.no_grad", "keras": "layers are in spore.nn", "layers": "layers are in spore.nn",
        "DataLoader": "data sets are in spore.dataset: GeneratorDataset(source, column_names).batch(n)", "relu": "spore.ops.relu",
        "softmax": "spore.ops.softmax", "float": "spore.float32", "autograd": "spore.grad and spore.value_and_grad", "eye": "spore.ops.eye",
        "linspace": "spore.ops.linspace", "where": "spore.ops.where", "Variable": "spore.Parameter", "seed": "spore.set_seed",
        "random": "random numbers are in spore.ops, their seed is spore.set_seed(n)",
    },
    "spore.dataset": {
        "DataLoader": "GeneratorDataset(source, column_names).batch(n) does it; spore.dataset.dataloader has one as well",
        "TensorDataset": "NumpySlicesDataset(arrays) does it", "ImageFolder": "ImageFolderDataset(folder)",
        "MNIST": "MnistDataset(folder)", "CIFAR10": "Cifar10Dataset(folder)", "random_split": "the method split of a data set does it",
    },
}

# keyword elsewhere: keywords here, of which the first that a function has is named
KEYWORDS = {
    "in_features": ("in_channels",), "out_features": ("out_channels",), "units": ("out_channels",), "filters": ("out_channels",),
    "bias": ("has_bias",), "use_bias": ("has_bias",), "strides": ("stride", "strides"), "dim": ("axis", "dim"), "dims": ("axis", "perm"),
    "axis": ("axes", "dim"), "keepdim": ("keep_dims", "keepdims"), "keepdims": ("keep_dims", "keepdim"), "lr": ("learning_rate",),
    "epochs": ("epoch",), "num_embeddings": ("vocab_size",), "embedding_dim": ("embedding_size",), "padding_mode": ("pad_mode",),
    "groups": ("group",), "dilation_rate": ("dilation",), "betas": ("beta1",), "rate": ("p", "keep_prob"), "batch": ("batch_size",),
    "num_workers": ("num_parallel_workers",), "transform": ("operations",), "drop_last": ("drop_remainder",), "input": ("x", "logits"),
    "x": ("input",), "target": ("labels", "label"), "device": ("device_target",), "affine_": ("affine",), "training": ("is_training",),
    "input_size": ("in_channels",), "reduce": ("reduction",), "size_average": ("reduction",),
}


def absent(place, name, names=()):
    """What follows 'has no attribute': what it is called here, or the nearest name; empty where nothing is near."""
    hint = ATTRIBUTES.get(place, {}).get(name)
    if hint:
        return f": {hint}"
    if name.startswith("_"):
        return ""
    folded = {n.lower(): n for n in names if not n.startswith("_")}
    near = get_close_matches(name.lower(), folded, 1, 0.75)
    return f". Did you mean: '{folded[near[0]]}'?" if near else ""


def keyword_hint(name, accepted):
    """What follows an unexpected keyword: the one that may have been meant."""
    meant = next((other for other in KEYWORDS.get(name, ()) if other in accepted), None)
    if meant is None:
        near = get_close_matches(name, [n for n in accepted if n not in ("self", "args", "kwargs")], 1, 0.7)
        meant = near[0] if near else None
    return f"; did you mean '{meant}'?" if meant else ""


def check_keywords(cls, given, init=None):
    """Refuse keywords that the __init__ of a class does not take, with the nearest one; Python would refuse them without."""
    code = getattr(init or cls.__init__, "__code__", None)
    if code is None or code.co_flags & 0x08:            # it takes any
        return
    accepted = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    for name in given:
        if name not in accepted:
            raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument '{name}'{keyword_hint(name, accepted)}")

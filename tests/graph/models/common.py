# SPDX-License-Identifier: Apache-2.0
"""What the model programs share: fixed weights and data, and a training loop that runs a step eagerly or compiled."""
import mindspore as ms
import numpy as np
from mindspore import Tensor


def wave(*shape, phase=0.0, scale=1.0):
    """Fixed numbers of a shape, without a random generator."""
    n = int(np.prod(shape))
    return (np.sin(np.arange(n) * 1.7 + phase) * scale).reshape(shape).astype(np.float32)


def fill(net, scale=0.3):
    """Give every trainable parameter of a net fixed values, by its place and shape."""
    for i, p in enumerate(net.trainable_params()):
        if p.name.endswith("gamma"):
            p.set_data(Tensor(1 + wave(*p.shape, phase=i, scale=0.1)))
        else:
            p.set_data(Tensor(wave(*p.shape, phase=i, scale=scale)))
    return net


def losses(make_step, batches, mode):
    """The loss curve of a model: make_step() gives step(*batch) -> loss (or several losses); mode is "pynative" (nothing
    is compiled), "jit" (the step function is) or "graph" (Cells are: GRAPH_MODE)."""
    ms.set_seed(1)
    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    step = make_step()
    if mode == "jit":
        step = ms.jit(step)
    return [step(*(Tensor(b) for b in batch)) for batch in batches]

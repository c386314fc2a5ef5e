# SPDX-License-Identifier: Apache-2.0
"""Which results share memory with their input: what MindSpore 2.10 answers when the result is written to in eager mode. YOLO's
losses write to `ops.Identity()(x)` and read x afterwards."""
import numpy as np
import pytest

import spore as ms
import spore.numpy as mnp
from spore import Tensor, mint, nn, ops

OWN = """ops.Identity()(x); ops.IdentityN()((x,))[0]; ops.Flatten()(x); ops.flatten(x); nn.Flatten()(x); x.flatten(1); ops.real(x); ops.Real()(x)
x.real(); mint.real(x); ops.repeat_elements(x, 1); ops.repeat_interleave(x, 1, 0); x.repeat_interleave(1, 1); x.diag(0); mnp.diag(x); mnp.hstack((x,))
mnp.vstack([x]); mnp.dstack((x,)); mnp.column_stack((x,)); mnp.broadcast_to(x, (3, 4)); mnp.broadcast_arrays(x)[0]; mnp.around(x.astype(ms.int32))
mnp.meshgrid(x)[0]; x.copy(); ops.concat((x,)); ops.tile(x, (1, 1)); x * 1; ops.gather(x, Tensor([0, 1, 2]), 0)"""
SHARED = """ops.reshape(x, (4, 3)); x.reshape(2, 6); x.view(12); ops.transpose(x, (1, 0)); x.T; x[0:2]; x[0]; ops.expand_dims(x, 0); x.squeeze()
ops.split(x, 1)[0]; ops.stop_gradient(x); mint.flatten(x); x.flatten(); ops.unbind(x)[0]; x.diagonal(); x.swapaxes(0, 1); x.contiguous()"""


def after_a_write(text):
    x = Tensor(np.arange(1, 13).reshape(3, 4).astype(np.float32))
    y = eval(text, {"x": x, "ops": ops, "ms": ms, "mint": mint, "nn": nn, "mnp": mnp, "Tensor": Tensor})
    y[0] = 70
    return x.asnumpy()


def listed(text):
    return [one.strip() for line in text.splitlines() for one in line.split("; ")]


@pytest.mark.parametrize("text", listed(OWN))
def test_result_has_memory_of_its_own(text):
    np.testing.assert_array_equal(after_a_write(text), np.arange(1, 13).reshape(3, 4))


@pytest.mark.parametrize("text", listed(SHARED))
def test_result_shares_memory(text):
    assert (after_a_write(text) == 70).any()


def test_boxes_written_into_an_identity_are_those_of_a_compiled_function():
    def corners(x):
        y = ops.Identity()(x)
        y[..., 0] = x[..., 0] - x[..., 1] / 2
        y[..., 1] = x[..., 0] + x[..., 1] / 2
        return y
    boxes = Tensor([[4.0, 2.0], [9.0, 4.0]])
    np.testing.assert_array_equal(corners(boxes).asnumpy(), [[3, 5], [7, 11]])
    np.testing.assert_array_equal(ms.jit(corners)(boxes).asnumpy(), [[3, 5], [7, 11]])
    gradient = ms.grad(lambda x: (corners(x) * Tensor([[1.0, 2.0], [3.0, 4.0]])).sum())(boxes)
    np.testing.assert_array_equal(gradient.asnumpy(), [[3, 0.5], [7, 0.5]])

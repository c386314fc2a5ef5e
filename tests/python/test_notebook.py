# SPDX-License-Identifier: Apache-2.0
"""spore in a Jupyter kernel: a network from a cell of a notebook, its repr, an interrupt, a restart.

Runs where nbclient and ipykernel can be imported (`pip install nbclient ipykernel`); nothing else needs them.
"""
import threading
import time

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed; it is needed for this test only")
pytest.importorskip("ipykernel", reason="ipykernel is not installed; it is needed for this test only")
jupyter_client = pytest.importorskip("jupyter_client")
nbformat = pytest.importorskip("nbformat")

DEFINE = """
import numpy as np
import spore
spore.as_mindspore()
import mindspore as ms
from mindspore import nn, ops, Tensor

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 2, weight_init="ones")
    def construct(self, x):
        return self.fc(x)
"""
TRAIN = """
net = Net()
optimizer = nn.SGD(net.trainable_params(), 0.1)
step = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
for _ in range(2):
    loss, gradients = step(ops.ones((3, 4)))
    optimizer(gradients)
    print(loss)
"""
LONG = """
import time
x = Tensor(np.ones((3000, 3000), np.float32))
print("ready", flush=True)
started = time.monotonic()
while time.monotonic() - started < 30:
    ops.matmul(x, x)
"""


def text_of(cell):
    return "".join(o.get("text", "") or o.get("data", {}).get("text/plain", "") for o in cell.outputs)


def test_notebook():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (
        DEFINE, TRAIN, "net.fc.weight", "Tensor([[1.0, 2.0]])", "net", "ops.relu?")])
    nbclient.NotebookClient(book, timeout=60, kernel_name="python3").execute()
    train, weight, tensor, net, help_ = (text_of(cell) for cell in book.cells[1:])
    losses = [float(line) for line in train.split()]
    assert len(losses) == 2 and losses[1] < losses[0]
    assert weight == "Parameter (name=fc.weight, shape=(2, 4), dtype=Float32, requires_grad=True)"
    assert tensor == "Tensor(shape=[1, 2], dtype=Float32, value=\n[[ 1.00000000e+00,  2.00000000e+00]])"
    assert net.startswith("Net(\n  (fc): Dense(input_channels=4, output_channels=2")


@pytest.fixture
def kernel():
    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="python3")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def execute(client, text):
    """(status, name of the exception, printed text, seconds)"""
    printed, started = [], time.monotonic()
    reply = client.execute_interactive(text, timeout=60, output_hook=lambda message: printed.append(
        message["content"].get("text", "") or message["content"].get("data", {}).get("text/plain", "")))["content"]
    return reply["status"], reply.get("ename"), "".join(printed), time.monotonic() - started


def test_interrupt_and_restart(kernel):
    manager, client = kernel
    assert execute(client, DEFINE)[0] == "ok"
    timer = threading.Timer(1.5, manager.interrupt_kernel)
    timer.start()
    status, error, printed, seconds = execute(client, LONG)
    timer.join()
    assert (status, error) == ("error", "KeyboardInterrupt") and "ready" in printed and seconds < 10
    assert execute(client, "print(Net()(ops.ones((1, 4))).shape)")[2] == "(1, 2)\n"  # names and engine are as before
    manager.restart_kernel()
    client.wait_for_ready(timeout=60)
    assert execute(client, "Net")[1] == "NameError"
    assert execute(client, DEFINE + "print(Net()(ops.ones((1, 4))).shape)")[2] == "(1, 2)\n"

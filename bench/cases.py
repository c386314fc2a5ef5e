# SPDX-License-Identifier: Apache-2.0
"""The measured programs, once with spore and once with torch: ``python cases.py spore|torch`` prints a JSON line.

Times are the minimum over several repetitions, in seconds per unit of work.
"""
import json
import resource
import sys
import time

THREADS = 2


def best(function, units, rounds=7):
    """Least time of one unit."""
    function()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) / units


def resident_mb():
    """Largest resident memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def spore_cases():
    import numpy as np
    before = resident_mb()
    start = time.perf_counter()
    import spore as ms
    import_seconds = time.perf_counter() - start
    resident = resident_mb()
    from spore import nn
    from spore.demo import LeNet
    out = {"import": import_seconds, "resident_mb": resident, "resident_numpy_mb": before}
    a, b = ms.Tensor([1.0, 2.0, 3.0, 4.0]), ms.Tensor([1.0, 2.0, 3.0, 4.0])

    def chain(x=a):
        for _ in range(1000):
            x = x + b
        return x
    gradient = ms.grad(chain)
    out["add_4"] = best(chain, 1000)
    out["add_4_grad"] = best(lambda: gradient(a), 1000)

    net = LeNet()
    net.set_train()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.01, momentum=0.9)
    step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    rng = np.random.RandomState(0)
    x = ms.Tensor(rng.rand(32, 1, 28, 28).astype(np.float32))
    y = ms.Tensor(rng.randint(0, 10, 32).astype(np.int32))

    def train():
        for _ in range(20):
            _, grads = step(x, y)
            optimizer(grads)
    out["lenet_step"] = best(train, 20)
    return out


def torch_cases():
    start = time.perf_counter()
    import torch
    from torch import nn
    out = {"import": time.perf_counter() - start, "resident_mb": resident_mb()}
    torch.set_num_threads(THREADS)
    a, b = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([1.0, 2.0, 3.0, 4.0])
    one = torch.ones(4)

    def chain():
        x = a
        for _ in range(1000):
            x = x + b

    def chain_grad():
        leaf = a.clone().requires_grad_()
        x = leaf
        for _ in range(1000):
            x = x + b
        x.backward(one)
    out["add_4"] = best(chain, 1000)
    out["add_4_grad"] = best(chain_grad, 1000)
    net = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2, bias=False), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5, bias=False),
                        nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84),
                        nn.ReLU(), nn.Linear(84, 10))
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.rand(32, 1, 28, 28), torch.randint(0, 10, (32,))

    def train():
        for _ in range(20):
            optimizer.zero_grad()
            loss_fn(net(x), y).backward()
            optimizer.step()
    out["lenet_step"] = best(train, 20)
    return out


if __name__ == "__main__":
    print(json.dumps(spore_cases() if sys.argv[1] == "spore" else torch_cases()))

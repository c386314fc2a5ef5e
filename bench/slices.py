# SPDX-License-Identifier: Apache-2.0
"""Functions of one slice over many: vmap of gradients, against the same slice by slice and against torch.func.vmap.

    python bench/slices.py                   all of it; SPORE_BENCH_PEER names an interpreter that has torch
    python bench/slices.py spore|torch       one side, as a JSON line: seconds a call
"""
import json
import os
import subprocess
import sys
import time

import numpy as np

POINTS, SAMPLES, ROUNDS = 1000, 64, 3
UNTIL = 0.4              # seconds a case is repeated for


def least(call):
    """Seconds of the quickest call."""
    call()
    best, end = float("inf"), time.perf_counter() + UNTIL
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def data():
    rng = np.random.default_rng(1)
    return (rng.standard_normal((POINTS, 2)).astype(np.float32), rng.standard_normal((SAMPLES, 1, 28, 28)).astype(np.float32),
            rng.integers(0, 10, SAMPLES).astype(np.int64))


def spore_side():
    import spore as ms
    from spore import Tensor, nn
    points, images, labels = (Tensor(a) for a in data())
    labels = labels.astype(ms.int32)
    mlp = nn.SequentialCell(nn.Dense(2, 64), nn.Tanh(), nn.Dense(64, 64), nn.Tanh(), nn.Dense(64, 1))
    cnn = nn.SequentialCell(nn.Conv2d(1, 8, 3, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
                            nn.Conv2d(8, 16, 3, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(),
                            nn.Dense(400, 10))
    weights, entropy = list(cnn.trainable_params()), nn.CrossEntropyLoss()

    def value(x):
        return mlp(x).sum()

    def loss(x, y):
        return entropy(cnn(x.expand_dims(0)), y.expand_dims(0))
    slope, second, per_sample = ms.grad(value), ms.jacrev(ms.grad(value)), ms.grad(loss, None, weights)
    found = {}
    for name, function, args in (("gradients", slope, (points,)), ("hessians", second, (points,)),
                                 ("per sample", per_sample, (images, labels))):
        many = ms.vmap(function)
        found[name] = least(lambda: many(*args))
        compiled = ms.jit(lambda *a: many(*a))
        found[name + " jit"] = least(lambda: compiled(*args))
        rows = [tuple(a[i] for a in args) for i in range(len(args[0]))]
        found[name + " slices"] = least(lambda: [function(*row) for row in rows])
    return found


def torch_side():
    import torch
    from torch import nn
    from torch.func import functional_call, grad, jacrev, vmap
    from torch.nn import functional as F
    torch.set_num_threads(2)
    points, images, labels = (torch.from_numpy(a) for a in data())
    mlp = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    cnn = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2, 2),
                        nn.Flatten(), nn.Linear(400, 10))
    weights = {name: p.detach() for name, p in cnn.named_parameters()}
    for parameter in mlp.parameters():
        parameter.requires_grad_(False)

    def value(x):
        return mlp(x).sum()

    def loss(w, x, y):
        return F.cross_entropy(functional_call(cnn, w, (x[None],)), y[None])
    slope, second, per_sample = vmap(grad(value)), vmap(jacrev(grad(value))), vmap(grad(loss), (None, 0, 0))
    return {"gradients": least(lambda: slope(points)), "hessians": least(lambda: second(points)),
            "per sample": least(lambda: per_sample(weights, images, labels))}


def main():
    if sys.argv[1:] in (["spore"], ["torch"]):
        print(json.dumps(spore_side() if sys.argv[1] == "spore" else torch_side()))
        return
    env = dict(os.environ, OMP_NUM_THREADS="2")
    plain = {k: v for k, v in env.items() if k != "PYTHONPATH"}
    found = {"spore": {}, "torch": {}}
    sides = [("spore", sys.executable, env)] + [("torch", peer, plain) for peer in [os.environ.get("SPORE_BENCH_PEER")] if peer]
    for _ in range(ROUNDS):
        for side, python, where in sides:
            done = subprocess.run([python, os.path.abspath(__file__), side], capture_output=True, text=True, env=where)
            if done.returncode:
                sys.stderr.write(done.stderr)
                continue
            for name, seconds in json.loads(done.stdout.splitlines()[-1]).items():
                found[side][name] = min(seconds, found[side].get(name, seconds))
    print(f"{'vmap of':12}{'vmap':>12}{'compiled':>12}{'slices':>12}{'torch.func':>12}{'ratio':>8}")
    for name in ("gradients", "hessians", "per sample"):
        own, peer = found["spore"], found["torch"].get(name)
        line = f"{name:12}" + "".join(f"{own[name + key] * 1e3:>9.2f} ms" for key in ("", " jit", " slices") if name + key in own)
        print(line + (f"{peer * 1e3:>9.2f} ms{own[name] / peer:>8.2f}" if peer else f"{'-':>12}{'-':>8}"), flush=True)


if __name__ == "__main__":
    main()

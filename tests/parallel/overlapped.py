# SPDX-License-Identifier: Apache-2.0
"""Training in data parallelism with a trace: how long exchanges went on, and how long the ranks waited for them. Prints, on rank 0, for eager mode and
a compiled step, a digest of losses and weights, the milliseconds of a step and those figures, as JSON. Argument: number of steps."""
import hashlib
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import spore as ms
from spore import Tensor, _core, communication, nn

STEPS, WIDTH, LAYERS, BATCH = int(sys.argv[1]), 512, 8, 1024

communication.init()
RANK = communication.get_rank()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)


def network():
    layers = [layer for i in range(LAYERS) for layer in (nn.Dense(WIDTH, WIDTH), nn.Tanh())]
    return nn.SequentialCell(*layers, nn.Dense(WIDTH, 8))


def exchanges(path):
    """Milliseconds that data moved, and that the main thread waited; what it did between the first beginning and the first wait behind it."""
    events = [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]
    moved, awaited = ([e for e in events if which(e)] for which in (lambda e: e["cat"] == "exchange", lambda e: e["name"] == "await"))
    begun = min(e["ts"] for e in moved)
    first = min((e["ts"] for e in awaited), default=begun)
    between = [e for e in events if e["cat"] in ("operator", "program") and begun < e["ts"] < first]
    return {"moved": sum(e["dur"] for e in moved) / 1000, "waited": sum(e["dur"] for e in awaited) / 1000, "awaited": len(awaited),
            "between": len(between)}


report = {}
for name, mode in (("eager", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
    ms.set_context(mode=mode)
    ms.set_seed(3)
    net = network()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.05, 0.9)).set_train()
    draw = np.random.RandomState(RANK)
    batches = [(Tensor(draw.rand(BATCH, WIDTH).astype(np.float32)), Tensor(draw.rand(BATCH, 8).astype(np.float32))) for _ in range(STEPS)]
    step(*batches[0])
    communication.comm_func.barrier()
    begun = time.perf_counter()
    losses = [float(step(*batch)) for batch in batches]
    seconds = time.perf_counter() - begun
    _core.profile_start(0, "")
    for batch in batches[:3]:
        losses.append(float(step(*batch)))
    communication.comm_func.barrier()
    _core.profile_stop()
    path = Path(tempfile.mkdtemp()) / "trace.json"
    _core.profile_write(str(path))
    digest = hashlib.sha256(b"".join(p.asnumpy().tobytes() for p in net.get_parameters()) + repr(losses).encode()).hexdigest()
    report[name] = {"digest": digest, "ms": 1000 * seconds / STEPS, **exchanges(path)}
    path.unlink()
    path.parent.rmdir()
if RANK == 0:
    print(json.dumps(report))
